"""Inverse velocity and acceleration problems: laws, bounds of damping, limits against SciPy, analytic gradients."""

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain, random_state
from scipy.optimize import lsq_linear

POINT = (1, 1, 1, 0, 0, 0)


def test_rates_of_a_regular_arm_are_those_of_the_linear_system(rng):
    arm = zv.robots.puma560()
    q, twist = rng.uniform(-1, 1, (200, 6)), rng.uniform(-1, 1, (200, 6))
    for frame in ("world", "link"):
        point = rng.uniform(-0.2, 0.2, 3)
        r = arm.inverse_velocity(q, twist, frame=frame, point=point)
        J = arm.jacobian(q, "link6", point, frame)
        want = np.linalg.solve(J, twist[..., None])[..., 0]
        np.testing.assert_allclose(r.qd, want, rtol=0, atol=1e-11 * np.linalg.cond(J).max())
        assert r.ok.all()
        np.testing.assert_allclose(r.residual, 0, atol=1e-9)
        np.testing.assert_allclose(r.distance, np.linalg.svd(J, compute_uv=False)[:, -1], atol=1e-13)


def test_rates_of_a_redundant_arm_are_those_of_the_pseudo_inverse(rng):
    arm = zv.robots.kuka_iiwa14()
    q, twist, wish = rng.uniform(-1, 1, (100, 7)), rng.uniform(-1, 1, (100, 6)), rng.uniform(-1, 1, (100, 7))
    J = arm.jacobian(q, arm.link_names[-1])
    inverse = np.linalg.pinv(J)
    task = (inverse @ twist[..., None])[..., 0]
    free = wish - (inverse @ J @ wish[..., None])[..., 0]
    np.testing.assert_allclose(arm.inverse_velocity(q, twist).qd, task, atol=1e-10)
    np.testing.assert_allclose(arm.inverse_velocity(q, twist, qd0=wish).qd, task + free, atol=1e-10)
    still = arm.inverse_velocity(q, np.zeros(6), qd0=wish).qd
    cosine = (still * task).sum(axis=-1) / (np.linalg.norm(still, axis=-1) * np.linalg.norm(task, axis=-1))
    np.testing.assert_allclose(cosine, 0, atol=1e-10)  # orthogonal parts
    # a gradient as the wish raises what it is the gradient of
    slope = arm.manipulability(q, gradient=True).d_manipulability
    assert ((arm.inverse_velocity(q, np.zeros(6), qd0=slope).qd * slope).sum(axis=-1) >= 0).all()


def test_other_branches_of_a_tree_do_as_they_are_told(rng):
    tree = random_chain(rng, 9, branching=True)
    tip = next(link.name for link in reversed(tree.links) if np.any(tree.jacobian(np.zeros(9), link.name)))
    q, _, wish = random_state(rng, tree)
    moved = np.abs(tree.jacobian(q, tip)).max(axis=0) > 0
    twist = tree.velocity(q, rng.uniform(-1, 1, 9), tip)
    r = tree.inverse_velocity(q, twist, tip, qd0=wish)
    np.testing.assert_array_equal(r.qd[~moved], wish[~moved])
    np.testing.assert_allclose(tree.velocity(q, r.qd, tip), twist, atol=1e-9)


@pytest.mark.parametrize("damping", [0.01, 0.1])
def test_damping_bounds_the_rates_at_a_singularity_and_is_nothing_away_from_it(damping, rng):
    arm = zv.robots.kawasaki_fs020n()
    twist = rng.normal(size=(100, 6))
    r = arm.inverse_velocity(np.zeros(6), twist, damping=damping)
    assert (np.linalg.norm(r.qd, axis=1) <= np.linalg.norm(twist, axis=1) / (2 * damping) * (1 + 1e-12)).all()
    np.testing.assert_allclose(r.damping, damping, rtol=1e-12)
    q = np.radians([25, 40, -70, 35, -50, 120])  # smallest singular value at the flange 0.23
    away = arm.inverse_velocity(q, twist, damping=damping, region=0.2)
    assert not away.damping.any()
    np.testing.assert_array_equal(away.qd, arm.inverse_velocity(q, twist).qd)
    # inside of the region: the closed form
    half = arm.inverse_velocity(q, twist, damping=damping, region=1.0, length=0.7)
    J = np.diag([1 / 0.7] * 3 + [1] * 3) @ arm.jacobian(q, "tool")
    x = twist * np.array([1 / 0.7] * 3 + [1] * 3)
    mu2 = damping**2 * (1 - np.linalg.svd(J, compute_uv=False)[-1] ** 2)
    np.testing.assert_allclose(half.damping**2, mu2, rtol=1e-10)
    np.testing.assert_allclose(half.qd, x @ np.linalg.solve(J @ J.T + mu2 * np.eye(6), J), atol=1e-10)


