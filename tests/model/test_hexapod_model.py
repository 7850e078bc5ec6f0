"""`Body`, `Leg`, `Hexapod` and the ready mechanisms: what they accept, refuse, fill in, and that copies are equal."""

import copy
import json
import math
import pickle
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import zveno as zv
from helpers import assert_model_or_error, environment, json_values
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

KINDS = ("UPS", "SPU", "UCU", "RUS", "RSU")
HUNT = ("RUS", "RSU")
SPINNING = ("SPU", "UCU", "RSU")
MIRROR = np.diag([1.0, 1.0, -1.0])
RING = zv.Body(45.0, (15.5, 8.2, 8.2))
ROD = zv.Body.cylinder(2.0, 0.02, 0.3)
STRUT = {"housing": ROD, "rod": ROD, "housing_length": 0.25}
ARM = {"crank": ROD, "coupler": ROD, "crank_length": 0.26, "coupler_length": 0.42}
MAKE = {kind: getattr(zv.Leg, kind.lower()) for kind in KINDS}
NOMINAL = np.array([0.4, 0.0, 0.0])


def fields(kind):
    return ARM | {"elbow": -1} if kind in HUNT else STRUT


def leg(kind, base=(0, 0.63, 0.1), ring=(0, 0.4, 0.45), **changes):
    return MAKE[kind](base, ring, **fields(kind) | changes)


def hinges():
    """Three pairs of base and ring hinges about x, close to the shape of a docking ring."""
    pairs = []
    for i in range(3):
        for sign in (1, -1):
            a, b = (math.radians(120 * i + sign * x) for x in (12, 48))
            pairs.append(((0, 0.64 * math.cos(a), 0.64 * math.sin(a)), (0, 0.6 * math.cos(b), 0.6 * math.sin(b))))
    return pairs


def hexapod(kinds="UPS", changes=None, **keywords):
    """Six legs of one kind or of six; `changes` for all of them."""
    kinds = [kinds] * 6 if isinstance(kinds, str) else kinds
    legs = [leg(kind, *pair, **changes or {}) for kind, pair in zip(kinds, hinges(), strict=True)]
    return zv.Hexapod(RING, legs, **{"nominal": NOMINAL} | keywords)


def strut_chain(base, frame, **changes):
    """A UPS leg as a chain."""
    links = [
        zv.Link("cross", axis=(0, 1, 0), position=base, rotation=frame, mass=0.1, inertia=(1e-4, 1e-4, 1e-4)),
        zv.Link("housing", axis=(0, 0, 1), mass=2.0, com=(0.15, 0, 0), inertia=(1e-3, 0.02, 0.02)),
        zv.Link(
            "rod", joint="prismatic", axis=(1, 0, 0), position=(0.25, 0, 0), mass=2.0, inertia=(1e-3, 0.02, 0.02),
            lower=-0.1, upper=0.2, rotor_inertia=9.0,
        ),
    ]  # fmt: skip
    return zv.Chain(links, **changes)


def custom_leg(base=(0, 0.63, 0.1), ring=(0, 0.4, 0.45), frame=None, length=0.2, **changes):
    chain = strut_chain(base, np.eye(3) if frame is None else frame)
    keywords = {"ring": ring, "point": (length, 0, 0), "start": (0, 0, 0), "actuated": "rod_joint"}
    return zv.Leg.custom(**{"chain": chain, "link": "rod", **keywords, **changes})


def rotation(v):
    """Rotation by the vector v."""
    angle = np.linalg.norm(v)
    if angle < 1e-9:
        return np.eye(3)
    x, y, z = np.asarray(v) / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * K @ K


def assert_rotation(R):
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) > 0


vectors = hnp.arrays(float, 3, elements=st.floats(-1, 1))
turns = vectors.map(rotation)


# ---- Body ----------------------------------------------------------------------------------------------------------


def test_a_body_keeps_its_data_and_fills_the_defaults():
    body = zv.Body(2, [1, 2, 2.5])
    assert body.mass == 2.0 and isinstance(body.mass, float)
    np.testing.assert_array_equal(body.inertia, np.diag([1.0, 2, 2.5]))
    np.testing.assert_array_equal(body.com, np.zeros(3))
    np.testing.assert_array_equal(zv.Body(1, 0.5).inertia, 0.5 * np.eye(3))
    assert repr(body) == "Body(2 kg)"


def test_a_body_is_immutable_and_does_not_share_memory():
    com, inertia = np.zeros(3), np.eye(3)
    body = zv.Body(1.0, inertia, com)
    com[:], inertia[:] = 1, 5
    assert not body.com.any()
    np.testing.assert_array_equal(body.inertia, np.eye(3))
    with pytest.raises(AttributeError, match="immutable"):
        body.mass = 3.0
    with pytest.raises(AttributeError, match="immutable"):
        del body.com
    assert not body.com.flags.writeable and not body.inertia.flags.writeable


def test_a_cylinder_is_two_shorter_ones_glued_together():
    whole = zv.Body.cylinder(3.0, 0.05, 0.6, start=-0.1)
    parts = [zv.Body.cylinder(1.0, 0.05, 0.2, start=-0.1), zv.Body.cylinder(2.0, 0.05, 0.4, start=0.1)]
    np.testing.assert_allclose(sum(p.mass * p.com for p in parts) / 3.0, whole.com, atol=1e-15)
    total = np.zeros((3, 3))
    for part in parts:
        d = part.com - whole.com
        total += part.inertia + part.mass * (d @ d * np.eye(3) - np.outer(d, d))
    np.testing.assert_allclose(whole.inertia, total, rtol=1e-14)


def test_a_cylinder_spins_with_half_and_a_thin_rod_swings_with_a_twelfth():
    np.testing.assert_allclose(zv.Body.cylinder(2.0, 0.1, 0.0).inertia, np.diag([0.01, 0.005, 0.005]), rtol=1e-15)
    np.testing.assert_allclose(zv.Body.cylinder(12.0, 0.0, 2.0).inertia, np.diag([0.0, 4.0, 4.0]), rtol=1e-15)
    np.testing.assert_array_equal(zv.Body.cylinder(12.0, 0.0, 2.0, start=0.5).com, [1.5, 0, 0])


