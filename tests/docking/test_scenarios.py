"""Scenarios as plain data, results in other forms, and what is refused."""

import json
import math
import tomllib

import numpy as np
import pytest
import zveno as zv
from zveno import docking

DEMO = docking.demo("UPS", "nominal")
IDSS = docking.Interface.idss_like()
HEAVY = zv.mechanisms.docking_ring("UPS", gravity=(0, 0, -9.8))


@pytest.fixture(scope="module")
def run():
    return docking.simulate(DEMO, dt=2e-3, after=0.2, record=0.02)


@pytest.mark.parametrize("kind", ["UPS", "RSU"])
def test_scenarios_survive_toml_and_json(kind, tmp_path):
    law = zv.laws.SpringDamper(350.0, 70.0) + zv.laws.SlipClutch(
        90.0, zv.laws.Servo(10.0, 1.0, zv.laws.Ramp(0.1, 0.02))
    )
    s = docking.demo(kind, "limit", both=True).replace(
        phases=docking.Phases(ready=law, alignment=docking.Move(0.0, 0.01, 100.0, 10.0, 1e-3)),
        latches=docking.Latches(need=2, break_force=900.0),
        thrust=(docking.Thrust((1, 2, 3), at=0.5), docking.Thrust(at="capture", vehicle="b")),
        attitude_hold=docking.AttitudeHold(1e3, 1e4, limit=20.0),
        contact=docking.Contact(exponent=1.5, range=0.05),
    )
    for name in ("s.toml", "s.json"):
        s.save(tmp_path / name)
        again = docking.Scenario.load(tmp_path / name)
        assert again == s and again.hash == s.hash
    assert tomllib.loads(s.to_toml()) == json.loads((tmp_path / "s.json").read_text())
    assert s.hash != s.replace(latches=docking.Latches()).hash


def test_a_ring_of_ones_own_survives_too(tmp_path):
    ring = zv.mechanisms.docking_ring("UPS")
    own = zv.Hexapod(zv.Body(50.0, (16, 9, 9)), ring.legs, nominal=ring.nominal, name="own")
    s = DEMO.replace(chaser=DEMO.chaser.replace(ring=own))
    s.save(tmp_path / "s.toml")
    again = docking.Scenario.load(tmp_path / "s.toml")
    assert again.chaser.ring == own and again == s


def test_defaults_are_the_demo():
    s = docking.Scenario(
        docking.Vehicle(zv.Body(12e3, (22e3, 70e3, 70e3), com=(-3.5, 0, 0)), zv.mechanisms.docking_ring("UPS")),
        docking.Vehicle(zv.Body(350e3, (5e7, 1e8, 1e8), com=(-15, 0, 0))),
        docking.Conditions(0.08, gap=0.16),
    )
    want = docking.simulate(docking.demo("UPS", "aligned"), 0.5, dt=4e-3)
    assert docking.simulate(s, 0.5, dt=4e-3).energy_start == want.energy_start


def test_results_in_other_forms(run, tmp_path):
    data = json.loads(run.to_json(str(tmp_path / "d.json")))
    assert data["status"] == "captured" and data["t_capture"] == run.t_capture
    assert json.loads((tmp_path / "d.json").read_text()) == data
    frame = run.to_pandas()
    np.testing.assert_array_equal(frame["load.0"], run.history.load[:, 0])
    assert frame.index.name == "t"
    dataset = run.to_xarray()
    assert dataset["load"].attrs["units"] == "N, N m" and dataset.attrs["status"] == "captured"
    parquet = pytest.importorskip("pyarrow.parquet")
    run.to_parquet(str(tmp_path / "d.parquet"))
    table = parquet.read_table(tmp_path / "d.parquet")
    np.testing.assert_array_equal(table["t"].to_numpy(), run.history.t)
    text = str(run)
    assert "captured" in text and "peak shear" in text


