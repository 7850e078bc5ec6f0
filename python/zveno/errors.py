"""Exceptions and warnings that carry the offending data."""

from __future__ import annotations

import math
from typing import Any

__all__ = [
    "Error",
    "GraphSizeError",
    "InfeasibleError",
    "ModelError",
    "ModelWarning",
    "SimulationWarning",
    "SingularityError",
    "StepError",
    "UndecidedError",
    "UnreachableError",
]


class Error(Exception):
    """Base of every error that zveno raises about mechanics."""


class ModelError(Error, ValueError):
    """A model that cannot be built: malformed, inconsistent or not physical.

    Attributes
    ----------
    link : str or None
        Name of the offending link or leg, where there is one.
    """

    def __init__(self, message: str = "", link: str | None = None) -> None:
        super().__init__(message)
        self.link = link


class _StateError(Error):
    """An error about one state, with the place where it arose."""

    def __init__(
        self,
        message: str = "",
        joint: str | None = None,
        row: int | None = None,
        *,
        leg: str | None = None,
        leg_index: int | None = None,
        cause: str = "",
        margin: float = math.nan,
    ) -> None:
        super().__init__(message)
        self.joint, self.row = joint, row
        self.leg, self.leg_index = leg, leg_index
        self.cause, self.margin = cause, margin
        self.constraint: str | None = None
        self.gap: float | None = None
        self.angle: float | None = None
        self.joints: tuple[str, ...] = ()
        self.q: Any = None


class SingularityError(_StateError, ArithmeticError):
    """A solve met a singular matrix.

    Attributes
    ----------
    joint : str or None
        Name of the joint of a chain whose pivot vanished.
    row : int or None
        Row of the batch (leading shape flattened) where it happened; None for a single state.
    leg : str or None
        Name of the leg of a hexapod that is singular; None if it is the mechanism as a whole.
    leg_index : int or None
        Index of that leg, 0 to 5.
    cause : str
        What vanished, in words.
    margin : float
        What is left of it; nan where there is no such number.
    """


class UnreachableError(_StateError, ValueError):
    """A target that the mechanism cannot reach.

    Attributes
    ----------
    leg : str or None
        Name of the leg of a hexapod that is too short or too long.
    leg_index : int or None
        Index of that leg, 0 to 5.
    cause : str
        Which condition fails, in words.
    margin : float
        By how much it fails, positive: excess of the cosine of the crank angle over 1, residual of Newton's method.
        nan where there is no such number.
    row : int or None
        Row of the batch (leading shape flattened) where it happened; None for a single state.
    constraint : str or None
        Name of the constraint of a linkage that stays open.
    gap : float, m
    angle : float, degrees
        How far it stays open.
    joints : tuple of str
        Joints that stand at a limit.
    q : array or None
        The best configuration that was found.
    """


class UndecidedError(Error, ValueError):
    """A rank that is neither clear nor to be guessed: a remainder lies in the grey zone about the tolerance.

    Attributes
    ----------
    where : str
        What was being decided.
    value : float
        The remainder, relative to 1.
    tolerance : float
    """

    def __init__(
        self, message: str = "", where: str = "", value: float = math.nan, tolerance: float = math.nan
    ) -> None:
        super().__init__(message)
        self.where, self.value, self.tolerance = where, value, tolerance


class GraphSizeError(Error, ValueError):
    """A function that is too long to be written out as straight-line code.

    Attributes
    ----------
    limit : int
        Number of nodes that the graph may have.
    """

    def __init__(self, message: str = "", limit: int = 0) -> None:
        super().__init__(message)
        self.limit = limit


class InfeasibleError(Error, ValueError):
    """A motion that the limits of the joints do not allow.

    Attributes
    ----------
    joint : str or None
        Name of the joint whose limit stands in the way.
    quantity : str
        What is limited: "position", "velocity", "acceleration", "jerk", "torque", "speed" of the tool or of the path,
        "pose" that no configuration reaches, "jump" of the joints.
    value, limit : float
        What the motion needs, and what is allowed; nan where there is no such number.
    s : float
        Place on the path, nan for a motion in time.
    time : float, s
        When, nan for a path.
    q : (n,) array or None
        Joint coordinates there.
    """

    def __init__(
        self,
        message: str = "",
        joint: str | None = None,
        *,
        quantity: str = "",
        value: float = math.nan,
        limit: float = math.nan,
        s: float = math.nan,
        time: float = math.nan,
        q: Any = None,
    ) -> None:
        super().__init__(message)
        self.joint, self.quantity, self.value, self.limit = joint, quantity, value, limit
        self.s, self.time, self.q = s, time, q


class StepError(Error, ValueError):
    """A step of a simulation that is far beyond the limit of stability, so that any motion would explode.

    Attributes
    ----------
    dt : float, s
        The step.
    limit : float, s
        The longest stable one, by the equations of motion linearised at the start.
    cause : str
        Whose stiffness, damping or friction sets the limit.
    """

    def __init__(self, message: str = "", dt: float = math.nan, limit: float = math.nan, cause: str = "") -> None:
        super().__init__(message)
        self.dt, self.limit, self.cause = dt, limit, cause


class SimulationWarning(UserWarning):
    """The energy balance of a simulation does not close, or its step is too long to be stable: do not trust it."""


class ModelWarning(UserWarning):
    """Something in a model was ignored or looks wrong; results are still well defined."""
