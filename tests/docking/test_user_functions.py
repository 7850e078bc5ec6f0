"""Laws and functions of the user in a docking: copies of what is built in make the same docking."""

import math
import os
import subprocess
import sys
import tomllib
from itertools import pairwise

import numpy as np
import pytest
from zveno import docking, laws

NOMINAL = docking.demo("UPS", "nominal")
ZERO = laws.SpringDamper(0.0)
BARE = NOMINAL.replace(phases=docking.Phases(ready=ZERO, attenuation=ZERO))


def same(a, b, tolerance=1e-12):
    first, second = ([e for e in d.events if e.name != "thrust_on"] for d in (a, b))
    assert a.status == b.status and [e[1:] for e in first] == [e[1:] for e in second]
    np.testing.assert_allclose([e.time for e in first], [e.time for e in second], rtol=tolerance)
    for name in ("t_contact", "t_capture", "t_end", "energy_end"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=tolerance, nan_ok=True)
    np.testing.assert_allclose(a.peak, b.peak, rtol=tolerance)
    np.testing.assert_allclose(a.work, b.work, rtol=1e-9, atol=1e-9)
    assert abs(a.energy_error) < 1e-4 * a.energy_scale


@pytest.fixture(scope="module")
def built_in():
    return docking.simulate(NOMINAL, dt=2e-3, after=0.5)


def springs(t, state):
    k, c = (400.0, 80.0) if state.phase == "ready" else (700.0, 2500.0)
    return -k * state.stroke_a - c * state.stroke_rate_a


def test_a_function_that_copies_the_laws_of_the_legs_makes_the_same_docking(built_in):
    d = docking.simulate(BARE, dt=2e-3, after=0.5, tau=springs)
    same(d, built_in)
    assert d.evaluations == built_in.evaluations
    assert d.momentum_error < 1e-9


def test_laws_of_a_call_act_besides_those_of_the_phases():
    ring = NOMINAL.chaser.ring
    p0 = ring.closure(*ring.nominal)[np.arange(6), ring.actuated]
    s = NOMINAL.replace(phases=docking.Phases(ready=ZERO))
    wanted = docking.simulate(NOMINAL, 1.5, 2e-3)
    same(docking.simulate(s, 1.5, 2e-3, laws=lambda t, p, v: -400 * (p - p0) - 80 * v), wanted)
    same(docking.simulate(s, 1.5, 2e-3, laws=laws.SpringDamper(400.0, 80.0)), wanted)
    same(docking.simulate(s, 1.5, 2e-3, laws=[laws.SpringDamper(400.0, 80.0)] * 6), wanted)
    one = docking.simulate(NOMINAL, 1.5, 2e-3, laws=[None, laws.SpringDamper(300.0), None, None, None, None])
    assert one.leg_strokes[0, 1, 0] > wanted.leg_strokes[0, 1, 0]  # it yields less


def test_both_rings_may_have_functions():
    s = docking.demo("UPS", "aligned", both=True)
    wanted = docking.simulate(s, 2.2, 2e-3)
    bare = s.replace(phases=docking.Phases(ready=ZERO, attenuation=ZERO))

    def other(t, state):
        k, c = (400.0, 80.0) if state.phase == "ready" else (700.0, 2500.0)
        return -k * state["stroke_b"] - c * state["stroke_rate_b"]

    same(docking.simulate(bare, 2.2, 2e-3, tau={"a": springs, "b": other}), wanted)


def test_a_held_function_that_copies_the_attitude_hold_makes_the_same_docking():
    hold = docking.AttitudeHold(2e3, 2e4, period=0.1, limit=300.0)
    wanted = docking.simulate(NOMINAL.replace(attitude_hold=hold), dt=2e-3, after=0.3)
    times = []

    def control(t, state):
        times.append(t)
        q = state.quaternion_a  # it starts as the identity
        size = np.linalg.norm(q[1:])
        angle = q[1:] * (2 * math.atan2(size, q[0]) / size if size > 1e-9 else 2.0)
        return [0, 0, 0, *-np.clip(2e3 * angle + 2e4 * state.omega_a, -300, 300)]

    d = docking.simulate(NOMINAL, dt=2e-3, after=0.3, thrust=control, hold=0.1)
    same(d, wanted)
    assert d.work.external == pytest.approx(wanted.work.external, rel=1e-12) != 0
    np.testing.assert_allclose(times, 0.1 * np.arange(len(times)), atol=1e-12)


