"""Generated C as a directory for a rig: source, header, self-test, CMake file and a description of the interface."""

from __future__ import annotations

import errno
import os
import re
import shlex
import tempfile
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Final, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from .._check import _show, as_flag
from .c import CALLED, CLibrary, CSource, Real, c_library, c_source, identifier, literal, plain
from .footprint import FLAGS, Footprint, footprint
from .graph import Graph

__all__ = ["Exportable", "Package", "export", "prepare"]

STATES: Final = 16
# of the largest number of a result: what the self-test allows at least, and what is never right
TOLERANCE: Final[dict[Real, float]] = {"double": 1e-12, "float": 1e-5}
WRONG: Final[dict[Real, float]] = {"double": 1e-6, "float": 1e-2}
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
    traced: Exportable | Sequence[Exportable],
    directory: str | os.PathLike[str],
    *,
    name: str | None = None,
    real: Real = "double",
    batch: int = 0,
    overwrite: bool = False,
) -> list[Path]:
    """Write C code that computes what traced functions compute.

    Parameters
    ----------
    traced : traced or compiled function, or a sequence of them
        As `Chain.trace` and `Hexapod.trace` give it. Several functions share one header, one source, one self-test.
    directory : path
        Made if it does not exist.
    name : str, optional
        Of the files and the CMake target. Default: one function gives its own name, several that of the model.
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

    Examples
    --------
    >>> import tempfile, zveno as zv
    >>> from zveno.codegen.export import export
    >>> arm = zv.robots.two_link()
    >>> functions = [arm.trace("inverse_dynamics"), arm.trace("mass_matrix")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print([path.name for path in export(functions, folder)])
    ['two_link.c', 'two_link.h', 'two_link_test.c', 'CMakeLists.txt', 'README.md']
    """
    return prepare(traced, name=name, real=real, batch=batch).write(directory, overwrite=overwrite)


