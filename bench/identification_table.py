"""Identification: times beside Pinocchio, time and memory of long logs, whether intervals hold what they promise.

python bench/identification_table.py [--samples N ...] [--file] [--repetitions N] [--threads N]

First the times of bench/base_parameters_table.py: base parameters and regressors. Then a log of the KUKA iiwa 14
(seven joints, viscous and dry friction) with known noise is identified by weighted least squares with covariance.
--file writes it to NumPy files first and reads it from there, piece by piece: memory is then that of the process with
nothing of the log in it but what is being worked on; several numbers of samples show that it does not grow. The last
table repeats measurements with new noise: z-scores of all parameters, and how many 95 % intervals hold the true
value, of a PUMA 560 with noisy efforts and of a two-link arm with noisy coordinates too, by instruments and by total
least squares, and of one with Stribeck friction whose rates are searched for. On a shared machine times are of the
moment.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import zveno as zv
from zveno.identification import IdentificationWarning

sys.path.insert(0, str(Path(__file__).parent))
import base_parameters_table

STEP = 1e-3
PIECE = 100_000
FIELDS = ("q", "qd", "qdd", "tau")


def motion(n: int, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sums of sines."""
    rng = np.random.default_rng(0)
    w, a, b = rng.uniform(0.5, 3, (3, n)), 0.6 * rng.normal(size=(3, n)), rng.uniform(0, 6, (3, n))
    x = t[:, None, None] * w + b
    return (a * np.sin(x)).sum(1), (a * w * np.cos(x)).sum(1), -(a * w * w * np.sin(x)).sum(1)


def peak() -> float:
    """Largest memory of this process so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def own() -> float:
    """Memory of this process that is not of files, MB."""
    text = Path("/proc/self/status").read_text()
    return float(next(line for line in text.splitlines() if line.startswith("RssAnon")).split()[1]) / 1024


class Watch(threading.Thread):
    """Largest `own` memory while it runs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self._end = 0.0, threading.Event()

    def run(self) -> None:
        while not self._end.wait(0.02):
            self.most = max(self.most, own())

    def __enter__(self) -> Watch:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self.join()


def long_log(samples: int, from_file: bool, threads: int) -> None:
    arm = zv.robots.kuka_iiwa14()
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        log = {}
        for key in ("t", *FIELDS):
            path = Path(folder) / f"{key}.npy"
            shape = (samples,) if key == "t" else (samples, arm.n)
            log[key] = np.lib.format.open_memmap(path, "w+", np.float64, shape) if from_file else np.empty(shape)
        for begin in range(0, samples, PIECE):
            at = slice(begin, min(samples, begin + PIECE))
            log["t"][at] = np.arange(at.start, at.stop) * STEP
            q, qd, qdd = motion(arm.n, log["t"][at])
            tau = arm.inverse_dynamics(q, qd, qdd) + rng.normal(size=q.shape)
            for key, values in zip(FIELDS, (q, qd, qdd, tau), strict=True):
                log[key][at] = values
        before, start, busy = own(), time.perf_counter(), time.process_time()
        with Watch() as watch:
            fit = zv.identify(arm, log, threads=threads)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
    true = fit._model.Y @ fit._model.full_values()
    z = (fit.values - true) / np.sqrt(np.diag(fit.covariance))
    print(f"{samples:,} samples, {len(fit.parameters)} parameters, {'file' if from_file else 'arrays'}")
    print(f"  {seconds:.1f} s ({busy:.1f} s of the processor); z-scores {z.std():.2f}")
    most = f"{watch.most:.0f} MB at most ({peak():.0f} MB with pages of files)"
    print(f"  memory {before:.0f} MB before, {own():.0f} MB after, {most}", flush=True)


