"""Time derivatives by jets: Cauchy's integral of an independent model, SymPy, published numbers; batches; refusals."""

import math

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import mechanisms, random_chain, random_wrenches
from engines.worked_tree import QD, QDD, Q, worked_tree
from helpers import ROWS, arrays_of, assert_close, at_once, takes
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import tree as reference
from refusals import anything, assert_answered_or_refused, check_refused

MOST = 12
ON_JETS = tuple(ROWS)
ORDERS = 4


def to_tree(chain):
    """The same mechanism for tests/reference, and the places of its links there: parents come first."""
    joints = iter(range(chain.n))
    joint = {link.name: -1 if link.joint == "fixed" else next(joints) for link in chain.links}
    above = {link.name: link.parent for link in chain.links}

    def depth(name):
        return 0 if name not in above else 1 + depth(above[name])

    links = sorted(chain.links, key=lambda link: depth(link.name))
    place = {link.name: k for k, link in enumerate(links)}
    axis = np.array([link.axis for link in links], dtype=float)
    tree = reference.Tree(
        parent=[place.get(link.parent, -1) for link in links],
        joint=[joint[link.name] for link in links],
        revolute=[link.joint == "revolute" for link in links],
        axis=axis / np.linalg.norm(axis, axis=1, keepdims=True),
        **{
            k: np.array([getattr(link, k) for link in links])
            for k in ("position", "rotation", "mass", "com", "inertia")
        },
        rotor=chain.rotor_inertia,
        friction=chain.friction,
        stiffness=chain.stiffness,
        rest=chain.rest,
        gravity=chain.gravity,
    )
    return tree, place


def shuffled(rng, chain):
    """The same links listed in another order, which is then the order of q."""
    links = [chain.links[i] for i in rng.permutation(len(chain.links))]
    return zv.Chain(links, gravity=chain.gravity)


def motion(rng, chain, rows, batch=()):
    return rng.uniform(-1, 1, (*batch, rows, chain.n)) * np.array([np.pi] + [1.0] * (rows - 1))[:, None]


def taylor(rows, t):
    """Value and first two derivatives at the times t of the polynomial whose derivatives at 0 are the rows."""

    def value(rows):
        return sum(np.multiply.outer(t**k / math.factorial(k), row) for k, row in enumerate(rows))

    return value(rows), value(rows[1:]), value(rows[2:])


def assert_rates(got, f, n, orders=ORDERS, radius=0.5, points=64):
    """Derivatives at 0 of f, analytic in complex time, by Cauchy's integral k!/(2 pi i) int f/t^(k+1) dt.

    Their error is round-off of the largest value on the circle times k!/radius^k.
    """
    t = radius * np.exp(2j * np.pi * np.arange(points) / points)
    values = f(t)
    for k in range(orders + 1):
        factor = math.factorial(k) / radius**k
        phase = np.exp(-2j * np.pi * k * np.arange(points) / points)
        want = factor * np.tensordot(phase, values, 1).real / points
        assert_close(got[k], want, n, scale=factor * max(1.0, np.abs(values).max()))
        assert np.abs(got[k] - want).max() <= 1e-11 * max(1.0, np.abs(want).max())


@settings(max_examples=40)
@given(mechanisms(max_n=7))
def test_rates_along_a_motion_are_cauchys_integrals(mechanism):
    chain, rng = mechanism
    chain = shuffled(rng, chain)
    (tree, place), name, point = to_tree(chain), str(rng.choice(chain.link_names)), rng.uniform(-0.5, 0.5, 3)
    link = place[name]
    qs = motion(rng, chain, ORDERS + 3)
    n = chain.n

    def along(f):
        return lambda t: f(*taylor(qs, t))

    got = chain.time_derivatives("pose", qs, order=ORDERS, link=name)
    assert_rates(got, along(lambda q, qd, qdd: reference.pose(tree, q, link)), n)
    got = chain.time_derivatives("jacobian", qs, order=ORDERS, link=name, point=point)
    assert_rates(got, along(lambda q, qd, qdd: reference.jacobian(tree, q, link, point)), n)
    assert_rates(
        chain.time_derivatives("inverse_dynamics", qs),
        along(lambda *state: reference.inverse_dynamics(tree, *state)),
        n,
    )
    assert_rates(chain.time_derivatives("reactions", qs), along(lambda *state: reference.reactions(tree, *state)), n)


