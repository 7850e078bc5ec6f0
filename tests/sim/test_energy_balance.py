"""A simulation that is not to be trusted says so: energy balance in the repr, warnings with dt, limit and cause."""

import re
import warnings

import numpy as np
import pytest
import zveno as zv
from zveno import laws
from zveno.sim.simulation import EnergyBalance

PUSH = np.array([-0.05, 0.03, 0.02, 0.1, -0.08, 0.06])


def ring(kind="UPS", **options):
    return zv.mechanisms.docking_ring(kind, **options)


def slider(mass=2.0, **options):
    return zv.Chain([zv.Link("cart", joint="prismatic", axis=(1, 0, 0), mass=mass, **options)], name="slider")


def test_energy_exchanged_by_an_oscillator_is_its_turnover():
    k, v = 800.0, 0.5
    period = 2 * np.pi * np.sqrt(2.0 / k)
    s = slider().simulate(3 * period, period / 2000, qd=[v], laws=laws.SpringDamper(k))
    energy = v**2  # m v^2 / 2
    # the first kinetic energy, and in each of 12 quarters the change of kinetic energy and the work
    assert s.energy_balance.exchanged == pytest.approx((1 + 12 + 12) * energy, rel=1e-4)
    assert s.energy_balance.error == np.abs(s.energy_error).max() and s.energy_balance.ratio < 1e-9
    sparse = slider().simulate(3 * period, period / 2000, qd=[v], laws=laws.SpringDamper(k), every=177)
    assert sparse.energy_balance.exchanged == pytest.approx(25 * energy, rel=0.2)


def test_free_motion_and_rest_are_balanced():
    free = ring().simulate(1.0, 5e-3, u=PUSH)
    assert free.energy_balance.exchanged == pytest.approx(free.kinetic_energy[0], rel=1e-6)
    assert free.energy_balance.ratio < 1e-9
    rest = ring().simulate(0.5, 1e-3, laws=laws.SpringDamper(400.0, 80.0))
    assert rest.energy_balance == EnergyBalance(0.0, 0.0, 0.0)


def test_rounding_of_a_held_load_is_no_error():
    """At rest under forces that balance, energies are nothing but rounding."""
    law = laws.SpringDamper(4e4, 300.0)
    hexapod = ring(gravity=(-9.81, 0, 0))
    s = hexapod.simulate(8.0, 1e-3, laws=law, every=10)
    t = {"r": s.r[-1], "quaternion": s.quaternion[-1]}
    for method in ("rk4", "semi-implicit"):
        held = hexapod.simulate(0.5, 1e-3, laws=law, method=method, **t)
        assert held.energy_balance.exchanged < 1e-6 and held.energy_balance.ratio < 0.01


def test_the_balance_stands_in_the_repr():
    good = slider().simulate(1.0, 1e-3, qd=[1.0], laws=laws.SpringDamper(50.0))
    assert re.search(r"dt = 0\.001 s, [\d.]+ J exchanged, error < 1e-9 of it\)$", repr(good))
    with pytest.warns(zv.SimulationWarning):
        bad = ring().simulate(1.0, 1e-2, u=[-0.05, 0, 0, 0, 0, 0], laws=laws.SpringDamper(1e6, 1e3))
    assert re.search(r"dt = 0\.01 s, 0\.453 J exchanged, error 0\.04 J \(8\.7 %\)\)$", repr(bad))
    moving = ring().simulate(0.1, 1e-3, base_motion=[1.0, 0, 0, 0, 0, 0, 0, 0, 0])
    assert repr(moving).endswith("dt = 0.001 s, no energy balance)")


def test_springs_that_lose_energy_are_told_with_their_limit_and_cause():
    with pytest.warns(zv.SimulationWarning) as caught:
        ring().simulate(1.0, 1e-2, u=[-0.05, 0, 0, 0, 0, 0], laws=laws.SpringDamper(1e6, 1e3))
    (warning,) = caught
    assert re.fullmatch(
        r"simulate: the energy error of 0\.0396 J is 8\.7 % of the 0\.453 J exchanged: dt = 0\.01 s is too long;"
        r" 'rk4' is stable up to 0\.0152 s, because of stiffness = 1e\+06 N/m of SpringDamper in leg 'leg\d' and 5"
        r" more, and accurate far below that",
        str(warning.message),
    )
    assert warning.filename == __file__


def test_stops_that_make_energy_are_told():
    law = laws.SpringDamper(400.0, 80.0) + laws.Stops(1e8)
    with pytest.warns(zv.SimulationWarning, match=r"because of stiffness = 1e\+08 N/m of Stops in leg 'leg\d'"):
        ring().simulate(0.6, 1e-3, u=[-0.9, 0.2, 0.1, 0.3, -0.3, 0.2], laws=law, method="semi-implicit")


@pytest.mark.parametrize(
    ("law", "cause"),
    [
        (laws.DryFriction(200.0, 1e-6), "force / speed = 2e+08 N s/m of DryFriction in joint 'cart_joint'"),
        (laws.EddyBrake(200.0, 1e-2), "2 force / speed = 40000 N s/m of EddyBrake in joint 'cart_joint'"),
        (laws.SlipClutch(300.0, laws.Servo(1e9)), "stiffness = 1e+09 N/m of Servo in joint 'cart_joint'"),
    ],
)
def test_friction_that_chatters_is_blamed(law, cause):
    with pytest.warns(zv.SimulationWarning, match=re.escape(f"because of {cause}")):
        slider().simulate(1.0, 1e-2, q=[0.01], qd=[0.3], laws=laws.SpringDamper(100.0) + law, method="semi-implicit")


def test_a_function_that_is_too_stiff_is_told_without_a_limit():
    with pytest.warns(zv.SimulationWarning, match="for the motion, or forces given as functions are too stiff"):
        slider().simulate(1.0, 1e-2, qd=[1.0], laws=lambda t, q, qd: -3e4 * q)


def test_warnings_point_at_the_caller_of_chains_and_batches():
    arguments = {"laws": laws.SpringDamper(3e4), "check_step": False}
    for qd in ([1.0], [[1.0], [0.5]]):
        with pytest.warns(zv.SimulationWarning) as caught:
            slider().simulate(1.0, 1e-2, qd=qd, **arguments)
        assert [w.filename for w in caught] == [__file__]


def test_good_runs_are_not_doubted():
    law = laws.SpringDamper(400.0, 80.0) + laws.DryFriction(5.0, 2e-3) + laws.Stops(1e5, 2e3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in ("UPS", "SPU"):
            assert ring(kind).simulate(1.0, 1e-3, u=PUSH, laws=law).energy_balance.ratio < 0.01
        ring().simulate(0.05, 1e-3, u=PUSH, laws=law, method="semi-implicit")
        for steps in (1, 10, 49):  # a control loop from rest
            slider().simulate(steps * 1e-3, 1e-3, tau=[5.0], method="semi-implicit")
