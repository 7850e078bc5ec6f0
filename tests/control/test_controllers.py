"""Controllers: the motion that they promise, found with forward dynamics; their C, run."""

import subprocess

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import mechanisms, random_state
from hypothesis import given
from scipy.integrate import solve_ivp
from scipy.spatial.transform import RigidTransform, Rotation

Q = np.array([0.1, -0.5, 0.4, 0.2, 0.6, 0.3])


@pytest.fixture(scope="module")
def puma():
    return zv.robots.puma560()


def tool_state(rng, arm, batch=()):
    q = Q + 0.2 * rng.uniform(-1, 1, (*batch, arm.n))
    return q, rng.uniform(-1, 1, (*batch, arm.n))


@given(mechanisms(max_n=8))
def test_errors_of_computed_torque_obey_the_chosen_equation(mechanism):
    chain, rng = mechanism
    q, qd, q_ref = random_state(rng, chain, (3,))
    qd_ref, qdd_ref = rng.uniform(-1, 1, (2, 3, chain.n))
    kp, kd = rng.uniform(1, 50, (2, chain.n))
    tau = zv.control.ComputedTorque(chain, kp, kd)(q, qd, q_ref, qd_ref, qdd_ref)
    e, ed = q_ref - q, qd_ref - qd
    qdd = chain.forward_dynamics(q, qd, tau)
    scale = np.abs(qdd).max() * np.linalg.cond(chain.mass_matrix(q)).max()
    np.testing.assert_allclose(qdd_ref - qdd + kd * ed + kp * e, 0, atol=1e-13 * scale)


def test_the_error_of_a_simulated_arm_decays_as_designed():
    arm, kp, kd = zv.robots.two_link(), 36.0, 10.0

    def motion(t):
        return np.array([np.sin(t), np.cos(2 * t)]), np.array([np.cos(t), -2 * np.sin(2 * t)]), -np.array(
            [np.sin(t), 4 * np.cos(2 * t)]
        )  # fmt: skip

    e0 = np.array([0.3, -0.4])
    start = motion(0.0)
    control = zv.control.ComputedTorque(arm, kp, kd)
    run = arm.simulate(1.0, 1e-3, q=start[0] - e0, qd=start[1], tau=control.follow(motion), every=100)
    wanted = solve_ivp(
        lambda t, y: [y[1], -kp * y[0] - kd * y[1]], (0, 1), [1, 0], t_eval=run.t, rtol=1e-11, atol=1e-13
    )
    error = np.array([motion(t)[0] for t in run.t]) - run.q
    np.testing.assert_allclose(error, np.outer(wanted.y[0], e0), atol=1e-8)


@given(mechanisms(max_n=8))
def test_compensated_gravity_leaves_a_resting_arm_at_rest(mechanism):
    chain, rng = mechanism
    q = random_state(rng, chain)[0]
    tau = zv.control.GravityCompensation(chain, 3.0)(q, np.zeros(chain.n))
    scale = max(np.abs(tau).max(), 1.0) / np.linalg.eigvalsh(chain.mass_matrix(q)).min()
    np.testing.assert_allclose(chain.forward_dynamics(q, np.zeros(chain.n), tau), 0, atol=1e-13 * scale)


@pytest.mark.parametrize("rows", [(0, 1, 2, 3, 4, 5), (0, 1, 2), (2, 5), (4,)])
@pytest.mark.parametrize("posture", [None, np.zeros(6)])
def test_operational_space_gives_the_tool_the_wanted_acceleration(puma, rng, rows, posture):
    q, qd = tool_state(rng, puma, (5,))
    link, point = puma.link_names[-1], np.array([0.1, -0.05, 0.2])
    control = zv.control.OperationalSpace(
        puma, 30.0, 7.0, link, point, rows=rows, posture=posture, posture_kp=20.0, posture_kd=2.0
    )
    T = puma.pose(q, link)
    turn = Rotation.from_rotvec(0.1 * rng.uniform(-1, 1, (5, 3)))
    aim = T.copy()
    aim[:, :3, :3] = turn.as_matrix() @ T[:, :3, :3]
    missing = 0.1 * rng.uniform(-1, 1, (5, 3))
    aim[:, :3, 3] = T[:, :3, 3] + T[:, :3, :3] @ point + missing
    V_ref, a_ref = rng.uniform(-1, 1, (2, 5, 6))
    qdd = puma.forward_dynamics(q, qd, control(q, qd, aim, V_ref, a_ref))
    angle = np.linalg.norm(turn.as_rotvec(), axis=1, keepdims=True)
    e = np.concatenate([missing, turn.as_rotvec() / angle * np.sin(angle)], axis=1)
    V = puma.velocity(q, qd, link, point)
    wanted = a_ref + 7.0 * (V_ref - V) + 30.0 * e
    got = puma.acceleration(q, qd, qdd, link, point)
    np.testing.assert_allclose(got[:, rows], wanted[:, rows], atol=1e-9)


