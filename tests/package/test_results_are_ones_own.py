"""Objects of results are used again only when nobody holds them: what a caller keeps never changes."""

import threading
import warnings
import weakref

import numpy as np
import pytest
import zveno as zv


def four_bar():
    linkage = zv.mechanisms.four_bar()
    q = linkage.close([0.8, 0.0, 1.5], hold=["crank_joint"])
    qd = linkage.velocities(q, {"crank_joint": 3.0})
    return linkage.forward_dynamics, lambda x: (q, qd, np.array([x, 0.0, 0.0]))


def arm():
    chain = zv.robots.two_link()
    return chain.derivatives, lambda x: (np.array([0.1, x]), np.array([0.3, 0.2]), np.array([1.0, x]))


@pytest.fixture(params=[four_bar, arm])
def call(request):
    function, arguments = request.param()
    return lambda x, **options: function(*arguments(x), **options)


def copied(result):
    return [x.copy() for x in result]


def same(result, numbers):
    return all(np.array_equal(a, b) for a, b in zip(result, numbers, strict=True))


HOLDS = {
    "result": lambda r: r,
    "arrays": list,
    "views": lambda r: [x.view() for x in r],
    "slices": lambda r: [x[...] for x in r],
    "transposed": lambda r: [x.T for x in r],
    "memory": lambda r: [memoryview(x) for x in r],
    "raveled": lambda r: [x.ravel() for x in r],
}


@pytest.mark.parametrize("hold", HOLDS)
def test_what_is_held_does_not_change(call, hold):
    kept = []
    for x in np.linspace(-1, 1, 7):
        result = call(x)
        kept.append((HOLDS[hold](result), [np.array(y) for y in HOLDS[hold](result)]))
        del result
    for held, numbers in kept:
        assert same(map(np.asarray, held), numbers)
    first, last = kept[0][1], kept[-1][1]
    assert not same(first, last)


def test_one_array_of_a_result_may_be_held_alone(call):
    for k in range(len(call(0.5))):
        kept = [(array := call(x)[k], array.copy()) for x in np.linspace(-1, 1, 7)]
        assert all(np.array_equal(a, b) for a, b in kept)


def test_numbers_do_not_depend_on_what_was_done_to_earlier_results(call):
    expected = copied(call(0.5))

    def resize(x):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy 2.5
            x.shape = (-1,)

    for spoil in (lambda x: x.fill(7), resize, lambda x: x.setflags(write=False), lambda x: x.byteswap(inplace=True)):
        for _ in range(3):
            for array in call(-0.3):
                spoil(array)
        for _ in range(3):
            assert same(call(0.5), expected)


def test_weak_references_to_results_do_not_find_other_numbers(call):
    for x in np.linspace(-1, 1, 5):
        result = call(x)
        found, numbers = weakref.ref(result[0]), result[0].copy()
        del result
        call(x + 3)
        call(x + 4)
        assert found() is None or np.array_equal(found(), numbers)


def test_calls_that_fail_and_other_outputs_leave_nothing_behind(call):
    expected = copied(call(0.5))
    with pytest.raises(ValueError):
        call(np.nan)
    assert same(call(0.5), expected)
    name = type(call(0.5))._fields[0]
    for _ in range(3):
        some = call(0.5, outputs=(name,))
        assert np.array_equal(some[0], expected[0]) and all(x is None for x in some[1:])
        assert same(call(0.5), expected)


def test_threads_have_results_of_their_own(call):
    places = np.linspace(-1, 1, 4)
    expected, wrong = [copied(call(x)) for x in places], []

    def work(k):
        for _ in range(300):
            result = call(places[k])
            if not same(result, expected[k]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_large_results_are_not_kept():
    chain = zv.Chain(
        [zv.Link(f"l{k}", parent=f"l{k - 1}" if k else "base", mass=1.0, inertia=np.eye(3)) for k in range(80)]
    )
    state = np.zeros(chain.n)
    found = [weakref.ref(array) for array in chain.derivatives(state, state, state)]
    assert all(array() is None for array in found)


@pytest.mark.parametrize("hold", HOLDS)
def test_records_that_are_held_are_not_written_again(hold):
    """Their memory goes from one simulation to the next, but only what nobody holds any more."""
    arm, kept = zv.robots.two_link(), []
    for x in np.linspace(-1, 1, 5):
        run = arm.simulate(1.5, 1e-3, q=[x, 0.3], progress=False)  # 24 kB each of q, qd, ...
        held = HOLDS[hold]([run.q, run.qd])
        kept.append((held, [np.array(y) for y in held], run.q.ctypes.data))
        del run
    for held, numbers, _ in kept:
        assert same(map(np.asarray, held), numbers)
    assert len({place for _, _, place in kept}) == len(kept)


def test_memory_of_records_is_used_again():
    ring = zv.mechanisms.docking_ring("UPS")
    places = set()
    for _ in range(6):
        run = ring.simulate(0.5, 1e-3, progress=False)
        places.update(run.to_dict()[name].ctypes.data for name in ("joint_position", "reaction"))
        del run
    assert len(places) < 12
