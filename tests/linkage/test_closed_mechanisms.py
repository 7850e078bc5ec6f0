"""Mechanisms with published numbers: closed-form kinematics, accelerations, reactions, efforts, mobility."""

import numpy as np
import pytest
import zveno as zv
from engines import closed_mechanisms as known

# state, efforts, accelerations, reactions (tree joints in order, then loops), cut angles, inverse dynamics: driver
# accelerations 0. Computed by a NumPy implementation and by maximal coordinates, which agree to the digits shown.
CASES = {
    "four_bar": {
        "q": (0.8, -0.232134714767, 1.61687273203),
        "qd": (3, -3.84090949325, 0.341187881706),
        "drivers": ("crank_joint",),
        "tau": (0.5, 0, 0),
        "qdd": (-30.0483242321, 41.1418041127, 1.89428124982),
        "energy": 19.721722972,
        "reaction": [
            (11.8701956781, 3.93651057576, -0.0227780209473, 0.00909339300156, 0.0104820269979, 0.5),
            (5.33378767637, 3.0067830036, -0.0227780209473, 0.0791089880489, -0.100605336818, 0),
            (25.7805922137, -0.5203441108, 0.0227780209473, -0.0188819370108, 0.0211078013979, 0),
        ],
        "loop": [(-8.14647682729, 0.904602723742, -0.0227780209473, 0.0150393508814, 0.139288737803, 0)],
        "cut": [(1.0490074468, 1.18209737495, -9.19919863075)],
        "inverse": ((0, 2.67083951292, 5.31165594767), (4.33210279366,)),
    },
    "slider_crank": {
        "q": (0.7, -0.843847457383, 0.697287917728),
        "qd": (10, -12.8102693914, -1.51000695448),
        "drivers": ("crank_joint",),
        "tau": (2, 0, -30),
        "qdd": (-3.88722551749, 27.5062602846, -17.2326167834),
        "energy": 6.12273820713,
        "reaction": [
            (-10.6236043813, 13.983195149, 0.0201798817685, 0.0123149382833, 0.0219598296123, 2),
            (-8.65841179901, -0.6374941932, 0.0201798817685, 0.00868630261913, 0.114981245541, 0),
            (-30, 16.5611197276, -0.0201798817685, 0.0101757203583, 0.0686389007573, 0.552789251752),
        ],
        "loop": [(4.15107482484, -1.84611972764, 0.0201798817685, -0.0101757203583, -0.0686389007573, 0)],
        "cut": [(0.143847457383, 2.81026939144, -23.6190347671)],
        "inverse": ((0, 22.5266196781, -17.8195905399), (6.82037052581,)),
    },
    "five_bar": {
        "q": (2, -1.22359650157, 1, 1.28855069032),
        "qd": (1.5, -2.23402699195, -0.8, 1.76517359186),
        "drivers": ("left1_joint", "right1_joint"),
        "tau": (1, 0, -0.5, 0),
        "qdd": (21.0258515483, -38.6498312548, -24.9196482817, 40.6668174731),
        "energy": 12.714995755,
        "reaction": [
            (11.1524878092, 1.89570694425, -0.00548032145, 0.0349286326425, 0.0278402437348, 1),
            (-0.975698610571, 2.55074580005, -0.00548032145, -0.012232643503, 0.0415715963392, 0),
            (12.3162122254, 0.312043617334, 0.00548032145, -0.0175646041538, 0.16876052575, -0.5),
            (-0.391260303214, -1.91528716393, 0.00548032145, -0.037500557492, -0.0180178215565, 0),
        ],
        "loop": [(-0.775737036155, -0.581477653108, -0.00548032145, 0.037500557492, 0.014455612614, 0)],
        "cut": [(1.51214719189, 1.69920058381, 33.3711488978)],
        "inverse": ((0, 0.357013271875, 0, 0.578842169962), (-3.58129053099, 3.60453058934)),
    },
    "peaucellier": {
        "q": (0.6, 0.446296971399, -1.0462969714, 0.575023808918, 0.0249761910824, -1.02132078032, 1.02132078032),
        "qd": (1.2, -1.25775563786, 0.0577556378633, 0.399285106011, 0.800714893989, 0.858470531852, -0.858470531852),
        "drivers": ("crank_joint",),
        "tau": (0.3, 0, 0, 0, 0, 0, 0),
        "qdd": (-20.1184655438, 19.1837488797, 0.934716664132, -7.38558891397, -12.7328766298, -11.7981599657,
                11.7981599657),
        "energy": 8.19281701556,
        "reaction": [
            (7.53222854515, 2.35197120447, 0, 0, 0, 0.3),
            (3.79192612612, -0.267371012461, 0, 0, 0, 0),
            (1.82989734167, 0.504131822282, 0, 0, 0, 0),
            (4.72004333408, 2.90001442386, 0, 0, 0, 0),
            (-1.68489289793, 2.80678983349, 0, 0, 0, 0),
            (0.963522893888, 0.49802397367, 0, 0, 0, 0),
            (-1.19437613198, -0.261096758613, 0, 0, 0, 0),
        ],
        "loop": [
            (1.463362024, 1.07793773875, 0, 0, 0, 0),
            (1.20822357249, -0.521205171217, 0, 0, 0, 0),
            (0.113260754539, -0.28976140298, 0, 0, 0, 0),
        ],
        "cut": [
            (-0.471273162481, 0.457040743874, -6.45087224983),
            (0.471273162481, -0.457040743874, 6.45087224983),
            (1.4925939428, -1.31551127573, 18.2490322155),
        ],
        "inverse": ((0, -1.90301233939, 1.90301233939, -0.691419207767, 0.691419207767, 2.59443154716, -2.59443154716),
                    (12.9822864354,)),
    },
    "rssr": {
        "q": (0.6, 0.0541964066016, -0.430440579946, 0.3, 1.05918279087),
        "qd": (4, -4.39209087148, 0.0388181711184, 0.5, -0.188945406849),
        "drivers": ("crank_joint", "coupler_joint"),
        "tau": (1, 0, 0, 0, 0.2),
        "qdd": (85.3368295157, -98.1640449191, -2.25396384345, -100.754471712, 11.0312655461),
        "energy": 7.69740455397,
        "reaction": [
            (-26.9709468682, 7.03550893979, 5.23675656022, 0.0981, 0.0582892127739, 1),
            (-25.1217600757, 4.29581757198, -4.57324343978, 0, 0, 0),
            (-24.738486212, 4.29581757198, 6.32650652411, 0, 0, 0),
            (-24.738486212, 5.97356179259, 4.77444163452, 0, 0, 0),
            (18.6854357597, 34.519548096, 5.48240329658, 0.2, 0.181400429099, -7.21649615407),
        ],
        "loop": [(-18.6854357597, -23.838998756, 3.62800858199, 0, 0, 0)],
        "cut": [],
        "inverse": ((0, -4.46226743993, -3.08211875616, 0, 15.0622660391), (-0.432213290704, 0.388825908674)),
    },
    "bennett": {
        "q": (1.1, 2.75889956785, -1.1),
        "qd": (1.5, -0.628507087442, -1.5),
        "drivers": ("l1_joint",),
        "tau": (0.4, 0, 0),
        "qdd": (-7.48796107143, 2.63600174649, 7.48796107143),
        "energy": 2.44255446328,
        "reaction": [
            (-1.96234684832, -2.53849118055, 19.5628283208, -4.35008799147, -5.69356231008, 0.4),
            (3.44889790091, -4.81914579124, 7.89951846835, 4.83259014507, -0.355963521132, 0),
            (3.65830435955, -1.25037690419, -2.68105923113, 0.717253078648, 5.06161939237, 0),
        ],
        "loop": [(-2.54693121542, -0.0784782609102, -13.2493831022, -1.5666476248, -0.674172928943, 1.85227489908)],
        "cut": [(-2.75889956785, 0.628507087442, -2.63600174649)],
        "inverse": ((0, -0.501489322767, 0), (2.33753940667,)),
    },
    "delta": {
        "q": (-0.088637194155, 0.283640860827, -0.0731616831662, 0.05, -0.08, -0.55, 0, 0, 0),
        "qd": (1, -0.5, 0.7, -0.215093316886, 0.24758146696, -0.170209951043, 0, 0, 0),
        "drivers": ("arm1_joint", "arm2_joint", "arm3_joint"),
        "tau": (0.5, 0.3, -0.2, 0, 0, 0, 0, 0, 0),
        "qdd": (57.1692183983, 46.1291714048, 45.6827027278, -1.009669241, -3.01697101163, -14.951842489, 0, 0, 0),
        "energy": -2.16870707358,
        "reaction": [
            (-0.363555852767, -0.177417335288, -0.139608528736, 0.0365137248733, 0.5, -0.0828713476989),
            (-2.55196122247, -0.00682642214978, 0.843649315042, -0.0464947538015, 0.3, 0.0270120118752),
            (0.842888421727, -0.0270319373564, 2.88431447055, 0.010382224493, -0.2, -0.0164621272394),
            *[(0, 0, 0, 0, 0, 0)] * 6,
        ],
        "loop": [],
        "cut": [],
        "multiplier": (0.302764272027, 1.24963741174, 1.27203408766, 0.175437712874, -0.247781477607, 0.0206258039119),
        "inverse": ((0, 0, 0, -0.155876927431, 0.153447638958, 0.0920376495218, 0, 0, 0),
                    (-1.27718001201, -1.2031611836, -1.5527348503)),
    },
}  # fmt: skip


