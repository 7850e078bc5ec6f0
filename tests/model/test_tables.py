"""Serial chains as tables: the textbook's parameters, Denavit-Hartenberg rows, tool frames; there and back."""

import math
import re
import warnings

import numpy as np
import pytest
import zveno as zv
from arms import RP
from engines.pinocchio import Twin
from engines.random_mechanisms import random_body, random_chain, random_rotation, random_state
from helpers import assert_close
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import RigidTransform, Rotation


def assert_printed(actual, expected, digits=9):
    """Equal to every printed digit."""
    np.testing.assert_allclose(actual, expected, rtol=0, atol=0.5000001 * 10.0**-digits)


# ---- the textbook: Leskov et al. (2017) ----------------------------------------------------------------------------

DEGREES = [(180, -90, 0), (180, 0, 0), (0, 90, 0), (0, -90, 0), (180, 90, 0), (0, 0, 0)]
LENGTHS = [(0, 0.15, 0), (0.8, 0, 0), (0, 0.06, 0), (0.7, 0, 0), (0, 0, 0.0525), (0, 0, 0.0675)]
ANGLES = dict(zip(("alpha", "beta", "gamma"), np.radians(DEGREES).T, strict=True))
BODIES = {"m": np.ones(6), "J": np.full((6, 3), 0.01)}
Q = np.radians([25, 40, -70, 35, -50, 120])


TILTED = ((math.radians(-30), 0, 0), (0, 0, 0.1))


def fs020n(tool=TILTED):
    return zv.Chain.from_textbook(
        np.ones(6), **ANGLES, l=LENGTHS, **BODIES, base_frame=((math.pi, 0, 0), (0, 0, 0)), tool_frame=tool
    )


def test_the_table_of_the_kawasaki_gives_the_printed_digits():
    arm = fs020n()
    T = arm.pose(Q, "tool")
    assert_printed(T[:3, 3], (0.508412511, 1.367213546, 0.291714567))
    tau_BT = [
        [-0.948500318, -0.068422030, -0.309298516],
        [-0.309414406, 0.409385011, 0.858292863],
        [0.067896036, 0.909792470, -0.409472575],
    ]
    assert_printed(T[:3, :3], tau_BT)
    assert_printed(np.degrees(zv.orientation.to_pyr(T[:3, :3])), (-115.504778972, -18.016960922, 175.873997567))
    assert_printed(arm.pose(Q, "link5")[:3, 3], (0.567380286, 1.216750950, 0.429803011))  # p_4
    flange = fs020n(None)
    assert_printed(flange.pose(Q, "tool")[:3, 3], (0.539342363, 1.281384260, 0.332661825))  # p_6
    J = arm.jacobian(Q, "tool")
    assert_printed(np.r_[J[3:, 1], J[:3, 1]], (-0.906307787, 0.422618262, 0, 0.123283903, 0.264383184, -1.303980695))
    Xi = np.vstack([J[3:], J[:3]])
    assert_printed(np.linalg.det(Xi), -0.524311117)
    assert_printed(np.linalg.svd(Xi, compute_uv=False)[-1], 0.286136226)
    zero = arm.jacobian(np.zeros(6), "tool")
    singular = np.linalg.svd(np.vstack([zero[3:], zero[:3]]), compute_uv=False)
    assert_printed(singular, (2.49700, 1.73759, 0.73764, 0.07325, 0.02606, 0), digits=5)


def test_the_table_is_the_built_in_arm(rng):
    flange, known = fs020n(None), zv.robots.kawasaki_fs020n()
    q = rng.uniform(-3, 3, (50, 6))
    np.testing.assert_allclose(flange.pose(q, "tool"), known.pose(q, "tool"), rtol=0, atol=1e-14)


def test_right_angles_of_a_table_stay_exact():
    assert set(np.abs([link.rotation for link in fs020n(None).links]).ravel().tolist()) == {0.0, 1.0}


