"""A call allocates nothing but its result: malloc and its relatives are counted inside a separate process."""

import pytest
from allocations import assert_counter_works, assert_nothing_but_results, counted_calls

MEASURE = """
import json
import numpy as np
from allocations import per_hundred_calls, probe
from engines.random_mechanisms import random_chain, random_state
import helpers

chain = random_chain(np.random.default_rng(0), 7, rotor=True, friction=True)
link, rng = chain.link_names[-1], np.random.default_rng(1)

found = {}
for name, fixed in helpers.VARIANTS:
    for lead, threads in (((), None), ((33,), None), ((1024,), 2)):
        args = helpers.arguments(name, random_state(rng, chain, lead), link)
        options = dict(fixed, threads=threads)
        label = helpers.variant_id((name, fixed)) + f" {lead} threads={threads}"
        results = len(helpers.arrays_of(getattr(chain, name)(*args, **options)))
        found[label] = per_hundred_calls(getattr(chain, name), args, options), 100 * results
        shape = lead + helpers.item_shape(name, chain)
        options["out"] = tuple(np.empty(shape) for _ in range(3)) if name == "derivatives" else np.empty(shape)
        found[label + " out"] = per_hundred_calls(getattr(chain, name), args, options), 0
        if name in helpers.TAKES_EXTERNAL:
            options["external"] = {link: np.ones(6)}
            found[label + " out external"] = per_hundred_calls(getattr(chain, name), args, options), 0
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
