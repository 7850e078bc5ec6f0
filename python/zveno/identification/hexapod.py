"""Regressors and base parameters of hexapods: what drive forces and the wrench on the base tell of ring and legs.

A leg is a chain whose joint coordinates follow the ring, p' = H u. Its efforts are Y theta with the regressor Y of the
chain, and H' Y theta is what the ring has to give for them; the ring itself adds its own six equations. With the
wrench on the ring and the Jacobian J of the actuated joints, J' forces + wrench = W theta.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, _show, as_amount, as_array, as_choice, as_integer, as_list, called, common_lead, frozen
from .._rotation import as_rotation
from ..inertial import SYMBOLS, UNITS
from .base_parameters import Column, Gap, _Doubles, _sentence

if TYPE_CHECKING:
    from ..model import Chain, Hexapod, Leg

__all__ = ["HexapodBaseParameters", "equations", "found", "regressor"]

# joints by the names of the coordinates of a leg
_JOINTS: Final = {"crank": "Ry", "u1": "Ry", "u2": "Rz", "spin": "Rx", "stroke": "Px"}
_AXES: Final = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_MEASURED: Final = ("forces", "base_wrench")
_PRIORITY: Final = (4, 5, 6, 7, 8, 9, 1, 2, 3, 0)


class _Part(NamedTuple):
    """A leg as a chain: its joints are those of the leg; which of its links have parameters, and their names."""

    chain: Chain
    links: tuple[int, ...]
    names: tuple[str, ...]


def _leg_chain(leg: Leg, gravity: Array) -> _Part:
    from ..model import Chain, Link

    if leg.chain is not None:
        chain = leg.chain.with_gravity(gravity)
        return _Part(chain, tuple(range(len(chain.links))), tuple(f"{leg.name}.{name}" for name in chain.link_names))
    traits = leg.traits
    joints = [_JOINTS[coordinate] for coordinate in traits.coordinates]
    # joints that carry housing and rod, or crank and coupler: a spherical joint on the base turns the housing too
    inner, outer = 0 if traits.hunt else 1 + traits.name.startswith("S"), len(joints) - 1
    links = []
    for k, joint in enumerate(joints):
        place: dict[str, Any] = {}
        if k == 0:
            place = {"position": leg.base, "rotation": leg.base_frame}
        elif k == inner + 1:
            place = {"position": (leg.inner_length, 0.0, 0.0)}
            if traits.hunt:
                place["rotation"] = leg.crank_frame
        body = {inner: leg.inner, outer: leg.outer}.get(k)
        data: dict[str, Any] = {} if body is None else {"mass": body.mass, "com": body.com, "inertia": body.inertia}
        kind = "revolute" if joint[0] == "R" else "prismatic"
        links.append(Link(f"l{k}", joint=kind, axis=_AXES[joint[1]], **place, **data))
    resolved = [link._child_of(links[k - 1].name if k else "base") for k, link in enumerate(links)]
    chain = Chain._made(name=str(leg.name), base="base", gravity=gravity, links=resolved)
    return _Part(chain, (inner, outer), (f"{leg.name}.inner", f"{leg.name}.outer"))


class _Parts:
    """Columns of a hexapod: the ring, the bodies of the legs, the inertias of the drives."""

    def __init__(self, hexapod: Hexapod) -> None:
        self.legs = [_leg_chain(leg, hexapod.gravity) for leg in hexapod.legs]
        bodies = ["ring", *(name for part in self.legs for name in part.names)]
        self.columns = tuple(
            Column(f"{symbol}[{body}]", f"{symbol}", body, unit)
            for body in bodies
            for symbol, unit in zip(SYMBOLS["tensor"], UNITS["tensor"], strict=True)
        ) + tuple(
            Column(f"Ia[{leg.name}]", "Ia", str(leg.name), "kg" if leg.unit == "m" else "kg m^2")
            for leg in hexapod.legs
        )
        self.width = 10 * len(bodies)
        ring = hexapod.platform
        theta = [ring.mass, 0, 0, 0, *np.asarray(ring.inertia)[np.triu_indices(3)]]
        parts = [part.chain.inertial_parameters[list(part.links)].ravel() for part in self.legs]
        drives = [_reflected(leg) for leg in hexapod.legs]
        self.values = frozen(np.concatenate([theta, *parts, drives]).astype(float))
        self.friction = frozen(np.array([_own(leg, "friction")[leg.actuated_index] for leg in hexapod.legs]))
        self.joints = {word: _passive(hexapod, word) for word in ("stiffness", "friction", "rotor_inertia")}
        self.rest = _passive(hexapod, "rest")
        self.rough = any(bool(values.any()) for values in self.joints.values())

    @classmethod
    def of(cls, hexapod: Hexapod) -> _Parts:
        found: _Parts | None = hexapod.__dict__.get("_known_parts")
        if found is None:
            found = hexapod.__dict__["_known_parts"] = cls(hexapod)
        return found


def _reflected(leg: Leg) -> float:
    if leg.chain is None:
        return float(leg.reflected)
    return float(leg.chain.rotor_inertia[list(leg.chain.joint_names).index(str(leg.actuated))])


def _own(leg: Leg, word: str) -> Array:
    """What the chain of a custom leg has in its joints, (n,)."""
    return np.zeros(leg.joint_count) if leg.chain is None else np.asarray(getattr(leg.chain, word), dtype=np.float64)


def _passive(hexapod: Hexapod, word: str) -> Array:
    """The same of all legs, (6, nj), without friction and inertia of the drives."""
    rows = np.zeros((6, max(leg.joint_count for leg in hexapod.legs)))
    for row, leg in zip(rows, hexapod.legs, strict=True):
        row[: leg.joint_count] = _own(leg, word)
        if word in ("friction", "rotor_inertia"):
            row[leg.actuated_index] = 0.0
    return frozen(rows)


def _ring(hexapod: Hexapod, R: Array, u: Array, acceleration: Array) -> tuple[Array, Array]:
    """Force of the ring in base axes and moment about its point of reference in ring axes by its ten parameters."""
    a = np.einsum("...ji,...j->...i", R, acceleration[..., :3] - hexapod.gravity)
    w, alpha = u[..., 3:], acceleration[..., 3:]
    K = _skew(alpha) + _skew(w) @ _skew(w)
    f = np.zeros((*a.shape, 10))
    n = np.zeros((*a.shape, 10))
    f[..., 0] = a
    f[..., 1:4] = K
    n[..., 1:4] = -_skew(a)
    n[..., 4:] = _inertial(alpha) + _skew(w) @ _inertial(w)
    return R @ f, n


def _skew(a: Array) -> Array:
    out = np.zeros((*a.shape, 3))
    out[..., 2, 1], out[..., 1, 2] = a[..., 0], -a[..., 0]
    out[..., 0, 2], out[..., 2, 0] = a[..., 1], -a[..., 1]
    out[..., 1, 0], out[..., 0, 1] = a[..., 2], -a[..., 2]
    return out


def _inertial(w: Array) -> Array:
    """(3, 6): times Ixx .. Izz it is I w."""
    out = np.zeros((*w.shape, 6))
    x, y, z = w[..., 0], w[..., 1], w[..., 2]
    out[..., 0, 0], out[..., 0, 1], out[..., 0, 2] = x, y, z
    out[..., 1, 1], out[..., 1, 3], out[..., 1, 4] = x, y, z
    out[..., 2, 2], out[..., 2, 4], out[..., 2, 5] = x, y, z
    return out


class Equations(NamedTuple):
    """Regressors (..., 6, k) of the forces of drives and of the wrench on the base; motions (..., 6) of the drives.

    `known` are forces (..., 6) for what custom legs have in their joints besides: springs, and friction and rotors of
    joints that are not driven. The wrench on the base is the same with and without them.
    """

    forces: Array
    base_wrench: Array
    drives: tuple[Array, Array, Array]
    known: Array | float


def equations(hexapod: Hexapod, r: Any, R: Any, u: Any, acceleration: Any) -> Equations:
    """What is linear in the parameters, at poses, velocities and accelerations of the ring."""
    parts = _Parts.of(hexapod)
    H = np.stack([hexapod.joint_velocity(r, R, e) for e in np.identity(6)], axis=-1)  # (..., 6, nj, 6)
    rest = np.zeros(6)
    free = hexapod.forward_dynamics(r, R, u, rest, rest)
    p, pd = free.joint_position, free.joint_velocity
    lead = p.shape[:-2]
    r, R = np.broadcast_to(r, (*lead, 3)), np.broadcast_to(R, (*lead, 3, 3))
    u, acceleration = (np.broadcast_to(x, (*lead, 6)) for x in (u, acceleration))
    pdd = free.joint_acceleration + np.einsum("...lji,...i->...lj", H, acceleration - free.acceleration)
    W = np.zeros((*lead, 6, len(parts.columns)))
    B = np.zeros_like(W)
    force, moment = _ring(hexapod, R, u, acceleration)
    W[..., :3, :10], W[..., 3:, :10] = force, moment
    B[..., :3, :10] = -force
    B[..., 3:, :10] = -(R @ moment + _skew(r) @ force)
    at = 10
    for k, part in enumerate(parts.legs):
        n = part.chain.n
        state = tuple(np.ascontiguousarray(x[..., k, :n]) for x in (p, pd, pdd))
        chosen = [10 * link + c for link in part.links for c in range(10)]
        Y = part.chain.regressor(*state)[..., chosen]
        end = at + len(chosen)
        W[..., at:end] = np.swapaxes(H[..., k, :n, :], -1, -2) @ Y
        B[..., at:end] = part.chain.base_wrench_regressor(*state)[..., chosen]
        at = end
    J = np.swapaxes(hexapod.jacobian(r, R), -1, -2)
    forces: Any = np.linalg.solve(J, W)
    known: Any = 0.0
    if parts.rough:
        spring, brake, rotor = parts.joints.values()
        efforts = spring * (p - parts.rest) + brake * pd + rotor * pdd
        known = np.linalg.solve(J, np.einsum("...lji,...lj->...i", H, efforts)[..., None])[..., 0]
    legs, index = np.arange(6), np.asarray(hexapod.actuated)
    drives = p[..., legs, index], pd[..., legs, index], pdd[..., legs, index]
    for k in range(6):
        forces[..., k, parts.width + k] = drives[2][..., k]
    return Equations(forces, B, drives, known)


def regressor(self: Hexapod, r: ArrayLike, R: Any, u: ArrayLike, acceleration: ArrayLike, measured: str) -> Array:
    """See `Hexapod.regressor`."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"regressor: {text} for model '{self.name}'")

    as_choice(measured, fail, "measured", _MEASURED)
    numbers = as_array(r, fail, "r", (3,), lead=True), as_array(u, fail, "u", (6,), lead=True)
    wanted = as_array(acceleration, fail, "acceleration", (6,), lead=True)
    turn = as_rotation(R, fail, "R", lead=True)
    common_lead(fail, {"r": numbers[0].shape[:-1], "R": turn.shape[:-2], "u": numbers[1].shape[:-1]})
    with called("regressor", "joint_velocity"):
        return equations(self, numbers[0], turn, numbers[1], wanted)[:2][_MEASURED.index(measured)]


