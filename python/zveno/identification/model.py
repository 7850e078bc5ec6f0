"""Joint efforts as a linear function of what is to be identified: columns, the independent ones, their names."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .._check import Array
from ..errors import ModelWarning
from .terms import Coulomb, DriveInertia, Offset, Term, Viscous

if TYPE_CHECKING:
    from ..model import Chain
    from .base_parameters import BaseParameters

__all__ = ["LinearModel", "Reduction"]

Integers = NDArray[np.intp]

_EXTRA: Final = {DriveInertia: "rotor_inertia", Viscous: "friction", Coulomb: "coulomb", Offset: "offset"}
_DEPENDENT: Final = 1e-9  # part of a column that others do not give, below which it depends on them


@dataclass(frozen=True)
class Reduction:
    """Independent columns of a linear model: W = W[:, pivots] Y."""

    pivots: Integers
    Y: Array


class LinearModel:
    """tau = W(q, qd, qdd) p + known(q, qd, qdd); p are ten parameters of every link and the terms of joints.

    Parameters
    ----------
    chain : Chain
    terms : sequence of Term
    always : sequence of Term
        Those of the terms that have columns whether these depend on others or not.

    Attributes
    ----------
    names, units : tuple of str
        Of all columns: the parameters of each link in the order of `Chain.inertial_parameters`, then the terms.
    pivots : (r,) int array
        Independent columns.
    Y : (r, c) array
        Base parameters are Y p.
    active : list of (k,) int arrays
        For each joint, which base parameters its effort depends on.
    """

    def __init__(self, chain: Chain, terms: Sequence[Term] = (), always: Sequence[Term] = ()) -> None:
        self.chain, self.terms, self.always = chain, tuple(terms), tuple(always)
        n, joints = chain.n, chain.joint_names
        self.links = 10 * len(chain.links)
        extra: dict[str, list[str]] = {}
        for term in self.terms:
            if type(term) in _EXTRA:
                extra[_EXTRA[type(term)]] = list(joints if term.joints is None else term.joints)
        self.base = chain.base_parameters(extra=extra)
        names = [column.name for column in self.base.columns[: self.links]]
        units = [column.unit for column in self.base.columns[: self.links]]
        kinds = [0 if kind == "revolute" else 1 for kind in chain.joint_types]
        self.extra: list[tuple[Term, int]] = []  # term and joint of each column behind those of links
        for term in self.terms:
            for j in range(n):
                if term.joints is None or joints[j] in term.joints:
                    self.extra.append((term, j))
                    names.append(f"{getattr(term, 'name', term.symbol)}{j + 1}")
                    units.append(getattr(term, "unit", term.units[kinds[j]]))
        self.names, self.units = tuple(names), tuple(units)
        self._known = _remainder(chain, self.terms)
        self._reduce()

    def _reduce(self) -> None:
        reduction = independent_columns(self, self.base)
        self.pivots, self.Y = reduction.pivots.astype(np.intp), reduction.Y
        self._inertial = self.pivots[self.pivots < self.links]
        self._added = [self.extra[k - self.links] for k in self.pivots[self.pivots >= self.links].tolist()]
        # which entries are zero in every state: seen in a few random ones
        q, qd, qdd = self.states(8)
        W = self.base_columns(q, qd, qdd, np.ones_like(q))
        used = (W != 0).any(axis=0)  # (n, r)
        for k, (_, j) in enumerate(self._added, self.count - len(self._added)):
            used[:, k] = np.arange(self.chain.n) == j  # whatever the states are
        self.active = [np.flatnonzero(row) for row in used]
        sentences = dict(zip(self.base.names, self.base.combinations(), strict=True))
        self.combinations = tuple(sentences.get(self.names[k], self.names[k]) for k in self.pivots.tolist())
        self.base_names = tuple(self.names[k] for k in self.pivots.tolist())
        self.base_units = tuple(self.units[k] for k in self.pivots.tolist())

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies whose ten parameters are the first columns."""
        return self.chain.link_names

    @property
    def reach(self) -> float:
        """How large a body is, about, m."""
        links = self.chain.links
        return max(1e-3, float(sum(np.linalg.norm(link.position) for link in links)) / max(1, len(links)))

    @property
    def drives(self) -> int:
        """Joints with friction."""
        return self.chain.n

    def rates(self, q: Array, qd: Array) -> Array:
        """Rates (m, n) of what the efforts belong to."""
        return qd

    def parameters_of(self, mechanism: Any) -> Array:
        """Parameters (N, 10) of the bodies in a model of the same structure."""
        return np.asarray(mechanism.inertial_parameters)

    def signed(self) -> set[int]:
        """Columns whose values are never negative, besides bodies."""
        return {
            self.links + k
            for k, (term, _) in enumerate(self.extra)
            if isinstance(term, Viscous | Coulomb | DriveInertia)
        }

    def written(self, values: Array) -> Any:
        """The chain with these values of all columns; what a chain cannot hold is left out."""
        chain = self.chain
        changes: dict[str, dict[str, float]] = {}
        for k, (term, j) in enumerate(self.extra, self.links):
            key = {DriveInertia: "rotor_inertia", Viscous: "friction"}.get(type(term))
            if key is not None:
                changes.setdefault(chain.joint_names[j], {})[key] = max(0.0, float(values[k]))
        links = [link._with(**changes.get(link.joint_name, {})) for link in chain.links]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)  # the same doubts as about the model that was given
            return chain._with(links=links).with_inertial_parameters(values[: self.links].reshape(-1, 10))

    def states(self, count: int) -> tuple[Array, Array, Array]:
        """Random ones."""
        return random_states(self.chain.n, count)

    @property
    def count(self) -> int:
        return len(self.pivots)

    @property
    def needs_load(self) -> bool:
        return any(term.needs_load for term in self.terms)

    def columns(self, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> Array:
        """All columns W (m, n, c)."""
        Y = self.chain.regressor(q, qd, qdd)
        if not self.extra:
            return Y
        return np.concatenate([Y, self._terms(self.extra, q, qd, qdd, load)], axis=-1)

    def base_columns(self, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> Array:
        """The independent columns (m, n, r)."""
        Y = self.chain.regressor(q, qd, qdd)
        W = np.empty((*Y.shape[:-1], self.count))
        k = len(self._inertial)
        np.take(Y, self._inertial, axis=-1, out=W[..., :k], mode="clip")
        W[..., k:] = self._terms(self._added, q, qd, qdd, load)
        return W

    def joint_blocks(self, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> list[Array]:
        """For each joint the columns (m, k) that are `active`."""
        Y = self.chain.regressor(q, qd, qdd)
        k = len(self._inertial)
        added = self._term_values(self._added, q, qd, qdd, load)
        blocks = []
        for j, active in enumerate(self.active):
            block = np.empty((len(Y), len(active)))
            links = active[active < k]
            block[:, : len(links)] = np.take(Y[:, j], self._inertial[links], axis=1)
            for i, column in enumerate(active[active >= k].tolist(), len(links)):
                term, joint = self._added[column - k]
                block[:, i] = added[term][:, joint]
            blocks.append(block)
        return blocks

    def efforts(self, base: Array, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> Array:
        """Efforts (m, n) of base parameters, without those that are known."""
        k = len(self._inertial)
        theta = np.zeros(self.links)
        theta[self._inertial] = base[:k]
        tau = np.asarray(self.chain.regressor(q, qd, qdd) @ theta)
        values = self._term_values(self._added, q, qd, qdd, load)
        for (term, j), value in zip(self._added, base[k:].tolist(), strict=True):
            tau[:, j] += value * values[term][:, j]
        return tau

    def known(self, q: Array, qd: Array, qdd: Array) -> Array | float:
        """Efforts that nothing unknown takes part in: springs, rotors and friction not asked for, references."""
        tau: Array | float = 0.0
        if self._known is not None:
            empty, theta = self._known
            tau = empty.inverse_dynamics(q, qd, qdd) - empty.regressor(q, qd, qdd) @ theta
        for term, reference in self._references():
            tau = tau - reference * term.values(q, qd, qdd, None)
        return tau

    def _references(self) -> list[tuple[Term, Array]]:
        """Terms whose effort is not zero at zero, and where it is; zero for joints that have no column of theirs."""
        found = []
        for term in self.terms:
            if term.reference is not None:
                has = np.isin(np.arange(self.drives), [j for added, j in self._added if added is term])
                found.append((term, np.where(has, term.reference, 0.0)))
        return found

    def _terms(self, extra: Sequence[tuple[Term, int]], q: Array, qd: Array, qdd: Array, load: Array | None) -> Array:
        found = np.zeros((len(q), self.chain.n, len(extra)))
        values = self._term_values(extra, q, qd, qdd, load)
        for k, (term, j) in enumerate(extra):
            found[:, j, k] = values[term][:, j]
        return found

    def _term_values(
        self, extra: Sequence[tuple[Term, int]], q: Array, qd: Array, qdd: Array, load: Array | None
    ) -> dict[Term, Array]:
        return {term: term.values(q, qd, qdd, load) for term in dict.fromkeys(term for term, _ in extra)}

    def full_values(self, chain: Chain | None = None) -> Array:
        """Values (c,) of all columns in a chain: terms that a chain cannot hold are zero."""
        chain = self.chain if chain is None else chain
        extra = [
            chain.rotor_inertia[j]
            if isinstance(term, DriveInertia)
            else chain.friction[j]
            if isinstance(term, Viscous)
            else 0.0
            for term, j in self.extra
        ]
        return np.concatenate([chain.inertial_parameters.ravel(), extra])


def combination_text(row: Array, names: Sequence[str], digits: int = 4, most: int = 12) -> str:
    """Names with their factors; small ones are left out, the rest after `most` counted."""
    size = np.abs(row).max(initial=0.0)
    used = [k for k in range(len(row)) if abs(row[k]) > 1e-9 * size]
    text = ""
    for k in used[:most]:
        factor = abs(row[k])
        sign = ("- " if row[k] < 0 else "") if not text else (" - " if row[k] < 0 else " + ")
        text += sign + ("" if abs(factor - 1) < 1e-9 else f"{factor:.{digits}g} ") + names[k]
    return text + (f" + {len(used) - most} more" if len(used) > most else "")


def _remainder(chain: Chain, terms: Sequence[Term]) -> tuple[Chain, Array] | None:
    """The chain with what the terms replace set to zero, if anything is left besides its links."""
    changes: dict[str, dict[str, float]] = {link.joint_name: {} for link in chain.links}
    for term in terms:
        key = {DriveInertia: "rotor_inertia", Viscous: "friction"}.get(type(term))
        for name in chain.joint_names if key and term.joints is None else term.joints or () if key else ():
            changes[name][str(key)] = 0.0
    links = [link._with(**changes[link.joint_name]) if changes[link.joint_name] else link for link in chain.links]
    if not any(link.rotor_inertia or link.friction or link.stiffness for link in links):
        return None
    return chain._with(links=links), chain.inertial_parameters.ravel()


def random_states(n: int, count: int) -> tuple[Array, Array, Array]:
    """q, qd and qdd, (count, n) each."""
    q, qd, qdd = np.random.default_rng(5).uniform(-2.0, 2.0, (3, count, n))
    return q, 1.5 * qd, 2.0 * qdd


def independent_columns(model: LinearModel, base: BaseParameters) -> Reduction:
    """Base parameters of links and of terms that they know, and what is independent of them among the other terms."""
    width = len(model.names)
    known = {
        model.names[k]: k for k, (term, _) in enumerate(model.extra, model.links) if type(term) in _EXTRA
    }  # not of terms of the user's own, whatever they are called
    places = [*range(model.links), *(known[column.name] for column in base.columns[model.links :])]
    pivots = [places[k] for k in base.pivots.tolist()]
    Y = np.zeros((len(pivots), width))
    Y[:, places] = base.Y
    rest = [k for k in range(model.links, width) if k not in places]
    if rest:
        rng = np.random.default_rng(6)
        q, qd, qdd = model.states(max(24, -(-4 * width // model.chain.n)))
        qd[::2] *= 10.0 ** rng.uniform(-4.0, 0.0, (len(qd[::2]), 1))  # some terms are there at low rates only
        W = model.columns(q, qd, qdd, rng.normal(size=q.shape)).reshape(-1, width)
        size = np.linalg.norm(W, axis=0)
        size[size == 0] = 1.0
        W /= size
        Q = np.linalg.qr(W[:, pivots])[0]
        for k in rest:
            if model.extra[k - model.links][0] in model.always:
                pivots.append(k)
                Y = np.concatenate([Y, np.eye(1, width, k)])
                continue
            left = W[:, k] - Q @ (Q.T @ W[:, k])
            left -= Q @ (Q.T @ left)
            if (length := float(np.linalg.norm(left))) > _DEPENDENT:
                Q = np.column_stack([Q, left / length])
                pivots.append(k)
                Y = np.concatenate([Y, np.eye(1, width, k)])
            else:
                x = np.linalg.lstsq(W[:, pivots], W[:, k], rcond=None)[0]
                x[np.abs(x) < 1e-9] = 0.0
                Y[:, k] = x / size[pivots] * size[k]
    order = np.argsort(pivots)
    return Reduction(np.array(pivots, dtype=np.intp)[order], Y[order])
