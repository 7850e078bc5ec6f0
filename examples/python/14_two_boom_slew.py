"""
Slewing a payload with two flexible booms
=========================================

The implicit step follows the drives of an arm whose booms vibrate up to thousands of hertz, in steps of 20 ms.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv
from zveno.flexible import Tube, aluminium, beam

# two tubes of 6 m with 32 elements each, which bend both ways and twist, a drive before each, an elbow of 5 kg and a
# payload of 20 kg
tube = Tube(radius=0.05, thickness=0.002)


def two_booms(damping: float) -> zv.Chain:
    """The arm, straight along x; `damping` of the first mode of a boom."""
    upper, lower = (
        beam(name, 6.0, section=tube, material=aluminium, elements=32, damping=damping) for name in ("upper", "lower")
    )
    return zv.Chain(
        [
            zv.Link("shoulder", axis=(0, 0, 1), rotor_inertia=0.5),
            *upper,
            zv.Link("elbow", axis=(0, 0, 1), rotor_inertia=0.5, mass=5.0, inertia=2.0),
            *lower,
            zv.Link("payload", joint="fixed", mass=20.0, inertia=2.0),
        ],
        gravity=(0, 0, 0),
        name="two booms",
    )


arm = two_booms(0.01)
drives = [arm.joint_names.index(f"{name}_joint") for name in ("shoulder", "elbow")]
print(arm)

# torques of 120 and -40 N m, reversed after 1 s, then nothing: the payload swings on
end, dt = 4.0, 0.02
t = (np.arange(round(end / dt)) + 0.5) * dt
tau = np.zeros((len(t), arm.n))
tau[:, drives] = np.where(t < 1, 1.0, np.where(t < 2, -1.0, 0.0))[:, None] * [120.0, -40.0]
begin = time.perf_counter()
slew = arm.simulate(end, dt, tau=tau, method="implicit")
spent = time.perf_counter() - begin
print(slew)
print(f"{slew.iterations / slew.steps_made:.1f} iterations a step; faster than real time: {spent < end}")

# the same with a tenth of the step: how far is the payload from where it should be?
fine = arm.simulate(end, dt / 10, tau=np.repeat(tau, 10, axis=0), method="implicit", every=10, record=[])
payload = np.array([arm.pose(q, "payload")[:3, 3] for q in slew.q])
exact = np.array([arm.pose(q, "payload")[:3, 3] for q in fine.q])
error = np.linalg.norm(payload - exact, axis=1)
print(f"error of the payload below 1 mm: {error.max() < 1e-3}")

# rigid booms under the same torques
rigid = two_booms(0.01)
rigid = rigid.with_locked({name: 0.0 for k, name in enumerate(rigid.joint_names) if k not in drives})
stiff = rigid.simulate(end, dt, tau=tau[:, drives])
straight = np.array([rigid.pose(q, "payload")[:3, 3] for q in stiff.q])

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
links = [name for name in arm.link_names if name != "shoulder"]
for k in range(0, len(slew), 20):
    shape = np.array([arm.pose(slew.q[k], link)[:2, 3] for link in links])
    left.plot(*shape.T, color=plt.cm.viridis(k / len(slew)))
left.plot(*payload[:, :2].T, "k:", label="payload")
left.set_aspect("equal")
left.set(xlabel="x, m", ylabel="y, m", title="every 0.4 s")
left.legend()
bent = np.linalg.norm(payload - straight, axis=1)
right.semilogy(slew.t[1:], 1e3 * bent[1:], label="from that of rigid booms")
right.semilogy(slew.t[1:], 1e3 * error[1:], label="from that of steps of 2 ms")
right.set(xlabel="t, s", ylabel="distance of the payload, mm")
right.legend()
