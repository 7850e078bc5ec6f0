"""
A pantograph leg walks
======================

Two drives at the hip move the foot of a pantograph leg along a step; the parallelogram multiplies the way of the lever
by five. Closing, rates and torques come from one description; the loop's bearing force is a multiplier.
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

leg = zv.mechanisms.pantograph_leg()
drives = ["thigh_joint", "lever_joint"]
q = leg.close([-0.9, -0.9, -2.2, 1.3], hold=drives)
m = leg.mobility(q)
print(leg, "-", m.degrees, "degrees of freedom,", m.redundant, "redundant equations")

# a step: 0.3 m forward on the ground, back through the air; the foot is led by a moving frame
span, lift, ground, period = 0.3, 0.06, -0.55, 1.0


def foot_at(t: float) -> np.ndarray:
    """Smooth closed curve: flat below, round above."""
    s = 2 * np.pi * t / period
    return np.array([0.5 * span * np.cos(s), ground + lift * max(0.0, np.sin(s)) ** 3, 0.0])


def led(t: float) -> np.ndarray:
    """Coordinates that put the foot there: the last ones are the start."""
    global q
    hand = zv.constraints.target(lambda _: (np.eye(3), foot_at(t), *np.zeros((4, 3))))
    held = zv.Linkage(leg.chain, leg.constraints, [zv.Loop.spherical(hand, "shank", point_b=(0.5, 0, 0), name="foot")])
    q = held.close(q)
    return q


times = np.linspace(0.0, period, 101)
way = np.array([led(t) for t in times])
feet = leg.chain.pose(way, "shank") @ [0.5, 0, 0, 1]
print(f"the foot is led to {np.abs(feet[:, :2] - [foot_at(t)[:2] for t in times]).max():.0e} m")

# rates and accelerations of the drives by differences of the periodic way, the others from the constraints
step = times[1] - times[0]
places = [leg.joint_names.index(joint) for joint in drives]
rates = np.gradient(way[:, places], step, axis=0)
bends = np.gradient(rates, step, axis=0)
qd = np.array([leg.velocities(x, dict(zip(drives, v, strict=True))) for x, v in zip(way, rates, strict=True)])
qdd = np.array(
    [leg.accelerations(x, v, dict(zip(drives, a, strict=True))) for x, v, a in zip(way, qd, bends, strict=True)]
)
stance = np.sin(2 * np.pi * times / period) < 0
load = np.where(stance[:, None], [0, 120.0, 0, 0, 0, 0], 0.0)  # the ground pushes, N
# at the foot, half a metre along the shank: the same force at the origin of the link with its moment
arm = feet[:, :3] - leg.chain.pose(way, "shank")[:, :3, 3]
load[:, 3:] = np.cross(arm, load[:, :3])
effort = leg.inverse_dynamics(way, qd, qdd, drives, external={"shank": load})
forces = leg.forward_dynamics(way, qd, effort.tau, external={"shank": load})
assert np.allclose(forces.qdd, qdd, atol=1e-6 * np.abs(qdd).max())
bearing = np.linalg.norm(forces.loop_reaction[:, 0, :2], axis=-1)
print(f"hip torques up to {np.abs(effort.effort).max():.0f} N m, knee bearing up to {bearing.max():.0f} N")

figure = plt.figure(figsize=(12, 4.2), layout="constrained")
axes = [figure.add_subplot(1, 3, 1), figure.add_subplot(1, 3, 2), figure.add_subplot(1, 3, 3, projection="3d")]
for row in way[::10]:
    for link, size in (("thigh", 0.4), ("shank", 0.5), ("lever", 0.1), ("rod", 0.4)):
        ends = (leg.chain.pose(row, link) @ np.array([[0, 0, 0, 1], [size, 0, 0, 1]], float).T)[:2]
        axes[0].plot(*ends, color="0.6", lw=1)
axes[0].plot(feet[:, 0], feet[:, 1], "k", lw=2)
axes[0].set(title="one step", xlabel="x, m", ylabel="y, m", aspect="equal")
axes[1].plot(times, effort.effort, label=drives)
axes[1].plot(times, bearing / 10, "--", label="knee bearing, 10 N")
axes[1].set(title="torques, N m", xlabel="t, s")
axes[1].legend(frameon=False)
leg.plot(way[0], axes[2])
plt.show()
