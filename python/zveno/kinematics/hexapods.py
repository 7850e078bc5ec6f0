"""Forward kinematics, singularities, workspace and operation counts of a hexapod."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, SupportsIndex, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .. import errors as _errors
from .._check import Array, _show, as_amount, as_choice, as_flag, as_integer, as_list, called, refuse_masked
from .._extras import optional
from .._html import html_table
from .._rotation import as_pose, from_rotation_vector
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

_AXES: Final = ("x", "y", "z", "tilt x", "tilt y", "tilt z", "roll", "pitch", "yaw")
_SAME: Final = 1e-6  # m and rad: closer poses are the same solution
_BLOCK: Final = 4096  # poses, some 15 ms of work, after which Ctrl-C is heard; NumPy does not hear it


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


def _strokes(function: str, value: Any, hexapod: Hexapod) -> Array:
    """Actuated coordinates as a finite float64 array (..., 6)."""
    try:
        raw = np.asarray(value)
    except Exception as error:  # ragged lists, hostile __array__
        raise TypeError(f"{function}: strokes is not an array of numbers: {error}") from None
    refuse_masked(value, f"{function}: strokes")
    if raw.dtype.kind not in "iuf":
        raise TypeError(f"{function}: strokes is not an array of numbers: it has dtype {raw.dtype}, expected float64")
    if raw.shape[-1:] != (6,):
        raise ValueError(
            f"{function}: strokes has shape {raw.shape}, expected (6,) or (..., 6) for model '{hexapod.name}'"
        )
    array = np.ascontiguousarray(raw, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError(f"{function}: strokes is not finite")
    return array


def _refusal(function: str) -> Callable[[str], NoReturn]:
    """The function that refuses an argument of `function`."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"{function}: {text}")

    return fail


def _check_on_error(function: str, on_error: str) -> None:
    as_choice(on_error, _refusal(function), "on_error", ("raise", "nan"))


