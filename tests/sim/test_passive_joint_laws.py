"""Laws of joints of hexapods that are not driven: against forces of steps, linkages, MuJoCo, springs of links."""

import re

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from engines import hexapods as engines
from scipy.spatial.transform import Rotation
from zveno import laws
from zveno.sim import stability
from zveno.sim.simulation import as_leg_laws

METHODS = ("rk4", "semi-implicit")
PUSH = np.array([-0.05, 0.03, 0.02, 0.1, -0.08, 0.06])


def ring(kind="UPS", **options):
    return zv.mechanisms.docking_ring(kind, **options)


def joints_of(hexapod, *, driven=False):
    """Names, with the indices of leg and joint."""
    return {
        f"{leg.name}.{joint}": (k, j)
        for k, leg in enumerate(hexapod.legs)
        for j, joint in enumerate(leg.joint_names)
        if driven or j != leg.actuated_index
    }


def of_all(hexapod, law):
    return dict.fromkeys(joints_of(hexapod), law)


def same(a, b, names=None):
    return all((getattr(a, name) == getattr(b, name)).all() for name in names or a.to_dict())


def random_law(rng):
    """A law without internal states, soft beside the mechanisms of these tests."""
    x = rng.uniform(0.2, 1.0, 4)
    spring = laws.SpringDamper(10 * x[0], x[1], 3 * x[2], rng.choice([None, 0.3]))
    return rng.choice([
        spring,
        spring + laws.DryFriction(x[0], x[1]) + laws.EddyBrake(x[2], x[3]),
        laws.DryFriction(2 * x[0], 0.3 * x[1]),
        laws.Stops(30 * x[0], x[1], -0.2 * x[2], 0.2 * x[3]) + laws.EddyBrake(x[2], x[3]),
        laws.Bumpers(30 * x[0], x[1], 0.1, -0.2 * x[2], 0.2 * x[3]),
        laws.Servo(10 * x[0], x[1], laws.Ramp(x[2], 0.5, relative=True), 4.0),
        laws.Servo(10 * x[0], x[1], laws.Table([0.0, 0.01, 0.02], rng.uniform(-1, 1, 3), relative=True)),
        laws.SlipClutch(2 * x[3], spring + laws.DryFriction(x[0], x[1])),
        laws.Formula("-k * x ** 3 - c * abs(v) * v + sin(9 * t)", {"k": 10 * x[0], "c": x[1]}),
    ])  # fmt: skip


# ---- against other ways to the same motion


@pytest.mark.parametrize("case", models.CASES)
def test_forces_are_those_of_the_laws_at_the_recorded_positions_and_rates(case, rng):
    """A step of "semi-implicit" knows one force: given as `tau` it makes the same step."""
    _, hexapod = models.pair(case)
    state = models.random_state(rng, models.pair(case)[0], speed=0.5)
    names = joints_of(hexapod, driven=True)
    given = {name: random_law(rng) for name in names if rng.random() < 0.7}
    dt, steps = 1e-3, 25
    tau = rng.uniform(-1, 1, (steps, 6, hexapod.nj))
    for k, leg in enumerate(hexapod.legs):
        tau[:, k, leg.joint_count :] = 0
    options = {
        "r": state.r, "R": state.R, "u": state.u, "method": "semi-implicit", "check_step": False,
        "wrench": lambda t, r, R, u: state.wrench * np.cos(9 * t), "base_motion": rng.uniform(-0.5, 0.5, 9),
    }  # fmt: skip
    for extra in (0 * tau, tau):
        got = hexapod.simulate(steps * dt, dt, laws=given, tau=extra, **options)
        force = extra.copy()
        for name, law in given.items():
            k, j = names[name]
            x, v = got.joint_position[:-1, k, j], got.joint_velocity[:-1, k, j]
            force[:, k, j] += law.of(hexapod, name)(got.t[:-1], x, v)
        assert np.abs(force - extra).max() > 1e-3
        want = hexapod.simulate(steps * dt, dt, tau=force, **options)
        for field in ("r", "quaternion", "u", "acceleration", "joint_position", "base_wrench", "work_legs", "momentum"):
            a, b = getattr(got, field)[:-1], getattr(want, field)[:-1]
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-11 * max(1.0, np.abs(b).max()), err_msg=field)
        actuated = force[:, np.arange(6), hexapod.actuated]
        np.testing.assert_allclose(got.tau[:-1], actuated, rtol=0, atol=1e-12 * np.abs(actuated).max())
    alone = hexapod.simulate(steps * dt, dt, laws=given, **options)
    assert same(alone, hexapod.simulate(steps * dt, dt, laws=given, tau=0 * tau, **options), ("r", "u", "base_wrench"))