def test_the_revolute_prismatic_arm_gives_the_printed_digits():
    arm = zv.Chain.from_textbook(**RP)
    q, qd, qdd = np.array([[0.6, 0.25], [1.2, -0.4], [0.7, 1.5]])
    assert_printed(arm.pose(q, "tool")[:3, 3], (0.336622675, -0.314936779, 0.4))
    centre = arm.links[1].com
    assert_printed(arm.acceleration(q, qd, qdd, "link2", point=centre)[:3], (-0.170708977, -1.570742272, 0))
    assert_printed(arm.velocity(q, qd, "link2", point=centre)[:3], (-0.158605095, 0.550618220, 0))
    assert_printed(arm.mass_matrix(q), [[0.18585, -0.3], [-0.3, 2.5]])
    assert_printed(arm.with_gravity((0, 0, 0)).bias(q, qd), (-0.36, -0.54))
    assert_printed(arm.inverse_dynamics(q, qd, qdd), (-0.679905, 3.0))
    # reactions: force and moment about the joint's fixed point, base axes; ours is about the point that slides
    first, second = arm.reactions(q, qd, qdd, frame="world")
    assert_printed(first, (-0.771761073, -3.783877764, 63.765, 0.267701014, -7.002472125, -0.679905))
    axis = arm.pose(q, "link2")[:3, 2]
    assert_printed(second[:3], (-0.426772442, -3.926855680, 24.525))
    moment = second[3:] + q[1] * np.cross(axis, second[:3])
    assert_printed(moment, (-2.606280900, -2.493212284, -0.403425))
    # force and moment at the point (0, 0, 0.1) of frame 2, which is the tool
    T = arm.pose(q, "tool")
    at = T[:3, :3] @ (0, 0, 0.1)
    force, moment = np.array([3.0, -2, 5]), np.array([0.1, 0.2, -0.3])
    load = np.r_[force, moment + np.cross(at, force)]
    assert_printed(arm.inverse_dynamics(q, qd, qdd, external={"tool": load}), (-0.786142179, -0.344598650))
    assert_printed(arm.forward_dynamics(q, qd, [1, 2]), (11.109776443, 2.349173173))


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
def test_textbook_frames_are_the_products_of_the_definition(seed, n):
    rng = np.random.default_rng(seed)
    sigma = rng.integers(0, 2, n)
    angles, lengths = rng.uniform(-3, 3, (n, 3)), rng.uniform(-1, 1, (n, 3))
    base, tool = ((rng.uniform(-3, 3, 3), rng.uniform(-1, 1, 3)) for _ in range(2))
    columns = dict(zip(("alpha", "beta", "gamma"), angles.T, strict=True))
    arm = zv.Chain.from_textbook(
        sigma, **columns, l=lengths, m=np.ones(n), J=np.ones(n), base_frame=base, tool_frame=tool
    )
    q = rng.uniform(-3, 3, n)

    def turn(three):
        return Rotation.from_euler("XYZ", three).as_matrix()

    tau = turn(base[0])
    p = tau @ base[1]
    for s, q_i, three, l_i in zip(sigma, q, angles, lengths, strict=True):
        tau = tau @ Rotation.from_rotvec([0, 0, s * q_i]).as_matrix() @ turn(three)
        p = p + tau @ (l_i + (1 - s) * q_i * turn(three).T @ (0, 0, 1))
    tau = tau @ turn(tool[0])
    p = p + tau @ tool[1]
    T = arm.pose(q, "tool")
    np.testing.assert_allclose(T[:3, :3], tau, rtol=0, atol=1e-13)
    np.testing.assert_allclose(T[:3, 3], p, rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_textbook_chains_agree_with_pinocchio(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    bodies = [random_body(rng) for _ in range(n)]
    arm = zv.Chain.from_textbook(
        rng.integers(0, 2, n),
        *rng.uniform(-3, 3, (3, n)),
        rng.uniform(-0.4, 0.4, (n, 3)),
        r=[body["com"] for body in bodies],
        m=[body["mass"] for body in bodies],
        J=[body["inertia"] for body in bodies],
        base_frame=(rng.uniform(-3, 3, 3), rng.uniform(-1, 1, 3)),
        gravity=rng.uniform(-10, 10, 3),
    )
    twin = Twin(arm)
    q, qd, qdd = random_state(rng, arm)
    for got, want in (
        (arm.mass_matrix(q), twin.mass_matrix(q)),
        (arm.inverse_dynamics(q, qd, qdd), twin.inverse_dynamics(q, qd, qdd)),
        (arm.forward_dynamics(q, qd, qdd), twin.forward_dynamics(q, qd, qdd)),
        (arm.pose(q, "tool"), twin.pose(q, "tool")),
        (arm.jacobian(q, "tool"), twin.jacobian(q, "tool")),
        (arm.jacobian_rate(q, qd, "tool"), twin.jacobian_rate(q, qd, "tool")),
    ):
        assert np.abs(got - want).max() <= 1e-11 * max(1.0, np.abs(want).max())


# ---- there and back ------------------------------------------------------------------------------------------------


FORMS = ["standard", "modified", "textbook"]


def again(chain, form):
    if form == "textbook":
        return zv.Chain.from_textbook(**chain.to_textbook()._asdict())
    return zv.Chain.from_dh(**chain.to_dh(form)._asdict())


def assert_same_arm(chain, other, tool, rng, scale=1.0):
    q, qd, qdd = random_state(rng, chain)
    n = chain.n
    assert other.joint_types == chain.joint_types
    for key in ("lower", "upper", "velocity_limit", "effort_limit", "rotor_inertia", "friction", "stiffness", "rest"):
        np.testing.assert_array_equal(getattr(other, key), getattr(chain, key))
    end, T = other.link_names[-1], chain.pose(q, tool)
    size = scale * (1 + np.abs(T).max())
    assert_close(other.pose(q, end), T, n, scale=size)
    assert_close(other.jacobian(q, end), chain.jacobian(q, tool), n, scale=size)
    M = chain.mass_matrix(q)
    assert_close(other.mass_matrix(q), M, n, scale=scale * np.abs(M).max())
    tau = chain.inverse_dynamics(q, qd, qdd)
    assert_close(other.inverse_dynamics(q, qd, qdd), tau, n, scale=scale * (np.abs(tau).max() + np.abs(M).max() * 9))


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.booleans(), st.sampled_from(FORMS))
def test_random_chains_survive_their_tables(seed, n, fixed, form):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, n, fixed=fixed, rotor=True, friction=True, spring=True)
    if form != "textbook":
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                rows = chain.to_dh().rows
            except zv.ModelWarning:  # nearly parallel by chance
                return
        scale = 1 + np.abs(rows).max()
    else:
        scale = 1.0
    assert_same_arm(chain, again(chain, form), chain.link_names[-1], rng, scale)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.sampled_from(FORMS))
