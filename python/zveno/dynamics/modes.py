"""Natural modes of a linearised chain.

Low modes of long elastic chains are small beside the high ones: omega^2 of the first and of the last differ by n^4, and
so does the mass matrix in itself. M phi = mu (K + shift M) phi, with 1/mu = omega^2 + shift, gives the low ones to
rounding, where K phi = omega^2 M phi would lose what the ratio takes. Damped modes are then found in the coordinates of
the undamped ones, and each eigenvalue is improved by its quadratic y'(s^2 + B s + K) x = 0, stationary in both vectors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from .._check import Array, _show
from .._extras import optional
from .._html import html_table
from .loads import acting, require_mass

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Chain
    from .linear import Linearisation

__all__ = ["Modes", "modes_of", "modes_within"]

EPS: Final = float(np.finfo(float).eps)
ROUNDING: Final = 64.0  # units in the last place for each joint
SHOWN: Final = 12

Shapes = NDArray[Any]  # real or complex
DIRECTIONS: Final = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True, eq=False, repr=False)
class Modes:
    """Natural modes of a chain about a state, m of them, sorted by frequency; made by `Linearisation.modes`.

    Without damping there are n. With damping a pair of complex eigenvalues is one mode, and every real one is a mode of
    its own, so that a joint that creeps back to its place counts twice; rigid bodies count once.

    Attributes
    ----------
    chain : Chain
    q : (n,) array
        The state.
    eigenvalues : (m,) complex array, 1/s
        s of motions exp(s t), with a non-negative imaginary part. Of an unstable pair without damping the growing one.
    shapes : (m, n) array, real without damping, complex with it
        Amplitudes of the joints, a row for each mode, scaled to phi' M phi = 1 (kg m^2); the joint that moves most (by
        kinetic energy) is positive. Scale them as you like: a displacement in rad or m is a multiple of a row.
    kinds : tuple of str
        "oscillates"; "overdamped", returns without oscillation; "rigid body", moves without resistance; "unstable",
        falls over; "flutters", oscillates with growing amplitude.
    participation : (m, n) array
        Share of each joint in the kinetic energy of a mode, phi_i (M phi)_i: rows add up to 1, and without damping
        columns too. Shares can be negative where joints move each other.
    participation_factors : (m, 6) array
        Excitation of each mode by unit accelerations of the base, three linear, three angular, in base axes.
    effective_mass : (m, 6) array, kg and kg m^2
        Squares of these factors: mass (about the base origin inertia) that moves with each mode when the base is
        shaken. Without damping they add up to the diagonal of A M^-1 A', A = ``chain.momentum_matrix(q, "base")``,
        which is the whole moving mass where the joints can move it as a whole; the rest moves with the base.
    """

    chain: Chain
    q: Array
    eigenvalues: NDArray[np.complex128]
    shapes: Shapes
    kinds: tuple[str, ...]
    participation: Array
    participation_factors: Shapes
    effective_mass: Array

    @property
    def omega(self) -> Array:
        """Natural angular frequencies |s|, (m,) rad/s; 0 for rigid bodies."""
        return np.abs(self.eigenvalues)

    @property
    def frequencies(self) -> Array:
        """Natural frequencies |s| / (2 pi), (m,) Hz, ascending; `kinds` tells which of them are oscillations."""
        return self.omega / (2 * math.pi)

    @property
    def damped_frequencies(self) -> Array:
        """Frequencies of the motions, Im s / (2 pi), (m,) Hz; 0 where nothing oscillates."""
        return self.eigenvalues.imag / (2 * math.pi)

    @property
    def damping(self) -> Array:
        """Damping ratios ``-Re s / |s|``, (m,): 0 undamped, 1 without oscillation, below 0 unstable; rigid bodies 0."""
        omega = self.omega
        return np.asarray(-self.eigenvalues.real / np.where(omega == 0, 1.0, omega) + 0.0)

    @property
    def time_constants(self) -> Array:
        """Times in which amplitudes change by e, ``1 / |Re s|``, (m,) s; inf where they stay."""
        rate = np.abs(self.eigenvalues.real)
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(rate == 0, math.inf, 1 / rate))

    @property
    def stable(self) -> bool:
        """No mode grows. Rigid bodies stay where they are pushed to: they do not count as growing."""
        return not any(kind in ("unstable", "flutters") for kind in self.kinds)

    def __len__(self) -> int:
        return len(self.kinds)

    def _motion(self, k: int) -> str:
        kind, time = self.kinds[k], self.time_constants[k]
        words = {
            "overdamped": f"returns with time constant {time:.3g} s",
            "unstable": f"falls over with time constant {time:.3g} s",
            "flutters": f"oscillates, grows with time constant {time:.3g} s",
        }
        return words.get(kind, kind)

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        rows = []
        names = self.chain.joint_names
        for k in range(min(len(self), SHOWN)):
            share = self.participation[k]
            order = [i for i in np.argsort(-np.abs(share), kind="stable")[:2] if abs(share[i]) >= 0.005]
            mostly = ", ".join(f"{names[i][:30]} {100 * share[i]:.0f} %" for i in order)
            frequency = f"{self.frequencies[k]:.4g} Hz" if self.eigenvalues[k].imag else "-"
            damping = f"{self.damping[k]:.3g}" if self.eigenvalues[k].imag else "-"
            rows.append((str(k + 1), frequency, damping, self._motion(k), mostly))
        return rows

    def _title(self) -> str:
        found = self.frequencies[self.eigenvalues.imag > 0]
        band = f", {found[0]:.4g} to {found[-1]:.4g} Hz" if len(found) else ", none oscillates"
        unstable = "" if self.stable else ", unstable"
        return f"Modes of '{self.chain.name}': {len(self)} mode{'' if len(self) == 1 else 's'}{band}{unstable}"

    def __repr__(self) -> str:
        rows = [_HEADER, *self._rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        lines = []
        for row in rows:
            cells = [row[i].rjust(widths[i]) if i < 3 else row[i].ljust(widths[i]) for i in range(5)]
            lines.append("  ".join(cells).rstrip())
        more = [f"and {len(self) - SHOWN} more"] if len(self) > SHOWN else []
        return "\n".join([self._title(), *lines, *more])

    def _repr_html_(self) -> str:
        return html_table(self._title(), self._rows(), _HEADER)

    def plot(self, modes: Any = None, *, amplitude: float | None = None) -> Figure:
        """Draw shapes on the mechanism, and the shares of its joints below. Needs matplotlib (``zveno[plot]``).

        Parameters
        ----------
        modes : sequence of int, optional
            Which ones, counted from 0. Default: the first four.
        amplitude : float, rad or m, optional
            Largest deflection of a joint. Default: such that the mechanism moves by a tenth of its size.

        Returns
        -------
        figure : matplotlib Figure

        Examples
        --------
        >>> import zveno as zv
        >>> arm = zv.robots.two_link()
        >>> figure = arm.linearise([1.5707963267948966, 0.0]).modes().plot()
        >>> len(figure.axes)  # for each mode the mechanism and the bars
        4
        """
        chosen = list(range(min(4, len(self)))) if modes is None else np.atleast_1d(np.asarray(modes)).tolist()
        if not chosen or any(type(k) is not int or not 0 <= k < len(self) for k in chosen):
            raise ValueError(f"plot: modes is {_show(modes)}, expected numbers from 0 to {len(self) - 1}")
        plots = optional("zveno.plot.modes", "Modes.plot", "matplotlib")
        figure: Figure = plots.draw_modes(self, chosen, amplitude)
        return figure


_HEADER: Final = ("mode", "frequency", "damping", "motion", "mostly")


def modes_of(lin: Linearisation, damping: bool) -> Modes:
    """See `Linearisation.modes`."""
    chain, n = lin.chain, lin.chain.n
    require_mass(chain, lin.q, lin.M)
    # rounding errors of K: of the terms that it is the sum of
    terms = acting(chain, lin.q, lin.tau, lin.external, lin.base_motion)
    terms = terms + np.abs(lin.M) @ np.abs(lin.qdd) + np.abs(lin.B) @ np.abs(lin.qd)
    noise = ROUNDING * n * EPS * terms
    return modes_within(chain, lin.q, (lin.M, lin.B, lin.K), noise, np.eye(n), lin.M, damping)


def modes_within(
    chain: Chain,
    q: Array,
    matrices: tuple[Array, Array, Array],
    noise: Array,
    spread: Array,
    mass: Array,
    damping: bool,
) -> Modes:
    """Modes of M x'' + B x' + K x = 0, where the joints move by `spread` x and have the mass matrix `mass`.

    noise: sizes of rounding errors of K.
    """
    linalg = optional("scipy.linalg", "Linearisation.modes", "scipy")
    n = len(spread.T)
    M, B = (matrices[0] + matrices[0].T) / 2, matrices[1] if damping else np.zeros((n, n))
    K, skew = (matrices[2] + matrices[2].T) / 2, (matrices[2] - matrices[2].T) / 2
    straight = np.abs(skew) <= np.sqrt(np.outer(noise, noise)) + ROUNDING * n * EPS * np.abs(K)
    skew = np.where(straight, 0.0, skew)

    squares, basis = _undamped(linalg, M, K)
    top = float(np.abs(squares).max())
    least = np.maximum(ROUNDING * n * EPS * top, (np.abs(basis).T @ np.sqrt(noise)) ** 2)
    squares = np.where(np.abs(squares) <= least, 0.0, squares)
    eigenvalues: NDArray[np.complex128]
    shapes: Shapes
    if not B.any() and not skew.any():
        order = np.argsort(np.abs(squares), kind="stable")
        squares, shapes = squares[order], basis.T[order]
        eigenvalues = np.where(squares < 0, 1.0, 1j) * np.sqrt(np.abs(squares))
        names = {1: "oscillates", 0: "rigid body", -1: "unstable"}
        kinds = tuple(names[int(np.sign(square))] for square in squares)
    else:
        stiffness = np.diag(squares) + basis.T @ skew @ basis
        eigenvalues, inside, kinds = _damped(linalg, stiffness, basis.T @ B @ basis, squares)
        shapes = inside @ basis.T
    mass = (mass + mass.T) / 2
    shapes = _scaled(shapes @ spread.T, mass)
    moved = shapes @ mass
    factors = shapes.conj() @ chain.momentum_matrix(q, about="base").T
    return Modes(
        chain=chain,
        q=q,
        eigenvalues=_kept(eigenvalues),
        shapes=_kept(shapes),
        kinds=kinds,
        participation=_kept((shapes.conj() * moved).real),
        participation_factors=_kept(factors),
        effective_mass=_kept(np.abs(factors) ** 2),
    )


def _kept(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    array.setflags(write=False)
    return array


def _undamped(linalg: Any, M: Array, K: Array) -> tuple[Array, Array]:
    """omega^2 and columns phi of K phi = omega^2 M phi with phi' M phi = 1."""
    rough = linalg.eigh(K, M, eigvals_only=True)
    top, shift = float(np.abs(rough).max()), 0.0
    if top == 0:
        return linalg.eigh(K, M)  # type: ignore[no-any-return]
    try:
        np.linalg.cholesky(K)
    except np.linalg.LinAlgError:  # rigid bodies, or something that falls over
        some = rough[np.abs(rough) > ROUNDING * len(M) * EPS * top]
        shift = max(-2 * float(some.min()), float(np.abs(some).min()))
    inverse, vectors = linalg.eigh(M, K + shift * M)
    inverse, vectors = inverse[::-1], vectors[:, ::-1]
    return 1 / inverse - shift, vectors / np.sqrt(inverse)


