"""docs/coming-from.md: every row of the Pinocchio and MuJoCo tables, in numbers."""

import re
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.mujoco import to_mujoco
from zveno.model.other_names import OTHER_NAMES

PAGE = (Path(__file__).parents[2] / "docs" / "coming-from.md").read_text(encoding="utf-8")
URDF = """
<robot name="arm"><link name="base"/>
<link name="turret"><inertial><origin xyz="0.02 -0.01 0.1" rpy="0.2 0.1 0.3"/><mass value="8"/>
<inertia ixx="0.09" ixy="0.004" ixz="-0.003" iyy="0.08" iyz="0.002" izz="0.05"/></inertial></link>
<link name="boom"><inertial><origin xyz="0.3 0.05 0"/><mass value="4"/>
<inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.12" iyz="0" izz="0.12"/></inertial></link>
<link name="wrist"><inertial><origin xyz="0 0.02 0.04"/><mass value="1.5"/>
<inertia ixx="0.004" ixy="0" ixz="0.0005" iyy="0.005" iyz="0" izz="0.003"/></inertial></link>
<link name="tool"/>
<joint name="pan" type="revolute"><parent link="base"/><child link="turret"/><origin xyz="0 0 0.3" rpy="0.1 0 0.4"/>
<axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="100" velocity="2"/></joint>
<joint name="reach" type="prismatic"><parent link="turret"/><child link="boom"/><origin xyz="0.1 0 0.2" rpy="0 0.3 0"/>
<axis xyz="0.6 0 0.8"/><limit lower="-1" upper="1" effort="100" velocity="2"/></joint>
<joint name="bend" type="revolute"><parent link="boom"/><child link="wrist"/><origin xyz="0.5 0 0"/>
<axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="100" velocity="2"/></joint>
<joint name="flange" type="fixed"><parent link="wrist"/><child link="tool"/>
<origin xyz="0 0.1 0.2" rpy="0.5 0 0.2"/></joint>
</robot>
"""
q, qd, qdd, tau = np.random.default_rng(7).uniform(-1, 1, (4, 3))
WRENCH = np.array([3.0, -7.0, 5.0, 0.4, -0.2, 0.9])
ROTOR, VISCOUS = np.array([0.3, 2.0, 0.1]), np.array([0.5, 4.0, 0.2])


def rows(title):
    """First cells of the table below a heading."""
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [line.split(" | ")[0].lstrip("| ") for line in section.splitlines() if line.startswith("| ")][1:]


@pytest.fixture(scope="module")
def arm():
    return zv.Chain.from_urdf(URDF)


def driven(chain):
    """The chain with rotors, friction and springs in its joints."""
    extras = iter(zip(ROTOR, VISCOUS, strict=True))
    links = []
    for link in chain.links:
        data = link.to_dict()
        if link.joint != "fixed":
            data["rotor_inertia"], data["friction"] = map(float, next(extras))
            data |= {"stiffness": 2.5, "rest": 0.2}
        links.append(zv.Link.from_dict(data))
    return zv.Chain(links, base=chain.base_name)


# ---- Pinocchio --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def theirs():
    model = pin.buildModelFromXML(URDF)
    return SimpleNamespace(model=model, data=model.createData(), tool=model.getFrameId("tool"))


def frame_jacobian(p, frame):
    return pin.computeFrameJacobian(p.model, p.data, q, p.tool, frame).copy()


def pose_of_tool(p):
    pin.framesForwardKinematics(p.model, p.data, q)
    return p.data.oMf[p.tool].homogeneous.copy()


def frame_rate(p):
    pin.computeJointJacobiansTimeVariation(p.model, p.data, q, qd)
    pin.updateFramePlacements(p.model, p.data)
    return pin.getFrameJacobianTimeVariation(p.model, p.data, p.tool, pin.LOCAL_WORLD_ALIGNED).copy()


