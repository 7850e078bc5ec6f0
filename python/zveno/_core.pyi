# Types of the compiled core; the documentation is in its docstrings.
from collections.abc import Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import disjoint_base

from .hexapod import Body
from .results import Derivatives, HexapodDynamics

_Array: TypeAlias = NDArray[np.float64]
_External: TypeAlias = dict[str, Any] | None  # {link: ArrayLike}, but dict is invariant
_Frame: TypeAlias = Literal["link", "world"]
_MassMethod: TypeAlias = Literal[
    "crba", "crba-walk", "crba-columns", "kane", "kane-triangular", "kane-recurrent", "kane-collapsed", "kosynka"
]
# name, parent, joint, joint name, axis, position, rotation, mass, com, inertia, rotor inertia, friction
_LinkTuple: TypeAlias = tuple[
    str, str | None, str, str, ArrayLike, ArrayLike, ArrayLike, float, ArrayLike, ArrayLike, float, float
]
_OnError: TypeAlias = Literal["raise", "nan"]
# type, name, base, base frame, ring, ring frame, crank frame, tip frame, inner length, outer length,
# inner and outer (mass, com, inertia about the com), reflected inertia, elbow, spin branch,
# chain, link, point, axis, ring axis, start, actuated
_LegTuple: TypeAlias = tuple[Any, ...]

