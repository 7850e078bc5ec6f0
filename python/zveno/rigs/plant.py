"""A true mechanism in the place of a rig's mass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import Array, _show, as_amount, as_array, as_integer, called, failing
from .._rotation import from_quaternion, to_quaternion, to_rotation_vector
from ..deploy.library import Stepper

if TYPE_CHECKING:
    from ..model import Hexapod

__all__ = ["RingPlant"]


class RingPlant:
    """A docking ring with its legs and laws, one period after another: the plant of an interface rig.

    Steps of the C library (rk4), the ones a rig's program makes: large motion, nothing is linearised.
    Displacements are [r - r0; turn from R0 as a rotation vector], rates are u of the hexapod.

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
        step = as_amount(period, fail, "period", positive=True)
        count = as_integer("RingPlant", "substeps", substeps, 1, 1000)
        with called("RingPlant", "Stepper"):
            self._stepper = Stepper(hexapod, period=step, substeps=count, laws=laws)
        self._in = np.zeros(sum(part.stop - part.start for part in self._stepper.inputs.values()))
        self._r, self._R = (np.asarray(part) for part in hexapod.nominal)

    def reset(self, v: Any) -> tuple[Array, Array]:
        """Start in the nominal pose with the rate `v`, (6,).

        Examples
        --------
        >>> import zveno as zv
        >>> plant = zv.rigs.RingPlant(zv.mechanisms.docking_ring("UPS"), zv.laws.SpringDamper(400.0, 80.0), 1e-3)
        >>> plant.reset([0.01, 0, 0, 0, 0, 0])[1]
        array([0.01, 0.  , 0.  , 0.  , 0.  , 0.  ])
        """
        u = as_array(v, failing("RingPlant.reset"), "v", (6,))
        self._stepper.reset(np.concatenate([self._r, to_quaternion(self._R), u]))
        return np.zeros(6), np.array(u)

    def step(self, force: Any) -> tuple[Array, Array]:
        """One period under a wrench against the displacement, [force in base axes; moment in ring axes].

        Examples
        --------
        >>> import zveno as zv
        >>> plant = zv.rigs.RingPlant(zv.mechanisms.docking_ring("UPS"), zv.laws.SpringDamper(400.0, 80.0), 1e-3)
        >>> x, v = plant.reset([0, 0, 0, 0, 0, 0])
        >>> x, v = plant.step([-100.0, 0, 0, 0, 0, 0])
        >>> bool(v[0] > 0)
        True
        """
        self._in[self._stepper.inputs["wrench"]] = -np.asarray(force)
        out, where = self._stepper.step_array(self._in), self._stepper.outputs
        turn = self._R.T @ from_quaternion(out[None, where["ring.quaternion"]])[0]
        x = np.concatenate([out[where["ring.position"]] - self._r, to_rotation_vector(turn)])
        return x, out[where["ring.twist"]].copy()
