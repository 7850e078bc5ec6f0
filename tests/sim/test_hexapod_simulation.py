"""Simulated motion of a ring: balances of energy and momentum, other integrators, events, failures, records."""

import _thread
import io
import json
import re
import signal
import subprocess
import sys
import threading

import matplotlib
import numpy as np
import pytest
import zveno as zv
from allocations import run_counted
from helpers import ROOT, at_once, environment
from hexapod_models import sliding_leg
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from zveno import laws
from zveno._rotation import to_quaternion
from zveno.sim.simulation import Simulation, simulate

matplotlib.use("Agg")

KINDS = ("UPS", "SPU", "UCU", "RUS", "RSU")
HUNT = ("RUS", "RSU")
PUSH = np.array([-0.05, 0.03, 0.02, 0.1, -0.08, 0.06])
R0 = Rotation.from_rotvec([0.03, -0.02, 0.04])
LOAD = np.array([-20.0, 15.0, 10.0, 2.0, -3.0, 1.0])


def ring(kind="UPS", **keywords):
    return zv.mechanisms.docking_ring(kind, **keywords)


def soft(kind, force=1.0):
    """Spring and damper of the demo's attenuation phase, with a preload."""
    k, c, preload = (15.0, 3.0, force) if kind in HUNT else (400.0, 80.0, 10 * force)
    return laws.SpringDamper(k, c, preload)


def same(a, b, names=None):
    return all((getattr(a, name) == getattr(b, name)).all() for name in names or a.to_dict())


# ---- balances


@pytest.mark.parametrize("kind", KINDS)
def test_free_motion_keeps_its_energy_and_obeys_the_impulse_of_the_base(kind):
    s = simulate(ring(kind), 1.0, 5e-3, u=PUSH, R=R0)
    assert len(s) == 201 and s.failure is None
    assert np.abs(s.kinetic_energy / s.kinetic_energy[0] - 1).max() < 1e-9
    assert np.abs(s.energy_error).max() < 1e-9 * s.kinetic_energy[0]
    assert np.abs(s.momentum_error).max() < 1e-9 * np.abs(s.momentum).max()
    assert not s.potential_energy.any() and not s.work_legs.any() and not s.work_wrench.any() and not s.tau.any()


@pytest.mark.parametrize("kind", KINDS)
def test_work_and_impulse_of_all_forces_balance(kind):
    hexapod = ring(kind, gravity=(-3.0, 1.0, 2.0))
    law = soft(kind, 7.0) + laws.EddyBrake(20.0, 0.3) + laws.DryFriction(0.5, 0.05)
    s = simulate(hexapod, 0.5, 5e-4, u=PUSH, laws=law, wrench=LOAD, every=10)
    energy = s.kinetic_energy + s.potential_energy
    assert np.abs(s.energy_error).max() < 1e-9 * np.ptp(s.potential_energy)
    np.testing.assert_allclose(energy - energy[0], s.work_wrench + s.work_legs + s.energy_error, atol=1e-12)
    assert np.abs(s.momentum_error).max() < 1e-9 * np.abs(s.momentum).max()
    assert np.ptp(s.work_legs) > 0.1 and np.ptp(s.work_wrench) > 0.1


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_balances_measure_the_error_of_the_method(method):
    errors = []
    for dt in (4e-3, 2e-3):
        s = simulate(ring("RSU", gravity=(-3, 0, 1)), 0.4, dt, u=5 * PUSH, laws=soft("RSU"), wrench=LOAD, method=method)
        errors.append([np.abs(s.energy_error).max(), *np.abs(s.momentum_error).max(axis=0)])
    order = np.log2(np.divide(*errors))
    expected = 4 if method == "rk4" else 1
    assert (order > expected - 0.3).all()


def test_power_of_the_legs_is_the_growth_of_their_work():
    s = simulate(ring(), 0.3, 1e-3, u=PUSH, laws=soft("UPS"))
    power = (s.tau * s.actuated_velocity).sum(axis=1)
    trapezoids = np.append(0, np.cumsum((power[1:] + power[:-1]) / 2) * s.dt)
    np.testing.assert_allclose(s.work_legs, trapezoids, atol=1e-5)


def test_springs_store_what_they_take():
    s = simulate(ring(), 0.5, 1e-3, u=PUSH, laws=laws.SpringDamper(400.0))
    stored = 200 * (s.actuated_position**2).sum(axis=1)
    np.testing.assert_allclose(s.work_legs, stored[0] - stored, atol=1e-10)


# ---- against other integrators


def integrated(hexapod, t, law, wrench, rtol=1e-11, events=None, **start):
    """The motion by scipy from the accelerations of forward_dynamics."""
    legs, actuated = np.arange(6), hexapod.actuated

    def growth(t, y):
        R = Rotation.from_quat(y[3:7], scalar_first=True)
        p = hexapod.closure(y[:3], R)[legs, actuated]
        v = hexapod.joint_velocity(y[:3], R, y[7:])[legs, actuated]
        a = hexapod.forward_dynamics(y[:3], R, y[7:], wrench(t, y[:3], R, y[7:]), law(t, p, v)).acceleration
        turn = Rotation.from_quat(y[3:7], scalar_first=True).as_quat(scalar_first=True)
        w, x, y_, z = turn
        a_, b, c = y[10:] / 2
        spin = [-x * a_ - y_ * b - z * c, w * a_ + y_ * c - z * b, w * b + z * a_ - x * c, w * c + x * b - y_ * a_]
        return np.concatenate([y[7:10], spin, a])

    y0 = np.concatenate([start["r"], R0.as_quat(scalar_first=True), start["u"]])
    return solve_ivp(growth, (0, t[-1]), y0, method="DOP853", t_eval=t, rtol=rtol, atol=1e-12, events=events)


