"""The stubs of the compiled core are those that the tables of functions make."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_stubs_are_what_the_tables_make():
    made = runpy.run_path(str(ROOT / "bindings" / "stubs.py"))
    assert made["STUBS"].read_text(encoding="utf-8") == made["text"]()
