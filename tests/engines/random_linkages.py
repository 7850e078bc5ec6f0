"""Random trees with loops as zveno has them, and as tests/reference/loops.py has them."""

import numpy as np
import zveno as zv
from reference import loops as ref
from scipy.spatial.transform import Rotation

LENGTH = 0.8
KINDS = (
    "spherical", "revolute", "prismatic", "cylindrical", "universal", "planar", "screw", "weld", "distance",
    "point_on_line", "point_on_plane",
)  # fmt: skip


def rotation(rng):
    return Rotation.from_rotvec(rng.uniform(-1.5, 1.5, 3)).as_matrix()


def two_branches(rng, joints=5, gravity=(0.3, -0.5, -9.81)):
    """Two random branches of mixed joints on one base: a chain and the reference."""
    links, specs = [], []
    for branch in "ab":
        for k in range(joints):
            kind = "prismatic" if rng.random() < 0.25 else "revolute"
            axis = rng.normal(size=3)
            axis /= np.linalg.norm(axis)
            position, R = rng.uniform(-0.5, 0.5, 3), rotation(rng)
            mass, com = rng.uniform(0.5, 2.0), rng.uniform(-0.2, 0.2, 3)
            half = rng.uniform(-0.3, 0.3, (3, 3))
            inertia = (np.sum(half * half) + 0.05) * np.eye(3) - half @ half.T
            parent = f"{branch}{k - 1}" if k else "base"
            place = {"axis": axis, "position": position, "rotation": R}
            body = {"mass": mass, "com": com, "inertia": inertia}
            links.append(zv.Link(f"{branch}{k}", parent=parent, joint=kind, **place, **body))
            specs.append((len(specs) - 1 if k else -1, kind, axis, position, R, mass, com, inertia))
    return zv.Chain(links, gravity=gravity), ref.Tree(specs, gravity)


def ball(x, t):
    """A sphere that grows, as `zveno.constraints.point_on_curve` takes it."""
    return (x @ x - 0.3 - t * t) / 2, x, np.eye(3), -t, np.zeros(3), -1.0


def wave(x, t):
    """A corrugated sheet."""
    return x[2] - np.sin(x[0]), [-np.cos(x[0]), 0, 1], np.diag([np.sin(x[0]), 0, 0])


def make(kind, a, b, side_a, side_b, **data):
    """A loop of zveno from the sides of the reference."""
    at = {"point_a": side_a.p, "point_b": side_b.p}
    axes = {"axis_a": side_a.R[:, 2], "reference_a": side_a.R[:, 0]}
    both = axes | {"axis_b": side_b.R[:, 2], "reference_b": side_b.R[:, 0]}
    match kind:
        case "spherical":
            return zv.Loop.spherical(a, b, **at, **axes)
        case "universal":
            return zv.Loop.universal(a, b, **at, **axes, axis_b=side_b.R[:, 2], **data)
        case "planar":
            return zv.Loop.planar(a, b, **at, **axes, axis_b=side_b.R[:, 2], **data)
        case "distance":
            return zv.Loop.distance(a, b, **at, **data)
        case "point_on_line":
            return zv.constraints.point_on_line(a, b, **at, **axes)
        case "point_on_plane":
            return zv.constraints.point_on_plane(a, b, **at, axis_a=side_a.R[:, 2], **data)
    return getattr(zv.Loop, kind)(a, b, **at, **both, **data)


def closing_side(rng, kind, A, pa, B, pb, data):
    """The side of link B (pose B, pb) that closes a joint on the frame A, pa; what is free in it is random."""
    angle, slide = rng.uniform(-1, 1), rng.uniform(-0.5, 0.5)
    frame, point = A @ ref.turn(ref.Z, angle), pa.copy()
    match kind:
        case "spherical" | "point_on_line" | "point_on_plane" | "distance":
            frame = rotation(rng)
        case "prismatic":
            frame = A
        case "weld":
            frame = A
        case "universal":
            across = A @ np.array([np.cos(angle), np.sin(angle), 0])
            x = np.cross(across, A[:, 2])
            frame = np.column_stack([x, np.cross(across, x), across])
    if kind in ("prismatic", "cylindrical", "point_on_line"):
        point += A[:, 2] * slide
    if kind in ("planar", "point_on_plane"):
        point += A[:, 0] * slide + A[:, 1] * angle
    if kind == "screw":
        point += A[:, 2] * (angle + data["phase"]) * data["pitch"] / (2 * np.pi)
    if kind == "distance":
        d = rng.normal(size=3)
        point += d / np.linalg.norm(d) * 0.9
    return B.T @ frame, B.T @ (point - pb)


def closed_pair(rng, kind):
    """A random mechanism with one loop, closed at a random state: linkage, reference, q, qd."""
    chain, tree = two_branches(rng)
    q = rng.uniform(-1, 1, 10)
    poses = tree.poses(q)
    side_a = ref.Side(4, rotation(rng), rng.uniform(-0.3, 0.3, 3))
    A, pa = side_a.frame(poses, 0.0)
    data = {"pitch": 0.9, "phase": 0.3} if kind == "screw" else {}
    side_b = ref.Side(9, *closing_side(rng, kind, A, pa, *poses[9], data))
    given = {"length": 0.9} if kind == "distance" else data
    extra = {"rod": lambda t: 0.9} if kind == "distance" else data
    linkage = zv.Linkage(chain, [make(kind, "a4", "b4", side_a, side_b, **given)], length=LENGTH)
    joint = ref.Joint(kind, side_a, side_b, LENGTH, **extra)
    G = ref.jacobian(ref.all_residuals(tree, [joint]), q)
    free = np.linalg.svd(G)[2][np.linalg.matrix_rank(G) :].T
    return linkage, tree, joint, q, free @ rng.normal(size=free.shape[1])
