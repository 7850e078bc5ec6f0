"""Identification from logs: exact without noise, honest with it, clear about what is wrong."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
import scipy.stats
import zveno as zv
from engines.pinocchio import Twin
from zveno.identification import (
    Coulomb,
    DriveInertia,
    ExtraTerm,
    IdentificationWarning,
    LoadFriction,
    LogError,
    Stribeck,
    read_log,
)
from zveno.identification.solve import student


def motion(n, m=400, step=0.02, seed=1, size=0.5):
    """A smooth motion with known derivatives."""
    rng = np.random.default_rng(seed)
    t = np.arange(m) * step
    w, a, b = rng.uniform(0.8, 4.0, (4, n)), size * rng.normal(size=(4, n)), rng.uniform(0, 6, (4, n))
    x = t[:, None, None] * w + b
    return t, (a * np.sin(x)).sum(1), (a * w * np.cos(x)).sum(1), -(a * w * w * np.sin(x)).sum(1)


def log_of(arm, noise=0.0, seed=0, **options):
    t, q, qd, qdd = motion(arm.n, **options)
    tau = arm.inverse_dynamics(q, qd, qdd)
    tau = tau + noise * np.random.default_rng(seed).normal(size=tau.shape)
    return {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}


def truth(fit):
    return fit._model.Y @ fit._model.full_values()


def quiet(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        return zv.identify(*arguments, **options)


def alarms(fit):
    """What it says about efforts that come before or after the positions."""
    return [str(x) for x in fit.findings if "the positions" in x.text and x.level != "note"]


@pytest.mark.parametrize("robot", ["puma560", "stanford", "kuka_iiwa14"])
def test_torques_of_another_engine_give_its_parameters(robot):
    arm = getattr(zv.robots, robot)()
    plain = arm._with(links=[x._with(rotor_inertia=0.0, friction=0.0) if x.joint != "fixed" else x for x in arm.links])
    twin = Twin(plain, pin.buildModelFromXML(plain.to_urdf()))
    t, q, qd, qdd = motion(arm.n, 250)
    tau = np.array([twin.inverse_dynamics(*state) for state in zip(q, qd, qdd, strict=True)])
    fit = quiet(plain, {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}, friction="viscous,coulomb")
    expected = truth(fit)
    assert fit._model.base.count - 2 * arm.n == plain.base_parameters().count
    assert np.abs(fit.values - expected).max() < 1e-9 * np.abs(expected).max()
    assert fit.missing == () and fit.relative_rms.max() < 1e-9
    assert np.abs(fit.predict(q, qd, qdd) - tau).max() < 1e-9 * np.abs(tau).max()


def test_intervals_cover_and_z_scores_have_unit_variance():
    arm = zv.robots.two_link()
    base = log_of(arm, m=160)
    rng = np.random.default_rng(12)
    z, inside, delays, false = [], [], [], 0
    for _ in range(200):
        noisy = base | {"tau": base["tau"] + [0.3, 0.1] * rng.normal(size=base["tau"].shape)}
        fit = quiet(arm, noisy, friction="viscous", validation=0.0, threads=1)
        delays.append(fit.delay / fit.delay_deviation)
        false += bool(alarms(fit))
        expected = truth(fit)
        z.append((fit.values - expected) / np.sqrt(np.diag(fit.covariance)))
        inside.append([row.low <= x <= row.high for row, x in zip(fit.parameters, expected, strict=True)])
    assert 0.93 < np.mean(inside) < 0.97
    assert 0.92 < np.std(z) < 1.08 and abs(np.mean(z)) < 0.1
    assert false <= 1 and 0.85 < np.std(delays) < 1.15  # one alarm in a thousand logs is allowed


def test_intervals_cover_where_noise_is_correlated_and_coordinates_are_differentiated():
    arm = zv.robots.two_link()
    base = log_of(arm, m=1500, step=0.01)
    rng = np.random.default_rng(3)
    inside = []
    for _ in range(40):
        noise = rng.normal(size=base["tau"].shape)
        for k in range(1, len(noise)):
            noise[k] += 0.8 * noise[k - 1]
        log = {"t": base["t"], "q": base["q"], "tau": base["tau"] + 0.1 * noise}
        fit = quiet(arm, log, friction=None, cutoff=8.0, validation=0.0, threads=1)
        inside.append([row.low <= x <= row.high for row, x in zip(fit.parameters, truth(fit), strict=True)])
    assert 0.9 < np.mean(inside) < 0.995


def test_results_depend_neither_on_threads_nor_on_chunks(monkeypatch):
    arm = zv.robots.puma560()
    log = log_of(arm, 0.2, m=5000, step=0.005)
    one, two = (quiet(arm, log, threads=k) for k in (1, 2))
    assert np.array_equal(one.values, two.values) and np.array_equal(one.covariance, two.covariance)
    from zveno.identification import fit as module

    prepare = module.prepare

    def smaller(*arguments, **options):
        signals = prepare(*arguments, **options)
        signals.size = 700
        return signals

    monkeypatch.setattr(module, "prepare", smaller)
    other = quiet(arm, log, threads=1)
    assert np.allclose(other.values, one.values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("still", [0, 1])
def test_what_the_motion_does_not_show_is_named_and_has_no_value(still):
    arm = zv.robots.two_link()
    t, q, qd, qdd = motion(2)
    q[:, still], qd[:, still], qdd[:, still] = 0.4, 0.0, 0.0
    tau = arm.inverse_dynamics(q, qd, qdd)
    with pytest.warns(IdentificationWarning, match="does not show"):
        fit = zv.identify(arm, {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}, friction="viscous")
    W = fit._model.base_columns(q, qd, qdd).reshape(-1, fit._model.count)
    s = np.linalg.svd(W / np.maximum(np.linalg.norm(W, axis=0), 1e-300))[1]
    assert len(fit.missing) == fit._model.count - (s > 1e-9).sum() > 0
    lost = np.isnan(fit.values)
    assert lost.any() and f"Fv{still + 1}" in fit.missing
    assert all(fit.parameters[k].verdict == "not identifiable" for k in np.flatnonzero(lost))
    assert np.allclose(fit.values[~lost], truth(fit)[~lost], rtol=1e-6, atol=1e-9)
    assert fit.relative_rms[1 - still] < 1e-9


def test_a_periodic_motion_is_differentiated_exactly():
    arm = zv.robots.ur3e()
    P, step = 400, 0.01
    t = np.arange(3 * P) * step
    rng = np.random.default_rng(0)
    w = 2 * np.pi / (P * step) * np.arange(1, 6)
    a, b = rng.normal(size=(2, 5, arm.n)) / 4
    x = np.multiply.outer(t, w)
    q = np.sin(x) @ a + np.cos(x) @ b
    qd = (np.cos(x) * w) @ a - (np.sin(x) * w) @ b
    qdd = -(np.sin(x) * w * w) @ a - (np.cos(x) * w * w) @ b
    log = {"t": t, "q": q, "tau": arm.inverse_dynamics(q, qd, qdd)}
    fit = quiet(arm, log, friction=None, period=P * step)
    assert np.abs(fit.values - truth(fit)).max() < 1e-9
    filtered = quiet(arm, {key: value[: 2 * P] for key, value in log.items()}, friction=None)
    assert filtered.relative_rms.max() < 1e-3


def test_friction_of_every_kind_comes_back():
    arm = zv.robots.ur3e()
    t, q, qd, qdd = motion(arm.n, 1200)
    rigid = arm.inverse_dynamics(q, qd, qdd)
    tau = rigid + 0.7 * qd + 0.9 * np.sign(qd) + 0.5 * np.sign(qd) * np.exp(-((qd / 0.4) ** 2)) + 0.2
    terms = ["viscous", Coulomb(), Stribeck(rate=0.4), "offset"]
    fit = quiet(arm, {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}, friction=terms)
    for values in fit.friction().values():
        assert values == pytest.approx({"Fv": 0.7, "Fc": 0.9, "Fs": 0.5, "F0": 0.2}, abs=1e-8)
    loaded = rigid + 0.3 * np.sign(qd) + 0.05 * np.abs(rigid) * np.sign(qd)
    log = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": loaded}
    found = quiet(arm, log, friction=["coulomb", LoadFriction()]).friction()
    assert found["upper_arm_joint"]["Fl"] == pytest.approx(0.05, rel=0.1)


def test_rates_of_stribeck_friction_are_found_with_their_intervals():
    arm = zv.robots.two_link()
    t, q, qd, qdd = motion(2, 500)
    true = np.array([0.3, 0.5])
    rubbing = 0.7 * qd + 0.9 * np.sign(qd) + 0.5 * np.sign(qd) * np.exp(-((qd / true) ** 2))
    log = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": arm.inverse_dynamics(q, qd, qdd) + rubbing}
    exact = quiet(arm, log, friction="viscous,coulomb,stribeck", threads=1)
    for values, rate in zip(exact.friction().values(), true, strict=True):
        assert values == pytest.approx({"Fv": 0.7, "Fc": 0.9, "Fs": 0.5, "vs": rate}, abs=1e-7)
    assert np.abs(exact.predict(q, qd, qdd) - log["tau"]).max() < 1e-6
    rng = np.random.default_rng(0)
    expected = {"Fv": (0.7, 0.7), "Fc": (0.9, 0.9), "Fs": (0.5, 0.5), "vs": true}
    z = []
    for _ in range(6):
        noisy = log | {"tau": log["tau"] + 0.02 * rng.normal(size=q.shape)}
        fit = quiet(arm, noisy, friction="viscous,coulomb,stribeck", validation=0.0, threads=1)
        rows = [row for row in fit.parameters if row.name[:2] in expected]
        z += [(row.value - expected[row.name[:2]][int(row.name[2]) - 1]) / row.deviation for row in rows]
    assert len(rows) == 8 and 0.6 < np.std(z) < 1.5
    # rates that are known well have the intervals of what is linear
    for noise in (1e-5, 1e-3, 1e-2):
        noisy = log | {"tau": log["tau"] + noise * rng.normal(size=q.shape)}
        fit = quiet(arm, noisy, friction="viscous,coulomb,stribeck", validation=0.0, threads=1)
        linear = np.sqrt(np.diag(fit.covariance))
        width = np.array([row.high - row.low for row in fit.parameters])
        assert np.allclose(width, 2 * student(2 * len(t) - 14) * linear, rtol=0.02)
    with pytest.raises(ValueError, match=r"Stribeck\.rate is missing"):
        zv.excitation(arm, friction="stribeck")


def test_intervals_of_stribeck_rates_end_where_the_squares_have_grown_enough():
    """With the rate at the end of its interval, as known, the squares are those of 1.96 deviations more."""
    arm = zv.robots.two_link()
    t, q, qd, qdd = motion(2, 500)
    rubbing = 0.7 * qd + np.sign(qd) * (0.9 + 0.5 * np.exp(-((qd / [0.3, 0.5]) ** 2)))
    tau = arm.inverse_dynamics(q, qd, qdd) + rubbing + 0.4 * np.random.default_rng(1).normal(size=q.shape)
    log = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}
    fit = quiet(arm, log, friction="viscous,coulomb,stribeck", validation=0.0, threads=1)
    rates = {row.name: row for row in fit.parameters if row.name.startswith("vs")}
    for j, row in enumerate(rates.values()):
        for end in (row.low, row.high):
            rate = [x.value for x in rates.values()]
            rate[j] = end
            other = quiet(arm, log, friction=["viscous", "coulomb", Stribeck(rate=tuple(rate))], validation=0.0)
            squares = [(len(t) * x.rms**2 / fit.noise**2).sum() for x in (fit, other)]
            assert np.sqrt(squares[1] - squares[0]) == pytest.approx(1.96, rel=0.12)


def test_intervals_of_all_friction_know_that_a_rate_is_hardly_known():
    """Noise nearly as large as friction: with any rate of joint 2 the fit is about as good, and Fc and Fv follow it."""
    arm = zv.robots.two_link()
    t = np.arange(500) * 0.02
    rng = np.random.default_rng(0)
    w, a, b = rng.uniform(0.5, 3, (3, 2)), 0.6 * rng.normal(size=(3, 2)), rng.uniform(0, 6, (3, 2))
    x = t[:, None, None] * w + b
    q, qd, qdd = (a * np.sin(x)).sum(1), (a * w * np.cos(x)).sum(1), -(a * w * w * np.sin(x)).sum(1)
    rubbing = 0.7 * qd + np.sign(qd) * (0.9 + 0.5 * np.exp(-((qd / [0.3, 0.5]) ** 2)))
    exact = arm.inverse_dynamics(q, qd, qdd) + rubbing
    expected = {"Fv1": 0.7, "Fv2": 0.7, "Fc1": 0.9, "Fc2": 0.9, "Fs1": 0.5, "Fs2": 0.5, "vs1": 0.3, "vs2": 0.5}
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(16):
        log = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": exact + 0.4 * rng.normal(size=q.shape)}
        fit = quiet(arm, log, friction="viscous,coulomb,stribeck", validation=0.0, threads=1)
        rows = {row.name: row for row in fit.parameters}
        inside.append([rows[name].low <= value <= rows[name].high for name, value in expected.items()])
        # whatever the rate, squares are not larger than without this friction
        plain = quiet(arm, log, friction="viscous,coulomb", validation=0.0, threads=1)
        assert (fit.rms**2 / fit.noise**2).sum() < 1.001 * (plain.rms**2 / fit.noise**2).sum()
    assert np.mean(inside) > 0.92 and np.mean(inside, axis=0).min() > 0.8


def test_quantiles_of_students_distribution_are_those_of_scipy():
    for degrees in (1.0, 1.5, 2.0, 3.0, 5.3, 29.9, 30.0, 1e4):
        assert student(degrees) == pytest.approx(scipy.stats.t.ppf(0.975, degrees), rel=1e-5)
    assert student(0.5) == np.inf


def test_as_many_equations_as_unknowns_say_nothing_about_noise(arm):
    two = zv.robots.two_link()
    fit = quiet(two, log_of(two, 0.1, m=5), friction="viscous,coulomb", validation=0.0)
    assert fit.samples * 2 == len(fit.parameters) and any("too short" in str(x) for x in fit.findings)
    assert {row.verdict for row in fit.parameters} == {"not identifiable"}
    assert all(row.low == -np.inf and row.high == np.inf for row in fit.parameters)


def test_drives_that_cannot_be_told_from_links_are_not():
    arm = zv.robots.puma560()
    log = log_of(arm)
    fit = quiet(arm, log, friction=[DriveInertia()])
    names = [row.name for row in fit.parameters if row.name.startswith("Ia")]
    assert names == ["Ia3", "Ia4", "Ia5", "Ia6"]
    assert np.isnan(fit.friction()["link1_joint"]["Ia"])


def test_springs_and_rotors_of_the_model_are_known():
    arm = zv.robots.two_link()
    links = [x._with(stiffness=5.0, rotor_inertia=0.3, friction=0.2) if x.joint != "fixed" else x for x in arm.links]
    arm = arm._with(links=links)
    fit = quiet(arm, log_of(arm), friction=None)
    assert np.abs(fit.values - truth(fit)).max() < 1e-9
    other = quiet(arm, log_of(arm), friction="viscous")
    assert [x["Fv"] for x in other.friction().values()] == pytest.approx([0.2, 0.2], abs=1e-9)


def test_outliers_do_not_move_robust_estimates():
    arm = zv.robots.two_link()
    log = log_of(arm, 0.05, m=600)
    log["tau"][::17] += 20.0
    plain, robust = (quiet(arm, log, friction=None, method=x) for x in ("wls", "huber"))
    error = [np.abs(fit.values - truth(fit)).max() for fit in (plain, robust)]
    assert error[1] < 0.1 * error[0]
    z = (robust.values - truth(robust)) / np.sqrt(np.diag(robust.covariance))
    assert np.abs(z).max() < 5


def test_noisy_coordinates_bias_least_squares_but_not_instruments():
    arm = zv.robots.two_link()
    base = log_of(arm, m=3000, step=0.005)
    rng = np.random.default_rng(0)
    errors = {"wls": [], "iv": [], "tls": []}
    for _ in range(6):
        log = {
            "t": base["t"],
            "q": base["q"] + 2e-3 * rng.normal(size=base["q"].shape),
            "q_ref": base["q"],
            "tau": base["tau"] + 0.05 * rng.normal(size=base["q"].shape),
        }
        for method, found in errors.items():
            fit = quiet(arm, log, friction=None, method=method, cutoff=12.0, position_noise=2e-3, threads=1)
            found.append(fit.values - truth(fit))
    z = {key: np.abs(np.mean(value, axis=0)).max() for key, value in errors.items()}
    assert z["iv"] < 0.1 * z["wls"] and z["tls"] < 0.35 * z["wls"]


@pytest.mark.parametrize("method", ["iv", "tls"])
def test_intervals_cover_where_coordinates_are_noisy(method):
    arm = zv.robots.two_link()
    base = log_of(arm, m=1500, step=0.01)
    rng = np.random.default_rng(5)
    z, inside = [], []
    for _ in range(20):
        noise = rng.normal(size=(2, *base["q"].shape))
        log = {
            "t": base["t"],
            "q": base["q"] + 1e-3 * noise[0],
            "q_ref": base["q"],
            "tau": base["tau"] + 0.1 * noise[1],
        }
        fit = quiet(arm, log, friction=None, method=method, cutoff=8, position_noise=1e-3, threads=1, validation=0.0)
        expected = truth(fit)
        z.append((fit.values - expected) / np.sqrt(np.diag(fit.covariance)))
        inside.append([row.low <= x <= row.high for row, x in zip(fit.parameters, expected, strict=True)])
    assert 0.8 < np.std(z) < 1.2 and 0.9 < np.mean(inside) < 0.99


def test_ordinary_least_squares_are_those_of_numpy():
    arm = zv.robots.ur5e()
    log = log_of(arm, 0.5, m=150)
    fit = quiet(arm, log, friction=None, method="ols", validation=0.0)
    bp = arm.base_parameters()
    W = arm.regressor(log["q"], log["qd"], log["qdd"])[..., bp.pivots].reshape(-1, bp.count)
    y = log["tau"].ravel()
    p, squares, *_ = np.linalg.lstsq(W, y, rcond=None)
    covariance = squares[0] / (len(y) - bp.count) * np.linalg.inv(W.T @ W)
    assert np.allclose(fit.values, p, rtol=1e-8, atol=1e-10)
    assert np.allclose(fit.covariance, covariance, rtol=1e-5)


# ---- what goes wrong


@pytest.fixture(scope="module")
def arm():
    return zv.robots.ur5e()


@pytest.fixture(scope="module")
def log(arm):
    return log_of(arm, 0.05, m=900)


def broken(log, **changes):
    return {key: np.array(changes.get(key, value)) for key, value in log.items()}


def with_nan(x):
    x = x.copy()
    x[40:60, 1] = np.nan
    return x


CASES = {
    "nan": (lambda g: {"tau": with_nan(g["tau"])}, "20 of 900 samples have missing"),
    "constant effort": (
        lambda g: {"tau": g["tau"] * [1, 1, 0, 1, 1, 1]},
        "forearm_joint: the effort is 0 all the time",
    ),
    "constant coordinate": (lambda g: {"q": g["q"] * [1, 1, 1, 1, 1, 0]}, "wrist_3_joint: the coordinate is 0 all"),
    "wrong rate": (lambda g: {"t": 2 * g["t"]}, "the sampling rate may be 49.98 Hz, not 25 Hz"),
    "milliseconds": (lambda g: {"t": 1000 * g["t"]}, "times are in milliseconds"),
    "swapped rates": (lambda g: {"qd": g["qd"][:, [1, 0, 2, 3, 4, 5]]}, "columns are swapped"),
    "swapped efforts": (lambda g: {"tau": g["tau"][:, [0, 2, 1, 3, 4, 5]]}, "forearm_joint: its effort is that of"),
    "turned effort": (
        lambda g: {"tau": g["tau"] * [1, -1, 1, 1, 1, 1]},
        "upper_arm_joint: the effort has the opposite",
    ),
    "turned rate": (lambda g: {"qd": -g["qd"]}, "the rate has the opposite sign"),
    "short": (lambda g: {key: value[:9] for key, value in g.items()}, "the log is too short"),
    "degrees": (lambda g: {k: np.degrees(g[k]) for k in ("q", "qd", "qdd")}, "are these degrees"),
    "degrees of coordinates": (lambda g: {"q": np.degrees(g["q"])}, "coordinates are in degrees, rates in radians"),
    "jumps": (lambda g: {"t": g["t"] + 3.0 * (np.arange(900) > 500)}, "the clock jumps 1 times"),
    "back": (lambda g: {"t": g["t"] - 3.0 * (np.arange(900) > 500)}, "1 times back"),
    "other units": (lambda g: {"tau": 1000 * g["tau"]}, "efforts are 1e+03 times those of the model"),
    "no number": (lambda g: {"tau": np.where(np.arange(900)[:, None] == 7, 1e308, g["tau"])}, "1 of 900 samples have"),
    "saturated": (lambda g: {"tau": np.clip(g["tau"], -12, 12)}, "saturated, they are not fitted"),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_data_are_named_and_the_report_is_written(name, arm, log, tmp_path):
    change, text = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdentificationWarning)
        fit = zv.identify(arm, broken(log, **change(log)), threads=1)
    assert any(text in str(finding) for finding in fit.findings), fit.findings
    fit.report(tmp_path / "report.html")
    assert text.split(":")[-1].strip()[:20] in (tmp_path / "report.html").read_text().replace("&#x27;", "'")


@pytest.mark.parametrize("what", ["saturated", "dead"])
def test_efforts_that_do_not_count_do_not_in_a_mean_of_periods_either(what):
    arm = zv.robots.two_link()
    P, step = 200, 0.02
    t = np.arange(4 * P) * step
    w = 2 * np.pi / (P * step) * np.arange(1, 4)
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 2)) / 3
    x = np.multiply.outer(t, w)
    q, qd = np.sin(x) @ a + np.cos(x) @ b, (np.cos(x) * w) @ a - (np.sin(x) * w) @ b
    qdd = -(np.sin(x) * w * w) @ a - (np.cos(x) * w * w) @ b
    tau = arm.inverse_dynamics(q, qd, qdd)
    if what == "saturated":
        tau = np.clip(tau, -12.0, 12.0)
    else:
        tau[:, 1] = 3.0
    fit = quiet(arm, {"t": t, "q": q, "tau": tau}, friction=None, period=P * step)
    text = "saturated, they are not fitted" if what == "saturated" else "its effort is not fitted"
    assert any(text in str(finding) for finding in fit.findings)
    assert np.abs(fit.values - truth(fit)).max() < 1e-8


def nothing(q, qd, qdd):
    return np.zeros_like(q)


REFUSED = {
    "no cutoff": ({"cutoff": 0.0}, "cutoff is 0, expected a number > 0"),
    "cutoff below 0": ({"cutoff": -3}, "cutoff is -3"),
    "cutoff no number": ({"cutoff": []}, r"cutoff is \[\]"),
    "cutoff for years": ({"cutoff": 1e-9}, "400 samples, the filter at 1e-09 Hz needs"),
    "cutoff of a period": ({"cutoff": "x", "period": 2.0}, "cutoff is 'x'"),
    "validation of a period": ({"validation": 7, "period": 2.0}, "validation is 7"),
    "quiet below 0": ({"quiet": [-1.0, 1.0]}, r"quiet is \[-1.0, 1.0\], expected numbers >= 0"),
    "quiet for all": ({"quiet": 1e9}, r"no sample is left to fit: quiet: no joint is faster than 1e\+09"),
    "joints as text": (
        {"friction": [Coulomb(joints="upper_joint")]},
        "Coulomb.joints is 'upper_joint', expected names",
    ),
    "joints no list": ({"friction": [Coulomb(joints=3)]}, "Coulomb.joints is 3, expected names"),
    "a name that is taken": ({"friction": [ExtraTerm(name="Fv", function=nothing)]}, "ExtraTerm.name is 'Fv'"),
    "a name of links": ({"friction": [ExtraTerm(name="Jxx", function=nothing)]}, "ExtraTerm.name is 'Jxx'"),
    "no name": ({"friction": [ExtraTerm(name=3, function=nothing)]}, "ExtraTerm.name is 3"),
    "no function": ({"friction": [ExtraTerm(name="u", function=None)]}, "ExtraTerm.function is None"),
    "words": ({"friction": [ExtraTerm(name="u", function=lambda *_: "x")]}, "ExtraTerm 'u': the function gives 'x'"),
    "no numbers": ({"friction": [ExtraTerm(name="u", function=lambda q, *_: q / 0.0)]}, "expected finite numbers"),
    "columns a number": ({"columns": {"q": 5}}, "columns has 5 for q, expected names of columns"),
    "columns None": ({"columns": {"q": None}}, "columns has None for q"),
    "two columns of times": ({"columns": {"t": ["t", "q"]}}, r"columns has \['t', 'q'\] for t"),
    "braces": ({"columns": {"q": "q{}{}"}}, "nothing fits 'q{}{}'"),
    "other braces": ({"columns": {"q": "{}{x}"}}, "nothing fits '{}{x}'"),
}


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("case", REFUSED)
def test_bad_options_are_named(case):
    arm = zv.robots.two_link()
    log = log_of(arm, 0.02)
    options, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        zv.identify(arm, {key: log[key] for key in ("t", "q", "tau")}, threads=1, **options)


def test_odd_forms_of_logs_are_taken_or_named():
    arm = zv.robots.two_link()
    log = log_of(arm, 0.02)
    whole = quiet(arm, log, friction=None)
    assert np.array_equal(quiet(arm, log | {"q_ref": None}, friction=None).values, whole.values)
    hidden = np.ma.masked_array(log["tau"], np.arange(400)[:, None] % 50 == [7, 9])
    hidden.data[hidden.mask] = 1e6
    fit = quiet(arm, log | {"tau": hidden}, friction=None)
    assert any("16 of 400 samples have missing" in str(x) for x in fit.findings)
    assert np.abs(fit.values - truth(fit)).max() < 0.02
    ready = read_log(log, arm)
    for bad, message in (
        (log | {5: 1}, "the log has the name 5"),
        (replace(ready, q=ready.q[:, :1]), r"q has shape \(400, 1\), expected \(400, 2\)"),
        (replace(ready, tau=ready.tau[:100]), r"tau has shape \(100, 2\)"),
        (replace(ready, t=ready.t[:, None]), r"t has shape \(400, 1\)"),
        (log | {"tau": 1e-200 * log["tau"]}, "no sample is left to fit"),
        (log | {"t": np.nan * log["t"]}, "0 of 400 samples are complete"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(LogError, match=message):
                zv.identify(arm, bad, rate=50.0)
    with pytest.raises(LogError, match=r"expected \(400, 6\): columns of shoulder_joint"):
        zv.identify(zv.robots.ur3e(), ready)
    some = quiet(arm, log, friction=[Coulomb(joints=["lower_joint"])])
    assert {row.name for row in some.parameters} - {row.name for row in whole.parameters} == {"Fc2"}
    noise = log | {"tau": np.random.default_rng(0).normal(size=log["tau"].shape)}
    assert any("of the effort is noise" in str(x) and x.level == "doubt" for x in quiet(arm, noise).findings)


def test_a_term_of_ones_own_is_a_column_whatever_it_does_to_its_arguments():
    arm = zv.robots.two_link()
    t, q, qd, qdd = motion(2)

    def cubic(q, qd, qdd):
        np.multiply(q, q * q, out=q)
        return q

    log = {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": arm.inverse_dynamics(q, qd, qdd) + [2.0, 3.0] * q**3 + 0.3 * qd}
    fit = quiet(arm, log, friction=[ExtraTerm(name="k", function=cubic, unit="N m"), "viscous"])
    assert [x["k"] for x in fit.friction().values()] == pytest.approx([2.0, 3.0], abs=1e-8)
    assert [x["Fv"] for x in fit.friction().values()] == pytest.approx([0.3, 0.3], abs=1e-8)


def test_a_good_log_raises_no_suspicion(arm, log):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = zv.identify(arm, log)
    assert [f for f in fit.findings if f.level != "note"] == []


def test_logs_without_hope_are_refused(arm, log):
    for change, text in (
        ({"tau": np.full_like(log["tau"], np.nan)}, "0 of 900 samples are complete"),
        ({"t": 0 * log["t"]}, "time does not go on"),
        ({"q": log["q"][:, :5]}, r"q has shape \(900, 5\)"),
        ({"tau": np.full(log["tau"].shape, "x")}, "expected numbers"),
        ({"tau": log["tau"][:-1]}, "different lengths"),
    ):
        with pytest.raises(LogError, match=text):
            zv.identify(arm, broken(log, **change))
    with pytest.raises(LogError, match="no times"):
        zv.identify(arm, {"q": log["q"], "tau": log["tau"]})
    with pytest.raises(LogError, match="cutoff is 400 Hz"):
        zv.identify(arm, log, cutoff=400.0)
    with pytest.raises(ValueError, match=r"friction has 'viscos'.*did you mean 'viscous'"):
        zv.identify(arm, log, friction="viscos")
    with pytest.raises(ValueError, match="q_ref"):
        zv.identify(arm, log, method="iv")
    still = {key: log[key] for key in ("t", "q", "tau")} | {"q_ref": 0 * log["q"]}
    with pytest.raises(LogError, match="q_ref does not show every base parameter"):
        zv.identify(arm, still, method="iv")
    short = {key: log[key][:300] for key in ("t", "q", "tau")} | {"q_ref": log["q"][:300]}
    two = {key: value[:, :2] if value.ndim > 1 else value for key, value in short.items()}
    with pytest.raises(LogError, match="32 independent samples in a row"):
        zv.identify(zv.robots.two_link(), two, method="iv", friction=None, cutoff=3.0)
    with pytest.raises(LogError, match="no whole period"):
        zv.identify(arm, log, period=1e9)
    assert any("does not repeat itself" in str(x) for x in quiet(arm, log, friction=None, period=5.0).findings)
    with pytest.raises(ValueError, match="'tls', which takes no period"):
        zv.identify(arm, log, method="tls", period=5.0, position_noise=1e-3)
    with pytest.raises(TypeError, match="expected a Chain or a Hexapod"):
        zv.identify(3, log)