def classical(p):
    pin.forwardKinematics(p.model, p.data, q, qd, qdd)
    pin.updateFramePlacements(p.model, p.data)
    return pin.getFrameClassicalAcceleration(p.model, p.data, p.tool, pin.LOCAL_WORLD_ALIGNED).vector.copy()


def rnea_derivatives(p):
    pin.computeRNEADerivatives(p.model, p.data, q, qd, qdd)
    M = np.triu(p.data.M)
    return np.stack([p.data.dtau_dq, p.data.dtau_dv, M + np.triu(M, 1).T])


def torque_regressor(p):
    """With the columns of a link in our order."""
    Y = pin.computeJointTorqueRegressor(p.model, p.data, q, qd, qdd).reshape(3, 3, 10)
    return Y[..., [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]].reshape(3, 30)


def rnea_with_force(p):
    """A world wrench at the tool, as Pinocchio wants it: at the joint of the wrist, in its axes."""
    pin.framesForwardKinematics(p.model, p.data, q)
    joint = p.model.frames[p.tool].parentJoint
    aligned = pin.SE3(np.eye(3), p.data.oMf[p.tool].translation)
    forces = [pin.Force.Zero() for _ in range(p.model.njoints)]
    forces[joint] = p.data.oMi[joint].actInv(aligned.act(pin.Force(WRENCH)))
    return pin.rnea(p.model, p.data, q, qd, qdd, forces).copy()


def with_armature(p):
    model = p.model.copy()
    model.armature = ROTOR
    return pin.rnea(model, model.createData(), q, qd, qdd) + VISCOUS * qd + 2.5 * (q - 0.2)


def moving(theta):
    """Parameters of the moving links; what has no mass is left out."""
    return theta[np.abs(theta).max(axis=1) > 0]


PINOCCHIO = {
    "`pin.buildModelFromUrdf(path)`": (lambda p: p.model.nv, lambda a: a.n),
    "`model.nv`, `model.names[1:]`": (lambda p: list(p.model.names)[1:], lambda a: list(a.joint_names)),
    "`pin.rnea(model, data, q, v, a)`": (
        lambda p: pin.rnea(p.model, p.data, q, qd, qdd),
        lambda a: a.inverse_dynamics(q, qd, qdd),
    ),
    "`pin.nonLinearEffects(model, data, q, v)`": (
        lambda p: pin.nonLinearEffects(p.model, p.data, q, qd),
        lambda a: a.bias(q, qd),
    ),
    "`pin.computeGeneralizedGravity(model, data, q)`": (
        lambda p: pin.computeGeneralizedGravity(p.model, p.data, q),
        lambda a: a.bias(q, 0 * q),
    ),
    "`pin.crba(model, data, q)` (upper triangle)": (
        lambda p: np.triu(pin.crba(p.model, p.data, q)),
        lambda a: np.triu(a.mass_matrix(q)),
    ),
    "`pin.aba(model, data, q, v, tau)`": (
        lambda p: pin.aba(p.model, p.data, q, qd, tau),
        lambda a: a.forward_dynamics(q, qd, tau),
    ),
    "`pin.computeCoriolisMatrix(model, data, q, v)`": (
        lambda p: pin.computeCoriolisMatrix(p.model, p.data, q, qd),
        lambda a: a.coriolis_matrix(q, qd),
    ),
    "`pin.computeRNEADerivatives(...)`: `dtau_dq, dtau_dv, M`": (
        rnea_derivatives,
        lambda a: np.stack(a.derivatives(q, qd, qdd)),
    ),
    "`data.oMf[id]` after `framesForwardKinematics`": (pose_of_tool, lambda a: a.pose(q, "tool")),
    "`pin.computeFrameJacobian(..., LOCAL_WORLD_ALIGNED)`": (
        lambda p: frame_jacobian(p, pin.LOCAL_WORLD_ALIGNED),
        lambda a: a.jacobian(q, "tool"),
    ),
    "`pin.computeFrameJacobian(..., LOCAL)`": (
        lambda p: frame_jacobian(p, pin.LOCAL),
        lambda a: a.jacobian(q, "tool", frame="link"),
    ),
    "`pin.getFrameJacobianTimeVariation(..., LOCAL_WORLD_ALIGNED)`": (
        frame_rate,
        lambda a: a.jacobian_rate(q, qd, "tool"),
    ),
    "`pin.getFrameClassicalAcceleration(..., LOCAL_WORLD_ALIGNED)`": (
        classical,
        lambda a: a.acceleration(q, qd, qdd, "tool"),
    ),
    "`pin.centerOfMass(model, data, q)`": (lambda p: pin.centerOfMass(p.model, p.data, q), lambda a: a.com(q)),
    "`pin.computeCentroidalMomentum`": (
        lambda p: pin.computeCentroidalMomentum(p.model, p.data, q, qd).vector,
        lambda a: a.momentum(q, qd),
    ),
    "`pin.ccrba`": (lambda p: pin.ccrba(p.model, p.data, q, qd), lambda a: a.momentum_matrix(q)),
    "`pin.computeKineticEnergy`, `computePotentialEnergy`": (
        lambda p: [pin.computeKineticEnergy(p.model, p.data, q, qd), pin.computePotentialEnergy(p.model, p.data, q)],
        lambda a: [a.kinetic_energy(q, qd), a.potential_energy(q)],
    ),
    "`pin.computeJointTorqueRegressor`": (
        torque_regressor,
        lambda a: a.regressor(q, qd, qdd)[:, np.repeat(np.abs(a.inertial_parameters).max(axis=1) > 0, 10)],
    ),
    "`fext`: `pin.Force` in **joint axes** at the joint": (
        rnea_with_force,
        lambda a: a.inverse_dynamics(q, qd, qdd, external={"tool": WRENCH}),
    ),
    "`model.armature`; springs and friction are added by hand": (
        with_armature,
        lambda a: driven(a).inverse_dynamics(q, qd, qdd),
    ),
    "`model.inertias[i].toDynamicParameters()`": (
        lambda p: np.array(
            [p.model.inertias[i].toDynamicParameters()[[0, 1, 2, 3, 4, 5, 7, 6, 8, 9]] for i in (1, 2, 3)]
        ),
        lambda a: moving(a.inertial_parameters),
    ),
}


