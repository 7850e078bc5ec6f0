"""
Many states in one call
=======================

Any leading shape, broadcasting, results written in place, threads.
"""

import numpy as np
import zveno as zv

arm = zv.robots.puma560()
rng = np.random.default_rng(0)
q, qd, tau = rng.uniform(-1, 1, (3, 10_000, arm.n))

qdd = np.empty_like(q)
arm.forward_dynamics(q, qd, tau, out=qdd, threads=0)
assert np.array_equal(qdd[1234], arm.forward_dynamics(q[1234], qd[1234], tau[1234]))  # place and threads do not matter

# energy balance: power of the joint efforts is the rate of the total energy
step = 1e-5
before, after = (arm.kinetic_energy(q + s * qd, qd + s * qdd) + arm.potential_energy(q + s * qd) for s in (-step, step))
power = (tau * qd).sum(axis=1)
error = np.abs((after - before) / (2 * step) - power).max() / np.abs(power).max()
print(f"{len(q)} states of {arm.name}, energy balance to {error:.0e} of the largest power")

# one posture, a grid of payloads' forces
force = np.zeros((5, 6))
force[:, 2] = -9.81 * np.arange(5)
holding = arm.inverse_dynamics(np.zeros(arm.n), np.zeros(arm.n), np.zeros(arm.n), external={arm.link_names[-1]: force})
print("shoulder torque over load, N m:", holding[:, 1].round(2))
