"""MJCF files with equality constraints, against MuJoCo itself."""

import mujoco
import numpy as np
import pytest
import zveno as zv

TEXT = """<mujoco model="crane"><option gravity="0 0 -9.81"/><worldbody>
<body name="mast" pos="0.1 0 0.2" euler="10 20 30"><inertial pos="0 0 0.1" mass="2" diaginertia="0.1 0.2 0.15"/>
  <joint name="slew" axis="0 0 1" armature="0.01" damping="0.2"/>
  <body name="boom" pos="0.3 0 0.5" quat="0.8 0.6 0 0">
    <inertial pos="0.2 0 0" mass="1" fullinertia="0.05 0.06 0.07 0.01 0 0"/>
    <joint name="luff" axis="0 1 0" pos="0.05 0 0.02"/>
    <joint name="out" type="slide" axis="1 0 0" range="-1 1" limited="true"/>
    <body name="tip" pos="0.5 0 0"><geom size="0.05" mass="0.3"/></body></body></body>
<body name="other" pos="0.6 0.2 0"><inertial pos="0 0 0.1" mass="1.5" diaginertia="0.1 0.1 0.1"/>
  <joint name="a" axis="0 0 1"/><joint name="b" axis="1 0 0"/><joint name="c" axis="0 1 0" pos="0 0 0.1"/></body>
</worldbody><equality>
<connect name="ball" body1="tip" body2="other" anchor="0.1 0.2 0.3"/>
<weld name="held" body1="mast" body2="other" anchor="0.1 0 0"/>
<joint name="gear" joint1="a" joint2="slew" polycoef="0.2 -3 0 0 0"/>
</equality></mujoco>"""


def test_bodies_constraints_and_dynamics_agree_with_mujoco(rng):
    linkage = zv.Linkage.from_mjcf(TEXT)
    model = mujoco.MjModel.from_xml_string(TEXT)
    data = mujoco.MjData(model)
    assert linkage.joint_names == tuple(model.joint(j).name for j in range(model.njnt))
    q, qd = rng.uniform(-0.5, 0.5, (2, model.nv))
    data.qpos[:], data.qvel[:] = q, qd
    mujoco.mj_forward(model, data)
    for body in ("mast", "boom", "tip", "other"):
        pose = linkage.chain.pose(q, body)
        assert pose[:3, 3] == pytest.approx(data.body(body).xpos, abs=1e-12)
        assert pose[:3, :3].ravel() == pytest.approx(data.body(body).xmat, abs=1e-12)
    # chains take damping into the bias, MuJoCo into passive forces
    bias = data.qfrc_bias - data.qfrc_passive
    assert linkage.chain.bias(q, qd) == pytest.approx(bias, abs=1e-10)
    M = np.empty((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    assert linkage.chain.mass_matrix(q) == pytest.approx(M, abs=1e-12)
    # residuals: MuJoCo's are in world axes, so lengths are compared; at qpos0 all of them vanish but the gear's
    f = linkage.residual(q)
    position = data.efc_pos[: model.neq and data.ne]
    assert np.linalg.norm(f[:3]) == pytest.approx(np.linalg.norm(position[:3]), rel=1e-9)
    assert np.linalg.norm(f[3:6]) == pytest.approx(np.linalg.norm(position[3:6]), rel=1e-9)
    assert f[-1] / linkage.length == pytest.approx(position[-1], rel=1e-9)
    still = linkage.residual(np.zeros(model.nv))
    assert np.abs(still[:9]).max() < 1e-12
    assert [x.kind for x in linkage.constraints] == ["spherical", "weld", "coupling"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            ('<joint name="luff" axis="0 1 0" pos="0.05 0 0.02"/>', '<joint name="luff" type="ball"/>'),
            "is free or a ball",
        ),
        (('polycoef="0.2 -3 0 0 0"', 'polycoef="0.2 -3 1 0 0"'), "powers above the first"),
        (('<joint name="b" axis="1 0 0"/>', '<joint name="b" axis="1 0 0" ref="20"/>'), "has ref"),
        (('name="mast"', 'nam="mast"'), "nam"),
    ],
)
def test_what_is_not_read_is_named(change, text):
    with pytest.raises(zv.ModelError, match=text):
        zv.Linkage.from_mjcf(TEXT.replace(*change))
