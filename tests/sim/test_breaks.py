"""Steps end where forces and constraints change suddenly."""

import numpy as np
import pytest
import zveno as zv
from zveno.simulation import Event

B = 0.2345678


@pytest.fixture(scope="module")
def slide():
    return zv.Chain([zv.Link("mass", joint="prismatic", axis=(1, 0, 0), mass=2.0)], gravity=(0, 0, 0))


def pushed(t, q, qd):
    return [3.0] if t < B else [-5.0]


def moved(t):
    """Way and speed of the mass under `pushed`."""
    early, late = np.minimum(t, B), np.maximum(t - B, 0.0)
    way = 0.75 * early**2 + 1.5 * B * late - 1.25 * late**2
    return way, 1.5 * early - 2.5 * late


@pytest.mark.parametrize("method", ["rk4", "gauss", "midpoint", "radau", "adaptive", "adaptive-stiff"])
@pytest.mark.parametrize("dt", [0.05, B / 4])
def test_a_force_that_jumps_moves_a_mass_as_it_should(slide, method, dt):
    run = slide.simulate(8 * dt, dt, tau=pushed, breaks=[B], method=method)
    way, speed = moved(run.t)
    np.testing.assert_allclose(run.q[:, 0], way, atol=1e-12)
    np.testing.assert_allclose(run.qd[:, 0], speed, atol=1e-12)
    assert np.abs(run.energy_error).max() < 1e-12
    if method == "rk4" or (method in ("gauss", "midpoint") and dt == 0.05):  # that is not so by itself
        mixed = slide.simulate(8 * dt, dt, tau=pushed, method=method)
        assert np.abs(mixed.qd[-1] - run.qd[-1]).max() > 1e-3


def test_functions_say_themselves_where_they_break(slide):
    def told(t, q, qd):
        return pushed(t, q, qd)

    told.breaks = (B, 17.0, -1.0)
    named = slide.simulate(0.4, 0.05, tau=told)
    assert np.array_equal(named.q, slide.simulate(0.4, 0.05, tau=pushed, breaks=[B]).q)
    plain = slide.simulate(0.4, 0.05, tau=pushed)
    assert np.array_equal(plain.q, slide.simulate(0.4, 0.05, tau=pushed, breaks=[17.0, -1.0, 0.0]).q)


def test_events_are_found_in_both_parts_of_a_step(slide):
    run = slide.simulate(1.0, 0.1, tau=pushed, breaks=[B], events={"turn": lambda t, q, qd: qd[0]})
    assert [e.name for e in run.events if e.time > 0.1] == ["turn"]
    assert abs(run.events[-1].time - 1.6 * B) < 1e-6
    near = slide.simulate(1.0, 0.1, tau=pushed, breaks=[B], events=[Event(lambda t, q, qd: t - 0.23, terminal=True)])
    assert abs(near.t[-1] - 0.23) < 1e-9
    np.testing.assert_allclose(near.q[-1], moved(0.23)[0], atol=1e-12)


def test_a_batch_is_broken_as_each_of_its_runs(slide):
    starts = np.array([[0.0], [0.3], [-1.0]])
    tau = np.linspace(-1, 1, 8)[:, None]
    batch = slide.simulate(0.4, 0.05, q=starts, tau=tau, breaks=[B])
    for k, q in enumerate(starts):
        assert np.array_equal(batch.q[k], slide.simulate(0.4, 0.05, q=q, tau=tau, breaks=[B]).q)


def crank_of(accelerations):
    """A four-bar whose crank is turned with an acceleration that jumps at B."""
    first, then = accelerations

    def angle(t):
        early, late = min(t, B), max(t - B, 0.0)
        rate = first * early
        return (
            0.8 + 0.5 * first * early**2 + rate * late + 0.5 * then * late**2,
            rate + then * late,
            (first if t < B else then),
        )

    angle.breaks = [B]
    free = zv.mechanisms.four_bar()
    drive = zv.constraints.coupling({"crank_joint": 1.0}, offset=angle, name="drive")
    return zv.Linkage(free.chain, free.constraints, [drive], length=1.0), angle


