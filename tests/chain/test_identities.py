"""Laws of mechanics that hold whatever the algorithm."""

import numpy as np
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import (
    copy_link,
    mechanisms,
    random_body,
    random_chain,
    random_links,
    random_place,
    random_rotation,
    random_state,
    random_wrenches,
)
from helpers import DIFFERENCE, OTHER, SELF, assert_close, derivative, tol
from hypothesis import given


def along(q, qd, qdd):
    """The motion with constant acceleration through a state, as a function of time."""
    return lambda t: (q + t * qd + t * t / 2 * qdd, qd + t * qdd)


@given(mechanisms())
def test_equation_of_motion_is_mass_matrix_times_acceleration_plus_bias(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain, (4,))
    external = random_wrenches(rng, chain)
    M, bias = chain.mass_matrix(q), chain.bias(q, qd, external)
    want = np.einsum("bij,bj->bi", M, qdd) + bias
    assert_close(chain.inverse_dynamics(q, qd, qdd, external), want, chain.n, ulps=10 * SELF)


@given(mechanisms())
def test_forward_after_inverse_dynamics_is_the_identity(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain, (4,))
    external = random_wrenches(rng, chain, (4,))
    tau = chain.inverse_dynamics(q, qd, qdd, external)
    # the rounding of tau comes back multiplied by the inverse of M
    scale = np.abs(tau).max() * np.abs(np.linalg.inv(chain.mass_matrix(q))).max() + np.abs(qdd).max()
    for method in ("aba", "cholesky", "cholesky-walk"):
        assert_close(chain.forward_dynamics(q, qd, tau, external, method), qdd, chain.n, ulps=10 * SELF, scale=scale)


@given(mechanisms())
def test_kinetic_energy_is_half_the_quadratic_form_of_the_mass_matrix(mechanism):
    chain, rng = mechanism
    q, qd, _ = random_state(rng, chain, (4,))
    want = 0.5 * np.einsum("bi,bij,bj->b", qd, chain.mass_matrix(q), qd)
    assert_close(chain.kinetic_energy(q, qd), want, chain.n, ulps=10 * SELF)


