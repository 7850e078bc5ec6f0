"""The kernels of every instruction set give the same bits; the environment variable ZVENO_ISA names the one to use."""

import pickle
import subprocess
import sys
from functools import cache

import helpers
import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain, random_state, random_wrenches
from helpers import FUNCTIONS, VARIANTS, arguments, arrays_of, environment

AVAILABLE = zv.cpu_features()["available"]
COUNTS = (None, 1, 2, 5, 8, 17)  # batch sizes around the numbers of lanes


def mechanisms():
    """Serial and branching chains of mixed joints, with welded links, rotors and friction."""
    for n in (1, 2, 3, 7, 12):
        for branching in (False, True):
            rng = np.random.default_rng([n, branching])
            yield (
                random_chain(rng, n, branching=branching, fixed=n > 2, rotor=n % 2 == 1, friction=n % 3 == 0),
                rng,
            )


def every_result():
    """Bytes of all functions' results, by description."""
    results = {}
    for chain, rng in mechanisms():
        for count in COUNTS:
            lead = () if count is None else (count,)
            values, loads = random_state(rng, chain, lead), random_wrenches(rng, chain, lead)
            # one angle beyond the range of our own sine
            values[0][..., 0] += 2e5 if chain.n == 7 else 0.0
            for name, options in VARIANTS:
                if not chain.is_serial and options.get("method") in helpers.SERIAL_ONLY:
                    continue
                external = {"external": loads} if name in helpers.TAKES_EXTERNAL else {}
                call = getattr(chain, name)
                got = arrays_of(call(*arguments(name, values, chain.link_names[-1]), **options, **external))
                results[chain.n, chain.is_serial, count, name, str(options)] = b"".join(x.tobytes() for x in got)
    angles = np.concatenate([np.linspace(-99999, 99999, 20001), np.linspace(-7, 7, 20001)])
    results["sincos"] = b"".join(x.tobytes() for x in zv._core.sincos(angles))
    return results


def in_new_process(code, isa):
    """Standard output of Python code that finds this file's functions, under an instruction set."""
    return subprocess.run(
        [sys.executable, "-c", code], env=environment(ZVENO_ISA=isa), capture_output=True, check=False
    )


@cache
def results_of(isa):
    code = "import pickle, sys, test_instruction_sets as t; sys.stdout.buffer.write(pickle.dumps(t.every_result()))"
    run = in_new_process(code, isa)
    assert run.returncode == 0, run.stderr.decode()
    return pickle.loads(run.stdout)


def test_best_instruction_set_is_used_and_every_one_can_be_chosen():
    assert AVAILABLE[-1] == "baseline"
    for isa in AVAILABLE:
        run = in_new_process("import zveno as zv; print(zv.cpu_features()['selected'])", isa)
        assert run.stdout.decode().split() == [isa], run.stderr.decode()
    run = in_new_process("import zveno as zv; print(zv.cpu_features()['selected'])", "")
    assert run.stdout.decode().split() == [AVAILABLE[0]]


def test_number_of_lanes_follows_the_instruction_set():
    lanes = {isa: in_new_process("import zveno as zv; print(zv.cpu_features()['lanes'])", isa) for isa in AVAILABLE}
    expected = {"baseline": 2, "avx2": 4, "avx512": 8}
    if AVAILABLE == ["baseline"]:  # of this very machine, if the package was built with ZVENO_NATIVE
        expected["baseline"] = zv.cpu_features()["lanes"]
        assert expected["baseline"] in (2, 4, 8)
    assert {isa: int(run.stdout) for isa, run in lanes.items()} == {isa: expected[isa] for isa in AVAILABLE}


@pytest.mark.parametrize("isa", AVAILABLE)
def test_instruction_sets_agree_bit_for_bit(isa):
    want, got = results_of("baseline"), results_of(isa)
    assert len(want) > len(FUNCTIONS) * len(COUNTS) * 10
    assert want.keys() == got.keys()
    assert [key for key in want if want[key] != got[key]] == []


@pytest.mark.parametrize("isa", ["sse9", "AVX2 ", "baseline,avx2", "../_core"])
def test_unknown_instruction_set_is_refused_with_the_known_ones_named(isa):
    run = in_new_process("import zveno", isa)
    message = run.stderr.decode().strip().splitlines()[-1]
    assert run.returncode == 1
    assert f"ZVENO_ISA is {isa!r}, expected one of {AVAILABLE}" in message
