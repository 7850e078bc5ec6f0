"""Exceptions and warnings that carry the offending data."""

from __future__ import annotations

__all__ = ["Error", "ModelError", "ModelWarning", "SingularityError", "UnreachableError"]


class Error(Exception):
    """Base of every error that zveno raises about mechanics."""


class ModelError(Error, ValueError):
    """A model that cannot be built: malformed, inconsistent or not physical.

    Attributes
    ----------
    link : str or None
        Name of the offending link, where there is one.
    """

    def __init__(self, message: str = "", link: str | None = None) -> None:
        super().__init__(message)
        self.link = link


class SingularityError(Error, ArithmeticError):
    """A solve met a singular matrix.

    Attributes
    ----------
    joint : str or None
        Name of the joint whose pivot vanished.
    row : int or None
        Row of the batch (leading shape flattened) where it happened.
    """

    def __init__(self, message: str = "", joint: str | None = None, row: int | None = None) -> None:
        super().__init__(message)
        self.joint = joint
        self.row = row


class UnreachableError(Error, ValueError):
    """A target that the mechanism cannot reach."""


class ModelWarning(UserWarning):
    """Something in a model was ignored or looks wrong; results are still well defined."""
