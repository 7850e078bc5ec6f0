"""Campaigns whatever a docking is: tables that do not depend on who made them, stores that outlive accidents."""

import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import docking_runner
import numpy as np
import pyarrow.parquet as parquet
import pytest
from docking_runner import job
from helpers import environment
from zveno.docking import Campaign, statistics
from zveno.docking.campaign import run
from zveno.errors import SimulationWarning


def same(a, b):
    return list(a) == list(b) and all(
        np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a
    )


@pytest.fixture(scope="module")
def whole():
    return run(job(500), docking_runner.run, threads=1)


# ---- what the table depends on


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("chunk", [23, 1000])
def test_table_does_not_depend_on_threads_chunks_or_store(whole, threads, chunk, tmp_path):
    made = run(job(500), docking_runner.run, threads=threads, store=tmp_path / "out", chunk=chunk)
    assert same(made.table, whole.table)
    assert same(Campaign.load(tmp_path / "out").table, whole.table)


def test_parts_of_several_processes_make_one_table(whole, tmp_path):
    for k in (2, 0, 1):
        made = run(job(500), docking_runner.run, threads=1, store=tmp_path, chunk=32, part=(k, 3))
        assert made.complete == (k == 1)
    assert same(made.table, whole.table)


def test_more_runs_are_added_to_those_that_are_there(whole, tmp_path):
    run(job(100), docking_runner.run, threads=1, store=tmp_path, chunk=50)
    made = run(job(500), counted := Counted(), threads=1, store=tmp_path)
    assert counted.runs == 400
    assert same(made.table, whole.table)


class Counted:
    """A runner that counts."""

    def __init__(self):
        self.runs, self.lock = 0, threading.Lock()

    def __call__(self, job, conditions):
        with self.lock:
            self.runs += len(conditions["closing"])
        return docking_runner.run(job, conditions)


def test_finished_campaign_is_not_run_again(tmp_path):
    run(job(200), docking_runner.run, store=tmp_path, chunk=20)
    counted = Counted()
    assert run(job(200), counted, store=tmp_path).complete
    assert counted.runs == 0


# ---- accidents


def interrupted(store, slow, at):
    """A campaign in its own process that is sent a signal when some chunks are there."""
    code = (
        "import docking_runner, sys; from zveno.docking.campaign import run\n"
        f"run(docking_runner.job(**{slow!r}), docking_runner.run_slowly, threads=2, store={str(store)!r}, chunk=10)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], env=environment(), stderr=subprocess.PIPE, text=True)
    while not store.is_dir() or sum(name.endswith(".parquet") for name in os.listdir(store)) < 4:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.005)
    process.send_signal(at)
    _, said = process.communicate(timeout=20)
    return said


@pytest.mark.parametrize("at", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "killed"])
def test_campaign_that_was_stopped_goes_on_where_it_was(at, tmp_path):
    log, store = tmp_path / "log", tmp_path / "out"
    log.mkdir()
    slow = {"n": 400, "settings": {"log": str(log), "seconds": 0.02}}
    said = interrupted(store, slow, at)
    assert ("KeyboardInterrupt" in said) == (at == signal.SIGINT)
    before = sorted(name for name in os.listdir(store) if name.endswith(".parquet"))
    assert 4 <= len(before) < 40
    stamps = {name: (store / name).stat().st_mtime_ns for name in before}
    made = run(job(**slow), counted := Counted(), threads=2, store=store)
    assert counted.runs == 400 - 10 * len(before)
    assert {name: (store / name).stat().st_mtime_ns for name in before} == stamps
    assert same(made.table, run(job(**slow), docking_runner.run, threads=1).table)


def test_interrupt_keeps_complete_chunks_without_a_store(interruptible):
    calls = []

    def runner(job, conditions):
        calls.append(1)
        if len(calls) == 8:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        return docking_runner.run(job, conditions)

    with pytest.raises(KeyboardInterrupt) as caught:
        run(job(2000), runner, threads=1, chunk=64)
    kept = caught.value.campaign
    assert 64 * 6 <= len(kept) < 2000
    assert kept.capture_probability.runs == len(kept)