def test_axes_that_are_parallel_cross_or_coincide_have_tables_too(seed, n, form):
    rng = np.random.default_rng(seed)
    links = [
        zv.Link(
            f"l{i}",
            joint=("revolute", "prismatic")[rng.integers(2)],
            axis=(np.eye(3)[rng.integers(3)] * rng.choice([-2.0, 1.0])),
            position=rng.choice([0.0, 0.0, 0.3, -0.4], 3),
            rotation=zv.orientation.from_pyr(rng.integers(0, 4, 3) * math.pi / 2),
            **random_body(rng),
        )
        for i in range(n)
    ]
    chain = zv.Chain(links)
    if form != "textbook":  # right angles between axes are told as such
        rows = chain.to_dh(form).rows
        quarters = rows[:, 3] / (math.pi / 2)
        np.testing.assert_array_equal(quarters, np.round(quarters))
        assert not ((np.abs(rows[:, 1:3]) > 0) & (np.abs(rows[:, 1:3]) < 0.05)).any()
    assert_same_arm(chain, again(chain, form), f"l{n - 1}", rng)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", zv.robots.__all__)
def test_every_robot_survives_its_table(name, form, rng):
    chain = getattr(zv.robots, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (chain.to_textbook if form == "textbook" else chain.to_dh)()
        warnings.simplefilter("ignore", zv.ModelWarning)  # of the PUMA's third link, when it is made again
        other = again(chain, form)
    assert_same_arm(chain, other, chain.link_names[-1], rng)
    if form == "modified":  # frame 0 is put at the first joint, which a modified row moves along its axis
        return
    rows = other.to_textbook() if form == "textbook" else other.to_dh(form)
    table = chain.to_textbook() if form == "textbook" else chain.to_dh(form)
    first = ("alpha", "beta", "gamma", "l") if form == "textbook" else ("rows", "base_pose", "tool_pose")
    for key in first:  # tables of tables do not change
        np.testing.assert_allclose(getattr(rows, key), getattr(table, key), rtol=0, atol=1e-13)


def test_the_table_of_the_kawasaki_is_the_printed_one():
    table = zv.robots.kawasaki_fs020n().to_dh()
    degrees = table.rows * (57.29577951308232, 1, 1, 57.29577951308232)
    # row 5 printed (180, 0, 0, -90) and the tool Rz(-90): the same axes with x turned round
    rows = [(-90, 0, 0.15, 90), (-90, 0, 0.8, 180), (90, 0, 0.06, 90), (0, 0.7, 0, -90), (0, 0, 0, 90), (0, 0, 0, 0)]
    np.testing.assert_allclose(degrees, rows, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(table.base_pose, np.diag([1, -1, -1, 1]))
    tool = [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0.12], [0, 0, 0, 1]]
    np.testing.assert_allclose(table.tool_pose, tool, rtol=0, atol=1e-15)


def test_tables_of_the_makers_come_back():
    lengths = zv.robots.ur5e().to_dh().rows
    np.testing.assert_allclose(np.abs(lengths[:3, 1:3]), [(0.1625, 0), (0, 0.425), (0, 0.3922)], rtol=0, atol=1e-15)
    puma = zv.robots.puma560().to_dh("modified").rows
    np.testing.assert_allclose(np.abs(puma[:4, 1:3]).sum(), 0.1501 + 0.4318 + 0.4331 + 0.0203, rtol=1e-14)


@pytest.mark.parametrize("tilt", [0.0, 1e-13, 3e-12])
def test_parallel_axes_stay_parallel(tilt, rng):
    chain = tilted(tilt)
    rows = chain.to_dh().rows
    assert rows[0, 1] == 0 and rows[0, 2] == pytest.approx(0.5)
    assert_same_arm(chain, again(chain, "standard"), "b", rng, scale=1 + tilt / 1e-16)


def tilted(tilt):
    body = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": 0.1}
    turn = Rotation.from_rotvec([tilt, 0, 0]).as_matrix()
    return zv.Chain([zv.Link("a", **body), zv.Link("b", position=(0.5, 0, 0.2), rotation=turn, **body)], name="bent")


def test_nearly_parallel_axes_are_reported_with_what_is_lost(rng):
    chain = tilted(1e-7)
    with pytest.warns(zv.ModelWarning, match=r"to_dh: .*axes of 'a' and 'b' differ by 1e-07 rad .* 7 digits are lost"):
        table = chain.to_dh()
    np.testing.assert_allclose(
        zv.Chain.from_dh(**table._asdict()).pose([0.3, 0.4], "tool"), chain.pose([0.3, 0.4], "b"), rtol=0, atol=1e-8
    )
    table = chain.to_dh(parallel=1e-6)  # no warning: they are taken to be parallel
    np.testing.assert_allclose(
        zv.Chain.from_dh(**table._asdict()).pose([0.3, 0.4], "tool"), chain.pose([0.3, 0.4], "b"), rtol=0, atol=1e-6
    )


def test_coincident_and_opposite_axes(rng):
    body = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": 0.1}
    links = [zv.Link("a", axis=(1, 2, 2), **body), zv.Link("b", axis=(-1, -2, -2), position=(0.1, 0.2, 0.2), **body)]
    chain = zv.Chain([*links, zv.Link("c", joint="prismatic", axis=(1, 2, 2), **body)])
    rows = chain.to_dh().rows
    np.testing.assert_allclose(rows[:, 1:3], 0, atol=1e-15)
    for form in FORMS:
        assert_same_arm(chain, again(chain, form), "c", rng)


def test_masses_of_fixed_links_move_with_their_carriers(rng):
    arm = zv.robots.kawasaki_fs020n().with_payload("tool", 5.0, com=(0, 0, 0.1), inertia=0.02, name="gripper")
    table = arm.to_dh(tool="tool")
    assert table.tool == "tool"
    assert table.masses.sum() == pytest.approx(arm.total_mass)
    assert_same_arm(arm, zv.Chain.from_dh(**table._asdict()), "tool", rng)
    on_base = zv.Chain([*arm.links, zv.Link("stand", parent="base", joint="fixed", mass=99.0)])
    assert on_base.to_dh(tool="tool").masses.sum() == pytest.approx(arm.total_mass)


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([("a", None), ("b", "a"), ("c", "a")], "'a' carries 'b' and 'c', expected a serial chain"),
        ([("a", "base"), ("b", "base")], "the base carries 'a' and 'b', expected a serial chain"),
        ([("b", "a"), ("a", "base")], "link 'b' is not listed in the order"),
    ],
)
def test_trees_have_no_table(links, message):
    chain = zv.Chain([zv.Link(name, parent=parent, mass=1.0, inertia=1.0) for name, parent in links])
    for call in (chain.to_dh, chain.to_textbook):
        with pytest.raises(zv.ModelError, match=message):
            call()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"convention": "craig"}, "convention is 'craig', expected 'standard' or 'modified'"),
        ({"tool": "hnad"}, "tool: no link 'hnad'"),
        ({"tool": "link2"}, "tool is 'link2', expected 'link6', the last moving link, or one that is fixed to it"),
        ({"parallel": -1}, "parallel is -1"),
        ({"parallel": "no"}, "parallel is 'no'"),
    ],
)
def test_bad_arguments_of_to_dh(keywords, message):
    with pytest.raises(zv.ModelError, match=f"^to_dh: {message}.* for chain 'puma560'"):
        zv.robots.puma560().to_dh(**keywords)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sigma": 3}, "sigma is 3, expected 1 (revolute) or 0 (prismatic) for each joint"),
        ({"sigma": (1, 2)}, "sigma[1] is 2, expected 1 (revolute) or 0 (prismatic)"),
        ({"sigma": ("R", "P")}, "sigma[0] is 'R', expected a number"),
        ({"sigma": ()}, "expected"),
        ({"alpha": (1, 2, 3)}, "alpha has shape (3,), expected (2,)"),
        ({"gamma": (1, math.nan)}, "gamma is [1.0, nan], expected finite numbers"),
        ({"l": [(0, 0), (0, 0)]}, "l has shape (2, 2), expected (2, 3)"),
        ({"m": (1,)}, "m has 1 entries, expected 2"),
        ({"r": "r"}, "r is 'r', expected 2 entries"),
        ({"J": (1, "a")}, "link 'link2': inertia is 'a'"),
        ({"m": (1, -1)}, "link2"),
        ({"base_frame": np.eye(4)}, "base_frame is "),
        ({"tool_frame": ((0, 0), (0, 0, 0))}, "angles of tool_frame has shape (2,), expected (3,)"),
        ({"tool_frame": ((0, 0, 0), np.eye(3))}, "offset of tool_frame has shape (3, 3), expected (3,)"),
        ({"tool": 3}, "tool is 3, expected a non-empty string"),
        ({"names": ("a", "a")}, "'a'"),
        ({"strict": "no"}, "strict is 'no', expected True or False"),
    ],
)
def test_bad_arguments_of_from_textbook(changes, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)):
        zv.Chain.from_textbook(**RP | changes)


