"""Hands the compiled core the types that it makes or recognises, and the functions that it calls."""

from . import _core
from ._rotation import matrix_of, pose_of
from .dynamics.sensitivities import sensitivities
from .errors import GraphSizeError, ModelError, SingularityError, UnreachableError
from .model.body import Body
from .results import (
    ClosedFormSolutions,
    ConstraintDerivatives,
    Derivatives,
    ForwardDerivatives,
    HexapodDynamics,
    InverseKinematics,
    LinkageDynamics,
    SecondDerivatives,
)

_core.adopt(GraphSizeError, ModelError, SingularityError, UnreachableError, Body)
_core.adopt(ConstraintDerivatives, Derivatives, ForwardDerivatives, HexapodDynamics, LinkageDynamics, SecondDerivatives)
_core.adopt(ClosedFormSolutions, InverseKinematics)
_core.adopt(matrix_of, pose_of, sensitivities)
