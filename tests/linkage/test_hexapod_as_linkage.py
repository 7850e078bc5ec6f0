"""A hexapod described as a tree with six loops moves as `zv.Hexapod` says."""

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from engines.cut import is_universal
from scipy.spatial.transform import Rotation


def as_linkage(ref):
    """Legs as chains of the base, the ring on six massless joints, and the joints between them as loops."""
    links, loops = [], []
    for k, leg in enumerate(ref.legs):
        parent = "base"
        for j, (joint, body, (offset, gamma)) in enumerate(zip(leg.joints, leg.bodies, leg.before, strict=True)):
            name = f"leg{k}_{j}"
            links.append(
                zv.Link(name, parent=parent, joint="revolute" if joint.revolute else "prismatic", axis=joint.axis,
                        position=offset, rotation=gamma.T, mass=body.m, com=body.d, inertia=body.I_com,
                        rotor_inertia=leg.drives[j])
            )  # fmt: skip
            parent = name
        if is_universal(leg):
            loop = zv.Loop.universal(parent, "ring", point_a=leg.l_L, point_b=leg.l_C, axis_a=leg.gamma_L[1],
                                     axis_b=leg.gamma_C[2], name=f"leg {k}")  # fmt: skip
        else:
            loop = zv.Loop.spherical(parent, "ring", point_a=leg.l_L, point_b=leg.l_C, name=f"leg {k}")
        loops.append(loop)
    parent = "base"
    for kind, axis in [("prismatic", k) for k in range(3)] + [("revolute", k) for k in range(2)]:
        links.append(zv.Link(f"ring_{kind}_{axis}", parent=parent, joint=kind, axis=np.eye(3)[axis]))
        parent = links[-1].name
    links.append(zv.Link("ring", parent=parent, axis=(0, 0, 1), mass=ref.m_C, inertia=ref.I_C))
    return zv.Linkage(zv.Chain(links, gravity=ref.g, base="base", strict=False), loops)


@pytest.mark.parametrize("case", ["UPS-skew", "SPU-skew", "UCU-skew", "RUS-skew", "RSU-skew", "mixed-lean"])
def test_accelerations_are_those_of_the_hexapod(case, rng):
    ref, hexapod = models.pair(case)
    linkage = as_linkage(ref)
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
