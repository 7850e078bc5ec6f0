"""A step in C calls nothing that may block: RealtimeSanitizer where clang has it, and a preloaded guard on Linux."""

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import zveno as zv
from zveno import docking
from zveno.deploy.library import c_library

HERE = Path(__file__).parent


def sanitizing_clang():
    """A clang with RealtimeSanitizer, or None."""
    for name in ("clang-22", "clang-21", "clang-20", "clang"):
        if shutil.which(name):
            probe = subprocess.run(
                [name, "-fsanitize=realtime", "-x", "c", "-o", "/dev/null", "-"],
                input="int main(void) { return 0; }",
                capture_output=True,
                text=True,
            )
            if probe.returncode == 0:
                return name
    return None


CLANG = sanitizing_clang() if sys.platform == "linux" else None
CHECKERS = (["guard"] if sys.platform == "linux" else []) + (["sanitizer"] if CLANG else [])


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Command and environment of each checker."""
    folder = tmp_path_factory.mktemp("realtime")
    paths = c_library()
    use = [paths.cflags, *paths.libs.split()]
    built = {}
    if "guard" in CHECKERS:
        subprocess.run(["cc", "-O1", "-w", HERE / "steps.c", "-o", folder / "steps", *use, "-lpthread"], check=True)
        guard = ["cc", "-O1", "-w", "-shared", "-fPIC", HERE / "guard.c", "-o", folder / "guard.so", "-ldl"]
        subprocess.run(guard, check=True)
        built["guard"] = folder / "steps", {"LD_PRELOAD": str(folder / "guard.so")}
    if CLANG:
        line = [CLANG, "-O1", "-w", "-fsanitize=realtime", HERE / "steps.c", "-o", folder / "checked", *use]
        subprocess.run(line, check=True)
        built["sanitizer"] = folder / "checked", {}
    return built


@pytest.fixture(scope="module")
def rigs(tmp_path_factory):
    """Files of a ring, an arm, a linkage and a docking, which begins where the rings are about to touch."""
    folder = tmp_path_factory.mktemp("rigs")
    law = zv.laws.SpringDamper(400.0, 80.0) + zv.laws.LuGre(5.0, 7.0, 2e-3, 1e5, 300.0)
    zv.save_rig(zv.mechanisms.docking_ring("RSU"), folder / "ring.json", laws=law, substeps=2)
    zv.save_rig(zv.robots.puma560(), folder / "arm.json", poses=["link6"], external=["link6"])
    bar = zv.mechanisms.four_bar()
    zv.save_rig(bar, folder / "linkage.json", q=bar.close([0.8, 0.0, 1.5], hold=["crank_joint"]))
    scenario = docking.demo("RSU", "nominal")
    near = dataclasses.replace(scenario.conditions, gap=None)
    sensor = {"contact_wrench": {"lag": 2e-3, "mass": 3.0, "gravity": [0, 0, -9.81], "dead_band": [1.0] * 6}}
    zv.save_rig(scenario.replace(conditions=near), folder / "docking.json", period=2e-3)
    zv.save_rig(scenario, folder / "measured.json", contact_input=True, sensor=sensor)
    return folder


def run(program, file, count, *fault):
    path, environment = program
    command = [str(path), str(file), str(count), *fault]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("model", ["ring", "arm", "linkage", "docking", "measured"])
def test_steps_call_nothing_that_may_block(programs, rigs, checker, model):
    count = 20_000 if model in ("ring", "arm") else 10_000
    done = run(programs[checker], rigs / f"{model}.json", count)
    assert done.returncode == 0, done.stderr
    steps, failures, refused, calls = map(int, done.stdout.split())
    assert (steps, failures) == (count, 0)
    assert refused > 100  # inputs that are not finite went the same way
    assert calls == (0 if checker == "guard" else -1)


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("fault", ["malloc", "lock", "write"])
def test_a_planted_call_is_found(programs, rigs, checker, fault):
    done = run(programs[checker], rigs / "arm.json", 100, fault)
    found = done.returncode != 0 if checker == "sanitizer" else int(done.stdout.split()[3]) > 0
    assert found, done.stdout + done.stderr
