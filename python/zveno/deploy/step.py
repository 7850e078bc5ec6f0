"""A step of a mechanism as C99 that needs nothing but the C library's mathematics."""

from __future__ import annotations

import hashlib
import math
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Final, NoReturn, Unpack

import numpy as np
from numpy.typing import NDArray

from .._check import _show, as_flag
from ..codegen.c import LEAVES, identifier, plain
from ..codegen.export import _require_room, _write
from ..codegen.footprint import FLAGS
from ..codegen.function import Level, as_level
from ..codegen.graph import Argument, Graph
from ..codegen.text import expression, names
from ..errors import Error
from ..model import Chain, Hexapod, Linkage
from ..sim.laws import Law
from .c_math import MATH, SIDE_BY_SIDE
from .description import Channel, Description, RigOptions, describe
from .library import Stepper
from .load import changed_parts, load_parameters
from .terms import known_terms
from .tunable import Parameter, Tunables

__all__ = ["StepCode", "export_step", "step_code"]

Array = NDArray[np.float64]
TEST_STEPS: Final = 64
_CALLS: Final = {"sqrt": "sqrt", "angle": "zv_angle", "fma": "ZV_FUSED"}


@dataclass(frozen=True)
class StepCode:
    """Generated code of a step.

    Attributes
    ----------
    name : str
        Prefix of all names, and of the files.
    header, source : str
        Contents of ``<name>.h`` and ``<name>.c``.
    inputs, outputs : tuple of Channel
        What the arrays of a step hold.
    states : int
        Numbers of the state that is integrated.
    parameters : tuple of Parameter
        Numbers of the laws, and gravity and payload of a chain, that stand behind the inputs.
    """

    name: str
    header: str
    source: str
    description: Description
    inputs: tuple[Channel, ...]
    outputs: tuple[Channel, ...]
    states: int
    parameters: tuple[Parameter, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the code."""
        return hashlib.sha256((self.header + self.source).encode()).hexdigest()


def _number(x: float) -> str:
    if math.isinf(x):
        return "HUGE_VAL" if x > 0 else "(-HUGE_VAL)"
    return repr(float(x)) if x >= 0 else f"({float(x)!r})"


def _text(x: Any) -> str:
    """A number of a term; tables are not spelled here."""
    return _number(x) if isinstance(x, float | int) else x if isinstance(x, str) else ""


# ---- graphs -----------------------------------------------------------------------------------------------------


def _angles(order: Sequence[Any], late: Collection[int]) -> tuple[list[int], set[int]]:
    """Angles whose sines and cosines need no others, if there are several, and all that they are computed from."""
    deep: set[int] = set(late)
    angles: dict[int, None] = {}
    for node in order:
        if node.op in ("sin", "cos") and node.operands[0] not in deep:
            angles[node.operands[0]] = None
        if node.op in ("sin", "cos", "angle") or deep.intersection(node.operands):
            deep.add(node.index)
    if len(angles) < 2:
        return [], set()
    behind = set(angles)
    for node in reversed(order):
        if node.index in behind:
            behind.update(node.operands)
    return list(angles), behind


def _lines(graph: Graph, arrays: Mapping[str, str], after: str | None, between: Sequence[str]) -> list[str]:
    """Operations of a graph; those that depend on the input `after` stand behind the lines `between`."""

    def leaf(node: Any) -> str:
        if node.op == "constant":
            return _number(node.value)
        return f"{arrays[graph.inputs[node.argument].name]}[{node.element}]"

    spelled = names(graph, leaf)
    late: set[int] = set()
    twins: dict[int, dict[str, int]] = {}
    for node in graph:
        if (node.op == "input" and graph.inputs[node.argument].name == after) or late.intersection(node.operands):
            late.add(node.index)
        if node.op in ("sin", "cos"):
            twins.setdefault(node.operands[0], {})[node.op] = node.index
    targets: dict[int, list[str]] = {}
    for argument, result in zip(graph.outputs, graph.results, strict=True):
        for k, i in enumerate(result.tolist()):
            targets.setdefault(i, []).append(f"{arrays[argument.name]}[{k}]")
    parts: tuple[list[str], list[str]] = ([], [])
    done: set[int] = set()
    order = list(graph)
    together, behind = _angles(order, late)
    padded = -(-len(together) // 4) * 4
    angles = ", ".join([*(spelled[i] for i in together), *["0.0"] * (padded - len(together))])
    side_by_side = [f"const double angles[{padded}] = {{{angles}}};", f"double sines[{padded}];"]
    side_by_side += [f"double cosines[{padded}];", f"zv_sincos_of(angles, sines, cosines, {padded});"]
    order.sort(key=lambda node: node.index not in behind)  # in their order otherwise
    for k, node in enumerate(order):
        if together and k == len(behind):
            parts[0].extend(side_by_side)
        part = parts[node.index in late]
        if node.op in ("sin", "cos") and node.operands[0] in together:
            array = "sines" if node.op == "sin" else "cosines"
            part.append(f"const double {spelled[node.index]} = {array}[{together.index(node.operands[0])}];")
        elif node.op in ("sin", "cos"):
            both = twins[node.operands[0]]
            if node.operands[0] not in done:
                done.add(node.operands[0])
                s, c = (spelled[both[op]] if op in both else f"u{node.index}" for op in ("sin", "cos"))
                part += [f"double {s};", f"double {c};"]
                part.append(f"zv_sincos({spelled[node.operands[0]]}, &{s}, &{c});")
        elif node.op not in LEAVES:
            formula = expression(node.op, [spelled[i] for i in node.operands], _CALLS)
            part.append(f"const double {spelled[node.index]} = {formula};")
        part += [f"{target} = {spelled[node.index]};" for target in targets.get(node.index, ())]
    used = {graph.inputs[node.argument].name for node in graph if node.op == "input"}
    given = [arrays.get(x.name, "+") for x in graph.inputs if x.name not in used]
    unused = [f"(void){name};" for name in given if "+" not in name]
    return [*unused, *parts[0], *between, *parts[1]]


def _function(name: str, graph: Graph) -> list[str]:
    """A graph as a static function whose parameters have the names of its arrays."""
    arrays = {x.name: identifier(x.name) for x in (*graph.inputs, *graph.outputs)}
    if len(set(arrays.values())) < len(arrays):
        arrays = {x.name: f"a{k}" for k, x in enumerate((*graph.inputs, *graph.outputs))}
    inputs = [f"const double {arrays[x.name]}[{x.size}]" for x in graph.inputs]
    outputs = [f"double {arrays[x.name]}[{max(x.size, 1)}]" for x in graph.outputs]
    body = _lines(graph, arrays, None, ())
    return [
        "ZV_WIDE",
        f"static void {name}(",
        "    " + ",\n    ".join([*inputs, *outputs]) + ")",
        "{",
        *_indented(body),
        "}",
        "",
    ]


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


# ---- laws -------------------------------------------------------------------------------------------------------


class _Laws:
    """Laws of all joints as C: their forces, rates of their internal states, how these settle and relax."""

    def __init__(
        self, laws: Sequence[Law | None], servo: Mapping[str, float], at: int, tunables: Tunables | None
    ) -> None:
        self._tunables = tunables
        self.tables: list[str] = []
        self.forces: list[str] = []
        self.settled: list[str] = []
        self.relaxed: list[str] = []
        self.states = 0
        for joint, law in enumerate(laws):
            self._seen: dict[str, int] = {}
            terms = [] if law is None else known_terms(law)
            if servo:  # its references are inputs
                gains = servo["stiffness"], servo["damping"], servo.get("limit", math.inf)
                terms = [*terms, ("servo_given", *gains, f"in[{at + joint}]")]
            self.forces.append("{")
            self.forces += _indented(["double s0 = 0.0;", *self._sum(terms, joint, 0), f"force[{joint}] = s0;"])
            self.forces.append("}")

    def _sum(self, terms: Sequence[Sequence[Any]], joint: int, depth: int) -> list[str]:
        lines, i = [], 0
        while i < len(terms):
            kind, *x = terms[i]
            spelled = self._tunables.spell(joint, self._seen, kind) if self._tunables else {}
            texts = [spelled[k] if k in spelled else _text(value) for k, value in enumerate(x)]
            if kind == "slip_clutch":
                inner = terms[i + 1 : i + 1 + x[1]]
                lines += ["{", f"  double s{depth + 1} = 0.0;", *_indented(self._sum(inner, joint, depth + 1))]
                lines += [f"  s{depth} += zv_limited(s{depth + 1}, {texts[0]});", "}"]
                i += x[1]
            else:
                lines += self._term(kind, x, texts, joint, f"s{depth}")
            i += 1
        return lines

    def _term(self, kind: str, numbers: Sequence[Any], texts: Sequence[str], joint: int, total: str) -> list[str]:
        x, v = f"x[{joint}]", f"v[{joint}]"
        if kind == "spring_damper":
            force, stiffness, damping, reference = texts
            return [f"{total} += {force} - {stiffness} * ({x} - {reference}) - {damping} * {v};"]
        if kind == "dry_friction":
            force, speed = texts
            return [f"{total} += (-{force}) * zv_tanh({v} / {speed});"]
        if kind == "stops":
            return [f"{total} += zv_stops({x}, {v}, {', '.join(texts)});"]
        if kind == "bumpers":
            return [f"{total} += zv_bumpers({x}, {v}, {', '.join(texts)});"]
        if kind == "eddy_brake":
            return [f"{total} += zv_eddy_brake({v}, {', '.join(texts)});"]
        if kind == "lugre":
            return self._lugre(numbers, joint, total)
        stiffness, damping, limit = texts[:3]
        if kind in ("servo_given", "servo_constant"):
            value = [f"const double value = {texts[3]};", "const double rate = 0.0;"]
        elif kind == "servo_ramp":
            value = ["double rate;", f"const double value = zv_ramp(t, {', '.join(map(_number, numbers[3:]))}, &rate);"]
        else:
            at, count = len(self.tables) // 2, len(numbers[3])
            for what, samples in zip(("times", "values"), numbers[3:], strict=True):
                listed = ", ".join(repr(float(s)) for s in samples)
                self.tables.append(f"static const double {what}_{at}[{count}] = {{{listed}}};")
            value = ["double rate;", f"const double value = zv_table(t, times_{at}, values_{at}, {count}, &rate);"]
        force = f"zv_limited({stiffness} * (value - {x}) + {damping} * (rate - {v}), {limit})"
        return ["{", *_indented([*value, f"{total} += {force};"]), "}"]

    def _lugre(self, numbers: Sequence[float], joint: int, total: str) -> list[str]:
        force, breakaway, speed, stiffness, damping, viscous = map(_number, numbers)
        z, v = self.states, f"v[{joint}]"
        self.states += 1
        decay = f"zv_decay({v}, {force}, {breakaway}, {speed}, {stiffness})"
        self.settled.append(f"z[{z}] = (zv_size({v}) > 0.0) ? {v} / {decay} : 0.0;")
        step = f"dt * z_rate[{z}] * ((1e-8 > x) ? 1.0 - 0.5 * x : -zv_expm1(-x) / x)"
        self.relaxed += ["{", f"  const double x = dt * {decay};", f"  next[{z}] = z[{z}] + {step};", "}"]
        bristles = f"-({stiffness} * z[{z}] + {damping} * z_rate[{z}] + {viscous} * {v})"
        return [f"z_rate[{z}] = {v} - {decay} * z[{z}];", f"{total} += {bristles};"]

    def functions(self, joints: int, relaxes: bool) -> list[str]:
        unused = [] if re.search(r"\bt\b", "\n".join(self.forces)) else ["(void)t;"]
        if not self.states:
            unused += ["(void)z;", "(void)z_rate;"]
        used = "\n".join(self.forces)
        unused += [f"(void){name};" for name in ("x", "v", "in") if not re.search(rf"\b{name}\[", used)]
        arrays = f"const double *in, const double x[{joints}], const double v[{joints}]"
        lines = [*self.tables, ""] if self.tables else []
        lines += [
            "/* forces of the drives, and rates of their internal states */",
            f"static void laws(double t, {arrays}, const double *z, double *z_rate, double force[{joints}])",
            "{",
            *_indented([*unused, *self.forces]),
            "}",
            "",
        ]
        if self.states:
            lines += [
                f"static void settle(const double v[{joints}], double *z)",
                "{",
                *_indented(self.settled),
                "}",
                "",
            ]
        if self.states and relaxes:
            lines += [
                f"static void relax(double dt, const double v[{joints}], const double *z, const double *z_rate,",
                "                  double *next)",
                "{",
                *_indented(self.relaxed),
                "}",
                "",
            ]
        return lines


# ---- mechanisms -------------------------------------------------------------------------------------------------


def _chosen(d: Description, sources: Mapping[str, tuple[str, int]]) -> list[str]:
    """Lines that copy the outputs that stand in arrays already, of those that are wanted."""
    lines, at = [], 0
    for channel in d.outputs:
        if channel.name in sources:
            source, size = sources[channel.name]
            lines.append(f"  (void)memcpy(out{f' + {at}' if at else ''}, {source}, {size} * sizeof *out);")
        at += channel.size
    return lines


def _ring_parts(d: Description, tunables: Tunables | None, level: Level) -> tuple[list[str], int]:
    """Functions of a hexapod, and the size of its state."""
    ring = d.model
    assert isinstance(ring, Hexapod)
    laws = _Laws(d.laws, d.servo, 21 if d.base_motion else 12, tunables)
    arguments = ("r", "R", "u", "wrench", "tau", *(("base_motion",) if d.base_motion else ()))
    outputs = ("acceleration", "base_wrench", "joint_position", "joint_velocity")
    full = ring.trace("forward_dynamics", arguments=arguments, outputs=outputs, level=level).graph
    found = {x.name: r.tolist() for x, r in zip(full.outputs, full.results, strict=True)}
    legs = next(x for x in full.outputs if x.parts)  # rows: coordinates, then rates of a leg
    assert [name for name, _ in legs.parts] == ["joint_position", "joint_velocity"]
    driven = [k * legs.shape[1] + int(j) for k, j in enumerate(ring.actuated)]
    wanted = [
        (Argument("acceleration", (6,)), found["acceleration"]),
        (Argument("load", (6,)), found["base_load"]),
        (Argument("position", (6,)), [found[legs.name][i] for i in driven]),
        (Argument("v", (6,)), [found[legs.name][i + ring.nj] for i in driven]),
        (Argument("measures", (len(found["measures"]),)), found["measures"]),
    ]

    def part(chosen: Sequence[tuple[Argument, Sequence[int]]]) -> Graph:
        core = full.core.copy()
        core.set_outputs([nodes for _, nodes in chosen])
        return Graph(core.pruned(), full.inputs, [argument for argument, _ in chosen])

    least = next(x.above for x in full.outputs if x.above is not None)
    turning = ["1" if leg.traits.hunt else "0" for leg in ring.legs]
    closed = [
        f"for (int k = 0; k < {len(found['measures'])}; ++k) {{",
        f"  fine &= (measures[k] > {least!r}) ? 1 : 0;",
        "}",
        "for (int k = 0; k < 6; ++k) {",
        "  p[k] = (turning[k] != 0) ? zv_unwrapped(position[k], last[k]) : position[k];",
        "}",
    ]
    between = [
        *closed,
        "laws(t, in, p, v, y + 13, rate + 13, tau);",
        "for (int k = 0; k < 6; ++k) {",
        "  tau[k] += in[6 + k];",
        "}",
    ]
    arrays = {
        "r": "y",
        "R": "R",
        "u": "u",
        "wrench": "in",
        "tau": "tau",
        "base_motion": "base",
        "acceleration": "rate_u",
    }
    arrays |= {"load": "load", "position": "position", "v": "v", "measures": "measures"}
    body = _lines(part(wanted), arrays, "tau", between)
    room = ["  double R[9];", "  double position[6];", f"  double measures[{len(found['measures'])}];"]
    room.append("  const double *u = y + 7;")
    lines = [
        f"static const int turning[6] = {{{', '.join(turning)}}};",
        "",
        *laws.functions(6, d.method != "rk4"),
        "/* rates of a state; last: coordinates of the drives at the end of the last step. 0 or a code. */",
        "ZV_WIDE",
        "static int rates(double t, const double *y, const double *in, const double *last, double *rate, double *p,",
        "                 double *v, double *tau, double *load)",
        "{",
        "  int fine = 1;",
        "  int finite = 1;",
        *room,
        "  double *rate_u = rate + 7;",
        *(["  const double *base = in + 12;"] if d.base_motion else []),
        "  zv_rotation(y + 3, R);",
        *_indented(body),
        "  for (int i = 0; i < 3; ++i) {",
        "    rate[i] = u[i];",
        "  }",
        "  zv_product(y + 3, 0.0, 0.5 * u[3], 0.5 * u[4], 0.5 * u[5], rate + 3);",
        "  for (int i = 0; i < STATES; ++i) {",
        "    finite &= (isfinite(rate[i]) != 0) ? 1 : 0;",
        "  }",
        "  return (fine == 0) ? UNREACHABLE : ((finite == 0) ? OVERFLOWS : 0);",
        "}",
        "",
    ]
    follow = [
        "static void follow(double dt, const double *y, const double *v, const double *rate, double *next)",
        "{",
        "  const double *w = next + 10;",
        "  double half;",
        "  double s;",
        "  for (int i = 0; i < 3; ++i) {",
        "    next[i] = y[i] + dt * next[7 + i];",
        "  }",
        "  half = 0.5 * dt * sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);",
        "  s = 0.5 * dt * ((half < 1e-4) ? 1.0 - half * half / 6.0 : sin(half) / half);",
        "  zv_product(y + 3, cos(half), s * w[0], s * w[1], s * w[2], next + 3);",
        *(["  relax(dt, v, y + 13, rate + 13, next + 13);"] if laws.states else ["  (void)v;", "  (void)rate;"]),
        "}",
        "",
    ]
    arrive = [
        "/* the end of a period: whether the legs reach it, and the drives there */",
        "ZV_WIDE",
        "static int arrive(const double *y, const double *last, double *p, double *v)",
        "{",
        "  int fine = 1;",
        "  int finite = 1;",
        *room,
        "  zv_rotation(y + 3, R);",
        *_indented(
            _lines(part(wanted[2:]), {x: arrays[x] for x in ("r", "R", "u", "position", "v", "measures")}, None, ())
        ),
        *_indented(closed),
        "  for (int i = 0; i < STATES; ++i) {",
        "    finite &= (isfinite(y[i]) != 0) ? 1 : 0;",
        "  }",
        "  return (fine == 0) ? UNREACHABLE : ((finite == 0) ? OVERFLOWS : 0);",
        "}",
        "",
    ]
    lines += [
        *(follow if d.method != "rk4" else []),
        *(arrive if d.brief else []),
        "static void project(double *y) { zv_normalise(y + 3); }",
        "",
        "/* at rest, with the laws as they are written */",
        f"static const double still[INPUTS] = {{{', '.join(_still(d, tunables))}}};",
        "",
        "static int begin(const double *start, double *y, double *last)",
        "{",
        "  double in[INPUTS];",
        "  double rate[STATES];",
        "  double p[6];",
        "  double v[6];",
        "  double tau[6];",
        "  double load[6];",
        "  int code;",
        "  (void)memcpy(in, still, sizeof in);",
        "  for (int i = 0; i < STATES; ++i) {",
        "    y[i] = (i < 13) ? start[i] : 0.0;",
        "  }",
        "  zv_normalise(y + 3);",
        "  for (int k = 0; k < 6; ++k) {",
        "    last[k] = 0.0;",
        "  }",
        "  code = rates(0.0, y, in, last, rate, p, v, tau, load);",
        "  for (int k = 0; k < 6; ++k) {",
        "    last[k] = p[k];",
        "  }",
        *(["  settle(v, y + 13);"] if laws.states else []),
        "  return code;",
        "}",
        "",
        "static int outputs(const double *y, const double *in, const double *rate, const double *p, const double *v,",
        "                   const double *tau, const double *load, double *out)",
        "{",
        "  int finite = 1;",
        *(f"  (void){unused};" for unused in ("y", "in", "rate", "p", "v", "tau", "load")),
        *_chosen(d, _RING_OUTPUTS),
        "  for (int i = 0; i < OUTPUTS; ++i) {",
        "    finite &= (isfinite(out[i]) != 0) ? 1 : 0;",
        "  }",
        "  return (finite == 0) ? OVERFLOWS : 0;",
        "}",
    ]
    return lines, 13 + laws.states


_RING_OUTPUTS: Final = {
    "ring.position": ("y", 3),
    "ring.quaternion": ("y + 3", 4),
    "ring.twist": ("y + 7", 6),
    "ring.acceleration": ("rate + 7", 6),
    "stroke": ("p", 6),
    "stroke_rate": ("v", 6),
    "leg_force": ("tau", 6),
    "base_wrench": ("load", 6),
}


def _still(d: Description, tunables: Tunables | None) -> list[str]:
    numbers = ["0.0"] * sum(x.size for x in d.inputs)
    return [*numbers, *(repr(x) for p in (tunables.parameters if tunables else ()) for x in p.values)]


def _chain_parts(d: Description, tunables: Tunables | None, level: Level) -> tuple[list[str], int]:
    """Functions of a chain, and the size of its state."""
    arm = d.model
    assert isinstance(arm, Chain)
    n = arm.n
    laws = _Laws(d.laws, d.servo, n + 6 * len(d.external) + (9 if d.base_motion else 0), tunables)
    motion = ("base_motion",) if d.base_motion else ()
    loads: dict[str, Any] = {"external": list(d.external)} if d.external else {}
    usual: dict[str, Any] = {"method": "aba"} if level == "strict" else {}  # the kernel of `Stepper`, or the shortest
    usual["level"] = level
    forward = arm.trace("forward_dynamics", arguments=("q", "qd", "tau", *motion), **usual, **loads).graph
    wrench = arm.trace("base_wrench", arguments=("q", "qd", "qdd", *motion), level=level, **loads).graph
    places_of, at = {}, 0
    for channel in d.outputs:
        places_of[channel.name] = at
        at += channel.size
    lines = [*laws.functions(n, d.method != "rk4"), *_function("forward_dynamics", forward)]
    if "base_wrench" in places_of:
        lines += _function("base_wrench", wrench)
    if "energy" in places_of:
        lines += _function("kinetic_energy", arm.trace("kinetic_energy", level=level).graph)
        lines += _function("potential_energy", arm.trace("potential_energy", level=level).graph)
    poses = []
    for k, link in enumerate(d.poses):
        here = [places_of.get(f"pose.{link}.{what}", -1) for what in ("position", "quaternion")]
        if max(here) < 0:
            continue
        lines += _function(f"pose_{k}", arm.trace("pose", link=link, level=level).graph)
        poses.append(f"pose_{k}(y, T);")
        if here[0] >= 0:
            poses += [f"out[{here[0] + i}] = T[{4 * i + 3}];" for i in range(3)]
        if here[1] >= 0:
            poses.append(f"zv_quaternion(T, out + {here[1]});")
    tuned = tunables is not None and bool(tunables.places)
    if tunables is not None and tuned:
        lines += changed_parts(d, tunables, _function, places_of.keys())
    places = {"q": "y", "qd": f"y + {n}", "tau": "tau", "qdd": f"rate + {n}"}
    places |= {"base_motion": f"in + {n + 6 * len(d.external)}"}

    def call(name: str, graph: Graph, out: str) -> str:
        external = iter(range(len(d.external)))
        given = [places[x.name] if x.name in places else f"in + {n + 6 * next(external)}" for x in graph.inputs]
        return f"{name}({', '.join([*given, out])});"

    loaded = []
    if (at := places_of.get("base_wrench", -1)) >= 0:
        changed = f"changed_wrench(y, in, rate + {n}, out + {at});"
        loaded += _either(tuned, changed, [call("base_wrench", wrench, f"out + {at}")])
    if (at := places_of.get("energy", -1)) >= 0:
        energies = [f"kinetic_energy(y, y + {n}, kinetic);", "potential_energy(y, potential);"]
        loaded += _either(
            tuned, f"out[{at}] = changed_energy(y, in);", [*energies, f"out[{at}] = kinetic[0] + potential[0];"]
        )
    follow = [
        "static void follow(double dt, const double *y, const double *v, const double *rate, double *next)",
        "{",
        "  (void)v;",
        "  (void)rate;",
        f"  for (int k = 0; k < {n}; ++k) {{",
        f"    next[k] = y[k] + dt * next[{n} + k];",
        "  }",
        *([f"  relax(dt, y + {n}, y + {2 * n}, rate + {2 * n}, next + {2 * n});"] if laws.states else []),
        "}",
        "",
    ]
    arrive = [
        "/* the end of a period */",
        "static int arrive(const double *y, const double *last, double *p, double *v)",
        "{",
        "  int finite = 1;",
        "  (void)last;",
        f"  (void)memcpy(p, y, {n} * sizeof *p);",
        f"  (void)memcpy(v, y + {n}, {n} * sizeof *v);",
        "  for (int i = 0; i < STATES; ++i) {",
        "    finite &= (isfinite(y[i]) != 0) ? 1 : 0;",
        "  }",
        "  return (finite == 0) ? OVERFLOWS : 0;",
        "}",
        "",
    ]
    lines += [
        "/* rates of a state; 0 or a code */",
        "static int rates(double t, const double *y, const double *in, const double *last, double *rate, double *p,",
        "                 double *v, double *tau, double *load)",
        "{",
        "  (void)last;",
        "  (void)load;",
        f"  (void)memcpy(p, y, {n} * sizeof *p);",
        f"  (void)memcpy(v, y + {n}, {n} * sizeof *v);",
        f"  laws(t, in, y, y + {n}, y + {2 * n}, rate + {2 * n}, tau);",
        f"  for (int k = 0; k < {n}; ++k) {{",
        "    tau[k] += in[k];",
        "  }",
        *_either(
            tuned,
            f"changed_dynamics(y, in, tau, rate + {n});",
            [call("forward_dynamics", forward, f"rate + {n}")],
        ),
        f"  for (int k = 0; k < {n}; ++k) {{",
        f"    rate[k] = y[{n} + k];",
        "  }",
        "  return 0; /* what is not finite stays so, and is found at the end of the step */",
        "}",
        "",
        *(follow if d.method != "rk4" else []),
        *(arrive if d.brief else []),
        "static void project(double *y) { (void)y; }",
        "",
        "static int begin(const double *start, double *y, double *last)",
        "{",
        "  (void)memset(last, 0, DRIVES * sizeof *last);",
        "  for (int i = 0; i < STATES; ++i) {",
        f"    y[i] = (i < {2 * n}) ? start[i] : 0.0;",
        "  }",
        *([f"  settle(y + {n}, y + {2 * n});"] if laws.states else []),
        "  return 0;",
        "}",
        "",
        "static int outputs(const double *y, const double *in, const double *rate, const double *p, const double *v,",
        "                   const double *tau, const double *load, double *out)",
        "{",
        *(["  double kinetic[1];", "  double potential[1];"] if "energy" in places_of else []),
        *(["  double T[16];"] if poses else []),
        "  int finite = 1;",
        *(f"  (void){unused};" for unused in ("y", "in", "rate", "p", "v", "tau", "load")),
        *_chosen(d, {"q": ("y", n), "qd": (f"y + {n}", n), "qdd": (f"rate + {n}", n)}),
        *loaded,
        *_indented(poses),
        "  for (int i = 0; i < OUTPUTS; ++i) {",
        "    finite &= (isfinite(out[i]) != 0) ? 1 : 0;",
        "  }",
        "  return (finite == 0) ? OVERFLOWS : 0;",
        "}",
    ]
    return lines, 2 * n + laws.states


def _either(tuned: bool, changed: str, usual: Sequence[str]) -> list[str]:
    """Lines of what the model has built in, and where that can be tuned, what stands for them then."""
    if not tuned:
        return _indented(usual)
    return ["  if (is_changed(in) != 0) {", f"    {changed}", "  } else {", *_indented(_indented(usual)), "  }"]


def turning_drives(model: Chain | Hexapod) -> list[bool]:
    """Which drives turn; the others slide."""
    if isinstance(model, Hexapod):
        return [leg.unit == "rad" for leg in model.legs]
    return [link.joint == "revolute" for link in model.links if link.joint != "fixed"]


def step_code(d: Description, name: str | None = None, *, tunable: bool = False, level: Level = "strict") -> StepCode:
    """The code of a step; tunable: numbers of the laws, gravity and payload stand behind the inputs."""
    if not isinstance(d.model, Chain | Hexapod):
        what = "a linkage" if isinstance(d.model, Linkage) else "a docking"
        raise ValueError(
            f"export_step: the model is {what}, whose steps are no fixed list of operations; save_rig writes it for "
            "the C library, export_fmu puts that library into an FMU"
        )
    if d.sensor:
        raise ValueError("export_step: sensor is given; only the C library has sensors")
    if isinstance(d.model, Hexapod) and any(leg.type == "custom" for leg in d.model.legs):
        raise ValueError(
            f"export_step: hexapod '{d.model.name}' has a custom leg, which is closed by iteration: "
            "it has no fixed list of operations"
        )
    word = identifier(name or f"{re.sub(r'[(].*?[)]', '', d.model.name)}_step".lower())
    tunables = None
    if tunable:
        legs = d.model.legs if isinstance(d.model, Hexapod) else ()
        drives = [str(leg.name) for leg in legs] or list(getattr(d.model, "joint_names", ()))
        behind = sum(x.size for x in d.inputs)
        more = load_parameters(d.model) if isinstance(d.model, Chain) else ()
        tunables = Tunables(d.laws, d.servo, drives, turning_drives(d.model), behind, more)
    parts, states = (_ring_parts if isinstance(d.model, Hexapod) else _chain_parts)(d, tunables, level)
    start = np.concatenate([np.ravel(value) for value in d.start.values()])
    count = 6 if isinstance(d.model, Hexapod) else d.model.n
    parameters = tuple(tunables.parameters) if tunables else ()
    inputs, outputs = (sum(x.size for x in some) for some in (d.inputs, d.outputs))
    inputs += sum(len(p.values) for p in parameters)

    def table(channels: Sequence[Channel]) -> str:
        lines, at = [], 0
        for x in channels:
            lines.append(f" *   [{at:3}] {plain(x.name):28} {x.size:2}  {plain(x.unit)}")
            at += x.size
        return "\n".join(lines)

    values = {
        "name": word,
        "NAME": word.upper(),
        "model": plain(d.model.name),
        "period": repr(d.period),
        "dt": repr(d.step),
        "substeps": d.substeps,
        "method": "Runge-Kutta of order 4" if d.method == "rk4" else "semi-implicit Euler",
        "inputs": inputs,
        "outputs": outputs,
        "states": states,
        "drives": count,
        "start_size": len(start),
        "start": ", ".join(repr(float(x)) for x in start),
        "input_table": table([*d.inputs, *(Channel(p.name, len(p.values), p.units[0]) for p in parameters)]),
        "output_table": table(d.outputs),
        "math": MATH.strip(),
        "contraction": _CONTRACTION[level],
        "clones": _CLONES[level],
        "parts": "\n".join(parts),
        "move": (_RK4 if d.method == "rk4" else _EULER).strip("\n"),
        "arrive": _ARRIVE[d.brief].replace("$substeps", str(d.substeps)),
        "here": _HERE[d.brief],
    }
    header = Template(_HEADER).substitute(values)
    source = Template(_SOURCE).substitute(values)
    if "zv_sincos_of(angles" in source:
        source = source.replace("/* angle whose sine", f"{SIDE_BY_SIDE.strip()}\n\n/* angle whose sine")
    return StepCode(word, header, _without_unused(source), d, d.inputs, d.outputs, states, parameters)


def _without_unused(source: str) -> str:
    """The source without those of the general functions that nothing calls."""
    pattern = re.compile(r"(?:/\*[^\n]*\*/\n)?static [a-z]+ (zv_\w+)\([^\n]*(?:\n\{\n.*?\n\}\n|\}\n)\n?", re.S)
    while True:
        found = [m for m in pattern.finditer(source) if len(re.findall(rf"\b{m[1]}\b", source)) == 1]
        if not found:
            return source
        for m in reversed(found):
            source = source[: m.start()] + source[m.end() :]


def export_step(
    model: Chain | Hexapod,
    directory: str | os.PathLike[str],
    *,
    name: str | None = None,
    overwrite: bool = False,
    level: Level = "strict",
    **options: Unpack[RigOptions],
) -> list[Path]:
    """Write the step of a mechanism as C99: dynamics, laws and integrator, for rigs that link no library.

    Parameters
    ----------
    model : Chain or Hexapod
        Hexapods without custom legs.
    directory : path
        Made if it does not exist.
    name : str, optional
        Of the files, and at the beginning of all names. Default: after the model.
    overwrite : bool
        Replace files that are already there.
    level : {"strict", "algebraic"}
        "strict": the bits of `Stepper`; "algebraic": fewer operations, as of `Chain.compile`, with the same results but
        for rounding.
    **options
        Those of `save_rig`, but for `most_held` and `jump`, which are the caller's.

    Returns
    -------
    list of Path
        ``<name>.c``, ``<name>.h``, ``<name>_test.c``, ``CMakeLists.txt`` and ``README.md``.

    Notes
    -----
    At the strict level results have the bits of `Stepper` and of ``simulate``, if the compiler does not fuse
    multiplications and additions (``-ffp-contract=off``) nor reorders them (no ``-ffast-math``).

    Examples
    --------
    >>> import tempfile, zveno as zv
    >>> ring = zv.mechanisms.docking_ring("UPS")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print([path.name for path in zv.export_step(ring, folder, name="ring", laws=zv.laws.SpringDamper(400, 80))])
    ['ring.c', 'ring.h', 'ring_test.c', 'CMakeLists.txt', 'README.md']
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"export_step: {text}")

    if not isinstance(directory, str | os.PathLike) or not os.fspath(directory):
        raise TypeError(f"export_step: directory is {_show(directory)}, expected a path")
    if name is not None and not (isinstance(name, str) and re.search("[0-9A-Za-z]", name)):
        fail(f"name is {_show(name)}, expected a name with letters or digits")
    d = describe("export_step", model, options)
    code = step_code(d, name, level=as_level("export_step", level))
    files = {
        f"{code.name}.c": code.source,
        f"{code.name}.h": code.header,
        f"{code.name}_test.c": _self_test(code),
        "CMakeLists.txt": Template(_CMAKE).substitute(name=code.name, flags=" ".join(FLAGS)),
        "README.md": _readme(code),
    }
    folder = Path(directory)
    _require_room(files, folder, overwrite=as_flag(overwrite, fail, "overwrite"))
    return _write(files, folder)


