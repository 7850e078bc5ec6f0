"""Accelerations and reactions of random closed mechanisms: against Newton-Euler of every body and other engines."""

import copy
import pickle

import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines import closed_mechanisms as known
from engines.random_linkages import KINDS, LENGTH, closed_pair, closing_side, make, rotation, two_branches
from reference import loops as ref
from zveno.bench.pinocchio import to_pinocchio


def in_link_axes(wrench, R):
    return np.r_[R.T @ wrench[:3], R.T @ wrench[3:]]


@pytest.mark.parametrize("kind", KINDS)
def test_every_loop_joint_agrees_with_newton_euler_of_all_bodies(rng, kind):
    linkage, tree, joint, q, qd = closed_pair(rng, kind)
    tau = rng.normal(size=10)
    assert np.abs(linkage.residual(q)).max() < 1e-13
    r = linkage.forward_dynamics(q, qd, tau)
    qdd, trees, loops, left, _ = ref.maximal(tree, [joint], q, qd, tau, LENGTH)
    assert left < 1e-9
    poses = tree.poses(q)
    scale = 1 + np.abs(qdd).max()
    assert np.abs(r.qdd - qdd).max() < 1e-10 * scale
    size = 1 + np.abs(trees).max()
    for b in range(10):
        assert np.abs(r.reaction[b] - in_link_axes(trees[b], poses[b][0])).max() < 1e-9 * size
    assert np.abs(r.loop_reaction[0] - in_link_axes(loops[0], poses[9][0])).max() < 1e-9 * size
    assert r.unique.all()


def test_redundant_loops_share_what_is_open_with_the_least_squares(rng):
    # two welds and a revolute between the same branches: redundant, and every component is open
    chain, tree = two_branches(rng, 3)
    q = rng.uniform(-1, 1, 6)
    poses = tree.poses(q)
    joints, loops = [], []
    for kind, a, b in (("weld", 1, 4), ("weld", 2, 5), ("revolute", 2, 4)):
        side_a = ref.Side(a, rotation(rng), rng.uniform(-0.3, 0.3, 3))
        side_b = ref.Side(b, *closing_side(rng, kind, *side_a.frame(poses, 0.0), *poses[b], {}))
        joints.append(ref.Joint(kind, side_a, side_b, LENGTH))
        loop = make(kind, f"a{a}", f"b{b - 3}", side_a, side_b)
        loops.append(loop._with(name=f"{kind}{len(loops)}"))
    linkage = zv.Linkage(chain, loops, length=LENGTH)
    tau = rng.normal(size=6)
    r = linkage.forward_dynamics(q, np.zeros(6), tau)
    qdd, trees, wrenches, left, free = ref.maximal(tree, joints, q, np.zeros(6), tau, LENGTH)
    assert left < 1e-8
    assert free.shape[-1] == linkage.mobility(q).redundant > 6
    assert np.abs(r.qdd - qdd).max() < 1e-9 * (1 + np.abs(qdd).max())
    for b in range(6):
        assert np.abs(r.reaction[b] - in_link_axes(trees[b], poses[b][0])).max() < 1e-8 * (1 + np.abs(trees).max())
    for k, joint in enumerate(joints):
        assert np.abs(r.loop_reaction[k] - in_link_axes(wrenches[k], poses[joint.b.index][0])).max() < 1e-8
    open_ = np.abs([[in_link_axes(free[b, :, j], poses[b][0]) for j in range(free.shape[-1])] for b in range(6)]).max(1)
    assert np.array_equal(r.unique, open_ < 1e-9)


def test_what_is_unique_asks_for_the_ambiguity(rng):
    linkage, _, _, q, qd = closed_pair(rng, "weld")
    tau = rng.normal(size=10)
    whole = linkage.forward_dynamics(q, qd, tau)
    some = linkage.forward_dynamics(q, qd, tau, outputs=["loop_ambiguity"])
    assert np.array_equal(some.loop_unique, whole.loop_unique)
    with pytest.raises(AttributeError, match="ambiguity was not asked for: it is not among the outputs of the call"):
        some.unique  # noqa: B018
    assert not hasattr(linkage.forward_dynamics(q, qd, tau, outputs=["qdd"]), "loop_unique")


