"""Print docs/traced-counts.md: operations of functions traced for one mechanism, beside published counts.

python bench/traced_counts.py > docs/traced-counts.md
"""

from __future__ import annotations

import importlib.metadata
import math
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import zveno as zv
from zveno.study import random_chain

URDFS = {"UR5": ("ur5_robot.urdf", ()), "Panda": ("panda.urdf", ("panda_leftfinger", "panda_rightfinger"))}
HEXAPODS = ("UPS", "SPU", "UCU", "RUS", "RSU")
FUNCTIONS = (
    ("inverse_dynamics", None),
    ("bias", "rnea"),
    ("mass_matrix", "crba"),
    ("mass_matrix", "crba-walk"),
    ("forward_dynamics", "aba"),
    ("forward_dynamics", "cholesky"),
    ("forward_dynamics", "cholesky-walk"),
)
RIGHT = math.pi / 2
HEAD = """\
# Operations of traced functions

*Kernel* is the algorithm as written, which serves every mechanism of this topology. *Traced* is what is left of it for
one mechanism: constants folded, zeros and ones gone, equal expressions shared, dead values dropped, no sum rearranged;
it gives the same bits. *Algebraic* is the level of that name: inertia handed from link to link where the result allows
it, common factors, shared reciprocals; the number behind the comma counts instructions: a multiplication and the
addition after it are one, sines and cosines are among them. Otherwise multiplications / additions (/ divisions); sign
changes and constants are free. Drives are left out. Printed by `python bench/traced_counts.py`; a test compares this
page with the tracer.

*Principal axes*: products of inertia about the centres of mass set to zero, empty where they are. They save nothing
where the centres of mass are off the axes, as in the Panda: about the joint the inertia stays full. *General bodies*:
every moving link has a mass, a centre of mass off all axes and a full inertia (made up), the geometry stays.
"""
HEXAPOD_HEAD = """\
## Hexapods

`forward_dynamics` with joint accelerations, reactions and the load on the base, demonstration mechanisms of
`zv.mechanisms.docking_ring`: multiplications / additions / divisions / roots. Closure, six legs, ring and solve; the
kernel counts each leg alone, the tracer shares what they have in common.
"""
PUBLISHED_HEAD = """\
## Published counts

Of customised symbolic models, M / A or their sum. What was counted differs from source to source, so the column *what*
says it; ours beside it is the same function of the same arm, without approximations.
"""
PUBLISHED_NOTES = """\
- Armstrong, Khatib, Burdick: "The explicit dynamic model and inertial parameters of the PUMA 560 arm", ICRA 1986; the
  number stands in the abstract. Diagonal inertias, link 6 symmetric, terms below 1 % dropped: an approximation, ours is
  exact. Izaguirre, Paul: "Computation of the inertial and gravitational coefficients of the dynamics equations for a
  robot manipulator with a load", ICRA 1985, abstract; "taking advantage of the symmetries in the manipulator", gravity
  included, which our mass matrix does not have.
- SYMORO+ prints the count at the end of a generated file. `racer3_52_paras.ccg`: 306 M, 295 A, of which friction is 12
  and 12, and 15 additions are of parameters. `racer3_52plus10_paras_Load.inm`: 240 M, 217 A, a payload joined to link 6
  and some products of parameters included. Racer 3 and FS020N differ in numbers only: the same axes and offsets.
- OpenSYMORO: `robots/RX90/RX90_idm.txt` of github.com/symoro/symoro at 7b199ed, an inverse dynamics without gravity.
  Counted by us without friction, drives, external wrench and the values that no torque needs; it gives the same torques
  as our kernel to 1e-15.

Counts of Luh, Walker, Paul, of Khalil, Kleinfinger and of Kane, Levinson are left out: we know them second-hand only.
For comparison with them, inverse dynamics traced and algebraic: """


