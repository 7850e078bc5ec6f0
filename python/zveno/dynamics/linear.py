"""`linearise`: a chain for small deviations from a state or from a motion."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from .._check import Array, _show, as_array, common_lead
from .loads import acting, by_joint, joint_values, read_only, to_world, turning_stiffness, wrenches
from .modes import Modes, modes_of
from .state_space import Inputs, Outputs, StateSpace, state_space_of

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["Frame", "Linearisation", "linearise"]

Frame = Literal["world", "link"]
BALANCED: Final = 1e-8
"""Efforts that are left over, relative to those that act, where a state still counts as an equilibrium."""


@dataclass(frozen=True, eq=False)
class Linearisation:
    """Small motions of a chain about a state, or about the states of a motion: M ddq + B dqd + K dq = dtau.

    Made by `Chain.linearise`. Immutable; of many states (leading dimensions) ``lin[k]`` is one, and iteration gives
    all. ``dtau`` are deviations of the joint efforts; dq, dqd, ddq those of coordinates, rates and accelerations.

    Attributes
    ----------
    chain : Chain
    q, qd, qdd, tau : (..., n) arrays
        The state, with the acceleration and the joint efforts that belong to it.
    M : (..., n, n) array, kg m^2, kg m or kg
        Mass matrix, d tau / d qdd: rotors are part of it.
    B : (..., n, n) array, N m s/rad, N s, N s/m
        d tau / d qd: friction, and at a moving state gyroscopic and Coriolis terms.
    K : (..., n, n) array, N m/rad, N, N/m
        d tau / d q: springs, gravity, external wrenches, and at a moving state centrifugal and inertial terms.
    residual : (..., n) array, N m or N
        Efforts that are left over for the acceleration: tau - inverse_dynamics(q, qd, 0) = M qdd. Zero at rest is
        equilibrium.
    external : dict of str to (..., 6) array
        Wrenches that act, world axes, by link.
    external_frame : {"world", "link"}
        Axes in which they stay constant while the chain deviates.
    base_motion : (..., 9) array or None
    """

    chain: Chain
    q: Array
    qd: Array
    qdd: Array
    tau: Array
    M: Array
    B: Array
    K: Array
    residual: Array
    external: Mapping[str, Array]
    external_frame: Frame
    base_motion: Array | None

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading dimensions: () for one state."""
        return self.q.shape[:-1]

    @cached_property
    def excitation(self) -> Array:
        """Joint efforts by unit accelerations of the base, (..., n, 6): three linear, three angular; base axes.

        The transposed momentum matrix about the base origin: minus these columns times the acceleration of the base
        are the efforts that excite the chain.
        """
        matrix = self.chain.momentum_matrix(self.q, about="base")
        return read_only(np.swapaxes(matrix, -1, -2).copy())

    def state_space(self, inputs: Inputs = None, outputs: Outputs = None, dt: float | None = None) -> StateSpace:
        """State-space model of the deviations: x' = A x + B u, y = C x + D u with x = [dq; dqd].

        Parameters
        ----------
        inputs : sequence, str or dict, optional
            What drives the chain, by default the efforts of all joints. Items: the name of a joint, its effort;
            ``("wrench", link)``, six components [force; moment] at the link's origin, in the axes of `external_frame`,
            or some of them, ``("wrench", link, "fz")``, ``("wrench", link, ("fx", "my"))``; ``"base_acceleration"``,
            three linear components in base axes. A dictionary ``{link: "wrench"}`` or ``{link: "fz"}`` is short for
            wrenches.
        outputs : sequence or str, optional
            What is measured, by default the state itself. Items: ``"q"``, ``"qd"``, ``"qdd"``, ``"tau"`` of all joints,
            or of one, ``("q", joint)``; any function of the chain by its name, with its options: ``"com"``,
            ``"base_wrench"``, ``("velocity", link)``, ``("reactions", {"frame": "world"})``,
            ``("acceleration", link, {"point": (0, 0, 0.1)})``. ``("pose", link)`` is the small displacement
            [dp; dphi] in world axes, m and rad; its "point" may be given.
        dt : float, s, optional
            Discretise with inputs held constant over `dt` (zero-order hold). Needs SciPy.

        Returns
        -------
        model : StateSpace
            ``control.ss(*model)`` and ``scipy.signal.StateSpace(*model)`` take it.

        Notes
        -----
        With dQ all generalised forces of the inputs, ddq = M^-1 (dQ - B dqd - K dq). An output y(q, qd, qdd, tau) gets
        C and D by the chain rule; its derivatives come from a complex step through the operations that `Chain.trace`
        writes out: no differences, exact to rounding. That takes milliseconds for an arm and 0.1 s for the reactions of
        a chain of 100 joints.

        Along a motion the model is that of its state: A of one instant, for deviations from the motion.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> model = arm.linearise([np.pi / 2, 0.0]).state_space(inputs=["upper_joint"], outputs=[("pose", "tip")])
        >>> model
        StateSpace of 'two_link': 4 states, 1 input, 6 outputs
        >>> model.outputs[:3], model.output_units[:3]
        (('pose tip x', 'pose tip y', 'pose tip z'), ('m', 'm', 'm'))
        >>> model.C[0].round(6) + 0.0  # the arm hangs down: turning joint 1 by dq moves the tip by -2 m dq
        array([-2., -1.,  0.,  0.])
        """
        return state_space_of(self, inputs, outputs, dt)

    def modes(self, damping: bool = True) -> Modes:
        """Natural modes of one state: frequencies, damping, shapes, participation. Needs SciPy.

        Parameters
        ----------
        damping : bool
            With B: damped modes, from the eigenvalues of the state matrix. Without, or where B is zero: the modes of
            K phi = omega^2 M phi.

        Returns
        -------
        modes : Modes
            Sorted by frequency.

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> modes = arm.linearise([np.pi / 2, 0.0]).modes()  # hanging
        >>> modes.frequencies.round(4)
        array([0.4266, 1.1441])
        >>> print(modes)
        Modes of 'two_link': 2 modes, 0.4266 to 1.144 Hz
        mode  frequency  damping  motion      mostly
           1  0.4266 Hz        0  oscillates  upper_joint 88 %, lower_joint 12 %
           2   1.144 Hz        0  oscillates  lower_joint 88 %, upper_joint 12 %
        """
        if self.shape:
            raise ValueError(
                f"modes: the linearisation has {self.shape} states, expected one; lin[k].modes() gives those of one"
            )
        if not isinstance(damping, bool | np.bool_):
            raise ValueError(f"modes: damping is {_show(damping)}, expected True or False")
        return modes_of(self, bool(damping))

    def __getitem__(self, index: Any) -> Linearisation:
        if not self.shape:
            raise TypeError("Linearisation: it has one state and no leading dimensions to index")
        lead = len(self.shape)
        places = np.arange(math.prod(self.shape)).reshape(self.shape)[index]

        def chosen(array: Array) -> Array:
            return read_only(array.reshape(-1, *array.shape[lead:])[places])

        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        changes: dict[str, Any] = {k: chosen(array) for k, array in arrays.items() if isinstance(array, np.ndarray)}
        changes["external"] = {link: chosen(wrench) for link, wrench in self.external.items()}
        return replace(self, **changes)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("Linearisation: it has one state and no length")
        return self.shape[0]

    def __iter__(self) -> Iterator[Linearisation]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        states = f" at {self.shape} states" if self.shape else ""
        rest = "at rest" if not self.qd.any() else "moving"
        if not self.qd.any():
            rest += ", in equilibrium" if balanced(self).all() else ", accelerating"
        return f"Linearisation of '{self.chain.name}'{states}: {self.chain.n} joints, {rest}"


