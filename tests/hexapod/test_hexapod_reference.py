"""The reference for hexapods, tests/reference/hexapod.py, against recorded values, laws and other routes."""

from dataclasses import replace
from types import SimpleNamespace

import hexapod_models as models
import numpy as np
import pytest
from engines import mujoco, pinocchio
from engines.maximal import maximal
from helpers import DIFFERENCE, assert_close, derivative
from reference import hexapod as hd

MIXED = ("UPS", "RSU", "SPU", "RUS", "UCU", "RSU")
KINDS = [*hd.TYPES, MIXED]
GENERAL = [f"{type}*" for type in hd.TYPES]
SIZE = 60  # bodies and constraints that take part in one number


def name(kind):
    return kind if isinstance(kind, str) else "mixed"


@pytest.fixture(params=KINDS, ids=name)
def mechanism(request, rng):
    """General inertias, displaced hinges, tilted axes, drives with inertia, gravity."""
    gravity = rng.uniform(-10, 10, 3)
    return hd.random_mechanism(rng, request.param, skew=True, reflected=True, gravity=gravity)


def poses(ref, state):
    """The pose t seconds later when the ring keeps its velocities."""
    v, om = state.u[:3], state.u[3:]
    rate = np.linalg.norm(om)
    return lambda t: (state.r + t * v, state.R @ hd.passive(om / rate, rate * t).T)


# ---- the capture -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("type", hd.DEMO_RESULTS)
def test_results_of_the_capture_are_met_to_the_last_digit(type):
    ref = hd.demo(type)
    models.assert_demo_results(type, hd.forward(ref, hd.demo_state(ref)))


def test_the_demonstration_mechanisms_have_the_figures_that_they_were_designed_for():
    ups, rsu = hd.demo("UPS", reflected=True), hd.demo("RSU", reflected=True)
    length = np.linalg.norm(ups.nominal[0] + ups.legs[0].l_C - ups.legs[0].l_0)
    assert round(length, 5) == 0.49889
    assert round(ups.legs[0].reflected, 2) == 9.87
    assert rsu.legs[0].reflected == 0.15
    # condition in metres and radians; stiffness of the ring along and across with the springs of the capture phase
    for ref, condition, spring, along, across in ((ups, 2.4, 400, 1392, 504), (rsu, 4.1, 15, 1400, 133)):
        J = hd.jacobian(ref, *ref.nominal)
        assert round(np.linalg.cond(J), 1) == condition
        stiffness = np.diag(spring * J.T @ J)
        np.testing.assert_allclose(stiffness[:3], (along, across, across), rtol=5e-3)


@pytest.mark.parametrize("type", hd.TYPES)
def test_demonstration_mechanisms_start_with_zero_strokes_and_spins(type):
    ref = hd.demo(type)
    p = hd.closure(ref, *ref.nominal)
    zero = p if type in hd.GOUGH_STEWART else p[:, 3:]
    assert np.abs(zero).max(initial=0.0) < 1e-14


# ---- ring -------------------------------------------------------------------------------------------------------


def test_ring_angles_and_their_rates(rng):
    phi, om = rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3)
    alpha = hd.alpha_from_angles(*phi)
    cy, cz, cx = np.cos(phi)
    sy, sz, sx = np.sin(phi)
    printed = [
        [cy * cz, sz, -sy * cz],
        [-cy * sz * cx + sy * sx, cz * cx, sy * sz * cx + cy * sx],
        [cy * sz * sx + sy * cx, -cz * sx, -sy * sz * sx + cy * cx],
    ]
    assert_close(alpha, np.array(printed), 3)
    assert_close(hd.angles_from_alpha(alpha), phi, 3)
    dphi = hd.angle_rates(*phi) @ om
    dalpha = derivative(lambda t: hd.alpha_from_angles(*(phi + t * dphi)))
    assert_close(dalpha, -hd.skew(om) @ alpha, 3, ulps=DIFFERENCE)


