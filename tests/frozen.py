"""Results of every function for fixed inputs, as hashes: the same bits from version to version.

``python tests/frozen.py`` prints the cases whose bits differ from tests/data/frozen.json; ``--write`` records them
anew, which only a deliberate change of an algorithm justifies. Inputs are made of additions, products, quotients and
roots alone, so that they have the same bits on every machine; the results of one build have the same bits on every
instruction set.
"""

import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import zveno as zv

RECORD = Path(__file__).parent / "data" / "frozen.json"
RUNS = Path(__file__).parent / "data" / "frozen_runs.json"  # numbers of rounded_runs
RINGS = Path(__file__).parent / "data" / "frozen_rings.json"  # every frame given
METHODS = {
    "mass_matrix": (
        *("crba", "crba-walk", "crba-columns", "kane"),
        *("kane-triangular", "kane-recurrent", "kane-collapsed", "kosynka"),
    ),
    "bias": ("rnea", "kane"),
    "forward_dynamics": ("aba", "cholesky", "cholesky-walk"),
}
DUALS = {"derivatives": {"method": "dual"}}  # what the record was made with, before there were methods
SERIAL_ONLY = ("kane-recurrent", "kosynka")
LEGS = ("UPS", "SPU", "UCU", "RUS", "RSU")
DYNAMICS = ("acceleration", "base_wrench", "joint_position", "joint_velocity", "joint_acceleration", "reaction")


def rotation(rng):
    """From a quaternion: no library function is involved."""
    w, x, y, z = rng.uniform(-1, 1, 4)
    s = 2 / (w * w + x * x + y * y + z * z)
    return np.array(
        [
            [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)],
        ]
    )


def body(rng):
    a, b, c = rng.uniform(0.01, 0.05, 3)
    xy, xz, yz = rng.uniform(-0.004, 0.004, 3)
    inertia = [[b + c, xy, xz], [xy, a + c, yz], [xz, yz, a + b]]
    return {"mass": rng.uniform(0.5, 3.0), "com": rng.uniform(-0.2, 0.2, 3), "inertia": inertia}


def chain(seed, n, *, tree=False, plain=False):
    rng = np.random.default_rng(seed)
    links, parents = [], ["base"]
    for i in range(n):
        parent = parents[rng.integers(len(parents))] if tree else parents[-1]
        place = {"position": rng.uniform(-0.4, 0.4, 3), "rotation": rotation(rng)}
        if not plain and i % 3 == 1:
            links.append(zv.Link(f"w{i}", parent=parent, joint="fixed", **place, **body(rng)))
            parent = f"w{i}"
            place = {"position": rng.uniform(-0.4, 0.4, 3), "rotation": rotation(rng)}
        joint = "revolute" if plain or i % 4 != 2 else "prismatic"
        drive = {} if plain else {"rotor_inertia": rng.uniform(0.1, 1.0), "friction": rng.uniform(0.1, 1.0)}
        axis = np.eye(3)[i % 3] if plain else rng.uniform(-1, 1, 3)
        links.append(zv.Link(f"l{i}", parent=parent, joint=joint, axis=axis, **place, **body(rng), **drive))
        parents.append(f"l{i}")
    return zv.Chain(links, gravity=rng.uniform(-10, 10, 3), name=f"frozen {seed}")


def chain_results(name, arm, *, count=19):
    """Every function, one state and a batch."""
    rng = np.random.default_rng(len(name))
    q, qd, x = (rng.uniform(-2, 2, (count, arm.n)) for _ in range(3))
    link, loads = arm.link_names[-1], {arm.link_names[k]: rng.uniform(-9, 9, (count, 6)) for k in (0, -1)}
    one = {key: value[3] for key, value in loads.items()}
    serial = len({x.parent for x in arm.links}) == len(arm.links)
    takes = {"mass_matrix": 1, "potential_energy": 1, "bias": 2, "kinetic_energy": 2}
    for function in ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics", "reactions", "base_wrench",
                     "kinetic_energy", "potential_energy", "derivatives"):  # fmt: skip
        states = (q, qd, x)[: takes.get(function, 3)]
        for method in METHODS.get(function, (None,)):
            if method in SERIAL_ONLY and not serial:
                continue
            options = DUALS.get(function, {}) if method is None else {"method": method}
            call = getattr(arm, function)
            yield f"{name}.{function}.{method}", (call(*states, **options), call(*(s[3] for s in states), **options))
            if function not in ("mass_matrix", "kinetic_energy", "potential_energy"):
                loaded = (
                    call(*states, external=loads, **options),
                    call(*(s[3] for s in states), external=one, **options),
                )
                yield f"{name}.{function}.{method}.external", loaded
    yield f"{name}.reactions.world", (arm.reactions(q, qd, x, frame="world"),)
    yield f"{name}.pose", (arm.pose(q, link), arm.pose(q[3], arm.link_names[0]))
    for frame in ("world", "link"):
        at = {"link": link, "point": (0.1, -0.2, 0.3), "frame": frame}
        yield f"{name}.jacobian.{frame}", (arm.jacobian(q, **at), arm.jacobian(q[3], **at))
        yield f"{name}.jacobian_rate.{frame}", (arm.jacobian_rate(q, qd, **at), arm.jacobian_rate(q[3], qd[3], **at))


