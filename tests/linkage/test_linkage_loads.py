"""What acts on closed mechanisms besides efforts of joints, and states that are refused: laws of mechanics."""

import numpy as np
import pytest
import zveno as zv
from engines import closed_mechanisms as known
from engines.random_linkages import KINDS, closed_pair
from hypothesis import given
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)
kinds = st.sampled_from(KINDS)
OUTPUTS = ("qdd", "multiplier", "loop_reaction", "reaction")


def same(a, b, tolerance=1e-9):
    for name in OUTPUTS:
        x, y = getattr(a, name), getattr(b, name)
        assert np.abs(x - y).max() < tolerance * (1 + np.abs(y).max()), name


# ---- rates


@given(seeds, kinds)
def test_rates_that_open_a_loop_are_refused_and_named(seed, kind):
    rng = np.random.default_rng(seed)
    linkage, _, _, q, qd = closed_pair(rng, kind)
    tau = rng.normal(size=10)
    G = linkage.constraint_jacobian(q)
    row = int(np.argmax(np.abs(G).max(axis=1)))
    opening = G[row] / np.linalg.norm(G[row])
    wrong = qd + 0.05 * np.linalg.norm(qd) * opening
    linkage.forward_dynamics(q, qd, tau)
    linkage.forward_dynamics(q, qd + 1e-9 * opening, tau)
    gap = np.abs(linkage.constraint_velocity(q, wrong)).max()
    text = rf"constraint 'a4-b4' of model '.*' opens at {gap:.3g} m/s".replace("+", r"\+")
    for call in (
        lambda: linkage.forward_dynamics(q, wrong, tau),
        lambda: linkage.accelerations(q, wrong, {}),
        lambda: linkage.inverse_dynamics(q, wrong, 0 * q, ["a0_joint"]),
    ):
        with pytest.raises(ValueError, match=text):
            call()
    status = np.zeros(12, np.int16)
    rates = np.tile(qd, (12, 1))
    rates[7] = wrong
    found = linkage.forward_dynamics(q, rates, tau, on_error="nan", status=status)
    bad = np.arange(12) == 7
    assert np.array_equal(np.isnan(found.qdd).all(axis=1), bad) and np.array_equal(status != 0, bad)
    with pytest.raises(ValueError, match="in row 7"):
        linkage.forward_dynamics(q, rates, tau)
    # an arm that is now and then held takes them
    free = linkage.chain.constrained_dynamics(q, wrong, tau, linkage.constraints)
    assert np.isfinite(free.qdd).all()


def test_rates_at_rest_are_refused_where_a_target_moves():
    target = zv.constraints.target(
        lambda t: (np.eye(3), (0.5 + 0.3 * t, 0.4, 0), (0, 0, 0), (0.3, 0, 0), (0, 0, 0), (0, 0, 0))
    )
    arm = zv.Chain(
        [known.bar("upper", "base", (0, 0, 0), 0.5, 1.0), known.bar("lower", "upper", (0.5, 0, 0), 0.5, 1.0)]
    )
    led = zv.Linkage(arm, constraints=[zv.Loop.spherical(target, "lower", point_b=(0.5, 0, 0), name="hand")])
    q = led.close([0.1, 1.0])
    with pytest.raises(ValueError, match=r"'hand' of model .* opens at 0.3 m/s"):
        led.forward_dynamics(q, [0, 0], [0, 0])
    assert np.isfinite(led.forward_dynamics(q, led.velocities(q, {}), [0, 0]).qdd).all()


# ---- external wrenches, motion of the base


