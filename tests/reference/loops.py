"""Closed mechanisms from positions alone: residuals of every joint, their rates by Cauchy's integral, Newton-Euler of
all bodies with a six-dimensional wrench in every joint.

Everything is analytic in q and t, so a derivative is a mean over a circle of complex arguments: exact to rounding.
"""

import numpy as np

Z = np.array([0.0, 0.0, 1.0])
CIRCLE = np.exp(2j * np.pi * np.arange(32) / 32)


def rate(f, order, radius=0.25):
    """The derivative of f(s) at s = 0."""
    values = np.array([f(radius * s) for s in CIRCLE])
    factor = np.prod(np.arange(1, order + 1)) / radius**order
    return (np.tensordot(CIRCLE**-order, values, 1) / len(CIRCLE) * factor).real


def jacobian(f, q):
    """d f / d q by complex step."""
    return np.column_stack([np.imag(f(q + 1e-30j * e)) / 1e-30 for e in np.eye(len(q))])


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def turn(axis, angle):
    """Rotation about a unit axis; the angle may be complex."""
    x, y, z = axis.tolist() if isinstance(axis, np.ndarray) else axis
    s, v = np.sin(angle), 1 - np.cos(angle)
    a, b, c = v * x, v * y, v * z
    return np.array(
        [
            [1 - b * y - c * z, a * y - s * z, a * z + s * y],
            [a * y + s * z, 1 - a * x - c * z, b * z - s * x],
            [a * z - s * y, b * z + s * x, 1 - a * x - b * y],
        ]
    )


class Tree:
    """Links as (parent index or -1, kind, unit axis, position, rotation, mass, com, inertia about the com)."""

    def __init__(self, links, gravity):
        self.links, self.gravity = links, np.asarray(gravity, dtype=float)

    def poses(self, q):
        out = []
        for (parent, kind, axis, position, rotation, *_), x in zip(self.links, q, strict=True):
            R, p = (np.eye(3), np.zeros(3)) if parent < 0 else out[parent]
            p, R = p + R @ position, R @ rotation
            out.append((R @ turn(axis, x), p) if kind == "revolute" else (R, p + R @ axis * x))
        return out


class Side:
    """A joint frame (R, p) in a link, in the base (index -1) or in a target t -> (R, p)."""

    def __init__(self, index, R, p, target=None):
        self.index, self.R, self.p, self.target = index, np.asarray(R, float), np.asarray(p, float), target

    def frame(self, poses, t):
        R, p = self.target(t) if self.target else (np.eye(3), np.zeros(3)) if self.index < 0 else poses[self.index]
        return R @ self.R, p + R @ self.p


class Joint:
    """Residuals of a joint between two sides, as they are defined; angles times `length`."""

    def __init__(self, kind, a, b, length, **data):
        self.kind, self.a, self.b, self.L, self.data = kind, a, b, length, data

    def residual(self, poses, t=0.0):
        (A, pa), (B, pb) = self.a.frame(poses, t), self.b.frame(poses, t)
        x, y, z = A.T @ (pb - pa)
        C = A.T @ B  # C[i, j] = axis i of A . axis j of B
        tilt = self.L * np.array([-C[1, 2], C[0, 2]])
        twist = self.L / 2 * np.array([C[2, 1] - C[1, 2], C[0, 2] - C[2, 0], C[1, 0] - C[0, 1]])
        c = self.data.get("offset", lambda t: 0.0)(t)
        match self.kind:
            case "spherical":
                return np.array([x, y, z])
            case "revolute":
                return np.array([x, y, z, *tilt])
            case "prismatic":
                return np.array([x, y, *twist])
            case "cylindrical":
                return np.array([x, y, *tilt])
            case "universal":
                return np.array([x, y, z, self.L * (C[2, 2] - c)])
            case "planar":
                return np.array([z - c, *tilt])
            case "weld":
                return np.array([x, y, z, *twist])
            case "screw":
                h = self.data["pitch"] / (2 * np.pi)
                angle = z / h - self.data["phase"]
                return np.array([x, y, h * (C[0, 0] * np.sin(angle) - C[1, 0] * np.cos(angle)), *tilt])
            case "distance":
                d, rod = pb - pa, self.data["rod"](t)
                return np.array([(d @ d - rod * rod) / (2 * self.data["rod"](0.0))])
            case "point_on_line":
                return np.array([x, y])
            case "point_on_plane":
                return np.array([z - c])
        raise ValueError(self.kind)

    def powerless(self, A, B, d):
        """Combinations (force, moment at P_B, base axes) that a joint without friction does not transmit."""
        x, y, z = A.T
        o = np.zeros(3)
        forces = {
            "prismatic": [z], "cylindrical": [z], "planar": [x, y], "point_on_line": [z], "point_on_plane": [x, y],
        }.get(self.kind, [])  # fmt: skip
        moments = {
            "revolute": [z], "cylindrical": [z], "planar": [z], "universal": [z, B[:, 2]], "prismatic": [], "weld": [],
        }.get(self.kind, list(np.eye(3)))  # fmt: skip
        if self.kind == "screw":
            return [(self.data["pitch"] / (2 * np.pi) * z, z)]
        if self.kind == "distance":
            across = np.linalg.svd(d[None])[2][1:]
            forces = list(across)
        return [(f, o) for f in forces] + [(o, m) for m in moments]


