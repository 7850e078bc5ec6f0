"""`Body`: mass, centre of mass and inertia."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Final, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import (
    LARGEST,
    SMALLEST,
    Array,
    Fail,
    _show,
    as_amount,
    as_array,
    as_choice,
    as_direction,
    as_flag,
    as_list,
    as_number,
    as_vector,
    frozen,
    report,
)
from .._record import Record
from .._rotation import IDENTITY, as_pose, as_rotation, rotated, shape_of
from ..errors import ModelError

__all__ = ["Body"]

_FIELDS: Final = ("mass", "inertia", "com")
_ORIGIN: Final = (0.0, 0.0, 0.0)
_X: Final = (1.0, 0.0, 0.0)


class Body(Record):
    """A rigid body. Immutable.

    Parameters
    ----------
    mass : float, kg
    inertia : (3, 3) or (3,) array or float, kg m^2
        Inertia tensor about the centre of mass in body axes; three numbers are its diagonal, one a sphere's.
    com : (3,) array, m
        Centre of mass in the body frame.

    Raises
    ------
    ModelError
        A negative mass, an inertia that is not symmetric or has a negative eigenvalue.

    Warns
    -----
    ModelWarning
        An inertia that breaks the triangle inequality, or that belongs to a body without mass.

    Examples
    --------
    >>> Body(45.0, (15.5, 8.2, 8.2))
    Body(45 kg)
    """

    __slots__ = _FIELDS
    _required = ("mass", "inertia")

    mass: float
    inertia: Array
    com: Array

    def __init__(self, mass: float, inertia: ArrayLike, com: ArrayLike = _ORIGIN) -> None:
        def fail(text: str) -> NoReturn:
            raise ModelError(f"Body: {text}")

        number = as_amount(mass, fail, "mass")
        tensor = as_array(inertia, fail, "inertia", (3, 3), (3,), ())
        if tensor.ndim < 2:
            tensor = np.diag(np.broadcast_to(tensor, 3))
        if np.abs(tensor).max() > LARGEST:
            fail(f"inertia is {_show(tensor.tolist())}, too large to compute with")
        place = as_vector(com, fail, "com")
        doubts = _core.check_body("Body", number, place, tensor)
        super().__init__(mass=number, inertia=frozen(0.5 * (tensor + tensor.T)), com=place)
        report(doubts, "Body", strict=False)

    @classmethod
    def cylinder(
        cls,
        mass: float | None,
        radius: float,
        length: float,
        start: float = 0.0,
        *,
        axis: ArrayLike = _X,
        density: float | None = None,
    ) -> Self:
        """Homogeneous solid cylinder about an axis through the origin, from `start` to `start` + `length` along it.

        Parameters
        ----------
        mass : float or None, kg
            None where `density` is given.
        radius, length, start : float, m
        axis : (3,) array
            Direction of the axis; any length but zero. Default: x.
        density : float, kg/m^3, optional

        Returns
        -------
        body : Body
            About the centre of mass m r^2 / 2 along the axis, m (3 r^2 + l^2) / 12 across it.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> rod = zv.Body.cylinder(3.0, 0.02, 0.6)  # kg, m, m; along x from the origin
        >>> rod.com, np.diag(rod.inertia).round(4)
        (array([0.3, 0. , 0. ]), array([0.0006, 0.0903, 0.0903]))
        >>> zv.Body.cylinder(None, 0.05, 0.4, axis=(0, 0, 1), density=2700)
        Body(8.4823 kg)
        """
        fail = _failing("cylinder")
        r, size = (as_amount(x, fail, what) for x, what in ((radius, "radius"), (length, "length")))
        m = _mass(mass, density, math.pi * r**2 * size, fail)
        across = m * (3 * r**2 + size**2) / 12
        return cls._about(axis, m, m * r**2 / 2, across, as_number(start, fail, "start") + size / 2, fail)

    @classmethod
    def tube(
        cls,
        mass: float | None,
        radius: float,
        inner_radius: float,
        length: float,
        start: float = 0.0,
        *,
        axis: ArrayLike = _X,
        density: float | None = None,
    ) -> Self:
        """Homogeneous hollow cylinder, placed as a `cylinder`.

        Parameters
        ----------
        mass : float or None, kg
        radius, inner_radius, length, start : float, m
        axis : (3,) array
        density : float, kg/m^3, optional

        Returns
        -------
        body : Body
            About the centre of mass m (r^2 + r_i^2) / 2 along the axis, m (3 (r^2 + r_i^2) + l^2) / 12 across it.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> boom = zv.Body.tube(None, 0.05, 0.046, 1.2, density=1600)
        >>> boom, np.diag(boom.inertia).round(5)
        (Body(2.31623 kg), array([0.00535, 0.28062, 0.28062]))
        """
        fail = _failing("tube")
        names = ((radius, "radius"), (inner_radius, "inner_radius"), (length, "length"))
        r, hole, size = (as_amount(x, fail, what) for x, what in names)
        if hole > r:
            fail(f"inner_radius is {hole:g}, expected at most the radius {r:g}")
        m = _mass(mass, density, math.pi * (r - hole) * (r + hole) * size, fail)
        both = r**2 + hole**2
        across = m * (3 * both + size**2) / 12
        return cls._about(axis, m, m * both / 2, across, as_number(start, fail, "start") + size / 2, fail)

    @classmethod
    def cone(
        cls,
        mass: float | None,
        radius: float,
        length: float,
        start: float = 0.0,
        *,
        end_radius: float = 0.0,
        axis: ArrayLike = _X,
        density: float | None = None,
    ) -> Self:
        """Homogeneous solid cone or frustum about an axis through the origin.

        Parameters
        ----------
        mass : float or None, kg
        radius : float, m
            At `start`.
        length, start : float, m
        end_radius : float, m
            At `start` + `length`; 0: a pointed cone.
        axis : (3,) array
        density : float, kg/m^3, optional

        Returns
        -------
        body : Body
            Of a pointed cone: centre of mass at l / 4, about it 3 m r^2 / 10 along the axis and
            3 m (4 r^2 + l^2) / 80 across it.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> tip = zv.Body.cone(1.0, 0.1, 0.4)
        >>> tip.com, np.diag(tip.inertia)
        (array([0.1, 0. , 0. ]), array([0.003 , 0.0075, 0.0075]))
        """
        fail = _failing("cone")
        names = ((radius, "radius"), (end_radius, "end_radius"), (length, "length"))
        a, b, size = (as_amount(x, fail, what) for x, what in names)
        if not max(a, b) > SMALLEST:
            fail("radius and end_radius are 0, expected one that is not")
        # radius a + (b - a) s: integrals of its powers over 0 <= s <= 1, and of these times s, s^2
        square = (a * a + a * b + b * b) / 3
        fourth = (a**4 + a**3 * b + a * a * b * b + a * b**3 + b**4) / 5
        first = (a * a + 2 * a * b + 3 * b * b) / 12
        second = (a * a + 3 * a * b + 6 * b * b) / 30
        m = _mass(mass, density, math.pi * square * size, fail)
        centre = first / square
        along = m * fourth / (2 * square)
        across = along / 2 + m * size**2 * (second / square - centre**2)
        return cls._about(axis, m, along, across, as_number(start, fail, "start") + size * centre, fail)

    @classmethod
    def capsule(
        cls,
        mass: float | None,
        radius: float,
        length: float,
        start: float = 0.0,
        *,
        axis: ArrayLike = _X,
        density: float | None = None,
    ) -> Self:
        """Homogeneous cylinder with half a ball at each end.

        Parameters
        ----------
        mass : float or None, kg
        radius : float, m
        length, start : float, m
            Of the cylinder: the whole is longer by twice the radius.
        axis : (3,) array
        density : float, kg/m^3, optional

        Returns
        -------
        body : Body

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> np.diag(zv.Body.capsule(2.0, 0.1, 0.0).inertia)  # nothing but a ball
        array([0.008, 0.008, 0.008])
        """
        fail = _failing("capsule")
        r, size = (as_amount(x, fail, what) for x, what in ((radius, "radius"), (length, "length")))
        m = _mass(mass, density, math.pi * r**2 * (size + 4 * r / 3), fail)
        share = size / (size + 4 * r / 3) if size > 0 else 0.0  # of the mass, in the cylinder
        middle, ends = m * share, m * (1 - share)
        along = middle * r**2 / 2 + ends * 0.4 * r**2
        # of half a ball about its own centre of mass 83/320 m r^2, which is 3/8 r beyond the cylinder
        across = middle * (3 * r**2 + size**2) / 12 + ends * (83 / 320 * r**2 + (size / 2 + 0.375 * r) ** 2)
        return cls._about(axis, m, along, across, as_number(start, fail, "start") + size / 2, fail)

    @classmethod
    def box(cls, mass: float | None, size: ArrayLike, *, density: float | None = None) -> Self:
        """Homogeneous box with its centre in the origin and its edges along the axes.

        Parameters
        ----------
        mass : float or None, kg
            None where `density` is given.
        size : (3,) array, m
            Edges along x, y and z.
        density : float, kg/m^3, optional

        Returns
        -------
        body : Body
            I_x = m (b^2 + c^2) / 12 for edges a, b, c, and so on.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> np.diag(zv.Body.box(12.0, (0.1, 0.2, 0.3)).inertia).round(9)
        array([0.13, 0.1 , 0.05])
        """
        fail = _failing("box")
        edges = as_vector(size, fail, "size")
        if (edges < 0).any():
            fail(f"size is {_show(edges.tolist())}, expected numbers >= 0")
        m = _mass(mass, density, float(np.prod(edges)), fail)
        squares = edges**2
        return cls(m, m * (squares.sum() - squares) / 12)

    @classmethod
    def sphere(
        cls, mass: float | None, radius: float, inner_radius: float = 0.0, *, density: float | None = None
    ) -> Self:
        """Homogeneous ball, solid or hollow, with its centre in the origin.

        Parameters
        ----------
        mass : float or None, kg
            None where `density` is given.
        radius, inner_radius : float, m
            Equal ones make a thin shell, 2 m r^2 / 3.
        density : float, kg/m^3, optional

        Returns
        -------
        body : Body
            2 m (r^5 - r_i^5) / (5 (r^3 - r_i^3)) about every axis.

        Examples
        --------
        >>> import zveno as zv
        >>> round(float(zv.Body.sphere(5.0, 0.1).inertia[0, 0]), 9)
        0.02
        """
        fail = _failing("sphere")
        r, hole = (as_amount(x, fail, what) for x, what in ((radius, "radius"), (inner_radius, "inner_radius")))
        if hole > r:
            fail(f"inner_radius is {hole:g}, expected at most the radius {r:g}")
        three = r * r + r * hole + hole * hole  # (r^3 - r_i^3) / (r - r_i): a thin shell loses no digits
        five = r**4 + r**3 * hole + r * r * hole * hole + r * hole**3 + hole**4
        m = _mass(mass, density, 4 / 3 * math.pi * (r - hole) * three, fail)
        return cls(m, 0.4 * m * five / three if three > 0 else 0.0)

    @classmethod
    def drive_halves(
        cls,
        mass: float,
        radius: float,
        length: float,
        *,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        centre: ArrayLike = _ORIGIN,
        split: str = "mass",
    ) -> tuple[Self, Self]:
        """Shares of two links in the drive between them, a homogeneous cylinder.

        Parameters
        ----------
        mass : float, kg
            Of the whole drive.
        radius, length : float, m
        axis : (3,) array
        centre : (3,) array, m
        split : {"mass", "cut"}
            "mass": each link has the whole cylinder with half its mass, as Leskov et al. (2017), appendix 5, intend;
            "cut": the cylinder is cut across, the first half lies at the negative end of `axis`.

        Returns
        -------
        first, second : Body
            In one frame; the two together are the drive. Use `placed` to give one in the frame of its link.

        Examples
        --------
        >>> import zveno as zv
        >>> lower, upper = zv.Body.drive_halves(12.0, 0.09, 0.14, split="cut")
        >>> float(lower.com[2]), float(upper.com[2])
        (-0.035, 0.035)
        """
        fail = _failing("drive_halves")
        where = as_vector(centre, fail, "centre")
        as_choice(split, fail, "split", ("mass", "cut"))
        half = as_amount(mass, fail, "mass") / 2
        size = as_amount(length, fail, "length")
        starts = (-size / 2, -size / 2) if split == "mass" else (-size / 2, 0.0)
        each = size if split == "mass" else size / 2
        try:
            first, second = (cls.cylinder(half, radius, each, start, axis=axis).placed(where) for start in starts)
        except ModelError as error:
            raise ModelError(str(error).replace("Body.cylinder", "Body.drive_halves")) from None
        return first, second

    @classmethod
    def compose(cls, parts: Iterable[Body | tuple[Body, Any]]) -> Self:
        """One body of several, each where its pose puts it.

        m = sum m_a, c = sum m_a c_a / m, I = sum (I_a + m_a (d_a . d_a 1 - d_a d_a')) with d_a = c_a - c, all of
        them turned into the axes of the whole: appendix 5 of Leskov et al. (2017) as corrected in the errata.

        Parameters
        ----------
        parts : iterable of Body or of pairs (Body, pose)
            A pose is that of the part's frame in the frame of the whole: a place (3,) in m, a 4x4 matrix, a pair
            (r, R), or an object with ``.as_matrix()`` (SciPy's ``RigidTransform``, or ``Rotation`` for a turn only).

        Returns
        -------
        body : Body

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> drive, other = zv.Body.drive_halves(12, 0.09, 0.14, axis=(1, 0, 0), centre=(0, -0.06, 0.02))
        >>> arm = zv.Body.cylinder(18, 0.08, 0.36, start=-0.36, axis=(0, 0, 1))
        >>> link = zv.Body.compose([drive, arm, (zv.Body.sphere(2.0, 0.05), (0, 0, -0.36))])
        >>> link.mass, link.com.round(4) + 0.0
        (26.0, array([ 0.    , -0.0138, -0.1477]))
        """
        fail = _failing("compose")
        listed = as_list(parts)
        if not listed:
            fail(f"parts is {_show(parts)}, expected one Body or more")
        bodies = []
        for i, part in enumerate(listed):
            pair = isinstance(part, tuple | list) and len(part) == 2
            body, place = part if pair else (part, None)
            if not isinstance(body, Body):
                fail(f"parts[{i}] is {_show(part)}, expected a Body or a pair (Body, pose)")
            bodies.append(body if place is None else body._moved(*_place(place, fail, f"pose of parts[{i}]")))
        mass = math.fsum(body.mass for body in bodies)
        weights = [body.mass / mass for body in bodies] if mass > 0 else [1 / len(bodies)] * len(bodies)
        com = sum((w * body.com for w, body in zip(weights, bodies, strict=True)), np.zeros(3))
        inertia = sum((body._about_point(com) for body in bodies), np.zeros((3, 3)))
        return cls(mass, inertia, com)

    @classmethod
    def mesh(
        cls,
        source: Any,
        *,
        mass: float | None = None,
        density: float | None = None,
        scale: float = 1.0,
        closed: bool = True,
    ) -> Self:
        """Homogeneous body enclosed by a surface of triangles.

        Parameters
        ----------
        source : path of an STL or OBJ file, pair (vertices, faces), or (n, 3, 3) array
            STL may be binary or text, polygons of an OBJ are cut into triangles. vertices: (v, 3) array; faces:
            (n, 3) array of integers from 0. An array holds the three corners of each triangle.
        mass : float, kg, optional
        density : float, kg/m^3, optional
            One of the two.
        scale : float
            Metres per unit of the mesh: 1e-3 for a file in millimetres.
        closed : bool
            Refuse a surface with holes, or with triangles that are not all turned outwards (or all inwards).

        Returns
        -------
        body : Body
            In the frame of the mesh.

        Raises
        ------
        ModelError
            A file that cannot be read, with the line; a surface that is not closed, with the place of an edge; no
            volume.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> corner = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
        >>> faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
        >>> wedge = zv.Body.mesh((corner, faces), density=6.0)
        >>> round(wedge.mass, 9), wedge.com
        (1.0, array([0.25, 0.25, 0.25]))
        """
        from .mesh import moments, require_closed, triangles_of

        fail = _failing("mesh")
        unit = as_amount(scale, fail, "scale", positive=True)
        _mass(mass, density, 0.0, fail)  # before a file is read
        closed = as_flag(closed, fail, "closed")
        corners = triangles_of(source, fail) * unit
        if not np.isfinite(corners).all() or np.abs(corners).max() > LARGEST:
            fail(f"scale is {unit:g}, which makes the mesh too large to compute with")
        if closed:
            require_closed(corners, fail)
        volume, centroid, second = moments(corners)
        if volume < 0:  # turned inwards
            volume, second = -volume, -second
        size = float(np.ptp(corners.reshape(-1, 3), axis=0).max())
        if not volume > 1e-12 * size**3:
            fail(f"the mesh encloses {volume:.3g} m^3 and is {size:.3g} m long, expected a volume")
        m = _mass(mass, density, volume, fail)
        return cls(m, m / volume * (np.trace(second) * np.eye(3) - second), centroid)

    def placed(self, position: ArrayLike | None = None, rotation: Any = None, *, pose: Any = None) -> Self:
        """The same body given in another frame.

        Parameters
        ----------
        position : (3,) array, m
            Origin of the body's present frame in the new one.
        rotation : (3, 3) array, object with ``.as_matrix()`` or ``{"quaternion": (w, x, y, z)}``
            Maps components in the present frame to components in the new one.
        pose : (4, 4) array, object with ``.as_matrix()`` that is one, or pair (position, rotation), optional
            Both in one.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> rod = zv.Body.cylinder(3.0, 0.02, 0.6).placed((0, 0, 0.1), zv.orientation.from_pyr([0, -np.pi / 2, 0]))
        >>> rod.com, np.diag(rod.inertia).round(4)  # upright now
        (array([0. , 0. , 0.4]), array([0.0903, 0.0903, 0.0006]))
        """
        fail = _failing("placed")
        if pose is not None:
            if position is not None or rotation is not None:
                fail("pose is given and so is position or rotation; expected one or the other")
            return self._moved(*as_pose(pose, fail, "pose"))
        place = as_vector(_ORIGIN if position is None else position, fail, "position")
        return self._moved(place, np.eye(3) if rotation is None else as_rotation(rotation, fail, "rotation"))

    def _moved(self, place: Array, turn: Array) -> Self:
        if (turn == IDENTITY).all():
            return self._with(com=frozen(place + self.com))
        return type(self)(self.mass, rotated(turn, self.inertia), place + turn @ self.com)

    def _about_point(self, point: Array) -> Array:
        """Inertia tensor about a point, body axes (Steiner)."""
        d = self.com - point
        return np.asarray(self.inertia + self.mass * (d @ d * np.eye(3) - np.outer(d, d)))

    @classmethod
    def _about(cls, axis: ArrayLike, mass: float, along: float, across: float, centre: float, fail: Fail) -> Self:
        """A body of revolution: moments of inertia along and across its axis, which goes through the origin."""
        u = as_direction(axis, fail, "axis")
        k = int(np.abs(u).argmax())
        if abs(u[k]) == 1.0:
            tensor = np.full(3, across)
            tensor[k] = along
            return cls(mass, tensor, centre * u)
        return cls(mass, across * np.eye(3) + (along - across) * np.outer(u, u), centre * u)

    def __repr__(self) -> str:
        return f"Body({self.mass:g} kg)"


def _failing(function: str) -> Fail:
    def fail(text: str) -> NoReturn:
        raise ModelError(f"Body.{function}: {text}")

    return fail


def _mass(mass: object, density: object, volume: float, fail: Fail) -> float:
    """The mass, or that of the volume (m^3) of a material."""
    if (mass is None) == (density is None):
        fail(f"mass is {_show(mass)} and density is {_show(density)}, expected one of the two and None for the other")
    if density is None:
        return as_amount(mass, fail, "mass")
    found = as_amount(density, fail, "density") * volume
    return as_amount(found, fail, f"mass of {volume:.3g} m^3")


def _place(value: Any, fail: Fail, what: str) -> tuple[Array, Array]:
    """Place and rotation of a pose, of a place or of a rotation object."""
    turn = value.as_matrix() if hasattr(value, "as_matrix") else None
    if turn is not None and shape_of(turn) == (3, 3):
        return np.zeros(3), as_rotation(turn, fail, what)
    if turn is None and shape_of(value) == (3,):
        return as_vector(value, fail, what), np.eye(3)
    return as_pose(value, fail, what)
