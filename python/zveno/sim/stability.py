"""The longest stable step of a simulation, by the equations of motion linearised at a state.

With the mass matrix M, a row J_i of rates for every joint with a stiffness k_i or a damping c_i, and
K = sum k_i J_i'J_i, C = sum c_i J_i'J_i, small motions obey M x'' + C x' + K x = 0. What turns with the motion itself
(preloads, weight, gyroscopic terms) is left out.

* "rk4" multiplies a mode x ~ exp(s t) in each step by P(s dt), P(z) = 1 + z + z^2/2 + z^3/6 + z^4/24. It stays bounded
  where |P| <= 1: up to |s| dt = 2.785 on the negative real axis (dampers) and 2.828 on the imaginary one (springs).
* "semi-implicit": x_{n+1} - 2 x_n + x_{n-1} = -dt^2 M^-1 K x_n - dt M^-1 C (x_n - x_{n-1}). K and C are positive
  semidefinite, so a mode leaves the unit circle at -1, where 4 M - dt^2 K - 2 dt C becomes singular: dt = 2 / omega for
  a spring, 2 M / C for a damper.
* Bristles of `LuGre` that stick are springs, those that slide relax with a rate a. "rk4" wants a dt < 2.785.
  "semi-implicit" solves for a, but bristles follow the old rate: z_{n+1} = z_n + dt J x'_n. Sticking is then
  stable for about dt < damping / stiffness only, and chatters up to the breakaway force beyond. Their damping is a
  damper that has no bound where the rate changes sign in each step: chatter explodes from about 2 M / C.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._check import Array
from ..errors import Error
from .laws import Law, Slope

if TYPE_CHECKING:
    from ..model import Chain, Hexapod

__all__ = ["Limit", "Linearised", "Vibration", "of_chain", "of_hexapod", "unfollowed"]

FAR: Final = 2.0
"""Steps so many times beyond the limit are refused: a mode then grows by 3 (semi-implicit, damper) to 42 (rk4, spring)
in each step, while M and J would have to change fourfold for the limit of a spring to be wrong by this factor."""

Modes: TypeAlias = NDArray[np.float64] | NDArray[np.complex128]  # columns that are equally fast: of equal legs, say

_TIE: Final = 1e-6  # relative difference of what only rounding tells apart

_REAL: Final = 2.785293563405282  # |P| = 1 on the negative real axis
_RADII: Final = np.linspace(0.0, 3.2, 129)[1:]


class Limit(NamedTuple):
    """The longest stable step, s, and what sets it, in words."""

    dt: float
    cause: str


class Spring(NamedTuple):
    """A slope in a joint: rates of the joint are `row` times those of the mechanism."""

    who: str  # leg 'leg1'
    unit: str  # of the joint, "m" or "rad"
    row: Array
    slope: Slope
    x: float
    v: float
    part: int  # index of the leg or joint, as of events
    weight: float = 0.0  # J M^-1 J': mobility of the joint


class Linearised:
    """Small motions of a mechanism about a state. Nothing is worked out before it is asked for."""

    def __init__(self, method: str, mass: Array, springs: Sequence[Spring]) -> None:
        self.method = method
        self._half = np.linalg.inv(np.linalg.cholesky(mass))  # L^-1 with M = L L'
        moved = np.array([s.row for s in springs]) @ self._half.T
        weights = (moved * moved).sum(axis=1).tolist()
        self.springs = [s._replace(weight=weight) for s, weight in zip(springs, weights, strict=True)]

    def acting(self, dt: float, entered: Set[int] = frozenset(), stuck: Collection[int] = ()) -> list[Spring]:
        """Those that act at the start, or are stops that the legs or joints `entered` have met; without a bound.

        Bristles of "semi-implicit" are dampers but for those that are `stuck`: their springs chatter within a bound.
        """
        found = []
        for i, s in enumerate(self.springs):
            if s.slope.bounded:
                continue
            if i in stuck:
                found.append(s)
            elif s.slope.bristles is not None and self.method != "rk4":
                found.append(s._replace(slope=s.slope._replace(stiffness=0.0, bristles=None)))
            elif s.slope.acts_at(s.x, s.v, dt) or (s.slope.ends is not None and s.part in entered):
                found.append(s)
            elif s.slope.bristles is not None:  # they slide: no spring, but they relax
                found.append(s._replace(slope=s.slope._replace(stiffness=0.0, damping=0.0)))
        return found

    def calm(self, dt: float) -> bool:
        """Whether a step suits all that acts at the start; False of bristles of "semi-implicit", which may stick."""
        bristles = self.method != "rk4" and any(s.slope.bristles is not None for s in self.springs)
        return not bristles and self.stable(dt, self.acting(dt))

    def sticking(self, dt: float, entered: Set[int], rates: Array) -> list[Spring]:
        """As `acting`, with the bristles that stick in one of the states whose rates of legs or joints are rows.

        Of "semi-implicit" only, and empty where none sticks. They stick if friction brings the joint to rest within a
        step or within the time 1 / omega in which they swing.
        """
        stuck = []
        for i, s in enumerate(self.springs):
            law = s.slope.bristles
            if law is not None and self.method != "rk4" and not s.slope.bounded:
                soon = max(dt * s.weight, math.sqrt(s.weight / law.stiffness))
                if any(abs(v) < law._level(v) * soon for v in rates[:, s.part].tolist()):
                    stuck.append(i)
        return self.acting(dt, entered, stuck) if stuck else []

    def met(self, dt: float, entered: Set[int]) -> list[Spring]:
        """Those that may have acted in a run in which the legs or joints `entered` have met their stops."""
        return [
            s
            for s in self.springs
            if s.slope.ends is None or s.part in entered or s.slope.acts_at(s.x, s.v, dt)
        ]  # fmt: skip

    def stable(self, dt: float, springs: Sequence[Spring]) -> bool:
        """Whether a step is below the limit; quick where it is far below."""
        if self.method != "rk4" and any(s.slope.bristles is not None for s in springs):
            return not self._grows_with_bristles(springs)[1](dt)
        k = sum(s.slope.stiffness * s.weight for s in springs)  # traces bound the largest eigenvalues
        c = sum(s.slope.damping * s.weight for s in springs)
        if dt * math.sqrt(k) + dt * c < 1 and self._relaxing(springs)[0] * dt < 1:
            return True
        return dt <= self.limit(springs).dt

    def limit(self, springs: Sequence[Spring]) -> Limit:
        """The limit of these springs."""
        K, C = self._reduced(springs)
        if self.method == "rk4":
            dt, modes = _limit_rk4(K, C)
        elif any(s.slope.bristles is not None for s in springs):
            dt, modes, blamed = self._limit_of_bristles(springs)
            springs = blamed
        else:
            dt, modes = _limit_semi_implicit(K, C)
        rate, slowest = self._relaxing(springs)
        if slowest is not None and rate * dt > _REAL:
            return Limit(_REAL / rate, f"bristles of LuGre in {slowest.who} that relax with {rate:.3g} 1/s")
        if math.isinf(dt):
            return Limit(dt, "")
        return Limit(dt, _blame(springs, self._half.T @ _basis(modes), max(dt, 1e-9)))

    def _limit_of_bristles(self, springs: Sequence[Spring]) -> tuple[float, Modes, Sequence[Spring]]:
        """ "semi-implicit" where bristles stick: the first step whose matrix has an eigenvalue outside the circle."""
        step, outside, longest = self._grows_with_bristles(springs)
        grid = longest * np.geomspace(1e-4, 2.5, 45)  # their limit is at most 1 + sqrt(2) times that of springs
        first = next((i for i, dt in enumerate(grid.tolist()) if outside(dt)), len(grid) - 1)
        low, high = float(grid[first - 1]) if first else 0.0, float(grid[first])
        for _ in range(30 if first else 0):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if outside(middle) else (middle, high)
        values, vectors = np.linalg.eig(step(high))
        if high < 0.99 * longest:  # their damping is what they lack
            sticking = [s for s in springs if s.slope.bristles is not None]
            springs = [s._replace(slope=s.slope._replace(damping=0.0)) for s in sticking]
        n = len(self._half)
        return (high if first else 0.0), vectors[2 * n :, [int(np.abs(values).argmax())]], springs

    def _grows_with_bristles(
        self, springs: Sequence[Spring]
    ) -> tuple[Callable[[float], Array], Callable[[float], bool], float]:
        """The matrix of a step of "semi-implicit" where bristles stick, whether a step makes motions grow, and the
        limit of true springs in their place.
        """
        K, C = self._reduced([s for s in springs if s.slope.bristles is None])
        B, more = self._reduced([s for s in springs if s.slope.bristles is not None])
        C = C + more
        n = len(K)
        one, zero = np.eye(n), np.zeros((n, n))

        def step(dt: float) -> Array:
            """Of (x, bristles by their common force B^-1 f = J-weighted deflection, x')."""
            v = np.hstack([-dt * K, -dt * B, one - dt * C])
            return np.vstack([np.hstack([one, zero, zero]) + dt * v, np.hstack([zero, one, dt * one]), v])

        def outside(dt: float) -> bool:
            return bool(np.abs(np.linalg.eigvals(step(dt))).max() > 1 + 1e-7)

        return step, outside, _limit_semi_implicit(K + B, C)[0]

    def _reduced(self, springs: Sequence[Spring]) -> tuple[Array, Array]:
        """L^-1 K L^-T and L^-1 C L^-T."""
        n = len(self._half)
        rows = np.array([s.row for s in springs]).reshape(-1, n) @ self._half.T
        k = np.array([s.slope.stiffness for s in springs])
        c = np.array([s.slope.damping for s in springs])
        return rows.T @ (k[:, None] * rows), rows.T @ (c[:, None] * rows)

    def _relaxing(self, springs: Sequence[Spring]) -> tuple[float, Spring | None]:
        """The fastest relaxation of bristles that "rk4" has to follow, 1/s."""
        rates = [(s.slope.bristles._decay(s.v), s) for s in springs if s.slope.bristles is not None]
        return max(rates, key=lambda pair: pair[0], default=(0.0, None)) if self.method == "rk4" else (0.0, None)


def _reach(angle: Array) -> Array:
    """Where rays from the origin, at angles (k,) of the left half plane, leave the stable region of "rk4"."""

    def grows(radius: Array) -> NDArray[np.bool_]:
        z = radius * np.exp(1j * angle)
        grown: NDArray[np.bool_] = np.abs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4)))) > 1 + 1e-12
        return grown

    high = np.full_like(angle, _RADII[-1])
    for radius in _RADII[::-1]:  # the innermost radius that is outside
        high = np.where(grows(np.full_like(angle, radius)), radius, high)
    low = np.asarray(high - (_RADII[1] - _RADII[0]))
    for _ in range(40):
        middle = 0.5 * (low + high)
        out = grows(middle)
        low, high = np.where(out, low, middle), np.where(out, middle, high)
    return low


