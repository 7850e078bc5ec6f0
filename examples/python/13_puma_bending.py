"""
Bending moments of an arm during a fast move
============================================

A PUMA 560 turns from one side to the other in seven tenths of a second. Which force and moment go through its upper
arm, how much of that is weight, where is the worst place, and what does it do to a tube that could carry it?
"""

# %%
# The move
# --------
# A quintic polynomial: velocities and accelerations vanish at both ends.
import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

arm = zv.robots.puma560().with_payload("link6", 2.5, com=(0, 0, 0.08), inertia=0.01)  # kg, m, kg m^2
start, end = np.array([-0.9, -0.6, 0.4, 0.0, 0.5, 0.0]), np.array([0.9, 0.5, -0.3, 0.0, -0.4, 1.0])
duration = 0.7  # s
t = np.linspace(0.0, duration, 701)
x = (t / duration)[:, None]
q = start + (end - start) * (10 * x**3 - 15 * x**4 + 6 * x**5)
qd = (end - start) * (30 * x**2 - 60 * x**3 + 30 * x**4) / duration
qdd = (end - start) * (60 * x - 180 * x**2 + 120 * x**3) / duration**2
print(f"joint rates up to {np.abs(qd).max():.1f} rad/s")

# %%
# Sections of the upper arm
# -------------------------
# Link 2 reaches from the shoulder to the elbow. Its mass is spread evenly over the length that gives its inertia; a far
# part from a CAD model would be ``far=zv.Body(...)``.
elbow = arm.links[2].position
tube = zv.sections.Tube(0.06, 0.003)
places = np.linspace(0.05, 1.0, 20)
sections = [zv.Section("link2", s * elbow, elbow, cross_section=tube) for s in places]
envelope = arm.load_envelope(q, qd, qdd, sections, time=t, yield_strength=160e6)
worst = int(envelope.von_mises.argmax())
state = int(envelope.at_von_mises[worst])
print(f"worst at {places[worst]:.0%} of the upper arm, {t[state]:.3f} s:", end=" ")
print(f"{envelope.von_mises[worst] / 1e6:.1f} MPa, {envelope.von_mises[worst] / 160e6:.1%} of the yield strength")

# %%
# Weight or motion?
# -----------------
# The two parts add up to the total.
section = sections[worst]
total, static, dynamic = (arm.section_load(q, qd, qdd, section, parts=p) for p in ("total", "static", "dynamic"))
print(f"static + dynamic - total: {np.abs(static + dynamic - total).max():.0e}")
moment = {"total": total, "weight": static, "motion": dynamic}
bending = {name: np.hypot(load[:, 4], load[:, 5]) for name, load in moment.items()}
for name, values in bending.items():
    print(f"{name:7} bends with up to {values.max():5.1f} N m")

# %%
# Pictures
# --------
figure, (over_time, along) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for (name, values), colour in zip(bending.items(), ("black", "tab:blue", "tab:orange"), strict=True):
    over_time.plot(t, values, color=colour, label=name, lw=1.6)
over_time.set(xlabel="time, s", ylabel="bending moment, N m", title=f"at {places[worst]:.0%} of the upper arm")
over_time.legend(frameon=False)
diagram = arm.load_diagram(q[::100], qd[::100], qdd[::100], points=30)
inside = np.array(diagram.links) == "link2"
for k, moments in enumerate(diagram.M[:, inside]):
    along.plot(diagram.position[inside] - diagram.position[inside][0], moments, label=f"{t[100 * k]:.1f} s")
along.set(xlabel="way along the upper arm, m", title="every tenth of a second")
along.legend(frameon=False, fontsize="small")

# %%
# All six components along the arm in the worst state:
figure = arm.load_diagram(q[state], qd[state], qdd[state]).plot()
