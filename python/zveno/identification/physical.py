"""Bodies that can exist: all inertial parameters, fitted to the data and positive definite, link by link."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._check import Array, called
from .._extras import optional
from ..inertial import from_pseudo_inertia, to_pseudo_inertia
from .log import Finding
from .solve import triangular

if TYPE_CHECKING:
    from ..model import Chain, Hexapod
    from .model import LinearModel
    from .solve import Factors

__all__ = ["PhysicalFit", "is_physical"]


def is_physical(parameters: Any, tolerance: float = 0.0) -> Array:
    """Whether bodies have these parameters: no eigenvalue of the pseudo-inertia is below -tolerance.

    Parameters
    ----------
    parameters : (..., 10) array
        Rows as in `Chain.inertial_parameters`.
    tolerance : float, kg m^2 or kg

    Returns
    -------
    physical : (...) array of bool

    Examples
    --------
    >>> import zveno as zv
    >>> zv.identification.is_physical(zv.robots.ur5e().inertial_parameters).all()
    np.True_
    """
    with called("is_physical", "reordered"):
        H = to_pseudo_inertia(parameters)
    return np.asarray(np.linalg.eigvalsh(H).min(axis=-1) >= -tolerance)


@dataclass(frozen=True)
class PhysicalFit:
    """Full parameters, all of them those of bodies that can exist.

    Attributes
    ----------
    model : Chain or Hexapod
        With these inertial parameters, with inertias of drives and, of a chain or a custom leg, with viscous friction
        where they were fitted. `chain` is the same of a chain, `hexapod` of a hexapod.
    values : (c,) array
        All columns of the linear model: ten parameters for each body, inertias of the drives of a hexapod, then the
        terms of the joints.
    rms : (n,) array, N m or N
        Residuals of the samples that were fitted.
    validation_rms : (n,) array
        Of those kept back; NaN where there are none.
    ratio : float
        Weighted residuals over those of the best parameters without any condition.
    smallest_eigenvalue : float
        Of the pseudo-inertias, relative to the largest of its link.
    method : str
    iterations : int
    """

    model: Chain | Hexapod
    values: Array
    rms: Array
    validation_rms: Array
    ratio: float
    smallest_eigenvalue: float
    method: str
    iterations: int

    @property
    def chain(self) -> Chain:
        """The model of a chain."""
        if not isinstance(self.model, _core.Chain):
            raise TypeError("PhysicalFit.chain: this is a hexapod; it is in `hexapod`")
        return self.model

    @property
    def hexapod(self) -> Hexapod:
        """The model of a hexapod."""
        if not isinstance(self.model, _core.Hexapod):
            raise TypeError("PhysicalFit.hexapod: this is a chain; it is in `chain`")
        return self.model


def upper_factor(H: Array) -> Array:
    """U, upper triangular with a positive diagonal, of H = U U'."""
    return np.asarray(np.linalg.cholesky(H[::-1, ::-1])[::-1, ::-1], dtype=np.float64)


def coordinates_of(H: Array) -> Array:
    """Log-Cholesky coordinates (10,): alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3."""
    U = upper_factor(H)
    a = U[3, 3]
    V = U / a
    d = np.log(np.diag(V)[:3])
    return np.array([math.log(a), *d, V[0, 1], V[1, 2], V[0, 2], *V[:3, 3]])