def compiled_results(name, arm, functions):
    rng = np.random.default_rng(5)
    q, qd, x = (rng.uniform(-2, 2, (11, arm.n)) for _ in range(3))
    for function, inputs in functions.items():
        states = (q, qd, x)[:inputs]
        options = DUALS.get(function, {})
        f = arm.compile(function, **options)
        yield f"{name}.compiled.{function}", (f(*states), f(*(s[3] for s in states)))
        text = "\n".join(
            arm.trace(function, level=level, **options).graph.listing() for level in ("strict", "algebraic")
        )
        yield f"{name}.graphs.{function}", (np.frombuffer(text.encode(), np.uint8),)


def poses(hx, rng, count):
    r, R = hx.nominal
    positions, turns = [], []
    for _ in range(count):
        x, y, z = rng.uniform(-0.02, 0.02, 3)
        s = 2 / (1 + x * x + y * y + z * z)
        turn = np.array(
            [
                [1 - s * (y * y + z * z), s * (x * y - z), s * (x * z + y)],
                [s * (x * y + z), 1 - s * (x * x + z * z), s * (y * z - x)],
                [s * (x * z - y), s * (y * z + x), 1 - s * (x * x + y * y)],
            ]
        )
        positions.append(r + rng.uniform(-0.01, 0.01, 3))
        turns.append([[sum(float(R[i, k] * turn[k, j]) for k in range(3)) for j in range(3)] for i in range(3)])
    return np.array(positions), np.array(turns)


def hexapod_results(name, hx, *, count=19, compiled=False):
    rng = np.random.default_rng(77)
    r, R = poses(hx, rng, count)
    u, a, wrench, tau = (rng.uniform(-1, 1, (count, 6)) for _ in range(4))
    passive = rng.uniform(-1, 1, (count, 6, hx.nj))
    base, omega = rng.uniform(-1, 1, (count, 9)), rng.uniform(-1, 1, (count, 3))
    free = zv.Body(3000.0, np.diag([900.0, 1100.0, 1000.0]), (-1.0, 0.1, 0.2))
    calls = {
        "closure": (r, R), "joint_velocity": (r, R, u), "jacobian": (r, R), "mass_matrix": (r, R),
        "momentum": (r, R, u), "kinetic_energy": (r, R, u), "potential_energy": (r, R),
        "inverse_dynamics": (r, R, u, a, wrench), "forward_dynamics": (r, R, u, wrench, tau),
    }  # fmt: skip
    for function, arrays in calls.items():
        call = getattr(hx, function)
        yield f"{name}.{function}", (call(*arrays), call(*(x[3] for x in arrays)))
        if compiled:
            yield f"{name}.compiled.{function}", (hx.compile(function, **given(function))(*arrays),)
    yield f"{name}.inverse_dynamics.all", (hx.inverse_dynamics(r, R, u, a, wrench, passive, base),)
    yield f"{name}.forward_dynamics.all", (hx.forward_dynamics(r, R, u, wrench, passive, base),)
    more = hx.forward_dynamics_free(r, R, u, wrench, tau, free, omega, wrench)
    yield f"{name}.forward_dynamics_free", (more, more.base_acceleration)
    yield f"{name}.closure.newton", (hx.closure(r, R, method="newton"),)
    far = r + np.linspace(0, 1, count)[:, None]
    lost = hx.forward_dynamics(far, R, u, wrench, tau, on_error="nan")
    yield f"{name}.on_error", (lost.status, lost, hx.closure(far, R, on_error="nan"))
    found = hx.forward_kinematics(hx.closure(r, R)[:, np.arange(6), hx.actuated])
    yield f"{name}.forward_kinematics", (found.r, found.R, found.iterations)
    for method in ("rk4", "semi-implicit"):
        plain = hx.simulate(0.02, 1e-3, r=r[0], R=R[0], u=u[0] / 100, wrench=wrench[0], tau=tau[0], method=method)
        yield f"{name}.simulate.{method}", exact(plain)
        driven = hx.simulate(0.02, 1e-3, r=r[0], R=R[0], u=u[0] / 10, laws=arithmetic_laws(), method=method)
        yield f"{name}.simulate.{method}.laws", exact(driven)


