"""Arrows between the rooms of the house: what a folder may include or import. They never turn back."""

import ast
import re
import subprocess
import sys

import pytest
from helpers import ROOT, environment

CPP = ROOT / "cpp" / "zveno"
PACKAGE = ROOT / "python" / "zveno"

# ---- C++ --------------------------------------------------------------------------------------------------------

# a room sees itself and those before it
ORDER = (
    *("support", "math", "graph", "scalar", "model", "kernel", "functions"),
    *("instances", "solve", "batch", "instruments", "sim", "rig"),
)
# less than that: numbers know no mechanics, models no algorithm, graphs nothing
SEES = {
    "graph": {"support", "graph"},
    "scalar": {"support", "math", "scalar"},
    "model": {"support", "math", "model"},
}
SPECIAL = {("scalar/trace.hpp", "graph/graph.hpp")}
# what kernels may know of scalars: none of them by name
SCALARS_OF_KERNELS = {
    "scalar/contract.hpp",
    "scalar/angle.hpp",
    "scalar/block.hpp",
    "scalar/neighbours.hpp",
    "scalar/select.hpp",
}


def may_include(file, header):
    """Whether a file may include a header, both relative to cpp/zveno."""
    room, other = (path.split("/")[0] if "/" in path else "rig" for path in (file, header))  # zveno.hpp is the rig's
    if room not in ORDER or other not in ORDER:
        return False
    if (file, header) in SPECIAL:
        return True
    if room == "kernel" and other == "scalar":
        return header in SCALARS_OF_KERNELS
    return other in SEES[room] if room in SEES else ORDER.index(other) <= ORDER.index(room)


def includes(path):
    return re.findall(r'^\s*#\s*include\s*([<"][^>"]+[>"])', path.read_text(encoding="utf-8"), re.M)


SOURCES = sorted(path.relative_to(CPP).as_posix() for path in CPP.rglob("*.[ch]pp"))


def test_no_include_turns_back():
    arrows = [
        (file, name[1:-1].removeprefix("zveno/"))
        for file in SOURCES
        for name in includes(CPP / file)
        if name.startswith("<zveno/")
    ]
    assert len(arrows) > 100
    assert [arrow for arrow in arrows if not may_include(*arrow)] == []


def test_headers_of_the_library_are_included_by_their_full_name_and_exist():
    # a name in quotes could lead anywhere, into bindings/ too
    for file in SOURCES:
        for name in includes(CPP / file):
            assert name.startswith("<"), f"{file} includes {name}"
            assert not name.startswith("<zveno/") or (CPP.parent / name[1:-1]).exists(), f"{file} includes {name}"


def test_vectors_do_not_depend_on_the_name_of_the_compiler():
    # clang-cl has vector types and is not __GNUC__: ZVENO_GNU knows
    asking = [file for file in SOURCES if re.search(r"^\s*#\s*(el)?if\b.*__GNUC__", (CPP / file).read_text(), re.M)]
    assert asking == ["scalar/pack.hpp", "support/compiler.hpp"]  # the former: versions of GCC
    tests = re.findall(r"^\s*(?:else)?if\(.*\bMSVC\b.*$", (ROOT / "CMakeLists.txt").read_text(), re.M)
    assert tests == ["if(MSVC)"]  # spelling of options; what the compiler can do is asked with `cl`


@pytest.mark.parametrize(
    "arrow",
    [
        ("model/hexapod.hpp", "kernel/leg/leg.hpp"),
        ("model/chain.hpp", "scalar/contract.hpp"),
        ("math/lin.hpp", "scalar/pack.hpp"),
        ("scalar/contract.hpp", "kernel/stage.hpp"),
        ("scalar/pack.hpp", "graph/graph.hpp"),
        ("graph/algebra.cpp", "scalar/trace.hpp"),
        ("kernel/chain/crba.hpp", "scalar/pack.hpp"),
        ("kernel/leg/pose.hpp", "scalar/count.hpp"),
        ("kernel/leg/leg.hpp", "scalar/scalars.hpp"),
        ("functions/job.hpp", "instances/chain.hpp"),
        ("solve/custom_leg.cpp", "batch/rows.hpp"),
        ("batch/rows.cpp", "sim/simulate.hpp"),
        ("sim/simulate.cpp", "zveno.hpp"),
        ("kernel/stage.hpp", "elsewhere/new.hpp"),
    ],
)
def test_arrows_that_turn_back_are_found(arrow):
    assert not may_include(*arrow)


