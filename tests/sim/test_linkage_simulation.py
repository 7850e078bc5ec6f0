"""Motion of closed mechanisms: against independent equations of motion, conservation, closed forms in time."""

import numpy as np
import pytest
import zveno as zv
from engines import closed_mechanisms as known
from scipy.integrate import solve_ivp

Z = (0.0, 0.0, 1.0)


@pytest.fixture(scope="module")
def four_bar():
    return zv.mechanisms.four_bar()


@pytest.fixture(scope="module")
def start(four_bar):
    q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
    return q, four_bar.velocities(q, {"crank_joint": 3.0})


def test_a_free_four_bar_moves_as_its_scalar_equation_says(four_bar, start):
    q, qd = start
    run = four_bar.simulate(1.0, 1e-3, q=q, qd=qd, every=1000)
    # an independent scalar equation of motion, DOP853 at 1e-13: crank and its rate after a second
    assert abs(run.q[-1, 0] - -4.362336322213) < 1e-9
    assert abs(run.qd[-1, 0] - -1.892148940955) < 1e-9
    assert abs(run.kinetic_energy[0] + run.potential_energy[0] - 19.7217229720) < 1e-9


def test_closure_and_energy_over_ten_seconds(four_bar, start):
    q, qd = start
    run = four_bar.simulate(10.0, 1e-3, q=q, qd=qd, every=10)
    assert np.abs(four_bar.residual(run.q)).max() < 1e-14
    assert np.abs(four_bar.constraint_velocity(run.q, run.qd)).max() < 1e-13
    energy = run.kinetic_energy + run.potential_energy
    assert np.abs(energy / energy[0] - 1).max() < 1e-8


def test_rk4_with_projection_is_of_fourth_order(four_bar, start):
    q, qd = start
    ends = [four_bar.simulate(0.5, dt, q=q, qd=qd, every=10**6).q[-1] for dt in (8e-3, 4e-3, 2e-3, 2.5e-4)]
    errors = [np.abs(end - ends[-1]).max() for end in ends[:3]]
    assert 10 < errors[0] / errors[1] < 24 and 10 < errors[1] / errors[2] < 24


def test_a_run_back_in_time_returns(four_bar, start):
    q, qd = start
    there = four_bar.simulate(0.5, 5e-4, q=q, qd=qd)
    back = four_bar.simulate(0.5, 5e-4, q=there.q[-1], qd=-there.qd[-1])
    np.testing.assert_allclose(back.q[-1], q, atol=1e-9)
    np.testing.assert_allclose(back.qd[-1], -qd, atol=1e-8)


