"""From a log to parameters with honest intervals: `identify` and what it returns."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._check import (
    Array,
    _show,
    as_amount,
    as_array,
    as_choice,
    as_integer,
    as_number,
    as_path,
    failing,
)
from .._html import html_table
from ..sim.plan import progress_bar
from .delay import Delays, delay_findings, find_delays, milliseconds
from .log import Finding, LogError, Signals, prepare, read_log
from .model import LinearModel, combination_text
from .physical import PhysicalFit, fit_physical
from .residuals import Residuals, look_at_residuals
from .solve import Chunk, Factors, Solution, factorise, predicted, solve, student, widened
from .terms import Coulomb, DriveInertia, Offset, Stribeck, StribeckRate, Viscous, as_terms

if TYPE_CHECKING:
    from ..model import Chain, Hexapod

__all__ = ["Fit", "IdentificationWarning", "Parameter", "Parameters", "identify"]

METHODS: Final = ("wls", "ols", "huber", "iv", "tls")
_HUBER: Final = 1.345
WELL, POOR, NOT = "well known", "poor", "not identifiable"


def percent(x: float) -> str:
    """A part in words."""
    return f"{100 * x:.0f} %" if x >= 0.0995 else f"{100 * x:.2g} %"


class IdentificationWarning(UserWarning):
    """Something in a log or a fit that a person should look at."""


class Parameter(NamedTuple):
    """A base parameter: what it is made of, its value, standard deviation and 95 % interval, and a verdict.

    `verdict` is 'well known' (the deviation is below 5 % of its size, or of the size that the links would give it),
    'poor' (below 50 %) or 'not identifiable' (more, or the motion does not show it: then the value is NaN).
    """

    name: str
    combination: str
    value: float
    deviation: float
    low: float
    high: float
    unit: str
    verdict: str
    model: float

    @property
    def relative(self) -> float:
        """Standard deviation over the size of the value."""
        return self.deviation / abs(self.value) if self.value else math.inf


class Parameters(tuple[Parameter, ...]):
    """Base parameters of a fit, a tuple of `Parameter`; prints as a table."""

    __slots__ = ()

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the table by name.

        Examples
        --------
        >>> import zveno as zv
        >>> motion = zv.excitation(zv.robots.two_link(), duration=2.0, velocity=3.0, iterations=2)
        >>> list(motion.parameters.to_dict())[:2]
        ['name', 'combination']
        """
        return {name: [getattr(row, name) for row in self] for name in Parameter._fields}

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame. Needs pandas.

        Examples
        --------
        >>> import zveno as zv
        >>> motion = zv.excitation(zv.robots.two_link(), duration=2.0, velocity=3.0, iterations=2)
        >>> len(motion.parameters.to_pandas()) == len(motion.parameters)
        True
        """
        from .._extras import optional

        return optional("pandas", "Parameters.to_pandas").DataFrame(self.to_dict())

    def _cells(self) -> list[tuple[str, ...]]:
        head = ("parameter", "value", "deviation", "95 % from", "to", "unit", "verdict")
        rows = [
            (row.name, *(f"{x:.5g}" for x in (row.value, row.deviation, row.low, row.high)), row.unit, row.verdict)
            for row in self
        ]
        return [head, *rows]

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in cells)
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return html_table("base parameters", rows, head)


class Fit:
    """What `identify` has found.

    Attributes
    ----------
    parameters : Parameters
        Base parameters with deviation, interval and verdict.
    values : (r,) array
        Their values; NaN where the motion does not show them.
    covariance : (r, r) array
        Infinite on the diagonal there.
    missing : tuple of str
        Combinations of base parameters that the motion does not show.
    noise : (n,) array, N m or N
        Standard deviation of the residuals of each joint.
    rms, validation_rms, relative_rms : (n,) array
        Residuals of the part that was fitted and of the part kept back, and the former over the deviation of the
        effort.
    condition : float
        Condition number of the weighted rows with columns of unit size.
    whiteness : (n,) array
        Probability of residuals as correlated as these if they were white noise (Ljung and Box); small is bad.
    inflation : (n,) array
        By how much variances were enlarged because residuals are correlated in time; not those of 'iv' and 'tls', whose
        covariance is that of residuals with their own spectrum.
    delay, delay_deviation : (n,) array, s
        By how much the efforts of each joint come after the coordinates, and how well that is known: infinite where the
        motion does not show it.
    findings : tuple of Finding
        What was noticed about log and fit.
    chain : Chain
        The model with bodies that can exist; see `physical`.
    samples : int
        Rows of time that took part.
    """

    _kind: ClassVar[str] = "chain"

    def __init__(
        self,
        chain: Chain,
        model: LinearModel,
        solution: Solution,
        train: Factors,
        validation: Factors,
        residuals: Residuals,
        findings: Sequence[Finding],
        options: Mapping[str, Any],
        source: str,
        delays: Delays | None = None,
        aligned: Delays | None = None,
    ) -> None:
        self._given, self._model, self._solution = chain, model, solution
        self._aligned = aligned
        found = delays if aligned is None else aligned
        self.delay: Array = np.full(chain.n, np.nan) if found is None else found.value
        self.delay_deviation: Array = np.full(chain.n, np.inf) if found is None else found.deviation
        self._train, self._validation, self.residuals = train, validation, residuals
        self.findings: tuple[Finding, ...] = tuple(findings)
        self.options, self.source = dict(options), source
        self.noise = solution.noise
        self.condition = solution.condition
        self.values = solution.values
        rows = np.maximum(train.rows, 1)
        self.rms: Array = np.sqrt(train.squares(model, solution.any) / rows)
        checked = np.maximum(validation.rows, 1)
        squares = validation.squares(model, solution.any)
        self.validation_rms: Array = np.where(validation.rows > 0, np.sqrt(squares / checked), np.nan)
        self.whiteness, self.inflation = residuals.whiteness, residuals.inflation
        self.samples = int(train.rows.max(initial=0))
        with np.errstate(divide="ignore", invalid="ignore"):
            self.relative_rms: Array = np.where(residuals.spread > 0, self.rms / residuals.spread, np.nan)
        self.covariance = self._covariance()
        self.missing = tuple(combination_text(row, model.base_names) for row in solution.missing)

    def _covariance(self) -> Array:
        """Of white noise; enlarged where residuals are correlated in time, and by delays that were estimated."""
        C = self._solution.covariance
        if not self._solution.coloured:
            C = widened(C, self._model, self._train, self.noise, self.inflation)
        if self._aligned is not None:
            C = C + self._aligned.spread_of(C)
        return C

    @cached_property
    def parameters(self) -> Parameters:
        model, solution = self._model, self._solution
        degrees = float(self._train.rows.sum() - solution.leverage.sum())
        factor = student(degrees)
        deviation = np.sqrt(np.diag(self.covariance))
        given = model.Y @ model.full_values()
        scale = np.maximum(np.abs(np.nan_to_num(self.values)), 0.2 * self._sizes())
        searched = next((term for term in model.terms if isinstance(term, StribeckRate)), None)
        rows = []
        for i, (value, d) in enumerate(zip(self.values.tolist(), deviation.tolist(), strict=True)):
            d = d if factor < math.inf else math.inf  # nothing is left over to tell the noise from
            seen = math.isfinite(value) and math.isfinite(d)
            half = factor * d
            low, high = (value - half, value + half) if seen else (-math.inf, math.inf)
            if seen and searched is not None:
                low, high = self._searched(searched, i, factor, low, high)
                d = max(d, (high - low) / (2 * factor))
            verdict = NOT if not seen or d > 0.5 * scale[i] else POOR if d > 0.05 * scale[i] else WELL
            rows.append(
                Parameter(
                    model.base_names[i],
                    model.combinations[i],
                    value,
                    d,
                    low,
                    high,
                    model.base_units[i],
                    verdict,
                    float(given[i]),
                )
            )
        return Parameters(rows)

    def _searched(
        self, term: StribeckRate, parameter: int, factor: float, low: float, high: float
    ) -> tuple[float, float]:
        """Interval of a parameter, with what rates of friction that were searched for make of it."""
        model = self._model
        column = int(model.pivots[parameter]) - model.links
        for j in range(model.drives):
            deviations = factor * math.sqrt(self.inflation[j])
            if column >= 0 and self._term(parameter) is term:
                if model.extra[column][1] == j:
                    return term.interval(j, deviations) or (max(0.0, low), high)
            elif (ends := term.within(model.base_names[parameter], j, deviations)) is not None:
                low, high = min(low, ends[0]), max(high, ends[1])
        return low, high

    def _term(self, parameter: int) -> Any:
        """Term of joints that a base parameter belongs to, or None."""
        column = int(self._model.pivots[parameter]) - self._model.links
        return self._model.extra[column][0] if column >= 0 else None

    def _sizes(self) -> Array:
        """Sizes (r,) that the links of the model, or the efforts of the joints, would give to base parameters."""
        model = self._model
        theta = np.abs(model.chain.inertial_parameters)
        mass = theta[:, 0]
        inertia = theta[:, [4, 7, 9]].max(axis=1)
        length = np.sqrt(inertia / np.where(mass > 0, mass, 1.0))
        sizes = np.column_stack([mass, *3 * [mass * length], *6 * [inertia]]).ravel()
        peak = self.residuals.peaks  # effort, rate, acceleration of each joint
        extra = []
        for term, j in model.extra:
            unit = {Viscous: peak["qd"][j], DriveInertia: peak["qdd"][j]}.get(type(term), 1.0)
            known = isinstance(term, Viscous | DriveInertia | Coulomb | Stribeck | Offset)
            extra.append(0.02 * peak["tau"][j] / unit if known and unit > 0 else 0.0)
        return np.asarray(np.abs(model.Y) @ np.concatenate([sizes, extra]))

    @property
    def _mechanism(self) -> Any:
        """The model that was given."""
        return self._given

    @property
    def base(self) -> tuple[Any, Array]:
        """Columns of `Chain.inertial_parameters` and terms that base parameters stand for, and Y: base = Y p."""
        return self._model.pivots, self._model.Y

    def predict(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Joint efforts (..., n) of base parameters and terms of joints, N m or N.

        Parameters
        ----------
        q, qd, qdd : (..., n) array

        Returns
        -------
        tau : (..., n) array

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm, t, w = zv.robots.two_link(), np.arange(0.0, 4.0, 0.01), np.array([3.0, 5.0])
        >>> q, qd, qdd = np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w)), -w * w * np.sin(np.outer(t, w))
        >>> log = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": arm.inverse_dynamics(q, qd, qdd)}
        >>> bool(np.allclose(zv.identify(arm, log, friction=None).predict(q, qd, qdd), log["tau"]))
        True
        """
        fail = failing("Fit.predict")
        n = self._given.n
        arrays = [as_array(x, fail, name, (n,), lead=True) for x, name in ((q, "q"), (qd, "qd"), (qdd, "qdd"))]
        full = np.broadcast_arrays(*arrays)
        lead = full[0].shape[:-1]
        a, b, c = (np.ascontiguousarray(x.reshape(-1, n)) for x in full)
        load = self._rigid(a, b, c) if self._model.needs_load else None
        tau = self._model.efforts(self._solution.any, a, b, c, load) + self._model.known(a, b, c)
        return np.asarray(tau.reshape(*lead, n))

    def _rigid(self, q: Array, qd: Array, qdd: Array) -> Array:
        return np.asarray(self.options["_load"](Chunk(q[:, 0], q, qd, qdd, q, None, 0)))

    def physical(
        self, *, method: str = "log-cholesky", prior: ArrayLike | Chain | None = None, weight: float = 1.0
    ) -> PhysicalFit:
        """Full parameters of bodies that can exist, as near to the data as these can be.

        Minimises ``|W p - tau|^2 / (2 s^2) + weight * sum_k D(H_k, prior_k)`` over all parameters p with positive
        definite pseudo-inertias H; D(H, P) = tr(H P^-1) - log det(H P^-1) - 4. The second term decides what the data
        leave open and keeps bodies from shrinking to rods.

        Parameters
        ----------
        method : {'log-cholesky', 'sdp'}
            Gauss-Newton steps in coordinates in which every point is a body, or a semidefinite program (needs
            clarabel and scipy).
        prior : (N, 10) array or another model, optional
            Parameters to be pulled to, by default those of the model that was given.
        weight : float
            How much the prior is believed: at 1 a body that is off by a factor of e costs as much as a residual of
            about one standard deviation.

        Returns
        -------
        physical : PhysicalFit

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> t = np.arange(0.0, 4.0, 0.01)
        >>> w = np.array([3.0, 5.0])
        >>> q, qd, qdd = np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w)), -w * w * np.sin(np.outer(t, w))
        >>> log = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": arm.inverse_dynamics(q, qd, qdd)}
        >>> found = zv.identify(arm, log, friction=None).physical()
        >>> bool(zv.identification.is_physical(found.chain.inertial_parameters).all())
        True
        """
        fail = failing("Fit.physical")
        as_choice(method, fail, "method", ("log-cholesky", "sdp"))
        weight = as_amount(weight, fail, "weight", positive=True)
        theta = self._model.parameters_of(self._mechanism)
        if isinstance(prior, type(self._mechanism)):
            prior = self._model.parameters_of(prior)
        if prior is not None:
            theta = as_array(prior, fail, "prior", theta.shape)
        found: list[Finding] = []
        result = fit_physical(
            self._model,
            self._train,
            self._validation,
            self.noise,
            self._solution.any,
            prior=theta,
            weight=weight,
            method=method,
            findings=found,
        )
        self.findings = tuple(dict.fromkeys((*self.findings, *found)))
        return result

    @cached_property
    def _bodies(self) -> PhysicalFit:
        return self.physical()

    @property
    def chain(self) -> Chain:
        return self._bodies.chain

    def friction(self) -> dict[str, dict[str, float]]:
        """Values of the terms of joints by joint and symbol; NaN where the motion does not show them.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm, t, w = zv.robots.two_link(), np.arange(0.0, 4.0, 0.01), np.array([3.0, 5.0])
        >>> q, qd, qdd = np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w)), -w * w * np.sin(np.outer(t, w))
        >>> log = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": arm.inverse_dynamics(q, qd, qdd) + 0.5 * qd}
        >>> fit = zv.identify(arm, log)
        >>> {name: round(terms["Fv"], 6) for name, terms in fit.friction().items()}
        {'upper_joint': 0.5, 'lower_joint': 0.5}
        """
        found: dict[str, dict[str, float]] = {}
        model = self._model
        for k, (term, j) in enumerate(model.extra, model.links):
            at = np.flatnonzero(model.pivots == k)
            value = float(self.values[at[0]]) if at.size else math.nan
            found.setdefault(model.chain.joint_names[j], {})[getattr(term, "name", term.symbol)] = value
        return found

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write a page to read: efforts measured and predicted, parameters, residuals, what to measure next.

        Parameters
        ----------
        path : path
            One HTML file that needs nothing else.

        Examples
        --------
        >>> import os, tempfile, numpy as np, zveno as zv
        >>> arm, t, w = zv.robots.two_link(), np.arange(0.0, 4.0, 0.01), np.array([3.0, 5.0])
        >>> q, qd, qdd = np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w)), -w * w * np.sin(np.outer(t, w))
        >>> log = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": arm.inverse_dynamics(q, qd, qdd)}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "fit.html")
        ...     zv.identify(arm, log, friction=None).report(path)
        ...     os.path.getsize(path) > 0
        True
        """
        from .report import write_report

        as_path("Fit.report", path)
        write_report(path, self)

    def __repr__(self) -> str:
        known = sum(row.verdict == WELL for row in self.parameters)
        worst = np.nanmax(self.relative_rms) if np.isfinite(self.relative_rms).any() else math.nan
        lines = [
            f"{type(self).__name__} of {self._kind} '{self._given.name}': {self._model.count} base parameters, {known} "
            f"well known; {self.samples:,} samples; residuals at most {percent(worst)} of the efforts"
        ]
        lines += [f"  {finding.level}: {finding}" for finding in self.findings if finding.level != "note"]
        return "\n".join(lines)


def identify(
    arm: Chain | Hexapod,
    log: Any,
    *,
    friction: Any = ("viscous", "coulomb"),
    method: str = "wls",
    cutoff: float | None = None,
    period: float | None = None,
    validation: float = 0.25,
    quiet: ArrayLike | None = None,
    columns: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    rate: float | None = None,
    position_noise: ArrayLike | None = None,
    delay: ArrayLike | str = 0.0,
    threads: int = 0,
    progress: bool | None = None,
) -> Fit:
    """Identify the dynamics of an arm, or of a hexapod, from a log of its motion.

    Joint efforts are linear in the inertial parameters, tau = W(q, qd, qdd) p; only the combinations Y p of them, the
    base parameters, can be found. Samples are read once, in pieces, into triangular factors: memory does not grow with
    them.

    Parameters
    ----------
    arm : Chain or Hexapod
        Geometry, and the inertial parameters as they are known: the prior of the full model.
    log : mapping of arrays, Log, table or path
        Times, coordinates and efforts, and rates and accelerations where they are known; see `read_log`. Of a hexapod
        times ``t`` (m,), poses ``r`` (m, 3) and ``R`` (m, 3, 3) of the ring, ``forces`` (m, 6) of the drives, and where
        they are known ``u`` (m, 6) and ``acceleration`` (m, 6) of the ring as in `Hexapod.inverse_dynamics`,
        ``base_wrench`` (m, 6), force and moment on the base, and the commanded poses ``r_ref``, ``R_ref``. Instead of
        ``R`` there may be a ``quaternion`` (m, 4), scalar first, or a ``rotation_vector`` (m, 3), rad.
    friction : words or terms, optional
        ``viscous``, ``coulomb``, ``stribeck``, ``load``, ``offset``, ``drive_inertia``, or objects of
        `zveno.identification`. What is not asked for is taken from the chain. The rates of ``stribeck`` are searched
        for, one for each joint.
    method : {'wls', 'ols', 'huber', 'iv', 'tls'}
        Least squares with a noise for each joint, with one noise for all, with outliers weighed down, with the
        commanded coordinates ``q_ref`` as instruments, or total least squares for noisy coordinates (`position_noise`).
    cutoff : float, Hz, optional
        Of the low-pass filter without phase for efforts and for everything that explains them; by default five times
        the highest frequency of the motion, and none if accelerations are in the log. Behind it only independent
        samples are kept. Coordinates are differentiated behind a filter twice as wide.
    period : float, s, optional
        The motion repeats itself: periods are averaged, and differentiated exactly.
    validation : float
        Part of the log, its end, that is not fitted but predicted.
    quiet : float or (n,) array, rad/s or m/s, optional
        Efforts of a joint, or of a drive, slower than this are left out, because dry friction is undetermined there. By
        default 2 % of its highest rate if there is dry friction and rates are differences of coordinates.
    columns, units, rate
        Of a table; see `read_log`. Of a hexapod the names are those above: ``{"r": ["x", "y", "z"], "quaternion":
        "q{}", "forces": "f{}"}``, and ``{"r": "mm", "rotation_vector": "deg", "forces": "kN"}`` are units.
    position_noise : float or (n,) array, rad or m, optional
        Standard deviation of the noise of coordinates, for ``tls``: of joints, or of place and attitude of a ring (6,).
    delay : float or (n,) array, s, or 'estimate'
        By how much efforts come after the coordinates, below zero before them: they are put in line. ``'estimate'``
        finds it along with the parameters, whose deviations know about it: one delay for all, or where joints differ
        one for each. With a number, 0 by default, what is left of a delay is said.
    threads : int
        0: as many as this process may use. Results do not depend on it.
    progress : bool, optional
        A bar on stderr; by default where somebody looks and it takes long.

    Returns
    -------
    fit : Fit, or RingFit of a hexapod

    Warns
    -----
    IdentificationWarning
        About the log, or about combinations that the motion does not show.

    Raises
    ------
    LogError
        Nothing can be made of the log; its `findings` say what was seen.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> t = np.arange(0.0, 8.0, 0.01)
    >>> w = np.array([2.0, 3.1])
    >>> q, qd, qdd = np.sin(np.outer(t, w)), w * np.cos(np.outer(t, w)), -w * w * np.sin(np.outer(t, w))
    >>> tau = arm.inverse_dynamics(q, qd, qdd) + np.random.default_rng(0).normal(scale=0.1, size=q.shape)
    >>> fit = zv.identify(arm, {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}, friction=None)
    >>> print(len(fit.parameters), fit.noise.round(2))
    6 [0.1 0.1]
    """
    fail = failing("identify")
    begin = time.perf_counter()
    ring = isinstance(arm, _core.Hexapod)
    if not ring and not isinstance(arm, _core.Chain):
        raise TypeError(f"identify: arm is {_show(arm)}, expected a Chain or a Hexapod")
    as_choice(method, fail, "method", METHODS)
    threads = as_integer("identify", "threads", threads, 0, _core.MOST_THREADS) or _processors()
    made: type[Fit] = Fit
    linear: type[LinearModel] = LinearModel
    given: Any = arm
    channels = given
    if ring:
        from . import ring as of_rings

        data, channels = of_rings.read_ring_log(log, given, rate, columns=columns, units=units)
        made, linear = of_rings.RingFit, of_rings.RingModel
    else:
        data = read_log(log, given, columns=columns, units=units, rate=rate)
        data = replace(data, findings=list(data.findings))
    terms = as_terms(friction, fail, channels.joint_names[: 6 if ring else None], search=True)
    if ring and any(isinstance(term, DriveInertia) for term in terms):
        fail("friction has DriveInertia; inertias of the drives of a hexapod are among its parameters, without asking")
    if method == "iv" and data.q_ref is None:
        what = "poses r_ref and R_ref" if ring else "coordinates q_ref"
        fail(f"method is 'iv', but the log has no commanded {what}")
    if method in ("iv", "tls") and period is not None:
        fail(f"method is '{method}', which takes no period; 'wls' averages noise of coordinates over periods")
    spread = _noise_of(position_noise, fail, data.q.shape[1]) if method == "tls" else None
    wanted = _delay_of(delay, fail, channels.n)
    words = ("identifying", "samples", "identify: progress=True")
    with progress_bar(progress, max(1, 3 * len(data)), words) as bar:
        signals = prepare(data, channels, cutoff=cutoff, period=period, validation=validation)
        if ring:
            signals.rates = channels.rates
        signals.quiet = _quiet(quiet, signals, terms, fail)
        aligned = None
        if wanted is None:
            aligned = _align(linear(channels, [t for t in terms if not _is_searched(t)]), signals, threads)
        elif wanted.any():
            _put_in_line(signals, wanted, fail)
        if any(_is_searched(term) for term in terms):
            from .stribeck import with_rates

            terms = with_rates(linear, channels, terms, signals, threads)
        model = linear(channels, terms)
        ticks = _Ticks(bar, signals, len(data))
        fit = _run(made, model, signals, method, threads, spread, ticks, aligned)
    fit.options |= {
        "delay": (signals.delay if signals.delay is not None else np.zeros(channels.n)).tolist(),
        "method": method,
        "friction": [getattr(t, "name", type(t).__name__) for t in terms],
        "cutoff": signals.cutoff,
        "step": signals.step,
        "stride": signals.stride,
        "seconds": time.perf_counter() - begin,
    }
    texts = [str(finding) for finding in fit.findings if finding.level != "note"]
    if texts:
        warnings.warn("identify: " + "; ".join(texts[:6]), IdentificationWarning, stacklevel=2)
    return fit


def _processors() -> int:
    return min(8, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


class _Ticks:
    """Progress over several passes, in samples of the log."""

    def __init__(self, bar: Callable[[int], None], signals: Signals, samples: int) -> None:
        self._bar, self._factor, self._base = bar, samples / max(1, signals.count), samples
        self._samples = samples

    def __call__(self, done: int) -> None:
        self._bar(min(3 * self._samples, int(self._base + self._factor * done)))

    def next(self) -> None:
        self._base = min(self._base + self._samples, 2 * self._samples)


def _noise_of(value: Any, fail: Any, width: int) -> Array:
    """Standard deviations (width,) of coordinates."""
    if np.ndim(value) == 0:
        return np.full(width, as_amount(value, fail, "position_noise", positive=True))
    numbers = as_array(value, fail, "position_noise", (width,))
    if not ((numbers >= 0).all() and (numbers > 0).any()):
        fail(f"position_noise is {_show(value)}, expected positive numbers")
    return numbers


def _delay_of(value: Any, fail: Any, n: int) -> Array | None:
    """Delays (n,), or None: to be estimated."""
    if isinstance(value, str):
        if value != "estimate":
            fail(f"delay is {_show(value)}, expected seconds or 'estimate'")
        return None
    if np.ndim(value) == 0:
        return np.full(n, as_number(value, fail, "delay"))
    return as_array(value, fail, "delay", (n,))


def _is_searched(term: Any) -> bool:
    return isinstance(term, Stribeck) and term.rate is None


def _put_in_line(signals: Signals, delay: Array, fail: Any) -> None:
    most = signals.longest_delay
    if (worst := float(np.abs(delay).max())) > most:
        fail(f"delay is {worst:g} s, expected at most a quarter of the longest stretch without a gap: {most:.4g} s")
    signals.delay = delay
    if not signals.count:
        longest = max(span.end - span.begin for span in signals.spans)
        fail(
            f"delay is given, but the longest stretch without a gap has {longest:,} samples, and putting efforts in "
            f"line needs {2 * signals.half + 1:,}"
        )


def _align(model: LinearModel, signals: Signals, threads: int) -> Delays:
    """Estimate delays, and put the efforts of `signals` in line."""
    load = _load_of(model, signals, threads) if model.needs_load else None
    found = find_delays(model, signals, threads, load)
    findings, names = signals.log.findings, model.chain.joint_names
    applied = found.to_apply()[0]
    if not replace(signals, delay=applied if np.isfinite(applied).all() else 0.0 * applied).count:
        text = "stretches without a gap are too short to put efforts in line: no delay is taken"
        findings.append(Finding("doubt", "delay", text))
        return replace(found, value=np.zeros(model.chain.n), same=False, sure=np.zeros(model.chain.n, dtype=bool))
    if not np.isfinite(found.deviation).any():
        text = "this motion does not show a delay of the efforts: none is taken"
        findings.append(Finding("doubt", "delay", text))
        applied = np.zeros(model.chain.n)
    elif told := delay_findings(found, names, "note", "; they are put in line"):
        findings += told
    else:
        tail = f"; they are put in line by {milliseconds(found.common, found.common_deviation)}" if found.same else ""
        findings.append(Finding("note", "delay", f"no delay of the efforts is sure{tail}"))
    if applied.any():
        signals.delay = applied
    return found


def _quiet(quiet: Any, signals: Signals, terms: Sequence[Any], fail: Any) -> Any:
    drives = signals.chain.n if signals.log.coordinates == () else 6
    whole = np.full(signals.chain.n, -1.0)  # a wrench has no rate, and counts
    if quiet is None:
        if signals.kernels is None or not any(term.discontinuous for term in terms):
            return 0.0
        peak = np.zeros(signals.chain.n)
        for k, chunk in enumerate(signals.chunks()):
            peak = np.maximum(peak, np.abs(signals.rates(chunk.q, chunk.qd)).max(axis=0))
            if k >= 20:
                break
        whole[:drives] = 0.02 * peak[:drives]
    elif np.ndim(quiet) == 0:
        whole[:drives] = as_amount(as_number(quiet, fail, "quiet"), fail, "quiet")
    else:
        whole[:drives] = as_array(quiet, fail, "quiet", (drives,))
        if (whole[:drives] < 0).any():
            fail(f"quiet is {_show(quiet)}, expected numbers >= 0")
    return whole if (whole > 0).any() else 0.0


def _run(
    made: type[Fit],
    model: LinearModel,
    signals: Signals,
    method: str,
    threads: int,
    position_noise: Array | None,
    ticks: _Ticks,
    aligned: Delays | None,
) -> Fit:
    findings, arm = signals.log.findings, model.chain
    load: Callable[[Chunk], Array] | None = None
    if model.needs_load:
        load = _load_of(model, signals, threads)
    train, validation = factorise(model, signals.chunks(), threads=threads, load=load, tick=ticks)
    ticks.next()
    if not train.rows.any():
        if np.any(signals.quiet):
            text = (
                f"no joint is faster than {np.max(signals.quiet):.4g} for long, and efforts of slower ones do not count"
            )
            findings.append(Finding("fault", "quiet", text))
        raise LogError._none_left("identify", findings)
    solution = solve(model, train, weighted=method != "ols")
    if method == "huber":
        train, solution = _huber(model, signals, train, solution, threads, load)
    elif method == "iv":
        from .estimators import instrumental

        solution = instrumental(model, signals, train, solution, threads, load)
    elif method == "tls":
        from .estimators import total

        assert position_noise is not None
        solution = total(model, signals, train, solution, position_noise, threads, load)
    residuals = look_at_residuals(model, signals, solution, threads, load, ticks)
    _doubts(arm, model, train, solution, residuals, signals, findings)
    delays = None
    if aligned is None:
        delays = find_delays(model, signals, threads, load, (solution, residuals))
        findings += delay_findings(delays, arm.joint_names, "doubt", "; delay='estimate' puts them in line")
    elif len(aligned.slopes) != model.count:  # rates of friction were searched for since
        slopes = find_delays(model, signals, threads, load, (solution, residuals)).slopes
        aligned = replace(aligned, slopes=slopes)
    options, source = {"_load": load}, signals.log.source
    return made(arm, model, solution, train, validation, residuals, findings, options, source, delays, aligned)


def _load_of(model: LinearModel, signals: Signals, threads: int) -> Callable[[Chunk], Array]:
    """Efforts of the links, from a first fit without the friction that needs them."""
    simple = type(model)(model.chain, tuple(term for term in model.terms if not term.needs_load))
    train, _ = factorise(simple, signals.chunks(), threads=threads)
    values = np.where(simple.pivots < simple.links, solve(simple, train).any, 0.0)

    def load(chunk: Chunk) -> Array:
        state = chunk.q, chunk.qd, chunk.qdd
        return np.asarray(simple.efforts(values, *state) + simple.known(*state))

    return load


def _huber(
    model: LinearModel,
    signals: Signals,
    train: Factors,
    solution: Solution,
    threads: int,
    load: Callable[[Chunk], Array] | None,
) -> tuple[Factors, Solution]:
    """Residuals beyond 1.345 robust deviations weigh less, until nothing changes."""
    n = model.chain.n
    for _ in range(20):
        p = solution.any
        samples: list[list[Array]] = [[] for _ in range(n)]
        for chunk in signals.chunks():
            if chunk.part:
                continue
            residual = chunk.tau - predicted(model, p, chunk, load)
            for j in range(n):
                e = residual[:, j]
                samples[j].append(e if chunk.use is None else e[chunk.use[:, j]])
        s = np.array([1.4826 * np.median(np.abs(np.concatenate(e))) if e else 1.0 for e in samples])
        s = np.maximum(s, 1e-14 * np.maximum(np.sqrt(train.signal() / np.maximum(train.rows, 1)), 1e-250))

        def weigh(chunk: Chunk, blocks: list[Array], y: Array, p: Array = p, s: Array = s) -> list[Array]:
            found = []
            for j, block in enumerate(blocks):
                size = np.abs(y[:, j] - block @ p[model.active[j]]) / s[j]
                found.append(_HUBER / np.maximum(size, _HUBER))
            return found

        robust, _ = factorise(model, signals.chunks(), threads=threads, load=load, weigh=weigh)
        new = solve(model, robust, noise=s)
        change = np.abs(new.any - p) / np.maximum(np.sqrt(np.diag(np.nan_to_num(new.covariance, posinf=0.0))), 1e-300)
        solution = new
        if np.nanmax(np.where(solution.seen, change, 0.0)) < 1e-3:
            break
    # variance of an estimate with bounded influence: tau^2 = E[psi^2] / E[psi']^2
    factor = np.ones(n)
    for j in range(n):
        u = np.concatenate(samples[j]) / s[j]
        psi = np.clip(u, -_HUBER, _HUBER)
        inside = max(0.05, float((np.abs(u) <= _HUBER).mean()))
        mean_weight = float((_HUBER / np.maximum(np.abs(u), _HUBER)).mean())
        factor[j] = float((psi * psi).mean()) / inside**2 * mean_weight
    return robust, solve(model, robust, noise=s * np.sqrt(factor))


def _doubts(
    arm: Chain,
    model: LinearModel,
    train: Factors,
    solution: Solution,
    residuals: Residuals,
    signals: Signals,
    findings: list[Finding],
) -> None:
    """What a person should know about the fit."""
    rows = int(train.rows.sum())
    if rows - solution.leverage.sum() < 1:
        findings.append(Finding("fault", "log", f"{rows:,} equations for {model.count} unknowns: the log is too short"))
    elif rows < 5 * model.count:
        findings.append(
            Finding("doubt", "log", f"{rows:,} equations for {model.count} unknowns: a longer log would help")
        )
    if len(solution.missing):
        texts = [combination_text(row, model.base_names, 3, 6) for row in solution.missing]
        shown = "; ".join(texts[:4]) + (f"; and {len(texts) - 4} more" if len(texts) > 4 else "")
        findings.append(Finding("fault", "excitation", f"the motion does not show {len(texts)} combinations: {shown}"))
    names = arm.joint_names
    parts = np.where(residuals.spread > 0, residuals.deviation / np.maximum(residuals.spread, 1e-300), 0.0)
    lost = bool((parts[train.rows > 0] > 0.95).all())
    for j in range(arm.n):
        if train.rows[j] == 0:
            continue
        part = float(parts[j])
        if part > 0.5 and residuals.whiteness[j] > 0.01:
            level = "doubt" if lost else "note"
            findings.append(Finding(level, names[j], f"{100 * min(part, 1.0):.0f} % of the effort is noise"))
        elif part > 0.5:
            findings.append(
                Finding(
                    "doubt", names[j], f"residuals are {100 * part:.0f} % of the effort: the model does not explain it"
                )
            )
    _columns_of_efforts(arm, residuals, findings)


def _columns_of_efforts(arm: Chain, residuals: Residuals, findings: list[Finding]) -> None:
    """Compare measured efforts with those of the model that was given: signs, order of columns, units."""
    if residuals.with_model is None:
        return
    alike, apart = residuals.with_model
    names = arm.joint_names
    sizes = np.linalg.norm(residuals.measured, axis=0), np.linalg.norm(residuals.given, axis=0)
    known = (np.abs(np.diag(alike)) > 0.9) & (sizes[1] > 0)
    if known.any():
        factor = float(np.median(sizes[0][known] / sizes[1][known]))
        if not 1 / 30 < factor < 30:
            text = f"efforts are {factor:.3g} times those of the model, of the same shape: in other units? (units=)"
            findings.append(Finding("fault", "tau", text))
    for j in range(arm.n):
        if alike[j, j] < -0.8:
            findings.append(
                Finding(
                    "fault",
                    names[j],
                    f"the effort has the opposite sign of the model's (correlation {alike[j, j]:.2f})",
                )
            )
        k = int(apart[:, j].argmin())
        if k != j and apart[k, j] < 0.3 and apart[j, j] > 3 * apart[k, j] and apart[j, k] < 0.5 * apart[k, k]:
            findings.append(
                Finding("fault", names[j], f"its effort is that of {names[k]} in the model: are columns swapped?")
            )
