"""Holding torques, and states in which given efforts hold a chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import Array, _show, as_array, common_lead
from ..errors import UnreachableError
from .loads import acting, by_joint, joint_values, read_only, to_world, turning_stiffness, wrenches

if TYPE_CHECKING:
    from ..model import Chain
    from .linear import Frame

__all__ = ["Equilibrium", "equilibrium", "holding_torque"]

EPS: Final = float(np.finfo(float).eps)
CLOSE: Final = 1e-11  # residual relative to the efforts that act in a joint
FLAT: Final = 1e-11  # stiffness relative to the largest that counts as none
LONGEST: Final = 0.7  # rad or m, of one step
NEWTON: Final = 60
DESCENT: Final = 500


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
    """A state at rest in which given efforts hold a chain; found by `Chain.equilibrium`.

    Attributes
    ----------
    q : (..., n) array, rad or m
    tau : (..., n) array, N m or N
        The efforts.
    residual : (..., n) array, N m or N
        tau - holding_torque(q): the proof that it is an equilibrium.
    stable : bool or (...) array of bool
        No direction is one to fall: the symmetric part of the stiffness K has no negative eigenvalue.
    neutral : int or (...) array of int
        Directions without stiffness, in which the chain stays where it is pushed: a joint with a vertical axis.
    iterations : int or (...) array of int
        Steps that were made.
    """

    q: Array
    tau: Array
    residual: Array
    stable: bool | NDArray[np.bool_]
    neutral: int | NDArray[np.int64]
    iterations: int | NDArray[np.int64]

    def __repr__(self) -> str:
        lead = self.q.shape[:-1]
        if lead:
            return f"Equilibrium of {lead} states: {np.count_nonzero(self.stable)} stable"
        worst = np.abs(self.residual).max()
        kind = "stable" if self.stable else "not stable"
        return f"Equilibrium: q = {_show((self.q.round(6) + 0.0).tolist())}, {kind}, residual {worst:.1e}"


def holding_torque(
    chain: Chain,
    q: ArrayLike,
    external: Mapping[str, ArrayLike] | None = None,
    *,
    external_frame: Frame = "world",
    base_motion: ArrayLike | None = None,
) -> Array:
    """Joint efforts that hold a chain at rest against gravity, springs and external wrenches.

    Parameters
    ----------
    chain : Chain
        `Chain.holding_torque` is this function.
    q : (..., n) array, rad or m
    external : dict, optional
        {link: (..., 6) wrench [force; moment]} at the origins of links, N and N m.
    external_frame : {"world", "link"}
        Axes of the wrenches.
    base_motion : (..., 9) array, m/s^2, rad/s, rad/s^2, optional
        As in `Chain.inverse_dynamics`.

    Returns
    -------
    tau : (..., n) array, N m or N
        inverse_dynamics(q, 0, 0).

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.two_link()
    >>> arm.holding_torque([0.0, 0.0])
    array([-19.62 ,  -4.905])
    >>> arm.holding_torque([0.0, 0.0], {"tip": [0, 0, -1.0, 0, 0, 0]})  # 1 N more at 2 m and at 1 m
    array([-21.62 ,  -5.905])
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"holding_torque: {text} for chain '{chain.name}'")

    state = as_array(q, fail, "q", (chain.n,), lead=True)
    given = wrenches(chain, external, external_frame, fail)
    if external_frame == "link":
        lead = common_lead(
            fail, {"q": state.shape[:-1]} | {f"external of link '{k}'": w.shape[:-1] for k, w in given.items()}
        )
        state = np.broadcast_to(state, (*lead, chain.n))
        given = {link: np.broadcast_to(wrench, (*lead, 6)) for link, wrench in given.items()}
    loads = to_world(chain, state, given, external_frame)
    zero = np.zeros(chain.n)
    return chain.inverse_dynamics(state, zero, zero, external=loads or None, base_motion=base_motion)