# ---- tools ---------------------------------------------------------------------------------------------------------


def tool_forms(r, R):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, r
    rotation = Rotation.from_matrix(R)
    w_first = rotation.as_quat(scalar_first=True)
    return [T, (r, R), (r, rotation), RigidTransform.from_components(r, rotation), {"r": r, "quaternion": w_first}]


def test_a_tool_is_a_massless_link_that_kinematics_know(rng):
    arm = zv.robots.ur5e()
    r, R = rng.uniform(-0.2, 0.2, 3), random_rotation(rng)
    q, qd = rng.uniform(-2, 2, (2, 6))
    T = tool_forms(r, R)[0]
    for form in tool_forms(r, R):
        with_tool = arm.with_tool(form, "wrist_3", "torch")
        assert with_tool.link_names == (*arm.link_names, "torch")
        assert with_tool.total_mass == arm.total_mass and with_tool.n == 6
        np.testing.assert_allclose(with_tool.pose(q, "torch"), arm.pose(q, "wrist_3") @ T, rtol=0, atol=1e-14)
        J = arm.jacobian(q, "wrist_3", point=r)
        np.testing.assert_allclose(with_tool.jacobian(q, "torch"), J, atol=1e-14)
        np.testing.assert_allclose(with_tool.velocity(q, qd, "torch"), J @ qd, atol=1e-13)
        np.testing.assert_array_equal(with_tool.mass_matrix(q), arm.mass_matrix(q))
    assert "torch" in with_tool.poses(q)
    assert zv.Chain.from_dict(with_tool.to_dict()) == with_tool


