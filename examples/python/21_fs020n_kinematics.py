"""
Kawasaki FS020N: forward and inverse kinematics
===============================================

Where is the torch of a welding robot, which configurations bring it there, how well can it move away, and how fast must
the joints turn on a straight way past a singularity?
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

# ---- forward: the torch, tilted by 30 degrees, at the end of the flange
tilt = zv.orientation.from_pyr(np.radians([-30, 0, 0]))
arm = zv.robots.kawasaki_fs020n().with_tool((tilt @ (0, 0, 0.1), tilt), name="torch")
q = np.radians([25, 40, -70, 35, -50, 120])
T = arm.pose(q, "torch")
print("torch at", T[:3, 3].round(6), "m; P, Y, R", np.degrees(zv.orientation.to_pyr(T[:3, :3])).round(6), "degrees")

# ---- inverse: every branch, and what stands in the way of the others
every = arm.ik_all(T)
print(len(every.q), "solutions on", len(set(every.branch.tolist())), "branches within the limits")
for branch in sorted(set(every.branch.tolist())):
    k = int(np.flatnonzero(every.branch == branch)[0])
    shoulder, elbow, wrist = every.configuration[k] * [-1, -1, 1]  # the indices of the book
    print(f"  KCI ({shoulder:+d}, {elbow:+d}, {wrist:+d})", np.degrees(every.q[k]).round(6))

# ---- how far from a singularity, and which joint leads away from it
m = arm.manipulability(q, gradient=True)
away = arm.joint_names[int(np.abs(m.d_distance).argmax())]
print(f"smallest singular value {m.distance:.6f}, condition {m.condition:.1f}; {away} changes it most")

# ---- a straight way close to the singular wrist: damping keeps the rates low, limits keep them possible
rates = np.radians([150.0, 150.0, 160.0, 240.0, 270.0, 340.0])  # made up
table: dict[str, Any] = arm.to_dh(tool="torch")._asdict()
table["velocity"] = rates
fast = zv.Chain.from_dh(**table)
close = np.radians([0.0, 30.0, -60.0, 0.0, 1.5, 0.0])
passing = fast.pose(close, "torch")
q0 = fast.ik((passing[:3, 3] - (0.12, 0, 0), passing[:3, :3]), q0=close).q
dt, twist = 0.002, np.array([0.25, 0.0, 0.0, 0.0, 0.0, 0.0])
ways: dict[str, dict[str, Any]] = {
    "exact": {},
    "damped": {"damping": 0.05},
    "within limits": {"limits": True, "dt": dt},
}
runs = {}
for name, options in ways.items():
    x, taken = q0.copy(), []
    for _ in range(480):
        r = fast.inverse_velocity(x, twist, "torch", **options)
        taken.append(np.r_[r.qd, r.residual])
        x = x + r.qd * dt
    runs[name] = np.array(taken)
    most, missing = np.degrees(np.abs(runs[name][:, :6])).max(), np.linalg.norm(runs[name][:, 6:9], axis=1).max()
    print(f"{name:14} joints up to {most:5.1f} deg/s, the torch off its speed by up to {1e3 * missing:5.2f} mm/s")

figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained", sharey=True)
for ax, (name, rows) in zip(axes, runs.items(), strict=True):
    ax.plot(dt * np.arange(len(rows)), np.degrees(rows[:, :6]), label=arm.joint_names)
    ax.set(title=name, xlabel="t, s")
axes[0].set_ylabel("joint rates, deg/s")
axes[0].legend(fontsize="small")
plt.show()
