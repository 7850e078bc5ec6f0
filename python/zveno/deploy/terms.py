"""Laws of joints as the terms that the core and files of rigs have."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._check import _show
from ..sim import laws as law_types
from ..sim.laws import Law

__all__ = ["known_terms", "law_of_terms", "plain_terms"]


def plain_terms(law: Law) -> list[list[Any]]:
    """Terms of a law as JSON has them."""
    return [_plain(term) for term in known_terms(law)]


def known_terms(law: Law) -> list[tuple[Any, ...]]:
    """Terms of a law that C knows."""
    terms = law._terms()
    if any(term[0] == "formula" for term in terms):
        raise ValueError("laws: a Formula runs in Python's simulations only; C knows the other laws of zveno.laws")
    return terms


def _plain(term: Sequence[Any]) -> list[Any]:
    """A term of a law as JSON has it: null for infinity."""
    return [
        None
        if isinstance(x, float) and math.isinf(x)
        else np.asarray(x).tolist()
        if isinstance(x, np.ndarray | tuple)
        else x
        for x in term
    ]


def law_of_terms(terms: Sequence[Sequence[Any]]) -> Law | None:
    """The law whose terms these are."""
    made: list[Law] = []
    i = 0
    while i < len(terms):
        kind, *x = terms[i]
        numbers = [math.inf if value is None else value for value in x]
        if kind == "slip_clutch":
            inner = law_of_terms(terms[i + 1 : i + 1 + x[1]])
            if inner is None:
                raise ValueError("a slip clutch without its terms")
            made.append(law_types.SlipClutch(numbers[0], inner))
            i += x[1]
        elif kind == "spring_damper":
            force, stiffness, damping, reference = numbers
            made.append(law_types.SpringDamper(stiffness, damping, force=force, reference=reference))
        elif kind == "stops":
            lower, upper, stiffness, damping = (-math.inf if x[0] is None else x[0], *numbers[1:])
            made.append(law_types.Stops(stiffness, damping, lower=lower, upper=upper))
        elif kind == "bumpers":
            lower, upper, stiffness, damping, blend = (-math.inf if x[0] is None else x[0], *numbers[1:])
            made.append(law_types.Bumpers(stiffness, damping, blend, lower=lower, upper=upper))
        elif kind in ("dry_friction", "eddy_brake", "lugre"):
            plain = {"dry_friction": law_types.DryFriction, "eddy_brake": law_types.EddyBrake, "lugre": law_types.LuGre}
            made.append(plain[kind](*numbers))
        elif isinstance(kind, str) and kind.startswith("servo_"):
            stiffness, damping, limit, *rest = numbers
            references: dict[str, Callable[..., Any]] = {
                "servo_constant": lambda value: value,
                "servo_ramp": lambda begin, end, speed, at: law_types.Ramp(end, speed, start=begin, begin=at),
                "servo_table": law_types.Table,
            }
            reference = references[kind](*rest)
            made.append(law_types.Servo(stiffness, damping, limit=limit, reference=reference))
        else:
            raise ValueError(f"unknown term {_show(kind)} of a law")
        i += 1
    return None if not made else made[0] if len(made) == 1 else law_types.Sum(tuple(made))
