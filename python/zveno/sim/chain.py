"""Motion of a chain in time: `simulate_chain` and its record. The steps are made in C++."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, errors
from .._check import Array, _show, as_array
from .._extras import optional as _optional
from .laws import Law, joint_place
from .simulation import Plan, Simulation, as_laws, as_load, refuse

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..model import Chain

__all__ = ["ChainSimulation", "LimitEvent", "simulate_chain"]

JointEfforts: TypeAlias = Callable[[float, Array, Array], ArrayLike]
JointLaws: TypeAlias = Law | Sequence[Law | None] | Mapping[str, Law] | JointEfforts | None
Load: TypeAlias = ArrayLike | tuple[ArrayLike, ArrayLike] | JointEfforts


class LimitEvent(NamedTuple):
    """A joint passes an end of its way: a stop of its law, or else its own limit.

    `time` (s) is found inside the step, on the cubic through coordinate and rate at both its ends; `rate` (rad/s or
    m/s) is that of the joint.
    """

    time: float
    joint: str
    side: Literal["lower", "upper"]
    kind: Literal["enter", "leave"]
    rate: float


class ChainSimulation(Simulation, mechanism="chain"):
    """Record of the simulated motion of a chain with nj joints. ``len()`` is the number of recorded states n."""

    chain: Chain
    events: list[LimitEvent]
    _event = LimitEvent
    _shown = "ChainSimulation"
    _called = "model"
    _efforts = "efforts"

    def _labels(self, dim: str) -> tuple[str, ...]:
        return self.chain.joint_names

    @staticmethod
    def _impossible(model: Chain, cause: int, part: int, margin: float, when: str) -> Exception:
        name = model.joint_names[part]
        text = f"joint '{name}' of model '{model.name}' moves no mass: its acceleration is not determined"
        return errors.SingularityError(f"{when} {text}", name)

    def plot(self) -> Figure:
        """Draw coordinates, rates, efforts and energies in one figure. Needs matplotlib (``zveno[plot]``)."""
        panels = [["q"], ["qd"], ["tau"], ["kinetic_energy", "potential_energy", "work_joints", "work_external"]]
        plots = _optional("zveno.plot.records", "Simulation.plot", "matplotlib")
        figure: Figure = plots.plot_fields(self, panels)
        return figure


def simulate_chain(
    chain: Chain,
    t_end: float,
    dt: float,
    *,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | JointEfforts | None = None,
    laws: JointLaws = None,
    external: Mapping[str, Load] | None = None,
    t_start: float = 0.0,
    method: Literal["rk4", "semi-implicit"] = "rk4",
    every: int = 1,
    progress: bool | None = None,
    on_error: Literal["raise", "stop"] = "raise",
) -> ChainSimulation:
    """Motion of a chain or tree in time on its fixed base; `Chain.simulate` is this function.

    Parameters
    ----------
    chain : Chain
        Its gravity, friction and rotors act.
    t_end, dt : float, s
        End and step. The step is shortened where needed, so that whole steps lead to the end.
    q, qd : (n,) array, rad or m, rad/s or m/s
        Initial coordinates and rates; default: zeros.
    tau : (n,) or (steps, n) array, or callable, N m or N
        Joint efforts, constant or held over each step; or ``f(t, q, qd) -> (n,)``.
    laws : Law, sequence of n Law or None, dict of Law by joint name, or callable
        Laws of the joints (`zveno.laws`): one for all, one for each, or for some; or ``f(t, q, qd) -> (n,)``. They add
        to `tau`. Limits of None are those of the joint, a reference of None is zero.
    external : dict, optional
        Wrenches [force; moment] at the origins of links, world axes, N and N m, by link name: (6,) array, constant;
        (times (k,), values (k, 6)), linear between the times and constant outside; or ``f(t, q, qd) -> (6,)``.
    t_start : float, s
    method : {"rk4", "semi-implicit"}
        Runge-Kutta of order 4; or Euler with velocities first, then positions with the new velocities, order 1.
    every : int
        Record every so many steps, and the last one.
    progress : bool, optional
        Show a progress bar. Default: if rich is installed, stderr is a terminal and the run takes more than 2 s.
    on_error : {"raise", "stop"}
        What to do if a joint moves no mass or numbers overflow. "raise": the error has the record up to then as its
        attribute ``simulation``. "stop": return that record with ``failure`` set. Errors raised by callables are always
        raised, with that attribute.

    Returns
    -------
    simulation : ChainSimulation

    Raises
    ------
    SingularityError, FloatingPointError
        With the attributes ``time`` and ``simulation``.

    Examples
    --------
    >>> import zveno as zv
    >>> arm = zv.robots.two_link()
    >>> swing = arm.simulate(1.0, 1e-3, q=[0.5, 0.0], laws=zv.laws.SpringDamper(0.0, 0.2))
    >>> swing
    ChainSimulation('two_link', 1001 states from t = 0 to 1 s, rk4, dt = 0.001 s)
    >>> bool(abs(swing.energy_error).max() < 1e-9)  # energy lost to the dampers is accounted for
    True
    """
    if not isinstance(chain, _core.Chain):
        raise TypeError(f"simulate: chain is {_show(chain)}, expected a Chain")
    n = chain.n
    plan = Plan.checked(t_end, dt, t_start, method, every, progress, on_error)
    names = chain.joint_names
    if isinstance(laws, Mapping):
        for name in laws:
            if name not in names:
                refuse(f"laws names joint {_show(name)}, expected one of {', '.join(map(repr, names))}")
        laws = [laws.get(name) for name in names]
    who = [f"law of joint '{name}'" for name in names]
    expected = f"a Law, {n} of them, a dict by joint name, or a function f(t, q, qd)"
    programs, function = as_laws(laws, who, partial(joint_place, chain), expected)
    forces = [(what, given) for what, given in (("laws", function), ("tau", tau)) if callable(given)]
    held = None if tau is None or callable(tau) else as_array(tau, refuse, "tau", (n,), (plan.steps, n))
    run = _core.ChainRun(
        chain,
        plan.schedule(),
        q=np.zeros(n) if q is None else as_array(q, refuse, "q", (n,)),
        qd=np.zeros(n) if qd is None else as_array(qd, refuse, "qd", (n,)),
        laws=programs,
        lower=chain.lower,
        upper=chain.upper,
        tau=held,
        forces=forces,
        external=_loads(chain, external),
    )
    return plan.made(run, ChainSimulation, chain, names)


def _loads(chain: Chain, external: Any) -> list[tuple[str, Any]]:
    """External wrenches as C++ takes them."""
    if external is None:
        return []
    if not isinstance(external, Mapping):
        refuse(f"external is {_show(external)}, expected a dict of wrenches by link name")
    for link in external:
        if link not in chain.link_names:
            refuse(f"external names link {_show(link)}, expected one of {', '.join(map(repr, chain.link_names))}")
    return [(link, as_load(load, f"external of link '{link}'")) for link, load in external.items()]
