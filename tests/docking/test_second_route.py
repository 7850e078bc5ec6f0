"""A whole docking by another route: velocities as state, NumPy contact, an integrator of variable step."""

import numpy as np
import pytest
import zveno as zv
from reference import docking as ref
from scipy.integrate import solve_ivp
from zveno import docking

M_B, I_B, COM_B = 350e3, np.diag([5e7, 1e8, 1e8]), np.array([-15.0, 0, 0])


def turn(q):
    w, x, y, z = q / np.linalg.norm(q)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


def quaternion_rate(q, w):
    a, v = q[0], q[1:]
    return 0.5 * np.concatenate([[-v @ w], a * np.array(w) + np.cross(v, w)])


class SecondRoute:
    """State: A's base x, q, v_0, omega (base axes); ring r, q, u; B's centre of mass x, q, v, omega (body axes)."""

    def __init__(self, scenario):
        self.ring, self.body = scenario.chaser.ring, scenario.chaser.body
        self.closed, self.gains = {}, (400.0, 80.0)

    def rings(self, y):
        R0, RC, RB = turn(y[3:7]), turn(y[16:20]), turn(y[29:33])
        R_a = R0 @ RC
        x_c = y[:3] + R0 @ y[13:16]
        o_a = x_c + R_a @ (0.03, 0, 0)
        w_a = R0 @ (y[10:13] + RC @ y[23:26])
        v_a = R0 @ (y[7:10] + np.cross(y[10:13], y[13:16]) + y[20:23]) + np.cross(w_a, o_a - x_c)
        w_b = RB @ y[36:39]
        arm = -RB @ COM_B
        return (o_a, R_a, v_a, w_a), (y[26:29] + arm, RB, y[33:36] + np.cross(w_b, arm), w_b), R0, RC, x_c

    def loads(self, t, y):
        a, b, *_ = self.rings(y)
        force, moment = ref.contact(*a, *b)
        more, turning, each = ref.latch(t, self.closed, *a, *b)
        return force + more, moment + turning, each

    def legs(self, y, RC):
        p = self.ring.closure(y[13:16], RC)[:, 2]
        v = self.ring.jacobian(y[13:16], RC) @ y[20:26]
        return ref.strut(p, v, *self.gains), p

    def __call__(self, t, y):
        *_, R0, RC, x_c = self.rings(y)
        force, moment, _ = self.loads(t, y)
        tau, _ = self.legs(y, RC)
        about = -(moment - np.cross(x_c, force))
        load = np.concatenate([R0.T @ -force, (R0 @ RC).T @ about])
        free = self.ring.forward_dynamics_free(y[13:16], RC, y[20:26], load, tau, self.body, y[10:13])
        a_0 = free.base_acceleration
        RB, w = turn(y[29:33]), y[36:39]
        torque = RB.T @ (moment - np.cross(y[26:29], force))
        return np.concatenate(
            [
                R0 @ y[7:10], quaternion_rate(y[3:7], y[10:13]), a_0[:3] - np.cross(y[10:13], y[7:10]), a_0[3:],
                y[20:23], quaternion_rate(y[16:20], y[23:26]), free.acceleration,
                y[33:36], quaternion_rate(y[29:33], w), force / M_B,
                np.linalg.solve(I_B, torque - np.cross(w, I_B @ w)),
            ]
        )  # fmt: skip

    def near(self, j):
        """Negative where latch j may close."""

        def gap(_, state):
            a, b, *_ = self.rings(state)
            g = ref.latch_gap(*a[:2], *b[:2], j)
            return max(abs(g[0]) - ref.AXIAL, np.hypot(g[1], g[2]) - ref.LATERAL)

        gap.terminal, gap.direction = True, -1
        return gap

    def run(self, start, after):
        """Until `after` beyond capture: times of latches, samples (t, force on A's ring in its axes, strokes)."""
        t, y, samples = 0.0, start, []
        while len(self.closed) < 3 or t < self.capture + after:
            open_ = [j for j in range(3) if j not in self.closed]
            end = 10.0 if open_ else self.capture + after
            got = solve_ivp(
                self,
                (t, end),
                y,
                "RK45",
                events=[self.near(j) for j in open_] or None,
                rtol=1e-6,
                atol=1e-7,
                max_step=0.05,
            )
            for s, state in zip(got.t, got.y.T, strict=True):
                a, _, _, RC, _ = self.rings(state)
                samples.append((s, -a[1].T @ self.loads(s, state)[0], self.legs(state, RC)[1]))
            t, y = got.t[-1], got.y[:, -1]
            for j, times in zip(open_, got.t_events or [], strict=bool(open_)):
                if len(times):
                    a, b, *_ = self.rings(y)
                    self.closed[j] = (t, ref.latch_gap(*a[:2], *b[:2], j))
            if open_ and len(self.closed) == 3:
                self.capture, self.gains = t, (700.0, 2500.0)
        return samples


def test_a_docking_by_another_route():
    c = docking.Conditions.from_degrees(0.1, (-0.02, 0.03), (1.2, -0.6), 1.0, (-0.01, -0.02), (-0.03, -0.05, 0.05))
    s = docking.demo("UPS").replace(conditions=c)
    d = docking.simulate(s, dt=1e-3, after=0.15)
    # the start, from the conditions
    (pitch, yaw), roll = c.tilt, c.roll
    turns = [zv.orientation.from_rotation_vector(v) for v in ((0, pitch, 0), (0, 0, yaw), (roll, 0, 0))]
    R_b = turns[0] @ turns[1] @ turns[2] @ ref.S
    o_b = np.array([0.41 + d.gap, *c.offset])
    w = np.array(c.rate)
    arm = R_b @ COM_B
    start = np.concatenate(
        [
            (0, 0, 0), (1, 0, 0, 0), (c.closing, 0, 0), (0, 0, 0), (0.38, 0, 0), (1, 0, 0, 0), np.zeros(6),
            o_b + arm, zv.orientation.to_quaternion(R_b), np.array([0, *c.lateral]) + np.cross(w, arm), R_b.T @ w,
        ]
    )  # fmt: skip
    other = SecondRoute(s)
    samples = other.run(start, 0.15)
    times = [other.closed[j][0] for j in range(3)]
    np.testing.assert_allclose(d.latch_times, times, atol=1e-5)
    force = np.array([f for _, f, _ in samples])
    strokes = np.array([p for _, _, p in samples])
    assert np.abs(force[:, 0]).max() == pytest.approx(d.peak.axial, rel=2e-2)
    assert strokes.min() == pytest.approx(d.stroke_min, rel=1e-3)
    # at the end, where both are
    np.testing.assert_allclose(force[-1], d.history.load[-1, :3], rtol=1e-3, atol=0.05)
    np.testing.assert_allclose(strokes[-1], d.history.stroke_a[-1], atol=2e-6)
