"""Many simulations at once: the bits of single runs, leading dimensions, failures, threads, memory, Ctrl-C."""

import _thread
import io
import pickle
import re
import sys
import threading
import time
import types

import numpy as np
import pytest
import zveno as zv
from scipy.spatial.transform import Rotation
from zveno import laws
from zveno.sim import plan
from zveno.sim.batch import SimulationBatch

SOFT = laws.SpringDamper(400.0, 80.0)
FIELDS = [field[0] for field in zv._core.record_fields("hexapod")]


def ring(kind="UPS", **options):
    return zv.mechanisms.docking_ring(kind, **options)


def pushes(*shape, seed=1, size=0.05):
    return np.random.default_rng(seed).uniform(-size, size, (*shape, 6))


def same(one, other):
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one.values(), other.values(), strict=True))


@pytest.mark.parametrize("threads", [None, 1, 3, 0])
@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_every_run_has_the_bits_of_a_single_one(method, threads):
    hexapod, u = ring("RSU"), pushes(3, 2)
    r = hexapod.nominal[0] + np.random.default_rng(2).uniform(-0.01, 0.01, (2, 3))
    R = Rotation.from_rotvec(np.random.default_rng(3).uniform(-0.05, 0.05, (2, 3)))
    law = laws.SpringDamper(15.0, 3.0) + laws.Stops(4e3, 80.0) + laws.LuGre(0.2, 0.3, 0.01, 1e3, 5.0)
    wrench = ([0.0, 0.05], np.random.default_rng(4).normal(size=(3, 1, 2, 6)))
    common = {"laws": law, "method": method, "every": 7}
    batch = hexapod.simulate(0.1, 5e-4, r=r, R=R, u=u, wrench=wrench, threads=threads, **common)
    assert isinstance(batch, SimulationBatch) and batch.shape == (3, 2) and len(batch) == 3
    assert batch.t.shape == (30,) and batch.R.shape == (3, 2, 30, 3, 3) and batch.energy_ratio.shape == (3, 2)
    for i, j in np.ndindex(3, 2):
        load = (wrench[0], wrench[1][i, 0])
        one = hexapod.simulate(0.1, 5e-4, r=r[j], R=R[j], u=u[i, j], wrench=load, **common)
        assert same(batch[i, j].to_dict(), one.to_dict()) and batch[i, j].events == one.events
        assert repr(batch[i, j]) == repr(one) and type(batch[i, j]) is zv.HexapodSimulation
        assert (batch.tau[i, j] == one.tau).all() and batch.energy_ratio[i, j] == one.energy_balance.ratio
    assert not batch.status.any() and (batch.states == 30).all() and not batch.failures


def test_chains_have_batches_too():
    arm = zv.robots.two_link()
    q, qd = np.random.default_rng(1).normal(size=(4, 1, 2)), np.random.default_rng(2).normal(size=(3, 2))
    tip, pull = arm.link_names[-1], np.random.default_rng(3).normal(size=(4, 1, 6))
    tau = np.random.default_rng(4).normal(size=(3, 50, 2))
    law = laws.SpringDamper(20.0, 2.0)
    batch = arm.simulate(0.1, 2e-3, q=q, qd=qd, tau=tau, external={tip: pull}, laws=law, threads=2)
    assert batch.shape == (4, 3) and batch.q.shape == (4, 3, 51, 2) and batch.chain is arm
    for i, j in np.ndindex(4, 3):
        one = arm.simulate(0.1, 2e-3, q=q[i, 0], qd=qd[j], tau=tau[j], external={tip: pull[i, 0]}, laws=law)
        assert same(batch[i, j].to_dict(), one.to_dict())


def test_parts_of_a_batch_are_batches():
    batch = ring().simulate(0.05, 1e-3, u=pushes(3, 2), laws=SOFT)
    for part, index in ((batch[1], 1), (batch[:, 1], (slice(None), 1)), (batch[..., :1], (..., slice(1)))):
        assert isinstance(part, SimulationBatch) and part.shape == np.empty((3, 2))[index].shape
        assert (part.r == batch.r[index]).all() and (part.t == batch.t).all() and np.shares_memory(part.u, batch.u)
    assert same(batch[1][0].to_dict(), batch[1, 0].to_dict())
    assert [one.r[-1].tolist() for one in batch[:, 0]] == batch.r[:, 0, -1].tolist()  # it can be run through
    with pytest.raises(IndexError):
        batch[3]
    with pytest.raises(AttributeError, match="cannot assign to 'r'"):
        batch.r = 0
    with pytest.raises(AttributeError, match="cannot delete 'r'"):
        del batch.r


