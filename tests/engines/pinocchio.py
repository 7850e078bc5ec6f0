"""Pinocchio: chains in our conventions, and hexapods of any geometry by its constraint dynamics."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
from zveno.bench.pinocchio import to_pinocchio

from .cut import SHARE, is_universal, ring_share, universal_angles
from .maximal import cross

AXES = {"world": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, "link": pin.ReferenceFrame.LOCAL}


class Twin:
    """Pinocchio's answers in our conventions and in the joint order of the chain."""

    def __init__(self, chain, model=None):
        own = to_pinocchio(chain)
        self.chain, self.model = chain, own if model is None else model
        # a URDF's root link is the base itself; what is welded to it still rests on it
        self.base_load = own.inertias[0]
        ids = [self.model.getJointId(name) for name in chain.joint_names]
        self.ids = ids
        self.order = np.array([self.model.joints[i].idx_v for i in ids])
        armature = np.zeros(self.model.nv)
        armature[self.order] = chain.rotor_inertia
        self.model.armature = armature
        self.data = self.model.createData()

    def _v(self, qd):
        out = np.empty(self.model.nv)
        out[self.order] = qd
        return out

    def _q(self, q):
        return pin.integrate(self.model, pin.neutral(self.model), self._v(q))

    def _matrix(self, M):
        return np.reshape(M, (self.model.nv,) * 2)[np.ix_(self.order, self.order)]

    def frame(self, link, point=(0.0, 0.0, 0.0)):
        """Joint and placement of a point of a link on it."""
        f = self.model.frames[self.model.getFrameId(link, pin.FrameType.BODY)]
        return f.parentJoint, f.placement * pin.SE3(np.eye(3), np.array(point, dtype=float))

    def _external(self, q, external):
        """World wrenches at link origins as pinocchio wants them: at joints, in joint axes."""
        forces = [pin.Force.Zero() for _ in range(self.model.njoints)]
        pin.forwardKinematics(self.model, self.data, self._q(q))
        for link, wrench in (external or {}).items():
            joint, placement = self.frame(link)
            aligned = self.data.oMi[joint].actInv(pin.SE3(np.eye(3), (self.data.oMi[joint] * placement).translation))
            forces[joint] += aligned.act(pin.Force(np.array(wrench)))
        return forces

    def mass_matrix(self, q):
        return self._matrix(pin.crba(self.model, self.data, self._q(q), pin.Convention.WORLD))

    def inverse_dynamics(self, q, qd, qdd, external=None):
        forces = self._external(q, external)
        tau = pin.rnea(self.model, self.data, self._q(q), self._v(qd), self._v(qdd), forces)
        return tau[self.order] + self._resistance(q, qd)

    def _resistance(self, q, qd):
        """Efforts of friction and springs, which Pinocchio does not know."""
        return self.chain.friction * qd + self.chain.stiffness * (q - self.chain.rest)

    def bias(self, q, qd, external=None):
        return self.inverse_dynamics(q, qd, np.zeros(self.chain.n), external)

    def forward_dynamics(self, q, qd, tau, external=None):
        forces = self._external(q, external)
        effort = self._v(tau - self._resistance(q, qd))
        return pin.aba(self.model, self.data, self._q(q), self._v(qd), effort, forces)[self.order].copy()

    def reactions(self, q, qd, qdd, external=None, frame="link"):
        self.inverse_dynamics(q, qd, qdd, external)
        wrenches = [self.data.f[i].vector for i in self.ids]
        if frame == "world":
            turn = [pin.SE3(self.data.oMi[i].rotation, np.zeros(3)) for i in self.ids]
            wrenches = [X.act(pin.Force(w)).vector for X, w in zip(turn, wrenches, strict=True)]
        return np.array(wrenches)

    def base_wrench(self, q, qd, qdd, external=None):
        self.inverse_dynamics(q, qd, qdd, external)
        roots = [i for i in self.ids if self.model.parents[i] == 0]
        total = -sum((self.data.oMi[i].act(self.data.f[i]).vector for i in roots), np.zeros(6))
        weight = self.base_load.mass * self.chain.gravity
        total += np.concatenate([weight, np.cross(self.base_load.lever, weight)])
        for link, wrench in (external or {}).items():
            joint, placement = self.frame(link)
            if joint == 0:
                total += np.concatenate([wrench[:3], wrench[3:] + np.cross(placement.translation, wrench[:3])])
        return total

    def kinetic_energy(self, q, qd):
        rotor = 0.5 * self.chain.rotor_inertia @ qd**2
        plain = self.model.copy()
        plain.armature = np.zeros(plain.nv)
        return pin.computeKineticEnergy(plain, self.data, self._q(q), self._v(qd)) + rotor

    def potential_energy(self, q):
        moving = pin.computePotentialEnergy(self.model, self.data, self._q(q))
        springs = 0.5 * self.chain.stiffness @ (q - self.chain.rest) ** 2
        return moving - self.base_load.mass * self.base_load.lever @ self.chain.gravity + springs

    def momentum(self, q, qd):
        """Linear momentum and angular momentum about the base origin."""
        h = pin.computeCentroidalMomentum(self.model, self.data, self._q(q), self._v(qd))
        com = self.data.com[0]
        return np.concatenate([h.linear, h.angular + np.cross(com, h.linear)])

    def pose(self, q, link):
        pin.forwardKinematics(self.model, self.data, self._q(q))
        joint, placement = self.frame(link)
        return (self.data.oMi[joint] * placement).homogeneous

    def _with_point(self, link, point):
        joint, placement = self.frame(link, (0.0, 0.0, 0.0) if point is None else point)
        model = self.model.copy()
        index = model.addFrame(pin.Frame("the point", joint, 0, placement, pin.FrameType.OP_FRAME))
        return model, model.createData(), index

    def jacobian(self, q, link, point=None, frame="world"):
        model, data, index = self._with_point(link, point)
        return pin.computeFrameJacobian(model, data, self._q(q), index, AXES[frame]).reshape(6, -1)[:, self.order]

    def jacobian_rate(self, q, qd, link, point=None, frame="world"):
        model, data, index = self._with_point(link, point)
        pin.computeJointJacobiansTimeVariation(model, data, self._q(q), self._v(qd))
        pin.updateFramePlacements(model, data)
        return pin.getFrameJacobianTimeVariation(model, data, index, AXES[frame]).reshape(6, -1)[:, self.order]

    def derivatives(self, q, qd, qdd):
        args = self._q(q), self._v(qd), self._v(qdd)
        dq, dqd, dqdd = (self._matrix(M) for M in pin.computeRNEADerivatives(self.model, self.data, *args))
        return dq + np.diag(self.chain.stiffness), dqd + np.diag(self.chain.friction), dqdd


