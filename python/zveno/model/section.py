"""`Section`: a cut through a link, what hangs beyond it, and the stress of the loads through it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, Fail, _is_name, _show, as_amount, as_array, as_direction, as_vector, did_you_mean, frozen
from .._record import Record
from ..errors import ModelError
from . import cross_section as sections
from .body import Body
from .cross_section import CrossSection

if TYPE_CHECKING:
    from .chain import Chain
    from .link import Link

__all__ = ["COMPONENTS", "Section", "SectionStress"]

COMPONENTS: Final = {"N": "N", "Qy": "N", "Qz": "N", "T": "N m", "My": "N m", "Mz": "N m"}
_CUTS: Final = 1024  # resolved sections that a chain remembers
_UPPER: Final = np.triu_indices(3)
_ROUNDING: Final = 1e-9  # of the size of a link: still inside

# link, point, axes, inertial parameters of its far part, links welded to that, links whose joints stand on it, whether
# wrenches on the link act on it
_Cut = tuple[int, Array, Array, Array, list[int], list[int], bool]


class SectionStress(NamedTuple):
    """Stresses of a cross-section, Pa.

    `sigma_max` and `sigma_min` (...,) are the largest and the smallest normal stress, tension positive; `shear` (...,)
    the shear of torsion and force together, at the neutral axis; `von_mises` (...,) the larger of the equivalent stress
    at the outermost fibre (normal stress and torsion) and at the neutral axis (axial force and all shear);
    `utilisation` (...,) is von_mises by the yield strength, None if none was given.
    """

    sigma_max: Array
    sigma_min: Array
    shear: Array
    von_mises: Array
    utilisation: Array | None


class Section(Record):
    """A cut through a link, and what of the link lies beyond it. Immutable.

    The near side of the cut is the one from which the link is carried, the far side the one that `normal` points to.

    Parameters
    ----------
    link : str
        Name of a link, welded ones too.
    point : (3,) array, m
        Point of the cut in link axes, about which moments are taken: the centroid of the cross-section.
    normal : (3,) array, optional
        Normal of the cut in link axes, of any length but zero, towards the far side. Default: from the origin of the
        link to `end`, else to its farthest child joint, if there is one such.
    far : Body or "uniform"
        The part of the link beyond the cut, its com in link axes. "uniform": the mass of the link is spread evenly
        along `normal`, over that length and along that slightly tilted line which give the link's own mass, centre of
        mass and inertia, all ten parameters. If the link is a uniform rod, this is it.
    end : (3,) array, m, optional
        Where the rod that begins at the link's origin ends, link axes: with ``far="uniform"`` the link's data are
        checked to be those of that rod.
    up : (3,) array, optional
        Link axes; the z axis of the section lies in the plane of `normal` and `up`. Default: z of the link, x if the
        normal is within 25 degrees of z.
    carries : iterable of str, optional
        Children of the link that hang on the far side. Default: those whose joints stand there or in the cut.
    loads : {"near", "far"}, optional
        On which side external wrenches on the link itself act. Default: where its origin is, "far" if in the cut.
    cross_section : CrossSection, optional
        `zveno.sections.Tube`, `Box`, `Rod` or `IBeam`, for `stress`; its y and z are those of the section.

    Raises
    ------
    ModelError
        Wrong types, a normal of length zero; by functions of a chain: an unknown link, a section outside the link (its
        origin, its child joints, its mass), a far part that is heavier than the link, a normal that must be given.

    Notes
    -----
    Section axes: x = normal, y = up x normal, made 1 long, z = x x y. `Chain.section_load` gives
    [F; M] that the near side applies to the far side. Stress resultants as textbooks have them, the normal force N
    positive in tension, are what the far side applies to the near side, minus that: [N, Qy, Qz, T, My, Mz] = -[F; M] in
    section axes; then d My / dx = Qz, d Mz / dx = -Qy between loads, sigma = N / A + My z / Iy - Mz y / Iz.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.Section("l3", (0.2, 0, 0), normal=(1, 0, 0))
    Section('l3' at (0.2, 0, 0), normal (1, 0, 0), uniform)
    """

    __slots__ = ("carries", "cross_section", "end", "far", "link", "loads", "normal", "point", "up")
    _required = ("link", "point")

    link: str
    point: Array
    normal: Array | None
    far: Body | Literal["uniform"]
    end: Array | None
    up: Array | None
    carries: tuple[str, ...] | None
    loads: str | None
    cross_section: CrossSection | None

    def __init__(
        self,
        link: str,
        point: ArrayLike,
        normal: ArrayLike | None = None,
        far: Body | Literal["uniform"] = "uniform",
        *,
        end: ArrayLike | None = None,
        up: ArrayLike | None = None,
        carries: Iterable[str] | None = None,
        loads: Literal["near", "far"] | None = None,
        cross_section: CrossSection | None = None,
    ) -> None:
        def fail(text: str) -> NoReturn:
            raise ModelError(f"Section: {text}", link if isinstance(link, str) else None)

        if not _is_name(link):
            fail(f"link is {_show(link)}, expected the name of a link")
        if not isinstance(far, Body) and not (isinstance(far, str) and far == "uniform"):
            fail(f"far is {_show(far)}, expected a Body or 'uniform'")
        if end is not None and isinstance(far, Body):
            fail("end is given, but far is a Body; expected 'uniform' or no end")
        if loads is not None and not (isinstance(loads, str) and loads in ("near", "far")):
            fail(f"loads is {_show(loads)}, expected 'near', 'far' or None")
        if cross_section is not None and not isinstance(cross_section, CrossSection):
            fail(f"cross_section is {_show(cross_section)}, expected a Tube, Box, Rod or IBeam")
        values: dict[str, Any] = {"link": link, "far": far, "loads": loads, "cross_section": cross_section}
        values["point"] = as_vector(point, fail, "point")
        values["normal"] = None if normal is None else as_direction(normal, fail, "normal")
        values["up"] = None if up is None else as_direction(up, fail, "up")
        values["end"] = None if end is None else as_vector(end, fail, "end")
        if end is not None and not values["end"].any():
            fail("end is the origin of the link, expected another point")
        values["carries"] = None
        if carries is not None:
            if isinstance(carries, str) or not isinstance(carries, Iterable):
                fail(f"carries is {_show(carries)}, expected names of links")
            values["carries"] = tuple(carries)
            for name in values["carries"]:
                if not _is_name(name):
                    fail(f"carries has {_show(name)}, expected names of links")
        if values["normal"] is not None and values["up"] is not None:
            _axes(values["normal"], values["up"], fail)
        super().__init__(**values)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-safe dictionary: lists for arrays, dictionaries for the far part and the cross-section."""
        data = super().to_dict()
        if self.cross_section is not None:
            data["cross_section"] = {"type": type(self.cross_section).__name__, **data["cross_section"]}
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Section:
        """Build the section of `to_dict`; absent keys take their default, unknown keys are an error."""
        cls._check_keys(data)
        values = {key: value for key, value in data.items() if value is not None}
        if isinstance(values.get("far"), Mapping):
            values["far"] = Body.from_dict(values["far"])
        shape = values.get("cross_section")
        if isinstance(shape, Mapping):
            kind = shape.get("type")
            if not isinstance(kind, str) or kind not in sections.__all__ or kind == "CrossSection":
                text = f"type of cross_section is {_show(kind)}, expected 'Tube' or the like"
                raise ModelError(f"Section.from_dict: {text}")
            found = getattr(sections, kind)
            values["cross_section"] = found.from_dict({key: x for key, x in shape.items() if key != "type"})
        return cls(**values)

    def stress(self, load: ArrayLike, yield_strength: float | None = None) -> SectionStress:
        """Stresses in the cross-section under a load.

        Parameters
        ----------
        load : (..., 6) array, N and N m
            What `Chain.section_load` gives in section axes.
        yield_strength : float, Pa, optional
            What `von_mises` is compared with.

        Returns
        -------
        stress : SectionStress
            Attributes sigma_max, sigma_min, shear, von_mises and utilisation, each (...,).

        Notes
        -----
        Normal stress N / A + My z / Iy - Mz y / Iz; at its extremes, for round sections, N / A +- hypot(My, Mz) / W,
        for the others, at a corner, N / A +- (abs(My) / wy + abs(Mz) / wz). Shear of torsion abs(T) / wt, of the force
        its largest, I b / S at the neutral axis; both are added, which is safe. von Mises: sqrt(sigma^2 + 3 tau^2).

        Examples
        --------
        >>> import zveno as zv
        >>> tube = zv.sections.Tube(0.05, 0.004)
        >>> section = zv.Section("boom", (1, 0, 0), (1, 0, 0), cross_section=tube)
        >>> found = section.stress([0, 0, 100, 0, -1000, 0], yield_strength=250e6)  # N and N m
        >>> print(f"{found.sigma_max / 1e6:.1f} MPa, {found.utilisation:.0%} of the yield strength")
        35.9 MPa, 14% of the yield strength
        """

        def fail(text: str) -> NoReturn:
            raise ValueError(f"Section.stress: {text}")

        if self.cross_section is None:
            fail(f"the section of link {_show(self.link)} has no cross_section")
        limit = None if yield_strength is None else as_amount(yield_strength, fail, "yield_strength", positive=True)
        return stress_of(self.cross_section, -as_array(load, fail, "load", (6,), lead=True), limit)

    # ---- on a chain

    def _cut(self, chain: Chain, who: str, frame: int, parts: int) -> _core.SectionCut:
        """What the core needs; `who` stands in messages, `frame` and `parts` are places in their lists of words."""
        known: dict[tuple[int, int, int], tuple[Section, _core.SectionCut]] = chain.__dict__.setdefault("_cuts", {})
        key = id(self), frame, parts
        entry = known.get(key)
        if entry is None:
            if len(known) >= _CUTS:
                known.clear()
            entry = known[key] = self, _core.SectionCut(chain, *self._resolved(chain, who), frame, parts)
        return entry[1]

    def _resolved(self, chain: Chain, who: str) -> _Cut:
        def fail(text: str) -> NoReturn:
            raise ModelError(f"{who}: {text}", self.link)

        names = chain.link_names
        if self.link == chain.base_name:
            fail(f"section of the base {_show(self.link)}, expected one of a link")
        if self.link not in names:
            fail(f"no link {_show(self.link)} in chain '{chain.name}'{did_you_mean(self.link, names)}")
        index = names.index(self.link)
        link = chain.links[index]
        children = [i for i, child in enumerate(chain.links) if child.parent == link.name]
        normal = self._normal_on(chain, link, children, fail)
        axes = _axes(normal, _default_up(normal) if self.up is None else self.up, fail)
        places = {chain.links[i].name: float(chain.links[i].position @ normal) for i in children}
        bar = Bar(link, normal)
        if self.end is not None:
            bar.check(link, self.end, normal, fail)
        extent = [0.0, *places.values(), *(bar.ends if self.end is None and link.mass else (bar.centre,))]
        extent += [] if self.end is None else [float(self.end @ normal)]
        extent += [float(self.far.com @ normal)] if isinstance(self.far, Body) else []
        at = float(self.point @ normal)
        size = max(map(abs, extent))
        if not min(extent) - _ROUNDING * size <= at <= max(extent) + _ROUNDING * size:
            fail(
                f"section at {at:g} m along its normal is outside link {_show(link.name)}, "
                f"which reaches from {min(extent):.6g} to {max(extent):.6g} m"
            )
        edge = at - _ROUNDING * size
        if isinstance(self.far, Body):
            if self.far.mass > link.mass * (1 + 1e-9):
                whole, part = f"{link.mass:.6g} kg", f"{self.far.mass:.6g} kg"
                fail(f"far part of link {_show(link.name)} has {part}, expected at most the {whole} of the link")
            far = _parameters(self.far)
        else:
            far = bar.beyond(at, edge)
        return (
            index,
            self.point,
            axes,
            far,
            *self._beyond(chain, children, {name for name, place in places.items() if place >= edge}, fail),
            self.loads == "far" if self.loads is not None else edge <= 0.0,
        )

    def _normal_on(self, chain: Chain, link: Link, children: list[int], fail: Fail) -> Array:
        if self.normal is not None:
            return self.normal
        if self.end is not None:
            return as_direction(self.end, fail, "end")
        return direction_of(chain, link, children, fail)

    def _beyond(self, chain: Chain, children: list[int], beyond: set[str], fail: Fail) -> tuple[list[int], list[int]]:
        """Links welded to the far part, and those whose moving joints stand on it."""
        links = chain.links
        if self.carries is not None:
            known = {links[i].name for i in children}
            for name in self.carries:
                if name not in known:
                    text = f"carries has {_show(name)}, which is no child of link {_show(self.link)}"
                    fail(text + did_you_mean(name, known))
            beyond = set(self.carries)
        welded: list[int] = []
        carried: list[int] = []
        ahead = [i for i in children if links[i].name in beyond]
        while ahead:
            i = ahead.pop()
            if links[i].joint == "fixed":
                welded.append(i)
                ahead += [k for k, child in enumerate(links) if child.parent == links[i].name]
            else:
                carried.append(i)
        return sorted(welded), sorted(carried)

    def __repr__(self) -> str:
        normal = "" if self.normal is None else f", normal {_row(self.normal)}"
        far = self.far if isinstance(self.far, str) else repr(self.far)
        shape = "" if self.cross_section is None else f", {self.cross_section!r}"
        return f"Section({_show(self.link)} at {_row(self.point)}{normal}, {far}{shape})"


