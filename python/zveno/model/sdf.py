"""SDF reader: links and joints of one model; joints that close loops become constraints."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, _show, did_you_mean
from .._rotation import about_axis
from ..errors import ModelError
from .chain import Chain
from .constraint import Constraint, Loop, coupling_of
from .link import Link
from .urdf import _Element, _fetch, _parse

__all__ = ["read_sdf"]

_TREE = {"revolute": "revolute", "continuous": "continuous", "prismatic": "prismatic", "fixed": "fixed"}
_WORLD = "world"


def read_sdf(
    source: str | os.PathLike[str] | bytes, gravity: ArrayLike | None, friction: bool
) -> tuple[Chain, tuple[Constraint, ...]]:
    """Chain and constraints of a file, or of XML text."""
    if not isinstance(source, str | os.PathLike | bytes | bytearray):
        raise TypeError(f"from_sdf: source is a {type(source).__name__}, expected a path, XML text or bytes")
    where, data, encoding = _fetch(source)
    where = "SDF text" if where == "URDF text" else where
    return _Reader(where, _parse(where, data, encoding, "sdf", 1000), friction).build(gravity)


def _placed(R: Array, p: Array) -> Array:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return T


class _Joint:
    """A joint as the file has it; axes in axes of the model, `origin` in its frame, all joints at zero."""

    def __init__(self, name: str, kind: str, parent: str, child: str, origin: Array, axes: list[Array]) -> None:
        self.name, self.kind, self.parent, self.child, self.origin, self.axes = name, kind, parent, child, origin, axes
        self.limits: dict[str, float] = {}
        self.damping = 0.0


class _Reader:
    def __init__(self, where: str, root: _Element, friction: bool) -> None:
        self.where, self.friction = where, friction
        worlds = list(root.all("world"))
        models = [model for holder in (root, *worlds) for model in holder.all("model")]
        if len(models) != 1:
            self.fail(root, f"has {len(models)} models, expected one")
        self.world, self.model = (worlds[0] if worlds else None), models[0]
        for nested in ("model", "include"):
            for element in self.model.all(nested):
                self.fail(element, f"<{nested}> inside a model is not read")
        self.links = {self.name(x): x for x in self.model.all("link")}
        self.joints = {self.name(x): x for x in self.model.all("joint")}
        frames = {self.name(x): x for x in self.model.all("frame")}
        self.placed: dict[str, _Element] = {**frames, **self.joints, **self.links}
        self.known: dict[str, Array] = {"__model__": np.eye(4), _WORLD: np.eye(4)}
        self.under: list[str] = []

    def fail(self, element: _Element, text: str) -> NoReturn:
        raise ModelError(f"{self.where}:{element.line}: {text}")

    def name(self, element: _Element) -> str:
        name = element.attributes.get("name", "")
        if not name:
            self.fail(element, f"<{element.tag}> has no name")
        return name

    @staticmethod
    def child(element: _Element, tag: str) -> _Element | None:
        return next(iter(element.all(tag)), None)

    def text(self, element: _Element, tag: str) -> str:
        found = self.child(element, tag)
        if found is None or not found.text.strip():
            self.fail(element, f"<{element.tag}> {_show(element.attributes.get('name', ''))} has no <{tag}>")
        return found.text.strip()

    def numbers(self, element: _Element, count: int) -> Array:
        try:
            values = np.array([float(x) for x in element.text.split()])
        except ValueError:
            values = np.zeros(0)
        if values.shape != (count,) or not np.isfinite(values).all():
            self.fail(element, f"<{element.tag}> is {_show(element.text.strip())}, expected {count} numbers")
        return values

    def number(self, element: _Element | None, tag: str, default: float) -> float:
        found = None if element is None else self.child(element, tag)
        if found is None:
            return default
        try:
            return float(found.text)
        except ValueError:
            self.fail(found, f"<{tag}> is {_show(found.text.strip())}, expected a number")

    # ---- frames

    def pose(self, element: _Element, default: str) -> Array:
        """Of an element in the model; `default`: what its pose is relative to."""
        found = self.child(element, "pose")
        if found is None:
            return self.frame(element, default)
        x = self.numbers(found, 6)
        if found.attributes.get("degrees", "false") in ("true", "1"):
            x[3:] = np.radians(x[3:])
        R = about_axis(2, float(x[5])) @ about_axis(1, float(x[4])) @ about_axis(0, float(x[3]))
        return self.frame(found, found.attributes.get("relative_to") or default) @ _placed(R, x[:3])

    def frame(self, element: _Element, name: str) -> Array:
        """A link, joint or frame in the model."""
        if name in self.known:
            return self.known[name]
        if name not in self.placed:
            self.fail(element, f"no frame {_show(name)}{did_you_mean(name, self.placed)}")
        if name in self.under:
            self.fail(element, f"frames {', '.join(map(_show, self.under))} are relative to each other")
        self.under.append(name)
        own = self.placed[name]
        default = "__model__"
        if name in self.joints and name not in self.links:
            default = self.text(own, "child")
        elif name not in self.links:
            default = own.attributes.get("attached_to") or default
        self.known[name] = self.pose(own, default)
        self.under.pop()
        return self.known[name]

    # ---- joints and links

    def joint(self, name: str, element: _Element) -> _Joint:
        kind = element.attributes.get("type", "")
        ends = [self.text(element, "parent"), self.text(element, "child")]
        for end in ends:
            if end != _WORLD and end not in self.links:
                self.fail(element, f"joint {_show(name)}: no link {_show(end)}{did_you_mean(end, self.links)}")
        known = (*_TREE, "ball", "universal")
        if kind not in known:
            self.fail(element, f"joint {_show(name)} is of type {_show(kind)}, expected one of {', '.join(known)}")
        origin = self.frame(element, name)
        axes = []
        for tag in ("axis", "axis2")[: {"fixed": 0, "ball": 0, "universal": 2}.get(kind, 1)]:
            holder = self.child(element, tag)
            found = None if holder is None else self.child(holder, "xyz")
            direction = np.array([0.0, 0.0, 1.0]) if found is None else self.numbers(found, 3)
            if not np.linalg.norm(direction) > 0:
                self.fail(element, f"joint {_show(name)}: <xyz> is zero, expected a direction")
            expressed = "" if found is None else found.attributes.get("expressed_in", "")
            R = (self.frame(element, expressed) if expressed else origin)[:3, :3]
            if holder is not None and (flag := self.child(holder, "use_parent_model_frame")) is not None:
                R = np.eye(3) if flag.text.strip() in ("true", "1") else R
            axes.append(R @ direction / np.linalg.norm(direction))
        made = _Joint(name, kind, ends[0], ends[1], origin[:3, 3], axes)
        holder = self.child(element, "axis")
        if holder is not None and kind in ("revolute", "prismatic"):
            limit = self.child(holder, "limit")
            for key, bound in (("lower", -math.inf), ("upper", math.inf)):
                value = self.number(limit, key, bound)
                made.limits[key] = bound if abs(value) >= 1e16 else value
        made.damping = self.number(None if holder is None else self.child(holder, "dynamics"), "damping", 0.0)
        return made

    def inertial(self, element: _Element) -> dict[str, Any]:
        """Mass, its centre and inertia in link axes; SDF's defaults are those of a unit mass."""
        found = self.child(element, "inertial")
        tensor = None if found is None else self.child(found, "inertia")
        xx, yy, zz = (self.number(tensor, key, 1.0) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (self.number(tensor, key, 0.0) for key in ("ixy", "ixz", "iyz"))
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        at = np.eye(4)
        if found is not None and self.child(found, "pose") is not None:
            self.known["__inertial__"] = np.eye(4)
            at = self.pose(found, "__inertial__")
        return {
            "mass": self.number(found, "mass", 1.0),
            "com": at[:3, 3],
            "inertia": at[:3, :3] @ inertia @ at[:3, :3].T,
        }

    def build(self, gravity: ArrayLike | None) -> tuple[Chain, tuple[Constraint, ...]]:
        joints = [self.joint(name, element) for name, element in self.joints.items()]
        carried_by, loops = self.tree(joints)
        roots = [name for name in self.links if name not in carried_by]
        base = _WORLD if any(_WORLD in (x.parent, x.child) for x in joints) else roots[0] if roots else ""
        if [name for name in roots if name != base]:
            free = ", ".join(_show(name) for name in roots if name != base)
            self.fail(self.model, f"links {free} hang on nothing, expected joints that lead to {_show(base or _WORLD)}")
        if base == _WORLD and _WORLD in self.links:
            self.fail(self.links[_WORLD], "a link is called 'world'")
        links = [link for name in self.order(base, carried_by) for link in self.link(carried_by[name])]
        acting: Any = gravity
        if acting is None:
            given = None if self.world is None else self.child(self.world, "gravity")
            acting = (0, 0, -9.81) if given is None else self.numbers(given, 3)
        chain = Chain(links, gravity=acting, base=base, name=self.name(self.model))
        return chain, (*map(self.loop, loops), *self.mimics(chain))

    @staticmethod
    def tree(joints: list[_Joint]) -> tuple[dict[str, _Joint], list[_Joint]]:
        """The joint that carries each link, and those that close loops; joints of one degree of freedom carry first."""
        carried_by: dict[str, _Joint] = {}
        loops: list[_Joint] = []

        def leads(link: str, to: str) -> bool:
            while link in carried_by and link != to:
                link = carried_by[link].parent
            return link == to

        for joint in sorted(joints, key=lambda x: x.kind not in _TREE):
            closes = joint.child in carried_by or joint.child == _WORLD or leads(joint.parent, joint.child)
            if closes or joint.kind not in _TREE:
                loops.append(joint)
            else:
                carried_by[joint.child] = joint
        return carried_by, sorted(loops, key=joints.index)

    @staticmethod
    def order(base: str, carried_by: dict[str, _Joint]) -> Iterator[str]:
        """Links, parents first."""
        reached, left = {base}, list(carried_by)
        while left:
            ready = next((name for name in left if carried_by[name].parent in reached), None)
            if ready is None:
                names = ", ".join(map(_show, left))
                raise ModelError(
                    f"from_sdf: links {names} carry each other, expected joints that lead to {_show(base)}"
                )
            yield ready
            reached.add(ready)
            left.remove(ready)

    def local(self, link: str) -> Array:
        return self.frame(self.model, link)

    def link(self, joint: _Joint) -> Iterator[Link]:
        """A link on its joint; where the joint stands away from its origin, a fixed link behind one of the joint."""
        name, A, B = joint.child, self.local(joint.parent), self.local(joint.child)
        own = self.inertial(self.links[name])
        R, origin = A[:3, :3].T @ B[:3, :3], A[:3, :3].T @ (joint.origin - A[:3, 3])
        behind = B[:3, :3].T @ (B[:3, 3] - joint.origin)
        if joint.kind == "fixed":
            yield Link(name, parent=joint.parent, joint="fixed", joint_name=joint.name,
                       position=A[:3, :3].T @ (B[:3, 3] - A[:3, 3]), rotation=R, **own)  # fmt: skip
            return
        direct = float(np.abs(behind).max()) < 1e-12
        on: dict[str, Any] = {"joint": _TREE[joint.kind], "joint_name": joint.name, "position": origin, "rotation": R}
        on |= {"axis": B[:3, :3].T @ joint.axes[0], "friction": joint.damping if self.friction else 0.0, **joint.limits}
        if direct:
            yield Link(name, parent=joint.parent, **on, **own)
            return
        yield Link(f"{name}:{joint.name}", parent=joint.parent, **on)
        yield Link(name, parent=f"{name}:{joint.name}", joint="fixed", position=behind, **own)

    def loop(self, joint: _Joint) -> Constraint:
        A, B = self.local(joint.parent), self.local(joint.child)
        at: dict[str, Any] = {
            "point_a": A[:3, :3].T @ (joint.origin - A[:3, 3]),
            "point_b": B[:3, :3].T @ (joint.origin - B[:3, 3]),
            "name": joint.name,
        }
        ends = joint.parent, joint.child
        if joint.kind == "fixed":
            return Loop.weld(*ends, **at, rotation_a=A[:3, :3].T, rotation_b=B[:3, :3].T)
        if joint.kind == "ball":
            return Loop.spherical(*ends, **at)
        at |= {"axis_a": A[:3, :3].T @ joint.axes[0], "axis_b": B[:3, :3].T @ joint.axes[-1]}
        if joint.kind == "universal":
            return Loop.universal(*ends, **at, offset=float(joint.axes[0] @ joint.axes[1]))
        if joint.kind == "prismatic":
            across = np.eye(3)[int(np.argmin(np.abs(joint.axes[0])))]
            at |= {"reference_a": A[:3, :3].T @ across, "reference_b": B[:3, :3].T @ across}
            return Loop.prismatic(*ends, **at)
        return Loop.revolute(*ends, **at)

    def mimics(self, chain: Chain) -> Iterator[Constraint]:
        for name, element in self.joints.items():
            holder = self.child(element, "axis")
            mimic = None if holder is None else self.child(holder, "mimic")
            if mimic is None:
                continue
            other = mimic.attributes.get("joint", "")
            for joint in (name, other):
                if joint not in chain.joint_names:
                    self.fail(
                        mimic, f"joint {_show(name)} mimics {_show(other)}: {_show(joint)} is no joint of the tree"
                    )
            factor = self.number(mimic, "multiplier", 1.0)
            offset = self.number(mimic, "offset", 0.0) - factor * self.number(mimic, "reference", 0.0)
            yield coupling_of({name: 1.0, other: -factor}, offset, f"{name} mimics {other}")
