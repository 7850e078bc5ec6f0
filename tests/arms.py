"""Arms with closed forms and without, by their Denavit-Hartenberg rows, and their reference solutions."""

import math

import numpy as np
import zveno as zv

RIGHT = math.pi / 2
UR5 = [
    (0, 0.089159, 0, RIGHT),
    (0, 0, -0.425, 0),
    (0, 0, -0.39225, 0),
    (0, 0.10915, 0, RIGHT),
    (0, 0.09465, 0, -RIGHT),
    (0, 0.0823, 0, 0),
]
PUMA = [
    (0, 0, 0, RIGHT),
    (0, 0, 0.4318, 0),
    (0, 0.15005, 0.0203, -RIGHT),
    (0, 0.4318, 0, RIGHT),
    (0, 0, 0, -RIGHT),
    (0, 0, 0, 0),
]
GENERAL = [
    (0, 0, 0.3, -RIGHT),
    (0, 0, 0.5, -RIGHT),
    (0, 0.1, 0.1, -RIGHT),
    (0, 0.1, 1, 0.2),
    (0, 0.3, 0.05, 1.2),
    (0, 0.3, 0.5, -RIGHT),
]


def arm(rows, **options):
    """A chain of links with some mass: kinematics do not care, the model does."""
    return zv.Chain.from_dh(rows, masses=[1.0] * len(rows), inertias=[0.1] * len(rows), **options)


def ur5(limit=math.pi):
    return arm(UR5, lower=[-limit] * 6, upper=[limit] * 6, name="ur5")


def puma():
    return arm(PUMA, name="puma")


def shifted(*r):
    T = np.eye(4)
    T[:3, 3] = r
    return T


def scara():
    limits = [(-math.radians(105), math.radians(105)), (-math.radians(150), math.radians(150)), (0, 0.21)]
    limits.append((-2 * math.pi, 2 * math.pi))
    low, high = zip(*limits, strict=True)
    rows = [(0, 0.39, 0.325, 0), (0, 0, 0.275, math.pi), (0, 0, 0, 0), (0, 0.05, 0, 0)]
    kinds = ["revolute", "revolute", "prismatic", "revolute"]
    return arm(rows, joints=kinds, lower=low, upper=high, name="scara4")


def iiwa():
    """Seven joints, spherical shoulder and wrist."""
    alpha = np.radians([0, -90, 90, 90, -90, -90, 90])
    d = (0.36, 0, 0.42, 0, 0.4, 0, 0)
    limit = np.radians([170, 120, 170, 120, 170, 120, 175])
    rows = [(0, di, 0, ai) for ai, di in zip(alpha, d, strict=True)]
    return arm(rows, convention="modified", lower=-limit, upper=limit, tool_pose=shifted(0, 0, 0.126), name="srs")


def panda():
    """Franka Panda: the maker's modified Denavit-Hartenberg rows and limits, the frame of the hand."""
    a = (0, 0, 0, 0.0825, -0.0825, 0, 0.088)
    d = (0.333, 0, 0.316, 0, 0.384, 0, 0)
    alpha = (0, -RIGHT, RIGHT, RIGHT, -RIGHT, RIGHT, RIGHT)
    low = (-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973)
    high = (2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973)
    c = math.sqrt(0.5)
    hand = np.array([[c, c, 0, 0], [-c, c, 0, 0], [0, 0, 1, 0.107], [0, 0, 0, 1]])
    rows = [(0, di, ai, al) for di, ai, al in zip(d, a, alpha, strict=True)]
    return arm(rows, convention="modified", lower=low, upper=high, tool_pose=hand, name="panda")


def planar():
    return arm([(0, 0, 1, 0), (0, 0, 0.8, 0), (0, 0, 0.5, 0)], lower=[-2.5] * 3, upper=[2.5] * 3, name="planar")


def five():
    rows = [(0, 0.3, 0.05, RIGHT), (0, 0, 0.4, 0), (0, 0, 0.35, 0), (0, 0, 0.05, -RIGHT), (0, 0.2, 0, 0)]
    return arm(rows, name="five")


def stanford():
    rows = [(0, 0.4, 0, -RIGHT), (0, 0.15, 0, RIGHT), (0, 0.3, 0, 0)]
    rows += [(0, 0, 0, -RIGHT), (0, 0, 0, RIGHT), (0, 0.26, 0, 0)]
    kinds = ["revolute", "revolute", "prismatic", "revolute", "revolute", "revolute"]
    return arm(
        rows, joints=kinds, lower=[-9] * 2 + [-0.5] + [-9] * 3, upper=[9] * 2 + [0.5] + [9] * 3, name="stanford6"
    )


def uniform(chain, count, seed=0):
    """Configurations inside of the limits, half a turn where there are none."""
    rng = np.random.default_rng(seed)
    low, high = (np.clip(x, -math.pi, math.pi) for x in (chain.lower, chain.upper))
    return rng.uniform(low, high, (count, chain.n))


def tip(chain):
    return chain.link_names[-1]


Q_STAR = (0.4, -1.1, 1.3, -0.6, 0.9, 0.2)
UR5_SOLUTIONS = np.array(
    [
        [-2.389769060847, -2.342679258919, -1.276953370347, 0.807715971720, 1.912295712930, -3.084500499020],
        [-2.389769060847, -2.055429446370, -1.272971271271, -2.625108593494, -1.912295712930, 0.057092154570],
        [-2.389769060847, 2.723018424889, 1.276953370347, -0.528703145603, 1.912295712930, -3.084500499020],
        [-2.389769060847, 3.014003443208, 1.272971271271, 2.325886588744, -1.912295712930, 0.057092154570],
        [0.400000000000, -1.100000000000, 1.300000000000, -0.600000000000, 0.900000000000, 0.200000000000],
        [0.400000000000, -0.787884096179, 1.249733273101, 2.279743476667, -0.900000000000, -2.941592653590],
        [0.400000000000, 0.139090861971, -1.300000000000, 0.760909138029, 0.900000000000, 0.200000000000],
        [0.400000000000, 0.404056824940, -1.249733273101, -2.695916205428, -0.900000000000, -2.941592653590],
    ]
)
PUMA_SOLUTIONS = np.array(
    [
        [0.400000000000, -1.100000000000, 1.300000000000, -0.600000000000, 0.900000000000, 0.200000000000],
        [0.400000000000, -1.100000000000, 1.300000000000, 2.541592653590, -0.900000000000, -2.941592653590],
        [0.400000000000, 1.730707321326, 1.935548486286, -2.323694722790, 2.490406070667, -2.639880435483],
        [0.400000000000, 1.730707321326, 1.935548486286, 0.817897930800, -2.490406070667, 0.501712218107],
        [1.827643936415, -2.041592653590, 1.935548486286, -1.899396869029, 1.032142309282, -0.042788123457],
        [1.827643936415, -2.041592653590, 1.935548486286, 1.242195784561, -1.032142309282, 3.098804530132],
        [1.827643936415, 1.410885332264, 1.300000000000, -1.449647827454, 2.182849432876, 2.720994565690],
        [1.827643936415, 1.410885332264, 1.300000000000, 1.691944826135, -2.182849432876, -0.420598087899],
    ]
)
