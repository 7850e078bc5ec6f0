"""
A hexapod as a linkage
======================

The docking ring on Gough-Stewart legs, described once more as a tree of 24 joints with six balls that close it. The
general machinery of linkages gives the accelerations of the special one of hexapods; what that is worth is seen in the
times.
"""

import time
from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

gravity = (-9.81, 0.0, 0.0)
hexapod = zv.mechanisms.docking_ring("UPS", gravity=gravity, reflected=False)

# ---- each leg: two turns on the base, housing and rod, a ball on the ring
links, balls = [], []
for leg in hexapod.legs:
    name = leg.name
    housing, rod, rod_length = leg.inner, leg.outer, leg.outer_length
    assert rod_length is not None
    links += [
        zv.Link(f"{name}_u1", parent="base", axis=(0, 1, 0), position=leg.base, rotation=leg.base_frame),
        zv.Link(f"{name}_housing", parent=f"{name}_u1", axis=(0, 0, 1), mass=housing.mass, com=housing.com,
                inertia=housing.inertia),
        zv.Link(f"{name}_rod", parent=f"{name}_housing", joint="prismatic", axis=(1, 0, 0),
                position=(leg.inner_length, 0, 0), mass=rod.mass, com=rod.com, inertia=rod.inertia),
    ]  # fmt: skip
    balls.append(zv.Loop.spherical(f"{name}_rod", "ring", point_a=(rod_length, 0, 0), point_b=leg.ring, name=name))
parent = "base"
for kind, axis in [("prismatic", k) for k in range(3)] + [("revolute", k) for k in range(2)]:
    links.append(zv.Link(f"ring_{kind}_{axis}", parent=parent, joint=kind, axis=np.eye(3)[axis]))
    parent = links[-1].name
ring = hexapod.platform
links.append(zv.Link("ring", parent=parent, axis=(0, 0, 1), mass=ring.mass, inertia=ring.inertia))
linkage = zv.Linkage(zv.Chain(links, gravity=gravity, name="ring as linkage"), balls)

# ---- one state of both: the ring displaced and turned, moving, pushed by its legs
r = hexapod.nominal[0] + [0.02, -0.01, 0.015]
angles = np.array([0.05, -0.08, 0.03])
R = linkage.chain.pose(np.r_[np.zeros(18), r, angles], "ring")[:3, :3]
u = np.array([0.1, -0.2, 0.05, 0.3, 0.1, -0.2])
tau = np.array([120.0, -40.0, 80.0, 30.0, -60.0, 10.0])
own = hexapod.forward_dynamics(r, R, u, np.zeros(6), tau)
q = np.r_[own.joint_position[:, :3].ravel(), r, angles]
J = linkage.chain.jacobian(q, "ring")
qd = np.r_[own.joint_velocity[:, :3].ravel(), u[:3], np.linalg.solve(J[3:, -3:], R @ u[3:])]
effort = np.zeros(24)
effort[2:18:3] = tau
found = linkage.forward_dynamics(q, qd, effort)
a = linkage.chain.acceleration(q, qd, found.qdd, "ring")
wanted = np.r_[own.acceleration[:3], R @ own.acceleration[3:]]
print(linkage, "-", linkage.mobility(q).degrees, "degrees of freedom")
print(f"accelerations of the ring agree to {np.abs(a - wanted).max() / np.abs(wanted).max():.0e}")


def microseconds(call: Callable[[], object], count: int = 2000) -> float:
    """Of one call, the best of a few turns."""
    best = np.inf
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, time.perf_counter() - begin)
    return 1e6 * best / count


special = microseconds(lambda: hexapod.forward_dynamics(r, R, u, np.zeros(6), tau))
general = microseconds(lambda: linkage.forward_dynamics(q, qd, effort, outputs=("qdd",)), 500)
print(f"the linkage takes {general / special:.0f} times as long")

linkage.plot(q)
plt.show()
