"""Chains as URDF."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

import numpy as np

from .._check import Array

if TYPE_CHECKING:
    from .chain import Chain

__all__ = ["urdf_text"]

_UNLIMITED = 1e9  # URDF has no infinity


def urdf_text(chain: Chain, coulomb: dict[str, float]) -> str:
    """The file; numbers read back as the same doubles."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<robot name={quoteattr(chain.name)}>"]
    lines.append(f"  <link name={quoteattr(chain.base_name)}/>")
    for link in chain.links:
        if link.mass or link.inertia.any():
            I = link.inertia.tolist()  # noqa: E741
            lines += [
                f"  <link name={quoteattr(link.name)}>",
                "    <inertial>",
                f'      <origin xyz="{_row(link.com)}" rpy="0 0 0"/>',
                f'      <mass value="{_text(link.mass)}"/>',
                f'      <inertia ixx="{_text(I[0][0])}" ixy="{_text(I[0][1])}" ixz="{_text(I[0][2])}" '
                f'iyy="{_text(I[1][1])}" iyz="{_text(I[1][2])}" izz="{_text(I[2][2])}"/>',
                "    </inertial>",
                "  </link>",
            ]
        else:
            lines.append(f"  <link name={quoteattr(link.name)}/>")
    for link in chain.links:
        kind = link.joint
        if kind == "revolute" and math.isinf(link.lower) and math.isinf(link.upper):
            kind = "continuous"
        lines += [
            f"  <joint name={quoteattr(link.joint_name)} type={quoteattr(kind)}>",
            f'    <origin xyz="{_row(link.position)}" rpy="{_row(_angles(link.rotation))}"/>',
            f"    <parent link={quoteattr(link.parent or chain.base_name)}/>",
            f"    <child link={quoteattr(link.name)}/>",
        ]
        if kind != "fixed":
            axis = link.axis / math.hypot(*link.axis.tolist())
            lines.append(f'    <axis xyz="{_row(axis)}"/>')
            bounds = "" if kind == "continuous" else f'lower="{_limit(link.lower)}" upper="{_limit(link.upper)}" '
            lines.append(f'    <limit {bounds}effort="{_limit(link.effort)}" velocity="{_limit(link.velocity)}"/>')
            dry = coulomb.get(link.joint_name, 0.0)
            if link.friction or dry:
                lines.append(f'    <dynamics damping="{_text(link.friction)}" friction="{_text(dry)}"/>')
        lines.append("  </joint>")
    return "\n".join([*lines, "</robot>", ""])


def _angles(R: Array) -> Array:
    """Roll, pitch and yaw: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    across = math.hypot(R[0, 0], R[1, 0])
    if across > 1e-9:
        roll, yaw = math.atan2(R[2, 1], R[2, 2]), math.atan2(R[1, 0], R[0, 0])
    else:  # only the difference or the sum of the two counts
        roll, yaw = math.atan2(-R[1, 2], R[1, 1]), 0.0
    return np.array([roll, math.atan2(-R[2, 0], across), yaw])


def _row(values: Array) -> str:
    return " ".join(_text(x) for x in values.tolist())


def _text(x: float) -> str:
    return repr(float(x) + 0.0)


def _limit(x: float) -> str:
    return _text(max(-_UNLIMITED, min(_UNLIMITED, x)))
