"""Identification of hexapods: logs of the ring's motion, forces of the drives, the wrench on the base.

Coordinates of the ring are its place and a rotation vector x from the mean attitude, R = R0 exp(~x); they are filtered
and differentiated as those of joints are. With J(x) the body Jacobian of the exponential, w = J x', w' = J x'' + J' x'.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, _show, as_array, as_list, common_lead, did_you_mean, failing
from .._rotation import as_matrix, from_quaternion, from_rotation_vector, nearest_rotation, to_rotation_vector
from ..errors import ModelWarning
from ..inertial import to_body
from ..model.body import Body
from .base_parameters import Column
from .fit import Fit
from .hexapod import Equations, _Parts, _skew, equations
from .log import (
    _EFFORTS,
    _TIMES,
    Finding,
    Log,
    LogError,
    _plain,
    factors_of,
    read_table,
    same_length,
    with_times,
)
from .log import _WORDS as _CHAIN_WORDS
from .model import LinearModel
from .terms import Term, Viscous

if TYPE_CHECKING:
    from ..model import Hexapod

__all__ = ["RingFit", "RingModel", "read_ring_log"]

_KEYS: Final = {
    "t": (),
    "r": (3,),
    "R": (3, 3),
    "forces": (6,),
    "u": (6,),
    "acceleration": (6,),
    "base_wrench": (6,),
    "r_ref": (3,),
    "R_ref": (3, 3),
}
_TURNS: Final = {"quaternion": (4,), "rotation_vector": (3,)}  # instead of R, and with _ref instead of R_ref
_SHAPES: Final = _KEYS | _TURNS | {f"{key}_ref": shape for key, shape in _TURNS.items()}
_LENGTHS: Final = {"m": 1.0, "mm": 1e-3}
_UNITS: Final = {
    "t": _TIMES,
    "r": _LENGTHS,
    "rotation_vector": {"rad": 1.0, "deg": math.pi / 180},
    "forces": _EFFORTS,
    "base_wrench": _EFFORTS,
}
# words that columns of a table begin with, and how they end
_XYZ: Final = ("x", "y", "z")
_WORDS: Final = {
    "r": (("r", "pos", "position", "place", ""), _XYZ),
    "R": (("r", "rot", "rotation", "rotation_matrix"), tuple(f"{i}{j}" for i in "123" for j in "123")),
    "quaternion": (("quaternion", "quat", "orientation", "q"), ("w", *_XYZ)),
    "rotation_vector": (("rotation_vector", "rotvec", "turn"), _XYZ),
    "forces": (("force", "forces", "f", "effort", "efforts", "tau"), ()),
    "u": (("u", "twist", "velocity"), ("vx", "vy", "vz", "wx", "wy", "wz")),
    "acceleration": (("acceleration", "acc"), ("ax", "ay", "az", "alphax", "alphay", "alphaz")),
    "base_wrench": (("base_wrench", "wrench", "base"), ("fx", "fy", "fz", "mx", "my", "mz")),
}
_COORDINATES: Final = ("r_x", "r_y", "r_z", "turn about x", "turn about y", "turn about z")
_WRENCH: Final = ("base F_x", "base F_y", "base F_z", "base M_x", "base M_y", "base M_z")


def _jacobian(x: Array, xd: Array) -> tuple[Array, Array]:
    """J (..., 3, 3) of w = J x', and its time derivative."""
    square = (x * x).sum(axis=-1)
    near = square < 0.04
    s = np.where(near, 1.0, square)
    angle = np.sqrt(s)
    sine, cosine = np.sin(angle), np.cos(angle)

    def series(*terms: float) -> Array:
        return np.asarray(np.polynomial.polynomial.polyval(np.where(near, square, 0.0), terms))

    f = math.factorial
    # J = 1 - a ~x + b ~x~x; the other two are a', b' by angle, over angle
    a = np.where(near, series(*((-1) ** k / f(2 * k + 2) for k in range(6))), (1 - cosine) / s)
    b = np.where(near, series(*((-1) ** k / f(2 * k + 3) for k in range(6))), (angle - sine) / (angle * s))
    da = series(*((-1) ** (k + 1) * 2 * (k + 1) / f(2 * k + 4) for k in range(6)))
    db = series(*((-1) ** (k + 1) * 2 * (k + 1) / f(2 * k + 5) for k in range(6)))
    da = np.where(near, da, (angle * sine - 2 * (1 - cosine)) / s**2)
    db = np.where(near, db, ((1 - cosine) - 3 * (angle - sine) / angle) / s**2)
    X, Xd = _skew(x), _skew(xd)
    rate = (x * xd).sum(axis=-1)
    a, b, da, db = (y[..., None, None] for y in (a, b, da * rate, db * rate))
    J = np.identity(3) - a * X + b * (X @ X)
    return J, -da * X - a * Xd + db * (X @ X) + b * (X @ Xd + Xd @ X)


