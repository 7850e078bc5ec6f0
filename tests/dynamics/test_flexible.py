"""Flexible links: rigid finite elements against beam theory, docs/flexible.md."""

import math
import warnings
from functools import cache
from types import SimpleNamespace

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import zveno as zv
from helpers import assert_close
from hypothesis import given
from hypothesis import strategies as st
from reference.beam import cantilever_roots, elastica, frequencies
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.optimize import brentq
from zveno.plot.flexible import beam_displacements

matplotlib.use("Agg")

UNIT = zv.flexible.Material(young=1e12, poisson=0.3, density=1.0)
SLENDER = zv.flexible.Profile(
    area=1.0, Iy=1e-12, Iz=1e-12, J=2e-12
)  # E I = 1, rho A = 1; no rotary inertia to speak of
SPLITS = ("wittbrodt", "huston")
GOOD = {"section": zv.flexible.Tube(0.05, 0.002), "material": zv.flexible.steel}
BOTH = pytest.mark.parametrize("split", SPLITS)


def unit_beam(n, split="wittbrodt", **options):
    given = {"section": SLENDER, "material": UNIT, "bending": "y", "torsion": False} | options
    return zv.flexible.beam("beam", 1.0, elements=n, split=split, **given)


def at_rest(links):
    arm = zv.Chain(links, gravity=(0, 0, 0))
    return arm, np.zeros(arm.n)


def omegas(arm, **more):
    """Frequencies of small vibrations about q = 0, rad/s, ascending: eigenvalues of K and M."""
    zero = np.zeros(arm.n)
    d = arm.derivatives(zero, zero, zero, **more)
    assert_close(d.dtau_dq, d.dtau_dq.T, arm.n)
    return np.sqrt(np.maximum(eigh((d.dtau_dq + d.dtau_dq.T) / 2, d.dtau_dqdd, eigvals_only=True), 0.0))


# ---- vibrations -----------------------------------------------------------------------------------------------------

BENDING_ERRORS = {  # of the first three modes
    ("wittbrodt", 4): "+1.45e-02 +5.21e-02 +7.49e-02",
    ("wittbrodt", 8): "+3.60e-03 +1.26e-02 +2.03e-02",
    ("wittbrodt", 16): "+8.97e-04 +3.12e-03 +5.10e-03",
    ("wittbrodt", 32): "+2.24e-04 +7.79e-04 +1.28e-03",
    ("huston", 4): "-2.79e-02 -8.82e-02 -1.38e-01",
    ("huston", 8): "-7.12e-03 -2.42e-02 -3.92e-02",
    ("huston", 16): "-1.79e-03 -6.18e-03 -1.01e-02",
    ("huston", 32): "-4.48e-04 -1.55e-03 -2.55e-03",
}
WRONG_ROOT = {4: "-2.0e-01", 8: "-1.1e-01", 16: "-5.9e-02", 32: "-3.0e-02"}


@pytest.mark.parametrize(("split", "n"), BENDING_ERRORS)
def test_cantilever_frequencies_have_the_errors_of_the_published_table(split, n):
    errors = omegas(at_rest(unit_beam(n, split))[0])[:3] / cantilever_roots(3) ** 2 - 1
    assert " ".join(f"{e:+.2e}" for e in errors) == BENDING_ERRORS[split, n]


@BOTH
def test_modes_of_a_linearised_beam_are_those_of_the_table(split):
    beam = unit_beam(16, split, bending="both")
    arm, zero = at_rest(beam)
    modes = arm.linearise(zero).modes()
    errors = modes.omega[:6:2] / cantilever_roots(3) ** 2 - 1
    assert " ".join(f"{e:+.2e}" for e in errors) == BENDING_ERRORS[split, 16]
    np.testing.assert_allclose(modes.frequencies, beam.frequencies, rtol=1e-8)


def test_shapes_are_those_of_the_cantilever():
    beam = unit_beam(32)
    modes = beam.clamped().linearise(np.zeros(32)).modes()
    for k, x in enumerate(cantilever_roots(3)):
        s, moved = beam_displacements(beam, modes, k)
        ratio = (math.cosh(x) + math.cos(x)) / (math.sinh(x) + math.sin(x))
        exact = np.cosh(x * s) - np.cos(x * s) - ratio * (np.sinh(x * s) - np.sin(x * s))
        np.testing.assert_allclose(moved[:, 2] / moved[-1, 2], exact / exact[-1], atol=0.2 * (x / 32) ** 2)
        assert np.abs(moved[:, [0, 1, 3, 5]]).max() < 1e-13


