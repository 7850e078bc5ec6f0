"""Every function of the table of linkages: leading shapes, layouts, out=, threads=, rows that fail, compiled code."""

from functools import cache

import numpy as np
import pytest
import zveno as zv
from helpers import LAYOUTS, REFUSED, equal
from zveno import _core

ROWS = {row["name"]: row for row in _core.functions("linkage") if not row["private"]}
ARRAYS = {name: [x["name"] for x in row["parameters"] if x["required"]] for name, row in ROWS.items()}
MECHANISMS = {
    "four_bar": [0.8, 0.0, 1.5],
    "slider_crank": [0.8, -0.8, 0.8],
    "peaucellier": [0.6, 0.45, -1.05, 0.58, 0.02, -1.02, 1.02],  # three loops, redundant ones
}
every_function = pytest.mark.parametrize("name", ROWS)


@cache
def closed(mechanism="four_bar", count=13):
    """The linkage and states that meet its constraints, a row each."""
    linkage = getattr(zv.mechanisms, mechanism)()
    q = MECHANISMS[mechanism]
    rng = np.random.default_rng(count)
    rows = []
    for angle in np.linspace(0.6, 0.8, count):
        q = linkage.close(q, hold={"crank_joint": angle})
        rows.append((q, linkage.velocities(q, {"crank_joint": rng.normal()})))
    values = dict(zip(("q", "qd"), map(np.array, zip(*rows, strict=True)), strict=True))
    values |= {name: rng.normal(size=(count, linkage.n)) for name in ("qdd", "tau")}
    return linkage, values | {"multiplier": rng.normal(size=(count, linkage.m))}


def run(linkage, name, values, **options):
    """The arrays of a result."""
    result = getattr(linkage, name)(*(values[x] for x in ARRAYS[name]), **options)
    return list(result) if isinstance(result, tuple) else [result]


def picked(values, index):
    return {name: x[index] for name, x in values.items()}


def shapes(linkage, name):
    """Of the results of one state."""
    sizes = {"n": linkage.n, "m": linkage.m, "k": len(linkage.constraints)}
    return [tuple(sizes.get(size, size) for size in slot["shape"]) for slot in ROWS[name]["outputs"]]


def out_for(linkage, name, lead, make=np.empty):
    made = tuple(make(lead + shape) for shape in shapes(linkage, name))
    return made if ROWS[name]["several"] else made[0]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@every_function
def test_rows_of_a_batch_are_single_calls_bit_for_bit(name, mechanism, rng):
    linkage, values = closed(mechanism)
    batch = run(linkage, name, values)
    for threads in (2, 64):
        assert equal(run(linkage, name, values, threads=threads), batch)
    for i in range(13):
        assert equal([x[i] for x in batch], run(linkage, name, picked(values, i)))
    order = rng.permutation(13)
    assert equal(run(linkage, name, picked(values, order)), [x[order] for x in batch])


@every_function
def test_leading_shapes_are_kept_and_broadcast(name):
    linkage, values = closed(count=6)
    flat = run(linkage, name, values)
    for lead in ((6,), (2, 3), (1, 6, 1)):
        got = run(linkage, name, {key: x.reshape(*lead, -1) for key, x in values.items()})
        assert [x.shape for x in got] == [lead + shape for shape in shapes(linkage, name)]
        assert equal([x.reshape(y.shape) for x, y in zip(got, flat, strict=True)], flat)
    for lead in ((0,), (2, 0)):
        empty = run(linkage, name, {key: np.empty((*lead, x.shape[-1])) for key, x in values.items()})
        assert [x.shape for x in empty] == [lead + shape for shape in shapes(linkage, name)]
    one = picked(values, 0)
    same = {key: np.broadcast_to(x, (6, *x.shape)).copy() for key, x in one.items()}
    for key in ARRAYS[name]:
        assert equal(run(linkage, name, one | {key: same[key]}), run(linkage, name, same))


@every_function
def test_any_layout_gives_the_same_numbers(name):
    linkage, values = closed(count=6)
    want = run(linkage, name, values)
    for kind, layout in LAYOUTS.items():
        assert equal(run(linkage, name, {key: layout(x) for key, x in values.items()}), want), kind


