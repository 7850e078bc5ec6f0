"""Compiled functions against our kernels, Pinocchio, and C code that CasADi generates from Pinocchio, in one run.

    python bench/compare.py --compiled                    # builds bench/cpp first: five minutes
    python bench/compare.py --compiled --build folder     # keeps the build: three minutes from then on
    python bench/compiled_table.py                        # only the time that compilation takes

Engines take turns, results agree to 1e-9 before anything is timed, the smallest wall time counts; the mean processor
time stands beside it in the JSON file. Every row is written when it is measured. A C call is a
call through a pointer in a C++ loop over 16 states, the same loop for every engine; batches are 10,000 states from
Python on one thread.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import engine_path  # noqa: F401
import numpy as np
import zveno as zv
from compare import PREFIX, URDFS, Case, _parts, build_cpp, robot, write_mechanism
from engines.casadi import CPP, FLAGS, FORMS, CasadiEngine, build_program, compiler
from engines.states import random_states as hexapod_states
from journal import Journal, times_faster
from zveno.study import Array, Call, call, random_chain, require_agreement
from zveno.study import measure as timed_calls

STATES = 16  # calls walk over several states, as in use
BATCH = 10_000
TURN = 500e-6  # seconds
METHODS = {
    "RNEA": ("inverse_dynamics", (None,)),
    "CRBA": ("mass_matrix", (None,)),
    "FD": ("forward_dynamics", (None, "aba", "cholesky")),
    "dRNEA": ("derivatives", (None,)),
}
KERNEL = {"FD": "ABA"}  # names of compare.py
LEVELS = ("strict", "algebraic")
ENGINE_FUNCTIONS = {"RNEA": 0, "CRBA": 1, "FD": 2, "dRNEA": 3}
HEXAPODS = ("UPS", "RUS", "RSU")
COMPILED = (("inverse_dynamics", None), ("mass_matrix", None), ("forward_dynamics", None), ("derivatives", None))
SIZES = (6, 7, 20, 30)

Key = tuple[str, str]  # engine, form
Results = tuple[Array, ...]
Task = tuple[str, Callable[[], Iterable[Any]]]


@dataclass(frozen=True)
class Row:
    """One function of one mechanism by all engines; nanoseconds per state."""

    section: str
    model: str
    function: str
    times: dict[Key, float]
    processor: dict[Key, float] = field(default_factory=dict)

    def best(self, engine: str, prefix: str = "") -> tuple[float, str]:
        """Time and form; infinite where there is none."""
        found = [(t, form) for (e, form), t in self.times.items() if e == engine and form.startswith(prefix)]
        return min(found, default=(float("inf"), ""))


@dataclass(frozen=True)
class Timed:
    """Something that is timed in a C loop: `seconds(rounds)` per call; `results` of all states."""

    seconds: Callable[[int], float]
    results: Callable[[], Results]


def pointers(arrays: Sequence[Array]) -> Any:
    return (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))


def sizes(arrays: Sequence[Array]) -> Any:
    return (ctypes.c_int * len(arrays))(*(x[0].size for x in arrays))


class CallLoop:
    """bench/cpp/call_loop.cpp in this process."""

    def __init__(self, build: Path) -> None:
        path = build / "call_loop.so"
        command = [compiler("CXX", "g++", "c++"), "-std=c++17", "-O2", "-fPIC", "-shared", CPP / "call_loop.cpp"]
        subprocess.run([*command, "-o", path, "-ldl"], check=True)
        self.library = ctypes.CDLL(str(path))
        self.library.make_engine_from.restype = ctypes.c_void_p
        self.library.variant_name.restype = ctypes.c_char_p
        for name in ("time_engine", "time_compiled", "time_casadi"):
            getattr(self.library, name).restype = ctypes.c_double

    def engines(
        self, library: Path, mechanism: Path, function: str, inputs: Sequence[Array]
    ) -> Iterator[tuple[str, Timed]]:
        """Every variant of a module that implements engine.hpp."""
        engine = self.library.make_engine_from(str(library).encode(), str(mechanism).encode())
        if not engine:
            raise RuntimeError(f"{library} cannot be loaded")
        index, n = ENGINE_FUNCTIONS[function], inputs[0].shape[1]
        shape = (n, n) if function in ("CRBA", "dRNEA") else (n,)
        variant = 0
        while name := self.library.variant_name(ctypes.c_void_p(engine), index, variant):
            results = np.empty((STATES, *shape))

            def run(rounds: int, wanted: Array | None = None, variant: int = variant) -> float:
                out = None if wanted is None else ctypes.c_void_p(wanted.ctypes.data)
                size = 0 if wanted is None else wanted[0].size
                arguments = pointers(inputs), n, STATES, rounds, out, size
                return float(self.library.time_engine(ctypes.c_void_p(engine), index, variant, *arguments))

            def collect(run: Callable[..., float] = run, results: Array = results) -> Results:
                run(1, results)
                if function != "CRBA":
                    return (results,)
                # Pinocchio fills the upper triangle, stored by columns
                return (np.tril(results) + np.swapaxes(np.tril(results, -1), 1, 2),)

            yield name.decode(), Timed(run, collect)
            variant += 1

    def compiled(self, f: Any, inputs: Sequence[Array]) -> Timed:
        """Machine code of a compiled function; judged by nobody, as in a control program."""
        given = list(inputs[: len(f._full.inputs)])
        out = [np.empty((STATES, *x.shape)) for x in f._full.outputs]

        def run(rounds: int) -> float:
            parts = pointers(given), sizes(given), len(given), pointers(out), sizes(out), len(out)
            return float(self.library.time_compiled(ctypes.c_void_p(f.machine.scalar), *parts, STATES, rounds))

        def collect() -> Results:
            run(1)
            return tuple(out[: len(f.graph.outputs)])

        return Timed(run, collect)

    def casadi(
        self, engine: CasadiEngine, form: str, inputs: Sequence[Array], shapes: Sequence[tuple[int, ...]]
    ) -> Timed:
        given = list(inputs[:1] if form.startswith("crba") else inputs)
        out = [np.empty((STATES, *shape)) for shape in shapes]
        work = engine.work(form)

        def run(rounds: int) -> float:
            parts = pointers(given), sizes(given), len(given), pointers(out), sizes(out), len(out)
            address, scratch = map(ctypes.c_void_p, (engine.address(form), work.ctypes.data))
            return float(self.library.time_casadi(address, *parts, scratch, STATES, rounds))

        def collect() -> Results:
            run(1)
            return tuple(out)

        return Timed(run, collect)


def best_in_turns(timed: dict[Key, Timed], seconds: float) -> tuple[dict[Key, float], dict[Key, float]]:
    """Nanoseconds per call, the smallest wall time and the mean processor time; everybody takes turns."""
    rounds = {}
    for key, item in timed.items():
        item.seconds(1)
        rounds[key] = max(1, int(TURN / max(item.seconds(1) * STATES, 1e-8)))
    best, processor = dict.fromkeys(timed, float("inf")), dict.fromkeys(timed, 0.0)
    deadline = time.perf_counter() + seconds * len(timed)
    turns = 0
    while turns < 5 or time.perf_counter() < deadline:
        for key, item in timed.items():
            before = time.process_time()
            best[key] = min(best[key], item.seconds(rounds[key]))
            processor[key] += (time.process_time() - before) / (rounds[key] * STATES)
        turns += 1
    return {key: 1e9 * x for key, x in best.items()}, {key: 1e9 * x / turns for key, x in processor.items()}


def in_turns(calls: dict[Key, Call], seconds: float) -> tuple[dict[Key, float], dict[Key, float]]:
    """The same for calls from Python."""
    measured = timed_calls(calls, seconds)
    return {k: 1e9 * t.wall for k, t in measured.items()}, {k: 1e9 * t.processor for k, t in measured.items()}


class CompiledCase(Case):
    """A robot in all engines, and its compiled functions."""

    def __init__(self, name: str, build: Path, program: Path) -> None:
        super().__init__(robot(name))
        self.mechanism = build / f"{name}.txt"
        write_mechanism(self.chain, self.mechanism)
        snapped = build / f"{name}-snapped.txt"
        snapped.write_text("".join(map(snap, self.mechanism.read_text().splitlines(keepends=True))))
        self.casadi = CasadiEngine(program, snapped, build / name)
        self.functions: dict[tuple[str, str], Any] = {}
        for function, (method, forms) in METHODS.items():
            for form in forms:
                for level in LEVELS:
                    key = function, f"{form or ''} {level}".strip()
                    self.functions[key] = self.chain.compile(method, method=form, level=level)

    def compiled(self, function: str) -> dict[str, Any]:
        return {form: f for (name, form), f in self.functions.items() if name == function}

    def shapes(self, function: str) -> list[tuple[int, ...]]:
        n = self.chain.n
        return {"RNEA": [(n,)], "CRBA": [(n, n)], "FD": [(n,)], "dRNEA": [(n, n)] * 3}[function]

    def states(self, function: str, count: int | None) -> tuple[Array, ...]:
        return self.arguments(KERNEL.get(function, function), count)

    def c_calls(self, loop: CallLoop, build: Path, function: str) -> Row:
        """One state at a time, from C."""
        inputs = [np.ascontiguousarray(x) for x in self.states(function, STATES)]
        expected = self.kernel(function, tuple(inputs))
        timed: dict[Key, Timed] = {}
        for form, f in self.compiled(function).items():
            timed["compiled", form] = loop.compiled(f, inputs)
        for form in FORMS[function]:
            timed["CasADi", form] = loop.casadi(self.casadi, form, inputs, self.shapes(function))
        ours = f"zveno-{zv.cpu_features()['selected']}"
        libraries = {"kernel": [ours], "Pinocchio": ["pinocchio-shipped", "pinocchio-native"]}
        for engine, names in libraries.items():
            for name in names:
                for form, item in loop.engines(build / f"{name}.so", self.mechanism, function, inputs):
                    timed[engine, f"{name.removeprefix('pinocchio-')} {form}"] = item
        for (engine, form), item in timed.items():
            for value, reference in zip(item.results(), expected, strict=False):
                require_agreement(f"C call {function}, {self.chain.name}, {engine} {form}", value, reference)
        return Row("C call", self.chain.name, function, *best_in_turns(timed, self.seconds))

    def python_calls(self, function: str, states: int | None) -> Iterator[Row]:
        """One state or a batch, from Python; one state also into an array that is there, as CasADi's calls do."""
        arguments = self.states(function, states)
        section = "Python call" if states is None else "batch"
        many = {} if states is None else {"threads": 1, "states": states}
        calls: dict[Key, Call] = {("kernel", ""): self.zveno(KERNEL.get(function, function), arguments)}
        for form, f in self.compiled(function).items():
            inputs = arguments[: len(f.graph.inputs)]
            calls["compiled", form] = call(f, *inputs, **many)
            if states is None:
                calls["out=", form] = call(f, *inputs, out=f(*inputs))
        for form, item in self.pinocchio(KERNEL.get(function, function), arguments):
            calls["Pinocchio", form] = item
        shapes = [(*arguments[0].shape[:-1], *shape) for shape in self.shapes(function)]
        for form in FORMS[function]:
            calls["CasADi", form] = self.casadi.calls(form, arguments, shapes)
        expected = _parts(calls["kernel", ""]())
        for (engine, form), item in calls.items():
            for value, reference in zip(_parts(item()), expected, strict=True):
                what = f"{section} {function}, {self.chain.name}, {engine} {form}"
                require_agreement(what, value, reference[: len(value)])
        both = in_turns(calls, self.seconds)

        def kept(name: str, other: str) -> list[dict[Key, float]]:
            """Wall and processor times with `name` as the compiled form, without the `other`."""
            return [
                {("compiled" if key[0] == name else key[0], key[1]): t for key, t in x.items() if key[0] != other}
                for x in both
            ]

        yield Row(section, self.chain.name, function, *kept("compiled", "out="))
        if states is None:
            yield Row(f"{section}, out=", self.chain.name, function, *kept("out=", "compiled"))

    def operations(self) -> Iterator[str]:
        """Rows of a table: the shortest form of every engine."""
        for function in METHODS:
            cells = [self.chain.name, function]
            for level in LEVELS:
                forms = [f for form, f in self.compiled(function).items() if form.endswith(level)]
                shortest = min(forms, key=lambda f: f.graph.instructions)
                cells.append(f"{numbers(shortest.operations)}, {shortest.graph.instructions}")
            theirs = min((self.casadi.operations(form) for form in FORMS[function]), key=lambda count: count.total)
            yield f"| {' | '.join([*cells, numbers(theirs)])} |"

    def kernel(self, function: str, inputs: tuple[Array, ...]) -> Results:
        return tuple(map(np.array, _parts(self.zveno(KERNEL.get(function, function), inputs)())))

    seconds = 1.0