@settings(max_examples=20)
@given(mechanisms(max_n=7, fixed=False))
def test_rates_of_momentum_are_cauchys_integrals(mechanism):
    chain, rng = mechanism
    tree, qs = to_tree(chain)[0], motion(rng, chain, ORDERS + 2)
    got = chain.time_derivatives("momentum", qs, about="base")
    assert_rates(got, lambda t: reference.momentum(tree, *taylor(qs, t)[:2]), chain.n)


@settings(max_examples=20)
@given(mechanisms(max_n=6))
def test_loads_and_a_moving_base_have_rates_of_their_own(mechanism):
    chain, rng = mechanism
    (tree, place), qs = to_tree(chain), motion(rng, chain, ORDERS + 3)
    wrenches = random_wrenches(rng, chain, (3,))
    base = rng.uniform(-1, 1, (ORDERS, 9))

    def efforts(t, base=base):
        external = {place[name]: taylor(rows, t)[0] for name, rows in wrenches.items()}
        return reference.inverse_dynamics(tree, *taylor(qs, t), external, base if base is None else taylor(base, t)[0])

    got = chain.time_derivatives("inverse_dynamics", qs, external=wrenches)
    assert_rates(got, lambda t: efforts(t, None), chain.n)
    got = chain.time_derivatives("inverse_dynamics", qs, external=wrenches, base_motion=base)
    # base_motion is given in base axes, in which the mechanism is described
    assert_rates(got, efforts, chain.n)
    constant = {name: rows[0] for name, rows in wrenches.items()}
    rows = {name: np.array([rows[0], 0 * rows[0]]) for name, rows in wrenches.items()}
    once = chain.time_derivatives("inverse_dynamics", qs, external=constant, base_motion=base[0])
    twice = chain.time_derivatives("inverse_dynamics", qs, external=rows, base_motion=[base[0], 0 * base[0]])
    assert_close(once, twice, chain.n)


# rates of torques of the worked tree by an independent RNEA on complex times
WORKED_MOTION = [
    Q,
    QD,
    QDD,
    [-2, 1.5, 0.9, 0.4, -1],
    [3, -1, 2, -2.5, 0.5],
    [-4, 2, -3, 1, 6],
    [5, -7, 1, 3, -2],
]
EXPECTED_RATES = [
    [15.335057377, -42.7892695068, 69.715507634, 16.5483388992, -4.08484118869],
    [-23.5185928056, -25.2253373706, 96.8295981904, 7.91013570959, 4.65243790775],
    [1.64765054555, 45.3712029952, -238.742526708, -30.7705667488, 14.8485140561],
    [147.913233088, -6.53528674684, 284.865557083, 105.409215764, 12.7135166066],
    [-740.659920959, -386.341070508, 627.456830976, -205.229116334, 12.7641235204],
]


def test_torque_rates_of_the_worked_tree_are_those_of_complex_times():
    got = worked_tree().time_derivatives("inverse_dynamics", WORKED_MOTION)
    np.testing.assert_allclose(got, EXPECTED_RATES, rtol=1e-11)


def accelerated(q, w, a):
    """Derivatives of exp(i (q + w t + a t^2 / 2)) at t = 0 to the twelfth order: exp(-x^2) has those of Hermite."""
    s = np.sqrt(-0.5j * a)
    x = s * w / a
    hermite = np.array([np.polynomial.hermite.hermval(x, np.eye(MOST + 1)[k]) for k in range(MOST + 1)])
    return np.exp(1j * (q - w**2 / (2 * a)) - x**2) * (-s) ** np.arange(MOST + 1) * hermite


