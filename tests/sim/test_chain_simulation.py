"""Simulated motion of chains: energy, closed forms, other integrators, events, failures, records."""

import re

import matplotlib
import numpy as np
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import random_chain, random_state
from scipy.integrate import solve_ivp
from zveno import laws
from zveno.sim.chain import ChainSimulation, LimitEvent, simulate_chain
from zveno.simulation import HexapodSimulation

matplotlib.use("Agg")

METHODS = ("rk4", "semi-implicit")


def wheel(inertia=2.0, **options):
    """One hinge about the vertical: gravity does no work."""
    body = {"mass": 1.0, "inertia": np.diag([inertia, inertia, inertia])}
    return zv.Chain([zv.Link("rotor", joint_name="hinge", axis=(0, 0, 1), **body, **options)], name="wheel")


def slider(mass=3.0, **options):
    return zv.Chain([zv.Link("cart", joint="prismatic", axis=(1, 0, 0), mass=mass, **options)], name="slider")


def energy_of(chain, s):
    return chain.kinetic_energy(s.q, s.qd) + chain.potential_energy(s.q)


# ---- closed forms


def oscillator(t, x0, v0, mass, k, c):
    """A damped oscillation x'' = -(k x + c x') / mass, and its rate."""
    decay, w = c / 2 / mass, np.sqrt(k / mass - (c / 2 / mass) ** 2)
    a, b = x0, (v0 + decay * x0) / w
    wave, turned = a * np.cos(w * t) + b * np.sin(w * t), b * np.cos(w * t) - a * np.sin(w * t)
    return np.exp(-decay * t) * wave, np.exp(-decay * t) * (w * turned - decay * wave)


@pytest.mark.parametrize("make", [wheel, slider])
def test_a_joint_with_spring_and_damper_is_a_damped_oscillator(make):
    chain = make()
    mass = float(chain.mass_matrix([0.0])[0, 0])
    s = chain.simulate(2.0, 1e-3, q=[0.3], qd=[-1.0], laws=laws.SpringDamper(40.0, 1.5))
    q, qd = oscillator(s.t, 0.3, -1.0, mass, 40.0, 1.5)
    np.testing.assert_allclose(s.q[:, 0], q, atol=1e-11)
    np.testing.assert_allclose(s.qd[:, 0], qd, atol=1e-10)
    np.testing.assert_allclose(s.tau[:, 0], -40 * q - 1.5 * qd, atol=1e-9)
    np.testing.assert_allclose(s.qdd, s.tau / mass, rtol=1e-13)


def test_friction_of_a_link_is_a_damper():
    plain, rubbing = wheel(), wheel(friction=0.7)
    a = plain.simulate(1.0, 1e-3, qd=[2.0], laws=laws.SpringDamper(10.0, 0.7))
    b = rubbing.simulate(1.0, 1e-3, qd=[2.0], laws=laws.SpringDamper(10.0))
    np.testing.assert_allclose(a.q, b.q, atol=1e-13)
    np.testing.assert_allclose(a.work_joints, b.work_joints, atol=1e-12)
    assert np.abs(a.tau - b.tau).max() > 0.1  # the link's own friction is no effort
    assert np.abs(b.energy_error).max() < 1e-11


def test_a_constant_effort_gives_a_parabola():
    s = slider(2.0).simulate(1.5, 0.1, q=[1.0], qd=[-2.0], tau=[3.0])
    np.testing.assert_allclose(s.q[:, 0], 1 - 2 * s.t + 0.75 * s.t**2, rtol=1e-13)
    np.testing.assert_allclose(s.work_joints, 3 * (s.q[:, 0] - 1), atol=1e-13)


def test_efforts_are_held_over_each_step():
    tau = np.random.default_rng(1).normal(size=(20, 1))
    s = slider(2.0).simulate(2.0, 0.1, tau=tau)
    np.testing.assert_allclose(np.diff(s.qd[:, 0]), 0.05 * tau[:, 0], atol=1e-14)


def test_a_held_load_moves_with_lugre_only_by_its_bristles():
    law = laws.LuGre(5.0, 6.0, 1e-2, 1e4, 200.0)
    for method in METHODS:
        s = slider().simulate(1.0, 1e-4, tau=[4.0], laws=law, every=100, method=method)
        assert 4.0 / 1e4 < s.q[-1, 0] < 2e-3 and np.ptp(s.q[50:, 0]) < 1e-6
        assert s.tau[-1, 0] == pytest.approx(0.0, abs=1e-3)  # friction holds the load


