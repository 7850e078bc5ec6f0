"""Hexapod mechanisms with six legs closed on a ring: Golubev & Yaskevich (000), dense and in the order of the text.

Inside, every direction-cosine matrix is passive (parent -> child components), as in the paper; at the border (RefState)
rotations map local -> reference components, as in the package. Numbers (1) ... (51) are those of
docs/hexapods.md. The legs may have any geometry; only the closed forms need the standard one.
"""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np

GOUGH_STEWART = ("UPS", "SPU", "UCU")
HUNT = ("RUS", "RSU")
TYPES = GOUGH_STEWART + HUNT
JOINTS = {"UPS": "Ry Rz Px", "SPU": "Ry Rz Rx Px", "UCU": "Ry Rz Rx Px", "RUS": "Ry Ry Rz", "RSU": "Ry Ry Rz Rx"}
# bodies that have mass: housing and rod, or crank and coupler; the others only separate the axes of a U or S joint
REAL = {"UPS": (1, 2), "SPU": (2, 3), "UCU": (1, 3), "RUS": (0, 2), "RSU": (0, 3)}
ACTUATED = {"UPS": 2, "SPU": 3, "UCU": 3, "RUS": 0, "RSU": 0}
X, Y, Z = np.eye(3)


# ---- data -------------------------------------------------------------------------------------------------------


@dataclass
class RefBody:
    """Body j of a leg: d and I (about the origin O_j) in body axes; l and gamma place the next joint on it."""

    m: float = 0.0
    d: np.ndarray = field(default_factory=lambda: np.zeros(3))
    I: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))  # noqa: E741, the paper's letter
    l: np.ndarray = field(default_factory=lambda: np.zeros(3))  # noqa: E741, the paper's letter
    gamma: np.ndarray = field(default_factory=lambda: np.eye(3))

    @property
    def c(self):
        return self.m * self.d

    @property
    def I_com(self):
        return self.I - steiner(self.m, self.d)


@dataclass
class RefJoint:
    """One degree of freedom; axis is a unit vector in the joint frame."""

    revolute: bool
    axis: np.ndarray


@dataclass
class RefLeg:
    """Joints and bodies from base to ring; the last joint, S for three and U for four of them, is a loop constraint.

    gamma_0, gamma_C, gamma_L are passive: frame 0 -> first joint, frame C -> joint on the ring, body n -> joint on it.
    reflected, kg or kg m^2, is added to the inertia of the actuated joint, or of each if there are n. elbow is the sign
    in (22), spin the sign in (27); for gamma_L != 1 the spin is atan2(B, A) - spin * arccos(-C / hypot(A, B)).
    start: p from which Newton sets out.
    """

    type: str
    joints: list
    bodies: list
    l_0: np.ndarray
    gamma_0: np.ndarray
    l_C: np.ndarray  # noqa: N815, the paper's letters
    gamma_C: np.ndarray  # noqa: N815
    l_L: np.ndarray  # noqa: N815
    gamma_L: np.ndarray  # noqa: N815
    actuated: int
    reflected: float | np.ndarray = 0.0
    elbow: int = 1
    spin: int = 1
    start: np.ndarray | None = None

    @property
    def n(self):
        return len(self.joints)

    @property
    def drives(self):
        """Reflected inertia of each joint, (n,)."""
        return self.reflected * (np.eye(self.n)[self.actuated] if np.ndim(self.reflected) == 0 else np.ones(self.n))

    @property
    def before(self):
        """(l, gamma) that lead to each joint."""
        return [(self.l_0, self.gamma_0)] + [(body.l, body.gamma) for body in self.bodies[:-1]]


@dataclass
class RefHexapod:
    """Ring of mass m_C and inertia I_C about its centre of mass, the legs, gravity, and a pose (r, R) well in reach."""

    m_C: float  # noqa: N815, the paper's letters
    I_C: np.ndarray
    legs: list
    nominal: tuple
    g: np.ndarray = field(default_factory=lambda: np.zeros(3))

    @property
    def nj(self):
        return max(leg.n for leg in self.legs)


@dataclass
class RefState:
    """What determines the accelerations.

    r (3,) and R (3, 3) place the ring; u = [v in base axes; omega in ring axes], relative to the base; wrench = [f in
    base axes at the centre of mass; m in ring axes]; tau (6, nj) of all joints; base_motion = [a_0; Omega; Omega'] in
    base axes.
    """

    r: np.ndarray
    R: np.ndarray
    u: np.ndarray = field(default_factory=lambda: np.zeros(6))
    wrench: np.ndarray = field(default_factory=lambda: np.zeros(6))
    tau: np.ndarray | None = None
    base_motion: np.ndarray = field(default_factory=lambda: np.zeros(9))

    def leg_tau(self, k, n):
        return np.zeros(n) if self.tau is None else np.asarray(self.tau, dtype=float)[k, :n]


# ---- small things -----------------------------------------------------------------------------------------------


