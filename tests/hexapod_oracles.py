"""Other routes to the dynamics of a hexapod: Newton-Euler in maximal coordinates, Pinocchio, MuJoCo.

They share with tests/reference/hexapod.py only the description of the mechanism (RefHexapod) and the state (RefState).
"""

import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import mujoco
import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation


def cross(a, b):
    """np.cross of two vectors, without its overhead."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


# ---- maximal coordinates ----------------------------------------------------------------------------------------
#
# Ring, base and the bodies with mass are free rigid bodies in an inertial frame that coincides with the base axes at
# the instant and moves as O_0 does; joints between them are equations with multipliers. Massless bodies do not occur.


class _Solid:
    """A rigid body: pose of its frame, position of the reference point (centre of mass) in it, place in the vectors."""

    def __init__(self, index, mass, inertia, com, R, x):
        self.at = slice(6 * index, 6 * index + 6)
        self.mass, self.inertia, self.com = mass, inertia, np.asarray(com, dtype=float)
        self.R, self.x = np.array(R), np.array(x)  # x: reference point
        self.v, self.w = np.zeros(3), np.zeros(3)

    def arm(self, point):
        return self.R @ (point - self.com)

    def point(self, point):
        return self.x + self.arm(point)

    def point_velocity(self, point):
        return self.v + cross(self.w, self.arm(point))

    def point_bias(self, point):
        return cross(self.w, cross(self.w, self.arm(point)))

    def inertia_now(self):
        return self.R @ self.inertia @ self.R.T


class _Equations:
    """Rows of the constraints: residual, Jacobian over all twists (v of the reference point, w), and bias."""

    def __init__(self, size):
        self.size = size
        self.residual, self.J, self.bias = [], [], []

    def add(self, residual, row, bias):
        self.residual.append(residual)
        self.J.append(row)
        self.bias.append(bias)
        return len(self.J) - 1

    def row(self, *parts):
        out = np.zeros(self.size)
        for body, linear, angular in parts:
            out[body.at] = np.concatenate([linear, angular])
        return out

    def same_point(self, A, a, B, b):
        """Point a of A lies on point b of B."""
        gap = A.point(a) - B.point(b)
        bias = A.point_bias(a) - B.point_bias(b)
        parts = [
            self.row((A, e, cross(A.arm(a), e)), (B, -e, -cross(B.arm(b), e)))
            for e in np.eye(3)
        ]  # fmt: skip
        return [self.add(*values) for values in zip(gap, parts, bias, strict=True)]

    def across(self, A, a, B, b):
        """Directions a of A and b of B are perpendicular."""
        a, b = A.R @ a, B.R @ b
        n = cross(a, b)
        dn = cross(cross(A.w, a), b) + cross(a, cross(B.w, b))
        return self.add(a @ b, self.row((A, 0 * n, n), (B, 0 * n, -n)), dn @ (A.w - B.w))

    def projection(self, A, a, p, B, q):
        """Component along direction a of A of the vector from point p of A to point q of B: value, row, bias."""
        a = A.R @ a
        gap = B.point(q) - A.point(p)
        rate = B.point_velocity(q) - A.point_velocity(p)
        row = self.row(
            (A, -a, -cross(A.arm(p), a) + cross(a, gap)),
            (B, a, cross(B.arm(q), a)),
        )
        bias = a @ (B.point_bias(q) - A.point_bias(p)) + 2 * cross(A.w, a) @ rate
        bias += cross(A.w, cross(A.w, a)) @ gap
        return a @ gap, row, bias

    def on_line(self, A, axes, p, B, q):
        """Point q of B lies on the x axis through point p of A."""
        for a in axes[1:]:
            self.add(*self.projection(A, a, p, B, q))


class _Maximal:
    """The bodies of a mechanism and its joints."""

    def __init__(self, ref, base):
        self.ref = ref
        if base is None:  # prescribed: its reference point is O_0
            self.base = _Solid(0, 0.0, np.zeros((3, 3)), np.zeros(3), np.eye(3), np.zeros(3))
        else:
            self.base = _Solid(0, base.m, base.I_com, base.d, np.eye(3), base.d)
        self.ring = _Solid(1, ref.m_C, ref.I_C, np.zeros(3), np.eye(3), np.zeros(3))
        self.solids, self.pairs = [self.base, self.ring], []
        for leg in ref.legs:
            data = [body for body in leg.bodies if body.m > 0]
            placed = _placed(leg, data)
            pair = []
            for body, (R, origin) in zip(data, placed, strict=True):
                pair.append(_Solid(len(self.solids), body.m, body.I_com, body.d, R, origin + R @ body.d))
                self.solids.append(pair[-1])
            self.pairs.append(pair)
        self.size = 6 * len(self.solids)

    def equations(self):
        """All constraints; for each leg the rows of the joint on the ring and the forms that give its joint rates."""
        eq = _Equations(self.size)
        legs = []
        for leg, (inner, outer) in zip(self.ref.legs, self.pairs, strict=True):
            body = next(body for body in leg.bodies if body.m > 0)
            middle = body.gamma  # rows: axes of the joint frame on the inner body
            forms = []
            kinds = {"UPS": "U P", "SPU": "S P", "UCU": "U C", "RUS": "R U", "RSU": "R S"}[leg.type].split()
            links = ((self.base, leg.l_0, leg.gamma_0, inner), (inner, body.l, middle, outer))
            for kind, (A, at, axes, B) in zip(kinds, links, strict=True):
                forms += self._joint(eq, kind, A, at, axes, B)
            rows = eq.same_point(outer, leg.l_L, self.ring, leg.l_C)
            if leg.type.endswith("U"):
                rows.append(eq.across(outer, leg.gamma_L[1], self.ring, leg.gamma_C[2]))
            legs.append((rows, forms))
        return eq, legs

    def _joint(self, eq, kind, A, at, axes, B):
        """Joint between A (frame with the given axes at a point) and the origin of B; its forms (row, bias)."""
        x, y, z = np.eye(3)
        origin = np.zeros(3)
        turn = B.w - A.w

        def angular(axis, rate=None):  # axis (base axes) times relative angular velocity; bias where it is needed
            row = eq.row((A, 0 * axis, -axis), (B, 0 * axis, axis))
            return row, None if rate is None else rate @ turn

        if kind in "URS":
            eq.same_point(A, at, B, origin)
        else:
            eq.on_line(A, axes, at, B, origin)
        if kind == "R":
            eq.across(A, axes[0], B, y)
            eq.across(A, axes[2], B, y)
            axis = A.R @ axes[1]
            return [angular(axis, cross(A.w, axis))]
        if kind == "U":
            eq.across(A, axes[1], B, z)
            return [angular(A.R @ axes[1]), angular(B.R @ z)]
        if kind == "S":
            first, last = A.R @ axes[1], B.R @ x
            middle = cross(last, first)
            middle /= np.linalg.norm(middle)
            return [angular(dual) for dual in np.linalg.inv(np.column_stack([first, middle, last]))]
        eq.across(A, axes[1], B, x)
        eq.across(A, axes[2], B, x)
        stroke = eq.projection(A, axes[0], at, B, origin)[1:]
        if kind == "C":
            return [angular(A.R @ axes[0]), stroke]
        eq.across(A, axes[1], B, z)
        return [stroke]

    def assemble(self):
        """Newton's method for the poses of the leg bodies; those of ring and base are given."""
        legs = slice(12, None)
        for _ in range(30):
            eq, _ = self.equations()
            step = np.linalg.solve(np.array(eq.J)[:, legs], -np.array(eq.residual))
            for solid in self.solids[2:]:
                own = step[solid.at.start - 12 : solid.at.stop - 12]
                solid.x = solid.x + own[:3]
                solid.R = Rotation.from_rotvec(own[3:]).as_matrix() @ solid.R
            if np.abs(step).max() < 1e-15:
                break
        return np.abs(self.equations()[0].residual).max()

    def set_rates(self):
        """Velocities of the leg bodies from those of ring and base."""
        J = np.array(self.equations()[0].J)
        given = np.concatenate([self.base.v, self.base.w, self.ring.v, self.ring.w])
        twists = np.linalg.solve(J[:, 12:], -J[:, :12] @ given)
        for solid in self.solids[2:]:
            own = twists[solid.at.start - 12 : solid.at.stop - 12]
            solid.v, solid.w = own[:3], own[3:]


