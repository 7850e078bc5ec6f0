"""Numbers of a hexapod that are out of proportion, and those that are not."""

import warnings

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from hypothesis import given
from hypothesis import strategies as st
from reference import hexapod as hd
from zveno._check import told_apart

MILLIMETRES = 1000.0


def quietly(make, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        return make(*args, **options)


def circle(radius, degrees):
    a = np.radians(degrees)
    return radius * np.array([0.0, np.cos(a), np.sin(a)])


def struts(radius=0.6, base=0.64, height=0.4, unit=1.0, **changes):
    """Arguments of a hexapod of UPS legs; `unit` is that of the hinges."""
    size = radius
    fields = {
        "housing": zv.Body.cylinder(4.0, 0.05 * size, 0.5 * size),
        "rod": zv.Body.cylinder(2.5, 0.03 * size, 0.5 * size),
        "housing_length": 0.3 * size * unit,
        **changes,
    }
    legs = []
    for i in range(3):
        for sign in (1, -1):
            ends = circle(base * unit, 120 * i + 15 * sign), circle(radius * unit, 120 * i + 45 * sign)
            legs.append(zv.Leg.ups(*ends, **fields))
    platform = zv.Body(45.0, np.array([0.9, 0.5, 0.5]) * 45.0 * size**2)
    return {"platform": platform, "legs": legs, "nominal": (height * unit, 0, 0)}


def cranks(**changes):
    hx = zv.mechanisms.docking_ring("RUS")
    legs = [zv.Leg.from_dict(leg.to_dict() | changes) for leg in hx.legs]
    return {"platform": hx.platform, "legs": legs, "nominal": hx.nominal}


def body(scale, com=1.0):
    rod = zv.Body.cylinder(2.5, 0.02, 0.3)
    return zv.Body(rod.mass, rod.inertia * scale, rod.com * com)


SUSPICIOUS = {
    "hinges in mm": (lambda: struts(unit=MILLIMETRES), "the ring hinges are 600 m from the centre of mass"),
    "hinges in mm, inertia in m": (lambda: struts(unit=MILLIMETRES), "radius of gyration of 0.569 m"),
    "base hinges in mm": (lambda: struts(base=640.0, housing_length=0.2), "base hinges are on a radius of 640 m"),
    "inertia in kg mm^2": (
        lambda: struts() | {"platform": zv.Body(45.0, (15.5e6, 8.2e6, 8.2e6))},
        "inertia and mass of the platform make a radius of gyration of 587 m, its hinges are 0.6 m",
    ),
    "mass in g": (
        lambda: struts() | {"platform": zv.Body(45e3, (15.5, 8.2, 8.2))},
        "a platform of 4.5e+04 kg with this inertia has a density of at least",
    ),
    "gravity in mm": (lambda: struts() | {"gravity": (-9810.0, 0, 0)}, "gravity is 9810 m/s^2"),
    "stroke in mm": (lambda: struts(lower=-130.0, upper=150.0), "leg 'leg1': stroke may move by 280 m, the leg is"),
    "lengths for strokes": (
        lambda: struts(lower=0.4, upper=0.6),
        "leg 'leg1': stroke is 0 m in the nominal pose, outside its limits 0.4 to 0.6 m",
    ),
    "rod in mm": (lambda: struts(rod_length=300.0), "leg 'leg1': its bodies are 300.2 m long, its hinges"),
    "inertia of a rod in kg mm^2": (lambda: struts(rod=body(1e6)), "leg 'leg1': inertia and mass of its rod make"),
    "com of a rod in mm": (lambda: struts(rod=body(1.0, 1e3)), "leg 'leg1': com of its rod is 150 m away"),
    "rotor in kg mm^2": (lambda: struts(rotor_inertia=100.0, lead=0.02), "leg 'leg1': its drive adds 9.87e+06 kg"),
    "crank in degrees": (lambda: cranks(lower=-45.0, upper=45.0), "leg 'leg1': crank may turn by 90 rad"),
    "crank limits elsewhere": (lambda: cranks(lower=1.5, upper=2.0), "leg 'leg1': crank is"),
    "rotor of a crank in kg mm^2": (lambda: cranks(reflected=0.15e6), "leg 'leg1': its drive adds 1.5e+05 kg m^2"),
}


@pytest.mark.parametrize(("arguments", "words"), SUSPICIOUS.values(), ids=SUSPICIOUS)
def test_a_wrong_unit_is_a_suspicion(arguments, words):
    keywords = arguments()
    with pytest.warns(zv.ModelWarning, match="Hexapod 'hexapod': ") as caught:
        hx = zv.Hexapod(**keywords)
    assert len(caught) == 1 and caught[0].filename == __file__
    texts = [text for _, text in hx.suspicions]
    assert any(text.startswith(words) or words in text for text in texts), texts
    for leg, text in hx.suspicions:
        assert text.startswith(f"leg '{leg}': ") if leg else "leg '" not in text
    with pytest.raises(zv.ModelError, match=r"\(strict=True\)"):
        zv.Hexapod(**keywords, strict=True)
    with pytest.warns(zv.ModelWarning):
        zv.Hexapod.from_dict(hx.to_dict())
    with pytest.raises(zv.ModelError, match=r"\(strict=True\)"):
        zv.Hexapod.from_dict(hx.to_dict(), strict=True)


def test_many_suspicions_are_cut():
    with pytest.warns(zv.ModelWarning, match=r"and 4 more \(see Hexapod.suspicions\)"):
        hx = zv.Hexapod(**struts(lower=-130.0, upper=150.0, rod=body(1.0, 1e3)))
    assert len(hx.suspicions) == 12


def test_a_single_wrong_number_is_one_suspicion_of_its_leg():
    keywords = struts()
    keywords["legs"][2] = keywords["legs"][2]._with(lower=-130.0, upper=150.0)
    hx = quietly(zv.Hexapod, **keywords)
    assert [leg for leg, _ in hx.suspicions] == ["leg3"]


def test_a_copy_is_not_suspected_again():
    hx = quietly(zv.Hexapod, **struts(unit=MILLIMETRES))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other = hx._with(name="other")
    assert other.suspicions == hx.suspicions != []


@pytest.mark.parametrize("kind", hd.TYPES)
@pytest.mark.parametrize("reflected", [True, False])
def test_docking_rings_are_above_suspicion(kind, reflected):
    assert zv.mechanisms.docking_ring(kind, reflected=reflected, gravity=(-9.81, 0, 0)).suspicions == []


@pytest.mark.parametrize("case", models.CASES)
def test_mechanisms_of_the_tests_are_above_suspicion(case):
    assert models.pair(case)[1].suspicions == []


def spread(low, high):
    """Numbers over decades."""
    return st.floats(np.log(low), np.log(high)).map(np.exp)


@given(
    size=spread(0.02, 8.0),
    base=spread(0.3, 3.0),
    height=spread(0.4, 4.0),
    mass=spread(10, 8000),
    hollow=spread(0.3, 3.0),
    stroke=st.floats(0.02, 0.9),
    screw=spread(1e-3, 0.05),
    gravity=st.floats(-30, 30),
)
def test_reasonable_rings_are_above_suspicion(size, base, height, mass, hollow, stroke, screw, gravity):
    """From a hexapod for lenses to one for telescopes, of anything between foam and lead."""
    keywords = struts(
        size, base * size, height * size, lower=-stroke * 0.5 * size, upper=stroke * size,
        rotor_inertia=1e-4 * size**3, lead=screw * max(size, 0.1),
    )  # fmt: skip
    kilograms = mass * size**3
    keywords["platform"] = zv.Body(kilograms, np.array([1.0, 0.6, 0.7]) * kilograms * (hollow * size) ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert zv.Hexapod(**keywords, gravity=(gravity, 0, 0)).suspicions == []


@given(size=spread(0.02, 1.0), height=spread(0.4, 2.0))
def test_millimetres_never_pass(size, height):
    keywords = struts(size, size, height * size, unit=MILLIMETRES)
    with pytest.warns(zv.ModelWarning):
        zv.Hexapod(**keywords)


def test_a_spacecraft_may_be_the_platform():
    keywords = struts() | {"platform": zv.Body(420e3, np.array([1.3e8, 1.0e8, 2.0e8]))}
    assert zv.Hexapod(**keywords).suspicions == []


@pytest.mark.parametrize("turns", [-1, 0, 1])
def test_a_crank_is_within_its_limits_whatever_the_turn(turns):
    hx = zv.mechanisms.docking_ring("RUS")
    way = 2 * np.pi * turns
    legs = [leg._with(lower=leg.lower + way, upper=leg.upper + way) for leg in hx.legs]
    assert zv.Hexapod(hx.platform, legs, nominal=hx.nominal).suspicions == []


# ---- digits -----------------------------------------------------------------------------------------------------


@given(st.floats(1e-3, 1e3), st.sampled_from([0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3]))
def test_two_numbers_have_the_digits_that_tell_them_apart(x, difference):
    y = x * (1 + difference)
    first, second = told_apart(x, y)
    assert (first == second) == (x == y)
    assert abs(float(first) - x) <= 1e-5 * x and abs(float(second) - y) <= 1e-5 * y


def test_digits_where_two_numbers_look_equal():
    keywords = struts()
    leg = keywords["legs"][0]
    distance = float(np.linalg.norm(leg.ring + np.array([0.4, 0, 0]) - leg.base))
    long = [leg._with(inner_length=distance * (1 + 1e-9)) for leg in keywords["legs"]]
    with pytest.raises(zv.ModelError) as caught:
        zv.Hexapod(keywords["platform"], long, nominal=keywords["nominal"])
    words = str(caught.value).split()
    given, hinges = (word.rstrip(",") for word in (words[words.index("is") + 1], words[-2]))
    assert float(given) > float(hinges)
    with pytest.raises(zv.ModelError, match=r"lower = 0\.2500000001 and upper = 0.25 leave no room"):
        zv.Link("a", joint="prismatic", lower=0.2500000001, upper=0.25)


def test_hinges_just_out_of_reach_are_further_apart_than_crank_and_coupler_by_the_digits():
    hx = zv.mechanisms.docking_ring("RSU")
    leg = hx.legs[0]
    apart = (leg.inner_length + leg.outer_length) * (1 + 1e-8)
    x = leg.base_frame[:, 0]
    far = leg._with(base=hx.nominal[0] + hx.nominal[1] @ leg.ring - apart * x, ring_frame=None)
    with pytest.raises(zv.ModelError, match=r"the hinges are 0\.68000001 m apart"):
        zv.Hexapod(hx.platform, [far, *hx.legs[1:]], nominal=hx.nominal)
