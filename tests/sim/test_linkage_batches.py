"""Batches of linkages in SIMD lanes, and drives in the joints that close their loops."""

import numpy as np
import pytest
import zveno as zv
from engines import closed_mechanisms as known
from zveno.sim.linkage import LinkageSimulation

FIELDS = ("q", "qd", "qdd", "tau", "work_joints", "kinetic_energy", "energy_error", "base_wrench")


def states(linkage, count, seed=1):
    rng = np.random.default_rng(seed)
    q = linkage.close(rng.uniform(-0.6, 0.6, (4 * count, linkage.n)), on_error="nan")
    q = q[np.isfinite(q).all(axis=-1)][:count]
    return q, np.array([linkage.project_velocity(x, rng.uniform(-1, 1, linkage.n)) for x in q])


@pytest.mark.parametrize("name", ["four_bar", "rssr", "bennett", "delta"])
@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_a_run_in_lanes_has_the_bits_that_it_has_alone(name, method):
    linkage = getattr(known, name)()
    q, qd = states(linkage, 11)
    tau = np.random.default_rng(2).uniform(-0.1, 0.1, (len(q), linkage.n))
    options = {"method": method, "laws": zv.laws.SpringDamper(0.3, 0.05)}
    assert LinkageSimulation._in_lanes(linkage)
    batch = linkage.simulate(0.03, 1e-3, q=q, qd=qd, tau=tau, **options)
    for i in (0, 7, 10):
        alone = linkage.simulate(0.03, 1e-3, q=q[i], qd=qd[i], tau=tau[i], **options)
        for field in FIELDS:
            assert np.array_equal(getattr(batch, field)[i], getattr(alone, field)), field
    assert np.abs(linkage.residual(batch.q)).max() < 1e-13
    assert np.abs(linkage.constraint_velocity(batch.q, batch.qd)).max() < 1e-12


def test_baumgarte_runs_in_lanes_too():
    linkage = known.four_bar()
    q, qd = states(linkage, 9)
    batch = linkage.simulate(0.05, 1e-3, q=q, qd=qd, baumgarte=(20, 20))
    alone = linkage.simulate(0.05, 1e-3, q=q[4], qd=qd[4], baumgarte=(20, 20))
    assert np.array_equal(batch.q[4], alone.q)
    assert 1e-14 < np.abs(linkage.residual(batch.q)).max() < 1e-8  # no projection


@pytest.mark.filterwarnings("ignore::zveno.errors.SimulationWarning")
def test_a_run_in_lanes_that_fails_is_told_as_alone():
    linkage, rng = known.delta(), np.random.default_rng(11)
    q = linkage.close(rng.uniform(-1, 1, (24, linkage.n)), on_error="nan")
    q = q[np.isfinite(q).all(axis=-1)][:16]
    qd = np.array([linkage.project_velocity(x, rng.uniform(-3, 3, linkage.n)) for x in q])
    options = {"q": q, "qd": qd, "check_step": False}
    batch = linkage.simulate(0.2, 2e-3, on_error="nan", **options)  # the platform turns over: too fast for the step
    (failed,) = np.flatnonzero(batch.status).tolist()
    alone = linkage.simulate(0.2, 2e-3, on_error="stop", **options | {"q": q[failed], "qd": qd[failed]})
    assert str(alone.failure) == str(batch.failures[failed])
    assert "dt is too long" in str(alone.failure)
    assert np.array_equal(batch.q[failed, : len(alone.t)], alone.q)
    assert np.isnan(batch.q[failed, len(alone.t) :]).all()


# ---- drives in cut joints


def start():
    linkage = known.four_bar()
    q = linkage.close([0.8, 0.0, 1.5], hold=["crank_joint"])
    return linkage, q, linkage.velocities(q, {"crank_joint": 1.0})


def turned(linkage, run):
    """Angle of the cut joint along a run."""
    return np.unwrap(linkage.cut_joints(run.q, run.qd)["coupler-rocker"].angle)


def test_the_work_of_a_drive_is_its_moment_times_the_angle_of_the_cut_joint():
    linkage, q, qd = start()
    run = linkage.simulate(0.4, 1e-3, q=q, qd=qd, drive={"coupler-rocker": [0.0, 0.7]})
    angle = turned(linkage, run)
    assert np.allclose(run.work_external, 0.7 * (angle - angle[0]), atol=1e-10)
    assert run.energy_balance.ratio < 1e-9
    assert np.allclose(run.qdd, linkage.forward_dynamics(run.q, run.qd, run.tau, drive=[[0.0, 0.7]]).qdd, atol=1e-9)
    with pytest.raises(ValueError, match="drive="):
        run.reactions()
    assert run.reactions(drive=[[0.0, 0.7]]).loop_reaction[:, 0, 5] == pytest.approx(0.7)


