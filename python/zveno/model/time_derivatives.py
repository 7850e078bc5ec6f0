"""Time derivatives of the functions of a chain along a motion."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final, overload

from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, _show, as_integer, did_you_mean

if TYPE_CHECKING:
    from .chain import Chain

__all__ = ["time_derivatives"]

_MOTION: Final = {"q", "qd", "qdd"}
_COMMON: Final = ("on_error", "status", "out", "threads")


@cache
def _rows() -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in _core.functions("chain") if not row["private"]}


@overload
def time_derivatives(
    chain: Chain,
    function: _core._ChainArrays | _core._ChainNumbers,
    qs: ArrayLike,
    *,
    order: int | None = None,
    **arguments: Any,
) -> Array: ...
@overload
def time_derivatives(
    chain: Chain, function: str, qs: ArrayLike, *, order: int | None = None, **arguments: Any
) -> Any: ...
def time_derivatives(chain: Chain, function: str, qs: ArrayLike, *, order: int | None = None, **arguments: Any) -> Any:
    """A function of the chain and its time derivatives along a motion, exact to round-off.

    The kernels run on jets, Taylor series in time with the coefficients ``x_k = x^(k) / k!``:
    ``(x y)_k = sum_{i=0..k} x_i y_{k-i}``, ``k s_k = sum_{i=1..k} i x_i c_{k-i}`` and ``k c_k = -sum_{i=1..k} i x_i
    s_{k-i}`` for the sine and cosine of x, ``(x/y)_k = (x_k - sum_{i=1..k} y_i (x/y)_{k-i}) / y_0``. Jerk and snap of a
    tool, second derivatives of a Jacobian, rates of torques and reactions need no formulas of their own.

    Parameters
    ----------
    function : str
        Name of a numeric method of the chain: "pose", "jacobian", "momentum", "inverse_dynamics", "reactions", ...
        All but "forward_derivatives" and the method "dual" of "derivatives".
    qs : (..., k, n) array
        The motion at one moment: q, qd, qdd, ..., row i the i-th time derivative, rad or m by s^i.
    order : int, optional
        Highest derivative that is wanted, 0 to 12. Default: what the rows give: k - 1 for a function of q, k - 2 for
        one of q and qd, k - 3 for one of q, qd and qdd.
    **arguments
        What `function` takes besides the motion, under the same names: ``link``, ``point``, ``frame``, ``about``,
        ``method``, ``outputs``; ``on_error``, ``status``, ``out`` and ``threads`` as everywhere. Arrays get an axis of
        time derivatives before their last one:

        - tau : (..., m, n) array. Functions that take efforts (forward_dynamics, forward_derivatives) have qs of two
          rows, q and qd; the motion beyond them follows from the efforts, order by order, and the results have order
          m - 1.
        - base_motion : (..., j, 9) or (9,) array, external : {link: (..., j, 6) or (6,) array}. Derivatives that are
          not given are zero, so that one row is constant in time. Wrenches are in world axes. A base motion is
          [a; Omega; Omega'], and a second row [a'; Omega'; Omega'']: give it where Omega' is not zero.

    Returns
    -------
    derivatives : (..., order + 1, ...) array, the shape of the result behind
        Row i is the i-th time derivative; row 0 is what the function itself gives, bit for bit. Functions with several
        results give their named result with such arrays.

    Raises
    ------
    ValueError
        An unknown function, too few or too many rows, a wrong shape, a number that is not finite.
    TypeError
        An argument that the function does not take.

    Notes
    -----
    Motions are computed side by side in SIMD lanes, all orders in one pass; one alone costs as much as one in every
    lane. With order r a product of two variables costs (r + 1)(r + 2)/2 multiplications, one with a constant of the
    model r + 1.

    Examples
    --------
    The jerk of a tool along a motion from rest to rest, a quintic in time:

    >>> import numpy as np, zveno as zv
    >>> arm, T = zv.robots.two_link(), 2.0
    >>> start, end = np.array([0.0, 0.5]), np.array([1.0, -0.5])
    >>> s = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])  # of t / T
    >>> t = np.linspace(0, T, 5)
    >>> shape = np.stack([(s.deriv(i) if i else s)(t / T) / T**i for i in range(4)], axis=-1)  # (5, 4)
    >>> qs = shape[..., None] * (end - start)
    >>> qs[:, 0] += start
    >>> p = arm.time_derivatives("pose", qs, link="tip")[..., :3, 3]  # position, velocity, acceleration, jerk
    >>> p.shape
    (5, 4, 3)
    >>> np.linalg.norm(p[:, 3], axis=-1).round(2)  # m/s^3
    array([7.5 , 2.47, 4.57, 2.47, 7.5 ])

    Rates of the torques take two rows more than their order:

    >>> arm.time_derivatives("inverse_dynamics", qs[2]).shape  # torque and its rate
    (2, 2)
    """
    row = _rows().get(function) if isinstance(function, str) else None
    if row is None:
        names = ", ".join(f"'{name}'" for name in _rows())
        hint = did_you_mean(function, _rows())
        raise ValueError(f"time_derivatives: unknown function {_show(function)}, expected one of {names}{hint}")
    known = [x["name"] for x in row["parameters"] if x["name"] not in _MOTION]
    known += [*(["outputs"] if row["several"] else []), *_COMMON]
    for name in arguments:
        if name not in known:
            words = ", ".join(f"'{x}'" for x in known)
            text = f"function '{function}' takes no argument {_show(name)} here, expected some of {words}"
            raise TypeError(f"time_derivatives: {text}{did_you_mean(name, known)}")
    if order is not None:
        order = as_integer("time_derivatives", "order", order, 0, _core.MOST_TIME_DERIVATIVES)
    return _core.time_derivatives(chain, function, qs, order, arguments)
