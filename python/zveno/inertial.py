"""Ten inertial parameters of a body, in the two forms in use, and what else describes a body.

"tensor", as `Chain.inertial_parameters`: m, Sx Sy Sz = m c, Jxx Jxy Jxz Jyy Jyz Jzz, the inertia tensor about the
origin of the frame. "moments", as in the paper on base inertial parameters: Ixx Ixy Ixz Iyy Iyz Izz, second moments
such as the integral of x^2 dm, Sx Sy Sz, m; they are the elements of the pseudo-inertia H, the integral of
[r; 1] [r; 1]' dm, which moves to another frame as A H A'.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike

from ._check import Array, as_array, as_choice, as_number, failing

__all__ = [
    "ORDERS",
    "SYMBOLS",
    "UNITS",
    "from_body",
    "from_pseudo_inertia",
    "reordered",
    "to_body",
    "to_pseudo_inertia",
]

ORDERS: Final = ("tensor", "moments")
SYMBOLS: Final = {
    "tensor": ("m", "Sx", "Sy", "Sz", "Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz"),
    "moments": ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "Sx", "Sy", "Sz", "m"),
}
UNITS: Final = {
    "tensor": ("kg", *("kg m",) * 3, *("kg m^2",) * 6),
    "moments": (*("kg m^2",) * 6, *("kg m",) * 3, "kg"),
}
POWERS: Final = {"tensor": (0, 1, 1, 1, 2, 2, 2, 2, 2, 2), "moments": (2, 2, 2, 2, 2, 2, 1, 1, 1, 0)}  # of length
# places of the parameters "moments" in H
PLACES: Final = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (0, 3), (1, 3), (2, 3), (3, 3))
ROW: Final = np.array([i for i, _ in PLACES])
COLUMN: Final = np.array([j for _, j in PLACES])


def _moments_of_tensor() -> list[list[int]]:
    """Twice the matrix that makes "moments" of "tensor"."""
    rows = [[0] * 10 for _ in range(10)]
    diagonal = (4, 7, 9)
    for k, at in enumerate((0, 3, 5)):
        for other in diagonal:
            rows[at][other] = -1 if other == diagonal[k] else 1
    for at, source in ((1, 5), (2, 6), (4, 8)):
        rows[at][source] = -2
    for at, source in ((6, 1), (7, 2), (8, 3), (9, 0)):
        rows[at][source] = 2
    return rows


TWICE_MOMENTS: Final = _moments_of_tensor()
MOMENTS_OF_TENSOR: Final = np.array(TWICE_MOMENTS) / 2.0


def _tensor_of_moments() -> Array:
    """The matrix that makes "tensor" of "moments"."""
    out = np.zeros((10, 10))
    for at, source in ((0, 9), (1, 6), (2, 7), (3, 8)):
        out[at, source] = 1.0
    for at, sources in ((4, (3, 5)), (7, (0, 5)), (9, (0, 3))):
        out[at, sources] = 1.0
    for at, source in ((5, 1), (6, 2), (8, 4)):
        out[at, source] = -1.0
    return out


TENSOR_OF_MOMENTS: Final = _tensor_of_moments()


def reordered(parameters: ArrayLike, order: str, to: str) -> Array:
    """Parameters of one form in the other.

    Parameters
    ----------
    parameters : (..., 10) array
    order, to : {"tensor", "moments"}
        What they are, what they shall be.

    Returns
    -------
    parameters : (..., 10) array

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.two_link()
    >>> zv.inertial.reordered(arm.inertial_parameters[0], "tensor", "moments").round(2) + 0.0
    array([0.33, 0.  , 0.  , 0.  , 0.  , 0.  , 0.5 , 0.  , 0.  , 1.  ])
    """
    fail = failing("reordered")
    p = as_array(parameters, fail, "parameters", (10,), lead=True)
    as_choice(order, fail, "order", ORDERS)
    as_choice(to, fail, "to", ORDERS)
    if order == to:
        return np.array(p)
    change = MOMENTS_OF_TENSOR if to == "moments" else TENSOR_OF_MOMENTS
    return np.asarray(p @ change.T)


def to_pseudo_inertia(parameters: ArrayLike, order: str = "tensor") -> Array:
    """Pseudo-inertia H, the integral of [r; 1] [r; 1]' dm. A body has these parameters if H is positive definite.

    Parameters
    ----------
    parameters : (..., 10) array
    order : {"tensor", "moments"}

    Returns
    -------
    H : (..., 4, 4) array, kg m^2, kg m and kg

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> H = zv.inertial.to_pseudo_inertia(zv.robots.puma560().inertial_parameters[1])
    >>> bool((np.linalg.eigvalsh(H) > 0).all())
    True
    """
    p = reordered(parameters, order, "moments")
    H = np.empty((*p.shape[:-1], 4, 4))
    H[..., ROW, COLUMN] = p
    H[..., COLUMN, ROW] = p
    return H


def from_pseudo_inertia(H: ArrayLike, order: str = "tensor") -> Array:
    """Ten parameters of a pseudo-inertia; the inverse of `to_pseudo_inertia`.

    Parameters
    ----------
    H : (..., 4, 4) array
        Symmetric.
    order : {"tensor", "moments"}

    Returns
    -------
    parameters : (..., 10) array

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> zv.inertial.from_pseudo_inertia(np.diag([1.0, 2.0, 3.0, 4.0]), "moments")
    array([1., 0., 0., 2., 0., 3., 0., 0., 0., 4.])
    """
    fail = failing("from_pseudo_inertia")
    given = as_array(H, fail, "H", (4, 4), lead=True)
    skew = np.abs(given - np.swapaxes(given, -1, -2)).max(initial=0.0)
    if skew > 1e-9 * np.abs(given).max(initial=0.0):
        fail(f"H is not symmetric: elements differ by {skew:.2g}")
    return reordered(given[..., ROW, COLUMN], "moments", order)


def from_body(mass: float, com: ArrayLike, inertia: ArrayLike, order: str = "tensor") -> Array:
    """Ten parameters of a body.

    Parameters
    ----------
    mass : float, kg
    com : (3,) array, m
        Centre of mass.
    inertia : (3, 3) or (3,) array or float, kg m^2
        About the centre of mass.
    order : {"tensor", "moments"}

    Returns
    -------
    parameters : (10,) array

    Examples
    --------
    >>> import zveno as zv
    >>> zv.inertial.from_body(2.0, (0.1, 0, 0), (0.01, 0.03, 0.03)).round(3)
    array([2.  , 0.2 , 0.  , 0.  , 0.01, 0.  , 0.  , 0.05, 0.  , 0.05])
    """
    fail = failing("from_body")
    m = as_number(mass, fail, "mass")
    c = as_array(com, fail, "com", (3,))
    tensor = as_array(inertia, fail, "inertia", (3, 3), (3,), ())
    J = np.diag(np.broadcast_to(tensor, 3)) if tensor.ndim < 2 else tensor
    J = J + m * (c @ c * np.eye(3) - np.outer(c, c))
    p = np.array([m, *(m * c), J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])
    return reordered(p, "tensor", order)


def to_body(parameters: ArrayLike, order: str = "tensor") -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it; the inverse of `from_body`.

    Parameters
    ----------
    parameters : (10,) array
    order : {"tensor", "moments"}

    Returns
    -------
    mass : float, kg
    com : (3,) array, m
        Zero where there is no mass.
    inertia : (3, 3) array, kg m^2

    Raises
    ------
    ModelError
        Numbers that no body has; `to_pseudo_inertia` shows why.

    Examples
    --------
    >>> import zveno as zv
    >>> link = zv.robots.two_link().links[0]
    >>> mass, com, inertia = zv.inertial.to_body(zv.inertial.from_body(link.mass, link.com, link.inertia))
    >>> mass, com
    (1.0, array([0.5, 0. , 0. ]))
    """
    from . import _core

    p = reordered(as_array(parameters, failing("to_body"), "parameters", (10,)), order, "tensor")
    mass, com, inertia = _core.body_of_parameters(p)
    _core.check_body("to_body", mass, np.array(com), inertia)
    return mass, np.array(com), inertia


def frame_change(A: Any) -> Any:
    """The (10, 10) matrix X of H' = A H A', "moments" to "moments"; for numbers of any kind."""
    A = np.asarray(A)
    X = np.empty((10, 10), A.dtype)
    for k, (i, j) in enumerate(PLACES):
        image = np.outer(A[:, i], A[:, j])
        if i != j:
            image = image + image.T
        X[:, k] = image[ROW, COLUMN]
    return X
