"""Whatever arrives: a clear exception, never a crash, never a silent NaN."""

import itertools
from contextlib import nullcontext
from functools import partial

import helpers
import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_state
from helpers import ARRAYS, FUNCTIONS, METHODS, SERIAL_ONLY, TAKES_EXTERNAL, arguments, arrays_of
from hypothesis import example, given, settings
from hypothesis import strategies as st
from refusals import BAD, WRONG_TYPES, anything, assert_answered_or_refused, check_refused

N = 6
array_arguments = [(name, a) for name, args in ARRAYS.items() for a in args]
every_array = pytest.mark.parametrize(("name", "argument"), array_arguments, ids=map("-".join, array_arguments))


def call_with(chain, name, argument, value, **options):
    """Call a function with one argument replaced."""
    args = arguments(name, [np.full(chain.n, 0.5)] * 3, chain.link_names[-1])
    args[FUNCTIONS[name].index(argument)] = value
    return getattr(chain, name)(*args, **options)


WRONG_SHAPES = {
    "short": np.zeros(N - 1),
    "long": np.zeros(N + 1),
    "scalar": np.float64(1.0),
    "zero-dimensional": np.zeros(()),
    "empty": np.zeros(0),
    "transposed": np.zeros((N, 3)),
    "too many axes": np.zeros((1,) * 40 + (N + 1,)),
}


@every_array
def test_wrong_shape_names_function_argument_and_both_shapes(name, argument, arm):
    for value in WRONG_SHAPES.values():
        words = (f"{name}: {argument}", str(np.shape(value)), f"({N},)", "arm")
        check_refused(ValueError, words, call_with, arm, name, argument, value)


@every_array
def test_wrong_type_names_function_argument_and_what_came(name, argument, arm):
    for value in (*WRONG_TYPES.values(), None):
        check_refused(TypeError, (f"{name}: {argument}", "expected"), call_with, arm, name, argument, value)


@every_array
def test_ragged_rows_are_refused(name, argument, arm):
    check_refused(BAD, (f"{name}: {argument}", "array of numbers"), call_with, arm, name, argument, [[0.0] * N, [0.0]])


