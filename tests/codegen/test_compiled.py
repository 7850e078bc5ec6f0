"""Compiled functions of chains: the same numbers, shapes and errors as the methods they replace."""

import gc
import json
import pickle
import subprocess
import sys
import textwrap
import weakref

import helpers
import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import mechanisms, random_chain, random_state, random_wrenches
from helpers import ARRAYS, FUNCTIONS, SERIAL_ONLY, TAKES_EXTERNAL, VARIANTS, arguments, arrays_of, at_once, variant_id
from hypothesis import given, settings
from hypothesis import strategies as st
from zveno import _core
from zveno._rotation import about_axis

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=variant_id)


def compiled(chain, variant, **options):
    name, fixed = variant
    given = arguments(name, [np.zeros(chain.n)] * 3, chain.link_names[-1])
    options |= {key: x for key, x in zip(FUNCTIONS[name], given, strict=True) if key not in ARRAYS[name]}
    return chain.compile(name, **fixed, **options)


def kernel(chain, variant, values, **options):
    name, fixed = variant
    return arrays_of(getattr(chain, name)(*arguments(name, values, chain.link_names[-1]), **fixed, **options))


def states(variant, values):
    return arguments(variant[0], values, None)[: len(ARRAYS[variant[0]])]


def assert_same_bits(got, want):
    assert all(x.shape == y.shape and np.array_equal(x, y) for x, y in zip(got, want, strict=True))


def assert_near(got, want, tolerance):
    for x, y in zip(got, want, strict=True):
        assert np.abs(x - y).max(initial=0.0) <= tolerance * max(1.0, np.abs(y).max(initial=0.0))


# ---- right


@pytest.fixture(scope="module")
def short_arm():
    """Four mixed joints: code for LLVM grows with the third power and more of their number."""
    return random_chain(np.random.default_rng(6), 4, rotor=True, friction=True, name="short arm")


@pytest.fixture(scope="module")
def small_tree():
    """Five mixed joints on two branches, with welded links."""
    rng = np.random.default_rng(9)
    chain = random_chain(rng, 5, branching=True, fixed=True, rotor=True, friction=True, name="small tree")
    assert not chain.is_serial
    return chain


@every_variant
def test_strict_code_gives_the_bits_of_the_kernel(variant, short_arm, rng):
    arm = short_arm
    loads = random_wrenches(rng, arm, (19,)) if variant[0] in TAKES_EXTERNAL else {}
    f = compiled(arm, variant, **({"external": tuple(loads)} if loads else {}))
    values = random_state(rng, arm, (19,))
    call = {"external": loads} if loads else {}
    want = kernel(arm, variant, values, **call)
    assert_same_bits(arrays_of(f(*states(variant, values), **call)), want)
    for i in (0, 7, 18):
        one = {"external": {link: w[i] for link, w in loads.items()}} if loads else {}
        assert_same_bits(arrays_of(f(*states(variant, [v[i] for v in values]), **one)), [x[i] for x in want])


@pytest.mark.parametrize("variant", [v for v in VARIANTS if v[1].get("method") not in SERIAL_ONLY], ids=variant_id)
def test_compiled_functions_of_trees_have_the_bits_of_the_kernel(variant, small_tree, rng):
    tree = small_tree
    f = compiled(tree, variant)
    values = random_state(rng, tree, (9,))
    assert_same_bits(arrays_of(f(*states(variant, values))), kernel(tree, variant, values))


@settings(max_examples=12)
@given(
    mechanisms(max_n=7),
    st.sampled_from(("inverse_dynamics", "mass_matrix", "forward_dynamics")),
)
def test_strict_code_of_any_chain_has_the_bits_of_the_kernel_and_algebraic_code_its_numbers(mechanism, name):
    chain, rng = mechanism
    values = random_state(rng, chain, (5,))
    strict, loose = (chain.compile(name, level=level) for level in ("strict", "algebraic"))
    variant = name, {"method": strict.options["method"]} if strict.options["method"] else {}
    want = kernel(chain, variant, values)
    assert_same_bits(arrays_of(strict(*states(variant, values))), want)
    # accelerations lose what the mass matrix is ill-conditioned by, in any arithmetic
    spread = np.linalg.cond(chain.mass_matrix(values[0])).max() if name == "forward_dynamics" else 1.0
    assert_near(arrays_of(loose(*states(variant, values))), want, 1e-13 * max(spread, 1.0))


