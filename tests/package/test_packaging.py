"""What an installation contains, what importing it costs, and that its types are true."""

import importlib.metadata
import os
import re
import subprocess
import sys
import tomllib
import zlib
from pathlib import Path

import pytest
import zveno as zv

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EDITABLE = len(zv.__path__) > 1


def check_python(*arguments, cwd, **environment):
    """A Python process that must succeed, with its output."""
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def installed(pattern):
    return [path for folder in zv.__path__ for path in Path(folder).glob(pattern)]


def type_checker_environment():
    """mypy follows no import hooks: an editable package must be on its path."""
    return {"MYPYPATH": str(Path(zv.__file__).parents[1])} if EDITABLE else {}


# ---- contents ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "pattern",
    [
        "py.typed",
        "_core.pyi",
        "_core.*",
        "_kernels_baseline.*",
        "include/zveno/zveno.hpp",
        "include/zveno/kernel/chain/rnea.hpp",
        "lib/*zveno.*",
        "lib/cmake/zveno/zvenoConfig.cmake",
        "lib/cmake/zveno/zvenoConfigVersion.cmake",
        "lib/cmake/zveno/zvenoTargets.cmake",
    ],
)
def test_installation_contains(pattern):
    assert installed(pattern)


def test_wheel_is_smaller_than_eight_megabytes():
    listed = [file for file in importlib.metadata.files("zveno") if file.suffix != ".pyc"]  # made by the installer
    files = {file.locate().resolve() for file in listed}
    assert sum(len(zlib.compress(file.read_bytes())) for file in files if file.exists()) < 8e6


def test_installation_names_no_folder_of_the_build_machine():
    for path in installed("lib/cmake/zveno/*.cmake"):
        assert str(ROOT) not in path.read_text(encoding="utf-8")


def test_licences_of_zveno_and_eigen_are_installed():
    names = {file.name for file in importlib.metadata.files("zveno") if "licenses" in file.parts}
    assert names >= {"LICENSE", "COPYING.MPL2", "COPYING.APACHE"}


def test_public_headers_need_no_other_library():
    allowed = re.compile(r"#include <(zveno/.*|[a-z_]+|(cpuid|imm|arm_neon)\w*\.h)>")  # the last of the compiler
    for path in installed("include/zveno/**/*.hpp"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert not line.startswith("#include") or allowed.match(line), f"{path.name}: {line}"


def test_version_is_the_same_everywhere():
    version = PROJECT["project"]["version"]
    assert zv.__version__ == version
    assert re.search(rf"^version: {re.escape(version)}$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (config,) = installed("lib/cmake/zveno/zvenoConfigVersion.cmake")
    assert f'set(PACKAGE_VERSION "{version}")' in config.read_text(encoding="utf-8")


# ---- import -----------------------------------------------------------------------------------------------------


def test_import_loads_nothing_that_only_some_users_need(tmp_path):
    code = "import sys, numpy; known = set(sys.modules); import zveno; print(*sorted(set(sys.modules) - known))"
    loaded = {name.partition(".")[0] for name in check_python("-c", code, cwd=tmp_path).stdout.split()}
    assert "zveno" in loaded
    assert not loaded & {"typer", "rich", "click", "matplotlib", "scipy", "xml", "pyexpat", "multiprocessing"}


def test_import_takes_less_than_a_fifth_of_a_second_beyond_numpy(tmp_path):
    # of the processor: others who use it do not count
    code = "import time, numpy; begin = time.process_time(); import zveno; print(time.process_time() - begin)"
    assert min(float(check_python("-c", code, cwd=tmp_path).stdout) for _ in range(5)) < 0.2


# ---- types ------------------------------------------------------------------------------------------------------


@pytest.mark.types
def test_user_script_passes_strict_type_checking(tmp_path):
    script = ROOT / "tests" / "typing" / "user_script.py"
    check_python("-m", "mypy", "--strict", "--config-file=", script, cwd=tmp_path, **type_checker_environment())
    check_python(script, cwd=tmp_path)


@pytest.mark.types
def test_wrong_calls_are_type_errors(tmp_path):
    calls = (
        'mass_matrix(q, method="crab")',
        'mass_matrix(q, "crba", q)',
        "pose(q)",
        "bias(q, q, frame='link')",
        "masses(q)",
        "base_wrench(q, q, q, external=[q])",
    )
    head = ["import numpy as np", "import zveno as zv", "q, arm = np.zeros(2), zv.robots.two_link()"]
    (tmp_path / "wrong.py").write_text("\n".join([*head, *(f"arm.{call}" for call in calls), ""]))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", "wrong.py"],
        cwd=tmp_path,
        env={**os.environ, **type_checker_environment()},
        capture_output=True,
        text=True,
    )
    lines = [int(number) for number in re.findall(r"^wrong\.py:(\d+): error:", done.stdout, re.M)]
    assert sorted(set(lines)) == [len(head) + 1 + i for i in range(len(calls))], done.stdout


@pytest.mark.types
def test_stubs_agree_with_the_compiled_module(tmp_path):
    # pybind11 gives its classes a metaclass of its own, which is no business of the user's
    classes = (
        "Chain|ChainRun|Docking(Options|Runner)|Graph|Hexapod|HexapodRun|JointLaw|Linkage|Reach|Schedule|SectionCut"
        "|Stop"
    )
    (tmp_path / "allowed").write_text(rf"zveno\._core\.({classes})" + "\n")  # their metaclass
    options = ("--allowlist", "allowed", "--mypy-config-file", os.devnull)
    check_python("-m", "mypy.stubtest", "zveno._core", *options, cwd=tmp_path, **type_checker_environment())


# ---- CMake ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_project_built_with_scikit_build_core_finds_the_package_without_a_hint(tmp_path):
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["scikit-build-core"]\nbuild-backend = "scikit_build_core.build"\n'
        '[project]\nname = "guest"\nversion = "1"\n'
    )
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(guest LANGUAGES CXX)\n"
        "find_package(zveno 0.1 CONFIG REQUIRED)\nget_target_property(kind zveno::zveno TYPE)\n"
        'if(NOT kind STREQUAL "STATIC_LIBRARY")\n  message(FATAL_ERROR "${kind}")\nendif()\n'
    )
    command = ("-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "--no-cache-dir", ".")
    check_python(*command, cwd=tmp_path)
    assert list(tmp_path.glob("guest-1-*.whl"))


def test_looking_for_the_package_does_not_import_it(tmp_path):
    """A broken zveno would stop every build with scikit-build-core, its own repair among them."""
    code = (
        "import sys, importlib.metadata as m\n"
        "(point,) = m.entry_points(group='cmake.root', name='zveno')\n"
        "print(point.load().__path__[0], 'zveno' in sys.modules)"
    )
    folder, imported = check_python("-c", code, cwd=tmp_path).stdout.split()
    assert imported == "False"
    assert {"zvenoConfig.cmake", "zvenoConfigVersion.cmake"} <= {path.name for path in Path(folder).iterdir()}
