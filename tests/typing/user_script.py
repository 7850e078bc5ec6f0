"""What a user writes, checked with ``mypy --strict`` and pyright against the installed package; it also runs."""

import tempfile
from pathlib import Path
from typing import Any, assert_type

import numpy as np
import zveno as zv
from numpy.typing import NDArray

Array = NDArray[np.float64]


def gravity_torques(arm: zv.Chain, q: Array) -> Array:
    rest = np.zeros_like(q)
    return arm.inverse_dynamics(q, rest, rest, threads=0)


links = [
    zv.Link("upper", axis=(0, 1, 0), mass=4.0, com=(0.2, 0, 0), inertia=np.diag([0.01, 0.1, 0.1])),
    zv.Link("fore", axis=(0, 1, 0), position=(0.4, 0, 0), mass=2.0, com=(0.1, 0, 0), inertia=(0.01, 0.05, 0.05)),
]
arm = zv.Chain(links, gravity=(0.0, 0.0, -9.81), name="arm").with_payload("fore", 1.0, com=(0.3, 0, 0))
q = np.zeros((5, arm.n))
M = np.empty((5, arm.n, arm.n))

assert_type(gravity_torques(arm, q), Array)
assert_type(arm.mass_matrix(q, method="kane-recurrent", out=M), Array)
assert_type(arm.forward_dynamics(q[0], q[0], [1.0, 2.0], external={"fore": [0, 0, -5, 0, 0, 0]}), Array)
assert_type(arm.potential_energy([0.1, 0.2]), float)
assert_type(arm.simulate(0.1, 1e-3, q=q[0]), zv.ChainSimulation)
assert_type(arm.simulate(0.1, 1e-3, q=q, threads=0), zv.SimulationBatch)
assert_type(arm.simulate(0.1, 1e-3).summary()[0].peak, float)
assert_type(arm.simulate(0.1, 1e-3, q=q, threads=1).summary("q")[0].run, tuple[int, ...])
assert_type(arm.simulate(0.1, 1e-3, q=q, threads=1).energy_balance.ratio, Array)
assert_type(arm.kinetic_energy(q, q, out=np.empty(5)), Array)
assert_type(arm.derivatives(q, q, q).dtau_dq, Array)
assert_type(arm.operations("mass_matrix").total, int)
assert_type(arm.time_derivatives("pose", np.zeros((4, arm.n)), link="fore"), Array)
assert_type(arm.joint_names, tuple[str, ...])
move = zv.trajectory.quintic([0.0, 0.0], [1.0, 0.5], velocity=1.0, arm=arm)
assert_type(move.at(0.1).jerk, Array)
assert_type(arm.inverse_dynamics(*move([0.1, 0.2])), Array)
assert_type(zv.trajectory.time_optimal(arm, [[0, 0], [1, 1]], torque=99.0).duration, float)
assert_type(zv.cpu_features()["lanes"], int)

boom = zv.flexible.beam("boom", 6.0, section=zv.flexible.Tube(0.05, 0.002), material=zv.flexible.steel)
assert_type(boom[0], zv.Link)
assert_type(boom.frequencies, Array)
assert_type(zv.flexible.deflection(boom.clamped(), {boom.tip: [0, 0, -5, 0, 0, 0]}).q, Array)
assert_type(zv.flexible.resolution(boom, 10.0).elements, int)

compiled = arm.compile("mass_matrix")
assert_type(compiled, zv.CompiledFunction[Array])
assert_type(compiled(q, out=M), Array)
assert_type(arm.compile("derivatives", level="algebraic")(q, q, q), zv.Derivatives)
assert_type(arm.mass_matrix_derivatives(q, order=2), Array)
assert_type(arm.kinematic_derivative(q, "fore", 0, (arm.joint_names[1], 1)), Array)
assert_type(arm.second_derivatives(q, q, q, q).H_qq, Array)
assert_type(arm.compile("second_derivatives")(q, q, q, q), zv.SecondDerivatives)
assert_type(arm.compile("kinetic_energy")(q, q), float | Array)
anything: zv.CompiledFunction = compiled

ring = zv.mechanisms.docking_ring("UPS")
r, R = ring.nominal
assert_type(ring.compile("closure")(r, R), Array)
loads = ring.compile("forward_dynamics")(r, R, np.zeros(6), np.zeros(6), np.zeros(6))
assert_type(loads, zv.HexapodDynamics)
assert_type(loads.reaction, Array)
if ring.nominal is None:
    raise SystemExit

try:
    zv.Chain([zv.Link("a", mass=-1.0)])
except zv.ModelError as error:
    assert_type(error.link, str | None)

with tempfile.TemporaryDirectory() as folder:
    arm.save(Path(folder) / "arm.json")
    again: zv.Chain = zv.load(Path(folder) / "arm.json")  # what the file holds is for the user to say
assert_type(arm.compile("mass_matrix", level="algebraic").savings.difference, float | Any)
