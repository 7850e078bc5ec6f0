"""Base parameters: the combinations of inertial parameters that motion and efforts reveal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, _show, as_amount, as_array, as_choice, as_list, did_you_mean, frozen
from ..errors import UndecidedError
from ..inertial import (
    COLUMN,
    MOMENTS_OF_TENSOR,
    ORDERS,
    POWERS,
    ROW,
    SYMBOLS,
    TENSOR_OF_MOMENTS,
    UNITS,
    frame_change,
)
from .calls import TOLERANCE as TOLERANCE
from .span import Joint, Rows, row_space

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["BaseParameters", "Column", "Gap", "found"]

DIRECT: Final = 6  # joints up to which the matrix of the basis set is kept as it is
_NOISE: Final = 1e-14  # of rounding
GREY: Final = 1e3  # remainders closer to the tolerance than this factor are not decided upon
EXTRAS: Final = ("rotor_inertia", "friction", "coulomb", "offset", "stiffness", "gravity")
_EXTRA_SYMBOLS: Final = {"rotor_inertia": "Ia", "friction": "Fv", "coulomb": "Fc", "offset": "F0", "stiffness": "k"}
_EXTRA_UNITS: Final = {
    "rotor_inertia": ("kg m^2", "kg"),
    "friction": ("N m s/rad", "N s/m"),
    "coulomb": ("N m", "N"),
    "offset": ("N m", "N"),
    "stiffness": ("N m/rad", "N/m"),
}
# in which order columns of a link are tried: inertias, first moments, mass
_PRIORITY: Final = {"tensor": (4, 5, 6, 7, 8, 9, 1, 2, 3, 0), "moments": tuple(range(10))}
_DOUBLE: Final = np.where(ROW == COLUMN, 1.0, 2.0)


class Gap(NamedTuple):
    """How clear the rank is: the smallest number taken for something and the largest taken for zero, relative to 1."""

    kept: float
    dropped: float


class _Doubles:
    """Spans by singular values, with a record of what was kept and dropped."""

    def __init__(self, tolerance: float, who: str) -> None:
        self.tolerance, self.who = tolerance, who
        self.kept, self.dropped = 1.0, 0.0

    def decide(self, value: float, where: str) -> bool:
        """Whether a remainder is something."""
        low, high = max(self.tolerance / GREY, _NOISE), min(self.tolerance * GREY, float(np.sqrt(self.tolerance)))
        if low < value < high:
            raise UndecidedError(
                f"{self.who}: at {where} a direction has the relative size {value:.2g}, too near to the tolerance "
                f"{self.tolerance:g} to say whether it is there; geometry that is only nearly special does this. Make "
                f"it exact, or set tolerance below {value / GREY:.0e} to count such directions, above "
                f"{value * GREY:.0e} to leave them out",
                where,
                value,
                self.tolerance,
            )
        if value >= self.tolerance:
            self.kept = min(self.kept, value)
            return True
        self.dropped = max(self.dropped, value)
        return False

    def span(self, rows: Array, what: str) -> Array:
        if not len(rows):
            return rows
        _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
        if not sizes[0] > 0:
            return rows[:0]
        ratios = (sizes / sizes[0]).tolist()
        rank = 0
        for ratio in ratios:  # they descend
            if not self.decide(ratio, what):
                break
            rank += 1
        return np.asarray(basis[:rank])

    def pivots(self, columns: Array, rank: int) -> list[int]:
        """The first independent columns of a matrix of this rank; columns that are hardly so come after all others."""
        found: list[int] = []
        basis = np.zeros((rank, len(columns)))
        sizes = np.sqrt((columns * columns).sum(axis=0))
        smallest = self.tolerance * GREY * float(sizes.max(initial=0.0))
        units = columns / np.where(sizes > 0, sizes, 1.0)
        for c in range(columns.shape[1]):
            if len(found) == rank:
                return found
            if sizes[c] <= smallest:
                continue
            left = units[:, c]
            known = basis[: len(found)]
            for _ in range(2):
                left = left - (known @ left) @ known
            remainder = float(np.sqrt(left @ left))
            if remainder > self.tolerance * GREY:
                self.kept = min(self.kept, remainder)
                basis[len(found)] = left / remainder
                found.append(c)
        while len(found) < rank:  # the rank is known: take what stands out most
            known = basis[: len(found)]
            left = columns - known.T @ (known @ columns)
            c = int(np.argmax((left * left).sum(axis=0)))
            basis[len(found)] = left[:, c] / np.sqrt(left[:, c] @ left[:, c])
            found.append(c)
        return found


class Certificate(NamedTuple):
    """What rational arithmetic says: whether it agrees, how many inertial parameters, their columns, in words."""

    agrees: bool
    rank: int | None
    pivots: tuple[int, ...]
    text: str


class Column(NamedTuple):
    """A column of Y: a parameter of a link or of a joint."""

    name: str
    symbol: str
    of: str  # link, or joint
    unit: str


class BaseParameters:
    """The combinations ``Y p`` of parameters p that efforts depend on, as few as possible.

    With the regressor W of all parameters, tau = W p = W[:, pivots] (Y p): the columns of the pivots are independent,
    the others are combinations of them, W = W[:, pivots] Y.

    Attributes
    ----------
    chain : Chain
    parameters : {"tensor", "moments"}
        What p is: ten numbers for each link, in the order of `Chain.links`, then those of `extra`.
    columns : tuple of Column
        Of each element of p: name, symbol, link or joint, unit.
    pivots : (count,) array of int
        Columns of Y that are the identity.
    Y : (count, len(columns)) array
    per_link : tuple of int
        How many each moving link adds, in the order of joints.
    gap : Gap
        How clear the rank is.
    tolerance : float
    """

    chain: Chain
    parameters: str
    columns: tuple[Column, ...]
    pivots: Any
    Y: Array
    per_link: tuple[int, ...]
    gap: Gap
    tolerance: float

    def __init__(
        self, chain: Chain, plan: _Plan, pivots: Any, Y: Array, gap: Gap, tolerance: float, gravities: Array
    ) -> None:
        self._gravities = gravities
        self.chain, self.parameters, self.tolerance, self.gap = chain, plan.parameters, tolerance, gap
        self.columns = plan.columns
        self._plan = plan
        pivots.setflags(write=False)
        self.pivots, self.Y = pivots, frozen(Y)
        inertial = pivots[pivots < plan.width] // 10
        counts = np.bincount(inertial, minlength=len(chain.links))
        per = dict.fromkeys((link.name for link in chain.links if link.joint != "fixed"), 0)
        for index, count in enumerate(counts.tolist()):
            mover = plan.movers[index]
            if mover is not None:
                per[mover] += count
        self.per_link = tuple(per.values())

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.pivots)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the pivots: what base parameters are called."""
        return tuple(self.columns[i].name for i in self.pivots.tolist())

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the base parameters."""
        return tuple(self.columns[i].unit for i in self.pivots.tolist())

    @cached_property
    def standard(self) -> Array:
        """The parameters p of the model itself, (len(columns),)."""
        return frozen(self._plan.values(self.chain))

    @property
    def values(self) -> Array:
        """Base parameters of the model itself, (count,)."""
        return np.asarray(self.Y @ self.standard)

    def minimal(self, full: ArrayLike | None = None) -> Array:
        """Base parameters of all parameters: ``Y @ full``.

        Parameters
        ----------
        full : (..., len(columns)) array, or (N, 10) without extra columns
            Default: those of the model.

        Returns
        -------
        base : (..., count) array

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> bp = arm.base_parameters()
        >>> bool(np.allclose(bp.minimal(arm.inertial_parameters.ravel()), bp.values))
        True
        """
        if full is None:
            return self.values
        shape = np.shape(full)
        if self._table and shape[-2:] == self._table[0]:
            full = np.reshape(full, (*shape[:-2], -1))
        p = as_array(full, self._fail("minimal"), "full", (len(self.columns),), lead=True)
        return np.asarray(p @ self.Y.T)

    def full(self, base: ArrayLike, near: ArrayLike | None = None) -> Array:
        """All parameters with these base parameters: the same efforts in every motion.

        Parameters
        ----------
        base : (count,) array
        near : (len(columns),) array, or (N, 10) without extra columns, optional
            Of all such parameters those nearest to these, lengths measured in the size of the mechanism. Default:
            zero but for the pivots, which are the base parameters; no body need have such parameters.

        Returns
        -------
        full : (len(columns),) array

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> bp = zv.robots.two_link().base_parameters()
        >>> bool(np.allclose(bp.minimal(bp.full(bp.values)), bp.values))
        True
        """
        fail = self._fail("full")
        b = as_array(base, fail, "base", (self.count,))
        if near is None:
            p = np.zeros(len(self.columns))
            p[self.pivots] = b
            return p
        start = as_array(near, fail, "near", (len(self.columns),), *self._table).reshape(-1)
        scale = self._plan.scale  # parameters are measured in these
        Y = self.Y * scale
        step, *_ = np.linalg.lstsq(Y, b - self.Y @ start, rcond=None)
        return np.asarray(start + step * scale)

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, velocity: float = 0.0) -> Array:
        """Regressor of the base parameters: efforts are ``regressor(q, qd, qdd) @ base``.

        Parameters
        ----------
        q, qd, qdd : (..., n) array
        velocity : float, rad/s or m/s
            Coulomb columns are ``tanh(qd / velocity)``; 0: the sign of qd.

        Returns
        -------
        W : (..., n, count) array
            With a measured wrench on the base its six rows come after those of the joints.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> bp, (q, qd, qdd) = arm.base_parameters(), np.ones((3, 2))
        >>> bool(np.allclose(bp.regressor(q, qd, qdd) @ bp.values, arm.inverse_dynamics(q, qd, qdd)))
        True
        """
        return self._plan.regressor(self.chain, q, qd, qdd, velocity, self.pivots)

    def full_regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, *, velocity: float = 0.0) -> Array:
        """Regressor of all parameters, those of `columns`: `regressor` is its columns `pivots`.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> bp, (q, qd, qdd) = zv.robots.two_link().base_parameters(), np.ones((3, 2))
        >>> bool(np.allclose(bp.full_regressor(q, qd, qdd)[:, bp.pivots], bp.regressor(q, qd, qdd)))
        True
        """
        return self._plan.regressor(self.chain, q, qd, qdd, velocity, None)

    @cached_property
    def null_space(self) -> Array:
        """Directions of p that change no effort, (len(columns) - count, len(columns)); one per dependent column."""
        others = np.setdiff1d(np.arange(len(self.columns)), self.pivots)
        N = np.zeros((len(others), len(self.columns)))
        N[np.arange(len(others)), others] = 1.0
        N[:, self.pivots] = -self.Y[:, others].T
        return frozen(N)

    @cached_property
    def certificate(self) -> Certificate:
        """The same decisions in rational arithmetic, where the geometry has rational numbers; extra columns left out.

        Rotations by right angles, and others with rational elements, count as exact, lengths as they are printed.
        """
        from .exact import InexactError, echelon, exact_rows

        plan = self._plan
        try:
            _, R = exact_rows(
                self.chain,
                plan.geometry(self.chain, 1.0),
                plan.order,
                self._gravities,
                self.parameters,
                plan.frames,
                efforts=plan.efforts,
                wrench=plan.wrench,
            )
        except InexactError as error:
            return Certificate(False, None, (), f"no certificate: {error}")
        order = [c for c in plan.column_order() if c < plan.width]
        _, pivots = echelon(R, order)
        exact = tuple(sorted(pivots))
        agrees = exact == tuple(self.pivots[self.pivots < plan.width].tolist())
        text = "the same pivots" if agrees else "other pivots than those found with floating-point numbers"
        return Certificate(
            agrees, len(exact), exact, f"in rational arithmetic: {len(exact)} inertial parameters, {text}"
        )

    def identifiable(self) -> dict[str, str]:
        """Of every column: "alone", "combined" with others, or "none", it has no effect.

        Examples
        --------
        >>> import zveno as zv
        >>> bp = zv.robots.two_link().base_parameters()
        >>> sorted(set(bp.identifiable().values()))
        ['alone', 'combined', 'none']
        """
        effect = np.abs(self.Y) > 0
        alone = effect.sum(axis=1) == 1
        words = {}
        for i, column in enumerate(self.columns):
            rows = np.flatnonzero(effect[:, i])
            words[column.name] = "none" if not len(rows) else "alone" if alone[rows].all() else "combined"
        return words

    def equivalent(self, other: BaseParameters, tolerance: float = 1e-9) -> bool:
        """Whether another set is a combination of this one and the other way round.

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.puma560()
        >>> arm.base_parameters().equivalent(arm.base_parameters(method="sampling"))
        True
        """
        if other.Y.shape != self.Y.shape:
            return False
        back = other.Y[:, self.pivots] @ self.Y
        return bool(np.abs(back - other.Y).max(initial=0.0) <= tolerance * max(1.0, np.abs(other.Y).max(initial=0.0)))

    def combinations(self, digits: int = 6) -> tuple[str, ...]:
        """Each base parameter as one writes it: ``"Ixx1 + Izz1 + 0.2 Sx1"``.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.robots.two_link().base_parameters(parameters="moments").combinations()[0]
        'Ixx1 + Izz1 + m2'
        """
        return tuple(_sentence(row, self.columns, digits) for row in self._ordered)

    def latex(self, digits: int = 6) -> str:
        """The combinations as an ``align*`` environment.

        Examples
        --------
        >>> import zveno as zv
        >>> zv.robots.two_link().base_parameters().latex().count("{align*}")
        2
        """
        lines = []
        for pivot, row in zip(self.pivots.tolist(), self._ordered, strict=True):
            text = _sentence(row, self.columns, digits, latex=True)
            lines.append(rf"\tilde{{{_latex_name(self.columns[pivot].name)}}} &= {text}")
        return "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"

    @property
    def _ordered(self) -> list[list[tuple[int, float]]]:
        """The elements of each row, the pivot first; without massless welded links, mere frames."""
        rows = []
        for pivot, row in zip(self.pivots.tolist(), self.Y, strict=True):
            rest = [i for i in np.flatnonzero(row).tolist() if i != pivot and i // 10 not in self._plan.frames_only]
            rows.append([(i, float(row[i])) for i in (pivot, *rest)])
        return rows

    @property
    def _table(self) -> tuple[tuple[int, int], ...]:
        return ((len(self.columns) // 10, 10),) if len(self.columns) == self._plan.width else ()

    def _fail(self, method: str) -> Any:
        def fail(text: str) -> NoReturn:
            raise ValueError(f"BaseParameters.{method}: {text} for model '{self.chain.name}'")

        return fail

    def __len__(self) -> int:
        return self.count

    def __str__(self) -> str:
        width = max((len(name) for name in self.names), default=0)
        lines = [f"{name:>{width}}: {text}" for name, text in zip(self.names, self.combinations(), strict=True)]
        used = sorted({i // 10 for row in self._ordered for i, _ in row if i < self._plan.width})
        legend = ", ".join(f"{i + 1} {self.chain.links[i].name}" for i in used)
        return "\n".join([*lines, f"links: {legend}"])

    def __repr__(self) -> str:
        per = ", ".join(map(str, self.per_link))
        more = self.count - sum(self.per_link)
        text = f"{self.count} of {len(self.columns)}, per link {per}" + (f", and {more} others" if more else "")
        return f"BaseParameters of '{self.chain.name}': {text}"

    def _repr_html_(self) -> str:
        from .._html import html_table

        rows = list(zip(self.names, self.combinations(), self.units, strict=True))
        return html_table(repr(self), rows, ("", "combination", "unit"))


def _sentence(row: Sequence[tuple[int, float]], columns: Sequence[Column], digits: int, latex: bool = False) -> str:
    """Elements with the same factor and symbol are put in brackets: 0.0225 (m3 + m4)."""
    groups: dict[tuple[str, str], list[str]] = {}
    for i, factor in row:
        column = columns[i]
        name = _latex_name(column.name) if latex else column.name
        groups.setdefault((f"{factor:.{digits}g}", column.symbol), []).append(name)
    text = ""
    for (number, _), names in groups.items():
        size, minus = number.lstrip("-"), number.startswith("-")
        sign = ("-" if minus else "") if not text else (" - " if minus else " + ")
        inner = " + ".join(names)
        if len(names) > 1 and (size != "1" or minus):
            inner = f"({inner})"
        if latex and "e" in size:
            mantissa, _, power = size.partition("e")
            size = rf"{mantissa} \cdot 10^{{{int(power)}}}"
        gap = r"\, " if latex else " "
        text += sign + (inner if size == "1" else f"{size}{gap}{inner}")
    return text


def _latex_name(name: str) -> str:
    head = name.rstrip("0123456789,")
    tail = name[len(head) :]
    letter, rest = head[:1], head[1:]
    return f"{letter}_{{{rest}{',' if rest and tail else ''}{tail}}}" if rest or tail else letter


class _Plan:
    """Columns, their order and scale, frames and options of one analysis."""

    def __init__(
        self, chain: Chain, parameters: str, frames: Any, extra: Any, coupled: Any, wrench: bool, efforts: bool
    ) -> None:
        links = chain.links
        self.parameters, self.efforts, self.wrench = parameters, efforts, wrench
        self.width = 10 * len(links)
        index = {link.name: i for i, link in enumerate(links)}
        self.order = _parents_first([index.get(link.parent or "", -1) for link in links])
        self.place = {i: k for k, i in enumerate(self.order)}
        self.movers: list[str | None] = [None] * len(links)
        for i in self.order:
            up = index.get(links[i].parent or "", -1)
            self.movers[i] = links[i].name if links[i].joint != "fixed" else self.movers[up] if up >= 0 else None
        self.frames_only = {
            i for i, link in enumerate(links) if link.joint == "fixed" and not link.mass and not link.inertia.any()
        }
        self.up = [index.get(link.parent or "", -1) for link in links]
        offsets = np.sort([float(np.sqrt(link.position @ link.position)) for link in links])
        offsets = offsets[offsets > 0]
        self.length = float(offsets[len(offsets) // 2]) if len(offsets) else 1.0
        self.frames = frames
        names = [
            Column(f"{symbol}{i + 1}", symbol, link.name, unit)
            for i, link in enumerate(links)
            for symbol, unit in zip(SYMBOLS[parameters], UNITS[parameters], strict=True)
        ]
        scale = [self.length**power for power in POWERS[parameters]] * len(links)
        gravity = float(np.sqrt(chain.gravity @ chain.gravity)) or 1.0
        # (what, joint or pair of joints) of each extra column
        self.extras: list[tuple[str, tuple[int, ...]]] = []
        joints = {name: j for j, name in enumerate(chain.joint_names)}
        self.link_of = [i for i, link in enumerate(links) if link.joint != "fixed"]
        for what, chosen in extra.items():
            if what == "gravity":
                for axis, letter in enumerate("xyz"):
                    names.append(Column(f"g{letter}", f"g{letter}", chain.base_name, "m/s^2"))
                    scale.append(1.0)
                    self.extras.append((what, (axis,)))
                continue
            for j in sorted(joints[name] for name in chosen):
                turns = links[self.link_of[j]].joint == "revolute"
                names.append(
                    Column(
                        f"{_EXTRA_SYMBOLS[what]}{j + 1}",
                        _EXTRA_SYMBOLS[what],
                        chain.joint_names[j],
                        _EXTRA_UNITS[what][0 if turns else 1],
                    )
                )
                scale.append(
                    {"rotor_inertia": self.length**2 if turns else 1.0, "offset": 1.0 if turns else gravity}.get(
                        what, 1.0
                    )
                )
                self.extras.append((what, (j,)))
        for pair in coupled:
            i, j = (joints[name] for name in pair)
            turning = sum(links[self.link_of[k]].joint == "revolute" for k in (i, j))
            for what in ("rotor_inertia", "friction", "coulomb"):
                unit = _EXTRA_UNITS[what][0 if turning == 2 else 1]
                symbol = _EXTRA_SYMBOLS[what]
                names.append(Column(f"{symbol}{i + 1},{j + 1}", symbol, f"{pair[0]}, {pair[1]}", unit))
                scale.append(self.length**turning if what == "rotor_inertia" else 1.0)
                self.extras.append((what, (i, j)))
        self.columns = tuple(names)
        self.scale = np.array(scale)

    def geometry(self, chain: Chain, length: Any = None) -> list[Joint]:
        """The links, parents first, lengths divided by `length`."""
        length = self.length if length is None else length
        out = []
        for i in self.order:
            link = chain.links[i]
            M = np.identity(4)
            M[:3, :3] = link.rotation
            M[:3, 3] = link.position / length
            axis = link.axis / np.sqrt(link.axis @ link.axis)
            out.append(Joint(self.place[self.up[i]] if self.up[i] >= 0 else -1, link.joint, M, axis, link.name))
        return out

    def of_gravity(self) -> list[int]:
        return [e for e, (what, _) in enumerate(self.extras) if what == "gravity"]

    def column_order(self) -> list[int]:
        """All columns: links that carry others first, in each of them inertias before first moments and mass."""
        order = [10 * i + c for i in self.order for c in _PRIORITY[self.parameters]]
        return [*order, *range(self.width, len(self.columns))]

    def tracked(self) -> None:
        """Extra columns that inertial parameters may depend upon, of each link in `order`."""
        self.own: list[list[tuple[str, int]]] = [[] for _ in self.order]
        out = self.own
        self.at: dict[tuple[int, int], int] = {}  # (place of the link, its column): extra column
        for e, (what, joints) in enumerate(self.extras):
            if what == "gravity":
                continue
            places = sorted(self.place[self.link_of[j]] for j in joints)
            if len(joints) == 2 and what == "rotor_inertia":
                if not self._carries(*places):
                    continue
                item = ("coupled", places[0])
            elif len(joints) == 1 and what == "rotor_inertia":
                item = ("inertia", 0)
            elif what == "offset" and self._prismatic(joints[0]):
                item = ("force", 0)
            else:
                continue
            k = places[-1]
            self.at[k, len(out[k])] = e
            out[k].append(item)

    def _carries(self, inner: int, outer: int) -> bool:
        while outer > inner:
            up = self.up[self.order[outer]]
            outer = self.place[up] if up >= 0 else -1
        return outer == inner

    def _prismatic(self, joint: int) -> bool:
        return self.prismatic[joint]

    prismatic: tuple[bool, ...] = ()

    def change(self, i: int) -> Array:
        """Parameters of link i of the user, lengths divided, to "moments" in its own frame."""
        X = MOMENTS_OF_TENSOR if self.parameters == "tensor" else np.identity(10)
        if self.frames is not None:
            F = np.array(self.frames[i])
            F[:3, 3] /= self.length
            X = frame_change(F) @ X
        return X

    def values(self, chain: Chain) -> Array:
        """The parameters of a model."""
        p = chain.inertial_parameters
        if self.parameters == "moments" or self.frames is not None:
            p = p @ MOMENTS_OF_TENSOR.T
            if self.frames is not None:
                p = np.array([np.linalg.solve(frame_change(F), row) for F, row in zip(self.frames, p, strict=True)])
            if self.parameters == "tensor":
                p = p @ TENSOR_OF_MOMENTS.T
        extra = []
        for what, joints in self.extras:
            # of gravity: how far it is from that of the model
            known = len(joints) == 1 and what in ("rotor_inertia", "friction", "stiffness")
            if what == "offset" and len(joints) == 1:
                extra.append(-chain.stiffness[joints[0]] * chain.rest[joints[0]])
            else:
                extra.append(getattr(chain, what)[joints[0]] if known else 0.0)
        return np.concatenate([p.ravel(), extra])

    def _weight(self, chain: Chain, q: Array) -> Array:
        """What is measured at rest, by the parameters of the model."""
        rest = np.zeros(chain.n)
        theta = chain.inertial_parameters.ravel()
        parts = [chain.regressor(q, rest, rest) @ theta] if self.efforts else []
        if self.wrench:
            parts.append(chain.base_wrench_regressor(q, rest, rest) @ theta)
        return np.concatenate(parts, axis=-1)

    def regressor(self, chain: Chain, q: Any, qd: Any, qdd: Any, velocity: float, chosen: Any) -> Array:
        parts = []
        if self.efforts:
            parts.append(chain.regressor(q, qd, qdd))
        if self.wrench:
            parts.append(chain.base_wrench_regressor(q, qd, qdd))
        W = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=-2)
        lead = W.shape[:-2]
        if self.parameters == "moments" or self.frames is not None:
            blocks = W.reshape(*W.shape[:-1], -1, 10)
            if self.frames is None:
                blocks = blocks @ TENSOR_OF_MOMENTS
            else:
                first = MOMENTS_OF_TENSOR if self.parameters == "tensor" else np.identity(10)
                changes = np.array([TENSOR_OF_MOMENTS @ frame_change(F) @ first for F in self.frames])
                blocks = np.einsum("...lk,lkj->...lj", blocks, changes)
            W = blocks.reshape(W.shape)
        if self.extras:
            q, qd, qdd = (np.broadcast_to(np.asarray(x, float), (*lead, chain.n)) for x in (q, qd, qdd))
            E = np.zeros((*W.shape[:-1], len(self.extras)))
            sign = np.tanh(qd / velocity) if velocity else np.sign(qd)
            for e, (what, joints) in enumerate(self.extras):
                if what == "gravity":
                    E[..., e] = self._weight(chain.with_gravity(np.identity(3)[joints[0]]), q)
                elif len(joints) == 1:
                    j = joints[0]
                    of = {"rotor_inertia": qdd, "friction": qd, "coulomb": sign, "stiffness": q}.get(what)
                    E[..., j, e] = 1.0 if of is None else of[..., j]
                else:
                    i, j = joints
                    if what == "coulomb":
                        both = qd[..., i] + qd[..., j]
                        E[..., i, e] = E[..., j, e] = np.tanh(both / velocity) if velocity else np.sign(both)
                    else:
                        of = qdd if what == "rotor_inertia" else qd
                        E[..., i, e], E[..., j, e] = of[..., j], of[..., i]
            W = np.concatenate([W, E], axis=-1)
        return W if chosen is None else W[..., chosen]


def _parents_first(up: Sequence[int]) -> list[int]:
    order: list[int] = []
    done = [False] * len(up)
    for start in range(len(up)):
        way = []
        i = start
        while i >= 0 and not done[i]:
            done[i] = True
            way.append(i)
            i = up[i]
        order += reversed(way)
    return order


def found(
    self: Chain,
    parameters: str,
    frames: Any,
    extra: Any,
    coupled: Any,
    measured: str | Iterable[str],
    gravity: ArrayLike | None,
    method: str,
    tolerance: float,
) -> BaseParameters:
    """See `Chain.base_parameters`."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"base_parameters: {text} for model '{self.name}'")

    as_choice(parameters, fail, "parameters", ORDERS)
    tolerance = as_amount(tolerance, fail, "tolerance", positive=True)
    sources = [measured] if isinstance(measured, str) else as_list(measured)
    if not sources or any(word not in ("efforts", "base_wrench") for word in sources):
        fail(f"measured is {_show(measured)}, expected 'efforts', 'base_wrench' or both")
    plan = _Plan(
        self,
        parameters,
        _frames(self, frames, fail),
        _extra(self, extra, fail),
        _coupled(self, coupled, fail),
        "base_wrench" in sources,
        "efforts" in sources,
    )
    plan.prismatic = tuple(kind == "prismatic" for kind in self.joint_types)
    if not plan.efforts and any(what != "gravity" for what, _ in plan.extras):
        fail("extra columns but gravity are in the efforts of the joints, and measured is only 'base_wrench'")
    given = self.gravity[None] if gravity is None else np.atleast_2d(_gravity(gravity, fail))
    sizes = np.sqrt((given * given).sum(axis=1))
    gravities = given / np.where(sizes > 0, sizes, 1.0)[:, None]
    numbers = _Doubles(tolerance, f"base_parameters of '{self.name}'")
    as_choice(method, fail, "method", ("recursion", "basis-set", "sampling"))
    if method == "basis-set" and (plan.wrench or plan.extras):
        fail("method 'basis-set' has no extra columns and no wrench on the base; 'recursion' and 'sampling' have")
    if method == "sampling" and gravity is not None:
        fail("method 'sampling' has the gravity of the model; 'recursion' takes others")
    pivots, Y = _solve(self, plan, method, gravities, numbers)
    return BaseParameters(self, plan, pivots, Y, Gap(numbers.kept, numbers.dropped), tolerance, given)


