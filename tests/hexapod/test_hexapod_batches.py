"""Hexapod: leading shapes, layouts, out=, threads=, rows that fail, and the same bits on every instruction set."""

import copy
import pickle
import subprocess
import sys
from functools import cache

import hexapod_models as models
import numpy as np
import pytest
import zveno as zv
from helpers import LAYOUTS, REFUSED, at_once, environment
from helpers import equal as equal_arrays
from hexapod_models import DYNAMICS, FUNCTIONS, VARIANTS, arrays_of, call, values_of
from scipy.spatial.transform import Rotation

AVAILABLE = zv.cpu_features()["available"]
CHOSEN = ("UPS-lean", "RSU-lean", "mixed-skew", "mixed-general")
every_variant = pytest.mark.parametrize("variant", VARIANTS)
every_function = pytest.mark.parametrize("name", FUNCTIONS)


def chosen(case, heavy=None):
    """RefHexapod and Hexapod; without gravity a base at rest has code of its own."""
    return models.pair(case, case == "RSU-lean" if heavy is None else heavy)


@pytest.fixture(params=CHOSEN)
def mechanism(request):
    """RefHexapod and Hexapod."""
    return chosen(request.param)


def equal(a, b):
    """Bit for bit, shapes and types included."""
    return equal_arrays(arrays_of(a), arrays_of(b))


def rows_of(result, index):
    return [x[index] for x in arrays_of(result)]


def same(a, b):
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(a, b, strict=True))


def picked(values, index):
    return {name: x[index] for name, x in values.items()}


# ---- leading shapes ---------------------------------------------------------------------------------------------


@every_variant
def test_rows_of_a_batch_are_single_calls_bit_for_bit(variant, mechanism, rng):
    ref, hx = mechanism
    values = values_of(rng, ref, (13,))
    batch = call(hx, variant, values)
    for i in range(13):
        assert same(rows_of(batch, i), arrays_of(call(hx, variant, picked(values, i))))


@every_variant
def test_results_do_not_depend_on_threads_or_position(variant, mechanism, rng):
    ref, hx = mechanism
    values = {name: np.resize(x, (203, *x.shape[1:])) for name, x in values_of(rng, ref, (29,)).items()}
    alone = call(hx, variant, values)
    for threads in (0, 2, 3, 64):
        assert equal(call(hx, variant, values, threads=threads), alone)
    order = rng.permutation(203)
    assert same(arrays_of(call(hx, variant, picked(values, order), threads=2)), rows_of(alone, order))


@every_variant
def test_leading_shape_is_kept(variant, rng):
    for lead in ((), (1,), (5,), (2, 3), (0,), (2, 0, 3)):
        check_leading_shape(variant, lead, rng)


def check_leading_shape(variant, lead, rng):
    ref, hx = chosen("mixed-skew")
    values = values_of(rng, ref, lead)
    got = call(hx, variant, values)
    name = VARIANTS[variant][0]
    if name in DYNAMICS:
        shapes = {"acceleration": (6,), "base_wrench": (6,), "reaction": (6, 4), "base_acceleration": (6,)}
        for field, x in got.to_dict().items():
            assert x.shape == lead + shapes.get(field, (6, 4))
        assert got.status.shape == got.ok.shape == lead
        assert got.status.dtype == np.int16 and not got.status.any()
    else:
        assert np.shape(got) == lead + models.item_shape(name, hx)
        assert type(got) is (float if np.ndim(got) == 0 else np.ndarray)
    flat = call(hx, variant, {k: x.reshape(-1, *x.shape[len(lead) :]) for k, x in values.items()})
    assert all(np.array_equal(x.ravel(), y.ravel()) for x, y in zip(arrays_of(got), arrays_of(flat), strict=True))
    assert all(x.dtype == np.float64 for x in arrays_of(got))


@every_variant
def test_leading_shapes_broadcast(variant, rng):
    for leads in (
        {"R": ()}, {"u": ()}, {"r": ()}, {"r": (), "R": ()}, {"wrench": (1,), "tau": ()}, {"r": (3, 1), "R": (1, 4)}
    ):  # fmt: skip
        check_broadcast(variant, leads, rng)


