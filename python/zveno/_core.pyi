# Types of the compiled core; the documentation is in its docstrings.
from collections.abc import Callable, Sequence
from types import GenericAlias
from typing import Any, Generic, Literal, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import TypeVar, disjoint_base

from .dynamics.sensitivities import Sensitivities
from .hexapod import Body
from .model import Link, Section
from .results import (
    ConstraintDerivatives,
    Derivatives,
    ForwardDerivatives,
    HexapodDynamics,
    LinkageDynamics,
    SecondDerivatives,
)

_Array: TypeAlias = NDArray[np.float64]
_Result = TypeVar("_Result", default=Any)
_External: TypeAlias = dict[str, Any] | None  # {link: ArrayLike}, but dict is invariant
_Frame: TypeAlias = Literal["link", "world"]
_Pose: TypeAlias = Any  # places; with R = None whole poses: 4x4 matrices, objects with as_matrix(), (r, R), mappings
_MassMatrixMethod: TypeAlias = Literal[
    "crba",
    "crba-walk",
    "crba-columns",
    "kane",
    "kane-triangular",
    "kane-recurrent",
    "kane-collapsed",
    "kosynka",
    "leskov",
    "leskov-link",
]
_DerivativesOutput: TypeAlias = Literal[
    "dtau_dq",
    "dtau_dqd",
    "dtau_dqdd",
]
_ForwardDerivativesOutput: TypeAlias = Literal[
    "dqdd_dq",
    "dqdd_dqd",
    "dqdd_dtau",
]
_SecondDerivativesOutput: TypeAlias = Literal[
    "H_qq",
    "H_qqd",
    "H_qdqd",
    "H_qqdd",
]
_ChainArrays: TypeAlias = Literal[
    "mass_matrix",
    "bias",
    "inverse_dynamics",
    "forward_dynamics",
    "reactions",
    "base_wrench",
    "pose",
    "jacobian",
    "jacobian_rate",
    "velocity",
    "acceleration",
    "com",
    "momentum",
    "momentum_matrix",
    "coriolis_matrix",
    "regressor",
    "inverse_mass_matrix",
    "section_load",
    "mass_matrix_derivatives",
    "mass_matrix_second_derivatives",
    "christoffel",
    "gravity_stiffness",
    "kinematic_derivative",
    "effective_inertia",
    "packed_regressor",
    "energy_regressor",
    "power_regressor",
    "momentum_regressor",
    "base_wrench_regressor",
]
_ChainNumbers: TypeAlias = Literal[
    "kinetic_energy",
    "potential_energy",
    "mass_matrix_derivative",
]
_ForwardDynamicsOutput: TypeAlias = Literal[
    "acceleration",
    "base_wrench",
    "joint_position",
    "joint_velocity",
    "joint_acceleration",
    "reaction",
]
_ForwardDynamicsFreeOutput: TypeAlias = Literal[
    "acceleration",
    "base_wrench",
    "base_acceleration",
    "joint_position",
    "joint_velocity",
    "joint_acceleration",
    "reaction",
]
_HexapodBlocks: TypeAlias = Literal[
    "forward_dynamics",
    "forward_dynamics_free",
]
_HexapodArrays: TypeAlias = Literal[
    "closure",
    "joint_velocity",
    "jacobian",
    "mass_matrix",
    "momentum",
    "inverse_dynamics",
]
_HexapodNumbers: TypeAlias = Literal[
    "kinetic_energy",
    "potential_energy",
]
_LinkageConstraintDerivativesOutput: TypeAlias = Literal[
    "dforce_dq",
    "dfdd_dq",
    "dfd_dq",
]
_LinkageForwardDynamicsOutput: TypeAlias = Literal[
    "qdd",
    "multiplier",
    "loop_reaction",
    "reaction",
    "ambiguity",
    "loop_ambiguity",
]
_LinkageArrays: TypeAlias = Literal[
    "residual",
    "constraint_velocity",
    "constraint_jacobian",
    "constraint_bias",
    "project_velocity",
]
_OnError: TypeAlias = Literal["raise", "nan"]
# type, name, base, base frame, ring, ring frame, crank frame, tip frame, inner length, outer length,
# inner and outer (mass, com, inertia about the com), reflected inertia, elbow, spin branch,
# chain, link, point, axis, ring axis, start, actuated
_LegTuple: TypeAlias = tuple[Any, ...]

