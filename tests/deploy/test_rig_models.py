"""Steps in C of linkages and dockings, and force sensors: the bits of Python, and closed forms."""

import json
import re

import numpy as np
import pytest
import zveno as zv
from test_c_library import Function, assert_the_bits_of, change
from zveno import docking
from zveno.deploy.description import read_rig
from zveno.errors import Error, ModelError

BAR = zv.mechanisms.four_bar()
CLOSED = BAR.close([0.8, 0.0, 1.5], hold=["crank_joint"])


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_steps_of_a_linkage_have_the_bits_of_simulate(method):
    qd = BAR.velocities(CLOSED, {"crank_joint": 2.0})
    options = {"q": CLOSED, "qd": qd, "laws": zv.laws.SpringDamper(3.0, 0.1), "method": method}
    tip = BAR.chain.link_names[-1]
    stepper = zv.Stepper(BAR, substeps=2, period=2e-3, external=[tip], poses=[tip], **options)
    load, tau = [1.0, -2.0, 0.5, 0.1, 0.2, 0.3], [0.3, 0.0, 0.0]
    for _ in range(50):
        out = stepper.step(tau=tau, **{f"external.{tip}": load})
    sim = BAR.simulate(0.1, 1e-3, tau=tau, external={tip: load}, **options)
    for name in ("q", "qd", "qdd", "base_wrench"):
        assert np.array_equal(out[name], getattr(sim, name)[-1])
    assert np.abs(BAR.residual(out["q"])).max() < 1e-13


def test_functions_of_a_linkage_and_of_its_chain_have_the_bits_of_python(rng):
    stepper = zv.Stepper(BAR, q=CLOSED)
    qd = BAR.velocities(CLOSED, {"crank_joint": 1.0})
    state = {"q": CLOSED, "qd": qd, "tau": rng.normal(size=3)}
    names = ("residual", "constraint_jacobian", "constraint_bias", "forward_dynamics", "project_velocity")
    assert_the_bits_of(BAR, stepper, names, state)
    _, out = Function(stepper, "mass_matrix")(1, q=CLOSED)
    assert np.array_equal(next(iter(out.values())).reshape(3, 3), BAR.chain.mass_matrix(CLOSED))
    code, _ = Function(stepper, "forward_dynamics")(1, q=CLOSED + 0.3, qd=qd, tau=state["tau"])
    assert code == -7  # open


def test_a_linkage_that_cannot_be_computed_with_is_refused_by_name():
    with pytest.raises(ValueError, match=r"save_rig: q is missing: linkage\.close"):
        zv.save_rig(BAR, "x.json")
    with pytest.raises(ValueError, match="Stepper: q leaves constraint 'coupler-rocker' open by"):
        zv.Stepper(BAR, q=CLOSED + 0.1)
    moved = zv.Linkage(BAR.chain, constraints=[zv.constraints.coupling({"crank_joint": 1.0}, offset=np.sin)])
    with pytest.raises(ValueError, match="is a function of Python or moves in time: that cannot leave Python"):
        zv.Stepper(moved, q=np.zeros(3))
    stepper = zv.Stepper(BAR, q=CLOSED)
    with pytest.raises(Error, match="constraint 'coupler-rocker' is not met by q"):
        stepper.reset([*(CLOSED + 0.1), 0.0, 0.0, 0.0])


@pytest.mark.parametrize(("kind", "both"), [("UPS", False), ("RSU", True)])
def test_steps_of_a_docking_have_the_bits_of_simulate(kind, both):
    scenario = docking.demo(kind, "nominal", both=both).replace(
        conditions=docking.Conditions(0.08, offset=(0.02, 0.01))
    )
    stepper = zv.Stepper(scenario, period=1e-3)
    steps = [stepper.step() for _ in range(500)]
    history = docking.simulate(scenario, t_end=0.5, dt=1e-3, record=1e-3).history
    fields = {
        "A.position": "position_a", "A.quaternion": "quaternion_a", "A.velocity": "velocity_a",
        "A.angular_velocity": "omega_a", "B.position": "position_b", "ring.twist": "ring_twist_a",
        "stroke": "stroke_a", "leg_force": "leg_force_a", "interface_load": "load", "base_wrench": "base_load_a",
        "misalignment": "misalignment", "phase": "phase", "energy_error": "energy_error",
    }  # fmt: skip
    for name, field in fields.items():
        want = getattr(history, field)[1:]
        assert np.array_equal(np.array([step[name] for step in steps]).reshape(want.shape), want), name
    work = history.work[1:, :2].sum(axis=1)
    assert np.array_equal([step["energy_observer"][0] for step in steps], -work)
    assert history.penetration.max() > 0  # something happened
    assert ("B.stroke" in stepper.outputs) == both
    assert max(step["momentum_error"][0] for step in steps) < 1e-9


