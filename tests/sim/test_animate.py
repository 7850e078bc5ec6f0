"""Moving pictures of simulations: what is drawn is where the mechanism is."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import zveno as zv
from zveno.plot.motion import moving_picture

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def swing():
    return zv.robots.two_link().simulate(1.0, 1e-2, q=[0.5, 0.0])


def moving(path):
    """Points of every line that moves, (states, points, 2) px."""
    found = []
    for animate in ET.parse(path).getroot().iter(f"{SVG}animate"):
        if animate.get("attributeName") == "points":
            states = [[pair.split(",") for pair in state.split()] for state in animate.get("values").split(";")]
            found.append(np.array(states, dtype=float))
    return found


def test_the_end_of_a_line_follows_the_tip_of_the_arm(swing, tmp_path):
    swing.animate(tmp_path / "swing.svg")
    lines = moving(tmp_path / "swing.svg")
    q = swing.q[np.abs(swing.t[:, None] - np.linspace(0, 1, len(lines[0]))).argmin(axis=0)]
    tip = list(swing.chain.poses(q).values())[-1][:, :3, 3]
    A = np.column_stack([tip, np.ones(len(tip))])  # pictures without perspective are affine
    off = [np.abs(A @ np.linalg.lstsq(A, x[:, -1], rcond=None)[0] - x[:, -1]).max() for x in lines]
    assert min(off) < 0.1  # px, a point is written to a tenth
    assert max(off) > 10  # another link is not where the tip is


@pytest.mark.parametrize("kind", ["UPS", "RSU"])
def test_ring_hinges_meet_the_legs_on_the_picture(kind, tmp_path):
    ring = zv.mechanisms.docking_ring(kind)
    sim = ring.simulate(0.4, 1e-3, u=[0, 0.2, 0.1, 0.3, 0, 0.1], laws=zv.laws.SpringDamper(4000.0, 300.0))
    sim.animate(tmp_path / "ring.svg", speed=0.5)
    lines = moving(tmp_path / "ring.svg")
    outline = lines[-1]
    rods = [x for x in lines[:-1] if x.shape[1] == 2]
    assert outline.shape[1] > 100 and len(rods) >= 6
    gaps = [np.linalg.norm(outline - rod[:, -1:], axis=-1).min(axis=1).max() for rod in rods]
    assert sorted(gaps)[5] < 12  # px: hinges stand between points of the circle


def test_a_page_plays_by_itself_and_loads_nothing(swing, tmp_path):
    swing.animate(tmp_path / "swing.html", speed=2.0)
    text = (tmp_path / "swing.html").read_text()
    assert 'dur="0.5s"' in text and "<svg" in text and "setCurrentTime" in text
    assert not re.search(r'(src|href)="', text)


@pytest.mark.parametrize(
    ("path", "options", "error", "words"),
    [
        ("swing.gif", {}, ValueError, r"path is .*, expected a name that ends in \.html or \.svg"),
        ("swing.svg", {"speed": 0.0}, ValueError, "speed is 0, expected a number > 0"),
        ("swing.svg", {"speed": float("nan")}, ValueError, "speed is nan"),
        (3, {}, TypeError, "path is 3, expected a path"),
    ],
)
def test_wrong_arguments(swing, tmp_path, path, options, error, words):
    with pytest.raises(error, match="Simulation.animate: " + words):
        swing.animate(tmp_path / path if isinstance(path, str) else path, **options)
    assert not list(tmp_path.iterdir())


def test_a_record_without_motion_is_refused():
    class Still:
        t = np.zeros(1)

        def __len__(self):
            return 1

    with pytest.raises(ValueError, match=r"the record has 1 state\(s\) and covers 0 s, expected a motion"):
        moving_picture(Still())
