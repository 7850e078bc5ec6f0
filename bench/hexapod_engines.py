"""Times of hexapods in Pinocchio and MuJoCo, modelled the way each of them is fastest (tests/engines/hexapods.py).

python bench/hexapod_engines.py                 # table: engine, form, ns per state, deviation
python bench/hexapod_engines.py --cpp           # also Pinocchio from C++, built from bench/cpp
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import engine_path  # noqa: F401
import pinocchio as pin
from engines.hexapods import FORMS, TYPES, MuJoCo, Pinocchio, States, Tree, random_states
from reference import hexapod as hd
from zveno.bench.timing import best_of, call

PREFIX = next(parent for parent in Path(pin.__file__).parents if parent.name == "cmeel.prefix")


def engines(ref: hd.RefHexapod, states: States) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any], float]]:
    """Name, call for one state, call for all states, deviation from the reference, of every engine and form."""
    for form in FORMS:
        tree = Tree(ref, form)
        twin = Pinocchio(tree, states)
        for (name, one), (_, many) in zip(twin.calls(), twin.loops(), strict=True):
            error = twin.deviation(states, many())
            if not error < 1e-8:  # times of different results say nothing
                raise SystemExit(f"hexapod_engines: Pinocchio's {name} is off by {error:.1e}")
            yield f"Pinocchio {name}, ring {form}", one, many, error
        for stiff, tolerance in ((False, "1e-8"), (True, "1e-14")):
            other = MuJoCo(tree, states, stiff=stiff, tolerance=tolerance)
            error = other.deviation(states)
            label = f"MuJoCo {'tight' if stiff else 'default'}, ring {form}, {other.iterations} it."
            batch = MuJoCo(tree, states, stiff=stiff, tolerance=tolerance)
            yield label, other.call(), batch.loop(), error


def build_cpp(build: Path) -> list[Path]:
    """Build bench/cpp/hexapod_pinocchio.cpp against the shipped library and for this processor."""
    source = Path(__file__).parent / "cpp"
    configure = ["cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DPINOCCHIO_PREFIX={PREFIX}"]
    names = ["hexapod_pinocchio-shipped", "hexapod_pinocchio-native"]
    for command in (configure, ["cmake", "--build", build, "--target", *names]):
        subprocess.run(command, check=True, stdout=sys.stderr)
    return [build / name for name in names]


def run_cpp(program: Path, twin: Pinocchio, states: States, seconds: float) -> dict[str, Any]:
    """Times of the C++ functions, ns per call, and how far they are from constraintDynamics called from Python."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hexapod.txt"
        twin.write(states, path)
        output = subprocess.run([program, path, str(seconds)], check=True, text=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.2, help="time for each engine (default 0.2)")
    parser.add_argument("--cpp", action="store_true", help="also Pinocchio from C++ (builds for about 5 minutes)")
    parser.add_argument("--build", type=Path, help="build folder for --cpp, kept (default: a temporary one)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        programs = build_cpp(arguments.build or Path(folder)) if arguments.cpp else []
        for kind in TYPES:
            ref = hd.demo(kind, reflected=True)
            states = random_states(ref)
            print(f"\n{kind}{'':51}one state  loop, ns per state   deviation")
            for name, one, many, error in engines(ref, states):
                calls = {"one": call(one), "many": call(many, states=len(states))}
                times = {key: 1e9 * value for key, value in best_of(calls, arguments.seconds).items()}
                print(f"{name:48}{times['one']:15,.0f}{times['many']:20,.0f}{error:12.1e}")
            for program in programs:
                for form in FORMS:
                    result = run_cpp(program, Pinocchio(Tree(ref, form), states), states, arguments.seconds)
                    for function, item in result.items():
                        label = f"C++ {program.name.split('-')[1]} {function}, ring {form}"
                        print(f"{label:48}{item['ns']:15,.0f}{'':20}{item['deviation']:12.1e}")


if __name__ == "__main__":
    main()
