"""Round trips of closed forms: random configurations of every family, their poses, all solutions of these.

python bench/ik_round_trips.py [--count N] [--only NAME]

Printed for each family: the largest difference of a solution's pose from the wanted one (m, elements of R), how many
configurations are not among the solutions of their pose to 1e-6, how many solutions a pose has, and, of arms whose
configurations have names, how many names differ from the signs of (K25), computed here from axes by NumPy. The arm of
seven joints gets its own swivel angle, five joints a pose with a random spin about the free axis.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import zveno as zv

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "chain"))
import arms
from test_closed_forms import ACROSS, of_screws, turned, unit

ROWS = 10_000  # poses of a batch


def wrist_at(place: int, others: str) -> zv.Chain:
    """Six revolute axes of random directions, three of them through one point."""
    rng = np.random.default_rng((place, 1))
    axes, points = [unit(rng) for _ in range(6)], [rng.uniform(-1, 1, 3) for _ in range(6)]
    points[place + 1] = points[place + 2] = points[place]
    order = {0: (5, 4, 3), 1: (0, 5, 4), 2: (1, 0, 5), 3: (0, 1, 2)}[place]
    if others == "along":
        axes[order[2]] = -axes[order[1]]
    if others == "meets":
        points[order[1]] = points[order[0]]
    return of_screws(axes, points, ["revolute"] * 6, rng)


def parallel_at(place: int, meets: bool) -> zv.Chain:
    """Six revolute axes, three consecutive ones parallel."""
    rng = np.random.default_rng((place, 7))
    axes, points = [unit(rng) for _ in range(6)], [rng.uniform(-1, 1, 3) for _ in range(6)]
    axes[place + 1], axes[place + 2] = -axes[place], axes[place]
    a, b = (place + 3) % 6, (place + 4) % 6
    if meets:
        points[b] = points[a]
    return of_screws(axes, points, ["revolute"] * 6, rng)


def slides(kinds: str) -> zv.Chain:
    """Slides and axes before a wrist."""
    rng = np.random.default_rng((3, len(kinds)))
    axes, points = [unit(rng) for _ in range(6)], [rng.uniform(-1, 1, 3) for _ in range(6)]
    points[4] = points[5] = points[3]
    if kinds == "RRP":
        points[1] = points[0]
    if kinds == "PRP":
        axes[1] = -axes[0]
    if kinds == "PRR":
        axes[0] = np.cross(axes[1], axes[0])
    if kinds == "RPR":
        axes[1] = np.cross(axes[2], axes[1])
    names = [{"R": "revolute", "P": "prismatic"}[kind] for kind in kinds + "RRR"]
    return of_screws(axes, points, names, rng)


FAMILIES: dict[str, tuple[Callable[[], zv.Chain], dict[str, Any]]] = {
    "FS020N (wrist, 2 along 3)": (zv.robots.kawasaki_fs020n, {"named": "wrist"}),
    "PUMA 560": (arms.puma, {"named": "wrist"}),
    "UR5 (2, 3, 4 parallel)": (arms.ur5, {"named": "parallel"}),
    "UR5, angles rounded to 1.5708": (
        lambda: arms.arm([(0, d, a, round(alpha, 4)) for _, d, a, alpha in arms.UR5]),
        {"named": "parallel"},
    ),
    "Stanford": (arms.stanford, {}),
    "SCARA": (arms.scara, {}),
    "three parallel axes": (arms.planar, {}),
    "five joints, 2, 3, 4 parallel": (arms.five, {}),
    "five joints, place and direction": (lambda: arms.arm(ACROSS), {"mask": (1, 1, 1, 1, 1, 0)}),
    "three joints, a place": (lambda: arms.arm([*arms.PUMA[:2], (0, 0.2, 0.3, 0.4)]), {"mask": (1, 1, 1, 0, 0, 0)}),
    "iiwa, swivel": (arms.iiwa, {"swivel": True}),
    "shoulder meets (1, 2, 3)": (lambda: wrist_at(0, "along"), {}),
    "axes 2, 3, 4 meet": (lambda: wrist_at(1, "along"), {}),
    "axes 3, 4, 5 meet": (lambda: wrist_at(2, "meets"), {}),
    "wrist, 1 meets 2": (lambda: wrist_at(3, "meets"), {}),
    "wrist, any axes before (quartic)": (lambda: wrist_at(3, "general"), {}),
    "axes 1, 2, 3 parallel": (lambda: parallel_at(0, True), {}),
    "axes 3, 4, 5 parallel (quartic)": (lambda: parallel_at(2, False), {}),
    **{
        f"{kinds} and a wrist": (lambda kinds=kinds: slides(kinds), {}) for kinds in ("RRP", "RPP", "PPP", "PRR", "RPR")
    },
    "six joints of any geometry": (lambda: arms.arm(arms.GENERAL), {"share": 50}),
    "wrist with an offset": (
        lambda: arms.arm([*arms.PUMA[:4], (0, 0, 0.05, -arms.RIGHT), (0, 0.1, 0, 0)]),
        {"share": 50},
    ),
}


def names_of(chain: zv.Chain, q: np.ndarray, parallel: bool) -> np.ndarray:
    """Signs of (K25) from the axes at q."""
    link = arms.tip(chain)
    J, tool = chain.jacobian(q, link), chain.pose(q, link)[:, :3, 3]
    z = np.moveaxis(J[:, 3:], 1, 2)
    p = tool[:, None] - np.cross(np.moveaxis(J[:, :3], 1, 2), z)
    used = range(4, 6) if parallel else range(3, 6)
    A = sum(np.eye(3) - z[:, i, :, None] * z[:, i, None, :] for i in used)
    b = sum(p[:, i] - z[:, i] * (z[:, i] * p[:, i]).sum(axis=1, keepdims=True) for i in used)
    c = np.linalg.solve(A, b[..., None])[..., 0]

    def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a * b).sum(axis=1)

    shoulder = dot(z[:, 1], np.cross(z[:, 0], c - p[:, 0]))
    if parallel:
        elbow = dot(z[:, 1], np.cross(p[:, 2] - p[:, 1], p[:, 3] - p[:, 2]))
    else:
        elbow = dot(z[:, 2], np.cross(p[:, 2] - p[:, 1], c - p[:, 2]))
    wrist = dot(z[:, 3], np.cross(z[:, 4], z[:, 5]))
    return np.sign(np.stack([shoulder, elbow, wrist], axis=1))


def own_swivel(chain: zv.Chain, q: np.ndarray) -> np.ndarray:
    """Turn of the elbow about the line from shoulder to wrist, of configurations of the iiwa."""
    joints = [name for name, item in zip(chain.link_names, chain.links, strict=True) if item.joint != "fixed"]
    shoulder, elbow, wrist = (chain.pose(q, joints[i])[:, :3, 3] for i in (1, 3, 5))
    u = wrist - shoulder
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    flat, bent = np.cross(u, [0.0, 0.0, 1.0]), np.cross(u, elbow - shoulder)
    return np.arctan2((np.cross(flat, bent) * u).sum(axis=1), (flat * bent).sum(axis=1))


def about(axis: int, angle: np.ndarray) -> np.ndarray:
    """Rotations (m, 3, 3)."""
    K = np.cross(np.eye(3), -np.eye(3)[axis])
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + s * K + (1 - c) * (K @ K)


def trips(chain: zv.Chain, count: int, options: dict[str, Any]) -> tuple[float, int, float, int | None]:
    """Largest error of a pose, configurations that are not found, solutions of a pose, names that differ."""
    link, options = arms.tip(chain), dict(options)
    options.pop("share", None)
    named = options.pop("named", None)
    swivel = options.pop("swivel", False)
    mask = options.get("mask", (1,) * 6)
    worst, lost, total, differ = 0.0, 0, 0, 0
    for begin in range(0, count, ROWS):
        rows = min(ROWS, count - begin)
        q = arms.uniform(chain, rows, (begin, 17))
        T = chain.pose(q, link)
        if sum(mask) == 5:
            T[:, :3, :3] = T[:, :3, :3] @ about(2, np.random.default_rng(begin).uniform(-3, 3, rows))
        if swivel:
            options["swivel"] = own_swivel(chain, q)
        s = chain.ik_all(T, link, limits=False, threads=1, **options)
        row = np.repeat(np.arange(rows), s.counts)
        off = np.abs(chain.pose(s.q, link) - T[row])
        if sum(mask) == 3:
            off[:, :, :3] = 0.0
        if sum(mask) == 5:
            off[:, :, :2] = 0.0
        worst, total = max(worst, off.max()), total + len(s.q)
        same = np.abs(turned(s.q - q[row], chain)).max(axis=1) < 1e-6
        lost += rows - len(np.unique(row[same]))
        if named:
            clear = np.abs(s.configuration).all(axis=1)
            differ += int((names_of(chain, s.q, named == "parallel") != s.configuration)[clear].any(axis=1).sum())
    return worst, lost, total / count, differ if named else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="configurations; eigenvalues get a fiftieth")
    parser.add_argument("--only", default="", help="families whose name has this in it")
    options = parser.parse_args()
    print("| family | configurations | pose within | not found | solutions of a pose | names that differ |")
    print("|---|---|---|---|---|---|", flush=True)
    for name, (make, how) in FAMILIES.items():
        if options.only not in name:
            continue
        count = max(1, options.count // how.get("share", 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", zv.ModelWarning)
            worst, lost, mean, differ = trips(make(), count, how)
        told = "" if differ is None else str(differ)
        print(f"| {name} | {count} | {worst:.1e} | {lost} | {mean:.2f} | {told} |", flush=True)


if __name__ == "__main__":
    main()
