"""Draw the figure of docs/constraints.md: the mechanisms of `zveno.mechanisms`, each by its own `plot`.

python docs/figures/make_linkage_figures.py [directory]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import zveno as zv

# a guess to close from, and the joints that keep it
POSES = {
    "four_bar": ([0.8, 0.0, 1.5], ["crank_joint"]),
    "slider_crank": ([0.7, -0.8, 0.7], ["crank_joint"]),
    "five_bar": ([2.0, -1.2, 1.0, 1.3], ["left1_joint", "right1_joint"]),
    "peaucellier": ([0.6, 0.45, -1.05, 0.6, 0.1, -1.0, 1.0], ["crank_joint"]),
    "pantograph_leg": ([-0.9, -0.9, -2.2, 1.3], ["thigh_joint", "lever_joint"]),
    "delta_robot": ([0, 0, 0, 0.05, -0.08, -0.55, 0, 0, 0], ["px_joint", "py_joint", "pz_joint"]),
}


def main() -> None:
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    figure = plt.figure(figsize=(12, 8))
    for k, (name, (guess, held)) in enumerate(POSES.items()):
        linkage = getattr(zv.mechanisms, name)()
        ax = figure.add_subplot(2, 3, k + 1, projection="3d")
        linkage.plot(linkage.close(guess, hold=held), ax)
        if k < 5:  # planar ones are seen from the front
            ax.view_init(elev=0, azim=0, vertical_axis="y")
            ax.set_zticks([])
            ax.set_zlabel("")
        ax.get_legend().set_visible(k == 5)
        ax.set_title(name.replace("_", " "))
    figure.tight_layout()
    figure.savefig(directory / "linkages.png", dpi=80)


if __name__ == "__main__":
    main()