def _solve(chain: Chain, plan: _Plan, method: str, gravities: Array, numbers: _Doubles) -> tuple[Any, Array]:
    """Pivots and Y."""
    plan.tracked()
    if method == "recursion":
        rows = row_space(
            plan.geometry(chain),
            gravities,
            numbers,
            extras=plan.own if plan.extras else None,
            efforts=plan.efforts,
            wrench=plan.wrench,
        )
        R = assembled(plan, rows)
        pivots = None if plan.wrench else _staircase(plan, rows, R, numbers)
    else:
        R = _basis_set(chain, plan, gravities) if method == "basis-set" else _sampled(chain, plan)
        pivots = None
    if pivots is None:
        R = numbers.span(R, "all rows")
        order = plan.column_order()
        pivots = [order[c] for c in numbers.pivots(R[:, order], len(R))]
    Y = np.linalg.solve(R[:, pivots], R) if len(pivots) else R
    known = {*plan.at.values(), *plan.of_gravity()}
    free = [] if method == "sampling" else [e for e in range(len(plan.extras)) if e not in known]
    if free:  # columns that nothing else depends on
        more = np.zeros((len(free), R.shape[1]))
        more[np.arange(len(free)), [plan.width + e for e in free]] = 1.0
        Y = np.concatenate([Y, more])
        pivots += [plan.width + e for e in free]
    if method != "sampling":
        pivots, Y = _with_gravity(chain, plan, pivots, np.asarray(Y), numbers)
    listed = np.array(pivots, dtype=np.intp)
    by_column = np.argsort(listed)
    listed, Y = listed[by_column], Y[by_column]
    Y[np.abs(Y) < 1e-11] = 0.0
    Y[:, listed] = np.identity(len(listed))
    return listed, Y * plan.scale[listed][:, None] / plan.scale


