"""What can be known of a mechanism from measured motion.

`zveno.identify` is the whole job; here are its parts: logs, terms of friction, bodies that can exist, payloads,
estimators that run beside the motion.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from .excite import Excitation, excitation
    from .fit import Fit, IdentificationWarning, Parameter, Parameters, identify
    from .log import Finding, Log, LogError, read_log
    from .online import OnlineEstimator
    from .payload import Gains, Payload, identify_gains, identify_payload
    from .physical import PhysicalFit, is_physical
    from .ring import RingFit
    from .terms import Coulomb, DriveInertia, ExtraTerm, LoadFriction, Offset, Stribeck, Term, Viscous

_PLACES = {
    "excite": ("Excitation", "excitation"),
    "fit": ("Fit", "IdentificationWarning", "Parameter", "Parameters", "identify"),
    "log": ("Finding", "Log", "LogError", "read_log"),
    "online": ("OnlineEstimator",),
    "payload": ("Gains", "Payload", "identify_gains", "identify_payload"),
    "physical": ("PhysicalFit", "is_physical"),
    "ring": ("RingFit",),
    "terms": ("Coulomb", "DriveInertia", "ExtraTerm", "LoadFriction", "Offset", "Stribeck", "Term", "Viscous"),
}

__all__ = [
    "Coulomb",
    "DriveInertia",
    "Excitation",
    "ExtraTerm",
    "Finding",
    "Fit",
    "Gains",
    "IdentificationWarning",
    "LoadFriction",
    "Log",
    "LogError",
    "Offset",
    "OnlineEstimator",
    "Parameter",
    "Parameters",
    "Payload",
    "PhysicalFit",
    "RingFit",
    "Stribeck",
    "Term",
    "Viscous",
    "excitation",
    "identify",
    "identify_gains",
    "identify_payload",
    "is_physical",
    "read_log",
]


def __getattr__(name: str) -> object:
    """Modules are loaded when something of them is asked for: chains need only one of them."""
    for place, names in _PLACES.items():
        if name in names:
            from importlib import import_module

            found: object = getattr(import_module(f".{place}", __name__), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted(__all__)