@pytest.mark.parametrize("kind", KINDS)
def test_equations_of_motion_and_joint_efforts(rng, kind):
    linkage, _, _, q, qd = closed_pair(rng, kind)
    chain, tau = linkage.chain, rng.normal(size=10)
    r = linkage.forward_dynamics(q, qd, tau)
    G = linkage.constraint_jacobian(q)
    assert np.abs(G @ r.qdd + linkage.constraint_bias(q, qd)).max() < 1e-10
    left = chain.inverse_dynamics(q, qd, r.qdd) - tau - G.T @ r.multiplier
    assert np.abs(left).max() < 1e-10 * (1 + np.abs(r.multiplier).max())
    # the tree carries the effort of the drive along its axis, and nothing else
    for b, link in enumerate(chain.links):
        part = r.reaction[b, 3:] if link.joint == "revolute" else r.reaction[b, :3]
        assert part @ link.axis == pytest.approx(tau[b], abs=1e-10 * (1 + np.abs(r.reaction).max()))


def test_balls_and_welds_agree_with_pinocchio(rng):
    for kind, contact in (("spherical", pin.ContactType.CONTACT_3D), ("weld", pin.ContactType.CONTACT_6D)):
        linkage, _, joint, q, qd = closed_pair(rng, kind)
        tau = rng.normal(size=10)
        model = to_pinocchio(linkage.chain)
        ids = [model.getJointId(name) for name in linkage.joint_names]
        order = np.array([model.joints[i].idx_v for i in ids])

        def placed(values, model=model, order=order):
            out = np.empty(model.nv)
            out[order] = values
            return out

        frames = [model.frames[model.getFrameId(name)] for name in ("a4", "b4")]
        sides = [pin.SE3(side.R, side.p) for side in (joint.a, joint.b)]
        places = [frame.placement * side for frame, side in zip(frames, sides, strict=True)]
        held = pin.RigidConstraintModel(
            contact, model, frames[0].parentJoint, places[0], frames[1].parentJoint, places[1]
        )
        data = model.createData()
        constraints = pin.StdVec_RigidConstraintModel([held])
        own = pin.StdVec_RigidConstraintData([held.createData()])
        pin.initConstraintDynamics(model, data, constraints, own)
        # prismatic joints of the model read q as it is, turning ones too: all have one coordinate
        qdd = pin.constraintDynamics(model, data, placed(q), placed(qd), placed(tau), constraints, own,
                                     pin.ProximalSettings(1e-14, 1e-14, 50))[order]  # fmt: skip
        r = linkage.forward_dynamics(q, qd, tau)
        assert np.abs(r.qdd - qdd).max() < 1e-9 * (1 + np.abs(qdd).max())