def test_error_of_a_run_is_raised_and_complete_chunks_kept(tmp_path):
    def runner(job, conditions):
        if conditions["closing"][0] == first:
            raise ZeroDivisionError
        return docking_runner.run(job, conditions)

    first = job(200).sampler.conditions(150, 1)["closing"][0]
    with pytest.raises(ZeroDivisionError):
        run(job(200), runner, threads=1, store=tmp_path, chunk=10)
    kept = set(Campaign.load(tmp_path).column("index"))  # the next chunk may have been complete by then
    assert kept in (set(range(150)), set(range(150)) | set(range(160, 170)))


def test_complete_chunk_is_kept_where_an_error_is_seen_first(tmp_path, monkeypatch):
    def runner(job, conditions):
        if conditions["closing"][0] == first:
            raise ZeroDivisionError
        return docking_runner.run(job, conditions)

    def failed_first(running, timeout, return_when):
        return SimpleNamespace(done=sorted(wait(running).done, key=lambda future: future.exception() is None))

    wait = concurrent.futures.wait
    monkeypatch.setattr(concurrent.futures, "wait", failed_first)
    first = job(20).sampler.conditions(0, 1)["closing"][0]
    with pytest.raises(ZeroDivisionError):
        run(job(20), runner, threads=2, store=tmp_path, chunk=10)
    assert set(Campaign.load(tmp_path).column("index")) == set(range(10, 20))


def damage(path, how):
    data = bytearray(path.read_bytes())
    if how == "cut":
        data = data[: len(data) // 2]
    elif how == "empty":
        data = b""
    elif how == "bit":
        data[len(data) // 3] ^= 1
    elif how == "other":
        data = (path.parent / path.name.replace("2", "3")).read_bytes()
    path.write_bytes(data)


@pytest.mark.parametrize("how", ["cut", "empty", "bit", "other"])
@pytest.mark.parametrize("suffix", ["parquet", "npz"])
def test_damaged_chunk_is_done_again_and_said_so(whole, how, suffix, tmp_path, monkeypatch):
    if suffix == "npz":
        monkeypatch.setattr("zveno.docking.campaign_store.find_spec", lambda name: None)
    run(job(500), docking_runner.run, store=tmp_path, chunk=50)
    assert sorted(path.name for path in tmp_path.glob("chunk-*"))[2] == f"chunk-000002.{suffix}"
    damage(tmp_path / f"chunk-000002.{suffix}", how)
    with pytest.warns(SimulationWarning, match=rf"Campaign.load: chunk-000002\.{suffix} is left out"):
        assert len(Campaign.load(tmp_path)) == 450
    with pytest.warns(SimulationWarning, match=rf"campaign: chunk-000002\.{suffix} is done again: \w+"):
        made = run(job(500), counted := Counted(), store=tmp_path)
    assert counted.runs == 50
    assert same(made.table, whole.table)


def test_chunks_of_both_kinds_make_one_table(whole, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("zveno.docking.campaign_store.find_spec", lambda name: None)
        run(job(500), docking_runner.run, store=tmp_path, chunk=50, part=(0, 2))
    made = run(job(500), docking_runner.run, store=tmp_path)
    assert {path.suffix for path in tmp_path.glob("chunk-*")} == {".npz", ".parquet"}
    assert same(made.table, whole.table)


def test_chunk_file_says_what_it_is(tmp_path):
    run(job(30), docking_runner.run, store=tmp_path, chunk=20)
    assert sorted(os.listdir(tmp_path)) == ["campaign.json", "chunk-000000.parquet", "chunk-000001.parquet"]
    about = json.loads(parquet.read_schema(tmp_path / "chunk-000001.parquet").metadata[b"zveno"])
    assert about["first"] == 20
    assert about["seed"] == 2026
    assert about["zveno"] == "0.1.0"
    assert len(about["scenario"]) == 64


# ---- refused


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"seed": 1}, r"its seed differs \(seed 2026 there, 1 here\)"),
        ({"scenario": {"mass": 2.0}}, "its scenario differs; take another folder"),
        ({"scenario": {"mass": 2.0}, "zveno": "0.2"}, "its scenario and version of zveno differ"),
        ({"settings": {"dt": 1.0}}, "its settings differs"),
        ({"design": "latin"}, "its design differs"),
    ],
)
def test_store_of_another_campaign_is_refused(changes, text, tmp_path):
    run(job(10), docking_runner.run, store=tmp_path)
    with pytest.raises(ValueError, match=text):
        run(job(10, **changes), docking_runner.run, store=tmp_path)


