"""Machine code in this process, made by LLVM from expression graphs.

Every compiled function is ``void f(const double *const *in, double *const *out)``: ``in[k]`` and ``out[k]`` are the
numbers of argument k, row by row. The scalar function takes one state; the vector function takes one state per lane,
element e of lane l at ``in[k][e * lanes + l]``, aligned to whole packs. What is written must not overlap what is read.
A third function does the same and between its operations copies rows that were computed before past the caches (Program
and Vectors in the C++ sources).

The operations are those of the graph, each rounded once: nothing is contracted, re-associated or approximated. Sines,
cosines and angles are the kernels' own functions.
"""

from __future__ import annotations

import collections
import heapq
import importlib
import itertools
import os
import platform
import struct
import threading
import time
import weakref
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Final

from .. import _core
from .._dispatch import cpu_features
from ..errors import Error
from .graph import ADD, ANGLE, ARITY, CONSTANT, COS, DIV, FMA, INPUT, MUL, NEG, SIN, SQRT, SUB, Graph

__all__ = ["Machine", "compile_graph", "ir"]

# Figures are nanoseconds on Zen 4, for one state and in brackets for each of eight in packs; Panda unless noted.
#
# Level 1 gives code as fast as 2 and 3, inverse dynamics 96 (27.5), of which sines and cosines are 20 (14); beyond 10^4
# nodes it takes a third of their time. Passes over the IR, LLVM's other schedulers and allocators, code without AVX-512
# for one state: no gain, or a loss of up to 10 %.
CODEGEN_LEVEL: Final = 1
# Longer code is cut into functions of PART operations, and values go from one to the next through memory: compile times
# are linear then. Cutting a hexapod of 6000 nodes in two makes it 1.2 times slower.
WHOLE: Final = 10_000
PART: Final = 3_000
# LLVM keeps to our order, within reason. An operation is not issued before its operands are ready; among those that
# are, one that a long chain waits for goes before one that the trace has sooner. Against the order of the trace: CRBA
# 103 -> 95 (29.6 -> 28.2), inverse dynamics 100 -> 96 (27.8 -> 27.5), ABA 219 -> 209 (50.4 -> 49).
# Code that leaves the instruction cache wants fewer spills and stays closer to the trace: 6-RUS hexapod 789 -> 721
# (160 -> 144), 6-SPU 891 -> 923 (186 -> 178), derivatives 891 -> 897 (167 -> 166).
SHORT: Final = 2_500
LATENCY: Final = {ADD: 3, SUB: 3, MUL: 3, FMA: 4, DIV: 13, SQRT: 20, NEG: 1}  # cycles
# Rows that are passed on go in bursts of so many bytes, evenly spaced in time. In operations: a sine and cosine, and
# what is done outside for every vector. All rows at once fill the store buffer, and everything behind them waits. On
# Emerald Rapids derivatives take 92 instead of 126, at the algebraic level 80 instead of 106, of which copying alone
# takes 47; bursts of 64 to 512 bytes are alike. Where LLVM chooses the places of the copies: 91 instead of 80.
BURST: Final = 256
TRIG: Final = 40
OUTSIDE: Final = 2

_BINARY: Final = {ADD: "fadd", SUB: "fsub", MUL: "fmul", DIV: "fdiv"}
_TRIG: Final = (SIN, COS, ANGLE)
_GIVEN: Final = (CONSTANT, INPUT)


class Machine:
    """Machine code of one graph; freed with this object.

    Attributes
    ----------
    scalar, vector : int
        Addresses of the function for one state and of the one for `lanes` states in packs.
    passing : int
        Address of the one that also passes rows on; 0: there is none.
    lanes : int
    seconds : float
        Time spent compiling.
    code_size : int
        Bytes of instructions.
    """

    __slots__ = ("__weakref__", "code_size", "lanes", "passing", "scalar", "seconds", "vector")

    def __init__(
        self, owners: Sequence[Any], addresses: Sequence[int], lanes: int, seconds: float, code_size: int
    ) -> None:
        weakref.finalize(self, _free, owners).atexit = False
        self.scalar, self.vector, self.passing = addresses
        self.lanes = lanes
        self.seconds = seconds
        self.code_size = code_size

    def __repr__(self) -> str:
        return f"Machine({self.code_size} bytes, {self.lanes} lanes, compiled in {self.seconds * 1e3:.0f} ms)"


