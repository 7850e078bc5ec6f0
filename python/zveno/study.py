"""The mass-matrix study and the tools of the benchmarks; they live in `zveno.bench`."""

from ._check import Array
from .bench.mass_matrix import (
    DEFAULT_MAX_N,
    METHODS,
    RIVAL,
    SIZES,
    Fit,
    Measurement,
    Study,
    run,
    sizes_up_to,
    steps,
    verdict,
)
from .bench.pinocchio import to_pinocchio
from .bench.published import PUBLISHED, Polynomial, Published, add_polynomials
from .bench.random_chains import random_chain, random_states
from .bench.timing import (
    RELATIVE_AGREEMENT,
    Call,
    StudyError,
    Times,
    best_of,
    call,
    deviation,
    measure,
    require_agreement,
)
from .bench.timing import host as machine

__all__ = [
    "DEFAULT_MAX_N", "METHODS", "PUBLISHED", "RELATIVE_AGREEMENT", "RIVAL", "SIZES", "Array", "Call", "Fit",
    "Measurement", "Polynomial", "Published", "Study", "StudyError", "Times", "add_polynomials", "best_of", "call",
    "deviation", "machine", "measure", "random_chain", "random_states", "require_agreement", "run", "sizes_up_to",
    "steps", "to_pinocchio", "verdict",
]  # fmt: skip