def _basis(modes: Modes) -> Modes:
    """An orthonormal basis of the space of the modes: it is theirs alone, not the eigenvectors found in it."""
    u, size, _ = np.linalg.svd(modes, full_matrices=False)
    return u[:, size > _TIE * size[0]]


def _limit_rk4(K: Array, C: Array) -> tuple[float, Modes]:
    n = len(K)
    values, vectors = np.linalg.eig(np.block([[np.zeros((n, n)), np.eye(n)], [-K, -C]]))
    size = np.abs(values)
    fast = size > 1e-6 * max(size.max(initial=0.0), 1e-150)  # the rest is free motion
    if not fast.any():
        return math.inf, np.zeros((n, 0))
    s = values[fast]
    steps = _reach(np.angle(np.minimum(s.real, 0.0) + 1j * s.imag)) / np.abs(s)
    first = (steps <= (1 + _TIE) * steps.min()) & (s.imag >= 0)  # one of each conjugate pair
    return float(steps.min()), vectors[n:, fast][:, first]


def _limit_semi_implicit(K: Array, C: Array) -> tuple[float, Modes]:
    stiffest, strongest = (float(np.linalg.eigvalsh(A)[-1]) if len(A) else 0.0 for A in (K, C))
    # of the sum of both at most one limit, at least both together
    high = min(2 / math.sqrt(stiffest) if stiffest > 0 else math.inf, 2 / strongest if strongest > 0 else math.inf)
    if math.isinf(high):
        return high, np.zeros((len(K), 0))
    low = 0.0
    for _ in range(50):
        dt = 0.5 * (low + high)
        inside = np.linalg.eigvalsh(dt * dt * K + 2 * dt * C)[-1] <= 4
        low, high = (dt, high) if inside else (low, dt)
    values, vectors = np.linalg.eigh(high * high * K + 2 * high * C)
    return high, vectors[:, values >= (1 - _TIE) * values[-1]]


