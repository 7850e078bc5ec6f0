"""Base parameters of chains and trees: published examples and counts, other ways to the same row space."""

import numpy as np
import pinocchio as pin
import pytest
import scipy.linalg
import zveno as zv
from arms import PUMA, RIGHT
from engines.pinocchio import Twin
from engines.random_mechanisms import random_chain
from zveno.identification.routes import basis_dimension, basis_set_blocks
from zveno.inertial import COLUMN, ROW

FRICTION = ("rotor_inertia", "friction", "coulomb", "offset")
# modified rows of the Franka Emika Panda
PANDA = [
    (0, 0.333, 0, 0),
    (0, 0, 0, -RIGHT),
    (0, 0.316, 0, RIGHT),
    (0, 0, 0.0825, RIGHT),
    (0, 0.384, -0.0825, -RIGHT),
    (0, 0, 0, RIGHT),
    (0, 0, 0.088, RIGHT),
]
# Barrett WAM, standard rows
WAM = [
    (0, 0, 0, -RIGHT),
    (0, 0, 0, RIGHT),
    (0, 0.55, 0.045, -RIGHT),
    (0, 0, -0.045, RIGHT),
    (0, 0.3, 0, -RIGHT),
    (0, 0, 0, RIGHT),
    (0, 0.06, 0, 0),
]
SCARA = [(0, 0.3, 0.4, 0), (0, 0, 0.3, np.pi), (0, 0, 0, 0), (0, 0.1, 0, 0)]
RRPR = ("revolute", "revolute", "prismatic", "revolute")


def bodies(n):
    return {"masses": np.arange(1.0, n + 1), "coms": np.full((n, 3), 0.1), "inertias": [0.2] * n}


def from_dh(rows, **options):
    return zv.Chain.from_dh(rows, **bodies(len(rows)), **options)


def puma():
    return from_dh(PUMA)


def panda():
    return from_dh(PANDA, convention="modified")


def samples(bp, rng, count):
    q, qd, qdd = rng.normal(size=(3, count, bp.chain.n))
    return bp.full_regressor(q, qd, qdd).reshape(-1, len(bp.columns))


def rank(A):
    norms = np.linalg.norm(A, axis=0)
    A = A / np.where(norms > 1e-13 * norms.max(), norms, np.inf)
    sizes = np.linalg.svd(A, compute_uv=False)
    return int((sizes > 1e-10 * sizes[0]).sum())


def assert_same(a, b, atol=1e-10):
    np.testing.assert_array_equal(a.pivots, b.pivots)
    np.testing.assert_allclose(a.Y, b.Y, rtol=0, atol=atol * np.abs(a.Y).max())


# ---- the paper's examples


def test_the_one_link_example_of_the_paper():
    arm = from_dh([(0, 0, 0.7, 0)], gravity=(-9.81, 0, 0))
    bp = arm.base_parameters(parameters="moments", frames="dh")
    assert bp.combinations() == ("Ixx1 + Iyy1 - 0.49 m1", "Sx1 + 0.7 m1", "Sy1")


def test_the_two_link_example_of_the_paper():
    arm = zv.Chain.from_dh(
        [(0, 0, 0.4, 0), (0, 0, 0.35, 0)],
        masses=[3, 2],
        coms=[(-0.15, 0.02, 0), (-0.12, 0.01, 0)],
        inertias=[(0.01, 0.03, 0.035), (0.005, 0.015, 0.018)],
        gravity=(-9.81, 0, 0),
    )
    bp = arm.base_parameters(parameters="moments", frames="dh")
    assert bp.combinations() == (
        "Ixx1 + Iyy1 - 0.16 (m1 + m2)",
        "Sx1 + 0.4 (m1 + m2)",
        "Sy1",
        "Ixx2 + Iyy2 - 0.1225 m2",
        "Sx2 + 0.35 m2",
        "Sy2",
    )
    np.testing.assert_allclose(bp.values, [-0.6963, 1.55, 0.06, -0.198, 0.46, 0.02], atol=1e-15)
    W = bp.regressor((0.5, -0.8), (0.9, -1.3), (2, 1))
    first = [2, -3.103164534, -8.609084932, 3, 6.205954062, -7.755995032]
    np.testing.assert_allclose(W[0], first, rtol=0, atol=5e-10)
    np.testing.assert_allclose(W @ bp.values, [-4.613431155, 1.683593140], rtol=0, atol=5e-10)
    assert bp.latex().startswith("\\begin{align*}\n\\tilde{I_{xx,1}} &= I_{xx,1} + I_{yy,1} - 0.16\\, (m_{1} + m_{2})")


