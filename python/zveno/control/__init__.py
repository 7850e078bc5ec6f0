"""Controllers of arms: joint efforts from the measured state and a reference, in Python and as C for a rig.

Examples
--------
>>> import numpy as np, zveno as zv
>>> arm = zv.robots.two_link()
>>> control = zv.control.ComputedTorque(arm, kp=100.0, kd=20.0)
>>> swing = arm.simulate(2.0, 1e-3, q=[0.3, -0.2], tau=control.follow(lambda t: [0.5, 1.0]))
>>> print(swing.q[-1].round(4))
[0.5 1. ]
"""

from .constrained import ConstraintControl
from .controller import Controller
from .joints import ComputedTorque, GravityCompensation
from .tool import Impedance, OperationalSpace

__all__ = ["ComputedTorque", "ConstraintControl", "Controller", "GravityCompensation", "Impedance", "OperationalSpace"]
