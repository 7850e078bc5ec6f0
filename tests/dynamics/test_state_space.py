"""State-space models: every output is the slope of its function, and other libraries take them."""

import control
import numpy as np
import pytest
import reference
import scipy.signal
import zveno as zv
from engines.random_mechanisms import mechanisms, random_chain, random_state, random_wrenches
from helpers import DIFFERENCE, OTHER, ROWS, assert_close, derivative, to_reference
from hypothesis import given
from refusals import check_refused
from scipy.linalg import solve_continuous_are

STATE = {"q", "qd", "qdd", "tau", "base_motion"}
OUTPUTS = sorted(
    name
    for name, row in ROWS.items()
    if not row["private"]
    and {x["name"] for x in row["parameters"] if x["array"]} <= STATE
    and {x["name"] for x in row["parameters"] if x["required"]} <= STATE | {"link"}
)


class Nonlinear:
    """The chain itself as a function of deviations of state and inputs."""

    def __init__(self, chain, state, wrenches, frame, base, link):
        self.chain, self.frame, self.link = chain, frame, link
        self.q, self.qd, self.tau = state
        self.wrenches, self.base = wrenches, base

    def at(self, dx, du):
        """Everything there is after a deviation; du: [tau, wrench on the link, acceleration of the base]."""
        n = self.chain.n
        q, qd, tau = self.q + dx[:n], self.qd + dx[n:], self.tau + du[:n]
        external = {k: w.copy() for k, w in self.wrenches.items()}
        external[self.link] = external.get(self.link, np.zeros(6)) + du[n : n + 6]
        if self.frame == "link":
            for name, wrench in external.items():
                R = self.chain.pose(q, name)[:3, :3]
                external[name] = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        base = self.base + np.concatenate([du[n + 6 :], np.zeros(6)])
        qdd = self.chain.forward_dynamics(q, qd, tau, external, base_motion=base)
        return {"q": q, "qd": qd, "qdd": qdd, "tau": tau, "external": external, "base_motion": base}

    def output(self, name, options, dx, du):
        point = self.at(dx, du)
        names = [x["name"] for x in ROWS[name]["parameters"] if x["name"] in point]
        result = getattr(self.chain, name)(**{k: point[k] for k in names}, **options)
        if isinstance(result, tuple):
            return np.concatenate([np.ravel(x) for x in result])
        if name == "pose":
            return result
        return np.ravel(result)


def slope(f, size):
    return np.stack([derivative(lambda t, e=e: f(t * e)) for e in np.eye(size)], axis=-1)


@pytest.fixture(scope="module", params=["world", "link"])
def nonlinear(request):
    rng = np.random.default_rng(53)
    chain = random_chain(rng, 4, branching=True, fixed=True, friction=True, spring=True, rotor=True)
    q, qd, tau = random_state(rng, chain)
    wrenches = random_wrenches(rng, chain, count=2)
    assert np.count_nonzero(chain.jacobian(q, "tool").any(axis=0)) == 3 and not chain.is_serial
    return Nonlinear(chain, (q, qd, tau), wrenches, request.param, rng.uniform(-1, 1, 9), "tool")


def linear(nonlinear):
    return nonlinear.chain.linearise(
        nonlinear.q,
        nonlinear.qd,
        nonlinear.tau,
        external=nonlinear.wrenches,
        external_frame=nonlinear.frame,
        base_motion=nonlinear.base,
    )


@pytest.mark.parametrize("name", OUTPUTS)
def test_every_function_of_the_table_is_an_output(nonlinear, name):
    chain = nonlinear.chain
    n, inputs = chain.n, [*chain.joint_names, ("wrench", "tool"), "base_acceleration"]
    parameters = {x["name"] for x in ROWS[name]["parameters"]}
    options = {"link": "tool"} if "link" in parameters else {}
    if "point" in parameters:
        options |= {"point": [0.1, -0.2, 0.3], "frame": "link"}
    model = linear(nonlinear).state_space(inputs, [(name, options)])
    still, calm = np.zeros(2 * n), np.zeros(n + 9)
    if name == "pose":
        T = chain.pose(nonlinear.q, "tool")

        def f(dx, du):
            moved = nonlinear.output(name, options, dx, du)
            turn = (moved[:3, :3] @ T[:3, :3].T - T[:3, :3] @ moved[:3, :3].T) / 2
            return np.concatenate([moved[:3, 3], turn[[2, 0, 1], [1, 2, 0]]])
    else:

        def f(dx, du):
            return nonlinear.output(name, options, dx, du)

    C, D = slope(lambda dx: f(dx, calm), 2 * n), slope(lambda du: f(still, du), n + 9)
    # what does not depend on the state has differences that are nothing but rounding
    scale = max(np.abs(C).max(), np.abs(D).max(), np.abs(f(still, calm)).max())
    assert_close(model.C, C, n, ulps=DIFFERENCE, scale=scale)
    assert_close(model.D, D, n, ulps=DIFFERENCE, scale=scale)
    assert_close(model.y0, f(still, calm), n, scale=max(1.0, np.abs(f(still, calm)).max()))
    assert len(model.outputs) == len(set(model.outputs)) == len(model.output_units) == len(C)
    assert all(model.output_units)