def skew(a):
    """a~, so that a~ b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def cross(a, b):
    (a0, a1, a2), (b0, b1, b2) = a.tolist(), b.tolist()
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])


def steiner(m, d):
    return m * (d @ d * np.eye(3) - np.outer(d, d))


def passive(axis, angle):
    """Components in a frame turned by angle about a unit vector: Rx, Ry, Rz for the axes."""
    a = skew(axis)
    return np.eye(3) - np.sin(angle) * a + (1 - np.cos(angle)) * a @ a


def alpha_from_angles(phi_y, phi_z, phi_x):
    return passive(X, phi_x) @ passive(Z, phi_z) @ passive(Y, phi_y)  # (1)


def angles_from_alpha(alpha):
    """(phi_y, phi_z, phi_x)."""
    return np.array(
        [np.arctan2(-alpha[0, 2], alpha[0, 0]), np.arcsin(alpha[0, 1]), np.arctan2(-alpha[2, 1], alpha[1, 1])]
    )  # (3)


def angle_rates(phi_y, phi_z, phi_x):
    """Matrix from omega_C to the rates of (phi_y, phi_z, phi_x); singular at cos phi_z = 0."""
    cx, sx, cz, sz = np.cos(phi_x), np.sin(phi_x), np.cos(phi_z), np.sin(phi_z)
    return np.array([[0, cx / cz, -sx / cz], [0, sx, cx], [1, -cx * sz / cz, sx * sz / cz]])  # (2)


def split_motion(base_motion):
    return np.split(np.asarray(base_motion, dtype=float), 3)


def pad(rows, width):
    """Rows of different length in one array, zeros behind."""
    return np.array([np.concatenate([row, np.zeros(width - len(row))]) for row in rows])


# ---- leg kinematics ---------------------------------------------------------------------------------------------


def leg_kinematics(leg, p, pd=None):
    """(5)-(12), relative to the base, in frame 0; lists start with the base."""
    n = leg.n
    moves = pd is not None
    pd = np.zeros(n) if pd is None else pd
    zero = np.zeros(3)
    k = SimpleNamespace(
        beta=[None], step=[None], tau=[np.eye(3)], r=[zero], e=[None], R=[np.zeros((3, n))], T=[np.zeros((3, n))],
        om=[zero], w=[zero], eps=[zero],
    )  # fmt: skip
    for j, (joint, (offset, gamma)) in enumerate(zip(leg.joints, leg.before, strict=True)):
        alpha, t = (passive(joint.axis, p[j]), zero) if joint.revolute else (np.eye(3), p[j] * joint.axis)
        beta = alpha @ gamma  # (5)
        step = offset + gamma.T @ t  # (6)
        rho = k.tau[j].T @ step  # (6)
        e = (gamma @ k.tau[j]).T @ joint.axis  # (7)
        column = np.zeros((3, n))
        column[:, j] = e
        relative = e * pd[j]
        om_rel, v_rel = (relative, zero) if joint.revolute else (zero, relative)
        om, eps = k.om[j], k.eps[j]
        k.R.append(k.R[j] + column * joint.revolute)  # (8)
        k.T.append(k.T[j] - skew(rho) @ k.R[j] + column * (not joint.revolute))  # (9)
        if moves:
            k.w.append(k.w[j] + cross(eps, rho) + cross(om, cross(om, rho)) + 2 * cross(om, v_rel))  # (10)
            k.eps.append(eps + cross(om, om_rel))  # (11)
        else:
            k.w.append(zero)
            k.eps.append(zero)
        k.om.append(om + om_rel)
        k.beta.append(beta)
        k.step.append(step)
        k.tau.append(beta @ k.tau[j])  # (5)
        k.r.append(k.r[j] + rho)
        k.e.append(e)
    rho, om = k.tau[n].T @ leg.l_L, k.om[n]
    k.r_L = k.r[n] + rho  # (12)
    k.T_L = k.T[n] - skew(rho) @ k.R[n]  # (12)
    k.w_L = k.w[n] + cross(k.eps[n], rho) + cross(om, cross(om, rho))  # (12)
    k.e1 = (leg.gamma_L @ k.tau[n])[1]  # (13)
    return k


def ring_point(leg, r, alpha):
    return r + alpha.T @ leg.l_C


def ring_axis(leg, alpha):
    return (leg.gamma_C @ alpha)[2]  # (13)


def leg_constraints(leg, p, r, alpha, pd=None, om_C=None, k=None):
    """C^d, C^i and c of (28); c needs the rates; k: leg_kinematics if they are known."""
    om_C = np.zeros(3) if om_C is None else om_C
    k = k or leg_kinematics(leg, p, pd)
    Ci = np.hstack([np.eye(3), -alpha.T @ skew(leg.l_C)])  # (29)
    Cd = k.T_L  # (29)
    c = alpha.T @ cross(om_C, cross(om_C, leg.l_C)) - k.w_L  # (30)
    if leg.n == 4:
        e1, e2, om_n, om_r = k.e1, ring_axis(leg, alpha), k.om[-1], alpha.T @ om_C
        n_R = cross(e1, e2)
        Ci = np.vstack([Ci, np.concatenate([np.zeros(3), alpha @ n_R])])  # (29)
        Cd = np.vstack([Cd, n_R @ k.R[-1]])  # (29)
        dn_R = cross(cross(om_n, e1), e2) + cross(e1, cross(om_r, e2))  # (31)
        c = np.append(c, -n_R @ k.eps[-1] - dn_R @ (om_n - om_r))  # (31)
    return Cd, Ci, c


def residual(leg, p, r, alpha, k=None):
    k = k or leg_kinematics(leg, p)
    f = k.r_L - ring_point(leg, r, alpha)  # (14)
    return f if leg.n == 3 else np.append(f, k.e1 @ ring_axis(leg, alpha))  # (14)


# ---- closure ----------------------------------------------------------------------------------------------------


def newton(leg, r, alpha, start=None, iterations=30):
    """Joint coordinates of any leg; converges to the branch of the start."""
    p = np.array(leg.start if start is None else start, dtype=float)
    for _ in range(iterations):
        k = leg_kinematics(leg, p)
        step = np.linalg.solve(leg_constraints(leg, p, r, alpha, k=k)[0], residual(leg, p, r, alpha, k))
        p = p - step  # (15)
        if np.abs(step).max() < 1e-14:
            break
    if not np.abs(residual(leg, p, r, alpha)).max() < 1e-11:
        raise ValueError("leg does not close: Newton has not converged")
    return p


def closed(leg, r, alpha):
    """Joint coordinates of a leg of standard geometry in closed form."""
    d = leg.gamma_0 @ (ring_point(leg, r, alpha) - leg.l_0)  # (16)
    p = _gough_stewart(leg, d) if leg.type in GOUGH_STEWART else _hunt(leg, d)
    if leg.n == 4:
        spin = 2 if leg.type in GOUGH_STEWART else 3
        p[spin] = _spin(leg, leg_kinematics(leg, p).tau[spin], ring_axis(leg, alpha))
    return p


def _gough_stewart(leg, d):
    L, d13 = np.sqrt(d @ d), np.hypot(d[0], d[2])
    if d13 == 0:
        raise ValueError("leg lies along its first axis")
    p = np.zeros(leg.n)
    p[0] = np.arctan2(-d[2], d[0])  # (18)
    p[1] = np.arctan2(d[1], d13)  # (18)
    p[-1] = L - leg.bodies[REAL[leg.type][0]].l[0] - leg.l_L[0]  # (17)
    return p


def _hunt(leg, d):
    l12, l23 = leg.bodies[0].l[0], leg.l_L[0]
    l13, l23F2 = np.hypot(d[0], d[2]), l23**2 - d[1] ** 2  # (19)
    cos_a1 = (l12**2 + l13**2 - l23F2) / (2 * l12 * l13)  # (20)
    if l23F2 < 0 or abs(cos_a1) > 1:
        raise ValueError("leg does not reach the ring")
    p = np.zeros(leg.n)
    p[0] = np.arctan2(-d[2], d[0]) + leg.elbow * np.arccos(cos_a1)  # (21), (22)
    a = leg.bodies[0].gamma @ (passive(Y, p[0]) @ d - l12 * X)  # (23)
    p[2] = np.arcsin(a[1] / l23)  # (24)
    p[1] = np.arctan2(-a[2], a[0])  # (24)
    p[0] = np.arctan2(np.sin(p[0]), np.cos(p[0]))
    return p


def _spin(leg, tau, e2):
    """tau: frame of the last link before the spin."""
    e, g = tau @ e2, leg.gamma_L[1]
    A, B, C = g[1] * e[1] + g[2] * e[2], g[1] * e[2] - g[2] * e[1], g[0] * e[0]  # (25)
    if not np.hypot(A, B) > abs(C):
        raise ValueError("the joint on the ring is locked")
    p = np.arctan2(B, A) - leg.spin * np.arccos(-C / np.hypot(A, B))  # (26), with the sign of (27)
    return np.arctan2(np.sin(p), np.cos(p))


def leg_closure(leg, r, alpha):
    return closed(leg, r, alpha) if leg.type in TYPES else newton(leg, r, alpha)


def closure(ref, r, R, method=None):
    """Joint coordinates of all legs, (6, nj); method None, "closed" or "newton"."""
    function = {None: leg_closure, "closed": closed, "newton": newton}[method]
    return pad([function(leg, r, R.T) for leg in ref.legs], ref.nj)


def rates(ref, state):
    """p and p' of all legs, each (6, nj)."""
    alpha = state.R.T
    p, pd = [], []
    for leg in ref.legs:
        p.append(leg_closure(leg, state.r, alpha))
        Cd, Ci, _ = leg_constraints(leg, p[-1], state.r, alpha)
        pd.append(np.linalg.solve(Cd, Ci @ state.u))  # (32)
    return pad(p, ref.nj), pad(pd, ref.nj)


