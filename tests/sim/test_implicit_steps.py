"""Implicit steps of chains: worked numbers, orders, energy, stiff laws, what does not converge."""

import _thread
import re
import threading
import time

import numpy as np
import pytest
import zveno as zv
from engines.flexible_boom import ELEMENTS, WORKED, tip, torques, two_booms
from engines.random_mechanisms import random_chain
from engines.worked_tree import QD, Q, worked_tree
from scipy.integrate import solve_ivp
from zveno import laws

IMPLICIT = ("midpoint", "gauss", "radau")
TAU = [2, -3, 8, 1, -0.5]
# q and qd of the worked tree after one step of 0.02 s
ONE_STEP = {
    "midpoint": (
        [0.415399580904, -0.716748501201, 0.148728686571, 1.10092834724, -0.431670150222],
        [0.939958090362, -0.774850120059, -0.477131342906, -1.20716527591, 6.03298497781],
    ),
    "gauss": (
        [0.415439048532, -0.716887389469, 0.148608387343, 1.10048631046, -0.429544152678],
        [0.944018277388, -0.780883563086, -0.484983498044, -1.2268015228, 6.10271557187],
    ),
    "radau": (
        [0.415439607213, -0.716888313582, 0.148607803613, 1.10048375227, -0.429533357771],
        [0.944020255081, -0.780888058667, -0.484992528632, -1.22682618829, 6.10283864644],
    ),
}


def fixed(method, atol=1e-13):
    """Options of a constant step whose equations are solved to the end."""
    return {"method": method, "atol": atol} | ({"rtol": 0} if method == "radau" else {})


def reference(chain, t_end, q, qd, tau, force=lambda q, qd: 0.0):
    def rates(t, y):
        x, v = np.split(y, 2)
        return np.r_[v, chain.forward_dynamics(x, v, tau + force(x, v))]

    end = solve_ivp(rates, (0, t_end), np.r_[q, qd], method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return np.split(end, 2)


@pytest.mark.parametrize("method", IMPLICIT)
def test_one_step_of_the_worked_tree(method):
    s = worked_tree().simulate(0.02, 0.02, q=Q, qd=QD, tau=TAU, **fixed(method))
    np.testing.assert_allclose(s.q[-1], ONE_STEP[method][0], rtol=0, atol=2e-11)
    np.testing.assert_allclose(s.qd[-1], ONE_STEP[method][1], rtol=0, atol=2e-9)
    assert (s.steps_made, s.steps_rejected) == (1, 0)


def test_implicit_is_gauss():
    a, b = (worked_tree().simulate(0.1, 0.02, q=Q, qd=QD, method=m) for m in ("implicit", "gauss"))
    assert a.method == "gauss"
    assert (a.q == b.q).all()


@pytest.mark.parametrize(("method", "order"), [("midpoint", 2), ("gauss", 4), ("radau", 5)])
def test_orders_by_halving_the_step(method, order):
    arm, tau = worked_tree(), np.array(TAU)
    q, qd = reference(arm, 0.32, Q, 0.3 * QD, tau)
    errors = []
    for h in (0.02, 0.01, 0.005):
        s = arm.simulate(0.32, h, q=Q, qd=0.3 * QD, tau=tau, **fixed(method))
        errors.append(np.abs(np.r_[s.q[-1] - q, s.qd[-1] - qd]).max())
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert abs(slopes[-1] - order) < 0.35, (errors, slopes)


@pytest.mark.parametrize("seed", range(6))
def test_random_trees_move_as_scipy_moves_them(seed):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, int(rng.integers(2, 8)))
    n = chain.n
    spring = laws.SpringDamper(30.0, 1.0, reference=0.0)
    q, qd, tau = rng.normal(size=(3, n))
    x, v = reference(chain, 0.2, q, qd, tau, lambda a, b: -30.0 * a - b)
    for method in ("gauss", "radau"):
        s = chain.simulate(0.2, 1e-3, q=q, qd=qd, tau=tau, laws=spring, method=method)
        np.testing.assert_allclose(s.q[-1], x, atol=1e-6)
        np.testing.assert_allclose(s.qd[-1], v, atol=1e-4 * (1 + np.abs(v).max()))