def _placed(leg, data):
    """Frames (rotation, origin) of the two bodies of a leg at leg.start: a guess for the assembly."""
    p = leg.start
    base, middle = leg.gamma_0.T, data[0].gamma.T
    sequences = {"UPS": ("YZ", ""), "SPU": ("YZX", ""), "UCU": ("YZ", "X"), "RUS": ("Y", "YZ"), "RSU": ("Y", "YZX")}
    first, second = sequences[leg.type]

    def turned(sequence, angles):  # capital letters: about the axes that move along
        return Rotation.from_euler(sequence, angles).as_matrix() if sequence else np.eye(3)

    R1 = base @ turned(first, p[: len(first)])
    R2 = R1 @ middle @ turned(second, p[len(first) : len(first) + len(second)])
    stroke = 0.0 if leg.type.startswith("R") else p[-1]
    return (R1, leg.l_0), (R2, leg.l_0 + R1 @ (data[0].l + stroke * middle[:, 0]))


def maximal(ref, state, base=None, base_wrench=None):
    """Accelerations and forces from Newton-Euler equations of all bodies with multipliers; legs of standard types.

    base: RefBody of a free base (its Omega is taken from state.base_motion), None for one whose motion is prescribed;
    base_wrench (6,) acts at its centre of mass. Starts from leg.start, so the branch is that of the nominal pose.

    Returns acceleration (6,) u'; actuated_velocity, actuated_acceleration (6,); reaction (6, 4) on the ring;
    base_wrench (6,) of the mechanism on the base about O_0; base_acceleration (6,) [a_0; Omega']; bodies: ring, then
    inner and outer body of every leg, with r, v, a of the centre of mass and R, om, eps; residual: of the assembly.
    """
    a_0, Om, dOm = np.split(np.asarray(state.base_motion, dtype=float), 3)
    system = _Maximal(ref, base)
    ground, ring = system.base, system.ring
    ring.x, ring.R = np.array(state.r), np.array(state.R)
    residual = system.assemble()
    ground.v, ground.w = cross(Om, ground.x), Om
    ring.v, ring.w = state.u[:3] + cross(Om, ring.x), ring.R @ state.u[3:] + Om
    system.set_rates()

    M, Q = np.zeros((system.size,) * 2), np.zeros(system.size)
    for solid in system.solids:
        inertia = solid.inertia_now()
        M[solid.at, solid.at] = np.block([[solid.mass * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), inertia]])
        Q[solid.at] = np.concatenate([solid.mass * ref.g, -cross(solid.w, inertia @ solid.w)])
    Q[ring.at] += np.concatenate([state.wrench[:3], ring.R @ state.wrench[3:]])
    if base_wrench is not None:
        Q[ground.at] += base_wrench

    eq, legs = system.equations()
    J, bias = np.array(eq.J), np.array(eq.bias)
    efforts = np.zeros(system.size)  # what acts in the joints
    drives = []
    for k, (leg, (_, forms)) in enumerate(zip(ref.legs, legs, strict=True)):
        for (row, _), tau in zip(forms, state.leg_tau(k, leg.n), strict=True):
            efforts += tau * row
        drives.append(forms[leg.actuated])
        row, extra = drives[-1]
        M += leg.reflected * np.outer(row, row)
        efforts -= leg.reflected * extra * row
    Q += efforts

    first = 6 if base is None else 0
    known = np.zeros(system.size)
    if base is None:
        known[:6] = np.concatenate([a_0, dOm])  # the reference point is O_0 and rests now
    count = len(J)
    K = np.block([[M[first:, first:], -J[:, first:].T], [J[:, first:], np.zeros((count, count))]])
    rhs = np.concatenate([Q - M @ known, -bias - J @ known])[first:]
    solution = np.linalg.solve(K, rhs)
    acc = np.concatenate([known[:first], solution[: system.size - first]])
    mu = solution[system.size - first :]

    on_base = (J.T @ mu + efforts)[ground.at]
    for (row, _), leg in zip(drives, ref.legs, strict=True):
        on_base = on_base - leg.reflected * (row @ acc) * row[ground.at]
    on_base[3:] += cross(ground.x, on_base[:3])
    if base is not None:
        dOm = acc[3:6]
        a_0 = acc[:3] - cross(dOm, ground.x) - cross(Om, cross(Om, ground.x))
    du = np.empty(6)
    carried = a_0 + cross(dOm, ring.x) + cross(Om, cross(Om, ring.x)) + 2 * cross(Om, state.u[:3])
    du[:3] = acc[ring.at][:3] - carried
    du[3:] = ring.R.T @ (acc[ring.at][3:] - dOm - cross(Om, ring.R @ state.u[3:]))
    twist = np.concatenate([np.concatenate([s.v, s.w]) for s in system.solids])
    reaction = np.zeros((len(legs), 4))
    for row, (rows, _) in zip(reaction, legs, strict=True):
        row[: len(rows)] = -mu[rows]
    return SimpleNamespace(
        acceleration=du,
        actuated_velocity=np.array([row @ twist for row, _ in drives]),
        actuated_acceleration=np.array([row @ acc + extra for row, extra in drives]),
        reaction=reaction,
        base_wrench=on_base,
        base_acceleration=np.concatenate([a_0, dOm]),
        bodies=[
            SimpleNamespace(r=s.x, R=s.R, v=s.v, om=s.w, a=acc[s.at][:3], eps=acc[s.at][3:]) for s in system.solids[1:]
        ],
        residual=residual,
    )