@pytest.mark.parametrize("kind", ["UPS", "RSU"])
def test_scipy_finds_the_same_motion(kind):
    hexapod = ring(kind, gravity=(-2.0, 0.5, 0.0))
    nominal = hexapod.closure(*hexapod.nominal)[np.arange(6), hexapod.actuated]
    r = hexapod.nominal[0] + [-0.02, 0.03, -0.01]
    k, c = (15.0, 3.0) if kind == "RSU" else (400.0, 80.0)
    s = simulate(
        hexapod, 0.5, 5e-4, r=r, R=R0, u=PUSH, every=100,
        laws=laws.SpringDamper(k, c, 2.0) + laws.EddyBrake(3.0, 0.2),
        wrench=lambda t, r, R, u: LOAD * np.sin(9 * t) - 3 * u,
    )  # fmt: skip
    other = integrated(
        hexapod, s.t, lambda t, p, v: 2 - k * (p - nominal) - c * v - 6 * (v / 0.2) / (1 + (v / 0.2) ** 2),
        lambda t, r, R, u: LOAD * np.sin(9 * t) - 3 * u, r=r, u=PUSH,
    )  # fmt: skip
    np.testing.assert_allclose(np.hstack([s.r, s.quaternion, s.u]), other.y.T, atol=2e-10)