def linearise(
    chain: Chain,
    q: ArrayLike,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    external: Mapping[str, ArrayLike] | None = None,
    *,
    external_frame: Frame = "world",
    base_motion: ArrayLike | None = None,
    equilibrium: bool = False,
) -> Linearisation:
    """Linearise a chain about a state, or about all states of a motion: M ddq + B dqd + K dq = dtau.

    M, B and K are the exact derivatives of the joint efforts by qdd, qd and q (Zaremba 1990, section on small motions,
    corrected): springs, friction, rotors, gravity, external wrenches and the motion of the base are in.

    Parameters
    ----------
    chain : Chain
        `Chain.linearise` is this function.
    q : (..., n) array, rad or m
    qd : (..., n) array, rad/s or m/s, optional
        Default: at rest.
    tau : (..., n) array, N m or N, optional
        Joint efforts; the acceleration follows from them.
    qdd : (..., n) array, rad/s^2 or m/s^2, optional
        Accelerations; the joint efforts follow from them. Give `tau` or `qdd`. Default: zero, so that `tau` holds the
        state.
    external : dict, optional
        {link: (..., 6) wrench [force; moment]} at the origins of links, N and N m, in the axes of `external_frame`.
    external_frame : {"world", "link"}
        Axes that the wrenches are given in, and in which they stay constant when the chain deviates: a weight hangs in
        world axes, the thrust of a nozzle turns with its link.
    base_motion : (..., 9) array, m/s^2, rad/s, rad/s^2, optional
        Acceleration of the base origin, angular velocity and angular acceleration of the base, in its own axes.
    equilibrium : bool
        Refuse a state that is no equilibrium; the error lists the efforts that are missing, by joint.

    Returns
    -------
    linearisation : Linearisation
        With ``.M``, ``.B``, ``.K``, ``.residual``, ``.state_space()`` and ``.modes()``.

    Raises
    ------
    ValueError
        Both `tau` and `qdd`; with `equilibrium`, a state that moves or is not held by `tau`.

    Notes
    -----
    Limits of joints and laws of `zveno.laws` are no part of it. Mechanisms with constraints: `Linkage.linearise`.

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> hanging = arm.linearise([np.pi / 2, 0.0])
    >>> hanging
    Linearisation of 'two_link': 2 joints, at rest, in equilibrium
    >>> hanging.K.round(3)  # 1.5 + 0.5 m g l, and 0.5 m g l of the lower rod
    array([[19.62 ,  4.905],
           [ 4.905,  4.905]])
    >>> arm.linearise([0.0, 0.0], tau=[0.0, 0.0]).qdd.round(3)  # held by nobody, it falls
    array([ 12.613, -16.817])
    >>> try:
    ...     arm.linearise([0.0, 0.0], tau=[0.0, 0.0], equilibrium=True)
    ... except ValueError as error:
    ...     print(str(error)[:69], str(error)[69:], sep="\\n")
    linearise: the state is no equilibrium of chain 'two_link': tau lacks
     -19.62 N m at 'upper_joint', -4.905 N m at 'lower_joint'
    """

    def fail(text: str) -> NoReturn:
        raise ValueError(f"linearise: {text} for chain '{chain.name}'")

    if tau is not None and qdd is not None:
        fail("both tau and qdd are given, expected one of them: the other follows")
    state = {"q": as_array(q, fail, "q", (chain.n,), lead=True)}
    for name, value in (("qd", qd), ("tau", tau), ("qdd", qdd)):
        if value is not None:
            state[name] = joint_values(value, chain.n, fail, name)
    loads = wrenches(chain, external, external_frame, fail)
    shapes = {name: array.shape[:-1] for name, array in state.items()}
    shapes |= {f"external of link '{link}'": wrench.shape[:-1] for link, wrench in loads.items()}
    if base_motion is not None:
        base_motion = as_array(base_motion, fail, "base_motion", (9,), lead=True)
        shapes["base_motion"] = base_motion.shape[:-1]
    lead = common_lead(fail, shapes)

    def spread(array: Array, size: int) -> Array:
        return np.broadcast_to(array, (*lead, size))

    state = {name: spread(array, chain.n) for name, array in state.items()}
    position, rate = state["q"], state.get("qd", np.zeros((*lead, chain.n)))
    base = None if base_motion is None else spread(base_motion, 9)
    turned = to_world(chain, position, {k: spread(w, 6) for k, w in loads.items()}, external_frame)
    options: dict[str, Any] = {"external": turned or None, "base_motion": base}
    zero = np.zeros((*lead, chain.n))
    needed = chain.inverse_dynamics(position, rate, zero, **options)
    if "tau" in state:
        effort = state["tau"]
        acceleration = chain.forward_dynamics(position, rate, effort, **options)
        residual = effort - needed
    else:
        acceleration = state.get("qdd", zero)
        effort = chain.inverse_dynamics(position, rate, acceleration, **options) if "qdd" in state else needed
        residual = effort - needed
    slopes = chain.derivatives(position, rate, acceleration, **options)
    K = slopes.dtau_dq
    if external_frame == "link":
        K = K + turning_stiffness(chain, position, turned)
    made = Linearisation(
        chain=chain,
        q=read_only(position),
        qd=read_only(rate),
        qdd=read_only(acceleration),
        tau=read_only(effort),
        M=read_only(slopes.dtau_dqdd),
        B=read_only(slopes.dtau_dqd),
        K=read_only(K),
        residual=read_only(residual),
        external={link: read_only(wrench) for link, wrench in turned.items()},
        external_frame=external_frame,
        base_motion=None if base is None else read_only(base),
    )
    if equilibrium:
        _require_equilibrium(made)
    return made


def balanced(lin: Linearisation) -> Any:
    """Joints whose effort is that of equilibrium, (..., n)."""
    size = acting(lin.chain, lin.q, lin.tau, lin.external, lin.base_motion)
    return np.abs(lin.residual) <= BALANCED * size.max(axis=-1, keepdims=True)


def _require_equilibrium(lin: Linearisation) -> None:
    who, name = "linearise: the state", lin.chain.name
    bad = ~balanced(lin).all(axis=-1)
    moving = lin.qd.any(axis=-1)
    for wrong, told in ((moving, "moves"), (bad, "")):
        if not wrong.any():
            continue
        row = int(np.flatnonzero(wrong)[0])
        if lin.shape:
            who += f" {tuple(int(i) for i in np.unravel_index(row, lin.shape))}"
        if told:
            raise ValueError(f"{who} is no equilibrium of chain '{name}': it moves, qd is not zero")
        missing = by_joint(lin.chain, -lin.residual.reshape(-1, lin.chain.n)[row])
        raise ValueError(f"{who} is no equilibrium of chain '{name}': tau lacks {missing}")