# ---- hexapods ---------------------------------------------------------------------------------------------------


def joint_model(kind, axis):
    """A revolute (R) or prismatic (P) joint, of the cheapest kind for its axis."""
    for letter, e in zip("XYZ", np.eye(3), strict=True):
        if np.array_equal(axis, e):
            return getattr(pin, f"JointModel{kind}{letter}")()
    return {"R": pin.JointModelRevoluteUnaligned, "P": pin.JointModelPrismaticUnaligned}[kind](axis)


def init_constraints(model, data, constraints, datas):
    """pin.initConstraintDynamics of any version."""
    try:
        pin.initConstraintDynamics(model, data, constraints, datas)
    except TypeError:  # before Pinocchio 4
        pin.initConstraintDynamics(model, data, constraints)


def hexapod_model(ref, base=None):
    """Legs as chains with loop constraints to the ring, a free flyer; any geometry.

    base: RefBody of a free base, another free flyer; None for a fixed one. Returns model, data, constraints, constraint
    data, settings, and where things are: ring, base (joint ids), legs (joint ids), ends (of U joints at the ring).
    """
    model = pin.Model()
    model.gravity.linear = np.array(ref.g, dtype=float)
    root = 0
    if base is not None:
        root = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
        model.appendBodyToJoint(root, pin.Inertia(base.m, np.array(base.d), base.I_com), pin.SE3.Identity())
    legs, ends, armature = [], [], {}
    ring_part = pin.Inertia(SHARE * ref.m_C, np.zeros(3), SHARE * np.array(ref.I_C))
    for k, leg in enumerate(ref.legs):
        parent, ids = root, []
        for j, (joint, body, (offset, gamma)) in enumerate(zip(leg.joints, leg.bodies, leg.before, strict=True)):
            kind = joint_model("R" if joint.revolute else "P", joint.axis)
            parent = model.addJoint(parent, kind, pin.SE3(gamma.T, offset), f"leg{k}_{j}")
            if body.m > 0:
                model.appendBodyToJoint(parent, pin.Inertia(body.m, body.d, body.I_com), pin.SE3.Identity())
            ids.append(parent)
            armature[parent] = leg.drives[j]
        legs.append(ids)
        ends.append([])
        if is_universal(leg):
            tip = pin.SE3(leg.gamma_L.T, leg.l_L)
            y = model.addJoint(parent, pin.JointModelRY(), tip, f"leg{k}_y")
            z = model.addJoint(y, pin.JointModelRZ(), pin.SE3.Identity(), f"leg{k}_z")
            model.appendBodyToJoint(z, ring_part, pin.SE3(leg.gamma_C.T, leg.l_C).inverse())
            ends[-1] = [y, z]
    ring = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "ring")
    rest = ring_share(ref)
    model.appendBodyToJoint(
        ring, pin.Inertia(rest * ref.m_C, np.zeros(3), rest * np.array(ref.I_C)), pin.SE3.Identity()
    )
    values = np.zeros(model.nv)
    for i, inertia in armature.items():
        values[model.joints[i].idx_v] = inertia
    model.armature = values

    constraints = pin.StdVec_RigidConstraintModel()
    for leg, ids, end in zip(ref.legs, legs, ends, strict=True):
        on_ring = pin.SE3(leg.gamma_C.T, leg.l_C)
        if end:
            kind, i, place = pin.ContactType.CONTACT_6D, end[-1], pin.SE3.Identity()
        else:
            kind, i, place = pin.ContactType.CONTACT_3D, ids[-1], pin.SE3(np.eye(3), leg.l_L)
        constraints.append(pin.RigidConstraintModel(kind, model, i, place, ring, on_ring, pin.ReferenceFrame.LOCAL))
    data = model.createData()
    datas = pin.StdVec_RigidConstraintData()
    for constraint in constraints:
        datas.append(constraint.createData())
    init_constraints(model, data, constraints, datas)
    settings = pin.ProximalSettings(1e-14, 0.0, 1)  # no regularisation: the constraints are independent
    return SimpleNamespace(
        model=model, data=data, constraints=constraints, datas=datas, settings=settings, ref=ref, ring=ring,
        base=root, legs=legs, ends=ends,
    )  # fmt: skip


