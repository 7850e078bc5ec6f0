"""Hexapods are identified from the motion of the ring, forces of the drives and the wrench on the base."""

from __future__ import annotations

import re
import warnings

import hexapod_models as models
import numpy as np
import pinocchio as pin
import pytest
import reference.hexapod as hd
import zveno as zv
from engines import hexapods as engines
from engines.states import random_states
from test_identify import quiet, truth
from zveno.identification import Coulomb, IdentificationWarning, LogError, Stribeck, is_physical
from zveno.identification.ring import Channels, read_ring_log, with_parameters


def ring(kind):
    return zv.mechanisms.docking_ring(kind, gravity=(0.3, -1.0, -9.7))


def motion(hexapod, m=300, step=0.01, seed=1, size=0.02):
    """Pose, velocity and acceleration of a ring that swings about its nominal pose."""
    rng = np.random.default_rng(seed)
    t = np.arange(m) * step
    w, a, b = rng.uniform(4.0, 16.0, (4, 6)), size * rng.normal(size=(4, 6)), rng.uniform(0, 6, (4, 6))
    x = t[:, None, None] * w + b
    q, qd, qdd = (a * np.sin(x)).sum(1), (a * w * np.cos(x)).sum(1), -(a * w * w * np.sin(x)).sum(1)
    q[:, :3] += hexapod.nominal[0]
    channels = Channels(hexapod, hexapod.nominal[1], False)
    return t, *channels.state(q, qd, qdd)


def log_of(hexapod, **options):
    t, r, R, u, acceleration = motion(hexapod, **options)
    forces = hexapod.inverse_dynamics(r, R, u, acceleration)
    load = hexapod.forward_dynamics(r, R, u, np.zeros(6), forces).base_wrench
    return {"t": t, "r": r, "R": R, "u": u, "acceleration": acceleration, "forces": forces, "base_wrench": load}


def test_coordinates_of_the_ring_have_its_velocity_and_acceleration(rng):
    """Against central differences of the rotation, for small and large turns."""
    hexapod = ring("UPS")
    channels = Channels(hexapod, hexapod.nominal[1], False)
    for size in (1e-4, 0.19, 0.21, 2.5):
        q, qd, qdd = rng.normal(size=(3, 6))
        q[3:] *= size / np.linalg.norm(q[3:])
        h = 1e-4

        def at(k, q=q, qd=qd, qdd=qdd, h=h):
            return channels.state(q + k * h * qd + (k * h) ** 2 / 2 * qdd, qd + k * h * qdd, qdd)

        _, R, u, acceleration = at(0)
        turned = R.T @ (at(1)[1] - at(-1)[1]) / (2 * h)
        assert np.allclose([turned[2, 1], turned[0, 2], turned[1, 0]], u[3:], atol=1e-6 * (1 + np.abs(u).max() ** 3))
        assert np.allclose((at(1)[2] - at(-1)[2]) / (2 * h), acceleration, atol=1e-6 * (1 + np.abs(acceleration).max()))
        state = channels.state(q, qd, qdd)
        assert np.allclose(channels.coordinates(*state), (q, qd, qdd), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("kind", "wrench"), [("UPS", True), ("RUS", False), ("UCU", False)])
def test_without_noise_parameters_are_exact(kind, wrench):
    hexapod = ring(kind)
    log = log_of(hexapod, size=0.02 if kind != "RUS" else 0.005)
    if not wrench:
        del log["base_wrench"]
    fit = quiet(hexapod, log, friction=None, validation=0.0)
    assert len(fit.parameters) == hexapod.base_parameters(measured=("forces", "base_wrench")[: 1 + wrench]).count
    expected = truth(fit)
    assert np.abs(fit.values - expected).max() < 1e-9 * np.abs(expected).max() and fit.missing == ()
    some = (log[key][:5] for key in ("r", "R", "u", "acceleration"))
    assert np.allclose(fit.predict(*some)[:, :6], log["forces"][:5], rtol=0, atol=1e-8 * np.abs(log["forces"]).max())


