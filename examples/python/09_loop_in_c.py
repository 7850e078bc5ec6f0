"""
A 1 kHz loop in C
=================

A rig computes the torques of a computed-torque controller a thousand times a second, in C, without Python, NumPy or a
C++ library. This script writes the C of one arm's inverse dynamics, a loop around it, compiles both and runs them.

It needs a C compiler (``cc``, or the one in the environment variable ``CC``).
"""

# %%
# The function
# ------------
# ``parameters=["link6"]`` makes the ten inertial parameters of the last link an argument, so that a load in the hand
# can change without new code; the rest of the arm is numbers in the code. Parameters of bodies that are fixed to each
# other add up: the argument is the link's own plus those of 2 kg, 0.1 m in front of the flange.
import os
import subprocess
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import zveno as zv

arm = zv.robots.puma560()
traced = arm.trace("inverse_dynamics", parameters=["link6"])
load = traced.parameters[0] + [2.0, 0, 0, 0.2, 0.02, 0, 0, 0.02, 0, 0]  # m, m c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz
print("kernel   ", traced.kernel_operations)
print("this arm ", traced.operations)

workplace = tempfile.TemporaryDirectory()
folder = Path(workplace.name)
files = traced.save(folder)
header = next(path for path in files if path.suffix == ".h")
name = header.stem
print(*(path.name for path in files))

# %%
# What the program sees of it:
text = header.read_text()
print(text[text.index(f"void {name}(") : text.rindex(");") + 2])

# %%
# The loop
# --------
# A real rig waits for its clock here; we only measure how long the work of a tick takes. The reference is a sine, the
# feedback is a PD controller on the acceleration, and the arm is replaced by what the reference was a tick ago.
loop = folder / "loop.c"
loop.write_text(
    """
#define _POSIX_C_SOURCE 199309L
#include "NAME.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

enum { JOINTS = 6, TICKS = 20000 };
static const double load[10] = {LOAD};

static double nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

int main(void) {
  double q[JOINTS] = {0}, qd[JOINTS], command[JOINTS], tau[JOINTS];
  for (int j = 0; j < JOINTS; ++j) qd[j] = 0.9; /* the reference starts with this rate */
  for (int tick = 0; tick < TICKS; ++tick) {
    const double t = 1e-3 * tick, w = 3.0, s = sin(w * t), c = cos(w * t);
    const double began = nanoseconds();
    for (int j = 0; j < JOINTS; ++j) {
      const double reference = 0.3 * s, rate = 0.3 * w * c, acceleration = -0.3 * w * w * s;
      command[j] = acceleration + 60.0 * (rate - qd[j]) + 900.0 * (reference - q[j]);
      q[j] = reference;
      qd[j] = rate;
    }
    NAME(q, qd, command, load, tau);
    const double took = nanoseconds() - began;
    printf("%.0f %.9g %.9g\\n", took, tau[1], tau[2]);
  }
  return 0;
}
""".replace("NAME", name).replace("LOAD", ", ".join(f"{x:.17g}" for x in load))
)
command = [os.environ.get("CC", "cc"), "-std=c99", "-O2", "-ffp-contract=off"]
program, code = folder / "loop", folder / f"{name}.c"
subprocess.run([*command, "-o", program, loop, code, "-lm"], check=True)

# %%
# Twenty thousand ticks
# ---------------------
ran = subprocess.run([program], check=True, capture_output=True, text=True)
took, shoulder, elbow = np.array([line.split() for line in ran.stdout.splitlines()], dtype=float).T
print(f"of a tick of 1,000,000 ns: median {np.median(took):.0f} ns,", end=" ")
print(f"99.9 % below {np.quantile(took, 0.999):.0f} ns")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
left.hist(took[took < 5 * np.median(took)], bins=60, color="C0")
left.set(xlabel="time of one tick's work, ns", ylabel="ticks", title="no branch, no loop: one peak")
t = 1e-3 * np.arange(len(took))
right.plot(t[:4000], shoulder[:4000], label="shoulder")
right.plot(t[:4000], elbow[:4000], label="elbow")
right.set(xlabel="time, s", ylabel="torque, N m", title="what the drives are told")
right.legend()

# %%
# The same numbers as Python
# --------------------------
# The C code has the bits of the kernels, up to the sines of the C library.
k = 1234
s, c = np.sin(3.0 * 1e-3 * np.array([k - 1, k])), np.cos(3.0 * 1e-3 * np.array([k - 1, k]))
q, qd = 0.3 * s, 0.9 * c
asked = -2.7 * s[1] + 60 * (qd[1] - qd[0]) + 900 * (q[1] - q[0])
loaded = arm.with_payload("link6", 2.0, com=(0, 0, 0.1))
row = np.ones(arm.n)
expected = loaded.inverse_dynamics(q[1] * row, qd[1] * row, asked * row)
assert np.allclose([shoulder[k], elbow[k]], expected[1:3], rtol=1e-7)

# %%
# The files come with a self-test of their own. It compares with results of zveno's kernels:
test = folder / "self_test"
subprocess.run([*command, "-o", test, folder / f"{name}_test.c", code, "-lm"], check=True)
print(subprocess.run([test], check=True, capture_output=True, text=True).stdout)
workplace.cleanup()
if plt.get_backend() != "agg":
    plt.show()
