"""zveno's library for C as sources in an FMU: C++17 that needs nothing but a compiler and its standard library."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from .. import _core
from .library import c_library

__all__ = ["CHAINS", "RINGS", "library_sources"]

_FIRST: Final = (
    ("rig/c_library", "rig/json", "rig/text", "rig/description", "rig/checked", "rig/outputs"),
    ("model/body", "model/build", "model/linkage", "model/inertial"),
    ("instances/chain_double", "instances/chain_double_analysis"),
)
# each group is compiled as one file, which takes two thirds of the time that its parts take
RINGS: Final = (
    *_FIRST,
    ("rig/only_rings", "rig/hexapod_machine", "sim/hexapod_system", "sim/docking"),
    ("rig/docking_machine",),
    ("model/hexapod", "batch/free_motion", "batch/contact", "batch/laws"),
    (
        "batch/hexapod_rows", "batch/hexapod_motion", "solve/custom_leg",
        "instances/leg_rsu", "instances/leg_rus", "instances/leg_spu", "instances/leg_ucu", "instances/leg_ups",
    ),
)  # fmt: skip
CHAINS: Final = (
    *_FIRST,
    ("rig/only_chains", "rig/chain_machine", "sim/chain_system", "sim/linkage_holding"),
    (
        "model/hexapod",
        "batch/laws",
        "batch/chain_rows",
        "batch/linkage_rows",
        "batch/inertia_solver",
        "batch/stage_dynamics",
    ),
    ("instances/chain_dual", "instances/linkage_dual", "instances/linkage_double", "instances/linkage_packed"),
    ("instances/chain_packed", "instances/chain_packed_analysis"),
)

_HEAD: Final = """\
/* A part of zveno's library, which this FMU is computed by. No other library of a process shares anything with it. */
#define zveno {word}_zveno
#define zv_rig {word}_zv_rig
#define zv_function {word}_zv_function
#define ZVENO_C_INSIDE
#define ZVENO_CALLS
#define ZVENO_VERSION "{version}"
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && defined(__FP_FAST_FMA)
#pragma GCC optimize("fp-contract=off")
#endif
"""


def library_sources(groups: tuple[tuple[str, ...], ...], word: str) -> tuple[list[str], dict[str, str]]:
    """Which files are to be compiled, and all files by their place; `word` keeps apart what two FMUs have."""
    from .. import __version__

    folders = Path(_core.__file__).parent / "sources", c_library().include
    files: dict[str, str] = {}
    listed = [f"{word}_zveno_{k + 1}.cpp" for k in range(len(groups))]
    for name, group in zip(listed, groups, strict=True):
        lines = [f"#include <zveno/{part}.cpp>\n" for part in group]
        files[name] = _HEAD.format(word=word, version=__version__) + "".join(lines)
    wanted = ["zveno.h", "zveno/LICENSE", *(f"zveno/{part}.cpp" for group in groups for part in group)]
    while wanted:
        name = wanted.pop()
        if name in files:
            continue
        path = next(folder / name for folder in folders if (folder / name).is_file())
        files[name] = path.read_text(encoding="utf-8")
        wanted += re.findall(r"^#include <(zveno/[^>]*)>", files[name], re.M)
    return listed, files
