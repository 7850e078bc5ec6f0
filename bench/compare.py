"""Zveno against Pinocchio and MuJoCo in one run: engines agree first, then take turns; the smallest wall time counts.

    python bench/compare.py                 # calls and batches from Python
    python bench/compare.py --hexapod       # hexapods of every leg type instead of chains
    python bench/compare.py --linkage       # closed mechanisms instead
    python bench/compare.py --compiled      # compiled functions, also against CasADi (needs it, llvmlite and cmake)
    python bench/compare.py --cpp           # also C++ against C++, built from bench/cpp
    python bench/compare.py --quick         # a minute instead of ten

Ratios are "times faster": the best form of the other engine over ours, by the smallest wall time of a turn; beside it
the same by the mean processor time of all turns. Where the two differ the machine was busy and long turns were
interrupted: such rows are marked "disturbed", and the smaller ratio is the better guess. Every row is printed when it
is measured and written to the file of --json at once; a measurement that fails is listed at the end.

`pip install "zveno[bench]"` brings what all of this needs but for a C++ compiler.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import engine_path  # noqa: F401
import loops_table
import mujoco
import numpy as np
import pinocchio as pin
from engines import hexapods as engines
from engines.cut import text
from engines.mujoco import to_mujoco
from engines.states import random_states as hexapod_states
from journal import Journal, times_faster
from zveno import Chain, Hexapod, Link, cpu_features
from zveno.mechanisms import docking_ring
from zveno.study import (
    RELATIVE_AGREEMENT,
    Array,
    Call,
    StudyError,
    Times,
    call,
    deviation,
    machine,
    random_chain,
    random_states,
    require_agreement,
    to_pinocchio,
)
from zveno.study import measure as timed

try:
    from mujoco.batch import Batch
except ImportError:  # before MuJoCo 4
    Batch = None

NEVER = Times(float("inf"), float("nan"), float("nan"))
FUNCTIONS = ("RNEA", "CRBA", "ABA")
DERIVATIVES = ("dRNEA", "dABA")  # three matrices each
CONVENTIONS = {"local": pin.Convention.LOCAL, "world": pin.Convention.WORLD}
PREFIX = next(parent for parent in Path(pin.__file__).parents if parent.name == "cmeel.prefix")
URDFS = {
    "UR5": ("ur_description/urdf/ur5_robot.urdf", ()),
    "Panda": ("panda_description/urdf/panda.urdf", ("panda_leftfinger", "panda_rightfinger")),
}
# of Pinocchio in a batch: its turns stay short against a time slice of the system, its time per state is that of any
# number
PINOCCHIO_STATES = 1000
HEXAPOD_BATCH = 10_000
HEXAPOD_STATES = 64  # of the other engines, whose time for a state does not depend on their number
LINKAGE_BATCH = 1000
LINKAGE_STATES = 8
# Pinocchio regularises constraints that depend on each other
REGULARISED_AGREEMENT = 1e-7
# MuJoCo's constraints are soft, however hard they are set
SOFT_AGREEMENT = 1e-3
SHORT = {"constraintDynamics": "constraint"}  # names of forms that fit into the table
# accelerations of longer chains are lost to rounding in every engine: compare the efforts that they need
WELL_CONDITIONED = 100


@dataclass(frozen=True)
class Row:
    """One comparison; times in nanoseconds per state, wall time but for the last two: mean processor time."""

    section: str
    model: str
    function: str
    ours: float
    rival: str
    theirs: float
    ours_processor: float = float("nan")
    theirs_processor: float = float("nan")

    @property
    def ratio(self) -> float:
        return times_faster(self.theirs, self.ours)

    @property
    def processor_ratio(self) -> float:
        return times_faster(self.theirs_processor, self.ours_processor)


def row_of(section: str, model: str, function: str, ours: Times, rival: str, theirs: Times) -> Row:
    processor = 1e9 * ours.processor, 1e9 * theirs.processor
    return Row(section, model, function, 1e9 * ours.wall, rival, 1e9 * theirs.wall, *processor)


Task = tuple[str, Callable[[], Iterable[Row]]]  # what is measured, and the measurement


def robot(name: str) -> Chain:
    """A URDF of example-robot-data, its gripper joints locked."""
    path, locked = URDFS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        chain = Chain.from_urdf(PREFIX / "share/example-robot-data/robots" / path, name=name)
        free = dict.fromkeys(("lower", "upper", "velocity", "effort")) | {"rotor_inertia": 0.0, "friction": 0.0}
        links = [link.to_dict() | (free | {"joint": "fixed"} if link.name in locked else {}) for link in chain.links]
        return Chain(map(Link.from_dict, links), name=name, base=chain.base_name, gravity=chain.gravity)


class Case:
    """A mechanism in all engines: calls that do the same work."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        model = to_pinocchio(chain)
        self.pin = model, model.createData()

    def arguments(self, function: str, states: int | None = None) -> tuple[Array, Array, Array]:
        """q, qd and qdd, or the effort that belongs to them for forward dynamics; one state or a batch."""
        q, qd, qdd = random_states(self.chain.n, states)
        return q, qd, self.chain.inverse_dynamics(q, qd, qdd) if function.endswith("ABA") else qdd

    def zveno(self, function: str, arguments: tuple[Array, ...], threads: int = 1) -> Call:
        q, qd, x = arguments
        method, args = {
            "RNEA": (self.chain.inverse_dynamics, (q, qd, x)),
            "CRBA": (self.chain.mass_matrix, (q,)),
            "ABA": (self.chain.forward_dynamics, (q, qd, x)),
            "dRNEA": (self.chain.derivatives, (q, qd, x)),
            "dABA": (self.chain.forward_derivatives, (q, qd, x)),
        }[function]
        many = {"threads": threads, "states": len(q)} if q.ndim > 1 else {}
        return call(method, *args, **many)

    def pinocchio(self, function: str, arguments: tuple[Array, ...]) -> Iterator[tuple[str, Call]]:
        """All forms Pinocchio offers from Python for this function, alone or for a batch on one thread."""
        q, qd, x = arguments
        model, data = self.pin
        if function == "RNEA":
            forms = {"": (pin.rnea, (q, qd, x), ())}
        elif function == "CRBA":
            forms = {name: (pin.crba, (q,), (convention,)) for name, convention in CONVENTIONS.items()}
        elif function == "ABA":
            forms = {name: (pin.aba, (q, qd, x), (convention,)) for name, convention in CONVENTIONS.items()}
        else:
            derivatives = {"dRNEA": pin.computeRNEADerivatives, "dABA": pin.computeABADerivatives}
            forms = {"": (derivatives[function], (q, qd, x), ())}
        for name, (method, args, options) in forms.items():
            if q.ndim == 1:
                yield name, call(method, model, data, *args, *options)
            else:
                some = [x[:PINOCCHIO_STATES] for x in args]
                yield f"loop {name}".strip(), call(_loop(method, model, data, options), *some, states=len(some[0]))
        parallel = {"RNEA": pin.rneaInParallel, "ABA": pin.abaInParallel}.get(function)
        if q.ndim > 1 and parallel is not None:
            q, qd, x = (y[:PINOCCHIO_STATES] for y in arguments)
            out = np.empty_like(q)
            # columns are states: the transposes of our rows are exactly what it wants, without a copy
            args = (1, pin.ModelPool(model, 1), q.T, qd.T, x.T, out.T)

            def run(*args: Any) -> Array:
                parallel(*args)
                return out

            yield "inParallel", call(run, *args, states=len(q))

    def mujoco(self, function: str, arguments: tuple[Array, ...]) -> Call | None:
        """The least MuJoCo has to do for this function, from Python, one state."""
        q, qd, x = arguments
        if function in DERIVATIVES or q.ndim > 1:
            return None
        model = to_mujoco(self.chain)
        data = mujoco.MjData(model)
        result = np.empty((model.nv, model.nv) if function == "CRBA" else model.nv)

        def mass_matrix(q: Array) -> Array:
            data.qpos[:] = q
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_makeM(model, data)
            mujoco.mj_fullM(model, data, result)
            return result

        def inverse(q: Array, qd: Array, qdd: Array) -> Array:
            data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            mujoco.mj_comVel(model, data)
            mujoco.mj_rne(model, data, 1, result)
            return result

        def forward(q: Array, qd: Array, tau: Array) -> Array:
            data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
            mujoco.mj_forward(model, data)
            return data.qacc

        return {"RNEA": call(inverse, q, qd, x), "CRBA": call(mass_matrix, q), "ABA": call(forward, q, qd, x)}[function]


