"""The longest stable step: against runs, against closed forms, what is refused and who is blamed."""

import math
import re
import warnings

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain, random_state
from hexapod_models import sliding_leg
from zveno import laws
from zveno._rotation import from_quaternion
from zveno.sim import stability

METHODS = ("rk4", "semi-implicit")
HUNT = ("RUS", "RSU")


def ring(kind="UPS"):
    return zv.mechanisms.docking_ring(kind)


def slider(mass=3.0, **options):
    return zv.Chain([zv.Link("cart", joint="prismatic", axis=(1, 0, 0), mass=mass, **options)], name="slider")


def limit_of_ring(hexapod, method, law):
    resolved = [law.of(hexapod, k) for k in range(6)]
    linear = stability.of_hexapod(hexapod, method, resolved, *hexapod.nominal, np.zeros(6))
    return linear.limit(linear.acting(1e-3))


def limit_of_chain(chain, method, law, q, dt=1e-3, qd=None):
    resolved = [law.at(chain, j) for j in range(chain.n)]
    linear = stability.of_chain(chain, method, resolved, q, np.zeros(chain.n) if qd is None else np.array(qd))
    return linear.limit(linear.acting(dt))


def true_limit(run, guess, steps=400):
    """The step from which small motions grow, by bisection over runs of so many steps."""

    def grows(dt):
        try:
            speed = run(steps * dt, dt)
        except (zv.Error, FloatingPointError):
            return True
        return bool(np.abs(speed[-1]).max() > 10 * np.abs(speed[0]).max())

    low, high = guess / 4, guess * 4
    assert not grows(low) and grows(high)
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if grows(middle) else (middle, high)
    return math.sqrt(low * high)


