"""Cross-sections of links and beams: areas, moments of area, torsion, shear, stress.

Axes of a section: x along the beam, y across (width), z up (height), from the centroid. `Iy` is the integral of z^2
over the area, which resists a moment about y.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Literal, NoReturn

import numpy as np

from .._check import _show, as_amount, as_number
from .._record import Record
from ..errors import ModelError

__all__ = ["Box", "CrossSection", "IBeam", "Rod", "Tube"]


class CrossSection:
    """What all cross-sections have: `Rod`, `Tube`, `Box`, `IBeam`. Lengths in m, areas in m^2."""

    __slots__ = ()

    @property
    @abstractmethod
    def area(self) -> float:
        """Area A, m^2."""

    @property
    @abstractmethod
    def Iy(self) -> float:
        """Second moment of area about y, the integral of z^2, m^4."""

    @property
    @abstractmethod
    def Iz(self) -> float:
        """Second moment of area about z, the integral of y^2, m^4."""

    @property
    @abstractmethod
    def J(self) -> float:
        """Torsion constant, m^4: the twist per length is T / (G J). Equal to `Ip` for round sections only."""

    @property
    @abstractmethod
    def wt(self) -> float:
        """Torsion modulus, m^3: the largest shear stress of a torque T is T / wt."""

    @property
    @abstractmethod
    def half_width(self) -> float:
        """Distance of the outermost fibre along y, m."""

    @property
    @abstractmethod
    def half_height(self) -> float:
        """Distance of the outermost fibre along z, m."""

    @property
    @abstractmethod
    def shear_area_y(self) -> float:
        """A force Q along y has the largest shear stress Q / shear_area_y, m^2: I b / S at the neutral axis."""

    @property
    @abstractmethod
    def shear_area_z(self) -> float:
        """A force Q along z has the largest shear stress Q / shear_area_z, m^2: I b / S at the neutral axis."""

    @abstractmethod
    def kappa(self, poisson: float = 0.3, axis: Literal["y", "z"] = "z") -> float:
        """Shear coefficient of Timoshenko's beam for a force along `axis`: shear stiffness kappa G A. Cowper (1966).

        Examples
        --------
        >>> import zveno as zv
        >>> round(zv.flexible.Tube(0.1, 0.004).kappa(0.3), 4)
        0.531
        """

    @property
    def Ip(self) -> float:
        """Polar second moment of area, Iy + Iz, m^4: the inertia about the axis per length and density."""
        return self.Iy + self.Iz

    @property
    def wy(self) -> float:
        """Section modulus for moments about y, Iy / half_height, m^3."""
        return self.Iy / self.half_height

    @property
    def wz(self) -> float:
        """Section modulus for moments about z, Iz / half_width, m^3."""
        return self.Iz / self.half_width

    @property
    def is_round(self) -> bool:
        """Whether every direction across is alike."""
        return False


class _Round(CrossSection):
    """A circle or a ring."""

    __slots__ = ()

    radius: float

    @property
    def _inner(self) -> float:
        return 0.0

    @property
    def area(self) -> float:
        """Area, pi (R^2 - r^2), m^2."""
        return math.pi * (self.radius - self._inner) * (self.radius + self._inner)

    @property
    def Iy(self) -> float:
        """Second moment of area about y, pi (R^4 - r^4) / 4, m^4."""
        return self.area * (self.radius**2 + self._inner**2) / 4

    @property
    def Iz(self) -> float:
        """Second moment of area about z, equal to `Iy`, m^4."""
        return self.Iy

    @property
    def J(self) -> float:
        """Torsion constant, pi (R^4 - r^4) / 2, m^4."""
        return 2 * self.Iy

    @property
    def wt(self) -> float:
        """Torsion modulus, J / R, m^3."""
        return self.J / self.radius

    @property
    def half_width(self) -> float:
        """Outer radius, m."""
        return self.radius

    @property
    def half_height(self) -> float:
        """Outer radius, m."""
        return self.radius

    @property
    def shear_area_y(self) -> float:
        """I b / S = 3 A (R^2 + r^2) / (4 (R^2 + R r + r^2)): 3 A / 4 of a full circle, A / 2 of a thin ring; m^2."""
        R, r = self.radius, self._inner
        return 0.75 * self.area * (R**2 + r**2) / (R**2 + R * r + r**2)

    @property
    def shear_area_z(self) -> float:
        """Equal to `shear_area_y`, m^2."""
        return self.shear_area_y

    def kappa(self, poisson: float = 0.3, axis: Literal["y", "z"] = "z") -> float:
        """Shear coefficient, Cowper (1966): 6 (1 + nu) m^2 / ((7 + 6 nu) m^2 + (20 + 12 nu) (r/R)^2), m = 1 + (r/R)^2.

        Parameters
        ----------
        poisson : float
            Poisson's ratio nu.
        axis : {"y", "z"}
            Direction of the force.
        """
        nu = _poisson(type(self).__name__, poisson, axis)
        square = (self._inner / self.radius) ** 2
        m = (1 + square) ** 2
        return 6 * (1 + nu) * m / ((7 + 6 * nu) * m + (20 + 12 * nu) * square)

    @property
    def is_round(self) -> bool:
        """True: every direction across is alike."""
        return True


class Rod(Record, _Round):
    """Full circle. Immutable.

    Parameters
    ----------
    radius : float, m

    Examples
    --------
    >>> from zveno.model.cross_section import Rod
    >>> rod = Rod(0.02)
    >>> f"{rod.area:.4e} m^2, {rod.Iy:.4e} m^4, {rod.kappa(0.3):.4f}"
    '1.2566e-03 m^2, 1.2566e-07 m^4, 0.8864'
    """

    __slots__ = ("radius",)
    _required = ("radius",)

    radius: float

    def __init__(self, radius: float) -> None:
        super().__init__(radius=_length("Rod", "radius", radius))

    def __repr__(self) -> str:
        return f"Rod(radius={self.radius:g} m)"


class Tube(Record, _Round):
    """Round tube. Immutable.

    Parameters
    ----------
    radius : float, m
        Outer radius.
    thickness : float, m
        Wall, inwards from `radius`, at most `radius`; any thickness, all formulas are exact.

    Examples
    --------
    >>> from zveno.model.cross_section import Tube
    >>> tube = Tube(0.05, 0.004)
    >>> f"{tube.area:.4e} m^2, {tube.Iy:.4e} m^4, {tube.wy:.4e} m^3"
    '1.2064e-03 m^2, 1.3922e-06 m^4, 2.7843e-05 m^3'
    """

    __slots__ = ("radius", "thickness")
    _required = ("radius", "thickness")

    radius: float
    thickness: float

    def __init__(self, radius: float, thickness: float) -> None:
        size, wall = _length("Tube", "radius", radius), _length("Tube", "thickness", thickness)
        if wall > size:
            raise ModelError(f"Tube: thickness is {wall:g}, expected at most the outer radius {size:g}")
        super().__init__(radius=size, thickness=wall)

    @property
    def _inner(self) -> float:
        return self.radius - self.thickness

    def __repr__(self) -> str:
        return f"Tube(radius={self.radius:g} m, thickness={self.thickness:g} m)"


class Box(Record, CrossSection):
    """Rectangle, hollow or full. Immutable.

    Parameters
    ----------
    width, height : float, m
        Outer sizes along y and z.
    thickness : float, m, optional
        Wall, inwards from the outer sizes, less than half of the smaller one. Default: a full rectangle.

    Notes
    -----
    Torsion of the hollow box is that of EN 10210-2 with sharp corners, Bredt's closed wall and the wall's own part:
    J = 4 A_m^2 t / p + p t^3 / 3, with the area A_m inside and the length p of the middle line; of the full one Saint-
    Venant's series. Bredt's formula holds for thin walls; the sum is too soft by at most 7 % up to walls that meet.

    Examples
    --------
    >>> from zveno.model.cross_section import Box
    >>> box = Box(0.08, 0.12, 0.005)
    >>> f"{box.area:.4e} m^2, {box.Iy:.4e} m^4, {box.Iz:.4e} m^4, {box.J:.4e} m^4"
    '1.9000e-03 m^2, 3.7558e-06 m^4, 1.9758e-06 m^4, 3.9311e-06 m^4'
    """

    __slots__ = ("height", "thickness", "width")
    _required = ("width", "height")

    width: float
    height: float
    thickness: float | None

    def __init__(self, width: float, height: float, thickness: float | None = None) -> None:
        sizes = _length("Box", "width", width), _length("Box", "height", height)
        wall = None if thickness is None else _length("Box", "thickness", thickness)
        if wall is not None and not 2 * wall < min(sizes):
            raise ModelError(
                f"Box: thickness is {wall:g}, expected less than half of {min(sizes):g}; None for a full one"
            )
        super().__init__(width=sizes[0], height=sizes[1], thickness=wall)

    @property
    def _inner(self) -> tuple[float, float]:
        if self.thickness is None:
            return 0.0, 0.0
        return self.width - 2 * self.thickness, self.height - 2 * self.thickness

    @property
    def area(self) -> float:
        """Area, m^2."""
        b, h = self._inner
        return self.width * self.height - b * h

    @property
    def Iy(self) -> float:
        """Second moment of area about y, (b h^3 - b_i h_i^3) / 12, m^4."""
        b, h = self._inner
        return (self.width * self.height**3 - b * h**3) / 12

    @property
    def Iz(self) -> float:
        """Second moment of area about z, (h b^3 - h_i b_i^3) / 12, m^4."""
        b, h = self._inner
        return (self.height * self.width**3 - h * b**3) / 12

    @property
    def _middle(self) -> tuple[float, float, float]:
        """Area inside the middle line of the wall, its length, the wall."""
        t = self.thickness or 0.0
        b, h = self.width - t, self.height - t
        return b * h, 2 * (b + h), t

    @property
    def J(self) -> float:
        """Torsion constant, m^4; see the notes of the class."""
        if self.thickness is None:
            return _rectangle(self.width, self.height)[0]
        area, around, t = self._middle
        return 4 * area**2 * t / around + around * t**3 / 3

    @property
    def wt(self) -> float:
        """Torsion modulus, m^3: J / (t + 2 A_m / p) of a hollow box, EN 10210-2."""
        if self.thickness is None:
            return _rectangle(self.width, self.height)[1]
        area, around, t = self._middle
        return self.J / (t + 2 * area / around)

    @property
    def half_width(self) -> float:
        """Half of the width, m."""
        return self.width / 2

    @property
    def half_height(self) -> float:
        """Half of the height, m."""
        return self.height / 2

    @property
    def shear_area_y(self) -> float:
        """I b / S for a force along y, 2 A / 3 of a full box, m^2."""
        b, h = self._inner
        return _shear_area(self.Iz, self.height - h, self.height, self.width, h, b)

    @property
    def shear_area_z(self) -> float:
        """I b / S for a force along z, 2 A / 3 of a full box, m^2."""
        b, h = self._inner
        return _shear_area(self.Iy, self.width - b, self.width, self.height, b, h)

    def kappa(self, poisson: float = 0.3, axis: Literal["y", "z"] = "z") -> float:
        """Shear coefficient, Cowper (1966): of the rectangle, or of the thin-walled box with sizes of its middle line.

        Parameters
        ----------
        poisson : float
            Poisson's ratio nu.
        axis : {"y", "z"}
            Direction of the force.

        Notes
        -----
        Rectangle: 10 (1 + nu) / (12 + 11 nu). Box, with n = m = b / h of the middle line, h along the force:
        10 (1 + nu) (1 + 3 m)^2 / (12 + 72 m + 150 m^2 + 90 m^3 + nu (11 + 66 m + 135 m^2 + 90 m^3)
        + 10 n^2 ((3 + nu) m + 3 m^2)).
        """
        nu = _poisson("Box", poisson, axis)
        if self.thickness is None:
            return 10 * (1 + nu) / (12 + 11 * nu)
        b, h = self.width - self.thickness, self.height - self.thickness
        m = b / h if axis == "z" else h / b
        return _thin_walled(nu, m, 10 * m**2 * ((3 + nu) * m + 3 * m**2))

    def __repr__(self) -> str:
        wall = "" if self.thickness is None else f", thickness={self.thickness:g} m"
        return f"Box(width={self.width:g} m, height={self.height:g} m{wall})"


class IBeam(Record, CrossSection):
    """I-beam with equal flanges and sharp corners. Immutable.

    Parameters
    ----------
    width : float, m
        Of the flanges, along y.
    height : float, m
        Outer height, along z.
    web, flange : float, m
        Thicknesses.

    Notes
    -----
    J = 2 (b - 0.63 t_f) t_f^3 / 3 + (h - 2 t_f) t_w^3 / 3 + 0.29 (t_w / t_f) (t_f + t_w^2 / (4 t_f))^4: plates of
    finite length and their junctions, El Darwish & Johnston (1965). Warping is free.

    Examples
    --------
    >>> from zveno.model.cross_section import IBeam
    >>> beam = IBeam(0.1, 0.2, 0.0056, 0.0085)
    >>> f"{beam.area:.4e} m^2, {beam.Iy:.4e} m^4, {beam.Iz:.4e} m^4"
    '2.7248e-03 m^2, 1.8456e-05 m^4, 1.4193e-06 m^4'
    """

    __slots__ = ("flange", "height", "web", "width")
    _required = ("width", "height", "web", "flange")

    width: float
    height: float
    web: float
    flange: float

    def __init__(self, width: float, height: float, web: float, flange: float) -> None:
        given = {"width": width, "height": height, "web": web, "flange": flange}
        values = {name: _length("IBeam", name, value) for name, value in given.items()}
        for wall, size, factor in (("web", "width", 1), ("flange", "height", 2)):
            if not factor * values[wall] < values[size]:
                most = f"{'' if factor == 1 else 'half of '}the {size} {values[size]:g}"
                raise ModelError(f"IBeam: {wall} is {values[wall]:g}, expected less than {most}")
        super().__init__(**values)

    @property
    def _gap(self) -> float:
        """Between the flanges."""
        return self.height - 2 * self.flange

    @property
    def area(self) -> float:
        """Area, m^2."""
        return 2 * self.width * self.flange + self._gap * self.web

    @property
    def Iy(self) -> float:
        """Second moment of area about y, m^4."""
        return (self.width * self.height**3 - (self.width - self.web) * self._gap**3) / 12

    @property
    def Iz(self) -> float:
        """Second moment of area about z, m^4."""
        return (2 * self.flange * self.width**3 + self._gap * self.web**3) / 12

    @property
    def J(self) -> float:
        """Torsion constant, m^4; see the notes of the class."""
        b, tw, tf = self.width, self.web, self.flange
        plates = (2 * (b - 0.63 * tf) * tf**3 + self._gap * tw**3) / 3
        return plates + 0.29 * (tw / tf) * (tf + tw**2 / (4 * tf)) ** 4

    @property
    def wt(self) -> float:
        """Torsion modulus, J / thickest plate, m^3: without the notch effect of the corners."""
        return self.J / max(self.web, self.flange)

    @property
    def half_width(self) -> float:
        """Half of the width, m."""
        return self.width / 2

    @property
    def half_height(self) -> float:
        """Half of the height, m."""
        return self.height / 2

    @property
    def shear_area_y(self) -> float:
        """I b / S for a force along y, in the flanges, m^2."""
        first = self.flange * self.width**2 / 4  # beside the web, where the wall is that of the flanges only
        first -= self.flange * self.web**2 / 4
        return self.Iz * 2 * self.flange / first

    @property
    def shear_area_z(self) -> float:
        """I b / S for a force along z, at the middle of the web, m^2."""
        return _shear_area(self.Iy, self.web, self.width, self.height, self.width - self.web, self._gap)

    def kappa(self, poisson: float = 0.3, axis: Literal["y", "z"] = "z") -> float:
        """Shear coefficient, Cowper (1966) for thin walls; along y that of the two flanges as rectangles.

        Parameters
        ----------
        poisson : float
            Poisson's ratio nu.
        axis : {"y", "z"}
            Direction of the force.

        Notes
        -----
        With n = b / h and m = 2 b t_f / (h t_w), h between the middles of the flanges: 10 (1 + nu) (1 + 3 m)^2 /
        (12 + 72 m + 150 m^2 + 90 m^3 + nu (11 + 66 m + 135 m^2 + 90 m^3) + 30 n^2 (m + m^2) + 5 nu n^2 (8 m + 9 m^2)).
        """
        nu = _poisson("IBeam", poisson, axis)
        if axis == "y":
            return 10 * (1 + nu) / (12 + 11 * nu) * 2 * self.width * self.flange / self.area
        h = self.height - self.flange
        n, m = self.width / h, 2 * self.width * self.flange / (h * self.web)
        return _thin_walled(nu, m, 30 * n**2 * (m + m**2) + 5 * nu * n**2 * (8 * m + 9 * m**2))

    def __repr__(self) -> str:
        sizes = (f"{name}={getattr(self, name):g} m" for name in self._required)
        return f"IBeam({', '.join(sizes)})"


def _length(who: str, what: str, value: object) -> float:
    def fail(text: str) -> NoReturn:
        raise ModelError(f"{who}: {text}")

    number = as_amount(value, fail, what, positive=True)
    if not 1e-20 < number < 1e20:  # fourth powers of other lengths are lost
        fail(f"{what} is {number:g} m, which no cross-section has")
    return number


def _poisson(who: str, value: object, axis: object) -> float:
    def fail(text: str) -> NoReturn:
        raise ValueError(f"{who}.kappa: {text}")

    if not isinstance(axis, str) or axis not in ("y", "z"):
        fail(f"axis is {_show(axis)}, expected 'y' or 'z'")
    number = as_number(value, fail, "poisson")
    if not -1 < number <= 0.5:
        fail(f"poisson is {number:g}, expected a number > -1 and <= 0.5")
    return number


def _thin_walled(nu: float, m: float, more: float) -> float:
    """Cowper's boxes and I-beams; `more`: the terms with the width."""
    below = 12 + 72 * m + 150 * m**2 + 90 * m**3 + nu * (11 + 66 * m + 135 * m**2 + 90 * m**3) + more
    return 10 * (1 + nu) * (1 + 3 * m) ** 2 / below


def _shear_area(inertia: float, wall: float, b: float, h: float, b_hole: float, h_hole: float) -> float:
    """I b / S at the neutral axis of a rectangle b x h with a hole, the force along h."""
    return inertia * wall / ((b * h**2 - b_hole * h_hole**2) / 8)


def _rectangle(width: float, height: float) -> tuple[float, float]:
    """Torsion constant and modulus of a full rectangle: Saint-Venant's series, by odd k."""
    a, b = max(width, height), min(width, height)
    k = np.arange(1, 400, 2, dtype=float)
    x = np.minimum(k * math.pi * a / (2 * b), 600.0)
    constant = a * b**3 * (1 / 3 - 64 / math.pi**5 * (b / a) * float((np.tanh(x) / k**5).sum()))
    # at the middle of the longer side
    stress = b * (1 - 8 / math.pi**2 * float((1 / (k**2 * np.cosh(x))).sum()))
    return constant, constant / stress
