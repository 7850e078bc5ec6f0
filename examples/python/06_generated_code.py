"""
Code for one particular arm
===========================

Straight-line code: machine code in this process, and C for a rig.
"""

import tempfile

import numpy as np
import zveno as zv

arm = zv.robots.puma560()
traced = arm.trace("inverse_dynamics")
print(f"kernel    {traced.kernel_operations}")
print(f"traced    {traced.operations}")
print(f"algebraic {arm.trace('inverse_dynamics', level='algebraic').operations}")

f = arm.compile("inverse_dynamics")
q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, 1000, arm.n))
assert np.array_equal(f(q, qd, qdd), arm.inverse_dynamics(q, qd, qdd))

with tempfile.TemporaryDirectory() as folder:  # or one of yours
    files = arm.trace("forward_dynamics").save(folder)
    print("C for a rig:", *(path.name for path in files))
