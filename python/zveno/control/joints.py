"""Controllers in the space of the joints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .controller import Controller, Reference, as_gains

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..model import Chain

__all__ = ["ComputedTorque", "GravityCompensation"]


class GravityCompensation(Controller):
    """Efforts that carry the arm: its weight and the springs of its joints; tau = bias(q, 0) - damping qd.

    Parameters
    ----------
    chain : Chain
    damping : float or (n,) array, N m s/rad or N s/m

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> hold = zv.control.GravityCompensation(arm, damping=2.0)
    >>> bool(np.allclose(hold([0.3, 0.4], [0.0, 0.0]), arm.bias([0.3, 0.4], [0.0, 0.0])))
    True
    """

    def __init__(self, chain: Chain, damping: ArrayLike = 0.0) -> None:
        super().__init__(chain)
        self.damping = as_gains(damping, self._fail, "damping", chain.n)

    @property
    def _references(self) -> tuple[Reference, ...]:
        return ()

    def _law(self, model: Any, q: Any, qd: Any) -> Any:
        return model.bias(q, np.zeros(self.chain.n)) - self.damping * qd


class ComputedTorque(Controller):
    """Feedback linearisation: tau = M (qdd_ref + kd (qd_ref - qd) + kp (q_ref - q)) + bias.

    With an exact model the error e = q_ref - q obeys e'' + kd e' + kp e = 0: the same for every joint, however the arm
    moves. ``kd = 2 sqrt(kp)`` is critically damped.

    References: ``q_ref`` (n,), ``qd_ref`` and ``qdd_ref``, zero if they are not given.

    Parameters
    ----------
    chain : Chain
    kp, kd : float or (n,) array, 1/s^2 and 1/s

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.puma560()
    >>> control = zv.control.ComputedTorque(arm, kp=400.0, kd=40.0)
    >>> q, qd, aim = np.full((3, arm.n), 0.2)
    >>> tau = control(q, qd, aim)
    >>> bool(np.allclose(arm.forward_dynamics(q, qd, tau), -40.0 * qd))
    True
    >>> print(control.c_source().splitlines()[1])
     * puma560_computed_torque: ComputedTorque(puma560)(q, qd, q_ref, qd_ref, qdd_ref)
    """

    def __init__(self, chain: Chain, kp: ArrayLike, kd: ArrayLike) -> None:
        super().__init__(chain)
        self.kp = as_gains(kp, self._fail, "kp", chain.n)
        self.kd = as_gains(kd, self._fail, "kd", chain.n)

    @property
    def _references(self) -> tuple[Reference, ...]:
        n = self.chain.n
        return (
            Reference("q_ref", (n,), "wanted coordinates, rad or m", None),
            Reference("qd_ref", (n,), "wanted rates, rad/s or m/s"),
            Reference("qdd_ref", (n,), "wanted accelerations, rad/s^2 or m/s^2"),
        )

    def _law(self, model: Any, q: Any, qd: Any, q_ref: Any, qd_ref: Any, qdd_ref: Any) -> Any:
        qdd = qdd_ref + self.kd * (qd_ref - qd) + self.kp * (q_ref - q)
        return model.inverse_dynamics(q, qd, qdd)
