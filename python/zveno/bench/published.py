"""Operation counts of mass-matrix algorithms as polynomials in N: printed in Yaskevich, and corrected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

__all__ = ["PUBLISHED", "Polynomial", "Published", "add_polynomials"]

Polynomial = tuple[Fraction, ...]


@dataclass(frozen=True)
class Published:
    """Polynomials in N for the mass matrix of an all-revolute chain, ascending powers.

    ``printed`` is the total of Yaskevich as printed; ``common_mul`` ... ``own_add`` are the corrected counts of
    its formulas: the shared kinematics, and the algorithm's own part.
    """

    own_mul: Polynomial
    own_add: Polynomial
    common_mul: Polynomial
    common_add: Polynomial
    printed: Polynomial | None = None

    @property
    def total(self) -> Polynomial:
        """Corrected mul + add, kinematics included."""
        return add_polynomials(self.own_mul, self.own_add, self.common_mul, self.common_add)


def add_polynomials(*terms: Polynomial) -> Polynomial:
    """Sum of polynomials given by ascending coefficients."""
    length = max(map(len, terms))
    return tuple(sum((t[k] for t in terms if k < len(t)), Fraction(0)) for k in range(length))


def _descending(*coefficients: float) -> Polynomial:
    return tuple(Fraction(c) for c in reversed(coefficients))


_BASE_AXES = {"common_mul": _descending(144, 0), "common_add": _descending(99, 0)}
_BODY_AXES = {"common_mul": _descending(27, 0), "common_add": _descending(18, 0)}
_CRBA = Published(_descending(13.5, 88.5, -84), _descending(10, 83, -82), **_BODY_AXES)
PUBLISHED: Final[Mapping[str, Published]] = {
    "crba": _CRBA,
    "crba-walk": _CRBA,
    "crba-columns": Published(_descending(135, -66, 0), _descending(110, -63, 0), **_BODY_AXES),
    "kane": Published(
        _descending(9, 30, 0, 0), _descending(10, 23, 0, 0), **_BASE_AXES, printed=_descending(16, 55, 246, 0)
    ),
    "kane-triangular": Published(_descending(1, 18, -1, 0), _descending(1, 14.5, -7.5, 3), **_BASE_AXES),
    "kane-recurrent": Published(
        _descending(2, 18, -8, 0),
        _descending(2, 17.5, 3.5, -15),
        **_BASE_AXES,
        printed=_descending(4.5, 37, 243.5, -19),
    ),
    "kane-collapsed": Published(_descending(4.5, 34.5, -21), _descending(4, 50, -43), **_BASE_AXES),
    "kosynka": Published(
        _descending(1, 39, 2, 0), _descending(1, 32.5, 1.5, 0), **_BASE_AXES, printed=_descending(14, 129, -59, 0)
    ),
    "leskov": Published(
        _descending(1, 12, 11, 0),
        _descending(1, 8.5, 7.5, -3),
        common_mul=_descending(144, 0),
        common_add=_descending(102, -3),
    ),
    "leskov-link": Published(
        _descending(1, 21, 2, 0), _descending(1, 16, -3, 0), common_mul=_descending(0), common_add=_descending(0)
    ),
}