def _blame(springs: Sequence[Spring], modes: Modes, dt: float) -> str:
    """Which stiffness or damping holds most of the fastest modes, and where; the first of equals."""
    found = []
    for s in springs:
        square = float((np.abs(s.row @ modes) ** 2).sum())
        for value, word, factor, kind in (
            (s.slope.stiffness, s.slope.words[0], dt, "k"),
            (s.slope.damping, s.slope.words[1], 2.0, "c"),
        ):
            found.append((value * factor * square, f"{word} = {value:g} {_unit(s.unit, kind)} of {s.slope.law}", s.who))
    most = max(weight for weight, _, _ in found)
    _, text, who = next(blamed for blamed in found if blamed[0] >= (1 - _TIE) * most)
    others = len({place for weight, same, place in found if same == text and place != who})
    return f"{text} in {who}" + (f" and {others} more" if others else "")


def _unit(unit: str, kind: str) -> str:
    return {"m": {"k": "N/m", "c": "N s/m"}, "rad": {"k": "N m/rad", "c": "N m s/rad"}}[unit][kind]


def _springs(law: Law | None) -> list[Slope]:
    return [] if law is None else [s for s in law._slopes() if s.stiffness or s.damping]


def _made(method: str, mass: Array, springs: list[Spring]) -> Linearised | None:
    try:
        return Linearised(method, mass, springs)
    except np.linalg.LinAlgError:  # the run says what has no mass
        return None