class Bar:
    """The uniform bar along `normal` with the ten inertial parameters of a body.

    Mass m is spread evenly over x from -h to h, x along the normal from the centre of mass, on the line com + d x, with
    the rest of the second moment S = integral of p p' dm evenly across: n'S n = m h^2 / 3, d = S n / n'S n.
    """

    def __init__(self, body: Body | Link, normal: Array) -> None:
        self.mass, self.com, inertia = body.mass, body.com, body.inertia
        self.second = 0.5 * np.trace(inertia) * np.eye(3) - inertia
        along = self.second @ normal
        size = float(normal @ along)
        point = self.mass == 0 or size <= 1e-15 * float(np.abs(inertia).max())
        self.half = 0.0 if point else math.sqrt(3 * size / self.mass)
        self.line = np.zeros(3) if point else along / size
        self.across = self.second - (0.0 if point else size) * np.outer(self.line, self.line)
        self.centre = float(self.com @ normal)
        self.ends = self.centre - self.half, self.centre + self.half

    def check(self, link: Link, end: Array, normal: Array, fail: Fail) -> None:
        """Is the link a uniform rod from its origin to `end`?"""
        size = float(np.linalg.norm(end))
        if not abs(float(end @ normal)) > 1e-6 * size:
            fail(f"end {_row(end)} of link {_show(link.name)} does not lie along the normal {_row(normal)}")
        if float(np.linalg.norm(link.com - end / 2)) > 1e-3 * size:
            fail(
                f"link {_show(link.name)} is no uniform rod to {_row(end)}: its centre of mass is {_row(link.com)}, "
                f"expected {_row(end / 2)}"
            )
        along = float(end @ self.second @ end) / size**2
        if abs(along - self.mass * size**2 / 12) > 2e-3 * self.mass * size**2 / 12:
            length = math.sqrt(12 * max(along, 0.0) / self.mass)
            fail(
                f"link {_show(link.name)} is no uniform rod to {_row(end)}: its inertia is that of a rod of "
                f"{length:.6g} m, expected {size:.6g} m"
            )

    def beyond(self, at: float, edge: float) -> Array:
        """Inertial parameters of what lies beyond `at`, about the origin; of a point of mass, not before `edge`."""
        if self.half == 0.0:
            share, first, axial = (1.0, 0.0, 0.0) if self.centre >= edge else (0.0, 0.0, 0.0)
        else:
            x, h = min(max(at - self.centre, -self.half), self.half), self.half
            share = (h - x) / (2 * h)
            first = self.mass * share * (h + x) / 2
            axial = self.mass * share * (h * h + h * x + x * x) / 3
        moment = first * self.line  # about the centre of mass
        second = axial * np.outer(self.line, self.line) + share * self.across
        mass = share * self.mass
        about = second + np.outer(self.com, moment) + np.outer(moment, self.com) + mass * np.outer(self.com, self.com)
        return _row_of(mass, moment + mass * self.com, np.trace(about) * np.eye(3) - about)


