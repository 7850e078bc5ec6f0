"""Traced and compiled functions; they live in `zveno.codegen`."""

from .codegen.compiled import CompiledFunction, Savings, TracedFunction, compile_chain, trace_chain

__all__ = ["CompiledFunction", "Savings", "TracedFunction", "compile_chain", "trace_chain"]
