"""Parallel mechanisms, ready to use. Where data are made up, the docstring and the ``note`` say so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ._check import Array, _show, as_flag
from ._rotation import about_axis, applied, length
from .errors import ModelError
from .model import Body, Chain, Hexapod, Leg, Link, Linkage, Loop
from .model.frames import last_link
from .model.leg import STANDARD

__all__ = [
    "delta_robot",
    "docking_ring",
    "excavator",
    "five_bar",
    "four_bar",
    "pantograph_leg",
    "peaucellier",
    "slider_crank",
]

_BASE_RADIUS, _RING_RADIUS = 0.64, 0.60
Place: TypeAlias = tuple[float, float, float]


def docking_ring(kind: str, *, gravity: ArrayLike = (0.0, 0.0, 0.0), reflected: bool = True) -> Hexapod:
    """Soft-capture ring of a peripheral docking mechanism, 1.2 m class, on six equal legs. Data are made up.

    x is the docking axis in base and ring axes. Base hinges are on a circle of 0.64 m about x, ring hinges on one of
    0.60 m in the plane of the ring's centre of mass, in three pairs that are 120 degrees apart.

    Parameters
    ----------
    kind : {"UPS", "SPU", "UCU", "RUS", "RSU"}
        Type of the legs. UPS, SPU, UCU: electromechanical struts 0.499 m long at r = (0.38, 0, 0) m, stroke
        -0.13 to 0.15 m. RUS, RSU: cranks of 0.26 m and couplers of 0.42 m at r = (0.40, 0, 0) m, crank angle -0.85 to
        0.45 rad about that of the nominal pose.
    gravity : (3,) array, m/s^2
        In base axes; default zero.
    reflected : bool
        With the inertia of the drives: 9.87 kg seen by a stroke (rotor 1e-4 kg m^2, lead 20 mm), 0.15 kg m^2 by a
        crank.

    Returns
    -------
    hexapod : Hexapod
        Ring of 45 kg; the nominal pose is the one above.

    Notes
    -----
    Masses, inertias, hinge radii and link lengths are plausible choices, not published data. The structures are those
    of Golubev & Yaskevich.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> for legs in ("UPS", "SPU", "UCU", "RUS", "RSU"):
    ...     print(zv.mechanisms.docking_ring(legs))
    Hexapod 'docking_ring UPS': 6 UPS legs, 45.0 kg ring, 39.0 kg legs (made-up data)
    Hexapod 'docking_ring SPU': 6 SPU legs, 45.0 kg ring, 39.0 kg legs (made-up data)
    Hexapod 'docking_ring UCU': 6 UCU legs, 45.0 kg ring, 39.0 kg legs (made-up data)
    Hexapod 'docking_ring RUS': 6 RUS legs, 45.0 kg ring, 24.0 kg legs (made-up data)
    Hexapod 'docking_ring RSU': 6 RSU legs, 45.0 kg ring, 24.0 kg legs (made-up data)
    """
    if not isinstance(kind, str) or kind not in STANDARD:
        raise ModelError(f"docking_ring: kind is {_show(kind)}, expected 'UPS', 'SPU', 'UCU', 'RUS' or 'RSU'")

    def fail(text: str) -> NoReturn:
        raise ModelError(f"docking_ring: {text}")

    reflected = as_flag(reflected, fail, "reflected")
    hunt = STANDARD[kind].hunt
    r = np.array([0.40 if hunt else 0.38, 0.0, 0.0])
    apart = math.radians(10 if hunt else 15)
    legs: list[Leg] = []
    for i in range(3):
        for sign in (1, -1):
            middle = i * 2 * math.pi / 3
            base = _on_circle(_BASE_RADIUS, middle + sign * apart)
            ring = _on_circle(_RING_RADIUS, middle + sign * (math.pi / 3 - apart))
            leg = f"leg{len(legs) + 1}"
            if hunt:
                legs.append(_hunt(kind, base, ring, r, math.radians(4 * sign), leg, reflected))
            else:
                legs.append(_strut(kind, base, ring, r, leg, reflected))
    made = Hexapod(Body(45.0, (15.5, 8.2, 8.2)), legs, nominal=r, gravity=gravity, name=f"docking_ring {kind}")
    return made._noted("made-up data")


def _on_circle(radius: float, angle: float) -> Array:
    return radius * np.array([0.0, math.cos(angle), math.sin(angle)])


def _strut(kind: str, base: Array, ring: Array, r: Array, name: str, reflected: bool) -> Leg:
    """Gough-Stewart leg; every frame is the default of `Hexapod`."""
    make: Callable[..., Leg] = getattr(Leg, kind.lower())
    housing_length = 0.25
    rod_length = length(r + ring - base) - housing_length
    return make(
        base,
        ring,
        housing=Body.cylinder(4.0, 0.030, 0.30),
        rod=Body.cylinder(2.5, 0.018, 0.28, start=rod_length - 0.28),
        housing_length=housing_length,
        rod_length=rod_length,
        rotor_inertia=1e-4 if reflected else 0.0,
        lead=0.020,
        lower=-0.13,
        upper=0.15,
        name=name,
    )


def _hunt(kind: str, base: Array, ring: Array, r: Array, slew: float, name: str, reflected: bool) -> Leg:
    """Hunt leg: crank nearly at right angles to the axis, `slew` (rad) from the chord of the hinges, coupler steep."""
    make: Callable[..., Leg] = getattr(Leg, kind.lower())
    chord = (ring - base) / length(ring - base)
    x = applied(about_axis(0, slew), chord)
    z = np.array([-1.0, 0.0, 0.0])
    fields: dict[str, Any] = {
        "crank": Body.cylinder(2.2, 0.030, 0.26),
        "coupler": Body.cylinder(1.8, 0.018, 0.42),
        "crank_length": 0.26,
        "coupler_length": 0.42,
        "base_frame": np.column_stack([x, np.cross(z, x), z]),
        "elbow": -1,
        "rotor_inertia": 0.15 if reflected else 0.0,
        "name": name,
    }
    _, angles = last_link(make(base, ring, **fields), r + ring)
    return make(base, ring, lower=angles[0] - 0.85, upper=angles[0] + 0.45, **fields)


def four_bar() -> Linkage:
    """Planar four-bar: crank 0.3 m, coupler 0.9 m, rocker 0.7 m on a ground of 1 m, a crank-rocker. Data are made up.

    Joints are about z, gravity is along -y; centres of mass are off the plane, so that the bearings carry moments. The
    loop is closed between coupler and rocker.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.mechanisms.four_bar().chain
    Chain 'four_bar': 3 joints (3 revolute), 3 links, 5.3 kg
    """

    links = [
        _bar("crank", "base", 0.0, 0.3, 1.0, 0.01, 0.02),
        _bar("coupler", "crank", 0.3, 0.9, 2.5, 0.03, -0.02),
        _bar("rocker", "base", 1.0, 0.7, 1.8, -0.02, 0.01),
    ]
    return _planar("four_bar", links, [_pin("coupler", "rocker", 0.9, 0.7)])


def slider_crank() -> Linkage:
    """Planar slider-crank: crank 0.2 m, rod 0.55 m, slider along x, 0.05 m beside the crank's axis. Data are made up.

    Joints are about z, gravity is along -y; the loop is closed between rod and slider.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> engine = zv.mechanisms.slider_crank()
    >>> q = engine.close([0.7, -0.8, 0.7], hold=["crank_joint"])
    >>> print(round(q[2] - (0.2 * np.cos(0.7) + np.sqrt(0.55**2 - (0.2 * np.sin(0.7) - 0.05) ** 2)), 12) + 0.0)
    0.0
    """
    slider = Link(
        "slider",
        parent="base",
        joint="prismatic",
        axis=(1, 0, 0),
        position=(0, 0.05, 0),
        mass=1.5,
        inertia=(0.004, 0.005, 0.006),
    )
    links = [_bar("crank", "base", 0.0, 0.2, 1.2), _bar("rod", "crank", 0.2, 0.55, 0.8), slider]
    return _planar("slider_crank", links, [_pin("rod", "slider", 0.55, 0.0)])


def five_bar() -> Linkage:
    """Planar five-bar of two degrees of freedom, driven by two cranks half a metre apart. Data are made up.

    Left bars of 0.4 and 0.6 m, right ones of 0.35 and 0.65 m, joints about z, gravity along -y.

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.mechanisms.five_bar()
    >>> arm.mobility(arm.close([2.0, -1.2, 1.0, 1.3])).degrees
    2
    """
    links = [
        _bar("left1", "base", 0.0, 0.4, 1.1),
        _bar("left2", "left1", 0.4, 0.6, 0.9),
        _bar("right1", "base", 0.5, 0.35, 1.3),
        _bar("right2", "right1", 0.35, 0.65, 0.7),
    ]
    return _planar("five_bar", links, [_pin("left2", "right2", 0.6, 0.65)])


def pantograph_leg() -> Linkage:
    """Planar pantograph leg of a walking machine: two drives at the hip, the foot copies the knee. Data are made up.

    A parallelogram of thigh 0.40 m, upper shank 0.10 m, its two opposite sides, and the shank drawn out to 0.5 m: the
    foot, at x = 0.5 m of link "shank", moves as the far end of "lever" does, five times as far, about the hip.
    Joints about z, gravity along -y.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> leg = zv.mechanisms.pantograph_leg()
    >>> q = leg.close([-0.9, -0.9, -2.2, 1.3], hold=["thigh_joint", "lever_joint"])
    >>> leg.mobility(q).degrees
    2
    >>> foot = leg.chain.pose(q, "shank") @ [0.5, 0, 0, 1]
    >>> lever, hip = leg.chain.pose(q, "lever")[:2, :2] @ [0.1, 0], np.array([np.cos(-0.9), np.sin(-0.9)])
    >>> np.allclose(foot[:2], 5 * lever + 0.4 * hip)
    True
    """
    links = [
        _bar("thigh", "base", 0.0, 0.4, 1.6),
        _bar("shank", "thigh", 0.4, 0.5, 0.9),
        _bar("lever", "base", 0.0, 0.1, 0.3),
        _bar("rod", "lever", 0.1, 0.4, 0.5),
    ]
    return _planar("pantograph_leg", links, [_pin("rod", "shank", 0.4, 0.1)])


def peaucellier() -> Linkage:
    """Peaucellier's inversor: the common point of links p1 and p2 runs on the straight line x = 1.2 m.

    Joints are about z, gravity is along -y. Data are made up.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> inversor = zv.mechanisms.peaucellier()
    >>> q = inversor.close([0.6, 0.45, -1.05, 0.58, 0.02, -1.02, 1.02], hold=["crank_joint"])
    >>> pen = inversor.chain.pose(q, "p1") @ [0.4, 0, 0, 1]
    >>> print(pen[0].round(12))
    1.2
    """
    links = [
        _bar("crank", "base", 0.35, 0.35, 0.5),
        _bar("b1", "crank", 0.35, 0.4, 0.4),
        _bar("b2", "crank", 0.35, 0.4, 0.4),
        _bar("long1", "base", 0.0, 1.0, 1.0),
        _bar("long2", "base", 0.0, 1.0, 1.0),
        _bar("p1", "long1", 1.0, 0.4, 0.4),
        _bar("p2", "long2", 1.0, 0.4, 0.4),
    ]
    loops = [_pin("b1", "long1", 0.4, 1.0), _pin("b2", "long2", 0.4, 1.0), _pin("p1", "p2", 0.4, 0.4)]
    return _planar("peaucellier", links, loops)


def delta_robot() -> Linkage:
    """Delta robot: three arms of 0.3 m on a circle of 0.2 m, six massless rods of 0.7 m, a platform. Data are made up.

    The platform, below the base, moves in parallel to it. Its coordinates are three slides and three turns; z is up.

    Examples
    --------
    >>> import zveno as zv
    >>> delta = zv.mechanisms.delta_robot()
    >>> q = delta.close([0, 0, 0, 0, 0, -0.55, 0, 0, 0])
    >>> delta.mobility(q).degrees
    3
    """
    links, loops = [], []
    for k in range(3):
        turn = about_axis(2, 2 * math.pi * k / 3)
        arm = Link(
            f"arm{k + 1}",
            parent="base",
            axis=(0, 1, 0),
            position=applied(turn, np.array([0.2, 0, 0])),
            rotation=turn,
            mass=0.6,
            com=(0.14, 0, 0),
            inertia=(0.0005, 0.005, 0.005),
        )
        links.append(arm)
        for side, y in (("left", 0.05), ("right", -0.05)):
            loops.append(
                Loop.distance(
                    arm.name,
                    "platform",
                    point_a=(0.3, y, 0),
                    point_b=applied(turn, np.array([0.06, y, 0])),
                    length=0.7,
                    name=f"{side} rod of {arm.name}",
                )
            )
    parent = "base"
    for kind, name, axis in (("prismatic", "p", 0), ("prismatic", "p", 1), ("prismatic", "p", 2), ("revolute", "r", 0),
                             ("revolute", "r", 1)):  # fmt: skip
        links.append(Link(f"{name}{'xyz'[axis]}", parent=parent, joint=kind, axis=np.eye(3)[axis]))
        parent = links[-1].name
    links.append(Link("platform", parent=parent, axis=(0, 0, 1), mass=0.4, inertia=(0.0006, 0.0007, 0.001)))
    return Linkage(Chain(links, gravity=(0, 0, -9.81), name="delta_robot"), loops, length=1.0)


def excavator() -> Linkage:
    """Excavator of 20 t: house, boom, stick, bucket, three hydraulic cylinders, rocker and link of the bucket.

    Four degrees of freedom, four planar loops. Joints of the arm are about -y: positive angles lift; x is forward, z
    up. Coordinates of the rods (``boom_rod_joint`` ...) are lengths of the cylinders. Data are made up.

    Examples
    --------
    >>> import zveno as zv
    >>> digger = zv.mechanisms.excavator()
    >>> guess = [0, 0.6, -1.8, -0.8, 0.9, 1.6, 0.1, 2.0, 0.1, 1.9, 1.5, -1.5]
    >>> q = digger.close(guess, hold=["boom_joint", "stick_joint"])
    >>> digger.mobility(q).degrees
    4
    """
    up = (0, -1, 0)

    def arm(name: str, parent: str, position: Place, mass: float, com: tuple[float, ...], size: float) -> Link:
        across = mass * size * size / 12
        inertia = (0.05 * across, across, across)
        return Link(name, parent=parent, axis=up, position=position, mass=mass, com=com, inertia=inertia)

    def cylinder(name: str, parent: str, position: Place, size: float) -> list[Link]:
        barrel = arm(f"{name}_barrel", parent, position, 90.0, (0.5 * size, 0, 0), size)
        rod = Link(
            f"{name}_rod",
            parent=barrel.name,
            joint="prismatic",
            axis=(1, 0, 0),
            mass=60.0,
            com=(-0.4 * size, 0, 0),
            inertia=(0.5, 5.0 * size, 5.0 * size),
        )
        return [barrel, rod]

    links = [
        Link("house", parent="base", axis=(0, 0, 1), mass=9000.0, com=(-0.6, 0, 1.1), inertia=(9e3, 1.2e4, 1.5e4)),
        arm("boom", "house", (0.3, 0, 1.6), 1500.0, (2.4, 0, 0.3), 5.2),
        arm("stick", "boom", (5.2, 0, 0), 800.0, (0.9, 0, 0.05), 2.9),
        arm("bucket", "stick", (2.7, 0, 0), 600.0, (0.5, 0, -0.2), 1.4),
        *cylinder("boom", "house", (0.9, 0, 1.0), 1.6),
        *cylinder("stick", "boom", (2.3, 0, 1.0), 1.8),
        *cylinder("bucket", "stick", (0.3, 0, 0.5), 1.5),
        arm("rocker", "stick", (2.3, 0, 0), 40.0, (0.25, 0, 0), 0.5),
        arm("link", "rocker", (0.5, 0, 0), 40.0, (0.25, 0, 0), 0.5),
    ]

    def pin(a: str, b: str, point_a: Place, point_b: Place) -> Loop:
        return Loop.revolute(a, b, point_a=point_a, point_b=point_b, axis_a=up, axis_b=up)

    loops = [
        pin("boom_rod", "boom", (0, 0, 0), (2.3, 0, 0.35)),
        pin("stick_rod", "stick", (0, 0, 0), (-0.7, 0, 0.3)),
        pin("bucket_rod", "rocker", (0, 0, 0), (0.5, 0, 0)),
        pin("link", "bucket", (0.5, 0, 0), (0.05, 0, 0.42)),
    ]
    return Linkage(Chain(links, gravity=(0, 0, -9.81), name="excavator"), loops)


def _bar(name: str, parent: str, x: float, size: float, mass: float, dy: float = 0.0, dz: float = 0.0) -> Link:
    """A slender bar along x that turns about z, hinged at x of its parent."""
    slender, thin = mass * size * size / 12, 0.002 * mass
    return Link(
        name,
        parent=parent,
        position=(x, 0, 0),
        mass=mass,
        com=(size / 2, dy, dz),
        inertia=(thin, slender + thin, slender + thin),
    )


def _pin(a: str, b: str, x_a: float, x_b: float) -> Loop:
    return Loop.revolute(a, b, point_a=(x_a, 0, 0), point_b=(x_b, 0, 0))


def _planar(name: str, links: list[Link], loops: list[Loop]) -> Linkage:
    return Linkage(Chain(links, gravity=(0, -9.81, 0), name=name), loops, length=1.0)
