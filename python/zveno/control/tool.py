"""Controllers in the space of a tool: operational space and impedance."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._check import Array, _show, as_amount, as_array, as_integer, as_list
from ..errors import SingularityError
from .controller import Controller, Reference, as_gains, scaled, solve, times, transposed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..model import Chain

__all__ = ["Impedance", "OperationalSpace"]


class _Task(NamedTuple):
    """What is known of the tool's wanted rows."""

    J: Any
    M_inverse: Any
    mobility: Any  # J M^-1 J', the inverse of the tool's inertia
    error: Any  # wanted pose minus pose
    rate: Any  # wanted twist minus twist
    drift: Any  # Jdot qd


class ToolController(Controller):
    """Base of controllers of the motion of a link's point: efforts J' f + bias, and a posture that does not disturb it.

    Attributes
    ----------
    link : str
    point : (3,) array, m
        In link axes.
    rows : tuple of int
        Controlled components of [position; rotation], world axes.
    """

    def __init__(
        self,
        chain: Chain,
        link: str | None,
        point: ArrayLike | None,
        rows: Sequence[int],
        posture: ArrayLike | None,
        posture_kp: ArrayLike,
        posture_kd: ArrayLike,
        regularisation: float,
    ) -> None:
        super().__init__(chain)
        self.link = chain.link_names[-1] if link is None else link
        self.point = np.zeros(3) if point is None else as_array(point, self._fail, "point", (3,))
        chosen = as_list(rows)
        if not chosen:
            self._fail(f"rows is {_show(rows)}, expected some of 0 to 5: x, y, z, and rotations about them")
        self.rows = tuple(as_integer(self._who, "rows", row, 0, 5) for row in chosen)
        if len(set(self.rows)) != len(self.rows):
            self._fail(f"rows is {_show(rows)}, expected each component once")
        n = chain.n
        if len(self.rows) > n:
            self._fail(
                f"{len(self.rows)} rows for {n} joints of chain '{chain.name}', expected at most as many: give rows="
            )
        self.posture = None if posture is None else as_array(posture, self._fail, "posture", (n,))
        self.posture_kp = as_gains(posture_kp, self._fail, "posture_kp", n)
        self.posture_kd = as_gains(posture_kd, self._fail, "posture_kd", n)
        self.regularisation = as_amount(regularisation, self._fail, "regularisation")
        chain.pose(np.zeros(n), self.link)  # an unknown link is named by the chain

    @property
    def _references(self) -> tuple[Reference, ...]:
        return (
            Reference("pose_ref", (4, 4), "wanted pose of the point, link to base; m", None),
            Reference("twist_ref", (6,), "wanted [v; w] of the point, world axes, m/s and rad/s"),
            Reference("acceleration_ref", (6,), "wanted rate of it, m/s^2 and rad/s^2"),
        )

    def _task(self, model: Any, q: Any, qd: Any, pose_ref: Any, twist_ref: Any) -> _Task:
        rows, at = list(self.rows), {"link": self.link, "point": self.point}
        T = model.pose(q, link=self.link)
        R, R_ref = T[..., :3, :3], pose_ref[..., :3, :3]
        p = T[..., :3, 3] + times(R, self.point)
        # sin(angle) times the axis of the rotation that is missing: half the sum of r_k x r_ref_k over the axes
        turn = 0.5 * sum((_cross(R[..., k], R_ref[..., k]) for k in range(3)), start=np.zeros(3))
        J = model.jacobian(q, **at)
        drift = model.acceleration(q, qd, np.zeros(self.chain.n), **at)
        error = np.concatenate([pose_ref[..., :3, 3] - p, turn + 0.0 * p], axis=-1)
        rate = twist_ref - times(J, qd)
        inverse = model.inverse_mass_matrix(q)
        whole, J = J, J[..., rows, :]
        mobility = J @ inverse @ transposed(J) + self.regularisation * np.eye(len(rows))
        if mobility.dtype == np.float64:
            self._require_mobile(mobility, whole @ inverse @ transposed(whole))
        return _Task(J, inverse, mobility, error[..., rows], rate[..., rows], drift[..., rows])

    def _require_mobile(self, mobility: Array, whole: Array) -> None:
        """Refuse rows along which the tool moves a million times less than along others of their kind."""
        most = [np.einsum("...ii->...", whole[..., part, part])[..., None] for part in (slice(0, 3), slice(3, 6))]
        scale = np.sqrt(np.concatenate([most[row > 2] for row in self.rows], axis=-1))
        with np.errstate(invalid="ignore", divide="ignore"):
            relative = mobility / (scale[..., None, :] * scale[..., :, None])
        if not (np.isfinite(relative).all() and (np.linalg.eigvalsh(relative)[..., 0] > 1e-12).all()):
            text = f"link '{self.link}' cannot move along some of the rows {self.rows}: a singular configuration"
            raise SingularityError(f"{self._who}: {text} (see regularisation=)", self.link)

    def _efforts(self, model: Any, q: Any, qd: Any, task: _Task, force: Any) -> Any:
        """J' f + bias, and efforts of the posture of which nothing accelerates the tool."""
        tau = times(transposed(task.J), force) + model.bias(q, qd)
        if self.posture is not None:
            own = self.posture_kp * (self.posture - q) - self.posture_kd * qd
            felt = solve(task.mobility, times(task.J @ task.M_inverse, own))
            tau = tau + own - times(transposed(task.J), felt)
        return tau

    def _law(
        self, model: Any, q: Any, qd: Any, pose_ref: Any, twist_ref: Any, acceleration_ref: Any, *more: Any
    ) -> Any:
        task = self._task(model, q, qd, pose_ref, twist_ref)
        wanted = acceleration_ref[..., list(self.rows)] - task.drift
        return self._efforts(model, q, qd, task, self._force(task, wanted, *(x[..., list(self.rows)] for x in more)))

    @abstractmethod
    def _force(self, task: _Task, wanted: Any, *more: Any) -> Any:
        """Of the efforts on the tool, rows."""