def _times(A: Array, x: Array) -> Array:
    return np.asarray((A @ x[..., None])[..., 0])


class Channels:
    """What is measured of a hexapod, as if these were joints: six drives, and six numbers of the wrench on the base.

    Parameters
    ----------
    hexapod : Hexapod
    attitude : (3, 3) array
        R0.
    wrench : bool
        Whether the wrench on the base is measured.
    """

    def __init__(self, hexapod: Hexapod, attitude: Array, wrench: bool) -> None:
        self.hexapod, self.attitude, self.wrench = hexapod, attitude, wrench
        self.name, self.n = hexapod.name, 12 if wrench else 6
        self.joint_names = tuple(str(leg.name) for leg in hexapod.legs) + (_WRENCH if wrench else ())
        kinds = ["prismatic" if leg.unit == "m" else "revolute" for leg in hexapod.legs]
        self.joint_types = tuple(kinds + (3 * ["prismatic"] + 3 * ["revolute"] if wrench else []))
        self.base = hexapod.base_parameters(measured=("forces", "base_wrench") if wrench else "forces")

    def state(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array, Array]:
        """r, R, u and acceleration of coordinates."""
        J, Jd = _jacobian(q[..., 3:], qd[..., 3:])
        R = self.attitude @ from_rotation_vector(q[..., 3:])
        u = np.concatenate([qd[..., :3], _times(J, qd[..., 3:])], axis=-1)
        turn = _times(J, qdd[..., 3:]) + _times(Jd, qd[..., 3:])
        return q[..., :3], R, u, np.concatenate([qdd[..., :3], turn], axis=-1)

    def coordinates(self, r: Array, R: Array, u: Array | None, acceleration: Array | None) -> list[Array | None]:
        """q, qd and qdd of states; None for those that are not known."""
        x = to_rotation_vector(self.attitude.T @ R)
        q = np.concatenate([r, x], axis=-1)
        if u is None:
            return [q, None, None]
        xd: Any = np.linalg.solve(_jacobian(x, np.zeros_like(x))[0], u[..., 3:, None])[..., 0]
        qd = np.concatenate([u[..., :3], xd], axis=-1)
        if acceleration is None:
            return [q, qd, None]
        J, Jd = _jacobian(x, xd)
        turn: Any = acceleration[..., 3:] - _times(Jd, xd)
        xdd: Any = np.linalg.solve(J, turn[..., None])[..., 0]
        return [q, qd, np.concatenate([acceleration[..., :3], xdd], axis=-1)]

    def rows(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, Equations]:
        """Regressor (m, n, columns), and what it was made of."""
        found = equations(self.hexapod, *self.state(q, qd, qdd))
        return np.concatenate(found[: 1 + self.wrench], axis=-2), found

    def rates(self, q: Array, qd: Array) -> Array:
        """Rates (m, n) of the drives, and zeros of a wrench."""
        r, R, u, _ = self.state(q, qd, np.zeros_like(qd))
        found = np.zeros((len(q), self.n))
        found[:, :6] = _times(self.hexapod.jacobian(r, R), u)
        return found

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """What the model as it was given says."""
        Y, found = self.rows(q, qd, qdd)
        tau = np.asarray(Y @ self.base.standard)
        tau[:, :6] += found.known + _Parts.of(self.hexapod).friction * found.drives[1]
        return tau