def test_a_saved_docking_goes_on_with_the_same_bits_and_a_file_is_the_same_rig(tmp_path):
    scenario = docking.demo("UPS", "aligned").replace(conditions=docking.Conditions(0.08))
    stepper = zv.Stepper(scenario, period=2e-3)
    for _ in range(700):  # captured, attenuation
        out = stepper.step()
    assert out["captured"] == 1
    state = stepper.state
    assert np.isfinite(state).all()
    ahead = [stepper.step(phase_command=[c]) for c in (0, 0, 3, 3, 3, 4, 4)]
    zv.save_rig(scenario, tmp_path / "rig.json", period=2e-3)
    other = zv.Stepper.open(tmp_path / "rig.json")
    other.step()
    other.state = state
    for command, want in zip((0, 0, 3, 3, 3, 4, 4), ahead, strict=True):
        got = other.step(phase_command=[command])
        assert all(np.array_equal(got[key], want[key]) for key in want)
    assert [int(x["phase"][0]) for x in ahead[-5:]] == [3, 3, 3, 4, 4]
    read = read_rig(json.loads((tmp_path / "rig.json").read_text()))
    assert read.model == scenario
    for place in (0, 5, len(state) // 2):
        broken = state.copy()
        broken[place] = np.nan
        with pytest.raises(Error, match="not a state of this rig"):
            other.state = broken


def test_thrust_as_an_input_is_that_of_a_scenario():
    thrust = docking.Thrust((300.0, 20.0, -10.0), (0.0, 5.0, 3.0), at=0.0)
    scenario = docking.demo("UPS", "nominal")
    want = docking.simulate(scenario.replace(thrust=(thrust,)), t_end=0.2, dt=2e-3, record=2e-3).history
    stepper = zv.Stepper(scenario, period=2e-3)
    for k in range(100):
        out = stepper.step(**{"thrust.force": thrust.force, "thrust.moment": thrust.moment})
        assert np.array_equal(out["A.velocity"], want.velocity_a[k + 1])


def test_a_measured_contact_moves_rigid_vehicles_by_newtons_law():
    bodies = zv.Body(100.0, (10, 20, 30), com=(0, 0, 0)), zv.Body(300.0, (50, 60, 70), com=(0, 0, 0))
    vehicles = (docking.Vehicle(body, name=name) for body, name in zip(bodies, "ab", strict=True))
    scenario = docking.Scenario(*vehicles, docking.Conditions(0.05, gap=0.3))
    stepper = zv.Stepper(scenario, contact_input=True)
    for _ in range(1000):
        out = stepper.step(contact_wrench=[-2.0, 0, 0, 0, 0, 0])
    assert np.allclose(out["A.velocity"], [0.05 - 2.0 / 100, 0, 0], atol=1e-14)
    assert np.allclose(out["B.velocity"], [2.0 / 300, 0, 0], atol=1e-14)
    assert np.allclose(out["A.position"][0], 0.05 - 0.5 * 2.0 / 100, atol=1e-13)
    taken = 0.5 * 100 * (0.05**2 - 0.03**2) - 0.5 * 300 * (2.0 / 300) ** 2
    assert out["energy_observer"][0] == pytest.approx(taken, rel=1e-12)


def test_commands_that_are_none_are_held():
    stepper = zv.Stepper(docking.demo("UPS"), most_held=2)
    stepper.step()
    for command in (0.5, 7.0):
        stepper.step(phase_command=[command])
    assert stepper.counts["held_inputs"] == 2
    with pytest.raises(Error, match="stopped after too many refused inputs"):
        stepper.step(phase_command=[-2.0])


def test_a_docking_that_cannot_begin_says_why():
    with pytest.raises(Error, match="start: the rings touch at the start"):
        zv.Stepper(docking.demo("UPS").replace(conditions=docking.Conditions(0.08, offset=(0.05, 0.0), gap=0.02)))
    with pytest.raises(ValueError, match="laws is given, but the model is a docking"):
        zv.Stepper(docking.demo("UPS"), laws=zv.laws.SpringDamper(1.0))
    with pytest.raises(Error, match="too large for the"):
        zv.Stepper(docking.demo("UPS"), period=0.1)
    with pytest.raises(ValueError, match="contact_input is given, but the model is a chain"):
        zv.Stepper(zv.robots.two_link(), contact_input=True)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("model/latches", [1], "latches: is a list of 1, expected a list of 10"),
        ("model/a/interface", [[], *[1] * 16], "expected the angles of 1 to 16 petals"),
        ("model/a/alignment", [0, 0, 1, 1, 1, None, None], "alignment: has a speed or a limit that is not positive"),
        ("model/phases", [[9], 0, 0, 0, None, None], "phases: has 9, expected a whole number from 0 to 4"),
        ("model/a/ready", [None], "ready has 1 entries, expected 6"),
        ("start/gap", None, "gap is null, expected a number"),
        ("servo", {"stiffness": 1.0}, "servo is given, but the model is a docking"),
        ("method", "semi-implicit", "expected 'rk4' for a docking"),
    ],
)
def test_a_docking_that_makes_no_sense_is_refused_by_name(key, value, text):
    data = zv.deploy.description.describe("x", docking.demo("UPS"), {}).to_dict()
    stepper = zv.Stepper.__new__(zv.Stepper)
    with pytest.raises(ModelError, match=re.escape(text)):
        stepper._open("open", json.dumps(change(data, key, value)).encode())


