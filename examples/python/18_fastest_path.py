"""
As fast as the motors allow
===========================

A six-axis arm passes four points. Which motion along that path is the fastest that its drives can make, and what does
it gain over a smooth motion that is merely stretched until nothing saturates?
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

arm = zv.robots.kawasaki_fs020n().with_payload("tool", 10.0, com=(0.0, 0.0, 0.1))
torque = np.array([900.0, 1200.0, 600.0, 120.0, 90.0, 60.0])  # N m, made up
velocity = np.radians([150.0, 150.0, 160.0, 240.0, 270.0, 340.0])  # rad/s

# the path: a spline through configurations; its parameter s is a time at full rates
points = np.radians(
    [
        (-60, 40, -50, 0, 60, 0),
        (-20, 15, -80, 30, 40, 40),
        (30, 20, -85, -20, 50, 90),
        (70, 50, -40, 0, 80, 120),
    ]
)
way = zv.trajectory.path(points, weights=velocity, arm=arm)
print(way)

# the fastest motion along it, and the quintic law of time stretched to the same limits
fast = zv.trajectory.time_optimal(arm, way, velocity=velocity, torque=torque)
slow = way.timed(1.0).within(arm, velocity=velocity, torque=torque)
print(f"fastest {fast.duration:.3f} s, stretched {slow.duration:.3f} s")
print(f"limits kept within {fast.excess:.1e} between the nodes: {fast.excess < 2e-3}")

# where the grid ends: the optimum from two grids
coarse, fine = (
    zv.trajectory.time_optimal(arm, way, velocity=velocity, torque=torque, nodes=n).duration for n in (400, 800)
)
print(f"optimum about {2 * fine - coarse:.3f} s")

# too little torque is named with place and joint
try:
    zv.trajectory.time_optimal(arm, way, torque=[900.0, 250.0, 600.0, 120.0, 90.0, 60.0])
except zv.InfeasibleError as error:
    print(error)

# computed torque follows the motion; the drives' limits are those of the plan
control = zv.control.ComputedTorque(arm, kp=900.0, kd=60.0)
end = np.ceil(fast.duration * 1e3) * 1e-3
run = arm.simulate(end, 1e-3, q=fast.at(0).q, tau=control.follow(fast))
off = np.abs(run.q - fast.at(run.t).q).max()
print(f"followed within 1 mrad: {off < 1e-3}")

figure, axes = plt.subplots(2, 2, figsize=(11, 6), layout="constrained", sharey="row")
for column, (name, move) in zip(axes.T, (("fastest", fast), ("stretched", slow)), strict=True):
    t = np.linspace(0.0, move.duration, 1000)
    q, qd, qdd = move(t)
    column[0].plot(t, arm.inverse_dynamics(q, qd, qdd) / torque, label=arm.joint_names)
    column[1].plot(t, qd / velocity)
    for panel, what in zip(column, ("torque", "rate"), strict=True):
        panel.axhspan(-1, 1, color="0.94")
        panel.set(xlabel="t, s", ylabel=f"{what} / limit")
    column[0].set_title(f"{name}: {move.duration:.3f} s")
axes[0, 0].legend(fontsize="small", ncols=2)
