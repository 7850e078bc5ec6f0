"""Batches of chains in SIMD lanes: the bits of single runs, another engine, failures, events, Ctrl-C."""

import _thread
import threading
import time

import mujoco
import numpy as np
import pytest
import zveno as zv
from engines.mujoco import to_mujoco
from engines.random_mechanisms import random_chain
from zveno import laws
from zveno.sim import batch as batches

METHODS = ("rk4", "semi-implicit")


@pytest.fixture(name="lanes")
def counted(monkeypatch):
    """Runs that were made in lanes."""
    made, own = [], zv._core.run_steps

    def run_steps(*args, **options):
        made.extend(range(options["begin"], options["end"]))
        return own(*args, **options)

    monkeypatch.setattr(batches._core, "run_steps", run_steps)
    return made


def same(batch, k, single):
    for field in single.fields:
        np.testing.assert_array_equal(getattr(batch[k], field.name), getattr(single, field.name), field.name)
    assert batch[k].events == single.events
    assert batch.energy_balance.exchanged[k] == single.energy_balance.exchanged
    assert batch.energy_balance.error[k] == single.energy_balance.error


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_every_run_has_the_bits_that_it_has_alone(lanes, method, seed):
    rng = np.random.default_rng(seed)
    n, runs, steps = int(rng.integers(1, 8)), int(rng.integers(2, 20)), 21
    links = [
        zv.Link.from_dict(link.to_dict() | {"lower": -0.4, "upper": 0.6}) if link.joint != "fixed" else link
        for link in random_chain(rng, n).links
    ]
    chain = zv.Chain(links, name="random", gravity=(1, -2, -9))
    n = chain.n
    q, qd = 0.5 * rng.normal(size=(2, runs, n))
    spring = laws.SpringDamper(3.0, 0.2, 0.1, 0.3)
    some = [spring if j % 2 else None for j in range(n)]
    efforts = [None, (n,), (steps, n), (runs, n), (runs, steps, n)]
    for k, shape in enumerate(efforts):
        tau = None if shape is None else rng.normal(size=shape)
        law = (None, spring, some)[k % 3]
        options = {"laws": law, "method": method, "every": 4}
        batch = chain.simulate(steps * 1e-3, 1e-3, q=q, qd=qd, tau=tau, threads=1 + k % 2, **options)
        for i in range(runs):
            own = tau[i] if shape in ((runs, n), (runs, steps, n)) else tau
            same(batch, i, chain.simulate(steps * 1e-3, 1e-3, q=q[i], qd=qd[i], tau=own, **options))
    assert len(lanes) == runs * len(efforts)


@pytest.mark.parametrize("law", [laws.DryFriction(0.5, 0.1), laws.SpringDamper(1.0) + laws.SpringDamper(2.0)])
def test_other_laws_are_made_one_by_one(lanes, law):
    arm = zv.robots.two_link()
    batch = arm.simulate(0.1, 1e-2, q=[[0.5, 0.0], [0.1, 0.2]], laws=law, threads=1)
    assert not lanes
    same(batch, 1, arm.simulate(0.1, 1e-2, q=[0.1, 0.2], laws=law))


def test_runs_move_as_in_mujoco(lanes):
    rng = np.random.default_rng(3)
    chain = random_chain(rng, 6, gravity=(0, 0, -9.81), friction=True)
    q, qd = 0.3 * rng.normal(size=(2, 5, chain.n))
    batch = chain.simulate(0.1, 1e-3, q=q, qd=qd, every=100, threads=1)
    model = to_mujoco(chain)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-3
    order = [model.joint(name).dofadr[0] for name in chain.joint_names]
    for k in range(5):
        data = mujoco.MjData(model)
        data.qpos[order], data.qvel[order] = q[k], qd[k]
        for _ in range(100):
            mujoco.mj_step(model, data)
        np.testing.assert_allclose(batch.q[k, -1], data.qpos[order], atol=1e-9)
        np.testing.assert_allclose(batch.qd[k, -1], data.qvel[order], atol=1e-7)
    assert len(lanes) == 5


def test_a_run_that_fails_leaves_the_others_alone(lanes):
    arm = zv.robots.two_link()
    qd = np.zeros((9, 2))
    qd[4] = 1e160
    with pytest.raises(FloatingPointError) as caught:
        arm.simulate(0.1, 1e-2, qd=qd, threads=1)
    assert caught.value.row == 4
    runs = arm.simulate(0.1, 1e-2, qd=qd, on_error="nan", threads=1)
    assert runs.status.astype(bool).tolist() == [k == 4 for k in range(9)]
    assert isinstance(runs.failures[4], FloatingPointError)
    assert np.isnan(runs.q[4]).all()
    same(runs, 5, arm.simulate(0.1, 1e-2, qd=qd[5]))
    assert len(lanes) == 18


def test_a_joint_without_mass_is_named_in_its_run():
    links = [
        zv.Link("a", mass=1.0, com=(1, 0, 0)),
        zv.Link("b", parent="a", joint="prismatic", axis=(1, 0, 0)),
    ]
    with pytest.warns(zv.errors.ModelWarning, match="moves no mass"):
        light = zv.Chain(links, name="light")
    with pytest.raises(zv.errors.SingularityError, match="joint 'b_joint' of model 'light' moves no mass") as caught:
        light.simulate(0.1, 1e-2, q=np.zeros((3, 2)), threads=1)
    assert caught.value.row == 0


def test_steps_that_are_too_long_are_refused_and_doubted():
    arm = zv.robots.two_link()
    q = np.zeros((3, 2))
    with pytest.raises(zv.errors.StepError, match=r"for run \(0,\)"):
        arm.simulate(1.0, 0.1, q=q, laws=laws.SpringDamper(1e6), threads=1)
    with pytest.warns(zv.errors.SimulationWarning, match=r"3 of 3 runs are not to be trusted"):
        arm.simulate(2.0, 0.02, q=q, qd=np.full((3, 2), 3.0), method="semi-implicit", threads=1)


def test_leading_dimensions():
    arm = zv.robots.two_link()
    q = np.random.default_rng(0).normal(size=(2, 3, 2))
    runs = arm.simulate(0.1, 1e-2, q=q, qd=[0.1, 0.2], threads=0, progress=False)
    assert runs.q.shape == (2, 3, 11, 2)
    same(runs[1], 2, arm.simulate(0.1, 1e-2, q=q[1, 2], qd=[0.1, 0.2]))


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_runs_in_lanes(threads):
    timer = threading.Timer(0.4, _thread.interrupt_main)
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        zv.robots.two_link().simulate(1e5, 1e-4, q=np.zeros((40, 2)), every=10**8, threads=threads)
    timer.join()
    assert time.perf_counter() - begin < 10
