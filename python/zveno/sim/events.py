"""Events of a chain's motion that the caller asks for: zeros of functions, points that reach a plane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, _show, as_array, as_flag, as_list, did_you_mean, failing
from .plan import refuse

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["Crossing", "Event", "PlaneContact"]

StateFunction: TypeAlias = Callable[[float, Array, Array], Any]
_DIRECTIONS: Final = (-1, 0, 1)


class Crossing(NamedTuple):
    """A function of `events` passes zero, or a point of a link a plane.

    `time` (s) is found inside the step, on the cubics through coordinates and rates at both its ends; `q` and `qd` are
    those of that moment. "rise": from below zero, or from behind the plane.
    """

    time: float
    name: str
    kind: Literal["rise", "fall"]
    q: tuple[float, ...]
    qd: tuple[float, ...]


@dataclass(frozen=True)
class Event:
    """A zero of ``function(t, q, qd)`` as an event.

    Parameters
    ----------
    function : callable
        Returns a number.
    terminal : bool
        The motion ends there.
    direction : {0, 1, -1}
        1: only if the function rises, -1: only if it falls.
    name : str, optional
        Default: that of the function.

    Examples
    --------
    >>> import zveno as zv
    >>> from zveno.simulation import Event
    >>> level = Event(lambda t, q, qd: q[0] - 0.5, terminal=True, name="level")
    >>> sim = zv.robots.two_link().simulate(2.0, 1e-3, events=[level])
    >>> print(f"{sim.events[-1].name} at t = {sim.t[-1]:.4f} s, q = {sim.q[-1, 0]:.6f} rad")
    level at t = 0.2932 s, q = 0.500000 rad
    """

    function: StateFunction
    terminal: bool = False
    direction: Literal[-1, 0, 1] = 0
    name: str | None = None

    def __post_init__(self) -> None:
        fail = failing("Event")
        if not callable(self.function):
            fail(f"function is {_show(self.function)}, expected a function f(t, q, qd)")
        _check(self, fail)

    def _watched(self, name: str) -> tuple[Any, ...]:
        return (naming(self.function, f"event '{name}'"), f"event '{name}'", int(self.direction), bool(self.terminal))


@dataclass(frozen=True)
class PlaneContact:
    """A point of a link reaches the plane of all x with ``normal . x = height``, base axes.

    Parameters
    ----------
    link : str
    point : (3,) array, m
        In the link's frame; default: its origin.
    normal : (3,) array
        Default: upwards. Of any length; `height` counts along the unit normal, m.
    height : float, m
    terminal : bool
        The motion ends there.
    direction : {-1, 0, 1}
        -1, the default: only against the normal; 1: only along it; 0: both.
    name : str, optional
        Default: that of the link.

    Examples
    --------
    >>> import zveno as zv
    >>> from zveno.simulation import PlaneContact
    >>> arm = zv.robots.two_link()
    >>> floor = PlaneContact("lower", normal=(0, 0, 1), height=-0.3, terminal=True)
    >>> sim = arm.simulate(2.0, 1e-3, q=[0.0, 0.0], events=[floor])
    >>> print(f"{arm.pose(sim.q[-1], 'lower')[2, 3]:.6f} m at t = {sim.t[-1]:.4f} s")
    -0.300000 m at t = 0.2236 s
    """

    link: str
    point: ArrayLike = (0.0, 0.0, 0.0)
    normal: ArrayLike = (0.0, 0.0, 1.0)
    height: float = 0.0
    terminal: bool = False
    direction: Literal[-1, 0, 1] = -1
    name: str | None = None

    def __post_init__(self) -> None:
        fail = failing("PlaneContact")
        if not isinstance(self.link, str):
            fail(f"link is {_show(self.link)}, expected the name of a link")
        normal = as_array(self.normal, fail, "normal", (3,))
        as_array(self.point, fail, "point", (3,))
        as_array(self.height, fail, "height", ())
        if not np.linalg.norm(normal) > 0:
            fail("normal is zero, expected a direction")
        _check(self, fail)

    def _watched(self, name: str) -> tuple[Any, ...]:
        normal = np.asarray(self.normal, float)
        unit = normal / np.linalg.norm(normal)
        point = np.asarray(self.point, float)
        return (self.link, point, unit, float(self.height), int(self.direction), bool(self.terminal))


def _check(event: Event | PlaneContact, fail: Any) -> None:
    as_flag(event.terminal, fail, "terminal")
    if isinstance(event.direction, bool) or event.direction not in _DIRECTIONS:
        fail(f"direction is {_show(event.direction)}, expected -1, 0 or 1")
    if event.name is not None and not isinstance(event.name, str):
        fail(f"name is {_show(event.name)}, expected a string")


class Asked(NamedTuple):
    """Events of a call: names, what C++ takes, and whether some call back."""

    names: tuple[str, ...]
    given: list[tuple[Any, ...]]
    calls_back: bool


def as_events(chain: Chain, events: Any) -> Asked:
    """Check events."""
    if events is None:
        return Asked((), [], False)
    named: list[tuple[str | None, Any]]
    if isinstance(events, Mapping):
        named = list(events.items())
    elif isinstance(events, Event | PlaneContact) or callable(events):
        named = [(None, events)]
    else:
        listed = as_list(events)
        if listed is None:
            refuse(
                f"events is {_show(events)}, expected functions f(t, q, qd), Event or PlaneContact, or a dict of them"
            )
        named = [(None, event) for event in listed]
    names, watched, calls_back = [], [], False
    for k, (name, event) in enumerate(named):
        if name is not None and not isinstance(name, str):
            refuse(f"events has the key {_show(name)}, expected a name")
        if not isinstance(event, Event | PlaneContact):
            if not callable(event):
                refuse(
                    f"events[{k if name is None else name!r}] is {_show(event)}, expected a function f(t, q, qd),"
                    " Event or PlaneContact"
                )
            terminal, direction = getattr(event, "terminal", False), getattr(event, "direction", 0)  # as SciPy has them
            event = Event(event, terminal, int(np.sign(direction)))  # type: ignore[arg-type]
        if isinstance(event, PlaneContact) and event.link not in chain.link_names:
            known = chain.link_names
            refuse(
                f"event of link {_show(event.link)}, expected one of {', '.join(map(repr, known))}"
                f"{did_you_mean(event.link, known)}"
            )
        own = event.link if isinstance(event, PlaneContact) else getattr(event.function, "__name__", "")
        names.append(name or event.name or (own if own and own != "<lambda>" else f"event{k + 1}"))
        watched.append(event._watched(names[-1]))
        calls_back |= isinstance(event, Event)
    return Asked(tuple(names), watched, calls_back)


def naming(function: Any, who: str) -> Any:
    """A function whose errors say who it is and when it was called."""

    def call(t: float, *state: Any) -> Any:
        try:
            return function(t, *state)
        except Exception as error:
            error.add_note(f"simulate: raised by {who} at t = {t:.9g} s")
            raise

    return call