def test_reactions_along_a_run_are_those_of_its_states(four_bar, start):
    q, qd = start
    run = four_bar.simulate(
        0.1, 1e-3, q=q, qd=qd, tau=[0.5, 0, 0], laws={"rocker_joint": zv.laws.SpringDamper(2.0, 0.1)}
    )
    found = run.reactions()
    one = four_bar.forward_dynamics(run.q[7], run.qd[7], run.tau[7])
    np.testing.assert_allclose(found.loop_reaction[7], one.loop_reaction, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(run.qdd[7], one.qdd, rtol=1e-12)
    assert run.energy_balance.ratio < 1e-8
    pushed = four_bar.simulate(0.1, 1e-3, q=q, qd=qd, external={"coupler": [0, 5.0, 0, 0, 0, 0]})
    assert pushed.energy_balance.ratio < 1e-8
    with pytest.raises(ValueError, match="external wrenches"):
        pushed.reactions()


def test_runs_of_a_batch_are_single_runs(four_bar, start):
    q, qd = start
    many = four_bar.simulate(0.1, 1e-3, q=q, qd=np.array([qd, 2 * qd, 0 * qd]), threads=2)
    for i, factor in enumerate((1, 2, 0)):
        assert np.array_equal(many[i].q, four_bar.simulate(0.1, 1e-3, q=q, qd=factor * qd).q)
    assert isinstance(many[0], zv.LinkageSimulation)


def test_a_pendulum_on_a_rod_swings_like_a_pendulum():
    # a mass on two slides, held by a massless rod: phi'' = -g sin(phi)
    slides = [
        zv.Link("x", parent="base", joint="prismatic", axis=(1, 0, 0)),
        zv.Link("bob", parent="x", joint="prismatic", axis=(0, 1, 0), mass=2.0, inertia=(0.1, 0.1, 0.1)),
    ]
    chain = zv.Chain(slides, gravity=(0, -9.81, 0), base="base")
    rod = zv.Linkage(chain, [zv.Loop.distance("base", "bob", length=1.0)], length=1.0)
    phi = 1.2
    run = rod.simulate(2.0, 1e-3, q=[np.sin(phi), -np.cos(phi)], every=100)
    exact = solve_ivp(lambda t, y: [y[1], -9.81 * np.sin(y[0])], (0, 2), [phi, 0], t_eval=run.t, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(run.q, np.column_stack([np.sin(exact.y[0]), -np.cos(exact.y[0])]), atol=1e-9)
    tension = -run.reactions().multiplier[:, 0]
    np.testing.assert_allclose(tension, 2.0 * (exact.y[1] ** 2 + 9.81 * np.cos(exact.y[0])), atol=1e-7)


def test_a_moving_target_leads_the_mechanism_and_its_work_is_counted():
    arm = zv.robots.two_link()
    tip, at = arm.link_names[-1], arm.pose([0.4, 0.8], arm.link_names[-1])[:3, 3]
    J = arm.jacobian([0.4, 0.8], tip)[:3]
    moving = [k for k in range(3) if np.abs(J[k]).max() > 1e-9]  # the plane of the arm

    def circle(t):
        p, v, a = np.zeros((3, 3))
        p[:] = at
        i, j = moving
        s, c = np.sin(3 * t), np.cos(3 * t)
        p[i], p[j] = at[i] + 0.1 * (c - 1), at[j] + 0.1 * s
        v[i], v[j] = -0.3 * s, 0.3 * c
        a[i], a[j] = -0.9 * c, -0.9 * s
        return np.eye(3), p, np.zeros(3), v, np.zeros(3), a

    target = zv.constraints.target(circle)
    held = zv.Linkage(arm, constraints=[zv.constraints.point_fixed(target, tip)])
    q = held.close([0.4, 0.8])
    run = held.simulate(1.0, 1e-3, q=q, qd=held.project_velocity(q, np.zeros(2)))
    places = arm.pose(run.q, tip)[:, :3, 3]
    np.testing.assert_allclose(places, [circle(t)[1] for t in run.t], atol=1e-12)
    assert run.energy_balance.exchanged > 0.1 and run.energy_balance.ratio < 1e-8
    assert np.abs(run.work_external).max() > 0.1


def test_a_target_that_leaves_the_workspace_is_reported_with_time_and_gap():
    arm = zv.robots.two_link()
    tip = arm.link_names[-1]
    at = arm.pose([0.4, 0.8], tip)[:3, 3]
    out = at / np.linalg.norm(at)
    target = zv.constraints.target(
        lambda t: (np.eye(3), at + out * 0.5 * t, np.zeros(3), out * 0.5, np.zeros(3), np.zeros(3))
    )
    held = zv.Linkage(arm, constraints=[zv.constraints.point_fixed(target, tip)])
    q = held.close([0.4, 0.8])
    with pytest.raises((zv.UnreachableError, zv.SingularityError), match="at t = ") as caught:
        held.simulate(10.0, 1e-3, q=q, qd=held.project_velocity(q, np.zeros(2)))
    record = caught.value.simulation
    reach = np.linalg.norm(arm.pose([0.0, 0.0], tip)[:3, 3])
    assert (
        len(record) > 10
        and np.abs(arm.pose(record.q, tip)[:, :3, 3] - (at + np.outer(0.5 * record.t, out))).max() < 1e-9
    )
    assert abs(np.linalg.norm(at) + 0.5 * record.t[-1] - reach) < 0.02


def test_baumgarte_bounds_what_would_drift_away(four_bar, start):
    options = {"q": start[0], "qd": start[1], "method": "semi-implicit"}
    drifting = four_bar.simulate(2.0, 1e-3, baumgarte=(0.0, 1e-9), **options)
    held = four_bar.simulate(2.0, 1e-3, baumgarte=(100.0, 100.0), **options)
    drift, kept = (np.abs(four_bar.residual(run.q)).max() for run in (drifting, held))
    assert drift > 1e-3 and kept < drift / 10


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "q is missing"),
        ({"q": [0.8, 0.0, 1.5]}, "leaves constraint 'coupler-rocker' open by"),
        ({"qd": [3.0, 0.0, 0.0]}, "qd violates the constraints by"),
        ({"method": "euler"}, "method is 'euler', expected"),
        ({"baumgarte": 3.0}, "baumgarte is 3.0, expected"),
        ({"baumgarte": (1.0, np.nan)}, "baumgarte is nan"),
        ({"qd": [np.nan, 0, 0]}, "qd"),
    ],
)
def test_wrong_starts_are_named(four_bar, start, options, text):
    given = {} if text == "q is missing" else {"q": start[0]} | options
    with pytest.raises(ValueError, match=text):
        four_bar.simulate(0.1, 1e-3, **given)