def test_scipy_finds_the_same_sticking_and_slipping():
    hexapod = ring()
    friction = laws.LuGre(5.0, 7.0, 5e-3, 2e4, 300.0, 10.0)

    def wrench(t):
        return np.array([-70.0 * np.sin(6 * t), 0, 0, 0, 0, 0])

    s = simulate(hexapod, 1.0, 1e-4, laws=friction, wrench=lambda t, r, R, u: wrench(t), every=100)
    r, R = hexapod.nominal

    def growth(t, y):  # the load is symmetric: one coordinate and one bristle
        at = np.array([y[0], 0, 0])
        v = hexapod.jacobian(at, R)[:, 0] * y[1]
        g = 5 + 2 * np.exp(-((v / 5e-3) ** 2))
        rate = v - 2e4 * np.abs(v) / g * y[2]
        tau = -(2e4 * y[2] + 300 * rate + 10 * v)
        a = hexapod.forward_dynamics(at, R, np.array([y[1], 0, 0, 0, 0, 0]), wrench(t), tau).acceleration
        return [y[1], a[0], rate[0]]

    other = solve_ivp(growth, (0, 1), [r[0], 0, 0], method="Radau", t_eval=s.t, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(s.r[:, 0], other.y[0], atol=1e-8)
    np.testing.assert_allclose(s.u[:, 0], other.y[1], atol=1e-7)
    coarse = simulate(
        hexapod, 1.0, 1e-4, laws=friction, wrench=lambda t, r, R, u: wrench(t), every=100, method="semi-implicit"
    )
    np.testing.assert_allclose(coarse.r, s.r, atol=1e-4)


def test_a_load_below_the_breakaway_force_is_held():
    friction = laws.LuGre(50.0, 60.0, 1e-3, 1e5, 3000.0)
    load = ([0.0, 0.5], [np.zeros(6), [-60.0, 0, 0, 0, 0, 0]])  # slowly: no overshoot
    s = simulate(ring(), 2.0, 2e-4, laws=friction, wrench=load, every=1000)
    lever = ring().jacobian(*ring().nominal)[0, 0]
    np.testing.assert_allclose(s.tau[-1], 60 / 6 / lever, rtol=1e-3)  # holds the load
    assert np.abs(s.u[-1]).max() < 1e-6
    # a bristle under a slowly growing load: z' = v (1 - stiffness z / breakaway)
    slip = 60 / 1e5 * np.log(1 - s.tau[-1] / 60)
    np.testing.assert_allclose(s.actuated_position[-1], slip, rtol=0.01)
    smooth = simulate(ring(), 2.0, 2e-4, laws=laws.DryFriction(50.0, 1e-3), wrench=load, every=1000)
    assert np.abs(smooth.actuated_position[-1]).min() > 2 * np.abs(s.actuated_position[-1]).max()  # creeps


@pytest.mark.parametrize(("method", "order"), [("rk4", 4), ("semi-implicit", 1)])
@pytest.mark.parametrize("kind", ["UPS", "RUS"])
def test_order_of_convergence(kind, method, order):
    def last(dt):
        s = simulate(ring(kind), 0.4, dt, u=6 * PUSH, laws=soft(kind), wrench=LOAD, method=method)
        return np.concatenate([s.r[-1], s.quaternion[-1], s.u[-1]])

    dt = 0.02 if method == "rk4" else 4e-4
    a, b, c = (last(dt / 2**i) for i in range(3))
    observed = np.log2(np.linalg.norm(a - b) / np.linalg.norm(b - c))
    assert abs(observed - order) < 0.15 * order


def test_semi_implicit_steps_use_the_new_velocity_and_the_exponential_map():
    s = simulate(ring(), 0.01, 0.01, u=PUSH, R=R0, laws=soft("UPS"), wrench=LOAD, method="semi-implicit")
    u = s.u[0] + s.dt * s.acceleration[0]
    np.testing.assert_allclose(s.u[1], u, atol=1e-15)
    np.testing.assert_allclose(s.r[1], s.r[0] + s.dt * u[:3], atol=1e-15)
    np.testing.assert_allclose(s.R[1], s.R[0] @ Rotation.from_rotvec(s.dt * u[3:]).as_matrix(), atol=1e-15)
    rates = s.joint_velocity[0, :, 2] + s.dt * s.joint_acceleration[0, :, 2]
    assert s.work_wrench[1] == pytest.approx(s.dt * LOAD @ u, rel=1e-12)
    assert s.work_legs[1] == pytest.approx(s.dt * s.tau[0] @ rates, rel=1e-12)


@pytest.mark.filterwarnings("ignore::zveno.SimulationWarning")  # steps are long here
@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_quaternions_keep_their_length(method):
    s = simulate(ring(), 1.0, 0.01, u=[0, 0, 0, 1.0, 0, 0.2], laws=laws.SpringDamper(3000.0), method=method)
    assert np.abs(np.linalg.norm(s.quaternion, axis=1) - 1).max() < 1e-15


# ---- records


@pytest.mark.parametrize("kind", KINDS)
def test_records_are_what_the_hexapod_says_of_their_states(kind):
    hexapod = ring(kind, gravity=(-1.0, 0.0, 2.0))
    s = simulate(hexapod, 0.1, 1e-3, u=PUSH, laws=soft(kind), wrench=LOAD, every=7)
    d = hexapod.forward_dynamics(s.r, s.R, s.u, s.wrench, s.tau)
    for name, array in d.to_dict().items():
        np.testing.assert_allclose(getattr(s, name), array, rtol=1e-12, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(s.kinetic_energy, hexapod.kinetic_energy(s.r, s.R, s.u), rtol=1e-12)
    np.testing.assert_allclose(s.potential_energy, hexapod.potential_energy(s.r, s.R), rtol=1e-12)
    np.testing.assert_allclose(s.momentum, hexapod.momentum(s.r, s.R, s.u), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(Rotation.from_matrix(s.R).as_quat(scalar_first=True), s.quaternion, atol=1e-14)
    assert (s.wrench == LOAD).all()
    law = soft(kind)
    for k in range(6):
        want = law.of(hexapod, k)(s.t, s.actuated_position[:, k], s.actuated_velocity[:, k])
        np.testing.assert_allclose(s.tau[:, k], want, rtol=1e-12, atol=1e-12)


def test_every_so_many_steps_and_the_last_are_recorded():
    whole = simulate(ring(), 0.1, 1e-3, u=PUSH, laws=soft("UPS"))
    part = simulate(ring(), 0.1, 1e-3, u=PUSH, laws=soft("UPS"), every=30)
    for name, array in part.to_dict().items():
        assert (array == getattr(whole, name)[[0, 30, 60, 90, 100]]).all(), name
    assert len(simulate(ring(), 0.1, 1e-3, every=50)) == 3
    assert len(simulate(ring(), 0.1, 1e-3, every=10**6)) == 2


def test_whole_steps_lead_to_the_end():
    s = simulate(ring(), 0.1, 0.03, u=PUSH)
    assert s.dt == pytest.approx(0.025) and s.t[-1] == pytest.approx(0.1) and len(s) == 5
    assert simulate(ring(), 0.3, 0.1, u=PUSH).dt == pytest.approx(0.1)
    assert len(simulate(ring(), 0.1, 7.0, u=PUSH)) == 2


def test_runs_repeat_bit_by_bit_also_side_by_side():
    def run(_):
        law = soft("RSU") + laws.Stops(4e3, 80.0) + laws.LuGre(0.2, 0.3, 0.01, 1e3, 1.0)
        return simulate(ring("RSU"), 0.1, 2e-4, u=5 * PUSH, laws=law)

    want = run(None)
    assert all(same(want, other) for other in at_once(run, range(4)))


def test_a_run_can_be_continued():
    law = soft("UPS") + laws.Servo(300.0, 30.0, laws.Ramp(-0.05, 0.1, begin=0.08))
    whole = simulate(ring(), 0.3, 1e-3, u=PUSH, laws=law)
    first = simulate(ring(), 0.1, 1e-3, u=PUSH, laws=law)
    rest = simulate(
        ring(), 0.3, 1e-3, t_start=0.1, r=first.r[-1], quaternion=first.quaternion[-1], u=first.u[-1], laws=law
    )
    np.testing.assert_allclose(rest.t, whole.t[100:], rtol=1e-13)
    np.testing.assert_allclose(rest.r, whole.r[100:], atol=1e-13)
    np.testing.assert_allclose(rest.base_wrench, whole.base_wrench[100:], atol=1e-9)


@pytest.mark.parametrize("turn", [[0, 0, 0], [3.0, 0.1, 0], [0.1, 3.1, 0], [0.2, 0, -3.0], [1, 1, 1]])
def test_rotations_become_quaternions_wherever_they_point(turn):
    R = Rotation.from_rotvec(turn)
    q = to_quaternion(R.as_matrix())
    assert q[0] >= 0
    np.testing.assert_allclose(Rotation.from_quat(q, scalar_first=True).as_matrix(), R.as_matrix(), atol=1e-15)


def test_angles_of_cranks_do_not_jump():
    plain = ring("RUS")
    half = np.diag([-1.0, 1.0, -1.0])  # half a turn about the crank's axis

    def turned(leg):
        return zv.Leg.rus(
            leg.base, leg.ring, crank=leg.inner, coupler=leg.outer, crank_length=leg.inner_length,
            coupler_length=leg.outer_length, base_frame=leg.base_frame @ half, elbow=leg.elbow,
            rotor_inertia=leg.reflected,
        )  # fmt: skip

    other = zv.Hexapod(plain.platform, [turned(leg) for leg in plain.legs], nominal=plain.nominal)
    want = simulate(plain, 0.6, 1e-3, u=5 * PUSH, laws=laws.SpringDamper(15.0, 3.0))
    got = simulate(other, 0.6, 1e-3, u=5 * PUSH, laws=laws.SpringDamper(15.0, 3.0))
    crank = other.closure(got.r, got.R)[..., 0]
    assert np.ptp(crank, axis=0).max() > 6  # the closed form does jump
    assert np.abs(np.diff(got.actuated_position, axis=0)).max() < 0.01
    np.testing.assert_allclose(got.r, want.r, atol=1e-12)
    np.testing.assert_allclose(got.tau, want.tau, atol=1e-10)


# ---- forces of all kinds


def test_functions_do_the_same_as_laws_and_tables():
    times, loads = np.array([0.0, 0.05, 0.2]), np.array([np.zeros(6), LOAD, -LOAD])
    seen = []

    def law(t, p, v):
        seen.append((t, p.shape, v.shape))
        return 10.0 - 400 * p - 80 * v

    def wrench(t, r, R, u):
        assert r.shape == (3,) and R.shape == (3, 3) and u.shape == (6,)
        return [float(np.interp(t, times, column)) for column in loads.T]

    want = simulate(ring(), 0.2, 1e-3, u=PUSH, laws=soft("UPS"), wrench=(times, loads))
    got = simulate(ring(), 0.2, 1e-3, u=PUSH, laws=law, wrench=wrench)
    for name, array in got.to_dict().items():
        np.testing.assert_allclose(array, getattr(want, name), rtol=1e-9, atol=1e-11, err_msg=name)
    assert len(seen) == 4 * 200 + 1 and set(seen[0][1:]) == {(6,)}
    assert (want.wrench[0] == 0).all() and want.wrench[25] == pytest.approx(LOAD / 2)


def test_laws_may_differ_from_leg_to_leg():
    stiff = laws.SpringDamper(900.0, 10.0)
    s = simulate(ring(), 0.05, 1e-3, u=PUSH, laws=[stiff, None, stiff, None, None, None])
    assert s.tau[-1, [0, 2]].all() and not s.tau[:, [1, 3, 4, 5]].any()
    assert s.tau[-1, 2] == pytest.approx(stiff.of(ring(), 2)(0, s.actuated_position[-1, 2], s.actuated_velocity[-1, 2]))


def test_forces_of_a_table_are_held_over_each_step():
    hexapod, rng = ring("SPU"), np.random.default_rng(3)
    tau = rng.normal(size=(20, 6)) * 30
    s = simulate(hexapod, 0.2, 0.01, u=PUSH, tau=tau, laws=soft("SPU"))
    at, parts = {"r": None, "quaternion": None, "u": PUSH}, []
    for row in tau:
        part = simulate(hexapod, 0.01, 0.01, tau=row, laws=soft("SPU"), **at)
        at = {"r": part.r[-1], "quaternion": part.quaternion[-1], "u": part.u[-1]}
        parts.append(part)
    np.testing.assert_allclose(s.r[1:], [part.r[-1] for part in parts], atol=1e-13)
    np.testing.assert_allclose(s.tau[:-1], [part.tau[0] for part in parts], atol=1e-9)
    full = np.zeros((20, 6, 4))
    full[:, np.arange(6), hexapod.actuated] = tau
    assert same(s, simulate(hexapod, 0.2, 0.01, u=PUSH, tau=full, laws=soft("SPU")))
    constant = simulate(hexapod, 0.2, 0.01, u=PUSH, tau=tau[0])
    assert same(constant, simulate(hexapod, 0.2, 0.01, u=PUSH, tau=full[0]))
    assert (constant.tau == tau[0]).all()


def test_forces_in_passive_joints_do_work():
    tau = np.zeros((6, 3))
    tau[:, 1] = 3.0
    s = simulate(ring(), 0.2, 1e-3, tau=tau, u=PUSH)
    assert not s.tau.any() and np.abs(s.work_legs[-1]) > 1e-3
    assert np.abs(s.energy_error).max() < 1e-10


def test_an_accelerated_base_is_gravity_the_other_way():
    g = np.array([-1.0, 2.0, 0.5])
    want = simulate(ring(gravity=g), 0.2, 1e-3, u=PUSH, laws=soft("UPS"))
    got = simulate(ring(), 0.2, 1e-3, u=PUSH, laws=soft("UPS"), base_motion=[*-g, 0, 0, 0, 0, 0, 0])
    np.testing.assert_allclose(got.r, want.r, atol=1e-13)
    np.testing.assert_allclose(got.base_wrench, want.base_wrench, atol=1e-9)
    assert np.isnan(got.energy_error).all() and np.isnan(got.momentum_error).all()


def test_friction_of_a_custom_leg_is_a_damper_and_its_work_is_counted():
    plain = ring(gravity=(-2, 1, 0))
    legs = [sliding_leg(leg, friction=30.0) for leg in plain.legs]
    hexapod = zv.Hexapod(plain.platform, legs, nominal=plain.nominal, gravity=plain.gravity)
    got = simulate(hexapod, 0.2, 1e-3, u=PUSH, laws=laws.SpringDamper(400.0))
    want = simulate(plain, 0.2, 1e-3, u=PUSH, laws=laws.SpringDamper(400.0, 30.0))
    np.testing.assert_allclose(got.r, want.r, atol=1e-12)
    np.testing.assert_allclose(got.work_legs, want.work_legs, atol=1e-10)
    assert np.abs(got.energy_error).max() < 1e-9 and np.abs(got.momentum_error).max() < 1e-9


def test_a_spring_in_a_custom_leg_is_a_spring_law_whose_energy_is_stored():
    plain = ring()
    legs = [sliding_leg(leg, stiffness=400.0, rest=0.02) for leg in plain.legs]
    hexapod = zv.Hexapod(plain.platform, legs, nominal=plain.nominal)
    got = simulate(hexapod, 0.2, 1e-3, u=PUSH)
    want = simulate(plain, 0.2, 1e-3, u=PUSH, laws=laws.SpringDamper(400.0, reference=0.02))
    np.testing.assert_allclose(got.r, want.r, atol=1e-12)
    stored = 0.5 * 400.0 * ((want.joint_position[..., 2] - 0.02) ** 2).sum(axis=-1)
    np.testing.assert_allclose(got.potential_energy, stored, atol=1e-10)
    np.testing.assert_allclose(got.work_legs, 0.0, atol=1e-12)
    assert np.abs(got.energy_error).max() < 1e-9 and np.abs(got.momentum_error).max() < 1e-9


# ---- events


def hard_landing(dt, method="rk4", **changes):
    law = laws.SpringDamper(400.0, 80.0) + laws.Stops(1e5, 100.0)
    keywords = {"u": [-0.9, 0.2, 0.1, 0.3, -0.3, 0.2], "laws": law, "method": method, "every": 50}
    return simulate(ring(), 0.6, dt, **keywords | changes)


def test_stops_are_met_when_scipy_says():
    hexapod, nominal = ring(), ring().nominal[0]
    u = [-1.0, 0.1, 0.1, 0.2, -0.2, 0.2]
    s = simulate(hexapod, 0.5, 1e-3, r=nominal, R=R0, u=u, laws=soft("UPS"))
    events = [
        lambda t, y, k=k: hexapod.closure(y[:3], Rotation.from_quat(y[3:7], scalar_first=True))[k, 2] + 0.13
        for k in range(6)
    ]
    other = integrated(
        hexapod, s.t, lambda t, p, v: 10.0 - 400 * p - 80 * v, lambda t, r, R, u: np.zeros(6), r=nominal,
        u=u, events=events,
    )  # fmt: skip
    want = sorted((t, f"leg{k + 1}") for k, times in enumerate(other.t_events) for t in times)
    assert len(want) >= 3
    assert [(e.leg, e.side) for e in s.events] == [(leg, "lower") for _, leg in want]
    np.testing.assert_allclose([e.time for e in s.events], [t for t, _ in want], atol=1e-9)


@pytest.mark.parametrize(("method", "accuracy"), [("rk4", 5e-6), ("semi-implicit", 2e-3)])
def test_events_come_at_the_times_of_a_fine_run(method, accuracy):
    fine, coarse = hard_landing(2e-5), hard_landing(1e-3, method)
    assert len(fine.events) >= 4
    assert [e[1:4] for e in coarse.events] == [e[1:4] for e in fine.events]
    np.testing.assert_allclose([e.time for e in coarse.events], [e.time for e in fine.events], atol=accuracy)
    for leg in {e.leg for e in fine.events}:
        kinds = [e.kind for e in fine.events if e.leg == leg]
        assert kinds == ["enter", "leave"] * (len(kinds) // 2) + ["enter"] * (len(kinds) % 2)
    for e in fine.events:
        assert e.side == "lower" and (e.rate < 0) == (e.kind == "enter")
        at = np.searchsorted(fine.t, e.time)
        assert fine.t[at - 1] <= e.time <= fine.t[at]
    assert [e.time for e in fine.events] == sorted(e.time for e in fine.events)


def test_a_touch_between_two_steps_is_seen():
    hexapod = ring()
    free = simulate(hexapod, 0.4, 1e-3, u=[0.5, 0, 0, 0, 0, 0], laws=laws.SpringDamper(3000.0))
    top = free.actuated_position[:, 0].max()
    law = laws.SpringDamper(3000.0) + laws.Stops(1e-3, lower=-1.0, upper=top - 2e-5)  # next to no force
    s = simulate(hexapod, 0.4, 2e-2, u=[0.5, 0, 0, 0, 0, 0], laws=law)
    inside = s.actuated_position[:, 0] < top - 2e-5
    assert inside.all()
    legs = [e for e in s.events if e.leg == "leg1"]
    assert [e.kind for e in legs] == ["enter", "leave"] and all(e.side == "upper" for e in legs)
    assert 0 < legs[1].time - legs[0].time < 2e-2


def test_events_of_one_step_come_in_the_order_of_time():
    s = simulate(ring(), 0.45, 0.15, u=[-0.6, 0, 0, 0.0, 0.15, 0.1])
    legs = [e.leg for e in s.events]
    assert len({int(e.time / s.dt) for e in s.events}) < len(legs) and legs != sorted(legs)
    assert [e.time for e in s.events] == sorted(e.time for e in s.events)


def test_a_leg_without_stops_reports_its_limits():
    s = simulate(ring(), 0.4, 1e-3, u=[-0.6, 0, 0, 0, 0, 0], on_error="stop")
    assert {(e.side, e.kind) for e in s.events} == {("lower", "enter")} and len(s.events) == 6
    at = [np.interp(e.time, s.t, s.actuated_position[:, k]) for k, e in enumerate(s.events)]
    np.testing.assert_allclose(at, -0.13, atol=1e-6)


# ---- failures


def test_a_run_that_fails_keeps_everything_up_to_then():
    hexapod, keywords = ring("RUS"), {"u": [0.8, 0, 0, 0, 0, 0], "every": 7}
    with pytest.raises(zv.UnreachableError, match=r"simulate: at t = 0\.\d+ s leg 'leg\d' cannot reach") as caught:
        simulate(hexapod, 1.0, 1e-3, **keywords)
    error, s = caught.value, simulate(hexapod, 1.0, 1e-3, on_error="stop", **keywords)
    assert error.leg in hexapod.leg_names and error.cause == "out of reach" and 0 < error.time < 1
    assert type(s.failure) is zv.UnreachableError and s.failure.time == error.time
    assert same(s, error.simulation) and error.simulation.failure is error
    last = int(error.time / 1e-3)
    steps = np.round(s.t / s.dt).astype(int)
    assert steps.tolist() == sorted({*range(0, last + 1, 7), steps[-1]}) and last - 1 <= steps[-1] <= last
    assert all(np.isfinite(array).all() for array in s.to_dict().values())
    with pytest.warns(zv.SimulationWarning, match="exchanged: dt = 0.001 s is too long for the motion"):
        short = simulate(hexapod, float(s.t[-1]), 1e-3, **keywords)  # up to the edge of its reach
    np.testing.assert_allclose(short.r, s.r, atol=1e-12)
    with pytest.raises(zv.UnreachableError):
        simulate(hexapod, 2e-3, 1e-3, r=s.r[-1], quaternion=s.quaternion[-1], u=s.u[-1])


def test_a_start_out_of_reach_has_no_record():
    s = simulate(ring("RUS"), 1.0, 1e-3, r=[2.0, 0, 0], on_error="stop")
    assert len(s) == 0 and isinstance(s.failure, zv.UnreachableError) and "0 states" in repr(s)
    with pytest.raises(ValueError, match="plot: the simulation has no states"):
        s.plot()


def test_a_singular_leg_ends_the_run():
    legs, r = list(ring().legs), ring().nominal[0] + [0.05, 0, 0]
    y = r + legs[0].ring - legs[0].base
    z = np.cross([1, 0, 0], y)
    y, z = y / np.linalg.norm(y), z / np.linalg.norm(z)
    legs[0] = zv.Leg.ups(
        legs[0].base, legs[0].ring, housing=legs[0].inner, rod=legs[0].outer, housing_length=0.25, name="odd",
        base_frame=np.column_stack([np.cross(y, z), y, z]),
    )  # fmt: skip
    hexapod = zv.Hexapod(ring().platform, legs, nominal=ring().nominal)
    with pytest.raises(zv.SingularityError, match="simulate: at t = 0 s leg 'odd' lies along the first axis") as caught:
        simulate(hexapod, 1.0, 1e-3, r=r)
    assert (caught.value.leg, caught.value.cause, caught.value.time) == ("odd", "along first axis", 0.0)


def test_steps_that_are_too_long_end_with_a_hint():
    with pytest.raises((FloatingPointError, zv.SingularityError, zv.UnreachableError)) as caught:
        simulate(ring(), 100.0, 0.1, u=PUSH, laws=laws.SpringDamper(1e9, 1e9), check_step=False)
    assert len(caught.value.simulation) >= 1
    with pytest.raises(FloatingPointError, match=r"is not finite: dt = 0\.1 s is too long, or forces are too large"):
        simulate(ring(), 100.0, 0.1, wrench=[1e308] * 6, u=PUSH)


@pytest.mark.parametrize("error", [RuntimeError("mine"), KeyboardInterrupt()])
@pytest.mark.parametrize("argument", ["laws", "wrench"])
def test_errors_of_functions_come_through_with_the_record(error, argument):
    def broken(t, *_):
        if t > 0.0305:
            raise error
        return np.zeros(6)

    with pytest.raises(type(error)) as caught:
        simulate(ring(), 1.0, 1e-3, u=PUSH, every=20, on_error="stop", **{argument: broken})
    assert caught.value is error
    np.testing.assert_allclose(error.simulation.t, [0, 0.02, 0.03])
    assert error.simulation.failure is error


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_ends_a_long_run():
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        simulate(ring(), 1e4, 1e-4, laws=laws.SpringDamper(400.0, 80.0), every=10**5)
    assert 0 < caught.value.simulation.t[-1] < 1e4


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="only POSIX starts a process that ignores a signal")
def test_the_test_of_ctrl_c_passes_where_interrupts_are_ignored():
    test = f"{__file__}::test_ctrl_c_ends_a_long_run"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", test]
    ignored = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN), "timeout": 120}
    done = subprocess.run(command, env=environment(), cwd=ROOT, capture_output=True, text=True, **ignored)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("result", "error", "text"),
    [
        (np.zeros(5), ValueError, "an array of shape (5,), expected forces of shape (6,)"),
        (np.zeros((6, 1)), ValueError, "an array of shape (6, 1), expected forces of shape (6,)"),
        (3.0, ValueError, "an array of shape (), expected forces of shape (6,)"),
        (None, TypeError, "None, expected forces of shape (6,)"),
        (["a"] * 6, TypeError, "['a', 'a', 'a', 'a', 'a', 'a'], expected forces of shape (6,)"),
        (np.full(6, 1j), TypeError, "expected forces of shape (6,)"),
        ([0, 0, 0, 0, 0, np.nan], ValueError, "[0, 0, 0, 0, 0, nan], expected finite numbers"),
    ],
)
def test_functions_must_return_six_numbers(result, error, text):
    with pytest.raises(error, match=re.escape("simulate: laws(t, p, v) returned ") + ".*" + re.escape(text)):
        simulate(ring(), 1.0, 1e-3, laws=lambda t, p, v: result)
    text = text.replace("forces", "a wrench")
    with pytest.raises(error, match=re.escape("simulate: wrench(t, r, R, u) returned ") + ".*" + re.escape(text)):
        simulate(ring(), 1.0, 1e-3, wrench=lambda t, r, R, u: result)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"t_end": 0.0}, "t_end is 0, expected more than t_start = 0"),
        ({"t_end": np.nan}, "t_end is nan, expected a finite number"),
        ({"dt": 0}, "dt is 0, expected a number > 0"),
        ({"dt": "1 ms"}, "dt is '1 ms', expected a number"),
        ({"dt": 1e-15}, "dt makes 1e+15 steps, expected less than 1.1e+12"),
        ({"t_start": 1e17, "t_end": 1.0000000000000001e17, "dt": 1.0}, "dt is 1, too short beside t_end = 1e+17"),
        ({"method": "euler"}, "method is 'euler', expected 'rk4' or 'semi-implicit'"),
        ({"every": 0}, "every is 0, expected a whole number > 0"),
        ({"every": 1.5}, "every is 1.5, expected a whole number > 0"),
        ({"on_error": "nan"}, "on_error is 'nan', expected 'raise' or 'stop'"),
        ({"progress": 1}, "progress is 1, expected True, False or None"),
        ({"r": [1, 2]}, "r has shape (2,), expected (3,)"),
        ({"u": [1, 2, 3]}, "u has shape (3,), expected (6,)"),
        ({"u": [np.inf] * 6}, "u is [inf, inf, inf, inf, inf, inf], expected finite numbers"),
        ({"R": 2 * np.eye(3)}, "R is not orthonormal"),
        ({"R": np.eye(3), "quaternion": [1, 0, 0, 0]}, "R and quaternion are both given, expected one of them"),
        ({"quaternion": [2, 0, 0, 0]}, "quaternion has length 2, expected 1"),
        (
            {"laws": 3},
            "laws is 3, expected a Law, six of them, a dict by names of legs or joints, or a function f(t, p, v)",
        ),
        ({"laws": "soft"}, "laws is 'soft', expected a Law"),
        ({"laws": [None] * 5}, "laws has 5 entries, expected 6"),
        ({"laws": [None] * 5 + [3]}, "laws[5] is 3, expected a Law or None"),
        ({"tau": np.zeros(5)}, "tau has shape (5,), expected (6,) or (6, 3) or (100, 6) or (100, 6, 3)"),
        ({"tau": np.zeros((99, 6))}, "tau has shape (99, 6), expected (6,)"),
        ({"wrench": np.zeros(5)}, "wrench has shape (5,), expected (6,)"),
        ({"wrench": ([0, 1], np.zeros((3, 6)))}, "values of wrench has shape (3, 6), expected (2, 6)"),
        ({"wrench": ([1, 1], np.zeros((2, 6)))}, "times of wrench are not increasing"),
        ({"wrench": ([], np.zeros((0, 6)))}, "times of wrench is [], expected (k,) numbers with k > 0"),
        ({"base_motion": np.zeros(6)}, "base_motion has shape (6,), expected (9,)"),
    ],
)
def test_what_is_refused(changes, text):
    with pytest.raises(ValueError, match="^simulate: " + re.escape(text)):
        simulate(ring(), **{"t_end": 1.0, "dt": 0.01} | changes)


