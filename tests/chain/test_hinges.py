"""Stacks of massless bodies with coincident joints: the same mechanics for fewer operations."""

import numpy as np
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import (
    copy_link,
    random_body,
    random_rotation,
    random_state,
    random_wrenches,
    stacked_mechanisms,
)
from helpers import METHODS, OTHER, SERIAL_ONLY, arrays_of, assert_close
from hypothesis import given
from test_dynamics import check_against_twin, check_forward


@given(stacked_mechanisms())
def test_dynamics_of_stacks_agrees_with_pinocchio(mechanism):
    chain, rng = mechanism
    twin = Twin(chain)
    check_against_twin(chain, twin, rng)
    check_forward(chain, twin, rng)


@given(stacked_mechanisms())
def test_matrices_of_stacks_agree_with_pinocchio(mechanism):
    chain, rng = mechanism
    twin, n = Twin(chain), chain.n
    q, qd, qdd = random_state(rng, chain)
    M = twin.mass_matrix(q)
    for method in METHODS:
        if chain.is_serial or method not in SERIAL_ONLY:
            assert_close(chain.mass_matrix(q, method), M, n, ulps=OTHER)
    want = twin.derivatives(q, qd, qdd)
    scale = max(np.abs(part).max() for part in want)
    for method in ("sweep", "sweep-walk", "dual"):
        for got, part in zip(chain.derivatives(q, qd, qdd, method=method), want, strict=True):
            assert_close(got, part, n, ulps=OTHER, scale=scale)
    link, point = str(rng.choice(chain.link_names)), rng.uniform(-0.5, 0.5, 3)
    assert_close(chain.pose(q, link), twin.pose(q, link), n, ulps=OTHER)
    for frame in ("world", "link"):
        assert_close(
            chain.jacobian(q, link, point, frame), twin.jacobian(q, link, point, frame), n, ulps=OTHER, scale=3
        )
        rate = chain.jacobian_rate(q, qd, link, point, frame)
        assert_close(rate, twin.jacobian_rate(q, qd, link, point, frame), n, ulps=OTHER, scale=30 * n)
    momentum = twin.momentum(q, qd)
    assert_close(chain.momentum(q, qd, about="base"), momentum, n, ulps=OTHER, scale=max(1.0, np.abs(momentum).max()))


def with_specks(chain):
    """The same chain with masses so small that they are lost in every sum, but there: no body is a hinge."""
    links = [link if link.mass or link.joint == "fixed" else copy_link(link, mass=1e-250) for link in chain.links]
    return zv.Chain(links, gravity=chain.gravity)


def results_of(chain, state, tau, loads, base, link):
    q, qd, qdd = state
    more = {"external": loads, "base_motion": base}
    for given_loads in ({}, more, more | {"external_frame": "link"}):
        for name in ("inverse_dynamics", "reactions", "base_wrench", "derivatives"):
            yield getattr(chain, name)(q, qd, qdd, **given_loads)
        yield chain.derivatives(q, qd, qdd, method="sweep-walk", **given_loads)
        yield chain.bias(q, qd, **given_loads)
        for method in ("aba", "cholesky", "cholesky-walk"):
            yield chain.forward_dynamics(q, qd, tau, method=method, **given_loads)
    for method in METHODS:
        if chain.is_serial or method not in SERIAL_ONLY:
            yield chain.mass_matrix(q, method)
    for name in ("kinetic_energy", "momentum", "coriolis_matrix"):
        yield getattr(chain, name)(q, qd)
    for name in ("potential_energy", "com", "momentum_matrix", "gravity_stiffness", "christoffel"):
        yield getattr(chain, name)(q)
    yield chain.pose(q, link)
    yield chain.jacobian(q, link)
    yield chain.velocity(q, qd, link)
    yield chain.jacobian_rate(q, qd, link)
    yield chain.acceleration(q, qd, qdd, link)
    yield chain.section_load(q, qd, qdd, zv.Section(link, (0, 0, 0), (0, 0, 1), loads="far"), loads, base)


@given(stacked_mechanisms())
def test_hinges_leave_out_nothing_but_zeros(mechanism):
    """What is left out is products with zeros and sums with them: bit for bit the numbers of the general recursion."""
    chain, rng = mechanism
    moved = [link.name for link in chain.links if link.mass and link.joint != "fixed"]
    batch = (3,)
    state, tau = random_state(rng, chain, batch), rng.uniform(-3, 3, (*batch, chain.n))
    loads, base = random_wrenches(rng, chain, batch), rng.uniform(-2, 2, 9)
    given_ = state, tau, loads, base, moved[-1]
    for got, want in zip(results_of(chain, *given_), results_of(with_specks(chain), *given_), strict=True):
        for a, b in zip(arrays_of(got), arrays_of(want), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-200)  # 1e-250 alone where there is nothing else


@given(stacked_mechanisms(max_n=4))
def test_batches_and_time_derivatives_of_stacks_have_the_bits_of_single_calls(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain, (6,))
    many = chain.inverse_dynamics(q, qd, qdd)
    assert np.array_equal(many, [chain.inverse_dynamics(*x) for x in zip(q, qd, qdd, strict=True)])
    accelerations = chain.forward_dynamics(q, qd, qdd)
    assert np.array_equal(accelerations, [chain.forward_dynamics(*x) for x in zip(q, qd, qdd, strict=True)])
    jets = chain.time_derivatives("inverse_dynamics", np.stack([q, qd, qdd], axis=-2))
    assert np.array_equal(jets[:, 0], many)


