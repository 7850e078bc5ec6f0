"""Steps, nodes and creep of the nominal docking: numbers of the independent reference."""

import numpy as np
import pytest
from zveno import docking

UPS = docking.demo("UPS")
IDSS = docking.Interface.idss_like()
# reference at tolerance 1e-10: first contact and capture, s, largest force and latch force, N
CONTACT, CAPTURE, FORCE, LATCH = 1.00158895, 2.86493988, 1184.786, 435.1133


@pytest.mark.parametrize(
    ("dt", "contact", "capture", "force", "latch", "residual", "evaluations"),
    [
        (4e-3, -5.9e-7, -1.3e-6, 7.7e-7, 7.6e-7, 3.1e-4, 3904),
        (2e-3, -1.7e-9, -2.7e-7, -2.8e-7, -1.6e-6, 2.0e-5, 7768),
        (1e-3, -4.6e-10, 2.5e-8, 4.7e-9, 1.6e-7, 1.4e-6, 15496),
        (5e-4, -1.8e-11, -1e-10, 6.6e-10, -3e-9, 8.6e-8, 30956),
    ],
)
def test_errors_fall_as_those_of_the_reference(dt, contact, capture, force, latch, residual, evaluations):
    d = docking.simulate(UPS, dt=dt, after=1.0, record=1.0)
    assert d.dt == dt
    assert d.t_contact == pytest.approx(CONTACT + contact, abs=1e-8)  # digits printed of the reference
    assert d.t_capture == pytest.approx(CAPTURE + capture, abs=5e-7)
    assert d.peak.force == pytest.approx(FORCE * (1 + force), rel=1e-6)
    assert d.peak.latch == pytest.approx(LATCH * (1 + latch), rel=3e-7)
    assert d.energy_error == pytest.approx(residual, rel=0.03)
    assert d.evaluations == pytest.approx(evaluations, abs=10)


def test_a_step_too_long_for_bumpers_is_halved_to_what_the_reference_needs():
    d = docking.simulate(docking.demo("RSU", "limit"), dt=2e-3, after=1.0, record=1.0)
    assert d.dt == 1e-3  # at 2 ms it loses 12 J
    assert d.energy_error == pytest.approx(1.8e-5, rel=0.03)


@pytest.mark.parametrize(
    ("nodes", "capture", "force", "latch"),
    [((120, 10, 48), 2.8797, 1185.5, 463), ((240, 20, 96), 2.8334, 1145.8, 423)],
)
def test_more_nodes_than_those_of_the_model(nodes, capture, force, latch):
    fine = IDSS.replace(**dict(zip(("edge_nodes", "side_nodes", "face_nodes"), nodes, strict=True)))
    s = UPS.replace(chaser=UPS.chaser.replace(interface=fine), station=UPS.station.replace(interface=fine))
    d = docking.simulate(s, dt=2e-3, after=1.0, record=1.0)
    assert d.t_capture == pytest.approx(capture, abs=5e-5)
    assert d.peak.force == pytest.approx(force, abs=0.05)
    assert d.peak.latch == pytest.approx(latch, abs=0.5)


def test_rates_that_limit_the_step():
    ups, rsu = docking.step_scales(UPS), docking.step_scales(docking.demo("RSU"))
    want = {"stiffness of the faces": 126, "stiffness of the latches": 70, "friction at 1 kN": 216}
    assert {name: round(ups[name]) for name in want} == want
    assert round(ups["legs of the chaser in phase attenuation"]) == 94
    assert round(rsu["legs of the chaser in phase attenuation"]) == 119


def test_regularised_friction_creeps():
    """Half the limit of friction slides at creep_speed / sqrt(3), 2.89 mm/s."""
    load = docking.contact_wrench(IDSS, IDSS, [-1e-3, 0, 0], twist=[0, 5e-3 / np.sqrt(3), 0, 0, 0, 0])
    assert load.force[1] == pytest.approx(-0.5 * docking.Contact().friction * load.force[0], rel=1e-12)
