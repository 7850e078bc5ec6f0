"""Rigs in time: bounces of the table, and boundaries of stability where the margins say they are."""

import math

import matplotlib
import numpy as np
import pytest
import zveno as zv

matplotlib.use("Agg")
rigs = zv.rigs

RIG = rigs.Rig(mass=100, stiffness=1e4, delay=8e-3, integrator="exact")
BOUNCES = [
    (None, 1.13363813),
    (rigs.Lead(8e-3), 1.0004),
    (rigs.Lead(8.2e-3), 0.9972),
    (rigs.Lead(10e-3), 0.9694),
    (rigs.Lead(12e-3), 0.9394),
    (rigs.VirtualDamper(40), 1.0613),
    (rigs.VirtualDamper(80), 0.9936),
    (rigs.VirtualDamper(100), 0.9614),
    (rigs.VirtualDamper(160), 0.8708),
    (rigs.Predictor(0.7e4), 1.0384),
    (rigs.Predictor(0.9e4), 1.0127),
    (rigs.Predictor(1.0e4), 1.0001),
    (rigs.Predictor(1.1e4), 0.9876),
    (rigs.Predictor(1.3e4), 0.9631),
]


@pytest.mark.parametrize(("means", "e"), BOUNCES, ids=lambda value: str(value)[:28])
def test_a_bounce_returns_what_the_table_says(means, e):
    dt = 20e-6  # a held force costs half a step: 8e-5 of the speed per 10 us, the table is of 10 us
    found = rigs.simulate(RIG, means, dt=dt).restitution
    extra = 0.5 * (dt - 10e-6) * math.pi * 10 / 2
    assert found == pytest.approx(e * (1 + extra) if means else e * (1 + extra + 8e-5), abs=1.5e-4)


@pytest.mark.parametrize("delay", [4e-3, 8e-3, 16e-3])
def test_the_passivity_controller_returns_no_more_than_was_taken(delay):
    rig = RIG.with_(delay=delay)
    bare, kept = rigs.simulate(rig, dt=20e-6), rigs.simulate(rig, rigs.Passivity(), dt=20e-6)
    assert bare.restitution == pytest.approx(rigs.restitution(100, 1e4, 0, delay), abs=3e-4)
    assert kept.restitution == pytest.approx(1.0, abs=3e-4)
    assert bare.alarm and bare.energy.min() < -1e-3
    assert kept.energy.min() > -1e-12 and kept.damper.max() > 0


@pytest.mark.parametrize("row", [(60, 1e3, 50), (100, 1e4, 100), (500, 1e4, 300), (11602, 1392, 1000)])
def test_simulated_bounces_are_those_of_the_exact_series(row):
    rig = rigs.Rig(*row, delay=0.7 * rigs.delay_margin(*row).delay)
    exact = rigs.restitution(*row, rig.delay)
    assert rigs.simulate(rig).restitution == pytest.approx(exact, abs=1e-3)


def boundary(rig, means=None, first=0.9, last=1.1, **given):
    """Delay at which growth of a held contact changes its sign, by the secant of two runs."""
    predicted = rig.margin(means).delay
    delays = predicted * np.array([first, last])
    rates = [rigs.simulate(rig.with_(delay=h), means, contact="held", **given).growth for h in delays]
    assert rates[0] < 0 < rates[1]
    return (delays[0] - rates[0] * (delays[1] - delays[0]) / (rates[1] - rates[0])) / predicted


CASES = [
    (rigs.Rig(100, 1e4, 100), None),
    (rigs.Rig(500, 1e4, 300, lag=4e-3), None),
    (rigs.Rig(500, 1e4, 300, robot=(200.0, 0.7)), None),
    (rigs.Rig(500, 1e4, 300, robot=(200.0, 0.7), lag=4e-3), None),
    (rigs.Rig(100, 1e4), rigs.Lead(10e-3)),
    (rigs.Rig(100, 1e4, 20), rigs.Lead(10e-3, filter=2e-3)),
    (rigs.Rig(100, 1e4), rigs.VirtualDamper(80)),
    (rigs.Rig(100, 1e4, 30, lag=2e-3), [rigs.VirtualDamper(60), rigs.Lead(4e-3)]),
    (rigs.Rig(100, 1e4, 40), rigs.Predictor(0.7e4)),
    (rigs.Rig(100, 1e4, 40, lag=1e-3), rigs.Predictor(0.5e4)),
]


@pytest.mark.parametrize(("rig", "means"), CASES)
def test_the_simulated_boundary_is_the_predicted_one(rig, means):
    cycle = 2 * math.pi / math.sqrt(rig.stiffness / rig.mass)
    step = min(cycle / 600, rig.margin(means).delay / 20)
    assert boundary(rig, means, dt=step, t_end=10 * cycle) == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("integrator", ["exact", "semi-implicit"])
