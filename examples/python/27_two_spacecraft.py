"""
Two spacecraft meet
===================

Is the chaser captured, what do the rings and the spacecraft bear, and how often does it go wrong? One docking with its
history, a campaign over the box of conditions that the guidance promises, and the worst of its runs looked at.
Vehicles and rings are made up; yours are a TOML file (``scenario.save``, ``docking.Scenario.load``).
"""

import matplotlib.pyplot as plt
import numpy as np
from zveno import docking

# %%
# One docking
# -----------
# 12 t with a ring on six struts against a station of 350 t, 8 cm/s, a little off the axis.

scenario = docking.demo("UPS")
run = docking.simulate(scenario, dt="auto", after=3.0)
for event in run.events:
    print(f"{event.time:7.3f} s  {event.name}")
print(run.summary())

# %%
# Loads, misalignment, strokes and where the energy went. ``run.animate("docking.html")`` shows it as a moving picture.

figure = run.plot()

# %%
# The box of conditions
# ---------------------
# 200 of them, each known by its number: with ``store="out"`` they survive Ctrl-C, with ``cluster=`` they run elsewhere,
# and the table is the same. What does not capture stays in the denominator.

campaign = docking.campaign(scenario, n=200, box=docking.Box.idss(), seed=2026)
p = campaign.capture_probability
print(campaign.outcomes, f"captured: {p.value:.3f}, at least {p.clopper_pearson.low:.3f}")
for name, unit in (("compression", "N"), ("bending", "N m"), ("leg", "N")):
    half, most = campaign.percentiles(name, (50, 95))
    print(f"{name:12} median {half.value:6.0f}, 95 % {most.value:6.0f} {unit}")

# %%
# What the loads depend on, and the worst case again with its whole history.

ranks = campaign.rank_correlations(["bending"])["bending"]
for name in sorted(ranks, key=lambda x: -abs(ranks[x]))[:3]:
    print(f"bending against {name}: {ranks[name]:+.2f}")
worst = campaign.worst("bending", 3)
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
bending = np.sort(campaign.column("bending"))
axes[0].plot(bending, np.arange(1, campaign.n + 1) / campaign.n)
axes[0].set(xlabel="largest bending moment, N m", ylabel="share of runs below")
for case in worst:
    again = campaign.rerun(case.number)
    print(f"run {case.number}: {case.value:.0f} N m, the same again: {again.peak.bending == case.value}")
    history = again.history
    axes[1].plot(history["t"], np.linalg.norm(history["load"][:, 4:], axis=1), label=f"run {case.number}")
axes[1].set(xlabel="time, s", ylabel="bending moment, N m")
axes[1].legend()
