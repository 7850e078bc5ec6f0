"""MJCF reader, by MuJoCo's own compiler: bodies with hinges and slides, and equality constraints."""

from __future__ import annotations

import os
from typing import Any, NoReturn

import numpy as np

from .._check import Array, as_path
from .._extras import optional
from ..errors import ModelError
from .chain import Chain
from .constraint import Constraint, Loop, coupling_of
from .link import Link

__all__ = ["read_mjcf"]


def read_mjcf(source: str | os.PathLike[str]) -> tuple[Chain, tuple[Constraint, ...]]:
    """Chain and constraints of a file, or of XML text."""
    mujoco = optional("mujoco", "from_mjcf")

    def fail(text: str) -> NoReturn:
        raise ModelError(f"from_mjcf: {text}")

    inline = isinstance(source, str) and source.lstrip().startswith("<")
    try:
        if inline:
            model = mujoco.MjModel.from_xml_string(source)
        else:
            model = mujoco.MjModel.from_xml_path(as_path("from_mjcf", source))
    except ValueError as error:
        fail(str(error).replace("\n", " "))
    names = _names(mujoco, model)
    links = [link for body in range(1, model.nbody) for link in _links(mujoco, model, names, body, fail)]
    name = model.names[: model.names.index(b"\0")].decode() or "chain"
    chain = Chain(links, gravity=np.array(model.opt.gravity), base=names[0], name=name)
    return chain, tuple(_equality(mujoco, model, names, k, fail) for k in range(model.neq))


def _matrix(mujoco: Any, quaternion: Any) -> Array:
    R = np.empty(9)
    mujoco.mju_quat2Mat(R, np.array(quaternion))
    return R.reshape(3, 3)


def _names(mujoco: Any, model: Any) -> list[str]:
    found = (mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, k) for k in range(model.nbody))
    return [name or f"body{k}" for k, name in enumerate(found)]


def _joint_name(mujoco: Any, model: Any, joint: int) -> str:
    return mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, joint) or f"joint{joint}"


def _links(mujoco: Any, model: Any, names: list[str], body: int, fail: Any) -> list[Link]:
    """A body: a link for every joint at its anchor, and the body itself where that is not the last of them."""
    first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
    axes = _matrix(mujoco, model.body_iquat[body])
    own: dict[str, Any] = {
        "mass": float(model.body_mass[body]),
        "com": np.array(model.body_ipos[body]),
        "inertia": axes @ np.diag(model.body_inertia[body]) @ axes.T,
    }
    parent, R = names[int(model.body_parentid[body])], _matrix(mujoco, model.body_quat[body])
    origin = np.array(model.body_pos[body])
    anchors = [np.array(model.jnt_pos[j]) for j in range(first, first + count)]
    direct = count == 1 and not anchors[0].any()
    links: list[Link] = []
    before = np.zeros(3)
    for k, anchor in enumerate(anchors):
        j = first + k
        joint = _joint_name(mujoco, model, j)
        hinge, slide = (model.jnt_type[j] == int(x) for x in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE))
        if not (hinge or slide):
            fail(f"joint '{joint}' of body '{names[body]}' is free or a ball, expected a hinge or a slide")
        if model.qpos0[model.jnt_qposadr[j]] != 0:
            fail(f"joint '{joint}' has ref = {model.qpos0[model.jnt_qposadr[j]]:g}, expected 0")
        dof = int(model.jnt_dofadr[j])
        limits: dict[str, Any] = (
            {"lower": model.jnt_range[j, 0], "upper": model.jnt_range[j, 1]} if model.jnt_limited[j] else {}
        )
        links.append(
            Link(
                names[body] if direct else f"{names[body]}:{joint}",
                parent=parent,
                joint="revolute" if hinge else "prismatic",
                joint_name=joint,
                axis=np.array(model.jnt_axis[j]),
                position=origin + R @ anchor if k == 0 else anchor - before,
                rotation=R if k == 0 else np.eye(3),
                rotor_inertia=float(model.dof_armature[dof]),
                friction=float(model.dof_damping[dof]),
                stiffness=float(model.jnt_stiffness[j]),
                rest=float(model.qpos_spring[model.jnt_qposadr[j]]) if model.jnt_stiffness[j] else 0.0,
                **limits,
                **(own if direct else {}),
            )
        )
        parent, before = links[-1].name, anchor
    if not direct:
        place: dict[str, Any] = {"position": -before} if links else {"position": origin, "rotation": R}
        links.append(Link(names[body], parent=parent, joint="fixed", **place, **own))
    return links


def _equality(mujoco: Any, model: Any, names: list[str], k: int, fail: Any) -> Constraint:
    kind, data = model.eq_type[k], np.array(model.eq_data[k])
    one, two = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
    name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_EQUALITY, k)
    if kind == int(mujoco.mjtEq.mjEQ_JOINT):
        if data[2:5].any():
            fail(f"equality {name or k}: polycoef has powers above the first, expected a linear relation")
        joints = {_joint_name(mujoco, model, one): 1.0}
        if two >= 0:
            joints[_joint_name(mujoco, model, two)] = -float(data[1])
        return coupling_of(joints, float(data[0]), name)
    if model.eq_objtype[k] != int(mujoco.mjtObj.mjOBJ_BODY):
        fail(f"equality {name or k}: is between sites, expected bodies")
    a, b = names[one], names[two]
    if kind == int(mujoco.mjtEq.mjEQ_CONNECT):
        return Loop.spherical(a, b, point_a=data[:3], point_b=data[3:6], name=name)
    if kind == int(mujoco.mjtEq.mjEQ_WELD):  # anchor in body 2, the same point in body 1, turn of body 2 against body 1
        R = _matrix(mujoco, data[6:10])
        at: dict[str, Any] = {
            "point_a": data[3:6],
            "rotation_a": R,
            "point_b": data[:3],
            "rotation_b": np.eye(3),
        }
        return Loop.weld(a, b, **at, name=name)
    raise ModelError(f"from_mjcf: equality {name or k} is of another kind, expected connect, weld or joint")