def as_state(ref, hexapod, linkage, state):
    """Coordinates and rates of the linkage of `models.as_linkage`."""
    p, pd = hexapod.closure(state.r, state.R), hexapod.joint_velocity(state.r, state.R, state.u)
    angles = Rotation.from_matrix(state.R).as_euler("XYZ")
    q = np.concatenate([*(row[: leg.n] for row, leg in zip(p, ref.legs, strict=True)), state.r, angles])
    J = linkage.chain.jacobian(q, "ring")
    spin = np.linalg.solve(J[3:, -3:], state.R @ state.u[3:])
    return q, np.concatenate([*(row[: leg.n] for row, leg in zip(pd, ref.legs, strict=True)), state.u[:3], spin])


SKEW = [f"{kind}-skew" for kind in ("UPS", "SPU", "UCU", "RUS", "RSU", "mixed")]


@pytest.mark.parametrize("case", [*SKEW, "mixed-general", "three-joints", "UUU"])
def test_a_linkage_with_the_same_laws_moves_the_same_way(case, rng):
    """Bristles with their internal states too; the linkage has loops where the hexapod has closed forms."""
    ref, hexapod = models.pair(case)
    linkage, state = models.as_linkage(ref), models.random_state(rng, ref, speed=0.3)
    q, qd = as_state(ref, hexapod, linkage, state)
    names = joints_of(hexapod, driven=True)
    bristles = laws.LuGre(1.0, 1.5, 0.05, 200.0, 5.0, 0.1)
    given = {}
    for name in names:
        x = rng.uniform(0.1, 1.0, 4)
        spring = laws.SpringDamper(20 * x[0], 2 * x[1], x[2], x[3] - 0.5)
        given[name] = [None, spring, spring + bristles, bristles + laws.EddyBrake(x[0], x[1])][rng.integers(4)]
    free = [name for name, law in given.items() if law is not None and law != bristles]
    for name in free[16:]:  # a hexapod has room for 24 bristles
        given[name] = None
    twin = {f"leg{k}_{j}_joint": given[name] for name, (k, j) in names.items()}
    want = linkage.simulate(0.1, 1e-3, q=q, qd=qd, laws=twin)
    got = hexapod.simulate(0.1, 1e-3, r=state.r, R=state.R, u=state.u, laws=given)
    legs = np.concatenate([got.joint_position[:, k, : leg.n] for k, leg in enumerate(ref.legs)], axis=1)
    np.testing.assert_allclose(legs, want.q[:, :-6], atol=1e-8)
    np.testing.assert_allclose(got.r, want.q[:, -6:-3], atol=1e-8)
    np.testing.assert_allclose(got.work_legs, want.work_joints, atol=1e-7)
    assert np.abs(got.r[-1] - got.r[0]).max() > 1e-3 and np.abs(got.work_legs).max() > 1e-3
    assert got.energy_balance.ratio < 1e-6
    coarse = hexapod.simulate(0.1, 1e-4, r=state.r, R=state.R, u=state.u, laws=given, method="semi-implicit")
    np.testing.assert_allclose(coarse.r[::10], got.r, atol=1e-2 * np.abs(got.r[-1] - got.r[0]).max())


