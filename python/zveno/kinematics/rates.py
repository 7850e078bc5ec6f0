"""Inverse velocity and acceleration problems of chains, and measures of their Jacobians."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, Fail, as_amount, as_array, as_choice, as_flag, called, common_lead, failing
from ..errors import Error, SingularityError
from ..results import JacobianMeasures, JointRates
from .arms import _Known, _mask

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["inverse_acceleration", "inverse_velocity", "manipulability"]

_SINGULAR: Final = 2
_TASKS: Final = 64  # kept with a chain


class _Task(NamedTuple):
    """What is asked of the Jacobian, the same for all rows."""

    link: str
    point: Array | None
    frame: Any
    held: tuple[bool, ...]
    length: float
    path: list[int]  # joints that move the link, from the base on
    scale: Array  # of the components, 0 where they are not held

    @classmethod
    def of(cls, function: str, chain: Chain, link: Any, point: Any, frame: Any, mask: Any, length: Any) -> _Task:
        plain = point is None and mask is None and isinstance(link, str | None) and isinstance(frame, str)
        key = (link, frame, length) if plain and isinstance(length, int | float) else None
        tasks: dict[Any, _Task] = chain.__dict__.setdefault("_known_tasks", {})
        if key in tasks:
            return tasks[key]
        fail = failing(function)
        name = _Known.of(chain).link(function, chain, link)
        at = None if point is None else as_array(point, fail, "point", (3,))
        as_choice(frame, fail, "frame", ("world", "link"))
        held = _mask(function, mask)
        size = as_amount(length, fail, "length", positive=True)
        links, place = {link.name: link for link in chain.links}, {j: i for i, j in enumerate(chain.joint_names)}
        path, step = [], links.get(name)
        while step is not None:
            if step.joint != "fixed":
                path.append(place[step.joint_name])
            step = links.get(step.parent or "")
        if not path:
            fail(f"link '{name}' of model '{chain.name}' is moved by no joint")
        scale = np.where(held, np.repeat([1.0 / size, 1.0], 3), 0.0)
        task = cls(name, at, frame, held, size, path[::-1], scale)
        if key is not None and len(tasks) < _TASKS:
            tasks[key] = task
        return task

    def jacobian(self, function: str, chain: Chain, q: Array, threads: Any) -> Array:
        """(N, 6, k) of the joints of the path; q (N, n)."""
        with called(function, "jacobian"):
            J = chain.jacobian(q, self.link, self.point, self.frame, threads=threads)
        return J if self.path == list(range(chain.n)) else np.ascontiguousarray(J[..., self.path])


def _state(chain: Chain, fail: Fail, given: dict[str, tuple[Any, int]]) -> tuple[tuple[int, ...], list[Array]]:
    """The common leading shape, and the arguments as rows (N, size)."""
    arrays = {name: as_array(value, fail, name, (size,), lead=True) for name, (value, size) in given.items()}
    shapes = {name: array.shape[:-1] for name, array in arrays.items()}
    first, *others = shapes.values()
    if all(shape == first for shape in others):
        return first, [a.reshape(math.prod(first), a.shape[-1]) for a in arrays.values()]
    lead = common_lead(fail, shapes)
    count = math.prod(lead)
    return lead, [np.broadcast_to(a, (*lead, a.shape[-1])).reshape(count, a.shape[-1]) for a in arrays.values()]


def _damping(fail: Fail, damping: Any, region: Any) -> tuple[float, float]:
    most = as_amount(damping, fail, "damping")
    if region is None:
        return most, 2.0 * most
    edge = as_amount(region, fail, "region", positive=True)
    if most == 0.0:
        fail(f"region is {edge:g} while damping is 0, expected a damping for it")
    return most, edge


def _raise(function: str, chain: Chain, answer: JointRates, scale: float) -> NoReturn:
    status = np.ravel(answer.status)
    row = int(np.flatnonzero(status > 1)[0])
    where = f" in row {row}" if np.ndim(answer.status) else ""
    if status[row] == _SINGULAR:
        left = float(np.ravel(answer.distance)[row])
        raise SingularityError(
            f"{function}: the Jacobian of model '{chain.name}' is singular{where}: its smallest singular value is "
            f"{left:.3g} of {scale:.3g}; damping= gives rates all the same",
            row=row if where else None,
            cause="the smallest singular value of the Jacobian vanishes",
            margin=left,
        )
    raise Error(f"{function}: the limits of model '{chain.name}' that hold were not found{where}")


def _solved(
    function: str,
    chain: Chain,
    task: _Task,
    J: Array,
    motion: Array,
    wish: Array | None,
    bounds: tuple[Array, Array] | None,
    damping: tuple[float, float],
    lead: tuple[int, ...],
    on_error: str,
    threads: Any,
) -> JointRates:
    """Rates of the joints on the path, and what is wished for of the others."""
    count, n = len(J), chain.n
    rates = np.zeros((count, n)) if wish is None else wish.copy()
    low = high = None
    if bounds is not None:
        rates = np.clip(rates, *bounds)
        low, high = (np.ascontiguousarray(b[:, task.path]) for b in bounds)
    wanted = None if wish is None else np.ascontiguousarray(wish[:, task.path])
    part, status, residual, distance, mu = _core.joint_rates(
        J, np.ascontiguousarray(motion), task.scale, wanted, low, high, *damping, threads
    )
    rates[:, task.path] = part
    answer = JointRates(
        rates.reshape(*lead, n),
        status.reshape(lead),
        residual.reshape(*lead, 6),
        distance.reshape(lead),
        mu.reshape(lead),
    )
    if (status > 1).any():
        if on_error == "raise":
            worst = int(np.flatnonzero(status > 1)[0])
            _raise(function, chain, answer, float(np.linalg.norm(task.scale[:, None] * J[worst], 2)))
        rates[status > 1] = np.nan
    return answer


def inverse_velocity(
    self: Chain,
    q: ArrayLike,
    twist: ArrayLike,
    link: str | None = None,
    *,
    qd0: ArrayLike | None = None,
    point: ArrayLike | None = None,
    frame: str = "world",
    mask: Iterable[bool] | None = None,
    damping: float = 0.0,
    region: float | None = None,
    length: float = 1.0,
    limits: bool = False,
    dt: float | None = None,
    on_error: str = "raise",
    threads: SupportsIndex | None = None,
) -> JointRates:
    """Joint rates that move a link as wanted: the inverse velocity problem.

    With J the rows of the Jacobian that are held, lengths divided by `length`, and J = U S V', the rates are

        qd = qd0 + V diag(s / (s^2 + mu^2)) U' (twist - J qd0),

    those that minimise ``|J qd - twist|^2 + mu^2 |qd - qd0|^2``. With mu = 0 this is the solution of J qd = twist, for
    more joints than components ``J^+ twist + (1 - J^+ J) qd0``, for fewer the one with the least error. With `limits`
    the same sum of squares is minimised between bounds, the second square counting only where the first leaves a choice
    (an active-set method).

    Parameters
    ----------
    q : (..., n) array, rad or m
    twist : (..., 6) array, m/s and rad/s
        [v; w] of the point and of the link; components that `mask` leaves free are not looked at.
    link : str, optional
        Default: the one last link of the chain.
    qd0 : (..., n) array, rad/s or m/s, optional
        Rates that are wanted as far as the task allows: a gradient of `manipulability`, a way to the middle of the
        limits. Default: zeros.
    point : (3,) array, m, optional
        In link axes; default: the origin of the link.
    frame : {"world", "link"}
        Axes of `twist` and of `mask`.
    mask : six flags, optional
        Components of the twist that are held.
    damping : float
        mu0: mu^2 = mu0^2 (1 - (s / region)^2) where the smallest singular value s is less than `region`, 0 elsewhere.
        At a singularity the size of qd - qd0 is no more than that of the twist over 2 mu0.
    region : float, optional
        Default: twice the damping.
    length : float, m
        Characteristic length, which makes metres and radians comparable: it matters for damping, limits and least
        squares. Default: 1 m, the Jacobian as it is.
    limits : bool
        Respect `velocity_limit`, and `lower` and `upper`: q + qd dt stays inside or, without `dt`, a joint at its limit
        does not move on.
    dt : float, s, optional
        The time for which the rates will be kept.
    on_error : {"raise", "nan"}
    threads : int, optional

    Returns
    -------
    JointRates
        qd (..., n), status (...), residual (..., 6), distance (...), damping (...).

    Raises
    ------
    SingularityError
        The smallest singular value is below 1e-10 of the largest, and there is neither damping nor a limit.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.puma560()
    >>> q = [0.1, -0.6, 0.4, 0.3, 0.5, -0.2]
    >>> r = arm.inverse_velocity(q, [0.1, 0, 0, 0, 0, 0])
    >>> arm.velocity(q, r.qd, "link6").round(6) + 0.0
    array([0.1, 0. , 0. , 0. , 0. , 0. ])
    >>> arm.inverse_velocity(np.zeros(6), [0, 0.1, 0, 0, 0, 0], damping=0.05).residual.shape  # a singular one
    (6,)
    """
    function = "inverse_velocity"
    fail = failing(function)
    task = _Task.of(function, self, link, point, frame, mask, length)
    as_choice(on_error, fail, "on_error", ("raise", "nan"))
    amount = _damping(fail, damping, region)
    bounded = as_flag(limits, fail, "limits")
    step = None if dt is None else as_amount(dt, fail, "dt", positive=True)
    if step is not None and not bounded:
        fail(f"dt is {step:g} while limits is False, expected limits=True with it")
    given: dict[str, tuple[Any, int]] = {"q": (q, self.n), "twist": (twist, 6)}
    if qd0 is not None:
        given["qd0"] = (qd0, self.n)
    lead, (at, motion, *rest) = _state(self, fail, given)
    bounds = None
    if bounded:
        fast = np.broadcast_to(self.velocity_limit, at.shape)
        if step is None:
            back, on = np.where(at <= self.lower, 0.0, -np.inf), np.where(at >= self.upper, 0.0, np.inf)
        else:
            back, on = (self.lower - at) / step, (self.upper - at) / step
        bounds = np.clip(back, -fast, fast), np.clip(on, -fast, fast)
    J = task.jacobian(function, self, at, threads)
    wish = rest[0] if rest else None
    return _solved(function, self, task, J, motion, wish, bounds, amount, lead, on_error, threads)


def inverse_acceleration(
    self: Chain,
    q: ArrayLike,
    qd: ArrayLike,
    acceleration: ArrayLike,
    link: str | None = None,
    *,
    qdd0: ArrayLike | None = None,
    point: ArrayLike | None = None,
    frame: str = "world",
    mask: Iterable[bool] | None = None,
    damping: float = 0.0,
    region: float | None = None,
    length: float = 1.0,
    limits: bool = False,
    dt: float | None = None,
    on_error: str = "raise",
    threads: SupportsIndex | None = None,
) -> JointRates:
    """Joint accelerations that move a link as wanted: the inverse velocity problem of second order.

    ``J qdd = acceleration - Jd qd``, solved as in `inverse_velocity`.

    Parameters
    ----------
    q, qd : (..., n) arrays, rad or m, rad/s or m/s
    acceleration : (..., 6) array, m/s^2 and rad/s^2
        Classical acceleration of the point and angular acceleration of the link, as `Chain.acceleration` gives them.
    link : str, optional
        Default: the one last link of the chain.
    qdd0 : (..., n) array, rad/s^2 or m/s^2, optional
        Accelerations that are wanted as far as the task allows: ``-k qd`` keeps the free motion of a redundant arm from
        growing. Default: zeros.
    point, frame, mask, damping, region, length, on_error, threads
        As in `inverse_velocity`.
    limits : bool
        After `dt` the rates are within `velocity_limit`, and positions between `lower` and `upper`.
    dt : float, s
        Needed for `limits`.

    Returns
    -------
    JointRates
        Its ``qd`` holds the accelerations, also called ``qdd``.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.puma560()
    >>> q, qd = [0.1, -0.6, 0.4, 0.3, 0.5, -0.2], [0.2, 0.1, -0.3, 0.4, 0.1, 0.5]
    >>> r = arm.inverse_acceleration(q, qd, [0, 0, 1.0, 0, 0, 0])
    >>> arm.acceleration(q, qd, r.qdd, "link6").round(6) + 0.0
    array([0., 0., 1., 0., 0., 0.])
    """
    function = "inverse_acceleration"
    fail = failing(function)
    task = _Task.of(function, self, link, point, frame, mask, length)
    as_choice(on_error, fail, "on_error", ("raise", "nan"))
    amount = _damping(fail, damping, region)
    bounded = as_flag(limits, fail, "limits")
    step = None if dt is None else as_amount(dt, fail, "dt", positive=True)
    if (step is not None) != bounded:
        fail(f"dt is {dt} while limits is {bounded}, expected both or neither")
    given: dict[str, tuple[Any, int]] = {"q": (q, self.n), "qd": (qd, self.n), "acceleration": (acceleration, 6)}
    if qdd0 is not None:
        given["qdd0"] = (qdd0, self.n)
    lead, (at, rate, motion, *rest) = _state(self, fail, given)
    bounds = None
    if step is not None:
        fast = self.velocity_limit
        slow, quick = (-fast - rate) / step, (fast - rate) / step
        back, on = ((edge - at - rate * step) * (2 / step**2) for edge in (self.lower, self.upper))
        bounds = np.clip(back, slow, quick), np.clip(on, slow, quick)
    J = task.jacobian(function, self, at, threads)
    drift = self.acceleration(at, rate, np.zeros(self.n), task.link, task.point, task.frame, threads=threads)
    wish = rest[0] if rest else None
    return _solved(function, self, task, J, motion - drift, wish, bounds, amount, lead, on_error, threads)


def manipulability(
    self: Chain,
    q: ArrayLike,
    link: str | None = None,
    *,
    point: ArrayLike | None = None,
    frame: str = "world",
    mask: Iterable[bool] | None = None,
    length: float = 1.0,
    gradient: bool = False,
    threads: SupportsIndex | None = None,
) -> JacobianMeasures:
    """How well a link can be moved in all directions, and how far it is from a singularity.

    From the singular values s of the rows of the Jacobian that are held, of the joints that move the link: the
    manipulability of Yoshikawa, their product; the condition number; the smallest one, which is the distance to the
    nearest singular matrix. Gradients are analytic: ds/dq_i = u' (dJ/dq_i) v.

    Parameters
    ----------
    q : (..., n) array, rad or m
    link : str, optional
        Default: the one last link of the chain.
    point : (3,) array, m, optional
        In link axes; default: the origin of the link.
    frame : {"world", "link"}
        Axes of `mask` and of the direction that is lost.
    mask : six flags, optional
        Components [v; w] that count: ``(1, 1, 1, 0, 0, 0)`` for a point.
    length : float, m
        Characteristic length, by which linear components are divided. Default: 1 m.
    gradient : bool
        Derivatives by q, too. At a singular value that is not alone its derivative depends on the direction and what is
        given is one of them.
    threads : int, optional

    Returns
    -------
    JacobianMeasures
        singular_values (..., k), manipulability (...), condition (...), distance (...), direction (..., 6) and, with
        `gradient`, d_manipulability, d_condition, d_distance (..., n).

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> m = arm.manipulability([0.3, 0.5], mask=(1, 0, 1, 0, 0, 0), gradient=True)
    >>> bool(np.isclose(m.manipulability, np.sin(0.5))), m.d_manipulability.round(4) + 0.0  # its derivative: cos
    (True, array([0.    , 0.8776]))
    """
    function = "manipulability"
    fail = failing(function)
    task = _Task.of(function, self, link, point, frame, mask, length)
    slopes = as_flag(gradient, fail, "gradient")
    lead, (at,) = _state(self, fail, {"q": (q, self.n)})
    J = task.jacobian(function, self, at, threads)
    found = _core.jacobian_measures(J, task.scale, task.frame == "link", slopes, threads)

    def whole(name: str) -> Any:
        if not slopes:
            return None
        full = np.zeros((len(at), self.n))
        full[:, task.path] = found[name]
        return full.reshape(*lead, self.n)

    values = found["values"]
    return JacobianMeasures(
        values.reshape(*lead, values.shape[-1]),
        found["manipulability"].reshape(lead),
        found["condition"].reshape(lead),
        values[:, -1].reshape(lead),
        found["direction"].reshape(*lead, 6),
        whole("d_manipulability"),
        whole("d_condition"),
        whole("d_smallest"),
    )