def close_to(actual, expected, tolerance=1e-10):
    expected = np.asarray(expected, dtype=float)
    assert np.abs(np.asarray(actual) - expected).max() <= tolerance * (1.0 + np.abs(expected).max())


def state_of(name):
    """The linkage, and its state to all digits: closed and consistent with the drivers of the table."""
    linkage, case = getattr(known, name)(), CASES[name]
    drivers = {joint: case["q"][linkage.joint_names.index(joint)] for joint in case["drivers"]}
    q = linkage.close(case["q"], hold=drivers)
    rates = {joint: case["qd"][linkage.joint_names.index(joint)] for joint in case["drivers"]}
    return linkage, case, q, linkage.velocities(q, rates)


@pytest.mark.parametrize("name", CASES)
def test_known_mechanisms_have_their_known_numbers(name):
    linkage, case, q, qd = state_of(name)
    close_to(q, case["q"])
    close_to(qd, case["qd"])
    r = linkage.forward_dynamics(q, qd, case["tau"])
    close_to(r.qdd, case["qdd"])
    close_to(r.reaction, case["reaction"])
    if case["loop"]:
        close_to(r.loop_reaction, case["loop"])
    if "multiplier" in case:
        close_to(r.multiplier, case["multiplier"])
    chain = linkage.chain
    close_to(chain.kinetic_energy(q, qd) + chain.potential_energy(q), case["energy"])
    cut = linkage.cut_joints(q, qd, r.qdd)
    close_to([(x.angle, x.angle_rate, x.angle_acceleration) for x in cut.values()] or [0], case["cut"] or [0])
    still = dict.fromkeys(case["drivers"], 0.0)
    qdd = linkage.accelerations(q, qd, still)
    close_to(qdd, case["inverse"][0])
    wanted = linkage.inverse_dynamics(q, qd, qdd, case["drivers"])
    assert wanted.actuation == "full"
    close_to(wanted.effort, case["inverse"][1])
    close_to(linkage.forward_dynamics(q, qd, wanted.tau).qdd, qdd, 1e-9)