# ---- the flexible booms


@pytest.mark.parametrize("zeta", WORKED)
@pytest.mark.parametrize(
    ("method", "h", "bound"),
    [("midpoint", 0.01, 7e-4), ("gauss", 0.02, 5e-5), ("gauss", 0.01, 5e-6), ("radau", 0.005, 1e-5)],
)
def test_tip_of_the_booms(zeta, method, h, bound):
    arm, last = two_booms(zeta)
    steps = round(2 / h)
    s = arm.simulate(2.0, h, tau=torques(arm, steps), every=steps, **fixed(method, 1e-12))
    assert np.linalg.norm(tip(arm, last, s.q[-1]) - WORKED[zeta][0]) < bound
    assert s.steps_rejected == 0
    assert s.iterations < 6 * s.steps_made
    assert s.energy_balance.ratio < (5e-3 if method == "radau" else 1e-3)  # it damps


@pytest.mark.parametrize("zeta", WORKED)
def test_error_control_brings_the_tip_to_the_worked_place(zeta):
    arm, last = two_booms(zeta)
    place, drives = WORKED[zeta]
    errors = []
    for rtol in (1e-5, 1e-7):
        s = arm.simulate(2.0, 1.0, tau=torques(arm, 2), method="radau", rtol=rtol, atol=1e-2 * rtol, record=[])
        errors.append(np.linalg.norm(tip(arm, last, s.q[-1]) - place))
    assert errors[0] < 2e-4
    assert errors[1] < 5e-7
    np.testing.assert_allclose(s.q[-1, [0, ELEMENTS + 1]], drives, atol=5e-7)
    assert s.steps_made > 100


def test_energy_of_booms_that_move_freely():
    arm, _ = two_booms(0.0)
    qd = np.zeros(arm.n)
    qd[[0, ELEMENTS + 1]] = 0.5, -0.8
    for method, h, bound in (("gauss", 0.01, 1e-8), ("midpoint", 0.005, 5e-5), ("radau", 0.005, 1e-7)):
        s = arm.simulate(2.0, h, qd=qd, every=50, **fixed(method, 1e-12))
        drift = np.abs(s.kinetic_energy + s.potential_energy - s.kinetic_energy[0] - s.potential_energy[0])
        assert drift.max() / s.kinetic_energy[0] < bound, method


# ---- laws, loads, accounts


def test_springs_of_laws_stiffen_the_iteration_as_those_of_links_do():
    k, c = 4e5, 40.0
    sprung = zv.Chain([zv.Link("a", mass=1.0, com=(0.1, 0, 0), inertia=0.01, stiffness=k, friction=c)], name="a")
    plain = zv.Chain([zv.Link("a", mass=1.0, com=(0.1, 0, 0), inertia=0.01)], name="a")
    a = sprung.simulate(0.5, 0.01, q=[0.02], method="gauss")
    b = plain.simulate(0.5, 0.01, q=[0.02], laws=laws.SpringDamper(k, c), method="gauss")
    np.testing.assert_allclose(a.q, b.q, atol=1e-10)
    assert b.iterations <= a.iterations + 5
    # the work of the law is accounted for by the same quadrature
    np.testing.assert_allclose(b.energy_error, a.energy_error, atol=1e-5)  # of 80 J


@pytest.mark.parametrize(
    "law",
    [
        laws.DryFriction(0.4, 0.05),
        laws.EddyBrake(0.5, 0.3),
        laws.Stops(300.0, 1.0, lower=-0.2, upper=0.2),
        laws.Servo(50.0, 3.0, 0.3, limit=4.0),
        laws.SlipClutch(2.0, laws.SpringDamper(60.0, 1.0)),
    ],
    ids=lambda law: type(law).__name__,
)
def test_other_laws_act_as_with_short_explicit_steps(law):
    arm = zv.robots.two_link()
    fine = arm.simulate(0.6, 1e-4, q=[0.1, -0.1], qd=[1.0, 0.5], laws=law, every=6000)
    coarse = arm.simulate(0.6, 2e-3, q=[0.1, -0.1], qd=[1.0, 0.5], laws=law, method="gauss")
    # where a force jumps, order one is all that a step has
    np.testing.assert_allclose(coarse.q[-1], fine.q[-1], atol=1e-2 if isinstance(law, laws.Stops) else 2e-5)
    assert coarse.energy_balance.ratio < 1e-3