def test_only_hexapods_are_simulated():
    with pytest.raises(TypeError, match="simulate: hexapod is 3, expected a Hexapod"):
        simulate(3, 1.0, 0.1)
    legs = [
        zv.Leg.ups(leg.base, leg.ring, housing=leg.inner, rod=leg.outer, housing_length=leg.inner_length,
                   rod_length=leg.outer_length, base_frame=leg.base_frame)
        for leg in ring().legs
    ]  # fmt: skip
    homeless = zv.Hexapod(ring().platform, legs)
    with pytest.raises(ValueError, match="simulate: r is missing, and hexapod 'hexapod' has no nominal pose"):
        simulate(homeless, 1.0, 0.1)
    assert len(simulate(homeless, 0.1, 0.01, r=ring().nominal[0])) == 11


# ---- the record as a thing


def test_saved_records_come_back(tmp_path):
    s = simulate(ring("RUS"), 1.0, 1e-3, u=[0.8, 0, 0, 0, 0, 0], every=7, on_error="stop")
    assert s.failure is not None and s.events
    s.save(tmp_path / "run")
    back = Simulation.load(tmp_path / "run")
    assert same(s, back) and back.events == s.events and back.hexapod == s.hexapod
    assert (back.method, back.dt, repr(back)) == (s.method, s.dt, repr(s))
    assert type(back.failure) is type(s.failure) and str(back.failure) == str(s.failure)
    for key in ("leg", "cause", "margin", "time"):
        assert getattr(back.failure, key) == getattr(s.failure, key)
    good = hard_landing(1e-3)
    good.save(str(tmp_path / "good.npz"))
    assert Simulation.load(str(tmp_path / "good.npz")).failure is None


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "other.npz"
    path.write_bytes(b"no zip")
    with pytest.raises(ValueError, match="is not a simulation file"):
        Simulation.load(path)
    np.savez(path, x=np.zeros(3))
    with pytest.raises(ValueError, match="holds no simulation"):
        Simulation.load(path)
    np.savez(path, about=np.array(json.dumps({"format": "zveno.simulation", "version": 99})))
    with pytest.raises(ValueError, match=r"is not a file of 'zveno\.simulation', version 1"):
        Simulation.load(path)
    np.savez(path, about=np.array(json.dumps({"format": "zveno.simulation", "version": 1})), t=np.zeros(3))
    with pytest.raises(ValueError, match="lacks r, R, quaternion"):
        Simulation.load(path)
    with pytest.raises(FileNotFoundError):
        Simulation.load(tmp_path / "nowhere.npz")


