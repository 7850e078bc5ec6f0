"""Modes against closed formulas: pendulums, strings of masses, beams, columns under dead and follower loads."""

import sys
import warnings

import matplotlib
import numpy as np
import pytest
import scipy.linalg
import zveno as zv
from engines.random_mechanisms import mechanisms, random_state
from helpers import OTHER, SELF, assert_close
from hypothesis import given
from matplotlib import pyplot as plt
from refusals import check_refused

matplotlib.use("Agg")

G = 9.81


def pendulums(*rods, spring=0.0, friction=0.0, gravity=G):
    """Point masses on massless rods (length, mass), in a row, joints about y; at q = 0 they hang down."""
    links, length = [], 0.0
    for k, (rod, m) in enumerate(rods):
        place = {"position": (0, 0, -length), "mass": m, "com": (0, 0, -rod)}
        links.append(zv.Link(f"r{k}", axis=(0, 1, 0), stiffness=spring, friction=friction, **place))
        length = rod
    return zv.Chain([*links, zv.Link("tip", joint="fixed", position=(0, 0, -length))], gravity=(0, 0, -gravity))


def beam(n, damping=0.0):
    """Cantilever of unit length, stiffness and density: rigid elements, springs in the middles of n segments."""
    d, links = 1 / n, []
    for j in range(n):
        s = d if j < n - 1 else d / 2
        body = {"mass": s, "com": (s / 2, 0, 0), "inertia": np.array([0, 1, 1]) * s**3 / 12}
        joint = {"axis": (0, 0, 1), "stiffness": 1 / d, "friction": damping / d}
        links.append(zv.Link(f"e{j}", position=(d / 2 if j == 0 else d, 0, 0), **joint, **body))
    return zv.Chain(links, gravity=(0, 0, 0), name="beam")


def test_double_pendulum_has_the_frequencies_of_the_textbook():
    # equal masses and lengths: omega^2 = (2 -+ sqrt 2) g / l
    modes = pendulums((0.7, 1.3), (0.7, 1.3)).linearise([0.0, 0.0]).modes()
    assert_close(modes.omega, np.sqrt((2 + np.array([-1, 1]) * np.sqrt(2)) * G / 0.7), 2)
    assert_close(modes.frequencies, modes.omega / (2 * np.pi), 2)
    assert modes.kinds == ("oscillates", "oscillates") and modes.stable and not modes.damping.any()
    # masses move as 1 : sqrt 2 and 1 : -sqrt 2 in absolute angles
    assert_close((modes.shapes[:, 1] + modes.shapes[:, 0]) / modes.shapes[:, 0], np.array([np.sqrt(2), -np.sqrt(2)]), 2)


def test_unequal_double_pendulum_has_the_roots_of_its_polynomial():
    (l1, m1), (l2, m2) = (0.5, 2.0), (0.9, 0.7)
    modes = pendulums((l1, m1), (l2, m2)).linearise([0.0, 0.0]).modes()
    # m1 l1 l2 w^4 - (m1 + m2) (l1 + l2) g w^2 + (m1 + m2) g^2 = 0
    roots = np.roots([m1 * l1 * l2, -(m1 + m2) * (l1 + l2) * G, (m1 + m2) * G**2])
    assert_close(modes.omega**2, np.sort(roots), 2)


def test_upright_pendulum_falls_over_with_its_time_constant():
    modes = pendulums((0.7, 1.3)).linearise([np.pi]).modes()
    assert modes.kinds == ("unstable",) and not modes.stable
    assert_close(modes.time_constants, np.sqrt([0.7 / G]), 1)
    assert modes.damping == [-1] and modes.damped_frequencies == [0]
    assert "falls over with time constant 0.267 s" in repr(modes)


