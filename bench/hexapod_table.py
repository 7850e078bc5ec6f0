"""Print the operation counts of docs/hexapods.md: what the formulas need, and what the leg kernels do.

python bench/hexapod_table.py
"""

from collections.abc import Iterator
from typing import NamedTuple

import zveno as zv

ORDER = ("closure", "jacobian", "drift", "inertia", "bias", "reduction", "reaction")
WORDS = {
    "closure": "closure (16)-(27)",
    "jacobian": "H and joint rates (28)-(34)",
    "drift": "h (30)-(32)",
    "inertia": "A (39)-(40)",
    "bias": "b (41)-(43)",
    "reduction": "H'AH, H'(b - Ah) (44)",
    "reaction": "p'', lambda, load on the base (45)-(48)",
}


class Formulas(NamedTuple):
    """Operations of the formulas of one leg, divisions and roots included, counted as graphs of scalar expressions.

    naive: every matrix product dense. sparse: without known zeros and ones, equal expressions shared, (33)-(37) in
    place of inverses. sparse_short: without p'', reaction and load on the base. sparse_general: bodies of any shape.
    """

    naive: int
    sparse: int
    sparse_short: int
    sparse_general: int


FORMULAS = {
    "UPS": Formulas(4067, 755, 568, 988),
    "SPU": Formulas(6102, 1203, 964, 1492),
    "UCU": Formulas(6102, 1259, 1006, 1532),
    "RUS": Formulas(4126, 914, 711, 1051),
    "RSU": Formulas(6161, 1415, 1149, 1585),
}
# multiplications and additions, naive and sparse
STAGES = {
    "UPS": {
        "closure": (136, 82), "jacobian": (960, 118), "drift": (462, 103), "inertia": (630, 30), "bias": (894, 71),
        "reduction": (360, 186), "reaction": (618, 184),
    },
    "RSU": {
        "closure": (247, 157), "jacobian": (1478, 278), "drift": (678, 227), "inertia": (1152, 102),
        "bias": (1210, 75), "reduction": (536, 381), "reaction": (849, 265),
    },
}  # fmt: skip
HEAD = """\
Operations of one leg in one call of `forward_dynamics`: closure, H, h, A, b, reduction, joint accelerations, reaction,
load on the base. *Naive* and *sparse* are counts of the formulas themselves, as graphs of scalar expressions: every
matrix product dense and C^d inverted; or known zeros and ones left out, equal expressions shared and (33)-(37) in place
of inverses. *Counted* is our kernel, run on counting numbers (`hx.operations(0)`) for the demonstration mechanisms on a
base at rest. The two to four arc functions per leg that turn sines and cosines into angles are left out everywhere.
Printed by `python bench/hexapod_table.py`; a test compares this section with the kernels.
"""
VARIANTS_HEAD = """\
Variants, sparse / counted or counted alone. *Only u'*: without p'', reaction and load on the base. The kernel for
*bodies of any shape* allows any `crank_frame` and `tip_frame` too, the sparse formulas do not; a *free base* always
uses it. The *whole mechanism* has six legs, ring and solve, on a base at rest.
"""
STAGES_HEAD = "Multiplications and additions by stage, naive / sparse / counted:"


def flops(count: zv.OpCount) -> int:
    """Everything but arc functions."""
    return count.total - count.trig


def general(hexapod: zv.Hexapod) -> zv.Hexapod:
    """The same mechanism with bodies that are not axially symmetric."""
    data = hexapod.to_dict()
    for leg in data["legs"]:
        for body in ("inner", "outer"):
            leg[body]["com"][1] = 0.01
    return zv.Hexapod.from_dict(data)


def lines() -> Iterator[str]:
    """The section, line by line."""
    models = {kind: zv.mechanisms.docking_ring(kind) for kind in FORMULAS}
    yield HEAD
    yield "| leg | naive | sparse | counted | mul / add / div / sqrt | naive : counted |"
    yield "|---|---|---|---|---|---|"
    for kind, paper in FORMULAS.items():
        count = models[kind].operations(0)
        parts = f"{count.mul} / {count.add} / {count.div} / {count.sqrt}"
        ratio = paper.naive / flops(count)
        yield f"| {kind} | {paper.naive} | {paper.sparse} | {flops(count)} | {parts} | {ratio:.1f} |"
    yield ""
    yield VARIANTS_HEAD
    yield "| leg | only u' | bodies of any shape | moving base | free base | whole mechanism |"
    yield "|---|---|---|---|---|---|"
    for kind, paper in FORMULAS.items():
        hx = models[kind]
        count = hx.operations(0)
        short = flops(count) - flops(count.stages["reaction"])
        cells = [
            f"{paper.sparse_short} / {short}",
            f"{paper.sparse_general} / {flops(general(hx).operations(0))}",
            str(flops(hx.operations(0, moving=True))),
            str(flops(hx.operations(0, free=True))),
            str(flops(hx.operations())),
        ]
        yield f"| {kind} | " + " | ".join(cells) + " |"
    yield ""
    yield STAGES_HEAD
    yield ""
    yield "| stage | " + " | ".join(STAGES) + " |"
    yield "|---|" + "---|" * len(STAGES)
    counts = {kind: models[kind].operations(0).stages for kind in STAGES}
    for stage in ORDER:
        cells = []
        for kind, paper_stages in STAGES.items():
            naive, sparse = paper_stages[stage]
            own = counts[kind][stage]
            cells.append(f"{naive} / {sparse} / {own.mul + own.add}")
        yield f"| {WORDS[stage]} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print("\n".join(lines()))