def test_the_arm_with_a_slide():
    arm = zv.Chain.from_textbook(
        sigma=(1, 0),
        alpha=(RIGHT, 0),
        l=[(0.1, 0.35, 0), (0, 0.05, 0.2)],
        m=(4.0, 2.5),
        r=[(-0.05, -0.2, 0.03), (0.02, -0.01, -0.3)],
        J=[(0.11, 0.02, 0.10), (0.05, 0.06, 0.015)],
    )
    # frame i of the textbook: the next joint's, the tool's
    q = np.zeros(2)
    poses = [arm.pose(q, name) for name in (*arm.link_names[1:], "tool")]
    frames = [np.linalg.inv(arm.pose(q, link)) @ T for link, T in zip(arm.link_names, poses, strict=True)]
    bp = arm.base_parameters(parameters="moments", frames=np.array(frames).round(15))
    assert bp.names == ("Ixx1", "Sx2", "Sz2", "m2") and bp.per_link == (1, 3)
    assert bp.combinations()[0] == "Ixx1 + Ixx2 + Izz1 + Izz2 + 0.2 Sx1 + 0.01 m1"
    np.testing.assert_allclose(bp.values, [0.3196, 0.05, -0.75, 2.5], atol=1e-14)
    W = bp.regressor((0.6, 0.25), (1.2, -0.4), (0.7, 1.5))
    np.testing.assert_allclose(W, [[0.7, -1.36, -0.33, -0.43325], [0, -0.7, -1.44, 0.782]], atol=1e-14)
    np.testing.assert_allclose(W @ bp.values, [-0.679905, 3.0], atol=1e-14)


def test_rows_of_the_puma():
    bp = puma().base_parameters(parameters="moments", frames="dh")
    texts = dict(zip(bp.names, bp.combinations(), strict=True))
    assert texts["Ixx1"] == "Ixx1 + Izz1 + Izz2 + Iyy3 - 0.3001 Sy3 + 0.022515 (m3 + m4 + m5 + m6)"
    assert texts["Ixz2"] == "Ixz2 + 0.4318 Sz2 - 0.4318 Sy3 + 0.0647916 (m3 + m4 + m5 + m6)"
    assert texts["Izz3"] == "Izz3 + Iyy4 + 0.8636 Sy4 + 0.186451 (m4 + m5 + m6)"
    assert texts["Sz4"] == "Sz4 - Sy5" and texts["Izz5"] == "Izz5 + Izz6" and texts["Sz5"] == "Sz5 + Sz6"
    first, middle = "Ixx Ixy Ixz Iyy Iyz Sx Sy", "Ixx Ixy Ixz Iyz Izz Sx Sz"
    want = [f"{symbol}{k}" for k, text in ((2, first), (3, middle), (4, middle), (5, middle), (6, first))
            for symbol in text.split()]  # fmt: skip
    assert list(bp.names[1:]) == want


def test_rows_of_the_scara():
    bp = from_dh(SCARA, joints=RRPR).base_parameters(parameters="moments", frames="dh")
    assert bp.combinations() == (
        "Ixx1 + Iyy1 + 0.8 Sx1 + 0.16 (m1 + m2)",
        "Ixx2 + Ixx3 + Iyy2 + Iyy3 - 0.09 m2",
        "Sx2 + Sx3 + 0.3 m2",
        "Sy2 + Sy3",
        "m3 + m4",
        "Ixx4 + Iyy4",
        "Sx4",
        "Sy4",
    )


# ---- counts

