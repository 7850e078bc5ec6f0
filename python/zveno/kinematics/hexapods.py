"""Forward kinematics, singularities, workspace and operation counts of a hexapod."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, SupportsIndex, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .. import errors as _errors
from .._check import Array, _show, as_integer, as_number
from .._rotation import from_rotation_vector
from .._status import in_words
from ..opcount import OpCount
from ..results import RingPose, Singularity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Hexapod

__all__ = ["Workspace", "explain"]

_AXES: Final = ("x", "y", "z", "tilt x", "tilt y", "tilt z")
_SAME: Final = 1e-6  # m and rad: closer poses are the same solution


def explain(status: SupportsIndex, hexapod: Hexapod | None = None) -> str:
    """Put the status of a row into words.

    Parameters
    ----------
    status : int
        From ``.status`` of a result.
    hexapod : Hexapod, optional
        Names the leg; without it the leg is a number.

    Examples
    --------
    >>> explain(0)
    'computed'
    """
    if hexapod is None:
        return in_words(status, "leg", [str(k + 1) for k in range(6)])
    return in_words(status, "leg", [repr(name) for name in hexapod.leg_names])


def failure(function: str, hexapod: Hexapod, status: int, margin: float, row: int | None) -> Exception:
    """The error that belongs to a status."""
    kind, key, _ = _core.cause(status & 0xFF)
    where = "" if row is None else f" in row {row}"
    text = f"{function}: {explain(status, hexapod)}{where}"
    leg = (status >> 8) - 1
    if kind in ("UnreachableError", "SingularityError"):
        error = getattr(_errors, kind)(f"{text}, margin {margin:.3g}")
        error.leg, error.leg_index = (hexapod.leg_names[leg], leg) if leg >= 0 else (None, None)
        error.cause, error.margin, error.row = key, margin, row
        return cast(Exception, error)
    return FloatingPointError(text) if kind == "FloatingPointError" else ValueError(text)


def _array(function: str, name: str, value: Any, tail: tuple[int, ...], hexapod: Hexapod) -> Array:
    """`value` as a finite float64 array (..., *tail)."""
    if hasattr(value, "as_matrix"):
        value = value.as_matrix()
    try:
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{function}: {name} is not an array of numbers: {error}") from None
    if array.shape[-len(tail) :] != tail:
        shape = ", ".join(map(str, tail)) + ("," if len(tail) == 1 else "")
        raise ValueError(
            f"{function}: {name} has shape {np.shape(value)}, expected ({shape}) or (..., {shape.rstrip(',')}) "
            f"for model '{hexapod.name}'"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{function}: {name} is not finite")
    return array


def _number(function: str, name: str, value: Any) -> float:
    """`value` as a finite number >= 0."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"{function}: {text}")

    number = as_number(value, fail, name)
    if number < 0:
        fail(f"{name} is {number:g}, expected a number >= 0")
    return number


def _check_on_error(function: str, on_error: str) -> None:
    if on_error not in ("raise", "nan"):
        raise ValueError(f"{function}: on_error is {on_error!r}, expected 'raise' or 'nan'")


def _start(function: str, hexapod: Hexapod, start: Any) -> tuple[Array, Array]:
    if start is None:
        if hexapod.nominal is None:
            raise ValueError(
                f"{function}: start is missing, and model '{hexapod.name}' has no nominal pose to start from"
            )
        return hexapod.nominal
    if not isinstance(start, tuple | list | RingPose) or len(start) < 2:
        raise TypeError(f"{function}: start is a {type(start).__name__}, expected a pair (r, R)")
    return _array(function, "r of start", start[0], (3,), hexapod), _array(
        function, "R of start", start[1], (3, 3), hexapod
    )


