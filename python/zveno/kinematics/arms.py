"""Inverse kinematics of chains: numeric for any chain or tree, closed forms for the arms that have one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, _show, as_amount, as_choice, as_flag, as_integer, did_you_mean, failing
from .._rotation import as_pose
from ..errors import ModelError, UnreachableError
from ..results import InverseKinematics

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["ik"]

_EVERYTHING: Final = (True,) * 6
_STARTS: Final = 300
# what a status says, after the name of the model
_WORDS: Final = (
    "found",
    "was not brought to the target from any start",
    "reaches the target only outside of the joint limits",
    "cannot reach the target",
    "has a target or a start that is not finite",
    "has a target whose R is not a rotation",
)


def _default_link(function: str, chain: Chain) -> str:
    """The one link that carries no other."""
    carrying = {link.parent for link in chain.links}
    tips = [name for name in chain.link_names if name not in carrying]
    if len(tips) > 1:
        raise ValueError(
            f"{function}: model '{chain.name}' has {len(tips)} last links ({', '.join(tips[:6])}"
            f"{', ...' if len(tips) > 6 else ''}), expected link= to name one"
        )
    return tips[0]


def _known_link(function: str, chain: Chain, link: object) -> str:
    if not isinstance(link, str) or link not in chain.link_names:
        raise ValueError(
            f"{function}: no link {_show(link)} in model '{chain.name}'{did_you_mean(link, chain.link_names)}"
        )
    return link


def _mask(function: str, mask: object) -> tuple[bool, ...]:
    """Six flags: which components are held."""
    if mask is None:
        return _EVERYTHING
    fail = failing(function)
    items = list(mask) if isinstance(mask, Iterable) and not isinstance(mask, str | bytes) else []
    if len(items) != 6:
        fail(f"mask is {_show(mask)}, expected six flags: x, y, z along base axes, turns about x, y, z of the target")
    flags = tuple(as_flag(x.item() if isinstance(x, np.generic) else x, fail, f"mask[{i}]") for i, x in enumerate(items))
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


def _reach(chain: Chain, wishes: tuple[tuple[str, tuple[bool, ...]], ...]) -> _core.Reach:
    """The part of the model that carries the frames; made once."""
    known: dict[Any, _core.Reach] = chain.__dict__.setdefault("_reaches", {})
    found = known.get(wishes)
    if found is None:
        listed = [(name, list(held)) for name, held in wishes]
        found = known[wishes] = _core.Reach(chain, listed, chain.lower, chain.upper)
    return found


def _middle(chain: Chain) -> Array:
    """Where joints stand that nothing is said about: in the middle of their limits, or at zero."""
    known = chain.__dict__.get("_middle_of_limits")
    if known is None:
        low, high = chain.lower, chain.upper
        both = np.isfinite(low) & np.isfinite(high)
        known = np.where(both, 0.5 * (np.where(both, low, 0.0) + np.where(both, high, 0.0)), np.clip(0.0, low, high))
        chain.__dict__["_middle_of_limits"] = known
    return np.asarray(known)


def _refuse_start(chain: Chain, q0: Any) -> None:
    start = np.asarray(q0, dtype=np.float64)
    if start.shape[-1:] != (chain.n,):
        return  # the core says it
    outside = (start < chain.lower - 1e-9) | (start > chain.upper + 1e-9)
    if outside.any():
        *row, joint = np.argwhere(outside)[0].tolist()
        value = float(start[(*row, joint)])
        where = f" in row {np.ravel_multi_index(row, start.shape[:-1])}" if row else ""
        raise ValueError(
            f"ik: q0 of joint '{chain.joint_names[joint]}' is {value:.6g}{where}, outside of its limits "
            f"{chain.lower[joint]:.6g} to {chain.upper[joint]:.6g}; limits=False leaves them out"
        )


def _tolerances(tolerance: object) -> tuple[float, float]:
    fail = failing("ik")
    both = (tolerance, tolerance) if np.ndim(tolerance) == 0 else tuple(tolerance)  # type: ignore[arg-type]
    if len(both) != 2:
        fail(f"tolerance is {_show(tolerance)}, expected a number or two: m, rad")
    gap, turn = (as_amount(x, fail, "tolerance", positive=True) for x in both)
    if min(gap, turn) < 1e-12:
        fail(f"tolerance is {_show(tolerance)}, expected at least 1e-12: rounding is larger")
    return gap, turn


def raise_failure(chain: Chain, answer: InverseKinematics) -> NoReturn:
    """The error of the first row that was not solved."""
    status = np.ravel(answer.status)
    row = int(np.flatnonzero(status)[0])
    code = int(status[row])
    where = f" in row {row}" if np.ndim(answer.status) else ""
    text = f"ik: model '{chain.name}' {_WORDS[code]}{where}"
    if code >= 4:
        raise ValueError(text)
    gap, turn = np.reshape(answer.residual, (-1, 2))[row].tolist()
    cause = ("", "not found", "limits", "out of reach")[code]
    raise UnreachableErrorWith(
        f"{text}: {gap:.3g} m and {turn:.3g} rad are left",
        row=row if np.ndim(answer.status) else None,
        cause=cause,
        gap=gap,
        turn=turn,
        q=np.reshape(answer.q, (-1, chain.n))[row].copy(),
    )


def UnreachableErrorWith(  # noqa: N802
    message: str, *, row: int | None, cause: str, gap: float, turn: float, q: Array
) -> UnreachableError:
    """The error, with what is left of the way."""
    error = UnreachableError(message, row=row, cause=cause, margin=gap)
    error.gap, error.angle, error.q = gap, float(np.degrees(turn)), q
    return error


def ik(
    self: Chain,
    T: Any,
    link: str | None = None,
    q0: ArrayLike | None = None,
    mask: Iterable[bool] | None = None,
    limits: bool = True,
    tolerance: float | tuple[float, float] = 1e-6,
    restarts: SupportsIndex = _STARTS,
    nearest: bool = False,
    *,
    seed: SupportsIndex = 0,
    on_error: str = "raise",
    threads: SupportsIndex | None = None,
) -> InverseKinematics:
    """Inverse kinematics."""
    function = "ik"
    fail = failing(function)
    held = _EVERYTHING if mask is None else _mask(function, mask)
    if isinstance(T, Mapping) and not set(T) <= {"r", "R", "quaternion"}:
        if link is not None:
            fail(f"link is {_show(link)} while T names its links, expected one of the two")
        wishes = tuple((_known_link(function, self, name), held) for name in T)
        targets = [_poses(function, f"T[{_show(name)}]", value) for name, value in T.items()]
        if not targets:
            fail("T is empty, expected a pose for at least one link")
    else:
        name = _default_link(function, self) if link is None else _known_link(function, self, link)
        wishes = ((name, held),)
        targets = [_poses(function, "T", T)]
    limits, nearest = as_flag(limits, fail, "limits"), as_flag(nearest, fail, "nearest")
    gap, turn = _tolerances(tolerance)
    starts = as_integer(function, "restarts", restarts, 0, 10**6) + 1
    as_choice(on_error, fail, "on_error", ("raise", "nan"))
    number = as_integer(function, "seed", seed, 0, 2**62)
    if q0 is not None and limits:
        _refuse_start(self, q0)
    try:
        reach = _reach(self, wishes)
    except ModelError as error:
        raise ValueError(f"{function}: {error} of model '{self.name}'") from None
    answer = InverseKinematics(
        *reach.solve(targets, q0, _middle(self), limits, nearest, gap, turn, starts, number, threads)
    )
    if answer.status.any():
        if on_error == "raise":
            raise_failure(self, answer)
        answer.q[answer.status != 0] = np.nan
    return answer
