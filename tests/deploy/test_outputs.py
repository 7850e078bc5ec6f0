"""Outputs on request: the library, generated code and FMUs give those that are wanted, with the same bits."""

import json
import re
import subprocess
import zipfile

import fmpy
import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain
from hexapod_models import pair
from hypothesis import given, settings
from hypothesis import strategies as st
from test_c_library import ALL_LAWS
from test_step import compiled
from zveno import docking
from zveno.errors import UnreachableError

RING = ["ring.position", "ring.quaternion", "ring.twist", "ring.acceleration", "stroke", "stroke_rate", "leg_force"]
RING += ["base_wrench"]


def an_arm(rng):
    arm = random_chain(rng, 4, branching=True, rotor=True, friction=True)
    tip = arm.link_names[-1]
    return arm, {"laws": ALL_LAWS, "external": [tip], "poses": [tip], "q": rng.normal(size=4), "period": 1e-5}


def run_both(model, options, wanted, rng, steps=40):
    """Steps with all outputs and with those that are wanted."""
    whole, part = zv.Stepper(model, **options), zv.Stepper(model, **options, outputs=wanted)
    inputs = 0.3 * rng.normal(size=(steps, whole._in.size))
    if "phase_command" in whole.inputs:
        inputs[:, whole.inputs["phase_command"]] = 0.0
    assert list(part.outputs) == [name for name in whole.outputs if name in wanted]
    assert all(part.units[name] == whole.units[name] for name in part.outputs)
    for k, row in enumerate(inputs):
        if k == steps // 2:
            saved = part.state
        want, got = whole.step_array(row), part.step_array(row)
        for name, place in part.outputs.items():
            assert np.array_equal(got[place], want[whole.outputs[name]]), (name, k)
    last = got.copy()
    part.state = saved
    for row in inputs[steps // 2 :]:
        again = part.step_array(row)
    assert np.array_equal(again, last)


@settings(max_examples=20, deadline=None)
@given(data=st.data(), seed=st.integers(0, 2**32 - 1), method=st.sampled_from(["rk4", "semi-implicit"]))
def test_any_outputs_of_a_chain_have_the_bits_of_all(data, seed, method):
    rng = np.random.default_rng(seed)
    arm, options = an_arm(rng)
    options |= {"method": method, "substeps": data.draw(st.integers(1, 3)), "base_motion": True}
    names = list(zv.Stepper(arm, **options).outputs)
    run_both(arm, options, data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True)), rng)


@settings(max_examples=20, deadline=None)
@given(
    wanted=st.lists(st.sampled_from(RING), min_size=1, unique=True),
    case=st.sampled_from(["mixed-skew", "UPS-lean", "UUU"]),
    method=st.sampled_from(["rk4", "semi-implicit"]),
    substeps=st.integers(1, 3),
)
def test_any_outputs_of_a_ring_have_the_bits_of_all(wanted, case, method, substeps):
    rng = np.random.default_rng(7)
    options = {"u": 0.05 * rng.normal(size=6), "laws": ALL_LAWS, "method": method, "substeps": substeps}
    run_both(pair(case)[1], options | {"period": 2e-4}, wanted, rng)


def test_outputs_of_linkages_and_dockings_are_chosen_too(rng):
    linkage = zv.mechanisms.four_bar()
    options = {"q": linkage.close(np.zeros(linkage.n)), "period": 1e-3}
    run_both(linkage, options, ["q", "energy"], rng)
    run_both(linkage, options, ["qd", "qdd"], rng)
    run_both(docking.demo(), {"period": 2e-3}, ["A.position", "captured", "misalignment"], rng, steps=6)


