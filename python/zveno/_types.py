"""Hands the compiled core the types that it makes or recognises."""

from . import _core
from .errors import GraphSizeError, ModelError, SingularityError, UnreachableError
from .model.body import Body
from .results import Derivatives, ForwardDerivatives, HexapodDynamics

_core.adopt(GraphSizeError, ModelError, SingularityError, UnreachableError)
_core.adopt(Body, Derivatives, ForwardDerivatives, HexapodDynamics)
