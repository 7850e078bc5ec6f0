"""Time forward dynamics of closed mechanisms against Pinocchio's constraintDynamics and MuJoCo's equality constraints.

python bench/loops_table.py [--seconds S] [--chains]

One run, the engines take turns, the best turn counts. Pinocchio has balls (3D) and welds (6D), no hinge: its four-bar
is closed by a ball. MuJoCo's constraint is soft: what it answers is compared for its time only.

With --chains: four-bars on four-bars, which must take a time in proportion to their number.
"""

import argparse
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
from zveno.bench.pinocchio import to_pinocchio
from zveno.bench.timing import Call, best_of

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from engines import closed_mechanisms as known
from engines.cut import text

BATCH = 1000
STATES = {
    "four_bar": ((0.8, -0.2, 1.6), {"crank_joint": 3.0}),
    "slider_crank": ((0.7, -0.8, 0.7), {"crank_joint": 10.0}),
    "rssr": ((0.6, 0.05, -0.43, 0.3, 1.06), {"crank_joint": 4.0, "coupler_joint": 0.5}),
}


def pinocchio_twin(linkage):
    """Model, constraints, and where its joints stand among ours: a ball for every loop."""
    model = to_pinocchio(linkage.chain)
    order = [model.joints[model.getJointId(name)].idx_v for name in linkage.joint_names]
    held = pin.StdVec_RigidConstraintModel()
    for loop in linkage.constraints:
        ends = []
        for link, point in ((loop.a, loop.point_a), (loop.b, loop.point_b)):
            frame = model.frames[model.getFrameId(link)]
            ends += [frame.parentJoint, frame.placement * pin.SE3(np.eye(3), point)]
        held.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *ends))
    return model, held, order


def pinocchio_call(linkage, q, qd, tau):
    """constraintDynamics."""
    model, held, order = pinocchio_twin(linkage)

    def placed(values):
        out = np.empty(model.nv)
        out[order] = values
        return out

    own = pin.StdVec_RigidConstraintData([x.createData() for x in held])
    data = model.createData()
    pin.initConstraintDynamics(model, data, held, own)
    settings = pin.ProximalSettings(1e-12, 1e-10, 10)
    args = (model, data, placed(q), placed(qd), placed(tau), held, own, settings)
    return Call(pin.constraintDynamics, args), lambda: pin.constraintDynamics(*args)[order]


def mujoco_call(linkage, q, qd, tau):
    """mj_forward with `connect` for every loop."""
    spec = mujoco.MjSpec()
    spec.option.gravity = linkage.chain.gravity
    bodies = {"base": spec.worldbody}
    for link in linkage.chain.links:
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, link.rotation.ravel())
        body = bodies[link.parent].add_body(name=link.name, pos=link.position, quat=quaternion)
        kind = mujoco.mjtJoint.mjJNT_HINGE if link.joint == "revolute" else mujoco.mjtJoint.mjJNT_SLIDE
        body.add_joint(name=link.joint_name, type=kind, axis=link.axis)
        values, axes = np.linalg.eigh(link.inertia)
        axes *= np.linalg.det(axes)
        mujoco.mju_mat2Quat(quaternion, axes.ravel())
        body.mass, body.ipos, body.inertia, body.iquat = (
            max(link.mass, 1e-9),
            link.com,
            np.maximum(values, 1e-9),
            quaternion,
        )
        body.explicitinertial = True
        bodies[link.name] = body
    for loop in linkage.constraints:
        equality = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, name1=loop.a, name2=loop.b)
        equality.objtype = mujoco.mjtObj.mjOBJ_BODY
        equality.data[:3] = loop.point_a
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
    return Call(mujoco.mj_forward, (model, data))


def example(name, turn=0.0):
    """A linkage and a state of it, its drives turned further."""
    linkage = getattr(known, name)()
    guess, rates = STATES[name]
    start = linkage.close(guess, hold=list(rates))
    driven = {joint: start[linkage.joint_names.index(joint)] + turn for joint in rates}
    q = linkage.close(start, hold=driven)
    return linkage, (q, linkage.velocities(q, rates), np.linspace(0.5, -0.3, linkage.n))


def write_for_zveno(linkage, states, path):
    """Linkage, states and accelerations as plain numbers, the input of bench/cpp/linkage_zveno."""
    chain = linkage.chain
    numbers = {chain.base_name: -1} | {link.name: k for k, link in enumerate(chain.links)}
    kinds = ("along", "dots", "rod", "screw")
    lines = [text(chain.gravity), str(len(chain.links))]
    for link in chain.links:
        kind = ("fixed", "revolute", "prismatic").index(link.joint)
        frame = text(link.axis, link.position, link.rotation)
        lines.append(f"{numbers[link.parent]} {kind} {frame} {text(link.mass, link.com, link.inertia)}")
    lines.append(f"{text(linkage.length, linkage._open)} {len(linkage.constraints)}")
    for k in range(len(linkage.constraints)):
        _, *sides, _, rows = linkage._core_of(k)
        lines += [f"{numbers[link]} {text(R, p)}" for link, R, p in sides]
        lines.append(str(len(rows)))
        for kind, axis, terms, scale, c, *_ in rows:
            products = " ".join(f"{i} {j} {text(k)}" for i, j, k in terms)
            lines.append(f"{kinds.index(kind)} {axis} {len(terms)} {products} {text(scale, c)}")
    lines.append(str(len(states)))
    lines += [text(*state, linkage.forward_dynamics(*state).qdd) for state in states]
    path.write_text("\n".join(lines) + "\n")