def test_columns_name_every_number_once():
    s = simulate(ring(), 0.02, 1e-3, u=PUSH, laws=soft("UPS"))
    columns = s.columns()
    assert len(columns) == sum(int(np.prod(a.shape[1:])) for a in s.to_dict().values())
    assert (columns["R.x.z"] == s.R[:, 0, 2]).all() and (columns["tau.leg3"] == s.tau[:, 2]).all()
    assert (columns["joint_velocity.leg6.stroke"] == s.joint_velocity[:, 5, 2]).all()
    assert (columns["base_wrench.my"] == s.base_wrench[:, 4]).all()
    mixed = zv.Hexapod(ring().platform, [*ring().legs[:3], *ring("SPU").legs[3:]], nominal=ring().nominal, name="mixed")
    names = simulate(mixed, 0.01, 1e-3).columns()
    assert "joint_position.leg6.spin" in names and "joint_position.leg1.stroke" in names
    assert sum(name.startswith("joint_position.") for name in names) == 3 * 3 + 3 * 4


def test_records_become_data_frames_and_datasets():
    s = simulate(ring(), 0.02, 1e-3, u=PUSH, laws=soft("UPS"))
    frame = s.to_pandas()
    assert frame.index.name == "t" and (frame.index == s.t).all() and list(frame.columns) == list(s.columns())[1:]
    assert all((frame[name] == column).all() for name, column in s.columns().items() if name != "t")
    data = s.to_xarray()
    assert set(data.variables) - set(data.coords) == set(s.to_dict()) - {"t"} and data.t.units == "s"
    for name in s.to_dict():
        assert (data[name].values == getattr(s, name)).all() and data[name].units
    assert (data.tau.sel(leg="leg3") == s.tau[:, 2]).all() and data.attrs["hexapod"] == s.hexapod.name


