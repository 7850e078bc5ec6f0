"""Dockings of the demo vehicles against an independent implementation: times, loads, strokes, energies, momenta."""

import numpy as np
import pytest
from zveno import docking

# independent reference (DOP853, relative tolerance 1e-10); latches are counted from the petal at 30 degrees
CASES = {
    ("UPS", "aligned"): {
        "contact": 2.38986138, "latches": (1.9, 1.9, 1.9), "capture": 1.9,
        "peaks": {"axial": 545.6536, "shear": 0, "force": 545.6536, "torsion": 0, "bending": 0, "latch": 180.8461,
                  "leg": 122.4231},
        "strokes": (-0.03709198, 0.0),
        "work": (-0.02037631, 0, -4.036633, -25.13538),
        "energy": (38.6688, 9.476406), "P": (467.9130, 0, 0), "g": (-0.25998, 0, 0),
    },
    ("UPS", "nominal"): {
        "contact": 1.00158895, "latches": (2.80973014, 2.81117319, 2.86493988), "capture": 2.86493988,
        "peaks": {"axial": 1096.685, "shear": 448.4464, "force": 1184.786, "torsion": 362.4546, "bending": 382.5079,
                  "latch": 435.1133, "leg": 976.5592},
        "strokes": (-0.1385728, 0.0225900),
        "work": (-0.06776980, -1.102972, 2.314965, -32.09516),
        "energy": (437.8883463, 406.937406), "P": (149.5409, 131.9198, 172.2993), "g": (-0.19474, -0.034892, -0.36644),
    },
    ("UPS", "limit"): {
        "contact": 0.45487029, "latches": (5.89148613, 6.05887844, 6.03947902), "capture": 6.05887844,
        "peaks": {"axial": 1090.617, "shear": 904.7764, "force": 1416.435, "torsion": 368.2951, "bending": 334.1238,
                  "latch": 275.2447, "leg": 1050.868},
        "strokes": (-0.1392415, 0.0119447),
        "work": (-3.581515, -13.22457, 2.236083, -41.28351),
        "energy": (1788.92678, 1733.073264), "P": (-239.3067, 78.23025, 53.45808), "g": (0.27280, 0.020351, 0.078233),
    },
    ("RSU", "aligned"): {
        "contact": 2.39781360, "latches": (1.9, 1.9, 1.9), "capture": 1.9,
        "peaks": {"axial": 528.2805, "shear": 0, "force": 528.2805, "torsion": 0, "bending": 0, "latch": 176.0935,
                  "leg": 23.11012},
        "strokes": (-0.1926485, 0.0),
        "work": (-0.01931018, 0, -3.914968, -24.73746),
        "energy": (38.6208, 9.949065), "P": (480.3719, 0, 0), "g": (-0.25542, 0, 0),
    },
    ("RSU", "nominal"): {
        "contact": 1.00158895, "latches": (2.29376850, 2.28320928, 2.16684603), "capture": 2.29376850,
        "peaks": {"axial": 492.3248, "shear": 119.2511, "force": 500.8518, "torsion": 63.60057, "bending": 60.12759,
                  "latch": 172.6986, "leg": 32.08809},
        "strokes": (-0.4879882, 0.121233),
        "work": (-0.08596215, -0.1959042, -3.244680, -22.06124),
        "energy": (437.8403463, 412.252562), "P": (506.8247, -69.37196, -8.342222),
        "g": (-0.22612, 0.011937, 0.0052518),
    },
    ("RSU", "limit"): {
        "contact": 0.45487029, "latches": (2.69329487, 2.60930027, 2.75643477), "capture": 2.75643477,
        "peaks": {"axial": 3032.413, "shear": 1238.165, "force": 3267.146, "torsion": 936.2410, "bending": 1571.246,
                  "latch": 908.2608, "leg": 417.4005},
        "strokes": (-0.9390211, 0.270939),
        "work": (-1.086804, -3.764417, 11.28094, -53.31609),
        "energy": (1788.85178, 1741.965417), "P": (-428.3473, -0.4558687, 226.0384), "g": (0.092987, 1.0275, 0.59743),
    },
}  # fmt: skip


@pytest.mark.parametrize(("kind", "case"), CASES)
def test_cases_agree_with_the_independent_reference(kind, case):
    want = CASES[kind, case]
    d = docking.simulate(docking.demo(kind, case), dt=1e-3, after=1.0, record=0.1)
    assert d.status == "captured"
    assert d.t_contact == pytest.approx(want["contact"], rel=1e-6)
    np.testing.assert_allclose(d.latch_times, want["latches"], rtol=1e-6)
    assert d.t_capture == pytest.approx(want["capture"], rel=1e-6)
    for name, value in want["peaks"].items():
        rel = 1e-4 if (name, kind, case) == ("latch", "UPS", "limit") else 1e-5
        assert getattr(d.peak, name) == pytest.approx(value, rel=rel, abs=1e-5), name
    assert d.stroke_min == pytest.approx(want["strokes"][0], rel=1e-5)
    assert d.stroke_max == pytest.approx(want["strokes"][1], rel=1e-5, abs=1e-9)
    np.testing.assert_allclose(d.work[:4], want["work"], rtol=2e-5, atol=1e-9)
    assert d.work.external == 0
    np.testing.assert_allclose((d.energy_start, d.energy_end), want["energy"], rtol=1e-7)
    np.testing.assert_allclose(d.state_a["P"], want["P"], rtol=2e-5, atol=1e-5)
    gap = d.misalignment[:3]
    # a latch point's gap is that of the ports where the rings are nearly parallel
    assert gap == pytest.approx(np.array(want["g"]) * 1e-3, rel=2e-3, abs=2e-5)
    assert d.momentum_error < 1e-9
    assert d.angular_momentum_error < 1e-7
    assert abs(d.energy_error) < 1e-4
