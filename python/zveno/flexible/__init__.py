"""Flexible links as rigid finite elements: beams, materials, cross-sections, and what is asked about them.

A beam becomes rigid elements joined by springs (Wittbrodt; Huston): a longer chain of ordinary links, so that every
function of a chain, large motion and geometric stiffness included, holds for it.
"""

from ..model.cross_section import Box, CrossSection, IBeam, Rod, Tube
from .convergence import Resolution, resolution
from .elements import Beam, Profile, beam
from .material import Material, aluminium, cfrp, steel
from .statics import Deflection, buckling_load, deflection

__all__ = [
    "Beam",
    "Box",
    "CrossSection",
    "Deflection",
    "IBeam",
    "Material",
    "Profile",
    "Resolution",
    "Rod",
    "Tube",
    "aluminium",
    "beam",
    "buckling_load",
    "cfrp",
    "deflection",
    "resolution",
    "steel",
]


def __dir__() -> list[str]:
    return sorted(__all__)
