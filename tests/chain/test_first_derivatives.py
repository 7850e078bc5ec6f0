"""The sweep, its walk and dual numbers give the same derivatives; those of forward dynamics, and the inverse of M."""

import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import mechanisms, random_chain, random_state, random_wrenches
from engines.worked_tree import QD, QDD, Q, worked_tree
from helpers import BIAS_METHODS, OTHER, assert_close
from hypothesis import given, settings

# of the worked tree, computed elsewhere by complex steps
TAU = [2, -3, 8, 1, -0.5]
WRENCHES = {
    "1": [1, -2, 0.5, 0.3, 0.1, -0.2],
    "3": [0.4, 0.6, -1, 0.05, -0.1, 0.2],
    "4": [-1, 0.5, 2, 0.1, 0.2, 0.3],
    "5": [2, 1, -3, -0.2, 0.4, 0.1],
}
BY_Q = [
    [-9.88962806056, 3.91386812539, -4.01715616614, -4.07945236853, -0.715229531531],
    [1.18061967717, 35.0991196102, 5.61041491604, 3.02578775074, 0.365738460969],
    [-3.45549236064, 6.65757992861, 298.843970338, 0, 0],
    [-2.49860659354, 3.86082303919, 0, 11.3223560701, -0.548498768712],
    [-0.318806906914, 0.513222386789, 0, -0.458751760894, 7.57822681748],
]
BY_Q_IN_LINKS = [
    [-9.88962806056, 2.13730288095, -3.59318330725, -4.84726288235, -2.32791397938],
    [1.18061967717, 35.0991196102, 5.29708415219, 4.27625009933, 0.0800677987873],
    [-3.45549236064, 6.65757992861, 298.843970338, 0, 0],
    [-2.49860659354, 3.86082303919, 0, 11.3223560701, -1.13621606918],
    [-0.318806906914, 0.513222386789, 0, -0.458751760894, 7.57822681748],
]
BY_Q_IN_WORLD = [
    [-8.74217462833, 4.40648573034, -3.83171706873, -4.17487939675, -0.715229531531],
    [1.95416060349, 35.4448946328, 5.79957079187, 3.74151813832, 0.365738460969],
    [-3.27005326323, 6.84673580444, 298.843970338, 0, 0],
    [-2.74300204107, 4.28288743993, 0, 11.0289954087, -0.548498768712],
    [-0.0916472223229, 0.558037074923, 0, -0.191798199793, 7.57822681748],
]
BY_QD = [
    [-1.07859384334, -1.26550563749, -0.00621046700286, -0.426284356017, -0.206773955662],
    [-0.782698180205, -0.237552558095, -0.98295787519, 0.450755220968, 0.033322468861],
    [-0.248726089462, 0.98295787519, 0.2, 0, 0],
    [0.155922495496, -0.374734006121, 0, 0.0938815163638, -0.0573565315985],
    [0.00885353873136, -0.106877265335, 0, 0.0509345891894, 0.05],
]
FORWARD_BY_Q = [
    [2.7913652591, -3.07554387169, 82.3130942535, 8.52917832686, 0.4564147473],
    [-1.86384642755, -43.9551439375, -140.420053045, 5.29947808284, 14.1402420055],
    [1.09197302319, -20.2034179072, -255.494057232, 0.275214884035, 4.74159605786],
    [3.03917269656, 3.26782337036, -177.851967071, -64.5921680869, 54.0523309008],
    [2.02290871028, 33.6179241079, 199.139469912, 106.065768216, -416.306677826],
]
FORWARD_BY_QD = [
    [0.628444447702, 0.5104205039, -0.288755703095, 0.564985977209, 0.0497441128369],
    [0.525791721275, -0.50840850489, 1.02699707502, -0.646342193155, 0.018259367344],
    [0.226906965041, -0.899313399494, 0.273188818535, -0.322004493748, -0.00270958416499],
    [-1.97161493498, -0.140186085667, 0.631845377911, -1.29363640285, 0.486171940231],
    [-0.377563764716, 3.70500834298, -1.52975635098, -1.14149749802, -3.02164816007],
]
INVERSE = [
    [0.681953767359, -0.347094318627, -0.240940697321, -1.46135703718, 0.380276675259],
    [-0.347094318627, 1.13872215379, 0.450816079469, 0.758077520289, -1.68987537718],
    [-0.240940697321, 0.450816079469, 0.842240213955, 0.521185905015, -0.644791316813],
    [-1.46135703718, 0.758077520289, 0.521185905015, 7.60150677551, -7.55214932886],
    [0.380276675259, -1.68987537718, -0.644791316813, -7.55214932886, 54.4685040095],
]


