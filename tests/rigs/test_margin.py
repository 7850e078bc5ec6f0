"""Delay margins: reference tables of the specification, closed forms, and loops with random matrices."""

import math

import numpy as np
import pytest
import zveno as zv
from zveno.rigs.delayed import Delayed

rigs = zv.rigs

ONE_AXIS = [  # mass, stiffness, damping; w_c, h_c and h_e in ms, e(0), e(h_c)
    (60, 1e3, 50, 4.12522792, 49.3085046, 46.1819682, 0.73982517, 1.02082470),
    (100, 1e4, 100, 10.0250312, 9.96670015, 9.65142846, 0.85875810, 1.00499988),
    (100, 1e5, 1000, 32.4229736, 9.67015141, 8.74862722, 0.63622242, 1.04987889),
    (500, 1e4, 300, 4.49230564, 29.8203267, 28.5607819, 0.81693714, 1.00899931),
    (1000, 5e3, 400, 2.2540275, 79.1494376, 74.7276149, 0.76641041, 1.01599610),
    (11602, 1392, 1000, 0.351783078, 703.657738, 649.856117, 0.69583066, 1.03093129),
    (100, 1.47e6, 500, 121.295117, 0.339943266, 0.335485798, 0.93805965, 1.00085034),
]


@pytest.mark.parametrize("row", ONE_AXIS, ids=lambda row: f"{row[0]}-{row[1]:g}-{row[2]}")
def test_one_axis_has_the_margins_and_bounces_of_the_table(row):
    m, k, d, w, h, h_e, e0, e_c = row
    margin = rigs.delay_margin(mass=m, stiffness=k, damping=d)
    assert margin.frequency == pytest.approx(w, rel=1e-8)
    assert 1e3 * margin.delay == pytest.approx(h, rel=1e-8)
    assert 1e3 * margin.restitution_delay == pytest.approx(h_e, rel=1e-8)
    assert rigs.restitution(m, k, d, [0.0, margin.delay]) == pytest.approx([e0, e_c], abs=2e-8)
    # the same loop by the search, in which nothing is closed form
    searched = rigs.delay_margin([[float(m)]], [[k]], [[float(d)]])
    assert searched.delay == pytest.approx(margin.delay, rel=1e-12)
    assert searched.frequency == pytest.approx(margin.frequency, rel=1e-12)


@pytest.mark.parametrize(
    ("zeta", "e"),
    [
        (0.0, [1, 1.03191084, 1.08164489, 1.16956199, 1.36434150, 1.58406455, 2.09430777]),
        (0.05, [0.85875810, 0.88617759, 0.92909999, 1.00552943, 1.17724392, 1.37443618, 1.84304323]),
        (0.1, [0.74407940, 0.76780259, 0.80509630, 0.87197743, 1.02437047, 1.20262770, 1.63660735]),
        (0.2, [0.57174003, 0.58983440, 0.61851087, 0.67066392, 0.79299705, 0.94188336, 1.32426206]),
    ],
)
def test_restitution_over_delay_is_that_of_the_table(zeta, e):
    delays = np.array([0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5])
    m, w0 = 37.0, 5.3
    found = rigs.restitution(m, m * w0**2, 2 * zeta * m * w0, delays / w0)
    np.testing.assert_allclose(found, e, rtol=0, atol=1e-8)


def test_restitution_without_delay_is_the_closed_form():
    zeta = np.array([0.01, 0.3, 0.7, 0.95])
    exact = np.exp(-zeta * (math.pi - 2 * np.arcsin(zeta)) / np.sqrt(1 - zeta**2))
    np.testing.assert_allclose(rigs.restitution(1.0, 1.0, 2 * zeta, 0.0), exact, rtol=1e-12)
    assert rigs.restitution(1.0, 1.0, 2.0, 0.0) == pytest.approx(math.exp(-2), rel=1e-9)
    above = math.exp(-2 * 1.5 * math.acosh(1.5) / math.sqrt(1.25))  # the same formula continued
    assert rigs.restitution(1.0, 1.0, 3.0, 0.0) == pytest.approx(above, rel=1e-9)


def test_the_longest_margin_in_units_of_the_frequency():
    zeta = np.array([0.629385, 0.639385, 0.649385])
    margins = rigs.delay_margin(np.ones(3), np.ones(3), 2 * zeta).delay
    assert margins[1] == pytest.approx(0.741467, abs=5e-7)
    assert margins.argmax() == 1


