"""A call of a Hexapod allocates nothing but its result, and nothing at all with out=: counted in a separate process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_allocations import COUNTER

MEASURE = """
import ctypes, gc, json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import hexapod_models as models

allocations = ctypes.CDLL(None).allocations
allocations.restype = ctypes.c_long
rng = np.random.default_rng(1)

def per_hundred_calls(call, args, options):
    for _ in range(10):
        call(*args, **options)
    gc.disable()
    before = allocations()
    for _ in range(100):
        call(*args, **options)
    made = allocations() - before
    gc.enable()
    return made

found = {}
for case in ("RSU-lean", "mixed-skew", "mixed-general"):
    ref, hx = models.pair(case)
    for lead, threads in (((), None), ((33,), None), ((256,), 2)):
        values = models.values_of(rng, ref, (33,))
        values = {k: np.resize(x, lead + x.shape[1:]) for k, x in values.items()}
        for variant in models.VARIANTS:
            if case == "mixed-general" and lead == (256,):
                continue  # slow
            args, options = (hx, variant, values), {"threads": threads}
            label = f"{case} {variant} {lead} threads={threads}"
            out = models.call(*args)
            found[label] = per_hundred_calls(models.call, args, options), 100
            options["out"] = np.asarray(out) if isinstance(out, float) else out
            found[label + " out"] = per_hundred_calls(models.call, args, options), 0
found["probe"] = per_hundred_calls(np.empty, (100_000,), {}), 100
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counter")
    source, library = folder / "counter.c", folder / "counter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    command = [sys.executable, "-c", MEASURE, str(Path(__file__).parent)]
    environment = os.environ | {"LD_PRELOAD": str(library)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_counter_sees_allocations(counts):
    made, expected = counts["probe"]
    assert expected <= made <= expected + 5


def test_calls_allocate_nothing_but_their_result(counts):
    # a hundred calls: growth of Python's own pools may add one or two
    too_many = {label: made for label, (made, allowed) in counts.items() if made > allowed + 5}
    assert not too_many