def _self_test(code: StepCode) -> str:
    """Steps of the C library under random inputs, to be repeated."""
    d = code.description
    stepper = Stepper(d.model, **(d.options() | {"jump": {}, "most_held": 0}))
    rng = np.random.default_rng(0)
    size = sum(x.size for x in code.inputs)
    inputs = rng.normal(size=(TEST_STEPS, size)).round(6)
    made: list[Array] = []
    for row in inputs:
        try:
            made.append(stepper.step_array(row).copy())
        except (ArithmeticError, Error) as error:  # a step too long for the model, or out of reach: as far as it goes
            if not made:
                raise type(error)(f"export_step: the first step cannot be made: {error}") from None
            break
    results = np.array(made)
    inputs = inputs[: len(made)]

    def table(name: str, rows: Array, width: str) -> str:
        text = ",\n".join("  {" + ", ".join(repr(float(x)) for x in row) + "}" for row in rows)
        return f"static const double {name}[{len(rows)}][{width}] = {{\n{text}\n}};"

    scale = float(np.abs(results).max()) or 1.0
    return Template(_TEST).substitute(
        name=code.name,
        steps=len(made),
        inputs=table("given", inputs, f"{code.name.upper()}_INPUTS"),
        wanted=table("wanted", results, f"{code.name.upper()}_OUTPUTS"),
        tolerance=repr(1e-9 * scale),
        NAME=code.name.upper(),
    )