def test_histories_are_consistent(run):
    h = run.history
    assert h.t[0] == 0 and h.t[-1] == run.t_end
    assert np.diff(h.t).min() > 0
    np.testing.assert_allclose(h.kinetic_energy - h.kinetic_energy[0] - h.work.sum(axis=1), h.energy_error, atol=1e-9)
    np.testing.assert_allclose(h.momentum - h.momentum[0], 0, atol=1e-8)
    assert np.abs(h.load[:, 0]).max() <= run.peak.axial * (1 + 1e-12)
    assert h.stroke_a.min() >= run.stroke_min - 1e-12
    assert (np.diff(h.phase) >= 0).all() and h.phase[-1] == 1
    # the load on the base of a rigid port is that of the interface
    np.testing.assert_allclose(
        np.linalg.norm(h.base_load_b[:, :3], axis=1), np.linalg.norm(h.load[:, :3], axis=1), atol=1e-9
    )
    # rates of the recorded strokes
    middle = slice(20, -20)
    rate = np.gradient(h.stroke_a, h.t, axis=0)[middle]
    np.testing.assert_allclose(rate, h.stroke_rate_a[middle], atol=2e-2)
    with pytest.raises(AttributeError, match="did you mean 'stroke_a'"):
        _ = h.strokes_a


def test_pictures(run, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    figure = run.plot()
    assert len(figure.axes) == 6
    run.animate(str(tmp_path / "d.html"), speed=2.0)
    run.animate(str(tmp_path / "d.svg"))
    assert "<animate" in (tmp_path / "d.svg").read_text()
    with pytest.raises(ValueError, match=r"ends in \.html or \.svg"):
        run.animate(str(tmp_path / "d.gif"))


BAD = [
    (lambda: docking.Interface(tip_radius=0.6), "petals lean inwards"),
    (lambda: docking.Interface(inward=False), "petals lean outwards"),
    (lambda: docking.Interface(root_half_angle=1.2), "overlap one another"),
    (lambda: docking.Interface(petals=0), "petals is 0"),
    (lambda: docking.Interface(height=-1), "height is -1"),
    (lambda: docking.Interface(fillet=0.2), "fillet is 0.2"),
    (lambda: docking.Conditions(closing="fast"), "closing is 'fast'"),
    (lambda: docking.Conditions(offset=(1, 2, 3)), "offset has shape"),
    (lambda: docking.Conditions(roll=30.0), "roll is 30"),
    (lambda: docking.Conditions(gap=math.nan), "gap is nan"),
    (lambda: docking.Conditions(offset=(50.0, 20.0)), r"offset is \(50.0, 20.0\), expected at most 10 in size"),
    (lambda: docking.Conditions(rate=(0.0, 20.0, 0.0)), "rate is .*, expected at most 3.142 in size"),
    (lambda: docking.Interface(root_radius=555.0, tip_radius=440.0), "root_radius is 555, expected at most 20 in size"),
    (lambda: docking.Interface(first_angle=30.0), "first_angle is 30, expected at most 6.283 in size"),
    (lambda: docking.Latches(axial_gap=8.0), "axial_gap is 8, expected at most 1 in size"),
    (lambda: docking.run_batch(DEMO, [DEMO.conditions], factors=[1.0]), r"factors is \[1.0\], expected a mapping"),
    (lambda: docking.Contact(exponent=2), "exponent is 2"),
    (lambda: docking.Contact(friction=-0.1), "friction is -0.1"),
    (lambda: docking.Contact.for_restitution(1.5, 0.1), "e is 1.5"),
    (lambda: docking.Latches(need=0), "need is 0"),
    (lambda: docking.Phases(sequence=("attenuation",)), "sequence is"),
    (lambda: docking.Phases(sequence=("ready", "retraction", "alignment")), "sequence is"),
    (lambda: docking.Phases(ready=3.0), "ready is 3.0"),
    (lambda: docking.Thrust(at="later"), "at is 'later'"),
    (lambda: docking.Thrust(vehicle="c"), "vehicle is 'c'"),
    (lambda: docking.AttitudeHold(period=0), "period is 0"),
    (lambda: docking.Vehicle(None), "body is None"),
    (lambda: docking.Vehicle(zv.Body(1.0, (1, 1, 1)), ring=3), "ring is 3"),
    (lambda: docking.Vehicle(zv.Body(1.0, (1, 1, 1)), HEAVY), "gravity"),
    (lambda: docking.Scenario(DEMO.chaser, None), "station is None"),
    (lambda: DEMO.replace(latches=docking.Latches(need=4)), "need is 4"),
    (lambda: DEMO.replace(thrust=[1]), "thrust is"),
    (lambda: DEMO.replace(chasers=1), "did you mean 'chaser'"),
    (lambda: docking.demo("UPS", "easy"), "case is 'easy'"),
    (lambda: docking.Scenario.from_dict({**DEMO.to_dict(), "latchs": {}}), "'latchs'; did you mean 'latches'"),
    (lambda: docking.Scenario.from_dict({"chaser": {}}), "'station' is missing"),
    (lambda: docking.Scenario.from_dict([]), r"got \[\]"),
    (lambda: docking.Phases.from_dict({"ready": {"kind": "Spring"}}), "unknown law 'Spring'"),
    (lambda: docking.Phases.from_dict({"ready": {"kind": "SpringDamper", "k": 1}}), "unknown key 'k' of SpringDamper"),
    (lambda: docking.simulate(DEMO, t_end=-1), "t_end is -1"),
    (lambda: docking.simulate(DEMO, dt="fast"), "dt is 'fast'"),
    (lambda: docking.simulate(DEMO, dt=0), "dt is 0"),
    (lambda: docking.simulate(DEMO, after=-1.0), "after is -1"),
    (lambda: docking.simulate(DEMO, record=0), "record is 0"),
    (lambda: docking.run_batch(DEMO, [[1, 2, 3]]), "conditions has shape"),
    (lambda: docking.run_batch(DEMO, "many"), "conditions is 'many'"),
    (lambda: docking.run_batch(DEMO, [DEMO.conditions], factors={"masses": [1.0]}), "expected some of"),
    (lambda: docking.run_batch(DEMO, [DEMO.conditions], factors={"friction": [-1.0]}), "not positive"),
    (lambda: docking.run_batch(DEMO, [DEMO.conditions], threads=0), "threads is 0"),
    (lambda: docking.contact_wrench(IDSS, None, (0, 0, 0)), "interface_b is None"),
    (lambda: docking.contact_wrench(IDSS, IDSS, (0, 0, 0), np.ones((3, 3))), "no rotation"),
    (
        lambda: docking.simulate(DEMO.replace(attitude_hold=docking.AttitudeHold(1.0, 1.0, period=0.0015)), dt=1e-3),
        "multiple of the step",
    ),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(BAD)))