def test_nan_from_a_function_of_the_user_is_named_and_the_record_kept(four_bar, start):
    def tau(t, q, qd):
        return np.full(3, np.nan) if t > 0.05 else np.zeros(3)

    with pytest.raises(ValueError, match="finite") as caught:
        four_bar.simulate(0.1, 1e-3, q=start[0], qd=start[1], tau=tau)
    assert 40 < len(caught.value.simulation) < 60


def test_a_record_survives_its_file(four_bar, start, tmp_path):
    run = four_bar.simulate(0.05, 1e-3, q=start[0], qd=start[1])
    run.save(tmp_path / "run.npz")
    again = zv.load(tmp_path / "run.npz")
    assert isinstance(again, zv.LinkageSimulation) and again.linkage == four_bar
    assert np.array_equal(again.q, run.q)


# ---- implicit and adaptive steps, a base that moves


@pytest.mark.parametrize(("method", "ratio"), [("gauss", 16), ("midpoint", 4)])
def test_implicit_steps_keep_their_order_and_the_constraints(four_bar, start, method, ratio):
    q, qd = start
    exact = four_bar.simulate(0.5, 2.5e-4, q=q, qd=qd, every=10**6).q[-1]
    runs = [four_bar.simulate(0.5, dt, q=q, qd=qd, method=method) for dt in (8e-3, 4e-3, 2e-3)]
    errors = [np.abs(run.q[-1] - exact).max() for run in runs]
    assert ratio / 1.7 < errors[0] / errors[1] < ratio * 1.7 and ratio / 1.7 < errors[1] / errors[2] < ratio * 1.7
    for run in runs:
        assert np.abs(four_bar.residual(run.q)).max() < 1e-13
        assert np.abs(four_bar.constraint_velocity(run.q, run.qd)).max() < 1e-12


@pytest.mark.parametrize(("method", "error"), [("radau", 3e-7), ("adaptive", 1e-8), ("adaptive-stiff", 1e-6)])
def test_steps_that_are_chosen_reach_the_end_of_the_scalar_equation(four_bar, start, method, error):
    q, qd = start
    run = four_bar.simulate(1.0, 0.01, q=q, qd=qd, method=method)
    assert abs(run.q[-1, 0] - -4.362336322213) < error
    assert np.abs(four_bar.residual(run.q)).max() < 1e-13
    assert np.abs(four_bar.constraint_velocity(run.q, run.qd)).max() < 1e-12
    between = run.at(np.linspace(0.0, 1.0, 333))
    assert np.abs(four_bar.residual(between.q)).max() < 1e-3


@pytest.mark.parametrize(("method", "dt", "error"), [("gauss", 1e-3, 1e-8), ("radau", 1e-2, 2e-6)])
def test_stiff_laws_in_a_closed_mechanism_take_long_steps(method, dt, error):
    # an elbow on a stiff, damped spring: rates of decay of thousands a second
    five_bar = zv.mechanisms.five_bar()
    q = five_bar.close([2.0, -1.22, 1.0, 1.29])
    stiff = {"left1_joint": zv.laws.SpringDamper(1e5, 3e3, reference=float(q[0]))}
    run = five_bar.simulate(1.0, dt, q=q, laws=stiff, method=method)
    exact = five_bar.simulate(1.0, 0.1, q=q, laws=stiff, method="adaptive-stiff", rtol=1e-8, atol=1e-10)
    assert np.abs(run.q[-1] - exact.q[-1]).max() < error
    assert np.abs(five_bar.residual(run.q)).max() < 1e-13
    assert five_bar.simulate(1.0, 1e-3, q=q, laws=stiff, method="rk4", on_error="stop").failure is not None