def exact(run):
    """What a run records, without sums that may be rounded otherwise."""
    rounded = ("momentum", "momentum_error", "potential_energy", "energy_error")
    return tuple(values for name, values in run.to_dict().items() if name not in rounded)


def arithmetic_laws():
    """Different laws for the legs, which call no library functions."""
    laws = zv.laws
    spring = laws.SpringDamper(40.0, 8.0, 1.0) + laws.EddyBrake(5.0, 0.2)
    servo = laws.SlipClutch(2.0, laws.Servo(300.0, 4.0, laws.Ramp(0.01, 0.3, relative=True))) + laws.Stops(4e3, 80.0)
    return [spring, servo, spring, None, servo, spring]


def rounded_runs():
    """(name, numbers) that are equal but for rounding: momentum, weight, laws that call exp and tanh."""
    laws = zv.laws
    law = laws.SpringDamper(20.0, 4.0, 1.0) + laws.DryFriction(0.2, 0.05) + laws.LuGre(0.5, 0.7, 0.01, 1e3, 1.0)
    for kind in LEGS:
        for method in ("rk4", "semi-implicit"):
            run = ring(kind).simulate(0.05, 1e-3, u=np.full(6, 0.02), laws=law, method=method)
            names = ("r", "u", "tau", "base_wrench", "momentum")
            yield f"{kind}.{method}", [getattr(run, name)[-1].tolist() for name in names]
    run = mixed_ring().simulate(0.02, 1e-3, u=np.full(6, 0.02), laws=law)
    yield "mixed", [run.momentum[-1].tolist(), [run.potential_energy[-1]]]


def given(function):
    return {"arguments": ("r", "R", "u", "acceleration", "wrench")} if function == "inverse_dynamics" else {}


def ring(kind):
    return zv.Hexapod.from_dict(json.loads(RINGS.read_text())[kind])


def mixed_ring():
    """Legs of two rings that share their nominal pose."""
    gough, other = ring("UPS"), ring("UCU")
    legs = [(gough, other)[k % 2].legs[k] for k in range(6)]
    return zv.Hexapod(gough.platform, legs, nominal=gough.nominal, gravity=(0.5, -9.0, 1.0), name="mixed")


def cases():
    """(name, results) of everything."""
    for group in GROUPS:
        yield from cases_of(group)


def cases_of(group):
    """(name, results) of one mechanism."""
    if group in LEGS:
        yield from hexapod_results(group, ring(group), compiled=group in ("UPS", "RSU"))
    elif group == "mixed":
        yield from hexapod_results("mixed", mixed_ring())
    else:
        arm = CHAINS[group]() if group in CHAINS else getattr(zv.robots, group)()
        yield from chain_results(group, arm, count=5 if group == "long" else 19)
        if group in ("puma560", "tree"):
            functions = {"mass_matrix": 1, "bias": 2, "inverse_dynamics": 3, "forward_dynamics": 3, "derivatives": 3}
            yield from compiled_results(group, arm, functions)


CHAINS = {
    "tree": lambda: chain(1, 9, tree=True),
    "serial": lambda: chain(2, 7),
    "revolute": lambda: chain(3, 6, plain=True),
    "single": lambda: chain(4, 1, plain=True),
    "long": lambda: chain(5, 70, plain=True),
}
GROUPS = (*CHAINS, "puma560", "stanford", "scara", "two_link", "kawasaki_fs020n", *LEGS, "mixed")


def numbers(result):
    """The arrays of any result."""
    if isinstance(result, zv.results.HexapodDynamics):
        return [np.asarray(getattr(result, name)) for name in DYNAMICS]
    if isinstance(result, tuple):
        return [np.asarray(x) for x in result]
    return [np.asarray(result)]


def digest(results):
    text = hashlib.sha256()
    for result in results:
        for array in numbers(result):
            text.update(f"{array.dtype.str}{array.shape}".encode())
            array = np.ascontiguousarray(array)
            text.update((array + 0.0 if array.dtype == np.float64 else array).tobytes())  # zeros have no sign
    return text.hexdigest()[:16]


def main():
    warnings.simplefilter("ignore", zv.ModelWarning)
    now = {name: digest(results) for name, results in cases()}
    if "--write" in sys.argv:
        RECORD.write_text(json.dumps(now, indent=0) + "\n")
        RUNS.write_text(json.dumps(dict(rounded_runs()), indent=0) + "\n")
        return print(f"{len(now)} cases written")
    before = json.loads(RECORD.read_text())
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            print("differs" if name in before and name in now else "new" if name in now else "gone", name)
    return print(f"{len(now)} cases")


if __name__ == "__main__":
    main()
