"""Pages that quote numbers are made by the code that they describe."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_operations_page_is_what_the_kernels_count():
    page = runpy.run_path(str(ROOT / "bench" / "operations_table.py"))
    assert (ROOT / "docs" / "operations.md").read_text(encoding="utf-8") == "\n".join(page["lines"]()) + "\n"
