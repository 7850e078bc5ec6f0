"""Motion of a chain in time: `simulate_chain` and its record. The steps are made in C++."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, SupportsIndex, TypeAlias, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, errors
from .._check import Array, _show
from .._extras import optional as _optional
from . import stability
from .batch import Runs, SimulationBatch, common_shape, rows_of
from .laws import Law, joint_place, program
from .plan import Plan, refuse
from .simulation import Load as Wrench
from .simulation import Options, RecordField, Simulation, as_efforts, as_laws, as_load, as_stack, run_all, through
from .words import answering

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Chain

__all__ = ["ChainSimulation", "LimitEvent", "simulate_chain"]

JointEfforts: TypeAlias = Callable[[float, Array, Array], ArrayLike]
JointLaws: TypeAlias = Law | Sequence[Law | None] | Mapping[str, Law] | JointEfforts | None
Load: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike] | JointEfforts


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


class ChainSimulation(Simulation, mechanism="chain"):
    """Record of the simulated motion of a chain with nj joints. ``len()`` is the number of recorded states n."""

    chain: Chain
    events: list[LimitEvent]
    _event = LimitEvent
    _shown = "ChainSimulation"
    _called = "model"
    _efforts = "efforts"

    def _labels(self, dim: str) -> tuple[str, ...]:
        return self.chain.joint_names

    def _turns(self, field: RecordField, index: tuple[int, ...]) -> bool:
        return bool(self.chain.joint_types[index[0]] != "prismatic")

    def _works(self) -> list[Array]:
        return [self.work_joints, self.work_external]

    def _through(self) -> list[float]:
        return [through(((self.tau - self.chain.friction * self.qd) * self.qd).sum(axis=1), self.t), 0.0]

    def _rates(self) -> Array:
        rates: Array = self.qd
        return rates

    def _force_times_length(self) -> float:
        return float((np.abs(self.tau) * (1 + np.abs(self.q))).max(initial=0.0))

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


class ChainOptions(Options, total=False):
    """Arguments of `simulate_chain` by name, without those that its overloads spell out."""

    q: ArrayLike | None
    qd: ArrayLike | None
    tau: ArrayLike | JointEfforts | None
    laws: JointLaws
    external: Mapping[str, Load] | None


_OTHER_WORDS: Final = {
    **dict.fromkeys(("wrench", "wrenches", "load", "loads", "contact", "external_wrench", "fext"), "external"),
    **dict.fromkeys(("position", "positions", "x", "x0", "q0", "angles", "r"), "q"),
    **dict.fromkeys(("velocity", "velocities", "dq", "qdot", "v", "v0", "qd0", "u", "rates"), "qd"),
}


@overload
def simulate_chain(
    chain: Chain, t_end: float, dt: float, *, threads: SupportsIndex, **options: Unpack[ChainOptions]
) -> SimulationBatch: ...
@overload
def simulate_chain(chain: Chain, t_end: float, dt: float, **options: Unpack[ChainOptions]) -> ChainSimulation: ...
@answering(_OTHER_WORDS)
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
    t_start: float = 0.0,
    method: Literal["rk4", "semi-implicit"] = "rk4",
    every: int = 1,
    progress: bool | None = None,
    on_error: Literal["raise", "stop", "nan"] = "raise",
    check_step: bool = True,
    threads: SupportsIndex | None = None,
) -> ChainSimulation | SimulationBatch:
    """Motion of a chain or tree in time on its fixed base; `Chain.simulate` is this function.

    Parameters
    ----------
    chain : Chain
        Its gravity, friction and rotors act.
    t_end, dt : float, s
        End and step. The step is shortened where needed, so that whole steps lead to the end.
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
    t_start : float, s
    method : {"rk4", "semi-implicit"}
        Runge-Kutta of order 4; or Euler with velocities first, then positions with the new velocities, order 1.
    every : int
        Record every so many steps, and the last one.
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
        A batch if `q`, `qd`, `external` or `tau` has leading dimensions, which are broadcast: its arrays have them in
        front. Every run has the same bits as alone.

    Raises
    ------
    SingularityError, FloatingPointError
        With the attributes ``time`` and ``simulation``.
    StepError
        The step is far beyond the limit of stability.

    Warns
    -----
    SimulationWarning
        The energy balance is off by more than 1 % of the energy exchanged (`Simulation.energy_balance`), or stops were
        met for which the step is too long to be stable.

    Notes
    -----
    Ctrl-C ends a run in about 0.1 s, with its record as the attribute ``simulation`` of the KeyboardInterrupt. It is
    heard only where Python hears it: in the main thread, with Python's handler of SIGINT in place.

    A record takes 8 bytes for each of its 11 + 4 n numbers of a state. A batch needs its whole record, and one run more
    for each thread. Records beyond the machine's memory are refused.

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
    n = chain.n
    plan = Plan.checked(t_end, dt, t_start, method, every, progress, on_error, check_step, threads)
    names = chain.joint_names
    if isinstance(laws, Mapping):
        for name in laws:
            if name not in names:
                refuse(f"laws names joint {_show(name)}, expected one of {', '.join(map(repr, names))}")
        laws = [laws.get(name) for name in names]
    who = [f"law of joint '{name}'" for name in names]
    expected = f"a Law, {n} of them, a dict by joint name, or a function f(t, q, qd)"
    chosen, function = as_laws(laws, who, partial(joint_place, chain), expected)
    programs = [None if law is None else program(law) for law in chosen]
    forces = [(what, given) for what, given in (("laws", function), ("tau", tau)) if callable(given)]
    start = {
        "q": np.zeros(n) if q is None else as_stack(q, "q", (n,)),
        "qd": np.zeros(n) if qd is None else as_stack(qd, "qd", (n,)),
    }
    loads = _loads(chain, external)
    shapes = {name: array.shape[:-1] for name, array in start.items()}
    shapes |= {f"external of link '{link}'": load.lead for link, load in loads}
    lead = common_shape(shapes)
    effort = None if tau is None or callable(tau) else as_efforts(tau, plan.steps, ((n,),), lead)
    lead = common_shape(shapes | {"tau": () if effort is None else effort.lead})
    rows = {name: rows_of(array, lead, 1) for name, array in start.items()}
    pulls = [(link, load.rows(lead)) for link, load in loads]
    efforts = effort and effort.rows(lead, lambda row: row)

    def make(i: int) -> _core.ChainRun:
        return _core.ChainRun(
            chain,
            plan.schedule(),
            q=rows["q"][i],
            qd=rows["qd"][i],
            laws=programs,
            lower=chain.lower,
            upper=chain.upper,
            tau=efforts and efforts(i),
            forces=forces,
            external=[(link, pull(i)) for link, pull in pulls],
        )

    def linear(i: int) -> stability.Linearised | None:
        return stability.of_chain(chain, plan.method, chosen, rows["q"][i], rows["qd"][i])

    calls_back = bool(forces) or any(load.function is not None for _, load in loads)
    return run_all(Runs(plan, lead, make, linear, ChainSimulation, chain, names, {"joint": n}, calls_back))


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