def factor_of(x: Array) -> Array:
    """U of log-Cholesky coordinates; H = U U'."""
    V = np.array(
        [
            [math.exp(x[1]), x[4], x[6], x[7]],
            [0.0, math.exp(x[2]), x[5], x[8]],
            [0.0, 0.0, math.exp(x[3]), x[9]],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )
    return math.exp(x[0]) * V


def derivatives_of(x: Array) -> Array:
    """Derivatives (10, 4, 4) of U."""
    U = factor_of(x)
    D = np.zeros((10, 4, 4))
    D[0] = U
    places = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
    for k, (a, b) in enumerate(places, 1):
        D[k, a, b] = U[a, a] if a == b else U[3, 3]
    return D


def body_of(x: Array) -> tuple[Array, Array]:
    """H (4, 4) of log-Cholesky coordinates, and its derivatives (10, 4, 4)."""
    U, D = factor_of(x), derivatives_of(x)
    return U @ U.T, D @ U.T + U @ np.swapaxes(D, 1, 2)


def usable_prior(
    names: Sequence[str], reach: float, theta: Array, moving: Array, findings: list[Finding]
) -> tuple[Array, Array]:
    """Pseudo-inertias (N, 4, 4) to be pulled to, and which links are estimated.

    What no body has is replaced by the nearest that one could have; links without mass stay without unless all are.
    """
    H = to_pseudo_inertia(theta)
    empty = np.abs(theta).max(axis=1) == 0
    estimated = moving & ~empty
    if not estimated.any():
        findings.append(
            Finding("doubt", "prior", "no link has a mass in the model; links are pulled to 1 kg and their length")
        )
        for k in np.flatnonzero(moving).tolist():
            H[k] = np.diag([*3 * [(0.3 * reach) ** 2], 1.0])
        return H, moving.copy()
    for k in np.flatnonzero(estimated).tolist():
        name = names[k]
        m = H[k, 3, 3]
        if not m > 0:
            findings.append(
                Finding("fault", name, f"the model's mass is {m:.4g} kg: no body has it; pulled to 1 kg instead")
            )
            H[k] = np.diag([*3 * [(0.3 * reach) ** 2], 1.0])
            continue
        c = H[k, :3, 3] / m
        S = H[k, :3, :3] - m * np.outer(c, c)
        w, V = np.linalg.eigh(S)
        least = max(1e-3 * w.max(initial=0.0), m * (0.01 * reach) ** 2)
        if w.min() < least:
            if w.min() < -1e-9 * max(abs(w).max(), 1e-300):
                findings.append(
                    Finding(
                        "fault",
                        name,
                        "no body has the model's inertia (a moment about one axis exceeds the sum of the other two); "
                        "pulled to the nearest that one has",
                    )
                )
            H[k, :3, :3] = (V * np.maximum(w, least)) @ V.T + m * np.outer(c, c)
    return H, estimated


def fit_physical(
    model: LinearModel,
    factors: Factors,
    validation: Factors,
    noise: Array,
    best: Array,
    *,
    prior: Array,
    weight: float,
    method: str,
    findings: list[Finding],
) -> PhysicalFit:
    """Minimise half the weighted squares plus `weight` times the divergence from the prior, over bodies that exist."""
    count = len(model.bodies)
    width = 10 * count
    rows = np.maximum(factors.rows.astype(float), 1.0)
    signal = np.sqrt(factors.signal() / rows)
    sigma = np.maximum(noise, 1e-4 * np.maximum(signal, 1e-3 * signal.max(initial=1e-300)))
    R = factors.stacked(model, sigma)
    A, z = R[:, : model.count] @ model.Y, R[:, model.count]
    moving = np.abs(model.Y[:, :width]).reshape(model.count, count, 10).max(axis=(0, 2)) > 0
    H0, estimated = usable_prior(model.bodies, model.reach, prior, moving, findings)
    links = np.flatnonzero(estimated).tolist()
    start = model.full_values()
    start[:width] = prior.ravel()
    for k in links:
        start[10 * k : 10 * k + 10] = from_pseudo_inertia(H0[k])
    free = [k for k in model.pivots.tolist() if k >= width]  # of drives and joints, that the data can tell
    signed = model.signed() & set(free)
    start[free] = 0.0
    if method == "sdp":
        values, iterations = _semidefinite(A, z, start, links, free, signed, H0, weight)
    else:
        held: set[int] = set()
        while True:
            values, iterations = _log_cholesky(A, z, start, links, [k for k in free if k not in held], H0, weight)
            negative = {k for k in signed - held if values[k] < 0}
            if not negative:
                break
            held |= negative
            start[list(held)] = 0.0
    base = model.Y @ values
    lost = float(np.linalg.norm(A @ values - z) ** 2)
    least = float(np.linalg.norm(R[:, : model.count] @ best - z) ** 2)
    total = float(rows.sum())
    H = to_pseudo_inertia(values[:width].reshape(-1, 10))[links]
    w = np.linalg.eigvalsh(H)
    checks = validation.rows > 0
    return PhysicalFit(
        model.written(values),
        values,
        np.sqrt(factors.squares(model, base) / rows),
        np.where(checks, np.sqrt(validation.squares(model, base) / np.maximum(validation.rows, 1)), np.nan)
        if checks.any()
        else np.full(model.chain.n, np.nan),
        math.sqrt((lost + 1e-30 * total) / (least + 1e-30 * total)) if least > 1e-12 * total else 1.0,
        float((w[:, 0] / w[:, -1]).min()) if len(links) else math.nan,
        method,
        iterations,
    )


def _log_cholesky(
    A: Array, z: Array, start: Array, links: list[int], free: list[int], H0: Array, weight: float
) -> tuple[Array, int]:
    """Gauss-Newton with damping in log-Cholesky coordinates: every step is a set of bodies.

    With H = U U' and X = U^-1 dH U^-T, the divergence has the gradient tr((U' H0^-1 U - 1) X) and, near its minimum,
    the second derivative tr(X X): rows vec(X) with the right-hand side vec(1 - U' H0^-1 U) are its part of the
    equations.
    """
    x = np.concatenate([*(coordinates_of(H0[k]) for k in links), start[free]])
    inverse0 = [np.linalg.inv(H0[k]) for k in links]
    logdet0 = [float(np.linalg.slogdet(H0[k])[1]) for k in links]
    bodies, root = 10 * len(links), math.sqrt(weight)

    def parameters(x: Array) -> tuple[float, Array, Array]:
        """Cost, parameters, residuals."""
        p, divergence = start.copy(), 0.0
        for i, k in enumerate(links):
            y = x[10 * i : 10 * i + 10]
            U = factor_of(y)
            H = U @ U.T
            p[10 * k : 10 * k + 10] = from_pseudo_inertia(H)
            logdet = 8 * y[0] + 2 * (y[1] + y[2] + y[3])
            divergence += float((inverse0[i] * H).sum()) - (logdet - logdet0[i]) - 4
        p[free] = x[bodies:]
        r = A @ p - z
        return 0.5 * float(r @ r) + weight * divergence, p, r

    def equations(x: Array, r: Array) -> tuple[Array, Array]:
        dp = np.zeros((len(start), len(x)))
        P, right = np.zeros((16 * len(links), len(x))), np.zeros(16 * len(links))
        for i, k in enumerate(links):
            at = slice(10 * i, 10 * i + 10)
            U, D = factor_of(x[at]), derivatives_of(x[at])
            dp[10 * k : 10 * k + 10, at] = from_pseudo_inertia(D @ U.T + U @ np.swapaxes(D, 1, 2)).T
            M = np.linalg.solve(U, D)
            P[16 * i : 16 * i + 16, at] = root * (M + np.swapaxes(M, 1, 2)).reshape(10, 16).T
            right[16 * i : 16 * i + 16] = root * (np.eye(4) - U.T @ inverse0[i] @ U).ravel()
        dp[free, np.arange(bodies, len(x))] = 1.0
        return np.concatenate([A @ dp, P]), np.concatenate([-r, right])

    damping, iterations = 1e-4, 0
    cost, p, r = parameters(x)
    while iterations < 100:
        iterations += 1
        J, b = equations(x, r)
        size = np.linalg.norm(J, axis=0)
        size = np.maximum(size, 1e-9 * size.max())
        R = triangular(np.column_stack([J / size, b]))
        better = False
        for _ in range(12):
            D = R.copy()
            _core.add_rows(D, np.eye(len(x), len(x) + 1) * math.sqrt(damping))
            step = np.linalg.solve(D[:-1, :-1], D[:-1, -1]) / size
            largest = float(np.abs(step[:bodies]).max(initial=0.0))
            new = x + step * min(1.0, 2.0 / max(largest, 1e-300))
            found = parameters(new) if np.abs(new[:bodies]).max(initial=0.0) < 60 else (math.inf, p, r)
            if math.isfinite(found[0]) and found[0] <= cost:
                better = True
                break
            damping = max(1e-10, damping) * 8
        if not better:
            break
        gain = cost - found[0]
        x, (cost, p, r) = new, found
        damping *= 0.15
        if gain <= 1e-7 * abs(cost) + 1e-9:
            break
    return p, iterations


def _semidefinite(
    A: Array,
    z: Array,
    start: Array,
    links: list[int],
    free: list[int],
    signed: set[int],
    H0: Array,
    weight: float,
) -> tuple[Array, int]:
    """The same problem as a semidefinite program; convex, so the optimum is the optimum. Needs clarabel and scipy.

    Of a link with the prior C C' the unknown is G, H = C G C', and an upper triangular Z with the diagonal D:
    [D, Z; Z', G] >= 0 makes det G at least that of D, and D_i >= exp(t_i) gives its logarithm, the sum of t.
    """
    clarabel = optional("clarabel", "Fit.physical: method='sdp'")
    sparse = optional("scipy.sparse", "Fit.physical: method='sdp'", "scipy")
    pairs = [(a, b) for b in range(4) for a in range(b + 1)]  # upper triangle, by columns
    basis = np.zeros((10, 4, 4))
    for i, (a, b) in enumerate(pairs):
        basis[i, a, b] = basis[i, b, a] = 1.0
    size = 24  # for each link: G, Z, t
    count = size * len(links) + len(free)
    used = set(free) | {10 * k + i for k in links for i in range(10)}
    rest = np.where(np.isin(np.arange(len(start)), list(used)), 0.0, start)
    to_parameters = np.zeros((len(start), count))
    q = np.zeros(count)
    for i, k in enumerate(links):
        C = np.linalg.cholesky(H0[k])
        to_parameters[10 * k : 10 * k + 10, size * i : size * i + 10] = from_pseudo_inertia(C @ basis @ C.T).T
        q[size * i : size * i + 10] = [weight * (a == b) for a, b in pairs]
        q[size * i + 20 : size * i + 24] = -weight
    to_parameters[free, np.arange(size * len(links), count)] = 1.0
    J = A @ to_parameters
    q += J.T @ (A @ rest - z)
    # rows of limits - M x, in the cones
    rows: list[tuple[int, int, float]] = []
    limits: list[float] = []
    cones = []
    for i, k in enumerate(free):
        if k in signed:
            rows.append((len(limits), size * len(links) + i, -1.0))
            limits.append(0.0)
    if limits:
        cones.append(clarabel.NonnegativeConeT(len(limits)))
    for i in range(len(links)):
        G, Z, t = size * i, size * i + 10, size * i + 20
        place = {(4 + u, 4 + v): G + c for c, (u, v) in enumerate(pairs)}
        place |= {(u, 4 + v): Z + c for c, (u, v) in enumerate(pairs)}
        place |= {(u, u): Z + pairs.index((u, u)) for u in range(4)}
        for v in range(8):
            for u in range(v + 1):
                if (u, v) in place:
                    rows.append((len(limits), place[u, v], -1.0 if u == v else -math.sqrt(2.0)))
                limits.append(0.0)
        cones.append(clarabel.PSDTriangleConeT(8))
        for u in range(4):
            rows += [(len(limits), t + u, -1.0), (len(limits) + 2, place[u, u], -1.0)]
            limits += [0.0, 1.0, 0.0]
            cones.append(clarabel.ExponentialConeT())
    at, column, value = zip(*rows, strict=True)
    M = sparse.csc_matrix((value, (at, column)), shape=(len(limits), count))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = 1e-10
    settings.max_threads = 1
    solver = clarabel.DefaultSolver(sparse.csc_matrix(np.triu(J.T @ J)), q, M, np.array(limits), cones, settings)
    found = solver.solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        raise RuntimeError(f"Fit.physical: the semidefinite program ends as {found.status}")
    values = rest + to_parameters @ np.array(found.x)
    values[list(signed)] = np.maximum(values[list(signed)], 0.0)
    return values, int(found.iterations)
