"""Bits of every function, against a record of an earlier version."""

import json
import warnings

import pytest
import zveno as zv
from frozen import RECORD, cases, digest


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
