"""Chains under controllers with a hold period, on moving bases, with events of the caller, and with SciPy's steps."""

import builtins
import importlib
import pickle
import re

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain
from engines.worked_tree import QD, Q, worked_tree
from scipy.integrate import solve_ivp
from zveno import laws
from zveno.simulation import Crossing, Event, LimitEvent, PlaneContact

METHODS = ("rk4", "semi-implicit", "gauss", "midpoint", "radau", "adaptive")


def cart(mass=2.0, **options):
    link = zv.Link("cart", joint="prismatic", axis=(0, 0, 1), mass=mass, **options)
    return zv.Chain([link], name="cart", gravity=(0, 0, 0))


# ---- controllers


@pytest.mark.parametrize("method", METHODS)
def test_a_held_controller_makes_the_sampled_motion(method):
    m, period, calls = 2.0, 0.1, []

    def control(t, q, qd):
        calls.append(t)
        return [-3.0 * q[0] - 1.0 * qd[0]]

    dt = 1e-4 if method == "semi-implicit" else 0.02
    s = cart(m).simulate(1.0, dt, q=[1.0], tau=control, hold=period, method=method)
    x, v, want = 1.0, 0.0, []
    for _ in range(10):
        want.append((x, v))
        u = (-3.0 * x - v) / m
        x, v = x + period * v + u * period**2 / 2, v + period * u
    np.testing.assert_allclose(calls[:10], np.arange(10) * period, atol=1e-12)
    assert len(calls) == 11  # the last state is recorded with its effort
    stride = round(period / dt)
    got = np.c_[s.q[:-1:stride, 0], s.qd[:-1:stride, 0]]
    np.testing.assert_allclose(got, want, atol=2e-4 if method == "semi-implicit" else 1e-8)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("held", [True, False])