@every_function
def test_out_receives_the_results(name):
    linkage, values = closed(count=6)
    out = out_for(linkage, name, (6,), lambda shape: np.full(shape, np.nan))
    got = run(linkage, name, values, out=out)
    assert all(x is y for x, y in zip(got, out if isinstance(out, tuple) else (out,), strict=True))
    assert equal(got, run(linkage, name, values))
    for make in REFUSED.values():
        bad = out_for(linkage, name, (6,))
        bad = (make(bad[0].shape), *bad[1:]) if isinstance(bad, tuple) else make(bad.shape)
        with pytest.raises((ValueError, TypeError), match=rf"{name}: out\b.*expected"):
            run(linkage, name, values, out=bad)


@every_function
def test_rows_that_fail_hold_nan_and_tell_why(name):
    linkage, values = closed(count=6)
    want = run(linkage, name, values)
    broken = {key: x.copy() for key, x in values.items()}
    broken["q"][2, 0] = np.nan
    status = np.full(6, -1, np.int16)
    got = run(linkage, name, broken, on_error="nan", status=status)
    assert status.astype(bool).tolist() == [i == 2 for i in range(6)]
    assert linkage.explain(status[2]) == "the state has an argument that is not finite"
    assert linkage.explain(status[0]) == "computed"
    for x, y in zip(got, want, strict=True):
        assert np.isnan(x[2]).all()
        assert np.array_equal(np.delete(x, 2, 0), np.delete(y, 2, 0))
    with pytest.raises(ValueError, match=rf"{name}: q is not finite: element 0 \(row 2\)"):
        run(linkage, name, broken)


@every_function
def test_compiled_functions_have_the_bits_of_the_methods(name):
    linkage, values = closed("slider_crank", 6)
    if name == "constraint_derivatives":  # by duals of its own
        with pytest.raises(ValueError, match="constraint_derivatives"):
            linkage.compile(name)
        return
    f = linkage.compile(name)
    result = f(*(values[x] for x in ARRAYS[name]))
    arrays = list(result) if isinstance(result, tuple) else [result]
    assert all(np.array_equal(x + 0.0, y + 0.0) for x, y in zip(arrays, run(linkage, name, values), strict=True))


def test_statuses_name_the_constraint_or_the_joint():
    linkage, values = closed(count=6)
    q, qd, tau = (values[x].copy() for x in ("q", "qd", "tau"))
    q[1, 2] += 0.3
    qd[3, 1] += 1.0
    status = np.zeros(6, np.int16)
    linkage.forward_dynamics(q, qd, tau, on_error="nan", status=status)
    loop = linkage.constraints[0].name
    assert linkage.explain(status[1]) == f"constraint '{loop}' is not met by q: close(q) finds a state that does"
    assert linkage.explain(status[3]).startswith(f"constraint '{loop}' is violated by qd: project_velocity(q, qd)")
    with pytest.warns(zv.ModelWarning):
        hollow = zv.Chain([zv.Link("a", mass=1.0, com=(0.1, 0, 0)), zv.Link("b", joint="prismatic")], name="hollow")
    free = zv.Linkage(hollow)
    free.forward_dynamics([0.1, 0.2], [0, 0], [0, 0], on_error="nan", status=(code := np.zeros((), np.int16)))
    assert free.explain(code) == "joint 'b_joint' moves no mass: its acceleration is not determined"
    for code in (999, 255, 10**6):
        with pytest.raises(ValueError, match="explain: status is"):
            linkage.explain(code)
    with pytest.raises(ValueError, match="explain: status is 'x', expected an integer"):
        linkage.explain("x")


@pytest.mark.parametrize(
    "name", [name for name, row in ROWS.items() if any(x["name"] == "t" for x in row["parameters"])]
)
def test_many_times_are_many_states_also_where_nothing_depends_on_time(name):
    linkage, values = closed()
    one, several = picked(values, 0), picked(values, slice(4))
    for got, want in zip(run(linkage, name, one, t=np.ones(4)), run(linkage, name, one), strict=True):
        assert got.shape == (4, *want.shape) and all(np.array_equal(row, want) for row in got)
    assert equal(run(linkage, name, several, t=np.ones(4)), run(linkage, name, several))
    assert equal(run(linkage, name, one, t=2), run(linkage, name, one, t=2.0))
    with pytest.raises(ValueError, match=rf"{name}: leading shapes .* do not broadcast"):
        run(linkage, name, several, t=np.ones(3))
