"""Exported directories: complete, compiled by plain cc and by CMake, refused where they would destroy something."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import zveno as zv
from zveno.codegen.c import identifier
from zveno.codegen.export import export, prepare

WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wshadow", "-Werror"]


@pytest.fixture(scope="module")
def traced():
    return zv.robots.two_link().trace("inverse_dynamics")


def run(command, folder, **options):
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **options)


def self_test(folder, *flags):
    """Compile what is in the folder without a warning and run the self-test."""
    sources = sorted(path.name for path in folder.glob("*.c"))
    done = run(["cc", *WARNINGS, "-O1", *flags, *sources, "-lm", "-o", "program"], folder)
    assert done.returncode == 0, done.stderr
    return run(["./program"], folder)


def test_there_are_five_files_and_the_command_of_the_readme_works(traced, tmp_path):
    folder = tmp_path / "new" / "out"
    paths = export(traced, folder)
    name = identifier(traced.name)
    assert [path.name for path in paths] == [f"{name}.c", f"{name}.h", f"{name}_test.c", "CMakeLists.txt", "README.md"]
    assert sorted(folder.iterdir()) == sorted(paths)
    (command,) = re.findall(r"^cc .*$", paths[-1].read_text(), re.MULTILINE)
    done = run(command, folder, shell=True)
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(rf"{name}: largest relative difference \S+, allowed 1e-12: passed\n", done.stdout)


def test_cmake_builds_and_tests(traced, tmp_path):
    export(traced, tmp_path)
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    cmake, ctest = (shutil.which(name, path=tools) for name in ("cmake", "ctest"))
    configure = [cmake, "-G", "Ninja", "-S", ".", "-B", "b"]  # make need not be there
    for command in (configure, [cmake, "--build", "b"], [ctest, "--test-dir", "b"]):
        done = run(command, tmp_path, env={**os.environ, "PATH": tools})
        assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"100% tests passed.* out of 1\n", done.stdout)


@pytest.mark.parametrize(("real", "limit"), [("double", "1e-12"), ("float", "1e-05")])
def test_self_test_covers_the_batch_and_float(traced, tmp_path, real, limit):
    paths = export(traced, tmp_path, real=real, batch=24)
    assert paths[0].stem.endswith("_float") == (real == "float")
    done = self_test(tmp_path, "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")
    assert (done.returncode, done.stdout.count("passed")) == (0, 1)
    assert f"allowed {limit}" in done.stdout
    # the batch function alone goes wrong
    head, batch, tail = paths[0].read_text().partition("_batch(")
    paths[0].write_text(head + batch + tail.replace("0.5", "0.501", 1))
    assert self_test(tmp_path).returncode == 1


def test_self_test_fails_when_a_number_is_altered(traced, tmp_path):
    _, _, test, *_ = export(traced, tmp_path)
    text = test.read_text()
    number = re.search(r"want_tau\S+ = \{\n  \{(\S+),", text)
    test.write_text(text[: number.start(1)] + repr(float(number[1]) + 1e-9) + text[number.end(1) :])
    done = self_test(tmp_path)
    assert done.returncode == 1
    assert "FAILED" in done.stdout


def test_self_test_fails_for_nan(traced, tmp_path):
    source, *_ = export(traced, tmp_path)
    source.write_text(source.read_text().replace("tau[0] =", "tau[0] = (q[0] - q[0]) / (q[0] - q[0]) +"))
    assert self_test(tmp_path).returncode == 1


def test_reference_vectors_are_those_of_the_kernels(traced, tmp_path):
    _, _, test, *_ = export(traced, tmp_path)
    inputs, outputs = traced.reference(16)
    tables = re.findall(r"static const double (\w+)\[.*?\]\[.*?\] = \{(.*?)\n\};", test.read_text(), re.DOTALL)
    assert [name for name, _ in tables] == ["in_q", "in_qd", "in_qdd", "want_tau"]
    for (_, text), want in zip(tables, (*inputs, *outputs), strict=True):
        numbers = [float(x) for x in re.findall(r"[-\d.e]+", text)]
        np.testing.assert_array_equal(np.reshape(numbers, want.shape), want)


def test_readme_tells_what_a_stranger_needs(tmp_path):
    arm = zv.robots.puma560()
    *_, readme = export(arm.trace("jacobian", link="link6"), tmp_path, batch=8)
    text = readme.read_text()
    for part in (
        "const double q[6]",
        "| `J` | out | 36 | 6 x 6 |",
        "joint coordinates, rad or m",
        "must not overlap",
        "not checked",
        "row by row",
        "no branches and no loops",
        "`x[e * 8 + i]`",
        "-ffp-contract=off",
        arm.trace("jacobian", link="link6").digest,
        str(arm.trace("jacobian", link="link6").operations),
    ):
        assert part in text
    assert max(len(line) for line in text.splitlines() if "|" not in line and not line.startswith("cc ")) <= 160
    assert "$" not in text


def test_files_are_not_replaced_unless_asked(traced, tmp_path):
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(FileExistsError, match=r"README.md"):
        export(traced, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
    assert (tmp_path / "README.md").read_text() == "mine"
    export(traced, tmp_path, overwrite=True)
    assert traced.title in (tmp_path / "README.md").read_text()
    assert len(list(tmp_path.iterdir())) == 5


def test_what_is_no_directory_is_refused(traced, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="file"):
        export(traced, tmp_path / "file")
    (tmp_path / "CMakeLists.txt").mkdir()
    with pytest.raises(IsADirectoryError, match="CMakeLists"):
        export(traced, tmp_path, overwrite=True)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_leaves_nothing_behind(traced, tmp_path, monkeypatch, exists):
    folder = tmp_path / "out"
    if exists:
        folder.mkdir()
    write = Path.write_text

    def full(path, text, **options):
        if path.name == "README.md":
            raise OSError(28, "No space left on device", str(path))
        return write(path, text, **options)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left"):
        export(traced, folder)
    assert folder.exists() == exists
    assert not list(folder.glob("*"))


class Wrong:
    """A traced function whose graph is not what the kernels compute."""

    def __init__(self, traced, factor):
        self.graph, self.name, self.title, self.origin = traced.graph, traced.name, traced.title, traced.origin
        self.reference = lambda *a, **k: (
            traced.reference(*a, **k)[0],
            tuple(x * factor for x in traced.reference(*a)[1]),
        )


@pytest.mark.parametrize("factor", [1.001, np.nan])
def test_code_that_disagrees_with_the_kernels_is_not_written(traced, tmp_path, factor):
    with pytest.raises(ArithmeticError, match="differs from the kernels by"):
        export(Wrong(traced, factor), tmp_path / "out")
    assert not (tmp_path / "out").exists()


NAMES = ["int", "../../x", "кран", "a" * 300, "*/ #error", "`rm -rf` | <b>${x}%s", "\u202etel"]


def test_names_of_models_cannot_do_harm(tmp_path):
    links = zv.robots.two_link().links
    chains = [zv.Chain(links, name=name) for name in NAMES]
    folder = tmp_path / "a" / "b"
    sources = []
    for k, chain in enumerate(chains):
        paths = export(chain.trace("potential_energy"), folder / str(k))
        sources += [str(path) for path in paths if path.suffix == ".c"]
        assert all(re.fullmatch(r"[A-Za-z]\w{0,39}(_test)?\.[ch]|CMakeLists.txt|README.md", p.name) for p in paths)
        assert all(p.parent == folder / str(k) for p in paths)
    done = run(["cc", *WARNINGS, "-fsyntax-only", *sources], tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("function", "options"),
    [
        ("forward_dynamics", {}),
        ("mass_matrix", {"method": "kane"}),
        ("inverse_dynamics", {"parameters": "symbolic"}),
        ("inverse_dynamics", {"level": "algebraic"}),
        ("derivatives", {}),
        ("pose", {"link": "tip"}),
    ],
)
def test_every_kind_of_function_passes_its_self_test(tmp_path, function, options):
    traced = zv.robots.two_link().trace(function, **options)
    assert traced.save(tmp_path, batch=5)
    done = self_test(tmp_path)
    assert done.returncode == 0, done.stdout


RING = ("forward_dynamics", "jacobian")


@pytest.fixture(scope="module")
def ring_library(tmp_path_factory):
    ring = zv.mechanisms.docking_ring("UPS")
    folder = tmp_path_factory.mktemp("ring")
    return folder, export([ring.trace(function) for function in RING], folder)


def test_several_functions_share_one_header_target_and_self_test(ring_library):
    folder, paths = ring_library
    name = "docking_ring_ups"
    assert [path.name for path in paths] == [f"{name}.c", f"{name}.h", f"{name}_test.c", "CMakeLists.txt", "README.md"]
    done = self_test(folder)
    assert done.returncode == 0, done.stdout
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [f"{name}_{f}" for f in RING]
    assert paths[3].read_text().count("add_library") == 1
    # the second function alone goes wrong
    number = re.search(r"want_1_J\S+ = \{\n  \{(\S+),", paths[2].read_text())
    text = paths[2].read_text()
    broken = folder / "broken"
    broken.mkdir()
    for path in paths[:2]:
        shutil.copy(path, broken)
    (broken / paths[2].name).write_text(text[: number.start(1)] + "9.0" + text[number.end(1) :])
    done = self_test(broken)
    assert done.returncode == 1
    assert [line.rpartition(" ")[2] for line in done.stdout.splitlines()] == ["passed", "FAILED"]


ACCESS = """
#include "docking_ring_ups.h"
#include <stdio.h>
int main(void)
{
  const double r[3] = {%s}, R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double u[6] = {0.1, 0, 0, 0, 0.2, 0}, wrench[6] = {-100, 20, 0, 0, 5, 0}, tau[6] = {10, -10, 5, 0, 0, 3};
  double acceleration[6], load[6], legs[DOCKING_RING_UPS_FORWARD_DYNAMICS_N_LEGS], measures[24];
  docking_ring_ups_forward_dynamics(r, R, u, wrench, tau, acceleration, load, legs, measures);
  printf("%%d", docking_ring_ups_ok(measures));
  for (int leg = 0; leg < 6; ++leg) {
    for (int k = 0; k < 3; ++k) {
      printf(" %%.17g", legs[DOCKING_RING_UPS_FORWARD_DYNAMICS_JOINT_ACCELERATION(leg, k)]);
    }
    for (int k = 0; k < 4; ++k) {
      printf(" %%.17g", legs[DOCKING_RING_UPS_FORWARD_DYNAMICS_REACTION(leg, k)]);
    }
  }
  return 0;
}
"""


@pytest.mark.parametrize(("r", "good"), [((0.38, 0.0, 0.0), 1), ((float("nan"), 0.0, 0.0), 0)])
def test_macros_find_the_quantities_of_a_leg_and_ok_judges_the_pose(ring_library, tmp_path, r, good):
    folder, paths = ring_library
    (tmp_path / "main.c").write_text(ACCESS % ", ".join(map(str, r)).replace("nan", "(1e300 * 1e300 - 1e300 * 1e300)"))
    command = ["cc", *WARNINGS, "-Wno-overflow", "-O1", "-ffp-contract=off", f"-I{folder}", "main.c", str(paths[0])]
    done = run([*command, "-lm", "-o", "program"], tmp_path)
    assert done.returncode == 0, done.stderr
    ok, *numbers = run(["./program"], tmp_path).stdout.split()
    assert int(ok) == good
    if good:
        ring = zv.mechanisms.docking_ring("UPS")
        u, wrench, tau = [0.1, 0, 0, 0, 0.2, 0], [-100, 20, 0, 0, 5, 0], [10, -10, 5, 0, 0, 3]
        want = ring.forward_dynamics(r, np.eye(3), u, wrench, tau)
        each = np.concatenate([want.joint_acceleration, want.reaction], axis=1)
        np.testing.assert_allclose(np.reshape([float(x) for x in numbers], (6, 7)), each, rtol=1e-12, atol=1e-12)


def test_a_pose_at_the_edge_of_reach_is_not_ok(tmp_path):
    ring = zv.mechanisms.docking_ring("RUS")
    assert ring.status((0.9, 0, 0), np.eye(3)) != 0
    paths = export(ring.trace("closure"), tmp_path)
    name = paths[0].stem
    lines = [
        f'#include "{name}.h"',
        "int main(void)",
        "{",
        "  const double r[3] = {0.9, 0, 0}, R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};",
        f"  double p[{name.upper()}_N_P], measures[24];",
        f"  {name}(r, R, p, measures);",
        f"  return {name}_ok(measures);",
        "}",
    ]
    (tmp_path / "main.c").write_text("\n".join(lines) + "\n")
    done = run(["cc", *WARNINGS, "-O1", "main.c", f"{name}.c", "-lm", "-o", "program"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert run(["./program"], tmp_path).returncode == 0


def test_the_same_function_of_two_links_has_two_names(tmp_path):
    arm = zv.robots.two_link()
    paths = export([arm.trace("pose", link=link) for link in ("upper", "tip", "tip")], tmp_path, batch=3, real="float")
    header = paths[1].read_text()
    for name in ("two_link_pose_upper_float(", "two_link_pose_tip_float(", "two_link_pose_tip_2_float("):
        assert f"void {name}" in header
    done = self_test(tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("passed") == 3


def test_readme_has_the_bytes_that_the_compiler_tells(traced, tmp_path):
    source, *_, readme = export(traced, tmp_path)
    run(["cc", "-std=c99", "-O2", "-ffp-contract=off", "-fno-math-errno", "-fstack-usage", "-c", source.name], tmp_path)
    stack = re.search(r":two_link_inverse_dynamics\t(\d+)\t", source.with_suffix(".su").read_text())[1]
    row = re.search(r"\| `two_link_inverse_dynamics` \| ([\d,]+) \| ([\d,]+) \|", readme.read_text())
    assert row[2].replace(",", "") == stack
    assert int(row[1].replace(",", "")) > 4 * traced.operations.total
    assert "Measured" in readme.read_text()


def test_without_a_compiler_the_sizes_are_estimated_and_that_is_said(tmp_path, monkeypatch):
    arm = zv.robots.puma560()
    measured = prepare(arm.trace("inverse_dynamics")).footprint
    monkeypatch.setenv("CC", "no-such-compiler")
    package = prepare(arm.trace("inverse_dynamics"))
    assert not package.footprint.measured
    (name,) = package.footprint.code
    for guess, truth in ((package.footprint.code, measured.code), (package.footprint.stack, measured.stack)):
        assert truth[name] / 3 < guess[name] < 3 * truth[name]
    *_, readme = package.write(tmp_path)
    assert "Estimated, there was no compiler" in readme.read_text()


def test_an_export_of_nothing_or_to_nowhere_is_refused(traced, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="no function"):
        export([], tmp_path)
    with pytest.raises(ValueError, match="directory is ''"):
        export(traced, "")
    with pytest.raises(ValueError, match="name is '##'"):
        export(traced, tmp_path, name="##")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("batch", [2.5, True, "4", None, -1, 10**30])
def test_a_batch_that_is_no_number_of_states_is_refused(traced, batch):
    with pytest.raises(ValueError, match=r"c_source: batch is .*, expected an integer from 0 to 1024"):
        traced.c_source(batch=batch)


@pytest.mark.parametrize("limit", [10**30, 0, -1, True, 2.5, "x"])
def test_a_limit_that_is_no_number_of_nodes_is_refused(limit):
    for method in ("trace", "compile"):
        with pytest.raises(ValueError, match=rf"{method}: limit is .*, expected an integer from 1 to "):
            getattr(zv.robots.two_link(), method)("bias", limit=limit)
