"""Hexapod.trace and Hexapod.compile: the kernels' bits, results, errors; what is left out, what is refused."""

import ctypes
import gc
import pickle
from functools import cache

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from helpers import at_once
from hexapod_models import FUNCTIONS, SPACECRAFT, STANDARD, VARIANTS, arrays_of, call, values_of
from zveno import _core

TRACED = [name for name, (_, _, options) in VARIANTS.items() if not options]
TYPES = [name for name in STANDARD if name.endswith("-lean") and name != "mixed-lean"]
# compiling takes a while: every structure once, the long functions for a few
COMPILED = [
    *((case, "jacobian") for case in TYPES),
    ("UPS-lean", "forward_dynamics on a base at rest"),
    ("mixed-skew", "forward_dynamics"),
    *(("mixed-skew", name) for name in ("closure", "joint_velocity", "kinetic_energy", "potential_energy")),
    ("RSU-skew", "mass_matrix"),
    ("RUS-skew", "momentum"),
    ("mixed-lean", "inverse_dynamics"),
    ("UPS-lean", "forward_dynamics_free"),
]
every_compiled = pytest.mark.parametrize(("case", "variant"), COMPILED, ids=str)


def options_of(variant):
    """What compile is told to make the function of a variant; forces of all joints."""
    name, without, _ = VARIANTS[variant]
    arguments = [a for a in FUNCTIONS[name] if a not in (*without, "base")]
    return {"arguments": arguments, "tau": "all", "base": SPACECRAFT if name == "forward_dynamics_free" else None}


def mechanism(case):
    """Without gravity a base at rest has code of its own."""
    return models.pair(case, heavy=case != "UPS-lean")


@cache
def compiled(case, variant, level="strict"):
    return mechanism(case)[1].compile(VARIANTS[variant][0], **options_of(variant), level=level)


def run(function, variant, values, **options):
    """A compiled function with the arguments of its variant."""
    return function(**{a: values[a] for a in options_of(variant)["arguments"]}, **options)


def numbers(result):
    """A result as rows of numbers."""
    return result._data if isinstance(result, zv.HexapodDynamics) else np.asarray(result)


def check_same(got, want):
    """Bit for bit, but for signs of zeros; types, shapes and status included."""
    assert type(got) is type(want)
    assert len(arrays_of(got)) == len(arrays_of(want))
    for x, y in zip(arrays_of(got), arrays_of(want), strict=True):
        assert x.shape == y.shape and x.dtype == y.dtype
        assert np.array_equal(x, y, equal_nan=True)
    if isinstance(want, zv.HexapodDynamics):
        assert np.array_equal(got.status, want.status)


def kernel_angle(s, c):
    """Angles as the kernels compute them."""
    s, c = (np.ascontiguousarray(np.broadcast_to(x, np.broadcast(s, c).shape), dtype=float) for x in (s, c))
    lanes = zv.cpu_features()["lanes"]
    out = np.empty(s.size + lanes)
    pointers = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in (s, c, out)]
    ctypes.CFUNCTYPE(None, *[type(pointers[0])] * 3, ctypes.c_int)(_core.transcendental_addresses()["angle"])(
        *pointers, s.size
    )
    return out[: s.size].reshape(s.shape)


# ---- the graph --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("case", "variant"), [(case, variant) for case in STANDARD for variant in TRACED], ids=str)
def test_the_graph_computes_the_bits_of_the_kernel(case, variant, rng):
    ref, hx = mechanism(case)
    traced = hx.trace(VARIANTS[variant][0], **options_of(variant))
    values = values_of(rng, ref, (3,))
    inputs = [np.moveaxis(values[x.name].reshape(3, -1), 0, -1) for x in traced.graph.inputs]
    parts = traced.graph.evaluate(*inputs, arithmetic={"angle": kernel_angle})
    found = {
        x.name: np.array([np.broadcast_to(v, 3) for v in part]).T
        for x, part in zip(traced.graph.outputs, parts, strict=True)
    }
    assert np.array_equal(found.pop("measures"), hx._measures(values["r"], values["R"]).reshape(3, -1))
    want = numbers(call(hx, variant, values)).reshape(3, -1)
    if VARIANTS[variant][0] != "inverse_dynamics":
        assert np.array_equal(np.concatenate(list(found.values()), axis=1), want)
        return
    # what is left to do: jacobian' forces = load, in base axes
    jacobian = found["jacobian"].reshape(3, 6, 6)
    turned = np.concatenate([jacobian[..., :3], jacobian[..., 3:] @ values["R"]], axis=-1)
    np.testing.assert_allclose(turned, hx.jacobian(values["r"], values["R"]), rtol=0, atol=1e-13)
    forces = np.linalg.solve(np.swapaxes(jacobian, -1, -2), found["load"][..., None])[..., 0]
    np.testing.assert_allclose(forces, want, rtol=0, atol=1e-10 * np.abs(want).max())


