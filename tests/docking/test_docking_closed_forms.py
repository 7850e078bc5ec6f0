"""Dockings of rigid vehicles whose outcome is known in closed form; invariants."""

import math

import numpy as np
import pytest
import zveno as zv
from scipy.integrate import solve_ivp
from zveno import docking

BODY_A = zv.Body(12e3, (22e3, 70e3, 70e3), com=(-3.5, 0, 0))
BODY_B = zv.Body(350e3, (5e7, 1e8, 1e8), com=(-15, 0, 0))
RIGID = docking.Scenario(docking.Vehicle(BODY_A), docking.Vehicle(BODY_B))
OFF = docking.Latches(enabled=False)
NO_CONTACT = docking.Contact(enabled=False)


def rigid(**changes):
    return RIGID.replace(**changes)


@pytest.mark.parametrize(
    ("speed", "e"), [(0.02, 0.903524866), (0.05, 0.788539126), (0.08, 0.698256682), (0.10, 0.647967425)]
)
def test_restitution_of_an_impact_is_that_of_the_closed_form(speed, e):
    assert docking.Contact().restitution(speed) == pytest.approx(e, abs=1e-9)
    s = rigid(latches=OFF, conditions=docking.Conditions(speed, gap=0.002))
    d = docking.simulate(s, 0.002 / speed + 0.3, dt=2e-4)
    v = [x["velocity"][0] for x in (d.state_a, d.state_b)]
    assert (v[1] - v[0]) / speed == pytest.approx(e, rel=1e-7)


def test_restitution_does_not_depend_on_the_exponent():
    contact = docking.Contact(exponent=1.5, face_stiffness=4e7)
    s = rigid(latches=OFF, contact=contact, conditions=docking.Conditions(0.08, gap=0.002))
    d = docking.simulate(s, 0.5, dt=2e-4)
    assert (d.state_b["velocity"][0] - d.state_a["velocity"][0]) / 0.08 == pytest.approx(0.698256682, rel=1e-6)


@pytest.mark.parametrize(("e", "speed"), [(0.9, 0.05), (0.9, 0.1), (0.6, 0.08)])
def test_lankarani_and_nikravesh_rebound_alike_at_any_speed(e, speed):
    contact = docking.Contact(lankarani_nikravesh=e)
    a = 0.75 * (1 - e * e)
    r = contact.restitution(speed)
    assert a * (1 + r) == pytest.approx(math.log((1 + a) / (1 - a * r)), rel=1e-12) and r > e
    s = rigid(latches=OFF, contact=contact, conditions=docking.Conditions(speed, gap=0.002))
    d = docking.simulate(s, 0.002 / speed + 0.3, dt=1e-4)
    assert (d.state_b["velocity"][0] - d.state_a["velocity"][0]) / speed == pytest.approx(r, rel=2e-6)


def test_lankarani_and_nikravesh_need_their_past():
    ring = docking.Interface.idss_like()
    with pytest.raises(ValueError, match="first touch"):
        docking.contact_wrench(ring, ring, (0, 0, 0), contact=docking.Contact(lankarani_nikravesh=0.9))
    with pytest.raises(ValueError, match="below 1"):
        docking.Contact(lankarani_nikravesh=1.0)


def test_operations_of_a_node_on_a_face_are_those_counted_by_hand():
    # place 4 mul 1 add, window 3 mul 4 add, elastic force 8 mul 3 add, damping 4 mul 1 add, the rest vectors
    face = docking.contact_operations()["face"]
    assert face == {"mul": 43, "add": 23, "div": 2, "sqrt": 2, "trig": 0}
    more = docking.contact_operations()
    assert all(more[kind]["trig"] == 1 and more[kind]["mul"] > face["mul"] for kind in ("edge", "side"))


def test_head_on_impact_of_rigid_vehicles():
    s = rigid(latches=OFF, conditions=docking.Conditions(0.08, gap=0.002))
    d = docking.simulate(s, 0.4, dt=2e-4)
    assert d.state_a["velocity"][0] == pytest.approx(-0.05135687047, rel=1e-8)
    assert d.state_b["velocity"][0] == pytest.approx(0.00450366413, rel=1e-8)
    # the peak by integration of the penetration alone
    k, m, rate = 4e5 * 2 * math.pi * 0.585, 12e3 * 350e3 / 362e3, 8.0

    def ramp(x, blend=0.2e-3):
        c = min(max(x / blend, 0.0), 1.0)
        return blend * c**3 * (1 - c / 2) + max(x - blend, 0.0)

    def motion(t, y):
        return [y[1], -k * ramp(y[0]) * max(0.0, 1 + rate * y[1]) / m]

    path = solve_ivp(motion, (0, 0.15), [0.0, 0.08], rtol=1e-11, atol=1e-13, dense_output=True).sol
    t = np.linspace(0.08, 0.1, 20001)
    force = [k * ramp(x) * max(0.0, 1 + rate * v) for x, v in path(t).T]
    assert d.peak.compression == pytest.approx(max(force), rel=1e-8)
    assert d.momentum_error < 1e-10


