"""The C library: the bits of Python, from C and from ctypes; what it exports; what it refuses."""

import ctypes as ct
import json
import os
import re
import shutil
import subprocess
import sys

import cffi
import numpy as np
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import random_chain
from helpers import ROOT, TESTS, assert_close
from hexapod_models import CASES, pair
from zveno.deploy.description import read_rig
from zveno.deploy.library import _loaded, c_library
from zveno.errors import Error, ModelError, UnreachableError

L = zv.laws
ALL_LAWS = (
    L.SpringDamper(40.0, 3.0, force=0.5)
    + L.DryFriction(0.5, 1e-2)
    + L.LuGre(0.5, 0.7, 1e-2, 1e3, 1.0, 0.1)
    + L.EddyBrake(0.3, 0.1)
    + L.Stops(1e3, 1.0, lower=-0.4, upper=0.3)
    + L.SlipClutch(2.0, L.Servo(20.0, 1.0, limit=5.0, reference=L.Table([0.0, 0.02], [0.0, 0.2])))
    + L.Servo(5.0, 0.1, reference=L.Ramp(0.2, 1.0, start=0.0))
)
STEPS, PERIOD = 40, 1e-4


def together(steps, name):
    return np.array([step[name] for step in steps])


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_steps_of_a_chain_have_the_bits_of_simulate(rng, method):
    for n, branching in ((1, False), (4, False), (6, True)):
        arm = random_chain(rng, n, branching=branching, fixed=branching, rotor=True, friction=True)
        q, qd = rng.normal(size=(2, n))
        tau, load, base = rng.normal(size=(STEPS, n)), rng.normal(size=6), rng.normal(size=9)
        tip = arm.link_names[-1]
        options = {"q": q, "qd": qd, "laws": ALL_LAWS, "method": method}
        stepper = zv.Stepper(arm, period=PERIOD, external=[tip], poses=[tip], base_motion=True, **options)
        steps = [stepper.step(tau=t, base_motion=base, **{f"external.{tip}": load}) for t in tau]
        sim = arm.simulate(
            STEPS * PERIOD, PERIOD, tau=tau, external={tip: load}, base_motion=base, check_step=False, **options
        )
        for name in ("q", "qd"):
            assert np.array_equal(together(steps, name), getattr(sim, name)[1:])
        assert np.array_equal(steps[-1]["qdd"], sim.qdd[-1])
        assert np.array_equal(steps[-1]["base_wrench"], sim.base_wrench[-1])
        T = arm.pose(sim.q[-1], tip)
        assert np.array_equal(steps[-1][f"pose.{tip}.position"], T[:3, 3])
        turn = zv.orientation.from_quaternion(steps[-1][f"pose.{tip}.quaternion"])
        assert_close(turn, T[:3, :3], n)


@pytest.mark.parametrize("case", CASES)
def test_steps_of_a_hexapod_have_the_bits_of_simulate(rng, case):
    ring = pair(case)[1]
    method = "semi-implicit" if sum(case.encode()) % 2 else "rk4"
    tau, wrench, base = rng.normal(size=(STEPS, 6)), rng.normal(size=6), rng.normal(size=9)
    options = {"u": 0.05 * rng.normal(size=6), "laws": ALL_LAWS, "method": method}
    stepper = zv.Stepper(ring, period=PERIOD, base_motion=True, **options)
    steps = [stepper.step(tau=t, wrench=wrench, base_motion=base) for t in tau]
    sim = ring.simulate(STEPS * PERIOD, PERIOD, tau=tau, wrench=wrench, base_motion=base, check_step=False, **options)
    names = {"ring.position": "r", "ring.quaternion": "quaternion", "ring.twist": "u"}
    for name, field in names.items():
        assert np.array_equal(together(steps, name), getattr(sim, field)[1:])
    assert np.array_equal(steps[-1]["ring.acceleration"], sim.acceleration[-1])
    assert np.array_equal(steps[-1]["base_wrench"], sim.base_wrench[-1])
    assert np.array_equal(steps[-1]["leg_force"], sim.tau[-1])
    driven = np.arange(6), ring.actuated
    assert np.array_equal(steps[-1]["stroke"], sim.joint_position[-1][driven])


