"""Folders that hold a campaign: what it is in campaign.json, its runs in one file per chunk.

A chunk file appears under its name when it is complete, so what is there can be trusted after any accident; it carries
the fingerprint of its campaign and checksums, so what cannot be trusted is noticed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, NoReturn, Self

import numpy as np

from .._check import _show, as_path
from .._extras import optional
from .._output import replacing

__all__ = ["DamagedError", "Store"]

FORMAT: Final = "zveno.campaign"
VERSION: Final = 1
_STALE: Final = 3600.0  # s after which a file that was never finished has no writer any more
_CHUNK: Final = re.compile(r"chunk-(\d{6,})\.(parquet|npz)")

Columns = dict[str, Any]  # names to arrays of one length


class DamagedError(Exception):
    """A chunk file that cannot be used; the text says why."""


class Store:
    """The folder of a campaign."""

    def __init__(self, path: str, head: dict[str, Any]) -> None:
        self.path, self.head = path, head

    @property
    def fingerprint(self) -> str:
        return str(self.head["fingerprint"])

    @property
    def chunk(self) -> int:
        """Runs of a chunk."""
        return int(self.head["chunk"])

    # ---- the folder

    @classmethod
    def open(cls, path: object, who: str) -> Self:
        """The store of a folder that has one."""
        name = as_path(who, path)
        head = _read_head(name, who)
        if head is None:
            raise FileNotFoundError(f"{who}: {_show(name)} holds no campaign (it has no campaign.json)")
        return cls(name, head)

    @classmethod
    def create(cls, path: object, who: str, head: Mapping[str, Any], chunk: int | None, resume: bool) -> Self:
        """A new store, or an old one of the same campaign, to go on with."""
        name = as_path(who, path, "store")
        if os.path.exists(name) and not os.path.isdir(name):
            raise NotADirectoryError(f"{who}: store is {_show(name)}, which is a file, expected a folder")
        try:
            os.makedirs(name, exist_ok=True)
        except OSError as error:
            raise type(error)(error.errno, f"{who}: store {_show(name)} cannot be made: {error.strerror}") from None
        old = _read_head(name, who)
        if old is None:
            if any(_CHUNK.fullmatch(entry) for entry in os.listdir(name)):
                raise ValueError(f"{who}: store {_show(name)} has chunks but no campaign.json: of what, nobody knows")
            made = cls(name, {"format": FORMAT, "version": VERSION, "chunk": chunk or 256, **head})
        else:
            _require_same(old, head, name, who)
            if chunk is not None and chunk != old["chunk"]:
                raise ValueError(f"{who}: chunk is {chunk}, but store {_show(name)} has chunks of {old['chunk']} runs")
            made = cls(name, old | {"n": max(int(old["n"]), int(head["n"]))})
            if not resume and made.present():
                raise FileExistsError(f"{who}: store {_show(name)} has runs already: resume=True goes on with them")
        if made.head != old:
            try:
                with replacing(os.path.join(name, "campaign.json")) as file:
                    file.write((json.dumps(made.head, indent=1, allow_nan=False) + "\n").encode())
            except OSError as error:
                text = f"{who}: store {_show(name)} cannot be written: {error.strerror}"
                raise type(error)(error.errno, text) from None
        return made

    def clear(self) -> None:
        """Remove what killed writers have left."""
        for entry in os.listdir(self.path):
            if entry.endswith(".part"):
                with contextlib.suppress(OSError):
                    path = os.path.join(self.path, entry)
                    if time.time() - os.stat(path).st_mtime > _STALE:
                        os.unlink(path)

    # ---- chunks

    def present(self) -> dict[int, str]:
        """Files of chunks by their number."""
        found = {}
        for entry in sorted(os.listdir(self.path)):
            match = _CHUNK.fullmatch(entry)
            if match:
                found[int(match[1])] = os.path.join(self.path, entry)
        return found

    def write(self, number: int, columns: Columns) -> None:
        """Write a chunk; its file appears when it is complete."""
        about = {"fingerprint": self.fingerprint, "first": number * self.chunk, "zveno": self.head["zveno"]}
        about |= {"seed": self.head["seed"], "scenario": self.head["scenario_hash"], "digest": _digest(columns)}
        parquet = find_spec("pyarrow") is not None
        name = f"chunk-{number:06d}.{'parquet' if parquet else 'npz'}"
        try:
            with replacing(os.path.join(self.path, name)) as file:
                if parquet:
                    pa, pq = (import_module(name) for name in ("pyarrow", "pyarrow.parquet"))
                    table = pa.table({key: _arrow(values) for key, values in columns.items()})
                    table = table.replace_schema_metadata({"zveno": json.dumps(about)})
                    pq.write_table(table, file, write_page_checksum=True)
                else:
                    arrays: dict[str, Any] = {"about": np.array(json.dumps(about)), **columns}
                    np.savez_compressed(file, **arrays)
        except OSError as error:
            text = f"campaign: {name} in {_show(self.path)} cannot be written: {error.strerror or error}"
            raise type(error)(error.errno, text) from None
        other = os.path.join(self.path, f"chunk-{number:06d}.{'npz' if parquet else 'parquet'}")
        with contextlib.suppress(OSError):
            os.unlink(other)  # of an installation with other libraries, and damaged: else it had not been done again

    def read(self, path: str, names: Iterable[str] | None = None) -> Columns:
        """Columns of a chunk file, those named or all, and then they are checked; raises `DamagedError`."""
        try:
            about, columns = (_read_parquet if path.endswith(".parquet") else _read_npz)(path, names)
        except DamagedError:
            raise
        except ImportError:
            raise
        except Exception as error:  # the libraries raise anything for a damaged file
            raise DamagedError(" ".join(str(error).split())[:200] or type(error).__name__) from error
        if not isinstance(about, dict) or about.get("fingerprint") != self.fingerprint:
            raise DamagedError("it belongs to another campaign")
        if names is None and about.get("digest") != _digest(columns):
            raise DamagedError("its numbers are not those that were written")
        number = int(re.findall(r"chunk-(\d+)", os.path.basename(path))[0])
        if about.get("first") != number * self.chunk:
            raise DamagedError(f"it has the runs from {about.get('first')}, not from {number * self.chunk}")
        return columns

    def verify(self, number: int, path: str, count: int) -> None:
        """Read a whole chunk and raise `DamagedError` if it is not what it should be."""
        columns = self.read(path)
        index = columns.get("index")
        first = number * self.chunk
        if index is None or len(index) < count:
            raise DamagedError(f"it has {0 if index is None else len(index)} runs instead of {count}")
        if not np.array_equal(index, np.arange(first, first + len(index))):
            raise DamagedError("its runs are not those of its number")


def _digest(columns: Columns) -> str:
    """Of names and values."""
    digest = hashlib.sha256()
    for name, values in columns.items():
        text = values.dtype.kind == "U"
        data = "\0".join(values.tolist()).encode() if text else np.ascontiguousarray(values).tobytes()
        digest.update(f"{name}:{'text' if text else values.dtype.str}:{len(values)}:".encode() + data)
    return digest.hexdigest()


def _arrow(values: Any) -> Any:
    return values.tolist() if values.dtype.kind == "U" else values


def _read_parquet(path: str, names: Iterable[str] | None) -> tuple[Any, Columns]:
    pq = optional("pyarrow.parquet", f"reading {os.path.basename(path)}", "pyarrow")
    wanted = None if names is None else list(names)
    table = pq.read_table(path, columns=wanted, page_checksum_verification=True, partitioning=None)
    if wanted is not None and set(wanted) - set(table.column_names):
        raise KeyError(f"no column {', '.join(sorted(set(wanted) - set(table.column_names)))}")
    columns = {}
    for name in table.column_names:
        column = table.column(name).to_numpy()
        columns[name] = column.astype(str) if column.dtype == object else column
    return json.loads((table.schema.metadata or {}).get(b"zveno", b"null")), columns


def _read_npz(path: str, names: Iterable[str] | None) -> tuple[Any, Columns]:
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as data:
        wanted = [name for name in data.files if name != "about"] if names is None else list(names)
        return json.loads(str(data["about"])), {name: data[name] for name in wanted}


def _read_head(path: str, who: str) -> dict[str, Any] | None:
    """What a folder says about its campaign; None where it says nothing."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"{who}: '{os.path.join(path, 'campaign.json')}' {text}")

    try:
        with open(os.path.join(path, "campaign.json"), "rb") as file:
            head = json.loads(file.read())
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise NotADirectoryError(f"{who}: {_show(path)} is a file, expected the folder of a campaign") from None
    except (ValueError, RecursionError) as error:
        fail(f"is damaged: {error}")
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        fail("is not that of a campaign")
    if head.get("version") != VERSION:
        fail(f"has version {_show(head.get('version'))}, expected {VERSION}")
    for key, kind in _HEAD.items():
        if not isinstance(head.get(key), kind) or isinstance(head.get(key), bool):
            fail(f"has {key} = {_show(head.get(key))}, which is none")
    return head


