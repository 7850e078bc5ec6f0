"""Dockings side by side in lanes: the bits of each are those that it has alone, whatever runs beside it."""

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from zveno import docking, laws
from zveno.docking.simulate import COLUMNS, FACTORS, _options, _runner

RNG = np.random.default_rng(7)
PHASES = docking.Phases(ready=laws.SpringDamper(400, 80))


def drawn(count, gap=np.nan):
    """Conditions about twice as wide as the usual box: some touch hard, some are not captured."""
    turn = np.pi / 180
    scale = [0.03, 0.05, 0.05, *[4 * turn] * 3, 0.03, 0.03, *[0.2 * turn] * 3]
    rows = RNG.uniform(-1, 1, (count, 11)) * scale
    rows[:, 0] += 0.09
    return np.column_stack([rows, np.full(count, gap)])


def both_ways(scenario, rows, *, factors=None, threads=1, t_end=1.2, after=0.05, dt="auto"):
    options, _ = _options("test", scenario, t_end, after, dt, None)
    runner = _runner(scenario)
    assert runner.side_by_side() > 1
    return [runner.batch(rows, factors, options, threads, lanes) for lanes in (False, True)]


@pytest.mark.parametrize("kind", ["UPS", "SPU", "UCU", "RUS", "RSU"])
def test_lanes_give_the_bits_of_single_runs(kind):
    scenario = docking.demo("RSU" if kind in ("RSU", "RUS") else "UPS")
    scenario = scenario.replace(chaser=scenario.chaser.replace(ring=zv.mechanisms.docking_ring(kind)))
    factors = RNG.uniform(0.8, 1.25, (11, len(FACTORS)))
    alone, beside = both_ways(scenario, drawn(11), factors=factors)
    np.testing.assert_array_equal(beside, alone)
    assert len(np.unique(alone[:, COLUMNS.index("evaluations")])) > 3  # they end at different times


def test_lanes_with_everything_that_acts():
    s = docking.demo("UPS")
    ring = s.chaser.replace(ring_offset=0.03)
    both = s.replace(station=docking.Vehicle(s.station.body, ring=zv.mechanisms.docking_ring("RSU"), ring_offset=0.03))
    thrust = docking.Thrust(force=(300, 20, 0), moment=(0, 5, 3), at="contact", delay=0.05, duration=0.2)
    hold = docking.AttitudeHold(stiffness=2e3, damping=2e4, period=0.02)
    cases = [
        both,
        s.replace(thrust=thrust, attitude_hold=hold),
        s.replace(latches=docking.Latches(break_force=150.0)),
        s.replace(contact=docking.Contact(sticking=True)),
        s.replace(contact=docking.Contact(lankarani_nikravesh=0.8)),
        s.replace(chaser=ring, contact=docking.Contact(range=1e-3)),
    ]
    for k, case in enumerate(cases):
        alone, beside = both_ways(case, drawn(9), t_end=1.0)
        np.testing.assert_array_equal(beside, alone, err_msg=str(k))
        assert np.isfinite(alone[:, 0]).all()
    status = alone[:, 0]  # of the last: some leave the range of the model, their neighbours do not notice
    assert np.sum(status == docking.STATUS.index("contact_range")) > 0


def test_a_run_does_not_know_its_neighbours_their_order_or_the_threads():
    s = docking.demo("UPS")
    rows = drawn(19)
    table = both_ways(s, rows)[1]
    order = RNG.permutation(19)
    np.testing.assert_array_equal(both_ways(s, rows[order], threads=2)[1], table[order])
    np.testing.assert_array_equal(both_ways(s, rows[5:6])[1], table[5:6])


def test_phases_in_lanes():
    s = docking.demo("UPS", "aligned")
    rows = np.array(
        [docking.Conditions(v, roll=r, gap=0.01)._row() for v, r in ((0.05, 0.0), (0.06, 0.01), (0.04, -0.01))]
    )
    phases = docking.Phases(attenuation_time=0.3, move_time=0.4)
    alone, beside = both_ways(s.replace(phases=phases), rows, t_end=2.0, after=1.5)
    np.testing.assert_array_equal(beside, alone)
    assert (alone[:, 0] == 0).all()


def test_friction_with_a_state_of_its_own_in_lanes():
    s = docking.demo("UPS", both=True)
    sticky = laws.LuGre(8.0, 12.0, 2e-3, 2e4, 300.0)
    ready = [laws.SpringDamper(400, 80) + sticky] * 5 + [laws.SpringDamper(400, 80) + sticky + sticky]
    common = [laws.SpringDamper(0, 50) + sticky] * 2 + [laws.SpringDamper(0, 50)] * 4
    cases = [
        s.replace(phases=docking.Phases(ready=ready)),  # attenuation has no such friction
        s.replace(phases=docking.Phases(ready=ready, attenuation=sticky + laws.SpringDamper(700, 2500), common=common)),
    ]
    for k, case in enumerate(cases):
        alone, beside = both_ways(case, drawn(9), t_end=0.6, dt=2e-3)
        np.testing.assert_array_equal(beside, alone, err_msg=str(k))
        assert np.isfinite(alone[:, 0]).all()
    plain = both_ways(s, drawn(9), t_end=0.6, dt=2e-3)[1]
    assert not np.array_equal(plain, beside)


def test_legs_of_any_geometry_in_lanes():
    s = docking.demo("UPS")
    ring = s.chaser.ring
    sliding = [models.sliding_leg(leg) for leg in ring.legs]
    rows = drawn(3, gap=0.03)
    rows[:, 1:] *= 0.3
    plain = both_ways(s.replace(phases=PHASES), rows, t_end=0.1, dt=2e-3)[0]
    for legs in (sliding, [*sliding[:2], *ring.legs[2:]]):  # all of them, some
        mixed = zv.Hexapod(ring.platform, legs, nominal=ring.nominal)
        case = s.replace(chaser=s.chaser.replace(ring=mixed), phases=PHASES)
        alone, beside = both_ways(case, rows, t_end=0.1, dt=2e-3)
        np.testing.assert_array_equal(beside, alone)
        for name in ("compression", "shear", "leg", "stroke_min", "work_legs"):  # it is the same mechanism
            k = COLUMNS.index(name)
            np.testing.assert_allclose(alone[:, k], plain[:, k], rtol=1e-6, atol=1e-9, err_msg=name)
