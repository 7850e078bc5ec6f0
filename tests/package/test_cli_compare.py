"""The scripts of bench/: what was measured is kept, clocks that stand still do no harm, missing tools are named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from zveno.bench.timing import Times, call, measure

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench"


@pytest.fixture(autouse=True)
def bench_path(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))


def script(code, *arguments):
    """Python code in a new process that finds the scripts."""
    head = f"import sys; sys.path.insert(0, {str(BENCH)!r})\n"
    return subprocess.run([sys.executable, "-c", head + code, *arguments], capture_output=True, text=True, check=False)


def test_a_row_that_fails_does_not_lose_the_others(tmp_path, capsys):
    from compare import Row, line, plain
    from journal import Journal

    path = tmp_path / "rows.json"
    journal = Journal({"cpu": "slow"}, path, line, plain)

    def rows(name):
        yield Row("single", name, "RNEA", 10.0, "Pinocchio", 50.0)
        if name == "b":
            raise ZeroDivisionError("float division by zero")
        yield Row("single", name, "CRBA", 10.0, "Pinocchio", 30.0)

    for name in "abc":
        journal.attempt(f"task {name}", lambda name=name: rows(name))
        # complete after every measurement
        assert json.loads(path.read_text())["rows"][-1]["model"] == name
    data = json.loads(path.read_text())
    assert [(row["model"], row["function"]) for row in data["rows"]] == [
        ("a", "RNEA"),
        ("a", "CRBA"),
        ("b", "RNEA"),
        ("c", "RNEA"),
        ("c", "CRBA"),
    ]
    assert data["failures"] == [{"what": "task b", "error": "ZeroDivisionError: float division by zero"}]
    assert data["rows"][0]["ours_processor"] is None
    shown = capsys.readouterr()
    assert shown.out.count("5.00x") == 3
    assert data["rows"][0]["processor_ratio"] is None
    assert "task b: failed" in shown.err
    with pytest.raises(SystemExit):
        journal.finish()
    assert [item.name for item in tmp_path.iterdir()] == ["rows.json"]


def test_rows_are_on_disk_when_the_process_is_killed(tmp_path):
    code = """
import os, sys
from pathlib import Path
from compare import Row, line
from journal import Journal
def rows():
    yield Row("single", "a", "RNEA", 10.0, "Pinocchio", 50.0)
    os._exit(9)
Journal({}, Path(sys.argv[1]), line).attempt("task", rows)
"""
    done = script(code, str(tmp_path / "rows.json"))
    assert done.returncode == 9
    assert "5.00x" in done.stdout
    assert len(json.loads((tmp_path / "rows.json").read_text())["rows"]) == 1


def test_a_clock_of_processor_time_that_stands_still_is_no_division_by_zero(monkeypatch):
    monkeypatch.setattr(time, "process_time", lambda: 0.0)
    found = measure({"a": call(sum, [1, 2, 3])}, seconds=1e-3)["a"]
    assert found.wall > 0
    assert found.processor == 0.0
    assert found.busy != found.busy


def test_times_are_wall_times_with_the_processor_beside_them():
    found = measure({"sleep": call(time.sleep, 2e-3), "work": call(sum, range(10_000))}, seconds=0.05)
    assert found["sleep"].wall > 2e-3
    assert found["sleep"].processor < 0.5 * found["sleep"].wall
    assert found["work"].processor > 0


def test_a_loop_in_c_that_takes_no_time_is_no_division_by_zero():
    from compiled_table import Row, Timed, best_in_turns, line, plain, table

    still = Timed(lambda rounds: 0.0, lambda: ())
    times, processor = best_in_turns({("compiled", "strict"): still, ("compiled", "algebraic"): still}, 1e-3)
    assert set(times.values()) == {0.0}
    row = Row("C call", "Panda", "RNEA", times | {("Pinocchio", "native"): 5.0}, processor)
    assert "nanx" in line(row)
    assert any("nanx" in text for text in table([row]))
    assert plain(row)["times"]["Pinocchio native"] == 5.0


def test_a_row_of_a_disturbed_turn_is_marked():
    from compare import line, row_of

    def row(ours):
        return line(row_of("batch", "Panda", "RNEA", ours, "Pinocchio", Times(1e-6, 1e-6, 1.0)))

    assert "disturbed" not in row(Times(1e-7, 1e-7, 1.0))
    busy = row(Times(2e-7, 1e-7, 2.0))
    assert "disturbed" in busy
    # both ratios stand there
    assert "5.00x" in busy
    assert "10.00x" in busy


def test_what_cpp_needs_is_asked_for_before_anything_is_measured(monkeypatch, tmp_path):
    import compare

    monkeypatch.setattr(compare, "PREFIX", tmp_path)
    compare.require_tools(compiled=False, cpp=False)
    with pytest.raises(SystemExit, match=r"--cpp needs .*\(cmeel-eigen\).*pip install \"zveno\[bench\]\""):
        compare.require_tools(compiled=False, cpp=True)


def brought_by(extra):
    """Distributions of this environment that `pip install "zveno[extra]"` brings into an empty one."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    todo, seen = [Requirement(f"zveno[{extra}]")], set()
    while todo:
        need = todo.pop()
        if (what := (canonicalize_name(need.name), frozenset(need.extras))) in seen:
            continue
        seen.add(what)
        if need.name == "zveno":
            todo += [Requirement(text) for name in need.extras for text in extras[name]]
            continue
        try:
            needs = [Requirement(text) for text in metadata.distribution(need.name).requires or []]
        except metadata.PackageNotFoundError:  # CasADi, which C++ needs not
            seen.remove(what)
            continue
        todo += [x for x in needs if not x.marker or any(x.marker.evaluate({"extra": e}) for e in ("", *need.extras))]
    return {name for name, _ in seen} - {"zveno"}


@pytest.mark.slow
def test_the_extra_brings_what_the_set_up_of_cpp_needs(tmp_path):
    """Preprocessed with the headers of its distributions, and no others."""
    prefix = tmp_path / "prefix"
    for name in brought_by("bench"):
        for file in metadata.distribution(name).files or ():
            if file.parts[0] == "cmeel.prefix" and file.parts[1] in ("include", "lib"):
                link = prefix.joinpath(*file.parts[1:3])
                link.parent.mkdir(parents=True, exist_ok=True)
                if not link.is_symlink():
                    link.symlink_to(Path(str(metadata.distribution(name).locate_file("")), *file.parts[:3]))
    words = ["c++", "-std=c++17", "-E", "-o", os.devnull]
    words += [f"-I{folder}" for folder in (ROOT / "cpp", prefix / "include", prefix / "include" / "eigen3")]
    words.append(str(BENCH / "cpp" / "pinocchio_engine.cpp"))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
