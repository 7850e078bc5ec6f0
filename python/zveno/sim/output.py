"""What is written about a simulation: tables of peaks, CSV, files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from .._check import Array
from .._extras import optional
from .plan import progress_bar

if TYPE_CHECKING:
    from .simulation import Column

__all__ = ["Peak", "Summary"]

_BLOCK: Final = 1000  # rows between two looks at the progress


class Peak(NamedTuple):
    """The largest size that a quantity reaches.

    `peak` keeps its sign; `where` is the leg, joint or component, empty for a single number; `time` in s.
    """

    quantity: str
    where: str
    peak: float
    unit: str
    time: float


class Summary(tuple[Peak, ...]):
    """Peaks of a simulation, a tuple of `Peak`; prints as a table.

    Examples
    --------
    >>> import zveno as zv
    >>> sim = zv.robots.two_link().simulate(0.1, 1e-3, q=[0.5, 0.0])
    >>> peaks = sim.summary(["q", "kinetic_energy"])
    >>> print(peaks)
    quantity        where        peak      unit  time, s
    q               upper_joint  0.554634  rad   0.1
    kinetic_energy               0.620176  J     0.1
    >>> peaks[0].where, peaks[0].unit
    ('upper_joint', 'rad')
    """

    __slots__ = ()

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the table by name."""
        return {name: [getattr(row, name) for row in self] for name in Peak._fields}

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame. Needs pandas."""
        return optional("pandas", "Summary.to_pandas", "pandas").DataFrame(self.to_dict())

    def _cells(self) -> list[tuple[str, ...]]:
        head = ("quantity", "where", "peak", "unit", "time, s")
        return [head, *((row.quantity, row.where, f"{row.peak:.6g}", row.unit, f"{row.time:.6g}") for row in self)]

    def __repr__(self) -> str:
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in cells)
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        import html

        head, *rows = ([html.escape(cell) for cell in row] for row in self._cells())
        top = "<tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr>"
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table>{top}{body}</table>"


def peaks(t: Array, columns: Sequence[Column], each: bool) -> Summary:
    """Peaks of columns over the times t: of each, or the largest of each quantity and unit."""
    found: dict[tuple[str, ...], Peak] = {}
    for column in columns:
        sizes = np.where(np.isnan(column.values), -1.0, np.abs(column.values))
        i = int(sizes.argmax()) if len(sizes) else 0
        if not len(sizes) or sizes[i] < 0:  # no number at all
            continue
        row = Peak(column.field, column.where, float(column.values[i]), column.unit, float(t[i]))
        key = (column.field, column.where) if each else (column.field, column.unit)
        if key not in found or abs(row.peak) > abs(found[key].peak):
            found[key] = row
    return Summary(found.values())


@contextmanager
def whole_file(path: str | os.PathLike[str], mode: str, **options: Any) -> Iterator[IO[Any]]:
    """A file that gets its name when it is complete; before that, nothing under this name is touched."""
    import tempfile  # takes longer than all of this module

    target = os.path.realpath(os.fspath(path))
    if os.path.isdir(target):
        raise IsADirectoryError(f"'{os.fspath(path)}' is a directory")
    # a device or a pipe cannot be replaced
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, mode, **options) as file:
            yield file
        return
    try:
        handle, name = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", dir=os.path.dirname(target))
    except OSError as error:  # about the name that was asked for
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    try:
        with open(handle, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _permissions(target))
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def _permissions(target: str) -> int:
    """Those of the file that is replaced, or of any new file."""
    try:
        return os.stat(target).st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def write_csv(path: str | os.PathLike[str], columns: Sequence[Column], progress: bool | None) -> None:
    """One line of names with units, then a line for each state; numbers that read back to the same bits."""
    import csv

    table = np.column_stack([column.values for column in columns])
    words = ("writing", "lines", "Simulation.to_csv: progress=True")
    with (
        whole_file(path, "w", newline="", encoding="utf-8") as file,
        progress_bar(progress, len(table), words) as bar,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([f"{column.name} [{column.unit}]" for column in columns])
        for begin in range(0, len(table), _BLOCK):
            writer.writerows(table[begin : begin + _BLOCK].tolist())  # repr of a float: the shortest that reads back
            bar(min(begin + _BLOCK, len(table)))
