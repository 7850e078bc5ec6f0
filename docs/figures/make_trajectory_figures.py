"""Draw the figure of docs/trajectories.md from the variables of its code.

python docs/figures/make_trajectory_figures.py [directory]
"""

import contextlib
import io
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

HERE = Path(__file__).parent
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")


def example() -> dict:
    """Variables of docs/trajectories.md after its last line."""
    page = (HERE.parent / "trajectories.md").read_text(encoding="utf-8")
    space: dict = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
            exec(compile(code, "docs/trajectories.md", "exec"), space)
    return space


def main() -> None:
    to = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    to.mkdir(parents=True, exist_ok=True)
    space = example()
    arm, torque = space["arm"], np.array(space["torque"])
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
    for panel, name in ((left, "fast"), (middle, "slow")):
        move = space[name]
        t = np.linspace(0.0, move.duration, 1500)
        used = arm.inverse_dynamics(*move(t)) / torque
        panel.axhspan(-1, 1, color="0.94", lw=0)
        for k, colour in enumerate(COLOURS):
            panel.plot(t, used[:, k], color=colour, lw=1.3, label=f"{k + 1}")
        panel.set(xlabel="time, s", xlim=(0, space["slow"].duration), ylim=(-1.1, 1.1))
        panel.set_title(f"{'fastest' if name == 'fast' else 'stretched'}, {move.duration:.2f} s", fontsize=10)
        s = move.path_parameter(t)
        right.plot(s, np.gradient(s, t), color="#0072B2" if name == "fast" else "0.5", lw=1.8, label=name)
    left.set_ylabel("torque / limit")
    left.legend(frameon=False, fontsize="small", title="joint", ncols=1, loc="upper right")
    right.set(xlabel="s", ylabel="ds/dt, 1/s", ylim=(0, None))
    right.set_title("speed along the path", fontsize=10)
    right.legend(["fastest", "stretched"], frameon=False, fontsize="small")
    for panel in (left, middle, right):
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(to / "trajectories.png", dpi=100)


if __name__ == "__main__":
    main()