def test_mujoco_finds_the_same_acceleration_under_springs_and_dampers_in_its_hinges():
    """Its joints have stiffness, damping and a rest angle of their own; its constraints are soft."""
    ref, hexapod = models.pair("UPS-skew")
    states = engines.random_states(ref, 3)
    other = engines.MuJoCo(engines.Tree(ref), states)
    model, data = other.model, other.data
    names, given, rng = joints_of(hexapod), {}, np.random.default_rng(5)
    for name, (k, j) in names.items():
        joint = model.joint(f"leg{k}_{j}")
        stiffness, damping, rest = rng.uniform(1, 60), rng.uniform(1, 20), rng.uniform(-1, 1)
        model.jnt_stiffness[joint.id], model.dof_damping[joint.dofadr[0]] = stiffness, damping
        model.qpos_spring[joint.qposadr[0]] = rest
        given[name] = laws.SpringDamper(stiffness, damping, reference=rest)
    for row in range(len(states)):
        start = {"r": states.r[row], "R": states.R[row], "u": states.u[row]}
        rest = {"wrench": states.wrench[row], "tau": states.tau[row], "check_step": False}
        with_laws = hexapod.simulate(1e-6, 1e-6, laws=given, **start, **rest).acceleration[0]
        other.set(row)
        engines.mujoco.mj_forward(model, data)
        found = other.ring_acceleration(row)
        scale = np.abs(with_laws).max()
        assert np.abs(with_laws - states.acceleration[row]).max() > 0.05 * scale  # the laws matter
        np.testing.assert_allclose(found, with_laws, atol=5e-3 * scale)


def test_springs_and_friction_of_links_are_laws_of_their_joints():
    """The chains of custom legs have springs and dampers of their own."""
    plain = ring(gravity=(-1.0, 0.5, 0.2))
    numbers = {"cross": (6.0, 0.7, 0.05), "housing": (4.0, 0.3, -0.1)}

    def custom(leg, own):
        fields = {
            name: {"stiffness": k, "friction": c, "rest": x} if own else {} for name, (k, c, x) in numbers.items()
        }
        links = [
            zv.Link("cross", axis=(0, 1, 0), position=leg.base, rotation=leg.base_frame, **fields["cross"]),
            zv.Link("housing", axis=(0, 0, 1), mass=leg.inner.mass, com=leg.inner.com, inertia=leg.inner.inertia,
                    **fields["housing"]),
            zv.Link("rod", joint="prismatic", axis=(1, 0, 0), position=(leg.inner_length, 0, 0), mass=leg.outer.mass,
                    com=leg.outer.com, inertia=leg.outer.inertia, rotor_inertia=leg.reflected),
        ]  # fmt: skip
        ends = {"ring": leg.ring, "point": (leg.outer_length, 0, 0), "start": (0, 0, 0), "actuated": "rod_joint"}
        return zv.Leg.custom(zv.Chain(links), "rod", **ends)

    def made(own):
        legs = [custom(leg, own) for leg in plain.legs]
        return zv.Hexapod(plain.platform, legs, nominal=plain.nominal, gravity=plain.gravity)

    want = made(True).simulate(0.3, 1e-3, u=PUSH)
    by_name = {name: laws.SpringDamper(k, c, reference=x) for name, (k, c, x) in numbers.items()}
    bare = made(False)
    got = bare.simulate(
        0.3, 1e-3, u=PUSH,
        laws={f"{leg}.{name}_joint": law for leg in bare.leg_names for name, law in by_name.items()},
    )  # fmt: skip
    closed = plain.simulate(
        0.3, 1e-3, u=PUSH,
        laws={f"{leg}.{joint}": by_name[name] for leg in plain.leg_names
              for joint, name in zip(("u1", "u2"), numbers, strict=True)},
    )  # fmt: skip
    stored = sum(
        0.5 * k * ((want.joint_position[..., j] - x) ** 2).sum(axis=-1) for j, (k, _, x) in enumerate(numbers.values())
    )
    for run in (got, closed):
        np.testing.assert_allclose(run.r, want.r, atol=1e-11)
        np.testing.assert_allclose(run.base_wrench, want.base_wrench, atol=1e-8)
        np.testing.assert_allclose(run.work_legs, want.work_legs - (stored - stored[0]), atol=1e-8)
        assert run.energy_balance.ratio < 1e-8


