"""A controller that brings an arm onto constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .. import _core
from .._check import Array, _show, as_array, as_number
from ..codegen.expression import TracedExpression
from .controller import Controller, Reference, as_gains, scaled, times, transposed

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..model import Linkage

__all__ = ["ConstraintControl"]

_RANK: Final = 1e-9  # singular values below this part of the largest count as none


class ConstraintControl(Controller):
    """Efforts that bring an arm onto constraints f(q, t) = 0 and keep it there: f'' + G1 f' + G0 f = 0.

    The arm is free: the chain of the linkage without its constraints. They are what it is to do, by its own joints:
    ``tau = bias - M (G+ (gam + G1 f' + G0 f) - (E - G+ G) v)`` with G = df/dq, f'' = G qdd + gam and
    v = posture_kp (posture - q) - posture_kd qd. What the constraints leave free moves by v.

    With m independent constraints of n >= m joints the error follows the equation exactly, with an exact model and
    continuous control. More than the joints can do, m > n, is approached in the sense of least squares.

    Reference: ``t``, the time in s, for constraints that move.

    Parameters
    ----------
    linkage : Linkage
        The arm and the constraints. Of constraints in a list: ``zv.Linkage(arm, constraints=[...])``.
    G1, G0 : float, (m,) or (m, m) array, 1/s and 1/s^2
        ``G1 = 2 w, G0 = w^2`` is critically damped. Residuals are those of `Linkage.residual`.
    posture : (n,) array, rad or m, optional
        Where joints are drawn as far as the constraints leave them free.
    posture_kp, posture_kd : float or (n,) array, 1/s^2 and 1/s
        Without `posture` the latter damps all the same. Without both the free motion drifts.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.puma560()
    >>> held = zv.constraints.point_fixed("base", arm.link_names[-1], point_a=(0.5, 0.1, 0.4))
    >>> control = zv.control.ConstraintControl(zv.Linkage(arm, constraints=[held]), G1=20.0, G0=100.0, posture_kd=5.0)
    >>> q, qd = np.array([0.1, -0.5, 0.4, 0.2, 0.6, 0.0]), np.full(6, 0.1)
    >>> qdd = arm.forward_dynamics(q, qd, control(q, qd))
    >>> task = control.linkage
    >>> second = task.constraint_jacobian(q) @ qdd + task.constraint_bias(q, qd)
    >>> bool(np.allclose(second, -20 * task.constraint_velocity(q, qd) - 100 * task.residual(q)))
    True
    """

    def __init__(
        self,
        linkage: Linkage,
        G1: ArrayLike,
        G0: ArrayLike,
        *,
        posture: ArrayLike | None = None,
        posture_kp: ArrayLike = 0.0,
        posture_kd: ArrayLike = 0.0,
    ) -> None:
        if not isinstance(linkage, _core.Linkage):
            raise TypeError(f"{self._who}: linkage is {_show(linkage)}, expected a Linkage")
        super().__init__(linkage.chain)
        self.linkage = linkage
        n, m = linkage.n, linkage.m
        if not m:
            self._fail(f"linkage '{linkage.name}' has no constraints, expected some")
        self.G1 = as_gains(G1, self._fail, "G1", m, square=True)
        self.G0 = as_gains(G0, self._fail, "G0", m, square=True)
        self.posture = None if posture is None else as_array(posture, self._fail, "posture", (n,))
        self.posture_kp = as_gains(posture_kp, self._fail, "posture_kp", n)
        self.posture_kd = as_gains(posture_kd, self._fail, "posture_kd", n)
        if self.posture is None and self.posture_kp.any():
            self._fail("posture_kp is given without posture")

    @property
    def _references(self) -> tuple[Reference, ...]:
        return (Reference("t", (), "time, s"),)

    def _read(self, reference: Reference, value: Any) -> Array:
        if value is None or np.ndim(value) == 0:
            return np.array(as_number(0.0 if value is None else np.asarray(value)[()], self._fail, reference.name))
        return as_array(value, self._fail, reference.name, np.shape(value))

    def _law(self, model: Any, q: Any, qd: Any, t: Any) -> Any:
        task = self.linkage
        G = task.constraint_jacobian(q, t)
        f, fd, gam = task.residual(q, t), task.constraint_velocity(q, qd, t), task.constraint_bias(q, qd, t)
        v = -self.posture_kd * qd
        if self.posture is not None:
            v = v + self.posture_kp * (self.posture - q)
        wanted = gam + scaled(self.G1, fd) + scaled(self.G0, f)
        qdd = v - times(_inverse(G), wanted + times(G, v))
        return model.inverse_dynamics(q, qd, qdd)

    def follow(self, reference: Callable[[float], Any] | None = None) -> Callable[[float, Array, Array], Array]:
        """Efforts for `Chain.simulate`: ``arm.simulate(..., tau=control.follow())``.

        Parameters
        ----------
        reference : callable, optional
            The time of the constraints, of the time of the run; default: the same.

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.two_link()
        >>> rod = zv.constraints.distance("base", arm.link_names[-1], length=0.9)
        >>> task = zv.Linkage(arm, constraints=[rod])
        >>> control = zv.control.ConstraintControl(task, G1=20.0, G0=100.0, posture_kd=5.0)
        >>> control.follow()(0.0, [0.3, 0.8], [0.0, 0.0]).shape
        (2,)
        """
        return super().follow((lambda t: t) if reference is None else reference)

    def trace(self) -> TracedExpression:
        """Not there: functions of linkages are not traced.

        Raises
        ------
        TypeError
        """
        raise TypeError(
            f"{self._who}: functions of a Linkage cannot be traced, so that there is no C of this controller;"
            " OperationalSpace and ComputedTorque have it"
        )


def _inverse(G: Array) -> Array:
    """G'(G G')^-1 of independent rows, (G'G)^-1 G' of more rows than joints; of dependent rows the pseudo-inverse."""
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    kept = s > _RANK * s[..., :1]
    scale = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    inverse: Array = (transposed(Vt) * scale[..., None, :]) @ transposed(U)
    return inverse