def test_with_noise_deviations_are_honest_and_the_page_is_written(tmp_path):
    hexapod = ring("UPS")
    log = log_of(hexapod, m=400)
    rng = np.random.default_rng(3)
    rates = np.einsum("kij,kj->ki", hexapod.jacobian(log["r"], log["R"]), log["u"])
    log["forces"] = log["forces"] + 3.0 * np.sign(rates) + 20.0 * rates
    z, inside = [], []
    for _ in range(2):
        pairs = ((key, log[key]) for key in ("forces", "base_wrench"))
        noisy = {key: x + 0.01 * x.std(axis=0) * rng.normal(size=x.shape) for key, x in pairs}
        fit = quiet(hexapod, log | noisy, threads=1)
        expected = truth(fit)
        for k, row in enumerate(fit.parameters):
            expected[k] = {"Fc": 3.0, "Fv": 20.0}.get(row.name[:2], expected[k])
        z.append((fit.values - expected) / np.sqrt(np.diag(fit.covariance)))
        inside.append([row.low <= x <= row.high for row, x in zip(fit.parameters, expected, strict=True)])
    assert 0.8 < np.std(z) < 1.2 and 0.91 < np.mean(inside) < 0.995
    assert {key: set(value) for key, value in fit.friction().items()} == {f"leg{k}": {"Fv", "Fc"} for k in range(1, 7)}
    fit.report(tmp_path / "ring.html")
    page = (tmp_path / "ring.html").read_text()
    assert all(x in page for x in ("base M_z", "m[ring]", "leg6", "write back", "<td>leg3.outer</td>"))


def test_poses_alone_are_filtered_and_differentiated():
    hexapod = ring("UPS")
    log = log_of(hexapod, m=1500, step=0.002)
    fit = quiet(hexapod, {key: log[key] for key in ("t", "r", "R", "forces")}, friction=None, cutoff=25.0)
    assert fit.relative_rms.max() < 1e-3


@pytest.mark.parametrize("kind", ["UPS", "RUS"])
def test_the_rank_is_that_of_pinocchios_regressor(kind):
    """Its regressor of the tree, times motions that its constraints allow; nothing of it is ours but the poses."""
    hexapod = ring(kind)
    arguments = random_states(hexapod, 40)
    closed = hexapod.forward_dynamics(*arguments)
    states = engines.States(*arguments, closed.joint_position, closed.joint_velocity, closed.acceleration)
    twin = engines.Pinocchio(engines.Tree(engines.hd.from_model(hexapod)), states)
    model, data = twin.model, twin.data
    bodies = [k for k in range(1, model.njoints) if model.inertias[k].mass > 0]
    drives = np.flatnonzero(model.armature > 0)
    rows = []
    for q, v, tau in zip(twin.q, twin.v, twin.tau, strict=True):
        a = pin.constraintDynamics(model, data, q, v, tau, twin.constraints, twin.datas, twin.settings).copy()
        K = pin.getConstraintsJacobian(model, data, twin.constraints, twin.datas)
        allowed = np.linalg.svd(K)[2][np.linalg.matrix_rank(K) :].T
        assert allowed.shape[1] == 6
        Y = np.array(pin.computeJointTorqueRegressor(model, model.createData(), q, v, a))
        columns = Y.reshape(model.nv, -1, 10)[:, [k - 1 for k in bodies]].reshape(model.nv, -1)
        rows.append(allowed.T @ np.hstack([columns, np.diag(a)[:, drives]]))
    W = np.concatenate(rows)
    assert W.shape[1] == len(hexapod.base_parameters().columns)
    norms = np.linalg.norm(W, axis=0)
    sizes = np.linalg.svd(W / np.where(norms > 1e-9 * norms.max(), norms, np.inf), compute_uv=False)
    rank = int((sizes > 1e-8 * sizes[0]).sum())
    assert rank == hexapod.base_parameters().count and sizes[rank] < 1e-3 * sizes[rank - 1]


