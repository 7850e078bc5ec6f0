"""Campaigns on a Dask cluster of processes: a scheduler, workers, one of which is killed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import docking_runner
import numpy as np
import pytest
from docking_runner import job
from helpers import environment
from zveno import docking
from zveno.docking.campaign import run

ROOT = Path(__file__).parents[1]


def wait_for(path, seconds=60):
    end = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} does not come"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Address of the scheduler, and process numbers of three workers."""
    folder = tmp_path_factory.mktemp("dask")
    command = [sys.executable, str(ROOT / "dask_cluster.py"), str(folder), "3"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()) as process:
        wait_for(folder / "cluster.json")
        wait_for(folder / "address")
        yield (folder / "address").read_text(), json.loads((folder / "cluster.json").read_text())["workers"]
        process.stdin.close()
        process.wait(20)


def same(a, b):
    return list(a) == list(b) and all(
        np.array_equal(a[name], b[name], equal_nan=a[name].dtype.kind == "f") for name in a
    )


def test_table_is_that_of_one_thread_though_a_worker_is_killed(cluster, tmp_path):
    address, workers = cluster
    log, store = tmp_path / "log", tmp_path / "store"
    log.mkdir()
    slow = job(200, settings={"log": str(log), "seconds": 0.02})

    def kill():
        while not any(name.name.startswith(f"{workers[0]}-") for name in log.iterdir()):
            time.sleep(0.005)
        os.kill(workers[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = run(slow, docking_runner.run_slowly, cluster=address, store=store, chunk=5)
    killer.join(1)
    assert not killer.is_alive()
    assert found.complete
    assert same(found.table, run(slow, docking_runner.run, threads=1).table)
    # work is lost with its worker, what had come back is not done again
    done = [text for path in log.iterdir() if (text := path.read_text())]  # empty: killed before it wrote
    assert len(set(done)) == 40
    assert len(done) <= 40 + 4  # under way and waiting at the worker that died
    assert {path.name.partition("-")[0] for path in log.iterdir()} == set(map(str, workers))


def test_dockings_on_workers_are_those_of_threads(cluster):
    address, _ = cluster
    scenario = docking.demo("UPS")
    there = docking.campaign(scenario, n=4, cluster=address, chunk=2, after=0.1)
    assert same(there.table, docking.campaign(scenario, n=4, threads=1, after=0.1).table)


def test_error_of_a_worker_is_raised_and_the_rest_kept(cluster, tmp_path):
    address, _ = cluster
    with pytest.raises(FileNotFoundError):
        run(job(20, settings={"log": str(tmp_path / "absent")}), docking_runner.run_slowly, cluster=address, chunk=5)
    with pytest.raises(RuntimeError, match=r"a worker has zveno .*, the campaign is of 9\.9\.9"):
        run(job(20, zveno="9.9.9"), docking_runner.run, cluster=address, chunk=5)
    assert run(job(20), docking_runner.run, cluster=address, chunk=5).complete


def test_scheduler_that_does_not_answer_is_named(monkeypatch):
    monkeypatch.setattr("zveno.docking.campaign_run._CONNECT", 0.3)
    with pytest.raises(ConnectionError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        run(job(20), docking_runner.run, cluster="tcp://127.0.0.1:9")
