"""Efforts that come after or before the coordinates: found with honest deviations, said, taken out; no false alarms."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import zveno as zv
from test_hexapod_identify import log_of as ring_log
from test_hexapod_identify import ring as ring_of
from test_identify import alarms, quiet, truth
from zveno.identification import LogError, identify_payload


def delayed_log(arm, delay=0.0, *, noise=0.0, m=1500, step=0.004, seed=0, dry=0.0, only_q=False, period=None):
    """A motion, and efforts of the same motion at earlier times, computed there: nothing is interpolated."""
    rng = np.random.default_rng(3)
    n = arm.n
    w = rng.uniform(0.8, 4.0, (4, n))
    if period is not None:
        w = 2 * np.pi / period * rng.integers(1, 6, (4, n))
    a, b = 0.5 * rng.normal(size=(4, n)), rng.uniform(0, 6, (4, n))

    def at(t):
        x = t[:, None, None] * w + b
        return (a * np.sin(x)).sum(1), (a * w * np.cos(x)).sum(1), -(a * w * w * np.sin(x)).sum(1)

    t = np.arange(m) * step
    tau = np.empty((m, n))
    for j, d in enumerate(np.broadcast_to(delay, (n,))):
        q, qd, qdd = at(t - d)
        tau[:, j] = (arm.inverse_dynamics(q, qd, qdd) + dry * np.sign(qd))[:, j]
    tau += noise * np.random.default_rng(seed).normal(size=tau.shape)
    q, qd, qdd = at(t)
    return {"t": t, "q": q, "tau": tau} | ({} if only_q else {"qd": qd, "qdd": qdd})


@pytest.mark.parametrize("delay", [0.0041, -0.0007, 0.25])
@pytest.mark.parametrize("only_q", [False, True])
def test_a_delay_is_found_said_and_taken_out(delay, only_q):
    arm = zv.robots.two_link()
    log = delayed_log(arm, delay, noise=0.05, only_q=only_q)
    fit = quiet(arm, log, friction="viscous", threads=1)
    (text,) = alarms(fit)
    assert ("before" if delay < 0 else "after") in text and text.startswith("tau: efforts come")
    assert (np.abs(fit.delay - delay) < 4 * fit.delay_deviation).all() and fit.delay_deviation.max() < 1e-3
    better = quiet(arm, log, friction="viscous", delay="estimate", threads=1)
    known = quiet(arm, log, friction="viscous", delay=delay, threads=1)
    for other in (better, known):
        z = (other.values - truth(other)) / np.sqrt(np.diag(other.covariance))
        assert not alarms(other) and np.abs(z).max() < 4
        assert (other.rms < 0.9 * fit.rms).any() or abs(delay) < 0.001
    assert np.allclose(better.options["delay"], delay, rtol=0, atol=1e-4)


def test_without_noise_the_delay_is_exact():
    arm = zv.robots.two_link()
    fit = quiet(arm, delayed_log(arm, 0.0103), friction="viscous", delay="estimate", threads=1)
    assert np.allclose(fit.delay, 0.0103, rtol=0, atol=1e-5)
    assert np.allclose(fit.values, truth(fit), rtol=0, atol=1e-3)


def test_joints_may_have_delays_of_their_own():
    arm = zv.robots.two_link()
    log = delayed_log(arm, [0.0, 0.006], noise=0.02)
    fit = quiet(arm, log, friction=None, threads=1)
    (text,) = alarms(fit)
    assert text.startswith(f"{arm.joint_names[1]}: its efforts come 6.") or "5.9" in text
    better = quiet(arm, log, friction=None, delay="estimate", threads=1)
    assert better.options["delay"][0] == 0 and abs(better.options["delay"][1] - 0.006) < 2e-4
    assert not alarms(quiet(arm, log, friction=None, delay=[0.0, 0.006], threads=1))


def test_a_delay_in_a_mean_of_periods_is_found():
    arm = zv.robots.two_link()
    log = delayed_log(arm, 0.005, noise=0.05, period=6.0, m=3000)
    assert len(alarms(quiet(arm, log, friction=None, period=6.0, threads=1))) == 1
    fit = quiet(arm, log, friction=None, period=6.0, delay="estimate", threads=1)
    z = (fit.values - truth(fit)) / np.sqrt(np.diag(fit.covariance))
    assert not alarms(fit) and np.abs(z).max() < 4 and np.allclose(fit.options["delay"], 0.005, atol=2e-4)


def test_a_delay_of_a_hexapod_is_found():
    hexapod = ring_of("UPS")
    log = ring_log(hexapod, m=400)
    del log["base_wrench"]
    late = {key: value[2:] for key, value in log.items()} | {"forces": log["forces"][:-2]}
    late["forces"] = late["forces"] + 0.1 * np.random.default_rng(0).normal(size=late["forces"].shape)
    fit = quiet(hexapod, late, friction=None, threads=1)
    assert "come 20." in alarms(fit)[0] or "come 19." in alarms(fit)[0]


@pytest.mark.parametrize("what", ["friction", "noise of coordinates", "correlated noise"])
def test_what_resembles_a_delay_is_not_taken_for_one(what):
    arm = zv.robots.two_link()
    log = delayed_log(arm, noise=0.05, dry=1.5 if what == "friction" else 0.0, only_q=True)
    rng = np.random.default_rng(2)
    if what == "noise of coordinates":
        log["q"] = log["q"] + 1e-4 * rng.normal(size=log["q"].shape)
    if what == "correlated noise":
        noise = rng.normal(size=log["tau"].shape)
        for k in range(1, len(noise)):
            noise[k] += 0.95 * noise[k - 1]
        log["tau"] = log["tau"] + 0.1 * noise
    assert alarms(quiet(arm, log, friction="viscous", threads=1)) == []


def test_efforts_that_do_not_count_do_not_after_they_are_put_in_line_either():
    arm = zv.robots.two_link()
    log = delayed_log(arm, 0.008, noise=0.02)
    top = 0.7 * np.abs(log["tau"][:, 0]).max()
    log["tau"][:, 0] = np.clip(log["tau"][:, 0], -top, top)
    log["tau"][700] = np.nan
    fit = quiet(arm, log, friction=None, delay=0.008, threads=1)
    z = (fit.values - truth(fit)) / np.sqrt(np.diag(fit.covariance))
    assert np.abs(z).max() < 4 and fit.rms[0] < 0.05


def test_a_payload_is_found_from_efforts_that_come_late():
    arm = zv.robots.two_link()
    free = quiet(arm, delayed_log(arm, 0.012, noise=0.02), friction=None, delay="estimate", threads=1)
    loaded = arm.with_payload("lower", 0.4, com=(0.05, 0.0, 0.02))
    log = delayed_log(loaded, 0.012, noise=0.02, seed=1)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        late = identify_payload(free, log, delay=0.0, threads=1)
    assert any("after the positions" in str(w.message) for w in caught)
    assert any("ms after the positions; delay='estimate'" in x.text for x in late.findings)
    for delay in (None, "estimate", 0.012):  # None: as of the fit
        found = identify_payload(free, log, delay=delay, threads=1)
        assert not any("delay='estimate'" in x.text for x in found.findings)
        for row, true in zip(found.parameters[:1], (0.4,), strict=True):
            assert abs(row.value - true) < 4 * row.deviation
    with pytest.raises(ValueError, match="identify_payload: delay is 'later', expected seconds or 'estimate'"):
        identify_payload(free, log, delay="later")


def test_a_delay_is_found_between_gaps_or_it_is_said_why_not():
    arm = zv.robots.two_link()
    log = delayed_log(arm, 0.008, noise=0.05)
    log["tau"][::60] = np.nan
    fit = quiet(arm, log, friction=None, delay="estimate", threads=1)
    assert np.allclose(fit.options["delay"], 0.008, rtol=0, atol=5e-4)
    log["tau"][::20] = np.nan
    fit = quiet(arm, log, friction=None, delay="estimate", threads=1)
    assert any("too short to put efforts in line" in x.text for x in fit.findings)
    with pytest.raises(ValueError, match="longest stretch without a gap has 19 samples, and putting efforts in line"):
        quiet(arm, log, friction=None, delay=0.008, threads=1)


def test_bad_delays_are_named(tmp_path):
    arm = zv.robots.two_link()
    log = delayed_log(arm, m=300)
    for bad, text in (
        ("guess", "delay is 'guess', expected seconds or 'estimate'"),
        (float("nan"), "delay"),
        ([0.1, 0.2, 0.3], "delay"),
        (5.0, "expected at most a quarter of the longest stretch"),
        (None, "delay"),
    ):
        with pytest.raises((ValueError, TypeError, LogError), match=text):
            quiet(arm, log, delay=bad)
    from typer.testing import CliRunner
    from zveno.cli import app

    arm.save(tmp_path / "arm.json")
    np.savez(tmp_path / "log.npz", **delayed_log(arm, 0.005, noise=0.02))
    command = ["identify", str(tmp_path / "arm.json"), str(tmp_path / "log.npz"), "-o", str(tmp_path / "out")]
    done = CliRunner().invoke(app, [*command, "--delay", "soon"])
    assert done.exit_code == 2 and "--delay is 'soon'" in done.output
    other = ["identify", str(tmp_path / "arm.json"), str(tmp_path), "-o", str(tmp_path / "out")]
    assert "is no file that can be read" in CliRunner().invoke(app, other).output
    done = CliRunner().invoke(app, [*command, "--delay", "estimate"])
    assert done.exit_code == 0 and "ms after the positions; they are put in line" in done.output
    assert "put in line" in (tmp_path / "out" / "report.html").read_text()
