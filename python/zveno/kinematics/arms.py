"""Inverse kinematics of chains: numeric for any chain or tree, closed forms for the arms that have one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import (
    Array,
    _show,
    as_amount,
    as_array,
    as_choice,
    as_flag,
    as_integer,
    as_number,
    as_raw,
    did_you_mean,
    failing,
)
from .._rotation import as_pose
from ..errors import ModelError, ModelWarning, UnreachableError
from ..model.link import Link
from ..results import ClosedFormSolutions, InverseKinematics
from .six_revolute import SixRevolute

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["ik", "ik_all"]

_EVERYTHING: Final = (True,) * 6
_STARTS: Final = 300
_ON_ERROR: Final = ("raise", "nan")
_SEED: Final = 0
_TOLERANCE: Final = 1e-6  # m and rad
_BAD_INPUT: Final = 4  # statuses from here on are about the arguments
_LIMITS: Final = 2
_JUMP: Final = 6  # and from here on about paths
_STANDS: Final = 1e-6  # rad or m: a start that near to a solution is one
_BRANCHES: Final = 64  # of a path, that are tried
_SECOND_LOOK: Final = 20  # starts after a closed form that has found nothing: what is left of the way
_USED_BY_IK: Final = frozenset(("point", "parallel", "scara", "five", "position"))
# what a status says, after the name of the model
_WORDS: Final = (
    "found",
    "was not brought to the target from any start",
    "reaches the target only outside of the joint limits",
    "cannot reach the target",
    "has a target or a start that is not finite",
    "has a target whose R is not a rotation",
    "cannot follow the path",
    "cannot follow the path through a singularity",
)


class _Known:
    """What is asked of a chain again and again, worked out once."""

    __slots__ = ("_carrying", "_six", "_tips", "all_quickly", "lower", "middle", "names", "quickly", "reaches", "upper")

    def __init__(self, chain: Chain) -> None:
        self.lower, self.upper = low, high = chain.lower, chain.upper
        both = np.isfinite(low) & np.isfinite(high)
        centre = 0.5 * (np.where(both, low, 0.0) + np.where(both, high, 0.0))
        self.middle: Array = np.where(both, centre, np.clip(0.0, low, high))  # or zero
        carrying = {link.parent for link in chain.links}
        self.names = frozenset(chain.link_names)
        self._tips = [name for name in chain.link_names if name not in carrying]
        self.reaches: dict[Any, _core.Reach] = {}
        self._carrying: dict[str, list[int]] = {}
        self._six: dict[str, SixRevolute | None] = {}
        # by the argument `link`: for one target with nothing else said, once it is known that all is well
        self.quickly: dict[str | None, Callable[[Any, Any], InverseKinematics | None]] = {}
        self.all_quickly: dict[str | None, Callable[[Any, Any, bool], ClosedFormSolutions | None]] = {}

    @classmethod
    def of(cls, chain: Chain) -> _Known:
        found: _Known | None = chain.__dict__.get("_known_for_ik")
        if found is None:
            found = chain.__dict__["_known_for_ik"] = cls(chain)
        return found

    def link(self, function: str, chain: Chain, link: object) -> str:
        """The name of a link; of None the one link that carries no other."""
        if isinstance(link, str) and link in self.names:
            return link
        if link is not None:
            hint = did_you_mean(link, chain.link_names)
            raise ValueError(f"{function}: no link {_show(link)} in model '{chain.name}'{hint}")
        if len(self._tips) > 1:
            raise ValueError(
                f"{function}: model '{chain.name}' has {len(self._tips)} last links ({', '.join(self._tips[:6])}"
                f"{', ...' if len(self._tips) > 6 else ''}), expected link= to name one"
            )
        return self._tips[0]

    def reach(self, function: str, chain: Chain, wishes: tuple[tuple[str, tuple[bool, ...]], ...]) -> _core.Reach:
        """The part of the model that carries the frames."""
        found = self.reaches.get(wishes)
        if found is None:
            listed = [(name, list(held)) for name, held in wishes]
            try:
                found = self.reaches[wishes] = _core.Reach(chain, listed, self.lower, self.upper, self.middle)
            except ModelError as error:
                raise ValueError(f"{function}: {error} of model '{chain.name}'") from None
        return found

    def carrying(self, chain: Chain, link: str) -> list[int]:
        """The joints that move a link."""
        found = self._carrying.get(link)
        if found is None:
            q = np.random.default_rng(0).uniform(-1, 1, chain.n)
            found = self._carrying[link] = np.flatnonzero(np.abs(chain.jacobian(q, link)).max(axis=0) > 0).tolist()
        return found

    def six(self, chain: Chain, link: str, reach: _core.Reach) -> SixRevolute | None:
        """The general solution of six revolute joints, where they can move the link in all directions."""
        if link not in self._six:
            joints = self.carrying(chain, link)
            made = None
            if len(joints) == 6 and all(chain.joint_types[j] == "revolute" for j in joints):
                made = SixRevolute(chain, link, reach)
            self._six[link] = made if made is not None and made.moves else None
        return self._six[link]

    def refuse_start(self, chain: Chain, q0: Any) -> None:
        """Refuse a start outside of the limits; other faults are left for the core."""
        try:
            start = np.asarray(q0, dtype=np.float64)
        except (TypeError, ValueError):
            return
        if start.shape[-1:] != (chain.n,):
            return
        outside = (start < self.lower - 1e-9) | (start > self.upper + 1e-9)
        if outside.any():
            *row, joint = np.argwhere(outside)[0].tolist()
            where = f" in row {np.ravel_multi_index(row, start.shape[:-1])}" if row else ""
            raise ValueError(
                f"ik: q0 of joint '{chain.joint_names[joint]}' is {start[(*row, joint)]:.6g}{where}, outside of its "
                f"limits {self.lower[joint]:.6g} to {self.upper[joint]:.6g}; limits=False leaves them out"
            )


def _mask(function: str, mask: object) -> tuple[bool, ...]:
    """Six flags: which components are held."""
    if mask is None:
        return _EVERYTHING
    fail = failing(function)
    items = list(mask) if isinstance(mask, Iterable) and not isinstance(mask, str | bytes) else []
    if len(items) != 6:
        fail(f"mask is {_show(mask)}, expected six flags: x, y, z along base axes, turns about x, y, z of the target")
    flags = tuple(
        as_flag(x.item() if isinstance(x, np.generic) else x, fail, f"mask[{i}]") for i, x in enumerate(items)
    )
    if not any(flags):
        fail("mask holds no component, expected at least one")
    return flags


def _poses(function: str, name: str, value: Any) -> Any:
    """A pose in any of its forms as a (..., 4, 4) array; arrays are left for the core to check."""
    if isinstance(value, np.ndarray):
        return value
    r, R = as_pose(value, failing(function), name, lead=True, exact=False)
    lead = np.broadcast_shapes(r.shape[:-1], R.shape[:-2])
    T = np.zeros((*lead, 4, 4))
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, r, 1.0
    return T


def _tolerances(tolerance: object) -> tuple[float, float]:
    if tolerance == _TOLERANCE:
        return _TOLERANCE, _TOLERANCE
    fail = failing("ik")
    both = (tolerance, tolerance) if np.ndim(tolerance) == 0 else tuple(tolerance)  # type: ignore[arg-type]
    if len(both) != 2:
        fail(f"tolerance is {_show(tolerance)}, expected a number or two: m, rad")
    gap, turn = (as_amount(x, fail, "tolerance", positive=True) for x in both)
    if min(gap, turn) < 1e-12:
        fail(f"tolerance is {_show(tolerance)}, expected at least 1e-12: rounding is larger")
    return gap, turn


def _beyond(
    chain: Chain,
    reach: _core.Reach,
    targets: list[Any],
    q0: Any,
    known: _Known,
    row: int,
    lead: tuple[int, ...],
    seed: int,
) -> tuple[int, float] | None:
    """The joint that has to leave its limits for a target, and its value: of the solution that leaves them least."""
    one = [np.ascontiguousarray(np.broadcast_to(T, (*lead, 4, 4)).reshape(-1, 4, 4)[row]) for T in targets]
    start = known.middle if q0 is None else np.broadcast_to(q0, (*lead, chain.n)).reshape(-1, chain.n)[row]
    if reach.family in _USED_BY_IK:
        every = reach.closed(one, start, known.middle, None, False, 1).q
    else:
        q, status, *_ = reach.solve(one, start, known.middle, False, False, _TOLERANCE, _TOLERANCE, 40, seed, 1)
        every = q[None][np.ravel(status) == 0]
    if not len(every):
        return None
    turning = np.array([kind == "revolute" for kind in chain.joint_types])
    low, high = known.lower, known.upper
    with np.errstate(invalid="ignore"):
        up, down = np.ceil((low - every) / (2 * np.pi)), np.floor((high - every) / (2 * np.pi))
    # whole turns: the first above the lower limit, or the last below the upper one, whichever is less far outside
    choices = [
        np.where(turning & np.isfinite(k), every + 2 * np.pi * np.where(np.isfinite(k), k, 0), every)
        for k in (up, down)
    ]
    away = [np.maximum(np.maximum(low - q, q - high), 0.0) for q in choices]
    every, off = np.where(away[0] <= away[1], *choices), np.minimum(*away)
    best = int(off.max(axis=1).argmin())
    joint = int(off[best].argmax())
    return (joint, float(every[best, joint])) if off[best, joint] > 0 else None


def _raise(
    chain: Chain, answer: InverseKinematics, beyond: Callable[[int], tuple[int, float] | None] | None = None
) -> NoReturn:
    """The error of the first row that was not solved; beyond(row): the joint that would leave its limits."""
    status = np.ravel(answer.status)
    row = int(np.flatnonzero(status)[0])
    code = int(status[row])
    batch = np.ndim(answer.status) > 0
    text = f"ik: model '{chain.name}' {_WORDS[code]}{f' in row {row}' if batch else ''}"
    if code >= _JUMP:
        before, after = np.reshape(answer.q, (-1, chain.n))[[row - 1, row]]
        joint = int(np.argmax(np.abs(after - before)))
        error = UnreachableError(
            f"{text} without a jump: joint '{chain.joint_names[joint]}' from {before[joint]:.6g} to {after[joint]:.6g}",
            row=row,
            cause="jump" if code == _JUMP else "singular",
        )
        error.q = after.copy()
        raise error
    if code >= _BAD_INPUT:
        raise ValueError(text)
    gap, turn = np.reshape(answer.residual, (-1, 2))[row].tolist()
    crossed = beyond(row) if beyond is not None and code == _LIMITS else None
    if crossed is not None:
        joint, value = crossed
        text += f": joint '{chain.joint_names[joint]}' would be at {value:.6g}, limits {chain.lower[joint]:.6g} to "
        text += f"{chain.upper[joint]:.6g}; inside"
    error = UnreachableError(
        f"{text}: {gap:.3g} m and {turn:.3g} rad are left",
        row=row if batch else None,
        cause=("not found", "limits", "out of reach")[code - 1],
        margin=gap,
    )
    error.joints = () if crossed is None else (chain.joint_names[crossed[0]],)
    error.gap, error.angle, error.q = gap, float(np.degrees(turn)), np.reshape(answer.q, (-1, chain.n))[row].copy()
    raise error


def _closed_first(
    reach: _core.Reach,
    targets: list[Any],
    q0: Any,
    middle: Array,
    limits: bool,
    gap: float,
    turn: float,
    starts: int,
    seed: int,
    threads: Any,
) -> InverseKinematics:
    """The nearest solution of the closed form; where it has none, what the numeric method comes nearest to."""
    q, status, residual = reach.nearest_closed(targets, q0, middle, limits, threads)
    none, one = np.zeros(status.shape, np.int32), np.ones(status.shape, np.int32)
    answer = InverseKinematics(q, status, residual, none, one)
    failed = status != 0
    if failed.any():
        T = np.broadcast_to(targets[0], (*status.shape, 4, 4))[failed]
        start = None if q0 is None else np.broadcast_to(q0, (*status.shape, q.shape[-1]))[failed]
        again = reach.solve([T], start, middle, limits, False, gap, turn, starts, seed, threads, np.flatnonzero(failed))
        first = status[failed]
        arrays: tuple[NDArray[Any], ...] = answer
        for array, values in zip(arrays, again, strict=True):
            array[failed] = values
        status[failed] = np.where(again[1] == 1, first, again[1])
    return answer


def _followed(
    chain: Chain,
    reach: _core.Reach,
    link: str,
    whole: bool,
    targets: list[Any],
    q0: Any,
    known: _Known,
    limits: bool,
    gap: float,
    turn: float,
    starts: int,
    seed: int,
) -> InverseKinematics:
    """Targets as one path, of which the first is solved by itself."""
    fail = failing("ik")
    shapes = [np.shape(T) for T in targets]
    if any(len(shape) != 3 for shape in shapes):
        fail(f"T has shape {next(s for s in shapes if len(s) != 3)}, expected (m, 4, 4) for a path")
    if any(shape[0] == 0 for shape in shapes):
        fail("T has no poses, expected a path of at least one")
    start = known.middle if q0 is None else as_array(q0, fail, "q0", (chain.n,))
    first = [T[0] for T in targets]
    if reach.family in _USED_BY_IK:
        at = _closed_first(reach, first, start, known.middle, limits, gap, turn, min(starts, _SECOND_LOOK), seed, None)
    else:
        at = InverseKinematics(*reach.solve(first, start, known.middle, limits, False, gap, turn, starts, seed, None))
    if at.status:
        _raise(chain, at)
    way = InverseKinematics(*reach.follow(targets, at.q, limits, gap, turn, starts, seed))
    stands = q0 is not None and np.abs(at.q - start).max() < _STANDS
    if not way.status.any() or stands or (way.status == _BAD_INPUT).any() or len(targets) > 1:
        return way
    for q in _other_starts(chain, reach, link, whole, first[0], start, at.q, limits, known):
        other = InverseKinematics(*reach.follow(targets, q, limits, gap, turn, starts, seed))
        if not other.status.any():
            return other
    return way


def _other_starts(
    chain: Chain,
    reach: _core.Reach,
    link: str,
    whole: bool,
    T: Any,
    start: Array,
    taken: Array,
    limits: bool,
    known: _Known,
) -> list[Array]:
    """Other solutions of the first pose of a path, nearest to the start first."""
    if reach.family in _USED_BY_IK:
        every = reach.closed([T], start, known.middle, None, limits, 1).q
    elif whole and not reach.family and (six := known.six(chain, link, reach)) is not None:
        every = six.solutions(T[None], start[None], known.lower, known.upper, limits, 1)[0]
    else:
        return []
    away = np.abs(every - start).max(axis=1)
    order = [i for i in np.argsort(away, kind="stable") if np.abs(every[i] - taken).max() > _STANDS]
    return [every[i] for i in order[:_BRANCHES]]


def ik(
    self: Chain,
    T: Any,
    link: str | None = None,
    q0: ArrayLike | None = None,
    mask: Iterable[bool] | None = None,
    limits: bool = True,
    tolerance: float | tuple[float, float] = _TOLERANCE,
    restarts: SupportsIndex = _STARTS,
    nearest: bool = False,
    *,
    path: bool = False,
    seed: SupportsIndex = _SEED,
    on_error: str = "raise",
    threads: SupportsIndex | None = None,
) -> InverseKinematics:
    """Joint coordinates that bring a link, or several, to wanted poses.

    The nearest solution of the closed form where the arm has one, see `ik_all`; else Levenberg's method on
    ``e = [(p* - p)/Ls; log(R* R')]``, with limits inside and restarts that depend on nothing but the row. Nothing that
    misses the tolerance is returned.

    Parameters
    ----------
    T : pose, or dict of str to pose
        Of `link` in the base frame: (..., 4, 4), a pair (r, R) or another form of a pose. A dict names several links,
        which are brought to their poses at once.
    link : str, optional
        Default: the one last link of the chain.
    q0 : (..., n) array, rad or m, optional
        First start; joints that carry no target stay there. Default: the middle of the limits, or zero.
    mask : six flags, optional
        Components that are held: places along base axes x, y, z, turns about axes x, y, z of the target.
    limits : bool
        Stay inside of `lower` and `upper`; the limits themselves are inside.
    tolerance : float or (float, float), m and rad
    restarts : int
        Starts after the first one.
    nearest : bool
        Continue until five further starts bring nothing nearer to q0 (numeric method; a closed form always gives the
        nearest).
    path : bool
        T (m, 4, 4) are poses along a path, of which each gets the continuation of the solution before, not just a
        solution nearby: Newton's method from there is certain to stay on the branch, where a step is too long for that
        it is cut into parts, along a line and about one axis. Of the solutions of the first pose it begins with the one
        nearest to q0 from which the whole path can be followed; with q0 itself if that is a solution. Where there is no
        continuation, at a singularity or a limit, the row has status 6 or 7 and the nearest solution on another branch,
        from which the path goes on.
    seed : int
        Added to the number of the row that seeds its starts.
    on_error : {"raise", "nan"}
    threads : int, optional

    Returns
    -------
    InverseKinematics
        q (..., n), status (...), residual (..., 2) in m and rad, iterations (...), starts (...), of a path the parts of
        each step.

    Raises
    ------
    UnreachableError
        A target that is not reached, with what is left of the way (``gap`` in m, ``angle`` in degrees) and the best q;
        a path that jumps, with the row (``row``).
    ValueError
        A matrix that is no rotation, an unknown link, a start outside of the limits, numbers that are not finite.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.puma560()
    >>> T = arm.pose([0.1, -0.6, 0.4, 0.3, 0.5, -0.2], "link6")
    >>> arm.ik(T, q0=np.zeros(6)).q.round(6)
    array([ 0.1, -0.6,  0.4,  0.3,  0.5, -0.2])
    >>> two = zv.robots.two_link()
    >>> s = two.ik(np.eye(4), q0=[0.3, 0.3], mask=(1, 0, 1, 0, 0, 0), on_error="nan")  # the tip at the base
    >>> bool(s.ok), two.pose(s.q, "tip")[:3, 3].round(5) + 0.0
    (True, array([0., 0., 0.]))
    """
    if (
        mask is None
        and limits is True
        and tolerance is _TOLERANCE
        and restarts is _STARTS
        and nearest is False
        and path is False
        and seed is _SEED
        and threads is None
        and on_error in _ON_ERROR
        and (link is None or type(link) is str)
        and (ready := self.__dict__.get("_known_for_ik")) is not None
        and (quick := ready.quickly.get(link)) is not None
        and (at_once := quick(T, q0)) is not None
    ):
        return at_once  # type: ignore[no-any-return]
    function = "ik"
    fail = failing(function)
    known = _Known.of(self)
    held = _EVERYTHING if mask is None else _mask(function, mask)
    if isinstance(T, Mapping) and not set(T) <= {"r", "R", "quaternion"}:
        if link is not None:
            fail(f"link is {_show(link)} while T names its links, expected one of the two")
        wishes = tuple((known.link(function, self, name), held) for name in T)
        targets = [_poses(function, f"T[{_show(name)}]", value) for name, value in T.items()]
        if not targets:
            fail("T is empty, expected a pose for at least one link")
    else:
        wishes = ((known.link(function, self, link), held),)
        targets = [_poses(function, "T", T)]
    single = len(wishes) == 1 and wishes[0][1] is _EVERYTHING and (link is None or type(link) is str)
    limits, nearest = as_flag(limits, fail, "limits"), as_flag(nearest, fail, "nearest")
    gap, turn = _tolerances(tolerance)
    starts = as_integer(function, "restarts", restarts, 0, 10**6) + 1
    as_choice(on_error, fail, "on_error", _ON_ERROR)
    number = as_integer(function, "seed", seed, 0, 2**62)
    if q0 is not None and limits:
        known.refuse_start(self, q0)
    reach = known.reach(function, self, wishes)
    middle = known.middle
    if as_flag(path, fail, "path"):
        answer = _followed(
            self, reach, wishes[0][0], held is _EVERYTHING, targets, q0, known, limits, gap, turn, starts, number
        )
        if answer.status.any():
            if on_error == "raise":
                _raise(self, answer)
            answer.q[(answer.status != 0) & (answer.status < _JUMP)] = np.nan
        return answer
    if single and not isinstance(T, Mapping):
        known.quickly[link] = reach.one
    if reach.family in _USED_BY_IK and min(gap, turn) >= 1e-9:
        answer = _closed_first(
            reach, targets, q0, middle, limits, gap, turn, min(starts, _SECOND_LOOK), number, threads
        )
    else:
        answer = InverseKinematics(
            *reach.solve(targets, q0, middle, limits, nearest, gap, turn, starts, number, threads)
        )
    if answer.status.any():
        if on_error == "raise":
            lead = np.shape(answer.status)
            _raise(self, answer, lambda row: _beyond(self, reach, targets, q0, known, row, lead, number))
        answer.q[answer.status != 0] = np.nan
    return answer


def ik_all(
    self: Chain,
    T: Any,
    link: str | None = None,
    swivel: ArrayLike | None = None,
    locked: Mapping[str, float] | None = None,
    mask: Iterable[bool] | None = None,
    *,
    limits: bool = True,
    q0: ArrayLike | None = None,
    threads: SupportsIndex | None = None,
) -> ClosedFormSolutions:
    """Every solution of an arm: all branches, all whole turns inside of the limits.

    Closed forms are known of six joints of which three consecutive axes meet in a point (a spherical wrist, at any
    place) or are parallel (UR), three joints that carry a point, SCARA, three parallel axes, five joints with axes
    2, 3, 4 parallel, and seven joints with spherical shoulder and wrist. What is nearly so, as in files with rounded
    angles, is solved as if it were and polished on the model itself. Other six revolute joints are solved by
    eigenvalues, a thousand times slower. Every solution has been put through the forward kinematics: its pose is
    within 1e-11.

    Parameters
    ----------
    T : pose
        Of `link` in the base frame: (..., 4, 4), a pair (r, R) or another form of a pose.
    link : str, optional
        Default: the one last link of the chain.
    swivel : float or (...) array, rad, optional
        Of seven joints with spherical shoulder and wrist: turn of the elbow about the line from shoulder to wrist, from
        the plane of this line and the first axis.
    locked : dict of str to float, rad or m, optional
        Joints that are held, so that the others have a closed form.
    mask : six flags, optional
        ``(1, 1, 1, 0, 0, 0)`` for three joints that carry a point; ``(1, 1, 1, 1, 1, 0)`` for five joints that bring a
        link to a place and its z axis to a direction, or the same with another axis.
    limits : bool
        Inside of the limits, with all whole turns; else every branch once, angles in (-pi, pi].
    q0 : (..., n) array, rad or m, optional
        Whole turns of a branch are in order of the distance from it, and a joint that a singular wrist leaves free is
        there. Default: the middle of the limits, and zero.
    threads : int, optional

    Returns
    -------
    ClosedFormSolutions
        q (k, n), configuration (k, 3), singular (k,), free (k, n), branch (k,) ...; perhaps none, then ``missing``
        tells how far away the pose is.

    Raises
    ------
    ValueError
        An arm without closed form, with the reason; a matrix that is no rotation; an unknown link.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.kawasaki_fs020n()
    >>> T = arm.pose(np.radians([25, 40, -70, 35, -50, 120]), "tool")
    >>> s = arm.ik_all(T)
    >>> bool(np.allclose(arm.pose(s.q, "tool"), T, atol=1e-12))
    True
    >>> sorted(set(s.names))
    ['- + +', '- + -', '- - +', '- - -']
    >>> T[0, 3] += 3.0
    >>> far = arm.ik_all(T)
    >>> len(far.q), float(far.missing.round(3))
    (0, 2.142)
    """
    if (
        swivel is None
        and locked is None
        and mask is None
        and threads is None
        and type(limits) is bool
        and (link is None or type(link) is str)
        and (ready := self.__dict__.get("_known_for_ik")) is not None
        and (quick := ready.all_quickly.get(link)) is not None
        and (at_once := quick(T, q0, limits)) is not None
    ):
        return at_once  # type: ignore[no-any-return]
    function = "ik_all"
    fail = failing(function)
    known = _Known.of(self)
    name = known.link(function, self, link)
    held = _EVERYTHING if mask is None else _mask(function, mask)
    limits = as_flag(limits, fail, "limits")
    if isinstance(q0, np.ndarray | list | tuple):
        _require_finite(q0, fail)
    if locked is not None:
        return _with_locked(self, T, name, swivel, locked, mask, limits, q0, threads)
    reach = known.reach(function, self, ((name, held),))
    if not reach.family:
        if swivel is not None and held is _EVERYTHING and known.six(self, name, reach) is not None:
            fail(f"swivel is {_show(swivel)}, but model '{self.name}' has no swivel: six joints carry link '{name}'")
        if sum(held) == 5 and all(held[:3]) and len(known.carrying(self, name)) == 5:
            return _with_spin(self, T, name, held.index(False) - 3, swivel, limits, q0, threads)
        if held is _EVERYTHING and (six := known.six(self, name, reach)) is not None:
            return _general(self, T, six, limits, q0, threads)
        fail(f"model '{self.name}' has no closed form for link '{name}': {reach.what}; `ik` finds solutions of any arm")
    angle: Any = None
    if reach.family == "swivel":
        if swivel is None:
            fail(
                f"model '{self.name}' has seven joints, expected swivel=, the angle of its elbow about the line from "
                "shoulder to wrist, or locked={joint: value}"
            )
        angle = np.asarray(as_raw(swivel, fail, "swivel"), dtype=np.float64, order="C")
        if not np.isfinite(angle).all():
            fail(f"swivel is {_show(swivel)}, expected finite angles")
    elif swivel is not None:
        fail(f"swivel is {_show(swivel)}, but model '{self.name}' has no swivel: {reach.what}")
    poses = _poses(function, "T", T)
    if angle is not None and angle.ndim:
        try:
            lead = np.broadcast_shapes(poses.shape[:-2], angle.shape)
        except ValueError:
            fail(f"swivel has shape {angle.shape}, which does not broadcast with {poses.shape[:-2]} poses")
        poses = np.ascontiguousarray(np.broadcast_to(poses, (*lead, 4, 4)))
        angle = np.ascontiguousarray(np.broadcast_to(angle, lead))
    try:
        found: ClosedFormSolutions = reach.closed([poses], q0, known.middle, angle, limits, threads)
    except ValueError:
        as_pose(T, fail, "T", lead=True)  # says what is wrong with it
        raise
    if poses.ndim == 2:
        found._first, found._missing, found._outside = None, float(found.missing), int(found.outside)
    if reach.family != "swivel" and held is _EVERYTHING and (link is None or type(link) is str):
        known.all_quickly[link] = reach.one_all
    return found


def _rows_of_q(q0: Any, n: int) -> Array:
    """q0 as (..., n) numbers."""
    fail = failing("ik_all")
    rows = as_raw(q0, fail, "q0", lambda: f" of shape (..., {n})").astype(np.float64)
    if rows.shape[-1:] != (n,):
        fail(f"q0 has shape {rows.shape}, expected (..., {n})")
    return rows


def _require_finite(q0: Any, fail: Callable[[str], NoReturn]) -> None:
    """Refuse numbers that are not; other faults are left for later."""
    try:
        rows = np.asarray(q0, dtype=np.float64)
    except (TypeError, ValueError):
        return
    if not np.isfinite(rows).all():
        fail(f"q0 is {_show(q0)}, expected finite numbers")


def _general(chain: Chain, T: Any, six: SixRevolute, limits: bool, q0: Any, threads: Any) -> ClosedFormSolutions:
    """Solutions of six revolute joints without a closed form: eigenvalues."""
    fail = failing("ik_all")
    r, R = as_pose(T, fail, "T", lead=True)
    lead = np.broadcast_shapes(r.shape[:-1], R.shape[:-2])
    known = _Known.of(chain)
    rest = known.middle if q0 is None else _rows_of_q(q0, chain.n)
    try:
        lead = np.broadcast_shapes(lead, rest.shape[:-1])
    except ValueError:
        fail(f"q0 has shape {rest.shape}, which does not broadcast with {lead} poses")
    poses = np.zeros((*lead, 4, 4))
    poses[..., :3, :3], poses[..., :3, 3], poses[..., 3, 3] = R, r, 1.0
    rows = np.broadcast_to(rest, (*lead, chain.n)).reshape(-1, chain.n)
    try:
        q, notes, first, outside, free = six.solutions(
            poses.reshape(-1, 4, 4), rows, known.lower, known.upper, limits, threads
        )
    except ValueError as error:
        if str(error).startswith("ik: threads"):
            fail(str(error).removeprefix("ik: "))
        raise
    missing = np.where((np.diff(first) == 0) & (outside == 0), np.nan, 0.0).reshape(lead)
    if not lead:
        return ClosedFormSolutions._made(q, notes, None, float(missing), int(outside[0]), free)
    return ClosedFormSolutions._made(q, notes, first, missing, outside.reshape(lead), free)


def _with_spin(
    chain: Chain, T: Any, link: str, axis: int, swivel: Any, limits: bool, q0: Any, threads: Any
) -> ClosedFormSolutions:
    """Solutions of five joints for a place and a direction: those of six, the last one about that direction, (K20)."""
    fail = failing("ik_all")
    known: dict[Any, Chain] = chain.__dict__.setdefault("_spinning_arms", {})
    tool = "spin of " + link
    if (link, axis) not in known:
        turning = Link(tool, parent=link, axis=np.eye(3)[axis])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            known[link, axis] = chain._with(links=(*chain.links, turning))
    more = known[link, axis]
    six = SixRevolute(more, tool, _Known.of(more).reach("ik_all", more, ((tool, _EVERYTHING),)))
    if not six.moves:
        fail(
            f"the {'xyz'[axis]} axis of link '{link}', about which mask leaves the turn free, is one that joints of "
            f"model '{chain.name}' turn about anyway, expected a direction that they do not; `ik` does such an arm"
        )
    start = None
    if q0 is not None:
        start = _rows_of_q(q0, chain.n)
        start = np.concatenate([start, np.zeros((*start.shape[:-1], 1))], axis=-1)
    found = ik_all(more, T, tool, swivel, limits=limits, q0=start, threads=threads)
    n = chain.n
    q, free = np.ascontiguousarray(found.q[:, :n]), np.ascontiguousarray(found.free[:, :n])
    return ClosedFormSolutions._made(q, found._notes, found._first, found._missing, found._outside, free)


def _with_locked(
    chain: Chain, T: Any, link: str, swivel: Any, locked: Any, mask: Any, limits: bool, q0: Any, threads: Any
) -> ClosedFormSolutions:
    """Solutions with some joints held: those of a chain without them."""
    fail = failing("ik_all")
    if not isinstance(locked, Mapping) or not locked:
        fail(f"locked is {_show(locked)}, expected a dict of joint names and values")
    for name, value in locked.items():
        if name not in chain.joint_names:
            fail(f"no joint {_show(name)} in model '{chain.name}'{did_you_mean(name, chain.joint_names)}")
        i, value = chain.joint_names.index(name), as_number(value, fail, f"locked['{name}']")
        if limits and not chain.lower[i] - 1e-9 <= value <= chain.upper[i] + 1e-9:
            fail(f"locked['{name}'] is {value:.6g}, outside of its limits {chain.lower[i]:.6g} to {chain.upper[i]:.6g}")
    key = tuple(sorted((name, float(value)) for name, value in locked.items()))
    known: dict[Any, Any] = chain.__dict__.setdefault("_locked_arms", {})
    if len(known) > 64:
        known.clear()
    if key not in known:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            known[key] = chain.with_locked(dict(key))
    rest = known[key]
    moving = [i for i, name in enumerate(chain.joint_names) if name not in locked]
    held = [i for i, name in enumerate(chain.joint_names) if name in locked]
    start = None if q0 is None else _rows_of_q(q0, chain.n)[..., moving]
    found = ik_all(rest, T, link, swivel, None, mask, limits=limits, q0=start, threads=threads)
    q, free = np.empty((len(found.q), chain.n)), np.zeros((len(found.q), chain.n))
    q[:, moving], free[:, moving] = found.q, found.free
    q[:, held] = [locked[chain.joint_names[i]] for i in held]
    return ClosedFormSolutions._made(q, found._notes, found._first, found._missing, found._outside, free)