def test_damped_pendulum_has_the_damping_of_the_textbook():
    for c in (0.1, 1.0, 5.0):
        modes = pendulums((0.7, 1.3), friction=c).linearise([0.0]).modes()
        w, zeta = np.sqrt(G / 0.7), c / (2 * 1.3 * 0.7**2) / np.sqrt(G / 0.7)
        if zeta < 1:
            assert_close(modes.omega, [w], 1)
            assert_close(modes.damping, [zeta], 1)
            assert_close(modes.damped_frequencies, [w * np.sqrt(1 - zeta**2) / (2 * np.pi)], 1)
        else:
            assert modes.kinds == ("overdamped", "overdamped") and not modes.damped_frequencies.any()
            assert_close(modes.omega, w * (zeta + np.array([-1, 1]) * np.sqrt(zeta**2 - 1)), 1)
            assert "returns with time constant" in repr(modes)
    undamped = pendulums((0.7, 1.3), friction=5.0).linearise([0.0]).modes(damping=False)
    assert_close(undamped.omega, [w], 1)


@pytest.mark.parametrize("n", [1, 10, 100])
def test_row_of_masses_on_springs_has_the_frequencies_of_the_textbook(n):
    links = [zv.Link(f"m{k}", joint="prismatic", axis=(1, 0, 0), mass=2.0, stiffness=50.0) for k in range(n)]
    modes = zv.Chain(links, gravity=(0, 0, 0)).linearise(np.zeros(n)).modes()
    r = np.arange(1, n + 1)
    want = 2 * np.sqrt(50 / 2) * np.sin((2 * r - 1) * np.pi / (2 * (2 * n + 1)))
    assert_close(modes.omega / want, np.ones(n), n)
    assert_close(modes.omega[0] / want[0], 1.0, 1, ulps=10)
    # joints that can move all mass along x: the whole of it takes part
    assert_close(modes.effective_mass[:, 0].sum(), 2.0 * n, n)
    assert not modes.effective_mass[:, 1:3].any()


@pytest.mark.parametrize(("n", "errors"), [(8, (3.60e-3, 1.26e-2, 2.03e-2)), (32, (2.24e-4, 7.79e-4, 1.28e-3))])
def test_beam_of_rigid_elements_has_the_published_errors(n, errors):
    modes = beam(n).linearise(np.zeros(n)).modes()
    exact = np.array([1.8751040687119611, 4.6940911329741745, 7.8547574382376126]) ** 2
    np.testing.assert_allclose(modes.omega[:3] / exact - 1, errors, rtol=0.005)


def test_low_modes_of_a_long_beam_keep_their_digits():
    # a mass matrix of condition 6e8: the error is c / n^2 + d / n^4, whose constants shorter beams give
    exact = 1.8751040687119611**2
    errors = {n: beam(n).linearise(np.zeros(n)).modes().omega[0] / exact - 1 for n in (25, 50, 100)}
    d = (errors[25] * 25**2 - errors[50] * 50**2) / (25**-2 - 50**-2)
    c = errors[25] * 25**2 - d / 25**2
    assert abs(errors[100] - (c / 100**2 + d / 100**4)) < 1e-11


def test_modal_damping_of_a_long_beam_grows_with_frequency():
    n, zeta = 60, 0.005
    free = beam(n).linearise(np.zeros(n)).modes()
    modes = beam(n, 2 * zeta / free.omega[0]).linearise(np.zeros(n)).modes()
    swinging = [k for k, kind in enumerate(modes.kinds) if kind == "oscillates"]
    want = zeta * free.omega / free.omega[0]
    assert len(swinging) == np.count_nonzero(want < 1) and len(modes) == len(swinging) + 2 * np.count_nonzero(want > 1)
    order = np.argsort(modes.damping[swinging])
    some = slice(0, 5)
    assert_close(modes.damping[swinging][order][some] / want[some], np.ones(5), n)
    assert_close(modes.omega[swinging][order][some] / free.omega[some], np.ones(5), n)