def coverage(repetitions: int) -> None:
    """Noise of efforts alone; accelerations are in the log."""
    arm = zv.robots.puma560()
    t = np.arange(800) * 0.01
    q, qd, qdd = motion(arm.n, t)
    exact = arm.inverse_dynamics(q, qd, qdd)
    noise = np.array([1.0, 2.0, 1.0, 0.1, 0.1, 0.05])
    rng = np.random.default_rng(2)
    logs = (
        {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": exact + noise * rng.normal(size=exact.shape)}
        for _ in range(repetitions)
    )
    report("PUMA 560, wls", arm, logs)


def noisy_coordinates(repetitions: int, method: str) -> None:
    """Noise of coordinates, which are differentiated, and of efforts."""
    arm, deviation = zv.robots.two_link(), 1e-3
    t = np.arange(2000) * 0.01
    q, qd, qdd = motion(arm.n, t)
    exact = arm.inverse_dynamics(q, qd, qdd)
    rng = np.random.default_rng(0)
    logs = (
        {"t": t, "q": q + deviation * a, "q_ref": q, "tau": exact + 0.02 * exact.std(axis=0) * b}
        for a, b in (rng.normal(size=(2, *q.shape)) for _ in range(repetitions))
    )
    report(f"two links, {method}", arm, logs, friction=None, method=method, cutoff=8.0, position_noise=deviation)


def stribeck(repetitions: int, noise: float) -> None:
    """Friction that falls at low rates; where noise is large the rates at which it does have lopsided intervals."""
    arm = zv.robots.two_link()
    t = np.arange(500) * 0.02
    q, qd, qdd = motion(arm.n, t)
    rates = np.array([0.3, 0.5])
    values = {"Fv": (0.7, 0.7), "Fc": (0.9, 0.9), "Fs": (0.5, 0.5), "vs": rates}
    rubbing = 0.7 * qd + np.sign(qd) * (0.9 + 0.5 * np.exp(-((qd / rates) ** 2)))
    exact = arm.inverse_dynamics(q, qd, qdd) + rubbing
    rng = np.random.default_rng(1)
    logs = (
        {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": exact + noise * rng.normal(size=q.shape)}
        for _ in range(repetitions)
    )
    known = {f"{key}{j + 1}": x for key, some in values.items() for j, x in enumerate(some)}
    report(f"two links, Stribeck, noise {noise:g} N m", arm, logs, known, friction="viscous,coulomb,stribeck")


def report(name: str, arm: zv.Chain, logs: Iterable[dict[str, np.ndarray]], known: Any = None, **options: Any) -> None:
    z, inside, names, lost = [], [], (), 0
    for log in logs:
        fit = zv.identify(arm, log, validation=0.0, threads=1, **options)
        if known and sum(row.name in known for row in fit.parameters) < len(known):
            lost += 1  # friction that does not fall: it has no rate
            continue
        true = fit._model.Y @ fit._model.full_values()
        true = [(known or {}).get(row.name, x) for row, x in zip(fit.parameters, true, strict=True)]
        z.append((fit.values - true) / fit.parameters.to_dict()["deviation"])  # zero of what may have any value
        inside.append([row.low <= x <= row.high for row, x in zip(fit.parameters, true, strict=True)])
        names = tuple(row.name for row in fit.parameters)
    scores = np.array(z)
    each = np.mean(inside, axis=0)
    left_out = f" ({lost} without a rate)" if lost else ""
    print(f"{name}: {scores.shape[0]} repetitions{left_out}, {scores.shape[1]} parameters")
    print(f"  z-scores: mean {scores.mean():.3f}, deviation {scores.std():.3f}")
    low, high = each.min(), each.max()
    rates = [f"{name} {part:.3f}" for name, part in zip(names, each, strict=True) if name[:2] == "vs"]
    print(
        f"  intervals of 95 % hold {100 * np.mean(inside):.2f} %; single parameters {low:.3f} to {high:.3f}",
        *rates,
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, nargs="*", default=[1_000_000])
    parser.add_argument("--no-times", action="store_true", help="only logs and intervals")
    parser.add_argument("--file", action="store_true")
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--threads", type=int, default=0)
    given = parser.parse_args()
    warnings.simplefilter("ignore", IdentificationWarning)
    if not given.no_times:
        for line in base_parameters_table.times():
            print(line, flush=True)
        print()
    for samples in given.samples:
        long_log(samples, given.file, given.threads)
    if given.repetitions:
        coverage(given.repetitions)
        for method in ("iv", "tls"):
            noisy_coordinates(given.repetitions, method)
        for noise in (0.02, 0.4):
            stribeck(given.repetitions, noise)


if __name__ == "__main__":
    main()