def actuated(ref, values):
    """What an array (6, nj) holds for the actuated joints."""
    return np.array([row[leg.actuated] for leg, row in zip(ref.legs, values, strict=True)])


def actuated_tau(ref, forces):
    """(6, nj) from the forces of the actuated joints."""
    tau = np.zeros((len(ref.legs), ref.nj))
    for row, leg, force in zip(tau, ref.legs, forces, strict=True):
        row[leg.actuated] = force
    return tau


def jacobian(ref, r, R):
    """Rates of the actuated joints from u, (6, 6)."""
    rows = []
    for leg in ref.legs:
        Cd, Ci, _ = leg_constraints(leg, leg_closure(leg, r, R.T), r, R.T)
        rows.append(np.linalg.solve(Cd, Ci)[leg.actuated])
    return np.array(rows)


# ---- closed-form solves -----------------------------------------------------------------------------------------


def _closed_parts(leg, p, r, alpha):
    k = leg_kinematics(leg, p)
    link = 2 if leg.type in GOUGH_STEWART else 3
    tau = k.tau[link]
    rod = k.r_L - leg.l_0
    Q = tau @ cross(leg.gamma_0[1], rod)
    n_R = cross(k.e1, ring_axis(leg, alpha)) if leg.n == 4 else None
    return k, tau, np.sqrt(rod @ rod), Q, n_R


def solve_closed(leg, p, r, alpha, y):
    """z of C^d z = y without a matrix; standard geometry."""
    k, tau, L, Q, n_R = _closed_parts(leg, p, r, alpha)
    D, z = tau @ y[:3], np.zeros(leg.n)
    if leg.type in GOUGH_STEWART:
        z[0], z[1], z[-1] = -D[2] / (L * np.cos(p[1])), D[1] / L, D[0]  # (33)
        spin, others = 2, (0, 1)
    else:
        l23 = leg.l_L[0]
        z[0] = D[0] / Q[0]  # (34)
        D = D - Q * z[0]  # (34)
        z[1], z[2] = -D[2] / (l23 * np.cos(p[2])), D[1] / l23  # (34)
        spin, others = 3, (0, 1, 2)
    if leg.n == 4:
        z[spin] = (y[3] - n_R @ sum(k.e[j + 1] * z[j] for j in others)) / (n_R @ tau[0])  # (33), (34)
    return z


def solve_closed_transposed(leg, p, r, alpha, g):
    """lambda of C^d' lambda = g without a matrix; standard geometry."""
    k, tau, L, Q, n_R = _closed_parts(leg, p, r, alpha)
    g, lam = np.array(g, dtype=float), np.zeros(leg.n)
    rotations, spin = ((0, 1), 2) if leg.type in GOUGH_STEWART else ((0, 1, 2), 3)
    if leg.n == 4:
        lam[3] = g[spin] / (n_R @ tau[0])  # (35)
        for j in rotations:
            g[j] -= lam[3] * n_R @ k.e[j + 1]  # (35)
    if leg.type in GOUGH_STEWART:
        local = np.array([g[-1], g[1] / L, -g[0] / (L * np.cos(p[1]))])  # (36)
    else:
        y, z = g[2] / leg.l_L[0], -g[1] / (leg.l_L[0] * np.cos(p[2]))  # (37)
        local = np.array([(g[0] - Q[1] * y - Q[2] * z) / Q[0], y, z])  # (37)
    lam[:3] = tau.T @ local
    return lam


def leg_determinant(leg, p, r, alpha):
    """|det C^d| as the product of the factors that vanish at a singularity; standard geometry."""
    _, tau, L, Q, n_R = _closed_parts(leg, p, r, alpha)
    s = 1.0 if leg.n == 3 else abs(n_R @ tau[0])
    if leg.type in GOUGH_STEWART:
        return L**2 * np.cos(p[1]) * s  # (38)
    return leg.l_L[0] ** 2 * np.cos(p[2]) * abs(Q[0]) * s  # (38)


# ---- leg dynamics -----------------------------------------------------------------------------------------------


def _along(joint, f, m):
    return joint.axis @ (m if joint.revolute else f)


