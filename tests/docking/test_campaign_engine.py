"""Campaigns of dockings by the engine: rows of the table are runs, whoever made them; commands and reports of them."""

import json
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from helpers import environment
from typer.testing import CliRunner
from zveno import docking
from zveno.cli.dock import app

UPS = docking.demo("UPS")
SHORT = {"after": 0.1}
# seed 2026, runs 0-2, 2 ms, 1 s after capture: gap, t_contact, t_capture, axial, shear, torsion, latch, stroke_min
EXPECTED = [
    (0.07797726, 0.1180145, 1.6584218, 462.9520, 159.7522, 96.5379, 171.707, -0.081517),
    (0.10707438, 0.0460855, 1.6131591, 777.8661, 336.7001, 188.3807, 244.175, -0.134483),
    (0.11110094, 0.0514785, 1.8725382, 1247.4664, 528.7180, 448.8318, 568.017, -0.139572),
]
NAMES = ("gap", "t_contact", "t_capture", "axial", "shear", "torsion", "latch", "stroke_min")


@pytest.fixture(scope="module")
def three():
    return docking.campaign(UPS, n=3, threads=1)


def same(a, b):
    return list(a) == list(b) and all(
        np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a
    )


def test_first_runs_are_the_published_ones(three):
    for name, column in zip(NAMES, np.transpose(EXPECTED), strict=True):
        np.testing.assert_allclose(three.table[name], column, rtol=4e-6, atol=6e-7, err_msg=name)
    assert list(three.table["status"]) == ["captured"] * 3
    assert (three.table["dt"] == 2e-3).all()
    assert (np.abs(three.table["energy_error"]) < 1.8e-5).all()
    # bending and leg forces of the second and third run; peaks of the first are at jumps
    np.testing.assert_allclose(three.table["bending"][1:], (187.3990, 423.4349), rtol=2e-6)
    np.testing.assert_allclose(three.table["leg"][1:], (608.990, 1098.049), rtol=2e-6)


def test_run_again_is_the_same_to_the_last_bit(three):
    for i in (2, 0):
        run = three.rerun(i)
        for name in ("t_contact", "t_capture", "stroke_min", "stroke_max", "energy_error", "penetration", "dt"):
            assert getattr(run, name) == three.table[name][i], name
        for name, value in run.peak._asdict().items():
            assert value == three.table[name][i], name


def test_table_does_not_depend_on_threads_or_store(tmp_path):
    one = docking.campaign(UPS, n=5, threads=1, **SHORT)
    two = docking.campaign(UPS, n=5, threads=3, store=tmp_path, chunk=2, **SHORT)
    assert same(one.table, two.table)
    assert same(docking.Campaign.load(tmp_path).table, one.table)


def test_uncertain_parameters_are_those_of_a_changed_scenario():
    box = docking.Box.idss(
        uncertain={
            "contact.friction": (0.05, 0.15),
            "latches.lateral_gap": docking.Normal(0.02, 0.002),
            "station.body.mass": docking.Uniform(0.8, 1.2, relative=True),
            "leg_force": (0.9, 1.1),
        }
    )
    found = docking.campaign(UPS, n=2, box=box, threads=1, **SHORT)
    plain = docking.campaign(UPS, n=2, threads=1, **SHORT)
    assert np.array_equal(found.table["offset_y"], plain.table["offset_y"])  # further numbers of the same stream
    assert not np.array_equal(found.table["shear"], plain.table["shear"])
    for i in range(2):
        scenario = found.scenario_of(i)
        assert scenario.contact.friction == found.table["contact.friction"][i]
        assert scenario.station.body.mass == 350e3 * found.table["station.body.mass"][i]
        assert scenario.latches.lateral_gap == found.table["latches.lateral_gap"][i]
        assert found.rerun(i).peak.shear == found.table["shear"][i]
    with pytest.raises(ValueError, match="rerun: i is 2, expected an integer from 0 to 1"):
        found.rerun(2)
    own = "one by one  every run has a scenario of its own (contact.friction, latches.lateral_gap, station.body.mass)"
    assert own in str(found)
    assert "one by one" not in str(plain)


def test_parameters_that_cannot_be_are_results_with_a_status():
    box = docking.Box.idss(uncertain={"contact.friction": (-0.2, 0.3)})
    found = docking.campaign(UPS, n=6, box=box, threads=1, **SHORT)
    negative = found.table["contact.friction"] < 0
    assert 0 < negative.sum() < 6
    assert np.array_equal(found.table["status"] == "invalid", negative)
    assert found.failures == {"invalid": negative.sum()}
    assert np.isnan(found.table["shear"][negative]).all()