def test_what_is_wrong_is_named(k):
    call, text = BAD[k]
    with pytest.raises(ValueError, match=text):
        call()


def test_a_scenario_is_needed():
    with pytest.raises(TypeError, match="scenario is 3"):
        docking.simulate(3)


def test_rings_that_touch_at_the_start_are_refused():
    s = DEMO.replace(conditions=DEMO.conditions.replace(gap=0.02))
    with pytest.raises(
        zv.ModelError, match=r"touch at the start: conditions\.gap is 0.02 m, expected more than 0.0615"
    ):
        docking.simulate(s)
    table = docking.run_batch(s, [s.conditions, DEMO.conditions.replace(gap=None)])
    assert docking.STATUS[table["status"][0]] == "touching" and table["status"][1] == 0
    assert math.isnan(table["t_capture"][0])


def test_rings_that_cannot_mate_are_refused():
    wide = docking.Interface(edge_radius=0.53)
    with pytest.raises(zv.ModelError, match="cannot mate: parts are 25 mm inside each other"):
        docking.simulate(DEMO.replace(station=DEMO.station.replace(interface=wide)))
    with pytest.raises(zv.ModelError, match="cannot mate"):
        DEMO.replace(station=DEMO.station.replace(interface=docking.Interface.apas_like()))
    turned = docking.Interface(first_angle=0.0)
    with pytest.raises(zv.ModelError, match="cannot mate"):
        docking.simulate(DEMO.replace(station=DEMO.station.replace(interface=turned)))