def test_derivatives_of_an_accelerated_planar_arm_are_hermite_polynomials():
    arm = zv.robots.two_link()  # turns about y: z is down by the sine
    q, qd, qdd = np.array([0.3, -0.8]), np.array([0.9, -0.4]), np.array([-0.7, 1.5])
    qs = np.zeros((MOST + 1, 2))
    qs[:3] = q, qd, qdd
    tip = arm.time_derivatives("pose", qs, link="tip")[:, :3, 3]
    first, second = accelerated(q[0], qd[0], qdd[0]), accelerated(q.sum(), qd.sum(), qdd.sum())
    want = first + second  # both links are 1 m long
    np.testing.assert_allclose(tip[:, 0], want.real, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(tip[:, 2], -want.imag, rtol=1e-12, atol=1e-13)
    velocity = arm.time_derivatives("velocity", qs, link="tip")  # jerk and snap are its second and third derivatives
    np.testing.assert_allclose(velocity[:, 0], want.real[1:], rtol=1e-12, atol=1e-13)


def called(chain, name, state, **options):
    """The function itself at q, qd, qdd."""
    table = dict(zip(("q", "qd", "qdd"), state, strict=True))
    given = {x["name"]: table[x["name"]] for x in ROWS[name]["parameters"] if x["name"] in table}
    return getattr(chain, name)(**given, **options)


def options_of(rng, chain, name):
    """Something for every option that the function takes."""
    options = {"link": str(rng.choice(chain.link_names)), "point": rng.uniform(-0.5, 0.5, 3), "frame": "link"}
    options |= {"external": random_wrenches(rng, chain), "base_motion": rng.uniform(-1, 1, 9), "about": "com"}
    options |= {"external_frame": "link", "weights": rng.uniform(-1, 1, chain.n)}
    moved = [link for link in chain.links if link.joint != "fixed"]
    if takes(name, "i"):
        options |= {"link": moved[0].name, "i": moved[0].joint_name, "j": moved[0].joint_name}
    if takes(name, "section"):
        options |= {"section": zv.Section(moved[-1].name, (0, 0, 0), (0, 0, 1)), "frame": "link"}
    return {key: value for key, value in options.items() if takes(name, key)}


DRIVEN = tuple(name for name in ON_JETS if takes(name, "tau"))
MOVED = tuple(name for name in ON_JETS if name not in DRIVEN)


@pytest.mark.parametrize("name", MOVED)
def test_the_series_of_a_function_gives_its_values_later(name):
    rng = np.random.default_rng(3)
    for n in (1, 4, 7):
        chain = random_chain(rng, n, branching=True, fixed=True, rotor=True, friction=True, spring=True)
        qs, t, options = motion(rng, chain, MOST), 0.04, options_of(rng, chain, name)
        series = arrays_of(chain.time_derivatives(name, qs, **options))
        now = arrays_of(called(chain, name, taylor(qs, np.array(0.0)), **options))
        later = arrays_of(called(chain, name, taylor(qs, np.array(t)), **options))
        for rows, first, want in zip(series, now, later, strict=True):
            assert rows.shape == (len(rows), *want.shape) and len(rows) >= MOST - 2
            assert np.array_equal(rows[0], first)  # bit for bit
            value = sum(t**k / math.factorial(k) * row for k, row in enumerate(rows))
            assert_close(value, want, n, scale=max(1.0, np.abs(want).max()))


@pytest.mark.parametrize("method", ROWS["mass_matrix"]["methods"])
def test_every_method_has_the_same_rates(method):
    rng = np.random.default_rng(4)
    chain = random_chain(rng, 6, fixed=True, rotor=True)
    qs = motion(rng, chain, 5)
    want = chain.time_derivatives("mass_matrix", qs)
    for k, row in enumerate(chain.time_derivatives("mass_matrix", qs, method=method)):
        assert_close(row, want[k], chain.n)


@settings(max_examples=20)
@given(mechanisms(max_n=7))
def test_rates_of_places_are_velocities_and_accelerations(mechanism):
    chain, rng = mechanism
    qs = motion(rng, chain, 5)
    q, qd, qdd = qs[:3]
    link = {"link": str(rng.choice(chain.link_names)), "point": rng.uniform(-0.5, 0.5, 3)}
    pose = chain.time_derivatives("pose", qs, link=link["link"])
    point = pose[:, :3, :3] @ link["point"] + pose[:, :3, 3]
    v, a = chain.velocity(q, qd, **link), chain.acceleration(q, qd, qdd, **link)
    scale = 1 + np.abs(a).max()
    assert_close(point[1:3], [v[:3], a[:3]], chain.n, scale=scale)
    velocity = chain.time_derivatives("velocity", qs, **link)
    assert_close(velocity[:2], [v, a], chain.n, scale=scale)
    assert_close(velocity[:, :3], point[1:], chain.n, scale=1 + np.abs(point).max())
    acceleration = chain.time_derivatives("acceleration", qs, **link)
    assert_close(acceleration, velocity[1:], chain.n, scale=1 + np.abs(velocity).max())
    for frame in ("world", "link"):
        J = chain.time_derivatives("jacobian", qs, frame=frame, **link)
        Jd = chain.time_derivatives("jacobian_rate", qs, frame=frame, **link)
        assert_close(J[1], chain.jacobian_rate(q, qd, frame=frame, **link), chain.n, scale=1 + np.abs(J).max())
        assert_close(J[1:], Jd, chain.n, scale=1 + np.abs(J).max())
    M, C = chain.time_derivatives("mass_matrix", qs), chain.time_derivatives("coriolis_matrix", qs)
    assert_close(M[1:], C + np.swapaxes(C, -1, -2), chain.n, scale=1 + np.abs(M).max())


@settings(max_examples=20)
@given(mechanisms(max_n=6))
def test_the_motion_that_efforts_drive_needs_these_efforts(mechanism):
    chain, rng = mechanism
    tau = rng.uniform(-1, 1, (ORDERS + 1, chain.n))
    options = {"external": random_wrenches(rng, chain, (2,)), "base_motion": rng.uniform(-1, 1, (2, 9))}
    start = motion(rng, chain, 2)
    for method in ROWS["forward_dynamics"]["methods"]:
        qdd = chain.time_derivatives("forward_dynamics", start, tau=tau, method=method, **options)
        first = {
            "external": {k: w[0] for k, w in options["external"].items()},
            "base_motion": options["base_motion"][0],
        }
        assert np.array_equal(qdd[0], chain.forward_dynamics(*start, tau[0], method=method, **first))
        qs = np.concatenate([start, qdd])
        back = chain.time_derivatives("inverse_dynamics", qs, **options)
        sizes = np.abs(chain.time_derivatives("mass_matrix", qs[: ORDERS + 1])).max() * (1 + np.abs(qdd).max(axis=-1))
        for k in range(ORDERS + 1):  # what cancels in the efforts is as large as accelerations of that order and below
            assert_close(back[k], tau[k], chain.n, scale=30 * sizes[: k + 1].max())


@settings(max_examples=15)
@given(mechanisms(max_n=5))
def test_the_series_of_forward_derivatives_gives_them_later_on_the_motion_that_efforts_drive(mechanism):
    chain, rng = mechanism
    tau, start = rng.uniform(-1, 1, (9, chain.n)), motion(rng, chain, 2)
    loads = random_wrenches(rng, chain, (2,))
    rows = np.stack(chain.time_derivatives("forward_derivatives", start, tau=tau, external=loads), axis=1)
    qs = np.concatenate([start, chain.time_derivatives("forward_dynamics", start, tau=tau, external=loads)])
    # the step makes terms of order 1 to 4 visible and those beyond order 8 small
    sizes = np.abs(rows).max(axis=(1, 2, 3))
    h = 0.2 * min((sizes[0] / size) ** (1 / k) if size else 1.0 for k, size in enumerate(sizes) if k)
    q, qd, _ = taylor(qs, h)
    external = {link: taylor(wrench, h)[0] for link, wrench in loads.items()}
    later = np.array(chain.forward_derivatives(q, qd, taylor(tau, h)[0], external))
    condition = np.linalg.cond(chain.mass_matrix(start[0]))
    np.testing.assert_allclose(taylor(rows, h)[0], later, rtol=0, atol=(1e-13 * condition + 0.2**9) * sizes[0])


def test_forward_derivatives_of_a_pendulum_turn_with_it():
    # q'' = tau - g sin q: d q''/dq = -g cos q, whose rates are g sin(q) q' and g cos(q) q'^2 + g sin(q) q''
    pendulum = zv.Chain([zv.Link("bob", axis=(0, -1, 0), mass=1.0, com=(0, 0, -1.0))], gravity=(0, 0, -9.81))
    q, qd, tau = 0.4, 0.7, np.array([0.3, -0.2, 0.5])
    a = tau[0] - 9.81 * np.sin(q)
    want = -9.81 * np.array([np.cos(q), -np.sin(q) * qd, -np.cos(q) * qd**2 - np.sin(q) * a])
    got = pendulum.time_derivatives("forward_derivatives", [[q], [qd]], tau=tau[:, None])
    np.testing.assert_allclose(got.dqdd_dq[:, 0, 0], want, rtol=1e-14)
    assert np.array_equal(got.dqdd_dqd, np.zeros((3, 1, 1))) and np.array_equal(got.dqdd_dtau[1:], np.zeros((2, 1, 1)))


def test_the_rate_of_an_acceleration_under_efforts_is_that_of_a_pendulum():
    # q'' = (tau - g sin q): q''' = tau' - g cos(q) q', q'''' = tau'' + g sin(q) q'^2 - g cos(q) q''
    pendulum = zv.Chain([zv.Link("bob", axis=(0, -1, 0), mass=1.0, com=(0, 0, -1.0))], gravity=(0, 0, -9.81))
    q, qd, tau = 0.4, 0.7, np.array([0.3, -0.2, 0.5])
    a = tau[0] - 9.81 * np.sin(q)
    j = tau[1] - 9.81 * np.cos(q) * qd
    s = tau[2] + 9.81 * np.sin(q) * qd**2 - 9.81 * np.cos(q) * a
    got = pendulum.time_derivatives("forward_dynamics", [[q], [qd]], tau=tau[:, None])
    np.testing.assert_allclose(got[:, 0], [a, j, s], rtol=1e-14)


@pytest.mark.parametrize("name", ON_JETS)
def test_rows_do_not_depend_on_batch_or_threads(name):
    rng = np.random.default_rng(5)
    chain = random_chain(rng, 5, branching=True, fixed=True, rotor=True, friction=True, spring=True)
    options, batch = options_of(rng, chain, name), (3, 23)
    if name in DRIVEN:
        qs, options["tau"] = motion(rng, chain, 2, batch), rng.uniform(-1, 1, (*batch, 4, chain.n))
    else:
        qs = motion(rng, chain, 6, batch)
    whole = arrays_of(chain.time_derivatives(name, qs, **options))
    for threads in (2, 3):
        again = arrays_of(chain.time_derivatives(name, qs, threads=threads, **options))
        assert all(np.array_equal(a, b) for a, b in zip(whole, again, strict=True))
    for i, j in ((0, 0), (1, 7), (2, 22)):
        one = options | ({"tau": options["tau"][i, j]} if name in DRIVEN else {})
        single = arrays_of(chain.time_derivatives(name, qs[i, j], **one))
        assert all(np.array_equal(a[i, j], b) for a, b in zip(whole, single, strict=True))
    if not ROWS[name]["several"]:
        out = np.full_like(whole[0], np.nan)
        assert chain.time_derivatives(name, qs, out=out, **options) is out
        assert np.array_equal(out, whole[0])


def test_orders_agree_and_leading_shapes_broadcast():
    rng = np.random.default_rng(6)
    chain = random_chain(rng, 4)
    qs, base = motion(rng, chain, MOST + 3, (2, 1)), rng.uniform(-1, 1, (5, 2, 9))
    whole = chain.time_derivatives("inverse_dynamics", qs, base_motion=base)
    assert whole.shape == (2, 5, MOST + 1, chain.n)
    for order in range(MOST + 1):
        assert np.array_equal(
            chain.time_derivatives("inverse_dynamics", qs, order=order, base_motion=base), whole[..., : order + 1, :]
        )
    assert np.array_equal(chain.time_derivatives("inverse_dynamics", qs[1, 0], base_motion=base[3]), whole[1, 3])
    assert chain.time_derivatives("potential_energy", qs[0, 0], order=2).shape == (3,)
    assert chain.time_derivatives("com", np.zeros((0, 3, 4))).shape == (0, 3, 3)


def test_long_chains_have_rates():
    rng = np.random.default_rng(7)
    chain = random_chain(rng, 60, "revolute", branching=True)
    tree, qs = to_tree(chain)[0], motion(rng, chain, 5)
    assert_rates(
        chain.time_derivatives("inverse_dynamics", qs),
        lambda t: reference.inverse_dynamics(tree, *taylor(qs, t)),
        chain.n,
        orders=2,
    )


def test_rows_that_fail_are_named_or_become_nan():
    arm = zv.robots.two_link()
    qs = np.zeros((3, 4, 2))
    qs[1, 2, 0] = np.nan
    check_refused(
        ValueError, ["time_derivatives", "qs", "not finite", "row 1"], arm.time_derivatives, "inverse_dynamics", qs
    )
    status = np.empty(3, np.int16)
    got = arm.time_derivatives("inverse_dynamics", qs, on_error="nan", status=status)
    assert np.isnan(got[1]).all() and np.isfinite(got[[0, 2]]).all() and list(status != 0) == [False, True, False]
    qs[1, 2, 0] = 1e200
    qs[1, 1, 0] = 1e200
    check_refused(FloatingPointError, ["time_derivatives", "row 1"], arm.time_derivatives, "inverse_dynamics", qs)
    with pytest.warns(zv.ModelWarning, match="moves no mass"):
        loose = zv.Chain([zv.Link("a", mass=1.0, com=(1, 0, 0)), zv.Link("b", position=(1, 0, 0))])
    error = check_refused(
        zv.SingularityError,
        ["b_joint"],
        loose.time_derivatives,
        "forward_dynamics",
        np.zeros((2, 2)),
        tau=np.zeros((2, 2)),
    )
    assert error.joint == "b_joint"


@pytest.mark.parametrize(
    ("kind", "words", "args", "options"),
    [
        (ValueError, ["unknown function 'poze'", "'pose'", "did you mean 'pose'?"], ("poze", np.zeros((3, 2))), {}),
        (ValueError, ["unknown function None"], (None, np.zeros((3, 2))), {}),
        (ValueError, ["derivatives", "dual numbers"], ("derivatives", np.zeros((3, 2))), {"method": "dual"}),
        (TypeError, ["tau", "missing"], ("forward_derivatives", np.zeros((2, 2))), {}),
        (ValueError, ["qs", "(2,)", "(..., k, 2)"], ("com", np.zeros(2)), {}),
        (ValueError, ["qs", "(3, 5)", "(..., k, 2)"], ("com", np.zeros((3, 5))), {}),
        (ValueError, ["qs", "(0, 2)"], ("com", np.zeros((0, 2))), {}),
        (ValueError, ["qs has 2 rows", "needs 3 rows (q, qd, qdd)"], ("inverse_dynamics", np.zeros((2, 2))), {}),
        (ValueError, ["order is 4", "qs has 5 rows", "7 in all"], ("inverse_dynamics", np.zeros((5, 2))), {"order": 4}),
        (ValueError, ["order is 13", "0 to 12"], ("com", np.zeros((15, 2))), {"order": 13}),
        (ValueError, ["order is -1", "0 to 12"], ("com", np.zeros((5, 2))), {"order": -1}),
        (ValueError, ["order is 1.5"], ("com", np.zeros((5, 2))), {"order": 1.5}),
        (ValueError, ["qs has 14 rows", "at most 13"], ("com", np.zeros((14, 2))), {}),
        (ValueError, ["at most 15"], ("com", np.zeros((99, 2))), {"order": 1}),
        (TypeError, ["link", "missing"], ("pose", np.zeros((3, 2))), {}),
        (ValueError, ["link 'tipp'", "did you mean 'tip'?"], ("pose", np.zeros((3, 2))), {"link": "tipp"}),
        (TypeError, ["'pose' takes no argument 'frame'"], ("pose", np.zeros((3, 2))), {"link": "tip", "frame": "link"}),
        (TypeError, ["takes no argument 'qd'"], ("velocity", np.zeros((3, 2))), {"qd": [0, 0]}),
        (TypeError, ["'thread'", "did you mean 'threads'?"], ("com", np.zeros((3, 2))), {"thread": 2}),
        (TypeError, ["tau", "missing"], ("forward_dynamics", np.zeros((2, 2))), {}),
        (
            ValueError,
            ["qs has 3 rows", "expected 2", "follows from tau"],
            ("forward_dynamics", np.zeros((3, 2))),
            {"tau": np.zeros((2, 2))},
        ),
        (ValueError, ["tau", "(2,)"], ("forward_dynamics", np.zeros((2, 2))), {"tau": np.zeros(2)}),
        (
            ValueError,
            ["order is 3", "tau has 2 rows"],
            ("forward_dynamics", np.zeros((2, 2))),
            {"tau": np.zeros((2, 2)), "order": 3},
        ),
        (
            ValueError,
            ["base_motion", "(8,)", "(..., k, 9) or (9,)"],
            ("inverse_dynamics", np.zeros((3, 2))),
            {"base_motion": np.zeros(8)},
        ),
        (
            ValueError,
            ["external['tip']", "(2, 5)"],
            ("inverse_dynamics", np.zeros((3, 2))),
            {"external": {"tip": np.zeros((2, 5))}},
        ),
        (TypeError, ["qs", "array of numbers"], ("com", "abc"), {}),
        (TypeError, ["qs", "complex"], ("com", np.zeros((3, 2), complex)), {}),
        (ValueError, ["out", "(3, 3)"], ("com", np.zeros((3, 2))), {"out": np.zeros((3, 2))}),
        (ValueError, ["broadcast"], ("inverse_dynamics", np.zeros((4, 3, 2))), {"base_motion": np.zeros((5, 1, 9))}),
        (ValueError, ["threads"], ("com", np.zeros((3, 2))), {"threads": -1}),
    ],
)
def test_refusals_say_what_is_wrong(kind, words, args, options):
    arm = zv.robots.two_link()
    check_refused(kind, ["time_derivatives", *words], arm.time_derivatives, *args, **options)


@given(
    st.sampled_from(ON_JETS),
    anything((2, 2), (5, 3, 2)),
    st.fixed_dictionaries(
        {},
        optional={
            "link": st.sampled_from(["tip", "lower", "nobody"]) | st.none(),
            "order": st.integers(-2, 15) | st.floats() | st.none(),
            "tau": anything((3, 2), (5, 1, 2)),
            "base_motion": anything((9,), (2, 9)),
            "external": st.dictionaries(st.sampled_from(["tip", "nobody"]), anything((6,), (2, 6)), max_size=2),
            "threads": st.integers(-1, 70),
        },
    ),
)
def test_anything_is_answered_or_refused(name, qs, options):
    arm = zv.robots.two_link()
    assert_answered_or_refused(lambda **given: arm.time_derivatives(name, qs, **given), arrays_of, options)


def test_threads_of_the_caller_do_not_disturb_each_other():
    chain = random_chain(np.random.default_rng(8), 7)
    qs = motion(np.random.default_rng(9), chain, 12, (4000,))
    want = chain.time_derivatives("inverse_dynamics", qs)
    for got in at_once(lambda _: chain.time_derivatives("inverse_dynamics", qs), range(3)):
        assert np.array_equal(got, want)
