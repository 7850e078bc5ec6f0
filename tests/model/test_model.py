"""`Link` and `Chain`: what they accept, what they refuse, and that a model survives every way of copying it."""

import copy
import json
import math
import pickle
import re
import warnings

import numpy as np
import pytest
import zveno as zv
from helpers import assert_model_or_error, json_values
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

BODY = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}


def arm(**changes):
    drive = {"rotor_inertia": 0.2, "friction": 0.5, "stiffness": 30.0, "rest": -0.1}
    links = [
        zv.Link("upper", axis=(0, 1, 0), position=(0, 0, 0.3), com=(0, 0, 0.2), lower=-1, upper=2, velocity=3, **BODY),
        zv.Link("fore", joint="prismatic", position=(0, 0, 0.4), effort=50, **drive, **BODY),
        zv.Link("tip", joint="fixed", position=(0, 0, 0.1)),
    ]
    return zv.Chain(links, **{"name": "arm", **changes})


# ---- Link ----------------------------------------------------------------------------------------------------------


def test_a_link_keeps_its_data_and_fills_the_defaults():
    link = zv.Link("a", mass=2, com=[1, 2, 3], inertia=(1, 2, 3))
    assert (link.name, link.parent, link.joint, link.joint_name) == ("a", None, "revolute", "a_joint")
    assert link.mass == 2.0 and isinstance(link.mass, float)
    np.testing.assert_array_equal(link.inertia, np.diag([1.0, 2, 3]))
    np.testing.assert_array_equal(link.rotation, np.eye(3))
    assert (link.lower, link.upper, link.velocity, link.effort) == (-math.inf, math.inf, math.inf, math.inf)
    assert repr(link) == "Link('a', revolute about (0, 0, 1) at (0, 0, 0), 2 kg, com (1, 2, 3))"
    slide = zv.Link("b", parent="a", joint="prismatic", axis=(1, 0, 0), position=(0, 0.25, 1 / 3))
    assert repr(slide) == "Link('b', prismatic along (1, 0, 0) at (0, 0.25, 0.3333) of 'a', 0 kg)"
    assert len(repr(zv.Link("x" * 10**6, joint="fixed", parent="y" * 10**6))) < 250


def test_a_link_is_immutable():
    link = zv.Link("a", com=(1, 2, 3))
    with pytest.raises(AttributeError, match="immutable"):
        link.mass = 3.0
    with pytest.raises(AttributeError, match="immutable"):
        del link.mass
    for array in (link.axis, link.position, link.rotation, link.com, link.inertia):
        assert not array.flags.writeable


def test_a_link_does_not_share_memory_with_its_arguments():
    com, inertia = np.zeros(3), np.eye(3)
    link = zv.Link("a", com=com, inertia=inertia)
    com[:] = 1
    inertia[:] = 5
    assert not link.com.any()
    np.testing.assert_array_equal(link.inertia, np.eye(3))


def test_a_continuous_joint_is_a_revolute_one_without_limits():
    assert zv.Link("a", joint="continuous") == zv.Link("a", joint="revolute")


def test_a_rotation_may_be_any_object_with_as_matrix():
    class Rotation:
        def as_matrix(self):
            return [[0, -1, 0], [1, 0, 0], [0, 0, 1]]

    np.testing.assert_array_equal(zv.Link("a", rotation=Rotation()).rotation, Rotation().as_matrix())


def test_one_number_is_the_inertia_of_a_sphere():
    np.testing.assert_array_equal(zv.Link("a", inertia=0.5).inertia, 0.5 * np.eye(3))


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no")


