"""Force laws of the drives: every formula once more in NumPy, composition, what is refused."""

import pickle
import re

import numpy as np
import pytest
import zveno as zv
from helpers import assert_close
from hypothesis import given
from hypothesis import strategies as st
from zveno import laws

T, X, V = np.meshgrid([-1.0, 0.0, 0.7, 2.0, 9.0], np.linspace(-0.2, 0.2, 21), np.linspace(-0.5, 0.5, 20), indexing="ij")
number = st.floats(-10, 10)
amount = st.floats(0, 1e3)
positive = st.floats(1e-3, 1e3)


def check_law(law, want):
    assert_close(law(T, X, V), np.broadcast_to(want, T.shape), 1, ulps=10, scale=max(1.0, np.abs(want).max()))


@given(amount, amount, number, number)
def test_spring_and_damper(k, c, preload, reference):
    check_law(laws.SpringDamper(k, c, preload, reference), preload - k * (X - reference) - c * V)


@given(amount, positive)
def test_dry_friction(force, speed):
    check_law(laws.DryFriction(force, speed), -force * np.tanh(V / speed))


@given(amount, positive)
def test_eddy_brake(force, speed):
    check_law(laws.EddyBrake(force, speed), -2 * force * (V / speed) / (1 + (V / speed) ** 2))


def test_eddy_brake_has_its_largest_force_at_its_speed():
    v = np.linspace(-1, 1, 2001)
    force = laws.EddyBrake(7.0, 0.25)(0, 0, v)
    assert v[force.argmin()] == pytest.approx(0.25) and force.min() == pytest.approx(-7.0)
    assert laws.EddyBrake(7.0, 0.25)(0, 0, 1e200) == pytest.approx(-2 * 7.0 * 0.25 / 1e200)


@given(positive, amount, st.floats(-0.2, -0.01), st.floats(0, 0.2))
def test_stops_push_and_never_pull(k, c, lower, upper):
    over, under = upper < X, lower > X
    want = np.zeros(X.shape)
    want[over] = -k * (X - upper)[over] - c * np.maximum(V, 0)[over]
    want[under] = -k * (X - lower)[under] - c * np.minimum(V, 0)[under]
    law = laws.Stops(k, c, lower, upper)
    check_law(law, want)
    assert (law(T, X, V)[over] <= 0).all() and (law(T, X, V)[under] >= 0).all()


def test_a_stop_may_stand_on_one_side_only():
    law = laws.Stops(10.0, lower=-np.inf, upper=0.1)
    assert law(0, -100.0, 0) == 0 and law(0, 1.1, 0) == pytest.approx(-10.0)


@given(amount, amount, positive, number)
def test_servo_is_a_limited_spring_and_damper(k, c, limit, p):
    check_law(laws.Servo(k, c, p, limit), np.clip(k * (p - X) - c * V, -limit, limit))


@pytest.mark.parametrize(("start", "target"), [(0.05, -0.11), (-0.02, 0.1)])
def test_ramp_leaves_in_time_and_rests_at_its_target(start, target):
    speed, begin = 0.05, 0.5
    arrival = begin + abs(target - start) / speed
    p = np.interp(T, [begin, arrival], [start, target])
    rate = np.where((begin <= T) & (arrival > T), np.sign(target - start) * speed, 0.0)
    check_law(laws.Servo(300.0, 40.0, laws.Ramp(target, speed, start, begin)), 300 * (p - X) + 40 * (rate - V))


def test_ramp_that_goes_nowhere_rests():
    assert laws.Servo(100.0, 50.0, laws.Ramp(0.1, 0.01, start=0.1))(5.0, 0.0, 0.0) == pytest.approx(10.0)


