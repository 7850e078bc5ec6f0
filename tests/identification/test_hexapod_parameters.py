"""Regressors and base parameters of hexapods."""

import hexapod_models as models
import numpy as np
import pytest
import reference.hexapod as hd
import zveno as zv
from scipy.spatial.transform import Rotation
from zveno.codegen.function import _random_poses

TYPES = ("UPS", "SPU", "UCU", "RUS", "RSU")
BOTH = ("forces", "base_wrench")


def states(hx, rng, count):
    r, R = _random_poses(hx, rng, count)
    return r, R, *rng.uniform(-1, 1, (2, count, 6))


def ring(kind):
    return zv.mechanisms.docking_ring(kind, gravity=(0.3, -1.0, -9.7))


@pytest.mark.parametrize("kind", TYPES)
def test_regressors_times_parameters_are_forces_and_load(kind, rng):
    hx = ring(kind)
    r, R, u, acceleration = states(hx, rng, 7)
    theta = hx.base_parameters().standard
    forces = hx.inverse_dynamics(r, R, u, acceleration)
    got = hx.regressor(r, R, u, acceleration) @ theta
    np.testing.assert_allclose(got, forces, rtol=0, atol=1e-11 * np.abs(forces).max())
    load = hx.forward_dynamics(r, R, u, np.zeros(6), forces).base_wrench
    got = hx.regressor(r, R, u, acceleration, measured="base_wrench") @ theta
    np.testing.assert_allclose(got, load, rtol=0, atol=1e-11 * np.abs(load).max())


def test_legs_of_any_geometry(rng):
    hx = models.pair("RSU*")[1]
    r, R, u, acceleration = (x[None] for x in (*hx.nominal, *rng.uniform(-0.1, 0.1, (2, 6))))
    theta = hx.base_parameters(samples=5).standard
    want = hx.inverse_dynamics(r, R, u, acceleration)
    got = hx.regressor(r, R, u, acceleration) @ theta
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-9 * np.abs(want).max())


def independent_regressor(hx, r, R, u, acceleration):
    """By the transcription of the paper: forces of the drives for one body after the other with other parameters."""
    ref = hd.from_model(hx)
    columns = []

    def forces():
        out = []
        for k in range(len(r)):
            state = hd.RefState(r[k], R[k], u[k], np.zeros(6), np.zeros((6, ref.nj)))
            out.append(hd.inverse(ref, state, acceleration[k]))
        return np.concatenate(out)

    zero = forces()
    for leg in ref.legs[:2]:
        for body in leg.bodies:
            if body.m == 0:
                continue
            own = body.m, body.d.copy(), body.I.copy()
            for c in range(10):
                m, mc, inertia = own[0], own[0] * own[1], own[2].copy()
                if c == 0:
                    m += 1.0
                elif c < 4:
                    mc = mc + np.eye(3)[c - 1]
                else:
                    i, j = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))[c - 4]
                    inertia[i, j] += 1.0
                    inertia[j, i] = inertia[i, j]
                body.m, body.d, body.I = m, mc / m, inertia
                columns.append(forces() - zero)
            body.m, body.d, body.I = own
    return np.array(columns).T


@pytest.mark.parametrize("kind", ["UPS", "RUS"])
def test_columns_of_the_legs_are_those_of_the_paper(kind, rng):
    hx = ring(kind)
    r, R, u, acceleration = states(hx, rng, 1)
    theirs = independent_regressor(hx, r, R, u, acceleration)
    ours = hx.regressor(r, R, u, acceleration).reshape(6, -1)[:, 10:50]
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8 * np.abs(theirs).max())


@pytest.mark.parametrize("kind", ["UPS", "UCU", "RSU"])
def test_the_rank_is_that_of_the_singular_values(kind, rng):
    hx = ring(kind)
    r, R, u, acceleration = states(hx, rng, 40)
    for measured in ("forces", BOTH):
        bp = hx.base_parameters(measured=measured)
        words = (measured,) if isinstance(measured, str) else measured
        W = np.concatenate([hx.regressor(r, R, u, acceleration, measured=word) for word in words], axis=-2)
        W = W.reshape(-1, W.shape[-1])
        norms = np.linalg.norm(W, axis=0)
        sizes = np.linalg.svd(W / np.where(norms > 1e-12 * norms.max(), norms, np.inf), compute_uv=False)
        assert bp.count == int((sizes > 1e-10 * sizes[0]).sum())
        assert bp.gap.kept > 1e-5 and bp.gap.dropped < 1e-13
        np.testing.assert_allclose(W[:, bp.pivots] @ bp.Y, W, rtol=0, atol=1e-9 * np.abs(W).max())


def test_noisy_forces_give_back_the_base_parameters(rng):
    """Estimates differ from the truth as their deviations say."""
    hx = ring("UPS")
    bp = hx.base_parameters(measured=BOTH)
    state = states(hx, rng, 100)
    W = bp.regressor(*state).reshape(-1, bp.count)
    noise = 0.05
    scale = np.linalg.norm(W, axis=0)
    factor = np.linalg.qr(W / scale, mode="r")
    deviation = noise * np.linalg.norm(np.linalg.inv(factor), axis=1) / scale
    z = []
    for _ in range(10):
        y = W @ bp.values + noise * rng.normal(size=len(W))
        z.append((np.linalg.lstsq(W / scale, y, rcond=None)[0] / scale - bp.values) / deviation)
    assert 0.9 < np.std(z) < 1.1
    exact = np.linalg.lstsq(W / scale, W @ bp.values, rcond=None)[0] / scale
    np.testing.assert_allclose(exact, bp.values, rtol=0, atol=1e-9 * np.abs(bp.values).max())


def test_rotations_come_in_any_form():
    hexapod = zv.mechanisms.docking_ring("UPS")
    turn, rest = Rotation.from_rotvec([0.05, -0.1, 0.08]), np.zeros(6)
    r, T = hexapod.nominal[0], np.eye(4)
    T[:3, :3] = turn.as_matrix()
    want = hexapod.regressor(r, turn.as_matrix(), rest, rest)
    for form in (turn, T, {"quaternion": turn.as_quat(scalar_first=True)}):
        np.testing.assert_allclose(hexapod.regressor(r, form, rest, rest), want, rtol=0, atol=1e-12)
    for wrong, told in (("up", "R is 'up', expected numbers"), (2 * np.eye(3), "R is not orthonormal")):
        with pytest.raises(ValueError, match=f"^regressor: {told}"):
            hexapod.regressor(r, wrong, rest, rest)


def test_bad_arguments_are_named(rng):
    hx = ring("UPS")
    with pytest.raises(ValueError, match="measured is 'torque', expected 'forces'"):
        hx.base_parameters(measured="torque")
    with pytest.raises(ValueError, match="regressor: u has shape"):
        hx.regressor(*hx.nominal, np.zeros(5), np.zeros(6))
    r, rest = hx.nominal[0], np.zeros(6)
    for R, message in (
        ("x", "regressor: R is 'x'"),
        (np.eye(2), r"regressor: R has shape \(2, 2\)"),
        (2 * np.eye(3), "regressor: R .*is not orthonormal"),
        (np.tile(np.eye(3), (2, 1, 1)), "do not broadcast"),
    ):
        with pytest.raises(ValueError, match=message):
            hx.regressor(np.tile(r, (3, 1)), R, rest, rest)
    with pytest.raises(ValueError, match="regressor: measured is"):
        hx.regressor(*hx.nominal, rest, rest, measured=np.array(["forces", "x"]))
