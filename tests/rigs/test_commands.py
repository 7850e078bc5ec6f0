"""``zveno rig``, and the time of steps."""

import json
import sys

import numpy as np
import pytest
import zveno as zv
from typer.testing import CliRunner
from zveno import docking
from zveno.cli import app, main

ONE_AXIS = ("--mass", "100", "--stiffness", "1e4", "--damping", "100")


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder, 80 columns wide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return lambda *arguments: CliRunner().invoke(app, ["rig", *map(str, arguments)])


def test_margin_says_in_a_sentence_what_is_and_what_to_change(run):
    done = run("margin", *ONE_AXIS, "--delay", "12e-3")
    text = " ".join(done.stdout.split())
    assert done.exit_code == 0
    assert text.startswith("Unstable: the loop has 12 ms of delay and bears 9.97 ms only")
    assert "For twice the delay: a lead F + T F' of T >=" in text
    assert max(map(len, done.stdout.splitlines())) <= 80
    done = run("margin", *ONE_AXIS, "--delay", "12e-3", "--damper", "200")
    assert done.stdout.startswith("Stable: the loop has 12 ms of delay")


def test_margin_gives_numbers_and_a_map(run, tmp_path):
    elements = ("--lag", "2e-3", "--robot", "200,0.7", "--delay", "0.5e-3", "--period", "1e-3")
    done = run("margin", *ONE_AXIS, *elements, "--json")
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    exact = zv.rigs.delay_margin(100, 1e4, 100, lag=2e-3, robot=(200, 0.7))
    assert data["margin"]["delay"] == exact.delay and data["stable"] is True
    done = run("margin", *ONE_AXIS, "--plot", "map.png", "--over", "stiffness,damping")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"


def test_margin_of_a_ring_is_that_of_the_table(run):
    given = ("--law", "400,80", "--stiffness", "4e4", "--json")
    data = json.loads(run("margin", "docking_ring:UPS", *given).stdout)
    assert data["margin"]["delay"] == pytest.approx(0.00189590393, rel=1e-8)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("margin",), "--mass is missing"),
        (("margin", "--mass", "1"), "--stiffness is missing"),
        (("margin", "--mass", "-1", "--stiffness", "1"), "mass is -1, expected a number > 0"),
        (("margin", *ONE_AXIS, "--robot", "3"), "--robot is '3', expected frequency and damping ratio"),
        (("margin", *ONE_AXIS, "--lag", "x"), "--lag is 'x', expected times"),
        (("margin", *ONE_AXIS, "--law", "1,1"), "--law is given, but no ring"),
        (("margin", *ONE_AXIS, "--plot", "map.png", "--over", "mass,colour"), "over is ['mass', 'colour']"),
        (("margin", "puma560", "--stiffness", "1"), "puma560 is a chain, expected a docking ring"),
        (("margin", "--mass", "1", "--stiffness", "1", "--lead", "-1"), "--lead is -1, expected a number >= 0"),
        (
            ("margin", "--mass", "1", "--stiffness", "1", "--plot", "x.docx"),
            "--plot is 'x.docx', expected a name ending in",
        ),
        (("measure", "two_link", "--pace", "1e9"), "pace is 1e+09, expected at most 10 s"),
        (("measure", "two_link", "--deadline", "1e9"), "deadline is 1e+09, expected at most 1e+06 s"),
        (("margin", "docking_ring:UPS", "--law", "1,1"), "--stiffness is missing, that of the ring's face"),
        (("margin", *ONE_AXIS, "--over", "mass,stiffness"), "--over is given, but no --plot"),
        (
            ("margin", "docking_ring:UPS", "--stiffness", "1", "--predict", "1"),
            "--predict is given, but a ring has six",
        ),
        (("margin", "docking_ring:UPS", "--stiffness", "1", "--damper", "1"), "--damper is given, but a ring has six"),
        (("margin", "docking_ring:UPS", "--law", "-1,1", "--stiffness", "1"), "stiffness is -1"),
        (("measure", "two_link", "--steps", "0"), "steps is 0, expected an integer from 1"),
        (("measure", "two_link", "--pace", "-1"), "pace is -1, expected a number >= 0"),
        (("describe", "two_link", "--period", "-1"), "period is -1, expected a number > 0"),
    ],
)
def test_wrong_options_are_one_line_and_code_2(run, arguments, words):
    done = run(*arguments)
    assert done.exit_code == 2
    assert words in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")
