"""What ``zveno bench`` measures: operations and time of the mass-matrix algorithms over the chain length.

Pure data: nothing is printed or drawn here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from itertools import groupby
from typing import Any, Final

import numpy as np

from .. import _core
from .._check import Array
from ..model import Chain
from ..opcount import OpCount, fit_polynomial, operations
from .pinocchio import to_pinocchio
from .published import PUBLISHED, Polynomial
from .random_chains import random_chain, random_states
from .timing import Call, StudyError, best_of, call, host, require_agreement

__all__ = ["METHODS", "Fit", "Measurement", "Study", "run", "sizes_up_to", "steps", "verdict"]

METHODS: Final[tuple[str, ...]] = tuple(
    method for row in _core.functions("chain") if row["name"] == "mass_matrix" for method in row["methods"]
)
SIZES: Final = (2, 3, 4, 6, 7, 8, 9, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)  # 3e8 operations in the dense form
DEFAULT_MAX_N: Final = 64
FIT_SIZES: Final = range(2, 9)
RIVAL: Final = "pinocchio"
TIE: Final = 0.05  # smaller differences of times are noise


@dataclass(frozen=True)
class Measurement:
    """One algorithm at one N: the exact count, and seconds per state alone and in a batch."""

    method: str
    n: int
    count: OpCount
    single: float
    batch: float

    @property
    def flops(self) -> int:
        """mul + add, kinematics included."""
        return self.count.mul + self.count.add


@dataclass(frozen=True)
class Fit:
    """Exact polynomials of our kernels in N, ascending powers."""

    own_mul: Polynomial
    own_add: Polynomial
    total: Polynomial


@dataclass(frozen=True)
class Study:
    """All measurements of one run."""

    machine: Mapping[str, Any]
    sizes: tuple[int, ...]
    measurements: Mapping[tuple[str, int], Measurement]
    fits: Mapping[str, Fit]
    rival: Mapping[int, tuple[float, float]]  # seconds per state of Pinocchio's CRBA, alone and in a batch
    batch: Mapping[int, int]
    seed: int

    def __getitem__(self, key: tuple[str, int]) -> Measurement:
        return self.measurements[key]

    def winners(self, cost: Callable[[Measurement], float], tie: float = 0.0) -> list[tuple[str, list[int]]]:
        """Ranges of N with the algorithm of smallest cost in each; a winner stays until beaten by more than a tie."""
        best: list[tuple[str, int]] = []
        for n in self.sizes:
            enough = (1.0 + tie) * min(cost(self[method, n]) for method in METHODS)
            candidates = (best[-1][0], *METHODS) if best else METHODS
            best.append((next(method for method in candidates if cost(self[method, n]) <= enough), n))
        return [(method, [n for _, n in group]) for method, group in groupby(best, key=lambda pair: pair[0])]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data for JSON; times in seconds, polynomials as text of exact fractions."""

        def plain(polynomial: Polynomial | None) -> list[str] | None:
            return None if polynomial is None else [str(c) for c in polynomial]

        def count(value: OpCount) -> dict[str, int]:
            return {name: getattr(value, name) for name in ("mul", "add", "div", "sqrt", "trig")}

        rows = []
        for item in self.measurements.values():
            stages = {name: count(stage) for name, stage in item.count.stages.items()}
            row = {"method": item.method, "n": item.n, "operations": count(item.count) | {"stages": stages}}
            row["seconds"] = {"single": item.single, "batch": item.batch}
            if item.n in self.rival:
                single, batch = self.rival[item.n]
                row["times_faster_than_pinocchio"] = {"single": single / item.single, "batch": batch / item.batch}
            rows.append(row)
        polynomials = {
            method: {
                "printed_total": plain(PUBLISHED[method].printed),
                "corrected": {
                    "own_mul": plain(PUBLISHED[method].own_mul),
                    "own_add": plain(PUBLISHED[method].own_add),
                    "total": plain(PUBLISHED[method].total),
                },
                "measured": {name: plain(value) for name, value in asdict(fit).items()},
            }
            for method, fit in self.fits.items()
        }
        return {
            "machine": dict(self.machine),
            "seed": self.seed,
            "sizes": list(self.sizes),
            "batch": {str(n): states for n, states in self.batch.items()},
            "measurements": rows,
            "pinocchio": {str(n): {"single": s, "batch": b} for n, (s, b) in self.rival.items()},
            "polynomials_ascending": polynomials,
            "verdict": verdict(self),
        }


def sizes_up_to(max_n: int) -> tuple[int, ...]:
    """The lengths N of the study up to max_n, which is always the last one."""
    if not SIZES[0] <= max_n <= SIZES[-1]:
        raise StudyError(f"largest N is {max_n}, expected {SIZES[0]} to {SIZES[-1]}")
    return (*(n for n in SIZES if n < max_n), max_n)


def _fit(method: str) -> Fit:
    counts = {n: operations(random_chain(n), "mass_matrix", method) for n in FIT_SIZES}
    return Fit(
        own_mul=fit_polynomial({n: count.own.mul for n, count in counts.items()}),
        own_add=fit_polynomial({n: count.own.add for n, count in counts.items()}),
        total=fit_polynomial({n: count.mul + count.add for n, count in counts.items()}),
    )