def _readme(code: StepCode) -> str:
    d = code.description
    rows = []
    for what, channels in (("input", code.inputs), ("output", code.outputs)):
        at = 0
        for x in channels:
            rows.append(f"| {what} | `{x.name}` | {at} | {x.size} | {x.unit} |")
            at += x.size
    return Template(_README).substitute(
        name=code.name,
        model=d.name,
        period=d.period,
        rows="\n".join(rows),
        flags=" ".join(FLAGS),
    )


_HEADER: Final = """\
/* $name: one period of $model. Generated code, do not edit.
 *
 * Period $period s, $substeps step(s) of $method in it. Inputs are held over a period, outputs are those at its end.
 * No allocation, no global state, no recursion, loops of fixed length. SI units, radians; quaternions are w, x, y, z.
 *
 * in
$input_table
 * out
$output_table
 */
#ifndef ${NAME}_H
#define ${NAME}_H

#define ${NAME}_INPUTS $inputs
#define ${NAME}_OUTPUTS $outputs
#define ${NAME}_START $start_size
#define ${NAME}_STATES $states
#define ${NAME}_PERIOD $period

/* what functions return */
#define ${NAME}_OK 0
#define ${NAME}_UNREACHABLE 1 /* a leg cannot take the pose */
#define ${NAME}_OVERFLOWS 2   /* a number is not finite: too large, or the state is singular */
#define ${NAME}_NOT_FINITE 3  /* an argument is not finite */

#ifdef __cplusplus
extern "C" {
#endif

/* A complete snapshot: a copy of it goes on with the same bits. */
typedef struct ${name}_state {
  double y[$states];   /* what is integrated */
  double last[$drives]; /* coordinates of the drives at the end of the last step */
  double steps;  /* of the integrator, since the start */
  double origin; /* time of the start, s; init sets 0 */
} ${name}_state;

/* To `start`; a null pointer: the one of the model. On a code other than 0 `state` means nothing. */
int ${name}_init(${name}_state *state, const double *start);

/* One period. On a code other than 0 state and out are what they were. */
int ${name}(${name}_state *state, const double in[${NAME}_INPUTS], double out[${NAME}_OUTPUTS]);

/* Outputs of a state under inputs, without a step. */
int ${name}_outputs(const ${name}_state *state, const double in[${NAME}_INPUTS], double out[${NAME}_OUTPUTS]);

/* Rates of state->y at time t under inputs, without a step. */
int ${name}_rates(const ${name}_state *state, double t, const double in[${NAME}_INPUTS], double rate[${NAME}_STATES]);

/* The start of the model. */
extern const double ${name}_start[${NAME}_START];

#ifdef __cplusplus
}
#endif

#endif
"""