# ---- Python -----------------------------------------------------------------------------------------------------

# rooms at the top of the house, and those that may import them when they are themselves imported
TOP = {"plot": set(), "bench": {"plot", "cli"}, "cli": set(), "view": set()}
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists())


def imported(tree, package):
    """Full names of what a module imports when it is imported: not in functions, not for type checkers."""
    for node in tree.body:
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from imported(node, package)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            yield from (".".join([*base, *([node.module] if node.module else []), alias.name]) for alias in node.names)


def rooms_seen(source, file):
    """Rooms that the source of a module imports; `file` is relative to the package."""
    package = ".".join(["zveno", *file.split("/")[:-1]])
    names = (name.split(".") for name in imported(ast.parse(source), package))
    return {name[1] for name in names if len(name) > 1 and name[0] == "zveno"}


def forbidden(room, seen):
    return {other for other in seen & TOP.keys() if other != room and room not in TOP[other]}


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_at_the_top_are_imported_by_nobody_below(room):
    for path in (PACKAGE / room).rglob("*.py"):
        file = path.relative_to(PACKAGE).as_posix()
        assert not forbidden(room, rooms_seen(path.read_text(encoding="utf-8"), file)), file


@pytest.mark.parametrize(
    "line",
    [
        "from ..plot import bench",
        "from .. import cli",
        "import zveno.plot.simulation",
        "from zveno.bench import timing",
    ],
)
def test_imports_that_turn_back_are_found(line):
    assert forbidden("model", rooms_seen(line, "model/chain.py"))
    inside = f"def f():\n    {line}\n\nif TYPE_CHECKING:\n    {line}\n"
    assert not rooms_seen(inside, "model/chain.py")


def test_importing_the_package_enters_no_room_at_the_top():
    code = "import sys, zveno; print(*(name for name in sys.modules if name.startswith('zveno.')))"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    entered = {name.split(".")[1] for name in done.stdout.split()}
    assert "model" in entered
    assert not entered & TOP.keys()


# ---- names that stay --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("zveno.model", "Chain Link"),
        ("zveno.hexapod", "Body Hexapod Leg"),
        ("zveno.simulation", "Simulation StopEvent simulate"),
        ("zveno.laws", "DryFriction EddyBrake Formula Law LuGre Ramp Servo SlipClutch SpringDamper Stops Sum Table"),
        ("zveno.graph", "Argument Graph Operation OPS ARITY"),
        ("zveno.compiled", "CompiledFunction Savings TracedFunction"),
        ("zveno.opcount", "OpCount fit_polynomial format_polynomial operations"),
        ("zveno.study", "METHODS PUBLISHED best_of call machine random_chain random_states run to_pinocchio verdict"),
        ("zveno.hexapod_plots", "draw_mechanism plot_simulation plot_workspace"),
        ("zveno.errors", "Error GraphSizeError ModelError ModelWarning SingularityError UnreachableError"),
        ("zveno.results", "Derivatives HexapodDynamics RingPose Singularity"),
        ("zveno.robots", "kawasaki_fs020n puma560 scara stanford two_link"),
        ("zveno.mechanisms", "docking_ring"),
        ("zveno.cli", "main"),
    ],
)
def test_import_paths_of_version_0_1_still_lead_to_the_same_names(module, names):
    home = __import__(module, fromlist=["*"])
    assert not [name for name in names.split() if not hasattr(home, name)]
