"""What becomes of a fit: bodies that can exist, files, pages, payloads, gains, motions, estimators on a rig."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pinocchio as pin
import pytest
import zveno as zv
from engines.pinocchio import Twin
from engines.random_mechanisms import random_chain
from test_identify import log_of, motion, quiet, truth
from zveno.identification import (
    OnlineEstimator,
    excite,
    identify_gains,
    identify_payload,
    is_physical,
    read_log,
)
from zveno.identification.model import LinearModel
from zveno.identification.terms import as_terms

# ---- bodies


@pytest.mark.parametrize("seed", range(4))
def test_bodies_exist_and_predict_nearly_as_well(seed):
    rng = np.random.default_rng(seed)
    real = random_chain(rng, 4 + seed % 2)
    theta = real.inertial_parameters * rng.uniform(0.6, 1.6, (len(real.links), 1))
    model = real.with_inertial_parameters(theta)  # what drawings say
    log = log_of(real, 0.0, m=300, seed=seed)
    log["tau"] = log["tau"] + 0.05 * log["tau"].std(axis=0) * rng.normal(size=log["tau"].shape)
    fit = quiet(model, log, friction="viscous")
    found = fit.physical()
    assert is_physical(found.chain.inertial_parameters).all() and found.smallest_eigenvalue > 0
    assert 1.0 <= found.ratio < 1.1 and (found.validation_rms < 1.1 * fit.validation_rms + 1e-12).all()
    assert (np.linalg.eigvalsh(found.chain.mass_matrix(rng.uniform(-2, 2, (20, real.n)))) > 0).all()


def test_the_bodies_are_the_best_ones():
    # the problem is convex in the pseudo-inertias: where its gradient vanishes is the minimum
    arm = zv.robots.ur3e()
    fit = quiet(arm, log_of(arm, 0.3), friction=None)
    found = fit.physical(weight=2.0)
    model, theta = fit._model, found.values[: fit._model.links]
    R = fit._train.stacked(model, fit.noise)
    A, z = R[:, : model.count] @ model.Y, R[:, model.count]
    slope = A.T @ (A @ found.values - z)
    H0 = zv.inertial.to_pseudo_inertia(arm.inertial_parameters)
    basis = zv.inertial.from_pseudo_inertia(np.array([_unit(a, b) for a in range(4) for b in range(a, 4)])).T
    moving = [k for k in range(len(arm.links)) if np.abs(model.Y[:, 10 * k : 10 * k + 10]).max() > 0]
    for k in moving:
        H = zv.inertial.to_pseudo_inertia(theta[10 * k : 10 * k + 10])
        if arm.links[k].mass == 0:
            continue
        G = 2.0 * (np.linalg.inv(H0[k]) - np.linalg.inv(H))
        pull = np.array([(G * _unit(a, b)).sum() for a in range(4) for b in range(a, 4)])
        data = basis.T @ slope[10 * k : 10 * k + 10]
        assert np.abs(pull + data).max() < 2e-2 * max(np.abs(pull).max(), np.abs(data).max(), 1.0)


def _unit(a, b):
    E = np.zeros((4, 4))
    E[a, b] = E[b, a] = 1.0
    return E


def test_a_prior_that_no_body_has_is_named_and_mended():
    arm = zv.robots.ur3e()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bad = arm._with(
            links=[x._with(inertia=np.diag([1.0, 0.1, 0.1])) if k == 2 else x for k, x in enumerate(arm.links)]
        )
    fit = quiet(bad, log_of(arm, 0.1))
    assert is_physical(fit.chain.inertial_parameters).all()
    assert any("no body has the model's inertia" in str(x) for x in fit.findings)


@pytest.mark.parametrize("seed", range(3))
def test_a_semidefinite_program_finds_the_same_bodies(seed):
    """An interior point method of others, without a start and without log-Cholesky coordinates."""
    rng = np.random.default_rng(seed)
    real = random_chain(rng, 3 + seed)
    model = real.with_inertial_parameters(real.inertial_parameters * rng.uniform(0.6, 1.6, (len(real.links), 1)))
    log = log_of(real, 0.0, m=300, seed=seed)
    log["tau"] = log["tau"] + 0.3 * log["tau"].std(axis=0) * rng.normal(size=log["tau"].shape)
    fit = quiet(model, log, friction="viscous,coulomb")
    ours, theirs = fit.physical(weight=2.0), fit.physical(method="sdp", weight=2.0)
    assert is_physical(theirs.chain.inertial_parameters).all()
    assert theirs.ratio == pytest.approx(ours.ratio, rel=1e-6)
    assert np.abs(ours.values - theirs.values).max() < 1e-3 * np.abs(ours.values).max()


def test_semidefinite_programs_need_an_extra(monkeypatch):
    arm = zv.robots.two_link()
    fit = quiet(arm, log_of(arm, 0.1), friction=None)
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(ImportError, match=r"pip install zveno\[identify\]"):
        fit.physical(method="sdp")


@pytest.mark.parametrize("seed", range(3))
def test_urdf_says_what_the_chain_says(seed):
    rng = np.random.default_rng(seed)
    chain = random_chain(rng, 5)
    text = chain.to_urdf()
    again = zv.Chain.from_urdf(text, gravity=chain.gravity)
    q, qd, qdd = rng.uniform(-1, 1, (3, 5))
    order = [again.joint_names.index(name) for name in chain.joint_names]
    state = np.empty((3, 5))
    state[:, order] = q, qd, qdd
    plain = chain._with(
        links=[
            x._with(rotor_inertia=0.0, friction=0.0, stiffness=0.0) if x.joint != "fixed" else x for x in chain.links
        ]
    )
    want = plain.inverse_dynamics(q, qd, qdd)
    assert np.allclose(again.inverse_dynamics(*state)[order], want, rtol=1e-10, atol=1e-10)
    model = pin.buildModelFromXML(text)
    model.gravity.linear = chain.gravity
    assert np.allclose(Twin(plain, model).inverse_dynamics(q, qd, qdd), want, rtol=1e-10, atol=1e-10)


def test_urdf_carries_friction_and_refuses_unknown_joints(tmp_path):
    arm = zv.robots.ur3e()
    text = arm.to_urdf(tmp_path / "arm.urdf", coulomb={"forearm_joint": 0.5})
    assert (tmp_path / "arm.urdf").read_text() == text and 'friction="0.5"' in text
    with pytest.raises(ValueError, match="did you mean 'forearm_joint'"):
        arm.to_urdf(coulomb={"forearm": 0.5})


# ---- files


@pytest.fixture(scope="module")
def table():
    arm = zv.robots.two_link()
    log = log_of(arm, 0.02, m=300)
    return arm, log


def _csv(path, names, columns, separator=","):
    lines = [separator.join(names)] + [separator.join(repr(float(x)) for x in row) for row in np.column_stack(columns)]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("names", "separator"),
    [
        (["t", "q1", "q2", "tau1", "tau2"], ","),
        (["time [s]", "q_0", "q_1", "tau_0", "tau_1"], ";"),
        (["stamp", "position[0]", "position[1]", "effort[0]", "effort[1]"], "\t"),
        (["Time", "q.upper_joint", "q.lower_joint", "tau.upper_joint", "tau.lower_joint"], ","),
        (["/joint_states/t", "upper_joint_pos", "lower_joint_pos", "upper_joint_effort", "lower_joint_effort"], ","),
    ],
)
def test_names_that_people_use_are_understood(names, separator, table, tmp_path):
    arm, log = table
    _csv(tmp_path / "log.csv", names, (log["t"], log["q"], log["tau"]), separator)
    columns = {"t": names[0]} if "/" in names[0] else None
    found = read_log(tmp_path / "log.csv", arm, columns=columns)
    assert (
        np.array_equal(found.q, log["q"])
        and np.array_equal(found.tau, log["tau"])
        and np.array_equal(found.t, log["t"])
    )


@pytest.mark.parametrize("remarks", ["# t,q1,q2,tau1,tau2", "# by hand\nt,q1,q2,tau1,tau2", "# a\n# t,q1,q2,tau1,tau2"])
def test_names_may_stand_behind_remarks(remarks, table, tmp_path):
    arm, log = table
    rows = "\n".join(",".join(map(repr, row)) for row in np.column_stack([log["t"], log["q"], log["tau"]]).tolist())
    (tmp_path / "log.csv").write_bytes(b"\xef\xbb\xbf" + f"{remarks}\n{rows}\n".encode())
    found = read_log(tmp_path / "log.csv", arm)
    assert np.array_equal(found.q, log["q"]) and np.array_equal(found.tau, log["tau"])


def test_clocks_out_of_order_are_named(table):
    arm, log = table
    mixed = np.random.default_rng(0).permutation(len(log["t"]))
    with pytest.raises(zv.identification.LogError, match=r"samples \(t: the clock jumps .* times back"):
        zv.identify(arm, {key: log[key][mixed] for key in ("t", "q", "tau")})


def test_units_and_mappings_and_other_files(table, tmp_path):
    arm, log = table
    _csv(tmp_path / "a.csv", ["ms", "a", "b", "x", "y"], (1e3 * log["t"], np.degrees(log["q"]), log["tau"]))
    columns = {"t": "ms", "q": ["a", "b"], "tau": ["x", "y"]}
    found = read_log(tmp_path / "a.csv", arm, columns=columns, units={"t": "ms", "q": "deg"})
    assert np.allclose(found.q, log["q"], atol=1e-12) and np.allclose(found.t, log["t"], atol=1e-12)
    _csv(
        tmp_path / "b.csv",
        ["t", "q1 [deg]", "q2 [deg]", "tau1 [Nm]", "tau2 [Nm]"],
        (log["t"], np.degrees(log["q"]), log["tau"]),
    )
    assert np.allclose(read_log(tmp_path / "b.csv", arm).q, log["q"], atol=1e-12)
    np.savez(tmp_path / "c.npz", **log)
    assert np.array_equal(read_log(tmp_path / "c.npz", arm).qdd, log["qdd"])
    import pandas

    frame = pandas.DataFrame({"t": log["t"], "q1": log["q"][:, 0], "q2": log["q"][:, 1], "tau1": 1.0, "tau2": 2.0})
    frame.to_parquet(tmp_path / "d.parquet")
    assert np.array_equal(read_log(tmp_path / "d.parquet", arm).q, log["q"])
    assert np.array_equal(read_log(frame, arm).q, log["q"])
    # columns of words are no matter, missing numbers are NaN, moments become seconds
    other = frame.astype({"q1": "Float64"}).assign(note="x", t=pandas.to_datetime(frame["t"] + 1.7e9, unit="s"))
    other.loc[7, "q1"] = pandas.NA
    other.to_parquet(tmp_path / "e.parquet")
    for source in (tmp_path / "e.parquet", other.assign(q1=log["q"][:, 0])):
        found = read_log(source, arm)
        assert np.allclose(np.diff(found.t), np.diff(log["t"]), atol=1e-6)
    assert np.flatnonzero(np.isnan(read_log(tmp_path / "e.parquet", arm).q[:, 0])).tolist() == [7]
    for name in ("bad.npy", "bad.npz", "bad.parquet"):
        (tmp_path / name).write_bytes(b"nothing")
        with pytest.raises(zv.identification.LogError, match="cannot be read as"):
            read_log(tmp_path / name, arm)


def test_large_tables_go_to_a_file_and_mean_the_same(table, tmp_path, monkeypatch):
    arm, log = table
    from zveno.identification import log as module

    _csv(tmp_path / "log.csv", ["t", "q1", "q2", "tau1", "tau2"], (log["t"], log["q"], log["tau"]))
    small = quiet(arm, tmp_path / "log.csv", friction=None)
    monkeypatch.setattr(module, "_IN_MEMORY", 0)
    monkeypatch.setattr(module, "_ROWS", 10)
    kept = read_log(tmp_path / "log.csv", arm)
    assert isinstance(kept.q.base, np.memmap) or isinstance(kept.t.base, np.memmap)
    assert np.array_equal(quiet(arm, tmp_path / "log.csv", friction=None).values, small.values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is no table"),
        ("hello\nworld\n", "one column"),
        ("1,2,3\n4,5,6\n", "no line of names"),
        ("t,q1,q2,tau1,tau2\n0,1,2\n", "line 2: 3 columns, expected 5"),
        ("t,q1,q2,tau1,tau2\n0,1,2,x,3\n", "line 2, column tau1: 'x' is no number"),
        ("t,q1,q2,tau1,tau2\n0,1_0,2,3,4\n", "line 2, column q1: '1_0' is no number"),
        ("t,a,b\n0,1,2\n", "no columns for the joint coordinates"),
        ("t,t\n0,1\n", "two columns named 't'"),
        ("# by hand\nt,q1,q2,tau1,tau2\n0,1,2,3\n", "line 3: 4 columns, expected 5"),
        ("t,q1,q2,tau1,tau2\n" + 9 * "0,0,1,0,2,0,3,0,4,0\n", "10 columns, expected 5: decimal commas"),
    ],
)
def test_files_that_are_no_logs_are_refused_and_a_page_says_why(text, message, table, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(zv.identification.LogError, match=re.escape(message)):
        zv.identify(table[0], tmp_path / "log.csv")


# ---- the page and the command


def test_the_page_needs_nothing_else_and_draws(tmp_path):
    arm = zv.robots.ur3e()
    fit = quiet(arm, log_of(arm, 0.1, m=600))
    path = tmp_path / "report.html"
    fit.report(path)
    text = path.read_text()
    assert path.stat().st_size < 5e6
    assert not re.search(r"(src|href)=\"?https?:", text)
    data = json.loads(re.search(r"const PLOTS = (\[.*?\]);\n", text)[1])
    assert len(data) == arm.n + 2
    measured = data[1]["curves"][0]["y"]
    assert np.allclose(
        measured, fit.residuals.measured[:: -(-len(fit.residuals.times) // 1200), 1], rtol=1e-4, atol=1e-4
    )
    assert all(f"<td>{row.name}</td>" in text for row in fit.parameters)
    for heading in ("Efforts, measured", "Base parameters", "What to measure next", "Residuals", "write back"):
        assert heading in text
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is not None:  # the script runs: curves are in the document
        command = [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--dump-dom",
            f"--user-data-dir={tmp_path}/b",
        ]
        document = subprocess.run([*command, path.as_uri()], capture_output=True, text=True, timeout=60).stdout
        assert document.count('<path d="M') >= 3 * arm.n


def test_the_command_writes_report_parameters_and_model(tmp_path):
    from typer.testing import CliRunner
    from zveno.cli import app

    arm = zv.robots.ur3e()
    arm.to_urdf(tmp_path / "arm.urdf")
    t, q, qd, qdd = motion(arm.n, 500)
    tau = arm.inverse_dynamics(q, qd, qdd) + 0.3 * np.sign(qd)
    names = ["t", *(f"{x}{j}" for x in ("q", "qd", "qdd", "tau") for j in range(6))]
    _csv(tmp_path / "log.csv", names, (t, q, qd, qdd, tau))
    run = CliRunner()
    out = tmp_path / "report"
    done = run.invoke(app, ["identify", str(tmp_path / "arm.urdf"), str(tmp_path / "log.csv"), "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "base parameters" in done.output
    assert sorted(p.name for p in out.iterdir()) == ["model.json", "model.urdf", "parameters.csv", "report.html"]
    model = pin.buildModelFromUrdf(str(out / "model.urdf"))
    assert model.nv == 6
    assert (
        "exists"
        in run.invoke(app, ["identify", str(tmp_path / "arm.urdf"), str(tmp_path / "log.csv"), "-o", str(out)]).output
    )
    (tmp_path / "bad.csv").write_text("hello\n")
    bad = run.invoke(
        app, ["identify", str(tmp_path / "arm.urdf"), str(tmp_path / "bad.csv"), "-o", str(tmp_path / "b")]
    )
    assert bad.exit_code == 1 and "one column" in (tmp_path / "b" / "report.html").read_text()
    gone = run.invoke(app, ["identify", str(tmp_path / "arm.urdf"), "gone.csv", "-o", str(tmp_path / "c")])
    assert gone.exit_code == 1 and gone.stderr == "zveno identify: there is no file 'gone.csv'\n"
    assert not (tmp_path / "c").exists()


# ---- payloads and gains


def test_a_payload_is_found_with_its_intervals():
    arm = zv.robots.ur5e()
    t, q, qd, qdd = motion(arm.n, 500)
    loaded = arm.with_payload("wrist_3", 2.5, com=(0.02, -0.03, 0.12), inertia=(0.02, 0.015, 0.01))
    rng = np.random.default_rng(0)
    log = {"t": t, "q": q, "qd": qd, "qdd": qdd}
    friction = 0.4 * np.sign(qd) + 0.2 * qd
    exact = identify_payload(arm, log | {"tau": loaded.inverse_dynamics(q, qd, qdd)}, friction=())
    assert exact.mass == pytest.approx(2.5, abs=1e-9) and np.allclose(exact.com, (0.02, -0.03, 0.12), atol=1e-9)
    assert np.allclose(exact.inertia, np.diag((0.02, 0.015, 0.01)), atol=1e-8) and exact.physical
    noisy = loaded.inverse_dynamics(q, qd, qdd) + friction + 0.3 * rng.normal(size=q.shape)
    found = identify_payload(arm, log | {"tau": noisy})
    assert abs(found.mass - 2.5) < 4 * found.mass_deviation < 0.2
    assert (np.abs(found.com - (0.02, -0.03, 0.12)) < 4 * found.com_deviation).all()
    assert found.body.mass == pytest.approx(found.mass, rel=0.05)
    assert np.linalg.eigvalsh(found.chain.mass_matrix(q[0])).min() > 0
    # a robot whose own fit is known: its friction stays
    robot = quiet(arm, log | {"tau": arm.inverse_dynamics(q, qd, qdd) + friction})
    again = identify_payload(robot, log | {"tau": loaded.inverse_dynamics(q, qd, qdd) + friction})
    assert again.mass == pytest.approx(2.5, abs=1e-8)


def test_no_payload_is_said_to_be_none():
    arm = zv.robots.two_link()
    log = log_of(arm)
    log["tau"] = log["tau"] - 0.05 * arm.regressor(log["q"], log["qd"], log["qdd"])[..., 10]
    with pytest.warns(UserWarning, match="nothing is carried"):
        found = identify_payload(arm, log, friction=())
    assert found.body.mass == 0.0
    with pytest.raises(ValueError, match="did you mean 'lower'"):
        identify_payload(arm, log, link="lowr")


def test_what_a_motion_does_not_show_of_a_payload_has_no_value():
    arm = zv.robots.ur5e()
    t = np.arange(400) * 0.01
    q = np.tile([0.0, -1.0, 1.0, 0.0, 0.5, 0.0], (400, 1))
    rest = np.zeros_like(q)
    loaded = arm.with_payload("wrist_3", 2.0, com=(0.0, 0.02, 0.1), inertia=0.01)
    tau = loaded.inverse_dynamics(q, rest, rest) + 0.1 * np.random.default_rng(0).normal(size=q.shape)
    log = {"t": t, "q": q, "qd": rest, "qdd": rest, "tau": tau}
    with pytest.warns(UserWarning, match="what only its motion shows is missing"):
        found = identify_payload(arm, log, friction=())
    assert any("does not show Sy" in str(finding) for finding in found.findings)
    # weight alone: the first moment along gravity and all of the inertia are not there
    assert abs(found.mass - 2.0) < 5 * found.mass_deviation
    assert np.isnan(found.com).tolist() == [False, True, False] and found.com_deviation[1] == np.inf
    assert np.isnan(found.inertia).all() and found.body.mass == pytest.approx(2.0, rel=0.01)
    two = zv.robots.two_link()
    with pytest.warns(UserWarning, match="8 equations for 8 unknowns: the log is too short"):
        few = identify_payload(two, {key: value[:4] for key, value in log_of(two, 0.1).items()})
    assert few.mass_deviation == np.inf and {row.verdict for row in few.parameters} == {"not identifiable"}


def test_gains_need_a_known_payload():
    arm = zv.robots.ur5e()
    body = zv.Body(3.0, 0.02, (0.0, 0.05, 0.1))
    heavy = arm.with_payload("wrist_3", 3.0, com=(0.0, 0.05, 0.1), inertia=0.02)
    gains = np.array([12.0, 12.0, 11.0, 8.0, 8.0, 7.0])
    rng = np.random.default_rng(1)
    logs = []
    for k, chain in enumerate((arm, heavy)):
        t, q, qd, qdd = motion(6, 500, seed=k)
        current = (chain.inverse_dynamics(q, qd, qdd) + 0.5 * np.sign(qd) + 0.3 * qd) / gains
        logs.append({"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": current + 0.01 * rng.normal(size=q.shape)})
    found = identify_gains(arm, *logs, body, link="wrist_3")
    assert (np.abs(found.values - gains) < 4 * found.deviations).all()
    assert (found.deviations < 0.1 * gains).all()
    empty = identify_gains(arm, logs[0], logs[0], zv.Body(0.0, 0.0, (0.0, 0.0, 0.0)))
    assert np.isnan(empty.values).all() and len([x for x in empty.findings if x.level == "fault"]) == 6


# ---- motions to measure


@pytest.mark.parametrize("kind", ["fourier", "spline"])
@pytest.mark.parametrize("criterion", ["d", "condition"])
def test_gradients_of_criteria_are_exact(kind, criterion):
    arm = zv.robots.stanford()  # turning and sliding joints

    def fail(text):
        raise ValueError(text)

    limits = excite._Limits(arm, fail, None, None, None, None, lambda q: 1.5 - np.abs(q[:, 1]))
    model = LinearModel(arm, as_terms("viscous,drive_inertia", fail, arm.joint_names))
    job = excite._Job(model, limits, excite._Basis(kind, 8.0, 3), np.linspace(0.5, 2.0, 6), criterion)
    rng = np.random.default_rng(0)
    X = 1.5 * job.random(limits.middle, rng)
    limits.torque = 0.5 * np.abs(arm.inverse_dynamics(*job.states(X))).max(axis=0)
    _, slope = job.cost(X, 10.0)
    for _ in range(2):
        d = rng.normal(size=X.shape)
        h = 1e-5
        numeric = (job.cost(X + h * d, 10.0)[0] - job.cost(X - h * d, 10.0)[0]) / (2 * h)
        assert (slope * d).sum() == pytest.approx(numeric, rel=2e-6, abs=1e-8)


@pytest.mark.parametrize("kind", ["fourier", "spline"])
def test_excitation_keeps_every_limit_and_improves(kind, tmp_path):
    arm = zv.robots.ur3e()
    options = {
        "duration": 6.0,
        "kind": kind,
        "velocity": 1.5,
        "torque": np.array([40.0, 40.0, 25.0, 8.0, 8.0, 8.0]),
        "clearance": lambda q: arm.pose(q, "wrist_3")[..., 2, 3] + 0.1,
        "centre": np.array([0.0, -1.2, 0.9, 0.0, 0.5, 0.0]),
        "iterations": 9,
        "starts": 1,
        "seed": 3,
    }
    found, again = (zv.excitation(arm, **options) for _ in range(2))
    assert np.array_equal(found.coefficients, again.coefficients)
    assert found.criterion < found.start_criterion - 0.1
    q, qd, qdd = found(np.linspace(0.0, 6.0, 4001))
    assert (q >= arm.lower).all() and (q <= arm.upper).all()
    assert np.abs(qd).max() <= 1.5 and np.abs(qdd).max() <= 6.0
    assert (np.abs(arm.inverse_dynamics(q, qd, qdd)) <= options["torque"]).all()
    assert options["clearance"](q).min() > 0
    assert np.abs(qd[[0, -1]]).max() < 1e-8 and np.abs(qdd[[0, -1]]).max() < 1e-6
    found.to_csv(tmp_path / "motion.csv", rate=50.0)
    rows = np.loadtxt(tmp_path / "motion.csv", delimiter=",", skiprows=1)
    assert rows.shape == (301, 19) and np.allclose(rows[:, 1:7], found(rows[:, 0])[0])


def test_deviations_are_foretold():
    arm = zv.robots.two_link()
    motion_ = zv.excitation(
        arm, duration=4.0, velocity=3.0, friction="viscous", noise=0.2, rate=50.0, iterations=6, starts=1
    )
    t = np.arange(200) / 50.0
    q, qd, qdd = motion_(t)
    tau = arm.inverse_dynamics(q, qd, qdd) + 0.2 * np.random.default_rng(0).normal(size=q.shape)
    fit = quiet(arm, {"t": t, "q": q, "qd": qd, "qdd": qdd, "tau": tau}, friction="viscous", validation=0.0)
    ratio = [a.deviation / b.deviation for a, b in zip(fit.parameters, motion_.parameters, strict=True)]
    assert min(ratio) > 0.8 and max(ratio) < 1.25


def test_excitation_that_cannot_begin_is_refused():
    arm = zv.robots.ur3e()
    with pytest.raises(zv.InfeasibleError, match="standing at the centre"):
        zv.excitation(arm, torque=1e-3, centre=[0.0, -0.3, 0.2, 0.0, 0.0, 0.0], iterations=1)
    with pytest.raises(zv.InfeasibleError, match="clearance is -1"):
        zv.excitation(arm, clearance=lambda q: -np.ones(len(q)), iterations=1)
    with pytest.raises(ValueError, match="velocity is -1"):
        zv.excitation(arm, velocity=-1.0)
    for options, message in (
        ({"velocity": ["a"] * 6}, "velocity is .*expected a number > 0, or 6 of them"),
        ({"torque": [[1.0], [2.0, 3.0]]}, "torque is .*expected a number > 0, or 6 of them"),
        ({"velocity": np.inf}, "velocity is inf, expected finite numbers"),
        ({"clearance": lambda q: "x"}, "clearance gives 'x' for 1 states"),
        ({"clearance": lambda q: q[:, 0] * np.nan}, "clearance gives .*expected finite numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            zv.excitation(arm, iterations=1, starts=1, **options)
    motion_ = zv.excitation(zv.robots.two_link(), duration=2.0, iterations=0, starts=1, friction=None)
    for times in ("x", np.nan):
        with pytest.raises(ValueError, match="Excitation: t is"):
            motion_(times)


# ---- on a rig


def test_the_online_estimate_is_that_of_all_samples():
    arm = zv.robots.ur3e()
    log = log_of(arm, 0.1, m=150)
    estimator = OnlineEstimator(arm, friction="viscous,offset", noise=0.1, doubt=1e6)
    state = estimator.start()
    for row in zip(*(log[key] for key in ("q", "qd", "qdd", "tau")), strict=True):
        state = estimator.update(state, *row)
    fit = quiet(arm, log, friction="viscous,offset", method="ols", validation=0.0)
    assert estimator.names == tuple(row.name for row in fit.parameters)
    assert np.allclose(estimator.values(state), fit.values, rtol=1e-5, atol=1e-6)
    white = np.sqrt(np.diag(fit.covariance)) * 0.1 / fit.noise[0]
    assert np.allclose(estimator.deviations(state), white, rtol=1e-3)


def test_forgetting_follows_a_change():
    arm = zv.robots.two_link()
    heavy = arm.with_inertial_parameters(1.5 * arm.inertial_parameters)
    estimator = OnlineEstimator(arm, friction=None, noise=0.1, forgetting=0.95)
    state = estimator.start()
    rng = np.random.default_rng(0)
    for k in range(300):
        q, qd, qdd = rng.uniform(-2, 2, (3, 2))
        state = estimator.update(state, q, qd, qdd, (arm if k < 150 else heavy).inverse_dynamics(q, qd, qdd))
    want = arm.base_parameters().minimal(heavy.inertial_parameters.ravel())
    assert np.allclose(estimator.values(state), want, rtol=1e-3, atol=1e-3)
    with pytest.raises(ValueError, match=r"forgetting is 1\.5"):
        OnlineEstimator(arm, forgetting=1.5)


def test_an_online_estimate_of_nothing_is_refused():
    arm, still = zv.robots.two_link(), np.zeros(2)
    estimator = OnlineEstimator(arm, friction=None, noise=0.1, forgetting=0.2)
    state = estimator.start()
    with pytest.raises(ValueError, match="do not update while nothing moves"):
        for _ in range(2000):
            state = estimator.update(state, still, still, still, still)
    for ask in (estimator.values, estimator.deviations):
        with pytest.raises(ValueError, match="state knows nothing about some parameters"):
            ask(np.zeros(estimator.size))
    one = OnlineEstimator(arm, friction=[zv.identification.Coulomb(joints=["lower_joint"])])
    assert "Fc2" in one.names and "Fc1" not in one.names


def test_the_online_estimator_is_c(tmp_path):
    estimator = OnlineEstimator(zv.robots.two_link(), friction="viscous,coulomb", noise=0.1, forgetting=0.99)
    estimator.save(tmp_path)
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, *map(str, tmp_path.glob("*.c")), "-lm", "-o", str(tmp_path / "test")], check=True)
    assert "passed" in subprocess.run([str(tmp_path / "test")], capture_output=True, text=True, check=True).stdout


def test_truth_is_what_the_model_says():
    arm = zv.robots.puma560()
    fit = quiet(arm, log_of(arm), friction=None)
    assert np.allclose(truth(fit), arm.base_parameters().values, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("cutoff", [2.0, 10.0])
def test_spectra_of_residuals_are_those_of_the_noise(cutoff):
    """White noise of a known size behind the filter, whatever the pieces are that a log is read in."""
    arm = zv.robots.two_link()
    log = log_of(arm, 0.0, m=12000, step=0.002, size=0.3)
    log["tau"] = log["tau"] + 0.5 * np.random.default_rng(0).normal(size=log["tau"].shape)
    fit = quiet(arm, {key: log[key] for key in ("t", "q", "tau")}, friction=None, cutoff=cutoff, validation=0.0)
    r = fit.residuals
    low = (r.frequency > 0.1 * cutoff) & (r.frequency < 0.6 * cutoff)
    assert low.sum() > 2
    assert r.spectrum[low].mean() == pytest.approx(2 * 0.5**2 * 0.002, rel=0.35)