def check_broadcast(variant, leads, rng):
    ref, hx = chosen("mixed-skew")
    shape = np.broadcast_shapes((4,), *leads.values())
    name, without, _ = VARIANTS[variant]
    taken = [a for a in FUNCTIONS[name] if a not in (*without, "base")]
    values = {a: values_of(rng, ref, leads.get(a, (4,)))[a] for a in taken}
    own = {a: models.argument_shape(a, hx) for a in taken}
    shape = np.broadcast_shapes(*(x.shape[: x.ndim - len(own[a])] for a, x in values.items()))
    full = {a: np.broadcast_to(x, shape + own[a]).copy() for a, x in values.items()}
    assert equal(call(hx, variant, values), call(hx, variant, full))


def test_one_state_and_many_forces(rng):
    ref, hx = chosen("RSU-lean")
    one, tau = values_of(rng, ref), rng.uniform(-50, 50, (7, 6))
    result = hx.forward_dynamics(one["r"], one["R"], one["u"], one["wrench"], tau)
    assert result.acceleration.shape == (7, 6)
    # accelerations are linear in the forces
    by_row = [hx.forward_dynamics(one["r"], one["R"], one["u"], one["wrench"], row).acceleration for row in tau]
    assert np.array_equal(result.acceleration, by_row)


@pytest.mark.parametrize("start_lead", [(), (5,)], ids=str)
def test_starts_of_newton_broadcast(start_lead, rng):
    ref, hx = chosen("mixed-general")
    values = values_of(rng, ref, (5,))
    start = np.broadcast_to(hx.closure(*hx.nominal), (*start_lead, 6, hx.nj)).copy()
    got = hx.closure(values["r"], values["R"], "newton", start)
    rows = zip(values["r"], values["R"], np.broadcast_to(start, (5, 6, hx.nj)), strict=True)
    assert np.array_equal(got, [hx.closure(r, R, "newton", own) for r, R, own in rows])


# ---- layouts and types ------------------------------------------------------------------------------------------


@every_function
def test_any_layout_gives_the_same_numbers(name, rng):
    ref, hx = chosen("mixed-skew")
    values = values_of(rng, ref, (6,))
    want = call(hx, name, values)
    for kind, layout in LAYOUTS.items():
        assert equal(call(hx, name, {k: layout(x) for k, x in values.items()}), want), kind


@every_function
@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=lambda t: t.__name__)
def test_shorter_floats_are_taken_for_what_they_are(name, dtype, rng):
    ref, hx = chosen("UPS-lean")
    values = {k: x.astype(dtype) for k, x in values_of(rng, ref, (6,)).items()}
    values["R"] = np.eye(3, dtype=dtype)  # others are no rotations to 1e-9
    exact = {k: x.astype(float) for k, x in values.items()}
    assert equal(call(hx, name, values), call(hx, name, exact))


@every_function
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16], ids=lambda t: t.__name__)
def test_integers_are_numbers(name, dtype, rng):
    ref, hx = chosen("UPS-lean")
    values = {k: rng.integers(0, 2, x.shape).astype(dtype) for k, x in values_of(rng, ref, (6,)).items()}
    values |= {"R": np.eye(3, dtype=dtype), "r": np.array([1, 0, 0], dtype=dtype)}
    exact = {k: x.astype(float) for k, x in values.items()}
    assert equal(call(hx, name, values), call(hx, name, exact))


@every_function
def test_objects_with_a_matrix_are_rotations(name, rng):
    ref, hx = chosen("RSU-lean")
    values = values_of(rng, ref, (6,))
    turns = Rotation.from_matrix(values["R"])
    exact = values | {"R": turns.as_matrix()}
    assert equal(call(hx, name, values | {"R": turns}), call(hx, name, exact))
    assert equal(call(hx, name, values | {"R": turns[2]}), call(hx, name, exact | {"R": turns[2].as_matrix()}))


@every_variant
def test_inputs_are_left_untouched(variant, mechanism, rng):
    ref, hx = mechanism
    values = values_of(rng, ref, (6,))
    before = copy.deepcopy(values)
    call(hx, variant, values, threads=2)
    assert all(np.array_equal(values[k], before[k]) for k in values)


# ---- out= -------------------------------------------------------------------------------------------------------


