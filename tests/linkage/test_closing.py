"""Closing of loops, and everything that can be wrong with a linkage."""

import numpy as np
import pytest
import zveno as zv
from engines import closed_mechanisms as known

Z = (0, 0, 1)


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "peaucellier", "rssr", "bennett", "delta"])
def test_random_guesses_close(rng, name):
    linkage = getattr(known, name)()
    turning = np.array([link.joint == "revolute" for link in linkage.chain.links])
    for _ in range(40):
        guess = np.where(turning, rng.uniform(-np.pi, np.pi, linkage.n), rng.uniform(-0.5, 0.5, linkage.n))
        q = linkage.close(guess)
        assert np.abs(linkage.residual(q)).max() <= 1e-13


def test_delta_robot_against_its_inverse_kinematics():
    linkage = known.delta()
    for x in ((0.05, -0.08, -0.55), (0, 0, -0.5), (-0.1, 0.1, -0.6)):
        angles = []
        for k in range(3):
            u, v, w = known.Rz(2 * np.pi * k / 3).T @ x + (0.06 - 0.2, 0, 0)
            # 0.6 (u cos t - w sin t) = c
            c = 0.09 + u * u + v * v + w * w - 0.49
            base, open_ = np.arctan2(-w, u), np.arccos(c / (0.6 * np.hypot(u, w)))
            angles.append(max((base + open_, base - open_), key=np.cos))
        hold = dict(zip(("px_joint", "py_joint", "pz_joint"), x, strict=True))
        q = linkage.close([*angles, *x, 0, 0, 0], hold=hold)
        assert q[:3] == pytest.approx(np.angle(np.exp(1j * np.array(angles))), abs=1e-12)
        assert np.abs(q[6:]).max() < 1e-12


def test_a_linkage_that_cannot_close_names_its_loop_and_gap():
    linkage = known.four_bar(ground=2.5)
    with pytest.raises(zv.UnreachableError, match=r"'coupler-rocker' of model 'chain' stays open by 0\.6 m") as caught:
        linkage.close((0.1, 0.1, 3.0))
    error = caught.value
    assert error.constraint == "coupler-rocker"
    assert error.gap == pytest.approx(0.6, rel=2e-3)
    assert error.angle < 1e-6
    assert error.cause == "cannot reach"
    assert error.q.shape == (3,)
    q = linkage.close([(0.1, 0.1, 3.0), (0, 0, 3)], on_error="nan")
    assert np.isnan(q).all()


def test_limits_are_kept_and_named():
    links = [x._with(lower=-0.3, upper=0.3) if x.name == "rocker" else x for x in known.four_bar().chain.links]
    linkage = zv.Linkage(zv.Chain(links), known.four_bar().constraints, length=1.0)
    with pytest.raises(zv.UnreachableError, match="joints at a limit: rocker_joint") as caught:
        linkage.close((0.8, -0.2, 0.2), hold=["crank_joint"])
    assert caught.value.joints == ("rocker_joint",)


def test_a_reversed_axis_is_refused():
    chain = known.four_bar().chain
    loop = zv.Loop.revolute("coupler", "rocker", point_a=(0.9, 0, 0), point_b=(0.7, 0, 0), axis_a=Z, axis_b=(0, 0, -1))
    linkage = zv.Linkage(chain, [loop], length=1.0)
    with pytest.raises(zv.UnreachableError, match="'coupler-rocker' closes with its axes reversed") as caught:
        linkage.close((0.8, -0.2, 1.6))
    assert caught.value.cause == "axis reversed"


def test_contradicting_constraints_are_named():
    chain = known.four_bar().chain
    frames = {"rotation_a": np.eye(3), "rotation_b": np.eye(3)}
    welds = [zv.Loop.weld("base", "crank", point_a=(0, 0, z), **frames, name=f"weld{z}") for z in (0, 1)]
    linkage = zv.Linkage(chain, welds, length=1.0)
    with pytest.raises(zv.UnreachableError, match="'weld1' of model 'chain' stays open by 1 m"):
        linkage.close((0, 0, 0))
    with pytest.raises(ValueError, match="constraint 'weld1' of model 'chain' is open by 1 m"):
        linkage.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))