# the kinds of stiffness: springs alone, dampers alone, both as strong
LAWS = {
    "UPS": {"spring": (1e6, 0.0), "damper": (1.0, 2e4), "both": (1e6, 4e3)},
    "RSU": {"spring": (2e4, 0.0), "damper": (1.0, 300.0), "both": (2e4, 80.0)},
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::zveno.SimulationWarning")
@pytest.mark.parametrize("what", ["spring", "damper", "both"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["UPS", "RSU"])
def test_the_limit_of_a_ring_is_where_its_motion_explodes(kind, method, what):
    hexapod, law = ring(kind), laws.SpringDamper(*LAWS[kind][what])
    push = 1e-9 * np.array([1.0, -0.7, 0.5, 0.8, 1.1, -0.6])
    limit, cause = limit_of_ring(hexapod, method, law)

    def run(t_end, dt):
        return hexapod.simulate(t_end, dt, u=push, laws=law, method=method, check_step=False).u

    assert limit == pytest.approx(true_limit(run, limit), rel=0.03)
    assert "SpringDamper in leg 'leg" in cause and cause.endswith("and 5 more")
    assert what == "both" or cause.startswith({"spring": "stiffness", "damper": "damping"}[what])


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::zveno.SimulationWarning")
@pytest.mark.parametrize("what", ["spring", "damper", "link"])
@pytest.mark.parametrize("method", METHODS)
def test_the_limit_of_a_chain_is_where_its_motion_explodes(method, what, rng):
    chain = random_chain(rng, 4, branching=True, rotor=True).with_gravity((0, 0, 0))
    law = laws.SpringDamper(*{"spring": (1e4, 0.0), "damper": (1.0, 100.0), "link": (3e3, 1.0)}[what])
    if what == "link":
        links = [link._with(friction=20.0, stiffness=5e3) for link in chain.links]
        chain = zv.Chain(links, gravity=(0, 0, 0))
    q = np.zeros(4)
    _, qd, _ = random_state(rng, chain)
    limit, _ = limit_of_chain(chain, method, law, q)

    def run(t_end, dt):
        return chain.simulate(t_end, dt, q=q, qd=1e-9 * qd, laws=law, method=method, check_step=False).qd

    assert limit == pytest.approx(true_limit(run, limit), rel=0.03)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::zveno.SimulationWarning")
@pytest.mark.parametrize("method", METHODS)
def test_bristles_that_stick_are_springs(method):
    law = laws.LuGre(50.0, 60.0, 1e-2, 1e6, 500.0, 10.0)
    linear = stability.of_chain(slider(), method, [law], np.zeros(1), np.zeros(1))
    limit, cause = linear.limit(linear.met(1e-4, set()))

    def run(t_end, dt):
        return slider().simulate(t_end, dt, tau=[1e-9], laws=law, method=method, check_step=False).qd[5:]

    assert limit == pytest.approx(true_limit(run, limit, 4000), rel=0.03)
    assert cause == "stiffness = 1e+06 N/m of LuGre in joint 'cart_joint'"
    assert method == "rk4" or limit == pytest.approx(510 / 1e6, rel=1e-3)


def chatter(dt, damping, **start):
    """Speed of a cart with bristles in the last half of a second of "semi-implicit", and the warnings."""
    law = laws.LuGre(50.0, 60.0, 1e-2, 1e6, damping, 10.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        s = slider().simulate(1.0, dt, laws=law, method="semi-implicit", **start)
    return float(np.abs(s.qd[len(s) // 2 :]).max()), [str(warning.message) for warning in caught]


@pytest.mark.parametrize("damping", [100.0, 500.0])
@pytest.mark.parametrize("start", [{"tau": [20.0]}, {"qd": [0.5]}], ids=["rest", "slides"])
def test_bristles_that_chatter_are_warned_about(damping, start):
    limit = (damping + 10) / 1e6
    speed, texts = chatter(0.5 * limit, damping, **start)
    assert speed < 1e-3 and all(text.endswith("and accurate far below that") for text in texts)
    speed, texts = chatter(1.5 * limit, damping, **start)
    assert speed > 1e-3  # they chatter
    assert len(texts) == 1
    assert f"'semi-implicit' is stable up to {limit:.3g} s, because of stiffness = 1e+06 N/m of LuGre" in texts[0]


def test_bristles_without_damping_want_another_method():
    law = laws.LuGre(50.0, 60.0, 1e-2, 1e6)
    with pytest.warns(
        zv.SimulationWarning, match=r"is stable up to \S+e-07 s, because of stiffness = 1e\+06 N/m of LuGre"
    ):
        s = slider().simulate(1.0, 1e-5, qd=[0.1], laws=law, method="semi-implicit")
    assert s.energy_balance.ratio < 1e-3 and np.abs(s.qd[-100:]).max() > 1e-5  # the balance alone would not tell


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::zveno.SimulationWarning")
@pytest.mark.parametrize("damping", [300.0, 1500.0, 2500.0, 5000.0])
def test_the_limit_of_damped_bristles_is_where_their_motion_explodes(damping):
    """Whatever damps: dt < C / B for weak, dt < (C - sqrt(C^2 - 4 B)) / B for strong damping, per unit of mass."""
    law = laws.LuGre(50.0, 60.0, 1e-2, 1e6, damping)
    linear = stability.of_chain(slider(), "semi-implicit", [law], np.zeros(1), np.zeros(1))
    limit, cause = linear.limit(linear.sticking(1e-4, set(), np.zeros((1, 1))))
    c, k = damping / 3, 1e6 / 3
    assert limit == pytest.approx(c / k if c * c < 4 * k else (c - math.sqrt(c * c - 4 * k)) / k, rel=1e-3)
    assert cause.startswith("stiffness" if damping < 2000 else "damping")

    def run(t_end, dt):
        found = slider().simulate(t_end, dt, tau=[1e-9], laws=law, method="semi-implicit", check_step=False)
        return found.qd[5:]

    assert limit == pytest.approx(true_limit(run, limit, 20_000), rel=0.03)


def test_bristles_that_slide_through_are_not_warned_about():
    law = laws.LuGre(50.0, 60.0, 1e-2, 1e6, 500.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s = slider().simulate(0.5, 1e-3, qd=[0.5], tau=[70.0], laws=law, method="semi-implicit")
    assert (s.qd > 0.4).all()


@pytest.mark.parametrize("start", [{"tau": [20.0]}, {"qd": [0.5]}], ids=["rest", "slides"])
def test_damping_of_bristles_explodes_and_is_refused(start):
    """dt = 2 m / damping is the limit of a damper; runs explode from 0.7 to 1.2 of it."""
    law, limit = laws.LuGre(50.0, 60.0, 1e-2, 1e6, 500.0), 2 * 3.0 / 500
    with pytest.warns(zv.SimulationWarning, match=r"stable up to 0\.0005 s"):
        wild = slider().simulate(500 * limit, 1.3 * limit, laws=law, method="semi-implicit", **start)
    assert np.abs(wild.qd[-1]) > 1e6
    text = f"longest stable step of 'semi-implicit', {limit:.3g} s, because of damping = 500 N s/m of LuGre in joint"
    with pytest.raises(zv.StepError, match=re.escape(text)):
        slider().simulate(1.0, 2.05 * limit, laws=law, method="semi-implicit", **start)


def test_limits_of_one_joint_have_closed_forms():
    mass, k, c = 3.0, 2.7e5, 900.0
    omega, rate, zero = math.sqrt(k / mass), c / mass, np.zeros(1)
    spring, damper, both = (laws.SpringDamper(*x) for x in ((k, 0.0), (0.0, c), (k, c)))
    for law, rk4, semi in (
        (spring, 2 * math.sqrt(2) / omega, 2 / omega),
        (damper, 2.785293563405282 / rate, 2 / rate),
        # omega^2 dt^2 + 2 c dt = 4
        (both, None, (-rate + math.sqrt(rate**2 + 4 * omega**2)) / omega**2),
    ):
        if rk4 is not None:
            assert limit_of_chain(slider(mass), "rk4", law, zero).dt == pytest.approx(rk4, rel=1e-6)
        assert limit_of_chain(slider(mass), "semi-implicit", law, zero).dt == pytest.approx(semi, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("damping", [0.0, 5.0])
def test_of_equal_springs_the_first_is_blamed_wherever_the_axes_are(method, damping):
    """Three springs at 120 degrees have two modes of one frequency: which eigenvectors are found is chance."""
    slope = stability.Slope("SpringDamper", 1e4, damping)
    for turn in np.linspace(0.0, 2 * math.pi, 25):
        rows = [np.array([math.cos(turn + k), math.sin(turn + k)]) for k in 2 * math.pi / 3 * np.arange(3)]
        springs = [stability.Spring(f"leg {k}", "m", row, slope, 0.0, 0.0, k) for k, row in enumerate(rows)]
        linear = stability.Linearised(method, 2.0 * np.eye(2), springs)
        assert linear.limit(linear.springs).cause == "stiffness = 10000 N/m of SpringDamper in leg 0 and 2 more"


def test_sliding_bristles_relax():
    law = laws.LuGre(50.0, 60.0, 1e-2, 1e6)
    limit, cause = limit_of_chain(slider(), "rk4", law, np.zeros(1), dt=1e-3, qd=[0.5])
    assert limit == pytest.approx(2.785293563405282 * 50 / (1e6 * 0.5), rel=1e-6)
    assert cause == "bristles of LuGre in joint 'cart_joint' that relax with 1e+04 1/s"
    assert math.isinf(limit_of_chain(slider(), "semi-implicit", law, np.zeros(1), dt=1e-3, qd=[0.5]).dt)


@pytest.mark.parametrize("method", METHODS)
def test_steps_far_beyond_the_limit_are_refused_with_the_limit_and_its_cause(method):
    hexapod, law = ring(), laws.SpringDamper(1e6, 1e3)
    limit, cause = limit_of_ring(hexapod, method, law)
    text = (
        f"simulate: dt is 0.05 s, more than 2 times the longest stable step of '{method}', {limit:.3g} s, because of "
    )
    with pytest.raises(zv.StepError, match=re.escape(text + "stiffness = 1e+06 N/m of SpringDamper in leg")) as caught:
        hexapod.simulate(1.0, 0.05, u=np.full(6, 0.01), laws=law, method=method)
    error = caught.value
    assert isinstance(error, zv.Error | ValueError) and error.dt == 0.05 and error.cause == cause
    assert error.limit == pytest.approx(limit)
    with pytest.raises((zv.SingularityError, zv.UnreachableError, FloatingPointError)):  # it does explode
        hexapod.simulate(5.0, 0.05, u=np.full(6, 0.01), laws=law, method=method, check_step=False)
    with pytest.raises(zv.StepError):
        hexapod.simulate(6.03 * limit, 2.01 * limit, u=np.full(6, 1e-9), laws=law, method=method)
    with pytest.warns(zv.SimulationWarning, match=f"'{method}' is stable up to {limit:.3g} s"):
        hexapod.simulate(5.97 * limit, 1.99 * limit, u=np.full(6, 1e-9), laws=law, method=method)


@pytest.mark.parametrize("law", [laws.SpringDamper(1e9), laws.Servo(1e9), laws.SpringDamper(0.0, 1e6)])
def test_chains_are_refused_too(law):
    with pytest.raises(zv.StepError, match=r"longest stable step of 'rk4', .* in joint 'cart_joint': the motion would"):
        slider().simulate(1.0, 1e-2, qd=[0.1], laws=law)


def test_springs_of_links_count():
    with pytest.raises(zv.StepError, match=r"stiffness = 1e\+08 N/m of the link in joint 'cart_joint'"):
        slider(stiffness=1e8).simulate(1.0, 1e-2, qd=[0.1])
    with pytest.raises(zv.StepError, match=r"friction = 1e\+06 N s/m of the link in joint 'cart_joint'"):
        slider(friction=1e6).simulate(1.0, 1e-2, qd=[0.1])


def test_springs_of_custom_legs_count():
    plain = ring()
    legs = [sliding_leg(leg, stiffness=1e6) for leg in plain.legs]
    hexapod = zv.Hexapod(plain.platform, legs, nominal=plain.nominal)
    with pytest.raises(zv.StepError, match="of the link in joint 'rod_joint' of leg 'leg") as caught:
        hexapod.simulate(1.0, 0.1, u=np.full(6, 0.01))
    assert caught.value.limit == pytest.approx(limit_of_ring(plain, "rk4", laws.SpringDamper(1e6)).dt, rel=1e-6)


def test_stops_count_from_the_start_only_if_they_are_met_there():
    chain, law = slider(lower=-1.0, upper=0.2), laws.Stops(1e8)
    assert len(chain.simulate(0.1, 1e-3, qd=[0.5], laws=law)) == 101  # never met
    with pytest.raises(zv.StepError, match=r"stiffness = 1e\+08 N/m of Stops in joint 'cart_joint'"):
        chain.simulate(0.1, 1e-3, q=[0.2], qd=[0.5], laws=law)
    with pytest.warns(
        zv.SimulationWarning, match=r"stable up to 0.00034\d s, because of stiffness = 1e\+08 N/m of Stops"
    ):
        chain.simulate(0.5, 1e-3, qd=[0.5], laws=law, method="semi-implicit")


@pytest.mark.parametrize("law", [laws.DryFriction(50.0, 1e-5), laws.EddyBrake(100.0, 1e-5),
                                 laws.Servo(1e9, limit=5.0), laws.SlipClutch(5.0, laws.SpringDamper(1e9))])  # fmt: skip
@pytest.mark.filterwarnings("ignore::zveno.SimulationWarning")  # they chatter
def test_forces_with_a_bound_are_not_refused(law):
    s = slider().simulate(0.2, 1e-3, qd=[0.1], laws=law)
    assert s.failure is None and np.abs(s.qd).max() < 1


def test_the_check_can_be_switched_off_and_takes_yes_or_no():
    with pytest.raises(ValueError, match="simulate: check_step is 1, expected True or False"):
        slider().simulate(1.0, 1e-2, check_step=1)
    with pytest.warns(zv.SimulationWarning, match=r"dt = 0\.01 s is too long; 'rk4' is stable up to 8\.36e-06 s"):
        s = slider().simulate(0.02, 1e-2, qd=[0.0], laws=laws.SpringDamper(0.0, 1e6), check_step=False)
    assert len(s) == 3


def test_a_start_that_cannot_be_is_left_to_the_run():
    with pytest.raises(zv.UnreachableError):
        ring("RUS").simulate(1.0, 1e-2, r=[2.0, 0, 0], laws=laws.SpringDamper(1e9))


def test_states_of_all_legs_count_where_they_are():
    """The limit is that of the pose at the start."""
    hexapod, law = ring(), laws.SpringDamper(1e6)
    resolved = [law.of(hexapod, k) for k in range(6)]
    r, q = hexapod.nominal[0] + [-0.03, 0.05, 0.0], np.array([[np.cos(0.1), np.sin(0.1), 0, 0]])
    linear = stability.of_hexapod(hexapod, "semi-implicit", resolved, r, from_quaternion(q)[0], np.zeros(6))
    J, M = hexapod.jacobian(r, from_quaternion(q)[0]), hexapod.mass_matrix(r, from_quaternion(q)[0])
    fastest = np.linalg.eigvals(np.linalg.solve(M, 1e6 * J.T @ J)).real.max()
    assert linear.limit(linear.acting(1e-3)).dt == pytest.approx(2 / math.sqrt(fastest), rel=1e-9)


def test_batches_are_judged_as_single_runs():
    law, spring = laws.LuGre(50.0, 60.0, 1e-2, 1e6, 500.0), laws.SpringDamper(2.7e5)
    limit = limit_of_chain(slider(), "rk4", spring, np.zeros(1)).dt
    with pytest.warns(
        zv.SimulationWarning, match=r"1 of 2 runs are not to be trusted; run \(1,\): .* of LuGre in joint"
    ):
        slider().simulate(1e-2, 1e-3, qd=[[20.0], [1e-9]], laws=law, method="semi-implicit", threads=1)
    with pytest.warns(zv.SimulationWarning, match=r"2 of 2 runs .* because of stiffness = 270000 N/m of SpringDamper"):
        slider().simulate(1.99 * limit, 1.99 * limit, qd=[[0.0], [0.0]], laws=spring, threads=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slider().simulate(0.1, 0.01 * limit, qd=[[1.0], [2.0]], laws=spring, threads=1)
