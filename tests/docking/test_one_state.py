"""One state of a docking: wrenches of contact, the start, an evaluation of the equations of motion."""

import numpy as np
import pytest
import zveno as zv
from zveno import docking
from zveno.docking.simulate import _runner

IDSS = docking.Interface.idss_like()


def pose(conditions):
    """Second ring in axes of the first: place, axes, twist at the first ring's origin."""
    (pitch, yaw), roll = conditions.tilt, conditions.roll
    cp, sp, cy, sy, cr, sr = (f(x) for x in (pitch, yaw, roll) for f in (np.cos, np.sin))
    R = (
        np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
        @ np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
        @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
        @ np.diag([-1, 1, -1])
    )
    r = np.array([conditions.gap, *conditions.offset])
    w = np.array(conditions.rate)
    v = np.array([-conditions.closing, *conditions.lateral]) - np.cross(w, r)
    return r, R, np.concatenate([v, w])


# force on the second ring and moment about the first one's origin, N axes; deepest point, mm: independent reference
WRENCHES = {
    ("nominal", 0.05): (
        (2097.1914394, -1466.4898774, 392.0082069), (8.9196270, -288.6917058, -1123.9851599), 8.56035858,
    ),
    ("nominal", 0.012): (
        (15136.0570491, -28059.4897747, -1447.3612824), (-4186.3164047, -3448.7844469, -2304.3782373), 46.46880950,
    ),
    ("limit", 0.03): (
        (32943.9881103, -25398.2735221, -21421.3164340), (250.7946186, -6495.0261581, -7077.2122888), 62.26254158,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("case", "gap"), WRENCHES)
def test_wrenches_of_contact_are_those_of_the_reference(case, gap):
    force, moment, deepest = WRENCHES[case, gap]
    r, R, twist = pose(docking.demo("UPS", case).conditions.replace(gap=gap))
    got = docking.contact_wrench(IDSS, IDSS, r, R, twist)
    np.testing.assert_allclose(got.force, force, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(got.moment, moment, rtol=1e-8, atol=1e-6)
    assert got.penetration == pytest.approx(1e-3 * deepest, rel=1e-8)


def test_wrenches_in_a_batch_are_those_of_single_poses():
    poses = [pose(docking.demo("UPS", case).conditions.replace(gap=gap)) for case, gap in WRENCHES]
    r, R, twist = (np.array(x) for x in zip(*poses, strict=True))
    many = docking.contact_wrench(IDSS, IDSS, r, R, twist)
    for k, one in enumerate(poses):
        np.testing.assert_array_equal(many.force[k], docking.contact_wrench(IDSS, IDSS, *one).force)


@pytest.mark.parametrize("shape", [IDSS, docking.Interface.apas_like(), IDSS.replace(edge_nodes=61, side_nodes=3)])
def test_wrenches_along_a_path_are_those_of_single_poses(shape):
    # contact of poses in a row looks only among nodes that are near: steps from micrometres to beyond that
    rng = np.random.default_rng(7)
    r, R, rs, Rs = np.array([0.03, 0.01, 0.0]), np.diag([-1.0, 1.0, -1.0]), [], []
    for size in 10 ** rng.uniform(-6, -2.2, 600):
        x, y, z = size * rng.normal(size=3)
        turn = np.array([[1, -z, y], [z, 1, -x], [-y, x, 1]])
        U, _, V = np.linalg.svd(turn @ R)
        R = U @ V
        r = r + size * rng.normal(size=3) - 0.02 * r
        rs.append(r), Rs.append(R)
    twist = rng.normal(size=(600, 6)) * 0.05
    many = docking.contact_wrench(shape, shape, rs, Rs, twist)
    assert 0.3 < (many.penetration > 0).mean() < 1
    for k in range(600):
        one = docking.contact_wrench(shape, shape, rs[k], Rs[k], twist[k])
        for a, b in zip(many, one, strict=True):
            np.testing.assert_array_equal(a[k], b)


@pytest.mark.parametrize("shape", [IDSS, docking.Interface.apas_like()])
def test_edges_and_sides_do_not_know_which_ring_is_the_first(shape):
    contact = docking.Contact(face_stiffness=0)
    rng = np.random.default_rng(5)
    touched = 0
    for _ in range(20):
        c = docking.Conditions(
            0.08, rng.uniform(-0.08, 0.08, 2), rng.uniform(-0.06, 0.06, 2), 0.04, (0.02, 0.01), (0.01, 0.02, 0.0), 0.03
        )
        r, R, twist = pose(c)
        there = docking.contact_wrench(shape, shape, r, R, twist, contact)
        v = twist[:3] + np.cross(twist[3:], r)
        back = docking.contact_wrench(shape, shape, -R.T @ r, R.T, -np.concatenate([R.T @ v, R.T @ twist[3:]]), contact)
        touched += there.penetration > 0
        np.testing.assert_allclose(-R @ back.force, there.force, atol=1e-8)
        np.testing.assert_allclose(-(R @ back.moment) - np.cross(r, R @ back.force), there.moment, atol=1e-8)
    assert touched > 10


def test_wrenches_are_continuously_differentiable():
    # along a path through windows, fillets and first touches: second differences fall by 4 per halving
    start, end = (
        pose(docking.demo("UPS", case).conditions.replace(gap=gap)) for case, gap in (("limit", 0.1), ("nominal", 0.03))
    )
    axis = zv.orientation.to_rotation_vector(end[1] @ start[1].T)

    def second(count):
        x = np.linspace(0, 1, count + 1)
        r = start[0] + x[:, None] * (end[0] - start[0])
        R = zv.orientation.from_rotation_vector(x[:, None] * axis) @ start[1]
        return np.abs(np.diff(docking.contact_wrench(IDSS, IDSS, r, R, start[2]).force, 2, axis=0)).max()

    ratios = second(2000) / second(4000), second(4000) / second(8000)
    assert min(ratios) > 3.5


@pytest.mark.parametrize(("case", "gap"), [("nominal", 0.0665121922), ("limit", 0.1059035389), ("aligned", 0.005)])
def test_the_start_is_just_before_first_touch(case, gap):
    assert docking.start_gap(docking.demo("UPS", case)) == pytest.approx(gap, abs=1e-9)


STATE = {
    "UPS": {
        "P": (966.72, 0, 0),
        "v": (0.0801522939, -0.0001837804, -0.0003407147),
        "omega": (-1.9459720941, 6.8341892924, -3.7982315310),
        "tau": (13.9388974886, 13.2188984329, 5.9584616139, 15.007259139, 2.9093725086, 7.655821879),
        "F": (42.9875553454, -10.2475760374, -30.3597870036),
        "M": (-0.2695928411, -7.7919710551, 2.2483582867),
        "u'": (0.01937962, 0.1058499369, 0.4126800901, -0.1636529284, 1.4109296154, -0.6537870037),
        "a": (-0.0036583808, 0.0010618179, 0.0011540055),
        "omega'": (1.690239, -2.201995, 2.179727),
        "T": 437.959929531,
        "load": (-42.2120529544, 11.1939523145, 31.1046204458, 0.2429902154, 19.7632801877, -6.7826611332),
        "powers": (-1.7695545875, -0.2833439472, -1.6259322739),
    },
    "RSU": {
        "P": (965.52, 0, 0),
        "v": (0.0801550621, -0.0001525791, -0.0002784205),
        "omega": (-1.5932193708, 5.6127358567, -3.1882843800),
        "tau": (2.0429965401, 1.3190178412, 0.4535995046, 2.1095023015, 0.2741910228, 0.5310783538),
        "F": (42.9761595687, -10.2431305272, -30.3520574938),
        "M": (-0.26861101, -7.1827216989, 2.0436731937),
        "u'": (-0.2208673215, 0.2039112041, 0.580409046, -0.0290064609, 1.7417671669, -0.798380199),
        "a": (-0.0024046231, 0.0001075843, 0.0003341263),
        "omega'": (0.27992284, -0.70481569, 0.33715262),
        "T": 437.895409073,
        "load": (-42.20088212, 11.1892593448, 31.0967109513, 0.2420162591, 19.7580388348, -6.7809268117),
        "powers": (-1.7668195473, -0.283588715, -0.954342047),
    },
}


@pytest.mark.parametrize("kind", STATE)
def test_an_evaluation_is_that_of_the_reference(kind):
    want = STATE[kind]
    s = docking.demo(kind, "nominal")
    r = s.chaser.ring.nominal[0] + (-0.01, 0.005, -0.003)
    q = zv.orientation.to_quaternion(zv.orientation.from_rotation_vector((0.01, -0.02, 0.015)))
    u = (-0.03, 0.01, 0.02, 0.02, -0.01, 0.03)
    e = _runner(s).evaluate(s.conditions.replace(gap=0.05)._row(), r, q, u)

    def close(got, wanted, digits=9.0):
        size = np.abs(wanted).max()
        np.testing.assert_allclose(got, wanted, rtol=0, atol=size * 10**-digits)

    close(e["state"][0, 7:10], want["P"])
    np.testing.assert_allclose(e["state"][0, 10:13], 0, atol=1e-9)
    close(e["twist"][0, :3], want["v"], 8.5)
    close(e["twist"][0, 3:], np.array(want["omega"]) * 1e-5, 8.5)
    close(e["leg_force"][0], want["tau"])
    RA, oA = e["ring"][0], e["origin"][0]
    F = RA @ e["load"][:3]
    close(F, want["F"])
    close(RA @ e["load"][3:] + np.cross(oA, F), want["M"], 8)
    close(e["rate"][20:26], want["u'"], 8.5)
    close(e["base_acceleration"][0, :3], want["a"], 7)
    close(e["base_acceleration"][0, 3:], np.array(want["omega'"]) * 1e-4, 6)
    assert e["kinetic"] == pytest.approx(want["T"], rel=1e-11)
    close(-e["load"], want["load"])
    close(e["powers"][[0, 1, 3]], want["powers"])
    close(e["place"], (0.0611039647, 0.0438603740, 0.0207445222))
    close(
        zv.orientation.to_rotation_vector(e["turn"] @ np.diag([-1, 1, -1])), (0.0258792404, 0.0552130849, 0.0100374595)
    )


@pytest.mark.parametrize("kind", ["UPS", "RSU", "SPU", "RUS"])
def test_accelerations_are_those_of_free_dynamics(kind):
    # the same numbers by the 12 x 12 system of Hexapod.forward_dynamics_free
    s = docking.demo(kind, "nominal")
    ring = s.chaser.ring
    rng = np.random.default_rng(3)
    r = ring.nominal[0] + rng.uniform(-0.01, 0.01, 3)
    R = zv.orientation.from_rotation_vector(rng.uniform(-0.02, 0.02, 3))
    u = rng.uniform(-0.03, 0.03, 6)
    e = _runner(s).evaluate(s.conditions.replace(gap=0.05)._row(), r, zv.orientation.to_quaternion(R), u)
    RA, oA = e["ring"][0], e["origin"][0]
    force = -RA @ e["load"][:3]
    moment = -RA @ e["load"][3:] + np.cross(oA - r, force)  # about the ring's centre of mass; N is the base frame
    load = np.concatenate([force, R.T @ moment])
    free = ring.forward_dynamics_free(r, R, u, load, e["leg_force"][0], s.chaser.body, e["twist"][0, 3:])
    np.testing.assert_allclose(e["rate"][20:26], free.acceleration, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(e["base_acceleration"][0], free.base_acceleration, rtol=1e-8, atol=1e-12)
