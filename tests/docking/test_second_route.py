"""A whole docking by another route: maximal coordinates, velocities as state, nothing shared but the numbers."""

import numpy as np
import pytest
import zveno as zv
from reference import docking as ref
from reference.docking_maximal import Maximal
from zveno import docking


def peak(times, values):
    """Largest value, by a parabola through three samples."""
    k = int(np.argmax(values))
    a, b, c = np.polyfit(times[k - 1 : k + 2] - times[k], values[k - 1 : k + 2], 2)
    return c - b * b / (4 * a)


def test_a_docking_in_maximal_coordinates():
    c = docking.Conditions.from_degrees(0.1, (-0.02, 0.03), (1.2, -0.6), 1.0, (-0.01, -0.02), (-0.03, -0.05, 0.05))
    d = docking.simulate(docking.demo("UPS").replace(conditions=c), dt=1e-3, after=0.5, record=1e-3)
    (pitch, yaw), roll = c.tilt, c.roll
    turns = [zv.orientation.from_rotation_vector(v) for v in ((0, pitch, 0), (0, 0, yaw), (roll, 0, 0))]
    other = Maximal()
    start = other.start(c.closing, c.offset, turns[0] @ turns[1] @ turns[2] @ ref.S, c.lateral, c.rate, d.gap)
    t, force, moment, latch, strokes = (np.array(x) for x in zip(*other.run(start, 3e-3, 0.5), strict=True))
    assert other.gaps(other.last) < 1e-9  # joints hold together
    np.testing.assert_allclose(d.latch_times, [other.closed[j][0] for j in range(3)], rtol=1e-6)
    assert d.t_capture == pytest.approx(other.capture, rel=1e-6)
    found = {
        "axial": np.abs(force[:, 0]),
        "shear": np.hypot(force[:, 1], force[:, 2]),
        "force": np.linalg.norm(force, axis=1),
        "torsion": np.abs(moment[:, 0]),
        "bending": np.hypot(moment[:, 1], moment[:, 2]),
        "latch": latch,
    }
    for name, values in found.items():
        assert getattr(d.peak, name) == pytest.approx(peak(t, values), rel=1e-4), name
    assert d.stroke_min == pytest.approx(-peak(t, -strokes.min(axis=1)), rel=1e-5)
    # at the end, where both are
    np.testing.assert_allclose(d.history.load[-1], np.concatenate([force[-1], moment[-1]]), rtol=2e-5, atol=1e-3)
    np.testing.assert_allclose(d.history.stroke_a[-1], strokes[-1], atol=1e-8)
