"""
First contact of a docking ring
===============================

Strokes, accelerations and loads on the spacecraft, once and ten thousand times.
"""

import numpy as np
import zveno as zv
from numpy.typing import NDArray

ring = zv.mechanisms.docking_ring("UPS")
print(ring)

# the ring is pushed aside and rolled about the docking axis x
roll = 0.05
r = ring.nominal[0] + (-0.02, 0.03, -0.01)
R = np.array([[1, 0, 0], [0, np.cos(roll), -np.sin(roll)], [0, np.sin(roll), np.cos(roll)]])
u = np.array([-0.05, 0.02, 0.01, 0.04, -0.03, 0.02])  # m/s in base axes, rad/s in ring axes
stroke, rate = ring.closure(r, R)[:, -1], ring.joint_velocity(r, R, u)[:, -1]
drives = -400 * stroke - 80 * rate  # springs and dampers, N
print("strokes, mm                   ", (1e3 * stroke).round(1))
print("drives, N                     ", drives.round(1))


def contact(angle: NDArray[np.float64], force: NDArray[np.float64]) -> NDArray[np.float64]:
    """Wrench of a force (base axes) at a point of the rim: moments in ring axes."""
    rim = 0.6 * np.stack([np.zeros_like(angle), np.cos(angle), np.sin(angle)], axis=-1)
    return np.concatenate([np.broadcast_to(force, rim.shape), np.cross(rim, force @ R)], axis=-1)


force = np.array([-200.0, 40.0, -30.0])
wrench = contact(np.array(0.3), force)
result = ring.forward_dynamics(r, R, u, wrench, drives)
print("acceleration, m/s^2, rad/s^2  ", result.acceleration.round(3))
print("load on the spacecraft, N, N m", result.base_wrench.round(2))
print("forces in the hinges, N       ", np.linalg.norm(result.reaction[:, :3], axis=1).round(1))

# what the spacecraft does not feel is the rate of momentum of ring and legs
step = 1e-5
spin = R @ u[3:]
rates: list[NDArray[np.float64]] = []
for h in (-step, step):
    K = h * np.array([[0, -spin[2], spin[1]], [spin[2], 0, -spin[0]], [-spin[1], spin[0], 0]])
    turned = np.linalg.solve(np.eye(3) - K / 2, (np.eye(3) + K / 2) @ R)  # Cayley: a rotation
    rates.append(ring.momentum(r + h * u[:3], turned, u + h * result.acceleration))
momentum_rate = (rates[1] - rates[0]) / (2 * step)
about_origin = np.concatenate([force, np.cross(r, force) + R @ wrench[3:]])
assert np.allclose(result.base_wrench, about_origin - momentum_rate, atol=1e-5)

# contact anywhere on the rim, all cores; then the same with a spacecraft that is free to move
angles = np.linspace(0, 2 * np.pi, 10_000)
loads = ring.forward_dynamics(r, R, u, contact(angles, force), drives, threads=0).base_wrench
moment = np.linalg.norm(loads[:, 3:], axis=1)
print(
    f"largest moment on the base     {moment.max():.1f} N m, contact at {np.degrees(angles[moment.argmax()]):.0f} deg"
)
spacecraft = zv.Body(8000.0, (9000.0, 30_000.0, 30_000.0), com=(-2.0, 0.0, 0.0))
free = ring.forward_dynamics_free(r, R, u, contact(angles, force), drives, base=spacecraft)
print("spacecraft accelerates, m/s^2  ", np.abs(free.base_acceleration[:, :3]).max(axis=0).round(4))

# a pose that the mechanism cannot take
try:
    zv.mechanisms.docking_ring("RUS").closure((0.9, 0, 0), np.eye(3))
except zv.UnreachableError as error:
    print(error)
