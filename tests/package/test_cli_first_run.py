"""What a stranger meets first: no arguments, demo, doctor, every kind of model, a full disk, a narrow terminal."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import preloaded
import pytest
import typer
import zveno as zv
from typer.testing import CliRunner
from zveno import versions
from zveno.cli import app

ROOT = Path(__file__).parents[2]
MODELS = ["two_link", "puma560", "docking_ring:UPS", "docking_ring:RSU"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder, 80 columns wide."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return lambda *arguments: CliRunner().invoke(app, [str(a) for a in arguments])


def start(*arguments, stdout=None, **environment):
    return preloaded.run(
        *arguments, module="zveno", stdout=stdout, environment={**os.environ, "COLUMNS": "80", **environment}
    )


def narrow(text):
    assert max(map(len, text.splitlines())) <= 80, text
    return text


def on_a_terminal(*arguments, columns=80, **environment):
    """What a person sees: stdout and stderr of the command on a terminal."""
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color", **environment}
    return preloaded.on_a_terminal(*arguments, module="zveno", environment=env)


def test_without_arguments_it_says_what_one_can_do_next():
    command = [sys.executable, "-m", "zveno"]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"}, check=True)
    for command in ("demo", "info", "export", "bench", "doctor", "--help"):
        assert f"zveno {command}" in narrow(result.stdout)


def commands(group=None, before=()):
    """All commands with those of their groups."""
    group = group or typer.main.get_command(app)
    for name, command in getattr(group, "commands", {}).items():
        yield (*before, name)
        yield from commands(command, (*before, name))


@pytest.mark.parametrize("command", [(), *commands()], ids=" ".join)
def test_help_fits_80_columns_and_tells_of_completion(run, command):
    text = narrow(run(*command, "--help").output)
    if not command:
        assert "--install-completion" in text


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("zveno do", ["doctor", "dock"]),
        ("zveno info pu", ["puma560"]),
        ("zveno info arm", ["arm.urdf"]),
        ("zveno export puma560 -f inverse_d", ["inverse_dynamics"]),
    ],
)
def test_tab_completes_commands_models_and_functions(tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    for name in ("arm.urdf", "arm.txt"):
        (tmp_path / name).write_text("")
    result = start(_ZVENO_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert result.stdout.split() == expected


# short sleeps: a signal that comes just before one is heard after it
LONG = """
import sys, time
from zveno.bench import mass_matrix
from zveno.cli import main
mass_matrix.run = lambda *a, **k: (print("ready", flush=True), [time.sleep(0.01) for _ in range(6000)])
sys.argv = ["zveno", "bench"]
main()
"""


def test_ctrl_c_is_one_line():
    def listen():  # a test may run where SIGINT is ignored
        signal.signal(signal.SIGINT, signal.default_int_handler)

    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", LONG], preexec_fn=listen, **pipes)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "zveno: interrupted\n")


class Page(HTMLParser):
    """Collects what a page refers to, and its text."""

    def __init__(self, text):
        super().__init__()
        self.references, self.images, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.references += [value for key, value in attrs if key in ("src", "href") and not value.startswith("#")]
        self.images += [value for key, value in attrs if tag == "img" and key == "src"]

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.slow
def test_demo_leaves_one_page_that_needs_nothing_else(run, tmp_path):
    result = run("demo", "-o", "seen.html")
    assert result.exit_code == 0, result.output
    assert narrow(result.output).splitlines()[-1] == "seen.html"
    assert [path.name for path in tmp_path.iterdir()] == ["seen.html"]
    page = Page((tmp_path / "seen.html").read_text())
    assert all(reference.startswith("data:") for reference in page.references)
    pictures = [base64.b64decode(image.partition("base64,")[2]) for image in page.images]
    assert len(pictures) == 3
    assert all(b"<svg" in picture and len(picture) > 10_000 for picture in pictures)
    text = "".join(page.words)
    for words in ("ring.simulate(", "arm.compile(", "force on the base", "kernel as written", "This machine"):
        assert words in text
    refused = run("demo", "-o", "seen.html")
    assert refused.exit_code == 1
    assert "--force" in refused.stderr


@pytest.mark.slow
def test_code_of_the_demo_runs_as_it_stands_on_the_page(run, tmp_path):
    from zveno.cli.jobs import JOBS
    from zveno.cli.page import source_of

    for job in JOBS:
        done = subprocess.run([sys.executable, "-W", "error", "-c", source_of(job.run)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_demo_without_extras_says_what_is_left_out(run, monkeypatch, tmp_path):
    monkeypatch.setattr(sys.modules["zveno.cli.demo"], "find_spec", lambda name: None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    result = run("demo")
    assert result.exit_code == 0, result.output
    (page,) = tmp_path.iterdir()
    assert result.output.splitlines()[-1] == str(page)
    text = page.read_text()
    assert "zveno[jit]" in text
    assert "zveno[plot]" in text
    assert text.count("<img") == 1  # the moving picture, which needs nothing


@pytest.mark.parametrize("target", ["", "a.txt", "missing/a.html"])
def test_demo_refuses_a_wrong_target_before_it_works(run, target, tmp_path):
    result = run("demo", "-o", target)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_doctor_shows_versions_threads_extras_and_compiler(run, capsys):
    text = narrow(run("doctor").output)
    zv.show_versions()
    assert capsys.readouterr().out == text
    for words in (f"zveno {zv.__version__}", "numpy", "instructions", "threads", "C compiler", "Extras", "jit"):
        assert words in text
    data = json.loads(run("doctor", "--json").output)
    assert data["instructions"]["selected"] == zv.cpu_features()["selected"]
    assert data["threads"]["used"] >= 1


def test_doctor_knows_what_every_extra_of_a_user_brings():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    brought = {extra: tuple(re.split("[<>=]", need)[0] for need in needs) for extra, needs in extras.items()}
    for extra in ("all", "test", "docs", "bench", "lint"):  # of extras, of developers
        del brought[extra]
    assert brought == {extra: parts for extra, parts in versions.EXTRAS.items() if extra != "bench"}
    assert list(versions.versions()["extras"]) == list(versions.EXTRAS)


def test_doctor_names_the_command_for_a_missing_extra(monkeypatch):
    known = versions._version
    monkeypatch.setattr(versions, "_version", lambda name: None if name == "llvmlite" else known(name))
    found = versions.versions()
    assert found["extras"]["jit"]["missing"] == ["llvmlite"]
    lines = [line.strip() for line in versions.report(found)]
    assert lines[lines.index("missing: llvmlite") + 1] == 'pip install "zveno[jit]"'


@pytest.mark.parametrize(
    ("available", "lanes", "said"),
    [
        (["baseline"], 2, True),
        (["avx2", "baseline"], 4, True),
        (["avx512", "baseline"], 8, False),
        (["baseline"], 8, False),
    ],
)
def test_doctor_says_when_the_processor_could_do_more_than_the_installation(available, lanes, said):
    found = versions.versions()
    found["instructions"].update(
        available=available, selected=available[0], lanes=lanes, processor=["avx512", "avx2", "baseline"]
    )
    text = "\n".join(versions.report(found))
    assert ("no kernels for avx512" in text) == said == ("-Ccmake.define.ZVENO_ALL_ISAS=ON" in text)
    assert all(len(line) <= 80 for line in text.splitlines() if "kernels" in line or "ALL_ISAS" in line)


def test_doctor_works_without_the_extra_that_the_other_commands_need(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['typer'] = None\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "zveno", "doctor"]
    env = {**os.environ, "PYTHONPATH": path}
    result = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    assert "instructions" in result.stdout
    assert 'pip install "zveno[cli]"' in result.stderr


def test_doctor_says_where_the_number_of_threads_comes_from(monkeypatch):
    limits = {"processors": 64.0, "control group": 1.5, "SLURM_CPUS_PER_TASK": 3.0}
    monkeypatch.setattr(zv._core, "thread_limits", lambda: limits, raising=False)
    found = versions.versions()
    assert found["threads"] == {"used": 2, "source": "control group", "limits": limits}
    text = "\n".join(versions.report(found))
    for words in ("2 with threads=0, the quota of the container", "SLURM_CPUS_PER_TASK): 3", "machine: 64"):
        assert words in text
    assert "no quota" not in text
    monkeypatch.setattr(zv._core, "thread_limits", lambda: {"processors": 4.0}, raising=False)
    assert "no quota" in "\n".join(versions.report(versions.versions()))


def test_import_of_the_package_stays_light():
    code = "import sys, zveno; print([m for m in ('subprocess', 'importlib.metadata', 'typer') if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize("name", MODELS)
def test_info_of_every_model_by_name_and_from_our_json(run, tmp_path, name):
    shown = run("info", name)
    assert shown.exit_code == 0, shown.output
    narrow(shown.output)
    kind, _, legs = name.partition(":")
    model = zv.mechanisms.docking_ring(legs) if legs else getattr(zv.robots, kind)()
    (tmp_path / "model.json").write_text(json.dumps(model.to_dict()))
    saved, built_in = (json.loads(run("info", x, "--json").output) for x in ("model.json", name))
    for data in (saved, built_in):
        data.pop("warnings")  # built-in models are not suspected
    assert saved == built_in
    assert saved["name"] == model.name


@pytest.mark.parametrize("name", ["four_bar", "delta_robot", "excavator"])
def test_info_of_a_closed_mechanism_shows_constraints_and_the_open_chain(run, tmp_path, name):
    linkage = getattr(zv.mechanisms, name)()
    linkage.save(tmp_path / "model.json")
    shown = narrow(run("info", "model.json").output)
    data = json.loads(run("info", "model.json", "--json").output)
    assert data["kind"] == "linkage" and data["n"] == linkage.n
    assert sum(len(row["equations"]) for row in data["constraints"]) == linkage.m
    for row in data["constraints"]:
        assert row["kind"] in shown
    refused = run("export", "model.json", "-f", "bias", "-o", "code")
    assert refused.exit_code == 2 and "--function is 'bias'; did you mean 'constraint_bias'?" in refused.stderr


def test_commands_take_closed_mechanisms_and_scenarios(run, tmp_path):
    zv.mechanisms.four_bar().save(tmp_path / "linkage.json")
    made = run("export", "linkage.json", "-f", "forward_dynamics", "-f", "residual", "-o", "code")
    assert made.exit_code == 0, made.output
    assert {path.name for path in (tmp_path / "code").iterdir()} >= {"four_bar.c", "four_bar.h", "four_bar_test.c"}
    zv.docking.demo().save(tmp_path / "scenario.json")
    for model, words in (("linkage.json", "base_wrench"), ("scenario.json", "phase_command")):
        shown = run("rig", "describe", model)
        assert shown.exit_code == 0 and words in shown.output, shown.output
        written = run("fmu", model, "-o", f"{model}.fmu", "--platform", "source")
        assert written.exit_code == 0, written.output
    refused = run("rig", "margin", "linkage.json", "--stiffness", "4e5")
    assert refused.exit_code == 2 and "linkage.json is a linkage, expected a docking ring" in refused.stderr
    refused = run("identify", "linkage.json", "log.csv", "-o", "report")
    assert refused.exit_code == 1 and "is a linkage, expected a chain or a hexapod" in refused.stderr
    refused = run("dock", "linkage.json")
    assert refused.exit_code == 2
    assert refused.stderr == "zveno dock: linkage.json has the format 'zveno.linkage', a scenario has none\n"


@pytest.mark.parametrize("command", [("margin", "--mass", 1, "--stiffness", 1), ("measure", "two_link")])
def test_figures_of_rigs_are_refused_before_the_work(run, tmp_path, command, monkeypatch):
    refused = run("rig", *command, "--plot", "map.txt")
    assert refused.exit_code == 2
    assert refused.stderr == (
        f"zveno rig {command[0]}: --plot is 'map.txt', expected a name ending in .jpeg, .jpg, .pdf, .png, .svg\n"
    )
    monkeypatch.setattr("zveno.cli.output.find_spec", lambda name: None)
    refused = run("rig", *command, "--plot", "map.png")
    assert refused.exit_code == 2 and 'pip install "zveno[plot]"' in refused.stderr
    assert not list(tmp_path.iterdir())


def test_wrong_words_are_answered_once(run, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "log.csv").write_text("t,q1,q2,tau1,tau2\n" + "".join(f"{k}e-3,0,0,0,0\n" for k in range(9)))
    for arguments, message in (
        (("export", "two_link", "-f", "biass", "-o", "a"), "export: --function is 'biass'; did you mean 'bias'?"),
        (("export", "two_link", "-f", "step", "-f", "bias", "-o", "a"), "export: --function step is exported alone"),
        (("export", "two_link", "-o", "file"), "export: cannot write 'file': not a directory"),
        (("identify", "two_link", "log.csv", "-o", "b", "--friction", "dry"), "identify: friction has 'dry', expected"),
    ):
        refused = run(*arguments)
        assert refused.exit_code in (1, 2) and refused.stderr.startswith(f"zveno {message}"), refused.stderr


def test_info_shows_no_rounding_of_zero(run):
    assert "e-1" not in run("info", "docking_ring:UPS").output


def test_info_of_a_ring_shows_legs_limits_and_the_nominal_pose(run):
    text = run("info", "docking_ring:UPS").output
    for words in ("six legs (UPS)", "ring 45 kg, legs 39 kg", "r = (0.38, 0, 0) m", "-0.13 .. 0.15 m", "leg6"):
        assert words in text
    data = json.loads(run("info", "docking_ring:RUS", "--json").output)
    assert data["units"] == ["rad"] * 6
    assert data["nominal"]["condition"] > 1
    assert data["operations"]["forward_dynamics"]["total"] == zv.mechanisms.docking_ring("RUS").operations().total


def test_export_of_a_ring_gives_its_forward_dynamics_unless_told_otherwise(run, tmp_path):
    assert run("export", "docking_ring:UPS", "-o", "a").exit_code == 0
    assert (tmp_path / "a" / "docking_ring_ups_forward_dynamics.h").exists()
    result = run("export", "docking_ring:UPS", "-f", "closure", "-f", "jacobian", "-o", "b", "--name", "my rig")
    assert result.exit_code == 0, result.output
    header = (tmp_path / "b" / "my_rig.h").read_text()
    for words in ("docking_ring_ups_closure(", "docking_ring_ups_jacobian(", "int my_rig_ok("):
        assert words in header


def test_export_shares_options_among_the_functions_that_take_them(run, tmp_path):
    options = ["-f", "inverse_dynamics", "-f", "jacobian", "--link", "tip", "--point", "0,0,-0.1", "--external", "tip"]
    result = run("export", "two_link", *options, "-o", "a")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "a" / "README.md").read_text()
    assert "external_tip" in text
    assert "| point | 0.0, 0.0, -0.1 |" in text
    assert result.output.count("kernel as written") == 2


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full, a device that is always full, is one of Linux")
@pytest.mark.parametrize("command", [("info", "two_link"), ("info", "two_link", "--json"), ("doctor",), ()])
def test_a_full_disk_is_one_line(command):
    with open("/dev/full", "w") as full:
        result = start(*command, stdout=full)
    assert result.returncode == 1
    assert result.stderr == "zveno: cannot write: No space left on device\n"


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m zveno info puma560 | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (result.stdout.count("\n"), result.stderr) == (1, "")


def test_errors_on_a_terminal_are_broken_between_words():
    code, text = on_a_terminal("export", "two_link", "-o", "never", "-f", "dance")
    assert code == 2
    lines = text.splitlines()
    assert len(lines) > 1
    narrow(text)
    words = {row["name"] for row in zv._core.functions("chain")}
    assert words <= set(re.findall(r"\w+", text))


def test_colour_can_be_switched_off():
    assert "\x1b[" in on_a_terminal("info", "two_link")[1]
    for arguments, environment in ((["--no-color"], {}), ([], {"NO_COLOR": "1"}), ([], {"TERM": "dumb"})):
        assert "\x1b[" not in on_a_terminal("info", "two_link", *arguments, **environment)[1]


def test_an_unknown_command_names_the_nearest():
    result = start("inf")
    assert result.returncode == 2
    assert "info" in result.stderr
    assert result.stderr.count("\n") == 1
