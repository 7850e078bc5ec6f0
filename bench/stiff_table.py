"""Slew of two flexible booms with implicit steps: errors, iterations and times, beside MuJoCo's implicitfast.

python bench/stiff_table.py [--rounds N]

The model is that of docs/simulation.md, 2 x 32 elements, n = 66: both engines move the same chain with the same
efforts, and the error is the distance of the tip after 2 s from its worked place. Blocks of both engines take turns;
the best of each counts. Times are processor times of one thread.
"""

import argparse
import sys
import time
from pathlib import Path

import mujoco
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from engines.flexible_boom import ELEMENTS, WORKED, tip, torques, two_booms
from engines.mujoco import to_mujoco

END = 2.0
OURS = [("gauss", 0.02), ("gauss", 0.01), ("radau", 0.02), ("midpoint", 0.005)]
THEIRS = [2e-3, 1e-3, 5e-4, 2e-4, 1e-4]


def ours(arm, last, place, method, h):
    """Seconds, error, iterations of a step."""
    steps = round(END / h)
    tau = torques(arm, steps)
    options = {"rtol": 0} if method == "radau" else {}
    begin = time.process_time()
    s = arm.simulate(END, h, tau=tau, method=method, every=steps, record=[], check_step=False, **options)
    spent = time.process_time() - begin
    return spent, float(np.linalg.norm(tip(arm, last, s.q[-1]) - place)), s.iterations / s.steps_made


def theirs(model, arm, last, place, h):
    """Seconds and error; infinite where it diverges."""
    model.opt.timestep = h
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    data = mujoco.MjData(model)
    steps = round(END / h)
    tau = torques(arm, steps)[:, [0, ELEMENTS + 1]]
    order = [model.joint(name).dofadr[0] for name in arm.joint_names]
    driven = [order[0], order[ELEMENTS + 1]]
    begin = time.process_time()
    half = steps // 2  # efforts change once
    for row in (0, half):
        data.qfrc_applied[driven] = tau[row]
        mujoco.mj_step(model, data, half)
    spent = time.process_time() - begin
    q = data.qpos[order]
    error = float(np.linalg.norm(tip(arm, last, q) - place)) if np.isfinite(q).all() else np.inf
    return spent, (error if error < 1 and data.time > END - h else np.inf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    print(
        f"{'zeta':>6} {'engine':22}{'step, ms':>9}{'error, m':>11}{'iterations':>11}{'us/step':>9}{'x real time':>12}"
    )
    for zeta, (place, _) in WORKED.items():
        arm, last = two_booms(zeta)
        model = to_mujoco(arm)
        best: dict[tuple[str, float], tuple[float, float, float]] = {}
        for _ in range(rounds):
            found = {(f"zveno {m}", h): ours(arm, last, place, m, h) for m, h in OURS}
            found |= {("MuJoCo implicitfast", h): (*theirs(model, arm, last, place, h), 1.0) for h in THEIRS}
            best = {key: min(value, best.get(key, value)) for key, value in found.items()}
        for (name, h), (spent, error, iterations) in best.items():
            steps = END / h
            shown = f"{error:11.1e}" if np.isfinite(error) else f"{'diverges':>11}"
            times = f"{1e6 * spent / steps:9.1f}{END / spent:12.0f}" if np.isfinite(error) else ""
            print(f"{zeta:6g} {name:22}{1e3 * h:9g}{shown}{iterations:11.1f}{times}")


if __name__ == "__main__":
    main()