# ---- balances


@pytest.mark.filterwarnings("ignore::zveno.SimulationWarning")
@pytest.mark.parametrize("method", METHODS)
def test_balance_of_energy_measures_the_error_of_the_method(method, rng):
    chain = random_chain(rng, 4, branching=True, rotor=True, friction=True)
    q, qd, _ = random_state(rng, chain)
    link, law = chain.link_names[-1], laws.SpringDamper(30.0, 2.0, 1.0) + laws.EddyBrake(2.0, 0.5)
    errors = []
    for dt in (2e-3, 1e-3):
        s = chain.simulate(0.2, dt, q=q, qd=qd / 4, laws=law, external={link: np.full(6, 2.0)}, method=method)
        errors.append(np.abs(s.energy_error).max())
        growth = energy_of(chain, s) - energy_of(chain, s)[0]
        np.testing.assert_allclose(growth, s.work_joints + s.work_external + s.energy_error, atol=1e-10)
        assert np.ptp(s.work_joints) > 0.01 and np.ptp(s.work_external) > 1e-4
    assert np.log2(errors[0] / errors[1]) > (3.5 if method == "rk4" else 0.8)


def test_free_motion_keeps_its_energy(rng):
    chain = random_chain(rng, 5, branching=True, rotor=True)
    q, qd, _ = random_state(rng, chain)
    s = chain.simulate(0.2, 5e-4, q=q, qd=qd / 2, every=20)
    scale = s.kinetic_energy[0] + np.ptp(s.potential_energy)
    assert np.abs(s.energy_error).max() < 1e-8 * scale
    assert not s.work_joints.any() and not s.work_external.any() and not s.tau.any()


def test_work_of_a_wrench_is_force_times_way():
    chain, pull = slider(), np.array([5.0, 1.0, -2.0, 0.3, 0.2, 0.1])
    s = chain.simulate(1.0, 1e-2, qd=[0.5], external={"cart": pull})
    np.testing.assert_allclose(s.work_external, 5 * s.q[:, 0], atol=1e-13)
    np.testing.assert_allclose(s.qdd, 5 / 3, rtol=1e-13)


# ---- against other integrators


def integrated(forward, n, t, q, qd, tau, external=None):
    def growth(t, y):
        loads = {link: load(t) for link, load in (external or {}).items()} or None
        return np.concatenate([y[n:], forward(y[:n], y[n:], tau(t, y[:n], y[n:]), loads)])

    return solve_ivp(growth, (t[0], t[-1]), np.append(q, qd), "DOP853", t_eval=t, rtol=1e-11, atol=1e-12).y.T


def test_scipy_finds_the_same_motion(arm, rng):
    q, qd, _ = random_state(rng, arm)
    n, qd, link = arm.n, qd / 5, arm.link_names[-1]
    pull = rng.uniform(-5, 5, 6)
    # efforts as strong as the inertia they act on
    k = np.diagonal(arm.mass_matrix(q)) * 50
    laws_of = [laws.SpringDamper(ki, ki / 10, 0.1 * ki, reference=0.2) for ki in k]
    s = arm.simulate(
        0.5, 2.5e-4, q=q, qd=qd, every=200, laws=laws_of, tau=lambda t, q, qd: np.sin(5 * t) * k / 50,
        external={link: ([0.0, 1.0], [0 * pull, pull])},
    )  # fmt: skip
    other = integrated(
        arm.forward_dynamics, n, s.t, q, qd,
        lambda t, q, qd: 0.1 * k - k * (q - 0.2) - k / 10 * qd + np.sin(5 * t) * k / 50, {link: lambda t: t * pull},
    )  # fmt: skip
    np.testing.assert_allclose(np.hstack([s.q, s.qd]), other, atol=1e-7 * np.abs(other).max())


def test_pinocchio_leads_to_the_same_motion(rng):
    chain = random_chain(rng, 5, branching=True, fixed=True, rotor=True, friction=True)
    twin = Twin(chain)
    q, qd, _ = random_state(rng, chain)
    pull = rng.uniform(-3, 3, 6)
    link = chain.link_names[-1]
    s = chain.simulate(0.2, 2e-4, q=q, qd=qd / 4, every=100, external={link: pull})
    other = integrated(
        twin.forward_dynamics, chain.n, s.t, q, qd / 4, lambda t, q, qd: np.zeros(chain.n), {link: lambda t: pull}
    )
    np.testing.assert_allclose(np.hstack([s.q, s.qd]), other, atol=1e-7 * np.abs(other).max())
    want = [twin.base_wrench(*state, {link: pull}) for state in zip(s.q, s.qd, s.qdd, strict=True)]
    np.testing.assert_allclose(s.base_wrench, want, atol=1e-9 * np.abs(want).max())