# ---- closure ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("skew", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("kind", KINDS, ids=name)
def test_closed_form_closes_the_loops_and_newton_agrees(rng, kind, symmetric, skew):
    ref = hd.random_mechanism(rng, kind, symmetric=symmetric, skew=skew)
    state = hd.random_state(rng, ref)
    for leg in ref.legs:
        p = hd.closed(leg, state.r, state.R.T)
        assert np.abs(hd.residual(leg, p, state.r, state.R.T)).max() < 1e-14
        near = p + rng.uniform(-0.02, 0.02, leg.n)
        assert_close(hd.newton(leg, state.r, state.R.T, near), p, leg.n)


@pytest.mark.parametrize("type", hd.TYPES)
def test_all_branches_close_and_differ(rng, type):
    ref = hd.random_mechanism(rng, type, skew=True)
    r, R = ref.nominal
    elbows = (-1, 1) if type in hd.HUNT else (1,)
    spins = (-1, 1) if ref.legs[0].n == 4 else (1,)
    for leg in ref.legs:
        found = []
        for elbow in elbows:
            for spin in spins:
                p = hd.closed(replace(leg, elbow=elbow, spin=spin), r, R.T)
                assert np.abs(hd.residual(leg, p, r, R.T)).max() < 1e-14
                found.append(p)
        distances = [np.abs(a - b).max() for i, a in enumerate(found) for b in found[:i]]
        assert min(distances, default=1.0) > 0.1


def test_spin_branch_is_the_published_sign(rng):
    ref = hd.random_mechanism(rng, "SPU")
    state = hd.random_state(rng, ref)
    for leg in ref.legs:
        p = hd.closed(leg, state.r, state.R.T)
        e = hd.leg_kinematics(leg, p).tau[2] @ hd.ring_axis(leg, state.R.T)
        q = np.hypot(e[1], e[2])
        assert_close([np.cos(p[2]), np.sin(p[2])], np.array([leg.spin * e[2] / q, -leg.spin * e[1] / q]), 3)


def test_parallel_axes_on_the_crank_give_the_short_formula(rng):
    ref = hd.random_mechanism(rng, "RUS")
    for leg in ref.legs:
        p = hd.closed(leg, ref.nominal[0], ref.nominal[1].T)
        d = leg.gamma_0 @ (hd.ring_point(leg, ref.nominal[0], ref.nominal[1].T) - leg.l_0)
        l12, l23 = leg.bodies[0].l[0], leg.l_L[0]
        l23F = np.sqrt(l23**2 - d[1] ** 2)
        cos = -(l12**2 + l23F**2 - d[0] ** 2 - d[2] ** 2) / (2 * l12 * l23F)
        assert_close([np.sin(p[2]), np.cos(p[1])], np.array([d[1] / l23, cos]), 3)
        assert np.sign(np.sin(p[1])) == -leg.elbow


def test_unreachable_poses_are_refused():
    for type, words in (("RUS", "reach"), ("RSU", "reach")):
        ref = hd.demo(type)
        with pytest.raises(ValueError, match=words):
            hd.closure(ref, ref.nominal[0] + [0.5, 0, 0], ref.nominal[1])
    leg = replace(hd.demo("UPS").legs[0], gamma_0=np.eye(3))
    with pytest.raises(ValueError, match="first axis"):
        hd.closed(leg, leg.l_0 + 0.5 * hd.Y - leg.l_C, np.eye(3))
    for type in ("SPU", "RSU"):
        leg = hd.demo(type).legs[0]
        link = hd.leg_kinematics(leg, leg.start).tau[-1]
        locked = replace(leg, gamma_C=np.roll(link, -1, axis=0))  # second axis of the U joint along the link
        r = hd.demo(type).nominal[0]
        factor = hd.leg_determinant(locked, leg.start, r, np.eye(3)) / hd.leg_determinant(leg, leg.start, r, np.eye(3))
        assert factor < 1e-12


