"""
Linkages: closed loops that just work
=====================================

Four planar mechanisms and a delta robot: closed, swept and drawn. Every loop is a full revolute joint or a rod; the
redundant equations of planar loops are no fault.
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv


def sweep(linkage: zv.Linkage, joint: str, angles: np.ndarray, guess: list[float]) -> np.ndarray:
    """Closed configurations along a driven joint, each from the last one."""
    rows, k = [], linkage.joint_names.index(joint)
    q = np.asarray(guess, float)
    for angle in angles:
        q = q.copy()
        q[k] = angle
        q = linkage.close(q, hold=[joint])
        rows.append(q)
    return np.array(rows)


def point(linkage: zv.Linkage, q: np.ndarray, link: str, x: float) -> np.ndarray:
    """Places of a point on the x axis of a link."""
    return (linkage.chain.pose(q, link) @ [x, 0.0, 0.0, 1.0])[..., :3]


turn = np.linspace(0.0, 2 * np.pi, 181)
figure, axes = plt.subplots(2, 3, figsize=(12, 7.5), layout="constrained")

# a point of the coupler of a four-bar draws a curve of sixth degree
four_bar = zv.mechanisms.four_bar()
q = sweep(four_bar, "crank_joint", turn, [0.0, 1.2, 1.9])
for x in (0.3, 0.6, 0.9):
    curve = point(four_bar, q, "coupler", x)
    axes[0, 0].plot(curve[:, 0], curve[:, 1], label=f"{x} m")
m = four_bar.mobility(q[20])
print(four_bar, "-", m.degrees, "degree of freedom,", m.redundant, "redundant equations")
axes[0, 0].set(title="four-bar: points of the coupler", xlabel="x, m", ylabel="y, m", aspect="equal")
axes[0, 0].legend(frameon=False)

# acceleration of a piston at constant speed of the crank
engine = zv.mechanisms.slider_crank()
q = sweep(engine, "crank_joint", turn, [0.0, 0.0, 0.75])
speed = 50.0
qd = np.array([engine.velocities(x, {"crank_joint": speed}) for x in q])
qdd = np.array([engine.accelerations(x, v, {"crank_joint": 0.0}) for x, v in zip(q, qd, strict=True)])
effort = engine.inverse_dynamics(q, qd, qdd, actuated=["crank_joint"]).effort[:, 0]
axes[0, 1].plot(np.degrees(turn), qdd[:, 2], label="piston, m/s²")
axes[0, 1].plot(np.degrees(turn), effort, label="crank, N m")
axes[0, 1].set(title=f"slider-crank at {speed:g} rad/s", xlabel="crank, degrees", xticks=range(0, 361, 90))
axes[0, 1].legend(frameon=False)
print(f"piston: {qdd[:, 2].min():.0f} to {qdd[:, 2].max():.0f} m/s^2")

# Peaucellier: a circle becomes a straight line
inversor = zv.mechanisms.peaucellier()
q = sweep(inversor, "crank_joint", np.linspace(0.75, -0.75, 61), [0.75, 0.45, -1.05, 0.6, 0.1, -1.0, 1.0])
pen = point(inversor, q, "p1", 0.4)
axes[0, 2].plot(pen[:, 0], pen[:, 1], "k", lw=2)
for row in q[::15]:
    for link, size in (("long1", 1.0), ("long2", 1.0), ("p1", 0.4), ("p2", 0.4), ("b1", 0.4), ("b2", 0.4)):
        ends = np.array([point(inversor, row, link, x) for x in (0.0, size)])
        axes[0, 2].plot(ends[:, 0], ends[:, 1], lw=0.7, color="0.6")
axes[0, 2].set(title="Peaucellier", xlabel="x, m", ylabel="y, m", aspect="equal")
print(f"straight to {np.ptp(pen[:, 0]):.0e} m over {np.ptp(pen[:, 1]):.2f} m")

# a five-bar falls: energy and closure
five_bar = zv.mechanisms.five_bar()
start = five_bar.close([2.0, -1.2, 1.0, 1.3], hold=["left1_joint", "right1_joint"])
fall = five_bar.simulate(2.5, 1e-3, q=start, every=10)
tip = point(five_bar, fall.q, "left2", 0.6)
axes[1, 0].plot(tip[:, 0], tip[:, 1])
axes[1, 0].set(title="five-bar falls for 2.5 s", xlabel="x, m", ylabel="y, m", aspect="equal")
energy = fall.kinetic_energy + fall.potential_energy
axes[1, 1].semilogy(fall.t, np.abs(energy / energy[0] - 1) + 1e-17, label="energy, relative")
axes[1, 1].semilogy(fall.t, np.abs(five_bar.residual(fall.q)).max(axis=1) + 1e-17, label="closure, m")
axes[1, 1].set(title="what is lost", xlabel="t, s", ylim=(1e-17, 1e-6))
axes[1, 1].legend(frameon=False)
print("closed to", f"{np.abs(five_bar.residual(fall.q)).max():.0e}", "m;", fall.energy_balance)

# torques that hold the platform of a delta robot, over its workspace
delta = zv.mechanisms.delta_robot()
drives = ["arm1_joint", "arm2_joint", "arm3_joint"]
grid = np.linspace(-0.25, 0.25, 21)
hold = np.full((21, 21), np.nan)
slides = ["px_joint", "py_joint", "pz_joint"]
guess = delta.close([0, 0, 0, 0, 0, -0.6, 0, 0, 0], hold=slides)
for i, x in enumerate(grid):
    for j, y in enumerate(grid):
        state = guess.copy()
        state[3:6] = x, y, -0.6
        try:
            state = delta.close(state, hold=slides)
        except zv.UnreachableError:
            continue
        rest = np.zeros(delta.n)
        hold[j, i] = np.abs(delta.inverse_dynamics(state, rest, rest, actuated=drives).effort).max()
shown = axes[1, 2].contourf(grid, grid, hold, 12)
figure.colorbar(shown, ax=axes[1, 2], label="largest torque, N m")
axes[1, 2].set(title="delta robot at rest, z = -0.6 m", xlabel="x, m", ylabel="y, m", aspect="equal")
print(f"{np.isfinite(hold).sum()} of {hold.size} places can be reached")
plt.show()
