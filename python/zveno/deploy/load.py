"""Gravity and payload of a chain that may be changed while an FMU runs, as C beside the step that has them built in.

Another gravity is an acceleration of the base. A payload is a point mass m at c on the last link. Its force on the link
is F = m (g - a) with the acceleration a = a_0 + W F of c, where W comes from three unit forces. With m = 0 and the
gravity of the model nothing of this is computed: results keep their bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
        made += [Parameter("payload.mass", (0.0,), ("kg",), 0.0), Parameter("payload.com", (0.0,) * 3, ("m",) * 3)]
    return made


def _moving_mass(arm: Chain) -> float:
    """Of the links that joints move."""
    moved: set[str] = set()
    for link in arm.links:  # parents stand before their children
        if link.joint != "fixed" or link.parent in moved:
            moved.add(link.name)
    return float(sum(link.mass for link in arm.links if link.name in moved))


def changed_parts(d: Description, tunables: Tunables, function: Callable[[str, Graph], list[str]]) -> list[str]:
    """Functions `is_changed`, `changed_dynamics` and `changed_outputs`; `function` spells a graph."""
    arm: Any = d.model
    n, g0 = arm.n, [repr(float(x)) for x in arm.gravity]
    link = payload_link(arm)
    g = tunables.places["gravity"]
    m, c = (tunables.places.get(f"payload.{key}", -1) for key in ("mass", "com"))
    external = [*d.external, *([link] if link is not None and link not in d.external else [])]
    loads: dict[str, Any] = {"external": external} if external else {}
    arguments = ("q", "qd", "tau", "base_motion")
    forward = arm.trace("forward_dynamics", arguments=arguments, method="aba", **loads).graph
    wrench = arm.trace("base_wrench", arguments=("q", "qd", "qdd", "base_motion"), **loads).graph
    places = {"q": "y", "qd": f"y + {n}", "tau": "tau", "qdd": "qdd", "base_motion": "base"}

    def call(name: str, graph: Graph, out: str) -> str:
        links = iter(external)
        given = []
        for x in graph.inputs:
            if x.name in places:
                given.append(places[x.name])
            else:
                which = next(links)
                given.append("load" if which == link else f"in + {n + 6 * d.external.index(which)}")
        return f"{name}({', '.join([*given, out])});"

    lines = function("loaded_dynamics", forward) + function("loaded_wrench", wrench)
    lines += function("mass_centre", arm.trace("com").graph)
    at = n + 6 * len(d.external)
    differs = [f"(in[{g + k}] != {g0[k]})" for k in range(3)] + ([f"(in[{m}] != 0.0)"] if link is not None else [])
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
    given = f"in[{n + 6 * d.external.index(link)} + k]" if link in d.external else ""
    if link is not None:
        for name in ("pose", "velocity", "acceleration"):
            lines += function(f"payload_{name}", arm.trace(name, link=link).graph)
        turning = [
            "  cross(base + 6, p, t);",
            "  cross(base + 3, p, s);",
            "  cross(base + 3, s, e);",
            "  cross(base + 3, v, s);",
            "  for (int k = 0; k < 3; ++k) {",
            "    a[k] += t[k] + e[k] + 2.0 * s[k];",
            "  }",
        ]
        lines += [
            "static void cross(const double a[3], const double b[3], double c[3])",
            "{",
            "  c[0] = a[1] * b[2] - a[2] * b[1];",
            "  c[1] = a[2] * b[0] - a[0] * b[2];",
            "  c[2] = a[0] * b[1] - a[1] * b[0];",
            "}",
            "",
            "/* of the payload: from the origin of its link, its place, velocity, and acceleration less gravity */",
            "static void carried(const double *y, const double *in, const double *base, const double *qdd,",
            "                    double r[3], double p[3], double v[3], double a[3])",
            "{",
            "  double T[16];",
            "  double V[6];",
            "  double A[6];",
            "  double t[3];",
            "  double s[3];",
            "  double e[3];",
            f"  static const double g[3] = {{{', '.join(g0)}}};",
            "  payload_pose(y, T);",
            f"  payload_velocity(y, y + {n}, V);",
            f"  payload_acceleration(y, y + {n}, qdd, A);",
            "  for (int k = 0; k < 3; ++k) {",
            f"    r[k] = T[4 * k] * in[{c}] + T[4 * k + 1] * in[{c + 1}] + T[4 * k + 2] * in[{c + 2}];",
            "    p[k] = T[4 * k + 3] + r[k];",
            "  }",
            "  cross(V + 3, r, t);",
            "  cross(V + 3, t, s);",
            "  cross(A + 3, r, e);",
            "  for (int k = 0; k < 3; ++k) {",
            "    v[k] = V[k] + t[k];",
            "    a[k] = A[k] + e[k] + s[k] + (base[k] - g[k]);",
            "  }",
            *(turning if d.base_motion else []),
            "}",
            "",
            "/* wrench at the origin of the link of a force at r */",
            "static void load_of(const double *in, const double F[3], const double r[3], double load[6])",
            "{",
            "  (void)memcpy(load, F, 3 * sizeof *F);",
            "  cross(r, F, load + 3);",
            *(["  for (int k = 0; k < 6; ++k) {", f"    load[k] += {given};", "  }"] if given else ["  (void)in;"]),
            "}",
            "",
        ]
    lines += [
        "static void changed_dynamics(const double *y, const double *in, const double *tau, double *qdd)",
        "{",
        "  double base[9];",
        *(["  double load[6];", "  const double none[3] = {0.0, 0.0, 0.0};"] if link is not None else []),
        "  base_of(in, base);",
        *(["  load_of(in, none, none, load);"] if link is not None else []),
        f"  {call('loaded_dynamics', forward, 'qdd')}",
    ]
    if link is not None:
        unit = call("loaded_dynamics", forward, f"unit + {n} * j")
        lines += [
            f"  if (in[{m}] > 0.0) {{",
            f"    const double m = in[{m}];",
            f"    double unit[{3 * n}];",
            "    double r[3];",
            "    double p[3];",
            "    double v[3];",
            "    double a[3];",
            "    double b[3];",
            "    double W[3][3];  /* columns of 1 + m W */",
            "    double x[3];",
            "    double d;",
            "    carried(y, in, base, qdd, r, p, v, a);",
            "    for (int j = 0; j < 3; ++j) {",
            "      double F[3] = {0.0, 0.0, 0.0};",
            "      F[j] = 1.0;",
            "      load_of(in, F, r, load);",
            f"      {unit}",
            f"      carried(y, in, base, unit + {n} * j, r, p, v, b);",
            "      for (int k = 0; k < 3; ++k) {",
            "        W[j][k] = F[k] + m * (b[k] - a[k]);",
            "      }",
            "    }",
            "    /* (1 + m W) F = -m a by Cramer's rule */",
            "    cross(W[1], W[2], x);",
            "    d = -m / (W[0][0] * x[0] + W[0][1] * x[1] + W[0][2] * x[2]);",
            "    b[0] = d * (a[0] * x[0] + a[1] * x[1] + a[2] * x[2]);",
            "    cross(W[2], W[0], x);",
            "    b[1] = d * (a[0] * x[0] + a[1] * x[1] + a[2] * x[2]);",
            "    cross(W[0], W[1], x);",
            "    b[2] = d * (a[0] * x[0] + a[1] * x[1] + a[2] * x[2]);",
            f"    for (int k = 0; k < {n}; ++k) {{",
            "      const double free_ = qdd[k];",
            "      for (int j = 0; j < 3; ++j) {",
            f"        qdd[k] += b[j] * (unit[{n} * j + k] - free_);",
            "      }",
            "    }",
            "  }",
        ]
    lines += [
        "}",
        "",
        "/* wrench on the base, and the part of the energy that gravity and payload change */",
        "static double changed_outputs(const double *y, const double *in, const double *qdd, double *wrench)",
        "{",
        "  double base[9];",
        "  double centre[3];",
        "  double energy = 0.0;",
        *(["  double load[6];", "  double F[3] = {0.0, 0.0, 0.0};"] if link is not None else []),
        "  base_of(in, base);",
        "  mass_centre(y, centre);",
        *(f"  energy -= {_moving_mass(arm)!r} * (in[{g + k}] - {_signed(g0[k])}) * centre[{k}];" for k in range(3)),
    ]
    if link is not None:
        lines += [
            "  {",
            "    double r[3];",
            "    double p[3];",
            "    double v[3];",
            "    double a[3];",
            "    carried(y, in, base, qdd, r, p, v, a);",
            "    for (int k = 0; k < 3; ++k) {",
            f"      F[k] = -in[{m}] * a[k];",
            f"      energy += in[{m}] * (0.5 * v[k] * v[k] - in[{g} + k] * p[k]);",
            "    }",
            "    load_of(in, F, r, load);",
            "  }",
        ]
    lines += [f"  {call('loaded_wrench', wrench, 'wrench')}", "  return energy;", "}", ""]
    return lines


def _signed(number: str) -> str:
    return f"({number})" if number.startswith("-") else number