@pytest.mark.parametrize(
    ("module", "call", "install"),
    [
        ("pandas", lambda s: s.to_pandas(), "pip install zveno[data]"),
        ("xarray", lambda s: s.to_xarray(), "pip install zveno[data]"),
        ("matplotlib", lambda s: s.plot(), "pip install zveno[plot]"),
        ("rich", lambda s: simulate(s.hexapod, 1.0, 1e-3, progress=True), "pip install zveno[cli]"),
    ],
)
def test_missing_packages_are_named(module, call, install, monkeypatch):
    s = simulate(ring(), 0.01, 1e-3)
    for name in list(sys.modules):
        if name.partition(".")[0] in (module, "mpl_toolkits") or name == "zveno.plot.simulation":
            monkeypatch.delitem(sys.modules, name)

    class Hidden:
        @staticmethod
        def find_spec(name, path=None, target=None):
            if name.partition(".")[0] == module:
                raise ModuleNotFoundError(f"No module named '{name}'", name=name)

    monkeypatch.setattr(sys, "meta_path", [Hidden, *sys.meta_path])
    with pytest.raises(ImportError, match=re.escape(install)):
        call(s)


def test_the_record_prints_what_it_is():
    s = simulate(ring(), 0.02, 1e-3, u=PUSH)
    what = f"'{s.hexapod.name}', 21 states from t = 0 to 0.02 s, rk4, dt = 0.001 s"
    assert repr(s) == f"Simulation({what}, {s.energy_balance})" and len(s) == 21
    events = simulate(ring(), 0.4, 1e-3, u=[-0.6, 0, 0, 0, 0, 0])
    assert re.search(r"dt = 0\.001 s, .* J exchanged, error .*, 6 events\)$", repr(events))


