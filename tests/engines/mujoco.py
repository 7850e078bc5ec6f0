"""MuJoCo: chains, and hexapods of any geometry with its soft constraints."""

import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from .cut import SHARE, is_universal, ring_share, text, universal_angles


def to_mujoco(chain):
    """The same mechanism as an ``mujoco.MjModel``, without geometry, contacts or limits."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.gravity = chain.gravity
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    kinds = {"revolute": mujoco.mjtJoint.mjJNT_HINGE, "prismatic": mujoco.mjtJoint.mjJNT_SLIDE}
    bodies = {chain.base_name: spec.worldbody}
    for link in chain.links:
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, np.ravel(link.rotation))
        body = bodies[link.parent].add_body(name=link.name, pos=link.position, quat=quat)
        bodies[link.name] = body
        if link.mass:
            inertia = link.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
            body.mass, body.ipos, body.fullinertia, body.explicitinertial = link.mass, link.com, inertia, True
        if link.joint != "fixed":
            joint = body.add_joint(name=link.joint_name, type=kinds[link.joint], axis=link.axis)
            joint.armature = link.rotor_inertia
            # linear, quadratic and cubic since MuJoCo 4
            joint.damping = [link.friction, 0.0, 0.0] if np.ndim(joint.damping) else link.friction
            joint.stiffness = [link.stiffness, 0.0, 0.0] if np.ndim(joint.stiffness) else link.stiffness
            joint.springref = link.rest
    return spec.compile()


def joint_state(chain, **state):
    """MjModel, MjData with these fields in the order of the joints (qpos, qvel, ...), and that order."""
    model = to_mujoco(chain)
    data = mujoco.MjData(model)
    order = [model.joint(name).dofadr[0] for name in chain.joint_names]
    for name, values in state.items():
        getattr(data, name)[order] = values
    return model, data, order


# ---- hexapods ---------------------------------------------------------------------------------------------------


def _body(parent, name, position, R, mass, com, inertia):
    body = ElementTree.SubElement(parent, "body", name=name, pos=text(position))
    body.set("xyaxes", text([R[:, 0], R[:, 1]]))
    full = np.array(inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    ElementTree.SubElement(body, "inertial", pos=text(com), mass=repr(float(mass)), fullinertia=text(full))
    return body


def hexapod_xml(ref, solver="Newton", tolerance=1e-8, iterations=100, jacobian="auto"):
    """MJCF of the mechanism: legs as chains, the ring a free body, S joints as connect, U joints as weld constraints.

    Joints of massless bodies go to the next body with mass, as MuJoCo allows several joints in one body. Sites say
    where the constraints act, so the legs need not close in the zero configuration.
    """
    root = ElementTree.Element("mujoco", model="hexapod")
    ElementTree.SubElement(
        root, "compiler", angle="radian", inertiafromgeom="false", boundmass="0", balanceinertia="false"
    )
    option = ElementTree.SubElement(root, "option", gravity=text(ref.g), solver=solver, iterations=str(iterations))
    option.set("tolerance", repr(tolerance))
    option.set("jacobian", jacobian)
    ElementTree.SubElement(option, "flag", contact="disable")
    world = ElementTree.SubElement(root, "worldbody")
    equality = ElementTree.Element("equality")
    rest = ring_share(ref)
    ring = _body(world, "ring", np.zeros(3), np.eye(3), rest * ref.m_C, np.zeros(3), rest * np.array(ref.I_C))
    ElementTree.SubElement(ring, "freejoint", name="ring")
    stiff = {"solref": "0.01 1", "solimp": "0.9999 0.9999 0.001 0.5 2"}
    for k, leg in enumerate(ref.legs):
        parent, waiting, place = world, [], None
        for j, (joint, body, (offset, gamma)) in enumerate(zip(leg.joints, leg.bodies, leg.before, strict=True)):
            place = (offset, gamma.T) if place is None else place
            waiting.append((j, joint))
            if body.m > 0:
                parent = _body(parent, f"leg{k}_{j}", *place, body.m, body.d, body.I_com)
                for index, one in waiting:
                    element = ElementTree.SubElement(parent, "joint", name=f"leg{k}_{index}", axis=text(one.axis))
                    element.set("type", "hinge" if one.revolute else "slide")
                    element.set("armature", repr(float(leg.drives[index])))
                waiting, place = [], None
            elif np.any(body.l) or np.any(body.gamma != np.eye(3)):
                raise ValueError("hexapod_xml: a massless body must not have an extent")
        place = {"pos": text(leg.l_C), "xyaxes": text(leg.gamma_C[:2])}
        ElementTree.SubElement(ring, "site", name=f"ring{k}", **place)
        if is_universal(leg):
            com = -leg.gamma_C @ leg.l_C
            inertia = leg.gamma_C @ (SHARE * np.array(ref.I_C)) @ leg.gamma_C.T
            parent = _body(parent, f"leg{k}_end", leg.l_L, leg.gamma_L.T, SHARE * ref.m_C, com, inertia)
            for axis, vector in (("y", "0 1 0"), ("z", "0 0 1")):
                ElementTree.SubElement(parent, "joint", name=f"leg{k}_{axis}", type="hinge", axis=vector)
            ElementTree.SubElement(parent, "site", name=f"tip{k}")
            ElementTree.SubElement(equality, "weld", site1=f"tip{k}", site2=f"ring{k}", **stiff)
        else:
            ElementTree.SubElement(parent, "site", name=f"tip{k}", pos=text(leg.l_L))
            ElementTree.SubElement(equality, "connect", site1=f"tip{k}", site2=f"ring{k}", **stiff)
    root.append(equality)
    return ElementTree.tostring(root, encoding="unicode")


def hexapod_model(ref, **options):
    """MuJoCo's model and data of a hexapod; options are those of hexapod_xml."""
    model = mujoco.MjModel.from_xml_string(hexapod_xml(ref, **options))
    return SimpleNamespace(model=model, data=mujoco.MjData(model), ref=ref)