def test_over_and_under_actuated_efforts():
    linkage, case, q, qd = state_of("four_bar")
    qdd = linkage.forward_dynamics(q, qd, case["tau"]).qdd
    both = linkage.inverse_dynamics(q, qd, qdd, ["crank_joint", "rocker_joint"])
    assert both.actuation == "over"
    close_to(both.effort, (0.493615404462, 0.0561385314086))
    assert both.internal.shape == (1, 2)
    close_to(linkage.forward_dynamics(q, qd, both.tau).qdd, qdd, 1e-9)
    inside = linkage.inverse_dynamics(q, qd, qdd, ["crank_joint", "rocker_joint"], bounds=((-1, -1), (0.3, 2.0)))
    assert inside.effort[0] == pytest.approx(0.3)
    close_to(linkage.forward_dynamics(q, qd, inside.tau).qdd, qdd, 1e-9)
    weighted = linkage.inverse_dynamics(q, qd, qdd, ["crank_joint", "rocker_joint"], weights=(1e6, 1.0))
    assert abs(weighted.effort[0]) < 1e-3
    with pytest.raises(ValueError, match="no efforts inside the bounds"):
        linkage.inverse_dynamics(q, qd, qdd, ["crank_joint"], bounds=((-0.1,), (0.1,)))
    with pytest.raises(ValueError, match="qdd violates constraint 'coupler-rocker'"):
        linkage.inverse_dynamics(q, qd, qdd + np.array([0, 1, 0]), ["crank_joint"])
    spatial, case, q, qd = state_of("rssr")
    qdd = spatial.accelerations(q, qd, dict.fromkeys(case["drivers"], 0.0))
    alone = spatial.inverse_dynamics(q, qd, qdd, ["crank_joint"])
    assert alone.actuation == "under"
    assert alone.residual > 0.1  # the passive spin is not driven


