"""Generated C: compiles without a warning, and computes the graph bit for bit."""

import ctypes
import functools
import itertools
import re
import shutil
import subprocess
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain
from helpers import begun_graph, texts
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from zveno import _core
from zveno.codegen.c import c_source, identifier, plain
from zveno.graph import ARITY, OPS, Argument, Graph

GOLDEN = Path(__file__).parents[1] / "golden"
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)] or ["cc"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wdouble-promotion", "-Wshadow", "-Werror", "-std=c99"]
# undefined behaviour is an illegal instruction: no run-time library needed
SANITIZED = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
FUSED = "-DZVENO_FMA=fma"
BATCH = 3
ARITHMETIC = ("add", "sub", "mul", "div", "neg", "sqrt", "fma")


def library(*sources, compiler=COMPILERS[0], options=("-O1", *SANITIZED, FUSED), folder=None):
    """C texts compiled into one shared library and loaded."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(folder or temporary)
        (folder / "all.c").write_text("\n".join(sources))
        command = [compiler, *STRICT, "-ffp-contract=off", *options, "-shared", "-fPIC", "all.c", "-o", "all.so", "-lm"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(folder / "all.so"))


def call(function, graph, inputs, dtype, count=()):
    """Results of a C function; the arrays have one more column than needed, to see what it must not touch."""
    kind = ctypes.POINTER(ctypes.c_double if dtype == np.float64 else ctypes.c_float)
    guard = 12345.0
    given_ = [np.append(np.asarray(x, dtype).ravel(), dtype(guard)) for x in inputs]
    got = [np.full(x.size * int(np.prod(count)) + 1, guard, dtype) for x in graph.outputs]
    function(*(x.ctypes.data_as(kind) for x in (*given_, *got)))
    for x, before in zip(given_, inputs, strict=True):
        assert x[-1] == guard
        assert_same(x[:-1], np.asarray(before, dtype).ravel())
    assert all(x[-1] == guard for x in got)
    return [x[:-1] for x in got]


def assert_same(got, want):
    """Bit for bit; one NaN is like another."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype
    both = np.isnan(got) & np.isnan(want)
    assert np.where(both, 0, got).tobytes() == np.where(both, 0, want).tobytes()


@functools.partial(np.vectorize, otypes=[float])
def exact_fma(a, b, c):
    if not np.isfinite([a, b, c]).all():
        return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    try:
        return float(exact) if exact else a * b + c
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


def evaluate(graph, states, dtype=np.float64, **arithmetic):
    """The graph at states, one array (states, size) for each argument; results of the same form."""
    columns = [np.asarray(x, dtype).T for x in states]
    count = len(states[0])
    with np.errstate(all="ignore"):
        results = graph.evaluate(*columns, arithmetic={"constant": dtype, **arithmetic})
    return [np.array([np.broadcast_to(x, count) for x in values], dtype).T for values in results]


@st.composite
def graphs(draw, ops=ARITHMETIC, max_size=40):
    """A random graph of two inputs and two results, and three states for it."""
    core = _core.Graph()
    numbers = st.floats(-4, 4, width=32) | st.sampled_from([0.1, 1 / 3, -1e-20, 1e20, 2.0**-40])
    inputs = [Argument("x", (draw(st.integers(1, 3)),)), Argument("t1", (2, 2))]
    nodes = [core.input(k, e) for k, x in enumerate(inputs) for e in range(x.size)]
    nodes += [core.constant(draw(numbers)) for _ in range(2)]
    for _ in range(draw(st.integers(0, max_size))):
        op = OPS.index(draw(st.sampled_from(ops)))
        nodes.append(core.apply(op, *draw(st.lists(st.sampled_from(nodes), min_size=ARITY[op], max_size=ARITY[op]))))
    outputs = [Argument("y", (draw(st.integers(1, 4)),)), Argument("X", ())]
    core.set_outputs([draw(st.lists(st.sampled_from(nodes), min_size=x.size, max_size=x.size)) for x in outputs])
    states = [np.array([[draw(numbers) for _ in range(x.size)] for _ in range(BATCH)]) for x in inputs]
    return Graph(core.pruned(), inputs, outputs), states


def check_functions(cases, lib, dtype, **arithmetic):
    """Single function = graph, batch function = single function."""
    for k, (graph, states) in enumerate(cases):
        want = evaluate(graph, states, dtype, **arithmetic)
        for i in range(BATCH):
            got = call(getattr(lib, f"f_{k}"), graph, [x[i] for x in states], dtype)
            for x, y in zip(got, want, strict=True):
                assert_same(x, y[i])
        got = call(getattr(lib, f"f_{k}_batch"), graph, [np.asarray(x).T for x in states], dtype, (BATCH,))
        for x, y in zip(got, want, strict=True):
            assert_same(x.reshape(-1, BATCH).T, y)


@settings(max_examples=5, phases=[Phase.generate])  # each step of shrinking would call the compiler
@given(st.lists(graphs(), min_size=6, max_size=12))
def test_c_is_the_graph_bit_for_bit(cases):
    texts = [c_source(graph, name=f"f_{k}", batch=BATCH).single_file for k, (graph, _) in enumerate(cases)]
    check_functions(cases, library(*texts), np.float64, fma=exact_fma)


@settings(max_examples=5, phases=[Phase.generate])  # each step of shrinking would call the compiler
@given(st.lists(graphs(ARITHMETIC[:-1]), min_size=6, max_size=12))
def test_float_c_is_the_graph_in_float_bit_for_bit(cases):
    texts = [c_source(g, name=f"f_{k}", batch=BATCH, real="float").single_file for k, (g, _) in enumerate(cases)]
    check_functions(cases, library(*texts), np.float32)


SINCOS = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_double)] * 3, ctypes.c_int)
# the kernels' own functions in place of <math.h>; arrays have room for any number of lanes
KERNEL_MATH = """
#ifndef KERNEL_MATH_H
#define KERNEL_MATH_H
#include <math.h>
#include <stdint.h>
static inline double sin_or_cos(double x, int which)
{
  const double in[16] = {x};
  double out[2][16];
  ((void (*)(const double *, double *, double *, int))(uintptr_t)%(sincos)dU)(in, out[0], out[1], 1);
  return out[which][0];
}
static inline double angle_of(double s, double c)
{
  const double in[2][16] = {{s}, {c}};
  double out[16];
  ((void (*)(const double *, const double *, double *, int))(uintptr_t)%(angle)dU)(in[0], in[1], out, 1);
  return out[0];
}
#define ZVENO_SIN(x) sin_or_cos(x, 0)
#define ZVENO_COS(x) sin_or_cos(x, 1)
#define ZVENO_ATAN2 angle_of
#endif
"""