BAD_BODIES = [
    ((-1.0, 1.0), "mass is -1, expected a number >= 0"),
    (("2 kg", 1.0), "mass is '2 kg', expected a number"),
    ((math.nan, 1.0), "mass is nan"),
    ((1e200, 1.0), "mass is 1e+200, too large"),
    ((1.0, np.eye(2)), "inertia has shape (2, 2), expected (3, 3) or (3,)"),
    ((1.0, [[1, 1, 0], [0, 1, 0], [0, 0, 1]]), "inertia is not symmetric"),
    ((1.0, (1, 1, -0.5)), "inertia eigenvalue -0.5 kg m^2 is negative"),
    ((1.0, None), "inertia is None"),
    ((1.0, 1e150), "too large"),
    ((1.0, 1.0, (0, 0)), "com has shape (2,), expected (3,)"),
    ((1.0, 1.0, (0, math.inf, 0)), "com is [0.0, inf, 0.0], expected finite numbers"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_BODIES, ids=lambda x: x[:40] if isinstance(x, str) else "")
def test_a_bad_body_is_a_model_error(arguments, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)) as caught:
        zv.Body(*arguments)
    assert str(caught.value).startswith("Body: ") and caught.value.link is None


@pytest.mark.parametrize("arguments", [(1, -0.1, 1), (1, 0.1, -1), (-1, 0.1, 1), (1, 0.1, 1, "x"), (1, None, 1)])
def test_a_bad_cylinder_is_a_model_error(arguments):
    with pytest.raises(zv.ModelError, match=r"Body.cylinder: \w+ is "):
        zv.Body.cylinder(*arguments)


def test_a_body_that_cannot_exist_is_a_warning_once():
    with pytest.warns(zv.ModelWarning, match="triangle inequality") as caught:
        body = zv.Body(1.0, (0.1, 0.2, 1.0))
    assert caught[0].filename == __file__
    with pytest.warns(zv.ModelWarning, match="mass is zero but the inertia is not"):
        zv.Body(0.0, 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pickle.loads(pickle.dumps(body)) == copy.deepcopy(body) == body
        zv.Body(0.0, 0.0)


@given(st.floats(0, 1e6), turns, hnp.arrays(float, 3, elements=st.floats(1.0, 1.9)), vectors)
def test_a_body_survives_json_and_pickle(mass, R, principal, com):
    body = zv.Body(mass + 1, R @ np.diag(principal) @ R.T, com)
    np.testing.assert_array_equal(body.inertia, body.inertia.T)
    text = json.dumps(body.to_dict(), allow_nan=False)
    for twin in (zv.Body.from_dict(json.loads(text)), pickle.loads(pickle.dumps(body)), copy.copy(body)):
        assert twin == body and hash(twin) == hash(body)
        assert not twin.com.flags.writeable and not twin.inertia.flags.writeable


def test_bodies_differ_when_anything_differs():
    body = zv.Body(1.0, 1.0)
    for other in (zv.Body(2.0, 1.0), zv.Body(1.0, 2.0), zv.Body(1.0, 1.0, (1, 0, 0)), "body"):
        assert body != other
    assert body == zv.Body(1.0, 1.0, (-0.0, 0, 0)) and hash(body) == hash(zv.Body(1.0, 1.0, (-0.0, 0, 0)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "got 3, expected a dictionary"),
        ({"mass": 1}, "'inertia' is missing"),
        ({"mass": 1, "inertia": 1, "colour": "red"}, "unknown key 'colour'"),
        ({"mass": None, "inertia": 1}, "mass is None"),
    ],
)
def test_a_dictionary_that_is_no_body_is_a_model_error(data, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)):
        zv.Body.from_dict(data)


# ---- Leg -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "names", "index", "unit"),
    [
        ("UPS", ("u1", "u2", "stroke"), 2, "m"),
        ("SPU", ("u1", "u2", "spin", "stroke"), 3, "m"),
        ("UCU", ("u1", "u2", "spin", "stroke"), 3, "m"),
        ("RUS", ("crank", "u1", "u2"), 0, "rad"),
        ("RSU", ("crank", "u1", "u2", "spin"), 0, "rad"),
    ],
)
def test_a_leg_tells_what_it_is_made_of(kind, names, index, unit):
    made = leg(kind, name="fore", lower=-1, upper=2)
    assert (made.type, made.name, made.joint_names, made.joint_count) == (kind, "fore", names, len(names))
    assert (made.actuated_index, made.unit, made.mass) == (index, unit, 4.0)
    assert (made.lower, made.upper, made.spin_branch) == (-1.0, 2.0, 1)
    assert made.inner == ROD and made.outer == ROD
    assert made.inner_length == (0.26 if kind in HUNT else 0.25)
    assert made.outer_length == (0.42 if kind in HUNT else None)
    assert made.elbow == (-1 if kind in HUNT else 1)
    for key in ("base_frame", "ring_frame", "crank_frame", "tip_frame", "chain", "point", "start"):
        assert getattr(made, key) is None
    way = f"{names[index]} -1 to 2 {unit}"
    assert repr(made) == f"Leg('fore', {kind}, 4 kg, base (0, 0.63, 0.1) to ring (0, 0.4, 0.45) m, {way})"
    assert repr(leg(kind)).endswith("to ring (0, 0.4, 0.45) m)")
    assert (leg(kind).lower, leg(kind).upper, leg(kind).name) == (-math.inf, math.inf, None)


def test_a_leg_is_immutable_and_does_not_share_memory():
    base = np.array([0.0, 0.6, 0.1])
    made = leg("UPS", base)
    base[:] = 1
    np.testing.assert_array_equal(made.base, [0, 0.6, 0.1])
    with pytest.raises(AttributeError, match="immutable"):
        made.base = base
    with pytest.raises(AttributeError, match="immutable"):
        del made.base
    assert not made.base.flags.writeable and not made.ring.flags.writeable


@pytest.mark.parametrize("kind", ["UPS", "SPU", "UCU"])
def test_a_screw_turns_rotor_inertia_into_mass(kind):
    # kinetic energy: the rotor turns by 2 pi per lead
    made = leg(kind, rotor_inertia=1e-4, lead=0.02)
    speed = 0.3
    assert made.reflected * speed**2 == pytest.approx(1e-4 * (2 * math.pi * speed / 0.02) ** 2, rel=1e-14)
    assert leg(kind, reflected_mass=9.5).reflected == 9.5
    assert leg(kind).reflected == leg(kind, lead=0.02).reflected == 0.0