BAD_LINKS = [
    ({"axis": (0, 0)}, "axis has shape (2,), expected (3,)"),
    ({"axis": (0, 0, 0)}, "axis is zero, expected a direction"),
    ({"axis": "z"}, "axis is 'z', expected numbers of shape (3,)"),
    ({"axis": None}, "axis is None"),
    ({"axis": (1j, 0, 0)}, "expected numbers"),
    ({"axis": (True, False, False)}, "expected numbers"),
    ({"position": (0, 0, math.nan)}, "position is [0.0, 0.0, nan], expected finite numbers"),
    ({"position": (0, math.inf, 0)}, "expected finite numbers"),
    ({"position": [[1, 2], [3]]}, "position is [[1, 2], [3]]"),
    ({"position": {"x": 1}}, "expected numbers"),
    ({"position": (0, 0, 10**400)}, "expected numbers"),
    ({"rotation": np.eye(5)}, "rotation has shape (5, 5), expected (3, 3)"),
    ({"rotation": "eye"}, "rotation is 'eye'"),
    ({"mass": "2 kg"}, "mass is '2 kg', expected a number"),
    ({"mass": math.nan}, "mass is nan, expected a finite number"),
    ({"mass": math.inf}, "mass is inf"),
    ({"mass": True}, "mass is True, expected a number"),
    ({"mass": 10**400}, "too large for a float"),
    ({"mass": Unprintable()}, "mass is a Unprintable, expected a number"),
    ({"com": 1.0}, "com has shape (), expected (3,)"),
    ({"inertia": np.ones((2, 2))}, "inertia has shape (2, 2), expected (3, 3) or (3,)"),
    ({"inertia": [1, 2, math.nan]}, "inertia is"),
    ({"joint": "spherical"}, "joint is 'spherical', expected 'revolute'"),
    ({"joint": None}, "joint is None"),
    ({"joint": np.array(["revolute"] * 2)}, "joint is array"),
    ({"lower": 1, "upper": -1}, "lower = 1 and upper = -1 leave no room"),
    ({"lower": math.inf}, "leave no room"),
    ({"upper": -math.inf}, "leave no room"),
    ({"upper": math.nan}, "upper is nan"),
    ({"velocity": -1}, "velocity is -1, expected a number >= 0"),
    ({"effort": -5}, "effort is -5, expected a number >= 0"),
    ({"friction": -0.1}, "friction is -0.1, expected a number >= 0"),
    ({"friction": math.inf}, "friction is inf"),
    ({"stiffness": -2}, "stiffness is -2, expected a number >= 0"),
    ({"stiffness": math.nan}, "stiffness is nan"),
    ({"rest": math.inf}, "rest is inf"),
    ({"rest": "0"}, "rest is '0', expected a number"),
    ({"rotor_inertia": -1e-3}, "rotor_inertia is -0.001, expected a number >= 0"),
    ({"parent": 3}, "parent is 3, expected a non-empty string or None"),
    ({"parent": ""}, "parent is ''"),
    ({"joint_name": b"j"}, "joint_name is b'j'"),
    ({"joint": "continuous", "upper": 1}, "a continuous joint has no lower or upper limit"),
    ({"joint": "fixed", "friction": 1}, "friction is 1, but the joint is fixed"),
    ({"joint": "fixed", "stiffness": 1}, "stiffness is 1, but the joint is fixed"),
    ({"joint": "fixed", "rest": 1}, "rest is 1, but the joint is fixed"),
    ({"joint": "fixed", "lower": 0}, "lower is 0, but the joint is fixed"),
]


@pytest.mark.parametrize(("keywords", "message"), BAD_LINKS, ids=lambda x: x[:40] if isinstance(x, str) else "")
def test_a_bad_argument_is_a_model_error_that_names_link_argument_and_value(keywords, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)) as caught:
        zv.Link("elbow", **keywords)
    assert str(caught.value).startswith("link 'elbow': ")
    assert caught.value.link == "elbow"
    assert isinstance(caught.value, zv.Error) and isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", ["", None, 3, b"a", "\ud800"])
def test_a_link_needs_a_name(name):
    with pytest.raises(zv.ModelError, match=r"name is .*, expected a non-empty string"):
        zv.Link(name)


# ---- Chain ---------------------------------------------------------------------------------------------------------


