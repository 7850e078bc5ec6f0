"""Bits of every function, against a record of an earlier version."""

import json
import warnings

import numpy as np
import pytest
import zveno as zv
from frozen import GROUPS, RECORD, RUNS, cases_of, digest, rounded_runs

RECORDED = json.loads(RECORD.read_text())


@pytest.mark.parametrize("group", GROUPS)
def test_every_function_has_the_bits_of_the_record(group):
    recorded = {name: value for name, value in RECORDED.items() if name.split(".")[0] == group}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        assert {name: digest(results) for name, results in cases_of(group)} == recorded


def test_every_group_of_the_record_is_compared():
    assert {name.split(".")[0] for name in RECORDED} == set(GROUPS)


def test_runs_differ_by_rounding_at_most():
    recorded, now = json.loads(RUNS.read_text()), dict(rounded_runs())
    assert now.keys() == recorded.keys()
    for name, numbers in recorded.items():
        for before, after in zip(numbers, now[name], strict=True):
            np.testing.assert_allclose(after, before, rtol=1e-11, atol=1e-11 * np.abs(before).max(), err_msg=name)
