"""`Linkage`: a chain whose links are held together by more than its joints."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple, NoReturn, Self, SupportsIndex, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .._check import (
    Array,
    _show,
    as_amount,
    as_array,
    as_choice,
    as_list,
    as_number,
    as_raw,
    did_you_mean,
    failing,
    frozen,
)
from .._html import html_table
from .._record import Value, require_keys
from .._status import in_words
from ..codegen.function import CompiledFunction, TracedFunction, TraceOptions, compile_function, trace_function
from ..dynamics.linkage_linear import linearise_linkage
from ..errors import ModelError, SingularityError, UnreachableError
from ..sim.linkage import simulate_linkage
from .chain import _HTML_ROWS, GRAVITY, Chain
from .constraint import CARRIES, Constraint, Target, coupling_of
from .given import Given
from .loop_files import read_loops
from .mechanism import require_format, require_own, write_json
from .other_names import MechanismType, teach, without_words

__all__ = ["CutJoint", "Linkage", "LinkageEfforts", "Mobility", "SingularConfiguration"]

_SAMPLES: Final = 6
_TRIES: Final = 16
_OPEN: Final = 1e-4  # of the length: largest residual of a state that dynamics takes


class Mobility(NamedTuple):
    """Degrees of freedom of a linkage at one configuration, and what is redundant in it.

    `degrees` = n - rank; `redundant` = equations - rank of them follow from the others, and `involved` names all that
    take part, (constraint, what its multiplier is): which of them to leave out is a choice. `passive` are joints on a
    loop that move without moving it. `singular_values` are those of the Jacobian with revolute columns divided by the
    length, `gap` the ratio of the smallest one that counts to the largest that does not. `status` is "regular", "near
    singular", "rank uncertain" or "singular": the rank is lower than `generic_rank`, that of other configurations.
    """

    degrees: int
    rank: int
    equations: int
    redundant: int
    singular_values: Array
    gap: float
    involved: tuple[tuple[str, str], ...]
    passive: tuple[str, ...]
    status: str
    generic_rank: int


class SingularConfiguration(NamedTuple):
    """What kind of configuration this is.

    `kind` is "regular"; "branches cross": motions along each of `tangents` (rates of q, largest 1) are possible;
    "immobile": rates that the first order allows are stopped at the second; "undecided" at second order. `lost` is how
    far the rank is below that of other configurations.
    """

    kind: str
    lost: int
    tangents: Array


class LinkageEfforts(NamedTuple):
    """Efforts that a wanted motion of a linkage takes.

    `effort` (..., number of actuated joints) in their order, `tau` (..., n) the same among all joints. `residual`
    (...,) is what an under-actuated linkage would still need, 0 otherwise. `actuation` is "full", "under" or "over";
    `internal` (..., k, number of actuated joints) are efforts that move nothing.
    """

    effort: Array
    tau: Array
    residual: Array
    actuation: str
    internal: Array


class CutJoint(NamedTuple):
    """Coordinate of a joint that closes a loop, of B against A; nan where the joint has none.

    `angle` in (-pi, pi] about the axis of A with its rate and acceleration, `slide` along it with the same.
    """

    angle: Array
    angle_rate: Array
    angle_acceleration: Array
    slide: Array
    slide_rate: Array
    slide_acceleration: Array


class _Part(NamedTuple):
    """Rows and joints that share nothing with the others: left singular vectors, singular values, rank."""

    rows: list[int]
    joints: list[int]
    left: Array
    values: Array
    rank: int


class Linkage(Value, _core.Linkage, metaclass=MechanismType):
    """A chain with constraints: joints that close loops, couplings, prescribed motions. Immutable.

    Coordinates are those of the chain, q (n,). Redundant constraints are no fault: a planar four-bar with a revolute
    loop has three of them and simply works.

    Parameters
    ----------
    chain : Chain
    loops : iterable of Loop
    constraints : iterable of Constraint
        After the loops; the order of rows is that of both lists.
    length : float, m, optional
        Turns angles into lengths and moments into forces wherever they are compared: in residuals, ranks and least
        reactions. Default: the largest distance in the description.

    Raises
    ------
    ModelError
        Unknown links or joints, two constraints of one name.

    Examples
    --------
    >>> import zveno as zv
    >>> four_bar = zv.mechanisms.four_bar()
    >>> four_bar
    Linkage 'four_bar': 3 joints, 1 constraint, 5 equations
    >>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
    >>> four_bar.mobility(q).degrees
    1
    """

    _format: ClassVar[str] = "zveno.linkage"

    simulate = simulate_linkage
    linearise = linearise_linkage

    def __init__(
        self,
        chain: Chain,
        loops: Iterable[Constraint] = (),
        constraints: Iterable[Constraint] = (),
        *,
        length: float | None = None,
    ) -> None:
        listed: list[Constraint] = []
        for key, given in (("loops", loops), ("constraints", constraints)):
            items = as_list(given)
            if items is None:
                raise ModelError(f"Linkage: {key} is {_show(given)}, expected a list of constraints")
            for i, item in enumerate(items):
                if not isinstance(item, Constraint):
                    raise ModelError(f"Linkage: {key}[{i}] is {_show(item)}, expected a Loop or a constraint")
            listed += items
        self._assemble(chain, tuple(listed), length, _OPEN)

    def _assemble(
        self, chain: Chain, constraints: tuple[Constraint, ...], length: float | None, open_: float = _OPEN
    ) -> None:
        if hasattr(self, "_chain"):
            raise TypeError(f"Linkage.__init__: '{self.name}' exists already, and models do not change")
        if not isinstance(chain, Chain):
            raise ModelError(f"Linkage: chain is {_show(chain)}, expected a Chain")

        def fail(text: str) -> NoReturn:
            raise ModelError(f"Linkage '{chain.name}': {text}")

        names = [x.name for x in constraints]
        for name in names:
            if names.count(name) > 1:
                fail(f"two constraints are called {_show(name)}; give one of them another name=")
        for x in constraints:
            self._check(chain, x, fail)
        self._chain, self._constraints, self._given_length = chain, constraints, length
        self._length = (
            _length_of(chain, constraints) if length is None else as_amount(length, fail, "length", positive=True)
        )
        self._giver = Given(chain, constraints)
        self._lower = frozen(np.array([link.lower for link in chain._moving]))
        self._upper = frozen(np.array([link.upper for link in chain._moving]))
        self._open = open_ * self._length
        _core.Linkage.__init__(
            self, chain, self._length, self._open, self._giver.size, [self._core_of(k) for k in range(len(constraints))]
        )
        self._samples = self._select() if constraints and math.isfinite(open_) else 0

    @staticmethod
    def _check(chain: Chain, x: Constraint, fail: Any) -> None:
        links = {chain._base, *chain.link_names}
        for side in (x.a, x.b):
            if isinstance(side, str) and side not in links:
                fail(f"{x.kind} {_show(x.name)}: no link {_show(side)}{did_you_mean(side, links)}")
        for joint, _ in x.joints:
            if joint not in chain.joint_names:
                fail(f"coupling {_show(x.name)}: no joint {_show(joint)}{did_you_mean(joint, chain.joint_names)}")

    def _core_of(self, k: int) -> tuple[Any, ...]:
        """A constraint as the core has it."""
        x, place = self._constraints[k], self._giver.places[k]

        def side(link: str | Target | None, R: Array, p: Array) -> tuple[Any, ...] | None:
            return None if link is None else (self._giver.target(link) if isinstance(link, Target) else link, R, p)

        coefficients = None
        if x.joints:
            factors = dict(x.joints)
            coefficients = [factors.get(joint, 0.0) for joint in self._chain.joint_names]
        rows = tuple(self._row_of(x, row, i, place) for i, row in enumerate(x.rows))
        return x.name, side(x.a, x.rotation_a, x.point_a), side(x.b, x.rotation_b, x.point_b), coefficients, rows

    def _row_of(self, x: Constraint, row: str, i: int, place: int) -> tuple[Any, ...]:
        L, kind = self._length, row.partition(" ")[0]
        axis = "xyz".find(row[-1]) if " " in row else 2
        terms: dict[str, tuple[tuple[int, int, float], ...]] = {
            "tilt x": ((1, 2, -L),),
            "tilt y": ((0, 2, L),),
            "turn x": ((2, 1, L / 2), (1, 2, -L / 2)),
            "turn y": ((0, 2, L / 2), (2, 0, -L / 2)),
            "turn z": ((1, 0, L / 2), (0, 1, -L / 2)),
            "dot": ((2, 2, L),),
        }
        timed = callable(x.offset) or callable(x.length)
        offset = 0.0 if callable(x.offset) else x.offset
        name = CARRIES[row]
        if row in terms:
            driven = row == "dot" and timed
            return "dots", 0, terms[row], L, offset if row == "dot" else 0.0, place if driven else -1, name
        if kind == "along":
            # the one whose distance is told: the normal of a plane
            here = row == "along z" and x.kind in ("planar", "point_on_plane")
            return "along", axis, (), 1.0, offset if here else 0.0, place if here and timed else -1, name
        if kind == "rod":
            length = self._giver_length(x)
            return "rod", 0, (), 1.0 / length, length, place if timed else -1, name
        if kind == "screw":
            return "screw", 2, (), x.pitch / (2 * math.pi), x.phase, -1, name
        if kind == "coupling":
            joints = {link.joint_name: link.joint for link in self._chain._moving}
            turning = all(joints[joint] == "revolute" for joint, _ in x.joints)
            return "coupling", 0, (), L if turning else 1.0, offset, place if timed else -1, name
        width = self._giver.width(x)
        return kind, 0, (), 1.0, 0.0, place + i * width, name

    @staticmethod
    def _giver_length(x: Constraint) -> float:
        """l0 of a rod: its length, or that at time zero."""
        if not callable(x.length):
            return x.length
        length = float(np.asarray(x.length(0.0), dtype=float).ravel()[0])
        if not length > 0:
            raise ModelError(f"distance {_show(x.name)}: length is {length:g} at t = 0, expected a number > 0")
        return length

    # ---- choice of rows

    def _select(self) -> int:
        """Choose the rows to compute with at closed configurations that are far apart; returns how many there were."""
        chain, rng = self._chain, np.random.default_rng(7)
        turning = np.array([link.joint == "revolute" for link in chain._moving])
        reach = np.where(turning, math.pi, 0.5 * self._length)
        low, high = np.maximum(self._lower, -reach), np.minimum(self._upper, reach)
        low, high = np.minimum(low, high), np.maximum(low, high)
        found: list[tuple[int, Array]] = []
        tries = 0
        for tries in range(_TRIES):
            if len(found) == _SAMPLES or (tries == 3 and not found):
                break
            guess = rng.uniform(low, high) if tries else np.clip(np.zeros(chain.n), self._lower, self._upper)
            try:
                q, f, closed, _, _ = self._closed(guess, np.zeros(chain.n, bool), 0.0)
            except ModelError:
                raise  # derivatives that are none
            except (ValueError, ArithmeticError):
                continue  # a function of the user's may not take any state
            if closed:
                G = self._jacobian_at(q, 0.0)
                found.append((_core.linkage_rank(self, G, f)[0], G))
        if not found:
            return 0
        generic = max(rank for rank, _ in found)
        kept = [G for rank, G in found if rank == generic]
        _core.linkage_choose(self, np.ascontiguousarray(kept))
        return len(kept)

    def _jacobian_at(self, q: Array, t: float) -> Array:
        return self.constraint_jacobian(q, t)

    def _given(self, function: str, q: Any, qd: Any, t: Any) -> Array:
        """Numbers of functions of time and of the state, one state after another; called by the core."""
        fail = failing(function)
        n = self._chain.n
        states = np.asarray(q, dtype=np.float64)
        rates = np.zeros(n) if qd is None else np.asarray(qd, dtype=np.float64)
        times = as_raw(0.0 if t is None else t, fail, "t").astype(np.float64)
        for key, array in (("q", states), ("qd", rates)):
            if array.ndim < 1 or array.shape[-1] != n:
                fail(f"{key} has shape {array.shape}, expected (..., {n})")
        lead = _lead(fail, q=states.shape[:-1], qd=rates.shape[:-1], t=times.shape)
        if not (np.isfinite(states).all() and np.isfinite(rates).all() and np.isfinite(times).all()):
            fail("q, qd or t is not finite")
        if function == "constraint_derivatives":
            return self._giver.with_slopes(states, rates, times, self._length)
        out = np.empty((*lead, self._giver.size))
        if not self._giver.size:  # asked for the sake of t
            return out
        states, rates = np.broadcast_to(states, (*lead, n)), np.broadcast_to(rates, (*lead, n))
        times = np.broadcast_to(times, lead)
        for at in np.ndindex(lead):
            out[at] = self._giver.at(
                np.ascontiguousarray(states[at]), np.ascontiguousarray(rates[at]), float(times[at])
            )
        return out

    # ---- what it is made of

    @property
    def name(self) -> str:
        """Name of the chain."""
        return self._chain.name

    @property
    def chain(self) -> Chain:
        """The tree."""
        return self._chain

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """Loops and constraints, in the order of their rows."""
        return self._constraints

    @property
    def n(self) -> int:
        """Number of joints of the tree."""
        return self._chain.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints of the tree, in the order of q."""
        return self._chain.joint_names

    @property
    def length(self) -> float:
        """What turns angles into lengths, m."""
        return self._length

    @property
    def row_names(self) -> tuple[tuple[str, str], ...]:
        """Constraint and meaning of the multiplier of every equation."""
        return tuple((x.name, row) for x in self._constraints for row in x.row_names)

    def _values(self) -> dict[str, Any]:
        return {"chain": self._chain, "constraints": self._constraints, "length": self._given_length}

    @classmethod
    def _made(cls, **values: Any) -> Self:
        made = cls.__new__(cls)
        made._assemble(**values)
        return made

    def __setattr__(self, key: str, value: object) -> None:
        if not key.startswith("_"):
            require_own(self, key)
        super().__setattr__(key, value)

    def __dir__(self) -> list[str]:
        return without_words(type(self), super().__dir__())

    def _repr_html_(self) -> str:
        """Constraints as a table, for notebooks."""
        rows = [(x.name, x.kind, x._sides(), ", ".join(x.row_names)) for x in self._constraints[:_HTML_ROWS]]
        more = len(self._constraints) - len(rows)
        rows += [(f"and {more} more constraints", "", "", "")] if more else []
        return html_table(repr(self), rows, ("constraint", "type", "between", "carries"))

    def __repr__(self) -> str:
        count = len(self._constraints)
        return (
            f"Linkage '{self.name}': {self.n} joints, {count} constraint{'s' if count != 1 else ''}, {self.m} equations"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the model as a JSON-safe dictionary; constraints that move in time are refused.

        Examples
        --------
        >>> import json, zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> zv.Linkage.from_dict(json.loads(json.dumps(four_bar.to_dict()))) == four_bar
        True
        """
        return {
            "format": self._format,
            "version": 1,
            "chain": self._chain.to_dict(),
            "constraints": [x.to_dict() for x in self._constraints],
            "length": self._given_length,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False) -> Self:
        """Build the model of `to_dict`; every key is checked.

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> zv.Linkage.from_dict(four_bar.to_dict()) == four_bar
        True
        """
        keys = ("format", "version", "chain", "constraints", "length")
        require_format("Linkage.from_dict", data, cls._format)
        require_keys("Linkage.from_dict", data, keys, keys[:-1])
        listed = as_list(data["constraints"])
        if listed is None:
            raise ModelError(f"Linkage.from_dict: constraints is {_show(data['constraints'])}, expected a list")
        constraints = tuple(Constraint.from_dict(x) for x in listed)
        return cls._made(
            chain=Chain.from_dict(data["chain"], strict=strict), constraints=constraints, length=data.get("length")
        )

    @classmethod
    def from_urdf(
        cls,
        source: str | os.PathLike[str] | bytes,
        loops: str | os.PathLike[str] | None = None,
        *,
        gravity: ArrayLike = GRAVITY,
        name: str | None = None,
        friction: bool = False,
        snap: float = 1e-11,
        strict: bool = False,
    ) -> Self:
        """Read a URDF, its mimic joints as couplings, and the loops that a file beside it describes.

        Parameters
        ----------
        source : path, or str or bytes with the XML itself
        loops : path, optional
            TOML or JSON: a list ``loops`` of tables, each with ``kind`` and the arguments of the function of that name,
            those of `Loop` and of `zveno.constraints` that take no functions, and perhaps a number ``length``.
        gravity, name, friction, snap, strict
            As in `Chain.from_urdf`.

        Examples
        --------
        >>> import zveno as zv
        >>> body = '<inertial><mass value="0.1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        >>> text = f'''<robot name="gripper"><link name="palm"/><link name="l">{body}</link><link name="r">{body}</link>
        ... <joint name="left" type="prismatic"><parent link="palm"/><child link="l"/>
        ... <limit lower="0" upper="1"/></joint>
        ... <joint name="right" type="prismatic"><parent link="palm"/><child link="r"/><axis xyz="-1 0 0"/>
        ... <limit lower="0" upper="1"/><mimic joint="left"/></joint></robot>'''
        >>> gripper = zv.Linkage.from_urdf(text)
        >>> gripper.constraints
        (Constraint('right mimics left', coupling, 1 right + -1 left, 1 equation),)
        >>> gripper.close([0.03, 0.0], hold=["left"])
        array([0.03, 0.03])
        """
        from . import urdf

        mimics: list[urdf.Mimic] = []
        chain = urdf.read(
            Chain, source, gravity=gravity, name=name, friction=friction, snap=snap, strict=strict, mimics=mimics
        )
        couplings = tuple(
            coupling_of({x.joint: 1.0, x.other: -x.factor}, x.offset, f"{x.joint} mimics {x.other}") for x in mimics
        )
        beside, length = ((), None) if loops is None else read_loops(loops)
        return cls._made(chain=chain, constraints=(*beside, *couplings), length=length)

    @classmethod
    def from_mjcf(cls, source: str | os.PathLike[str]) -> Self:
        """Read an MJCF file, or XML text, with its equality constraints; needs the package mujoco.

        Read: bodies with hinges and slides, inertias, limits, armature, damping, springs; ``connect`` becomes a
        spherical loop, ``weld`` a weld, ``joint`` a coupling (linear ones). A body with several joints, or one whose
        joint stands away from its origin, is a fixed link of its name behind links ``body:joint``. Free and ball
        joints, sites and tendons in equalities are a `ModelError`; contacts, actuators and dry friction are ignored.

        Examples
        --------
        >>> import zveno as zv
        >>> body = '<body name="{}" pos="{} 0 0"><joint name="{}" axis="0 1 0"/><geom size=".1" mass="1"/></body>'
        >>> bodies = body.format("a", 0, "x") + body.format("b", 1, "y")
        >>> equal = '<equality><joint joint1="x" joint2="y"/></equality>'
        >>> zv.Linkage.from_mjcf(f"<mujoco><worldbody>{bodies}</worldbody>{equal}</mujoco>").constraints[0].joints
        (('x', 1.0), ('y', -1.0))
        """
        from .mjcf import read_mjcf

        chain, constraints = read_mjcf(source)
        return cls._made(chain=chain, constraints=constraints, length=None)

    @classmethod
    def from_sdf(
        cls, source: str | os.PathLike[str] | bytes, *, gravity: ArrayLike | None = None, friction: bool = False
    ) -> Self:
        """Read the model of an SDF file, or of XML text; joints that close loops become constraints of their names.

        Read: links with poses and inertias, frames, joints of the types revolute, continuous, prismatic and fixed with
        limits, ball and universal ones where they close a loop, ``mimic`` as a coupling, gravity of a world. A link
        whose joint stands away from its origin is a fixed link of its name behind a link ``link:joint``. Everything is
        closed at q = 0. Nested models, screws and gearboxes are a `ModelError`; geometry, sensors and plugins are
        ignored.

        Parameters
        ----------
        source : path, or str or bytes with the XML itself
        gravity : (3,) array, m/s^2, optional
            Default: that of the world in the file, or (0, 0, -9.81).
        friction : bool
            Take ``damping`` over.

        Raises
        ------
        ModelError
            With the line of what is wrong.

        Examples
        --------
        >>> import zveno as zv
        >>> def link(name, x, y):
        ...     return f'''<link name="{name}"><pose>{x} {y} 0 0 0 0</pose><inertial><mass>1</mass>
        ...         <inertia><ixx>.1</ixx><iyy>.1</iyy><izz>.1</izz></inertia></inertial></link>'''
        >>> def hinge(name, parent, child, x=0, y=0):
        ...     return f'''<joint name="{name}" type="revolute"><parent>{parent}</parent><child>{child}</child>
        ...         <pose>{x} {y} 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint>'''
        >>> text = link("crank", 0, 0) + link("coupler", 0, 0.3) + link("rocker", 1, 0)
        >>> text += hinge("a", "world", "crank") + hinge("b", "crank", "coupler") + hinge("c", "world", "rocker")
        >>> text += hinge("d", "coupler", "rocker", 0, 0.7)
        >>> four_bar = zv.Linkage.from_sdf(f'<sdf version="1.9"><model name="four_bar">{text}</model></sdf>')
        >>> four_bar.joint_names, four_bar.constraints[0].name, four_bar.mobility([0, 0, 0]).degrees
        (('a', 'b', 'c'), 'd', 1)
        """
        from .sdf import read_sdf

        chain, constraints = read_sdf(source, gravity, friction)
        return cls._made(chain=chain, constraints=constraints, length=None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as JSON; `zveno.load` reads it back, equal to the last bit.

        Examples
        --------
        >>> import os, tempfile, zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "four_bar.json")
        ...     four_bar.save(path)
        ...     zv.load(path) == four_bar
        True
        """
        write_json(self.to_dict(), "constraints", path)

    def plot(self, q: ArrayLike | None = None, ax: Any = None, *, frames: bool = False, t: float = 0.0) -> Any:
        """Draw the mechanism in space with its loops and rods. Needs matplotlib (``zveno[plot]``).

        Parameters
        ----------
        q : (n,) array, rad or m, optional
            Default: the configuration that `close` finds from zero.
        ax : Axes3D, optional
            Default: new ones in a new figure.
        frames : bool
            Draw the frame of the base and of every last link: x red, y green, z blue.
        t : float, s
            Where targets are drawn.

        Returns
        -------
        ax : Axes3D
            ``ax.figure.savefig("linkage.png")`` writes the picture.

        Examples
        --------
        >>> import zveno as zv
        >>> ax = zv.mechanisms.four_bar().plot([0.8, -0.2321, 1.6169])
        >>> ax.get_title()
        'four_bar'
        """
        fail = failing("plot")
        when = as_number(t, fail, "t")
        state = self.close(np.zeros(self.n), t=when) if q is None else as_array(q, fail, "q", (self.n,))
        axes = self._chain.plot(state, ax, frames=frames)
        from ..plot.mechanism import draw_constraints

        return draw_constraints(self, state, when, axes)

    # ---- code for this very mechanism

    def trace(self, function: str, **options: Unpack[TraceOptions]) -> TracedFunction:
        """A method of this linkage as a graph of elementary operations, which can be written as C.

        The equations to compute with are those that were chosen for the linkage: at configurations where others would
        be needed, or where it is singular, the code gives numbers that mean nothing, and does not say so. `compile`
        does.

        Parameters
        ----------
        function : str
            "forward_dynamics", "residual", "constraint_velocity", "constraint_jacobian", "constraint_bias" or
            "project_velocity".
        **options
            ``arguments``, names of arrays to be given, as ``("q", "qd", "tau", "drive")``; ``outputs``, names of
            results; ``level`` and ``limit`` as in `Chain.trace`.

        Raises
        ------
        ValueError
            Constraints are functions of time or of the state, which are Python's.

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> traced = four_bar.trace("forward_dynamics", outputs=["qdd"], level="algebraic")
        >>> [x.name for x in traced.graph.inputs], [x.name for x in traced.graph.outputs]
        (['q', 'qd', 'tau'], ['qdd'])
        >>> "four_bar_forward_dynamics" in traced.c_source()
        True
        """
        return trace_function(self, function, options)

    def compile(self, function: str, **options: Unpack[TraceOptions]) -> CompiledFunction:
        """Machine code of a method for this very linkage. Needs llvmlite (``zveno[jit]``); arguments as in `trace`.

        Returns
        -------
        CompiledFunction
            Called like the method: the same shapes, batches, results and errors. States where other equations are
            needed than those of the linkage go the way of the method itself.

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> f = four_bar.compile("forward_dynamics", outputs=["qdd"])
        >>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
        >>> qd, tau = four_bar.velocities(q, {"crank_joint": 3.0}), [0.5, 0.0, 0.0]
        >>> bool((f(q, qd, tau).qdd == four_bar.forward_dynamics(q, qd, tau).qdd).all())
        True
        """
        return compile_function(self, function, options)

    def explain(self, status: SupportsIndex) -> str:
        """A status of a row in words, with the name of the constraint or joint.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> q, zero, status = [0.8, 0.0, 1.5], np.zeros(3), np.zeros((), np.int16)
        >>> dynamics = four_bar.forward_dynamics(q, zero, zero, on_error="nan", status=status)
        >>> four_bar.explain(status)
        "constraint 'coupler-rocker' is not met by q: close(q) finds a state that does"
        """
        constraints = [repr(x.name) for x in self._constraints]
        return in_words(status, "constraint", constraints, list(map(repr, self.joint_names)))

    # ---- closing

    def _closed(self, guess: Array, held: NDArray[np.bool_], t: float) -> tuple[Array, Array, bool, int, float]:
        still = np.zeros(self.n)
        given = (lambda q: self._giver.at(q, still, t)) if self._giver.size else None
        return _core.linkage_close(self, np.ascontiguousarray(guess), self._lower, self._upper, held.tolist(), given)

    def close(
        self,
        q_guess: ArrayLike,
        *,
        hold: Iterable[str] | Mapping[str, float] = (),
        t: float = 0.0,
        on_error: str = "raise",
    ) -> Array:
        """A configuration near `q_guess` that meets all constraints, to 1e-13 of the length. (L24)-(L27)

        Parameters
        ----------
        q_guess : (..., n) array, rad or m
        hold : joints that keep their value of the guess, or a dictionary of joints to values
        t : float, s
        on_error : {"raise", "nan"}
            What to do with a guess from which no closed configuration is reached.

        Returns
        -------
        q : (..., n) array
            Inside the limits of the joints.

        Raises
        ------
        UnreachableError
            With ``.constraint``, the one that stays open widest, its ``.gap`` in m and ``.angle`` in degrees, ``.q``
            the best configuration and ``.joints``, those at a limit there; ``.cause`` is "axis reversed" where axes
            meet head on.

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> four_bar.close([0, 0, 1.5], hold={"crank_joint": 0.8}).round(4)
        array([ 0.8   , -0.2321,  1.6169])
        """
        fail = failing("close")
        as_choice(on_error, fail, "on_error", ("raise", "nan"))
        guess = np.array(as_array(q_guess, fail, "q_guess", (self.n,), lead=True))
        held = np.zeros(self.n, bool)
        if isinstance(hold, str):
            fail(f"hold is {_show(hold)}, expected a list of joints or a dictionary of joints to values")
        for joint in hold:
            held[self._place("close", joint)] = True
        if isinstance(hold, Mapping):
            for joint, value in hold.items():
                guess[..., self._place("close", joint)] = as_number(value, fail, f"hold of joint {_show(joint)}")
        when = as_number(t, fail, "t")
        out = np.empty_like(guess)
        for at in np.ndindex(guess.shape[:-1]):
            try:
                out[at] = self._close_one(guess[at], held, when)
            except UnreachableError as error:
                if on_error == "raise":
                    error.row = None if guess.ndim == 1 else int(np.ravel_multi_index(at, guess.shape[:-1]))
                    raise
                out[at] = np.nan
        return out

    def _close_one(self, guess: Array, held: NDArray[np.bool_], t: float) -> Array:
        best: tuple[float, Array, Array] | None = None
        rng = np.random.default_rng(11)
        reverse = ""
        for attempt in range(6):
            start = guess if attempt == 0 else np.where(held, guess, guess + rng.uniform(-1.5, 1.5, self.n))
            q, f, closed, _, _ = self._closed(np.where(held, start, np.clip(start, self._lower, self._upper)), held, t)
            if closed:
                reverse = self._reversed(q, t)
                if not reverse:
                    return q
            residual = float(np.abs(f).max()) if f.size else 0.0
            if best is None or residual < best[0]:
                best = residual, q, f
            if not closed:
                break  # the core has tried other starts
        assert best is not None
        raise self._unreachable(best[1], best[2], reverse, t)

    def _unreachable(self, q: Array, f: Array, reverse: str, t: float) -> UnreachableError:
        joints = tuple(
            name
            for name, x, low, high in zip(self.joint_names, q, self._lower, self._upper, strict=True)
            if min(x - low, high - x) <= 1e-12 * max(1.0, abs(x))
        )
        if reverse:
            error = UnreachableError(
                f"close: constraint {_show(reverse)} closes with its axes reversed (z_a . z_b < 1/2) from this guess;"
                " turn axis_a or axis_b, or start elsewhere",
                cause="axis reversed",
            )
            error.constraint = reverse
        else:
            gaps = []
            for x, rows in self._spans():
                distance = math.hypot(*f[[i for i in rows if not self._angular(x, i - rows.start)]].tolist())
                sine = math.hypot(*f[[i for i in rows if self._angular(x, i - rows.start)]].tolist()) / self._length
                gaps.append((max(distance, sine * self._length), x, distance, math.degrees(math.asin(min(1.0, sine)))))
            _, worst, distance, angle = max(gaps, key=lambda item: item[0])
            limits = f"; joints at a limit: {', '.join(joints)}" if joints else ""
            when = f" at t = {t:g}" if t else ""
            error = UnreachableError(
                f"close: constraint {_show(worst.name)} of model '{self.name}' stays open by {distance:.3g} m and"
                f" {angle:.3g} degrees{when}{limits}",
                cause="cannot reach",
                margin=max(distance, angle),
            )
            error.constraint, error.gap, error.angle = worst.name, distance, angle
        error.q, error.joints = q, joints
        return error

    def _spans(self) -> list[tuple[Constraint, range]]:
        """Rows of every constraint."""
        first, spans = 0, []
        for x in self._constraints:
            spans.append((x, range(first, first + len(x.rows))))
            first += len(x.rows)
        return spans

    @staticmethod
    def _angular(x: Constraint, row: int) -> bool:
        return x.rows[row].partition(" ")[0] in ("tilt", "turn", "dot")

    def _frames(self, x: Constraint, q: Array, t: float) -> tuple[Array, Array]:
        """Axes of both joint frames in base axes."""
        frames = []
        for side, R in ((x.a, x.rotation_a), (x.b, x.rotation_b)):
            link = (
                side.motion(t)[:9].reshape(3, 3) if isinstance(side, Target) else self._chain.pose(q, str(side))[:3, :3]
            )
            frames.append(link @ R)
        return frames[0], frames[1]

    def _reversed(self, q: Array, t: float) -> str:
        """The constraint that (L12) refuses, or nothing."""
        for x in self._constraints:
            kinds = {row.partition(" ")[0] for row in x.rows}
            if not kinds & {"tilt", "turn", "screw"}:
                continue
            A, B = self._frames(x, q, t)
            cosines = np.sum(A * B, axis=0)
            held = [row[-1] for row in x.rows if row.startswith("turn")]
            needed = cosines[2:] if "tilt" in kinds else cosines if len(held) == 3 else np.ones(1)
            if needed.min() < 0.5:
                return x.name
        return ""

    def _place(self, function: str, joint: Any) -> int:
        """Where a joint stands in q."""
        if not isinstance(joint, str) or joint not in self.joint_names:
            raise ValueError(
                f"{function}: no joint {_show(joint)} in model '{self.name}'{did_you_mean(joint, self.joint_names)}"
            )
        return self.joint_names.index(joint)

    # ---- mobility

    def _scaled(self, G: Array) -> Array:
        """(L16)"""
        turning = np.array([link.joint == "revolute" for link in self._chain._moving])
        return G * np.where(turning, 1.0 / self._length, 1.0)

    def _factored(self, G: Array, rank: int) -> tuple[list[_Part], Array]:
        """Parts of the scaled Jacobian with their shares of its rank, and all singular values."""
        A = self._scaled(G)
        found = []
        for rows, joints in self._parts if G.size else [(list(range(self.m)), [])]:
            U, s, _ = np.linalg.svd(A[np.ix_(rows, joints)]) if joints else (np.eye(len(rows)), np.zeros(0), None)
            found.append(_Part(rows, joints, U, s, 0))
        values = np.sort(np.concatenate([part.values for part in found]))[::-1]
        least = values[rank] if rank < values.size else -1.0
        return [part._replace(rank=int(np.sum(part.values > least))) for part in found], values

    def _state(self, function: str, q: ArrayLike, t: float) -> tuple[Array, Array, float]:
        """q and the residuals of a state that meets the constraints."""
        fail = failing(function)
        state = as_array(q, fail, "q", (self.n,))
        when = as_number(t, fail, "t")
        f = self.residual(state, when)
        if f.size and np.abs(f).max() > self._open:
            names = self.row_names[int(np.argmax(np.abs(f)))]
            raise ValueError(
                f"{function}: constraint {_show(names[0])} is open by {np.abs(f).max():.3g} m, expected a q that meets"
                " it: close(q) finds one"
            )
        return state, f, when

    def _require_rates(self, function: str, q: Array, qd: Array, t: Array) -> None:
        """Refuse rates that open a constraint, as the core does."""
        if not self.m:
            return
        fd = np.abs(self.constraint_velocity(q, qd, t))
        own = np.sum(qd * qd / self._scaled(np.ones((1, self.n)))[0] ** 2, axis=-1)
        most = np.sqrt((1e-6 * self._length) ** 2 + 1e-8 * own)
        wrong = fd > most[..., None]
        if wrong.any():
            at = np.unravel_index(int(np.argmax(np.where(wrong, fd, 0.0))), fd.shape)
            where = f" in row {np.ravel_multi_index(at[:-1], fd.shape[:-1])}" if fd.ndim > 1 else ""
            raise ValueError(
                f"{function}: constraint {_show(self.row_names[int(at[-1])][0])} of model '{self.name}' opens at"
                f" {fd[at]:.3g} m/s (angles times {self._length:.3g} m){where}, expected a qd that meets it:"
                " velocities(q, {joint: rate}) and project_velocity(q, qd) find one"
            )

    def mobility(self, q: ArrayLike, t: float = 0.0) -> Mobility:
        """Degrees of freedom at q, with redundant equations and passive joints named. (L16)-(L18)

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> m = four_bar.mobility(four_bar.close([0.8, 0.0, 1.5]))
        >>> m.degrees, m.redundant
        (1, 3)
        >>> [row for constraint, row in m.involved]
        ['force along z', 'moment about x', 'moment about y']
        """
        state, f, when = self._state("mobility", q, t)
        G = self._jacobian_at(state, when)
        rank, values = _core.linkage_rank(self, G, f)
        parts, s = self._factored(G, rank)
        zero = np.abs(self._scaled(G)).max(axis=1, initial=0.0) < 1e-13 if G.size else np.zeros(self.m, bool)
        for i in np.flatnonzero(zero & (np.abs(f) > 1e-9 * self._length)):
            name, row = self.row_names[i]
            raise ModelError(f"mobility: constraint {_show(name)} contradicts the others: no motion changes its {row}")
        share = np.zeros(self.m)  # in what the rows leave out
        for part in parts:
            share[part.rows] = np.abs(part.left[:, part.rank :]).max(axis=1, initial=0.0)
        involved = tuple(name for name, size in zip(self.row_names, share, strict=True) if size > 1e-8)
        first = float(s[0]) if s.size else 0.0
        last = float(s[rank - 1]) / first if rank else 1.0
        next_ = float(s[rank]) / first if rank < s.size and first else 0.0
        gap = last / next_ if next_ > 0 else math.inf
        generic = len(self._active) if self._samples else rank
        status = "regular"
        if rank < generic:
            status = "singular"
        elif gap < 1e3:
            status = "rank uncertain"
        elif last < 1e-6:
            status = "near singular"
        return Mobility(
            self.n - rank, rank, self.m, self.m - rank, values, gap, involved, self._passive(G), status, generic
        )

    def _passive(self, G: Array) -> tuple[str, ...]:
        """Joints on a loop whose motion the loop does not feel."""
        on_path: set[str] = set()
        parents = {link.name: link.parent for link in self._chain.links}
        joints = {link.name: link.joint_name for link in self._chain._moving}

        def way(link: Any) -> list[str]:
            names = []
            while isinstance(link, str) and link in parents:
                names.append(link)
                link = parents[link]
            return names

        for x in self._constraints:
            a, b = way(x.a), way(x.b)
            on_path |= {joints[link] for link in set(a) ^ set(b) if link in joints}
        size = np.abs(self._scaled(G)).max(initial=0.0) if G.size else 0.0
        still = np.abs(self._scaled(G)).max(axis=0, initial=0.0) <= 1e-12 * size if G.size else np.zeros(self.n, bool)
        return tuple(name for name, quiet in zip(self.joint_names, still, strict=True) if quiet and name in on_path)

    def independent(self, q: ArrayLike, joints: Iterable[str] | None = None, t: float = 0.0) -> tuple[str, ...]:
        """Joints whose coordinates determine all others near q; the user's, checked, or a good choice. (L31)

        Raises
        ------
        SingularityError
            The joints that were named do not determine the rest.

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> q = four_bar.close([0.8, 0.0, 1.5])
        >>> four_bar.independent(q, ["crank_joint"])
        ('crank_joint',)
        """
        state, f, when = self._state("independent", q, t)
        J = self._jacobian_at(state, when)
        G = self._scaled(J)
        rank, _ = _core.linkage_rank(self, J, f)
        degrees = self.n - rank
        if joints is not None:
            names = tuple(joints)
            places = [self._place("independent", joint) for joint in names]
            if len(set(places)) != len(places) or len(places) != degrees:
                raise ValueError(f"independent: {len(places)} joints given, expected {degrees} different ones")
            rest = [i for i in range(self.n) if i not in places]
            s = np.linalg.svd(G[:, rest], compute_uv=False)
            if rank and not s[rank - 1] > 1e-6 * s[0]:
                listed = ", ".join(names)
                raise SingularityError(
                    f"independent: {listed} do not determine the other joints of model '{self.name}' here"
                )
            return names
        # the dependent ones: columns of G that are most different from each other
        dependent: set[int] = set()
        for part in self._factored(J, rank)[0]:
            left = G[np.ix_(part.rows, part.joints)]
            taken: list[int] = []
            for _ in range(part.rank):
                sizes = np.linalg.norm(left, axis=0)
                sizes[taken] = -1.0
                taken.append(best := int(np.argmax(sizes)))
                v = left[:, best] / sizes[best]
                left -= np.outer(v, v @ left)
            dependent |= {part.joints[i] for i in taken}
        return tuple(name for i, name in enumerate(self.joint_names) if i not in dependent)

    def singularity(self, q: ArrayLike, t: float = 0.0) -> SingularConfiguration:
        """Whether q is a singular configuration, and of which kind, to second order. (L19)-(L20)

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> four_bar.singularity(four_bar.close([0.8, 0.0, 1.5])).kind
        'regular'
        """
        state, f, when = self._state("singularity", q, t)
        G = self._jacobian_at(state, when)
        rank, _ = _core.linkage_rank(self, G, f)
        U, _, Vt = np.linalg.svd(self._scaled(G))
        turning = np.array([link.joint == "revolute" for link in self._chain._moving])
        V = (Vt[rank:].T.T * np.where(turning, 1.0 / self._length, 1.0)).T
        Y = U[:, rank:]
        generic = len(self._active) if self._samples else rank
        lost = max(0, generic - rank)
        d = V.shape[1]

        def bent(v: Array) -> Array:
            return Y.T @ (self.constraint_bias(state, v, when) - self.constraint_bias(state, 0 * v, when))

        Q = np.zeros((Y.shape[1], d, d))
        for i in range(d):
            for j in range(i + 1):
                Q[:, i, j] = Q[:, j, i] = (bent(V[:, i] + V[:, j]) - bent(V[:, i]) - bent(V[:, j])) / 2
        scale = np.abs(Q).max(initial=0.0)
        if not lost and scale < 1e-9 * self._length:
            return SingularConfiguration("regular", lost, (V / np.abs(V).max(axis=0)).T if d else np.zeros((0, self.n)))
        if scale < 1e-9 * self._length:
            return SingularConfiguration("undecided", lost, np.zeros((0, self.n)))
        # independent forms: those of the largest singular values
        forms = np.linalg.svd(Q.reshape(len(Q), -1))[2][
            : np.linalg.matrix_rank(Q.reshape(len(Q), -1), tol=1e-8 * scale)
        ]
        forms = forms.reshape(-1, d, d)
        for form in forms:
            eigen = np.linalg.eigvalsh((form + form.T) / 2)
            if eigen[0] > 1e-8 * eigen[-1] > 0 or eigen[-1] < 1e-8 * eigen[0] < 0:
                return SingularConfiguration("immobile", lost, np.zeros((0, self.n)))
        if d == 2 and len(forms) == 1:
            (a, b), (_, c) = forms[0]
            roots = [(1.0, 0.0)] if abs(c) < 1e-12 else []
            if abs(c) < 1e-12:
                roots = [(0.0, 1.0), (1.0, -a / (2 * b)) if b else (0.0, 1.0)]
            else:
                r = math.sqrt(max(0.0, b * b - a * c))
                roots = [(1.0, (-b + r) / c), (1.0, (-b - r) / c)]
            tangents = np.array([V @ np.array(root) for root in roots])
            tangents /= np.abs(tangents).max(axis=1, keepdims=True)
            return SingularConfiguration("branches cross", lost, tangents)
        return SingularConfiguration("undecided" if len(forms) > 1 else "branches cross", lost, np.zeros((0, self.n)))

    # ---- motion that the constraints allow

    def velocities(self, q: ArrayLike, rates: Mapping[str, float], t: float = 0.0) -> Array:
        """All joint rates (n,) from those of the named joints, so that the constraints hold. (L29)

        Raises
        ------
        SingularityError
            The named joints do not determine the others here.
        ValueError
            Their rates contradict each other.

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
        >>> four_bar.velocities(q, {"crank_joint": 3.0}).round(4)
        array([ 3.    , -3.8409,  0.3412])
        """
        state, _, when = self._state("velocities", q, t)
        return self._follow("velocities", state, rates, self.constraint_velocity(state, 0 * state, when), when)

    def accelerations(self, q: ArrayLike, qd: ArrayLike, accelerations: Mapping[str, float], t: float = 0.0) -> Array:
        """All joint accelerations (n,) from those of the named joints, so that the constraints hold. (L29)

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
        >>> qd = four_bar.velocities(q, {"crank_joint": 3.0})
        >>> four_bar.accelerations(q, qd, {"crank_joint": 0.0}).round(4)
        array([0.    , 2.6708, 5.3117])
        """
        state, _, when = self._state("accelerations", q, t)
        rate = as_array(qd, failing("accelerations"), "qd", (self.n,))
        self._require_rates("accelerations", state, rate, np.asarray(when))
        gam = self.constraint_bias(state, rate, when)
        return self._follow("accelerations", state, accelerations, gam, when)

    def _follow(self, function: str, q: Array, named: Mapping[str, float], constant: Array, t: float) -> Array:
        if not isinstance(named, Mapping):
            raise TypeError(f"{function}: got {_show(named)}, expected a dictionary of joints to numbers")
        fail, out = failing(function), np.zeros(self.n)
        places = [self._place(function, joint) for joint in named]
        out[places] = [as_number(x, fail, f"value of joint {_show(joint)}") for joint, x in named.items()]
        rest = [i for i in range(self.n) if i not in places]
        G = self._jacobian_at(q, t)
        wanted = -constant - G @ out
        scale = self._scaled(np.ones((1, self.n)))[0]
        A = G[:, rest] * scale[rest]
        U, s, Vt = (
            np.linalg.svd(A, full_matrices=False) if A.size else (np.zeros((self.m, 0)), np.zeros(0), np.zeros((0, 0)))
        )
        rank = int(np.sum(s > 1e-9 * s[0])) if s.size else 0
        if rank < len(rest):
            listed = f"{', '.join(named)} do" if named else "constraints alone do"
            raise SingularityError(f"{function}: {listed} not determine the other joints of model '{self.name}' here")
        x = Vt.T @ ((U.T @ wanted) / s)
        left = float(np.abs(wanted - A @ x).max(initial=0.0))
        if left > 1e-8 * max(1.0, float(np.abs(wanted).max(initial=0.0))):
            who = (
                f"values of {', '.join(named)} contradict the constraints"
                if named
                else "constraints contradict each other"
            )
            raise ValueError(f"{function}: {who} by {left:.3g}")
        out[rest] = scale[rest] * x
        return out

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        actuated: Sequence[str],
        *,
        t: ArrayLike = 0.0,
        weights: ArrayLike | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        external: Mapping[str, ArrayLike] | None = None,
        base_motion: ArrayLike | None = None,
    ) -> LinkageEfforts:
        """Efforts of the actuated joints for a wanted motion. (L33)

        Parameters
        ----------
        q, qd, qdd : (..., n) array
            They must meet the constraints; `velocities` and `accelerations` give such ones.
        actuated : joints
            As many as degrees of freedom; fewer leave a residual unless the motion needs no more, more are shared with
            the least weighted sum of squares.
        t : (...) array, s
        weights : (number of actuated joints,) array, optional
            Of the squares, positive.
        bounds : pair of arrays, optional
            Least and largest efforts; of over-actuated linkages the efforts stay inside if they can.
        external, base_motion
            Wrenches on links and the motion of the base, as `Chain.inverse_dynamics` takes them.

        Returns
        -------
        LinkageEfforts

        Raises
        ------
        ValueError
            The motion violates the constraints; efforts inside the bounds do not exist.

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
        >>> qd = four_bar.velocities(q, {"crank_joint": 3.0})
        >>> qdd = four_bar.accelerations(q, qd, {"crank_joint": 0.0})
        >>> four_bar.inverse_dynamics(q, qd, qdd, ["crank_joint"]).effort.round(4)
        array([4.3321])
        >>> four_bar.inverse_dynamics(q, qd, qdd, ["crank_joint", "rocker_joint"]).effort.round(4)
        array([4.2768, 0.4864])
        """
        fail = failing("inverse_dynamics")
        n = self.n
        states, rates, wanted = (
            as_array(x, fail, key, (n,), lead=True) for key, x in (("q", q), ("qd", qd), ("qdd", qdd))
        )
        names = as_list(actuated)
        if not names:
            fail(f"actuated is {_show(actuated)}, expected names of joints")
        places = [self._place("inverse_dynamics", joint) for joint in names]
        if len(set(places)) < len(places):
            fail(f"actuated is {_show(actuated)}, expected different joints")
        k = len(places)
        W = np.ones(k) if weights is None else as_array(weights, fail, "weights", (k,))
        if not (W > 0).all():
            fail(f"weights is {_show(W.tolist())}, expected positive numbers")
        box = None
        if bounds is not None:
            if not isinstance(bounds, tuple | list) or len(bounds) != 2:
                fail(f"bounds is {_show(bounds)}, expected a pair of least and largest efforts")
            try:
                low, high = (np.broadcast_to(as_raw(x, fail, "bounds").astype(float), (k,)) for x in bounds)
            except ValueError:
                fail(f"bounds is {_show(bounds)}, expected two numbers or two arrays of shape ({k},)")
            if np.isnan(low).any() or np.isnan(high).any():
                fail("bounds is not a number somewhere, expected least and largest efforts")
            if not (low <= high).all():
                fail("bounds leave no room: lower above upper")
            box = low, high
        time = as_raw(t, fail, "t").astype(float)
        lead = _lead(fail, q=states.shape[:-1], qd=rates.shape[:-1], qdd=wanted.shape[:-1], t=time.shape)
        states, rates, wanted = (np.broadcast_to(x, (*lead, n)) for x in (states, rates, wanted))
        time = np.broadcast_to(time, lead)
        needed = np.broadcast_to(
            self._chain.inverse_dynamics(
                states, rates, wanted, external=None if external is None else dict(external), base_motion=base_motion
            ),
            (*lead, n),
        )
        self._require_rates("inverse_dynamics", states, rates, time)
        G = self.constraint_jacobian(states, time) if self.m else np.zeros((*lead, 0, n))
        gam = self.constraint_bias(states, rates, time) if self.m else np.zeros((*lead, 0))
        effort, residual, internal, kinds = np.zeros((*lead, k)), np.zeros(lead), [], set()
        for at in np.ndindex(lead):
            left = G[at] @ wanted[at] + gam[at]
            scale = np.abs(G[at]) @ np.abs(wanted[at]) + np.abs(gam[at])
            if left.size and np.abs(left).max() > 1e-9 * max(1.0, float(scale.max())):
                name = self.row_names[int(np.argmax(np.abs(left)))][0]
                fail(
                    f"qdd violates constraint {_show(name)} by {np.abs(left).max():.3g} m/s^2;"
                    " accelerations(...) gives one"
                )
            f = self.residual(states[at], time[at]) if self.m else np.zeros(0)
            rank = _core.linkage_rank(self, np.ascontiguousarray(G[at]), f)[0] if self.m else 0
            Z = (
                np.linalg.svd(self._scaled(G[at]))[2][rank:].T * self._scaled(np.ones((1, n))).T
                if self.m
                else np.eye(n)
            )
            effort[at], residual[at], free, kind = _shared(Z[places].T, Z.T @ needed[at], W, box, fail)
            internal.append(free)
            kinds.add(kind)
        tau = np.zeros((*lead, n))
        tau[..., places] = effort
        shapes = {x.shape for x in internal}
        joined = np.reshape(internal, (*lead, *internal[0].shape)) if len(shapes) == 1 else np.zeros((*lead, 0, k))
        return LinkageEfforts(effort, tau, residual, " or ".join(sorted(kinds)), joined)

    def cut_joints(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike | None = None, *, t: float = 0.0
    ) -> dict[str, CutJoint]:
        """Coordinates of the joints that close loops, as if they were joints of the tree. (L13)

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> q = four_bar.close([0.8, 0.0, 1.5], hold=["crank_joint"])
        >>> qd = four_bar.velocities(q, {"crank_joint": 3.0})
        >>> float(four_bar.cut_joints(q, qd)["coupler-rocker"].angle.round(4))
        1.049
        """
        fail = failing("cut_joints")
        state, rate = (as_array(x, fail, key, (self.n,), lead=True) for key, x in (("q", q), ("qd", qd)))
        acceleration = np.zeros(self.n) if qdd is None else as_array(qdd, fail, "qdd", (self.n,), lead=True)
        lead = _lead(fail, q=state.shape[:-1], qd=rate.shape[:-1], qdd=acceleration.shape[:-1])
        out = {}
        for x in self._constraints:
            if x.kind not in ("revolute", "cylindrical", "prismatic", "screw", "planar", "universal"):
                continue
            (Ra, pa, wa, va, ea, aa), (Rb, pb, wb, vb, eb, ab) = (
                self._side(side, point, R, state, rate, acceleration, lead, t)
                for side, point, R in ((x.a, x.point_a, x.rotation_a), (x.b, x.point_b, x.rotation_b))
            )
            nothing = np.full(lead, np.nan)
            values = dict.fromkeys(CutJoint._fields, nothing)
            z = Ra[..., :, 2]

            def along(v: Array, z: Array = z) -> Array:
                return np.asarray(np.sum(z * v, axis=-1))

            if x.kind in ("revolute", "cylindrical", "screw", "planar"):
                turn = np.sum(Ra[..., :, :2] * Rb[..., :, :1], axis=-2)
                values["angle"] = np.arctan2(turn[..., 1], turn[..., 0])
                values["angle_rate"] = along(wb - wa)
                values["angle_acceleration"] = along(eb - ea) if qdd is not None else nothing
            if x.kind in ("prismatic", "cylindrical", "screw"):
                d, dv = pb - pa, vb - va
                values["slide"] = along(d)
                values["slide_rate"] = along(dv - np.cross(wa, d))
                relative = ab - aa - 2 * np.cross(wa, dv) - np.cross(ea, d) + np.cross(wa, np.cross(wa, d))
                values["slide_acceleration"] = along(relative) if qdd is not None else nothing
            out[x.name] = CutJoint(**values)
        return out

    def _side(
        self, side: Any, point: Array, R: Array, q: Array, qd: Array, qdd: Array, lead: tuple[int, ...], t: float
    ) -> tuple[Array, ...]:
        """Axes, point, angular velocity, velocity, angular acceleration and acceleration of one end, base axes."""
        if isinstance(side, Target):
            x = side.motion(t)
            pose, twist, bent = np.eye(4), np.r_[x[15:18], x[12:15]], np.r_[x[21:24], x[18:21]]
            pose[:3, :3], pose[:3, 3] = x[:9].reshape(3, 3), x[9:12]
            arm = pose[:3, :3] @ point
            twist[:3] += np.cross(twist[3:], arm)
            bent[:3] += np.cross(bent[3:], arm) + np.cross(twist[3:], np.cross(twist[3:], arm))
            pose[:3, 3] += arm
        else:
            chain = self._chain
            pose = np.array(chain.pose(q, side))
            pose[..., :3, 3] += pose[..., :3, :3] @ point
            twist, bent = chain.velocity(q, qd, side, point), chain.acceleration(q, qd, qdd, side, point)
        axes = pose[..., :3, :3] @ R
        return axes, pose[..., :3, 3], twist[..., 3:], twist[..., :3], bent[..., 3:], bent[..., :3]


Linkage._kind = Linkage  # bound by the core as well: no common base sets it
teach(Linkage, Chain)


def constrained(chain: Chain, constraints: Any) -> Linkage:
    """A linkage for states that need not be closed; of the last ones that were asked for."""
    listed = as_list(constraints)
    if listed is None or not all(isinstance(x, Constraint) for x in listed):
        raise TypeError(f"constrained_dynamics: constraints is {_show(constraints)}, expected a list of constraints")
    return _constrained(chain, tuple(listed))


@lru_cache(maxsize=16)
def _constrained(chain: Chain, constraints: tuple[Constraint, ...]) -> Linkage:
    made = Linkage.__new__(Linkage)
    made._assemble(chain, constraints, None, math.inf)
    return made


def _lead(fail: Any, **shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The common leading shape of arguments."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        fail(f"leading shapes {', '.join(f'{key} {shape}' for key, shape in shapes.items())} do not broadcast")
        raise


def _length_of(chain: Chain, constraints: tuple[Constraint, ...]) -> float:
    """The largest distance in the description, 1 m if there is none."""
    sizes = [float(np.linalg.norm(link.position)) for link in chain.links]
    sizes += [float(np.linalg.norm(p)) for x in constraints for p in (x.point_a, x.point_b) if x.a is not None]
    return max(sizes, default=0.0) or 1.0


def _shared(
    A: Array, b: Array, weights: Array, box: tuple[Array, Array] | None, fail: Any
) -> tuple[Array, float, Array, str]:
    """A x = b with the least weighted squares, inside a box if there is one: x, what is left, null space, kind."""
    root = 1.0 / np.sqrt(weights)
    U, s, Vt = np.linalg.svd(A * root)
    rank = int(np.sum(s > 1e-9 * s[0])) if s.size and s[0] > 0 else 0
    x = root * (Vt[:rank].T @ ((U[:, :rank].T @ b) / s[:rank]))
    free = Vt[rank:] * root
    kind = "under" if rank < A.shape[0] else "over" if A.shape[1] > rank else "full"
    left = float(np.abs(A @ x - b).max(initial=0.0))
    residual = left if kind == "under" and left > 1e-9 * max(1.0, float(np.abs(b).max(initial=0.0))) else 0.0
    if box is None:
        return x, residual, free, kind
    low, high = box
    x = _boxed(A, b, x, weights, low, high, fail)
    return x, residual, free, kind


def _boxed(A: Array, b: Array, x: Array, weights: Array, low: Array, high: Array, fail: Any) -> Array:
    """Least weighted squares with A x = b inside a box, by its active set."""
    k = x.size
    at = np.zeros(k, int)  # -1 at the lower bound, 1 at the upper
    slack = 1e-9 * max(1.0, float(np.abs(x).max(initial=0.0)))
    for _ in range(20 * k + 20):
        loose = at == 0
        fixed = np.where(at < 0, low, np.where(at > 0, high, 0.0))
        trial = fixed.copy()
        root = 1.0 / np.sqrt(weights[loose])
        rest = b - A @ fixed
        y = np.linalg.lstsq(A[:, loose] * root, rest, rcond=1e-10)[0] if loose.any() else np.zeros(0)
        trial[loose] = root * y
        beyond = np.maximum(trial - high, low - trial)
        beyond[~loose] = -np.inf
        if beyond.max(initial=-np.inf) > slack:
            worst = int(np.argmax(beyond))
            at[worst] = 1 if trial[worst] > high[worst] else -1
            continue
        if np.abs(A @ trial - b).max(initial=0.0) > 1e-7 * max(1.0, float(np.abs(b).max(initial=0.0))):
            fail("there are no efforts inside the bounds for this motion")
        # multipliers of the equations, then of the bounds: those that pull inwards are let go
        lam = (
            np.linalg.lstsq(A[:, loose].T, weights[loose] * trial[loose], rcond=1e-10)[0]
            if loose.any()
            else np.zeros(len(b))
        )
        push = (weights * trial - A.T @ lam) * at
        push[loose] = -np.inf
        if push.max(initial=-np.inf) <= slack:
            return np.clip(trial, low, high)
        at[int(np.argmax(push))] = 0
    fail("efforts inside the bounds were not found")
    return x
