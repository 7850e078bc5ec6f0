"""`Material`: the elastic constants and the density of a beam."""

from __future__ import annotations

from typing import Final, NoReturn

from .._check import as_amount, as_number
from .._record import Record
from ..errors import ModelError

__all__ = ["Material", "aluminium", "cfrp", "steel"]


class Material(Record):
    """A linear elastic material. Immutable.

    Parameters
    ----------
    young : float, Pa
        Young's modulus E along the beam.
    poisson : float
        Poisson's ratio, > -1 and <= 0.5.
    density : float, kg/m^3
    shear : float, Pa, optional
        Shear modulus G. Default: that of an isotropic material, E / (2 (1 + poisson)). Laminates need their own.

    Examples
    --------
    >>> import zveno as zv
    >>> titanium = zv.flexible.Material(young=114e9, poisson=0.34, density=4430.0)
    >>> titanium
    Material(E 114 GPa, G 42.5 GPa, 4430 kg/m^3)
    >>> zv.flexible.aluminium
    Material(E 68.9 GPa, G 25.9 GPa, 2700 kg/m^3)
    """

    __slots__ = ("density", "poisson", "shear", "young")
    _required = ("young", "poisson", "density")

    young: float
    poisson: float
    density: float
    shear: float

    def __init__(self, young: float, poisson: float, density: float, shear: float | None = None) -> None:
        def fail(text: str) -> NoReturn:
            raise ModelError(f"Material: {text}")

        E = as_amount(young, fail, "young", positive=True)
        nu = as_number(poisson, fail, "poisson")
        if not -1 < nu <= 0.5:
            fail(f"poisson is {nu:g}, expected a number > -1 and <= 0.5")
        G = E / (2 * (1 + nu)) if shear is None else as_amount(shear, fail, "shear", positive=True)
        super().__init__(young=E, poisson=nu, density=as_amount(density, fail, "density", positive=True), shear=G)

    def __repr__(self) -> str:
        return f"Material(E {self.young / 1e9:.4g} GPa, G {self.shear / 1e9:.3g} GPa, {self.density:g} kg/m^3)"


# typical values at room temperature; data sheets of what is built come first
aluminium: Final = Material(68.9e9, 0.33, 2700.0)  # alloy 6061-T6, handbook values
steel: Final = Material(210e9, 0.3, 7850.0)  # structural steel, EN 1993-1-1 and EN 1991-1-1
# quasi-isotropic laminate of T300/5208, from the layer constants of Tsai & Hahn (1980); density of 60 % fibres
cfrp: Final = Material(69.7e9, 0.296, 1600.0, shear=26.9e9)