@every_variant
def test_out_receives_the_result_and_is_returned(variant, rng):
    for lead in ((), (1,), (9,), (2, 3), (0,)):
        check_out(variant, lead, rng)


def check_out(variant, lead, rng):
    ref, hx = chosen("mixed-skew")
    name = VARIANTS[variant][0]
    values, other = values_of(rng, ref, lead), values_of(rng, ref, lead)
    want = call(hx, variant, values)
    if name in DYNAMICS:
        out = call(hx, variant, other)
        data = out._data
        got = call(hx, variant, values, out=out)
        assert got is out and got._data is data
        assert all(np.shares_memory(getattr(got, f), data) for f in models.FIELDS if data.size)
    else:
        out = np.full(lead + models.item_shape(name, hx), np.nan)
        got = call(hx, variant, values, out=out)
        assert got is out
        want = np.asarray(want)
    assert equal(got, want)


@every_variant
def test_out_of_an_earlier_failure_is_clean_again(variant, rng):
    ref, hx = chosen("mixed-skew")
    values = values_of(rng, ref, (9,))
    broken = dict(values, r=values["r"].copy())
    broken["r"][4] = np.nan
    want = call(hx, variant, values)
    if VARIANTS[variant][0] not in DYNAMICS:
        out = call(hx, variant, broken, on_error="nan")
        assert np.isnan(out[4]).all() and np.isfinite(np.delete(out, 4, 0)).all()
        assert equal(call(hx, variant, values, out=out), want)
        return
    out = call(hx, variant, broken, on_error="nan")
    assert np.flatnonzero(out.status).tolist() == [4]
    assert call(hx, variant, values, out=out).ok.all()
    assert equal(out, want)
    call(hx, variant, broken, out=out, on_error="nan")
    assert np.flatnonzero(out.status).tolist() == [4]
    call(hx, variant, values, out=out, on_error="nan")
    assert out.status.shape == (9,) and out.ok.all()


UNFIT = REFUSED | {"a result of dynamics": lambda shape: zv.HexapodDynamics()}


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in DYNAMICS])
def test_out_that_does_not_fit_is_refused(name, rng):
    ref, hx = chosen("UPS-lean")
    values = values_of(rng, ref, (3,))
    for make in UNFIT.values():
        out = make((3, *models.item_shape(name, hx)))
        with pytest.raises((ValueError, TypeError), match=rf"{name}: out\b.*expected"):
            call(hx, name, values, out=out)


@pytest.mark.parametrize("name", DYNAMICS)
def test_results_of_dynamics_that_do_not_fit_are_refused(name, rng):
    ref, hx = chosen("UPS-lean")
    values = values_of(rng, ref, (3,))
    other = DYNAMICS[1 - DYNAMICS.index(name)]
    four_ref, four = chosen("RSU-lean")
    unfit = {
        "another function": call(hx, other, values),
        "another model": call(four, name, values_of(rng, four_ref, (3,))),
        "another shape": call(hx, name, values_of(rng, ref, (4,))),
        "single": call(hx, name, values_of(rng, ref)),
        "array": np.empty((3, 90)),
        "dict": call(hx, name, values).to_dict(),
        "string": "out",
    }
    for out in unfit.values():
        with pytest.raises((ValueError, TypeError), match=rf"{name}: out\b.*expected"):
            call(hx, name, values, out=out)


@pytest.mark.parametrize("name", ["closure", "jacobian", "momentum", "inverse_dynamics", "kinetic_energy"])
def test_out_may_not_overlap_an_input(name, rng):
    ref, hx = chosen("UPS-lean")
    buffer = rng.normal(size=500)
    values = values_of(rng, ref, (3,))
    for start in (0, 8):
        values["r"] = buffer[:9].reshape(3, 3)
        values["r"][:] = hx.nominal[0]
        before = buffer.copy()
        shape = (3, *models.item_shape(name, hx))
        with pytest.raises(ValueError, match=rf"{name}: out\b.*shares memory with r"):
            call(hx, name, values, out=buffer[start : start + int(np.prod(shape))].reshape(shape))
        assert np.array_equal(buffer, before)


@pytest.mark.parametrize("name", DYNAMICS)
def test_a_result_may_not_be_its_own_argument(name, rng):
    ref, hx = chosen("UPS-lean")
    values = values_of(rng, ref)
    out = call(hx, name, values)
    with pytest.raises(ValueError, match=rf"{name}: out\b.*shares memory with u"):
        call(hx, name, values | {"u": out.acceleration}, out=out)


