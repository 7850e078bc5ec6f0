"""Time single steps of rigs, 1 ms by Runge-Kutta of order 4, from C: library, generated code, FMU; other engines.

python bench/rig_latency.py [--steps N] [--windows N] [--build FOLDER] [--json PATH] [--only MODEL]

Every way is a program of its own that keeps the time of every step. The steps are made in windows, in which all ways
take turns: a disturbance of the machine meets them all. p50 is the smallest median of a window, p99 and p99.9 are
medians over the windows, "quiet" is the p99.9 of the quietest window, max is that of all steps. "steady": the motion
starts anew every 1000 steps and is the same each time; p99.9 over those 1000 steps, each by the median of its
repetitions in a window, and of the windows the smallest: what the engine itself does, without what strikes at random.
Programs stay in FOLDER; those of Pinocchio take minutes to compile. Windows are added to those that the file PATH has
already: a long measurement can be made in parts.

"nothing" spins as long as a step of the C library takes, or as long as one of MuJoCo: its p99.9 is what the machine
adds to any program, interrupts and other work, and no engine can be better than that. "motion" and "algebraic" give
the new coordinates and rates and nothing else, which is what the programs of the others do; "algebraic" has fewer
operations and rounds otherwise. "bound": chains, four forward dynamics by the method with the fewest multiplications,
if each of these took no more than one among many that wait for nothing does on this processor, and if the longest
sequence of operations that wait for each other took no more than the additions, multiplications and divisions in it:
nobody's scalar code for these equations can be faster than the larger of the two.

Generated C is compiled for this processor, as Pinocchio is; the FMU as `export_fmu` leaves it, for any x86-64.
FMU: set inputs, a step, get all outputs; through FMPy the same from Python, for the motion. "FMPy, nothing" makes the
calls of FMPy with functions that do nothing. MuJoCo: `mj_step` from C with the same
integrator and step, on the same chain, and on the same ring with its soft constraints. Pinocchio: four times its
forward dynamics, compiled for this processor or, with --pinocchio shipped, by its own library, and the sums of
Runge-Kutta around them; no outputs besides. Ours also give accelerations, the wrench on the base and the energy.
"""

from __future__ import annotations

import argparse
import ctypes as ct
import json
import os
import re
import subprocess
import tempfile
import time
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Literal

import engine_path  # noqa: F401
import mujoco
import numpy as np
import zveno as zv
from engines.hexapods import FORMS, Pinocchio, Tree, random_states
from engines.mujoco import hexapod_model, hexapod_set, to_mujoco
from engines.random_mechanisms import random_chain
from hexapod_models import pair
from zveno.deploy.library import c_library

SOURCE = Path(__file__).parent / "cpp" / "rig_latency.c"
PERIOD = 1e-3
NATIVE: tuple[str, ...] = ("-march=native", "-mtune=generic", "-mno-fma", "-mno-avx512vl")  # the same bits
FUSED: tuple[str, ...] = ("-march=native", "-mtune=generic", "-mno-avx512vl")
if os.uname().machine != "x86_64":
    NATIVE = FUSED = ()
OURS = ("C library", "generated C", "FMU")
COLUMNS = ("p50", "p99", "p99.9", "quiet", "steady", "max", "page faults", "switches")


def compiled(folder: Path, name: str, *flags: str) -> Path:
    """A program; `flags` say which way it steps."""
    program = folder / name
    command = ["cc", "-std=gnu99", "-O2", "-ffp-contract=off", "-w", *flags[:1], str(SOURCE), *flags[1:]]
    subprocess.run([*command, "-ldl", "-lm", "-o", str(program)], check=True)
    return program


def models() -> dict[str, tuple[zv.Chain | zv.Hexapod, object]]:
    """The mechanisms, and the reference of the ring that MuJoCo's model is made of."""
    from compare import URDFS, robot

    chains = {f"chain {n}": random_chain(np.random.default_rng(n), n, name=f"chain{n}") for n in (7, 30)}
    chains |= {name: robot(name) for name in URDFS}
    ref, ring = pair("UPS-lean", heavy=False)
    return {"ring": (ring, ref), **{name: (chain, None) for name, chain in chains.items()}}