def _with_gravity(chain: Chain, plan: _Plan, pivots: list[int], Y: Array, numbers: _Doubles) -> tuple[list[int], Array]:
    """Columns of gravity, which depend on the values of the parameters, compared with the others at random states."""
    for e in plan.of_gravity():
        column = plan.width + e
        W = _sampled(chain, plan, [*pivots, column])
        A, y = W[:, :-1], W[:, -1]
        sizes = np.sqrt((A * A).sum(axis=0))
        size = float(np.sqrt(y @ y))
        if not size > 0:
            continue
        x = np.linalg.lstsq(A / sizes, y, rcond=None)[0]
        left = y - A / sizes @ x
        if numbers.decide(float(np.sqrt(left @ left)) / size, f"column {plan.columns[column].name}"):
            pivots = [*pivots, column]
            Y = np.concatenate([Y, np.zeros((1, Y.shape[1]))])
            Y[-1, column] = 1.0
        else:
            Y[:, column] = np.where(np.abs(x) * size < 1e-9 * np.abs(x).max(), 0.0, x / sizes)
    return pivots, Y


def _staircase(plan: _Plan, rows: Rows, R: Array, numbers: _Doubles) -> list[int]:
    """Pivots: rows that begin at a link have theirs there, or in the columns of its joint."""
    pivots: list[int] = []
    start = 0
    for k, i in enumerate(plan.order):
        born = len(rows.born[k])
        if not born:
            continue
        own = [10 * i + c for c in _PRIORITY[plan.parameters]]
        own += [plan.width + plan.at[k, c] for c in range(len(plan.own[k]))]
        pivots += [own[c] for c in numbers.pivots(R[start : start + born][:, own], born)]
        start += born
    return pivots


