"""What ``zveno bench`` measures: operations and time of the mass-matrix algorithms over the chain length.

Pure data: nothing is printed or drawn here. The benchmarks in ``bench/`` share the chains, the timer and the
adapter to Pinocchio.
"""

from __future__ import annotations

import os
import platform
import time
import timeit
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from importlib import import_module, metadata
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from ._dispatch import cpu_features
from .model import Chain, Link
from .opcount import OpCount, fit_polynomial, operations

Array = npt.NDArray[np.float64]
Polynomial = tuple[Fraction, ...]
K = TypeVar("K")

METHODS: Final = (
    "crba",
    "crba-walk",
    "crba-columns",
    "kane",
    "kane-triangular",
    "kane-recurrent",
    "kane-collapsed",
    "kosynka",
)
SIZES: Final = (2, 3, 4, 6, 7, 8, 9, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)  # 3e8 operations in the dense form
DEFAULT_MAX_N: Final = 64
FIT_SIZES: Final = range(2, 9)
RIVAL: Final = "pinocchio"
RELATIVE_AGREEMENT: Final = 1e-9
TURN: Final = 2e-4  # seconds: long against the clock, short against a time slice of the system
TIE: Final = 0.05  # smaller differences of times are noise


class StudyError(RuntimeError):
    """The study cannot be run, or two engines disagree, so that their times must not be compared."""


@dataclass(frozen=True)
class Published:
    """Polynomials in N for the mass matrix of an all-revolute chain, ascending powers.

    ``printed`` is the total of Yaskevich (002) as printed; ``common_mul`` ... ``own_add`` are the corrected counts of
    its formulas: the shared kinematics, and the algorithm's own part.
    """

    own_mul: Polynomial
    own_add: Polynomial
    common_mul: Polynomial
    common_add: Polynomial
    printed: Polynomial | None = None

    @property
    def total(self) -> Polynomial:
        """Corrected mul + add, kinematics included."""
        return add_polynomials(self.own_mul, self.own_add, self.common_mul, self.common_add)


def add_polynomials(*terms: Polynomial) -> Polynomial:
    """Sum of polynomials given by ascending coefficients."""
    length = max(map(len, terms))
    return tuple(sum((t[k] for t in terms if k < len(t)), Fraction(0)) for k in range(length))


def _descending(*coefficients: float) -> Polynomial:
    return tuple(Fraction(c) for c in reversed(coefficients))


_BASE_AXES = {"common_mul": _descending(144, 0), "common_add": _descending(99, 0)}
_BODY_AXES = {"common_mul": _descending(27, 0), "common_add": _descending(18, 0)}
_CRBA = Published(_descending(13.5, 88.5, -84), _descending(10, 83, -82), **_BODY_AXES)
PUBLISHED: Final[Mapping[str, Published]] = {
    "crba": _CRBA,
    "crba-walk": _CRBA,
    "crba-columns": Published(_descending(135, -66, 0), _descending(110, -63, 0), **_BODY_AXES),
    "kane": Published(
        _descending(9, 30, 0, 0), _descending(10, 23, 0, 0), **_BASE_AXES, printed=_descending(16, 55, 246, 0)
    ),
    "kane-triangular": Published(_descending(1, 18, -1, 0), _descending(1, 14.5, -7.5, 3), **_BASE_AXES),
    "kane-recurrent": Published(
        _descending(2, 18, -8, 0),
        _descending(2, 17.5, 3.5, -15),
        **_BASE_AXES,
        printed=_descending(4.5, 37, 243.5, -19),
    ),
    "kane-collapsed": Published(_descending(4.5, 34.5, -21), _descending(4, 50, -43), **_BASE_AXES),
    "kosynka": Published(
        _descending(1, 39, 2, 0), _descending(1, 32.5, 1.5, 0), **_BASE_AXES, printed=_descending(14, 129, -59, 0)
    ),
}


def random_chain(n: int, seed: int = 0) -> Chain:
    """Serial all-revolute chain of general geometry: random placements and full inertia tensors, about 3 kg a link.

    Joint axes are the z axes of randomly turned joint frames: as general as a random axis, and every engine can use
    its cheapest joint.
    """
    rng = np.random.default_rng((seed, n))
    links = []
    for k in range(n):
        rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        rotation *= np.sign(np.linalg.det(rotation))
        root = rng.normal(scale=0.2, size=(3, 3))
        second_moment = root @ root.T + 0.01 * np.eye(3)
        links.append(
            Link(
                f"link{k + 1}",
                position=rng.uniform(-0.5, 0.5, 3),
                rotation=rotation,
                mass=rng.uniform(1.0, 5.0),
                com=rng.uniform(-0.3, 0.3, 3),
                # trace(S) E - S of a second moment S satisfies the triangle inequality
                inertia=np.trace(second_moment) * np.eye(3) - second_moment,
            )
        )
    return Chain(links, name=f"random{n}")


def random_states(n: int, count: int | None = None, seed: int = 0) -> tuple[Array, Array, Array]:
    """Random ``q, qd, qdd``, each (n,), or (count, n) for a batch; rad, rad/s, rad/s^2."""
    rng = np.random.default_rng((seed, n))
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, *([] if count is None else [count]), n))
    return np.ascontiguousarray(np.pi * q), np.ascontiguousarray(qd), np.ascontiguousarray(qdd)


