"""
A welding seam and the choice of a branch
=========================================

A torch follows a straight seam and then half a circle. The same seam can be welded in several configurations of the
arm: some of them run into a limit or a singularity on the way. Which one has the most room?
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

arm = zv.robots.kawasaki_fs020n().with_tool((0, 0, 0.2), name="torch")

# the torch points down and is tilted by 15 degrees
R = zv.orientation.from_pyr(np.radians([165.0, 0.0, 0.0]))
corner = np.array([0.35, 0.95, -0.25])
line = zv.trajectory.line((corner - (0.7, 0, 0), R), (corner, R))
poses = line.at(np.linspace(0, 1, 200)).T


def room(q: np.ndarray) -> np.ndarray:
    """Share of the joint range that is left to the nearer limit, the least of all joints."""
    half = (arm.upper - arm.lower) / 2
    return np.asarray((np.minimum(arm.upper - q, q - arm.lower) / half).min(axis=-1))


# ---- every solution at the start, followed along the seam
start = arm.ik_all(poses[0])
found = []
for k in range(len(start.q)):
    name = f"{start.names[k]} / {start.branch[k]}"
    try:
        joints = zv.trajectory.joint_path(
            line, lambda T, q0: arm.ik(T, q0=q0), start.q[k], arm=arm, link="torch"
        )
    except zv.InfeasibleError as error:
        print(f"{name}: {str(error).split(':', 1)[1].strip()[:90]}")
        continue
    q = joints.at(np.linspace(0, 1, 200)).q
    near = arm.manipulability(q, "torch", length=0.5).distance.min()
    found.append((float(min(room(q).min(), near)), name, joints))
    print(f"{name}: {room(q).min():.2f} of the range left, singular value at least {near:.3f}")
best, name, joints = max(found, key=lambda item: item[0])
print("chosen:", name)

# ---- welding speed 12 mm/s is constant; the drives could do more
weld = zv.trajectory.time_optimal(arm, joints, velocity=2.0, acceleration=8.0, speed=0.012, link="torch")
q, qd, _ = weld(np.linspace(0, weld.duration, 400))
speed = np.linalg.norm(arm.velocity(q, qd, "torch")[:, :3], axis=1)
off = np.abs(arm.pose(q, "torch")[:, 1:3, 3] - corner[1:]).max()
print(f"{weld.duration:.1f} s at {1e3 * np.median(speed):.2f} mm/s, off the seam by less than 1 um: {off < 1e-6}")

# ---- a weave of 4 mm at 2 Hz on top, by rates: the inverse velocity problem along the seam
t = np.linspace(0, weld.duration, 400)
weave = np.zeros((len(t), 6))
weave[:, 1] = 0.004 * 4 * np.pi * np.cos(4 * np.pi * t)
extra = arm.inverse_velocity(q, weave, "torch")
print(f"weaving needs up to {np.degrees(np.abs(extra.qd)).max():.1f} deg/s more")

figure, axes = plt.subplots(1, 2, figsize=(12, 4.2), layout="constrained")
for _, label, path in found[:6]:
    s = np.linspace(0, 1, 200)
    axes[0].plot(s, arm.manipulability(path.at(s).q, "torch", length=0.5).distance, label=label)
axes[0].set(title="distance from a singularity", xlabel="s along the seam", ylabel="smallest singular value")
axes[0].legend(fontsize="small")
axes[1].plot(t, np.degrees(qd), label=arm.joint_names)
axes[1].set(title="joint rates of the chosen branch", xlabel="t, s", ylabel="deg/s")
plt.show()