@pytest.mark.parametrize(
    ("name", "sizes", "share"),
    [
        ("four_bar", (3, 5, 2, 1, 3), 0.371),
        ("five_bar", (4, 5, 2, 2, 3), 0.546),
        ("peaucellier", (7, 15, 6, 1, 9), 0.0570),
        ("bennett", (3, 5, 2, 1, 3), 0.451),
        ("rssr", (5, 3, 3, 2, 0), 0.0723),
        ("delta", (9, 6, 6, 3, 0), 0.0320),
    ],
)
def test_mobility_of_known_mechanisms(name, sizes, share):
    linkage, _, q, _ = state_of(name)
    m = linkage.mobility(q)
    assert (linkage.n, m.equations, m.rank, m.degrees, m.redundant) == sizes
    assert m.status == "regular"
    assert m.singular_values[m.rank - 1] / m.singular_values[0] == pytest.approx(share, rel=2e-3)
    across = {"force along z", "moment about x", "moment about y"}
    expected = {"four_bar": across, "five_bar": across, "peaucellier": across, "rssr": set(), "delta": set()}
    expected["bennett"] = {*across, "force along x", "force along y"}
    assert {row for _, row in m.involved} == expected[name]
    assert m.passive == (("coupler_joint",) if name == "rssr" else ())


def test_mobility_of_sarrus_and_gough():
    linkage = known.sarrus()
    m = linkage.mobility(linkage.close((0.2, -0.4, 0.2, -0.2, 0.4)))
    assert (m.rank, m.degrees, m.redundant) == (4, 1, 1)
    assert {row for _, row in m.involved} == {"moment about x", "moment about y"}
    assert m.singular_values[3] / m.singular_values[0] == pytest.approx(0.167, abs=2e-3)
    platform = known.gough()
    guess = np.zeros(24)
    guess[2:18:3], guess[20] = 0.8, 0.8
    m = platform.mobility(platform.close(guess))
    assert (m.equations, m.rank, m.degrees, m.redundant) == (18, 18, 6, 0)


@pytest.mark.parametrize("length", [0.1, 10.0])
def test_mobility_does_not_depend_on_the_length(length):
    linkage = known.four_bar(length=length)
    m = linkage.mobility(linkage.close((0.8, -0.2, 1.6)))
    assert (m.rank, m.degrees, m.redundant) == (2, 1, 3)


def test_a_flat_parallelogram_is_where_two_branches_cross():
    linkage = known.four_bar(1.0, (0.4, 1.0, 0.4))
    m = linkage.mobility(linkage.close((0.8, -0.8, 0.8)))
    assert (m.rank, m.degrees) == (2, 1)
    flat = np.zeros(3)
    m = linkage.mobility(flat)
    assert (m.rank, m.degrees, m.redundant, m.status) == (1, 2, 4, "singular")
    s = linkage.singularity(flat)
    assert s.kind == "branches cross"
    assert s.lost == 1
    assert sorted(s.tangents[:, 2] / s.tangents[:, 0]) == pytest.approx([-7 / 3, 1.0])
    with pytest.raises(zv.SingularityError, match="singular here"):
        linkage.forward_dynamics(flat, flat, flat)
    out = linkage.forward_dynamics([flat, linkage.close((0.8, -0.8, 0.8))], flat, flat, on_error="nan")
    assert np.isnan(out.qdd[0]).all()
    assert np.isfinite(out.qdd[1]).all()


