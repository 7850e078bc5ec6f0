"""Dockings: an evaluation, a simulated second, batches in lanes and threads, a campaign with its memory, and MuJoCo.

python bench/docking_table.py [--runs N] [--rounds N] [--campaign N] [--no-mujoco]

Evaluations are those of whole runs of the demo cases at 1 ms; the best of the rounds counts. Times of single runs are
processor times of one thread, those of batches and campaigns wall times. Two hardware threads of one core share its
vector units: what they gain together is less than what two cores would. MuJoCo runs vehicles and legs with the numbers
of the demo, rings of 24 capsules and 3 boxes as petals, no latches: comparable in size, not the same contact.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from itertools import pairwise

import numpy as np
from zveno import docking
from zveno.docking.simulate import _options, _runner


def single(kind, case, rounds):
    """Microseconds of an evaluation, milliseconds of a simulated second in contact."""
    s = docking.demo(kind, case)
    docking.simulate(s, 0.1, record=1.0)
    best, run = np.inf, None
    for _ in range(rounds):
        begin = time.process_time()
        run = docking.simulate(s, dt=1e-3, after=1.0, record=1.0)
        best = min(best, time.process_time() - begin)
    return 1e6 * best / run.evaluations, 1e3 * best / run.t_end


def drawn(count):
    """Conditions of the usual box, uniform."""
    rng = np.random.default_rng(2026)

    def disc(radius):
        r, a = radius * np.sqrt(rng.random(count)), 2 * np.pi * rng.random(count)
        return np.stack([r * np.cos(a), r * np.sin(a)], axis=1)

    degree = np.pi / 180
    offset, tilt, lateral, rates = disc(0.10), disc(4 * degree), disc(0.04), disc(0.2 * degree)
    roll, closing, roll_rate = (rng.uniform(a, b, count) for a, b in ((-4, 4), (0.05, 0.10), (-0.2, 0.2)))
    columns = [closing[:, None], offset, tilt, degree * roll[:, None], lateral, degree * roll_rate[:, None], rates]
    return np.concatenate([*columns, np.full((count, 1), np.nan)], axis=1)


def batches(kind, runs, rounds):
    """Microseconds of an evaluation one by one and in lanes, by processor time; whether the tables are equal."""
    s, rows = docking.demo(kind), drawn(runs)
    runner, (options, _) = _runner(s), _options("bench", s, 30.0, 1.0, "auto", None)
    runner.batch(rows[:2], None, options, 1)
    best, tables = {False: np.inf, True: np.inf}, {}
    for _ in range(rounds):
        for lanes in best:
            begin = time.process_time()
            tables[lanes] = runner.batch(rows, None, options, 1, lanes)
            best[lanes] = min(best[lanes], time.process_time() - begin)
    count = np.nansum(tables[True][:, 6])
    equal = np.array_equal(tables[False], tables[True], equal_nan=True)
    return 1e6 * best[False] / count, 1e6 * best[True] / count, equal


# ---- MuJoCo


def mujoco_model(integrator):
    """Chaser on which a ring stands on six struts, station with a rigid ring."""
    import mujoco

    def text(values):
        return " ".join(f"{x:.12g}" for x in np.ravel(values))

    def ring(kind):
        a = 2 * np.pi * np.arange(25) / 24
        points = np.stack([0 * a, 0.585 * np.cos(a), 0.585 * np.sin(a)], axis=1)
        look = f'contype="{kind}" conaffinity="{3 - kind}" friction="0.1 0.005 0.0001" mass="0"'
        parts = [f'<geom type="capsule" size="0.02" fromto="{text([p, q])}" {look}/>' for p, q in pairwise(points)]
        for angle in np.deg2rad([30, 150, 270]):
            radial, around = np.array([0, np.cos(angle), np.sin(angle)]), np.array([0, -np.sin(angle), np.cos(angle)])
            up = np.array([0.11, 0, 0]) - 0.115 * radial
            parts.append(
                f'<geom type="box" size="{np.linalg.norm(up) / 2:.6g} 0.15 0.008" pos="{text(0.555 * radial + up / 2)}"'
                f' xyaxes="{text([up / np.linalg.norm(up), around])}" {look}/>'
            )
        return "".join(parts)

    legs, ties = [], []
    for k in range(6):
        i, sign = k // 2, 1 - 2 * (k % 2)
        a, b = np.deg2rad(120 * i + 15 * sign), np.deg2rad(120 * i + 45 * sign)
        foot, tip = 0.64 * np.array([0, np.cos(a), np.sin(a)]), np.array([0.38, 0.6 * np.cos(b), 0.6 * np.sin(b)])
        length = np.linalg.norm(tip - foot)
        x = (tip - foot) / length
        z = np.cross(x, foot / 0.64)
        z /= np.linalg.norm(z)
        legs.append(
            f'<body pos="{text(foot)}" xyaxes="{text([x, np.cross(z, x)])}">'
            '<inertial pos="0.15 0 0" mass="4" diaginertia="0.0018 0.0309 0.0309"/>'
            '<joint axis="0 1 0"/><joint axis="0 0 1"/>'
            f'<body name="rod{k}" pos="0.25 0 0"><inertial pos="{length - 0.39:.9g} 0 0" mass="2.5"'
            ' diaginertia="0.000405 0.016536 0.016536"/>'
            '<joint type="slide" axis="1 0 0" stiffness="700" damping="2500" armature="9.87"/></body></body>'
        )
        ties.append(f'<connect body1="rod{k}" body2="ring" anchor="{length - 0.25:.9g} 0 0"/>')
    xml = f"""<mujoco><compiler angle="radian"/>
    <option timestep="0.001" gravity="0 0 0" integrator="{integrator}"/>
    <worldbody>
      <body name="chaser"><freejoint/><inertial pos="-3.5 0 0" mass="12000" diaginertia="22000 70000 70000"/>
        {"".join(legs)}</body>
      <body name="ring" pos="0.38 0 0"><freejoint/><inertial pos="0 0 0" mass="45" diaginertia="15.5 8.2 8.2"/>
        <body pos="0.03 0 0">{ring(1)}<inertial pos="0 0 0" mass="1e-6" diaginertia="1e-6 1e-6 1e-6"/></body></body>
      <body name="station" pos="0.55 0.03 0.01" euler="0.02 3.14159265 0.02"><freejoint/>
        <inertial pos="-15 0 0" mass="350000" diaginertia="5e7 1e8 1e8"/>{ring(2)}</body>
    </worldbody><equality>{"".join(ties)}</equality></mujoco>"""
    return mujoco.MjModel.from_xml_string(xml)


def mujoco_second(integrator, seconds=3.0):
    """Milliseconds of a simulated second at 1 ms, share of steps in contact."""
    import mujoco

    model = mujoco_model(integrator)
    data = mujoco.MjData(model)
    data.qvel[model.body("chaser").dofadr[0]] = data.qvel[model.body("ring").dofadr[0]] = 0.08
    for _ in range(700):  # nearly to the first contact
        mujoco.mj_step(model, data)
    touching, steps = 0, round(1e3 * seconds)
    begin = time.process_time()
    for _ in range(steps):
        mujoco.mj_step(model, data)
        touching += data.ncon > 0
    return 1e3 * (time.process_time() - begin) / seconds, touching / steps


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--campaign", type=int, default=10_000, help="runs of the campaign, 0: none")
    parser.add_argument("--mujoco", action=argparse.BooleanOptionalAction, default=True)
    given = parser.parse_args()
    print("one by one:     us/evaluation  ms per simulated s at 1 ms")
    for kind in ("UPS", "RSU"):
        for case in ("nominal", "limit"):
            each, second = single(kind, case, given.rounds)
            print(f"{kind} {case:<10}  {each:13.2f}  {second:18.1f}", flush=True)
    if given.mujoco:
        for integrator in ("RK4", "implicitfast"):
            spent, share = mujoco_second(integrator)
            print(f"MuJoCo {integrator:<12} {spent:32.1f}   ({share:.0%} of the steps in contact)", flush=True)
    print(f"{given.runs} runs of the box, dt auto: us/evaluation one by one, in lanes, ratio, same bits")
    for kind in ("UPS", "RSU"):
        alone, beside, equal = batches(kind, given.runs, 2)
        print(f"{kind} {alone:12.2f} {beside:9.2f} {alone / beside:7.2f}  {equal}", flush=True)
    if not given.campaign:
        return
    print(f"campaign of {given.campaign} with a store: threads, s, runs/s, captured, against one thread")
    spent = {}
    for threads in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            got = docking.campaign(docking.demo("UPS"), n=given.campaign, threads=threads, store=folder, progress=False)
            spent[threads] = time.perf_counter() - begin
            pace = given.campaign / spent[threads]
            captured = got.outcomes["captured"]
        print(f"{threads} {spent[threads]:9.1f} {pace:8.0f} {captured:8d} {spent[1] / spent[threads]:7.2f}", flush=True)
    print(f"largest memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
