"""Docking of two vehicles transcribed to NumPy: velocities as state, contact of nodes, latches, laws of the legs."""

import numpy as np

S = np.diag([-1.0, 1.0, -1.0])
DEGREE = np.pi / 180

# the demo interface, contact and latches
PETALS = np.array([30, 150, 270]) * DEGREE
R_ROOT, R_TIP, HEIGHT, W_ROOT, W_TIP = 0.555, 0.440, 0.11, 29.3 * DEGREE, 11 * DEGREE
R_EDGE, R_FACE, HALF = 0.558, 0.585, 0.05
FILLET, WINDOW, BEHIND, THICK = 0.010, 0.010, 0.020, 0.060
K_EDGE, K_SIDE, K_FACE, BLEND, DAMPING, FRICTION, CREEP = 1e6, 2e6, 4e5, 0.2e-3, 8.0, 0.10, 5e-3
K_LATCH, C_LATCH, TAU, AXIAL, LATERAL = 1.5e5, 1500.0, 0.25, 8e-3, 20e-3
LEAN, TAPER = (R_ROOT - R_TIP) / HEIGHT, (W_ROOT - W_TIP) / HEIGHT


def cross(a, b):
    """np.cross of rows of three, without its overhead."""
    (a0, a1, a2), (b0, b1, b2) = a.T, b.T
    return np.array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]).T


def step(x):
    c = np.minimum(np.maximum(x, 0), 1)
    return c * c * (3 - 2 * c)


def ramp(x, e):
    c = np.minimum(np.maximum(x / e, 0), 1)
    return e * c**3 * (1 - c / 2) + np.maximum(x - e, 0)


def circle(radius, count):
    a = 2 * np.pi * np.arange(count) / count
    nodes = np.stack([0 * a, radius * np.cos(a), radius * np.sin(a)], axis=1)
    return nodes, np.full(count, 2 * np.pi * radius / count)


def sides(count=5):
    s = (np.arange(count) + 0.5) * HEIGHT / count
    r, w, slope = R_ROOT - LEAN * ramp(s, FILLET), W_ROOT - TAPER * ramp(s, FILLET), step(s / FILLET)
    length = HEIGHT / count * np.sqrt(1 + (LEAN * slope) ** 2 + (r * TAPER * slope) ** 2)
    nodes, lengths = [], []
    for centre in PETALS:
        for sign in (-1, 1):
            a = centre + sign * w
            nodes.append(np.stack([s, r * np.cos(a), r * np.sin(a)], axis=1))
            lengths.append(length)
    return np.concatenate(nodes), np.concatenate(lengths)


EDGE, SIDE, FACE = circle(R_EDGE, 60), sides(), circle(R_FACE, 24)


def touches(kind, x):
    """Depth, window and normal of nodes x, in axes of the ring whose surface they meet."""
    s, r, phi = x[:, 0], np.hypot(x[:, 1], x[:, 2]), np.arctan2(x[:, 2], x[:, 1])
    off = (phi[:, None] - PETALS + np.pi) % (2 * np.pi) - np.pi
    off = off[np.arange(len(x)), np.abs(off).argmin(axis=1)]
    radial = np.stack([0 * s, np.cos(phi), np.sin(phi)], axis=1)
    around = np.stack([0 * s, -np.sin(phi), np.cos(phi)], axis=1)
    axial = np.tile([1.0, 0.0, 0.0], (len(x), 1))
    along = step((HEIGHT - s) / WINDOW) * step((s + BEHIND) / WINDOW)
    surface, width, slope = R_ROOT - LEAN * ramp(s, FILLET), W_ROOT - TAPER * ramp(s, FILLET), step(s / FILLET)
    if kind == "edge":
        t = LEAN * slope
        c = 1 / np.sqrt(1 + t * t)
        normal = c[:, None] * radial + (t * c)[:, None] * axial
        return (surface - r) * c, step((width - np.abs(off)) * r / WINDOW) * along, normal
    if kind == "side":
        g = r * TAPER * slope
        k = np.sqrt(1 + g * g)
        normal = (np.sign(off)[:, None] * around + g[:, None] * axial) / k[:, None]
        return r * (width - np.abs(off)) / k, step((THICK - np.abs(r - surface)) / WINDOW) * along, normal
    return -s, step((HALF - np.abs(r - R_FACE)) / WINDOW), axial


def contact(o_a, R_a, v_a, w_a, o_b, R_b, v_b, w_b):
    """Force on B and moment about the origin, N axes; rings by origin, axes, velocity, angular velocity."""
    force, moment = np.zeros(3), np.zeros(3)
    a, b = (o_a, R_a, v_a, w_a), (o_b, R_b, v_b, w_b)
    todo = [
        (k, n, K, q, p) for k, n, K in (("edge", EDGE, K_EDGE), ("side", SIDE, K_SIDE)) for q, p in ((b, a), (a, b))
    ]
    for kind, (nodes, length), k, q, p in [*todo, ("face", FACE, K_FACE, b, a)]:
        at = q[0] + nodes @ q[1].T
        s = (at - p[0]) @ p[1][:, 0]
        low = s < 0 if kind == "face" else (s < HEIGHT) & (s > -BEHIND)
        if not low.any():
            continue
        at, length = at[low], length[low]
        depth, window, normal = touches(kind, (at - p[0]) @ p[1])
        hit = (depth > 0) & (window > 0)
        if not hit.any():
            continue
        at, n = at[hit], normal[hit] @ p[1].T
        v = q[2] + cross(q[3], at - q[0]) - p[2] - cross(p[3], at - p[0])
        vn = (v * n).sum(axis=1)
        push = k * length[hit] * window[hit] * ramp(depth[hit], BLEND) * np.maximum(0, 1 - DAMPING * vn)
        vt = v - vn[:, None] * n
        drag = FRICTION * push / np.sqrt((vt**2).sum(axis=1) + CREEP**2)
        f = push[:, None] * n - drag[:, None] * vt
        sign = 1 if q is b else -1
        force += sign * f.sum(axis=0)
        moment += sign * cross(at, f).sum(axis=0)
    return force, moment


LATCHES = [np.array([0, R_FACE * np.cos(a), R_FACE * np.sin(a)]) for a in PETALS]


def latch_gap(o_a, R_a, o_b, R_b, j):
    return R_a.T @ (o_b + R_b @ S @ LATCHES[j] - o_a - R_a @ LATCHES[j])


def latch(t, closed, o_a, R_a, v_a, w_a, o_b, R_b, v_b, w_b):
    """Force on B and moment about the origin; closed: {latch: (time, gap at closing)}; force of each latch."""
    force, moment, each = np.zeros(3), np.zeros(3), []
    for j, (begin, gap_0) in closed.items():
        x = o_b + R_b @ S @ LATCHES[j]
        rate = R_a.T @ (v_b + cross(w_b, x - o_b) - v_a - cross(w_a, x - o_a))
        gap = latch_gap(o_a, R_a, o_b, R_b, j)
        f = K_LATCH * (gap - gap_0 * np.exp(-(t - begin) / TAU)) + C_LATCH * rate
        force -= R_a @ f
        moment -= cross(x, R_a @ f)
        each.append(np.linalg.norm(f))
    return force, moment, each


def strut(x, v, stiffness, damping):
    """Force of a leg: spring, damper, friction, smooth stops."""
    force = -stiffness * x - damping * v - 5.0 * np.tanh(v / 2e-3)
    force -= 1e5 * ramp(x - 0.15, 1e-3) * np.maximum(0, 1 + 10 * v)
    return force + 1e5 * ramp(-0.13 - x, 1e-3) * np.maximum(0, 1 - 10 * v)