@pytest.mark.parametrize("case", STANDARD)
@pytest.mark.parametrize("moving", [False, True])
def test_tracing_saves_operations_and_never_adds_any(case, moving):
    hx = models.pair(case, heavy=False)[1]
    arguments = ["r", "R", "u", "wrench", "tau", *["base_motion"] * moving]
    traced = hx.trace("forward_dynamics", arguments=arguments)
    written = hx.operations(moving=moving)
    assert traced.kernel_operations == written
    for key in ("mul", "add", "div", "sqrt", "trig"):
        assert getattr(traced.operations, key) <= getattr(written, key)
    assert traced.operations.total < written.total


def test_what_is_left_out_is_zero_and_costs_nothing(rng):
    ref, hx = mechanism("mixed-skew")
    values = values_of(rng, ref, (3,))
    full = hx.trace("forward_dynamics", arguments=["r", "R", "u", "wrench", "tau"])
    still = hx.trace("forward_dynamics", arguments=["r", "R"])
    assert [x.name for x in still.graph.inputs] == ["r", "R"]
    assert still.operations.total < 0.9 * full.operations.total
    inputs = [np.moveaxis(values[name].reshape(3, -1), 0, -1) for name in ("r", "R")]
    parts = still.graph.evaluate(*inputs)
    zero = np.zeros(6)
    want = hx.forward_dynamics(values["r"], values["R"], zero, zero, zero)
    assert np.array_equal(np.array(parts[0]).T, want.acceleration)
    # rates are zero: their nodes are the constant
    legs = still.graph.results[2].reshape(6, -1)[:, hx.nj : 2 * hx.nj]
    assert len(np.unique(legs)) == 1 and still.graph.value[legs[0, 0]] == 0


def test_the_order_of_arguments_is_that_of_the_method():
    hx = mechanism("UPS-lean")[1]
    traced = hx.trace("forward_dynamics", arguments=["tau", "u", "R", "r"])
    assert [x.name for x in traced.graph.inputs] == ["r", "R", "u", "tau"]


def test_reference_states_and_results_are_those_of_the_library():
    hx = mechanism("RSU-lean")[1]
    for name in FUNCTIONS:
        traced = hx.trace(name, base=SPACECRAFT if name == "forward_dynamics_free" else None)
        inputs, outputs = traced.reference(4, seed=1)
        assert [x.shape for x in inputs] == [(4, *x.shape) for x in traced.graph.inputs]
        assert [x.shape for x in outputs] == [(4, *x.shape) for x in traced.graph.outputs]
        flat = [np.moveaxis(x.reshape(4, -1), 0, -1) for x in inputs]
        for part, want in zip(traced.graph.evaluate(*flat), outputs, strict=True):
            got = np.array([np.broadcast_to(x, 4) for x in part]).T.reshape(want.shape)
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-13 * np.abs(want).max())
    again = [x for part in traced.reference(4, seed=1) for x in part]
    assert all(np.array_equal(x, y) for x, y in zip(again, [*inputs, *outputs], strict=True))


def test_reference_states_of_a_model_without_a_nominal_pose():
    parts = mechanism("RSU-lean")[1].to_dict() | {"nominal": None}
    hx = zv.Hexapod.from_dict(parts)
    (r, R), _ = hx.trace("closure").reference(5)
    assert not hx.status(r, R).any()


# ---- compiled functions -----------------------------------------------------------------------------------------


@every_compiled
@pytest.mark.parametrize("lead", [(), (1,), (2,), (13,), (2, 3), (0,)], ids=str)
def test_compiled_functions_give_the_bits_of_the_methods(case, variant, lead, rng):
    ref, hx = mechanism(case)
    values = values_of(rng, ref, lead)
    check_same(run(compiled(case, variant), variant, values), call(hx, variant, values))


