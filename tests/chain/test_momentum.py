"""Velocities, momentum, Coriolis matrix, regressor against Pinocchio; moving bases; choice of results; statuses."""

import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.pinocchio import AXES, Twin
from engines.random_mechanisms import mechanisms, random_chain, random_state, random_wrenches
from helpers import BIAS_METHODS, DIFFERENCE, OTHER, SELF, assert_close, derivative
from hypothesis import assume, given, settings

# Pinocchio: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
FROM_PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]


def moving_twin(chain, q, qd, qdd):
    twin = Twin(chain)
    state = twin._q(q), twin._v(qd), twin._v(qdd)
    pin.forwardKinematics(twin.model, twin.data, *state)
    pin.updateFramePlacements(twin.model, twin.data)
    return twin, state


@given(mechanisms(max_n=9))
def test_velocities_and_accelerations_of_points_are_pinocchios(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    twin, _ = moving_twin(chain, q, qd, qdd)
    link, point = str(rng.choice(chain.link_names)), rng.uniform(-0.5, 0.5, 3)
    joint, placement = twin.frame(link, point)
    frame = twin.model.addFrame(pin.Frame("probe", joint, 0, placement, pin.FrameType.OP_FRAME))
    data = twin.model.createData()
    pin.forwardKinematics(twin.model, data, twin._q(q), twin._v(qd), twin._v(qdd))
    for axes, reference in AXES.items():
        v = pin.getFrameVelocity(twin.model, data, frame, reference)
        a = pin.getFrameClassicalAcceleration(twin.model, data, frame, reference)
        speed, push = max(1.0, np.abs(v.vector).max()), max(1.0, np.abs(a.vector).max())
        assert_close(chain.velocity(q, qd, link, point, axes), v.vector, chain.n, ulps=OTHER, scale=speed)
        assert_close(chain.acceleration(q, qd, qdd, link, point, axes), a.vector, chain.n, ulps=OTHER, scale=push)


@given(mechanisms(max_n=9))
def test_com_and_momentum_are_pinocchios(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    twin, state = moving_twin(chain, q, qd, qdd)
    pin.computeCentroidalMap(twin.model, twin.data, state[0])
    A = np.reshape(twin.data.Ag, (6, -1))[:, twin.order]
    h = pin.computeCentroidalMomentum(twin.model, twin.data, *state[:2]).vector
    scale = max(1.0, np.abs(A).max())
    assert_close(chain.com(q), pin.centerOfMass(twin.model, twin.data, state[0]), chain.n, ulps=OTHER, scale=1.0)
    assert_close(chain.momentum_matrix(q), A, chain.n, ulps=OTHER, scale=scale)
    assert_close(chain.momentum(q, qd), h, chain.n, ulps=OTHER, scale=scale * max(1.0, np.abs(qd).max()))
    about_base = h + np.concatenate([np.zeros(3), np.cross(chain.com(q), h[:3])])
    got = chain.momentum(q, qd, "base")
    assert_close(got, about_base, chain.n, ulps=OTHER, scale=scale * max(1.0, np.abs(qd).max()))
    assert_close(chain.momentum_matrix(q, "base") @ qd, got, chain.n, scale=scale * max(1.0, np.abs(qd).max()))


@given(mechanisms(max_n=8, spring=False, friction=False))
def test_base_wrench_is_weight_minus_the_rate_of_momentum(mechanism):
    chain, rng = mechanism
    assume(all(x.joint != "fixed" or x.parent != chain.base_name for x in chain.links))  # weight without momentum
    q, qd, qdd = random_state(rng, chain)

    def momentum(t):
        return chain.momentum(q + t * qd + t**2 / 2 * qdd, qd + t * qdd, "base")

    mass = sum(link.mass for link in chain.links)
    weight = np.concatenate([mass * chain.gravity, np.cross(mass * chain.com(q), chain.gravity)])
    load = chain.base_wrench(q, qd, qdd)
    scale = np.abs(load).max() + np.abs(weight).max()
    assert_close(load, weight - derivative(momentum), chain.n, ulps=DIFFERENCE, scale=scale)


@given(mechanisms(max_n=8))
def test_the_coriolis_matrix_is_that_of_the_christoffel_symbols(mechanism):
    chain, rng = mechanism
    q, qd, _ = random_state(rng, chain)
    n = chain.n
    C = chain.coriolis_matrix(q, qd)
    dM = np.stack([derivative(lambda t, k=k: chain.mass_matrix(q + t * np.eye(n)[k])) for k in range(n)], axis=-1)
    symbols = 0.5 * (dM + np.swapaxes(dM, 1, 2) - np.moveaxis(dM, -1, 0))  # [i, j, k]
    scale = max(1.0, np.abs(dM).max() * np.abs(qd).max())
    assert_close(C, symbols @ qd, n, ulps=DIFFERENCE, scale=scale)
    assert_close(C + C.T, dM @ qd, n, ulps=DIFFERENCE, scale=scale)
    twin = Twin(chain)
    matrix = pin.computeCoriolisMatrix(twin.model, twin.data, twin._q(q), twin._v(qd))
    theirs = np.reshape(matrix, (n, n)) @ twin._v(qd)
    assert_close(C @ qd, theirs[twin.order], n, ulps=OTHER, scale=scale * max(1.0, np.abs(qd).max()))


@given(mechanisms(max_n=8, fixed=False))
def test_the_regressor_is_pinocchios(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    twin, state = moving_twin(chain, q, qd, qdd)
    theirs = np.reshape(pin.computeJointTorqueRegressor(twin.model, twin.data, *state), (chain.n, chain.n, 10))
    theirs = theirs[twin.order][:, np.array(twin.ids) - 1][:, :, FROM_PINOCCHIO]
    got = chain.regressor(q, qd, qdd)
    assert got.shape == (chain.n, 10 * len(chain.links))
    assert_close(got, theirs.reshape(chain.n, -1), chain.n, ulps=OTHER, scale=max(1.0, np.abs(theirs).max()))


@given(mechanisms(max_n=8))
def test_the_regressor_times_the_parameters_are_the_efforts(mechanism):
    """Welded links too, on a moving base too."""
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    motion = rng.uniform(-2, 2, 9)
    drives = chain.rotor_inertia * qdd + chain.friction * qd + chain.stiffness * (q - chain.rest)
    for extra in ({}, {"base_motion": motion}):
        tau = chain.inverse_dynamics(q, qd, qdd, **extra)
        got = chain.regressor(q, qd, qdd, **extra) @ chain.inertial_parameters.ravel() + drives
        assert_close(got, tau, chain.n, ulps=OTHER, scale=max(1.0, np.abs(tau).max()))


@given(mechanisms(max_n=7))
def test_a_moving_base_is_pinocchios_free_flyer_with_that_motion(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    motion = rng.uniform(-2, 2, 9)
    a, w, dw = np.split(motion, 3)
    own = Twin(chain)
    free = pin.Model()
    root = free.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    carrier = free.addFrame(pin.Frame("carrier", root, 0, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    model = pin.appendModel(free, own.model, carrier, pin.SE3.Identity())
    model.gravity = own.model.gravity
    data = model.createData()
    x = np.concatenate([[0, 0, 0, 0, 0, 0, 1], own._q(q)])
    v, acceleration = np.concatenate([[0, 0, 0], w, own._v(qd)]), np.concatenate([a, dw, own._v(qdd)])
    model.armature = np.concatenate([np.zeros(6), own.model.armature])
    tau = pin.rnea(model, data, x, v, acceleration)
    wanted = tau[6:][own.order] + own._resistance(q, qd)
    scale = max(1.0, np.abs(wanted).max())
    assert_close(chain.inverse_dynamics(q, qd, qdd, base_motion=motion), wanted, chain.n, ulps=OTHER, scale=scale)
    zero = np.zeros(chain.n)
    for method in BIAS_METHODS:
        bias = chain.bias(q, qd, method=method, base_motion=motion)
        assert_close(bias, chain.inverse_dynamics(q, qd, zero, base_motion=motion), chain.n, scale=scale)
    for method in ("aba", "cholesky", "cholesky-walk"):
        back = chain.forward_dynamics(q, qd, wanted, method=method, base_motion=motion)
        spread = np.linalg.cond(chain.mass_matrix(q))
        assert_close(back, qdd, chain.n, ulps=OTHER * spread, scale=max(1.0, np.abs(qdd).max()))
    load = chain.base_wrench(q, qd, qdd, base_motion=motion)
    assert_close(load, -tau[:6], chain.n, ulps=OTHER, scale=max(1.0, np.abs(load).max()))


@settings(max_examples=20)
@given(mechanisms(max_n=6))
def test_a_base_at_rest_is_a_motion_of_zeros(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    rest = np.zeros(9)
    for function in ("inverse_dynamics", "forward_dynamics", "base_wrench", "reactions"):
        want = getattr(chain, function)(q, qd, qdd)
        got = getattr(chain, function)(q, qd, qdd, base_motion=rest)
        assert_close(got, want, chain.n, scale=max(1.0, np.abs(want).max()))


def test_motions_of_the_base_are_rows_as_any_other(rng):
    chain = random_chain(rng, 5, rotor=True, friction=True)
    q, qd, qdd = random_state(rng, chain, (9,))
    motion, loads = rng.uniform(-2, 2, (9, 9)), random_wrenches(rng, chain)
    for function in ("bias", "inverse_dynamics", "forward_dynamics", "reactions", "base_wrench", "derivatives"):
        states = (q, qd) if function == "bias" else (q, qd, qdd)
        call = getattr(chain, function)
        all_rows = call(*states, external=loads, base_motion=motion)
        f = chain.compile(function, external=list(loads), arguments=[*_names(function), "base_motion"])
        own = f(*states, external=loads, base_motion=motion)
        for k in range(9):
            one = call(*(x[k] for x in states), external=loads, base_motion=motion[k])
            for whole, generated, single in zip(*map(_list, (all_rows, own, one)), strict=True):
                np.testing.assert_array_equal(whole[k], single)
                if function not in ("forward_dynamics", "derivatives"):  # methods chosen by length
                    np.testing.assert_array_equal(generated[k] + 0.0, single + 0.0)
                else:
                    np.testing.assert_allclose(generated[k], single, rtol=1e-9, atol=1e-9)


def _names(function):
    third = {"bias": (), "forward_dynamics": ("tau",)}.get(function, ("qdd",))
    return ["q", "qd", *third]


def _list(result):
    return list(result) if isinstance(result, tuple) else [result]


# ---- choice of results, statuses ----------------------------------------------------------------------------------


def test_derivatives_that_are_not_asked_for_are_none(rng):
    chain = random_chain(rng, 5)
    q, qd, qdd = random_state(rng, chain, (3,))
    whole = chain.derivatives(q, qd, qdd)
    for names in (("dtau_dq",), ("dtau_dqd", "dtau_dqdd"), ["dtau_dqdd", "dtau_dq"]):
        some = chain.derivatives(q, qd, qdd, outputs=names)
        for name, value in whole._asdict().items():
            if name in names:
                np.testing.assert_array_equal(getattr(some, name), value)
            else:
                assert getattr(some, name) is None
    out = np.full((3, 5, 5), np.nan)
    chain.derivatives(q, qd, qdd, outputs=("dtau_dqd",), out=(out,))
    np.testing.assert_array_equal(out, whole.dtau_dqd)
    f = chain.compile("derivatives", outputs=("dtau_dqd",))
    assert f(q, qd, qdd).dtau_dq is None
    np.testing.assert_allclose(f(q, qd, qdd).dtau_dqd, whole.dtau_dqd, rtol=1e-12, atol=1e-12)
    assert f.operations.total < chain.compile("derivatives").operations.total
    for bad, error in ((("tau",), ValueError), ((), ValueError), ("dtau_dq", TypeError), (3, TypeError)):
        with pytest.raises(error, match="derivatives: outputs"):
            chain.derivatives(q, qd, qdd, outputs=bad)
    with pytest.raises(TypeError, match="derivatives: out is tuple, expected a tuple of one array"):
        chain.derivatives(q, qd, qdd, outputs=("dtau_dq",), out=(out, out))
    with pytest.raises(TypeError, match="unknown argument 'outputs'"):
        chain.bias(q, qd, outputs=("bias",))


@pytest.fixture
def hollow():
    """Its last joint moves no mass."""
    links = [zv.Link("a", mass=1.0, com=(0.1, 0, 0)), zv.Link("b", joint="prismatic", mass=0.0)]
    with pytest.warns(zv.ModelWarning, match="moves no mass"):
        return zv.Chain(links, name="hollow")


def test_rows_that_fail_hold_nan_and_tell_why(rng, hollow):
    arm = random_chain(rng, 4)
    q, qd, qdd = random_state(rng, arm, (20,))
    q[3, 1], qd[7, 2], qdd[13] = np.nan, np.inf, 1e308
    for function in ("inverse_dynamics", "forward_dynamics", "base_wrench", "derivatives"):
        status = np.full(20, -1, np.int16)
        result = getattr(arm, function)(q, qd, qdd, on_error="nan", status=status)
        bad = np.isin(np.arange(20), (3, 7, 13)) if function != "derivatives" else np.isin(np.arange(20), (3, 7))
        for array in _list(result):
            np.testing.assert_array_equal(np.isnan(array).reshape(20, -1).any(axis=1)[:13], bad[:13])
        assert (status[[3, 7]] == status[3]).all() and not status[[0, 1, 2, 19]].any()
        assert arm.explain(status[3]) == "the state has an argument that is not finite"
        with pytest.raises(ValueError, match=rf"{function}: q is not finite: element 1 \(row 3\)"):
            getattr(arm, function)(q, qd, qdd)
    status = np.zeros((), np.int16)
    got = hollow.forward_dynamics([0.1, 0.2], [0, 0], [0, 0], on_error="nan", status=status)
    assert np.isnan(got).all()
    assert hollow.explain(status) == "joint 'b_joint' moves no mass: its acceleration is not determined"
    assert hollow.explain(0) == "computed"
    with pytest.raises(zv.SingularityError, match="'b_joint' of model 'hollow' moves no mass") as caught:
        hollow.forward_dynamics([0.1, 0.2], [0, 0], [0, 0])
    assert caught.value.joint == "b_joint"


BAD_STATUS = {
    "wrong shape": (np.zeros(3, np.int16), ValueError),
    "wrong type": (np.zeros(4), TypeError),
    "no array": ([0, 0, 0, 0], TypeError),
    "read-only": (np.broadcast_to(np.int16(0), 4), ValueError),
}


@pytest.mark.parametrize("case", BAD_STATUS)
def test_a_status_of_the_wrong_kind_is_refused(case, rng):
    arm = random_chain(rng, 3)
    q, qd, _ = random_state(rng, arm, (4,))
    status, error = BAD_STATUS[case]
    with pytest.raises(error, match="bias: status "):
        arm.bias(q, qd, on_error="nan", status=status)
    with pytest.raises(ValueError, match="bias: status is given, but only on_error='nan' writes it"):
        arm.bias(q, qd, status=np.zeros(4, np.int16))
    with pytest.raises(ValueError, match="bias: on_error is 'ignore', expected 'raise' or 'nan'"):
        arm.bias(q, qd, on_error="ignore")


def test_a_chain_without_moving_mass_has_no_centre():
    with pytest.warns(zv.ModelWarning):
        chain = zv.Chain([zv.Link("a")], name="ghost")
    for function, args in (("com", ([0.0],)), ("momentum", ([0.0], [1.0])), ("momentum_matrix", ([0.0],))):
        with pytest.raises(ValueError, match=f"{function}: the moving links of model 'ghost' have no mass"):
            getattr(chain, function)(*args)
    assert_close(chain.momentum([0.0], [1.0], "base"), np.zeros(6), 1, ulps=SELF)