def test_semi_implicit_steps_use_the_new_velocity():
    chain = zv.robots.two_link()
    s = chain.simulate(0.01, 0.01, q=[0.3, 0.4], qd=[1.0, -2.0], tau=[3.0, 1.0], method="semi-implicit")
    qd = s.qd[0] + 0.01 * s.qdd[0]
    np.testing.assert_allclose(s.qd[1], qd, atol=1e-15)
    np.testing.assert_allclose(s.q[1], s.q[0] + 0.01 * qd, atol=1e-15)
    friction = chain.friction * s.qd[0]
    assert s.work_joints[1] == pytest.approx(0.01 * (s.tau[0] - friction) @ qd)


# ---- records


def test_records_are_what_the_chain_says_of_their_states(arm, rng):
    q, qd, _ = random_state(rng, arm)
    external = {arm.link_names[2]: rng.uniform(-2, 2, 6)}
    s = arm.simulate(0.05, 1e-3, q=q, qd=qd / 3, tau=rng.normal(size=arm.n), external=external, every=7)
    assert len(s) == 9 and s.chain is arm
    np.testing.assert_allclose(s.qdd, arm.forward_dynamics(s.q, s.qd, s.tau, external), rtol=1e-12, atol=1e-11)
    want = arm.base_wrench(s.q, s.qd, s.qdd, external)
    np.testing.assert_allclose(s.base_wrench, want, atol=1e-12 * np.abs(want).max())
    assert (s.kinetic_energy == arm.kinetic_energy(s.q, s.qd)).all()
    assert (s.potential_energy == arm.potential_energy(s.q)).all()


def test_laws_may_be_given_in_four_ways():
    arm = zv.robots.two_link()
    spring, start = laws.SpringDamper(20.0, 2.0), {"q": [0.4, -0.3]}
    first = arm.joint_names[0]
    everyone = arm.simulate(0.2, 1e-3, laws=spring, **start)
    for given in ([spring, spring], dict.fromkeys(arm.joint_names, spring), lambda t, q, qd: -20.0 * q - 2 * qd):
        np.testing.assert_allclose(arm.simulate(0.2, 1e-3, laws=given, **start).q, everyone.q, atol=1e-13)
    some = arm.simulate(0.2, 1e-3, laws={first: spring}, **start)
    assert (some.q == arm.simulate(0.2, 1e-3, laws=[spring, None], **start).q).all()
    assert some.tau[:, 0].all() and not some.tau[:, 1].any()
    both = arm.simulate(0.2, 1e-3, laws=spring, tau=lambda t, q, qd: 20.0 * q + 2 * qd, **start)
    np.testing.assert_allclose(both.tau, 0, atol=1e-13)


def test_functions_see_the_state_and_add_up():
    seen = []

    def tau(t, q, qd):
        seen.append((t, q.shape, qd.shape))
        return [1.0]

    def pull(t, q, qd):
        return [2.0, 0, 0, 0, 0, 0]

    s = slider(1.0).simulate(0.1, 0.01, tau=tau, laws=lambda t, q, qd: [4.0], external={"cart": pull})
    np.testing.assert_allclose(s.qdd, 7.0, rtol=1e-13)
    assert len(seen) == 41 and set(seen[0][1:]) == {(1,)}


def test_columns_carry_the_names_of_the_joints():
    arm = zv.robots.two_link()
    s = arm.simulate(0.02, 1e-3)
    columns = s.columns()
    assert (columns[f"qd.{arm.joint_names[1]}"] == s.qd[:, 1]).all() and (
        columns["base_wrench.fz"] == s.base_wrench[:, 2]
    ).all()
    assert len(columns) == sum(int(np.prod(a.shape[1:])) for a in s.to_dict().values())


def test_every_record_is_described_by_the_table_of_its_system():
    for kind, system in ((ChainSimulation, "chain"), (HexapodSimulation, "hexapod")):
        fields = zv._core.record_fields(system)
        assert [tuple(f) for f in kind.fields] == fields
        for name, unit, text, _ in fields:
            assert re.search(rf"^    {name} : \(n[,)].*\n        {re.escape(text)}$", kind.__doc__, re.M) and unit
    with pytest.raises(ValueError, match="record_fields: system is 'car', expected 'hexapod', 'chain' or 'linkage'"):
        zv._core.record_fields("car")