# ---- progress and figures


def test_a_progress_bar_is_shown_on_demand_and_on_terminals_only(monkeypatch):
    def shown(terminal, **keywords):
        err = io.StringIO()
        err.isatty = lambda: terminal
        monkeypatch.setattr(sys, "stderr", err)
        monkeypatch.setattr("zveno.sim.plan._LONG", 0.0)
        monkeypatch.setattr("zveno.sim.plan._CHUNK", 1e-4)
        simulate(ring(), 1.0, 1e-4, laws=laws.SpringDamper(400.0, 80.0), every=100, **keywords)
        return "simulating" in err.getvalue()

    assert shown(True) and shown(True, progress=True)
    assert not shown(False) and not shown(True, progress=False)


def test_figures_have_units_names_and_limits():
    from matplotlib import pyplot as plt
    from zveno.plot import simulation as plots

    s = hard_landing(1e-3, every=1)
    figure = s.plot()
    assert [a.get_ylabel() for a in figure.axes] == [
        "displacement, mm", "rotation, deg", "stroke, mm", "force, N", "force, N", "moment, N m", "energy, J",
        "error, J",
    ]  # fmt: skip
    strokes = figure.axes[2]
    legend = [text.get_text() for text in strokes.get_legend().get_texts()]
    assert legend == [*s.hexapod.leg_names, "limits", "enters a stop", "leaves a stop"]
    np.testing.assert_allclose(strokes.get_lines()[2].get_ydata(), 1e3 * s.actuated_position[:, 2])
    np.testing.assert_allclose(figure.axes[0].get_lines()[0].get_ydata(), 1e3 * (s.r[:, 0] - 0.38))
    turns = [line.get_ydata() for line in figure.axes[1].get_lines()]
    np.testing.assert_allclose(np.transpose(turns), np.degrees(Rotation.from_matrix(s.R).as_rotvec()), atol=1e-9)
    np.testing.assert_allclose(figure.axes[5].get_lines()[1].get_ydata(), s.base_wrench[:, 4])
    assert [line.get_label() for line in figure.axes[6].get_lines()][:2] == ["kinetic", "potential"]
    np.testing.assert_allclose(figure.axes[7].get_lines()[0].get_ydata(), s.energy_error)
    assert str(s.energy_balance) in figure.axes[7].get_title()
    moving = plots.plot_energy(simulate(ring(), 0.1, 1e-3, base_motion=np.ones(9)))
    assert moving[1].texts[0].get_text() == "the base moves: no balance"
    crank = plots.plot_strokes(simulate(ring("RSU"), 0.1, 1e-3, u=PUSH))
    assert crank.get_ylabel() == "crank angle, deg"
    assert plots.plot_forces(simulate(ring("RSU"), 0.1, 1e-3)).get_ylabel() == "torque, N m"
    stopped = simulate(ring("RUS"), 1.0, 1e-3, u=[0.8, 0, 0, 0, 0, 0], on_error="stop")
    assert "ended by UnreachableError" in stopped.plot().get_suptitle()
    plt.close("all")


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_legs_have_the_lengths_of_their_bodies(kind):
    from matplotlib import pyplot as plt
    from zveno.plot.mechanism import draw_mechanism

    hexapod = ring(kind)
    r = hexapod.nominal[0] + [0.02, 0.03, -0.01]
    axes = draw_mechanism(hexapod, r, R0.as_matrix())
    lines = [np.array(line.get_data_3d()).T for line in axes.get_lines()]
    pieces = [line for line in lines if len(line) == 2]
    assert len(pieces) == 12
    for k, leg in enumerate(hexapod.legs):
        inner, outer = pieces[2 * k : 2 * k + 2]
        np.testing.assert_allclose(inner[0], leg.base)
        np.testing.assert_allclose(outer[1], r + R0.as_matrix() @ leg.ring)
        assert np.linalg.norm(inner[1] - inner[0]) == pytest.approx(leg.inner_length)
        if kind in HUNT:
            assert np.linalg.norm(outer[1] - outer[0]) == pytest.approx(leg.outer_length)
    assert {text.get_text() for text in axes.texts} == set(hexapod.leg_names)
    plt.close("all")