def _loop(method: Callable[..., Any], model: Any, data: Any, options: tuple[Any, ...]) -> Callable[..., Any]:
    """The plain Python loop over a batch, results gathered in one array, or one for each part of a tuple."""

    def array(q: Array, *others: Array) -> Array:
        out = np.empty((*q.shape, model.nv) if method is pin.crba else q.shape)
        for k, state in enumerate(zip(q, *others, strict=True)):
            out[k] = method(model, data, *state, *options)
        return out

    def derivatives(*batches: Array) -> tuple[Array, ...]:
        out = np.empty((3, len(batches[0]), model.nv, model.nv))
        for k, state in enumerate(zip(*batches, strict=True)):
            out[0, k], out[1, k], out[2, k] = method(model, data, *state)
        return tuple(out)

    return derivatives if method in (pin.computeRNEADerivatives, pin.computeABADerivatives) else array


def _parts(result: Any) -> tuple[Any, ...]:
    """The three derivatives, or the only array."""
    return result if isinstance(result, tuple) else (result,)


def compare(case: Case, section: str, function: str, states: int | None, seconds: float) -> Iterator[Row]:
    """Check that all engines agree, time them in turns, keep the best form of each."""
    chain = case.chain
    arguments = case.arguments(function, states)
    calls: dict[tuple[str, str], Call] = {("zveno", ""): case.zveno(function, arguments)}
    calls |= {("Pinocchio", form): item for form, item in case.pinocchio(function, arguments)}
    other = case.mujoco(function, arguments)
    if other is not None:
        calls["MuJoCo", ""] = other

    def result(item: Call) -> tuple[Any, ...]:
        value = item()
        if function == "ABA" and chain.n > WELL_CONDITIONED:
            states = [x[: len(value)] for x in arguments[:2]]
            return (chain.inverse_dynamics(*states, np.array(value)),)
        return _parts(value)

    expected = result(calls["zveno", ""])
    for (engine, form), item in calls.items():
        for value, reference in zip(result(item), expected, strict=True):
            require_agreement(
                f"{section} {function}, {chain.name}, zveno and {engine} {form}", value, reference[: len(value)]
            )
    times = timed(calls, seconds)
    for engine in dict.fromkeys(name for name, _ in calls if name != "zveno"):
        form, theirs = min(((f, t) for (e, f), t in times.items() if e == engine), key=lambda pair: pair[1])
        yield row_of(section, chain.name, function, times["zveno", ""], f"{engine} {form}".strip(), theirs)


