"""Ctrl-C during long calls: heard soon, and nothing half-written is left behind."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import zveno as zv
from zveno import docking

SOON = 1.0  # s; about 0.1 on a machine that has nothing else to do


@pytest.fixture(autouse=True)
def _python_hears_signals():
    """A job in the background of a shell is born with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupted_after(call, delay=0.3):
    """Seconds from Ctrl-C to the KeyboardInterrupt of `call`."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(delay, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
            timer.join()  # too late, but here and not in another test
        return time.perf_counter() - sent[0]
    finally:
        timer.join()


def long_batch():
    """A chain whose batch takes many seconds, and its arguments; only the wrenches differ."""
    links = [
        zv.Link(f"l{i}", axis=(0, 1, i % 2), position=(0.1, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1)) for i in range(60)
    ]
    chain = zv.Chain(links)
    external = {"l59": np.random.default_rng(0).normal(size=(300_000, 6))}
    return chain, (np.zeros(60), np.zeros(60), np.zeros(60)), external


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_ends_soon_and_out_holds_nothing_that_passes_for_a_result(threads):
    chain, state, external = long_batch()
    out, status = np.ones((300_000, 60)), np.zeros(300_000, np.int16)
    call = lambda: chain.forward_dynamics(  # noqa: E731
        *state, external, method="cholesky", on_error="nan", status=status, out=out, threads=threads
    )
    assert interrupted_after(call) < SOON
    assert np.isnan(out).all()
    assert (status == -1).all()
    few = {"l59": external["l59"][:20]}
    want = chain.forward_dynamics(*state, few, method="cholesky")
    assert np.array_equal(chain.forward_dynamics(*state, few, method="cholesky", threads=2), want)


def test_a_batch_of_derivatives_ends_soon():
    arm = zv.robots.puma560()
    q = np.random.default_rng(0).normal(size=(600_000, arm.n))
    assert interrupted_after(lambda: arm.derivatives(q, q, q, outputs=["dtau_dq"])) < SOON


def test_results_given_by_parts_are_blank_after_an_interrupt():
    ring = zv.mechanisms.docking_ring("UPS")
    r, R = ring.nominal
    wrench = np.random.default_rng(0).normal(size=(3_000_000, 6))
    out = ring.forward_dynamics(r, R, np.zeros(6), wrench, np.zeros(6), outputs=["acceleration"])
    assert np.isfinite(out.acceleration).all()
    call = lambda: ring.forward_dynamics(  # noqa: E731
        r, R, np.zeros(6), wrench, np.zeros(6), outputs=["acceleration"], out=out
    )
    assert interrupted_after(call, 0.05) < SOON
    assert np.isnan(out.acceleration).all()


def test_forward_kinematics_ends_soon():
    ring = zv.mechanisms.docking_ring("UPS")
    strokes = np.random.default_rng(0).uniform(-0.02, 0.02, (1_000_000, 6))
    assert interrupted_after(lambda: ring.forward_kinematics(strokes)) < SOON


def test_a_compiled_batch_ends_soon():
    ring = zv.mechanisms.docking_ring("UPS")
    f = ring.compile("forward_dynamics", outputs=["acceleration"])
    state = (*ring.nominal, np.zeros(6))
    wrench = np.random.default_rng(0).normal(size=(3_000_000, 6))
    out = f(*state, wrench, np.zeros(6))
    assert interrupted_after(lambda: f(*state, wrench, np.zeros(6), out=out), 0.05) < SOON
    assert np.isnan(out.acceleration).all()


def test_a_compilation_ends_soon_and_the_next_one_succeeds():
    ring = zv.mechanisms.docking_ring("RSU", gravity=(0.0, 0.0, -1.0))
    assert interrupted_after(lambda: ring.compile("forward_dynamics"), 0.2) < SOON
    f = ring.compile("closure")
    assert np.array_equal(f(*ring.nominal), ring.closure(*ring.nominal))


def test_signals_are_left_to_the_main_thread():
    arm = zv.robots.puma560()
    q = np.random.default_rng(0).normal(size=(100_000, arm.n))
    results, done = [], threading.Event()

    def work():
        results.append(arm.derivatives(q, q, q).dtau_dq)
        done.set()

    threading.Thread(target=work).start()
    assert interrupted_after(lambda: done.wait(60), 0.1) < SOON
    assert done.wait(60)
    assert np.array_equal(results[0][:100], arm.derivatives(q[:100], q[:100], q[:100]).dtau_dq)


def test_a_scan_of_poses_ends_soon_inside_numpy(monkeypatch):
    ring = zv.mechanisms.docking_ring("UPS")
    cond, signals = np.linalg.cond, []

    def interrupted(matrices):
        signals.append(time.perf_counter())
        threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGINT)).start()
        return cond(matrices)

    monkeypatch.setattr(np.linalg, "cond", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ring.workspace(points=(900, 1100))
    assert time.perf_counter() - signals[0] < SOON


@pytest.mark.parametrize("pace", [0.0, 0.02, 10.0], ids=["one after another", "every 20 ms", "every 10 s"])
def test_a_measurement_of_steps_ends_soon_and_the_stepper_is_where_it_was(pace):
    stepper = zv.Stepper(zv.mechanisms.docking_ring("RSU"), substeps=100)
    stepper.step()
    before = stepper.state
    for delay in (0.02, 0.3):  # while the motion that is repeated is looked for, and later
        call = lambda: zv.rigs.measure(stepper, steps=10**7, warm_up=10, pace=pace)  # noqa: E731
        assert interrupted_after(call, delay) < SOON
        assert np.array_equal(stepper.state, before)


def many_dockings(own, n, **options):
    """A campaign of runs that take long; `own`: each of another scenario."""
    box = docking.Box.idss(uncertain={"contact.friction": (0.05, 0.15)} if own else {})
    return docking.campaign(docking.demo("UPS"), n, box, threads=2, dt=2e-4, t_end=4.0, **options)


@pytest.mark.parametrize("own", [False, True], ids=["side by side", "a scenario for each run"])
def test_a_campaign_ends_soon(own):
    assert interrupted_after(lambda: many_dockings(own, 100_000, chunk=10_000)) < SOON


@pytest.mark.parametrize("own", [False, True], ids=["side by side", "a scenario for each run"])
def test_an_interrupted_campaign_has_whole_chunks_and_goes_on_where_it_was(own, tmp_path):
    def send():
        while len(list(tmp_path.glob("chunk-*.parquet"))) < 2:
            time.sleep(0.002)
        os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=send)
    sender.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        many_dockings(own, 24, chunk=2, store=tmp_path)
    sender.join()
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("chunk-*")}
    assert 2 <= len(kept) < 12
    assert len(caught.value.campaign) == len(docking.Campaign.load(tmp_path)) == 2 * len(kept)
    table = many_dockings(own, 24, chunk=2, store=tmp_path).table
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    for name, column in many_dockings(own, 24).table.items():
        assert np.array_equal(table[name], column, equal_nan=column.dtype.kind == "f")