def compile_graph(graph: Graph, *, name: str, rows: Sequence[int] = ()) -> Machine:
    """Machine code for this processor.

    Parameters
    ----------
    graph : Graph
    name : str
        C identifier.
    rows : Sequence[int]
        Numbers in a row of each array that is passed on.

    Raises
    ------
    Error
        Without llvmlite.
    """
    start = time.perf_counter()
    _check_name(name)
    llvm = _llvm()
    lanes = cpu_features()["lanes"]
    program = _Program(graph)
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    entries: dict[str, _Entry] = {name: (1, ()), f"{name}_packs": (lanes, ())}
    if rows and x86 and len(program.parts) == 1:  # longer code would gain little
        entries[f"{name}_passing"] = lanes, rows
    with _lock:
        features = llvm.get_host_cpu_features()
    # without the instruction LLVM would call the C library for every fused operation
    fused = not x86 or features.get("fma", False)
    text = _module(program, entries, fused)
    with _lock:
        # types and constants live as long as their context
        with _target(llvm) as target, llvm.create_context() as context, llvm.parse_assembly(text, context) as module:
            image = target.emit_object(module)
        with llvm.ObjectFileRef.from_data(image) as file:
            code_size = sum(section.size() for section in file.sections() if section.is_text())
        library = llvm.JITLibraryBuilder().add_object_img(image)
        for function, address in _core.transcendental_addresses(fused and FMA in graph.op).items():
            library.import_symbol(f"zveno_{function}", address)
        for entry in entries:
            library.export_symbol(entry)
        # one linker for each: what LLVM keeps of a library (10 kB) stays until its linker goes. JITLink puts code and
        # constants side by side, as the small code model wants it
        linker = llvm.create_lljit_compiler(use_jit_link=True)
        code = library.link(linker, name)
    addresses = [code[entry] for entry in entries]
    if len(addresses) < 3:
        addresses.append(0)
    return Machine([code, linker], addresses, lanes, time.perf_counter() - start, code_size)


def ir(graph: Graph, *, lanes: int, name: str, rows: Sequence[int] = ()) -> str:
    """The text that LLVM compiles: one function, of `lanes` states in packs, or of one state if `lanes` is 1."""
    _check_name(name)
    if lanes < 1:
        raise ValueError(f"ir: lanes is {lanes}, expected at least 1")
    return _module(_Program(graph), {name: (lanes, rows)}, fused=True)


def _check_name(name: str) -> None:
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"compile_graph: name is {name!r}, expected a C identifier")


# LLVM is entered by one thread at a time, and not while the process forks
_lock: Final = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def _free(owners: Sequence[Any]) -> None:
    with _lock:
        for owner in owners:
            owner.close()


def _llvm() -> ModuleType:
    try:
        llvm = importlib.import_module("llvmlite.binding")
    except ImportError as error:
        raise Error('compiling to machine code needs llvmlite, install it with: pip install "zveno[jit]"') from error
    with _lock:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    return llvm


def _target(llvm: ModuleType) -> Any:
    """This processor."""
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=CODEGEN_LEVEL,
        reloc="pic",
        codemodel="small",
        jit=True,
    )