def test_table_is_linear_between_its_samples():
    times, values = np.array([0.0, 0.5, 2.5]), np.array([0.1, -0.2, 0.3])
    slope = np.zeros(T.shape)
    for i in range(2):
        inside = (times[i] <= T) & (times[i + 1] > T)
        slope[inside] = (values[i + 1] - values[i]) / (times[i + 1] - times[i])
    p = np.interp(T, times, values)
    check_law(laws.Servo(300.0, 40.0, laws.Table(times, values)), 300 * (p - X) + 40 * (slope - V))


def test_table_of_one_sample_is_constant():
    assert laws.Servo(10.0, 3.0, laws.Table([1.0], [0.5]))([0.0, 1.0, 2.0], 0, 0) == pytest.approx(5.0)


def test_lugre_slides_with_the_stribeck_curve():
    force, breakaway, speed, viscous = 5.0, 7.0, 0.02, 3.0
    law = laws.LuGre(force, breakaway, speed, 1e5, 100.0, viscous)
    g = force + (breakaway - force) * np.exp(-((V / speed) ** 2))
    check_law(law, -np.sign(V) * g - viscous * V)
    assert law(0, 0, 0) == 0


def test_sums_add_and_clutches_limit_what_they_hold():
    spring, brake, friction = laws.SpringDamper(900.0, 80.0), laws.EddyBrake(60.0, 0.1), laws.DryFriction(5.0, 0.01)
    check_law(spring + brake + friction, spring(T, X, V) + brake(T, X, V) + friction(T, X, V))
    check_law(sum([spring, brake]), spring(T, X, V) + brake(T, X, V))
    inner = np.clip(brake(T, X, V) + friction(T, X, V), -40, 40)
    nested = laws.SlipClutch(100.0, spring + laws.SlipClutch(40.0, brake + friction))
    check_law(nested + friction, np.clip(spring(T, X, V) + inner, -100, 100) + friction(T, X, V))
    check_law(friction + nested, np.clip(spring(T, X, V) + inner, -100, 100) + friction(T, X, V))


def test_arguments_broadcast_and_numbers_give_a_number():
    law = laws.SpringDamper(2.0, 3.0)
    assert law(0, np.zeros((4, 1)), np.zeros(3)).shape == (4, 3)
    assert law([], 0, 0).shape == (0,)
    assert isinstance(law(0, 1, 2), float) and law(0, 1, 2) == -8.0


ALL = [
    laws.SpringDamper(400.0, 80.0, 3.0, 0.01),
    laws.DryFriction(5.0, 2e-3),
    laws.LuGre(5.0, 7.0, 1e-3, 1e5, 300.0),
    laws.Stops(1e5, 2e3, -0.1, 0.1),
    laws.EddyBrake(100.0, 0.2),
    laws.Servo(3000.0, 4000.0, laws.Ramp(-0.11, 8e-3, 0.0), 500.0),
    laws.Servo(3000.0, 4000.0, laws.Table([0, 1, 2], [0, 0.1, 0]), 500.0),
    laws.SlipClutch(30.0, laws.SpringDamper(400.0, 80.0, 0.0, 0.0)),
    laws.SpringDamper(400.0) + laws.DryFriction(5.0, 1e-3),
]


@pytest.mark.parametrize("law", ALL, ids=lambda law: type(law).__name__)
def test_copies_are_equal(law):
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law and hash(copy) == hash(law) and repr(copy) == repr(law)
    assert (copy(T, X, V) == law(T, X, V)).all()
    assert law != laws.SpringDamper(1.0)
    with pytest.raises(AttributeError):
        law.stiffness = 3.0