@pytest.mark.parametrize(
    ("function", "method"),
    [
        ("inverse_dynamics", None), ("mass_matrix", "crba"), ("mass_matrix", "crba-walk"), ("forward_dynamics", "aba"),
        ("forward_dynamics", "cholesky-walk"), ("derivatives", "sweep"), ("derivatives", "sweep-walk"),
    ],
)  # fmt: skip
def test_written_out_code_of_stacks_has_the_bits_of_the_kernel(function, method, rng):
    pytest.importorskip("llvmlite")
    chain = spherical(rng, 2)
    x = random_state(rng, chain, (5,))[: 1 if function == "mass_matrix" else 3]
    how = {} if method is None else {"method": method}
    compiled, kernel = chain.compile(function, **how)(*x), getattr(chain, function)(*x, **how)
    assert all(np.array_equal(a, b) for a, b in zip(arrays_of(compiled), arrays_of(kernel), strict=True))


def test_hinges_that_are_given_a_mass_have_it(rng):
    pytest.importorskip("llvmlite")
    chain = spherical(rng, 2)
    named = ["s0_x", "s1_y"]
    compiled = chain.compile("inverse_dynamics", parameters=named)
    bodies = [zv.Body(**random_body(rng)) for _ in named]
    links = [
        copy_link(link, **bodies[named.index(link.name)].to_dict()) if link.name in named else link
        for link in chain.links
    ]
    heavy = zv.Chain(links, gravity=chain.gravity)
    state = random_state(rng, chain)
    theta = heavy.inertial_parameters[[heavy.link_names.index(name) for name in named]]
    want = heavy.inverse_dynamics(*state)
    assert_close(compiled(*state, parameters=theta), want, chain.n)


# ---- operations -------------------------------------------------------------------------------------------------


def spherical(rng, count, hinges=3, **options):
    """Bodies in line, each on `hinges` joints about x, y, z at one point."""
    links, parent = [], "base"
    for k in range(count):
        place = {"position": rng.uniform(-0.5, 0.5, 3), "rotation": random_rotation(rng)}
        for axis in "xyz"[:hinges]:
            body = random_body(rng) if axis == "xyz"[hinges - 1] else {}
            links.append(zv.Link(f"s{k}_{axis}", parent=parent, axis=np.eye(3)["xyz".index(axis)], **place, **body))
            parent, place = links[-1].name, {}
    return zv.Chain(links, name="spherical", **options)


def test_a_hinge_costs_its_turns_and_its_joint(rng):
    """A plane turn, 4 mul 2 add, of three vectors on the way out and two on the way back; (w x z) qd, qd and qdd."""
    two, three = (spherical(rng, 5, hinges).operations("inverse_dynamics").own for hinges in (2, 3))
    assert (three.mul - two.mul, three.add - two.add) == (5 * 22, 5 * 14)


@pytest.mark.parametrize(
    ("function", "most"),
    [
        ("inverse_dynamics", 1.6), ("bias", 1.6), ("forward_dynamics", 1.9), ("pose", 1.8), ("kinetic_energy", 1.8),
        ("potential_energy", 1.8), ("momentum", 1.9), ("jacobian", 2.0), ("acceleration", 2.0), ("jacobian_rate", 2.1),
    ],
)  # fmt: skip
def test_three_hinges_cost_less_than_two_joints(function, most, rng):
    one, three = (spherical(rng, 30, hinges) for hinges in (1, 3))
    options = {"link": one.link_names[-1]} if function in ("pose", "jacobian", "jacobian_rate", "acceleration") else {}
    before = one.operations(function, **options).total
    options |= {"link": three.link_names[-1]} if options else {}
    assert before < three.operations(function, **options).total < most * before


def test_bodies_with_mass_and_joints_apart_are_no_hinges():
    """Counts are those of links with mass, unless a massless one carries one other, at its origin, by a turn."""

    def count(**changes):
        given_ = {"position": (0, 0, 0), "joint": "revolute"} | changes
        links = [
            zv.Link("a", mass=1.0, com=(0, 0.1, 0)),
            zv.Link("b", position=(1, 0, 0), axis=(0, 1, 0), mass=given_.pop("mass", 0.0)),
            zv.Link("c", axis=(1, 0, 0), mass=1.0, com=(0, 0.2, 0), inertia=1.0, **given_),
        ]
        return zv.Chain(links).operations("inverse_dynamics").total

    general = count(mass=1.0, position=(0, 0, 1))
    assert count() < general == count(mass=1.0) == count(position=(0, 0, 1e-9))
    assert count(joint="prismatic") == count(joint="prismatic", mass=1.0)


# ---- motion -----------------------------------------------------------------------------------------------------


def test_energy_and_momentum_of_spherical_joints_are_kept(rng):
    chain = spherical(rng, 2, gravity=(0, 0, 0))
    start = rng.uniform(-0.5, 0.5, chain.n), rng.uniform(-1, 1, chain.n)
    run = chain.simulate(0.5, 1e-3, q=start[0], qd=start[1])
    energy = chain.kinetic_energy(run.q, run.qd)
    assert np.ptp(energy) < 1e-9 * energy[0]
    about = spherical(rng, 1, gravity=(0, 0, 0))  # one body on a fixed point: nothing turns it
    run = about.simulate(0.5, 1e-3, q=rng.uniform(-0.5, 0.5, 3), qd=rng.uniform(-1, 1, 3))
    shift = about.links[0].position
    twist = about.momentum(run.q, run.qd, about="base")
    spin = twist[:, 3:] - np.cross(shift, twist[:, :3])
    assert np.abs(spin - spin[0]).max() < 1e-9 * np.abs(spin[0]).max()