def test_a_function_that_copies_a_thruster_makes_the_same_docking():
    s = docking.demo("UPS", "aligned")
    wrench = (30.0, 5.0, -3.0, 2.0, 4.0, -6.0)
    wanted = docking.simulate(s.replace(thrust=docking.Thrust(wrench[:3], wrench[3:], at=0.0)), 2.0, 2e-3)
    d = docking.simulate(s, 2.0, 2e-3, thrust=lambda t, state: wrench)
    same(d, wanted)
    np.testing.assert_allclose(d.state_a["P"] + d.state_b["P"], wanted.state_a["P"] + wanted.state_b["P"], rtol=1e-12)
    station = docking.simulate(s, 1.0, 2e-3, thrust={"b": lambda t, state: [-100, 0, 0, 0, 0, 0]})
    # the base of the station is turned by 180 degrees
    assert station.state_b["P"][0] == pytest.approx(100.0, rel=1e-12)
    assert station.momentum_error < 1e-9


def test_functions_whose_run_is_repeated_begin_anew():
    seen = []

    def nothing(t, state):
        seen.append(t)
        return np.zeros(6)

    d = docking.simulate(docking.demo("RSU", "limit"), dt=2e-3, after=1.0, thrust=nothing, hold=0.1)
    assert d.dt == 1e-3 and seen.count(0.0) == 2  # 12 J off at 2 ms
    assert all(b > a or b == 0 for a, b in pairwise(seen))


@pytest.mark.parametrize("hold", [None, 0.1])
def test_what_is_not_finite_is_named_and_the_record_is_kept(hold):
    def bad(t, state):
        return [0, 0, 0, 0, 0, math.nan if t > 1.25 else 0]

    with pytest.raises(
        ValueError, match=r"thrust\(t, state\) returned .*nan.* at t = 1.[23]\d* s, expected six"
    ) as error:
        docking.simulate(NOMINAL, dt=2e-3, thrust=bad, hold=hold)
    d = error.value.simulation
    assert d.status == "stopped" and d.t_end == pytest.approx(1.3 if hold else 1.25, abs=2e-3)
    assert d.t_contact == pytest.approx(1.00158895, rel=1e-6)
    whole = docking.simulate(NOMINAL, dt=2e-3, t_end=2.0).history
    rows = len(d.history.t) - 1
    assert np.array_equal(d.history.stroke_a[:rows], whole.stroke_a[:rows])
    assert (np.diff(d.history.t) > 0).all() and d.history.t[-1] == d.t_end


def test_errors_of_functions_pass_through_with_a_note():
    def broken(t, p, v):
        if t > 0.5:
            raise RuntimeError("no signal")
        return np.zeros(6)

    with pytest.raises(RuntimeError, match="no signal") as error:
        docking.simulate(NOMINAL, laws=broken, hold=0.1)
    assert error.value.__notes__ == ["simulate: raised by laws(t, p, v) at t = 0.6 s"]
    assert error.value.simulation.t_end == 0.6
    docking.simulate(NOMINAL, 0.2, laws=broken)  # the engine is fit for the next one
    with pytest.raises(ZeroDivisionError) as error:
        docking.simulate(NOMINAL, thrust=lambda t, state: [1 / t] * 6)
    assert error.value.simulation.t_end == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tau": lambda t, s: [1, 2]}, r"tau\(t, state\) returned an array of shape \(2,\)"),
        ({"tau": lambda t, s: "a"}, r"tau\(t, state\) returned 'a'"),
        ({"tau": lambda t, s: None}, r"tau\(t, state\) returned None"),
        ({"tau": lambda t, s: [[1], [2, 3]]}, r"tau\(t, state\) returned"),
        ({"tau": lambda t, s: s.strokes_a}, "State has no 'strokes_a'; did you mean"),
        ({"tau": lambda t, s: s["strokes_a"]}, "no quantity 'strokes_a'; did you mean"),
        ({"tau": [1, 2, 3, 4, 5, 6]}, r"tau is \[1, 2, 3, 4, 5, 6\], expected a function"),
        (
            {"thrust": docking.Thrust((1, 0, 0))},
            "thrust is .*, expected a function .*; a Thrust is part of the scenario",
        ),
        ({"tau": {"c": abs}}, "tau has the key 'c', expected 'a' and 'b'"),
        ({"tau": {"b": abs}}, "the station has a rigid port and no legs"),
        ({"laws": 3.0}, "laws is 3.0, expected a Law, six of them, or a function"),
        ({"laws": [ZERO] * 5}, "laws has 5 entries, expected 6"),
        ({"hold": 0.1}, "hold is given, but no function"),
        ({"tau": abs, "hold": 0.0015}, "hold is 0.0015, expected a multiple of the step 0.001"),
        ({"tau": abs, "hold": -1}, "hold is -1, expected a number > 0"),
    ],
)
def test_wrong_functions_are_refused(arguments, message):
    with pytest.raises((ValueError, TypeError, AttributeError, KeyError), match=message):
        docking.simulate(NOMINAL, 0.01, **arguments)