@pytest.mark.parametrize(
    ("elements", "h"),
    [
        ({"lag": 1e-3}, 28.8203352),
        ({"lag": 4e-3}, 25.8207860),
        ({"lag": 10e-3}, 19.8272192),
        ({"robot": (100.0, 0.7)}, 15.8105360),
        ({"robot": (200.0, 0.7)}, 22.8191009),
        ({"robot": (200.0, 0.7), "lag": 4e-3}, 18.8195605),
    ],
)
def test_filters_and_robots_cost_what_the_table_says(elements, h):
    assert 1e3 * rigs.delay_margin(500, 1e4, 300, **elements).delay == pytest.approx(h, rel=1e-8)
    assert 1e3 * rigs.Rig(500, 1e4, 300, **elements).margin().delay == pytest.approx(h, rel=1e-8)


@pytest.mark.parametrize(
    ("means", "h"),
    [
        (rigs.Lead(8e-3), 7.98294429),
        (rigs.Lead(8.2e-3), 8.18163346),
        (rigs.Lead(10e-3), 9.96670015),
        (rigs.Lead(12e-3), 11.9424835),
        (rigs.VirtualDamper(40), 4.00106658),
        (rigs.VirtualDamper(80), 8.00853058),
        (rigs.VirtualDamper(100), 10.0166582),
        (rigs.VirtualDamper(160), 16.0681767),
    ],
    ids=str,
)
def test_compensated_loops_have_the_margins_of_the_table(means, h):
    assert 1e3 * rigs.delay_margin(100, 1e4, compensation=means).delay == pytest.approx(h, rel=1e-8)


def test_prediction_with_the_true_stiffness_is_stable_for_every_delay_and_underestimation_is_not():
    assert rigs.delay_margin(100, 1e4, compensation=rigs.Predictor(1e4)).delay == math.inf
    assert rigs.delay_margin(100, 1e4, compensation=rigs.Predictor(0.9e4)).delay == 0
    assert rigs.delay_margin(100, 1e4, compensation=rigs.Predictor(1.1e4)).delay > 0.1


# ---- sampled ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("period", "damping", "exact", "semi"),
    [(1e-3, 100, 9.46678321, 9.96154244), (4e-3, 200, 4.43426259, 4.91242699), (4e-3, 600, 12.7764098, 13.1043821)],
)
def test_sampled_margins_are_those_of_the_table(period, damping, exact, semi):
    assert rigs.sampled_margin(100, 1e4, damping, period) == pytest.approx(exact, rel=1e-8)
    assert rigs.sampled_margin(100, 1e4, damping, period, "semi-implicit") == pytest.approx(semi, rel=1e-8)


@pytest.mark.parametrize(
    ("period", "N", "damping"),
    [(1e-3, 1, 15.0010), (1e-3, 4, 45.030055), (4e-3, 1, 60.064206), (4e-3, 4, 181.97805), (1e-3, 16, 166.53382)],
)
def test_critical_damping_of_a_sampled_loop_is_that_of_the_table(period, N, damping):
    # the table rounds to its last digit, and N_c is steep in the damping
    slack = 1e-6 * damping if damping > 16 else 5e-5
    for integrator, shift in (("exact", 0.0), ("semi-implicit", -0.5e4 * period), ("explicit", 0.5e4 * period)):
        above = rigs.sampled_margin(100, 1e4, damping + slack + shift, period, integrator)
        below = rigs.sampled_margin(100, 1e4, damping - slack + shift, period, integrator)
        assert below < N < above


def test_sampled_margin_is_where_the_polynomial_of_the_loop_leaves_the_unit_circle():
    random = np.random.default_rng(1)
    for _ in range(30):
        T, m = random.uniform(0.5e-3, 5e-3), random.uniform(10, 1e3)
        kappa, eta = 10 ** random.uniform(-4, -1), 10 ** random.uniform(-3, -0.5)
        k, d = kappa * m / T**2, eta * m / T
        limit = float(rigs.sampled_margin(m, k, d, T))

        def radius(N, kappa=kappa, eta=eta):
            z = np.zeros(N + 3)  # falling powers
            z[:3] = [1, -2, 1]
            z[-2:] += [eta + kappa / 2, kappa / 2 - eta]
            return np.abs(np.roots(z)).max()

        low = math.ceil(limit) - 1
        if 0 <= low < 60:
            assert radius(low) < 1
            assert radius(low + 1) > 1


