"""Residuals of constraints, their rates, Jacobians and biases, anywhere: off the manifold, with targets that move."""

from functools import cache

import numpy as np
import pytest
import zveno as zv
from engines.random_linkages import KINDS, ball, make, rotation, two_branches, wave
from reference import loops as ref

LENGTH = 0.7


def moving_frame(rng):
    """A frame that turns and moves, for complex times too."""
    a, b, p0, p1, p2 = rng.normal(size=3), rng.normal(size=3), *rng.uniform(-0.5, 0.5, (3, 3))
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)

    def frame(t):
        return ref.turn(a, 0.3 + 0.8 * t + 0.4 * t * t) @ ref.turn(b, np.sin(t)), p0 + p1 * t + p2 * t * t

    @cache
    def motion(t):
        R, p = frame(t)
        R1, R2 = (ref.rate(lambda s: frame(t + s)[0], k) for k in (1, 2))
        W, E = R1 @ R.T, R2 @ R.T + R1 @ R1.T
        v, acc = (ref.rate(lambda s: frame(t + s)[1], k) for k in (1, 2))
        return R, p, (W[2, 1], W[0, 2], W[1, 0]), v, (E[2, 1], E[0, 2], E[1, 0]), acc

    return frame, motion


def timed(f):
    return cache(lambda t: (f(t), ref.rate(lambda s: f(t + s), 1), ref.rate(lambda s: f(t + s), 2)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parent", ["link", "base", "target", "same branch"])
def test_rates_of_every_joint_are_derivatives_of_its_residual(rng, kind, parent):
    chain, tree = two_branches(rng)
    frame, motion = moving_frame(rng)
    index = {"link": 4, "base": -1, "target": -1, "same branch": 6}[parent]
    names = ["base", *chain.link_names]
    side_a = ref.Side(index, rotation(rng), rng.uniform(-0.4, 0.4, 3), frame if parent == "target" else None)
    side_b = ref.Side(9, rotation(rng), rng.uniform(-0.4, 0.4, 3))
    offset, rod = (lambda t: 0.2 + 0.1 * t - 0.3 * t * t), (lambda t: 0.9 + 0.2 * np.sin(t))
    data, given = {}, {}
    if kind in ("universal", "planar", "point_on_plane"):
        data, given = {"offset": offset}, {"offset": timed(offset)}
    if kind == "distance":
        data, given = {"rod": rod}, {"length": timed(rod)}
    if kind == "screw":
        data = given = {"pitch": 1.3, "phase": 0.4}
    a = zv.constraints.target(motion) if parent == "target" else names[index + 1]
    linkage = zv.Linkage(chain, [make(kind, a, "b4", side_a, side_b, **given)], length=LENGTH)
    f = ref.all_residuals(tree, [ref.Joint(kind, side_a, side_b, LENGTH, **data)])
    for _ in range(2):
        q, qd, t = rng.uniform(-1, 1, 10), rng.normal(size=10), rng.uniform(0, 1)
        along = cache(lambda s, q=q, qd=qd, t=t: f(q + qd * s, t + s))
        assert np.abs(linkage.residual(q, t) - f(q, t).real).max() < 1e-13
        assert np.abs(linkage.constraint_jacobian(q, t) - ref.jacobian(lambda x, t=t: f(x, t), q)).max() < 1e-13
        radius = 0.07 if kind == "screw" else 0.25  # the thread is steep
        first, second = (ref.rate(along, order, radius) for order in (1, 2))
        assert np.abs(linkage.constraint_velocity(q, qd, t) - first).max() < 1e-13 * (10 + np.abs(first).max())
        assert np.abs(linkage.constraint_bias(q, qd, t) - second).max() < 3e-13 * (10 + np.abs(second).max())


def test_couplings_poses_surfaces_and_functions(rng):
    chain, tree = two_branches(rng)
    names = chain.joint_names
    offset = lambda t: 0.1 + 0.2 * t * t  # noqa: E731
    side_a, side_b = (ref.Side(i, rotation(rng), rng.uniform(-0.4, 0.4, 3)) for i in (4, 9))

    def user(q, t):
        return np.array([np.sin(q[0]) * q[3] - t * q[1], q[2] ** 2 + t])

    at = {"point_a": side_a.p, "rotation_a": side_a.R, "point_b": side_b.p}
    constraints = [
        zv.constraints.coupling({names[0]: 2.0, names[7]: -0.5}, timed(offset)),
        zv.constraints.pose("a4", "b4", position="xz", rotation="y", **at, rotation_b=side_b.R, name="partly"),
        zv.constraints.point_on_curve("a4", "b4", [ball, wave], **at, name="curve"),
        zv.constraints.function(user, 2),
    ]
    linkage = zv.Linkage(chain, constraints=constraints, length=LENGTH)
    kinds = {link.joint_name: link.joint for link in chain.links}
    scale = LENGTH if {kinds[names[0]], kinds[names[7]]} == {"revolute"} else 1.0
    weld = ref.Joint("weld", side_a, side_b, LENGTH)

    def f(q, t=0.0):
        poses = tree.poses(q)
        (A, pa), (_, pb) = side_a.frame(poses, t), side_b.frame(poses, t)
        x = A.T @ (pb - pa)
        surfaces = [surface(x, t)[0] for surface in (ball, wave)]
        rows = weld.residual(poses, t)[[0, 2, 4]]
        return np.concatenate([[scale * (2 * q[0] - 0.5 * q[7] - offset(t))], rows, surfaces, user(q, t)])

    q, qd, t = rng.uniform(-1, 1, 10), rng.normal(size=10), 0.3
    along = lambda s: f(q + qd * s, t + s)  # noqa: E731
    assert np.abs(linkage.residual(q, t) - f(q, t)).max() < 1e-13
    assert np.abs(linkage.constraint_jacobian(q, t) - ref.jacobian(lambda x: f(x, t), q)).max() < 1e-13
    assert np.abs(linkage.constraint_velocity(q, qd, t) - ref.rate(along, 1)).max() < 1e-12
    bias, expected = linkage.constraint_bias(q, qd, t), ref.rate(along, 2)
    assert np.abs(bias - expected)[:-2].max() < 3e-12
    assert np.abs(bias - expected)[-2:].max() < 1e-9  # differences of the complex step


def test_a_function_with_derivatives_is_checked_against_differences():
    arm = zv.robots.two_link()
    f = lambda q, t: [q[0] * q[1] - t]  # noqa: E731
    right = {
        "jacobian": lambda q, t: [[q[1], q[0]]],
        "time_derivative": lambda q, t: [-1.0],
        "bias": lambda q, qd, t: [2 * qd[0] * qd[1]],
    }
    q, qd = np.array([0.3, 0.4]), np.array([1.0, 2.0])
    linkage = zv.Linkage(arm, constraints=[zv.constraints.function(f, **right)])
    assert linkage.constraint_velocity(q, qd, 0.1) == pytest.approx([0.4 + 0.6 - 1.0], abs=1e-15)
    assert linkage.constraint_bias(q, qd, 0.1) == pytest.approx([4.0])
    for key, wrong in (("jacobian", lambda q, t: [[q[1], -q[0]]]), ("bias", lambda q, qd, t: [qd[0] * qd[1]])):
        with pytest.raises(zv.ModelError, match=f"'function': {key} is"):
            made = zv.Linkage(arm, constraints=[zv.constraints.function(f, **(right | {key: wrong}))])
            made.constraint_bias(q, qd, 0.1)


def test_batches_of_rows_are_single_states(rng):
    chain, _ = two_branches(rng)
    linkage = zv.Linkage(chain, [zv.Loop.revolute("a4", "b4"), zv.Loop.screw("a3", "b3", pitch=0.2)])
    q, qd = rng.normal(size=(2, 3, 7, 10))
    for threads in (1, 2):
        G = linkage.constraint_jacobian(q, threads=threads)
        gam = linkage.constraint_bias(q, qd, threads=threads)
        assert G.shape == (3, 7, 10, 10)
        for at in np.ndindex(3, 7):
            assert np.array_equal(G[at], linkage.constraint_jacobian(q[at]))
            assert np.array_equal(gam[at], linkage.constraint_bias(q[at], qd[at]))
