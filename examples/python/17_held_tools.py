"""
Held tools: drawing on a board, opening a door
==============================================

An arm presses a pen against a board while a controller moves it, and opens a door whose handle it holds. The force on
the board and the load on the handle are multipliers of the constraints.
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

arm = zv.robots.kawasaki_fs020n()
tip = arm.link_names[-1]
q0 = np.array([-1.57, 0.3, -1.5, 0.0, -0.9, 0.0])
home = arm.pose(q0, tip)
x0, y0, z0 = home[:3, 3]

# ---- a board at x = x0, normal along -x: the pen may slide and lift off is not allowed
board = zv.constraints.point_on_plane("base", tip, point_a=(x0, 0, 0), axis_a=(-1, 0, 0), name="board")
drawing = zv.Linkage(arm, constraints=[board])
control = zv.control.Impedance(
    arm,
    stiffness=[0.0, 4e3, 4e3],
    damping=[0.0, 400.0, 400.0],
    rows=(0, 1, 2),
    posture=q0,
    posture_kp=[200.0] * 3 + [10.0, 10.0, 0.5],
    posture_kd=[40.0] * 3 + [1.0, 1.0, 0.02],
)


def circle(t: float) -> dict[str, np.ndarray]:
    """Where the pen is wanted: a circle of 8 cm on the board, a push of 20 N comes on top."""
    pose = home.copy()
    pose[1, 3], pose[2, 3] = y0 + 0.08 * np.sin(2 * t), z0 + 0.08 * (np.cos(2 * t) - 1)
    twist = np.array([0, 0.16 * np.cos(2 * t), -0.16 * np.sin(2 * t), 0, 0, 0])
    return {"pose_ref": pose, "twist_ref": twist}


def efforts(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Impedance along the board, and 20 N towards it."""
    push = arm.jacobian(q, tip)[:3].T @ [20.0, 0, 0]
    return control(q, qd, **circle(t)) + push


q = drawing.close(q0)
drawn = drawing.simulate(3.2, 5e-3, q=q, tau=efforts)
pen = arm.pose(drawn.q, tip)[:, :3, 3]
force = drawn.reactions().multiplier[:, 0]
print(f"the pen stays on the board to {np.abs(pen[:, 0] - x0).max():.0e} m; it is pressed with {force[-1]:.1f} N")

# ---- a door hinged at the side; the tool holds its handle, which turns in the hand
width = 0.7
links = [*arm.links, zv.Link("door", parent=arm.base_name, axis=(0, 0, 1), position=(x0, y0 + width, z0), mass=20.0,
                             com=(0, -width / 2, 0), inertia=(0.9, 0.1, 0.9), friction=1.0)]  # fmt: skip
room = zv.Chain(links, gravity=arm.gravity, base=arm.base_name, name="arm and door")
handle = zv.Loop.spherical(tip, "door", point_b=(0, -width, 0), name="handle")
door = zv.Linkage(room, [handle])
q = door.close([*q0, 0.0])
rest = np.zeros(door.n)


def pull(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """The arm carries itself and damps, and draws the handle towards itself with 15 N."""
    tau = np.zeros(door.n)
    tau[:6] = arm.bias(q[:6], np.zeros(6)) - 4.0 * qd[:6] + arm.jacobian(q[:6], tip)[:3].T @ [-15.0, 0, 0]
    return tau


opened = door.simulate(2.0, 1e-3, q=q, tau=pull, every=5)
load = np.linalg.norm(opened.reactions().loop_reaction[:, 0, :3], axis=1)
print(f"the door opens by {abs(np.degrees(opened.q[-1, 6])):.0f} degrees, the handle carries up to {load.max():.0f} N")

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
axes[0].plot(pen[:, 1], pen[:, 2])
axes[0].set(title="drawn on the board", xlabel="y, m", ylabel="z, m", aspect="equal")
axes[1].plot(drawn.t, force)
axes[1].set(title="pressed against the board", xlabel="t, s", ylabel="N")
axes[2].plot(opened.t, np.degrees(opened.q[:, 6]), label="door, degrees")
axes[2].plot(opened.t, load, label="handle, N")
axes[2].set(title="opening a door", xlabel="t, s")
axes[2].legend(frameon=False)
plt.show()