def test_a_campaign_takes_formulas_and_refuses_functions(built_in):
    formulas = docking.Phases(
        ready=laws.Formula("-400 * x - 80 * v"), attenuation=laws.Formula("-k * x - c * v", {"k": 700.0, "c": 2500.0})
    )
    mine = NOMINAL.replace(phases=formulas)
    same(docking.simulate(mine, dt=2e-3, after=0.5), built_in)
    assert docking.Scenario.from_dict(tomllib.loads(mine.to_toml())) == mine
    rows = [c.conditions for c in (NOMINAL, docking.demo("UPS", "limit"), docking.demo("UPS", "aligned"))]
    a, b = (docking.run_batch(s, rows, t_end=3.0, threads=1) for s in (mine, NOMINAL))
    for name in ("t_contact", "t_capture", "bending", "leg"):
        np.testing.assert_allclose(a[name], b[name], rtol=1e-12)
    box = docking.Box.idss(uncertain={"phases.attenuation.parameters.c": docking.Uniform(0.5, 2.0, relative=True)})
    c = docking.campaign(mine, n=4, box=box, threads=2)
    assert c.complete and c.scenario_of(1).phases.attenuation.parameters[0][1] != 2500.0
    with pytest.raises(TypeError, match=r"campaign: laws is an argument of docking.simulate: functions of Python"):
        docking.campaign(NOMINAL, n=4, laws=lambda t, p, v: 0 * p)
    with pytest.raises(ValueError, match=r"functions of Python are arguments of docking.simulate"):
        docking.Phases(ready=lambda t, x, v: 0.0)


def test_six_laws_of_a_phase_round_trip_and_act():
    six = tuple(laws.SpringDamper(400.0 + 10 * k, 80.0) for k in range(6))
    s = NOMINAL.replace(phases=docking.Phases(ready=six))
    assert docking.Scenario.from_dict(tomllib.loads(s.to_toml())) == s
    assert s.phases.laws(s.chaser.ring, 3)[0].laws[0].stiffness == 430.0
    with pytest.raises(ValueError, match="expected a Law, six of them, or None"):
        docking.Phases(ready=six[:5])


SCRIPT = """
import os, signal, threading, time
from zveno import docking
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
begin = time.perf_counter()
try:
    docking.simulate(docking.demo("UPS", "aligned"), t_end=1e4, dt=1e-4, record=10.0{more})
except KeyboardInterrupt as stop:
    d = stop.simulation
    print(d.status, 0 < d.t_end < 9999, abs(d.momentum_error) < 1e-6, time.perf_counter() - begin < 5)
"""


@pytest.mark.parametrize("more", ["", ", thrust=lambda t, s: [0] * 6, hold=0.01"])
def test_ctrl_c_ends_a_run_and_keeps_its_record(more):
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(more=more)], capture_output=True, text=True, env=os.environ, check=False
    )
    assert made.stdout.split() == ["stopped", "True", "True", "True"], made.stderr
