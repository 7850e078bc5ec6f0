"""How many elements a beam needs, docs/flexible.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NoReturn

import numpy as np

from .._check import Array, _show, as_amount
from .elements import Beam

__all__ = ["Resolution", "resolution"]

MOST: Final = 400  # elements that are tried
# relative errors: of a bending mode with wave number beta C beta L / n^2, from the ends (inside the beam the error is
# of fourth order in beta d); of a wave of twist or stretch (w d / c)^2 / 24; of the deflection by a tip force T / n^2
_BENDING: Final = {"wittbrodt": 0.17, "huston": 0.34}
_TIP_FORCE: Final = {"wittbrodt": 1 / 4, "huston": 1 / 2}


@dataclass(frozen=True, eq=False)
class Resolution:
    """How many elements are enough. Made by `resolution`; printing it shows the table.

    Attributes
    ----------
    elements : int
        Enough for the tolerance.
    predicted : int
        What the known orders of the errors alone say.
    max_frequency : float, Hz
    tolerance : float
    frequencies : (m,) array, Hz
        Modes of the clamped beam up to `max_frequency`, extrapolated from `elements` and twice as many.
    errors : (m,) array
        Relative errors of these modes with `elements`.
    static : float
        Relative error of the deflection under a force at the tip, 1/(4 n^2) or 1/(2 n^2); zero without bending.
    """

    elements: int
    predicted: int
    max_frequency: float
    tolerance: float
    frequencies: Array
    errors: Array
    static: float

    def __str__(self) -> str:
        lines = [
            f"{self.elements} elements for {self.tolerance:g} up to {self.max_frequency:g} Hz"
            f" ({self.predicted} predicted)",
            f"  static tip force      {self.static:.1e}",
        ]
        modes = zip(self.frequencies.tolist(), self.errors.tolist(), strict=True)
        lines += [f"  mode {r:2d} {f:10.4g} Hz  {e:+.1e}" for r, (f, e) in enumerate(modes, 1)]
        return "\n".join(lines if self.frequencies.size else [*lines, "  no mode in this range"])


def resolution(beam: Beam, max_frequency: float, tolerance: float = 1e-2) -> Resolution:
    """How many elements a beam needs for the modes up to a frequency, clamped and with its payloads.

    Predicted from the known errors: bending modes C beta L/n^2 with their wave number beta, C = 1/6 (Wittbrodt) or 1/3
    (Huston), twist and stretch (w d/c)^2/24 with their wave speed c, tip force 1/(4 n^2) or 1/(2 n^2). Then checked
    with the model itself: frequencies of n and 2 n elements give the errors by extrapolation of second order.

    Parameters
    ----------
    beam : Beam
        Its own number of elements does not matter.
    max_frequency : float, Hz
    tolerance : float
        Largest relative error of a frequency and of a static deflection.

    Returns
    -------
    report : Resolution

    Raises
    ------
    ValueError
        More than 400 elements would be needed.

    Examples
    --------
    >>> import zveno as zv
    >>> tube, metal = zv.flexible.Tube(0.05, 0.002), zv.flexible.aluminium
    >>> boom = zv.flexible.beam("boom", 6.0, section=tube, material=metal, bending="y", torsion=False)
    >>> print(zv.flexible.resolution(boom, max_frequency=50.0))
    12 elements for 0.01 up to 50 Hz (12 predicted)
      static tip force      1.7e-03
      mode  1      2.721 Hz  +1.6e-03
      mode  2      17.04 Hz  +5.6e-03
      mode  3      47.69 Hz  +9.0e-03
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"flexible.resolution: {text}")

    if not isinstance(beam, Beam):
        raise TypeError(f"flexible.resolution: beam is {_show(beam)}, expected what zv.flexible.beam returns")
    most = as_amount(max_frequency, fail, "max_frequency", positive=True)
    allowed = as_amount(tolerance, fail, "tolerance", positive=True)
    predicted = _predicted(beam, 2 * math.pi * most, allowed)
    too_many = f"more than {MOST} elements are needed for {allowed:g} up to {most:g} Hz, expected a wider tolerance"
    if predicted > 2 * MOST:
        fail(too_many)
    bends = any("_bending_" in joint for joint in beam.joints)
    static = _TIP_FORCE[beam.split] if bends else 0.0

    def tried(n: int) -> tuple[Array, Array]:
        coarse, fine = beam.with_elements(n).frequencies, beam.with_elements(2 * n).frequencies
        exact = fine[: coarse.size] + (fine[: coarse.size] - coarse) / 3
        inside = exact <= most
        if inside.all():  # there may be more modes than this many elements have
            return exact, np.full(exact.size, math.inf)
        return exact[inside], coarse[inside] / exact[inside] - 1

    n, enough, too_few = min(predicted, MOST), MOST + 1, 0
    best: tuple[Array, Array] | None = None
    while too_few < n < enough:
        if n > MOST:
            break
        exact, errors = tried(n)
        worst = max(float(np.abs(errors).max(initial=0.0)), static / n**2)
        if worst <= allowed:
            enough, best = n, (exact, errors)
        else:
            too_few = n
        guess = 2 * n if math.isinf(worst) else math.ceil(n * math.sqrt(worst / allowed) - 1e-9)
        n = min(max(guess, too_few + 1), enough - 1 if best else MOST + 1)
    if best is None:
        fail(too_many)
    exact, errors = best
    return Resolution(enough, predicted, most, allowed, exact, errors, static / enough**2)


def _predicted(beam: Beam, omega: float, tolerance: float) -> int:
    """Elements by the known errors, for a uniform beam of the same compliance and mass."""
    hinges: dict[str, float] = {}  # compliance of the whole beam by kind
    for link in beam:
        if link.joint != "fixed":
            kind = link.joint_name.removeprefix(f"{beam.name}_").partition("_")[2]
            hinges[kind] = hinges.get(kind, 0.0) + 1 / link.stiffness
    own = [link for link in beam if "_payload_" not in link.name[len(beam.name) :]]
    mass, twisting = sum(link.mass for link in own), sum(float(link.inertia[0, 0]) for link in own)
    wanted = [1.0]
    for kind, compliance in hinges.items():
        if kind.startswith("bending"):
            waves = (omega**2 * mass * beam.length**2 * compliance) ** 0.25  # beta L
            wanted += [math.sqrt(_BENDING[beam.split] * waves / tolerance) if waves > 1.8 else 1.0]
            wanted += [math.sqrt(_TIP_FORCE[beam.split] / tolerance)]
        elif kind in ("torsion", "extension"):
            inertia = twisting if kind == "torsion" else mass
            waves = omega * math.sqrt(inertia * compliance)  # w L / c
            wanted += [waves / math.sqrt(24 * tolerance) if waves > 1.5 else 1.0]
    return math.ceil(max(wanted) - 1e-9)