def _basis_set(chain: Chain, plan: _Plan, gravities: Array) -> Array:
    """The coordinate matrix of the Lagrangian, or its triangular factor where it is large."""
    from .routes import basis_set_blocks

    kept: list[Array] = []
    for block in basis_set_blocks(plan.geometry(chain), gravities):
        Z = np.zeros((len(block), len(plan.columns)))
        for k, i in enumerate(plan.order):
            Z[:, 10 * i : 10 * i + 10] = (block[:, k, ROW, COLUMN] * _DOUBLE) @ plan.change(i)
        if chain.n > DIRECT and len(Z) > Z.shape[1]:
            Z = np.asarray(np.linalg.qr(Z, mode="r"))
        kept.append(Z)
    Z = np.concatenate(kept)
    return np.asarray(np.linalg.qr(Z, mode="r")) if len(Z) > Z.shape[1] else Z


def _sampled(chain: Chain, plan: _Plan, columns: Any = None) -> Array:
    """Rows of the regressor at random states, in the units of the plan."""
    from .routes import sampled_rows

    def scaled(q: Array, qd: Array, qdd: Array) -> Array:
        W = plan.regressor(chain, q, qd, qdd, 0.0, None) * plan.scale
        return np.asarray(W if columns is None else W[..., columns])

    return sampled_rows(scaled, chain, len(plan.columns if columns is None else columns), 0)


