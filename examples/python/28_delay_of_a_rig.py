"""
Will the rig oscillate?
=======================

Hardware touches, software moves, and what travels around the loop comes late. A spring that is felt late gives back
more energy than it took: how late is too late, what helps, and does the loop itself agree?
"""

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

# %%
# One axis
# --------
# 100 kg against a contact of 10 kN/m; computation, transport, robots and sensor take 8 ms together.

rig = zv.rigs.Rig(mass=100.0, stiffness=1e4, damping=60.0, delay=8e-3)
print(textwrap.fill(str(rig.verdict()), 100))

# %%
# The margin is exact. A bounce in time shows the same: below it the contact takes energy, above it gives.

delays = np.linspace(0.0, 12e-3, 25)
returned = [zv.rigs.simulate(rig.with_(delay=h)).restitution for h in delays]
limit = float(rig.margin().delay)
print(f"margin {1e3 * limit:.2f} ms; a bounce returns its speed at {1e3 * np.interp(1.0, returned, delays):.2f} ms")

# %%
# What helps
# ----------

means = {
    "nothing": None,
    "lead of 10 ms": zv.rigs.Lead(10e-3),
    "virtual damper": zv.rigs.VirtualDamper(100.0),
    "predictor": zv.rigs.Predictor(1e4),
    "passivity": zv.rigs.Passivity(),
}
runs = {name: zv.rigs.simulate(rig, helper) for name, helper in means.items()}
for name, bounce in runs.items():
    print(f"{name:15} returns {bounce.restitution:.3f} of the speed")

figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
axes[0].plot(1e3 * delays, returned)
axes[0].axhline(1.0, color="0.6", lw=1)
axes[0].axvline(1e3 * limit, color="0.6", lw=1, ls="--")
axes[0].set(xlabel="delay, ms", ylabel="speed after over speed before")
for name, bounce in runs.items():
    axes[1].plot(bounce.t, bounce.v, label=name)
axes[1].set(xlabel="time, s", ylabel="speed, m/s")
axes[1].legend()

# %%
# A docking ring on the rig
# -------------------------
# Six axes, with the ring's own legs: the same question for a rig whose hardware is the interface.

ring, legs = zv.mechanisms.docking_ring("UPS"), zv.laws.SpringDamper(400.0, 80.0)
print(zv.rigs.delay_margin(hexapod=ring, laws=legs, kind="interface", contact=zv.rigs.FaceContact(4e5)))