# ---- many axes --------------------------------------------------------------------------------------------------

RINGS = [  # legs, (stiffness, damping) of the drives, contact or None for the spacecraft rig, h_c, w_c
    ("UPS", (400, 80), rigs.FaceContact(4e5), 0.000189427109, 125.974095),
    ("UPS", (400, 80), rigs.FaceContact(4e5, time=5e-3), 0.00452497969, 139.010653),
    ("UPS", (400, 80), rigs.FaceContact(4e4), 0.00189590393, 39.9545767),
    ("UPS", (400, 80), rigs.FaceContact(4e3), 0.0191374113, 12.9897590),
    ("RSU", (15, 3), rigs.FaceContact(4e5), 0.000191074290, 140.220918),
    ("RSU", (15, 3), rigs.FaceContact(4e4), 0.00191281920, 44.4599600),
    ("UPS", (700, 2500), rigs.FaceContact(4e5), 0.00644417455, 109.877453),
    ("UPS", (700, 2500), rigs.FaceContact(4e4), 0.0846072373, 16.6800909),
    ("RSU", (26, 95), rigs.FaceContact(4e5), 0.00673175848, 117.631428),
    ("UPS", (400, 80), None, 0.199600580, 0.387714257),
    ("UPS", (700, 2500), None, 1.32468663, 0.974594390),
    ("UPS", (3000, 4000), None, 0.694330299, 1.64682993),
    ("RSU", (15, 3), None, 0.199677349, 0.348348045),
    ("RSU", (26, 95), None, 1.53796310, 0.809318909),
]
VEHICLES = (
    zv.Body(12e3, (22e3, 70e3, 70e3), com=(-3.5, 0, 0)),
    zv.Body(350e3, (5e7, 1e8, 1e8), com=(-15, 0, 0)),
)


@pytest.mark.parametrize("row", RINGS, ids=lambda row: f"{row[0]}-{row[1][0]}-{getattr(row[2], 'stiffness', 'I')}")
def test_docking_rings_have_the_margins_of_the_table(row):
    legs, numbers, contact, h, w = row
    kind = {"kind": "spacecraft", "vehicles": VEHICLES} if contact is None else {"contact": contact}
    law = zv.laws.SpringDamper(*numbers)
    margin = rigs.delay_margin(hexapod=zv.mechanisms.docking_ring(legs), laws=law, **kind)
    assert margin.delay == pytest.approx(h, rel=1e-8)
    assert margin.frequency == pytest.approx(w, rel=1e-8)
    assert margin.restitution_delay is None


def test_inertias_of_the_demo_rigs_are_those_of_the_table():
    ring, law = zv.mechanisms.docking_ring("UPS"), zv.laws.SpringDamper(400, 80)
    inner = rigs.Rig.of_ring(ring, laws=law, contact=rigs.FaceContact(4e5)).mass
    outer = rigs.Rig.of_ring(ring, laws=law, kind="spacecraft", vehicles=VEHICLES).mass
    near = [92.7087635, 69.3301335, 69.3301335, 28.8393385, 16.7875774, 16.7875774]
    far = [11602.2099, 11140.3414, 11140.3414, 21990.3243, 236520.614, 236520.614]
    np.testing.assert_allclose(np.diag(inner), near, rtol=1e-8)
    np.testing.assert_allclose(np.diag(outer), far, rtol=1e-8)


def test_collocation_confirms_the_margin_of_a_ring():
    law = zv.laws.SpringDamper(400, 80)
    rig = rigs.Rig.of_ring(zv.mechanisms.docking_ring("UPS"), laws=law, contact=rigs.FaceContact(4e4))
    h = rig.margin().delay
    assert abs(rigs.rightmost_root(*rig.matrices, delay=h, points=4).real) < 1e-7
    assert abs(rigs.rightmost_root(*rig.matrices, delay=h, points=8).real) < 1e-9
    assert rigs.rightmost_root(*rig.matrices, delay=0.98 * h, points=6).real < -1e-4
    assert rigs.rightmost_root(*rig.matrices, delay=1.02 * h, points=6).real > 1e-4


