"""Draw the figure of docs/flexible.md from the variables of its code.

python docs/figures/make_flexible_figures.py [directory]
"""

import contextlib
import io
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import MaxNLocator

HERE = Path(__file__).parent
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7")


def example() -> dict:
    """Variables of docs/flexible.md after its last line."""
    page = (HERE.parent / "flexible.md").read_text(encoding="utf-8")
    space: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            exec(compile(code, "docs/flexible.md", "exec"), space)
    return space


def main() -> None:
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    to.mkdir(parents=True, exist_ok=True)
    space = example()
    figure = plt.figure(figsize=(9.0, 4.0), layout="constrained")
    left = figure.add_subplot(1, 2, 1)
    curves = np.array([modes.frequencies[:4] for modes in space["shapes"]])
    for k, colour in enumerate(COLOURS):
        left.plot(space["angles"], curves[:, k], "o-", color=colour, ms=3.5, lw=1.8)
    left.set_xlabel("elbow, deg")
    left.set_ylabel("frequency with the brakes on, Hz")
    left.set_ylim(0)
    left.spines[["top", "right"]].set_visible(False)

    right = figure.add_subplot(1, 2, 2, projection="3d")
    middle = len(curves) // 2
    modes = space["shapes"][middle]
    line = ["upper_0", *(f"upper_{i}" for i in range(1, 13)), *(f"lower_{i}" for i in range(13)), "payload"]
    poses = modes.chain.poses(modes.q)
    rest = np.array([poses[link][:3, 3] for link in line])
    right.plot(*rest.T, color="0.6", lw=3)
    for k, colour in enumerate(COLOURS):
        ways = np.array([(modes.chain.jacobian(modes.q, link) @ modes.shapes[k])[:3] for link in line])
        largest = ways.ravel()[np.abs(ways).argmax()]
        right.plot(*(rest + 1.5 * ways / largest).T, color=colour, lw=1.8, label=f"{curves[middle, k]:.2f} Hz")
    right.set_aspect("equal")
    right.view_init(elev=24, azim=-50)
    right.set_title(f"elbow at {space['angles'][middle]:.0f} deg", fontsize=10)
    right.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(-0.12, 0.45))
    for axis, count in ((right.xaxis, 4), (right.yaxis, 1), (right.zaxis, 4)):
        axis.set_major_locator(MaxNLocator(count))
        axis.set_tick_params(labelsize=7)
    figure.savefig(to / "flexible_two_booms.png", dpi=100)


if __name__ == "__main__":
    main()
