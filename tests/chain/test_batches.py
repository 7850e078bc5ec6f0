"""Leading shapes, dtypes, memory layouts, out=, threads= and the interpreter lock."""

import threading
import time

import numpy as np
import pytest
from engines.random_mechanisms import random_chain, random_state, random_wrenches
from helpers import (
    ARRAYS,
    FUNCTIONS,
    LAYOUTS,
    REFUSED,
    SEVERAL,
    TAKES_EXTERNAL,
    VARIANTS,
    arguments,
    arrays_of,
    at_once,
    backwards,
    equal,
    item_shape,
    out_for,
    read_only,
    unaligned,
    variant_id,
    with_gaps,
)

every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=variant_id)
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def run(chain, variant, values, **options):
    name, fixed = variant
    return arrays_of(getattr(chain, name)(*arguments(name, values, chain.link_names[-1]), **fixed, **options))


def wrenches_for(variant, chain, rng, batch):
    return {"external": random_wrenches(rng, chain, batch)} if variant[0] in TAKES_EXTERNAL else {}


@every_variant
def test_batch_rows_equal_single_calls_bit_for_bit(variant, arm, rng):
    count = 13
    values, loads = random_state(rng, arm, (count,)), wrenches_for(variant, arm, rng, (count,))
    batch = run(arm, variant, values, **loads)
    for i in range(count):
        load = {"external": {link: w[i] for link, w in loads["external"].items()}} if loads else {}
        assert equal([x[i] for x in batch], run(arm, variant, [v[i] for v in values], **load))


@every_variant
def test_results_do_not_depend_on_threads_or_position(variant, arm, rng):
    values, loads = random_state(rng, arm, (257,)), wrenches_for(variant, arm, rng, (257,))
    alone = run(arm, variant, values, **loads)
    for threads in (None, 0, 1, 2, 3, 64):
        assert equal(run(arm, variant, values, **loads, threads=threads), alone)
    order = rng.permutation(257)
    load = {"external": {link: w[order] for link, w in loads["external"].items()}} if loads else {}
    assert equal(run(arm, variant, [v[order] for v in values], **load, threads=2), [x[order] for x in alone])


@every_variant
def test_leading_shape_is_kept(variant, arm, rng):
    for lead in ((), (1,), (5,), (2, 3), (1, 1, 4), (0,), (2, 0, 3)):
        values = random_state(rng, arm, lead)
        got = run(arm, variant, values)
        assert all(x.shape == lead + item_shape(variant[0], arm) and x.dtype == np.float64 for x in got)
        flat = run(arm, variant, [v.reshape(-1, arm.n) for v in values])
        assert equal([x.reshape(y.shape) for x, y in zip(got, flat, strict=True)], flat)


@every_function
def test_leading_shapes_broadcast(name, arm, rng):
    for leads in (((), (4,), (4,)), ((4,), (), ()), ((3, 1), (4,), (1, 4)), ((1,), (5,), (1,)), ((0,), (1,), ())):
        values = [random_state(rng, arm, lead)[i] for i, lead in enumerate(leads)]
        taken = len(ARRAYS[name])
        shape = np.broadcast_shapes(*leads[:taken])
        full = [np.broadcast_to(v, (*shape, arm.n)).copy() if i < taken else v for i, v in enumerate(values)]
        assert equal(run(arm, (name, {}), values), run(arm, (name, {}), full)), leads


@pytest.mark.parametrize("name", TAKES_EXTERNAL)
def test_external_wrenches_broadcast_with_the_state(name, arm, rng):
    link = arm.link_names[2]
    wrench, one = rng.normal(size=(7, 6)), random_state(rng, arm)
    many = [np.broadcast_to(v, (7, arm.n)).copy() for v in one]
    want = run(arm, (name, {}), many, external={link: wrench})
    assert equal(run(arm, (name, {}), one, external={link: wrench}), want)
    constant = np.broadcast_to(wrench[0], (7, 6)).copy()
    shared = run(arm, (name, {}), many, external={link: wrench[0]})
    assert equal(shared, run(arm, (name, {}), many, external={link: constant}))


