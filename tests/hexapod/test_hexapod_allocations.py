"""A call of a Hexapod allocates nothing but its result, and nothing at all with out=: counted in a separate process."""

import pytest
from allocations import assert_counter_works, assert_nothing_but_results, counted_calls

MEASURE = """
import json
import numpy as np
from allocations import per_hundred_calls, probe
import hexapod_models as models

rng = np.random.default_rng(1)

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
found["probe"] = probe()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    return counted_calls(tmp_path_factory.mktemp("counter"), MEASURE)


def test_the_counter_sees_allocations(counts):
    assert_counter_works(counts)


def test_calls_allocate_nothing_but_their_result(counts):
    assert_nothing_but_results(counts)
