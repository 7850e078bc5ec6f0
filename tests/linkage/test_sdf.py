"""SDF files with loops: the mechanisms of the known numbers, written with frames that stand anywhere."""

import numpy as np
import pytest
import zveno as zv
from engines import closed_mechanisms as known
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

STATES = {
    "four_bar": ((0.8, -0.2, 1.6), (0.5, 0.0, 0.0)),
    "slider_crank": ((0.7, -0.8, 0.7), (2.0, 0.0, -30.0)),
    "bennett": ((1.1, 2.75, -1.1), (0.4, 0.0, 0.0)),
    "rssr": ((0.6, 0.05, -0.43, 0.3, 1.06), (1.0, 0, 0, 0, 0.2)),
    "peaucellier": ((0.6, 0.45, -1.05, 0.58, 0.02, -1.02, 1.02), (0.3, 0, 0, 0, 0, 0, 0)),
}
TYPES = {"revolute": "revolute", "spherical": "ball"}


def pose_of(T, relative_to=None, tag="pose"):
    # SDF turns by roll, pitch and yaw about fixed axes
    numbers = [*T[:3, 3], *Rotation.from_matrix(T[:3, :3]).as_euler("xyz")]
    where = f' relative_to="{relative_to}"' if relative_to else ""
    return f"<{tag}{where}>{' '.join(map(repr, map(float, numbers)))}</{tag}>"


def shift(R=None, p=(0, 0, 0)):
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.eye(3) if R is None else R, p
    return T


def written(linkage, q, rng):
    """The mechanism at q as SDF text; every link frame moved by a random pose, and these poses."""
    chain, moved, parts = linkage.chain, {}, []
    poses = {"base": np.eye(4), **chain.poses(q)}
    for link in chain.links:
        moved[link.name] = shift(Rotation.random(random_state=rng).as_matrix(), rng.uniform(-0.3, 0.3, 3))
        here = poses[link.name] @ moved[link.name]
        R, p = moved[link.name][:3, :3], moved[link.name][:3, 3]
        inertia = R.T @ link.inertia @ R
        entries = [("xx", 0, 0), ("yy", 1, 1), ("zz", 2, 2), ("xy", 0, 1), ("xz", 0, 2), ("yz", 1, 2)]
        numbers = "".join(f"<i{key}>{float(inertia[i, j])!r}</i{key}>" for key, i, j in entries)
        com = pose_of(shift(p=R.T @ (link.com - p)))
        parts.append(f'<link name="{link.name}">{pose_of(here)}<inertial><mass>{link.mass}</mass>{com}'
                     f"<inertia>{numbers}</inertia></inertial><visual name='v'/></link>")  # fmt: skip
        joint = {"revolute": "continuous", "prismatic": "prismatic"}[link.joint]
        axis = " ".join(map(repr, (float(x) for x in R.T @ link.axis)))
        # the joint's frame stands at the old origin, with axes of the child
        at = pose_of(shift(p=-R.T @ p), link.name if rng.random() < 0.5 else None)
        parent = "world" if link.parent == "base" else link.parent
        head = f'<joint name="{link.joint_name}" type="{joint}"><parent>{parent}</parent>'
        parts.append(f"{head}<child>{link.name}</child>{at}<axis><xyz>{axis}</xyz></axis></joint>")
    rng.shuffle(parts)
    for loop in linkage.constraints:  # of joints that could carry a link the first one does
        b = poses[loop.b]
        at = shift(b[:3, :3] @ loop.rotation_b, b[:3, 3] + b[:3, :3] @ loop.point_b)
        a, b = ("world" if x == "base" else x for x in (loop.a, loop.b))
        head = f'<frame name="at {loop.name}">{pose_of(at)}</frame><joint name="{loop.name}" type="{TYPES[loop.kind]}">'
        ends = f"<parent>{a}</parent><child>{b}</child>"
        place = f'<pose relative_to="at {loop.name}">0 0 0 0 0 0</pose>'
        parts.append(f"{head}{ends}{place}<axis><xyz>0 0 1</xyz></axis></joint>")
    gravity = " ".join(map(repr, map(float, chain.gravity)))
    text = "".join(parts)
    return (
        f'<sdf version="1.9"><world name="w"><gravity>{gravity}</gravity><model name="m">{text}</model></world></sdf>',
        moved,
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(STATES)))
def test_mechanisms_survive_an_sdf_file(seed, name):
    rng = np.random.default_rng(seed)
    linkage = getattr(known, name)()
    guess, tau = STATES[name]
    q = linkage.close(guess)
    qd = linkage.project_velocity(q, rng.normal(size=linkage.n))
    # a loop with the base as child is turned round: the world is carried by nothing
    text, moved = written(linkage, q, rng)
    read = zv.Linkage.from_sdf(text)
    assert {x.name for x in read.constraints} == {x.name for x in linkage.constraints}
    order = [linkage.joint_names.index(joint) for joint in read.joint_names]
    zero = np.zeros(read.n)
    assert np.abs(read.residual(zero)).max() < 1e-12
    mine = linkage.forward_dynamics(q, qd, tau)
    theirs = read.forward_dynamics(zero, qd[order], np.asarray(tau)[order])
    assert np.abs(theirs.qdd - mine.qdd[order]).max() < 1e-8 * (1 + np.abs(mine.qdd).max())
    for k, loop in enumerate(linkage.constraints):
        at = [x.name for x in read.constraints].index(loop.name)
        R = moved[loop.b][:3, :3] if loop.b != "base" else np.eye(3)
        force = mine.loop_reaction[k, :3] @ R
        if mine.loop_unique[k, :3].all():
            assert np.abs(theirs.loop_reaction[at, :3] - force).max() < 1e-8 * (1 + np.abs(force).max())


