"""Bytes of code and stack of generated C: measured with the compiler of this machine, or estimated."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from .c import CLibrary, Real
from .graph import CONSTANT, INPUT, Graph

__all__ = ["FLAGS", "Footprint", "find_compiler", "footprint"]

FLAGS: Final = ("-ffp-contract=off", "-fno-math-errno")
PATIENCE: Final = 120.0  # seconds for the compiler
# without a compiler: bytes that gcc -O2 makes of one operation on x86-64, loads and stores of spilled values included
BYTES: Final = 12


@dataclass(frozen=True)
class Footprint:
    """Bytes by function; `how` they were found, in words."""

    code: Mapping[str, int]
    stack: Mapping[str, int]
    measured: bool
    how: str


def find_compiler() -> list[str] | None:
    """The words that call the C compiler of this machine: $CC, cc, gcc or clang."""
    wanted = os.environ.get("CC")
    if wanted:
        words = shlex.split(wanted)
        return words if words and shutil.which(words[0]) else None
    found = next((path for path in map(shutil.which, ("cc", "gcc", "clang")) if path), None)
    return [found] if found else None


def footprint(library: CLibrary, functions: Mapping[str, Graph], real: Real, batch: int) -> Footprint:
    """Code and stack of every function of a library.

    Parameters
    ----------
    library : CLibrary
    functions : mapping of str to Graph
        By the names in C.
    real : {"double", "float"}
    batch : int
        As the library was made.

    Returns
    -------
    Footprint
    """
    compiler = find_compiler()
    reason = "there was no compiler"
    if compiler is not None:
        try:
            return _measured(library, list(functions), compiler)
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            reason = f"`{Path(compiler[0]).name}` could not tell: {type(error).__name__}"
    width = 8 if real == "double" else 4
    code = {name: BYTES * (len(graph) - _leaves(graph)) for name, graph in functions.items()}
    stack = {name: width * _alive(graph) for name, graph in functions.items()}
    how = f"Estimated, {reason}: {BYTES} bytes for an operation, and all values that are needed at once on the stack."
    return Footprint(code, stack, False, how + (" Functions for batches are not counted." if batch else ""))


def _measured(library: CLibrary, functions: list[str], compiler: list[str]) -> Footprint:
    symbols = shutil.which("nm")
    if symbols is None:
        raise ValueError("nm is missing")
    flags = ["-std=c99", "-O2", *FLAGS]
    with tempfile.TemporaryDirectory() as folder:

        def run(*words: str) -> str:
            # messages of the tools in English
            env = {**os.environ, "LC_ALL": "C"}
            return subprocess.run(
                words, check=True, capture_output=True, text=True, cwd=folder, timeout=PATIENCE, env=env
            ).stdout

        source = Path(folder, f"{library.name}.c")
        source.write_text(library.source, encoding="utf-8")
        source.with_suffix(".h").write_text(library.header, encoding="utf-8")
        run(*compiler, *flags, "-fstack-usage", "-c", source.name, "-o", "code.o")
        sized = run(symbols, "-S", "code.o")
        reports = [path.read_text() for path in Path(folder).glob("*.su")]
        version, machine = run(*compiler, "--version"), run(*compiler, "-dumpmachine").strip()
    found = re.findall(r"^[0-9a-f]+ ([0-9a-f]+) [Tt] _?(\w+)$", sized, re.MULTILINE)
    code = {name: int(size, 16) for size, name in found}
    stack = {name: int(size) for name, size in re.findall(r":(\w+)\t(\d+)\t", "".join(reports))}
    wanted = [name for name in code if name in stack]
    if missing := set(functions) - set(wanted):
        raise ValueError(f"nothing about {min(missing)}")
    how = (
        f"Measured: {version.splitlines()[0].strip()} for {machine}, `{' '.join(flags)}`; "
        "without the functions of the C library that it calls."
    )
    return Footprint({n: code[n] for n in wanted}, {n: stack[n] for n in wanted}, True, how)


def _leaves(graph: Graph) -> int:
    return int(np.count_nonzero((graph.op == CONSTANT) | (graph.op == INPUT)))


def _alive(graph: Graph) -> int:
    """Most values that are computed and still needed, in the order of the graph."""
    nodes = list(graph)
    last = list(range(len(nodes)))
    for node in nodes:
        for i in node.operands:
            last[i] = node.index
    change = np.zeros(len(nodes) + 1, int)
    for node in nodes:
        if node.op not in ("input", "constant"):
            change[node.index] += 1
            change[last[node.index]] -= 1
    return int(np.cumsum(change).max(initial=0)) + 1
