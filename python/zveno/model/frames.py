"""What a leg leaves open and `Hexapod` chooses: frames and the length of the rod, from the nominal pose."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from .._check import Array, Fail, as_amount, frozen, told_apart
from .._rotation import IDENTITY, about_axis, applied, dot, length, nearest_rotation, product
from .leg import FRAMES, Leg, leg_fail

__all__ = ["NominalPose", "complete", "last_link"]


def _unit(vector: Array, scale: float) -> Array | None:
    """Direction of `vector`, or None if it is too short beside `scale` to have a certain one."""
    size = length(vector)
    return vector / size if size > 1e-6 * scale else None


def last_link(leg: Leg, hinge: Array) -> tuple[Array, Array]:
    """Orientation of the last link before its spin, local to base axes, and the angles that give it.

    Golubev & Yaskevich, (16)-(18) and (19)-(24). `leg` has its `base_frame`; `hinge` is the ring hinge in base
    axes.
    """
    assert leg.base is not None and leg.base_frame is not None
    d = applied(leg.base_frame.T, hinge - leg.base)
    d1, d2, d3 = d.tolist()
    if not leg.traits.hunt:
        angles = np.array([math.atan2(-d3, d1), math.atan2(d2, math.hypot(d1, d3))])
        return product(leg.base_frame, about_axis(1, angles[0]), about_axis(2, angles[1])), angles
    assert leg.outer_length is not None
    l12, l13, l23 = leg.inner_length, math.hypot(d1, d3), leg.outer_length
    cosine = (l12**2 + l13**2 - l23**2 + d2**2) / (2 * l12 * l13) if l13 > 1e-100 else math.inf
    if not (abs(d2) <= l23 and abs(cosine) <= 1):
        distance, _ = told_apart(length(d), l12 + l23)
        leg_fail(leg.type, leg.name)(
            f"out of reach in the nominal pose: the hinges are {distance} m apart, {abs(d2):g} m of it along"
            f" the crank's axis; crank_length is {l12:g}, coupler_length {l23:g}"
        )
    p1 = math.atan2(-d3, d1) + leg.elbow * math.acos(cosine)
    crank = product(about_axis(1, p1), IDENTITY if leg.crank_frame is None else leg.crank_frame)
    a1, a2, a3 = applied(crank.T, d - l12 * about_axis(1, p1)[:, 0]).tolist()
    p2, p3 = math.atan2(-a3, a1), math.atan2(a2, math.hypot(a1, a3))
    return product(leg.base_frame, crank, about_axis(1, p2), about_axis(2, p3)), np.array([p1, p2, p3])


class NominalPose:
    """The nominal pose and what the default frames take from it."""

    def __init__(self, r: Array, R: Array, legs: Iterable[Leg]) -> None:
        self.r, self.R = r, R
        both = [(leg.base, self.hinge(leg)) for leg in legs if leg.base is not None]
        hinges = np.array([list(pair) for pair in both]).reshape(-1, 2, 3)
        centres = hinges.mean(axis=0) if both else np.zeros((2, 3))
        self.size = float(np.abs(hinges - centres[0]).max(initial=0.0))
        self.centre = centres[0]
        self.axis = _unit(centres[1] - centres[0], self.size)

    def hinge(self, leg: Leg) -> Array:
        """Ring hinge in base axes."""
        return self.r + applied(self.R, leg.ring)

    def base_frame(self, leg: Leg, fail: Fail) -> Array:
        """Default of `base_frame`."""
        assert leg.base is not None
        chord = self.hinge(leg) - leg.base
        x = _unit(chord, self.size)
        if x is None:
            fail("the base hinge and the ring hinge coincide in the nominal pose; give base_frame=")
        if not leg.traits.hunt:
            out = leg.base - self.centre
            if self.axis is not None:
                out = out - self.axis * dot(self.axis, out)
            z = _unit(np.cross(x, out), self.size)
            if z is None:
                z = _unit(np.cross(x, IDENTITY[np.abs(x).argmin()]), 1.0)
            assert z is not None
            return nearest_rotation(np.column_stack([x, np.cross(z, x), z]))
        if leg.axis is None and self.axis is None:
            fail("the mechanism has no axis: hinges of base and ring have the same centre; give base_frame= or axis=")
        normal = leg.axis if leg.axis is not None else self.axis
        assert normal is not None
        x = _unit(chord - normal * dot(normal, chord), self.size)
        if x is None:
            along = "the crank's axis" if leg.axis is not None else "the axis of the mechanism"
            fail(f"the ring hinge is on {along} through the base hinge in the nominal pose; give base_frame=")
        if leg.axis is not None:
            return nearest_rotation(np.column_stack([x, normal, np.cross(x, normal)]))
        return nearest_rotation(np.column_stack([x, np.cross(x, normal), -normal]))


def complete(leg: Leg, name: str, pose: NominalPose | None) -> Leg:
    """The leg with its name and everything that `Hexapod` chooses."""
    fail = leg_fail(leg.type, name)
    values = leg._values() | {"name": name}
    for key in FRAMES:
        if values[key] is None and (key in ("crank_frame", "tip_frame") or key not in leg.traits.frames):
            values[key] = IDENTITY
    if leg.type == "custom":
        return leg._with(**values)
    for key, word in (("base_frame", "base_frame"), ("ring_frame", "ring_frame"), ("outer_length", "rod_length")):
        if values[key] is None and pose is None:
            fail(f"{word} is None; give {word}= of the leg or nominal= of the hexapod")
    if pose is not None:
        if values["outer_length"] is None:
            distance = length(pose.hinge(leg) - values["base"])
            if not distance > leg.inner_length:
                housing, hinges = told_apart(leg.inner_length, distance)
                fail(f"housing_length is {housing}, expected less than the nominal distance of the hinges, {hinges} m")
            values["outer_length"] = as_amount(distance - leg.inner_length, fail, "rod_length", positive=True)
        if values["base_frame"] is None:
            values["base_frame"] = pose.base_frame(leg, fail)
        if values["ring_frame"] is None:
            link, _ = last_link(leg._with(**values), pose.hinge(leg))
            values["ring_frame"] = frozen(product(pose.R.T, link, values["tip_frame"]))
    if leg.traits.hunt:
        values["axis"] = None
    return leg._with(**values)