def test_closed_solves_are_those_with_the_matrix(mechanism, rng):
    state = hd.random_state(rng, mechanism)
    for leg in mechanism.legs:
        p = hd.closed(leg, state.r, state.R.T)
        Cd, _, _ = hd.leg_constraints(leg, p, state.r, state.R.T)
        y = rng.normal(size=leg.n)
        assert_close(hd.solve_closed(leg, p, state.r, state.R.T, y), np.linalg.solve(Cd, y), 4)
        assert_close(hd.solve_closed_transposed(leg, p, state.r, state.R.T, y), np.linalg.solve(Cd.T, y), 4)
        assert_close(hd.leg_determinant(leg, p, state.r, state.R.T), np.array(abs(np.linalg.det(Cd))), 4)


# ---- rates ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, GENERAL[0], GENERAL[-1]], ids=name)
def test_joint_rates_and_accelerations_are_derivatives_of_the_closure(rng, kind):
    ref = hd.random_mechanism(rng, kind, skew=True)
    state = hd.random_state(rng, ref, speed=0.1)
    at = poses(ref, state)
    start = [hd.leg_closure(leg, state.r, state.R.T) for leg in ref.legs]

    def coordinates(t):  # by Newton: no jumps of 2 pi
        r, R = at(t)
        return hd.pad([hd.newton(leg, r, R.T, p) for leg, p in zip(ref.legs, start, strict=True)], ref.nj)

    def speeds(t):
        return hd.rates(ref, replace(state, r=at(t)[0], R=at(t)[1]))[1]

    _, pd = hd.rates(ref, state)
    assert_close(pd, derivative(coordinates), SIZE, ulps=DIFFERENCE)
    # u is constant along this motion
    pdd = hd.pad([hd.leg_terms(ref, state, k).h for k in range(6)], ref.nj)
    assert_close(pdd, derivative(speeds), SIZE, ulps=DIFFERENCE)


@pytest.mark.parametrize("kind", [*KINDS, *GENERAL], ids=name)
def test_virtual_work_of_the_reactions_vanishes(rng, kind):
    ref = hd.random_mechanism(rng, kind, skew=True)
    state = hd.random_state(rng, ref)
    for k in range(6):
        t = hd.leg_terms(ref, state, k)
        assert_close(t.H.T @ t.Cd.T, t.Ci.T, 6)


# ---- other routes -----------------------------------------------------------------------------------------------


def assert_agree(got, want, *, n=SIZE):
    assert_close(got, want, n, ulps=1000)  # 1e-11 of the largest


@pytest.mark.parametrize("moving", [False, True], ids=["resting", "moving"])
def test_maximal_coordinates_agree(mechanism, rng, moving):
    state = hd.random_state(rng, mechanism, moving=moving)
    result = hd.forward(mechanism, state)
    other = maximal(mechanism, state)
    assert other.residual < 1e-14
    assert_agree(other.acceleration, result.acceleration)
    assert_agree(other.reaction, result.reaction)
    assert_agree(other.base_wrench, result.base_wrench)
    assert_agree(other.actuated_velocity, hd.actuated(mechanism, result.joint_velocity))
    assert_agree(other.actuated_acceleration, hd.actuated(mechanism, result.joint_acceleration))
    for one, two in zip(other.bodies, hd.body_motions(mechanism, state, result), strict=True):
        for what in ("r", "v", "om", "a", "eps"):
            assert_agree(getattr(one, what), getattr(two, what))


@pytest.mark.parametrize("kind", [*KINDS, *GENERAL], ids=name)
def test_pinocchio_agrees(rng, kind):
    ref = hd.random_mechanism(rng, kind, skew=True, reflected=True, gravity=rng.uniform(-10, 10, 3))
    state = hd.random_state(rng, ref)
    state.base_motion[:3] = rng.uniform(-2, 2, 3)
    result = hd.forward(ref, state)
    twin = pinocchio.hexapod_model(ref)
    other = pinocchio.hexapod_forward(twin, state, result.joint_position, result.joint_velocity)
    assert other.residual < 1e-13
    assert_agree(other.acceleration, result.acceleration)
    assert_agree(other.joint_acceleration, result.joint_acceleration)


