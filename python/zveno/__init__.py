"""zveno: a compiled dynamics engine for manipulators and docking mechanisms.

Examples
--------
>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> arm.mass_matrix(np.zeros(arm.n)).shape
(2, 2)
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

try:
    from . import _core  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError("zveno's compiled core is missing: install the package with `pip install .`") from error

from . import _types, graph, laws, mechanisms, robots  # noqa: F401
from ._dispatch import cpu_features
from .codegen.function import CompiledFunction, TracedFunction
from .errors import Error, GraphSizeError, ModelError, ModelWarning, SingularityError, UnreachableError
from .model import Body, Chain, Hexapod, Leg, Link
from .opcount import OpCount
from .results import Derivatives, HexapodDynamics, RingPose, Singularity
from .sim.chain import ChainSimulation
from .sim.simulation import HexapodSimulation, Simulation, StopEvent
from .wrenches import wrench_at

if _TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> str:
        """The version, when somebody asks: reading it takes a fifth of the time of the import."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version

        found = globals()[name] = version("zveno")
        return found


__all__ = [
    "Body",
    "Chain",
    "ChainSimulation",
    "CompiledFunction",
    "Derivatives",
    "Error",
    "GraphSizeError",
    "Hexapod",
    "HexapodDynamics",
    "HexapodSimulation",
    "Leg",
    "Link",
    "ModelError",
    "ModelWarning",
    "OpCount",
    "RingPose",
    "Simulation",
    "Singularity",
    "SingularityError",
    "StopEvent",
    "TracedFunction",
    "UnreachableError",
    "__version__",
    "cpu_features",
    "graph",
    "laws",
    "mechanisms",
    "robots",
    "wrench_at",
]