class OperationalSpace(ToolController):
    """The tool's acceleration is a_ref + kd (V_ref - V) + kp e: tau = J' L (a - Jdot qd) + bias, L = (J M^-1 J')^-1.

    e is the missing position and, for rotations, sin(angle) times the axis of the missing rotation, world axes: exact
    for small errors, and without direction at half a turn. With as many rows as the arm has joints the tool follows
    exactly; with fewer, `posture` moves the rest without disturbing it.

    References: ``pose_ref`` (4, 4) or anything that is a pose, ``twist_ref`` and ``acceleration_ref`` (6,), zero if
    they are not given.

    Parameters
    ----------
    chain : Chain
    kp, kd : float or (m,) array, 1/s^2 and 1/s
        Of the m rows.
    link : str, optional
        Default: the last one.
    point : (3,) array, m, optional
        In link axes; default: the link's origin.
    rows : sequence of int
        Components of [position; rotation] in world axes that are controlled.
    posture : (n,) array, rad or m, optional
        Where the joints are drawn by ``posture_kp (posture - q) - posture_kd qd``, as far as the tool does not feel it.
    posture_kp, posture_kd : float or (n,) array
    regularisation : float, 1/kg and 1/(kg m^2)
        Added to the diagonal of J M^-1 J': efforts stay finite in singular configurations, where the tool then lags.

    Raises
    ------
    SingularityError
        The link cannot move along some of the rows. Generated C does not look: its efforts are then huge or NaN.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.puma560()
    >>> control = zv.control.OperationalSpace(arm, kp=100.0, kd=20.0)
    >>> q, qd = np.array([0.1, -0.5, 0.4, 0.2, 0.6, 0.0]), np.zeros(6)
    >>> aim = arm.pose(q, arm.link_names[-1])
    >>> aim[0, 3] += 0.01  # a centimetre along x
    >>> qdd = arm.forward_dynamics(q, qd, control(q, qd, aim))
    >>> print(arm.acceleration(q, qd, qdd, arm.link_names[-1]).round(9) + 0.0)
    [1. 0. 0. 0. 0. 0.]
    """

    def __init__(
        self,
        chain: Chain,
        kp: ArrayLike,
        kd: ArrayLike,
        link: str | None = None,
        point: ArrayLike | None = None,
        *,
        rows: Sequence[int] = (0, 1, 2, 3, 4, 5),
        posture: ArrayLike | None = None,
        posture_kp: ArrayLike = 0.0,
        posture_kd: ArrayLike = 0.0,
        regularisation: float = 0.0,
    ) -> None:
        super().__init__(chain, link, point, rows, posture, posture_kp, posture_kd, regularisation)
        self.kp = as_gains(kp, self._fail, "kp", len(self.rows))
        self.kd = as_gains(kd, self._fail, "kd", len(self.rows))

    def _force(self, task: _Task, wanted: Any, *more: Any) -> Any:
        return solve(task.mobility, wanted + self.kd * task.rate + self.kp * task.error)


