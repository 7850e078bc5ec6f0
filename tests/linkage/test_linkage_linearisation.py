"""Linear models of closed mechanisms: derivatives of constraints, known numbers, differences of the motion itself."""

from functools import cache

import numpy as np
import pytest
import zveno as zv
from engines import closed_mechanisms as known
from engines.random_linkages import KINDS, ball, closed_pair, make, rotation, two_branches, wave
from reference import loops as ref
from test_closed_mechanisms import CASES
from test_constraint_rows import moving_frame, timed
from zveno.model.linkage import constrained

LENGTH = 0.7
EIGHTH = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


def slopes(f, x, h=0.01):
    """d f / d x by differences of eighth order."""
    return np.stack(
        [sum(w * (f(x + i * h * e) - f(x - i * h * e)) for i, w in enumerate(EIGHTH, 1)) / h for e in np.eye(len(x))],
        axis=-1,
    )


# ---- derivatives of constraints


def taylor(f, orders, radius):
    """Derivatives of f(s, e) of orders (i, j) at 0, by Cauchy's integral."""
    circle = np.exp(2j * np.pi * np.arange(16) / 16)
    values = np.array([[f(radius * s, radius * e) for e in circle] for s in circle])
    means = [np.einsum("a,b,ab...->...", circle**-i, circle**-j, values) / 256 for i, j in orders]
    return [(mean * i * j).real / radius ** (i + j) for mean, (i, j) in zip(means, orders, strict=True)]


