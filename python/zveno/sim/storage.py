"""Simulations and batches of them in files: compressed .npz, everything in it, read back to the same bits."""

from __future__ import annotations

import errno
import json
import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from .. import errors
from .._check import Array, Fail, _show, as_path
from .output import whole_file
from .plan import METHODS

if TYPE_CHECKING:
    from .batch import SimulationBatch
    from .simulation import Simulation

__all__ = ["load", "save", "save_batch"]

_FORMAT: Final = "zveno.simulation"
_BATCH: Final = "zveno.simulation_batch"
_VERSION: Final = 1
_FAILURE_DATA: Final = ("leg", "leg_index", "joint", "cause", "margin", "time", "row")
_OF_RUNS: Final = ("status", "states", "energy_balance")  # arrays of a batch beside its fields


def save(simulation: Simulation, path: str | os.PathLike[str]) -> None:
    """Write a simulation."""
    as_path("Simulation.save", path)
    failure = simulation.failure
    about = {
        "events": [_written(event) for event in simulation.events],
        "failure": None if failure is None else _described(failure),
    }
    _write(path, _FORMAT, simulation, about, {})


def save_batch(batch: SimulationBatch, path: str | os.PathLike[str]) -> None:
    """Write a batch."""
    as_path("SimulationBatch.save", path)
    about = {
        "shape": list(batch.shape),
        "events": [[_written(event) for event in events] for events in batch._events.reshape(-1)],
        "failures": {str(row): _described(failure) for row, failure in sorted(batch.failures.items())},
    }
    runs = {"status": batch.status, "states": batch.states.astype(np.int64), "energy_balance": batch._energy}
    _write(path, _BATCH, batch, about, runs)


def _write(
    path: str | os.PathLike[str],
    kind: str,
    record: Simulation | SimulationBatch,
    about: Mapping[str, Any],
    more: Mapping[str, Any],
) -> None:
    model = {record._mechanism: record._model.to_dict()}
    head = {"format": kind, "version": _VERSION} | model | {"method": record.method, "dt": record.dt} | dict(about)
    head["record"] = [field.name for field in record.fields]
    arrays: dict[str, Any] = {"about": np.array(json.dumps(head)), **record.to_dict(), **more}
    with whole_file(path, "wb") as file:  # np.savez would append a suffix
        np.savez_compressed(file, **arrays)


def _written(event: Any) -> list[Any]:
    return [list(part) if isinstance(part, tuple) else part for part in event]


def _described(failure: BaseException) -> dict[str, Any]:
    data = {key: getattr(failure, key) for key in _FAILURE_DATA if hasattr(failure, key)}
    return {"type": type(failure).__name__, "message": str(failure), "data": data}


def load(path: str | os.PathLike[str], who: str) -> Simulation | SimulationBatch:
    """Read what was saved, of whatever mechanism; `who` refuses it."""
    as_path(who, path)

    def fail(text: str) -> NoReturn:
        raise ValueError(f"{who}: '{os.fspath(path)}' {text}")

    from .simulation import HexapodSimulation  # which knows this module

    about, arrays = _read(path, who, fail)
    batch = about["format"] == _BATCH
    kind = next((kind for kind in _kinds() if kind._mechanism in about), HexapodSimulation)
    own = _recorded(about, kind, fail) + (list(_OF_RUNS) if batch else [])
    missing = [name for name in own if name not in arrays]
    if missing:
        fail(f"lacks {', '.join(missing)}")
    for name in arrays:
        if name not in own:
            fail(f"has an unknown field {_show(name)}")
    for name in (kind._mechanism, "method", "dt", "events", *(("shape", "failures") if batch else ("failure",))):
        if name not in about:
            fail(f"lacks {name}")
    mechanism = _mechanism(about, kind, fail)
    if about["method"] not in METHODS:
        fail(f"has method {_show(about['method'])}, expected one of {', '.join(map(repr, METHODS))}")
    dt = about["dt"]
    if isinstance(dt, bool) or not isinstance(dt, int | float) or not (math.isfinite(dt) and dt > 0):
        fail(f"has dt {_show(dt)}, expected a number > 0")
    if batch:
        return _batch(kind, mechanism, about, arrays, fail)
    _check_arrays(kind._blank(mechanism), arrays, (), fail)
    return kind(
        arrays,
        mechanism,
        method=about["method"],
        dt=dt,
        events=_events(about["events"], kind._blank(mechanism), "events", fail),
        failure=None if about["failure"] is None else _recalled(about["failure"], "failure", fail),
    )