def hexapod_state(twin, state, p, pd):
    """q, v, tau of a hexapod_model from joint coordinates p and rates pd, (6, nj); the base stands in the origin."""
    ref, model = twin.ref, twin.model
    Om = np.asarray(state.base_motion, dtype=float)[3:6]
    q, v, tau = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)

    def free(joint):
        j = model.joints[joint]
        return slice(j.idx_q, j.idx_q + 7), slice(j.idx_v, j.idx_v + 6)

    if twin.base:
        v[free(twin.base)[1]][3:] = Om
    for k, (leg, ids) in enumerate(zip(ref.legs, twin.legs, strict=True)):
        at = [model.joints[i].idx_v for i in ids]
        q[[model.joints[i].idx_q for i in ids]] = p[k][: leg.n]
        v[at] = pd[k][: leg.n]
        tau[at] = state.leg_tau(k, leg.n)
    at_q, at_v = free(twin.ring)
    R = np.array(state.R)
    q[at_q] = pin.SE3ToXYZQUAT(pin.SE3(R, np.array(state.r)))
    v[at_v] = np.concatenate([R.T @ (state.u[:3] + cross(Om, state.r)), state.u[3:] + R.T @ Om])
    tau[at_v] = np.concatenate([R.T @ state.wrench[:3], state.wrench[3:]])
    pin.forwardKinematics(model, twin.data, q, v)
    for leg, ids, end in zip(ref.legs, twin.legs, twin.ends, strict=True):
        if end:
            y, z = end
            link = twin.data.oMi[ids[-1]].rotation
            q[[model.joints[y].idx_q, model.joints[z].idx_q]] = universal_angles(leg, link, R)
            relative = R @ (state.u[3:] + R.T @ Om) - link @ twin.data.v[ids[-1]].angular
            v[model.joints[y].idx_v] = relative @ link @ leg.gamma_L[1]
            v[model.joints[z].idx_v] = relative @ R @ leg.gamma_C[2]
    return q, v, tau


