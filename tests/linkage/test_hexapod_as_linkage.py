"""A hexapod described as a tree with six loops moves as `zv.Hexapod` says."""

import hexapod_models as models
import numpy as np
import pytest
from scipy.spatial.transform import Rotation


@pytest.mark.parametrize("case", ["UPS-skew", "SPU-skew", "UCU-skew", "RUS-skew", "RSU-skew", "mixed-lean"])
def test_accelerations_are_those_of_the_hexapod(case, rng):
    ref, hexapod = models.pair(case)
    linkage = models.as_linkage(ref)
    state = models.random_state(rng, ref)
    own = hexapod.forward_dynamics(state.r, state.R, state.u, state.wrench, state.tau)
    angles = Rotation.from_matrix(state.R).as_euler("XYZ")
    p = [row[: leg.n] for row, leg in zip(own.joint_position, ref.legs, strict=True)]
    q = np.concatenate([*p, state.r, angles])
    assert np.abs(linkage.residual(q)).max() < 1e-12
    assert linkage.mobility(q).degrees == 6
    J = linkage.chain.jacobian(q, "ring")
    spin = np.linalg.solve(J[3:, -3:], state.R @ state.u[3:])
    pd = [row[: leg.n] for row, leg in zip(own.joint_velocity, ref.legs, strict=True)]
    qd = np.concatenate([*pd, state.u[:3], spin])
    tau = np.concatenate([state.leg_tau(k, leg.n) for k, leg in enumerate(ref.legs)] + [np.zeros(6)])
    tau += J.T @ np.concatenate([state.wrench[:3], state.R @ state.wrench[3:]])
    found = linkage.forward_dynamics(q, qd, tau)
    a = linkage.chain.acceleration(q, qd, found.qdd, "ring")
    wanted = np.concatenate([own.acceleration[:3], state.R @ own.acceleration[3:]])
    np.testing.assert_allclose(a, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    legs = np.concatenate([row[: leg.n] for row, leg in zip(own.joint_acceleration, ref.legs, strict=True)])
    np.testing.assert_allclose(found.qdd[:-6], legs, rtol=1e-9, atol=1e-9 * np.abs(legs).max())