def compare_threads(case: Case, function: str, states: int, seconds: float) -> Row:
    """Two threads against one, same batch; equal bit for bit."""
    arguments = case.arguments(function, states)
    calls = {threads: case.zveno(function, arguments, threads) for threads in (1, 2)}
    if not np.array_equal(calls[1](), calls[2]()):
        raise StudyError(f"{function}, {case.chain.name}: results depend on the number of threads")
    times = timed(calls, seconds)
    return row_of("threads", case.chain.name, function, times[2], "one thread", times[1])


def write_mechanism(chain: Chain, path: Path) -> None:
    """The moving joints with merged fixed links as plain numbers, the input of bench/cpp."""
    model = to_pinocchio(chain)
    moving = [link for link in chain.links if link.joint != "fixed"]
    lines = [f"{chain.name} {chain.n} {text(chain.gravity)}"]
    for k, link in enumerate(moving, start=1):
        placement, body = model.jointPlacements[k], model.inertias[k]
        numbers = text(link.axis / np.linalg.norm(link.axis), placement.translation, placement.rotation)
        lines.append(f"{model.parents[k] - 1} {link.joint[0]} {numbers} {text(body.mass, body.lever, body.inertia)}")
    path.write_text("\n".join(lines) + "\n")


def build_cpp(build: Path, targets: tuple[str, ...] = (), shown: tuple[str, ...] = ()) -> dict[str, str]:
    """Build bench/cpp with this source tree and the installed engines; flags of the objects of these source files."""
    source = Path(__file__).parent / "cpp"
    cmake = shutil.which("cmake") or sys.exit("compare.py: --cpp needs cmake")
    options = [f"-DPINOCCHIO_PREFIX={PREFIX}", f"-DMUJOCO_DIR={Path(mujoco.__file__).parent}"]
    configure = [cmake, "-G", "Ninja", "-S", source, "-B", build, *options, "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    only = ["--target", *targets] if targets else []
    for command in (configure, [cmake, "--build", build, "--parallel", "2", *only]):
        subprocess.run(command, check=True, stdout=sys.stderr)
    flags = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if Path(entry["file"]).name in shown:
            words = entry["command"].split()
            target = next(part for part in Path(words[words.index("-o") + 1]).parts if part.endswith(".dir"))
            flags[target.removesuffix(".dir")] = " ".join(w for w in words if w.startswith(("-O", "-m", "-f")))
    return flags


def compare_cpp(chains: list[Chain], build: Path, seconds: float) -> Iterator[Row]:
    """Run bench/cpp; the instruction set zveno selects here against the best form of Pinocchio."""
    for chain in chains:
        mechanism = build / f"{chain.name}.txt"
        write_mechanism(chain, mechanism)
        ours = [f"zveno-{isa}" for isa in cpu_features()["available"]]
        engines = [build / f"{name}.so" for name in (*ours, "pinocchio-shipped", "pinocchio-native")]
        command = [build / "compare_pinocchio", mechanism, str(seconds), *engines]
        output = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout
        rows = [line.split("\t") for line in output.splitlines()]
        length = "" if chain.name in URDFS else " long"
        selected = f"zveno-{cpu_features()['selected']}"
        for function in dict.fromkeys(row[0] for row in rows):
            times = {(e, v): float(t) for f, e, v, t in rows if f == function}
            rival, theirs = min(((k, t) for k, t in times.items() if k[0] not in ours), key=lambda pair: pair[1])
            for section, form in (("C++", "run-time kernels"), ("C++ batch", "batch")):
                time = times[selected, form]
                yield Row(section + length, chain.name, function, time, " ".join(rival), theirs)


class HexapodCase:
    """A docking ring in all engines. The others are given joint coordinates that close the loops."""

    def __init__(self, kind: str) -> None:
        self.kind, self.hexapod = kind, docking_ring(kind)
        ref = engines.hd.from_model(self.hexapod)
        arguments = hexapod_states(self.hexapod, HEXAPOD_STATES)
        result = self.hexapod.forward_dynamics(*arguments)
        closed = result.joint_position, result.joint_velocity, result.acceleration
        self.states = engines.States(*arguments, *map(np.array, closed))
        self.pinocchio, self.mujoco = {}, {}
        for form in engines.FORMS:
            tree = engines.Tree(ref, form)
            self.pinocchio[form] = engines.Pinocchio(tree, self.states)
            self.mujoco[form] = engines.MuJoCo(tree, self.states, tolerance="1e-14")

    def require_agreement(self) -> None:
        """Accelerations of the ring in all states: Pinocchio's to rounding, MuJoCo's as far as its softness lets it."""
        errors = {}
        for form, twin in self.pinocchio.items():
            for name, loop in twin.loops():
                errors[f"Pinocchio {name}, ring {form}"] = twin.deviation(self.states, loop()), RELATIVE_AGREEMENT
        for form, twin in self.mujoco.items():
            errors[f"MuJoCo, ring {form}"] = twin.deviation(self.states), SOFT_AGREEMENT
        for name, (error, most) in errors.items():
            if not error <= most:
                raise StudyError(
                    f"hexapod {self.kind}, zveno and {name}: results differ by {error:.1e}, at most {most:g}"
                )

    def single(self) -> Iterator[tuple[str, str, Call]]:
        """Engine, form, call for one state."""
        yield "zveno", "", call(self.hexapod.forward_dynamics, *hexapod_states(self.hexapod))
        for form, twin in self.pinocchio.items():
            for name, run in twin.calls():
                yield "Pinocchio", f"{SHORT.get(name, name)} {form}", call(run)
        for form, twin in self.mujoco.items():
            yield "MuJoCo", form, call(twin.call())

    def batch(self) -> Iterator[tuple[str, str, Call]]:
        """Engine, form, call for many states on one thread."""
        arguments = hexapod_states(self.hexapod, HEXAPOD_BATCH)
        yield "zveno", "", call(self.hexapod.forward_dynamics, *arguments, threads=1, states=HEXAPOD_BATCH)
        for form, twin in self.pinocchio.items():
            for name, run in twin.loops():
                yield "Pinocchio", f"loop {SHORT.get(name, name)} {form}", call(run, states=HEXAPOD_STATES)
        for form, twin in self.mujoco.items():
            yield "MuJoCo", f"loop {form}", call(twin.loop(), states=HEXAPOD_STATES)
            if Batch is not None:
                yield "MuJoCo", f"Batch {form}", call(_mujoco_batch(twin), states=HEXAPOD_STATES)

    def compare(self, section: str, seconds: float) -> Iterator[Row]:
        """Time all engines in turns; the best form of each."""
        items = self.single() if section == "hexapod single" else self.batch()
        calls = {(engine, form): item for engine, form, item in items}
        times = timed(calls, seconds)
        return self.rows(section, times.pop(("zveno", "")), times)

    def rows(self, section: str, ours: Times, times: dict[tuple[str, str], Times]) -> Iterator[Row]:
        best: dict[str, tuple[Times, str]] = {}
        for (engine, form), theirs in times.items():
            best[engine] = min(best.get(engine, (theirs, form)), (theirs, form))
        for engine, (theirs, form) in best.items():
            yield row_of(section, self.kind, "FD", ours, f"{engine} {form}", theirs)

    def compare_threads(self, seconds: float) -> Row:
        """Two threads against one, same batch; equal bit for bit."""
        arguments = hexapod_states(self.hexapod, HEXAPOD_BATCH)
        calls = {
            threads: call(self.hexapod.forward_dynamics, *arguments, threads=threads, states=HEXAPOD_BATCH)
            for threads in (1, 2)
        }
        one, two = (np.array(calls[threads]().reaction) for threads in (1, 2))
        if not np.array_equal(one, two):
            raise StudyError(f"hexapod {self.kind}: results depend on the number of threads")
        times = timed(calls, seconds)
        return row_of("hexapod threads", self.kind, "FD", times[2], "one thread", times[1])

    def compare_cpp(self, build: Path, seconds: float) -> Iterator[Row]:
        """Programs of bench/cpp in turns, a call for each state; the smallest time of every engine and form counts."""
        selected = cpu_features()["selected"]
        commands: dict[tuple[str, str], list[Any]] = {}
        path = build / f"{self.kind}.txt"
        write_hexapod(self.hexapod, self.states, path)
        commands["zveno", ""] = [build / f"hexapod_zveno-{selected}", path]
        for form, twin in self.pinocchio.items():
            path = build / f"{self.kind}-{form}.txt"
            twin.write(self.states, path)
            for kind in ("shipped", "native"):
                commands["Pinocchio", f"{kind} {form}"] = [build / f"hexapod_pinocchio-{kind}", path]
        for form, other in self.mujoco.items():
            model, path = build / f"{self.kind}-{form}.mjb", build / f"{self.kind}-{form}-mujoco.txt"
            mujoco.mj_saveModel(other.model, str(model))
            accelerations = [text(*row) for row in zip(other.q, other.v, other.tau, other.loop()(), strict=True)]
            path.write_text("\n".join([str(len(accelerations)), *accelerations]) + "\n")
            commands["MuJoCo", form] = [build / "hexapod_mujoco", model, path]
        times: dict[tuple[str, str], Times] = {}
        rounds = 3
        for _ in range(rounds):
            for (engine, form), command in commands.items():
                words = [*command, str(seconds / rounds)]
                output = subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE).stdout
                for function, item in json.loads(output).items():
                    if not item["deviation"] <= RELATIVE_AGREEMENT:
                        raise StudyError(
                            f"hexapod {self.kind}, {engine} {function} in C++: off by {item['deviation']:.1e}"
                        )
                    key = engine, f"{SHORT.get(function, function)} {form}" if engine == "Pinocchio" else form
                    times[key] = min(times.get(key, NEVER), Times(1e-9 * item["ns"], *NEVER[1:]))
        return self.rows("hexapod C++", times.pop(("zveno", "")), times)


