"""Counts malloc and its relatives inside a separate process; Linux, where a library can be preloaded."""

import ctypes
import gc
import json
import subprocess
import sys
from functools import cache

import helpers
import numpy as np

COUNTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

static long count;
long allocations(void) { return __atomic_load_n(&count, __ATOMIC_SEQ_CST); }
static void seen(void) { __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST); }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) { seen(); return __libc_malloc(size); }
void *calloc(size_t number, size_t size) { seen(); return __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { seen(); return __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { seen(); return __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { seen(); return __libc_memalign(alignment, size); }
int posix_memalign(void **out, size_t alignment, size_t size) {
  seen();
  *out = __libc_memalign(alignment, size);
  return *out ? 0 : 12;
}
"""


def run_counted(folder, script):
    """Standard output of a script in whose process `allocations` counts; the counter is built in `folder`."""
    source, library = folder / "counter.c", folder / "counter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    environment = helpers.environment(LD_PRELOAD=str(library))
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def counted_calls(folder, script):
    """{label: (allocations of many calls, how many are allowed)} that a script finds."""
    before = "import json\nimport numpy as np\nfrom allocations import made_by, probe\nfound = {}\n"
    after = "\nfound['probe'] = probe()\nprint(json.dumps(found))\n"
    return json.loads(run_counted(folder, before + script + after))


@cache
def _counter():
    count = ctypes.CDLL(None).allocations
    count.restype = ctypes.c_long
    return count


def allocations():
    """How many there were until now, in a counted process."""
    return _counter()()


def made_by(calls, call, args, options):
    """Allocations of so many calls, in a counted process."""
    for _ in range(10):
        call(*args, **options)
    gc.disable()
    before = allocations()
    for _ in range(calls):
        call(*args, **options)
    made = allocations() - before
    gc.enable()
    return made


def probe():
    """A call that allocates once, for the test of the counter itself."""
    return made_by(100, np.empty, (100_000,), {}), 100