class RingModel(LinearModel):
    """Forces of drives and the wrench on the base, linear in parameters of ring, legs and drives and in friction."""

    chain: Any  # Channels

    def __init__(self, channels: Channels, terms: Sequence[Term] = (), always: Sequence[Term] = ()) -> None:
        self.chain, self.terms, self.always = channels, tuple(terms), tuple(always)
        self.base: Any = channels.base
        self.links = len(channels.base.columns)
        columns: tuple[Column, ...] = channels.base.columns
        self.extra = []
        for term in terms:
            chosen = channels.joint_names[:6] if term.joints is None else term.joints
            self.extra += [(term, j) for j in range(6) if channels.joint_names[j] in chosen]
        kinds = [0 if kind == "revolute" else 1 for kind in channels.joint_types]
        self.names = tuple(column.name for column in columns) + tuple(
            f"{getattr(term, 'name', term.symbol)}[{channels.joint_names[j]}]" for term, j in self.extra
        )
        self.units = tuple(column.unit for column in columns) + tuple(
            getattr(term, "unit", term.units[kinds[j]]) for term, j in self.extra
        )
        self._reduce()

    def states(self, count: int) -> tuple[Array, Array, Array]:
        from ..codegen.function import _random_poses

        rng = np.random.default_rng(5)
        r, R = _random_poses(self.chain.hexapod, rng, count)
        q, qd, qdd = self.chain.coordinates(r, R, *rng.uniform(-1.0, 1.0, (2, count, 6)))
        return q, qd, qdd

    def columns(self, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> Array:
        Y, rows = self.chain.rows(q, qd, qdd)
        found = np.zeros((*Y.shape[:-1], len(self.names)))
        found[..., : self.links] = Y
        carried = None if load is None else load[:, :6]
        x, xd, xdd = rows.drives
        values = self._term_values(self.extra, x, xd, xdd, carried)
        for k, (term, j) in enumerate(self.extra, self.links):
            found[:, j, k] = values[term][:, j]
        return found

    def base_columns(self, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> Array:
        return np.asarray(self.columns(q, qd, qdd, load)[..., self.pivots])

    def joint_blocks(self, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> list[Array]:
        W = self.base_columns(q, qd, qdd, load)
        return [np.ascontiguousarray(W[:, j, active]) for j, active in enumerate(self.active)]

    def efforts(self, base: Array, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> Array:
        return np.asarray(self.base_columns(q, qd, qdd, load) @ base)

    def known(self, q: Array, qd: Array, qdd: Array) -> Array | float:
        references = self._references()
        friction = np.where(self._replaced(), 0.0, _Parts.of(self.chain.hexapod).friction)
        if not references and not friction.any() and not _Parts.of(self.chain.hexapod).rough:
            return 0.0
        found = self.chain.rows(q, qd, qdd)[1]
        tau = np.zeros((len(q), self.chain.n))
        tau[:, :6] += found.known + friction * found.drives[1]
        x, xd, xdd = found.drives
        for term, reference in references:
            tau[:, :6] -= reference * term.values(x, xd, xdd, None)
        return tau

    def _replaced(self) -> Any:
        """Drives (6,) of bool whose viscous friction is unknown."""
        return np.isin(np.arange(6), [j for term, j in self.extra if isinstance(term, Viscous)])

    @property
    def bodies(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(column.of for column in self.chain.base.columns[: self._width]))

    @property
    def _width(self) -> int:
        return self.links - 6  # behind the bodies are the drives

    @property
    def reach(self) -> float:
        return float(np.mean([np.linalg.norm(leg.ring) for leg in self.chain.hexapod.legs]))

    @property
    def drives(self) -> int:
        return 6

    def rates(self, q: Array, qd: Array) -> Array:
        return np.asarray(self.chain.rates(q, qd))

    def parameters_of(self, mechanism: Hexapod) -> Array:
        return np.array(_Parts.of(mechanism).values[: self._width]).reshape(-1, 10)

    def signed(self) -> set[int]:
        return super().signed() | set(range(self._width, self.links))

    def written(self, values: Array) -> Hexapod:
        """The hexapod with these values; its centre of mass is where they have it, see `Hexapod.origin`.

        Custom legs have viscous friction of their drives; what legs cannot hold is left out.
        """
        friction = {
            j: max(0.0, float(values[k]))
            for k, (term, j) in enumerate(self.extra, self.links)
            if isinstance(term, Viscous)
        }
        return with_parameters(self.chain.hexapod, values[: self.links], friction)

    def full_values(self, chain: Any = None) -> Array:
        friction = _Parts.of(self.chain.hexapod).friction
        extra = [friction[j] if isinstance(term, Viscous) else 0.0 for term, j in self.extra]
        return np.concatenate([self.chain.base.standard, extra])


def read_ring_log(
    source: Any,
    hexapod: Hexapod,
    rate: float | None = None,
    *,
    columns: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
) -> tuple[Log, Channels]:
    """Samples of a hexapod: `t`, `r`, `R`, `forces` and what else is known, as arrays or as columns of a table."""

    def fail(text: str) -> NoReturn:
        raise LogError(f"log: {text}")

    factors = factors_of(units, _UNITS, fail)
    name, table = read_table(source, fail)
    arrays = _arrays(table, hexapod, columns, fail)
    missing = [key for key in ("r", "R", "forces") if key not in arrays and not (key == "R" and _turn(arrays, ""))]
    if missing:
        shown = ", ".join(list(map(str, table))[:12]) + (", ..." if len(table) > 12 else "")
        words = {"R": "R, quaternion or rotation_vector"}.get(missing[0], missing[0])
        fail(f"there is no {words} among: {shown}; expected {', '.join(_KEYS)}, or name them with columns=")
    for key, factor in factors.items():
        if key in arrays:
            arrays[key] = arrays[key] * factor
    for key in ("u", "acceleration"):  # in the units of the pose
        if key in arrays:
            turns = factors.get("rotation_vector", 1.0)
            arrays[key] = arrays[key] * np.repeat([factors.get("r", 1.0), turns], 3)
    if "r_ref" in arrays:
        arrays["r_ref"] = arrays["r_ref"] * factors.get("r", 1.0)
    m = same_length(arrays, fail)
    findings: list[Finding] = []
    with_times(arrays, m, rate, findings, fail)
    R, whole = _rotations(arrays, "", factors, fail)
    _place(arrays["r"], hexapod, findings)
    channels = Channels(hexapod, nearest_rotation(R[whole].mean(axis=0)), "base_wrench" in arrays)
    q, qd, qdd = channels.coordinates(arrays["r"], R, arrays.get("u"), arrays.get("acceleration"))
    assert q is not None
    q[~whole] = np.nan
    q_ref = None
    if "r_ref" in arrays and (_turn(arrays, "_ref") or "R_ref" in arrays):
        commanded, known = _rotations(arrays, "_ref", factors, fail)
        q_ref = channels.coordinates(arrays["r_ref"], commanded, None, None)[0]
        assert q_ref is not None
        q_ref[~known] = np.nan
    tau = np.concatenate([arrays[key] for key in ("forces", "base_wrench") if key in arrays], axis=1)
    return Log(arrays["t"], q, tau, qd, qdd, q_ref, name, findings, _COORDINATES), channels


def _place(r: Array, hexapod: Hexapod, findings: list[Finding]) -> None:
    """Poses far from the mechanism: in other units, or of another origin."""
    some = r[np.isfinite(r).all(axis=1)][:: max(1, len(r) // 1000)]
    nominal = np.asarray(hexapod.nominal[0])
    size = np.linalg.norm(nominal) + max(float(np.linalg.norm(leg.ring)) for leg in hexapod.legs)
    away = float(np.median(np.linalg.norm(some - nominal, axis=1))) if len(some) else 0.0
    if away > 2 * size:
        text = (
            f"the ring is {away:.4g} m away from its nominal place: is r in mm (units={{'r': 'mm'}}), of another point?"
        )
        findings.append(Finding("fault", "r", text))


def _turn(arrays: Mapping[str, Array], tail: str) -> str:
    """Which other form of an attitude there is."""
    return next((key for key in _TURNS if key + tail in arrays), "")


def _rotations(arrays: Mapping[str, Array], tail: str, factors: Mapping[str, float], fail: Fail) -> tuple[Array, Any]:
    """Matrices (m, 3, 3), and which of them are complete: the others are the identity."""
    form = _turn(arrays, tail)
    given = arrays[f"R{tail}"] if f"R{tail}" in arrays else arrays[form + tail]
    m = len(given)
    whole = np.isfinite(given).reshape(m, -1).all(axis=1)
    if not whole.any():
        fail(f"0 of {m:,} samples of R{tail} are complete")
    R = np.array(np.broadcast_to(np.identity(3), (m, 3, 3)))
    if f"R{tail}" in arrays:
        some = given[whole]
        off = np.abs(np.swapaxes(some, 1, 2) @ some - np.identity(3)).max()
        if off > 1e-3 or (np.linalg.det(some) < 0).any():
            fail(f"R{tail} is no rotation matrix: R'R differs from 1 by {off:.2g}")
        R[whole] = some
    elif form == "quaternion":
        size = np.linalg.norm(given[whole], axis=1, keepdims=True)
        if np.abs(size - 1).max() > 1e-3:
            fail(f"quaternion{tail} has lengths from {size.min():.4g} to {size.max():.4g}, expected 1")
        R[whole] = from_quaternion(given[whole] / size)
    else:
        factor = factors.get("rotation_vector", 1.0) if tail else 1.0  # that of the pose is applied already
        R[whole] = from_rotation_vector(factor * given[whole])
    return R, whole


def _arrays(table: Mapping[str, Any], hexapod: Hexapod, columns: Any, fail: Fail) -> dict[str, Array]:
    """Quantities (m, ...) by name: arrays as they are, or columns of a table put together."""
    legs = tuple(str(leg.name) for leg in hexapod.legs)
    named = {} if columns is None else columns
    if not isinstance(named, Mapping):
        fail(f"columns is {_show(columns)}, expected a mapping such as {{'r': ['x', 'y', 'z']}}")
    for key in named:
        if key not in _SHAPES:
            fail(f"columns has {_show(key)}, expected {', '.join(_SHAPES)}{did_you_mean(str(key), _SHAPES)}")
    found: dict[str, Array] = {}
    for key, shape in _SHAPES.items():
        size = math.prod(shape)
        value: Any = None
        if key in named:
            names = _named(named[key], key, legs, list(table), fail)
            if len(names) not in (1, size):
                fail(f"columns has {len(names)} names for {key}, expected {size}")
            value = table[names[0]] if len(names) == 1 else np.stack([_numbers(table[x], x, fail) for x in names], 1)
        elif table.get(key) is not None and (not shape or _is_whole(table[key])):
            value = table[key]
        elif names := _found(key, legs, list(table)):
            value = np.stack([_numbers(table[x], x, fail) for x in names], axis=1) if shape else table[names[0]]
        if value is None:
            continue
        if key in ("R", "R_ref") and (hasattr(value, "as_matrix") or isinstance(value, Mapping)):
            value = as_matrix(value, fail, key, lead=True)
        array = _numbers(value, key, fail)
        if len(shape) == 2 and array.ndim == 2 and array.shape[1] == size:
            array = array.reshape(-1, *shape)
        if array.ndim != 1 + len(shape) or array.shape[1:] != shape:
            fail(f"{key} has shape {array.shape}, expected (m{''.join(f', {x}' for x in shape)})")
        found[key] = array
    return found


def _is_whole(value: Any) -> bool:
    """Whether it is all of a quantity, and not one column of it."""
    return np.ndim(value) > 1 or isinstance(value, Mapping) or hasattr(value, "as_matrix")


def _numbers(value: Any, name: str, fail: Fail) -> Array:
    try:
        if np.iscomplexobj(value):
            raise TypeError("complex numbers")
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        fail(f"{name} holds no numbers ({error})")


def _named(value: Any, key: str, legs: Sequence[str], names: list[str], fail: Fail) -> list[str]:
    """Columns that were named; braces stand for the leg, for the axis, or for a number."""
    if isinstance(value, str) and "{}" in value:
        size = math.prod(_SHAPES[key])
        endings = [legs] if key == "forces" else [_WORDS[key.removesuffix("_ref")][1]] if key != "t" else []
        numbered = (*endings, range(size), range(1, size + 1))
        choices = [[value.replace("{}", str(x)) for x in some] for some in numbered]
        fitting = [some for some in choices if all(x in names for x in some)]
        if not fitting:
            fail(f"columns: nothing fits {_show(value)}, neither {choices[0][0]} nor {choices[-1][0]}")
        return fitting[0]
    listed = [value] if isinstance(value, str) else as_list(value)
    if not listed:
        fail(f"columns has {_show(value)} for {key}, expected names of columns")
    for name in listed:
        if name not in names:
            fail(f"columns: there is no column {_show(name)}{did_you_mean(str(name), names)}")
    return listed


def _found(key: str, legs: Sequence[str], names: list[str]) -> list[str]:
    """Columns with names that people use: 'r_x', 'quat.w', 'R11', 'force[3]', 'f_leg2', 'base_fx'; or none."""
    plain = {name: _plain(name) for name in names}
    if key == "t":
        return [name for name, word in plain.items() if word in _CHAIN_WORDS["t"]][:1]
    words, endings = _WORDS[key.removesuffix("_ref")]
    tail = "(?:_?(?:ref|cmd|des))" if key.endswith("_ref") else ""
    size = math.prod(_SHAPES[key])
    tried: list[tuple[str, ...]] = [endings] if endings else [tuple(leg.lower() for leg in legs)]
    if "R" not in key:
        tried += [tuple(map(str, range(size))), tuple(map(str, range(1, size + 1)))]
    for some in tried:
        columns = []
        for ending in some:
            apart = (
                "[ _.:/]*".join(map(re.escape, (ending[:-1], ending[-1:])))
                if ending[-1:] in "xyz"
                else re.escape(ending)
            )
            one = re.compile(rf"(?:.*[./])?(?:{'|'.join(words)}){tail}[ _.:/\[(]*{apart}[\])]*{tail and tail + '?'}")
            fitting = [name for name, word in plain.items() if one.fullmatch(word)]
            columns += fitting[:1]
        if len(columns) == len(some):
            return columns
    return []


def with_parameters(hexapod: Hexapod, values: Array, friction: Mapping[int, float] | None = None) -> Hexapod:
    """The hexapod with other parameters, in the order of the columns of `Hexapod.regressor`.

    `friction` is that of drives of custom legs, by the number of the leg.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # the same doubts as about the model that was given
        drives = np.maximum(values[-6:], 0.0).tolist()
        return _with_parameters(hexapod, values[:-6].reshape(-1, 10), drives, friction or {})


def _with_parameters(hexapod: Hexapod, bodies: Array, drives: list[float], friction: Mapping[int, float]) -> Hexapod:
    legs, at = [], 1
    for k, (leg, drive) in enumerate(zip(hexapod.legs, drives, strict=True)):
        if leg.chain is None:
            legs.append(leg._with(inner=_body(bodies[at]), outer=_body(bodies[at + 1]), reflected=drive))
            at += 2
            continue
        driven = {"rotor_inertia": drive} | ({"friction": friction[k]} if k in friction else {})
        links = [link._with(**driven) if link.joint_name == leg.actuated else link for link in leg.chain.links]
        chain = leg.chain._with(links=links).with_inertial_parameters(bodies[at : at + len(links)])
        legs.append(leg._with(chain=chain))
        at += len(links)
    return hexapod._with(platform=_body(bodies[0]), legs=legs)


def _body(parameters: Array) -> Body:
    mass, com, inertia = to_body(parameters)
    return Body(mass, inertia, com)


class RingFit(Fit):
    """What `identify` has found about a hexapod: base parameters of ring, legs and drives.

    Attributes are those of `Fit`; joints are the six drives, and with a measured wrench on the base the six numbers of
    it. Instead of `chain` there is

    hexapod : Hexapod
        The model with bodies that can exist; see `physical`. Its centre of mass may be elsewhere in the ring than that
        of the model that was given: `Hexapod.from_origin` and `to_origin` convert poses if both were made with the
        origin of a drawing.
    """

    _kind = "hexapod"

    def _sizes(self) -> Array:
        """Sizes (r,) that bodies of the model would give to base parameters."""
        model: Any = self._model
        theta = np.abs(model.chain.base.standard)
        bodies = theta[: model.links - 6].reshape(-1, 10)
        mass, inertia = bodies[:, 0], bodies[:, [4, 7, 9]].max(axis=1)
        first = np.sqrt(mass * inertia)
        sizes = np.column_stack([mass, *3 * [first], *6 * [inertia]]).ravel()
        peak = self.residuals.peaks["tau"]
        extra = [0.02 * peak[j] for _, j in model.extra]
        return np.asarray(np.abs(model.Y) @ np.concatenate([sizes, theta[model.links - 6 :], extra]))

    def predict(self, r: ArrayLike, R: Any, u: ArrayLike, acceleration: ArrayLike) -> Array:  # type: ignore[override]
        """Forces of the drives, and with it the wrench on the base, (..., 6 or 12), of base parameters and friction.

        Parameters
        ----------
        r : (..., 3) array, m
        R : (..., 3, 3) array
        u, acceleration : (..., 6) array
            Motion of the ring as in `Hexapod.inverse_dynamics`.

        Returns
        -------
        tau : (..., 6 or 12) array
        """
        fail = failing("RingFit.predict")
        model: Any = self._model
        turn = as_matrix(R, fail, "R", lead=True)
        arrays = [as_array(r, fail, "r", (3,), lead=True), turn.reshape(*turn.shape[:-2], 9)]
        arrays += [as_array(x, fail, w, (6,), lead=True) for x, w in ((u, "u"), (acceleration, "acceleration"))]
        lead = common_lead(
            fail, dict(zip(("r", "R", "u", "acceleration"), (x.shape[:-1] for x in arrays), strict=True))
        )
        flat = [np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]) for x in arrays]
        q, qd, qdd = model.chain.coordinates(flat[0], flat[1].reshape(-1, 3, 3), *flat[2:])
        load = self._rigid(q, qd, qdd) if model.needs_load else None
        tau = model.efforts(self._solution.any, q, qd, qdd, load) + model.known(q, qd, qdd)
        return np.asarray(tau.reshape(*lead, model.chain.n))

    @property
    def _mechanism(self) -> Hexapod:
        return cast("Any", self._given).hexapod  # type: ignore[no-any-return]

    @property
    def hexapod(self) -> Hexapod:
        return self._bodies.hexapod

    @property
    def chain(self) -> NoReturn:
        raise LogError("RingFit.chain: a hexapod is no chain; the model is in `hexapod`")