class _Problem(NamedTuple):
    """residual(q) = holding_torque(q) - tau, its slope, and the sizes of what meets in it."""

    chain: Chain
    tau: Array
    loads: Mapping[str, Array]
    frame: Frame

    def residual(self, q: Array) -> Array:
        zero = np.zeros(self.chain.n)
        loads = to_world(self.chain, q, self.loads, self.frame)
        return self.chain.inverse_dynamics(q, zero, zero, external=loads or None) - self.tau

    def slope(self, q: Array) -> Array:
        zero = np.zeros(self.chain.n)
        loads = to_world(self.chain, q, self.loads, self.frame)
        K = self.chain.derivatives(q, zero, zero, external=loads or None).dtau_dq
        return K + turning_stiffness(self.chain, q, loads) if self.frame == "link" else K

    def size(self, q: Array) -> Array:
        size = acting(self.chain, q, self.tau, to_world(self.chain, q, self.loads, self.frame))
        least = 1e-4 * float(size.max()) or 1.0
        return np.maximum(size, least)


def equilibrium(
    chain: Chain,
    tau: ArrayLike = 0,
    guess: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    *,
    external_frame: Frame = "world",
    stable: bool | None = None,
    limits: bool = False,
) -> Equilibrium:
    """Find a state at rest in which given joint efforts hold a chain: inverse_dynamics(q, 0, 0) = tau.

    Newton's method with the exact stiffness K goes from a guess to an equilibrium near it, stable or not. Where it does
    not get on, and without a guess, the chain is let down to where it comes to rest.

    Parameters
    ----------
    chain : Chain
        `Chain.equilibrium` is this function.
    tau : (..., n) array, N m or N
        Default: no efforts.
    guess : (..., n) array, rad or m, optional
        Where to begin; default: zeros.
    external : dict, optional
        {link: (..., 6) wrench [force; moment]} at the origins of links, N and N m.
    external_frame : {"world", "link"}
        Axes that the wrenches are given in, and in which they stay constant.
    stable : bool, optional
        Look for a stable one, in which the chain comes to rest. Default: if there is no guess.
    limits : bool
        Refuse an equilibrium beyond the limits of a joint.

    Returns
    -------
    equilibrium : Equilibrium
        With ``.q``, ``.residual``, ``.stable``, ``.neutral``, ``.iterations``.

    Raises
    ------
    UnreachableError
        None was found, or not one inside the limits: the error names the joint with the largest residual.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> arm.equilibrium().q.round(6) + 0.0  # it hangs down
    array([1.570796, 0.      ])
    >>> upright = arm.equilibrium(guess=[-1.5, 0.1])
    >>> upright.q.round(6) + 0.0, upright.stable
    (array([-1.570796,  0.      ]), False)
    >>> try:
    ...     arm.equilibrium(tau=[30.0, 0.0])  # more than it weighs
    ... except zv.UnreachableError as error:
    ...     print(error.cause, error.joint)
    no equilibrium upper_joint
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"equilibrium: {text} for chain '{chain.name}'")

    n = chain.n
    arrays = {
        "tau": joint_values(tau, n, fail, "tau"),
        "guess": np.zeros(n) if guess is None else joint_values(guess, n, fail, "guess"),
    }
    loads = wrenches(chain, external, external_frame, fail)
    shapes = {name: array.shape[:-1] for name, array in arrays.items()}
    shapes |= {f"external of link '{link}'": wrench.shape[:-1] for link, wrench in loads.items()}
    lead = common_lead(fail, shapes)
    efforts, starts = (np.broadcast_to(array, (*lead, n)).reshape(-1, n) for array in arrays.values())
    rows = {link: np.broadcast_to(wrench, (*lead, 6)).reshape(-1, 6) for link, wrench in loads.items()}
    found = np.empty((len(efforts), n))
    left = np.empty_like(found)
    firm, (loose, steps) = np.zeros(len(efforts), bool), np.zeros((2, len(efforts)), np.int64)
    for k in range(len(efforts)):
        problem = _Problem(chain, efforts[k], {link: wrench[k] for link, wrench in rows.items()}, external_frame)
        q, steps[k], ok = _solved(problem, starts[k], guess is None if stable is None else bool(stable))
        left[k] = -problem.residual(q)
        if not ok:
            _refuse(problem, q, left[k], k if lead else None, int(steps[k]))
        values = _curvatures(problem, q)[0]
        found[k], firm[k], loose[k] = q, values[0] >= 0, np.count_nonzero(values == 0)
        if limits and not chain.within_limits(q):
            bad = int(np.flatnonzero(~chain.within_limits(q, per_joint=True))[0])
            name = chain.joint_names[bad]
            text = f"equilibrium: that of chain '{chain.name}' has joint {_show(name)} at {q[bad]:.6g}, limits are "
            raise UnreachableError(
                text + f"{chain.lower[bad]:g} to {chain.upper[bad]:g}", name, k if lead else None, cause="limits"
            )
    return Equilibrium(
        q=read_only(found.reshape(*lead, n)),
        tau=read_only(efforts.reshape(*lead, n)),
        residual=read_only(left.reshape(*lead, n)),
        stable=firm.reshape(lead) if lead else bool(firm[0]),
        neutral=loose.reshape(lead) if lead else int(loose[0]),
        iterations=steps.reshape(lead) if lead else int(steps[0]),
    )


def _refuse(problem: _Problem, q: Array, left: Array, row: int | None, steps: int) -> NoReturn:
    chain = problem.chain
    worst = int((np.abs(left) / problem.size(q)).argmax())
    where = "" if row is None else f", row {row},"
    text = f"equilibrium: none found for chain '{chain.name}'{where} in {steps} steps: at the last state tau exceeds"
    text += f" the holding torque by {by_joint(chain, left)}; another guess may help, if there is one at all"
    margin = float(abs(left[worst]))
    raise UnreachableError(text, chain.joint_names[worst], row, cause="no equilibrium", margin=margin)


def _solved(problem: _Problem, start: Array, stable: bool) -> tuple[Array, int, bool]:
    """The state, steps made, and whether it is an equilibrium."""
    count = 0
    if not stable:
        q, count, ok = _newton(problem, start)
        if ok:
            return q, count, True
    q, more = _let_down(problem, start)
    q, last, ok = _newton(problem, q)
    return q, count + more + last, ok


def _held(problem: _Problem, q: Array, f: Array) -> bool:
    return bool((np.abs(f) <= CLOSE * problem.size(q)).all())


def _newton(problem: _Problem, q: Array) -> tuple[Array, int, bool]:
    """Newton's method; steps are shortened until the residual falls."""
    f = problem.residual(q)
    for count in range(NEWTON):
        if _held(problem, q, f):
            return q, count, True
        scale = problem.size(q)
        # least squares: a direction without stiffness is left alone
        step = np.linalg.lstsq(problem.slope(q) / scale[:, None], -f / scale, rcond=FLAT)[0]
        step *= min(1.0, LONGEST / max(float(np.abs(step).max()), EPS))
        merit, part = float(np.linalg.norm(f / scale)), 1.0
        while part > 1e-4:
            new = q + part * step
            left = problem.residual(new)
            if np.linalg.norm(left / scale) < (1 - 1e-4 * part) * merit:
                break
            part /= 2
        else:
            return q, count, _held(problem, q, f)
        q, f = new, left
    return q, NEWTON, _held(problem, q, f)


