"""
Swing-up with the least torque
==============================

Direct collocation: the equations of motion hold at the nodes of a time grid, the trapezoidal rule joins them. Unknowns
are the accelerations at the nodes; rates and coordinates are linear in them, torques follow from inverse dynamics, and
`Chain.derivatives` gives the exact gradient of the cost, all nodes in one call. SciPy's SLSQP does the rest.
"""

import numpy as np
import zveno as zv
from numpy.typing import NDArray
from scipy.optimize import minimize  # type: ignore[import-untyped]

Array = NDArray[np.float64]

arm = zv.robots.two_link()
n, nodes, t_end = arm.n, 41, 2.0
hanging, upright = np.array([np.pi / 2, 0.0]), np.array([-np.pi / 2, 0.0])
time = np.linspace(0, t_end, nodes)
h = time[1]

# trapezoidal rule: what is at the nodes, integrated up to each of them
integral = np.tril(np.full((nodes, nodes), h)) - h / 2 * np.eye(nodes)
integral[:, 0] -= h / 2
weight = integral[-1][:, None]


def motion(x: Array) -> tuple[Array, Array, Array]:
    """Coordinates, rates and accelerations at the nodes, (nodes, n) each."""
    qdd = x.reshape(nodes, n)
    return hanging + integral @ (integral @ qdd), integral @ qdd, qdd


def cost(x: Array) -> tuple[float, Array]:
    """Integral of tau' tau, and its gradient by the accelerations."""
    q, qd, qdd = motion(x)
    tau, by = arm.inverse_dynamics(q, qd, qdd), arm.derivatives(q, qd, qdd)
    slope = (2 * weight * tau)[:, None, :]
    by_q, by_qd, by_qdd = ((slope @ d)[:, 0] for d in (by.dtau_dq, by.dtau_dqd, by.dtau_dqdd))
    gradient: Array = by_qdd + integral.T @ (by_qd + integral.T @ by_q)
    return float((weight * tau**2).sum()), gradient.ravel()


# at the end the arm stands upright and still: linear in the accelerations
ends = np.kron(np.stack([(integral @ integral)[-1], integral[-1]]), np.eye(n))
wanted = np.concatenate([upright - hanging, np.zeros(n)])

# first guess: both joints turn smoothly
s = time[:, None] / t_end
guess = ((upright - hanging) * (60 * s - 180 * s**2 + 120 * s**3) / t_end**2).ravel()


def missed(x: Array) -> Array:
    """What the motion lacks at its end."""
    return np.asarray(ends @ x - wanted)


found = minimize(
    cost,
    guess,
    jac=True,
    method="SLSQP",
    constraints={"type": "eq", "fun": missed, "jac": lambda _: ends},  # pyright: ignore[reportUnknownLambdaType]
    options={"maxiter": 500, "ftol": 1e-8},
)
assert found.success, found.message

q, qd, qdd = motion(found.x)
tau = arm.inverse_dynamics(q, qd, qdd)
print(f"cost {cost(guess)[0]:.0f} -> {found.fun:.1f} N^2 m^2 s in {found.nit} iterations")
print(
    f"torques up to {np.abs(tau).max():.1f} N m; to hold the arm level takes {-arm.holding_torque([0, 0])[0]:.1f} N m"
)

# the arm itself under these torques, kept on its way by weak springs and dampers
fine = np.linspace(0, t_end, 2001)
plan = [np.stack([np.interp(fine, time, column) for column in array.T], axis=1) for array in (q, qd, tau)]


def drives(t: float, at: Array, rate: Array) -> Array:
    k = round(t / t_end * 2000)
    torque: Array = plan[2][k] - 20.0 * (at - plan[0][k]) - 4.0 * (rate - plan[1][k])
    return torque


run = arm.simulate(t_end, 1e-3, q=hanging, tau=drives)
print(f"simulated, it ends {np.abs(run.q[-1] - upright).max():.3f} rad from upright")
assert np.abs(run.q[-1] - upright).max() < 0.05

# small deviations along the way: the fastest growing one at each node
growth = np.linalg.eigvals(arm.linearise(q, qd, qdd=qdd).state_space().A).real.max(axis=1)
print("deviations grow at", growth[::10].round(1) + 0.0, "1/s")