def assembled(plan: _Plan, rows: Rows) -> Array:
    """All rows, with the columns of the user, lengths divided."""
    R = np.zeros((rows.count, len(plan.columns)))
    for k, i in enumerate(plan.order):
        passing = rows.passing[k]
        if len(passing):
            R[rows.where[k], 10 * i : 10 * i + 10] = (passing[:, ROW, COLUMN] * _DOUBLE) @ plan.change(i)
        for c in range(rows.extra[k].shape[1]):
            born = len(rows.born[k])
            R[rows.where[k][len(rows.where[k]) - born :], plan.width + plan.at[k, c]] = rows.extra[k][:, c]
    return R


def _gravity(gravity: Any, fail: Fail) -> Array:
    given = as_array(gravity, fail, "gravity", (3,), lead=True)
    if given.ndim > 2 or not len(given):
        fail(f"gravity has shape {given.shape}, expected (3,) or (k, 3)")
    return given


def _frames(chain: Chain, frames: Any, fail: Fail) -> Array | None:
    if isinstance(frames, str):
        as_choice(frames, fail, "frames", ("link", "dh"))
        return None if frames == "link" else _dh_frames(chain, fail)
    given = as_array(frames, fail, "frames", (len(chain.links), 4, 4))
    for link, F in zip(chain.links, given, strict=True):
        R = F[:3, :3]
        if np.abs(R.T @ R - np.identity(3)).max() > 1e-9 or np.linalg.det(R) < 0 or (F[3] != (0, 0, 0, 1)).any():
            fail(f"frames of link '{link.name}' is no pose [R p; 0 1]")
    return given


