"""Estimates that follow the motion: a constant number of operations for each sample, in Python or in C on a rig."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, _show, as_amount, as_array, as_number, failing
from ..codegen.expression import SymbolicModel, TracedExpression, trace_expression
from ..codegen.graph import Argument
from .model import LinearModel
from .terms import Coulomb, DriveInertia, Offset, Viscous, as_terms

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["OnlineEstimator"]

_KNOWN = (Viscous, Coulomb, Offset, DriveInertia)


class OnlineEstimator:
    """Recursive least squares of base parameters in square-root form.

    The state is the triangular factor R of the information and z = R p: ``|R p - z|^2`` is what all samples so far say.
    A sample adds its rows by plane rotations, which keep R triangular and lose no digits; old samples fade with
    `forgetting`. Dry friction is qd / sqrt(qd^2 + smooth^2), without a decision.

    Parameters
    ----------
    chain : Chain
        Its parameters are where the estimate begins.
    friction : words or terms, optional
        Some of ``viscous``, ``coulomb``, ``offset``, ``drive_inertia``.
    noise : float or (n,) array, N m or N
        Standard deviation of measured efforts.
    forgetting : float
        Factor of old information for each sample; 1 keeps it all, 1 - 1/k remembers about k samples. What the motion
        does not show is forgotten too: do not update while nothing moves.
    doubt : float
        How far the first values may be off, in their sizes.

    Attributes
    ----------
    names, units : tuple of str
        Of the base parameters.
    size : int
        Of the state.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> heavy = arm.with_inertial_parameters(1.2 * arm.inertial_parameters)
    >>> estimator = zv.identification.OnlineEstimator(arm, friction=None, noise=0.01)
    >>> state = estimator.start()
    >>> rng = np.random.default_rng(0)
    >>> for _ in range(200):
    ...     q, qd, qdd = rng.uniform(-2, 2, (3, 2))
    ...     state = estimator.update(state, q, qd, qdd, heavy.inverse_dynamics(q, qd, qdd))
    >>> want = arm.base_parameters().minimal(heavy.inertial_parameters.ravel())
    >>> bool(np.allclose(estimator.values(state), want, atol=1e-4))
    True
    """

    def __init__(
        self,
        chain: Chain,
        *,
        friction: Any = ("viscous", "coulomb"),
        noise: ArrayLike = 1.0,
        forgetting: float = 1.0,
        doubt: float = 10.0,
    ) -> None:
        fail = failing("OnlineEstimator")
        if not isinstance(chain, _core.Chain):
            raise TypeError(f"OnlineEstimator: chain is {_show(chain)}, expected a Chain")
        terms = as_terms(friction, fail, chain.joint_names)
        for term in terms:
            if not isinstance(term, _KNOWN):
                fail(f"friction has {type(term).__name__}, expected viscous, coulomb, offset or drive_inertia")
        self.chain = chain
        self._model = LinearModel(chain, terms)
        given = np.full(chain.n, noise) if np.ndim(noise) == 0 else noise
        self.noise = as_array(given, fail, "noise", (chain.n,))
        if self.noise.min() <= 0:
            fail(f"noise has {self.noise.min():g}, expected numbers > 0")
        self.forgetting = as_number(forgetting, fail, "forgetting")
        if not 0 < self.forgetting <= 1:
            fail(f"forgetting is {self.forgetting:g}, expected a number above 0, at most 1")
        self.doubt = as_amount(doubt, fail, "doubt", positive=True)
        self.names, self.units = self._model.base_names, self._model.base_units
        r = self._model.count
        self._upper = np.triu_indices(r)
        self.size = len(self._upper[0]) + r

    def start(self) -> Array:
        """The state before the first sample, (size,): the model's values, hardly believed.

        Examples
        --------
        >>> import zveno as zv
        >>> estimator = zv.identification.OnlineEstimator(zv.robots.two_link(), friction=None, noise=0.01)
        >>> estimator.values(estimator.start()).shape
        (6,)
        """
        model = self._model
        p = model.Y @ model.full_values()
        theta = np.abs(self.chain.inertial_parameters)
        mass, inertia = theta[:, 0], theta[:, [4, 7, 9]].max(axis=1)
        length = np.sqrt(inertia / np.where(mass > 0, mass, 1.0))
        sizes = np.column_stack([mass, *3 * [mass * length], *6 * [inertia]]).ravel()
        spread = np.abs(model.Y[:, : model.links]) @ sizes
        spread = np.where(spread > 0, spread, np.maximum(np.abs(p), max(1.0, float(spread.max(initial=0.0)))))
        R = np.diag(1 / (self.doubt * spread))
        return np.concatenate([R[self._upper], R @ p])

    def update(self, state: ArrayLike, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike) -> Array:
        """The state after one sample.

        Parameters
        ----------
        state : (size,) array
        q, qd, qdd, tau : (n,) array

        Returns
        -------
        state : (size,) array

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> estimator, (q, qd, qdd) = zv.identification.OnlineEstimator(arm, friction=None, noise=0.01), np.ones((3, 2))
        >>> state = estimator.update(estimator.start(), q, qd, qdd, arm.inverse_dynamics(q, qd, qdd))
        >>> bool((estimator.deviations(state) <= estimator.deviations(estimator.start())).all())
        True
        """
        fail, n = failing("OnlineEstimator.update"), self.chain.n
        given = as_array(state, fail, "state", (self.size,))
        arrays = [as_array(x, fail, name, (n,)) for x, name in ((q, "q"), (qd, "qd"), (qdd, "qdd"), (tau, "tau"))]
        with np.errstate(all="ignore"):  # looked at below
            new, _ = self._law(self.chain, None, given, *arrays)
        diagonal = np.asarray(new[: len(self._upper[0])])[self._upper[0] == self._upper[1]]
        if not np.isfinite(new).all() or not diagonal.all():
            fail("nothing is left of what the state knew about some parameters: do not update while nothing moves")
        return np.asarray(new)

    def values(self, state: ArrayLike) -> Array:
        """Base parameters (r,) of a state.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> estimator = zv.identification.OnlineEstimator(arm, friction=None, noise=0.01)
        >>> bool(np.allclose(estimator.values(estimator.start()), arm.base_parameters().values))
        True
        """
        R, z = self._unpacked(state)
        return np.asarray(np.linalg.solve(R, z), dtype=np.float64)

    def deviations(self, state: ArrayLike) -> Array:
        """Their standard deviations (r,), if the noise is as given and white.

        Examples
        --------
        >>> import zveno as zv
        >>> estimator = zv.identification.OnlineEstimator(zv.robots.two_link(), friction=None, noise=0.01)
        >>> bool((estimator.deviations(estimator.start()) > 0).all())
        True
        """
        R, _ = self._unpacked(state)
        return np.asarray(np.linalg.norm(np.linalg.inv(R), axis=1))

    def _unpacked(self, state: ArrayLike) -> tuple[Array, Array]:
        given = as_array(state, failing("OnlineEstimator"), "state", (self.size,))
        r = self._model.count
        R = np.zeros((r, r))
        R[self._upper] = given[: self.size - r]
        if not np.diag(R).all():
            failing("OnlineEstimator")("state knows nothing about some parameters; begin with start()")
        return R, given[self.size - r :]

    def _law(self, model: Any, empty: Any, state: Any, q: Any, qd: Any, qdd: Any, tau: Any) -> tuple[Any, Any]:
        """New state and parameters; the same text for numbers and for symbols."""
        linear, r, n = self._model, self._model.count, self.chain.n
        k = len(linear._inertial)
        Y = model.regressor(q, qd, qdd)[:, linear._inertial]
        rest: Any = 0.0
        if linear._known is not None:
            other, theta = linear._known
            other = other if empty is None else empty
            rest = other.inverse_dynamics(q, qd, qdd) - other.regressor(q, qd, qdd) @ theta
        y = tau - rest
        fade = np.sqrt(self.forgetting)
        rows: list[Any] = []  # of R, with z behind
        place = 0
        for i in range(r):
            row = state[place : place + r - i] * fade
            rows.append(np.append(row, state[self.size - r + i] * fade))
            place += r - i
        for j in range(n):
            weight = 1 / float(self.noise[j])
            entries: dict[int, Any] = {}
            for c in linear.active[j].tolist():
                if c < k:
                    entries[c] = Y[j, c] * weight
                else:
                    term, joint = linear._added[c - k]
                    if joint == j:
                        entries[c] = _value(term, qd[j], qdd[j]) * weight
            first = min(entries) if entries else r
            a = np.array([entries.get(c, 0.0) for c in range(first, r)] + [y[j] * weight], dtype=rows[0].dtype)
            for i in range(first, r):  # the rotation that takes a[i] into R
                x, b = rows[i][0], a[0]
                if isinstance(b, float) and b == 0.0:  # a structural zero
                    a = a[1:]
                    continue
                length = np.sqrt(x * x + b * b)
                c, s = x / length, b / length
                row, left = rows[i], a
                rows[i] = row * c + left * s
                a = (left * c - row * s)[1:]
        p: list[Any] = [0.0] * r
        for i in reversed(range(r)):
            total = rows[i][-1]
            for m in range(i + 1, r):
                total = total - rows[i][m - i] * p[m]
            p[i] = total / rows[i][0]
        new = np.concatenate([*(row[:-1] for row in rows), np.array([row[-1] for row in rows])])
        return new, np.array(p)

    def trace(self) -> TracedExpression:
        """The update as a graph of elementary operations: counted, listed, written as C.

        Examples
        --------
        >>> import zveno as zv
        >>> estimator = zv.identification.OnlineEstimator(zv.robots.two_link(), friction=None, noise=0.01)
        >>> [x.name for x in estimator.trace().graph.inputs]
        ['state', 'q', 'qd', 'qdd', 'tau']
        """
        n, r = self.chain.n, self._model.count
        inputs = (
            Argument("state", (self.size,), "factor by rows, then z; begin with OnlineEstimator.start()"),
            Argument("q", (n,), "joint coordinates, rad or m"),
            Argument("qd", (n,), "joint rates, rad/s or m/s"),
            Argument("qdd", (n,), "joint accelerations, rad/s^2 or m/s^2"),
            Argument("tau", (n,), "measured efforts, N m or N"),
        )
        outputs = (
            Argument("new_state", (self.size,), "for the next sample"),
            Argument("parameters", (r,), "base parameters: " + ", ".join(self.names)),
        )

        def run(graph: _core.Graph, *arrays: Any) -> tuple[Any, Any]:
            empty = None if self._model._known is None else SymbolicModel(self._model._known[0], graph)
            return self._law(SymbolicModel(self.chain, graph), empty, *arrays)

        name = re.sub(r"[^0-9A-Za-z]+", "_", f"{self.chain.name}_online_estimator").strip("_").lower()
        return trace_expression(
            run,
            inputs,
            outputs,
            name=name if name[:1].isalpha() else f"zv_{name}",
            title=f"OnlineEstimator({self.chain.name})(state, q, qd, qdd, tau)",
            origin={
                "model": self.chain.name,
                "joints": ", ".join(self.chain.joint_names),
                "noise": np.array2string(self.noise, separator=", "),
                "forgetting": repr(self.forgetting),
                "parameters": ", ".join(self.names),
            },
            reference=self._random,
        )

    def _random(self, count: int, seed: int) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        rng = np.random.default_rng(seed)
        n, begin = self.chain.n, self.start()
        states, results = [], []
        inputs = rng.uniform(-1.0, 1.0, (4, count, n))
        for k in range(count):
            states.append(begin)
            results.append(self._law(self.chain, None, begin, *inputs[:, k]))
            begin = np.asarray(results[-1][0])
        return (np.array(states), *inputs), (np.array([x for x, _ in results]), np.array([x for _, x in results]))

    def c_source(self, **options: Any) -> str:
        """Portable C99 of one update: see `TracedFunction.c_source`.

        Examples
        --------
        >>> import zveno as zv
        >>> estimator = zv.identification.OnlineEstimator(zv.robots.two_link(), friction=None, noise=0.01)
        >>> "two_link" in estimator.c_source()
        True
        """
        return self.trace().c_source(**options)

    def save(self, directory: Any, **options: Any) -> list[Any]:
        """Write the update as C with header, self-test and CMake file: see `TracedFunction.save`.

        Examples
        --------
        >>> import tempfile, zveno as zv
        >>> estimator = zv.identification.OnlineEstimator(zv.robots.two_link(), friction=None, noise=0.01)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sorted(path.suffix for path in estimator.save(folder))
        ['.c', '.c', '.h', '.md', '.txt']
        """
        return list(self.trace().save(directory, **options))

    def __repr__(self) -> str:
        return (
            f"OnlineEstimator of chain '{self.chain.name}': {self._model.count} base parameters, state of {self.size}"
        )


def _value(term: Any, qd: Any, qdd: Any) -> Any:
    if isinstance(term, Viscous):
        return qd
    if isinstance(term, DriveInertia):
        return qdd
    if isinstance(term, Coulomb):
        smooth = term.smooth or 0.01
        return qd / np.sqrt(qd * qd + smooth * smooth)
    return 1.0