class Chain:
    def __init__(self, name: str, base: str, gravity: ArrayLike, links: list[Link]) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def is_serial(self) -> bool: ...
    @property
    def total_mass(self) -> float: ...
    @property
    def suspicions(self) -> list[tuple[str, str]]: ...
    @property
    def inertial_parameters(self) -> _Array: ...
    def mass_matrix(
        self,
        q: ArrayLike,
        method: _MassMatrixMethod = "crba",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        external: _External = None,
        method: Literal["rnea", "kane", "leskov", "leskov-link"] = "rnea",
        base_motion: ArrayLike | None = None,
        external_frame: Literal["world", "link"] = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external: _External = None,
        base_motion: ArrayLike | None = None,
        external_frame: Literal["world", "link"] = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        external: _External = None,
        method: Literal["aba", "cholesky", "cholesky-walk"] = "aba",
        base_motion: ArrayLike | None = None,
        external_frame: Literal["world", "link"] = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def reactions(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external: _External = None,
        frame: _Frame = "link",
        base_motion: ArrayLike | None = None,
        external_frame: Literal["world", "link"] = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def base_wrench(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external: _External = None,
        base_motion: ArrayLike | None = None,
        external_frame: Literal["world", "link"] = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def kinetic_energy(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def kinetic_energy(
        self,
        q: Sequence[float],
        qd: Sequence[float],
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: None = None,
        threads: SupportsIndex | None = None,
    ) -> float: ...
    @overload
    def kinetic_energy(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: None = None,
        threads: SupportsIndex | None = None,
    ) -> float | _Array: ...
    @overload
    def potential_energy(
        self,
        q: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def potential_energy(
        self,
        q: Sequence[float],
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: None = None,
        threads: SupportsIndex | None = None,
    ) -> float: ...
    @overload
    def potential_energy(
        self,
        q: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: None = None,
        threads: SupportsIndex | None = None,
    ) -> float | _Array: ...
    def pose(
        self,
        q: ArrayLike,
        link: str,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def jacobian(
        self,
        q: ArrayLike,
        link: str,
        point: ArrayLike | None = None,
        frame: _Frame = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def jacobian_rate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        link: str,
        point: ArrayLike | None = None,
        frame: _Frame = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external: _External = None,
        base_motion: ArrayLike | None = None,
        external_frame: Literal["world", "link"] = "world",
        method: Literal["sweep", "sweep-walk", "dual"] = "sweep",
        *,
        wrt: None = None,
        outputs: Sequence[_DerivativesOutput] | None = None,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: tuple[_Array, ...] | None = None,
        threads: SupportsIndex | None = None,
    ) -> Derivatives: ...
    @overload
    def derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external: _External = None,
        base_motion: ArrayLike | None = None,
        external_frame: Literal["world", "link"] = "world",
        method: Literal["sweep", "sweep-walk", "dual"] = "sweep",
        *,
        wrt: str | Sequence[str | tuple[str, str | Sequence[str]]],
        outputs: Sequence[_DerivativesOutput] | None = None,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: tuple[_Array, ...] | None = None,
        threads: SupportsIndex | None = None,
    ) -> Sensitivities: ...
    def velocity(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        link: str,
        point: ArrayLike | None = None,
        frame: _Frame = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def acceleration(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        link: str,
        point: ArrayLike | None = None,
        frame: _Frame = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def com(
        self,
        q: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def momentum(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        about: Literal["com", "base"] = "com",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def momentum_matrix(
        self,
        q: ArrayLike,
        about: Literal["com", "base"] = "com",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def coriolis_matrix(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base_motion: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def forward_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        external: _External = None,
        base_motion: ArrayLike | None = None,
        external_frame: Literal["world", "link"] = "world",
        *,
        outputs: Sequence[_ForwardDerivativesOutput] | None = None,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: tuple[_Array, ...] | None = None,
        threads: SupportsIndex | None = None,
    ) -> ForwardDerivatives: ...
    def inverse_mass_matrix(
        self,
        q: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def section_load(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        section: Section,
        external: _External = None,
        base_motion: ArrayLike | None = None,
        frame: Literal["section", "link", "world"] = "section",
        parts: Literal["total", "static", "dynamic"] = "total",
        external_frame: Literal["world", "link"] = "world",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def mass_matrix_derivatives(
        self,
        q: ArrayLike,
        order: Literal[1, 2] = 1,
        method: Literal["moments", "zaremba"] = "moments",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def mass_matrix_second_derivatives(
        self,
        q: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def christoffel(
        self,
        q: ArrayLike,
        method: Literal["moments", "zaremba"] = "moments",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def gravity_stiffness(
        self,
        q: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def kinematic_derivative(
        self,
        q: ArrayLike,
        link: str,
        i: str | SupportsIndex,
        by: Sequence[str | SupportsIndex] = (),
        motion: Literal["link", "outboard"] = "link",
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def effective_inertia(
        self,
        q: ArrayLike,
        link: str,
        by: Sequence[str | SupportsIndex] = (),
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def mass_matrix_derivative(
        self,
        q: ArrayLike,
        i: str | SupportsIndex,
        j: str | SupportsIndex,
        by: Sequence[str | SupportsIndex] = (),
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def mass_matrix_derivative(
        self,
        q: Sequence[float],
        i: str | SupportsIndex,
        j: str | SupportsIndex,
        by: Sequence[str | SupportsIndex] = (),
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: None = None,
        threads: SupportsIndex | None = None,
    ) -> float: ...
    @overload
    def mass_matrix_derivative(
        self,
        q: ArrayLike,
        i: str | SupportsIndex,
        j: str | SupportsIndex,
        by: Sequence[str | SupportsIndex] = (),
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: None = None,
        threads: SupportsIndex | None = None,
    ) -> float | _Array: ...
    def second_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        weights: ArrayLike,
        external: _External = None,
        base_motion: ArrayLike | None = None,
        *,
        outputs: Sequence[_SecondDerivativesOutput] | None = None,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: tuple[_Array, ...] | None = None,
        threads: SupportsIndex | None = None,
    ) -> SecondDerivatives: ...
    def packed_regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base_motion: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def energy_regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def power_regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base_motion: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def momentum_regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def base_wrench_regressor(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        base_motion: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...

@disjoint_base
class ClosedFormBase:
    q: _Array
    _reach: Any
    _notes: Any
    _first: NDArray[np.int64] | None
    _missing: Any
    _outside: Any

@disjoint_base
class HexapodDynamicsBase:
    _data: _Array
    _status: NDArray[np.int16] | None
    _joints: int
    _free: int
    _outputs: int
    @property
    def outputs(self) -> tuple[str, ...]: ...
    @property
    def acceleration(self) -> _Array: ...
    @property
    def base_wrench(self) -> _Array: ...
    @property
    def base_acceleration(self) -> _Array: ...
    @property
    def joint_position(self) -> _Array: ...
    @property
    def joint_velocity(self) -> _Array: ...
    @property
    def joint_acceleration(self) -> _Array: ...
    @property
    def reaction(self) -> _Array: ...

class Hexapod:
    # platform: mass, inertia about the com
    def __init__(
        self, name: str, platform: tuple[float, ArrayLike], gravity: ArrayLike, legs: list[_LegTuple]
    ) -> None: ...
    @property
    def nj(self) -> int: ...
    @property
    def _symmetric(self) -> list[bool]: ...
    def closure(
        self,
        r: _Pose,
        R: ArrayLike | None,
        method: Literal["closed", "newton"] = "closed",
        start: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def joint_velocity(
        self,
        r: _Pose,
        R: ArrayLike | None,
        u: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def jacobian(
        self,
        r: _Pose,
        R: ArrayLike | None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def _measures(
        self,
        r: _Pose,
        R: ArrayLike | None,
        *,
        on_error: Literal["raise"] = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def _measures(
        self,
        r: _Pose,
        R: ArrayLike | None,
        *,
        on_error: Literal["nan"],
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> tuple[_Array, NDArray[np.int16]]: ...
    def mass_matrix(
        self,
        r: _Pose,
        R: ArrayLike | None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def momentum(
        self,
        r: _Pose,
        R: ArrayLike | None,
        u: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def kinetic_energy(
        self,
        r: _Pose,
        R: ArrayLike | None,
        u: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def kinetic_energy(
        self,
        r: _Pose,
        R: ArrayLike | None,
        u: ArrayLike,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: None = None,
        threads: SupportsIndex | None = None,
    ) -> float | _Array: ...
    @overload
    def potential_energy(
        self,
        r: _Pose,
        R: ArrayLike | None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def potential_energy(
        self,
        r: _Pose,
        R: ArrayLike | None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: None = None,
        threads: SupportsIndex | None = None,
    ) -> float | _Array: ...
    def inverse_dynamics(
        self,
        r: _Pose,
        R: ArrayLike | None,
        u: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def forward_dynamics(
        self,
        r: _Pose,
        R: ArrayLike | None,
        u: ArrayLike,
        wrench: ArrayLike,
        tau: ArrayLike,
        base_motion: ArrayLike | None = None,
        *,
        outputs: Sequence[_ForwardDynamicsOutput] | None = None,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: HexapodDynamics | None = None,
        threads: SupportsIndex | None = None,
    ) -> HexapodDynamics: ...
    def forward_dynamics_free(
        self,
        r: _Pose,
        R: ArrayLike | None,
        u: ArrayLike,
        wrench: ArrayLike,
        tau: ArrayLike,
        base: Body,
        omega: ArrayLike | None = None,
        base_wrench: ArrayLike | None = None,
        *,
        outputs: Sequence[_ForwardDynamicsFreeOutput] | None = None,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: HexapodDynamics | None = None,
        threads: SupportsIndex | None = None,
    ) -> HexapodDynamics: ...

class Linkage:
    def __init__(
        self, chain: Chain, length: float, open: float, given: int, constraints: list[tuple[Any, ...]]
    ) -> None: ...
    @property
    def _active(self) -> list[int]: ...
    @property
    def _choice(self) -> tuple[bool, list[int], list[int], int]: ...
    @property
    def _parts(self) -> list[tuple[list[int], list[int]]]: ...
    @property
    def m(self) -> int: ...
    def residual(
        self,
        q: ArrayLike,
        t: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def constraint_velocity(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        t: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def constraint_jacobian(
        self,
        q: ArrayLike,
        t: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def constraint_bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        t: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def constraint_derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        multiplier: ArrayLike,
        t: ArrayLike | None = None,
        *,
        outputs: Sequence[_LinkageConstraintDerivativesOutput] | None = None,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: tuple[_Array, ...] | None = None,
        threads: SupportsIndex | None = None,
    ) -> ConstraintDerivatives: ...
    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        t: ArrayLike | None = None,
        external: _External = None,
        base_motion: ArrayLike | None = None,
        external_frame: Literal["world", "link"] = "world",
        drive: ArrayLike | None = None,
        *,
        outputs: Sequence[_LinkageForwardDynamicsOutput] | None = None,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: tuple[_Array, ...] | None = None,
        threads: SupportsIndex | None = None,
    ) -> LinkageDynamics: ...
    @overload
    def _project_position(
        self,
        q: ArrayLike,
        t: ArrayLike | None = None,
        *,
        on_error: Literal["raise"] = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def _project_position(
        self,
        q: ArrayLike,
        t: ArrayLike | None = None,
        *,
        on_error: Literal["nan"],
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> tuple[_Array, NDArray[np.int16]]: ...
    def project_velocity(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        t: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...

def linkage_close(
    linkage: Linkage,
    guess: _Array,
    lower: _Array,
    upper: _Array,
    held: list[bool],
    given: Callable[[_Array], _Array] | None,
) -> tuple[_Array, _Array, bool, int, float]: ...
def linkage_rank(linkage: Linkage, G: _Array, f: _Array) -> tuple[int, _Array]: ...
def linkage_choose(linkage: Linkage, G: _Array) -> None: ...
def joint_rates(
    J: _Array,
    twist: _Array,
    scale: _Array,
    wish: _Array | None,
    lower: _Array | None,
    upper: _Array | None,
    damping: float,
    region: float,
    threads: SupportsIndex | None,
) -> tuple[_Array, NDArray[np.int8], _Array, _Array, _Array]: ...
def jacobian_measures(
    J: _Array, scale: _Array, link_axes: bool, gradients: bool, threads: SupportsIndex | None
) -> dict[str, _Array]: ...
def reach_path_end(
    length: float, slope: _Array, above: _Array, below: _Array, least: _Array, most: _Array, end: float
) -> tuple[_Array, _Array, int, float, tuple[int, int] | None]: ...
def go_fast_on_path(
    length: float,
    slope: _Array,
    above: _Array,
    below: _Array,
    least: _Array,
    most: _Array,
    low: _Array,
    high: _Array,
    start: float,
) -> tuple[_Array, _Array, int]: ...

class Reach:
    def __init__(
        self,
        chain: Chain,
        wishes: list[tuple[str, list[bool]]],
        lower: ArrayLike,
        upper: ArrayLike,
        middle: ArrayLike,
    ) -> None: ...
    @property
    def length(self) -> float: ...
    @property
    def family(self) -> str: ...
    @property
    def what(self) -> str: ...
    @property
    def deviation(self) -> float: ...
    def solve(
        self,
        targets: list[Any],
        q0: ArrayLike | None,
        rest: ArrayLike,
        limits: bool,
        nearest: bool,
        gap: float,
        turn: float,
        starts: int,
        seed: int,
        threads: SupportsIndex | None,
        numbers: NDArray[np.int64] | None = None,
    ) -> tuple[_Array, NDArray[np.int8], _Array, NDArray[np.int32], NDArray[np.int32]]: ...
    def closed(
        self,
        targets: list[Any],
        q0: ArrayLike | None,
        rest: ArrayLike,
        swivel: ArrayLike | None,
        limits: bool,
        threads: SupportsIndex | None,
    ) -> Any: ...
    def one(self, T: Any, q0: Any, /) -> Any: ...
    def one_all(self, T: Any, q0: Any, limits: bool, /) -> Any: ...
    def free(self, q: list[float]) -> list[float]: ...
    def follow(
        self, targets: list[Any], q0: ArrayLike, limits: bool, gap: float, turn: float, starts: int, seed: int
    ) -> tuple[_Array, NDArray[np.int8], _Array, NDArray[np.int32], NDArray[np.int32]]: ...
    def nearest_closed(
        self, targets: list[Any], q0: ArrayLike | None, rest: ArrayLike, limits: bool, threads: SupportsIndex | None
    ) -> tuple[_Array, NDArray[np.int8], _Array]: ...

def hexapod_forward_kinematics(
    hexapod: Hexapod, strokes: _Array, r: _Array, R: _Array, threads: int = 1
) -> tuple[_Array, NDArray[np.int32], NDArray[np.int16], _Array]: ...
def hexapod_operations(
    hexapod: Hexapod, leg: int, moving: bool = False, free: bool = False
) -> dict[str, tuple[int, int, int, int, int]]: ...
def cause(cause: int) -> tuple[str, str, str]: ...
def functions(mechanism: str) -> list[dict[str, Any]]: ...
def trace(
    model: Chain | Hexapod | Linkage, function: str, options: dict[str, Any], who: str, regroup: bool, limit: int
) -> Graph: ...

class Graph:
    def __init__(self, limit: int = ...) -> None: ...
    def __len__(self) -> int: ...
    def constant(self, value: float) -> int: ...
    def input(self, argument: int, element: int) -> int: ...
    def apply(self, op: int, a: int, b: int = -1, c: int = -1) -> int: ...
    def set_outputs(self, outputs: Sequence[Sequence[int]], /) -> None: ...
    def copy(self) -> Graph: ...
    def pruned(self) -> Graph: ...
    def algebraic(self) -> tuple[Graph, dict[str, int]]: ...
    def arrays(
        self,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]: ...
    def outputs(self) -> list[NDArray[np.int32]]: ...

class SectionCut:
    # chain, link, point, axes, far part, welded links, carried links, whether loaded, frame, parts
    def __init__(
        self,
        chain: Chain,
        link: int,
        point: ArrayLike,
        axes: ArrayLike,
        far: ArrayLike,
        welded: list[int],
        carried: list[int],
        loaded: bool,
        frame: int,
        parts: int,
        /,
    ) -> None: ...

def streamed_rows(model: Chain | Hexapod | Linkage, function: str, options: dict[str, Any]) -> list[int]: ...
def transcendental_addresses(fused: bool = False) -> dict[str, int]: ...
def add_rows(R: _Array, rows: _Array) -> None: ...
def body_parameters(chain: Chain) -> _Array: ...
def rotation_of(rotation: ArrayLike) -> _Array: ...
def body_of_parameters(parameters: ArrayLike) -> tuple[float, tuple[float, float, float], _Array]: ...
def check_body(who: str, mass: float, com: ArrayLike, inertia: ArrayLike) -> list[str]: ...

@disjoint_base
class Compiled(Generic[_Result]):
    def __init__(
        self,
        model: Chain | Hexapod,
        function: str,
        options: dict[str, Any],
        code: object,
        scalar: int,
        vector: int,
        passing: int,
        lanes: int,
        /,
    ) -> None: ...
    def __call__(
        self,
        *args: Any,
        on_error: _OnError = "raise",
        status: NDArray[np.int16] | None = None,
        out: Any = None,
        threads: SupportsIndex | None = None,
        **arrays: Any,
    ) -> _Result: ...
    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...

def count_operations(
    chain: Chain, function: str, method: str | None = None, options: dict[str, Any] = ...
) -> dict[str, tuple[int, int, int, int, int]]: ...
def time_derivatives(
    chain: Chain, function: str, qs: ArrayLike, order: int | None, arguments: dict[str, Any]
) -> Any: ...

MOST_TIME_DERIVATIVES: int

def adopt(*args: Callable[..., Any]) -> None: ...
def leg_types() -> list[tuple[str, bool, bool, tuple[str, ...]]]: ...
def cpu_levels() -> list[str]: ...
def use_kernels(table: object) -> tuple[str, int]: ...
def sincos(x: ArrayLike) -> tuple[_Array, _Array]: ...

MOST_THREADS: int

def default_threads() -> int: ...
def thread_limits() -> dict[str, float]: ...
def cgroup_processors(root: str = "") -> float: ...
def time_steps(
    step: int,
    reset: int,
    rig: int,
    inputs: _Array,
    outputs: int,
    count: int,
    period: float,
    deadline: float,
    durations: NDArray[np.int64],
    delays: NDArray[np.int64],
) -> tuple[int, int, int, int]: ...

class JointLaw:
    def __init__(self, terms: list[tuple[Any, ...]]) -> None: ...
    @property
    def states(self) -> int: ...
    def force(self, t: _Array, x: _Array, v: _Array, z: _Array | None = None) -> _Array: ...

class Schedule:
    def __init__(
        self,
        *,
        semi_implicit: bool,
        start: float,
        dt: float,
        steps: int,
        every: int,
        implicit: str = "",
        rtol: float = 0.0,
        atol: float = 1e-12,
        breaks: Sequence[float] = (),
    ) -> None: ...

def record_fields(system: str, /) -> list[tuple[str, str, str, tuple[tuple[str, tuple[str, ...] | None], ...]]]: ...

class DockingOptions:
    def __init__(
        self, *, t_end: float, after: float, dt: float, tolerance: float, halvings: int, every: int
    ) -> None: ...

class Stop:
    def __init__(self) -> None: ...
    def set(self) -> None: ...
    def is_set(self) -> bool: ...
    def call(self, work: Callable[[], _Result]) -> _Result: ...

class DockingRunner:
    def __init__(self, setup: dict[str, Any], kept: Any) -> None: ...
    def start_gap(self, conditions: Any) -> float: ...
    def run(
        self,
        conditions: Any,
        options: DockingOptions,
        room: int,
        factors: _Array | None = None,
        control: Any = None,
        hold: float = 0.0,
    ) -> dict[str, Any]: ...
    def batch(
        self, conditions: _Array, factors: _Array | None, options: DockingOptions, threads: int, lanes: bool = True
    ) -> _Array: ...
    def side_by_side(self) -> int: ...
    def evaluate(self, conditions: Any, r: Any, q: Any, u: Any) -> dict[str, Any] | None: ...

def docking_history() -> list[tuple[str, int, str, str]]: ...
def contact_operations() -> dict[str, dict[str, int]]: ...
def contact_wrench(a: tuple[Any, ...], b: tuple[Any, ...], law: tuple[float, ...], rows: _Array) -> _Array: ...

class HexapodRun:
    def __init__(
        self,
        hexapod: Hexapod,
        schedule: Schedule,
        *,
        r: _Array,
        q: _Array,
        u: _Array,
        laws: list[JointLaw | None],
        lower: _Array,
        upper: _Array,
        tau: _Array | None = None,
        forces: Any = None,
        wrench: Any = None,
        base: _Array | None = None,
        passive: list[tuple[int, int, JointLaw]] = ...,
    ) -> None: ...
    def advance(self, count: int) -> bool: ...
    def settle(self) -> None: ...
    @property
    def step(self) -> int: ...
    @property
    def recorded(self) -> int: ...
    @property
    def failure(self) -> tuple[Any, float] | None: ...
    @property
    def events(self) -> list[tuple[float, int, bool, bool, float]]: ...
    @property
    def arrays(self) -> dict[str, _Array]: ...

class ChainRun:
    def __init__(
        self,
        chain: Chain,
        schedule: Schedule,
        *,
        q: _Array,
        qd: _Array,
        laws: list[JointLaw | None],
        lower: _Array,
        upper: _Array,
        tau: _Array | None = None,
        forces: list[tuple[str, Any]] = [],
        external: list[tuple[str, Any]] = [],
        hold: int = 0,
        base: Any = None,
        watched: list[tuple[Any, ...]] = [],
        wanted: Sequence[str] | None = None,
        linkage: Linkage | None = None,
        baumgarte: tuple[float, float] = (0.0, 0.0),
        drives: list[tuple[int, str, Any]] = [],
    ) -> None: ...
    def advance(self, count: int) -> bool: ...
    def settle(self) -> None: ...
    def state(self) -> _Array: ...
    def rates(self, t: float, step: int, y: _Array) -> _Array | None: ...
    def project(self, t: float, y: _Array) -> _Array | None: ...
    def reach(self, t: float, step: int, y: _Array, record: bool, find_events: bool = True) -> bool: ...
    @property
    def made(self) -> tuple[int, int, int]: ...
    @property
    def crossings(self) -> list[tuple[float, int, bool, _Array, _Array]]: ...
    @property
    def step(self) -> int: ...
    @property
    def recorded(self) -> int: ...
    @property
    def failure(self) -> tuple[Any, float] | None: ...
    @property
    def events(self) -> list[tuple[float, int, bool, bool, float]]: ...
    @property
    def arrays(self) -> dict[str, _Array]: ...

def run_steps(
    chain: Chain,
    schedule: Schedule,
    *,
    q: _Array,
    qd: _Array,
    tau: _Array | None,
    held: int,
    tau_by_run: bool,
    spring: _Array | None,
    lower: _Array,
    upper: _Array,
    out: dict[str, _Array],
    begin: int,
    end: int,
    threads: int,
) -> tuple[NDArray[np.uint8], list[list[tuple[float, int, bool, bool, float]]]]: ...
