"""Static deflection of flexible arms and the load that buckles them, docs/flexible.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import Array, _show, as_amount, as_array, as_direction, common_lead, did_you_mean
from ..errors import SingularityError
from ..model.chain import Chain

__all__ = ["Deflection", "buckling_load", "deflection"]

MOST_ITERATIONS: Final = 25  # of Newton's method for one part of the load
FARTHEST: Final = 2.0  # rad, sum over the joints, of one of its steps
SMALLEST_STEP: Final = 1e-4  # of the load
External = Mapping[str, ArrayLike]
Frame = Literal["world", "link"]


@dataclass(frozen=True, eq=False, repr=False)
class Deflection:
    """Where a flexible arm comes to rest. Made by `deflection`.

    Attributes
    ----------
    q : (..., n) array, rad or m
        Joint coordinates in equilibrium.
    tau : (..., n) array, N m or N
        Efforts that hold the joints without a spring; zero to rounding in those that deflect.
    residual : (...) array, N m or N
        Largest effort that is left in a joint that deflects.
    iterations : (...) array of int
        Steps of Newton's method, over all parts of the load.
    """

    q: Array
    tau: Array
    residual: Array
    iterations: NDArray[np.int64]

    def __repr__(self) -> str:
        lead = self.q.shape[:-1]
        many = f" of {lead} loads" if lead else ""
        return f"Deflection{many}: {self.q.shape[-1]} joints, residual {float(np.max(self.residual, initial=0.0)):.1e}"


class _Statics:
    """Equilibria of one chain: which joints deflect, and their residual and stiffness at a part of the load."""

    def __init__(self, who: str, arm: Chain, held: Sequence[str] | None, frame: Frame) -> None:
        if not isinstance(arm, Chain):
            raise TypeError(f"{who}: arm is {_show(arm)}, expected a zv.Chain")
        self.who, self.arm, self.rest, self.frame = who, arm, np.zeros(arm.n), frame
        if frame not in ("world", "link"):
            self.fail(f"external_frame is {_show(frame)}, expected 'world' or 'link'")
        self.springs = np.array([link.rest for link in arm.links if link.joint != "fixed"])
        stiffness = np.array([link.stiffness for link in arm.links if link.joint != "fixed"])
        self.free = stiffness > 0
        if held is not None:
            if isinstance(held, str) or not isinstance(held, Sequence):
                self.fail(f"held is {_show(held)}, expected a list of joints")
            names = arm.joint_names
            for joint in held:
                if joint not in names:
                    self.fail(f"held names the joint {_show(joint)}, unknown{did_you_mean(joint, names)}")
                self.free[names.index(joint)] = False
        if not self.free.any():
            self.fail("no joint that deflects: none with a stiffness is left free")
        self.root = stiffness[self.free] ** -0.5

    def fail(self, text: str) -> NoReturn:
        raise ValueError(f"{self.who}: {text} for chain '{self.arm.name}'")

    def loads(self, part: float, external: External | None, motion: Array | None) -> dict[str, object]:
        """Gravity, wrenches and motion of the base times `part`; the base accelerates so that gravity is."""
        base = np.zeros(9) if motion is None else motion * part
        base[3:6] = 0.0 if motion is None else motion[3:6] * math.sqrt(part)  # centrifugal loads are quadratic
        base[:3] += (1 - part) * self.arm.gravity
        scaled = None if external is None else {link: part * np.asarray(w) for link, w in external.items()}
        moving = motion is not None or part != 1
        return {"external": scaled, "external_frame": self.frame, "base_motion": base if moving else None}

    def efforts(self, q: Array, loads: Mapping[str, object]) -> Array:
        return self.arm.inverse_dynamics(q, self.rest, self.rest, **loads)  # type: ignore[arg-type]

    def stiffness(self, q: Array, loads: Mapping[str, Any]) -> Array:
        """d tau/dq of the joints that deflect, scaled to ones on the diagonal where nothing is loaded."""
        result = self.arm.derivatives(q, self.rest, self.rest, outputs=("dtau_dq",), **loads)
        K = result.dtau_dq[np.ix_(self.free, self.free)]
        return np.asarray(self.root[:, None] * K * self.root)

    def is_stable(self, K: Array) -> bool:
        """Whether K gives way nowhere. Under followers it is not symmetric, and complex eigenvalues pass no zero."""
        values = np.linalg.eigvals(K)
        return bool(((_real(values) if self.frame == "link" else values.real) > 0).all())

    def newton(self, q: Array, loads: Mapping[str, object]) -> tuple[Array | None, int]:
        """A stable equilibrium near q, or None, and the iterations."""
        q = q.copy()
        last = math.inf
        for iteration in range(1, MOST_ITERATIONS + 1):
            K = self.stiffness(q, loads)
            try:
                step = -self.root * np.linalg.solve(K, self.root * self.efforts(q, loads)[self.free])
            except np.linalg.LinAlgError:
                return None, iteration
            q[self.free] += step
            size = float(np.abs(step).max())
            # a long step may lead to an equilibrium that no growing load reaches
            if not size < 10 * last or not np.abs(step).sum() < FARTHEST:
                return None, iteration
            if size <= 1e-13 * max(1.0, float(np.abs(q).max())) or (size < 1e-9 and size >= 0.5 * last):
                return (q, iteration) if self.is_stable(self.stiffness(q, loads)) else (None, iteration)
            last = size
        return None, MOST_ITERATIONS

    def solve(self, q: Array, external: External | None, motion: Array | None) -> tuple[Array, int]:
        """From q with the whole load at once; failing that, from the springs' rest with growing parts of it."""
        found, total = self.newton(q, self.loads(1.0, external, motion))
        if found is not None:
            return found, total
        here = q.copy()
        here[self.free] = self.springs[self.free]
        part, step = 0.0, 0.25
        while part < 1:
            step = min(step, 1 - part)
            found, count = self.newton(here, self.loads(part + step, external, motion))
            total += count
            if found is not None:
                part, here, step = part + step, found, 1.5 * step
            elif step > SMALLEST_STEP:
                step /= 2
            else:
                raise SingularityError(
                    f"{self.who}: no stable equilibrium beyond {part:.4g} of the load: '{self.arm.name}' buckles",
                    cause="stiffness under load",
                    margin=part,
                )
        return here, total


