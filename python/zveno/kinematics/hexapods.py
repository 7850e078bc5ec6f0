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
from ..opcount import OpCount, staged
from ..results import RingPose, Singularity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Hexapod

__all__ = [
    "Workspace",
    "explain",
    "forward_kinematics",
    "forward_kinematics_all",
    "operations",
    "singularity",
    "status",
    "workspace",
]

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
        name, index = (hexapod.leg_names[leg], leg) if leg >= 0 else (None, None)
        data = {"leg": name, "leg_index": index, "cause": key, "margin": margin, "row": row}
        return cast(Exception, getattr(_errors, kind)(f"{text}, margin {margin:.3g}", **data))
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
    hexapod: Hexapod,
    strokes: ArrayLike,
    start: Any = None,
    *,
    on_error: str = "raise",
    threads: SupportsIndex | None = None,
) -> RingPose:
    """Pose of the ring whose actuated coordinates are `strokes`.

    Newton's method on the closed form; the solution is the one that it reaches from `start`, and ``.residual``
    proves it. At most 100 steps.

    Parameters
    ----------
    strokes : (..., 6) array
        Actuated coordinates, m or rad.
    start : pair (r, R), optional
        Where to begin; default: the nominal pose.
    on_error : {"raise", "nan"}
        What to do where it does not converge.
    threads : int, optional

    Returns
    -------
    RingPose
        r (..., 3), R (..., 3, 3), residual (...), iterations (...).

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> r, R = ring.nominal
    >>> pose = ring.forward_kinematics([0.01, 0, 0, 0, 0, 0])  # one strut 1 cm longer
    >>> np.allclose(ring.closure(pose.r, pose.R)[:, 2], [0.01, 0, 0, 0, 0, 0])
    True
    >>> (1e3 * (pose.r - r)).round(2)  # mm
    array([ 2.15, -3.71,  3.7 ])
    """
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


def forward_kinematics_all(
    hexapod: Hexapod,
    strokes: ArrayLike,
    start: Any = None,
    *,
    reach: float = 0.3,
    tilt: float = 1.0,
    tries: int = 200,
    seed: int = 0,
) -> RingPose:
    """All poses of the ring with these actuated coordinates that are found near `start`.

    A hexapod has up to 40 assemblies. Newton's method is begun at `tries` poses spread over +-`reach` m and
    +-`tilt` rad about `start`; what converges is listed once, the nearest first. Nothing proves that there are no
    others.

    Parameters
    ----------
    strokes : (6,) array
    start : pair (r, R), optional
    reach, tilt : float, m and rad
    tries, seed : int

    Returns
    -------
    RingPose
        One row for each solution, perhaps none.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> r, R = ring.nominal
    >>> poses = ring.forward_kinematics_all(np.zeros(6))
    >>> len(poses.r) > 1  # other poses have the same strokes
    True
    >>> np.allclose(ring.closure(poses.r, poses.R)[..., 2], 0, atol=1e-9)
    True
    """
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
    found = forward_kinematics(hexapod, wanted, (r0 + shift, R0 @ from_rotation_vector(angle)), on_error="nan")
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
    hexapod: Hexapod, r: ArrayLike, R: ArrayLike, *, on_error: str = "raise", threads: SupportsIndex | None = None
) -> Singularity:
    """Distance of poses from singularities of the mechanism and of its legs.

    Parameters
    ----------
    r : (..., 3) array, m
    R : (..., 3, 3) array
    on_error : {"raise", "nan"}
    threads : int, optional

    Returns
    -------
    Singularity
        condition (...): of the actuated Jacobian with rotations scaled by the ring radius; leg (..., 6): smallest
        factor of Golubev & Yaskevich, (38), between 0 and 1; status (...).

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> r, R = ring.nominal
    >>> float(ring.singularity(r, R).condition.round(2))
    1.72
    >>> float(ring.singularity([0.01, 0, 0], R).condition.round(1))  # nearly flat
    45.7
    """
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


def status(hexapod: Hexapod, r: ArrayLike, R: ArrayLike, *, threads: SupportsIndex | None = None) -> NDArray[np.int16]:
    """0 where the mechanism can take a pose, else a code for `explain`. (...,)

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("RSU")
    >>> r, R = ring.nominal
    >>> status = ring.status([r, r + [2, 0, 0]], R)
    >>> [ring.explain(s) for s in status]
    ['computed', "leg 'leg1' cannot reach its hinge: crank and coupler do not meet"]
    """
    _, status = hexapod._measures(r, R, on_error="nan", threads=threads)
    return status


def operations(hexapod: Hexapod, leg: int | None = None, *, moving: bool = False, free: bool = False) -> OpCount:
    """Exact operations of one forward dynamics call, by stage.

    Parameters
    ----------
    leg : int, optional
        One leg, 0 to 5; default: the whole mechanism with the ring and the solve.
    moving, free : bool
        With a base that moves or gravity; with a free base (the leg's part only).

    Returns
    -------
    OpCount
        ``trig`` counts the arc functions that turn sines and cosines into joint angles.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> r, R = ring.nominal
    >>> print(ring.operations(0))  # one leg
    600 operations: 351 mul, 243 add, 2 div, 2 sqrt, 2 trig
    >>> print(ring.operations())  # six legs, ring and solve
    4108 operations: 2285 mul, 1781 add, 18 div, 12 sqrt, 12 trig
    """

    def counted(index: int) -> OpCount:
        try:
            return staged(_core.hexapod_operations(hexapod, index, moving, free))
        except (IndexError, ValueError) as error:
            raise ValueError(f"operations: {error}") from None

    if leg is not None:
        return counted(as_integer("operations", "leg", leg, 0, 5))
    if free:
        raise ValueError("operations: free counts one leg, expected leg=0 to 5")
    return sum((counted(index) for index in range(-1, 6)), OpCount())


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
    axes: Sequence[str] = ("y", "z"),
    extent: Sequence[float] = (0.3, 0.3),
    points: int | Sequence[int] = 101,
    *,
    centre: Any = None,
    threads: SupportsIndex | None = None,
) -> Workspace:
    """Scan a grid of poses: condition number, leg factors, limits.

    Parameters
    ----------
    axes : two of "x", "y", "z", "tilt x", "tilt y", "tilt z"
        Displacements along base axes, rotations about ring axes.
    extent : two floats, m or rad
        The grid runs from minus to plus extent about `centre`.
    points : int or two ints
    centre : pair (r, R), optional
        Default: the nominal pose.
    threads : int, optional

    Returns
    -------
    Workspace
        ``.plot()`` draws it.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> r, R = ring.nominal
    >>> ws = ring.workspace(("y", "tilt z"), (0.2, 0.4), 21)
    >>> ws.usable.shape, bool(ws.usable[10, 10])  # the middle is the nominal pose
    ((21, 21), True)
    """
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
    found = singularity(hexapod, r, R, on_error="nan", threads=threads)
    p = hexapod.closure(r, R, on_error="nan", threads=threads)
    stroke = p[..., np.arange(6), hexapod.actuated]
    within = np.asarray(((stroke >= hexapod.lower) & (stroke <= hexapod.upper)).all(axis=-1))
    return Workspace((axes[0], axes[1]), first, second, found.condition, found.leg.min(axis=-1), within, found.status)
