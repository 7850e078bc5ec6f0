"""
My ring, from a spreadsheet to the table of peaks
=================================================

Twelve hinge points in millimetres from a drawing, six struts, and the question of every docking analysis: how large are
the loads on the spacecraft, in which leg and when? Names, points and masses are made up; the columns are those a
drawing would give.
"""

# %%
# Hinge points
# ------------
# One row for each leg, ``leg, base x, y, z, ring x, y, z``: base hinges in base axes, ring hinges in axes of the ring
# that are parallel to them. A workbook is read as easily, ``pandas.read_excel("hinges.xlsx").to_numpy()``. Everything
# inside is SI: millimetres end here.
import csv
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv
from zveno import laws
from zveno.hexapod_plots import draw_mechanism

here = Path(__file__).parent if "__file__" in globals() else Path.cwd()
with (here / "data" / "ring_hinges.csv").open() as file:
    rows = [[float(cell) for cell in row] for row in list(csv.reader(file))[1:]]
points = 1e-3 * np.array(rows)[:, 1:]
base, ring_side = points[:, :3], points[:, 3:]
for name, side in (("base", base), ("ring", ring_side)):
    print(f"{name} hinges on circles of", np.hypot(side[:, 1], side[:, 2]).round(3), "m")

# %%
# Where the axes of the ring have their origin does not matter, its centre of mass does: ring points are counted from
# there. Here it lies 12 mm behind the drawing's origin.
centre = np.array([-0.012, 0.0, 0.0])
ring_side = ring_side - centre

# %%
# Legs and ring
# -------------
# A UPS leg is a strut: universal joint on the base, screw, ball joint on the ring. Housing and rod are cylinders along
# the leg; the rotor of the screw counts much more than the rod. What is left out (frames, rod length, zero of the
# stroke) follows from the nominal pose.
strut: dict[str, Any] = {
    "housing": zv.Body.cylinder(4.0, 0.03, 0.30),
    "rod": zv.Body.cylinder(2.5, 0.018, 0.28),
    "housing_length": 0.25,
    "rotor_inertia": 1e-4,  # kg m^2
    "lead": 0.020,  # m per turn
    "lower": -0.13,
    "upper": 0.15,
}
legs = [zv.Leg.ups(b, p, **strut) for b, p in zip(base, ring_side, strict=True)]
platform = zv.Body(45.0, (15.5, 8.2, 8.2))
ring = zv.Hexapod(platform, legs, nominal=(0.38, 0, 0), name="my ring")
lengths = np.linalg.norm(ring.nominal[0] + ring_side - base, axis=1)
print("struts in the nominal pose, m:", lengths.round(4))
print("condition of the drives:", ring.singularity(*ring.nominal).condition.round(2))

# %%
# A look at it tells more than the numbers: a wrong sign or an exchanged pair of hinges is seen at once.
figure = plt.figure(figsize=(5, 4.5))
ax = draw_mechanism(ring, ax=figure.add_subplot(projection="3d"))

# %%
# How far it moves
# ----------------
# Sideways and tilted, as far as the strokes allow.
workspace = ring.workspace(("y", "tilt z"), (0.25, 0.4), 81)
print(f"usable: {workspace.usable.mean():.0%} of the field")
figure = workspace.plot()

# %%
# A contact
# ---------
# The ring closes in at 6 cm/s, drifts to the side at 2 cm/s, and is hit at a point of its rim for 0.3 s. The force is
# given in base axes; its moment about the centre of mass is wanted in ring axes, which are the base axes at the start.
law = laws.SpringDamper(400.0, 80.0) + laws.DryFriction(5.0, 2e-3) + laws.Stops(1e5, 2e3)
rim = np.array([0.0, 0.6 * np.cos(0.4), 0.6 * np.sin(0.4)])
force = np.array([-120.0, 30.0, -10.0])
hit = np.r_[force, np.cross(rim, force)]
pulse = ([0.0, 0.1, 0.2, 0.3], [0 * hit, hit, hit, 0 * hit])
sim = ring.simulate(3.0, 1e-3, u=[-0.06, 0.02, 0, 0, 0, 0], laws=law, wrench=pulse)

# %%
# Before any peak is believed: the energy that the integration lost or invented, beside what was exchanged.
print(sim.energy_balance)
assert sim.energy_balance.ratio < 1e-3

# %%
# The table of peaks
# ------------------
# Largest value of each load with its sign, leg or component, and time. ``sim.summary().to_pandas().to_excel(...)`` puts
# all of them back into a spreadsheet, ``sim.to_csv("contact.csv", ["base_wrench"])`` the course over time.
print(sim.summary(["base_wrench", "reaction", "tau", "joint_position", "joint_velocity"]))
force = np.linalg.norm(sim.base_wrench[:, :3], axis=1)
print(f"\nforce on the spacecraft up to {force.max():.1f} N, {1e3 * sim.t[force.argmax()]:.0f} ms after the start")

# %%
figure = sim.plot()

# %%
# Is the step short enough? Half of it must change nothing that matters.
half = ring.simulate(3.0, 5e-4, u=[-0.06, 0.02, 0, 0, 0, 0], laws=law, wrench=pulse)
peaks = [np.linalg.norm(s.base_wrench[:, :3], axis=1).max() for s in (sim, half)]
print(f"largest force on the base: {peaks[0]:.2f} N with 1 ms, {peaks[1]:.2f} N with 0.5 ms")
assert abs(peaks[0] - peaks[1]) < 0.01 * peaks[1]

if plt.get_backend() != "agg":
    plt.show()