def numbers(count: zv.OpCount) -> str:
    return f"{count.mul} / {count.add} / {count.div}"


def snap(line: str) -> str:
    """Axis, position and rotation of a joint without the rounding of right angles: CasADi folds zeros and ones only."""
    words = line.split()
    for k in range(2, 17):
        if len(words) > 17 and abs(float(words[k]) - round(float(words[k]))) < 1e-10:
            words[k] = repr(float(round(float(words[k]))))
    return " ".join(words) + "\n"


def hexapod_row(kind: str, states: int | None, seconds: float) -> Row:
    """Forward dynamics compiled and by the kernels, from Python."""
    hexapod = zv.mechanisms.docking_ring(kind)
    arguments = hexapod_states(hexapod, states)
    many: dict[str, Any] = {} if states is None else {"threads": 1, "states": states}
    calls: dict[Key, Call] = {("kernel", ""): call(hexapod.forward_dynamics, *arguments, **many)}
    for level in LEVELS:
        f = hexapod.compile("forward_dynamics", level=level)
        calls["compiled", level] = call(f, *arguments, **many)
    expected = np.array(calls["kernel", ""]().reaction)
    for (engine, form), item in calls.items():
        require_agreement(f"hexapod {kind}, {engine} {form}", item().reaction, expected)
    return Row("Python call" if states is None else "batch", kind, "hexapod FD", *in_turns(calls, seconds))