def test_external_wrenches_and_functions_act():
    arm = worked_tree()
    push = {"5": lambda t, q, qd: [np.sin(3 * t), 0.5, 0.2, 0.1, 0, 0.3], "3": (np.array([0.0, 1.0]), np.ones((2, 6)))}
    options = {"q": Q, "qd": 0.3 * QD, "external": push, "tau": lambda t, q, qd: -2.0 * q}
    fine = arm.simulate(0.3, 1e-4, every=3000, **options)
    for method in ("gauss", "radau"):
        s = arm.simulate(0.3, 5e-3, method=method, **options)
        np.testing.assert_allclose(s.q[-1], fine.q[-1], atol=1e-5)
        np.testing.assert_allclose(s.work_external[-1], fine.work_external[-1], atol=1e-5)
        assert np.abs(s.energy_error).max() < 1e-3


def test_limits_are_found_with_implicit_steps():
    links = [zv.Link("cart", joint="prismatic", axis=(1, 0, 0), mass=2.0, lower=-1.0, upper=0.5)]
    s = zv.Chain(links, name="cart", gravity=(0, 0, 0)).simulate(2.0, 0.05, qd=[0.3], tau=[1.0], method="gauss")
    (event,) = s.events
    assert abs(event.time - (-0.3 + np.sqrt(0.09 + 0.5)) / 0.5) < 1e-12
    assert (event.side, event.kind) == ("upper", "enter")


def test_large_coordinates_do_not_stall_the_iteration():
    chain = zv.Chain([zv.Link("cart", joint="prismatic", axis=(1, 0, 0), mass=2.0, stiffness=10.0)], name="far")
    s = chain.simulate(1.0, 0.05, q=[3e6], method="gauss")
    assert abs(s.q[-1, 0] / (3e6 * np.cos(np.sqrt(5.0))) - 1) < 1e-4


def test_a_step_of_any_length_is_stable():
    arm, _ = two_booms(0.05)
    for method in IMPLICIT:
        s = arm.simulate(20.0, 0.5, qd=np.full(arm.n, 0.01), record=["kinetic_energy"], **fixed(method, 1e-8))
        assert s.kinetic_energy.max() < 1.001 * s.kinetic_energy[0]


# ---- vibrations that steps do not follow


def sprung(stiffness=4e6, **more):
    link = zv.Link("mass", joint="prismatic", axis=(1, 0, 0), mass=2.0, stiffness=stiffness, **more)
    return zv.Chain([link], gravity=(0, 0, 0))


@pytest.mark.parametrize("method", ["gauss", "midpoint"])
def test_a_vibration_that_steps_do_not_follow_is_told_with_joint_frequency_and_energy(method):
    frequency = np.sqrt(4e6 / 2) / (2 * np.pi)
    text = (
        rf"joint 'mass_joint' starts off .* vibrates at {frequency:.3g} Hz with 2 J, which dt = 0.01 s does not follow"
    )
    with pytest.warns(zv.SimulationWarning, match=text):
        sprung().simulate(0.5, 0.01, q=[1e-3], method=method)
    law = zv.laws.SpringDamper(4e6)
    with pytest.warns(zv.SimulationWarning, match=text):
        sprung(0.0).simulate(0.5, 0.01, q=[1e-3], laws={"mass_joint": law}, method=method)


@pytest.mark.parametrize(
    ("chain", "dt", "q", "method"),
    [
        (sprung(), 0.01, 0.0, "gauss"),  # at rest
        (sprung(), 1e-3, 1e-3, "gauss"),  # followed
        (sprung(friction=2e3), 0.01, 1e-3, "gauss"),  # dies
        (sprung(4e3), 0.01, 1e-3, "midpoint"),  # slow
    ],
)
def test_vibrations_that_are_none_or_are_followed_are_not_told(chain, dt, q, method):
    assert chain.simulate(0.1, dt, q=[q], method=method).failure is None


