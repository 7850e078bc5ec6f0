"""Many simulations at once: the bits of single runs, leading dimensions, failures, threads, memory, Ctrl-C."""

import _thread
import csv
import io
import json
import pickle
import re
import sys
import threading
import time

import numpy as np
import pytest
import zveno as zv
from scipy.spatial.transform import Rotation
from zveno import laws
from zveno.sim import plan
from zveno.sim.batch import SimulationBatch
from zveno.sim.output import BatchSummary, RunPeak

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
        r"dt = 0.001 s, worst energy error \S+ of exchanged in run \(0,\), 1 failed\)",
        repr(batch),
    )
    text = batch._repr_html_()
    assert text.count("<tr>") == len(FIELDS) + 1
    for words in ("2 runs (2,)", "(2, 51, 6)", "base_wrench", "N, N m"):
        assert words in text


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
    assert batch.energy_balance.worst is None


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
        ({"u": np.zeros((3, 6)), "threads": -1}, "threads is -1, expected an integer from 0 to 256"),
        ({"threads": 1.5}, "threads is 1.5, expected an integer from 0 to 256"),
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


def test_threads_respect_the_quota(monkeypatch):
    """threads=0 takes as many as the compiled batches do, which know control groups."""
    seen = []
    monkeypatch.setattr(zv._core, "default_threads", lambda: 3)
    monkeypatch.setattr(
        "zveno.sim.batch._side_by_side", lambda batch, threads, tick: seen.append(threads) or batch.work(tick)
    )
    ring().simulate(0.01, 1e-3, u=pushes(5), laws=SOFT, threads=0)
    ring().simulate(0.01, 1e-3, u=pushes(2), laws=SOFT, threads=0)
    ring().simulate(0.01, 1e-3, u=pushes(5), laws=SOFT, threads=4)
    assert seen == [3, 2, 4]


def test_all_doubtful_runs_are_named():
    u = np.zeros((2, 6, 6))
    u[..., 0] = 0.01
    u[0, 1::2, :3] = u[1, :, :3] = -0.9, 0.2, 0.1
    with pytest.warns(zv.SimulationWarning) as caught:
        batch = ring().simulate(0.6, 1e-3, u=u, laws=SOFT + laws.Stops(1e8), method="semi-implicit", threads=2)
    (text,) = (str(warning.message) for warning in caught)
    named = "(0, 1), (0, 3), (0, 5), (1, 0), (1, 1), (1, 2), (1, 3), (1, 4) and 1 more"
    worst = f"; the worst, run {batch.energy_balance.worst}: the energy"
    assert text.startswith(f"simulate: 9 of 12 runs are not to be trusted: {named}{worst}")
    assert caught[0].filename == __file__


def test_doubtful_runs_are_counted_and_the_worst_is_named():
    u = np.zeros((4, 6))
    u[:, 0] = 0.0, -0.01, 0.0, 0.01
    u[2] = -0.9, 0.2, 0.1, 0.3, -0.3, 0.2
    law = SOFT + laws.Stops(1e8)
    text = r"simulate: 1 of 4 runs are not to be trusted; run \(2,\): .*stiffness = 1e\+08 N/m of Stops"
    with pytest.warns(zv.SimulationWarning, match=text):
        batch = ring().simulate(0.6, 1e-3, u=u, laws=law, method="semi-implicit", threads=2)
    assert (batch.energy_ratio > 0.01).tolist() == [False, False, True, False]
    balance = batch.energy_balance
    assert balance.worst == (2,) and str(balance).endswith("of exchanged in run (2,)") and str(balance) in repr(batch)
    for i in range(4):
        assert (balance.exchanged[i], balance.error[i], balance.ratio[i]) == batch[i].energy_balance
    assert batch[:2].energy_balance.ratio.tolist() == balance.ratio[:2].tolist()


@pytest.mark.parametrize("threads", [1, 2])
def test_one_progress_bar_is_shown(threads, monkeypatch):
    err = io.StringIO()
    err.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", err)
    ring().simulate(0.1, 1e-3, u=pushes(5), laws=SOFT, threads=threads, progress=True)
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", err.getvalue())  # without colours
    assert "simulating" in shown and "500/500 steps" in shown


def test_batches_become_datasets():
    batch = ring().simulate(0.02, 1e-3, u=pushes(3, 2), laws=SOFT)
    data = batch.to_xarray()
    assert {"t": 21, "run_0": 3, "run_1": 2, "leg": 6}.items() <= data.sizes.items()
    assert set(data.variables) - set(data.coords) == {*FIELDS[1:], "status", "energy_ratio"}
    for name in FIELDS[1:]:
        assert (data[name].values == getattr(batch, name)).all() and data[name].dims[:3] == ("run_0", "run_1", "t")
    assert (data.tau.sel(leg="leg3").isel(run_0=1, run_1=0) == batch[1, 0].tau[:, 2]).all()
    assert data.attrs == {"hexapod": batch.hexapod.name, "method": "rk4", "dt": 1e-3} and data.tau.units == "N or N m"
    assert ring().simulate(0.02, 1e-3, u=pushes(3)).to_xarray().r.dims == ("run", "t", "axis")


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


