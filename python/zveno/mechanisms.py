"""Parallel mechanisms, ready to use. Where data are made up, the docstring and the ``note`` say so."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ._check import Array, _show, as_flag
from ._rotation import about_axis, applied, length
from .errors import ModelError
from .model import Body, Chain, Hexapod, Leg, Link, Linkage, Loop
from .model.frames import last_link
from .model.leg import STANDARD

__all__ = ["docking_ring", "four_bar"]

_BASE_RADIUS, _RING_RADIUS = 0.64, 0.60


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

    def bar(name: str, parent: str, x: float, size: float, mass: float, dy: float, dz: float) -> Link:
        slender, thin = mass * size * size / 12, 0.002 * mass
        return Link(
            name,
            parent=parent,
            position=(x, 0, 0),
            mass=mass,
            com=(size / 2, dy, dz),
            inertia=(thin, slender + thin, slender + thin),
        )

    links = [
        bar("crank", "base", 0.0, 0.3, 1.0, 0.01, 0.02),
        bar("coupler", "crank", 0.3, 0.9, 2.5, 0.03, -0.02),
        bar("rocker", "base", 1.0, 0.7, 1.8, -0.02, 0.01),
    ]
    loop = Loop.revolute("coupler", "rocker", point_a=(0.9, 0, 0), point_b=(0.7, 0, 0))
    return Linkage(Chain(links, gravity=(0, -9.81, 0), name="four_bar"), [loop], length=1.0)
