"""Closed mechanisms with known numbers: four-bar, slider-crank, five-bar, Peaucellier, RSSR, Bennett, delta robot."""

import numpy as np
import zveno as zv

Z = (0, 0, 1)


def Rx(a):
    return np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])


def Rz(a):
    return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])


def slender(m, size):
    """Inertia of a rod along x."""
    across = m * size * size / 12 + 0.002 * m
    return 0.002 * m, across, across


def bar(name, parent, position, size, m, dy=0.0, dz=0.0):
    com = (size / 2, dy, dz)
    return zv.Link(name, parent=parent, axis=Z, position=position, mass=m, com=com, inertia=slender(m, size))


def hinge(a, b, pa, pb):
    return zv.Loop.revolute(a, b, point_a=(pa, 0, 0), point_b=(pb, 0, 0), axis_a=Z, axis_b=Z)


def planar(links, loops):
    return zv.Linkage(zv.Chain(links, gravity=(0, -9.81, 0)), loops, length=1.0)


def four_bar(ground=1.0, sizes=(0.3, 0.9, 0.7), length=1.0):
    a, b, c = sizes
    links = [
        bar("crank", "base", (0, 0, 0), a, 1.0, 0.01, 0.02),
        bar("coupler", "crank", (a, 0, 0), b, 2.5, 0.03, -0.02),
        bar("rocker", "base", (ground, 0, 0), c, 1.8, -0.02, 0.01),
    ]
    return zv.Linkage(zv.Chain(links, gravity=(0, -9.81, 0)), [hinge("coupler", "rocker", b, c)], length=length)


def slider_crank():
    slider = zv.Link("slider", parent="base", joint="prismatic", axis=(1, 0, 0), position=(0, 0.05, 0), mass=1.5,
                     com=(0.02, 0.01, 0), inertia=(0.004, 0.005, 0.006))  # fmt: skip
    links = [
        bar("crank", "base", (0, 0, 0), 0.2, 1.2, 0.005, 0.01),
        bar("rod", "crank", (0.2, 0, 0), 0.55, 0.8, 0, -0.015),
        slider,
    ]
    return planar(links, [hinge("rod", "slider", 0.55, 0)])


def five_bar_links():
    return [
        bar("left1", "base", (0, 0, 0), 0.4, 1.1, 0.01),
        bar("left2", "left1", (0.4, 0, 0), 0.6, 0.9, -0.01),
        bar("right1", "base", (0.5, 0, 0), 0.35, 1.3, 0, 0.02),
        bar("right2", "right1", (0.35, 0, 0), 0.65, 0.7, 0.02),
    ]


def five_bar():
    return planar(five_bar_links(), [hinge("left2", "right2", 0.6, 0.65)])


def peaucellier():
    links = [
        bar("crank", "base", (0.35, 0, 0), 0.35, 0.5),
        bar("b1", "crank", (0.35, 0, 0), 0.4, 0.4),
        bar("b2", "crank", (0.35, 0, 0), 0.4, 0.4),
        bar("long1", "base", (0, 0, 0), 1, 1.0),
        bar("long2", "base", (0, 0, 0), 1, 1.0),
        bar("p1", "long1", (1, 0, 0), 0.4, 0.4),
        bar("p2", "long2", (1, 0, 0), 0.4, 0.4),
    ]
    return planar(links, [hinge("b1", "long1", 0.4, 1), hinge("b2", "long2", 0.4, 1), hinge("p1", "p2", 0.4, 0.4)])


def rssr():
    L = zv.Link
    links = [
        L("crank", parent="base", axis=Z, mass=1.0, com=(0.05, 0.01, 0), inertia=(0.002, 0.004, 0.005)),
        L("s1", parent="crank", axis=Z, position=(0.12, 0, 0)),
        L("s2", parent="s1", axis=(0, 1, 0)),
        L("coupler", parent="s2", axis=(1, 0, 0), mass=1.6, com=(0.6, 0.02, -0.01), inertia=(0.003, 0.19, 0.192)),
        L("rocker", parent="base", axis=(1, 0, 0), position=(0.9, 0.5, 0.1), mass=1.3, com=(0, 0.2, 0.03),
          inertia=(0.03, 0.004, 0.031)),
    ]  # fmt: skip
    loop = zv.Loop.spherical("coupler", "rocker", point_a=(1.18, 0, 0), point_b=(0.05, 0.45, 0))
    return zv.Linkage(zv.Chain(links, gravity=(0, 0, -9.81)), [loop], length=1.0)


def bennett():
    al, be, a = np.radians(40), np.radians(70), 0.5
    b = a * np.sin(be) / np.sin(al)

    def link(name, parent, x, turn, m, size):
        place = {"position": (x, 0, 0), "rotation": Rx(turn)}
        return zv.Link(name, parent=parent, axis=Z, **place, mass=m, com=(size / 2, 0, 0), inertia=slender(m, size))

    links = [
        link("l1", "base", 0, 0, 1.0, a),
        link("l2", "l1", a, al, 1.5, b),
        link("l3", "l2", b, be, 1.0, a),
    ]
    loop = zv.Loop.revolute("l3", "base", point_a=(a, 0, 0), axis_a=Rx(al) @ Z, point_b=(-b, 0, 0), axis_b=Rx(be).T @ Z)
    return zv.Linkage(zv.Chain(links, gravity=(0, 0, -9.81)), [loop], length=1.0)