COUNTS = {
    "puma560": (puma, (1, 7, 7, 7, 7, 7)),
    "panda": (panda, (1, 7, 7, 7, 7, 7, 7)),
    "ur10": (zv.robots.ur10e, (1, 7, 7, 7, 7, 7)),
    "wam": (lambda: from_dh(WAM), (1, 7, 7, 7, 7, 7, 7)),
    "stanford": (zv.robots.stanford, (1, 7, 4, 7, 7, 7)),
    "scara": (lambda: from_dh(SCARA, joints=RRPR), (1, 3, 1, 3)),
    "cartesian": (zv.robots.cartesian, (1, 1, 1)),
    "cylindrical": (zv.robots.cylindrical, (1, 1, 3)),
    "fs020n": (zv.robots.kawasaki_fs020n, (1, 7, 7, 7, 7, 7)),
}


@pytest.mark.filterwarnings("ignore:.* m are expected, not mm:zveno.ModelWarning")
@pytest.mark.parametrize("robot", COUNTS)
def test_published_counts(robot):
    make, per_link = COUNTS[robot]
    arm = make()
    bp = arm.base_parameters()
    assert bp.per_link == per_link and bp.count == sum(per_link)
    assert bp.gap.kept > 1e-3 and bp.gap.dropped < 1e-12
    tilted = arm.base_parameters(gravity=(3.0, 2.0, -9.0))
    if set(arm.joint_types) == {"revolute"}:
        assert tilted.count == 7 * arm.n - 4
    assert arm.base_parameters(gravity=(0, 0, 0)).count <= bp.count
    millimetres = zv.Chain([_scaled(link, 1000) for link in arm.links], gravity=arm.gravity)
    np.testing.assert_array_equal(millimetres.base_parameters().pivots, bp.pivots)


def _scaled(link, factor):
    data = link.to_dict()
    data["position"] = (factor * np.array(link.position)).tolist()
    return zv.Link.from_dict(data)


def test_drive_inertias_and_friction_of_the_wam():
    """98 parameters, 69 of them independent: the drive inertias of the first two joints are not."""
    arm = from_dh(WAM).subchain(to="link7")
    bp = arm.base_parameters(extra=("rotor_inertia", "friction", "coulomb", "offset"))
    assert len(bp.columns) == 98 and bp.count == 69
    words = bp.identifiable()
    assert [words[f"Ia{j}"] for j in range(1, 8)] == ["combined"] * 2 + ["alone"] * 5
    assert bp.count == rank(samples(bp, np.random.default_rng(0), 60))


def test_a_coupled_wrist():
    """Staubli's TX40: 36 inertial, 18 of friction and offset, 4 drive inertias, 3 of the coupled wrist."""
    arm = zv.robots.staubli_rx90()
    bp = arm.base_parameters(extra=FRICTION, coupled=[(arm.joint_names[4], arm.joint_names[5])])
    assert bp.count == 36 + 18 + 4 + 3
    assert bp.count == rank(samples(bp, np.random.default_rng(1), 60))


# ---- other routes


@pytest.mark.parametrize("seed", range(6))
def test_every_route_gives_the_same_set(seed):
    rng = np.random.default_rng(seed)
    arm = random_chain(rng, int(rng.integers(2, 5)), fixed=True, branching=seed % 2 == 0)
    sets = [arm.base_parameters(parameters="moments", method=m) for m in ("recursion", "basis-set", "sampling")]
    for other in sets[1:]:
        assert_same(sets[0], other, 1e-9)


def _frames(rng, arm):
    T = np.tile(np.eye(4), (len(arm.links), 1, 1))
    T[:, :3, 3] = rng.normal(size=(len(arm.links), 3))
    return T


def _functions(kind, q, degree):
    if kind == "prismatic":
        return [q**k for k in range(degree + 1)]
    return [1.0, *(f(k * q) for k in range(1, degree + 1) for f in (np.cos, np.sin))]