TYPES = LAYOUTS | {
    "float32": np.float32,
    "float16": np.float16,
    "int8": np.int8,
    "int64": np.int64,
    "uint16": np.uint16,
}


@every_function
def test_any_layout_and_real_dtype_gives_the_same_numbers(name, arm, rng):
    for kind, layout in TYPES.items():
        # small integers are exact in every type
        values = [rng.integers(0, 4, (6, arm.n)).astype(float) for _ in range(3)]
        assert equal(run(arm, (name, {}), [layout(v) for v in values]), run(arm, (name, {}), values)), kind


@every_function
def test_arrays_that_are_not_contiguous_give_the_same_numbers(name, arm, rng):
    values = random_state(rng, arm, (6,))
    for layout in (np.asfortranarray, backwards, with_gaps, read_only, unaligned):
        assert equal(run(arm, (name, {}), [layout(v) for v in values]), run(arm, (name, {}), values))


@every_function
def test_inputs_are_left_untouched(name, arm, rng):
    values = random_state(rng, arm, (6,))
    before = [v.copy() for v in values]
    run(arm, (name, {}), values, threads=2)
    assert equal(values, before)


def empty_out(name, shape):
    """An array for the result, or those of a named one, filled with what must be overwritten."""
    return out_for(name, lambda: np.full(shape, np.nan))


@every_variant
def test_out_receives_the_result_and_is_returned(variant, arm, rng):
    name, options = variant
    for lead in ((), (1,), (9,), (2, 3), (0,)):
        values = random_state(rng, arm, lead)
        out = empty_out(name, lead + item_shape(name, arm))
        got = getattr(arm, name)(*arguments(name, values, arm.link_names[-1]), **options, out=out)
        if name in SEVERAL:
            assert all(mine is given for mine, given in zip(arrays_of(got), out, strict=True))
        else:
            assert got is out
        assert equal(arrays_of(got), run(arm, variant, values)), lead


@every_function
def test_out_that_does_not_fit_is_refused(name, arm, rng):
    shape = (3, *item_shape(name, arm))
    args = arguments(name, random_state(rng, arm, (3,)), arm.link_names[-1])
    for make in REFUSED.values():
        bad = make(shape)
        out = (np.empty(shape), bad, *out_for(name, lambda: np.empty(shape))[2:]) if name in SEVERAL else bad
        with pytest.raises((ValueError, TypeError), match=rf"{name}: out\b.*expected"):
            getattr(arm, name)(*args, out=out)


@every_function
def test_out_may_not_overlap_an_input(name, arm, rng):
    lead, item = (3,), item_shape(name, arm)
    buffer = rng.normal(size=5000)
    before = buffer.copy()
    size = int(np.prod(lead + item))
    values = [buffer[: 3 * arm.n].reshape(3, arm.n)] * 3
    for start in (0, 3 * arm.n - 1):
        out = buffer[start : start + size].reshape(lead + item)
        if name in SEVERAL:
            out = (out, *out_for(name, lambda: np.empty(lead + item))[1:])
        with pytest.raises(ValueError, match=rf"{name}: out\b"):
            getattr(arm, name)(*arguments(name, values, arm.link_names[-1]), out=out)
    assert np.array_equal(buffer, before)


def test_the_three_outputs_of_derivatives_may_not_overlap(arm, rng):
    one = np.empty((arm.n, arm.n))
    with pytest.raises(ValueError, match=r"derivatives: out\b"):
        arm.derivatives(*random_state(rng, arm), out=(one, one, np.empty_like(one)))
    with pytest.raises((ValueError, TypeError), match=r"derivatives: out\b"):
        arm.derivatives(*random_state(rng, arm), out=one)
    with pytest.raises((ValueError, TypeError), match=r"derivatives: out\b"):
        arm.derivatives(*random_state(rng, arm), out=(one, np.empty_like(one)))