def test_state_and_inputs_are_slopes_of_forward_dynamics(nonlinear):
    chain = nonlinear.chain
    n, inputs = chain.n, [*chain.joint_names, ("wrench", "tool"), "base_acceleration"]
    model = linear(nonlinear).state_space(inputs, ["q", "qd", "qdd", "tau"])
    still, calm = np.zeros(2 * n), np.zeros(n + 9)

    def rates(dx, du):
        point = nonlinear.at(dx, du)
        return np.concatenate([point["qd"], point["qdd"]])

    assert_close(model.A, slope(lambda dx: rates(dx, calm), 2 * n), n, ulps=DIFFERENCE)
    assert_close(model.B, slope(lambda du: rates(still, du), n + 9), n, ulps=DIFFERENCE)
    assert np.array_equal(model.C[: 2 * n], np.eye(2 * n)) and not model.D[: 2 * n].any()
    assert np.array_equal(model.C[2 * n : 3 * n], model.A[n:]) and np.array_equal(model.D[2 * n : 3 * n], model.B[n:])
    assert not model.C[3 * n :].any() and np.array_equal(model.D[3 * n :], np.eye(n, n + 9))
    assert np.array_equal(model.x0, np.concatenate([nonlinear.q, nonlinear.qd]))
    assert_close(model.u0[:n], nonlinear.tau, n)


def test_reactions_are_complex_steps_of_the_reference(rng):
    chain = random_chain(rng, 5)
    serial, (q, qd, qdd) = to_reference(chain), random_state(rng, chain)
    tau = chain.inverse_dynamics(q, qd, qdd)

    def loads(x):
        q, qd = x[:5], x[5:]
        rest = np.zeros(5)
        bias, M = reference.rnea(serial, q, qd, rest), reference.composite(serial, q)
        return reference.reactions(serial, q, qd, np.linalg.solve(M, tau - bias)).ravel()

    model = chain.linearise(q, qd, tau).state_space(outputs="reactions")
    assert_close(model.C, reference.complex_step(loads, np.concatenate([q, qd])), 5, ulps=OTHER)


@given(mechanisms(max_n=5))
def test_loads_of_random_trees_are_slopes(mechanism):
    chain, rng = mechanism
    q, qd, tau = random_state(rng, chain)
    still = Nonlinear(chain, (q, qd, tau), {}, "world", np.zeros(9), chain.link_names[0])
    model = chain.linearise(q, qd, tau).state_space(outputs=["base_wrench", ("acceleration", chain.link_names[-1])])
    calm = np.zeros(chain.n + 9)
    last = {"link": chain.link_names[-1]}

    def f(dx):
        parts = still.output("base_wrench", {}, dx, calm), still.output("acceleration", last, dx, calm)
        return np.concatenate(parts)

    assert_close(model.C, slope(f, 2 * chain.n), chain.n, ulps=10 * DIFFERENCE)


def test_rows_of_a_batch_are_models_of_their_states(tree, rng):
    q, qd, tau = random_state(rng, tree, (3,))
    wanted = ["com", ("velocity", "tool", {"point": (0, 0, 0.1)}), "reactions", ("q", "l2_joint")]
    options = {"inputs": ["l1_joint", ("wrench", "tool", ("fz", "mx"))], "outputs": wanted, "dt": 0.01}
    external = {"tool": rng.uniform(-1, 1, (3, 6))}
    many = tree.linearise(q, qd, tau, external=external, external_frame="link").state_space(**options)
    assert many.A.shape == (3, 18, 18) and many.D.shape == (3, 3 + 6 + 54 + 1, 3)
    for k in range(3):
        part = {"tool": external["tool"][k]}
        one = tree.linearise(q[k], qd[k], tau[k], external=part, external_frame="link").state_space(**options)
        for name in ("A", "B", "C", "D", "x0", "u0", "y0"):
            assert_close(getattr(many, name)[k], getattr(one, name), 9)


def test_long_evaluations_are_cut_into_pieces(arm, rng, monkeypatch):
    q, qd, tau = random_state(rng, arm, (2,))
    whole = arm.linearise(q, qd, tau).state_space(outputs="reactions")
    monkeypatch.setattr("zveno.dynamics.state_space.NUMBERS", 5000)
    cut = arm.linearise(q, qd, tau).state_space(outputs="reactions")
    assert np.array_equal(whole.C, cut.C) and np.array_equal(whole.D, cut.D)