@dataclass(frozen=True)
class Package:
    """An export that has not been written yet.

    Attributes
    ----------
    library : CLibrary
        The code.
    functions : tuple
        What was exported.
    """

    library: CLibrary
    functions: tuple[Exportable, ...]
    _real: Real
    _batch: int
    _checks: tuple[_Check, ...]

    def write(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> list[Path]:
        """Write the files, see `export`."""
        if not isinstance(directory, str | os.PathLike):
            raise TypeError(f"export: directory is {_show(directory)}, expected a path")

        def fail(text: str) -> NoReturn:
            raise ValueError(f"export: {text}")

        overwrite = as_flag(overwrite, fail, "overwrite")
        if any(c == "\0" or "\ud800" <= c <= "\udbff" for c in os.fspath(directory)):
            fail(f"directory is {_show(directory)}, which no folder can be called")
        if not os.fspath(directory):
            raise ValueError("export: directory is '', expected the name of a folder ('.' is this one)")
        name, folder = self.library.name, Path(directory)
        files = [f"{name}.c", f"{name}.h", f"{name}_test.c", "CMakeLists.txt", "README.md"]
        _require_room(files, folder, overwrite=overwrite)
        texts = (
            self.library.source,
            self.library.header,
            _self_test(self.library, self._real, self._batch, self._checks),
            _CMAKE.substitute(name=name, flags=" ".join(FLAGS)),
            _readme(self.library, self.functions, self._real, self._batch, self._checks, self.footprint),
        )
        return _write(dict(zip(files, texts, strict=True)), folder)

    @cached_property
    def footprint(self) -> Footprint:
        """Bytes of code and stack of each function, measured if there is a compiler."""
        names = {code.name: traced.graph for code, traced in zip(self.library.functions, self.functions, strict=True)}
        return footprint(self.library, names, self._real, self._batch)


@dataclass(frozen=True)
class _Check:
    """Reference states of one function, and how far its code may be from them."""

    inputs: Arrays
    outputs: Arrays
    scales: list[float]
    found: float
    tolerance: float


def prepare(
    traced: Exportable | Sequence[Exportable], *, name: str | None = None, real: Real = "double", batch: int = 0
) -> Package:
    """The code of an export, compared with the kernels; see `export`."""
    functions = tuple(traced) if isinstance(traced, Sequence) else (traced,)
    if not functions:
        raise ValueError("export: there is no function to export")
    if not isinstance(real, str) or real not in TOLERANCE:
        raise ValueError(f"export: real is {_show(real)}, expected 'double' or 'float'")
    if name is not None and not (isinstance(name, str) and re.search("[0-9A-Za-z]", name)):
        raise ValueError(f"export: name is {_show(name)}, expected a name with letters or digits")
    codes = [
        c_source(item.graph, name=word, real=real, batch=batch, description=item.title, origin=item.origin)
        for item, word in zip(functions, _function_names(functions, real), strict=True)
    ]
    checks = tuple(_check(item, code.name, real) for item, code in zip(functions, codes, strict=True))
    return Package(c_library(codes, name=name or _name(functions, codes, real)), functions, real, batch, checks)


def _function_names(functions: Sequence[Exportable], real: Real) -> list[str]:
    """Identifiers that differ: the same function of several links is told by the link."""
    end = "_float" if real == "float" else ""
    plainly = [item.name for item in functions]
    found: list[str] = []
    for item in functions:
        link = item.origin.get("link")
        word = f"{item.name}_{link}" if plainly.count(item.name) > 1 and link else item.name
        number, base = 1, word
        while identifier(f"{word}{end}") in found:
            number += 1
            word = f"{base}_{number}"
        found.append(identifier(f"{word}{end}"))
    return found


def _name(functions: Sequence[Exportable], codes: Sequence[CSource], real: Real) -> str:
    """Of the only function, of the only model, or a general one."""
    if len(codes) == 1:
        return codes[0].name
    models = {re.sub(r"\(.*?\)", "", item.origin.get("model", "")).strip() for item in functions}
    word = models.pop() if len(models) == 1 else ""
    return identifier((word or "zveno_functions").lower() + ("_float" if real == "float" else ""))


def _check(traced: Exportable, name: str, real: Real) -> _Check:
    inputs, outputs = traced.reference(STATES, seed=0)
    scales = [float(np.abs(x).max()) or 1.0 for x in outputs]
    found = _difference(traced.graph, inputs, outputs, scales, real)
    if not found <= WRONG[real]:
        raise ArithmeticError(
            f"export: {name} in {real} differs from the kernels by {found:.1e} of the largest number, "
            f"expected at most {WRONG[real]:.0e}"
        )
    # libraries differ in their last digits of sines, which ill-conditioned models amplify
    return _Check(inputs, outputs, scales, found, max(TOLERANCE[real], 16 * found))


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


def _require_room(names: Iterable[str], directory: Path, *, overwrite: bool) -> None:
    there = [directory / name for name in names if (directory / name).exists()]
    if there and not overwrite:
        raise FileExistsError(errno.EEXIST, "export: overwrite is False and there is already a file", str(there[0]))
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "export: not a directory", str(directory))
    for path in there:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "export: a directory has the name of a file", str(path))


def _write(files: Mapping[str, str], directory: Path) -> list[Path]:
    """All files or none: they are moved to their places when all of them are complete."""
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


def _self_test(library: CLibrary, real: Real, batch: int, checks: Sequence[_Check]) -> str:
    several = len(checks) > 1
    tables, body = [], []
    for number, (code, check) in enumerate(zip(library.functions, checks, strict=True)):
        tables += _test_tables(code, check, real, f"_{number}" if several else "")
        body += ["  {", *(f"  {line}" for line in _test_body(code, check, real, batch, library.ok, number, several))]
        body += [f'    finish("{code.name}", {literal(check.tolerance, real)});', "  }"]
    return _SELF_TEST.substitute(
        name=library.name,
        real=real,
        zero=literal(0.0, real),
        states=STATES,
        tables="\n".join(tables),
        body="\n".join(body),
    )


def _test_tables(code: CSource, check: _Check, real: Real, mark: str) -> list[str]:
    lines = []
    for prefix, parameters, values in (("in", code.inputs, check.inputs), ("want", code.outputs, check.outputs)):
        for p, x in zip(parameters, values, strict=True):
            rows = (", ".join(literal(float(v), real) for v in row) for row in x.reshape(STATES, -1))
            lines.append(f"static const {real} {prefix}{mark}_{p}[STATES][{code.sizes[p]}] = {{")
            lines += [*(f"  {{{row}}}," for row in rows), "};"]
    return lines


