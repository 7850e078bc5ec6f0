"""Time of calls and batches with two installed versions, block by block in turn.

``python bench/versions.py OLD NEW [--rounds 10] [--processes 4] [--only TEXT]``: OLD and NEW are Python interpreters
that can import zveno, or ``interpreter:folder`` for a package in a folder. Prints ns per call (or per state of a batch)
of both and their ratio; the minimum over all rounds of all processes counts: where a process finds its memory alone
moves a short function by some per cent. Batches write into arrays that exist: fresh ones cost page faults, which differ
by 15 % between two processes of the same version.
"""

import argparse
import json
import os
import subprocess
import sys
import time

BATCH = 10_000


def batch(f, *args):
    """The call with its results written over those of a first call."""
    out = f(*args)
    return lambda: f(*args, out=out)


def cases():
    """(name, states in one call, call) with whatever version is imported here."""
    import numpy as np
    import zveno as zv

    rng = np.random.default_rng(0)
    for robot in ("puma560", "kawasaki_fs020n"):
        arm = getattr(zv.robots, robot)()
        x = rng.uniform(-1, 1, (3, BATCH, arm.n))
        one = tuple(x[:, 0])
        wrench = {arm.link_names[-1]: np.ones(6)}
        calls = {
            "mass_matrix": 1, "bias": 2, "inverse_dynamics": 3, "forward_dynamics": 3, "reactions": 3, "base_wrench": 3,
            "kinetic_energy": 2, "potential_energy": 1, "derivatives": 3,
        }  # fmt: skip
        for function, count in calls.items():
            f, out = getattr(arm, function), None
            yield f"{robot}.{function}", 1, lambda f=f, a=one[:count]: f(*a)
            if function != "derivatives":
                yield f"{robot}.{function} batch", BATCH, batch(f, *x[:count])
            if function in ("mass_matrix", "inverse_dynamics"):
                out = f(*one[:count])
                yield f"{robot}.{function} out=", 1, lambda f=f, a=one[:count], out=out: f(*a, out=out)
        yield f"{robot}.inverse_dynamics external", 1, lambda arm=arm, a=one, w=wrench: arm.inverse_dynamics(*a, w)
        tip = arm.link_names[-1]
        yield f"{robot}.pose", 1, lambda arm=arm, q=one[0], tip=tip: arm.pose(q, tip)
        yield f"{robot}.jacobian", 1, lambda arm=arm, q=one[0], tip=tip: arm.jacobian(q, tip)
        for function in ("inverse_dynamics", "mass_matrix", "forward_dynamics"):
            f, a = arm.compile(function), one[: calls[function]]
            yield f"{robot}.{function} compiled", 1, lambda f=f, a=a: f(*a)
            yield f"{robot}.{function} compiled batch", BATCH, batch(f, *x[: calls[function]])
    for kind in ("UPS", "RSU"):
        hx = zv.mechanisms.docking_ring(kind)
        r, R = hx.nominal
        shift = rng.uniform(-0.005, 0.005, (BATCH, 3))
        u, w, tau = rng.uniform(-1, 1, (3, BATCH, 6))
        single = (r, R, u[0], w[0], tau[0])
        many = (r + shift, np.broadcast_to(R, (BATCH, 3, 3)).copy(), u, w, tau)
        calls = {"closure": 2, "jacobian": 2, "mass_matrix": 2, "forward_dynamics": 5, "inverse_dynamics": 4}
        for function, count in calls.items():
            f = getattr(hx, function)
            yield f"{kind}.{function}", 1, lambda f=f, a=single[:count]: f(*a)
            yield f"{kind}.{function} batch", BATCH, batch(f, *many[:count])
        f = hx.compile("forward_dynamics")
        yield f"{kind}.forward_dynamics compiled batch", BATCH, batch(f, *many)
        laws = zv.laws.SpringDamper(400.0, 80.0)
        for method in ("rk4", "semi-implicit"):
            for name, law in (("", None), (" with laws", laws)):
                options = {"laws": law, "method": method, "progress": False}
                yield f"{kind}.simulate {method}{name}", 1000, lambda hx=hx, o=options: hx.simulate(1.0, 1e-3, **o)


def worker():
    """Answers the index of a case with ns per state, best of a few short loops."""
    known = list(cases())
    print(json.dumps([name for name, _, _ in known]), flush=True)
    loops = {}
    for line in sys.stdin:
        index = int(line)
        _, states, call = known[index]
        if index not in loops:
            call()
            start = time.perf_counter()
            call()
            loops[index] = max(1, int(0.003 / (time.perf_counter() - start)))
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            for _ in range(loops[index]):
                call()
            best = min(best, (time.perf_counter() - start) / loops[index])
        print(best / states * 1e9, flush=True)


class Version:
    def __init__(self, where):
        python, _, folder = where.partition(":")
        env = os.environ | ({"PYTHONPATH": folder} if folder else {})
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([python, __file__, "--worker"], env=env, text=True, **pipes)
        self.names = json.loads(self.process.stdout.readline())

    def time(self, name):
        print(self.names.index(name), file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--rounds", type=int, default=10, help="in each process")
    parser.add_argument("--processes", type=int, default=4, help="of each version, one after another")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    best = {}
    for _ in range(given.processes):
        versions = Version(given.old), Version(given.new)
        names = [name for name in versions[0].names if name in versions[1].names and given.only in name]
        for k in range(given.rounds):
            for name in names:
                both = best.setdefault(name, [float("inf")] * 2)
                for i in (0, 1) if k % 2 else (1, 0):
                    both[i] = min(both[i], versions[i].time(name))
        for version in versions:
            version.process.stdin.close()
            version.process.wait()
    for name, (old, new) in best.items():
        print(f"{name:45} {old:10.1f} {new:10.1f} ns   new/old {new / old:.3f}{'  slower' if new > 1.03 * old else ''}")


if __name__ == "__main__":
    worker() if "--worker" in sys.argv else main()
