"""The examples run, and those in C++ build against the installed package and compute what Python computes."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import preloaded
import pytest
import zveno as zv

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = sorted((EXAMPLES / "python").glob("[0-9]*.py"))


def run(*command, cwd):
    """Output of a command that must succeed; tools installed beside this Python come first."""
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
    done = subprocess.run(
        [str(c) for c in command], cwd=cwd, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_python_example_runs_without_a_warning_and_leaves_no_file(script, tmp_path):
    done = preloaded.run(script, strict=True, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
    assert not list(tmp_path.iterdir())


def test_python_examples_draw_simulate_and_read_a_spreadsheet():
    code = [script.read_text(encoding="utf-8") for script in SCRIPTS]
    for word in (".plot(", ".simulate(", "csv.reader("):
        assert any(word in text for text in code), word


@pytest.mark.types
def test_python_examples_pass_strict_type_checking(tmp_path):
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\n", encoding="utf-8")
    assert run(sys.executable, "-m", "mypy", "--config-file", "mypy.ini", *SCRIPTS, cwd=tmp_path)


def test_python_examples_are_numbered_without_gaps():
    assert [int(script.stem[:2]) for script in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """Folder of the C++ examples, built against the installed package."""
    folder = tmp_path_factory.mktemp("cpp")
    root = zv.__path__[0]
    run("cmake", "-S", EXAMPLES / "cpp", "-B", "build", "-G", "Ninja", f"-Dzveno_ROOT={root}", cwd=folder)
    run("cmake", "--build", "build", cwd=folder)
    return folder / "build"


def printed_by(program, expected):
    """The lines of a program by their first words; values must be those of Python."""
    printed = dict(line.split(" ", 1) for line in run(program, cwd=program.parent).splitlines())
    for name, values in expected.items():
        # no contraction, one text: C++ and Python agree to the last bit
        assert printed[name] == " ".join(f"{x:.17g}" for x in np.ravel(values))
    return printed


@pytest.mark.slow
def test_cpp_example_computes_what_python_computes(programs):
    q, rest, arm = np.array([0.3, -0.5]), np.zeros(2), zv.robots.two_link()
    expected = {
        "mass_matrix": arm.mass_matrix(q),
        "holding_torque": arm.inverse_dynamics(q, rest, rest),
        "falling_acceleration": arm.forward_dynamics(q, rest, rest),
    }
    printed = printed_by(programs / "two_link", expected)
    assert "nowhere" in printed["error"]
    assert "upper" in printed["error"]


@pytest.mark.slow
def test_c_rig_steps_as_python_does(programs, tmp_path):
    ring, law = zv.mechanisms.docking_ring("UPS"), zv.laws.SpringDamper(400.0, 80.0)
    zv.save_rig(ring, tmp_path / "ring.json", laws=law)
    printed = dict(
        line.split(" ", 1) for line in run(programs / "rig", tmp_path / "ring.json", cwd=tmp_path).splitlines()
    )
    assert printed["code"] == "0"
    assert printed["again"] == printed["position"]
    stepper = zv.Stepper(ring, laws=law)
    for k in range(1000):
        out = stepper.step(wrench=(-50.0 if k < 100 else 0.0, 0, 0, 0, 0, 0))
    assert printed["position"] == " ".join(f"{x:.17g}" for x in out["ring.position"])


@pytest.mark.slow
def test_cpp_hexapod_computes_what_python_computes(programs):
    hinges = [
        ((0, 0.618, 0.166), (0, 0.424, 0.424)),
        ((0, 0.618, -0.166), (0, 0.424, -0.424)),
        ((0, -0.165, 0.618), (0, 0.155, 0.58)),
        ((0, -0.453, 0.453), (0, -0.58, 0.155)),
        ((0, -0.453, -0.453), (0, -0.58, -0.155)),
        ((0, -0.165, -0.618), (0, 0.155, -0.58)),
    ]
    strut = {
        "housing": zv.Body(4.0, (0.002, 0.031, 0.031), (0.15, 0, 0)),
        "rod": zv.Body(2.5, (0.0004, 0.017, 0.017), (0.11, 0, 0)),
        "housing_length": 0.25,
        "rod_length": 0.25,
        "reflected_mass": 9.87,
        "base_frame": np.eye(3),
    }
    ring = zv.Hexapod(zv.Body(45.0, (15.5, 8.2, 8.2)), [zv.Leg.ups(*pair, **strut) for pair in hinges])
    r, R = (0.38, 0.02, -0.01), np.array([[1, 0, 0], [0, 0.96, -0.28], [0, 0.28, 0.96]])
    u, drives = (-0.05, 0.02, 0.01, 0.04, -0.03, 0.02), (30, -10, 20, 5, -15, 25)
    result = ring.forward_dynamics(r, R, u, (-200, 40, -30, 5, -10, 8), drives)
    expected = {
        "joint_coordinates": ring.closure(r, R),
        "acceleration": result.acceleration,
        "base_wrench": result.base_wrench,
        "hardest_contact": ring.forward_dynamics(r, R, u, (-900, 0, 0, 0, 0, 0), np.zeros(6)).acceleration,
    }
    printed = printed_by(programs / "docking_ring", expected)
    with pytest.raises(zv.SingularityError) as caught:
        ring.closure((0, 0.494, -0.258), np.eye(3))
    assert caught.value.leg == "leg1"
    assert "leg 'leg1'" in printed["error"]