def test_substeps_are_steps_of_a_shorter_period(rng):
    arm = random_chain(rng, 3)
    q, tau = rng.normal(size=3), rng.normal(size=3)
    whole = zv.Stepper(arm, period=4e-3, substeps=4, q=q)
    for _ in range(10):
        out = whole.step(tau=tau)
    assert np.array_equal(out["q"], arm.simulate(0.04, 1e-3, q=q, tau=tau).q[-1])
    assert whole.counts == {"steps": 10, "held_inputs": 0, "failures": 0}
    assert whole.time == pytest.approx(0.04, rel=1e-15)


def test_servos_follow_an_input(rng):
    ring = zv.mechanisms.docking_ring("RSU")
    law, reference = L.SpringDamper(40.0, 3.0), rng.normal(size=6)
    stepper = zv.Stepper(ring, laws=law, servo={"stiffness": 50.0, "damping": 2.0, "limit": 20.0})
    for _ in range(20):
        out = stepper.step(**{"drive.reference": reference})
    same = [law + L.Servo(50.0, 2.0, limit=20.0, reference=x) for x in reference]
    assert np.array_equal(out["ring.position"], ring.simulate(0.02, 1e-3, laws=same).r[-1])
    with pytest.raises(ValueError, match="servo is 3, expected a dict with stiffness"):
        zv.Stepper(ring, servo=3)


def test_accelerations_agree_with_pinocchio(rng):
    arm = random_chain(rng, 7, branching=True, rotor=True)
    twin = Twin(arm)
    stepper = zv.Stepper(arm, q=rng.normal(size=7))
    for _ in range(5):
        tau = rng.normal(size=7)
        out = stepper.step(tau=tau)
        assert_close(out["qdd"], twin.forward_dynamics(out["q"], out["qd"], tau), 7, ulps=1e4)


def test_a_file_read_by_python_and_by_c_is_the_same_rig(rng, tmp_path):
    arm = random_chain(rng, 3, name="arm \u00e4 'x'")
    options = {"laws": [ALL_LAWS, None, L.SpringDamper(1.0)], "poses": [arm.link_names[1]], "most_held": 2}
    zv.save_rig(arm, tmp_path / "arm.json", q=rng.normal(size=3), jump={"tau": 9.0}, **options)
    data = json.loads((tmp_path / "arm.json").read_text())
    again = read_rig(data)
    assert again.to_dict() == data
    stepper, other = zv.Stepper.open(tmp_path / "arm.json"), zv.Stepper(again.model, **again.options())
    tau = rng.normal(size=3)
    for _ in range(5):
        a, b = stepper.step(tau=tau), other.step(tau=tau)
    assert all(np.array_equal(a[name], b[name]) for name in a)


def test_a_saved_state_goes_on_with_the_same_bits(rng):
    ring = zv.mechanisms.docking_ring("RSU")
    options = {"laws": ALL_LAWS, "u": [-0.05, 0, 0, 0.1, 0, 0]}
    stepper, other = zv.Stepper(ring, **options), zv.Stepper(ring, **options)
    inputs = rng.normal(size=(30, 12))
    for row in inputs[:10]:
        stepper.step_array(row)
    saved = stepper.state
    first = [stepper.step_array(row).copy() for row in inputs[10:]]
    other.state = saved
    second = [other.step_array(row).copy() for row in inputs[10:]]
    assert np.array_equal(first, second)
    assert np.array_equal(stepper.state, other.state)
    for broken in (saved + 1.0, np.where(np.arange(len(saved)) == 9, np.nan, saved)):
        with pytest.raises(Error, match="not a state of this rig"):
            other.state = broken
    with pytest.raises(Error, match="not a state of this rig"):
        zv.Stepper(ring, period=2e-3, **options).state = saved


