"""`Body`: mass, centre of mass and inertia."""

from __future__ import annotations

from typing import Final, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import LARGEST, Array, _show, as_amount, as_array, as_number, as_vector, frozen, report
from .._record import Record
from ..errors import ModelError

__all__ = ["Body"]

_FIELDS: Final = ("mass", "inertia", "com")
_ORIGIN: Final = (0.0, 0.0, 0.0)


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
    def cylinder(cls, mass: float, radius: float, length: float, start: float = 0.0) -> Self:
        """Homogeneous solid cylinder about the x axis, from x = `start` to x = `start` + `length`.

        Parameters
        ----------
        mass : float, kg
        radius, length, start : float, m

        Returns
        -------
        body : Body
            I_x = m r^2 / 2, I_y = I_z = m (3 r^2 + l^2) / 12 about the centre of mass.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> rod = zv.Body.cylinder(3.0, 0.02, 0.6)  # kg, m, m; along x from the origin
        >>> rod.com, np.diag(rod.inertia).round(4)
        (array([0.3, 0. , 0. ]), array([0.0006, 0.0903, 0.0903]))
        """

        def fail(text: str) -> NoReturn:
            raise ModelError(f"Body.cylinder: {text}")

        m, r, size = (as_amount(x, fail, what) for x, what in ((mass, "mass"), (radius, "radius"), (length, "length")))
        x = as_number(start, fail, "start") + size / 2
        across = m * (3 * r**2 + size**2) / 12
        return cls(m, (m * r**2 / 2, across, across), (x, 0.0, 0.0))

    def __repr__(self) -> str:
        return f"Body({self.mass:g} kg)"
