"""
From a URDF to torques
======================

An arm from a file, a motion it shall make, the torques this takes, and whether its drives can give them. Then the same
with a load in the hand.

The arm is a lift with two links, small enough to be read; your own file takes its place with
``zv.Chain.from_urdf("panda.urdf")``.
"""

# %%
# The model
# ---------
# Units are those of URDF: m, kg, rad. Links without mass are allowed, what looks wrong is a `ModelWarning` that names
# the link; ``strict=True`` refuses it.
import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

URDF = """
<robot name="lift">
  <link name="base"/>
  <link name="carriage">
    <inertial><mass value="12"/><inertia ixx="0.2" iyy="0.3" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="upper">
    <inertial><origin xyz="0.25 0 0"/><mass value="5"/>
      <inertia ixx="0.01" iyy="0.11" izz="0.11" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="fore">
    <inertial><origin xyz="0.2 0 0"/><mass value="3"/>
      <inertia ixx="0.005" iyy="0.05" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="hand"/>
  <joint name="column" type="prismatic">
    <parent link="base"/><child link="carriage"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1.2" velocity="0.8" effort="400"/>
  </joint>
  <joint name="shoulder" type="revolute">
    <parent link="carriage"/><child link="upper"/><origin xyz="0.1 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" velocity="3" effort="60"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="fore"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-2.6" upper="2.6" velocity="4" effort="25"/>
  </joint>
  <joint name="wrist" type="fixed">
    <parent link="fore"/><child link="hand"/><origin xyz="0.4 0 0"/>
  </joint>
</robot>
"""

lift = zv.Chain.from_urdf(URDF)
for name, kind, low, high, effort in zip(
    lift.joint_names, lift.joint_types, lift.lower, lift.upper, lift.effort_limit, strict=True
):
    print(f"{name:9} {kind:10} {low:5.1f} .. {high:4.1f}   effort up to {effort:3.0f}")

# %%
# A motion
# --------
# From one posture to another in 1.2 s, with a polynomial of degree five: it starts and ends without speed and without
# acceleration.
duration = 1.2
start, end = np.array([0.1, 0.9, -1.8]), np.array([0.7, -0.3, 0.4])
t = np.linspace(0, duration, 241)
s = t / duration
blend = 10 * s**3 - 15 * s**4 + 6 * s**5
speed = (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
acceleration = (60 * s - 180 * s**2 + 120 * s**3) / duration**2
q = start + blend[:, None] * (end - start)
qd, qdd = speed[:, None] * (end - start), acceleration[:, None] * (end - start)

# %%
# Torques
# -------
# 241 states are one call. Inverse dynamics is M(q) qdd + bias(q, qd); the bias alone at rest is what gravity asks for.
tau = lift.inverse_dynamics(q, qd, qdd)
weight = lift.bias(q, np.zeros_like(q))
assert np.allclose(tau, np.einsum("tij,tj->ti", lift.mass_matrix(q), qdd) + lift.bias(q, qd))

# %%
# A load in the hand
# ------------------
# 3 kg, 5 cm in front of the wrist, as a second model: everything else stays as it was.
loaded = lift.with_payload("hand", mass=3.0, com=(0.05, 0, 0))
heavy = loaded.inverse_dynamics(q, qd, qdd)

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.2), layout="constrained")
for k, ax in enumerate(axes):
    unit = "N" if lift.joint_types[k] == "prismatic" else "N m"
    ax.plot(t, weight[:, k], color="0.7", label="weight alone")
    ax.plot(t, tau[:, k], color="C0", label="motion")
    ax.plot(t, heavy[:, k], color="C3", label="motion with 3 kg")
    for side in (-1, 1):
        ax.axhline(side * lift.effort_limit[k], color="k", lw=0.8, ls=":")
    limit = 1.15 * lift.effort_limit[k]
    ax.set(title=lift.joint_names[k], xlabel="time, s", ylabel=f"effort, {unit}", ylim=(-limit, limit))
axes[0].legend(loc="lower left", fontsize="small")

# %%
# Whether the drives can do it, and when they cannot:
for name, load in (("empty", tau), ("3 kg ", heavy)):
    share = np.abs(load) / lift.effort_limit
    worst = share.max(axis=0)
    joint = int(worst.argmax())
    when = t[share[:, joint].argmax()]
    print(f"{name}: {lift.joint_names[joint]} needs {worst[joint]:.0%} of its effort at {when:.2f} s")

# %%
# Which way the hand goes
# -----------------------
path = loaded.pose(q, "hand")[:, :3, 3]
figure, ax = plt.subplots(figsize=(4.2, 4.2), layout="constrained")
for k in range(0, len(t), 30):
    points = [lift.pose(q[k], link)[:3, 3] for link in ("carriage", "upper", "fore", "hand")]
    x, z = np.transpose(points)[[0, 2]]
    ax.plot(x, z, "o-", color=str(0.85 - 0.6 * k / len(t)), ms=3)
ax.plot(path[:, 0], path[:, 2], color="C3", lw=2)
ax.set(xlabel="x, m", ylabel="z, m", aspect="equal", title="hand")

# %%
# And back: forward dynamics of these torques gives the accelerations we asked for.
assert np.allclose(loaded.forward_dynamics(q, qd, heavy), qdd, atol=1e-9)

if plt.get_backend() != "agg":
    plt.show()