def test_an_open_state_is_refused():
    linkage = known.four_bar()
    with pytest.raises(ValueError, match="forward_dynamics: constraint 'coupler-rocker' of model 'chain' is open by"):
        linkage.forward_dynamics([0.1, 0.2, 0.3], np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="in row 1, expected a q that meets it"):
        linkage.forward_dynamics([linkage.close([0.8, -0.2, 1.6]), [0.1, 0.2, 0.3]], np.zeros(3), np.zeros(3))
    with pytest.raises(ValueError, match="mobility: constraint 'coupler-rocker' is open by"):
        linkage.mobility([0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda c: zv.Linkage(c, [zv.Loop.spherical("couple", "rocker")]), "no link 'couple'; did you mean 'coupler'"),
        (lambda c: zv.Linkage(c, [zv.Loop.spherical("coupler", "coupler")]), "a and b are both 'coupler'"),
        (lambda c: zv.Linkage(c, [zv.Loop.weld("coupler", "rocker")]), "reference_a is missing"),
        (
            lambda c: zv.Linkage(c, [zv.Loop.revolute("coupler", "rocker", axis_a=(0, 0, 0))]),
            "axis_a is .*, expected a",
        ),
        (lambda c: zv.Linkage(c, [zv.Loop.screw("coupler", "rocker", pitch=0.0)]), "pitch is 0"),
        (lambda c: zv.Linkage(c, [zv.Loop.distance("coupler", "rocker", length=-1)]), "length is -1"),
        (lambda c: zv.Linkage(c, [zv.Loop.spherical("coupler", "rocker")] * 2), "two constraints are called"),
        (
            lambda c: zv.Linkage(c, constraints=[zv.constraints.coupling({"crank": 1})]),
            "no joint 'crank'; did you mean",
        ),
        (lambda c: zv.Linkage(c, ["loop"]), r"loops\[0\] is 'loop', expected a Loop"),
        (lambda c: zv.Linkage(c, length=0.0), "length is 0"),
        (lambda c: zv.constraints.pose("base", "crank", position="xq"), "position is 'xq'"),
        (lambda c: zv.constraints.coupling({}), "joints is {}"),
        (lambda c: zv.constraints.target(3), "function is 3"),
        (lambda c: zv.constraints.function(abs, jacobian=abs), "expected jacobian and bias together"),
        (lambda c: zv.Constraint.from_dict({"kind": "rope", "name": "x"}), "kind is 'rope'"),
    ],
)
def test_faults_of_descriptions_are_named(make, text):
    with pytest.raises(zv.ModelError, match=text):
        make(known.four_bar().chain)


def test_functions_that_give_nonsense_are_named():
    chain = known.four_bar().chain
    still = (0, 0, 0)
    nan = zv.constraints.target(lambda t: (np.eye(3), (np.nan, 0, 0), still, still, still, still))
    linkage = zv.Linkage(chain, constraints=[zv.constraints.point_fixed(nan, "rocker")])
    with pytest.raises(ValueError, match=r"constraint '[^']+': p of the target at t = 0.5 is \[nan, 0.0, 0.0\]"):
        linkage.residual(np.zeros(3), 0.5)
    with pytest.raises(ValueError, match="p of the target"):
        linkage.close(np.zeros(3))
    rod = zv.constraints.distance("base", "rocker", length=lambda t: (1.0, 0.0), name="rod")
    with pytest.raises(
        ValueError, match="constraint 'rod': value, rate, second rate at t = 0 has 2 numbers, expected 3"
    ):
        zv.Linkage(chain, constraints=[rod]).residual(np.zeros(3))
    user = zv.constraints.function(lambda q, t: [q[0] * np.nan], name="mine")
    with pytest.raises(ValueError, match=r"constraint 'mine': f at t = 0, q = .* is \[nan\]"):
        zv.Linkage(chain, constraints=[user]).residual(np.zeros(3))
    rough = zv.constraints.function(lambda q, t: [abs(float(q[0]))], name="rough")
    with pytest.raises(ValueError, match="constraint 'rough': f cannot be called with complex numbers"):
        zv.Linkage(chain, constraints=[rough]).constraint_jacobian(np.ones(3))