def to_pinocchio(chain: Chain) -> Any:
    """The same mechanism as a ``pinocchio.Model``, fixed links merged, joint order kept.

    Aligned axes become Pinocchio's specialised joints, its fastest. Parents must be listed before their children.
    """
    pin = import_module("pinocchio")

    kinds = {"revolute": ("R", pin.JointModelRevoluteUnaligned), "prismatic": ("P", pin.JointModelPrismaticUnaligned)}
    model = pin.Model()
    model.name = chain.name
    model.gravity = pin.Motion(np.array(chain.gravity), np.zeros(3))
    joint_and_placement = {chain.base_name: (0, pin.SE3.Identity())}
    for link in chain.links:
        joint, placement = joint_and_placement[link.parent or chain.base_name]
        placement = placement * pin.SE3(np.array(link.rotation), np.array(link.position))
        if link.joint != "fixed":
            letter, unaligned = kinds[link.joint]
            axis = link.axis / np.linalg.norm(link.axis)
            aligned = [k for k in range(3) if axis[k] == 1.0]
            kind = getattr(pin, f"JointModel{letter}{'XYZ'[aligned[0]]}")() if aligned else unaligned(axis)
            joint, placement = model.addJoint(joint, kind, placement, link.joint_name), pin.SE3.Identity()
        body = pin.Inertia(link.mass, np.array(link.com), np.array(link.inertia))
        model.appendBodyToJoint(joint, body, placement)
        joint_and_placement[link.name] = joint, placement
    model.armature = np.array(chain.rotor_inertia)
    return model


@dataclass(frozen=True)
class Call:
    """A call to be timed: ``function(*args, **kwargs)``, which treats ``states`` states."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    states: int = 1

    def __call__(self) -> Any:
        return self.function(*self.args, **self.kwargs)

    def timer(self, clock: Callable[[], float]) -> timeit.Timer:
        """A timer whose loop makes this very call on local variables, without a wrapper function around it."""
        names = {f"a{k}": value for k, value in enumerate(self.args)} | {f"k_{k}": v for k, v in self.kwargs.items()}
        arguments = [*(f"a{k}" for k in range(len(self.args))), *(f"{k}=k_{k}" for k in self.kwargs)]
        setup = "; ".join(["f = _f", *(f"{name} = _{name}" for name in names)])
        scope = {"_f": self.function} | {f"_{name}": value for name, value in names.items()}
        return timeit.Timer(f"f({', '.join(arguments)})", setup, clock, globals=scope)


def call(function: Callable[..., Any], *args: Any, states: int = 1, **kwargs: Any) -> Call:
    """A :class:`Call`, written like the call itself."""
    return Call(function, args, kwargs, states)


def best_of(
    calls: Mapping[K, Call], seconds: float = 0.1, repeat: int = 5, clock: Callable[[], float] = time.process_time
) -> dict[K, float]:
    """Smallest time per state of each call, in seconds; the calls take turns, so that all meet the same machine.

    Processor time by default: on a busy machine long calls are always interrupted and short ones are not, and wall
    time would favour the engine with the shorter calls.

    Parameters
    ----------
    calls : Mapping[K, Call]
    seconds : float
        Time to spend on each call.
    repeat : int
        Smallest number of turns, whatever they cost.
    clock : Callable[[], float]
        ``time.perf_counter`` where several threads work.

    Returns
    -------
    dict[K, float]
    """
    timers = {}
    for key, item in calls.items():
        timer = item.timer(clock)
        once = max(min(timer.timeit(1), timer.timeit(1)), 1e-8)
        timers[key] = timer, max(1, int(TURN / once))
    best = dict.fromkeys(calls, float("inf"))
    deadline = timeit.default_timer() + seconds * len(calls)
    turns = 0
    while turns < repeat or timeit.default_timer() < deadline:
        for key, (timer, number) in timers.items():
            best[key] = min(best[key], timer.timeit(number) / number)
        turns += 1
    return {key: value / calls[key].states for key, value in best.items()}


def deviation(value: Any, reference: Any) -> float:
    """Largest difference of two arrays, relative to the largest element of the reference."""
    value, reference = np.asarray(value, float), np.asarray(reference, float)
    return float(np.max(np.abs(value - reference), initial=0.0) / np.max(np.abs(reference), initial=1e-300))


def require_agreement(what: str, value: Any, reference: Any) -> None:
    """Raise :class:`StudyError` unless two results agree: times of different results say nothing."""
    if not (error := deviation(value, reference)) <= RELATIVE_AGREEMENT:
        raise StudyError(f"{what}: results differ by {error:.1e}, expected at most {RELATIVE_AGREEMENT:g} (relative)")


def machine(*packages: str) -> dict[str, Any]:
    """Processor, system, instruction set chosen by zveno, and versions, for the head of every report."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.partition(":")[2].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = names[0] if names else cpu
    versions = {"python": platform.python_version()}
    for package in ("zveno", "numpy", *packages):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "features": dict(cpu_features()),
        "versions": versions,
    }


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
    versions = machine("pin") if against else machine()
    return Study(versions, sizes, measurements, fits, rival, batches, seed)


def _span(sizes: Sequence[int]) -> str:
    return f"N = {sizes[0]}" if len(sizes) == 1 else f"N = {sizes[0]} to {sizes[-1]}"


def verdict(study: Study) -> list[str]:
    """Plain sentences: who needs the fewest operations, who is fastest, and whether the claim of (002) holds."""
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
        yield f"Yaskevich (002) calls {ours} more efficient than others; here it is: {', '.join(wins)}."
    else:
        best = min(METHODS, key=lambda m: study[m, last].flops)
        factor = study[ours, last].flops / study[best, last].flops
        yield (
            "The claim of Yaskevich (002) that its recurrent algorithm is more efficient than others does not hold: "
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
