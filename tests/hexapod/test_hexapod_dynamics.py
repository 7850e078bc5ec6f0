"""Hexapod: every number of the dynamics against published values, the reference, other routes and laws of mechanics."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from engines import pinocchio
from engines.maximal import maximal
from helpers import DIFFERENCE, OTHER, assert_close, derivative
from hexapod_models import CASES, FIELDS, STANDARD
from reference import hexapod as hd

SIZE = 60  # bodies and constraints that take part in one number: 1e-12 of the largest, 1e-10 for other routes
every_case = pytest.mark.parametrize("case", CASES)
every_standard = pytest.mark.parametrize("case", STANDARD)
every_type = pytest.mark.parametrize("type", hd.TYPES)


def assert_agree(got, want, *, n=SIZE, **options):
    assert_close(got, np.asarray(want), n, **options)


def assert_agree_all(got, want, fields=FIELDS, **options):
    for field in fields:
        assert_agree(getattr(got, field), getattr(want, field), **options)


def forward(hx, state, **options):
    return hx.forward_dynamics(state.r, state.R, state.u, state.wrench, state.tau, state.base_motion, **options)


def forward_free(hx, state, base, wrench):
    args = state.r, state.R, state.u, state.wrench, state.tau
    return hx.forward_dynamics_free(*args, models.body(base), state.base_motion[3:6], wrench)


def path(state, acceleration=None):
    """Pose and velocities t seconds later, correct to first order in t."""
    v, om = state.u[:3], state.u[3:]
    rate = np.linalg.norm(om)
    du = np.zeros(6) if acceleration is None else acceleration
    return lambda t: (state.r + t * v, state.R @ hd.passive(om / rate, rate * t).T, state.u + t * du)


def rate_of(f):
    """Derivative at t = 0, by steps short enough for accelerations of a hundred rad/s^2."""
    return derivative(lambda t: f(0.2 * t)) / 0.2


@pytest.fixture
def general(request):
    """RefHexapod, Hexapod: drives with inertia, gravity."""
    return models.pair(request.param)


every_general = pytest.mark.parametrize("general", CASES, indirect=True)


# ---- the capture -------------------------------------------------------------------------------------------------


def capture_state(hx):
    """The state of hd.DEMO_RESULTS, from the functions of the model alone."""
    r = hx.nominal[0] + [-0.02, 0.03, -0.01]
    R = hd.alpha_from_angles(0.03, -0.02, 0.05).T
    u = np.array([-0.05, 0.02, 0.01, 0.04, -0.03, 0.02])
    wrench = np.array([-200.0, 40, -30, 5, -10, 8])
    at = np.arange(6), hx.actuated
    stretched = hx.closure(r, R)[at] - hx.closure(*hx.nominal)[at]
    stiffness, damping = (400, 80) if hx.legs[0].unit == "m" else (15, 3)
    return r, R, u, wrench, -stiffness * stretched - damping * hx.jacobian(r, R) @ u


@pytest.mark.parametrize("type", hd.DEMO_RESULTS)
def test_results_of_the_capture_are_met_to_the_last_digit(type):
    hx = zv.mechanisms.docking_ring(type, reflected=False)
    models.assert_demo_results(type, hx.forward_dynamics(*capture_state(hx)))


@pytest.mark.parametrize("reflected", [False, True])
@every_type
def test_docking_rings_are_the_mechanisms_of_the_reference(type, reflected):
    hx, ref = zv.mechanisms.docking_ring(type, reflected=reflected), hd.demo(type, reflected)
    assert all(hx._symmetric)
    r, R, u, wrench, tau = capture_state(hx)
    state = hd.RefState(r, R, u, wrench, hd.actuated_tau(ref, tau))
    assert_agree_all(hx.forward_dynamics(r, R, u, wrench, tau), hd.forward(ref, state))
    assert_agree_all(hx.forward_dynamics(r, R, u, wrench, tau), hd.forward(hd.from_model(hx), state))


# ---- the reference ----------------------------------------------------------------------------------------------


@every_general
def test_kinematics_are_those_of_the_reference(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref)
    p, pd = hd.rates(ref, state)
    assert_agree(hx.closure(state.r, state.R), p)
    assert_agree(hx.joint_velocity(state.r, state.R, state.u), pd)
    assert_agree(hx.jacobian(state.r, state.R), hd.jacobian(ref, state.r, state.R))
    # the loops are closed: coordinates of the ring's hinges by both ways
    for leg, own in zip(ref.legs, hx.closure(state.r, state.R), strict=True):
        assert np.abs(hd.residual(leg, own[: leg.n], state.r, state.R.T)).max() < 2e-14


@every_general
def test_inertia_momentum_and_energy_are_those_of_the_reference(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref)
    A = hx.mass_matrix(state.r, state.R)
    assert_agree(A, hd.mass_matrix(ref, state.r, state.R))
    assert np.array_equal(A, A.T)
    assert np.linalg.eigvalsh(A).min() > 0
    assert_agree(hx.momentum(state.r, state.R, state.u), hd.momentum(ref, state))
    assert_agree(hx.kinetic_energy(state.r, state.R, state.u), hd.kinetic_energy(ref, state))
    scale = sum(abs(b.m * ref.g @ b.r) for b in hd.body_motions(ref, state))
    assert_agree(hx.potential_energy(state.r, state.R), hd.potential_energy(ref, state), scale=scale)


@pytest.mark.parametrize("moving", [False, True], ids=["resting", "moving"])
@pytest.mark.parametrize("heavy", [False, True], ids=["floating", "heavy"])
@every_case
def test_forward_dynamics_are_those_of_the_reference(case, heavy, moving, rng):
    ref, hx = models.pair(case, heavy)
    state = models.random_state(rng, ref, moving=moving)
    want = hd.forward(ref, state)
    assert_agree_all(forward(hx, state), want)
    if not moving:
        args = state.r, state.R, state.u, state.wrench, state.tau
        assert_agree_all(hx.forward_dynamics(*args), want)


@every_general
def test_dynamics_on_a_free_base_are_those_of_the_reference(general, rng):
    ref, hx = general
    state, base, wrench = models.random_state(rng, ref, moving=True), models.random_base(rng), rng.uniform(-100, 100, 6)
    got = forward_free(hx, state, base, wrench)
    want = hd.forward_free(ref, state, base, wrench)
    # the load on the base is a small difference of large forces
    assert_agree_all(got, want, ("acceleration", "base_acceleration", "joint_acceleration", "reaction"))
    assert_agree(got.base_wrench, want.base_wrench, scale=np.abs(want.leg_wrenches).max())
    assert_agree_all(got, want, ("joint_position", "joint_velocity"))
    # defaults: the base does not turn, nothing acts on it
    args = state.r, state.R, state.u, state.wrench, state.tau, models.body(base)
    state.base_motion = np.zeros(9)
    assert_agree(hx.forward_dynamics_free(*args).acceleration, hd.forward_free(ref, state, base).acceleration)


@pytest.mark.parametrize("heavy", [False, True], ids=["floating", "heavy"])
@every_case
def test_inverse_dynamics_are_those_of_the_reference(case, heavy, rng):
    ref, hx = models.pair(case, heavy)
    state = models.random_state(rng, ref, moving=True)
    wanted = rng.uniform(-1, 1, 6)
    passive = state.tau.copy()
    passive[np.arange(6), hx.actuated] = 0
    args = state.r, state.R, state.u, wanted
    want = hd.inverse(ref, replace(state, tau=passive), wanted)
    forces = hx.inverse_dynamics(*args, state.wrench, state.tau, state.base_motion)
    assert_agree(forces, want, n=10 * SIZE)
    # only forces of passive joints count, and what is not given is zero
    assert np.array_equal(hx.inverse_dynamics(*args, state.wrench, passive, state.base_motion), forces)
    bare = hd.inverse(ref, hd.RefState(state.r, state.R, state.u), wanted)
    assert_agree(hx.inverse_dynamics(*args), bare, n=10 * SIZE)
    assert np.array_equal(hx.inverse_dynamics(*args, tau=np.ones(6)), hx.inverse_dynamics(*args))


@every_general
def test_inverse_dynamics_undo_forward_dynamics(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref, moving=True)
    acceleration = forward(hx, state).acceleration
    loads = {"wrench": state.wrench, "tau": state.tau, "base_motion": state.base_motion}
    forces = hx.inverse_dynamics(state.r, state.R, state.u, acceleration, **loads)
    assert_agree(forces, hd.actuated(ref, state.tau), n=10 * SIZE)
    tau = state.tau.copy()
    tau[np.arange(6), hx.actuated] = forces
    assert_agree(forward(hx, replace(state, tau=tau)).acceleration, acceleration, n=10 * SIZE)


# ---- other routes -----------------------------------------------------------------------------------------------


@every_standard
def test_maximal_coordinates_agree(case, rng):
    ref, hx = models.pair(case)
    state = models.random_state(rng, ref, moving=True)
    result, other = forward(hx, state), maximal(ref, state)
    assert other.residual < 1e-14
    assert_agree_all(result, other, ("acceleration", "reaction", "base_wrench"), ulps=OTHER)
    assert_agree(hx.jacobian(state.r, state.R) @ state.u, other.actuated_velocity, ulps=OTHER)
    at = np.arange(6), hx.actuated
    assert_agree(result.joint_velocity[at], other.actuated_velocity, ulps=OTHER)
    assert_agree(result.joint_acceleration[at], other.actuated_acceleration, ulps=OTHER)


@every_general
def test_pinocchio_agrees(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref)
    state.base_motion[:3] = rng.uniform(-2, 2, 3)
    result = forward(hx, state)
    other = pinocchio.hexapod_forward(pinocchio.hexapod_model(ref), state, result.joint_position, result.joint_velocity)
    assert other.residual < 1e-13
    assert_agree_all(result, other, ("acceleration", "joint_acceleration"), ulps=OTHER)


@every_general
def test_other_routes_agree_on_a_free_base(general, rng, request):
    ref, hx = general
    state, base, wrench = models.random_state(rng, ref, moving=True), models.random_base(rng), rng.uniform(-100, 100, 6)
    result = forward_free(hx, state, base, wrench)
    twin = pinocchio.hexapod_model(ref, base)
    other = pinocchio.hexapod_forward(twin, state, result.joint_position, result.joint_velocity, wrench)
    assert_agree_all(result, other, ("acceleration", "base_acceleration", "joint_acceleration"), ulps=OTHER)
    if request.node.callspec.params["general"].endswith("-skew"):
        other = maximal(ref, state, base, wrench)
        assert_agree_all(result, other, ("acceleration", "base_acceleration", "reaction", "base_wrench"), ulps=OTHER)


# ---- branches ---------------------------------------------------------------------------------------------------


def branches(type):
    elbows = (-1, 1) if type in hd.HUNT else (1,)
    spins = (-1, 1) if type.endswith("U") else (1,)
    return itertools.product(elbows, spins)


@pytest.mark.parametrize("skew", [False, True], ids=["lean", "skew"])
@every_type
def test_every_branch_of_the_assembly(type, skew, rng):
    ref = hd.random_mechanism(rng, type, symmetric=not skew, skew=skew)
    found = []
    for elbow, spin in branches(type):
        legs = [replace(leg, elbow=elbow, spin=spin) for leg in ref.legs]
        one = hd._started(replace(ref, legs=legs))
        hx = models.to_model(one)
        state = models.random_state(rng, one, moving=True)
        assert_agree_all(forward(hx, state), hd.forward(one, state))
        if skew:
            other = maximal(one, state)
            assert_agree_all(forward(hx, state), other, ("acceleration", "reaction", "base_wrench"), ulps=OTHER)
        found.append(hx.closure(*ref.nominal))
    distances = [np.abs(a - b).max(axis=1) for i, a in enumerate(found) for b in found[:i]]
    assert np.min(distances, initial=1.0) > 0.1  # every leg stands elsewhere


@every_type
def test_legs_of_shorter_and_of_general_code_stand_side_by_side(type, rng):
    ref = hd.random_mechanism(rng, type, symmetric=True, reflected=True)
    full = hd.random_mechanism(rng, type, skew=True)
    for k in (1, 4):
        ref.legs[k].bodies = full.legs[k].bodies
        ref.legs[k].l_L = full.legs[k].l_L
    hd._started(ref)
    hx = models.to_model(ref)
    assert hx._symmetric == [k not in (1, 4) for k in range(6)]
    state = models.random_state(rng, ref, moving=True)
    assert_agree_all(forward(hx, state), hd.forward(ref, state))


# ---- closure by Newton's method, custom legs --------------------------------------------------------------------


@every_standard
def test_newton_finds_the_closed_form(case, rng):
    ref, hx = models.pair(case)
    state = models.random_state(rng, ref)
    p = hx.closure(state.r, state.R)
    assert_agree(hx.closure(state.r, state.R, "newton"), p)
    start = p + rng.uniform(-0.02, 0.02, p.shape)
    assert_agree(hx.closure(state.r, state.R, method="newton", start=start), p)


@pytest.mark.parametrize("case", [case for case in CASES if case not in STANDARD])
def test_custom_legs_start_where_they_are_told(case, rng):
    ref, hx = models.pair(case)
    state = models.random_state(rng, ref)
    p = hx.closure(state.r, state.R)
    assert_agree(hx.closure(state.r, state.R, start=p + rng.uniform(-0.02, 0.02, p.shape)), p)
    turned = p.copy()
    for row, leg in zip(turned, ref.legs, strict=True):
        row[: leg.n] += [2 * np.pi * joint.revolute for joint in leg.joints]
    custom = np.array([leg.type == "custom" for leg in ref.legs])
    assert_agree(hx.closure(state.r, state.R, start=turned)[custom], turned[custom])


@every_type
def test_a_leg_given_as_a_chain_is_the_same_leg(type, rng):
    gravity = rng.uniform(-10, 10, 3)
    ref = hd.random_mechanism(rng, type, skew=True, reflected=True, gravity=gravity)
    chained = replace(ref, legs=[replace(leg, type="custom") for leg in ref.legs])
    one, two = models.to_model(ref), models.to_model(chained)
    state, base, wrench = models.random_state(rng, ref, moving=True), models.random_base(rng), rng.uniform(-100, 100, 6)
    assert_agree_all(forward(two, state), forward(one, state))
    assert_agree_all(
        forward_free(two, state, base, wrench),
        forward_free(one, state, base, wrench),
        ("acceleration", "base_acceleration", "joint_acceleration", "reaction"),
    )
    for function in ("closure", "jacobian", "mass_matrix", "potential_energy"):
        assert_agree(getattr(two, function)(state.r, state.R), getattr(one, function)(state.r, state.R))
    for function in ("joint_velocity", "momentum", "kinetic_energy"):
        args = state.r, state.R, state.u
        assert_agree(getattr(two, function)(*args), getattr(one, function)(*args))


def test_links_welded_to_those_of_a_custom_leg_move_with_them(rng):
    ref, hx = models.pair("RSU*")
    legs = []
    for leg in hx.legs:
        links = [zv.Link.from_dict(link.to_dict() | {"mass": 0.0, "inertia": 0.0}) for link in leg.chain.links]
        for link in leg.chain.links:  # all the mass sits on a welded link that stands askew
            place = {"position": rng.uniform(-0.2, 0.2, 3), "rotation": hd.random_turn(rng)}
            com = place["rotation"].T @ (link.com - place["position"])
            inertia = place["rotation"].T @ link.inertia @ place["rotation"]
            data = {"mass": link.mass, "com": com, "inertia": (inertia + inertia.T) / 2}
            links.append(zv.Link(f"{link.name}_w", parent=link.name, joint="fixed", **place, **data))
        tip = links[-1]  # and the ring is held by such a one
        ends = {"ring": leg.ring, "start": leg.start, "actuated": leg.actuated, "ring_axis": leg.ring_axis}
        point, axis = tip.rotation.T @ (leg.point - tip.position), tip.rotation.T @ leg.axis
        legs.append(zv.Leg.custom(zv.Chain(links), tip.name, point=point, axis=axis, **ends))
    welded = zv.Hexapod(hx.platform, legs, nominal=hx.nominal, gravity=hx.gravity)
    state, base, wrench = models.random_state(rng, ref, moving=True), models.random_base(rng), rng.uniform(-100, 100, 6)
    assert_agree_all(forward(welded, state), hd.forward(ref, state))
    got, want = forward_free(welded, state, base, wrench), hd.forward_free(ref, state, base, wrench)
    assert_agree_all(got, want, ("acceleration", "base_acceleration", "reaction"))


def test_friction_in_the_chain_of_a_custom_leg_brakes(rng):
    ref, hx = models.pair("UPS*", heavy=False)
    friction = rng.uniform(1, 5, (6, 3))
    legs = []
    for leg, own in zip(hx.legs, friction, strict=True):
        links = [
            zv.Link.from_dict(link.to_dict() | {"friction": c}) for link, c in zip(leg.chain.links, own, strict=True)
        ]
        ends = {"ring": leg.ring, "point": leg.point, "start": leg.start, "actuated": leg.actuated}
        legs.append(zv.Leg.custom(zv.Chain(links), leg.link, **ends))
    rough = zv.Hexapod(hx.platform, legs, nominal=hx.nominal)
    state = models.random_state(rng, ref, moving=True)
    _, pd = hd.rates(ref, state)
    assert_agree_all(forward(rough, state), hd.forward(ref, replace(state, tau=state.tau - friction * pd)))


# ---- laws -------------------------------------------------------------------------------------------------------


def external_load(ref, state, bodies):
    """Force and moment about O_0 of the wrench on the ring and of gravity, base axes."""
    force, moment = state.wrench[:3], state.R @ state.wrench[3:] + np.cross(state.r, state.wrench[:3])
    for b in bodies:
        force, moment = force + b.m * ref.g, moment + np.cross(b.r, b.m * ref.g)
    return np.concatenate([force, moment])


def slow_motion(general, rng):
    """Mechanisms, a state, the result of dynamics there, and states as a function of time from there on."""
    ref, hx = general
    state = models.random_state(rng, ref, speed=0.1)
    result = forward(hx, state)
    return ref, hx, state, result, path(state, result.acceleration)


def moving_base(base, a_0, Om, dOm):
    """A free base as one of the bodies of hd.body_motions."""
    a = a_0 + np.cross(dOm, base.d) + np.cross(Om, np.cross(Om, base.d))
    return SimpleNamespace(m=base.m, I=base.I_com, r=base.d, om=Om, a=a, eps=dOm)


@every_general
def test_momentum_changes_by_external_forces_less_those_on_the_base(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref, moving=True)
    result = forward(hx, state)
    bodies = hd.body_motions(ref, state, result)
    want = external_load(ref, state, bodies) - hd.momentum_rate(bodies)
    assert_agree(result.base_wrench, want, ulps=1000)


@every_general
def test_momentum_by_differences_changes_so_too(general, rng):
    ref, hx, state, result, at = slow_motion(general, rng)
    rate = rate_of(lambda t: hx.momentum(*at(t)))
    load = external_load(ref, state, hd.body_motions(ref, state))
    assert_agree(load - result.base_wrench, rate, ulps=DIFFERENCE, scale=np.abs(load).max())


@every_general
def test_a_free_mechanism_keeps_its_momentum(general, rng):
    ref, hx = general
    base, wrench = models.random_base(rng), rng.uniform(-100, 100, 6)
    state = models.random_state(rng, ref, moving=True)
    result = forward_free(hx, state, base, wrench)
    a_0, dOm = np.split(result.base_acceleration, 2)
    Om = state.base_motion[3:6]
    moved = replace(state, base_motion=np.concatenate([a_0, Om, dOm]))
    bodies = hd.body_motions(ref, moved, result)
    carrier = moving_base(base, a_0, Om, dOm)
    total = hd.momentum_rate([*bodies, carrier])
    load = external_load(ref, state, [*bodies, carrier])
    load += np.concatenate([wrench[:3], wrench[3:] + np.cross(base.d, wrench[:3])])
    assert_agree(total, load, ulps=1000)
    # so does the base alone with the load that is reported
    own = np.concatenate([wrench[:3], wrench[3:] + np.cross(base.d, wrench[:3])])
    own += np.concatenate([base.m * ref.g, np.cross(base.d, base.m * ref.g)])
    assert_agree(
        hd.momentum_rate([carrier]), own + result.base_wrench, ulps=1000, scale=np.abs(result.base_wrench).max()
    )
    # and the motion is that of a base moved so
    assert_agree_all(forward(hx, moved), result, ("acceleration", "base_wrench", "reaction"), scale=1e3)


@every_general
def test_power_is_the_growth_of_energy(general, rng):
    _, hx, state, result, at = slow_motion(general, rng)
    growth = rate_of(lambda t: hx.kinetic_energy(*at(t)) + hx.potential_energy(*at(t)[:2]))
    power = state.wrench @ state.u + np.sum(state.tau * result.joint_velocity)
    assert_agree(growth, power, ulps=DIFFERENCE, scale=abs(power) + hx.kinetic_energy(state.r, state.R, state.u))


@every_general
def test_rates_are_derivatives_of_the_coordinates(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref, speed=0.1)
    at = path(state)
    start = hx.closure(state.r, state.R)

    def coordinates(t):  # by Newton: no jumps of 2 pi
        return hx.closure(*at(t)[:2], method="newton", start=start)

    assert_agree(hx.joint_velocity(state.r, state.R, state.u), rate_of(coordinates), ulps=DIFFERENCE)
    result = forward(hx, state)
    at = path(state, result.acceleration)
    rates = rate_of(lambda t: hx.joint_velocity(*at(t)))
    assert_agree(result.joint_acceleration, rates, ulps=DIFFERENCE)


@every_general
def test_virtual_work_of_the_reactions_vanishes(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref)
    H = np.moveaxis(hx.joint_velocity(state.r, state.R, np.eye(6)), 0, -1)  # leg, joint, component of u
    p = hx.closure(state.r, state.R)
    for leg, own_H, own_p in zip(ref.legs, H, p, strict=True):
        Cd, Ci, _ = hd.leg_constraints(leg, own_p[: leg.n], state.r, state.R.T)
        assert_agree(own_H[: leg.n].T @ Cd.T, Ci.T)
        assert not own_H[leg.n :].any()
    assert_agree(hx.jacobian(state.r, state.R), H[np.arange(6), hx.actuated])


@every_general
def test_forces_of_the_drives_reach_the_ring_by_the_jacobian(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref)
    extra = rng.uniform(-50, 50, 6)
    pushed = forward(hx, replace(state, tau=state.tau + hd.actuated_tau(ref, extra)))
    gained = hx.mass_matrix(state.r, state.R) @ (pushed.acceleration - forward(hx, state).acceleration)
    assert_agree(gained, hx.jacobian(state.r, state.R).T @ extra, n=10 * SIZE)


@every_general
def test_reactions_balance_the_ring_and_every_leg(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref, moving=True)
    result = forward(hx, state)
    M, s = hd.ring_terms(ref, state)
    total = s - M @ result.acceleration
    wrenches, mismatch = [], []
    for k in range(6):
        t = hd.leg_terms(ref, state, k)
        t.pdd, t.lam = result.joint_acceleration[k, : t.leg.n], result.reaction[k, : t.leg.n]
        total = total + t.Ci.T @ t.lam
        wrench, error = hd._base_wrench(t)
        wrenches.append(wrench)
        mismatch.append(error)
    scale = np.abs(result.reaction).max()
    assert_agree(total, np.zeros(6), scale=scale)
    # axis check (48): what a joint passes on along its own axis is the force of its drive
    assert max(mismatch) < 1e-11 * scale
    assert_agree(result.base_wrench, sum(wrenches), scale=np.abs(wrenches).max())
    three = [k for k, leg in enumerate(ref.legs) if leg.n == 3]
    assert not result.reaction[three, 3].any()


@every_standard
def test_reflected_inertia_is_an_internal_force(case, rng):
    ref, hx = models.pair(case)
    state = models.random_state(rng, ref)
    result = forward(hx, state)
    bare = models.to_model(replace(ref, legs=[replace(leg, reflected=0.0) for leg in ref.legs]))
    reduction = [leg.reflected for leg in ref.legs] * hd.actuated(ref, result.joint_acceleration)
    assert np.abs(reduction).max() > 1e-3
    other = forward(bare, replace(state, tau=state.tau - hd.actuated_tau(ref, reduction)))
    assert_agree_all(other, result)


@pytest.mark.parametrize("skew", [False, True], ids=["lean", "skew"])
@every_type
def test_reactions_of_massless_links_lie_along_the_last_one(type, skew, rng):
    ref = hd.random_mechanism(rng, type, skew=skew)
    massive = (0,) if type in hd.HUNT else ()
    for leg in ref.legs:
        leg.bodies = [
            body if j in massive else hd.RefBody(l=body.l, gamma=body.gamma) for j, body in enumerate(leg.bodies)
        ]
    hx = models.to_model(ref)
    state = models.random_state(rng, ref, passive_tau=False, moving=True)
    result = forward(hx, state)
    assert_agree_all(result, hd.forward(ref, state), ("acceleration", "joint_acceleration", "base_wrench"))
    for leg, p, reaction in zip(ref.legs, result.joint_position, result.reaction, strict=True):
        link = hd.leg_kinematics(leg, p[: leg.n]).tau[-1][0]
        assert np.abs(np.cross(link, reaction[:3])).max() < 1e-12 * np.abs(reaction).max()
        assert abs(reaction[3]) < 1e-12 * np.abs(reaction).max()


@pytest.mark.parametrize("type", hd.GOUGH_STEWART)
def test_a_ring_on_massless_struts_is_a_rigid_body(type, rng):
    ref = hd.random_mechanism(rng, type, symmetric=True)
    for leg in ref.legs:
        leg.bodies = [hd.RefBody(l=body.l, gamma=body.gamma) for body in leg.bodies]
    hx = models.to_model(ref)
    state, forces = models.random_state(rng, ref), rng.uniform(-50, 50, 6)
    result = hx.forward_dynamics(state.r, state.R, state.u, state.wrench, forces)
    along = [state.r + state.R @ leg.l_C - leg.l_0 for leg in ref.legs]
    along = np.array([d / np.linalg.norm(d) for d in along])
    arms = np.array([leg.l_C for leg in ref.legs])
    moment = state.wrench[3:] + forces @ np.cross(arms, along @ state.R)
    om = state.u[3:]
    assert_agree(result.acceleration[:3], (state.wrench[:3] + forces @ along) / ref.m_C)
    assert_agree(result.acceleration[3:], np.linalg.solve(ref.I_C, moment - np.cross(om, ref.I_C @ om)))
    assert_agree(result.reaction[:, :3], forces[:, None] * along)
    hinges = np.array([leg.l_0 for leg in ref.legs])
    load = -forces[:, None] * along
    assert_agree(result.base_wrench, np.concatenate([load.sum(0), np.cross(hinges, load).sum(0)]))


# ---- special states ---------------------------------------------------------------------------------------------


@every_general
def test_without_velocity_there_is_no_momentum_and_without_force_no_motion(general, rng):
    ref, hx = general
    state = models.random_state(rng, ref, speed=0.0, moving=True)
    result = forward(hx, state)
    assert_agree_all(result, hd.forward(ref, state), ("acceleration", "base_wrench", "joint_acceleration", "reaction"))
    assert not result.joint_velocity.any()
    assert not hx.joint_velocity(state.r, state.R, np.zeros(6)).any()
    assert not hx.momentum(state.r, state.R, np.zeros(6)).any()
    assert hx.kinetic_energy(state.r, state.R, np.zeros(6)) == 0
    # nothing moves without forces
    rest = models.to_model(ref, gravity=(0, 0, 0)).forward_dynamics(state.r, state.R, *np.zeros((3, 6)))
    for field in ("acceleration", "base_wrench", "joint_velocity", "joint_acceleration", "reaction"):
        assert np.abs(getattr(rest, field)).max() < 1e-13


@every_type
def test_poses_far_from_the_nominal_one_are_those_of_the_reference_or_refused(type, rng):
    hx = zv.mechanisms.docking_ring(type)
    ref = hd.from_model(hx)
    reach, tilt = (0.2, 0.6) if type in hd.GOUGH_STEWART else (0.08, 0.2)
    compared = 0
    while compared < 8:
        state = models.random_state(rng, ref)
        state.r = ref.nominal[0] + rng.uniform(-reach, reach, 3)
        state.R = ref.nominal[1] @ hd.random_turn(rng, tilt).T
        try:
            want = hd.forward(ref, state)
        except ValueError:
            assert hx.status(state.r, state.R) != 0
            continue
        if np.linalg.cond(hd.jacobian(ref, state.r, state.R)) < 30:
            assert_agree_all(forward(hx, state), want)
            compared += 1


@every_standard
def test_angles_cover_the_full_circle(case, rng):
    ref, hx = models.pair(case)
    turn = np.array([1.9, -2.5, 3.1, -1.6, 2.2, -3.0])
    legs = [replace(leg, gamma_0=hd.passive(hd.Y, -a) @ leg.gamma_0) for leg, a in zip(ref.legs, turn, strict=True)]
    turned = models.to_model(replace(ref, legs=legs))
    state = models.random_state(rng, ref)
    got, want = forward(turned, state), forward(hx, state)
    assert_agree_all(got, want, ("acceleration", "base_wrench", "joint_velocity", "joint_acceleration", "reaction"))
    shift = got.joint_position - want.joint_position
    shift[:, 0] -= turn
    assert_agree(np.remainder(shift + np.pi, 2 * np.pi) - np.pi, np.zeros((6, hx.nj)), scale=1.0)
    assert np.abs(got.joint_position[:, 0]).max() <= np.pi


@every_standard
def test_zeros_of_the_nominal_pose_do_no_harm(case, rng):
    # frames chosen along the legs make many numbers vanish there
    ref = models.mechanism(rng, case)
    legs = []
    for leg in models.to_model(ref).legs:
        fields = leg.to_dict() | {"base_frame": None, "ring_frame": None, "tip_frame": None, "spin_branch": 1}
        legs.append(zv.Leg.from_dict(fields))
    hx = zv.Hexapod(zv.Body(ref.m_C, ref.I_C), legs, nominal=ref.nominal)
    state = models.random_state(rng, ref)
    state.r, state.R = ref.nominal
    assert_agree_all(forward(hx, state), hd.forward(hd.from_model(hx), state))


@pytest.mark.parametrize("case", ["UPS-skew", "RSU-lean", "mixed-skew", "mixed-general"])
def test_the_choice_of_base_axes_does_not_matter(case, rng):
    ref, hx = models.pair(case)
    state = models.random_state(rng, ref, moving=True)
    Q = hd.random_turn(rng)  # new base axes = Q old ones
    twice = np.kron(np.eye(2), Q)
    legs = []
    for leg in ref.legs:
        leg = replace(leg, l_0=Q @ leg.l_0, gamma_0=leg.gamma_0 @ Q.T)
        legs.append(leg)
    turned = replace(ref, legs=legs, nominal=(Q @ ref.nominal[0], Q @ ref.nominal[1]), g=Q @ ref.g)
    half = np.block([[Q, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]])  # angular parts stay in ring axes
    other = replace(
        state,
        r=Q @ state.r,
        R=Q @ state.R,
        u=half @ state.u,
        wrench=half @ state.wrench,
        base_motion=np.kron(np.eye(3), Q) @ state.base_motion,
    )
    got, want = forward(models.to_model(turned), other), forward(hx, state)
    assert_agree(half.T @ got.acceleration, want.acceleration)
    assert_agree(twice.T @ got.base_wrench, want.base_wrench)
    assert_agree(got.reaction[:, :3] @ Q, want.reaction[:, :3])
    assert_agree_all(got, want, ("joint_position", "joint_velocity", "joint_acceleration"))


@every_general
def test_forces_of_the_drives_alone_or_of_all_joints(general, rng):
    ref, hx = general
    state, forces = models.random_state(rng, ref), rng.uniform(-50, 50, 6)
    args = state.r, state.R, state.u, state.wrench
    short = hx.forward_dynamics(*args, forces)
    tau = hd.actuated_tau(ref, forces)
    assert tau.shape == (6, hx.nj)
    assert all(np.array_equal(getattr(hx.forward_dynamics(*args, tau), f), getattr(short, f)) for f in FIELDS)
    # places of joints that do not exist hold zeros, whatever is put into them
    for row, leg in zip(tau, ref.legs, strict=True):
        row[leg.n :] = 1e3
    full = hx.forward_dynamics(*args, tau)
    assert all(np.array_equal(getattr(full, f), getattr(short, f)) for f in FIELDS)
    for k, leg in enumerate(ref.legs):
        for field in ("joint_position", "joint_velocity", "joint_acceleration"):
            assert not getattr(full, field)[k, leg.n :].any()
