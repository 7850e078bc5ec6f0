"""Time a campaign of dockings over the box of the demo: threads, memory, and that its table does not depend on them.

python bench/campaign_table.py [-n N] [--legs UPS] [--threads 1 2]

dt="auto", runs end 1 s after capture. Times are of the wall, in one run; on a shared machine compare ratios.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time

import numpy as np
from zveno import docking


def same(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> bool:
    return all(np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=10_000)
    parser.add_argument("--legs", default="UPS")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    scenario = docking.demo(options.legs)
    docking.campaign(scenario, n=2, threads=1)  # first calls build things
    print(f"{options.n} dockings, {options.legs}, box idss, seed 2026")
    print("| threads | s | runs/s | evaluations/s | captured | against the first |")
    print("|---|---|---|---|---|---|")
    first, base = None, 0.0
    for threads in options.threads:
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            found = docking.campaign(scenario, n=options.n, threads=threads, store=folder, progress=False)
            seconds = time.perf_counter() - start
            table = found.table
        if first is None:
            first, base = table, seconds
        assert same(table, first), "the table depends on threads"
        evaluations = np.nansum(table["evaluations"]) / seconds
        captured = found.outcomes["captured"]
        rate = options.n / seconds
        print(f"| {threads} | {seconds:.2f} | {rate:.0f} | {evaluations:.3g} | {captured} | {base / seconds:.2f} |")
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