def test_cutting_the_loop_elsewhere_changes_nothing():
    tau = 0.5
    first = known.four_bar_cut("coupler-rocker")
    q = first.close((0.8, -0.2, 1.6), hold=["crank_joint"])
    qd = first.velocities(q, {"crank_joint": 3.0})
    r = first.forward_dynamics(q, qd, (tau, 0, 0))
    second = known.four_bar_cut("rocker-ground")
    other = np.array([q[0], q[1], q[2] - q[0] - q[1]])
    rates = np.array([qd[0], qd[1], qd[2] - qd[0] - qd[1]])
    s = second.forward_dynamics(other, rates, (tau, 0, 0))
    assert s.qdd[0] == pytest.approx(r.qdd[0], rel=1e-12)
    # crank and coupler joints are the same; the rocker's loop joint is now a joint of the tree, A -> B as before
    assert np.abs(s.reaction[:2] - r.reaction[:2]).max() < 1e-12 * 30
    assert np.abs(s.reaction[2] - r.loop_reaction[0]).max() < 1e-12 * 30
    # the loop is rocker -> base in base axes; before, base -> rocker in rocker axes
    R = second.chain.pose(other, "rocker")[:3, :3]
    turned = np.r_[R.T @ s.loop_reaction[0, :3], R.T @ s.loop_reaction[0, 3:]]
    assert np.abs(-turned - r.reaction[2]).max() < 1e-12 * 30
    # the crank's joint is cut, without effort: a drive there would act in the cut
    third = known.four_bar_cut("crank-ground")
    other = np.array([q[2], q[0] + q[1] - q[2], -q[1]])
    rates = np.array([qd[2], qd[0] + qd[1] - qd[2], -qd[1]])
    free, s = first.forward_dynamics(q, qd, (0, 0, 0)), third.forward_dynamics(other, rates, (0, 0, 0))
    assert s.qdd.sum() == pytest.approx(free.qdd[0], rel=1e-12)
    assert np.abs(s.loop_reaction[0] - free.reaction[0]).max() < 1e-12 * 30
    assert np.abs(s.reaction[0] - free.reaction[2]).max() < 1e-12 * 30


def test_order_of_links_and_constraints_does_not_matter(rng):
    linkage = known.peaucellier()
    chain = linkage.chain
    q = linkage.close((0.6, 0.4, -1.0, 0.6, 0.0, -1.0, 1.0), hold=["crank_joint"])
    qd = linkage.velocities(q, {"crank_joint": 1.2})
    tau = rng.normal(size=7)
    r = linkage.forward_dynamics(q, qd, tau)
    order = rng.permutation(7)
    links = [chain.links[i] for i in order]
    mixed = zv.Linkage(zv.Chain(links, gravity=chain.gravity), linkage.constraints[::-1], length=1.0)
    s = mixed.forward_dynamics(q[order], qd[order], tau[order])
    scale = 1 + np.abs(r.reaction).max()
    assert np.abs(s.qdd - r.qdd[order]).max() < 1e-11 * (1 + np.abs(r.qdd).max())
    assert np.abs(s.reaction - r.reaction[order]).max() < 1e-11 * scale
    assert np.abs(s.loop_reaction - r.loop_reaction[::-1]).max() < 1e-11 * scale


def test_batches_threads_and_outputs_have_the_same_bits(rng):
    for name in ("four_bar", "bennett", "delta"):
        linkage = getattr(known, name)()
        guesses = rng.uniform(-1, 1, (40, linkage.n))
        q = linkage.close(guesses, on_error="nan")
        q = q[np.isfinite(q).all(axis=1)][:21]
        assert len(q) > 9
        qd, tau = np.zeros_like(q), rng.normal(size=q.shape)
        for i, x in enumerate(q):
            free = linkage.independent(x)
            qd[i] = linkage.velocities(x, dict(zip(free, rng.normal(size=len(free)), strict=True)))
        whole = linkage.forward_dynamics(q, qd, tau)
        twice = linkage.forward_dynamics(q, qd, tau, threads=2)
        only = linkage.forward_dynamics(q, qd, tau, outputs=("qdd",))
        assert only.multiplier is None
        assert np.array_equal(only.qdd, whole.qdd)
        for i in range(len(q)):
            one = linkage.forward_dynamics(q[i], qd[i], tau[i])
            for a, b, c in zip(one, whole, twice, strict=True):
                assert np.array_equal(a, b[i])
                assert np.array_equal(a, c[i])