@given(mechanisms(max_n=8))
def test_power_of_the_drives_is_the_growth_of_energy_plus_friction_losses(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    motion = along(q, qd, qdd)
    growth = derivative(lambda t: chain.kinetic_energy(*motion(t)) + chain.potential_energy(motion(t)[0]))
    tau = chain.inverse_dynamics(q, qd, qdd)
    scale = np.abs(tau) @ np.abs(qd) + chain.kinetic_energy(q, qd)
    assert_close(tau @ qd, growth + chain.friction @ qd**2, chain.n, ulps=DIFFERENCE, scale=scale)


@given(mechanisms(max_n=8))
def test_bias_at_rest_is_the_gradient_of_potential_energy(mechanism):
    chain, rng = mechanism
    q, _, _ = random_state(rng, chain)
    gradient = np.array([derivative(lambda t, u=u: chain.potential_energy(q + t * u)) for u in np.eye(chain.n)])
    scale = chain.total_mass * np.abs(chain.gravity).max() + np.abs(chain.stiffness * (q - chain.rest)).max()
    assert_close(chain.bias(q, np.zeros(chain.n)), gradient, chain.n, ulps=DIFFERENCE, scale=scale)


@given(mechanisms())
def test_holding_efforts_keep_a_chain_at_rest(mechanism):
    chain, rng = mechanism
    q, still, external = random_state(rng, chain)[0], np.zeros(chain.n), random_wrenches(rng, chain)
    tau = chain.bias(q, still, external)
    scale = np.abs(tau).max() * np.abs(np.linalg.inv(chain.mass_matrix(q))).max()
    for method in ("aba", "cholesky", "cholesky-walk"):
        qdd = chain.forward_dynamics(q, still, tau, external, method)
        assert_close(qdd, still, chain.n, ulps=10 * SELF, scale=scale)


def rk4(chain, q, qd, h, steps):
    """Free motion; one state per row, every row with its own end."""

    def rate(q, qd):
        return qd, chain.forward_dynamics(q, qd, np.zeros(chain.n))

    for _ in range(steps):
        k1 = rate(q, qd)
        k2 = rate(q + h / 2 * k1[0], qd + h / 2 * k1[1])
        k3 = rate(q + h / 2 * k2[0], qd + h / 2 * k2[1])
        k4 = rate(q + h * k3[0], qd + h * k3[1])
        q, qd = (x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip((q, qd), k1, k2, k3, k4, strict=True))
    return q, qd


@pytest.mark.parametrize("branching", [False, True])
def test_energy_of_free_motion_is_constant_to_the_order_of_the_integrator(branching, rng):
    chain = random_chain(rng, 4, branching=branching, kinds="revolute", rotor=True, spring=True)
    q, qd, _ = random_state(rng, chain)

    def energy(q, qd):
        return chain.kinetic_energy(q, qd) + chain.potential_energy(q)

    drift = [abs(energy(*rk4(chain, q, qd, 0.2 / steps, steps)) - energy(q, qd)) for steps in (100, 200, 3200)]
    assert drift[0] > 10 * drift[1]
    assert drift[2] <= tol(3200 * chain.n, chain.kinetic_energy(q, qd) + abs(chain.potential_energy(q)))


@given(mechanisms(max_n=8))
def test_base_wrench_is_the_weight_minus_the_growth_of_momentum(mechanism):
    chain, rng = mechanism
    twin = Twin(chain)
    q, qd, qdd = random_state(rng, chain)
    motion, turn = along(q, qd, qdd), np.zeros(6)
    weight = np.zeros(6)
    for link in chain.links:
        force, pose = link.mass * chain.gravity, chain.pose(q, link.name)
        weight += np.concatenate([force, np.cross(pose[:3, :3] @ np.asarray(link.com) + pose[:3, 3], force)])
    for link, wrench in (external := random_wrenches(rng, chain)).items():
        turn += np.concatenate([wrench[:3], wrench[3:] + np.cross(chain.pose(q, link)[:3, 3], wrench[:3])])
    growth = derivative(lambda t: twin.momentum(*motion(t)))
    want = weight + turn - growth
    scale = np.abs([weight, turn, growth]).max()
    assert_close(chain.base_wrench(q, qd, qdd, external), want, chain.n, ulps=DIFFERENCE, scale=scale)


def test_a_free_flying_chain_does_not_push_its_base(rng):
    names = [f"float{i}" for i in range(6)]
    kinds = ["prismatic"] * 3 + ["revolute"] * 3
    floating = [
        zv.Link(name, joint=kind, axis=np.eye(3)[i % 3])
        for i, (name, kind) in enumerate(zip(names, kinds, strict=True))
    ]
    body = zv.Link("body", joint="fixed", parent=names[-1], **random_body(rng))
    arms = [copy_link(link, parent="body" if i % 3 == 0 else None) for i, link in enumerate(random_links(rng, 6))]
    chain = zv.Chain([*floating, body, *arms], gravity=(0, 0, 0))
    q, qd, tau = random_state(rng, chain, (10,))
    q[:, 4] /= 4  # away from the gimbal lock of the three rotations
    tau[:, :6] = 0.0
    for method in ("aba", "cholesky", "cholesky-walk"):
        qdd = chain.forward_dynamics(q, qd, tau, method=method)
        scale = np.abs(chain.reactions(q, qd, qdd)[:, 6:]).max()
        assert_close(chain.base_wrench(q, qd, qdd), np.zeros((10, 6)), chain.n, ulps=OTHER, scale=scale)


@given(mechanisms(max_n=8, friction=False, spring=False))
def test_rate_of_the_mass_matrix_minus_twice_the_coriolis_matrix_is_skew(mechanism):
    chain, rng = mechanism
    weightless = chain.with_gravity((0, 0, 0))
    q, qd, _ = random_state(rng, chain)
    # the velocity terms are quadratic in qd, so their Jacobian is 2 C with Christoffel's C
    twice_C = weightless.derivatives(q, qd, np.zeros(chain.n)).dtau_dqd
    rate = derivative(lambda t: chain.mass_matrix(q + t * qd))
    S = rate - twice_C
    scale = np.abs(chain.mass_matrix(q)).max() * np.abs(qd).max()
    assert_close(S, -S.T, chain.n, ulps=DIFFERENCE, scale=scale)
    velocity_terms = weightless.bias(q, qd)
    assert_close(twice_C @ qd / 2, velocity_terms, chain.n, scale=scale * np.abs(qd).sum())


@given(mechanisms())
def test_external_wrenches_do_the_work_of_the_jacobian(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    external = random_wrenches(rng, chain)
    free, loaded = chain.inverse_dynamics(q, qd, qdd), chain.inverse_dynamics(q, qd, qdd, external)
    work = sum(chain.jacobian(q, link).T @ wrench for link, wrench in external.items())
    assert_close(free - loaded, work, chain.n, scale=np.abs(free).max() + np.abs(work).max())
    # a force at a point is the same force at the origin with the moment of its arm
    link, (wrench, point) = str(rng.choice(chain.link_names)), rng.uniform(-1, 1, (2, 6))
    arm = chain.pose(q, link)[:3, :3] @ point[:3]
    moved = np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])])
    want = chain.jacobian(q, link, point[:3]).T @ wrench
    assert_close(chain.jacobian(q, link).T @ moved, want, chain.n, scale=1.0 + np.abs(want).max())


