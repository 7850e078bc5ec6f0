"""Settings shared by all tests: reproducible hypothesis runs, and the chains used again and again."""

import os
import signal
import sys

# before NumPy is imported, here and by whatever is started from here: as many processes as cores run tests, and more
# threads of the linear algebra than that only wait for each other, at full speed
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pytest
from engines.random_mechanisms import random_chain
from hypothesis import settings

settings.register_profile("zveno", derandomize=True, deadline=None, database=None, max_examples=25)
settings.load_profile("zveno")

# the allocation counter is preloaded into a process, which is a Linux way of doing it
collect_ignore_glob = [] if sys.platform == "linux" else ["*/test_*allocations.py"]


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """With -n, a process keeps the tests of a file as long as it has work: what they share is computed once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist = "worksteal"


def pytest_configure():
    """Hear Ctrl-C, as processes started from here then do: a shell's job in the background is born deaf to it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser):
    parser.addoption("--refresh-golden", action="store_true", help="write tests/golden anew instead of comparing")


@pytest.fixture
def rng(request):
    """Random numbers seeded by the name of the test."""
    return np.random.default_rng(list(request.node.name.encode()))


@pytest.fixture
def interruptible():
    """Python's own handler of SIGINT, also where the process was started with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def _figures_closed():
    """Figures of a test end with it: which other tests a process has run says nothing about how many are open."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="session")
def arm():
    """A serial chain of six mixed joints with rotors and friction."""
    return random_chain(np.random.default_rng(6), 6, rotor=True, friction=True, name="arm")


@pytest.fixture(scope="session")
def tree():
    """A branching chain of nine mixed joints with welded links, rotors and friction."""
    rng = np.random.default_rng(9)
    return random_chain(rng, 9, branching=True, fixed=True, rotor=True, friction=True, name="tree")