def assert_digits(got, want):
    want = np.array(want)
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("method", ["sweep", "sweep-walk", "dual"])
def test_the_tree_of_the_tables(method):
    arm = worked_tree()
    plain = arm.derivatives(Q, QD, QDD, method=method)
    assert_digits(plain.dtau_dq, BY_Q)
    assert_digits(plain.dtau_dqd, BY_QD)
    for frame, want in (("link", BY_Q_IN_LINKS), ("world", BY_Q_IN_WORLD)):
        assert_digits(arm.derivatives(Q, QD, QDD, WRENCHES, external_frame=frame, method=method).dtau_dq, want)


def test_the_forward_derivatives_of_the_tables():
    arm = worked_tree()
    d = arm.forward_derivatives(Q, QD, TAU)
    np.testing.assert_allclose(d.dqdd_dq, FORWARD_BY_Q, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(d.dqdd_dqd, FORWARD_BY_QD, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(d.dqdd_dtau, INVERSE, rtol=1e-11)
    np.testing.assert_allclose(arm.inverse_mass_matrix(Q), INVERSE, rtol=1e-11)


@given(mechanisms(spring=True))
def test_all_methods_agree_on_random_trees(mechanism):
    chain, rng = mechanism
    state, loads, base = random_state(rng, chain), random_wrenches(rng, chain), rng.uniform(-2, 2, 9)
    for options in ({}, {"external": loads}, {"external": loads, "external_frame": "link"}, {"base_motion": base}):
        want = chain.derivatives(*state, method="dual", **options)
        scale = max(np.abs(part).max() for part in want)
        for method in ("sweep", "sweep-walk"):
            got = chain.derivatives(*state, method=method, **options)
            for a, b in zip(got, want, strict=True):
                assert_close(a, b, chain.n, ulps=OTHER, scale=scale)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 9, 33])
@pytest.mark.parametrize("lead", [(), (1,), (7,)])
def test_every_size_is_written_whole_and_nothing_beyond(n, lead, rng):
    chain = random_chain(rng, n, "mixed")
    state = random_state(rng, chain, lead)
    want = chain.derivatives(*state, method="dual")
    size = int(np.prod(lead)) * n * n
    buffers = [np.full(size + 32, 7.0) for _ in range(3)]
    out = tuple(buffer[:size].reshape(*lead, n, n) for buffer in buffers)
    chain.derivatives(*state, out=out)
    scale = max(np.abs(part).max() for part in want)
    for got, buffer, part in zip(out, buffers, want, strict=True):
        assert_close(got, part, n, ulps=OTHER, scale=scale)
        assert (buffer[size:] == 7).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 17, 50, 65])
@pytest.mark.parametrize("branching", [False, True])
def test_rows_of_a_batch_have_the_bits_of_single_calls(n, branching, rng):
    chain = random_chain(rng, n, "mixed", branching=branching, rotor=True)
    q, qd, x = random_state(rng, chain, (9,))
    base = rng.uniform(-2, 2, (9, 9))
    for call, options in (
        (chain.derivatives, {}),
        (chain.derivatives, {"base_motion": base}),
        (chain.forward_derivatives, {}),
    ):
        many = call(q, qd, x, **options)
        for k in range(len(q)):
            one = call(q[k], qd[k], x[k], **{name: value[k] for name, value in options.items()})
            for rows, alone in zip(many, one, strict=True):
                assert np.array_equal(rows[k], alone)


