"""Pinocchio's model of a chain, for ``zveno bench --against pinocchio`` and the tests."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..model import Chain, Link

__all__ = ["to_pinocchio"]


def to_pinocchio(chain: Chain) -> Any:
    """The same mechanism as a ``pinocchio.Model``: fixed links become frames, their bodies go to the carrying joint.

    Aligned axes become Pinocchio's specialised joints, its fastest. Joints keep their names; they stand depth first,
    which is the order of the chain where its links are listed so.
    """
    pin = import_module("pinocchio")

    kinds = {"revolute": ("R", pin.JointModelRevoluteUnaligned), "prismatic": ("P", pin.JointModelPrismaticUnaligned)}
    model = pin.Model()
    model.name = chain.name
    model.gravity = pin.Motion(np.array(chain.gravity), np.zeros(3))
    children: dict[str | None, list[Link]] = {}
    for link in chain.links:
        children.setdefault(link.parent, []).append(link)
    carrier = {chain.base_name: (0, pin.SE3.Identity())}
    armature = []
    stack = children[chain.base_name][::-1]
    while stack:  # depth first: Pinocchio wants the joints of a subtree to be neighbours
        link = stack.pop()
        joint, placement = carrier[str(link.parent)]
        placement = placement * pin.SE3(np.array(link.rotation), np.array(link.position))
        if link.joint != "fixed":
            letter, unaligned = kinds[link.joint]
            axis = link.axis / np.linalg.norm(link.axis)
            aligned = [k for k in range(3) if axis[k] == 1.0 and np.count_nonzero(axis) == 1]
            kind = getattr(pin, f"JointModel{letter}{'XYZ'[aligned[0]]}")() if aligned else unaligned(axis)
            joint, placement = model.addJoint(joint, kind, placement, link.joint_name), pin.SE3.Identity()
            armature.append(link.rotor_inertia)
        # Pinocchio refuses an eigenvalue of -1e-20, which real files carry
        lift = max(0.0, -2 * float(np.linalg.eigvalsh(link.inertia)[0]))
        body = pin.Inertia(link.mass, np.array(link.com), link.inertia + lift * np.eye(3))
        model.appendBodyToJoint(joint, body, placement)
        model.addFrame(pin.Frame(link.name, joint, 0, placement, pin.FrameType.BODY))
        carrier[link.name] = joint, placement
        stack += children.get(link.name, [])[::-1]
    model.armature = np.array(armature)
    return model
