"""Threads of the caller, threads of the pool, and processes made by fork."""

import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading

import helpers
import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain, random_state, random_wrenches
from helpers import VARIANTS, arguments, arrays_of, at_once, variant_id

ROWS = 3000  # enough for several pieces of work on any instruction set


def work_of(seed):
    """A chain with a batch of states."""
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, 7, rotor=True, friction=True)
    return chain, random_state(rng, chain, (ROWS,))


def results(work, threads):
    chain, (q, qd, third) = work
    return (
        chain.mass_matrix(q, threads=threads),
        chain.inverse_dynamics(q, qd, third, threads=threads),
        chain.forward_dynamics(q, qd, third, threads=threads),
        chain.derivatives(q[:200], qd[:200], third[:200], threads=threads).dtau_dq,
    )


def run_alone(code):
    """Exit code and standard output of Python code in a process of its own."""
    # from Python 3.12 on a fork in the presence of threads warns
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", textwrap.dedent(code)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return run.returncode, run.stdout.split("\n")[:-1], run.stderr


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_callers_in_many_threads_get_the_results_of_one():
    works = [work_of(seed) for seed in range(4)]
    want = [results(work, 1) for work in works]
    start, wrong = threading.Barrier(4), []

    def caller(i):
        start.wait()
        for round_ in range(15):
            k = (i + round_) % 4
            if not same(results(works[k], 2), want[k]):
                wrong.append((i, k))

    at_once(caller, range(4))
    assert wrong == []


@pytest.mark.parametrize("variant", VARIANTS, ids=variant_id)
def test_any_number_of_threads_gives_the_same_bits(variant, arm, rng):
    name, options = variant
    values = random_state(rng, arm, (1001,))
    external = {"external": random_wrenches(rng, arm, (1001,))} if name in helpers.TAKES_EXTERNAL else {}

    def run(threads):
        call = getattr(arm, name)
        return arrays_of(call(*arguments(name, values, arm.link_names[-1]), **options, **external, threads=threads))

    want = run(1)
    for threads in (None, 0, 2, 3, 7, 32, np.int64(2)):
        assert same(run(threads), want)


@pytest.mark.parametrize("threads", [-1, 4097, 1.0, "2", True, 10**30], ids=str)
def test_what_is_no_number_of_threads_is_refused(threads, arm):
    with pytest.raises((ValueError, TypeError), match="mass_matrix: threads is"):
        arm.mass_matrix(np.zeros(arm.n), threads=threads)


def test_lowest_singular_row_is_named_whatever_the_threads():
    links = [zv.Link("a", axis=(0, 0, 1)), zv.Link("b", axis=(0, 1, 0), mass=1.0, com=(0, 0, -0.5))]
    chain = zv.Chain(links, gravity=(0, 0, 0))
    q = np.full((ROWS, 2), 0.7)
    q[[2900, 1234, 2000], 1] = 0.0  # the mass hangs on the axis of joint a
    for threads in (1, 2, 5):
        with pytest.raises(zv.SingularityError) as caught:
            chain.forward_dynamics(q, np.zeros(2), np.zeros(2), threads=threads)
        assert (caught.value.row, caught.value.joint) == (1234, "a_joint")


def test_a_process_ends_while_its_pool_waits():
    code = """
        import numpy as np, zveno as zv
        chain = zv.robots.puma560()
        chain.mass_matrix(np.zeros((5000, chain.n)), threads=4)
        print("done")
    """
    assert run_alone(code) == (0, ["done"], "")


if sys.platform == "linux":  # limits of the address space are not obeyed everywhere

    def test_memory_that_a_thread_does_not_get_is_an_error_of_the_call():
        # and not the end of the process
        code = """
            import resource
            import numpy as np, zveno as zv
            n = 3000
            links = [zv.Link(f"l{i}", position=(0.01, 0, 0), mass=1.0, inertia=(1, 1, 1)) for i in range(n)]
            chain = zv.Chain(links)
            q = np.zeros((64, n))
            chain.bias(q, q, threads=2)  # the pool's threads exist before memory becomes scarce
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000, used + 100_000_000))
            for threads in (1, 2):
                try:
                    chain.forward_dynamics(q, q, q, method="cholesky", threads=threads)
                except MemoryError:
                    print("no memory")
        """
        assert run_alone(code) == (0, ["no memory", "no memory"], "")


def child_main(connection, seed):
    connection.send([results(work_of(seed), threads) for threads in (1, 2, 4)])
    connection.close()


if hasattr(os, "fork"):

    @pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
    def test_a_forked_process_computes_with_threads_of_its_own():
        want = results(work_of(7), 2)  # the parent's pool exists before the fork
        context = multiprocessing.get_context("fork")
        here, there = context.Pipe()
        child = context.Process(target=child_main, args=(there, 7))
        child.start()
        assert here.poll(60), "the child hangs"
        got = here.recv()
        child.join(10)
        assert child.exitcode == 0
        assert all(same(g, want) for g in got)
        assert same(results(work_of(7), 2), want)

    def test_a_process_forked_during_a_call_computes_with_threads_of_its_own():
        code = """
            import os, threading, numpy as np, zveno as zv
            chain = zv.robots.puma560()
            q = np.random.default_rng(0).normal(size=(20000, chain.n))
            want = chain.mass_matrix(q[:3000])
            stop = threading.Event()
            def busy():
                while not stop.is_set():
                    chain.mass_matrix(q, threads=2)
            thread = threading.Thread(target=busy)
            thread.start()
            codes = []
            for _ in range(5):
                child = os.fork()
                if child == 0:
                    os._exit(0 if np.array_equal(chain.mass_matrix(q[:3000], threads=2), want) else 1)
                codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
            stop.set()
            thread.join()
            print(codes)
        """
        assert run_alone(code) == (0, ["[0, 0, 0, 0, 0]"], "")