def test_a_tool_hangs_on_the_last_link_and_gets_a_free_name():
    arm = zv.robots.two_link()
    once = arm.with_tool((0.1, 0, 0))
    assert once.links[-1].parent == "tip" and once.links[-1].name == "tool"
    twice = once.with_tool((0.1, 0, 0))
    assert twice.links[-1].parent == "tool" and twice.links[-1].name == "tool2"
    np.testing.assert_allclose(twice.pose([0, 0], "tool2")[:3, 3], (2.2, 0, 0), atol=1e-15)
    assert arm.with_tool((0, 0, 1), "base", "lamp").links[-1].parent == "base"
    assert "made-up" in once.note


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.eye(4), "link9"), r"no link 'link9'; did you mean 'link\d'\?"),
        ((np.eye(4), 3), "no link 3"),
        ((np.eye(4), None, "tool"), "name is 'tool', which a link has already, expected a new one"),
        ((np.eye(4), None, "base"), "name is 'base', which a link has already"),
        ((np.eye(4), None, ""), "name is '', expected a non-empty string"),
        ((np.eye(3),), r"T has shape \(3, 3\), expected \(4, 4\)"),
        ((2 * np.eye(4),), "the last row of T"),
        ((np.diag([1.0, 1, -1, 1]),), "R of T is left-handed"),
        ((np.diag([1.0, 1.1, 1, 1]),), "R of T is not orthonormal"),
        (((0, 0, math.nan),), "T is .*, expected finite numbers"),
        (("tool",), "T is 'tool'"),
    ],
)
def test_bad_tools_are_refused_by_name(arguments, message):
    with pytest.raises(zv.ModelError, match=f"^with_tool: {message}.* for chain 'puma560'"):
        zv.robots.puma560().with_tool(*arguments)


