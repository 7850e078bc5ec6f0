"""What is written about simulations: tables of peaks, CSV, datasets, files that appear whole or not at all."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._check import Array, as_flag, as_path, failing
from .._extras import optional
from .._html import html_table
from .plan import progress_bar

if TYPE_CHECKING:
    from .simulation import Column, RecordField, Simulation

__all__ = ["BatchSummary", "Peak", "RunPeak", "Summary"]

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
        return _text(self._cells())

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return html_table("peaks", rows, head)


class RunPeak(NamedTuple):
    """The largest peak of a quantity among the runs of a batch.

    `peak`, `where` and `time` are those of the worst `run`, an index of the batch. `mean`, `deviation` (standard) and
    `least` are taken over the runs, of the sizes of their peaks.
    """

    quantity: str
    where: str
    peak: float
    unit: str
    time: float
    run: tuple[int, ...]
    mean: float
    deviation: float
    least: float


class BatchSummary(tuple[RunPeak, ...]):
    """Peaks of a batch of simulations, a tuple of `RunPeak`; prints as a table.

    Attributes
    ----------
    runs : dict of (...) array
        Peak of each run, with its sign, by quantity and unit: ``"tau [N]"``; nan where a run has no state.

    Examples
    --------
    >>> import zveno as zv
    >>> swings = zv.robots.two_link().simulate(0.1, 1e-3, q=[[0.5, 0.0], [0.1, 0.2]], threads=2)
    >>> peaks = swings.summary(["qd", "kinetic_energy"])
    >>> print(peaks)
    quantity        where        peak      unit   time, s  run   mean      deviation  least
    qd              lower_joint  -1.76531  rad/s  0.1      (1,)  1.57995   0.185361   1.39459
    kinetic_energy               0.815931  J      0.1      (1,)  0.718054  0.0978776  0.620176
    >>> peaks.runs["kinetic_energy [J]"].round(3)
    array([0.62 , 0.816])
    """

    runs: dict[str, Array]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns of the table by name."""
        return {name: [getattr(row, name) for row in self] for name in RunPeak._fields}

    def to_pandas(self, *, runs: bool = False) -> Any:
        """Return a pandas.DataFrame: of this table, or with `runs` of the peaks with a row for each run. Needs pandas.

        The rows of runs are named by their indices.
        """
        pandas = optional("pandas", "BatchSummary.to_pandas", "pandas")
        if not runs:
            return pandas.DataFrame(self.to_dict())
        shape = next((array.shape for array in self.runs.values()), (0,))
        index = run_index(pandas, np.arange(math.prod(shape)), shape)
        return pandas.DataFrame({name: array.reshape(-1) for name, array in self.runs.items()}, index=index)

    def _cells(self) -> list[tuple[str, ...]]:
        head = ("quantity", "where", "peak", "unit", "time, s", "run", "mean", "deviation", "least")
        rows = []
        for row in self:
            numbers = (f"{number:.6g}" for number in (row.mean, row.deviation, row.least))
            first = (row.quantity, row.where, f"{row.peak:.6g}", row.unit, f"{row.time:.6g}", str(row.run))
            rows.append((*first, *numbers))
        return [head, *rows]

    def __repr__(self) -> str:
        return _text(self._cells())

    def _repr_html_(self) -> str:
        head, *rows = self._cells()
        return html_table("peaks of the worst run, and over all runs", rows, head)