def _test_body(
    code: CSource, check: _Check, real: Real, batch: int, ok: str | None, number: int, several: bool
) -> list[str]:
    size, mark = code.sizes, f"_{number}" if several else ""
    states, tolerance = f"{code.name.upper()}_BATCH", literal(check.tolerance, real)

    def compare(array: str, stride: str, row: str) -> list[str]:
        return [
            f"    compare({array.format(p)}, {stride}, want{mark}_{p}[{row}], {size[p]}, {literal(scale, real)}, "
            f"{tolerance});"
            for p, scale in zip(code.outputs, check.scales, strict=True)
        ]

    arguments = [*(f"in{mark}_{p}[k]" for p in code.inputs), *(f"out_{p}" for p in code.outputs)]
    body = [
        "  for (int k = 0; k < STATES; ++k) {",
        *(f"    {real} out_{p}[{size[p]}];" for p in code.outputs),
        f"    {code.name}({', '.join(arguments)});",
        *compare("out_{}", "1", "k"),
        *([f"    failures += !{ok}(out_{code.judged});"] if code.judged else []),
        "  }",
    ]
    if batch:
        body += [f"  static {real} all_{p}[{size[p]} * {states}];" for p in size]
        for p in code.inputs:
            body.append(f"  for (int k = 0; k < {size[p]} * {states}; ++k) {{")
            body.append(f"    all_{p}[k] = in{mark}_{p}[(k % {states}) % STATES][k / {states}];")
            body.append("  }")
        body += [
            f"  {code.name}_batch({', '.join(f'all_{p}' for p in size)});",
            f"  for (int k = 0; k < {states}; ++k) {{",
            *compare("&all_{}[k]", states, "k % STATES"),
            "  }",
        ]
    return body


def _readme(
    library: CLibrary,
    functions: Sequence[Exportable],
    real: Real,
    batch: int,
    checks: Sequence[_Check],
    sizes: Footprint,
) -> str:
    pairs = list(zip(library.functions, functions, strict=True))
    used = {node.op for traced in functions for node in traced.graph}
    calls = [function for op, function in CALLED.items() if op in used and op != "fma"]
    title = f"`{_cell(functions[0].title)}`" if len(pairs) == 1 else f"{len(pairs)} functions"
    return _README.substitute(
        name=library.name,
        title=title,
        what="the function" if len(pairs) == 1 else "the functions",
        command=compile_command(Path(f"{library.name}.c"), Path(f"{library.name}_test.c")),
        interface="\n\n".join(_interface(code, traced, batch, len(pairs) > 1) for code, traced in pairs),
        ok=_README_OK.substitute(ok=library.ok) if library.ok else "",
        calls=", ".join(f"`{x}{'f' if real == 'float' else ''}`" for x in calls) or "nothing",
        fused=_README_FMA if "fma" in used else "",
        cost="\n".join(
            f"- `{code.name}`: {traced.graph.operations}.\n"
            f"  The longest chain of operations that wait for each other has {traced.graph.depth}."
            for code, traced in pairs
        ),
        sizes="\n".join(f"| `{name}` | {sizes.code[name]:,} | {sizes.stack[name]:,} |" for name in sizes.code),
        measured=textwrap.fill(sizes.how, 120, break_long_words=False, break_on_hyphens=False),
        states=STATES,
        real=real,
        accuracy="\n".join(
            f"- `{code.name}`: differs by {check.found:.1e}, allowed {check.tolerance:.1e}"
            for code, check in zip(library.functions, checks, strict=True)
        ),
        origin="\n\n".join(_origin(code, traced, len(pairs) > 1) for code, traced in pairs),
    )


