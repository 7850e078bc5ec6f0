"""Portable C99 from an expression graph: one function without loops, branches, memory or state."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from .._check import _show, as_integer
from .graph import INPUT, Argument, Graph, Operation
from .text import expression, names

__all__ = ["CLibrary", "CSource", "Real", "c_library", "c_source", "identifier", "literal", "plain"]

Real = Literal["double", "float"]

# with what is added to them, below the 63 characters that every compiler tells apart
LONGEST_NAME: Final = 40
LONGEST_PARAMETER: Final = 19
BATCH_LIMIT: Final = 1024
STACK_LIMIT: Final = 1 << 20
# `Argument.above` holds in doubles, 45 of their last digits; as many last digits of a float
ABOVE_FLOAT: Final = float(np.finfo(np.float32).eps / np.finfo(np.float64).eps)
# operations that are calls: the macro behind which a rig may put its own function, and the one of the C library
CALLED: Final = {"sin": "sin", "cos": "cos", "angle": "atan2", "sqrt": "sqrt", "fma": "fma"}
LEAVES: Final = ("input", "constant")
# in C, C++, the C library and CMake; names that start with an underscore never get here
RESERVED: Final = frozenset(
    re.findall(
        r"\w+",
        """
        alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl complex concept const
        const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum
        explicit export extern false float for friend goto if inline int long main mutable namespace new noexcept not
        not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires restrict return
        short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try
        typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while xor xor_eq
        abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh div erf erfc exp exp2 expm1 fabs fdim
        floor fma fmax fmin fmod frexp gamma hypot ilogb index j0 j1 jn labs ldexp lgamma log log10 log1p log2 logb
        lrint lround modf nan nearbyint nextafter pow printf rand remainder remquo rint round scalbn sin sinh sqrt tan
        tanh tgamma time trunc write y0 y1 yn
        all clean help install package test
        """,
    )
)


@dataclass(frozen=True)
class CSource:
    """A generated function.

    Attributes
    ----------
    name : str
        Of the function; ``<name>_batch`` is the one that works on a batch.
    header, source : str
        Contents of ``<name>.h`` and ``<name>.c``.
    prototype : str
        Of the function, with its sizes as numbers.
    inputs, outputs : tuple of str
        Names of the parameters.
    sizes : Mapping[str, str]
        For each of them the macro in the header that is its number of elements.
    parts : Mapping[str, str]
        For each part of an array of several quantities the macro that finds its elements, as it is written.
    judged : str or None
        The parameter that ``<name>_ok`` judges.
    pieces : Pieces
        What `c_library` puts together.
    """

    name: str
    header: str
    source: str
    prototype: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    sizes: Mapping[str, str]
    parts: Mapping[str, str]
    judged: str | None
    pieces: Pieces

    @property
    def single_file(self) -> str:
        """Header and source in one file."""
        return self.header + "\n" + self.source.partition(f'#include "{self.name}.h"\n\n')[2]


@dataclass(frozen=True)
class Pieces:
    """Lines of a function in header and source; `macros` are preprocessor lines that other functions may need too."""

    real: Real
    comment: list[str]
    defines: list[str]
    prototypes: list[str]
    macros: dict[str, list[str]]
    bodies: list[list[str]]
    judge: tuple[float, int] | None  # what all numbers must be above, and how many there are


@dataclass(frozen=True)
class CLibrary:
    """Several generated functions with one header and one source.

    Attributes
    ----------
    name : str
        Of the files.
    header, source : str
        Contents of ``<name>.h`` and ``<name>.c``.
    functions : tuple of CSource
        Their names, prototypes and macros.
    ok : str or None
        Name of the function that judges the measures of the legs of a hexapod.
    """

    name: str
    header: str
    source: str
    functions: tuple[CSource, ...]
    ok: str | None


def c_library(sources: Sequence[CSource], *, name: str, description: str = "") -> CLibrary:
    """Several functions in one pair of files.

    Parameters
    ----------
    sources : sequence of CSource
        As `c_source` gives them, of one type of numbers; their names differ.
    name : str
        Of the files; made an identifier where it is none.
    description : str
        Of the library, one line.

    Returns
    -------
    CLibrary
    """
    if not sources:
        raise ValueError("c_library: sources is empty, expected at least one function")
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        raise ValueError(f"c_library: two functions have the name {max(names, key=names.count)}")
    if len({source.pieces.real for source in sources}) > 1:
        raise ValueError("c_library: some functions are in double, some in float, expected one type")
    word = identifier(name)
    if len(sources) > 1 and word in names:
        word = identifier(f"{word}_library")
    return _library(tuple(source.pieces for source in sources), word, plain(description), tuple(sources))


def _library(
    pieces: Sequence[Pieces], name: str, description: str = "", functions: tuple[CSource, ...] = ()
) -> CLibrary:
    judges = [piece.judge for piece in pieces if piece.judge]
    ok, judge = (f"{name}_ok", judges[0]) if judges else (None, None)
    return CLibrary(
        name, _header(name, description, pieces, ok, judge), _source(name, pieces, ok, judge), functions, ok
    )


def _header(
    name: str, description: str, pieces: Sequence[Pieces], ok: str | None, judge: tuple[float, int] | None
) -> str:
    guard = f"{name}_H".upper()
    several = len(pieces) > 1
    head = ["/*", f" * {name}: {description}".removesuffix(": "), " */"] if several else pieces[0].comment
    lines = [*head, f"#ifndef {guard}", f"#define {guard}", ""]
    if not several:
        lines += [*pieces[0].defines, ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for piece in pieces:
        lines += [*([*piece.comment, *piece.defines, ""] if several else []), *piece.prototypes, ""]
    if ok and judge:
        lines += [
            f"/* 1 if the legs can take the pose: all of `measures` are above {judge[0]:.1g}; 0 for NaN too */",
            f"int {ok}(const {pieces[0].real} measures[{judge[1]}]);",
            "",
        ]
    lines += ["#ifdef __cplusplus", "}", "#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


def _source(name: str, pieces: Sequence[Pieces], ok: str | None, judge: tuple[float, int] | None) -> str:
    macros = {key: lines for piece in pieces for key, lines in piece.macros.items()}
    lines = [f"/* {name}: generated code, see the header. */", f'#include "{name}.h"', ""]
    if macros:
        lines += ["#ifdef ZVENO_MATH_HEADER", "#include ZVENO_MATH_HEADER", "#else", "#include <math.h>", "#endif"]
    for op in CALLED:
        lines += macros.get(op, ())
    lines += [""] if macros else []
    lines += ["#ifdef __clang__", "#pragma STDC FP_CONTRACT OFF", "#endif"]
    for piece in pieces:
        for body in piece.bodies:
            lines += ["", *body]
    if ok and judge:
        above, size = judge
        real = pieces[0].real
        lines += [
            "",
            f"int {ok}(const {real} measures[{size}])",
            "{",
            "  int good = 1;",
            f"  for (int k = 0; k < {size}; ++k) {{",
            f"    good &= measures[k] > {literal(above, real)};",
            "  }",
            "  return good;",
            "}",
        ]
    return "\n".join(lines) + "\n"


def c_source(
    graph: Graph,
    *,
    name: str,
    real: Real = "double",
    batch: int = 0,
    description: str = "",
    origin: Mapping[str, str] | None = None,
) -> CSource:
    """C99 of a graph.

    The function calls nothing but ``sin`` and ``cos``, and ``sqrt``, ``atan2``, ``fma`` where the graph has such nodes;
    each of them through a macro that can be defined beforehand, ``ZVENO_SIN`` and so on, ``ZVENO_SINF`` in a float
    build. Where the compiler knows no instruction for ``fma``, it is a multiplication and an addition: calls would be
    slow. Every line is one operation, in the order of the graph.

    Parameters
    ----------
    graph : Graph
    name : str
        Of the function; made an identifier where it is none.
    real : {"double", "float"}
        Type of all numbers.
    batch : int
        If not 0, there is a second function for so many states at once. Its arrays hold the numbers of all states side
        by side: element e of state i at ``x[e * batch + i]``. Compilers vectorise its arithmetic.
    description : str
        What the function computes, one line.
    origin : mapping of str to str, optional
        Where it comes from, for the comment in the header.

    Returns
    -------
    CSource
    """
    if not isinstance(real, str) or real not in ("double", "float"):
        raise ValueError(f"c_source: real is {_show(real)}, expected 'double' or 'float'")
    batch = as_integer("c_source", "batch", batch, 0, BATCH_LIMIT)
    empty = [x.name for x in (*graph.inputs, *graph.outputs) if x.size == 0]
    if empty:
        raise ValueError(f"c_source: {empty[0]} has no elements, C has no empty arrays")
    return _Writer(graph, identifier(name), real, batch, plain(description), dict(origin or {})).result()


def identifier(text: str, taken: Collection[str] = (), longest: int = LONGEST_NAME) -> str:
    """A C identifier like the text: not too long, not reserved, not among those taken."""
    word = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    if not word or word[0].isdigit():
        word = f"zveno_{word}".strip("_")
    if len(word) > longest:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        tail = (longest - len(digest) - 2) * 3 // 5
        word = f"{word[: longest - tail - len(digest) - 2]}_{digest}_{word[-tail:]}"
    while word in RESERVED or word in taken or re.fullmatch(r"t\d+|i", word):
        word += "_"
    return word


def plain(text: str) -> str:
    """The text on one line of ASCII that can neither end a comment nor begin one."""
    text = re.sub(r"[^ -~]+", "?", " ".join(text.split()))
    return text.replace("\\", "/").replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?")


def literal(value: float, real: Real) -> str:
    """The shortest literal that is the number, or the float nearest to it."""
    if real == "double":
        return repr(value)
    with np.errstate(over="ignore"):
        small = np.float32(value)
    if not np.isfinite(small):
        raise ValueError(f"c_source: the number {value!r} is too large for float")
    return f"{small!s}f"


class _Writer:
    def __init__(
        self, graph: Graph, name: str, real: Real, batch: int, description: str, origin: Mapping[str, str]
    ) -> None:
        self.graph, self.name, self.real, self.batch = graph, name, real, batch
        self.description, self.origin = description, origin
        self.arguments = (*graph.inputs, *graph.outputs)
        taken = [name, f"{name}_batch"]
        for argument in self.arguments:
            taken.append(identifier(argument.name, taken, LONGEST_PARAMETER))
        self.parameters = tuple(taken[2:])
        self.sizes: dict[str, str] = {}
        for parameter in self.parameters:
            macro = f"{name}_N_{parameter}".upper()
            while macro in self.sizes.values():  # r and R
                macro += "_"
            self.sizes[parameter] = macro
        self.inputs, self.outputs = self.parameters[: len(graph.inputs)], self.parameters[len(graph.inputs) :]
        self._ways = ["in "] * len(self.inputs) + ["out"] * len(self.outputs)
        suffix = "f" if real == "float" else ""
        self.library = {op: f"{function}{suffix}" for op, function in CALLED.items()}
        self.macros = {op: f"ZVENO_{function.upper()}" for op, function in self.library.items()}
        self._batch_extent = f"{{macro}} * {name.upper()}_BATCH"
        self.order = list(_sines_beside_cosines(graph))

    def result(self) -> CSource:
        judged = [p for p, x in zip(self.parameters, self.arguments, strict=True) if x.above is not None]
        pieces = Pieces(
            self.real,
            self._comment(),
            self._defines(),
            self._prototypes(),
            self._macros(),
            [self._function()] + ([self._batch_function()] if self.batch else []),
            self._judge(),
        )
        files = _library([pieces], self.name)
        prototype = self._signature("", "{size}") + ";"
        named = self.inputs, self.outputs, self.sizes
        places = {f"{p}.{part}": f"{macro}(leg, k)" for p, part, macro, _, _, _ in self._places()}
        return CSource(
            self.name, files.header, files.source, prototype, *named, places, judged[0] if judged else None, pieces
        )

    def _judge(self) -> tuple[float, int] | None:
        for argument in self.arguments:
            if argument.above is not None:
                return argument.above * (ABOVE_FLOAT if self.real == "float" else 1.0), argument.size
        return None

    def _places(self) -> Iterator[tuple[str, str, str, int, int, int]]:
        """Of each part of an array whose rows hold several quantities: array, part, macro, row, offset, size."""
        for parameter, argument in zip(self.parameters, self.arguments, strict=True):
            offset = 0
            for part, size in argument.parts:
                macro = f"{self.name}_{part}".upper()
                yield parameter, part, macro, argument.shape[-1], offset, size
                offset += size

    def _element(self, parameter: str, k: int, *, side_by_side: bool) -> str:
        if side_by_side:
            return f"{parameter}[{k * self.batch} + i]" if k else f"{parameter}[i]"
        return f"{parameter}[{k}]"

    def _spelled(self, *, side_by_side: bool = False) -> list[str]:
        def leaf(node: Operation) -> str:
            if node.op == "constant":
                text = literal(node.value, self.real)
                return f"({text})" if node.value < 0 else text
            return self._element(self.inputs[node.argument], node.element, side_by_side=side_by_side)

        return names(self.graph, leaf)

    def _targets(self, *, side_by_side: bool = False) -> dict[int, list[str]]:
        """For each node the elements of the results that it is."""
        targets: dict[int, list[str]] = {}
        for parameter, result in zip(self.outputs, self.graph.results, strict=True):
            for k, i in enumerate(result.tolist()):
                targets.setdefault(i, []).append(self._element(parameter, k, side_by_side=side_by_side))
        return targets

    def _lines(
        self,
        nodes: Iterable[Operation],
        spelled: Sequence[str],
        targets: Mapping[int, list[str]],
        declared: Collection[int] = (),
    ) -> Iterator[str]:
        for node in nodes:
            value = spelled[node.index]
            if node.op not in LEAVES:
                formula = expression(node.op, [spelled[i] for i in node.operands], self.macros)
                yield f"{'' if node.index in declared else f'const {self.real} '}{value} = {formula};"
            for target in targets.get(node.index, ()):
                yield f"{target} = {value};"

    def _function(self) -> list[str]:
        lines = self._lines(self.order, self._spelled(), self._targets())
        return [self._signature("", "restrict {macro}"), "{", *_indented([*self._unused(), *lines]), "}"]

    def _batch_function(self) -> list[str]:
        loop = _loops(self.graph)
        # what a later loop needs is kept for all states
        kept = sorted({i for node in self.order for i in node.operands if loop[i] > loop[node.index]})
        size = len(kept) * self.batch * (8 if self.real == "double" else 4)
        if size > STACK_LIMIT:
            raise ValueError(
                f"c_source: a batch of {self.batch} needs {size} bytes of stack, expected at most {STACK_LIMIT}: "
                f"take batch={self.batch * STACK_LIMIT // size} or less"
            )
        spelled = self._spelled(side_by_side=True)
        body = [*self._unused(), *(f"{self.real} {spelled[i]}[{self.batch}];" for i in kept)]
        for i in kept:
            spelled[i] += "[i]"
        targets = self._targets(side_by_side=True)
        for k in range(max(loop, default=0), -1, -1):
            nodes = [node for node in self.order if loop[node.index] == k]
            lines = list(self._lines(nodes, spelled, targets, set(kept)))
            if lines:
                body += [f"for (int i = 0; i < {self.batch}; ++i) {{", *_indented(lines), "}"]
        return [self._signature("_batch", f"restrict {self._batch_extent}"), "{", *_indented(body), "}"]

    def _unused(self) -> list[str]:
        used = set(self.graph.a[self.graph.op == INPUT].tolist())
        return [f"(void){name};" for k, name in enumerate(self.inputs) if k not in used]

    def _signature(self, suffix: str, extent: str) -> str:
        """A function's head; `extent` stands in the brackets of each array and may use its {macro} and {size}."""
        parts = []
        for name, argument, way in zip(self.parameters, self.arguments, self._ways, strict=True):
            constant = "const " if way == "in " else ""
            parts.append(f"{constant}{self.real} {name}[{extent.format(macro=self.sizes[name], size=argument.size)}]")
        return f"void {self.name}{suffix}(\n    " + ",\n    ".join(parts) + ")"

    def _comment(self) -> list[str]:
        key_width = max(map(len, self.origin), default=0)
        name_width, shape_width = max(map(len, self.parameters)), max(len(_shape(x)) for x in self.arguments)
        arguments = [
            f"  {name:{name_width}}  {way}  {_shape(argument):{shape_width}}  {plain(argument.unit)}"
            for name, argument, way in zip(self.parameters, self.arguments, self._ways, strict=True)
        ]
        states = [
            "",
            f"{self.name}_batch does the same for {self.batch} states:",
            f"element e of state i of each array is x[e * {self.batch} + i].",
        ]
        lines = [
            f"{self.name}: {self.description}".removesuffix(": "),
            "",
            "Generated code, do not edit.",
            *(f"  {plain(key):{key_width}}  {plain(value)}" for key, value in self.origin.items()),
            "",
            f"Cost: {self.graph.operations}.",
            "Straight-line code: no loops, no branches, no allocation, no state.",
            "",
            *arguments,
            "",
            "Matrices are stored row by row. The arrays must not overlap; nothing is checked.",
            *(states if self.batch else []),
        ]
        return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]

    def _defines(self) -> list[str]:
        sizes = [f"#define {self.sizes[p]} {x.size}" for p, x in zip(self.parameters, self.arguments, strict=True)]
        if self.batch:
            sizes.append(f"#define {self.name.upper()}_BATCH {self.batch}")
        places = list(self._places())
        if places:
            sizes += ["", f"/* element k of a quantity of leg 0 to 5: {places[0][0]}[{places[0][2]}(leg, k)] */"]
        for _, part, macro, row, offset, size in places:
            meaning = f"/* {plain(part)}, k < {size} */"
            sizes.append(f"#define {macro}(leg, k) ({row} * (leg) + {offset} + (k)) {meaning}")
        return sizes

    def _prototypes(self) -> list[str]:
        lines = [self._signature("", "{macro}") + ";"]
        return [*lines, "", self._signature("_batch", self._batch_extent) + ";"] if self.batch else lines

    def _macros(self) -> dict[str, list[str]]:
        """For each operation that is a call: what it is called by."""
        used = {node.op for node in self.order}
        macros = {}
        for op in (op for op in CALLED if op in used):
            define = [f"#define {self.macros[op]} {self.library[op]}"]
            if op == "fma":
                fast = f"defined(FP_FAST_{self.library[op].upper()}) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)"
                define = [
                    f"#if {fast}",
                    *define,
                    "#else",
                    f"#define {self.macros[op]}(a, b, c) (((a) * (b)) + (c))",
                    "#endif",
                ]
            macros[op] = [f"#ifndef {self.macros[op]}", *define, "#endif"]
        return macros


def _sines_beside_cosines(graph: Graph) -> Iterator[Operation]:
    """The nodes in order, but the second of the sine and cosine of an angle right after the first."""
    pairs: dict[int, list[Operation]] = {}
    for node in graph:
        if node.op in ("sin", "cos"):
            pairs.setdefault(node.operands[0], []).append(node)
    for node in graph:
        if node.op in ("sin", "cos"):
            yield from pairs.pop(node.operands[0], ())
        else:
            yield node


def _loops(graph: Graph) -> list[int]:
    """The loop of the batch function where each node belongs, counted from the last one.

    Arithmetic is in even ones, calls are in odd ones: a call keeps compilers from vectorising the loop it is in. A
    fused multiply-add is an instruction where speed matters. Everything is computed as late as possible, so that few
    values are kept from loop to loop.
    """
    loop = [0] * len(graph)
    for node in reversed(list(graph)):
        if node.op in LEAVES:
            loop[node.index] = 0
            continue
        loop[node.index] += (loop[node.index] + (node.op in CALLED and node.op != "fma")) % 2
        for i in node.operands:
            loop[i] = max(loop[i], loop[node.index])
    return loop


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _shape(argument: Argument) -> str:
    return " x ".join(map(str, argument.shape)) if argument.shape else "1"
