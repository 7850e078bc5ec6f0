"""A thousand joints: linear set-up, linear ABA, quadratic mass matrix, little memory."""

import subprocess
import sys
import time

import numpy as np
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import random_chain, random_state
from helpers import TREE_METHODS, assert_close, environment

N = 1000


def long_links(n, parent_of):
    """Short equal links with turning axes; parent_of(i) is the index of the parent or -1."""
    axes = np.eye(3)
    return [
        zv.Link(
            f"l{i}",
            parent="base" if parent_of(i) < 0 else f"l{parent_of(i)}",
            axis=axes[i % 3],
            position=(0.01, 0.0, 0.02),
            mass=0.1,
            com=(0.005, 0.001, 0.01),
            inertia=(1e-4, 1e-4, 1e-4),
        )
        for i in range(n)
    ]


SHAPES = {
    "serial": lambda i: i - 1,
    "binary tree": lambda i: (i - 1) // 2 if i else -1,
    "comb": lambda i: i - 1 if i % 2 == 0 else i - 1 if i == 1 else i - 2,
    "star": lambda i: -1,
}


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_forward_dynamics_of_a_thousand_joints_satisfies_the_equation_of_motion(shape):
    chain = zv.Chain(long_links(N, shape))
    rng = np.random.default_rng(N)
    q, qd, tau = (x / 10 for x in random_state(rng, chain))
    M = chain.mass_matrix(q)
    assert np.array_equal(M, M.T)
    assert (np.diag(M) > 0).all()
    for method in ("aba", "cholesky", "cholesky-walk"):
        qdd = chain.forward_dynamics(q, qd, tau, method=method)
        # what a backward stable solver leaves
        scale = np.abs(M).max() * np.abs(qdd).max() + np.abs(chain.bias(q, qd)).max()
        assert_close(chain.inverse_dynamics(q, qd, qdd), tau, N, scale=scale)


@pytest.mark.slow
@pytest.mark.parametrize("branching", [False, True])
def test_mass_matrix_columns_of_a_thousand_joints_are_unit_accelerations(branching, rng):
    chain = random_chain(rng, N, branching=branching, fixed=True, gravity=(0, 0, 0))
    q, columns = random_state(rng, chain)[0], rng.choice(N, 40, replace=False)
    efforts = chain.inverse_dynamics(q, np.zeros(N), np.eye(N)[columns], threads=2)
    assert_close(chain.mass_matrix(q)[columns], efforts, N)


@pytest.mark.slow
def test_two_hundred_joints_agree_with_pinocchio(rng):
    chain = random_chain(rng, 200, branching=True, fixed=True)
    q, qd, qdd = random_state(rng, chain)
    twin = Twin(chain)
    assert_close(chain.mass_matrix(q), twin.mass_matrix(q), 200)
    assert_close(chain.inverse_dynamics(q, qd, qdd), twin.inverse_dynamics(q, qd, qdd), 200)


@pytest.mark.slow
@pytest.mark.parametrize("method", TREE_METHODS)
def test_methods_agree_on_two_hundred_joints(method, rng):
    chain = random_chain(rng, 200, branching=True)
    q, _, _ = random_state(rng, chain)
    assert_close(chain.mass_matrix(q, method), chain.mass_matrix(q), 200)


@pytest.mark.slow
def test_everything_else_works_on_a_thousand_joints(rng):
    chain = zv.Chain(long_links(N, SHAPES["serial"]))
    state = random_state(rng, chain, (3,))
    wrench = {chain.link_names[-1]: rng.normal(size=6)}
    tau = chain.inverse_dynamics(*state, wrench, threads=2)
    wrenches = chain.reactions(*state, wrench)
    axes = np.array([link.axis for link in chain.links])
    assert_close(np.einsum("ij,bij->bi", axes, wrenches[:, :, 3:]), tau, N)
    assert chain.base_wrench(*state, wrench).shape == (3, 6)
    axes_W = chain.jacobian(state[0], "l999")[:, 3:]
    assert_close(np.linalg.norm(axes_W, axis=1), np.ones((3, N)), N)
    assert chain.jacobian_rate(*state[:2], "l500").shape == (3, 6, N)
    energy = 0.5 * np.einsum("bi,bij,bj->b", state[1], chain.mass_matrix(state[0]), state[1])
    assert_close(chain.kinetic_energy(*state[:2]), energy, N)


MEMORY = """
import resource
import numpy as np
import zveno as zv
from test_long_chains import N, SHAPES, long_links

chain = zv.Chain(long_links(N, SHAPES["serial"]))
q = np.full(N, 0.01)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
chain.mass_matrix(q)
chain.forward_dynamics(q, q, q)
chain.forward_dynamics(np.tile(q, (64, 1)), q, q, threads=2)
chain.inverse_dynamics(np.tile(q, (64, 1)), q, q, threads=2)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.slow
def test_a_thousand_joints_need_less_than_200_megabytes():
    command = [sys.executable, "-c", MEMORY]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200 * 1024  # ru_maxrss is in kilobytes


@pytest.mark.slow
@pytest.mark.parametrize("shape", [SHAPES["serial"], SHAPES["binary tree"]], ids=["serial", "binary tree"])
def test_setting_up_and_solving_take_linear_time(shape):
    def seconds(n):
        links = long_links(n, shape)
        best = [np.inf, np.inf]
        for _ in range(5):
            start = time.thread_time()  # of this thread: what else the machine does is not counted
            chain = zv.Chain(links)
            built = time.thread_time()
            chain.forward_dynamics(*np.full((3, n), 0.01))
            best = np.minimum(best, [built - start, time.thread_time() - built])
        return best

    # four times the joints: quadratic would be sixteen times the time
    assert (seconds(8000) < 11 * seconds(2000)).all()


@pytest.mark.slow
def test_operation_counts_of_forward_dynamics_grow_linearly():
    counts = [zv.Chain(long_links(n, SHAPES["serial"])).operations("forward_dynamics").total for n in (250, 500, 1000)]
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])