def _curvatures(problem: _Problem, q: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and columns of the stiffness in units of the joints' own inertias."""
    K, chain = problem.slope(q), problem.chain
    inertia = np.diag(chain.mass_matrix(q))
    unit = 1 / np.sqrt(np.where(inertia > 0, inertia, 1.0))
    values, vectors = np.linalg.eigh((K + K.T) / 2 * np.outer(unit, unit))
    size = float((problem.size(q) * unit**2).max())
    values[np.abs(values) <= 64 * chain.n * EPS * size] = 0.0
    return values, vectors * unit[:, None]


def _let_down(problem: _Problem, q: Array) -> tuple[Array, int]:
    """Go where the efforts pull, by steps that Newton's method would make if every curvature were positive."""
    f = problem.residual(q)
    for count in range(DESCENT):
        values, vectors = _curvatures(problem, q)
        if values[0] >= 0 and float((np.abs(f) / problem.size(q)).max()) < 1e-3:
            return q, count
        pull, top = vectors.T @ f, float(np.abs(values).max()) or 1.0
        if count == 0:  # on a ridge nothing pulls: a push of a thousandth of a radian
            ridge = (values < 0) & (np.abs(pull) < 1e-3 * np.abs(values))
            pull = np.where(ridge, 1e-3 * values, pull)
        step = -(vectors @ (pull / np.maximum(np.abs(values), 1e-6 * top)))
        step *= min(1.0, LONGEST / max(float(np.abs(step).max()), EPS))
        slope, part = abs(float(f @ step)), 1.0
        new, left = q + step, problem.residual(q + step)
        while part > 1e-6 and float(left @ step) > 0.5 * slope:  # climbs already
            part /= 2
            new = q + part * step
            left = problem.residual(new)
        q, f = new, left
    return q, DESCENT
