"""Rows of a comparison as they come: printed, and written to a file after each, so that nothing is lost."""

from __future__ import annotations

import json
import math
import os
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any


class Journal:
    """What has been measured so far.

    Parameters
    ----------
    head : dict
        Machine and versions, the beginning of the file.
    path : Path, optional
        JSON; replaced as a whole after every row, so that it is complete at any time.
    line : callable
        A row as a line of text.
    plain : callable
        A row as plain data; default: its fields.
    """

    def __init__(
        self,
        head: dict[str, Any],
        path: Path | None,
        line: Callable[[Any], str],
        plain: Callable[[Any], dict[str, Any]] = asdict,
    ) -> None:
        self.head, self.path, self.line, self.plain = head, path, line, plain
        self.rows: list[Any] = []
        self.failures: list[dict[str, str]] = []
        self.more: dict[str, Any] = {}
        self.write()

    def attempt(self, what: str, measure: Callable[[], Iterable[Any]]) -> None:
        """Take the rows of one measurement; if it fails, say so and go on with the next one."""
        try:
            for row in measure():
                self.rows.append(row)
                print(self.line(row), flush=True)
                self.write()
        except Exception as error:
            self.failures.append({"what": what, "error": f"{type(error).__name__}: {error}"})
            print(f"{what}: failed, {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            if os.environ.get("ZVENO_BENCH_TRACEBACK"):
                traceback.print_exc()
            self.write()

    def write(self) -> None:
        """The file with everything so far."""
        if self.path is None:
            return
        data = {"machine": self.head, "rows": [self.plain(row) for row in self.rows], "failures": self.failures}
        new = self.path.with_name(f".{self.path.name}.new")
        new.write_text(json.dumps(finite(data | self.more), indent=2, allow_nan=False) + "\n", encoding="utf-8")
        os.replace(new, self.path)

    def finish(self) -> None:
        """End the program with code 1 if something failed."""
        if self.failures:
            print(f"{len(self.failures)} measurements failed:", *(x["what"] for x in self.failures), sep="\n  ")
            raise SystemExit(1)


def finite(value: Any) -> Any:
    """JSON has no NaN: None in its place."""
    if isinstance(value, dict):
        return {key: finite(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [finite(x) for x in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def times_faster(theirs: float, ours: float) -> float:
    """Their time over ours; nan where a clock has not moved."""
    return theirs / ours if ours > 0 else math.nan
