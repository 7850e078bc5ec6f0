"""Expression graphs; they live in `zveno.codegen.graph`."""

from .codegen.graph import (
    ADD,
    ANGLE,
    ARITY,
    CONSTANT,
    COS,
    DIV,
    FMA,
    INPUT,
    MUL,
    NEG,
    OPS,
    SIN,
    SQRT,
    SUB,
    Argument,
    Graph,
    Operation,
)  # fmt: skip

__all__ = [
    "ADD", "ANGLE", "ARITY", "CONSTANT", "COS", "DIV", "FMA", "INPUT", "MUL", "NEG", "OPS", "SIN", "SQRT", "SUB",
    "Argument", "Graph", "Operation",
]  # fmt: skip