def test_a_constraint_that_changes_suddenly_costs_no_accuracy():
    linkage, angle = crank_of((4.0, -9.0))
    q = linkage.close([0.8, 0.0, 1.5])
    run = linkage.simulate(0.5, 0.02, q=q)
    np.testing.assert_allclose(run.q[:, 0], [angle(t)[0] for t in run.t], atol=1e-12)
    error = np.abs(run.energy_error).max()
    angle.breaks = []
    mixed = linkage.simulate(0.5, 0.02, q=q)
    assert error < 1e-5 and np.abs(mixed.energy_error).max() > 20 * error


@pytest.mark.parametrize("breaks", ["soon", [[0.1]], [np.nan], 0.1, [0.1, None]])
def test_breaks_that_are_no_times_are_refused(slide, breaks):
    with pytest.raises((TypeError, ValueError), match="breaks"):
        slide.simulate(0.4, 0.05, tau=pushed, breaks=breaks)


BEFORE, AFTER = np.array([2.0, 0, 0, 0, 0.3, 0]), np.array([-3.0, 1, 0, 0, 0, 0.2])


def switched(t, r, R, u):
    return BEFORE if t < B else AFTER


@pytest.mark.parametrize("dt", [0.05, B / 4])
def test_a_wrench_that_jumps_moves_a_ring_as_two_runs_would(dt):
    ring = zv.mechanisms.docking_ring("UPS")
    law = zv.laws.SpringDamper(400.0, 80.0)
    early = ring.simulate(B, B / 200, laws=law, wrench=BEFORE)
    late = ring.simulate(
        8 * dt, (8 * dt - B) / 200, laws=law, wrench=AFTER, t_start=B, r=early.r[-1], R=early.R[-1], u=early.u[-1]
    )
    run = ring.simulate(8 * dt, dt, laws=law, wrench=switched, breaks=[B])
    exact = np.r_[late.r[-1], late.u[-1]]
    error = np.abs(np.r_[run.r[-1], run.u[-1]] - exact).max()
    mixed = ring.simulate(8 * dt, dt, laws=law, wrench=switched)
    assert np.array_equal(run.t, mixed.t)
    assert error < 1e-5 and np.abs(np.r_[mixed.r[-1], mixed.u[-1]] - exact).max() > 20 * error
    slow = ring.simulate(8 * dt, dt / 100, laws=law, wrench=switched, breaks=[B], method="semi-implicit", every=100)
    np.testing.assert_allclose(slow.u[-1], late.u[-1], atol=3e-3)


def test_functions_of_rings_say_themselves_where_they_break():
    ring = zv.mechanisms.docking_ring("UPS")

    def wrench(t, r, R, u):
        return switched(t, r, R, u)

    def forces(t, p, v):
        return -20.0 * v if t < B else -60.0 * v

    plain = ring.simulate(0.4, 0.05, wrench=switched, laws=forces)
    told = ring.simulate(0.4, 0.05, wrench=switched, laws=forces, breaks=[B])
    assert not np.array_equal(plain.u, told.u)
    wrench.breaks = (B, 7.0)
    assert np.array_equal(told.u, ring.simulate(0.4, 0.05, wrench=wrench, laws=forces).u)
    forces.breaks = [B]
    assert np.array_equal(told.u, ring.simulate(0.4, 0.05, wrench=switched, laws=forces).u)
    starts = ring.nominal[0] + np.array([[0.0, 0, 0], [0.01, 0, 0]])
    batch = ring.simulate(0.4, 0.05, r=starts, wrench=BEFORE, breaks=[B])
    for k, r in enumerate(starts):
        assert np.array_equal(batch.u[k], ring.simulate(0.4, 0.05, r=r, wrench=BEFORE, breaks=[B]).u)
    with pytest.raises(ValueError, match="breaks is 'soon', expected times"):
        ring.simulate(0.4, 0.05, breaks="soon")
