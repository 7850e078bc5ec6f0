"""Named results of calls that return several arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Derivatives(NamedTuple):
    """First derivatives of the joint efforts tau(q, qd, qdd); element [i, j] is d tau_i / d x_j."""

    dtau_dq: NDArray[np.float64]
    dtau_dqd: NDArray[np.float64]
    dtau_dqdd: NDArray[np.float64]