@pytest.mark.parametrize("seed", range(3))
def test_the_lagrangian_is_its_basis_times_its_coordinates(seed):
    """At random states; the constants that are left out are the potential energy at one of them."""
    rng = np.random.default_rng(seed)
    arm = random_chain(rng, 3)
    joints = arm.base_parameters()._plan.geometry(arm, 1.0)
    blocks = list(basis_set_blocks(joints, arm.gravity[None]))
    rest, rows = [], []
    for _ in range(3):
        q, qd = rng.normal(size=(2, 3))
        total = np.zeros((3, 4, 4))
        pairs = ((i, j) for i in range(3) for j in range(i, 3))
        for (i, j), Z in zip(pairs, blocks, strict=False):
            b = np.ones(1)
            for k in range(i + 1, 3):
                b = np.outer(b, _functions(joints[k].kind, q[k], 2)).ravel()
            total += np.tensordot(b, Z, 1) * qd[i] * qd[j] * (0.5 if i == j else 1.0)
        b = np.ones(1)
        for k in range(3):
            b = np.outer(b, _functions(joints[k].kind, q[k], 1)).ravel()
        total += np.tensordot(b[1:], blocks[-1], 1)
        kinetic, potential = arm.energy_regressor(q, qd).reshape(2, 3, 10)
        rest.append((kinetic - potential) @ np.linalg.inv(_moments()))
        rows.append(total[:, ROW, COLUMN] * np.where(ROW == COLUMN, 1.0, 2.0))
    np.testing.assert_allclose(np.diff(rows, axis=0), np.diff(rest, axis=0), rtol=0, atol=1e-11)


def _moments():
    """Columns: second moments of unit tensor parameters."""
    return zv.inertial.reordered(np.eye(10), "tensor", "moments").T


def test_the_basis_has_as_many_functions_as_it_should():
    want = [8, 84, 777, 6331, 47118, 328854, 2189687, 14069061]
    assert [basis_dimension(["revolute"] * n) for n in range(1, 9)] == want
    assert basis_dimension(["revolute", "prismatic"]) == 51


@pytest.mark.parametrize("parameters", ["tensor", "moments"])
@pytest.mark.parametrize("seed", range(4))
def test_pivots_span_what_the_regressor_spans(seed, parameters):
    rng = np.random.default_rng(seed)
    arm = random_chain(rng, int(rng.integers(2, 8)), fixed=True, branching=seed % 2 == 0)
    frames = _frames(rng, arm) if seed % 2 else "link"
    bp = arm.base_parameters(parameters=parameters, frames=frames, extra=FRICTION if seed > 1 else ())
    W = samples(bp, rng, 60)
    assert bp.count == rank(W) == rank(W[:, bp.pivots])
    np.testing.assert_allclose(W[:, bp.pivots] @ bp.Y, W, rtol=0, atol=1e-9 * np.abs(W).max())
    q, qd, qdd = rng.normal(size=(3, arm.n))
    want = arm.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(bp.regressor(q, qd, qdd) @ bp.values, want, rtol=0, atol=1e-9 * np.abs(want).max())
    np.testing.assert_allclose(W @ bp.null_space.T, 0, atol=1e-8 * np.abs(W).max())


@pytest.mark.parametrize("measured", ["base_wrench", ("efforts", "base_wrench")])
@pytest.mark.parametrize("seed", range(3))
def test_a_force_plate_shows_what_its_regressor_spans(seed, measured):
    rng = np.random.default_rng(seed)
    arm = random_chain(rng, int(rng.integers(1, 6)), fixed=True, branching=seed % 2 == 0)
    bp = arm.base_parameters(measured=measured)
    W = samples(bp, rng, 80)
    assert bp.count == rank(W)
    np.testing.assert_allclose(W[:, bp.pivots] @ bp.Y, W, rtol=0, atol=1e-9 * np.abs(W).max())


@pytest.mark.parametrize(("robot", "more"), [("puma560", 3), ("two_link", 2)])
def test_a_base_that_is_not_level(robot, more):
    """Gravity across the plane of a planar arm has no effect."""
    arm = getattr(zv.robots, robot)()
    bp = arm.base_parameters(extra="gravity")
    assert bp.count == arm.base_parameters().count + more
    assert_same(bp, arm.base_parameters(extra="gravity", method="sampling"))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, arm.n))
    tilt = np.array([0.1, -0.2, 0.3])
    change = arm.with_gravity(arm.gravity + tilt).inverse_dynamics(q, qd, qdd) - arm.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(bp.full_regressor(q, qd, qdd)[:, -3:] @ tilt, change, rtol=1e-10, atol=1e-11)


def test_several_positions_of_the_base_show_what_each_of_them_shows(rng):
    arm = puma()
    upright = arm.base_parameters().count
    both = arm.base_parameters(gravity=[(0, 0, -9.81), (0, 9.81, 0)])
    q, qd, qdd = rng.normal(size=(3, 60, 6))
    W = np.concatenate([arm.with_gravity(g).regressor(q, qd, qdd) for g in ((0, 0, -9.81), (0, 9.81, 0))])
    assert both.count == rank(W.reshape(-1, W.shape[-1])) > upright


