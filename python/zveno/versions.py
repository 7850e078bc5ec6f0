"""What is installed and what this machine has: ``zv.show_versions()``, ``zveno doctor``."""

from __future__ import annotations

import json
import math
import os
import platform
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

from . import _core
from ._check import as_flag
from ._dispatch import cpu_features

__all__ = ["EXTRAS", "show_versions", "versions"]

EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "cli": ("typer", "rich"),
    "plot": ("matplotlib",),
    "jit": ("llvmlite",),
    "data": ("pandas", "xarray", "openpyxl", "pyarrow"),
    "scipy": ("scipy",),
    "identify": ("clarabel", "scipy"),
    "cluster": ("dask", "distributed"),
    "fmi": ("fmpy",),
    "fmi-cross": ("ziglang",),
    "bench": ("pin", "mujoco", "casadi", "example-robot-data", "cmeel-eigen", "cmake"),
}
PURPOSE: Final = {
    "cli": "the command line",
    "plot": "figures",
    "jit": "compiled functions",
    "data": "tables for pandas, xarray, Excel, Parquet",
    "scipy": "steps of adaptive length, modes",
    "identify": "bodies that can exist, by a semidefinite program",
    "cluster": "campaigns of dockings on many machines",
    "fmi": "FMUs run and checked; to write them nothing is needed",
    "fmi-cross": "FMUs for other platforms",
    "bench": "comparison with other engines",
}
WIDTH: Final = 80
# what the library calls the limits of its threads, in words
LIMITS: Final = {
    "processors": "processors of the machine",
    "affinity": "processors that this process may run on",
    "control group": "quota of the container (control group), processors",
    "SLURM_CPUS_PER_TASK": "processors of the job (SLURM_CPUS_PER_TASK)",
}


def show_versions(*, as_json: bool = False) -> None:
    """Print versions, instruction set, threads, extras and compiler: what a report of a problem should begin with.

    Parameters
    ----------
    as_json : bool
        Machine-readable.

    Examples
    --------
    >>> import zveno as zv
    >>> zv.show_versions()  # doctest: +ELLIPSIS
    zveno ...
    """
    found = versions()

    def fail(text: str) -> NoReturn:
        raise ValueError(f"show_versions: {text}")

    as_json = as_flag(as_json, fail, "as_json")
    sys.stdout.write(json.dumps(found, indent=2) + "\n" if as_json else "\n".join(report(found)) + "\n")


def versions() -> dict[str, Any]:
    """The same as plain data: ``zveno``, ``python``, ``numpy``, ``cpu``, ``instructions``, ``threads``, ``extras``, ...

    Examples
    --------
    >>> from zveno.versions import versions
    >>> versions()["threads"]["used"] > 0
    True
    """
    features = cpu_features()
    return {
        "zveno": _version("zveno"),
        "folder": str(Path(__file__).parent),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "numpy": _version("numpy"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": _processor(),
        "instructions": {
            **features,
            "chosen_by": "ZVENO_ISA" if os.environ.get("ZVENO_ISA") else "the processor",
            "processor": _core.cpu_levels(),
        },
        "threads": _threads(),
        "memory_gib": _memory(),
        "extras": {
            extra: {
                "purpose": PURPOSE[extra],
                "found": {name: version for name in parts if (version := _version(name))},
                "missing": [name for name in parts if not _version(name)],
                "install": f'pip install "zveno[{extra}]"',
            }
            for extra, parts in EXTRAS.items()
        },
        "compiler": _compiler(),
    }


def report(found: Mapping[str, Any]) -> list[str]:
    """Lines for people, at most 80 columns."""
    isa, threads, compiler = found["instructions"], found["threads"], found["compiler"]
    others = [name for name in isa["available"] if name != isa["selected"]]
    lines = [
        f"zveno {found['zveno'] or '(not installed as a package)'}",
        *_row("folder", found["folder"]),
        *_row("python", f"{found['implementation']} {found['python']}, numpy {found['numpy']}"),
        *_row("interpreter", found["executable"]),
        *_row("system", found["system"]),
        *_row("processor", found["cpu"]),
        *_row(
            "instructions",
            f"{isa['selected']}, {isa['lanes']} doubles at once, chosen by {isa['chosen_by']}"
            + (f"; also here: {', '.join(others)}" if others else ""),
        ),
        *_better_kernels(isa),
        *_row("threads", f"{threads['used']} with threads=0, the {LIMITS.get(threads['source'], threads['source'])}"),
    ]
    for name, value in threads["limits"].items():
        if name != threads["source"]:
            lines += _row("", f"{LIMITS.get(name, name)}: {value:g}")
    if not threads["limits"].keys() - {"processors", "affinity"}:
        lines += _row("", "no quota of a container or a batch queue")
    lines += _row("memory", f"{found['memory_gib']:.1f} GiB" if found["memory_gib"] else "unknown")
    lines += _row("C compiler", compiler or "none: exported code cannot be measured here, only written")
    lines += ["", "Extras"]
    for extra, parts in found["extras"].items():
        have = ", ".join(f"{name} {version}" for name, version in parts["found"].items())
        lines += _row(f"  {extra}", f"{parts['purpose']}: {have or 'nothing'} found")
        if parts["missing"]:
            lines += _row("", f"missing: {', '.join(parts['missing'])}")
            lines += _row("", parts["install"])
    return lines


def _better_kernels(isa: Mapping[str, Any]) -> list[str]:
    """What to do where the package was compiled on another kind of processor."""
    best, here = isa["processor"][0], isa["available"]
    if best in here or (here == ["baseline"] and isa["lanes"] > 2):  # of this very processor, by ZVENO_NATIVE
        return []
    return _row("", f"no kernels for {best}, which this processor has: install from sources here, or with") + _row(
        "", "pip install -Ccmake.define.ZVENO_ALL_ISAS=ON ."
    )


def _row(name: str, text: str) -> list[str]:
    """A name and its text, continued below itself; words are never broken."""
    indent, lines = 14, [""]
    for word in text.split():
        if lines[-1] and indent + len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return [f"{name if k == 0 else '':{indent}}{line}".rstrip() for k, line in enumerate(lines)]


def _version(package: str) -> str | None:
    from importlib import metadata  # a fifth of the time that zveno's import takes

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    names = re.findall(r"^model name\s*:\s*(.+)$", _text(Path("/proc/cpuinfo")), re.MULTILINE)
    return names[0].strip() if names else platform.processor() or platform.machine()


def _threads() -> dict[str, Any]:
    """The number that ``threads=0`` means, and everything that limits it."""
    ask = getattr(_core, "thread_limits", None)  # a core that does not know limits takes all processors
    limits: dict[str, float] = dict(ask()) if ask is not None else {"processors": float(os.cpu_count() or 1)}
    source = min(limits, key=limits.__getitem__)
    return {"used": max(1, math.ceil(limits[source])), "source": source, "limits": limits}


def _memory() -> float | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, OSError, ValueError):
        return None


def _compiler() -> str | None:
    import subprocess

    from .codegen.footprint import find_compiler

    words = find_compiler()
    if words is None:
        return None
    try:
        answer = subprocess.run([*words, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return f"{words[0]} (does not answer)"
    return f"{answer.stdout.splitlines()[0].strip()} ({words[0]})" if answer.stdout.strip() else words[0]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