@pytest.mark.parametrize("wanted", [["stroke"], ["ring.twist", "ring.position"], ["leg_force", "ring.quaternion"]])
def test_generated_steps_of_rings_have_the_bits_of_the_library(rng, tmp_path, wanted):
    ring = pair("mixed-skew")[1]
    options = {"u": 0.05 * rng.normal(size=6), "laws": ALL_LAWS, "period": 1e-4, "substeps": 2, "outputs": wanted}
    zv.export_step(ring, tmp_path, name="ring", **options)
    done = subprocess.run([compiled(tmp_path, "ring")], capture_output=True, text=True)
    assert done.stdout == "passed: largest difference 0, the same bits\n"
    # the dynamics are evaluated four times in a step, and at the end of a period only for what needs it
    moved = (tmp_path / "ring.c").read_text()
    assert ("arrive(next, last, p, v)" in moved) == ("leg_force" not in wanted)


@pytest.mark.parametrize("wanted", [["q"], ["energy"], ["base_wrench"], ["pose"]])
def test_generated_steps_of_chains_have_the_bits_of_the_library(rng, tmp_path, wanted):
    arm, options = an_arm(rng)
    wanted = [f"pose.{arm.link_names[-1]}.quaternion"] if wanted == ["pose"] else wanted
    zv.export_step(arm, tmp_path, name="arm", outputs=wanted, **options)
    done = subprocess.run([compiled(tmp_path, "arm", "-O1")], capture_output=True, text=True)
    assert done.stdout == "passed: largest difference 0, the same bits\n"


@pytest.mark.parametrize("fmi", [2, 3])
def test_an_fmu_gives_what_is_wanted_and_the_state(tmp_path, fmi):
    ring = zv.mechanisms.docking_ring("UPS")
    options = {"u": [-0.08, 0, 0, 0, 0, 0], "laws": zv.laws.SpringDamper(400.0, 80.0)}
    path = zv.export_fmu(ring, tmp_path / "ring.fmu", fmi=fmi, step=1e-3, outputs=["stroke"], **options)
    text = zipfile.ZipFile(path).read("modelDescription.xml").decode()
    given_names = {re.sub(r"\[.*", "", name) for name in re.findall(r'name="([\w.\[\]]+)" .*causality="output"', text)}
    assert given_names == {"ring.position", "ring.quaternion", "ring.twist", "stroke", "status"}
    result = fmpy.simulate_fmu(str(path), stop_time=0.05, step_size=1e-3, output_interval=1e-3)
    sim = ring.simulate(0.05, 1e-3, **options)
    strokes = result["stroke"] if fmi == 3 else np.stack([result[f"stroke[{k}]"] for k in range(1, 7)], axis=1)
    assert np.array_equal(strokes, sim.joint_position[:, :, -1])


def test_an_fmu_of_a_chain_without_accelerations_is_no_model_exchange(tmp_path):
    arm = zv.robots.two_link()
    for wanted, exchange in ((["qdd"], True), (["energy"], False)):
        path = zv.export_fmu(arm, tmp_path / "arm.fmu", platforms="source", outputs=wanted)
        text = zipfile.ZipFile(path).read("modelDescription.xml").decode()
        assert ("<ModelExchange" in text) == exchange
        assert ("<CoSimulation" in text) and ('name="base_wrench"' not in text)


def test_tuned_gravity_and_payload_reach_the_outputs_that_are_wanted(tmp_path):
    arm = zv.robots.two_link()
    for wanted in (["energy"], ["base_wrench"], ["q"]):
        path = zv.export_fmu(arm, tmp_path / "arm.fmu", step=1e-3, q=[0.4, 0.3], outputs=wanted)
        start = {"gravity": [0.0, 0.0, -1.62], "payload.mass": 2.0, "payload.com": [0.1, 0.0, 0.0]}
        result = fmpy.simulate_fmu(
            str(path), "CoSimulation", start_values=start, stop_time=0.02, step_size=1e-3, output_interval=1e-3
        )
        heavy = arm.with_gravity((0, 0, -1.62)).with_payload(arm.link_names[-1], 2.0, com=(0.1, 0, 0))
        sim = heavy.simulate(0.02, 1e-3, q=[0.4, 0.3])
        want = sim.kinetic_energy + sim.potential_energy if wanted == ["energy"] else getattr(sim, wanted[0])
        assert np.allclose(result[wanted[0]].reshape(want.shape), want, rtol=1e-9, atol=1e-9)


