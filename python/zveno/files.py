"""Models and simulations in files, and the names of the built-in ones.

`load` reads whatever zveno or a URDF exporter has written; ``mechanism.save(path)`` writes a chain or a hexapod,
``simulation.save(path)`` a simulation or a batch of them. Numbers are written with all their digits: what is read is
equal to the last bit.

JSON files hold one object. SI units and radians; vectors are lists of 3 numbers, rotations lists of 3 rows that map
local components to those of the reference frame, and None (``null``) is an infinite limit. Every key of the
objects is checked: an unknown one is an error, as is NaN. In links, legs and bodies an absent key takes its default.

========================== ======= ====================================================================================
``format``                 version fields
========================== ======= ====================================================================================
``zveno.chain``            1       ``name``, ``base``: text; ``gravity`` (3,) m/s^2 in base axes; ``links``: list of
                                   links; ``note``: text, may be absent
``zveno.hexapod``          1       ``name``; ``gravity`` (3,) m/s^2 in base axes; ``nominal``: null or [r (3,) m, R (3,
                                   3)]; ``platform``: a body; ``legs``: list of six legs; ``note``: text, may be
                                   absent; ``origin`` (3,) m: of the platform's own frame, seen from its centre of
                                   mass, may be absent
``zveno.linkage``          1       ``chain`` as above; ``constraints``: list of constraints; ``length`` m or null
``zveno.simulation``       1       in ``about`` of an ``.npz`` file: ``chain`` or ``hexapod`` as above, ``method``,
                                   ``dt`` s, ``events``, ``failure``; the arrays beside it are those of
                                   ``simulation.fields``
``zveno.simulation_batch`` 1       the same with ``shape``, the leading dimensions, a list of ``events`` for each run
                                   and ``failures`` by number of the run; beside the fields ``status``, ``states`` and
                                   ``energy_balance`` (..., 3)
a link                             ``name``, ``parent``, ``joint_name``: text; ``joint``: revolute, prismatic or fixed;
                                   ``axis`` (3,); ``position`` (3,) m and ``rotation`` (3, 3) of the joint in the
                                   parent; ``mass`` kg; ``com`` (3,) m; ``inertia`` (3, 3) kg m^2 about the centre of
                                   mass; ``lower``, ``upper`` rad or m; ``velocity`` rad/s or m/s; ``effort`` N m or N;
                                   ``rotor_inertia`` kg m^2 or kg; ``friction`` N m s/rad or N s/m; ``stiffness`` N
                                   m/rad or N/m; ``rest`` rad or m
a body                             ``mass`` kg; ``inertia`` (3, 3) kg m^2 about the centre of mass; ``com`` (3,) m
a constraint                       ``kind``, ``name``; ``a``, ``b``: links; ``point_a``, ``point_b`` (3,) m and
                                   ``rotation_a``, ``rotation_b`` (3, 3) of the joint frames in them; ``offset``,
                                   ``pitch``, ``length`` m, ``phase`` rad; ``joints``: factors by joint of a coupling;
                                   ``rows`` of a pose
a leg                              the arguments and frames of `zveno.Leg`, m, rad and kg as there; ``inner``,
                                   ``outer``: bodies or null; ``chain``: null or a chain
========================== ======= ====================================================================================

Examples
--------
>>> import zveno as zv
>>> from zveno.files import open_model
>>> open_model("puma560")
Chain 'puma560': 6 joints (6 revolute), 7 links, 36.5 kg
>>> open_model("docking_ring:RSU").legs[0].type
'RSU'
"""

from __future__ import annotations

import errno
import json
import os
from itertools import islice
from typing import Any, Final

from . import mechanisms, robots
from ._check import _show, as_path, did_you_mean
from .errors import ModelError
from .model import Chain, Hexapod, Linkage
from .model.leg import STANDARD
from .model.urdf import MAX_BYTES, check_snap
from .sim import storage
from .sim.batch import SimulationBatch
from .sim.simulation import Simulation

__all__ = ["BUILT_IN", "load", "open_model"]

Model = Chain | Hexapod | Linkage

