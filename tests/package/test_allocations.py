"""A call allocates nothing but its result, and nothing at all with out=: counted inside a separate process."""

import pytest
from allocations import counted_calls

CHAIN = """
from engines.random_mechanisms import random_chain, random_state
import helpers

chain = random_chain(np.random.default_rng(0), 7, rotor=True, friction=True)
link, rng = chain.link_names[-1], np.random.default_rng(1)

for name, fixed in helpers.VARIANTS:
    for lead, threads in (((), None), ((33,), None), ((1024,), 2)):
        args = helpers.arguments(name, random_state(rng, chain, lead), link)
        options = dict(fixed, threads=threads)
        label = helpers.variant_id((name, fixed)) + f" {lead} threads={threads}"
        calls = 20 if lead else 100
        results = len(helpers.arrays_of(getattr(chain, name)(*args, **options)))
        found[label] = made_by(calls, getattr(chain, name), args, options), calls * results
        shape = lead + helpers.item_shape(name, chain)
        options["out"] = helpers.out_for(name, lambda: np.empty(shape))
        found[label + " out"] = made_by(calls, getattr(chain, name), args, options), 0
        if name in helpers.TAKES_EXTERNAL:
            options["external"] = {link: np.ones(6)}
            found[label + " out external"] = made_by(calls, getattr(chain, name), args, options), 0
"""

HEXAPOD = """
import hexapod_models as models

rng = np.random.default_rng(1)

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
            calls = 20 if lead else 100
            out = models.call(*args)
            found[label] = made_by(calls, models.call, args, options), calls
            options["out"] = np.asarray(out) if isinstance(out, float) else out
            found[label + " out"] = made_by(calls, models.call, args, options), 0
"""


@pytest.fixture(scope="module", params=[CHAIN, HEXAPOD], ids=["chain", "hexapod"])
def counts(request, tmp_path_factory):
    return counted_calls(tmp_path_factory.mktemp("counter"), request.param)


def test_the_counter_sees_allocations(counts):
    made, expected = counts["probe"]
    assert expected <= made <= expected + 5


def test_calls_allocate_nothing_but_their_result(counts):
    # twenty calls of a batch, a hundred of one state: growth of Python's own pools may add one or two
    assert not {label: made for label, (made, allowed) in counts.items() if made > allowed + 5}