@pytest.mark.parametrize("name", ["Panda", "UR5", "puma560", "stanford", "scara", "kawasaki_fs020n"])
@pytest.mark.parametrize("function", ["inverse_dynamics", "mass_matrix", "bias", "forward_dynamics", "derivatives"])
def test_robots_at_the_algebraic_level(name, function, rng):
    urdf = {"Panda": "panda_description-panda", "UR5": "ur_description-ur5_robot"}
    chain = helpers.urdf_chain(urdf[name]) if name in urdf else getattr(zv.robots, name)()
    f = chain.compile(function, level="algebraic")
    values = random_state(rng, chain, (50,))
    variant = function, {}
    want = kernel(chain, variant, values)
    spread = np.linalg.cond(chain.mass_matrix(values[0])).max() if function == "forward_dynamics" else 1.0
    assert_near(arrays_of(f(*states(variant, values))), want, 1e-13 * spread)
    assert f.savings.instructions_after < f.savings.instructions_before
    assert 0 < f.savings.difference < 1e-13 * spread


@settings(max_examples=30)
@given(mechanisms(max_n=8))
def test_regrouped_inertia_gives_the_same_equations_of_motion(mechanism):
    """docs/chains.md (11.3): mass on a revolute axis and the inertia of a prismatic body go to the parent."""
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    graph = _core.trace(chain, "inverse_dynamics", {"arguments": ("q", "qd", "qdd")}, "trace", True, 10**6)
    inputs = [zv.graph.Argument(x, (chain.n,)) for x in ("q", "qd", "qdd")]
    traced = zv.graph.Graph(graph, inputs, [zv.graph.Argument("tau", (chain.n,))])
    want = chain.inverse_dynamics(q, qd, qdd)
    helpers.assert_close(np.array(traced.evaluate(q, qd, qdd)[0], dtype=float), want, chain.n)


@pytest.mark.parametrize(
    "function", ["inverse_dynamics", "mass_matrix", "forward_dynamics", "kinetic_energy", "derivatives"]
)
def test_inertial_parameters_as_arguments(function, arm, rng):
    f = arm.compile(function, parameters="symbolic")
    values = random_state(rng, arm, (6,))
    variant = function, {}
    assert f.parameters.shape == (arm.n, 10)
    got = arrays_of(f(*states(variant, values), parameters=f.parameters))
    helpers_scale = [max(1.0, np.abs(x).max()) for x in got]
    for x, y, scale in zip(got, kernel(arm, variant, values), helpers_scale, strict=True):
        helpers.assert_close(x, y, arm.n, scale=scale)


def test_a_payload_is_added_to_the_row_of_its_link(arm, rng):
    """Against a model that was built with the payload."""
    link = arm.links[-1].name
    mass, com, inertia = 3.0, np.array([0.1, -0.2, 0.3]), np.diag([0.3, 0.4, 0.5])
    about = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    f = arm.compile("inverse_dynamics", parameters=[link])
    rows = f.parameters + np.array([mass, *(mass * com), *about[np.triu_indices(3)]])
    values = random_state(rng, arm, (4, 5))
    loaded = arm.with_payload(link, mass, com, inertia)
    helpers.assert_close(f(*values, parameters=rows), loaded.inverse_dynamics(*values), arm.n)
    # one payload per state
    factors = np.linspace(0, 1, 5)[:, None, None]
    many = f(*values, parameters=f.parameters + factors * (rows - f.parameters))
    helpers.assert_close(many[:, 0], arm.inverse_dynamics(*values)[:, 0], arm.n)
    helpers.assert_close(many[:, 4], loaded.inverse_dynamics(*values)[:, 4], arm.n)


def test_inertial_parameters_are_those_of_the_links(rng):
    """Of a chain without welded links: mass, moment and inertia about the link's origin as they were given."""
    chain = random_chain(rng, 5)
    for link, row in zip(chain.links, chain.compile("bias", parameters="symbolic").parameters, strict=True):
        c, m = link.com, link.mass
        about = link.inertia + m * (c @ c * np.eye(3) - np.outer(c, c))
        np.testing.assert_allclose(row, [m, *(m * c), *about[np.triu_indices(3)]], rtol=1e-11, atol=1e-12)