def forward_kinematics(
    hexapod: Hexapod, strokes: ArrayLike, start: Any, on_error: str, threads: SupportsIndex | None
) -> RingPose:
    """See `Hexapod.forward_kinematics`."""
    name = "forward_kinematics"
    _check_on_error(name, on_error)
    wanted = _array(name, "strokes", strokes, (6,), hexapod)
    r0, R0 = _start(name, hexapod, start)
    try:
        lead = np.broadcast_shapes(wanted.shape[:-1], r0.shape[:-1], R0.shape[:-2])
    except ValueError:
        raise ValueError(
            f"{name}: arguments do not broadcast: strokes {wanted.shape}, start {r0.shape}, {R0.shape}"
        ) from None
    r = np.array(np.broadcast_to(r0, (*lead, 3)), order="C")
    R = np.array(np.broadcast_to(R0, (*lead, 3, 3)), order="C")
    wanted = np.ascontiguousarray(np.broadcast_to(wanted, (*lead, 6)))
    count = 1 if threads is None else as_integer(name, "threads", threads, 0, 4096)
    residual, iterations, status, margin = _core.hexapod_forward_kinematics(hexapod, wanted, r, R, count)
    failed = np.flatnonzero(status)
    if failed.size and on_error == "raise":
        row = int(failed[0])
        raise failure(name, hexapod, int(status[row]), float(margin[row]), row if lead else None)
    r.reshape(-1, 3)[failed] = np.nan
    R.reshape(-1, 3, 3)[failed] = np.nan
    return RingPose(r, R, residual.reshape(lead), iterations.reshape(lead))


def all_poses(
    hexapod: Hexapod, strokes: ArrayLike, start: Any, reach: float, tilt: float, tries: int, seed: int
) -> RingPose:
    """See `Hexapod.forward_kinematics_all`."""
    name = "forward_kinematics_all"
    wanted = _array(name, "strokes", strokes, (6,), hexapod)
    if wanted.ndim != 1:
        raise ValueError(f"{name}: strokes has shape {wanted.shape}, expected (6,)")
    r0, R0 = _start(name, hexapod, start)
    if r0.ndim != 1 or R0.ndim != 2:
        raise ValueError(f"{name}: start has more than one pose")
    reach, tilt = _number(name, "reach", reach), _number(name, "tilt", tilt)
    tries = as_integer(name, "tries", tries, 1, 10**7)
    rng = np.random.default_rng(as_integer(name, "seed", seed, 0, 2**63))
    shift = rng.uniform(-reach, reach, (tries, 3))
    angle = rng.uniform(-tilt, tilt, (tries, 3))
    shift[0] = angle[0] = 0.0
    found = forward_kinematics(hexapod, wanted, (r0 + shift, R0 @ from_rotation_vector(angle)), "nan", None)
    kept: list[int] = []
    for row in np.flatnonzero(np.isfinite(found.r).all(axis=-1)):
        same = (
            max(np.abs(found.r[row] - found.r[k]).max(), np.abs(found.R[row] - found.R[k]).max()) < _SAME for k in kept
        )
        if not any(same):
            kept.append(int(row))
    kept.sort(key=lambda k: float(np.abs(found.r[k] - r0).max() + np.abs(found.R[k] - R0).max()))
    return RingPose(found.r[kept], found.R[kept], found.residual[kept], found.iterations[kept])


def singularity(
    hexapod: Hexapod, r: ArrayLike, R: ArrayLike, on_error: str, threads: SupportsIndex | None
) -> Singularity:
    """See `Hexapod.singularity`."""
    _check_on_error("singularity", on_error)
    if on_error == "raise":
        squares = hexapod._measures(r, R, threads=threads)
        status = np.zeros(squares.shape[:-2], np.int16)
    else:
        squares, status = hexapod._measures(r, R, on_error="nan", threads=threads)
    J = hexapod.jacobian(r, R, on_error="nan", threads=threads)
    scaled = J * np.repeat([1.0, 1.0 / hexapod.radius], 3)
    good = np.isfinite(scaled).all(axis=(-2, -1))
    condition = np.full(status.shape, np.nan)
    with np.errstate(divide="ignore"):
        condition[good] = np.linalg.cond(scaled[good])
    # the first square of a slide's leg is its length, which is no measure of direction
    turning = np.array([[not leg.traits.gough, True, True, True] for leg in hexapod.legs])
    factors = np.where(turning, squares, np.where(np.isnan(squares), np.nan, 1.0)).min(axis=-1)
    return Singularity(condition, np.sqrt(factors), status)