@pytest.mark.parametrize("n", [47, 48, 49, 56, 63])
@pytest.mark.parametrize("branching", [False, True])
def test_columns_that_are_solved_are_those_that_are_multiplied(n, branching, rng):
    """Long chains solve by articulated bodies; what they solve is the equation of motion."""
    chain = random_chain(rng, n, "mixed", branching=branching, rotor=True, friction=True)
    q, qd, qdd = random_state(rng, chain)
    tau = chain.inverse_dynamics(q, qd, qdd)
    inverse, forward = chain.derivatives(q, qd, qdd), chain.forward_derivatives(q, qd, tau)
    M = inverse.dtau_dqdd
    wanted = (-inverse.dtau_dq, -inverse.dtau_dqd, np.eye(n))
    for matrix, want in zip(forward, wanted, strict=True):
        scale = np.abs(M).max() * np.abs(matrix).max() + np.abs(want).max()
        assert_close(M @ matrix, want, n, ulps=OTHER, scale=scale)
    assert np.array_equal(forward.dqdd_dtau, forward.dqdd_dtau.T)
    assert_close(forward.dqdd_dtau, chain.inverse_mass_matrix(q), n, ulps=OTHER * np.linalg.cond(M))


@pytest.mark.parametrize("n", [1, 2, 4, 5, 7, 8, 9, 17])
@pytest.mark.parametrize("branching", [False, True])
def test_forward_derivatives_asked_for_alone_have_the_bits_of_all(n, branching, rng):
    chain = random_chain(rng, n, "mixed", branching=branching, rotor=True)
    q, qd, tau = random_state(rng, chain, (9,))
    for rows in (slice(None), 0):
        every = chain.forward_derivatives(q[rows], qd[rows], tau[rows])
        np.testing.assert_allclose(
            every.dqdd_dq, -every.dqdd_dtau @ by_position(chain, q[rows], qd[rows], tau[rows]), rtol=1e-9, atol=1e-9
        )
        for outputs in ("dqdd_dq",), ("dqdd_dqd",), ("dqdd_dtau",), ("dqdd_dq", "dqdd_dqd"), ("dqdd_dqd", "dqdd_dtau"):
            some = chain.forward_derivatives(q[rows], qd[rows], tau[rows], outputs=outputs)
            for name in outputs:
                np.testing.assert_array_equal(getattr(some, name), getattr(every, name))


def by_position(chain, q, qd, tau):
    return chain.derivatives(q, qd, chain.forward_dynamics(q, qd, tau), method="dual").dtau_dq


@settings(max_examples=40, deadline=None)
@given(mechanisms(max_n=8))
def test_forward_derivatives_agree_with_pinocchio(mechanism):
    chain, rng = mechanism
    q, qd, tau = random_state(rng, chain)
    twin = Twin(chain)
    model, data = twin.model, twin.data
    left = tau - chain.friction * qd - chain.stiffness * (q - chain.rest)
    pin.computeABADerivatives(model, data, twin._q(q), twin._v(qd), twin._v(left))
    upper = np.triu(data.Minv)
    inverse = twin._matrix(upper + np.triu(upper, 1).T)
    want = [
        twin._matrix(data.ddq_dq) - inverse * chain.stiffness,
        twin._matrix(data.ddq_dv) - inverse * chain.friction,
        inverse,
    ]
    worse = np.linalg.cond(chain.mass_matrix(q))
    for got, matrix in zip(chain.forward_derivatives(q, qd, tau), want, strict=True):
        np.testing.assert_allclose(got, matrix, rtol=0, atol=1e-13 * worse * max(1.0, np.abs(matrix).max()))
    np.testing.assert_allclose(chain.inverse_mass_matrix(q), inverse, atol=1e-13 * worse * np.abs(inverse).max())