def test_a_posture_moves_what_the_tool_leaves_free(puma, rng):
    q, qd = tool_state(rng, puma)
    aim = puma.pose(q, puma.link_names[-1])
    free, drawn = (
        zv.control.OperationalSpace(puma, 30.0, 7.0, rows=(0, 1, 2), posture=p, posture_kp=50.0)
        for p in (None, q + 0.5)
    )
    difference = puma.forward_dynamics(q, qd, drawn(q, qd, aim)) - puma.forward_dynamics(q, qd, free(q, qd, aim))
    J = puma.jacobian(q, puma.link_names[-1])[:3]
    np.testing.assert_allclose(J @ difference, 0, atol=1e-9)
    assert np.abs(difference).max() > 0.1


@pytest.mark.parametrize("inertia", [None, [4.0, 5.0, 6.0, 0.3, 0.2, 0.1]])
def test_the_tool_yields_like_the_chosen_mass_on_springs(puma, rng, inertia):
    q, qd = tool_state(rng, puma)
    link = puma.link_names[-1]
    A, B = rng.uniform(-1, 1, (2, 6, 6))
    K, D = 100 * (A @ A.T + np.eye(6)), 10 * (B @ B.T + np.eye(6))
    control = zv.control.Impedance(puma, K, D, inertia=inertia)
    F, V_ref, a_ref = rng.uniform(-5, 5, (3, 6))
    aim = puma.pose(q, link)
    aim[:3, 3] += [0.02, -0.01, 0.03]
    more = {} if inertia is None else {"wrench": F}
    tau = control(q, qd, aim, twist_ref=V_ref, acceleration_ref=a_ref, **more)
    qdd = puma.forward_dynamics(q, qd, tau, {link: F})
    J = puma.jacobian(q, link)
    L = np.linalg.inv(J @ np.linalg.inv(puma.mass_matrix(q)) @ J.T) if inertia is None else np.diag(inertia)
    a, V = puma.acceleration(q, qd, qdd, link), puma.velocity(q, qd, link)
    e = np.array([0.02, -0.01, 0.03, 0, 0, 0])
    rest = L @ (a_ref - a) + D @ (V_ref - V) + K @ e + F
    np.testing.assert_allclose(rest, 0, atol=1e-9 * np.abs(K).max())


def controllers(arm):
    inertia = np.diag([4.0, 4.0, 4.0])
    return [
        zv.control.GravityCompensation(arm, 2.0),
        zv.control.ComputedTorque(arm, 100.0, np.linspace(10, 20, arm.n)),
        zv.control.OperationalSpace(arm, 50.0, 10.0, posture=np.zeros(arm.n), posture_kp=5.0, posture_kd=1.0),
        zv.control.Impedance(arm, 500.0, 50.0, rows=(0, 1, 2), inertia=inertia, point=(0, 0, 0.1), regularisation=1e-3),
    ]


@pytest.mark.parametrize("which", range(4))
def test_generated_c_computes_what_the_controller_computes(puma, which, tmp_path):
    control = controllers(puma)[which]
    files = control.save(tmp_path)
    sources = [str(path) for path in files if path.suffix == ".c"]
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-Wpedantic"]
    subprocess.run(["cc", *flags, *sources, "-lm", "-o", str(tmp_path / "test")], check=True)
    done = subprocess.run([str(tmp_path / "test")], capture_output=True, text=True, check=True)
    assert "passed" in done.stdout
    arrays, (tau,) = control.trace().reference(4, seed=7)
    columns = [np.moveaxis(x.reshape(4, -1), 0, -1) for x in arrays]
    (values,) = control.trace().graph.evaluate(*columns)
    np.testing.assert_allclose(np.transpose(values), tau, rtol=1e-9, atol=1e-9 * np.abs(tau).max())


@pytest.mark.parametrize("which", range(4))
def test_rows_of_a_batch_are_single_states(puma, rng, which):
    control = controllers(puma)[which]
    arrays, (tau,) = control.trace().reference(3, seed=1)
    for k in range(3):
        np.testing.assert_allclose(control(*(x[k] for x in arrays)), tau[k], rtol=1e-12, atol=1e-12)
    one = control(arrays[0], arrays[1][0], *(x[0] for x in arrays[2:]))  # broadcast
    assert one.shape == (3, 6)