def test_a_chain_tells_what_it_is_made_of():
    chain = arm()
    assert chain.n == 2
    assert (chain.name, chain.base_name, chain.is_serial) == ("arm", "base", True)
    assert chain.link_names == ("upper", "fore", "tip")
    assert chain.joint_names == ("upper_joint", "fore_joint")
    assert chain.joint_types == ("revolute", "prismatic")
    assert [link.parent for link in chain.links] == ["base", "upper", "fore"]
    np.testing.assert_array_equal(chain.lower, [-1, -np.inf])
    np.testing.assert_array_equal(chain.upper, [2, np.inf])
    np.testing.assert_array_equal(chain.velocity_limit, [3, np.inf])
    np.testing.assert_array_equal(chain.effort_limit, [np.inf, 50])
    np.testing.assert_array_equal(chain.rotor_inertia, [0, 0.2])
    np.testing.assert_array_equal(chain.friction, [0, 0.5])
    np.testing.assert_array_equal(chain.stiffness, [0, 30])
    np.testing.assert_array_equal(chain.rest, [0, -0.1])
    np.testing.assert_array_equal(chain.gravity, [0, 0, -9.81])
    assert chain.total_mass == 2.0
    assert repr(chain) == "Chain 'arm': 2 joints (1 revolute, 1 prismatic), 3 links, 2.0 kg"
    for array in (chain.lower, chain.gravity, chain.friction):
        assert array.dtype == np.float64 and not array.flags.writeable


def test_links_may_come_in_any_order_and_q_follows_the_list():
    ordered = zv.Chain([zv.Link("a", **BODY), zv.Link("b", joint="prismatic", position=(1, 0, 0), **BODY)])
    a, b = ordered.links
    shuffled = zv.Chain([b, a])
    assert shuffled.joint_names == ("b_joint", "a_joint")
    np.testing.assert_allclose(shuffled.pose([0.3, 0.2], "b"), ordered.pose([0.2, 0.3], "b"), atol=1e-15)


def test_branches_hang_on_the_named_parent_or_the_base():
    links = [
        zv.Link(name, parent=parent, **BODY) for name, parent in [("a", None), ("b", "a"), ("c", "a"), ("d", "base")]
    ]
    chain = zv.Chain(links)
    assert [link.parent for link in chain.links] == ["base", "a", "a", "base"]
    assert not chain.is_serial


@pytest.mark.parametrize("tilt", [0.0, 1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4])
def test_nearly_parallel_axes_keep_their_place(rng, tilt):
    for _ in range(20):
        a, side = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
        first, second = zv.Link("first", axis=a, **BODY), zv.Link("second", axis=a + tilt * side, **BODY)
        q = rng.uniform(-1, 1, 2)
        steps = zv.Chain([first]).pose(q[:1], "first") @ zv.Chain([second]).pose(q[1:], "second")
        np.testing.assert_allclose(zv.Chain([first, second]).pose(q, "second"), steps, rtol=0, atol=1e-14)


BAD_CHAINS = [
    ([], "arm"),
    ("links", "links is 'links', expected a list of Link"),
    (None, "links is None"),
    ([zv.Link("a"), "b"], "links[1] is 'b', expected a Link"),
    ([zv.Link("a"), zv.Link("a")], "'a'"),
    ([zv.Link("base")], "'base'"),
    ([zv.Link("a", joint_name="j"), zv.Link("b", joint_name="j")], "'j'"),
    ([zv.Link("a", parent="z")], "'z'"),
    ([zv.Link("a", parent="a")], "'a'"),
    ([zv.Link("a", parent="b"), zv.Link("b", parent="a")], "loop"),
    ([zv.Link("a", joint="fixed")], "moving joint"),
    ([zv.Link("a", mass=-1.0)], "-1"),
    ([zv.Link("a", mass=1.0, inertia=(1, 1, -0.5))], "-0.5"),
    ([zv.Link("a", mass=1.0, inertia=[[1, 1, 0], [0, 1, 0], [0, 0, 1]])], "symmetric"),
    ([zv.Link("a", rotation=2 * np.eye(3), **BODY)], "rotation"),
    ([zv.Link("a", rotation=-np.eye(3), **BODY)], "rotation"),
]


@pytest.mark.parametrize(("links", "message"), BAD_CHAINS, ids=lambda x: x if isinstance(x, str) else "")
def test_links_that_make_no_chain_are_a_model_error(links, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)):
        zv.Chain(links, name="arm")