def write_for_pinocchio(linkage, states, path):
    """The same with balls, the input of bench/cpp/hexapod_pinocchio."""
    model, held, order = pinocchio_twin(linkage)
    links = {link.joint_name: link for link in linkage.chain.links}
    lines = [f"{model.njoints - 1} {len(held)} {len(states)} {text(linkage.chain.gravity)}"]
    for joint in range(1, model.njoints):
        link, place, body = links[model.names[joint]], model.jointPlacements[joint], model.inertias[joint]
        frame = text(link.axis, link.axis, place.rotation, place.translation)
        inertia = text(body.mass, body.lever, body.inertia)
        lines.append(f"{model.parents[joint]} {link.joint[0].upper()} {frame} {inertia}")
    lines.append(text(model.armature))
    for c in held:
        ends = ((c.joint1_id, c.joint1_placement), (c.joint2_id, c.joint2_placement))
        lines.append("0 " + " ".join(f"{joint} {text(place.rotation, place.translation)}" for joint, place in ends))
    rows = [(*state, linkage.forward_dynamics(*state).qdd) for state in states]
    for values in zip(*rows, strict=True):
        for x in values:
            placed = np.empty(model.nv)
            placed[order] = x
            lines.append(text(placed))
    path.write_text("\n".join(lines) + "\n")


def rows(name, seconds):
    """Names and nanoseconds per state."""
    linkage, (q, qd, tau) = example(name)
    theirs, answer = pinocchio_call(linkage, q, qd, tau)
    own = linkage.forward_dynamics(q, qd, tau).qdd
    if np.abs(own - answer()).max() > 1e-7 * np.abs(own).max():
        raise SystemExit(f"{name}: engines disagree: {own}, {answer()}")
    many = [np.tile(x, (BATCH, 1)) for x in (q, qd, tau)]
    code = linkage.compile("forward_dynamics", outputs=["qdd"], level="algebraic")
    whole = linkage.compile("forward_dynamics", level="algebraic")
    calls = {
        "pinocchio": theirs,
        "mujoco": mujoco_call(linkage, q, qd, tau),
        "one call, everything": Call(linkage.forward_dynamics, (q, qd, tau)),
        "one call, qdd": Call(linkage.forward_dynamics, (q, qd, tau), {"outputs": ("qdd",)}),
        "one call, qdd and multipliers": Call(
            linkage.forward_dynamics, (q, qd, tau), {"outputs": ("qdd", "multiplier")}
        ),
        "batch, everything": Call(linkage.forward_dynamics, tuple(many), states=BATCH),
        "batch, qdd": Call(linkage.forward_dynamics, tuple(many), {"outputs": ("qdd",)}, states=BATCH),
        "compiled, qdd": Call(code, (q, qd, tau)),
        "compiled, everything": Call(whole, (q, qd, tau)),
        "compiled batch, qdd": Call(code, tuple(many), states=BATCH),
        "compiled batch, everything": Call(whole, tuple(many), states=BATCH),
        "tree alone, one call": Call(linkage.chain.forward_dynamics, (q, qd, tau)),
    }
    return {key: x * 1e9 for key, x in best_of(calls, seconds).items()}


def ladder(count):
    """Four-bars, each on the coupler of the one before."""
    links, loops, carrier, x = [], [], "base", 0.0
    for k in range(count):
        links += [
            known.bar(f"crank{k}", carrier, (x, 0, 0), 0.3, 1.0),
            known.bar(f"coupler{k}", f"crank{k}", (0.3, 0, 0), 0.9, 1.0),
            known.bar(f"rocker{k}", carrier, (0.9, 0.4, 0) if k else (1.0, 0, 0), 0.7, 1.0),
        ]
        loops.append(known.hinge(f"coupler{k}", f"rocker{k}", 0.9, 0.7))
        carrier, x = f"coupler{k}", 0.9
    return known.planar(links, loops)


def chains(seconds):
    """Print the times of chains of loops."""
    print(
        "\nfour-bars on four-bars, us: accelerations, with multipliers, with all reactions, rates projected; s: closed"
    )
    for count in (1, 2, 5, 10, 20, 40, 80):
        start = time.perf_counter()
        linkage = ladder(count)
        q = linkage.close(np.tile([0.8, -0.2, 1.6], count))
        made = time.perf_counter() - start
        rates = np.ones(linkage.n)
        args = (q, linkage.project_velocity(q, rates), np.zeros(linkage.n))
        calls = {
            key: Call(linkage.forward_dynamics, args, {"outputs": outputs})
            for key, outputs in (("qdd", ("qdd",)), ("multipliers", ("qdd", "multiplier")), ("all", None))
        }
        calls["projection"] = Call(linkage.project_velocity, (q, rates))
        times = best_of(calls, seconds)
        print(f"  {count:3d}" + "".join(f"{x * 1e6:10.2f}" for x in times.values()) + f"{made:8.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4.0, help="for each mechanism")
    parser.add_argument("--chains", action="store_true", help="chains of loops instead")
    options = parser.parse_args()
    seconds = options.seconds
    if options.chains:
        return chains(seconds)
    for name in STATES:
        times = rows(name, seconds)
        best = min(times["pinocchio"], times["mujoco"])
        print(f"\n{name}")
        for key, ns in times.items():
            print(f"  {key:32s} {ns:9.0f} ns   {best / ns:6.1f} x")


if __name__ == "__main__":
    main()