def hexapod_set(twin, state, p, pd):
    """Put a state (base at rest) into twin.data: qpos, qvel and the generalised forces."""
    model, data, ref = twin.model, twin.data, twin.ref
    R = np.array(state.R)
    data.qfrc_applied[:] = 0
    data.qacc_warmstart[:] = 0
    quat = np.empty(4)
    mujoco.mju_mat2Quat(quat, R.ravel())
    ring = model.joint("ring")
    data.qpos[ring.qposadr[0] : ring.qposadr[0] + 7] = np.concatenate([state.r, quat])
    at = slice(ring.dofadr[0], ring.dofadr[0] + 6)  # MuJoCo's free body: linear in world axes, angular in its own
    data.qvel[at], data.qfrc_applied[at] = state.u, state.wrench
    for k, leg in enumerate(ref.legs):
        link, spin, origin = leg.gamma_0.T, np.zeros(3), np.eye(3)
        for j, (joint, value, rate) in enumerate(zip(leg.joints, p[k], pd[k], strict=False)):
            own = model.joint(f"leg{k}_{j}")
            data.qpos[own.qposadr[0]], data.qvel[own.dofadr[0]] = value, rate
            data.qfrc_applied[own.dofadr[0]] = state.leg_tau(k, leg.n)[j]
            origin = link
            if joint.revolute:
                spin = spin + origin @ joint.axis * rate
                link = origin @ Rotation.from_rotvec(value * joint.axis).as_matrix()
            if j + 1 < leg.n:
                link = link @ leg.bodies[j].gamma.T
        if is_universal(leg):
            relative = R @ state.u[3:] - spin
            axes = {"y": link @ leg.gamma_L[1], "z": R @ leg.gamma_C[2]}
            for (name, axis), angle in zip(axes.items(), universal_angles(leg, link, R), strict=True):
                own = model.joint(f"leg{k}_{name}")
                data.qpos[own.qposadr[0]], data.qvel[own.dofadr[0]] = angle, relative @ axis


def hexapod_forward(twin, state, p, pd):
    """u' by mj_forward, residual of the constraints; they are soft, so that three digits are all that can agree."""
    hexapod_set(twin, state, p, pd)
    mujoco.mj_forward(twin.model, twin.data)
    at = twin.model.joint("ring").dofadr[0]
    return SimpleNamespace(
        acceleration=twin.data.qacc[at : at + 6].copy(),
        iterations=int(twin.data.solver_niter[0]),
        residual=_gap(twin.data),
    )


def _gap(data):
    return float(np.abs(data.efc_pos).max()) if data.nefc else 0.0
