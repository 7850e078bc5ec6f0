"""A mechanism outside of Python: files for the C library, a generated step in C, FMUs."""