def test_a_batch_prints_what_it_is():
    batch = ring("RUS").simulate(0.5, 1e-3, u=[[0.8, 0, 0, 0, 0, 0], [0.01, 0, 0, 0, 0, 0]], on_error="nan", every=10)
    assert re.fullmatch(
        r"SimulationBatch\('docking_ring RUS[^']*', 2 runs \(2,\), 51 states from t = 0 to 0.5 s, rk4, "
        r"dt = 0.001 s, worst energy error \S+ of exchanged, 1 failed\)",
        repr(batch),
    )


@pytest.mark.parametrize("threads", [1, 4])
def test_failures_are_nan_with_a_status(threads):
    hexapod = ring("RUS")
    u = np.zeros((5, 6))
    u[:, 0] = [0.01, 0.8, 0.02, 0.7, -0.01]
    batch = hexapod.simulate(0.5, 1e-3, u=u, on_error="nan", every=20, threads=threads)
    assert (batch.status != 0).tolist() == [False, True, False, True, False] and set(batch.failures) == {1, 3}
    assert "cannot reach" in hexapod.explain(batch.status[1])
    for i in (1, 3):
        one = hexapod.simulate(0.5, 1e-3, u=u[i], on_error="stop", every=20)
        n = batch.states[i]
        assert n == len(one) < 26 and same(batch[i].to_dict(), one.to_dict() | {"t": batch.t[:n]})
        assert np.isnan(batch.r[i, n:]).all() and not np.isnan(batch.r[i, :n]).any()
        assert str(batch.failures[i]) == str(one.failure) == str(batch[i].failure) and batch.failures[i].row == i
    assert np.isfinite(batch.r[[0, 2, 4]]).all()


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_failure_is_raised(threads):
    u = np.zeros((12, 6))
    u[:, 0] = 0.01
    u[[5, 9], 0] = 0.7, 0.9  # the later row fails earlier
    with pytest.raises(zv.UnreachableError, match=r"simulate: at t = 0\.\d+ s leg 'leg\d' cannot reach") as caught:
        ring("RUS").simulate(0.5, 1e-3, u=u, threads=threads)
    assert caught.value.row == 5 and caught.value.simulation.failure is caught.value
    assert caught.value.time > 0.1 and len(caught.value.simulation) > 100


def test_errors_of_functions_end_all_runs():
    calls = []

    def law(t, p, v):
        calls.append(threading.get_ident())
        if t > 0.02:
            raise RuntimeError("mine")
        return -400.0 * p

    with pytest.raises(RuntimeError, match="mine") as caught:
        ring().simulate(0.1, 1e-3, u=pushes(6), laws=law, threads=4, on_error="nan")
    assert set(calls) == {threading.get_ident()} and len(calls) < 200  # in the thread of the caller, the first run only
    assert caught.value.simulation.t[-1] == pytest.approx(0.02, abs=2e-3)
    want = ring().simulate(0.01, 1e-3, u=pushes(2)[1], laws=law)
    assert same(ring().simulate(0.01, 1e-3, u=pushes(2), laws=law, threads=2)[1].to_dict(), want.to_dict())


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("threads", [1, 3])
def test_ctrl_c_ends_all_runs(threads):
    before = threading.active_count()
    timer = threading.Timer(0.4, _thread.interrupt_main)
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        ring().simulate(1e4, 1e-4, u=pushes(50), laws=SOFT, every=10**6, threads=threads)
    timer.join()
    assert time.perf_counter() - begin < 10 and threading.active_count() == before


def test_two_runs_are_under_way_at_once(monkeypatch):
    gate, met = threading.Barrier(2, timeout=30), []

    class Meeting(zv._core.HexapodRun):
        def advance(self, count):
            if self.step == 0 and threading.get_ident() not in met:
                met.append(threading.get_ident())
                gate.wait()  # both are here, or this fails
            return super().advance(count)

    monkeypatch.setattr(zv._core, "HexapodRun", Meeting)
    ring().simulate(0.1, 1e-3, u=pushes(4), laws=SOFT, threads=2)
    assert len(set(met)) == 2