def test_rows_are_chosen_for_the_whole_turn():
    # Bennett: at some angles two rows that serve elsewhere are dependent, although the linkage is regular everywhere
    linkage = known.bennett()
    q = np.array([1.1, 2.75889956785, -1.1])
    for angle in np.linspace(0.2, 6.1, 60):
        q = linkage.close([angle, q[1], -angle], hold=["l1_joint"])
        qd = linkage.velocities(q, {"l1_joint": 1.0})
        r = linkage.forward_dynamics(q, qd, (0.4, 0, 0))
        G = linkage.constraint_jacobian(q)
        assert np.abs(G @ r.qdd + linkage.constraint_bias(q, qd)).max() < 1e-10 * (1 + np.abs(r.qdd).max())
        assert linkage.mobility(q).status == "regular"


def test_couplings_gear_two_joints_together():
    arm = zv.robots.two_link()
    gear = zv.constraints.coupling(dict(zip(arm.joint_names, (1.0, -2.0), strict=True)))
    linkage = zv.Linkage(arm, constraints=[gear, gear._with(name="again")])
    q, qd, tau = np.array([0.4, 0.2]), np.array([1.0, 0.5]), np.array([0.3, 0.7])
    r = linkage.forward_dynamics(q, qd, tau)
    assert r.qdd[0] == pytest.approx(2 * r.qdd[1])
    # the reduced equation by hand: q = (2, 1) u
    B = np.array([2.0, 1.0])
    expected = B @ (tau - arm.bias(q, qd)) / (B @ arm.mass_matrix(q) @ B)
    assert r.qdd[1] == pytest.approx(expected, rel=1e-12)
    assert r.multiplier[0] == pytest.approx(r.multiplier[1])  # redundant: half each


def test_arms_with_constraints_that_come_and_go(rng):
    arm = zv.robots.puma560()
    q, qd, tau = rng.normal(size=(3, 6))
    tool = arm.link_names[-1]
    held = [zv.constraints.point_on_plane("base", tool, axis_a=(0, 0, 1))]
    r = arm.constrained_dynamics(q, qd, tau, held)
    J, M = arm.jacobian(q, tool), arm.mass_matrix(q)
    G, gam = J[2:3], arm.acceleration(q, qd, np.zeros(6), tool)[2:3]
    D = G @ np.linalg.solve(M, G.T)
    N = -np.linalg.solve(D, G @ np.linalg.solve(M, tau - arm.bias(q, qd)) + gam)
    assert r.multiplier == pytest.approx(N, rel=1e-10)
    assert r.qdd == pytest.approx(np.linalg.solve(M, tau - arm.bias(q, qd) + G.T @ N), rel=1e-10)
    whole = [zv.constraints.pose("base", tool)]
    r = arm.constrained_dynamics(q, np.zeros(6), tau, whole)
    assert np.abs(r.qdd).max() < 1e-8  # six equations hold six joints


def test_linkages_are_values():
    linkage = known.peaucellier()
    for other in (copy.deepcopy(linkage), pickle.loads(pickle.dumps(linkage)), zv.Linkage.from_dict(linkage.to_dict())):
        assert other == linkage
        assert hash(other) == hash(linkage)
    assert linkage != known.four_bar()
    assert known.four_bar() == known.four_bar()
    assert repr(linkage) == "Linkage 'chain': 7 joints, 3 constraints, 15 equations"


def test_linkages_in_files(tmp_path):
    for name in ("four_bar", "delta", "bennett", "gough"):
        linkage = getattr(known, name)()
        linkage.save(tmp_path / "x.json")
        assert zv.load(tmp_path / "x.json") == linkage
    moving = zv.constraints.distance("base", "l1", length=lambda t: (1, 0, 0))
    with pytest.raises(ValueError, match="has a function of time, which no file can hold"):
        moving.to_dict()