def leg_mass_matrix(leg, k):
    """A with the reflected inertia."""
    n, bodies, joints = leg.n, leg.bodies, leg.joints
    A = np.zeros((n, n))
    for j in range(n):
        v = joints[j].axis * (not joints[j].revolute)
        om = joints[j].axis * joints[j].revolute
        f, m = {}, {}
        for i in range(j, n):
            if i > j:
                v = k.beta[i + 1] @ (v + cross(om, k.step[i + 1]))  # (39)
                om = k.beta[i + 1] @ om  # (39)
            body = bodies[i]
            f[i] = body.m * v + cross(om, body.c)
            m[i] = body.I @ om + cross(body.c, v)
        for i in range(n - 1, j - 1, -1):
            A[i, j] = A[j, i] = _along(joints[i], f[i], m[i])
            if i > j:
                inward = k.beta[i + 1].T @ f[i]  # (40)
                f[i - 1] = f[i - 1] + inward
                m[i - 1] = m[i - 1] + k.beta[i + 1].T @ m[i] + cross(k.step[i + 1], inward)
    return A + np.diag(leg.drives)


def leg_bias(leg, k, pd, base_motion, g):
    """Rates of momentum f0, m0 of the bodies at p'' = 0, body axes, about their origins."""
    a_0, Om, dOm = split_motion(base_motion)
    om, eps, w = Om, dOm, a_0 - g  # (49)
    f0, m0 = [], []
    for j, (joint, body) in enumerate(zip(leg.joints, leg.bodies, strict=True)):
        beta, step = k.beta[j + 1], k.step[j + 1]
        relative = joint.axis * pd[j]
        om_rel, v_rel = (relative, np.zeros(3)) if joint.revolute else (np.zeros(3), relative)
        carried = beta @ om
        w = beta @ (w + cross(eps, step) + cross(om, cross(om, step))) + 2 * cross(carried, v_rel)  # (41)
        eps = beta @ eps + cross(carried, om_rel)  # (41)
        om = carried + om_rel  # (41)
        f0.append(body.m * w + cross(eps, body.c) + cross(om, cross(om, body.c)))  # (42)
        m0.append(body.I @ eps + cross(body.c, w) + cross(om, body.I @ om))  # (42)
    return f0, m0


def _inward(leg, k, f, m):
    """Components along the joint axes of wrenches summed from the ring to the base."""
    f, m, out = list(f), list(m), np.zeros(leg.n)
    for j in range(leg.n - 1, -1, -1):
        out[j] = _along(leg.joints[j], f[j], m[j])
        if j:
            inward = k.beta[j + 1].T @ f[j]  # (40)
            f[j - 1] = f[j - 1] + inward
            m[j - 1] = m[j - 1] + k.beta[j + 1].T @ m[j] + cross(k.step[j + 1], inward)
    return out


def leg_terms(ref, state, index):
    """Everything of one leg that does not need the accelerations: p, p', H, h, A, b, C^d, C^i, c, f0, m0."""
    leg, alpha = ref.legs[index], state.R.T
    p = leg_closure(leg, state.r, alpha)
    Cd, Ci, _ = leg_constraints(leg, p, state.r, alpha)
    H = np.linalg.solve(Cd, Ci)  # (32)
    pd = H @ state.u  # (32)
    _, _, c = leg_constraints(leg, p, state.r, alpha, pd, state.u[3:])
    h = np.linalg.solve(Cd, c)  # (32)
    k = leg_kinematics(leg, p, pd)
    f0, m0 = leg_bias(leg, k, pd, state.base_motion, ref.g)
    tau = state.leg_tau(index, leg.n)
    b = tau - _inward(leg, k, f0, m0)  # (43)
    A = leg_mass_matrix(leg, k)
    n_R = cross(k.e1, ring_axis(leg, alpha)) if leg.n == 4 else None
    return SimpleNamespace(
        leg=leg, k=k, p=p, pd=pd, Cd=Cd, Ci=Ci, c=c, H=H, h=h, A=A, b=b, tau=tau, f0=f0, m0=m0, n_R=n_R
    )  # fmt: skip


# ---- the mechanism ----------------------------------------------------------------------------------------------


def ring_terms(ref, state):
    """M_C and s_C."""
    a_0, Om, dOm = split_motion(state.base_motion)
    v, om = state.u[:3], state.u[3:]
    alpha, r = state.R.T, state.r
    M = np.zeros((6, 6))
    M[:3, :3], M[3:, 3:] = ref.m_C * np.eye(3), ref.I_C
    carried = a_0 - ref.g + cross(dOm, r) + cross(Om, cross(Om, r)) + 2 * cross(Om, v)
    om_a = om + alpha @ Om
    turning = ref.I_C @ (alpha @ dOm + cross(alpha @ Om, om)) + cross(om_a, ref.I_C @ om_a)
    return M, state.wrench - np.concatenate([ref.m_C * carried, turning])  # (50)


def reduced(ref, state):
    """A*, b* of (44) and the terms of the legs."""
    M, s = ring_terms(ref, state)
    terms = [leg_terms(ref, state, k) for k in range(len(ref.legs))]
    A = M + sum(t.H.T @ t.A @ t.H for t in terms)  # (44)
    b = s + sum(t.H.T @ (t.b - t.A @ t.h) for t in terms)  # (44)
    return A, b, terms


def mass_matrix(ref, r, R):
    return reduced(ref, RefState(r, R))[0]


def forward(ref, state):
    """Accelerations and forces.

    acceleration (6,) u'; joint_position, joint_velocity, joint_acceleration (6, nj); reaction (6, 4), force on the ring
    in base axes and moment about n_R; base_wrench (6,) on the base about O_0, base axes; leg_wrenches (6, 6) its parts;
    axis_error: largest violation of (48); mass_matrix; terms: what leg_terms returns.
    """
    A, b, terms = reduced(ref, state)
    return _finish(ref, terms, np.linalg.solve(A, b), A)


def _finish(ref, terms, du, A):
    pdd, lam, wrenches, error = [], [], [], 0.0
    for t in terms:
        t.pdd = t.H @ du + t.h  # (45)
        t.lam = np.linalg.solve(t.Cd.T, t.b - t.A @ t.pdd)  # (45)
        wrench, mismatch = _base_wrench(t)
        pdd.append(t.pdd)
        lam.append(t.lam)
        wrenches.append(wrench)
        error = max(error, mismatch)
    return SimpleNamespace(
        acceleration=du,
        joint_position=pad([t.p for t in terms], ref.nj),
        joint_velocity=pad([t.pd for t in terms], ref.nj),
        joint_acceleration=pad(pdd, ref.nj),
        reaction=pad(lam, 4),
        leg_wrenches=np.array(wrenches),
        base_wrench=sum(wrenches),
        axis_error=error,
        mass_matrix=A,
        terms=terms,
    )