def test_of_several_ends_one_must_be_named():
    rod = {"mass": 1.0, "inertia": 1.0}
    tree = zv.Chain([zv.Link("a", **rod), zv.Link("b", parent="a", **rod), zv.Link("c", parent="a", **rod)])
    with pytest.raises(zv.ModelError, match=r"link is None, and 2 links carry no other, \['b', 'c'\]"):
        tree.with_tool(np.eye(4))
    assert tree.with_tool(np.eye(4), "b").links[-1].parent == "b"


def test_scipy_poses_are_taken_wherever_a_pose_is(rng):
    r, R = rng.uniform(-0.2, 0.2, 3), random_rotation(rng)
    pose, turn = RigidTransform.from_components(r, Rotation.from_matrix(R)), Rotation.from_matrix(R)
    T = pose.as_matrix()
    rows, bodies = [(0.1, 0.2, 0.3, 0.4)], {"masses": [1.0], "inertias": [1.0]}
    for given_pose in ({"base_pose": pose, "tool_pose": pose}, {"base_pose": T, "tool_pose": T}):
        chain = zv.Chain.from_dh(rows, **bodies, **given_pose)
        np.testing.assert_allclose(chain.links[0].rotation, R, atol=1e-15)
    np.testing.assert_allclose(zv.Link("a", pose=pose).position, r, atol=1e-15)
    np.testing.assert_allclose(zv.Link("a", rotation=turn).rotation, R, atol=1e-15)
    body = zv.Body(2.0, (1, 2, 2.5), (0.1, 0, 0))
    for other in (body.placed(pose=pose), body.placed(r, turn), zv.Body.compose([(body, pose)])):
        np.testing.assert_allclose(other.com, r + R @ (0.1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(zv.Body.compose([(body, turn)]).com, R @ (0.1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(zv.orientation.pose(pose), T, atol=1e-15)
    ring = zv.mechanisms.docking_ring("UPS")
    nominal = RigidTransform.from_components(ring.nominal[0], Rotation.from_matrix(ring.nominal[1]))
    np.testing.assert_allclose(ring.closure(ring.nominal[0], nominal.rotation), ring.closure(*ring.nominal), atol=1e-14)
    assert zv.Hexapod(ring.platform, ring.legs, nominal=nominal).nominal[0] == pytest.approx(ring.nominal[0])