@pytest.mark.parametrize("kind", HUNT)
def test_a_gear_turns_rotor_inertia_into_inertia(kind):
    assert leg(kind, rotor_inertia=2.0).reflected == 2.0
    assert leg(kind, rotor_inertia=2.0, gear=3).reflected == 18.0


def test_a_frame_may_be_any_object_with_as_matrix():
    class Rotation:
        def as_matrix(self):
            return [[0, -1, 0], [1, 0, 0], [0, 0, 1]]

    np.testing.assert_array_equal(leg("UPS", base_frame=Rotation()).base_frame, Rotation().as_matrix())


@given(turns, hnp.arrays(float, (3, 3), elements=st.floats(-1e-10, 1e-10)))
def test_rounding_errors_of_a_frame_are_removed_once(R, error):
    made = leg("SPU", base_frame=R + error, ring_frame=R, tip_frame=R.T)
    assert_rotation(made.base_frame)
    np.testing.assert_allclose(made.base_frame, R + error, atol=1e-9)
    assert leg("SPU", base_frame=made.base_frame, ring_frame=R, tip_frame=R.T) == made


BAD_LEGS = [
    ("UPS", {"base": (0, 0)}, "base has shape (2,), expected (3,)"),
    ("UPS", {"base": None}, "base is None"),
    ("UPS", {"ring": "edge"}, "ring is 'edge', expected numbers of shape (3,)"),
    ("UPS", {"ring": (0, math.nan, 0)}, "ring is [0.0, nan, 0.0], expected finite numbers"),
    ("UPS", {"ring": (0, 1e200, 0)}, "ring is [0.0, 1e+200, 0.0], too large"),
    ("UPS", {"housing": 3.0}, "housing is 3.0, expected a Body"),
    ("UPS", {"rod": None}, "rod is None, expected a Body"),
    ("RUS", {"crank": {}}, "crank is {}, expected a Body"),
    ("RSU", {"coupler": "bar"}, "coupler is 'bar', expected a Body"),
    ("UPS", {"housing_length": 0}, "housing_length is 0, expected a number > 0"),
    ("UPS", {"rod_length": -0.1}, "rod_length is -0.1, expected a number > 0"),
    ("RUS", {"crank_length": None}, "crank_length is None, expected a number"),
    ("RSU", {"coupler_length": math.inf}, "coupler_length is inf"),
    ("UPS", {"base_frame": np.eye(5)}, "base_frame has shape (5, 5), expected (3, 3)"),
    ("UPS", {"base_frame": 2 * np.eye(3)}, "base_frame is not orthonormal"),
    ("UPS", {"base_frame": np.eye(3) + 1e-8}, "base_frame is not orthonormal"),
    ("UPS", {"base_frame": MIRROR}, "base_frame is left-handed: determinant -1"),
    ("SPU", {"ring_frame": MIRROR}, "ring_frame is left-handed"),
    ("UCU", {"tip_frame": MIRROR}, "tip_frame is left-handed"),
    ("RUS", {"crank_frame": MIRROR}, "crank_frame is left-handed"),
    ("RUS", {"axis": (0, 0, 0)}, "axis is [0.0, 0.0, 0.0], expected a direction"),
    ("RUS", {"axis": (0, 1, 0), "base_frame": np.eye(3)}, "base_frame and axis are both given"),
    ("RUS", {"elbow": 0}, "elbow is 0, expected 1 or -1"),
    ("RSU", {"elbow": "up"}, "elbow is 'up', expected 1 or -1"),
    ("RSU", {"spin_branch": True}, "spin_branch is True, expected 1 or -1"),
    ("SPU", {"spin_branch": 1.0}, "spin_branch is 1.0, expected 1 or -1"),
    ("UPS", {"lower": 1, "upper": -1}, "lower = 1 and upper = -1 leave no room"),
    ("RUS", {"lower": math.nan}, "lower is nan"),
    ("UPS", {"rotor_inertia": -1}, "rotor_inertia is -1, expected a number >= 0"),
    ("UPS", {"rotor_inertia": 1e-4}, "rotor_inertia is 0.0001 but lead is None"),
    ("UPS", {"rotor_inertia": 1e-4, "lead": 0}, "lead is 0, expected a number > 0"),
    ("UPS", {"rotor_inertia": 1e-4, "reflected_mass": 1}, "reflected_mass is given and so is rotor_inertia or lead"),
    ("UPS", {"lead": 0.02, "reflected_mass": 1}, "reflected_mass is given and so is rotor_inertia or lead"),
    ("UPS", {"reflected_mass": -1}, "reflected_mass is -1, expected a number >= 0"),
    ("RUS", {"gear": 0}, "gear is 0, expected a number > 0"),
]


@pytest.mark.parametrize(
    ("kind", "changes", "message"), BAD_LEGS, ids=lambda x: x[:40] if isinstance(x, str) and x not in KINDS else ""
)
def test_a_bad_argument_is_a_model_error_that_names_leg_argument_and_value(kind, changes, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)) as caught:
        leg(kind, name="aft", **changes)
    assert str(caught.value).startswith("leg 'aft': ") and caught.value.link == "aft"
    with pytest.raises(zv.ModelError) as caught:
        leg(kind, **changes)
    assert str(caught.value).startswith(f"{kind} leg: ") and caught.value.link is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["", 3, b"a", "\ud800"])
def test_a_leg_has_a_name_or_none(kind, name):
    with pytest.raises(zv.ModelError, match=rf"{kind} leg: name is .*, expected a non-empty string or None"):
        leg(kind, name=name)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"type": "PSS"}, "type is 'PSS', expected 'UPS', 'SPU', 'UCU', 'RUS', 'RSU' or 'custom'"),
        ({"type": ["UPS"]}, "type is ['UPS']"),
        ({"tip_frame": rotation((1, 0, 0))}, "but a UPS leg has no such frame"),
        ({"elbow": -1}, "elbow is -1, but a UPS leg has no such branch"),
        ({"spin_branch": -1}, "spin_branch is -1, but a UPS leg has no such branch"),
        ({"axis": (0, 1, 0)}, "axis is (0, 1, 0), but a UPS leg has no R joint"),
        ({"point": (0, 0, 0)}, "point is (0, 0, 0), but only a custom leg has one"),
        ({"actuated": "j"}, "actuated is 'j', but only a custom leg has one"),
    ],
)
def test_a_leg_has_only_what_its_type_has(changes, message):
    keywords = {"type": "UPS", "base": (0, 0, 0), "ring": (1, 0, 0), "inner": ROD, "outer": ROD, "inner_length": 0.2}
    assert zv.Leg(**keywords) == zv.Leg.ups((0, 0, 0), (1, 0, 0), housing=ROD, rod=ROD, housing_length=0.2)
    with pytest.raises(zv.ModelError, match=re.escape(message)):
        zv.Leg(**keywords | changes)