def pinocchio(folder: Path, build: Path, form: str, model: zv.Chain | zv.Hexapod, ref: object) -> list[str]:
    """Command line of Pinocchio's steps; compiled once, for this processor or on the shipped library."""
    from compare import PREFIX, write_mechanism

    kind = "chain" if ref is None else "ring"
    program = build / f"pinocchio_{form}_{kind}"
    if not program.exists():
        build.mkdir(parents=True, exist_ok=True)
        includes = [f"-isystem{PREFIX / 'include'}", f"-isystem{PREFIX / 'include' / 'eigen3'}"]
        limits = ["BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_LIMIT_VECTOR_SIZE=30", "BOOST_FUSION_INVOKE_MAX_ARITY=12"]
        flags = ["-O3", "-DNDEBUG", "-w", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"]
        # GCC 12 takes newer processors for older ones, and what it tunes for those is slower there than code for any
        here = ["-march=native", "-mtune=generic"]
        flags += here if form == "native" else ["-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION"]
        shared = (
            [] if form == "native" else [f"-L{PREFIX / 'lib'}", "-lpinocchio_default", f"-Wl,-rpath,{PREFIX / 'lib'}"]
        )
        flags += [f"-D{limit}" for limit in limits] + (["-DRIG_CHAIN"] if ref is None else [])
        made = [str(build / f"{kind}.o"), str(build / f"{kind}_loop.o")]
        engine = str(SOURCE.with_name("rig_pinocchio.cpp"))
        for command in (
            ["c++", "-std=c++17", *flags, *includes, "-c", engine, "-o", made[0]],
            ["cc", "-std=gnu99", "-O2", "-w", "-DUSE_PINOCCHIO", "-c", str(SOURCE), "-o", made[1]],
            ["c++", *made, *shared, "-lm", "-o", str(program)],
        ):
            subprocess.run(command, check=True)
    commands = []
    for tree in FORMS if ref is not None else ("chain",):
        path = folder / f"pinocchio_{tree}.txt"
        if ref is None:
            write_mechanism(model, path)
        else:
            states = random_states(ref, 1, speed=0.0)
            Pinocchio(Tree(ref, tree), states).write(states, path)
        commands.append([str(program), "STEPS", str(path)])
    return min(commands, key=lambda command: run("Pinocchio", command, 2000)[0])  # the faster form


def programs(folder: Path, build: Path, form: str, model: zv.Chain | zv.Hexapod, ref: object) -> dict[str, list[str]]:
    """Command lines by way; what has been built before is used again."""
    known = folder / "ways.json"
    if known.exists():
        return json.loads(known.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    paths = c_library()
    library = compiled(folder, "library", "-DUSE_LIBRARY", *paths.cflags.split(), *paths.libs.split())
    fmu = compiled(folder, "fmu", "-DUSE_FMI3")
    ways = {}
    motion = ["ring.position", "ring.quaternion", "ring.twist"] if isinstance(model, zv.Hexapod) else ["q", "qd"]
    wide = 6 if isinstance(model, zv.Hexapod) else model.n
    variants: list[tuple[str, Literal["strict", "algebraic"], list[str] | None]] = [
        ("", "strict", None),
        (", motion", "strict", motion),
        (", algebraic", "algebraic", motion),
    ]
    for suffix, level, outputs in variants:
        own = folder / f"own{suffix.replace(', ', '_')}"
        own.mkdir(exist_ok=True)
        if level == "strict":
            zv.save_rig(model, own / "rig.json", period=PERIOD, outputs=outputs)
            ways[f"C library{suffix}"] = [str(library), "STEPS", str(own / "rig.json")]
        zv.export_step(model, own, name="model", period=PERIOD, outputs=outputs, level=level, overwrite=True)
        flags = ("-DUSE_STEP", f"-I{own}", *(NATIVE if level == "strict" else FUSED), str(own / "model.c"))
        ways[f"generated C{suffix}"] = [str(compiled(folder, f"step_{own.name}", *flags)), "STEPS"]
        zv.export_fmu(model, own / "unit.fmu", step=PERIOD, outputs=outputs, level=level)
        with zipfile.ZipFile(own / "unit.fmu") as archive:
            archive.extractall(own / "unit")
        text = (own / "unit" / "modelDescription.xml").read_text()
        token = re.search('instantiationToken="(.*?)"', text)[1]
        first = 2 + len(re.findall('causality="input"', text)) - 1
        sizes = [int(x) for x in re.findall(r'causality="output".*?start="(\d+)"/></Float64>', text)]
        count = len(re.findall('<Float64 .*?causality="output"', text))
        total = sum(sizes) + count - len(sizes)
        binary = next((own / "unit").glob("binaries/*/*.so"))
        numbers = map(str, (wide, first, first + count - 1, total))
        ways[f"FMU, C{suffix}"] = [str(fmu), "STEPS", str(binary), token, *numbers]
    if ref is None:
        twin = to_mujoco(model)
        data = mujoco.MjData(twin)
    else:
        both = hexapod_model(ref)
        r, R = model.nominal
        state = type("State", (), {"r": r, "R": R, "u": np.zeros(6), "wrench": np.zeros(6)})
        state.leg_tau = lambda k, n: np.zeros(n)
        hexapod_set(both, state, model.closure(r, R), np.zeros((6, model.nj)))
        twin, data = both.model, both.data
    twin.opt.integrator, twin.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, PERIOD
    mujoco.mj_saveModel(twin, str(folder / "model.mjb"), None)
    (folder / "start.bin").write_bytes(data.qpos.tobytes() + data.qvel.tobytes())
    root = Path(mujoco.__file__).parent
    shared = str(next(root.glob("libmujoco.so*")))
    flags = ("-DUSE_MUJOCO", f"-I{root / 'include'}", shared, f"-Wl,-rpath,{root}")
    ways["MuJoCo, C"] = [
        str(compiled(folder, "mujoco", *flags)),
        "STEPS",
        str(folder / "model.mjb"),
        str(folder / "start.bin"),
    ]
    ways["Pinocchio, C++"] = pinocchio(folder, build, form, model, ref)
    (folder / "empty.c").write_text("int empty(void) { return 0; }\n")
    files = [str(folder / "empty.c"), "-o", str(folder / "empty.so")]
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", *files], check=True)
    ways["nothing"] = [str(compiled(folder, "nothing", "-DUSE_NOTHING")), "STEPS", "SPIN"]
    known.write_text(json.dumps(ways))
    return ways


def bounds(folder: Path, chain: zv.Chain) -> tuple[float, float]:
    """Time of four forward dynamics: by their multiplications, and by the longest sequence of operations, ns."""
    program = compiled(folder, "peak", "-DUSE_PEAK", *NATIVE, "-fno-tree-vectorize")
    add, mul, div, rate = run("peak", [str(program), "STEPS"], 2000)
    graphs = [
        chain.trace("forward_dynamics", level="algebraic", method=method).graph
        for method in ("aba", "cholesky", "cholesky-walk")
        if chain.n <= 16 or method == "aba"
    ]
    cost = {"add": add, "sub": add, "mul": mul, "div": div}
    longest = []
    for graph in graphs:
        ends: dict[int, float] = {}
        for node in graph:
            ends[node.index] = max((ends[i] for i in node.operands), default=0.0) + cost.get(node.op, 0.0)
        longest.append(max(ends[i] for result in graph.results for i in result.tolist()))
    return 4 * rate * min(graph.operations.mul for graph in graphs), 4 * min(longest)


def through_fmpy(folder: Path, steps: int, nothing: bool = False) -> list[float]:
    """Set inputs, a step, get all outputs: times of an importer in Python; nothing: of empty functions."""
    from fmpy import extract, read_model_description
    from fmpy.fmi3 import FMU3Slave

    path = str(folder / "own_motion" / "unit.fmu")
    unit, text = extract(path), read_model_description(path)
    given = [v.valueReference for v in text.modelVariables if v.causality == "input"][:1]
    size = int(np.prod([d.start for v in text.modelVariables if v.valueReference in given for d in v.dimensions]))
    wanted = [v for v in text.modelVariables if v.causality == "output" and v.type == "Float64"]
    total = sum(int(np.prod([int(d.start) for d in v.dimensions])) for v in wanted)
    slave = FMU3Slave(
        guid=text.guid, unzipDirectory=unit, modelIdentifier=text.coSimulation.modelIdentifier, instanceName="unit"
    )
    slave.instantiate()
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    saved = slave.getFMUState()
    times, inputs = [], [0.0] * size
    slave.setFloat64(given, inputs)
    slave.doStep(currentCommunicationPoint=0.0, communicationStepSize=PERIOD)
    slave.getFloat64([v.valueReference for v in wanted], nValues=total)
    for name in ("fmi3SetFloat64", "fmi3DoStep", "fmi3GetFloat64") if nothing else ():
        was = slave._functions[name]  # made by the first call
        empty = ct.CDLL(str(folder / "empty.so"))["empty"]
        empty.argtypes, empty.restype, empty.argnames = was.argtypes, was.restype, was.argnames
        slave._functions[name] = empty
    for k in range(steps):
        if k % 1000 == 0:
            slave.setFMUState(saved)
            now = 0.0
        inputs[0] = 0.1 * (k % 1000 % 7 - 3)
        begin = time.perf_counter_ns()
        slave.setFloat64(given, inputs)
        slave.doStep(currentCommunicationPoint=now, communicationStepSize=PERIOD)
        slave.getFloat64([v.valueReference for v in wanted], nValues=total)
        times.append(time.perf_counter_ns() - begin)
        now += PERIOD
    slave.terminate()
    slave.freeInstance()
    motion = np.quantile(np.median(np.reshape(times[: steps // 1000 * 1000], (-1, 1000)), axis=0), 0.999)
    return [*np.quantile(times, [0.5, 0.99, 0.999, 1.0]).tolist(), float(motion), 0.0, 0.0]


def run(label: str, command: list[str], steps: int) -> list[float]:
    """p50, p99, p99.9, max, p99.9 of the motion, page faults, switches of one window."""
    words = [str(steps) if word == "STEPS" else word for word in command]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode or not done.stdout.startswith("0 "):
        raise RuntimeError(f"{label}: {done.stdout}{done.stderr}")
    return [float(word) for word in done.stdout.split()[1:]]


def machine() -> dict[str, str]:
    """What the figures belong to."""
    cpu = re.search("model name.*?: (.*)", Path("/proc/cpuinfo").read_text())
    versions = {name: metadata.version(name) for name in ("zveno", "mujoco", "pin")}
    return {"processor": cpu[1] if cpu else "", "system": " ".join(os.uname()[::2]), **versions}


def summary(windows: list[list[float]]) -> list[float]:
    """Numbers of all windows of a way in the order of COLUMNS."""
    p50, p99, p999, longest, motion, faults, switches = np.array(windows).T
    middle = [np.median(p99), np.median(p999)]
    return [p50.min(), *middle, p999.min(), motion.min(), longest.max(), faults.sum(), switches.sum()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help="of every way, in all windows together")
    parser.add_argument("--windows", type=int, default=20)
    parser.add_argument("--build", type=Path, help="folder for Pinocchio's programs, kept (default: a temporary one)")
    parser.add_argument(
        "--pinocchio", choices=("native", "shipped"), default="native", help="native: minutes to compile"
    )
    parser.add_argument("--only", default="", help="models whose names begin so: ring, chain, UR5, Panda")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--fifo", action="store_true", help="all programs under SCHED_FIFO, as on a rig")
    parser.add_argument("--prepare", action="store_true", help="build the programs, measure nothing")
    options = parser.parse_args()
    if options.fifo:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))  # inherited by the programs
    before = options.json and options.json.exists()
    kept = json.loads(options.json.read_text()) if before else {"machine": machine(), "windows": {}}
    window = max(1000, options.steps // options.windows)
    print(f"{options.windows} windows of {window} steps of 1 ms, ns; load {os.getloadavg()[0]:.1f}\n")
    print(f"{'':10} {'':16} " + " ".join(f"{name:>11}" for name in COLUMNS))
    with tempfile.TemporaryDirectory() as root:
        chosen = {name: model for name, model in models().items() if name.startswith(options.only)}
        for name, (model, ref) in chosen.items():
            build = options.build or Path(root) / "build"
            folder = (options.build or Path(root)) / name.replace(" ", "")
            ways = programs(folder, build, options.pinocchio, model, ref)
            if options.prepare:
                continue
            spin = ways.pop("nothing")
            found: dict[str, list[list[float]]] = kept["windows"].setdefault(name, {})
            for _ in range(options.windows):
                for way, command in ways.items():
                    found.setdefault(way, []).append(run(f"{name}, {way}", command, window))
                found.setdefault("FMU, FMPy", []).append(through_fmpy(folder, window))
                found.setdefault("FMPy, nothing", []).append(through_fmpy(folder, window, nothing=True))
                for way in ("C library", "MuJoCo, C"):
                    command = [*spin[:-1], str(found[way][0][0])]
                    found.setdefault(f"nothing, {way.split()[0]}", []).append(run(f"{name}, nothing", command, window))
                if options.json:
                    options.json.write_text(json.dumps(kept, indent=1))
            table = {way: summary(windows) for way, windows in found.items()}
            for way, numbers in table.items():
                print(f"{name:10} {way:16} " + " ".join(f"{x:11,.0f}" for x in numbers), flush=True)
            for own in (*(way for way in table if way.startswith(OURS)), "nothing, C"):
                for way in ("MuJoCo, C", "Pinocchio, C++"):
                    if own in table:
                        ratios = ", ".join(f"{COLUMNS[k]} {table[way][k] / table[own][k]:.1f}" for k in (0, 1, 2, 3, 4))
                        print(f"{name:10} {own} against {way}: {ratios}")
            if ref is None:
                by_rate, by_wait = bounds(folder, model)
                print(f"{name:10} bound: {by_rate:.0f} by multiplications, {by_wait:.0f} by the longest sequence")
                for way in ("MuJoCo, C", "Pinocchio, C++"):
                    print(f"{name:10} {way}: p50 is {table[way][0] / max(by_rate, by_wait):.1f} times the bound")
            print()


if __name__ == "__main__":
    main()