def test_steps_release_the_lock_of_the_interpreter():
    hexapod = ring()
    run = zv._core.HexapodRun(
        hexapod, zv._core.Schedule(semi_implicit=False, start=0.0, dt=1e-4, steps=10**7, every=10**7),
        r=hexapod.nominal[0], q=np.array([1.0, 0, 0, 0]), u=pushes(), laws=[None] * 6, lower=hexapod.lower,
        upper=hexapod.upper,
    )  # fmt: skip
    worker = threading.Thread(target=run.advance, args=(50_000,))  # one call, long beside a switch of threads
    turns = 0
    worker.start()
    while worker.is_alive():
        turns += 1
    assert turns > 1000 and run.step == 50_000


def test_efforts_have_leading_dimensions():
    hexapod, u = ring(), pushes(3)
    tau = np.random.default_rng(5).normal(size=(3, 20, 6))
    steps = hexapod.simulate(0.02, 1e-3, u=u, tau=tau)
    each = hexapod.simulate(0.02, 1e-3, u=u, tau=tau[:, 0])
    full = np.zeros((3, 6, 3))
    full[..., np.arange(6), hexapod.actuated] = tau[:, 0]
    assert same(each.to_dict(), hexapod.simulate(0.02, 1e-3, u=u, tau=full).to_dict())
    alone = hexapod.simulate(0.02, 1e-3, tau=tau[:, :1])  # (3, 1, 6): sets the leading dimensions
    assert alone.shape == (3,)
    for i in range(3):
        assert same(steps[i].to_dict(), hexapod.simulate(0.02, 1e-3, u=u[i], tau=tau[i]).to_dict())
        assert same(each[i].to_dict(), hexapod.simulate(0.02, 1e-3, u=u[i], tau=tau[i, 0]).to_dict())
        assert same(alone[i].to_dict(), hexapod.simulate(0.02, 1e-3, tau=tau[i, 0]).to_dict())
    common = hexapod.simulate(0.02, 1e-3, u=u, tau=tau[0])  # rows of steps for all
    assert same(common[2].to_dict(), hexapod.simulate(0.02, 1e-3, u=u[2], tau=tau[0]).to_dict())


def test_bases_move_in_batches():
    motion = np.zeros((2, 9))
    motion[:, 0] = 1.0, -2.0
    batch = ring().simulate(0.05, 1e-3, base_motion=motion, laws=SOFT)
    assert (batch[1].r == ring().simulate(0.05, 1e-3, base_motion=motion[1], laws=SOFT).r).all()
    assert np.isnan(batch.energy_ratio).all() and "no energy balance" in repr(batch)


def test_a_batch_of_none_and_of_one():
    none = ring().simulate(0.05, 1e-3, u=np.zeros((0, 6)), laws=SOFT)
    assert none.shape == (0,) and none.r.shape == (0, 51, 3) and list(none) == []
    one = ring().simulate(0.05, 1e-3, u=pushes(1), laws=SOFT)
    assert one.shape == (1,) and (one[0].r == ring().simulate(0.05, 1e-3, u=pushes(1)[0], laws=SOFT).r).all()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"u": np.zeros((3, 5))}, "u has shape (3, 5), expected (6,)"),
        ({"u": np.zeros((3, 6)), "r": np.zeros((2, 3))}, "leading dimensions do not broadcast: r (2,), u (3,)"),
        ({"u": np.full((3, 6), np.nan)}, "u is [[nan, nan"),
        ({"R": np.ones((2, 3, 3))}, "R is not orthonormal"),
        ({"quaternion": [[1, 0, 0, 0], [2, 0, 0, 0]]}, "quaternion has length 2, expected 1"),
        ({"u": np.zeros((3, 6)), "on_error": "stop"}, "on_error is 'stop', expected 'raise' or 'nan'"),
        ({"u": np.zeros((3, 6)), "threads": -1}, "threads is -1, expected an integer from 0 to 4096"),
        ({"threads": 1.5}, "threads is 1.5, expected an integer from 0 to 4096"),
        ({"u": np.zeros((3, 6)), "tau": np.zeros((4, 6))}, "tau has shape (4, 6), expected (6,) or (6, 3) or (100, 6)"),
        (
            {"u": np.zeros((100, 6)), "tau": np.zeros((100, 6))},
            "tau of shape (100, 6) may hold a row for each step or for each run, which are 100 both: give (100, 100,",
        ),
        ({"wrench": np.zeros((3, 5))}, "wrench has shape (3, 5), expected (6,)"),
    ],
)
def test_what_is_refused(changes, text):
    with pytest.raises(ValueError, match="^simulate: " + re.escape(text)):
        ring().simulate(**{"t_end": 1.0, "dt": 0.01} | changes)