class _Call:
    """Sines and cosines, or angles, of all operands that are ready at one time.

    The workspace has three arrays of `count` elements, with room for whole packs: arguments, sines and cosines; or
    sines, cosines and angles. `stores` are the operands and the elements where they are expected.
    """

    def __init__(self, program: _Program, members: Sequence[int]) -> None:
        operands = [program.operands[i] for i in members]
        element = {x: k for k, x in enumerate(dict.fromkeys(operands))}
        self.function = "angle" if program.op[members[0]] == ANGLE else "sincos"
        self.members = members
        self.count = len(element)
        room = -(-self.count // program.lanes) * program.lanes
        self.arrays = [program.allocate(room) for _ in range(3)]
        self.stores = [(x, self.arrays[k] + e) for xs, e in element.items() for k, x in enumerate(xs)]
        for i, xs in zip(members, operands, strict=True):
            program.places[i] = self.arrays[1 if program.op[i] == SIN else 2] + element[xs]


class _Program:
    """A graph in the order of execution, cut into parts, with the memory that they share.

    Attributes
    ----------
    parts : list of list of (int or _Call)
        Nodes to compute and calls.
    places : dict of int to int
        Elements of the workspace where later parts find nodes and everybody the results of calls.
    stores : dict of int to list of int
        Elements of the workspace to which a node is written as soon as it is known.
    outputs : dict of int to list of (int, int)
        Results, argument and element, that a node is.
    """

    def __init__(self, graph: Graph) -> None:
        self.lanes: int = cpu_features()["lanes"]
        self.op: list[int] = graph.op.tolist()
        self.value: list[float] = graph.value.tolist()
        columns = zip(graph.a.tolist(), graph.b.tolist(), graph.c.tolist(), strict=True)
        self.operands = [abc[: ARITY[op]] for op, abc in zip(self.op, columns, strict=True)]
        self.inputs = {i: (int(graph.a[i]), int(graph.b[i])) for i, op in enumerate(self.op) if op == INPUT}
        self.outputs: dict[int, list[tuple[int, int]]] = {}
        for k, result in enumerate(graph.results):
            for element, i in enumerate(result.tolist()):
                self.outputs.setdefault(i, []).append((k, element))
        self.users: list[list[int]] = [[] for _ in self.op]
        for i, operands in enumerate(self.operands):
            for x in operands:
                self.users[x].append(i)
        self.workspace = 0
        self.places: dict[int, int] = {}
        self.stores: dict[int, list[int]] = {}
        order = self._order()
        step = PART if len(order) > WHOLE else WHOLE
        self.parts = [order[k : k + step] for k in range(0, len(order), step)] or [[]]
        self._share()

    def allocate(self, count: int) -> int:
        """The first of `count` elements of the workspace."""
        self.workspace += count
        return self.workspace - count

    def _order(self) -> list[int | _Call]:
        # layers end with calls; results are in the first layer that is possible, other nodes in the first that needs
        # them: what lives across a call is written to memory
        layer = [0] * len(self.op)
        for i, operands in enumerate(self.operands):
            layer[i] = max((layer[x] + (self.op[x] in _TRIG) for x in operands), default=0)
        for i in reversed(range(len(self.op))):
            if self.op[i] not in _TRIG and i not in self.outputs:
                layer[i] = min((layer[u] for u in self.users[i]), default=0)
        layers: list[list[int]] = [[] for _ in range(max(layer, default=0) + 1)]
        for i, op in enumerate(self.op):
            if op not in _GIVEN:
                layers[layer[i]].append(i)
        order: list[int | _Call] = []
        for nodes in layers:
            order += self._scheduled([i for i in nodes if self.op[i] not in _TRIG])
            for kinds in ((SIN, COS), (ANGLE,)):
                if members := [i for i in nodes if self.op[i] in kinds]:
                    call = _Call(self, members)
                    order.append(call)
                    for x, place in call.stores:
                        self.stores.setdefault(x, []).append(place)
        return order

    def _scheduled(self, nodes: list[int]) -> list[int]:
        """The nodes in an order that hides latencies."""
        ahead, width = (1, 4) if len(self.op) <= SHORT else (5, 2)
        height: dict[int, int] = {}
        for i in reversed(nodes):
            height[i] = LATENCY[self.op[i]] + max((height.get(u, 0) for u in self.users[i]), default=0)
        rank = {i: ahead * k - height[i] for k, i in enumerate(nodes)}
        missing = {i: sum(x in height for x in self.operands[i]) for i in nodes}
        ready = dict.fromkeys(nodes, 0.0)
        waiting = [(0.0, i) for i in nodes if not missing[i]]
        able: list[tuple[int, int]] = []
        order: list[int] = []
        now = 0.0
        while waiting or able:
            if not able:
                now = max(now, waiting[0][0])
            while waiting and waiting[0][0] <= now:
                i = heapq.heappop(waiting)[1]
                heapq.heappush(able, (rank[i], i))
            i = heapq.heappop(able)[1]
            order.append(i)
            for u in self.users[i]:
                if u in missing:
                    missing[u] -= 1
                    ready[u] = max(ready[u], now + LATENCY[self.op[i]])
                    if not missing[u]:
                        heapq.heappush(waiting, (ready[u], u))
            now += 1 / width
        return order

    def _share(self) -> None:
        """Find places for what is used in later parts; they are free again after the last one."""
        part = {i: p for p, items in enumerate(self.parts) for i in items if isinstance(i, int)}
        free: list[int] = []
        last: list[list[int]] = [[] for _ in self.parts]
        for p, items in enumerate(self.parts):
            for i in items:
                if isinstance(i, int) and (end := max((part.get(u, p) for u in self.users[i]), default=p)) > p:
                    self.places[i] = free.pop() if free else self.allocate(1)
                    self.stores.setdefault(i, []).append(self.places[i])
                    last[end].append(self.places[i])
            free += last[p]


_Entry = tuple[int, Sequence[int]]  # lanes, and rows to pass on


def _cost(item: int | _Call) -> int:
    return TRIG * item.count if isinstance(item, _Call) else 1


def _module(program: _Program, entries: dict[str, _Entry], fused: bool) -> str:
    functions = [_Function(program, name, *entry, fused) for name, entry in entries.items()]
    declarations = dict.fromkeys(line for function in functions for line in function.declarations)
    return "\n".join(["!0 = !{}", "!1 = !{i32 1}", *declarations, *(line for f in functions for line in f.text)])


class _Function:
    """LLVM's text of one function for packs of `lanes` numbers, or for plain numbers if there is one lane.

    `rows` are numbers in the rows of the arrays that it passes on, as many vectors of each.
    """

    def __init__(self, program: _Program, name: str, lanes: int, rows: Sequence[int], fused: bool) -> None:
        self.program = program
        self.type = t = "double" if lanes == 1 else f"<{lanes} x double>"
        self.kind = "f64" if lanes == 1 else f"v{lanes}f64"
        self.align = 8 * lanes
        self.fused = fused
        self.packs = "" if lanes == 1 else "_packs"
        self.known: dict[int, str] = {}
        self.constants: dict[int, str] = {}
        for i, op in enumerate(program.op):
            if op == CONSTANT:
                bits = f"0x{struct.pack('>d', program.value[i]).hex()}"
                self.constants[i] = bits if lanes == 1 else f"splat (double {bits})"
        width = max(128, 64 * lanes)  # whole registers, also where processors are thought to prefer halves
        attributes = f'nounwind "prefer-vector-width"="{width}" "min-legal-vector-width"="{width}"'
        self.declarations = [
            f"declare {t} @llvm.fma.{self.kind}({t}, {t}, {t})",
            f"declare {t} @llvm.sqrt.{self.kind}({t})",
            *(f"declare void @zveno_{f}{self.packs}(ptr, ptr, ptr, i32) nounwind memory(argmem: readwrite)"
              for f in ("sincos", "angle")),
        ]  # fmt: skip
        vectors = [(k, element) for k, size in enumerate(rows) for element in range(size)]
        cost = sum(map(_cost, itertools.chain(*program.parts))) + OUTSIDE * len(vectors)
        step = max(1, BURST // self.align)
        self.bursts = collections.deque(vectors[k : k + step] for k in range(0, len(vectors), step))
        self.interval = cost / max(1, len(self.bursts))
        self.due = self.interval / 2  # operations before the next one
        self.text: list[str] = []
        whole = len(program.parts) == 1
        memory = f"%work = alloca [{program.workspace} x {t}], align {8 * program.lanes}"
        for p, items in enumerate(program.parts):
            if whole:
                arguments = "ptr %in, ptr %out" + (", ptr %waiting" if rows else "")
                self.text.append(f"define void @{name}({arguments}) {attributes} {{\n{memory}")
            else:
                arguments = "ptr %in, ptr %out, ptr noalias %work"
                self.text.append(f"define internal void @{name}.{p}({arguments}) {attributes} {{")
            self._part(items, last=p + 1 == len(program.parts))
            self.text.append("ret void\n}")
        if not whole:
            calls = [f"call void @{name}.{p}(ptr %in, ptr %out, ptr %work)" for p in range(len(program.parts))]
            self.text += [f"define void @{name}(ptr %in, ptr %out) {attributes} {{\n{memory}", *calls, "ret void\n}"]

    def _part(self, items: Sequence[int | _Call], last: bool) -> None:
        program, put = self.program, self.text.append
        self.known = dict(self.constants)
        self.pointers = {"%work"}
        self.numbers = itertools.count()
        for item in items:
            passed = self._pass_on(_cost(item))
            if isinstance(item, _Call):
                # the others were stored when they were computed
                for x, place in item.stores:
                    if program.op[x] in _GIVEN or program.op[x] in _TRIG:
                        self._store(x, "%work", place)
                arrays = ", ".join(f"ptr {self._at('%work', place)}" for place in item.arrays)
                put(f"call void @zveno_{item.function}{self.packs}({arrays}, i32 {item.count})")
                computed = item.members
            else:
                put(self._operation(item))
                self.known[item] = f"%v{item}"
                if passed:
                    # an operation of nothing between what is behind it and what comes: LLVM leaves the copies in place
                    pin = f'asm sideeffect "", "=v,0"({self.type} %v{item})'
                    put(f"%pinned{item} = call {self.type} {pin}")
                    self.known[item] = f"%pinned{item}"
                for place in program.stores.get(item, ()):
                    self._store(item, "%work", place)
                computed = [item]
            self._results(computed)
        if last:
            self._results([i for i in program.outputs if program.op[i] in _GIVEN])
            self._pass_on(self.interval * (1 + len(self.bursts)))

    def _pass_on(self, cost: float) -> bool:
        """Copy what is due within the next operations."""
        self.due -= cost
        passed = False
        while self.bursts and self.due <= 0:
            self.due += self.interval
            passed = True
            for k, element in self.bursts.popleft():
                ends = []
                for at, end in enumerate((f"%from{k}", f"%to{k}")):
                    if end not in self.pointers:
                        self.pointers.add(end)
                        self.text.append(f"{end}.p = getelementptr {{ptr, ptr, i64}}, ptr %waiting, i64 {k}, i32 {at}")
                        self.text.append(f"{end} = load ptr, ptr {end}.p, align 8, !invariant.load !0")
                    ends.append(self._at(end, element))
                value = f"%passed{next(self.numbers)}"
                self.text.append(f"{value} = load {self.type}, ptr {ends[0]}, align {self.align}")
                self.text.append(f"store {self.type} {value}, ptr {ends[1]}, align {self.align}, !nontemporal !1")
        return passed

    def _operation(self, i: int) -> str:
        op, t = self.program.op[i], self.type
        a, *others = (self._value(x) for x in self.program.operands[i])
        if op in _BINARY:
            return f"%v{i} = {_BINARY[op]} {t} {a}, {others[0]}"
        if op == NEG:
            return f"%v{i} = fneg {t} {a}"
        if op == SQRT:
            return f"%v{i} = call {t} @llvm.sqrt.{self.kind}({t} {a})"
        b, c = others
        if self.fused:
            return f"%v{i} = call {t} @llvm.fma.{self.kind}({t} {a}, {t} {b}, {t} {c})"
        return f"%ab{i} = fmul {t} {a}, {b}\n%v{i} = fadd {t} %ab{i}, {c}"

    def _value(self, i: int) -> str:
        if i not in self.known:
            self.known[i] = f"%v{i}"
            if i in self.program.inputs:
                argument, element = self.program.inputs[i]
                # inputs do not change: they may be read whenever it suits
                place, promise = self._at(f"%in{argument}", element), ", !invariant.load !0"
            else:
                place, promise = self._at("%work", self.program.places[i]), ""
            self.text.append(f"%v{i} = load {self.type}, ptr {place}, align {self.align}{promise}")
        return self.known[i]

    def _results(self, nodes: Sequence[int]) -> None:
        for i in nodes:
            for argument, element in self.program.outputs.get(i, ()):
                self._store(i, f"%out{argument}", element)

    def _store(self, i: int, array: str, element: int) -> None:
        value, place = self._value(i), self._at(array, element)
        self.text.append(f"store {self.type} {value}, ptr {place}, align {self.align}")

    def _at(self, array: str, element: int) -> str:
        if array not in self.pointers:
            self.pointers.add(array)
            table, argument = (array[:3], array[3:]) if array.startswith("%in") else (array[:4], array[4:])
            self.text.append(f"{array}.p = getelementptr ptr, ptr {table}, i64 {argument}")
            self.text.append(f"{array} = load ptr, ptr {array}.p, align 8, !invariant.load !0")
        place = f"%p{next(self.numbers)}"
        self.text.append(f"{place} = getelementptr {self.type}, ptr {array}, i64 {element}")
        return place