# ---- accounts


@pytest.mark.parametrize("case", models.CASES)
def test_springs_in_joints_keep_the_energy(case, rng):
    ref, hexapod = models.pair(case, heavy=False)
    state = models.random_state(rng, ref, speed=0.3)
    names = joints_of(hexapod)
    stiffness = {name: rng.uniform(1, 30) for name in names}
    s = hexapod.simulate(
        0.2, 1e-3, r=state.r, R=state.R, u=state.u,
        laws={name: laws.SpringDamper(k) for name, k in stiffness.items()},
    )  # fmt: skip
    nominal = hexapod.closure(*hexapod.nominal)
    stored = sum(
        0.5 * k * (s.joint_position[(slice(None), *names[name])] - nominal[names[name]]) ** 2
        for name, k in stiffness.items()
    )
    total = s.kinetic_energy + stored
    assert np.ptp(stored) > 1e-3 * total[0]
    np.testing.assert_allclose(total, total[0], rtol=1e-7)
    np.testing.assert_allclose(s.work_legs, stored[0] - stored, atol=1e-7 * total[0])
    assert not s.tau.any() and np.abs(s.momentum_error).max() < 1e-7 * max(1.0, np.abs(s.momentum).max())


@pytest.mark.parametrize("method", METHODS)
def test_friction_in_joints_takes_the_energy_that_is_missing(method):
    hexapod = ring("SPU")
    joints = list(joints_of(hexapod).values())
    s = hexapod.simulate(2.0, 1e-3, u=PUSH, laws=of_all(hexapod, laws.SpringDamper(0.0, 1.5)), method=method)
    rates = np.stack([s.joint_velocity[:, k, j] for k, j in joints])
    power = 1.5 * (rates**2).sum(axis=0)
    lost = np.append(0.0, np.cumsum((power[1:] + power[:-1]) / 2) * s.dt)
    accuracy = 1e-5 if method == "rk4" else 3e-3
    np.testing.assert_allclose(s.work_legs, -lost, atol=accuracy * s.kinetic_energy[0])
    np.testing.assert_allclose(s.kinetic_energy, s.kinetic_energy[0] - lost, atol=accuracy * s.kinetic_energy[0])
    assert lost[-1] > 0.3 * s.kinetic_energy[0]