@every_compiled
def test_threads_and_out_of_compiled_functions(case, variant, rng):
    ref, hx = mechanism(case)
    values = {name: np.resize(x, (203, *x.shape[1:])) for name, x in values_of(rng, ref, (29,)).items()}
    want = call(hx, variant, values)
    f = compiled(case, variant)
    for threads in (None, 0, 2, 5):
        out = run(f, variant, {name: x[::-1].copy() for name, x in values.items()})
        got = run(f, variant, values, threads=threads, out=out)
        assert got is out
        check_same(got, want)


@pytest.mark.parametrize(("case", "variant"), [("mixed-skew", "forward_dynamics"), ("RSU-skew", "mass_matrix")])
def test_many_rows_some_of_which_fail_are_those_of_the_method(case, variant, rng):
    """Results of so many states go past the caches."""
    ref, hx = mechanism(case)
    f = compiled(case, variant)
    states = int(1.1 * (4 << 20)) // numbers(run(f, variant, values_of(rng, ref, (1,)))).nbytes + 5
    values = {name: np.resize(x, (states, *x.shape[1:])) for name, x in values_of(rng, ref, (299,)).items()}
    for bad in ([], [4, 12, 23, 24, 1000, states - 1]):
        for row in bad:
            values["r"][row], values["R"][row] = models.misplaced(hx)
        values["r"][bad[1::2], 1] = np.nan
        want = call(hx, variant, values, on_error="nan", threads=1)
        assert np.isnan(numbers(want).reshape(states, -1)).any(axis=1).nonzero()[0].tolist() == bad
        for threads in (1, 2):
            check_same(run(f, variant, values, on_error="nan", threads=threads), want)


@every_compiled
def test_rows_that_fail_are_those_of_the_method(case, variant, rng):
    ref, hx = mechanism(case)
    values = values_of(rng, ref, (21,))
    values["r"][4], values["R"][4] = models.misplaced(hx)
    values["r"][12, 1] = np.nan
    values["R"][13] *= 1.001
    f = compiled(case, variant)
    want = call(hx, variant, values, on_error="nan")
    got = run(f, variant, values, on_error="nan")
    check_same(got, want)
    assert np.isnan(numbers(got).reshape(21, -1)).any(axis=1).nonzero()[0].tolist() == [4, 12, 13]
    for row in (4, 12, 13):
        one = {name: x[row] for name, x in values.items()}
        for states in (one, values | {name: np.roll(x, -row, 0) for name, x in values.items()}):
            errors = []
            for function in (call, run):
                with pytest.raises((zv.Error, ValueError)) as caught:
                    function(hx if function is call else f, variant, states)
                errors.append(caught.value)
            assert type(errors[0]) is type(errors[1])
            assert str(errors[0]) == str(errors[1]) and errors[0].__dict__ == errors[1].__dict__


@every_compiled
def test_scalar_code_has_the_same_bits(case, variant, rng):
    # single states of long functions are left to the kernels: here they are not
    ref, hx = mechanism(case)
    f, options = compiled(case, variant), options_of(variant)
    addresses = f.machine.scalar, f.machine.vector, f.machine.passing
    own = _core.Compiled(hx, f.function, options, f.machine, *addresses, f.machine.lanes)
    values = values_of(rng, ref, (3,))
    values["r"][1], values["R"][1] = models.misplaced(hx)
    for i in range(3):
        one = {name: x[i] for name, x in values.items()}
        check_same(run(own, variant, one, on_error="nan"), call(hx, variant, one, on_error="nan"))


@pytest.mark.parametrize("argument", ["u", "acceleration", "wrench", "tau", "base_motion"])
def test_numbers_that_are_not_finite_are_refused(argument, rng):
    ref, hx = mechanism("mixed-lean")
    f = compiled("mixed-lean", "inverse_dynamics")
    for lead in ((), (9,)):
        values = values_of(rng, ref, lead)
        place = (*[4] * len(lead), *([1, hx.nj - 1] if argument == "tau" else [2]))
        values[argument][place] = np.inf
        with pytest.raises(ValueError, match=rf"inverse_dynamics: {argument}.*not finite"):
            run(f, "inverse_dynamics", values)