def test_latin_store_is_refused_with_another_number_of_runs(tmp_path):
    run(job(10, design="latin"), docking_runner.run, store=tmp_path)
    with pytest.raises(ValueError, match="number of runs, on which the points of this design depend"):
        run(job(20, design="latin"), docking_runner.run, store=tmp_path)


def test_stores_that_cannot_be_used_are_refused(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TypeError, match="campaign: store is 3, expected a path"):
        run(job(10), docking_runner.run, store=3)
    with pytest.raises(NotADirectoryError, match=r"campaign: store is .* which is a file"):
        run(job(10), docking_runner.run, store=tmp_path / "file")
    with pytest.raises(NotADirectoryError, match=r"campaign: store .* cannot be made"):
        run(job(10), docking_runner.run, store=tmp_path / "file" / "out")
    run(job(10), docking_runner.run, store=tmp_path / "out")
    with pytest.raises(FileExistsError, match="has runs already: resume=True"):
        run(job(10), docking_runner.run, store=tmp_path / "out", resume=False)
    with pytest.raises(ValueError, match=r"chunk is 3, but store .* has chunks of 256 runs"):
        run(job(10), docking_runner.run, store=tmp_path / "out", chunk=3)
    (tmp_path / "out" / "campaign.json").unlink()
    with pytest.raises(ValueError, match=r"has chunks but no campaign\.json"):
        run(job(10), docking_runner.run, store=tmp_path / "out")
    with pytest.raises(FileNotFoundError, match="holds no campaign"):
        Campaign.load(tmp_path / "out")
    for text in ("{", "[]", '{"format": "zveno.campaign", "version": 1}'):
        (tmp_path / "out" / "campaign.json").write_text(text)
        with pytest.raises(ValueError, match=r"campaign\.json"):
            Campaign.load(tmp_path / "out")


def test_a_chunk_that_cannot_be_written_is_named(tmp_path):
    run(job(n=20), docking_runner.run, threads=1, chunk=10, store=tmp_path / "out")
    (chunk,) = (tmp_path / "out").glob("chunk-000001.*")
    chunk.unlink()
    chunk.mkdir()
    again = pytest.warns(SimulationWarning, match=f"{chunk.name} is done again")
    with again, pytest.raises(OSError, match=rf"campaign: .*{chunk.name}.* cannot be written: ."):
        run(job(n=20), docking_runner.run, threads=1, chunk=10, store=tmp_path / "out")


def test_unwritable_store_is_refused_before_any_run():
    counted = Counted()
    with pytest.raises(OSError, match=r"campaign: store .* cannot be made"):
        run(job(10), counted, store="/proc/self/out")
    assert counted.runs == 0


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"threads": 0}, "threads is 0, expected an integer from 1"),
        ({"chunk": 0}, "chunk is 0, expected an integer from 1"),
        ({"cluster": 3}, r"cluster is 3, expected a distributed\.Client or the address"),
        ({"cluster": "tcp://x", "threads": 2}, "threads are those of this process"),
        ({"part": (0, 2)}, "part needs a store"),
        ({"part": (2, 2)}, r"part is \(2, 2\), expected \(k, m\)"),
        ({"progress": "yes"}, "progress is 'yes', expected True or False"),
    ],
)
def test_wrong_arguments_are_refused(keywords, text):
    with pytest.raises(ValueError, match=text):
        run(job(10), docking_runner.run, **keywords)


def test_more_runs_than_corners_are_refused():
    with pytest.raises(ValueError, match="n is 3000, but the box has 2048 corners"):
        run(job(3000, design="corners"), docking_runner.run)


# ---- what it says