# ---- trees: the mechanism cut open at the ring ------------------------------------------------------------------
#
# A U joint at the ring is two more revolute joints and a weld. The body behind them needs mass to have an acceleration
# of its own, so it carries a share of the ring's inertia, which the ring lacks: welded together they are the ring.

SHARE = 1 / 12


def _is_u(leg):
    return leg.n == 4


def _u_angles(leg, R_link, R_ring):
    """Angles of the two axes (y on the link, z on the ring) of the joint at the ring."""
    psi = leg.gamma_C @ R_ring.T @ R_link @ leg.gamma_L.T
    return np.arctan2(psi[2, 0], psi[2, 2]), np.arctan2(psi[0, 1], psi[1, 1])


def _ring_share(ref):
    return 1 - SHARE * sum(map(_is_u, ref.legs))


# ---- Pinocchio --------------------------------------------------------------------------------------------------


def _pin_joint(joint):
    aligned = {
        (True, 0): pin.JointModelRX, (True, 1): pin.JointModelRY, (True, 2): pin.JointModelRZ,
        (False, 0): pin.JointModelPX, (False, 1): pin.JointModelPY, (False, 2): pin.JointModelPZ,
    }  # fmt: skip
    for i, e in enumerate(np.eye(3)):
        if np.array_equal(joint.axis, e):
            return aligned[joint.revolute, i]()
    return (pin.JointModelRevoluteUnaligned if joint.revolute else pin.JointModelPrismaticUnaligned)(joint.axis)