def test_records_that_do_not_fit_are_refused_with_their_bytes():
    numbers = sum(int(np.prod(a.shape[1:])) for a in ring().simulate(1e-3, 1e-3).to_dict().values())
    need = 10**6 * 10001 * numbers * 8
    text = (
        f"simulate: the record needs {need} bytes (1000000 runs x 10001 states x {numbers} numbers), this machine has"
    )
    with pytest.raises(ValueError, match=re.escape(text) + r" \d+: record fewer states with every="):
        ring().simulate(10.0, 1e-3, u=np.zeros((10**6, 6)))
    with pytest.raises(
        ValueError, match=rf"the record needs {8 * numbers * (10**11 + 1)} bytes \(100000000001 states x"
    ):
        ring().simulate(1e4, 1e-7)
    assert plan.memory() > 2**28


def test_a_step_that_is_too_long_for_one_run_is_refused_before_any_is_made():
    stops = laws.Stops(1e9, 0.0)
    hexapod = ring()
    r = hexapod.nominal[0] + np.array([[0.0, 0, 0], [0.0, 0, 0], [0.3, 0, 0]])
    with pytest.raises(zv.StepError, match=r"simulate: dt is 0\.001 s for run \(2,\), more than 2 times"):
        hexapod.simulate(0.1, 1e-3, r=r, laws=stops)


def test_doubtful_runs_are_counted_and_the_worst_is_named():
    u = np.zeros((4, 6))
    u[:, 0] = 0.0, -0.01, 0.0, 0.01
    u[2] = -0.9, 0.2, 0.1, 0.3, -0.3, 0.2
    law = SOFT + laws.Stops(1e8)
    text = r"simulate: 1 of 4 runs are not to be trusted; run \(2,\): .*stiffness = 1e\+08 N/m of Stops"
    with pytest.warns(zv.SimulationWarning, match=text):
        batch = ring().simulate(0.6, 1e-3, u=u, laws=law, method="semi-implicit", threads=2)
    assert (batch.energy_ratio > 0.01).tolist() == [False, False, True, False]


@pytest.mark.parametrize("threads", [1, 2])
def test_one_progress_bar_is_shown(threads, monkeypatch):
    err = io.StringIO()
    err.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", err)
    ring().simulate(0.1, 1e-3, u=pushes(5), laws=SOFT, threads=threads, progress=True)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", err.getvalue())  # without colours
    assert "simulating" in shown and "500/500 steps" in shown


class Recorder(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **keywords: (name, args, keywords)


def test_batches_become_datasets(monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", Recorder("xarray"))
    batch = ring().simulate(0.02, 1e-3, u=pushes(3, 2), laws=SOFT)
    _, (variables,), keywords = batch.to_xarray()
    sizes = {"t": 21, "run_0": 3, "run_1": 2} | {k: len(v) for k, v in keywords["coords"].items() if k != "t"}
    for name, (dims, array, *_) in variables.items():
        assert array.shape == tuple(sizes[dim] for dim in dims), name
    assert set(variables) == {*FIELDS[1:], "status", "energy_ratio"}
    assert ring().simulate(0.02, 1e-3, u=pushes(3)).to_xarray()[1][0]["r"][0] == ("run", "t", "axis")


@pytest.mark.parametrize("R", [[[1, 0], [0]], [[[1, 0, 0]], [1]], "turn", {"angle": 1}])
def test_rotations_that_are_none_are_refused(R):
    with pytest.raises(ValueError, match=r"^simulate: R is "):
        ring().simulate(0.1, 1e-3, R=R)


def test_copies_are_equal():
    batch = ring("RUS").simulate(0.5, 1e-3, u=[[0.8, 0, 0, 0, 0, 0], [0.0] * 6], on_error="nan", every=50)
    copy = pickle.loads(pickle.dumps(batch))
    assert same(copy.to_dict(), batch.to_dict()) and copy.hexapod == batch.hexapod and repr(copy) == repr(batch)
    assert copy[0].events == batch[0].events and str(copy.failures[0]) == str(batch.failures[0])
    assert pickle.loads(pickle.dumps(batch[1].summary())) == batch[1].summary()