def test_records_are_simulations_and_immutable():
    s = wheel().simulate(0.01, 1e-3)
    assert isinstance(s, zv.Simulation) and isinstance(
        zv.mechanisms.docking_ring("UPS").simulate(0.01, 1e-3), zv.Simulation
    )
    with pytest.raises(AttributeError, match="cannot assign to 'q'"):
        s.q = 3
    with pytest.raises(AttributeError, match="cannot delete 'q'"):
        del s.q


def test_saved_records_come_back(tmp_path):
    chain = wheel(lower=-0.1, upper=0.1)
    s = chain.simulate(0.5, 1e-3, qd=[1.0])
    s.save(tmp_path / "run.npz")
    for kind in (zv.Simulation, ChainSimulation):
        back = kind.load(tmp_path / "run.npz")
        assert (
            type(back) is ChainSimulation and back.events == s.events and back.chain == chain and repr(back) == repr(s)
        )
        assert all((back.to_dict()[name] == array).all() for name, array in s.to_dict().items())
    with pytest.raises(ValueError, match="holds the simulation of a chain, expected one of a hexapod"):
        HexapodSimulation.load(tmp_path / "run.npz")


def test_records_are_drawn():
    s = zv.robots.two_link().simulate(0.02, 1e-3)
    figure = s.plot()
    labels = ["q, rad or m", "qd, rad/s or m/s", "tau, N m or N", "J", "energy error, J"]
    assert [axes.get_ylabel() for axes in figure.axes] == labels
    assert figure.get_suptitle().endswith(str(s.energy_balance))
    matplotlib.pyplot.close(figure)


# ---- events


def test_limits_of_joints_are_events():
    s = wheel(lower=-0.5, upper=0.25).simulate(1.5, 1e-2, qd=[1.0], laws=laws.SpringDamper(8.0))  # x = sin(2 t) / 2
    assert [e[1:4] for e in s.events] == [("hinge", "upper", "enter"), ("hinge", "upper", "leave")]
    np.testing.assert_allclose([e.time for e in s.events], [np.pi / 12, 5 * np.pi / 12], atol=1e-6)
    np.testing.assert_allclose([e.rate for e in s.events], np.array([1, -1]) * np.cos(np.pi / 6), atol=1e-4)
    assert all(isinstance(e, LimitEvent) for e in s.events)


def test_stops_take_the_limits_of_their_joint():
    chain = slider(1.0, lower=-1.0, upper=0.2)
    s = chain.simulate(1.0, 1e-4, qd=[1.0], laws=laws.Stops(1e4))
    half = np.pi / np.sqrt(1e4)  # of the oscillation in the stop
    np.testing.assert_allclose([e.time for e in s.events[:2]], [0.2, 0.2 + half], atol=1e-6)
    assert s.q.max() == pytest.approx(0.21, abs=1e-5)
    with pytest.raises(ValueError, match=r"Stops: joint 'cart.*' has no limits"):
        slider().simulate(1.0, 1e-3, laws=laws.Stops(1e4))


def test_a_law_takes_its_limits_from_a_joint():
    chain = slider(lower=-1.0, upper=0.2)
    law = laws.SpringDamper(3.0) + laws.Stops(10.0)
    spring, stops = law.at(chain, 0).laws
    assert spring.reference == 0 and (stops.lower, stops.upper) == (-1.0, 0.2)
    assert law.at(chain, chain.joint_names[0]) == law.at(chain, 0)
    with pytest.raises(ValueError, match=re.escape("Sum.at: joint is 1, expected 0 to 0 or one of (")):
        law.at(chain, 1)


# ---- failures


def test_steps_that_are_too_long_end_with_a_hint_and_the_record():
    with pytest.raises(
        FloatingPointError,
        match=r"simulate: at t = .* 'wheel' is not finite: dt = 1 s is too long.* stable up to 0.000126 s, for stiff",
    ) as caught:
        wheel().simulate(1e4, 1.0, q=[1.0], laws=laws.SpringDamper(1e9), check_step=False)
    s = caught.value.simulation
    assert len(s) > 0 and np.isfinite(s.q).all() and s.failure is caught.value and caught.value.time > s.t[-1]
    keywords = {"laws": laws.SpringDamper(1e9), "on_error": "stop", "every": 10**6, "check_step": False}
    again = wheel().simulate(1e4, 1.0, q=[1.0], **keywords)
    assert again.t[-1] == s.t[-1] and isinstance(again.failure, FloatingPointError)