def test_loops_beside_a_urdf(tmp_path):
    linkage = known.four_bar()
    urdf = tmp_path / "four_bar.urdf"
    urdf.write_text(FOUR_BAR)
    toml, json_ = tmp_path / "loops.toml", tmp_path / "loops.json"
    toml.write_text("""length = 1.0
[[loops]]
kind = "revolute"
a = "coupler"
b = "rocker"
point_a = [0.9, 0, 0]
point_b = [0.7, 0, 0]
""")
    entry = '{"kind": "revolute", "a": "coupler", "b": "rocker", "point_a": [0.9, 0, 0], "point_b": [0.7, 0, 0]}'
    json_.write_text(f'{{"length": 1.0, "loops": [{entry}]}}')
    read = [zv.Linkage.from_urdf(urdf, loops=path, gravity=(0, -9.81, 0)) for path in (toml, json_)]
    assert read[0] == read[1]
    assert read[0].constraints == linkage.constraints
    q = linkage.close((0.8, -0.2, 1.6), hold=["crank_joint"])
    qd = linkage.velocities(q, {"crank_joint": 3.0})
    expected = linkage.forward_dynamics(q, qd, (0.5, 0, 0)).qdd
    assert read[0].forward_dynamics(q, qd, (0.5, 0, 0)).qdd == pytest.approx(expected, rel=1e-9)
    for text, message in (
        ("[[loops]]\nkind = 'revolut'\na = 'x'", "kind is 'revolut', expected one of .*did you mean 'revolute'"),
        ("[[loops]]\nkind = 'revolute'\na = 'x'\nb = 'y'\npoint = 1", r"loops\[0\]: .*unexpected keyword argument"),
        ("loops = 3", "loops is 3, expected a list"),
        ("wheels = 3", "unknown key 'wheels'"),
        ("= 3", "is neither TOML nor JSON"),
    ):
        toml.write_text(text)
        with pytest.raises(zv.ModelError, match=message):
            zv.Linkage.from_urdf(urdf, loops=toml)


def body(name, size, m, dy, dz):
    thin, across, _ = known.slender(m, size)
    inertia = f'<inertia ixx="{thin}" iyy="{across}" izz="{across}" ixy="0" ixz="0" iyz="0"/>'
    mass = f'<origin xyz="{size / 2} {dy} {dz}"/><mass value="{m}"/>'
    return f'<link name="{name}"><inertial>{mass}{inertia}</inertial></link>'


def joint(child, parent, x):
    return (
        f'<joint name="{child}_joint" type="continuous"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/></joint>'
    )


FOUR_BAR = (
    '<robot name="chain"><link name="base"/>'
    + body("crank", 0.3, 1.0, 0.01, 0.02)
    + body("coupler", 0.9, 2.5, 0.03, -0.02)
    + body("rocker", 0.7, 1.8, -0.02, 0.01)
    + joint("crank", "base", 0)
    + joint("coupler", "crank", 0.3)
    + joint("rocker", "base", 1)
    + "</robot>"
)


def test_mimic_joints_are_couplings():
    fingers = body("a", 0.1, 0.2, 0, 0) + body("b", 0.1, 0.2, 0, 0)
    text = f"""<robot name="hand"><link name="palm"/>{fingers}
    <joint name="drive" type="continuous"><parent link="palm"/><child link="a"/></joint>
    <joint name="other" type="continuous"><parent link="palm"/><child link="b"/>
    <mimic joint="drive" multiplier="-2" offset="0.1"/></joint></robot>"""
    hand = zv.Chain.from_urdf(text, mimic="couple")
    assert isinstance(hand, zv.Linkage)
    assert hand.close([0.3, 0.0], hold=["drive"]) == pytest.approx([0.3, -0.5])
    with pytest.warns(zv.ModelWarning, match="mimic is ignored, these joints are independent: other"):
        assert isinstance(zv.Chain.from_urdf(text), zv.Chain)
    with pytest.raises(
        zv.ModelError, match="joint 'other' mimics 'drivf', which is no other moving joint; did you mean"
    ):
        zv.Linkage.from_urdf(text.replace('mimic joint="drive"', 'mimic joint="drivf"'))
    with pytest.raises(ValueError, match="mimic is 'follow', expected 'free' or 'couple'"):
        zv.Chain.from_urdf(text, mimic="follow")
