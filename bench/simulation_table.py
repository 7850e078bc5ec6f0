"""Time a step of a simulated hexapod, and compare it with another installed version of zveno; or steps of chains.

python bench/simulation_table.py [--against PYTHON] [--rounds N]
python bench/simulation_table.py --chains [--rounds N]

--chains: many runs of a Panda with joint damping 0.5 N m s/rad, only their last states recorded, on one thread, beside
mujoco.rollout on the same model; both take turns, processor time of the best turn.

PYTHON is an interpreter that imports the other version. Both take turns, case by case; the best slice of 50 steps
counts. The last column relates a step to that many calls of `forward_dynamics` for one state, made from Python.
"""

import argparse
import os
import subprocess
import sys
import time

import numpy as np
import zveno as zv
from zveno import laws

PUSH = np.array([-0.01, 0.006, 0.004, 0.02, -0.016, 0.012])
STEP, SLICE, SLICES = 1e-4, 50, 60
KINDS = ("UPS", "RSU")
EVALUATIONS = {"rk4": 4, "semi-implicit": 1}


def law_of(kind: str, name: str) -> laws.Law | None:
    """Laws of the drives: none, a spring with damper and stops, or everything at once."""
    k, c = (15.0, 3.0) if kind == "RSU" else (400.0, 80.0)
    spring = laws.SpringDamper(k, c, 1.0) + laws.Stops(4e3, 80.0)
    more = laws.EddyBrake(5.0, 0.2) + laws.DryFriction(0.2, 0.05) + laws.LuGre(0.5, 0.7, 0.01, 1e3, 1.0)
    return {"none": None, "spring": spring, "all": spring + more}[name]


def time_steps(hexapod: zv.Hexapod, law: laws.Law | None, method: str, every: int) -> float:
    """Seconds per step, the best slice of one run."""
    slices = []

    def advance(run, steps, progress):
        running = True
        while running:
            begin, before = time.perf_counter(), run.step
            running = run.advance(SLICE)
            if run.step > before:
                slices.append((time.perf_counter() - begin) / (run.step - before))

    module = sys.modules[zv.Simulation.__module__]
    own, module._advance = module._advance, advance
    try:
        module.simulate(
            hexapod, SLICE * SLICES * STEP, STEP, u=PUSH, laws=law, method=method, every=every, progress=False
        )
    finally:
        module._advance = own
    return min(slices)


def time_calls(hexapod: zv.Hexapod) -> float:
    """Seconds of one call of forward_dynamics from Python, for one state."""
    (r, R), zero, tau = hexapod.nominal, np.zeros(6), np.zeros(6)
    best, call = float("inf"), hexapod.forward_dynamics
    for _ in range(200):
        begin = time.perf_counter()
        for _ in range(SLICE):
            call(r, R, PUSH, zero, tau)
        best = min(best, (time.perf_counter() - begin) / SLICE)
    return best


def names() -> list[str]:
    """Of all cases."""
    cases = [(method, law, every) for method in EVALUATIONS for law in ("none", "spring", "all") for every in (1, 1000)]
    return [f"{kind} {case}" for kind in KINDS for case in ("call", *(" ".join(map(str, x)) for x in cases))]


def measure(case: str) -> float:
    """Seconds of a case."""
    kind, *rest = case.split()
    hexapod = zv.mechanisms.docking_ring(kind)
    if rest == ["call"]:
        return time_calls(hexapod)
    method, law, every = rest
    return time_steps(hexapod, law_of(kind, law), method, int(every))


def worker() -> None:
    """Answers cases with seconds."""
    for case in sys.stdin:
        print(measure(case), flush=True)


class Other:
    """`measure` by another version, in a process of its own."""

    def __init__(self, python: str) -> None:
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([python, __file__, "--worker"], env=environment, **pipes)

    def __call__(self, case: str) -> float:
        self.process.stdin.write(case + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


def damped_panda() -> zv.Chain:
    """The arm with viscous joints, without limits."""
    from compare import robot

    arm = robot("Panda")
    free = {"friction": 0.5, "lower": None, "upper": None}
    links = [zv.Link.from_dict(link.to_dict() | (free if link.joint != "fixed" else {})) for link in arm.links]
    return zv.Chain(links, name="Panda", base=arm.base_name, gravity=arm.gravity)


def rollouts(model, q: np.ndarray, qd: np.ndarray, order: list[int], steps: int) -> None:
    """The same runs by MuJoCo."""
    import mujoco
    from mujoco import rollout

    state = np.zeros((len(q), mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    state[:, [1 + k for k in order]], state[:, [1 + model.nq + k for k in order]] = q, qd
    rollout.rollout([model], [mujoco.MjData(model)], state, nstep=steps)


def chain_steps(rounds: int, runs: int = 512, steps: int = 200) -> None:
    """Print steps per second of both engines."""
    import mujoco

    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests"))
    from engines.mujoco import to_mujoco

    arm, rng = damped_panda(), np.random.default_rng(0)
    q, qd = 0.5 * rng.normal(size=(2, runs, arm.n))
    model = to_mujoco(arm)
    model.opt.timestep = STEP * 10
    order = [int(model.joint(name).dofadr[0]) for name in arm.joint_names]
    integrators = {"semi-implicit": mujoco.mjtIntegrator.mjINT_EULER, "rk4": mujoco.mjtIntegrator.mjINT_RK4}

    def ours(method: str) -> None:
        arm.simulate(steps * 1e-3, 1e-3, q=q, qd=qd, method=method, every=steps, record=[], threads=1)

    def theirs(method: str) -> None:
        model.opt.integrator = integrators[method]
        rollouts(model, q, qd, order, steps)

    best: dict[tuple[str, str], float] = {}
    for _ in range(rounds):
        for method in integrators:
            for who, call in (("zveno", ours), ("mujoco.rollout", theirs)):
                begin = time.process_time()
                call(method)
                spent = time.process_time() - begin
                best[method, who] = min(spent, best.get((method, who), spent))
    print(f"{'method':15}{'engine':16}{'ns/step':>9}{'steps/s':>11}{'ratio':>7}")
    for (method, who), spent in best.items():
        ratio = best[method, "mujoco.rollout"] / spent
        print(f"{method:15}{who:16}{1e9 * spent / runs / steps:9.0f}{runs * steps / spent:11.2e}{ratio:7.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--against", metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--worker", action="store_true", help="cases on standard input are answered with seconds")
    parser.add_argument("--chains", action="store_true", help="steps of chains beside those of MuJoCo")
    options = parser.parse_args()
    if options.chains:
        chain_steps(options.rounds)
        return
    if options.worker:
        worker()
        return
    ways = [measure, *([Other(options.against)] if options.against else [])]
    best: list[dict[str, float]] = [{} for _ in ways]
    for _ in range(options.rounds):
        for case in names():
            for way, found in zip(ways, best, strict=True):
                found[case] = min(way(case), found.get(case, float("inf")))
    new, old = best[0], best[-1] if options.against else {}
    print(f"{'legs':5}{'method':15}{'laws':8}{'every':>6}{'us/step':>10}{'before':>10}{'ratio':>8}{'calls':>8}")
    for case, seconds in new.items():
        if case.endswith("call"):
            continue
        kind, method, name, every = case.split()
        before = old.get(case)
        was = "" if before is None else f"{before * 1e6:10.2f}{before / seconds:8.2f}"
        calls = seconds / (EVALUATIONS[method] * new[f"{kind} call"])
        print(f"{kind:5}{method:15}{name:8}{every:>6}{seconds * 1e6:10.2f}{was:18}{calls:8.2f}")


if __name__ == "__main__":
    sys.exit(main())
