"""Print docs/operations.md: exact operation counts of every algorithm, from the kernels themselves.

python bench/operations_table.py > docs/operations.md
"""

from collections.abc import Iterator

from zveno.opcount import fit_polynomial, format_polynomial
from zveno.study import PUBLISHED, random_chain

SIZES = range(2, 11)
OTHERS = (
    ("inverse_dynamics", None),
    ("bias", "rnea"),
    ("bias", "kane"),
    ("bias", "leskov"),
    ("bias", "leskov-link"),
    ("forward_dynamics", "aba"),
    ("forward_dynamics", "cholesky"),
    ("forward_dynamics", "cholesky-walk"),
)
HEAD = """\
# Operation counts

Exact, obtained by running the kernels on counting numbers: all-revolute serial chains of general geometry, N >= 2.
M are multiplications, A additions and subtractions; constants, copies and sign changes are free; 2N sines and cosines
are not listed. *Own part* is the algorithm without the kinematics it starts from. Printed by
`python bench/operations_table.py`; a test compares this page with the kernels.

## Mass matrix

Total M + A, kinematics included. *Printed* is the table of Yaskevich; *corrected* counts its formulas, or the
textbook form of the algorithm, with dense kinematics; *measured* is our kernel, whose joint axes are aligned with z.
"""
READING = """\
The own parts of the five algorithms of Yaskevich equal the corrected polynomials as integers
(`tests/chain/test_operations.py`). `crba` and `crba-columns` are cheaper than the textbook forms because the joint axis
is z, and because `crba` moves the wrench of a unit acceleration once to the base instead of walking it from body to
body; `crba-walk` walks, which takes fewer operations up to N = 8. The claim of Yaskevich that the recurrent algorithm
is the most efficient does not hold: `kane-triangular`, `kane-collapsed` and `crba` need fewer operations for every
N >= 3.

The sums of Leskov et al. over bodies, with Jacobians of the centres of mass, need no inertia in base axes in their link
form, but columns that are turned from body to body.
"""


def polynomial(function: str, method: str | None, part: str) -> str:
    """Exact polynomial of one part of the count: 'own_mul', 'own_add', 'mul', 'add', 'div' or 'all' (mul + add)."""
    counts = {}
    for n in SIZES:
        count = random_chain(n).operations(function, method)
        own = count.own
        values = {"own_mul": own.mul, "own_add": own.add, "mul": count.mul, "add": count.add, "div": count.div}
        counts[n] = count.mul + count.add if part == "all" else values[part]
    return format_polynomial(fit_polynomial(counts))


def lines() -> Iterator[str]:
    """The page, line by line."""
    yield HEAD
    yield "| algorithm | printed by Yaskevich | corrected | measured | own part, M | own part, A |"
    yield "|---|---|---|---|---|---|"
    for method, published in PUBLISHED.items():
        printed = format_polynomial(published.printed) if published.printed else ""
        cells = [printed, format_polynomial(published.total)]
        cells += [polynomial("mass_matrix", method, part) for part in ("all", "own_mul", "own_add")]
        yield f"| `{method}` | " + " | ".join(cells) + " |"
    yield ""
    yield READING
    yield "## Other functions"
    yield ""
    yield "| function | method | M | A | divisions |"
    yield "|---|---|---|---|---|"
    for function, method in OTHERS:
        cells = [polynomial(function, method, part) for part in ("mul", "add", "div")]
        yield f"| `{function}` | {f'`{method}`' if method else ''} | " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print("\n".join(lines()))
