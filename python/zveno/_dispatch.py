"""Choice of the kernels for this processor, once, at import."""

import importlib
import importlib.util
import os
from typing import TypedDict

from . import _core
from .errors import Error


class CpuFeatures(TypedDict):
    """What `cpu_features` tells."""

    selected: str
    lanes: int
    available: list[str]


def _available() -> list[str]:
    """Instruction sets that this processor has and this installation carries kernels for, best first."""
    return [level for level in _core.cpu_levels() if importlib.util.find_spec(f"{__package__}._kernels_{level}")]


def select() -> CpuFeatures:
    """Load the best kernels, or those that the environment variable ZVENO_ISA names."""
    available = _available()
    wanted = os.environ.get("ZVENO_ISA") or available[0]
    if wanted not in available:
        raise Error(f"ZVENO_ISA is {wanted!r}, expected one of {available} on this machine")
    name, lanes = _core.use_kernels(importlib.import_module(f"{__package__}._kernels_{wanted}").table)
    return {"selected": name, "lanes": lanes, "available": available}


_selected = select()


def cpu_features() -> CpuFeatures:
    """Instruction set in use, its number of SIMD lanes, and the ones available here, best first.

    Examples
    --------
    >>> sorted(cpu_features())
    ['available', 'lanes', 'selected']
    """
    return {**_selected, "available": list(_selected["available"])}
