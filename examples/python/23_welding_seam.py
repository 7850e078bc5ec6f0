"""
A welding seam and the choice of a branch
=========================================

A torch follows a straight seam. The same seam can be welded in several configurations of the
arm: some of them run into a limit or a singularity on the way. Which one has the most room?
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

arm = zv.robots.kawasaki_fs020n().with_tool((0, 0, 0.2), name="torch")

# the torch points down, tilted, and turned about its axis
R = zv.orientation.from_pyr(np.radians([150.0, 25.0, 60.0]))
end = np.array([0.5, 0.8, -0.3])
seam = zv.trajectory.line((end - (1.1, 0, 0), R), (end, R))


def room(q: np.ndarray) -> float:
    """Share of the joint range that is left to the nearer limit, the least of all joints and places."""
    half = (arm.upper - arm.lower) / 2
    return float((np.minimum(arm.upper - q, q - arm.lower) / half).min())


# ---- every solution at the start, followed along the seam; of the whole turns of a branch the best one
start = arm.ik_all(seam.at(0.0).pose)
s = np.linspace(0, 1, 200)
followed: dict[str, tuple[float, zv.trajectory.JointPath]] = {}
failed: dict[str, str] = {}
for q, name in zip(start.q, start.names, strict=True):
    try:
        joints = zv.trajectory.joint_path(seam, lambda T, q0: arm.ik(T, q0=q0), q, arm=arm, link="torch")
    except zv.InfeasibleError as error:
        failed[name] = f"{error.quantity} of {error.joint} at s = {error.s:.2f}"
        continue
    left = room(joints.at(s).q)
    if name not in followed or left > followed[name][0]:
        followed[name] = left, joints
for name, (left, joints) in followed.items():
    near = arm.manipulability(joints.at(s).q, "torch", length=0.5).distance.min()
    print(f"{name}: {left:.2f} of a range is left, smallest singular value {near:.2f}")
for name, why in failed.items():
    print(f"{name}: {why}")
best = max(followed, key=lambda name: followed[name][0])
joints = followed[best][1]
print("chosen:", best)

# ---- welding speed 12 mm/s is constant; the drives could do more
weld = zv.trajectory.time_optimal(arm, joints, velocity=2.0, acceleration=8.0, speed=0.012, link="torch")
q, qd, _ = weld(np.linspace(0, weld.duration, 400))
speed = np.linalg.norm(arm.velocity(q, qd, "torch")[:, :3], axis=1)
away = np.abs(arm.pose(q, "torch")[:, 1:3, 3] - end[1:]).max()
print(f"{weld.duration:.1f} s at {1e3 * np.median(speed):.2f} mm/s, off the seam by less than 1 um: {away < 1e-6}")

# ---- a weave of 4 mm at 2 Hz on top, by rates: the inverse velocity problem along the seam
t = np.linspace(0, weld.duration, 400)
weave = np.zeros((len(t), 6))
weave[:, 1] = 0.004 * 4 * np.pi * np.cos(4 * np.pi * t)
extra = arm.inverse_velocity(q, weave, "torch")
print(f"weaving needs up to {np.degrees(np.abs(extra.qd)).max():.1f} deg/s more")

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
for name, kept in followed.items():
    axes[0].plot(s, arm.manipulability(kept[1].at(s).q, "torch", length=0.5).distance, label=name)
axes[0].set(title="distance from a singularity", xlabel="s along the seam", ylabel="smallest singular value")
axes[0].legend(fontsize="small")
axes[1].plot(t, np.degrees(qd), label=arm.joint_names)
axes[1].set(title="joint rates of the chosen branch", xlabel="t, s", ylabel="deg/s")
plt.show()
