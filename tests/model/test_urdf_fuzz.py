"""Whatever bytes arrive, the reader answers with a chain or a `ModelError`. Deterministic."""

import importlib.metadata
import pathlib
import random
import re
import warnings

import helpers
import pytest
import zveno as zv
from hypothesis import given, settings
from hypothesis import strategies as st

DATA = pathlib.Path(__file__).parents[1] / "data"
WILD = {
    pathlib.Path(file).stem: pathlib.Path(str(file.locate()))
    for file in importlib.metadata.distribution("example-robot-data").files
    if file.suffix == ".urdf"
}
SEEDS = [*sorted(DATA.glob("*.urdf")), WILD["panda"], WILD["ur5_robot"], WILD["double_pendulum"]]
TOKENS = [b"nan", b"-1", b"1e999", b"", b"<", b">", b'"', b"&", b"&amp;", b"&#0;", b"\x00", b"\xff", b"\xef\xbb\xbf",
          b"<!DOCTYPE a [", b"<!ENTITY b 'c'>", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"<?xml?>", b"<link name='a'/>",
          b"<joint/>", b"floating", b"fixed", b"revolute", b"1e308", b"-1e308", b"5e-324", b"0 0 0"]  # fmt: skip


def check_outcome(source):
    """A chain that works or a ModelError with a message; anything else is a failure of the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", zv.ModelWarning)
        try:
            chain = zv.Chain.from_urdf(source, friction=True)
        except zv.ModelError as error:
            assert str(error) and isinstance(error, zv.Error)
            return
        assert chain.n > 0 and zv.Chain.from_dict(chain.to_dict()) == chain


def mutate(data, rng):
    """One to four edits: flip, delete, double, swap or insert bytes, or replace a number, a name or a tag."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, to = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        to = min(to, at + rng.choice([1, 4, 40, 400]))
        match rng.randrange(7):
            case 0 if at < len(data):
                data[at] = rng.randrange(256)
            case 1:
                del data[at:to]
            case 2:
                data[at:at] = data[at:to]
            case 3:
                data[at:to] = rng.choice(TOKENS)
            case 4:
                data = data[:at]
            case 5 | 6:
                words = list(re.finditer(rb'(?<=")[^"]*(?=")', data))
                if words:
                    word, other = rng.choice(words), rng.choice(words)
                    data[slice(*word.span())] = rng.choice([*TOKENS, other[0]])
        if not data:
            break
    return bytes(data)


@pytest.mark.parametrize("path", SEEDS, ids=lambda p: p.stem)
def test_mutated_files_are_a_chain_or_a_model_error(path):
    data = re.sub(rb"<!--.*?-->|<(visual|collision)\b.*?</\1>", b"", path.read_bytes(), flags=re.DOTALL)
    rng = random.Random(path.stem)
    for _ in range(1500 if len(data) < 8000 else 400):
        check_outcome(mutate(data, rng))


@pytest.mark.parametrize("path", SEEDS, ids=lambda p: p.stem)
def test_truncated_files_are_a_model_error(path):
    data = path.read_bytes().rstrip()
    for end in range(0, len(data), max(1, len(data) // 200)):
        with pytest.raises(zv.ModelError):
            zv.Chain.from_urdf(data[:end])


names = st.sampled_from(["a", "b", "c", "", "world", "é", "a'b", "<"])
words = st.sampled_from(["0", "1", "-1", "0 0 1", "1 0 0", "0 0 0", "nan", "x", "", "1e308", "-1e308", "1e-320", "1 2"])
tags = st.sampled_from(
    ["link", "joint", "inertial", "origin", "mass", "inertia", "parent", "child", "axis", "limit", "dynamics", "mimic",
     "transmission", "mechanicalReduction", "gazebo", "visual", "xacro:x", "robot"]
)  # fmt: skip
keys = st.sampled_from(
    ["name", "type", "link", "xyz", "rpy", "value", "lower", "upper", "effort", "velocity", "damping", "friction",
     "ixx", "ixy", "ixz", "iyy", "iyz", "izz"]
)  # fmt: skip
kinds = st.sampled_from(["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "ball"])


def quoted(text):
    return '"' + text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;") + '"'


def element(tag, attributes, children):
    return f"<{tag} {' '.join(f'{k}={quoted(v)}' for k, v in attributes.items())}>{''.join(children)}</{tag}>"


anything = st.recursive(
    st.builds(element, tags, st.dictionaries(keys, names | words | kinds, max_size=3), st.just([])),
    lambda inner: st.builds(
        element, tags, st.dictionaries(keys, names | words | kinds, max_size=3), st.lists(inner, max_size=4)
    ),
    max_leaves=12,
)
inertials = st.builds(
    lambda mass, moments, xyz: element(
        "inertial",
        {},
        [
            element("mass", {"value": mass}, []),
            element("origin", {"xyz": xyz, "rpy": xyz}, []),
            element("inertia", dict(zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), moments, strict=True)), []),
        ],
    ),
    words,
    st.lists(words, min_size=6, max_size=6),
    words,
)
links = st.builds(lambda name, inside: element("link", {"name": name}, inside), names, st.lists(inertials, max_size=1))
joints = st.builds(
    lambda name, kind, parent, child, inside: element(
        "joint",
        {"name": name, "type": kind},
        [element("parent", {"link": parent}, []), element("child", {"link": child}, []), *inside],
    ),
    names, kinds, names, names, st.lists(anything, max_size=2),
)  # fmt: skip
robots = st.builds(
    lambda inside: element("robot", {"name": "r"}, inside), st.lists(links | joints | anything, max_size=8)
)


@settings(derandomize=True, database=None, max_examples=100, deadline=None)
@given(robots)
def test_well_formed_nonsense_is_a_chain_or_a_model_error(text):
    check_outcome(text)


@settings(derandomize=True, database=None, max_examples=250, deadline=None)
@given(st.binary(max_size=200) | helpers.texts(max_size=100).map(lambda t: "<" + t) | anything)
def test_any_text_is_a_chain_or_a_model_error(source):
    check_outcome(source)