@given(mechanisms(max_n=7, spring=True))
def test_forward_derivatives_undo_those_of_inverse_dynamics(mechanism):
    chain, rng = mechanism
    q, qd, tau = random_state(rng, chain)
    loads = random_wrenches(rng, chain)
    for frame in ("world", "link"):
        options = {"external": loads, "external_frame": frame}
        qdd = chain.forward_dynamics(q, qd, tau, **options)
        inverse, forward = chain.derivatives(q, qd, qdd, **options), chain.forward_derivatives(q, qd, tau, **options)
        worse = np.linalg.cond(chain.mass_matrix(q))
        for there, back in ((inverse.dtau_dq, forward.dqdd_dq), (inverse.dtau_dqd, forward.dqdd_dqd)):
            size = 1e-13 * worse * max(1.0, np.abs(there).max())
            np.testing.assert_allclose(inverse.dtau_dqdd @ back, -there, atol=size)


def test_wrenches_in_link_axes_are_those_of_the_world_turned(rng):
    chain = random_chain(rng, 5, "mixed")
    q, qd, qdd = random_state(rng, chain)
    loads = random_wrenches(rng, chain)
    world = {}
    for link, wrench in loads.items():
        R = chain.pose(q, link)[:3, :3]
        world[link] = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
    for name, third in (("inverse_dynamics", qdd), ("forward_dynamics", qdd), ("base_wrench", qdd), ("reactions", qdd)):
        f = getattr(chain, name)
        got, want = f(q, qd, third, loads, external_frame="link"), f(q, qd, third, world)
        assert_close(got, want, chain.n, ulps=OTHER, scale=np.abs(want).max())
    for method in BIAS_METHODS:
        got = chain.bias(q, qd, loads, external_frame="link", method=method)
        assert_close(got, chain.bias(q, qd, world), chain.n, ulps=OTHER, scale=np.abs(got).max())


def test_joints_without_mass_have_no_forward_derivatives():
    with pytest.warns(zv.ModelWarning, match="'b_joint' moves no mass"):
        arm = zv.Chain([zv.Link("a", mass=1.0, com=(1, 0, 0)), zv.Link("b", position=(1, 0, 0))])
    for call in (lambda: arm.forward_derivatives([0, 0], [0, 0], [0, 0]), lambda: arm.inverse_mass_matrix([0, 0])):
        with pytest.raises(zv.SingularityError, match="'b_joint' of model 'chain' moves no mass"):
            call()
    rows = arm.inverse_mass_matrix(np.zeros((3, 2)), on_error="nan")
    assert np.isnan(rows).all()


def test_unknown_words_are_refused():
    arm, x = zv.robots.two_link(), np.zeros(2)
    with pytest.raises(ValueError, match="derivatives: external_frame is 'body', expected 'world' or 'link'"):
        arm.derivatives(x, x, x, external_frame="body")
    with pytest.raises(ValueError, match="derivatives: unknown method 'aba', expected one of 'sweep'"):
        arm.derivatives(x, x, x, method="aba")
    with pytest.raises(ValueError, match="dual numbers are not counted"):
        arm.operations("derivatives", method="dual")


@pytest.mark.parametrize("n", [6, 7, 12, 30])
def test_operations_are_those_of_the_formulas(n, rng):
    """Polynomials for serial revolute chains on a still base, which know what is zero at the root and at the tip."""
    chain = random_chain(rng, n, "revolute")
    root, walk = chain.operations("derivatives"), chain.operations("derivatives", method="sweep-walk")
    assert root.mul <= 18 * n**2 + 354 * n - 382 + 6 * n + 10
    assert root.add <= 15.5 * n**2 + 313.5 * n - 357 + 8 * n + 70
    assert walk.mul <= 1.1 * (43 * n**2 + 191 * n - 212)
    assert walk.add <= 1.15 * (28.5 * n**2 + 209.5 * n - 245)
    assert root.total < 5 * chain.operations("inverse_dynamics").total or n > 7