@given(seeds, kinds)
def test_wrenches_that_replace_gravity_change_nothing(seed, kind):
    rng = np.random.default_rng(seed)
    linkage, _, _, q, qd = closed_pair(rng, kind)
    chain, tau, other = linkage.chain, rng.normal(size=10), rng.normal(size=3)
    heavy = zv.Linkage(zv.Chain(chain.links, gravity=other), linkage.constraints, length=linkage.length)
    loads, turned = {}, {}
    for link in chain.links:
        R = chain.pose(q, link.name)[:3, :3]
        force = link.mass * (other - chain.gravity)
        loads[link.name] = np.r_[force, np.cross(R @ link.com, force)]
        turned[link.name] = np.r_[R.T @ force, np.cross(link.com, R.T @ force)]
    expected = heavy.forward_dynamics(q, qd, tau)
    same(linkage.forward_dynamics(q, qd, tau, external=loads), expected)
    same(linkage.forward_dynamics(q, qd, tau, external=turned, external_frame="link"), expected)
    # a base that is accelerated is one that weighs more
    moving = np.r_[chain.gravity - other, np.zeros(6)]
    same(linkage.forward_dynamics(q, qd, tau, base_motion=moving), expected)
    many = linkage.forward_dynamics(
        np.tile(q, (9, 1)), qd, tau, external={k: np.tile(v, (9, 1)) for k, v in loads.items()}, base_motion=0 * moving
    )
    same(many, expected)
    # efforts for the same motion
    drives = list(linkage.joint_names)
    one = linkage.inverse_dynamics(q, qd, expected.qdd, drives, external=loads)
    two = heavy.inverse_dynamics(q, qd, expected.qdd, drives)
    three = linkage.inverse_dynamics(q, qd, expected.qdd, drives, base_motion=moving)
    assert np.abs(one.tau - two.tau).max() < 1e-8 * (1 + np.abs(two.tau).max())
    assert np.abs(three.tau - two.tau).max() < 1e-8 * (1 + np.abs(two.tau).max())


@pytest.mark.parametrize("name", ["four_bar", "bennett", "rssr", "delta"])
def test_a_base_that_turns_is_a_turntable(rng, name):
    linkage = getattr(known, name)()
    chain = linkage.chain
    angle, rate, bend = 0.4, 1.3, -2.1
    axis, place = rng.normal(size=3), rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    table = zv.Link("table", parent="ground", axis=axis, position=place, mass=1.0, inertia=(1, 1, 1))
    links = [link._with(parent="table") if link.parent == "base" else link for link in chain.links]
    carried = zv.Chain([table, *links], gravity=chain.gravity, base="ground")
    loops = [x._with(**{side: "table" for side in "ab" if getattr(x, side) == "base"}) for x in linkage.constraints]
    driven = zv.constraints.coupling({"table_joint": 1.0}, lambda t: (angle, rate, bend), name="drive")
    whole = zv.Linkage(carried, [*loops, driven], length=linkage.length)
    guesses = {"four_bar": [0.8, 0, 1.5], "bennett": [1.1, 2.7, -1.1], "rssr": [0.6, 0.05, -0.43, 0.3, 1.06]}
    q = linkage.close(guesses.get(name, np.r_[np.zeros(5), -0.55, np.zeros(3)]))
    qd = linkage.project_velocity(q, rng.normal(size=linkage.n))
    tau = rng.normal(size=linkage.n)
    expected = whole.forward_dynamics(np.r_[angle, q], np.r_[rate, qd], np.r_[0, tau])
    # the base's origin stands on the table's: centripetal terms come with the axis through it
    R = carried.pose(np.r_[angle, q], "table")[:3, :3]
    motion = np.r_[0, 0, 0, rate * axis, bend * axis]
    upright = zv.Linkage(zv.Chain(chain.links, gravity=R.T @ chain.gravity, base="base"), linkage.constraints,
                         length=linkage.length)  # fmt: skip
    found = upright.forward_dynamics(q, qd, tau, base_motion=motion)
    scale = 1 + np.abs(expected.reaction).max()
    assert np.abs(found.qdd - expected.qdd[1:]).max() < 1e-9 * (1 + np.abs(expected.qdd).max())
    unique = expected.unique[1:]
    assert np.abs((found.reaction - expected.reaction[1:])[unique]).max() < 1e-9 * scale


# ---- (L15) drives in the joints that close loops