def test_errors_of_functions_are_named_and_keep_the_record(method, held):
    options = {"hold": 0.05} if held else {}

    def wrong(t, q, qd):
        if t > 0.3:
            raise RuntimeError("mine")
        return [0.0]

    with pytest.raises(RuntimeError, match="mine") as caught:
        cart().simulate(1.0, 0.05, qd=[1.0], tau=wrong, method=method, **options)
    assert re.fullmatch(r"simulate: raised by tau\(t, q, qd\) at t = 0\.[34]\d* s", caught.value.__notes__[0])
    # adaptive steps look ahead
    assert (0.05 if method == "adaptive" else 0.2) < caught.value.simulation.t[-1] <= 0.35
    with pytest.raises(ValueError, match=r"simulate: laws\(t, q, qd\) returned \[nan\], expected finite") as caught:
        cart().simulate(1.0, 0.05, laws=lambda t, q, qd: [np.nan if t > 0.3 else 0.0], method=method, **options)
    assert len(caught.value.simulation) > (1 if method == "adaptive" else 3)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"hold": 0.015, "tau": lambda t, q, qd: [0.0]}, "hold is 0.015, expected a whole number of steps of 0.01 s"),
        ({"hold": -1.0, "tau": lambda t, q, qd: [0.0]}, "hold is -1, expected a whole number of steps"),
        ({"hold": 0.1}, "hold is given, but neither tau nor laws is a function"),
        ({"hold": "x"}, "hold is 'x', expected a number"),
        ({"base_motion": [0.0] * 6}, "base_motion has shape (6,)"),
        ({"base_motion": ([0.0, 1.0], [[0.0] * 9])}, "values of base_motion"),
        ({"events": 3}, "events is 3, expected functions f(t, q, qd)"),
        ({"events": [3]}, "events[0] is 3, expected a function f(t, q, qd), Event or PlaneContact"),
        ({"events": [PlaneContact("nobody")]}, "event of link 'nobody', expected one of 'cart'"),
        ({"record": ["q", "torque"]}, "record names 'torque', expected some of t, q, qd"),
        ({"record": 3}, "record is 3, expected names of fields"),
    ],
)
def test_what_is_refused(options, text):
    with pytest.raises(ValueError, match=f"^simulate: {re.escape(text)}"):
        cart().simulate(1.0, 0.01, **options)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Event(3), "Event: function is 3, expected a function f(t, q, qd)"),
        (lambda: Event(len, direction=2), "Event: direction is 2, expected -1, 0 or 1"),
        (lambda: Event(len, terminal="yes"), "Event: terminal is 'yes', expected True or False"),
        (lambda: PlaneContact("a", normal=(0, 0, 0)), "PlaneContact: normal is zero, expected a direction"),
        (lambda: PlaneContact("a", point=(0, 0)), "PlaneContact: point has shape (2,)"),
        (lambda: PlaneContact(3), "PlaneContact: link is 3, expected the name of a link"),
    ],
)
def test_events_are_checked(make, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        make()


# ---- moving bases


@pytest.mark.parametrize("method", ["rk4", "gauss", "radau", "adaptive"])
@pytest.mark.parametrize("form", ["constant", "samples", "function"])
def test_an_accelerated_base_is_another_gravity(method, form):
    rng = np.random.default_rng(5)
    chain = random_chain(rng, 4, gravity=(0.3, -1.0, -9.0))
    a = np.array([1.0, 2.0, -0.5])
    fallen = zv.Chain(chain.links, name="b", gravity=np.array(chain.gravity) - a)
    motion = np.r_[a, np.zeros(6)]
    given = {
        "constant": motion,
        "samples": ([0.0, 0.1, 1.0], np.tile(motion, (3, 1))),
        "function": lambda t: motion,
    }[form]
    q, qd = rng.normal(size=(2, 4))
    one = chain.simulate(0.2, 2e-3, q=q, qd=qd, base_motion=given, method=method)
    two = fallen.simulate(0.2, 2e-3, q=q, qd=qd, method=method)
    np.testing.assert_allclose(one.q, two.q, atol=1e-7)
    np.testing.assert_allclose(one.base_wrench[0, :3], two.base_wrench[0, :3], atol=1e-9)
    assert np.isnan(one.energy_error).all()
    assert str(one.energy_balance) == "no energy balance"


@pytest.mark.parametrize("method", ["rk4", "gauss"])
def test_a_turning_base_is_a_heavy_wheel(method):
    """The base turns about z with 1.5 + 0.8 t rad/s: so does a first link of enormous inertia."""
    rng = np.random.default_rng(6)
    chain = random_chain(rng, 3, gravity=(0, 0, 0))
    heavy = 1e9
    links = [zv.Link("wheel", axis=(0, 0, 1), mass=heavy, inertia=heavy)]
    for link in chain.links:
        parent = "wheel" if link.parent == chain.base_name else link.parent
        links.append(zv.Link.from_dict(link.to_dict() | {"parent": parent}))
    wheel = zv.Chain(links, name="wheel", gravity=(0, 0, 0))
    q, qd = 0.5 * rng.normal(size=(2, 3))
    # in turning axes: the origin rests
    moved = chain.simulate(
        0.4, 1e-3, q=q, qd=qd, base_motion=lambda t: [0, 0, 0, 0, 0, 1.5 + 0.8 * t, 0, 0, 0.8], method=method
    )
    tau = np.zeros(4)
    tau[0] = 0.8 * heavy
    turned = wheel.simulate(0.4, 1e-3, q=np.r_[0, q], qd=np.r_[1.5, qd], tau=tau, method=method)
    np.testing.assert_allclose(moved.q, turned.q[:, 1:], atol=1e-6)


def test_batches_take_bases():
    chain = worked_tree()
    base = np.zeros((3, 9))
    base[:, 0] = 1, 2, 3
    runs = chain.simulate(0.1, 1e-2, q=Q, base_motion=base, threads=1)
    assert runs.shape == (3,)
    assert (runs[1].q == chain.simulate(0.1, 1e-2, q=Q, base_motion=base[1]).q).all()


# ---- events


def falling(**options):
    link = zv.Link("ball", joint="prismatic", axis=(0, 0, 1), mass=1.0, **options)
    return zv.Chain([link], name="ball", gravity=(0, 0, -9.81))


@pytest.mark.parametrize("method", ["rk4", "gauss", "radau", "adaptive"])
def test_a_ball_meets_the_floor_when_it_must(method):
    floor = PlaneContact("ball", point=(0, 0, -0.1), normal=(0, 0, 2), height=-1.1, terminal=True)
    s = falling().simulate(2.0, 0.05, events=[floor], method=method)
    end = np.sqrt(2 * 1.0 / 9.81)
    (event,) = s.events
    assert isinstance(event, Crossing)
    assert (event.name, event.kind) == ("ball", "fall")
    assert abs(event.time - end) < 1e-12
    assert s.t[-1] == event.time
    np.testing.assert_allclose(s.q[-1], -1.0, atol=1e-10)
    np.testing.assert_allclose(s.qd[-1], -9.81 * end, atol=1e-9)
    np.testing.assert_allclose([*event.q, *event.qd], [s.q[-1, 0], s.qd[-1, 0]], atol=1e-9)
    assert len(s) == int(end / 0.05) + 2


def test_directions_and_names_of_events():
    def height(t, q, qd):
        return q[0] - 0.2

    ball = falling()
    s = ball.simulate(1.0, 0.01, qd=[4.0], events=[height])
    assert [(e.name, e.kind) for e in s.events] == [("height", "rise"), ("height", "fall")]
    times = np.roots([-9.81 / 2, 4.0, -0.2])
    np.testing.assert_allclose([e.time for e in s.events], np.sort(times), atol=1e-12)
    up = ball.simulate(
        1.0, 0.01, qd=[4.0], events={"up": Event(height, direction=1), "down": Event(height, direction=-1)}
    )
    assert [(e.name, e.kind) for e in up.events] == [("up", "rise"), ("down", "fall")]
    height.terminal, height.direction = True, -1  # as SciPy has it
    down = ball.simulate(1.0, 0.01, qd=[4.0], events=height)
    assert [e.kind for e in down.events] == ["fall"]
    assert abs(down.t[-1] - times.max()) < 1e-12


def test_events_of_a_swinging_arm_are_those_of_scipy():
    arm = zv.robots.two_link()

    def cross(t, q, qd):
        return float(np.sin(q[0] + q[1]) - 0.1 * qd[0])

    def rates(t, y):
        return np.r_[y[2:], arm.forward_dynamics(y[:2], y[2:], np.zeros(2))]

    want = solve_ivp(
        rates,
        (0, 2),
        [0.5, 0, 0, 0],
        method="DOP853",
        rtol=1e-12,
        atol=1e-12,
        events=lambda t, y: cross(t, y[:2], y[2:]),
    ).t_events[0]
    for method in ("rk4", "adaptive"):
        found = [e.time for e in arm.simulate(2.0, 1e-3, q=[0.5, 0.0], events=cross, method=method).events]
        np.testing.assert_allclose(found, want, atol=1e-8)


def test_events_after_the_end_are_dropped_and_limits_stay_beside_them():
    ball = falling(lower=-0.5, upper=10.0)
    s = ball.simulate(2.0, 0.4, events=[PlaneContact("ball", height=-0.45, terminal=True)])
    assert [type(e) for e in s.events] == [Crossing]
    s = ball.simulate(2.0, 0.4, events=[PlaneContact("ball", height=-0.7, terminal=True)])
    assert [type(e) for e in s.events] == [LimitEvent, Crossing]


def test_events_are_saved(tmp_path):
    s = falling().simulate(1.0, 0.05, events=[PlaneContact("ball", height=-0.5)], method="gauss", record=["tau"])
    s.save(tmp_path / "ball.npz")
    back = zv.load(tmp_path / "ball.npz")
    assert back.events == s.events
    assert [f.name for f in back.fields] == ["t", "q", "qd", "tau"]
    assert back.method == "gauss"
    assert (back.q == s.q).all()


def test_errors_of_events_are_named():
    with pytest.raises(ZeroDivisionError) as caught:
        cart().simulate(1.0, 0.05, events={"odd": lambda t, q, qd: 1.0 / (t < 0.4)})
    assert caught.value.__notes__[0].startswith("simulate: raised by event 'odd' at t = 0.4")
    with pytest.raises(ValueError, match=r"simulate: event 'odd'\(t, q, qd\) returned .*expected"):
        cart().simulate(1.0, 0.05, events={"odd": lambda t, q, qd: np.nan})


# ---- what is recorded


def test_only_what_is_asked_for_is_recorded():
    arm = zv.robots.two_link()
    whole = arm.simulate(0.1, 1e-2, q=[0.5, 0.0])
    part = arm.simulate(0.1, 1e-2, q=[0.5, 0.0], record=["energy_error"])
    names = ["t", "q", "qd", "kinetic_energy", "potential_energy", "work_joints", "work_external", "energy_error"]
    assert [field.name for field in part.fields] == names
    for name in names:
        assert (getattr(part, name) == getattr(whole, name)).all()
    with pytest.raises(AttributeError, match="'base_wrench' was not recorded: name it in record= of simulate"):
        _ = part.base_wrench
    assert str(part.energy_balance) == "no energy balance"
    assert set(part.columns()) == {"t"} | {c for c in whole.columns() if c.split(".")[0] in names}
    runs = arm.simulate(0.1, 1e-2, q=[[0.5, 0.0], [0.2, 0.1]], record="tau", threads=1)
    assert [field.name for field in runs.fields] == ["t", "q", "qd", "tau"]
    assert (runs[0].tau == whole.tau).all()
    with pytest.raises(AttributeError, match="'qdd' was not recorded"):
        _ = runs.qdd


# ---- SciPy's steps


@pytest.mark.parametrize("method", ["adaptive", "adaptive-stiff"])
def test_adaptive_steps_are_those_of_scipy(method):
    arm = worked_tree()
    tau = np.array([2.0, -3, 8, 1, -0.5])

    def rates(t, y):
        return np.r_[y[5:], arm.forward_dynamics(y[:5], y[5:], tau)]

    want = solve_ivp(rates, (0, 0.5), np.r_[Q, QD], method="DOP853", rtol=1e-12, atol=1e-13, dense_output=True)
    s = arm.simulate(0.5, 0.05, q=Q, qd=QD, tau=tau, method=method, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(np.c_[s.q, s.qd], want.sol(s.t).T, atol=1e-5)
    t = np.linspace(0, 0.5, 37)
    between = s.at(t)
    np.testing.assert_allclose(np.c_[between.q, between.qd], want.sol(t).T, atol=2e-4)
    assert s.energy_balance.ratio < 1e-6
    assert s.steps_made > 3
    assert (pickle.loads(pickle.dumps(s)).at(t).q == between.q).all()


def test_adaptive_steps_end_where_efforts_jump():
    tau = np.array([[1.0], [-3.0], [2.0], [0.5]])
    s = cart(2.0).simulate(4.0, 1.0, tau=tau, method="adaptive")
    np.testing.assert_allclose(np.diff(s.qd[:, 0]), tau[:, 0] / 2, atol=1e-12)


def test_bristles_move_with_adaptive_steps():
    law = laws.LuGre(0.5, 0.7, 0.05, 200.0, 2.0)
    wheel = zv.Chain([zv.Link("w", axis=(0, 0, 1), mass=1.0, inertia=2.0)], name="w")
    a = wheel.simulate(1.0, 0.05, qd=[0.5], laws=law, method="adaptive")
    b = wheel.simulate(1.0, 1e-4, qd=[0.5], laws=law, every=500)
    np.testing.assert_allclose(a.q, b.q, atol=1e-6)


def test_adaptive_needs_scipy(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.partition(".")[0] == "scipy":
            raise ModuleNotFoundError("No module named 'scipy'", name="scipy")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(importlib, "import_module", lambda name: without(name))
    with pytest.raises(
        ImportError, match=r"simulate: method 'adaptive' needs scipy: install it with `pip install zveno\[scipy\]`"
    ):
        cart().simulate(1.0, 0.1, method="adaptive")


def test_failures_of_adaptive_runs_keep_the_record():
    light = zv.Chain([zv.Link("a", mass=1.0, com=(1, 0, 0))], name="a", gravity=(0, 0, 0))
    with pytest.raises((FloatingPointError, zv.errors.StepError), match=r"simulate: at t = ") as caught:
        light.simulate(10.0, 0.1, qd=[1.0], tau=lambda t, q, qd: [np.exp(min(qd[0], 700.0)) * 1e3], method="adaptive")
    assert len(caught.value.simulation) >= 1


# ---- between the records


def test_cubics_pass_between_the_states():
    arm = zv.robots.two_link()
    fine = arm.simulate(1.0, 1e-3, q=[0.5, 0.0])
    coarse = arm.simulate(1.0, 1e-2, q=[0.5, 0.0])
    state = coarse.at(fine.t)
    np.testing.assert_allclose(state.q, fine.q, atol=3e-6)
    np.testing.assert_allclose(state.qd, fine.qd, atol=2e-4)
    assert state.q.shape == (1001, 2)
    assert coarse.at(0.3).q.shape == (2,)
    assert (coarse.at(coarse.t).q == coarse.q).all()
    rates = arm.simulate(1.0, 1e-2, q=[0.5, 0.0], record=[]).at(fine.t).qd
    np.testing.assert_allclose(rates, fine.qd, atol=2e-3)
    with pytest.raises(ValueError, match=r"^Simulation.at: t is 1.5, expected times from 0 to 1 s"):
        coarse.at(1.5)