def _interface(code: CSource, traced: Exportable, batch: int, several: bool) -> str:
    graph = traced.graph
    arguments = zip((*code.inputs, *code.outputs), (*graph.inputs, *graph.outputs), strict=True)
    lines = [f"### `{code.name}`", "", f"`{_cell(traced.title)}`", ""] if several else []
    lines += ["```c", code.prototype, "```", ""]
    lines += ["| argument | | numbers | shape | meaning |", "|---|---|---|---|---|"]
    lines += [
        f"| `{parameter}` | {'in' if parameter in code.inputs else 'out'} | {argument.size} | "
        f"{' x '.join(map(str, argument.shape)) or 'scalar'} | {_cell(argument.unit)} |"
        for parameter, argument in arguments
    ]
    if code.parts:
        lines += ["", "Element k of a quantity of leg 0 to 5:", ""]
        lines += [f"- {key.partition('.')[2]}: `{key.partition('.')[0]}[{macro}]`" for key, macro in code.parts.items()]
    if batch:
        lines += [_README_BATCH.substitute(name=code.name, batch=batch).rstrip()]
    return "\n".join(lines)


def _origin(code: CSource, traced: Exportable, several: bool) -> str:
    lines = [f"`{code.name}`", ""] if several else []
    rows = [f"| {_cell(key)} | {_cell(value)} |" for key, value in traced.origin.items()]
    return "\n".join([*lines, "| | |", "|---|---|", *rows])


def _cell(text: str) -> str:
    """Text that stays inside its cell of a Markdown table."""
    return plain(text).replace("|", "/").replace("`", "'").replace("<", "&lt;")


_SELF_TEST: Final = Template("""\
/* Self-test of $name with results of zveno's kernels: returns 0 if it passes. */
#include "$name.h"

#include <stdio.h>

#define STATES $states

$tables

/* differences relative to the largest number of each result: the largest one, and how many are too large */
static $real worst = $zero;
static int failures = 0;
static int all_failures = 0;

static void compare(const $real *got, int stride, const $real *want, int size, $real scale, $real tolerance)
{
  for (int k = 0; k < size; ++k) {
    const $real difference = (got[k * stride] - want[k]) / scale;
    const $real distance = (difference < $zero) ? -difference : difference;
    if (!(distance <= tolerance)) { /* true for NaN */
      ++failures;
    }
    if (distance > worst) {
      worst = distance;
    }
  }
}

static void finish(const char *function, $real tolerance)
{
  printf("%s: largest relative difference %.3g, allowed %.3g: %s\\n", function, (double)worst, (double)tolerance,
         (failures == 0) ? "passed" : "FAILED");
  all_failures += failures;
  failures = 0;
  worst = $zero;
}

int main(void)
{
$body
  return (all_failures == 0) ? 0 : 1;
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

$title in C99: straight-line code, generated by zveno for this one mechanism and no other.

| file | |
|---|---|
| `$name.c`, `$name.h` | $what; all that a program needs |
| `${name}_test.c` | self-test: $states states with the results of zveno's own kernels |
| `CMakeLists.txt` | library `$name` and the self-test |

## Interface

$interface

- Matrices are stored row by row. The sizes are macros in the header.
- The arrays must not overlap.
- Inputs are not checked: NaN and infinity go through to the results. Nothing is written but the outputs.
- No allocation, no static data, no recursion: any number of threads may call it at once.
- It calls $calls of the C library.
$ok
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

$cost

There are no branches and no loops: every call takes the same operations, and the worst case is every case, but for
the time that the library takes for its sines.

## Size

| function | code, bytes | stack, bytes |
|---|---|---|
$sizes

$measured

## Accuracy

Largest difference from the results of zveno's kernels in $states random states, relative to the largest number of each
result, computed in `$real` with NumPy's sines. The self-test prints what it finds.

$accuracy

## Origin

$origin

Do not edit the code: generate it again.
""")

_README_OK: Final = Template("""\
- `measures` tell whether the legs can take the pose: the results mean nothing unless `${ok}(measures)` is 1.
""")

_README_FMA: Final = """\
- Fused multiply-adds are instructions only where the compiler may use them (`-march=native`, `-mfma`); elsewhere they
  are a multiplication and an addition, and results differ by rounding. Define `ZVENO_FMA` as `fma` to insist.
"""

_README_BATCH: Final = Template("""
`${name}_batch` has the same arguments for $batch states at once, side by side: element e of state i of each array is
`x[e * $batch + i]`. Compilers vectorise its arithmetic (gcc and clang: `-O3 -march=native`), not the calls.
""")
