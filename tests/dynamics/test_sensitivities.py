"""Derivatives by parameters, wrenches and gravity against differences, exact since efforts are linear in them."""

import numpy as np
import pytest
import zveno as zv
from engines.random_mechanisms import mechanisms, random_state, random_wrenches
from helpers import OTHER, assert_close
from hypothesis import given


@given(mechanisms(max_n=6))
def test_they_are_the_slopes_of_inverse_dynamics(mechanism):
    chain, rng = mechanism
    state, loads = random_state(rng, chain), random_wrenches(rng, chain)
    tau = chain.inverse_dynamics(*state, loads)
    scale = 1 + np.abs(tau).max()
    for frame in ("world", "link"):
        d = chain.derivatives(*state, loads, external_frame=frame, wrt=("gravity", "external", "qd"))
        tau = chain.inverse_dynamics(*state, loads, external_frame=frame)
        more = {link: wrench + rng.uniform(-1, 1, 6) for link, wrench in loads.items()}
        change = np.concatenate([more[link] - loads[link] for link in d.links["dtau_dexternal"]])
        want = chain.inverse_dynamics(*state, more, external_frame=frame) - tau
        assert_close(d.dtau_dexternal @ change, want, chain.n, ulps=OTHER, scale=scale)
        heavier = zv.Chain(chain.links, gravity=chain.gravity + np.array([1.0, -2.0, 0.5]))
        want = heavier.inverse_dynamics(*state, loads, external_frame=frame) - tau
        assert_close(d.dtau_dgravity @ [1.0, -2.0, 0.5], want, chain.n, ulps=OTHER, scale=scale)
        whole = chain.derivatives(*state, loads, external_frame=frame)
        assert np.array_equal(d.dtau_dqd, whole.dtau_dqd)
    theta = chain.inertial_parameters
    links = [link.name for link in chain.links if link.joint != "fixed"][-2:]
    d = chain.derivatives(*state, wrt=[("parameters", links)])
    heavier = theta.copy()
    change = np.zeros((len(links), 10))
    change[:, 0] = 0.5  # kg at the link's origin
    heavier[[chain.link_names.index(x) for x in links]] += change
    want = chain.with_inertial_parameters(heavier).inverse_dynamics(*state) - chain.inverse_dynamics(*state)
    assert_close(d.dtau_dparameters @ change.ravel(), want, chain.n, ulps=OTHER, scale=scale)
    assert d.links == {"dtau_dparameters": tuple(links)}


def test_batches_and_what_is_shown():
    arm = zv.robots.puma560()
    q = np.random.default_rng(0).uniform(-1, 1, (4, 1, 6))
    d = arm.derivatives(q, np.zeros(6), np.zeros((5, 6)), wrt=("q", "parameters", ("external", "tool")))
    shapes = {
        "dtau_dq": (4, 5, 6, 6),
        "dtau_dparameters": (4, 5, 6, 10 * len(arm.links)),
        "dtau_dexternal": (4, 5, 6, 6),
    }
    assert {name: getattr(d, name).shape for name in shapes} == shapes
    assert [array.shape for array in d] == list(shapes.values())
    assert "dtau_dexternal (4, 5, 6, 6)" in repr(d) and "tool" in d._repr_html_()
    assert "dtau_dq" in dir(d)
    with pytest.raises(AttributeError, match="has no dtau_dqd; there is dtau_dq, dtau_dparameters, dtau_dexternal"):
        _ = d.dtau_dqd


@pytest.mark.parametrize(
    ("wrt", "match"),
    [
        (3, "wrt is 3, expected some of 'q'"),
        ((), "wrt is empty"),
        (("q", "q"), "wrt has 'q' twice"),
        ("gravty", "wrt has 'gravty'.*did you mean 'gravity'"),
        (("external",), "no link and no external wrench is given"),
        ([("parameters", "tol")], "names the link 'tol', which is not in the model.*did you mean 'tool'"),
        ([("parameters", [])], "with .*expected names of links"),
        ([("q", ["tool"])], "wrt has .*or a pair"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrt, match):
    arm, x = zv.robots.puma560(), np.zeros(6)
    with pytest.raises((TypeError, ValueError), match=f"derivatives: .*{match}"):
        arm.derivatives(x, x, x, wrt=wrt)


def test_other_words_of_the_call_are_checked():
    arm, x = zv.robots.puma560(), np.zeros(6)
    with pytest.raises(ValueError, match="derivatives: out is given, which does not go with wrt"):
        arm.derivatives(x, x, x, wrt="q", out=(np.empty((6, 6)),))
    with pytest.raises(TypeError, match="derivatives: argument 'qdd' is missing"):
        arm.derivatives(x, x, wrt="q")
    with pytest.raises(ValueError, match="qd has shape"):
        arm.derivatives(x, np.zeros(3), x, wrt="gravity")
    with pytest.raises((TypeError, ValueError), match="wrt"):
        arm.time_derivatives("derivatives", np.zeros((3, 6)), wrt="q")