def test_a_workspace_is_drawn_in_millimetres_and_degrees():
    from matplotlib import pyplot as plt
    from zveno.kinematics.hexapods import Workspace
    from zveno.plot.workspace import plot_workspace

    condition = np.array([[1.0, 2.0, 3.0], [2.0, np.nan, 5.0]])
    status, within = np.isnan(condition).astype(np.int16), condition < 2.5
    x, tilt = np.array([-0.1, 0.1]), np.array([-0.5, 0.0, 0.5])
    margin = 2.5 - condition
    figure = plot_workspace(Workspace(("x", "tilt y"), x, tilt, condition, condition, within, status, margin))
    axes, bar = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x, mm", "tilt y, deg")
    assert bar.get_ylabel().startswith("condition number")
    np.testing.assert_array_equal(axes.collections[0].get_array().filled(np.nan), condition.T)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["out of reach", "limits of the legs"]
    plt.close("all")


# ---- cost

if sys.platform == "linux":  # the counter is preloaded

    def test_steps_allocate_nothing(tmp_path):
        run_counted(
            tmp_path,
            """
import numpy as np, zveno as zv
from allocations import allocations
from zveno import laws
from zveno.sim.laws import program
for kind in ("UPS", "RSU"):
    for semi in (False, True):
        h = zv.mechanisms.docking_ring(kind, gravity=(-1, 0, 0))
        servo = laws.Servo(30.0, 3.0, laws.Table(np.linspace(0, 1, 50), np.zeros(50)))
        law = servo + laws.LuGre(.2, .3, .01, 1e3) + laws.SlipClutch(9.0, laws.SpringDamper(9.0, 1.0)) + laws.Stops(4e3)
        run = zv._core.HexapodRun(
            h, zv._core.Schedule(semi_implicit=semi, start=0.0, dt=1e-3, steps=2000, every=3),
            r=h.nominal[0], q=np.array([1.0, 0, 0, 0]), u=np.zeros(6),
            laws=[program(law.of(h, k)) for k in range(6)], lower=h.lower, upper=h.upper,
            wrench=(np.array([0.0, 1.0]), np.ones(12)))
        run.advance(10)
        before = allocations()
        run.advance(1000)
        assert allocations() - before < 5, (kind, semi, allocations() - before)
        assert run.step == 1010
""",
        )