# ---- tables


@pytest.fixture(scope="module")
def mixed():
    """Runs of which one fails on its way and one at its start."""
    hexapod = ring("RUS")
    u = np.zeros((2, 2, 6))
    u[..., 0] = [[0.01, 0.8], [0.02, -0.03]]
    r = np.broadcast_to(hexapod.nominal[0], (2, 2, 3)).copy()
    r[1, 1, 0] = 2.0
    return hexapod.simulate(0.5, 1e-3, r=r, u=u, on_error="nan", every=20)


def test_peaks_are_those_of_the_single_runs(mixed):
    assert mixed.states.tolist() == [[26, mixed.states[0, 1]], [26, 0]]
    for fields, each in ((None, False), (["tau", "base_wrench", "r.x"], True), ("tau", False)):
        summary = mixed.summary(fields, each=each)
        singles = [mixed[place].summary(fields, each=each) for place in np.ndindex(2, 2)]
        assert len(summary) == len(singles[0]) and singles[3] == ()
        for k, row in enumerate(summary):
            peaks = [single[k] for single in singles[:3]]
            sizes = [abs(peak.peak) for peak in peaks]
            worst = int(np.argmax(sizes))
            assert row[:5] == peaks[worst] and row.run == tuple(map(int, np.unravel_index(worst, (2, 2))))
            assert row[6:] == pytest.approx((np.mean(sizes), np.std(sizes), min(sizes)), rel=1e-12)
            name = f"{row.quantity}.{row.where}" if each and row.where else row.quantity
            runs = summary.runs[f"{name} [{row.unit}]"]
            assert runs.shape == (2, 2) and np.isnan(runs[1, 1])
            assert runs.reshape(-1)[:3].tolist() == [peak.peak for peak in peaks]
    with pytest.raises(ValueError, match=r"SimulationBatch\.summary: fields names 'load', expected some of t, r"):
        mixed.summary("load")


def test_peaks_print_as_tables_and_become_frames(mixed):
    summary = mixed.summary(["tau", "base_wrench"])
    head, *lines = str(summary).splitlines()
    assert re.split(r"\s\s+", head) == [
        "quantity", "where", "peak", "unit", "time, s", "run", "mean", "deviation", "least",
    ]  # fmt: skip
    assert len(lines) == 3
    assert summary._repr_html_().count("<tr>") == 4
    assert list(summary.to_dict()) == list(RunPeak._fields) and summary.to_dict()["unit"] == ["N m", "N", "N m"]
    table = summary.to_pandas()
    assert table["run"].tolist() == [row.run for row in summary] and table["peak"].tolist() == [r.peak for r in summary]
    runs = summary.to_pandas(runs=True)
    assert runs.index.names == ["run_0", "run_1"] and list(runs.columns) == list(summary.runs)
    assert runs.loc[(1, 0), "tau [N m]"] == summary.runs["tau [N m]"][1, 0]
    flat = mixed[0].summary("tau").to_pandas(runs=True)
    assert flat.index.name == "run" and flat.shape == (2, 1)
    copy = pickle.loads(pickle.dumps(summary))
    assert copy == summary and type(copy) is BatchSummary and copy.runs.keys() == summary.runs.keys()
    assert ring().simulate(0.01, 1e-3, u=np.zeros((0, 6)), threads=1).summary() == ()