def test_sticking_hinges_hold_the_ring():
    hexapod, load = ring(), np.array([-2.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    friction = laws.LuGre(5.0, 7.0, 1e-3, 2e3, 60.0)
    held = hexapod.simulate(1.0, 2e-4, wrench=load, laws=of_all(hexapod, friction), every=100)
    free = hexapod.simulate(1.0, 2e-4, wrench=load, every=100)
    assert np.abs(held.r - held.r[0]).max() < 0.05 * np.abs(free.r - free.r[0]).max()
    assert np.abs(held.u[-1]).max() < 1e-3 and not held.tau.any()


def test_rk4_keeps_its_order():
    hexapod = ring("RUS")
    law = of_all(hexapod, laws.SpringDamper(20.0, 1.0, 0.3) + laws.EddyBrake(0.5, 0.3))
    fine, *ends = (hexapod.simulate(0.4, dt, u=PUSH, laws=law).r[-1] for dt in (1e-3, 2e-2, 1e-2))
    coarse, half = (np.abs(end - fine).max() for end in ends)
    assert 3.5 < np.log2(coarse / half) < 4.7


def test_angles_of_passive_joints_do_not_jump():
    """Legs whose bases are turned by half a turn about their first axes move the same way with angles around pi."""
    plain = ring("UPS")
    half = np.diag([-1.0, 1.0, -1.0])

    def turned(leg):
        return zv.Leg.ups(
            leg.base, leg.ring, housing=leg.inner, rod=leg.outer, housing_length=leg.inner_length,
            rod_length=leg.outer_length, base_frame=leg.base_frame @ half, reflected_mass=leg.reflected,
        )  # fmt: skip

    other = zv.Hexapod(plain.platform, [turned(leg) for leg in plain.legs], nominal=plain.nominal)
    law = laws.SpringDamper(3.0, 0.1)
    first = plain.closure(*plain.nominal)[:, 0]
    want = plain.simulate(
        2.0, 1e-3, u=3 * PUSH,
        laws={f"leg{k + 1}.u1": laws.SpringDamper(3.0, 0.1, reference=x) for k, x in enumerate(first)},
    )  # fmt: skip
    start = other.closure(*other.nominal)[:, 0]
    assert np.abs(start).min() > 3
    got = other.simulate(2.0, 1e-3, u=3 * PUSH, laws={f"leg{k}.u1": law for k in range(1, 7)})
    closed = other.closure(got.r, got.R)[..., 0]
    assert np.ptp(closed, axis=0).max() > 6  # the closed form does jump
    assert np.abs(np.diff(got.joint_position[..., 0], axis=0)).max() < 0.01
    np.testing.assert_allclose(got.r, want.r, atol=1e-10)
    np.testing.assert_allclose(got.work_legs, want.work_legs, atol=1e-10)


# ---- names


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["UPS", "RSU"])
def test_names_of_legs_and_drives_mean_what_six_laws_mean(kind, method):
    hexapod, law = ring(kind), laws.SpringDamper(15.0, 3.0, 1.0) + laws.LuGre(0.5, 0.7, 0.01, 1e2, 1.0)
    drive = hexapod.legs[0].joint_names[hexapod.actuated[0]]
    options = {"u": PUSH, "method": method}
    want = hexapod.simulate(0.1, 1e-3, laws=law, **options)
    assert same(want, hexapod.simulate(0.1, 1e-3, laws=dict.fromkeys(hexapod.leg_names, law), **options))
    by_joint = {f"{leg}.{drive}": law for leg in reversed(hexapod.leg_names)}
    assert same(want, hexapod.simulate(0.1, 1e-3, laws=by_joint, **options))
    some = hexapod.simulate(0.1, 1e-3, laws={"leg3": law, "leg1": None, "leg1.u1": None}, **options)
    assert same(some, hexapod.simulate(0.1, 1e-3, laws=[None, None, law, None, None, None], **options))
    assert same(hexapod.simulate(0.1, 1e-3, laws={}, **options), hexapod.simulate(0.1, 1e-3, **options))


def test_laws_take_references_and_limits_from_their_joints():
    hexapod = ring("RUS")
    nominal = hexapod.closure(*hexapod.nominal)
    law = laws.SpringDamper(2.0) + laws.Servo(3.0, reference=laws.Ramp(0.1, 0.2, relative=True))
    for name, (k, j) in joints_of(hexapod, driven=True).items():
        spring, servo = law.of(hexapod, name).laws
        assert spring.reference == servo.reference.start == nominal[k, j]
    assert law.of(hexapod, "leg2.crank") == law.of(hexapod, "leg2") == law.of(hexapod, 1)
    with pytest.raises(ValueError, match=r"SpringDamper.of: leg is 'leg2.u3', expected 0 to 5 or one of"):
        laws.SpringDamper(2.0).of(hexapod, "leg2.u3")
    with pytest.raises(ValueError, match=r"Stops: joint 'u1' of leg 'leg2' has no limits; give lower= and upper="):
        laws.Stops(2.0).of(hexapod, "leg2.u1")
    links = [
        zv.Link("a", axis=(0, 1, 0), lower=-0.5, upper=0.25), zv.Link("b", axis=(0, 0, 1)),
        zv.Link("c", joint="prismatic", axis=(1, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1), lower=-1.0, upper=1.0),
    ]  # fmt: skip
    ends = {"ring": (0, 0, 0), "point": (0, 0, 0), "start": (0, 0, 1.0), "actuated": "c_joint"}
    legs = [*ring().legs[:5], zv.Leg.custom(zv.Chain(links, strict=False), "c", name="mine", **ends)]
    stops = laws.Stops(2.0).of(zv.Hexapod(ring().platform, legs, nominal=ring().nominal, strict=False), "mine.a_joint")
    assert (stops.lower, stops.upper) == (-0.5, 0.25)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"leg2.strok": None},
            "laws names joint 'leg2.strok', expected a leg, 'leg1', 'leg2', 'leg3', 'leg4', 'leg5', 'leg6', or a joint"
            " of one, as 'leg2.u1', 'leg2.u2', 'leg2.stroke'; did you mean 'leg2.stroke'?",
        ),
        ({"u1": None}, "laws names joint 'u1', expected a leg, 'leg1'"),
        ({"leg1.crank": laws.SpringDamper(1.0)}, "laws names joint 'leg1.crank', expected a leg"),
        ({3: laws.SpringDamper(1.0)}, "laws names joint 3, expected a leg, 'leg1'"),
        ({"leg1": laws.SpringDamper(1.0), "leg1.stroke": None}, "laws names 'leg1' and 'leg1.stroke', the same joint"),
        ({"leg1.stroke": None, "leg1": None}, "laws names 'leg1.stroke' and 'leg1', the same joint"),
        ({"leg1.u1": 3.0}, "law of joint 'leg1.u1' is 3.0, expected a Law or None"),
        ({"leg4": abs}, "law of leg 'leg4' is <built-in function abs>, expected a Law or None"),
        (
            dict.fromkeys([f"leg{k}.u{i}" for k in range(1, 7) for i in (1, 2)], 3 * [laws.LuGre(1, 1, 1, 1)]),
            "laws have 36 LuGre terms, expected at most 24 in the joints of a hexapod",
        ),
    ],
)
def test_what_is_refused(given, text):
    given = {name: laws.Sum(tuple(law)) if isinstance(law, list) else law for name, law in given.items()}
    with pytest.raises(ValueError, match="^simulate: " + re.escape(text)):
        ring().simulate(0.01, 1e-3, laws=given)