def _mujoco_batch(twin: engines.MuJoCo) -> Callable[[], Array]:
    """MuJoCo's own batch on one thread; each state starts from its own solution."""
    batch = Batch(twin.model, nsim=len(twin.q), nthread=1)
    q, v, tau, acceleration = map(batch.bind, ("qpos", "qvel", "qfrc_applied", "qacc"))

    def run() -> Array:
        q[:], v[:], tau[:] = twin.q, twin.v, twin.tau
        batch.forward()
        return acceleration

    expected = twin.loop()()
    if not (error := deviation(run(), expected)) <= SOFT_AGREEMENT:
        raise StudyError(f"MuJoCo's batch and loop differ by {error:.1e}")
    return run


def write_hexapod(hexapod: Hexapod, states: engines.States, path: Path) -> None:
    """Model, states and accelerations as plain numbers, the input of bench/cpp/hexapod_zveno."""

    def body(b: Any) -> str:
        return text(b.mass, b.com, b.inertia)

    lines = [text(hexapod.gravity), body(hexapod.platform)]
    for leg in hexapod.legs:
        frames = leg.base_frame, leg.ring_frame, leg.crank_frame, leg.tip_frame
        kind = engines.TYPES.index(leg.type)
        parts = text(kind, leg.base, leg.ring, *frames, leg.inner_length, leg.outer_length)
        drive = text(leg.reflected, leg.elbow, leg.spin_branch)
        lines.append(f"{parts} {body(leg.inner)} {body(leg.outer)} {drive}")
    lines.append(str(len(states)))
    rows = zip(states.r, states.R, states.u, states.wrench, states.tau, states.acceleration, strict=True)
    path.write_text("\n".join([*lines, *(text(*row) for row in rows)]) + "\n")