def hexapod_forward(twin, state, p, pd, base_wrench=None):
    """Accelerations by pin.constraintDynamics.

    p, pd (6, nj): joint coordinates and rates that close the loops. For a free base base_wrench (6,) acts at its centre
    of mass; a fixed base may have an acceleration a_0 but must not turn.

    Returns acceleration (6,) u', joint_acceleration (6, nj), base_acceleration (6,), residual: largest violation of the
    constraints in position and velocity by the state given.
    """
    ref, model = twin.ref, twin.model
    a_0, Om, dOm = np.split(np.asarray(state.base_motion, dtype=float), 3)
    if not twin.base:
        if np.any(Om) or np.any(dOm):
            raise ValueError("hexapod_forward: the base of this model cannot turn")
        model.gravity.linear = ref.g - a_0
    q, v, tau = hexapod_state(twin, state, p, pd)
    if twin.base and base_wrench is not None:
        at = model.joints[twin.base].idx_v
        com = model.inertias[twin.base].lever
        tau[at : at + 6] = np.concatenate([base_wrench[:3], base_wrench[3:] + cross(com, base_wrench[:3])])
    acc = pin.constraintDynamics(model, twin.data, q, v, tau, twin.constraints, twin.datas, twin.settings).copy()
    residual = _residual(twin, q, v)

    R, at = np.array(state.R), model.joints[twin.ring].idx_v
    ring, twist = acc[at : at + 6], v[at : at + 6]
    base = np.concatenate([a_0, dOm])
    if twin.base:
        at = model.joints[twin.base].idx_v
        base = acc[at : at + 6].copy()  # O_0 rests, so that spatial and classical acceleration agree
        a_0, dOm = base[:3], base[3:]
        carried = a_0 + cross(dOm, state.r) + cross(Om, cross(Om, state.r)) + 2 * cross(Om, state.u[:3])
    else:
        carried = np.zeros(3)  # a_0 is in the gravity
    linear = R @ (ring[:3] + cross(twist[3:], twist[:3])) - carried
    local = R.T @ Om
    angular = ring[3:] - (R.T @ dOm if twin.base else 0) + cross(state.u[3:], local)
    joints = np.zeros((len(ref.legs), ref.nj))
    for row, ids in zip(joints, twin.legs, strict=True):
        row[: len(ids)] = acc[[model.joints[i].idx_v for i in ids]]
    return SimpleNamespace(
        acceleration=np.concatenate([linear, angular]),
        joint_acceleration=joints,
        base_acceleration=base,
        residual=residual,
    )


def _residual(twin, q, v):
    """Largest gap between the two sides of the constraints in position and velocity, rotation included for welds."""
    model, data = twin.model, twin.model.createData()
    pin.forwardKinematics(model, data, q, v)
    gaps = []
    for c in twin.constraints:
        sides = []
        for joint, place in ((c.joint1_id, c.joint1_placement), (c.joint2_id, c.joint2_placement)):
            R, twist = data.oMi[joint].rotation, data.v[joint]
            velocity = R @ (twist.linear + cross(twist.angular, place.translation))
            sides.append((data.oMi[joint] * place, velocity, R @ twist.angular))
        (one, v1, w1), (two, v2, w2) = sides
        gaps += [one.translation - two.translation, v1 - v2]
        if c.type == pin.ContactType.CONTACT_6D:
            gaps += [pin.log3(one.rotation.T @ two.rotation), w1 - w2]
    return np.abs(gaps).max()
