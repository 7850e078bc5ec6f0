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
from .dynamics.statics import PointLoad
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
from .kinematics.scan import ArmWorkspace
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
    JacobianMeasures,
    JointForces,
    JointRates,
    LinkageDynamics,
    PayloadCapacity,
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
    from . import control, docking, files, flexible, identification, rigs, trajectory
    from .deploy.description import save_rig
    from .deploy.fmu import export_fmu
    from .deploy.library import Stepper
    from .deploy.step import export_step
    from .files import load
    from .identification import excitation, identify
    from .identification.base_parameters import BaseParameters
    from .identification.hexapod import HexapodBaseParameters

    __version__: str
else:
    _ROOMS = ("control", "docking", "files", "flexible", "identification", "rigs", "trajectory")
    _LAZY = {
        "BaseParameters": "identification.base_parameters",
        "HexapodBaseParameters": "identification.hexapod",
        "Stepper": "deploy.library",
        "excitation": "identification",
        "export_fmu": "deploy.fmu",
        "export_step": "deploy.step",
        "identify": "identification",
        "load": "files",
        "save_rig": "deploy.description",
    }

    def __getattr__(name: str) -> object:
        """What not everybody needs, when somebody asks: the version, sub-packages, what is in them."""
        if name == "__version__":
            from importlib.metadata import version

            found: object = version("zveno")
        elif name in _ROOMS or name in _LAZY:
            from importlib import import_module

            found = import_module(f".{_LAZY.get(name, name)}", __name__)
            if name in _LAZY:
                found = getattr(found, name)
        else:
            from ._check import did_you_mean
            from .model.other_names import of_module

            rooms = (robots, mechanisms, laws, constraints, orientation, inertial, sections)
            home = next((room for room in rooms if name in room.__all__), None)
            hint = f": it is `{home.__name__}.{name}`" if home else ""
            hint = hint or of_module(name, (Chain, Hexapod)) or did_you_mean(name, __all__)
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}", name=name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "ArmWorkspace",
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
    "JacobianMeasures",
    "JointForces",
    "JointRates",
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
    "PayloadCapacity",
    "PointLoad",
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
    "Stepper",
    "StopEvent",
    "TextbookParameters",
    "TracedFunction",
    "UndecidedError",
    "UnreachableError",
    "__version__",
    "constraints",
    "control",
    "cpu_features",
    "docking",
    "errors",
    "excitation",
    "export_fmu",
    "export_step",
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
    "rigs",
    "robots",
    "save_rig",
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