@every_array
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(name, argument, arm):
    for bad, shape in itertools.product((np.nan, np.inf, -np.inf), ((N,), (1, N), (5, N), (64, N))):
        words = (f"{name}: {argument}", str(bad), "finite")
        for place in (0, N * (shape[0] // 2) % np.prod(shape), np.prod(shape) - 1):
            value = np.zeros(shape)
            value.flat[place] = bad
            for layout in (np.asarray, np.asfortranarray, np.float32):
                check_refused(ValueError, words, call_with, arm, name, argument, layout(value))


@pytest.mark.parametrize("name", [name for name, args in FUNCTIONS.items() if "qd" in args])
def test_leading_shapes_that_do_not_broadcast_are_refused(name, arm):
    args = arguments(name, [np.zeros((3, N)), np.zeros((4, N)), np.zeros((3, N))], arm.link_names[0])
    check_refused(ValueError, (f"{name}: ", "(3, 6)", "(4, 6)"), getattr(arm, name), *args)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bad_threads_are_refused(name, arm):
    for threads in (-1, "2", 1.5, [1], 10**30):
        words = (f"{name}: threads", str(threads), "expected")
        check_refused(BAD, words, call_with, arm, name, "q", np.zeros(N), threads=threads)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_number_of_arguments_is_refused(name, arm):
    call, args = getattr(arm, name), arguments(name, [np.zeros(N)] * 3, arm.link_names[0])
    check_refused(TypeError, (name,), call)
    check_refused(TypeError, (name,), call, *args[:-1])
    check_refused(TypeError, (name,), call, *args, *[None] * 8)
    check_refused(TypeError, (name, "nonsense"), call, *args, nonsense=1)
    check_refused(TypeError, (name, "q"), call, *args, q=np.zeros(N))


@pytest.mark.parametrize("name", ["mass_matrix", "bias", "forward_dynamics"])
def test_unknown_method_names_the_known_ones(name, arm):
    words = (f"{name}: ", "method 'magic'", *(options["method"] for options in helpers.OPTIONS[name]))
    check_refused(ValueError, words, call_with, arm, name, "q", np.zeros(N), method="magic")
    for method in (7, b"crba", ["crba"]):
        check_refused(BAD, (f"{name}: ", "method"), call_with, arm, name, "q", np.zeros(N), method=method)


@pytest.mark.parametrize("method", SERIAL_ONLY)
def test_methods_for_serial_chains_say_so(method, tree):
    assert not tree.is_serial
    check_refused(
        ValueError, ("mass_matrix", f"'{method}'", "serial", "tree"), tree.mass_matrix, np.zeros(tree.n), method
    )
    check_refused(ValueError, ("operations", f"'{method}'", "serial"), tree.operations, "mass_matrix", method)


@pytest.mark.parametrize("name", ["pose", "jacobian", "jacobian_rate"])
def test_unknown_link_is_named(name, arm):
    check_refused(ValueError, (f"{name}: link", "elbow", "arm"), call_with, arm, name, "link", "elbow")
    for link in (3, None, b"l0", ["l0"], np.zeros(3)):
        check_refused(TypeError, (f"{name}: link",), call_with, arm, name, "link", link)
    for link in ("", "l0\0", "\ud800"):
        check_refused(ValueError, (), call_with, arm, name, "link", link)


@pytest.mark.parametrize("name", ["reactions", "jacobian", "jacobian_rate"])
def test_unknown_frame_names_the_known_ones(name, arm):
    words = (f"{name}: frame", "body", "link", "world")
    check_refused(ValueError, words, call_with, arm, name, "q", np.zeros(N), frame="body")
    check_refused(BAD, words[:1], call_with, arm, name, "q", np.zeros(N), frame=3)


@pytest.mark.parametrize("name", ["jacobian", "jacobian_rate"])
def test_bad_point_is_refused(name, arm):
    for point in (np.zeros(2), np.zeros((1, 3)), [np.nan, 0, 0], 1.0):
        check_refused(ValueError, (f"{name}: point",), call_with, arm, name, "q", np.zeros(N), point=point)
    for point in ("abc", [1j, 0, 0], {}):
        check_refused(TypeError, (f"{name}: point",), call_with, arm, name, "q", np.zeros(N), point=point)


@pytest.mark.parametrize("name", TAKES_EXTERNAL)
def test_bad_external_wrenches_are_refused(name, arm):
    def given_external(external, *words, kind=ValueError):
        words = (f"{name}: external", *words)
        check_refused(kind, words, call_with, arm, name, "q", np.zeros(N), external=external)

    given_external({"elbow": np.zeros(6)}, "elbow")
    given_external({"l0": np.zeros(5)}, "l0", "(5,)", "(6,)")
    given_external({"l0": np.zeros((3, 7))}, "l0", "(3, 7)")
    given_external({"l0": np.full(6, np.nan)}, "l0", "finite")
    given_external({"l0": "abcdef"}, "l0", kind=TypeError)
    given_external({"l0": None}, "l0", kind=TypeError)
    given_external({0: np.zeros(6)}, kind=TypeError)
    given_external(np.zeros(6), kind=TypeError)
    given_external([("l0", np.zeros(6))], kind=TypeError)
    given_external("l0", kind=TypeError)
    apart = {"l0": np.zeros((2, 6)), "l1": np.zeros((3, 6))}
    check_refused(ValueError, (name, "(2, 6)", "(3, 6)"), call_with, arm, name, "q", np.zeros(N), external=apart)


def test_a_dict_that_changes_while_it_is_read_does_no_harm(arm):
    class Changes:
        def __array__(self, dtype=None, copy=None):
            external.clear()
            return np.zeros(6)

    q, wrench = np.full(N, 0.5), np.arange(6.0)
    external = {"l0": Changes(), "l1": wrench}
    tau = arm.inverse_dynamics(q, q, q, external)
    assert not external
    assert np.array_equal(tau, arm.inverse_dynamics(q, q, q, {"l0": np.zeros(6), "l1": wrench}))


def links_with(**last):
    """Two ordinary links and one that differs."""
    ordinary = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.1, 0.1, 0.1), "position": (0.1, 0.2, 0.3)}
    return [zv.Link("a", axis=(1, 2, 3), **ordinary), zv.Link("b", axis=(3, -1, 2), **ordinary), zv.Link("c", **last)]


MOVES_NOTHING = {
    "massless revolute": {"position": (0.3, 0.1, 0.2)},
    "massless prismatic": {"joint": "prismatic"},
    "point mass on the axis": {"mass": 2.0, "com": (0, 0, 0.7)},
    "point mass on a skew axis": {"mass": 2.0, "com": (0.1, 0.2, -0.3), "axis": (1, 2, -3)},
}


@pytest.mark.parametrize("last", MOVES_NOTHING.values(), ids=MOVES_NOTHING)
@pytest.mark.parametrize("method", ["aba", "cholesky", "cholesky-walk"])
def test_a_joint_that_moves_no_mass_is_named_when_a_solve_needs_it(last, method):
    with nullcontext() if "mass" in last else pytest.warns(zv.ModelWarning, match="'c_joint' moves no mass"):
        chain = zv.Chain(links_with(**last), name="weak")
    q = np.array([0.3, -0.7, 0.4])
    with pytest.raises(zv.SingularityError, match=r"forward_dynamics.*'c_joint'") as caught:
        chain.forward_dynamics(q, q, q, method=method)
    assert caught.value.joint == "c_joint"
    assert isinstance(caught.value, zv.Error)
    M = chain.mass_matrix(q)
    assert np.isfinite(M).all()
    helpers.assert_close(M[2, 2], 0.0, 3, scale=1.0)
    assert np.isfinite(chain.inverse_dynamics(q, q, q)).all()