@pytest.mark.parametrize(
    "keywords",
    [
        {"gravity": (0, 0)},
        {"gravity": "down"},
        {"gravity": (0, 0, math.nan)},
        {"name": ""},
        {"name": 3},
        {"base": None},
    ],
)
def test_bad_chain_arguments_are_a_model_error(keywords):
    with pytest.raises(zv.ModelError, match=f"{next(iter(keywords))} "):
        arm(**keywords)


def test_an_inertia_that_no_body_has_is_a_warning_and_with_strict_an_error():
    links = [zv.Link("odd", mass=1, inertia=(0.1, 0.2, 1.0))]
    with pytest.warns(zv.ModelWarning, match="link 'odd'") as caught:
        chain = zv.Chain(links)
    assert caught[0].filename == __file__
    assert [link for link, _ in chain.suspicions] == ["odd"]
    with pytest.raises(zv.ModelError, match="link 'odd'"):
        zv.Chain(links, strict=True)


def test_copies_and_relatives_of_a_suspicious_chain_do_not_warn_again():
    with pytest.warns(zv.ModelWarning):
        chain = zv.Chain([zv.Link("odd", mass=1, inertia=(0.1, 0.2, 1.0))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        copy.deepcopy(chain)
        pickle.loads(pickle.dumps(chain))
        chain.with_gravity((0, 0, 0))
        chain.with_payload("odd", 1.0)
    with pytest.warns(zv.ModelWarning, match="'odd'") as caught:
        zv.Chain.from_dict(chain.to_dict())
    assert caught[0].filename == __file__


def test_a_chain_of_ten_thousand_links_is_built_copied_and_compared():
    chain = zv.Chain([zv.Link(f"l{i}", position=(0.1, 0, 0), **BODY) for i in range(10_000)])
    assert chain.n == 10_000
    assert pickle.loads(pickle.dumps(chain)) == chain


# ---- copies --------------------------------------------------------------------------------------------------------

numbers = st.floats(-1e6, 1e6)
vectors = hnp.arrays(float, 3, elements=numbers)


@st.composite
def links(draw, name="a", parent=None):
    keywords = {"parent": parent, "joint": draw(st.sampled_from(["revolute", "prismatic"]))}
    keywords["axis"] = draw(vectors.filter(lambda v: np.linalg.norm(v) > 1e-3))
    keywords |= {key: draw(vectors) for key in ("position", "com")}
    q = draw(hnp.arrays(float, 4, elements=st.floats(-1, 1)).filter(lambda v: np.linalg.norm(v) > 0.1))
    w, x, y, z = q / np.linalg.norm(q)
    keywords["rotation"] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    keywords["mass"] = draw(st.floats(0.1, 1e6))
    keywords["inertia"] = draw(st.floats(1.0, 1e3)) * np.array([1.0, 1.2, 1.4])
    keywords["lower"] = draw(st.one_of(st.just(-math.inf), st.floats(-10, 0)))
    keywords["upper"] = draw(st.one_of(st.just(math.inf), st.floats(0, 10)))
    for key in ("velocity", "effort"):
        keywords[key] = draw(st.one_of(st.just(math.inf), st.floats(0, 1e3)))
    for key in ("rotor_inertia", "friction", "stiffness", "rest"):
        keywords[key] = draw(st.floats(0, 1e3))
    return zv.Link(draw(st.sampled_from([name, f"{name} ж", f'{name}"<>&'])), **keywords)


@st.composite
def chains(draw):
    made = []
    for i in range(draw(st.integers(1, 5))):
        parent = draw(st.sampled_from([None, "base", *(link.name for link in made)]))
        made.append(draw(links(f"l{i}", parent)))
    return zv.Chain(made, gravity=draw(vectors), name=draw(st.text("abc 1", min_size=1)))


@given(links())
def test_a_link_survives_json_and_pickle(link):
    for twin in (zv.Link.from_dict(json.loads(json.dumps(link.to_dict(), allow_nan=False))), copy.deepcopy(link)):
        assert twin == link and hash(twin) == hash(link)
        assert pickle.loads(pickle.dumps(twin)) == link


@pytest.mark.filterwarnings("ignore:.* are expected:zveno.ModelWarning")  # of any size
@settings(deadline=None)
@given(chains(), st.data())
def test_a_chain_survives_json_pickle_and_copy_bit_for_bit(chain, data):
    text = json.dumps(chain.to_dict(), allow_nan=False)
    q = data.draw(hnp.arrays(float, chain.n, elements=st.floats(-3, 3)))
    for twin in (
        zv.Chain.from_dict(json.loads(text)),
        pickle.loads(pickle.dumps(chain)),
        copy.copy(chain),
        copy.deepcopy(chain),
    ):
        assert twin == chain and hash(twin) == hash(chain) and repr(twin) == repr(chain)
        assert twin.to_dict() == chain.to_dict()
        np.testing.assert_array_equal(twin.mass_matrix(q), chain.mass_matrix(q))


@pytest.mark.parametrize("changes", [{"name": "leg"}, {"base": "ground"}, {"gravity": (0, 0, 0)}])
def test_chains_differ_when_anything_differs(changes):
    assert arm() == arm()
    assert arm(**changes) != arm()
    assert arm() != "arm"


def test_links_differ_when_anything_differs():
    for key, value in {"mass": 2.0, "com": (0, 0, 1), "joint": "prismatic", "upper": 1.0, "parent": "p"}.items():
        assert zv.Link("a", **{key: value}) != zv.Link("a")
    assert zv.Link("a", com=(0.0, 0, 0)) == zv.Link("a", com=(-0.0, 0, 0))
    assert hash(zv.Link("a", com=(0.0, 0, 0))) == hash(zv.Link("a", com=(-0.0, 0, 0)))


def test_hand_written_json_may_leave_out_defaults():
    data = {"format": "zveno.chain", "version": 1, "name": "n", "base": "b", "gravity": [0, 0, -9.81]}
    data["links"] = [{"name": "a", "mass": 1, "inertia": [0.1, 0.1, 0.1], "upper": None}]
    assert zv.Chain.from_dict(data) == zv.Chain([zv.Link("a", **BODY)], name="n", base="b")


def edited(**changes):
    data = arm().to_dict() | changes
    return {key: value for key, value in data.items() if value is not ...}


BAD_DICTS = [
    ([], "expected a dictionary"),
    (None, "expected a dictionary"),
    ({}, "format is None, expected 'zveno.chain'"),
    (edited(format="urdf"), "format is 'urdf'"),
    (edited(version=2), "version is 2, expected 1"),
    (edited(version=True), "version is True"),
    (edited(colour="red"), "unknown key 'colour'"),
    (edited(links=...), "'links' is missing"),
    (edited(name=...), "'name' is missing"),
    (edited(links={}), "links is {}, expected a list"),
    (edited(links=[1]), "got 1, expected a dictionary"),
    (edited(links=[{}]), "has no 'name'"),
    (edited(links=[{"name": "a", "weight": 1}]), "link 'a': unknown key 'weight'"),
    (edited(links=[{"name": ["a"]}]), "name is ['a']"),
    (edited(links=[{"name": "a", "mass": None}]), "link 'a': mass is None"),
    (edited(links=[{"name": "a", "mass": "1"}]), "link 'a': mass is '1'"),
    (edited(gravity=None), "gravity is None"),
    (edited(gravity=[0, 0, "g"]), "gravity is"),
    (edited(name=1), "name is 1"),
]


@pytest.mark.parametrize(("data", "message"), BAD_DICTS, ids=lambda x: x if isinstance(x, str) else "")
def test_a_dictionary_that_is_no_chain_is_a_model_error(data, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)):
        zv.Chain.from_dict(data)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(list(arm().to_dict())), st.sampled_from(zv.Link.__slots__), json_values, st.booleans())