def test_bad_logs_are_refused_or_named():
    hexapod = ring("UPS")
    log = log_of(hexapod, m=200)
    for change, text in (
        ({"forces": None}, "there is no forces"),
        ({"R": 2 * log["R"]}, "R is no rotation matrix"),
        ({"r": log["r"][:, :2]}, r"r has shape \(200, 2\), expected \(m, 3\)"),
        ({"forces": log["forces"][:-1]}, "different lengths"),
        ({"t": None}, "there are no times"),
        ({"forces": log["forces"] * 1j}, "forces holds no numbers"),
        ({"r": None, 3: log["r"]}, "the log has the name 3"),
    ):
        given = {key: value for key, value in (log | change).items() if value is not None}
        with pytest.raises(LogError, match=text):
            zv.identify(hexapod, given)
    broken = {key: np.array(value) for key, value in log.items()}
    broken["R"][20:23] = np.nan
    broken["forces"][:, 2] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        fit = zv.identify(hexapod, broken, friction=None)
    texts = [str(x) for x in fit.findings]
    assert any("3 of 200 samples have missing" in x for x in texts)
    assert any("leg3: the effort is 0 all the time" in x for x in texts)
    with pytest.raises(LogError, match="no chain; the model is in `hexapod`"):
        _ = fit.chain
    with pytest.raises(ValueError, match="no commanded poses r_ref and R_ref"):
        zv.identify(hexapod, log, method="iv")
    with pytest.raises(ValueError, match="position_noise is None"):
        zv.identify(hexapod, log, method="tls")
    with pytest.raises(TypeError, match="mapping of arrays"):
        zv.identify(hexapod, 3)
    for options, text in (
        ({"columns": {"r": "x{}{}"}}, "nothing fits 'x{}{}'"),
        ({"columns": {"r": "{}{a}"}}, "nothing fits '{}{a}'"),
        ({"friction": "drive_inertia"}, "are among its parameters, without asking"),
        ({"friction": [Coulomb(joints=["leg9"])]}, "Coulomb.joints has 'leg9', no joint"),
    ):
        with pytest.raises(ValueError, match=re.escape(text)):
            zv.identify(hexapod, log, **options)
    with pytest.raises(ValueError, match="leading shapes of the arguments do not broadcast"):
        fit.predict(log["r"][:2], log["R"][:3], log["u"][:2], log["u"][:2])
    with pytest.raises(TypeError, match="expected a Chain or the Fit of one"):
        zv.identification.identify_payload(fit, log)
    far = {key: log[key] for key in ("t", "R", "forces")} | {"r": 1e3 * log["r"]}
    found = quiet(hexapod, far, friction=None)
    assert any("is r in mm" in str(finding) for finding in found.findings)


def test_a_ring_that_stands_still_is_refused_with_the_reason():
    ring, n = zv.mechanisms.docking_ring("UPS"), 400
    r, R = (np.broadcast_to(x, (n, *x.shape)) for x in map(np.asarray, ring.nominal))
    log = {"t": np.arange(n) * 1e-2, "r": r, "R": R, "forces": np.zeros((n, 6))}
    with pytest.raises(zv.identification.LogError, match=r"no sample is left to fit: .* all the time.*findings more"):
        zv.identify(ring, log)


def noisy_log(kind="UPS", seed=3, size=0.01, swing=0.02):
    """Forces with noise, of a ring that is not quite the model."""
    model = models.pair(kind)[1] if kind in models.CASES else ring(kind)
    rng = np.random.default_rng(seed)
    standard = np.array(model.base_parameters().standard)
    bodies = len(standard) // 10
    standard *= np.concatenate([np.repeat(rng.uniform(0.8, 1.25, bodies), 10), rng.uniform(0.8, 1.25, 6)])
    standard[1:4] = standard[0] * np.array([0.004, -0.003, 0.002])
    real = with_parameters(model, standard)
    log = log_of(real, size=swing)
    del log["base_wrench"]
    # of the point that is the centre of mass of the model
    c = real.origin
    turned = np.cross(log["u"][:, 3:], c)
    log["r"] = log["r"] + log["R"] @ c
    centripetal = np.cross(log["acceleration"][:, 3:], c) + np.cross(log["u"][:, 3:], turned)
    for key, change in (("u", turned), ("acceleration", centripetal)):
        log[key] = log[key].copy()
        log[key][:, :3] += np.einsum("kij,kj->ki", log["R"], change)
    log["forces"] = log["forces"] + size * log["forces"].std(axis=0) * rng.normal(size=log["forces"].shape)
    return model, log


WRITTEN = {"UPS": 0.02, "RUS": 0.005, "RSU": 0.005, "UPS*": 0.01, "UUU": 0.004, "mixed-general": 0.004}