@pytest.mark.parametrize("method", ["aba", "cholesky", "cholesky-walk"])
def test_the_singular_row_of_a_batch_is_named(method):
    # a point mass crosses the first axis only where the slide is at zero
    ends = [zv.Link("turn"), zv.Link("slide", joint="prismatic", axis=(1, 0, 0), mass=1.0)]
    chain = zv.Chain(ends)
    q = np.ones((9, 2))
    q[5, 1] = 0.0
    with pytest.raises(zv.SingularityError) as caught:
        chain.forward_dynamics(q, q * 0, q, method=method, threads=2)
    assert (caught.value.joint, caught.value.row) == ("turn_joint", 5)
    assert np.isfinite(chain.forward_dynamics(np.delete(q, 5, 0), np.zeros(2), np.ones(2), method=method)).all()


def test_a_rotor_makes_a_massless_joint_solvable():
    chain = zv.Chain(links_with(rotor_inertia=0.5))
    q = np.ones(3)
    qdd = chain.forward_dynamics(q, q, q)
    helpers.assert_close(chain.inverse_dynamics(q, q, qdd), q, 3, scale=1.0 + np.abs(qdd).max())


@every_array
@pytest.mark.parametrize("size", [1e155, 1e300, 1.7e308])
def test_overflow_is_an_exception_and_not_a_silent_infinity(name, argument, size, arm):
    for value in (np.full(N, size), np.full((5, N), -size)):
        if argument == "qd" and name in ("inverse_dynamics", "bias", "kinetic_energy"):
            check_refused(FloatingPointError, (name,), call_with, arm, name, argument, value)
            continue
        try:
            result = call_with(arm, name, argument, value)
        except (FloatingPointError, zv.SingularityError):
            continue
        assert all(np.isfinite(x).all() for x in arrays_of(result))


def test_numbers_whose_sum_overflows_are_numbers():
    # slides side by side, of one kilogram each: every number of the batch is finite, the sum of those of a state is not
    slides = [zv.Link(name, parent="base", joint="prismatic", mass=1.0) for name in "abc"]
    chain = zv.Chain(slides, gravity=(0, 0, 0))
    qdd, rest = np.full((32, 3), 1.7e308), np.zeros((32, 3))
    assert np.array_equal(chain.inverse_dynamics(rest, rest, qdd), qdd)
    qdd[7, 1] = np.inf
    check_refused(ValueError, ("qdd", "row 7"), chain.inverse_dynamics, rest, rest, qdd)


whatever = anything((N,), (2, N), (0, N), (N, 1))


@settings(max_examples=200)
@given(
    name=st.sampled_from(list(FUNCTIONS)),
    values=st.tuples(whatever, whatever, whatever),
    link=st.sampled_from(["l0", "l5"]) | whatever,
    options=st.dictionaries(
        st.sampled_from(["out", "threads", "method", "frame", "point", "external"]), whatever, max_size=2
    ),
)
@example(name="mass_matrix", values=(np.zeros((3, N)), None, None), link="l0", options={"method": METHODS[-1]})
def test_whatever_arrives_at_the_array_boundary_is_answered_or_refused(arm, name, values, link, options):
    call = partial(getattr(arm, name), *arguments(name, values, link))
    assert_answered_or_refused(call, arrays_of, options)


def test_results_stay_right_after_refusals(arm, rng):
    state = random_state(rng, arm)
    before = arm.inverse_dynamics(*state)
    for value in (*WRONG_SHAPES.values(), *WRONG_TYPES.values(), None, np.full(N, np.nan)):
        check_refused(BAD, (), call_with, arm, "inverse_dynamics", "qd", value)
    assert np.array_equal(arm.inverse_dynamics(*state), before)


def test_models_without_sense_are_refused():
    check_refused(zv.ModelError, ("chain",), zv.Chain, [])
    check_refused(zv.ModelError, ("chain",), zv.Chain, [zv.Link("weld", joint="fixed")])
    with pytest.raises(zv.ModelError, match=r"'c'.*-2") as caught:
        zv.Chain(links_with(mass=-2.0))
    assert caught.value.link == "c"


@pytest.mark.parametrize("path", helpers.urdf_files(physical=False).values(), ids=helpers.urdf_files(physical=False))
def test_real_model_files_with_a_negative_inertia_name_link_and_number(path):
    strictly = partial(zv.Chain.from_urdf, strict=True)
    check_refused(zv.ModelError, (path.name, "link '", "inertia eigenvalue -"), strictly, path)
