"""
An arm stands on its shoulder
=============================

The two-link arm upright: linear model, what would happen without control, a linear-quadratic regulator, and the
nonlinear arm under it, from the torques of both joints and from those of the shoulder alone.
"""

import numpy as np
import zveno as zv
from numpy.typing import NDArray
from scipy.linalg import solve_continuous_are  # type: ignore[import-untyped]

arm = zv.robots.two_link()
upright = arm.equilibrium(guess=[-1.5, 0.1])  # Newton's method: the equilibrium near the guess
print(upright)

linear = arm.linearise(upright.q, tau=0, equilibrium=True)
print(linear.modes())


def regulator(inputs: list[str], cost: float) -> NDArray[np.float64]:
    """Gain of u = -gain x for the drives named, with the cost of a squared N m beside squared rad and rad/s."""
    A, B, *_ = linear.state_space(inputs=inputs)
    P = solve_continuous_are(A, B, np.eye(len(A)), cost * np.eye(len(inputs)))
    gain: NDArray[np.float64] = B.T @ P / cost
    slowest = np.linalg.eigvals(A - B @ gain).real.max()
    print(f"{' and '.join(inputs)}: slowest eigenvalue {slowest:.2f} 1/s")
    return gain


# ``control.lqr(*control.ss(A, B, C, D), Q, R)`` gives the same gains
for inputs, start in ((["upper_joint", "lower_joint"], (0.3, -0.4)), (["upper_joint"], (0.05, -0.05))):
    gain = np.zeros((arm.n, 2 * arm.n))
    gain[[arm.joint_names.index(name) for name in inputs]] = regulator(inputs, 0.1)

    def drives(t: float, q: NDArray[np.float64], qd: NDArray[np.float64]) -> NDArray[np.float64]:
        deviation: NDArray[np.float64] = np.concatenate([q - upright.q, qd])
        return -gain @ deviation  # noqa: B023, called before the next round

    run = arm.simulate(8.0, 2e-3, q=upright.q + np.array(start), tau=drives)
    off = np.abs(run.q - upright.q).max(axis=1)
    print(
        f"  begins {off[0]:.2f} rad off, needs {np.abs(run.tau).max():.1f} N m, after 8 s it is {off[-1]:.4f} rad off"
    )
    assert off[-1] < 0.02
