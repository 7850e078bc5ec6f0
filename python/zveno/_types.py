"""Hands the compiled core the types that it makes or recognises."""

from . import _core
from .errors import GraphSizeError, ModelError, SingularityError, UnreachableError
from .model.body import Body
from .results import Derivatives, ForwardDerivatives, HexapodDynamics, SecondDerivatives

_core.adopt(GraphSizeError, ModelError, SingularityError, UnreachableError, Body)
_core.adopt(Derivatives, ForwardDerivatives, HexapodDynamics, SecondDerivatives)