def test_without_a_method_the_shortest_code_is_taken():
    arm = zv.robots.puma560()
    counts = {m: arm.trace("mass_matrix", method=m).operations.total for m in ("crba", "crba-walk", "crba-columns")}
    f = arm.trace("mass_matrix")
    assert f.operations.total == min(counts.values())
    assert counts[f.options["method"]] == f.operations.total


def test_traced_code_is_shorter_than_the_kernel():
    for arm in (zv.robots.puma560(), zv.robots.stanford(), zv.robots.kawasaki_fs020n()):
        for function in ("inverse_dynamics", "mass_matrix", "forward_dynamics", "bias"):
            f = arm.trace(function)
            assert f.operations.total < 0.7 * f.kernel_operations.total


def test_right_angles_of_a_model_leave_no_trace():
    """Rolls and pitches of 90 degrees, whose sines and cosines are not exact in floating point."""
    links = [zv.Link(f"l{k}", position=(0.1, 0, 0.2), mass=1.0, com=(0.1, 0.2, 0.3), inertia=0.1,
                     rotation=about_axis(0, (-1) ** k * np.pi / 2)) for k in range(4)]  # fmt: skip
    exact = [zv.Link(f"l{k}", position=(0.1, 0, 0.2), mass=1.0, com=(0.1, 0.2, 0.3), inertia=0.1,
                     rotation=[[1, 0, 0], [0, 0, -((-1) ** k)], [0, (-1) ** k, 0]]) for k in range(4)]  # fmt: skip
    a, b = (zv.Chain(x).trace("inverse_dynamics").operations for x in (links, exact))
    assert a == b


# ---- behaves like the method


def test_shapes_out_and_threads(arm, rng):
    f = arm.compile("inverse_dynamics")
    q, qd, qdd = random_state(rng, arm, (3, 40))
    want = arm.inverse_dynamics(q, qd, qdd)
    for threads in (None, 0, 1, 2, 5):
        assert np.array_equal(f(q, qd, qdd, threads=threads), want)
    out = np.empty_like(want)
    assert f(q, qd, qdd, out=out) is out
    assert np.array_equal(out, want)
    assert np.array_equal(f(q[0, 0], qd, qdd), arm.inverse_dynamics(q[0, 0], qd, qdd))  # broadcasts
    assert f(q[:, :0], qd[:, :0], qdd[:, :0]).shape == (3, 0, arm.n)
    assert np.array_equal(f(q=q, qd=qd, qdd=qdd), want)
    assert np.array_equal(
        f(q.tolist(), qd.astype(np.float32), qdd), arm.inverse_dynamics(q, qd.astype(np.float32), qdd)
    )
    assert isinstance(arm.compile("kinetic_energy")(q[0, 0], qd[0, 0]), float)


@pytest.mark.parametrize("function", ["derivatives", "forward_derivatives"])
def test_several_results_go_where_they_are_wanted(function, arm, rng):
    state = random_state(rng, arm)
    f = arm.compile(function)
    want = f(*(x[None] for x in state))  # a batch of one takes the long way
    room = np.empty((3, arm.n, arm.n))
    for out in (tuple(room), type(want)(*room)):
        room[:] = np.nan
        got = f(*state, out=out)
        assert type(got) is type(want) is type(f(*state))
        for k in range(3):
            assert got[k] is out[k]
            assert np.array_equal(got[k], want[k][0])
            assert np.array_equal(f(*state)[k], got[k])
    one = arm.compile(function, outputs=want._fields[1:2])
    second = one(*state, out=(room[0],))
    assert second[0] is second[2] is None
    assert np.array_equal(second[1], want[1][0])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("shifts", [(0, 0, 0), (1, 5, 8), (3, 3, 3)])