def edited(chain: zv.Chain, change: Callable[[zv.Link], dict[str, Any]]) -> zv.Chain:
    """A copy without drives whose links have new values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        drives = {"rotor_inertia": 0.0, "friction": 0.0}
        links = [zv.Link.from_dict(link.to_dict() | drives | change(link)) for link in chain.links]
        return zv.Chain(links, name=chain.name, base=chain.base_name, gravity=chain.gravity)


def principal(chain: zv.Chain) -> zv.Chain:
    """Products of inertia about the centres of mass set to zero."""
    return edited(chain, lambda link: {"inertia": np.diag(np.diag(link.inertia))})


def general(chain: zv.Chain) -> zv.Chain:
    """Moving links as heavy, thick and crooked as those of a random chain."""
    bodies = iter(random_chain(chain.n).links)

    def change(link: zv.Link) -> dict[str, Any]:
        if link.joint == "fixed":
            return {}
        body = next(bodies)
        return {"mass": body.mass, "com": body.com, "inertia": body.inertia}

    return edited(chain, change)


def urdf(name: str) -> zv.Chain:
    """A robot of example-robot-data, its gripper joints locked."""
    file, locked = URDFS[name]
    path = next(f for f in importlib.metadata.files("example-robot-data") or () if f.name == file).locate()
    free = dict.fromkeys(("lower", "upper", "velocity", "effort")) | {"joint": "fixed"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        chain = zv.Chain.from_urdf(str(path), name=name)
    return edited(chain, lambda link: free if link.name in locked else {})


def rx90() -> zv.Chain:
    """Geometry of the Staubli RX-90 in the frames of Khalil and Kleinfinger, weightless."""
    rows = [(0, 0, 0, 0), (0, 0, 0, RIGHT), (0, 0, 0.45, 0), (0, 0.45, 0, -RIGHT), (0, 0, 0, RIGHT), (0, 0, 0, -RIGHT)]
    bodies = random_chain(6).links
    chain = zv.Chain.from_dh(
        rows,
        convention="modified",
        masses=[body.mass for body in bodies],
        coms=[body.com for body in bodies],
        inertias=[body.inertia for body in bodies],
        gravity=(0, 0, 0),
        name="RX-90",
    )
    return chain


@cache
def robots() -> dict[str, zv.Chain]:
    own = {
        "PUMA 560": zv.robots.puma560(),
        "Stanford arm": zv.robots.stanford(),
        "FS020N": zv.robots.kawasaki_fs020n(),
    }
    return {name: edited(chain, lambda link: {}) for name, chain in own.items()} | {name: urdf(name) for name in URDFS}


def numbers(count: zv.OpCount, *names: str) -> str:
    return " / ".join(str(getattr(count, name)) for name in names)


def traced(model: zv.Chain, function: str, method: str | None, level: str) -> str:
    """Cell of a table."""
    names = ("mul", "add", "div") if function == "forward_dynamics" else ("mul", "add")
    result = model.trace(function, method=method, level=level)
    cell = numbers(result.operations, *names)
    return cell if level == "strict" else f"{cell}, {result.graph.instructions}"


def levels(model: zv.Chain | None, function: str, method: str | None) -> list[str]:
    return ["", ""] if model is None else [traced(model, function, method, level) for level in ("strict", "algebraic")]


def chain_table(function: str, method: str | None) -> Iterator[str]:
    yield f"## {function}" + (f", `{method}`" if method else "")
    yield ""
    yield "| arm | kernel | traced | algebraic | principal axes | algebraic | general bodies | algebraic |"
    yield "|---|---|---|---|---|---|---|---|"
    for name, arm in robots().items():
        count = arm.operations(function, method)
        kernel = numbers(count, "mul", "add", *(["div"] if function == "forward_dynamics" else []))
        plain = principal(arm)
        forms = (arm, None if plain == arm else plain, general(arm))
        cells = [name, kernel, *(cell for form in forms for cell in levels(form, function, method))]
        yield f"| {' | '.join(cells)} |"
    yield ""


def hexapod_table() -> Iterator[str]:
    yield HEXAPOD_HEAD
    yield "| legs | kernel | traced | algebraic |"
    yield "|---|---|---|---|"
    names = ("mul", "add", "div", "sqrt")
    for kind in HEXAPODS:
        hexapod = zv.mechanisms.docking_ring(kind)
        strict, algebraic = (hexapod.trace("forward_dynamics", level=level) for level in ("strict", "algebraic"))
        counts = strict.kernel_operations, strict.operations, algebraic.operations
        cells = [numbers(count, *names) for count in counts]
        yield f"| {kind} | " + " | ".join(cells) + f", {algebraic.graph.instructions} |"
    yield ""


class Published(NamedTuple):
    """A count of the literature and the function of ours that computes the same."""

    source: str
    what: str
    count: str
    model: Callable[[], zv.Chain]
    function: str


PUBLISHED = (
    Published("Armstrong, Khatib, Burdick 1986", "PUMA 560, torques, abbreviated", "305 in all",
              lambda: robots()["PUMA 560"], "inverse_dynamics"),
    Published("Izaguirre, Paul 1985", "PUMA 560, inertia and gravity coefficients", "65 / 41",
              lambda: robots()["PUMA 560"], "mass_matrix"),
    Published("SYMORO+", "Comau Racer 3, general bodies, bias", "294 / 268",
              lambda: general(robots()["FS020N"]), "bias"),
    Published("SYMORO+", "Comau Racer 3, general bodies, mass matrix", "240 / 217",
              lambda: general(robots()["FS020N"]), "mass_matrix"),
    Published("OpenSYMORO", "Staubli RX-90, general bodies, weightless, torques", "325 / 276",
              rx90, "inverse_dynamics"),
)  # fmt: skip


def published_table() -> Iterator[str]:
    yield PUBLISHED_HEAD
    yield "| source | what | published | ours, traced | algebraic |"
    yield "|---|---|---|---|---|"
    for item in PUBLISHED:
        cells = [item.source, item.what, item.count, *levels(item.model(), item.function, None)]
        yield f"| {' | '.join(cells)} |"
    yield ""
    general_arm = levels(random_chain(6), "inverse_dynamics", None)
    stanford = levels(general(robots()["Stanford arm"]), "inverse_dynamics", None)
    yield f"{PUBLISHED_NOTES}{'; '.join(general_arm)} for a general six-joint arm,"
    yield f"{'; '.join(stanford)} for the Stanford arm with general bodies."


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield HEAD
    for function, method in FUNCTIONS:
        yield from chain_table(function, method)
    yield from hexapod_table()
    yield from published_table()


if __name__ == "__main__":
    print("\n".join(lines()))