def test_contact_out_of_range_is_a_status_and_counted():
    soft = UPS.replace(contact=docking.Contact(edge_stiffness=5e3, side_stiffness=5e3, face_stiffness=5e3))
    found = docking.campaign(soft, n=3, threads=1, **SHORT)
    assert found.failures.get("contact_range", 0) > 0
    assert found.capture_probability.runs == 3


def test_cases_are_run_as_they_are(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("closing;offset_y;offset_z;pitch_deg;yaw_deg;roll_deg\n0.08;0;0;0;0;0\n0.1;0.05;0.02;2;1.5;2\n")
    cases = docking.Cases.from_csv(path)
    found = docking.campaign(UPS, box=cases, threads=1, store=tmp_path / "out", **SHORT)
    assert (found.n, found.design) == (2, "cases")
    assert found.scenario_of(1).conditions.tilt == pytest.approx(np.radians([2, 1.5]))
    assert docking.Campaign.load(tmp_path / "out").box == cases
    with pytest.raises(ValueError, match="n is 3, but the box has 2 cases"):
        docking.campaign(UPS, n=3, box=cases)
    with pytest.raises(ValueError, match="design is 'latin', but cases are run as they are"):
        docking.campaign(UPS, box=cases, design="latin")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("closing,offsett\n1,2\n", "unknown column 'offsett'; did you mean 'offset"),
        ("closing,roll\n1\n", "line 2 has 1 cells, the first has 2"),
        ("closing\nfast\n", "line 2 has closing = 'fast', expected a number"),
        ("roll\n1\n", "the column 'closing' is missing"),
        ("closing,closing\n1,1\n", "expected different names of columns"),
        ("closing\n0\n", "closing has numbers that are not > 0"),
        ("closing,roll,roll_deg\n1,1,1\n", "roll is given twice"),
    ],
)
def test_tables_that_are_no_cases_are_refused(text, complaint, tmp_path):
    (tmp_path / "cases.csv").write_text(text)
    with pytest.raises(ValueError, match=complaint):
        docking.Cases.from_csv(tmp_path / "cases.csv")


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"scenario": 3}, "campaign: scenario is 3, expected a docking.Scenario"),
        ({"n": 0}, "campaign: n is 0, expected an integer from 1"),
        ({"seed": -1}, "campaign: seed is -1, expected an integer from 0"),
        ({"box": 3}, r"campaign: box is 3, expected a docking\.Box or docking\.Cases"),
        ({"design": "best"}, "campaign: design is 'best', expected 'random'"),
        ({"dt": "fast"}, "campaign: dt is 'fast', expected a number > 0 or 'auto'"),
        ({"dt": 0}, "campaign: dt is 0, expected a number > 0"),
        ({"t_end": -1}, "campaign: t_end is -1, expected a number > 0"),
        ({"box": {"closing": [0.1, 0.2], "uncertain": {"contakt.friction": (0, 1)}}}, "is no place in the scenario"),
        ({"box": {"closing": [0.1, 0.2], "uncertain": {"frictoin": (0, 1)}}}, "did you mean 'friction'"),
        (
            {"box": {"closing": [0.1, 0.2], "uncertain": {"conditions.roll": (0, 1)}}},
            "conditions are what the box draws",
        ),
        ({"box": {"closing": [0.1, 0.2], "uncertain": {"contact.frictoin": (0, 1)}}}, "unknown key 'frictoin'"),
    ],
)
def test_wrong_arguments_are_refused(keywords, text):
    with pytest.raises(ValueError, match=text):
        docking.campaign(**{"scenario": UPS, "n": 2} | keywords)


def test_step_that_is_too_long_is_refused_before_any_run(tmp_path):
    with pytest.raises(ValueError, match=r"dt is 0\.05 s, too large for the"):
        docking.campaign(UPS, n=2, dt=0.05, store=tmp_path / "out")
    assert not (tmp_path / "out").exists()


# ---- the report


def test_report_is_one_page_without_anything_outside_it(three, tmp_path):
    path = three.report(tmp_path / "report.html", histories=1)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert path == str(tmp_path / "report.html")
    assert not re.findall(r'(?:src|href)="(?!data:)[^"]*"', text)
    assert text.count("<img ") == 5  # too few runs for correlations
    for word in (
        "Clopper",
        "Wilson",
        "latches on the first",
        "by bending",
        "fingerprint",
        "[chaser.body]",
        "from_dict",
    ):
        assert word in text, word


def test_report_goes_only_where_it_can(three, tmp_path):
    with pytest.raises(ValueError, match=r"report: path is .*, expected a name that ends in '\.html'"):
        three.report(tmp_path / "report.txt")
    with pytest.raises(OSError, match=r"report: .* cannot be written"):
        three.report(tmp_path / "absent" / "report.html", histories=0)
    with pytest.raises(KeyError, match="no column 'bendin'; did you mean 'bending'"):
        three.report(tmp_path / "report.html", quantity="bendin", histories=1)