def test_any_json_in_any_place_gives_a_chain_or_a_model_error(key, field, value, inside):
    data = arm().to_dict()
    assert_model_or_error(zv.Chain, data, data["links"][1] if inside else data, field if inside else key, value)


def test_errors_survive_pickle_with_their_data():
    error = pickle.loads(pickle.dumps(zv.ModelError("text", link="a")))
    assert (str(error), error.link) == ("text", "a")
    error = pickle.loads(pickle.dumps(zv.SingularityError("text", joint="j", row=3)))
    assert (str(error), error.joint, error.row) == ("text", "j", 3)


# ---- relatives -----------------------------------------------------------------------------------------------------


def test_a_payload_is_a_body_welded_to_the_link():
    chain = arm()
    loaded = chain.with_payload("tip", 2.0, com=(0, 0.1, 0), inertia=0.05)
    assert loaded.total_mass == chain.total_mass + 2.0
    assert loaded.link_names == (*chain.link_names, "payload") and loaded.n == chain.n
    q = np.array([0.3, 0.1])
    point = chain.pose(q, "tip")[:3] @ (0, 0.1, 0, 1)
    extra = loaded.potential_energy(q) - chain.potential_energy(q)
    assert extra == pytest.approx(2.0 * 9.81 * point[2], rel=1e-12)
    J = chain.jacobian(q, "tip", point=(0, 0.1, 0))
    np.testing.assert_allclose(
        loaded.mass_matrix(q) - chain.mass_matrix(q), 2.0 * J[:3].T @ J[:3] + 0.05 * J[3:].T @ J[3:], atol=1e-12
    )
    assert chain == arm()


