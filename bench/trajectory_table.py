"""Time-optimal motion and S-curves against toppra and Ruckig: durations, and what they take to compute.

python bench/trajectory_table.py --peers PYTHON [--nodes N]

PYTHON is an interpreter that has toppra and ruckig; each is timed where it is found, they are not needed. Paths are
natural cubic splines through random points of six joints, limits are of rates and accelerations; both engines get the
same grid, toppra with collocation at the nodes and with interpolation, which is what zveno does. S-curves are from rest
to rest, all joints at once. Times are of the processor, on one thread, medians.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zveno as zv

PEERS = r"""
import json, sys, time, importlib.metadata
import numpy as np
data = json.load(open(sys.argv[1]))
def timed(work, count):
    work(); times = []
    for _ in range(count):
        began = time.process_time(); work(); times.append(time.process_time() - began)
    return sorted(times)[count // 2]
try:
    import toppra as ta
    import toppra.constraint as constraint
    import toppra.algorithm as algorithm
    ta.setup_logging("ERROR")
    for case in data["paths"]:
        s, q = np.array(case["s"]), np.array(case["q"])
        path = ta.SplineInterpolator(s, q, bc_type="natural")
        v, a = np.array(case["velocity"]), np.array(case["acceleration"])
        grid = np.linspace(s[0], s[-1], case["nodes"] + 1)
        for name in ("Collocation", "Interpolation"):
            kind = getattr(constraint.DiscretizationType, name)
            limits = [constraint.JointVelocityConstraint(np.stack([-v, v], 1))]
            limits.append(constraint.JointAccelerationConstraint(np.stack([-a, a], 1), discretization_scheme=kind))
            def work():
                problem = algorithm.TOPPRA(limits, path, gridpoints=grid, solver_wrapper="seidel")
                _, sd, _ = problem.compute_parameterization(0, 0)
                return float((2 * np.diff(grid) / (sd[1:] + sd[:-1])).sum())
            label = "toppra " + importlib.metadata.version("toppra") + ", " + name.lower()
            print(json.dumps([case["name"], label, work(), 1e3 * timed(work, 5)]))
except ImportError:
    pass
try:
    import ruckig
    for case in data["curves"]:
        n = len(case["q1"])
        otg, ask = ruckig.Ruckig(n), ruckig.InputParameter(n)
        ask.current_position, ask.target_position = case["q0"], case["q1"]
        ask.max_velocity, ask.max_acceleration, ask.max_jerk = case["velocity"], case["acceleration"], case["jerk"]
        out = ruckig.Trajectory(n)
        def work():
            otg.calculate(ask, out)
            return out.duration
        label = "Ruckig " + importlib.metadata.version("ruckig")
        print(json.dumps([case["name"], label, work(), 1e3 * timed(work, 200)]))
except ImportError:
    pass
"""


def timed(work: Callable[[], Any], count: int) -> float:
    """Milliseconds."""
    work()
    times = []
    for _ in range(count):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return 1e3 * sorted(times)[count // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--peers", metavar="PYTHON", action="append", default=[], help="interpreter with toppra, ruckig"
    )
    parser.add_argument("--nodes", type=int, default=200)
    options = parser.parse_args()
    arm = zv.robots.kawasaki_fs020n()
    rng = np.random.default_rng(4)
    velocity, acceleration, jerk = np.full(6, 2.0), np.full(6, 8.0), np.full(6, 60.0)
    data: dict[str, Any] = {"paths": [], "curves": []}
    print("| motion | engine | duration, s | computed in, ms |\n|---|---|---|---|")
    for k in range(3):
        points = rng.uniform(-1, 1, (5, 6))
        way = zv.trajectory.path(points)
        name = f"path {k + 1} through 5 points"
        data["paths"].append(
            {"name": name, "s": way.breaks.tolist(), "q": points.tolist(), "velocity": velocity.tolist()}
            | {"acceleration": acceleration.tolist(), "nodes": options.nodes}
        )

        def work(way: Any = way) -> zv.trajectory.Trajectory:
            return zv.trajectory.time_optimal(
                arm, way, velocity=velocity, acceleration=acceleration, torque=1e9, nodes=options.nodes, tolerance=1.0
            )

        def limited(way: Any = way) -> zv.trajectory.Trajectory:
            return zv.trajectory.time_optimal(
                arm, way, velocity=velocity, acceleration=acceleration, torque=1e9, jerk=200.0, nodes=options.nodes
            )

        print(f"| {name} | zveno | {work().duration:.6f} | {timed(work, 5):.1f} |", flush=True)
        print(f"| {name} | zveno, jerk 200 | {limited().duration:.6f} | {timed(limited, 3):.1f} |", flush=True)
    for k in range(3):
        q0, q1 = rng.uniform(-1, 1, (2, 6))
        name = f"S-curve {k + 1}, six joints"
        limits = {"velocity": velocity.tolist(), "acceleration": acceleration.tolist(), "jerk": jerk.tolist()}
        data["curves"].append({"name": name, "q0": q0.tolist(), "q1": q1.tolist()} | limits)

        def curve(q0: Any = q0, q1: Any = q1, limits: Any = limits) -> zv.trajectory.Trajectory:
            return zv.trajectory.s_curve(q0, q1, **limits)

        print(f"| {name} | zveno | {curve().duration:.6f} | {timed(curve, 50):.3f} |", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "data.json").write_text(json.dumps(data))
        (Path(folder) / "peers.py").write_text(PEERS)
        for python in options.peers:
            command = [python, str(Path(folder) / "peers.py"), str(Path(folder) / "data.json")]
            for line in subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines():
                name, engine, duration, cost = json.loads(line)
                print(f"| {name} | {engine} | {duration:.6f} | {cost:.3g} |", flush=True)


if __name__ == "__main__":
    main()