def test_limits_are_the_bounded_least_squares_of_scipy(rng):
    seen = set()
    for arm in (zv.robots.ur5e(), zv.robots.kuka_iiwa14()):
        n, tip = arm.n, arm.link_names[-1]
        q, twist, wish = rng.uniform(-1, 1, (60, n)), rng.uniform(-4, 4, (60, 6)), rng.uniform(-1, 1, (60, n))
        twist[::2] *= 0.4
        r = arm.inverse_velocity(q, twist, qd0=wish, limits=True, dt=0.3)
        low = np.maximum(-arm.velocity_limit, (arm.lower - q) / 0.3)
        high = np.minimum(arm.velocity_limit, (arm.upper - q) / 0.3)
        assert ((low <= r.qd) & (r.qd <= high)).all()
        for k, J in enumerate(arm.jacobian(q, tip)):
            best = lsq_linear(J, twist[k], (low[k], high[k]), method="bvls", tol=1e-14)
            assert np.linalg.norm(J @ r.qd[k] - twist[k]) <= np.sqrt(2 * best.cost) + 1e-7
            tied = np.vstack([J, 1e-4 * np.eye(n)]), np.r_[twist[k], 1e-4 * wish[k]]
            near = lsq_linear(*tied, (low[k], high[k]), method="bvls", tol=1e-14).x
            np.testing.assert_allclose(r.qd[k], near, atol=2e-4)  # of all best ones that nearest to the wish
        np.testing.assert_allclose(r.residual, twist - arm.velocity(q, r.qd, tip), atol=1e-12)
        seen |= set(r.status.tolist())
    assert seen == {0, 1}


def test_a_joint_at_its_limit_does_not_move_on():
    link = zv.Link("a", axis=(0, 0, 1), lower=-1, upper=1, mass=1)
    arm = zv.Chain(
        [
            link,
            zv.Link("b", axis=(0, 0, 1), position=(1, 0, 0), mass=1),
            zv.Link("t", joint="fixed", position=(1, 0, 0)),
        ]
    )
    r = arm.inverse_velocity([1.0, 0.5], [0, 0, 0, 0, 0, 2.0], mask=(0, 0, 0, 0, 0, 1), limits=True)
    np.testing.assert_allclose(r.qd, [0, 2])
    assert r.ok
    assert arm.inverse_velocity([1.0, 0.5], [0, 0, 0, 0, 0, -2.0], mask=(0, 0, 0, 0, 0, 1), limits=True).qd[0] < -0.9


def test_accelerations_give_the_wanted_one(rng):
    arm = zv.robots.kuka_iiwa14()
    q, qd, wish = (rng.uniform(-1, 1, (50, 7)) for _ in range(3))
    want, tip = rng.uniform(-3, 3, (50, 6)), arm.link_names[-1]
    for frame in ("world", "link"):
        r = arm.inverse_acceleration(q, qd, want, qdd0=wish, frame=frame, point=(0.1, 0, 0.2))
        made = arm.acceleration(q, qd, r.qdd, tip, (0.1, 0, 0.2), frame)
        np.testing.assert_allclose(made, want, atol=1e-9)
    r = arm.inverse_acceleration(q, qd, want, limits=True, dt=0.01)
    soon = qd + r.qdd * 0.01
    assert (np.abs(soon) <= arm.velocity_limit + 1e-9).all()