def test_a_name_of_two_joints_is_refused():
    names = ["leg1.u1", *ring().leg_names[:5]]
    legs = [zv.Leg.from_dict(leg.to_dict() | {"name": name}) for leg, name in zip(ring().legs, names, strict=True)]
    hexapod = zv.Hexapod(ring().platform, legs, nominal=ring().nominal, strict=False)
    with pytest.raises(ValueError, match=r"^simulate: laws names 'leg1.u1', which is two joints"):
        hexapod.simulate(0.01, 1e-3, laws={"leg1.u1": laws.SpringDamper(1.0)})


def test_all_bristles_that_there_is_room_for():
    hexapod, law = ring("SPU"), laws.LuGre(0.2, 0.3, 0.05, 20.0, 0.5)
    s = hexapod.simulate(0.05, 1e-3, u=PUSH, laws=dict.fromkeys(joints_of(hexapod, driven=True), law))
    assert s.tau.all() and s.energy_balance.ratio < 1e-6


def test_rigs_and_dockings_have_laws_of_drives_only(tmp_path):
    hexapod, law = ring(), laws.SpringDamper(400.0, 80.0)
    by_leg = dict.fromkeys(hexapod.leg_names, law)
    text = r"laws names joint 'leg2.u1', which is not driven: only drives have laws here"
    for name, make in {
        "save_rig": lambda given: zv.save_rig(hexapod, tmp_path / "rig.json", laws=given),
        "Stepper": lambda given: zv.Stepper(hexapod, laws=given),
        "export_step": lambda given: zv.export_step(hexapod, tmp_path, laws=given),
        "export_fmu": lambda given: zv.export_fmu(hexapod, tmp_path / "a.fmu", laws=given),
    }.items():
        with pytest.raises(ValueError, match=f"^{name}: {text}"):
            make({**by_leg, "leg2.u1": law})
    one, six = zv.Stepper(hexapod, laws=by_leg), zv.Stepper(hexapod, laws=law)
    wrench = np.array([-20.0, 3.0, 0.0, 0.0, 0.0, 1.0])
    for _ in range(3):
        a, b = one.step(wrench=wrench), six.step(wrench=wrench)
    assert all((a[key] == b[key]).all() for key in a)
    scenario = zv.docking.demo("UPS")
    with pytest.raises(ValueError, match=f"^(docking.)?simulate: {text}"):
        zv.docking.simulate(scenario, 0.01, laws={"a": {"leg2.u1": law}})