def check_derivatives(linkage, f, q, qd, qdd, N, t, radius=0.12, tolerance=1e-11):
    """All derivatives along random directions."""
    d = linkage.constraint_derivatives(q, qd, qdd, N, t)
    a, b = np.random.default_rng(3).normal(size=(2, len(q))) / 3
    second, first = taylor(lambda s, e: f(q + s * qd + s * s / 2 * qdd + e * b, t + s), ((2, 1), (1, 1)), radius)
    (bent,) = taylor(lambda s, e: f(q + s * a + e * b, t), ((1, 1),), radius)
    pairs = ((d.dfdd_dq @ b, second), (d.dfd_dq @ b, first), (a @ d.dforce_dq @ b, N @ bent))
    for given, expected in pairs:
        assert np.abs(given - expected).max() < tolerance * (5 + np.abs(expected).max())
    assert np.abs(d.dforce_dq - d.dforce_dq.T).max() < tolerance * (1 + np.abs(d.dforce_dq).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parent", ["link", "target"])
def test_derivatives_of_every_joint(rng, kind, parent):
    chain, tree = two_branches(rng, joints=3)
    frame, motion = moving_frame(rng)
    side_a = ref.Side(2 if parent == "link" else -1, rotation(rng), rng.uniform(-0.4, 0.4, 3),
                      frame if parent == "target" else None)  # fmt: skip
    side_b = ref.Side(5, rotation(rng), rng.uniform(-0.4, 0.4, 3))
    offset, rod = (lambda t: 0.2 + 0.1 * t - 0.3 * t * t), (lambda t: 0.9 + 0.2 * np.sin(t))
    data, given = {}, {}
    if kind in ("universal", "planar", "point_on_plane"):
        data, given = {"offset": offset}, {"offset": timed(offset)}
    if kind == "distance":
        data, given = {"rod": rod}, {"length": timed(rod)}
    if kind == "screw":
        data = given = {"pitch": 1.3, "phase": 0.4}
    a = zv.constraints.target(motion) if parent == "target" else "a2"
    linkage = zv.Linkage(chain, [make(kind, a, "b2", side_a, side_b, **given)], length=LENGTH)
    f = ref.all_residuals(tree, [ref.Joint(kind, side_a, side_b, LENGTH, **data)])
    q, qd, qdd = rng.uniform(-1, 1, 6), rng.normal(size=6), rng.normal(size=6)
    radius = 0.05 if kind == "screw" else 0.12
    check_derivatives(linkage, f, q, qd, qdd, rng.normal(size=linkage.m), 0.3, radius)


def test_derivatives_of_couplings_surfaces_and_functions(rng):
    # functions of q are the user's: by differences, none of their dependence on q is lost
    chain, tree = two_branches(rng, joints=3)
    names = chain.joint_names
    side_a, side_b = (ref.Side(i, rotation(rng), rng.uniform(-0.4, 0.4, 3)) for i in (2, 5))

    def user(q, t):
        return np.array([np.sin(q[0]) * q[3] - t * q[1], q[2] ** 3 + t])

    given = {
        "jacobian": lambda q, t: [
            [np.cos(q[0]) * q[3], -t, 0, np.sin(q[0]), 0, 0],
            [0, 0, 3 * q[2] ** 2, 0, 0, 0],
        ],
        "time_derivative": lambda q, t: [-q[1], 1.0],
        "bias": lambda q, v, t: [
            -np.sin(q[0]) * q[3] * v[0] ** 2 + 2 * np.cos(q[0]) * v[0] * v[3] - 2 * v[1],
            6 * q[2] * v[2] ** 2,
        ],
    }
    at = {"point_a": side_a.p, "rotation_a": side_a.R, "point_b": side_b.p}
    constraints = [
        zv.constraints.coupling({names[0]: 2.0, names[4]: -0.5}),
        zv.constraints.point_on_curve("a2", "b2", [ball, wave], **at),
    ]
    turning = {link.joint_name: link.joint == "revolute" for link in chain.links}

    def f(q, t=0.0):
        poses = tree.poses(q)
        (A, pa), (_, pb) = side_a.frame(poses, t), side_b.frame(poses, t)
        x = A.T @ (pb - pa)
        surfaces = [surface(x, t)[0] for surface in (ball, wave)]
        return np.array([scale * (2 * q[0] - 0.5 * q[4]), *surfaces, *user(q, t)])

    q, qd, qdd, N = rng.uniform(-1, 1, 6), rng.normal(size=6), rng.normal(size=6), rng.normal(size=5)
    for extra, tolerance in ((given, 1e-11), ({}, 1e-8)):
        linkage = constrained(chain, [*constraints, zv.constraints.function(user, 2, **extra)])  # not to be closed
        scale = linkage.length if turning[names[0]] and turning[names[4]] else 1.0
        check_derivatives(linkage, f, q, qd, qdd, N, 0.3, tolerance=tolerance)


def test_batches_of_derivatives_are_single_states(rng):
    linkage = known.bennett()
    q, qd, qdd = rng.normal(size=(3, 4, 3))
    N = rng.normal(size=5)
    many = linkage.constraint_derivatives(q, qd, qdd, N, threads=2)
    for k in range(4):
        for array, one in zip(many, linkage.constraint_derivatives(q[k], qd[k], qdd[k], N), strict=True):
            assert np.array_equal(array[k], one)
    some = linkage.constraint_derivatives(q, qd, qdd, N, outputs=["dfd_dq"])
    assert some.dforce_dq is None
    assert np.array_equal(some.dfd_dq, many.dfd_dq)


# ---- known numbers


def test_a_four_bar_hangs_and_stands():
    linkage = known.four_bar()
    q = linkage.close([-1.874001858376, 2.8, 2.47], hold=["crank_joint"])
    assert np.abs(q - (-1.874001858376, 2.801206294091, 2.473513098313)).max() < 1e-11
    lin = linkage.linearise(q, independent=["crank_joint"])
    assert np.abs(lin.T[:, 0] - (1, -0.6885170413234, -0.1431220417402)).max() < 1e-12
    assert lin.M[0, 0] == pytest.approx(0.1265362637586, rel=1e-11)
    assert lin.K[0, 0] == pytest.approx(7.968708641847, rel=1e-11)
    assert not lin.T_rate.any()
    modes = lin.modes()
    assert modes.omega == pytest.approx([7.935722459940], rel=1e-11)
    assert modes.kinds == ("oscillates",)
    assert modes.shapes.shape == (1, 3)
    assert np.abs(linkage.constraint_jacobian(q) @ modes.shapes[0]).max() < 1e-13
    assert modes.participation.sum() == pytest.approx(1.0)
    # another choice of the coordinate is the same motion
    assert linkage.linearise(q, independent=["rocker_joint"]).modes().omega == pytest.approx(modes.omega, rel=1e-11)

    up = linkage.close([1.386111073151, 0.0, 1.5], hold=["crank_joint"])
    standing = linkage.linearise(up, independent=["crank_joint"])
    eigenvalues = np.sort(np.linalg.eigvals(standing.state_space().A).real)
    assert eigenvalues == pytest.approx([-5.523015693346, 5.523015693346], rel=1e-10)
    assert standing.modes().kinds == ("unstable",)
    # the forces of the loop turn with the links: without that the stiffness would be another one
    for state, with_it, without in ((q, 62.98, 59.05), (up, -30.50, -38.19)):
        lin = linkage.linearise(state, independent=["crank_joint"])
        d = linkage.constraint_derivatives(state, np.zeros(3), np.zeros(3), lin.multiplier)
        ratio = lin.K[0, 0] / lin.M[0, 0], (lin.K + lin.T.T @ d.dforce_dq @ lin.T)[0, 0] / lin.M[0, 0]
        assert ratio == pytest.approx((with_it, without), abs=5e-3)


def state_of(name):
    linkage, case = getattr(known, name)(), CASES[name]
    hold = {joint: case["q"][linkage.joint_names.index(joint)] for joint in case["drivers"]}
    q = closed(linkage, linkage.close(case["q"], hold=hold), case["drivers"])
    rates = {joint: case["qd"][linkage.joint_names.index(joint)] for joint in case["drivers"]}
    return linkage, q, linkage.velocities(q, rates), np.array(case["tau"], float), case["drivers"]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("bennett", [(-1.267049001574, -0.505383293809)]),
        (
            "five_bar",
            [
                (8.36426199274, 7.88429776671, -0.68206212936, 0.65102369973),
                (9.96529327403, 9.79251854033, 1.25802285268, -0.39545583432),
            ],
        ),
    ],
)
def test_state_matrices_in_motion(name, rows):
    linkage, q, qd, tau, drivers = state_of(name)
    A = linkage.linearise(q, qd, tau, independent=drivers).state_space().A
    assert np.abs(A[len(rows) :] - rows).max() < 2e-11 * np.abs(rows).max()


