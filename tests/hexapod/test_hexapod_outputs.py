"""Choice of results of forward dynamics: the numbers of the whole, nothing else stored."""

import itertools
import pickle

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from hexapod_models import values_of

NAMES = ("acceleration", "base_wrench", "joint_position", "joint_velocity", "joint_acceleration", "reaction")
CASES = ("UPS-lean", "RSU-skew", "mixed-lean", "mixed-general")
BASE = zv.Body(3000.0, (900.0, 1100.0, 1000.0), (-1.0, 0.1, 0.2))


def calls(hx, values):
    """The two functions with several results, as functions of the keywords."""
    ring = [values[name] for name in ("r", "R", "u", "wrench", "tau")]
    yield NAMES, lambda **more: hx.forward_dynamics(*ring, **more)
    free = (*NAMES[:2], "base_acceleration", *NAMES[2:])
    yield free, lambda **more: hx.forward_dynamics_free(*ring, BASE, values["omega"], **more)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("lead", [(), (11,)], ids=["one", "batch"])
def test_results_that_are_asked_for_are_those_of_the_whole(case, lead, rng):
    ref, hx = models.pair(case)
    for names, call in calls(hx, values_of(rng, ref, lead)):
        whole = call()
        assert whole.outputs == names
        picks = [*itertools.combinations(names, 1), *itertools.combinations(names, 2), names[::-1], names[1:]]
        for wanted in picks:
            some = call(outputs=wanted)
            assert set(some.outputs) == set(wanted)
            assert some._data.shape[-1] == sum(np.prod(getattr(whole, x).shape[len(lead) :]) for x in wanted)
            for name in names:
                if name in wanted:
                    np.testing.assert_array_equal(getattr(some, name), getattr(whole, name))
                else:
                    with pytest.raises(AttributeError, match=f"{name} was not asked for"):
                        getattr(some, name)
            assert set(some.to_dict()) == set(wanted)
            assert pickle.loads(pickle.dumps(some)).outputs == some.outputs
            assert repr(some).startswith("HexapodDynamics(")


def test_an_earlier_result_is_written_again_only_with_the_same_results(rng):
    ref, hx = models.pair("UPS-lean")
    values = values_of(rng, ref, (4,))
    _, call = next(iter(calls(hx, values)))
    out = call(outputs=("acceleration",))
    out._data[:] = np.nan
    assert call(outputs=("acceleration",), out=out) is out
    np.testing.assert_array_equal(out.acceleration, call().acceleration)
    with pytest.raises(ValueError, match="forward_dynamics: out has shape"):
        call(out=out)


@pytest.mark.parametrize("case", ["UPS-lean", "mixed-lean"])
def test_compiled_code_leaves_out_what_nobody_asked_for(case, rng):
    ref, hx = models.pair(case, heavy=False)
    values = values_of(rng, ref, (9,))
    ring = [values[name] for name in ("r", "R", "u", "wrench")]
    forces = rng.uniform(-20, 20, (9, 6))
    whole = hx.compile("forward_dynamics")
    some = hx.compile("forward_dynamics", outputs=("acceleration",))
    assert some.operations.total < 0.8 * whole.operations.total
    np.testing.assert_array_equal(some(*ring, forces).acceleration, whole(*ring, forces).acceleration)
    assert some(*ring, forces).outputs == ("acceleration",)
    inputs, outputs = some.reference(3)
    assert [x.shape for x in outputs] == [(3, 6), (3, 6, 4)]
    assert len(inputs) == 5


BAD = {
    "unknown": (("acceleration", "mass"), ValueError, "outputs has 'mass', expected some of 'acceleration', "),
    "empty": ((), ValueError, "outputs is empty"),
    "a word": ("acceleration", TypeError, "outputs is 'acceleration', expected a sequence of names"),
    "a number": (3, TypeError, "outputs is 3"),
    "not a name": ((3,), ValueError, "outputs has 3"),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_choices_are_named(case, rng):
    ref, hx = models.pair("UPS-lean")
    wanted, error, words = BAD[case]
    _, call = next(iter(calls(hx, values_of(rng, ref, ()))))
    with pytest.raises(error, match=f"forward_dynamics: {words}"):
        call(outputs=wanted)


def test_a_status_of_ones_own_is_written(rng):
    ref, hx = models.pair("UPS-lean")
    values = values_of(rng, ref, (5,))
    values["r"][2], values["R"][2] = models.misplaced(hx)
    status = np.full(5, -1, np.int16)
    result = hx.closure(values["r"], values["R"], on_error="nan", status=status)
    np.testing.assert_array_equal(np.isnan(result).any(axis=(1, 2)), status != 0)
    np.testing.assert_array_equal(status != 0, [False, False, True, False, False])
    assert "leg" in hx.explain(status[2]) or "state" in hx.explain(status[2])