# ---- other libraries --------------------------------------------------------------------------------------------


def test_zero_order_hold_is_that_of_scipy(arm, rng):
    q, qd, tau = random_state(rng, arm)
    lin = arm.linearise(q, 0.1 * qd, tau)
    model = lin.state_space(outputs=["q", "com"])
    held = lin.state_space(outputs=["q", "com"], dt=0.02)
    A, B, C, D, dt = scipy.signal.cont2discrete(tuple(model), 0.02, method="zoh")
    for got, want in zip(held, (A, B, C, D), strict=True):
        assert_close(got, want, 12, ulps=OTHER)
    assert held.dt == dt
    check_refused(ValueError, ["discrete already"], held.discretise, 0.01)
    for bad in (0, -1, "a", np.nan, 1e9):
        check_refused(ValueError, ["discretise", "dt"], lin.state_space, dt=bad)


def test_control_and_scipy_take_the_matrices(arm):
    lin = arm.linearise(np.full(6, 0.3))
    for model in (lin.state_space(), lin.state_space(dt=0.01)):
        step = model.dt or 0
        timing = {} if model.dt is None else {"dt": model.dt}
        a, b = control.ss(*model, step), scipy.signal.StateSpace(*model, **timing)
        A, B, C, D = model
        for name, matrix in zip("ABCD", (A, B, C, D), strict=True):
            assert np.array_equal(getattr(a, name), matrix) and np.array_equal(getattr(b, name), matrix)
        assert a.dt == step and b.dt == model.dt


def test_lqr_stands_a_two_link_arm_up():
    arm, upright = zv.robots.two_link(), np.array([-np.pi / 2, 0.0])
    model = arm.linearise(upright, tau=0, equilibrium=True).state_space()
    A, B, *_ = model
    assert np.linalg.eigvals(A).real.max() > 2  # it falls by itself
    P = solve_continuous_are(A, B, np.eye(4), 0.1 * np.eye(2))
    gain = B.T @ P / 0.1
    assert np.linalg.eigvals(A - B @ gain).real.max() < 0
    assert np.allclose(control.lqr(A, B, np.eye(4), 0.1 * np.eye(2))[0], gain)

    def tau(t, q, qd):
        return -gain @ np.concatenate([q - upright, qd])

    run = arm.simulate(5.0, 1e-3, q=upright + np.array([0.3, -0.4]), tau=tau)
    assert np.abs(run.q[-1] - upright).max() < 1e-3
    with_nobody = arm.simulate(5.0, 1e-3, q=upright + np.array([0.003, -0.004]))
    assert np.abs(with_nobody.q[-1] - upright).max() > 0.5


def test_linear_motion_differs_from_the_simulated_one_by_the_square_of_the_deviation():
    arm, hanging = zv.robots.two_link(), np.array([np.pi / 2, 0.0])
    push, start = np.array([0.4, -0.3]), np.array([0.2, -0.1, 0.3, 0.1])
    step = arm.linearise(hanging + np.array([0.3, 0.2])).state_space(outputs=[("pose", "tip")], dt=0.01)
    errors = []
    for size in (0.04, 0.02, 0.01):
        x, u = size * start, size * push
        run = arm.simulate(0.5, 0.01 / 8, every=8, q=step.x0[:2] + x[:2], qd=x[2:], tau=step.u0 + u)
        tips = arm.pose(run.q, "tip")[:, :3, 3]
        error = 0.0
        for state, tip in zip(np.c_[run.q, run.qd], tips, strict=True):
            y = step.y0[:3] + (step.C @ x)[:3]
            error = max(error, np.abs(step.x0 + x - state).max(), np.abs(y - tip).max())
            x = step.A @ x + step.B @ u
        errors.append(error)
    ratios = np.array(errors[:-1]) / errors[1:]
    assert np.all(np.abs(ratios - 4) < 0.3), ratios
    assert errors[-1] < 1e-3


# ---- names and refusals -----------------------------------------------------------------------------------------


def test_names_and_units_tell_what_the_numbers_are():
    arm = zv.robots.scara()
    model = arm.linearise(np.zeros(4)).state_space(
        inputs=["link3_joint", "link1_joint", ("wrench", "tool", ("fx", "mz")), "base_acceleration"],
        outputs=[("pose", "tool"), ("q", "link3_joint"), "base_wrench", "forward_dynamics", "potential_energy"],
    )
    assert model.states[:4] == tuple(f"q link{k}_joint" for k in (1, 2, 3, 4))
    assert model.state_units == ("rad", "rad", "m", "rad", "rad/s", "rad/s", "m/s", "rad/s")
    assert model.inputs[:4] == ("tau link3_joint", "tau link1_joint", "wrench tool fx", "wrench tool mz")
    assert model.input_units == ("N", "N m", "N", "N m", *["m/s^2"] * 3)
    assert model.outputs[:7] == (*(f"pose tool {x}" for x in ("x", "y", "z", "rx", "ry", "rz")), "q link3_joint")
    assert model.output_units[:7] == ("m", "m", "m", "rad", "rad", "rad", "m")
    assert model.outputs[7:13] == tuple(f"base_wrench {x}" for x in ("fx", "fy", "fz", "mx", "my", "mz"))
    assert model.output_units[12:18] == ("N m", "rad/s^2", "rad/s^2", "m/s^2", "rad/s^2", "J")
    assert model.outputs[-1] == "potential_energy"
    assert repr(model) == "StateSpace of 'scara': 8 states, 7 inputs, 18 outputs"


