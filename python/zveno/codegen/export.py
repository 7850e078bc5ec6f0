"""Generated C as a directory for a rig: source, header, self-test, CMake file and a description of the interface."""

from __future__ import annotations

import errno
import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from .c import CALLED, CSource, Real, c_source, identifier, literal, plain
from .graph import Graph

__all__ = ["Exportable", "export"]

STATES: Final = 16
# of the largest number of a result: what the self-test allows at least, and what is never right
TOLERANCE: Final[dict[Real, float]] = {"double": 1e-12, "float": 1e-5}
WRONG: Final[dict[Real, float]] = {"double": 1e-6, "float": 1e-2}
FLAGS: Final = ("-ffp-contract=off", "-fno-math-errno")
Arrays = tuple[NDArray[np.float64], ...]


class Exportable(Protocol):
    """What `export` needs to know of a traced function."""

    @property
    def graph(self) -> Graph:
        """What it computes."""

    @property
    def name(self) -> str:
        """Of the function in C."""

    @property
    def title(self) -> str:
        """What it computes, in one line."""

    @property
    def origin(self) -> Mapping[str, str]:
        """Model, function, method and so on."""

    def reference(self, count: int, seed: int = 0) -> tuple[Arrays, Arrays]:
        """Random inputs and the results of the kernels: for each argument an array (count, *shape)."""


def export(
    traced: Exportable,
    directory: str | os.PathLike[str],
    *,
    real: Real = "double",
    batch: int = 0,
    overwrite: bool = False,
) -> list[Path]:
    """Write C code that computes what a traced function computes.

    Parameters
    ----------
    traced : traced or compiled function
        As `Chain.trace` gives it.
    directory : path
        Made if it does not exist.
    real : {"double", "float"}
        Type of all numbers; a float function has ``_float`` at the end of its name.
    batch : int
        If not 0, also a function for so many states at once, see `c_source`.
    overwrite : bool
        Replace files that are already there.

    Returns
    -------
    list of Path
        ``<name>.c``, ``<name>.h``, ``<name>_test.c``, ``CMakeLists.txt`` and ``README.md``.

    Raises
    ------
    FileExistsError
        One of the files exists and `overwrite` is False. Nothing is written.
    ArithmeticError
        The generated code would not agree with the kernels. Nothing is written.
    """
    name = identifier(f"{traced.name}_float" if real == "float" else traced.name)
    code = c_source(traced.graph, name=name, real=real, batch=batch, description=traced.title, origin=traced.origin)
    inputs, outputs = traced.reference(STATES, seed=0)
    scales = [float(np.abs(x).max()) or 1.0 for x in outputs]
    found = _difference(traced.graph, inputs, outputs, scales, real)
    if not found <= WRONG[real]:
        raise ArithmeticError(
            f"export: {name} in {real} differs from the kernels by {found:.1e} of the largest number, "
            f"expected at most {WRONG[real]:.0e}"
        )
    # libraries differ in their last digits of sines, which ill-conditioned models amplify
    tolerance = max(TOLERANCE[real], 16 * found)
    files = {
        f"{code.name}.c": code.source,
        f"{code.name}.h": code.header,
        f"{code.name}_test.c": _self_test(code, real, batch, inputs, outputs, scales, tolerance),
        "CMakeLists.txt": _CMAKE.substitute(name=code.name, flags=" ".join(FLAGS)),
        "README.md": _readme(code, traced, real, batch, found, tolerance),
    }
    return _write(files, Path(directory), overwrite=overwrite)


def compile_command(source: Path, test: Path) -> str:
    """Shell command that makes the self-test."""
    return shlex.join(["cc", "-std=c99", "-O2", *FLAGS, str(source), str(test), "-lm", "-o", str(test.with_suffix(""))])


def _difference(graph: Graph, inputs: Arrays, outputs: Arrays, scales: list[float], real: Real) -> float:
    """Largest difference between the graph, evaluated in the type `real`, and the results of the kernels."""
    kind = np.float64 if real == "double" else np.float32
    columns = [x.reshape(STATES, -1).T.astype(kind) for x in inputs]
    with np.errstate(all="ignore"):
        results = graph.evaluate(*columns, arithmetic={"constant": kind})
        worst = [
            np.abs(got - want).max() / scale
            for values, wanted, scale in zip(results, outputs, scales, strict=True)
            for got, want in zip(values, wanted.reshape(STATES, -1).T, strict=True)
        ]
    return float(np.max(worst))