def _base_wrench(t):
    """Wrench of a leg on the base about O_0, frame 0, and the largest violation of the axis check."""
    leg, k, n = t.leg, t.k, t.leg.n
    v, om = np.zeros(3), np.zeros(3)
    f, m = [], []
    for j, (joint, body) in enumerate(zip(leg.joints, leg.bodies, strict=True)):
        unit = joint.axis * t.pdd[j]
        v = k.beta[j + 1] @ (v + cross(om, k.step[j + 1])) + unit * (not joint.revolute)  # (46)
        om = k.beta[j + 1] @ om + unit * joint.revolute  # (46)
        f.append(body.m * v + cross(om, body.c) + t.f0[j])  # (46)
        m.append(body.I @ om + cross(body.c, v) + t.m0[j])  # (46)
    F = -k.tau[n] @ t.lam[:3]  # (47)
    M = cross(leg.l_L, F)  # (47)
    if n == 4:
        M = M - t.lam[3] * k.tau[n] @ t.n_R  # (47)
    error = 0.0
    for j in range(n - 1, -1, -1):
        F, M = F - f[j], M - m[j]
        effort = t.tau[j] - leg.drives[j] * t.pdd[j]
        error = max(error, abs(_along(leg.joints[j], F, M) + effort))  # (48)
        F = k.beta[j + 1].T @ F  # (48)
        M = k.beta[j + 1].T @ M + cross(k.step[j + 1], F)  # (48)
    return np.concatenate([F, M]), error


def inverse(ref, state, acceleration):
    """Forces of the actuated joints that give u'; state.tau counts in addition."""
    A, b, terms = reduced(ref, state)
    J = np.array([t.H[t.leg.actuated] for t in terms])
    return np.linalg.solve(J.T, A @ acceleration - b)


def forward_free(ref, state, base, base_wrench=None):
    """Forward dynamics on a base that moves freely.

    base: RefBody, its origin is O_0; base_wrench = [f_B; m_B] at its centre of mass, base axes. Omega is taken from
    state.base_motion, the rest of which is found: base_acceleration = [a_0; Omega'] is added to the result of forward.
    """
    f_B, m_B = np.split(np.zeros(6) if base_wrench is None else np.asarray(base_wrench, dtype=float), 2)
    Om = split_motion(state.base_motion)[1]
    zero = np.zeros(3)
    still = replace(state, base_motion=np.concatenate([zero, Om, zero]))
    M_C, s_C = ring_terms(ref, still)
    K, rhs = np.zeros((12, 12)), np.zeros(12)
    X_C = np.block(
        [
            [np.eye(3), -skew(state.r), np.eye(3), np.zeros((3, 3))],
            [np.zeros((3, 3)), state.R.T, np.zeros((3, 3)), np.eye(3)],
        ]
    )
    K += X_C.T @ M_C @ X_C
    rhs += X_C.T @ s_C
    c_b = base.c
    K[:6, :6] += np.block([[base.m * np.eye(3), -skew(c_b)], [skew(c_b), base.I]])
    f = f_B + base.m * ref.g
    rhs[:3] += f - cross(Om, cross(Om, c_b))
    rhs[3:6] += m_B + cross(base.d, f) - cross(Om, base.I @ Om)
    for index in range(len(ref.legs)):
        t = leg_terms(ref, still, index)
        M_bb, M_bp, B0 = np.zeros((6, 6)), np.zeros((6, t.leg.n)), np.zeros(6)
        for j, body in enumerate(t.leg.bodies):
            tau = t.k.tau[j + 1]
            c = tau.T @ body.c
            M = np.block([[body.m * np.eye(3), -skew(c)], [skew(c), tau.T @ body.I @ tau]])
            X_j = np.block([[np.eye(3), -skew(t.k.r[j + 1])], [np.zeros((3, 3)), np.eye(3)]])
            J = np.vstack([t.k.T[j + 1], t.k.R[j + 1]])
            M_bb += X_j.T @ M @ X_j
            M_bp += X_j.T @ M @ J
            B0 += X_j.T @ np.concatenate([tau.T @ t.f0[j], tau.T @ t.m0[j]])
        K[:6, :6] += M_bb
        K[:6, 6:] += M_bp @ t.H
        K[6:, :6] += (M_bp @ t.H).T
        K[6:, 6:] += t.H.T @ t.A @ t.H
        rhs[:6] -= B0 + M_bp @ t.h
        rhs[6:] += t.H.T @ (t.b - t.A @ t.h)
    x = np.linalg.solve(K, rhs)  # (51)
    moving = replace(state, base_motion=np.concatenate([x[:3], Om, x[3:6]]))
    A, _, terms = reduced(ref, moving)
    result = _finish(ref, terms, x[6:], A)
    result.base_acceleration = x[:6]
    return result


# ---- bodies one by one: momentum, energy ------------------------------------------------------------------------


def body_motions(ref, state, result=None):
    """Ring and bodies with mass, in an inertial frame that coincides with the base axes and moves as O_0 does now.

    Each has index (leg, body; (-1, -1) is the ring), m, I (about the centre of mass), r, v, om and, with a result of
    forward, a and eps: position, velocity and acceleration of the centre of mass, angular velocity and acceleration.
    """
    a_0, Om, dOm = split_motion(state.base_motion)
    _, pd = rates(ref, state) if result is None else (None, result.joint_velocity)
    zero = np.zeros(3)

    def moved(index, m, inertia, r, v, om, a, eps):  # from relative to the base to inertial
        body = SimpleNamespace(index=index, m=m, I=inertia, r=r, v=v + cross(Om, r), om=om + Om)
        body.a = a_0 + a + cross(dOm, r) + cross(Om, cross(Om, r)) + 2 * cross(Om, v)
        body.eps = dOm + eps + cross(Om, om)
        return body

    R, du = state.R, np.zeros(6) if result is None else result.acceleration
    out = [
        moved((-1, -1), ref.m_C, R @ ref.I_C @ R.T, state.r, state.u[:3], R @ state.u[3:], du[:3], R @ du[3:]),
    ]
    for index, leg in enumerate(ref.legs):
        p = leg_closure(leg, state.r, R.T) if result is None else result.joint_position[index, : leg.n]
        pdd = zero if result is None else result.joint_acceleration[index, : leg.n]
        k = leg_kinematics(leg, p, pd[index])
        for j, body in enumerate(leg.bodies):
            if body.m == 0:
                continue
            tau, om = k.tau[j + 1], k.om[j + 1]
            d = tau.T @ body.d
            a, eps = k.w[j + 1], k.eps[j + 1]
            if result is not None:
                a, eps = a + k.T[j + 1] @ pdd, eps + k.R[j + 1] @ pdd
            v = k.T[j + 1] @ pd[index, : leg.n] + cross(om, d)
            a = a + cross(eps, d) + cross(om, cross(om, d))
            out.append(moved((index, j), body.m, tau.T @ body.I_com @ tau, k.r[j + 1] + d, v, om, a, eps))
    return out