@pytest.mark.parametrize("method", ["rk4", "gauss", "adaptive"])
def test_a_drive_may_be_a_function_or_follow_a_table(method):
    linkage, q, qd = start()
    times = np.linspace(0.0, 0.2, 3)
    table = np.stack([np.zeros(3), [0.0, 0.5, 0.2]], axis=-1)
    options = {"q": q, "qd": qd, "method": method}
    given = linkage.simulate(0.2, 1e-3, drive={"coupler-rocker": (times, table)}, **options)
    called = linkage.simulate(
        0.2, 1e-3, drive={"coupler-rocker": lambda t, q, qd: [0.0, np.interp(t, times, table[:, 1])]}, **options
    )
    assert np.allclose(given.q, called.q, atol=1e-12)
    angle, rate = turned(linkage, given), linkage.cut_joints(given.q, given.qd)["coupler-rocker"].angle_rate
    assert angle[-1] != pytest.approx(turned(linkage, linkage.simulate(0.2, 1e-3, **options))[-1], abs=1e-4)
    power = rate * np.interp(given.t, times, table[:, 1])
    work = np.concatenate([[0.0], np.cumsum(np.diff(given.t) * (power[1:] + power[:-1]) / 2)])
    assert np.allclose(given.work_external, work, atol=1e-6)


def test_a_slide_is_driven_along_its_axis_and_pushes_back():
    ram = zv.Chain(
        [
            zv.Link("boom", parent="base", axis=(0, 0, 1), mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.2, 0.2)),
            zv.Link("tube", parent="base", axis=(0, 0, 1), position=(0.4, -0.5, 0), mass=0.3, inertia=[0.01] * 3),
            zv.Link("rod", parent="boom", axis=(0, 0, 1), position=(0.6, 0, 0), mass=0.2, inertia=[0.01] * 3),
        ],
        gravity=(0, -9.81, 0),
    )
    slide = zv.Loop.prismatic(
        "tube", "rod", point_a=(0, 0, 0), point_b=(0, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 1, 0),
        reference_a=(0, 0, 1), reference_b=(0, 0, 1), name="ram",
    )  # fmt: skip
    linkage = zv.Linkage(ram, [slide])
    q = linkage.close([0.1, -0.3, -0.4])
    run = linkage.simulate(0.2, 1e-3, q=q, drive={"ram": [40.0, 0.0]})
    joint = linkage.cut_joints(run.q, run.qd)["ram"]
    assert np.allclose(run.work_external, 40.0 * (joint.slide - joint.slide[0]), atol=1e-9)
    assert run.energy_balance.ratio < 1e-9
    assert np.allclose(run.qdd, linkage.forward_dynamics(run.q, run.qd, run.tau, drive=[[40.0, 0.0]]).qdd, atol=1e-8)


def test_batches_of_drives_are_runs_of_each():
    linkage, q, qd = start()
    moments = np.array([[0.0, 0.2], [0.0, -0.4]])
    batch = linkage.simulate(0.05, 1e-3, q=q, qd=qd, drive={"coupler-rocker": moments})
    for row, moment in zip(batch.q, moments, strict=True):
        assert np.array_equal(row, linkage.simulate(0.05, 1e-3, q=q, qd=qd, drive={"coupler-rocker": moment}).q)


@pytest.mark.parametrize(
    ("drive", "text"),
    [
        ([0.0, 1.0], "expected a dict"),
        ({"elbow": [0.0, 1.0]}, "'coupler-rocker'"),
        ({"coupler-rocker": [1.0, 2.0, 3.0]}, r"expected \(\.\.\., 2\)|shape"),
        ({"coupler-rocker": lambda t, q, qd: [0.0, np.nan]}, "drive"),
        ({"coupler-rocker": lambda t, q, qd: 1.0}, "drive"),
    ],
)
def test_a_drive_that_is_none_is_refused_by_name(drive, text):
    linkage, q, qd = start()
    with pytest.raises(ValueError, match=text):
        linkage.simulate(0.01, 1e-3, q=q, qd=qd, drive=drive)