def test_the_margin_does_not_depend_on_the_axes_of_the_ring():
    law, face = zv.laws.SpringDamper(400, 80), rigs.FaceContact(4e4)
    ring = zv.mechanisms.docking_ring("UPS")
    third = np.array([[1.0, 0, 0], [0, -0.5, -math.sqrt(0.75)], [0, math.sqrt(0.75), -0.5]])  # a turn of 120 deg
    legs = [zv.Leg.from_dict(leg.to_dict() | {"ring": third.T @ leg.ring}) for leg in ring.legs]
    turned = zv.Hexapod(ring.platform, legs, nominal=(ring.nominal[0], third))
    margins = [rigs.delay_margin(hexapod=one, laws=law, contact=face).delay for one in (ring, turned)]
    assert margins[0] == pytest.approx(margins[1], rel=1e-10)


def random_loop(random, n):
    """M, K1, D1, K0, D0 with full, not proportional damping; software and hardware act on different directions."""

    def gram(rank, size):
        J = random.standard_normal((rank, n))
        return J.T @ (10 ** random.uniform(*size, rank)[:, None] * J)

    return gram(n, (0, 1)) + np.eye(n), gram(max(1, n - 1), (2, 4)), gram(n, (0, 1)), gram(n, (1, 3)), gram(n, (0, 2))


def kronecker_crossings(loop):
    """All frequencies at which a product of two multipliers is 1, the same one twice among them: another way."""
    p, n = loop.degree, loop.n
    G = np.zeros((2 * p + 1, n * n, n * n), dtype=complex)
    for i in range(p + 1):
        for j in range(p + 1):
            G[i + j] += 1j**i * (-1j) ** j * (np.kron(loop.a[i], loop.a[j]) - np.kron(loop.b[i], loop.b[j]))
    size = n * n
    monic = np.linalg.solve(G[-1], G[:-1])
    companion = np.zeros((2 * p * size, 2 * p * size), dtype=complex)
    companion[:-size, size:] = np.eye((2 * p - 1) * size)
    companion[-size:] = -np.hstack(list(monic))
    w = np.linalg.eigvals(companion)
    real = np.sort(w[(np.abs(w.imag) < 1e-7 * np.abs(w)) & (w.real > 1e-6)].real)
    modulus = np.abs(loop._multipliers(real))
    return real[np.abs(modulus - 1).min(axis=1) < 1e-5] * loop.scale


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_search_misses_no_crossing(n):
    random = np.random.default_rng(n)
    for _ in range(12):
        M, K1, D1, K0, D0 = random_loop(random, n)
        loop = Delayed(np.stack([K0, D0, M]), np.stack([K1, D1, 0 * M]))
        found = np.sort([crossing.frequency for crossing in loop.crossings()])
        np.testing.assert_allclose(found, kronecker_crossings(loop), rtol=1e-5)


def test_margins_of_random_loops_are_where_collocation_sees_the_rightmost_root_cross():
    random = np.random.default_rng(7)
    checked = 0
    for _ in range(8):
        matrices = random_loop(random, 2)
        for elements in ({}, {"lag": 5e-3}, {"robot": (150.0, 0.6)}):
            margin = rigs.delay_margin(*matrices, **elements).delay
            if 0 < margin < 2:
                low, high = (
                    rigs.rightmost_root(*matrices, delay=f * margin, points=7, **elements).real for f in (0.97, 1.03)
                )
                assert low < 0 < high
                checked += 1
    assert checked >= 9


def test_a_batch_of_loops_gives_what_each_of_them_gives():
    random = np.random.default_rng(3)
    loops = [random_loop(random, 2) for _ in range(4)]
    M, K1, D1, K0, D0 = (np.stack(x).reshape(2, 2, 2, 2) for x in zip(*loops, strict=True))
    batch = rigs.delay_margin(M, K1, D1, K0, D0)
    each = [rigs.delay_margin(*loop).delay for loop in loops]
    assert batch.delay.shape == (2, 2)
    np.testing.assert_array_equal(batch.delay.ravel(), each)


