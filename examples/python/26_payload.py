"""
What does the robot carry?
==========================

The everyday job: the robot is known, something is in its gripper. Mass, centre of mass and inertia from a few seconds
of motion, with how sure they are.
"""

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

arm = zv.robots.ur5e()
rng = np.random.default_rng(2)
noise = np.array([1.0, 1.0, 0.5, 0.15, 0.15, 0.15])  # N m


def measured(chain: zv.Chain, seconds: float, seed: int) -> dict[str, np.ndarray]:
    """A log of a motion: coordinates at 500 Hz, torques with friction and noise."""
    t = np.arange(0.0, seconds, 2e-3)
    w = np.random.default_rng(seed).uniform(0.8, 2.4, (2, 6))
    x = t[:, None, None] * w
    q, qd, qdd = np.sin(x).sum(1) * 0.7, (w * np.cos(x)).sum(1) * 0.7, (-w * w * np.sin(x)).sum(1) * 0.7
    tau = chain.inverse_dynamics(q, qd, qdd) + 1.8 * np.tanh(qd / 0.01) + 1.2 * qd
    return {"t": t, "q": q, "tau": tau + noise * rng.normal(size=tau.shape)}


# once: the empty robot, its friction and base parameters
empty = zv.identify(arm, measured(arm, 40.0, 1), cutoff=20.0)

# every day: something in the gripper
com = np.array([0.02, -0.01, 0.11])
loaded = arm.with_payload("wrist_3", 2.4, com=com, inertia=(0.012, 0.014, 0.006))
times = (5.0, 10.0, 20.0, 40.0)
payloads = [zv.identification.identify_payload(empty, measured(loaded, x, 3), cutoff=20.0) for x in times]
for seconds, found in zip(times, payloads, strict=True):
    print(f"{seconds:4.0f} s: within three deviations {abs(found.mass - 2.4) < 3 * found.mass_deviation}")
last = payloads[-1]
print(f"after 40 s the mass is known to 2 %: {last.mass_deviation < 0.02 * 2.4}")
print(f"and the centre of mass to a centimetre: {last.com_deviation.max() < 0.01}")

# the model that the controller gets
print(f"{last.chain.total_mass - arm.total_mass:.1f} kg more")

# without the first measurement: the drawings are believed, friction is found along with the part
alone = zv.identification.identify_payload(arm, measured(loaded, 40.0, 3), cutoff=20.0)
print(f"from drawings alone, too: {abs(alone.mass - 2.4) < 4 * alone.mass_deviation}")

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].errorbar(times, [x.mass for x in payloads], [2 * x.mass_deviation for x in payloads], fmt="o", capsize=4)
axes[0].axhline(2.4, color="0.6", lw=1)
axes[0].set(xlabel="length of the log, s", ylabel="mass, kg")
for k, axis in enumerate("xyz"):
    values, spread = [1e3 * x.com[k] for x in payloads], [2e3 * x.com_deviation[k] for x in payloads]
    axes[1].errorbar(times, values, spread, fmt="o", capsize=4, label=axis)
    axes[1].axhline(1e3 * com[k], color="0.6", lw=1)
axes[1].set(xlabel="length of the log, s", ylabel="centre of mass, mm")
axes[1].legend()
