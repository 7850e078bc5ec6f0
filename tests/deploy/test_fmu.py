"""FMUs: the bits of Python through an importer that we did not write, and every function called from C."""

import dataclasses
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu
from helpers import TESTS
from hexapod_models import pair
from test_c_library import ALL_LAWS
from zveno import docking
from zveno.codegen.footprint import FLAGS
from zveno.errors import UnreachableError

HEADERS = Path(fmpy.__file__).parent / "c-code"
STATES = zv.laws.SpringDamper(5.0, 0.2) + zv.laws.DryFriction(0.1, 0.1)  # no internal ones


@pytest.fixture(scope="module", autouse=True)
def quick_compiler():
    """The bits do not depend on it."""
    patch = pytest.MonkeyPatch()
    patch.setattr("zveno.deploy.fmu.OPTIMISATION", "-O0")
    yield
    patch.undo()


def column(result, name, size, fmi):
    if fmi == 3:
        return result[name].reshape(len(result), -1)
    return np.stack([result[f"{name}[{k + 1}]" if size > 1 else name] for k in range(size)], axis=1)


@pytest.fixture(scope="module", params=[2, 3])
def arm_fmu(request, tmp_path_factory):
    """A chain of mixed joints with everything that a chain can have."""
    rng = np.random.default_rng(3)
    arm = random_chain(rng, 3, rotor=True, friction=True, name="an arm")
    tip = arm.link_names[-1]
    path = tmp_path_factory.mktemp("fmu") / "arm.fmu"
    options = {"q": rng.normal(size=3), "qd": rng.normal(size=3), "laws": STATES}
    zv.export_fmu(arm, path, fmi=request.param, step=1e-3, external=[tip], poses=[tip], base_motion=True, **options)
    return request.param, arm, path, options


@pytest.fixture(scope="module", params=[2, 3])
def ring_fmu(request, tmp_path_factory):
    ring = pair("mixed-lean")[1]
    path = tmp_path_factory.mktemp("fmu") / "ring.fmu"
    options = {"u": [-0.05, 0.01, 0, 0.1, 0, 0.02], "laws": ALL_LAWS, "method": "semi-implicit"}
    zv.export_fmu(ring, path, fmi=request.param, step=2e-4, substeps=2, **options)
    return request.param, ring, path, options


def test_a_chain_is_valid_and_its_steps_have_the_bits_of_simulate(arm_fmu):
    fmi, arm, path, options = arm_fmu
    assert validate_fmu(str(path)) == []
    signals = np.array([(0.0, *[0.5, -0.2, 0.1])], dtype=[("time", float), *((f"tau[{k}]", float) for k in (1, 2, 3))])
    start = {"tau": [0.5, -0.2, 0.1]} if fmi == 3 else {name: signals[name][0] for name in signals.dtype.names[1:]}
    settings = {"stop_time": 0.05, "step_size": 1e-3, "output_interval": 1e-3}
    result = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", start_values=start, **settings)
    sim = arm.simulate(0.05, 1e-3, tau=[0.5, -0.2, 0.1], **options)
    for name in ("q", "qd", "qdd", "base_wrench"):
        want = getattr(sim, name)
        assert np.array_equal(column(result, name, want.shape[1], fmi), want)


def test_a_chain_is_exchanged(arm_fmu):
    fmi, arm, path, options = arm_fmu
    settings = {"stop_time": 0.05, "output_interval": 1e-2, "relative_tolerance": 1e-8}
    result = fmpy.simulate_fmu(str(path), fmi_type="ModelExchange", **settings)
    sim = arm.simulate(0.05, 1e-3, **options)
    assert np.abs(column(result, "q", 3, fmi) - sim.q[::10]).max() < 1e-5


def test_a_ring_is_valid_and_its_steps_have_the_bits_of_simulate(ring_fmu):
    fmi, ring, path, options = ring_fmu
    assert validate_fmu(str(path)) == []
    settings = {"stop_time": 0.01, "step_size": 2e-4, "output_interval": 2e-4}
    result = fmpy.simulate_fmu(str(path), **settings)
    sim = ring.simulate(0.01, 1e-4, check_step=False, every=2, **options)
    names = {"ring.position": "r", "ring.quaternion": "quaternion", "ring.twist": "u", "base_wrench": "base_wrench"}
    for name, field in names.items():
        want = getattr(sim, field)
        assert np.array_equal(column(result, name, want.shape[1], fmi), want)
    text = zipfile.ZipFile(path).read("modelDescription.xml").decode()
    assert "<ModelExchange" not in text  # bristles are no variables