def test_compensation_of_many_axes_moves_matrices_from_one_side_to_the_other():
    random = np.random.default_rng(21)
    for _ in range(4):
        M, K1, D1, K0, D0 = random_loop(random, 3)
        X = random_loop(random, 3)[4]
        damped = rigs.delay_margin(M, K1, D1, K0, D0, compensation=rigs.VirtualDamper(X)).delay
        assert damped == pytest.approx(rigs.delay_margin(M, K1, D1, K0, D0 + X).delay, rel=1e-12)
        predicted = rigs.delay_margin(M, K1, D1, K0, D0, compensation=rigs.Predictor(0.6 * K1)).delay
        assert predicted == pytest.approx(rigs.delay_margin(M, 0.4 * K1, D1, K0 + 0.6 * K1, D0).delay, rel=1e-12)


def test_undamped_contact_is_unstable_for_every_delay_and_an_unstable_loop_has_no_margin():
    assert rigs.delay_margin(100, 1e4).delay == 0
    assert rigs.delay_margin(np.eye(2), np.diag([1.0, 4.0])).delay == 0
    assert rigs.delay_margin(100, 1e4, 100, robot=(5.0, 0.05)).delay == 0
    assert rigs.delay_margin(np.eye(1), [[1e2]], [[1.0]], K0=[[-200.0]]).delay == 0


def test_a_lead_on_a_damped_contact_without_filter_is_refused_by_any_delay():
    # F' of a damper is an acceleration: from d T >= m on, high frequencies grow
    assert rigs.delay_margin(10, 1e4, 1000, compensation=rigs.Lead(20e-3)).delay == 0
    assert rigs.delay_margin(10, 1e4, 1000, compensation=rigs.Lead(5e-3)).delay > 0
    assert rigs.delay_margin(10, 1e4, 1000, compensation=rigs.Lead(20e-3, filter=2e-3)).delay > 0


# ---- words, maps ------------------------------------------------------------------------------------------------


def test_what_a_verdict_advises_gives_what_it_promises():
    rig = rigs.Rig(mass=100, stiffness=1e4, damping=100, delay=12e-3)
    verdict = rig.verdict()
    assert not verdict.stable and verdict.ratio < 1
    text = " ".join(verdict.remedies)
    lead = float(text.split("T >= ")[1].split()[0]) * 1e-3
    damper = float(text.split("virtual damper >= ")[1].split()[0])
    damping = float(text.split("contact damping >= ")[1].split()[0])
    assert rig.margin(rigs.Lead(lead)).delay == pytest.approx(24e-3, rel=0.01)
    assert rig.margin(rigs.VirtualDamper(damper)).delay == pytest.approx(24e-3, rel=0.01)
    assert rig.with_(damping=damping).margin().delay == pytest.approx(24e-3, rel=0.01)
    assert "Unstable" in str(verdict) and "9.97 ms" in str(verdict)
    assert rig.with_(delay=1e-3).verdict().remedies == ()


def test_a_sampled_rig_is_judged_by_its_whole_periods():
    # 9 periods are below N_c = 9.4668, 10 are not: the continuous margin of 9.967 ms would let 9.9 ms pass
    rig = rigs.Rig(100, 1e4, 100, delay=9e-3, period=1e-3, integrator="exact")
    assert rig.verdict().stable
    assert not rig.with_(delay=10e-3).verdict().stable
    assert rig.with_(delay=9.4e-3).verdict().stable and not rig.with_(delay=9.5e-3).verdict().stable


def test_a_map_has_the_margins_of_its_points():
    rig = rigs.Rig(100, 1e4, 100, delay=8e-3)
    for elements, means in (({}, None), ({"lag": 2e-3}, rigs.Lead(3e-3))):
        one = rig.with_(**elements)
        chart = rigs.chart(one, over=("damping", "delay"), points=3, compensation=means)
        for i, d in enumerate(chart.first):
            for j, h in enumerate(chart.second):
                there = one.with_(damping=d, delay=h)
                assert chart.limit[i, j] == pytest.approx(there.margin(means).delay, rel=1e-12)
                assert chart.stable[i, j] == (h < chart.limit[i, j])


# ---- refusals ---------------------------------------------------------------------------------------------------