def momentum(ref, state):
    """Linear momentum and angular momentum about O_0 of ring and legs, base axes; O_0 counts as resting."""
    bodies = body_motions(ref, state)
    linear = sum(b.m * b.v for b in bodies)
    return np.concatenate([linear, sum(b.I @ b.om + cross(b.r, b.m * b.v) for b in bodies)])


def momentum_rate(bodies):
    """Its derivative in the inertial frame, from body_motions with accelerations."""
    linear = sum(b.m * b.a for b in bodies)
    angular = sum(b.I @ b.eps + cross(b.om, b.I @ b.om) + cross(b.r, b.m * b.a) for b in bodies)
    return np.concatenate([linear, angular])


def kinetic_energy(ref, state):
    """Relative to the base, with the reflected inertia."""
    return 0.5 * state.u @ mass_matrix(ref, state.r, state.R) @ state.u


def potential_energy(ref, state):
    return -sum(b.m * ref.g @ b.r for b in body_motions(ref, state))


# ---- mechanisms -------------------------------------------------------------------------------------------------


def body_about_com(m, d, I_com, **place):
    return RefBody(m, np.asarray(d, dtype=float), np.asarray(I_com, dtype=float) + steiner(m, np.asarray(d)), **place)


def cylinder(m, radius, length, middle, **place):
    """Solid, along x, its centre at x = middle."""
    across = m * (3 * radius**2 + length**2) / 12
    return body_about_com(m, middle * X, np.diag([m * radius**2 / 2, across, across]), **place)


def make_leg(type, inner, outer, **data):
    """A leg of standard geometry from housing and rod, or crank and coupler; inner.l and inner.gamma lead to outer."""
    names = JOINTS[type].split()
    joints = [RefJoint(name[0] == "R", {"x": X, "y": Y, "z": Z}[name[1]]) for name in names]
    bodies = [RefBody() for _ in names]
    first, last = REAL[type]
    bodies[first], bodies[last] = inner, outer
    return RefLeg(type, joints, bodies, actuated=ACTUATED[type], **data)


def ring_points(k, delta, base_radius=0.64, ring_radius=0.60):
    """Hinges of leg k on the base and on the ring, and the side (+1, -1) of its pair."""
    i, q = divmod(k, 2)
    sign = 1 - 2 * q
    angles = (np.deg2rad(120 * i + sign * delta), np.deg2rad(120 * i + sign * (60 - delta)))
    base, ring = (np.array([0, np.cos(a), np.sin(a)]) for a in angles)
    return base_radius * base, ring_radius * ring, sign


def _unit(a):
    return a / np.sqrt(a @ a)


def _demo_gough_stewart(type, k, r, reflected):
    l_0, l_C, _ = ring_points(k, 15)
    span = r + l_C - l_0
    L_0 = np.sqrt(span @ span)
    x = span / L_0
    z = _unit(cross(x, _unit(l_0)))
    gamma = np.array([x, cross(z, x), z])
    housing = cylinder(4.0, 0.030, 0.30, 0.15, l=0.25 * X)
    rod = cylinder(2.5, 0.018, 0.28, L_0 - 0.25 - 0.14)
    frames = {"gamma_0": gamma, "gamma_C": gamma, "gamma_L": np.eye(3)}
    mass = 1e-4 * (2 * np.pi / 0.020) ** 2 if reflected else 0.0
    return make_leg(type, housing, rod, l_0=l_0, l_C=l_C, l_L=(L_0 - 0.25) * X, reflected=mass, **frames)


def _demo_hunt(type, k, r, reflected):
    l_0, l_C, sign = ring_points(k, 10)
    x = passive(X, -sign * np.deg2rad(4)) @ _unit(l_C - l_0)
    gamma_0 = np.array([x, cross(-X, x), -X])
    crank = cylinder(2.2, 0.030, 0.26, 0.13, l=0.26 * X)
    coupler = cylinder(1.8, 0.018, 0.42, 0.21)
    data = {"l_0": l_0, "gamma_0": gamma_0, "l_C": l_C, "l_L": 0.42 * X, "gamma_L": np.eye(3), "elbow": -1}
    leg = make_leg(type, crank, coupler, gamma_C=np.eye(3), reflected=0.15 if reflected else 0.0, **data)
    if leg.n == 4:  # spin 0 in the nominal pose
        p = _hunt(leg, gamma_0 @ (r + l_C - l_0))
        leg.gamma_C = leg_kinematics(leg, p).tau[-1]
    return leg


def demo(type, reflected=False):
    """The docking ring of docs/hexapods.md, reference values, with legs of one type."""
    build, h = (_demo_gough_stewart, 0.38) if type in GOUGH_STEWART else (_demo_hunt, 0.40)
    r = h * X
    legs = [build(type, k, r, reflected) for k in range(6)]
    return _started(RefHexapod(45.0, np.diag([15.5, 8.2, 8.2]), legs, (r, np.eye(3))))


def _started(ref):
    for leg in ref.legs:
        leg.start = leg_closure(leg, ref.nominal[0], ref.nominal[1].T)
    return ref


def demo_state(ref):
    """The state of the reference values in docs/hexapods.md."""
    r, R = ref.nominal
    R = R @ alpha_from_angles(0.03, -0.02, 0.05).T
    state = RefState(r + np.array([-0.02, 0.03, -0.01]), R, np.array([-0.05, 0.02, 0.01, 0.04, -0.03, 0.02]))
    state.wrench = np.array([-200.0, 40, -30, 5, -10, 8])
    p, pd = rates(ref, state)
    stretched, speed = actuated(ref, p - closure(ref, *ref.nominal)), actuated(ref, pd)
    k, c = (400, 80) if ref.legs[0].type in GOUGH_STEWART else (15, 3)
    state.tau = actuated_tau(ref, -k * stretched - c * speed)
    return state


