"""zv.Hexapod made from the mechanisms of tests/reference/hexapod.py, and the mechanisms and arrays that tests share."""

from dataclasses import replace
from functools import cache

import numpy as np
import zveno as zv
from engines.cut import is_universal
from reference import hexapod as hd
from zveno import _core

MIXED = ("UPS", "RSU", "SPU", "RUS", "UCU", "RSU")
GENERAL = tuple(f"{type}*" for type in hd.TYPES)
MIXED_GENERAL = ("UPS", "RSU*", "SPU", "UPS*", "RUS", "UCU*")
THREE_JOINTS = ("UPS", "RUS", "UPS*", "RUS", "UPS", "RUS*")
UUU = "UUU"

# kind of the legs and what is special about them; lean: axially symmetric bodies and aligned joints, code of its own
CASES = {
    **{f"{type}-lean": (type, {"symmetric": True}) for type in hd.TYPES},
    **{f"{type}-skew": (type, {"skew": True}) for type in hd.TYPES},
    "mixed-lean": (MIXED, {"symmetric": True}),
    "mixed-skew": (MIXED, {"skew": True}),
    **{type: (type, {"skew": True}) for type in GENERAL},
    "mixed-general": (MIXED_GENERAL, {"skew": True}),
    "three-joints": (THREE_JOINTS, {"skew": True}),
    UUU: (UUU, {}),
}
STANDARD = [name for name, (kind, _) in CASES.items() if not any("*" in k or k == UUU for k in (kind, *kind))]

FIELDS = ("acceleration", "base_wrench", "joint_position", "joint_velocity", "joint_acceleration", "reaction")


def body(data):
    """RefBody -> Body."""
    return zv.Body(data.m, data.I_com, data.d)


def standard_leg(leg):
    """RefLeg of a named type -> Leg, every frame given."""
    inner, outer = (leg.bodies[j] for j in hd.REAL[leg.type])
    frames = {"base_frame": leg.gamma_0.T}
    if leg.n == 4:
        frames |= {"ring_frame": leg.gamma_C.T, "tip_frame": leg.gamma_L.T, "spin_branch": leg.spin}
    make = getattr(zv.Leg, leg.type.lower())
    if leg.type in hd.GOUGH_STEWART:
        parts = {"housing": body(inner), "rod": body(outer), "housing_length": inner.l[0], "rod_length": leg.l_L[0]}
        return make(leg.l_0, leg.l_C, **parts, **frames, reflected_mass=leg.reflected)
    parts = {"crank": body(inner), "coupler": body(outer), "crank_length": inner.l[0], "coupler_length": leg.l_L[0]}
    frames |= {"crank_frame": inner.gamma.T, "elbow": leg.elbow, "rotor_inertia": leg.reflected}
    return make(leg.l_0, leg.l_C, **parts, **frames)


def link_fields(leg):
    """RefLeg of any geometry -> what its links have, as keywords of Link."""
    return [
        {
            "name": f"l{j}",
            "joint": "revolute" if joint.revolute else "prismatic",
            "axis": joint.axis,
            "position": place[0],
            "rotation": place[1].T,
            "mass": data.m,
            "com": data.d,
            "inertia": data.I_com,
        }
        for j, (joint, data, place) in enumerate(zip(leg.joints, leg.bodies, leg.before, strict=True))
    ]


def custom_leg(leg):
    """RefLeg of any geometry -> Leg made of a chain."""
    links = [
        zv.Link(**fields, parent=f"l{j - 1}" if j else "base", rotor_inertia=leg.drives[j], joint_name=f"j{j}")
        for j, fields in enumerate(link_fields(leg))
    ]
    axes = {"axis": leg.gamma_L[1], "ring_axis": leg.gamma_C[2]} if leg.n == 4 else {}
    ends = {"ring": leg.l_C, "point": leg.l_L, "start": leg.start, "actuated": f"j{leg.actuated}"}
    return zv.Leg.custom(zv.Chain(links), f"l{leg.n - 1}", **ends, **axes)


def sliding_leg(leg, **rod):
    """A UPS leg as one made of a chain; `rod`: what the link of its slide has besides."""
    links = [
        zv.Link("cross", axis=(0, 1, 0), position=leg.base, rotation=leg.base_frame),
        zv.Link("housing", axis=(0, 0, 1), mass=leg.inner.mass, com=leg.inner.com, inertia=leg.inner.inertia),
        zv.Link(
            "rod", joint="prismatic", axis=(1, 0, 0), position=(leg.inner_length, 0, 0), mass=leg.outer.mass,
            com=leg.outer.com, inertia=leg.outer.inertia, rotor_inertia=leg.reflected, **rod,
        ),
    ]  # fmt: skip
    ends = {"ring": leg.ring, "point": (leg.outer_length, 0, 0), "start": (0, 0, 0), "actuated": "rod_joint"}
    return zv.Leg.custom(zv.Chain(links), "rod", **ends)


def to_model(ref, **options):
    """RefHexapod -> Hexapod."""
    legs = [standard_leg(leg) if leg.type in hd.TYPES else custom_leg(leg) for leg in ref.legs]
    return zv.Hexapod(zv.Body(ref.m_C, ref.I_C), legs, **{"nominal": ref.nominal, "gravity": ref.g} | options)