def test_a_drive_in_the_cut_is_a_drive_of_the_tree():
    first, second, third = (known.four_bar_cut(x) for x in ("coupler-rocker", "rocker-ground", "crank-ground"))
    q = first.close((0.8, -0.2, 1.6), hold=["crank_joint"])
    qd = first.velocities(q, {"crank_joint": 3.0})
    # in the joint of coupler and rocker: a joint of the tree of the second
    r = first.forward_dynamics(q, qd, (0.5, 0, 0), drive=[[0.0, 1.7]])
    other, rates = (np.array([x[0], x[1], x[2] - x[0] - x[1]]) for x in (q, qd))
    s = second.forward_dynamics(other, rates, (0.5, 0, 1.7))
    assert s.qdd[0] == pytest.approx(r.qdd[0], rel=1e-12)
    assert np.abs(s.reaction[:2] - r.reaction[:2]).max() < 1e-10
    assert np.abs(s.reaction[2] - r.loop_reaction[0]).max() < 1e-10
    # the crank's drive, cut
    other, rates = (np.array([x[2], x[0] + x[1] - x[2], -x[1]]) for x in (q, qd))
    s = third.forward_dynamics(other, rates, (0, 0, 0), drive=[[0.0, 0.5]])
    r = first.forward_dynamics(q, qd, (0.5, 0, 0))
    assert s.qdd.sum() == pytest.approx(r.qdd[0], rel=1e-12)
    assert np.abs(s.loop_reaction[0] - r.reaction[0]).max() < 1e-10
    assert np.abs(s.reaction[0] - r.reaction[2]).max() < 1e-10


@given(seeds, st.sampled_from(["revolute", "prismatic", "cylindrical", "screw"]))
def test_the_power_of_a_drive_in_the_cut_is_that_of_its_joint(seed, kind):
    rng = np.random.default_rng(seed)
    linkage, _, _, q, qd = closed_pair(rng, kind)
    tau, drive = rng.normal(size=10), rng.normal(size=(1, 2))
    r = linkage.forward_dynamics(q, qd, tau, drive=drive)
    cut = linkage.cut_joints(q, qd)["a4-b4"]
    gained = qd @ linkage.chain.inverse_dynamics(q, qd, r.qdd)
    given = tau @ qd + np.nan_to_num(drive[0] @ [np.nan_to_num(cut.slide_rate), np.nan_to_num(cut.angle_rate)])
    assert gained == pytest.approx(given, abs=1e-9 * (1 + np.abs(r.multiplier).max()))
    # what the joint leaves free carries the drive
    axis = (
        linkage.chain.pose(q, "b4")[:3, :3].T
        @ linkage.chain.pose(q, "a4")[:3, :3]
        @ linkage.constraints[0].rotation_a[:, 2]
    )
    size = 1e-9 * (1 + np.abs(r.loop_reaction).max())
    if kind in ("revolute", "cylindrical"):
        assert r.loop_reaction[0, 3:] @ axis == pytest.approx(drive[0, 1], abs=size)
    if kind in ("prismatic", "cylindrical"):
        assert r.loop_reaction[0, :3] @ axis == pytest.approx(drive[0, 0], abs=size)


def test_a_relation_of_coordinates_has_no_drive():
    chain = zv.Chain([known.bar("a", "base", (0, 0, 0), 0.5, 1.0), known.bar("b", "base", (1, 0, 0), 0.5, 1.0)])
    geared = zv.Linkage(chain, constraints=[zv.constraints.coupling({"a_joint": 1.0, "b_joint": 2.0}, name="gear")])
    zero = np.zeros(2)
    geared.forward_dynamics(zero, zero, zero, drive=[[0, 0]])
    with pytest.raises(ValueError, match="drive of constraint 'gear' is not zero"):
        geared.forward_dynamics(zero, zero, zero, drive=[[0, 1.0]])
    with pytest.raises(ValueError, match=r"drive has shape \(3,\), expected \(1, 2\)"):
        geared.forward_dynamics(zero, zero, zero, drive=[0, 1.0, 2])
