"""Identification of hexapods: logs of the ring's motion, forces of the drives, the wrench on the base.

Coordinates of the ring are its place and a rotation vector x from the mean attitude, R = R0 exp(~x); they are filtered
and differentiated as those of joints are. With J(x) the body Jacobian of the exponential, w = J x', w' = J x'' + J' x'.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, _show, as_amount, as_array, failing
from .._rotation import as_matrix, from_rotation_vector, nearest_rotation, to_rotation_vector
from .base_parameters import Column
from .fit import Fit
from .hexapod import _skew, equations
from .log import Log, LogError, _read_file
from .model import LinearModel
from .terms import Term

if TYPE_CHECKING:
    from ..model import Hexapod
    from .physical import PhysicalFit

__all__ = ["RingFit", "RingModel", "read_ring_log"]

_KEYS: Final = {"t": (), "r": (3,), "R": (3, 3), "forces": (6,), "u": (6,), "acceleration": (6,), "base_wrench": (6,)}
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

    def rows(self, q: Array, qd: Array, qdd: Array) -> tuple[Array, tuple[Array, Array, Array]]:
        """Regressor (m, n, columns), and motions (m, 6) of the drives."""
        found = equations(self.hexapod, *self.state(q, qd, qdd))
        return np.concatenate(found[: 1 + self.wrench], axis=-2), found.drives

    def inverse_dynamics(self, q: Array, qd: Array, qdd: Array) -> Array:
        """What the model as it was given says."""
        return np.asarray(self.rows(q, qd, qdd)[0] @ self.base.standard)


class RingModel(LinearModel):
    """Forces of drives and the wrench on the base, linear in parameters of ring, legs and drives and in friction."""

    chain: Any  # Channels

    def __init__(self, channels: Channels, terms: tuple[Term, ...] = ()) -> None:
        self.chain, self.terms = channels, terms
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
        Y, drives = self.chain.rows(q, qd, qdd)
        found = np.zeros((*Y.shape[:-1], len(self.names)))
        found[..., : self.links] = Y
        values = self._term_values(self.extra, drives[0], drives[1], drives[2], load)
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

    def known(self, q: Array, qd: Array, qdd: Array) -> float:
        return 0.0

    def full_values(self, chain: Any = None) -> Array:
        return np.concatenate([self.chain.base.standard, np.zeros(len(self.extra))])


def read_ring_log(source: Any, hexapod: Hexapod, rate: float | None = None) -> tuple[Log, Channels]:
    """Samples of a hexapod: a mapping of arrays or an .npz file with `t`, `r`, `R`, `forces` and what else is known."""

    def fail(text: str) -> NoReturn:
        raise LogError(f"log: {text}")

    name = ""
    if isinstance(source, str):
        name, source = source, _read_file(source, fail)
    if not isinstance(source, Mapping):
        raise TypeError(f"log is {_show(source)}, expected a mapping of arrays or the path of an .npz file")
    missing = [key for key in ("r", "R", "forces") if key not in source]
    if missing:
        fail(f"there is no {missing[0]} among: {', '.join(map(str, source))}; expected {', '.join(_KEYS)}")
    arrays: dict[str, Array] = {}
    for key, shape in _KEYS.items():
        if source.get(key) is None:
            continue
        value = source[key]
        if key == "R" and (hasattr(value, "as_matrix") or isinstance(value, Mapping)):
            value = as_matrix(value, fail, "R", lead=True)
        try:
            arrays[key] = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            fail(f"{key} holds no numbers ({error})")
        if arrays[key].ndim != 1 + len(shape) or arrays[key].shape[1:] != shape:
            fail(f"{key} has shape {arrays[key].shape}, expected (m{''.join(f', {x}' for x in shape)})")
    lengths = {key: len(value) for key, value in arrays.items()}
    if len(set(lengths.values())) > 1:
        fail("arrays have different lengths: " + ", ".join(f"{k} {v:,}" for k, v in lengths.items()))
    m = lengths["r"]
    if m < 3:
        fail(f"{m} samples, nothing can be seen in so few")
    if "t" not in arrays:
        if rate is None:
            fail("there are no times; give t, or the rate in Hz")
        arrays["t"] = np.arange(m) / as_amount(rate, fail, "rate", positive=True)
    R = arrays["R"]
    whole: Any = np.isfinite(R).all(axis=(1, 2))
    if not whole.any():
        fail(f"0 of {m:,} samples of R are complete")
    off = np.abs(np.swapaxes(R[whole], 1, 2) @ R[whole] - np.identity(3)).max()
    if off > 1e-3 or (np.linalg.det(R[whole]) < 0).any():
        fail(f"R is no rotation matrix: R'R differs from 1 by {off:.2g}")
    channels = Channels(hexapod, nearest_rotation(R[whole].mean(axis=0)), "base_wrench" in arrays)
    safe = np.where(whole[:, None, None], R, channels.attitude)
    q, qd, qdd = channels.coordinates(arrays["r"], safe, arrays.get("u"), arrays.get("acceleration"))
    assert q is not None
    q[~whole] = np.nan
    tau = np.concatenate([arrays[key] for key in ("forces", "base_wrench") if key in arrays], axis=1)
    return Log(arrays["t"], q, tau, qd, qdd, None, name, coordinates=_COORDINATES), channels


class RingFit(Fit):
    """What `identify` has found about a hexapod: base parameters of ring, legs and drives.

    Attributes are those of `Fit`; joints are the six drives, and with a measured wrench on the base the six numbers of
    it. There is no `chain`: the data fix base parameters only.
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
        lead = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
        flat = [np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]) for x in arrays]
        q, qd, qdd = model.chain.coordinates(flat[0], flat[1].reshape(-1, 3, 3), *flat[2:])
        tau = model.efforts(self._solution.any, q, qd, qdd)
        return np.asarray(tau.reshape(*lead, model.chain.n))

    @cached_property
    def _bodies(self) -> PhysicalFit | None:  # type: ignore[override]
        return None

    def physical(self, **options: Any) -> NoReturn:
        """Not for hexapods: raises."""
        raise LogError("RingFit.physical: base parameters of a hexapod are not written back to bodies")

    @property
    def chain(self) -> NoReturn:
        raise LogError("RingFit.chain: a hexapod is no chain; its base parameters are in `parameters`")