def delta():
    links, loops = [], []
    for k in range(3):
        R = Rz(2 * np.pi * k / 3)
        place = {"position": R @ (0.2, 0, 0), "rotation": R}
        body = {"mass": 0.6 + 0.1 * k, "com": (0.14, 0, 0.005), "inertia": (0.0005, 0.005, 0.005)}
        arm = f"arm{k + 1}"
        links.append(zv.Link(arm, parent="base", axis=(0, 1, 0), **place, **body))
        for side, y in (("l", 0.05), ("r", -0.05)):
            at = {"point_a": (0.3, y, 0), "point_b": R @ (0.06, y, 0)}
            loops.append(zv.Loop.distance(arm, "platform", **at, length=0.7, name=f"{k + 1}{side}"))
    E = np.eye(3)
    parent = "base"
    for k, name in enumerate(("px", "py", "pz")):
        links.append(zv.Link(name, parent=parent, joint="prismatic", axis=E[k]))
        parent = name
    for k, name in enumerate(("rx", "ry")):
        links.append(zv.Link(name, parent=parent, axis=E[k]))
        parent = name
    links.append(
        zv.Link("platform", parent="ry", axis=Z, mass=0.4, com=(0.004, -0.002, -0.01), inertia=(0.0006, 0.0007, 0.001))
    )
    return zv.Linkage(zv.Chain(links, gravity=(0, 0, -9.81)), loops, length=1.0)


def sarrus():
    def link(name, parent, axis, position):
        return zv.Link(name, parent=parent, axis=axis, position=position, mass=1.0, com=(0.1, 0.05, 0.1), inertia=0.01)

    x, y = (1, 0, 0), (0, 1, 0)
    links = [
        link("a1", "base", y, (0.3, 0, 0)),
        link("a2", "a1", y, (0.3, 0, 0.3)),
        link("top", "a2", y, (-0.3, 0, 0.3)),
        link("b1", "base", x, (0, 0.4, 0)),
        link("b2", "b1", x, (0, 0.25, 0.3)),
    ]
    loop = zv.Loop.revolute("b2", "top", point_a=(0, -0.25, 0.3), point_b=(-0.3, 0.4, 0), axis_a=x, axis_b=x)
    return zv.Linkage(zv.Chain(links), [loop], length=1.0)


def gough():
    """Six legs U + P, a platform on 3 P + 3 R, six spherical loops."""
    links, loops = [], []
    E = np.eye(3)
    for k in range(6):
        a = np.pi / 3 * (k + (0.3 if k % 2 else -0.3))
        p, s = 0.6 * np.array([np.cos(a), np.sin(a), 0]), np.pi / 3 * (k + (-0.25 if k % 2 else 0.25))
        links += [
            zv.Link(f"u{k}", parent="base", axis=E[0], position=p),
            zv.Link(f"v{k}", parent=f"u{k}", axis=E[1], mass=1.0, com=(0, 0, 0.2), inertia=0.01),
            zv.Link(f"p{k}", parent=f"v{k}", joint="prismatic", axis=E[2], mass=0.5, com=(0, 0, -0.1), inertia=0.01),
        ]
        at = 0.4 * np.array([np.cos(s), np.sin(s), 0])
        loops.append(zv.Loop.spherical(f"p{k}", "platform", point_b=at, name=f"leg{k}"))
    parent = "base"
    for k, name in enumerate(("x", "y", "z")):
        links.append(zv.Link(name, parent=parent, joint="prismatic", axis=E[k]))
        parent = name
    for k, name in enumerate(("rx", "ry")):
        links.append(zv.Link(name, parent=parent, axis=E[k]))
        parent = name
    links.append(zv.Link("platform", parent=parent, axis=Z, mass=5.0, com=(0, 0, 0.05), inertia=(0.1, 0.1, 0.2)))
    return zv.Linkage(zv.Chain(links), loops, length=1.0)


def four_bar_cut(where):
    """The four-bar of the known numbers with its loop cut elsewhere; link frames stand at the joints of the tree."""
    Z = (0, 0, 1)
    data = {"crank": (0.3, 1.0, 0.01, 0.02), "coupler": (0.9, 2.5, 0.03, -0.02), "rocker": (0.7, 1.8, -0.02, 0.01)}

    def link(name, parent, position, flipped=False):
        size, m, dy, dz = data[name]
        com = (-size / 2 if flipped else size / 2, dy, dz)  # flipped: the origin is at the far end
        inertia = slender(m, size)
        return zv.Link(name, parent=parent, axis=Z, position=position, mass=m, com=com, inertia=inertia)

    if where == "crank-ground":
        # from the rocker's side: the crank hangs on the coupler, its drive acts in the cut
        links = [
            link("rocker", "base", (1, 0, 0)),
            link("coupler", "rocker", (0.7, 0, 0), flipped=True),
            link("crank", "coupler", (-0.9, 0, 0), flipped=True),
        ]
        loop = zv.Loop.revolute("base", "crank", point_b=(-0.3, 0, 0))
    elif where == "coupler-rocker":
        links = [
            link("crank", "base", (0, 0, 0)),
            link("coupler", "crank", (0.3, 0, 0)),
            link("rocker", "base", (1, 0, 0)),
        ]
        loop = zv.Loop.revolute("coupler", "rocker", point_a=(0.9, 0, 0), point_b=(0.7, 0, 0))
    else:
        links = [
            link("crank", "base", (0, 0, 0)),
            link("coupler", "crank", (0.3, 0, 0)),
            link("rocker", "coupler", (0.9, 0, 0), flipped=True),
        ]
        loop = zv.Loop.revolute("rocker", "base", point_a=(-0.7, 0, 0), point_b=(1, 0, 0))
    return zv.Linkage(zv.Chain(links, gravity=(0, -9.81, 0)), [loop], length=1.0)
