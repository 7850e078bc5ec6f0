"""Identification of inertial parameters and friction from measured motion.

`zveno.identify` is the whole job; here are its parts: logs, terms of friction, bodies that can exist.
"""

from .fit import Fit, IdentificationWarning, Parameter, Parameters, identify
from .log import Finding, Log, LogError, read_log
from .physical import PhysicalFit, is_physical, parameters_of, pseudo_inertia
from .terms import Coulomb, DriveInertia, ExtraTerm, LoadFriction, Offset, Stribeck, Term, Viscous

__all__ = [
    "Coulomb",
    "DriveInertia",
    "ExtraTerm",
    "Finding",
    "Fit",
    "IdentificationWarning",
    "LoadFriction",
    "Log",
    "LogError",
    "Offset",
    "Parameter",
    "Parameters",
    "PhysicalFit",
    "Stribeck",
    "Term",
    "Viscous",
    "identify",
    "is_physical",
    "parameters_of",
    "pseudo_inertia",
    "read_log",
]