class Impedance(ToolController):
    """The tool yields like a mass on springs: L_d (a_ref - a) + D (V_ref - V) + K e + F = 0 under a wrench F.

    Without `inertia` L_d is the inertia that the tool has anyway, L = (J M^-1 J')^-1, and F need not be measured. With
    it, F comes as the reference ``wrench``. e as in `OperationalSpace`.

    References: ``pose_ref``, ``twist_ref``, ``acceleration_ref`` as in `OperationalSpace`; with `inertia` also
    ``wrench`` (6,): force and moment on the tool at the point, world axes, N and N m.

    Parameters
    ----------
    chain : Chain
    stiffness, damping : float, (m,) or (m, m) array
        K and D of the m rows: N/m and N m/rad, N s/m and N m s/rad.
    link, point, rows, posture, posture_kp, posture_kd, regularisation
        See `OperationalSpace`.
    inertia : float, (m,) or (m, m) array, optional
        L_d, kg and kg m^2.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.puma560()
    >>> soft = zv.control.Impedance(arm, stiffness=[800.0] * 3 + [40.0] * 3, damping=[80.0] * 3 + [4.0] * 3)
    >>> q, qd = np.array([0.1, -0.5, 0.4, 0.2, 0.6, 0.0]), np.zeros(6)
    >>> tip = arm.link_names[-1]
    >>> aim = arm.pose(q, tip)
    >>> aim[0, 3] -= 8 / 800  # 8 N push the tool a centimetre from its aim: rest
    >>> qdd = arm.forward_dynamics(q, qd, soft(q, qd, aim), {tip: [8, 0, 0, 0, 0, 0]})
    >>> bool(np.abs(qdd).max() < 1e-9)
    True
    """

    def __init__(
        self,
        chain: Chain,
        stiffness: ArrayLike,
        damping: ArrayLike,
        link: str | None = None,
        point: ArrayLike | None = None,
        *,
        inertia: ArrayLike | None = None,
        rows: Sequence[int] = (0, 1, 2, 3, 4, 5),
        posture: ArrayLike | None = None,
        posture_kp: ArrayLike = 0.0,
        posture_kd: ArrayLike = 0.0,
        regularisation: float = 0.0,
    ) -> None:
        super().__init__(chain, link, point, rows, posture, posture_kp, posture_kd, regularisation)
        m = len(self.rows)
        self.stiffness = as_gains(stiffness, self._fail, "stiffness", m, square=True)
        self.damping = as_gains(damping, self._fail, "damping", m, square=True)
        self.inertia = None if inertia is None else as_gains(inertia, self._fail, "inertia", m, square=True)
        self._softness: Array | None = None
        if self.inertia is not None:
            whole = np.diag(self.inertia) if self.inertia.ndim == 1 else self.inertia
            if np.linalg.eigvalsh(whole).min() <= 1e-12 * np.abs(whole).max():
                self._fail("inertia is singular, expected a positive definite one")
            self._softness = np.asarray(np.linalg.inv(whole), dtype=np.float64)

    @property
    def _references(self) -> tuple[Reference, ...]:
        if self.inertia is None:
            return super()._references
        wrench = Reference("wrench", (6,), "[force; moment] on the tool at the point, world axes, N and N m")
        return (*super()._references, wrench)

    def _force(self, task: _Task, wanted: Any, *more: Any) -> Any:
        pull = scaled(self.damping, task.rate) + scaled(self.stiffness, task.error)
        if self._softness is None:
            return solve(task.mobility, wanted) + pull
        (wrench,) = more
        return solve(task.mobility, wanted + times(self._softness, pull + wrench)) - wrench


def _cross(a: Any, b: Any) -> Any:
    """Of vectors of numbers or symbols."""
    return np.stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        axis=-1,
    )
