"""Chains made from chains: joints held, a part of the tree, poses of all links."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from .._check import Array, Fail, _show, as_number, did_you_mean, frozen
from .._rotation import IDENTITY, about_axis, applied, nearest_rotation, product
from .link import NO_JOINT, Link

__all__ = ["LinkPoses", "locked_links", "path_links"]


class LinkPoses(Mapping[str, Array]):
    """Poses of all links of a chain: a dictionary from names to what `Chain.pose` gives, and the stacked arrays.

    Attributes
    ----------
    names : tuple of str
        Links in the order of `Chain.links`; N of them.
    matrices : (..., N, 4, 4) array
        Homogeneous poses of the links in the base.
    positions : (..., N, 3) array, m
        Origins of the link frames in base axes; a view of `matrices`.
    rotations : (..., N, 3, 3) array
        Link axes to base axes; a view of `matrices`.
    """

    __slots__ = ("_index", "matrices", "names")

    def __init__(self, names: Sequence[str], matrices: Array) -> None:
        self.names, self.matrices = tuple(names), matrices
        self._index = {name: i for i, name in enumerate(self.names)}

    @property
    def positions(self) -> Array:
        """Origins of the link frames in base axes, (..., N, 3) m."""
        return self.matrices[..., :3, 3]

    @property
    def rotations(self) -> Array:
        """Link axes to base axes, (..., N, 3, 3)."""
        return self.matrices[..., :3, :3]

    def __getitem__(self, link: str) -> Array:
        if link not in self._index:
            raise KeyError(f"no link {_show(link)}{did_you_mean(link, self.names)}")
        return self.matrices[..., self._index[link], :, :]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        lead = self.matrices.shape[:-3]
        each = f" at {lead} states" if lead else ""
        return f"LinkPoses of {len(self)} links{each}: {_show(list(self.names))}"


def turn_about(axis: Array, angle: float) -> Array:
    """Active rotation by `angle` (rad) about a unit vector; about a coordinate axis its zeros and ones are exact."""
    k = int(np.abs(axis).argmax())
    if abs(axis[k]) == 1.0:
        return about_axis(k, angle * axis[k])
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = axis.tolist()
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turn: Array = c * IDENTITY + s * cross + (1 - c) * np.outer(axis, axis)
    return turn


def _locked(link: Link, value: float) -> Link:
    """The link welded where its joint has the coordinate `value`: J moved by it is the new J."""
    R = link.rotation
    if np.abs(product(R.T, R) - IDENTITY).max() > 1e-14:
        R = nearest_rotation(R)
    axis = link.axis / math.hypot(*link.axis.tolist())
    if link.joint == "revolute":
        place = link.position, product(R, turn_about(axis, value))
    else:
        place = link.position + applied(R, axis * value), R
    return link._with(joint="fixed", position=frozen(place[0]), rotation=frozen(place[1]), **NO_JOINT)


def locked_links(links: Sequence[Link], joints: object, fail: Fail) -> list[Link]:
    """The links, those of the joints named welded at the values given."""
    moving = {link.joint_name: link for link in links if link.joint != "fixed"}
    if not isinstance(joints, Mapping):
        fail(f"joints is {_show(joints)}, expected a dictionary {{joint name: position}}")
    values: dict[str, float] = {}
    for name, value in joints.items():
        if name not in moving:
            joint = next((j for j, link in moving.items() if link.name == name), None)
            hint = did_you_mean(name, moving) if joint is None else f"; the joint of this link is {_show(joint)}"
            fail(f"no moving joint {_show(name)}{hint}")
        values[name] = as_number(value, fail, f"position of joint {_show(name)}")
    if len(values) == len(moving):
        fail(f"all {len(moving)} joints are locked, expected one that moves")
    return [_locked(link, values[link.joint_name]) if link.joint_name in values and link.joint != "fixed" else link
            for link in links]  # fmt: skip


def path_links(links: Sequence[Link], root: str, base: object, to: object, fail: Fail) -> list[Link]:
    """The links after `base` up to `to`, in their order."""
    by_name = {link.name: link for link in links}
    for key, name in (("to", to), ("base", base)):
        if not isinstance(name, str) or (name not in by_name and name != root):
            fail(f"{key}: no link {_show(name)}{did_you_mean(name, [root, *by_name])}")
    assert isinstance(to, str)  # for type checkers
    path: set[str] = set()
    name = to
    while name != base:
        if name == root:
            fail(f"base {_show(base)} does not carry the link {_show(to)}")
        path.add(name)
        parent = by_name[name].parent
        assert parent is not None
        name = parent
    if not any(by_name[name].joint != "fixed" for name in path):
        fail(f"no joint moves between {_show(base)} and {_show(to)}")
    return [link for link in links if link.name in path]
