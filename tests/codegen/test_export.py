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
from zveno.codegen.export import export

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
    for command in ([cmake, "-S", ".", "-B", "b"], [cmake, "--build", "b"], [ctest, "--test-dir", "b"]):
        done = run(command, tmp_path)
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
