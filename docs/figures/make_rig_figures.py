"""Draw the figure of docs/rigs.md: a stability map, and one bounce with and without compensation.

python docs/figures/make_rig_figures.py [directory]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import zveno as zv

HERE = Path(__file__).parent


def main() -> None:
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    to.mkdir(parents=True, exist_ok=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.0), layout="constrained")
    rig = zv.rigs.Rig(mass=100, stiffness=1e4, damping=60, delay=8e-3)
    zv.rigs.chart(rig, over=("stiffness", "damping"), points=60).plot(left)
    late = rig.with_(damping=0.0, delay=16e-3)
    means = {
        "no delay": (late.with_(delay=0.0), None, "0.6"),
        "16 ms late": (late, None, "#D55E00"),
        "lead 20 ms": (late, zv.rigs.Lead(20e-3), "#0072B2"),
        "damper 200 N s/m": (late, zv.rigs.VirtualDamper(200.0), "#009E73"),
        "passivity": (late, zv.rigs.Passivity(), "#CC79A7"),
    }
    for label, (one, compensation, colour) in means.items():
        run = zv.rigs.simulate(one, compensation, t_end=0.42, dt=5e-5)
        right.plot(run.t, -run.v / run.v[0], color=colour, lw=1.6, label=f"{label}: {run.restitution:.2f}")
    right.axhline(1.0, color="0.15", lw=0.8)
    right.set(
        title="One bounce: above the line it returns energy", xlabel="time, s", ylabel="speed / speed of approach"
    )
    right.legend(fontsize="small", frameon=False, loc="lower right")
    right.spines[["top", "right"]].set_visible(False)
    figure.savefig(to / "rigs.png", dpi=110)


if __name__ == "__main__":
    main()