def measure_hexapods(build: Path | None, seconds: float) -> Iterator[Task]:
    """All comparisons of hexapods; those in C++ if there is a build folder."""
    for kind in engines.TYPES:
        case = HexapodCase(kind)
        # rows of engines that disagree would say nothing
        yield f"hexapod {kind}, agreement", lambda case=case: case.require_agreement() or ()
        for section in ("hexapod single", "hexapod batch"):
            yield f"{section} {kind}", lambda case=case, section=section: case.compare(section, seconds)
        yield f"hexapod threads {kind}", lambda case=case: [case.compare_threads(seconds)]
        if build is not None:
            yield f"hexapod C++ {kind}", lambda case=case: case.compare_cpp(build, seconds)


class LinkageCase:
    """A closed mechanism in all engines; in the others a ball closes each loop, which leaves the same motion.

    "+ N": with multipliers, "all": with the reactions of all joints, "c": compiled.
    """

    OUTPUTS = {"qdd": ("qdd",), "+ N": ("qdd", "multiplier"), "all": None}  # noqa: RUF012
    NAMES = {"qdd": "qdd", "qdd and multipliers": "+ N", "everything": "all"}  # noqa: RUF012  of bench/cpp

    def __init__(self, name: str) -> None:
        self.name = name.replace("_crank", "")  # fits into the table
        cases = [loops_table.example(name, 0.02 * k) for k in range(LINKAGE_STATES)]
        self.linkage, self.states = cases[0][0], [state for _, state in cases]
        self.pinocchio, answer = loops_table.pinocchio_call(self.linkage, *self.states[0])
        own = self.linkage.forward_dynamics(*self.states[0]).qdd
        if not (error := deviation(answer(), own)) <= REGULARISED_AGREEMENT:
            raise StudyError(f"linkage {name}, zveno and Pinocchio: results differ by {error:.1e}")

    def compare(self, section: str, seconds: float) -> Iterator[Row]:
        """Time all engines in turns; the other ones do not change with what is asked for."""
        state, count = self.states[0], 1
        if section == "linkage batch":
            count = LINKAGE_BATCH
            state = tuple(np.tile(x, (count, 1)) for x in state)
        calls: dict[tuple[str, str], Call] = {}
        for key, outputs in self.OUTPUTS.items():
            calls["zveno", key] = call(self.linkage.forward_dynamics, *state, outputs=outputs, states=count)
        if importlib.util.find_spec("llvmlite"):
            for key, outputs in (("qdd c", ["qdd"]), ("all c", None)):
                code = self.linkage.compile("forward_dynamics", outputs=outputs, level="algebraic")
                calls["zveno", key] = call(code, *state, states=count)
        calls["Pinocchio", "constraint"] = self.pinocchio
        calls["MuJoCo", ""] = loops_table.mujoco_call(self.linkage, *self.states[0])
        times = timed(calls, seconds)
        for key in [key for engine, key in calls if engine == "zveno"]:
            for engine, form in (("Pinocchio", "constraint"), ("MuJoCo", "")):
                rival = f"{engine} {form}".strip()
                yield row_of(section, self.name, key, times["zveno", key], rival, times[engine, form])

    def compare_cpp(self, build: Path, seconds: float) -> Iterator[Row]:
        """Programs of bench/cpp in turns, a call for each state; forms of Pinocchio that do not agree are left out."""
        ours, theirs = build / f"{self.name}.txt", build / f"{self.name}-pinocchio.txt"
        loops_table.write_for_zveno(self.linkage, self.states, ours)
        loops_table.write_for_pinocchio(self.linkage, self.states, theirs)
        commands: dict[tuple[str, str], list[Any]] = {
            ("zveno", ""): [build / f"linkage_zveno-{cpu_features()['selected']}", ours]
        }
        for kind in ("shipped", "native"):
            commands["Pinocchio", kind] = [build / f"hexapod_pinocchio-{kind}", theirs]
        times: dict[tuple[str, str], float] = {}
        rounds = 3
        for _ in range(rounds):
            for (engine, kind), command in commands.items():
                words = [*command, str(seconds / rounds)]
                output = subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE).stdout
                for function, item in json.loads(output).items():
                    if item["deviation"] <= (RELATIVE_AGREEMENT if engine == "zveno" else REGULARISED_AGREEMENT):
                        key = engine, f"{kind} {function}".strip()
                        times[key] = min(times.get(key, float("inf")), item["ns"])
        best, rival = min((time, form) for (engine, form), time in times.items() if engine == "Pinocchio")
        short = rival.replace("constraintDynamics", "").replace("  ", " ").strip()
        for name, key in self.NAMES.items():
            yield Row("linkage C++", self.name, key, times["zveno", name], f"Pinocchio {short}", best)


