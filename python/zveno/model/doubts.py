"""What looks wrong about a hexapod but can be computed with: units, most of all. `Hexapod.suspicions` lists them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from .._check import Array
from .body import Body
from .leg import Leg

if TYPE_CHECKING:
    from .hexapod import Hexapod

__all__ = ["doubts"]

# a unit that is wrong by 1000 is found, what anybody builds is not
LARGEST_RADIUS: Final = 20.0  # m
LARGEST_GRAVITY: Final = 1000.0  # m/s^2
DENSEST: Final = 25e3  # kg/m^3; osmium has 22.6e3
GYRATION: Final = (0.01, 300.0)  # radius of gyration of the platform beside that of its hinges
CIRCLES: Final = 100.0  # radii of base and ring hinges beside each other
LONG: Final = 10.0  # ways, lengths and bodies of a leg beside its length
DRIVE: Final = {"m": 1e4, "rad": 1e3}  # what a drive adds beside the whole mechanism, screws and gears


def doubts(hexapod: Hexapod) -> list[tuple[str, str]]:
    """(name of the leg or "", text) of everything that is out of proportion."""
    found = [("", text) for text in _platform(hexapod)]
    mass = hexapod.platform.mass + sum(leg.mass for leg in hexapod.legs)
    nominal = hexapod.nominal
    angles = None if nominal is None else hexapod.closure(*nominal)
    for k, leg in enumerate(hexapod.legs):
        hinge = None if nominal is None else nominal[0] + nominal[1] @ leg.ring
        at = None if angles is None else float(angles[k, leg.actuated_index])
        found += [(str(leg.name), f"leg '{leg.name}': {text}") for text in _leg(leg, hinge, at, mass)]
    return found


def _platform(hexapod: Hexapod) -> list[str]:
    texts = []
    platform, radius = hexapod.platform, hexapod.radius
    if radius > LARGEST_RADIUS:
        texts.append(f"the ring hinges are {radius:.4g} m from the centre of mass: m are expected, not mm")
    gyration = math.sqrt(float(np.linalg.eigvalsh(platform.inertia)[-1]) / platform.mass)
    if not GYRATION[0] * radius <= gyration <= GYRATION[1] * radius:
        texts.append(
            f"inertia and mass of the platform make a radius of gyration of {gyration:.3g} m, its hinges are"
            f" {radius:.3g} m from the centre of mass: kg m^2 and m are expected"
        )
    # of all bodies with this mean square of the distance from the centre of mass a ball has the largest volume
    ball = math.sqrt(5 / 3 * float(np.trace(platform.inertia)) / 2 / platform.mass)
    if ball < (platform.mass / (4 / 3 * math.pi * DENSEST)) ** (1 / 3):
        with np.errstate(over="ignore", divide="ignore"):
            density = platform.mass / (4 / 3 * math.pi * np.float64(ball) ** 3)
        texts.append(
            f"a platform of {platform.mass:.4g} kg with this inertia has a density of at least {density:.2g} kg/m^3,"
            " more than any material: kg and kg m^2 are expected"
        )
    bases = [leg.base for leg in hexapod.legs if leg.base is not None]
    if len(bases) == 6:
        points = np.array(bases)
        base = float(np.linalg.norm(points - points.mean(axis=0), axis=1).mean())
        if not radius / CIRCLES <= base <= radius * CIRCLES:
            texts.append(f"base hinges are on a radius of {base:.3g} m, ring hinges on {radius:.3g} m: m are expected")
    gravity = float(np.linalg.norm(hexapod.gravity))
    if gravity > LARGEST_GRAVITY:
        texts.append(f"gravity is {gravity:.4g} m/s^2")
    return texts


def _leg(leg: Leg, hinge: Array | None, at: float | None, mass: float) -> list[str]:
    """`hinge`: on the ring in the nominal pose, base axes; `at`: actuated coordinate there; `mass`: of everything."""
    texts = []
    drive = leg.joint_names[leg.actuated_index]
    way = leg.upper - leg.lower
    if leg.unit == "rad" and math.isfinite(way) and way > 8 * math.pi:
        texts.append(f"{drive} may turn by {way:.4g} rad: radians are expected, not degrees")
    size = 0.0
    if leg.base is not None:
        length = leg.inner_length + (leg.outer_length or 0.0)
        distance = length if hinge is None else float(np.linalg.norm(hinge - leg.base))
        size = max(length, distance)
        if leg.traits.gough and math.isfinite(way) and way > LONG * size:
            texts.append(f"{drive} may move by {way:.4g} m, the leg is {size:.3g} m long: m are expected")
        if leg.traits.gough and length > LONG * distance:
            texts.append(f"its bodies are {length:.4g} m long, its hinges {distance:.3g} m apart: m are expected")
        words = ("crank", "coupler") if leg.traits.hunt else ("housing", "rod")
        for word, body in zip(words, (leg.inner, leg.outer), strict=True):
            if body is not None:
                texts += _body(word, body, size)
        if leg.reflected > DRIVE[leg.unit] * mass * (size**2 if leg.traits.hunt else 1.0):
            unit = "kg m^2" if leg.traits.hunt else "kg"
            texts.append(f"its drive adds {leg.reflected:.3g} {unit} to a mechanism of {mass:.3g} kg")
    if at is not None and leg.unit == "rad":  # a turn more or less is the same angle
        turns = ((leg.lower + leg.upper) / 2 - at) / (2 * math.pi)
        at = at + 2 * math.pi * round(turns) if math.isfinite(way) else None
    slack = 1e-9 * max(1.0, size)
    if at is not None and not leg.lower - slack <= at <= leg.upper + slack:
        texts.append(
            f"{drive} is {round(at, 12) + 0.0:.4g} {leg.unit} in the nominal pose, outside its limits"
            f" {leg.lower:.4g} to {leg.upper:.4g} {leg.unit}: limits are those of the joint coordinate"
        )
    return texts


def _body(word: str, body: Body, size: float) -> list[str]:
    texts = []
    away = float(np.linalg.norm(body.com))
    if away > LONG * size:
        texts.append(f"com of its {word} is {away:.4g} m away, the leg is {size:.3g} m long: m are expected")
    largest = float(np.linalg.eigvalsh(body.inertia)[-1])
    if body.mass > 0 and largest > body.mass * (LONG * size) ** 2:
        gyration = math.sqrt(largest / body.mass)
        texts.append(
            f"inertia and mass of its {word} make a radius of gyration of {gyration:.3g} m, the leg is {size:.3g} m"
            " long: kg m^2 are expected"
        )
    return texts