@functools.partial(np.vectorize, otypes=[float])
def kernel_angle(s, c):
    arrays = [(ctypes.c_double * 16)(x) for x in (s, c, 0.0)]
    SINCOS(_core.transcendental_addresses()["angle"])(*arrays, 1)
    return arrays[2][0]


def kernel_library(*sources, folder, **options):
    (folder / "kernel_math.h").write_text(KERNEL_MATH % _core.transcendental_addresses())
    flags = ["-O1", *SANITIZED, FUSED, '-DZVENO_MATH_HEADER="kernel_math.h"']
    return library(*sources, folder=folder, **{"options": flags, **options})


@settings(max_examples=5, phases=[Phase.generate])  # each step of shrinking would call the compiler
@given(st.lists(graphs((*ARITHMETIC, "sin", "cos", "angle")), min_size=6, max_size=12))
def test_sines_and_angles_can_be_the_kernels_bit_for_bit(cases):
    texts = [c_source(graph, name=f"f_{k}", batch=BATCH).single_file for k, (graph, _) in enumerate(cases)]
    with tempfile.TemporaryDirectory() as folder:
        lib = kernel_library(*texts, folder=Path(folder))
    sines = {
        "sin": lambda x: _core.sincos(np.atleast_1d(np.asarray(x, float)))[0],
        "cos": lambda x: _core.sincos(np.atleast_1d(np.asarray(x, float)))[1],
    }
    check_functions(cases, lib, np.float64, fma=exact_fma, angle=kernel_angle, **sines)


ROBOT_FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "bias", "kinetic_energy")


@pytest.fixture(scope="module")
def robot_functions():
    """Traced functions of a robot and of a random chain, with eight states and what the kernels answer."""
    chains = [zv.robots.puma560(), random_chain(np.random.default_rng(1), 4, fixed=True, rotor=True, friction=True)]
    traced = [chain.trace(name) for chain, name in itertools.product(chains, ROBOT_FUNCTIONS)]
    return [(t, *t.reference(8, seed=1)) for t in traced]


def test_strict_code_gives_the_bits_of_the_kernels(robot_functions, tmp_path):
    texts = [c_source(t.graph, name=f"f_{k}", batch=8).single_file for k, (t, _, _) in enumerate(robot_functions)]
    lib = kernel_library(*texts, folder=tmp_path)
    for k, (traced, inputs, outputs) in enumerate(robot_functions):
        for i in range(8):
            (got,) = call(getattr(lib, f"f_{k}"), traced.graph, [x[i] for x in inputs], np.float64)
            np.testing.assert_array_equal(got, outputs[0][i].ravel(), err_msg=traced.title)
        side_by_side = [x.reshape(8, -1).T for x in inputs]
        (got,) = call(getattr(lib, f"f_{k}_batch"), traced.graph, side_by_side, np.float64, (8,))
        np.testing.assert_array_equal(got.reshape(-1, 8).T, outputs[0].reshape(8, -1), err_msg=traced.title)