def test_a_law_takes_references_and_limits_from_its_leg():
    ring = zv.mechanisms.docking_ring("RUS")
    nominal = ring.closure(*ring.nominal)[np.arange(6), ring.actuated]
    for k, name in enumerate(ring.leg_names):
        law = laws.SpringDamper(15.0) + laws.SlipClutch(9.0, laws.Servo(2.0)) + laws.Stops(4e3)
        spring, clutch, stops = law.of(ring, name).laws
        assert spring.reference == nominal[k] and clutch.law.reference == nominal[k]
        assert (stops.lower, stops.upper) == (ring.lower[k], ring.upper[k])
        assert law.of(ring, k) == law.of(ring, name) == law.of(ring, k).of(ring, 0)
        ramp = laws.Servo(1.0, 0.0, laws.Ramp(-0.6, 0.04, relative=True)).of(ring, k)
        assert ramp(1e3, 0.0, 0.0) == pytest.approx(nominal[k] - 0.6) and ramp(-1.0, 0.0, 0.0) == nominal[k]
        ramp = laws.Servo(1.0, 0.0, laws.Ramp(-0.6, 0.04)).of(ring, k)
        assert ramp(1e3, 0.0, 0.0) == -0.6 and ramp(-1.0, 0.0, 0.0) == nominal[k]
        table = laws.Servo(1.0, 0.0, laws.Table([0, 1], [0.1, 0.2], relative=True)).of(ring, k)
        assert table(1.0, 0.0, 0.0) == pytest.approx(nominal[k] + 0.2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: laws.SpringDamper(-1), "SpringDamper: stiffness is -1, expected a number >= 0"),
        (lambda: laws.SpringDamper("stiff"), "SpringDamper: stiffness is 'stiff', expected a number"),
        (lambda: laws.SpringDamper(True), "SpringDamper: stiffness is True, expected a number"),
        (lambda: laws.SpringDamper(1, np.nan), "SpringDamper: damping is nan, expected a finite number"),
        (lambda: laws.SpringDamper(1, reference=np.inf), "SpringDamper: reference is inf, expected a finite number"),
        (lambda: laws.DryFriction(1, 0), "DryFriction: speed is 0, expected a number > 0"),
        (lambda: laws.EddyBrake(1, -2), "EddyBrake: speed is -2, expected a number > 0"),
        (lambda: laws.LuGre(5, 4, 1, 1), "LuGre: breakaway is 4, expected at least force = 5"),
        (lambda: laws.Stops(0), "Stops: stiffness is 0, expected a number > 0"),
        (lambda: laws.Stops(1, 0, 2, 1), "Stops: lower is 2 and upper is 1, expected lower < upper"),
        (lambda: laws.Stops(1, 0, np.inf), "Stops: lower is inf and upper is None, which leaves no way"),
        (lambda: laws.Stops(1)(0, 0, 0), "Stops: lower is None, the limit of a leg; give a number, or choose the leg"),
        (lambda: laws.Servo(1, 1, "here"), "Servo: reference is 'here', expected a number"),
        (lambda: laws.Servo(1, limit=0), "Servo: limit is 0, expected a number > 0"),
        (lambda: laws.Ramp(1, -1), "Ramp: speed is -1, expected a number > 0"),
        (lambda: laws.Ramp(1, 1, relative=1), "Ramp: relative is 1, expected True or False"),
        (lambda: laws.Table([], []), "Table: times is [], expected (n,) numbers with n > 0"),
        (lambda: laws.Table([0, 1], [0]), "Table: values has shape (1,), expected (2,)"),
        (lambda: laws.Table([0, 0], [0, 1]), "Table: times are not increasing"),
        (lambda: laws.SlipClutch(1, 3), "SlipClutch: law is 3, expected a Law"),
        (lambda: laws.SlipClutch(0, laws.SpringDamper(1)), "SlipClutch: limit is 0, expected a number > 0"),
        (lambda: laws.Sum((1,)), "Sum: laws holds 1, expected a Law"),
        (lambda: laws.Sum((laws.SpringDamper(1),) * 300), "Sum: laws has 300 entries, expected at most 256"),
        (lambda: laws.SpringDamper(1)(0, "x", 0), "SpringDamper: x is 'x', expected numbers"),
        (lambda: laws.SpringDamper(1)(0, [1, 2], [1, 2, 3]), "SpringDamper: t, x, v have shapes (), (2,), (3,)"),
        (
            lambda: laws.SpringDamper(1).of(zv.mechanisms.docking_ring("UPS"), 6),
            "SpringDamper.of: leg is 6, expected 0",
        ),
        (lambda: sum([laws.LuGre(1, 1, 1, 1)] * 5)(0, 0, 0), "laws: more than four LuGre terms"),
        (lambda: laws.SpringDamper(1)(0.0, np.nan, 0.0), "SpringDamper: x is nan, expected finite numbers"),
        (lambda: laws.DryFriction(1, 1)(0.0, 0.0, [0.0, np.inf]), "DryFriction: v is [0.0, inf], expected finite"),
        (lambda: laws.EddyBrake(1, 1)(-np.inf, 0.0, 0.0), "EddyBrake: t is -inf, expected finite numbers"),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


