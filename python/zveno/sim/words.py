"""Arguments that `simulate` does not have: what they are called here."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, TypeVar, cast

from .._check import _show, did_you_mean

__all__ = ["answering"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_COMMON: Final = {
    **dict.fromkeys(("step", "timestep", "time_step", "h", "step_size"), "dt"),
    **dict.fromkeys(("t", "t_stop", "t_final", "tf", "duration", "time", "end", "t_span"), "t_end"),
    **dict.fromkeys(("t0", "begin"), "t_start"),
    **dict.fromkeys(("force", "forces", "controller", "control", "drives", "springs"), "laws"),
    **dict.fromkeys(("torque", "torques", "effort", "efforts"), "tau"),
    **dict.fromkeys(("integrator", "solver", "scheme"), "method"),
    **dict.fromkeys(("n_threads", "num_threads", "workers", "n_jobs", "parallel"), "threads"),
    **dict.fromkeys(("record_every", "stride", "decimate"), "every"),
}


def answering(others: Mapping[str, str]) -> Callable[[_Function], _Function]:
    """A decorator: the function refuses keywords that it does not have, and names its own for those of `others`."""
    others = _COMMON | dict(others)

    def decorate(function: _Function) -> _Function:
        known = list(inspect.signature(function).parameters)

        @wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            for name in options:
                if name not in known:
                    raise TypeError(_refusal(name, options[name]))
            return function(*args, **options)

        def _refusal(name: str, value: object) -> str:
            ours = others.get(name.lower())
            hint = f"; did you mean '{ours}'?" if ours is not None else did_you_mean(name, known[1:])
            there = f"{hint} There are" if hint else "; there are"
            return f"simulate: unknown argument {_show(name)[1:-1]} = {_show(value)}{there} {', '.join(known[1:])}"

        return cast(_Function, call)

    return decorate
