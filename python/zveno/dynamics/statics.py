"""Forces in the joints of chains, statics with loads at points, payloads that drives can carry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from .._check import (
    Array,
    Fail,
    _show,
    as_amount,
    as_array,
    as_choice,
    as_list,
    as_raw,
    common_lead,
    did_you_mean,
    failing,
)
from ..results import JointForces, PayloadCapacity

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["PointLoad", "joint_forces", "payload_capacity", "statics"]


@dataclass(frozen=True, eq=False)
class PointLoad:
    """A force, a moment or a weight at a point of a link, for `Chain.statics` and `Chain.joint_forces`.

    Parameters
    ----------
    link : str
    force : (..., 3) array, N
    moment : (..., 3) array, N m
        A couple besides the force.
    point : (..., 3) array, m
        In link axes; default: the origin of the link.
    frame : {"world", "link"}
        Axes of force and moment.
    mass : float, kg
        A body hung up there: its weight in the gravity of the chain, in addition to the force. Its inertia does not
        count; see `Chain.with_payload` for a body that moves with the link.

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.two_link()
    >>> arm.statics([0.0, 0.0], zv.PointLoad("lower", mass=2.0, point=(1, 0, 0))).tau.round(3)
    array([-58.86 , -24.525])
    """

    link: str
    force: ArrayLike = (0.0, 0.0, 0.0)
    moment: ArrayLike = (0.0, 0.0, 0.0)
    point: ArrayLike = (0.0, 0.0, 0.0)
    frame: str = "world"
    mass: float = 0.0

    def __post_init__(self) -> None:
        fail = failing("PointLoad")
        for name in ("force", "moment", "point"):
            object.__setattr__(self, name, as_array(getattr(self, name), fail, name, (3,), lead=True))
        as_choice(self.frame, fail, "frame", ("world", "link"))
        object.__setattr__(self, "mass", as_amount(self.mass, fail, "mass"))

    def at_origin(self, chain: Chain, q: Array) -> Array:
        """Wrench about the origin of the link in world axes (..., 6).

        Examples
        --------
        >>> import numpy as np, zveno as zv
        >>> arm = zv.robots.two_link()
        >>> load = zv.PointLoad("lower", force=(0, 0, -10.0), point=(0.5, 0, 0))
        >>> print(load.at_origin(arm, np.zeros(2)).round(9) + 0.0)
        [  0.   0. -10.   0.   5.   0.]
        """
        force, moment, point = (np.asarray(x, dtype=np.float64) for x in (self.force, self.moment, self.point))
        R = chain.pose(q, self.link)[..., :3, :3]

        def turned(a: Array) -> Array:
            return np.asarray((R @ a[..., None])[..., 0])

        if self.frame == "link":
            force, moment = turned(force), turned(moment)
        force = force + self.mass * chain.gravity
        moment = moment + np.cross(turned(point), force)
        lead = np.broadcast_shapes(force.shape, moment.shape)
        return np.concatenate([np.broadcast_to(force, lead), np.broadcast_to(moment, lead)], axis=-1)


def _loads(chain: Chain, loads: Any, fail: Fail) -> list[PointLoad]:
    listed = [loads] if isinstance(loads, PointLoad) else [] if loads is None else as_list(loads)
    if listed is None:
        fail(f"loads is {_show(loads)}, expected a PointLoad or a sequence of them")
    for load in listed:
        if not isinstance(load, PointLoad):
            fail(f"loads has {_show(load)}, expected a PointLoad")
        if load.link not in chain.link_names:
            fail(f"loads names link {_show(load.link)}, which there is not{did_you_mean(load.link, chain.link_names)}")
    return listed


def joint_forces(
    self: Chain,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    loads: PointLoad | Iterable[PointLoad] | None = None,
    *,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "link",
    about: str = "link",
    threads: SupportsIndex | None = None,
) -> JointForces:
    """Force f_i and moment mu_i in every joint, efforts of the drives, and the load on the base.

    What link i-1 applies to link i, Leskov et al. (2017), (8.3) and (8.6):
    f_i = sum of m a - F over link i and all that it carries, mu_i the sum of their moments about a point of the joint.

    Parameters
    ----------
    q, qd, qdd : (..., n) arrays
        rad or m, and their rates.
    loads : PointLoad or a sequence of them, optional
    external : dict, optional
        {link: (..., 6) wrench [force; moment]} at the origins of links, world axes, N and N m.
    frame : {"link", "world"}
        Axes of forces and moments: those of the link of the joint, or of the base.
    about : {"link", "joint"}
        Point of the moments: the origin of the link, which slides with it in a prismatic joint; or, as in the book, the
        place of the joint on the link before it, where q is zero.
    threads : int, optional

    Returns
    -------
    JointForces
        force and moment (..., n, 3) in the order of `joint_names`, tau (..., n), base_wrench (..., 6). The effort tau
        is the part of force or moment along the axis, and what rotor, friction and spring of the joint need.

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.two_link()
    >>> f = arm.joint_forces([0, 0], [0, 0], [0, 0], frame="world")
    >>> f.force[:, 2], f.moment[:, 1], f.tau  # two rods of 1 kg, 1 m
    (array([19.62,  9.81]), array([-19.62 ,  -4.905]), array([-19.62 ,  -4.905]))
    """
    return _joint_forces("joint_forces", self, {"q": q, "qd": qd, "qdd": qdd}, loads, external, frame, about, threads)


def _joint_forces(
    function: str,
    chain: Chain,
    state: Mapping[str, ArrayLike],
    loads: Any,
    external: Any,
    frame: Any,
    about: Any,
    threads: Any,
) -> JointForces:
    from .loads import wrenches

    fail = failing(function)
    as_choice(frame, fail, "frame", ("link", "world"))
    as_choice(about, fail, "about", ("link", "joint"))
    at = {name: as_array(x, fail, name, (chain.n,), lead=True) for name, x in state.items()}
    known = wrenches(chain, external, "world", fail)
    points = _loads(chain, loads, fail)
    shapes = {name: x.shape[:-1] for name, x in at.items()}
    shapes |= {f"external['{link}']": w.shape[:-1] for link, w in known.items()}
    for k, load in enumerate(points):
        shapes |= {f"loads[{k}].{name}": np.shape(getattr(load, name))[:-1] for name in ("force", "moment", "point")}
    common_lead(fail, shapes)
    for load in points:
        wrench = load.at_origin(chain, at["q"])
        known[load.link] = known[load.link] + wrench if load.link in known else wrench
    motion = (at["q"], at.get("qd", np.zeros(chain.n)), at.get("qdd", np.zeros(chain.n)))
    given = known or None
    axes: Any = frame
    wrench = chain.reactions(*motion, external=given, frame=axes, threads=threads)
    force, moment = wrench[..., :3].copy(), wrench[..., 3:].copy()
    slides = [j for j, kind in enumerate(chain.joint_types) if kind == "prismatic"]
    if about == "joint" and slides:
        moving = [link for link in chain.links if link.joint != "fixed"]
        for j in slides:
            axis = np.asarray(moving[j].axis)
            if frame == "world":
                axis = chain.pose(at["q"], moving[j].name)[..., :3, :3] @ axis
            moment[..., j, :] += np.cross(at["q"][..., j, None] * axis, force[..., j, :])
    tau = chain.inverse_dynamics(*motion, external=given, threads=threads)
    base = chain.base_wrench(*motion, external=given, threads=threads)
    return JointForces(force, moment, tau, base)


def statics(
    self: Chain,
    q: ArrayLike,
    loads: PointLoad | Iterable[PointLoad] | None = None,
    *,
    external: Mapping[str, ArrayLike] | None = None,
    frame: str = "link",
    about: str = "link",
    threads: SupportsIndex | None = None,
) -> JointForces:
    """Forces in the joints and efforts of the drives at rest, under weight and loads at points.

    mu_D = - sum of C_j' M_j + D_j' F_j over all loads, weights among them: `joint_forces` without motion.

    Parameters
    ----------
    q : (..., n) array, rad or m
    loads : PointLoad or a sequence of them, optional
    external, frame, about, threads
        As in `joint_forces`.

    Returns
    -------
    JointForces

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.two_link()
    >>> push = zv.PointLoad("lower", force=(0, 0, 10.0), point=(0.5, 0, 0))  # upwards in the middle of the last rod
    >>> arm.statics([0, 0], push).tau.round(3) + 0.0
    array([-4.62 ,  0.095])
    """
    return _joint_forces("statics", self, {"q": q}, loads, external, frame, about, threads)


def payload_capacity(
    self: Chain,
    q: ArrayLike,
    link: str | None = None,
    *,
    point: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    effort: ArrayLike | None = None,
    threads: SupportsIndex | None = None,
) -> PayloadCapacity:
    """The heaviest point mass that the drives can carry in given states, and the joint that sets the limit.

    Efforts are linear in the mass of the payload: tau + mass J'(a - g), with J and a those of its point.

    Parameters
    ----------
    q : (..., n) array, rad or m
        One configuration, or a map of them.
    link : str, optional
        That carries the payload; default: the one last link of the chain.
    point : (3,) array, m, optional
        Centre of mass of the payload in link axes; default: the origin of the link.
    qd, qdd : (..., n) arrays, optional
        Default: at rest.
    effort : (n,) array, N m or N, optional
        Limits of the drives; default: `effort_limit`. Infinite where there is none.
    threads : int, optional

    Returns
    -------
    PayloadCapacity
        mass (...), limited_by (...), tau (..., n), slope (..., n).

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> c = arm.payload_capacity([[0.0, 0.0], [0.0, 1.5]], effort=[60.0, 20.0])
    >>> c.mass.round(3), [arm.joint_names[j] for j in c.limited_by]  # stretched, and with the last rod hanging
    (array([1.539, 4.278]), ['lower_joint', 'upper_joint'])
    """
    from ..kinematics.arms import _Known

    function = "payload_capacity"
    fail = failing(function)
    name = _Known.of(self).link(function, self, link)
    at = None if point is None else as_array(point, fail, "point", (3,))
    n = self.n
    given = {"q": q, "qd": np.zeros(n) if qd is None else qd, "qdd": np.zeros(n) if qdd is None else qdd}
    state = {key: as_array(x, fail, key, (n,), lead=True) for key, x in given.items()}
    common_lead(fail, {key: x.shape[:-1] for key, x in state.items()})
    if effort is None:
        most = self.effort_limit
    else:
        most = as_raw(effort, fail, "effort", lambda: f" of shape ({n},)").astype(np.float64)
        if most.shape != (n,) or not (most > 0).all():
            fail(f"effort is {_show(effort)}, expected {n} positive numbers, infinite where there is no limit")
    if not np.isfinite(most).any():
        fail(f"model '{self.name}' has no limits of efforts, expected effort=")
    motion = state["q"], state["qd"], state["qdd"]
    tau = self.inverse_dynamics(*motion, threads=threads)
    J = self.jacobian(state["q"], name, at, threads=threads)[..., :3, :]
    a = self.acceleration(*motion, name, at, threads=threads)[..., :3] - self.gravity
    slope = (np.swapaxes(J, -1, -2) @ a[..., None])[..., 0]
    tau, slope = np.broadcast_arrays(tau, slope)
    felt = np.abs(slope) > 1e-12 * np.abs(slope).max(axis=-1, keepdims=True, initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(felt, (most - np.sign(slope) * tau) / np.abs(slope), np.inf)
    over = np.abs(tau) > most  # the arm alone
    room = np.where(over, -np.abs(tau) / most, room)
    joint = np.asarray(room.argmin(axis=-1))
    mass = np.maximum(room.min(axis=-1), 0.0)
    return PayloadCapacity(mass, np.where(np.isinf(mass), -1, joint), np.array(tau), np.array(slope))