def _row_of(mass: float, moment: Array, inertia: Array) -> Array:
    return np.array([mass, *moment, *inertia[_UPPER]])


def _parameters(body: Body) -> Array:
    """m, m c, inertia about the origin."""
    c = body.com
    return _row_of(body.mass, body.mass * c, body.inertia + body.mass * ((c @ c) * np.eye(3) - np.outer(c, c)))


def direction_of(chain: Chain, link: Link, children: list[int], fail: Fail) -> Array:
    """From the origin of a link to its farthest child joint, or `fail`."""
    places = [chain.links[i].position for i in children]
    sizes = [float(np.linalg.norm(x)) for x in places]
    if not places or max(sizes) == 0.0:
        fail(f"normal must be given for link {_show(link.name)}: no child joint away from its origin")
    longest = max(sizes)
    farthest = [x for x, size in zip(places, sizes, strict=True) if size >= longest * (1 - _ROUNDING)]
    if any(float(np.linalg.norm(x - farthest[0])) > 1e-6 * longest for x in farthest):
        fail(f"normal must be given for link {_show(link.name)}: several child joints are equally far")
    return as_direction(farthest[0], fail, "normal")


def _default_up(normal: Array) -> Array:
    return np.array([0.0, 0.0, 1.0] if abs(normal[2]) < 0.906 else [1.0, 0.0, 0.0])