_HEAD: Final[Mapping[str, Any]] = {
    "fingerprint": str,
    "scenario_hash": str,
    "zveno": str,
    "scenario": dict,
    "box": dict,
    "seed": int,
    "design": str,
    "settings": dict,
    "n": int,
    "chunk": int,
}


def _require_same(old: Mapping[str, Any], new: Mapping[str, Any], path: str, who: str) -> None:
    """Refuse a store of another campaign and say what differs."""
    if old["fingerprint"] == new["fingerprint"]:
        return
    words = {"zveno": "version of zveno", "box": "box", "seed": "seed", "design": "design", "settings": "settings"}
    differ = [text for key, text in words.items() if old[key] != new[key]]
    if old["scenario_hash"] != new["scenario_hash"]:
        differ.insert(0, "scenario")
    if not differ:
        differ.append("number of runs, on which the points of this design depend,")
    parts = f"{' and '.join(differ)} {'differs' if len(differ) == 1 else 'differ'}"
    details = [f"{key} {_show(old[key])} there, {_show(new[key])} here" for key in ("seed", "zveno", "design")]
    shown = [text for key, text in zip(("seed", "zveno", "design"), details, strict=True) if old[key] != new[key]]
    more = f" ({'; '.join(shown)})" if shown else ""
    raise ValueError(f"{who}: store {_show(path)} is of another campaign: its {parts}{more}; take another folder")
