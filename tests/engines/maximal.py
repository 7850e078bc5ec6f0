"""Newton-Euler equations of a hexapod in maximal coordinates.

They share with tests/reference/hexapod.py only the description of the mechanism (RefHexapod) and the state (RefState).
"""

from types import SimpleNamespace

import numpy as np
from scipy.spatial.transform import Rotation


def cross(a, b):
    """np.cross of two vectors, without its overhead."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


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