def _write(files: Mapping[str, str], directory: Path, *, overwrite: bool) -> list[Path]:
    """All files or none: they are moved to their places when all of them are complete."""
    there = [directory / name for name in files if (directory / name).exists()]
    if there and not overwrite:
        raise FileExistsError(errno.EEXIST, "export: overwrite is False and there is already a file", str(there[0]))
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "export: not a directory", str(directory))
    for path in there:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "export: a directory has the name of a file", str(path))
    made = not directory.exists()
    directory.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".zveno-", dir=directory) as workshop:
            for name, text in files.items():
                Path(workshop, name).write_text(text, encoding="utf-8", newline="\n")
            for name in files:
                os.replace(Path(workshop, name), directory / name)
    except BaseException:
        if made and not any(directory.iterdir()):
            directory.rmdir()
        raise
    return [directory / name for name in files]


def _self_test(
    code: CSource, real: Real, batch: int, inputs: Arrays, outputs: Arrays, scales: list[float], tolerance: float
) -> str:
    size = code.sizes
    states = f"{code.name.upper()}_BATCH"

    def table(prefix: str, parameter: str, values: NDArray[np.float64]) -> list[str]:
        rows = (", ".join(literal(float(x), real) for x in row) for row in values.reshape(STATES, -1))
        head = f"static const {real} {prefix}_{parameter}[STATES][{size[parameter]}] = {{"
        return [head, *(f"  {{{row}}}," for row in rows), "};"]

    def compare(array: str, stride: str, row: str) -> list[str]:
        return [
            f"    compare({array.format(p)}, {stride}, want_{p}[{row}], {size[p]}, {literal(scale, real)});"
            for p, scale in zip(code.outputs, scales, strict=True)
        ]

    tables = [line for p, x in zip(code.inputs, inputs, strict=True) for line in table("in", p, x)]
    tables += [line for p, x in zip(code.outputs, outputs, strict=True) for line in table("want", p, x)]
    body = [
        "  for (int k = 0; k < STATES; ++k) {",
        *(f"    {real} out_{p}[{size[p]}];" for p in code.outputs),
        f"    {code.name}({', '.join([*(f'in_{p}[k]' for p in code.inputs), *(f'out_{p}' for p in code.outputs)])});",
        *compare("out_{}", "1", "k"),
        "  }",
    ]
    if batch:
        body += [f"  static {real} all_{p}[{size[p]} * {states}];" for p in size]
        for p in code.inputs:
            body.append(f"  for (int k = 0; k < {size[p]} * {states}; ++k) {{")
            body.append(f"    all_{p}[k] = in_{p}[(k % {states}) % STATES][k / {states}];")
            body.append("  }")
        body += [
            f"  {code.name}_batch({', '.join(f'all_{p}' for p in size)});",
            f"  for (int k = 0; k < {states}; ++k) {{",
            *compare("&all_{}[k]", states, "k % STATES"),
            "  }",
        ]
    return _SELF_TEST.substitute(
        name=code.name,
        real=real,
        zero=literal(0.0, real),
        states=STATES,
        tolerance=literal(tolerance, real),
        tables="\n".join(tables),
        body="\n".join(body),
    )


def _readme(code: CSource, traced: Exportable, real: Real, batch: int, found: float, tolerance: float) -> str:
    graph = traced.graph
    arguments = zip((*code.inputs, *code.outputs), (*graph.inputs, *graph.outputs), strict=True)
    rows = [
        f"| `{parameter}` | {'in' if parameter in code.inputs else 'out'} | {argument.size} | "
        f"{' x '.join(map(str, argument.shape)) or 'scalar'} | {_cell(argument.unit)} |"
        for parameter, argument in arguments
    ]
    used = {node.op for node in graph}
    calls = [function for op, function in CALLED.items() if op in used and op != "fma"]
    return _README.substitute(
        name=code.name,
        title=_cell(traced.title),
        real=real,
        command=compile_command(Path(f"{code.name}.c"), Path(f"{code.name}_test.c")),
        prototype=code.prototype,
        rows="\n".join(rows),
        batch=_README_BATCH.substitute(name=code.name, batch=batch) if batch else "",
        calls=", ".join(f"`{x}{'f' if real == 'float' else ''}`" for x in calls) or "nothing",
        fused=_README_FMA if "fma" in used else "",
        cost=graph.operations,
        depth=graph.depth,
        states=STATES,
        found=f"{found:.1e}",
        tolerance=f"{tolerance:.1e}",
        origin="\n".join(f"| {_cell(key)} | {_cell(value)} |" for key, value in traced.origin.items()),
    )