def _rival_calls(chain: Chain, q: Array, batch: Array) -> dict[tuple[str, bool], Call]:
    pin = import_module("pinocchio")

    model = to_pinocchio(chain)
    data = model.createData()
    expected = chain.mass_matrix(q)
    calls = {}
    for convention in (pin.Convention.LOCAL, pin.Convention.WORLD):
        require_agreement(
            f"mass_matrix, N = {chain.n}, zveno and Pinocchio", pin.crba(model, data, q, convention), expected
        )

        def loop(states: Array, convention: Any = convention) -> Array:
            out = np.empty((*states.shape, states.shape[-1]))
            for k, state in enumerate(states):
                out[k] = pin.crba(model, data, state, convention)
            return out

        calls[f"{RIVAL} {convention}", False] = call(pin.crba, model, data, q, convention)
        calls[f"{RIVAL} {convention}", True] = call(loop, batch, states=len(batch))
    return calls


def steps(max_n: int) -> int:
    """How many progress reports :func:`run` makes."""
    return len(METHODS) + len(sizes_up_to(max_n))


def run(
    max_n: int = DEFAULT_MAX_N,
    *,
    seconds: float = 0.1,
    repeat: int = 5,
    seed: int = 0,
    against: bool = False,
    report: Callable[[str], None] = lambda _: None,
) -> Study:
    """Count and time all algorithms over N.

    Parameters
    ----------
    max_n : int
        Largest number of joints.
    seconds, repeat : float, int
        Effort for each timing, see :func:`best_of`.
    seed : int
        Seed of the random chains and states.
    against : bool
        Also time Pinocchio's CRBA on the same chains and states, in turns with ours.
    report : Callable[[str], None]
        Called at the beginning of each of the :func:`steps`.

    Returns
    -------
    Study

    Raises
    ------
    StudyError
        Bad sizes, or results that disagree.
    """
    sizes = sizes_up_to(max_n)
    fits = {}
    for method in METHODS:
        report(f"counting {method}")
        fits[method] = _fit(method)
    measurements, rival, batches = {}, {}, {}
    for n in sizes:
        report(f"timing N = {n}")
        chain = random_chain(n, seed)
        batches[n] = max(8, min(1024, 2**18 // n**2))
        q, _, _ = random_states(n, seed=seed)
        states, _, _ = random_states(n, batches[n], seed)
        calls = {}
        for method in METHODS:
            calls[method, False] = call(chain.mass_matrix, q, method)
            calls[method, True] = call(chain.mass_matrix, states, method, states=len(states))
            require_agreement(f"mass_matrix, N = {n}, crba and {method}", calls[method, False](), chain.mass_matrix(q))
        if against:
            calls |= _rival_calls(chain, q, states)
        times = best_of(calls, seconds, repeat)
        for method in METHODS:
            count = operations(chain, "mass_matrix", method)
            measurements[method, n] = Measurement(method, n, count, times[method, False], times[method, True])
        if against:
            single, batch = (
                min(t for (k, b), t in times.items() if b is kind and k.startswith(RIVAL)) for kind in (False, True)
            )
            rival[n] = single, batch
    versions = host("pin") if against else host()
    return Study(versions, sizes, measurements, fits, rival, batches, seed)


def _span(sizes: Sequence[int]) -> str:
    return f"N = {sizes[0]}" if len(sizes) == 1 else f"N = {sizes[0]} to {sizes[-1]}"


def verdict(study: Study) -> list[str]:
    """Plain sentences: who needs the fewest operations, who is fastest, and whether the claim of Yaskevich holds."""
    winners = {
        "Fewest operations": study.winners(lambda m: m.flops),
        "Fastest, one state": study.winners(lambda m: m.single, TIE),
        "Fastest in a batch": study.winners(lambda m: m.batch, TIE),
    }
    lines = [
        f"{what}: " + "; ".join(f"{method} for {_span(sizes)}" for method, sizes in ranges) + "."
        for what, ranges in winners.items()
    ]
    lines.append(f"Times that differ by less than {TIE:.0%} count as a tie.")
    lines.extend(_claim(study, winners))
    if study.rival:
        lines.extend(_against(study))
    return lines


def _claim(study: Study, winners: Mapping[str, list[tuple[str, list[int]]]]) -> Iterator[str]:
    ours = "kane-recurrent"
    last = study.sizes[-1]
    wins = [
        f"{what.lower()} for {_span(sizes)}" for what, ranges in winners.items() for m, sizes in ranges if m == ours
    ]
    if wins:
        yield f"Yaskevich calls {ours} more efficient than others; here it is: {', '.join(wins)}."
    else:
        best = min(METHODS, key=lambda m: study[m, last].flops)
        factor = study[ours, last].flops / study[best, last].flops
        yield (
            "The claim of Yaskevich that its recurrent algorithm is more efficient than others does not hold: "
            f"for {_span(study.sizes)} {ours} is nowhere the cheapest or the fastest; at N = {last} it needs "
            f"{factor:.1f} times the operations of {best}."
        )
    cheaper = {m: [n for n in study.sizes if study[ours, n].flops < study[m, n].flops] for m in METHODS if m != ours}
    beaten = [f"{method} ({_span(sizes)})" for method, sizes in cheaper.items() if sizes]
    yield (
        f"In operations {ours} beats only: {', '.join(beaten)}." if beaten else f"In operations {ours} beats no other."
    )


def _against(study: Study) -> Iterator[str]:
    for position, what in enumerate(("one state", "in a batch")):
        ratios = {}
        for n in study.sizes:
            ours = min((study[m, n].single, study[m, n].batch)[position] for m in METHODS)
            ratios[n] = study.rival[n][position] / ours
        low, high = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
        yield (
            f"Against Pinocchio's CRBA called from Python, {what}: our fastest is {ratios[low]:.2g} (N = {low}) to "
            f"{ratios[high]:.2g} (N = {high}) times faster."
        )
