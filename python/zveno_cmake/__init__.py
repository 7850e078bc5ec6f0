"""Where CMake finds zveno: scikit-build-core makes this folder ``zveno_ROOT``.

A package of its own, so that a build that looks for entry points does not import zveno.
"""
