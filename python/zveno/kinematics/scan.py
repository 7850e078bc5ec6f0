"""Workspaces of chains: places that a link reaches, in which orientations, how well and with what payload."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import Array, Fail, _show, as_array, as_choice, as_flag, as_integer, as_list, as_number, failing
from .._extras import optional
from .._html import html_table
from .._rotation import as_rotation
from .arms import _Known, _mask

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Chain

__all__ = ["ArmWorkspace", "workspace"]

_AXES: Final = ("x", "y", "z")
_PLACE: Final = (True, True, True, False, False, False)
_FLAT: Final = 1e-9  # extent that is none, relative to the largest
_PER_CELL: Final = 12  # configurations for each cell of the search for starts
_SPIRAL: Final = (2**0.5, 1.533751168755204288118041)  # Alexa, "Super-Fibonacci spirals" (2022)
QUANTITIES: Final = ("reach", "manipulability", "payload", "dexterity")


@dataclass(frozen=True, eq=False, repr=False)
class ArmWorkspace:
    """Result of `Chain.workspace`: a grid of places and what was found there.

    Attributes
    ----------
    name, link : str
        Of the chain, and of the link that is brought to the places.
    axes : tuple of str
        Names of the two or three directions of the grid, along base axes.
    grid : tuple of arrays, m
        Places along them: the centres of cells.
    cell : tuple of float, m
        Sizes of a cell; 0 along a direction in which the link does not move.
    reachable : (...) bool array
        Over the grid: the link reaches the centre of the cell within the limits of the joints, in some orientation or
        in the one that was asked for.
    q : (..., n) array, rad or m
        A configuration for each place, nan where there is none.
    manipulability : (...) array
        Product of the singular values of the Jacobian's rows that are held, in that configuration; nan out of reach.
    payload : (...) array, kg
        What the drives can carry there at rest, the least of all orientations that were tried and reached; None unless
        it was asked for.
    dexterity : (...) array
        Share of the orientations that are reached, 0 to 1; None if none were tried.
    """

    name: str
    link: str
    axes: tuple[str, ...]
    grid: tuple[Array, ...]
    cell: tuple[float, ...]
    reachable: NDArray[np.bool_]
    q: Array
    manipulability: Array
    payload: Array
    dexterity: Array

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.reachable.shape))
        unit = "m" + {1: "", 2: "^2", 3: "^3"}[self._dimensions]
        return (
            f"ArmWorkspace('{self.name}', {self.link}, {' by '.join(self.axes)}, {size}, "
            f"{self._measure(self.reachable):.4g} {unit} reachable)"
        )

    @property
    def _dimensions(self) -> int:
        return max(1, sum(size > 0 for size in self.cell))

    def _measure(self, inside: NDArray[np.bool_]) -> float:
        return float(np.prod([size for size in self.cell if size > 0]) * np.count_nonzero(inside))

    @property
    def volume(self) -> float:
        """Volume of the reachable cells, m^3; of a section, or of an arm that moves in a plane, their area, m^2."""
        return self._measure(self.reachable)

    @property
    def dexterous(self) -> NDArray[np.bool_]:
        """Places that are reached in every orientation that was tried (...,)."""
        if self.dexterity is None:
            raise ValueError("dexterous: no orientations were tried, expected workspace(orientations=...)")
        return np.asarray(self.dexterity == 1.0)

    @property
    def dexterous_volume(self) -> float:
        """Volume, or area, of the dexterous cells, m^3 or m^2."""
        return self._measure(self.dexterous)

    def section(self, axis: str, at: float) -> ArmWorkspace:
        """The layer of cells of a workspace in space that is nearest to a plane.

        Parameters
        ----------
        axis : {"x", "y", "z"}
            Normal of the plane.
        at : float, m
            Where on this axis it stands.

        Examples
        --------
        >>> import zveno as zv
        >>> ws = zv.robots.puma560().workspace(points=20, samples=2000)
        >>> ws.section("y", 0.0).axes
        ('x', 'z')
        """
        fail = failing("section")
        if len(self.axes) != 3:
            fail("the workspace is a section already, expected one over three axes")
        k = _AXES.index(as_choice(axis, fail, "axis", _AXES))
        place = as_number(at, fail, "at")
        layer = int(np.abs(self.grid[k] - place).argmin())

        def cut(array: Any) -> Any:
            return None if array is None else np.take(array, layer, axis=k)

        def rest(values: tuple[Any, ...]) -> tuple[Any, ...]:
            return values[:k] + values[k + 1 :]

        return ArmWorkspace(
            self.name,
            self.link,
            rest(self.axes),
            rest(self.grid),
            rest(self.cell),
            cut(self.reachable),
            cut(self.q),
            cut(self.manipulability),
            cut(self.payload),
            cut(self.dexterity),
        )

    def surface(self, inside: ArrayLike | None = None, *, smooth: SupportsIndex = 0) -> tuple[Array, NDArray[np.int64]]:
        """Border of the reachable cells as triangles, closed, their normals outwards.

        Parameters
        ----------
        inside : (...) bool array, optional
            Cells to enclose, as ``dexterous``; default: `reachable`.
        smooth : int
            Passes in which every corner moves half the way to the mean of its neighbours: for pictures.

        Returns
        -------
        vertices : (k, 3) array, m
        faces : (m, 3) array of int

        Examples
        --------
        >>> import zveno as zv
        >>> vertices, faces = zv.robots.puma560().workspace(points=20, samples=2000).surface()
        >>> vertices.shape[1], faces.shape[1]
        (3, 3)
        """
        vertices, faces, _ = _border(self, inside, as_integer("surface", "smooth", smooth, 0, 100))
        return vertices, faces

    def plot(self, what: str = "", ax: Any = None, *, cut: bool = True) -> Figure:
        """Draw the workspace. Needs matplotlib (``zveno[plot]``).

        Parameters
        ----------
        what : {"reach", "manipulability", "payload", "dexterity"}
            What colours tell. Default: manipulability of a section, "reach" in space.
        ax : matplotlib Axes, Axes3D of a workspace in space, optional
            Default: new ones in a new figure.
        cut : bool
            In space, leave out the half in front to show the inside.

        Returns
        -------
        figure : matplotlib Figure

        Examples
        --------
        >>> import zveno as zv
        >>> figure = zv.robots.two_link().workspace(axes=("x", "z"), points=30, samples=1000).plot()
        >>> figure.axes[0].get_xlabel()
        'x, m'
        """
        fail = failing("plot")
        chosen = what or ("manipulability" if len(self.axes) == 2 else "reach")
        as_choice(chosen, fail, "what", QUANTITIES)
        if chosen != "reach" and getattr(self, chosen) is None:
            wanted = {"payload": "payload=True", "dexterity": "orientations="}[chosen]
            fail(f"what is '{chosen}', which was not computed, expected workspace({wanted})")
        figure: Figure = optional("zveno.plot.arm_workspace", "ArmWorkspace.plot", "matplotlib").plot_arm_workspace(
            self, chosen, ax, cut=as_flag(cut, fail, "cut")
        )
        return figure

    def _repr_html_(self) -> str:
        rows = [("reachable", f"{np.count_nonzero(self.reachable)} of {self.reachable.size} cells")]
        for label in QUANTITIES[1:]:
            array = getattr(self, label)
            known = array[np.isfinite(array)] if array is not None else np.empty(0)
            if known.size:
                rows.append((label, f"{known.min():.3g} to {known.max():.3g}"))
        return html_table(repr(self), rows, ("over the grid", "from the least to the largest"))


def _border(
    ws: ArmWorkspace, inside: ArrayLike | None, smooth: int
) -> tuple[Array, NDArray[np.int64], NDArray[np.int64]]:
    """Vertices, triangles, and for each triangle the cell (flat index) that it encloses."""
    fail = failing("surface")
    if len(ws.axes) != 3 or min(ws.cell) <= 0:
        fail("the workspace has no volume, expected one over three axes")
    full = ws.reachable if inside is None else np.asarray(inside)
    if full.shape != ws.reachable.shape or full.dtype != np.bool_:
        fail(f"inside has shape {full.shape}, type {full.dtype}, expected bool of shape {ws.reachable.shape}")
    padded = np.pad(full, 1)
    corners, cells = [], []
    for axis, side in product(range(3), (0, 1)):
        beyond = np.roll(padded, 1 - 2 * side, axis)[1:-1, 1:-1, 1:-1]
        open_side = np.argwhere(full & ~beyond)
        # the four corners of that side, counter-clockwise seen from outside
        u, v = np.eye(3, dtype=np.int64)[[(axis + 1) % 3, (axis + 2) % 3]]
        ring = np.array([0 * u, u, u + v, v] if side else [0 * u, v, u + v, u])
        corners.append(open_side[:, None, :] + side * np.eye(3, dtype=np.int64)[axis] + ring)
        cells.append(np.ravel_multi_index(tuple(open_side.T), full.shape))
    quads = np.concatenate(corners)
    if not len(quads):
        return np.empty((0, 3)), np.empty((0, 3), np.int64), np.empty(0, np.int64)
    unique, index = np.unique(quads.reshape(-1, 3), axis=0, return_inverse=True)
    first = np.array([g[0] for g in ws.grid]) - 0.5 * np.array(ws.cell)
    vertices = first + unique * np.array(ws.cell)
    square = index.reshape(-1, 4)
    for _ in range(smooth):
        sums, count = np.zeros_like(vertices), np.zeros(len(vertices))
        for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
            for here, there in ((square[:, a], square[:, b]), (square[:, b], square[:, a])):
                np.add.at(sums, here, vertices[there])
                np.add.at(count, here, 1.0)
        vertices = 0.5 * (vertices + sums / count[:, None])
    faces = square[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    return vertices, faces, np.repeat(np.concatenate(cells), 2)


def _spread(count: int, dimensions: int) -> Array:
    """Points that fill the unit cube evenly: multiples of the powers of a root, modulo 1. (count, dimensions)"""
    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (dimensions + 1))
    steps = root ** -np.arange(1.0, dimensions + 1)
    return (0.5 + np.arange(1.0, count + 1)[:, None] * steps) % 1.0


def _rotations(count: int) -> Array:
    """Rotations that are spread evenly, Alexa (2022). (count, 3, 3)"""
    from ..orientation import from_quaternion

    s = np.arange(count) + 0.5
    inner, outer = np.sqrt(s / count), np.sqrt(1.0 - s / count)
    alpha, beta = (2.0 * np.pi * s / turn for turn in _SPIRAL)
    four = np.stack([inner * np.sin(alpha), inner * np.cos(alpha), outer * np.sin(beta), outer * np.cos(beta)], axis=-1)
    return np.asarray(from_quaternion(four))


def _ranges(chain: Chain, moved: list[int], fail: Fail) -> tuple[Array, Array]:
    """Positions of the joints to scan: within limits, a turn where there are none."""
    low, high = chain.lower.copy(), chain.upper.copy()
    for j in range(chain.n):
        if j not in moved:
            middle = float(np.clip(0.0, low[j], high[j]))
            low[j] = high[j] = middle
        elif chain.joint_types[j] == "revolute":
            if np.isinf(low[j]) and np.isinf(high[j]):
                low[j], high[j] = -np.pi, np.pi
            low[j], high[j] = max(low[j], high[j] - 2 * np.pi), min(high[j], low[j] + 2 * np.pi)
        if not (np.isfinite(low[j]) and np.isfinite(high[j])):
            fail(f"joint '{chain.joint_names[j]}' slides without limits, expected lower and upper for it")
    return low, high


class _Starts:
    """Configurations all over the joint space, by the place of the link."""

    def __init__(self, q: Array, places: Array) -> None:
        self.q, self.places = q, places
        self.low = places.min(axis=0)
        extent = places.max(axis=0) - self.low
        self.flat = extent <= _FLAT * max(float(extent.max()), 1e-300)
        solid = np.where(self.flat, 1.0, extent)
        many = max(2, int((len(q) / _PER_CELL) ** (1.0 / max(1, int((~self.flat).sum())))))
        self.counts = np.where(self.flat, 1, many)
        self.size = solid / self.counts
        cells = np.minimum(((places - self.low) / self.size).astype(np.int64), self.counts - 1)
        number = np.ravel_multi_index(tuple(cells.T), tuple(self.counts))
        off = np.linalg.norm((places - self.low) / self.size - cells - 0.5, axis=1)
        order = np.lexsort((off, number))
        found, first = np.unique(number[order], return_index=True)
        table = np.full(int(np.prod(self.counts)), -1, np.int64)
        table[found] = order[first]
        # beyond the border of what was met there may be a little more
        grid = np.pad(table.reshape(self.counts), 1, constant_values=-1)
        self.table = grid.copy()
        for shift in product((-1, 0, 1), repeat=3):
            near = np.roll(grid, shift, (0, 1, 2))
            self.table = np.where(self.table < 0, near, self.table)

    def near(self, points: Array) -> NDArray[np.int64]:
        """Index of a configuration that brings the link near each point, -1 where there is none. (N,)"""
        cells = np.floor((points - self.low) / self.size).astype(np.int64) + 1
        cells[:, self.flat] = 1
        inside = ((cells >= 0) & (cells <= self.counts + 1)).all(axis=1)
        index = np.full(len(points), -1, np.int64)
        index[inside] = self.table[tuple(cells[inside].T)]
        return index


def _beside(
    fresh: NDArray[np.int64], reachable: NDArray[np.bool_], shape: tuple[int, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cells beside fresh ones that are not reached, and for each of them the fresh one."""
    source = np.full(shape, -1, np.int64)
    source.ravel()[fresh] = fresh
    padded = np.pad(source, 1, constant_values=-1)
    best = np.full(shape, -1, np.int64)
    for shift in product((-1, 0, 1), repeat=len(shape)):
        best = np.maximum(best, padded[tuple(slice(1 + s, 1 + s + size) for s, size in zip(shift, shape, strict=True))])
    doubtful = np.flatnonzero((best.ravel() >= 0) & ~reachable)
    return doubtful, best.ravel()[doubtful]