class Chain:
    def __init__(self, name: str, base: str, gravity: ArrayLike, links: list[_LinkTuple]) -> None: ...
    @property
    def n(self) -> int: ...
    @property
    def is_serial(self) -> bool: ...
    @property
    def total_mass(self) -> float: ...
    @property
    def suspicions(self) -> list[tuple[str, str]]: ...
    def mass_matrix(
        self,
        q: ArrayLike,
        method: _MassMethod = "crba",
        *,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def bias(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        external: _External = None,
        method: Literal["rnea", "kane"] = "rnea",
        *,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external: _External = None,
        *,
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
        *,
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
        *,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def base_wrench(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external: _External = None,
        *,
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    # one state gives a number; whether an array holds one state or many, its type does not tell
    @overload
    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: _Array, threads: SupportsIndex | None = None
    ) -> _Array: ...
    @overload
    def kinetic_energy(
        self, q: Sequence[float], qd: Sequence[float], *, out: None = None, threads: SupportsIndex | None = None
    ) -> float: ...
    @overload
    def kinetic_energy(
        self, q: ArrayLike, qd: ArrayLike, *, out: None = None, threads: SupportsIndex | None = None
    ) -> float | _Array: ...
    @overload
    def potential_energy(self, q: ArrayLike, *, out: _Array, threads: SupportsIndex | None = None) -> _Array: ...
    @overload
    def potential_energy(
        self, q: Sequence[float], *, out: None = None, threads: SupportsIndex | None = None
    ) -> float: ...
    @overload
    def potential_energy(
        self, q: ArrayLike, *, out: None = None, threads: SupportsIndex | None = None
    ) -> float | _Array: ...
    def pose(
        self, q: ArrayLike, link: str, *, out: _Array | None = None, threads: SupportsIndex | None = None
    ) -> _Array: ...
    def jacobian(
        self,
        q: ArrayLike,
        link: str,
        point: ArrayLike | None = None,
        frame: _Frame = "world",
        *,
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
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def derivatives(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        external: _External = None,
        *,
        out: tuple[_Array, _Array, _Array] | None = None,
        threads: SupportsIndex | None = None,
    ) -> Derivatives: ...

@disjoint_base
class DynamicsRows:
    _data: _Array
    _status: NDArray[np.int16] | None
    _layout: int

class Hexapod:
    # platform: mass, inertia about the com
    def __init__(
        self, name: str, platform: tuple[float, ArrayLike], gravity: ArrayLike, legs: list[_LegTuple]
    ) -> None: ...
    @property
    def nj(self) -> int: ...
    @property
    def lean(self) -> list[bool]: ...
    def closure(
        self,
        r: ArrayLike,
        R: ArrayLike,
        method: Literal["closed", "newton"] = "closed",
        start: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def joint_velocity(
        self,
        r: ArrayLike,
        R: ArrayLike,
        u: ArrayLike,
        *,
        on_error: _OnError = "raise",
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def jacobian(
        self,
        r: ArrayLike,
        R: ArrayLike,
        *,
        on_error: _OnError = "raise",
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def mass_matrix(
        self,
        r: ArrayLike,
        R: ArrayLike,
        *,
        on_error: _OnError = "raise",
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def momentum(
        self,
        r: ArrayLike,
        R: ArrayLike,
        u: ArrayLike,
        *,
        on_error: _OnError = "raise",
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    def kinetic_energy(
        self,
        r: ArrayLike,
        R: ArrayLike,
        u: ArrayLike,
        *,
        on_error: _OnError = "raise",
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> float | _Array: ...
    def potential_energy(
        self,
        r: ArrayLike,
        R: ArrayLike,
        *,
        on_error: _OnError = "raise",
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> float | _Array: ...
    def forward_dynamics(
        self,
        r: ArrayLike,
        R: ArrayLike,
        u: ArrayLike,
        wrench: ArrayLike,
        tau: ArrayLike,
        base_motion: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        out: HexapodDynamics | None = None,
        threads: SupportsIndex | None = None,
    ) -> HexapodDynamics: ...
    def forward_dynamics_free(
        self,
        r: ArrayLike,
        R: ArrayLike,
        u: ArrayLike,
        wrench: ArrayLike,
        tau: ArrayLike,
        base: Body,
        omega: ArrayLike | None = None,
        base_wrench: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        out: HexapodDynamics | None = None,
        threads: SupportsIndex | None = None,
    ) -> HexapodDynamics: ...
    def inverse_dynamics(
        self,
        r: ArrayLike,
        R: ArrayLike,
        u: ArrayLike,
        acceleration: ArrayLike,
        wrench: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        base_motion: ArrayLike | None = None,
        *,
        on_error: _OnError = "raise",
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def _measures(
        self,
        r: ArrayLike,
        R: ArrayLike,
        *,
        on_error: Literal["raise"] = "raise",
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> _Array: ...
    @overload
    def _measures(
        self,
        r: ArrayLike,
        R: ArrayLike,
        *,
        on_error: Literal["nan"],
        out: _Array | None = None,
        threads: SupportsIndex | None = None,
    ) -> tuple[_Array, NDArray[np.int16]]: ...

def hexapod_forward_kinematics(
    hexapod: Hexapod, strokes: _Array, r: _Array, R: _Array, threads: int = 1
) -> tuple[_Array, NDArray[np.int32], NDArray[np.int16], _Array]: ...
def hexapod_operations(
    hexapod: Hexapod, leg: int, moving: bool = False, free: bool = False
) -> dict[str, tuple[int, int, int, int, int]]: ...
def hexapod_cause(cause: int) -> tuple[str, str, str]: ...
def trace_hexapod(
    hexapod: Hexapod, function: str, arguments: list[str], actuated: bool, base: Any, limit: int
) -> Graph: ...

@disjoint_base
class CompiledHexapod:
    def __init__(
        self,
        hexapod: Hexapod,
        function: str,
        arguments: list[str],
        actuated: bool,
        base: Any,
        code: object,
        scalar: int,
        vector: int,
        lanes: int,
    ) -> None: ...
    def __call__(
        self,
        *args: ArrayLike,
        on_error: _OnError = "raise",
        out: Any = None,
        threads: SupportsIndex | None = None,
        **arrays: ArrayLike,
    ) -> Any: ...

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

def transcendental_addresses(fused: bool = False) -> dict[str, int]: ...
def trace_chain(chain: Chain, function: str, options: dict[str, Any], regroup: bool, limit: int) -> Graph: ...
def inertial_parameters(chain: Chain) -> _Array: ...

@disjoint_base
class Compiled:
    def __init__(
        self,
        chain: Chain,
        function: str,
        options: dict[str, Any],
        code: object,
        scalar: int,
        vector: int,
        lanes: int,
        /,
    ) -> None: ...
    def __call__(
        self,
        *args: Any,
        out: Any = None,
        threads: SupportsIndex | None = None,
        **arrays: Any,
    ) -> Any: ...

def count_operations(
    chain: Chain, function: str, method: str | None = None
) -> dict[str, tuple[int, int, int, int, int]]: ...
def cpu_levels() -> list[str]: ...
def use_kernels(table: object) -> tuple[str, int]: ...
def sincos(x: ArrayLike) -> tuple[_Array, _Array]: ...

class JointLaw:
    def __init__(self, terms: list[tuple[Any, ...]]) -> None: ...
    @property
    def states(self) -> int: ...
    def force(self, t: _Array, x: _Array, v: _Array, z: _Array | None = None) -> _Array: ...

class Schedule:
    def __init__(self, *, semi_implicit: bool, start: float, dt: float, steps: int, every: int) -> None: ...

def record_fields(system: str, /) -> list[tuple[str, str, str, tuple[tuple[str, tuple[str, ...] | None], ...]]]: ...

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
