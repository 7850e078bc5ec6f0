"""A Dask cluster on this machine: a scheduler and workers, each a process. Libraries are imported once, then it forks.

python dask_cluster.py FOLDER WORKERS: writes the address of the scheduler and the process numbers of the workers to
FOLDER and ends with its standard input.
"""

import asyncio
import json
import os
import signal
import sys

import docking_runner  # noqa: F401
from distributed import Scheduler, Worker


async def schedule(folder):
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        path = os.path.join(folder, "address")
        with open(path + ".part", "w") as file:
            file.write(scheduler.address)
        os.replace(path + ".part", path)
        await scheduler.finished()


async def work(folder):
    path = os.path.join(folder, "address")
    while not os.path.exists(path):
        await asyncio.sleep(0.02)
    with open(path) as file:
        address = file.read()
    async with Worker(address, nthreads=1, dashboard=False, local_directory=folder) as worker:
        await worker.finished()


def child(role, folder):
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(role(folder))
        finally:
            os._exit(0)
    return pid


if __name__ == "__main__":
    folder, count = sys.argv[1], int(sys.argv[2])
    pids = [child(schedule, folder), *(child(work, folder) for _ in range(count))]
    path = os.path.join(folder, "cluster.json")
    with open(path + ".part", "w") as file:
        json.dump({"workers": pids[1:]}, file)
    os.replace(path + ".part", path)
    sys.stdin.read()
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    for pid in pids:
        os.waitpid(pid, 0)
