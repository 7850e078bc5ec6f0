"""How a campaign is worked off: what a run is, threads of this process, workers of a cluster.

The work is cut into chunks of consecutive runs, and those for threads into pieces; a run knows nothing of either.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from .. import _core
from .._extras import optional
from .campaign_store import Columns
from .sampling import Sampler, box_from_dict

__all__ = ["Job", "on_cluster", "on_threads"]

Runner: TypeAlias = Callable[["Job", Columns], Columns]
Chunk: TypeAlias = tuple[int, int, int]  # number, first run, count
Finished: TypeAlias = Callable[[int, Columns], None]

_TICK: Final = 0.05  # s between two looks at Ctrl-C
_PIECE: Final = 128  # runs that a thread does between two looks at the rest of the world; lanes run empty at its end
_CONNECT: Final = 10.0  # s to wait for the answer of a scheduler
_LOOK: Final = 2.0  # s between two looks at the size of a cluster


@dataclass(frozen=True)
class Job:
    """All that results depend on: result i is a function of these and of i."""

    scenario: Mapping[str, Any]
    box: Mapping[str, Any]
    seed: int
    design: str
    n: int
    settings: Mapping[str, Any]
    zveno: str  # version

    def head(self) -> dict[str, Any]:
        """For the file of a store."""
        return {
            "fingerprint": self.fingerprint,
            "scenario_hash": _digest(self.scenario),
            "zveno": self.zveno,
            "scenario": self.scenario,
            "box": self.box,
            "seed": self.seed,
            "design": self.design,
            "settings": self.settings,
            "n": self.n,
        }

    @classmethod
    def of(cls, head: Mapping[str, Any]) -> Job:
        """The job of such a file."""
        return cls(
            head["scenario"], head["box"], head["seed"], head["design"], head["n"], head["settings"], head["zveno"]
        )

    @property
    def fingerprint(self) -> str:
        """Equal where all results are; the first points of the design stand for the library that made them."""
        parts = [self.zveno, self.scenario, self.box, self.seed, self.design, self.settings]
        if self.design == "latin":
            parts.append(self.n)
        if self.design == "sobol":
            parts.append(self.sampler.points(1, 2).tolist())
        return _digest(parts)

    @property
    def sampler(self) -> Sampler:
        return Sampler(box_from_dict(self.box), self.seed, self.design, self.n)

    def run(self, runner: Runner, first: int, count: int) -> Columns:
        """Columns of consecutive runs: numbers, conditions, results."""
        conditions = self.sampler.conditions(first, count)
        columns: Columns = {"index": np.arange(first, first + count, dtype=np.int64), **conditions}
        columns |= runner(self, conditions)
        return columns


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


def joined(pieces: Sequence[Columns]) -> Columns:
    """Columns of several pieces, one after another."""
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


# ---- threads of this process


def on_threads(
    job: Job, runner: Runner, chunks: Iterable[Chunk], threads: int, finished: Finished, tick: Callable[[int], None]
) -> None:
    """Work off chunks in threads; `finished` gets those that are complete, `tick` the number of runs done.

    After Ctrl-C or an error of a run pieces under way are given up, and it is raised; complete chunks are kept.
    """
    from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait  # brings logging

    threads = threads or _core.default_threads()
    pieces = _pieces(chunks)
    parts: dict[int, list[Columns | None]] = {}
    running: dict[Future[Columns], tuple[int, int]] = {}
    done = 0
    stop = _core.Stop()

    def work(first: int, count: int) -> Columns:
        if stop.is_set():
            return {}
        try:
            return stop.call(lambda: job.run(runner, first, count))
        except KeyboardInterrupt:  # of the compiled batch
            if not stop.is_set():
                raise
            return {}

    def take(future: Future[Columns]) -> int:
        number, place = running.pop(future)
        columns = future.result()
        if not columns:
            return 0
        parts[number][place] = columns
        found = [part for part in parts[number] if part is not None]
        if len(found) == len(parts[number]):
            finished(number, joined(found))
            del parts[number]
        return len(columns["index"])

    pool = ThreadPoolExecutor(threads, thread_name_prefix="zveno.campaign")
    try:
        while True:
            while len(running) < 2 * threads:  # the next piece of each thread waits for it
                piece = next(pieces, None)
                if piece is None:
                    break
                number, place, total, first, count = piece
                parts.setdefault(number, [None] * total)
                running[pool.submit(work, first, count)] = number, place
            if not running:
                return
            for future in wait(running, timeout=_TICK, return_when=FIRST_COMPLETED).done:
                done += take(future)
            tick(done)
    except BaseException:
        stop.set()
        pool.shutdown(wait=True)
        for future in list(running):
            if future.exception() is None:
                take(future)
        raise
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def _pieces(chunks: Iterable[Chunk]) -> Iterator[tuple[int, int, int, int, int]]:
    """Number of the chunk, place in it, pieces of it, first run, count."""
    for number, first, count in chunks:
        total = -(-count // _PIECE)
        for place in range(total):
            begin = place * _PIECE
            yield number, place, total, first + begin, min(_PIECE, count - begin)


# ---- workers of a cluster


def _remote(head: Mapping[str, Any], runner: Runner, first: int, count: int) -> Columns:
    """What a worker does: a chunk."""
    from importlib.metadata import version

    if version("zveno") != head["zveno"]:
        raise RuntimeError(f"campaign: a worker has zveno {version('zveno')}, the campaign is of {head['zveno']}")
    return Job.of(head).run(runner, first, count)


def on_cluster(
    job: Job, runner: Runner, chunks: Iterable[Chunk], cluster: Any, finished: Finished, tick: Callable[[int], None]
) -> None:
    """Work off chunks on a Dask cluster, a `Client` or the address of a scheduler.

    Few more tasks than workers are under way at a time, so that neither the scheduler nor this process fills up. What a
    dead worker was doing is given to another one by Dask.
    """
    distributed = optional("distributed", "docking.campaign(cluster=...)")
    with contextlib.ExitStack() as stack:
        client = cluster
        if isinstance(cluster, str):
            try:
                client = stack.enter_context(distributed.Client(cluster, timeout=_CONNECT, set_as_default=False))
            except (OSError, TimeoutError) as error:
                raise ConnectionError(f"campaign: no Dask scheduler answers at {cluster!r}: {error}") from None
        _feed(distributed, client, job, runner, iter(chunks), finished, tick)


def _feed(
    distributed: Any,
    client: Any,
    job: Job,
    runner: Runner,
    chunks: Iterator[Chunk],
    finished: Finished,
    tick: Callable[[int], None],
) -> None:
    import time

    head, done, looked, room = job.head(), 0, -np.inf, 0
    running: dict[Any, int] = {}
    results = distributed.as_completed(loop=client.loop)
    try:
        while True:
            if time.monotonic() - looked > _LOOK:
                looked = time.monotonic()
                room = 2 * sum(client.nthreads().values()) + 2
            while len(running) < room:
                chunk = next(chunks, None)
                if chunk is None:
                    break
                number, first, count = chunk
                future = client.submit(
                    _remote, head, runner, first, count, key=f"zveno-{job.fingerprint[:12]}-{number}", pure=False
                )
                running[future] = number
                results.add(future)
            if not running:
                return
            future = next(results)
            number = running.pop(future)
            try:
                columns = future.result()
            except distributed.KilledWorker as error:
                raise RuntimeError(
                    f"campaign: chunk {number} has ended {getattr(error, 'allowed_failures', 3) + 1} workers one after"
                    " another, out of memory perhaps; what is done is kept"
                ) from error
            except distributed.CancelledError as error:
                raise RuntimeError("campaign: the Dask scheduler has gone; what is done is kept") from error
            future.release()
            finished(number, columns)
            done += len(columns["index"])
            tick(done)
    finally:
        if running:
            with contextlib.suppress(Exception):  # the scheduler may be the one that has gone
                client.cancel(list(running))
