"""
A space arm of two flexible booms
=================================

Frequencies over the angle of the elbow, deflection under a push, and the load that a boom can carry.
"""

import math

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv
from zveno.flexible import Tube, beam, buckling_load, cfrp, deflection, resolution

# two carbon tubes of 6 m, a drive before each, an elbow of 5 kg and a payload of 60 kg
tube = Tube(radius=0.06, thickness=0.002)
upper = beam("upper", 6.0, section=tube, material=cfrp, elements=12, damping=0.005)
lower = beam("lower", 6.0, section=(tube, Tube(0.04, 0.002)), material=cfrp, elements=12, damping=0.005)
arm = zv.Chain(
    [
        zv.Link("shoulder", axis=(0, 1, 0), rotor_inertia=0.5),
        *upper,
        zv.Link("elbow", axis=(0, 1, 0), rotor_inertia=0.5, mass=5.0, inertia=0.05),
        *lower,
        zv.Link("payload", joint="fixed", mass=60.0, com=(0.3, 0, 0), inertia=(4.0, 6.0, 6.0)),
    ],
    gravity=(0, 0, 0),
    name="two booms",
)
print(upper, lower, arm, sep="\n")
print(resolution(upper, max_frequency=60.0))

# brakes on: the drives hold, everything else vibrates
angles = np.radians(np.linspace(0, 150, 11))
frequencies = []
for angle in angles:
    braked = arm.with_locked({"shoulder_joint": 0.0, "elbow_joint": float(angle)})
    frequencies.append(braked.linearise(np.zeros(braked.n)).modes(damping=False).frequencies[:4])
print("straight, Hz   ", frequencies[0].round(3))
braked = arm.with_locked({"shoulder_joint": 0.0, "elbow_joint": math.pi / 2})
modes = braked.linearise(np.zeros(braked.n)).modes()
print("elbow 90 deg   ", modes.frequencies[:4].round(3), " damping", modes.damping[:4].round(5))

figure, axes = plt.subplots(layout="constrained")
axes.plot(np.degrees(angles), frequencies)
axes.set_xlabel("elbow, deg")
axes.set_ylabel("frequency with brakes on, Hz")
upper.plot_modes(modes)

# a push of 20 N and a torque of 15 N m on the payload, elbow at a right angle; the drives hold
q = np.zeros(arm.n)
q[arm.joint_names.index("elbow_joint")] = math.pi / 2
before = arm.pose(q, "payload")
bent = deflection(arm, {"payload": [0, 20.0, 0, 0, 0, 15.0]}, q=q)
after = arm.pose(bent.q, "payload")
turned = math.acos((np.trace(before[:3, :3].T @ after[:3, :3]) - 1) / 2)
print("payload moves, mm", (1e3 * (after - before)[:3, 3]).round(1), f"and turns by {math.degrees(turned):.2f} deg")
held = bent.tau[[arm.joint_names.index(f"{drive}_joint") for drive in ("shoulder", "elbow")]]
print("drives hold, N m ", held.round(3))

# pushed along its axis a boom buckles at Euler's load
euler = math.pi**2 * cfrp.young * tube.Iy / (4 * 6.0**2)
print(f"buckling of the upper boom {buckling_load(upper.clamped(), upper.tip):.1f} N, Euler {euler:.1f} N")
