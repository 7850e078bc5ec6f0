"""The command line: tables, JSON, files, exit codes, one-line errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import preloaded
import pytest
from typer.testing import CliRunner
from zveno import study
from zveno.cli import app
from zveno.plot import bench as plots

QUICK = ["--max-n", "4", "--seconds", "0.001", "--repeat", "1"]
URDF = """
<robot name="crane">
  <link name="ground"/>
  <link name="boom">
    <inertial>
      <origin xyz="1 0 0"/><mass value="20"/><inertia ixx="1" iyy="8" izz="8" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <link name="hook">
    <inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="tip"/>
  <joint name="slew" type="revolute">
    <parent link="ground"/><child link="boom"/><axis xyz="0 0 1"/>
    <limit lower="-1.5" upper="1.5" velocity="0.5" effort="900"/>
  </joint>
  <joint name="hoist" type="prismatic">
    <parent link="boom"/><child link="hook"/><origin xyz="2 0 0"/><axis xyz="0 0 -1"/>
    <limit lower="0" upper="3" velocity="1" effort="400"/>
  </joint>
  <joint name="weld" type="fixed"><parent link="hook"/><child link="tip"/></joint>
</robot>
"""
SUSPICIOUS = URDF.replace('ixx="1" iyy="8" izz="8"', 'ixx="1" iyy="1" izz="8"')


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder, 80 columns wide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture
def crane(tmp_path):
    path = tmp_path / "crane.urdf"
    path.write_text(URDF)
    return path


def console_script(*arguments, **environment):
    """The command as a user starts it; the environment may hide modules."""
    command = [sys.executable, "-m", "zveno", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)


def one_line(text):
    assert text.endswith("\n")
    assert text.count("\n") == 1
    return text


def test_bench_opens_with_its_verdict_and_leaves_no_file(run, tmp_path):
    result = run("bench", *QUICK)
    assert result.exit_code == 0, result.output
    title, *verdict = result.stdout.splitlines()
    assert title.strip() == "Verdict"
    assert [line.split(":")[0] for line in verdict if line.startswith("- ")][:3] == [  # times decide which ones wrap
        "- Fewest operations",
        "- Fastest, one state",
        "- Fastest in a batch",
    ]
    assert len(result.output.splitlines()) < 60
    assert not list(tmp_path.iterdir())


def test_bench_shows_every_algorithm_and_on_request_its_polynomials(run):
    result = run("bench", *QUICK, "--details")
    for word in ("columns", "triangular", "recurrent", "collapsed", "kosynka", "4.5N³+37N²+243.5N-19", "Verdict"):
        assert word in result.output
    assert max(map(len, result.output.splitlines())) <= 80
    assert "\x1b" not in result.output
    assert "(002)" not in result.output


def test_bench_writes_json_with_exact_counts_and_positive_times(run, tmp_path):
    result = run("bench", *QUICK, "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert data["sizes"] == [2, 3, 4]
    assert set(data["machine"]) == {"cpu", "cores", "system", "features", "versions"}
    assert set(data["polynomials_ascending"]) == set(study.METHODS)
    assert {(row["method"], row["n"]) for row in data["measurements"]} == {
        (m, n) for m in study.METHODS for n in (2, 3, 4)
    }
    for row in data["measurements"]:
        stages = row["operations"]["stages"].values()
        assert row["operations"]["mul"] == sum(stage["mul"] for stage in stages)
        assert row["operations"]["add"] == sum(stage["add"] for stage in stages)
        assert row["seconds"]["batch"] > 0
        assert row["seconds"]["single"] > 0
        assert row["processor_seconds"]["single"] >= 0
    assert data["verdict"]
    assert not list(tmp_path.iterdir())


def test_bench_draws_on_request(run, tmp_path):
    assert run("bench", *QUICK, "--quiet", "--plot", "a.svg").exit_code == 0
    assert "<svg" in (tmp_path / "a.svg").read_text()
    assert run("bench", *QUICK, "--quiet", "--plot", "a.png").output == ""
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_bench_without_matplotlib_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert run("bench", *QUICK).exit_code == 0
    result = run("bench", *QUICK, "--plot", "a.png")
    assert result.exit_code == 2
    assert 'pip install "zveno[plot]"' in one_line(result.stderr)


def test_bench_against_pinocchio_compares_in_the_same_run(run):
    result = run("bench", *QUICK, "--against", "pinocchio", "--json")
    assert result.exit_code == 0, result.output
    data = json.loads(result.stdout)
    assert "pin" in data["machine"]["versions"]
    assert all(row["times_faster_than_pinocchio"]["single"] > 0 for row in data["measurements"])
    assert "Pinocchio's CRBA" in run("bench", *QUICK, "--against", "pinocchio").output


def test_bench_without_pinocchio_says_how_to_get_it(run, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = run("bench", *QUICK, "--against", "pinocchio")
    assert result.exit_code == 2
    assert "pip install pin" in one_line(result.stderr)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--max-n", "1"], "--max-n"),
        (["--max-n", "100000"], "--max-n"),
        (["--seconds", "0"], "--seconds"),
        (["--seconds", "nan"], "--seconds"),
        (["--repeat", "0"], "--repeat"),
        (["--seed", "-1"], "--seed"),
        (["--against", "abacus"], "abacus"),
        (["--plot", "a.jpeg"], ".svg"),
        (["--plot", "missing/a.png"], "missing"),
        (["--plot", ""], "--plot is ''"),
    ],
)
def test_bench_refuses_wrong_options_in_one_line(run, options, complaint, tmp_path):
    result = run("bench", *options)
    assert result.exit_code == 2
    assert complaint in one_line(result.stderr)
    assert not list(tmp_path.iterdir())


def test_a_word_for_a_number_is_one_line_too():
    result = console_script("bench", "--max-n", "many")
    assert result.returncode == 2
    assert "max-n" in one_line(result.stderr)


def test_winner_stays_for_a_tie_and_ranges_are_joined():
    result = study.run(3, seconds=1e-4, repeat=1)
    assert [n for _, sizes in result.winners(lambda m: m.single) for n in sizes] == [2, 3]
    assert result.winners(lambda m: 1.0 + 0.01 * (m.method != "kane" or m.n != 3), tie=0.03) == [("crba", [2, 3])]


def test_figure_has_a_line_for_every_algorithm_in_both_panels():
    figure = plots.bench_figure(study.run(3, seconds=1e-4, repeat=1))
    for axes in figure.axes:
        assert [line.get_label() for line in axes.lines] == list(study.METHODS)
        assert axes.get_xlabel()
        assert axes.get_ylabel()


def test_results_that_disagree_are_not_compared():
    with pytest.raises(study.StudyError, match="left and right"):
        study.require_agreement("left and right", [1.0, 2.0], [1.0, 2.0 + 1e-8])
    with pytest.raises(study.StudyError):
        study.require_agreement("left and right", [float("nan")], [1.0])


def test_info_shows_joints_with_units_links_and_counts(run, crane):
    result = run("info", crane)
    assert result.exit_code == 0, result.output
    for word in ("crane", "slew", "-1.5 .. 1.5 rad", "900 N m", "0 .. 3 m", "400 N", "boom", "tip", "inverse_dynamics"):
        assert word in result.output
    assert "25 kg" in result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_info_json_is_complete(run, crane):
    data = json.loads(run("info", crane, "--json").stdout)
    assert (data["n"], data["serial"], data["total_mass"]) == (2, True, 25.0)
    assert [link["name"] for link in data["links"]] == ["boom", "hook", "tip"]
    assert data["links"][1]["upper"] == 3.0
    assert data["operations"]["mass_matrix"]["total"] > 0


def test_info_lists_warnings_and_strict_makes_them_errors(run, tmp_path):
    path = tmp_path / "odd.urdf"
    path.write_text(SUSPICIOUS)
    result = run("info", path)
    assert result.exit_code == 0
    assert "Warnings" in result.output
    assert "boom" in json.loads(run("info", path, "--json").stdout)["warnings"][0]
    strict = run("info", path, "--strict")
    assert strict.exit_code == 1
    assert "boom" in one_line(strict.stderr)


def test_info_knows_the_built_in_robots(run):
    assert json.loads(run("info", "puma560", "--json").stdout)["name"] == "puma560"


def test_names_that_look_like_markup_stay_as_they_are(run, crane):
    crane.write_text(URDF.replace("boom", "[red]boom[/red]"))
    assert "[red]boom[/red]" in run("info", crane).output


@pytest.mark.parametrize(
    "content", [None, "", "<robot", "<robot name='a'/>", URDF.replace('"20"', '"-20"'), URDF.replace('"20"', '"nan"')]
)
def test_info_of_a_broken_file_is_one_line_and_exit_code_1(tmp_path, content):
    path = tmp_path / "broken.urdf"
    if content is not None:
        path.write_text(content)
    result = preloaded.run("info", path, module="zveno")
    assert result.returncode == 1
    assert "broken.urdf" in one_line(result.stderr)
    assert result.stdout == ""


def test_export_shows_counts_files_and_a_command_that_works(run, crane, tmp_path):
    result = run("export", crane, "--function", "inverse_dynamics", "--lang", "c", "-o", "out")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.output.splitlines()]
    written = next(row for row in rows if row[:3] == ["kernel", "as", "written"])
    generated = next(row for row in rows if row[:3] == ["generated", "code,", "strict"])
    assert 0 < int(generated[-1]) < int(written[-1].replace(",", ""))
    for name in ("crane_inverse_dynamics.c", "crane_inverse_dynamics.h", "README.md", "CMakeLists.txt"):
        assert f"  out/{name}\n" in result.output
        assert (tmp_path / "out" / name).exists()
    command = result.output.partition("Compile and test\n")[2]
    done = subprocess.run(command, shell=True, check=True, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert "passed" in done.stdout
    assert max(map(len, result.output.splitlines())) <= 80


def test_export_takes_every_option(run, tmp_path):
    options = ["--function", "mass_matrix", "--method", "kane", "--parameters", "symbolic", "--float", "--batch", "4"]
    assert run("export", "two_link", "-o", "a", *options).exit_code == 0
    (header,) = (tmp_path / "a").glob("*.h")
    for part in ("_float_batch(", "const float parameters[", "kane"):
        assert part in header.read_text()
    assert run("export", "two_link", "-o", "a", "--parameters", "upper,lower", "--force").exit_code == 0
    options = ["--function", "reactions", "--frame", "world", "--level", "algebraic"]
    assert run("export", "two_link", "-o", "b", *options).exit_code == 0
    assert run("export", "two_link", "-o", "c", "--function", "pose", "--link", "tip").exit_code == 0


def test_export_cuts_a_link(run, tmp_path):
    options = ["--function", "section_load", "--section", "upper:0.3,0,0:1,0,0", "--parts", "static"]
    options += ["--external", "lower", "--external-frame", "link", "--frame", "world"]
    result = run("export", "two_link", "-o", "out", *options)
    assert result.exit_code == 0, result.output
    command = result.output.partition("Compile and test\n")[2]
    done = subprocess.run(command, shell=True, check=True, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert "passed" in done.stdout
    assert "external_lower" in (tmp_path / "out" / "two_link_section_load.h").read_text()


def test_export_replaces_files_only_if_asked(run, crane, tmp_path):
    assert run("export", crane, "-o", "out").exit_code == 0
    (tmp_path / "out" / "README.md").write_text("mine")
    result = run("export", crane, "-o", "out")
    assert result.exit_code == 1
    assert "--force" in one_line(result.stderr)
    assert (tmp_path / "out" / "README.md").read_text() == "mine"
    assert run("export", crane, "-o", "out", "--force").exit_code == 0
    assert "mine" not in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(
    ("options", "complaint", "code"),
    [
        (["--lang", "rust"], "--lang is 'rust', expected 'c'", 2),
        (["--function", "dance"], "dance", 2),
        (["--function", "pose"], "link", 2),
        (["--function", "pose", "--link", "nose"], "nose", 2),
        (["--function", "mass_matrix", "--method", "magic"], "magic", 2),
        (["--frame", "tilted"], "frame", 2),
        (["--level", "deep"], "deep", 2),
        (["--parameters", "some"], "some", 2),
        (["--batch", "-1"], "batch is -1", 2),
        (["-o", "crane.urdf"], "crane.urdf", 1),
        (["-o", ""], "-o is ''", 2),
        (["--snap", "nan"], "--snap is nan", 2),
        (["--external", "nose"], "nose", 2),
        (["--point", "0,0"], "--point is '0,0'", 2),
        (["--function", "section_load"], "section", 2),
        (["--function", "section_load", "--section", "tip"], "--section is 'tip', expected LINK:x,y,z", 2),
        (["--function", "section_load", "--section", "tip:0,0"], "point of --section is '0,0'", 2),
        (["--function", "section_load", "--section", "nose:0,0,0"], "nose", 2),
        (["--parts", "static"], "--parts is 'static', which inverse_dynamics of 'crane' cannot have", 2),
        (["--external-frame", "tilted"], "external_frame", 2),
        (["--link", "tip"], "--link is 'tip', which inverse_dynamics of 'crane' cannot have", 2),
        (["--function", "pose", "--function", "dance"], "dance", 2),
        (["--name", "()"], "name is '()'", 2),
    ],
)
def test_export_refuses_in_one_line_and_writes_nothing(run, crane, tmp_path, options, complaint, code):
    result = run("export", crane, "-o", "out", *options)
    assert result.exit_code == code
    assert complaint in one_line(result.stderr)
    assert list(tmp_path.iterdir()) == [crane]


def test_export_of_a_missing_file_says_what_there_is(run):
    result = run("export", "puma561", "-o", "out")
    assert result.exit_code == 1
    assert "puma560" in one_line(result.stderr)


def test_export_passes_the_warnings_on(run, tmp_path):
    (tmp_path / "odd.urdf").write_text(SUSPICIOUS)
    result = run("export", "odd.urdf", "-o", "out")
    assert result.exit_code == 0
    assert "boom" in one_line(result.stderr)


def test_version_cpu_and_help(run):
    assert run("--version").output.startswith("zveno ")
    assert "selected" in run("cpu").output


@pytest.mark.parametrize("module", ["typer", "rich"])
def test_console_script_without_extras_says_what_to_install(tmp_path: Path, module: str):
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    result = console_script("cpu", PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    assert result.returncode == 1
    assert 'pip install "zveno[cli]"' in one_line(result.stderr)


def test_importing_zveno_imports_no_extras():
    code = "import sys, zveno; print([name for name in ('typer', 'rich', 'matplotlib') if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