@pytest.mark.parametrize("kind", WRITTEN)
def test_bodies_are_written_back_to_a_hexapod(kind):
    model, log = noisy_log(kind, swing=WRITTEN[kind])
    fit = quiet(model, log, friction=None, validation=0.0, threads=1)
    bodies = fit.physical()
    width = len(model.base_parameters().columns)
    theta = bodies.values[: width - 6].reshape(-1, 10)
    massive = np.abs(theta).max(axis=1) > 0
    assert is_physical(theta[massive]).all() and bodies.ratio < 1.1
    assert (fit.hexapod.platform.mass == pytest.approx(theta[0, 0])) and fit.hexapod.leg_names == model.leg_names
    # in its own centre of mass the written model says what its parameters say
    new, some = fit.hexapod, [log[key][:20] for key in ("r", "R", "u", "acceleration")]
    r, R, u, a = some
    c = -new.origin
    turn, rate = np.cross(u[:, 3:], c), np.cross(a[:, 3:], c)
    u2, a2 = u.copy(), a.copy()
    u2[:, :3] += np.einsum("kij,kj->ki", R, turn)
    a2[:, :3] += np.einsum("kij,kj->ki", R, rate + np.cross(u[:, 3:], turn))
    expected = model.regressor(*some) @ bodies.values[:width]
    assert np.allclose(new.inverse_dynamics(r + R @ c, R, u2, a2), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    # and so do the equations of the paper for what was written
    ref = hd.from_model(new)
    for k in range(3):
        state = hd.RefState(r[k] + R[k] @ c, R[k], u2[k], np.zeros(6), np.zeros((6, ref.nj)))
        assert np.allclose(hd.inverse(ref, state, a2[k]), expected[k], rtol=0, atol=1e-8 * np.abs(expected).max())
    off = np.abs(expected - log["forces"][:20]).max()
    given = np.abs(model.inverse_dynamics(*some) - log["forces"][:20]).max()
    assert off < 0.2 * given
    with pytest.raises(TypeError, match="this is a hexapod"):
        _ = bodies.chain
    assert zv.Hexapod.from_dict(new.to_dict()) == new


def rough(**numbers):
    """A ring on custom legs whose joints have friction, springs or rotors: `numbers` (3,) of each leg."""
    smooth = ring("UPS")
    legs = []
    for leg in map(models.sliding_leg, smooth.legs):
        links = [
            zv.Link.from_dict(link.to_dict() | {word: x[j] for word, x in numbers.items() if x[j] is not None})
            for j, link in enumerate(leg.chain.links)
        ]
        ends = {"ring": leg.ring, "point": leg.point, "start": leg.start, "actuated": leg.actuated}
        legs.append(zv.Leg.custom(zv.Chain(links), leg.link, **ends))
    return zv.Hexapod(smooth.platform, legs, nominal=smooth.nominal, gravity=smooth.gravity)


ROUGH = {
    "friction": {"friction": (1.0, 2.0, 30.0)},
    "springs": {"stiffness": (5.0, 0.0, 400.0), "rest": (0.1, 0.0, 0.02)},
    "rotors": {"rotor_inertia": (0.2, 0.3, None)},
}


@pytest.mark.parametrize("wrench", [False, True])
@pytest.mark.parametrize("what", ROUGH)
def test_what_custom_legs_have_in_their_joints_is_known(what, wrench):
    """Without it, or taken for inertia, parameters would be wrong; friction of drives may be asked for."""
    hexapod = rough(**ROUGH[what])
    log = log_of(hexapod)
    if not wrench:
        del log["base_wrench"]
    motions = [log[key] for key in ("r", "R", "u", "acceleration")]
    if what != "rotors":  # the paper has no springs; it does have the efforts of joints
        ref = hd.from_model(hexapod)
        state = hd.RefState(*(x[7] for x in motions[:3]), np.zeros(6), np.zeros((6, ref.nj)))
        p = hd.closure(ref, state.r, state.R)
        _, pd = hd.rates(ref, state)
        numbers = [np.array([getattr(leg.chain, w) for leg in hexapod.legs]) for w in ("stiffness", "rest", "friction")]
        forces = hd.inverse(
            ref, hd.replace(state, tau=-(numbers[0] * (p - numbers[1]) + numbers[2] * pd)), motions[3][7]
        )
        assert np.allclose(log["forces"][7], forces, rtol=0, atol=1e-9 * np.abs(forces).max())
    fit = quiet(hexapod, log, friction="viscous" if wrench else None, validation=0.0, threads=1)
    expected = truth(fit)
    assert np.abs(fit.values - expected).max() < 1e-9 * np.abs(expected).max()
    given = fit._given.coordinates(*motions)
    assert np.allclose(fit._given.inverse_dynamics(*given)[:, :6], log["forces"], rtol=0, atol=1e-8)
    assert np.allclose(fit.predict(*motions)[:, :6], log["forces"], rtol=0, atol=1e-7)
    for old, new in zip(hexapod.legs, fit.hexapod.legs, strict=True):
        assert np.allclose(new.chain.friction, old.chain.friction, rtol=0, atol=1e-3)
        assert np.array_equal(new.chain.stiffness, old.chain.stiffness)
        assert np.array_equal(new.chain.rotor_inertia[:2], old.chain.rotor_inertia[:2])


def rubbing_log(kind, m, size):
    """A log with Stribeck friction in the drives, and its numbers (4, 6): Fv, Fc, Fs, vs."""
    hexapod = ring(kind)
    log = log_of(hexapod, m=m, size=size)
    del log["base_wrench"]
    rates = np.einsum("kij,kj->ki", hexapod.jacobian(log["r"], log["R"]), log["u"])
    peak, force = np.abs(rates).max(axis=0), log["forces"].std(axis=0)
    numbers = np.array([0.05 * force / peak, 0.05 * force, 0.04 * force, np.linspace(0.08, 0.16, 6) * peak])
    Fv, Fc, Fs, vs = numbers
    log["forces"] = log["forces"] + Fv * rates + np.sign(rates) * (Fc + Fs * np.exp(-((rates / vs) ** 2)))
    return hexapod, log, numbers


@pytest.mark.parametrize(("kind", "size"), [("UPS", 0.02), ("RUS", 0.005)])
def test_stribeck_friction_of_drives_is_found_with_its_rates(kind, size):
    hexapod, log, numbers = rubbing_log(kind, 400, size)
    fit = quiet(hexapod, log, friction="viscous,coulomb,stribeck", validation=0.0, threads=1)
    found = np.array([list(values.values()) for values in fit.friction().values()]).T
    assert list(next(iter(fit.friction().values()))) == ["Fv", "Fc", "Fs", "vs"]
    assert np.allclose(found, numbers, rtol=1e-7)
    some = [log[key][:9] for key in ("r", "R", "u", "acceleration")]
    assert np.allclose(fit.predict(*some), log["forces"][:9], rtol=0, atol=1e-9 * np.abs(log["forces"]).max())
    noise = 0.005 * log["forces"].std(axis=0) * np.random.default_rng(4).normal(size=log["forces"].shape)
    noisy = log | {"forces": log["forces"] + noise}
    fit = quiet(hexapod, noisy, friction="viscous,coulomb,stribeck", validation=0.0, threads=1)
    expected = {f"{s}[leg{j + 1}]": numbers[i, j] for i, s in enumerate(("Fv", "Fc", "Fs", "vs")) for j in range(6)}
    rows = [row for row in fit.parameters if row.name in expected]
    assert len(rows) == 24
    z = [(row.value - expected[row.name]) / row.deviation for row in rows]
    assert 0.6 < np.std(z) < 1.5 and np.mean([row.low < expected[row.name] < row.high for row in rows]) > 0.8
    # the rates as known give the same
    known = ["viscous", "coulomb", Stribeck(rate=tuple(numbers[3]))]
    again = quiet(hexapod, log, friction=known, validation=0.0, threads=1)
    assert np.allclose([x["Fs"] for x in again.friction().values()], numbers[2], rtol=1e-9)


def test_tables_of_columns_are_understood(tmp_path):
    hexapod = ring("UPS")
    log = log_of(hexapod, m=200)
    turns = zv.orientation.to_rotation_vector(log["R"])
    half = np.linalg.norm(turns, axis=1, keepdims=True) / 2
    quaternion = np.hstack([np.cos(half), turns * np.sinc(half / np.pi) / 2])
    forms = {
        "a": ("t,x,y,z,qw,qx,qy,qz," + ",".join(f"f{k}" for k in range(6)), quaternion, 1.0, {}),
        "b": (
            "time;r_x;r_y;r_z;orientation.w;orientation.x;orientation.y;orientation.z;"
            + ";".join(f"force_leg{k}" for k in range(1, 7)),
            quaternion,
            1.0,
            {},
        ),
        "c": (
            "ms,px,py,pz,a,b,c," + ",".join(f"drive{k}" for k in range(1, 7)),
            np.degrees(turns),
            1e3,
            {
                "columns": {"t": "ms", "r": "p{}", "rotation_vector": ["a", "b", "c"], "forces": "drive{}"},
                "units": {"t": "ms", "r": "mm", "rotation_vector": "deg"},
            },
        ),
        "d": (
            "t,r0,r1,r2," + ",".join(f"R{i}{j}" for i in "123" for j in "123") + ",f1,f2,f3,f4,f5,f6",
            log["R"].reshape(-1, 9),
            1.0,
            {},
        ),
    }
    for name, (head, attitude, factor, options) in forms.items():
        table = np.column_stack([factor * log["t"], factor * log["r"], attitude, log["forces"]])
        separator = ";" if ";" in head else ","
        np.savetxt(tmp_path / f"{name}.csv", table, fmt="%.17g", delimiter=separator, header=head, comments="")
        found, channels = read_ring_log(tmp_path / f"{name}.csv", hexapod, **options)
        r, R, _, _ = channels.state(found.q, 0 * found.q, 0 * found.q)
        assert np.allclose(r, log["r"], atol=1e-12) and np.allclose(R, log["R"], atol=1e-9)
        assert np.allclose(found.tau, log["forces"]) and np.allclose(found.t, log["t"])
    for options, text in (
        ({"columns": {"rr": "x"}}, "columns has 'rr'"),
        ({"columns": {"r": ["px", "py"]}}, "2 names for r, expected 3"),
        ({"columns": {"r": "z{}"}}, "nothing fits 'z{}'"),
        ({"columns": {"forces": ["drive9"] * 6}}, "no column 'drive9'"),
        ({"units": {"r": "inch"}}, "units has r in 'inch'"),
        ({}, "there is no r among"),
    ):
        with pytest.raises(LogError, match=re.escape(text)):
            read_ring_log(tmp_path / "c.csv", hexapod, **options)


@pytest.mark.parametrize("method", ["iv", "tls"])
def test_deviations_are_honest_where_poses_are_noisy(method):
    hexapod = ring("UPS")
    log = log_of(hexapod, m=900, step=0.004)
    rng = np.random.default_rng(0)
    deviation = np.repeat([2e-5, 4e-5], 3)
    noise = deviation * rng.normal(size=(len(log["t"]), 6))
    noisy = {
        "t": log["t"],
        "r": log["r"] + noise[:, :3],
        "R": log["R"] @ zv.orientation.from_rotation_vector(noise[:, 3:]),
        "forces": log["forces"] + 0.5 * rng.normal(size=log["forces"].shape),
        "r_ref": log["r"],
        "R_ref": log["R"],
    }
    options = {"friction": None, "cutoff": 10.0, "validation": 0.0, "threads": 1}
    fit = quiet(hexapod, noisy, method=method, position_noise=deviation, **options)
    z = (fit.values - truth(fit)) / np.sqrt(np.diag(fit.covariance))
    assert 0.7 < np.std(z) < 1.4


def test_the_command_identifies_hexapods(tmp_path):
    from typer.testing import CliRunner
    from zveno.cli import app

    hexapod = ring("UPS")
    hexapod.save(tmp_path / "ring.json")
    log = log_of(hexapod)
    np.savez(tmp_path / "log.npz", **log)
    out = tmp_path / "out"
    command = ["identify", str(tmp_path / "ring.json"), str(tmp_path / "log.npz"), "-o", str(out)]
    done = CliRunner().invoke(app, [*command, "--friction", "viscous", "--columns", "u=u,forces=forces"])
    assert done.exit_code == 0, done.output
    assert sorted(p.name for p in out.iterdir()) == ["model.json", "parameters.csv", "report.html"]
    written = zv.files.load(out / "model.json")
    assert written.platform.mass == pytest.approx(hexapod.platform.mass, rel=0.05)