def pinocchio_model(ref, base=None):
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
            parent = model.addJoint(parent, _pin_joint(joint), pin.SE3(gamma.T, offset), f"leg{k}_{j}")
            if body.m > 0:
                model.appendBodyToJoint(parent, pin.Inertia(body.m, body.d, body.I_com), pin.SE3.Identity())
            ids.append(parent)
            armature[parent] = leg.drives[j]
        legs.append(ids)
        ends.append([])
        if _is_u(leg):
            tip = pin.SE3(leg.gamma_L.T, leg.l_L)
            y = model.addJoint(parent, pin.JointModelRY(), tip, f"leg{k}_y")
            z = model.addJoint(y, pin.JointModelRZ(), pin.SE3.Identity(), f"leg{k}_z")
            model.appendBodyToJoint(z, ring_part, pin.SE3(leg.gamma_C.T, leg.l_C).inverse())
            ends[-1] = [y, z]
    ring = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "ring")
    rest = _ring_share(ref)
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
    try:
        pin.initConstraintDynamics(model, data, constraints, datas)
    except TypeError:  # before Pinocchio 4
        pin.initConstraintDynamics(model, data, constraints)
    settings = pin.ProximalSettings(1e-14, 0.0, 1)  # no regularisation: the constraints are independent
    return SimpleNamespace(
        model=model, data=data, constraints=constraints, datas=datas, settings=settings, ref=ref, ring=ring,
        base=root, legs=legs, ends=ends,
    )  # fmt: skip


def pinocchio_state(twin, state, p, pd):
    """q, v, tau of a pinocchio_model from joint coordinates p and rates pd, (6, nj); the base stands in the origin."""
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
            q[[model.joints[y].idx_q, model.joints[z].idx_q]] = _u_angles(leg, link, R)
            relative = R @ (state.u[3:] + R.T @ Om) - link @ twin.data.v[ids[-1]].angular
            v[model.joints[y].idx_v] = relative @ link @ leg.gamma_L[1]
            v[model.joints[z].idx_v] = relative @ R @ leg.gamma_C[2]
    return q, v, tau


def pinocchio_forward(twin, state, p, pd, base_wrench=None):
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
            raise ValueError("pinocchio_forward: the base of this model cannot turn")
        model.gravity.linear = ref.g - a_0
    q, v, tau = pinocchio_state(twin, state, p, pd)
    if twin.base and base_wrench is not None:
        at = model.joints[twin.base].idx_v
        com = model.inertias[twin.base].lever
        tau[at : at + 6] = np.concatenate([base_wrench[:3], base_wrench[3:] + cross(com, base_wrench[:3])])
    acc = pin.constraintDynamics(model, twin.data, q, v, tau, twin.constraints, twin.datas, twin.settings).copy()
    residual = _pinocchio_residual(twin, q, v)

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


def _pinocchio_residual(twin, q, v):
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