@given(mechanisms())
def test_reactions_carry_the_joint_efforts_on_their_axes(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    wrench, tau = chain.reactions(q, qd, qdd), chain.inverse_dynamics(q, qd, qdd)
    moving = [link for link in chain.links if link.joint != "fixed"]
    halves = [w[:3] if link.joint == "prismatic" else w[3:] for link, w in zip(moving, wrench, strict=True)]
    along_axis = [half @ link.axis / np.linalg.norm(link.axis) for link, half in zip(moving, halves, strict=True)]
    drives = chain.rotor_inertia * qdd + chain.friction * qd + chain.stiffness * (q - chain.rest)
    scale = np.abs(wrench).max() + np.abs(drives).max()
    assert_close(tau, np.array(along_axis) + drives, chain.n, scale=scale)


def test_gravity_is_an_upward_acceleration_of_the_base(rng):
    links = random_links(rng, 6, branching=True)
    gravity = np.array([1.0, -2.0, -9.0])
    slides = [
        zv.Link(f"slide{i}", joint="prismatic", axis=np.eye(3)[i], parent=None if i else "base") for i in range(3)
    ]
    on_slides = [copy_link(link, parent="slide2" if link.parent == "base" else link.parent) for link in links]
    still, moving = zv.Chain(links, gravity=gravity), zv.Chain(slides + on_slides, gravity=(0, 0, 0))
    q, qd, qdd = random_state(rng, still)
    zero = np.zeros(3)
    tau = moving.inverse_dynamics(*(np.concatenate(pair) for pair in ((zero, q), (zero, qd), (-gravity, qdd))))
    assert_close(tau[3:], still.inverse_dynamics(q, qd, qdd), 9)


def test_turning_base_and_gravity_together_changes_nothing(rng):
    links = random_links(rng, 6, branching=True)
    R = random_rotation(rng)
    turned = [
        copy_link(link, position=R @ link.position, rotation=R @ link.rotation) if link.parent == "base" else link
        for link in links
    ]
    gravity = np.array([0.3, 1.0, -9.8])
    a, b = zv.Chain(links, gravity=gravity), zv.Chain(turned, gravity=R @ gravity)
    state = random_state(rng, a)
    assert_close(b.inverse_dynamics(*state), a.inverse_dynamics(*state), 6)
    assert_close(b.potential_energy(state[0]), a.potential_energy(state[0]), 6, scale=100 * a.total_mass)
    wrench = a.base_wrench(*state)
    assert_close(b.base_wrench(*state), np.concatenate([R @ wrench[:3], R @ wrench[3:]]), 6)


def test_a_payload_is_a_welded_link(arm, rng):
    body = random_body(rng)
    link = arm.link_names[3]
    loaded = arm.with_payload(link, body["mass"], body["com"], body["inertia"])
    welded = zv.Chain([*arm.links, zv.Link("p", parent=link, joint="fixed", **body)], gravity=arm.gravity)
    state = random_state(rng, arm)
    assert_close(loaded.inverse_dynamics(*state), welded.inverse_dynamics(*state), 6)
    assert_close(loaded.mass_matrix(state[0]), welded.mass_matrix(state[0]), 6)
    assert_close(loaded.total_mass, arm.total_mass + body["mass"], 6)


def test_a_link_split_in_two_welded_halves_moves_the_same(rng):
    halves, whole = [], []
    for link in random_links(rng, 5):
        place, body = random_place(rng), random_body(rng)
        halves += [link, zv.Link(f"{link.name}-half", joint="fixed", parent=link.name, **place, **body)]
        R, c = place["rotation"], place["position"] + place["rotation"] @ body["com"]
        mass = link.mass + body["mass"]
        com = (link.mass * link.com + body["mass"] * c) / mass
        arms = ((link.mass, link.com - com), (body["mass"], c - com))
        steiner = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in arms)
        inertia = link.inertia + R @ body["inertia"] @ R.T + steiner
        whole.append(copy_link(link, mass=mass, com=com, inertia=(inertia + inertia.T) / 2))
    one, two = zv.Chain(whole), zv.Chain(halves)
    q, qd, qdd = random_state(rng, one)
    assert_close(two.mass_matrix(q), one.mass_matrix(q), 5)
    assert_close(two.kinetic_energy(q, qd), one.kinetic_energy(q, qd), 5)
    for name in ("inverse_dynamics", "reactions", "base_wrench"):
        assert_close(getattr(two, name)(q, qd, qdd), getattr(one, name)(q, qd, qdd), 5)