def _text(cells: Sequence[Sequence[str]]) -> str:
    """A table with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in cells)
    return "\n".join(line.rstrip() for line in lines)


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


def batch_peaks(t: Array, columns: Sequence[Column], each: bool, lead: tuple[int, ...]) -> BatchSummary:
    """Peaks of columns (..., n) over the times t: for each run, the worst of them, and statistics."""
    found: dict[tuple[str, ...], list[tuple[str, Array, Array]]] = {}
    for column in columns:
        values = column.values.reshape(-1, len(t))
        at = np.where(np.isnan(values), -1.0, np.abs(values)).argmax(axis=1)
        peak = np.take_along_axis(values, at[:, None], axis=1)[:, 0]  # nan where all are
        key = (column.field, column.where, column.unit) if each else (column.field, "", column.unit)
        found.setdefault(key, []).append((column.where, peak, t[at]))
    rows, runs = [], {}
    for (quantity, where, unit), parts in found.items():
        peaks = np.array([peak for _, peak, _ in parts])
        sizes = np.where(np.isnan(peaks), -1.0, np.abs(peaks))
        which = sizes.argmax(axis=0)  # the place of each run's peak
        size = sizes.max(axis=0)
        known = size[size >= 0]
        if not known.size:
            continue
        run = int(size.argmax())
        place, peak, time = parts[int(which[run])]
        index = tuple(map(int, np.unravel_index(run, lead)))
        statistics = (float(known.mean()), float(known.std()), float(known.min()))
        rows.append(RunPeak(quantity, place, float(peak[run]), unit, float(time[run]), index, *statistics))
        name = f"{quantity}.{where}" if where else quantity
        runs[f"{name} [{unit}]"] = np.take_along_axis(peaks, which[None], axis=0)[0].reshape(lead)
    summary = BatchSummary(rows)
    summary.runs = runs
    return summary


def run_names(lead: tuple[int, ...]) -> tuple[str, ...]:
    """Names of the leading dimensions of a batch."""
    return ("run",) if len(lead) == 1 else tuple(f"run_{i}" for i in range(len(lead)))


def run_index(pandas: Any, rows: NDArray[Any], lead: tuple[int, ...], more: Sequence[tuple[str, Any]] = ()) -> Any:
    """The index of a table: the numbers of the runs in `rows`, by dimension, and `more` levels."""
    levels = [*zip(run_names(lead), np.unravel_index(rows, lead), strict=True), *more]
    if len(levels) == 1:
        return pandas.Index(levels[0][1], name=levels[0][0])
    return pandas.MultiIndex.from_arrays([values for _, values in levels], names=[name for name, _ in levels])


def dataset(
    who: str,
    record: Simulation,
    arrays: Mapping[str, Array],
    lead: tuple[str, ...],
    more: Mapping[str, Any],
) -> Any:
    """An xarray.Dataset of arrays with leading dimensions; `record` knows labels, units and attributes."""
    xarray = optional("xarray", who)
    time, *fields = record.fields
    coords: dict[str, Any] = {"t": ("t", arrays["t"], {"units": time.unit})}
    variables = dict(more)
    for name, unit, doc, dims in fields:
        for dim, labels in dims:
            coords[dim] = list(record._labels(dim) if labels is None else labels)
        about = {"units": unit, "long_name": doc}
        variables[name] = ((*lead, "t", *(dim for dim, _ in dims)), arrays[name], about)
    attrs = {record._mechanism: record._model.name, "method": record.method, "dt": record.dt}
    return xarray.Dataset(variables, coords=coords, attrs=attrs)


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


def write_csv(
    path: str | os.PathLike[str],
    who: str,
    header: Sequence[str],
    tables: Iterable[tuple[Sequence[int], Array]],
    lines: int,
    progress: bool | None,
) -> None:
    """A line of names, then the rows of tables, behind the whole numbers that stand for each table."""
    import csv

    as_path(who, path)
    if progress is not None:
        as_flag(progress, failing(who), "progress")
    with (
        whole_file(path, "w", newline="", encoding="utf-8") as file,
        progress_bar(progress, lines, ("writing", "lines", f"{who}: progress=True")) as bar,
    ):
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        done = 0
        for first, table in tables:
            for begin in range(0, len(table), _BLOCK):
                rows = table[begin : begin + _BLOCK].tolist()  # repr of a float: the shortest that reads back
                writer.writerows([[*first, *row] for row in rows] if first else rows)
                done += len(rows)
                bar(done)


def html_of(title: str, fields: Sequence[RecordField], arrays: Mapping[str, Array]) -> str:
    """Fields for notebooks."""
    rows = [(name, str(arrays[name].shape), "" if unit == "1" else unit, doc) for name, unit, doc, _ in fields]
    return html_table(title, rows, ("", "shape", "unit", ""))
