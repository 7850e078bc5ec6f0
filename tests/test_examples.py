"""The examples run, and those in C++ build against the installed package and compute what Python computes."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest
import zveno as zv

EXAMPLES = Path(__file__).parents[1] / "examples"
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
def test_python_example_runs_without_a_warning(script, tmp_path):
    assert run(sys.executable, "-W", "error", script, cwd=tmp_path)


def test_python_examples_are_numbered_without_gaps():
    assert [int(script.stem[:2]) for script in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))


@pytest.mark.slow
def test_cpp_example_computes_what_python_computes(tmp_path):
    root = zv.__path__[0]
    run("cmake", "-S", EXAMPLES / "cpp", "-B", "build", "-G", "Ninja", f"-Dzveno_ROOT={root}", cwd=tmp_path)
    run("cmake", "--build", "build", cwd=tmp_path)
    lines = run(tmp_path / "build" / "two_link", cwd=tmp_path).splitlines()
    printed = dict(line.split(" ", 1) for line in lines)
    q, rest, arm = np.array([0.3, -0.5]), np.zeros(2), zv.robots.two_link()
    expected = {
        "mass_matrix": arm.mass_matrix(q),
        "holding_torque": arm.inverse_dynamics(q, rest, rest),
        "falling_acceleration": arm.forward_dynamics(q, rest, rest),
    }
    for name, values in expected.items():
        # no contraction, one text: C++ and Python agree to the last bit
        assert printed[name] == " ".join(f"{x:.17g}" for x in values.ravel())
    assert "nowhere" in printed["error"]
    assert "upper" in printed["error"]