@pytest.mark.parametrize("model", [zv.robots.two_link(), zv.mechanisms.docking_ring("UPS")], ids=["chain", "ring"])
def test_a_reset_leaves_nothing_of_the_motion_before(model):
    stepper = zv.Stepper(model, laws=ALL_LAWS)
    start = stepper.state
    for _ in range(20):
        stepper.step_array(np.ones_like(stepper._in))
    assert not np.array_equal(stepper.state, start)
    stepper.reset()
    assert np.array_equal(stepper.state, start)  # accounts of work too


def test_a_misaligned_pointer_is_told_as_the_last_failure():
    stepper = zv.Stepper(zv.robots.two_link())
    message = ct.create_string_buffer(200)
    room = ct.create_string_buffer(8 * len(stepper.state) + 8)
    odd = ct.c_void_p(ct.addressof(room) + 1)
    rig = ct.c_void_p(stepper._handle)
    for name, arguments, text in (
        ("step", (odd, None), b"in or out is misaligned"),
        ("step", (None, odd), b"in or out is misaligned"),
        ("reset", (odd,), b"start is misaligned"),
        ("set_state", (odd,), b"state is null or misaligned"),
        ("set_state", (None,), b"state is null or misaligned"),
    ):
        assert getattr(stepper._library, f"zv_rig_{name}")(rig, *arguments) == -1
        assert stepper._library.zv_last_detail(rig, message, ct.c_size_t(200)) == -1
        assert message.value == text
        stepper._library.zv_rig_set_state(rig, ct.c_void_p(ct.addressof(room)))  # another failure in between


