"""Ctrl-C during work that cannot be stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def interruptible(work: Callable[[], T]) -> T:
    """Return ``work()``. In the main thread, where signals are heard, it runs beside it, and Ctrl-C ends the waiting.

    What is under way then comes to its end unseen.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[T] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="zveno", daemon=True).start()
    while not done.wait(0.05):  # without a time limit no signal is heard on Windows
        pass
    if errors:
        raise errors.pop()
    return results.pop()