def test_a_free_base_by_three_routes(mechanism, rng):
    state = hd.random_state(rng, mechanism, moving=True)
    base, wrench = models.random_base(rng), rng.uniform(-100, 100, 6)
    result = hd.forward_free(mechanism, state, base, wrench)
    twin = pinocchio.hexapod_model(mechanism, base)
    others = (
        maximal(mechanism, state, base, wrench),
        pinocchio.hexapod_forward(twin, state, result.joint_position, result.joint_velocity, wrench),
    )
    for other in others:
        assert_agree(other.acceleration, result.acceleration)
        assert_agree(other.base_acceleration, result.base_acceleration)
    assert_agree(others[0].base_wrench, result.base_wrench)
    assert_agree(others[0].reaction, result.reaction)
    assert_agree(others[1].joint_acceleration, result.joint_acceleration)
    # the base itself obeys Newton
    a_0, dOm = np.split(result.base_acceleration, 2)
    Om = state.base_motion[3:6]
    a = a_0 + np.cross(dOm, base.d) + np.cross(Om, np.cross(Om, base.d))
    assert_agree(base.m * (a - mechanism.g), wrench[:3] + result.base_wrench[:3])
    # and the motion found is that of a base moved so
    moved = replace(state, base_motion=np.concatenate([a_0, Om, dOm]))
    assert_agree(hd.forward(mechanism, moved).acceleration, result.acceleration)


def test_mujoco_agrees_as_far_as_its_soft_constraints_allow(mechanism, rng):
    state = hd.random_state(rng, mechanism, speed=0.0)
    result = hd.forward(mechanism, state)
    twin = mujoco.hexapod_model(mechanism, tolerance=1e-14)
    other = mujoco.hexapod_forward(twin, state, result.joint_position, result.joint_velocity)
    assert other.residual < 1e-13
    error = np.abs(other.acceleration - result.acceleration).max()
    assert error < 2e-3 * np.abs(result.acceleration).max()


def test_mujoco_takes_positions_and_rates(mechanism, rng):
    state = hd.random_state(rng, mechanism)
    p, pd = hd.rates(mechanism, state)
    twin = mujoco.hexapod_model(mechanism)
    assert mujoco.hexapod_forward(twin, state, p, pd).residual < 1e-13
    assert np.abs(twin.data.efc_vel).max() < 1e-13


# ---- laws -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [*KINDS, *GENERAL], ids=name)
def test_momentum_changes_by_external_forces_less_those_on_the_base(rng, kind):
    ref = hd.random_mechanism(rng, kind, skew=True, reflected=True, gravity=rng.uniform(-10, 10, 3))
    state = hd.random_state(rng, ref, moving=True)
    result = hd.forward(ref, state)
    bodies = hd.body_motions(ref, state, result)
    force, moment = state.wrench[:3], state.R @ state.wrench[3:] + np.cross(state.r, state.wrench[:3])
    for b in bodies:
        force, moment = force + b.m * ref.g, moment + np.cross(b.r, b.m * ref.g)
    assert_agree(hd.momentum_rate(bodies), np.concatenate([force, moment]) - result.base_wrench)
    assert result.axis_error < 1e-11


@pytest.mark.parametrize("kind", [*KINDS, *GENERAL], ids=name)
def test_power_is_the_growth_of_energy(rng, kind):
    ref = hd.random_mechanism(rng, kind, skew=True, reflected=True, gravity=rng.uniform(-10, 10, 3))
    state = hd.random_state(rng, ref)
    result = hd.forward(ref, state)
    growth = sum(
        b.v @ (b.m * (b.a - ref.g)) + b.om @ (b.I @ b.eps + np.cross(b.om, b.I @ b.om))
        for b in hd.body_motions(ref, state, result)
    )
    pd, pdd = result.joint_velocity, result.joint_acceleration
    growth += sum(leg.drives @ (pd[k, : leg.n] * pdd[k, : leg.n]) for k, leg in enumerate(ref.legs))
    power = state.wrench @ state.u + np.sum(state.tau * pd)
    assert_agree(power, np.array(growth), n=10 * SIZE)


