"""State-space models of a linearised chain: inputs and outputs of every kind, discretisation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import numpy as np

from .. import _core
from .._check import Array, Fail, _show, as_amount, as_array, did_you_mean
from .._extras import optional
from .loads import read_only, require_mass

if TYPE_CHECKING:
    from ..model import Chain
    from .linear import Linearisation

__all__ = ["Inputs", "Outputs", "StateSpace", "state_space_of"]

Inputs: TypeAlias = str | Sequence[Any] | Mapping[str, Any] | None
Outputs: TypeAlias = str | Sequence[Any] | None

COMPONENTS: Final = ("fx", "fy", "fz", "mx", "my", "mz")
TWIST: Final = ("x", "y", "z", "rx", "ry", "rz")
BASE: Final = "base_acceleration"
OF_JOINTS: Final = ("q", "qd", "qdd", "tau")
OPTIONS: Final = ("method", "link", "point", "frame", "about")  # that `Chain.trace` takes
STEP: Final = 1e-30  # of the imaginary part: its square vanishes beside 1
NUMBERS: Final = 4_000_000  # that one evaluation of a graph keeps: 64 Mbyte
NODES: Final = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class StateSpace:
    """x' = A x + B u, y = C x + D u, or with `dt` x[k+1] = A x[k] + B u[k]; deviations from an operating point.

    Unpacks to its four matrices: ``A, B, C, D = model``, ``control.ss(*model)``, ``scipy.signal.StateSpace(*model)``;
    of a discrete one ``control.ss(*model, model.dt)`` and ``scipy.signal.StateSpace(*model, dt=model.dt)``.

    Attributes
    ----------
    A : (..., 2 n, 2 n) array
    B : (..., 2 n, inputs) array
    C : (..., outputs, 2 n) array
    D : (..., outputs, inputs) array
    dt : float, s, or None
        Step of a discrete model.
    states, inputs, outputs : tuple of str
        Names: "q shoulder", "qd shoulder"; "tau shoulder", "wrench tool fz"; "pose tool x", ...
    state_units, input_units, output_units : tuple of str
    x0, u0, y0 : (..., size) arrays
        The operating point that x, u and y are deviations from. Rotations of a pose are counted from it: zero.
    name : str
        Of the chain.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    dt: float | None
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    state_units: tuple[str, ...]
    input_units: tuple[str, ...]
    output_units: tuple[str, ...]
    x0: Array
    u0: Array
    y0: Array
    name: str

    def __iter__(self) -> Iterator[Array]:
        return iter((self.A, self.B, self.C, self.D))

    def __len__(self) -> int:
        return 4

    def discretise(self, dt: float) -> StateSpace:
        """The model at multiples of `dt` (s), inputs held between them: exact, by the exponential of [A B; 0 0] dt.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> model = zv.robots.two_link().linearise([np.pi / 2, 0.0]).state_space()
        >>> half = model.discretise(0.01)
        >>> bool(np.allclose(half.A @ half.A, model.discretise(0.02).A))
        True
        """

        def fail(text: str) -> NoReturn:
            raise ValueError(f"discretise: {text}")

        if self.dt is not None:
            fail(f"the model is discrete already, with dt = {self.dt:g} s")
        step = as_amount(dt, fail, "dt", positive=True)
        linalg = optional("scipy.linalg", "StateSpace.discretise", "scipy")
        n, m = self.A.shape[-1], self.B.shape[-1]
        block = np.zeros((*self.A.shape[:-2], n + m, n + m))
        block[..., :n, :n], block[..., :n, n:] = self.A * step, self.B * step
        if not np.isfinite(block).all() or np.abs(block).max() > 1e6:
            fail(f"dt is {step:g} s, too long for eigenvalues up to {np.abs(self.A).max():.3g}")
        power = linalg.expm(block)
        values = vars(self) | {"A": read_only(power[..., :n, :n]), "B": read_only(power[..., :n, n:]), "dt": step}
        return StateSpace(**values)

    def select(self, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None) -> StateSpace:
        """The model with some of its inputs and outputs, by name, in the order given; default: all.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> model = zv.robots.two_link().linearise([np.pi / 2, 0.0]).state_space(outputs=["com", ("pose", "tip")])
        >>> model.select(outputs=["pose tip x", "com x"]).C.round(6) + 0.0
        array([[-2.  , -1.  ,  0.  ,  0.  ],
               [-1.  , -0.25,  0.  ,  0.  ]])
        """
        columns, rows = _places("inputs", inputs, self.inputs), _places("outputs", outputs, self.outputs)
        changes = {
            "B": read_only(self.B[..., columns]),
            "C": read_only(self.C[..., rows, :]),
            "D": read_only(self.D[..., rows, :][..., columns]),
            "inputs": tuple(self.inputs[k] for k in columns),
            "outputs": tuple(self.outputs[k] for k in rows),
            "input_units": tuple(self.input_units[k] for k in columns),
            "output_units": tuple(self.output_units[k] for k in rows),
            "u0": read_only(self.u0[..., columns]),
            "y0": read_only(self.y0[..., rows]),
        }
        return StateSpace(**vars(self) | changes)

    def __repr__(self) -> str:
        lead = self.A.shape[:-2]
        where = f" at {lead} states" if lead else ""
        each = ((self.states, "state"), (self.inputs, "input"), (self.outputs, "output"))
        counts = ", ".join(f"{len(x)} {word}{'' if len(x) == 1 else 's'}" for x, word in each)
        return f"StateSpace of '{self.name}'{where}: {counts}{'' if self.dt is None else f', dt = {self.dt:g} s'}"