def test_wrong_uses_are_named():
    ring = zv.mechanisms.docking_ring("UPS")
    stepper = zv.Stepper(ring)
    with pytest.raises(ValueError, match="there is no input 'force', expected wrench, tau"):
        stepper.step(force=[0] * 6)
    with pytest.raises(ValueError, match=r"wrench has shape \(5,\), expected \(6,\)"):
        stepper.step(wrench=[0] * 5)
    with pytest.raises((UnreachableError, FloatingPointError, Error)):
        stepper.step(wrench=[1e305, 0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="start has shape"):
        stepper.reset([0.0])
    arm = zv.robots.two_link()
    cases = {
        "period": (-1.0, "period is -1, expected a number > 0"),
        "substeps": (0, "substeps is 0, expected an integer from 1"),
        "method": ("euler", "method is 'euler', expected 'rk4' or 'semi-implicit'"),
        "external": (["hand"], "external names 'hand'"),
        "poses": ("tip", "poses is 'tip', expected a list"),
        "q": ([0.0], "q has shape"),
        "u": ([0.0] * 6, "u is given, but the model is a chain"),
        "laws": (lambda t, q, qd: q, "laws is a function"),
        "jump": ({"taw": 1.0}, "jump names 'taw', expected some of tau"),
        "most_held": (-1, "most_held is -1"),
    }
    for key, (value, text) in cases.items():
        with pytest.raises(ValueError, match=re.escape(f"Stepper: {text}")):
            zv.Stepper(arm, **{key: value})
    for key, text in (
        ("external", "external names array([0., 0.]), expected some of"),
        ("poses", "poses names array([0., 0.]), expected some of"),
        ("jump", "jump is array([[0., 0.], [0., 0.]]), expected a dict"),
        ("servo", "servo is array([[0., 0.], [0., 0.]]), expected a dict"),
        ("sensor", "sensor is array([[0., 0.], [0., 0.]]), expected a dict"),
    ):
        with pytest.raises(ValueError, match=re.escape(f"Stepper: {text}")):
            zv.Stepper(arm, **{key: np.zeros((2, 2))})
    for key in ("jump", "servo", "sensor"):  # nothing is None or an empty dict
        with pytest.raises(ValueError, match=f"Stepper: {key} is False, expected a dict"):
            zv.Stepper(arm, **{key: False})
        assert zv.Stepper(arm, **{key: {}}).inputs == zv.Stepper(arm, **{key: None}).inputs
    with pytest.raises(TypeError, match="model is 'arm', expected a Chain, Linkage, Hexapod or docking Scenario"):
        zv.Stepper("arm")
    with pytest.raises(TypeError, match="Stepper: 'laws_' is no option of a rig; did you mean 'laws'"):
        zv.Stepper(arm, laws_=[])
    stepper = zv.Stepper(arm)
    for call, text in (
        (lambda: stepper.step(tau="ab"), "Stepper.step: tau is 'ab', expected numbers"),
        (lambda: stepper.step(tau=[10**400, 0]), "Stepper.step: tau is [1000"),
        (lambda: stepper.step(tau=[1j, 0]), "Stepper.step: tau is [1j, 0], expected numbers"),
        (lambda: stepper.step_array(None), "Stepper.step_array: inputs is None, expected numbers"),
        (lambda: stepper.reset("x"), "Stepper.reset: start is 'x', expected numbers"),
        (lambda: setattr(stepper, "state", "x"), "Stepper.state: state is 'x', expected numbers"),
    ):
        with pytest.raises(ValueError, match=re.escape(text)):
            call()


def change(data, key, value):
    """A copy of a dictionary with one entry of it, by its path, changed."""
    data = json.loads(json.dumps(data))
    *path, last = key.split("/")
    place = data
    for word in path:
        place = place[int(word) if word.isdigit() else word]
    place[int(last) if last.isdigit() else last] = value
    return data


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("format", "zveno.rigs", "format is 'zveno.rigs', expected"),
        ("version", 2, "version is 2, expected 1: a newer zveno has written it"),
        ("period", 0, "period is 0, expected a number > 0"),
        ("substeps", 1.5, "substeps is 1.5, expected a whole number"),
        ("extra", 1, "unknown key 'extra'"),
        ("laws", [None], "laws has 1 entries, expected 2"),
        ("laws/0", [["spring", 1.0]], "unknown term 'spring'"),
        ("laws/0", [["dry_friction", 1.0, 0.0]], "expected a number > 0"),
        ("laws/0", [["slip_clutch", 1.0, 3]], "slip clutch without its terms"),
        ("start/q", [0.0], "q is a list of 1, expected a list of 2 numbers"),
        ("period", 1e9, "period is 1e+09, expected a number > 0 and at most 1e6, s"),
        ("external", ["nobody"], "there is no link 'nobody'"),
        ("model/links/0/mass", "heavy", "link 'upper': mass is 'heavy', expected a number"),
        ("model/links/0/mass", -1.0, "link 'upper': mass"),
        ("model/links/1/rotation", [[1, 0, 0], [0, 1, 0]], "expected 3 rows of 3 numbers"),
        ("model/links/1/parent", "nobody", "nobody"),
        ("model/links/1/joint", "ball", "joint is 'ball', expected revolute, prismatic or fixed"),
        ("model/links", {}, "links is an object, expected a list"),
        ("jump", {"nothing": 1.0}, "jump: there is no input 'nothing'"),
        ("jump", {"tau": -1.0}, "expected a number > 0"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_by_name(key, value, text):
    stepper = zv.Stepper.__new__(zv.Stepper)
    data = json.loads((TESTS / "data" / "rig_arm.json").read_text())
    with pytest.raises((ModelError, ValueError), match=re.escape(text)):
        stepper._open("open", json.dumps(change(data, key, value)).encode())


OPEN = """
import ctypes as ct, resource, sys
library = ct.CDLL(sys.argv[1])
library.zv_rig_open.restype = ct.c_void_p
limit = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss + 300_000  # kB
for path in sys.argv[2:]:
    code, message = ct.c_int(99), ct.create_string_buffer(400)
    rig = library.zv_rig_open(path.encode(), None, ct.byref(code), message, 400)
    print(bool(rig), code.value, message.value.decode(errors="replace"))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < limit)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pipes and devices by their names there")
def test_files_that_are_none_or_too_large_are_refused_at_once(tmp_path):
    names = ("pipe", "sparse", "empty", "wide", "zeros", "loop", "secret")
    pipe, sparse, empty, wide, zeros, loop, secret = (tmp_path / name for name in names)
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    empty.touch()
    secret.write_text("{}")
    secret.chmod(0)
    with sparse.open("wb") as file:
        file.truncate(1 << 40)
    wide.write_bytes(b"[" + b"0," * (30 << 20) + b"0]")
    zeros.write_bytes(bytes(1 << 20))
    cases = {
        tmp_path: (-6, "it is a folder"),
        pipe: (-6, "it is a device or a pipe, expected a file"),
        "/dev/zero": (-6, "it is a device or a pipe, expected a file"),
        "/dev/null": (-6, "it is a device or a pipe, expected a file"),
        sparse: (-6, "it has more than 64 MiB"),
        empty: (-2, "not JSON: expected a value at line 1, column 1: the text is cut short"),
        wide: (-2, "not JSON: more than a million values"),
        zeros: (-2, "not JSON: a zero byte"),
        loop: (-6, "Too many levels of symbolic links"),
        "": (-6, "cannot read '': No such file or directory"),
        "x" * 5000: (-6, "cannot read 'xxxx"),
        "/proc/self/mem": (-6, "an error of the device"),
        f"{empty}/x": (-6, "Not a directory"),
    }
    if os.geteuid() != 0:  # who reads everything
        cases[secret] = (-6, "Permission denied")
    command = [sys.executable, "-c", OPEN, c_library().library, *cases]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    *lines, small = done.stdout.splitlines()
    assert small == "True"
    for line, (code, text) in zip(lines, cases.values(), strict=True):
        assert line.startswith(f"False {code} ")
        assert text in line


@pytest.mark.parametrize("quaternion", [[0.0, 0, 0, 0], [2.0, 0, 0, 0], [1.0, 0.1, 0, 0]])
def test_a_start_that_is_no_rotation_is_refused_by_the_file(quaternion):
    data = json.loads((TESTS / "data" / "rig_ring.json").read_text())
    data["start"] = {"r": [0.4, 0.0, 0.0], "quaternion": quaternion}
    stepper = zv.Stepper.__new__(zv.Stepper)
    with pytest.raises(ModelError, match="start: quaternion is no rotation"):
        stepper._open("open", json.dumps(data).encode())


def test_a_file_whose_start_is_something_else_is_refused_by_python():
    data = json.loads((TESTS / "data" / "rig_arm.json").read_text())
    for start, text in ((3, "start is 3, expected an object"), ({"period": 5.0}, "start has an unknown key 'period'")):
        with pytest.raises(ModelError, match=re.escape(text)):
            read_rig(data | {"start": start})


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are something else there")
def test_a_stepper_does_not_wait_for_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is a device or a pipe, expected a file"):
        zv.Stepper.open(tmp_path / "pipe")


# ---- functions ----------------------------------------------------------------------------------------------------


class Channel(ct.Structure):
    _fields_ = [
        ("struct_size", ct.c_size_t),
        ("name", ct.c_char_p),
        ("unit", ct.c_char_p),
        *((key, ct.c_int32) for key in ("offset", "size", "required")),
    ]


class Function:
    """A function of the model, through ctypes."""

    def __init__(self, stepper, name, options=""):
        lib = self.lib = _loaded()
        lib.zv_function_create.restype = ct.c_void_p
        message, code = ct.create_string_buffer(200), ct.c_int()
        self.handle = lib.zv_function_create(
            ct.c_void_p(stepper._handle), name.encode(), options.encode(), ct.byref(code), message, 200
        )
        self.code, self.message = code.value, message.value.decode()
        if not self.handle:
            return
        self.handle = ct.c_void_p(self.handle)
        self.inputs = self._channels(lib.zv_function_inputs, lib.zv_function_input)
        self.outputs = self._channels(lib.zv_function_outputs, lib.zv_function_output)

    def _channels(self, count, get):
        channel, found = Channel(struct_size=ct.sizeof(Channel)), {}
        for k in range(count(self.handle)):
            assert get(self.handle, k, ct.byref(channel)) == 0
            found[channel.name.decode()] = channel.size
        return found

    def __call__(self, rows, **arrays):
        given = [np.ascontiguousarray(arrays[k], float) if k in arrays else None for k in self.inputs]
        out = {name: np.empty((rows, size)) for name, size in self.outputs.items()}
        pointers = (ct.c_void_p * max(1, len(given)))(*(None if x is None else x.ctypes.data for x in given))
        places = (ct.c_void_p * len(out))(*(x.ctypes.data for x in out.values()))
        code = self.lib.zv_function_call(self.handle, ct.c_size_t(rows), pointers, places)
        return code, out

    def __del__(self):
        if self.handle:
            self.lib.zv_function_free(self.handle)


CHAIN_CALLS = [
    ("mass_matrix", "", {}),
    ("mass_matrix", "method=kane-collapsed", {"method": "kane-collapsed"}),
    ("inverse_dynamics", "", {}),
    ("forward_dynamics", "method=cholesky", {"method": "cholesky"}),
    ("pose", "link={tip}", {"link": "{tip}"}),
    ("jacobian", "link={tip} point=0.1,0,-0.2 frame=link", {"link": "{tip}", "point": (0.1, 0, -0.2), "frame": "link"}),
    ("momentum", "about=base", {"about": "base"}),
    ("regressor", "", {}),
    ("derivatives", "", {}),
    ("christoffel", "", {}),
]


@pytest.mark.parametrize(("name", "options", "python"), CHAIN_CALLS)
def test_functions_of_a_chain_have_the_bits_of_python(rng, name, options, python):
    arm = random_chain(rng, 4, rotor=True, friction=True)
    tip = arm.link_names[-1]
    function = Function(zv.Stepper(arm), name, options.format(tip=tip))
    assert function.handle, function.message
    rows = 11
    arrays = {
        key: rng.normal(size=(rows, size)) for key, size in function.inputs.items() if key not in ("base_motion",)
    }
    code, out = function(rows, **arrays)
    assert code == 0
    python = {key: value.format(tip=tip) if isinstance(value, str) else value for key, value in python.items()}
    want = getattr(arm, name)(**arrays, **python)
    wanted = [want] if isinstance(want, np.ndarray) else list(want)
    for got, expected in zip(out.values(), wanted, strict=True):
        assert np.array_equal(got, np.reshape(expected, got.shape))


def assert_the_bits_of(model, stepper, names, state):
    """One state of functions in C and in Python."""
    for name in names:
        function = Function(stepper, name)
        arrays = {key: state[key] for key in function.inputs if key in state}
        code, out = function(1, **arrays)
        assert code == 0
        want = getattr(model, name)(**arrays)
        for key, got in out.items():
            expected = want if isinstance(want, np.ndarray) else getattr(want, key)
            assert np.array_equal(got, np.reshape(expected, got.shape))


def test_functions_of_a_hexapod_have_the_bits_of_python(rng):
    ring = pair("RSU-skew")[1]
    stepper = zv.Stepper(ring)
    r, R = ring.nominal
    state = {"r": r, "R": R, "u": rng.normal(size=6), "wrench": rng.normal(size=6), "tau": rng.normal(size=6)}
    assert_the_bits_of(ring, stepper, ("closure", "mass_matrix", "momentum", "forward_dynamics"), state)
    code, out = Function(stepper, "closure")(1, r=r + np.array([5.0, 0, 0]), R=R)
    assert code == -8  # ZV_ERROR_UNREACHABLE
    assert np.isnan(out["p"]).all()
    code, out = Function(stepper, "closure")(1, r=r, R=2 * np.asarray(R))
    assert code == -7  # ZV_ERROR_NOT_FINITE


def test_functions_that_are_not_there_are_named():
    stepper = zv.Stepper(zv.robots.two_link())
    for name, options, text in (
        ("mass", "", "there is no function 'mass'"),
        ("pose", "", "pose needs link="),
        ("pose", "link=hand", "there is no link 'hand' in model 'two_link'"),
        ("mass_matrix", "method=fast", "there is no method 'fast'"),
        ("mass_matrix", "link=tip", "mass_matrix does not take 'link'"),
        ("mass_matrix", "link", "expected key=value"),
        ("section_load", "", "needs a section"),
        ("pose", "link=upper link=lower", "'link' is given twice"),
        ("jacobian", "link=upper point=nan,0,0", "point is 'nan,0,0', expected three numbers"),
        ("jacobian", "link=upper point=1e999,0,0", "point is '1e999,0,0', expected three numbers"),
        ("inverse_dynamics", "external=upper,upper", "external names a link twice"),
    ):
        function = Function(stepper, name, options)
        assert not function.handle
        assert function.code == -1
        assert text in function.message


# ---- C ------------------------------------------------------------------------------------------------------------


def compiled(tmp_path, source, *flags, compiler="cc"):
    paths = c_library()
    program = tmp_path / "program"
    command = [compiler, *flags, str(source), *paths.cflags.split(), *paths.libs.split(), "-o", str(program)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return program


@pytest.mark.skipif(sys.platform != "linux", reason="replaces malloc by the names of the GNU C library")
def test_a_c_program_has_the_same_bits_and_its_steps_allocate_nothing(tmp_path):
    strict = ("-std=gnu99", "-Wall", "-Wextra", "-Werror", "-O1")
    program = compiled(tmp_path, TESTS / "deploy" / "rig.c", *strict, "-pthread")
    for name, steps in (("rig_arm", 2000), ("rig_ring", 2000)):
        path = TESTS / "data" / f"{name}.json"
        done = subprocess.run([program, path, str(steps)], capture_output=True, text=True, env={"LANG": "de_DE.UTF-8"})
        head, *bits = done.stdout.split("\n")[:-1]
        assert head.split()[:2] == ["0", "0"]  # the worst code, allocations
        stepper = zv.Stepper.open(path)
        size = sum(part.stop - part.start for part in stepper.inputs.values())
        for k in range(steps):
            out = stepper.step_array((k + np.arange(size)) % 5 - 2.0)
        assert [int(word, 16) for word in bits] == out.view(np.uint64).tolist()
    done = subprocess.run([program, tmp_path / "nothing.json", "1"], capture_output=True, text=True, env={})
    assert done.stdout.startswith("-6 cannot read")


@pytest.mark.skipif(sys.platform != "linux", reason="replaces malloc by the names of the GNU C library")
def test_a_million_steps_allocate_nothing_and_memory_does_not_grow(tmp_path):
    program = compiled(tmp_path, TESTS / "deploy" / "rig.c", "-std=gnu99", "-O1", "-pthread")
    done = subprocess.run([program, TESTS / "data" / "rig_arm.json", "1000000"], capture_output=True, text=True)
    code, allocations, kilobytes = map(int, done.stdout.split("\n")[0].split())
    assert (code, allocations) == (0, 0)
    assert kilobytes <= 64


def test_the_header_is_c99_and_cxx(tmp_path):
    (tmp_path / "one.c").write_text(
        "#include <zveno.h>\nint main(void) { return zv_abi_version() != ZV_ABI_VERSION; }\n"
    )
    shutil.copy(tmp_path / "one.c", tmp_path / "one.cpp")
    for file, compiler, standard in (("one.c", "cc", "c99"), ("one.cpp", "c++", "c++11")):
        flags = (f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O0")
        assert subprocess.run([compiled(tmp_path, tmp_path / file, *flags, compiler=compiler)]).returncode == 0


def test_the_library_exports_what_the_header_declares_and_nothing_else():
    header = (ROOT / "cpp" / "zveno.h").read_text()
    declared = set(re.findall(r"^ZV_API [^(]*?(zv_\w+)\(", header, re.M))
    done = subprocess.run(["nm", "-D", "--defined-only", c_library().library], capture_output=True, text=True)
    assert {line.split()[-1] for line in done.stdout.splitlines()} == declared
    assert len(declared) == 26


def test_structs_keep_their_layout(tmp_path):
    """What programs that exist have compiled in: members are added at the end, none is moved."""
    layout = {
        "zv_options": ["struct_size 0", "period 8", "substeps 16", "method 20", "flags 24", "most_held 28"],
        "zv_info": [
            *("struct_size 0", "name 8", "kind 16", "kernels 24", "period 32", "substeps 40", "method 44", "joints 48"),
            *("inputs 52", "outputs 56", "input_size 60", "output_size 64", "start_size 68", "state_size 72"),
        ],
        "zv_channel": ["struct_size 0", "name 8", "unit 16", "offset 24", "size 28", "required 32"],
        "zv_status": [
            *("struct_size 0", "time 8", "steps 16", "held_inputs 24", "failures 32", "held_in_row 40", "stopped 44"),
        ],
    }
    checks = [
        f'_Static_assert(offsetof({name}, {row.split()[0]}) == {row.split()[1]}, "{name}.{row}");'
        for name, rows in layout.items()
        for row in rows
    ]
    codes = {"ZV_OK": 0, "ZV_INPUT_HELD": 1, "ZV_ERROR_ARGUMENT": -1, "ZV_ERROR_INTERNAL": -13, "ZV_ABI_VERSION": 2}
    checks += [f'_Static_assert({name} == {value}, "{name}");' for name, value in codes.items()]
    source = "\n".join(["#include <stddef.h>", "#include <zveno.h>", *checks, "int main(void) { return 0; }"])
    (tmp_path / "layout.c").write_text(source)
    compiled(tmp_path, tmp_path / "layout.c", "-std=c11", "-O0")


def test_the_header_is_plain_enough_for_tools_that_read_it():
    """What cffi, and with it pycparser, reads can be called; loadlibrary of MATLAB and Clang.jl read no less."""
    header = re.sub(r"^#include .*$", "", (ROOT / "cpp" / "zveno.h").read_text(), flags=re.M)
    command = ["cc", "-E", "-P", "-U__GNUC__", "-x", "c", "-"]
    text = subprocess.run(command, input=header, capture_output=True, text=True, check=True).stdout
    ffi = cffi.FFI()
    ffi.cdef(text)
    library = ffi.dlopen(str(c_library().library))
    path = TESTS / "data" / "rig_docking.json"
    message, code = ffi.new("char[200]"), ffi.new("int *")
    rig = library.zv_rig_open(str(path).encode(), ffi.NULL, code, message, 200)
    assert rig != ffi.NULL, ffi.string(message)
    info = ffi.new("zv_info *", {"struct_size": ffi.sizeof("zv_info")})
    assert library.zv_rig_info(rig, info) == library.ZV_OK
    assert ffi.string(info.kind) == b"docking"
    out = ffi.new("double[]", info.output_size)
    stepper = zv.Stepper.open(path)
    for _ in range(5):
        assert library.zv_rig_step(rig, ffi.NULL, out) == library.ZV_OK
        want = stepper.step()
    assert [*out] == [x for part in want.values() for x in part]
    library.zv_rig_free(rig)