def test_every_row_of_the_pinocchio_table_is_checked():
    assert rows("Pinocchio") == list(PINOCCHIO)


@pytest.mark.parametrize("row", PINOCCHIO)
def test_pinocchio_and_zveno_give_the_same(row, arm, theirs):
    their, our = PINOCCHIO[row]
    want, got = their(theirs), our(arm)
    if isinstance(want, list) and isinstance(want[0], str):
        assert got == want
    else:
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-11)


# ---- MuJoCo -----------------------------------------------------------------------------------------------------


class State:
    """A MuJoCo model of a chain, in the state of this file."""

    def __init__(self, chain):
        self.model = to_mujoco(chain)
        self.data = mujoco.MjData(self.model)
        self.data.qpos, self.data.qvel, self.data.qacc = q, qd, qdd
        mujoco.mj_fwdPosition(self.model, self.data)
        mujoco.mj_fwdVelocity(self.model, self.data)
        self.tool = self.model.body("tool").id


def mj_bias(s):
    result = np.zeros(3)
    mujoco.mj_rne(s.model, s.data, 0, result)
    np.testing.assert_allclose(s.data.qfrc_bias, result, rtol=1e-10)
    return result


def mj_inverse(s):
    mujoco.mj_inverse(s.model, s.data)
    return s.data.qfrc_inverse.copy()


def mj_forward(s):
    s.data.qfrc_applied = tau
    mujoco.mj_forward(s.model, s.data)
    return s.data.qacc.copy()


def mj_mass_matrix(s):
    """M in both triangles; the arguments changed with MuJoCo 3.4."""
    M = np.zeros((3, 3))
    try:
        mujoco.mj_fullM(s.model, s.data, M)
    except TypeError:
        mujoco.mj_fullM(s.model, M, s.data.qM)
    return M


