"""URDF in the C library: the chain of `Chain.from_urdf`, to the last bit, or a code and a sentence with a line."""

import ctypes as ct
import importlib.metadata
import json
import pathlib
import random
import re
import warnings

import numpy as np
import pytest
import zveno as zv
from helpers import TESTS
from zveno.deploy.description import read_rig
from zveno.deploy.library import _loaded

TREE = (TESTS / "data" / "tree.urdf").read_bytes()
ROBOTS = [
    pathlib.Path(str(file.locate()))
    for file in importlib.metadata.distribution("example-robot-data").files
    if file.suffix == ".urdf"
]
TEXT, MODEL = -2, -3  # ZV_ERROR_...


def opened(data):
    """A stepper that C has made, or the code and the sentence."""
    code, message = ct.c_int(), ct.create_string_buffer(400)
    handle = _loaded().zv_rig_create_with(data, len(data), None, ct.byref(code), message, 400)
    if not handle:
        return code.value, message.value.decode()
    _loaded().zv_rig_free(handle)
    stepper = zv.Stepper.__new__(zv.Stepper)
    stepper._open("open", data)
    return stepper


def assert_same(stepper, chain, rng):
    """C's chain against Python's: accelerations, wrench on the base and energy of a state in motion."""
    other = zv.Stepper(chain)
    for each in (stepper, other):
        each.reset(np.concatenate([np.linspace(-1, 1, chain.n), np.linspace(1, 0.5, chain.n)]))
    tau = rng.normal(size=chain.n)
    for _ in range(2):
        assert np.array_equal(stepper.step_array(tau), other.step_array(tau))


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        yield


@pytest.mark.usefixtures("quiet")
def test_robots_of_the_world_have_the_bits_of_python(rng):
    same, told = 0, []
    for path in [*ROBOTS, TESTS / "data" / "tree.urdf", TESTS / "data" / "pendulum.urdf"]:
        data = path.read_bytes()
        stepper = opened(data)
        if isinstance(stepper, tuple):
            assert stepper[0] == MODEL, stepper
            told.append(stepper[1])
            continue
        assert_same(stepper, zv.Chain.from_urdf(data), rng)
        same += 1
    assert same > 50
    reasons = ("a mimic joint", "is negative", "there is no joint", "has no moving joint", "has no <link>")
    assert all(any(reason in text for reason in reasons) for text in told), told


@pytest.mark.usefixtures("quiet")
def test_what_c_takes_of_changed_files_python_takes_too(rng):
    random_ = random.Random(7)
    words = [
        b"1",
        b"-0.5",
        b"0 0 1",
        b"1e-3",
        b"fixed",
        b"prismatic",
        b"&#x41;",
        b"&lt;",
        b"",
        b" 0.1\t",
        b"base",
        b"1.5 ",
    ]
    taken = 0
    for _ in range(250):
        data = TREE
        for _ in range(random_.randint(1, 2)):
            found = random_.choice(list(re.finditer(rb'(?<==")[^"]*(?=")', data)))
            data = data[: found.start()] + random_.choice(words) + data[found.end() :]
        stepper = opened(data)
        if isinstance(stepper, tuple):
            continue
        assert_same(stepper, zv.Chain.from_urdf(data), rng)
        taken += 1
    assert taken > 30


@pytest.mark.usefixtures("quiet")
def test_forms_of_the_same_document_are_the_same_chain(rng):
    text = TREE.decode()
    body = text[text.index("<robot") :]
    for form in (
        body,
        "\n\n \t" + text,
        "\ufeff" + text,
        text.replace("\n", "\r\n"),
        text.replace('"utf-8"', "'UTF-8' standalone='yes'"),
        text.replace("/>", "\n />"),
        body.replace('type="fixed"', "type = 'fixed'"),
        body.replace('"base"', '"&#98;a&#x73;e"'),
        "<?style x?>" + body + "<!-- end -->\n<?more?>\n",
    ):
        stepper = opened(form.encode())
        assert isinstance(stepper, zv.Stepper), (stepper, form[:80])
        assert_same(stepper, zv.Chain.from_urdf(TREE), rng)