@pytest.mark.parametrize("frame", ["world", "link"])
@pytest.mark.parametrize("mask", [None, POINT, (1, 0, 1, 0, 1, 1)])
def test_gradients_of_measures_are_their_derivatives(frame, mask, rng):
    for chain in (random_chain(rng, 7), random_chain(rng, 8, branching=True, fixed=True)):
        tip = chain.link_names[-1]
        q = random_state(rng, chain, (4,))[0]
        held = (
            mask if mask is not None or np.abs(chain.jacobian(q[0], tip)).any(axis=0).sum() > 5 else (1, 0, 0, 0, 0, 0)
        )
        options = {"link": tip, "mask": held, "frame": frame, "length": 0.6, "point": (0.1, 0.2, -0.1)}
        m = chain.manipulability(q, gradient=True, **options)
        for name in ("manipulability", "distance", "condition"):
            steps = [
                (
                    getattr(chain.manipulability(q + 1e-6 * e, **options), name)
                    - getattr(chain.manipulability(q - 1e-6 * e, **options), name)
                )
                / 2e-6
                for e in np.eye(chain.n)
            ]
            slope = getattr(m, f"d_{name}")
            scale = 1 + np.abs(slope).max(axis=-1, keepdims=True)
            tight = m.condition[:, None] < 1e4
            assert (np.abs(np.stack(steps, axis=-1) - slope) < 1e-5 * scale)[np.broadcast_to(tight, slope.shape)].all()


def test_measures_are_those_of_the_singular_values(rng):
    arm = zv.robots.kawasaki_fs020n()
    tool = zv.orientation.from_pyr(np.radians([-30, 0, 0]))
    arm = arm.with_tool((tool @ (0, 0, 0.1), tool), name="torch")
    m = arm.manipulability(np.radians([25, 40, -70, 35, -50, 120]))
    assert round(float(m.distance), 9) == 0.286136226
    assert round(float(m.manipulability), 9) == 0.524311117
    zero = arm.manipulability(np.zeros(6))
    np.testing.assert_allclose(zero.singular_values.round(5), [2.49700, 1.73759, 0.73764, 0.07325, 0.02606, 0])
    q = rng.uniform(-1, 1, (5, 6))
    J = arm.jacobian(q, "torch")
    m = arm.manipulability(q)
    np.testing.assert_allclose(m.condition, np.linalg.cond(J), rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(np.swapaxes(J, 1, 2) @ m.direction[..., None], axis=(1, 2)), m.distance)


def test_what_makes_no_sense_is_refused():
    arm = zv.robots.kawasaki_fs020n()
    q, twist = np.zeros(6), np.eye(6)[3]
    with pytest.raises(zv.SingularityError, match=r"inverse_velocity: the Jacobian .* singular") as caught:
        arm.inverse_velocity(q, twist)
    assert caught.value.margin < 1e-10
    with pytest.raises(zv.SingularityError, match="in row 1"):
        arm.inverse_velocity([q + 0.3, q], twist)
    r = arm.inverse_velocity([q + 0.3, q], twist, on_error="nan")
    assert r.status.tolist() == [0, 2]
    assert np.isnan(r.qd).all(axis=-1).tolist() == [False, True]
    for words, options in (
        ("twist has shape", {"twist": np.zeros(5)}),
        ("no link 'toool'", {"link": "toool"}),
        ("mask holds no", {"mask": np.zeros(6, int)}),
        ("damping is", {"damping": -1.0}),
        ("expected a damping", {"region": 0.1}),
        ("length is", {"length": 0.0}),
        ("expected limits=True", {"dt": 0.1}),
        ("frame is", {"frame": "tool"}),
        ("qd0 has shape", {"qd0": [1.0]}),
        ("finite", {"q": np.full(6, np.nan)}),
        ("do not broadcast", {"q": np.zeros((2, 6)), "twist": np.zeros((3, 6))}),
    ):
        with pytest.raises(ValueError, match=words):
            arm.inverse_velocity(**{"q": q + 0.3, "twist": twist} | options)
    with pytest.raises(ValueError, match="both or neither"):
        arm.inverse_acceleration(q, q, twist, limits=True)
    with pytest.raises(ValueError, match="moved by no joint"):
        zv.Chain([zv.Link("a", mass=1), zv.Link("stand", parent="base", joint="fixed")]).manipulability([0.0], "stand")


def test_results_do_not_depend_on_threads_or_on_the_place_in_a_batch(rng):
    arm = zv.robots.kuka_iiwa14()
    q, twist = rng.uniform(-1, 1, (100, 7)), rng.uniform(-3, 3, (100, 6))
    one, two = (arm.inverse_velocity(q, twist, limits=True, threads=t) for t in (1, 2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(arm.inverse_velocity(q[7], twist[7], limits=True).qd, one.qd[7])
    np.testing.assert_array_equal(arm.inverse_velocity(q[7:8, None], twist[7], limits=True).qd[0, 0], one.qd[7])