# by level: what is said of fused operations, and for which other processors there is a copy
_CONTRACTION: Final = {
    "strict": """\
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* What takes the time is compiled for AVX too and chosen when it is loaded: the same bits. -DZV_WIDE= : only once. */
""",
    "algebraic": """\
/* Multiplications and additions may be fused where the processor can. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#endif
#if defined(FP_FAST_FMA) || defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define ZV_FUSED(a, b, c) fma((a), (b), (c))
#else /* a call would be slow */
#define ZV_FUSED(a, b, c) (((a) * (b)) + (c))
#endif

/* What takes the time is compiled for other processors too and chosen when it is loaded. -DZV_WIDE= : only once. */
""",
}
# AVX-512 has twice the registers for single numbers: 5 % of a chain of seven joints, 9 % of one of thirty
_CLONES: Final = {"strict": '"avx"', "algebraic": '"avx512f", "fma"'}

_SOURCE: Final = """\
/* $name: generated code, see the header. */
#include "$name.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

$contraction#ifndef ZV_WIDE
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) && !defined(__AVX__) && \\
    !defined(__SANITIZE_THREAD__)
#define ZV_WIDE __attribute__((target_clones($clones, "default")))
#else
#define ZV_WIDE
#endif
#endif

#define INPUTS ${NAME}_INPUTS
#define OUTPUTS ${NAME}_OUTPUTS
#define STATES ${NAME}_STATES
#define WIDE ((STATES + 3) / 4 * 4) /* of whole vectors */
#define DRIVES $drives
#define UNREACHABLE ${NAME}_UNREACHABLE
#define OVERFLOWS ${NAME}_OVERFLOWS
#define STEP $dt

const double ${name}_start[${NAME}_START] = {$start};

$math

$parts

static int all_finite(const double *x, int count)
{
  int finite = 1;
  for (int i = 0; i < count; ++i) {
    finite &= (isfinite(x[i]) != 0) ? 1 : 0;
  }
  return finite;
}

int ${name}_init(${name}_state *state, const double *start)
{
  const double *from = (start != NULL) ? start : ${name}_start;
  int code = ${NAME}_NOT_FINITE;
  state->steps = 0.0;
  state->origin = 0.0;
  if (all_finite(from, ${NAME}_START) != 0) {
    code = begin(from, state->y, state->last);
  }
  return code;
}

int ${name}(${name}_state *state, const double in[${NAME}_INPUTS], double out[${NAME}_OUTPUTS])
{
  double y[WIDE] = {0.0};
  double last[DRIVES];
  double rate[WIDE] = {0.0};
  double p[DRIVES];
  double v[DRIVES];
  double tau[DRIVES];
  double load[6];
  double next[WIDE];
  double made[OUTPUTS];
  double steps = state->steps;
  int code = ${NAME}_NOT_FINITE;
  (void)memcpy(y, state->y, sizeof state->y);
  (void)memcpy(last, state->last, sizeof last);
  if (all_finite(in, INPUTS) != 0) {
    code = rates(state->origin + STEP * steps, y, in, last, rate, p, v, tau, load);
  }
  for (int k = 0; (k < $substeps) && (code == 0); ++k) {
$move
    if (code == 0) {
      project(next);
      steps += 1.0;
      code = $arrive;
      (void)memcpy(y, next, sizeof y);
      (void)memcpy(last, p, sizeof last);
    }
  }
  if (code == 0) {
    code = (all_finite(y, STATES) != 0) ? outputs(y, in, rate, p, v, tau, load, made) : OVERFLOWS;
  }
  if (code == 0) {
    (void)memcpy(state->y, y, sizeof state->y);
    (void)memcpy(state->last, last, sizeof last);
    (void)memcpy(out, made, sizeof made);
    state->steps = steps;
  }
  return code;
}

int ${name}_outputs(const ${name}_state *state, const double in[${NAME}_INPUTS], double out[${NAME}_OUTPUTS])
{
  double rate[STATES];
  double p[DRIVES];
  double v[DRIVES];
  double tau[DRIVES];
  double load[6];
  int code = ${NAME}_NOT_FINITE;
  if (all_finite(in, INPUTS) != 0) {
    code = $here;
  }
  if (code == 0) {
    code = outputs(state->y, in, rate, p, v, tau, load, out);
  }
  return code;
}

int ${name}_rates(const ${name}_state *state, double t, const double in[${NAME}_INPUTS], double rate[${NAME}_STATES])
{
  double p[DRIVES];
  double v[DRIVES];
  double tau[DRIVES];
  double load[6];
  const int code = rates(t, state->y, in, state->last, rate, p, v, tau, load);
  return ((code == 0) && (all_finite(rate, STATES) == 0)) ? OVERFLOWS : code;
}
"""