def test_what_cannot_be_computed_read_or_written_is_one_line_and_code_1(run, tmp_path):
    arm, ring = zv.robots.two_link(), zv.mechanisms.docking_ring("RSU")
    zv.save_rig(arm, tmp_path / "fast.json", qd=[1e200, 1e200])
    zv.save_rig(ring, tmp_path / "far.json", r=[9, 0, 0], R=np.eye(3))
    (tmp_path / "deep.json").write_text("[" * 100000)
    for name in ("full.png", "full.json"):
        (tmp_path / name).symlink_to("/dev/full")
    for arguments, words in (
        (("margin", *ONE_AXIS, "--plot", "full.png"), "No space left on device"),
        (("measure", "two_link", "--steps", "10", "--out", "full.json"), "cannot write 'full.json': No space left"),
        (("measure", "fast.json", "--steps", "10"), "start: the mechanism gives results that are not finite"),
        (("describe", "fast.json"), "start: the mechanism gives results that are not finite"),
        (("measure", "deep.json", "--steps", "10"), "deep.json: "),
        (("describe", "deep.json"), "deep.json: "),
    ):
        done = run(*arguments)
        assert done.exit_code == 1
        assert words in done.stderr and done.stderr.count("\n") == 1
    for name, words in (
        ("fast.json", "not finite"),
        ("far.json", "leg 'leg1' cannot reach"),
        ("deep.json", "deep.json: is neither"),
    ):
        done = CliRunner().invoke(app, ["fmu", name, "-o", "x.fmu", "--platform", "source"])
        assert done.exit_code in (1, 2)
        assert words in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "x.fmu").exists()


def test_a_rig_file_of_a_ring_has_the_margin_of_its_laws(run, tmp_path):
    zv.save_rig(zv.mechanisms.docking_ring("UPS"), tmp_path / "ring.json", laws=zv.laws.SpringDamper(400.0, 80.0))
    data = json.loads(run("margin", "ring.json", "--stiffness", "4e4", "--json").stdout)
    assert data["margin"]["delay"] == pytest.approx(0.00189590393, rel=1e-8)


def test_warnings_about_the_model_of_a_rig_file_are_lines_of_their_own(run, tmp_path):
    zv.save_rig(zv.robots.puma560(), tmp_path / "arm.json")  # of a body that no real one is
    for command in (
        ["rig", "describe"],
        ["export", "-f", "step", "-o", "c"],
        ["fmu", "-o", "x.fmu", "--platform", "source"],
    ):
        done = CliRunner().invoke(app, [*command, "arm.json"])
        assert done.exit_code == 0, done.output
        assert done.stderr.startswith("Warning: Chain 'puma560': link 'link3'") and done.stderr.count("\n") == 1


def test_the_file_of_a_linkage_starts_closed_and_says_so_where_it_has_a_step(run, tmp_path):
    zv.mechanisms.four_bar().save(tmp_path / "bar.json")
    done = CliRunner().invoke(app, ["rig", "describe", "bar.json"])
    assert done.exit_code == 0
    assert "starts from the closed state found from zero coordinates; save_rig(q=...) gives another" in done.stderr
    done = CliRunner().invoke(app, ["export", "bar.json", "-f", "step", "-o", "c"])
    assert done.exit_code == 2
    assert "is a linkage or a docking, expected a chain or a hexapod: `zveno fmu` exports it" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--float"], "--float is given, which --function step does not have"),
        (["--batch", "8"], "--batch is given, which --function step does not have"),
        (["--level", "fast"], "level is 'fast', expected 'strict' or 'algebraic'"),
        (["--outputs", "q,speed"], "outputs names 'speed', expected some of q, qd, qdd, base_wrench, energy"),
        (["--link", "link2"], "--link is given, which --function step does not have"),
        (["-f", "bias"], "--function step is exported alone"),
    ],
)
def test_an_exported_step_refuses_what_it_does_not_have(run, tmp_path, options, words):
    done = CliRunner().invoke(app, ["export", "two_link", "-f", "step", "-o", "c", *options])
    assert done.exit_code == 2
    assert words in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "c").exists()


def test_outputs_and_level_of_steps_and_fmus_are_chosen(run, tmp_path):
    options = ["--outputs", "q,energy", "--level", "algebraic"]
    done = CliRunner().invoke(app, ["export", "two_link", "-f", "step", "-o", "c", *options])
    assert done.exit_code == 0, done.output
    assert "_OUTPUTS 3" in next((tmp_path / "c").glob("*_step.h")).read_text()
    done = CliRunner().invoke(app, ["fmu", "two_link", "-o", "arm.fmu", "--platform", "source", *options])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["rig", "describe", "docking_ring:UPS", "--outputs", "stroke,ring.twist", "--json"])
    assert [x["name"] for x in json.loads(done.stdout)["outputs"]] == ["ring.twist", "stroke"]
    done = CliRunner().invoke(app, ["rig", "measure", "docking_ring:UPS", "--outputs", "stroke", "--steps", "1000"])
    assert done.exit_code == 0, done.output
    done = CliRunner().invoke(app, ["fmu", "two_link", "-o", "arm.fmu", "--outputs", "stroke"])
    assert done.exit_code == 2 and "outputs names 'stroke'" in done.stderr and done.stderr.count("\n") == 1