def test_a_payload_needs_a_link_a_mass_and_a_new_name():
    for keywords in ({"link": "hand", "mass": 1}, {"link": 3, "mass": 1}, {"link": "tip", "mass": -1},
                     {"link": "tip", "mass": "1"}, {"link": "tip", "mass": 1, "name": "fore"}):  # fmt: skip
        with pytest.raises(zv.ModelError):
            arm().with_payload(**keywords)
    with pytest.warns(zv.ModelWarning, match="'payload'"):
        arm().with_payload("tip", 1.0, inertia=(0.1, 0.1, 1.0))


def test_without_gravity_nothing_is_needed_to_stand_still():
    free = arm().with_gravity((0, 0, 0))
    assert not free.bias([0.4, -0.1], [0, 0]).any()  # the spring is unloaded
    assert free.with_gravity((0, 0, -9.81)) == arm()


# ---- Denavit-Hartenberg --------------------------------------------------------------------------------------------


def dh_frames(rows, kinds, q, convention):
    """Frames 0..n by multiplying the elementary matrices of the definition."""

    def rot(axis, angle):
        T, c, s = np.eye(4), math.cos(angle), math.sin(angle)
        T[:3, :3] = [[1, 0, 0], [0, c, -s], [0, s, c]] if axis == "x" else [[c, -s, 0], [s, c, 0], [0, 0, 1]]
        return T

    def shift(x, z):
        T = np.eye(4)
        T[:3, 3] = x, 0, z
        return T

    frames = [np.eye(4)]
    for (theta, d, a, alpha), kind, qi in zip(rows, kinds, q, strict=True):
        theta, d = (theta + qi, d) if kind == "revolute" else (theta, d + qi)
        if convention == "standard":
            step = rot("z", theta) @ shift(0, d) @ shift(a, 0) @ rot("x", alpha)
        else:
            step = rot("x", alpha) @ shift(a, 0) @ rot("z", theta) @ shift(0, d)
        frames.append(frames[-1] @ step)
    return frames


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_dh_rows_give_the_frames_and_bodies_of_the_definition(convention):
    rng = np.random.default_rng(7)
    n = 5
    rows = rng.uniform(-1, 1, (n, 4))
    kinds = ["revolute", "prismatic", "revolute", "revolute", "prismatic"]
    masses, coms = rng.uniform(1, 2, n), rng.uniform(-1, 1, (n, 3))
    inertias = [A @ A.T + np.eye(3) for A in rng.uniform(-0.3, 0.3, (n, 3, 3))]
    chain = zv.Chain.from_dh(
        rows,
        convention=convention,
        joints=kinds,
        masses=masses,
        coms=coms,
        inertias=inertias,
        friction=[1] * n,
        stiffness=[2] * n,
        rest=[0.5] * n,
    )
    assert chain.link_names == ("link1", "link2", "link3", "link4", "link5", "tool")
    assert chain.joint_types == tuple(kinds)
    q, qd = rng.uniform(-1, 1, (2, n))
    frames = dh_frames(rows, kinds, q, convention)
    np.testing.assert_allclose(chain.pose(q, "tool"), frames[-1], atol=1e-14)

    # potential and kinetic energy see every centre of mass and inertia in its DH frame
    centres = [(F @ (*c, 1))[:3] for F, c in zip(frames[1:], coms, strict=True)]
    height = sum(m * 9.81 * c[2] for m, c in zip(masses, centres, strict=True))
    assert chain.potential_energy(q) == pytest.approx(height + ((q - 0.5) ** 2).sum(), rel=1e-12)

    step = 1e-6
    moved = [dh_frames(rows, kinds, q + sign * step * qd, convention) for sign in (1, -1)]
    energy = 0.0
    for i in range(n):
        (A, B), F = (frames_[i + 1] for frames_ in moved), frames[i + 1]
        v = ((A - B) @ (*coms[i], 1))[:3] / (2 * step)
        W = (A - B)[:3, :3] @ F[:3, :3].T / (2 * step)
        w = F[:3, :3].T @ (W[2, 1], W[0, 2], W[1, 0])
        energy += masses[i] * v @ v / 2 + w @ inertias[i] @ w / 2
    assert chain.kinetic_energy(q, qd) == pytest.approx(energy, rel=1e-8)


