"""README.md: its code runs and prints what it shows, its types hold, its pictures and numbers are of this version."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pinocchio
import pytest
import zveno as zv
from PIL import Image

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)
PYTHON = [(code, BLOCKS[i + 1]) for i, (language, code) in enumerate(BLOCKS) if language == "python"]
PREFIX = next(parent for parent in Path(pinocchio.__file__).parents if parent.name == "cmeel.prefix")
UR5 = PREFIX / "share" / "example-robot-data" / "robots" / "ur_description" / "urdf" / "ur5_robot.urdf"
FIGURES = ROOT / "docs" / "figures"


def run(*command, cwd, **environment):
    """Output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env={**os.environ, **environment}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def pictures():
    """Names of the script that draws the figures."""
    return runpy.run_path(str(FIGURES / "make_readme_figures.py"))


# ---- code -------------------------------------------------------------------------------------------------------


def test_there_are_five_doors():
    titles = re.findall(r"^## (I .*)$", README, re.MULTILINE)
    assert titles == [
        "I have a URDF", "I have a docking ring", "I have two spacecraft", "I have logs of a robot", "I run a rig"
    ]  # fmt: skip
    assert all(len(re.findall(r"^.", code, re.MULTILINE)) <= 6 for code, _ in PYTHON)


@pytest.mark.parametrize("door", range(len(PYTHON)))
def test_python_prints_what_is_shown_and_warns_of_nothing(door, tmp_path):
    code, (language, output) = PYTHON[door]
    assert language == ""
    shutil.copy(UR5, tmp_path / "ur5.urdf")
    (tmp_path / "door.py").write_text(code, encoding="utf-8")
    assert run(sys.executable, "-W", "error", "door.py", cwd=tmp_path) == output


@pytest.mark.types
def test_python_passes_strict_type_checking(tmp_path):
    names = [f"door{k}.py" for k in range(len(PYTHON))]
    for name, (code, _) in zip(names, PYTHON, strict=True):
        (tmp_path / name).write_text(code, encoding="utf-8")
    folder = Path(zv.__file__).parents[1]
    # mypy finds installed packages by itself, and refuses to be told of them
    path = {} if folder.name == "site-packages" else {"MYPYPATH": str(folder)}
    told = run(sys.executable, "-m", "mypy", "--strict", "--config-file=", *names, cwd=tmp_path, **path)
    assert told == f"Success: no issues found in {len(names)} source files\n"


def test_exported_c_prints_what_is_shown(tmp_path):
    _, _, rig = README.partition("## I run a rig\n")
    (_, program), (_, commands), (_, output) = re.findall(r"```(\w*)\n(.*?)```", rig, re.DOTALL)[:3]
    (tmp_path / "torque.c").write_text(program, encoding="utf-8")
    (tmp_path / "zveno").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m zveno.cli "$@"\n')
    (tmp_path / "zveno").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    printed = run("sh", "-e", "-c", commands, cwd=tmp_path, PATH=path)
    last = "".join(printed.splitlines(keepends=True)[-output.count("\n") :])
    rounding = r"difference [\d.e-]+,"  # the sines of the C library differ in their last digits
    assert re.sub(rounding, "", last) == re.sub(rounding, "", output)


# ---- commands and links -----------------------------------------------------------------------------------------


def test_the_test_command_is_that_of_continuous_integration():
    commands = [code.strip() for language, code in BLOCKS if language == "sh" and code.startswith("python3 -m venv")]
    demo, test = commands
    assert demo.endswith("&& .venv/bin/zveno demo")
    assert test in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_links_lead_to_files_and_headings():
    headings = {
        re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^#+ (.*)$", README, re.M)
    }
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert len(links) > 15
    for link in links:
        if link.startswith("#"):
            assert link[1:] in headings, link
        elif not link.startswith("https://"):
            assert (ROOT / link).exists(), link


# ---- pictures and numbers ---------------------------------------------------------------------------------------


def test_the_moving_picture_is_light_and_shows_what_the_code_computes(pictures):
    path = FIGURES / "docking_ring.gif"
    assert f"]({path.relative_to(ROOT).as_posix()})" in README
    assert path.stat().st_size < 1.5e6
    with Image.open(path) as picture:
        assert picture.n_frames > 40
        assert picture.info["loop"] == 0  # for ever
        assert json.loads(picture.info["comment"]) == pictures["facts"](pictures["blow"]())


def test_the_moving_picture_is_the_run_of_the_second_door(pictures):
    space = {}
    exec(PYTHON[1][0].rpartition("print(")[0], space)
    assert pictures["facts"](space["sim"]) == pictures["facts"](pictures["blow"]())


def test_frames_are_drawn_the_same_every_time(pictures, tmp_path):
    for name in ("one.gif", "two.gif"):
        pictures["save_gif"](pictures["frames"](pictures["blow"](), every=200), tmp_path / name, "")
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()
    with Image.open(tmp_path / "one.gif") as picture:
        assert picture.n_frames == 4
        assert picture.convert("RGB").getpixel((0, 0)) == (255, 255, 255)


def test_the_chart_is_drawn_from_the_speed_tables(pictures):
    tables = pictures["speeds"]((ROOT / "docs" / "performance.md").read_text(encoding="utf-8"))
    assert all(len(row) == 3 and min(row) > 0 for row in tables.values())
    drawn = re.search(r"<dc:description>(.*?)</dc:description>", (FIGURES / "speed.svg").read_text(encoding="utf-8"))
    assert json.loads(drawn[1].replace("&quot;", '"')) == tables


@pytest.mark.parametrize(
    ("start", "table", "row"),
    [
        ("inverse dynamics, 10,000 states", "COMPILED", "10,000 states from Python, Panda"),
        ("inverse dynamics, one call in C", "COMPILED", "C call, Panda"),
        ("ring: ", "", "C++ call"),
    ],
)
def test_the_three_numbers_are_those_of_the_speed_tables(start, table, row, pictures):
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    heading = pictures[table] if table else " | UPS | SPU | UCU | RUS | RSU"
    ratio, time = pictures["cells"](page, heading, row)[0]
    line = next(line for line in README.splitlines() if line.startswith(f"| {start}"))
    assert f"| {time} " in line
    assert f"| {ratio:g}, " in line