# ---- events, batches, limits of the step


@pytest.mark.parametrize(("method", "accuracy"), [("rk4", 1e-4), ("semi-implicit", 2e-3)])
def test_stops_of_hinges_are_met_when_the_linkage_says(method, accuracy):
    ref, hexapod = models.pair("mixed-skew", heavy=False)
    linkage, state = models.as_linkage(ref), models.random_state(np.random.default_rng(2), ref, speed=0.3)
    q, qd = as_state(ref, hexapod, linkage, state)
    free = hexapod.simulate(0.3, 1e-3, r=state.r, R=state.R, u=state.u)
    names = joints_of(hexapod)
    given = {}
    for name in list(names)[::3]:
        x = free.joint_position[(slice(None), *names[name])]
        way = x[-1] - x[0]
        at = x[0] + 0.4 * way
        ends = {"lower": -np.inf, "upper": at} if way > 0 else {"lower": at, "upper": np.inf}
        given[name] = laws.Stops(200.0, 2.0, **ends)
    twin = {"leg{}_{}_joint".format(*names[name]): law for name, law in given.items()}
    want = linkage.simulate(0.3, 1e-4, q=q, qd=qd, laws=twin).events
    sim = hexapod.simulate(0.3, 1e-3, r=state.r, R=state.R, u=state.u, laws=given, method=method)
    assert len(sim.events) == len(want) > 2 and {event.leg for event in sim.events} <= set(given)
    for a, b in zip(sim.events, want, strict=True):
        assert "leg{}_{}_joint".format(*names[a.leg]) == b.joint and (a.side, a.kind) == (b.side, b.kind)
        assert a.time == pytest.approx(b.time, abs=accuracy)
        assert a.rate == pytest.approx(b.rate, abs=30 * accuracy)


def test_events_of_hinges_come_back_from_files(tmp_path):
    hexapod = ring()
    given = {"leg1.u1": laws.Stops(50.0, lower=-0.01, upper=0.01), "leg2": laws.Stops(4e3, 80.0)}
    sim = hexapod.simulate(1.0, 1e-3, u=PUSH, laws=given)
    assert {event.leg for event in sim.events} >= {"leg1.u1"}
    sim.save(tmp_path / "run.npz")
    back = zv.HexapodSimulation.load(tmp_path / "run.npz")
    assert back.events == sim.events and same(back, sim)
    sim.plot()
    runs = hexapod.simulate(1.0, 1e-3, u=[PUSH, 0.5 * PUSH], laws=given, threads=2)
    runs.save(tmp_path / "runs.npz")
    assert zv.SimulationBatch.load(tmp_path / "runs.npz")[0].events == runs[0].events == sim.events


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["RSU", "three-joints"])
def test_every_run_of_a_batch_has_the_bits_of_a_single_one(kind, method, threads):
    hexapod = ring(kind) if kind == "RSU" else models.pair(kind, heavy=False)[1]
    given = of_all(hexapod, laws.SpringDamper(5.0, 0.5) + laws.LuGre(0.2, 0.3, 0.05, 20.0, 0.5))
    given["leg1"] = laws.SpringDamper(15.0, 3.0)
    u = np.random.default_rng(1).uniform(-0.05, 0.05, (2, 2, 6))
    options = {"laws": given, "method": method, "every": 7}
    runs = hexapod.simulate(0.05, 1e-3, u=u, threads=threads, **options)
    for at in np.ndindex(2, 2):
        assert same(runs[at], hexapod.simulate(0.05, 1e-3, u=u[at], **options))


