"""zveno: a compiled dynamics engine for manipulators and docking mechanisms.

Examples
--------
>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> arm.mass_matrix(np.zeros(arm.n)).shape
(2, 2)
"""

from functools import partial as _partial
from typing import TYPE_CHECKING as _TYPE_CHECKING

try:
    from . import _core  # noqa: F401
except ImportError as error:  # pragma: no cover
    raise ImportError("zveno's compiled core is missing: install the package with `pip install .`") from error

from . import (  # noqa: F401
    _types,
    constraints,
    errors,
    graph,
    inertial,
    laws,
    mechanisms,
    model,
    opcount,
    orientation,
    results,
    robots,
    sections,
    sim,
)
from ._dispatch import cpu_features
from .codegen.function import CompiledFunction, TracedFunction
from .dynamics.equilibrium import Equilibrium
from .dynamics.linear import Linearisation
from .dynamics.linkage_linear import LinkageLinearisation
from .dynamics.modes import Modes
from .dynamics.section_loads import LoadDiagram, LoadEnvelope
from .dynamics.state_space import StateSpace
from .errors import (
    Error,
    GraphSizeError,
    InfeasibleError,
    ModelError,
    ModelWarning,
    SimulationWarning,
    SingularityError,
    StepError,
    UndecidedError,
    UnreachableError,
)
from .identification.base_parameters import BaseParameters
from .identification.hexapod import HexapodBaseParameters
from .model import Body, Chain, Constraint, Hexapod, Leg, Link, Linkage, Loop, Section
from .model.dh import DHParameters, TextbookParameters
from .model.linkage import CutJoint, LinkageEfforts, Mobility, SingularConfiguration
from .model.reduced import LinkPoses
from .model.section import SectionStress
from .opcount import OpCount
from .results import (
    ClosedFormSolutions,
    ConstraintDerivatives,
    Derivatives,
    ForwardDerivatives,
    HexapodDynamics,
    InverseKinematics,
    LinkageDynamics,
    RingPose,
    SecondDerivatives,
    Singularity,
)
from .sim.batch import SimulationBatch
from .sim.chain import ChainSimulation
from .sim.linkage import LinkageSimulation
from .sim.simulation import HexapodSimulation, Simulation, StopEvent
from .versions import show_versions
from .wrenches import wrench_at

if _TYPE_CHECKING:
    from . import control, files, flexible, identification, trajectory
    from .files import load
    from .identification import excitation, identify

    __version__: str
else:
    _LAZY = {"excitation": "identification", "identify": "identification", "load": "files"}

    def __getattr__(name: str) -> object:
        """What not everybody needs, when somebody asks: the version, files, beams, controllers, trajectories."""
        if name == "__version__":
            from importlib.metadata import version

            found: object = version("zveno")
        elif name in ("control", "files", "flexible", "identification", "trajectory"):
            from importlib import import_module

            found = import_module(f".{name}", __name__)
        elif name in _LAZY:
            from importlib import import_module

            found = getattr(import_module(f".{_LAZY[name]}", __name__), name)
        else:
            from ._check import did_you_mean

            raise AttributeError(
                f"module {__name__!r} has no attribute {name!r}{did_you_mean(name, __all__)}", name=name
            )
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "BaseParameters",
    "Body",
    "Chain",
    "ChainSimulation",
    "ClosedFormSolutions",
    "CompiledFunction",
    "Constraint",
    "ConstraintDerivatives",
    "CutJoint",
    "DHParameters",
    "Derivatives",
    "Equilibrium",
    "Error",
    "ForwardDerivatives",
    "GraphSizeError",
    "Hexapod",
    "HexapodBaseParameters",
    "HexapodDynamics",
    "HexapodSimulation",
    "InfeasibleError",
    "InverseKinematics",
    "Leg",
    "Linearisation",
    "Link",
    "LinkPoses",
    "Linkage",
    "LinkageDynamics",
    "LinkageEfforts",
    "LinkageLinearisation",
    "LinkageSimulation",
    "LoadDiagram",
    "LoadEnvelope",
    "Loop",
    "Mobility",
    "ModelError",
    "ModelWarning",
    "Modes",
    "OpCount",
    "RingPose",
    "SecondDerivatives",
    "Section",
    "SectionStress",
    "Simulation",
    "SimulationBatch",
    "SimulationWarning",
    "SingularConfiguration",
    "Singularity",
    "SingularityError",
    "StateSpace",
    "StepError",
    "StopEvent",
    "TextbookParameters",
    "TracedFunction",
    "UndecidedError",
    "UnreachableError",
    "__version__",
    "constraints",
    "control",
    "cpu_features",
    "errors",
    "excitation",
    "files",
    "flexible",
    "graph",
    "identification",
    "identify",
    "inertial",
    "laws",
    "load",
    "mechanisms",
    "orientation",
    "results",
    "robots",
    "sections",
    "show_versions",
    "trajectory",
    "wrench_at",
]

for _module in (
    constraints,
    errors,
    graph,
    inertial,
    laws,
    mechanisms,
    model,
    opcount,
    orientation,
    results,
    robots,
    sections,
    sim.laws,
):  # what tab completion shows
    _module.__dir__ = _partial(sorted, _module.__all__)  # type: ignore[method-assign]
