"""
An excavator: forces of its cylinders
=====================================

Twelve joints, four planar loops, four degrees of freedom. What do the cylinders have to push while the bucket is drawn
through the ground, and what do the pins carry?
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

digger = zv.mechanisms.excavator()
print(digger)
arm = ["house_joint", "boom_joint", "stick_joint", "bucket_joint"]
cylinders = ["boom_rod_joint", "stick_rod_joint", "bucket_rod_joint"]
drives = ["house_joint", *cylinders]

# a stroke of four seconds: the stick comes in, the bucket curls, the boom lifts
t = np.linspace(0.0, 4.0, 81)
s = 0.5 - 0.5 * np.cos(np.pi * t / 4.0)  # smooth from 0 to 1
stroke = np.column_stack([0 * s, 0.25 + 0.25 * s, -1.2 - 0.9 * s, -1.2 + 1.2 * s])
rate, second = np.gradient(stroke, t, axis=0), np.gradient(np.gradient(stroke, t, axis=0), t, axis=0)

state = np.array([0, 0.25, -1.2, -1.2, 0.9, 2.1, 0.1, 2.8, 0.1, 2.2, 1.2, -1.5])
states, qd, qdd = np.zeros((3, len(t), digger.n))
for k in range(len(t)):
    state = state.copy()
    state[:4] = stroke[k]
    state = states[k] = digger.close(state, hold=arm)
    qd[k] = digger.velocities(state, {name: rate[k, j] for j, name in enumerate(arm)})
    qdd[k] = digger.accelerations(state, qd[k], {name: second[k, j] for j, name in enumerate(arm)})

# efforts of the drives without soil, and with 20 kN of soil against the way of the bucket's edge
edge = np.array([1.3, 0.0, -0.2])
free = digger.inverse_dynamics(states, qd, qdd, actuated=drives).effort
J = np.array([digger.chain.jacobian(x, "bucket", edge) for x in states])[:, :3]
way = np.einsum("kij,kj->ki", J, qd)
soil = -2.0e4 * way / (np.linalg.norm(way, axis=1, keepdims=True) + 0.05)
pushed = np.einsum("kij,ki->kj", J, soil)  # generalised forces of the soil on the joints of the tree

# what the drives need against them: the same reduction to the independent motions
need = []
for x, f in zip(states, pushed, strict=True):
    G = digger.constraint_jacobian(x)
    places = [digger.joint_names.index(name) for name in drives]
    _, size, basis = np.linalg.svd(G)
    motions = basis[np.sum(size > 1e-9 * size[0]) :]
    need.append(np.linalg.solve(motions[:, places], -(motions @ f)))
loaded = free + np.array(need)
for k, name in enumerate(cylinders, 1):
    print(f"{name[:-6]}: {free[:, k].min() / 1e3:.0f} to {free[:, k].max() / 1e3:.0f} kN free, "
          f"{loaded[:, k].min() / 1e3:.0f} to {loaded[:, k].max() / 1e3:.0f} kN in the soil")  # fmt: skip

figure, axes = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")


def place(state: np.ndarray, link: str, x: float = 0.0) -> np.ndarray:
    """A point on the x axis of a link, in the plane of the arm."""
    return (digger.chain.pose(state, link) @ [x, 0, 0, 1])[[0, 2]]


bars = [("boom", 0.0, "boom", 5.2), ("stick", -0.7, "stick", 2.7), ("bucket", 0.0, "bucket", 1.3)]
bars += [(f"{name}_barrel", 0.0, f"{name}_rod", 0.0) for name in ("boom", "stick", "bucket")]
bars += [("rocker", 0.0, "rocker", 0.5), ("link", 0.0, "link", 0.5)]
for k in (0, 40, 80):
    for first, begin, last, end in bars:
        ends = np.array([place(states[k], first, begin), place(states[k], last, end)])
        axes[0].plot(ends[:, 0], ends[:, 1], lw=3 if first in ("boom", "stick", "bucket") else 1.2, color=f"C{k // 40}")
path = np.array([digger.chain.pose(x, "bucket") @ [*edge, 1] for x in states])
axes[0].plot(path[:, 0], path[:, 2], "k:", label="edge of the bucket")
axes[0].set(title="stroke", xlabel="x, m", ylabel="z, m", aspect="equal")
axes[0].legend(frameon=False)
for k, name in enumerate(cylinders, 1):
    (line,) = axes[1].plot(t, loaded[:, k] / 1e3, label=name[:-6])
    axes[1].plot(t, free[:, k] / 1e3, ":", color=line.get_color())
axes[1].set(title="cylinders, in the soil and free (dotted)", xlabel="t, s", ylabel="push, kN")
axes[1].legend(frameon=False)
plt.show()