def test_a_custom_leg_is_described_by_its_chain():
    made = custom_leg(name="odd")
    assert (made.type, made.name, made.joint_count) == ("custom", "odd", 3)
    assert made.joint_names == ("cross_joint", "housing_joint", "rod_joint")
    assert (made.actuated_index, made.unit, made.mass) == (2, "m", 4.1)
    assert (made.lower, made.upper) == (-0.1, 0.2)
    assert (made.base, made.inner, made.outer) == (None, None, None)
    assert custom_leg(actuated="cross_joint").unit == "rad"
    assert custom_leg(actuated="cross_joint").upper == math.inf


def four_joints(**changes):
    links = strut_chain((0, 0, 0), np.eye(3)).links
    chain = zv.Chain([*links, zv.Link("tip", axis=(1, 0, 0), mass=0.1, inertia=1e-4)])
    return custom_leg(**{"chain": chain, "link": "tip", "start": (0, 0, 0, 0)} | changes)


def test_a_custom_leg_with_a_universal_joint_has_two_axes():
    made = four_joints(axis=(0, 3, 0), ring_axis=(0, 0, 2))
    assert made.joint_count == 4
    np.testing.assert_array_equal(made.axis, [0, 1, 0])
    np.testing.assert_array_equal(made.ring_axis, [0, 0, 1])


BRANCHED = zv.Chain(
    [zv.Link(name, parent=parent, mass=1, inertia=1) for name, parent in [("a", None), ("b", None), ("c", "a")]]
)
BAD_CUSTOM = [
    ({"chain": "chain"}, "chain is 'chain', expected a Chain"),
    ({"link": "hand"}, "link is 'hand', expected a link of chain 'chain': ('cross', 'housing', 'rod')"),
    ({"link": "base"}, "link is 'base'"),
    ({"link": 3}, "link is 3"),
    ({"link": "housing"}, "joint 'rod_joint' of chain 'chain' is not between the base and link 'housing'"),
    ({"chain": BRANCHED, "link": "c"}, "joint 'b_joint' of chain 'chain' is not between"),
    ({"actuated": "motor"}, "actuated is 'motor', expected a joint of chain 'chain': ('cross_joint'"),
    ({"actuated": None}, "actuated is None"),
    ({"start": (0, 0)}, "start has shape (2,), expected (3,)"),
    ({"start": None}, "start is None"),
    ({"point": (0, 0)}, "point has shape (2,), expected (3,)"),
    ({"axis": (0, 1, 0)}, "axis and ring_axis go together"),
    ({"ring_axis": (0, 1, 0)}, "axis and ring_axis go together"),
    ({"axis": (0, 1, 0), "ring_axis": (0, 0, 1)}, "has 3 moving joints, expected 4 for a universal joint"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_CUSTOM, ids=lambda x: x[:40] if isinstance(x, str) else "")
def test_a_bad_custom_leg_is_a_model_error(changes, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)) as caught:
        custom_leg(name="odd", **changes)
    assert caught.value.link == "odd"


def test_a_custom_leg_with_a_spherical_joint_has_three_joints():
    with pytest.raises(zv.ModelError, match="has 4 moving joints, expected 3 for a spherical joint"):
        four_joints()


@st.composite
def legs(draw):
    kind = draw(st.sampled_from(KINDS))
    keywords = {"name": draw(st.sampled_from([None, "a", "нога"]))}
    keys = ["base_frame", *(["crank_frame"] if kind in HUNT else [])]
    keys += ["ring_frame", "tip_frame"] if kind in SPINNING else []
    keywords |= {key: draw(st.none() | turns) for key in keys}
    if kind in HUNT:
        keywords |= {"elbow": draw(st.sampled_from([1, -1])), "gear": draw(st.floats(0.1, 10))}
        if keywords["base_frame"] is None:
            keywords["axis"] = draw(st.none() | vectors.filter(lambda v: np.linalg.norm(v) > 0.1))
    else:
        keywords |= {"rod_length": draw(st.none() | st.floats(0.1, 1)), "lead": draw(st.floats(0.01, 0.1))}
    if kind in SPINNING:
        keywords["spin_branch"] = draw(st.sampled_from([1, -1]))
    keywords["rotor_inertia"] = draw(st.floats(0, 1))
    keywords |= {"lower": draw(st.floats(-1, 0) | st.just(-math.inf)), "upper": draw(st.floats(0, 1))}
    return leg(kind, draw(vectors), draw(vectors), **keywords)


@given(legs() | st.sampled_from([custom_leg(), four_joints(axis=(1, 3, 0), ring_axis=(0, 1, 2))]))
def test_a_leg_survives_json_and_pickle(made):
    text = json.dumps(made.to_dict(), allow_nan=False)
    for twin in (zv.Leg.from_dict(json.loads(text)), pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert twin == made and hash(twin) == hash(made)
        assert not twin.ring.flags.writeable


@pytest.mark.parametrize("kind", KINDS)
def test_legs_differ_when_anything_differs(kind):
    changes = {"name": "b", "base": (0, 1, 0), "ring": (0, 1, 0), "lower": -5, "base_frame": np.eye(3)}
    changes |= {"elbow": 1, "crank_length": 0.3} if kind in HUNT else {"reflected_mass": 3, "rod_length": 0.2}
    for key, value in changes.items():
        assert leg(kind, **{key: value}) != leg(kind)
    assert leg(kind) != kind
    assert len({leg(other) for other in KINDS}) == 5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "got [], expected a dictionary"),
        ({}, "'type' is missing"),
        ({"type": "UPS", "size": 1}, "unknown key 'size'"),
        (leg("UPS").to_dict() | {"inner": 3}, "got 3, expected a dictionary"),
        (leg("UPS").to_dict() | {"chain": {}}, "format is None, expected 'zveno.chain'"),
        (leg("UPS").to_dict() | {"ring": None}, "ring is None"),
    ],
)
def test_a_dictionary_that_is_no_leg_is_a_model_error(data, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)):
        zv.Leg.from_dict(data)