# ---- sensors ------------------------------------------------------------------------------------------------------


def read_wrench(sensor, raw, state, turn, period):
    """The chain of a sensor in NumPy: what it reads -> wrench in axes of the body at its origin."""
    R = sensor["rotation"]
    weight = R.T @ turn.T @ sensor["gravity"] * sensor["mass"]
    carried = np.concatenate([weight, np.cross(sensor["com"], weight)])
    state += (1 - np.exp(-period / sensor["lag"])) * (raw - sensor["tare"] - carried - state)
    dead = np.sign(state) * np.maximum(np.abs(state) - sensor["dead_band"], 0.0)
    force, moment = R @ dead[:3], R @ dead[3:]
    return force, moment + np.cross(sensor["position"], force)


def test_a_sensor_on_a_ring_reads_what_numpy_says(rng):
    ring = zv.mechanisms.docking_ring("UPS")
    sensor = {
        "rotation": zv.orientation.from_quaternion([0.5, 0.5, -0.1, 0.7]), "position": rng.normal(size=3), "mass": 3.0,
        "com": rng.normal(size=3), "gravity": np.array([0.0, 0.0, -9.81]), "tare": rng.normal(size=6),
        "dead_band": np.full(6, 0.5), "lag": 4e-3,
    }  # fmt: skip
    options = {"laws": zv.laws.SpringDamper(400.0, 80.0), "u": [-0.05, 0, 0, 0.1, 0.2, 0.3]}
    sensed = zv.Stepper(ring, sensor={"wrench": sensor}, **options)
    plain = zv.Stepper(ring, **options)
    state, out = np.zeros(6), plain.output
    for raw in 30 * rng.normal(size=(40, 6)):
        turn = zv.orientation.from_quaternion(out["ring.quaternion"])
        force, moment = read_wrench(sensor, raw, state, turn, 1e-3)
        out = plain.step(wrench=[*(turn @ force), *moment])
        got = sensed.step(wrench=raw)
        for key, value in out.items():
            assert np.allclose(got[key], value, rtol=1e-11, atol=1e-11 * np.abs(value).max())


