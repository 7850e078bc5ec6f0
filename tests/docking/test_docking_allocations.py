"""A docking allocates nothing once it has begun: counted inside a separate process."""

import json

from allocations import run_counted

SCRIPT = """
import gc, json
import numpy as np
from allocations import allocations
from zveno import _core, docking
from zveno.docking.simulate import _runner

found = {}
for sticking in (False, True):
    s = docking.demo("UPS", "nominal").replace(contact=docking.Contact(sticking=sticking))
    run, row = _runner(s), np.array([s.conditions._row()])
    for t_end in (0.2, 0.2, 3.4):  # first: what is made once
        options = _core.DockingOptions(t_end=t_end, after=1.0, dt=2e-3, tolerance=1.0, halvings=0, every=0)
        gc.disable()
        before = allocations()
        run.batch(row, None, options, 1)
        found[f"{sticking} {t_end}"] = allocations() - before
        gc.enable()
print(json.dumps(found))
"""


def test_a_long_run_allocates_no_more_than_a_short_one(tmp_path):
    found = json.loads(run_counted(tmp_path, SCRIPT))
    for sticking in (False, True):
        # through contact, capture and attenuation, thousands of evaluations
        assert found[f"{sticking} 3.4"] <= found[f"{sticking} 0.2"] <= 20
