"""Gravity and payload of a chain that may be changed while an FMU runs, as C beside the step that has them built in.

Another gravity is an acceleration of the base. A payload adds its inertia to that of the last moving link, whose
inertial parameters the functions are then given. Without one and with the gravity of the model nothing of this is
computed: results keep their bits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from .tunable import Parameter, Tunables

if TYPE_CHECKING:
    from ..codegen.graph import Graph
    from ..model import Chain
    from .description import Description

__all__ = ["changed_parts", "load_parameters"]


def payload_link(arm: Chain) -> str | None:
    """The last link of a serial chain."""
    parents = [link.parent for link in arm.links]
    single = len(set(parents)) == len(parents)
    return arm.links[-1].name if single and arm.n else None


def load_parameters(arm: Chain) -> list[Parameter]:
    """Gravity, and where there is one last link, what it carries."""
    made = [Parameter("gravity", tuple(map(float, arm.gravity)), ("m/s2",) * 3)]
    if payload_link(arm) is not None:
        made += [
            Parameter("payload.mass", (0.0,), ("kg",), 0.0),
            Parameter("payload.com", (0.0,) * 3, ("m",) * 3),
            Parameter("payload.inertia", (0.0,) * 6, ("kg.m2",) * 6),
        ]
    return made


def _moving_mass(arm: Chain) -> float:
    """Of the links that joints move."""
    moved: set[str] = set()
    for link in arm.links:  # parents stand before their children
        if link.joint != "fixed" or link.parent in moved:
            moved.add(link.name)
    return float(sum(link.mass for link in arm.links if link.name in moved))


def _payload(arm: Any, link: str, moving: str, m: int, c: int, J: int) -> list[str]:
    """A function that writes the inertial parameters of link `moving`, with the payload of link `link`."""
    rest = [0.0] * arm.n
    T = np.linalg.solve(arm.pose(rest, link=moving), arm.pose(rest, link=link)) if link != moving else np.eye(4)
    own = [repr(float(x)) for x in arm.trace("kinetic_energy", parameters=[moving]).parameters.ravel()]
    return [
        "/* inertial parameters of the last moving link and its payload: m, m c, I about its origin */",
        "static void with_payload(const double *in, double theta[10])",
        "{",
        f"  static const double own[10] = {{{', '.join(own)}}};",
        f"  static const double R[3][3] = {{{', '.join(_row(row) for row in T[:3, :3])}}};",
        f"  static const double t[3] = {_row(T[:3, 3])};",
        f"  const double J[3][3] = {{{{in[{J}], in[{J + 1}], in[{J + 2}]}},",
        f"                          {{in[{J + 1}], in[{J + 3}], in[{J + 4}]}},",
        f"                          {{in[{J + 2}], in[{J + 4}], in[{J + 5}]}}}};",
        "  double p[3];  /* centre of mass */",
        "  double square = 0.0;",
        "  int at = 4;",
        "  (void)memcpy(theta, own, sizeof own);",
        f"  theta[0] += in[{m}];",
        "  for (int i = 0; i < 3; ++i) {",
        f"    p[i] = t[i] + R[i][0] * in[{c}] + R[i][1] * in[{c + 1}] + R[i][2] * in[{c + 2}];",
        f"    theta[1 + i] += in[{m}] * p[i];",
        "    square += p[i] * p[i];",
        "  }",
        "  for (int i = 0; i < 3; ++i) {",
        "    for (int j = i; j < 3; ++j) {",
        f"      double x = -in[{m}] * p[i] * p[j];",
        f"      x += (i == j) ? in[{m}] * square : 0.0;",
        "      for (int k = 0; k < 3; ++k) {",
        "        x += R[i][k] * (J[k][0] * R[j][0] + J[k][1] * R[j][1] + J[k][2] * R[j][2]);",
        "      }",
        "      theta[at] += x;",
        "      ++at;",
        "    }",
        "  }",
        "}",
        "",
    ]


def _row(numbers: Any) -> str:
    return "{" + ", ".join(repr(float(x)) for x in numbers) + "}"


def changed_parts(
    d: Description, tunables: Tunables, function: Callable[[str, Graph], list[str]], outputs: Collection[str]
) -> list[str]:
    """Functions `is_changed`, `changed_dynamics`, and for these `outputs` `changed_wrench` and `changed_energy`.

    `function` spells a graph.
    """
    arm: Any = d.model
    n, g0 = arm.n, [repr(float(x)) for x in arm.gravity]
    link = payload_link(arm)
    g = tunables.places["gravity"]
    m, c, J = (tunables.places.get(f"payload.{key}", -1) for key in ("mass", "com", "inertia"))
    moving = next(x.name for x in reversed(arm.links) if x.joint != "fixed")
    loaded: dict[str, Any] = {"parameters": [moving]} if link is not None else {}
    loads: dict[str, Any] = {"external": list(d.external)} if d.external else {}
    arguments = ("q", "qd", "tau", "base_motion")
    forward = arm.trace("forward_dynamics", arguments=arguments, method="aba", **loads, **loaded).graph
    wrench = arm.trace("base_wrench", arguments=("q", "qd", "qdd", "base_motion"), **loads, **loaded).graph
    others = {name: arm.trace(name, **loaded).graph for name in ("com", "kinetic_energy", "potential_energy")}
    places = {"q": "y", "qd": f"y + {n}", "tau": "tau", "qdd": "qdd", "base_motion": "base", "parameters": "theta"}

    def call(name: str, graph: Graph, out: str) -> str:
        external = iter(range(len(d.external)))
        given = [places[x.name] if x.name in places else f"in + {n + 6 * next(external)}" for x in graph.inputs]
        return f"{name}({', '.join([*given, out])});"

    lines = function("loaded_dynamics", forward)
    if "base_wrench" in outputs:
        lines += function("loaded_wrench", wrench)
    if "energy" in outputs:
        for name, graph in others.items():
            lines += function(f"loaded_{name}", graph)
    at = n + 6 * len(d.external)
    carried = [m, *range(J, J + 6)] if link is not None else []
    differs = [f"(in[{g + k}] != {g0[k]})" for k in range(3)] + [f"(in[{k}] != 0.0)" for k in carried]
    lines += [
        "/* 1: gravity or payload are not those of the model */",
        "static int is_changed(const double *in)",
        "{",
        f"  return ({' || '.join(differs)}) ? 1 : 0;",
        "}",
        "",
        "/* motion of the base: another gravity is an acceleration */",
        "static void base_of(const double *in, double base[9])",
        "{",
        *(
            f"  base[{k}] = {f'in[{at + k}]' if d.base_motion else '0.0'} - (in[{g + k}] - {_signed(g0[k])});"
            for k in range(3)
        ),
        *(f"  base[{k}] = {f'in[{at + k}]' if d.base_motion else '0.0'};" for k in range(3, 9)),
        "}",
        "",
    ]
    theta, mass = [], repr(_moving_mass(arm))
    if link is not None:
        lines += _payload(arm, link, moving, m, c, J)
        theta, mass = ["  double theta[10];"], f"({mass} + in[{m}])"
    payload = ["  with_payload(in, theta);"] if theta else []
    begin = ["  base_of(in, base);", *payload]
    lines += [
        "static void changed_dynamics(const double *y, const double *in, const double *tau, double *qdd)",
        "{",
        "  double base[9];",
        *theta,
        *begin,
        f"  {call('loaded_dynamics', forward, 'qdd')}",
        "}",
        "",
    ]
    if "base_wrench" in outputs:
        lines += [
            "static void changed_wrench(const double *y, const double *in, const double *qdd, double *wrench)",
            "{",
            "  double base[9];",
            *theta,
            *begin,
            f"  {call('loaded_wrench', wrench, 'wrench')}",
            "}",
            "",
        ]
    if "energy" in outputs:
        lines += [
            "static double changed_energy(const double *y, const double *in)",
            "{",
            "  double centre[3];",
            "  double kinetic[1];",
            "  double potential[1];",
            *theta,
            *payload,
            f"  {call('loaded_com', others['com'], 'centre')}",
            f"  {call('loaded_kinetic_energy', others['kinetic_energy'], 'kinetic')}",
            f"  {call('loaded_potential_energy', others['potential_energy'], 'potential')}",
            *(f"  potential[0] -= {mass} * (in[{g + k}] - {_signed(g0[k])}) * centre[{k}];" for k in range(3)),
            "  return kinetic[0] + potential[0];",
            "}",
            "",
        ]
    return lines


def _signed(number: str) -> str:
    return f"({number})" if number.startswith("-") else number
