"""Puts tests/ on the path, where the folder `engines` is that tests and benchmarks share; import it first."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