def test_start_values_of_an_importer_are_the_start(ring_fmu):
    fmi, ring, path, options = ring_fmu
    u = [0.02, 0.0, 0.0, 0.0, 0.0, 0.1]
    start = {"ring.twist": u} if fmi == 3 else {f"ring.twist[{k + 1}]": x for k, x in enumerate(u)}
    settings = {"stop_time": 0.002, "step_size": 2e-4, "output_interval": 2e-4, "start_values": start}
    result = fmpy.simulate_fmu(str(path), **settings)
    sim = ring.simulate(0.002, 1e-4, check_step=False, every=2, **(options | {"u": u}))
    assert np.array_equal(column(result, "ring.position", 3, fmi), sim.r)


def unpacked(path, folder):
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    unit = fmpy.read_model_description(str(path)).coSimulation.modelIdentifier
    return next(folder.glob(f"binaries/*/{unit}.*"))


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("kind", ["arm", "ring", "ring with a sensor"])
def test_every_function_answers_right_and_wrong_calls(tmp_path, fmi, kind):
    if kind == "arm":
        model, options = zv.robots.puma560(), {"laws": STATES}
    else:
        model, options = zv.mechanisms.docking_ring("UPS"), {"laws": zv.laws.SpringDamper(400.0, 80.0)}
        if kind != "ring":  # zveno's library is inside
            options["sensor"] = {"wrench": {"lag": 1e-4}}
    path = zv.export_fmu(model, tmp_path / "unit.fmu", fmi=fmi, **options)
    library = unpacked(path, tmp_path)
    text = (tmp_path / "modelDescription.xml").read_text()
    token = re.search(r'(?:instantiationToken|guid)="([^"]*)"', text)[1]
    program = tmp_path / "program"
    command = ["cc", "-std=gnu99", "-O0", "-w", f"-I{HEADERS}", str(TESTS / "deploy" / f"fmu_calls{fmi}.c")]
    subprocess.run([*command, "-ldl", "-lm", "-o", str(program)], check=True)
    n = 12 if kind == "arm" else 0
    if fmi == 2:
        inputs = 6 if kind == "arm" else 12
        arguments = [inputs, 1 + inputs, n, int(kind == "arm")]
    else:
        first = 2 if kind == "arm" else 3  # after time and inputs
        made = first + (2 if kind == "arm" else 3)  # qdd, ring.acceleration
        size = 6 if kind == "arm" else 3
        status = re.search('name="status" valueReference="([0-9]*)"', text)[1]
        arguments = [6, first, size, made, 6, n, int(kind == "arm"), status]
    done = subprocess.run([program, library, token, *map(str, arguments)], capture_output=True, text=True)
    assert done.stdout == "0 failures\n", done.stdout + done.stderr


SANITIZE = ("-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all")