def test_off_centre_impact_tends_to_the_impulse_of_rigid_bodies():
    # one node of the face at y; the impulse of rigid bodies with the restitution of the closed form
    shape = docking.Interface(face_nodes=1)
    r = shape.face_radius
    n = np.array([1.0, 0, 0])
    inverse = 0.0
    for body, arm in ((BODY_A, (3.5, r, 0)), (BODY_B, (15, r, 0))):
        turn = np.cross(arm, n)
        inverse += 1 / body.mass + turn @ np.linalg.solve(body.inertia, turn)
    impulse = (1 + docking.Contact().restitution(0.08)) * 0.08 / inverse
    assert impulse == pytest.approx(1491.615259, rel=1e-9)
    want = {4e5: 1492.143660, 4e6: 1491.782859, 4e7: 1491.668591}
    for k, value in want.items():
        contact = docking.Contact(face_stiffness=k, edge_stiffness=0, side_stiffness=0, friction=0)
        s = rigid(
            chaser=docking.Vehicle(BODY_A, interface=shape),
            station=docking.Vehicle(BODY_B, interface=shape),
            latches=OFF,
            contact=contact.replace(range=0.1),
            conditions=docking.Conditions(0.08, gap=0.002),
        )
        d = docking.simulate(s, {4e5: 0.6, 4e6: 0.3, 4e7: 0.15}[k], dt={4e5: 2e-4, 4e6: 1e-4, 4e7: 2e-5}[k])
        assert d.impulse[0] == pytest.approx(value, rel=2e-7)


def test_two_masses_on_latches_swing_as_an_oscillator():
    s = rigid(contact=NO_CONTACT, conditions=docking.Conditions(0.08, gap=0.0))
    for t, gap in ((0.1, -0.00734936012326), (0.5, -0.000340473197121), (2.0, 0.00101597719545)):
        d = docking.simulate(s, t, dt=1e-3)
        assert d.misalignment[0] == pytest.approx(gap, abs=1e-11)
    d = docking.simulate(s, 0.5, dt=1e-3)
    assert d.peak.force == pytest.approx(5520.49127751, rel=3e-9)
    assert d.peak_time.force == pytest.approx(0.23733526, abs=1e-6)
    assert d.captured and d.t_capture == 0


def test_a_locked_pair_turns_as_one_body():
    latches = docking.Latches(stiffness=1e7, damping=1e6)
    conditions = docking.Conditions.from_degrees(0.08, lateral=(0.02, -0.01), rate=(0.1, -0.1, 0.15), gap=0.0)
    s = rigid(contact=NO_CONTACT, latches=latches, conditions=conditions, phases=docking.Phases(sequence=("ready",)))
    d = docking.simulate(s, 14.0, dt=1e-4, record=1.0)
    np.testing.assert_allclose(d.locked.velocity, (0.0026519337, 0.0573051598, 0.0156435872), rtol=1e-8)
    np.testing.assert_allclose(d.locked.omega, (0.0017436839, -0.0016776009, 0.0026604749), rtol=1e-6)
    for state in (d.state_a, d.state_b):
        q = state["quaternion"]
        turn = zv.orientation.from_quaternion(q / np.linalg.norm(q))
        np.testing.assert_allclose(turn @ state["omega"], d.locked.omega, atol=2e-9)
    assert d.energy_start == pytest.approx(1270.1323379, rel=1e-10)
    assert d.energy_end == pytest.approx(1230.5223118, rel=1e-9)
    assert d.work.latch == pytest.approx(-39.6100262, rel=1e-7)
    assert abs(d.energy_error) < 4e-6