def test_rows_pass_the_caches_whole_wherever_they_are_put_and_around_those_that_fail(threads, shifts, rng):
    """They wait until the next pack is computed: it, the one before or the one after may have a bad row."""
    chain = random_chain(np.random.default_rng(6), 5)
    f = chain.compile("derivatives")
    states = 7003  # of 75 numbers: more than 4 MB
    q, qd, qdd = random_state(rng, chain, (states,))
    want = chain.derivatives(q, qd, qdd, method=f.options["method"])
    bad = np.unique([0, 9, 17, 24, 31, 250, states - 1, *rng.integers(0, states, 5)])
    for failing in (bad[:0], bad):
        q[failing] = np.nan
        qdd[failing[::2]] = 1e308  # or too large for a result
        q[failing[::2]] = 1.0
        room = [np.full(states * 25 + 32, 7.0) for _ in want]
        inner = [x[8 + s :][: states * 25] for x, s in zip(room, shifts, strict=True)]
        out = tuple(x.reshape(states, 5, 5) for x in inner)
        status = np.full(states, 9, np.int16)
        f(q, qd, qdd, out=out, on_error="nan", status=status, threads=threads)
        assert np.array_equal(np.flatnonzero(status), failing)
        good = np.setdiff1d(np.arange(states), failing)
        for got, whole, x, inside in zip(out, want, room, inner, strict=True):
            assert np.isnan(got[failing]).all()
            assert np.array_equal(got[good], whole[good])
            inside[:] = 7.0
            assert (x == 7.0).all()
    errors = []
    for function, options in ((f, {}), (chain.derivatives, {"method": f.options["method"]})):
        with pytest.raises(FloatingPointError, match="row 0") as caught:
            function(q, qd, qdd, threads=threads, **options)
        errors.append((type(caught.value), str(caught.value)))
    assert errors[0] == errors[1]


def test_errors_of_several_results_are_those_of_the_method(arm, rng):
    compiled = arm.compile("derivatives")
    for spoil in (
        lambda x, m: (x, {"out": (m[0], m[0], m[1])}),
        lambda x, m: (x, {"out": (m[0], m[1])}),
        lambda x, m: (x, {"out": m[0]}),
        lambda x, m: (x, {"out": (m[0], m[1], m[2, 1:])}),
        lambda x, m: (x, {"out": (m[0], m[1], m[2].T)}),
        lambda x, m: ((m[1, 0], *x[1:]), {"out": (m[0], m[1], m[2])}),
        lambda x, m: ((x[0], x[1] * np.nan, x[2]), {"out": (m[0], m[1], m[2])}),
        lambda x, m: ((x[0], x[1] * 1e200, x[2]), {}),
    ):
        errors = []
        for function in (compiled, arm.derivatives):
            values, options = spoil(random_state(rng, arm), np.zeros((3, arm.n, arm.n)))
            with pytest.raises((TypeError, ValueError, FloatingPointError)) as caught:
                function(*values, **options)
            errors.append((caught.type, str(caught.value)))
        assert errors[0] == errors[1]


@pytest.fixture(scope="module")
def inverse(arm):
    return arm.compile("inverse_dynamics")


@pytest.mark.parametrize(
    "call",
    [
        lambda f, q: f(q, q),
        lambda f, q: f(q, q, q, q, q, q),
        lambda f, q: f(q[:-1], q, q),
        lambda f, q: f(q, q, "x"),
        lambda f, q: f(q, q, q * np.nan),
        lambda f, q: f(np.stack([q, q * np.inf]), q, q),
        lambda f, q: f(q, q, q, gravity=1),
        lambda f, q: f(q, q, q, threads=-1),
        lambda f, q: f(q, q, q, out=np.empty(3)),
        lambda f, q: f(np.zeros((2, 6)), np.zeros((3, 6)), q),
        lambda f, q: f(q * 1e200, q * 1e200, q),
    ],
)
def test_errors_are_those_of_the_method(call, arm, inverse, rng):
    q = random_state(rng, arm)[0]
    errors = []
    for function in (inverse, arm.inverse_dynamics):
        with pytest.raises((TypeError, ValueError, FloatingPointError)) as caught:
            call(function, q)
        own = str(caught.value).partition("; there are ")[0]  # the arguments of each follow
        errors.append((caught.type, own))
    assert errors[0] == errors[1] or "positional" in errors[0][1]