def test_failed_runs_stay_in_the_denominator(whole):
    status = whole.table["status"]
    assert whole.outcomes == {
        "captured": (status == "captured").sum(),
        "not_captured": (status == "not_captured").sum(),
        "failed": (status == "contact_range").sum(),
    }
    assert sum(whole.outcomes.values()) == 500
    assert whole.failures == {"contact_range": whole.outcomes["failed"]}
    assert whole.outcomes["failed"] > 0
    p = whole.capture_probability
    assert (p.successes, p.runs) == (whole.outcomes["captured"], 500)
    assert p == statistics.probability(whole.outcomes["captured"], 500)
    assert "failures    contact_range" in str(whole)


def test_percentiles_are_those_of_captured_runs(whole):
    values = whole.table["shear"][whole.table["status"] == "captured"]
    for found in whole.percentiles("shear"):
        assert found.value == np.percentile(values, found.percent)
        assert found.runs == len(values)
        assert found.interval.low <= found.value <= found.interval.high


def test_worst_runs_are_ranked(whole):
    worst = whole.worst("bending", 5)
    sound = whole.table["status"] != "contact_range"
    assert [run.value for run in worst] == sorted(whole.table["bending"][sound], reverse=True)[:5]
    for found in worst:
        assert whole.table["bending"][found.number] == found.value
        assert whole.table["closing"][found.number] == found.conditions["closing"]


def test_rank_correlations_find_what_matters(whole):
    found = whole.rank_correlations(["leg"])["leg"]
    assert found["closing"] > 0.7
    assert abs(found["lateral_y"]) < 4 / np.sqrt(500)
    assert found["offset"] > 0.2 > abs(found["offset_y"])


def test_envelope_counts_every_run(whole):
    found = whole.envelope("offset", "tilt", bins=(4, 3))
    assert found.runs.sum() == 500
    assert found.captured.sum() == whole.outcomes["captured"]
    assert found.probability[-1, -1] < 0.6 < found.probability[0, 0]
    assert (found.low <= found.probability).all()
    assert (found.probability <= found.high).all()


def test_sobol_indices_are_refused_where_the_sample_does_not_allow_them(whole):
    with pytest.raises(ValueError, match=r"only .* % of the runs were captured"):
        whole.sobol_indices("shear")
    with pytest.raises(ValueError, match="corners are no random sample"):
        run(job(100, design="corners"), docking_runner.run).sobol_indices("shear")
    found = whole.sobol_indices("captured")
    assert found.total is None
    assert dict(zip(found.factors, found.first, strict=True))["offset"] > 0.1


def test_one_run_has_no_variance_to_explain():
    with pytest.raises(ValueError, match="one run has no variance"):
        run(job(n=1), docking_runner.run, threads=1).sobol_indices("captured")


def test_total_indices_of_a_saltelli_design():
    # captured whatever comes; bending = 5e3 closing + 150 (offset / 0.1) + ... : shares of a sum are known
    box = {"closing": [0.05, 0.1], "offset": 0.06}
    found = run(job(1800, design="saltelli", box=box), docking_runner.run).sobol_indices("bending")
    closing, offset = (5e3 * 0.05) ** 2 / 12, (150 * 0.6) ** 2 / 18
    expected = {"closing": closing / (closing + offset), "offset": offset / (closing + offset)}
    for name, first, total in zip(found.factors, found.first, found.total, strict=True):
        assert abs(total - expected.get(name, 0)) < 0.1
        assert abs(first - expected.get(name, 0)) < 4 * found.error


def test_unknown_column_is_named(whole):
    with pytest.raises(KeyError, match="no column 'bendin'; did you mean 'bending'"):
        whole.column("bendin")


def test_unfinished_campaign_says_so(tmp_path):
    made = run(job(100), docking_runner.run, store=tmp_path, chunk=10, part=(0, 2))
    assert not made.complete
    assert repr(made) == "Campaign(50 of 100 runs, random, seed 2026)"
    assert "50 of 100" in made._repr_html_()
    assert len(made.to_pandas()) == 50


def test_progress_bar_shows_rate_and_time_left(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # what a terminal would get
    run(job(300), docking_runner.run, threads=1, progress=True)
    said = capsys.readouterr().err
    for word in ("docking", "300/300", "runs", "/s", "0:00:00"):
        assert word in said, word