def test_a_sensor_that_stands_in_the_base_or_on_a_link_or_a_port(rng):
    ring, raw = zv.mechanisms.docking_ring("UPS"), 30 * rng.normal(size=6)
    plain, fixed = zv.Stepper(ring), zv.Stepper(ring, sensor={"wrench": {"turns": False}})
    turn = zv.orientation.from_quaternion(plain.output["ring.quaternion"])
    want, got = plain.step(wrench=[*raw[:3], *(turn.T @ raw[3:])]), fixed.step(wrench=raw)
    assert np.allclose(got["ring.twist"], want["ring.twist"], rtol=1e-12, atol=1e-15)
    arm = zv.robots.puma560()
    name, q = "external.tool", rng.normal(size=6)
    plain, on_link = (
        zv.Stepper(arm, q=q, external=["tool"], **more) for more in ({}, {"sensor": {name: {"position": [0, 0, 0.1]}}})
    )
    turn = arm.pose(q, "tool")[:3, :3]
    moment = raw[3:] + np.cross([0, 0, 0.1], raw[:3])
    want, got = plain.step(**{name: [*(turn @ raw[:3]), *(turn @ moment)]}), on_link.step(**{name: raw})
    assert np.allclose(got["qd"], want["qd"], rtol=1e-10, atol=1e-13)
    scenario = docking.demo("UPS", "nominal")
    plain, port = (
        zv.Stepper(scenario, contact_input=True, **more)
        for more in ({}, {"sensor": {"contact_wrench": {"tare": raw, "dead_band": [1.0] * 6}}})
    )
    for key, value in plain.step().items():
        assert np.array_equal(port.step(contact_wrench=raw + 0.9)[key] if key == "A.position" else value, value)


def test_sensors_are_part_of_a_saved_state_and_of_a_file(rng, tmp_path):
    ring = zv.mechanisms.docking_ring("UPS")
    zv.save_rig(ring, tmp_path / "rig.json", sensor={"wrench": {"lag": 5e-3, "mass": 1.0, "gravity": (0, 0, -9.81)}})
    first, second = (zv.Stepper.open(tmp_path / "rig.json") for _ in range(2))
    raw = rng.normal(size=(30, 6))
    for row in raw[:15]:
        first.step(wrench=row)
    second.state = first.state
    for row in raw[15:]:
        a, b = first.step(wrench=row), second.step(wrench=row)
    assert all(np.array_equal(a[key], b[key]) for key in a)
    again = read_rig(json.loads((tmp_path / "rig.json").read_text()))
    assert zv.Stepper(again.model, **again.options()).step(wrench=raw[0]).keys() == a.keys()


@pytest.mark.parametrize(
    ("sensor", "text"),
    [
        ({"tau": {}}, "sensor of 'tau': there is no such wrench among the inputs, expected some of: wrench"),
        ({"wrench": {"lagg": 1.0}}, "expected a dict with some of turns, rotation"),
        ({"wrench": {"lag": -1.0}}, "lag of the sensor of 'wrench' is -1"),
        ({"wrench": {"rotation": np.ones((3, 3))}}, "rotation of the sensor of 'wrench' is no rotation"),
        ({"wrench": {"dead_band": [-1.0] * 6}}, "dead_band of the sensor of 'wrench' is negative"),
        ({"wrench": {"com": [1.0]}}, "com of the sensor of 'wrench'"),
    ],
)
def test_wrong_sensors_are_named(sensor, text):
    with pytest.raises(ValueError, match=re.escape(text)):
        zv.Stepper(zv.mechanisms.docking_ring("UPS"), sensor=sensor)


def test_bumpers_leave_python():
    ring = zv.mechanisms.docking_ring("UPS")
    law = zv.laws.Bumpers(1e5, 10.0, 1e-3, lower=-0.01, upper=0.01) + zv.laws.SpringDamper(400.0, 80.0)
    stepper = zv.Stepper(ring, laws=law, u=[-0.2, 0, 0, 0, 0, 0])
    for _ in range(200):
        out = stepper.step()
    sim = ring.simulate(0.2, 1e-3, laws=law, u=[-0.2, 0, 0, 0, 0, 0])
    assert np.array_equal(out["ring.position"], sim.r[-1])
