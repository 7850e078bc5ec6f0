"""The rig of two programs over UDP: the same motion as in Python, and every fault of the line survived and counted."""

import json
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import zveno as zv
from zveno.deploy.library import c_library

EXAMPLE = Path(__file__).parents[2] / "examples" / "rig"
FAULTS = {"--lose": 0.01, "--late": 0.02, "--double": 0.02, "--corrupt": 0.02, "--foreign": 0.01}
LAW = zv.laws.SpringDamper(400.0, 80.0)

collect_ignore = [] if sys.platform == "linux" else ["test_loopback.py"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Programs, built as C11 without a warning, and the ring that they step."""
    folder = tmp_path_factory.mktemp("loopback")
    paths = c_library()
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    for name, use in (("engine", [paths.cflags, *paths.libs.split()]), ("facility", [])):
        subprocess.run(["cc", *flags, EXAMPLE / f"{name}.c", "-o", folder / name, *use, "-lm"], check=True)
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    subprocess.run(["cc", *flags, *sanitize, EXAMPLE / "fuzz_link.c", "-o", folder / "fuzz", "-lm"], check=True)
    ring = zv.mechanisms.docking_ring("UPS")
    zv.save_rig(ring, folder / "ring.json", period=1e-3, substeps=2, laws=LAW, u=[0.05, 0, 0, 0, 0, 0])
    return folder


def ports():
    """Two ports that nobody uses."""
    with socket.socket(type=socket.SOCK_DGRAM) as a, socket.socket(type=socket.SOCK_DGRAM) as b:
        a.bind(("127.0.0.1", 0))
        b.bind(("127.0.0.1", 0))
        return str(a.getsockname()[1]), str(b.getsockname()[1])


def rig(folder, facility, engine=(), steps=400, file="ring.json", during=None):
    """Exit code of the engine, what both have counted, log of the engine as an array."""
    one, two = ports()
    words = [str(word) for pair in facility.items() for word in pair if word is not None]
    other = subprocess.Popen(
        [folder / "facility", "--listen", two, "--send", one, *words], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout.readline() == "ready\n"
        log = folder / "log.csv"
        command = [folder / "engine", folder / file, "--listen", one, "--send", two, "--log", log, "--steps", steps]
        own = subprocess.Popen([str(word) for word in (*command, *engine)], stdout=subprocess.PIPE, text=True)
        if during is not None:
            during(own, int(one))
        out, _ = own.communicate(timeout=60)
        answer, _ = other.communicate(timeout=60)
    finally:
        other.kill()
    lines = np.loadtxt(log, delimiter=",", skiprows=1, ndmin=2)
    return own.returncode, json.loads(out.splitlines()[-1]), json.loads(answer.splitlines()[-1]), lines


def test_the_rig_of_two_programs_moves_as_the_loop_in_python(folder):
    k, tilt, delay, steps = 14702.65, 2500.0, 7, 300
    given = {"--delay": delay, "--stiffness": k, "--tilt": tilt, "--held": None, "--origin": "0.38"}
    code, counts, other, log = rig(folder, given, ["--lockstep"], steps)
    assert code == 0 and counts["held"] == 0 and other["commands"] == steps
    ring = zv.mechanisms.docking_ring("UPS")
    K1 = np.diag([k, 0, 0, 0, tilt, tilt])
    loop = zv.rigs.Rig.of_ring(ring, laws=LAW, contact=K1, delay=delay * 1e-3, period=1e-3, integrator="exact")
    plant = zv.rigs.RingPlant(ring, LAW, 1e-3, substeps=2)
    run = zv.rigs.simulate(loop, v=[0.05, 0, 0, 0, 0, 0], contact="held", plant=plant, t_end=steps * 1e-3)
    np.testing.assert_allclose(log[:, 3] - 0.38, run.x[1:, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(log[1:, 6], -run.force[1:steps, 0], rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("mode", [["--lockstep"], []], ids=["lockstep", "clock"])
def test_lost_late_doubled_and_corrupted_packets_are_survived_and_counted(folder, mode):
    given = {"--delay": 4, "--stiffness": 1.5e4, **FAULTS, "--seed": 3}
    code, counts, other, log = rig(folder, given, [*mode, "--timeout", "100"], 200)
    assert code == 0 and counts["steps"] == 200 and np.isfinite(log).all()
    assert min(other[key] for key in ("lost", "late", "duplicate", "corrupt", "foreign")) > 0
    for key in ("late", "duplicate", "corrupt", "foreign"):
        assert counts[key] == other[key]
    gaps = other["lost"] + other["corrupt"] + other["foreign"]  # the engine cannot tell what they were
    assert counts["lost"] == gaps
    assert counts["accepted"] == counts["steps"] - counts["lost"] - counts["late"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"--silent-after": 50}, "no measurement"),
        ({"--stop-at": 50}, "facility asked to stop"),
        ({"--stiffness": 1e8}, "the contact gives energy"),
    ],
)
def test_the_rig_stops_safely(folder, given, words):
    code, counts, other, log = rig(folder, {"--delay": 4, "--stiffness": 1e4, **given}, ["--timeout", "8"], 2000)
    assert code == 3 and counts["stopped"] == words
    assert other["stops"] == 20 and counts["steps"] < 2000
    assert (log[-20:, 3:6] == log[-20, 3:6]).all()  # where it is, at rest


def test_a_signal_stops_the_rig_safely(folder):
    def interrupt(engine, _):
        time.sleep(0.1)
        engine.send_signal(signal.SIGINT)

    given = {"--delay": 4, "--stiffness": 1e4}
    code, counts, other, _ = rig(folder, given, ["--timeout", "1000"], 20_000, during=interrupt)
    assert code == 3 and counts["stopped"] == "interrupted" and other["stops"] == 20


def test_numbers_that_are_not_finite_are_taken_for_corrupt(folder):
    code, counts, _, _ = rig(folder, {"--delay": 4, "--stiffness": 1e4, "--nan-at": 30}, ["--lockstep"], 60)
    assert code == 0 and counts["corrupt"] == 1 and counts["held"] == 1


def test_jumps_of_the_input_are_held_and_stop_the_rig(folder):
    ring = zv.mechanisms.docking_ring("UPS")
    options = {"laws": LAW, "u": [0.05, 0, 0, 0, 0, 0], "jump": {"wrench": 50.0}, "most_held": 5}
    zv.save_rig(ring, folder / "careful.json", **options)
    code, counts, other, _ = rig(folder, {"--delay": 4, "--stiffness": 3e6}, ["--lockstep"], 200, "careful.json")
    assert code == 3 and counts["refused"] > 0 and other["stops"] == 20
    assert "stopped" in counts["stopped"] or "refused" in counts["stopped"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "engine ring.json"),
        (["ring.json", "--steps", "0"], 2, "--steps is '0', expected a whole number from 1 to"),
        (["ring.json", "--what"], 2, "what is '--what'?"),
        (["ring.json", "--timeout"], 2, "what is '--timeout'? Or its value is missing."),
        (["ring.json", "--steps", "2000000000", "--log", "none/run.csv"], 1, "none/run.csv: No such file"),
        (["missing.json"], 1, "missing.json"),
        (["arm.json"], 1, "not a docking ring"),
        (["cut.json"], 1, "cut.json"),
    ],
)
def test_the_engine_refuses_bad_arguments_in_words(folder, arguments, code, words):
    zv.robots.two_link().save(folder / "arm.json")
    text = (folder / "ring.json").read_text()
    (folder / "cut.json").write_text(text[: len(text) // 2])
    done = subprocess.run([folder / "engine", *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code
    assert words in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--delay", "3.5"], "--delay is '3.5', expected a whole number from 0 to 4095"),
        (["--listen", "70000"], "--listen is '70000', expected a whole number from 1 to 65535"),
        (["--seed", "-4"], "--seed is '-4', expected a whole number from 0"),
        (["--lose", "2"], "--lose is '2', expected a number from 0 to 1"),
        (["--lose", "0.6", "--late", "0.6"], "add up to 1.2, expected at most 1"),
        (["--stiffness", "1e3x"], "--stiffness is '1e3x', expected a number from 0"),
        (["--stop-at"], "what is '--stop-at'? Or its value is missing."),
    ],
)
def test_the_facility_refuses_bad_arguments_in_words(folder, arguments, words):
    done = subprocess.run([folder / "facility", *arguments], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_stop_before_the_first_step_commands_the_start(folder):
    zv.save_rig(zv.mechanisms.docking_ring("UPS"), folder / "slow.json", period=1.0, substeps=1000, laws=LAW)
    one, _ = ports()
    with socket.socket(type=socket.SOCK_DGRAM) as robot:
        robot.bind(("127.0.0.1", 0))
        robot.settimeout(30)
        two = robot.getsockname()[1]
        command = [folder / "engine", folder / "slow.json", "--listen", one, "--send", two]
        own = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
        time.sleep(0.3)  # it has begun, its first period has not ended
        own.send_signal(signal.SIGTERM)
        packet = robot.recv(512)
    own.kill()
    own.wait()
    flags = int.from_bytes(packet[12:16], "little")
    assert flags == 1
    pose = np.frombuffer(packet, dtype="<f8", count=13, offset=24)
    assert pose.tolist() == [0.38, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is full")
def test_a_log_that_cannot_be_written_is_told_after_the_counts(folder):
    one, two = ports()
    command = [folder / "engine", "ring.json", "--listen", one, "--send", two, "--steps", "5", "--log", "/dev/full"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "/dev/full: the log could not be written" in done.stderr
    assert json.loads(done.stdout)["steps"] == 5


def test_noise_on_the_line_does_not_keep_the_facility(folder):
    one, two = ports()
    command = [folder / "facility", "--listen", two, "--send", one]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 30
    with socket.socket(type=socket.SOCK_DGRAM) as line:
        while other.poll() is None and time.monotonic() < deadline:
            line.sendto(b"nothing that is known here", ("127.0.0.1", int(two)))
            time.sleep(0.05)
    other.kill()
    counts = json.loads(other.communicate()[0])
    assert other.returncode == 0
    assert counts["commands"] == 0


def test_a_running_engine_survives_a_storm_of_foreign_packets(folder):
    storm = np.random.default_rng(11)

    def blow(engine, port):
        with socket.socket(type=socket.SOCK_DGRAM) as sender:
            for _ in range(1500):
                data = bytearray(storm.bytes(int(storm.integers(0, 300))))
                if storm.random() < 0.5:
                    data[:8] = b"ZVRG\x01\x00\x02\x00"
                sender.sendto(data, ("127.0.0.1", port))

    given = {"--delay": 4, "--stiffness": 1e4}
    code, counts, _, log = rig(folder, given, ["--timeout", "1000"], 300, during=blow)
    assert code == 0 and counts["steps"] == 300 and np.isfinite(log).all()
    assert counts["corrupt"] > 100 and counts["accepted"] > 0
    assert np.abs(log[:, 6:12]).max() < 1e3  # none of their numbers got into the loop


def test_fuzzed_packets_do_not_get_through(folder):
    done = subprocess.run([folder / "fuzz", "60000", "5"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("60000 packets")


def test_a_line_that_never_falls_silent_does_not_keep_the_engine(folder):
    one, two = ports()
    command = [folder / "engine", folder / "ring.json", "--listen", one, "--send", two, "--steps", "20"]
    own = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    with socket.socket(type=socket.SOCK_DGRAM) as line:
        while own.poll() is None and time.monotonic() < deadline:
            line.sendto(b"nothing that is known here", ("127.0.0.1", int(one)))
            time.sleep(1e-3)
    own.kill()
    counts = json.loads(own.communicate()[0])
    assert own.returncode == 0
    assert counts["steps"] == 20
    assert counts["corrupt"] > 0