def test_the_whole_stiffness_of_a_pendulum_on_a_rod_is_its_force():
    # a mass on three slides, held by a rod: K of the tree is zero
    links = [
        zv.Link("x", joint="prismatic", axis=(1, 0, 0)),
        zv.Link("y", parent="x", joint="prismatic", axis=(0, 1, 0)),
        zv.Link("bob", parent="y", joint="prismatic", axis=(0, 0, 1), mass=2.0, inertia=0.01),
    ]
    chain = zv.Chain(links, gravity=(0, 0, -9.81))
    rod = zv.Loop.distance(chain._base, "bob", length=0.7)
    linkage = zv.Linkage(chain, [rod])
    lin = linkage.linearise([0, 0, -0.7])
    assert not chain.linearise([0, 0, -0.7]).K.any()
    assert lin.independent == ("x_joint", "y_joint")
    assert lin.modes().omega == pytest.approx([np.sqrt(9.81 / 0.7)] * 2, rel=1e-14)
    assert lin.multiplier == pytest.approx([-2.0 * 9.81])  # it pulls
    assert linkage.linearise([0, 0, 0.7]).modes().kinds == ("unstable", "unstable")


# ---- against the motion itself


def closed(linkage, q, drivers, t=0.0):
    """A closed state, to rounding, that keeps the coordinates of the drivers."""
    rest = [k for k, name in enumerate(linkage.joint_names) if name not in drivers]
    for _ in range(6):
        G = linkage.constraint_jacobian(q, t)[:, rest]
        step = np.zeros(len(q))
        step[rest] = -np.linalg.pinv(G, rcond=1e-6) @ linkage.residual(q, t)
        q = q + step
    return q