def test_a_joint_that_moves_no_mass_is_named():
    links = [zv.Link("a", mass=1.0, com=(0.1, 0, 0), inertia=0.1), zv.Link("b", position=(1, 0, 0))]
    chain = zv.Chain._made(name="light", base="base", gravity=(0, 0, -9.81), links=links)
    for method in ("aba", "cholesky"):
        f = chain.compile("forward_dynamics", method=method)
        with pytest.raises(zv.SingularityError, match="moves no mass") as caught:
            f(np.zeros((3, 2)), np.zeros(2), np.zeros(2))
        assert (caught.value.joint, caught.value.row) == ("b_joint", 0)


def test_external_wrenches_must_be_those_compiled_for(arm, rng):
    q, qd, _ = random_state(rng, arm)
    link, other = arm.link_names[-1], arm.link_names[0]
    bare, loaded = arm.compile("bias"), arm.compile("bias", external=[link])
    wrench = np.arange(6.0)
    assert np.array_equal(loaded(q, qd, {link: wrench}), arm.bias(q, qd, {link: wrench}))
    assert np.array_equal(bare(q, qd, None), arm.bias(q, qd))
    for f, external, message in (
        (bare, {link: wrench}, "compiled without external wrenches"),
        (loaded, None, "'external' is missing"),
        (loaded, {other: wrench}, "no wrench on link"),
        (loaded, {link: wrench, other: wrench}, "has 2 wrenches"),
        (loaded, {link: wrench[:5]}, "external"),
    ):
        with pytest.raises(ValueError, match=message):
            f(q, qd, external)
    with pytest.raises(TypeError, match="expected a dict"):
        loaded(q, qd, wrench)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        ("inverse", {}, "unknown function 'inverse', expected one of 'mass_matrix'"),
        ("mass_matrix", {"method": "magic"}, "unknown method 'magic'"),
        ("inverse_dynamics", {"method": "rnea"}, "takes no method"),
        ("inverse_dynamics", {"link": "l1"}, "takes no link"),
        ("mass_matrix", {"external": ["l1"]}, "takes no external"),
        ("pose", {}, "link is missing"),
        ("pose", {"link": "nowhere"}, "'nowhere' is not in model"),
        ("pose", {"link": "l1", "frame": "moon"}, "takes no frame"),
        ("jacobian", {"link": "l1", "frame": "moon"}, "frame is 'moon'"),
        ("jacobian", {"link": "l1", "point": (1, 2)}, "point"),
        ("bias", {"external": ["l1", "l1"]}, "names a link twice"),
        ("bias", {"external": ["nowhere"]}, "'nowhere' is not in model"),
        ("bias", {"parameters": "bases"}, "parameters is 'bases', expected 'fixed', 'symbolic'"),
        ("bias", {"parameters": ["nowhere"]}, "'nowhere' is not in model"),
        ("bias", {"parameters": ["tool"]}, "is welded to a moving link"),
        ("bias", {"parameters": ["floor"]}, "does not move"),
        ("bias", {"level": "fast"}, "level is 'fast', expected 'strict' or 'algebraic'"),
        ("bias", {"limit": 10}, "more than 10 nodes"),
        ("bias", {"limit": "x"}, "limit is 'x'"),
        ("bias", {"speed": "fast"}, "unknown argument 'speed'"),
        ("bias", {"external": 3}, "external is 3, expected names of links"),
        ("bias", {"parameters": [3]}, r"parameters is \[3\], expected names of links"),
        ("jacobian", {"link": "l1", "point": "x"}, "point is 'x', expected three numbers"),
        (3, {}, "function is 3, expected the name of a method"),
    ],
)
def test_what_cannot_be_compiled_is_refused_clearly(function, options, message):
    links = [
        zv.Link("floor", joint="fixed"),
        zv.Link("l1", mass=1.0, inertia=0.1),
        zv.Link("l2", mass=1.0, inertia=0.1, com=(0.1, 0, 0)),
        zv.Link("tool", joint="fixed", mass=0.1, inertia=0.01),
    ]
    chain = zv.Chain(links, name="small")
    for method in (chain.trace, chain.compile):
        with pytest.raises((ValueError, TypeError), match=message):
            method(function, **options)


def test_a_graph_that_is_too_large_says_so():
    with pytest.raises(zv.GraphSizeError, match="more than 500 nodes") as caught:
        zv.robots.puma560().compile("derivatives", limit=500)
    assert caught.value.limit == 500


