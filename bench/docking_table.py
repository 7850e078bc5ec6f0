"""Dockings: microseconds of an evaluation, milliseconds of a simulated second, runs of a batch per second, threads.

python bench/docking_table.py [--runs N] [--rounds N]

Evaluations are those of whole runs of the demo cases at 1 ms; the best of the rounds counts. Times of single runs are
processor times of one thread, those of batches wall times. Conditions of batches fill the usual box.
"""

import argparse
import time

import numpy as np
from zveno import docking


def single(kind, case, rounds):
    """Microseconds of an evaluation, milliseconds of a simulated second in contact."""
    s = docking.demo(kind, case)
    docking.simulate(s, 0.1, record=1.0)
    best, run = np.inf, None
    for _ in range(rounds):
        begin = time.process_time()
        run = docking.simulate(s, dt=1e-3, after=1.0, record=1.0)
        best = min(best, time.process_time() - begin)
    return 1e6 * best / run.evaluations, 1e3 * best / run.t_end


def drawn(count):
    """Conditions of the usual box, uniform."""
    rng = np.random.default_rng(2026)

    def disc(radius):
        r, a = radius * np.sqrt(rng.random(count)), 2 * np.pi * rng.random(count)
        return np.stack([r * np.cos(a), r * np.sin(a)], axis=1)

    degree = np.pi / 180
    offset, tilt, lateral, rates = disc(0.10), disc(4 * degree), disc(0.04), disc(0.2 * degree)
    roll, closing, roll_rate = (rng.uniform(a, b, count) for a, b in ((-4, 4), (0.05, 0.10), (-0.2, 0.2)))
    columns = [closing[:, None], offset, tilt, degree * roll[:, None], lateral, degree * roll_rate[:, None], rates]
    return np.concatenate([*columns, np.full((count, 1), np.nan)], axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    print("case            us/evaluation  ms per simulated s")
    for kind in ("UPS", "RSU"):
        for case in ("nominal", "limit"):
            each, second = single(kind, case, given.rounds)
            print(f"{kind} {case:<10}  {each:13.2f}  {second:18.1f}")
    rows = drawn(given.runs)
    spent = {}
    for threads in (1, 2):
        begin = time.perf_counter()
        table = docking.run_batch(docking.demo("UPS"), rows, dt="auto", threads=threads)
        spent[threads] = time.perf_counter() - begin
        captured = np.mean(table["status"] == 0)
        pace = given.runs / spent[threads]
        print(
            f"{given.runs} runs, {threads} thread(s): {pace:.0f} runs/s, 10000 in {1e4 / pace:.0f} s,"
            f" {captured:.1%} captured"
        )
    print(f"two threads: {spent[1] / spent[2]:.2f} times as fast")


if __name__ == "__main__":
    main()