def test_a_symbol_cannot_be_decided_on(puma):
    class Careless(zv.control.GravityCompensation):
        def _law(self, model, q, qd):
            return super()._law(model, q, qd) * (1.0 if qd[..., 0] > 0 else 2.0)

    with pytest.raises(TypeError, match="has no value yet"):
        Careless(puma).trace()


def test_poses_may_have_any_form(puma):
    control = zv.control.OperationalSpace(puma, 30.0, 7.0)
    T = puma.pose(Q, puma.link_names[-1])
    tau = control(Q, np.zeros(6), T)
    for aim in (RigidTransform.from_matrix(T), (T[:3, 3], T[:3, :3]), {"r": T[:3, 3], "R": T[:3, :3]}):
        np.testing.assert_allclose(control(Q, np.zeros(6), aim), tau, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda a: zv.control.ComputedTorque("puma", 1, 1), "ComputedTorque: chain is 'puma', expected a Chain"),
        (lambda a: zv.control.ComputedTorque(a, [1, 2], 1), r"kp has shape \(2,\), expected \(6,\)"),
        (lambda a: zv.control.ComputedTorque(a, -1, 1), "kp has -1, expected numbers >= 0"),
        (lambda a: zv.control.ComputedTorque(a, np.nan, 1), "kp is nan"),
        (lambda a: zv.control.ComputedTorque(a, 1, 1)(Q, Q), "q_ref is missing: wanted coordinates"),
        (lambda a: zv.control.ComputedTorque(a, 1, 1)(Q, Q, Q[:3]), r"q_ref has shape \(3,\), expected \(6,\)"),
        (
            lambda a: zv.control.ComputedTorque(a, 1, 1)(Q, Q, Q, qref=Q),
            "unknown reference 'qref'; did you mean 'q_ref'",
        ),
        (lambda a: zv.control.ComputedTorque(a, 1, 1)(Q, Q, Q, q_ref=Q), "'q_ref' is given twice"),
        (lambda a: zv.control.ComputedTorque(a, 1, 1)(Q, Q * np.nan, Q), "qd"),
        (lambda a: zv.control.ComputedTorque(a, 1, 1)(np.ones((2, 6)), np.ones((3, 6)), Q), "broadcast"),
        (lambda a: zv.control.ComputedTorque(a, 1, 1).follow(Q), "follow: reference is"),
        (lambda a: zv.control.OperationalSpace(a, 1, 1, "tol"), "link"),
        (lambda a: zv.control.OperationalSpace(a, 1, 1, rows=()), "rows is"),
        (lambda a: zv.control.OperationalSpace(a, 1, 1, rows=(0, 0)), "each component once"),
        (lambda a: zv.control.OperationalSpace(a, 1, 1, rows=(6,)), "rows is 6"),
        (lambda a: zv.control.OperationalSpace(a, 1, 1)(Q, Q, np.eye(3)), "pose_ref"),
        (lambda a: zv.control.Impedance(a, -np.eye(6), 1), "stiffness has the eigenvalue -1"),
        (lambda a: zv.control.Impedance(a, np.triu(np.ones((6, 6))), 1), "stiffness is not symmetric"),
        (lambda a: zv.control.Impedance(a, 1, 1, inertia=0.0), "inertia is singular"),
        (lambda a: zv.control.OperationalSpace(zv.robots.two_link(), 1, 1), "6 rows for 2 joints"),
    ],
)
def test_wrong_arguments_are_named(puma, make, text):
    with pytest.raises((ValueError, TypeError), match=text):
        make(puma)


def test_a_singular_tool_is_said_or_regularised():
    flat = zv.robots.two_link()
    straight, still = np.zeros(2), np.zeros(2)
    aim = flat.pose(straight, flat.link_names[-1])
    aim[0, 3] += 0.1
    J = flat.jacobian(straight, flat.link_names[-1])
    rows = [k for k in range(3) if np.abs(J[k]).max() < 1e-12][:1]  # a direction in which the tool cannot move
    with pytest.raises(zv.SingularityError, match="cannot move along some of the rows"):
        zv.control.OperationalSpace(flat, 1, 1, rows=rows)(straight, still, aim)
    tau = zv.control.OperationalSpace(flat, 1, 1, rows=rows, regularisation=1e-3)(straight, still, aim)
    assert np.isfinite(tau).all()
