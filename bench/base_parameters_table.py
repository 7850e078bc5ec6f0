"""Base parameters and regressors: operations of inverse dynamics, times beside Pinocchio.

python bench/base_parameters_table.py [--counts]

Times are the best of several runs on one thread, the engines one after another in one run; on a shared machine compare
ratios. "QR" is what one does without this library: leftmost independent columns of Pinocchio's regressor stacked over
random states, by a pivoted QR. --counts: only the table of operations.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import zveno as zv

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))
from traced_counts import general, numbers, robots

KINDS = ("symbolic", "base", "fixed", "base-fixed")
STATES = 20_000


def counts() -> Iterator[str]:
    """Operations of inverse dynamics with bodies of no symmetry: strict, and algebraic in brackets."""
    yield "| arm | base parameters | " + " | ".join(KINDS) + " |"
    yield "|---|---|" + "---|" * len(KINDS)
    for name in ("PUMA 560", "Stanford arm", "FS020N", "Panda"):
        arm = general(robots()[name])
        cells = []
        for kind in KINDS:
            levels = (arm.trace("inverse_dynamics", parameters=kind, level=x) for x in ("strict", "algebraic"))
            strict, algebraic = (numbers(f.operations, "mul", "add") for f in levels)
            cells.append(f"{strict} ({algebraic})")
        yield f"| {name} | {arm.base_parameters().count} | " + " | ".join(cells) + " |"


def best(work: Callable[[], Any], repeat: int) -> float:
    """Seconds."""
    found = np.inf
    for _ in range(repeat):
        began = time.perf_counter()
        work()
        found = min(found, time.perf_counter() - began)
    return float(found)


def by_qr(twin: Any, chain: zv.Chain, states: np.ndarray) -> int:
    import pinocchio as pin
    import scipy.linalg

    rows = [pin.computeJointTorqueRegressor(twin.model, twin.data, *state).copy() for state in states]
    R = scipy.linalg.qr(np.concatenate(rows), mode="r", pivoting=True)[0]
    sizes = np.abs(np.diag(R))
    return int((sizes > 1e-9 * sizes[0]).sum())


def times() -> Iterator[str]:
    import pinocchio as pin
    from engines.pinocchio import Twin
    from engines.random_mechanisms import random_chain

    panda = robots()["Panda"].subchain(to="panda_link7")
    rng = np.random.default_rng(1)
    yield "| base parameters | zveno, ms | QR, ms | count |"
    yield "|---|---|---|---|"
    for name, chain in (("Panda", panda), *((f"{n} dense joints", random_chain(rng, n, "revolute")) for n in (20, 60))):
        twin = Twin(chain)
        states = rng.normal(size=(2 * 10, 3, chain.n))
        ours = best(chain.base_parameters, 10)
        theirs = best(lambda twin=twin, chain=chain, states=states: by_qr(twin, chain, states), 3)
        count = chain.base_parameters().count
        assert by_qr(twin, chain, states) == count
        yield f"| {name} | {1e3 * ours:.1f} | {1e3 * theirs:.1f} | {count} |"
    yield ""
    twin = Twin(panda)
    q, qd, qdd = rng.normal(size=(3, STATES, panda.n))
    listed = [tuple(map(np.ascontiguousarray, state)) for state in zip(q[:1000], qd[:1000], qdd[:1000], strict=True)]
    theirs = best(
        lambda: [pin.computeJointTorqueRegressor(twin.model, twin.data, *state) for state in listed], 20
    ) / len(listed)
    yield "| Panda, microseconds of a state | |"
    yield "|---|---|"
    yield f"| computeJointTorqueRegressor, a call | {1e6 * theirs:.2f} |"
    for name in ("regressor", "packed_regressor", "power_regressor", "base_wrench_regressor"):
        f = getattr(panda, name)
        out = f(q, qd, qdd)
        for count in (64, STATES):
            repeat = 2_000_000 // count // 20 + 5
            used = best(lambda f=f, n=count, out=out: f(q[:n], qd[:n], qdd[:n], out=out[:n]), repeat) / count
            yield f"| {name}, {count} states | {1e6 * used:.2f} |"
    one = best(lambda: [panda.regressor(*state) for state in listed], 20) / len(listed)
    yield f"| regressor, a call | {1e6 * one:.2f} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", action="store_true", help="only operations")
    for line in counts():
        print(line)
    if not parser.parse_args().counts:
        print()
        for line in times():
            print(line)
