"""Numbers that may be changed while an FMU runs: those of the laws, and further ones."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..sim.laws import Law
from .terms import known_terms

__all__ = ["Parameter", "Tunables"]

# numbers of the terms of laws by name, in their order; those with an internal state stay as they are
_FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "spring_damper": ("force", "stiffness", "damping", "reference"),
    "dry_friction": ("force", "speed"),
    "stops": ("lower", "upper", "stiffness", "damping"),
    "bumpers": ("lower", "upper", "stiffness", "damping", "blend"),
    "eddy_brake": ("force", "speed"),
    "slip_clutch": ("limit",),
    "servo_constant": ("stiffness", "damping", "limit", "reference"),
    "servo_ramp": ("stiffness", "damping", "limit"),
    "servo_table": ("stiffness", "damping", "limit"),
    "servo_given": ("stiffness", "damping", "limit"),
}
_POSITIVE: Final = ("speed", "blend", "limit")
# of sliding and turning drives
_UNITS: Final = {
    "force": ("N", "N.m"),
    "limit": ("N", "N.m"),
    "stiffness": ("N/m", "N.m/rad"),
    "damping": ("N.s/m", "N.m.s/rad"),
    "reference": ("m", "rad"),
    "lower": ("m", "rad"),
    "upper": ("m", "rad"),
    "blend": ("m", "rad"),
    "speed": ("m/s", "rad/s"),
}


@dataclass(frozen=True)
class Parameter:
    """Numbers that may be set: one of each drive, or of one drive."""

    name: str
    values: tuple[float, ...]
    units: tuple[str, ...]
    least: float | None = None


class Tunables:
    """Which numbers of the laws are parameters, and where they stand among the inputs of a step.

    Drives with the same kinds of terms have arrays ``law.<term>.<number>``, one number of each drive; otherwise every
    drive has its own, ``law.<drive>.<term>.<number>``. Behind them stand `more`.
    """

    def __init__(
        self,
        laws: Sequence[Law | None],
        servo: Mapping[str, float],
        names: Sequence[str],
        turns: Sequence[bool],
        at: int,
        more: Sequence[Parameter] = (),
    ) -> None:
        found = [self._numbers([] if law is None else known_terms(law), servo) for law in laws]
        self._places: dict[tuple[int, str], str] = {}
        self.parameters: list[Parameter] = []
        alike = all(numbers.keys() == found[0].keys() for numbers in found)

        def add(name: str, key: str, joints: Sequence[int]) -> None:
            nonlocal at
            field = key.rpartition(".")[2]
            units = _UNITS[field]
            if key.startswith("bumpers") and field == "damping":
                units = ("s/m", "s/rad")
            least = 5e-324 if field in _POSITIVE else None
            values = tuple(found[j][key] for j in joints)
            if not all(map(math.isfinite, values)):
                return
            self.parameters.append(Parameter(f"law.{name}", values, tuple(units[turns[j]] for j in joints), least))
            for j in joints:
                self._places[j, key] = f"in[{at}]"
                at += 1

        if alike:
            for key in found[0]:
                add(key, key, range(len(found)))
        else:
            for j, numbers in enumerate(found):
                for key in numbers:
                    add(f"{names[j]}.{key}", key, [j])
        self.places: dict[str, int] = {}  # of further parameters among the inputs
        for parameter in more:
            self.places[parameter.name] = at
            self.parameters.append(parameter)
            at += len(parameter.values)

    @staticmethod
    def _key(seen: dict[str, int], kind: str) -> str:
        seen[kind] = seen.get(kind, 0) + 1
        return kind if seen[kind] == 1 else f"{kind}_{seen[kind]}"

    def _numbers(self, terms: Sequence[Sequence[Any]], servo: Mapping[str, float]) -> dict[str, float]:
        made: dict[str, float] = {}
        seen: dict[str, int] = {}
        if servo:
            gains = servo["stiffness"], servo["damping"], servo.get("limit", math.inf)
            terms = [*terms, ("servo_given", *gains)]
        for kind, *numbers in terms:
            term = self._key(seen, kind)
            for field, value in zip(_FIELDS.get(kind, ()), numbers, strict=False):
                made[f"{term}.{field}"] = float(value)
        return made

    def spell(self, joint: int, seen: dict[str, int], kind: str) -> dict[int, str]:
        """What stands for the numbers of the next term of a drive: by place, those that are parameters."""
        term = self._key(seen, kind)
        named = {k: self._places.get((joint, f"{term}.{field}")) for k, field in enumerate(_FIELDS.get(kind, ()))}
        return {k: text for k, text in named.items() if text is not None}
