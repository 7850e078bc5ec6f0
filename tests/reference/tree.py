"""A tree of links in world axes by vector mechanics, for real or complex states, one or many: leading shapes are free.

Newton's and Euler's laws about centres of mass, frames as the user gives them; slow, and unlike the kernels.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Tree:
    """Links in any order that has parents first; parent -1 is the base, fixed links have joint -1.

    Inertias about the centres of mass in link axes; the joint moves the link about or along `axis` of its frame.
    """

    parent: list
    joint: list  # place in q
    revolute: list
    axis: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    mass: np.ndarray
    com: np.ndarray
    inertia: np.ndarray
    rotor: np.ndarray  # (n,), as those that follow
    friction: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray
    gravity: np.ndarray


def _turn(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = angle[..., None, None]
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


def _times(R, v):
    return np.einsum("...ij,...j->...i", R, np.asarray(v))


def _dot(a, b):
    """Without conjugation."""
    return np.einsum("...i,...i->...", a, b)


def frames(tree, q):
    """(R, p, e) of every link: axes, origin and joint axis in the world."""
    lead = q.shape[:-1]
    base = np.broadcast_to(np.eye(3), (*lead, 3, 3)), np.zeros((*lead, 3))
    found = []
    for k, parent in enumerate(tree.parent):
        R_P, p_P = base if parent < 0 else found[parent][:2]
        R_J, p = R_P @ tree.rotation[k], p_P + _times(R_P, tree.position[k])
        e = _times(R_J, tree.axis[k])
        R, j = R_J, tree.joint[k]
        if j >= 0 and tree.revolute[k]:
            R = R_J @ _turn(tree.axis[k], q[..., j])
        elif j >= 0:
            p = p + e * q[..., j, None]
        found.append((R, p, e))
    return found


def motions(tree, q, qd, qdd, base=None):
    """(w, dw, v, a) of every link's origin relative to the world, v without the base's own velocity."""
    zero = np.zeros((*q.shape[:-1], 3))
    a0, w0, dw0 = (zero, zero, zero) if base is None else (base[..., :3], base[..., 3:6], base[..., 6:])
    placed = frames(tree, q)
    found = []
    for k, parent in enumerate(tree.parent):
        _, p, e = placed[k]
        w, dw, v, a = (w0, dw0, zero, a0) if parent < 0 else found[parent]
        r = p - (zero if parent < 0 else placed[parent][1])
        v = v + np.cross(w, r)
        a = a + np.cross(dw, r) + np.cross(w, np.cross(w, r))
        j = tree.joint[k]
        if j >= 0:
            rate, second = qd[..., j, None], qdd[..., j, None]
            if tree.revolute[k]:
                dw = dw + e * second + np.cross(w, e) * rate
                w = w + e * rate
            else:
                v = v + e * rate
                a = a + e * second + 2 * np.cross(w, e) * rate
        found.append((w, dw, v, a))
    return found


def joint_wrenches(tree, q, qd, qdd, external=None, base=None):
    """Force and moment about its origin that each link gets from its parent, world axes; external: {link: [f; m]}."""
    placed, moved = frames(tree, q), motions(tree, q, qd, qdd, base)
    f, m = [], []
    for k, (R, _, _) in enumerate(placed):
        w, dw, _, a = moved[k]
        c = _times(R, tree.com[k])
        inertia = R @ tree.inertia[k] @ np.swapaxes(R, -1, -2)
        ac = a + np.cross(dw, c) + np.cross(w, np.cross(w, c)) - tree.gravity
        force = tree.mass[k] * ac
        moment = _times(inertia, dw) + np.cross(w, _times(inertia, w)) + np.cross(c, force)
        if external and k in external:
            force, moment = force - external[k][..., :3], moment - external[k][..., 3:]
        f.append(force)
        m.append(moment)
    for k in reversed(range(len(placed))):
        parent = tree.parent[k]
        if parent >= 0:
            f[parent] = f[parent] + f[k]
            m[parent] = m[parent] + m[k] + np.cross(placed[k][1] - placed[parent][1], f[k])
    return f, m


def reactions(tree, q, qd, qdd, external=None, base=None):
    """(..., n, 6) in link axes."""
    f, m = joint_wrenches(tree, q, qd, qdd, external, base)
    placed = frames(tree, q)
    out = np.zeros((*q.shape[:-1], len(tree.rotor), 6), dtype=q.dtype)
    for k, j in enumerate(tree.joint):
        if j >= 0:
            back = np.swapaxes(placed[k][0], -1, -2)
            out[..., j, :3], out[..., j, 3:] = _times(back, f[k]), _times(back, m[k])
    return out


def inverse_dynamics(tree, q, qd, qdd, external=None, base=None):
    f, m = joint_wrenches(tree, q, qd, qdd, external, base)
    placed = frames(tree, q)
    tau = tree.rotor * qdd + tree.friction * qd + tree.stiffness * (q - tree.rest)
    for k, j in enumerate(tree.joint):
        if j >= 0:
            tau[..., j] += _dot(placed[k][2], m[k] if tree.revolute[k] else f[k])
    return tau


def forward_dynamics(tree, q, qd, tau):
    n = len(tree.rotor)
    still, none = np.zeros_like(q), np.zeros_like(q)
    bias = inverse_dynamics(tree, q, qd, none)
    rest = inverse_dynamics(tree, q, still, none)
    unit = np.eye(n) + np.zeros_like(q)[..., None, :]
    M = np.stack([inverse_dynamics(tree, q, still, unit[..., j, :]) - rest for j in range(n)], axis=-1)
    return np.linalg.solve(M, (tau - bias)[..., None])[..., 0]


def pose(tree, q, link):
    R, p, _ = frames(tree, q)[link]
    T = np.zeros((*q.shape[:-1], 4, 4), dtype=q.dtype)
    T[..., :3, :3], T[..., :3, 3], T[..., 3, 3] = R, p, 1
    return T


def jacobian(tree, q, link, point):
    """[v; w] of a point of a link by rates, world axes."""
    placed = frames(tree, q)
    R, p, _ = placed[link]
    x = p + _times(R, point)
    J = np.zeros((*q.shape[:-1], 6, len(tree.rotor)), dtype=q.dtype)
    k = link
    while k >= 0:
        if tree.joint[k] >= 0:
            _, o, e = placed[k]
            J[..., :3, tree.joint[k]] = np.cross(e, x - o) if tree.revolute[k] else e
            if tree.revolute[k]:
                J[..., 3:, tree.joint[k]] = e
        k = tree.parent[k]
    return J


def momentum(tree, q, qd):
    """Linear and angular momentum of what moves, about the base origin."""
    placed, moved = frames(tree, q), motions(tree, q, qd, np.zeros_like(q))
    h = np.zeros((*q.shape[:-1], 6), dtype=q.dtype)
    for k, (R, p, _) in enumerate(placed):
        w, _, v, _ = moved[k]
        c = _times(R, tree.com[k])
        linear = tree.mass[k] * (v + np.cross(w, c))
        spin = _times(R @ tree.inertia[k] @ np.swapaxes(R, -1, -2), w)
        h = h + np.concatenate([linear, spin + np.cross(p + c, linear)], axis=-1)
    return h