def _dh_frames(chain: Chain, fail: Fail) -> Array:
    """Frames i of the standard convention in the links' frames, the last that of the tool; welded links: their own."""
    table = chain.to_dh()
    frames = np.tile(np.identity(4), (len(chain.links), 1, 1))
    T = np.array(table.base_pose)
    q = np.zeros(chain.n)
    moving = [i for i, link in enumerate(chain.links) if link.joint != "fixed"]
    for i, (theta, d, a, alpha) in zip(moving, table.rows.tolist(), strict=True):
        ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        T = T @ np.array(
            [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
        )
        if i == moving[-1]:
            T = T @ table.tool_pose
        F = np.linalg.inv(chain.pose(q, chain.links[i].name)) @ T
        plain = F.round(12)  # exact zeros and lengths as they were given
        frames[i] = np.where(np.abs(F - plain) < 1e-13, plain, F) + 0.0
    return frames


def _extra(chain: Chain, extra: Any, fail: Fail) -> dict[str, list[str]]:
    if isinstance(extra, Mapping):
        items = {key: as_list(value) for key, value in extra.items()}
    else:
        listed = [extra] if isinstance(extra, str) else as_list(extra)
        if listed is None:
            fail(f"extra is {_show(extra)}, expected names of columns")
        for key in listed:
            if not isinstance(key, str):
                fail(f"extra has {_show(key)}, expected some of {', '.join(map(repr, EXTRAS))}")
        items = {key: list(chain.joint_names) for key in listed}
    for key, joints in items.items():
        if key not in EXTRAS:
            fail(f"extra has {_show(key)}, expected some of {', '.join(map(repr, EXTRAS))}{did_you_mean(key, EXTRAS)}")
        if key == "gravity":
            continue
        for name in joints if joints is not None else fail(f"extra[{key!r}] is no list of joints"):
            _joint(chain, name, f"extra[{key!r}]", fail)
    return {key: [*dict.fromkeys(items[key])] for key in EXTRAS if key in items}  # type: ignore[arg-type]


def _joint(chain: Chain, name: Any, what: str, fail: Fail) -> None:
    if not isinstance(name, str) or name not in chain.joint_names:
        fail(f"{what} names the joint {_show(name)}, which is not in the model{did_you_mean(name, chain.joint_names)}")


def _coupled(chain: Chain, coupled: Any, fail: Fail) -> list[tuple[str, str]]:
    pairs = as_list(coupled)
    if pairs is None:
        fail(f"coupled is {_show(coupled)}, expected pairs of joint names")
    out = []
    for pair in pairs:
        two = as_list(pair) if not isinstance(pair, str) else None
        if two is None or len(two) != 2 or two[0] == two[1]:
            fail(f"coupled has {_show(pair)}, expected the names of two joints")
        for name in two:
            _joint(chain, name, "coupled", fail)
        out.append((two[0], two[1]))
    if len({frozenset(pair) for pair in out}) < len(out):
        fail("coupled has a pair twice")
    return out