# ---- results of dynamics ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DYNAMICS)
def test_results_of_dynamics_can_be_copied_stored_and_shown(name, rng):
    ref, hx = chosen("mixed-skew")
    values = values_of(rng, ref, (4,))
    values["r"][1] = np.inf
    result = call(hx, name, values, on_error="nan")
    for twin in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert same(arrays_of(twin), arrays_of(result))
        assert np.array_equal(twin.status, result.status)
    title, *lines = repr(result).splitlines()
    assert title == "HexapodDynamics((4,) states, 1 failed)" and len(lines) == len(result.outputs)
    one = call(hx, name, picked(values, 0))
    title, first, *_ = repr(one).splitlines()
    linear, angular = (np.abs(part).max() for part in np.split(one.acceleration, 2))
    assert title == "HexapodDynamics(one state)"
    assert first.split() == ["acceleration", "(6,)", *f"up to {linear:.4g} m/s^2, {angular:.4g} rad/s^2".split()]
    assert ("base_acceleration" in one.to_dict()) == (name == "forward_dynamics_free")
    assert all(x.flags.c_contiguous and x.flags.owndata for x in one.to_dict().values())
    assert one.joints == 4


def test_a_base_that_is_not_free_has_no_acceleration_of_its_own(rng):
    ref, hx = chosen("UPS-lean")
    result = call(hx, "forward_dynamics", values_of(rng, ref))
    with pytest.raises(AttributeError, match="only forward_dynamics_free"):
        _ = result.base_acceleration


# ---- rows that fail ---------------------------------------------------------------------------------------------

NOT_FINITE, NO_ROTATION = "the state has an argument that is not finite", "the state has an R that is not a rotation"


def broken(values, hx):
    """Copies with failing rows: row -> what `explain` says about it."""
    values = {k: x.copy() for k, x in values.items()}
    values["r"][2, 1] = np.nan
    values["R"][5] *= 1 + 1e-6
    values["r"][7], values["R"][7] = models.misplaced(hx)
    values["R"][11] = np.diag([1.0, 1.0, -1.0])
    values["R"][12, 2, 2] = -np.inf
    texts = {2: NOT_FINITE, 5: NO_ROTATION, 11: NO_ROTATION, 12: NOT_FINITE}
    hunt = hx.legs[0].type in ("RUS", "RSU")
    texts[7] = "leg 'leg1' " + ("cannot reach its hinge" if hunt else "lies along the first axis of its base joint")
    return values, texts


@every_variant
@pytest.mark.parametrize("threads", [None, 2])
def test_rows_that_fail_leave_the_others_alone(variant, threads, mechanism, rng):
    ref, hx = mechanism
    values = values_of(rng, ref, (19,))
    bad, texts = broken(values, hx)
    if variant == "closure by Newton":  # does not judge the closed form
        bad["r"][7] = np.nan
        texts[7] = NOT_FINITE
    want, got = call(hx, variant, values), call(hx, variant, bad, on_error="nan", threads=threads)
    good = np.setdiff1d(np.arange(19), list(texts))
    assert same(rows_of(got, good), rows_of(want, good))
    assert all(np.isnan(x[list(texts)]).all() for x in arrays_of(got))
    if isinstance(got, zv.HexapodDynamics):
        assert np.flatnonzero(~got.ok).tolist() == sorted(texts)
        for row, text in texts.items():
            assert hx.explain(got.status[row]).startswith(text)
        assert hx.explain(got.status[0]) == "computed"
        status = hx.status(bad["r"], bad["R"], threads=threads)
        assert np.array_equal(status, got.status)


@every_variant
def test_the_first_failing_row_is_named_whatever_the_threads(variant, mechanism, rng):
    ref, hx = mechanism
    values = {k: np.resize(x, (301, *x.shape[1:])) for k, x in values_of(rng, ref, (7,)).items()}
    pose = models.misplaced(hx)
    for row in (290, 123, 200):
        values["r"][row], values["R"][row] = pose
        if variant == "closure by Newton":
            values["R"][row] = 0.0
    for threads in (None, 2, 5):
        if variant == "closure by Newton":
            with pytest.raises(ValueError, match=r"closure: R \(row 123\) is not a rotation"):
                call(hx, variant, values, threads=threads)
            continue
        with pytest.raises(zv.Error, match=r"leg 'leg1' .* in row 123, margin") as caught:
            call(hx, variant, values, threads=threads)
        assert (caught.value.row, caught.value.leg, caught.value.leg_index) == (123, "leg1", 0)