def test_measure_writes_a_report_with_the_machine(run, tmp_path):
    zv.save_rig(zv.robots.two_link(), tmp_path / "arm.json", period=2e-3)
    done = run("measure", "arm.json", "--steps", "2000", "--fifo", "--out", "report.json", "--plot", "steps.png")
    assert done.exit_code == 0, done.output
    runs = json.loads((tmp_path / "report.json").read_text())["runs"]
    assert [one["steps"] for one in runs] == [2000, 2000]
    assert runs[0]["deadline"] == 2e-3 and runs[0]["machine"]["cpu"]
    assert runs[1]["realtime"] != "not asked for"
    assert sum(count for _, count in runs[0]["counts"]) == 2000
    assert (tmp_path / "steps.png").exists()
    assert "page faults" in done.stdout


def test_describe_lists_places_and_units(run):
    data = json.loads(run("describe", "docking_ring:RSU", "--json").stdout)
    places = {item["name"]: (item["offset"], item["size"], item["unit"]) for item in data["outputs"]}
    assert places["ring.position"] == (0, 3, "m") and places["ring.quaternion"] == (3, 4, "1")
    assert "wrench" in run("describe", "docking_ring:RSU").stdout


def test_a_scenario_of_a_docking_is_measured_described_and_exported(run, tmp_path):
    docking.demo("UPS", "aligned").save(tmp_path / "s.toml")
    done = run("measure", "s.toml", "--steps", "2000", "--period", "2e-3", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["runs"][0]["failures"] == 0
    done = run("describe", "s.toml", "--json")
    assert [x["name"] for x in json.loads(done.stdout)["inputs"]][-1] == "phase_command"
    done = CliRunner().invoke(app, ["fmu", "s.toml", "-o", "none/s.fmu"])
    assert done.exit_code == 1
    assert "there is no folder" in " ".join(done.output.split())
    done = run("measure", "t.toml")
    assert (done.exit_code, "cannot read 't.toml'" in done.output) == (1, True)
    (tmp_path / "t.toml").write_text("[chaser]\nmas = 1\n")
    done = run("measure", "t.toml")
    assert done.exit_code == 1
    assert "t.toml" in done.output


def test_rig_alone_shows_its_commands(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["zveno", "rig"])
    with pytest.raises(SystemExit):
        main()
    shown = capsys.readouterr()
    assert "margin" in shown.out and "zveno: " not in shown.err


# ---- in Python --------------------------------------------------------------------------------------------------


def test_percentiles_of_steps_rise_and_the_stepper_is_left_as_it_was():
    stepper = zv.Stepper(zv.mechanisms.docking_ring("UPS"), laws=zv.laws.SpringDamper(400.0, 80.0))
    stepper.step(wrench=[5.0, 0, 0, 0, 0, 0])
    before = stepper.state
    found = zv.rigs.measure(stepper, steps=3000, warm_up=100)
    assert stepper.state.tobytes() == before.tobytes()
    values = list(found.microseconds.values())
    assert values == sorted(values) and values[0] > 0.05
    assert found.counts.sum() == 3000 and found.failures == 0 and found.late_microseconds == {}


def test_paced_steps_begin_after_their_time():
    found = zv.rigs.measure(zv.robots.two_link(), steps=60, warm_up=10, pace=1e-3, period=1e-3)
    assert found.late_counts.sum() == 60 and found.deadline == 1e-3
    assert found.late_microseconds["p50"] > 0
    assert "late start" in str(found)


def test_bins_are_a_32nd_of_an_octave_wide():
    found = zv.rigs.measure(zv.robots.two_link(), steps=500, warm_up=10)
    top = np.flatnonzero(found.counts)[-1]
    assert 2 ** (top / 32) <= 1e3 * found.microseconds["max"] * 1.001 <= 2 ** ((top + 1) / 32) * 1.01


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"steps": 0}, "steps is 0"),
        ({"warm_up": -1}, "warm_up is -1"),
        ({"deadline": 0}, "deadline is 0"),
        ({"realtime": 3}, "realtime is 3"),
    ],
)
def test_wrong_numbers_of_measure_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        zv.rigs.measure(zv.robots.two_link(), **given)


def test_measure_refuses_what_it_cannot_step():
    with pytest.raises(TypeError, match="model is 3, expected a Chain"):
        zv.rigs.measure(3)
    with pytest.raises(ValueError, match="laws is given, but the model is a Stepper"):
        zv.rigs.measure(zv.Stepper(zv.robots.two_link()), laws=None)
    with pytest.raises(ValueError, match=r"rigs\.measure: period is -1"):
        zv.rigs.measure(zv.robots.two_link(), period=-1)
