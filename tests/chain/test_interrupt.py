"""Ctrl-C during long calls: heard soon, and nothing half-written is left behind."""

import os
import signal
import threading
import time

import numpy as np
import pytest
import zveno as zv

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
    wrench = np.random.default_rng(0).normal(size=(1_000_000, 6))
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