def _real(values: NDArray[Any]) -> Array:
    """Those eigenvalues that are real; rounding splits double ones by the root of the precision."""
    return np.asarray(values.real[np.abs(values.imag) <= 1e-6 * np.abs(values).max(initial=0.0)])


def _state(work: _Statics, q: ArrayLike | None) -> Array:
    if q is None:
        return np.where(work.free, work.springs, 0.0)
    return as_array(q, work.fail, "q", (work.arm.n,), lead=True)


def _rows(
    work: _Statics, q: Array, external: External | None, motion: Array | None
) -> tuple[tuple[int, ...], Array, dict[str, Array] | None, Array | None]:
    """The leading shape, and every argument broadcast to it."""
    wrenches = None
    shapes = {"q": q.shape[:-1]} | ({} if motion is None else {"base_motion": motion.shape[:-1]})
    if external is not None:
        if not isinstance(external, Mapping):
            work.fail(f"external is {_show(external)}, expected a dictionary {{link: wrench}}")
        for link in external:
            if link not in work.arm.link_names:
                hint = did_you_mean(link, work.arm.link_names)
                work.fail(f"external names link {_show(link)}, which there is not{hint}")
        wrenches = {k: as_array(w, work.fail, f"external[{_show(k)}]", (6,), lead=True) for k, w in external.items()}
        shapes |= {f"external[{_show(link)}]": w.shape[:-1] for link, w in wrenches.items()}
    lead = common_lead(work.fail, shapes)
    spread = None if wrenches is None else {k: np.broadcast_to(w, (*lead, 6)) for k, w in wrenches.items()}
    moved = None if motion is None else np.broadcast_to(motion, (*lead, 9))
    return lead, np.broadcast_to(q, (*lead, work.arm.n)), spread, moved


