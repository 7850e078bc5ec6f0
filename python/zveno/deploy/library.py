"""The C library from Python: where it is, and its steps through ctypes."""

from __future__ import annotations

import ctypes as ct
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Self, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import _show, as_path, refuse_masked
from ..errors import Error, ModelError, SingularityError, UnreachableError
from ..model import Chain, Hexapod, Linkage
from .description import RigOptions, describe

if TYPE_CHECKING:
    from ..docking.scenario import Scenario

__all__ = ["Paths", "Stepper", "c_library"]

Array = NDArray[np.float64]
_NAMES: Final = {"win32": "zveno_c.dll", "darwin": "libzveno_c.dylib"}
_INPUT_HELD: Final = 1
_MODEL: Final = (-2, -3)
_UNREACHABLE: Final = -8
_SINGULAR: Final = -9
_OVERFLOW: Final = -10
_MOST_BYTES: Final = 64 << 20  # of a file; the library says so


class Paths(NamedTuple):
    """What a C compiler is told."""

    include: Path
    library: Path

    @property
    def cflags(self) -> str:
        """Options that find the header."""
        return f"-I{self.include}"

    @property
    def libs(self) -> str:
        """Options that link the library."""
        return f"-L{self.library.parent} -lzveno_c -Wl,-rpath,{self.library.parent}"


def c_library() -> Paths:
    """Where ``zveno.h`` and the shared library are.

    Examples
    --------
    >>> from zveno.deploy.library import c_library
    >>> (c_library().include / "zveno.h").exists()
    True
    """
    root = Path(_core.__file__).parent
    return Paths(root / "include", root / "lib" / _NAMES.get(sys.platform, "libzveno_c.so"))


class _Info(ct.Structure):
    _fields_: ClassVar = [
        ("struct_size", ct.c_size_t),
        *((key, ct.c_char_p) for key in ("name", "kind", "kernels")),
        ("period", ct.c_double),
        *(
            (key, ct.c_int32)
            for key in (
                "substeps", "method", "joints", "inputs", "outputs",
                "input_size", "output_size", "start_size", "state_size",
            )
        ),
    ]  # fmt: skip


class _Channel(ct.Structure):
    _fields_: ClassVar = [
        ("struct_size", ct.c_size_t),
        ("name", ct.c_char_p),
        ("unit", ct.c_char_p),
        *((key, ct.c_int32) for key in ("offset", "size", "required")),
    ]


class _Status(ct.Structure):
    _fields_: ClassVar = [
        ("struct_size", ct.c_size_t),
        ("time", ct.c_double),
        *((key, ct.c_int64) for key in ("steps", "held_inputs", "failures")),
        *((key, ct.c_int32) for key in ("held_in_row", "stopped")),
    ]


@cache
def _loaded() -> ct.CDLL:
    path = c_library().library
    try:
        library = ct.CDLL(os.fspath(path))
    except OSError as error:
        raise ImportError(f"zveno's C library cannot be loaded: {error}") from None
    library.zv_strerror.restype = ct.c_char_p
    library.zv_version.restype = ct.c_char_p
    library.zv_rig_create_with.restype = ct.c_void_p
    library.zv_rig_create_with.argtypes = [
        ct.c_char_p, ct.c_size_t, ct.c_void_p, ct.POINTER(ct.c_int), ct.c_char_p, ct.c_size_t
    ]  # fmt: skip
    library.zv_rig_free.argtypes = [ct.c_void_p]
    library.zv_rig_free.restype = None
    for name in (
        "zv_rig_get_state",
        "zv_rig_set_state",
        "zv_rig_reset",
        "zv_rig_info",
        "zv_rig_status",
        "zv_rig_outputs",
    ):
        getattr(library, name).argtypes = [ct.c_void_p, ct.c_void_p]
    for name in ("zv_rig_input", "zv_rig_output"):
        getattr(library, name).argtypes = [ct.c_void_p, ct.c_int32, ct.c_void_p]
    library.zv_rig_step.argtypes = [ct.c_void_p, ct.c_void_p, ct.c_void_p]
    library.zv_last_detail.argtypes = [ct.c_void_p, ct.c_char_p, ct.c_size_t]
    return library


