"""A tree of five links with worked numbers: state, weights, torques."""

import numpy as np
import zveno as zv

PLACES = [  # parent, joint, phi, alpha, position
    ("base", "revolute", 0.2, 0.3, (0, 0, 0.3)),
    ("1", "revolute", 0, -1.2, (0.25, 0.05, -0.1)),
    ("2", "prismatic", 0, 0.9, (0.4, -0.1, 0.05)),
    ("2", "revolute", 0.8, 1.5, (0.1, 0.3, 0.2)),
    ("4", "revolute", 0, -0.7, (0.35, 0, 0.15)),
]
BODIES = [  # mass, com, inertia xx yy zz xy xz yz about it
    (4, (0.02, -0.03, 0.12), (0.08, 0.07, 0.05, 0.004, -0.003, 0.002)),
    (3, (0.15, 0.04, -0.02), (0.03, 0.06, 0.05, -0.002, 0.003, 0.001)),
    (1.5, (0.05, 0.02, 0.1), (0.012, 0.011, 0.006, 0.001, 0.0005, -0.0008)),
    (2, (0.12, -0.06, 0.03), (0.02, 0.024, 0.018, 0.002, -0.001, 0.0015)),
    (1, (0.08, 0.05, -0.04), (0.006, 0.007, 0.005, 0.0004, 0.0003, -0.0002)),
]
DRIVES = [  # rotor inertia, friction, stiffness, rest
    (0.2, 0.3, 0, 0),
    (0.1, 0.25, 40, 0.1),
    (0.05, 0.2, 300, -0.05),
    (0.02, 0.1, 15, 0.2),
    (0.01, 0.05, 8, 0),
]

Q = np.array([0.4, -0.7, 0.15, 1.1, -0.5])
QD = np.array([0.6, -0.9, 0.35, 1.3, 0.8])
QDD = np.array([1.1, 0.7, -0.8, -1.5, 2])
NU = np.array([0.5, -1, 0.8, 0.3, -0.6])


def _placed(phi, alpha):
    c, s = np.cos(phi), np.sin(phi)
    C, S = np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, C, -S], [0, S, C]])


def worked_tree():
    """The tree as a chain."""
    links = []
    for k, (place, body, drive) in enumerate(zip(PLACES, BODIES, DRIVES, strict=True), 1):
        parent, joint, phi, alpha, position = place
        mass, com, (xx, yy, zz, xy, xz, yz) = body
        links.append(
            zv.Link(
                str(k),
                parent=parent,
                joint=joint,
                axis=(0, 0, 1),
                position=position,
                rotation=_placed(phi, alpha),
                mass=mass,
                com=com,
                inertia=[[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]],
                **dict(zip(("rotor_inertia", "friction", "stiffness", "rest"), drive, strict=True)),
            )
        )
    return zv.Chain(links, gravity=(0.5, -1, -9.6), name="worked")