def test_tables_hold_all_runs(mixed, tmp_path):
    mixed.to_csv(tmp_path / "all.csv")
    with open(tmp_path / "all.csv", newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    numbers = np.array(rows, float)
    assert head[:4] == ["run_0", "run_1", "t [s]", "r.x [m]"] and rows[0][:3] == ["0", "0", "0.0"]
    frame = mixed.to_pandas()
    assert frame.index.names == ["run_0", "run_1", "t"] and len(frame) == len(rows) == mixed.states.sum()
    for place in np.ndindex(2, 2):
        one = mixed[place].columns()
        mine = numbers[(numbers[:, :2] == place).all(axis=1), 2:]
        assert (mine == np.column_stack(list(one.values()))).all() and len(mine) == mixed.states[place]
        if mixed.states[place]:
            part = frame.loc[place]
            assert (part.to_numpy() == mine[:, 1:]).all() and (part.index == mine[:, 0]).all()
    assert [text.partition(" [")[0] for text in head[2:]] == list(mixed.columns()) == ["t", *frame.columns]
    assert mixed.columns()["tau.leg2"].shape == (2, 2, 26)
    mixed[0].to_csv(tmp_path / "some.csv", "tau.leg2")
    assert (tmp_path / "some.csv").read_text().splitlines()[0] == "run,t [s],tau.leg2 [N m]"
    with pytest.raises(ValueError, match=r"SimulationBatch\.to_csv: fields names 'force', expected some of t, r"):
        mixed.to_csv(tmp_path / "none.csv", ["force"])
    assert not (tmp_path / "none.csv").exists()


# ---- files


def test_files_read_back_to_the_same_bits(mixed, tmp_path):
    arm = zv.robots.two_link()
    swings = arm.simulate(0.1, 1e-2, q=np.array([[0.5, 0.0], [1.0, 0.2]]), threads=1)
    bumps = ring().simulate(0.6, 1e-4, u=[[-0.9, 0.2, 0.1, 0, 0, 0]], laws=SOFT + laws.Stops(1e5), every=50)
    assert bumps[0].events
    for batch in (mixed, swings, bumps, mixed[0]):
        batch.save(tmp_path / "runs.npz")
        for back in (zv.load(tmp_path / "runs.npz"), SimulationBatch.load(tmp_path / "runs.npz")):
            assert type(back) is SimulationBatch and same(back.to_dict(), batch.to_dict()) and repr(back) == repr(batch)
            assert back._model == batch._model and back.shape == batch.shape and back._kind is batch._kind
            for name in ("status", "states"):
                assert (getattr(back, name) == getattr(batch, name)).all()
                assert getattr(back, name).dtype == getattr(batch, name).dtype
            assert np.array_equal(back.energy_ratio, batch.energy_ratio, equal_nan=True)
            assert {k: str(v) for k, v in back.failures.items()} == {k: str(v) for k, v in batch.failures.items()}
            assert all(back._events[i] == batch._events[i] for i in np.ndindex(batch.shape))
    failure = zv.load(tmp_path / "runs.npz").failures[1]
    assert isinstance(failure, zv.UnreachableError) and failure.time > 0 and failure.row == 1


def test_one_and_many_are_told_apart(tmp_path):
    batch = ring().simulate(0.01, 1e-3, u=pushes(2), laws=SOFT, threads=1)
    batch.save(tmp_path / "many.npz")
    batch[0].save(tmp_path / "one.npz")
    with pytest.raises(ValueError, match=r"Simulation\.load: '.*many\.npz' holds a batch of simulations, expected one"):
        zv.Simulation.load(tmp_path / "many.npz")
    with pytest.raises(ValueError, match=r"SimulationBatch\.load: '.*one\.npz' holds one simulation, expected a batch"):
        SimulationBatch.load(tmp_path / "one.npz")
    with pytest.raises(zv.ModelError, match="holds a simulation, expected a model"):
        zv.files.open_model(tmp_path / "many.npz")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"shape": [3]}, "has r of shape (2, 11, 3), expected (3, 11, 3)"),
        ({"shape": []}, "has shape [], expected a list of whole numbers"),
        ({"shape": [True, 2]}, "has shape [True, 2], expected a list"),
        ({"events": [[]]}, "has events [[]], expected a list for each of 2 runs"),
        ({"events": [[], [[1, "leg9", "lower", "enter", 2]]]}, "has events[1][0] of 'leg9', which hexapod 'docking"),
        ({"failures": {"2": {}}}, "has failures {'2': {}}, expected those of runs 0 to 1 by number"),
        ({"failures": {"1": 3}}, "has failures[1] 3, expected type, message and data"),
        ({"dt": 0}, "has dt 0, expected a number > 0"),
    ],
)
def test_wrong_descriptions_are_refused(change, text, tmp_path):
    path = tmp_path / "runs.npz"
    ring().simulate(0.01, 1e-3, u=pushes(2), laws=SOFT, threads=1).save(path)
    with np.load(path) as data:
        arrays = dict(data)
    about = json.loads(str(arrays["about"]))
    for new in (about | change, {k: v for k, v in about.items() if k not in change}):
        np.savez(path, **arrays | {"about": np.array(json.dumps(new))})
        wanted = text if change.keys() <= new.keys() else f"lacks {next(iter(change))}"
        with pytest.raises(ValueError, match=re.escape(f"SimulationBatch.load: '{path}' {wanted}")):
            SimulationBatch.load(path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"states": np.array([11, 12])}, "has states [11, 12], expected 0 to 11"),
        ({"states": np.array([11.0, 11.0])}, "has states of shape (2,) and dtype float64, expected (2,) and int64"),
        ({"status": np.zeros(3, np.int16)}, "has status of shape (3,) and dtype int16, expected (2,) and int16"),
        ({"energy_balance": np.zeros(2)}, "has energy_balance of shape (2,) and dtype float64, expected (2, 3)"),
        ({"tau": np.zeros((11, 6))}, "has tau of shape (11, 6), expected (2, 11, 6)"),
        ({"energy": np.zeros(2)}, "has an unknown field 'energy'"),
    ],
)
def test_wrong_arrays_are_refused(change, text, tmp_path):
    path = tmp_path / "runs.npz"
    ring().simulate(0.01, 1e-3, u=pushes(2), laws=SOFT, threads=1).save(path)
    with np.load(path) as data:
        arrays = dict(data)
    np.savez(path, **arrays | change)
    with pytest.raises(ValueError, match=re.escape(f"SimulationBatch.load: '{path}' {text}")):
        SimulationBatch.load(path)
