"""Libraries that only some functions need: what to install where one is missing."""

from __future__ import annotations

import importlib
from typing import Any, Final

__all__ = ["optional"]

_EXTRAS: Final = {
    "matplotlib": "plot",
    "rich": "cli",
    "pandas": "data",
    "xarray": "data",
    "pyarrow": "data",
    "llvmlite": "jit",
    "scipy": "scipy",
    "distributed": "cluster",
    "clarabel": "identify",
}


def optional(module: str, who: str, package: str | None = None) -> Any:
    """Import a module that needs `package`, by default itself; where that is missing, say how `who` gets it."""
    package = package or module
    try:
        return importlib.import_module(module)
    except ImportError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        extra = f"zveno[{_EXTRAS[package]}]" if package in _EXTRAS else package
        raise ImportError(f"{who} needs {package}: install it with `pip install {extra}`", name=package) from error
