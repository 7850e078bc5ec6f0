"""`Linkage.linearise`: a closed mechanism for small deviations that its constraints allow. Numbers (L..) are those of
docs/constraints.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, Fail, _show, as_array, did_you_mean
from ..errors import SingularityError
from .loads import acting, joint_values, read_only
from .modes import EPS, ROUNDING, Modes, modes_within
from .state_space import Outputs, StateSpace, effort_units, items_of, once

if TYPE_CHECKING:
    from ..model.linkage import Linkage

__all__ = ["LinkageLinearisation", "linearise_linkage"]

OF_JOINTS: Final = ("q", "qd", "qdd")
MEASURED: Final = "'q', 'qd', 'qdd', 'multiplier', or one of them with a joint or a constraint, ('q', joint)"


@dataclass(frozen=True, eq=False)
class _Response:
    """Deviations of joints and of multipliers, as far as they follow from dq, dqd, ddu and dtau."""

    M: Array  # (n, n) of the tree
    B: Array  # (n, n) d tau / d qd of the tree
    K: Array  # (n, n) of (L38)
    bent_q: Array  # (n, n) ddq by dq at ddu = 0
    bent_qd: Array  # (n, n)
    lift: Array  # (m, n) least dN of G' dN


@dataclass(frozen=True, eq=False)
class LinkageLinearisation:
    """Small motions of a linkage about a state: M ddu + B dud + K du = T' dtau, with dq = T du.

    Made by `Linkage.linearise`. u are the independent coordinates, d of them; the others follow by the constraints.
    dtau are deviations of the efforts of all n joints. Immutable.

    Attributes
    ----------
    linkage : Linkage
    independent : tuple of str
        Joints whose coordinates are u.
    q, qd, qdd, tau : (n,) arrays
        The state, with the acceleration that belongs to it.
    multiplier : (m,) array, N
        Of the constraints at this state.
    t : float, s
    M, B, K : (d, d) arrays
        Reduced mass matrix, damping, stiffness; K has the part of the constraint forces, which turn with the links.
    T : (n, d) array
        dq = T du.
    T_rate : (n, d) array, 1/s
        dqd = T dud + T_rate du; zero at rest.
    """

    linkage: Linkage
    independent: tuple[str, ...]
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    multiplier: Array
    t: float
    M: Array
    B: Array
    K: Array
    T: Array
    T_rate: Array
    _response: _Response

    def state_space(
        self, inputs: Iterable[str] | None = None, outputs: Outputs = None, dt: float | None = None
    ) -> StateSpace:
        """State-space model of the deviations on the constraints: x = [du; dud]. (L41)

        Parameters
        ----------
        inputs : sequence of str, optional
            Joints whose efforts drive the linkage, by default all.
        outputs : sequence or str, optional
            What is measured: ``"q"``, ``"qd"``, ``"qdd"`` of all joints or ``("q", joint)`` of one; ``"multiplier"``,
            deviations of the multipliers of all constraints, or ``("multiplier", constraint)``. Default: ``"q"`` and
            ``"qd"``. Where constraints are redundant, deviations of multipliers are the least ones. (L39)
        dt : float, s, optional
            Discretise with inputs held constant over `dt`. Needs SciPy.

        Returns
        -------
        model : StateSpace

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> q = four_bar.close([-1.874, 2.8, 2.47])
        >>> model = four_bar.linearise(q, independent=["crank_joint"]).state_space(["crank_joint"], ["q", "multiplier"])
        >>> model
        StateSpace of 'four_bar': 2 states, 1 input, 8 outputs
        """

        def fail(text: str) -> NoReturn:
            raise ValueError(f"state_space: {text} for linkage '{self.linkage.name}'")

        chain, d, n = self.linkage.chain, len(self.independent), self.linkage.n
        places = self._inputs(inputs, fail)
        answer = np.linalg.solve(self.M, np.concatenate([self.K, self.B, self.T.T[:, places]], axis=1))
        A, B = np.zeros((2 * d, 2 * d)), np.zeros((2 * d, len(places)))
        A[:d, d:], A[d:], B[d:] = np.eye(d), -answer[:, : 2 * d], answer[:, 2 * d :]
        r, none = self._response, np.zeros((n, len(places)))
        dq, dqd = np.hstack([self.T, np.zeros((n, d))]), np.hstack([self.T_rate, self.T])
        ddq, ddq_u = self.T @ A[d:] + r.bent_q @ dq + r.bent_qd @ dqd, self.T @ B[d:]
        dN = r.lift @ (r.M @ ddq + r.B @ dqd + r.K @ dq)
        dN_u = r.lift @ (r.M @ ddq_u - np.eye(n)[:, places])
        turning = [kind != "prismatic" for kind in chain.joint_types]
        unit = np.where(turning, "rad", "m")
        known = {
            "q": (dq, none, self.q, unit),
            "qd": (dqd, none, self.qd, np.char.add(unit, "/s")),
            "qdd": (ddq, ddq_u, self.qdd, np.char.add(unit, "/s^2")),
            "multiplier": (dN, dN_u, self.multiplier, np.full(self.linkage.m, "N")),
        }
        names: list[str] = []
        parts: list[tuple[Array, Array, Array, Any]] = []
        for item in items_of(("q", "qd") if outputs is None else outputs, "outputs", MEASURED, fail):
            rows = self._rows(item, fail)
            names += [name for _, name in rows]
            chosen = [k for k, _ in rows]
            C, D, value, units = known[item[0]]
            parts.append((C[chosen], D[chosen], value[chosen], units[chosen]))
        once(names, "outputs", fail)
        u = [chain.joint_names.index(name) for name in self.independent]
        model = StateSpace(
            A=read_only(A),
            B=read_only(B),
            C=read_only(np.concatenate([part[0] for part in parts])),
            D=read_only(np.concatenate([part[1] for part in parts])),
            dt=None,
            states=tuple(f"{x} {name}" for x in ("q", "qd") for name in self.independent),
            inputs=tuple(f"tau {chain.joint_names[k]}" for k in places),
            outputs=tuple(names),
            state_units=tuple(str(unit[k]) + rate for rate in ("", "/s") for k in u),
            input_units=tuple(effort_units(chain)[k] for k in places),
            output_units=tuple(str(x) for part in parts for x in part[3]),
            x0=read_only(np.concatenate([self.q[u], self.qd[u]])),
            u0=read_only(self.tau[places]),
            y0=read_only(np.concatenate([part[2] for part in parts])),
            name=self.linkage.name,
        )
        return model if dt is None else model.discretise(dt)

    def _inputs(self, inputs: Iterable[str] | None, fail: Fail) -> list[int]:
        names = self.linkage.joint_names
        if inputs is None:
            return list(range(len(names)))
        items = items_of(inputs, "inputs", "names of joints", fail)
        for item in items:
            if len(item) != 1 or item[0] not in names:
                fail(f"inputs has {_show(item[0])}, expected names of joints{did_you_mean(item[0], names)}")
        once([item[0] for item in items], "inputs", fail)
        return [names.index(item[0]) for item in items]

    def _rows(self, item: tuple[Any, ...], fail: Fail) -> list[tuple[int, str]]:
        """Places and names of the numbers of an output."""
        what, *of = item
        if what in OF_JOINTS:
            all_of = [(k, name, f"{what} {name}") for k, name in enumerate(self.linkage.joint_names)]
        elif what == "multiplier":
            all_of = [(k, name, f"multiplier {name} {row}") for k, (name, row) in enumerate(self.linkage.row_names)]
        else:
            fail(f"outputs has {_show(what)}, expected {MEASURED}{did_you_mean(what, (*OF_JOINTS, 'multiplier'))}")
        if not of:
            return [(k, text) for k, _, text in all_of]
        rows = [(k, text) for k, name, text in all_of if len(of) == 1 and name == of[0]]
        if not rows:
            nearest = did_you_mean(of[0], [name for _, name, _ in all_of])
            fail(f"outputs has {_show(item)}, expected {MEASURED}{nearest}")
        return rows

    def modes(self, damping: bool = True) -> Modes:
        """Natural modes: frequencies, damping, shapes of all joints. Needs SciPy. (L42)

        Parameters
        ----------
        damping : bool
            With B: damped modes. Without, or where B is zero: those of K x = omega^2 M x.

        Returns
        -------
        modes : Modes
            Sorted by frequency; ``shapes`` are deviations of all n joints, which the constraints allow.

        Examples
        --------
        >>> import zveno as zv
        >>> four_bar = zv.mechanisms.four_bar()
        >>> q = four_bar.close([-1.874001858376, 2.8, 2.47], hold=["crank_joint"])
        >>> modes = four_bar.linearise(q).modes()  # hanging
        >>> modes.omega.round(6)
        array([7.935722])
        """
        if not isinstance(damping, bool | np.bool_):
            raise ValueError(f"modes: damping is {_show(damping)}, expected True or False")
        r, chain = self._response, self.linkage.chain
        terms = acting(chain, self.q, self.tau, {}) + np.abs(r.M) @ np.abs(self.qdd) + np.abs(r.B) @ np.abs(self.qd)
        if self.linkage.m:
            G = self.linkage.constraint_jacobian(self.q, self.t)
            terms = terms + np.abs(G.T) @ np.abs(self.multiplier)
        noise = np.abs(self.T).T @ (ROUNDING * chain.n * EPS * terms)
        return modes_within(chain, self.q, (self.M, self.B, self.K), noise, self.T, r.M, bool(damping))

    def __repr__(self) -> str:
        rest = "at rest" if not self.qd.any() else "moving"
        degrees = len(self.independent)
        return (
            f"LinkageLinearisation of '{self.linkage.name}': {degrees} degree{'' if degrees == 1 else 's'} of freedom"
            f" ({', '.join(self.independent)}), {rest}"
        )


def linearise_linkage(
    linkage: Linkage,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    independent: Iterable[str] | None = None,
) -> LinkageLinearisation:
    """Linearise a linkage about a state: M ddu + B dud + K du = T' dtau of its independent coordinates u. (L38)-(L42)

    Derivatives are exact: those of the tree as in `Chain.linearise`, those of the constraints as in
    `constraint_derivatives`, at a fixed time.

    Parameters
    ----------
    linkage : Linkage
        `Linkage.linearise` is this function.
    q : (n,) array, rad or m
        It must meet the constraints: `close` finds one.
    qd : (n,) array, rad/s or m/s, optional
        It must meet them too: `velocities` gives such ones. Default: at rest.
    tau : (n,) array, N m or N, optional
        Efforts of the joints; the acceleration follows from them. Default: none act.
    t : float, s
        Where constraints move.
    independent : joints, optional
        Whose coordinates to take; default: a good choice, `independent`.

    Returns
    -------
    linearisation : LinkageLinearisation
        With ``.M``, ``.B``, ``.K``, ``.T``, ``.state_space()`` and ``.modes()``.

    Raises
    ------
    ValueError
        The state violates the constraints; nothing can move.
    SingularityError
        The joints named do not determine the others, or some motion has no mass.

    Notes
    -----
    The reduced matrices do not depend on how redundant constraints share their forces.

    Examples
    --------
    >>> import zveno as zv
    >>> four_bar = zv.mechanisms.four_bar()
    >>> q = four_bar.close([-1.874001858376, 2.8, 2.47], hold=["crank_joint"])  # hanging
    >>> hanging = four_bar.linearise(q, independent=["crank_joint"])
    >>> hanging
    LinkageLinearisation of 'four_bar': 1 degree of freedom (crank_joint), at rest
    >>> hanging.M.round(6), hanging.K.round(6)
    (array([[0.126536]]), array([[7.968709]]))
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"linearise: {text} for linkage '{linkage.name}'")

    chain, n, m = linkage.chain, linkage.n, linkage.m
    state, _, when = linkage._state("linearise", q, t)
    rate = np.zeros(n) if qd is None else as_array(qd, fail, "qd", (n,))
    effort = np.zeros(n) if tau is None else joint_values(tau, n, fail, "tau")
    if effort.shape != (n,):
        fail(f"tau has shape {effort.shape}, expected ({n},)")
    G = linkage.constraint_jacobian(state, when)
    _require_velocity(linkage, G, state, rate, when, fail)
    result = linkage.forward_dynamics(state, rate, effort, when, outputs=["qdd", "multiplier"])
    qdd, N = result.qdd, result.multiplier
    names = linkage.independent(state, independent, when)
    if not names:
        fail("nothing can move: the constraints leave no degree of freedom")

    tree = chain.derivatives(state, rate, qdd)
    bonds = linkage.constraint_derivatives(state, rate, qdd, N, when)
    M, B, K = tree.dtau_dqdd, tree.dtau_dqd, tree.dtau_dq - bonds.dforce_dq
    u = [linkage.joint_names.index(name) for name in names]
    v = [k for k in range(n) if k not in u]
    # (L29), (L40) x_v = -G_v^+ (...)
    scale = linkage._scaled(np.ones((1, n)))[0]
    follow = np.zeros((n, m))
    follow[v] = -scale[v, None] * _pseudo_inverse(G[:, v] * scale[v], len(v))
    T = np.zeros((n, len(u)))
    T[u] = np.eye(len(u))
    T += follow @ G[:, u]
    T_rate = follow @ (bonds.dfd_dq @ T)
    # G ddq + K_c dq + B_c dqd = 0 (L39), B_c = 2 d(G qd + f_t)/dq: ddq = T ddu + bent_q dq + bent_qd dqd
    bent_q, bent_qd = follow @ bonds.dfdd_dq, 2 * follow @ bonds.dfd_dq
    M_r = T.T @ M @ T
    damping, stiffness = M @ bent_qd + B, M @ bent_q + K
    try:
        np.linalg.cholesky(M_r)
    except np.linalg.LinAlgError:
        raise SingularityError(f"linearise: a motion of linkage '{linkage.name}' has no mass") from None
    lift = _pseudo_inverse(G * scale, len(v)).T * scale
    return LinkageLinearisation(
        linkage=linkage,
        independent=names,
        q=read_only(state),
        qd=read_only(rate),
        qdd=read_only(qdd),
        tau=read_only(effort),
        multiplier=read_only(N),
        t=when,
        M=read_only((M_r + M_r.T) / 2),
        B=read_only(T.T @ damping @ T),
        K=read_only(T.T @ (stiffness @ T + damping @ T_rate)),
        T=read_only(T),
        T_rate=read_only(T_rate),
        _response=_Response(M, B, K, bent_q, bent_qd, lift),
    )


def _pseudo_inverse(A: Array, rank: int) -> Array:
    """Of a matrix whose rank is known."""
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    inverse: Array = (Vt[:rank].T / s[:rank]) @ U[:, :rank].T
    return inverse


def _require_velocity(linkage: Linkage, G: Array, q: Array, qd: Array, t: float, fail: Fail) -> None:
    fd = linkage.constraint_velocity(q, qd, t)
    if not fd.size:
        return
    worst = int(np.argmax(np.abs(fd)))
    if abs(fd[worst]) > 1e-8 * max(linkage.length, float(np.max(np.abs(G) @ np.abs(qd)))):
        name = _show(linkage.row_names[worst][0])
        fail(f"qd violates constraint {name} by {abs(fd[worst]):.3g} m/s, velocities(...) gives one that does not,")