_RK4: Final = """
    static const double way[3] = {0.5, 0.5, 1.0};
    static const double weight[3] = {2.0, 2.0, 1.0};
    const double t = state->origin + STEP * steps;
    double at[WIDE];
    double sum[WIDE];
    (void)memcpy(sum, rate, sizeof sum);
    for (int j = 0; (j < 3) && (code == 0); ++j) {
      const double h = STEP * way[j];
      for (int i = 0; i < WIDE; ++i) {
        at[i] = y[i] + h * rate[i];
      }
      code = rates(t + STEP * way[j], at, in, last, rate, p, v, tau, load);
      for (int i = 0; i < WIDE; ++i) {
        sum[i] += weight[j] * rate[i];
      }
    }
    for (int i = 0; i < WIDE; ++i) {
      next[i] = y[i] + (STEP / 6.0) * sum[i];
    }
"""

_RATES: Final = "rates(state->origin + STEP * steps, next, in, last, rate, p, v, tau, load)"
# the end of a step, by whether the last one of a period is evaluated
_ARRIVE: Final = {False: _RATES, True: f"(k + 1 < $substeps) ? {_RATES} : arrive(next, last, p, v)"}

_HERE: Final = {
    False: "rates(state->origin + STEP * state->steps, state->y, in, state->last, rate, p, v, tau, load)",
    True: "arrive(state->y, state->last, p, v)",
}

