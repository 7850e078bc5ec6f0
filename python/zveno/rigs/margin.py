"""Delay margins: one axis in closed form, many axes and loops with filters by their crossings. docs/rigs.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike

from .._check import SMALLEST, Array, Fail, as_amount, as_choice, as_integer, common_lead, failing
from .bounce import restitution_delay
from .compensation import (
    Compensation,
    Lead,
    Passivity,
    Predictor,
    VirtualDamper,
    as_compensations,
    as_matrix_of,
    refuse_other_size,
)
from .delayed import Delayed
from .given import amounts, lags_of, robots_of, square
from .ring import FaceContact, ring_matrices

if TYPE_CHECKING:
    from ..model import Body, Hexapod

__all__ = ["DelayMargin", "delay_margin", "loop_of", "matrices_of", "rightmost_root", "sampled_margin"]

INTEGRATORS: Final = ("exact", "semi-implicit", "explicit")
MOST_AXES: Final = 12  # the companion matrix has 4 n^2 rows
_BATCH: Final = 4096
_FREE: Final = 1e-12  # of the largest force: directions without any


@dataclass(frozen=True, eq=False)
class DelayMargin:
    """Delay at which a loop loses stability; made by `delay_margin`.

    Attributes
    ----------
    delay : float or array, s
        Stable below it. 0: unstable without any delay, or with every one; inf: stable for all.
    frequency : float or array, rad/s
        Of the oscillation at that delay; nan if there is none.
    restitution_delay : float or array, s, or None
        Delay at which one bounce returns all its energy, e = 1 of `restitution`: the smaller one, and the practical
        limit. Of one axis without filters and compensation, else None; nan beyond 10 times the critical damping.
    """

    delay: Any
    frequency: Any
    restitution_delay: Any = None

    def __str__(self) -> str:
        if np.ndim(self.delay):
            return repr(self)
        if math.isinf(self.delay):
            return "stable for every delay"
        if self.delay == 0:
            return "unstable without or with any delay"
        text = f"stable below {1e3 * self.delay:.4g} ms of delay, oscillates there with {self.frequency:.4g} rad/s"
        if self.restitution_delay is not None and not math.isnan(self.restitution_delay):
            text += f"; a bounce returns all its energy at {1e3 * self.restitution_delay:.4g} ms"
        return text


def loop_of(
    matrices: Sequence[Array],
    lags: Sequence[float] = (),
    robots: Sequence[tuple[float, float]] = (),
    compensations: Sequence[Compensation] = (),
) -> Delayed:
    """The loop with M, K1, D1, K0, D0 (n, n), filters of the delayed part and compensations."""
    M, K1, D1, K0, D0 = matrices
    n = len(M)
    below = np.array([1.0])  # denominators of the delayed part
    for lag in lags:
        below = np.convolve(below, [1.0, lag])
    for w, z in robots:
        below = np.convolve(below, [1.0, 2 * z / w, 1 / (w * w)])
    above, aside, believed = np.array([1.0]), np.array([1.0]), np.zeros((n, n))
    for item in compensations:
        if isinstance(item, Lead):
            above = np.array([1.0, item.filter + item.time])
            aside = np.array([1.0, item.filter] if item.filter else [1.0])
        elif isinstance(item, VirtualDamper):
            D0 = D0 + as_matrix_of(item.damping, n)
        elif isinstance(item, Predictor):
            believed = as_matrix_of(item.stiffness, n)
    M, (K1, D1, K0, D0, believed) = _without_free(M, (K1, D1, K0, D0, believed))
    n = len(M)
    software = _times(np.convolve(below, aside), [K0 + believed, D0, M])
    hardware, predicted = _times(above, [K1, D1]), _times(aside, [believed])
    b = [np.zeros((n, n)) for _ in software]
    for k, term in enumerate(hardware):
        b[k] = b[k] + term
    for k, term in enumerate(predicted):
        b[k] = b[k] - term
    return Delayed(np.stack(software), np.stack(b))


def _without_free(M: Array, forces: tuple[Array, ...]) -> tuple[Array, tuple[Array, ...]]:
    """The loop without motions on which no force depends, and which none moves but through their inertia."""
    sizes = [float(np.abs(X).max()) for X in forces]
    scaled = [X / size for X, size in zip(forces, sizes, strict=True) if size]
    if len(M) == 1 or not scaled:
        return M, forces
    _, values, V = np.linalg.svd(np.concatenate([*scaled, *(X.T for X in scaled)]))
    rank = int((values > _FREE * values[0]).sum())
    if rank == len(M):
        return M, forces
    held, free = V[:rank].T, V[rank:].T
    carried = np.linalg.solve(free.T @ M @ free, free.T @ M @ held)
    return held.T @ M @ held - held.T @ M @ free @ carried, tuple(held.T @ X @ held for X in forces)


def _times(scalar: Array, matrix: Sequence[Array]) -> list[Array]:
    """A polynomial times one of matrices."""
    product = [np.zeros_like(matrix[0]) for _ in range(len(scalar) + len(matrix) - 1)]
    for i, c in enumerate(scalar.tolist()):
        for j, X in enumerate(matrix):
            product[i + j] = product[i + j] + c * X
    return product


def matrices_of(
    fail: Fail, mass: object, stiffness: object, damping: object, K0: object, D0: object
) -> tuple[Array, Array, Array, Array, Array]:
    """M, K1, D1, K0, D0 of one leading shape; M is symmetric and positive definite."""
    M = square(mass, fail, "mass")
    n = M.shape[-1]
    if not 1 <= n <= MOST_AXES:
        fail(f"mass has {n} axes, expected 1 to {MOST_AXES}")
    given = {"stiffness": stiffness, "damping": damping, "K0": K0, "D0": D0}
    arrays = {"mass": M} | {name: square(value, fail, name, n) for name, value in given.items()}
    lead = common_lead(fail, {name: array.shape[:-2] for name, array in arrays.items()})
    if not np.allclose(M, np.swapaxes(M, -1, -2), rtol=0, atol=1e-9 * np.abs(M).max(initial=0.0)):
        fail("mass is not symmetric, expected a mass matrix")
    if M.size and not (np.linalg.eigvalsh(M) > 0).all():
        fail("mass is not positive definite, expected a mass matrix")
    M, K1, D1, K0_, D0_ = (np.broadcast_to(array, (*lead, n, n)) for array in arrays.values())
    return M, K1, D1, K0_, D0_


def delay_margin(
    mass: ArrayLike | None = None,
    stiffness: ArrayLike | None = None,
    damping: ArrayLike = 0.0,
    K0: ArrayLike = 0.0,
    D0: ArrayLike = 0.0,
    *,
    lag: ArrayLike | None = None,
    robot: ArrayLike | None = None,
    compensation: Compensation | Sequence[Compensation] | None = None,
    hexapod: Hexapod | None = None,
    pose: Any = None,
    laws: Any = None,
    contact: FaceContact | Any = None,
    kind: str = "interface",
    vehicles: tuple[Body, Body] | None = None,
) -> DelayMargin:
    """The delay at which the loop of a rig loses stability.

    ``M q'' + D0 q' + K0 q + D1 q'(t-h) + K1 q(t-h) = 0``: the part with a delay goes through the hardware, the other
    part is computed. One axis without filters is a closed form; everything else is found from its crossings
    of the imaginary axis, exactly, without a rational approximation of the delay.

    Parameters
    ----------
    mass : float, (...) or (..., n, n) array, kg
        One axis: reduced mass m_A m_B/(m_A + m_B), a number or a one-dimensional array. Many: matrices M.
    stiffness, damping : of the same kind, N/m and N s/m
        K1, D1 of what is behind the delay: the contact.
    K0, D0 : of the same kind
        What the software computes without delay.
    lag : float or several, s
        First-order filters 1/(T s + 1) in the delayed path, as that of the force sensor.
    robot : (frequency, damping ratio) or several, rad/s and 1
        Second-order elements of the delayed path.
    compensation : Lead, VirtualDamper or Predictor, or several of them
    hexapod : Hexapod
        Instead of matrices: those of a docking ring, linearised at `pose`.
    pose : pose of the ring; default: the nominal one
    laws : Law or six of them
        Of the drives; their slopes at rest in that pose.
    contact : FaceContact, or an object with `face_stiffness`, or K1 or (K1, D1) with (6, 6) arrays
        Of kind "interface": what the hardware touches with.
    kind : {"interface", "spacecraft"}
        "interface": rings touch, mechanism and vehicles are simulated; the base of the mechanism is taken as fixed.
        "spacecraft": the mechanism is hardware, two free vehicles are simulated.
    vehicles : pair of Body
        Of kind "spacecraft": A in base axes of the hexapod, B in the axes of its port (x towards the partner).

    Returns
    -------
    margin : DelayMargin

    Examples
    --------
    >>> import zveno as zv
    >>> print(zv.rigs.delay_margin(mass=100, stiffness=1e4, damping=100))
    stable below 9.967 ms of delay, oscillates there with 10.03 rad/s; a bounce returns all its energy at 9.651 ms
    >>> ring, law = zv.mechanisms.docking_ring("UPS"), zv.laws.SpringDamper(400.0, 80.0)
    >>> print(zv.rigs.delay_margin(hexapod=ring, laws=law, contact=zv.rigs.FaceContact(4e4)))
    stable below 1.896 ms of delay, oscillates there with 39.95 rad/s
    """
    fail = failing("delay_margin")
    lags, robots = lags_of(lag, fail), robots_of(robot, fail)
    compensations = as_compensations(compensation, fail)
    refuse_without_margin(compensations, fail)
    if hexapod is not None:
        if mass is not None or stiffness is not None:
            fail("hexapod and mass or stiffness are given, expected one of them")
        as_choice(kind, fail, "kind", ("interface", "spacecraft"))
        matrices = ring_matrices(fail, hexapod, pose, laws, contact, kind, vehicles)
        refuse_other_size(compensations, 6, fail)
        delay, frequency = loop_of(matrices, lags, robots, compensations).margin()
        return DelayMargin(float(delay), float(frequency))
    if hasattr(mass, "margin"):
        fail(f"mass is a {type(mass).__name__}, expected numbers; a rig has its own: rig.margin()")
    if mass is None or stiffness is None:
        fail("mass and stiffness are missing, expected them or a hexapod")
    if np.ndim(mass) < 2:
        return _one_axis(fail, mass, stiffness, damping, K0, D0, lags, robots, compensations)
    M, K1, D1, K0_, D0_ = matrices_of(fail, mass, stiffness, damping, K0, D0)
    lead = M.shape[:-2]
    if math.prod(lead) > _BATCH:
        fail(f"a batch of {math.prod(lead)} loops, expected at most {_BATCH}")
    refuse_other_size(compensations, M.shape[-1], fail)
    found = np.empty((*lead, 2))
    for i in np.ndindex(*lead):
        found[i] = loop_of((M[i], K1[i], D1[i], K0_[i], D0_[i]), lags, robots, compensations).margin()
    return DelayMargin(*((found[..., 0], found[..., 1]) if lead else (float(found[0]), float(found[1]))))


def refuse_without_margin(compensations: Sequence[Compensation], fail: Fail) -> None:
    for item in compensations:
        if isinstance(item, Passivity):
            fail("compensation is Passivity, which is not linear and has no margin; see rigs.simulate")
        if isinstance(item, Predictor) and item.delay is not None:
            fail("the delay of Predictor is given, but a margin believes the true one; see rigs.simulate")


def _one_axis(
    fail: Fail,
    mass: ArrayLike,
    stiffness: ArrayLike,
    damping: ArrayLike,
    K0: ArrayLike,
    D0: ArrayLike,
    lags: tuple[float, ...],
    robots: tuple[tuple[float, float], ...],
    compensations: tuple[Compensation, ...],
) -> DelayMargin:
    refuse_other_size(compensations, 1, fail)
    m, k, d, k0, d0 = amounts(fail, mass=mass, stiffness=stiffness, damping=damping, K0=K0, D0=D0)
    for name, value in (("mass", m), ("stiffness", k)):
        if not (value > 0).all():
            fail(f"{name} is {value.min():g}, expected numbers > 0")
    if not (lags or robots or compensations or k0.any() or d0.any()):
        delay, frequency = closed_form(m, k, d)
        bounce = np.array(
            [
                restitution_delay(*row)
                for row in zip(*(x.ravel().tolist() for x in (m, k, d, np.asarray(delay))), strict=True)
            ]
        ).reshape(m.shape)
        return DelayMargin(*((x if m.ndim else float(x)) for x in (delay, frequency, bounce)))
    found = np.empty((*m.shape, 2))
    for i in np.ndindex(*m.shape):
        one = [np.full((1, 1), x[i]) for x in (m, k, d, k0, d0)]
        found[i] = loop_of(one, lags, robots, compensations).margin()
    return DelayMargin(*((x if m.ndim else float(x)) for x in (found[..., 0], found[..., 1])))


def closed_form(m: Array, k: Array, d: Array) -> tuple[Array, Array]:
    """(R2): critical delay and its frequency, one axis."""
    b = d / m
    w0 = np.sqrt(k / m)
    w = np.sqrt(0.5 * (b * b + np.sqrt(b**4 + 4 * w0**4)))
    return np.asarray(np.arctan2(d * w, k) / w), np.asarray(w)


def sampled_margin(
    mass: ArrayLike, stiffness: ArrayLike, damping: ArrayLike, period: ArrayLike, integrator: str = "exact"
) -> Array | float:
    """Number N_c of whole periods of delay that a sampled loop bears: stable if and only if N < N_c.

    The force is held over a period. The hold costs half a period; semi-implicit integration gives it back, explicit
    integration loses another half: (R7).

    Parameters
    ----------
    mass, stiffness, damping : float or array, kg, N/m, N s/m
    period : float or array, s
    integrator : {"exact", "semi-implicit", "explicit"}
        Of the simulated body: x += v T + a T^2/2; v first, then x with the new v; x with the old v.

    Returns
    -------
    N_c : float, or array of the shape of all arguments broadcast
        0 where no delay at all is stable.

    Examples
    --------
    >>> import zveno as zv
    >>> round(zv.rigs.sampled_margin(100.0, 1e4, 100.0, 1e-3), 6)
    9.466783
    >>> round(zv.rigs.sampled_margin(100.0, 1e4, 100.0, 1e-3, "semi-implicit"), 6)
    9.961542
    """
    fail = failing("sampled_margin")
    m, k, d, T = amounts(fail, mass=mass, stiffness=stiffness, damping=damping, period=period)
    for name, value in (("mass", m), ("stiffness", k), ("period", T)):
        if not (value > 0).all():
            fail(f"{name} is {value.min():g}, expected numbers > 0")
    as_choice(integrator, fail, "integrator", INTEGRATORS)
    d = d + {"exact": 0.0, "semi-implicit": 0.5, "explicit": -0.5}[integrator] * k * T
    kappa, eta = k * T * T / m, d * T / m
    half = 4 * eta * eta - kappa * kappa
    S = (half + np.sqrt(half * half + 64 * kappa * kappa)) / 32
    inside = S < 1
    theta = 2 * np.arcsin(np.sqrt(np.where(inside, S, 0.5)))
    N = np.arctan2(2 * eta * np.sin(theta / 2), kappa * np.cos(theta / 2)) / theta - 0.5
    N = np.where(inside, np.maximum(N, 0.0), 0.0)
    return N if N.ndim else float(N)


def rightmost_root(
    mass: ArrayLike,
    stiffness: ArrayLike,
    damping: ArrayLike = 0.0,
    K0: ArrayLike = 0.0,
    D0: ArrayLike = 0.0,
    *,
    delay: float,
    lag: ArrayLike | None = None,
    robot: ArrayLike | None = None,
    points: int = 16,
) -> complex:
    """Root of the loop with the largest real part, by collocation of the delay: a second way to its stability.

    The generator of y' = A y + B y(t-h) on Chebyshev points of [-h, 0]; converges faster than any power of `points`.
    Motions that nothing holds are left out.

    Parameters
    ----------
    mass, stiffness, damping, K0, D0, lag, robot
        As in `delay_margin`, of one loop.
    delay : float, s
    points : int
        2 to 60.

    Returns
    -------
    s : complex, 1/s

    Examples
    --------
    >>> import zveno as zv
    >>> margin = zv.rigs.delay_margin(mass=100, stiffness=1e4, damping=100)
    >>> s = zv.rigs.rightmost_root(100, 1e4, 100, delay=margin.delay)
    >>> abs(s.real) < 1e-9, round(abs(s.imag) / margin.frequency, 9)
    (True, 1.0)
    """
    fail = failing("rightmost_root")
    count = as_integer("rightmost_root", "points", points, 2, 60)
    h = as_amount(delay, fail, "delay")
    h = h if h > SMALLEST else 0.0
    if np.ndim(mass) < 2:
        mass, stiffness, damping, K0, D0 = (
            np.full((1, 1), as_amount(x, fail, name))
            for name, x in (("mass", mass), ("stiffness", stiffness), ("damping", damping), ("K0", K0), ("D0", D0))
        )
    matrices = matrices_of(fail, mass, stiffness, damping, K0, D0)
    if matrices[0].ndim > 2:
        fail(f"mass has shape {matrices[0].shape}, expected one matrix")
    return loop_of(matrices, lags_of(lag, fail), robots_of(robot, fail)).rightmost(h, count)