@pytest.mark.parametrize("method", ["rk4", "gauss", "radau", "adaptive"])
def test_a_moving_target_does_the_same_work_by_every_method(method):
    def place(t):
        return 0.5 + 0.2 * np.sin(2 * t), 0.4 * np.cos(2 * t), -0.8 * np.sin(2 * t)

    def motion(t):
        x, v, a = place(t)
        return np.eye(3), (x, 0.3, 0), (0, 0, 0), (v, 0, 0), (0, 0, 0), (a, 0, 0)

    bar = {"axis": Z, "mass": 1.0, "com": (0.25, 0, 0), "inertia": (0.01, 0.03, 0.03)}
    arm = zv.Chain(
        [zv.Link("upper", parent="base", **bar), zv.Link("lower", parent="upper", position=(0.5, 0, 0), **bar)],
        gravity=(0, -9.81, 0),
    )
    led = zv.Linkage(arm, constraints=[zv.constraints.point_on_line(zv.constraints.target(motion), "lower",
                                       point_b=(0.5, 0, 0), axis_a=(0, 1, 0))])  # fmt: skip
    q = led.close([-0.3, 1.2])
    qd = led.project_velocity(q, [0.0, 0.0])
    run = led.simulate(0.5, 2e-3, q=q, qd=qd, method=method)
    tip = run.chain.pose(run.q, "lower") @ [0.5, 0, 0, 1]
    assert np.abs(tip[:, 0] - place(run.t)[0]).max() < 1e-13
    # energy that came in is the work of the target
    assert np.abs(run.energy_error).max() < 1e-5 * np.abs(run.work_external).max()


def test_a_base_that_falls_makes_weight_vanish(four_bar, start):
    q, qd = start
    falling = np.r_[0, -9.81, 0, np.zeros(6)]
    light = zv.Linkage(zv.Chain(four_bar.chain.links, gravity=(0, 0, 0)), four_bar.constraints)
    for method in ("rk4", "gauss"):
        run = four_bar.simulate(0.5, 1e-3, q=q, qd=qd, base_motion=falling, method=method)
        free = light.simulate(0.5, 1e-3, q=q, qd=qd, method=method)
        np.testing.assert_allclose(run.q, free.q, atol=1e-11)
        with pytest.raises(ValueError, match="expected them as external=, drive= and base_motion="):
            run.reactions()
        found, expected = run.reactions(base_motion=falling), free.reactions()
        np.testing.assert_allclose(found.loop_reaction, expected.loop_reaction, atol=1e-8)


def test_reactions_of_a_run_with_wrenches_are_given_the_wrenches(four_bar, start):
    q, qd = start
    push = {"coupler": np.array([3.0, -2.0, 0, 0, 0, 0.4])}
    run = four_bar.simulate(0.2, 1e-3, q=q, qd=qd, external=push)
    assert np.abs(run.energy_error).max() < 1e-9
    found = run.reactions(external=push)
    np.testing.assert_allclose(found.qdd, run.qdd, atol=1e-9)
    assert np.abs(found.reaction[..., 5]).max() < 1e-9  # hinges without drives


def test_a_singular_start_is_told_as_such():
    flat = known.four_bar(1.0, (0.4, 1.0, 0.4))  # a parallelogram, folded
    with pytest.raises(zv.SingularityError, match=r"simulate: q of run 1 is a singular configuration") as caught:
        flat.simulate(0.1, 1e-3, q=[flat.close([0.8, -0.8, 0.8], hold=["crank_joint"]), np.zeros(3)])
    assert caught.value.cause == "singular"


def test_words_of_others_lead_to_drive(four_bar, start):
    q, qd = start
    with pytest.raises(TypeError, match="did you mean 'drive'"):
        four_bar.simulate(0.1, 1e-3, q=q, qd=qd, motors={})


@pytest.mark.parametrize("stiffness", [1e5, 1e9])
def test_implicit_steps_under_stiff_laws_are_no_worse_than_on_the_open_tree(stiffness):
    five_bar = zv.mechanisms.five_bar()
    q = five_bar.close([2.0, -1.22, 1.0, 1.29])
    laws = {"left1_joint": zv.laws.SpringDamper(stiffness, reference=float(q[0]))}
    kept = five_bar.simulate(1.0, 1e-3, q=q, laws=laws, method="gauss")
    assert kept.energy_balance.ratio < 1e-8
    closed, tree = (x.simulate(1.0, 1e-2, q=q, laws=laws, method="radau") for x in (five_bar, five_bar.chain))
    assert closed.iterations / closed.steps_made < 1.5 * tree.iterations / tree.steps_made


def following(motion):
    chain = zv.robots.two_link()
    linkage = zv.Linkage(
        chain, constraints=[zv.constraints.point_fixed(zv.constraints.target(motion), "tip", name="follow")]
    )
    q = linkage.close([0.3, 0.5])
    return linkage, q


