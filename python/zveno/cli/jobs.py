"""What ``zveno demo`` does: each job is a function whose source stands on the page beside what it returns."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import zveno as zv

from ..opcount import OpCount

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .._check import Array

STATES: Final = 100_000


@dataclass
class Outcome:
    """What a job has to show: sentences, a table (head first), and how to draw its figures."""

    text: list[str]
    table: list[list[str]] = field(default_factory=list)
    figures: list[Callable[[], Figure]] = field(default_factory=list)
    moving: str = ""  # SVG that a browser plays


def arm_dynamics() -> dict[str, Any]:
    arm = zv.robots.puma560()
    t = np.linspace(0, 2, 401)[:, None]
    s = 10 * (t / 2) ** 3 - 15 * (t / 2) ** 4 + 6 * (t / 2) ** 5  # from rest to rest
    start, end = np.zeros(6), np.array([1.2, -0.8, 0.9, 0.5, -0.7, 1.0])
    q = start + s * (end - start)
    qd = np.gradient(q, t[:, 0], axis=0)
    qdd = np.gradient(qd, t[:, 0], axis=0)
    tau = arm.inverse_dynamics(q, qd, qdd)  # 401 states in one call
    M, bias = arm.mass_matrix(q), arm.bias(q, qd)
    error = np.abs(np.einsum("kij,kj->ki", M, qdd) + bias - tau).max()
    return {"arm": arm, "t": t[:, 0], "q": q, "tau": tau, "error": error}


def show_arm(found: dict[str, Any]) -> Outcome:
    """The torques of the motion, and how fast a batch is."""
    arm, tau = found["arm"], found["tau"]
    rng = np.random.default_rng(0)
    states = rng.uniform(-1, 1, (3, STATES, arm.n))
    seconds = _best(lambda: arm.inverse_dynamics(*states))
    peak = np.abs(tau).max(axis=0)
    rows = [[name, f"{value:.1f} N m"] for name, value in zip(arm.joint_names, peak, strict=True)]

    def draw() -> Figure:
        figure, axes = _axes("Joint torques of a PUMA 560 that moves in 2 s", "time, s", "torque, N m")
        for k, name in enumerate(arm.joint_names):
            axes.plot(found["t"], tau[:, k], label=name, lw=1.6)
        axes.legend(frameon=False, ncols=3, fontsize="small")
        return figure

    return Outcome(
        [
            f"{arm!r}.",
            f"M qdd + bias and the torques of inverse_dynamics differ by {found['error']:.0e} N m: rounding.",
            f"A batch of {STATES:,} states takes {1e3 * seconds:.0f} ms on one thread: "
            f"{1e9 * seconds / STATES:.0f} ns a state.",
        ],
        [["joint", "peak torque"], *rows],
        [draw],
    )


def ring_contact() -> dict[str, Any]:
    ring = zv.mechanisms.docking_ring("UPS")
    times = np.array([0.0, 0.10, 0.15, 0.20, 2.0])  # a pulse of 0.1 s, half a triangle each side
    push = np.array([-1200.0, 250.0, -150.0, 40.0, 90.0, -60.0])  # N in base axes, N m in ring axes
    wrench = np.outer([0.0, 0.0, 1.0, 0.0, 0.0], push)
    springs = zv.laws.SpringDamper(4000.0, 300.0)
    sim = ring.simulate(2.0, 1e-3, laws=springs, wrench=(times, wrench), progress=False)
    return {"ring": ring, "sim": sim}


def show_ring(found: dict[str, Any]) -> Outcome:
    """What base and drives feel, and whether energy is accounted for."""
    from ..plot.motion import moving_picture

    ring, sim = found["ring"], found["sim"]
    force = np.linalg.norm(sim.base_wrench[:, :3], axis=1)
    strokes = 1e3 * np.abs(sim.actuated_position)
    drives = np.abs(sim.tau)
    rows = [
        ["force on the base", f"{force.max():.0f} N", f"{sim.t[force.argmax()]:.3f} s", ""],
        _peak("force of a drive", drives, "N", sim.t, ring),
        _peak("stroke", strokes, "mm", sim.t, ring),
    ]
    exchanged = float(np.abs(sim.kinetic_energy).max())
    error = float(np.abs(sim.energy_error).max())

    def draw() -> Figure:
        return sim.plot()  # type: ignore[no-any-return]

    return Outcome(
        [
            f"{ring!r}.",
            f"{len(sim):,} states recorded. Energy is accounted for within {error:.1e} J; the largest kinetic energy "
            f"is {exchanged:.2f} J.",
            "sim.plot() draws the record, sim.animate(path) moves, sim.to_pandas() makes a table of it.",
        ],
        [["load", "peak", "at", "leg"], *rows],
        [draw],
        moving_picture(sim, 0.25)[0],
    )


def compiled_code() -> dict[str, Any]:
    arm = zv.robots.puma560()
    f = arm.compile("inverse_dynamics")  # machine code for this one arm
    rng = np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-1, 1, (3, 100_000, arm.n))
    same = np.array_equal(f(q, qd, qdd), arm.inverse_dynamics(q, qd, qdd))
    return {"arm": arm, "f": f, "states": (q, qd, qdd), "same": same}


def show_compiled(found: dict[str, Any]) -> Outcome:
    """Kernel and compiled function, in turns."""
    arm, f, states = found["arm"], found["f"], found["states"]
    kernel, code = _turns(lambda: arm.inverse_dynamics(*states), lambda: f(*states))
    same = "the same bits" if found["same"] else "not the same bits"
    one = tuple(x[0] for x in states)
    kernel_one, code_one = _turns(lambda: arm.inverse_dynamics(*one), lambda: f(*one))
    rows = [
        ["kernel of the library", _nanoseconds(kernel_one), _nanoseconds(kernel / STATES)],
        ["compiled for this arm", _nanoseconds(code_one), _nanoseconds(code / STATES)],
    ]
    return Outcome(
        [
            f"Compiled in {1e3 * f.seconds:.0f} ms; the results are {same}.",
            "The same function as C99 for a controller: zveno export puma560 -o arm_c.",
        ],
        [["", "one call from Python", f"in a batch of {STATES:,}, per state"], *rows],
    )


def operation_counts() -> dict[str, Any]:
    arm = zv.robots.puma560()
    written = arm.operations("inverse_dynamics")  # for any arm with these joints
    traced = arm.trace("inverse_dynamics")  # for this one: zeros and ones are gone
    fewer = arm.trace("inverse_dynamics", level="algebraic")
    methods = {name: arm.operations("mass_matrix", method=name) for name in ("crba", "crba-walk", "kane")}
    return {"written": written, "traced": traced.operations, "fewer": fewer.operations, "methods": methods}


def show_counts(found: dict[str, Any]) -> Outcome:
    """Multiplications and additions, exact."""

    def row(name: str, count: OpCount) -> list[str]:
        return [name, *(f"{getattr(count, part):,}" for part in ("mul", "add", "trig", "total"))]

    rows = [
        row("inverse dynamics, kernel as written", found["written"]),
        row("inverse dynamics, code for this arm", found["traced"]),
        row("inverse dynamics, algebraic level", found["fewer"]),
        *(row(f"mass matrix, {name}", count) for name, count in found["methods"].items()),
    ]
    return Outcome(
        ["Counted by running the kernels on counting numbers, not estimated."],
        [["", "mul", "add", "trig", "total"], *rows],
    )


@dataclass(frozen=True)
class Job:
    """A step of the demonstration; `needs` is a module of an extra."""

    title: str
    run: Callable[[], dict[str, Any]]
    show: Callable[[dict[str, Any]], Outcome]
    needs: str = ""
    install: str = ""


JOBS: Final = (
    Job("Dynamics of an arm", arm_dynamics, show_arm),
    Job("A docking ring under a contact pulse", ring_contact, show_ring),
    Job("Compiled code", compiled_code, show_compiled, "llvmlite", 'pip install "zveno[jit]"'),
    Job("Operation counts", operation_counts, show_counts),
)


def _axes(title: str, xlabel: str, ylabel: str) -> tuple[Figure, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 3.6), layout="constrained")
    axes = figure.subplots()
    axes.set(title=title, xlabel=xlabel, ylabel=ylabel)
    axes.grid(color="0.9")
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _peak(name: str, values: Array, unit: str, t: Array, ring: zv.Hexapod) -> list[str]:
    row, leg = np.unravel_index(int(values.argmax()), values.shape)
    return [name, f"{values[row, leg]:.0f} {unit}", f"{t[row]:.3f} s", ring.leg_names[int(leg)]]


def _best(call: Callable[[], Any], rounds: int = 15) -> float:
    return _turns(call, rounds=rounds)[0]


def _turns(*calls: Callable[[], Any], rounds: int = 15) -> list[float]:
    """Smallest wall time of each, in turns; short calls many times."""
    best, numbers = [float("inf")] * len(calls), []
    for call in calls:
        call()
        start = time.perf_counter()
        call()
        numbers.append(max(1, int(2e-3 / max(time.perf_counter() - start, 1e-7))))
    for _ in range(rounds):
        for k, (call, number) in enumerate(zip(calls, numbers, strict=True)):
            start = time.perf_counter()
            for _ in range(number):
                call()
            best[k] = min(best[k], (time.perf_counter() - start) / number)
    return best


def _nanoseconds(seconds: float) -> str:
    return f"{1e9 * seconds:.0f} ns"