def operations(hexapod: Hexapod, leg: int | None, *, moving: bool, free: bool) -> OpCount:
    """See `Hexapod.operations`."""

    def counted(index: int) -> OpCount:
        try:
            stages = {k: OpCount(*v) for k, v in _core.hexapod_operations(hexapod, index, moving, free).items()}
        except (IndexError, ValueError) as error:
            raise ValueError(f"operations: {error}") from None
        total = OpCount()
        for count in stages.values():
            total = total + OpCount(count.mul, count.add, count.div, count.sqrt, count.trig)
        return OpCount(total.mul, total.add, total.div, total.sqrt, total.trig, stages=stages)

    if leg is not None:
        return counted(as_integer("operations", "leg", leg, 0, 5))
    if free:
        raise ValueError("operations: free counts one leg, expected leg=0 to 5")
    total = counted(-1)
    for index in range(6):
        total = total + counted(index)
    return total


class Workspace(NamedTuple):
    """Result of `Hexapod.workspace`: a grid of poses and what was found there.

    Attributes
    ----------
    axes : tuple of str
        Names of the two directions of the grid.
    first, second : (n,), (m,) arrays
        Displacements from the centre, m or rad.
    condition : (n, m) array
        Condition number of the actuated Jacobian, NaN where a leg does not reach.
    leg : (n, m) array
        Smallest leg factor.
    within : (n, m) bool array
        All actuated coordinates inside their limits.
    status : (n, m) int16 array
    """

    axes: tuple[str, str]
    first: Array
    second: Array
    condition: Array
    leg: Array
    within: NDArray[np.bool_]
    status: NDArray[np.int16]

    def __repr__(self) -> str:
        n, m = self.status.shape
        return f"Workspace({self.axes[0]} by {self.axes[1]}, {n} x {m}, {self.usable.mean():.0%} usable)"

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Poses that every leg reaches within its limits."""
        return np.asarray(self.within & (self.status == 0))

    def plot(self, ax: Any = None) -> Figure:
        """Draw the condition number over the grid, limits of the legs as a line (extra ``zveno[cli]``)."""
        from ..plot.workspace import plot_workspace

        return plot_workspace(self, ax)


def workspace(
    hexapod: Hexapod,
    axes: Sequence[str],
    extent: Sequence[float],
    points: int | Sequence[int],
    centre: Any,
    threads: SupportsIndex | None,
) -> Workspace:
    """See `Hexapod.workspace`."""
    name = "workspace"
    if not isinstance(axes, Sequence) or len(axes) != 2 or axes[0] == axes[1] or any(a not in _AXES for a in axes):
        raise ValueError(f"{name}: axes is {_show(axes)}, expected two different names of {_AXES}")
    if not isinstance(extent, Sequence | np.ndarray) or len(extent) != 2:
        raise ValueError(f"{name}: extent is {_show(extent)}, expected two positive numbers, m or rad")
    extent = [_number(name, "extent", e) for e in extent]
    sizes = points if isinstance(points, Sequence) else (points, points)
    if len(sizes) != 2:
        raise ValueError(f"{name}: points is {_show(points)}, expected one or two integers")
    n, m = (as_integer(name, "points", size, 2, 10**5) for size in sizes)
    if n * m > 10**8:
        raise ValueError(f"{name}: points is {_show(points)}, expected at most 1e8 poses")
    r0, R0 = _start("workspace", hexapod, centre)
    first, second = np.linspace(-extent[0], extent[0], n), np.linspace(-extent[1], extent[1], m)
    shift, angle = np.zeros((n, m, 3)), np.zeros((n, m, 3))
    for name, values in zip(axes, (first[:, None], second[None, :]), strict=True):
        index = _AXES.index(name)
        (shift if index < 3 else angle)[..., index % 3] = values
    r, R = r0 + shift, R0 @ from_rotation_vector(angle)
    found = singularity(hexapod, r, R, "nan", threads)
    p = hexapod.closure(r, R, on_error="nan", threads=threads)
    stroke = p[..., np.arange(6), hexapod.actuated]
    within = np.asarray(((stroke >= hexapod.lower) & (stroke <= hexapod.upper)).all(axis=-1))
    return Workspace((axes[0], axes[1]), first, second, found.condition, found.leg.min(axis=-1), within, found.status)
