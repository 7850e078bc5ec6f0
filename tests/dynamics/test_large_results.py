"""Results of some megabytes take another way to memory: the numbers are those of small batches all the same."""

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain

COUNT, BAD = 9001, 4000


def arrays_of(result):
    """A result, or its parts, as arrays with the states in front."""
    if isinstance(result, np.ndarray):
        return [result]
    return list(result.to_dict().values()) if hasattr(result, "to_dict") else list(result)


def chain_call(rng, name, sizes=3):
    chain = random_chain(rng, 7)
    return getattr(chain, name), rng.normal(size=(sizes, COUNT, 7))


def hexapod_call(rng, compiled):
    ring = zv.mechanisms.docking_ring("UPS")
    r, R = ring.nominal
    u, w, tau = rng.uniform(-1, 1, (3, COUNT, 6))
    f = ring.compile("forward_dynamics") if compiled else ring.forward_dynamics
    return f, (r + rng.uniform(-0.005, 0.005, (COUNT, 3)), np.broadcast_to(R, (COUNT, 3, 3)).copy(), u, w, tau)


CASES = {
    "regressor": lambda rng: chain_call(rng, "regressor"),
    "derivatives": lambda rng: chain_call(rng, "derivatives"),
    "mass_matrix": lambda rng: chain_call(rng, "mass_matrix", 1),
    "hexapod": lambda rng: hexapod_call(rng, False),
    "compiled hexapod": lambda rng: hexapod_call(rng, True),
}


@pytest.mark.parametrize("case", CASES)
def test_large_results_are_those_of_small_batches(case, rng):
    f, args = CASES[case](rng)
    args[0][BAD, 2] = np.nan
    big = arrays_of(f(*args, on_error="nan"))
    cuts = [slice(i, i + 500) for i in range(0, COUNT, 500)]
    parts = [arrays_of(f(*(x[cut] for x in args), on_error="nan")) for cut in cuts]
    for k, found in enumerate(big):
        np.testing.assert_array_equal(found, np.concatenate([part[k] for part in parts]))
    for found, again in zip(big, arrays_of(f(*args, on_error="nan", threads=2)), strict=True):
        np.testing.assert_array_equal(found, again)


def test_large_results_where_no_cache_line_begins(rng):
    f, args = chain_call(rng, "regressor")
    args[0][BAD, 2] = np.nan
    out = np.empty(1 + COUNT * 490)[1:].reshape(COUNT, 7, 70)
    status = np.empty(COUNT, np.int16)
    found = f(*args, out=out, on_error="nan", status=status)
    np.testing.assert_array_equal(found, f(*args, on_error="nan"))
    assert np.flatnonzero(status).tolist() == [BAD] and np.isnan(found[BAD]).all()