def workspace(
    self: Chain,
    link: str | None = None,
    *,
    axes: Sequence[str] = ("x", "y", "z"),
    points: int | Sequence[int] = 31,
    at: ArrayLike = (0.0, 0.0, 0.0),
    extent: Sequence[Sequence[float]] | None = None,
    orientation: Any = None,
    orientations: Any = 0,
    mask: Iterable[bool] | None = None,
    payload: bool = False,
    effort: ArrayLike | None = None,
    samples: SupportsIndex = 100_000,
    restarts: SupportsIndex = 4,
    threads: SupportsIndex | None = None,
) -> ArmWorkspace:
    """Scan the places that a link can reach within the limits of the joints: in space, or in a section.

    Configurations spread over the whole joint space tell roughly where the link may come; at the centre of each cell of
    the grid inverse kinematics decides, started from the nearest of them or from that of a cell beside. Volumes are
    those of the cells whose centres are reached.

    Parameters
    ----------
    link : str, optional
        Default: the one last link of the chain. For a point of a tool, see `Chain.with_tool`.
    axes : two or three of "x", "y", "z"
        Directions of the grid, along base axes. Two: a section.
    points : int, or one for each axis
        Cells.
    at : (3,) array, m
        A point of the plane of a section.
    extent : pairs (from, to), one for each axis, m, optional
        Default: as far as the link may come.
    orientation : (3, 3) array or another form of a rotation, optional
        That the link is to have everywhere, link axes to base axes. Default: any.
    orientations : int or (k, 3, 3) array
        Orientations that are tried at each place, for `dexterity`; a number: so many, spread evenly over all rotations.
    mask : six flags, optional
        Components that orientations hold, as in `Chain.ik`: ``(1, 1, 1, 1, 1, 0)`` for a tool that may spin about z.
    payload : bool
        Also what the drives can carry there, see `payload_capacity`.
    effort : (n,) array, N m or N, optional
        Limits of the drives for `payload`; default: `effort_limit`.
    samples : int
        Configurations to begin with.
    restarts : int
        Starts of the numeric inverse kinematics after the first one.
    threads : int, optional

    Returns
    -------
    ArmWorkspace
        ``.plot()`` draws it; ``.volume``, ``.section(...)``, ``.surface()``.

    Raises
    ------
    ValueError
        A joint that slides without limits; axes, extents or orientations that make no sense.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()  # a disc of 2 m
    >>> ws = arm.workspace(axes=("x", "z"), points=60, samples=2000)
    >>> ws
    ArmWorkspace('two_link', tip, x by z, 60 x 60, 12.58 m^2 reachable)
    """
    function = "workspace"
    fail = failing(function)
    known = _Known.of(self)
    name = known.link(function, self, link)
    names = as_list(axes)
    if names is None or not 2 <= len(names) <= 3 or len(set(map(str, names))) != len(names) or set(names) - set(_AXES):
        fail(f"axes is {_show(axes)}, expected two or three different names of {_AXES}")
    if len(names) == 3 and names != list(_AXES):
        fail(f"axes is {_show(axes)}, expected three in the order {_AXES}")
    order = [_AXES.index(axis) for axis in names]
    sizes = [points] * len(order) if isinstance(points, SupportsIndex) else as_list(points) or []
    if len(sizes) != len(order):
        fail(f"points is {_show(points)}, expected one or {len(order)} integers")
    counts = [as_integer(function, "points", size, 1, 10**4) for size in sizes]
    if np.prod(counts) > 10**7:
        fail(f"points is {_show(points)}, expected at most 1e7 cells")
    plane = as_array(at, fail, "at", (3,))
    count = as_integer(function, "samples", samples, 100, 10**8)
    again = as_integer(function, "restarts", restarts, 0, 10**4)
    weighed = as_flag(payload, fail, "payload")
    held = _PLACE if orientation is None else _mask(function, mask)
    turn = np.eye(3) if orientation is None else as_rotation(orientation, fail, "orientation")
    if np.ndim(orientations) == 0:
        tried = _rotations(number) if (number := as_integer(function, "orientations", orientations, 0, 10**5)) else None
    else:
        tried = as_rotation(orientations, fail, "orientations", lead=True).reshape(-1, 3, 3)
    if mask is not None and orientation is None and tried is None:
        fail("mask is given without orientation or orientations, expected one of them")

    from .rates import _Task

    moved = _Task.of(function, self, name, None, "world", None, 1.0).path
    low, high = _ranges(self, moved, fail)
    q = np.tile(low, (count, 1))
    q[:, moved] += (high - low)[moved] * _spread(count, len(moved))
    starts = _Starts(q, self.pose(q, name, threads=threads)[:, :3, 3])

    grid, cell = [], []
    pairs = as_list(extent) if extent is not None else None
    if extent is not None and (pairs is None or len(pairs) != len(order)):
        fail(f"extent is {_show(extent)}, expected {len(order)} pairs (from, to)")
    far = starts.places.max(axis=0)
    for i, k in enumerate(order):
        if pairs is not None:
            first, last = as_array(pairs[i], fail, f"extent[{i}]", (2,))
            if not first < last:
                fail(f"extent[{i}] is {_show(pairs[i])}, expected (from, to) with from < to")
        elif starts.flat[k]:
            first = last = float(starts.low[k])
        else:
            margin = 0.02 * (far[k] - starts.low[k])  # samples do not meet the very end
            first, last = float(starts.low[k] - margin), float(far[k] + margin)
        step = (last - first) / counts[i]
        grid.append(first + (np.arange(counts[i]) + 0.5) * step if step > 0 else np.array([first]))
        cell.append(float(step))
    shape = tuple(map(len, grid))
    places = np.empty((*shape, 3))
    places[...] = plane
    for i, (k, along) in enumerate(zip(order, grid, strict=True)):
        places[..., k] = along.reshape([-1 if a == i else 1 for a in range(len(order))])
    flat = places.reshape(-1, 3)
    near = starts.near(flat)
    asked = np.flatnonzero(near >= 0)

    def solved(where: NDArray[np.int64], R: Array, begin: Array, mask: tuple[bool, ...]) -> tuple[Any, Array]:
        T = np.zeros((len(where), 4, 4))
        T[:, :3, :3], T[:, :3, 3], T[:, 3, 3] = R, flat[where], 1.0
        if not len(where):
            return np.empty(0, np.bool_), np.empty((0, self.n))
        found = self.ik(T, name, q0=begin, mask=mask, on_error="nan", restarts=again, threads=threads)
        return found.ok, found.q

    found = np.full((len(flat), self.n), np.nan)
    ok, found_q = solved(asked, turn, q[near[asked]], held)
    reached = asked[ok]
    found[reached] = found_q[ok]
    # from place to place: what one start has missed a neighbour's configuration often reaches
    while len(reached):
        reachable = ~np.isnan(found[:, 0])
        doubtful, beside = _beside(reached, reachable, shape)
        ok, found_q = solved(doubtful, turn, found[beside], held)
        reached = doubtful[ok]
        found[reached] = found_q[ok]
    reachable = ~np.isnan(found[:, 0])
    reached = np.flatnonzero(reachable)

    measure = np.full(len(flat), np.nan)
    carried = np.full(len(flat), np.nan) if weighed else None

    def weigh(where: NDArray[np.int64], there: Array) -> None:
        if carried is not None and len(where):
            mass = self.payload_capacity(there, name, effort=effort, threads=threads).mass
            carried[where] = np.fmin(carried[where], mass)

    if weighed:  # refusals before the work
        self.payload_capacity(q[0], name, effort=effort)
    if len(reached):
        measure[reached] = self.manipulability(found[reached], name, mask=held, threads=threads).manipulability
        weigh(reached, found[reached])
    share = None
    if tried is not None:
        share = np.zeros(len(flat))
        every = _mask(function, mask)
        candidates = asked if orientation is not None else reached
        begin = np.where(np.isnan(found), q[np.maximum(near, 0)], found)
        for R in tried:
            ok, there = solved(candidates, R, begin[candidates], every)
            share[candidates[ok]] += 1.0 / len(tried)
            weigh(candidates[ok], there[ok])
        share[share > 1.0 - 0.5 / len(tried)] = 1.0

    def over(array: Any) -> Any:
        return None if array is None else array.reshape(*shape, *array.shape[1:])

    return ArmWorkspace(
        self.name,
        name,
        tuple(names),
        tuple(grid),
        tuple(cell),
        over(reachable),
        over(found),
        over(measure),
        over(carried),
        over(share),
    )
