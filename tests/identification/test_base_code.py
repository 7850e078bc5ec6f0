"""Compiled functions of base parameters: the same results, fewer operations."""

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import random_chain, random_state


def evaluated(traced, *inputs):
    flat = [np.moveaxis(np.reshape(x, (len(inputs[0]), -1)), 0, -1) for x in inputs]
    rows = traced.graph.evaluate(*flat)[0]
    return np.array([np.broadcast_to(x, len(inputs[0])) for x in rows]).T


@pytest.mark.parametrize("level", ["strict", "algebraic"])
@pytest.mark.parametrize("seed", range(3))
def test_efforts_from_base_parameters_are_those_of_the_model(seed, level):
    rng = np.random.default_rng(seed)
    arm = random_chain(rng, 4, fixed=True, branching=seed == 1, rotor=True, friction=True)
    states = [random_state(rng, arm) for _ in range(5)]
    q, qd, qdd = (np.array(x) for x in zip(*states, strict=True))
    want = arm.inverse_dynamics(q, qd, qdd)
    bp = arm.base_parameters(parameters="moments")
    run_time = arm.trace("inverse_dynamics", parameters="base", level=level)
    assert run_time.graph.inputs[-1].shape == (bp.count,)
    base = np.broadcast_to(bp.values, (5, bp.count))
    np.testing.assert_allclose(evaluated(run_time, q, qd, qdd, base), want, rtol=0, atol=1e-10 * np.abs(want).max())
    fixed = arm.trace("inverse_dynamics", parameters="base-fixed", level=level)
    np.testing.assert_allclose(evaluated(fixed, q, qd, qdd), want, rtol=0, atol=1e-10 * np.abs(want).max())


@pytest.mark.parametrize("robot", ["puma560", "stanford", "kawasaki_fs020n"])
def test_base_parameters_take_fewer_operations(robot):
    arm = getattr(zv.robots, robot)()

    def total(parameters, level):
        return arm.trace("inverse_dynamics", parameters=parameters, level=level).operations.total

    assert total("base", "strict") < total("symbolic", "strict")
    assert total("base", "algebraic") < total("symbolic", "algebraic")
    assert total("base-fixed", "strict") < total("fixed", "strict")
    assert total("base-fixed", "algebraic") <= total("fixed", "algebraic")


def test_calls_take_base_parameters_of_each_state(rng):
    pytest.importorskip("llvmlite")
    arm = zv.robots.two_link()
    f = arm.compile("inverse_dynamics", parameters="base")
    q, qd, qdd = rng.normal(size=(3, 3, 2))
    base = f.parameters * np.array([[1.0], [2.0], [3.0]])
    want = arm.inverse_dynamics(q, qd, qdd) * np.array([[1.0], [2.0], [3.0]])
    np.testing.assert_allclose(f(q, qd, qdd, parameters=base), want, rtol=1e-12)
    with pytest.raises(ValueError, match=r"parameters has shape \(3,\), expected \(6,\)"):
        f(q, qd, qdd, parameters=np.zeros(3))
    with pytest.raises(TypeError, match="'parameters' is missing"):
        f(q, qd, qdd)


def test_reactions_depend_on_more_than_base_parameters():
    with pytest.raises(ValueError, match="'reactions' depends on more than base parameters"):
        zv.robots.two_link().trace("reactions", parameters="base")