# ---- MuJoCo -----------------------------------------------------------------------------------------------------


def _text(values):
    return " ".join(repr(float(v)) for v in np.ravel(values))


def _body(parent, name, position, R, mass, com, inertia):
    body = ElementTree.SubElement(parent, "body", name=name, pos=_text(position))
    body.set("xyaxes", _text([R[:, 0], R[:, 1]]))
    full = np.array(inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    ElementTree.SubElement(body, "inertial", pos=_text(com), mass=repr(float(mass)), fullinertia=_text(full))
    return body


def mujoco_xml(ref, solver="Newton", tolerance=1e-8, iterations=100, jacobian="auto"):
    """MJCF of the mechanism: legs as chains, the ring a free body, S joints as connect, U joints as weld constraints.

    Joints of massless bodies go to the next body with mass, as MuJoCo allows several joints in one body. Sites say
    where the constraints act, so the legs need not close in the zero configuration.
    """
    root = ElementTree.Element("mujoco", model="hexapod")
    ElementTree.SubElement(
        root, "compiler", angle="radian", inertiafromgeom="false", boundmass="0", balanceinertia="false"
    )
    option = ElementTree.SubElement(root, "option", gravity=_text(ref.g), solver=solver, iterations=str(iterations))
    option.set("tolerance", repr(tolerance))
    option.set("jacobian", jacobian)
    ElementTree.SubElement(option, "flag", contact="disable")
    world = ElementTree.SubElement(root, "worldbody")
    equality = ElementTree.Element("equality")
    rest = _ring_share(ref)
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
                    element = ElementTree.SubElement(parent, "joint", name=f"leg{k}_{index}", axis=_text(one.axis))
                    element.set("type", "hinge" if one.revolute else "slide")
                    element.set("armature", repr(float(leg.drives[index])))
                waiting, place = [], None
            elif np.any(body.l) or np.any(body.gamma != np.eye(3)):
                raise ValueError("mujoco_xml: a massless body must not have an extent")
        place = {"pos": _text(leg.l_C), "xyaxes": _text(leg.gamma_C[:2])}
        ElementTree.SubElement(ring, "site", name=f"ring{k}", **place)
        if _is_u(leg):
            com = -leg.gamma_C @ leg.l_C
            inertia = leg.gamma_C @ (SHARE * np.array(ref.I_C)) @ leg.gamma_C.T
            parent = _body(parent, f"leg{k}_end", leg.l_L, leg.gamma_L.T, SHARE * ref.m_C, com, inertia)
            for axis, vector in (("y", "0 1 0"), ("z", "0 0 1")):
                ElementTree.SubElement(parent, "joint", name=f"leg{k}_{axis}", type="hinge", axis=vector)
            ElementTree.SubElement(parent, "site", name=f"tip{k}")
            ElementTree.SubElement(equality, "weld", site1=f"tip{k}", site2=f"ring{k}", **stiff)
        else:
            ElementTree.SubElement(parent, "site", name=f"tip{k}", pos=_text(leg.l_L))
            ElementTree.SubElement(equality, "connect", site1=f"tip{k}", site2=f"ring{k}", **stiff)
    root.append(equality)
    return ElementTree.tostring(root, encoding="unicode")


def mujoco_model(ref, **options):
    """MuJoCo's model and data of a hexapod; options are those of mujoco_xml."""
    model = mujoco.MjModel.from_xml_string(mujoco_xml(ref, **options))
    return SimpleNamespace(model=model, data=mujoco.MjData(model), ref=ref)


def mujoco_set(twin, state, p, pd):
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
        if _is_u(leg):
            relative = R @ state.u[3:] - spin
            axes = {"y": link @ leg.gamma_L[1], "z": R @ leg.gamma_C[2]}
            for (name, axis), angle in zip(axes.items(), _u_angles(leg, link, R), strict=True):
                own = model.joint(f"leg{k}_{name}")
                data.qpos[own.qposadr[0]], data.qvel[own.dofadr[0]] = angle, relative @ axis


def mujoco_forward(twin, state, p, pd):
    """u' by mj_forward, residual of the constraints; they are soft, so that three digits are all that can agree."""
    mujoco_set(twin, state, p, pd)
    mujoco.mj_forward(twin.model, twin.data)
    at = twin.model.joint("ring").dofadr[0]
    return SimpleNamespace(
        acceleration=twin.data.qacc[at : at + 6].copy(),
        iterations=int(twin.data.solver_niter[0]),
        residual=_gap(twin.data),
    )


def _gap(data):
    return float(np.abs(data.efc_pos).max()) if data.nefc else 0.0