# ---- lives well


def test_pickle_recompiles(arm, rng):
    f = arm.compile("jacobian", link=arm.link_names[-1], point=(0.1, 0, 0), level="algebraic")
    g = pickle.loads(pickle.dumps(f))
    q = random_state(rng, arm)[0]
    assert np.array_equal(f(q), g(q))
    assert (g.digest, g.level, g.options) == (f.digest, f.level, f.options)


def test_pickle_keeps_what_was_allowed_to_be_large(monkeypatch):
    f = zv.robots.two_link().compile("bias", limit=10_000)
    monkeypatch.setattr("zveno.codegen.function.LIMIT", 5)
    assert pickle.loads(pickle.dumps(f)).operations == f.operations


def test_code_is_shared_while_it_is_used_and_freed_after():
    arm = zv.robots.two_link()
    f, g = arm.compile("bias"), zv.robots.two_link().compile("bias")
    assert f.machine is g.machine
    assert arm.compile("bias", level="algebraic").machine is not f.machine
    code = weakref.ref(f.machine)
    del f, g
    gc.collect()
    assert code() is None


def test_the_model_may_be_forgotten(rng):
    arm = zv.robots.puma560()
    q = rng.normal(size=arm.n)
    want = arm.mass_matrix(q, method="crba-walk")
    f = arm.compile("mass_matrix", method="crba-walk")
    del arm
    gc.collect()
    assert np.array_equal(f(q), want)


def test_many_threads_compile_and_call(rng):
    chains = [random_chain(np.random.default_rng(k), 4, name=f"c{k % 3}") for k in range(3)]
    q = rng.normal(size=(64, 4))

    def work(k):
        for chain in (chains[k % 3], chains[(k + 1) % 3]):
            f = chain.compile("inverse_dynamics")
            for _ in range(20):
                assert np.array_equal(f(q, q, q), chain.inverse_dynamics(q, q, q))

    at_once(work, range(6))


def run_python(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)], check=True, capture_output=True, text=True
    ).stdout


def test_fork_after_compile():
    out = run_python("""
        import os, warnings
        import numpy as np, zveno as zv
        arm = zv.robots.two_link()
        f = arm.compile("inverse_dynamics")
        q = np.ones((1000, 2))
        want = f(q, q, q, threads=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # threads are running: what this is about
            child = os.fork()
        if child == 0:
            good = np.array_equal(f(q, q, q), want) and arm.compile("bias")(q[0], q[0]).shape == (2,)
            os._exit(0 if good else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert out.strip() == "0"


@pytest.mark.slow
def test_hundreds_of_compilations_do_not_grow():
    out = run_python("""
        import gc, json, resource
        import numpy as np, zveno as zv
        def resident():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * resource.getpagesize() / 2**20
        q, sizes = np.ones(1), []
        for k in range(240):
            link = zv.Link("l", mass=1.0 + k, com=(0.1, 0, 0), inertia=0.1)
            f = zv.Chain([link]).compile("inverse_dynamics")
            assert f(q, q, q).shape == (1,)
            if k % 80 == 79:
                gc.collect()
                sizes.append(resident())
        print(json.dumps(sizes))
    """)
    sizes = json.loads(out)
    assert sizes[-1] - sizes[0] < 2  # MB for 160 compilations


def test_without_llvmlite_the_message_says_what_to_install():
    out = run_python("""
        import sys
        sys.modules["llvmlite"] = None
        import zveno as zv
        arm = zv.robots.two_link()
        print(arm.trace("bias").operations.total > 0, "bias" in arm.trace("bias").c_source())
        try:
            arm.compile("bias")
        except zv.Error as error:
            print(error)
    """)
    assert out.startswith("True True\n")
    assert 'pip install "zveno[jit]"' in out


def test_a_compiled_function_says_what_it_is(arm):
    f = arm.compile("inverse_dynamics", level="algebraic")
    assert repr(f).startswith("CompiledFunction arm.inverse_dynamics(q, qd, qdd): ")
    assert "compiled in" in repr(f)
    assert f.seconds > 0
    assert f.origin["model"] == "arm"
    assert len(f.digest) == 64
    assert "instructions" in str(f.savings)
    assert arm.trace("bias").savings is None