def test_weak_drives_and_overflow_are_noticed(rng):
    legs = [zv.Leg.ups((0, y, z), (0.0, y, z), housing=zv.Body(1, 0.1), rod=zv.Body(1, 0.1), housing_length=0.2,
                       rod_length=0.2) for y, z in zip(*rng.normal(size=(2, 6)), strict=True)]  # fmt: skip
    weak = zv.Hexapod(zv.Body(10, 1.0), legs, nominal=(0.5, 0, 0))
    f = weak.compile("inverse_dynamics")
    state = (*weak.nominal, np.zeros(6), np.ones(6))
    for function in (f, weak.inverse_dynamics):
        with pytest.raises(zv.SingularityError, match="do not determine the motion of the ring"):
            function(*state)
        with pytest.raises(zv.SingularityError, match="do not determine the motion of the ring"):
            function(*(np.stack([x] * 9) for x in state))
    values = values_of(rng, mechanism("UPS-lean")[0], (3,))
    values["u"][1] = 1e200
    with pytest.raises(FloatingPointError, match="forward_dynamics"):
        run(compiled("UPS-lean", "forward_dynamics on a base at rest"), "forward_dynamics on a base at rest", values)


def test_forces_of_the_actuated_joints_alone(rng):
    ref, hx = mechanism("UPS-lean")
    values = values_of(rng, ref, (9,))
    values["tau"] = values["tau"][..., 0].copy()
    state = [values[name] for name in ("r", "R", "u", "wrench", "tau")]
    f = hx.compile("forward_dynamics")
    check_same(f(*state), hx.forward_dynamics(*state))
    check_same(f(*(x[0] for x in state)), hx.forward_dynamics(*(x[0] for x in state)))
    with pytest.raises(ValueError, match=r"forward_dynamics: tau has shape \(9, 6, 3\), expected .*6"):
        f(*state[:4], np.zeros((9, 6, 3)))
    g = compiled("UPS-lean", "forward_dynamics on a base at rest")
    with pytest.raises(ValueError, match=r"forward_dynamics: tau has shape \(9, 6\), expected .*6, 3"):
        g(*state)


def test_arguments_that_were_not_compiled_are_refused():
    hx = mechanism("UPS-lean")[1]
    f = compiled("UPS-lean", "jacobian")
    r, R = hx.nominal
    with pytest.raises(TypeError, match="jacobian: unknown argument 'u'"):
        f(r, R, u=np.zeros(6))
    with pytest.raises(TypeError, match="jacobian: 3 positional arguments given, at most 2"):
        f(r, R, np.zeros(6))
    with pytest.raises(TypeError, match="jacobian: argument 'R' is missing"):
        f(r)
    with pytest.raises(TypeError, match="jacobian: r is a NoneType, expected an array"):
        f(None, R)
    with pytest.raises(ValueError, match="jacobian: on_error is 'ignore', expected 'raise' or 'nan'"):
        f(r, R, on_error="ignore")


@pytest.mark.parametrize("level", ["strict", "algebraic"])
def test_levels_agree(level, rng):
    case, variant = "UPS-lean", "forward_dynamics on a base at rest"
    ref, hx = mechanism(case)
    f = compiled(case, variant, level)
    values = values_of(rng, ref, (50,))
    got, want = run(f, variant, values), call(hx, variant, values)
    for x, y in zip(arrays_of(got), arrays_of(want), strict=True):
        assert np.abs(x - y).max() <= 1e-13 * np.abs(y).max()
    # a row does not depend on its neighbours
    for i in (0, 7, 49):
        alone = run(f, variant, {name: x[i] for name, x in values.items()})
        assert np.array_equal(alone._data, got._data[i])
    values["r"][3] = np.nan
    failed = run(f, variant, values, on_error="nan")
    assert np.array_equal(np.delete(failed._data, 3, 0), np.delete(got._data, 3, 0))
    if level == "algebraic":
        assert f.savings.instructions_after < f.savings.instructions_before
        assert f.savings.difference <= 1e-13


# ---- the object -------------------------------------------------------------------------------------------------


def test_a_compiled_function_tells_what_it_is():
    hx = mechanism("UPS-lean")[1]
    f = compiled("UPS-lean", "jacobian")
    assert (f.model, f.function, f.level) == (hx, "jacobian", "strict")
    assert f.options["arguments"] == ("r", "R")
    assert f.graph.outputs[0].shape == (6, 6) and len(f.graph) < 1000
    assert f.operations.total > 100
    assert 0 < f.seconds < 60
    assert f.title.endswith(".jacobian(r, R)") and f.name.endswith("_jacobian")
    assert f.origin["function"] == "jacobian"
    assert "compiled in" in repr(f) and "jacobian" in repr(f)
    assert "void" in f.c_source()


