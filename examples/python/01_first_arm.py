"""
A first arm
===========

A planar arm of two links: what it weighs, what holds it, how it falls.
"""

import numpy as np
import zveno as zv

arm = zv.Chain(
    [
        zv.Link("upper", axis=(0, 1, 0), mass=4.0, com=(0.25, 0, 0), inertia=(0.01, 0.08, 0.08)),
        zv.Link("fore", axis=(0, 1, 0), position=(0.5, 0, 0), mass=2.0, com=(0.2, 0, 0), inertia=(0.005, 0.03, 0.03)),
        zv.Link("hand", joint="fixed", position=(0.4, 0, 0)),
    ],
    name="arm",
)
q = np.array([-0.4, 0.9])  # rad
rest = np.zeros(arm.n)

print(arm)
print("mass matrix, kg m^2\n", arm.mass_matrix(q).round(4))
tau = arm.inverse_dynamics(q, rest, rest)
print("torques that hold it, N m     ", tau.round(3))
print("accelerations when let go     ", arm.forward_dynamics(q, rest, rest).round(3), "rad/s^2")
print("hand at, m                    ", arm.pose(q, "hand")[:3, 3].round(3))

# a weight in the hand: as a force, or as a payload
lifted = arm.inverse_dynamics(q, rest, rest, external={"hand": [0, 0, -9.81, 0, 0, 0]})
loaded = arm.with_payload("hand", mass=1.0)
assert np.allclose(lifted, loaded.inverse_dynamics(q, rest, rest))
print("with 1 kg in the hand, N m    ", lifted.round(3))
