"""Numbers of a chain that are out of proportion, and those that are not."""

import warnings

import numpy as np
import pytest
import zveno as zv
from helpers import urdf_files

MM = 1000.0
ARM = zv.robots.puma560()


def scaled(lengths=1.0, inertias=1.0, coms=None, masses=1.0, arm=ARM):
    """Links of an arm in other units."""
    coms = lengths if coms is None else coms
    changes = (
        {
            "position": link.position * lengths,
            "com": link.com * coms,
            "inertia": link.inertia * inertias,
            "mass": link.mass * masses,
        }
        for link in arm.links
    )
    return [link._with(**change) for link, change in zip(arm.links, changes, strict=True)]


def doubts(links, **options):
    """Suspicions of a chain that its robot has not in SI units."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        chain = zv.Chain(links, **options)
    return [(link, text) for link, text in chain.suspicions if "are expected" in text]


LENGTHS = r"link 'link3': it is 441\.8 m from 'link2' and it weighs 4\.8 kg: m are expected, not mm"
SUSPICIOUS = {
    "all in mm": (lambda: scaled(MM, MM**2), LENGTHS),
    "lengths in mm": (lambda: scaled(MM), LENGTHS),
    "joints in mm, centres of mass in m": (lambda: scaled(MM, coms=1.0), LENGTHS),
    "centres of mass in mm": (
        lambda: scaled(coms=MM),
        r"link 'link2': its com is \d+\.?\d* m away, more than 100 times the longest link: m are expected, not mm",
    ),
    "large coms in mm": (lambda: scaled(coms=4 * MM), r"its com is 2\d\d\.?\d* m away and it weighs 17.4 kg: m are"),
    "inertias in kg mm^2": (
        lambda: scaled(inertias=MM**2),
        r"link 'link2': inertia and mass make a radius of gyration of \d+ m, more than 100 times the longest link: "
        r"kg m\^2 are expected, not kg mm\^2",
    ),
    "inertias in g mm^2": (lambda: scaled(inertias=MM**3), "link 'link2': inertia and mass make a radius of gyration"),
}


@pytest.mark.parametrize(("links", "words"), SUSPICIOUS.values(), ids=SUSPICIOUS)
def test_a_wrong_unit_is_a_suspicion(links, words):
    with pytest.warns(zv.ModelWarning, match=words) as caught:
        chain = zv.Chain(links())
    assert len(caught) == 1 and caught[0].filename == __file__
    assert all(text.startswith(f"link '{link}': ") for link, text in chain.suspicions)
    with pytest.raises(zv.ModelError, match=r"are expected.*\(strict=True\)"):
        zv.Chain(links(), strict=True)
    with pytest.warns(zv.ModelWarning, match=words):
        zv.Chain.from_dict(chain.to_dict())


def test_files_and_tables_in_millimetres_are_suspected():
    with pytest.warns(zv.ModelWarning, match="'link2': it is 500 m from 'link1' and it weighs 5 kg"):
        zv.Chain.from_dh([(0, 400, 300, 0), (0, 0, 250, np.pi)], masses=[8, 5], coms=np.full((2, 3), 100.0))
    inertial = '<inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = '<link name="ground"/>' + "".join(f'<link name="{name}">{inertial}</link>' for name in "ab")
    joints = "".join(
        f'<joint name="{a}{b}" type="continuous"><parent link="{a}"/><child link="{b}"/><origin xyz="0 0 350"/></joint>'
        for a, b in (("ground", "a"), ("a", "b"))
    )
    text = f'<robot name="r">{links}{joints}</robot>'
    with pytest.warns(zv.ModelWarning, match="link 'b': it is 350 m from 'a' and it weighs 3 kg") as caught:
        zv.Chain.from_urdf(text)
    assert "link 'a': it is" not in str(caught[0].message)


def test_relatives_of_a_suspicious_chain_do_not_warn_again():
    with pytest.warns(zv.ModelWarning):
        chain = zv.Chain(scaled(MM))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chain.with_gravity((0, 0, 0))
        chain.with_payload("link6", 100.0)
        chain.with_locked({"link6_joint": 0.0})


def test_robots_are_not_suspected():
    for name in zv.robots.__all__:
        assert not [text for _, text in getattr(zv.robots, name)().suspicions if "are expected" in text], name
    for name in zv.mechanisms.__all__:
        if name != "docking_ring":
            assert not getattr(zv.mechanisms, name)().chain.suspicions


@pytest.mark.parametrize("physical", [True, False])
def test_files_of_robots_are_not_suspected(physical):
    read = 0
    for path in urdf_files(physical).values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", zv.ModelWarning)
            chain = zv.Chain.from_urdf(path)
        assert not [text for _, text in chain.suspicions if "are expected" in text], path
        read += 1
    assert read > 3


def boom(length, density, pieces=1, tip=0.0):
    """A boom of so many kg for each metre, of pieces that hinge on each other, with a body at its tip."""
    one = length / pieces
    links = [
        zv.Link(f"l{i}", axis=(0, 1, 0), position=(one * (i > 0), 0, 0), mass=density * one, com=(one / 2, 0, 0),
                inertia=np.array([0.01, one**2, one**2]) * density * one / 12)
        for i in range(pieces)
    ]  # fmt: skip
    return [*links, zv.Link("tip", joint="fixed", position=(one, 0, 0), mass=tip)]


UNUSUAL = {
    "a mast of 60 m": boom(60.0, 4.8, tip=360.0),
    "sail booms of 30 m": boom(30.0, 0.1),
    "a crane of 200 m": boom(200.0, 500.0),
    "a tether of beads": boom(1000.0, 0.02, 40),
    "the station's arm": boom(17.6, 100.0, 2, 1e5),
    "a spacecraft on a small gimbal": [
        zv.Link("yoke", mass=0.5, com=(0.02, 0, 0)),
        zv.Link("bus", axis=(0, 1, 0), position=(0.05, 0, 0), mass=1e3, inertia=2e4),
    ],
    "a wheel": [zv.Link("wheel", mass=1.0, inertia=100.0)],
    "far from the origin": [
        zv.Link("a", position=(500.0, 200.0, 0), mass=4.0, com=(0.2, 0, 0)),
        zv.Link("b", position=(0.4, 0, 0), mass=2.0, com=(0.2, 0, 0)),
    ],
    "without masses": [zv.Link("a"), zv.Link("b", position=(300.0, 0, 0))],
}


@pytest.mark.parametrize("links", UNUSUAL.values(), ids=UNUSUAL)
def test_what_is_large_or_light_is_not_suspected(links):
    assert doubts(links) == []


def test_numbers_that_overflow_when_they_are_squared_are_compared_quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert doubts([zv.Link("a", mass=1.0, com=(1e90, 0, 0), inertia=1e90)])