def test_modes_are_drawn_along_a_beam():
    boom = zv.flexible.beam("boom", 6.0, **GOOD, damping=0.02)
    arm = zv.Chain([zv.Link("hub", rotor_inertia=1.0), *boom], gravity=(0, 0, 0))
    modes = arm.linearise(np.zeros(arm.n)).modes()
    figure = boom.plot_modes(modes)  # without the hub's motion of a rigid body
    first = next(k for k, kind in enumerate(modes.kinds) if kind != "rigid body")
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert len(titles) == 4 and titles[0].startswith(f"{first + 1}: {modes.frequencies[first]:.4g} Hz")
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines[:4]}
    assert set(lines) == {"along x", "along y", "along z", "twist"}
    assert max(np.abs(line).max() for line in lines.values()) == pytest.approx(1.0)
    plt.close(figure)
    other = zv.flexible.beam("mast", 6.0, **GOOD)
    for call, words in (
        (lambda: other.plot_modes(modes), "has no beam 'mast'"),
        (lambda: boom.plot_modes(arm), "modes is"),
        (lambda: boom.plot_modes(modes, [999]), "an entry of chosen is 999"),
        (lambda: boom.plot_modes(modes, []), "chosen is empty"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()


@pytest.mark.parametrize("plane", ["y", "z"])
def test_both_planes_bend_alike(plane):
    assert_close(omegas(at_rest(unit_beam(8, bending=plane))[0]), omegas(at_rest(unit_beam(8))[0]), 8, ulps=10_000)


@pytest.mark.parametrize("n", WRONG_ROOT)
def test_huston_root_with_the_stiffness_of_a_whole_segment_converges_with_first_order_only(n):
    links = list(unit_beam(n, "huston"))
    links[1] = links[1]._with(stiffness=links[1].stiffness / 2)
    error = omegas(at_rest(links)[0])[0] / cantilever_roots(1)[0] ** 2 - 1
    assert f"{error:+.1e}" == WRONG_ROOT[n]


@BOTH
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_cantilever_frequencies_converge_with_second_order(split, mode):
    n = np.array([12, 24, 48])
    errors = [unit_beam(int(k), split).frequencies[mode] * 2 * math.pi / cantilever_roots(3)[mode] ** 2 - 1 for k in n]
    order = np.polyfit(np.log(n), np.log(np.abs(errors)), 1)[0]
    assert abs(order + 2) < 0.03
    assert np.all(np.sign(errors) == (1 if split == "wittbrodt" else -1))  # the two splits bracket the exact value


@BOTH
@pytest.mark.parametrize(("n", "printed"), [(4, "-6.4e-03"), (8, "-1.6e-03"), (16, "-4.0e-04"), (32, "-1.0e-04")])
def test_torsion_frequencies_are_those_of_a_chain_of_springs(split, n, printed):
    section = zv.flexible.Profile(area=1.0, Iy=0.5, Iz=0.5, J=0.8)
    beam = zv.flexible.beam("rod", 3.0, section=section, material=UNIT, elements=n, split=split, bending=None)
    speed = math.sqrt(UNIT.shear * 0.8 / (UNIT.density * 1.0))
    r = np.arange(n)
    exact = 2 * n / 3.0 * speed * np.sin((2 * r + 1) * math.pi / (4 * n))
    got = omegas(at_rest(beam)[0])
    assert_close(got, exact, n)
    assert f"{got[0] / (math.pi / 6.0 * speed) - 1:+.1e}" == printed


@BOTH
def test_stretching_rod_vibrates_like_a_chain_of_springs(split):
    tube, metal = zv.flexible.Tube(0.05, 0.002), zv.flexible.steel
    rod = zv.flexible.beam(
        "rod", 3.0, section=tube, material=metal, elements=6, split=split, bending=None, torsion=False, extension=True
    )
    speed = math.sqrt(metal.young / metal.density)
    exact = 2 * 6 / 3.0 * speed * np.sin((2 * np.arange(6) + 1) * math.pi / 24)
    assert_close(2 * math.pi * rod.frequencies, exact, 6)
    assert {link.joint for link in rod} == {"fixed", "prismatic"}


ROTATING = {  # flap and lag at Omega sqrt(rho A L^4/(E I)) = 2 and 10: n = 8, 16, 32, extrapolated
    ("y", 2): (4.157, 4.142, 4.139, 4.1373),
    ("y", 10): (11.330, 11.235, 11.211, 11.202),
    ("z", 2): (3.644, 3.627, 3.623, 3.6218),
    ("z", 10): (5.327, 5.121, 5.067, 5.049),
}


@pytest.mark.parametrize(("plane", "gamma"), ROTATING)
def test_rotation_stiffens_a_beam_without_any_further_term(plane, gamma):
    spin = np.r_[np.zeros(5), gamma, np.zeros(3)]  # about z: bending about y is out of the plane (flap)
    got = [omegas(at_rest(unit_beam(n, bending=plane))[0], base_motion=spin)[0] for n in (8, 16, 32)]
    assert [round(w, 3) for w in got] == list(ROTATING[plane, gamma][:3])
    digits = 4 if gamma == 2 else 3
    assert round(got[2] + (got[2] - got[1]) / 3, digits) == ROTATING[plane, gamma][3]


@pytest.mark.parametrize("plane", ["y", "z"])
def test_a_turning_base_and_a_turning_joint_stiffen_alike(plane):
    hub = zv.Link("hub", axis=(0, 0, 1), rotor_inertia=1.0)
    arm, zero = at_rest([hub, *unit_beam(6, bending=plane, damping=(0.0, 0.0))])
    rate = np.r_[10.0, np.zeros(6)]
    turning = arm.derivatives(zero, rate, zero).dtau_dq[1:, 1:]
    beam, rest = at_rest(unit_beam(6, bending=plane))
    spin = np.r_[np.zeros(5), 10.0, np.zeros(3)]
    assert_close(turning, beam.derivatives(rest, rest, rest, base_motion=spin).dtau_dq, 6)


@cache
def frequencies_of_constants(length, *constants):
    """The first three of a uniform beam, for both splits."""
    return frequencies(3, length, *(lambda x, c=c: c for c in constants))


@BOTH
def test_short_thick_beam_has_timoshenko_frequencies(split):
    box, metal, L = zv.flexible.Box(0.12, 0.08), zv.flexible.steel, 0.5
    for plane, inertia, axis in (("y", box.Iy, "z"), ("z", box.Iz, "y")):
        kGA = box.kappa(metal.poisson, axis) * metal.shear * box.area
        constants = metal.young * inertia, metal.density * box.area, metal.density * inertia, kGA
        exact = frequencies_of_constants(L, *constants)
        euler = frequencies_of_constants(L, *constants[:2])
        options = {"section": box, "material": metal, "split": split, "bending": plane, "torsion": False}
        got = [
            2 * math.pi * zv.flexible.beam("b", L, elements=n, shear=True, **options).frequencies[:3] for n in (16, 32)
        ]
        errors = [g / exact - 1 for g in got]
        assert np.abs(errors[1]).max() < 0.004
        assert np.abs((4 * got[1] - got[0]) / (3 * exact) - 1).max() < 1e-4  # second order: extrapolation is exact
        assert (euler / exact - 1 > [0.01, 0.08, 0.2]).all()  # what shear and rotary inertia take away
        # rotary inertia is there without shear too
        stiff = [2 * math.pi * zv.flexible.beam("b", L, elements=n, **options).frequencies[:3] for n in (16, 32)]
        rayleigh = frequencies_of_constants(L, *constants[:3])
        assert np.abs((4 * stiff[1] - stiff[0]) / (3 * rayleigh) - 1).max() < 1e-4


TAPERS = {
    "pair": (zv.flexible.Tube(0.06, 0.003), zv.flexible.Tube(0.03, 0.001)),
    "function": lambda s: zv.flexible.Box(0.1 - 0.02 * s, 0.15 - 0.03 * s, 0.004),
}


@cache
def frequencies_of_taper(taper, L, metal):
    """The first three of a tapered beam, for both splits."""

    @cache
    def at(s):
        if taper != "pair":
            return TAPERS[taper](s)
        mix = (1 - s / L) * np.array([0.06, 0.003]) + s / L * np.array([0.03, 0.001])
        return zv.flexible.Tube(*mix.tolist())

    return frequencies(
        3,
        L,
        lambda s: metal.young * at(s).Iy,
        lambda s: metal.density * at(s).area,
        lambda s: metal.density * at(s).Iy,
    )


@pytest.mark.parametrize("taper", TAPERS)
@BOTH
def test_tapered_beam_against_its_differential_equation(taper, split):
    L, metal, section = 2.0, zv.flexible.aluminium, TAPERS[taper]
    exact = frequencies_of_taper(taper, L, metal)
    options = {"section": section, "material": metal, "split": split, "bending": "y", "torsion": False}
    got = [2 * math.pi * zv.flexible.beam("b", L, elements=n, **options).frequencies[:3] for n in (16, 32)]
    assert np.abs(got[1] / exact - 1).max() < 0.005
    assert np.abs((4 * got[1] - got[0]) / (3 * exact) - 1).max() < 1e-4


def test_lumped_tip_mass_against_the_frequency_equation():
    tip = zv.Body(0.7, 0.03)
    exact = frequencies(2, 1.0, lambda s: 1.0, lambda s: 1.0, tip_mass=0.7, tip_inertia=0.03)
    got = [2 * math.pi * unit_beam(n, payloads={1.0: tip}).frequencies[:2] for n in (16, 32)]
    assert np.abs((4 * got[1] - got[0]) / (3 * exact) - 1).max() < 1e-5
    assert np.abs(got[1] / exact - 1).max() < 1e-3


def test_heavy_mass_in_the_middle_is_a_spring_and_a_mass():
    # w^2 = 3 E I/(m a^3) with the free half hanging on it
    n = 64
    w = 2 * math.pi * unit_beam(n, payloads={0.5: zv.Body(1e4, 0.0)}).frequencies[0]
    assert abs(w / math.sqrt(3 / (1e4 * 0.125)) - 1) < 1e-3


def test_condition_and_highest_frequency_grow_as_stated():
    conditions = []
    for n in (4, 8, 16, 32):
        arm, zero = at_rest(unit_beam(n))
        conditions.append(f"{np.linalg.cond(arm.mass_matrix(zero)):.1e}")
        if n > 4:
            assert round(omegas(arm)[-1] / n**2, 2) == 8.87
    assert conditions == ["1.6e+03", "2.6e+04", "4.2e+05", "6.7e+06"]


# ---- what a beam is made of -----------------------------------------------------------------------------------------


def test_stacks_of_massless_hinges_are_dynamics_like_any_other(rng):
    boom = zv.flexible.beam(
        "boom", 6.0, section=zv.flexible.Tube(0.05, 0.002), material=zv.flexible.aluminium, elements=10, damping=0.01,
        extension=True, shear=True,
    )  # fmt: skip
    arm = zv.Chain(boom)
    assert arm.n == 60
    q, qd, qdd = (0.05 * rng.normal(size=(3, arm.n))).tolist()
    tau = arm.inverse_dynamics(q, qd, qdd)
    for method in ("aba", "cholesky"):
        assert_close(arm.forward_dynamics(q, qd, tau, method=method), np.array(qdd), arm.n, ulps=1e9)
    assert np.linalg.eigvalsh(arm.mass_matrix(q)).min() > 0


@BOTH
@given(
    n=st.integers(1, 12), sizes=st.tuples(*[st.floats(0.02, 0.2)] * 2), walls=st.tuples(*[st.floats(0.001, 0.01)] * 2)
)
def test_elements_keep_mass_centre_inertia_and_compliance_of_the_beam(split, n, sizes, walls):
    L, metal = 4.0, zv.flexible.cfrp
    ends = tuple(zv.flexible.Tube(r, t) for r, t in zip(sizes, walls, strict=True))
    boom = zv.flexible.beam("boom", L, section=ends, material=metal, elements=n, split=split)
    s = np.linspace(0.0, L, 20001)
    radius, wall = (np.interp(s, [0, L], pair) for pair in (sizes, walls))
    inner = radius - wall
    area, second = math.pi * (radius**2 - inner**2), math.pi / 4 * (radius**4 - inner**4)

    def integral(y):
        return np.trapezoid(y, s)

    mass = metal.density * integral(area)
    assert abs(boom.mass / mass - 1) < 1e-7
    arm, zero = at_rest([zv.Link("hub", axis=(0, 1, 0)), *boom])
    assert abs(arm.com(zero)[0] * mass / (metal.density * integral(area * s)) - 1) < 1e-7
    about_root = metal.density * integral(area * s**2 + second)
    assert abs(arm.mass_matrix(zero)[0, 0] / about_root - 1) < 1e-7
    assert_close(arm.pose(zero, boom.tip)[:3, 3], np.array([L, 0, 0]), n)
    reach = L if split == "wittbrodt" else L * (1 - 0.5 / n)  # half a segment of this split is rigid
    soft = {}
    for link in boom:
        if link.joint != "fixed":
            kind = link.joint_name.partition("_")[2].partition("_")[2]
            soft[kind] = soft.get(kind, 0.0) + 1 / link.stiffness
    inside = s <= reach * (1 + 1e-12)
    for kind, rigidity in {"bending_y": metal.young * second, "torsion": 2 * metal.shear * second}.items():
        expected = np.trapezoid((1 / rigidity)[inside], s[inside])
        assert abs(soft[kind] / expected - 1) < 1e-3
    assert soft["bending_y"] == pytest.approx(soft["bending_z"], rel=1e-14)


def test_element_is_a_uniform_prism():
    box, metal = zv.flexible.Box(0.1, 0.2, 0.01), zv.flexible.steel
    boom = zv.flexible.beam("boom", 6.0, section=box, material=metal, elements=3)
    element = zv.Chain(boom).links[boom.links.index(next(link for link in boom if link.name == "boom_1"))]
    m, s = metal.density * box.area * 2.0, 2.0
    assert element.mass == pytest.approx(m, rel=1e-13)
    about_end = np.diag(element.inertia) + m * (s / 2) ** 2 * np.array([0, 1, 1])
    rho = metal.density
    expected = [rho * (box.Iy + box.Iz) * s, rho * box.Iy * s + m * s**2 / 3, rho * box.Iz * s + m * s**2 / 3]
    np.testing.assert_allclose(about_end, expected, rtol=1e-12)
    stiff = {link.joint_name: link.stiffness for link in boom if link.joint != "fixed"}
    assert stiff["boom_1_torsion"] == pytest.approx(metal.shear * box.J / 2.0, rel=1e-13)
    assert stiff["boom_2_bending_y"] == pytest.approx(metal.young * box.Iy / 2.0, rel=1e-13)
    assert stiff["boom_3_bending_z"] == pytest.approx(metal.young * box.Iz / 2.0, rel=1e-13)


def test_names_lead_through_the_beam():
    boom = zv.flexible.beam(
        "boom", 6.0, section=zv.flexible.Rod(0.02), material=zv.flexible.steel, elements=2, parent="hub",
        position=(0, 0, 1), rotation=[[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        payloads={6.0: zv.Body(1.0, 0.1), 1.5: zv.Body(2.0, 0.1)},
    )  # fmt: skip
    assert [link.name for link in boom] == [
        "boom_0", "boom_1_torsion", "boom_1_bending_y", "boom_1", "boom_2_bending_z", "boom_2_bending_y", "boom_2",
        "boom_payload_0", "boom_payload_1", "boom_tip",
    ]  # fmt: skip
    kinds = "torsion", "bending_y", "bending_z"
    assert boom.joints == (*(f"boom_1_{kind}" for kind in kinds), *(f"boom_2_{kind}" for kind in kinds[::-1]))
    assert (boom.root, boom.tip, boom.length, boom.elements) == ("boom_0", "boom_tip", 6.0, 2)
    assert boom.stations.tolist() == [1.5, 4.5]
    links = [zv.Link("hub", axis=(0, 1, 0)), *boom, zv.Link("hand", axis=(0, 0, 1), mass=1.0, inertia=0.1)]
    arm, zero = at_rest(links)
    assert arm.joint_names == ("hub_joint", *boom.joints, "hand_joint")
    assert boom.indices(arm, "torsion").tolist() == [1, 6]
    poses = arm.poses(zero)
    np.testing.assert_allclose(poses["hand"][:3, 3], [0, 0, -5], atol=1e-14)  # along -z of the hub
    np.testing.assert_allclose(poses["boom_payload_0"][:3, 3], [0, 0, -0.5], atol=1e-14)
    assert {link.name: link.parent for link in arm.links}["boom_payload_0"] == "boom_0"  # the side of the root
    assert {link.name: link.parent for link in arm.links}["hand"] == "boom_tip"
    shuffled = zv.Chain([links[0], *reversed(links[2:-1]), links[1], links[-1]._with(parent="boom_tip")])
    assert shuffled.n == arm.n
    assert zv.Chain.from_dict(arm.to_dict()) == arm
    assert len(boom) == 10 and boom[-1].name == "boom_tip" and boom[:2] == boom.links[:2]


@pytest.mark.parametrize("options", [{}, {"bending": None}, {"extension": True, "torsion": False}])
def test_damping_ratio_of_the_first_mode_grows_with_frequency(options):
    boom = zv.flexible.beam(
        "boom", 3.0, section=zv.flexible.Tube(0.05, 0.002), material=zv.flexible.steel, damping=0.01, **options
    )
    arm, zero = at_rest(boom)
    d = arm.derivatives(zero, zero, zero)
    n = arm.n
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(d.dtau_dqdd, np.c_[d.dtau_dq, d.dtau_dqd])]])
    values = np.linalg.eigvals(A)
    slow = values[values.imag > 1e-9 * np.abs(values)]  # the fastest modes creep
    assert slow.size > 3
    ratios = -slow.real / np.abs(slow)
    np.testing.assert_allclose(ratios, 0.01 * np.abs(slow) / (2 * math.pi * boom.frequencies[0]), rtol=1e-5)
    assert ratios.min() == pytest.approx(0.01, rel=1e-6)


def test_viscosities_damp_bending_and_torsion_each():
    metal = zv.flexible.steel
    boom = zv.flexible.beam(
        "boom",
        3.0,
        section=zv.flexible.Tube(0.05, 0.002),
        material=metal,
        damping=(2e6, 3e6),
        extension=True,
        shear=True,
    )
    for link in boom:
        if link.joint != "fixed":
            shears = "torsion" in link.joint_name or "shear" in link.joint_name
            viscous = 3e6 / metal.shear if shears else 2e6 / metal.young
            assert link.friction == pytest.approx(viscous * link.stiffness, rel=1e-13)


def test_cfrp_is_the_quasi_isotropic_laminate_of_its_layers():
    # Tsai & Hahn (1980): T300/5208, GPa; invariants of a layer are the moduli of a quasi-isotropic laminate
    E1, E2, nu12, G12 = 181.0, 10.3, 0.28, 7.17
    below = 1 - nu12**2 * E2 / E1
    Q11, Q22, Q12 = E1 / below, E2 / below, nu12 * E2 / below
    U1 = (3 * Q11 + 3 * Q22 + 2 * Q12 + 4 * G12) / 8
    U4, U5 = (Q11 + Q22 + 6 * Q12 - 4 * G12) / 8, (Q11 + Q22 - 2 * Q12 + 4 * G12) / 8
    layer = zv.flexible.cfrp
    assert layer.poisson == pytest.approx(U4 / U1, abs=5e-4)
    assert layer.young / 1e9 == pytest.approx((1 - (U4 / U1) ** 2) * U1, abs=0.05)
    assert layer.shear / 1e9 == pytest.approx(U5, abs=0.05)


# ---- statics --------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("n", [1, 2, 5, 16])
def test_tip_force_bends_by_the_exact_fractions(split, n):
    beam = unit_beam(n, split)
    arm, zero = at_rest(beam)
    J = arm.jacobian(zero, beam.tip)[2]
    K = arm.derivatives(zero, zero, zero).dtau_dq
    exact = 1 - 1 / (4 * n**2) if split == "wittbrodt" else 1 + 1 / (2 * n**2)
    assert 3 * J @ np.linalg.solve(K, J) == pytest.approx(exact, rel=1e-12)
    bent = zv.flexible.deflection(arm, {beam.tip: [0, 0, 1e-6, 0, 0, 0]})
    assert arm.pose(bent.q, beam.tip)[2, 3] == pytest.approx(exact * 1e-6 / 3, rel=1e-9)


def test_torque_at_the_tip_finds_the_rigid_half_segment_of_huston():
    for split, factor in (("wittbrodt", 1.0), ("huston", 1 - 0.5 / 8)):
        beam = unit_beam(8, split, torsion=True)
        twisted = zv.flexible.deflection(at_rest(beam)[0], {beam.tip: [0, 0, 0, 0.1, 0, 0]})
        assert twisted.q.sum() == pytest.approx(factor * 0.1 / (UNIT.shear * SLENDER.J), rel=1e-10)


@pytest.mark.parametrize("turns", [0.25, 1.0])
def test_moment_at_the_tip_bends_into_a_circle(turns):
    n = 12
    beam = unit_beam(n)
    arm, _ = at_rest(beam)
    bent = zv.flexible.deflection(arm, {beam.tip: [0, 0, 0, 0, -2 * math.pi * turns, 0]})
    np.testing.assert_allclose(bent.q, -2 * math.pi * turns / n, rtol=1e-12)
    assert bent.residual < 1e-12
    if turns == 1:
        np.testing.assert_allclose(arm.pose(bent.q, beam.tip)[:3, 3], [0, 0, 0], atol=1e-13)


@pytest.mark.parametrize("load", [1.0, 10.0])
@BOTH
def test_large_deflection_converges_to_the_elastica(load, split):
    errors = []
    for n in (8, 16, 32):
        beam = unit_beam(n, split)
        arm, _ = at_rest(beam)
        bent = zv.flexible.deflection(arm, {beam.tip: [0, 0, load, 0, 0, 0]})
        x, _, z = arm.pose(bent.q, beam.tip)[:3, 3]
        errors.append(np.subtract((x, z), elastica(load)))
    orders = np.log2(np.abs(np.divide(errors[:-1], errors[1:])))
    assert np.abs(orders[-1] - 2).max() < 0.1
    assert np.abs(errors[-1]).max() < 1e-3


@pytest.mark.parametrize("seed", [3, 5, 8])
def test_large_load_leads_where_a_growing_one_does(seed):
    rng = np.random.default_rng(seed)
    beam = unit_beam(12)
    arm, q = at_rest(beam)
    load = np.r_[-20.0, rng.normal(), 80.0, 0, -3.0, 0] * rng.uniform(0.5, 1.5)
    at_once = zv.flexible.deflection(arm, {beam.tip: load})
    for part in np.linspace(0, 1, 101)[1:]:
        q = zv.flexible.deflection(arm, {beam.tip: part * load}, q=q).q
    np.testing.assert_allclose(at_once.q, q, atol=1e-10)


def test_shear_and_extension_add_their_parts_to_the_deflection():
    tube, metal, L = zv.flexible.Tube(0.05, 0.005), zv.flexible.steel, 0.4
    beam = zv.flexible.beam("b", L, section=tube, material=metal, elements=10, shear=True, extension=True)
    arm, zero = at_rest(beam)
    J = arm.jacobian(zero, beam.tip)
    K = arm.derivatives(zero, zero, zero).dtau_dq
    compliance = J @ np.linalg.solve(K, J.T)
    shear = L / (tube.kappa(metal.poisson) * metal.shear * tube.area)
    bending = (1 - 1 / 400) * L**3 / (3 * metal.young * tube.Iy)
    np.testing.assert_allclose(
        np.diag(compliance)[:3], [L / (metal.young * tube.area), *[bending + shear] * 2], rtol=1e-12
    )
    assert compliance[3, 3] == pytest.approx(L / (metal.shear * tube.J), rel=1e-12)


def test_weight_of_a_boom_and_holding_torque_of_its_drive():
    tube, metal, L = zv.flexible.Tube(0.05, 0.002), zv.flexible.aluminium, 6.0
    boom = zv.flexible.beam("boom", L, section=tube, material=metal, elements=32)
    arm = zv.Chain([zv.Link("shoulder", axis=(0, 1, 0), rotor_inertia=0.5), *boom])
    bent = zv.flexible.deflection(arm)
    per_length = metal.density * tube.area * 9.81
    assert bent.q[0] == 0
    assert -arm.pose(bent.q, boom.tip)[2, 3] == pytest.approx(per_length * L**4 / (8 * metal.young * tube.Iy), rel=2e-3)
    assert bent.tau[0] == pytest.approx(-per_length * L**2 / 2, rel=1e-4)  # shorter lever by the bending only
    assert np.abs(bent.tau[1:]).max() == bent.residual < 1e-9


def test_deflection_of_many_loads_is_that_of_each():
    beam = unit_beam(5, bending="both", torsion=True)
    arm, zero = at_rest(beam)
    forces = np.zeros((3, 2, 6))
    forces[..., 2] = np.linspace(-2, 2, 6).reshape(3, 2)
    forces[..., 1] = 0.3
    many = zv.flexible.deflection(arm, {beam.tip: forces})
    assert repr(many).startswith("Deflection of (3, 2) loads: 15 joints, residual")
    assert many.q.shape == (3, 2, arm.n) and many.residual.shape == many.iterations.shape == (3, 2)
    for row in np.ndindex(3, 2):
        one = zv.flexible.deflection(arm, {beam.tip: forces[row]}, q=zero)
        np.testing.assert_allclose(many.q[row], one.q, atol=1e-12)
    tau = arm.inverse_dynamics(many.q, 0 * many.q, 0 * many.q, external={beam.tip: forces})
    assert np.abs(tau).max() < 1e-11


def test_spin_bends_a_boom_that_is_mounted_askew():
    beam = unit_beam(16, rotation=[[math.cos(0.2), 0, math.sin(0.2)], [0, 1, 0], [-math.sin(0.2), 0, math.cos(0.2)]])
    arm, _ = at_rest(beam)
    spins = np.zeros((3, 9))
    spins[:, 5] = [0.0, 2.0, 30.0]
    bent = zv.flexible.deflection(arm, base_motion=spins)
    height = arm.pose(bent.q, beam.tip)[:, 2, 3]
    assert height[0] == pytest.approx(-math.sin(0.2))
    assert height[0] < height[1] < height[2] < 0  # pulled outwards
    tau = arm.inverse_dynamics(bent.q, 0 * bent.q, 0 * bent.q, base_motion=spins)
    assert np.abs(tau).max() < 1e-9


def test_deflection_is_the_equilibrium_without_torques(rng):
    boom = zv.flexible.beam("boom", 3.0, section=zv.flexible.Tube(0.02, 0.001), material=zv.flexible.steel, elements=6)
    arm = zv.Chain(boom)
    for scale in (1.0, 30.0):
        loads = {boom.tip: scale * rng.normal(size=6), "boom_3": scale * rng.normal(size=6)}
        bent = zv.flexible.deflection(arm, loads)
        held = arm.equilibrium(np.zeros(arm.n), bent.q + 0.01 * rng.normal(size=arm.n), external=loads)
        assert held.stable
        np.testing.assert_allclose(bent.q, held.q, atol=1e-10)


def test_held_springs_stay():
    beam = unit_beam(4)
    arm, _ = at_rest(beam)
    bent = zv.flexible.deflection(arm, {beam.tip: [0, 0, 0.1, 0, 0, 0]}, held=[beam.joints[0]])
    assert bent.q[0] == 0 and (bent.q[1:] < 0).all() and bent.tau[0] != 0


# ---- buckling -------------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("n", [1, 2, 4, 8, 32])
def test_column_buckles_at_euler_load_times_the_factor_of_its_springs(split, n):
    beam = unit_beam(n, split)
    got = zv.flexible.buckling_load(at_rest(beam)[0], beam.tip)
    assert got == pytest.approx(4 * n**2 * math.sin(math.pi / (4 * n)) ** 2, rel=1e-9)
    if n > 1:
        assert abs(got / (math.pi**2 / 4) - 1) < 0.206 / n**2


def test_buckling_of_many_states_is_that_of_each():
    hub = zv.Link("hub", axis=(0, 1, 0), rotor_inertia=1.0)
    beam = unit_beam(6)
    arm, _ = at_rest([hub, *beam])
    q = np.zeros((3, 7))
    q[:, 0] = [0.0, 0.05, math.pi]
    loads = zv.flexible.buckling_load(arm, beam.tip, q=q)
    assert loads[0] == pytest.approx(4 * 36 * math.sin(math.pi / 24) ** 2, rel=1e-9)
    assert loads[2] == math.inf  # turned round it is pulled
    for row, load in zip(q, loads, strict=True):
        assert zv.flexible.buckling_load(arm, beam.tip, q=row) == load


def test_column_in_space_buckles_about_its_weaker_axis():
    box, metal, L = zv.flexible.Box(0.02, 0.05), zv.flexible.steel, 1.5
    column = zv.flexible.beam(
        "c", L, section=box, material=metal, elements=16, rotation=[[0, 0, -1], [0, 1, 0], [1, 0, 0]]
    )
    arm, _ = at_rest(column)
    exact = math.pi**2 * metal.young * box.Iz / (4 * L**2)
    assert zv.flexible.buckling_load(arm, column.tip, (0, 0, -1)) == pytest.approx(exact, rel=1e-3)
    assert zv.flexible.buckling_load(arm, column.tip, (0, 0, 5)) == math.inf  # pulled


def test_equilibrium_of_a_column_that_shortens_is_followed():
    beam = unit_beam(8, extension=True)
    arm = zv.Chain(
        [link._with(stiffness=1e3) if link.joint == "prismatic" else link for link in beam], gravity=(0, 0, 0)
    )
    stretch, bend = beam.indices(arm, "extension"), beam.indices(arm, "bending_y")

    def softest(load):
        q = np.zeros(arm.n)
        q[stretch] = -load / 1e3  # each of them carries the load
        K = arm.derivatives(q, 0 * q, 0 * q, external={beam.tip: [-load, 0, 0, 0, 0, 0]}).dtau_dq
        return np.linalg.eigvalsh(K[np.ix_(bend, bend)])[0]

    load = zv.flexible.buckling_load(arm, beam.tip)
    assert load == pytest.approx(brentq(softest, 1.0, 4.0, xtol=1e-12), rel=1e-6)
    assert load > 1.005 * zv.flexible.buckling_load(at_rest(unit_beam(8))[0], beam.tip)  # shorter columns carry more


def test_narrow_cantilever_buckles_sideways():
    # Timoshenko & Gere: P = 4.0126 sqrt(E Iz G J)/L^2 for a force at the centroid of the end; the beam is bent before
    # it buckles, which divides by sqrt((1 - Iz/Iy) (1 - G J/(E Iy)))
    box, metal, L = zv.flexible.Box(0.004, 0.12), zv.flexible.aluminium, 2.0
    bent = (1 - box.Iz / box.Iy) * (1 - metal.shear * box.J / (metal.young * box.Iy))
    exact = 4.0126 / L**2 * math.sqrt(metal.young * box.Iz * metal.shear * box.J / bent)
    loads = []
    for n in (8, 16, 32):
        beam = zv.flexible.beam("plate", L, section=box, material=metal, elements=n)
        loads.append(zv.flexible.buckling_load(at_rest(beam)[0], beam.tip, (0, 0, -1)))
    assert 3.5 < (loads[1] - loads[0]) / (loads[2] - loads[1]) < 4.6  # second order: the orders of the hinges alternate
    assert loads[2] + (loads[2] - loads[1]) / 3 == pytest.approx(exact, rel=3e-4)


def test_deflection_says_that_a_column_buckles():
    beam = unit_beam(8)
    arm, _ = at_rest(beam)
    critical = zv.flexible.buckling_load(arm, beam.tip)
    straight = zv.flexible.deflection(arm, {beam.tip: [-0.99 * critical, 0, 0, 0, 0, 0]})
    assert np.abs(straight.q).max() < 1e-13
    with pytest.raises(zv.SingularityError, match="buckles") as caught:
        zv.flexible.deflection(arm, {beam.tip: [-1.6 * critical, 0, 0, 0, 0, 0]})
    assert caught.value.margin == pytest.approx(1 / 1.6, abs=1e-3)


# ---- followers ------------------------------------------------------------------------------------------------------


def flutter_load(arm, tip, low=5.0, high=30.0):
    """Least push along the axis of the tip, turning with it, that makes the straight column flutter; the frequency."""

    def modes(push):
        loads = {"external": {tip: [-push, 0, 0, 0, 0, 0]}, "external_frame": "link"}
        return arm.linearise(np.zeros(arm.n), **loads).modes()

    while high - low > 1e-7 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if "flutters" in modes(middle).kinds else (middle, high)
    return high, modes(high).omega[0]


@pytest.mark.parametrize("bending", ["y", "both"])
@BOTH
def test_becks_column_never_buckles_but_flutters(split, bending):
    # Beck (1952): P = 20.05 E I/L^2, at omega = 11.02 sqrt(E I/(rho A L^4))
    found = []
    for n in (8, 16):
        beam = unit_beam(n, split, bending=bending)
        arm, _ = at_rest(beam)
        found.append(flutter_load(arm, beam.tip))
        assert zv.flexible.buckling_load(arm, beam.tip, external_frame="link") == math.inf
        straight = zv.flexible.deflection(arm, {beam.tip: [-40.0, 0, 0, 0, 0, 0]}, external_frame="link")
        assert np.abs(straight.q).max() < 1e-12
    coarse, fine = np.array(found)
    limit = fine + (fine - coarse) / 3
    np.testing.assert_allclose(limit, [20.05, 11.016], rtol=2e-3 if split == "huston" else 3e-4)


@pytest.mark.parametrize("force", [0.3, 3.0, 12.0])
def test_force_across_the_tip_bends_into_the_elastica_of_a_follower(force):
    # in axes of the tip the force is constant: an initial value problem from there, position and angle of the tangent
    def shape(s, u):
        return [-math.cos(u[2]), -math.sin(u[2]), force * u[0]]

    x, z, angle = solve_ivp(shape, (0, 1), [0, 0, 0], rtol=1e-12, atol=1e-13).y[:, -1]
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    want = np.r_[-turn @ [x, z], turn[:, 0]]
    errors = []
    for n in (16, 32):
        beam = unit_beam(n)
        arm, _ = at_rest(beam)
        bent = zv.flexible.deflection(arm, {beam.tip: [0, 0, force, 0, 0, 0]}, external_frame="link")
        pose = arm.pose(bent.q, beam.tip)
        errors.append(np.r_[pose[[0, 2], 3], pose[[0, 2], 0]] - want)
    assert np.abs(errors[1]).max() < 4e-3 and np.abs(errors[1] - errors[0] / 4).max() < 1.5e-4


def test_heavy_column_that_is_pulled_along_its_tip_falls_over():
    # theta'' + w (L - s) theta - T (theta - theta(L)) = 0, theta(0) = theta'(L) = 0, E I = L = 1
    weight = 3.0

    def foot(T):
        def bend(s, u):  # from the tip down
            return [-u[1], weight * s * u[0] - T * (u[0] - 1)]

        return solve_ivp(bend, (0, 1), [1, 0], rtol=1e-11, atol=1e-12).y[0, -1]

    exact = brentq(foot, 1.0, 40.0, xtol=1e-9)
    found = []
    for n in (16, 32):
        beam = unit_beam(n, rotation=[[0, 0, -1], [0, 1, 0], [1, 0, 0]])
        stands = zv.Chain(beam, gravity=(0, 0, -weight))
        found.append(zv.flexible.buckling_load(stands, beam.tip, (1, 0, 0), external_frame="link"))
        with pytest.raises(zv.SingularityError, match="buckles"):
            zv.flexible.deflection(stands, {beam.tip: [1.01 * found[-1], 0, 0, 0, 0, 0]}, external_frame="link")
    assert found[1] + (found[1] - found[0]) / 3 == pytest.approx(exact, rel=1e-4)


def test_followers_of_many_states_are_those_of_each():
    beam = unit_beam(6, bending="both")
    arm, _ = at_rest(beam)
    loads = np.random.default_rng(3).uniform(-1, 1, (4, 6))
    many = zv.flexible.deflection(arm, {beam.tip: loads}, external_frame="link")
    for q, load in zip(many.q, loads, strict=True):
        assert np.array_equal(q, zv.flexible.deflection(arm, {beam.tip: load}, external_frame="link").q)
        R = arm.pose(q, beam.tip)[:3, :3]  # the same forces, fixed where they have come to
        world = np.r_[R @ load[:3], R @ load[3:]]
        assert np.abs(arm.inverse_dynamics(q, 0 * q, 0 * q, {beam.tip: world})).max() < 1e-9


def test_tall_column_buckles_under_its_own_weight():
    # Greenhill: rho A g L^3/(E I) = 7.8373
    up = [[0, 0, -1], [0, 1, 0], [1, 0, 0]]
    beam = unit_beam(32, rotation=up)
    stands = zv.Chain(beam, gravity=(0, 0, -7.8))
    assert np.abs(zv.flexible.deflection(stands).q).max() < 1e-12
    with pytest.raises(zv.SingularityError, match="buckles"):
        zv.flexible.deflection(zv.Chain(beam, gravity=(0, 0, -7.88)))
    assert zv.flexible.buckling_load(stands, beam.tip, (0, 0, -1)) < 0.03


# ---- arms -----------------------------------------------------------------------------------------------------------


def two_booms(elements=32):
    """Golden data of the flexible boom: two planar booms of 6 m, elbow 5 kg, tip 20 kg, rotors 0.5 kg m^2."""
    r, t = 0.05, 0.002
    metal = zv.flexible.Material(70e9, 0.3, 2700.0)
    thin = zv.flexible.Profile(2 * math.pi * r * t, math.pi * r**3 * t, math.pi * r**3 * t, 2 * math.pi * r**3 * t)
    links = []
    for k, lump in ((1, 5.0), (2, 20.0)):
        links.append(zv.Link(f"drive{k}", axis=(0, 0, 1), rotor_inertia=0.5))
        links += zv.flexible.beam(
            f"boom{k}", 6.0, section=thin, material=metal, elements=elements, bending="z", torsion=False
        )
        links.append(zv.Link(f"lump{k}", joint="fixed", mass=lump, inertia=2.0))
    return zv.Chain(links, gravity=(0, 0, 0), name="two booms")


def test_two_boom_arm_has_the_reference_frequencies():
    arm = two_booms()
    assert arm.n == 66
    modes = arm.linearise(np.zeros(66)).modes()
    assert modes.kinds[:3] == ("rigid body", "rigid body", "oscillates")  # it turns freely in its two joints
    assert [round(w) for w in modes.omega[2:5]] == [47, 54, 139]
    assert round(modes.omega[-1]) == 29585
    np.testing.assert_allclose(omegas(arm)[2:], modes.omega[2:], rtol=1e-4)


def test_rigid_and_flexible_links_mix():
    """A stiff boom is a rigid link: the mass matrix of the drives is that of an arm of two rods."""
    arm = two_booms(6)
    q = np.zeros(arm.n)
    drives = [arm.joint_names.index(f"drive{k}_joint") for k in (1, 2)]
    q[drives] = [0.3, 0.8]
    metal, r, t = zv.flexible.Material(70e9, 0.3, 2700.0), 0.05, 0.002
    m = metal.density * 2 * math.pi * r * t * 6.0
    across = m * 36 / 12 + metal.density * math.pi * r**3 * t * 6.0
    rods = []
    for k, lump in ((1, 5.0), (2, 20.0)):
        position = (0, 0, 0) if k == 1 else (6, 0, 0)
        rods.append(
            zv.Link(
                f"rod{k}", position=position, mass=m, com=(3, 0, 0), inertia=(0.1, across, across), rotor_inertia=0.5
            )
        )
        rods.append(zv.Link(f"lump{k}", parent=f"rod{k}", position=(6, 0, 0), joint="fixed", mass=lump, inertia=2.0))
    rods[2] = rods[2]._with(parent="rod1")
    rigid = zv.Chain(rods, gravity=(0, 0, 0))
    assert_close(arm.mass_matrix(q)[np.ix_(drives, drives)], rigid.mass_matrix([0.3, 0.8]), arm.n)
    # springs that hardly give: the drives accelerate as those of the rods, once the booms follow
    stiff = zv.Chain(
        [link._with(stiffness=1e6 * link.stiffness) if link.stiffness else link for link in arm.links],
        gravity=(0, 0, 0),
    )
    turn = stiff.linearise(q).modes().shapes[:2][:, drives]  # of the motions of a rigid body
    compliance = turn.T @ turn
    np.testing.assert_allclose(compliance, np.linalg.inv(rigid.mass_matrix([0.3, 0.8])), rtol=1e-6)


# ---- how many elements ----------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(("modes", "tolerance"), [(1, 1e-2), (3, 1e-2), (3, 1e-3), (6, 1e-2)])
def test_resolution_is_the_least_that_is_enough(split, modes, tolerance):
    beam = unit_beam(3, split)
    exact = cantilever_roots(modes + 1) ** 2 / (2 * math.pi)
    report = zv.flexible.resolution(beam, 1.01 * exact[modes - 1], tolerance)
    assert report.frequencies.size == report.errors.size == modes
    np.testing.assert_allclose(report.frequencies, exact[:modes], rtol=0.1 * tolerance)

    def worst(n):
        errors = unit_beam(n, split).frequencies[:modes] / exact[:modes] - 1
        return max(np.abs(errors).max(), (1 / 4 if split == "wittbrodt" else 1 / 2) / n**2)

    assert worst(report.elements) < 1.02 * tolerance
    assert worst(report.elements - 1) > 0.98 * tolerance
    assert abs(report.predicted - report.elements) <= max(2, 0.2 * report.elements)
    assert str(report).startswith(f"{report.elements} elements")


def test_resolution_looks_at_torsion_and_payloads():
    rod = {"section": zv.flexible.Profile(1.0, 0.5, 0.5, 1.0), "material": zv.flexible.Material(1e12, 0.3, 1.0)}
    twist = zv.flexible.beam("rod", 1.0, bending=None, **rod)
    wave = math.sqrt(rod["material"].shear) / 4  # Hz
    report = zv.flexible.resolution(twist, 5.5 * wave)
    assert report.static == 0
    np.testing.assert_allclose(report.frequencies, wave * np.array([1, 3, 5]), rtol=1e-3)
    assert report.elements == math.ceil(2.5 * math.pi / math.sqrt(24 * 0.01))
    heavy = zv.flexible.resolution(unit_beam(4, payloads={1.0: zv.Body(10.0, 0.0)}), 0.1)
    assert heavy.frequencies.size == 1 and heavy.frequencies[0] < 0.1
    none = zv.flexible.resolution(unit_beam(4), 0.1)
    assert none.elements == 5 and "no mode" in str(none)  # 1/(4 n^2) <= 0.01


# ---- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"elements": 0}, "elements is 0, expected an integer from 1"),
        ({"elements": 2.5}, "elements is 2.5"),
        ({"elements": True}, "elements is True"),
        ({"length": 0.0}, "length is 0, expected a number > 0"),
        ({"length": math.nan}, "length is nan"),
        ({"length": "6 m"}, "length is '6 m'"),
        ({"split": "wittbrot"}, "split is 'wittbrot'.*did you mean 'wittbrodt'"),
        ({"split": None}, "split is None"),
        ({"bending": "x"}, "bending is 'x', expected 'both'"),
        ({"bending": ["y"]}, "bending is"),
        ({"torsion": "yes"}, "torsion is 'yes'"),
        ({"bending": None, "torsion": False}, "nothing deforms"),
        ({"bending": None, "shear": True}, "shear is that of a plane"),
        ({"material": "steel"}, "material is 'steel'"),
        ({"section": 0.05}, "section is 0.05"),
        ({"section": (zv.flexible.Rod(0.1), zv.flexible.Tube(0.1, 0.01))}, "two of one class"),
        ({"section": (zv.flexible.Box(0.1, 0.1), zv.flexible.Box(0.1, 0.1, 0.01))}, "one is hollow"),
        ({"section": (zv.flexible.Rod(0.1),)}, "1 entries, expected a pair"),
        ({"section": (zv.flexible.Rod(0.1), 0.05)}, r"section\[1\] is 0.05"),
        ({"section": lambda s: 0.1 - 0.01 * s}, r"section\(0\.\d+\) is"),
        ({"section": SimpleNamespace(area=1.0, Iy=1.0, Iz=-1.0, J=1.0)}, "Iz of section is -1"),
        ({"section": SimpleNamespace(area=1.0, Iy=1.0, Iz=1.0, J=1.0), "shear": True}, "shear=True needs a section"),
        ({"damping": -0.1}, "damping is -0.1"),
        ({"damping": (1.0,)}, "expected a ratio, a pair"),
        ({"damping": (1.0, -1.0)}, r"damping\[1\] is -1"),
        ({"damping": "some"}, "damping is 'some'"),
        ({"payloads": {6.1: zv.Body(1.0, 0.1)}}, "s = 6.1 m, expected 0 to the length 6 m"),
        ({"payloads": {-0.1: zv.Body(1.0, 0.1)}}, "s = -0.1"),
        ({"payloads": {1.0: 5.0}}, r"payloads\[1\] is 5.0, expected a zv.Body"),
        ({"payloads": [zv.Body(1.0, 0.1)]}, "payloads is"),
        ({"position": (0, 0)}, "position has shape"),
        ({"rotation": np.ones((3, 3))}, "rotation"),
        ({"name": ""}, "name is ''"),
        ({"name": 7}, "name is 7"),
    ],
)
def test_beam_refuses_in_words(options, words):
    arguments = {"name": "boom", "length": 6.0} | GOOD | options
    with pytest.raises(ValueError, match=words):
        zv.flexible.beam(**arguments)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: zv.flexible.Tube(0.05, -0.002), "thickness is -0.002"),
        (lambda: zv.flexible.Tube(0.05, 0.06), "thickness is 0.06, expected at most the outer radius"),
        (lambda: zv.flexible.Material(70e9, 0.6, 2700.0), "poisson is 0.6"),
        (lambda: zv.flexible.Material(70e9, -1.0, 2700.0), "poisson is -1"),
        (lambda: zv.flexible.Material(0.0, 0.3, 2700.0), "young is 0"),
        (lambda: zv.flexible.Material(70e9, 0.3, -1.0), "density is -1"),
        (lambda: zv.flexible.Material(70e9, 0.3, 2700.0, shear=0.0), "shear is 0"),
        (lambda: zv.flexible.Profile(1.0, 1.0, 0.0, 1.0), "Profile: Iz is 0"),
    ],
)
def test_sections_and_materials_refuse_in_words(make, words):
    with pytest.raises(zv.ModelError, match=words):
        make()


