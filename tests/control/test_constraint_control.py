"""A controller that brings an arm onto constraints: the error decays as designed."""

import numpy as np
import pytest
import zveno as zv


@pytest.fixture(scope="module")
def arm():
    return zv.robots.puma560()


Q = np.array([0.1, -0.5, 0.4, 0.2, 0.6, 0.1])


def moving(t):
    """A place that circles slowly, turning about z."""
    w, r = 0.7, 0.1
    c, s = np.cos(w * t), np.sin(w * t)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.diag([1.0, -1.0, -1.0])
    p, v, a = (r * np.array(x) for x in ((c, s, 0), (-w * s, w * c, 0), (-w * w * c, -w * w * s, 0)))
    return R, p + np.array([0.5, 0.1, 0.3]), (0, 0, w), v, (0, 0, 0), a


def decay(f0, fd0, w, zeta, times):
    """f'' + 2 zeta w f' + w^2 f = 0."""
    fast = np.sqrt(complex(zeta * zeta - 1)) * w
    a, b = -zeta * w + fast, -zeta * w - fast
    one, two = (fd0 - b * f0) / (a - b), (a * f0 - fd0) / (a - b)
    return (np.exp(a * times)[:, None] * one + np.exp(b * times)[:, None] * two).real


def run_error(linkage, arm, control, q, qd, duration=0.4):
    run = arm.simulate(duration, 2e-3, q=q, qd=qd, tau=control.follow())
    return run, linkage.residual(run.q, run.t), linkage.constraint_velocity(run.q[0], run.qd[0], 0.0)


def test_a_point_follows_a_moving_place_and_the_rest_is_damped(arm):
    tip = arm.link_names[-1]
    point = zv.constraints.point_fixed(zv.constraints.target(moving), tip, point_b=(0, 0, 0.05))
    linkage = zv.Linkage(arm, constraints=[point])
    control = zv.control.ConstraintControl(linkage, G1=2 * 0.6 * 8.0, G0=64.0, posture_kd=6.0)
    assert linkage.m < arm.n
    run, f, fd0 = run_error(linkage, arm, control, Q, np.full(6, 0.2))
    assert np.abs(f[0]).max() > 0.05
    expected = decay(f[0], fd0, 8.0, 0.6, run.t)
    assert np.abs(f - expected).max() < 1e-8
    # nothing damps what the constraint leaves free without posture_kd
    free = zv.control.ConstraintControl(linkage, G1=2 * 0.6 * 8.0, G0=64.0)
    loose, f, _ = run_error(linkage, arm, free, Q, np.full(6, 0.2))
    assert np.abs(f - expected).max() < 1e-8
    assert np.linalg.norm(loose.qd[-1]) > 1.2 * np.linalg.norm(run.qd[-1])


def test_a_pose_is_taken_by_all_joints(arm):
    tip = arm.link_names[-1]
    place = arm.pose(Q, tip)
    weld = zv.Loop.weld(
        arm._base, tip, point_a=place[:3, 3], axis_a=place[:3, 2], reference_a=place[:3, 0], axis_b=(0, 0, 1),
        reference_b=(1, 0, 0), point_b=(0, 0, 0),
    )  # fmt: skip
    linkage = zv.Linkage(arm, [weld])
    assert linkage.m == arm.n
    gains = np.array([6.0, 7.0, 8.0, 9.0, 10.0, 11.0])
    control = zv.control.ConstraintControl(linkage, G1=2 * 1.5 * gains, G0=np.diag(gains**2))
    start = Q + 0.1 * np.array([1, -1, 1, 1, -1, 1])
    run, f, fd0 = run_error(linkage, arm, control, start, np.zeros(6))
    for k, w in enumerate(gains):
        assert np.abs(f[:, k] - decay(f[0, k], fd0[k], w, 1.5, run.t)[:, 0]).max() < 1e-8


def test_the_law_is_that_of_the_pseudo_inverse(arm, rng):
    # (10.4), written out; with more constraints than joints the least squares of what is wanted
    two = zv.robots.two_link()
    for chain, constraint, m in (
        (two, zv.constraints.point_fixed(two._base, "tip", point_a=(0.5, 1.0, 0.2)), 3),
        (arm, zv.constraints.point_on_plane(arm._base, arm.link_names[-1], offset=0.3), 1),
    ):
        linkage = zv.Linkage(chain, constraints=[constraint])
        assert linkage.m == m
        n = chain.n
        q, qd, posture = rng.uniform(-1, 1, (3, n))
        control = zv.control.ConstraintControl(
            linkage, G1=5.0, G0=np.full(m, 7.0), posture=posture, posture_kp=3.0, posture_kd=2.0
        )
        G = linkage.constraint_jacobian(q)
        v = 3.0 * (posture - q) - 2.0 * qd
        inverse = G.T @ np.linalg.inv(G @ G.T) if m <= n else np.linalg.inv(G.T @ G) @ G.T
        f, fd, gam = linkage.residual(q), linkage.constraint_velocity(q, qd), linkage.constraint_bias(q, qd)
        qdd = -inverse @ (gam + 5.0 * fd + 7.0 * f) + (np.eye(n) - inverse @ G) @ v
        expected = chain.bias(q, qd) + chain.mass_matrix(q) @ qdd
        assert control(q, qd) == pytest.approx(expected, rel=1e-10, abs=1e-10)
        many = control(np.stack([q, q]), qd, np.array([0.0, 1.0]))
        assert many.shape == (2, n)
        assert np.allclose(many, expected)


def test_what_it_cannot_do_is_said(arm):
    linkage = zv.Linkage(arm, constraints=[zv.constraints.point_on_plane(arm._base, arm.link_names[-1])])
    control = zv.control.ConstraintControl(linkage, 2.0, 1.0)
    with pytest.raises(TypeError, match="functions of a Linkage cannot be traced"):
        control.c_source()
    with pytest.raises(TypeError, match=r"linkage is .* expected a Linkage"):
        zv.control.ConstraintControl(arm, 2.0, 1.0)
    with pytest.raises(ValueError, match="has no constraints"):
        zv.control.ConstraintControl(zv.Linkage(arm), 2.0, 1.0)
    with pytest.raises(ValueError, match="posture_kp is given without posture"):
        zv.control.ConstraintControl(linkage, 2.0, 1.0, posture_kp=1.0)
    with pytest.raises(ValueError, match="G0 has -1"):
        zv.control.ConstraintControl(linkage, 2.0, -1.0)
    with pytest.raises(ValueError, match="t is nan"):
        control(Q, Q, np.nan)
