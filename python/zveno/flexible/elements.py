"""`beam`: a flexible link as rigid elements and springs, docs/flexible.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, Protocol, cast, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._check import Array, Fail, _is_name, _show, as_amount, as_array, as_integer, as_number, did_you_mean, frozen
from .._extras import optional
from .._record import Record
from .._rotation import as_rotation
from ..errors import ModelError
from ..model.body import Body
from ..model.chain import Chain
from ..model.link import Link
from .material import Material

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..dynamics.modes import Modes

__all__ = ["Beam", "Profile", "SectionLike", "beam"]

Split = Literal["wittbrodt", "huston"]
Bending = Literal["both", "y", "z"]
MOST_ELEMENTS: Final = 5000
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_PLANES: Final = {"both": "yz", "y": "y", "z": "z", None: ""}
_AXES: Final = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_CROSS: Final = {"y": "z", "z": "y"}  # bending about y moves points along z


@runtime_checkable
class SectionLike(Protocol):
    """What a beam asks of its cross-section; with ``shear=True`` also ``kappa(poisson, axis)``."""

    @property
    def area(self) -> float:
        """Area, m^2."""

    @property
    def Iy(self) -> float:
        """Second moment of area about y, m^4."""

    @property
    def Iz(self) -> float:
        """Second moment of area about z, m^4."""

    @property
    def J(self) -> float:
        """Torsion constant, m^4."""


class Profile(Record):
    """A cross-section by its constants, for those that are no tube, box, rod or I-beam. Immutable.

    Parameters
    ----------
    area : float, m^2
    Iy, Iz : float, m^4
        Second moments of area about the principal axes y and z.
    J : float, m^4
        Torsion constant.
    shear_coefficient : float
        Of Timoshenko's beam, for forces along y and z.

    Examples
    --------
    A mast known by 0.9 kg/m, E I = 25 kN m^2 and G J = 1.1 kN m^2: divided by density and moduli of its material.

    >>> import zveno as zv
    >>> m = zv.flexible.cfrp
    >>> mast = zv.flexible.Profile(0.9 / m.density, 25e3 / m.young, 25e3 / m.young, 1.1e3 / m.shear)
    >>> boom = zv.flexible.beam("mast", 20.0, section=mast, material=m)
    >>> boom.frequencies[:2].round(3)  # both planes, Hz
    array([0.234, 0.234])
    """

    __slots__ = ("Iy", "Iz", "J", "area", "shear_coefficient")
    _required = ("area", "Iy", "Iz", "J")

    area: float
    Iy: float
    Iz: float
    J: float
    shear_coefficient: float

    def __init__(self, area: float, Iy: float, Iz: float, J: float, shear_coefficient: float = 5 / 6) -> None:
        def fail(text: str) -> NoReturn:
            raise ModelError(f"Profile: {text}")

        given = {"area": area, "Iy": Iy, "Iz": Iz, "J": J, "shear_coefficient": shear_coefficient}
        super().__init__(**{key: as_amount(value, fail, key, positive=True) for key, value in given.items()})

    def kappa(self, poisson: float = 0.3, axis: str = "z") -> float:
        """The shear coefficient, whatever Poisson's ratio is.

        Examples
        --------
        >>> import zveno as zv
        >>> round(zv.flexible.Rod(0.05).kappa(0.3), 4)
        0.8864
        """
        return self.shear_coefficient

    def __repr__(self) -> str:
        return f"Profile(area={self.area:g} m^2, Iy={self.Iy:g}, Iz={self.Iz:g}, J={self.J:g} m^4)"


class Beam(Sequence[Link]):
    """The links of a flexible beam: a sequence that goes into ``zv.Chain([...])`` among other links. Made by `beam`.

    Attributes
    ----------
    links : tuple of Link
        Root, then the elements with their massless hinges, payloads, the tip.
    name : str
    root : str
        Name of the link at the driving side, ``f"{name}_0"``, fixed to the parent.
    tip : str
        Name of the massless link at the far end, ``f"{name}_tip"``, fixed to the last element: what comes next has it
        as parent, loads act on it.
    joints : tuple of str
        Names of the joints, in the order of their coordinates in a chain.
    length : float, m
    elements : int
        Springs along the beam.
    split : str
    stations : (elements,) array, m
        Where the springs are, from the root.
    mass : float, kg
        Without payloads.
    """

    __slots__ = (
        "_arguments",
        "elements",
        "joints",
        "length",
        "links",
        "mass",
        "name",
        "root",
        "split",
        "stations",
        "tip",
    )

    def __init__(self, links: Sequence[Link], stations: Array, mass: float, arguments: Mapping[str, Any]) -> None:
        self._arguments = dict(arguments)
        self.links, self.stations, self.mass = tuple(links), frozen(stations), mass
        self.name: str = arguments["name"]
        self.length: float = arguments["length"]
        self.elements: int = arguments["elements"]
        self.split: Split = arguments["split"]
        self.root, self.tip = f"{self.name}_0", f"{self.name}_tip"
        self.joints = tuple(link.joint_name for link in self.links if link.joint != "fixed")

    @overload
    def __getitem__(self, index: int) -> Link: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Link, ...]: ...
    def __getitem__(self, index: int | slice) -> Link | tuple[Link, ...]:
        return self.links[index]

    def __len__(self) -> int:
        return len(self.links)

    def __iter__(self) -> Iterator[Link]:
        return iter(self.links)

    def __repr__(self) -> str:
        return (
            f"Beam '{self.name}': {self.length:g} m, {self.mass:.4g} kg, {self.elements} elements ({self.split}),"
            f" {len(self.joints)} joints"
        )

    def with_elements(self, elements: int) -> Beam:
        """The same beam with another number of elements.

        Examples
        --------
        >>> import zveno as zv
        >>> boom = zv.flexible.beam("boom", 6.0, section=zv.flexible.Tube(0.05, 0.002), material=zv.flexible.steel)
        >>> boom.with_elements(16)
        Beam 'boom': 6 m, 29 kg, 16 elements (wittbrodt), 48 joints
        """
        return beam(**self._arguments | {"elements": elements})

    def clamped(self) -> Chain:
        """The beam alone, its root clamped to the base, without gravity.

        Examples
        --------
        >>> import zveno as zv
        >>> boom = zv.flexible.beam("boom", 6.0, section=zv.flexible.Tube(0.05, 0.002), material=zv.flexible.steel)
        >>> boom.clamped().n
        24
        """
        links = [self.links[0]._with(parent=None), *self.links[1:]]
        return Chain(links, gravity=(0.0, 0.0, 0.0), name=self.name)

    def indices(self, arm: Chain, kind: str) -> NDArray[np.intp]:
        """Where q of a chain has the coordinates of one kind of hinge, from root to tip.

        Parameters
        ----------
        arm : Chain
        kind : {"bending_y", "bending_z", "torsion", "extension", "shear_y", "shear_z"}

        Returns
        -------
        indices : (elements,) array of int

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> boom = zv.flexible.beam("boom", 6.0, section=zv.flexible.Tube(0.05, 0.002), material=zv.flexible.steel)
        >>> arm = zv.Chain([zv.Link("drive", rotor_inertia=0.1), *boom])
        >>> boom.indices(arm, "bending_z")
        array([ 3,  4,  9, 10, 15, 16, 21, 22])
        """
        wanted = [f"{self.name}_{i}_{kind}" for i in range(1, self.elements + 1)]
        places = {joint: i for i, joint in enumerate(arm.joint_names)}
        first = f"{self.name}_1_"
        known = tuple(joint.removeprefix(first) for joint in self.joints if joint.startswith(first))
        if kind not in known:
            raise ValueError(f"Beam.indices: kind is {_show(kind)}, expected one of {known} for beam '{self.name}'")
        if wanted[0] not in places:
            raise ValueError(f"Beam.indices: chain '{arm.name}' has no beam '{self.name}'")
        return np.array([places[joint] for joint in wanted])

    def plot_modes(self, modes: Modes, chosen: Sequence[int] | None = None) -> Figure:
        """Draw shapes along the beam: displacements in the axes of its root, twist. Needs matplotlib (``zveno[plot]``).

        Parameters
        ----------
        modes : Modes
            Of a chain that has this beam, ``arm.linearise(q).modes()``.
        chosen : sequence of int, optional
            Which ones, counted from 0. Default: the first four that are no motion of a rigid body.

        Returns
        -------
        figure : matplotlib Figure
            Each shape is scaled to 1; twist is the way of a point at a tenth of the length from the axis.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> boom = zv.flexible.beam("boom", 6.0, section=zv.flexible.Tube(0.05, 0.002), material=zv.flexible.steel)
        >>> modes = boom.clamped().linearise(np.zeros(24)).modes()
        >>> figure = boom.plot_modes(modes, [0, 2])
        >>> len(figure.axes)
        2
        """
        if not hasattr(modes, "participation_factors"):
            raise TypeError(f"Beam.plot_modes: modes is {_show(modes)}, expected those of arm.linearise(q).modes()")
        if self.root not in modes.chain.link_names or not set(self.joints) <= set(modes.chain.joint_names):
            raise ValueError(f"Beam.plot_modes: chain '{modes.chain.name}' has no beam '{self.name}'")
        if chosen is None:
            chosen = [k for k, kind in enumerate(modes.kinds) if kind != "rigid body"][:4]
        which = [as_integer("Beam.plot_modes", "an entry of chosen", k, 0, len(modes) - 1) for k in chosen]
        if not which:
            raise ValueError("Beam.plot_modes: chosen is empty, expected numbers of modes")
        plots = optional("zveno.plot.flexible", "Beam.plot_modes", "matplotlib")
        figure: Figure = plots.draw_beam_modes(self, modes, which)
        return figure

    @property
    def frequencies(self) -> Array:
        """Natural frequencies of the beam with its payloads, clamped, straight and unloaded, Hz, ascending."""
        chain = self.clamped()
        # K is diagonal: eigenvalues 1/w^2 of K^-1/2 M K^-1/2, the largest of which are the most accurate
        root = np.array([link.stiffness for link in self.links if link.joint != "fixed"]) ** -0.5
        M = chain.mass_matrix(np.zeros(chain.n))
        squares = np.linalg.eigvalsh(root[:, None] * M * root)[::-1]
        return frozen(1 / (2 * math.pi * np.sqrt(squares)))


def beam(
    name: str,
    length: float,
    *,
    section: SectionLike | tuple[SectionLike, SectionLike] | Callable[[float], SectionLike],
    material: Material,
    elements: int = 8,
    split: Split = "wittbrodt",
    damping: float | tuple[float, float] | None = None,
    bending: Bending | None = "both",
    torsion: bool = True,
    extension: bool = False,
    shear: bool = False,
    parent: str | None = None,
    position: ArrayLike = (0.0, 0.0, 0.0),
    rotation: Any = None,
    payloads: Mapping[float, Body] | None = None,
) -> Beam:
    """Cut a beam into rigid elements joined by springs: links for ``zv.Chain([...])``.

    The beam lies along x of the frame given by `position` and `rotation` in the parent; its section has width along y
    and height along z. In each of the `elements` stations sits a stack of coincident springs, joints
    ``f"{name}_{i}_torsion"``, ``..._bending_y``, ``..._bending_z`` with i = 1, 2, ..., whose stiffness is that of the
    piece of beam they stand for: 1/k = integral of ds/(E I), ds/(G J), ds/(E A), ds/(kappa G A). The order in a stack
    is reversed at every second station, so that bending in two planes with torsion converges with second order too.

    Parameters
    ----------
    name : str
        Links are called ``f"{name}_0"`` (root, fixed to the parent), ``f"{name}_{i}"`` (elements), ``f"{name}_tip"``
        (massless frame at the far end, fixed to the last element; a following link has it as parent).
    length : float, m
    section : cross-section, pair of them, or function of s
        Anything with ``area``, ``Iy``, ``Iz`` and ``J``: `Tube`, `Box`, `Rod`, `IBeam`, `Profile`. Tapered: a pair
        (root, tip) of one class, whose sizes change linearly, or a function of the distance from the root, m.
    material : Material
    elements : int
        Number n of springs along the beam; errors fall with 1/n^2, see `resolution`.
    split : {"wittbrodt", "huston"}
        "wittbrodt": springs in the middle of n equal segments, the first half segment is welded to the driving side.
        "huston": n rigid segments hinged at their ends, the root spring is that of half a segment. The last half
        segment of this split is rigid: moments and torques at its tip are answered with an error of first order.
    damping : float or (float, float), optional
        One number: damping ratio of the first mode of the beam with its payloads, clamped; mode r then has this ratio
        times w_r/w_1. Two: Kelvin-Voigt viscosities (eta, eta_G), Pa s, b = eta/E k of bending and extension, eta_G/G k
        of torsion and shear.
    bending : {"both", "y", "z"} or None
        Axes about which it bends; about y points move along z.
    torsion, extension : bool
        Twist about x; stretch along x.
    shear : bool
        Timoshenko's beam: shear in the planes of bending.
    parent : str, optional
        Link that carries the beam. Default: the previous one in the list of the chain.
    position : (3,) array, m
    rotation : (3, 3) array or object with ``.as_matrix()``
        Root frame in the parent.
    payloads : dict {s: Body}, optional
        Bodies welded to the beam at the distance s from its root, m; their frame has the axes of the beam. Where a
        spring is, the side of the root carries them.

    Returns
    -------
    beam : Beam

    Raises
    ------
    ModelError
        A length, section, material or payload that makes no beam; nothing that deforms.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> boom = zv.flexible.beam("boom", 6.0, section=zv.flexible.Tube(0.05, 0.002), material=zv.flexible.aluminium)
    >>> boom
    Beam 'boom': 6 m, 9.975 kg, 8 elements (wittbrodt), 24 joints
    >>> shoulder = zv.Link("shoulder", axis=(0, 0, 1), rotor_inertia=0.5)
    >>> arm = zv.Chain([shoulder, *boom, zv.Link("hand", joint="fixed", mass=20.0, inertia=2.0)])
    >>> arm.n, boom.tip, boom.joints[:3]
    (25, 'boom_tip', ('boom_1_torsion', 'boom_1_bending_y', 'boom_1_bending_z'))
    >>> boom.frequencies[[0, 2, 4]].round(2)  # bending in two planes, Hz
    array([ 2.73, 17.26, 48.65])
    """

    def fail(text: str) -> NoReturn:
        raise ModelError(f"flexible.beam {_show(name)}: {text}", name if isinstance(name, str) else None)

    if not _is_name(name):
        raise ModelError(f"flexible.beam: name is {_show(name)}, expected a non-empty string")
    L = as_amount(length, fail, "length", positive=True)
    n = as_integer(f"flexible.beam {_show(name)}", "elements", elements, 1, MOST_ELEMENTS)
    if not isinstance(material, Material):
        fail(f"material is {_show(material)}, expected a zv.flexible.Material")
    if not isinstance(split, str) or split not in ("wittbrodt", "huston"):
        fail(f"split is {_show(split)}, expected 'wittbrodt' or 'huston'{did_you_mean(split, ('wittbrodt', 'huston'))}")
    if not (bending is None or isinstance(bending, str)) or bending not in _PLANES:
        fail(f"bending is {_show(bending)}, expected 'both', 'y', 'z' or None")
    for key, flag in (("torsion", torsion), ("extension", extension), ("shear", shear)):
        if not isinstance(flag, bool | np.bool_):
            fail(f"{key} is {_show(flag)}, expected True or False")
    planes = _PLANES[bending]
    if shear and not planes:
        fail("shear is that of a plane of bending, and bending is None")
    if not (planes or torsion or extension):
        fail("nothing deforms; a rigid beam is a Link")
    viscosity = _viscosity(damping, material, fail)
    at = _sections(section, L, fail)
    bodies = _bodies(payloads, L, fail)

    # springs at `stations`, each for the beam between two `borders`
    d = L / n
    i = np.arange(n, dtype=np.float64)
    stations: Array
    if split == "wittbrodt":
        stations, borders = (i + 0.5) * d, np.linspace(0.0, L, n + 1)
    else:
        stations, borders = i * d, np.r_[0.0, (i + 0.5) * d]
    cuts = np.r_[0.0, stations, L]  # ends of the rigid elements

    E, G, nu = material.young, material.shear, material.poisson
    rigidity: dict[str, Callable[[SectionLike], float]] = {}  # by kind of hinge
    if extension:
        rigidity["extension"] = lambda c: E * c.area
    for plane in planes if shear else "":
        rigidity[f"shear_{_CROSS[plane]}"] = lambda c, to=_CROSS[plane]: _kappa(c, nu, to, fail) * G * c.area  # type: ignore[misc]
    if torsion:
        rigidity["torsion"] = lambda c: G * c.J
    if "y" in planes:
        rigidity["bending_y"] = lambda c: E * c.Iy
    if "z" in planes:
        rigidity["bending_z"] = lambda c: E * c.Iz

    place = as_array(position, fail, "position", (3,))
    turn = as_rotation(np.eye(3) if rotation is None else rotation, fail, "rotation")
    whole = [_rigid(at, a, b, material.density) for a, b in pairwise(cuts.tolist())]
    names = [f"{name}_{k}" for k in range(n + 1)]
    links = [_link(names[0], whole[0], joint="fixed", parent=parent, position=place, rotation=turn)]
    for k in range(1, n + 1):
        before, offset = names[k - 1], float(cuts[k] - cuts[k - 1])
        pieces = _points(borders[k - 1], borders[k])
        # finite rotations do not commute: what one order of the hinges does wrong the opposite order takes back
        order = list(rigidity) if k % 2 else list(rigidity)[::-1]
        for hinge in order:
            last = hinge == order[-1]
            stiffness = 1 / sum(w / rigidity[hinge](at(s)) for s, w in pieces)
            link = _link(
                names[k] if last else f"{names[k]}_{hinge}",
                whole[k] if last else None,
                parent=before,
                joint="prismatic" if hinge[:5] in ("exten", "shear") else "revolute",
                joint_name=f"{names[k]}_{hinge}",
                axis=_AXES[hinge[-1] if "_" in hinge else "x"],
                position=(offset, 0.0, 0.0),
                stiffness=stiffness,
                friction=viscosity[hinge[:5] in ("torsi", "shear")] * stiffness,
            )
            links.append(link)
            before, offset = link.name, 0.0
    for k, (s, body) in enumerate(bodies):
        carrier = int(np.searchsorted(stations, s * (1 - 1e-12)))  # an element ends at its spring
        shift = (s - float(cuts[carrier]), 0.0, 0.0)
        links.append(_link(f"{name}_payload_{k}", body, joint="fixed", parent=names[carrier], position=shift))
    links.append(Link(f"{name}_tip", joint="fixed", parent=names[n], position=(L - float(cuts[n]), 0.0, 0.0)))

    arguments = {
        "name": name, "length": L, "section": section, "material": material, "elements": n, "split": split,
        "damping": damping, "bending": bending, "torsion": bool(torsion), "extension": bool(extension),
        "shear": bool(shear), "parent": parent, "position": place, "rotation": turn, "payloads": dict(bodies),
    }  # fmt: skip
    made = Beam(links, stations, sum(body.mass for body in whole), arguments)
    if damping is None or isinstance(damping, Sequence):
        return made
    factor = 2 * float(damping) / (2 * math.pi * float(made.frequencies[0]))  # b = (2 zeta / w1) k
    damped = [link if link.joint == "fixed" else link._with(friction=factor * link.stiffness) for link in links]
    return Beam(damped, stations, made.mass, arguments)


def _viscosity(damping: object, material: Material, fail: Fail) -> tuple[float, float]:
    """b/k of bending and extension, of torsion and shear; zeros for a damping ratio, which needs the first mode."""
    if damping is None:
        return 0.0, 0.0
    if isinstance(damping, Sequence) and not isinstance(damping, str):
        if len(damping) != 2:
            fail(f"damping is {_show(damping)}, expected a ratio, a pair (eta, eta_G) or None")
        normal, shear = (as_amount(x, fail, f"damping[{k}]") for k, x in enumerate(damping))
        return normal / material.young, shear / material.shear
    as_amount(damping, fail, "damping")
    return 0.0, 0.0


def _sections(section: object, length: float, fail: Fail) -> Callable[[float], SectionLike]:
    """The cross-section at a distance from the root, checked."""

    def checked(found: object, where: str) -> SectionLike:
        if not isinstance(found, SectionLike):
            fail(f"section{where} is {_show(found)}, expected a cross-section such as zv.flexible.Tube")
        for key in ("area", "Iy", "Iz", "J"):
            as_amount(getattr(found, key), fail, f"{key} of section{where}", positive=True)
        return found

    if isinstance(section, tuple | list):
        if len(section) != 2:
            fail(f"section has {len(section)} entries, expected a pair (root, tip)")
        root, tip = (checked(end, where) for end, where in zip(section, ("[0]", "[1]"), strict=True))
        if type(root) is not type(tip) or not isinstance(root, Record) or not isinstance(tip, Record):
            fail(f"section is the pair {_show(root)} and {_show(tip)}, expected two of one class, or a function of s")
        first, last = root._values(), tip._values()
        if any((first[key] is None) != (last[key] is None) for key in first):
            fail(f"section is the pair {_show(root)} and {_show(tip)}: one is hollow, the other full")

        def between(s: float) -> SectionLike:
            mixed = {
                key: None if first[key] is None else first[key] + s / length * (last[key] - first[key]) for key in first
            }
            return cast(SectionLike, type(root)(**mixed))

        return between
    if isinstance(section, SectionLike):
        same = checked(section, "")
        return lambda s: same
    if callable(section):
        return lambda s: checked(section(s), f"({s:.6g})")
    fail(f"section is {_show(section)}, expected a cross-section such as zv.flexible.Tube, a pair or a function of s")


def _kappa(section: SectionLike, poisson: float, axis: str, fail: Fail) -> float:
    kappa = getattr(section, "kappa", None)
    if not callable(kappa):
        fail(f"shear=True needs a section with kappa(poisson, axis), {_show(section)} has none")
    return as_amount(kappa(poisson, axis), fail, f"kappa of {_show(section)}", positive=True)


def _bodies(payloads: object, length: float, fail: Fail) -> list[tuple[float, Body]]:
    """Distances from the root and bodies, in the order of the former."""
    if payloads is None:
        return []
    if not isinstance(payloads, Mapping):
        fail(f"payloads is {_show(payloads)}, expected a dictionary {{s: Body}}")
    found = []
    for s, body in payloads.items():
        place = as_number(s, fail, "a key of payloads")
        if not 0 <= place <= length * (1 + 1e-12):
            fail(f"payloads has s = {place:g} m, expected 0 to the length {length:g} m")
        if not isinstance(body, Body):
            fail(f"payloads[{place:g}] is {_show(body)}, expected a zv.Body")
        found.append((min(place, length), body))
    return sorted(found, key=lambda pair: pair[0])


def _points(a: float, b: float) -> list[tuple[float, float]]:
    """Gauss points and weights of an integral over [a, b]."""
    middle, half = (a + b) / 2, (b - a) / 2
    return [(float(middle + half * x), float(half * w)) for x, w in zip(_NODES, _WEIGHTS, strict=True)]


def _rigid(at: Callable[[float], SectionLike], a: float, b: float, density: float) -> Body:
    """The beam between a and b as a rigid body in a frame at a."""
    if a == b:
        return Body(0.0, 0.0)
    parts = [(s - a, density * w, at(s)) for s, w in _points(a, b)]
    mass = sum(w * c.area for _, w, c in parts)
    centre = sum(x * w * c.area for x, w, c in parts) / mass
    spread = sum((x - centre) ** 2 * w * c.area for x, w, c in parts)
    about_y, about_z = (sum(w * getattr(c, key) for _, w, c in parts) for key in ("Iy", "Iz"))
    return Body(mass, (about_y + about_z, about_y + spread, about_z + spread), (centre, 0.0, 0.0))


def _link(name: str, body: Body | None, **values: Any) -> Link:
    if body is None:
        return Link(name, **values)
    return Link(name, mass=body.mass, com=body.com, inertia=body.inertia, **values)