def of_hexapod(
    hexapod: Hexapod,
    method: str,
    laws: Sequence[Law | None],
    r: Array,
    R: Array | Callable[[], Array],
    u: Array,
    passive: Mapping[tuple[int, int], Law] = MappingProxyType({}),
) -> Linearised | None:
    """Small motions about a state of the ring under resolved laws of the legs, and of passive joints by leg and joint.

    None where nothing makes them stiff.
    """
    chains = [leg.chain for leg in hexapod.legs if leg.chain is not None]
    own = any(chain.friction.any() or chain.stiffness.any() for chain in chains)
    if not own and not any(map(_springs, (*laws, *passive.values()))):
        return None
    try:
        R = R() if callable(R) else R
        p, v, J = hexapod.closure(r, R), hexapod.joint_velocity(r, R, u), hexapod.jacobian(r, R)
        some = own or passive
        rows = np.stack([hexapod.joint_velocity(r, R, e) for e in np.eye(6)], axis=-1) if some else np.empty(0)
        mass = hexapod.mass_matrix(r, R)
    except (Error, ArithmeticError):  # the run says why
        return None
    springs = []
    for k, (leg, law) in enumerate(zip(hexapod.legs, laws, strict=True)):
        who, at = f"leg '{leg.name}'", leg.actuated_index
        springs += [Spring(who, leg.unit, J[k], s, float(p[k, at]), float(v[k, at]), k) for s in _springs(law)]
        if leg.chain is not None and own:
            place = f"joint '{{}}' of {who}"
            springs += _own(leg.chain, rows[k], p[k], v[k], place)
    for (k, j), law in passive.items():
        leg, part = hexapod.legs[k], 6 + k * hexapod.nj + j
        who = f"joint '{leg.joint_names[j]}' of leg '{leg.name}'"
        unit = "m" if leg.chain is not None and leg.chain.joint_types[j] == "prismatic" else "rad"
        springs += [Spring(who, unit, rows[k, j], s, float(p[k, j]), float(v[k, j]), part) for s in _springs(law)]
    return _made(method, mass, springs)