def test_the_same_count_and_space_from_pinocchios_regressor(rng):
    """Leftmost independent columns of its regressor at random states."""
    arm = panda().subchain(to="link7")
    twin = Twin(arm)
    rows = []
    for _ in range(40):
        q, qd, qdd = rng.normal(size=(3, arm.n))
        Y = pin.computeJointTorqueRegressor(twin.model, twin.data, twin._q(q), twin._v(qd), twin._v(qdd))
        rows.append(np.reshape(Y, (arm.n, -1))[twin.order])
    theirs = np.concatenate(rows).reshape(len(rows) * arm.n, -1, 10)[..., [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]]
    theirs = theirs.reshape(len(theirs), -1)
    sizes = np.abs(np.diag(scipy.linalg.qr(theirs, mode="r", pivoting=True)[0]))
    bp = arm.base_parameters()
    assert bp.count == int((sizes > 1e-9 * sizes[0]).sum()) == 43
    np.testing.assert_allclose(theirs[:, bp.pivots] @ bp.Y, theirs, rtol=0, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("robot", ["stanford", "scara"])
def test_rational_arithmetic_certifies_the_rank(robot):
    bp = getattr(zv.robots, robot)().base_parameters()
    assert bp.certificate.agrees and bp.certificate.rank == bp.count


def test_geometry_without_rational_numbers_has_no_certificate(rng):
    certificate = random_chain(rng, 2).base_parameters().certificate
    assert not certificate.agrees and "no certificate" in certificate.text


# ---- decisions


def _bent(angle):
    c, s = np.cos(angle), np.sin(angle)
    turn = [[1, 0, 0], [0, c, -s], [0, s, c]]
    body = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": 0.1}
    return zv.Chain([zv.Link("a", **body), zv.Link("b", position=(0.5, 0, 0), rotation=turn, **body)])


def test_nearly_special_geometry_is_not_decided_upon():
    assert _bent(0.0).base_parameters().count < _bent(0.1).base_parameters().count
    with pytest.raises(zv.UndecidedError, match=r"at link 'b' .* too near to the tolerance") as caught:
        _bent(1e-8).base_parameters()
    assert 1e-12 < caught.value.value < 1e-6 and caught.value.tolerance == 1e-9
    assert _bent(1e-8).base_parameters(tolerance=1e-4).count == _bent(0.0).base_parameters().count
    assert _bent(1e-4).base_parameters(tolerance=1e-12).count == _bent(0.1).base_parameters().count


def test_minimal_and_full_are_inverse(rng):
    arm = puma()
    bp = arm.base_parameters()
    base = bp.minimal(arm.inertial_parameters)
    np.testing.assert_array_equal(base, bp.values)
    for full in (bp.full(base), bp.full(base, near=arm.inertial_parameters)):
        np.testing.assert_allclose(bp.minimal(full), base, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(bp.full(base, near=arm.inertial_parameters), bp.standard, atol=1e-12)
    moved = bp.full(base + 0.01, near=arm.inertial_parameters)
    np.testing.assert_allclose(bp.minimal(moved), base + 0.01, atol=1e-10)
    np.testing.assert_allclose(bp.minimal(np.stack([bp.standard] * 2)), [base, base], rtol=1e-14)


def test_sixty_joints():
    arm = random_chain(np.random.default_rng(0), 60, kinds="revolute")
    assert arm.base_parameters().count == 7 * 60 - 4


BAD = {
    "parameters": ({"parameters": "mass"}, "parameters is 'mass'"),
    "frames": ({"frames": np.zeros((2, 4, 4))}, "frames"),
    "no pose": ({"frames": 2 * np.tile(np.eye(4), (3, 1, 1))}, "frames of link 'upper' is no pose"),
    "extra": ({"extra": "fricton"}, "extra has 'fricton'.*friction"),
    "nested": ({"extra": [["friction"]]}, r"extra has \['friction'\]"),
    "joints": ({"extra": {"friction": ["elbow"]}}, "names the joint 'elbow'"),
    "coupled": ({"coupled": ["upper_joint"]}, "expected the names of two joints"),
    "measured": ({"measured": "torque"}, "measured is 'torque'"),
    "columns": ({"measured": "base_wrench", "extra": "friction"}, "measured is only 'base_wrench'"),
    "gravity": ({"gravity": (1, 2)}, "gravity"),
    "tolerance": ({"tolerance": 0}, "tolerance"),
    "method": ({"method": "guess"}, "method is 'guess'"),
    "basis set": ({"method": "basis-set", "extra": "friction"}, "method 'basis-set' has no extra columns"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_arguments_are_named(case):
    options, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        zv.robots.two_link().base_parameters(**options)


def published_panda_coefficients():
    """Rows (43, 70): the coefficients of Gaz et al. (2019) in the ten numbers of each link about its origin."""
    d3, d5, a4, a7 = 0.316, 0.384, 0.0825, 0.088
    symbols = ("m", "x", "y", "z", "xx", "xy", "xz", "yy", "yz", "zz")

    def row(*terms):
        found = np.zeros((7, 10))
        for factor, symbol, *numbers in terms:
            for k in numbers:
                found[k - 1, symbols.index(symbol)] += factor
        return found.ravel()

    third = ((1, "yy", 3), (d3**2, "m", 3), (2 * d3, "z", 3), (d3**2 + a4**2, "m", 4, 5, 6, 7))
    fifth = ((1, "yy", 5), (2 * d5, "z", 5))
    rows = [
        row((1, "zz", 1), (1, "yy", 2)),
        row((1, "xx", 2), (-1, "yy", 2), *third),
        row((1, "zz", 2), *third),
        row((1, "xx", 3), (-1, "yy", 3), (1, "yy", 4), (-(a4**2), "m", 4)),
        row((1, "zz", 3), (1, "yy", 4), (a4**2, "m", 4), (2 * a4**2, "m", 5, 6, 7)),
        row((1, "xx", 4), (-1, "yy", 4), *fifth, (d5**2 - a4**2, "m", 5, 6, 7)),
        row((1, "zz", 4), *fifth, (d5**2 + a4**2, "m", 5, 6, 7)),
        row((1, "xx", 5), (-1, "yy", 5), (1, "yy", 6), (a7**2, "m", 7)),
        row((1, "zz", 5), (1, "yy", 6), (a7**2, "m", 7)),
        row((1, "xx", 6), (-1, "yy", 6), (1, "yy", 7), (-(a7**2), "m", 7)),
        row((1, "zz", 6), (1, "yy", 7), (a7**2, "m", 7)),
        row((1, "xx", 7), (-1, "yy", 7)),
        row((1, "zz", 7)),
        row((1, "xy", 3), (a4, "z", 4)),
        row((1, "xy", 4), (a4 * d5, "m", 5, 6, 7), (a4, "z", 5)),
        row((1, "xy", 6), (a7, "z", 7)),
        *(row((1, "xy", k)) for k in (2, 5, 7)),
        *(row((1, s, k)) for s in ("xz", "yz") for k in range(2, 8)),
        row((1, "x", 2)),
        row((1, "y", 2), (-1, "z", 3), (-d3, "m", 3, 4, 5, 6, 7)),
        row((1, "x", 3), (a4, "m", 4, 5, 6, 7)),
        row((1, "y", 3), (-1, "z", 4)),
        row((1, "x", 4), (-a4, "m", 5, 6, 7)),
        row((1, "y", 4), (1, "z", 5), (d5, "m", 5, 6, 7)),
        row((1, "x", 5)),
        row((1, "y", 5), (-1, "z", 6)),
        row((1, "x", 6), (a7, "m", 7)),
        row((1, "y", 6), (-1, "z", 7)),
        row((1, "x", 7)),
        row((1, "y", 7)),
    ]
    return np.array(rows)


def test_published_coefficients_of_the_panda_are_an_invertible_function_of_the_base_parameters():
    bp = panda().subchain(to="link7").base_parameters()
    C = published_panda_coefficients()
    assert C.shape[0] == bp.count == np.linalg.matrix_rank(C) == 43
    A = C[:, bp.pivots]  # Y is the identity there
    np.testing.assert_allclose(A @ bp.Y, C, rtol=0, atol=1e-12)
    assert np.linalg.cond(A) < 1e3