def mj_jacobian(s):
    jacp, jacr = np.zeros((2, 3, 3))
    mujoco.mj_jacBody(s.model, s.data, jacp, jacr, s.tool)
    return np.vstack([jacp, jacr])


def mj_pose(s):
    return np.c_[s.data.xmat[s.tool].reshape(3, 3), s.data.xpos[s.tool]]


def mj_inertia(s):
    """Inertia of the turret about its centre of mass, back from principal to body axes."""
    turret = s.model.body("turret")
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, turret.iquat)
    R = R.reshape(3, 3)
    return np.vstack([turret.ipos, R @ np.diag(turret.inertia) @ R.T])


def mj_force(s):
    """A wrench at the wrist's origin, moved to its centre of mass."""
    wrist = s.model.body("wrist").id
    away = s.data.xipos[wrist] - s.data.xpos[wrist]
    s.data.xfrc_applied[wrist] = np.r_[WRENCH[:3], WRENCH[3:] - np.cross(away, WRENCH[:3])]
    return mj_forward(s)


MUJOCO = {
    "`data.qpos`, `qvel`, `qacc`": (
        lambda s: [s.data.qpos, s.data.qvel, s.data.qacc],
        lambda a: [q, qd, qdd],
    ),
    "`mj_inverse`, then `qfrc_inverse` (no contacts)": (mj_inverse, lambda a: a.inverse_dynamics(q, qd, qdd)),
    "`mj_forward` with `qfrc_applied`, then `qacc`": (mj_forward, lambda a: a.forward_dynamics(q, qd, tau)),
    "`mj_rne(model, data, 0, result)`, `qfrc_bias`": (mj_bias, lambda a: a.bias(q, qd)),
    "`mj_fullM`": (mj_mass_matrix, lambda a: a.mass_matrix(q)),
    "`mj_jacBody`: `jacp`, `jacr`": (mj_jacobian, lambda a: a.jacobian(q, "tool")),
    "`data.xpos`, `data.xmat` of a body": (mj_pose, lambda a: a.pose(q, "tool")[:3]),
    "`body.ipos`, `inertia`, `iquat`: principal axes": (
        mj_inertia,
        lambda a: np.vstack([a.links[0].com, a.links[0].inertia]),
    ),
    "`joint.armature`, `damping`, `stiffness`, `springref`": (
        lambda s: mj_inverse(State(driven(zv.Chain.from_urdf(URDF)))),
        lambda a: driven(a).inverse_dynamics(q, qd, qdd),
    ),
    "`option.gravity`": (lambda s: s.model.opt.gravity, lambda a: a.gravity),
    "`data.xfrc_applied[body]`: [f; m] at the body's **centre of mass**, world axes": (
        mj_force,
        lambda a: a.forward_dynamics(q, qd, tau, external={"wrist": WRENCH}),
    ),
}


def test_every_row_of_the_mujoco_table_is_checked():
    assert rows("MuJoCo") == list(MUJOCO)


@pytest.mark.parametrize("row", MUJOCO)
def test_mujoco_and_zveno_give_the_same(row, arm):
    their, our = MUJOCO[row]
    np.testing.assert_allclose(our(arm), their(State(arm)), rtol=1e-9, atol=1e-10)


def test_names_of_zveno_on_the_page_exist():
    for name in re.findall(r"`arm\.(\w+)", PAGE):
        assert hasattr(zv.Chain, name), name


def test_functions_of_others_on_the_page_are_answered():
    parts = {"AddModels", "Finalize", "Force"}  # of a description, which are plain arrays and one call here
    tables = "".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))
    names = set(re.findall(r"`(?:pin|rtb|robot|plant|frame)\.(\w+)[(`]|`(mj_\w+)", tables))
    assert len(names) > 40
    for name in {first or second for first, second in names} - parts:
        with pytest.raises(AttributeError, match=r"it is (called|a method)"):
            getattr(zv.Chain if name in OTHER_NAMES else zv, name)