def deflection(
    arm: Chain,
    external: External | None = None,
    *,
    q: ArrayLike | None = None,
    base_motion: ArrayLike | None = None,
    held: Sequence[str] | None = None,
    external_frame: Frame = "world",
) -> Deflection:
    """Static equilibrium of a flexible arm under gravity, wrenches and steady motion of its base.

    Joints without stiffness are held where `q` has them; in the others tau(q) = 0, with large rotations: Newton's
    method with the exact stiffness d tau/dq, if need be with growing parts of the load.

    Parameters
    ----------
    arm : Chain
    external : dict, optional
        {link name: (..., 6) wrench [force; moment]} at the origins of links, N and N m, in the axes of
        `external_frame`.
    q : (..., n) array, rad or m, optional
        Coordinates of the joints that are held, and a first guess for the others. Default: springs at rest, others 0.
    base_motion : (..., 9) array, m/s^2, rad/s, rad/s^2, optional
        As in `Chain.inverse_dynamics`: a spin deflects too.
    held : sequence of str, optional
        Joints that are held though they have a spring.
    external_frame : {"world", "link"}
        Axes in which the wrenches keep their components: "link" for followers, as the thrust of a jet.

    Returns
    -------
    result : Deflection
        ``q``, ``tau`` (what holds the held joints), ``residual``, ``iterations``.

    Raises
    ------
    SingularityError
        No stable equilibrium is reached with the whole load: the arm buckles. ``margin`` is the part that it carries.

    Notes
    -----
    Stable means that no joint coordinates near by are in equilibrium too as the load grows. Under followers an arm may
    also flutter, whatever its stiffness: ``arm.linearise(result.q, external=..., external_frame="link").modes()``.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> tube = zv.flexible.Tube(0.05, 0.002)
    >>> boom = zv.flexible.beam("boom", 6.0, section=tube, material=zv.flexible.aluminium, torsion=False)
    >>> arm = zv.Chain(boom, gravity=(0, 0, 0))
    >>> bent = zv.flexible.deflection(arm, {boom.tip: [0, 0, -20.0, 0, 0, 0]})
    >>> print(f"{-arm.pose(bent.q, boom.tip)[2, 3]:.5f} m")
    0.02815 m
    >>> print(f"{20.0 * 6.0**3 / (3 * zv.flexible.aluminium.young * tube.Iy):.5f} m")  # F L^3 / (3 E I)
    0.02826 m
    """
    work = _Statics("flexible.deflection", arm, held, external_frame)
    motion = None if base_motion is None else as_array(base_motion, work.fail, "base_motion", (9,), lead=True)
    lead, starts, wrenches, motions = _rows(work, _state(work, q), external, motion)
    found = np.empty((*lead, arm.n))
    tau, residual, iterations = np.empty_like(found), np.empty(lead), np.empty(lead, dtype=np.int64)
    for row in np.ndindex(lead):
        loads = None if wrenches is None else {link: w[row] for link, w in wrenches.items()}
        moved = None if motions is None else motions[row]
        found[row], iterations[row] = work.solve(starts[row], loads, moved)
        tau[row] = work.efforts(found[row], work.loads(1.0, loads, moved))
        residual[row] = np.abs(tau[row][work.free]).max()
    return Deflection(found, tau, residual, iterations)