def test_library_sines_and_float_stay_close_to_the_kernels(robot_functions):
    for real, dtype, limit in (("double", np.float64, 1e-13), ("float", np.float32, 1e-5)):
        texts = [c_source(t.graph, name=f"f_{k}", real=real).single_file for k, (t, _, _) in enumerate(robot_functions)]
        lib = library(*texts)
        for k, (traced, inputs, (want,)) in enumerate(robot_functions):
            got = [call(getattr(lib, f"f_{k}"), traced.graph, [x[i] for x in inputs], dtype)[0] for i in range(8)]
            error = np.abs(got - want.reshape(8, -1)).max() / np.abs(want).max()
            assert error <= limit, traced.title


@pytest.fixture
def every_operation():
    """Every operation, unused and scalar inputs, results that are inputs and constants; the inertia is negative."""
    core, do, q1, _, _, d = begun_graph()
    n = do("neg", do("sqrt", do("fma", d, core.constant(1e-7), core.constant(2.0))))
    e = do("angle", do("cos", do("add", n, q1)), core.constant(-0.3))
    core.set_outputs([[d, n], [e], [core.constant(-0.5), q1]])
    inputs = [Argument("q", (2,), "angles, rad"), Argument("v", (), "rate, m/s"), Argument("load", (6,), "N and N m")]
    outputs = [Argument("M", (2, 1), "mass matrix"), Argument("E", (), "J"), Argument("double", (2,))]
    return Graph(core.pruned(), inputs, outputs)


@pytest.fixture
def assert_golden(request):
    """Compare with a file in tests/golden; ``pytest --refresh-golden`` writes it instead."""

    def assert_text(name, text):
        if request.config.getoption("--refresh-golden", default=False):
            (GOLDEN / name).write_text(text)
        assert text == (GOLDEN / name).read_text()

    return assert_text


def test_text_of_every_operation(every_operation, assert_golden):
    options = {"description": "Nothing useful", "origin": {"model": "none", "zveno": "0"}}
    assert_golden("tiny.c", c_source(every_operation, name="tiny", **options).single_file)
    assert_golden("tiny_float_batch.c", c_source(every_operation, name="tiny", real="float", batch=4).single_file)


def test_text_of_a_robot(assert_golden):
    traced = zv.robots.two_link().trace("inverse_dynamics")
    origin = {k: v for k, v in traced.origin.items() if k not in ("zveno", "hash")}
    assert_golden("two_link.c", c_source(traced.graph, name="two_link", origin=origin).single_file)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_there_are_no_warnings(compiler, every_operation, robot_functions, tmp_path):
    graphs = {"all": every_operation, "puma": robot_functions[0][0].graph}
    texts = []
    for (name, graph), real, batch in itertools.product(graphs.items(), ("double", "float"), (0, 8)):
        texts.append(c_source(graph, name=f"{name}_{real}_{batch}", real=real, batch=batch).single_file)
    loaded = library(*texts, compiler=compiler, options=["-O2", "-Wstrict-prototypes", "-Wmissing-prototypes"])
    assert hasattr(loaded, "puma_float_8_batch")
    header = c_source(every_operation, name="every", batch=8).header
    (tmp_path / "every.h").write_text(header)
    (tmp_path / "twice.cpp").write_text('#include "every.h"\n#include "every.h"\nint sizes[EVERY_N_LOAD];\n')
    as_cpp = [compiler, "-x", "c++", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "twice.cpp"]
    done = subprocess.run(as_cpp, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_arithmetic_of_the_batch_is_vectorised(compiler, robot_functions, tmp_path):
    traced = robot_functions[0][0]
    text = c_source(traced.graph, name="puma", batch=64).single_file
    (tmp_path / "puma.c").write_text(text)
    clang = "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    report = "-Rpass=loop-vectorize" if clang else "-fopt-info-vec"
    command = [compiler, "-std=c99", "-O3", "-ffp-contract=off", report, "-c", "puma.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    vectorised = {int(k) for k in re.findall(r"puma.c:(\d+):\d+: (?:optimized: loop|remark: vectorized)", done.stderr)}
    lines = text.splitlines()
    heads = [k for k, line in enumerate(lines, 1) if line.startswith("  for")]
    longest = max(heads, key=lambda k: lines.index("  }", k) - k)
    assert longest in vectorised, done.stderr


def test_sine_and_cosine_of_an_angle_stand_together():
    core = _core.Graph()
    x, y = core.input(0, 0), core.input(0, 1)
    sin, cos, mul = (OPS.index(op) for op in ("sin", "cos", "mul"))
    first = core.apply(mul, core.apply(cos, x), core.apply(sin, y))
    core.set_outputs([[core.apply(mul, first, core.apply(sin, x)), core.apply(cos, y)]])
    graph = Graph(core.pruned(), [Argument("x", (2,))], [Argument("z", (2,))])
    calls = re.findall(r"(ZVENO_\w+)\((x\[\d\])\)", c_source(graph, name="f").source)
    assert calls == [("ZVENO_COS", "x[0]"), ("ZVENO_SIN", "x[0]"), ("ZVENO_SIN", "x[1]"), ("ZVENO_COS", "x[1]")]


def test_fused_multiply_add_is_not_a_slow_call():
    core = _core.Graph()
    core.set_outputs([[core.apply(OPS.index("fma"), *(core.input(0, k) for k in range(3)))]])
    graph = Graph(core.pruned(), [Argument("x", (3,))], [Argument("y", (1,))])
    lib = library(c_source(graph, name="f").single_file, options=["-DFP_FAST_FMA"])
    plain_lib = library(
        c_source(graph, name="f").single_file, options=["-UFP_FAST_FMA", "-U__FMA__", "-U__ARM_FEATURE_FMA"]
    )
    tiny = 2.0**-30
    inputs = [np.array([1 + tiny, 1 - tiny, -1.0])]
    assert call(lib.f, graph, inputs, np.float64)[0][0] == -(tiny**2)
    assert call(plain_lib.f, graph, inputs, np.float64)[0][0] == 0


def test_code_without_calls_includes_nothing():
    core = _core.Graph()
    core.set_outputs([[core.input(0, 0)]])
    graph = Graph(core.pruned(), [Argument("x", (1,))], [Argument("y", (1,))])
    assert c_source(graph, name="copy").source.count("#include") == 1


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("panda_inverse_dynamics", "panda_inverse_dynamics"),
        ("int", "int_"),
        ("sin", "sin_"),
        ("../../x", "x"),
        ("", "zveno"),
        ("кран", "zveno"),
        ("7 axes", "zveno_7_axes"),
        ("__reserved", "reserved"),
        ("t12", "t12_"),
        ("a b\n*/ #include", "a_b_include"),
    ],
)
def test_any_text_becomes_an_identifier(text, word):
    assert identifier(text) == word