def mechanism(rng, case, *, reflected=True, gravity=None):
    """RefHexapod of one of CASES."""
    kind, options = CASES[case]
    if kind == UUU:
        return uuu(rng, gravity=gravity)
    return hd.random_mechanism(rng, kind, reflected=reflected, gravity=gravity, **options)


@cache
def pair(case, heavy=True):
    """RefHexapod and Hexapod of one of CASES, drives with inertia; heavy: with gravity."""
    rng = np.random.default_rng(list(case.encode()))
    ref = mechanism(rng, case, gravity=rng.uniform(-10, 10, 3) if heavy else None)
    return ref, to_model(ref)


def _fine(ref, r, R):
    """Every leg is on the branch of the nominal pose, away from singularities."""
    for leg in ref.legs:
        p = hd.leg_closure(leg, r, R.T)
        jump = leg.type == "custom" and np.abs(p - leg.start).max() > 1
        if jump or np.linalg.cond(hd.leg_constraints(leg, p, r, R.T)[0]) > 100:
            return False
    return True


def pose(ref, index):
    """A pose near the nominal one that every leg takes well; the same for the same index."""
    known = ref.__dict__.setdefault("poses", {})
    if index not in known:
        rng = np.random.default_rng(index)
        while True:
            state = hd.random_state(rng, ref)
            if _fine(ref, state.r, state.R):
                break
        known[index] = state.r, state.R
    return known[index]


def random_state(rng, ref, *, poses=3, speed=1.0, moving=False, passive_tau=True):
    """As hd.random_state, in one of the first few poses."""
    r, R = pose(ref, rng.integers(poses))
    state = hd.RefState(r.copy(), R.copy(), speed * rng.uniform(-1, 1, 6) * np.repeat([0.3, 0.5], 3))
    state.wrench = rng.uniform(-1, 1, 6) * np.repeat([200.0, 50.0], 3)
    state.tau = hd.actuated_tau(ref, rng.uniform(-50, 50, 6))
    if passive_tau:
        for row, leg in zip(state.tau, ref.legs, strict=True):
            row[: leg.n] += rng.uniform(-5, 5, leg.n)
    if moving:
        state.base_motion = rng.uniform(-1, 1, 9) * np.repeat([2.0, 0.8, 1.5], 3)
    return state


def uuu(rng, gravity=None):
    """Legs of four rotations, two at the base and two at the knee, and a U joint on the ring."""
    plain = hd.random_mechanism(rng, "RSU", skew=True)
    r, R = plain.nominal
    y, z = hd.Y, hd.Z
    while True:
        legs = []
        for leg in plain.legs:
            p = leg.start + rng.uniform(-0.1, 0.1, 4)
            pieces = [hd._random_body(rng, 1.0, 0.2, 0.05, False) for _ in range(4)]
            lengths = (np.zeros(3), leg.bodies[0].l, np.zeros(3), np.zeros(3))
            turns = (np.eye(3), leg.bodies[0].gamma, np.eye(3), np.eye(3))
            places = zip(pieces, lengths, turns, strict=True)
            bodies = [replace(piece, l=length, gamma=turn) for piece, length, turn in places]
            joints = [hd.RefJoint(True, axis) for axis in (y, z, y, z)]
            start = np.array([p[0], rng.uniform(-0.3, 0.3), p[1], p[2]])
            new = replace(leg, type="custom", joints=joints, bodies=bodies, start=start, reflected=0.1)
            k = hd.leg_kinematics(new, start)
            new.l_C = R.T @ (k.r_L - r)
            e2 = hd._unit(hd.cross(k.e1, hd._unit(k.r_L - k.r[1]) + rng.uniform(-0.2, 0.2, 3)))
            new.gamma_C = np.array([hd.cross(k.e1, e2), k.e1, e2]) @ R
            legs.append(new)
        ref = replace(plain, legs=legs, g=np.zeros(3) if gravity is None else np.asarray(gravity, dtype=float))
        firm = all(np.linalg.cond(hd.leg_constraints(leg, leg.start, r, R.T)[0]) < 100 for leg in legs)
        if firm and np.linalg.cond(hd.jacobian(ref, r, R) / np.repeat([1.0, 0.6], 3)) < 100:
            return ref


