"""A generated step: compiled by itself it has the bits of the library."""

import re
import subprocess

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain
from hexapod_models import STANDARD, pair
from test_c_library import ALL_LAWS

STRICT = ("-std=c99", "-O0", "-Wall", "-Wextra", "-pedantic", "-Werror", "-ffp-contract=off", "-fno-math-errno")


def compiled(folder, name, *flags):
    program = folder / "program"
    files = [str(folder / f"{name}.c"), str(folder / f"{name}_test.c")]
    done = subprocess.run(["cc", *STRICT, *flags, *files, "-lm", "-o", str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_the_self_test_of_a_chain_finds_the_same_bits(rng, tmp_path, method):
    arm = random_chain(rng, 4, branching=True, rotor=True, friction=True)
    tip = arm.link_names[-1]
    options = {"q": rng.normal(size=4), "laws": ALL_LAWS, "external": [tip], "poses": [tip], "base_motion": True}
    options["servo"] = {"stiffness": 30.0, "damping": 1.0, "limit": 8.0}
    zv.export_step(arm, tmp_path, name="arm", period=2e-4, substeps=2, method=method, **options)
    done = subprocess.run([compiled(tmp_path, "arm", "-O1", "-Wconversion")], capture_output=True, text=True)
    assert done.stdout == "passed: largest difference 0, the same bits\n"


@pytest.mark.parametrize("case", ["mixed-skew", "UPS-lean"])
def test_the_self_test_of_a_hexapod_finds_the_same_bits(rng, tmp_path, case):
    assert case in STANDARD
    ring = pair(case)[1]
    options = {"u": 0.05 * rng.normal(size=6), "laws": ALL_LAWS, "base_motion": case == "mixed-skew"}
    options["servo"] = {"stiffness": 100.0}
    method = "rk4" if case == "mixed-skew" else "semi-implicit"
    zv.export_step(ring, tmp_path, name="ring", period=1e-4, method=method, **options)
    for flags in ((), ("-DZV_WIDE=",)):  # with AVX where there is, and for any processor
        done = subprocess.run([compiled(tmp_path, "ring", *flags)], capture_output=True, text=True)
        assert done.stdout == "passed: largest difference 0, the same bits\n"


def test_generated_code_has_no_memory_no_recursion_and_bounded_loops(tmp_path):
    zv.export_step(zv.mechanisms.docking_ring("RSU"), tmp_path, name="ring", laws=ALL_LAWS)
    source = (tmp_path / "ring.c").read_text()
    assert not re.search(r"\b(malloc|calloc|free|goto|while|setjmp|errno|printf|static double [a-z_]+;)\b", source)
    assert set(re.findall(r"#include ([<\"].*)", source)) == {'"ring.h"', "<math.h>", "<stdint.h>", "<string.h>"}
    for bound in re.findall(r"for \(int \w+ = \d; \(?(.*?);", source):
        assert re.match(r"\w+ < (\d+|[A-Z]+|count)\b", bound)
    functions = re.findall(r"^(?:static )?(?:int|void|double) (\w+)\(", source, re.M)
    for name, body in re.findall(
        r"^(?:static )?(?:int|void|double) (\w+)\([^{;]*\)\n\{\n(.*?)^\}", source, re.M | re.S
    ):
        called = set(re.findall(r"\b(\w+)\(", body)) & set(functions)
        assert all(functions.index(one) < functions.index(name) for one in called)  # no cycle


def test_a_leg_out_of_reach_and_numbers_that_are_too_large_are_told_apart(tmp_path):
    ring = zv.mechanisms.docking_ring("RSU")
    zv.export_step(ring, tmp_path, name="ring")
    (tmp_path / "ring_test.c").write_text(
        '#include "ring.h"\n#include <string.h>\n'
        "int main(void) {\n  ring_state s, before;\n  double in[RING_INPUTS] = {0}, out[RING_OUTPUTS];\n"
        "  double far[RING_START];\n  memcpy(far, ring_start, sizeof far);\n  far[0] += 2.0;\n"
        "  if (ring_init(&s, far) != RING_UNREACHABLE) return 1;\n"
        "  if (ring_init(&s, 0) != 0) return 2;\n  before = s;\n"
        "  in[0] = 1e9;\n  if (ring(&s, in, out) != RING_UNREACHABLE) return 3;\n"
        "  in[0] = 1e308;\n  if (ring(&s, in, out) == 0) return 4;\n"
        "  return memcmp(&s, &before, sizeof s) ? 5 : 0;\n}\n"
    )
    assert subprocess.run([compiled(tmp_path, "ring")]).returncode == 0


def test_wrong_uses_are_named(tmp_path):
    arm = zv.robots.two_link()
    with pytest.raises(ValueError, match="export_step: name is '!', expected a name with letters or digits"):
        zv.export_step(arm, tmp_path, name="!")
    with pytest.raises(TypeError, match="export_step: directory is 3"):
        zv.export_step(arm, 3)
    zv.export_step(arm, tmp_path, name="arm")
    with pytest.raises(FileExistsError):
        zv.export_step(arm, tmp_path, name="arm")
    zv.export_step(arm, tmp_path, name="arm", overwrite=True)
    with pytest.raises(ValueError, match="has a custom leg, which is closed by iteration"):
        zv.export_step(pair("UUU")[1], tmp_path / "other")


def test_sines_and_angles_are_those_of_the_kernels(rng, tmp_path):
    """The functions that a self-test of one model may not reach: all quadrants, large angles, tiny numbers."""
    from zveno.deploy.c_math import MATH, SIDE_BY_SIDE

    (tmp_path / "math.c").write_text(
        "#include <math.h>\n#include <stdint.h>\n#include <stddef.h>\n#include <string.h>\n"
        + MATH
        + SIDE_BY_SIDE
        + "void several(const double *x, double *s, double *c, int n) { zv_sincos_of(x, s, c, n); }\n"
        + "void run(const double *x, double *s, double *c, double *a, double *t, int n) {\n"
        "  for (int i = 0; i < n; ++i) {\n    zv_sincos(x[i], s + i, c + i);\n    a[i] = zv_angle(s[i], c[i]);\n"
        "    t[i] = zv_tanh(x[i]);\n  }\n}\n"
    )
    library = tmp_path / "math.so"
    flags = ["-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w"]
    subprocess.run(["cc", *flags, str(tmp_path / "math.c"), "-lm", "-o", str(library)], check=True)
    import ctypes as ct

    from zveno import _core

    x = np.concatenate([rng.uniform(-10, 10, 3000), rng.uniform(-1e5, 1e5, 3000), 10.0 ** rng.uniform(-300, 12, 3000)])
    s, c, a, t = np.empty((4, len(x)))
    pointers = [ct.c_void_p(y.ctypes.data) for y in (x, s, c, a, t)]
    ct.CDLL(str(library)).run(*pointers, len(x))
    want_s, want_c = _core.sincos(x)
    assert np.array_equal(s, want_s)
    assert np.array_equal(c, want_c)
    s[:], c[:] = np.nan, np.nan
    ct.CDLL(str(library)).several(*pointers[:3], len(x))  # side by side; far angles among near ones
    assert len(x) % 4 == 0 and np.array_equal(s, want_s) and np.array_equal(c, want_c)
    near = np.abs(x) < 1e5
    assert np.abs(a[near] - np.arctan2(np.sin(x[near]), np.cos(x[near]))).max() < 1e-15
    law = zv.laws.DryFriction(1.0, 1.0)
    assert np.array_equal(-t, law(0.0, 0.0, x))
    assert np.abs(t - np.tanh(x)).max() < 1e-15