def test_steps_that_are_too_long_are_refused_with_the_cause():
    with pytest.raises(zv.StepError, match=r"dt is 0\.01 s, too large for the friction at 1 kN") as error:
        docking.simulate(DEMO, dt=0.01)
    assert error.value.limit < 0.01 and "friction" in error.value.cause
    stiff = DEMO.replace(contact=docking.Contact(face_stiffness=4e7))
    with pytest.raises(zv.StepError, match="stiffness of the faces"):
        docking.simulate(stiff, dt=1e-3)
    assert docking.simulate(stiff, 0.1, dt="auto").dt < 1e-3


def test_contact_out_of_range_is_a_status():
    fast = DEMO.replace(conditions=docking.Conditions(2.0, offset=(0.1, 0.0), gap=0.2))
    d = docking.simulate(fast, 2.0, dt=1e-3)
    assert d.status == "contact_range" and not d.captured
    assert d.penetration > 0.02 and "range" in d.reason
    table = docking.run_batch(fast, [fast.conditions], dt=1e-3)
    assert docking.STATUS[table["status"][0]] == "contact_range" and math.isnan(table["shear"][0])


def test_legs_out_of_reach_are_a_status():
    # nothing holds the ring, and the vehicles rush into each other
    loose = docking.Phases(ready=zv.laws.SpringDamper(1.0), common=zv.laws.DryFriction(0.1, 0.1))
    s = docking.demo("RSU").replace(
        conditions=docking.Conditions(0.5, gap=0.05),
        phases=loose,
        latches=docking.Latches(enabled=False),
        contact=docking.Contact(range=math.inf),
    )
    d = docking.simulate(s, 3.0, dt=2e-3)
    assert d.status == "out_of_reach" and "reach" in d.reason
    assert docking.STATUS[docking.run_batch(s, [s.conditions], dt=2e-3)["status"][0]] == "out_of_reach"


def test_docking_without_latches_is_not_captured():
    s = docking.demo("UPS", "aligned").replace(
        latches=docking.Latches(enabled=False), conditions=docking.Conditions(0.08, gap=0.01)
    )
    d = docking.simulate(s, 2.0, dt=2e-3)
    assert d.status == "not_captured" and not math.isnan(d.t_contact)


def test_infinite_numbers_that_are_no_defaults_survive_files(tmp_path):
    phases = docking.Phases(
        attenuation_time=math.inf, common=zv.laws.Stops(1e5, 2e3, lower=-0.1, upper=math.inf), move_time=math.inf
    )
    s = docking.demo("UPS").replace(phases=phases, latches=docking.Latches(break_force=math.inf))
    for name in ("s.toml", "s.json"):
        s.save(tmp_path / name)
        again = docking.Scenario.load(tmp_path / name)
        assert again == s and again.phases.attenuation_time == math.inf and again.hash == s.hash
    assert "break_force" not in s.to_dict()["latches"]  # its default
    (tmp_path / "t.toml").write_text((tmp_path / "s.toml").read_text().replace('"inf"', "inf"))
    assert docking.Scenario.load(tmp_path / "t.toml") == s


def test_files_that_are_no_scenario_are_named(tmp_path):
    path = tmp_path / "scenario.toml"
    for content, complaint in ((b"\xff\xfe\x00", "is no text in UTF-8"), (b"a = " + b"[" * 20_000, "is no TOML")):
        path.write_bytes(content)
        with pytest.raises(zv.ModelError, match=rf"Scenario\.load: .*scenario\.toml {complaint}"):
            docking.Scenario.load(path)


def test_stiff_edges_and_sides_limit_the_step():
    s = docking.demo("UPS")
    mass = 1 / (1 / s.chaser.ring.mass_matrix(*s.chaser.ring.nominal)[0, 0] + 1 / s.station.body.mass)
    node = {"edge_stiffness": 2 * np.pi * 0.558 / 60, "side_stiffness": np.hypot(0.11, 0.115) / 5}
    for name, word in (("edge_stiffness", "edges"), ("side_stiffness", "sides of petals")):
        stiff = s.replace(contact=docking.Contact(**{name: 1e12}))
        rate = np.sqrt(1e12 * node[name] / mass)
        with pytest.raises(zv.StepError, match=f"too large for the stiffness of the {word}") as error:
            docking.simulate(stiff, dt=1e-3)
        assert error.value.limit == pytest.approx(1 / rate)