def test_figures_are_drawn(three):
    from matplotlib import pyplot as plt

    figure = three.plot()  # envelope, probability, loads, sensitivity
    figure.canvas.draw()
    assert len(figure.axes) >= 4 and all(axes.has_data() for axes in figure.axes[:4])
    plt.close(figure)


# ---- the command line


def call(*arguments):
    """Exit code and output of a command."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    return done.exit_code, done.output


def test_commands_from_a_scenario_to_the_report(tmp_path, monkeypatch):
    monkeypatch.setattr("zveno.docking.report.find_spec", lambda name: None)  # figures are another test's
    scenario, out = tmp_path / "s.toml", tmp_path / "out"
    code, said = call("--demo", "--case", "aligned", "--dt", "auto", "--t-end", 2.2, "--save", scenario)
    assert code == 0
    assert "capture 1.900000 s" in said
    code, said = call(scenario, "--dt", "auto", "--t-end", 2.2, "--json")
    assert code == 0
    assert {"time": 1.9, "name": "latch", "which": 2} in [
        e | {"time": round(e["time"], 6)} for e in json.loads(said)["events"]
    ]
    code, said = call("campaign", scenario, "-n", 4, "--store", out, "--after", 0.1, "--json")
    assert code == 0
    data = json.loads(said)
    assert data["outcomes"] == {"captured": 4, "not_captured": 0, "failed": 0}
    assert data["capture_probability"]["wilson"][1] == 1
    code, said = call("report", out, "--histories", 0)
    assert code == 0
    assert said.splitlines()[-1] == str(out / "report.html")
    assert "No figures: <code>pip install zveno[plot]" in (out / "report.html").read_text(encoding="utf-8")


def test_exit_codes_say_what_became_of_it(tmp_path):
    UPS.replace(latches=docking.Latches(enabled=False)).save(tmp_path / "open.toml")
    code, said = call(tmp_path / "open.toml", "--t-end", 0.5, "--json")
    assert code == 3
    assert json.loads(said)["status"] == "not_captured"
    (tmp_path / "bad.toml").write_text(UPS.to_toml() + "\n[contakt]\nfriction = 1\n")
    for arguments, text in (
        ((tmp_path / "bad.toml",), "unknown key 'contakt'; did you mean 'contact'"),
        ((tmp_path / "absent.toml",), "No such file"),
        ((), "Usage"),
        (("--demo", tmp_path / "open.toml"), "give a scenario, or --demo"),
        (("--demo", "--dt", "fast"), "--dt is 'fast'"),
        (("--demo", "--dt", "0.05"), "too large for the"),
        (("--demo", "--legs", "XYZ"), "XYZ"),
        (("--demo", "--plot", tmp_path / "x.doc"), "expected a name ending in"),
        (("--demo", "--animate", tmp_path / "x.doc"), "expected a name ending in .html or .svg"),
        (("campaign",), "give a scenario, or --demo"),
        (("campaign", "--demo", "-n", 0), "n is 0"),
        (("campaign", "--demo", "--part", "3"), "expected k/m"),
        (("campaign", "--demo", "--box", tmp_path / "absent.toml"), "No such file"),
        (("campaign", "--demo", "--design", "best"), "design is 'best'"),
        (("report", tmp_path), "holds no campaign"),
    ):
        code, said = call(*arguments)
        assert (code, text in said) == (0 if not arguments else 2, True), (arguments, said)
    docking.campaign(UPS, n=2, store=tmp_path / "out", threads=1, **SHORT)
    code, said = call("campaign", "--demo", "-n", 2, "--store", tmp_path / "out", "--after", 0.1)
    assert code == 2
    assert "--resume" in said
    assert call("campaign", "--demo", "-n", 2, "--store", tmp_path / "out", "--after", 0.1, "--resume")[0] == 0
    assert call("report", tmp_path / "out", "--by", "bendin")[0] == 2
    (tmp_path / "file").write_text("")
    assert call("campaign", "--demo", "-n", 2, "--store", tmp_path / "file")[0] == 1


def test_interrupted_command_keeps_its_chunks(tmp_path):
    command = [
        sys.executable,
        "-m",
        "zveno",
        "dock",
        "campaign",
        "--demo",
        "-n",
        "4000",
        "--store",
        "out",
        "--chunk",
        "4",
    ]
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while len(list((tmp_path / "out").glob("*.parquet"))) < 2:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    shown, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert said.strip().splitlines()[-1] == "zveno: interrupted"
    assert re.search(r"runs +\d+ of 4000", shown)
    assert len(docking.Campaign.load(tmp_path / "out")) >= 8