# results of demo_state for demo(type), of the first leg where there are six; nine digits from the notes that describe
# the docking ring, not from this file
DEMO_RESULTS = {
    "UPS": {
        "p": (-0.0104204359, 0.0232328153, 0.00334628289),
        "pd": (-0.1278729, 0.000847380234, -0.0406294793),
        "u'": (-2.75170753, 0.425127585, -0.475746615, -0.807600004, -1.42146331, 1.26645623),
        "lambda": (10.4565619, -3.08019807, 3.72224689, 0.0),
        "base": (-31.1094967, 13.2370627, -0.366075672, 22.3079886, 7.22219893, 0.893557169),
    },
    "RSU": {
        "p": (0.0716549418, 1.08632205, 0.0952329776, 0.0336657385),
        "pd": (-0.244800429, 0.206187552, 0.0403069653, 0.05246101),
        "u'": (-2.74713769, 0.823120595, -0.639492963, 0.205504002, -1.1311975, 1.24258083),
        "lambda": (12.6334258, -2.17078358, 3.9547647, -0.000243180552),
        "base": (-29.6444924, -2.21470309, 2.03911916, 0.576841061, 3.40693455, -4.27040182),
    },
}


# ---- random mechanisms and states -------------------------------------------------------------------------------


def random_turn(rng, limit=np.pi):
    """Passive rotation about a random axis by at most limit."""
    return passive(_unit(rng.normal(size=3)), rng.uniform(-limit, limit))


def _random_body(rng, mass, size, middle, symmetric, **place):
    """A body that reaches from 0 to size along x; symmetric: a solid of revolution about x."""
    m = mass * rng.uniform(0.5, 1.5)
    second = m * size**2 * np.array([rng.uniform(0.05, 0.1), *rng.uniform(0.01, 0.03, 2)])
    if symmetric:
        second[2] = second[1]
        return body_about_com(m, middle * X, np.diag(second.sum() - second), **place)
    turn = random_turn(rng, 0.5)
    inertia = turn.T @ np.diag(second.sum() - second) @ turn
    return body_about_com(m, middle * X + rng.uniform(-0.05, 0.05, 3), inertia, **place)


def _random_leg(rng, type, k, nominal, symmetric, skew_axes, reflected):
    r, R = nominal
    l_0, l_C, sign = ring_points(k, 15 if type in GOUGH_STEWART else 10)
    if not symmetric:
        l_0, l_C = l_0 + rng.uniform(-0.03, 0.03, 3), l_C + rng.uniform(-0.03, 0.03, 3)
    span = r + R @ l_C - l_0
    length = np.sqrt(span @ span)
    roll = passive(X, rng.uniform(-np.pi, np.pi))
    gamma_L = random_turn(rng, 0.4) @ roll if skew_axes else np.eye(3)
    data = {"l_0": l_0, "l_C": l_C, "gamma_L": gamma_L, "spin": int(rng.choice([-1, 1]))}
    data["reflected"] = float(rng.uniform(0.1, 1.0)) if reflected else 0.0
    if type in GOUGH_STEWART:
        x = span / length
        side = _unit(cross(x, rng.normal(size=3)))
        gamma_0 = random_turn(rng, 0.25) @ np.array([x, cross(side, x), side])
        offset = rng.uniform(0.2, 0.3)
        l_L = (length - offset + rng.uniform(-0.03, 0.03)) * X
        inner = _random_body(rng, 4.0, 0.30, 0.15, symmetric, l=offset * X)
        outer = _random_body(rng, 2.5, 0.28, l_L[0] - 0.14, symmetric)
        leg = make_leg(type, inner, outer, gamma_0=gamma_0, gamma_C=np.eye(3), l_L=l_L, **data)
    else:
        chord = (np.eye(3) - np.outer(X, X)) @ span
        x = passive(X, -sign * np.deg2rad(4)) @ _unit(chord)
        gamma_0 = random_turn(rng, 0.2) @ np.array([x, cross(-X, x), -X])
        l_12, l_23 = rng.uniform(0.25, 0.28), rng.uniform(0.41, 0.44)
        gamma_1 = random_turn(rng, 0.6) if skew_axes else np.eye(3)
        inner = _random_body(rng, 2.2, l_12, l_12 / 2, symmetric, l=l_12 * X, gamma=gamma_1)
        outer = _random_body(rng, 1.8, l_23, l_23 / 2, symmetric)
        data |= {"l_L": l_23 * X, "elbow": int(rng.choice([-1, 1]))}
        leg = make_leg(type, inner, outer, gamma_0=gamma_0, gamma_C=np.eye(3), **data)
    if leg.n == 4:  # the second axis on the ring well across the link, at any spin
        link = leg_kinematics(leg, _without_spin(leg, r, R)).tau[2 if type in GOUGH_STEWART else 3]
        leg.gamma_C = random_turn(rng, 0.3) @ passive(X, rng.uniform(-np.pi, np.pi)) @ link @ R
    return leg


def _without_spin(leg, r, R):
    d = leg.gamma_0 @ (r + R @ leg.l_C - leg.l_0)
    return _gough_stewart(leg, d) if leg.type in GOUGH_STEWART else _hunt(leg, d)


def _healthy(leg, r, R):
    """Far from the singularities of (38)."""
    alpha = R.T
    p = closed(leg, r, alpha)
    _, tau, _, Q, n_R = _closed_parts(leg, p, r, alpha)
    factors = [np.cos(p[1])] if leg.type in GOUGH_STEWART else [np.cos(p[2]), abs(Q[0]) / leg.bodies[0].l[0]]
    if leg.n == 4:
        factors.append(abs(n_R @ tau[0]))
    return min(factors) > 0.5


def _generalised(rng, leg, nominal):
    """A leg of no special geometry with the topology of the given one: all bodies have mass, no axes meet."""
    r, R = nominal
    p = closed(leg, r, R.T)
    joints = [RefJoint(j.revolute, _unit(j.axis + rng.uniform(-0.15, 0.15, 3))) for j in leg.joints]
    bodies = []
    for body in leg.bodies:
        place = {"l": body.l + rng.uniform(-0.02, 0.02, 3), "gamma": random_turn(rng, 0.15) @ body.gamma}
        plain = _random_body(rng, 1.0, 0.2, 0.05, False)
        bodies.append(RefBody(plain.m, plain.d, plain.I, **place))
    l_L = leg.l_L + rng.uniform(-0.02, 0.02, 3)
    out = replace(leg, type="custom", joints=joints, bodies=bodies, l_L=l_L, start=p)
    k = leg_kinematics(out, p)
    out.l_C = R.T @ (k.r_L - r)
    e2 = _unit(cross(k.e1, _unit(k.r_L - k.r[1]) + rng.uniform(-0.2, 0.2, 3)))
    out.gamma_C = np.array([cross(k.e1, e2), k.e1, e2]) @ R
    return out