RING = zv.mechanisms.docking_ring("UPS")
LAW = zv.laws.SpringDamper(400, 80)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: rigs.delay_margin(), "delay_margin: mass and stiffness are missing"),
        (lambda: rigs.delay_margin(rigs.Rig(100, 1e4)), "mass is a Rig, expected numbers; a rig has its own"),
        (lambda: rigs.delay_margin(-1, 1), "mass is -1, expected numbers >= 0"),
        (lambda: rigs.delay_margin(0, 1), "mass is 0, expected numbers > 0"),
        (lambda: rigs.delay_margin("a", 1), "mass is 'a', expected numbers"),
        (lambda: rigs.delay_margin(1, math.nan), "stiffness is nan, expected finite numbers"),
        (lambda: rigs.delay_margin(np.ones(2), np.ones(3)), "do not broadcast: mass (2,), stiffness (3,)"),
        (lambda: rigs.delay_margin(1, 1, lag=-1), "lag is -1, expected a time >= 0"),
        (lambda: rigs.delay_margin(1, 1, robot=(1, 0)), "robot is (1, 0), expected (frequency, damping ratio)"),
        (lambda: rigs.delay_margin(np.eye(2), np.eye(3)), "stiffness has shape (3, 3), expected (2, 2)"),
        (lambda: rigs.delay_margin(-np.eye(2), np.eye(2)), "mass is not positive definite"),
        (lambda: rigs.delay_margin([[1, 1], [0, 1]], np.eye(2)), "mass is not symmetric"),
        (lambda: rigs.delay_margin(np.eye(13), np.eye(13)), "mass has 13 axes, expected 1 to 12"),
        (lambda: rigs.delay_margin(1, 1, compensation=rigs.Passivity()), "Passivity, which is not linear"),
        (lambda: rigs.delay_margin(1, 1, compensation=3), "compensation is 3, expected a Lead"),
        (lambda: rigs.delay_margin(1, 1, compensation=[rigs.Lead(1), rigs.Lead(2)]), "at most one of each kind"),
        (lambda: rigs.delay_margin(1, 1, compensation=rigs.Predictor(1, delay=1)), "the delay of Predictor is given"),
        (lambda: rigs.delay_margin(np.eye(2), np.eye(2), compensation=rigs.VirtualDamper(3)), "expected (2, 2)"),
        (lambda: rigs.delay_margin(1, 1, hexapod=RING), "hexapod and mass or stiffness are given"),
        (lambda: rigs.delay_margin(hexapod=RING, laws=LAW), "contact is missing"),
        (lambda: rigs.delay_margin(hexapod=RING, laws=3, contact=np.eye(6)), "laws is 3, expected a Law or six"),
        (lambda: rigs.delay_margin(hexapod=RING, laws=LAW, contact=np.eye(5)), "contact has shape (5, 5)"),
        (lambda: rigs.delay_margin(hexapod=RING, laws=LAW, kind="both"), "kind is 'both', expected 'interface'"),
        (lambda: rigs.delay_margin(hexapod=RING, laws=LAW, kind="spacecraft"), "vehicles is None, expected two Body"),
        (
            lambda: rigs.delay_margin(hexapod=RING, kind="spacecraft", vehicles=VEHICLES),
            "laws have no stiffness in this pose",
        ),
        (lambda: rigs.sampled_margin(1, 1, 1, 0), "period is 0, expected numbers > 0"),
        (lambda: rigs.sampled_margin(1, 1, 1, 1, "rk4"), "integrator is 'rk4', expected 'exact'"),
        (lambda: rigs.restitution(1, 0, 1, 1), "stiffness is 0, expected numbers > 0"),
        (lambda: rigs.restitution(1, 1, 30, 1), "damping gives 15 of the critical one"),
        (lambda: rigs.restitution(1, 1, 0, 11), "delay times the natural frequency is 11"),
        (lambda: rigs.rightmost_root(1, 1, delay=-1), "delay is -1, expected a number >= 0"),
        (lambda: rigs.rightmost_root(1, 1, delay=1, points=1), "points is 1, expected an integer from 2 to 60"),
        (lambda: rigs.Rig(1, -1), "Rig: stiffness is -1"),
        (lambda: rigs.Rig(1, 1, period=0), "Rig: period is 0, expected a number > 0"),
        (lambda: rigs.Rig(1, 1, integrator="x"), "Rig: integrator is 'x'"),
        (lambda: rigs.Lead(-1), "Lead: time is -1"),
        (lambda: rigs.VirtualDamper(math.inf), "VirtualDamper: damping is inf"),
        (lambda: rigs.Passivity(slowest=0), "Passivity: slowest is 0"),
        (lambda: rigs.FaceContact(0), "FaceContact: stiffness is 0"),
        (lambda: rigs.chart(rigs.Rig(1, 1), over=("mass", "damping")), "damping of the rig is 0.0, expected a number"),
        (lambda: rigs.chart(rigs.Rig(1, 1), over=("mass", "lag")), "over is ('mass', 'lag'), expected two of"),
        (lambda: rigs.chart(rigs.Rig(1, 1), over=np.zeros((2, 2))), "expected two of mass"),
        (lambda: rigs.Rig(1, 1, quantum=1e-320), "Rig: quantum is 9.99989e-321, too small to compute with"),
        (lambda: rigs.chart(rigs.Rig(1, 1), span=1), "span is 1, expected a number > 1"),
        (lambda: rigs.simulate(rigs.Rig(1, 1), v=0), "v is 0, expected a number > 0"),
        (lambda: rigs.simulate(rigs.Rig(1, 1), contact="x"), "contact is 'x', expected 'bounce' or 'held'"),
        (lambda: rigs.simulate(rigs.Rig(1, 1, period=1e-3), dt=1e-3), "dt is given, but the rig has a period"),
        (lambda: rigs.simulate(rigs.Rig(1, 1), t_end=1e9, dt=1e-3), "needs 1000000000000 steps"),
        (lambda: rigs.simulate(rigs.Rig(np.eye(2), np.eye(2)), v=[1, 1]), "expected 'held' for a rig of 2 axes"),
        (lambda: rigs.Rig(1, 1, lag=[1e-3] * 9), "Rig: lag has 9 times, expected at most 8"),
        (lambda: rigs.Rig(1, 1, robot=[(200, 0.7)] * 9), "Rig: robot has 9 elements, expected at most 8"),
    ],
)  # fmt: skip
def test_wrong_numbers_are_refused_in_words(call, words):
    with pytest.raises(ValueError) as caught:
        call()
    assert words in str(caught.value)