def test_out_may_not_overlap_an_external_wrench(arm, rng):
    buffer = rng.normal(size=20)
    with pytest.raises(ValueError, match=r"inverse_dynamics: out\b"):
        arm.inverse_dynamics(*random_state(rng, arm), {arm.link_names[0]: buffer[4:10]}, out=buffer[: arm.n])


def test_interpreter_lock_is_released_during_a_batch(tree, rng):
    q = rng.normal(size=(40_000, tree.n))
    out = np.empty((40_000, tree.n, tree.n))
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    witness = threading.Thread(target=tick)
    witness.start()
    begin = time.perf_counter()
    while time.perf_counter() < begin + 0.5:  # repeat, for machines on which one call is too short to be seen
        start = time.perf_counter()
        tree.mass_matrix(q, "kane", out=out)
        end = time.perf_counter()
        inside = [t for t in ticks if start + 0.2 * (end - start) < t < end - 0.2 * (end - start)]
        if len(inside) > 2:
            break
    stop.set()
    witness.join()
    assert len(inside) > 2


def test_one_chain_may_be_used_by_many_threads_at_once(tree, rng):
    values = random_state(rng, tree, (200,))
    want = tree.inverse_dynamics(*values), tree.forward_dynamics(*values), tree.mass_matrix(values[0])

    def work(threads):
        for _ in range(20):
            got = (
                tree.inverse_dynamics(*values, threads=threads),
                tree.forward_dynamics(*values, threads=threads),
                tree.mass_matrix(values[0], threads=threads),
            )
            assert equal(got, want)

    at_once(work, (1, 2, 3, 1, 0))


# rows of 16 numbers and of matrices too long to wait in a cache; so many states that results go past the caches
@pytest.mark.parametrize(("n", "states"), [(4, 43), (7, 7200), (17, 19)])
@pytest.mark.parametrize("shift", [0, 1, 3])
def test_matrices_of_many_states_come_out_whole_wherever_they_are_put(n, states, shift, rng):
    chain = random_chain(rng, n)
    values = rng.uniform(-1, 1, (3, states, n))
    room = [np.full(states * n * n + 2 * 8, np.nan) for _ in range(3)]
    out = tuple(x[shift : shift + states * n * n].reshape(states, n, n) for x in room)
    chain.derivatives(*values, out=out, threads=1)
    for row in [*range(11), *range(states - 11, states)]:
        assert equal([x[row] for x in out], list(chain.derivatives(*values[:, row])))
    for x in room:
        assert np.isnan(x[:shift]).all()
        assert np.isnan(x[shift + states * n * n :]).all()
        assert np.isfinite(x[shift : shift + states * n * n]).all()


@pytest.mark.parametrize("states", [40, 12_000], ids=["in the caches", "past the caches"])
def test_rows_that_fail_leave_those_around_them_as_they_are(states, rng):
    """A pack with a bad row is computed row by row, between packs whose last numbers wait for those that follow."""
    chain = random_chain(rng, 7)
    q, qd, qdd = random_state(rng, chain, (states,))
    want = chain.derivatives(q, qd, qdd)
    bad = np.unique([0, 9, 17, 24, 31, states - 1, *rng.integers(0, states, 5)])
    q[bad] = np.nan
    qdd[bad[::2]] = 1e308  # or too large for a result
    q[bad[::2]] = 1.0
    room = [np.full((states * 49 + 18), 7.0) for _ in want]
    for shift in (0, 3):
        out = tuple(x[8 + shift : 8 + shift + states * 49].reshape(states, 7, 7) for x in room)
        chain.derivatives(q, qd, qdd, out=out, on_error="nan", threads=1)
        good = np.setdiff1d(np.arange(states), bad)
        for got, whole, x in zip(out, want, room, strict=True):
            assert np.isnan(got[bad]).all()
            assert got[good].tobytes() == whole[good].tobytes()
            assert (x[: 8 + shift] == 7.0).all()
            assert (x[8 + shift + states * 49 :] == 7.0).all()
            x[:] = 7.0