def ziegler(load, frame):
    """Ziegler's column, upright: 2 m and m on springs k, compressed by a load along the last rod."""
    column = pendulums((1.0, 2.0), (1.0, 1.0), spring=1.0, gravity=0.0)
    return column.linearise([0.0, 0.0], external={"tip": [0, 0, load, 0, 0, 0]}, external_frame=frame).modes()


def test_column_under_a_dead_load_buckles_at_its_critical_load():
    critical = (3 - np.sqrt(5)) / 2  # k / l
    assert ziegler(critical * (1 - 1e-9), "world").stable
    assert ziegler(critical * (1 + 1e-9), "world").kinds[0] == "unstable"


def test_column_under_a_follower_load_flutters_at_its_critical_load():
    critical = 3.5 - np.sqrt(2)  # k / l, Ziegler (1952)
    assert ziegler(critical * (1 - 1e-9), "link").kinds == ("oscillates", "oscillates")
    above = ziegler(critical * (1 + 1e-9), "link")
    assert "flutters" in above.kinds and not above.stable and "grows with time constant" in repr(above)


def test_rigid_bodies_are_named():
    modes = zv.robots.scara().linearise([0.3, 0.5, 0.1, 0.2]).modes()
    assert modes.kinds == ("rigid body",) * 4 and not modes.omega.any() and modes.stable
    arm = zv.Chain(
        [zv.Link("yaw", mass=1.0, com=(0.3, 0, 0)), zv.Link("swing", axis=(0, 1, 0), mass=1.0, com=(0, 0, -1))]
    )
    modes = arm.linearise([0.4, 0.0]).modes()
    assert modes.kinds == ("rigid body", "oscillates")
    rubbing = zv.Chain([zv.Link("yaw", mass=2.0, com=(0.5, 0, 0), friction=0.1)]).linearise([0.4]).modes()
    assert rubbing.kinds == ("rigid body", "overdamped")
    assert_close(rubbing.time_constants[1], 2.0 * 0.25 / 0.1, 1)


def test_spinning_body_that_nothing_holds_has_its_nutation_and_two_rigid_motions():
    # gimbals of a symmetric top (A, A, C) spinning at w: nutation at C w / A, and two tilts that nothing brings back
    A, C, rate = 0.2, 0.3, 40.0
    gimbals = [zv.Link("x", axis=(1, 0, 0)), zv.Link("y", axis=(0, 1, 0))]
    top = zv.Chain([*gimbals, zv.Link("spin", axis=(0, 0, 1), mass=1.0, inertia=(A, A, C))], gravity=(0, 0, 0))
    modes = top.linearise([0.0, 0.0, 0.7], [0.0, 0.0, rate]).modes()
    assert modes.kinds == ("rigid body",) * 3 + ("oscillates",)
    assert_close(modes.omega[3], C * rate / A, 3)


@given(mechanisms(max_n=8, spring=True, friction=True))
def test_modes_of_random_trees_solve_their_equation(mechanism):
    chain, rng = mechanism
    q, qd, qdd = random_state(rng, chain)
    lin, n = chain.linearise(q, 0.3 * qd, qdd=qdd), chain.n
    modes = lin.modes()
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(lin.M, np.c_[lin.K, lin.B])]])
    want = np.sort_complex(scipy.linalg.eigvals(A))
    got = np.concatenate([modes.eigenvalues, modes.eigenvalues[modes.eigenvalues.imag > 0].conj()])
    assert len(got) == 2 * n
    scale = np.abs(want).max()
    for s in want:
        assert np.abs(got - s).min() < 1e-6 * scale  # eigenvalues of a matrix that may be near a defective one
    for s, shape in zip(modes.eigenvalues, modes.shapes, strict=True):
        parts = s**2 * lin.M @ shape, s * lin.B @ shape, lin.K @ shape
        size = sum(np.abs(part).max() for part in parts)
        assert np.abs(sum(parts)).max() <= 1e-9 * max(size, np.abs(lin.K).max() * np.abs(shape).max())


