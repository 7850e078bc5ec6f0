"""
From a motion to a model
========================

Drawings say what an arm weighs, roughly. A motion is found that shows its parameters, a noisy robot makes it, and the
log becomes a model with intervals, with friction, and with bodies that can exist.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

model = zv.robots.ur5e()  # what the drawings say
print(model.base_parameters().count, "of", model.inertial_parameters.size, "parameters can be told apart")

# a motion that shows them, within limits of rates and torques, the hand above the table
motion = zv.excitation(
    model,
    duration=12.0,
    velocity=1.8,
    acceleration=6.0,
    torque=[150.0, 150.0, 150.0, 28.0, 28.0, 28.0],
    clearance=lambda q: model.pose(q, "wrist_3")[..., 2, 3] - 0.05,
    centre=[0.0, -1.4, 1.0, -0.8, 0.8, 0.0],
    noise=[1.0, 1.0, 0.5, 0.2, 0.2, 0.2],
    rate=60.0,
    iterations=30,
    starts=2,
    seed=4,
)
known = sum(row.verdict == "well known" for row in motion.parameters)
print(f"condition below 10: {motion.condition < 10}; at least 12 will be well known: {known >= 12}")

# the robot is not what was drawn, it has friction, and its sensors are noisy
rng = np.random.default_rng(0)
theta = model.inertial_parameters * rng.uniform(0.85, 1.2, (len(model.links), 1))
robot = model.with_inertial_parameters(theta)
t = np.arange(0.0, 3 * motion.duration, 1e-3)
q, qd, qdd = motion(t)
tau = robot.inverse_dynamics(q, qd, qdd) + 2.0 * np.tanh(qd / 0.01) + 1.5 * qd
log = {
    "t": t,
    "q": q + 1e-5 * rng.normal(size=q.shape),
    "tau": tau + np.array([1.0, 1.0, 0.5, 0.2, 0.2, 0.2]) * rng.normal(size=q.shape),
}

# coordinates and torques are all that is measured; three periods of the motion
fit = zv.identify(model, log, cutoff=15.0, friction="viscous,coulomb")
print(f"{fit.samples} independent samples; residuals below 4 % of the torques: {fit.relative_rms.max() < 0.04}")
for joint, values in list(fit.friction().items())[:2]:
    print(f"{joint}: viscous {values['Fv']:.1f}, dry {values['Fc']:.1f}")

# true base parameters lie where the intervals say
true = model.base_parameters().Y @ theta.ravel()
inside = [row.low <= x <= row.high for row, x in zip(fit.parameters, true, strict=False)]
print(f"at least 85 % of the intervals hold the true value: {np.mean(inside) > 0.85}")

# the model to work with: bodies that can exist; as URDF for other tools, and a page to read
found = fit.physical()
print(f"residuals of bodies over the smallest possible: {found.ratio:.2f}")
folder = Path(tempfile.mkdtemp())
found.chain.to_urdf(folder / "ur5e.urdf")
fit.report(folder / "report.html")
again = zv.Chain.from_urdf(folder / "ur5e.urdf", friction=True)
other = motion(np.linspace(0.1, 11.0, 200))
wanted = robot.inverse_dynamics(*other) + 1.5 * other[1]
before, after = (np.abs(x.inverse_dynamics(*other) - wanted).max() for x in (model, again))
print(f"errors of torques are at least ten times smaller than the drawings': {before > 10 * after}")

figure, axes = plt.subplots(3, 2, figsize=(11, 7), sharex=True, layout="constrained")
r = fit.residuals
for j, panel in enumerate(axes.T.flat):
    panel.plot(r.times, r.measured[:, j], color="0.7", lw=2.5, label="measured")
    panel.plot(r.times, r.predicted[:, j], lw=1.0, label="predicted")
    panel.plot(r.times, r.given[:, j], lw=0.8, ls=":", label="drawings")
    panel.set_title(model.joint_names[j], fontsize="medium")
    panel.set_ylabel("N m")
axes[0, 0].legend(fontsize="small")
axes[-1, 0].set_xlabel("t, s")
axes[-1, 1].set_xlabel("t, s")
