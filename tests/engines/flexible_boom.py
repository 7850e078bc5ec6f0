"""Two flexible booms of 6 m with worked numbers: the planar slew of a payload."""

import numpy as np
import zveno as zv

ELEMENTS, LENGTH, E, RHO, RADIUS, WALL = 32, 6.0, 70e9, 2700.0, 0.05, 0.002
AREA, INERTIA, D = 2 * np.pi * RADIUS * WALL, np.pi * RADIUS**3 * WALL, LENGTH / ELEMENTS
TORQUE = (120.0, -40.0)
# end of the last element at t = 2 s, q of both driven joints, by the damping of the first mode; exact to 1e-8
WORKED = {
    0.002: ((10.81793203, -0.35390238), (0.40705105, -0.89508935)),
    0.05: ((10.81846290, -0.35394895), (0.41016321, -0.89178794)),
}


def _body(length, lump):
    """Mass, centre and central inertia of an element along x, with a lump at its end."""
    m = RHO * AREA * length
    bend = m * length**2 / 12 + RHO * INERTIA * length
    own = np.diag([2 * RHO * INERTIA * length, bend, bend])
    if not lump:
        return m, (length / 2, 0, 0), own
    total = m + lump
    com = (m * length / 2 + lump * length) / total
    about = own + 2.0 * np.eye(3)
    for mass, at in ((m, length / 2), (lump, length)):
        about += mass * (at - com) ** 2 * np.diag([0.0, 1.0, 1.0])
    return total, (com, 0, 0), about


def two_booms(zeta, axis=(0, 0, 1)):
    """The chain, n = 66, and the length of its last element."""
    links, parent, before = [], "base", 0.0
    stiffness = E * INERTIA / D
    for boom, lump in (("upper", 5.0), ("lower", 20.0)):
        lengths = [D / 2] + [D] * (ELEMENTS - 1) + [D / 2]
        for k, length in enumerate(lengths):
            mass, com, inertia = _body(length, lump if k == ELEMENTS else 0.0)
            spring = (
                {"rotor_inertia": 0.5} if k == 0 else {"stiffness": stiffness, "friction": 2 * zeta / 17.6 * stiffness}
            )
            name = f"{boom}{k}"
            links.append(
                zv.Link(
                    name,
                    parent=parent,
                    axis=axis,
                    position=(before, 0, 0),
                    mass=mass,
                    com=com,
                    inertia=inertia,
                    **spring,
                )
            )
            parent, before = name, length
    return zv.Chain(links, gravity=(0, 0, 0), name="two booms"), before


def torques(arm, steps, end=2.0):
    """Efforts of every step of equal length: reversed after 1 s."""
    tau = np.zeros((steps, arm.n))
    t = (np.arange(steps) + 0.5) * end / steps
    tau[:, [0, ELEMENTS + 1]] = np.where(t < 1.0, 1.0, -1.0)[:, None] * np.array(TORQUE)
    return tau


def tip(arm, last, q):
    """End of the last element, (2,)."""
    pose = arm.pose(q, arm.link_names[-1])
    return (pose[:3, 3] + pose[:3, 0] * last)[:2]