def _pose(function: str, hexapod: Hexapod, what: str, value: Any) -> tuple[Array, Array]:
    """A pose in any of its forms, or the nominal one; (..., 3) and (..., 3, 3)."""
    if value is not None:
        return as_pose(value, _refusal(function), what, lead=True)
    if hexapod.nominal is None:
        raise ValueError(f"{function}: {what} is missing, and model '{hexapod.name}' has no nominal pose to start from")
    return hexapod.nominal


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
    start : pose, optional
        Where to begin, (r, R) of the ring's centre of mass or any other form of a pose, see `Hexapod`; (..., 3) and
        (..., 3, 3). Default: the nominal pose.
    on_error : {"raise", "nan"}
        What to do where it does not converge.
    threads : int, optional

    Returns
    -------
    RingPose
        r (..., 3), R (..., 3, 3), residual (...), iterations (...), status (...).

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
    wanted = _strokes(name, strokes, hexapod)
    r0, R0 = _pose(name, hexapod, "start", start)
    try:
        lead = np.broadcast_shapes(wanted.shape[:-1], r0.shape[:-1], R0.shape[:-2])
    except ValueError:
        raise ValueError(
            f"{name}: arguments do not broadcast: strokes {wanted.shape}, start {r0.shape}, {R0.shape}"
        ) from None
    r = np.array(np.broadcast_to(r0, (*lead, 3)), order="C")
    R = np.array(np.broadcast_to(R0, (*lead, 3, 3)), order="C")
    wanted = np.ascontiguousarray(np.broadcast_to(wanted, (*lead, 6)))
    count = 1 if threads is None else as_integer(name, "threads", threads, 0, _core.MOST_THREADS)
    residual, iterations, status, margin = _core.hexapod_forward_kinematics(hexapod, wanted, r, R, count)
    failed = np.flatnonzero(status)
    if failed.size and on_error == "raise":
        row = int(failed[0])
        raise failure(name, hexapod, int(status[row]), float(margin[row]), row if lead else None)
    r.reshape(-1, 3)[failed] = np.nan
    R.reshape(-1, 3, 3)[failed] = np.nan
    residual[failed] = np.nan
    return RingPose(r, R, residual.reshape(lead), iterations.reshape(lead), status.reshape(lead))


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
    start : pose, optional
        As in `forward_kinematics`, one pose.
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
    wanted = _strokes(name, strokes, hexapod)
    if wanted.ndim != 1:
        raise ValueError(f"{name}: strokes has shape {wanted.shape}, expected (6,)")
    r0, R0 = _pose(name, hexapod, "start", start)
    if r0.ndim != 1 or R0.ndim != 2:
        raise ValueError(f"{name}: start has more than one pose")
    fail = _refusal(name)
    reach, tilt = as_amount(reach, fail, "reach"), as_amount(tilt, fail, "tilt")
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
    return RingPose(found.r[kept], found.R[kept], found.residual[kept], found.iterations[kept], found.status[kept])


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
    J = hexapod.jacobian(r, R, on_error="nan", threads=threads).reshape(-1, 6, 6)
    # the first square of a slide's leg is its length, which is no measure of direction
    turning = np.array([[not leg.traits.gough, True, True, True] for leg in hexapod.legs])
    condition, leg = np.full(status.shape, np.nan), np.empty((*status.shape, 6))
    scale, parts = np.repeat([1.0, 1.0 / hexapod.radius], 3), squares.reshape(-1, 6, 4)
    conditions, factors = condition.reshape(-1), leg.reshape(-1, 6)
    for first in range(0, len(J), _BLOCK):
        here = slice(first, first + _BLOCK)
        scaled = J[here] * scale
        good = np.isfinite(scaled).all(axis=(-2, -1))
        with np.errstate(divide="ignore"):
            conditions[here][good] = np.linalg.cond(scaled[good])
        lengths = np.where(np.isnan(parts[here]), np.nan, 1.0)
        factors[here] = np.sqrt(np.where(turning, parts[here], lengths).min(axis=-1))
    return Singularity(condition, leg, status)


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
    with called("status", "singularity"):
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

    fail = _refusal("operations")
    moving, free = as_flag(moving, fail, "moving"), as_flag(free, fail, "free")

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
    margin : (n, m) array, m or rad
        Distance of the actuated coordinates from their limits, the smallest of the legs: negative outside, infinite
        without limits, NaN where a leg does not reach.
    """

    axes: tuple[str, str]
    first: Array
    second: Array
    condition: Array
    leg: Array
    within: NDArray[np.bool_]
    status: NDArray[np.int16]
    margin: Array

    def __repr__(self) -> str:
        n, m = self.status.shape
        return f"Workspace({self.axes[0]} by {self.axes[1]}, {n} x {m}, {self.usable.mean():.0%} usable)"

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Poses that every leg reaches within its limits."""
        return np.asarray(self.within & (self.status == 0))

    def plot(self, ax: Any = None) -> Figure:
        """Draw the condition number over the grid, limits of the legs as a line. Needs matplotlib (``zveno[plot]``).

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Default: new ones in a new figure.

        Returns
        -------
        figure : matplotlib Figure
        """
        figure: Figure = optional("zveno.plot.workspace", "Workspace.plot", "matplotlib").plot_workspace(self, ax)
        return figure

    def _repr_html_(self) -> str:
        rows = []
        for label, array in (("condition number", self.condition), ("leg factor", self.leg), ("margin", self.margin)):
            known = array[np.isfinite(array)]
            rows.append((label, f"{known.min():.3g} to {known.max():.3g}" if known.size else "none"))
        return html_table(repr(self), rows, ("over the grid", "from the least to the largest"))


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
    axes : two of "x", "y", "z", "tilt x", "tilt y", "tilt z", "roll", "pitch", "yaw"
        Displacements of the centre of mass along base axes. Tilts are the components of one rotation vector in ring
        axes; roll, pitch and yaw are the angles of Rz(yaw) Ry(pitch) Rx(roll), which follows the centre's R. The two do
        not go together.
    extent : two floats, m or rad
        The grid runs from minus to plus extent about `centre`.
    points : int or two ints
    centre : pose, optional
        (r, R) of the ring's centre of mass or any other form of a pose, see `Hexapod`. Default: the nominal pose.
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
    fail = _refusal(name)
    known = isinstance(axes, Sequence) and all(isinstance(axis, str) and axis in _AXES for axis in axes)
    if not known or len(axes) != 2 or axes[0] == axes[1]:
        fail(f"axes is {_show(axes)}, expected two different names of {_AXES}")
    groups = {_AXES.index(axis) // 3 for axis in axes}
    if groups == {1, 2}:
        fail(f"axes is {_show(axes)}: tilts and roll, pitch, yaw do not go together, expected two of one kind")
    sides = as_list(extent)
    if sides is None or len(sides) != 2:
        fail(f"extent is {_show(extent)}, expected two positive numbers, m or rad")
    extent = [as_amount(e, fail, "extent") for e in sides]
    sizes = [points, points] if isinstance(points, str | bytes) else as_list(points) or [points, points]
    if len(sizes) != 2:
        fail(f"points is {_show(points)}, expected one or two integers")
    n, m = (as_integer(name, "points", size, 2, 10**5) for size in sizes)
    if n * m > 10**8:
        fail(f"points is {_show(points)}, expected at most 1e8 poses")
    r0, R0 = _pose(name, hexapod, "centre", centre)
    if r0.ndim != 1 or R0.ndim != 2:
        fail("centre has more than one pose")
    first, second = np.linspace(-extent[0], extent[0], n), np.linspace(-extent[1], extent[1], m)
    condition, leg, margin, codes = np.empty(n * m), np.empty(n * m), np.empty(n * m), np.empty(n * m, np.int16)
    places = [_AXES.index(axis) for axis in axes]
    for start in range(0, n * m, _BLOCK):
        here = slice(start, min(start + _BLOCK, n * m))
        rows = np.arange(here.start, here.stop)
        shift, angle = np.zeros((2, len(rows), 3))
        for place, values in zip(places, (first[rows // m], second[rows % m]), strict=True):
            (shift if place < 3 else angle)[:, place % 3] = values
        if 2 in groups:
            turn = np.broadcast_to(np.eye(3), (len(rows), 3, 3))
            for k in (2, 1, 0):
                turn = turn @ from_rotation_vector(angle * np.eye(3)[k])
        else:
            turn = from_rotation_vector(angle)
        r, R = r0 + shift, R0 @ turn
        with called(name, "singularity"):
            found = singularity(hexapod, r, R, on_error="nan", threads=threads)
        p = hexapod.closure(r, R, on_error="nan", threads=threads)
        stroke = p[:, np.arange(6), hexapod.actuated]
        condition[here], leg[here], codes[here] = found.condition, found.leg.min(axis=-1), found.status
        margin[here] = np.minimum(stroke - hexapod.lower, hexapod.upper - stroke).min(axis=-1)
    shape = n, m
    within = (margin >= 0).reshape(shape)
    condition, leg, margin = condition.reshape(shape), leg.reshape(shape), margin.reshape(shape)
    return Workspace((axes[0], axes[1]), first, second, condition, leg, within, codes.reshape(shape), margin)
