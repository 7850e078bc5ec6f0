"""
Pick and place under the limits of the motors
=============================================

An arm takes a part from one place to another: approach, lift, carry, set down. The motion is planned with the part in
the hand, followed by computed torque under motors that saturate, and with dry friction that the model does not know.
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

empty = zv.robots.kawasaki_fs020n()
arm = empty.with_payload("tool", 12.0, com=(0.0, 0.0, 0.12), inertia=(0.05, 0.05, 0.02))
torque = np.array([1500.0, 1500.0, 900.0, 150.0, 120.0, 60.0])  # N m, made up
rates = np.radians([150.0, 150.0, 160.0, 240.0, 270.0, 340.0])

# ---- two places, the hand pointing down, and points 0.25 m above them
down = zv.orientation.from_pyr(np.radians([180.0, 0.0, 0.0]))
pick, place = np.array([0.75, 0.65, -0.35]), np.array([-0.6, 0.9, -0.1])
lift = np.array([0, 0, 0.25])
q0 = empty.ik_all((pick, down)).q
q0 = q0[np.abs(q0 - (arm.lower + arm.upper) / 2).max(axis=1).argmin()]  # of all branches the one nearest to the middle
stations = [q0]
for where in (pick + lift, place + lift, place):
    stations.append(empty.ik((where, down), q0=stations[-1]).q)
for name, q in zip(("pick", "above", "above the place", "place"), stations, strict=True):
    c = empty.payload_capacity(q, point=(0, 0, 0.12), effort=torque)
    print(f"{name:16} {np.degrees(q).round(1)}, up to {c.mass:.0f} kg at rest")

# ---- up and down on straight lines, across as fast as the motors allow with the part in the hand
up = zv.trajectory.joint_path(
    zv.trajectory.line((pick, down), (pick + lift, down)), lambda T, q0: empty.ik(T, q0=q0), stations[0], arm=empty
)
sink = zv.trajectory.joint_path(
    zv.trajectory.line((place + lift, down), (place, down)), lambda T, q0: empty.ik(T, q0=q0), stations[2], arm=empty
)
margin = 0.85 * torque  # what the controller may add stays free
legs = [
    zv.trajectory.time_optimal(arm, up, velocity=rates, torque=margin, speed=0.8),
    zv.trajectory.time_optimal(arm, zv.trajectory.path(stations[1:3], arm=arm), velocity=rates, torque=margin),
    zv.trajectory.time_optimal(arm, sink, velocity=rates, torque=margin, speed=0.5),
]
ends = np.cumsum([0.0, *(leg.duration for leg in legs)])
print("lift, carry, set down:", ", ".join(f"{leg.duration:.2f} s" for leg in legs))


def motion(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One leg after another."""
    k = min(int(np.searchsorted(ends, t, side="right")) - 1, len(legs) - 1)
    q, qd, qdd = legs[k](t - ends[k])
    return q, qd, qdd


# ---- computed torque at 1 kHz, motors that saturate, gears that rub
control = zv.control.ComputedTorque(arm, kp=900.0, kd=60.0)
plan = control.follow(motion)


def motors(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    return np.clip(plan(t, q, qd), -torque, torque)


friction = [zv.laws.DryFriction(0.02 * limit, 0.02) for limit in torque]
end = np.ceil(1e3 * (ends[-1] + 0.3)) * 1e-3
run = arm.simulate(end, 1e-3, q=stations[0], tau=motors, laws=friction, hold=1e-3)
wanted = np.array([motion(t)[0] for t in run.t])
hand, plan_of_hand = (empty.pose(q, "tool")[:, :3, 3] for q in (run.q, wanted))
off = np.linalg.norm(hand - plan_of_hand, axis=1)
used = np.array([motors(t, q, qd) for t, q, qd in zip(run.t, run.q, run.qd, strict=True)])
print(f"the hand is off by {1e3 * off.max():.1f} mm at most, {1e3 * off[-1]:.1f} mm at the end")
print(f"motors use {np.abs(used / torque).max():.0%} of their torque")

figure, axes = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
axes[0].plot(run.t, used / torque, label=arm.joint_names)
axes[0].axhspan(-1, 1, color="0.94")
axes[0].set(title="torque / limit", xlabel="t, s")
axes[0].legend(fontsize="small", ncols=2)
axes[1].plot(run.t, 1e3 * off)
axes[1].set(title="hand off its way, mm", xlabel="t, s")
axes[2].plot(hand[:, 0], hand[:, 2])
axes[2].set(title="way of the hand", xlabel="x, m", ylabel="z, m", aspect="equal")
plt.show()