def test_without_contact_the_vehicles_are_two_free_bodies():
    s = docking.demo("UPS", "nominal")
    s = s.replace(conditions=s.conditions.replace(gap=0.5))
    d = docking.simulate(s, 2.0, dt=4e-3, record=0.5)
    assert not d.captured and d.status == "not_captured" and math.isnan(d.t_contact)
    np.testing.assert_allclose(d.state_a["velocity"], (0.08, 0, 0), atol=1e-14)
    np.testing.assert_allclose(d.state_a["position"], (0.16, 0, 0), atol=1e-13)
    # a free body turns at a constant rate about an axis of symmetry; here its angular momentum stands still
    start, end = (d.history.momentum[k] for k in (0, -1))
    np.testing.assert_allclose(start, end, rtol=1e-13, atol=1e-9)
    assert abs(d.energy_error) < 1e-9
    assert d.peak.force == 0


def test_momentum_is_constant_to_rounding_for_any_step():
    for kind, dt in (("UPS", 4e-3), ("RSU", 2e-3), ("SPU", 3e-3)):
        d = docking.simulate(docking.demo(kind, "nominal"), 2.5, dt=dt, record=1.0)
        assert d.momentum_error < 1e-9 and d.angular_momentum_error < 3e-8


# two bodies pressed together by thrusters, pushed sideways by `ratio` of the limit of friction
def pressed(ratio, duration=math.inf, **contact):
    light = zv.Body(1000.0, (800.0, 800.0, 800.0))
    vehicle = docking.Vehicle(light)
    press, friction = 400.0, 0.10
    side = ratio * friction * press
    thrusts = [docking.Thrust((press, 0, 0), at=0.0, vehicle=k) for k in "ab"]
    thrusts += [
        docking.Thrust((0, sign * side, 0), at=2.0, duration=duration, vehicle=k) for k, sign in (("a", 1), ("b", -1))
    ]
    return docking.Scenario(
        vehicle,
        vehicle,
        docking.Conditions(1e-3, gap=1e-4),
        contact=docking.Contact(friction=friction, damping=1000.0, edge_stiffness=0, side_stiffness=0, **contact),
        latches=OFF,
        thrust=thrusts,
    )


def test_smooth_friction_creeps_at_its_closed_form():
    d = docking.simulate(pressed(0.5), 6.0, dt=1e-3)
    speed = 5e-3 * 0.5 / math.sqrt(1 - 0.25)
    assert abs(d.history.relative_twist[-1, 1]) == pytest.approx(speed, rel=5e-4)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_sticking_friction_holds(exponent):
    s = pressed(0.5, sticking=True, exponent=exponent, face_stiffness=4e5 if exponent == 1.0 else 4e7)
    d = docking.simulate(s, 6.0, dt=1e-3)
    h = d.history
    way = h.misalignment[:, 1] - h.misalignment[h.t.searchsorted(1.99), 1]
    if exponent == 1.0:  # load over stiffness of the bristles
        assert abs(way[-1]) == pytest.approx(0.5 * 40 / (2 / 3 * 4e5 * 2 * math.pi * 0.585), rel=1e-4)
    last = h.t > 5.0
    assert np.ptp(way[last]) < 1e-9
    assert np.abs(h.relative_twist[last, 1]).max() < 1e-9


def test_sticking_friction_slides_under_more_and_stays():
    d = docking.simulate(pressed(1.6, 0.3, sticking=True), 3.5, dt=1e-3)
    # a mass on a spring with a slider, by small steps
    m, limit, k = 500.0, 40.0, 2 / 3 * 4e5 * 2 * math.pi * 0.585
    c, dt = 1.4 * math.sqrt(k * m), 1e-5
    x = v = z = 0.0
    for n in range(150_000):
        push = 64.0 if n * dt < 0.3 else 0.0
        v += dt / m * (push - min(max(k * z + c * v, -limit), limit))
        x += dt * v
        z = min(max(z + dt * v, -limit / k), limit / k)
    h = d.history
    moved = abs(h.misalignment[-1, 1] - h.misalignment[h.t.searchsorted(1.99), 1])
    assert moved == pytest.approx(x, rel=2e-3)
    assert np.abs(h.relative_twist[h.t > 3.3, 1]).max() < 1e-8
    assert d.momentum_error < 1e-9


def test_sticking_friction_docks_as_smooth_friction_does_nearly():
    s = docking.demo("UPS", "nominal")
    stuck = docking.simulate(s.replace(contact=docking.Contact(sticking=True)), dt=2e-3, after=0.5)
    smooth = docking.simulate(s, dt=2e-3, after=0.5)
    assert stuck.captured and stuck.t_contact == pytest.approx(smooth.t_contact, abs=1e-6)
    assert stuck.t_capture == pytest.approx(smooth.t_capture, rel=0.1)
    assert stuck.momentum_error < 1e-9