# ---- Hexapod -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_hexapod_tells_what_it_is_made_of(kind):
    made = hexapod(kind, {"lower": -1.5, "upper": 2.5}, gravity=(0, 0, -9.81), name="ring")
    assert (made.name, made.platform) == ("ring", RING)
    assert made.leg_names == ("leg1", "leg2", "leg3", "leg4", "leg5", "leg6")
    assert [x.name for x in made.legs] == list(made.leg_names)
    assert made.nj == made.legs[0].joint_count
    np.testing.assert_array_equal(made.actuated, [made.legs[0].actuated_index] * 6)
    np.testing.assert_array_equal(made.lower, [-1.5] * 6)
    np.testing.assert_array_equal(made.upper, [2.5] * 6)
    np.testing.assert_array_equal(made.gravity, [0, 0, -9.81])
    np.testing.assert_array_equal(made.nominal[0], NOMINAL)
    np.testing.assert_array_equal(made.nominal[1], np.eye(3))
    assert made.radius == pytest.approx(0.6, rel=1e-14)
    assert repr(made) == f"Hexapod 'ring': 6 {kind} legs, 45.0 kg ring, 24.0 kg legs"
    assert np.issubdtype(made.actuated.dtype, np.integer)
    for array in (made.actuated, made.lower, made.upper, made.gravity, *made.nominal):
        assert not array.flags.writeable
    for resolved in made.legs:
        for key in ("base_frame", "ring_frame", "crank_frame", "tip_frame"):
            assert_rotation(getattr(resolved, key))


def test_legs_of_several_types_fill_what_they_need():
    made = hexapod(["UPS", "SPU", "UCU", "RUS", "RSU", "UPS"])
    assert made.nj == 4
    assert made.actuated.tolist() == [2, 3, 3, 0, 0, 2]
    assert (
        repr(made)
        == "Hexapod 'hexapod': 2 UPS and 1 SPU and 1 UCU and 1 RUS and 1 RSU legs, 45.0 kg ring, 24.0 kg legs"
    )
    p = made.closure(*made.nominal)
    assert p.shape == (6, 4)
    assert not p[[0, 3, 5], 3].any()


def test_the_default_gravity_is_zero():
    assert not hexapod().gravity.any()


def test_legs_keep_their_names_and_the_others_are_numbered():
    pairs = hinges()
    made = zv.Hexapod(
        RING, [leg("UPS", *p, name="top" if i == 2 else None) for i, p in enumerate(pairs)], nominal=NOMINAL
    )
    assert made.leg_names == ("leg1", "leg2", "top", "leg4", "leg5", "leg6")


@pytest.mark.parametrize("kind", ["UPS", "SPU", "UCU"])
@given(vectors)
def test_default_frames_of_struts_make_the_nominal_coordinates_zero(kind, shift):
    nominal = NOMINAL + 0.1 * shift, rotation(0.2 * shift[::-1])
    made = hexapod(kind, {"tip_frame": rotation(0.3 * shift)} if kind != "UPS" else {}, nominal=nominal)
    np.testing.assert_allclose(made.closure(*made.nominal), 0, atol=1e-12)
    for resolved in made.legs:
        x = resolved.base_frame[:, 0]
        chord = nominal[0] + nominal[1] @ resolved.ring - resolved.base
        np.testing.assert_allclose(np.cross(x, chord), 0, atol=1e-15)
        assert x @ chord > 0
        assert resolved.inner_length + resolved.outer_length == pytest.approx(np.linalg.norm(chord), rel=1e-15)


@pytest.mark.parametrize("kind", ["UPS", "SPU", "UCU"])
def test_the_first_axis_of_a_strut_leans_outwards(kind):
    # z is at right angles to the leg and to the radius, y = z cross x has a part along the radius
    for resolved in hexapod(kind).legs:
        _, y, z = resolved.base_frame.T
        radius = resolved.base / np.linalg.norm(resolved.base)
        assert abs(z @ radius) < 1e-14 and y @ radius > 0


@pytest.mark.parametrize("kind", KINDS)
@given(vectors, turns)
def test_default_frames_do_not_depend_on_the_axes_of_base_and_ring(kind, shift, turn):
    """The same mechanism in other base axes and other ring axes."""
    tilt = rotation((0.3, -0.2, 0.4))
    plain = hexapod(kind)
    six = [leg(kind, shift + turn @ base, tilt.T @ ring) for base, ring in hinges()]
    moved = zv.Hexapod(RING, six, nominal=(shift + turn @ NOMINAL, turn @ tilt))
    for one, other in zip(plain.legs, moved.legs, strict=True):
        np.testing.assert_allclose(other.base_frame, turn @ one.base_frame, atol=1e-12)
        assert other.outer_length == pytest.approx(one.outer_length, rel=1e-12)
        if kind in SPINNING:
            np.testing.assert_allclose(other.ring_frame, tilt.T @ one.ring_frame, atol=1e-12)
    np.testing.assert_allclose(moved.closure(*moved.nominal), plain.closure(*plain.nominal), atol=1e-12)


@pytest.mark.parametrize("kind", HUNT)
def test_default_cranks_turn_at_right_angles_to_the_axis_of_the_mechanism(kind):
    for resolved in hexapod(kind).legs:
        x, y, z = resolved.base_frame.T
        chord = resolved.ring - resolved.base
        np.testing.assert_allclose(z, [-1, 0, 0], atol=1e-15)
        np.testing.assert_allclose(x, chord / np.linalg.norm(chord), atol=1e-15)
        np.testing.assert_allclose(y, np.cross(z, x), atol=1e-15)


@pytest.mark.parametrize("kind", HUNT)
def test_an_axis_is_the_y_axis_of_the_crank(kind):
    made = zv.Hexapod(
        RING, [leg(kind, *p, axis=(0.0, 2 * p[0][1], 2 * p[0][2])) for p in hinges()], nominal=(0.3, 0, 0)
    )
    for resolved in made.legs:
        x, y, z = resolved.base_frame.T
        np.testing.assert_allclose(y, resolved.base / np.linalg.norm(resolved.base), atol=1e-15)
        chord = resolved.ring - resolved.base + np.array([0.3, 0, 0])
        assert x @ chord > 0
        assert z @ chord == pytest.approx(0, abs=1e-15)
        assert resolved.axis is None
        assert_rotation(resolved.base_frame)