def _kinds() -> list[type[Simulation]]:
    """Of records; those of a linkage hold a chain too."""
    from .chain import ChainSimulation
    from .linkage import LinkageSimulation
    from .simulation import HexapodSimulation

    return [LinkageSimulation, ChainSimulation, HexapodSimulation]


def _recorded(about: Mapping[str, Any], kind: type[Simulation], fail: Fail) -> list[str]:
    """Names of the fields of a file."""
    every = [field.name for field in kind.fields]
    named = about.get("record", every)
    good = isinstance(named, list) and all(name in every for name in named) and "t" in named
    if not good or named != [name for name in every if name in named]:
        fail(f"has record {_show(named)}, expected some of {', '.join(every)}, time among them")
    return list(named)


def _batch(
    kind: type[Simulation], mechanism: Any, about: dict[str, Any], arrays: dict[str, Any], fail: Fail
) -> SimulationBatch:
    from .batch import SimulationBatch

    shape = about["shape"]
    whole = isinstance(shape, list) and all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in shape)
    if not whole or not shape:
        fail(f"has shape {_show(shape)}, expected a list of whole numbers")
    lead, blank = tuple(shape), kind._blank(mechanism)
    _check_arrays(blank, arrays, lead, fail)
    for name, dtype, expected in zip(_OF_RUNS, ("int16", "int64", "float64"), (lead, lead, (*lead, 3)), strict=True):
        if arrays[name].dtype != dtype or arrays[name].shape != expected:
            came = f"of shape {arrays[name].shape} and dtype {arrays[name].dtype}"
            fail(f"has {name} {came}, expected {expected} and {dtype}")
    status, states, energy = (arrays.pop(name) for name in _OF_RUNS)
    if ((states < 0) | (states > len(arrays["t"]))).any():
        fail(f"has states {_show(states.tolist())}, expected 0 to {len(arrays['t'])}")
    count, listed = math.prod(lead), about["events"]
    if not isinstance(listed, list) or len(listed) != count:
        fail(f"has events {_show(listed)}, expected a list for each of {count} runs")
    events = np.empty(count, object)
    for row, found in enumerate(listed):
        events[row] = _events(found, blank, f"events[{row}]", fail)
    failures = about["failures"]
    if not isinstance(failures, dict) or not all(key in map(str, range(count)) for key in failures):
        fail(f"has failures {_show(failures)}, expected those of runs 0 to {count - 1} by number")
    return SimulationBatch(
        kind,
        mechanism,
        arrays,
        method=about["method"],
        dt=about["dt"],
        status=status,
        states=states.astype(np.intp),
        energy=energy,
        events=events.reshape(lead),
        failures={int(row): _recalled(failure, f"failures[{row}]", fail) for row, failure in failures.items()},
    )