def test_statics_and_resolution_refuse_in_words():
    beam = unit_beam(4)
    arm, _ = at_rest(beam)
    deflection, buckling, resolution = zv.flexible.deflection, zv.flexible.buckling_load, zv.flexible.resolution
    for call, words in (
        (lambda: deflection(beam), "arm is Beam 'beam'"),
        (lambda: deflection(zv.robots.two_link()), "no joint that deflects"),
        (lambda: deflection(arm, {"beam_tap": [0] * 6}), "beam_tap"),
        (lambda: deflection(arm, {"beam_tip": [0] * 5}), r"external\['beam_tip'\] has shape \(5,\)"),
        (lambda: deflection(arm, [0] * 6), "external is"),
        (lambda: deflection(arm, q=[0, 0]), "q has shape"),
        (lambda: deflection(arm, base_motion=[0] * 6), "base_motion has shape"),
        (lambda: deflection(arm, held=["beam_1"]), "held names the joint 'beam_1', unknown; did you mean"),
        (lambda: deflection(arm, held="beam_1_bending_y"), "held is"),
        (lambda: deflection(arm, {"beam_tip": np.zeros((2, 6))}, q=np.zeros((3, 4))), "do not broadcast"),
        (lambda: deflection(arm, external_frame="body"), "external_frame is 'body', expected 'world' or 'link'"),
        (lambda: buckling(arm, "tip"), "tip is 'tip', expected a link; did you mean 'beam_tip'"),
        (
            lambda: buckling(arm, beam.tip, external={"tip": np.zeros(6)}),
            "flexible.buckling_load: external names link 'tip', which there is not; did you mean 'beam_tip'",
        ),
        (lambda: deflection(arm, {3: np.zeros(6)}), "flexible.deflection: external names link 3, which there is not"),
        (lambda: buckling(arm, "beam_tip", (0, 0, 0)), "expected a direction"),
        (lambda: buckling(arm, "beam_tip", tolerance=0.0), "tolerance is 0"),
        (lambda: beam.indices(arm, "bending"), "kind is 'bending', expected one of"),
        (lambda: beam.indices(zv.robots.two_link(), "bending_y"), "chain 'two-link' has no beam|has no beam 'beam'"),
        (lambda: resolution(arm, 10.0), "beam is"),
        (lambda: resolution(beam, 0.0), "max_frequency is 0"),
        (lambda: resolution(beam, 1.0, -1.0), "tolerance is -1"),
        (lambda: resolution(beam, 1.0, 1e-9), "more than 400 elements"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()


def test_making_beams_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for split in SPLITS:
            boom = zv.flexible.beam("boom", 6.0, **GOOD, split=split, elements=1, payloads={0.0: zv.Body(1.0, 0.1)})
            assert zv.Chain(boom, strict=True).n == 3
