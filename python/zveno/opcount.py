"""Operation counts: what a kernel costs, exactly, and the polynomial in the number of joints behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from . import _core
from ._check import _show

if TYPE_CHECKING:
    from .model import Chain

__all__ = ["OpCount", "fit_polynomial", "format_polynomial", "operations"]

KINEMATICS: Final = "kinematics"


@dataclass(frozen=True)
class OpCount:
    """Exact number of scalar operations, in total and by stage.

    Copies, sign changes and operations on constants of the model are free; a sine and cosine pair counts as two
    ``trig``. Counts add up with ``+``, also stage by stage.

    Attributes
    ----------
    mul, add, div, sqrt, trig : int
        Multiplications, additions and subtractions, divisions, square roots, sines and cosines.
    stages : Mapping[str, OpCount]
        The same by stage: ``"kinematics"``, ``"algorithm"``, ``"assembly"``. Empty where there are no stages.

    Examples
    --------
    >>> OpCount(mul=12, add=3) + OpCount(mul=9, add=3)
    OpCount(mul=21, add=6, div=0, sqrt=0, trig=0)
    >>> print(OpCount(mul=12, add=3))
    15 operations: 12 mul, 3 add
    """

    mul: int = 0
    add: int = 0
    div: int = 0
    sqrt: int = 0
    trig: int = 0
    stages: Mapping[str, OpCount] = field(default_factory=dict, repr=False, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", MappingProxyType(dict(self.stages)))
        if self.stages and _sum(self.stages.values()) != self._flat:
            raise ValueError(f"OpCount: stages add up to {_sum(self.stages.values())}, expected {self._flat}")

    @property
    def _flat(self) -> tuple[int, int, int, int, int]:
        return self.mul, self.add, self.div, self.sqrt, self.trig

    @property
    def total(self) -> int:
        """mul + add + div + sqrt + trig."""
        return sum(self._flat)

    @property
    def own(self) -> OpCount:
        """What the algorithm itself needs: everything but the kinematics, which other results can share."""
        stages = {name: count for name, count in self.stages.items() if name != KINEMATICS}
        return OpCount(*_sum(stages.values()), stages=stages) if self.stages else self

    def __add__(self, other: OpCount) -> OpCount:
        if not isinstance(other, OpCount):
            return NotImplemented
        # stages survive where both sides have them, or where the side without adds nothing
        known = all(count.stages or not count.total for count in (self, other))
        names = dict.fromkeys((*self.stages, *other.stages)) if known else {}
        stages = {name: self.stages.get(name, OpCount()) + other.stages.get(name, OpCount()) for name in names}
        return OpCount(*_sum((self, other)), stages=stages)

    def __str__(self) -> str:
        names = ("mul", "add", "div", "sqrt", "trig")
        parts = [f"{value} {name}" for name, value in zip(names, self._flat, strict=True) if value]
        return f"{self.total} operations" + (f": {', '.join(parts)}" if parts else "")

    def __reduce__(self) -> tuple[Any, ...]:
        return OpCount, (*self._flat, dict(self.stages))


def _sum(counts: Iterable[OpCount]) -> tuple[int, int, int, int, int]:
    columns = zip((0,) * 5, *(count._flat for count in counts), strict=True)
    mul, add, div, sqrt, trig = (sum(column) for column in columns)
    return mul, add, div, sqrt, trig


def staged(stages: Mapping[str, tuple[int, int, int, int, int]]) -> OpCount:
    """The count whose stages have these multiplications, additions, divisions, roots, sines and cosines."""
    counts = {name: OpCount(*numbers) for name, numbers in stages.items()}
    return OpCount(*_sum(counts.values()), stages=counts)


def operations(chain: Chain, function: str, method: str | None = None, **options: Any) -> OpCount:
    """Exact operation count of one call, obtained by running the kernel on counting numbers.

    Parameters
    ----------
    chain : Chain
        The count depends on the topology, the joint kinds and which joints have drives, friction and springs, never on
        the numbers in the model.
    function : str
        Name of a numeric method of the chain: ``"mass_matrix"``, ``"inverse_dynamics"``, ...
    method : str, optional
        Algorithm, for functions that offer several, e.g. ``"kane-recurrent"``; default: that of the function.
    **options
        What else the function is asked for besides arrays: ``link``, ``i``, ``by``, ``section``, ...; by default the
        last link, the joint nearest to the base, a section at the origin of the last link that moves.

    Returns
    -------
    OpCount
        Total, and by stage: the kinematics of the chain, the algorithm's own part, the assembly of the result.

    Raises
    ------
    ValueError
        Unknown function or method, or a method for serial chains given a branched one.

    See Also
    --------
    fit_polynomial : the exact polynomial in n from counts of several chains.

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.puma560()
    >>> arm.operations("mass_matrix").total < arm.operations("mass_matrix", method="kane-recurrent").total
    True
    """
    for what, value in (("function", function), ("method", method)):
        if not ((isinstance(value, str) and len(value) <= 100) or (value is None and what == "method")):
            raise TypeError(f"operations: {what} is {_show(value)}, expected a name")
    if function == "section_load" and "section" not in options:
        from .model import Section

        last = next(link for link in reversed(chain.links) if link.joint != "fixed")
        options["section"] = Section(last.name, (0.0, 0.0, 0.0), last.axis)
    return staged(_core.count_operations(chain, function, method, options))


def fit_polynomial(counts_by_n: Mapping[int, int]) -> tuple[Fraction, ...]:
    """Exact polynomial through operation counts, by Newton's divided differences in rational numbers.

    Parameters
    ----------
    counts_by_n : Mapping[int, int]
        Count for each number of joints n.

    Returns
    -------
    tuple of Fraction
        Coefficients in ascending powers of n, without trailing zeros; ``(0,)`` for all-zero counts.

    Raises
    ------
    ValueError
        Fewer than two points, or the counts do not follow a polynomial whose degree leaves at least one point to
        confirm it: n + 1 points always fit degree n, which would prove nothing.

    Examples
    --------
    >>> format_polynomial(fit_polynomial({n: 2 * n**3 + 18 * n**2 - 8 * n for n in range(1, 6)}))
    '2N^3 + 18N^2 - 8N'
    """
    nodes = sorted(counts_by_n)
    if len(nodes) < 2:
        raise ValueError(f"fit_polynomial: got {len(nodes)} points, expected at least 2")
    differences = [Fraction(counts_by_n[n]) for n in nodes]
    for order in range(1, len(nodes)):
        for k in reversed(range(order, len(nodes))):
            differences[k] = (differences[k] - differences[k - 1]) / (nodes[k] - nodes[k - order])
    if differences[-1]:
        raise ValueError(
            f"fit_polynomial: counts at n = {nodes} follow no polynomial of degree {len(nodes) - 2} or less"
        )
    # Newton form to powers of n, by Horner's rule
    powers = [Fraction(0)]
    for n, difference in zip(reversed(nodes), reversed(differences), strict=True):
        shifted = [Fraction(0), *powers]
        powers = [s - n * p for s, p in zip(shifted, [*powers, Fraction(0)], strict=True)]
        powers[0] += difference
    while len(powers) > 1 and not powers[-1]:
        powers.pop()
    return tuple(powers)


def format_polynomial(coefficients: Sequence[Fraction], *, compact: bool = False) -> str:
    """Polynomial in N as text, highest power first.

    Parameters
    ----------
    coefficients : sequence of Fraction
        Ascending powers, as :func:`fit_polynomial` returns them.
    compact : bool
        ``"4N³+35.5N²-15"`` instead of ``"4N^3 + 35.5N^2 - 15"``, for tables.

    Returns
    -------
    str
    """
    text = ""
    for power in reversed(range(len(coefficients))):
        value = Fraction(coefficients[power])
        if not value:
            continue
        size = abs(value)
        decimal = str(size if size.denominator == 1 else float(size))
        number = decimal if Fraction(decimal) == size else f"({size})"
        symbol = "" if power == 0 else "N" if power == 1 else f"N^{power}"
        sign = "-" if value < 0 else "+"
        text += f" {sign} {'' if number == '1' and symbol else number}{symbol}"
    text = text.removeprefix(" + ").strip() or "0"
    if text.startswith("- "):
        text = "-" + text[2:]
    if compact:
        text = text.replace(" ", "").replace("^2", "²").replace("^3", "³")
    return text
