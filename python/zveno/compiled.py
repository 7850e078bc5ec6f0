"""Traced and compiled functions; they live in `zveno.codegen`."""

from .codegen.function import CompiledFunction, Savings, TracedFunction, TraceOptions

__all__ = ["CompiledFunction", "Savings", "TraceOptions", "TracedFunction"]
