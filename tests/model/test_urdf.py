"""The URDF reader: what it reads agrees with Pinocchio, what it cannot read it refuses by name."""

import contextlib
import importlib.metadata
import math
import os
import pathlib
import re
import time
import warnings
import xml.etree.ElementTree as ElementTree

import numpy as np
import pinocchio as pin
import pytest
import zveno as zv

DATA = pathlib.Path(__file__).parents[1] / "data"
WILD = sorted(
    pathlib.Path(str(file.locate()))
    for file in importlib.metadata.distribution("example-robot-data").files
    if file.suffix == ".urdf"
)
# what of the wild is no chain, and why; Pinocchio finds no joint there either
REFUSED = {
    "iris_simple.urdf": "moving joint",
    "quadrotor_base.urdf": "link 'base_link': the file has one link and no joint",
    "ur3.urdf": "<robot> has no <link>",
}
INDICES = ("xx", "xy", "xz", "yy", "yz", "zz")
INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'


def load(source, **keywords):
    """Read without the warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        return zv.Chain.from_urdf(source, **keywords)


def robot(body, links="abc"):
    return f'<robot name="r">{"".join(f"<link name={n!r}>{INERTIAL}</link>" for n in links)}{body}</robot>'


def joint(name, parent, child, kind="continuous", inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


# ---- agreement with another reader ---------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [p for p in WILD if p.name not in REFUSED] + [DATA / "arm.urdf"], ids=lambda p: p.stem)
def test_joints_limits_masses_and_motion_agree_with_pinocchio(path):
    chain = load(path)
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    assert sorted(chain.joint_names) == sorted(model.names[1:])

    q = np.random.default_rng(3).uniform(-1, 1, chain.n)
    child = {link.joint_name: link.name for link in chain.links}
    order = [model.joints[model.getJointId(name)] for name in chain.joint_names]
    q_pin = np.zeros(model.nq)
    for i, j in enumerate(order):  # an unlimited joint has the coordinates (cos, sin) there
        q_pin[j.idx_q : j.idx_q + j.nq] = q[i] if j.nq == 1 else (math.cos(q[i]), math.sin(q[i]))
        if j.nq == 1:
            assert chain.lower[i] == model.lowerPositionLimit[j.idx_q]
            assert chain.upper[i] == model.upperPositionLimit[j.idx_q]
        else:
            assert (chain.lower[i], chain.upper[i]) == (-math.inf, math.inf)
        if math.isfinite(chain.effort_limit[i]):
            assert chain.effort_limit[i] == model.upperEffortLimit[j.idx_v]
            assert chain.velocity_limit[i] == model.upperVelocityLimit[j.idx_v]

    pin.forwardKinematics(model, data, q_pin)
    moving = {}  # a weld adds its mass to the joint that carries it
    for link in chain.links:
        parent = moving.get(link.parent)
        moving[link.name] = parent if link.joint == "fixed" else link.joint_name
    for name, j in zip(chain.joint_names, order, strict=True):
        mass = math.fsum(link.mass for link in chain.links if moving[link.name] == name)
        assert model.inertias[j.id].mass == pytest.approx(mass, rel=1e-12, abs=1e-15)
        T = data.oMi[j.id].homogeneous
        np.testing.assert_allclose(chain.pose(q, child[name]), T, rtol=0, atol=1e-10)

    M = pin.crba(model, data, q_pin)
    M = np.triu(M) + np.triu(M, 1).T
    v = [j.idx_v for j in order]
    raised = np.zeros((chain.n, chain.n))  # by inertias that Pinocchio leaves negative
    for link, more in raised_inertias(path, chain).items():
        turning = chain.jacobian(q, link, frame="link")[3:]
        raised += turning.T @ more @ turning
    np.testing.assert_allclose(chain.mass_matrix(q), M[np.ix_(v, v)] + raised, rtol=0, atol=1e-10 * np.abs(M).max())


def raised_inertias(path, chain):
    """Inertias of the chain minus those of the file, link axes, of links whose inertia has a negative eigenvalue."""
    found = {}
    bodies = {link.name: link for link in chain.links}
    for link in ElementTree.parse(path).getroot().iterfind("link"):
        inertial = link.find("inertial")
        if inertial is None or link.get("name") not in bodies:
            continue
        xx, xy, xz, yy, yz, zz = (float(inertial.find("inertia").get(f"i{k}")) for k in INDICES)
        origin = inertial.find("origin")
        rpy = "0 0 0" if origin is None else origin.get("rpy", "0 0 0")
        R = pin.rpy.rpyToMatrix(*map(float, rpy.split()))
        tensor = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        if np.linalg.eigvalsh(tensor)[0] < -1e-9:
            found[link.get("name")] = bodies[link.get("name")].inertia - tensor
    return found


def test_a_negative_eigenvalue_becomes_zero_and_nothing_else_changes():
    path = next(p for p in WILD if p.name == "romeo_laas_small.urdf")
    with pytest.warns(zv.ModelWarning, match=r"line 331: link 'body': inertia eigenvalue -0\.0213468 kg m\^2"):
        chain = zv.Chain.from_urdf(path)
    raised = raised_inertias(path, chain)
    assert set(raised) == {"body", "LHipPitch_link", "RHipPitch_link"}
    for link, more in raised.items():
        low, *rest = np.linalg.eigvalsh(next(x.inertia for x in chain.links if x.name == link))
        assert abs(low) < 1e-15 < min(rest)
        added = np.linalg.eigvalsh(more)
        np.testing.assert_allclose(added[:2], 0, atol=1e-15)
        assert added[2] > 1e-3
    q = np.linspace(-1, 1, chain.n)
    assert np.linalg.eigvalsh(chain.mass_matrix(q))[0] > -1e-12
    with pytest.raises(zv.ModelError, match=r"link 'body': inertia eigenvalue -0\.0213468 .*strict=True"):
        zv.Chain.from_urdf(path, strict=True)


@pytest.mark.parametrize("path", [p for p in WILD if p.name in REFUSED], ids=lambda p: p.stem)
def test_what_is_no_chain_is_refused_with_the_reason(path):
    with pytest.raises(zv.ModelError, match=f"^{re.escape(path.name)}:.*{REFUSED[path.name]}"):
        load(path)
    with contextlib.suppress(ValueError):
        assert pin.buildModelFromUrdf(str(path)).njoints == 1


def test_the_wild_is_where_it_should_be():
    assert len(WILD) > 50 and set(REFUSED) <= {path.name for path in WILD}


# ---- the small file ------------------------------------------------------------------------------------------------


def test_the_chain_follows_the_document_depth_first():
    chain = load(DATA / "arm.urdf")
    assert (chain.name, chain.base_name) == ("arm", "pedestal")
    assert chain.link_names == ("column", "lift", "wrist", "flange", "left", "right")
    assert chain.joint_names == ("turn", "rise", "twist", "left_slide", "right_slide")
    assert chain.joint_types == ("revolute", "prismatic", "revolute", "prismatic", "prismatic")
    np.testing.assert_array_equal(chain.lower, [-2.5, 0, -np.inf, 0, 0])
    np.testing.assert_array_equal(chain.upper, [2.5, 0.5, np.inf, 0.04, 0.04])
    np.testing.assert_array_equal(chain.effort_limit, [80, 200, 10, 20, 20])
    np.testing.assert_array_equal(chain.velocity_limit, [1.5, 0.3, 6, 0.2, 0.2])
    assert chain.total_mass == pytest.approx(10.5)  # without the pedestal: it never moves
    np.testing.assert_array_equal(chain.links[2].axis, [1, 0, 0])  # the default of URDF
    np.testing.assert_array_equal(chain.links[0].rotation, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])  # right angles are exact


def test_children_come_in_the_order_of_their_joints_not_of_their_links():
    chain = load(robot(joint("j2", "a", "d") + joint("j1", "a", "b") + joint("j3", "d", "c"), "abcd"))
    assert chain.joint_names == ("j2", "j3", "j1")


def test_damping_is_applied_only_on_request():
    assert not load(DATA / "arm.urdf").friction.any()
    np.testing.assert_array_equal(load(DATA / "arm.urdf", friction=True).friction, [0.7, 12, 0, 0, 0])


def test_one_warning_names_everything_that_dynamics_would_feel():
    with pytest.warns(zv.ModelWarning) as caught:
        zv.Chain.from_urdf(DATA / "arm.urdf")
    assert len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert text.startswith("arm.urdf: ")
    for part in (
        "viscous damping of 2 joints is not applied (pass friction=True)",
        "Coulomb friction of 1 joint is ignored",
        "mimic is ignored, these joints are independent: right_slide",
        "root link 'pedestal' (50 kg) is fixed to the world: its mass enters no result",
        "reductions and rotor inertias of 1 transmission are ignored",
    ):
        assert part in text
    with pytest.warns(zv.ModelWarning) as caught:
        zv.Chain.from_urdf(DATA / "arm.urdf", friction=True)
    assert "viscous" not in str(caught[0].message)


def test_a_clean_file_gives_no_warning_even_if_strict():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chain = zv.Chain.from_urdf(DATA / "pendulum.urdf", strict=True)
    np.testing.assert_allclose(chain.mass_matrix([0.3]), [[1 / 3]], rtol=1e-14)


def test_suspicious_bodies_are_loaded_with_a_warning_that_names_link_and_numbers():
    with pytest.warns(zv.ModelWarning, match="link 'odd': .*1") as caught:
        chain = zv.Chain.from_urdf(DATA / "suspicious.urdf")
    assert "link 'ghost'" in str(caught[0].message)
    assert {link for link, _ in chain.suspicions} == {"odd", "ghost"}


@pytest.mark.parametrize("name", ["arm.urdf", "suspicious.urdf"])
def test_strict_turns_every_warning_into_an_error(name):
    with pytest.raises(zv.ModelError, match=f"^{name}: .*strict=True"):
        zv.Chain.from_urdf(DATA / name, strict=True)


def test_a_revolute_joint_without_limit_is_unlimited_and_said_to_be():
    with pytest.warns(zv.ModelWarning, match="no <limit>, these joints are unlimited: j"):
        chain = zv.Chain.from_urdf(robot(joint("j", "a", "b", "revolute"), "ab"))
    assert chain.upper[0] == math.inf


def test_a_root_welded_to_the_world_is_fine():
    chain = load(robot(joint("w", "a", "b", "fixed") + joint("j", "b", "c")))
    assert (chain.base_name, chain.link_names, chain.joint_names) == ("a", ("b", "c"), ("j",))
    assert load(robot(joint("j", "world", "b"), ["world", "b"])).base_name == "world"


# ---- small mistakes of real files ----------------------------------------------------------------------------------

LIMIT = '<limit lower="1" upper="-2" velocity="1" effort="1"/>'
MENDED = {
    "lower above upper": (
        robot("\n" + joint("j", "a", "b", "revolute", LIMIT), ["a", "b"]),
        "line 2: joint 'j': lower = 1 is above upper = -2: they are exchanged",
    ),
    "left-over xacro": (
        robot('\n\n<xacro:property name="x" value="1"/>' + joint("j", "a", "b"), "ab"),
        "line 3: <xacro:property> is ignored",
    ),
    "the same axis twice": (
        robot(joint("j", "a", "b", inside='<axis xyz="0 1 0"/>\n<axis xyz="0 1 0"/>'), "ab"),
        "line 2: joint 'j': a second <axis>, the same as that on line 1, is ignored",
    ),
    "inertia without products": (
        robot(joint("j", "a", "b"), "ab").replace('ixy="0" ', "").replace('iyz="0" ', ""),
        "link 'b': <inertia> has no ixy, iyz: 0 is taken",
    ),
    "negative inertia": (
        robot(joint("j", "a", "b"), "ab").replace('izz="1"', 'izz="-1e-8"'),
        "link 'b': inertia eigenvalue -1e-08 kg m^2 is negative: 0 is taken",
    ),
}


@pytest.mark.parametrize("case", MENDED)
def test_small_mistakes_are_mended_with_a_warning_and_refused_if_strict(case):
    source, text = MENDED[case]
    with pytest.warns(zv.ModelWarning, match=re.escape(text)):
        chain = zv.Chain.from_urdf(source)
    with pytest.raises(zv.ModelError, match=re.escape(text) + r".*strict=True"):
        zv.Chain.from_urdf(source, strict=True)
    assert chain.n == 1
    if case == "lower above upper":
        assert (chain.lower[0], chain.upper[0]) == (-2, 1)
    if case == "the same axis twice":
        np.testing.assert_array_equal(chain.links[0].axis, [0, 1, 0])
    if case == "negative inertia":
        np.testing.assert_allclose(chain.links[0].inertia, np.diag([1, 1, 0]), atol=1e-23)


def test_many_mistakes_leave_room_for_what_else_there_is_to_say():
    links = [f"l{i}" for i in range(21)]
    body = "".join(joint(f"j{i}", f"l{i}", f"l{i + 1}", "revolute", LIMIT) for i in range(20))
    with pytest.warns(zv.ModelWarning, match=r"root link 'l0'.* and 17 more of this sort$"):
        zv.Chain.from_urdf(robot(body, links))


@pytest.mark.parametrize("name", ["anymal.urdf", "solo12.urdf"])
def test_a_root_link_with_mass_is_said_to_be_fixed_to_the_world(name):
    path = next(p for p in WILD if p.name == name)
    root = {"anymal.urdf": "base", "solo12.urdf": "base_link"}[name]
    inertial = ElementTree.parse(path).getroot().find(f"link[@name='{root}']/inertial/mass")
    expected = f"root link '{root}' ({float(inertial.get('value')):g} kg) is fixed to the world"
    with pytest.warns(zv.ModelWarning, match=re.escape(expected)):
        zv.Chain.from_urdf(path)


def test_a_body_with_limbs_that_is_welded_to_a_massless_root_is_said_to_be_fixed():
    body = robot(
        '<link name="a"/>' + joint("w", "a", "b", kind="fixed") + joint("l", "b", "c") + joint("r", "b", "d"), "bcd"
    )
    with pytest.warns(zv.ModelWarning, match=r"welded to root link 'a' \(1 kg, 2 limbs\) is fixed to the world"):
        assert zv.Chain.from_urdf(body, strict=True).n == 2
    arm = robot('<link name="a"/>' + joint("w", "a", "b", kind="fixed") + joint("l", "b", "c"), "bc")
    assert zv.Chain.from_urdf(arm).n == 1


def test_strict_reading_takes_a_robot_that_stands_on_a_heavy_root():
    source = robot(joint("j", "a", "b"), "ab")
    with pytest.warns(zv.ModelWarning, match=r"^URDF text: root link 'a' \(1 kg\) is fixed to the world: .* result$"):
        assert zv.Chain.from_urdf(source, strict=True).n == 1


# ---- sources -------------------------------------------------------------------------------------------------------


def test_path_text_and_bytes_are_the_same_model(tmp_path, monkeypatch):
    path = DATA / "arm.urdf"
    text = path.read_text()
    body = text.split("?>", 1)[1]
    expected = load(path)
    latin = f'<?xml version="1.0" encoding="latin-1"?><!-- \xe9 -->{body}'
    for source in (
        str(path),
        text,
        text.encode(),
        "\ufeff \n" + body,
        text.encode("utf-8-sig"),
        f'<?xml version="1.0" encoding="utf-16"?>{body}'.encode("utf-16"),
        latin,  # text is text whatever encoding it declares
        latin.encode("latin-1"),
        "\n " + text,  # XML allows no white space there
        b" \r\n\t" + text.encode(),
        b"\xef\xbb\xbf\n" + text.encode(),
        f'\ufeff\n <?xml version="1.0" encoding="utf-16"?>{body}'.encode("utf-16-le"),
        f'\ufeff\n <?xml version="1.0" encoding="utf-16"?>{body}'.encode("utf-16-be"),
    ):
        assert load(source) == expected
    spaced = tmp_path / "spaced.urdf"
    spaced.write_bytes(b"\n\n" + text.encode())
    assert load(spaced) == expected
    monkeypatch.chdir(DATA)
    assert load("arm.urdf") == expected
    assert load(path, name="other").name == "other"
    assert load(robot(joint("j", "a", "b"), "ab").replace(' name="r"', "", 1)).name == "robot"
    np.testing.assert_array_equal(load(path, gravity=(0, 0, -1.62)).gravity, [0, 0, -1.62])


@pytest.mark.parametrize("source", [3, None, ["<robot/>"], 2.5])
def test_another_type_of_source_is_a_type_error(source):
    with pytest.raises(TypeError, match=f"source is a {type(source).__name__}"):
        zv.Chain.from_urdf(source)


def test_what_cannot_be_opened_is_a_model_error(tmp_path):
    (tmp_path / "empty.urdf").write_bytes(b" \n")
    fifo = tmp_path / "fifo"
    if hasattr(os, "mkfifo"):
        os.mkfifo(fifo)
    for source, message in [
        (tmp_path / "missing.urdf", "missing.urdf: cannot be read as a file"),
        (tmp_path, "cannot be read as a file"),
        (tmp_path / "empty.urdf", "empty.urdf: is empty"),
        (fifo, "fifo: cannot be read"),
        ("", "the source is empty"),
        ("  ", "the source is empty"),
        (b"", "is empty"),
        ("a\0b", "cannot be read"),
        ("x" * 5000, "cannot be read"),
    ]:
        with pytest.raises(zv.ModelError, match=re.escape(message)):
            zv.Chain.from_urdf(source)


# ---- refusals ------------------------------------------------------------------------------------------------------

J = joint("j", "a", "b")
BROKEN = {
    "not xml": ("<robot", "is not well-formed XML"),
    "unclosed": ("<robot><link name='a'></robot>", "is not well-formed XML (mismatched tag"),
    "junk after": ("<robot/><robot/>", "is not well-formed XML"),
    "binary": (b"\x89PNG\r\n\x1a\n", "is not well-formed XML"),
    "wrong encoding": (b'<?xml version="1.0" encoding="utf-8"?><robot name="\xff\xfe"/>', "is not well-formed XML"),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><robot/>', "is not well-formed XML"),
    "multi-byte encoding": (b'<?xml version="1.0" encoding="shift-jis"?><robot/>', "is not well-formed XML"),
    "lone surrogate": ("<robot name='\ud800'/>", "is not well-formed XML"),
    "root": ("<sdf version='1.6'/>", ":1: the root element is <sdf>, expected <robot>"),
    "no link": ("<robot name='r'/>", "<robot> has no <link>"),
    "xacro": ("<robot><xacro:include filename='x'/></robot>", "this is a xacro file"),
    "one link": (robot("", "a"), "link 'a': the file has one link and no joint"),
    "xacro of one link": (
        robot('<xacro:macro name="arm"><joint/></xacro:macro>', "a"),
        "<xacro:macro>: this is a xacro file, expand it to URDF first",
    ),
    "only welds": (robot(joint("j", "a", "b", "fixed"), "ab"), "no moving joint"),
    "link without name": ("<robot><link/></robot>", "<link> has no name"),
    "joint without name": (robot("<joint type='fixed'/>"), "<joint> has no name"),
    "joint without type": (robot("<joint name='j'/>"), "joint 'j': <joint> has no type"),
    "joint type": (robot(joint("j", "a", "b", "ball")), "joint 'j': type=\"ball\" is not a joint type"),
    "floating": (robot(joint("j", "a", "b", "floating")), "joint 'j': floating joints are not supported"),
    "planar": (robot(joint("j", "a", "b", "planar")), "joint 'j': planar joints are not supported"),
    "two links": (robot("", "aa"), "link 'a': defined before, on line 1"),
    "two joints": (robot(J + joint("j", "b", "c")), "joint 'j': defined before, on line 1"),
    "no parent": (
        robot("<joint name='j' type='fixed'><child link='b'/></joint>"),
        "joint 'j': <joint> has no <parent>",
    ),
    "no child": (robot("<joint name='j' type='fixed'><parent link='b'/></joint>"), "joint 'j': <joint> has no <child>"),
    "unnamed parent": (robot("<joint name='j' type='fixed'><parent/></joint>"), "joint 'j': <parent> has no link"),
    "unknown parent": (robot(joint("j", "z", "b")), "joint 'j': <parent link=\"z\"> is not a link of this file"),
    "nearest link": (
        robot(joint("j", "shoulder", "elbwo"), ["shoulder", "elbow"]),
        "<child link=\"elbwo\"> is not a link of this file; did you mean 'elbow'?",
    ),
    "nearest type": (robot(joint("j", "a", "b", "revolut")), "is not a joint type; did you mean 'revolute'?"),
    "long name": (robot("", ["x" * 10**5] * 2), "xxx...': defined before, on line 1"),
    "unknown child": (robot(joint("j", "a", "z")), "joint 'j': <child link=\"z\"> is not a link of this file"),
    "two parents": (robot(J + joint("k", "c", "b")), "link 'b': has two parents, joints 'j' and 'k'"),
    "two roots": (robot(J), "link 'c': not connected; 2 links have no parent: 'a', 'c'"),
    "cycle": (robot(J + joint("k", "b", "c") + joint("l", "c", "a")), "is in a cycle of joints"),
    "cycle aside": (robot(joint("k", "b", "c") + joint("l", "c", "b")), "is in a cycle of joints"),
    "own child": (robot(joint("j", "a", "a"), "a"), "link 'a': is in a cycle"),
    "second origin": (
        robot(joint("j", "a", "b", inside="<origin/>\n<origin xyz='1 0 0'/>")),
        ":2: joint 'j': a second <origin>, other than that on line 1",
    ),
    "axis without xyz": (robot(joint("j", "a", "b", inside="<axis/>")), "joint 'j': <axis> has no xyz"),
    "zero axis": (robot(joint("j", "a", "b", inside='<axis xyz="0 0 0"/>'), "ab"), "axis is zero"),
    "negative damping": (robot(joint("j", "a", "b", inside='<dynamics damping="-1"/>'), "ab"), "friction is -1"),
    "no mass": ("<robot><link name='a'><inertial/></link></robot>", "link 'a': <inertial> has no <mass>"),
    "no inertia": (
        "<robot><link name='a'><inertial><mass value='1'/></inertial></link></robot>",
        "link 'a': <inertial> has no <inertia>",
    ),
    "half an inertia": (robot(J, "ab").replace('iyy="1"', ""), "link 'a': <inertia> has no iyy"),
    "negative mass": (robot(J, "ab").replace('value="1"', 'value="-1"'), "link 'a'"),
    "no number for a mass": (
        robot(J, "ab").replace('value="1"', 'value="nan"'),
        "link 'a': <mass value=\"nan\"> is not",
    ),
    "huge inertia": (robot(J, "ab").replace('ixx="1"', 'ixx="1e308"').replace('iyy="1"', 'iyy="-1e308"'), "link 'a'"),
}
for word in ("abc", "nan", "inf", "-inf", "1e999", "0x10", "1_0", "1,5", "", "1 2", "٣"):
    BROKEN[f"lower {word}"] = (
        robot(joint("j3", "a", "b", "revolute", f'<limit lower="{word}" upper="1"/>')),
        f"joint 'j3': <limit lower=\"{word}\"> is",
    )
for word in ("1 2", "1 2 3 4", "a b c", "0 0 nan", "0,0,0"):
    BROKEN[f"xyz {word}"] = (
        robot(joint("j3", "a", "b", inside=f'<origin xyz="{word}"/>')),
        f"joint 'j3': <origin xyz=\"{word}\"> is not",
    )


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_a_model_error_that_names_file_and_element(case, tmp_path):
    source, message = BROKEN[case]
    if case == "negative damping":
        with pytest.raises(zv.ModelError, match=re.escape(message)):
            load(source, friction=True)
        return
    with pytest.raises(zv.ModelError, match=re.escape(message)) as caught:
        load(source)
    assert str(caught.value).startswith("URDF text:")
    path = tmp_path / "broken.urdf"
    path.write_bytes(source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass"))
    with pytest.raises(zv.ModelError, match=re.escape(message)) as caught:
        load(path)
    assert str(caught.value).startswith("broken.urdf:")


def test_messages_carry_the_line():
    with pytest.raises(zv.ModelError, match=r"mismatched tag: line 5, column 24\)$"):
        load(b"\n\n\n\n<robot><link name='a'></robot>")
    text = robot("\n\n" + joint("j", "a", "b", "revolute", '\n<limit lower="abc"/>'))
    with pytest.raises(zv.ModelError, match=r"^URDF text:4: joint 'j': <limit lower=\"abc\"> is not a number$"):
        load(text)
    for source in ("\n\n" + text, b"\n\n" + text.encode()):
        with pytest.raises(zv.ModelError, match=r"^URDF text:6: joint 'j'"):
            load(source)


# ---- hostile files -------------------------------------------------------------------------------------------------


def laughs(levels):
    entities = "".join(f'<!ENTITY e{i + 1} "{f"&e{i};" * 10}">' for i in range(levels))
    return f'<!DOCTYPE robot [<!ENTITY e0 "ha">{entities}]><robot name="r">&e{levels};</robot>'


@pytest.mark.parametrize(
    "text",
    [
        laughs(9),
        laughs(9).replace("<robot name=", '<robot name="&e9;" x='),
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r"><link name="&x;"/></robot>',
        '<!DOCTYPE robot [<!ENTITY % x SYSTEM "http://127.0.0.1/x.dtd"> %x;]><robot/>',
        '<!DOCTYPE robot SYSTEM "http://127.0.0.1/robot.dtd"><robot/>',
    ],
    ids=["billion laughs", "in an attribute", "external", "parameter", "dtd"],
)
@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-16"])
def test_declarations_of_entities_are_refused_at_once(text, encoding):
    start = time.perf_counter()
    with pytest.raises(zv.ModelError, match="document type declaration is not allowed"):
        zv.Chain.from_urdf(text if encoding is None else text.encode(encoding))
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot>" + "<a>" * 10_000, "nested deeper than"),
        ("<robot>" + "<a/>" * 1001, "more than 1000 elements"),
        ("<robot>" + " " * 2**20, "larger than 1 MiB"),
    ],
    ids=["deep", "many", "large"],
)
def test_depth_number_and_size_are_bounded(text, message, monkeypatch):
    monkeypatch.setattr("zveno.model.urdf.MAX_ELEMENTS", 1000)
    monkeypatch.setattr("zveno.model.urdf.MAX_BYTES", 2**20)
    with pytest.raises(zv.ModelError, match=message):
        zv.Chain.from_urdf(text)


def test_long_texts_do_not_cost_more_than_their_length():
    start = time.perf_counter()
    text = robot("<gazebo>" + "x\n" * 4_000_000 + "</gazebo>" + joint("j", "a", "b"), "ab")
    assert load(text).n == 1
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("shape", ["chain", "star"])
def test_thousands_of_links_need_neither_recursion_nor_quadratic_time(shape):
    def build(n):
        names = [f"l{i}" for i in range(n + 1)]
        body = "".join(
            joint(f"j{i}", names[i if shape == "chain" else 0], names[i + 1], inside='<origin xyz="0.1 0 0"/>')
            for i in reversed(range(n))
        )
        start = time.process_time()
        chain = load(robot(body, names))
        return chain, time.process_time() - start

    chain, first = build(1000)
    assert chain.n == 1000
    assert build(4000)[1] < 10 * first + 0.25


def right_angles(angle):
    body = '<inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="l{k}">{body}</link>' for k in range(4))
    joints = "".join(
        f'<joint name="j{k}" type="continuous"><parent link="l{k}"/><child link="l{k + 1}"/>'
        f'<origin xyz="0.2 0 0.3" rpy="{angle} 0 {angle}"/><axis xyz="0 0 1"/></joint>'
        for k in range(3)
    )
    return f'<robot name="square">{links}{joints}</robot>'


@pytest.mark.parametrize(
    ("angle", "options"),
    [("1.57079632679", {}), ("1.5708", {"snap": 1e-5}), ("3.14159265359", {}), ("-1.57079632680", {})],
)
def test_printed_right_angles_are_right_angles(angle, options):
    """Files print pi/2 with as many digits as they like; the zeros behind it must not be lost."""
    chain = load(right_angles(angle), **options)
    for link in chain.links:
        assert set(np.abs(link.rotation).ravel().tolist()) == {0.0, 1.0}


def test_angles_are_snapped_only_as_far_as_allowed():
    for angle, options in (("1.5708", {}), ("1.57079632679", {"snap": 0})):
        rotation = load(right_angles(angle), **options).links[0].rotation
        off = np.abs(rotation)[(np.abs(rotation) > 0) & (np.abs(rotation) < 0.5)]
        assert off.max() == pytest.approx(abs(float(angle) - np.pi / 2), rel=1e-3)
    for snap in (-1, 1.0, "x", True, float("nan")):
        with pytest.raises(ValueError, match=r"snap is .* expected 0 to 0\.1 rad"):
            zv.Chain.from_urdf(right_angles("0"), snap=snap)