BODY = '<link name="{}"><inertial><mass>1</mass></inertial></link>'
ON_WORLD = '<joint name="j" type="revolute"><parent>world</parent><child>a</child></joint>'
JOINT = '<joint name="{}" type="{}"><parent>{}</parent><child>{}</child><axis><xyz>0 0 1</xyz>{}</axis></joint>'


def model(*parts):
    return f'<sdf version="1.9"><model name="m">{"".join(parts)}</model></sdf>'


def test_mimics_limits_welds_and_damping_are_read():
    limits = "<limit><lower>-1</lower><upper>2</upper></limit><dynamics><damping>0.3</damping></dynamics>"
    mimic = '<mimic joint="one"><multiplier>2</multiplier><offset>0.1</offset><reference>0.5</reference></mimic>'
    text = model(
        BODY.format("a"), BODY.format("b"), JOINT.format("one", "revolute", "world", "a", limits),
        JOINT.format("two", "revolute", "world", "b", mimic), JOINT.format("held", "fixed", "a", "b", ""),
    )  # fmt: skip
    read = zv.Linkage.from_sdf(text, gravity=(0, 0, 0), friction=True)
    assert read.joint_names == ("one", "two")
    assert (read.chain.links[0].lower, read.chain.links[0].upper, read.chain.links[0].friction) == (-1, 2, 0.3)
    assert [x.kind for x in read.constraints] == ["weld", "coupling"]
    # two = 2 (one - 0.5) + 0.1, and the weld: two = one
    assert read.residual([0.9, 0.9])[-1] == pytest.approx(0.0, abs=1e-15)
    assert read.close([0.5, 0.5]) == pytest.approx([0.9, 0.9])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot/>", "the root element is <robot>, expected <sdf>"),
        ('<sdf version="1.9"/>', "has 0 models, expected one"),
        (model(BODY.format("a"), JOINT.format("j", "revolute", "world", "aa", "")), "no link 'aa'; did you mean 'a'"),
        (model(BODY.format("a"), JOINT.format("j", "screw", "world", "a", "")), "is of type 'screw', expected one of"),
        (model(BODY.format("a"), BODY.format("b")), "links 'b' hang on nothing"),
        (model('<link name="a"><pose>1 2 3</pose></link>', ON_WORLD), "<pose> is '1 2 3', expected 6 numbers"),
        (model('<link name="a"><pose relative_to="b"/></link>', ON_WORLD), "<pose> is '', expected 6 numbers"),
        (model('<link name="a"><pose relative_to="c">0 0 0 0 0 0</pose></link>', BODY.format("b"),
               JOINT.format("j", "revolute", "a", "b", "")), "no frame 'c'"),
        (model('<link name="a"><pose relative_to="b">0 0 0 0 0 0</pose></link>',
               '<link name="b"><pose relative_to="a">0 0 0 0 0 0</pose></link>',
               JOINT.format("j", "revolute", "a", "b", "")), "are relative to each other"),
        (model("<model name='n'/>"), "<model> inside a model is not read"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(text, message):
    with pytest.raises(zv.errors.ModelError, match=message) as error:
        zv.Linkage.from_sdf(text)
    assert "from_urdf" not in str(error.value)


def test_sources_that_are_none():
    with pytest.raises(TypeError, match="from_sdf: source is a int"):
        zv.Linkage.from_sdf(3)