@pytest.mark.parametrize("kind", SPINNING)
@given(vectors)
def test_the_default_ring_frame_makes_the_nominal_spin_zero(kind, shift):
    """Whatever the other frames are."""
    spin = hexapod(kind).legs[0].joint_names.index("spin")
    changes = {"tip_frame": rotation(0.5 * shift)} | ({"crank_frame": rotation(0.3 * shift)} if kind in HUNT else {})
    made = hexapod(kind, changes, nominal=(NOMINAL + 0.03 * shift, rotation(0.1 * shift)))
    frames = [resolved.base_frame @ rotation(0.2 * shift) for resolved in made.legs]
    given_frames = [leg(kind, *p, base_frame=f, **changes) for p, f in zip(hinges(), frames, strict=True)]
    for twin in (made, zv.Hexapod(RING, given_frames, nominal=made.nominal)):
        np.testing.assert_allclose(twin.closure(*twin.nominal)[:, spin], 0, atol=1e-12)


def test_a_leg_on_the_axis_still_has_a_base_frame():
    pairs = np.array(hinges())
    pairs[0] = 0
    pairs[1:] -= pairs[1:].mean(axis=0)  # the leg is where the centres of both circles are
    made = zv.Hexapod(RING, [leg("UPS", *pair) for pair in pairs], nominal=NOMINAL)
    np.testing.assert_allclose(made.legs[0].base_frame[:, 0], [1, 0, 0], atol=1e-15)
    assert_rotation(made.legs[0].base_frame)


def test_without_a_nominal_pose_everything_is_given():
    frame = rotation((0.1, 0.2, 0.3))
    changes = {"base_frame": frame}
    for kind in ("UPS", "SPU", "UCU"):
        extra = {} if kind == "UPS" else {"ring_frame": frame}
        made = hexapod(kind, changes | extra | {"rod_length": 0.3}, nominal=None)
        assert made.nominal is None
        np.testing.assert_array_equal(made.legs[0].base_frame, frame)
    for kind in HUNT:
        hexapod(kind, changes | ({"ring_frame": frame} if kind == "RSU" else {}), nominal=None)


@pytest.mark.parametrize(
    ("kind", "changes", "missing"),
    [
        ("UPS", {"rod_length": 0.3}, "base_frame"),
        ("UPS", {"base_frame": np.eye(3)}, "rod_length"),
        ("SPU", {"base_frame": np.eye(3), "rod_length": 0.3}, "ring_frame"),
        ("RUS", {}, "base_frame"),
        ("RUS", {"axis": (0, 1, 0)}, "base_frame"),
        ("RSU", {"base_frame": np.eye(3)}, "ring_frame"),
    ],
)
def test_a_default_without_a_nominal_pose_is_a_model_error(kind, changes, missing):
    with pytest.raises(zv.ModelError, match=f"leg 'leg1': {missing} is None; give {missing}= of the leg or nominal="):
        hexapod(kind, changes, nominal=None)


SIX = [leg("UPS", *pair) for pair in hinges()]
BAD_HEXAPODS = [
    ({"legs": SIX[:5]}, "legs has 5 entries, expected six Leg"),
    ({"legs": [*SIX, SIX[0]]}, "legs has 7 entries, expected six Leg"),
    ({"legs": []}, "legs has 0 entries"),
    ({"legs": None}, "legs is None, expected six Leg"),
    ({"legs": "UPS"}, "legs is 'UPS', expected six Leg"),
    ({"legs": [*SIX[:5], "leg"]}, "legs[5] is 'leg', expected a Leg"),
    ({"legs": [leg("UPS", name="a")] * 6}, "6 legs have the name 'a'"),
    ({"legs": [leg("UPS", name="leg2"), *SIX[1:]]}, "2 legs have the name 'leg2'"),
    ({"legs": [leg("UPS", p[0], (0, 0, 0)) for p in hinges()]}, "ring of every leg is zero"),
    ({"platform": 45.0}, "platform is 45.0, expected a Body"),
    (
        {"legs": [leg("UPS", p[0], (0.1, 0, 0)) for p in hinges()], "platform": zv.Body(45, 1, (0.1, 0, 0))},
        "ring of every leg is the centre of mass",
    ),
    ({"platform": zv.Body(0, 0)}, "mass of the platform is 0, expected a number > 0"),
    ({"platform": zv.Body(45, 0)}, "inertia of the platform has the eigenvalue 0 kg m^2, expected all > 0"),
    ({"platform": zv.Body(45, (0, 1, 1))}, "inertia of the platform has the eigenvalue 0"),
    ({"nominal": (0, 0)}, "r of nominal has shape (), expected (3,)"),
    ({"nominal": "home"}, "nominal is 'home'"),
    ({"nominal": ((0, 0, 0), MIRROR)}, "R of nominal is left-handed"),
    ({"nominal": ((0, 0, math.nan), np.eye(3))}, "r of nominal is [0.0, 0.0, nan]"),
    ({"gravity": (0, 0)}, "gravity has shape (2,), expected (3,)"),
    ({"gravity": "down"}, "gravity is 'down'"),
    ({"name": ""}, "name is '', expected a non-empty string"),
    ({"name": None}, "name is None"),
]


@pytest.mark.parametrize(("changes", "message"), BAD_HEXAPODS, ids=lambda x: x[:40] if isinstance(x, str) else "")
def test_what_makes_no_hexapod_is_a_model_error(changes, message):
    keywords = {"platform": RING, "legs": SIX, "nominal": NOMINAL} | changes
    with pytest.raises(zv.ModelError, match=re.escape(message)) as caught:
        zv.Hexapod(**keywords)
    assert str(caught.value).startswith("Hexapod")


def with_leg(index, new, **keywords):
    kind = new.type
    six = [leg(kind, *pair) for pair in hinges()]
    six[index] = new
    return zv.Hexapod(RING, six, **{"nominal": NOMINAL} | keywords)


def test_a_leg_out_of_reach_in_the_nominal_pose_is_named():
    base, ring = hinges()[3]
    short = leg("RUS", base, ring, coupler_length=0.1, name="short")
    with pytest.raises(zv.ModelError, match="leg 'short' does not close in the nominal pose") as caught:
        with_leg(3, short)
    assert caught.value.link == "short"
    assert isinstance(caught.value.__cause__, zv.UnreachableError)
    assert (caught.value.__cause__.leg, caught.value.__cause__.leg_index) == ("short", 3)