def test_wrong_objects_are_refused():
    with pytest.raises(TypeError, match="hexapod is 3, expected a Hexapod"):
        rigs.delay_margin(hexapod=3, contact=np.eye(6))
    with pytest.raises(TypeError, match=r"^Rig\.of_ring: hexapod is 3, expected a Hexapod"):
        rigs.Rig.of_ring(3, contact=np.eye(6))
    with pytest.raises(TypeError, match="rig is 3, expected a Rig"):
        rigs.simulate(3)
    with pytest.raises(TypeError, match="plant is 3, expected an object with reset"):
        rigs.simulate(rigs.Rig(1, 1), plant=3)
    with pytest.raises(TypeError, match="masked"):
        rigs.delay_margin(np.ma.masked_array([1.0, 2.0], [0, 1]), 1)


def test_numbers_at_the_edges_of_doubles_are_computed_with_or_named():
    for key in ("mass", "stiffness", "damping"):
        given = {"mass": 100.0, "stiffness": 1e4, "damping": 100.0} | {key: 1e-308}
        with pytest.raises(ValueError, match=f"delay_margin: {key} is 1e-308, too small to compute with"):
            zv.rigs.delay_margin(**given)
        with pytest.raises(ValueError, match=f"sampled_margin: {key} is 1e-308, too small to compute with"):
            zv.rigs.sampled_margin(period=1e-3, **given)
    with pytest.raises(ValueError, match="Rig: lag is 1e-308, too small to compute with"):
        zv.rigs.Rig(mass=100, stiffness=1e4, damping=60, delay=8e-3, lag=1e-308)
    none = zv.rigs.rightmost_root(100, 1e4, 100, delay=0.0)
    assert zv.rigs.rightmost_root(100, 1e4, 100, delay=1e-308) == none
    for damping in (1e-90, 1e-30, 1e-9, 1e-5):  # weak damping: (R5a)
        margin = zv.rigs.delay_margin(mass=100, stiffness=1e4, damping=damping)
        assert margin.delay == pytest.approx(damping / 1e4, rel=1e-6)
        assert margin.delay * (1 - 1e-6) < margin.restitution_delay <= margin.delay


