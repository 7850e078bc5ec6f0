"""The everyday jobs on a robot that is known: what does it carry, and how much torque is an ampere."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import Array, _show, as_choice, as_integer, did_you_mean, failing
from ..inertial import from_pseudo_inertia, to_body, to_pseudo_inertia
from ..model.body import Body
from .delay import delay_findings, find_delays
from .fit import (
    NOT,
    POOR,
    WELL,
    Fit,
    IdentificationWarning,
    Parameter,
    Parameters,
    _align,
    _delay_of,
    _processors,
    _put_in_line,
)
from .log import Finding, Log, LogError, prepare, read_log
from .model import LinearModel, random_states
from .physical import body_of, coordinates_of, is_physical
from .residuals import Residuals, look_at_residuals
from .solve import Chunk, factorise, joint_rows, solve, student, triangular
from .terms import Term, as_terms

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["Gains", "Payload", "identify_gains", "identify_payload"]

_NAMES = ("m", "Sx", "Sy", "Sz", "Jxx", "Jxy", "Jxz", "Jyy", "Jyz", "Jzz")
_UNITS = ("kg", "kg m", "kg m", "kg m", *6 * ("kg m^2",))


class _Carried:
    """Efforts of a body on one link and of terms of joints; everything else is known."""

    def __init__(self, robot: Chain | Fit, link: int, terms: Sequence[Term]) -> None:
        self.robot = robot
        self.chain: Chain = robot._given if isinstance(robot, Fit) else robot
        self._columns = np.arange(10 * link, 10 * link + 10)
        n = self.chain.n
        kinds = [0 if kind == "revolute" else 1 for kind in self.chain.joint_types]
        self.extra = [
            (term, j)
            for term in terms
            for j in range(n)
            if term.joints is None or self.chain.joint_names[j] in term.joints
        ]
        names = [*_NAMES, *(f"{getattr(term, 'name', term.symbol)}{j + 1}" for term, j in self.extra)]
        units = [*_UNITS, *(getattr(term, "unit", term.units[kinds[j]]) for term, j in self.extra)]
        q, qd, qdd = random_states(self.chain.n, 40)
        W = self._all(q, qd, qdd)
        flat = W.reshape(-1, W.shape[-1])
        size = np.linalg.norm(flat, axis=0)
        kept: list[int] = []
        for k in range(flat.shape[1]):
            if size[k] > 1e-12 * size.max():
                v = flat[:, k] / size[k]
                base = flat[:, kept] / size[kept]
                if np.linalg.norm(v - base @ np.linalg.lstsq(base, v, rcond=None)[0]) > 1e-8:
                    kept.append(k)
        self.kept = np.array(kept, dtype=np.intp)
        self.dependent = [names[k] for k in range(len(names)) if k not in kept]
        self.base_names = tuple(names[k] for k in kept)
        self.base_units = tuple(units[k] for k in kept)
        self.count = len(kept)
        self.active = [np.flatnonzero((W[:, j][:, self.kept] != 0).any(axis=0)) for j in range(n)]
        self._added = [self.extra[k - 10] for k in kept if k >= 10]
        self.needs_load = False

    def rates(self, q: Array, qd: Array) -> Array:
        return qd

    def _all(self, q: Array, qd: Array, qdd: Array) -> Array:
        W = np.zeros((*q.shape, 10 + len(self.extra)))
        W[..., :10] = self.chain.regressor(q, qd, qdd)[..., self._columns]
        for k, (term, j) in enumerate(self.extra, 10):
            W[:, j, k] = term.values(q, qd, qdd, None)[:, j]
        return W

    def joint_blocks(self, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> list[Array]:
        W = self._all(q, qd, qdd)[..., self.kept]
        return [W[:, j, active] for j, active in enumerate(self.active)]

    def efforts(self, base: Array, q: Array, qd: Array, qdd: Array, load: Array | None = None) -> Array:
        return np.asarray(self._all(q, qd, qdd)[..., self.kept] @ base)

    def known(self, q: Array, qd: Array, qdd: Array) -> Array:
        if isinstance(self.robot, Fit):
            return self.robot.predict(q, qd, qdd)
        return np.asarray(self.robot.inverse_dynamics(q, qd, qdd))


@dataclass(frozen=True)
class Payload:
    """A body that a robot carries, found by `identify_payload`.

    Attributes
    ----------
    mass : float, kg
        NaN, as the others, if the motion does not show it.
    com : (3,) array, m
        In the frame of the link that carries it.
    inertia : (3, 3) array, kg m^2
        About the centre of mass, in the axes of the link.
    mass_deviation, com_deviation
        Standard deviations.
    parameters : Parameters
        As measured, with intervals; ten numbers of the body about the origin of the link, then terms of joints.
    body : Body
        One that can exist, nearest to what was measured; what was not is that of a ball of 5 cm.
    chain : Chain
        The robot with it.
    physical : bool
        Whether the measured numbers are already those of a body.
    rms : (n,) array
    findings : tuple of Finding
    """

    mass: float
    com: Array
    inertia: Array
    mass_deviation: float
    com_deviation: Array
    parameters: Parameters
    body: Body
    chain: Chain
    physical: bool
    rms: Array
    findings: tuple[Finding, ...]
    residuals: Residuals

    def __repr__(self) -> str:
        com = ", ".join(f"{x:.4g}" for x in self.com.tolist())
        off = ", ".join(f"{x:.1g}" for x in self.com_deviation.tolist())
        return f"Payload of {self.mass:.4g} kg +- {self.mass_deviation:.1g}, com ({com}) m +- ({off})"


def identify_payload(
    robot: Chain | Fit,
    log: Any,
    *,
    link: str | None = None,
    friction: Any = None,
    cutoff: float | None = None,
    period: float | None = None,
    columns: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    rate: float | None = None,
    delay: ArrayLike | str | None = None,
    threads: int = 0,
) -> Payload:
    """Mass, centre of mass and inertia of what a known robot carries.

    Parameters
    ----------
    robot : Fit or Chain
        The robot without it: best the `Fit` of a log of the same kind, whose friction and base parameters are then
        known; of a `Chain` all parameters are believed.
    log : mapping of arrays, Log, table or path
        A motion with the payload; see `read_log`.
    link : str, optional
        Link that carries it, by default the last one that moves.
    friction : words or terms, optional
        Terms of joints that are identified together with it; by default those of a `Fit` stay as they are, and a
        `Chain` gets ``viscous, coulomb``.
    cutoff, period, columns, units, rate, threads
        As of `identify`.
    delay : float or (n,) array, s, or 'estimate', optional
        As of `identify`; by default that of the `Fit`.

    Returns
    -------
    payload : Payload

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.ur5e()
    >>> t = np.arange(0.0, 10.0, 0.01)[:, None]
    >>> w = np.array([1.0, 1.3, 1.7, 2.1, 2.6, 3.1])
    >>> q, qd, qdd = np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t)
    >>> loaded = arm.with_payload("wrist_3", 2.0, com=(0.0, 0.02, 0.1), inertia=0.01)
    >>> tau = loaded.inverse_dynamics(q, qd, qdd) + np.random.default_rng(0).normal(scale=0.2, size=q.shape)
    >>> found = zv.identification.identify_payload(arm, {"t": t[:, 0], "q": q, "qd": qd, "qdd": qdd, "tau": tau})
    >>> bool(abs(found.mass - 2.0) < 4 * found.mass_deviation)
    True
    """
    fail = failing("identify_payload")
    if not isinstance(robot, Fit | _core.Chain) or (isinstance(robot, Fit) and robot._kind != "chain"):
        raise TypeError(f"identify_payload: robot is {_show(robot)}, expected a Chain or the Fit of one")
    chain: Chain = robot._given if isinstance(robot, Fit) else robot
    names = chain.link_names
    if link is None:
        moving = [k for k, x in enumerate(chain.links) if x.joint != "fixed"]
        at = moving[-1]
    elif link not in names:
        fail(f"link is {_show(link)}, no link of chain '{chain.name}'{did_you_mean(link, names)}")
    else:
        at = names.index(link)
    if friction is None and not isinstance(robot, Fit):
        friction = ("viscous", "coulomb")
        robot = chain._with(links=[x._with(friction=0.0) if x.friction else x for x in chain.links])
    terms = as_terms(friction, fail, chain.joint_names)
    if any(term.needs_load for term in terms):
        fail("friction has LoadFriction, which the robot's own fit must find")
    threads = as_integer("identify_payload", "threads", threads, 0, _core.MOST_THREADS) or _processors()
    data = read_log(log, chain, columns=columns, units=units, rate=rate)
    data = Log(data.t, data.q, data.tau, data.qd, data.qdd, data.q_ref, data.source, list(data.findings))
    if delay is None:
        delay = robot.options.get("delay", 0.0) if isinstance(robot, Fit) else 0.0
    wanted = _delay_of(delay, fail, chain.n)
    signals = prepare(data, chain, cutoff=cutoff, period=period, validation=0.0)
    model: Any = _Carried(robot, at, terms)
    aligned = None
    if wanted is None:
        aligned = _align(model, signals, threads)
    elif wanted.any():
        _put_in_line(signals, wanted, fail)
    train, _ = factorise(model, signals.chunks(), threads=threads)
    if not train.rows.any():
        raise LogError._none_left("identify_payload", data.findings)
    solution = solve(model, train)
    residuals = look_at_residuals(model, signals, solution, threads, None, lambda done: None)
    findings = data.findings
    if model.dependent:
        findings.append(
            Finding("note", "payload", f"efforts never show {', '.join(model.dependent)} of a body on '{names[at]}'")
        )
    for row in solution.missing:
        from .model import combination_text

        findings.append(
            Finding("fault", "excitation", f"the motion does not show {combination_text(row, model.base_names)}")
        )
    degrees = float(train.rows.sum() - solution.leverage.sum())
    if degrees < 1:
        text = f"{train.rows.sum():,} equations for {model.count} unknowns: the log is too short"
        findings.append(Finding("fault", "log", text))
    covariance = solution.covariance * (max(1.0, float(residuals.inflation.max())) if degrees >= 1 else math.inf)
    if aligned is None:
        delays = find_delays(model, signals, threads, None, (solution, residuals))
        findings += delay_findings(delays, chain.joint_names, "doubt", "; delay='estimate' puts them in line")
    else:
        covariance = covariance + aligned.spread_of(covariance)
    values, deviation = np.full(10, math.nan), np.full(10, math.inf)
    inside = model.kept[model.kept < 10]
    values[inside] = solution.values[: len(inside)]
    deviation[inside] = np.sqrt(np.diag(covariance))[: len(inside)]
    table = _table(model, solution.values, np.sqrt(np.diag(covariance)), degrees)
    body, physical = _body(values, deviation, chain, findings)
    measured = values.copy()
    m = float(measured[0])
    com = measured[1:4] / m if m else np.full(3, math.nan)
    spread = np.sqrt(deviation[1:4] ** 2 + (com * deviation[0]) ** 2) / abs(m) if m else np.full(3, math.inf)
    spread = np.where(np.isfinite(com), spread, math.inf)
    inertia = np.full((3, 3), math.nan)
    with suppress(ValueError, ArithmeticError):
        inertia = np.asarray(to_body(measured)[2])
    texts = [str(finding) for finding in findings if finding.level != "note"]
    if texts:
        warnings.warn("identify_payload: " + "; ".join(texts[:6]), IdentificationWarning, stacklevel=2)
    carrying = (robot.chain if isinstance(robot, Fit) else chain).with_payload(
        names[at], body.mass, com=body.com, inertia=body.inertia
    )
    return Payload(
        m,
        com,
        inertia,
        float(deviation[0]),
        spread,
        table,
        body,
        carrying,
        physical,
        np.sqrt(train.squares(model, solution.any) / np.maximum(train.rows, 1)),
        tuple(findings),
        residuals,
    )


def _table(model: _Carried, values: Array, deviation: Array, degrees: float) -> Parameters:
    factor = student(degrees)
    rows = []
    for name, unit, value, d in zip(
        model.base_names, model.base_units, values.tolist(), deviation.tolist(), strict=True
    ):
        seen = math.isfinite(value) and math.isfinite(d)
        verdict = NOT if not seen or d > abs(value) / 2 else POOR if d > 0.05 * abs(value) else WELL
        low, high = (value - factor * d, value + factor * d) if seen else (-math.inf, math.inf)
        rows.append(Parameter(name, name, value, d, low, high, unit, verdict, 0.0))
    return Parameters(rows)


def _body(values: Array, deviation: Array, chain: Chain, findings: list[Finding]) -> tuple[Body, bool]:
    """The body nearest to measured numbers, distances in their deviations."""
    seen = np.isfinite(values) & np.isfinite(deviation)
    known = bool(seen.all()) and bool(is_physical(values))
    if known:
        mass, com, inertia = to_body(values)
        if np.linalg.eigvalsh(to_pseudo_inertia(values)).min() > 0:
            return Body(mass, inertia, com), True
    m = float(values[0]) if seen[0] else math.nan
    if not m > 0:
        findings.append(
            Finding(
                "fault",
                "payload",
                "the motion does not show the mass"
                if math.isnan(m)
                else f"the mass comes out as {m:.4g} kg: nothing is carried, or the robot is not as known",
            )
        )
        return Body(0.0, 0.0, (0.0, 0.0, 0.0)), False
    c = np.where(seen[1:4], values[1:4], 0.0) / m
    H = np.diag([*3 * [m * 0.05**2], m])
    H[:3, :3] += m * np.outer(c, c)
    H[:3, 3] = H[3, :3] = m * c
    x = coordinates_of(H)
    weight = np.where(seen, 1 / np.maximum(np.where(seen, deviation, 1.0), 1e-12), 0.0)
    target = np.where(seen, values, 0.0)
    damping = 1e-3
    H, D = body_of(x)
    r = weight * (from_pseudo_inertia(H) - target)
    prior = 1e-3 * np.ones(10)  # what is not seen stays near a ball of 5 cm
    x0 = x.copy()
    cost = float(r @ r + ((prior * (x - x0)) ** 2).sum())
    for _ in range(100):
        J = np.concatenate([weight[:, None] * from_pseudo_inertia(D).T, np.diag(prior)])
        right = np.concatenate([-r, -prior * (x - x0)])
        size = np.linalg.norm(J, axis=0) + 1e-300
        step = (
            np.linalg.lstsq(
                np.concatenate([J / size, math.sqrt(damping) * np.eye(10)]),
                np.concatenate([right, np.zeros(10)]),
                rcond=None,
            )[0]
            / size
        )
        step *= min(1.0, 1.0 / max(float(np.abs(step).max()), 1e-300))
        H_new, D_new = body_of(x + step)
        r_new = weight * (from_pseudo_inertia(H_new) - target)
        new = float(r_new @ r_new + ((prior * (x + step - x0)) ** 2).sum())
        if new < cost:
            done = cost - new < 1e-10 * cost
            x, H, D, r, cost, damping = x + step, H_new, D_new, r_new, new, damping * 0.3
            if done:
                break
        else:
            damping *= 10
            if damping > 1e10:
                break
    mass, com, inertia = to_body(from_pseudo_inertia(H))
    return Body(mass, inertia, com), False


@dataclass(frozen=True)
class Gains:
    """Efforts per unit of what a log measures, found by `identify_gains`.

    Attributes
    ----------
    values, deviations : (n,) array
        N m or N for one unit of the signal, NaN where the payload does not load the joint.
    findings : tuple of Finding
    """

    values: Array
    deviations: Array
    findings: tuple[Finding, ...]


def identify_gains(
    arm: Chain,
    free: Any,
    loaded: Any,
    payload: Body,
    *,
    link: str | None = None,
    friction: Any = ("viscous", "coulomb"),
    cutoff: float | None = None,
    columns: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    rate: float | None = None,
) -> Gains:
    """Gains of drives, from motor currents with and without a payload that is known.

    For each joint, current = W p / gain + (effort of the payload) / gain: the known part fixes the scale. Nothing else
    does: without it, currents give every parameter only up to the gain.

    Parameters
    ----------
    arm : Chain
        Only its geometry is used.
    free, loaded : logs
        With ``tau`` in the units of the signal, A for instance.
    payload : Body
        In the frame of the link that carries it.
    link : str, optional
        By default the last one that moves.
    friction, cutoff, columns, units, rate
        As of `identify`.

    Returns
    -------
    gains : Gains

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm, body = zv.robots.two_link(), zv.Body(2.0, 0.01, (0.5, 0.0, 0.0))
    >>> t = np.arange(0.0, 6.0, 0.01)[:, None]
    >>> w = np.array([2.0, 3.1])
    >>> q, qd, qdd = np.sin(w * t), w * np.cos(w * t), -w * w * np.sin(w * t)
    >>> heavy = arm.with_payload("lower", 2.0, com=(0.5, 0.0, 0.0), inertia=0.01)
    >>> logs = [{"t": t[:, 0], "q": q, "qd": qd, "qdd": qdd, "tau": x.inverse_dynamics(q, qd, qdd) / [10.0, 4.0]}
    ...         for x in (arm, heavy)]
    >>> zv.identification.identify_gains(arm, *logs, body, link="lower").values.round(6)
    array([10.,  4.])
    """
    fail = failing("identify_gains")
    if not isinstance(arm, _core.Chain):
        raise TypeError(f"identify_gains: arm is {_show(arm)}, expected a Chain")
    if not isinstance(payload, Body):
        raise TypeError(f"identify_gains: payload is {_show(payload)}, expected a Body")
    names = arm.link_names
    if link is None:
        link = [x.name for x in arm.links if x.joint != "fixed"][-1]
    as_choice(link, fail, "link", names)
    terms = as_terms(friction, fail, arm.joint_names)
    at = names.index(link)
    body = from_pseudo_inertia(
        np.block(
            [
                [
                    np.trace(payload.inertia) / 2 * np.eye(3)
                    - payload.inertia
                    + payload.mass * np.outer(payload.com, payload.com),
                    payload.mass * np.asarray(payload.com)[:, None],
                ],
                [payload.mass * np.asarray(payload.com)[None, :], np.array([[payload.mass]])],
            ]
        )
    )
    chain = arm._with(
        links=[x._with(friction=0.0, rotor_inertia=0.0, stiffness=0.0) if x.joint != "fixed" else x for x in arm.links]
    )
    model = LinearModel(chain, terms)
    n = arm.n
    R = [np.zeros((len(a) + 2,) * 2) for a in model.active]
    count = np.zeros(n)
    findings: list[Finding] = []
    for source, carries in ((free, 0.0), (loaded, 1.0)):
        data = read_log(source, arm, columns=columns, units=units, rate=rate)
        data = Log(data.t, data.q, data.tau, data.qd, data.qdd, None, data.source, list(data.findings))
        signals = prepare(data, arm, cutoff=cutoff, validation=0.0)
        findings += data.findings
        for chunk in signals.chunks():
            blocks, y = joint_rows(model, chunk)
            tau = chunk.reduce(_efforts_of(chain, chunk, at, carries * body))
            for j in range(n):
                rows = np.column_stack([blocks[j], tau[:, j], y[:, j]])
                if chunk.use is not None:
                    rows = rows[chunk.use[:, j]]
                _core.add_rows(R[j], np.ascontiguousarray(rows))
                count[j] += len(rows)
    values, deviations = np.full(n, math.nan), np.full(n, math.nan)
    for j in range(n):
        k = len(R[j]) - 1
        size = np.linalg.norm(R[j][:, :k], axis=0)
        used = np.append(np.flatnonzero(size[:-1] > 1e-12 * size[:-1].max(initial=0.0)), k - 1)
        scale = np.where(size > 0, size, 1.0)
        ordered = triangular(np.column_stack([R[j][:, used] / scale[used], R[j][:, k]]))
        last = len(used) - 1
        if size[k - 1] == 0 or abs(ordered[last, last]) < 1e-8:
            findings.append(
                Finding("fault", arm.joint_names[j], "the payload does not load this joint in these motions: no gain")
            )
            continue
        slope = ordered[last, -1] / ordered[last, last] / scale[k - 1]
        s = abs(ordered[-1, -1]) / math.sqrt(max(count[j] - len(used), 1.0))
        d = s / abs(ordered[last, last]) / scale[k - 1]
        if not slope > 2 * d:
            findings.append(
                Finding(
                    "doubt", arm.joint_names[j], f"the gain is lost in the noise: 1 / gain = {slope:.3g} +- {d:.2g}"
                )
            )
        if slope:
            values[j], deviations[j] = 1 / slope, d / slope**2
    return Gains(values, deviations, tuple(findings))


def _efforts_of(chain: Chain, chunk: Chunk, link: int, body: Array) -> Array:
    return np.asarray(chain.regressor(chunk.q, chunk.qd, chunk.qdd)[..., 10 * link : 10 * link + 10] @ body)