def test_long_names_are_cut_but_stay_different():
    words = {identifier("a" * 150 + middle + "_inverse_dynamics") for middle in "bcd"}
    assert len(words) == 3
    assert all(len(word) <= 40 and word.endswith("_inverse_dynamics") for word in words)
    assert identifier("q", ["q", "q_"]) == "q__"


@given(texts())
def test_text_in_a_comment_stays_there(text):
    shown = plain(text)
    assert re.fullmatch(r"[ -~]*", shown)
    assert not re.search(r"\*/|/\*|\\|\?\?", shown)


def test_a_hostile_description_changes_no_code(every_operation):
    nasty = "*/ int x; /* ??/\n#error \\ \u202e"
    code = c_source(every_operation, name=nasty, description=nasty, origin={nasty: nasty})
    library(code.single_file)
    assert code.source == c_source(every_operation, name=nasty).source


def test_wrong_options_are_refused(every_operation):
    with pytest.raises(ValueError, match="real is 'half', expected 'double' or 'float'"):
        c_source(every_operation, name="f", real="half")
    for batch in (-1, 5000):
        with pytest.raises(ValueError, match=f"batch is {batch}, expected an integer from 0 to 1024"):
            c_source(every_operation, name="f", batch=batch)


def test_what_c_cannot_hold_is_refused():
    core = _core.Graph()
    x = core.input(0, 0)
    core.set_outputs([[core.apply(OPS.index("mul"), x, core.constant(1e60))], []])
    graph = Graph(core.pruned(), [Argument("x", (1,))], [Argument("y", (1,)), Argument("none", (0,))])
    with pytest.raises(ValueError, match="none has no elements"):
        c_source(graph, name="f")
    core.set_outputs([[core.apply(OPS.index("mul"), x, core.constant(1e60))]])
    graph = Graph(core.pruned(), [Argument("x", (1,))], [Argument("y", (1,))])
    with pytest.raises(ValueError, match=r"1e\+60 is too large for float"):
        c_source(graph, name="f", real="float")


def test_a_batch_that_would_overflow_the_stack_is_refused():
    core = _core.Graph()
    x = [core.input(0, k) for k in range(200)]
    sines = [core.apply(OPS.index("sin"), a) for a in x]
    core.set_outputs([[core.apply(OPS.index("add"), a, b) for a, b in zip(x, sines, strict=True)]])
    graph = Graph(core.pruned(), [Argument("x", (200,))], [Argument("y", (200,))])
    with pytest.raises(ValueError, match=r"1638400 bytes of stack, expected at most 1048576: take batch=655 or less"):
        c_source(graph, name="f", batch=1024)
    c_source(graph, name="f", batch=655)