@pytest.mark.parametrize("lag", [1e-4, 1e-6, 1e-8])
def test_a_filter_much_faster_than_the_mechanism_costs_its_time_and_hides_nothing(lag):
    ring, vehicles = (
        zv.mechanisms.docking_ring("UPS"),
        (zv.Body(12e3, (22e3, 70e3, 70e3)), zv.Body(350e3, (5e7, 1e8, 1e8))),
    )
    for given in ({"kind": "spacecraft", "vehicles": vehicles}, {"contact": rigs.FaceContact(4e4)}):
        law = zv.laws.SpringDamper(400.0, 80.0)
        bare = rigs.Rig.of_ring(ring, laws=law, **given).margin()
        filtered = rigs.Rig.of_ring(ring, laws=law, lag=lag, **given).margin()
        assert filtered.delay == pytest.approx(bare.delay - lag, rel=2e-5)
        assert rigs.Rig.of_ring(ring, laws=zv.laws.SpringDamper(400.0), lag=lag, **given).margin().delay == 0
    assert rigs.delay_margin(500, 1e4, 0, lag=lag).delay == 0  # without damping any lag is too much
    assert rigs.delay_margin(500, 1e4, 0, robot=(2 / lag, 1.0)).delay == 0
    assert rigs.delay_margin(11602, 1392, 10, lag=(5.0, lag)).delay == 0
    assert rigs.rightmost_root(500, 1e4, 0, lag=max(lag, 1e-6), delay=1e-3).imag == pytest.approx(4.4721, rel=1e-3)


@pytest.mark.parametrize("lag", [1e-4, 1e-7])
def test_motions_that_nothing_holds_do_not_hide_the_others(lag):
    spring, damper = np.diag([1e4, 0, 0]), np.diag([100.0, 0, 0])
    turn = np.linalg.qr(np.random.default_rng(4).normal(size=(3, 3)))[0]
    M = np.array([[90.0, 10, 5], [10, 50, 3], [5, 3, 10]])  # the free axes are carried along
    alone = M[0, 0] - M[0, 1:] @ np.linalg.solve(M[1:, 1:], M[1:, 0])
    M, spring, damper = (turn @ X @ turn.T for X in (0.5 * (M + M.T), spring, damper))
    one = rigs.delay_margin(alone, 1e4, 100, lag=lag)
    many = rigs.delay_margin(0.5 * (M + M.T), spring, damper, lag=lag)
    assert many.delay == pytest.approx(one.delay, rel=1e-10)
    assert many.frequency == pytest.approx(one.frequency, rel=1e-10)
    assert rigs.delay_margin(0.5 * (M + M.T), spring, lag=lag).delay == 0


def test_a_loop_damped_far_beyond_the_critical_amount_has_a_margin():
    for zeta in (12.0, 50.0, 1e6):
        margin = rigs.delay_margin(1.0, 1.0, 2 * zeta)
        w = margin.frequency
        assert margin.delay == pytest.approx(math.atan(2 * zeta * w) / w, rel=1e-12)
        assert math.isnan(margin.restitution_delay) and "nan" not in str(margin)
        assert rigs.Rig(1.0, 1.0, 2 * zeta).verdict().restitution is None
    both = rigs.delay_margin(1.0, 1.0, [1.0, 100.0]).restitution_delay
    assert np.isnan(both).tolist() == [False, True]


def test_a_loop_without_delay_is_told_without_a_ratio():
    rig = zv.rigs.Rig(mass=100, stiffness=1e4, damping=60)
    assert str(rig.verdict()).startswith("Stable: the loop has no delay and bears 5.99 ms. A bounce returns 0.912")


@pytest.mark.parametrize("lag", [1e-4, 1e-6, 1e-8, 1e-9])
def test_the_rightmost_root_beside_a_fast_filter_is_a_root(lag):
    """m s^2 (1 + T s) + k e^(-hs) = 0; for small h and T its real part is k (h + T) / (2 m)."""
    s = rigs.rightmost_root(500.0, 1e4, 0.0, lag=lag, delay=1e-3)
    assert abs(500.0 * s**2 * (1 + lag * s) + 1e4 * np.exp(-1e-3 * s)) < 1e-9
    assert s.real == pytest.approx(10.0 * (1e-3 + lag), rel=1e-4)
