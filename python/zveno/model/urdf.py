"""URDF reader. Model files are untrusted: size, depth and declarations are bounded, every number is checked."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from numbers import Real
from typing import NamedTuple, NoReturn, TypeVar
from xml.parsers import expat

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import LARGEST, _show, as_flag, did_you_mean, report
from .._rotation import about_axis, product
from ..errors import ModelError
from .chain import Chain
from .link import Link

__all__ = ["read"]

MAX_BYTES = 64 * 2**20
MAX_ELEMENTS = 1_000_000
MAX_DEPTH = 64

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_Model = TypeVar("_Model", bound=Chain)
_Inertial = tuple[float, NDArray[np.float64], NDArray[np.float64]]


class Mimic(NamedTuple):
    """A joint that follows another: q = factor q_other + offset."""

    joint: str
    other: str
    factor: float
    offset: float


class _Element:
    """An XML element with the line it came from."""

    __slots__ = ("attributes", "children", "line", "tag", "text")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag = tag
        self.attributes = attributes
        self.line = line
        self.text = ""
        self.children: list[_Element] = []

    def all(self, tag: str) -> Iterator[_Element]:
        return (child for child in self.children if child.tag == tag)

    def same(self, other: _Element) -> bool:
        """Whether two elements say the same, wherever they stand."""
        pairs = [(self, other)]
        while pairs:
            a, b = pairs.pop()
            if (a.tag, a.attributes, a.text.strip(), len(a.children)) != (
                b.tag,
                b.attributes,
                b.text.strip(),
                len(b.children),
            ):
                return False
            pairs.extend(zip(a.children, b.children, strict=True))
        return True


def check_snap(function: str, snap: object) -> None:
    number = isinstance(snap, Real) and not isinstance(snap, bool)
    if not number or not 0 <= snap < 0.1:  # type: ignore[operator]  # no float: integers of 400 digits do not fit
        raise ValueError(f"{function}: snap is {_show(snap)}, expected 0 to 0.1 rad")


def read(
    model: type[_Model],
    source: str | os.PathLike[str] | bytes,
    *,
    gravity: ArrayLike,
    name: str | None,
    friction: bool,
    snap: float,
    strict: bool,
    mimics: list[Mimic] | None = None,
) -> _Model:
    """Build a `Chain` (or the subclass `model`) from URDF; see `Chain.from_urdf`.

    `mimics` takes the mimic joints, which are then no matter of a warning.
    """
    check_snap("from_urdf", snap)

    def fail(text: str) -> NoReturn:
        raise ModelError(f"from_urdf: {text}")

    friction, strict = as_flag(friction, fail, "friction"), as_flag(strict, fail, "strict")
    where, data, encoding = _fetch(source)
    reader = _Reader(where, _parse(where, data, encoding), friction, float(snap))
    reader.coupled = mimics is not None
    chain = reader.build(model, gravity, name, strict)
    if mimics is not None:
        for mimic in reader.mimics:
            if mimic.other not in chain.joint_names or mimic.other == mimic.joint:
                hint = did_you_mean(mimic.other, chain.joint_names)
                fail(f"joint '{mimic.joint}' mimics {_show(mimic.other)}, which is no other moving joint{hint}")
        mimics += reader.mimics
    return chain


_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")  # byte order marks: UTF-8, UTF-16 in both orders


def _stripped(data: bytes) -> tuple[bytes, int]:
    """The document without the white space before it, which XML does not allow before its declaration; lines of it."""
    mark = next((mark for mark in _MARKS if data.startswith(mark)), b"")
    rest = data[len(mark) :]
    if len(mark) == 2:
        blanks = tuple(blank.encode("utf-16-le" if mark == _MARKS[1] else "utf-16-be") for blank in " \t\r\n")
        start = next((i for i in range(0, len(rest), 2) if rest[i : i + 2] not in blanks), len(rest))
    else:
        start = len(rest) - len(rest.lstrip(b" \t\r\n"))
    return mark + rest[start:], rest[:start].count(b"\n")


def _fetch(source: object) -> tuple[str, bytes, str | None]:
    """Return the document's name for messages, its bytes, and its encoding where that is known beforehand."""
    where, encoding = "URDF text", None
    if isinstance(source, bytes | bytearray):
        data = bytes(source)
    elif isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<"):
        data, encoding = source.lstrip("\ufeff").encode("utf-8", "surrogatepass"), "utf-8"
    elif isinstance(source, str | os.PathLike):
        where, data = _load(os.fsdecode(source))
    else:
        raise TypeError(f"from_urdf: source is a {type(source).__name__}, expected a path, XML text or bytes")
    if not data.strip(b"\0 \t\r\n"):
        raise ModelError(f"{where}: is empty")
    if len(data) > MAX_BYTES:
        raise ModelError(f"{where}: is larger than {MAX_BYTES >> 20} MiB")
    return where, data, encoding