def test_dh_base_and_tool_poses_multiply_from_both_sides():
    base, tool = np.eye(4), np.eye(4)
    base[:3] = [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3]]
    tool[:3, 3] = 0.1, 0.2, 0.3
    rows = [(0.1, 0.2, 0.3, 0.4), (0.5, 0.6, 0.7, 0.8)]
    for convention in ("standard", "modified"):
        keywords = {"convention": convention, "masses": (1, 1), "inertias": (1, 1)}
        plain = zv.Chain.from_dh(rows, **keywords)
        placed = zv.Chain.from_dh(rows, base_pose=base, tool_pose=tool, tool="hand", names=("a", "b"), **keywords)
        q = [0.3, -0.4]
        np.testing.assert_allclose(placed.pose(q, "hand"), base @ plain.pose(q, "tool") @ tool, atol=1e-15)
        assert placed.link_names == ("a", "b", "hand")


ROWS = [(0, 0, 1, 0), (0, 0, 1, 0)]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"rows": [(0, 0, 1)]}, "rows[0] has shape (3,), expected (4,)"),
        ({"rows": "dh"}, "rows is 'dh'"),
        ({"rows": 3}, "rows is 3"),
        ({"rows": [(0, 0, math.nan, 0)]}, "rows[0] is"),
        ({"rows": []}, "moving joint"),
        ({"convention": "craig"}, "convention is 'craig', expected 'standard' or 'modified'"),
        ({"joints": "fixed"}, "joints[0] is 'fixed'"),
        ({"joints": ["revolute"]}, "joints has 1 entries, expected 2"),
        ({"masses": 3}, "masses is 3, expected 2 entries"),
        ({"masses": np.ones(3)}, "masses has 3 entries, expected 2"),
        ({"coms": ((0, 0), (0, 0))}, "link 'link1': com has shape (2,)"),
        ({"inertias": (1, "a")}, "link 'link2': inertia is 'a'"),
        ({"masses": (1, 1), "inertias": (1, [[1, 1, 0], [0, 1, 0], [0, 0, 1]])}, "symmetric"),
        ({"base_pose": np.eye(3)}, "base_pose has shape (3, 3), expected (4, 4)"),
        ({"tool_pose": np.ones((4, 4))}, "the last row of tool_pose"),
        ({"names": ("a", "a")}, "'a'"),
    ],
)
def test_bad_dh_arguments_are_a_model_error(keywords, message):
    with pytest.raises(zv.ModelError, match=re.escape(message)):
        zv.Chain.from_dh(**{"rows": ROWS, **keywords})