def motion_of(linkage, q, drivers, t):
    """(u, ud, tau) -> q, qd and forward dynamics there, computed once for each."""
    places = [linkage.joint_names.index(name) for name in drivers]
    rest = [k for k in range(linkage.n) if k not in places]

    @cache
    def of(numbers):
        d, x = len(places), np.array(numbers)
        start = q.copy()
        start[places] = x[:d]
        state = closed(linkage, start, drivers, t)
        rate = np.zeros(linkage.n)
        rate[places] = x[d : 2 * d]
        G = linkage.constraint_jacobian(state, t)
        rate[rest] = -np.linalg.pinv(G[:, rest], rcond=1e-6) @ linkage.constraint_velocity(state, rate, t)
        return state, rate, linkage.forward_dynamics(state, rate, x[2 * d :], t)

    return lambda x: of(tuple(x)), places


def check_linearisation(linkage, q, qd, tau, drivers, t=0.0, tolerance=1e-10, h=0.004):
    at, places = motion_of(linkage, q, drivers, t)
    x0 = np.concatenate([q[places], qd[places], tau])
    assert np.abs(at(x0)[1] - qd).max() < 1e-9
    lin = linkage.linearise(q, qd, tau, t, independent=drivers)
    model = lin.state_space(outputs=["q", "qd", "qdd", "multiplier"])
    d, n = len(places), linkage.n
    measured = slopes(lambda x: np.concatenate([at(x)[0], at(x)[1], at(x)[2].qdd]), x0, h)
    found = np.hstack([model.C, model.D])
    for part in range(3):
        rows = slice(part * n, part * n + n)
        scale = 1 + np.abs(measured[rows]).max()
        assert np.abs(found[rows] - measured[rows]).max() < tolerance * scale
    A = measured[[2 * n + k for k in places]]
    assert np.abs(np.hstack([model.A, model.B])[d:] - A).max() < tolerance * (1 + np.abs(A).max())
    # forces of constraints on the joints, whatever their shares
    forces = slopes(lambda x: linkage.constraint_jacobian(at(x)[0], t).T @ at(x)[2].multiplier, x0, h)
    G = linkage.constraint_jacobian(q, t)
    turned = linkage.constraint_derivatives(q, qd, lin.qdd, lin.multiplier, t).dforce_dq
    dN = found[3 * n :]
    given = turned @ found[:n] + G.T @ dN
    assert np.abs(given - forces).max() < tolerance * (1 + np.abs(forces).max())
    # the least ones: nothing of them lies in the left null space of G
    rank = n - d
    assert np.abs(np.linalg.svd(G)[0][:, rank:].T @ dN).max(initial=0.0) < 1e-9 * (1 + np.abs(dN).max())
    if rank == linkage.m:
        N = slopes(lambda x: at(x)[2].multiplier, x0, h)
        assert np.abs(dN - N).max() < tolerance * (1 + np.abs(N).max())
    # the same in words of M, B and K
    ddu = np.linalg.solve(lin.M, np.hstack([-lin.K, -lin.B, lin.T.T]))
    assert np.abs(ddu - A).max() < tolerance * (1 + np.abs(A).max())


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "rssr", "bennett", "delta"])
def test_known_mechanisms_in_motion(name):
    check_linearisation(*state_of(name))


@pytest.mark.parametrize("kind", KINDS)
def test_random_mechanisms_in_motion(rng, kind):
    linkage, _, _, q, qd = closed_pair(rng, kind)
    drivers = linkage.independent(q)
    check_linearisation(linkage, closed(linkage, q, drivers), qd, rng.normal(size=10), drivers)