def build_engines(build: Path) -> dict[str, str]:
    """Everything that is compiled before the measurement; flags by engine."""
    ours = f"zveno-{zv.cpu_features()['selected']}"
    targets, shown = (ours, "pinocchio-shipped", "pinocchio-native"), ("chain_double.cpp", "pinocchio_engine.cpp")
    flags = build_cpp(build, targets, shown)
    return flags | {"CasADi (C)": " ".join(FLAGS)}


def measure(build: Path, cases: Sequence[CompiledCase], seconds: float) -> Iterator[Task]:
    """All comparisons."""
    loop = CallLoop(build)
    for case in cases:
        case.seconds = seconds
        name = case.chain.name
        for function in METHODS:
            yield f"C call {function} {name}", lambda c=case, f=function: [c.c_calls(loop, build, f)]
        for states in (None, BATCH):
            for function in METHODS:
                yield f"Python {function} {name}", lambda c=case, f=function, s=states: c.python_calls(f, s)
    for states in (None, BATCH):
        for kind in HEXAPODS:
            yield f"hexapod FD {kind}", lambda k=kind, s=states: [hexapod_row(k, s, seconds)]


def line(row: Row) -> str:
    """A row for people as it comes; the tables follow at the end."""
    ours = row.best("compiled")[0]
    rivals = [(engine, row.best(engine)[0]) for engine in ("kernel", "Pinocchio", "CasADi")]
    ratios = [f"{engine} {times_faster(t, ours):.1f}x" for engine, t in rivals if t != float("inf")]
    return f"{row.section:18}{row.model:8}{row.function:12}{ours:10,.0f} ns  {', '.join(ratios)}"


