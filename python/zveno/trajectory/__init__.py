"""Motions of joints in time: point to point, through via points, along paths as fast as limits allow.

Examples
--------
>>> import zveno as zv
>>> arm = zv.robots.two_link()
>>> way = zv.trajectory.path([[0.3, 0.4], [0.9, -0.5], [1.4, 0.8]], arm=arm)
>>> fast = zv.trajectory.time_optimal(arm, way, velocity=3.0, torque=[40.0, 15.0])
>>> slow = way.timed(1.0).within(arm, velocity=3.0, torque=[40.0, 15.0])
>>> print(round(fast.duration, 2), round(slow.duration, 2))
0.84 1.5
"""

from .motion import JointPath, MotionPeaks, MotionState, PathState, Trajectory
from .optimal import time_optimal
from .poses import PosePath, arc, joint_path, line
from .profiles import quintic, s_curve, trapezoid
from .splines import path, spline

__all__ = [
    "JointPath",
    "MotionPeaks",
    "MotionState",
    "PathState",
    "PosePath",
    "Trajectory",
    "arc",
    "joint_path",
    "line",
    "path",
    "quintic",
    "s_curve",
    "spline",
    "time_optimal",
    "trapezoid",
]


def __dir__() -> list[str]:
    return sorted(__all__)
