"""A call allocates nothing but its result: malloc and its relatives are counted inside a separate process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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

MEASURE = """
import ctypes, gc, json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
import helpers

allocations = ctypes.CDLL(None).allocations
allocations.restype = ctypes.c_long
chain = helpers.random_chain(np.random.default_rng(0), 7, rotor=True, friction=True)
link, rng = chain.link_names[-1], np.random.default_rng(1)

def per_hundred_calls(call, args, options):
    for _ in range(10):
        call(*args, **options)
    gc.disable()
    before = allocations()
    for _ in range(100):
        call(*args, **options)
    made = allocations() - before
    gc.enable()
    return made

found = {}
for name, fixed in helpers.VARIANTS:
    for lead, threads in (((), None), ((33,), None), ((1024,), 2)):
        args = helpers.arguments(name, helpers.random_state(rng, chain, lead), link)
        options = dict(fixed, threads=threads)
        label = helpers.variant_id((name, fixed)) + f" {lead} threads={threads}"
        results = len(helpers.arrays_of(getattr(chain, name)(*args, **options)))
        found[label] = per_hundred_calls(getattr(chain, name), args, options), 100 * results
        shape = lead + helpers.item_shape(name, chain.n)
        options["out"] = tuple(np.empty(shape) for _ in range(3)) if name == "derivatives" else np.empty(shape)
        found[label + " out"] = per_hundred_calls(getattr(chain, name), args, options), 0
        if name in helpers.TAKES_EXTERNAL:
            options["external"] = {link: np.ones(6)}
            found[label + " out external"] = per_hundred_calls(getattr(chain, name), args, options), 0
found["probe"] = per_hundred_calls(np.empty, (100_000,), {}), 100
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counter")
    source, library = folder / "counter.c", folder / "counter.so"
    source.write_text(COUNTER)
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    command = [sys.executable, "-c", MEASURE, str(Path(__file__).parent)]
    environment = os.environ | {"LD_PRELOAD": str(library)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_counter_sees_allocations(counts):
    made, expected = counts.pop("probe")
    assert expected <= made <= expected + 5


def test_calls_allocate_nothing_but_their_result(counts):
    # a hundred calls: growth of Python's own pools may add one or two
    too_many = {label: made for label, (made, allowed) in counts.items() if made > allowed + 5}
    assert not too_many