def test_parts_of_a_model_are_chosen_by_name(arm):
    lin = arm.linearise(np.full((2, 6), 0.2))
    whole = lin.state_space(outputs=["com", "q"])
    part = whole.select(inputs=["tau l4_joint", "tau l0_joint"], outputs=["q l2_joint", "com z"])
    assert part.inputs == ("tau l4_joint", "tau l0_joint") and part.outputs == ("q l2_joint", "com z")
    assert np.array_equal(part.A, whole.A) and np.array_equal(part.B, whole.B[..., [4, 0]])
    assert np.array_equal(part.C, whole.C[:, [5, 2]]) and part.D.shape == (2, 2, 2)
    assert np.array_equal(part.y0, whole.y0[:, [5, 2]]) and np.array_equal(part.u0, whole.u0[:, [4, 0]])
    assert part.output_units == tuple(whole.output_units[k] for k in (5, 2))
    check_refused(ValueError, ["select", "outputs", "'com w'", "did you mean"], whole.select, outputs=["com w"])
    check_refused(ValueError, ["select", "inputs", "3"], whole.select, inputs=[3])


def test_dictionaries_are_short_for_wrenches(arm):
    lin = arm.linearise(np.full(6, 0.2))
    whole = lin.state_space(inputs=[("wrench", "l5"), ("wrench", "l2", "fy")])
    assert np.array_equal(whole.B, lin.state_space(inputs={"l5": "wrench", "l2": "fy"}).B)
    one, two = ("velocity", "l5"), ("velocity", "l5", {"frame": "link"})
    assert len(set(lin.state_space(outputs=[one, two]).outputs)) == 12


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"outputs": ["possse"]}, ["'possse'", "base_wrench", "com", "did you mean 'pose'"]),
        ({"outputs": [("pose", "l7")]}, ["'l7'", "link"]),
        ({"outputs": ["velocity"]}, ["('velocity', link)"]),
        ({"outputs": [("com", "l2")]}, ["no options"]),
        ({"outputs": [("velocity", "l2", {"about": "com"})]}, ["options", "point, frame"]),
        ({"outputs": [("velocity", "l2", {"frame": "moon"})]}, ["frame", "moon"]),
        ({"outputs": [("velocity", "l2", {"point": (1, 2)})]}, ["point", "(2,)"]),
        ({"outputs": [("q", "l2")]}, ["('q', joint)", "l2_joint"]),
        ({"outputs": ["q", "q"]}, ["twice", "q l0_joint"]),
        ({"outputs": []}, ["outputs is empty"]),
        ({"outputs": 3}, ["outputs is 3"]),
        ({"outputs": [3]}, ["outputs has 3"]),
        ({"inputs": ["l1"]}, ["'l1'", "('wrench', 'l1')"]),
        ({"inputs": ["l11_joint"]}, ["'l11_joint'", "did you mean"]),
        ({"inputs": [("wrench", "nowhere")]}, ["nowhere", "no such link"]),
        ({"inputs": [("wrench", "l1", "force")]}, ["force", "fx, fy, fz, mx, my, mz"]),
        ({"inputs": {"l1": "pull"}}, ["pull", "fx"]),
        ({"inputs": {"l1": 3}}, ["3", "fx"]),
        ({"inputs": ["l1_joint", "l1_joint"]}, ["twice", "tau l1_joint"]),
        ({"inputs": 7}, ["inputs is 7"]),
        ({"inputs": []}, ["inputs is empty"]),
    ],
)
def test_unknown_inputs_and_outputs_are_refused(arm, options, words):
    lin = arm.linearise(np.zeros(6))
    check_refused(ValueError, words, lin.state_space, **options)


def test_a_joint_that_moves_no_mass_is_named():
    with pytest.warns(zv.ModelWarning, match="moves no mass"):
        chain = zv.Chain([zv.Link("a", mass=1.0, com=(1, 0, 0)), zv.Link("b", axis=(1, 0, 0))])
    lin = chain.linearise([0.0, 0.0])
    for call in (lin.state_space, lin.modes):
        error = check_refused(zv.SingularityError, ["b_joint", "mass"], call)
        assert error.joint == "b_joint"