def all_residuals(tree, joints):
    def f(q, t=0.0):
        poses = tree.poses(q)
        return np.concatenate([joint.residual(poses, t) for joint in joints])

    return f


def maximal(tree, joints, q, qd, tau, length, couplings=()):
    """Accelerations, wrenches of tree joints and of loops (base axes, about child origins and P_B), least by (L22).

    Unknowns: qdd, the wrench of the parent on every body, the wrench of A on B of every loop. Equations: momentum of
    every body, efforts along the axes, what a joint does not transmit, second rates of the residuals.
    """
    n, k = len(q), len(joints)
    poses = tree.poses(q)
    size = 7 * n + 6 * k
    rows, right = [], []

    def wrench(i):
        return slice(n + 6 * i, n + 6 * i + 6)  # tree joints first, then loops

    def motion(qdd):
        return lambda s: q + qd * s + qdd * s * s / 2

    def accelerations(qdd):
        def places(s):  # of all bodies: axes and centre of mass
            return np.array(
                [
                    np.column_stack([R, p + R @ com])
                    for (R, p), (*_, com, _) in zip(tree.poses(motion(qdd)(s)), tree.links, strict=True)
                ]
            )

        out = []
        for at, first, second in zip(places(0.0), rate(places, 1), rate(places, 2), strict=True):
            R0, R1, R2 = at[:, :3], first[:, :3], second[:, :3]
            W, E = R1 @ R0.T, R2 @ R0.T + R1 @ R1.T
            out.append((second[:, 3], np.array([W[2, 1], W[0, 2], W[1, 0]]), np.array([E[2, 1], E[0, 2], E[1, 0]])))
        return out

    still = accelerations(np.zeros(n))
    moving = [accelerations(e) for e in np.eye(n)]
    for b, (_parent, _, _, _, _, mass, com, inertia) in enumerate(tree.links):
        R, p = poses[b]
        arm, tensor = R @ com, R @ inertia @ R.T
        a, w, eps = still[b]
        row = np.zeros((6, size))
        for j in range(n):
            row[:3, j] = mass * (moving[j][b][0] - a)
            row[3:, j] = tensor @ (moving[j][b][2] - eps)

        def add(sign, at, point, row=row, centre=p + arm):
            row[:3, at.start : at.start + 3] -= sign * np.eye(3)
            row[3:, at.start : at.start + 3] -= sign * skew(point - centre)
            row[3:, at.start + 3 : at.stop] -= sign * np.eye(3)

        add(1.0, wrench(b), p)
        for c, link in enumerate(tree.links):
            if link[0] == b:
                add(-1.0, wrench(c), poses[c][1])
        for i, joint in enumerate(joints):
            point = joint.b.frame(poses, 0.0)[1]
            if joint.b.index == b:
                add(1.0, wrench(n + i), point)
            if joint.a.index == b:
                add(-1.0, wrench(n + i), point)
        rows.append(row)
        right.append(np.r_[mass * (tree.gravity - a), -(tensor @ eps + np.cross(w, tensor @ w))])
    for b, (_, kind, axis, *_) in enumerate(tree.links):
        row = np.zeros((1, size))
        at = wrench(b)
        row[0, (at.start + 3 if kind == "revolute" else at.start) :][:3] = poses[b][0] @ axis
        rows.append(row)
        right.append([tau[b]])
    for i, joint in enumerate(joints):
        (A, pa), (B, pb) = joint.a.frame(poses, 0.0), joint.b.frame(poses, 0.0)
        for force, moment in joint.powerless(A, B, pb - pa):
            row = np.zeros((1, size))
            row[0, wrench(n + i)] = np.r_[force, moment]
            rows.append(row)
            right.append([0.0])
    f = all_residuals(tree, joints)
    bent = rate(lambda s: f(motion(np.zeros(n))(s)), 2)
    rows.append(np.hstack([jacobian(f, q), np.zeros((len(bent), 6 * n + 6 * k))]))
    right.append(-bent)
    A, b = np.vstack(rows), np.concatenate(right)
    U, s, Vt = np.linalg.svd(A)
    rank = int(np.sum(s > 1e-9 * s[0]))
    x = Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank])
    left = np.abs(A @ x - b).max()
    free = Vt[rank:].T
    weights = np.r_[np.zeros(n), np.tile([1, 1, 1, 1 / length, 1 / length, 1 / length], n + k)]
    if free.size:
        x = x - free @ np.linalg.lstsq(weights[:, None] * free, weights * x, rcond=None)[0]
    return x[:n], x[n:].reshape(n + k, 6)[:n], x[n:].reshape(n + k, 6)[n:], left, free[n:].reshape(n + k, 6, -1)
