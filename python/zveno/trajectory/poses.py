"""Paths of poses, straight and round, and what turns them into paths of joints."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, _show, as_amount, as_array, as_integer, failing
from .._rotation import as_pose, from_rotation_vector, shape_of, to_quaternion
from ..errors import InfeasibleError, UnreachableError
from .limits import Joints, as_chain, as_places
from .motion import JointPath, positions_within, require_joints
from .pieces import Pieces, cubic

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["PosePath", "PoseState", "arc", "joint_path", "line"]

_MOST: Final = 4097  # samples of a path of joints
_HALVINGS: Final = 20


class PoseState(NamedTuple):
    """Poses on a path, (..., 4, 4), and their rates by its parameter s: [v; w] in world axes, (..., 6)."""

    pose: Array
    twist: Array


class PosePath:
    """A path of poses T(s), s from 0 to 1, at constant linear and angular rates; made by `line` and `arc`.

    Attributes
    ----------
    length : float, m
        Way of the origin.
    angle : float, rad
        Turn of the axes.
    """

    __slots__ = ("_centre", "_first", "_kind", "_rotation", "_swing", "_turn", "_way", "angle", "length")

    length: float
    angle: float

    def __init__(
        self, first: Array, rotation: Array, turn: Array, way: Array, centre: Array | None, swing: Array | None
    ) -> None:
        self._first, self._rotation, self._turn, self._way = first, rotation, turn, way
        self._centre, self._swing = centre, swing  # of an arc: its centre, and axis times angle
        self.angle = float(np.linalg.norm(turn))
        if centre is None or swing is None:
            self._kind, self.length = "line", float(np.linalg.norm(way))
        else:
            self._kind = "arc"
            self.length = float(np.linalg.norm(swing) * np.linalg.norm(first - centre))

    def at(self, s: ArrayLike) -> PoseState:
        """Poses and their rates by s.

        Parameters
        ----------
        s : float or (...) array
            From 0 to 1.

        Returns
        -------
        state : PoseState
            ``pose`` (..., 4, 4) and ``twist`` (..., 6): [dp/ds; w], world axes, m and rad.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> way = zv.trajectory.line(np.eye(4), ([1.0, 0.0, 0.5], np.eye(3)))
        >>> way.at(0.5).pose[:3, 3], way.at(0.5).twist[:3]
        (array([0.5 , 0.  , 0.25]), array([1. , 0. , 0.5]))
        """
        fail = failing("PosePath.at")
        given = as_places(s, fail, "s")
        if not ((given >= -1e-12) & (given <= 1 + 1e-12)).all():
            fail(f"s is {_show(s)}, expected numbers from 0 to 1")
        s_ = given[..., None]
        pose = np.zeros((*given.shape, 4, 4))
        twist = np.empty((*given.shape, 6))
        pose[..., :3, :3] = from_rotation_vector(s_ * self._turn) @ self._rotation
        pose[..., 3, 3] = 1.0
        if self._centre is None or self._swing is None:
            pose[..., :3, 3] = self._first + s_ * self._way
            twist[..., :3] = self._way
        else:
            spoke = (from_rotation_vector(s_ * self._swing) @ (self._first - self._centre)[:, None])[..., 0]
            pose[..., :3, 3] = self._centre + spoke
            twist[..., :3] = np.cross(self._swing, spoke)
        twist[..., 3:] = self._turn
        return PoseState(pose, twist)

    def __repr__(self) -> str:
        return f"PosePath, {self._kind}: {self.length:.6g} m, {math.degrees(self.angle):.6g} deg"


def line(T0: Any, T1: Any) -> PosePath:
    """Straight path from one pose to another: p = p0 + s (p1 - p0), R = exp(s log(R1 R0^T)) R0.

    Parameters
    ----------
    T0, T1 : (4, 4) array, pair (position, rotation), or another form of a pose
        First and last pose, world axes, m.

    Returns
    -------
    path : PosePath

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> zv.trajectory.line(([0.5, 0.0, 0.2], np.eye(3)), ([0.5, 0.4, 0.2], turned))
    PosePath, line: 0.4 m, 90 deg
    """
    fail = failing("line")
    p0, R0 = as_pose(T0, fail, "T0")
    p1, R1 = as_pose(T1, fail, "T1")
    way, turn = p1 - p0, _turn(fail, R0, R1)
    if not (np.linalg.norm(way) > 0 or np.linalg.norm(turn) > 0):
        fail("T0 and T1 are the same pose, expected a path of some length")
    return PosePath(p0, R0, turn, way, None, None)


def arc(T0: Any, via: Any, T1: Any) -> PosePath:
    """Circular path through three points; the axes turn at a constant rate from the first pose to the last.

    Parameters
    ----------
    T0, T1 : (4, 4) array, pair (position, rotation), or another form of a pose
        First and last pose, world axes, m.
    via : (3,) array, m, or a pose
        A point of the circle between them; of a pose only the position counts.

    Returns
    -------
    path : PosePath

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> way = zv.trajectory.arc(([1.0, 0.0, 0.0], np.eye(3)), (0.0, 1.0, 0.0), ([-1.0, 0.0, 0.0], np.eye(3)))
    >>> way
    PosePath, arc: 3.14159 m, 0 deg
    >>> way.at(0.25).pose[:3, 3].round(4)
    array([0.7071, 0.7071, 0.    ])
    """
    fail = failing("arc")
    p0, R0 = as_pose(T0, fail, "T0")
    p1, R1 = as_pose(T1, fail, "T1")
    middle = as_array(via, fail, "via", (3,)) if shape_of(via) == (3,) else as_pose(via, fail, "via")[0]
    a, b = middle - p0, p1 - p0
    normal = np.cross(a, b)
    area, size = float(np.linalg.norm(normal)), float(max(np.linalg.norm(a), np.linalg.norm(b)))
    pairs = ((a, "T0 and via"), (b, "T0 and T1"), (p1 - middle, "via and T1"))
    for vector, names in pairs:
        if not np.linalg.norm(vector) > 1e-9 * size:
            fail(f"{names} are at the same place, expected three different points")
    if not area > 1e-9 * size**2:
        fail("T0, via and T1 lie on a line, expected a circle through them (use line)")
    centre = p0 + np.cross(a @ a * b - b @ b * a, normal) / (2 * area**2)
    axis = normal / area
    e1 = (p0 - centre) / np.linalg.norm(p0 - centre)
    e2 = np.cross(axis, e1)
    angle = math.atan2(float((p1 - centre) @ e2), float((p1 - centre) @ e1)) % (2 * math.pi)
    return PosePath(p0, R0, _turn(fail, R0, R1), b, centre, axis * angle)


def _turn(fail: Fail, R0: Array, R1: Array) -> Array:
    """Rotation vector of R1 R0^T, rad."""
    w, *v = to_quaternion(R1 @ R0.T).tolist()
    size = math.hypot(*v)
    angle = 2 * math.atan2(size, w)
    if angle > math.pi - 1e-6:
        fail("T1 is turned by 180 degrees from T0: there are two ways around, expected a path in two parts")
    return np.array(v) * (angle / size if size > 0 else 2.0)


def joint_path(
    poses: PosePath,
    ik: Callable[[Array, Array], Any],
    q0: ArrayLike,
    *,
    tolerance: float = 1e-6,
    largest_step: float = 0.3,
    samples: int = 33,
    arm: Chain | None = None,
    link: str | None = None,
) -> JointPath:
    """Path of joints that leads a link along a path of poses: a spline through solutions of inverse kinematics.

    Solutions are asked for from pose to pose, each from the one before; the poses are doubled until the spline meets
    the solutions between them within `tolerance`. A step of more than `largest_step` is halved: if it does not become
    smaller, the joints jump there from one branch to another, and that is an error.

    Parameters
    ----------
    poses : PosePath
    ik : callable
        ``ik(T, q0) -> q``: joint coordinates (n,) of the pose T (4, 4), near q0; or an object with ``q`` and ``status``
        (0 where found), as `lambda T, q0: arm.ik(T, q0=q0)` returns it. Errors that it raises pass
        through, but for `UnreachableError`, to which the place is added.
    q0 : (n,) array, rad or m
        Where the search for the first pose begins.
    tolerance : float, rad or m
        Of the joint coordinates between the poses that were solved.
    largest_step : float, rad or m
    samples : int
        Poses to begin with.
    arm : Chain, optional
        Names the joints; its limits of position are checked, and that `link` really is at the poses, to 1e-6 m and rad.
    link : str, optional
        Default: the last link of `arm`.

    Returns
    -------
    path : JointPath
        Over s from 0 to 1, with its ``deviation``.

    Raises
    ------
    InfeasibleError
        A pose without a solution, a wrong one, a jump, or a limit that is crossed: with s.

    Examples
    --------
    A slide that carries a link along x:

    >>> import numpy as np, zveno as zv
    >>> cart = zv.Chain([zv.Link("cart", joint="prismatic", axis=(1, 0, 0), mass=1.0)])
    >>> way = zv.trajectory.line(np.eye(4), ([0.5, 0.0, 0.0], np.eye(3)))
    >>> zv.trajectory.joint_path(way, lambda T, q0: T[:1, 3], [0.0], arm=cart)
    JointPath of 1 joint: s from 0 to 1, 32 pieces
    """
    who = "joint_path"
    fail = failing(who)
    if not isinstance(poses, PosePath):
        raise TypeError(f"{who}: poses is {_show(poses)}, expected a PosePath of line or arc")
    if not callable(ik):
        raise TypeError(f"{who}: ik is {_show(ik)}, expected a function ik(T, q0)")
    shape = shape_of(q0)
    if len(shape) != 1 or not shape[0]:
        fail(f"q0 has shape {shape}, expected (n,)")
    first = as_array(q0, fail, "q0", shape)
    close, far = (
        as_amount(x, fail, name, positive=True)
        for x, name in ((tolerance, "tolerance"), (largest_step, "largest_step"))
    )
    count = as_integer(who, "samples", samples, 4, _MOST)
    chain = None if arm is None else as_chain(arm, who)
    if chain is not None:
        require_joints(who, chain, len(first), "q0")
        link = chain.link_names[-1] if link is None else link
        if link not in chain.link_names:
            fail(f"link is {_show(link)}, expected one of {', '.join(map(repr, chain.link_names))}")

    def solve(s: float, near: Array) -> Array:
        return _solved(who, ik, poses.at(s).pose, near, s, chain, link)

    def between(s0: float, near: Array, s1: float, depth: int = 0) -> Array:
        """The solution at s1 that continues that at s0."""
        found = solve(s1, near)
        step = float(np.abs(found - near).max())
        if step <= far:
            return found
        if depth == _HALVINGS:
            j = int(np.abs(found - near).argmax())
            name = Joints.of(chain, len(near)).names[j]
            raise InfeasibleError(
                f"{who}: the joints jump at s = {s1:.6g}: joint '{name}' from {near[j]:.6g} to {found[j]:.6g}, from "
                "one branch of solutions to another",
                name, quantity="jump", value=step, limit=far, s=s1, q=near,
            )  # fmt: skip
        middle = 0.5 * (s0 + s1)
        return between(middle, between(s0, near, middle, depth + 1), s1, depth + 1)

    s = np.linspace(0.0, 1.0, count)
    rows = [solve(0.0, first)]
    for a, b in pairwise(s):
        rows.append(between(float(a), rows[-1], float(b)))
    q = np.array(rows)
    while True:
        curve = cubic(s, q, "not-a-knot")
        middles = 0.5 * (s[:-1] + s[1:])
        guesses = curve(middles)[0]
        found = np.array([solve(float(x), guess) for x, guess in zip(middles, guesses, strict=True)])
        deviation = float(np.abs(found - guesses).max())
        if deviation <= close:
            break
        if 2 * len(s) - 1 > _MOST:
            worst = float(middles[np.abs(found - guesses).max(axis=1).argmax()])
            raise InfeasibleError(
                f"{who}: the joints move too fast at s = {worst:.6g} for a spline: off by {deviation:.3g} with "
                f"{len(s)} poses, expected {close:g} (near a singular pose?)",
                quantity="jump", value=deviation, limit=close, s=worst, q=curve(np.array(worst))[0],
            )  # fmt: skip
        every = np.empty((2 * len(s) - 1, q.shape[1]))
        every[::2], every[1::2] = q, found
        s, q = np.linspace(0.0, 1.0, len(every)), every
    if chain is not None:
        positions_within(who, curve, chain, "s")
    return JointPath(Pieces(curve.breaks, curve.coefficients), Joints.of(chain, q.shape[1]), deviation)


def _solved(
    who: str,
    ik: Callable[[Array, Array], Any],
    pose: Array,
    near: Array,
    s: float,
    chain: Chain | None,
    link: str | None,
) -> Array:
    """A solution, or an error that names s."""
    try:
        answer = ik(pose, near)
    except UnreachableError as error:
        raise InfeasibleError(
            f"{who}: ik finds no solution at s = {s:.6g}: {str(error).removeprefix('ik: ')}",
            quantity="pose",
            s=s,
            q=near,
        ) from error
    status = getattr(answer, "status", 0)
    if np.any(np.asarray(status) != 0):
        residual = getattr(answer, "residual", None)
        more = "" if residual is None else f", residual {float(np.max(residual)):.3g}"
        raise InfeasibleError(
            f"{who}: ik finds no solution at s = {s:.6g} (status {_show(status)}{more})",
            quantity="pose", s=s, q=near,
        )  # fmt: skip
    value = getattr(answer, "q", answer)

    def fail(text: str) -> Any:
        raise InfeasibleError(f"{who}: {text} at s = {s:.6g}", quantity="pose", s=s, q=near)

    q = as_array(value, fail, "what ik returns", near.shape)
    if chain is not None and link is not None:
        there = chain.pose(q, link)
        place = float(np.linalg.norm(there[:3, 3] - pose[:3, 3]))
        turn = float(np.linalg.norm(there[:3, :3] - pose[:3, :3])) / math.sqrt(2)
        if max(place, turn) > 1e-6:
            fail(f"ik is wrong: link '{link}' misses the pose by {place:.3g} m and {turn:.3g} rad")
    return q
