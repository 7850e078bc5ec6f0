"""What linear models and equilibria share: joint values and wrenches as given, sizes of efforts, checks of M."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, _show, as_array, did_you_mean
from ..errors import SingularityError

if TYPE_CHECKING:
    from ..model import Chain

__all__ = [
    "acting",
    "by_joint",
    "joint_values",
    "read_only",
    "require_mass",
    "to_world",
    "turning_stiffness",
    "wrenches",
]

FRAMES: Final = ("world", "link")


def read_only(array: Array) -> Array:
    """A read-only array of its own."""
    own = np.array(array, dtype=np.float64)
    own.setflags(write=False)
    return own


def joint_values(value: ArrayLike, n: int, fail: Fail, name: str) -> Array:
    """Numbers for the joints; 0 is short for zeros."""
    short = isinstance(value, int | float | np.generic | np.ndarray) and not isinstance(value, bool | np.bool_)
    if short and np.ndim(value) == 0 and value == 0:
        return np.zeros(n)
    return as_array(value, fail, name, (n,), lead=True)


def wrenches(chain: Chain, external: object, frame: object, fail: Fail) -> dict[str, Array]:
    """External wrenches by link, checked."""
    if frame not in FRAMES:
        fail(f"external_frame is {_show(frame)}, expected 'world' or 'link'")
    if external is None:
        return {}
    if not isinstance(external, Mapping):
        fail(f"external is {_show(external)}, expected a dict of wrenches by link name")
    for link in external:
        if link not in chain.link_names:
            fail(f"external names link {_show(link)}, which there is not{did_you_mean(link, chain.link_names)}")
    return {link: as_array(w, fail, f"external of link '{link}'", (6,), lead=True) for link, w in external.items()}


def to_world(chain: Chain, q: Array, loads: Mapping[str, Array], frame: str) -> dict[str, Array]:
    """Wrenches in world axes at a state."""
    if frame == "world":
        return dict(loads)
    turned = {}
    for link, wrench in loads.items():
        R = chain.pose(q, link)[..., :3, :3]
        turned[link] = (R[..., None, :, :] @ wrench.reshape(*wrench.shape[:-1], 2, 3, 1)).reshape(wrench.shape)
    return turned


def turning_stiffness(chain: Chain, q: Array, loads: Mapping[str, Array]) -> Array:
    """What K gains because wrenches (here in world axes) turn with their links: the efforts are -J' F, and F turns by
    dphi x F with dphi = J_w dq."""
    K = np.zeros((*q.shape, chain.n))
    for link, wrench in loads.items():
        J = chain.jacobian(q, link)
        turned = np.cross(J[..., None, 3:, :], wrench.reshape(*wrench.shape[:-1], 2, 3)[..., None], axis=-2)
        K -= np.swapaxes(J, -1, -2) @ turned.reshape(J.shape)
    return K


def acting(chain: Chain, q: Array, tau: Array, loads: Mapping[str, Array], base_motion: Array | None = None) -> Array:
    """Sizes of the efforts that meet in the joints at rest, (..., n): what is left over is compared with them."""
    moment = np.linalg.norm(chain.momentum_matrix(q, about="base")[..., :3, :], axis=-2)
    pull = np.linalg.norm(chain.gravity)
    if base_motion is not None:
        pull = pull + np.abs(base_motion[..., :3]).sum(axis=-1, keepdims=True)
    size = np.abs(tau) + pull * moment + chain.stiffness * np.abs(q - chain.rest)
    for link, wrench in loads.items():
        size = size + (np.abs(wrench)[..., None, :] @ np.abs(chain.jacobian(q, link)))[..., 0, :]
    return np.asarray(size)


def by_joint(chain: Chain, values: Array, count: int = 4) -> str:
    """The largest numbers with their joints, for messages."""
    order = np.argsort(-np.abs(values))
    units = ["N" if kind == "prismatic" else "N m" for kind in chain.joint_types]
    texts = [f"{values[i]:.4g} {units[i]} at {_show(chain.joint_names[i])}" for i in order[:count] if values[i]]
    more = f" and {len(values) - count} more" if len(values) > count else ""
    return ", ".join(texts) + more


def require_mass(chain: Chain, q: Array, M: Array) -> None:
    """Raise the error that names the joint where M is not positive definite."""
    try:
        np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        chain.forward_dynamics(q, np.zeros(chain.n), np.zeros(chain.n))
        raise SingularityError(f"the mass matrix of chain '{chain.name}' is singular to rounding") from None