@given(mechanisms(max_n=8, friction=False))
def test_shares_and_effective_masses_add_up(mechanism):
    chain, rng = mechanism
    q = random_state(rng, chain)[0]
    lin = chain.linearise(q)
    modes, n = lin.modes(), chain.n
    assert len(modes) == n and (np.diff(modes.frequencies) >= 0).all()
    assert_close(modes.shapes @ lin.M @ modes.shapes.T, np.eye(n), n, ulps=OTHER)
    assert_close(modes.participation.sum(axis=1), np.ones(n), n)
    assert_close(modes.participation.sum(axis=0), np.ones(n), n, ulps=OTHER)
    A = chain.momentum_matrix(q, "base")
    whole = np.diag(A @ np.linalg.solve(lin.M, A.T))
    assert_close(modes.effective_mass.sum(axis=0), whole, n, ulps=OTHER)
    assert np.array_equal(modes.effective_mass, modes.participation_factors**2)


def test_mass_on_three_slides_takes_part_in_all_directions():
    slides = [zv.Link(f"s{k}", joint="prismatic", axis=np.eye(3)[k], stiffness=10.0 * (k + 1)) for k in range(3)]
    body = zv.Link("body", axis=(0, 1, 0), mass=3.0, com=(0.1, 0, 0.2), inertia=0.1, stiffness=4.0)
    modes = zv.Chain([*slides, body]).linearise(np.zeros(4)).modes()
    assert_close(modes.effective_mass[:, :3].sum(axis=0), np.full(3, 3.0), 4)


def test_base_acceleration_excites_what_participation_says(arm):
    lin = arm.linearise(np.full(6, 0.3))
    model = lin.state_space(inputs="base_acceleration")
    modes = lin.modes(damping=False)
    assert_close(-modes.shapes @ lin.M @ model.B[6:], modes.participation_factors[:, :3], 6, ulps=OTHER)


def test_long_tables_are_cut():
    modes = beam(20).linearise(np.zeros(20)).modes()
    lines = repr(modes).splitlines()
    assert len(lines) == 15 and lines[-1] == "and 8 more" and "Hz" in lines[0]
    assert "e0_joint" in modes._repr_html_()


def test_picture_shows_shapes_and_shares():
    modes = beam(20, 1e-3).linearise(np.zeros(20)).modes()
    figure = modes.plot([0, 2], amplitude=0.1)
    assert [ax.name for ax in figure.axes] == ["3d", "rectilinear"] * 2
    assert "0.1 rad" in figure.axes[0].get_title() and f"{modes.frequencies[2]:.4g} Hz" in figure.axes[2].get_title()
    bars = [bar.get_height() for bar in figure.axes[3].patches]
    assert_close(np.array(bars), 100 * modes.participation[2], 20, ulps=SELF)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    plt.close(figure)
    for bad in ([], [20000], ["a"], [0.5], [-1]):
        check_refused(ValueError, ["plot", "modes"], modes.plot, bad)
    check_refused(ValueError, ["amplitude"], modes.plot, amplitude=0)
    plt.close("all")


def test_without_scipy_the_error_names_the_command(arm, monkeypatch):
    lin = arm.linearise(np.zeros(6))
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    lin.state_space()
    for call, who in ((lin.modes, "Linearisation.modes"), (lambda: lin.state_space(dt=0.1), "StateSpace.discretise")):
        with pytest.raises(ImportError, match=f"{who} needs scipy: install it with `pip install zveno\\[scipy\\]`"):
            call()


def test_modes_of_many_states_are_refused(arm):
    lin = arm.linearise(np.zeros((3, 6)))
    check_refused(ValueError, ["(3,)", "lin[k].modes()"], lin.modes)
    assert len(lin[1].modes(damping=False)) == 6
    check_refused(ValueError, ["damping is 0.02"], lin[0].modes, 0.02)
