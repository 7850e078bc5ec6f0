"""Draw the figure of docs/manipulators.md: what an arm carries over a section, its dexterity, its workspace cut open.

python docs/figures/make_arm_figures.py [directory]
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

HERE = Path(__file__).parent
EFFORT = (900, 1100, 480, 90, 70, 40)


def main() -> None:
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    to.mkdir(parents=True, exist_ok=True)
    arm = zv.robots.kawasaki_fs020n().with_tool((0, 0, 0.1), name="torch")
    down = np.diag([1.0, -1.0, -1.0])
    carrying = arm.workspace(axes=("y", "z"), points=90, orientation=down, payload=True, effort=EFFORT)
    turning = arm.workspace(axes=("y", "z"), points=70, orientations=40)
    space = arm.workspace(points=41)
    figure = plt.figure(figsize=(13.5, 4.3), layout="constrained")
    left, middle = figure.add_subplot(1, 3, 1), figure.add_subplot(1, 3, 2)
    carrying.plot("payload", left)
    left.set_title("torch pointing down")
    turning.plot("dexterity", middle)
    middle.set_title("any orientation")
    space.plot("reach", figure.add_subplot(1, 3, 3, projection="3d"))
    figure.savefig(to / "arm_workspace.png", dpi=110)


if __name__ == "__main__":
    main()