def test_a_joint_without_mass_is_named():
    branches = [
        zv.Link("rod", parent="base", mass=1.0, inertia=np.eye(3) / 10),
        zv.Link("ghost", parent="base", joint_name="idle"),
    ]
    with pytest.warns(zv.ModelWarning, match="joint 'idle' moves no mass"):
        chain = zv.Chain(branches, name="light")
    with pytest.raises(
        zv.SingularityError, match="simulate: at t = 0 s joint 'idle' of model 'light' moves no mass"
    ) as caught:
        chain.simulate(1.0, 1e-3)
    assert (caught.value.joint, caught.value.time, len(caught.value.simulation)) == ("idle", 0.0, 0)


@pytest.mark.parametrize("argument", ["laws", "tau", "external"])
@pytest.mark.parametrize("error", [RuntimeError("mine"), KeyboardInterrupt()])
def test_errors_of_functions_come_through_with_the_record(argument, error):
    def broken(t, q, qd):
        if t > 0.0305:
            raise error
        return np.zeros(6 if argument == "external" else 1)

    given = {"cart": broken} if argument == "external" else broken
    with pytest.raises(type(error)) as caught:
        slider().simulate(1.0, 1e-3, every=20, on_error="stop", **{argument: given})
    assert caught.value is error
    np.testing.assert_allclose(error.simulation.t, [0, 0.02, 0.03])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"t_end": 0.0}, "t_end is 0, expected more than t_start = 0"),
        ({"dt": 0}, "dt is 0, expected a number > 0"),
        ({"method": "euler"}, "method is 'euler', expected 'rk4', 'semi-implicit', "),
        ({"every": 0}, "every is 0, expected a whole number > 0"),
        ({"on_error": "nan"}, "on_error is 'nan', expected 'raise' or 'stop'"),
        ({"progress": 1}, "progress is 1, expected True, False or None"),
        ({"q": [1, 2, 3]}, "q has shape (3,), expected (2,)"),
        ({"qd": [np.nan, 0.0]}, "qd is [nan, 0.0], expected finite numbers"),
        ({"tau": np.zeros((99, 2))}, "tau has shape (99, 2), expected (2,) or (100, 2)"),
        ({"laws": 3}, "laws is 3, expected a Law, 2 of them, a dict by joint name, or a function f(t, q, qd)"),
        ({"laws": "soft"}, "laws is 'soft', expected a Law"),
        ({"laws": [None]}, "laws has 1 entries, expected 2"),
        ({"laws": {"elbow": None}}, "laws names joint 'elbow', expected one of "),
        ({"laws": [None, 3]}, "law of joint "),
        ({"external": [1]}, "external is [1], expected a dict of wrenches by link name"),
        ({"external": {"hand": np.zeros(6)}}, "external names link 'hand', expected one of "),
        ({"external": {"base": np.zeros(6)}}, "external names link 'base', expected one of "),
    ],
)
def test_what_is_refused(changes, text):
    with pytest.raises(ValueError, match="^simulate: " + re.escape(text)):
        zv.robots.two_link().simulate(**{"t_end": 1.0, "dt": 0.01} | changes)


def test_wrong_loads_and_functions_are_named():
    arm = zv.robots.two_link()
    tip = arm.link_names[-1]
    for load, text in (
        (np.zeros(5), f"external of link '{tip}' has shape (5,), expected (6,)"),
        (([1, 1], np.zeros((2, 6))), f"times of external of link '{tip}' are not increasing"),
        (
            lambda t, q, qd: np.zeros(5),
            f"external['{tip}'](t, q, qd) returned an array of shape (5,), expected a wrench",
        ),
    ):
        with pytest.raises(ValueError, match="^simulate: " + re.escape(text)):
            arm.simulate(1.0, 0.01, external={tip: load})
    with pytest.raises(
        ValueError, match=re.escape("simulate: tau(t, q, qd) returned an array of shape (3,), expected efforts of")
    ):
        arm.simulate(1.0, 0.01, tau=lambda t, q, qd: np.zeros(3))
    with pytest.raises(
        TypeError, match=re.escape("simulate: laws(t, q, qd) returned None, expected efforts of shape (2,)")
    ):
        arm.simulate(1.0, 0.01, laws=lambda t, q, qd: None)


def test_only_chains_are_simulated():
    with pytest.raises(TypeError, match="simulate: chain is 3, expected a Chain"):
        simulate_chain(3, 1.0, 0.1)
