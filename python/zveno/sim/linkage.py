"""Motion of a linkage in time: `simulate_linkage` and its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, SupportsIndex, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, errors
from .._check import Array, _show, as_amount, as_list
from .batch import SimulationBatch
from .chain import (
    OTHER_WORDS,
    BaseMotion,
    ChainOptions,
    ChainSimulation,
    JointEfforts,
    JointLaws,
    Load,
    Method,
    Watched,
    simulated,
)
from .plan import Plan, Run, refuse
from .simulation import Load as Wrench
from .simulation import as_load
from .words import answering

if TYPE_CHECKING:
    from ..model import Chain
    from ..model.linkage import Linkage
    from ..results import LinkageDynamics

__all__ = ["LinkageSimulation", "simulate_linkage"]

_OPEN: Final = 1e-6  # of the length: what closing may mend without a word
_WRONG: Final = 1e-6  # of the rates: likewise
_SMALL: Final = 128  # joints and equations: more would take too much memory side by side


class LinkageSimulation(ChainSimulation, mechanism="linkage"):
    """Record of the simulated motion of a linkage with nj joints. ``len()`` is the number of recorded states n."""

    linkage: Linkage
    _shown = "LinkageSimulation"
    _called = "linkage"
    if TYPE_CHECKING:
        chain: Chain
    else:

        @property
        def chain(self) -> Chain:
            """The tree."""
            return self.linkage.chain

    def reactions(
        self,
        external: Mapping[str, ArrayLike] | None = None,
        base_motion: ArrayLike | None = None,
        drive: ArrayLike | None = None,
    ) -> LinkageDynamics:
        """Forces in all joints at the recorded states: the result of `Linkage.forward_dynamics` with its arrays.

        Parameters
        ----------
        external, base_motion, drive
            What acted besides the efforts, at the recorded states, as `Linkage.forward_dynamics` takes them: the record
            does not hold it.

        Raises
        ------
        ValueError
            External wrenches, drives in cut joints or a moving base acted, and they are not given.

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> run = four_bar.simulate(0.05, 1e-3, q=four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"]))
        >>> run.reactions().loop_reaction.shape  # steps, loops, components
        (51, 1, 6)
        """
        loads = dict(external) if external is not None else None
        found = self.linkage.forward_dynamics(
            self.q, self.qd, self.tau, self.t, external=loads, base_motion=base_motion, drive=drive
        )
        difference = np.abs(found.qdd - self.qdd).max(initial=0.0)
        if difference > 1e-6 * max(1.0, float(np.abs(self.qdd).max(initial=0.0))):
            raise ValueError(
                "reactions: external wrenches, drives or a moving base acted, which the record does not hold, expected"
                " them as external=, drive= and base_motion="
            )
        return found

    @classmethod
    def _in_lanes(cls, model: Linkage) -> bool:
        return model._samples > 0 and model.n + model.m <= _SMALL

    @classmethod
    def _calls_back(cls, model: Linkage) -> bool:
        return any(constraint.timed for constraint in model.constraints)

    @classmethod
    def _require(cls, model: Linkage, plan: Plan) -> None:
        model._giver.require_rates(plan.start, 0.01 * plan.dt)

    @classmethod
    def _begun(cls, model: Linkage, rows: dict[str, Array], plan: Plan) -> dict[str, Array]:
        q, qd, start = rows["q"], rows["qd"], plan.start
        closed, rates = np.empty_like(q), np.empty_like(qd)
        for i in range(len(q)):
            where = f" of run {i}" if len(q) > 1 else ""
            gap = np.abs(model.residual(q[i], start)).max(initial=0.0)
            if gap > _OPEN * model.length:
                worst, _ = model.row_names[int(np.abs(model.residual(q[i], start)).argmax())]
                refuse(
                    f"q{where} leaves constraint {_show(worst)} open by {gap:.3g} m, expected a closed state:"
                    " linkage.close(q) finds one"
                )
            closed[i] = model.close(q[i], t=start)
            try:
                rates[i] = model.project_velocity(closed[i], qd[i], start)
            except errors.SingularityError as error:
                raise errors.SingularityError(
                    f"simulate: q{where} is a singular configuration of linkage '{model.name}', where accelerations are"
                    " not determined: linkage.singularity(q) tells its kind, expected a start beside it",
                    cause=error.cause,
                ) from error
            wrong = np.abs(rates[i] - qd[i]).max(initial=0.0)
            if wrong > _WRONG * max(1.0, float(np.abs(qd[i]).max(initial=0.0))):
                refuse(
                    f"qd{where} violates the constraints by {wrong:.3g} rad/s or m/s, expected rates that they allow:"
                    " linkage.velocities(q, {joint: rate}) and linkage.project_velocity(q, qd) find them"
                )
        return {"q": closed, "qd": rates}

    @classmethod
    def _explained(cls, failure: Any, model: Any, plan: Plan, run: Run, at: float) -> Any:
        """A step that cannot be made where a constraint moves out of reach."""
        end = min(at + plan.dt, plan.start + plan.dt * plan.steps)
        if not any(x.timed for x in model.constraints):
            return failure
        try:
            model.close(run.arrays["q"][run.recorded - 1], t=end)
        except errors.UnreachableError as gap:
            return errors.UnreachableError(
                f"simulate: at t = {at:.9g} s constraint '{gap.constraint}' of linkage '{model.name}' cannot be met any"
                f" more: at t = {end:.9g} s it is open by {gap.gap:.3g} m and {gap.angle:.3g} degrees",
                cause="open",
                margin=gap.gap or 0.0,
            )
        except Exception:  # of functions of the caller
            pass
        return failure

    @staticmethod
    def _impossible(model: Any, cause: int, part: int, margin: float, when: str) -> Exception:
        _, key, text = _core.cause(cause)
        if key == "moves no mass":
            return ChainSimulation._impossible(model.chain, cause, part, margin, when)
        name = model.constraints[part].name if 0 <= part < len(model.constraints) else model.name
        if key == "open":
            gap = f"constraint '{name}' of linkage '{model.name}' cannot be met any more: it is open by {margin:.3g} m"
            timed = any(x.timed for x in model.constraints)
            why = "" if timed else "; dt is too long for the motion, or it runs into a singular configuration"
            return errors.UnreachableError(f"{when} {gap}{why}", cause=key, margin=margin)
        return errors.SingularityError(f"{when} linkage '{model.name}' {text}", cause=key)


@overload
def simulate_linkage(
    linkage: Linkage, t_end: float, dt: float, *, threads: SupportsIndex, baumgarte: Any = None, drive: Any = None,
    **options: Unpack[ChainOptions],
) -> SimulationBatch: ...  # fmt: skip
@overload
def simulate_linkage(
    linkage: Linkage, t_end: float, dt: float, *, baumgarte: Any = None, drive: Any = None,
    **options: Unpack[ChainOptions],
) -> LinkageSimulation: ...  # fmt: skip
@answering(OTHER_WORDS | dict.fromkeys(("drives", "motor", "motors", "actuators"), "drive"))
def simulate_linkage(
    linkage: Linkage,
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
    baumgarte: ArrayLike | None = None,
    drive: Mapping[str, Load] | None = None,
) -> LinkageSimulation | SimulationBatch:
    """Motion of a closed mechanism in time; `Linkage.simulate` is this function.

    After every step coordinates and rates are projected back onto the constraints in the metric of the mass matrix:
    they stay met to round-off, the order of the method is kept, and energy is never added.

    Parameters
    ----------
    linkage : Linkage
    t_end, dt : float, s
    q : (..., n) array, rad or m
        A closed state, as `Linkage.close` finds it; what is open by less than a millionth of the length is closed.
    qd : (..., n) array, rad/s or m/s
        Rates that the constraints allow; default: rest, for constraints that do not move.
    baumgarte : (2,) array, 1/s, optional
        (alpha, beta): f'' + 2 alpha f' + beta^2 f = 0 instead of projection. It leaves a drift of the order of the
        error of a step, and does work. Keep alpha dt below 0.4 ("semi-implicit") or 1.4 ("rk4").
    drive : dict, optional
        Drives in joints that close loops, by the names of constraints, (L15): force along the axis of A on link B at
        its point and moment about that axis, N and N m; the opposite acts on A. (..., 2) array, constant; (times (k,),
        values (..., k, 2)), linear between the times and constant outside; or ``f(t, q, qd) -> (2,)``. Their work is
        part of ``work_external``.
    base_motion : (..., 9) array, (times, values), or callable
        See `Chain.simulate`. Constraints are relative to the base, motions of targets too.
    method : str
        See `Chain.simulate`. Implicit methods solve for accelerations that meet the constraints at their stages, (L43);
        states are projected after every step, those of the adaptive methods too, whose states in between, ``at(t)``,
        are closed to the tolerance.
    breaks : (k,) array, s
        See `Chain.simulate`; functions of time of constraints and targets may have the attribute ``breaks`` too. Rates
        that a target changes suddenly are changed by an impact, the projection of rates, whose work is not counted.
    tau, laws, external, hold, events, t_start, rtol, atol, every, record, progress, on_error, check_step, threads
        See `Chain.simulate`; steps are not checked against a limit of stability.

    Returns
    -------
    simulation : LinkageSimulation or SimulationBatch
        Its method ``reactions()`` gives the forces in all joints.

    Raises
    ------
    UnreachableError
        A constraint cannot be met any more: it moves in time and leaves the workspace, or the step is too long; with
        ``time``, and the record up to then as ``simulation``.
    SingularityError
        The constraints depend on each other where they did not before: the motion may branch there.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> four_bar = zv.mechanisms.four_bar()
    >>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
    >>> run = four_bar.simulate(1.0, 1e-3, q=q, qd=four_bar.velocities(q, {"crank_joint": 3.0}))
    >>> bool(np.abs(four_bar.residual(run.q)).max() < 1e-14)
    True
    >>> bool(run.energy_balance.ratio < 1e-9)
    True
    """
    if not isinstance(linkage, _core.Linkage):
        raise TypeError(f"simulate: linkage is {_show(linkage)}, expected a Linkage")
    if q is None:
        refuse("q is missing: linkage.close(guess) finds a closed state to start from")
    gains = (0.0, 0.0)
    if baumgarte is not None:
        given = as_list(baumgarte)
        if given is None or len(given) != 2:
            refuse(f"baumgarte is {_show(baumgarte)}, expected (alpha, beta)")
        gains = tuple(as_amount(x, refuse, "baumgarte") for x in given)  # type: ignore[assignment]
    made: LinkageSimulation | SimulationBatch = simulated(
        LinkageSimulation, linkage, linkage.chain, {"linkage": linkage, "baumgarte": gains}, t_end, dt, q=q, qd=qd,
        tau=tau, laws=laws, external=external, base_motion=base_motion, hold=hold, breaks=breaks, events=events,
        t_start=t_start, method=method, rtol=rtol, atol=atol, every=every, record=record, progress=progress,
        on_error=on_error, check_step=check_step, threads=threads, drives=_drives(linkage, drive),
        functions=_functions(linkage),
    )  # fmt: skip
    return made


def _functions(linkage: Linkage) -> list[Any]:
    """What constraints are told by functions."""
    found: list[Any] = []
    for x in linkage.constraints:
        found += [x.offset, x.length, x.function, *(target.function for target in x.targets)]
    return [f for f in found if callable(f)]


def _drives(linkage: Linkage, given: Any) -> list[tuple[int, str, Wrench]]:
    """Place, name and numbers of every drive."""
    if given is None:
        return []
    placed = [x.name for x in linkage.constraints if x.a is not None]
    if not isinstance(given, Mapping):
        refuse(f"drive is {_show(given)}, expected a dict of force and moment by the name of a constraint")
    names = [x.name for x in linkage.constraints]
    for name in given:
        if name not in placed:
            known = ", ".join(map(repr, placed)) or "there is none"
            refuse(f"drive names constraint {_show(name)}, expected one with an axis: {known}")
    return [
        (names.index(name), name, _as_drive(value, f"drive of constraint '{name}'")) for name, value in given.items()
    ]


def _as_drive(value: Any, what: str) -> Wrench:
    """Two numbers look like times and values: those are arrays."""
    pair = not callable(value) and isinstance(value, tuple | list) and len(value) == 2 and np.ndim(value[0]) == 0
    return as_load(np.asarray(value) if pair else value, what, 2)


__test__: Final = {"simulate_linkage": simulate_linkage}  # doctest passes over what a decorator has wrapped
