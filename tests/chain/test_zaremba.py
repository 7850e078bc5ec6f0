"""Zaremba's closed forms: derivatives of the mass matrix, Jacobian columns and effective inertias to any order."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.exact import angles, derivative
from engines.pinocchio import Twin
from engines.random_mechanisms import mechanisms, random_chain, random_state
from engines.worked_tree import QD, Q, worked_tree
from helpers import OTHER, ROOT, assert_close
from hypothesis import given, settings
from refusals import check_refused
from zveno.opcount import fit_polynomial, format_polynomial

METHODS = ("moments", "zaremba")
ORDERS = (0, 1, 2, 3, 4)
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


def exact(chain, q, by, f):
    """Derivative of f, a function of one state, by joints."""
    return derivative(lambda points: [f(x) for x in points], q, by, angles(chain))


def parents(chain):
    """For every joint in the order of q: its own link and everything inboard of it, as joints."""
    link = {x.name: x for x in chain.links}
    joint = {x.name: k for k, x in enumerate(x for x in chain.links if x.joint != "fixed")}
    paths = {chain.base_name: []}

    def path(name):
        if name not in paths:
            paths[name] = [*path(link[name].parent), *([joint[name]] if name in joint else [])]
        return paths[name]

    return {name: path(name) for name in (chain.base_name, *chain.link_names)}


def assert_derivative(got, want, n, scale):
    """A derivative of anything may vanish: errors are those of the values it is made of."""
    assert_close(got, want, n, ulps=OTHER, scale=max(scale, np.abs(want).max()))


# ---- the mass matrix --------------------------------------------------------------------------------------------


@given(mechanisms(max_n=7))
def test_derivatives_of_the_mass_matrix_are_those_of_pinocchios(mechanism):
    chain, rng = mechanism
    q = random_state(rng, chain)[0]
    twin = Twin(chain)
    want = np.stack([exact(chain, q, (k,), twin.mass_matrix) for k in range(chain.n)], axis=-1)
    scale = np.abs(twin.mass_matrix(q)).max()
    for method in METHODS:
        assert_close(chain.mass_matrix_derivatives(q, method=method), want, chain.n, scale=scale)


@given(mechanisms(max_n=5))
@settings(max_examples=15)
def test_second_derivatives_of_the_mass_matrix_are_those_of_pinocchios(mechanism):
    chain, rng = mechanism
    q, n = random_state(rng, chain)[0], chain.n
    twin = Twin(chain)
    got = chain.mass_matrix_derivatives(q, order=2)
    assert got.shape == (n,) * 4
    scale = np.abs(twin.mass_matrix(q)).max()
    for k in range(n):
        for m in range(k + 1):
            want = exact(chain, q, (k, m), twin.mass_matrix)
            assert_derivative(got[..., k, m], want, n, scale)
            np.testing.assert_array_equal(got[..., k, m], got[..., m, k])
    np.testing.assert_array_equal(got, chain.mass_matrix_second_derivatives(q))
    np.testing.assert_array_equal(got, chain.mass_matrix_derivatives(q, 2, "zaremba"))


@given(mechanisms(max_n=8))
def test_christoffel_symbols_are_their_definition_and_give_the_coriolis_matrix(mechanism):
    chain, rng = mechanism
    q, qd, _ = random_state(rng, chain)
    dM = chain.mass_matrix_derivatives(q)
    want = (dM.transpose(0, 2, 1) + dM - dM.transpose(2, 0, 1)) / 2
    scale = max(1.0, np.abs(dM).max())
    for method in METHODS:
        d = chain.christoffel(q, method)
        assert_close(d, want, chain.n, scale=scale)
        np.testing.assert_array_equal(d, d.transpose(0, 2, 1))
        C = np.einsum("isj,s->ij", d, qd)
        assert_close(C, chain.coriolis_matrix(q, qd), chain.n, scale=scale * np.abs(qd).max())
        twin = Twin(chain)
        other = twin._matrix(pin.computeCoriolisMatrix(twin.model, twin.data, twin._q(q), twin._v(qd)))
        assert_close(C, other, chain.n, ulps=OTHER, scale=scale * np.abs(qd).max())
        rate = dM @ qd
        assert_close(C + C.T, rate, chain.n, scale=scale * np.abs(qd).max())


@given(mechanisms(max_n=8))
def test_gravity_stiffness_is_the_derivative_of_pinocchios_gravity_without_springs(mechanism):
    chain, rng = mechanism
    q, twin = random_state(rng, chain)[0], Twin(chain)

    def weight(x):
        return pin.computeGeneralizedGravity(twin.model, twin.data, twin._q(x))[twin.order].copy()

    want = np.stack([exact(chain, q, (k,), weight) for k in range(chain.n)], axis=-1)
    K = chain.gravity_stiffness(q)
    assert_close(K, want, chain.n, ulps=OTHER, scale=max(1.0, np.abs(weight(q)).max()))
    np.testing.assert_array_equal(K, K.T)


# ---- theorems 1-3 and the single-term rule ----------------------------------------------------------------------


def drawn(rng, path, chain, order):
    """Joints to differentiate by: mostly of the path, repeated ones and strangers among them."""
    choice = path if path and rng.random() < 0.8 else range(chain.n)
    return tuple(int(k) for k in rng.choice(choice, order))


@given(mechanisms(max_n=7))
def test_columns_of_the_jacobian_have_the_derivatives_of_pinocchios(mechanism):
    chain, rng = mechanism
    q, twin, paths = random_state(rng, chain)[0], Twin(chain), parents(chain)
    links = [name for name, path in paths.items() if path]
    for order in ORDERS:
        link = str(rng.choice(links))
        i = int(rng.choice(paths[link]))
        by = drawn(rng, paths[link], chain, order)
        want = exact(chain, q, by, lambda x, link=link, i=i: twin.jacobian(x, link, frame="link")[:, i])
        got = chain.kinematic_derivative(q, link, i, by)
        assert_derivative(got, want, chain.n, 10.0**order)
        path = paths[link]
        if any(t not in path[path.index(i) + 1 :] for t in by):
            np.testing.assert_array_equal(got, np.zeros(6))
        for other in {*permutations(by)}:
            np.testing.assert_array_equal(chain.kinematic_derivative(q, link, i, other), got)
        names = [chain.joint_names[t] for t in by]
        np.testing.assert_array_equal(chain.kinematic_derivative(q, link, chain.joint_names[i], names), got)


def outboard_column(chain, twin, link, i):
    """Motion at the link's origin, in link axes, of what joint i carries: by Pinocchio's poses and Jacobians."""
    carried = [x for x in chain.links if x.joint != "fixed"][i].name

    def column(x):
        here = twin.pose(x, link) if link != chain.base_name else np.eye(4)
        there = twin.pose(x, carried)
        point = there[:3, :3].T @ (here[:3, 3] - there[:3, 3])
        J = twin.jacobian(x, carried, point)[:, i]
        return np.concatenate([here[:3, :3].T @ J[:3], here[:3, :3].T @ J[3:]])

    return column


@given(mechanisms(max_n=6))
def test_screws_of_outboard_joints_have_the_derivatives_of_pinocchios(mechanism):
    chain, rng = mechanism
    q, twin, paths = random_state(rng, chain)[0], Twin(chain), parents(chain)
    own = {path[-1]: path for path in paths.values() if path}
    for order in ORDERS:
        i = int(rng.integers(chain.n))
        inboard = [name for name, path in paths.items() if own[i][: len(path)] == path and i not in path]
        link = str(rng.choice(inboard))
        by = drawn(rng, own[i], chain, order)
        want = exact(chain, q, by, outboard_column(chain, twin, link, i))
        got = chain.kinematic_derivative(q, link, i, by, motion="outboard")
        assert_derivative(got, want, chain.n, 10.0**order)
        if any(t not in own[i][len(paths[link]) :] for t in by):
            np.testing.assert_array_equal(got, np.zeros(6))


def carried_inertia(chain, twin, link, paths):
    """Inertia of what hangs on the path of a link, about its origin in link axes, link by link."""

    def total(x):
        here = twin.pose(x, link) if link != chain.base_name else np.eye(4)
        whole = np.zeros((6, 6))
        for part in chain.links:
            if paths[part.name][: len(paths[link])] != paths[link]:
                continue
            T = np.linalg.inv(here) @ twin.pose(x, part.name)
            R, c = T[:3, :3], T[:3, :3] @ part.com + T[:3, 3]
            whole += pin.Inertia(part.mass, c, R @ part.inertia @ R.T).matrix()
        return whole

    return total


@given(mechanisms(max_n=6))
def test_effective_inertias_have_the_derivatives_of_the_links_put_together(mechanism):
    chain, rng = mechanism
    q, twin, paths = random_state(rng, chain)[0], Twin(chain), parents(chain)
    for order in ORDERS:
        link = str(rng.choice(list(paths)))
        beyond = [
            path for path in paths.values() if len(path) > len(paths[link]) and path[: len(paths[link])] == paths[link]
        ]
        reach = beyond[rng.integers(len(beyond))] if beyond else []
        by = drawn(rng, reach, chain, order)
        f = carried_inertia(chain, twin, link, paths)
        assert_derivative(
            chain.effective_inertia(q, link, by), exact(chain, q, by, f), chain.n, 10.0**order * np.abs(f(q)).max()
        )


@given(mechanisms(max_n=7))
def test_elements_of_the_mass_matrix_have_the_derivatives_of_pinocchios(mechanism):
    chain, rng = mechanism
    q, twin, paths = random_state(rng, chain)[0], Twin(chain), list(parents(chain).values())
    scale = np.abs(twin.mass_matrix(q)).max()
    for order in ORDERS:
        path = paths[rng.integers(len(paths))]
        i, j = (int(k) for k in rng.choice(path or range(chain.n), 2))
        by = drawn(rng, path, chain, order)
        want = exact(chain, q, by, lambda x, i=i, j=j: twin.mass_matrix(x)[i, j])
        got = chain.mass_matrix_derivative(q, i, j, by)
        assert isinstance(got, float)
        assert_derivative(got, want, chain.n, 10.0**order * scale)
        assert chain.mass_matrix_derivative(q, j, i, by[::-1]) == got


@given(mechanisms(max_n=6))
def test_tensors_consist_of_single_terms(mechanism):
    chain, rng = mechanism
    q, n = random_state(rng, chain)[0], chain.n
    M, dM, d2M = chain.mass_matrix(q), chain.mass_matrix_derivatives(q), chain.mass_matrix_derivatives(q, order=2)
    scale = np.abs(M).max()
    for _ in range(12):
        i, j, k, m = (int(x) for x in rng.integers(n, size=4))
        assert_close(chain.mass_matrix_derivative(q, i, j), M[i, j], n, scale=scale)
        assert_close(chain.mass_matrix_derivative(q, i, j, [k]), dM[i, j, k], n, scale=scale)
        assert_close(chain.mass_matrix_derivative(q, i, j, (k, m)), d2M[i, j, k, m], n, scale=scale)


def test_the_highest_order_is_the_product_of_twelve_turns():
    # a rod about z seen from a hand that turns about z: each derivative turns the column by a quarter
    arm = zv.Chain([zv.Link("rod", mass=1.0), zv.Link("hand", position=(2.0, 0, 0), mass=1.0)])
    q = np.array([0.3, 0.4])
    for order in range(13):
        angle = q[1] + order * np.pi / 2  # of the link origin's velocity, 2 m/s along y at q = 0
        want = [2 * np.sin(angle), 2 * np.cos(angle), 0, 0, 0, 1.0 if order == 0 else 0.0]
        np.testing.assert_allclose(arm.kinematic_derivative(q, "hand", 0, [1] * order), want, atol=1e-14)


# ---- worked numbers ---------------------------------------------------------------------------------------------

DM_3 = [
    [-0.544388489227, -0.497656560851, 0, 0, 0],
    [-0.497656560851, 0.665983429472, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0],
]
DM_4 = [
    [-0.381167482223, -0.200394918608, 0, -0.166075716717, -0.0335749142965],
    [-0.200394918608, -0.516248618093, 0, 0.0157294525975, -0.0266773938781],
    [0, 0, 0, 0, 0],
    [-0.166075716717, 0.0157294525975, 0, 0, 0],
    [-0.0335749142965, -0.0266773938781, 0, 0, 0],
]
C = [
    [-0.689296921668, -0.632752818745, -0.00310523350143, -0.213142178009, -0.103386977831],
    [-0.391349090102, -0.243776279047, -0.491478937595, 0.225377610484, 0.0166612344305],
    [-0.124363044731, 0.491478937595, 0, 0, 0],
    [0.0779612477479, -0.187367003061, 0, -0.00305924181808, -0.0286782657993],
    [0.00442676936568, -0.0534386326677, 0, 0.0254672945947, 0],
]


@pytest.mark.parametrize("method", METHODS)
def test_worked_numbers_of_the_tree_of_five(method):
    chain = worked_tree()
    dM = chain.mass_matrix_derivatives(Q, method=method)
    np.testing.assert_allclose(dM[..., 2], DM_3, rtol=0, atol=1e-12)
    np.testing.assert_allclose(dM[..., 3], DM_4, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.einsum("isj,s->ij", chain.christoffel(Q, method), QD), C, rtol=0, atol=1e-12)


# ---- batches, refusals, counts ----------------------------------------------------------------------------------


def test_batches_are_single_states(tree, rng):
    q = random_state(rng, tree, (2, 5))[0]
    link = tree.link_names[-1]
    i = parents(tree)[link][0]
    calls = [
        lambda x: tree.mass_matrix_derivatives(x),
        lambda x: tree.mass_matrix_derivatives(x, 2),
        lambda x: tree.christoffel(x, "zaremba"),
        lambda x: tree.gravity_stiffness(x),
        lambda x: tree.kinematic_derivative(x, link, i, parents(tree)[link][-2:]),
        lambda x: tree.effective_inertia(x, tree.base_name, (i, i)),
        lambda x: tree.mass_matrix_derivative(x, i, i, (parents(tree)[link][-1],)),
    ]
    for call in calls:
        whole = call(q)
        for k in np.ndindex(2, 5):
            np.testing.assert_array_equal(whole[k], call(q[k]))


def test_refusals_name_function_argument_and_what_was_expected(tree, arm):
    q = np.zeros(tree.n)
    paths = parents(tree)
    link = tree.link_names[-1]
    stranger = next(k for k in range(tree.n) if k not in paths[link])
    bad = check_refused
    bad(
        ValueError,
        ["kinematic_derivative", "does not move", link, tree.joint_names[stranger]],
        tree.kinematic_derivative,
        q,
        link,
        stranger,
    )
    bad(ValueError, ["does not move", "base"], tree.kinematic_derivative, q, tree.base_name, 0)
    bad(ValueError, ["not outboard", link], tree.kinematic_derivative, q, link, paths[link][0], motion="outboard")
    bad(ValueError, ["not outboard"], tree.kinematic_derivative, q, link, paths[link][-1], motion="outboard")
    bad(
        ValueError,
        ["motion", "'link'", "'outboard'"],
        tree.kinematic_derivative,
        q,
        link,
        paths[link][0],
        motion="other",
    )
    bad(ValueError, ["by[1]", "'elbow'", "joint"], tree.effective_inertia, q, link, (0, "elbow"))
    bad(ValueError, ["i is 9", "0 to 8"], tree.mass_matrix_derivative, q, 9, 0)
    bad(ValueError, ["j is -1", "0 to 8"], tree.mass_matrix_derivative, q, 0, -1)
    bad(ValueError, ["by[0]", str(10**30)], tree.mass_matrix_derivative, q, 0, 0, [10**30])
    bad(TypeError, ["i is 1.0", "place in q"], tree.mass_matrix_derivative, q, 1.0, 0)
    bad(TypeError, ["i is True"], tree.mass_matrix_derivative, q, True, 0)
    bad(TypeError, ["i", "missing"], tree.mass_matrix_derivative, q)
    bad(ValueError, ["13", "at most 12"], tree.mass_matrix_derivative, q, 0, 0, [0] * 13)
    bad(TypeError, ["by is '0'", "sequence"], tree.mass_matrix_derivative, q, 0, 0, "0")
    bad(TypeError, ["by is 0", "sequence"], tree.mass_matrix_derivative, q, 0, 0, 0)
    near = tree.joint_names[0] + "x"
    bad(ValueError, [f"i '{near}'", f"did you mean '{tree.joint_names[0]}'"], tree.mass_matrix_derivative, q, near, 0)
    bad(ValueError, ["order is 3", "1 or 2"], arm.mass_matrix_derivatives, np.zeros(6), 3)
    bad(TypeError, ["order is 1.0"], arm.mass_matrix_derivatives, np.zeros(6), 1.0)
    bad(ValueError, ["moments", "zaremba"], arm.mass_matrix_derivatives, np.zeros(6), 2, "moments")
    bad(ValueError, ["operations", "takes no 'by'"], arm.operations, "mass_matrix", by=(1,))


def test_compiled_code_of_both_orders_and_of_single_elements_is_the_kernels(arm, rng):
    hand = arm.link_names[-1]
    short = random_chain(rng, 4, rotor=True)  # LLVM takes long for all second derivatives of six joints
    cases = [
        ("mass_matrix_derivatives", {"order": 1, "method": "zaremba"}),
        ("kinematic_derivative", {"link": hand, "i": np.int64(1), "by": [np.int64(2), 4, arm.joint_names[4]]}),
        ("kinematic_derivative", {"link": "base", "i": 5, "by": (2, 4), "motion": "outboard"}),
        ("effective_inertia", {"link": arm.link_names[1], "by": (3, 3, 4)}),
        ("mass_matrix_derivative", {"i": 0, "j": arm.joint_names[2], "by": (1, 5)}),
    ]
    for chain, name, options in [(short, "mass_matrix_derivatives", {"order": 2}), *((arm, *case) for case in cases)]:
        q = random_state(rng, chain, (9,))[0]
        want = getattr(chain, name)(q, **options)
        compiled = chain.compile(name, **options)
        np.testing.assert_array_equal(compiled(q), want)
        assert compiled.kernel_operations.total > compiled.operations.total
        loose = chain.compile(name, **options, level="algebraic")
        assert_close(loose(q), want, chain.n, scale=max(1.0, np.abs(want).max()))


def test_generated_code_takes_the_shorter_method():
    arm = zv.robots.puma560()
    short, long = (arm.trace("mass_matrix_derivatives", method=method).operations.total for method in METHODS[::-1])
    text = (ROOT / "docs" / "derivatives.md").read_text(encoding="utf-8")
    assert f"takes {short} operations, against {long} by moments" in text
    assert arm.trace("mass_matrix_derivatives").options["method"] == "zaremba"
    assert revolute_chain(9).trace("christoffel").options["method"] == "moments"


def revolute_chain(n):
    return random_chain(np.random.default_rng(n), n, "revolute")


def counted(function, method, kind):
    return fit_polynomial({n: getattr(revolute_chain(n).operations(function, method), kind) for n in range(2, 10)})


def value(coefficients, n):
    return sum(c * n**power for power, c in enumerate(coefficients))


# multiplications and additions of the formulas written out, ascending powers of n
WRITTEN_OUT = {
    "christoffel": ((3, 301 * HALF, 21 * HALF, 1), (-12, 361 * THIRD, 8, 2 * THIRD)),
    "mass_matrix_derivatives": ((3, 152, 12, 1), (-12, 122, 10, 1)),
}


@pytest.mark.parametrize("function", WRITTEN_OUT)
def test_counts_are_cubic_and_not_above_the_formulas_written_out(function):
    for kind, written in zip(("mul", "add"), WRITTEN_OUT[function], strict=True):
        own = counted(function, "moments", kind)
        assert len(own) == 4
        assert own[3] == written[3]
        for n in (2, 3, 7, 30, 100):
            assert value(own, n) <= value(written, n)


def test_the_page_has_what_the_kernels_count():
    page = (ROOT / "docs" / "derivatives.md").read_text(encoding="utf-8").partition("## 6. Costs\n")[2]
    rows = [
        [cell.strip(" `") for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:3] == "| `"
    ]
    assert {row[0] for row in rows} > {*WRITTEN_OUT}
    for function, method, mul, add, *totals in rows:
        method = method or None
        assert [format_polynomial(counted(function, method, kind)) for kind in ("mul", "add")] == [mul, add]
        counts = [revolute_chain(n).operations(function, method) for n in (6, 7, 30)]
        assert [count.mul + count.add for count in counts] == [int(total) for total in totals]
