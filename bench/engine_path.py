"""Puts tests/ on the path, where the folder `engines` is that tests and benchmarks share; import it first.

The programs of this environment, cmake and ninja among them, go on that of the shell: it need not be activated.
"""

import os
import sys
import sysconfig
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
