"""
Operation counts
================

Operations that an algorithm needs, counted exactly by running it; then as a polynomial in the number of joints.
"""

from typing import Any

import zveno as zv
from zveno.opcount import fit_polynomial, format_polynomial


def chain(n: int) -> zv.Chain:
    """n revolute joints in general position."""
    body: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0.2, 0.3), "inertia": (0.3, 0.4, 0.5)}
    return zv.Chain([zv.Link(f"l{i}", axis=(1, 2, 3), position=(0.4, 0.5, 0.6), **body) for i in range(n)])


chains = {n: chain(n) for n in range(2, 9)}
for method in ("crba", "kane-recurrent", "kane-collapsed", "kosynka"):
    own = {n: c.operations("mass_matrix", method=method).own for n, c in chains.items()}
    mul = format_polynomial(fit_polynomial({n: count.mul for n, count in own.items()}))
    print(f"{method:15} n = 6: {own[6].total:5} operations, multiplications {mul}")
