"""Functions of the user in a docking: forces of the legs and of the vehicles that Python works out under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, _show, did_you_mean, failing
from ..sim.laws import Law
from ..sim.simulation import as_leg_laws
from .scenario import PHASES, Scenario

__all__ = ["State", "StateFunction"]

# fields of the history that follow from the forces that are asked for
_LATER: Final = ("leg_force_a", "leg_force_b", "base_load_a", "base_load_b", "kinetic_energy", "work", "energy_error")


def _places() -> dict[str, slice | int]:
    found: dict[str, slice | int] = {}
    at = 0
    for name, size, _, _ in _core.docking_history():
        if name not in _LATER:
            found[name] = at if size == 1 else slice(at, at + size)
        at += size
    return found


_PLACES: Final = _places()


class State(Mapping[str, Any]):
    """What a function of the user is told of a docking: quantities by the names of `Docking.history` at one instant.

    Attributes or keys: t, position_a, quaternion_a, velocity_a, omega_a, those of b; ring_position_a,
    ring_quaternion_a, ring_twist_a, stroke_a, stroke_rate_a, those of b; load, contact_load, misalignment,
    relative_twist, penetration, momentum, latches_closed, latch_force; ``phase`` by its name. Units and frames are
    those of the history; forces that follow from the answer (leg_force_a, base_load_a, energies) are not there.

    Examples
    --------
    >>> from zveno import docking
    >>> seen = []
    >>> def thrust(t, state):
    ...     seen.append((state.phase, round(float(state.misalignment[0]), 3)))
    ...     return [0, 0, 0, 0, 0, 0]
    >>> d = docking.simulate(docking.demo("UPS", "aligned"), t_end=1.0, thrust=thrust, hold=0.5)
    >>> seen
    [('ready', 0.16), ('ready', 0.12), ('ready', 0.08)]
    """

    __slots__ = ("_row",)

    def __init__(self, row: Array) -> None:
        self._row = row

    def __getitem__(self, name: str) -> Any:
        try:
            value = self._row[_PLACES[name]]
        except KeyError:
            raise KeyError(f"no quantity {_show(name)}{did_you_mean(name, _PLACES)}") from None
        if name == "phase":
            return PHASES[int(value)]
        return int(value) if name == "latches_closed" else float(value) if np.ndim(value) == 0 else value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in _PLACES:
            raise AttributeError(f"State has no {_show(name)}{did_you_mean(name, _PLACES)}")
        return self[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_PLACES)

    def __len__(self) -> int:
        return len(_PLACES)

    def __repr__(self) -> str:
        return f"State(t = {self.t:g} s, {self.phase}, {self.latches_closed} latches closed)"


StateFunction: TypeAlias = Callable[[float, State], ArrayLike]
_Ask: TypeAlias = Callable[[float, Array, Any], ArrayLike]


def by_vehicle(function: str, name: str, value: Any) -> dict[int, Any]:
    """An argument for the first vehicle, or by vehicle."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        return {0: value}
    for key in value:
        if key not in ("a", "b"):
            failing(function)(f"{name} has the key {_show(key)}, expected 'a' and 'b', the vehicles")
    return {"ab".index(key): x for key, x in value.items() if x is not None}


def require_ring(function: str, scenario: Scenario, name: str, k: int) -> Any:
    """The ring of a vehicle whose legs are to be moved."""
    vehicle = (scenario.chaser, scenario.station)[k]
    if vehicle.ring is None:
        who = ("chaser", "station")[k]
        failing(function)(f"{name} is given for vehicle '{'ab'[k]}', but the {who} has a rigid port and no legs")
    return vehicle.ring


class Control:
    """Laws and functions of a call of `simulate`: what is compiled, and what is asked."""

    def __init__(self, function: str, scenario: Scenario, laws: Any, tau: Any, thrust: Any) -> None:
        fail = failing(function)
        self.laws: list[tuple[Law | None, ...] | None] = [None, None]
        self._asks: list[tuple[int, _Ask, str]] = []
        for k, value in by_vehicle(function, "laws", laws).items():
            ring = require_ring(function, scenario, "laws", k)
            expected = "a Law, six of them, or a function f(t, p, v)"
            chosen, _, forces = as_leg_laws(value, ring, expected, passive=False)
            if forces is None:
                self.laws[k] = tuple(chosen)
            else:
                self._asks.append((6 * k, _of_drives(forces, k), "laws(t, p, v)"))
        for name, value, first in (("tau", tau, 0), ("thrust", thrust, 12)):
            for k, f in by_vehicle(function, name, value).items():
                if first == 0:
                    require_ring(function, scenario, name, k)
                if not callable(f):
                    more = "; a Thrust is part of the scenario" if name == "thrust" else ""
                    fail(f"{name} is {_show(f)}, expected a function f(t, state){more}")
                self._asks.append((first + 6 * k, _of_state(f), f"{name}(t, state)"))

    @property
    def asks(self) -> bool:
        """Whether there are functions."""
        return bool(self._asks)

    def __call__(self, t: float, row: Array, *drives: Any) -> Array:
        """Forces of the legs of both, wrenches on both."""
        total = np.zeros(24)
        for at, f, who in self._asks:
            try:
                given = f(t, row, drives)
            except Exception as error:
                error.add_note(f"simulate: raised by {who} at t = {t:.9g} s")
                raise
            total[at : at + 6] += _six(given, who, t)
        return total


def _of_drives(f: Callable[[float, Array, Array], ArrayLike], k: int) -> _Ask:
    return lambda t, _, drives: f(t, drives[2 * k], drives[2 * k + 1])


def _of_state(f: StateFunction) -> _Ask:
    return lambda t, row, _: f(t, State(row))


def _six(given: Any, who: str, t: float) -> Array:
    def refuse(kind: type[Exception], what: str) -> NoReturn:
        raise kind(f"simulate: {who} returned {what} at t = {t:.9g} s, expected six finite numbers")

    try:
        array = np.asarray(given)
    except ValueError:
        refuse(TypeError, _show(given))
    if array.dtype.kind not in "iuf" or isinstance(given, np.ma.MaskedArray):
        refuse(TypeError, _show(given))
    if array.shape != (6,):
        refuse(ValueError, f"an array of shape {array.shape}")
    if not np.isfinite(array).all():
        refuse(ValueError, _show(array.tolist()))
    return array.astype(np.float64, copy=False)