def test_a_pose_out_of_reach_is_found_at_the_end_of_its_step(tmp_path):
    ring = zv.mechanisms.docking_ring("RSU")
    stepper = zv.Stepper(ring, outputs=["ring.position"])
    before = stepper.state.copy()
    push = [1e9, 0, 0, 0, 0, 0]
    with pytest.raises(UnreachableError):
        stepper.step(wrench=push)
    after = stepper.state
    assert np.array_equal(after[7:], before[7:]) or np.array_equal(after[19:], before[19:])  # but counters and inputs
    assert stepper.counts["failures"] == 1
    arm = zv.Stepper(zv.robots.two_link(), outputs=["q"])
    with pytest.raises(FloatingPointError):
        for _ in range(3):
            arm.step(tau=[1e306, 0.0])


def test_the_algebraic_level_has_fewer_operations_and_the_same_motion(tmp_path):
    arm, ring = zv.robots.kawasaki_fs020n(), zv.mechanisms.docking_ring("UPS")
    for name, model in (("arm", arm), ("ring", ring)):
        sources = {}
        for level in ("strict", "algebraic"):
            folder = tmp_path / name / level
            zv.export_step(model, folder, name=name, level=level, outputs=["q"] if model is arm else ["stroke"])
            sources[level] = len(re.findall(r"const double t\d+ = ", (folder / f"{name}.c").read_text()))
            done = subprocess.run([compiled(folder, name, "-O1")], capture_output=True, text=True)
            assert done.stdout.startswith("passed: "), level
        assert sources["algebraic"] < 0.95 * sources["strict"], name


def test_wrong_outputs_and_levels_are_named(tmp_path):
    ring, arm = zv.mechanisms.docking_ring("UPS"), zv.robots.two_link()
    cases = [
        (ring, ["strokes"], r"outputs names 'strokes', expected some of ring.position, .*did you mean 'stroke'"),
        (ring, "stroke", "outputs is 'stroke', expected names of outputs"),
        (ring, [], r"outputs is \[\], expected names of outputs"),
        (ring, ["stroke", "stroke"], "outputs names one output twice"),
        (ring, [3], "outputs names 3, expected some of"),
        (arm, ["stroke"], "outputs names 'stroke', expected some of q, qd, qdd, base_wrench, energy"),
        (docking.demo(), ["q"], "outputs names 'q', expected some of A.position"),
    ]
    for model, outputs, text in cases:
        with pytest.raises(ValueError, match=f"save_rig: {text}"):
            zv.save_rig(model, tmp_path / "rig.json", outputs=outputs)
        with pytest.raises(ValueError, match=text):
            zv.Stepper(model, outputs=outputs)
    # a file that others have written
    zv.save_rig(arm, tmp_path / "rig.json", outputs=["q"])
    data = json.loads((tmp_path / "rig.json").read_text())
    assert data["outputs"] == ["q"]
    for outputs, text in (
        (["speed"], "outputs names 'speed', expected some of q, qd, qdd, base_wrench, energy"),
        ([], "outputs is empty, expected null or names of outputs"),
        (["q", "q"], "outputs names one output twice"),
        ([1], r"outputs is 1, expected names of outputs"),
        ("q", "outputs is .*expected a list"),
    ):
        (tmp_path / "rig.json").write_text(json.dumps(data | {"outputs": outputs}))
        with pytest.raises(zv.ModelError, match=text):
            zv.Stepper.open(tmp_path / "rig.json")
    for level in ("fast", 1, None):
        with pytest.raises(ValueError, match=r"export_step: level is .*, expected 'strict' or 'algebraic'"):
            zv.export_step(arm, tmp_path / "step", level=level)
    with pytest.raises(ValueError, match="level is 'algebraic', which an FMU with zveno's library cannot have"):
        zv.export_fmu(docking.demo(), tmp_path / "dock.fmu", level="algebraic", step=2e-3)