def test_a_coupler_out_of_reach_has_no_default_ring_frame():
    base, ring = hinges()[3]
    with pytest.raises(zv.ModelError, match="leg 'leg4': out of reach in the nominal pose") as caught:
        with_leg(3, leg("RSU", base, ring, coupler_length=0.1))
    assert caught.value.link == "leg4"


def test_a_singular_leg_in_the_nominal_pose_is_named():
    base, ring = (np.array(x) for x in hinges()[1])
    x = NOMINAL + ring - base
    x /= np.linalg.norm(x)
    z = np.cross(x, (1, 0, 0)) / np.linalg.norm(np.cross(x, (1, 0, 0)))
    frame = np.column_stack([np.cross(x, z), x, z])  # the first axis, y, along the leg
    with pytest.raises(zv.ModelError, match="leg 'leg2' does not close in the nominal pose") as caught:
        with_leg(1, leg("UPS", base, ring, base_frame=frame))
    assert caught.value.link == "leg2"
    assert isinstance(caught.value.__cause__, zv.SingularityError)


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        ("UPS", {"housing_length": 0.9}, "leg 'leg1': housing_length is 0.9, expected less than the nominal distance"),
        ("UPS", {"base": (0.4, 0.6, 0), "ring": (0, 0.6, 0), "rod_length": 0.3}, "leg 'leg1': the base hinge and the"),
        ("RUS", {"base": (0, 0.6, 0), "ring": (0, 0.6, 0), "axis": (1, 0, 0)}, "leg 'leg1': the ring hinge is on the"),
    ],
)
def test_hinges_that_leave_no_default_are_a_model_error(kind, changes, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)) as caught:
        with_leg(0, leg(kind, **changes))
    assert caught.value.link == "leg1"


def test_a_mechanism_without_an_axis_has_no_default_crank():
    with pytest.raises(zv.ModelError, match="leg 'leg1': the mechanism has no axis"):
        hexapod("RUS", nominal=(0, 0, 0))


def test_custom_legs_close_from_their_start():
    standard = hexapod("UPS")
    six = []
    for resolved in standard.legs:
        keywords = {"frame": resolved.base_frame, "length": resolved.outer_length, "start": (0.02, -0.03, 0.01)}
        six.append(custom_leg(resolved.base, resolved.ring, **keywords))
    made = zv.Hexapod(RING, six, nominal=NOMINAL)
    assert made.nj == 3 and made.actuated.tolist() == [2] * 6
    np.testing.assert_array_equal(made.upper, [0.2] * 6)
    assert [x.name for x in made.legs] == [f"leg{i}" for i in range(1, 7)]
    assert pickle.loads(pickle.dumps(made)) == made
    r, R = NOMINAL + np.array([0.02, -0.01, 0.03]), rotation((0.05, -0.02, 0.04))
    np.testing.assert_allclose(made.closure(r, R), standard.closure(r, R), atol=1e-12)


# ---- copies --------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.sampled_from(KINDS), min_size=6, max_size=6), vectors, vectors)
def test_a_hexapod_survives_json_pickle_and_copy_bit_for_bit(kinds, shift, gravity):
    nominal = NOMINAL + 0.03 * shift, rotation(0.1 * shift)
    made = hexapod(kinds, nominal=nominal, gravity=gravity, name="кольцо")
    text = json.dumps(made.to_dict(), allow_nan=False)
    r, R = nominal[0] + [0.01, 0.02, -0.01], nominal[1]
    for twin in (
        zv.Hexapod.from_dict(json.loads(text)),
        pickle.loads(pickle.dumps(made)),
        copy.copy(made),
        copy.deepcopy(made),
        zv.Hexapod(RING, made.legs, nominal=made.nominal, gravity=gravity, name="кольцо"),
    ):
        assert twin == made and hash(twin) == hash(made) and repr(twin) == repr(made)
        assert twin.to_dict() == made.to_dict()
        np.testing.assert_array_equal(twin.closure(r, R), made.closure(r, R))


def test_a_subclass_is_restored_as_what_it_is():
    made = pickle.loads(pickle.dumps(Ring("RSU")))
    assert type(made) is Ring and made == Ring("RSU")
    assert type(copy.deepcopy(made)) is Ring


class Ring(zv.Hexapod):
    def __init__(self, kind):
        super().__init__(RING, [leg(kind, *pair) for pair in hinges()], nominal=NOMINAL)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"gravity": (0, 0, -1)},
        {"nominal": (0.41, 0, 0)},
        {"changes": {"upper": 1.0}},
        {"kinds": "SPU"},
    ],
)
def test_hexapods_differ_when_anything_differs(changes):
    assert hexapod() == hexapod()
    assert hexapod(**changes) != hexapod()
    assert hexapod() != "hexapod"


def test_legs_of_hand_written_json_may_leave_frames_to_the_nominal_pose():
    data = {"format": "zveno.hexapod", "version": 1, "name": "hexapod", "gravity": [0, 0, 0]}
    data |= {"nominal": NOMINAL.tolist(), "platform": {"mass": 45, "inertia": [15.5, 8.2, 8.2]}}
    rod = ROD.to_dict()
    data["legs"] = [
        {"type": "UPS", "base": base, "ring": ring, "inner": rod, "outer": rod, "inner_length": 0.25}
        for base, ring in hinges()
    ]
    assert zv.Hexapod.from_dict(json.loads(json.dumps(data))) == hexapod()


def edited(**changes):
    data = hexapod().to_dict() | changes
    return {key: value for key, value in data.items() if value is not ...}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (None, "expected a dictionary"),
        ({"format": "zveno.chain"}, "format is 'zveno.chain', expected 'zveno.hexapod'"),
        ({"version": 2}, "version is 2, expected 1"),
        ({"version": True}, "version is True"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"legs": ...}, "'legs' is missing"),
        ({"platform": ...}, "'platform' is missing"),
        ({"legs": {}}, "legs is {}, expected a list"),
        ({"legs": [1]}, "got 1, expected a dictionary"),
        ({"platform": 3}, "got 3, expected a dictionary"),
        ({"gravity": None}, "gravity is None"),
        ({"name": 1}, "name is 1"),
    ],
)
def test_a_dictionary_that_is_no_hexapod_is_a_model_error(changes, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)):
        zv.Hexapod.from_dict(None if changes is None else edited(**changes))


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(["UPS", "RSU"]).map(lambda kind: hexapod(kind).to_dict()),
    st.sampled_from(list(hexapod().to_dict())),
    st.sampled_from(zv.Leg.__slots__),
    json_values,
    st.booleans(),
)
def test_any_json_in_any_place_gives_a_hexapod_or_a_model_error(data, key, field, value, inside):
    assert_model_or_error(zv.Hexapod, data, data["legs"][1] if inside else data, field if inside else key, value)