def test_a_stretched_four_bar_does_not_move():
    linkage = known.four_bar(1.0, (0.3, 0.4, 0.3))
    q = np.array([0, 0, np.pi])
    m = linkage.mobility(q)
    assert (m.rank, m.degrees) == (1, 2)
    assert linkage.singularity(q).kind == "immobile"


def test_a_plane_that_moves_and_turns():
    # one degree of freedom: a five-bar whose tip stays on a plane
    def motion(t):
        angle, w, e = 0.4 + 0.5 * t + 0.3 * t * t, 0.5 + 0.6 * t, 0.6
        p, v, a = (0.2 + 0.1 * t, 0.5 + 0.2 * t * t, 0), (0.1, 0.4 * t, 0), (0, 0.4, 0)
        return known.Rz(angle), p, (0, 0, w), v, (0, 0, e), a

    plane = zv.constraints.point_on_plane(
        zv.constraints.target(motion), "left2", axis_a=(0, 1, 0), point_b=(0.6, 0, 0), name="plane"
    )
    chain = zv.Chain(known.five_bar_links(), gravity=(0, -9.81, 0))
    linkage = zv.Linkage(chain, [known.hinge("left2", "right2", 0.6, 0.65)], [plane], length=1.0)
    expected = (2, -1.5941244038, 0.363260998062, 1.95606323112)
    q = linkage.close(expected, hold=["left1_joint"], t=0.2)
    close_to(q, expected)
    qd = linkage.velocities(q, {"left1_joint": 1.5}, t=0.2)
    close_to(qd, (1.5, -1.35194944284, 0.838680725747, 0.161529217724))
    r = linkage.forward_dynamics(q, qd, (1, 0, -0.5, 0), 0.2)
    close_to(r.qdd, (13.0551713755, -12.9893092303, 4.26777513819, 4.30597033548))
    assert r.multiplier[-1] == pytest.approx(18.350572158, rel=1e-10)
    close_to(r.loop_reaction[1, :3], (-1.9437901097, 18.2473334637, 0))
    close_to(r.loop_reaction[0, :2], (15.093829545, -1.31743744604))
    both = linkage.forward_dynamics([q, q], qd, (1, 0, -0.5, 0), [0.2, 0.2])
    assert np.array_equal(both.qdd[1], r.qdd)


def test_kinematics_of_the_four_bar_and_the_slider_in_closed_form():
    linkage = known.four_bar()
    for crank in np.linspace(-3, 3, 13):
        q = linkage.close((crank, 0.5 - crank, 1.6), hold=["crank_joint"])
        tip = 0.3 * np.exp(1j * crank) + 0.9 * np.exp(1j * (q[0] + q[1]))
        assert abs(tip - 1 - 0.7 * np.exp(1j * q[2])) < 1e-15 * 4
        qd = linkage.velocities(q, {"crank_joint": 2.0})
        rate = 0.3j * 2 * np.exp(1j * crank) + 0.9j * (qd[0] + qd[1]) * np.exp(1j * (q[0] + q[1]))
        assert abs(rate - 0.7j * qd[2] * np.exp(1j * q[2])) < 1e-14
    slider, e, a, b = known.slider_crank(), 0.05, 0.2, 0.55
    for t in np.linspace(-3, 3, 13):
        start = a * np.cos(t) + np.sqrt(b * b - (a * np.sin(t) - e) ** 2)
        q = slider.close((t, -t, 0.6), hold=["crank_joint"])
        assert q[2] == pytest.approx(start, abs=1e-13)
    qd = slider.velocities(q, {"crank_joint": 1.0})
    h = 1e-5
    x = [slider.close((t + s, q[1], q[2]), hold=["crank_joint"])[2] for s in (-h, h)]
    assert qd[2] == pytest.approx((x[1] - x[0]) / (2 * h), rel=1e-8)