def _load(path: str) -> tuple[str, bytes]:
    """Read at most a little more than the limit from a regular file."""
    if not path.strip():
        raise ModelError("from_urdf: the source is empty, expected a path or XML text")
    where = os.path.basename(path) or path
    where = where if len(where) <= 100 and where.isprintable() else ascii(where[:40]) + "..."
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            reason = "not a regular file"  # reading a pipe or a device may never end
        else:
            with open(path, "rb") as file:
                return where, file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
    except ValueError as error:  # a null character in the path
        reason = str(error)
    raise ModelError(f"{where}: cannot be read as a file ({reason}) and is not XML text")


def _parse(where: str, data: bytes, encoding: str | None, expected: str = "robot", longest: int = 100) -> _Element:
    """Return the root of the element tree; no DTD, hence no entities, is let through."""
    data, skipped = _stripped(data)
    parser = expat.ParserCreate(encoding)
    top = _Element("", {}, 0)
    stack = [top]
    count = 0

    def fail(text: str) -> NoReturn:
        raise ModelError(f"{where}:{skipped + parser.CurrentLineNumber}: {text}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS:
            fail(f"more than {MAX_ELEMENTS} elements")
        if len(stack) > MAX_DEPTH:
            fail(f"<{tag}> is nested deeper than {MAX_DEPTH} elements")
        element = _Element(tag, attributes, skipped + parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def end(tag: str) -> None:
        stack.pop()

    def characters(text: str) -> None:
        if len(stack[-1].text) < longest:  # only short texts mean anything here
            stack[-1].text += text[:longest]

    def doctype(*_: object) -> NoReturn:
        fail("a document type declaration is not allowed: entities in a model file are refused")

    parser.buffer_text = True
    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype  # an exception in a handler stops expat at once
    try:
        parser.Parse(data, True)
    except ModelError:
        raise
    except expat.ExpatError as error:
        text = f"{expat.ErrorString(error.code)}: line {skipped + error.lineno}, column {error.offset}"
        raise ModelError(f"{where}: is not well-formed XML ({text})") from None
    except (LookupError, ValueError) as error:  # unknown encodings
        raise ModelError(f"{where}: is not well-formed XML ({error})") from None
    root = top.children[0]
    if root.tag != expected:
        raise ModelError(f"{where}:{root.line}: the root element is <{root.tag[:60]}>, expected <{expected}>")
    return root


class _Joint:
    """A parsed <joint>: the edge of the tree."""

    __slots__ = ("child", "damping", "keywords", "name", "parent")

    def __init__(self, name: str, parent: str, child: str, keywords: dict[str, object], damping: float) -> None:
        self.name = name
        self.parent = parent
        self.child = child
        self.keywords = keywords
        self.damping = damping


class _Reader:
    """One document on its way to a chain; remembers what was ignored or repaired."""

    def __init__(self, where: str, robot: _Element, friction: bool, snap: float) -> None:
        self.where = where
        self.robot = robot
        self.friction = friction
        self.snap = snap
        self.repairs: list[str] = []
        self.mimics: list[Mimic] = []
        self.coupled = False
        self.unlimited: list[str] = []
        self.damped = 0
        self.coulomb = 0

    # ---- reading elements: `owner` is "link 'name'" or "joint 'name'", for messages ----

    def fail(self, element: _Element, owner: str, text: str) -> NoReturn:
        link = owner[6:-1] if owner.startswith("link '") else None
        shown = owner if len(owner) <= 80 else f"{owner[:76]}...'"
        parts = (f"{self.where}:{element.line}", shown, text if len(text) <= 500 else f"{text[:497]}...")
        raise ModelError(": ".join(filter(None, parts)), link)

    def only(self, element: _Element, tag: str, owner: str) -> _Element | None:
        """The child `tag`, None if absent; choosing between two different ones would be a guess."""
        found = list(element.all(tag))
        for other in found[1:]:
            if not other.same(found[0]):
                self.fail(other, owner, f"a second <{tag}>, other than that on line {found[0].line}")
            self.repair(other, owner, f"a second <{tag}>, the same as that on line {found[0].line}, is ignored")
        return found[0] if found else None

    def repair(self, element: _Element, owner: str, text: str) -> None:
        """Remember what the warning will name."""
        self.repairs.append(": ".join(filter(None, (f"line {element.line}", owner, text))))

    def needed(self, element: _Element, tag: str, owner: str) -> _Element:
        found = self.only(element, tag, owner)
        if found is None:
            self.fail(element, owner, f"<{element.tag}> has no <{tag}>")
        return found

    def attribute(self, element: _Element, key: str, owner: str) -> str:
        text = element.attributes.get(key, "")
        if not text:
            self.fail(element, owner, f"<{element.tag}> has no {key}")
        return text

    def numbers(self, element: _Element, key: str, owner: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """The attribute `key` as `len(default)` finite numbers."""
        text = element.attributes.get(key)
        if text is None:
            return default
        words = text.split()
        what = f'<{element.tag} {key}="{text[:60]}">'
        if len(words) != len(default):
            expected = "a number" if len(default) == 1 else f"{len(default)} numbers"
            self.fail(element, owner, f"{what} is not {expected}")
        for word in words:
            if not _NUMBER.fullmatch(word):
                self.fail(element, owner, f"{what} is not a number" + ("" if len(words) == 1 else f": '{word[:60]}'"))
        values = tuple(float(word) for word in words)
        if not all(map(math.isfinite, values)):
            self.fail(element, owner, f"{what} is too large")
        return values

    def number(self, element: _Element, key: str, owner: str, default: float | None = None) -> float:
        if default is None:
            self.attribute(element, key, owner)
        return self.numbers(element, key, owner, (0.0 if default is None else default,))[0]

    def origin(self, element: _Element, owner: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Position and rotation of <origin>, R = Rz(yaw) Ry(pitch) Rx(roll)."""
        origin = self.only(element, "origin", owner)
        if origin is None:
            return np.zeros(3), np.eye(3)
        roll, pitch, yaw = self.numbers(origin, "rpy", owner, (0.0, 0.0, 0.0))
        position = np.array(self.numbers(origin, "xyz", owner, (0.0, 0.0, 0.0)))
        x, y, z = (about_axis(axis, self.snapped(angle)) for axis, angle in enumerate((roll, pitch, yaw)))
        return position, product(z, y, x)

    def snapped(self, angle: float) -> float:
        """The multiple of 90 degrees that `angle` is meant to be, or `angle`."""
        right = math.pi / 2 * round(angle / (math.pi / 2)) if abs(angle) < 100 else angle
        return right if abs(angle - right) <= self.snap else angle

    def inertial(self, element: _Element, owner: str) -> _Inertial | None:
        """Mass, centre of mass and inertia in link axes."""
        inertial = self.only(element, "inertial", owner)
        if inertial is None:
            return None
        com, R = self.origin(inertial, owner)
        mass = self.number(self.needed(inertial, "mass", owner), "value", owner)
        tensor = self.needed(inertial, "inertia", owner)
        xx, yy, zz = (self.number(tensor, key, owner) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (self.number(tensor, key, owner, 0.0) for key in ("ixy", "ixz", "iyz"))
        absent = [key for key in ("ixy", "ixz", "iyz") if key not in tensor.attributes]
        if absent:
            self.repair(tensor, owner, f"<inertia> has no {', '.join(absent)}: 0 is taken")
        about_com = self.possible(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), mass, tensor, owner)
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is found by the check of the link
            return mass, com, product(R, about_com, R.T)

    def possible(self, tensor: NDArray[np.float64], mass: float, element: _Element, owner: str) -> NDArray[np.float64]:
        """The nearest inertia without a negative eigenvalue: a body with one could have negative kinetic energy."""
        size = float(np.abs(tensor).max())
        if not 0 < size <= LARGEST:
            return tensor
        values, axes = np.linalg.eigh(tensor)
        if values[0] >= -(1e-12 * size + 1e-18 * abs(mass)):  # what `Chain` takes for rounding
            return tensor
        kept = np.maximum(values, 0.0)
        self.repair(element, owner, f"inertia eigenvalue {values[0]:.6g} kg m^2 is negative: 0 is taken")
        return np.asarray(tensor - (axes * (values - kept)) @ axes.T)

    def joint(self, element: _Element, links: dict[str, _Element]) -> _Joint:
        name = self.attribute(element, "name", "")
        owner = f"joint '{name}'"
        kind = self.attribute(element, "type", owner)
        if kind in ("floating", "planar"):
            self.fail(element, owner, f"{kind} joints are not supported, only chains on a fixed base are")
        if kind not in ("revolute", "continuous", "prismatic", "fixed"):
            hint = did_you_mean(kind, ("revolute", "continuous", "prismatic", "fixed"))
            self.fail(element, owner, f'type="{kind[:60]}" is not a joint type{hint}')
        ends = []
        for tag in ("parent", "child"):
            end = self.needed(element, tag, owner)
            ends.append(self.attribute(end, "link", owner))
            if ends[-1] not in links:
                hint = did_you_mean(ends[-1], links)
                self.fail(end, owner, f'<{tag} link="{ends[-1][:60]}"> is not a link of this file{hint}')
        position, rotation = self.origin(element, owner)
        keywords: dict[str, object] = {"joint": kind, "joint_name": name, "position": position, "rotation": rotation}
        if kind == "fixed":  # axis, limits and damping of a weld mean nothing
            return _Joint(name, ends[0], ends[1], keywords, 0.0)

        axis = self.only(element, "axis", owner)
        if axis is not None:
            self.attribute(axis, "xyz", owner)
        keywords["axis"] = (1.0, 0.0, 0.0) if axis is None else self.numbers(axis, "xyz", owner, (1.0, 0.0, 0.0))
        limit = self.only(element, "limit", owner)
        if limit is not None:
            for key in ("velocity", "effort"):
                keywords[key] = self.number(limit, key, owner, math.inf)
            if kind != "continuous":  # absent bounds are zero in URDF
                lower, upper = (self.number(limit, key, owner, 0.0) for key in ("lower", "upper"))
                if lower > upper:
                    self.repair(limit, owner, f"lower = {lower:g} is above upper = {upper:g}: they are exchanged")
                    lower, upper = upper, lower
                keywords["lower"], keywords["upper"] = lower, upper
        elif kind != "continuous":
            self.unlimited.append(name)
        damping = 0.0
        dynamics = self.only(element, "dynamics", owner)
        if dynamics is not None:
            damping = self.number(dynamics, "damping", owner, 0.0)
            self.damped += damping != 0
            self.coulomb += self.number(dynamics, "friction", owner, 0.0) != 0
        mimic = self.only(element, "mimic", owner)
        if mimic is not None:
            other = mimic.attributes.get("joint", "")
            factor, offset = (self.number(mimic, key, owner, x) for key, x in (("multiplier", 1.0), ("offset", 0.0)))
            self.mimics.append(Mimic(name, other, factor, offset))
        return _Joint(name, ends[0], ends[1], keywords, damping)

    # ---- the tree ----

    def tree(self) -> tuple[str, dict[str, _Element], list[_Joint]]:
        """Root, links and the joints depth-first, children in the order of the document."""
        links: dict[str, _Element] = {}
        xacro = [element for element in self.robot.children if element.tag.startswith("xacro:")]
        for element in self.robot.children:
            if element.tag == "link":
                name = self.attribute(element, "name", "")
                if name in links:
                    self.fail(element, f"link '{name}'", f"defined before, on line {links[name].line}")
                links[name] = element
        if xacro and not (links and any(self.robot.all("joint"))):
            self.fail(xacro[0], "", f"<{xacro[0].tag[:60]}>: this is a xacro file, expand it to URDF first")
        if not links:
            self.fail(self.robot, "", "<robot> has no <link>")
        for element in xacro:
            self.repair(element, "", f"<{element.tag[:60]}> is ignored; a xacro file must be expanded to URDF first")

        carrier: dict[str, _Joint] = {}
        children: dict[str, list[_Joint]] = {}
        lines: dict[str, int] = {}
        for element in self.robot.all("joint"):
            joint = self.joint(element, links)
            if joint.name in lines:
                self.fail(element, f"joint '{joint.name}'", f"defined before, on line {lines[joint.name]}")
            lines[joint.name] = element.line
            if joint.child in carrier:
                other = carrier[joint.child].name
                self.fail(element, f"link '{joint.child}'", f"has two parents, joints '{other}' and '{joint.name}'")
            carrier[joint.child] = joint
            children.setdefault(joint.parent, []).append(joint)

        roots = [name for name in links if name not in carrier]
        if len(roots) > 1:
            names = ", ".join(f"'{name}'" for name in roots[:5]) + (", ..." if len(roots) > 5 else "")
            self.fail(
                links[roots[1]], f"link '{roots[1]}'", f"not connected; {len(roots)} links have no parent: {names}"
            )
        order: list[_Joint] = []
        pending = list(reversed(children.get(roots[0], []))) if roots else []
        while pending:
            joint = pending.pop()
            order.append(joint)
            pending.extend(reversed(children.get(joint.child, [])))
        if len(order) < len(carrier):
            reached = {joint.child for joint in order}
            lost = next(name for name in carrier if name not in reached)
            self.fail(links[lost], f"link '{lost}'", "is in a cycle of joints or hangs on one")
        return roots[0], links, order

    def build(self, model: type[_Model], gravity: ArrayLike, name: str | None, strict: bool) -> _Model:
        root, elements, order = self.tree()
        if name is None:
            name = self.robot.attributes.get("name") or "robot"
        try:
            base = self.link(root, elements[root], {"joint": "prismatic"})
            if base.mass or base.inertia.any():
                ground = f"ground of {root}"  # it never moves, but must be a body
                Chain._made(name=name, base=ground, gravity=gravity, links=[base])
            if not order:
                where, text = elements[root], "the file has one link and no joint, expected a joint that moves"
                self.fail(where, f"link '{root}'", text)
            links = [
                self.link(
                    joint.child,
                    elements[joint.child],
                    {**joint.keywords, "parent": joint.parent, "friction": joint.damping if self.friction else 0.0},
                )
                for joint in order
            ]
            chain = model._made(name=name, base=root, gravity=gravity, links=links)
        except ModelError as error:
            if str(error).startswith(self.where):
                raise
            raise ModelError(f"{self.where}: {error}", error.link) from None
        doubts = [*_few(self.repairs), *self.ignored(), *(text for _, text in chain.suspicions)]
        told = []  # how the robot stands is no mistake of the file: strict reading does not refuse it
        if base.mass:
            told = [f"root link '{root}' ({base.mass:g} kg) is fixed to the world: its mass enters no result"]
        elif limbs := _limbs(root, links):  # an arm is bolted down on purpose, a body with several limbs hardly is
            told = [
                f"what is welded to root link '{root}' ({limbs.mass:g} kg, {limbs.limbs} limbs) is fixed to the world"
            ]
        if strict:
            report(doubts, self.where, strict)
        report([*told, *doubts], self.where, strict=False)
        return chain

    def link(self, name: str, element: _Element, keywords: dict[str, object]) -> Link:
        inertial = self.inertial(element, f"link '{name}'")
        if inertial is not None:
            keywords = {**keywords, **dict(zip(("mass", "com", "inertia"), inertial, strict=True))}
        return Link(name, **keywords)  # type: ignore[arg-type]

    def ignored(self) -> Iterator[str]:
        """What the file says about dynamics and the chain does not follow."""
        if self.damped and not self.friction:
            yield f"viscous damping of {_joints(self.damped)} is not applied (pass friction=True)"
        if self.coulomb:
            yield f"Coulomb friction of {_joints(self.coulomb)} is ignored"
        if self.mimics and not self.coupled:
            names = _names([mimic.joint for mimic in self.mimics])
            yield f"mimic is ignored, these joints are independent: {names}"
        if self.unlimited:
            yield f"no <limit>, these joints are unlimited: {_names(self.unlimited)}"
        geared = sum(map(_geared, self.robot.all("transmission")))
        if geared:
            yield f"reductions and rotor inertias of {geared} transmission{'s' * (geared > 1)} are ignored"


def _few(texts: list[str]) -> list[str]:
    """The first ones and how many there are: what else the warning says must not be lost behind them."""
    return texts if len(texts) <= 4 else [*texts[:3], f"and {len(texts) - 3} more of this sort"]


def _joints(count: int) -> str:
    return f"{count} joint{'s' * (count > 1)}"


class _Limbs(NamedTuple):
    mass: float  # of what carries them
    limbs: int


def _limbs(root: str, links: list[Link]) -> _Limbs | None:
    """The links welded to the root, if they have mass and several joints move on them."""
    welded, found = {root}, _Limbs(0.0, 0)
    for link in links:  # parents first
        if link.parent not in welded:
            continue
        if link.joint == "fixed":
            welded.add(link.name)
            found = found._replace(mass=found.mass + link.mass)
        else:
            found = found._replace(limbs=found.limbs + 1)
    return found if found.mass > 0 and found.limbs > 1 else None


def _names(names: list[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _geared(transmission: _Element) -> bool:
    """Does this <transmission> carry a reduction other than 1, or a rotor inertia?"""
    pending = [transmission]
    while pending:
        element = pending.pop()
        pending.extend(element.children)
        tag = element.tag.lower()
        if tag in ("mechanicalreduction", "mechanical_reduction", "gear_ratio") and element.text.strip() not in _ONE:
            return True
        if tag in ("motorinertia", "motor_inertia", "rotorinertia", "rotor_inertia"):
            return True
    return False


_ONE = ("", "1", "1.0", "1.")