def test_energy_and_momentum_are_those_of_the_bodies(mechanism, rng):
    state = hd.random_state(rng, mechanism)
    bodies = hd.body_motions(mechanism, state)
    _, pd = hd.rates(mechanism, state)
    energy = sum(b.m * b.v @ b.v + b.om @ b.I @ b.om for b in bodies) / 2
    energy += sum(leg.drives @ pd[k, : leg.n] ** 2 for k, leg in enumerate(mechanism.legs)) / 2
    assert_agree(hd.kinetic_energy(mechanism, state), np.array(energy))
    at = poses(mechanism, state)
    slope = derivative(lambda t: hd.potential_energy(mechanism, replace(state, r=at(t)[0], R=at(t)[1])))
    assert_close(slope, -hd.momentum(mechanism, state)[:3] @ mechanism.g, SIZE, ulps=DIFFERENCE, scale=energy * 100)
    # the force of gravity by virtual work is that by the equations of motion
    rest = replace(state, u=np.zeros(6), wrench=np.zeros(6), tau=None)
    _, b, _ = hd.reduced(mechanism, rest)
    assert_close(b @ state.u, np.array(-slope), SIZE, ulps=DIFFERENCE, scale=energy * 100)


def test_reduced_matrix_is_symmetric_and_positive(mechanism):
    A = hd.mass_matrix(mechanism, *mechanism.nominal)
    assert_close(A, A.T, 6)
    assert np.linalg.eigvalsh(A).min() > 0


def test_inverse_of_forward_dynamics(mechanism, rng):
    state = hd.random_state(rng, mechanism, moving=True)
    result = hd.forward(mechanism, state)
    passive = state.tau.copy()
    for k, leg in enumerate(mechanism.legs):
        passive[k, leg.actuated] = 0
    forces = hd.inverse(mechanism, replace(state, tau=passive), result.acceleration)
    assert_agree(forces, hd.actuated(mechanism, state.tau), n=10 * SIZE)


def test_reflected_inertia_is_an_internal_force(mechanism, rng):
    state = hd.random_state(rng, mechanism)
    result = hd.forward(mechanism, state)
    bare = replace(mechanism, legs=[replace(leg, reflected=0.0) for leg in mechanism.legs])
    reduction = [leg.reflected for leg in mechanism.legs] * hd.actuated(mechanism, result.joint_acceleration)
    other = hd.forward(bare, replace(state, tau=state.tau - hd.actuated_tau(mechanism, reduction)))
    assert_agree(other.acceleration, result.acceleration)
    assert_agree(other.base_wrench, result.base_wrench)
    assert_agree(other.reaction, result.reaction)


@pytest.mark.parametrize("type", hd.TYPES)
def test_reactions_of_massless_links_lie_along_the_last_one(rng, type):
    ref = hd.random_mechanism(rng, type, skew=True)
    massive = (0,) if type in hd.HUNT else ()
    for leg in ref.legs:
        leg.bodies = [
            body if j in massive else hd.RefBody(l=body.l, gamma=body.gamma) for j, body in enumerate(leg.bodies)
        ]
    state = hd.random_state(rng, ref, passive_tau=False)
    result = hd.forward(ref, state)
    for t, reaction in zip(result.terms, result.reaction, strict=True):
        link = t.k.tau[-1][0]
        assert np.abs(np.cross(link, reaction[:3])).max() < 1e-12 * np.abs(reaction).max()
        assert abs(reaction[3]) < 1e-12 * np.abs(reaction).max()