class HexapodBaseParameters:
    """Base parameters of ring and legs: the combinations ``Y p`` that measurements depend on.

    Attributes
    ----------
    hexapod : Hexapod
    columns : tuple of Column
        Of each element of p.
    pivots : (count,) array of int
    Y : (count, len(columns)) array
    gap : Gap
    tolerance : float
    """

    def __init__(
        self, hexapod: Hexapod, measured: tuple[str, ...], pivots: Any, Y: Array, gap: Gap, tolerance: float
    ) -> None:
        self.hexapod, self.measured, self.gap, self.tolerance = hexapod, measured, gap, tolerance
        self.columns = _Parts.of(hexapod).columns
        self.pivots, self.Y = pivots, frozen(Y)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.pivots)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the pivots."""
        return tuple(self.columns[i].name for i in self.pivots.tolist())

    @property
    def standard(self) -> Array:
        """The parameters p of the model itself, (len(columns),)."""
        return _Parts.of(self.hexapod).values

    @property
    def values(self) -> Array:
        """Base parameters of the model itself, (count,)."""
        return np.asarray(self.Y @ self.standard)

    def regressor(self, r: ArrayLike, R: Any, u: ArrayLike, acceleration: ArrayLike) -> Array:
        """Regressor of the base parameters, (..., 6 or 12, count): forces of the drives, wrench on the base.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> ring = zv.mechanisms.docking_ring("UPS")
        >>> bp, (u, acceleration) = ring.base_parameters(), np.full((2, 6), 0.1)
        >>> forces = bp.regressor(*ring.nominal, u, acceleration) @ (bp.Y @ bp.standard)
        >>> bool(np.allclose(forces, ring.inverse_dynamics(*ring.nominal, u, acceleration)))
        True
        """
        rows = [self.hexapod.regressor(r, R, u, acceleration, measured=word) for word in self.measured]
        return np.concatenate(rows, axis=-2)[..., self.pivots]

    def combinations(self, digits: int = 4) -> tuple[str, ...]:
        """Each base parameter in words.

        Examples
        --------
        >>> import zveno as zv
        >>> bp = zv.mechanisms.docking_ring("UPS").base_parameters()
        >>> len(bp.combinations()) == bp.count
        True
        """
        rows = []
        for pivot, row in zip(self.pivots.tolist(), self.Y, strict=True):
            rest = [i for i in np.flatnonzero(row).tolist() if i != pivot]
            rows.append(_sentence([(i, float(row[i])) for i in (pivot, *rest)], self.columns, digits))
        return tuple(rows)

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in zip(self.names, self.combinations(), strict=True))

    def __repr__(self) -> str:
        what = " and ".join(self.measured)
        return f"HexapodBaseParameters of '{self.hexapod.name}' from {what}: {self.count} of {len(self.columns)}"


def found(
    self: Hexapod, measured: str | Iterable[str], tolerance: float, samples: int, seed: int
) -> HexapodBaseParameters:
    """See `Hexapod.base_parameters`."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"base_parameters: {text} for model '{self.name}'")

    words = [measured] if isinstance(measured, str) else as_list(measured)
    if not words or any(word not in _MEASURED for word in words):
        fail(f"measured is {_show(measured)}, expected 'forces', 'base_wrench' or both")
    tolerance = as_amount(tolerance, fail, "tolerance", positive=True)
    count = as_integer("base_parameters", "samples", samples, 1, 100_000)
    chosen = tuple(word for word in _MEASURED if word in words)
    from ..codegen.function import _random_poses

    columns = len(_Parts.of(self).columns)
    rng = np.random.default_rng(as_integer("base_parameters", "seed", seed, 0, 2**63))
    count = max(count, columns // 4)
    r, R = _random_poses(self, rng, count)
    u, acceleration = rng.uniform(-1.0, 1.0, (2, count, 6))
    both = dict(zip(_MEASURED, equations(self, r, R, u, acceleration)[:2], strict=True))
    W = np.concatenate([both[word] for word in chosen], axis=-2).reshape(-1, columns)
    sizes = np.sqrt((W * W).sum(axis=0))
    none = sizes <= 1e-12 * sizes.max(initial=0.0)  # no effect
    sizes = np.where(none, 1.0, sizes)
    W = np.where(none, 0.0, W)
    numbers = _Doubles(tolerance, f"base_parameters of '{self.name}'")
    factor: Any = np.linalg.qr(W / sizes, mode="r")
    rows = numbers.span(factor, "the regressor")
    width = _Parts.of(self).width
    order = [first + c for first in range(0, width, 10) for c in _PRIORITY]
    order += range(width, columns)
    pivots = [order[c] for c in numbers.pivots(rows[:, order], len(rows))]
    Y: Any = np.linalg.solve(rows[:, pivots], rows)
    listed = np.array(pivots, dtype=np.intp)
    by_column = np.argsort(listed)
    listed, Y = listed[by_column], Y[by_column]
    Y[np.abs(Y) < 1e-9] = 0.0
    Y[:, listed] = np.identity(len(listed))
    Y = Y * sizes / sizes[listed][:, None]
    return HexapodBaseParameters(self, chosen, listed, Y, Gap(numbers.kept, numbers.dropped), tolerance)