def test_clutches_may_be_nested_but_not_without_end():
    law = laws.SpringDamper(100.0)
    for limit in range(32, 0, -1):
        law = laws.SlipClutch(limit, law)
    assert law(0, 1, 0) == -1.0
    with pytest.raises(ValueError, match="SlipClutch: slip clutches are nested more than 32 deep"):
        laws.SlipClutch(1.0, law)
    with pytest.raises(ValueError, match="nested more than 32 deep"):  # also through sums
        laws.SlipClutch(1.0, laws.SpringDamper(1.0) + law)
    copy = pickle.loads(pickle.dumps(law))
    assert copy == law and hash(copy) == hash(law)
    with pytest.raises(ValueError, match="nested more than 32 deep"):
        laws.SlipClutch(1.0, copy)


def test_forces_that_overflow_are_refused():
    text = "SpringDamper: the force at t = 0, x = 1e+10, v = 0 is not finite: numbers are too large"
    with pytest.raises(FloatingPointError, match=re.escape(text)):
        laws.SpringDamper(1e308)(0.0, [1.0, 1e10], 0.0)


@given(st.sampled_from(["spring", "friction", "brake", "stops", "servo"]), amount, positive)
def test_slopes_are_the_steepest_ones(kind, a, b):
    law = {
        "spring": laws.SpringDamper(a, b), "friction": laws.DryFriction(a, b), "brake": laws.EddyBrake(a, b),
        "stops": laws.Stops(b, a, -0.1, 0.1), "servo": laws.SlipClutch(1e9, laws.Servo(a, b)),
    }[kind]  # fmt: skip
    x, v = np.linspace(-0.2, 0.2, 81), np.linspace(-5 * b, 5 * b, 4001)
    (slope,) = law._slopes()
    for values, steepest in (
        (np.diff(law(0.0, x, 0.0)) / np.diff(x), slope.stiffness),
        (np.diff(law(0.0, 0.15, v)) / np.diff(v), slope.damping),
    ):
        assert -values.min() <= steepest * (1 + 1e-6) + 1e-6
        assert -values.min() >= steepest * 0.99 - 1e-6


def test_only_laws_add_to_laws():
    with pytest.raises(TypeError):
        laws.SpringDamper(1.0) + 3


def test_a_hexapod_without_a_nominal_pose_or_limits_cannot_fill_in():
    legs = [
        zv.Leg.ups(leg.base, leg.ring, housing=leg.inner, rod=leg.outer, housing_length=leg.inner_length,
                   rod_length=leg.outer_length, base_frame=leg.base_frame)
        for leg in zv.mechanisms.docking_ring("UPS").legs
    ]  # fmt: skip
    ring = zv.Hexapod(zv.Body(45.0, 8.0), legs)
    with pytest.raises(ValueError, match="leg 'leg1': reference is None, but hexapod 'hexapod' has no nominal pose"):
        laws.SpringDamper(1.0).of(ring, 0)
    with pytest.raises(ValueError, match="Stops: leg 'leg3' has no limits; give lower= and upper="):
        laws.Stops(1.0).of(ring, 2)