def plain(row: Row) -> dict[str, Any]:
    times = {name: {" ".join(key): t for key, t in x.items()} for name, x in vars(row).items() if isinstance(x, dict)}
    return {"section": row.section, "model": row.model, "function": row.function} | times


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Markdown, a table for each section; ratios are times faster than the best form of the other engine."""

    def cell(pair: tuple[float, str]) -> str:
        value, form = pair
        return "" if value == float("inf") else f"{value:,.0f}" + (f" ({form})" if form else "")

    for section in dict.fromkeys(row.section for row in rows):
        yield f"\n{section}, ns per state\n"
        yield "| | | strict | algebraic | kernel | Pinocchio | CasADi | over Pinocchio | over CasADi |"
        yield "|---|---|---|---|---|---|---|---|---|"
        for row in (row for row in rows if row.section == section):
            compiled = [form for engine, form in row.times if engine == "compiled"]
            forms = dict.fromkeys(form.removesuffix(level) for form in compiled for level in LEVELS if level in form)
            for form in forms:
                ours = [row.times["compiled", f"{form}{level}"] for level in LEVELS]
                cells = [row.model, f"{row.function} {form}".strip(), *(f"{t:,.0f}" for t in ours)]
                cells.append(cell((row.best("kernel")[0], "")))
                rivals = [row.best("Pinocchio"), row.best("CasADi")]
                cells += map(cell, rivals)
                for engine, (theirs, rival) in zip(("Pinocchio", "CasADi"), rivals, strict=True):
                    ratios = " / ".join(f"{times_faster(theirs, t):.1f}x" for t in ours)
                    cells.append("" if theirs == float("inf") else ratios + by_processor(row, form, (engine, rival)))
                yield f"| {' | '.join(cells)} |"


def by_processor(row: Row, form: str, rival: Key) -> str:
    """The same ratios by processor time, where they tell another story: the machine was busy with other work."""
    theirs, wall = row.processor.get(rival), row.times[rival]
    if theirs is None:
        return ""
    pairs = [
        (times_faster(wall, row.times[key]), times_faster(theirs, row.processor.get(key, 0.0)))
        for key in (("compiled", f"{form}{level}") for level in LEVELS)
    ]
    if all(not abs(x - y) > 0.2 * x for x, y in pairs):
        return ""
    return f" (processor {' / '.join(f'{y:.1f}x' for _, y in pairs)})"


def compile_times() -> Iterator[str]:
    """Markdown: seconds of processor time to trace and to compile."""
    models: dict[str, Any] = {f"n = {n}": random_chain(n) for n in SIZES} | {"Panda": robot("Panda")}
    models |= {f"hexapod {kind}": zv.mechanisms.docking_ring(kind) for kind in HEXAPODS}
    yield "| | function | method | nodes | trace, s | compile, s | algebraic: nodes | trace, s | compile, s |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, model in models.items():
        for function, method in COMPILED if name[:1] != "h" else (("forward_dynamics", None),):
            cells = [name, function]
            for level in LEVELS:
                options = {"level": level} | ({} if method is None else {"method": method})
                try:
                    start = time.process_time()
                    traced = model.trace(function, **options)
                    middle = time.process_time()
                    model.compile(function, **options)  # traces again
                except zv.Error as error:
                    cells += ([""] if level == "strict" else []) + [type(error).__name__, "", ""]
                    continue
                cells += [traced.options.get("method") or ""] if level == "strict" else []
                trace, both = middle - start, time.process_time() - middle
                cells += [f"{len(traced.graph):,}", f"{trace:.2f}", f"{both - trace:.2f}"]
            yield f"| {' | '.join(cells)} |"


def report(head: dict[str, Any], build: Path | None, seconds: float, json_file: Path | None) -> None:
    """Build, measure, print; `build` None: a temporary folder."""
    times = list(compile_times())  # first: code that is in use is not compiled again
    print("\n".join(["\nTime of compilation\n", *times]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        where = (build or Path(folder)).resolve()
        where.mkdir(parents=True, exist_ok=True)
        head["flags"] = build_engines(where)
        print(json.dumps(head["flags"], indent=2))
        program = build_program(where, PREFIX)
        cases = [CompiledCase(name, where, program) for name in URDFS]
        counts = ["| | | strict | algebraic | CasADi |", "|---|---|---|---|---|"]
        counts += [text for case in cases for text in case.operations()]
        print("\n".join(["\nMultiplications / additions / divisions, instructions\n", *counts, ""]), flush=True)
        journal = Journal(head, json_file, line, plain)
        journal.more = {"compilation": times, "operations": counts}
        for task in measure(where, cases, seconds):
            journal.attempt(*task)
    print("\n".join(table(journal.rows)))
    journal.finish()


if __name__ == "__main__":
    print("\n".join(compile_times()))
