"""Serial chains as tables: Denavit-Hartenberg rows and the parameters of the textbook of Leskov et al. (2017).

`Chain.from_dh`, `Chain.to_dh`, `Chain.from_textbook` and `Chain.to_textbook` say what they mean.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable, Sequence
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, _is_name, _show, as_array, as_choice, as_list, as_number, did_you_mean
from .._rotation import about_axis, as_pose, rotated
from ..errors import ModelWarning
from ..orientation import from_pyr, to_pyr
from .body import Body
from .link import Link

if TYPE_CHECKING:
    from .chain import Chain

__all__ = ["DHParameters", "TextbookParameters", "dh_links", "free_name", "textbook_links", "to_dh", "to_textbook"]

# what `Chain.from_dh` and `Chain.from_textbook` call a column of arguments of `Link`
_DH: Final = {"name": "names", "joint": "joints", "mass": "masses", "com": "coms", "inertia": "inertias"}
_BOOK: Final = {"name": "names", "joint": "sigma", "mass": "m", "com": "r", "inertia": "J"}
_JOINT: Final = ("lower", "upper", "velocity", "effort", "rotor_inertia", "friction", "stiffness", "rest")
_NEARLY: Final = 1e-5  # rad: axes nearer to parallel lose digits in their common normal


class DHParameters(NamedTuple):
    """A serial chain as the arguments of `Chain.from_dh`: ``Chain.from_dh(**parameters._asdict())`` is the chain.

    Attributes
    ----------
    rows : (n, 4) array
        theta0, d, a, alpha of each joint; rad and m.
    convention : {"standard", "modified"}
    joints : tuple of {"revolute", "prismatic"}
    base_pose, tool_pose : (4, 4) array
        DH frame 0 in the base, the tool frame in DH frame n.
    masses : (n,) array, kg
    coms : (n, 3) array, m
        In DH frame i.
    inertias : (n, 3, 3) array, kg m^2
        About the centre of mass, in the axes of DH frame i.
    lower, upper, velocity, effort, rotor_inertia, friction, stiffness, rest : (n,) array
        As in `Link`.
    names : tuple of str
    tool, name, base : str
    gravity : (3,) array, m/s^2
    """

    rows: Array
    convention: str
    joints: tuple[str, ...]
    base_pose: Array
    tool_pose: Array
    masses: Array
    coms: Array
    inertias: Array
    lower: Array
    upper: Array
    velocity: Array
    effort: Array
    rotor_inertia: Array
    friction: Array
    stiffness: Array
    rest: Array
    names: tuple[str, ...]
    tool: str
    gravity: Array
    name: str
    base: str


class TextbookParameters(NamedTuple):
    """A serial chain as the arguments of `Chain.from_textbook`; ``Chain.from_textbook(**parameters._asdict())``.

    Attributes
    ----------
    sigma : (n,) array of int
        1 revolute, 0 prismatic.
    alpha, beta, gamma : (n,) array, rad
    l, r : (n, 3) array, m
        O_{i-1} to O_i at s_i = 0 and O_i to the centre of mass, both in frame i.
    m : (n,) array, kg
    J : (n, 3, 3) array, kg m^2
        About the centre of mass, axes of frame i.
    base_frame, tool_frame : tuple of (3,) array, rad, and (3,) array, m
    lower, upper, velocity, effort, rotor_inertia, friction, stiffness, rest : (n,) array
    names : tuple of str
    tool, name, base : str
    gravity : (3,) array, m/s^2
    """

    sigma: Any
    alpha: Array
    beta: Array
    gamma: Array
    l: Array  # noqa: E741
    r: Array
    m: Array
    J: Array
    base_frame: tuple[Array, Array]
    tool_frame: tuple[Array, Array]
    lower: Array
    upper: Array
    velocity: Array
    effort: Array
    rotor_inertia: Array
    friction: Array
    stiffness: Array
    rest: Array
    names: tuple[str, ...]
    tool: str
    gravity: Array
    name: str
    base: str


def free_name(word: str, taken: Collection[str]) -> str:
    """The word, or the first of word2, word3, ... that is not taken."""
    return next(name for i in count(1) if (name := word if i == 1 else f"{word}{i}") not in taken)


# ---- from tables ----------------------------------------------------------------------------------------------------


def dh_links(
    rows: Iterable[Sequence[float]],
    convention: str,
    columns: dict[str, Any],
    base_pose: ArrayLike | None,
    tool_pose: ArrayLike | None,
    tool: str,
    fail: Fail,
) -> list[Link]:
    """The moving links and the tool. `columns` are arguments of `Link`, one entry for each row, or None."""
    as_choice(convention, fail, "convention", ("standard", "modified"))
    listed = as_list(rows)
    if listed is None:
        fail(f"rows is {_show(rows)}, expected rows (theta0, d, a, alpha)")
    table = [as_array(row, fail, f"rows[{i}]", (4,)).tolist() for i, row in enumerate(listed)]
    n = len(table)
    if columns["joint"] is None:
        fail("joints is None, expected 'revolute', 'prismatic' or one of them for each row")
    if isinstance(columns["joint"], str):
        columns["joint"] = [columns["joint"]] * n
    bodies = _bodies(columns, n, _DH, fail)
    base, hand = _split_pose(base_pose, fail, "base_pose"), _split_pose(tool_pose, fail, "tool_pose")
    for i, body in enumerate(bodies):
        as_choice(body["joint"], fail, f"joints[{i}]", ("revolute", "prismatic"))
    if convention == "standard":
        far = []
        for theta, d, a, alpha in table:
            R_theta = about_axis(2, theta)
            far.append((R_theta @ about_axis(0, alpha), R_theta @ (a, 0.0, 0.0) + (0.0, 0.0, d)))
        return _far_framed(bodies, far, base, hand, tool, fail)
    made = []
    (R_next, p_next), (R_tool, p_tool) = base, hand
    for body, (theta, d, a, alpha) in zip(bodies, table, strict=True):
        R_row = about_axis(0, alpha)
        position = p_next + R_next @ ((a, 0.0, 0.0) + R_row @ (0.0, 0.0, d))
        made.append(Link(**body, position=position, rotation=R_next @ R_row @ about_axis(2, theta)))
        R_next, p_next = np.eye(3), np.zeros(3)
    return [*made, _tool(tool, R_next @ R_tool, p_next + R_next @ p_tool, fail)]


def textbook_links(
    sigma: Any,
    angles: dict[str, Any],
    l: Any,  # noqa: E741
    columns: dict[str, Any],
    base_frame: Any,
    tool_frame: Any,
    tool: str,
    fail: Fail,
) -> list[Link]:
    """The moving links and the tool: frame i lies at the far end of link i, as in the standard convention of DH."""
    listed = as_list(sigma)
    if listed is None:
        fail(f"sigma is {_show(sigma)}, expected 1 (revolute) or 0 (prismatic) for each joint")
    n = len(listed)
    kinds = []
    for i, value in enumerate(listed):
        number = as_number(value, fail, f"sigma[{i}]")
        if number not in (0.0, 1.0):
            fail(f"sigma[{i}] is {_show(value)}, expected 1 (revolute) or 0 (prismatic)")
        kinds.append("revolute" if number else "prismatic")
    columns["joint"] = kinds
    bodies = _bodies(columns, n, _BOOK, fail)
    turns = []
    for name, values in angles.items():
        turns.append(np.zeros(n) if values is None else as_array(values, fail, name, (n,)))
    lengths = np.zeros((n, 3)) if l is None else as_array(l, fail, "l", (n, 3))
    R = from_pyr(np.stack(turns, axis=-1))  # transposes of eps_i
    far = [(R_i, R_i @ l_i) for R_i, l_i in zip(R, lengths, strict=True)]
    base, hand = (_book_frame(f, fail, what) for f, what in ((base_frame, "base_frame"), (tool_frame, "tool_frame")))
    return _far_framed(bodies, far, base, hand, tool, fail)


def _book_frame(frame: Any, fail: Fail, what: str) -> tuple[Array, Array]:
    """Rotation and translation of a frame given by its angles and by its offset in its own axes."""
    if frame is None:
        return np.eye(3), np.zeros(3)
    if not isinstance(frame, tuple | list) or len(frame) != 2:
        fail(
            f"{what} is {_show(frame)}, expected a pair: angles (alpha, beta, gamma), offset l in the frame's own axes"
        )
    R = from_pyr(as_array(frame[0], fail, f"angles of {what}", (3,)))
    return R, R @ as_array(frame[1], fail, f"offset of {what}", (3,))


def _bodies(columns: dict[str, Any], n: int, words: dict[str, str], fail: Fail) -> list[dict[str, Any]]:
    """Arguments of each `Link` from columns of them."""
    if columns["name"] is None:
        columns["name"] = [f"link{i + 1}" for i in range(n)]
    given: dict[str, list[Any]] = {}
    for key, column in columns.items():
        if isinstance(column, str) or not (column is None or isinstance(column, Sequence | np.ndarray)):
            fail(f"{words.get(key, key)} is {_show(column)}, expected {n} entries")
        if column is not None:
            given[key] = list(np.atleast_1d(column) if isinstance(column, np.ndarray) else column)
            if len(given[key]) != n:
                fail(f"{words.get(key, key)} has {len(given[key])} entries, expected {n}")
    return [{key: column[i] for key, column in given.items()} for i in range(n)]


def _far_framed(
    bodies: list[dict[str, Any]],
    far: list[tuple[Array, Array]],
    base: tuple[Array, Array],
    hand: tuple[Array, Array],
    tool: str,
    fail: Fail,
) -> list[Link]:
    """Links whose frames lie at their far ends: R_BF, p_BF of `far` place frame i in link i, whose joint is at i-1."""
    made = []
    (R_next, p_next), (R_tool, p_tool) = base, hand
    for body, (R_BF, p_BF) in zip(bodies, far, strict=True):
        link = Link(**body)  # checked before it is moved
        body |= {"com": p_BF + R_BF @ link.com, "inertia": rotated(R_BF, link.inertia)}
        made.append(Link(**body, position=p_next, rotation=R_next))
        R_next, p_next = R_BF, p_BF
    return [*made, _tool(tool, R_next @ R_tool, p_next + R_next @ p_tool, fail)]


def _tool(tool: object, rotation: Array, position: Array, fail: Fail) -> Link:
    if not isinstance(tool, str) or not _is_name(tool):
        fail(f"tool is {_show(tool)}, expected a non-empty string")
    return Link(tool, joint="fixed", position=position, rotation=rotation)


def _split_pose(pose: Any, fail: Fail, what: str) -> tuple[Array, Array]:
    """Rotation and translation of a pose in any form; identity for None. The rotation is checked by its link."""
    p, R = (np.zeros(3), np.eye(3)) if pose is None else as_pose(pose, fail, what, exact=False)
    return R, p


# ---- to tables ------------------------------------------------------------------------------------------------------


class _Serial:
    """A serial chain at q = 0 in base axes: joint axes, links with what is welded to them, the tool."""

    def __init__(self, chain: Chain, tool: object, fail: Fail) -> None:
        by_name = {link.name: link for link in chain.links}

        def carrier(link: Link) -> Link | None:
            """The nearest moving link that carries a link; None: the base."""
            parent = by_name.get(link.parent or "")
            while parent is not None and parent.joint == "fixed":
                parent = by_name.get(parent.parent or "")
            return parent

        carriers = {link.name: carrier(link) for link in chain.links}
        self.moving = [link for link in chain.links if link.joint != "fixed"]
        for link, expected in zip(self.moving, [None, *self.moving], strict=False):
            found = carriers[link.name]
            if found is not expected:
                names = [other.name for other in self.moving if carriers[other.name] is found]
                if len(names) > 1:
                    where = "the base" if found is None else _show(found.name)
                    fail(f"{where} carries {' and '.join(map(_show, names))}, expected a serial chain")
                fail(f"link {_show(link.name)} is not listed in the order in which the links carry each other")

        self.poses = poses = chain.poses(np.zeros(chain.n))
        axes = [poses[link.name][:3, :3] @ (link.axis / math.hypot(*link.axis.tolist())) for link in self.moving]
        self.axes = [_tidy(axis) for axis in axes]
        self.origins = [poses[link.name][:3, 3] for link in self.moving]
        self.size = max([1e-3, *(float(np.abs(p).max()) for p in self.origins)])

        welded: dict[str, list[Link]] = {link.name: [] for link in self.moving}
        for link in chain.links:
            below = carriers[link.name]
            if link.joint == "fixed" and below is not None:
                welded[below.name].append(link)
        self.parts: list[list[tuple[Link, Array]]] = []
        for link in self.moving:
            heavy = [part for part in (link, *welded[link.name]) if part.mass or part.inertia.any()]
            self.parts.append([(part, poses[part.name]) for part in heavy or [link]])

        last = self.moving[-1]
        ends = [link for link in welded[last.name] if not any(other.parent == link.name for other in chain.links)]
        known = [last.name, *(link.name for link in welded[last.name])]
        if tool is None:
            light = [link for link in ends if not link.mass]
            tool = (light or ends or [last])[-1].name
        elif not isinstance(tool, str) or tool not in poses:
            fail(f"tool: no link {_show(tool)}{did_you_mean(tool, chain.link_names)}")
        elif tool not in known:
            fail(
                f"tool is {_show(tool)}, expected {_show(last.name)}, the last moving link, or one that is fixed to it"
            )
        self.T = poses[tool]
        names = [link.name for link in self.moving]
        self.tool = free_name("tool", [*names, chain.base_name]) if tool in names else tool

    def body_in(self, i: int, frame: Array) -> Body:
        """What moves with joint i, in a frame that is given by its pose at q = 0."""
        back = _inverse(frame)
        return Body.compose([(link.body, _proper(back @ pose)) for link, pose in self.parts[i]])

    def common(self, chain: Chain, frames: Sequence[Array]) -> tuple[list[Body], dict[str, Any]]:
        """Bodies in their frames, and the arguments that both tables have in common."""
        with warnings.catch_warnings():  # what is suspicious about the data was reported when the chain was made
            warnings.simplefilter("ignore", ModelWarning)
            bodies = [self.body_in(i, frame) for i, frame in enumerate(frames)]
        values: dict[str, Any] = {
            key: np.array([getattr(link, key) for link in self.moving], dtype=np.float64) for key in _JOINT
        }
        names = tuple(link.name for link in self.moving)
        values |= {
            "names": names,
            "tool": self.tool,
            "gravity": chain.gravity,
            "name": chain.name,
            "base": chain.base_name,
        }
        return bodies, values


def _tidy(values: Array) -> Array:
    """Without the rounding errors of a product beside zeros and ones."""
    near = np.round(values)
    return np.where(np.abs(values - near) < 4e-15, near, values) + 0.0


def _inverse(T: Array) -> Array:
    back = np.eye(4)
    back[:3, :3] = T[:3, :3].T
    back[:3, 3] = -T[:3, :3].T @ T[:3, 3]
    return back


def _proper(T: Array) -> Array:
    T = T.copy()
    T[:3, :3] = _tidy(T[:3, :3])
    T[3] = 0.0, 0.0, 0.0, 1.0
    return T


def _snapped(angle: float) -> float:
    """An angle, that of a right angle where it is nearer to it than rounding errors tell."""
    near = round(angle / (math.pi / 2)) * (math.pi / 2)
    return near if abs(angle - near) < 4e-15 else angle


def to_dh(chain: Chain, convention: str, tool: object, parallel: float, fail: Fail) -> tuple[DHParameters, list[str]]:
    """Rows of a serial chain, and what should be known about their accuracy.

    Frame i-1 has its origin on the axis of joint i and z along it; x of frame i runs along the common normal from axis
    i to axis i+1. The last row is zero in the standard convention: what is left is the tool's.
    """
    as_choice(convention, fail, "convention", ("standard", "modified"))
    serial = _Serial(chain, tool, fail)
    n, u, p = chain.n, serial.axes, serial.origins
    tiny = 4e-15 * serial.size
    doubts: list[str] = []

    def length(x: float) -> float:
        return 0.0 if abs(x) < tiny else x

    # frame 0: at joint 1, x as near to that of the base as it can be
    x = np.eye(3)[0] if abs(u[0][0]) < 0.9 else np.eye(3)[1]
    x = _unit(x - u[0] * (u[0] @ x))
    origin = p[0]
    frames = [_frame(x, u[0], origin)]
    rows = np.zeros((n, 4))
    for i in range(n - 1):
        z, ahead, between = u[i], u[i + 1], p[i + 1] - origin
        normal = np.cross(z, ahead)
        sine = float(np.linalg.norm(normal))
        if sine <= parallel:
            across = between - z * (z @ between)
            a, d = length(float(np.linalg.norm(across))), 0.0
            x_next = across / a if a else x
        else:
            if sine < _NEARLY:
                names = " and ".join(_show(link.name) for link in serial.moving[i : i + 2])
                doubts.append(
                    f"the axes of {names} differ by {sine:.3g} rad from parallel: of their common normal about"
                    f" {math.log10(1 / sine):.0f} digits are lost"
                )
            x_next = normal / sine
            a, d = float(between @ x_next), float(np.cross(between, ahead) @ normal) / sine**2
            a, d = length(a), length(d)
            # towards the next axis; where they meet, the nearer of the two directions
            if a < 0 or (a == 0 and x_next @ x < -1e-9):
                a, x_next = -a, -x_next
        x_next = _tidy(x_next)
        rows[i] = (
            _snapped(math.atan2(float(np.cross(x, x_next) @ z), float(x @ x_next))),
            d,
            a,
            _snapped(math.atan2(float(np.cross(z, ahead) @ x_next), float(z @ ahead))),
        )
        origin = origin + d * z + a * x_next
        x = x_next if sine > parallel else _unit(x_next - ahead * (ahead @ x_next))
        frames.append(_frame(x, ahead, origin))

    frames.append(frames[-1])  # the last row is zero
    T_tool = _proper(_inverse(frames[-1]) @ serial.T)
    T_tool[:3, 3] = [length(x) for x in T_tool[:3, 3].tolist()]
    own = frames[1:]
    if convention == "modified":
        # Rx(alpha) Tx(a) of a row belongs to the next one
        own, shifted = [], np.zeros((n, 4))
        shifted[:, :2] = rows[:, :2]
        shifted[1:, 2:] = rows[:-1, 2:]
        for i in range(n):
            row = np.eye(4)
            row[:3, :3], row[2, 3] = about_axis(2, rows[i, 0]), rows[i, 1]
            own.append(frames[i] @ row)
        rows = shifted
    bodies, values = serial.common(chain, own)
    table = DHParameters(
        rows=rows + 0.0,
        convention=convention,
        joints=tuple(link.joint for link in serial.moving),
        base_pose=_proper(frames[0]),
        tool_pose=T_tool,
        masses=np.array([body.mass for body in bodies]),
        coms=np.array([body.com for body in bodies]),
        inertias=np.array([body.inertia for body in bodies]),
        **values,
    )
    return table, doubts


def _unit(vector: Array) -> Array:
    return _tidy(vector / np.linalg.norm(vector))


def _frame(x: Array, z: Array, origin: Array) -> Array:
    T = np.eye(4)
    T[:3, 0], T[:3, 1], T[:3, 2], T[:3, 3] = x, np.cross(z, x), z, origin
    return T


def to_textbook(chain: Chain, tool: object, fail: Fail) -> TextbookParameters:
    """Parameters of a serial chain: frame i at joint i+1 with z along its axis, frame n at the tool."""
    serial = _Serial(chain, tool, fail)
    frames = []
    for link, axis in zip(serial.moving, serial.axes, strict=True):
        W = serial.poses[link.name].copy()
        W[:3, :3] = _turned_to(W[:3, :3], axis)
        frames.append(W)
    frames.append(serial.T)
    steps = [_proper(_inverse(before) @ after) for before, after in pairwise(frames)]
    angles = np.array([[_snapped(x) for x in to_pyr(T[:3, :3]).tolist()] for T in steps])
    offsets = np.array([T[:3, :3].T @ T[:3, 3] for T in steps])
    bodies, values = serial.common(chain, frames[1:])
    base = _proper(frames[0])
    base_angles = np.array([_snapped(x) for x in to_pyr(base[:3, :3]).tolist()])
    return TextbookParameters(
        sigma=np.array([link.joint == "revolute" for link in serial.moving], dtype=np.int64),
        alpha=angles[:, 0],
        beta=angles[:, 1],
        gamma=angles[:, 2],
        l=offsets + 0.0,
        r=np.array([body.com for body in bodies]),
        m=np.array([body.mass for body in bodies]),
        J=np.array([body.inertia for body in bodies]),
        base_frame=(base_angles, base[:3, :3].T @ base[:3, 3] + 0.0),
        tool_frame=(np.zeros(3), np.zeros(3)),
        **values,
    )


def _turned_to(R: Array, axis: Array) -> Array:
    """The rotation nearest to R, among simple ones, whose z lies along the axis."""
    if np.abs(R[:, 2] - axis).max() < 4e-15:
        return R
    k = int(np.abs(R.T @ axis)[:2].argmin())  # x or y stays as near as it can
    keep = _unit(R[:, k] - axis * (axis @ R[:, k]))
    x = keep if k == 0 else np.cross(keep, axis)
    return np.column_stack([x, np.cross(axis, x), axis])