@pytest.mark.parametrize("method", ["gauss", "radau", "adaptive"])
def test_all_methods_tell_which_target_leaves_the_workspace(method):
    still = (0, 0, 0)
    linkage, q = following(lambda t: (np.eye(3), (1.8 + t, 0, 0), still, (1, 0, 0), still, still))
    with pytest.raises(
        zv.UnreachableError, match="constraint 'follow' of linkage 'two_link' cannot be met any"
    ) as caught:
        linkage.simulate(0.4, 0.01, q=q, qd=linkage.velocities(q, {}), method=method)
    assert caught.value.time == pytest.approx(0.2, abs=0.011)
    assert 0 < caught.value.margin < 0.03
    assert caught.value.simulation.t[-1] == pytest.approx(0.2, abs=0.021)


@pytest.mark.parametrize("wrong", ["v", "a", "w", "alpha"])
def test_rates_of_targets_that_are_not_those_of_their_places_are_refused(wrong):
    def motion(t, at_fault=""):
        c, s = np.cos(2 * t), np.sin(2 * t)
        told = {
            "R": np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
            "p": np.array([1 + 0.3 * t * t + 0.2 * np.sin(3 * t), 0, 0]),
            "w": np.array([0, 0, 2.0]),
            "v": np.array([0.6 * t + 0.6 * np.cos(3 * t), 0, 0]),
            "alpha": np.zeros(3),
            "a": np.array([0.6 - 1.8 * np.sin(3 * t), 0, 0]),
        }
        if at_fault:
            told[at_fault] = 1.1 * told[at_fault] + [0, 0, 0.1]
        return tuple(told.values())

    linkage, q = following(motion)
    linkage.simulate(0.02, 1e-3, q=q, qd=linkage.velocities(q, {}))
    linkage, _ = following(lambda t: motion(t, wrong))
    with pytest.raises(ValueError, match=f"constraint 'follow': {wrong} of the target at t = 1e-05 is"):
        linkage.simulate(0.02, 1e-3, q=q, qd=np.zeros(2))


def test_rates_of_offsets_that_are_not_theirs_are_refused_but_corners_are_not(four_bar):
    def turned(angle):
        drive = zv.constraints.coupling({"crank_joint": 1.0}, offset=angle, name="drive")
        linkage = zv.Linkage(four_bar.chain, four_bar.constraints, [drive], length=1.0)
        return linkage, linkage.close([0.8, 0.0, 1.5])

    linkage, q = turned(lambda t: (0.8 + t, 0.5, 0.0))
    with pytest.raises(
        ValueError, match=r"constraint 'drive': rate at t = 1e-05 is \[0.5\], but .* changes at \[1.0\]"
    ):
        linkage.simulate(0.01, 1e-3, q=q, qd=linkage.velocities(q, {}))
    # a corner inside of what is looked at says nothing
    corner = 1.2e-5
    linkage, q = turned(lambda t: (0.8 + 0.5 * max(t - corner, 0.0) ** 2, max(t - corner, 0.0), float(t > corner)))
    assert len(linkage.simulate(0.005, 1e-3, q=q, breaks=[corner])) == 6


def test_a_stiff_start_off_rest_is_told_and_is_no_worse_than_on_the_open_tree():
    five_bar = zv.mechanisms.five_bar()
    q = five_bar.close([2.0, -1.22, 1.0, 1.29])
    laws = {"left1_joint": zv.laws.SpringDamper(1e9, reference=float(q[0]) + 1e-4)}
    errors = []
    for model, options in ((five_bar, {}), (five_bar, {"baumgarte": (1e-3, 1e-3)}), (five_bar.chain, {})):
        exact = model.simulate(0.01, 2.5e-6, q=q, laws=laws, method="gauss", every=400, **options)
        with pytest.warns(
            zv.SimulationWarning, match=r"'left1_joint' .* vibrates at 1.[01]\de\+04 Hz with 5 J, .* 0.001 s"
        ):
            run = model.simulate(0.01, 1e-3, q=q, laws=laws, method="gauss", **options)
        moved = np.abs(exact.q - exact.q[0])[:, 1:].max()
        errors.append(np.abs(run.q - exact.q)[:, 1:].max() / moved)
        if model is five_bar and not options:  # turns of the vibration itself
            fast = five_bar.simulate(1e-3, 2.5e-6, q=q, laws=laws, method="gauss")
            turns = np.count_nonzero(np.diff(np.sign(fast.q[:, 0] - q[0] - 1e-4))) / 2
            assert turns == pytest.approx(10.6, abs=0.6)
    held, unprojected, tree = errors
    assert held == pytest.approx(unprojected, rel=1e-2) and held < tree
