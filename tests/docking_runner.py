"""A docking that is a formula: campaigns are tested with it where the mechanics do not matter."""

import os
import time

import numpy as np
from zveno.docking.campaign_run import Job

LOADS = ("tension", "compression", "shear", "torsion", "bending", "latch", "leg")


def job(n=100, **changes):
    box = {"closing": [0.05, 0.1], "offset": 0.1, "tilt": 0.07, "lateral": 0.04, "roll": [-0.07, 0.07]}
    values = {"scenario": {"mass": 1.0}, "box": box, "seed": 2026, "design": "random", "n": n, "settings": {}}
    return Job(**values | {"zveno": "0.1.0"} | changes)


def run(job, conditions):
    """Loads that depend on the conditions; wide offsets are not captured, large roll rates fail."""
    x = {name: np.asarray(values) for name, values in conditions.items()}
    offset, tilt = np.hypot(x["offset_y"], x["offset_z"]), np.hypot(x["pitch"], x["yaw"])
    severity = offset / 0.1 + tilt / 0.07
    status = np.where(severity > 1.7, "not_captured", "captured")
    status = np.where(np.abs(x["roll"]) > 0.068, "contact_range", status)
    captured = status == "captured"
    columns = {"status": status.astype("U13"), "t_contact": offset + 0.1}
    columns["t_capture"] = np.where(captured, 1.0 + severity, np.nan)
    for k, name in enumerate(LOADS):
        columns[name] = 100 * (k + 1) * (x["closing"] * 10 + 0.3 * severity) + 5e2 * x["pitch"]
    return columns


def run_slowly(job, conditions):
    time.sleep(float(job.settings.get("seconds", 0.1)))
    with open(os.path.join(job.settings["log"], f"{os.getpid()}-{time.monotonic_ns()}"), "w") as file:
        file.write(" ".join(f"{x:.17g}" for x in conditions["closing"]))
    return run(job, conditions)