# ---- refusals


def test_a_jumping_force_is_not_solved_silently():
    cart = zv.Chain([zv.Link("cart", joint="prismatic", axis=(1, 0, 0), mass=1.0)], name="cart", gravity=(0, 0, 0))
    with pytest.raises(
        zv.errors.StepError, match=r"at t = [\d.]+ s the equations of a step of 'gauss' are not solved"
    ) as e:
        cart.simulate(1.0, 0.05, qd=[0.32], tau=lambda t, q, qd: [-2.0 if qd[0] > 0 else 2.0], method="gauss")
    assert 0.14 < e.value.time < 0.17
    assert len(e.value.simulation) >= 3
    s = cart.simulate(
        1.0, 0.05, qd=[0.32], tau=lambda t, q, qd: [-2.0 if qd[0] > 0 else 2.0], method="gauss", on_error="stop"
    )
    assert isinstance(s.failure, zv.errors.StepError)


def test_bristles_are_refused():
    arm = zv.robots.two_link()
    law = laws.LuGre(0.5, 0.7, 0.01, 1e3, 1.0)
    with pytest.raises(
        ValueError, match=r"^simulate: law of joint 'upper_joint' has LuGre, whose bristles method 'gauss'"
    ):
        arm.simulate(1.0, 0.01, laws=law, method="gauss")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "gauss", "rtol": 1e-3}, "rtol is 0.001, which method 'gauss' does not have"),
        ({"method": "rk4", "atol": 1e-3}, "atol is 0.001, which method 'rk4' does not have"),
        ({"method": "radau", "rtol": -1.0}, "rtol is -1, expected a number > 0"),
        ({"method": "gauss", "atol": 0.0}, "atol is 0, expected a number > 0"),
        ({"method": "radau", "rtol": "x"}, "rtol is 'x', expected a number"),
        ({"method": "radau", "atol": np.nan}, "atol is nan, expected a finite number"),
    ],
)
def test_tolerances_are_checked(options, text):
    with pytest.raises(ValueError, match=f"^simulate: {re.escape(text)}"):
        zv.robots.two_link().simulate(1.0, 0.1, **options)


def test_overflow_names_its_time():
    with pytest.raises((FloatingPointError, zv.errors.StepError), match=r"simulate: at t = ") as e:
        zv.robots.two_link().simulate(1.0, 0.1, qd=[1e200, 0], method="gauss")
    assert len(e.value.simulation) == 0


def test_batches_have_the_bits_of_single_runs():
    arm = worked_tree()
    q = Q + np.linspace(-0.2, 0.2, 3)[:, None]
    runs = arm.simulate(0.2, 0.02, q=q, method="gauss", threads=2)
    for k in range(3):
        assert (runs[k].q == arm.simulate(0.2, 0.02, q=q[k], method="gauss").q).all()


def test_a_run_that_is_not_solved_is_explained_in_its_batch():
    cart = zv.Chain([zv.Link("cart", joint="prismatic", axis=(1, 0, 0), mass=1.0)], name="cart", gravity=(0, 0, 0))
    runs = cart.simulate(
        0.3,
        0.05,
        qd=[[0.32], [9.0]],
        tau=lambda t, q, qd: [-2.0 if qd[0] > 0 else 2.0],
        method="gauss",
        on_error="nan",
        threads=1,
    )
    assert runs.status.astype(bool).tolist() == [True, False]
    assert "implicit step" in str(cart.explain(int(runs.status[0])))
    assert isinstance(runs.failures[0], zv.errors.StepError)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("method", ["gauss", "radau", "adaptive"])
def test_ctrl_c_ends_a_run_within_a_step_too(method):
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt) as caught:
        dt = 1e6 if method == "radau" else 1e-3
        zv.robots.two_link().simulate(1e6, dt, q=[0.5, 0.0], method=method, every=10**9 if dt < 1 else 1)
    timer.join()
    assert time.perf_counter() - begin < 10
    assert caught.value.simulation.t[0] == 0
