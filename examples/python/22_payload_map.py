"""
Statics with a payload: what can the arm carry, and where?
==========================================================

The forces in the joints of an arm that holds a part, the payload that its drives allow over the workspace, and the
share of orientations in which a place can be reached.
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

arm = zv.robots.kawasaki_fs020n()
effort = np.array([900.0, 1100.0, 480.0, 90.0, 70.0, 40.0])  # N m, made up like the masses
q = np.radians([0, 60, -50, 0, 70, 0])

# ---- 20 kg, 0.15 m before the flange, and somebody leans on the forearm
part = zv.PointLoad("tool", mass=20.0, point=(0, 0, 0.15))
push = zv.PointLoad("link4", force=(0, 0, -150.0))
for name, loads in (("empty", []), ("with the part", [part]), ("and a push", [part, push])):
    held = arm.statics(q, loads)
    print(f"{name:14} drives", held.tau.round(1) + 0.0, "N m")
held = arm.statics(q, [part, push], frame="world")
print("bearing of joint 2 carries", np.linalg.norm(held.force[1]).round(0), "N")

# ---- the largest payload, and which drive sets it
c = arm.payload_capacity(q, point=(0, 0, 0.15), effort=effort)
print(f"this far out {c.mass:.1f} kg, limited by {arm.joint_names[int(c.limited_by)]}")

# ---- over a vertical section, with the hand pointing down
down = np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]])
section = arm.workspace(axes=("y", "z"), points=45, orientation=down, payload=True, effort=effort, samples=30_000)
mass = section.payload
known = section.reachable
print(section)
print(f"payload from {mass[known].min():.0f} kg to {np.quantile(mass[known], 0.9):.0f} kg in nine tenths of it")
print(f"{(mass[known] >= 20).mean():.0%} of it allows the 20 kg of the data sheet with these drives")

# ---- any orientation, and how many of them
free = arm.workspace(axes=("y", "z"), points=31, orientations=24, samples=30_000)
print(f"{free.volume:.2f} m^2 reachable, {free.dexterous_volume:.2f} m^2 in every one of 24 orientations")

figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
section.plot("payload", axes[0])
axes[0].set_title("payload with the hand pointing down")
free.plot("dexterity", axes[1])
axes[1].set_title("share of orientations")
plt.show()