def _axes(normal: Array, up: Array, fail: Fail) -> Array:
    """Section axes as columns."""
    y = _cross(up, normal)
    size = float(np.linalg.norm(y))
    if not size > 1e-6:
        fail(f"up {_row(up)} is along the normal, expected another direction")
    y /= size
    return frozen(np.column_stack([normal, y, _cross(normal, y)]))


def _cross(a: Array, b: Array) -> Array:
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def _row(vector: Array) -> str:
    return "(" + ", ".join(f"{x:.4g}" for x in vector.tolist()) + ")"


def stress_of(shape: CrossSection, resultants: Array, yield_strength: float | None) -> SectionStress:
    """Stresses under (..., 6) N, Qy, Qz, T, My, Mz; see `Section.stress`."""
    N, Qy, Qz, T, My, Mz = np.moveaxis(resultants, -1, 0)
    axial = N / shape.area
    bending = np.hypot(My, Mz) / shape.wy if shape.is_round else np.abs(My) / shape.wy + np.abs(Mz) / shape.wz
    torsion = np.abs(T) / shape.wt
    shear = torsion + np.hypot(Qy / shape.shear_area_y, Qz / shape.shear_area_z)
    fibre = np.sqrt((np.abs(axial) + bending) ** 2 + 3 * torsion**2)
    von_mises = np.maximum(fibre, np.sqrt(axial**2 + 3 * shear**2))
    used = None if yield_strength is None else von_mises / yield_strength
    return SectionStress(axial + bending, axial - bending, shear, von_mises, used)