def random_mechanism(rng, types, *, symmetric=False, skew=False, reflected=False, gravity=None, pose=True):
    """A hexapod near the shape of the demonstration ones.

    types: one type or six of them; with a star behind ("RSU*") the leg has the topology of the type but no special
    geometry, and is closed by Newton. symmetric: bodies are solids of revolution about their x axes and hinges lie on
    circles; otherwise hinges are displaced, centres of mass lie off the axes, inertias are full. skew: gamma_1 (Hunt)
    and gamma_L are not 1. reflected: drives have inertia. pose: the nominal pose is a general one.
    """
    types = [types] * 6 if isinstance(types, str) else list(types)
    hunt = sum(t.rstrip("*") in HUNT for t in types)
    r, R = (0.38 + 0.02 * hunt / 6) * X, np.eye(3)
    if pose:
        r, R = r + rng.uniform(-0.02, 0.02, 3), random_turn(rng, 0.05)
    ring = _random_body(rng, 45.0, 0.5, 0.0, symmetric)
    g = np.zeros(3) if gravity is None else np.asarray(gravity, dtype=float)
    while True:
        legs = [_until_healthy(rng, t, k, (r, R), symmetric, skew, reflected) for k, t in enumerate(types)]
        ref = _started(RefHexapod(ring.m, ring.I_com, legs, (r, R), g))
        scale = np.repeat([1.0, 0.6], 3)
        if np.linalg.cond(jacobian(ref, r, R) / scale) < 50:
            return ref


def _until_healthy(rng, type, k, nominal, *options):
    while True:
        leg = None
        try:
            leg = _random_leg(rng, type.rstrip("*"), k, nominal, *options)
            fine = _healthy(leg, *nominal)
        except ValueError:
            fine = False
        if fine:
            return _generalised(rng, leg, nominal) if type.endswith("*") else leg


def random_state(rng, ref, *, moving=False, passive_tau=True, speed=1.0, reach=1.0):
    """A state near the nominal pose: within 3 cm and 0.08 rad times reach, 0.3 m/s and 0.5 rad/s times speed."""
    r, R = ref.nominal
    for _ in range(100):
        state = RefState(r + reach * rng.uniform(-0.03, 0.03, 3), R @ random_turn(rng, 0.08 * reach).T)
        try:
            closure(ref, state.r, state.R)
        except ValueError:
            continue
        break
    state.u = speed * rng.uniform(-1, 1, 6) * np.repeat([0.3, 0.5], 3)
    state.wrench = rng.uniform(-1, 1, 6) * np.repeat([200.0, 50.0], 3)
    state.tau = actuated_tau(ref, rng.uniform(-50, 50, 6))
    if passive_tau:
        for k, leg in enumerate(ref.legs):
            state.tau[k, : leg.n] += rng.uniform(-5, 5, leg.n)
    if moving:
        state.base_motion = rng.uniform(-1, 1, 9) * np.repeat([2.0, 0.8, 1.5], 3)
    return state


# ---- from a zveno model -----------------------------------------------------------------------------------------


def from_model(hx):
    """The data of a zveno Hexapod, read from its public attributes."""
    ring = hx.platform
    if np.any(np.asarray(ring.com) != 0):
        raise ValueError(f"platform: centre of mass {ring.com} is not the origin of the ring frame")
    r, R = (np.array(a, dtype=float) for a in hx.nominal)
    legs = [_custom_leg(leg) if leg.type == "custom" else _standard_leg(leg) for leg in hx.legs]
    inertia, g = np.array(ring.inertia, dtype=float), np.array(hx.gravity, dtype=float)
    return _started(RefHexapod(float(ring.mass), inertia, legs, (r, R), g))


def _frame(matrix):
    return np.eye(3) if matrix is None else np.array(matrix, dtype=float).T


def _standard_leg(leg):
    hunt = leg.type in HUNT
    gamma = _frame(leg.crank_frame) if hunt else np.eye(3)
    bodies = [body_about_com(b.mass, np.array(b.com), b.inertia) for b in (leg.inner, leg.outer)]
    bodies[0].l, bodies[0].gamma = leg.inner_length * X, gamma
    four = len(JOINTS[leg.type].split()) == 4
    return make_leg(
        leg.type,
        *bodies,
        l_0=np.array(leg.base, dtype=float),
        gamma_0=_frame(leg.base_frame),
        l_C=np.array(leg.ring, dtype=float),
        gamma_C=_frame(leg.ring_frame) if four else np.eye(3),
        l_L=leg.outer_length * X,
        gamma_L=_frame(leg.tip_frame) if four else np.eye(3),
        reflected=float(leg.reflected),
        elbow=int(leg.elbow) if hunt else 1,
        spin=int(leg.spin_branch) if four else 1,
    )


def _custom_leg(leg):
    """A leg given by a serial chain whose last link carries the joint on the ring."""
    links = list(leg.chain.links)
    if any(link.joint == "fixed" for link in links) or links[-1].name != leg.link:
        raise ValueError("custom leg: expected a serial chain of moving links up to the one at the ring")
    joints = [RefJoint(link.joint != "prismatic", _unit(np.array(link.axis, dtype=float))) for link in links]
    bodies = [body_about_com(link.mass, np.array(link.com), link.inertia) for link in links]
    for body, link in zip(bodies, links[1:], strict=False):
        body.l, body.gamma = np.array(link.position, dtype=float), _frame(link.rotation)
    four = leg.axis is not None
    return RefLeg(
        "custom",
        joints,
        bodies,
        l_0=np.array(links[0].position, dtype=float),
        gamma_0=_frame(links[0].rotation),
        l_C=np.array(leg.ring, dtype=float),
        gamma_C=np.roll(_around(leg.ring_axis), 1, axis=0) if four else np.eye(3),
        l_L=np.array(leg.point, dtype=float),
        gamma_L=_around(leg.axis) if four else np.eye(3),
        actuated=list(leg.chain.joint_names).index(leg.actuated),
        reflected=np.array(leg.chain.rotor_inertia, dtype=float),
        start=np.array(leg.start, dtype=float),
    )


def _around(axis):
    """A rotation matrix whose second row is the direction of the axis."""
    y = _unit(np.array(axis, dtype=float))
    x = _unit(cross(y, np.eye(3)[np.argmin(np.abs(y))]))
    return np.array([x, y, cross(x, y)])
