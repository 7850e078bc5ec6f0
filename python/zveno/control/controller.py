"""What controllers have in common: a formula of arrays, run on numbers or traced to C."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, Fail, _show, as_array, as_number, common_lead, did_you_mean
from .._rotation import as_pose
from ..codegen.expression import SymbolicModel, TracedExpression, trace_expression
from ..codegen.graph import Argument

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["Controller", "Reference"]


class Reference(NamedTuple):
    """An input of a controller besides q and qd.

    A default of None: it must be given. A shape of (4, 4) is a pose.
    """

    name: str
    shape: tuple[int, ...]
    meaning: str
    default: float | None = 0.0


class Controller:
    """Base of controllers: joint efforts tau of a state (q, qd) and references.

    Call it like a function of the chain: arrays of one state or with leading dimensions, which are broadcast.

    Attributes
    ----------
    chain : Chain
    inputs : tuple of Argument
        What the formula is given: q, qd and the references, with shapes and units.
    """

    chain: Chain

    def __init__(self, chain: Chain) -> None:
        if not isinstance(chain, _core.Chain):
            raise TypeError(f"{self._who}: chain is {_show(chain)}, expected a Chain")
        self.chain = chain

    @property
    def _who(self) -> str:
        return type(self).__name__

    def _fail(self, text: str) -> NoReturn:
        raise ValueError(f"{self._who}: {text}")

    @property
    @abstractmethod
    def _references(self) -> tuple[Reference, ...]:
        """What it takes besides the state."""

    @abstractmethod
    def _law(self, model: Any, q: Any, qd: Any, *references: Any) -> Any:
        """The efforts; `model` is the chain or, with symbols for numbers, a `SymbolicModel` of it."""

    @property
    def inputs(self) -> tuple[Argument, ...]:
        """What the formula is given, in the order of the generated code."""
        n = self.chain.n
        state = (
            Argument("q", (n,), "joint coordinates, rad or m"),
            Argument("qd", (n,), "joint rates, rad/s or m/s"),
        )
        return state + tuple(Argument(r.name, r.shape, r.meaning) for r in self._references)

    def __call__(self, q: ArrayLike, qd: ArrayLike, *references: Any, **named: Any) -> Array:
        """Efforts (..., n) in N m or N of states (..., n) and references, in their order or by name."""
        known = self._references
        if len(references) > len(known):
            raise TypeError(f"{self._who}: {len(references)} references, expected at most {len(known)}")
        given = dict(zip((r.name for r in known), references, strict=False))
        for name, value in named.items():
            if name not in {r.name for r in known}:
                nearest = did_you_mean(name, [r.name for r in known])
                raise TypeError(f"{self._who}: unknown reference {name!r}{nearest}")
            if name in given:
                raise TypeError(f"{self._who}: reference {name!r} is given twice")
            given[name] = value
        n = self.chain.n
        arrays = {
            "q": as_array(q, self._fail, "q", (n,), lead=True),
            "qd": as_array(qd, self._fail, "qd", (n,), lead=True),
        }
        for r in known:
            arrays[r.name] = self._read(r, given.get(r.name))
        tails = {"q": 1, "qd": 1} | {r.name: len(r.shape) for r in known}
        common_lead(self._fail, {name: x.shape[: x.ndim - tails[name]] for name, x in arrays.items()})
        tau: Array = np.asarray(self._law(self.chain, *arrays.values()))
        if not np.isfinite(tau).all():
            raise FloatingPointError(f"{self._who}: efforts of chain '{self.chain.name}' overflow")
        return tau

    def _read(self, reference: Reference, value: Any) -> Array:
        name, shape = reference.name, reference.shape
        if value is None:
            if reference.default is None:
                self._fail(f"{name} is missing: {reference.meaning}")
            return np.full(shape, reference.default)
        if shape == (4, 4):
            p, R = as_pose(value, self._fail, name, lead=True)
            lead = np.broadcast_shapes(R.shape[:-2], p.shape[:-1])
            pose = np.zeros((*lead, 4, 4))
            pose[..., :3, :3], pose[..., :3, 3], pose[..., 3, 3] = R, p, 1.0
            return pose
        return as_array(value, self._fail, name, shape, lead=True)

    def follow(self, reference: Callable[[float], Any]) -> Callable[[float, Array, Array], Array]:
        """Efforts along a motion, for `Chain.simulate`: ``arm.simulate(..., tau=control.follow(motion))``.

        Parameters
        ----------
        reference : callable
            Of the time in s: the first reference alone, a tuple of references in their order, or a dict by name.

        Returns
        -------
        tau : callable
            ``tau(t, q, qd)`` gives the efforts, (n,).

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> control = zv.control.ComputedTorque(arm, kp=400.0, kd=40.0)
        >>> run = arm.simulate(1.0, 1e-3, tau=control.follow(lambda t: [0.1, 0.2]))
        >>> print(run.q[-1].round(3))
        [0.1 0.2]
        """
        if not callable(reference):
            raise TypeError(f"follow: reference is {_show(reference)}, expected a function of the time")

        def tau(t: float, q: Array, qd: Array) -> Array:
            value = reference(t)
            if isinstance(value, Mapping):
                return self(q, qd, **value)
            return self(q, qd, *value) if isinstance(value, tuple) else self(q, qd, value)

        return tau

    def trace(self) -> TracedExpression:
        """The formula as a graph of elementary operations: counted, listed, written as C.

        Examples
        --------
        >>> import zveno as zv
        >>> control = zv.control.ComputedTorque(zv.robots.two_link(), kp=400.0, kd=40.0)
        >>> [x.name for x in control.trace().graph.inputs]
        ['q', 'qd', 'q_ref', 'qd_ref', 'qdd_ref']
        """

        def run(graph: _core.Graph, *arrays: Any) -> tuple[Any]:
            return (self._law(SymbolicModel(self.chain, graph), *arrays),)

        model = re.sub(r"\(.*?\)", "", self.chain.name)  # remarks
        word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self._who)
        name = re.sub(r"[^0-9A-Za-z]+", "_", f"{model}_{word}").strip("_").lower()
        arguments = ", ".join(x.name for x in self.inputs)
        gravity = ", ".join(map(repr, self.chain.gravity.tolist()))
        origin = {
            "model": self.chain.name,
            "joints": ", ".join(self.chain.joint_names),
            "gravity": f"{gravity} m/s^2, base axes",
            "controller": self._who,
            **{key: _text(value) for key, value in vars(self).items() if key != "chain" and not key.startswith("_")},
        }
        return trace_expression(
            run,
            self.inputs,
            [Argument("tau", (self.chain.n,), "joint efforts, N m or N")],
            name=name if name[:1].isalpha() else f"zv_{name}",
            title=f"{self._who}({self.chain.name})({arguments})",
            origin=origin,
            reference=self._random,
        )

    def _random(self, count: int, seed: int) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        rng = np.random.default_rng(seed)
        arrays = []
        for x in self.inputs:
            values = rng.uniform(-1.0, 1.0, (count, *x.shape))
            if x.shape == (4, 4):  # a rotation by a few tenths of a radian and a place
                turn = np.linalg.qr(np.eye(3) + 0.2 * values[:, :3, :3])[0]
                turn *= np.sign(np.einsum("kii->ki", turn))[:, None, :]
                values[:, :3, :3], values[:, 3] = turn, (0.0, 0.0, 0.0, 1.0)
            arrays.append(values)
        return tuple(arrays), (self(*arrays),)

    def c_source(self, **options: Any) -> str:
        """Portable C99 of the controller: see `TracedFunction.c_source`.

        Examples
        --------
        >>> import zveno as zv
        >>> control = zv.control.ComputedTorque(zv.robots.two_link(), kp=400.0, kd=40.0)
        >>> "two_link_computed_torque" in control.c_source()
        True
        """
        return self.trace().c_source(**options)

    def save(self, directory: Any, **options: Any) -> list[Any]:
        """Write the controller as C with header, self-test and CMake file: see `TracedFunction.save`.

        Examples
        --------
        >>> import tempfile, zveno as zv
        >>> control = zv.control.ComputedTorque(zv.robots.two_link(), kp=400.0, kd=40.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(path.suffix for path in control.save(folder))
        ['.c', '.c', '.h', '.md', '.txt']
        """
        return list(self.trace().save(directory, **options))

    def __repr__(self) -> str:
        return f"{self._who} of chain '{self.chain.name}': tau({', '.join(x.name for x in self.inputs)})"


def _text(value: Any) -> str:
    return np.array2string(value, separator=", ", threshold=40) if isinstance(value, np.ndarray) else str(value)


def as_gains(value: object, fail: Fail, what: str, n: int, *, square: bool = False) -> Array:
    """Gains >= 0: one for all, one for each, or (`square`) a symmetric matrix that is not negative; as n or n x n."""
    if np.ndim(value) == 0:  # type: ignore[arg-type]
        value = np.full(n, as_number(value, fail, what))
    gains = as_array(value, fail, what, *([(n,), (n, n)] if square else [(n,)]))
    if gains.ndim == 1 and gains.min(initial=0.0) < 0:
        fail(f"{what} has {gains.min():g}, expected numbers >= 0")
    if gains.ndim == 2:
        if not np.allclose(gains, gains.T, rtol=1e-9, atol=0):
            fail(f"{what} is not symmetric")
        if np.linalg.eigvalsh(gains).min() < -1e-12 * np.abs(gains).max():
            fail(f"{what} has the eigenvalue {np.linalg.eigvalsh(gains).min():g}, expected none below 0")
    return gains


# ---- arithmetic on numbers and symbols alike; leading dimensions are states


def scaled(gain: Any, x: Any) -> Any:
    """Gains, diagonal or a matrix, times vectors."""
    return gain * x if gain.ndim == 1 else times(gain, x)


def times(A: Any, x: Any) -> Any:
    """Matrices times vectors."""
    return (A @ x[..., None])[..., 0]


def transposed(A: Any) -> Any:
    return np.swapaxes(A, -1, -2)


def solve(A: Any, b: Any) -> Any:
    """x of A x = b, A symmetric and positive definite, by L D L' without pivots."""
    m = A.shape[-1]
    L: dict[tuple[int, int], Any] = {}
    d: list[Any] = []
    for j in range(m):
        pivot = A[..., j, j] - sum((L[j, k] * L[j, k] * d[k] for k in range(j)), start=_ZERO)
        d.append(pivot)
        for i in range(j + 1, m):
            L[i, j] = (A[..., i, j] - sum((L[i, k] * L[j, k] * d[k] for k in range(j)), start=_ZERO)) / pivot
    x = [b[..., i] for i in range(m)]
    for i in range(m):
        x[i] = x[i] - sum((L[i, k] * x[k] for k in range(i)), start=_ZERO)
    x = [x[i] / d[i] for i in range(m)]
    for i in reversed(range(m)):
        x[i] = x[i] - sum((L[k, i] * x[k] for k in range(i + 1, m)), start=_ZERO)
    return np.stack(x, axis=-1) if isinstance(x[0], np.ndarray) else np.array(x)


_ZERO: Final = 0.0