def as_linkage(ref):
    """Legs as chains of the base, the ring on six massless joints, and the joints between them as loops."""
    links, loops = [], []
    for k, leg in enumerate(ref.legs):
        parent = "base"
        for j, (joint, body, (offset, gamma)) in enumerate(zip(leg.joints, leg.bodies, leg.before, strict=True)):
            name = f"leg{k}_{j}"
            links.append(
                zv.Link(name, parent=parent, joint="revolute" if joint.revolute else "prismatic", axis=joint.axis,
                        position=offset, rotation=gamma.T, mass=body.m, com=body.d, inertia=body.I_com,
                        rotor_inertia=leg.drives[j])
            )  # fmt: skip
            parent = name
        if is_universal(leg):
            loop = zv.Loop.universal(parent, "ring", point_a=leg.l_L, point_b=leg.l_C, axis_a=leg.gamma_L[1],
                                     axis_b=leg.gamma_C[2], name=f"leg {k}")  # fmt: skip
        else:
            loop = zv.Loop.spherical(parent, "ring", point_a=leg.l_L, point_b=leg.l_C, name=f"leg {k}")
        loops.append(loop)
    parent = "base"
    for kind, axis in [("prismatic", k) for k in range(3)] + [("revolute", k) for k in range(2)]:
        links.append(zv.Link(f"ring_{kind}_{axis}", parent=parent, joint=kind, axis=np.eye(3)[axis]))
        parent = links[-1].name
    links.append(zv.Link("ring", parent=parent, axis=(0, 0, 1), mass=ref.m_C, inertia=ref.I_C))
    return zv.Linkage(zv.Chain(links, gravity=ref.g, base="base", strict=False), loops)


def random_base(rng):
    """RefBody of a spacecraft."""
    turn = hd.random_turn(rng)
    inertia = turn.T @ np.diag([50.0, 60.0, 80.0]) @ turn
    return hd.body_about_com(300.0, rng.uniform(-1, 1, 3), inertia)


def states(rng, ref, count, **options):
    """RefStates as a dictionary of arrays with leading dimension count."""
    made = [random_state(rng, ref, poses=10, **options) for _ in range(count)]
    names = ("r", "R", "u", "wrench", "tau", "base_motion")
    return {name: np.array([getattr(state, name) for state in made]) for name in names}


def assert_demo_results(type, result):
    """All nine digits of hd.DEMO_RESULTS."""
    got = {
        "p": result.joint_position[0],
        "pd": result.joint_velocity[0],
        "u'": result.acceleration,
        "lambda": result.reaction[0],
        "base": result.base_wrench,
    }
    for key, want in hd.DEMO_RESULTS[type].items():
        np.testing.assert_allclose(got[key], want, rtol=5.1e-9, atol=0, err_msg=key)


def arrays_of(result):
    """The arrays of a result of any function, as they are."""
    if isinstance(result, zv.HexapodDynamics):
        return list(result.to_dict().values())
    return [np.asarray(part) for part in result] if isinstance(result, tuple) else [np.asarray(result)]


# ---- the table of functions -------------------------------------------------------------------------------------

ROWS = [row for row in _core.functions("hexapod") if not row["private"]]
OPTIONS = ("method", "start")
FUNCTIONS = {row["name"]: tuple(x["name"] for x in row["parameters"] if x["name"] not in OPTIONS) for row in ROWS}
DYNAMICS = ("forward_dynamics", "forward_dynamics_free")
# name, arguments that are left out, options
VARIANTS = {
    **{name: (name, (), {}) for name in FUNCTIONS},
    "closure by Newton": ("closure", (), {"method": "newton"}),
    "inverse_dynamics of the ring alone": ("inverse_dynamics", ("wrench", "tau", "base_motion"), {}),
    "forward_dynamics on a base at rest": ("forward_dynamics", ("base_motion",), {}),
    "forward_dynamics_free without loads on the base": ("forward_dynamics_free", ("omega", "base_wrench"), {}),
}
SPACECRAFT = zv.Body(300.0, (50.0, 60.0, 80.0), (-0.5, 0.2, 0.1))
ARGUMENT_SHAPES = {x["name"]: x["shape"] for row in ROWS for x in row["parameters"] if x["array"]}
ARGUMENT_SHAPES["tau"] = (6, "nj")  # of all joints


def sized(shape, hx):
    return tuple(hx.nj if size == "nj" else size for size in shape)


def argument_shape(name, hx):
    return sized(ARGUMENT_SHAPES[name], hx)


def values_of(rng, ref, lead=()):
    """Every argument by name, leading shape lead."""
    count = int(np.prod(lead))
    found = states(rng, ref, max(count, 1), moving=True)
    found |= {name: rng.uniform(-1, 1, (max(count, 1), 6)) for name in ("acceleration", "base_wrench")}
    found["omega"] = rng.uniform(-1, 1, (max(count, 1), 3))
    return {name: x[:count].reshape(*lead, *x.shape[1:]) for name, x in found.items()}


def call(hx, variant, values, **options):
    """A function with the arguments of its variant."""
    name, without, fixed = VARIANTS[variant]
    args = {a: SPACECRAFT if a == "base" else values[a] for a in FUNCTIONS[name] if a not in without}
    return getattr(hx, name)(**args, **fixed, **options)


def item_shape(name, hx):
    """Shape of one result, of functions that give one."""
    return sized(next(row for row in ROWS if row["name"] == name)["outputs"][0]["shape"], hx)


def misplaced(hx, k=0):
    """A pose that leg k of a standard type cannot take: along its first axis, or far away."""
    leg = hx.legs[k]
    R = hx.nominal[1]
    if leg.type in hd.HUNT:
        return hx.nominal[0] + 10.0 * leg.base_frame[:, 0], R
    return leg.base + 0.3 * leg.base_frame[:, 1] - R @ leg.ring, R