def test_a_plane_that_moves_and_turns():
    def motion(t):
        angle = 0.4 + 0.5 * t + 0.3 * t * t
        v, a = (0.1, 0.4 * t, 0), (0, 0.4, 0)
        return known.Rz(angle), (0.2 + 0.1 * t, 0.5 + 0.2 * t * t, 0), (0, 0, 0.5 + 0.6 * t), v, (0, 0, 0.6), a

    plane = zv.constraints.point_on_plane(
        zv.constraints.target(motion), "left2", axis_a=(0, 1, 0), point_b=(0.6, 0, 0), name="plane"
    )
    chain = zv.Chain(known.five_bar_links(), gravity=(0, -9.81, 0))
    linkage = zv.Linkage(chain, [known.hinge("left2", "right2", 0.6, 0.65)], [plane], length=1.0)
    drivers, t = ("left1_joint",), 0.2
    q = linkage.close((2, -1.5941244038, 0.363260998062, 1.95606323112), hold=drivers, t=t)
    qd = linkage.velocities(q, {"left1_joint": 1.5}, t)
    check_linearisation(linkage, closed(linkage, q, drivers, t), qd, np.array([1, 0, -0.5, 0]), drivers, t)
    with pytest.raises(ValueError, match=r"qd violates constraint .* velocities\(\.\.\.\)"):
        linkage.linearise(q, t=t)  # the plane drives it


def test_functions_of_the_user_keep_their_curvature(rng):
    # a rod as a function of q, a ball as a surface: the same motion as the rod of the library
    links = [
        zv.Link("x", joint="prismatic", axis=(1, 0, 0)),
        zv.Link("y", parent="x", joint="prismatic", axis=(0, 1, 0)),
        zv.Link("bob", parent="y", joint="prismatic", axis=(0, 0, 1), mass=2.0, inertia=0.01),
    ]
    chain = zv.Chain(links, gravity=(0, 0, -9.81))
    base = chain._base
    ball = lambda x, t: ((x @ x - 0.49) / 1.4, x / 0.7, np.eye(3) / 0.7)  # noqa: E731
    choices = [
        zv.constraints.function(lambda q, t: [(q @ q - 0.49) / 1.4]),
        zv.constraints.point_on_surface(base, "bob", ball),
    ]
    q = np.array([0.3, 0.2, -np.sqrt(0.49 - 0.13)])
    qd = np.cross(q, (0.4, -0.5, 1.0))
    tau = rng.normal(size=3)
    expected = zv.Linkage(chain, [zv.Loop.distance(base, "bob", length=0.7)]).linearise(q, qd, tau)
    for constraint in choices:
        lin = zv.Linkage(chain, constraints=[constraint], length=0.7).linearise(
            q, qd, tau, independent=expected.independent
        )
        for key in ("M", "B", "K", "T", "T_rate", "multiplier"):
            assert np.abs(getattr(lin, key) - getattr(expected, key)).max() < 1e-9 * (1 + np.abs(expected.K).max()), key


def test_springs_and_friction_of_joints_are_in(rng):
    links = [
        zv.Link("a", parent="base", axis=(0, 0, 1), mass=1.0, com=(0.1, 0, 0), inertia=0.02, stiffness=30.0, rest=0.2,
                friction=0.4, rotor_inertia=0.01),
        zv.Link("b", parent="a", axis=(0, 0, 1), position=(0.3, 0, 0), mass=0.5, com=(0.2, 0, 0), inertia=0.01,
                friction=0.3),
        zv.Link("c", parent="base", axis=(0, 0, 1), position=(0.6, 0, 0), mass=0.8, com=(0.1, 0, 0), inertia=0.01),
    ]  # fmt: skip
    linkage = known.planar(links, [known.hinge("b", "c", 0.5, 0.4)])
    q = closed(linkage, linkage.close([0.9, 0.1, 1.6], hold=["a_joint"]), ("a_joint",))
    qd = linkage.velocities(q, {"a_joint": 0.7})
    check_linearisation(linkage, q, qd, rng.normal(size=3), ("a_joint",))
    modes = linkage.linearise(q).modes()
    assert modes.shapes.shape[1] == 3
    assert (modes.damping[modes.eigenvalues.imag > 0] > 0).all()