def test_pickle_recompiles(rng):
    ref, hx = mechanism("UPS-lean")
    values = values_of(rng, ref, (5,))
    f = pickle.loads(pickle.dumps(compiled("UPS-lean", "jacobian")))
    check_same(run(f, "jacobian", values), call(hx, "jacobian", values))
    spacecraft = compiled("UPS-lean", "forward_dynamics_free")
    assert pickle.loads(pickle.dumps(spacecraft)).digest == spacecraft.digest


def test_the_same_code_is_made_once():
    hx = mechanism("UPS-lean")[1]
    f = compiled("UPS-lean", "jacobian")
    assert hx.compile("jacobian").machine is f.machine
    assert hx.compile("jacobian", level="algebraic").machine is not f.machine


def test_a_compiled_function_outlives_its_model(rng):
    ref, _ = mechanism("UPS-lean")
    hx = models.to_model(ref, name="short-lived")
    f = hx.compile("jacobian")
    values = values_of(rng, ref, (5,))
    want = call(hx, "jacobian", values)
    del hx
    gc.collect()
    check_same(run(f, "jacobian", values), want)


def test_many_threads_call_one_function(rng):
    ref, hx = mechanism("mixed-skew")
    values = values_of(rng, ref, (40,))
    want = call(hx, "closure", values)
    f = compiled("mixed-skew", "closure")
    results = at_once(lambda _: run(f, "closure", values), range(4))
    assert all(np.array_equal(x, want) for x in results)


# ---- what cannot be compiled ------------------------------------------------------------------------------------


def test_custom_legs_cannot_be_traced():
    hx = models.pair("mixed-general")[1]
    for make in (hx.trace, hx.compile):
        with pytest.raises(ValueError, match=r"(compile|trace): leg 'leg\d' is custom: closed by iteration"):
            make("closure")


REFUSED = {
    "unknown function": ("dance", {}, ValueError, "unknown function 'dance', expected one of 'closure'"),
    "measures": ("_measures", {}, ValueError, "unknown function '_measures'"),
    "unknown argument": ("closure", {"arguments": ["r", "R", "u"]}, ValueError, "'closure' takes no argument 'u'"),
    "twice": ("closure", {"arguments": ["r", "R", "r"]}, ValueError, "arguments has 'r' twice"),
    "no pose": ("joint_velocity", {"arguments": ["r", "u"]}, ValueError, "arguments lacks 'R'"),
    "one string": ("closure", {"arguments": "rR"}, TypeError, "arguments is 'rR', expected a sequence of names"),
    "start": ("closure", {"arguments": ["r", "R", "start"]}, ValueError, "takes no argument 'start'"),
    "level": ("closure", {"level": "fast"}, ValueError, "level is 'fast', expected 'strict' or 'algebraic'"),
    "tau": ("forward_dynamics", {"tau": "some"}, ValueError, "tau is 'some', expected 'actuated' or 'all'"),
    "no base": ("forward_dynamics_free", {}, ValueError, "'forward_dynamics_free' needs a base"),
    "base": ("forward_dynamics", {"base": SPACECRAFT}, ValueError, "'forward_dynamics' takes no base"),
    "unknown option": ("closure", {"method": "newton"}, TypeError, "(compile|trace): unknown argument 'method'"),
    "size": ("forward_dynamics", {"limit": 1000}, zv.errors.GraphSizeError, "more than 1000 nodes"),
}


@pytest.mark.parametrize(("function", "options", "kind", "words"), REFUSED.values(), ids=REFUSED)
def test_bad_requests_are_refused(function, options, kind, words):
    hx = mechanism("UPS-lean")[1]
    for make in (hx.trace, hx.compile):
        with pytest.raises(kind, match=words):
            make(function, **options)


def test_a_base_that_is_no_body_is_refused():
    hx = mechanism("UPS-lean")[1]
    for base in (5.0, "ship", SPACECRAFT.to_dict(), hx):
        with pytest.raises(TypeError, match=r"(compile|trace): base is of type .*, expected a zveno.Body"):
            hx.trace("forward_dynamics_free", base=base)