def of_chain(chain: Chain, method: str, laws: Sequence[Law | None], q: Array, qd: Array) -> Linearised | None:
    """Small motions about a state of a chain under resolved laws of its joints; None where nothing makes them stiff."""
    if not chain.friction.any() and not chain.stiffness.any() and not any(map(_springs, laws)):
        return None
    try:
        mass = chain.mass_matrix(q)
    except (Error, ArithmeticError):
        return None
    rows = np.eye(chain.n)
    springs = _own(chain, rows, q, qd, "joint '{}'")
    for j, law in enumerate(laws):
        who, unit = f"joint '{chain.joint_names[j]}'", "m" if chain.joint_types[j] == "prismatic" else "rad"
        springs += [Spring(who, unit, rows[j], s, float(q[j]), float(qd[j]), j) for s in _springs(law)]
    return _made(method, mass, springs)


class Vibration(NamedTuple):
    """A mode that a start off its rest excites."""

    frequency: float  # Hz
    energy: float  # J
    joint: int  # whose spring holds most of it
    amplitude: float  # there, rad or m


def unfollowed(
    chain: Chain,
    dt: float,
    laws: Sequence[Law | None],
    q: Array,
    qd: Array,
    qdd: Array,
    respond: Callable[[Array], Array],
) -> Vibration | None:
    """The strongest vibration that a start excites and steps longer than half its period do not follow.

    `respond`: what rows of efforts add to the accelerations. With W = d qdd / d tau of what is
    held by constraints or free, modes of W K: S = K^1/2 W K^1/2 = V Omega^2 V'. The start is off their rest by
    z = -Omega^-2 V'K^1/2 qdd, of energy z^2 / 2. Modes that dampers end within a few periods are left out.
    """
    k, c = np.array(chain.stiffness, float), np.array(chain.friction, float)
    for j, law in enumerate(laws):
        if law is not None:
            x, v, h = float(q[j]), float(qd[j]), 1e-6
            k[j] += max(0.0, float(law(0.0, x - h, v) - law(0.0, x + h, v)) / (2 * h))
            c[j] += max(0.0, float(law(0.0, x, v - h) - law(0.0, x, v + h)) / (2 * h))
    if not k.any():
        return None
    try:
        W = respond(np.eye(chain.n)).T
    except (Error, ValueError, ArithmeticError):
        return None
    if not float(k @ np.diag(W)) * dt * dt > math.pi**2:  # the trace bounds all of them
        return None
    root = np.sqrt(k)
    squares, V = np.linalg.eigh(root[:, None] * ((W + W.T) / 2) * root)
    found = None
    for square, v in zip(squares, V.T, strict=True):
        if not square * dt * dt > math.pi**2:
            continue
        omega = math.sqrt(square)
        shape = W @ (root * v) / omega  # of unit modal mass
        z = float(v @ (root * qdd)) / square
        if 0.5 * float(c @ shape**2) < 0.1 * omega and (found is None or 0.5 * z * z > found.energy):
            joint = int(np.argmax(v * v))
            found = Vibration(omega / (2 * math.pi), 0.5 * z * z, joint, abs(z * float(v[joint])) / float(root[joint]))
    return found


def _own(chain: Chain, rows: Array, q: Array, qd: Array, place: str) -> list[Spring]:
    """Springs and friction of the links themselves."""
    springs = []
    for j, (k, c) in enumerate(zip(chain.stiffness.tolist(), chain.friction.tolist(), strict=True)):
        if k or c:
            slope = Slope("the link", k, c, ("stiffness", "friction"))
            unit = "m" if chain.joint_types[j] == "prismatic" else "rad"
            who = place.format(chain.joint_names[j])
            springs.append(Spring(who, unit, rows[j], slope, float(q[j]), float(qd[j]), -1))
    return springs