def test_a_sampled_rig_turns_unstable_between_the_periods_that_the_table_says(integrator):
    rig = rigs.Rig(100, 1e4, 200, period=4e-3, integrator=integrator)
    limit = rigs.sampled_margin(100, 1e4, 200, 4e-3, integrator)
    rates = [
        rigs.simulate(rig.with_(delay=N * 4e-3), contact="held", t_end=8.0).growth
        for N in (math.floor(limit), math.ceil(limit))
    ]
    assert rates[0] < 0 < rates[1]
    assert math.floor(limit) + rates[0] / (rates[0] - rates[1]) == pytest.approx(limit, abs=0.03)


def test_many_axes_turn_unstable_at_their_margin():
    law = zv.laws.SpringDamper(400, 80)
    rig = rigs.Rig.of_ring(zv.mechanisms.docking_ring("UPS"), laws=law, contact=rigs.FaceContact(4e3))
    found = boundary(rig, dt=0.5e-3, t_end=4.0, v=np.array([1e-3, 0, 0, 0, 0, 0]))
    assert found == pytest.approx(1.0, abs=0.01)


def test_the_loop_around_the_true_step_function_turns_unstable_at_the_margin():
    law, ring = zv.laws.SpringDamper(400, 80), zv.mechanisms.docking_ring("UPS")
    rig = rigs.Rig.of_ring(ring, laws=law, contact=rigs.FaceContact(4e3), period=1e-3, integrator="exact")
    plant = rigs.RingPlant(ring, law, 1e-3)
    rates = []
    for N in (17, 20):
        late = rig.with_(delay=N * 1e-3)
        run = rigs.simulate(late, contact="held", v=[1e-3, 0, 0, 0, 0, 0], plant=plant, t_end=1.5)
        rates.append(run.growth)
        root = rigs.rightmost_root(*rig.matrices, delay=late.total_delay, points=6)
        assert run.growth == pytest.approx(root.real, abs=0.01)
    N_c = 17 + 3 * rates[0] / (rates[0] - rates[1])
    assert 1e-3 * N_c + rig.hold == pytest.approx(rig.margin().delay, rel=0.01)


def test_energy_of_a_passive_ring_is_never_returned():
    law = zv.laws.SpringDamper(400, 80)
    rig = rigs.Rig.of_ring(
        zv.mechanisms.docking_ring("UPS"), laws=law, contact=rigs.FaceContact(4e4), delay=6e-3, period=1e-3
    )
    v = np.array([0.05, 0.01, -0.01, 0.0, 0.02, -0.01])
    bare = rigs.simulate(rig, contact="held", v=v, t_end=1.0)
    kept = rigs.simulate(rig, rigs.Passivity(), contact="held", v=v, t_end=1.0)
    assert bare.growth > 0.5 > kept.growth
    assert kept.energy.min() > -1e-12 > bare.energy.min()


def test_a_pressed_body_bounces_again_and_a_late_one_higher_each_time():
    rig = rigs.Rig(100, 1e4, 50, delay=12e-3)
    run = rigs.simulate(rig, thrust=20.0, t_end=4.0, dt=2e-4)
    e = [contact.restitution for contact in run.contacts if not math.isnan(contact.restitution)]
    assert len(e) >= 3 and min(e) > 1
    np.testing.assert_allclose(e, rigs.restitution(100, 1e4, 50, 12e-3), atol=0.04)  # the push makes contacts longer
    calm = rigs.simulate(rig, rigs.VirtualDamper(200.0), thrust=20.0, t_end=4.0, dt=2e-4)
    assert max(c.restitution for c in calm.contacts if not math.isnan(c.restitution)) < 1


def test_noise_is_repeatable_and_digits_are_those_of_the_sensor():
    rig = rigs.Rig(100, 1e4, 100, delay=5e-3, period=1e-3, noise=0.5, quantum=0.25)
    one, two, other = (rigs.simulate(rig, seed=seed) for seed in (1, 1, 2))
    assert one.x.tobytes() == two.x.tobytes() != other.x.tobytes()
    np.testing.assert_array_equal(one.force / 0.25, np.round(one.force / 0.25))


def test_delays_between_steps_are_interpolated():
    rig = rigs.Rig(100, 1e4, 100, period=1e-3)
    rates = [rigs.simulate(rig.with_(delay=h), contact="held", t_end=4.0).growth for h in (4e-3, 4.5e-3, 5e-3)]
    assert rates[1] == pytest.approx(0.5 * (rates[0] + rates[2]), rel=5e-3)
    assert rates[0] < rates[1] < rates[2]


def test_a_prediction_with_a_wrong_delay_is_worse():
    rig = rigs.Rig(100, 1e4, delay=8e-3)
    e = [rigs.simulate(rig, rigs.Predictor(1e4, delay=h)).restitution for h in (4e-3, 8e-3)]
    assert e[1] == pytest.approx(1, abs=1e-3)
    assert e[0] == pytest.approx(rigs.restitution(100, 1e4, 0, 4e-3), abs=0.02)  # half of the delay is left


def test_figures_of_maps_and_runs_name_their_axes():
    rig = rigs.Rig(100, 1e4, 100, delay=8e-3)
    figure = rigs.chart(rig, over=("stiffness", "damping"), points=8).plot()
    assert figure.axes[0].get_ylabel() == "damping, N s/m"
    assert rigs.simulate(rig, dt=1e-3).plot().axes[0].get_ylabel() == "displacement, m"