ROBOT = '<robot name="r">\n<link name="a"/>\n<link name="b"/>\n{}</robot>'
JOINT = '<joint name="j" type="{}">\n<parent link="a"/>\n<child link="b"/>\n{}</joint>\n'
REVOLUTE = JOINT.format("revolute", "{}")
BACK = '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint>'


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("<robot", TEXT, "not XML: expected '>' at line 1: the text is cut short"),
        ("<robot>\n<a>\n</robot>", TEXT, "</robot> without its beginning at line 3"),
        ("<robot>\n<!-- a -- b --></robot>", TEXT, "expected '>' at line 2"),
        ("<!DOCTYPE robot [<!ENTITY a 'b'>]>\n<robot/>", TEXT, "a document type declaration is not allowed at line 1"),
        ("<robot>&b;</robot>", TEXT, "an unknown entity at line 1"),
        ("<robot>&#0;</robot>", TEXT, "an unknown entity at line 1"),
        ("<robot name='a' name='b'/>", TEXT, "the attribute 'name' stands twice at line 1"),
        ("<robot a='<'/>", TEXT, "'<' in a value"),
        ("<robot/><robot/>", TEXT, "a second root element <robot>"),
        ("<robot/>x", TEXT, "text outside of elements"),
        ("<?xml version='1.0' encoding='utf-16'?><robot/>", TEXT, "the encoding is 'utf-16', expected utf-8"),
        ("<" + "robot><" * 80, TEXT, "nested too deeply"),
        ("<sdf/>", MODEL, "URDF, line 1: the root element is <sdf>, expected <robot>"),
        ("<robot/>", MODEL, "line 1: <robot> has no <link>"),
        (ROBOT.format("<xacro:a/>"), MODEL, "line 4: <xacro:a>: a xacro file, expand it to URDF first"),
        (ROBOT.format(""), MODEL, "line 3: link 'b': not connected"),
        (ROBOT.format('<link name="a"/>'), MODEL, "line 4: link 'a': defined twice"),
        (ROBOT.format(JOINT.format("floating", "")), MODEL, "line 4: joint 'j': floating joints are not supported"),
        (ROBOT.format(JOINT.format("ball", "")), MODEL, "line 4: joint 'j': type=\"ball\" is not a joint type"),
        (ROBOT.format(REVOLUTE.format("<mimic joint='k'/>\n")), MODEL, "line 7: joint 'j': a mimic joint"),
        (ROBOT.format(REVOLUTE.format("<axis xyz='0 1'/>\n")), MODEL, "line 7: joint 'j': <axis xyz=\"0 1\"> is not 3"),
        (ROBOT.format(REVOLUTE.format("<axis xyz='0 1 nan'/>\n")), MODEL, "<axis xyz=\"0 1 nan\"> is not a number"),
        (ROBOT.format(REVOLUTE.format("<axis xyz='0 1 1e999'/>\n")), MODEL, "is too large or small"),
        (ROBOT.format(REVOLUTE.format("<axis/>\n")), MODEL, "line 7: joint 'j': <axis> has no xyz"),
        (ROBOT.format(REVOLUTE.format("<axis xyz='0 0 0'/>\n")), MODEL, "link 'b': joint axis has no direction"),
        (ROBOT.format(REVOLUTE.format("<limit effort='-1'/>\n")), MODEL, "effort is negative"),
        (ROBOT.format(REVOLUTE.format("<origin/><origin xyz='0 0 1'/>\n")), MODEL, "line 7: joint 'j': a second"),
        (ROBOT.format(REVOLUTE.replace('"a"', '"c"')), MODEL, 'line 5: joint \'j\': <parent link="c"> is not a link'),
        (ROBOT.format(2 * REVOLUTE.format("")), MODEL, "joint 'j': defined twice"),
        (ROBOT.format(REVOLUTE.format("") + REVOLUTE.format("").replace('"j"', '"k"')), MODEL, "has two parents"),
        (
            ROBOT.format(REVOLUTE.format("") + BACK),
            MODEL,
            "line 2: link 'a': is in a cycle of joints",
        ),
        (ROBOT.replace('"b"/>', '"b"><inertial/></link>').format(REVOLUTE.format("")), MODEL, "has no <mass>"),
        (ROBOT.format(REVOLUTE.format("")), -9, "moves no mass"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("quiet")
def test_what_is_wrong_has_a_code_and_a_line(text, code, said):
    found = opened(text.encode())
    assert isinstance(found, tuple)
    assert found[0] == code, found
    assert said in found[1], found
    if "mimic" not in said:  # Python takes it for an independent joint, with a warning
        with pytest.raises(zv.Error):
            zv.Stepper(zv.Chain.from_urdf(text.encode()))


def test_bytes_that_are_no_text_are_refused():
    for data in (
        b"<robot name='\xff'/>",
        b"<robot>\x00</robot>",
        b"<robot>\x1b</robot>",
        b"<",
        b" <",
        b"\xef\xbb\xbf<",
    ):
        found = opened(data)
        assert found[0] == TEXT, found


@pytest.mark.usefixtures("quiet")
def test_a_rig_may_have_urdf_for_its_model(rng, tmp_path):
    chain = zv.Chain.from_urdf(TREE)
    options = {"q": rng.normal(size=chain.n), "laws": zv.laws.SpringDamper(3.0, 0.4), "poses": ["flange"]}
    path = tmp_path / "rig.json"
    zv.save_rig(chain, path, **options)
    data = json.loads(path.read_text())
    data["model"] = TREE.decode()
    path.write_text(json.dumps(data))
    first, second = zv.Stepper.open(path), zv.Stepper(chain, **options)
    again = read_rig(data)
    third = zv.Stepper(again.model, **again.options())
    tau = rng.normal(size=chain.n)
    for _ in range(3):
        outputs = [each.step_array(tau).copy() for each in (first, second, third)]
    assert np.array_equal(outputs[0], outputs[1])
    assert np.array_equal(outputs[0], outputs[2])
    (tmp_path / "tree.urdf").write_bytes(TREE)
    assert zv.Stepper.open(tmp_path / "tree.urdf").period == 1e-3
