"""Bits of every function, against a record of an earlier version."""

import json
import warnings

import numpy as np
import pytest
import zveno as zv
from frozen import RECORD, RUNS, cases, digest, rounded_runs


@pytest.fixture(scope="module")
def now():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", zv.ModelWarning)
        return {name: digest(results) for name, results in cases()}


RECORDED = json.loads(RECORD.read_text())


@pytest.mark.parametrize("group", sorted({name.split(".")[0] for name in RECORDED}))
def test_every_function_has_the_bits_of_the_record(now, group):
    recorded = {name: value for name, value in RECORDED.items() if name.split(".")[0] == group}
    assert {name: now.get(name) for name in recorded} == recorded


def test_every_case_is_recorded(now):
    assert now.keys() == RECORDED.keys()


def test_runs_differ_by_rounding_at_most():
    recorded, now = json.loads(RUNS.read_text()), dict(rounded_runs())
    assert now.keys() == recorded.keys()
    for name, numbers in recorded.items():
        for before, after in zip(numbers, now[name], strict=True):
            np.testing.assert_allclose(after, before, rtol=1e-11, atol=1e-11 * np.abs(before).max(), err_msg=name)
