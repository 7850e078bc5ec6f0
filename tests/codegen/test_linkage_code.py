"""Functions of linkages as graphs, as machine code and as C: the bits of the kernels."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest
import zveno as zv
from engines import closed_mechanisms as known

NAMES = ["four_bar", "slider_crank", "rssr", "bennett", "delta"]
RESULTS = ["qdd", "multiplier", "loop_reaction", "reaction", "ambiguity", "loop_ambiguity"]


def states(linkage, count, seed=0):
    rng = np.random.default_rng(seed)
    q = linkage.close(rng.uniform(-0.7, 0.7, (3 * count, linkage.n)), on_error="nan")
    q = q[np.isfinite(q).all(axis=-1)][:count]
    return q, linkage.project_velocity(q, rng.uniform(-1, 1, q.shape)), rng.uniform(-1, 1, q.shape)


@pytest.mark.parametrize("name", NAMES)
def test_compiled_forward_dynamics_has_the_bits_of_the_kernel(name):
    linkage = getattr(known, name)()
    f = linkage.compile("forward_dynamics", outputs=["qdd", "multiplier"])
    state = states(linkage, 19)
    own = linkage.forward_dynamics(*state)
    many, one = f(*state), f(*(x[3] for x in state))
    for key in ("qdd", "multiplier"):
        assert np.array_equal(getattr(many, key), getattr(own, key))
        assert np.array_equal(getattr(one, key), getattr(own, key)[3])
    assert many.reaction is None


def test_all_results_are_compiled():
    linkage = known.bennett()
    state = states(linkage, 9)
    found, own = linkage.compile("forward_dynamics")(*state), linkage.forward_dynamics(*state)
    for key in RESULTS:
        assert np.array_equal(getattr(found, key), getattr(own, key)), key


@pytest.mark.parametrize("function", ["residual", "constraint_velocity", "constraint_jacobian", "constraint_bias"])
def test_rows_of_constraints_are_compiled(function):
    linkage = known.rssr()
    q, qd, _ = states(linkage, 5)
    args = (q,) if function in ("residual", "constraint_jacobian") else (q, qd)
    assert np.array_equal(linkage.compile(function)(*args), getattr(linkage, function)(*args))


def test_the_algebraic_level_agrees_and_is_shorter():
    linkage = known.four_bar()
    strict, short = (linkage.trace("forward_dynamics", outputs=["qdd"], level=x) for x in ("strict", "algebraic"))
    assert short.operations.total < strict.operations.total
    state = states(linkage, 12)
    f = linkage.compile("forward_dynamics", outputs=["qdd"], level="algebraic")
    np.testing.assert_allclose(f(*state).qdd, linkage.forward_dynamics(*state).qdd, rtol=1e-10, atol=1e-10)


def test_drives_in_cut_joints_may_be_arguments():
    linkage = known.four_bar()
    f = linkage.compile("forward_dynamics", arguments=["q", "qd", "tau", "drive"], outputs=["qdd"])
    q, qd, tau = states(linkage, 7)
    drive = np.array([[0.0, 1.7]])
    assert np.array_equal(f(q, qd, tau, drive=drive).qdd, linkage.forward_dynamics(q, qd, tau, drive=drive).qdd)


def test_states_that_the_method_refuses_are_refused_with_its_words():
    linkage = known.four_bar()
    f = linkage.compile("forward_dynamics", outputs=["qdd"])
    q, qd, tau = states(linkage, 4)
    for bad in ((q + 0.1, qd, tau), (q, qd + 0.5, tau), (q * np.nan, qd, tau)):
        with pytest.raises(ValueError) as own:
            linkage.forward_dynamics(*bad)
        with pytest.raises(ValueError) as compiled:
            f(*bad)
        assert str(compiled.value) == str(own.value)
    mixed = np.concatenate([q[:2], q[:1] + 0.1])
    assert np.isnan(f(mixed, np.zeros(3), tau[0], on_error="nan").qdd).any(axis=-1).tolist() == [False, False, True]
    flat = known.four_bar(1.0, (0.4, 1.0, 0.4))
    with pytest.raises(zv.SingularityError, match="singular"):
        flat.compile("forward_dynamics", outputs=["qdd"])(np.zeros(3), np.zeros(3), np.zeros(3))


def test_what_cannot_be_code_is_refused():
    linkage = known.four_bar()
    for options, text in (
        ({"external": ["crank"]}, "unknown argument 'external'"),
        ({"arguments": ["q", "qd", "tau", "t"]}, "takes no argument 't'"),
        ({"arguments": ["q", "qd"]}, "lacks 'tau'"),
        ({"method": "aba"}, "unknown argument 'method'"),
    ):
        with pytest.raises((ValueError, TypeError), match=text):
            linkage.trace("forward_dynamics", **options)
    with pytest.raises(ValueError, match="unknown function 'mass_matrix'"):
        linkage.trace("mass_matrix")
    with pytest.raises(ValueError, match="trace: constraint_derivatives is made by dual numbers"):
        linkage.trace("constraint_derivatives")
    far = known.four_bar(5.0)  # cannot be closed
    with pytest.raises(ValueError, match="compile: no closed configuration of model 'chain'"):
        far.compile("forward_dynamics")
    tree = zv.Linkage(linkage.chain)
    state = np.zeros((3, linkage.n))
    assert np.array_equal(tree.compile("forward_dynamics")(*state).qdd, tree.forward_dynamics(*state).qdd)
    moving = zv.constraints.coupling({"crank_joint": 1.0}, offset=lambda t: (t, 1.0, 0.0))
    with pytest.raises(ValueError, match="functions of time"):
        zv.Linkage(linkage.chain, linkage.constraints, [moving]).compile("forward_dynamics")


def test_the_c_code_gives_the_numbers_of_the_kernel(tmp_path):
    linkage = known.slider_crank()
    traced = linkage.trace("forward_dynamics", outputs=["qdd"])
    source, library = tmp_path / "f.c", tmp_path / "f.so"
    source.write_text(traced.c_source())
    compiler = next((name for name in ("gcc", "clang") if shutil.which(name)), "cc")
    subprocess.run([compiler, "-O1", "-ffp-contract=off", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    f = getattr(ctypes.CDLL(str(library)), traced.name)
    doubles = ctypes.POINTER(ctypes.c_double)
    for q, qd, tau in zip(*states(linkage, 5), strict=True):
        out = np.empty(linkage.n)
        f(*(x.ctypes.data_as(doubles) for x in (q, qd, tau, out)))
        np.testing.assert_allclose(out, linkage.forward_dynamics(q, qd, tau).qdd, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("function", ["residual", "constraint_velocity", "constraint_jacobian", "constraint_bias"])
def test_rows_of_constraints_are_exported(function, tmp_path):
    for name in ("slider_crank", "rssr"):
        linkage = getattr(known, name)()
        source, *_ = linkage.trace(function).save(tmp_path / name)  # its numbers are compared with the kernels'
        assert f"void {linkage.name}_{function}(" in source.read_text()


def test_a_reference_is_of_closed_states():
    linkage = known.four_bar()
    inputs, outputs = linkage.trace("forward_dynamics", outputs=["qdd"]).reference(6)
    assert np.abs(linkage.residual(inputs[0])).max() < 1e-12
    np.testing.assert_array_equal(outputs[0], linkage.forward_dynamics(*inputs).qdd)