@pytest.mark.sanitize
@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("kind", ["arm", "ring", "docking"])
def test_calls_in_any_order_end_well(tmp_path, monkeypatch, fmi, kind):
    """Under sanitizers, with twins of every instance, which must answer alike."""
    monkeypatch.setattr("zveno.deploy.fmu.FLAGS", [*FLAGS, "-g", *SANITIZE])
    arm, ring = zv.robots.two_link(), zv.mechanisms.docking_ring("UPS")
    model = {"arm": arm, "ring": ring, "docking": docking.demo("UPS", "aligned")}[kind]
    options = {"arm": {"laws": STATES}, "ring": {"laws": ALL_LAWS}, "docking": {}}[kind]
    path = zv.export_fmu(model, tmp_path / "unit.fmu", fmi=fmi, **options)
    library = unpacked(path, tmp_path)
    unit = fmpy.read_model_description(str(path))
    program = tmp_path / "program"
    source = TESTS / "deploy" / f"fmu_fuzz{fmi}.c"
    command = ["cc", "-std=gnu99", "-O0", "-g", "-w", *SANITIZE, f"-I{HEADERS}", str(source)]
    subprocess.run([*command, "-ldl", "-lm", "-o", str(program)], check=True)
    calls = {"arm": 60000, "ring": 20000, "docking": 15000}[kind]
    arguments = [len(unit.modelVariables), 2 * arm.n if kind == "arm" else 0, 7, calls]
    done = subprocess.run([program, library, unit.guid, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    found = re.fullmatch(r"0 failures, (\d+) instances, (\d+) done, (\d+) discarded, (\d+) refused\n", done.stdout)
    instances, right, discarded, refused = (int(word) for word in found.groups())
    assert instances > calls / 1000
    assert right > calls / 5
    assert discarded > 0
    assert refused > calls / 5


@pytest.mark.parametrize("fmi", [2, 3])
def test_the_functions_of_the_standard_are_there_with_their_types(tmp_path, fmi):
    path = zv.export_fmu(zv.robots.two_link(), tmp_path / "unit.fmu", fmi=fmi, platforms="source")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path)
    (source,) = (tmp_path / "sources").glob(f"*_fmi{fmi}.c")
    text = source.read_text()
    types = (HEADERS / f"fmi{fmi}FunctionTypes.h").read_text()
    names = re.findall(rf"typedef\s+\S.*?\b(fmi{fmi}\w+)TYPE\s*\(", types)
    assert len(names) == {2: 44, 3: 75}[fmi]
    assert set(re.findall(rf"^EXPORT .*?\b(fmi{fmi}\w+)\(", text, re.M)) | set(
        re.findall(rf"^(?:NONE|GET|SET)\((fmi{fmi}\w+)", text, re.M)
    ) == set(names)
    # with our declarations replaced by the official ones, every definition must agree with its type
    body = text[: text.index(f"typedef void *fmi{fmi}")] + f'#include "fmi{fmi}Functions.h"\n'
    rest = text[text.index("typedef struct instance {") :]
    body += rest.replace("callbacks.environment", "callbacks.componentEnvironment")
    checks = "".join(f"{name}TYPE *const check_{name} = &{name};\n" for name in names)
    (tmp_path / "sources" / "official.c").write_text(body + checks)
    command = ["cc", "-std=c99", "-O0", "-Werror=incompatible-pointer-types", "-fsyntax-only", f"-I{HEADERS}"]
    done = subprocess.run([*command, str(tmp_path / "sources" / "official.c")], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def fmu_of(path, folder):
    """An instance of an unpacked FMU of version 3, stepping."""
    from fmpy.fmi3 import FMU3Slave

    unit = fmpy.read_model_description(str(path))
    named = {v.name: int(v.valueReference) for v in unit.modelVariables}
    fmpy.extract(str(path), unzipdir=str(folder))
    identity = unit.coSimulation.modelIdentifier
    fmu = FMU3Slave(guid=unit.guid, unzipDirectory=str(folder), modelIdentifier=identity, instanceName="x")
    fmu.instantiate()
    return fmu, named


def test_numbers_of_laws_can_be_tuned_while_it_runs(tmp_path):
    ring = zv.mechanisms.docking_ring("UPS")
    soft, hard = (zv.laws.SpringDamper(k, 80.0) + zv.laws.DryFriction(5.0, 2e-3) for k in (400.0, 900.0))
    u = [-0.08, 0.01, 0, 0, 0.02, 0]
    path = zv.export_fmu(ring, tmp_path / "ring.fmu", laws=soft, u=u)
    assert validate_fmu(str(path)) == []
    fmu, named = fmu_of(path, tmp_path / "out")
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    for k in range(20):
        if k == 10:
            fmu.setFloat64([named["law.spring_damper.stiffness"]], [900.0] * 6)
        fmu.doStep(k * 1e-3, 1e-3)
    first = ring.simulate(0.01, 1e-3, laws=soft, u=u)
    state = {"r": first.r[-1], "R": first.R[-1], "u": first.u[-1]}
    second = ring.simulate(0.01, 1e-3, laws=hard, **state)
    assert np.abs(np.array(fmu.getFloat64([named["ring.position"]], nValues=3)) - second.r[-1]).max() < 1e-15
    for name, value in (("law.dry_friction.speed", 0.0), ("law.spring_damper.damping", np.nan)):
        with pytest.raises(FMICallException):
            fmu.setFloat64([named[name]], [value] * 6)
    fmu.terminate()
    fmu.freeInstance()


def test_laws_that_differ_have_numbers_by_drive(tmp_path):
    arm = zv.robots.two_link()
    laws = [zv.laws.SpringDamper(5.0, 0.2), zv.laws.Bumpers(1e3, 2.0, 1e-3, lower=-0.1, upper=0.1)]
    path = zv.export_fmu(arm, tmp_path / "arm.fmu", laws=laws, platforms="source", fmi=2)
    tuned = {
        v.name: v.start for v in fmpy.read_model_description(str(path)).modelVariables if v.causality == "parameter"
    }
    joints = arm.joint_names
    assert tuned[f"law.{joints[0]}.spring_damper.stiffness"] == "5.0"
    assert tuned[f"law.{joints[1]}.bumpers.blend"] == "0.001"


@pytest.mark.parametrize("fmi", [2, 3])
def test_gravity_and_payload_of_a_chain_are_parameters(tmp_path, fmi):
    rng = np.random.default_rng(8)
    arm = random_chain(rng, 3, rotor=True, friction=True)
    if fmi == 2:  # the last link is welded to the last that moves
        turn = [[0, -1, 0, 0.1], [0, 0, -1, -0.2], [1, 0, 0, 0.3], [0, 0, 0, 1]]
        arm = arm.with_tool(turn)
    tip = arm.link_names[-1]
    start = {"q": rng.normal(size=3), "qd": rng.normal(size=3), "laws": STATES}
    path = zv.export_fmu(arm, tmp_path / "arm.fmu", fmi=fmi, external=[tip], base_motion=True, **start)
    assert validate_fmu(str(path)) == []
    variables = {v.name: v for v in fmpy.read_model_description(str(path)).modelVariables}
    first = variables["gravity" if fmi == 3 else "gravity[3]"]
    assert (first.variability, first.unit) == ("tunable", "m/s2")
    assert variables["payload.mass"].unit == "kg" and float(variables["payload.mass"].min) == 0
    assert variables["payload.inertia" if fmi == 3 else "payload.inertia[6]"].unit == "kg.m2"
    gravity, mass, com = [1.0, -2.0, -3.7], 1.7, [0.1, -0.2, 0.3]
    inertia = [0.5, -0.02, 0.03, 0.4, 0.05, 0.3]  # xx, xy, xz, yy, yz, zz
    matrix = np.array(inertia)[[[0, 1, 2], [1, 3, 4], [2, 4, 5]]]
    other = arm.with_payload(tip, mass, com, matrix).with_gravity(gravity)
    wrench, base = [3.0, -1.0, 2.0, 0.1, 0.2, 0.3], [0.4, 0.1, -0.2, 0.3, 0.5, -0.4, 1.0, -0.6, 0.2]
    arrays = {"gravity": gravity, "payload.com": com, "payload.inertia": inertia}
    arrays |= {f"external.{tip}": wrench, "base_motion": base}
    values = arrays if fmi == 3 else {f"{k}[{i + 1}]": x for k, row in arrays.items() for i, x in enumerate(row)}
    settings = {"stop_time": 0.02, "step_size": 1e-3, "output_interval": 1e-3}
    result = fmpy.simulate_fmu(
        str(path), fmi_type="CoSimulation", start_values=values | {"payload.mass": mass}, **settings
    )
    stepper = zv.Stepper(other, period=1e-3, external=[tip], base_motion=True, **start)
    for k in range(1, 21):
        out = stepper.step(**{f"external.{tip}": wrench, "base_motion": base})
        for name in ("q", "qd", "qdd", "base_wrench", "energy"):
            want = np.atleast_1d(out[name])
            found = column(result, name, len(want), fmi)[k]
            assert np.allclose(found, want, rtol=1e-11, atol=1e-11 * (1 + np.abs(want).max())), name
    with pytest.raises(FMICallException):
        fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", start_values={"payload.mass": -1.0}, **settings)
    exchanged = fmpy.simulate_fmu(
        str(path), fmi_type="ModelExchange", start_values=values | {"payload.mass": mass}, stop_time=0.02,
        output_interval=1e-2, relative_tolerance=1e-9,
    )  # fmt: skip
    assert np.abs(column(exchanged, "q", 3, fmi)[-1] - out["q"]).max() < 1e-6


def test_a_tree_has_gravity_but_no_one_last_link(tmp_path):
    links = [zv.Link("a", joint="revolute", mass=1.0, com=[0.1, 0, 0])]
    links += [
        zv.Link(name, joint="revolute", parent="a", axis=[0, 1, 0], mass=1.0, com=[0.2, 0, 0]) for name in ("b", "c")
    ]
    tree = zv.Chain(links, name="tree")
    path = zv.export_fmu(tree, tmp_path / "tree.fmu", q=[0.1, 0.2, 0.3])
    names = [v.name for v in fmpy.read_model_description(str(path)).modelVariables]
    assert "gravity" in names and "payload.mass" not in names
    settings = {"stop_time": 0.02, "step_size": 1e-3, "output_interval": 1e-3, "fmi_type": "CoSimulation"}
    result = fmpy.simulate_fmu(str(path), start_values={"gravity": [1.0, 2.0, 3.0]}, **settings)
    sim = tree.with_gravity([1.0, 2.0, 3.0]).simulate(0.02, 1e-3, q=[0.1, 0.2, 0.3])
    assert np.allclose(result["q"], sim.q, rtol=0, atol=1e-13)
    assert np.allclose(result["base_wrench"], sim.base_wrench, rtol=0, atol=1e-11)


@pytest.mark.parametrize("fmi", [2, 3])
def test_a_docking_is_valid_and_its_steps_have_the_bits_of_simulate(tmp_path, fmi):
    scenario = docking.demo("UPS", "aligned")
    path = zv.export_fmu(scenario, tmp_path / "dock.fmu", fmi=fmi, step=2e-3)
    assert validate_fmu(str(path)) == []
    settings = {"stop_time": 2.0, "step_size": 2e-3, "output_interval": 0.1}
    result = fmpy.simulate_fmu(str(path), **settings)
    history = docking.simulate(scenario, t_end=2.0, dt=2e-3, record=0.1).history
    names = {"A.position": "position_a", "stroke": "stroke_a", "interface_load": "load", "base_wrench": "base_load_a"}
    for name, field in names.items():
        want = getattr(history, field)
        assert np.array_equal(column(result, name, want.shape[1], fmi), want)
    assert np.array_equal(result["phase"], history.phase)
    assert result["captured"][-1] == 1
    assert not result["captured"][0]
    assert np.abs(column(result, "momentum_error", 1, fmi)).max() < 1e-9
    # conditions and factors are parameters
    other = scenario.replace(conditions=docking.Conditions(0.05, gap=0.16))
    start = {"conditions.closing": 0.05, "factor.friction": 2.0}
    result = fmpy.simulate_fmu(str(path), start_values=start, **(settings | {"stop_time": 0.2}))
    want = docking.simulate(other, t_end=0.2, dt=2e-3, record=0.1).history.position_a
    assert np.array_equal(column(result, "A.position", 3, fmi), want)


@pytest.mark.parametrize("fmi", [2, 3])
def test_numbers_of_contact_and_latches_are_parameters(tmp_path, fmi):
    scenario = docking.demo("UPS", "aligned").replace(conditions=docking.Conditions(0.08, gap=0.12))
    path = zv.export_fmu(scenario, tmp_path / "dock.fmu", fmi=fmi, step=2e-3)
    variables = {v.name: v for v in fmpy.read_model_description(str(path)).modelVariables}
    units = {
        "contact.edge_stiffness": "N/m2",
        "contact.friction": "1",
        "latch.axial_gap": "m",
        "latch.damping": "N.s/m",
    }
    assert {name: variables[name].unit for name in units} == units
    assert variables["latch.stiffness"].variability == "fixed" and "latch.break_force" not in variables
    contact = {"edge_stiffness": 7.123456789012345e5, "side_stiffness": 1e6, "friction": 0.23, "damping": 5.5}
    latches = {"stiffness": 1e5 / 3, "axial_gap": 6e-3, "time_constant": 0.2}
    start = {f"contact.{k}": x for k, x in contact.items()} | {f"latch.{k}": x for k, x in latches.items()}
    settings = {"stop_time": 2.0, "step_size": 2e-3, "output_interval": 0.1}
    result = fmpy.simulate_fmu(str(path), start_values=start, **settings)
    other = scenario.replace(
        contact=dataclasses.replace(scenario.contact, **contact),
        latches=dataclasses.replace(scenario.latches, **latches),
    )
    history = docking.simulate(other, t_end=2.0, dt=2e-3, record=0.1).history
    assert np.array_equal(column(result, "A.position", 3, fmi), history.position_a)
    assert np.array_equal(column(result, "interface_load", 6, fmi), history.load) and np.any(history.load)
    with pytest.raises(FMICallException):
        fmpy.simulate_fmu(str(path), start_values={"contact.blend": 0.0}, **settings)
    if fmi == 3:  # a state knows its numbers, in another instance too
        ends = []
        for k in range(2):
            fmu, named = fmu_of(path, tmp_path / f"out{k}")
            if k == 0:
                for name, value in start.items():
                    fmu.setFloat64([named[name]], [value])
            fmu.enterInitializationMode()
            fmu.exitInitializationMode()
            if k == 0:
                for i in range(750):
                    fmu.doStep(i * 2e-3, 2e-3)
                state = fmu.getFMUState()
                saved = fmu.serializeFMUState(state)
            else:
                fmu.setFMUState(fmu.deserializeFMUState(saved))
            for i in range(750, 900):
                fmu.doStep(i * 2e-3, 2e-3)
            ends.append(fmu.getFloat64([named["A.position"]], nValues=3))
            fmu.terminate()
            fmu.freeInstance()
        assert ends[0] == ends[1] and np.array_equal(ends[0], history.position_a[18])


@pytest.mark.parametrize(("legs", "fmi"), [("UPS", 3), ("RSU", 2)])
def test_laws_and_moves_of_a_docking_are_parameters(tmp_path, legs, fmi):
    scenario = docking.demo(legs, "aligned").replace(conditions=docking.Conditions(0.08, gap=0.12))
    path = zv.export_fmu(scenario, tmp_path / "dock.fmu", fmi=fmi, step=2e-3)
    assert validate_fmu(str(path)) == []
    stiffness, damping = (900.0, 3000.0) if legs == "UPS" else (30.0, 120.0)
    arrays = {"law.attenuation.spring_damper.stiffness": stiffness, "law.attenuation.spring_damper.damping": damping}
    start = {f"{k}[{i + 1}]": x for k, x in arrays.items() for i in range(6)}
    start = {k: [x] * 6 for k, x in arrays.items()} if fmi == 3 else start
    variables = {v.name: v for v in fmpy.read_model_description(str(path)).modelVariables}
    assert {*start, "move.retraction.speed"} <= set(variables)
    assert variables["move.retraction.speed"].unit == ("m/s" if legs == "UPS" else "rad/s")
    settings = {"stop_time": 2.0, "step_size": 2e-3, "output_interval": 0.1}
    result = fmpy.simulate_fmu(str(path), start_values=start, **settings)
    law = zv.laws.SpringDamper(stiffness, damping)
    changed = scenario.replace(phases=dataclasses.replace(scenario.phases, attenuation=law))
    history = docking.simulate(changed, t_end=2.0, dt=2e-3, record=0.1).history
    plain = docking.simulate(scenario, t_end=2.0, dt=2e-3, record=0.1).history
    assert np.array_equal(column(result, "A.position", 3, fmi), history.position_a)
    assert not np.array_equal(history.position_a, plain.position_a)


def test_a_linkage_has_the_bits_of_simulate(tmp_path):
    bar = zv.mechanisms.four_bar()
    q = bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
    path = zv.export_fmu(bar, tmp_path / "bar.fmu", q=q)
    assert validate_fmu(str(path)) == []
    result = fmpy.simulate_fmu(str(path), stop_time=0.05, step_size=1e-3, output_interval=1e-3)
    assert np.array_equal(result["q"], bar.simulate(0.05, 1e-3, q=q).q)


def test_a_folder_that_is_not_there_is_named_and_nothing_is_left(tmp_path):
    where = tmp_path / "none" / "x.fmu"
    with pytest.raises(FileNotFoundError, match=re.escape(f"export_fmu: path is '{where}', but there is no folder")):
        zv.export_fmu(zv.robots.two_link(), where, platforms="source")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left(tmp_path):
    arm, folder, old = zv.robots.two_link(), tmp_path / "folder.fmu", tmp_path / "old.fmu"
    folder.mkdir()
    with pytest.raises(IsADirectoryError, match=r"^export_fmu: '.* is a directory$"):
        zv.export_fmu(arm, folder, platforms="source")
    (tmp_path / "full.fmu").symlink_to("/dev/full")
    with pytest.raises(ValueError, match="is a device or a pipe, expected a file"):
        zv.export_fmu(arm, tmp_path / "full.fmu", platforms="source")
    old.write_bytes(b"old")
    code = (  # files of this process may have 4 kB
        "import resource, sys, zveno as zv\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "zv.export_fmu(zv.robots.two_link(), sys.argv[1], platforms='source')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(old)], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"OSError: [Errno 27] File too large: '{old}'"
    assert old.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.fmu", "full.fmu", "old.fmu"]


def test_inputs_of_version_2_may_be_straight_lines(tmp_path):
    from fmpy.fmi2 import FMU2Slave

    arm, slope = zv.robots.two_link(), [30.0, -20.0]
    path = zv.export_fmu(arm, tmp_path / "arm.fmu", fmi=2, step=4e-3, substeps=4)
    assert validate_fmu(str(path)) == []
    unit = fmpy.read_model_description(str(path))
    assert unit.coSimulation.canInterpolateInputs
    named = {v.name: int(v.valueReference) for v in unit.modelVariables}
    fmpy.extract(str(path), unzipdir=str(tmp_path / "out"))
    fmu = FMU2Slave(
        guid=unit.guid,
        unzipDirectory=str(tmp_path / "out"),
        modelIdentifier=unit.coSimulation.modelIdentifier,
        instanceName="x",
    )
    fmu.instantiate()
    fmu.setupExperiment()
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    inputs = [named[f"tau[{k + 1}]"] for k in range(2)]
    fmu.setReal(inputs, [1.0, 2.0])
    fmu.setRealInputDerivatives(inputs, [1, 1], slope)
    fmu.doStep(0.0, 4e-3)
    fmu.doStep(4e-3, 4e-3)  # the lines have ended: the last values are held
    stepper = zv.Stepper(arm, period=1e-3)
    for k in range(8):
        out = stepper.step(tau=np.array([1.0, 2.0]) + np.array(slope) * (1e-3 * min(k, 3)))
    assert fmu.getReal([named[f"q[{k + 1}]"] for k in range(2)]) == out["q"].tolist()
    fmu.terminate()
    fmu.freeInstance()


@pytest.mark.parametrize("fmi", [2, 3])
def test_rotations_are_matrices_on_request(tmp_path, fmi):
    arm, q = zv.robots.puma560(), [0.1, -0.5, 0.7, 0.3, -0.9, 0.4]
    path = zv.export_fmu(arm, tmp_path / "arm.fmu", fmi=fmi, q=q, poses=["tool"], rotations=True)
    assert validate_fmu(str(path)) == []
    result = fmpy.simulate_fmu(str(path), fmi_type="CoSimulation", stop_time=0.01, step_size=1e-3, output_interval=1e-3)
    names = [[f"pose.tool.rotation[{i},{j}]" for j in (1, 2, 3)] for i in (1, 2, 3)]
    R = result["pose.tool.rotation"] if fmi == 3 else np.array([[result[x] for x in row] for row in names])
    R = R if fmi == 3 else np.moveaxis(R, -1, 0)
    want = arm.pose(arm.simulate(0.01, 1e-3, q=q).q, link="tool")[:, :3, :3]
    assert np.abs(R.reshape(-1, 3, 3) - want).max() < 1e-14


def test_the_same_model_gives_the_same_bytes(tmp_path):
    arm = zv.robots.two_link()
    first, second = (zv.export_fmu(arm, tmp_path / f"{k}.fmu", platforms="source").read_bytes() for k in range(2))
    assert first == second
    other = zv.export_fmu(arm.with_gravity((0, 0, 0)), tmp_path / "3.fmu", platforms="source")
    tokens = [
        re.search('instantiationToken="(.*?)"', zipfile.ZipFile(path).read("modelDescription.xml").decode())[1]
        for path in (tmp_path / "0.fmu", other)
    ]
    assert tokens[0] != tokens[1]


@pytest.mark.parametrize("name", ["int", "a" * 5000, 'a\nb<&>"*/', "\u0437\u0432\u0435\u043d\u043e 1"])
def test_any_name_makes_an_fmu_that_can_be_unpacked_and_loaded(tmp_path, name):
    path = zv.export_fmu(zv.robots.two_link(), tmp_path / "x.fmu", name=name)
    assert validate_fmu(str(path)) == []
    assert len(fmpy.simulate_fmu(str(path), stop_time=0.01)) > 1


def test_units_and_feed_through_are_declared(arm_fmu):
    fmi, arm, path, _ = arm_fmu
    unit = fmpy.read_model_description(str(path))
    variables = {v.name: v for v in unit.modelVariables}
    if fmi == 2:
        revolute = [link.joint == "revolute" for link in arm.links if link.joint != "fixed"]
        assert [variables[f"q[{k + 1}]"].unit for k in range(3)] == ["rad" if x else "m" for x in revolute]
        assert [variables[f"base_wrench[{k}]"].unit for k in (1, 6)] == ["N", "N.m"]
    suffix = "[1]" if fmi == 2 else ""
    outputs = {unknown.variable.name: unknown.dependencies for unknown in unit.outputs}
    named = {name: [v.name for v in depends or ()] for name, depends in outputs.items()}
    assert f"tau{suffix}" in named[f"qdd{suffix}"]
    assert f"tau{suffix}" not in named[f"q{suffix}"]
    assert variables[f"q{suffix}"].initial == "exact"


def test_wrong_uses_are_named(tmp_path):
    arm = zv.robots.two_link()
    for options, text in (
        ({"fmi": 1}, "fmi is 1, expected 2 or 3"),
        ({"step": 0.0}, "step is 0, expected a number > 0 and at most 1e+06, s"),
        ({"step": 1e9}, "step is 1e+09, expected a number > 0 and at most 1e+06, s"),
        ({"period": 1e-3}, "period is given; step= is the communication step"),
        ({"platforms": "amiga"}, "platforms is 'amiga', expected 'native', 'source', 'all' or some of x86_64-linux"),
        ({"platforms": np.zeros((2, 2))}, "platforms is array([[0., 0.], [0., 0.]]), expected 'native'"),
        ({"platforms": ["aarch64-linux"], "fmi": 2}, "platforms is ['aarch64-linux'], expected 'native'"),
        ({"name": ""}, "name is ''"),
        ({"fmi": np.array([2, 3])}, "fmi is "),
        ({"step": "1"}, "step is '1', expected a number"),
        ({"laws": lambda t, q, qd: q}, "laws is a function"),
    ):
        with pytest.raises(ValueError, match=re.escape(f"export_fmu: {text}")):
            zv.export_fmu(arm, tmp_path / "x.fmu", **options)
    with pytest.raises(TypeError, match="export_fmu: 'substep' is no option of a rig; did you mean 'substeps'"):
        zv.export_fmu(arm, tmp_path / "x.fmu", substep=2)
    # a start from which nothing can be computed makes no FMU
    with pytest.raises(FloatingPointError, match="export_fmu: start: the mechanism gives results that are not finite"):
        zv.export_fmu(arm, tmp_path / "x.fmu", qd=[1e200, 1e200])
    with pytest.raises(UnreachableError, match="export_fmu: start: leg 'leg1' cannot reach"):
        zv.export_fmu(zv.mechanisms.docking_ring("RSU"), tmp_path / "x.fmu", r=[9, 0, 0], R=np.eye(3))
    with pytest.raises(ValueError, match=r"expected a name that ends in '\.fmu'"):
        zv.export_fmu(arm, tmp_path / "x.zip")
    assert list(tmp_path.iterdir()) == []