_RINGS: Final = tuple(f"docking_ring:{kind}" for kind in STANDARD)
BUILT_IN: Final = (*robots.__all__, *_RINGS)
_CHANGES: Final = ("friction", "gravity", "name")  # options that make another model
_OPTIONS: Final = ("friction", "gravity", "name", "snap", "strict")
_KINDS: Final[dict[str, type[Model]]] = {kind._format: kind for kind in (Chain, Hexapod, Linkage)}
_SIMULATIONS: Final = ("zveno.simulation", "zveno.simulation_batch")


def __dir__() -> list[str]:
    return sorted(__all__)


def load(path: str | os.PathLike[str], **urdf_options: Any) -> Any:
    """Read a model, a simulation or a batch of them from a file; what it is, its content tells.

    Parameters
    ----------
    path : path
        URDF; JSON of ``chain.save``, ``hexapod.save`` or ``linkage.save``; .npz of ``simulation.save``.
    **urdf_options
        ``gravity``, ``name``, ``friction``, ``snap``, ``strict`` of `Chain.from_urdf`. The first three are refused for
        other files, which hold them; ``strict`` is for chains in JSON too.

    Returns
    -------
    model : Chain, Hexapod, Linkage, Simulation or SimulationBatch

    Raises
    ------
    ModelError
        The file is no model: cut short, of another kind, written by a newer version, with a NaN or a key that is not
        known. The message names file and field.
    FileNotFoundError, PermissionError, ...
        It cannot be read.

    Examples
    --------
    >>> import os, tempfile, zveno as zv
    >>> arm = zv.robots.scara()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "scara.json")
    ...     arm.save(path)
    ...     zv.load(path) == arm
    True
    """
    _check_options("load", urdf_options)
    text = as_path("load", path)
    data = _read("load", text)
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if data.startswith(b"PK") or start == b"{":
        _only_of_urdf("load", urdf_options, _name(text))
    if data.startswith(b"PK"):
        return storage.load(text, "Simulation.load")
    if start == b"{":
        return _from_json(text, data, urdf_options.get("strict", False))
    if start == b"<" or data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return Chain.from_urdf(text, **urdf_options)
    raise ModelError(f"load: {_name(text)}: is neither URDF nor JSON of zveno nor a simulation (.npz)")


def open_model(text: str | os.PathLike[str], **urdf_options: Any) -> Model:
    """A model by what one types: the name of a built-in one, or a path.

    Parameters
    ----------
    text : str or path
        A built-in name, `BUILT_IN`: ``puma560``, ``docking_ring:UPS`` (``docking_ring`` alone is that one), ...; or the
        path of a file as in `load`. A file of that name comes first.
    **urdf_options
        As in `load`; checked for every model.

    Returns
    -------
    model : Chain, Hexapod or Linkage

    Examples
    --------
    >>> from zveno.files import open_model
    >>> open_model("docking_ring") == open_model("docking_ring:UPS")
    True
    >>> open_model("pumma")
    Traceback (most recent call last):
    ...
    zveno.errors.ModelError: open_model: there is no file 'pumma', nor is it a built-in model; did you mean 'puma560'?
    """
    _check_options("open_model", urdf_options)
    if not isinstance(text, str | os.PathLike):
        raise TypeError(f"open_model: text is {_show(text)}, expected a path or the name of a built-in model")
    word = os.fsdecode(text)
    if "\0" not in word and os.path.exists(word) and not os.path.isdir(word):
        model: Model | Simulation | SimulationBatch = load(word, **urdf_options)
        if isinstance(model, Simulation | SimulationBatch):
            raise ModelError(f"open_model: {_name(word)}: holds a simulation, expected a model; `zveno.load` reads it")
        return model
    if word in BUILT_IN or word == "docking_ring":
        _only_of_urdf("open_model", urdf_options, word)
    if word in robots.__all__:
        chain: Chain = getattr(robots, word)()
        return chain
    family, _, kind = word.partition(":")
    if family == "docking_ring" and (not kind or kind.upper() in STANDARD):
        return mechanisms.docking_ring(kind.upper() or "UPS")
    if "\0" not in word and os.path.isdir(word):
        raise ModelError(f"open_model: {_show(word)} is a directory, expected a file or the name of a built-in model")
    known = (*BUILT_IN, *(() if kind else ("docking_ring",)), *_neighbours(word))
    hint = did_you_mean(os.path.basename(word), known) or f": {', '.join(BUILT_IN)}"
    raise ModelError(f"open_model: there is no file {_show(word)}, nor is it a built-in model{hint}")