def _cell(text: str) -> str:
    """Text that stays inside its cell of a Markdown table."""
    return plain(text).replace("|", "/").replace("`", "'").replace("<", "&lt;")


_SELF_TEST: Final = Template("""\
/* Self-test of $name with results of zveno's kernels: returns 0 if it passes. */
#include "$name.h"

#include <stdio.h>

#define STATES $states
#define TOLERANCE $tolerance

$tables

/* differences relative to the largest number of each result: the largest one, and how many are too large */
static $real worst = $zero;
static int failures = 0;

static void compare(const $real *got, int stride, const $real *want, int size, $real scale)
{
  for (int k = 0; k < size; ++k) {
    const $real difference = (got[k * stride] - want[k]) / scale;
    const $real distance = (difference < $zero) ? -difference : difference;
    if (!(distance <= TOLERANCE)) { /* true for NaN */
      ++failures;
    }
    if (distance > worst) {
      worst = distance;
    }
  }
}

int main(void)
{
$body
  printf("$name: largest relative difference %.3g, allowed %.3g: %s\\n", (double)worst, (double)TOLERANCE,
         (failures == 0) ? "passed" : "FAILED");
  return (failures == 0) ? 0 : 1;
}
""")

_CMAKE: Final = Template("""\
cmake_minimum_required(VERSION 3.10)
project($name C)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

add_library($name STATIC $name.c)
target_include_directories($name PUBLIC "$${CMAKE_CURRENT_SOURCE_DIR}")
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options($name PRIVATE $flags)
endif()
if(UNIX)
  target_link_libraries($name PUBLIC m)
endif()

enable_testing()
add_executable(${name}_test ${name}_test.c)
target_link_libraries(${name}_test PRIVATE $name)
add_test(NAME $name COMMAND ${name}_test)
""")

_README: Final = Template("""\
# $name

`$title` in C99: straight-line code, generated by zveno for this one mechanism and no other.

| file | |
|---|---|
| `$name.c`, `$name.h` | the function; all that a program needs |
| `${name}_test.c` | self-test: $states states with the results of zveno's own kernels |
| `CMakeLists.txt` | library `$name` and the self-test |

## Interface

```c
$prototype
```

| argument | | numbers | shape | meaning |
|---|---|---|---|---|
$rows

- Matrices are stored row by row. The sizes are macros in the header.
- The arrays must not overlap.
- Inputs are not checked: NaN and infinity go through to the results. Nothing is written but the outputs.
- No allocation, no static data, no recursion: any number of threads may call it at once.
- It calls $calls of the C library.
$batch
## Compile

```sh
$command && ./${name}_test
```

or

```sh
cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure
```

- `-ffp-contract=off` keeps the compiler from fusing multiplications and additions, which gcc may do by default where
  the processor can: the results are the same bits everywhere, up to the last digits of the library's sines.
- `-fno-math-errno` changes no result; with it clang computes the sine and cosine of an angle in one call.
$fused- There are no warnings with `-Wall -Wextra -Wpedantic -Wconversion -Wdouble-promotion`.
- For other elementary functions than those of the library, compile with `-DZVENO_MATH_HEADER='"my_math.h"'`: a header
  that takes the place of `<math.h>`, declares them and defines the macros at the top of `$name.c`.

## Cost

$cost. The longest chain of operations that wait for each other has $depth.

`$name` has no branches and no loops: every call takes the same operations, and the worst case is every case, but for
the time that the library takes for its sines.

## Accuracy

In $states random states the results differ from those of zveno's kernels by at most $found of the largest number of
each result, computed in `$real` with NumPy's sines. The self-test allows $tolerance and prints what it finds.

## Origin

| | |
|---|---|
$origin

Do not edit the code: generate it again.
""")

_README_FMA: Final = """\
- Fused multiply-adds are instructions only where the compiler may use them (`-march=native`, `-mfma`); elsewhere they
  are a multiplication and an addition, and results differ by rounding. Define `ZVENO_FMA` as `fma` to insist.
"""

_README_BATCH: Final = Template("""
`${name}_batch` has the same arguments for $batch states at once, side by side: element e of state i of each array is
`x[e * $batch + i]`. Compilers vectorise its arithmetic (gcc and clang: `-O3 -march=native`), not the calls.
""")