def _numbers(function: str, name: str, value: ArrayLike) -> Array:
    """A contiguous array."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.ndim:  # of every step
        return np.ascontiguousarray(value)
    refuse_masked(value, f"{function}: {name}")
    try:
        array = np.asarray(value)
        if array.dtype.kind in "iuf" or (array.dtype.kind == "O" and all(x is not None for x in array.flat)):
            return np.array(array, dtype=np.float64, order="C")  # a number stays one, without a shape
    except (TypeError, ValueError, OverflowError):  # the last of whole numbers beyond doubles
        pass
    raise ValueError(f"{function}: {name} is {_show(value)}, expected numbers")


class Stepper:
    """A mechanism that the C library steps, one period after another, as a rig does.

    The numbers are those of ``simulate`` with the same step, to the last bit.

    Parameters
    ----------
    model : Chain, Linkage, Hexapod or docking.Scenario
    **options
        Those of `save_rig`.

    Attributes
    ----------
    inputs, outputs : dict of slice
        Where quantities stand in the arrays of `step_array`, by name.
    units : dict of str
        Their units.

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.two_link()
    >>> stepper = zv.Stepper(arm, period=1e-3, q=[0.5, 0.0])
    >>> stepper
    Stepper 'two_link': chain, period 0.001 s, 2 inputs, 13 outputs
    >>> for _ in range(1000):
    ...     out = stepper.step(tau=[0.0, 0.0])
    >>> bool((out["q"] == arm.simulate(1.0, 1e-3, q=[0.5, 0.0]).q[-1]).all())
    True
    """

    def __init__(self, model: Chain | Hexapod | Linkage | Scenario, **options: Unpack[RigOptions]) -> None:
        self._open("Stepper", describe("Stepper", model, options).to_json().encode())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """From a file of `save_rig`, of ``save`` of a chain or a hexapod, or from URDF, which C reads.

        Examples
        --------
        >>> import os, tempfile, zveno as zv
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "arm.json")
        ...     zv.robots.two_link().save(path)
        ...     zv.Stepper.open(path).period
        0.001
        """
        name = as_path("Stepper.open", path)
        if os.path.exists(name) and not os.path.isfile(name) and not os.path.isdir(name):
            raise ValueError(f"Stepper.open: {_show(name)} is a device or a pipe, expected a file")
        with open(name, "rb") as file:
            text = file.read(_MOST_BYTES + 1)
        made = cls.__new__(cls)
        made._open("Stepper.open", text)
        return made

    def _open(self, function: str, text: bytes) -> None:
        self._handle = None
        self._library = library = _loaded()
        code, message = ct.c_int(), ct.create_string_buffer(400)
        handle = library.zv_rig_create_with(text, len(text), None, ct.byref(code), message, len(message))
        if not handle:
            self._raise(function, code.value, message.value.decode(errors="replace"))
        self._handle = handle
        info = _Info(struct_size=ct.sizeof(_Info))
        library.zv_rig_info(handle, ct.byref(info))
        self._info = info
        self.period, self.kernels = float(info.period), str(info.kernels.decode())
        self.units: dict[str, str] = {}
        self.inputs = self._channels(library.zv_rig_input, info.inputs)
        self.outputs = self._channels(library.zv_rig_output, info.outputs)
        self._in = np.zeros(info.input_size)
        self._out = np.zeros(info.output_size)

    def _channels(self, get: Any, count: int) -> dict[str, slice]:
        channel, found = _Channel(struct_size=ct.sizeof(_Channel)), {}
        for k in range(count):
            get(self._handle, k, ct.byref(channel))
            name = channel.name.decode()
            found[name] = slice(channel.offset, channel.offset + channel.size)
            self.units[name] = channel.unit.decode()
        return found

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self._library.zv_rig_free(self._handle)
            self._handle = None

    def __repr__(self) -> str:
        """Model, period, numbers of inputs and outputs."""
        numbers = f"{len(self._in)} inputs, {len(self._out)} outputs"
        name = self._info.name.decode(errors="replace")
        return f"Stepper '{name}': {self._info.kind.decode()}, period {self.period:g} s, {numbers}"

    @staticmethod
    def _raise(function: str, code: int, detail: str) -> None:
        text = f"{function}: {detail or _loaded().zv_strerror(code).decode()}"
        if code in _MODEL:
            raise ModelError(text)
        kinds: dict[int, type[Exception]] = {
            _UNREACHABLE: UnreachableError, _SINGULAR: SingularityError, _OVERFLOW: FloatingPointError
        }  # fmt: skip
        raise kinds.get(code, Error if code < -1 else ValueError)(text)

    def _check(self, function: str, code: int) -> None:
        if code >= 0:
            return
        message = ct.create_string_buffer(400)
        self._library.zv_last_detail(self._handle, message, len(message))
        self._raise(f"Stepper.{function}", code, message.value.decode(errors="replace"))

    @property
    def time(self) -> float:
        """End of the last step, s."""
        return float(self._status().time)

    @property
    def counts(self) -> dict[str, int]:
        """Steps made, steps made with held inputs, steps that could not be made."""
        status = self._status()
        return {"steps": status.steps, "held_inputs": status.held_inputs, "failures": status.failures}

    def _status(self) -> Any:
        status = _Status(struct_size=ct.sizeof(_Status))
        self._library.zv_rig_status(self._handle, ct.byref(status))
        return status

    def step(self, **inputs: ArrayLike) -> dict[str, Array]:
        """One period. What is not given is zero.

        Parameters
        ----------
        **inputs : arrays
            By the names of `inputs`; those with a dot as ``**{"external.tool": wrench}``.

        Returns
        -------
        dict of arrays
            By the names of `outputs`.

        Examples
        --------
        >>> import zveno as zv
        >>> stepper = zv.Stepper(zv.robots.two_link(), period=1e-3)
        >>> sorted(stepper.step(tau=[1.0, 0.0]))
        ['base_wrench', 'energy', 'q', 'qd', 'qdd']
        """
        self._in[:] = 0.0
        for name, value in inputs.items():
            if name not in self.inputs:
                raise ValueError(f"Stepper.step: there is no input {_show(name)}, expected {', '.join(self.inputs)}")
            part = self.inputs[name]
            array = _numbers("Stepper.step", name, value)
            if array.shape != (part.stop - part.start,):
                raise ValueError(f"Stepper.step: {name} has shape {array.shape}, expected ({part.stop - part.start},)")
            self._in[part] = array
        out = self.step_array(self._in)
        return {name: out[part].copy() for name, part in self.outputs.items()}

    def step_array(self, inputs: Array) -> Array:
        """One period with all inputs in one array; the result is written again by the next step.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> stepper = zv.Stepper(zv.robots.two_link(), period=1e-3)
        >>> out = stepper.step_array(np.array([1.0, 0.0]))
        >>> out[stepper.outputs["q"]].shape
        (2,)
        """
        array = _numbers("Stepper.step_array", "inputs", inputs)
        if array.shape != self._in.shape:
            raise ValueError(f"Stepper.step_array: inputs has shape {array.shape}, expected {self._in.shape}")
        code = self._library.zv_rig_step(self._handle, array.ctypes.data, self._out.ctypes.data)
        self._check("step_array", code)
        return self._out

    def reset(self, start: ArrayLike | None = None) -> None:
        """Back to the start, or to another in one array.

        q, qd of a chain or linkage; r, quaternion, u of a hexapod; closing speed, offset (2), pitch, yaw, roll, lateral
        velocity (2), rates (3), gap of a docking.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> stepper = zv.Stepper(zv.robots.two_link(), period=1e-3)
        >>> first = stepper.step(tau=[1.0, 0.0])["qd"].copy()
        >>> stepper.reset()
        >>> bool((stepper.step(tau=[1.0, 0.0])["qd"] == first).all())
        True
        """
        if start is None:
            return self._check("reset", self._library.zv_rig_reset(self._handle, None))
        array = _numbers("Stepper.reset", "start", start)
        if array.shape != (self._info.start_size,):
            raise ValueError(f"Stepper.reset: start has shape {array.shape}, expected ({self._info.start_size},)")
        return self._check("reset", self._library.zv_rig_reset(self._handle, array.ctypes.data))

    @property
    def output(self) -> dict[str, Array]:
        """Outputs of the last step, or of the start, by name."""
        out = np.empty_like(self._out)
        self._check("output", self._library.zv_rig_outputs(self._handle, out.ctypes.data))
        return {name: out[part] for name, part in self.outputs.items()}

    @property
    def state(self) -> Array:
        """Everything that the next steps depend on; set it to go on from there, to the same bits."""
        state = np.empty(self._info.state_size)
        self._check("state", self._library.zv_rig_get_state(self._handle, state.ctypes.data))
        return state

    @state.setter
    def state(self, value: ArrayLike) -> None:
        array = _numbers("Stepper.state", "state", value)
        if array.shape != (self._info.state_size,):
            raise ValueError(f"Stepper.state: shape is {array.shape}, expected ({self._info.state_size},)")
        self._check("state", self._library.zv_rig_set_state(self._handle, array.ctypes.data))
