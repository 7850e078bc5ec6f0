"""The demo docking of a UPS ring in maximal coordinates: fifteen free bodies, joints as equations with multipliers.

Chaser, ring, six housings, six rods, station. State of each: centre of mass, quaternion, velocity, angular velocity,
all in inertial axes. Drive inertia acts on the strokes. Shares with zveno nothing; contact, latches and laws are those
of `docking.py` beside it.
"""

import numpy as np

from . import docking as ref
from .docking import cross

X, Y, Z = np.eye(3)
LEGS, BODIES = 6, 15
CHASER, RING, HOUSING, ROD, STATION = 0, 1, slice(2, 8), slice(8, 14), 14
OFFSET = 0.03  # of the mating plane from the ring's centre of mass
HEIGHT, SLIDE, DRIVE = 0.38, 0.25, 1e-4 * (2 * np.pi / 0.020) ** 2
COM_A, COM_B = np.array([-3.5, 0, 0]), np.array([-15.0, 0, 0])


def skew(a):
    out = np.zeros((*a.shape, 3))
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[..., k, j], out[..., j, k] = a[..., i], -a[..., i]
    return out


def turns(q):
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    K = skew(q[..., 1:])
    return np.eye(3) + 2 * q[..., :1, None] * K + 2 * K @ K


def quaternion(R):
    q = np.array([1 + np.trace(R), R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    if np.trace(R) < -0.5:  # turned by nearly 180 degrees, about y here
        q = np.array([R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], 1 + R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]])
    return q / np.linalg.norm(q)


def cylinder(m, radius, length):
    across = m * (3 * radius**2 + length**2) / 12
    return np.diag([m * radius**2 / 2, across, across])


def hinges():
    k = np.arange(LEGS)
    i, sign = k // 2, 1 - 2 * (k % 2)
    a, b = np.deg2rad(120 * i + 15 * sign), np.deg2rad(120 * i + 45 * sign)
    circle = lambda r, x: r * np.stack([0 * x, np.cos(x), np.sin(x)], axis=1)  # noqa: E731
    return circle(0.64, a), circle(0.60, b)