def measure_linkages(build: Path | None, seconds: float) -> Iterator[Task]:
    """All comparisons of closed mechanisms; those in C++ if there is a build folder."""
    for name in loops_table.STATES:
        case = LinkageCase(name)
        for section in ("linkage single", "linkage batch"):
            yield f"{section} {name}", lambda case=case, section=section: case.compare(section, seconds)
        if build is not None:
            yield f"linkage C++ {name}", lambda case=case: case.compare_cpp(build, seconds)


def batch_size(n: int) -> int:
    """10,000 states for robots, fewer where one matrix alone fills the cache."""
    return max(20, min(10_000, 10_000 * 49 // n**2))


def measure(quick: bool, seconds: float) -> Iterator[Task]:
    """All comparisons from Python."""
    lengths = (7, 30) if quick else (7, 30, 100, 500)
    # Pinocchio keeps several n^3 tensors for each model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    fitting = [n for n in lengths if 5 * 8 * n**3 < 0.6 * memory]
    for n in set(lengths) - set(fitting):
        print(f"n = {n} left out: Pinocchio's data would not fit into memory", file=sys.stderr)
    for name in (*URDFS, *fitting):
        case = Case(robot(name) if isinstance(name, str) else random_chain(name))
        size = batch_size(case.chain.n)
        functions = (*FUNCTIONS, *DERIVATIVES) if case.chain.n <= 100 else FUNCTIONS
        for section, states in (("single", None), ("batch", size)):
            for function in functions:
                what = case, section, function, states, seconds
                yield f"{section} {function} {case.chain.name}", lambda what=what: compare(*what)
        for function in FUNCTIONS:
            what = case, function, size, seconds
            yield f"threads {function} {case.chain.name}", lambda what=what: [compare_threads(*what)]


def measure_cpp(quick: bool, build: Path, seconds: float) -> Iterator[Task]:
    """C++ against C++."""
    for chain in (*map(robot, URDFS), *(random_chain(n) for n in (30, 100, 500)[: 2 if quick else 3])):
        yield f"C++ {chain.name}", lambda chain=chain: compare_cpp([chain], build, 5 * seconds)


def build_chains(build: Path) -> dict[str, str]:
    return build_cpp(build, shown=("chain_double.cpp", "pinocchio_engine.cpp"))


def build_hexapods(build: Path) -> dict[str, str]:
    ours = f"hexapod_zveno-{cpu_features()['selected']}"
    targets = (ours, "hexapod_pinocchio-shipped", "hexapod_pinocchio-native", "hexapod_mujoco")
    return build_cpp(build, targets, ("leg_ups.cpp", "hexapod_pinocchio.cpp"))


def build_linkages(build: Path) -> dict[str, str]:
    ours = f"linkage_zveno-{cpu_features()['selected']}"
    targets = (ours, "hexapod_pinocchio-shipped", "hexapod_pinocchio-native")
    return build_cpp(build, targets, ("linkage_double.cpp", "hexapod_pinocchio.cpp"))


def line(row: Row) -> str:
    """A row for people, 100 columns wide: times of both and their ratio, by the wall clock and by the processor's."""
    names = f"{row.section:16}{row.model:9}{row.function:6}"
    by_processor = "" if math.isnan(row.processor_ratio) else f"{row.processor_ratio:.2f}x"
    # a turn on one thread cannot take less processor time than wall time unless others had the processor
    busy = any(x < 0.8 * t for x, t in ((row.ours_processor, row.ours), (row.theirs_processor, row.theirs)))
    mark = " disturbed" if busy else ""
    return f"{names}{row.ours:10,.0f}  {row.rival:25}{row.theirs:10,.0f}{row.ratio:8.2f}x{by_processor:>10}{mark}"


HEAD = f"{'ns per state':31}{'zveno':>10}  {'other engine':35}{'ratio':>9}{'processor':>10}"


def plain(row: Row) -> dict[str, Any]:
    """A row as data."""
    return asdict(row) | {"ratio": row.ratio, "processor_ratio": row.processor_ratio}


def require_tools(*, compiled: bool, cpp: bool) -> None:
    """Stop before anything is measured if a later step could not run; one line that says what to install."""
    needed = {
        "cmake": shutil.which("cmake"),
        "ninja": shutil.which("ninja"),
        "a C++ compiler (g++)": shutil.which(os.environ.get("CXX") or "c++") or shutil.which("g++"),
        "Eigen's headers (cmeel-eigen)": (PREFIX / "include/eigen3/Eigen/Core").exists(),
        "Pinocchio's headers (pin)": (PREFIX / "include/pinocchio").exists(),
        "Boost's headers (cmeel-boost)": (PREFIX / "include/boost").exists(),
    }
    if compiled:
        needed |= {name: importlib.util.find_spec(name) for name in ("casadi", "llvmlite")}
    missing = [name for name, found in needed.items() if not found] if cpp or compiled else []
    if missing:
        option = "--compiled" if compiled else "--cpp"
        what = ", ".join(missing)
        raise SystemExit(f'compare.py: {option} needs {what}: pip install "zveno[bench]", and a compiler')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="short chains, short measurements")
    parser.add_argument("--seconds", type=float, help="time for each engine and function (default 1, quick 0.1)")
    parser.add_argument("--hexapod", action="store_true", help="hexapods instead of chains")
    parser.add_argument("--linkage", action="store_true", help="closed mechanisms instead of chains")
    parser.add_argument("--compiled", action="store_true", help="compiled functions (builds bench/cpp, 3 to 6 minutes)")
    parser.add_argument("--cpp", action="store_true", help="also C++ against C++ (builds bench/cpp, 3 to 6 minutes)")
    parser.add_argument("--build", type=Path, help="folder for what is built, kept (default: a temporary one)")
    parser.add_argument("--json", type=Path, help="write everything to this file, after every row")
    arguments = parser.parse_args()
    seconds = arguments.seconds or (0.1 if arguments.quick else 1.0)
    require_tools(compiled=arguments.compiled, cpp=arguments.cpp)

    head = machine("pin", "mujoco", "casadi", "llvmlite") | {"load_average": os.getloadavg()[0]}
    print(json.dumps(head, indent=2), flush=True)
    if arguments.compiled:
        import compiled_table  # needs what the other comparisons do without

        return compiled_table.report(head, arguments.build, seconds / 2, arguments.json)
    with tempfile.TemporaryDirectory() as folder:
        build = None
        if arguments.cpp:
            build = arguments.build or Path(folder)
            builder = build_hexapods if arguments.hexapod else build_linkages if arguments.linkage else build_chains
            head["flags"] = builder(build)
            print(json.dumps(head["flags"], indent=2))
        journal = Journal(head, arguments.json, line, plain)
        print(f"\n{HEAD}", flush=True)
        if arguments.hexapod:
            tasks = measure_hexapods(build, seconds)
        elif arguments.linkage:
            tasks = measure_linkages(build, seconds)
        else:
            tasks = measure(arguments.quick, seconds)
        for task in tasks:
            journal.attempt(*task)
        if build is not None and not arguments.hexapod and not arguments.linkage:
            for task in measure_cpp(arguments.quick, build, seconds):
                journal.attempt(*task)
    if max(head["load_average"], os.getloadavg()[0]) > (os.cpu_count() or 1):
        print("The machine was busy with other work: the ratios of threads say little, the others are less certain.")
    journal.finish()


if __name__ == "__main__":
    main()