def _places(what: str, wanted: Sequence[str] | None, names: tuple[str, ...]) -> list[int]:
    """Where the wanted names stand."""
    if wanted is None:
        return list(range(len(names)))
    given = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in given:
        if name not in names:
            shown = ", ".join(map(repr, names[:12])) + (", ..." if len(names) > 12 else "")
            raise ValueError(f"select: {what} has {_show(name)}, expected some of {shown}{did_you_mean(name, names)}")
    return [names.index(name) for name in given]


@dataclass(frozen=True)
class _Input:
    """Columns of one item of `inputs`: their efforts on the joints and what they change directly."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    force: Array  # (..., n, k) generalised forces
    tau: Array  # (..., n, k) the part of them that is joint effort
    value: Array  # (..., k)
    link: str = ""  # of a wrench
    wrench: Array | None = None  # (..., 6, k) world axes
    base: Array | None = None  # (3, k)


@dataclass(frozen=True)
class _Output:
    names: tuple[str, ...]
    units: tuple[str, ...]
    C: Array
    D: Array
    value: Array


def state_space_of(lin: Linearisation, inputs: Inputs, outputs: Outputs, dt: float | None) -> StateSpace:
    """See `Linearisation.state_space`."""
    chain, n, lead = lin.chain, lin.chain.n, lin.shape

    def fail(text: str) -> NoReturn:
        raise ValueError(f"state_space: {text} for chain '{chain.name}'")

    require_mass(chain, lin.q, lin.M)
    driven = [_input(lin, item, fail) for item in _input_items(chain, inputs, fail)]
    force = np.concatenate([column.force for column in driven], axis=-1)
    answer = np.linalg.solve(lin.M, np.concatenate([lin.K, lin.B, force], axis=-1))  # M^-1 [K B G]
    m = force.shape[-1]
    A, B = np.zeros((*lead, 2 * n, 2 * n)), np.zeros((*lead, 2 * n, m))
    A[..., :n, n:] = np.eye(n)
    A[..., n:, :] = -answer[..., : 2 * n]
    B[..., n:, :] = answer[..., 2 * n :]
    items = _output_items(outputs, fail)
    units = tuple("m" if kind == "prismatic" else "rad" for kind in chain.joint_types)
    states = tuple(f"{x} {name}" for x in ("q", "qd") for name in chain.joint_names)
    measured = [_output(lin, item, driven, A, B, fail) for item in items]
    once([name for column in driven for name in column.names], "inputs", fail)
    once([name for row in measured for name in row.names], "outputs", fail)
    model = StateSpace(
        A=read_only(A),
        B=read_only(B),
        C=read_only(np.concatenate([row.C for row in measured], axis=-2)),
        D=read_only(np.concatenate([row.D for row in measured], axis=-2)),
        dt=None,
        states=states,
        inputs=tuple(name for column in driven for name in column.names),
        outputs=tuple(name for row in measured for name in row.names),
        state_units=(*units, *(f"{unit}/s" for unit in units)),
        input_units=tuple(unit for column in driven for unit in column.units),
        output_units=tuple(unit for row in measured for unit in row.units),
        x0=read_only(np.concatenate([lin.q, lin.qd], axis=-1)),
        u0=read_only(np.concatenate([column.value for column in driven], axis=-1)),
        y0=read_only(np.concatenate([row.value for row in measured], axis=-1)),
        name=chain.name,
    )
    return model if dt is None else model.discretise(dt)


def once(names: list[str], what: str, fail: Fail) -> None:
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        fail(f"{what} has {_show(twice)} twice")


def effort_units(chain: Chain) -> tuple[str, ...]:
    return tuple("N" if kind == "prismatic" else "N m" for kind in chain.joint_types)


# ---- inputs -----------------------------------------------------------------------------------------------------


def _input_items(chain: Chain, inputs: Inputs, fail: Fail) -> list[tuple[Any, ...]]:
    if inputs is None:
        return [(name,) for name in chain.joint_names]
    if isinstance(inputs, Mapping):
        return [("wrench", link) if what == "wrench" else ("wrench", link, what) for link, what in inputs.items()]
    return items_of(inputs, "inputs", "names of joints, ('wrench', link) or 'base_acceleration'", fail)


def items_of(given: object, what: str, expected: str, fail: Fail) -> list[tuple[Any, ...]]:
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Iterable):
        fail(f"{what} is {_show(given)}, expected {expected}")
    items: list[tuple[Any, ...]] = []
    for item in given:
        parts = (item,) if isinstance(item, str) else tuple(item) if isinstance(item, tuple | list) else ()
        if not parts or not isinstance(parts[0], str):
            fail(f"{what} has {_show(item)}, expected {expected}")
        items.append(parts)
    if not items:
        fail(f"{what} is empty, expected {expected}")
    return items


def _input(lin: Linearisation, item: tuple[Any, ...], fail: Fail) -> _Input:
    chain, n, lead = lin.chain, lin.chain.n, lin.shape
    none = np.zeros((*lead, n, 0))
    if item[0] == "wrench" and len(item) in (2, 3):
        return _wrench_input(lin, item, fail)
    if item == (BASE,):
        force, base = -lin.excitation[..., :3], np.eye(3)
        value = np.zeros(3) if lin.base_motion is None else lin.base_motion[..., :3]
        names = tuple(f"{BASE} {axis}" for axis in "xyz")
        shape = (*lead, n, 3)
        value = np.broadcast_to(value, (*lead, 3))
        return _Input(names, ("m/s^2",) * 3, force, np.zeros(shape), value, base=base)
    name = item[0]
    if len(item) > 1 or name not in chain.joint_names:
        known = [*chain.joint_names, BASE]
        hint = did_you_mean(name, known)
        if name in chain.link_names and len(item) == 1:
            hint = f"; a wrench on this link is ('wrench', {_show(name)})"
        shown = ", ".join(map(_show, known[:8])) + (", ..." if len(known) > 8 else "")
        told = item if len(item) > 1 else name
        fail(f"inputs has {_show(told)}, expected one of {shown}, ('wrench', link) or ('wrench', link, 'fz'){hint}")
    k = chain.joint_names.index(name)
    unit = np.broadcast_to(np.eye(n)[:, k : k + 1], (*none.shape[:-1], 1))
    return _Input((f"tau {name}",), (effort_units(chain)[k],), unit, unit, lin.tau[..., k : k + 1])


def _wrench_input(lin: Linearisation, item: tuple[Any, ...], fail: Fail) -> _Input:
    chain, link = lin.chain, item[1]
    if link not in chain.link_names:
        fail(f"inputs has {_show(item)}, and there is no such link{did_you_mean(link, chain.link_names)}")
    wanted = item[2] if len(item) == 3 else COMPONENTS
    wanted = (wanted,) if isinstance(wanted, str) else tuple(wanted) if isinstance(wanted, tuple | list) else ()
    if not wanted or any(part not in COMPONENTS for part in wanted):
        fail(f"inputs has {_show(item)}, expected components of {', '.join(COMPONENTS)}")
    columns = [COMPONENTS.index(part) for part in wanted]
    wrench = np.zeros((*lin.shape, 6, 6))
    wrench[...] = np.eye(6)
    value = lin.external.get(link, np.zeros((*lin.shape, 6)))
    if lin.external_frame == "link":
        R = chain.pose(lin.q, link)[..., :3, :3]
        wrench[..., :3, :3] = wrench[..., 3:, 3:] = R
        value = (np.swapaxes(wrench, -1, -2) @ value[..., None])[..., 0]
    wrench = wrench[..., columns]
    force = np.swapaxes(chain.jacobian(lin.q, link), -1, -2) @ wrench
    names = tuple(f"wrench {link} {part}" for part in wanted)
    units = tuple("N" if part[0] == "f" else "N m" for part in wanted)
    return _Input(names, units, force, 0 * force, value[..., columns], link=link, wrench=wrench)


# ---- outputs ----------------------------------------------------------------------------------------------------


def _output_items(outputs: Outputs, fail: Fail) -> list[tuple[Any, ...]]:
    if outputs is None:
        return [("q",), ("qd",)]
    return items_of(outputs, "outputs", "'q', 'com', ('pose', link), ... or a list of them", fail)


def _output(lin: Linearisation, item: tuple[Any, ...], driven: list[_Input], A: Array, B: Array, fail: Fail) -> _Output:
    if item[0] in OF_JOINTS:
        return _joint_output(lin, item, driven, A, B, fail)
    row, options = _function(lin.chain, item, fail)
    n = lin.chain.n
    if row["name"] == "pose":
        link, point = options["link"], options.get("point")
        J = lin.chain.jacobian(lin.q, link, point)
        T = lin.chain.pose(lin.q, link)
        where = T[..., :3, 3] if point is None else T[..., :3, 3] + T[..., :3, :3] @ point
        C = np.concatenate([J, 0 * J], axis=-1)
        value = np.concatenate([where, np.zeros_like(where)], axis=-1)
        names = tuple(f"{_title(row, options)} {axis}" for axis in TWIST)
        return _Output(names, ("m",) * 3 + ("rad",) * 3, C, np.zeros((*C.shape[:-1], B.shape[-1])), value)
    by = _derivatives(lin, row, options, driven)
    size = by["value"].shape[-1]
    C, D = np.zeros((*lin.shape, size, 2 * n)), by["direct"].copy()
    C[..., :n] += by["q"]
    C[..., n:] += by["qd"]
    C += by["qdd"] @ A[..., n:, :]
    D += by["qdd"] @ B[..., n:, :] + by["tau"] @ np.concatenate([column.tau for column in driven], axis=-1)
    names, units = _labels(lin.chain, row, options)
    return _Output(names, units, C, D, by["value"])


def _joint_output(
    lin: Linearisation, item: tuple[Any, ...], driven: list[_Input], A: Array, B: Array, fail: Any
) -> _Output:
    chain, n, lead = lin.chain, lin.chain.n, lin.shape
    what, names = item[0], chain.joint_names
    if len(item) > 2 or (len(item) == 2 and item[1] not in names):
        moved = [link.joint_name for link in chain.links if link.name == item[1] and link.joint != "fixed"]
        hint = f"; the joint of this link is {_show(moved[0])}" if moved else did_you_mean(item[1], names)
        fail(f"outputs has {_show(item)}, expected '{what}' or ('{what}', joint){hint}")
    some = [names.index(item[1])] if len(item) == 2 else list(range(n))
    turn = ["m" if kind == "prismatic" else "rad" for kind in chain.joint_types]
    unit = {"q": turn, "qd": [f"{x}/s" for x in turn], "qdd": [f"{x}/s^2" for x in turn]}
    unit["tau"] = list(effort_units(chain))
    C, D = np.zeros((*lead, n, 2 * n)), np.zeros((*lead, n, B.shape[-1]))
    if what in ("q", "qd"):
        C[...] = np.eye(2 * n)[:n] if what == "q" else np.eye(2 * n)[n:]
    elif what == "qdd":
        C[...], D[...] = A[..., n:, :], B[..., n:, :]
    else:
        D[...] = np.concatenate([column.tau for column in driven], axis=-1)
    labels = tuple(f"{what} {names[k]}" for k in some)
    units = tuple(unit[what][k] for k in some)
    return _Output(labels, units, C[..., some, :], D[..., some, :], getattr(lin, what)[..., some])


@cache
def _known() -> dict[str, dict[str, Any]]:
    """Functions of the table whose arrays are those of a state, and that need no more than a link besides."""
    state = {*OF_JOINTS, "base_motion"}
    found = {}
    for row in _core.functions("chain"):
        arrays = {slot["name"] for slot in row["parameters"] if slot["array"]}
        needed = {slot["name"] for slot in row["parameters"] if slot["required"]}
        if not row["private"] and arrays <= state and needed <= state | {"link"}:
            found[row["name"]] = row
    return found


def _function(chain: Chain, item: tuple[Any, ...], fail: Fail) -> tuple[dict[str, Any], dict[str, Any]]:
    """Row of the table and options of one item of `outputs`."""
    known = _known()
    row = known.get(item[0])
    if row is None:
        listed = ", ".join((*OF_JOINTS, *known))
        fail(f"outputs has {_show(item[0])}, expected one of {listed}{did_you_mean(item[0], (*OF_JOINTS, *known))}")
    allowed = [slot["name"] for slot in row["parameters"] if slot["name"] in OPTIONS]
    allowed += ["point"] if row["name"] == "pose" else []
    rest, options = list(item[1:]), {}
    if rest and isinstance(rest[-1], Mapping):
        options = dict(rest.pop())
    if rest and isinstance(rest[0], str) and "link" in allowed and "link" not in options:
        options["link"] = rest.pop(0)
    wrong = [key for key in options if key not in allowed]
    if rest or wrong:
        form = f"('{row['name']}', link, {{...}})" if "link" in allowed else f"('{row['name']}', {{...}})"
        has = f" with the options {', '.join(allowed)}" if allowed else ", which has no options"
        fail(f"outputs has {_show(item)}, expected {form}{has}")
    if "link" in allowed:
        link = options.get("link")
        if link not in (*chain.link_names, chain.base_name):
            hint = did_you_mean(link, chain.link_names)
            fail(f"outputs has {_show(item)}, expected ('{row['name']}', link) with the name of a link{hint}")
    if "point" in options:
        options["point"] = as_array(options["point"], fail, f"point of output '{row['name']}'", (3,))
    return row, options


def _derivatives(
    lin: Linearisation, row: Mapping[str, Any], options: Mapping[str, Any], driven: list[_Input]
) -> dict[str, Array]:
    """Derivatives of a function of the table by q, qd, qdd, tau, and its direct ones by the inputs: complex steps
    through its graph, exact to rounding."""
    chain, n, lead = lin.chain, lin.chain.n, lin.shape
    takes = {slot["name"] for slot in row["parameters"]}
    state = [name for name in OF_JOINTS if name in takes]
    direct = [column for column in driven if (column.link and "external" in takes) or column.base is not None]
    shaken = any(column.base is not None for column in direct) and "base_motion" in takes
    base = "base_motion" in takes and (shaken or lin.base_motion is not None)
    pushed = [column.link for column in direct if column.link]
    links = list(dict.fromkeys([*(lin.external if "external" in takes else ()), *pushed]))
    arguments = (*state, *(("base_motion",) if base else ()))
    traced = chain.trace(row["name"], arguments=arguments, external=links, limit=NODES, **options)

    # directions: every number of the state, then every input; q turns wrenches that are fixed in their links
    m = sum(len(column.names) for column in driven)
    count = n * len(state) + m
    zero, rows = np.zeros((*lead, 6)), {}
    for name in state:
        rows[name] = getattr(lin, name)
    if base:
        rows["base_motion"] = np.zeros((*lead, 9)) if lin.base_motion is None else lin.base_motion
    wrenches = {link: lin.external.get(link, zero) for link in links}
    values = [*rows.values(), *wrenches.values()]
    seeds = [np.zeros((*lead, count, array.shape[-1])) for array in values]
    for i in range(len(state)):
        seeds[i][..., i * n : (i + 1) * n, :] = np.eye(n)
    if lin.external_frame == "link" and "q" in state:
        at = state.index("q") * n
        for i, (link, wrench) in enumerate(wrenches.items(), len(rows)):
            turn = np.swapaxes(chain.jacobian(lin.q, link)[..., 3:, :], -1, -2)  # (..., n, 3)
            halves = wrench.reshape(*lead, 1, 2, 3)
            seeds[i][..., at : at + n, :] = np.cross(turn[..., None, :], halves).reshape(*lead, n, 6)
    at = n * len(state)
    for column in driven:
        size = len(column.names)
        if column.wrench is not None and column.link in wrenches:
            i = len(rows) + links.index(column.link)
            seeds[i][..., at : at + size, :] += np.swapaxes(column.wrench, -1, -2)
        if column.base is not None and base:
            seeds[len(state)][..., at : at + size, :3] = column.base.T
        at += size
    value, slopes = _stepped(traced.graph, values, seeds, lead, count)
    found = {name: np.zeros((*lead, value.shape[-1], n)) for name in OF_JOINTS}
    for i, name in enumerate(state):
        found[name] = slopes[..., i * n : (i + 1) * n]
    return found | {"direct": slopes[..., n * len(state) :], "value": value}


def _stepped(
    graph: Any, values: list[Array], seeds: list[Array], lead: tuple[int, ...], count: int
) -> tuple[Array, Array]:
    """Values (..., size) of a graph and their slopes (..., size, count) along the seeds."""
    states = int(np.prod(lead))
    points = [
        (np.repeat(v.reshape(states, 1, -1), count, axis=1) + 1j * STEP * s.reshape(states, count, -1)).reshape(
            states * count, -1
        )
        for v, s in zip(values, seeds, strict=True)
    ]
    total, size = states * count, sum(x.size for x in graph.outputs)
    found = np.empty((total, size), complex)
    chunk = max(1, NUMBERS // len(graph))
    for first in range(0, total, chunk):
        some = slice(first, min(first + chunk, total))
        results = graph.evaluate(*(list(x[some].T) for x in points))
        for k, number in enumerate(number for result in results for number in result):
            found[some, k] = number
    table = found.reshape(states, count, size)
    value = np.ascontiguousarray(table[:, 0].real).reshape(*lead, size)
    slopes = np.swapaxes(table.imag / STEP, -1, -2).reshape(*lead, size, count)
    return value, slopes


def _title(row: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Function, link and what else was chosen."""
    more = [f"{key}={_show(np.asarray(x).tolist())}" for key, x in options.items() if key != "link" and x is not None]
    return " ".join([row["name"], *([options["link"]] if "link" in options else []), *more])


