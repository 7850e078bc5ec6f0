"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import IO

from ._check import _show, as_path

__all__ = ["checked_path", "replacing"]


def checked_path(function: str, path: object, suffix: str) -> str:
    """`path` as text, if it ends in `suffix` and is a file or nothing yet."""
    text = as_path(function, path)
    if not text.lower().endswith(suffix) or os.path.basename(text).lower() == suffix:
        raise ValueError(f"{function}: path is {_show(text)}, expected a name that ends in '{suffix}'")
    if os.path.isdir(text):
        raise IsADirectoryError(f"{function}: {_show(text)} is a directory")
    if os.path.exists(text) and not os.path.isfile(text):
        raise ValueError(f"{function}: {_show(text)} is a device or a pipe, expected a file")
    return text


@contextlib.contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A new file beside `path` that takes its place at the end; after an error `path` is what it was.

    Errors of the system name `path`.
    """
    target = os.path.realpath(path)  # a link stays a link
    beside = f"{target}.{os.urandom(4).hex()}.part"
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(handle)
        with contextlib.suppress(OSError):
            os.chmod(beside, os.stat(target).st_mode & 0o7777)
        os.replace(beside, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError) and error.errno and error.filename in (None, beside):
            raise OSError(error.errno, error.strerror, path) from None
        raise