_EULER: Final = """
    for (int i = 0; i < WIDE; ++i) {
      next[i] = y[i] + STEP * rate[i];
    }
    follow(STEP, y, v, rate, next);
"""

_TEST: Final = """\
/* $name: self-test. The numbers were computed by zveno; the same bits are expected of a compiler that neither fuses nor
 * reorders operations. */
#include "$name.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

$inputs

$wanted

int main(void)
{
  ${name}_state state;
  ${name}_state copy;
  double out[${NAME}_OUTPUTS];
  double broken[${NAME}_INPUTS];
  double worst = 0.0;
  int failures = 0;
  failures += ${name}_init(&state, NULL) != 0;
  for (int k = 0; k < $steps; ++k) {
    copy = state;
    failures += ${name}(&state, given[k], out) != 0;
    for (int i = 0; i < ${NAME}_OUTPUTS; ++i) {
      worst = fmax(worst, fabs(out[i] - wanted[k][i]));
      failures += !(fabs(out[i] - wanted[k][i]) <= $tolerance);
    }
  }
  /* a snapshot goes on with the same bits */
  failures += ${name}(&copy, given[$steps - 1], out) != 0;
  failures += memcmp(&copy, &state, sizeof state) != 0;
  /* what is not finite is refused, and changes nothing */
  (void)memcpy(broken, given[0], sizeof broken);
  broken[0] = NAN;
  failures += ${name}(&copy, broken, out) != ${NAME}_NOT_FINITE;
  failures += memcmp(&copy, &state, sizeof state) != 0;
  (void)printf("%s: largest difference %g%s\\n", (failures == 0) ? "passed" : "FAILED", worst,
               (worst == 0.0) ? ", the same bits" : "");
  return (failures == 0) ? 0 : 1;
}
"""

_CMAKE: Final = """\
cmake_minimum_required(VERSION 3.10)
project($name C)
set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_library($name $name.c)
target_include_directories($name PUBLIC $${CMAKE_CURRENT_SOURCE_DIR})
if(NOT MSVC)
  target_compile_options($name PRIVATE $flags)
  target_link_libraries($name PUBLIC m)
endif()
enable_testing()
add_executable(${name}_test ${name}_test.c)
target_link_libraries(${name}_test PRIVATE $name)
add_test(NAME ${name}_test COMMAND ${name}_test)
"""

_README: Final = """\
# $name

One period of $model, $period s, in C99. `$name(state, in, out)` moves the state on; nothing is allocated, nothing is
global, every loop has a fixed length. A copy of the state is a snapshot.

| | name | first | numbers | unit |
|---|---|---|---|---|
$rows

```sh
cc -std=c99 -O2 $flags $name.c ${name}_test.c -lm -o ${name}_test && ./${name}_test
```
"""