def _labels(chain: Chain, row: Mapping[str, Any], options: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """Names and units of the numbers of a function, flat."""
    names: list[str] = []
    units: list[str] = []
    sizes = {"n": chain.n, "10N": 10 * len(chain.links), "10P": len(chain.regressor_pattern[0])}
    who = _title(row, options)
    for slot in row["outputs"]:
        shape = tuple(sizes.get(dim, dim) for dim in slot["shape"])
        halves = slot["unit"].split(" and ")
        wrench = slot["unit"] == "N and N m"
        stem = f"{who} {slot['name']}" if len(row["outputs"]) > 1 else who
        for index in np.ndindex(*shape):
            last, parts = index[-1] if index else 0, [str(i) for i in index]
            if shape[-1:] == (6,) and slot["shape"][-1] == 6:
                parts[-1] = (COMPONENTS if wrench else TWIST)[last]
            elif slot["shape"] == (3,):
                parts[-1] = "xyz"[last]
            for place, dim in enumerate(slot["shape"]):
                if dim == "n":
                    parts[place] = chain.joint_names[index[place]]
            names.append(" ".join([stem, *parts]))
            if len(halves) == 2 and slot["shape"][-1] == 6:
                units.append(halves[last // 3])
            elif slot["shape"] == ("n",) and " or " in slot["unit"]:
                turn, slide = slot["unit"].split(" or ")
                units.append(slide if chain.joint_types[last] == "prismatic" else turn)
            else:
                units.append(slot["unit"])
    return tuple(names), tuple(units)