# ---- errors --------------------------------------------------------------------------------------------------------


def test_errors_about_legs_survive_pickle_with_their_data():
    data = {"leg": "leg3", "leg_index": 2, "cause": "straight elbow", "margin": -0.1, "row": 7}
    for kind in (zv.UnreachableError, zv.SingularityError):
        error = pickle.loads(pickle.dumps(kind("text", **data)))
        assert str(error) == "text"
        assert {key: getattr(error, key) for key in data} == data
        bare = kind("text")
        assert (bare.leg, bare.leg_index, bare.cause, bare.row) == (None, None, "", None)
        assert math.isnan(bare.margin)


# ---- mechanisms ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_docking_ring_is_the_described_one(kind):
    ring = zv.mechanisms.docking_ring(kind)
    assert ring.name == f"docking_ring {kind}"  # which becomes titles and C symbols
    for twin in (ring, pickle.loads(pickle.dumps(ring)), zv.Hexapod.from_dict(ring.to_dict())):
        assert twin.note == "made-up data" and repr(twin).endswith("(made-up data)")
    assert [x.type for x in ring.legs] == [kind] * 6
    assert ring.platform == RING and not ring.gravity.any()
    hunt = kind in HUNT
    np.testing.assert_array_equal(ring.nominal[0], [0.40 if hunt else 0.38, 0, 0])
    apart = 10 if hunt else 15
    for k, made in enumerate(ring.legs):
        i, sign = k // 2, 1 - 2 * (k % 2)
        for point, radius, degrees in ((made.base, 0.64, apart), (made.ring, 0.60, 60 - apart)):
            angle = math.radians(120 * i + sign * degrees)
            np.testing.assert_allclose(point, [0, radius * math.cos(angle), radius * math.sin(angle)], atol=1e-15)
    np.testing.assert_array_equal(zv.mechanisms.docking_ring(kind, gravity=(1, 2, 3)).gravity, [1, 2, 3])


@pytest.mark.parametrize("kind", KINDS)
def test_the_drives_of_the_docking_ring_may_be_left_out(kind):
    full, bare = (zv.mechanisms.docking_ring(kind, reflected=x).legs[0] for x in (True, False))
    assert full.reflected == pytest.approx(0.15 if kind in HUNT else 9.87, rel=1e-4)
    assert bare.reflected == 0.0


@pytest.mark.parametrize("kind", ["UPS", "SPU", "UCU"])
def test_struts_of_the_docking_ring(kind):
    for made in zv.mechanisms.docking_ring(kind).legs:
        assert made.inner_length + made.outer_length == pytest.approx(0.49889, abs=5e-6)
        assert (made.inner.mass, made.outer.mass, made.inner_length) == (4.0, 2.5, 0.25)
        np.testing.assert_allclose(made.inner.com, [0.15, 0, 0], atol=1e-15)
        np.testing.assert_allclose(made.outer.com, [made.outer_length - 0.14, 0, 0], atol=1e-15)
        np.testing.assert_allclose(made.ring_frame if kind != "UPS" else made.base_frame, made.base_frame, atol=1e-15)
        assert (made.lower, made.upper) == (-0.13, 0.15)


@pytest.mark.parametrize("kind", HUNT)
def test_cranks_of_the_docking_ring(kind):
    ring = zv.mechanisms.docking_ring(kind)
    p = ring.closure(*ring.nominal)
    np.testing.assert_allclose(p[:, 0] - ring.lower, 0.85, atol=1e-12)
    np.testing.assert_allclose(ring.upper - p[:, 0], 0.45, atol=1e-12)
    if kind == "RSU":
        np.testing.assert_allclose(p[:, 3], 0, atol=1e-12)
    for made in ring.legs:
        assert (made.inner_length, made.outer_length, made.elbow) == (0.26, 0.42, -1)
        assert (made.inner.mass, made.outer.mass) == (2.2, 1.8)
        np.testing.assert_allclose(made.inner.com, [0.13, 0, 0], atol=1e-15)
        np.testing.assert_allclose(made.outer.com, [0.21, 0, 0], atol=1e-15)
        np.testing.assert_allclose(made.base_frame[:, 2], [-1, 0, 0], atol=1e-15)
        chord = (made.ring - made.base) / np.linalg.norm(made.ring - made.base)
        slew = math.radians(4 if made.name in ("leg1", "leg3", "leg5") else -4)
        np.testing.assert_allclose(made.base_frame[:, 0], rotation((slew, 0, 0)) @ chord, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_the_docking_ring_looks_the_same_from_three_sides(kind, rng):
    ring = zv.mechanisms.docking_ring(kind)
    third = rotation((2 * math.pi / 3, 0, 0))
    r, R = ring.nominal[0] + rng.uniform(-0.03, 0.03, 3), rotation(rng.uniform(-0.05, 0.05, 3))
    p, turned = ring.closure(r, R), ring.closure(third @ r, third @ R @ third.T)
    np.testing.assert_allclose(turned, np.roll(p, 2, axis=0), atol=1e-12)


@pytest.mark.parametrize("kind", ["ups", "PSS", None, 6])
def test_there_are_five_docking_rings(kind):
    with pytest.raises(zv.ModelError, match=r"docking_ring: kind is .*, expected 'UPS', 'SPU'"):
        zv.mechanisms.docking_ring(kind)


def test_what_a_hexapod_chooses_has_the_same_bits_on_every_processor():
    """The linear algebra of NumPy has not."""
    rings = f"[zv.mechanisms.docking_ring(kind).to_dict() for kind in {tuple(KINDS)!r}]"
    code, texts = f"import json, zveno as zv; print(json.dumps({rings}))", set()
    for processor in ("Nehalem", "Haswell"):
        env = environment(OPENBLAS_CORETYPE=processor)
        texts.add(subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True).stdout)
    assert len(texts) == 1