def _check_options(function: str, options: dict[str, Any]) -> None:
    for key in options:
        if key not in _OPTIONS:
            hint = did_you_mean(key, _OPTIONS)
            raise TypeError(f"{function}: unknown option {_show(key)}{hint}; expected some of {', '.join(_OPTIONS)}")
    if "snap" in options:
        check_snap(function, options["snap"])


def _only_of_urdf(function: str, options: dict[str, Any], model: str) -> None:
    """Refuse what would be passed over, and leave other numbers than were asked for."""
    for key in _CHANGES:
        if key in options:
            raise TypeError(f"{function}: {key} is given, which only URDF takes; {model} has its own")


def _name(path: str) -> str:
    """A path in a message."""
    base = os.path.basename(path) or path
    return base if len(base) <= 100 and base.isprintable() else _show(base)


def _neighbours(path: str) -> list[str]:
    """Names of files in the folder of a path."""
    try:
        with os.scandir(os.path.dirname(path) or ".") as entries:
            return [entry.name for entry in islice(entries, 1000)]
    except (OSError, ValueError):
        return []


def _read(function: str, path: str) -> bytes:
    """The bytes of a regular file of moderate size."""
    if "\0" in path or not path:
        raise ModelError(f"{function}: path is {_show(path)}, expected the name of a file")
    if not os.path.exists(path):
        hint = did_you_mean(os.path.basename(path), _neighbours(path))
        raise FileNotFoundError(errno.ENOENT, f"{function}: there is no such file{hint}", path)
    if not os.path.isfile(path):  # reading a pipe or a device may never end
        raise ModelError(f"{function}: {_name(path)}: is not a regular file")
    with open(path, "rb") as file:
        start = file.read(2)
        if start == b"PK":  # a simulation reads itself
            return start
        data = start + file.read(MAX_BYTES)
    if not data.strip(b"\0 \t\r\n"):
        raise ModelError(f"{function}: {_name(path)}: is empty")
    if len(data) > MAX_BYTES:
        raise ModelError(f"{function}: {_name(path)}: is larger than {MAX_BYTES >> 20} MiB")
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object whose keys are all different."""
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ModelError(f"the key {_show(next(key for key in keys if keys.count(key) > 1))} stands twice")
    return data


def _from_json(path: str, raw: bytes, strict: Any) -> Model:
    def fail(text: object) -> ModelError:
        return ModelError(f"load: {_name(path)}: {text}")

    try:
        data = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        cut = ": the file is cut short" if error.pos >= len(raw.rstrip()) - 1 else ""
        raise fail(f"is not JSON ({error}){cut}") from None
    except RecursionError:
        raise fail("is nested too deeply") from None
    except ValueError as error:  # no UTF-8, a number of thousands of digits, a key that stands twice
        raise fail(f"is not JSON of zveno ({error})") from None
    kind = data.get("format")
    if not isinstance(kind, str) or kind not in _KINDS:
        if kind in _SIMULATIONS:
            raise fail("is the description of a simulation, expected the .npz file that holds it")
        if kind == "zveno.rig":
            raise fail("is a file of save_rig, expected a model; `zveno.Stepper.open` reads it")
        if kind is None and "chaser" in data:
            raise fail("is a scenario of a docking, expected a model; `zveno.docking.Scenario.load` reads it")
        hint = did_you_mean(kind, _KINDS)
        raise fail(f"format is {_show(kind)}, expected {' or '.join(map(repr, _KINDS))}{hint}")
    try:
        return _KINDS[kind].from_dict(data, strict=strict)
    except ModelError as error:
        raise ModelError(f"load: {_name(path)}: {error}", error.link) from None
    except RecursionError:
        raise fail("is nested too deeply") from None
