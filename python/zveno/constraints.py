"""Constraints beside the joints of loops: points, poses, couplings, functions, targets that move.

Each function returns a `Constraint` for `zveno.Linkage` or ``arm.constrained_dynamics``. Where a constraint stands
between two frames, A comes first and may be a link, the base or a `target`; the reaction is the wrench of A on B.

Examples
--------
>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> wall = zv.constraints.point_on_plane("base", "tip", axis_a=(1, 0, 0), offset=1.2)
>>> r = arm.constrained_dynamics([0.3, 0.9], [0, 0], [0, 0], [wall])
>>> r.multiplier.shape
(1,)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._check import _is_name, _show, as_list
from .errors import ModelError
from .model.constraint import _EMPTY, Constraint, Loop, Target, Timed, coupling_of, placed

__all__ = [
    "Constraint",
    "Loop",
    "Target",
    "coupling",
    "distance",
    "function",
    "point_fixed",
    "point_on_curve",
    "point_on_line",
    "point_on_plane",
    "point_on_surface",
    "pose",
    "target",
]


def target(motion: Callable[[float], Any]) -> Target:
    """A frame that moves in time: ``t -> (R, p, w, v, alpha, a)`` in base axes; see `Target`.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> still = (0, 0, 0)
    >>> lift = zv.constraints.target(lambda t: (np.eye(3), (0, 0, 0.1 * t), still, (0, 0, 0.1), still, still))
    >>> zv.constraints.pose(lift, "hand", rotation="")
    Constraint('target-hand', pose, Target(<lambda>) -> hand, 3 equations)
    """
    return Target(motion)


def point_fixed(a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
                name: str | None = None) -> Constraint:  # fmt: skip
    """The point of B stays at the point of A: three equations along the axes of A.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.constraints.point_fixed("base", "hand", point_a=(0.4, 0, 0.2))
    Constraint('base-hand', spherical, base -> hand, 3 equations)
    """
    return placed(Constraint, "spherical", a, b, point_a=point_a, point_b=point_b, name=name, rotation_a=np.eye(3))


def point_on_plane(a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), axis_a: ArrayLike = (0, 0, 1),
                   point_b: ArrayLike = (0, 0, 0), offset: Timed = 0.0,
                   name: str | None = None) -> Constraint:  # fmt: skip
    """The point of B is `offset` m above the plane through `point_a` with normal `axis_a`: one equation.

    `offset` may be a function t -> (offset, rate, second rate). The multiplier is the force along the normal.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.constraints.point_on_plane("base", "tool", axis_a=(0.0, 0.0, 1.0), offset=-1.0)
    Constraint('base-tool', point_on_plane, base -> tool, 1 equation)
    """
    return placed(
        Constraint, "point_on_plane", a, b, point_a=point_a, axis_a=axis_a, point_b=point_b, offset=offset, name=name
    )


def point_on_line(a: Any, b: Any, *, point_a: ArrayLike = (0, 0, 0), axis_a: ArrayLike = (0, 0, 1),
                  point_b: ArrayLike = (0, 0, 0), reference_a: ArrayLike | None = None,
                  name: str | None = None) -> Constraint:  # fmt: skip
    """The point of B stays on the line through `point_a` along `axis_a`: two equations.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.constraints.point_on_line("base", "tool", axis_a=(1.0, 0.0, 0.0), point_a=(0.0, 0.0, -1.0))
    Constraint('base-tool', point_on_line, base -> tool, 2 equations)
    """
    return placed(Constraint, "point_on_line", a, b, point_a=point_a, axis_a=axis_a, point_b=point_b,
                  reference_a=reference_a, name=name)  # fmt: skip


def point_on_surface(a: Any, b: Any, surface: Callable[..., Any], *, point_a: ArrayLike = (0, 0, 0),
                     rotation_a: Any = None, point_b: ArrayLike = (0, 0, 0),
                     name: str | None = None) -> Constraint:  # fmt: skip
    """The point of B stays on the surface g(x, t) = 0, x its coordinates in the frame of A: one equation.

    Parameters
    ----------
    surface : callable
        ``(x, t) -> (g, gradient (3,), Hessian (3, 3))`` for a surface at rest, or ``(g, gradient, Hessian, g_t,
        gradient of g_t (3,), g_tt)`` for one that moves; g in m for multipliers in N.

    Examples
    --------
    A ball of 0.5 m about the base origin.

    >>> import numpy as np, zveno as zv
    >>> ball = lambda x, t: ((x @ x / 0.5 - 0.5) / 2, x / 0.5, np.eye(3) / 0.5)
    >>> zv.constraints.point_on_surface("base", "hand", ball)
    Constraint('base-hand', point_on_surface, base -> hand, 1 equation)
    """
    if not callable(surface):
        raise ModelError(f"point_on_surface: surface is {_show(surface)}, expected (x, t) -> (g, gradient, Hessian)")
    frame = np.eye(3) if rotation_a is None else rotation_a
    return placed(Constraint, "point_on_surface", a, b, point_a=point_a, rotation_a=frame, point_b=point_b,
                  function=(surface,), name=name)  # fmt: skip


def point_on_curve(a: Any, b: Any, surfaces: Any, *, point_a: ArrayLike = (0, 0, 0), rotation_a: Any = None,
                   point_b: ArrayLike = (0, 0, 0), name: str | None = None) -> Constraint:  # fmt: skip
    """The point of B stays on a curve, where two surfaces of `point_on_surface` meet: two equations.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ball = lambda x, t: ((x @ x - 1.0) / 2, x, np.eye(3))
    >>> plane = lambda x, t: (x[1], [0.0, 1.0, 0.0], np.zeros((3, 3)))
    >>> zv.constraints.point_on_curve("base", "tool", [ball, plane])
    Constraint('base-tool', point_on_curve, base -> tool, 2 equations)
    """
    listed = as_list(surfaces)
    if listed is None or len(listed) != 2 or not all(callable(x) for x in listed):
        raise ModelError(f"point_on_curve: surfaces is {_show(surfaces)}, expected two functions (x, t) -> ...")
    frame = np.eye(3) if rotation_a is None else rotation_a
    return placed(Constraint, "point_on_curve", a, b, point_a=point_a, rotation_a=frame, point_b=point_b,
                  function=tuple(listed), rows=("surface", "surface"), name=name)  # fmt: skip


def distance(a: Any, b: Any, *, length: Timed, point_a: ArrayLike = (0, 0, 0), point_b: ArrayLike = (0, 0, 0),
             name: str | None = None) -> Constraint:  # fmt: skip
    """A massless rod between two points; as `Loop.distance`.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.constraints.distance("base", "tool", length=1.2, point_a=(0.5, 0.0, 0.0))
    Constraint('base-tool', distance, base -> tool, 1 equation)
    """
    return placed(Constraint, "distance", a, b, point_a=point_a, point_b=point_b, length=length, name=name)


def pose(a: Any, b: Any, *, position: str = "xyz", rotation: str = "xyz", point_a: ArrayLike = (0, 0, 0),
         rotation_a: Any = None, point_b: ArrayLike = (0, 0, 0), rotation_b: Any = None,
         name: str | None = None) -> Constraint:  # fmt: skip
    """The frame of B follows that of A, all of it or the named components along and about the axes of A.

    Parameters
    ----------
    position, rotation : str
        Which components are held: letters of "xyz", an empty string for none.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.constraints.pose("base", "hand", point_a=(0.4, 0, 0.2), rotation="z")
    Constraint('base-hand', pose, base -> hand, 4 equations)
    """
    rows = []
    for what, letters, kind in (("position", position, "along"), ("rotation", rotation, "turn")):
        if not isinstance(letters, str) or sorted(letters) != sorted(set(letters) & set("xyz")):
            raise ModelError(f"pose: {what} is {_show(letters)}, expected letters of 'xyz'")
        rows += [f"{kind} {x}" for x in "xyz" if x in letters]
    if not rows:
        raise ModelError("pose: position and rotation are empty, expected a component to hold")
    frames = [np.eye(3) if R is None else R for R in (rotation_a, rotation_b)]
    return placed(Constraint, "pose", a, b, point_a=point_a, point_b=point_b, rotation_a=frames[0],
                  rotation_b=frames[1], rows=tuple(rows), name=name)  # fmt: skip


def coupling(joints: Mapping[str, float], offset: Timed = 0.0, *, name: str | None = None) -> Constraint:
    """A linear relation of joint coordinates, sum of factor times q = offset: gears, belts, mimic joints.

    Parameters
    ----------
    joints : dict of str to float
        Factors by names of joints.
    offset : float, rad or m, or t -> (offset, rate, second rate)

    Examples
    --------
    >>> import zveno as zv
    >>> zv.constraints.coupling({"motor": 1.0, "shaft": -3.0})
    Constraint('motor-shaft', coupling, 1 motor + -3 shaft, 1 equation)
    """
    return coupling_of(joints, offset, name)


def function(f: Callable[..., Any], rows: int = 1, *, jacobian: Callable[..., Any] | None = None,
             time_derivative: Callable[..., Any] | None = None, bias: Callable[..., Any] | None = None,
             name: str = "function") -> Constraint:  # fmt: skip
    """Any equations f(q, t) = 0 of the joint coordinates and of time.

    Parameters
    ----------
    f : callable
        ``(q, t) -> (rows,)``. Without the derivatives below it is also called with complex q and t (complex step), so
        it must be made of operations that know complex numbers: no abs, no comparison.
    rows : int
        Number of equations.
    jacobian : callable, optional
        ``(q, t) -> (rows, n)``, d f / d q.
    time_derivative : callable, optional
        ``(q, t) -> (rows,)``, the partial derivative by time; zero where it is not given and `jacobian` is.
    bias : callable, optional
        ``(q, qd, t) -> (rows,)``, second rate of f at qdd = 0. Must be given with `jacobian`. What is given is compared
        with differences once, at the first call.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> straight = zv.constraints.function(lambda q, t: np.sin(q[0]) - 0.5 * np.sin(q[1]))
    >>> link = zv.Linkage(arm, constraints=[straight])
    >>> bool(np.abs(link.residual(link.close([0.3, 0.5]))).max() < 1e-13)
    True
    """
    for key, value in (("f", f), ("jacobian", jacobian), ("time_derivative", time_derivative), ("bias", bias)):
        if not callable(value) and not (key != "f" and value is None):
            raise ModelError(f"function {_show(name)}: {key} is {_show(value)}, expected a function")
    if (jacobian is None) != (bias is None):
        raise ModelError(f"function {_show(name)}: expected jacobian and bias together, or neither")
    if isinstance(rows, bool) or not isinstance(rows, int) or not 1 <= rows <= 1000:
        raise ModelError(f"function {_show(name)}: rows is {_show(rows)}, expected an integer from 1 to 1000")
    if not _is_name(name):
        raise ModelError(f"function: name is {_show(name)}, expected a non-empty string")
    given = (f, jacobian, time_derivative, bias)
    return Constraint._made(**(_EMPTY | {"kind": "function", "name": name, "rows": ("function",) * rows,
                                         "function": given}))  # fmt: skip