@pytest.mark.parametrize("name", [name for name, args in FUNCTIONS.items() if "u" in args])
def test_overflow_of_one_row_is_its_own_affair(name, rng):
    ref, hx = chosen("mixed-skew")
    values = values_of(rng, ref, (11,))
    want = call(hx, name, values)
    values["u"][3] = 1e300
    if name in ("joint_velocity", "momentum"):  # linear
        assert np.isfinite(call(hx, name, values)).all()
        values["u"][3] = 1.7e308
    got = call(hx, name, values, on_error="nan")
    good = np.arange(11) != 3
    assert same(rows_of(got, good), rows_of(want, good))
    assert all(np.isnan(x[3]).all() for x in arrays_of(got))
    if name in DYNAMICS:
        assert hx.explain(got.status[3]).startswith("the state gives results that are not finite")
    with pytest.raises(FloatingPointError, match=rf"{name}: .*mixed|hexapod.* in row 3"):
        call(hx, name, values)


# ---- many at once -----------------------------------------------------------------------------------------------


def test_one_hexapod_may_be_used_by_many_threads_at_once(rng):
    ref, hx = chosen("mixed-skew")
    values = {k: np.resize(x, (200, *x.shape[1:])) for k, x in values_of(rng, ref, (20,)).items()}
    names = ("forward_dynamics", "forward_dynamics_free", "inverse_dynamics", "mass_matrix")
    want = [call(hx, name, values) for name in names]

    def work(threads):
        for _ in range(10):
            got = [call(hx, name, values, threads=threads) for name in names]
            assert all(map(equal, got, want))

    at_once(work, (1, 2, 3, 1, 0))


# ---- instruction sets -------------------------------------------------------------------------------------------


def every_result():
    """Bytes of all functions' results, by description."""
    results = {}
    for case in ("UPS-lean", "SPU-lean", "UCU-skew", "RUS-skew", "RSU-lean", "mixed-skew", "mixed-general"):
        ref, hx = chosen(case, heavy=False)
        rng = np.random.default_rng(5)
        whole = values_of(rng, ref, (17,))
        whole["r"][14], whole["R"][14] = models.misplaced(hx)
        for count in (None, 1, 2, 5, 8, 17):  # around the numbers of lanes
            values = picked(whole, 0 if count is None else slice(count))
            for variant in VARIANTS:
                if variant == "closure by Newton" and count == 17:
                    continue
                got = call(hx, variant, values, on_error="nan")
                key = case, count, variant
                results[key] = b"".join(x.tobytes() for x in arrays_of(got))
                if isinstance(got, zv.HexapodDynamics):
                    results[*key, "status"] = got.status.tobytes()
        p = hx.closure(whole["r"][:5], whole["R"][:5])[:, np.arange(6), hx.actuated]
        results[case, "forward_kinematics"] = b"".join(x.tobytes() for x in hx.forward_kinematics(p))
        near = hx.singularity(whole["r"], whole["R"], on_error="nan")
        results[case, "singularity"] = near.leg.tobytes() + near.status.tobytes()
    return results


@cache
def results_of(isa):
    code = "import pickle, sys, test_hexapod_batches as t; sys.stdout.buffer.write(pickle.dumps(t.every_result()))"
    run = subprocess.run([sys.executable, "-c", code], env=environment(ZVENO_ISA=isa), capture_output=True, check=False)
    assert run.returncode == 0, run.stderr.decode()
    return pickle.loads(run.stdout)


@pytest.mark.parametrize("isa", AVAILABLE)
def test_instruction_sets_agree_bit_for_bit(isa):
    want, got = results_of("baseline"), results_of(isa)
    assert len(want) > 7 * 6 * len(VARIANTS)
    assert want.keys() == got.keys()
    assert [key for key in want if want[key] != got[key]] == []