def test_drivers_that_do_not_determine_the_motion():
    linkage = known.five_bar()
    q = linkage.close((2, -1.2, 1, 1.3))
    with pytest.raises(zv.SingularityError, match="velocities: left1_joint do not determine the other joints"):
        linkage.velocities(q, {"left1_joint": 1.0})
    with pytest.raises(ValueError, match=r"no joint 'left1_join'.*did you mean"):
        linkage.velocities(q, {"left1_join": 1.0})
    rates = {name: 1.0 for name in linkage.joint_names}
    with pytest.raises(ValueError, match="contradict the constraints"):
        linkage.velocities(q, rates)
    with pytest.raises(ValueError, match="2 different ones"):
        linkage.independent(q, ["left1_joint"])
    assert linkage.independent(q, ["left1_joint", "right1_joint"]) == ("left1_joint", "right1_joint")


def test_moving_targets_out_of_reach_tell_time_and_gap():
    chain = zv.robots.two_link()
    still = (0, 0, 0)
    away = zv.constraints.target(lambda t: (np.eye(3), (1 + t, 0, 0), still, (1, 0, 0), still, still))
    linkage = zv.Linkage(chain, constraints=[zv.constraints.point_fixed(away, "tip", name="follow")])
    assert np.abs(linkage.residual(linkage.close([0.3, 0.5], t=0.5), 0.5)).max() < 1e-12
    with pytest.raises(
        zv.UnreachableError, match=r"'follow' of model 'two_link' stays open by 1 m .* at t = 2"
    ) as caught:
        linkage.close([0.3, 0.5], t=2.0)
    assert caught.value.gap == pytest.approx(1.0, rel=1e-3)


def test_functions_that_raise_are_named():
    chain, still = known.four_bar().chain, (0, 0, 0)

    def broken(t):
        raise KeyError("log")

    for constraint in (
        zv.constraints.coupling({"crank_joint": 1.0}, offset=broken, name="mine"),
        zv.constraints.point_fixed(zv.constraints.target(broken), "rocker", name="mine"),
        zv.constraints.function(lambda q, t: broken(t), name="mine"),
    ):
        with pytest.raises(KeyError) as caught:
            zv.Linkage(chain, constraints=[constraint])
        assert caught.value.__notes__ == ["raised by a function of constraint 'mine' at t = 0 s"]
    flat = zv.constraints.target(lambda t: (np.eye(3), still, still))
    linkage = zv.Linkage(chain, constraints=[zv.constraints.point_fixed(flat, "rocker", name="mine")])
    with pytest.raises(ValueError, match=r"constraint 'mine': the target gives .* at t = 0\.5"):
        linkage.residual(np.zeros(3), 0.5)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x, q: x.close(q, hold="crank_joint"), "close: hold is 'crank_joint', expected a list of joints"),
        (lambda x, q: x.velocities(q, {}), "velocities: constraints alone do not determine the other joints"),
        (
            lambda x, q: x.inverse_dynamics(q, 0 * q, 0 * q, ["crank_joint"], bounds=3),
            "inverse_dynamics: bounds is 3, expected a pair",
        ),
        (
            lambda x, q: x.inverse_dynamics(q, 0 * q, 0 * q, ["crank_joint"], bounds=([1, 2], [3, 4])),
            r"inverse_dynamics: bounds is .*, expected two numbers or two arrays of shape \(1,\)",
        ),
        (
            lambda x, q: x.inverse_dynamics(np.tile(q, (2, 1)), np.zeros((3, 3)), q, ["crank_joint"]),
            r"inverse_dynamics: leading shapes q \(2,\), qd \(3,\), qdd \(\), t \(\) do not broadcast",
        ),
        (
            lambda x, q: x.cut_joints(np.tile(q, (2, 1)), np.zeros((3, 3))),
            r"cut_joints: leading shapes q \(2,\), qd \(3,\), qdd \(\) do not broadcast",
        ),
    ],
)
def test_wrong_arguments_of_calls_are_named(call, text):
    linkage = known.four_bar()
    q = linkage.close((0.8, 0.0, 1.5))
    with pytest.raises((ValueError, zv.SingularityError), match=text):
        call(linkage, q)