class Maximal:
    """Rates of the motion; y holds x, q, v, w of all bodies."""

    def __init__(self):
        self.base, self.tip = hinges()
        span = HEIGHT * X + self.tip - self.base
        self.length = np.linalg.norm(span, axis=1)
        x = span / self.length[:, None]
        z = cross(x, self.base / np.linalg.norm(self.base, axis=1)[:, None])
        z /= np.linalg.norm(z, axis=1)[:, None]
        self.axes = np.stack([x, cross(z, x), z], axis=2)  # of housings and rods in the nominal pose
        self.mass = np.array([12e3, 45.0, *[4.0] * 6, *[2.5] * 6, 350e3])
        rod, housing = cylinder(2.5, 0.018, 0.28), cylinder(4.0, 0.030, 0.30)
        bodies = [np.diag([22e3, 70e3, 70e3]), np.diag([15.5, 8.2, 8.2]), *[housing] * 6, *[rod] * 6]
        self.inertia = np.array([*bodies, np.diag([5e7, 1e8, 1e8])])
        self.middle = (self.length - SLIDE - 0.14)[:, None] * X  # of rods, in their axes
        self.closed, self.gains = {}, (400.0, 80.0)

    def start(self, closing, offset, R_b, lateral, w_b, gap):
        x, q, v, w = np.zeros((BODIES, 3)), np.zeros((BODIES, 4)), np.zeros((BODIES, 3)), np.zeros((BODIES, 3))
        x[CHASER], x[RING] = COM_A, HEIGHT * X
        x[HOUSING] = self.base + self.axes @ (0.15 * X)
        x[ROD] = self.base + np.einsum("kij,kj->ki", self.axes, SLIDE * X + self.middle)
        q[:, 0] = 1
        for k in range(LEGS):
            q[2 + k] = q[8 + k] = quaternion(self.axes[k])
        o_b = np.array([HEIGHT + OFFSET + gap, *offset])
        q[STATION], x[STATION] = quaternion(R_b), o_b + R_b @ COM_B
        v[:STATION] = closing * X
        v[STATION], w[STATION] = np.array([0, *lateral]) + cross(np.array(w_b), R_b @ COM_B), w_b
        return np.concatenate([x.ravel(), q.ravel(), v.ravel(), w.ravel()])

    def parts(self, y):
        cut = np.split(y, np.array([3, 7, 10]) * BODIES)
        x, q, v, w = (a.reshape(BODIES, -1) for a in cut)
        return x, turns(q), v, w, q

    def rings(self, x, R, v, w):
        arm = R[RING] @ (OFFSET * X)
        far = -R[STATION] @ COM_B
        a = (x[RING] + arm, R[RING], v[RING] + cross(w[RING], arm), w[RING])
        return a, (x[STATION] + far, R[STATION], v[STATION] + cross(w[STATION], far), w[STATION])

    def loads(self, t, a, b):
        force, moment = ref.contact(*a, *b)
        more, turning, each = ref.latch(t, self.closed, *a, *b)
        return force + more, moment + turning, each

    def strokes(self, x, R, v, w):
        """Axes of the housings; arms, gap and its rate between where rods begin and where they do at stroke zero."""
        axis = R[HOUSING] @ X
        arm_h, arm_r = R[HOUSING] @ ((SLIDE - 0.15) * X), np.einsum("kij,kj->ki", R[ROD], -self.middle)
        gap = x[ROD] + arm_r - x[HOUSING] - arm_h
        rate = v[ROD] + cross(w[ROD], arm_r) - v[HOUSING] - cross(w[HOUSING], arm_h)
        return axis, arm_h, arm_r, gap, rate

    def __call__(self, t, y):
        x, R, v, w, q = self.parts(y)
        I = R @ self.inertia @ R.transpose(0, 2, 1)  # noqa: E741
        a, b = self.rings(x, R, v, w)
        force, moment, _ = self.loads(t, a, b)
        f = np.zeros((BODIES, 6))
        f[:, 3:] = -cross(w, (I @ w[..., None])[..., 0])
        for k, sign in ((RING, -1), (STATION, 1)):
            f[k] += sign * np.concatenate([force, moment - cross(x[k], force)])

        # rows of each leg: foot (3), tip (3), axes of the cross (1), no turn of rod against housing (3), gap along the
        # axes of the housing (3), of which the first is the stroke
        legs = np.arange(LEGS)
        J, left = np.zeros((LEGS, 13, BODIES, 6)), np.zeros((LEGS, 13))
        one = np.eye(3)

        def same_point(at, i, arm_i, j, arm_j):
            for sign, body, arm in ((1, i, arm_i), (-1, j, arm_j)):
                J[legs, at : at + 3, body, :3], J[legs, at : at + 3, body, 3:] = sign * one, -sign * skew(arm)
            left[:, at : at + 3] = cross(w[i], cross(w[i], arm_i)) - cross(w[j], cross(w[j], arm_j))

        chaser, ring = 0 * legs + CHASER, 0 * legs + RING
        same_point(0, chaser, (self.base - COM_A) @ R[CHASER].T, legs + 2, R[HOUSING] @ (-0.15 * X))
        same_point(3, ring, self.tip @ R[RING].T, legs + 8, R[ROD] @ (0.14 * X))
        wh, wr = w[HOUSING], w[ROD]
        fixed, own = self.axes[:, :, 1] @ R[CHASER].T, R[HOUSING] @ Z
        n = cross(fixed, own)
        J[legs, 6, chaser, 3:], J[legs, 6, legs + 2, 3:] = n, -n
        turning = cross(cross(w[CHASER], fixed), own) + cross(fixed, cross(wh, own))
        left[:, 6] = (turning * (w[CHASER] - wh)).sum(1)
        J[legs, 7:10, legs + 8, 3:], J[legs, 7:10, legs + 2, 3:] = one, -one
        axis, arm_h, arm_r, gap, rate = self.strokes(x, R, v, w)
        centripetal = cross(wr, cross(wr, arm_r)) - cross(wh, cross(wh, arm_h))
        for i in range(3):
            e = R[HOUSING][:, :, i]
            J[legs, 10 + i, legs + 2, :3], J[legs, 10 + i, legs + 2, 3:] = -e, cross(e, gap) - cross(arm_h, e)
            J[legs, 10 + i, legs + 8, :3], J[legs, 10 + i, legs + 8, 3:] = e, cross(arm_r, e)
            turning = cross(wh, e)
            left[:, 10 + i] = (e * centripetal + 2 * turning * rate + cross(wh, turning) * gap).sum(1)
        p, speed = (axis * gap).sum(1), (axis * rate + cross(wh, axis) * gap).sum(1)
        f += np.einsum("k,kbi->bi", ref.strut(p, speed, *self.gains), J[:, 10])

        # M a + J' l = f, J a = -left; the drive is a multiplier of its own, l = drive (p'' of the stroke)
        inverse = np.zeros((BODIES, 6, 6))
        inverse[:, :3, :3], inverse[:, 3:, 3:] = one / self.mass[:, None, None], np.linalg.inv(I)
        A = J.reshape(-1, BODIES, 6).transpose(1, 0, 2)  # body by body: products too small for threads of a library
        weighted = A @ inverse
        free = (inverse @ f[..., None])[..., 0]
        S = (weighted @ A.transpose(0, 2, 1)).sum(axis=0)
        stroke = 13 * legs + 10
        S[stroke, stroke] += 1 / DRIVE
        right = (A @ free[..., None])[..., 0].sum(axis=0) + left.ravel()
        acceleration = free - np.einsum("bji,j->bi", weighted, np.linalg.solve(S, right))
        spin = 0.5 * np.column_stack([-(q[:, 1:] * w).sum(1), q[:, :1] * w + cross(w, q[:, 1:])])
        return np.concatenate([v.ravel(), spin.ravel(), acceleration[:, :3].ravel(), acceleration[:, 3:].ravel()])

    def step(self, t, y, h):
        k1 = self(t, y)
        k2 = self(t + h / 2, y + h / 2 * k1)
        k3 = self(t + h / 2, y + h / 2 * k2)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + self(t + h, y + h * k3))

    def near(self, y, j):
        """Negative where latch j may close."""
        a, b = self.rings(*self.parts(y)[:4])
        g = ref.latch_gap(*a[:2], *b[:2], j)
        return max(abs(g[0]) - ref.AXIAL, np.hypot(g[1], g[2]) - ref.LATERAL)

    def sample(self, t, y):
        """Time, force on A's ring in its axes, moment about the origin of its frame, largest latch, strokes."""
        x, R, v, w, _ = self.parts(y)
        a, b = self.rings(x, R, v, w)
        force, moment, each = self.loads(t, a, b)
        axis, _, _, gap, _ = self.strokes(x, R, v, w)
        load = (-a[1].T @ force, -a[1].T @ (moment - cross(a[0], force)))
        return t, *load, max(each, default=0.0), (axis * gap).sum(1)

    def run(self, y, dt, after):
        """Until `after` beyond capture: samples, cut where forces jump; self.closed has the latches."""
        t, samples, end = 0.0, [[self.sample(0.0, y)]], np.inf
        while t < end - 1e-12:
            h = min(dt, end - t)
            new = self.step(t, y, h)
            due = [j for j in range(3) if j not in self.closed and self.near(new, j) < 0]
            if due:  # the earliest: the secant between the ends, which changes sides
                low, high = 0.0, h
                below, above = min(self.near(new, j) for j in due), min(self.near(y, j) for j in due)
                for _ in range(40):
                    h = low + (high - low) * above / (above - below)
                    new = self.step(t, y, h)
                    value = min(self.near(new, j) for j in due)
                    if abs(value) < 1e-11:
                        break
                    if value < 0:
                        high, below, above = h, value, above / 2
                    else:
                        low, above, below = h, value, below / 2
            t, y = t + h, new
            samples[-1].append(self.sample(t, y))
            for j in due:
                if self.near(y, j) < 1e-9:
                    a, b = self.rings(*self.parts(y)[:4])
                    self.closed[j] = (t, ref.latch_gap(*a[:2], *b[:2], j))
            if due and len(self.closed) == 3:
                self.capture, self.gains, end = t, (700.0, 2500.0), t + after
            if due:
                samples.append([self.sample(t, y)])
        self.last = y
        return samples

    def gaps(self, y):
        """How far joints have come apart, m."""
        x, R, *_ = self.parts(y)
        foot = x[CHASER] + (self.base - COM_A) @ R[CHASER].T - (x[HOUSING] + R[HOUSING] @ (-0.15 * X))
        tip = x[RING] + self.tip @ R[RING].T - (x[ROD] + R[ROD] @ (0.14 * X))
        return np.abs(np.concatenate([foot, tip])).max()