def test_free_motion_keeps_energy():
    ref = hd.demo("RSU", reflected=True)
    state = hd.RefState(*ref.nominal, np.array([0.1, 0.05, -0.05, 0.15, -0.1, 0.05]))
    before = hd.kinetic_energy(ref, state)
    h = 0.01
    y = np.concatenate([state.r, hd.angles_from_alpha(state.R.T), state.u])

    def rate(y):
        r, phi, u = y[:3], y[3:6], y[6:]
        du = hd.forward(ref, hd.RefState(r, hd.alpha_from_angles(*phi).T, u)).acceleration
        return np.concatenate([u[:3], hd.angle_rates(*phi) @ u[3:], du])

    for _ in range(5):
        k1 = rate(y)
        k2 = rate(y + h / 2 * k1)
        k3 = rate(y + h / 2 * k2)
        k4 = rate(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    after = hd.kinetic_energy(ref, hd.RefState(y[:3], hd.alpha_from_angles(*y[3:6]).T, y[6:]))
    assert abs(after - before) < 1e-9 * before


# ---- reading a model --------------------------------------------------------------------------------------------


def as_model(ref):
    """What from_model reads, as plain attributes."""

    def body(b):
        return SimpleNamespace(mass=b.m, com=b.d, inertia=b.I_com)

    def leg(data):
        inner, outer = (body for body in data.bodies if body.m > 0)
        offset = {"inner_length": inner.l[0], "outer_length": data.l_L[0], "crank_frame": inner.gamma.T}
        frames = {"base_frame": data.gamma_0.T, "ring_frame": data.gamma_C.T, "tip_frame": data.gamma_L.T}
        branches = {"elbow": data.elbow, "spin_branch": data.spin, "reflected": data.reflected}
        places = {"type": data.type, "base": data.l_0, "ring": data.l_C, "inner": body(inner), "outer": body(outer)}
        return SimpleNamespace(**places, **offset, **frames, **branches)

    platform = SimpleNamespace(mass=ref.m_C, inertia=ref.I_C, com=np.zeros(3))
    return SimpleNamespace(platform=platform, legs=[leg(k) for k in ref.legs], gravity=ref.g, nominal=ref.nominal)


def test_a_model_read_is_the_same_mechanism(mechanism, rng):
    state = hd.random_state(rng, mechanism, moving=True)
    want, got = hd.forward(mechanism, state), hd.forward(hd.from_model(as_model(mechanism)), state)
    for what in ("acceleration", "base_wrench", "reaction", "joint_acceleration"):
        assert_agree(getattr(got, what), getattr(want, what))


@pytest.mark.parametrize("kind", ["UPS*", "RSU*"])
def test_a_custom_leg_read_from_a_chain_is_the_same_leg(rng, kind):
    ref = hd.random_mechanism(rng, kind, skew=True, reflected=True)

    def leg(data):
        links = [SimpleNamespace(**fields) for fields in models.link_fields(data)]
        names = [f"joint{j}" for j in range(data.n)]
        chain = SimpleNamespace(links=links, joint_names=names, rotor_inertia=data.drives)
        four = data.n == 4
        axes = {"axis": data.gamma_L[1] if four else None, "ring_axis": data.gamma_C[2] if four else None}
        ends = {"ring": data.l_C, "point": data.l_L, "start": data.start, "actuated": names[data.actuated]}
        return SimpleNamespace(type="custom", chain=chain, link=f"l{data.n - 1}", **axes, **ends)

    platform = SimpleNamespace(mass=ref.m_C, inertia=ref.I_C, com=np.zeros(3))
    model = SimpleNamespace(platform=platform, legs=[leg(k) for k in ref.legs], gravity=ref.g, nominal=ref.nominal)
    state = hd.random_state(rng, ref, moving=True)
    want, got = hd.forward(ref, state), hd.forward(hd.from_model(model), state)
    assert_agree(got.acceleration, want.acceleration)
    assert_agree(got.reaction, want.reaction)