def test_what_is_recorded_does_not_change_the_motion():
    """Angles follow in steps that are not recorded, too."""
    hexapod = ring("RUS")
    given = of_all(hexapod, laws.SpringDamper(3.0, 0.1))
    every = hexapod.simulate(1.0, 1e-3, u=5 * PUSH, laws=given)
    some = hexapod.simulate(1.0, 1e-3, u=5 * PUSH, laws=given, every=250)
    assert (some.r == every.r[::250]).all() and (some.joint_position == every.joint_position[::250]).all()
    half = hexapod.simulate(0.5, 1e-3, u=5 * PUSH, laws=given)
    rest = hexapod.simulate(
        0.5, 1e-3, r=half.r[-1], quaternion=half.quaternion[-1], u=half.u[-1], laws=given
    )  # fmt: skip
    np.testing.assert_allclose(rest.r[-1], every.r[-1], atol=1e-12)


def limit_of(hexapod, method, given):
    drives, passive, _ = as_leg_laws(given, hexapod, "")
    linear = stability.of_hexapod(hexapod, method, drives, *hexapod.nominal, np.zeros(6), passive)
    return linear.limit(linear.acting(1e-3))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::zveno.SimulationWarning")
@pytest.mark.parametrize("numbers", [(1e5, 0.0), (1.0, 300.0)], ids=["spring", "damper"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["UPS", "RSU"])
def test_the_limit_of_the_step_is_where_the_motion_explodes(kind, method, numbers):
    hexapod = ring(kind)
    given = of_all(hexapod, laws.SpringDamper(*numbers))
    limit, cause = limit_of(hexapod, method, given)
    push = 1e-9 * np.array([1.0, -0.7, 0.5, 0.8, 1.1, -0.6])

    def grows(dt):
        try:
            speed = hexapod.simulate(400 * dt, dt, u=push, laws=given, method=method, check_step=False).u
        except (zv.Error, FloatingPointError):
            return True
        return bool(np.abs(speed[-1]).max() > 10 * np.abs(speed[0]).max())

    assert not grows(0.97 * limit) and grows(1.03 * limit)
    assert cause.startswith("stiffness" if numbers[1] == 0 else "damping") and "SpringDamper in joint 'u" in cause


def test_steps_that_are_too_long_for_a_hinge_are_refused_by_its_name():
    hexapod = ring()
    with pytest.raises(zv.StepError, match=r"stiffness = 1e\+07 N m/rad of SpringDamper in joint 'u2' of leg 'leg3'"):
        hexapod.simulate(0.1, 1e-2, u=PUSH, laws={"leg3.u2": laws.SpringDamper(1e7)})
    stop = laws.Stops(1e7, lower=-1e-4, upper=1e-4)
    with pytest.warns(zv.SimulationWarning, match=r"of Stops in joint 'u2' of leg 'leg3'"):
        hexapod.simulate(0.02, 4e-3, u=PUSH, laws={"leg3.u2": stop}, on_error="stop")
    bristles = laws.LuGre(0.5, 0.7, 0.01, 1e6, 1.0)
    with pytest.warns(zv.SimulationWarning, match=r"LuGre in joint 'u1' of leg 'leg5'"):
        hexapod.simulate(0.02, 1e-3, laws={"leg5.u1": bristles}, wrench=[0, 1e-3, 0, 0, 0, 0], method="semi-implicit")


def test_a_law_that_overflows_ends_the_run():
    with pytest.raises(FloatingPointError, match=r"simulate: at t = 0 s the motion of hexapod .* is not finite"):
        ring().simulate(0.1, 1e-3, u=PUSH, laws={"leg1.u1": laws.Formula("1 / x ** 2", reference=0.0)})