def buckling_load(
    arm: Chain,
    tip: str,
    direction: ArrayLike = (-1.0, 0.0, 0.0),
    *,
    q: ArrayLike | None = None,
    external: External | None = None,
    held: Sequence[str] | None = None,
    tolerance: float = 1e-7,
    external_frame: Frame = "world",
) -> float | Array:
    """Smallest force P at the origin of a link under which the loaded equilibrium loses stability.

    K(P) = d tau/dq at the equilibrium under P becomes singular. A straight column does not move before it buckles, and
    one eigenvalue problem K0 x = P Kg x gives the load; otherwise the equilibrium is followed as P grows.

    Parameters
    ----------
    arm : Chain
        Joints without stiffness are held.
    tip : str
        Link that is pressed, as ``beam.tip``.
    direction : (3,) array
        Of the force, in the axes of `external_frame`; any length but zero.
    q : (..., n) array, rad or m, optional
        Coordinates of the joints that are held, and a first guess for the others.
    external : dict, optional
        Loads that are there already, as in `deflection`; gravity is one.
    held : sequence of str, optional
        Joints that are held though they have a spring.
    tolerance : float
        Relative, of loads that bend the arm before it buckles.
    external_frame : {"world", "link"}
        Axes in which P and `external` keep their components: "link" for followers.

    Returns
    -------
    P : float or (...) array, N
        Infinite where no force in this direction makes the arm unstable.

    Notes
    -----
    Forces that follow the link may make the arm flutter before, and where P is infinite too (Beck's column): no
    singular K shows that, but `Chain.linearise` with ``external_frame="link"`` and its modes do.

    Examples
    --------
    >>> import math, zveno as zv
    >>> tube = zv.flexible.Tube(0.02, 0.002)
    >>> column = zv.flexible.beam("column", 2.0, section=tube, material=zv.flexible.steel, elements=16)
    >>> P = zv.flexible.buckling_load(zv.Chain(column, gravity=(0, 0, 0)), column.tip)
    >>> round(P), round(math.pi**2 * zv.flexible.steel.young * tube.Iy / (2 * 2.0) ** 2)  # N; Euler's
    (5594, 5598)
    """
    work = _Statics("flexible.buckling_load", arm, held, external_frame)
    if not isinstance(tip, str) or tip not in arm.link_names:
        work.fail(f"tip is {_show(tip)}, expected a link{did_you_mean(tip, arm.link_names)}")
    tolerance = as_amount(tolerance, work.fail, "tolerance", positive=True)
    push = np.r_[as_direction(direction, work.fail, "direction"), np.zeros(3)]
    lead, starts, wrenches, _ = _rows(work, _state(work, q), external, None)
    loads = np.empty(lead)
    for row in np.ndindex(lead):
        others = {} if wrenches is None else {link: w[row] for link, w in wrenches.items()}
        loads[row] = _critical(work, starts[row], others, tip, push, tolerance)
    return loads if lead else float(loads)


def _critical(
    work: _Statics, start: Array, wrenches: Mapping[str, Array], tip: str, push: Array, tolerance: float
) -> float:
    """The load of `buckling_load` for one state."""

    def loaded(P: float) -> dict[str, Array]:
        return dict(wrenches) | {tip: wrenches.get(tip, np.zeros(6)) + P * push}

    def further(state: Array, P: float) -> float:
        """What P can still grow by before K(state, P) = K0 + P Kg is singular; forces are linear in P."""
        K = work.stiffness(state, work.loads(1.0, loaded(P), None))

        def change(by: float) -> Array:
            return work.stiffness(state, work.loads(1.0, loaded(P + by), None)) - K

        size = float(np.abs(change(1.0)).max())
        if size == 0:
            return math.inf
        unit = change(1 / size)  # of the size of K: no digits are lost in the difference
        if work.frame == "link":
            slopes = _real(np.linalg.eigvals(np.linalg.solve(K, unit)))
            lowest = float(slopes.min(initial=0.0))
            return 1 / (-lowest * size) if lowest < -1e-9 * max(1.0, float(np.abs(slopes).max())) else math.inf
        symmetric = np.linalg.cholesky((K + K.T) / 2)
        half = np.linalg.solve(symmetric, (unit + unit.T) / 2)
        values = np.linalg.eigvalsh(np.linalg.solve(symmetric, half.T))
        return 1 / (-float(values[0]) * size) if values[0] < -1e-9 * max(1.0, float(values[-1])) else math.inf

    load, (state, _) = 0.0, work.solve(start, wrenches, None)
    share = 0.9  # of what is left
    for _ in range(500):
        left = further(state, load)
        if left <= tolerance * (load + left):
            return load + left
        if math.isinf(left):
            return math.inf
        found, _ = work.newton(state, work.loads(1.0, loaded(load + share * left), None))
        if found is None:  # the path ends before: a limit point
            share /= 2
            if share * left < tolerance * (load + left):
                return load + share * left
        elif load == 0 and np.abs(found - state).max() < 1e-12:
            return left
        else:
            load, state = load + share * left, found
    work.fail(f"not found within 500 steps, the last at {load:g} N")