def _damped(
    linalg: Any, K: Array, B: Array, squares: Array
) -> tuple[NDArray[np.complex128], NDArray[np.complex128], tuple[str, ...]]:
    """Eigenvalues, rows of vectors and kinds of x'' + B x' + K x = 0, K almost the diagonal of `squares`."""
    n = len(K)
    top = math.sqrt(np.abs(squares).max()) or float(np.abs(B).max()) or 1.0
    size = np.sqrt(np.abs(squares))
    size[size == 0] = size[size > 0].min(initial=top)
    state = np.zeros((2 * n, 2 * n))  # of [size x; x']
    state[:n, n:] = np.diag(size)
    state[n:, :n], state[n:, n:] = -K / size, -B
    values, left, right = linalg.eig(state, left=True, right=True)
    norm = float(np.abs(state).sum(axis=1).max())
    resolved = ROUNDING * n * EPS * norm
    tiny = ROUNDING * n * EPS * top**2
    # K x = 0; where nothing rubs zero is a double eigenvalue, which rounding splits
    _, weights, rows = np.linalg.svd(K)
    found = [(0j, row, "rigid body") for row in rows[weights <= tiny]]
    for k in np.flatnonzero(values.imag >= 0).tolist():
        s, y = complex(values[k]), left[n:, k].conj()
        upper = size >= abs(s)  # [size x; s x]: from the larger part
        x = np.where(upper, right[:n, k] / size, right[n:, k] / np.where(upper, 1.0, s))
        x = x / np.linalg.norm(x)
        s = _improved(s, y @ x, y @ B @ x, y @ K @ x, resolved)
        if abs(s) ** 2 <= tiny and np.linalg.norm(K @ x) <= tiny:
            continue
        if s.imag:
            found.append((s, x, "flutters" if s.real > resolved else "oscillates"))
        else:
            found.append((s, x, "unstable" if s.real > 0 else "overdamped"))
    found.sort(key=lambda mode: abs(mode[0]))
    eigenvalues = np.array([s for s, _, _ in found], complex)
    return eigenvalues, np.array([x for _, x, _ in found], complex), tuple(kind for _, _, kind in found)


def _improved(s: complex, a: Any, b: Any, c: Any, resolved: float) -> complex:
    """The root of a s^2 + b s + c next to s, if rounding can be what lies between them."""
    a, b, c = complex(a), complex(b), complex(c)
    root = (b * b - 4 * a * c) ** 0.5
    larger = -(b + root) / 2 if abs(b + root) >= abs(b - root) else -(b - root) / 2
    if a == 0 or larger == 0:
        return s
    near = min((larger / a, c / larger), key=lambda z: abs(z - s))
    if not abs(near - s) <= 1e3 * resolved or (s.imag == 0) != (near.imag == 0):
        return s
    return near if near.imag >= 0 else s


def _scaled(shapes: Shapes, M: Array) -> Shapes:
    """phi' M phi = 1, and the component with the most kinetic energy of its own is positive."""
    size = np.sqrt(np.einsum("ki,ij,kj->k", shapes.conj(), M, shapes, optimize=True).real)
    shapes = shapes / size[:, None]
    leading = np.abs(shapes * np.sqrt(np.diag(M))).argmax(axis=1)
    lead = np.take_along_axis(shapes, leading[:, None], axis=1)
    turned: Shapes = shapes * (np.abs(lead) / lead)
    return turned
