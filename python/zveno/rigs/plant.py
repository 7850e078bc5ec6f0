"""A true mechanism in the place of a rig's mass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import Array, _show, as_amount, as_integer, failing
from .._rotation import to_rotation_vector

if TYPE_CHECKING:
    from ..model import Hexapod

__all__ = ["RingPlant"]


class RingPlant:
    """A docking ring with its legs and laws, one period after another: the plant of an interface rig.

    Large motion, as `Hexapod.simulate` makes it (rk4): nothing is linearised. Displacements are [r - r0; turn from
    R0 as a rotation vector], rates are u of the hexapod.

    Parameters
    ----------
    hexapod : Hexapod
        Starts at rest in its nominal pose.
    laws : Law or six of them
    period : float, s
        That of the rig.
    substeps : int
        Of the integration in a period.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> ring, law = zv.mechanisms.docking_ring("UPS"), zv.laws.SpringDamper(400.0, 80.0)
    >>> face = zv.rigs.FaceContact(4e3)
    >>> rig = zv.rigs.Rig.of_ring(ring, laws=law, contact=face, delay=10e-3, period=1e-3, integrator="exact")
    >>> plant = zv.rigs.RingPlant(ring, law, 1e-3)
    >>> run = zv.rigs.simulate(rig, v=[0.01, 0, 0, 0, 0, 0], contact="held", plant=plant, t_end=0.3)
    >>> run.growth < 0, run.x.shape
    (True, (301, 6))
    """

    def __init__(self, hexapod: Hexapod, laws: Any, period: float, substeps: int = 2) -> None:
        from ..model import Hexapod  # the model imports much of the package

        fail = failing("RingPlant")
        if not isinstance(hexapod, Hexapod):
            raise TypeError(f"RingPlant: hexapod is {_show(hexapod)}, expected a Hexapod")
        if hexapod.nominal is None:
            fail(f"hexapod '{hexapod.name}' has no nominal pose, expected one to start from")
        self.hexapod, self.laws = hexapod, laws
        self.period = as_amount(period, fail, "period", positive=True)
        self.substeps = as_integer("RingPlant", "substeps", substeps, 1, 1000)
        self.reset(np.zeros(6))

    def reset(self, v: Any) -> tuple[Array, Array]:
        """Start in the nominal pose with the rate `v`, (6,)."""
        r, R = self.hexapod.nominal
        self._r, self._R = np.asarray(r), np.asarray(R)
        self._u = np.asarray(v, dtype=float)
        return np.zeros(6), self._u

    def step(self, force: Any) -> tuple[Array, Array]:
        """One period under a wrench against the displacement, [force in base axes; moment in ring axes]."""
        run = self.hexapod.simulate(
            self.period,
            self.period / self.substeps,
            r=self._r,
            R=self._R,
            u=self._u,
            laws=self.laws,
            wrench=-np.asarray(force),
        )
        if run.failure is not None:
            raise run.failure
        self._r, self._R, self._u = run.r[-1], run.R[-1], run.u[-1]
        r0, R0 = self.hexapod.nominal
        return np.concatenate([self._r - r0, to_rotation_vector(R0.T @ self._R)]), self._u
