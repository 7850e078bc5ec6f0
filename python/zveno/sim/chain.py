"""Motion of a chain in time: `simulate_chain` and its record. The steps are made in C++, or by SciPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, SupportsIndex, TypeAlias, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, errors
from .._check import Array, _show, as_array, as_list, as_number, did_you_mean, failing
from .._extras import optional as _optional
from . import stability
from .adaptive import AdaptiveRun
from .batch import Lanes, Runs, SimulationBatch, common_shape, rows_of
from .events import Crossing, Event, PlaneContact, StateFunction, as_events, naming
from .laws import Law, SpringDamper, program
from .plan import ADAPTIVE, EXPLICIT, IMPLICIT, METHODS, Plan, Run, refuse, warn
from .simulation import (
    Efforts,
    Options,
    RecordField,
    Simulation,
    as_efforts,
    as_joint_laws,
    as_load,
    as_stack,
    require_callable,
    run_all,
    through,
)
from .simulation import Load as Wrench
from .words import answering

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Chain

__all__ = ["ChainSimulation", "JointState", "LimitEvent", "simulate_chain"]

JointEfforts: TypeAlias = Callable[[float, Array, Array], ArrayLike]
JointLaws: TypeAlias = Law | Sequence[Law | None] | Mapping[str, Law] | JointEfforts | None
Load: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike] | JointEfforts
BaseMotion: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike] | Callable[[float], ArrayLike]
Method: TypeAlias = Literal[
    "rk4", "semi-implicit", "implicit", "gauss", "midpoint", "radau", "adaptive", "adaptive-stiff"
]
Watched: TypeAlias = StateFunction | Event | PlaneContact


class LimitEvent(NamedTuple):
    """A joint passes an end of its way: a stop of its law, or else its own limit.

    `time` (s) is found inside the step, on the cubic through coordinate and rate at both its ends; `rate` (rad/s or
    m/s) is that of the joint.
    """

    time: float
    joint: str
    side: Literal["lower", "upper"]
    kind: Literal["enter", "leave"]
    rate: float


class JointState(NamedTuple):
    """Coordinates and rates of the joints, (..., nj) each."""

    q: Array
    qd: Array


class ChainSimulation(Simulation, mechanism="chain"):
    """Record of the simulated motion of a chain with nj joints. ``len()`` is the number of recorded states n.

    As `simulate` returns it, it also has ``steps_made``, ``steps_rejected`` and ``iterations`` of methods that choose
    or solve their steps.
    """

    chain: Chain
    events: list[LimitEvent | Crossing]
    _event = LimitEvent
    _shown = "ChainSimulation"
    _called = "model"
    _efforts = "efforts"

    @classmethod
    def _in_lanes(cls, model: Any) -> bool:
        """Whether runs of the mechanism can be made side by side."""
        return True

    def _labels(self, dim: str) -> tuple[str, ...]:
        return self.chain.joint_names

    def _turns(self, field: RecordField, index: tuple[int, ...]) -> bool:
        return bool(self.chain.joint_types[index[0]] != "prismatic")

    def _works(self) -> list[Array]:
        return [self.work_joints, self.work_external]

    def _through(self) -> list[Array]:
        power = ((self.tau - self.chain.friction * self.qd) * self.qd).sum(axis=-1)
        return [through(power, self.t), np.zeros(power.shape[:-1])]

    def _end_rates(self) -> Array:
        rates: Array = self.qd[[0, -1]]
        return rates

    def _force_times_length(self) -> Array:
        return np.asarray((np.abs(self.tau) * (1 + np.abs(self.q))).max(axis=(-2, -1), initial=0.0))

    @classmethod
    def _crossed(cls, plan: Plan, run: Run) -> list[Any]:
        own = cast("_core.ChainRun", run)
        names = plan.watched
        return [
            Crossing(time, names[k], "rise" if rises else "fall", tuple(q.tolist()), tuple(qd.tolist()))
            for time, k, rises, q, qd in own.crossings
        ]

    @classmethod
    def _more(cls, run: Run) -> dict[str, Any]:
        steps, rejected, iterations = cast("_core.ChainRun", run).made
        made = {"steps_made": steps, "steps_rejected": rejected, "iterations": iterations}
        return made | ({"_dense": run.dense} if isinstance(run, AdaptiveRun) else {})

    def _is_crossing(self, event: Any) -> bool:
        def numbers(row: Any) -> bool:
            return isinstance(row, list) and len(row) == self.chain.n and all(isinstance(x, float) for x in row)

        return (
            isinstance(event, list)
            and len(event) == 5
            and isinstance(event[0], float)
            and isinstance(event[1], str)
            and event[2] in ("rise", "fall")
            and numbers(event[3])
            and numbers(event[4])
        )

    def _crossing(self, event: list[Any]) -> Crossing:
        time, name, kind, q, qd = event
        return Crossing(time, name, kind, tuple(q), tuple(qd))

    def at(self, t: ArrayLike) -> JointState:
        """Coordinates and rates between the recorded states.

        Parameters
        ----------
        t : float or (...) array, s
            Within the record.

        Returns
        -------
        state : JointState
            ``q`` and ``qd``, (..., nj): the solver's own polynomials with ``method="adaptive"``; else cubics through
            the recorded coordinates and rates, and through rates and accelerations where these are recorded.

        Examples
        --------
        >>> import zveno as zv
        >>> swing = zv.robots.two_link().simulate(1.0, 1e-2, q=[0.5, 0.0])
        >>> swing.at(0.123).q.round(4)
        array([ 0.582, -0.107])
        """
        fail = failing("Simulation.at")
        times = np.reshape(as_array(t, fail, "t", np.shape(t)), np.shape(t))
        first, last = (float(self.t[0]), float(self.t[-1])) if len(self) else (0.0, -1.0)
        if not ((times >= first) & (times <= last)).all():
            fail(f"t is {_show(t)}, expected times from {first:g} to {last:g} s")
        dense = self.__dict__.get("_dense")
        if dense is not None:
            n = self.chain.n
            rows = np.array([dense(float(x)) for x in times.reshape(-1)]).reshape(*times.shape, -1)
            return JointState(rows[..., :n], rows[..., n : 2 * n])
        if len(self) == 1:
            return JointState(*(np.broadcast_to(x[0], (*times.shape, self.chain.n)) for x in (self.q, self.qd)))
        k = np.clip(np.searchsorted(self.t, times, side="right") - 1, 0, len(self) - 2)
        width = (self.t[k + 1] - self.t[k])[..., None]
        s = (times - self.t[k])[..., None] / width
        q, slope = _cubic(self.q[k], self.q[k + 1], width * self.qd[k], width * self.qd[k + 1], s)
        if "qdd" not in self.__dict__:
            return JointState(q, slope / width)
        return JointState(q, _cubic(self.qd[k], self.qd[k + 1], width * self.qdd[k], width * self.qdd[k + 1], s)[0])

    @classmethod
    def _require(cls, model: Any, plan: Plan) -> None:
        """Refuse what a model says of time and is not so."""

    @classmethod
    def _begun(cls, model: Any, rows: dict[str, Array], plan: Plan) -> dict[str, Array]:
        """Initial states q and qd, (runs, n), as the motion takes them."""
        return rows

    @classmethod
    def _calls_back(cls, model: Any) -> bool:
        """Whether the mechanism itself has functions of the user."""
        return False

    @staticmethod
    def _impossible(model: Chain, cause: int, part: int, margin: float, when: str) -> Exception:
        name = model.joint_names[part]
        text = f"joint '{name}' of model '{model.name}' moves no mass: its acceleration is not determined"
        return errors.SingularityError(f"{when} {text}", name)

    def plot(self) -> Figure:
        """Draw coordinates, rates, efforts, energies and their balance. Needs matplotlib (``zveno[plot]``)."""
        energies = ["kinetic_energy", "potential_energy", "work_joints", "work_external"]
        panels = [["q"], ["qd"], ["tau"], energies, ["energy_error"]]
        plots = _optional("zveno.plot.records", "Simulation.plot", "matplotlib")
        figure: Figure = plots.plot_fields(self, panels)
        return figure


def _cubic(a: Array, b: Array, da: Array, db: Array, s: Array) -> tuple[Array, Array]:
    """Value and slope at s of the cubic with these values and slopes at 0 and 1."""
    c, d = 3 * (b - a) - 2 * da - db, 2 * (a - b) + da + db
    return a + s * (da + s * (c + s * d)), da + s * (2 * c + 3 * s * d)


class ChainOptions(Options, total=False):
    """Arguments of `simulate_chain` by name, without those that its overloads spell out."""

    q: ArrayLike | None
    qd: ArrayLike | None
    tau: ArrayLike | JointEfforts | None
    laws: JointLaws
    external: Mapping[str, Load] | None
    base_motion: BaseMotion | None
    method: Method
    hold: float | None
    breaks: ArrayLike | None
    events: Sequence[Watched] | Mapping[str, Watched] | Watched | None
    record: Sequence[str] | None
    rtol: float | None
    atol: float | None


OTHER_WORDS: Final = {
    **dict.fromkeys(("wrench", "wrenches", "load", "loads", "contact", "external_wrench", "fext"), "external"),
    **dict.fromkeys(("position", "positions", "x", "x0", "q0", "angles", "r"), "q"),
    **dict.fromkeys(("velocity", "velocities", "dq", "qdot", "v", "v0", "qd0", "u", "rates"), "qd"),
    **dict.fromkeys(("base", "base_acceleration", "motion"), "base_motion"),
    **dict.fromkeys(("period", "sample_time", "zero_order_hold", "control_dt"), "hold"),
    **dict.fromkeys(("tstops", "break_times", "discontinuities"), "breaks"),
    **dict.fromkeys(("fields", "outputs", "store"), "record"),
    **dict.fromkeys(("event", "stop", "contact_plane"), "events"),
}


@overload
def simulate_chain(
    chain: Chain, t_end: float, dt: float, *, threads: SupportsIndex, **options: Unpack[ChainOptions]
) -> SimulationBatch: ...
@overload
def simulate_chain(chain: Chain, t_end: float, dt: float, **options: Unpack[ChainOptions]) -> ChainSimulation: ...
@answering(OTHER_WORDS)
def simulate_chain(
    chain: Chain,
    t_end: float,
    dt: float,
    *,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | JointEfforts | None = None,
    laws: JointLaws = None,
    external: Mapping[str, Load] | None = None,
    base_motion: BaseMotion | None = None,
    hold: float | None = None,
    breaks: ArrayLike | None = None,
    events: Sequence[Watched] | Mapping[str, Watched] | Watched | None = None,
    t_start: float = 0.0,
    method: Method = "rk4",
    rtol: float | None = None,
    atol: float | None = None,
    every: int = 1,
    record: Sequence[str] | None = None,
    progress: bool | None = None,
    on_error: Literal["raise", "stop", "nan"] = "raise",
    check_step: bool = True,
    threads: SupportsIndex | None = None,
) -> ChainSimulation | SimulationBatch:
    """Motion of a chain or tree in time on a base that rests or moves as prescribed; `Chain.simulate` is this function.

    Parameters
    ----------
    chain : Chain
        Its gravity, friction, springs and rotors act.
    t_end, dt : float, s
        End and step. The step is shortened where needed, so that whole steps lead to the end. Methods that choose their
        steps make none longer than `dt` ("radau"), or any, and give a state every `dt` ("adaptive").
    q, qd : (..., n) array, rad or m, rad/s or m/s
        Initial coordinates and rates; default: zeros.
    tau : (n,) or (steps, n) array, or callable, N m or N
        Joint efforts, constant or held over each step; or ``f(t, q, qd) -> (n,)``. In a batch also (..., n) with its
        leading dimensions, or (..., steps, n).
    laws : Law, sequence of n Law or None, dict of Law by joint name, or callable
        Laws of the joints (`zveno.laws`): one for all, one for each, or for some; or ``f(t, q, qd) -> (n,)``. They add
        to `tau`. Limits of None are those of the joint, a reference of None is zero.
    external : dict, optional
        Wrenches [force; moment] at the origins of links, world axes, N and N m, by link name: (..., 6) array, constant;
        (times (k,), values (..., k, 6)), linear between the times and constant outside; or ``f(t, q, qd) -> (6,)``.
    base_motion : (..., 9) array, (times, values), or callable
        Acceleration of the base's origin, angular velocity and angular acceleration [a; Omega; Omega'], base axes:
        constant; (times (k,), values (..., k, 9)), linear between the times; or ``f(t) -> (9,)``. Energies are then
        those of the motion relative to the base, and there is no energy balance.
    hold : float, s
        Functions `tau` and `laws` are called once in each period of this length, a whole number of steps, and what they
        gave is held; default: they are called at every evaluation.
    breaks : (k,) array, s
        Times at which something that acts changes suddenly. Steps are split there, so that none mixes what holds before
        with what holds after, which would cost a method its order; at the time itself the new holds. Functions of the
        call may have them as their attribute ``breaks``, as `zveno.trajectory.Trajectory` has. Tables are continuous,
        and their kinks are not split at by themselves.
    events : functions f(t, q, qd), `Event` or `PlaneContact`, a sequence or a dict of them by name
        Their zeros are events: found inside the step, listed in ``events`` of the record as `Crossing`; terminal ones
        end the motion there. Functions may have the attributes ``terminal`` and ``direction``, as those of SciPy.
    t_start : float, s
    method : str
        "rk4": Runge-Kutta of order 4. "semi-implicit": Euler with velocities first, then positions with the new
        velocities, order 1. For stiff springs, dampers and flexible links, at any step stable: "implicit" or "gauss",
        collocation of Gauss with two stages, order 4, energy kept; "midpoint", one stage, order 2; "radau", Radau IIA
        with three stages, order 5, steps chosen by `rtol` and `atol`, stiff motions damped. "adaptive",
        "adaptive-stiff": SciPy's DOP853 and Radau, needs scipy (``zveno[scipy]``).
    rtol, atol : float
        Of coordinates: of each step ("radau": 1e-6, 1e-8; "adaptive": 1e-8, 1e-10; "adaptive-stiff": 1e-6, 1e-8);
        `atol` alone, 1e-12 rad or m: of the equations of a step ("gauss", "midpoint", and "radau" with ``rtol=0``,
        whose steps are then all `dt`).
    every : int
        Record every so many steps, and the last one.
    record : sequence of str, optional
        Names of the fields to record, besides ``t``, ``q`` and ``qd``; what is not named is not computed. Default: all.
    progress : bool, optional
        Show a progress bar. Default: if rich is installed, stderr is a terminal and the run takes more than 2 s.
    on_error : {"raise", "stop", "nan"}
        What to do if a joint moves no mass or numbers overflow. "raise": the error has the record up to then as its
        attribute ``simulation``, and that of a batch, the first that fails, ``row``. "stop": return that record with
        ``failure`` set. "nan", of a batch: what the run did not reach is nan, and ``status`` says why. Errors raised by
        callables are always raised, with that attribute.
    check_step : bool
        Refuse a step more than twice as long as the longest stable one, by M qdd + C qd + K q = 0 at the start; see the
        notes of `Hexapod.simulate`.
    threads : int, optional
        Runs of a batch that are made side by side; 0: as many as there are processors, or as a quota of the container
        leaves (`zveno.show_versions`). Default: 1. Runs with callables are made one after another.

    Returns
    -------
    simulation : ChainSimulation or SimulationBatch
        A batch if `q`, `qd`, `external`, `base_motion` or `tau` has leading dimensions, which are broadcast: its arrays
        have them in front. Every run has the same bits as alone. Under `tau` and `SpringDamper` laws alone, with "rk4"
        or "semi-implicit", runs are made side by side in SIMD lanes.

    Raises
    ------
    SingularityError, FloatingPointError
        With the attributes ``time`` and ``simulation``.
    StepError
        The step is far beyond the limit of stability; or the equations of an implicit step are not solved, however
        short it is made.

    Warns
    -----
    SimulationWarning
        The energy balance is off by more than 1 % of the energy exchanged (`Simulation.energy_balance`), or stops were
        met for which the step is too long to be stable.

    Notes
    -----
    Errors that functions raise pass through, with a note that names the function and the time, and with the record up
    to then as their attribute ``simulation``.

    Ctrl-C ends a run in about 0.1 s, with its record as the attribute ``simulation`` of the KeyboardInterrupt. It is
    heard only where Python hears it: in the main thread, with Python's handler of SIGINT in place.

    A record takes 8 bytes for each of its 11 + 4 n numbers of a state. A batch needs its whole record, and one run more
    for each thread. Records beyond the machine's memory are refused. Memory of records that nobody holds any more,
    at most 32 MB of it, is kept for the next ones.

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.two_link()
    >>> swing = arm.simulate(1.0, 1e-3, q=[0.5, 0.0], laws=zv.laws.SpringDamper(0.0, 0.2))
    >>> print(swing.energy_balance)  # as the repr shows it, too
    33.7 J exchanged, error < 1e-9 of it
    >>> bool(abs(swing.energy_error).max() < 1e-9)  # energy lost to the dampers is accounted for
    True
    """
    if not isinstance(chain, _core.Chain):
        raise TypeError(f"simulate: chain is {_show(chain)}, expected a Chain")
    made: ChainSimulation | SimulationBatch = simulated(
        ChainSimulation, chain, chain, {}, t_end, dt, q=q, qd=qd, tau=tau, laws=laws, external=external,
        base_motion=base_motion, hold=hold, breaks=breaks, events=events, t_start=t_start, method=method, rtol=rtol,
        atol=atol, every=every, record=record, progress=progress, on_error=on_error, check_step=check_step,
        threads=threads,
    )  # fmt: skip
    return made


def simulated(
    kind: type[ChainSimulation],
    model: Any,
    chain: Chain,
    held_by: Mapping[str, Any],
    t_end: float,
    dt: float,
    *,
    q: Any,
    qd: Any,
    tau: Any,
    laws: Any,
    external: Any,
    base_motion: Any,
    hold: Any,
    breaks: Any,
    events: Any,
    t_start: Any,
    method: Any,
    rtol: Any,
    atol: Any,
    every: Any,
    record: Any,
    progress: Any,
    on_error: Any,
    check_step: Any,
    threads: Any,
    methods: Sequence[str] = METHODS,
    drives: Sequence[tuple[int, str, Wrench]] = (),
    functions: Sequence[Any] = (),
) -> Any:
    """The motion of `model`, a chain or a linkage of `chain`; `held_by`: what else `_core.ChainRun` is told of it.

    `drives`: of constraints, by their places and names. `functions`: of time, of constraints.
    """
    n = chain.n
    plan = Plan.checked(t_end, dt, t_start, method, every, progress, on_error, check_step, threads, methods, rtol, atol)
    names = chain.joint_names
    require_callable(tau, "tau")
    expected = f"a Law, {n} of them, a dict by joint name, or a function f(t, q, qd)"
    chosen, function = as_joint_laws(laws, chain, expected)
    programs = [None if law is None else program(law) for law in chosen]
    forces = [
        (what, naming(given, f"{what}(t, q, qd)"))
        for what, given in (("laws", function), ("tau", tau))
        if callable(given)
    ]
    if plan.method in IMPLICIT:
        _require_no_states(plan, chosen, names)
    held = _held(hold, plan, bool(forces))
    plan = plan._replace(watched=(watched := as_events(chain, events)).names)
    wanted = _wanted(record)
    start = {
        "q": np.zeros(n) if q is None else as_stack(q, "q", (n,)),
        "qd": np.zeros(n) if qd is None else as_stack(qd, "qd", (n,)),
    }
    loads = _loads(chain, external)
    base = None if base_motion is None else as_load(base_motion, "base_motion", 9)
    given = [load.function for load in [*(x for _, x in loads), *(x for _, _, x in drives), *([base] if base else [])]]
    plan = plan.broken_at(breaks, [x for x in (function, tau, *given, *functions) if callable(x)])
    shapes = {name: array.shape[:-1] for name, array in start.items()}
    shapes |= {f"external of link '{link}'": load.lead for link, load in loads}
    shapes |= {f"drive of constraint '{name}'": load.lead for _, name, load in drives}
    shapes["base_motion"] = () if base is None else base.lead
    lead = common_shape(shapes)
    effort = None if tau is None or callable(tau) else as_efforts(tau, plan.steps, ((n,),), lead)
    lead = common_shape(shapes | {"tau": () if effort is None else effort.lead})
    rows = {name: rows_of(array, lead, 1) for name, array in start.items()}
    kind._require(model, plan)
    rows = kind._begun(model, rows, plan)
    pulls = [(link, load.rows(lead)) for link, load in loads]
    efforts = effort and effort.rows(lead, lambda row: row)
    bases = base and base.rows(lead)
    driven = [(k, name, load.rows(lead)) for k, name, load in drives]
    adaptive = plan.method in ADAPTIVE
    if adaptive:
        _optional("scipy.integrate", f"simulate: method '{plan.method}'", "scipy")

    def make(i: int) -> Run:
        own = None if efforts is None else efforts(i)
        run = _core.ChainRun(
            chain,
            plan.schedule(),
            q=rows["q"][i],
            qd=rows["qd"][i],
            laws=programs,
            lower=chain.lower,
            upper=chain.upper,
            tau=own,
            forces=forces,
            external=[(link, pull(i)) for link, pull in pulls],
            hold=held,
            base=bases and bases(i),
            watched=watched.given,
            wanted=wanted,
            drives=[(k, name, drive(i)) for k, name, drive in driven],
            **held_by,
        )
        if not adaptive:
            return run
        return AdaptiveRun(run, plan, 1 if own is not None and own.ndim == 2 else held, bool(held_by))

    def linear(i: int) -> stability.Linearised | None:
        if not plan.explicit or held_by:
            return None
        return stability.of_chain(chain, plan.method, chosen, rows["q"][i], rows["qd"][i])

    called = [load for _, load in loads] + [load for _, _, load in drives]
    calls_back = bool(forces) or any(load.function is not None for load in called) or adaptive
    calls_back |= kind._calls_back(model) or watched.calls_back or (base is not None and base.function is not None)
    lanes = None
    plain = not (calls_back or called or base or watched.given or plan.breaks)
    if lead and plain and plan.method in EXPLICIT and kind._in_lanes(model):
        lanes = _lanes(chosen, effort, lead, rows["q"], rows["qd"])
        lanes = lanes and lanes._replace(**held_by)
    made = run_all(Runs(plan, lead, make, linear, kind, model, names, {"joint": n}, calls_back, wanted, lanes))
    if plan.method in ("gauss", "midpoint") and isinstance(made, kind) and made.failure is None and len(made):
        _warn_of_vibrations(plan, made, model, chain, chosen)
    return made


_LOUD: Final = 0.1  # of the largest kinetic energy: a vibration that counts
_SMALL: Final = 1e-5  # rad or m: one that does not


def _warn_of_vibrations(plan: Plan, run: Any, model: Any, chain: Chain, laws: Sequence[Law | None]) -> None:
    """Symmetric methods keep the energy of a fast vibration, whatever becomes of its motion: no balance tells."""
    qdd, kinetic = getattr(run, "qdd", None), getattr(run, "kinetic_energy", None)
    if qdd is None or kinetic is None:  # not recorded
        return
    q, qd = run.q[0], run.qd[0]

    def accelerations(tau: Array) -> Array:
        found: Array = (
            chain.forward_dynamics(q, qd, tau)
            if model is chain
            else model.forward_dynamics(q, qd, tau, plan.start, outputs=("qdd",)).qdd
        )
        return found

    def respond(tau: Array) -> Array:
        more: Array = accelerations(tau) - accelerations(0 * tau)
        return more

    found = stability.unfollowed(chain, plan.dt, laws, q, qd, qdd[0], respond)
    if found is None or found.amplitude < _SMALL or not found.energy > _LOUD * float(np.max(kinetic)):
        return
    warn(
        f"joint '{chain.joint_names[found.joint]}' starts off the rest of its spring and vibrates at"
        f" {found.frequency:.3g} Hz with {found.energy:.3g} J, which dt = {plan.dt:g} s does not follow:"
        f" '{plan.method}' keeps that energy, but neither the vibration nor what it does to the other joints; start at"
        f" rest, take method 'radau', or steps below {0.05 / found.frequency:.1g} s"
    )


def _lanes(
    laws: Sequence[Law | None], effort: Efforts | None, lead: tuple[int, ...], q: Array, qd: Array
) -> Lanes | None:
    """What runs side by side take, or None if some law is more than a spring with a damper."""
    if not all(law is None or type(law) is SpringDamper for law in laws):
        return None
    spring = None
    if any(laws):
        numbers = [(0.0, 0.0, 0.0, 0.0) if law is None else law._terms()[0][1:] for law in laws]
        spring = np.array(numbers, float)
    if effort is None:
        return Lanes(q, qd, None, 1, False, spring)
    by_run, held = bool(effort.lead), effort.values.shape[-2] if effort.core == 2 else 1
    tau = rows_of(effort.values, lead, effort.core) if by_run else effort.values
    return Lanes(q, qd, np.ascontiguousarray(tau), held, by_run, spring)


def _require_no_states(plan: Plan, laws: Sequence[Law | None], names: Sequence[str]) -> None:
    for name, law in zip(names, laws, strict=True):
        if law is not None and program(law).states:
            refuse(
                f"law of joint '{name}' has LuGre, whose bristles method '{plan.method}' does not take, expected 'rk4',"
                " 'semi-implicit' or an adaptive method"
            )


def _held(hold: Any, plan: Plan, called: bool) -> int:
    """The steps that a value is held for; 0: none."""
    if hold is None:
        return 0
    period = as_number(hold, refuse, "hold")
    steps = round(period / plan.dt)
    if not period > 0 or steps < 1 or abs(period - steps * plan.dt) > 1e-9 * period:
        refuse(f"hold is {period:g}, expected a whole number of steps of {plan.dt:g} s")
    if not called:
        refuse("hold is given, but neither tau nor laws is a function")
    return steps


def _wanted(record: Any) -> list[str] | None:
    """Names of the fields to record, with those that they follow from; None: all."""
    if record is None:
        return None
    every = [field.name for field in ChainSimulation.fields]
    names = [record] if isinstance(record, str) else as_list(record)
    if names is None:
        refuse(f"record is {_show(record)}, expected names of fields")
    for name in names:
        if name not in every:
            refuse(f"record names {_show(name)}, expected some of {', '.join(every)}{did_you_mean(name, every)}")
    chosen = {"t", "q", "qd", *names}
    if "energy_error" in chosen:
        chosen |= {"kinetic_energy", "potential_energy", "work_joints", "work_external"}
    return None if len(chosen) == len(every) else [name for name in every if name in chosen]


def _loads(chain: Chain, external: Any) -> list[tuple[str, Wrench]]:
    """External wrenches by link."""
    if external is None:
        return []
    if not isinstance(external, Mapping):
        refuse(f"external is {_show(external)}, expected a dict of wrenches by link name")
    for link in external:
        if link not in chain.link_names:
            refuse(f"external names link {_show(link)}, expected one of {', '.join(map(repr, chain.link_names))}")
    return [(link, as_load(load, f"external of link '{link}'")) for link, load in external.items()]


__test__: Final = {"simulate_chain": simulate_chain}  # doctest passes over what a decorator has wrapped