def test_without_constraints_it_is_the_linear_model_of_the_chain(arm, rng):
    q, qd, tau = rng.normal(size=(3, arm.n))
    free, chain = zv.Linkage(arm).linearise(q, qd, tau), arm.linearise(q, qd, tau)
    assert free.independent == arm.joint_names
    for key in "MBK":
        assert np.allclose(getattr(free, key), getattr(chain, key), rtol=1e-12, atol=1e-12)
    assert np.allclose(free.state_space().A, chain.state_space().A, rtol=1e-9, atol=1e-9)
    assert len(free.state_space(outputs=["multiplier", "q"]).outputs) == arm.n
    assert np.allclose(free.modes().omega, chain.modes().omega)


# ---- what is asked and refused


def test_outputs_and_inputs_are_chosen_by_name():
    linkage, q, qd, tau, drivers = state_of("four_bar")
    lin = linkage.linearise(q, qd, tau, independent=drivers)
    assert repr(lin) == f"LinkageLinearisation of '{linkage.name}': 1 degree of freedom (crank_joint), moving"
    whole = lin.state_space(outputs=["q", "qd", "qdd", "multiplier"])
    assert whole.states == ("q crank_joint", "qd crank_joint")
    some = lin.state_space(["rocker_joint"], [("qdd", "coupler_joint"), ("multiplier", "coupler-rocker")])
    assert some.inputs == ("tau rocker_joint",)
    assert some.outputs[:2] == ("qdd coupler_joint", "multiplier coupler-rocker force along x")
    assert some.output_units[:2] == ("rad/s^2", "N")
    again = whole.select(some.inputs, some.outputs)
    for a, b in zip(some, again, strict=True):
        assert np.allclose(a, b, rtol=1e-14, atol=1e-14)
    assert np.array_equal(some.y0, again.y0)
    assert lin.state_space(dt=0.01).dt == 0.01
    assert len(lin.state_space().outputs) == 6


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x, q: x.linearise(q[:2]), ValueError, "q has shape"),
        (lambda x, q: x.linearise(q + 0.1), ValueError, "'coupler-rocker' is open by"),
        (lambda x, q: x.linearise(q, [1.0, 0, 0]), ValueError, "qd violates constraint 'coupler-rocker'"),
        (lambda x, q: x.linearise(q, tau=[1.0]), ValueError, "tau has shape"),
        (lambda x, q: x.linearise(q, tau=np.zeros((2, 3))), ValueError, "tau has shape"),
        (lambda x, q: x.linearise(q, independent=["crank"]), ValueError, "no joint 'crank'"),
        (lambda x, q: x.linearise(q, independent=["crank_joint", "rocker_joint"]), ValueError, "expected 1 different"),
        (
            lambda x, q: x.linearise(q).state_space(["crank"]),
            ValueError,
            "inputs has 'crank', expected names of joints",
        ),
        (lambda x, q: x.linearise(q).state_space(outputs=["pose"]), ValueError, "outputs has 'pose', expected 'q'"),
        (lambda x, q: x.linearise(q).state_space(outputs=[("q", "crank")]), ValueError, "did you mean 'crank_joint'"),
        (lambda x, q: x.linearise(q).state_space(outputs=["q", "q"]), ValueError, "twice"),
        (lambda x, q: x.linearise(q).modes(1), ValueError, "damping is 1"),
        (lambda x, q: x.constraint_derivatives(q, q, q, q), ValueError, "multiplier has shape"),
    ],
)
def test_bad_arguments_are_named(call, error, text):
    linkage = known.four_bar()
    q = linkage.close([0.8, 0.0, 1.5], hold=["crank_joint"])
    with pytest.raises(error, match=text):
        call(linkage, q)


def test_what_cannot_move_has_no_linear_model():
    chain = zv.Chain([known.bar("a", "base", (0, 0, 0), 0.3, 1.0)], gravity=(0, -9.81, 0))
    base = chain._base
    linkage = zv.Linkage(chain, [zv.Loop.weld("a", base, reference_a=(1, 0, 0), axis_a=known.Z, axis_b=known.Z,
                                              reference_b=(1, 0, 0))])  # fmt: skip
    with pytest.raises(ValueError, match="nothing can move"):
        linkage.linearise([0.0])