def _read(path: str | os.PathLike[str], who: str, fail: Fail) -> tuple[dict[str, Any], dict[str, Array]]:
    """What a file says about a simulation, and its arrays."""
    import zipfile  # not needed by those who only compute

    name = "about"
    try:
        with open(path, "rb") as file:
            if not zipfile.is_zipfile(file):
                fail("is not a simulation file (not a complete .npz archive)")
            file.seek(0)
            with np.load(file, allow_pickle=False) as data:
                if name not in data.files:
                    fail("holds no simulation")
                text, arrays = data[name], {}
                for name in data.files:
                    if name != "about":
                        arrays[name] = data[name]
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # not to be opened; others come from what is in the file
            raise
        fail(f"is damaged in its field {name} ({error})")
    except Exception as error:  # zip, zlib, struct, tokenizer: a damaged file may upset any of them
        if isinstance(error, ValueError) and str(error).startswith(f"{who}: "):
            raise
        fail(f"is damaged in its field {name} ({error})")
    if text.dtype.kind != "U" or text.shape != ():
        fail(f"has a field about of shape {text.shape} and dtype {text.dtype}, expected one string")
    try:
        about = json.loads(str(text))
    except (ValueError, RecursionError) as error:
        fail(f"has a field about that is not JSON of ours ({error})")
    if not isinstance(about, dict):
        fail(f"has a field about that is {_show(about)}, expected a dictionary")
    version = about.get("version")
    if about.get("format") not in (_FORMAT, _BATCH) or version != _VERSION or isinstance(version, bool):
        fail(f"is not a file of '{_FORMAT}', version {_VERSION}")
    return about, arrays


def _mechanism(about: dict[str, Any], kind: type[Simulation], fail: Fail) -> Any:
    from .. import model  # which knows this module

    try:
        return getattr(model, kind._mechanism.title()).from_dict(about[kind._mechanism])
    except (ValueError, TypeError, RecursionError) as error:
        fail(f"has a field {kind._mechanism} that is none: {error}")


def _check_arrays(blank: Simulation, arrays: Mapping[str, Array], lead: tuple[int, ...], fail: Fail) -> None:
    t = arrays["t"]
    count = t.shape[0] if t.ndim == 1 else 0
    for field in blank.fields:
        if field.name not in arrays:
            continue
        array = arrays[field.name]
        sizes = (len(blank._labels(dim) if labels is None else labels) for dim, labels in field.dims)
        expected = (*(() if field.name == "t" else lead), count, *sizes)
        if array.dtype != np.float64:
            fail(f"has {field.name} of dtype {array.dtype}, expected float64")
        if array.shape != expected:
            fail(f"has {field.name} of shape {array.shape}, expected {expected}")
    if not (np.isfinite(t).all() and (np.diff(t) > 0).all()):
        fail("has times t that do not increase")


def _events(events: Any, blank: Simulation, where: str, fail: Fail) -> list[Any]:
    def good(event: Any) -> bool:
        return (
            isinstance(event, list)
            and len(event) == 5
            and isinstance(event[1], str)
            and isinstance(event[2], str)
            and event[2] in ("lower", "upper")
            and event[3] in ("enter", "leave")
            and all(isinstance(event[i], int | float) and not isinstance(event[i], bool) for i in (0, 4))
        )

    if not isinstance(events, list):
        fail(f"has {where} {_show(events)}, expected a list")
    for i, event in enumerate(events):
        if blank._is_crossing(event):
            continue
        if not good(event):
            fail(f"has {where}[{i}] {_show(event)}, expected [time, name, side, kind, rate]")
        if not event[1] or event[1] not in blank._parts():
            called = f"{blank._called} '{blank._model.name}'"
            fail(f"has {where}[{i}] of {_show(event[1])}, which {called} does not have")
    return [
        blank._crossing(event) if blank._is_crossing(event) else blank._event(*event)
        for event in events
    ]  # fmt: skip


def _recalled(failure: Any, where: str, fail: Callable[[str], NoReturn]) -> BaseException:
    words = isinstance(failure, dict) and isinstance(failure.get("data"), dict)
    if not words or not all(isinstance(failure.get(key), str) for key in ("type", "message")):
        fail(f"has {where} {_show(failure)}, expected type, message and data")
    known = {
        kind.__name__: kind
        for kind in (errors.UnreachableError, errors.SingularityError, errors.StepError, FloatingPointError)
    }
    error = known.get(failure["type"], errors.Error)(failure["message"])
    for key, value in failure["data"].items():
        if key not in _FAILURE_DATA:
            fail(f"has {where} data {_show(key)}, expected some of {', '.join(_FAILURE_DATA)}")
        setattr(error, key, value)
    return error
