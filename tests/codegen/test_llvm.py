"""Machine code of expression graphs, against the graph evaluated node by node."""

import ctypes
import gc
import os
import platform
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import llvmlite.binding as llvm
import numpy as np
import pytest
from helpers import environment
from hypothesis import given
from hypothesis import strategies as st
from zveno import _core, cpu_features
from zveno.codegen import llvm as machine
from zveno.codegen.graph import ADD, ANGLE, COS, DIV, FMA, MUL, NEG, SIN, SQRT, SUB, Argument, Graph
from zveno.codegen.llvm import compile_graph, ir

LANES = cpu_features()["lanes"]
INPUTS = [Argument("x", (3,)), Argument("y", (2, 2))]
ALGEBRAIC = (ADD, SUB, MUL, DIV, NEG, SQRT)
FUSED = re.compile(r"\bv?fn?m(add|sub|la|ls)", re.IGNORECASE)


def graph_of(core, results):
    core.set_outputs(results)
    return Graph(core.pruned(), INPUTS, [Argument(f"out{k}", (len(r),)) for k, r in enumerate(results)])


def inputs_of(core):
    return [core.input(k, e) for k, x in enumerate(INPUTS) for e in range(x.size)]


@st.composite
def graphs(draw, operations, most=60):
    """Random operations on three plus four inputs and a few constants; any nodes are results, some of them twice."""
    core = _core.Graph()
    nodes = inputs_of(core) + [core.constant(x) for x in draw(st.lists(st.floats(-4, 4), max_size=3))]
    index = st.integers(0, 10**6)
    for op, *operands in draw(st.lists(st.tuples(st.sampled_from(operations), index, index, index), max_size=most)):
        # late nodes are taken more often, for depth
        a, b, c = (nodes[-1 - min(i % len(nodes), i // 7 % len(nodes))] for i in operands)
        nodes.append(core.apply(op, a, b, c))
    results = [[nodes[-1 - i % len(nodes)] for i in draw(st.lists(index, max_size=6))] for _ in range(2)]
    return graph_of(core, [[nodes[-1]], *results])


def states(graph, seed, count=LANES):
    """For each input an array (size, count) of numbers of many magnitudes."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(x.size, count)) * 10.0 ** rng.uniform(-2, 2, (x.size, count)) for x in graph.inputs]


def packed(arrays):
    """Copies, aligned to whole packs."""
    copies = []
    for x in arrays:
        room = np.empty(x.size + 8)
        start = -room.ctypes.data // 8 % 8
        copies.append(room[start : start + x.size].reshape(x.shape))
        copies[-1][...] = x
    return copies


def call(address, inputs, outputs):
    pointers = [(ctypes.c_void_p * len(xs))(*(x.ctypes.data for x in xs)) for xs in (inputs, outputs)]
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)(*pointers)


def run(code, graph, inputs):
    """Results of the scalar and of the vector function, (size, LANES) each."""
    scalar = [np.full((x.size, LANES), np.nan) for x in graph.outputs]
    for lane in range(LANES):
        column = [np.empty(x.size) for x in graph.outputs]
        call(code.scalar, [np.ascontiguousarray(x[:, lane]) for x in inputs], column)
        for x, y in zip(scalar, column, strict=True):
            x[:, lane] = y
    vector = packed([np.full((x.size, LANES), np.nan) for x in graph.outputs])
    call(code.vector, packed(inputs), vector)
    return scalar, vector


def kernel(name, *operands):
    """What the kernels compute, one number at a time."""
    operands = [np.broadcast_to(np.asarray(x, dtype=float), LANES) for x in operands]
    results = np.empty((2, LANES))
    for lane, values in enumerate(zip(*operands, strict=True)):
        arrays = [np.array([x]) for x in values] + [np.empty(LANES) for _ in range(3 - len(values))]
        function = ctypes.CFUNCTYPE(None, *3 * [ctypes.c_void_p], ctypes.c_int32)
        function(_core.transcendental_addresses()[name])(*(x.ctypes.data for x in arrays), 1)
        results[:, lane] = [x[0] for x in arrays[1:]]
    return results


TRIG = {
    "sin": lambda x: _core.sincos(np.broadcast_to(np.asarray(x, dtype=float), LANES).copy())[0],
    "cos": lambda x: _core.sincos(np.broadcast_to(np.asarray(x, dtype=float), LANES).copy())[1],
    "angle": lambda s, c: kernel("angle", s, c)[1],
}


def expected(graph, inputs, **arithmetic):
    with np.errstate(all="ignore"):
        results = graph.evaluate(*inputs, arithmetic=TRIG | arithmetic)
    return [np.array([np.broadcast_to(x, LANES) for x in r]).reshape(len(r), LANES) for r in results]


def bits(x):
    return np.where(np.isnan(x), np.nan, x).view(np.int64)


def assert_same_bits(got, want):
    for x, y in zip(got, want, strict=True):
        np.testing.assert_array_equal(bits(x), bits(y))


def assert_computes(graph, seed=0, code=None, **arithmetic):
    inputs = states(graph, seed)
    scalar, vector = run(code or compile_graph(graph, name="f"), graph, inputs)
    assert_same_bits(scalar, expected(graph, inputs, **arithmetic))
    assert_same_bits(vector, scalar)


def assembly(graph, lanes, **options):
    text = ir(graph, lanes=lanes, name="f", **options)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    with llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
        module.verify()
        return machine._target(llvm).emit_assembly(module)


def sample():
    """A graph with every operation, some in turn."""
    core = _core.Graph()
    x = inputs_of(core)
    s, c = core.apply(SIN, x[0]), core.apply(COS, x[0])
    total = core.apply(ADD, core.apply(MUL, s, x[3]), core.apply(DIV, c, x[4]))
    deep = core.apply(SIN, core.apply(SUB, total, core.apply(MUL, s, x[5])))
    root = core.apply(SQRT, core.apply(ADD, core.apply(MUL, deep, deep), core.constant(0.1)))
    angles = [core.apply(ANGLE, root, deep), core.apply(ANGLE, deep, root), core.apply(ANGLE, x[1], x[1])]
    return graph_of(core, [[total, core.apply(NEG, root)], [*angles, x[2], core.constant(2.5), s]])


def fused_sum():
    """Eight fused operations that follow each other, signs included."""
    core = _core.Graph()
    x = inputs_of(core)
    total = x[0]
    for a in x[1:]:
        total = core.apply(FMA, core.apply(NEG, a), total, core.apply(FMA, a, a, x[2]))
    return graph_of(core, [[total]])


def exact_fma(a, b, c):
    return np.array([float(Fraction(x) * Fraction(y) + Fraction(z)) for x, y, z in np.broadcast(a, b, c)])


@given(graphs(ALGEBRAIC), st.integers(0, 99))
def test_code_rounds_every_operation_as_the_graph(graph, seed):
    assert_computes(graph, seed)


@given(graphs((*ALGEBRAIC, SIN, COS, ANGLE)), st.integers(0, 99))
def test_sines_cosines_and_angles_are_those_of_the_kernels(graph, seed):
    assert_computes(graph, seed)


@given(graphs((*ALGEBRAIC, SIN, COS, ANGLE)), st.integers(1, 9), st.integers(0, 99))
def test_cutting_code_into_parts_changes_no_bit(graph, part, seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(machine, "WHOLE", part)
        patch.setattr(machine, "PART", part)
        code = compile_graph(graph, name="f")
    assert_computes(graph, seed, code)


def test_graph_with_every_operation():
    assert_computes(sample())


def test_result_without_operation():
    core = _core.Graph()
    assert_computes(graph_of(core, [[core.input(1, 3), core.constant(-1.5)], []]))


def test_fused_operations_are_rounded_once():
    has_fma = platform.machine().lower() not in ("x86_64", "amd64") or llvm.get_host_cpu_features()["fma"]
    assert_computes(fused_sum(), **({"fma": exact_fma} if has_fma else {}))


def test_fused_operations_are_split_where_the_processor_has_none(monkeypatch):
    features = llvm.FeatureMap(llvm.get_host_cpu_features() | {"fma": False})
    monkeypatch.setattr(llvm, "get_host_cpu_features", lambda: features)
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    code = compile_graph(fused_sum(), name="f")
    monkeypatch.undo()
    assert_computes(fused_sum(), code=code)


def test_strict_code_is_not_contracted():
    core = _core.Graph()
    x = inputs_of(core)
    graph = graph_of(core, [[core.apply(ADD, core.apply(MUL, x[0], x[1]), core.apply(MUL, x[2], x[3]))]])
    for lanes in (1, LANES):
        assert not FUSED.search(assembly(graph, lanes))
    if llvm.get_host_cpu_features().get("fma", False):
        assert FUSED.search(assembly(fused_sum(), 1))
    # a b - a b in two roundings is zero, and the error of the product in one
    zero = graph_of(core, [[core.apply(SUB, core.apply(MUL, x[0], x[1]), x[2])]])
    inputs = states(zero, 0)
    inputs[0][2] = inputs[0][0] * inputs[0][1]
    for results in run(compile_graph(zero, name="f"), zero, inputs):
        assert not results[0].any()


def test_packs_fill_whole_registers():
    code = assembly(sample(), LANES)
    if cpu_features()["selected"] == "avx512":
        assert "zmm" in code


def test_calls_are_as_few_as_dependencies_allow():
    core = _core.Graph()
    x = inputs_of(core)
    turns = [core.apply(op, a) for op in (SIN, COS) for a in x]
    angles = [core.apply(ANGLE, a, b) for a, b in zip(turns[:5], turns[7:12], strict=True)]
    text = ir(graph_of(core, [[*turns, *angles]]), lanes=1, name="f")
    calls = re.findall(r"call void @zveno_(\w+)\(.*i32 (\d+)\)", text)
    assert calls == [("sincos", "7"), ("angle", "5")]
    calls = re.findall(r"call void @zveno_(\w+)_packs", ir(sample(), lanes=4, name="f"))
    assert calls == ["sincos", "angle", "sincos", "angle"]


def test_long_code_is_cut_into_parts(monkeypatch):
    core = _core.Graph()
    x = inputs_of(core)
    for k in range(99):
        x.append(core.apply(MUL if k % 3 else ADD, x[-1], x[-2 - k % 5]))
    graph = graph_of(core, [x[-1:]])
    monkeypatch.setattr(machine, "WHOLE", 99)
    assert "define internal" not in ir(graph, lanes=1, name="f")
    monkeypatch.setattr(machine, "WHOLE", 98)
    monkeypatch.setattr(machine, "PART", 10)
    text = ir(graph, lanes=1, name="f")
    assert text.count("define internal") == 10
    # values that cross from part to part take turns in the workspace
    assert int(re.search(r"alloca \[(\d+) x double\]", text)[1]) < 20


X86 = platform.machine().lower() in ("x86_64", "amd64")


@pytest.mark.parametrize("rows", [(1,), (9, 40), (33, 2, 5)])
def test_rows_are_passed_on_on_the_way(rows):
    graph = sample()
    code = compile_graph(graph, name="f", rows=rows)
    assert bool(code.passing) == X86
    if not X86:
        return
    inputs = packed(states(graph, 3))
    want, got = (packed([np.full((x.size, LANES), np.nan) for x in graph.outputs]) for _ in range(2))
    call(code.vector, inputs, want)
    rng = np.random.default_rng(0)
    source = packed([rng.normal(size=(n, LANES)) for n in rows])
    target = packed([np.zeros((n + 2, LANES)) for n in rows])
    table = [y for a, b in zip(source, target, strict=True) for y in (a.ctypes.data, b.ctypes.data + 8 * LANES, 0)]
    pointers = [(ctypes.c_void_p * len(xs))(*(x.ctypes.data for x in xs)) for xs in (inputs, got)]
    ctypes.CFUNCTYPE(None, *3 * [ctypes.c_void_p])(code.passing)(*pointers, (ctypes.c_void_p * len(table))(*table))
    assert_same_bits(got, want)
    for a, b in zip(source, target, strict=True):
        assert np.array_equal(b[1:-1], a)
        assert not b[0].any() and not b[-1].any()


def test_code_of_several_parts_passes_nothing_on(monkeypatch):
    assert not compile_graph(sample(), name="f").passing
    monkeypatch.setattr(machine, "WHOLE", 5)
    monkeypatch.setattr(machine, "PART", 5)
    assert not compile_graph(sample(), name="f", rows=(9, 40)).passing


def test_copies_keep_their_distance():
    """LLVM would bring them together: a burst fills the store buffer."""
    core = _core.Graph()
    x = inputs_of(core)
    for k in range(1000):
        x.append(core.apply(MUL if k % 3 else ADD, x[-1 - k % 4], x[-2 - k % 5]))
    code = assembly(graph_of(core, [x[-4:]]), LANES, rows=(100,)).splitlines()
    copies = [k for k, line in enumerate(code) if "movnt" in line]
    if X86:
        assert len(copies) == 100
        burst = machine.BURST // (8 * LANES)
        places = copies[: 60 // burst * burst : burst]  # the last ones go with what is done outside
        assert min(np.diff(places)) > 0.4 * max(np.diff(places)) > 10


def test_machine_describes_itself():
    code = compile_graph(sample(), name="f")
    assert code.lanes == LANES and 0 < code.seconds < 60 and 100 < code.code_size < 100_000
    assert f"{code.code_size} bytes" in repr(code)


def test_bad_names_and_lanes_are_refused():
    for name in ("", "1f", "f g", "f.0", "größe"):
        with pytest.raises(ValueError, match=r"name is .*, expected a C identifier"):
            compile_graph(sample(), name=name)
    with pytest.raises(ValueError, match="lanes is 0, expected at least 1"):
        ir(sample(), lanes=0, name="f")


def test_many_threads_may_compile_and_run_at_once():
    def work(seed):
        core = _core.Graph()
        x = inputs_of(core)
        for k in range(seed % 7 + 20):
            x.append(core.apply((ADD, MUL, SIN)[(k + seed) % 3], x[-1 - k % 5], x[-3]))
        assert_computes(graph_of(core, [x[-4:]]), seed)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(48)))


if sys.platform == "linux":

    def executable(address):
        with open("/proc/self/maps") as maps:
            for line in maps:
                region, permissions, *_ = line.split()
                first, last = (int(x, 16) for x in region.split("-"))
                if first <= address < last:
                    return "x" in permissions
        return False

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def test_freed_code_leaves_memory():
        codes = [compile_graph(sample(), name="f") for _ in range(3)]
        addresses = [code.vector for code in codes]
        assert all(map(executable, addresses))
        codes.clear()
        gc.collect()
        assert not any(map(executable, addresses))

    def test_memory_does_not_grow_with_compilations():
        graph = sample()
        for _ in range(40):
            compile_graph(graph, name="f")
        before = resident()
        for _ in range(150):
            compile_graph(graph, name="f")
        assert resident() - before < 600_000  # 4 kB each would not pass


def check_script(script):
    """Run it in a process of its own, which must print ok and nothing else, also when it ends."""
    command = [sys.executable, "-W", "error", "-c", script]
    variables = environment(OPENBLAS_NUM_THREADS="1")
    done = subprocess.run(command, capture_output=True, text=True, env=variables, timeout=60)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "ok", "")


def test_forked_processes_run_and_compile():
    if hasattr(os, "fork"):
        check_script("""
import os, warnings
from test_llvm import assert_computes, compile_graph, sample
code = compile_graph(sample(), name="f")
with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # of forks in processes with threads
    child = os.fork()
assert_computes(sample(), code=code)
assert_computes(sample())
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print("ok")
""")


def test_fork_waits_for_compilations():
    if hasattr(os, "fork"):
        check_script("""
import os, threading, warnings
from test_llvm import assert_computes, compile_graph, sample
stop = threading.Event()
def work():
    while not stop.is_set():
        compile_graph(sample(), name="f")
thread = threading.Thread(target=work)
thread.start()
for _ in range(5):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        assert_computes(sample())
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop.set()
thread.join()
print("ok")
""")


def test_machines_that_outlive_the_interpreter_are_silent():
    check_script("""
import sys
from test_llvm import compile_graph, sample
keep = compile_graph(sample(), name="f")
sys.keep = [compile_graph(sample(), name="g")]
sys.keep.append(sys.keep)
print("ok")
""")


def test_missing_llvmlite_is_named():
    check_script("""
import sys
sys.modules["llvmlite"] = None
from zveno import _core
from zveno.errors import Error
from zveno.codegen.graph import Argument, Graph
from zveno.codegen.llvm import compile_graph, ir
core = _core.Graph()
core.set_outputs([[core.input(0, 0)]])
graph = Graph(core, [Argument("x", (1,))], [Argument("y", (1,))])
assert "load double" in ir(graph, lanes=1, name="f")
try:
    compile_graph(graph, name="f")
except Error as error:
    assert str(error).endswith('needs llvmlite, install it with: pip install "zveno[jit]"')
    print("ok")
""")
