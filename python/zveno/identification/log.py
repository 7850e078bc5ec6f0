"""Logs of a robot: reading, doubts about them, and the derivatives that are not in them."""

from __future__ import annotations

import math
import os
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from .._check import Array, Fail, _show, as_amount, as_list, as_number, did_you_mean
from .._extras import optional
from ..errors import Error
from .solve import Chunk, Mask

if TYPE_CHECKING:
    from ..model import Chain

__all__ = ["Finding", "Log", "LogError", "Signals", "read_log"]

_QUANTITIES: Final = ("q", "qd", "qdd", "tau", "q_ref")
_WORDS: Final = {
    "t": ("t", "time", "times", "stamp", "timestamp", "sec", "secs", "seconds"),
    "q": ("q", "pos", "position", "positions", "angle", "angles", "joint_position"),
    "qd": ("qd", "dq", "qdot", "vel", "velocity", "velocities", "rate", "speed"),
    "qdd": ("qdd", "ddq", "qddot", "acc", "accel", "acceleration", "accelerations"),
    "tau": ("tau", "torque", "torques", "effort", "efforts", "eff", "moment", "load"),
    "q_ref": ("q_ref", "qref", "q_des", "qdes", "q_cmd", "desired", "command", "target", "reference"),
}
_TIMES: Final = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_ANGLES: Final = {"rad": 1.0, "deg": math.pi / 180, "m": 1.0, "mm": 1e-3}
_EFFORTS: Final = {"Nm": 1.0, "N": 1.0, "mNm": 1e-3, "kNm": 1e3, "kN": 1e3}
_IN_MEMORY: Final = 256 << 20  # bytes of a table, above which it goes to a temporary file
_COLUMNS: Final = ("int", "uint", "float", "double", "half", "bool", "decimal", "timestamp", "duration")  # of Parquet
_ROWS: Final = 65536  # of a file read at once
_NUMBER: Final = 1e100  # whatever is larger is none: squares would overflow
_SINC: Final = 16  # samples on each side between which efforts are interpolated
_NOTHING: Final = 1e-100  # squares of what changes by less would vanish


class LogError(Error, ValueError):
    """A log from which nothing can be identified.

    Attributes
    ----------
    findings : tuple of Finding
        What had been noticed until then.
    """

    def __init__(self, message: str = "", findings: Sequence[Finding] = ()) -> None:
        super().__init__(message)
        self.findings = tuple(findings)

    @classmethod
    def _none_left(cls, function: str, findings: Sequence[Finding]) -> LogError:
        """Of a log without a sample to fit, with the first of the worst findings."""
        worst = next((f for level in ("fault", "doubt", "note") for f in findings if f.level == level), None)
        why = "" if worst is None else f": {worst}"
        more = f"; {len(findings) - 1} findings more" if len(findings) > 1 else ""
        return cls(f"{function}: no sample is left to fit{why}{more}", findings)


class Finding(NamedTuple):
    """Something noticed about a log or a fit: how bad ('note', 'doubt', 'fault'), where, and a sentence about it."""

    level: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}" if self.where else self.text


@dataclass
class Log:
    """Samples of a motion: times (m,), and coordinates, rates, accelerations and efforts (m, n), SI units.

    `qd`, `qdd` and `q_ref` (coordinates that were commanded) may be missing. Made by `read_log`.
    """

    t: Array
    q: Array
    tau: Array
    qd: Array | None = None
    qdd: Array | None = None
    q_ref: Array | None = None
    source: str = ""
    findings: list[Finding] = field(default_factory=list)
    coordinates: tuple[str, ...] = ()  # names of the columns of q where they are not those of joints

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        given = ", ".join(key for key in _QUANTITIES if getattr(self, key) is not None)
        span = float(self.t[-1] - self.t[0]) if len(self) else 0.0
        return f"Log of {len(self):,} samples, {span:.4g} s, {self.q.shape[1]} joints: {given}"


def read_log(
    source: Any,
    chain: Chain,
    *,
    columns: Mapping[str, Any] | None = None,
    units: Mapping[str, str] | None = None,
    rate: float | None = None,
) -> Log:
    """Read a log of a chain.

    Parameters
    ----------
    source : mapping of arrays, Log, or path
        ``t`` (m,), ``q`` and ``tau`` (m, n), and where they are known ``qd``, ``qdd``, ``q_ref`` (commanded). A file:
        ``.csv`` or other text with a line of names, ``.npz``, ``.parquet`` (needs pyarrow). Text and Parquet are read
        in pieces; a large table is kept in a temporary file.
    chain : Chain
        Order and names of joints.
    columns : mapping, optional
        Names of the columns of a table: ``{"t": "stamp", "q": ["a1", "a2"], "tau": "effort_{}"}``, in the order of the
        joints; braces stand for the joint's name or its number, from 0 or 1. By default names are understood that
        people use: ``q1``, ``position[0]``, ``effort.elbow``, ``tau_2 [Nm]``.
    units : mapping, optional
        ``{"t": "ms", "q": "deg", "tau": "mNm"}``; units in brackets behind a name of a column are understood too. Rates
        and accelerations are in the angles of ``q`` unless they have their own entry.
    rate : float, Hz, optional
        Where there are no times; compared with them otherwise.

    Returns
    -------
    log : Log

    Examples
    --------
    >>> import numpy as np, zveno as zv
    >>> arm = zv.robots.two_link()
    >>> t = np.arange(0.0, 1.0, 0.01)
    >>> q = np.sin(np.outer(t, [3.0, 5.0]))
    >>> zv.identification.read_log({"t": t, "q": q, "tau": 0 * q}, arm)
    Log of 100 samples, 0.99 s, 2 joints: q, tau
    """

    def fail(text: str) -> Any:
        raise LogError(f"log: {text}")

    if isinstance(source, Log):
        return _checked(source, chain, fail)

    factors = _units(units, fail)
    name, table = read_table(source, fail)
    n = chain.n
    arrays = _pick(table, chain, columns, fail, factors)
    m = same_length(arrays, fail)
    findings: list[Finding] = []
    with_times(arrays, m, rate, findings, fail)
    return Log(
        arrays["t"],
        arrays["q"].reshape(m, n),
        arrays["tau"].reshape(m, n),
        arrays.get("qd"),
        arrays.get("qdd"),
        arrays.get("q_ref"),
        name,
        findings,
    )


def _checked(log: Log, chain: Chain, fail: Fail) -> Log:
    """A log that was read before, if it is one of this chain."""
    m = np.shape(log.t)
    if len(m) != 1:
        fail(f"t has shape {m}, expected one time for each sample")
    for key in _QUANTITIES:
        value = getattr(log, key)
        if (key in ("q", "tau") or value is not None) and np.shape(value) != (*m, chain.n):
            joints = ", ".join(chain.joint_names)
            fail(f"{key} has shape {np.shape(value)}, expected {(*m, chain.n)}: columns of {joints}")
    return log


def read_table(source: Any, fail: Fail) -> tuple[str, Mapping[str, Any]]:
    """Name of the file, if it is one, and columns by name."""
    if isinstance(source, Mapping):
        for key in source:
            if not isinstance(key, str):
                fail(f"the log has the name {_show(key)}, expected words such as 'q'")
        return "", {key: _unmasked(value) for key, value in source.items() if value is not None}
    if isinstance(source, str | os.PathLike):
        name = os.fspath(source)
        return name, _read_file(name, fail)
    if hasattr(source, "columns") and hasattr(source, "to_numpy"):  # a DataFrame of pandas or polars
        return "", {str(key): np.asarray(source[key]) for key in source.columns}
    raise TypeError(f"log is {_show(source)}, expected a mapping of arrays, a table or a path")


def _unmasked(value: Any) -> Any:
    """What is masked is missing."""
    if isinstance(value, np.ma.MaskedArray) and value.dtype.kind in "iufb":
        return np.where(np.ma.getmaskarray(value), np.nan, value.data)
    return value


def same_length(arrays: Mapping[str, Array], fail: Fail) -> int:
    """Number of samples."""
    lengths = {key: len(value) for key, value in arrays.items()}
    if len(set(lengths.values())) > 1:
        fail("arrays have different lengths: " + ", ".join(f"{k} {v:,}" for k, v in lengths.items()))
    m = next(iter(lengths.values()))
    if m < 3:
        fail(f"{m} samples, nothing can be seen in so few")
    return m


def with_times(arrays: dict[str, Array], m: int, rate: float | None, findings: list[Finding], fail: Fail) -> None:
    """Times from the rate where there are none; otherwise the two are compared."""
    if rate is not None:
        rate = as_amount(rate, fail, "rate", positive=True)
    if "t" not in arrays:
        if rate is None:
            fail("there are no times; give t, or the rate in Hz")
        arrays["t"] = np.arange(m) / rate
    elif rate is not None:
        stride = max(1, m // 10000)
        steps = np.diff(arrays["t"][::stride])
        steps = steps[np.isfinite(steps)]
        step = float(np.median(steps)) / stride if steps.size else math.nan
        if abs(step * rate - 1) > 0.02:
            said = f"{1 / step:.5g} Hz" if step else "nothing"
            text = f"the times say {said}, rate says {rate:.5g} Hz: the times are believed. Are they in seconds?"
            findings.append(Finding("fault", "t", text))


def _units(units: Mapping[str, str] | None, fail: Fail) -> dict[str, float]:
    """Factors to SI for quantities whose unit was given."""
    found = factors_of(
        units, {"t": _TIMES, "tau": _EFFORTS} | dict.fromkeys(("q", "qd", "qdd", "q_ref"), _ANGLES), fail
    )
    for key in ("qd", "qdd", "q_ref"):
        if "q" in found:
            found.setdefault(key, found["q"])
    return found


def factors_of(units: Any, known_units: Mapping[str, Mapping[str, float]], fail: Fail) -> dict[str, float]:
    """Factors to SI of the quantities whose unit is given."""
    found: dict[str, float] = {}
    if units is None:
        return found
    if not isinstance(units, Mapping):
        fail(f"units is {_show(units)}, expected a mapping such as {{'t': 'ms'}}")
    for key, unit in units.items():
        if key not in known_units:
            fail(f"units has {_show(key)}, expected {', '.join(known_units)}")
        known = known_units[key]
        first = str(unit).partition("/")[0].replace(" ", "")
        if first not in known:
            fail(f"units has {key} in {_show(unit)}, expected {', '.join(known)}{did_you_mean(first, known)}")
        found[key] = known[first]
    return found


# ---- files


def _read_file(path: str, fail: Fail) -> Mapping[str, Any]:
    kind = os.path.splitext(path)[1].lower()
    if not os.path.isfile(path):
        fail(f"there is no file {path!r}")
    if kind == ".npz":
        try:
            with np.load(path, allow_pickle=False) as data:
                return {key: data[key] for key in data.files}
        except Exception as error:
            fail(f"{path} cannot be read as .npz ({error})")
    if kind == ".npy":
        try:
            data = np.load(path, allow_pickle=False, mmap_mode="r")
        except Exception as error:
            fail(f"{path} cannot be read as .npy ({error})")
        if data.dtype.names is None:
            fail(f"{path} has no named columns; use .npz with t, q and tau, or a structured array")
        return {key: data[key] for key in data.dtype.names}
    if kind in (".parquet", ".pq"):
        parquet = optional("pyarrow.parquet", "read_log", "pyarrow")
        try:
            file = parquet.ParquetFile(path)
            kinds = {field.name: str(field.type) for field in file.schema_arrow}
            names = [name for name, kind in kinds.items() if kind.startswith(_COLUMNS)]
            batches = (
                np.column_stack([_seconds(batch.column(name).to_numpy(zero_copy_only=False)) for name in names])
                for batch in file.iter_batches(batch_size=_ROWS, columns=names)
            )
            return _table(names, batches, file.metadata.num_rows * len(names) * 8)
        except Exception as error:
            fail(f"{path} cannot be read as Parquet ({error})")
    return _read_text(path, fail)


def _seconds(values: Any) -> Array:
    """Numbers as they are, moments and durations in seconds."""
    if values.dtype.kind not in "Mm":
        return np.asarray(values, dtype=np.float64)
    ticks = values.astype(f"{values.dtype.kind}8[ns]").view(np.int64)
    return np.where(np.isnat(values), np.nan, ticks / 1e9)


def _read_text(path: str, fail: Fail) -> Mapping[str, Any]:
    """Columns of text with a line of names."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            head, first = _head(file)
            if "\0" in head or not head:
                fail(f"{path} is no table: its first line is {_show(head[:40])}")
            separator = max(",;\t", key=head.count) if any(c in head for c in ",;\t") else " "
            names = [word.strip().strip('"') for word in (head.split() if separator == " " else head.split(separator))]
            if len(names) < 2:
                fail(f"{path} is no table: its first line {_show(head)} has one column, expected names of columns")
            if all(_is_number(word) for word in names):
                fail(f"{path} has no line of names: its first line is {_show(head[:40])}")
            if len(set(names)) != len(names):
                twice = next(name for name in names if names.count(name) > 1)
                fail(f"{path} has two columns named {_show(twice)}")

            def pieces() -> Iterator[Array]:
                line = first
                while lines := file.readlines(_ROWS * 20 * len(names)):
                    yield _numbers(lines, names, separator, line, path, fail)
                    line += len(lines)

            return _table(names, pieces(), 3 * os.path.getsize(path))
    except UnicodeDecodeError as error:
        fail(f"{path} is no text: {error.reason} at byte {error.start}")


def _head(file: Any) -> tuple[str, int]:
    """The line of names, and the number of the line after it; remarks before it are passed over.

    Names may stand behind a #, right before the first line of numbers.
    """
    remark, number = "", 0
    for _ in range(100):
        place, line = file.tell(), file.readline()
        number += 1
        text = line.strip()
        if not line:
            break
        if text.startswith("#"):
            remark, after = text, number + 1
        elif text and not text.startswith(("//", "%")):
            words = re.split(r"[,;\s]+", text.strip(",; "))
            if not remark or not all(_is_number(word.strip('"')) for word in words):
                return text, number + 1
            file.seek(place)
            break
    return remark.lstrip("#").strip(), after if remark else number


def _numbers(lines: list[str], names: list[str], separator: str, first: int, path: str, fail: Fail) -> Array:
    """Lines as numbers; words that are none, or missing ones, are NaN or a fault."""
    count = len(names)
    text = "".join(lines)
    if separator == ";" and "," in text and "." not in text:
        text = text.replace(",", ".")
    plain = text if separator == " " else text.replace(separator, " ")
    try:
        if "_" in plain:  # Python reads 1_0 as ten
            raise ValueError
        values = np.array(plain.split(), dtype=np.float64)
        if values.size == count * sum(1 for line in lines if line.strip()):
            return values.reshape(-1, count)
    except ValueError:
        pass
    rows = np.full((len(lines), count), np.nan)
    used = 0
    for k, line in enumerate(text.splitlines()):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = line.split() if separator == " " else line.split(separator)
        if len(words) != count:
            hint = ": decimal commas need another separator, as ;" if separator == "," and len(words) > count else ""
            fail(f"{path}, line {first + k}: {len(words)} columns, expected {count}{hint}")
        for i, word in enumerate(words):
            word = word.strip().strip('"')
            if word and word.lower() not in ("nan", "na", "null", "none", "-"):
                try:
                    rows[used, i] = float(word.replace("_", "x"))
                except ValueError:
                    fail(f"{path}, line {first + k}, column {names[i]}: {_show(word)} is no number")
        used += 1
    return rows[:used]


def _table(names: Sequence[str], pieces: Iterator[Array], guess: int) -> dict[str, Any]:
    """Columns by name; in memory, or in a temporary file without a name where they are many."""
    if guess <= _IN_MEMORY:
        parts = list(pieces)
        data: Array = np.concatenate(parts) if parts else np.empty((0, len(names)))
    else:
        with tempfile.TemporaryFile(prefix="zveno-log-") as file:
            rows = 0
            for piece in pieces:
                piece.tofile(file)
                rows += len(piece)
            file.flush()
            data = np.memmap(file, dtype=np.float64, mode="r", shape=(rows, len(names)))
    return {name: data[:, k] for k, name in enumerate(names)}


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


# ---- columns


def _pick(
    table: Mapping[str, Any],
    chain: Chain,
    columns: Mapping[str, Any] | None,
    fail: Fail,
    factors: Mapping[str, float],
) -> dict[str, Array]:
    n = chain.n
    names = _assign(list(table), chain, columns, fail)
    found: dict[str, Array] = {}
    for key in ("t", *_QUANTITIES):
        if key not in names:
            continue
        chosen = names[key]
        parts = []
        for name in chosen:
            try:
                value = np.asarray(table[name])
            except Exception as error:
                fail(f"{name} is no array of numbers ({error})")
            if value.dtype.kind in "Mm" and key == "t":
                value = _seconds(value)
            if value.dtype.kind not in "iufb":
                fail(f"{name} holds {_show(value.ravel()[:1].tolist())}, expected numbers")
            factor = factors.get(key, _bracket(name, key))
            if value.dtype != np.float64 or factor != 1.0:
                value = value * np.float64(factor)
            parts.append(value)
        if key == "t":
            array = parts[0]
            if array.ndim != 1:
                fail(f"t has shape {array.shape}, expected one time for each sample")
        elif len(parts) == 1 and parts[0].ndim == 2:
            array = parts[0]
            if array.shape[1] != n:
                fail(f"{key} has shape {array.shape}, expected (m, {n}): columns of {', '.join(chain.joint_names)}")
        elif len(parts) == 1 and n == 1:
            array = parts[0].reshape(-1, 1)
        elif len(parts) == n and all(part.ndim == 1 for part in parts):
            array = _columns(parts)
        else:
            fail(f"{key} has {len(parts)} columns, expected {n}: {', '.join(chain.joint_names)}")
        found[key] = array
    return found


def _columns(parts: list[Array]) -> Array:
    base = parts[0].base
    if isinstance(base, np.memmap) and all(part.base is base for part in parts):
        # columns of a file that stays where it is: together if they are neighbours
        starts = [part.__array_interface__["data"][0] for part in parts]
        step = parts[0].itemsize
        if all(b - a == step for a, b in pairwise(starts)):
            return np.lib.stride_tricks.as_strided(
                parts[0], (len(parts[0]), len(parts)), (parts[0].strides[0], step), writeable=False
            )
    return np.stack(parts, axis=1)


def _bracket(name: str, key: str) -> float:
    """Factor of a unit written behind a name: 'q1 [deg]'."""
    match = re.search(r"[\[(]\s*([A-Za-z ]+?)\s*(/.*)?[\])]\s*$", name)
    known = _TIMES if key == "t" else _EFFORTS if key == "tau" else _ANGLES
    return known.get(match[1].replace(" ", ""), 1.0) if match else 1.0


def _assign(names: list[str], chain: Chain, columns: Mapping[str, Any] | None, fail: Fail) -> dict[str, list[str]]:
    """Columns of each quantity, in the order of the joints."""
    n, joints = chain.n, chain.joint_names
    found: dict[str, list[str]] = {}
    if columns is not None:
        if not isinstance(columns, Mapping):
            fail(f"columns is {_show(columns)}, expected a mapping such as {{'q': ['q1', 'q2']}}")
        for key, value in columns.items():
            if key not in ("t", *_QUANTITIES):
                fail(f"columns has {_show(key)}, expected t, {', '.join(_QUANTITIES)}")
            if isinstance(value, str) and "{}" in value:
                choices = [[value.replace("{}", str(x)) for x in some] for some in (joints, range(n), range(1, n + 1))]
                fitting = [some for some in choices if all(x in names for x in some)]
                if not fitting:
                    fail(f"columns: nothing fits {_show(value)}, neither {choices[0][0]} nor {choices[2][0]}")
                last = value.replace("{}", str(n))
                found[key] = fitting[-1] if len(fitting) > 1 and last in names else fitting[0]
            else:
                listed = [value] if isinstance(value, str) else as_list(value)
                if not listed or (key == "t" and len(listed) > 1):
                    wanted_ = "the name of a column" if key == "t" else "names of columns"
                    fail(f"columns has {_show(value)} for {key}, expected {wanted_}")
                found[key] = listed
            for name in found[key]:
                if name not in names:
                    fail(f"columns: there is no column {_show(name)}{did_you_mean(name, names)}")
    for key, words in _WORDS.items():
        if key in found:
            continue
        exact = [name for name in names if _plain(name) in words]
        if exact:
            found[key] = exact[:1]
            continue
        if key == "t":
            continue
        indexed: dict[int, str] = {}
        named: dict[int, str] = {}
        for name in names:
            plain = _plain(name)
            for word in sorted(words, key=len, reverse=True):
                if match := re.fullmatch(rf"(?:.*[./])?{word}[ _.:/\[(]*(\d+)[\])]*", plain):
                    indexed.setdefault(int(match[1]), name)
                for j, joint in enumerate(joints):
                    low = re.escape(joint.lower())
                    if re.fullmatch(rf"(?:.*[./])?(?:{word}[ _.:/]+{low}|{low}[ _.:/]+{word})", plain):
                        named.setdefault(j, name)
        if len(named) == n:
            found[key] = [named[j] for j in range(n)]
        elif indexed:
            first = min(indexed)
            wanted = range(first, first + n)
            if first in (0, 1) and all(k in indexed for k in wanted):
                found[key] = [indexed[k] for k in wanted]
    for key in ("q", "tau"):
        if key not in found:
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            fail(
                f"there are no columns for {'the joint coordinates q' if key == 'q' else 'the joint efforts tau'} of "
                f"{n} joints among: {shown}; name them with columns={{{key!r}: [...]}}"
            )
    return found


def _plain(name: str) -> str:
    return re.sub(r"\s*[\[(]\s*[A-Za-z][A-Za-z ^0-9/*]*[\])]\s*$", "", name).strip().lower()


# ---- doubts and derivatives


class Span(NamedTuple):
    """Samples that belong together: no gap, no missing number."""

    begin: int
    end: int


@dataclass
class Signals:
    """A log made ready: filtered, differentiated, without what cannot be used; gives chunks again and again.

    Attributes
    ----------
    step : float, s
        Of the samples of the log.
    stride : int
        Only every so many samples are independent behind the filter.
    cutoff : float, Hz
        Of the low-pass filter; 0 for none.
    """

    log: Log
    chain: Chain
    spans: list[Span]
    step: float
    stride: int
    cutoff: float
    kernels: Array | None  # (length, 3) of coordinates: a wide low-pass filter, and with it two derivatives
    kernel: Array | None  # of efforts, and of everything computed from the motion to explain them
    use: Callable[[int, int], Mask | None]
    first_validated: int
    size: int = 4096
    quiet: float | Array = 0.0  # rates below which a joint's effort does not count
    folded: tuple[Any, ...] | None = None
    rates: Callable[[Array, Array], Array] = lambda q, qd: qd  # of the joints, by coordinates
    delay: Array | None = None  # (n,) of efforts behind coordinates, s: they are put in line

    @property
    def count(self) -> int:
        """Samples that chunks will give, about."""
        half = self.half
        return sum(max(0, -(-(s.end - s.begin - 2 * half) // self.stride)) for s in self.spans)

    @property
    def half(self) -> int:
        """Samples that filters need on each side."""
        return sum(0 if x is None else len(x) // 2 for x in (self.kernels, self.kernel)) + self.reach

    @property
    def longest_delay(self) -> float:
        """By which efforts can be put in line, s."""
        return 0.25 * self.step * (max(span.end - span.begin for span in self.spans) - 2 * self.half)

    @property
    def reach(self) -> int:
        """Samples on each side that efforts out of line need."""
        return 0 if self.delay is None else _SINC + math.ceil(float(np.abs(self.delay).max()) / self.step + 0.5)

    def chunks(
        self, noise: float | Array = 0.0, seed: int = 0, every: int = 1, fitted: bool = False
    ) -> Iterator[Chunk]:
        """All samples in order; with `noise`, of coordinates with so much more of it.

        `every` so many chunks one is given, `fitted` only those that are not kept for validation.
        """
        for k, (begin, end, part) in enumerate(self._pieces(fitted)):
            if k % every == 0:
                yield self._chunk(begin, end, part, noise, seed)

    def _pieces(self, fitted: bool) -> Iterator[tuple[int, int, int]]:
        """First and last sample of each chunk, and its part."""
        for span in self.spans:
            first, last = span.begin + self.half, span.end - self.half
            for part, (low, high) in enumerate(
                ((first, min(last, self.first_validated)), (max(first, self.first_validated), last))
            ):
                if part and fitted:
                    break
                if part:  # on the same raster
                    low += (first - low) % self.stride
                for begin in range(low, high, self.size * self.stride):
                    yield begin, min(high, begin + self.size * self.stride), part

    def _chunk(self, begin: int, end: int, part: int, noise: float | Array, seed: int) -> Chunk:
        log, stride = self.log, self.stride
        last = begin + (end - 1 - begin) // stride * stride  # of the samples that are kept
        inner = 0 if self.kernel is None else len(self.kernel) // 2
        outer = 0 if self.kernels is None else len(self.kernels) // 2
        near = slice(begin - inner, last + inner + 1)
        wide = slice(near.start - outer, near.stop + outer)
        q = np.array(log.q[wide])
        if np.any(noise):
            q = q + noise * np.random.default_rng((seed, begin)).normal(size=q.shape)
        reference: tuple[Array, Array, Array] | None = None
        if self.kernels is None:
            assert log.qd is not None and log.qdd is not None
            qd, qdd = np.array(log.qd[near]), np.array(log.qdd[near])
            if log.q_ref is not None:
                reference = np.array(log.q_ref[near]), qd, qdd
        else:
            raw = q
            q, qd, qdd = self._filtered(raw, (0, 1, 2))
            if log.qd is not None:
                qd, qdd = self._filtered(np.array(log.qd[wide]), (0, 1))
            if log.qdd is not None:
                (qdd,) = self._filtered(np.array(log.qdd[wide]), (0,))
            if log.q_ref is not None:
                a, b, c = self._filtered(np.array(log.q_ref[wide]), (0, 1, 2))
                reference = a, b, c
        chunk = Chunk(
            np.array(log.t[begin : last + 1 : stride]), q, qd, qdd, q, None, part, reference, self.kernel, stride
        )
        use = self._used(near)
        if use is not None and self.kernel is not None:
            use = chunk.reduce(np.where(use, 0.0, 1.0)) == 0
        if np.any(self.quiet):
            slow = chunk.reduce(
                np.where(np.abs(self.rates(q, qd)) <= self.quiet, 1.0, 0.0)
            )  # part of the window of the filter
            use = slow < 0.2 if use is None else use & (slow < 0.2)
        return chunk._replace(tau=chunk.reduce(self._efforts(near)), use=use)

    def smooth(self) -> Signals:
        """The same samples behind a low-pass filter, if there is none and stretches without a gap are long enough."""
        if self.kernel is not None:
            return self
        _, cutoff = _cutoff_of(self.log, self.spans, self.step)
        kernel, stride = _second_filter(cutoff, self.step)
        needed = len(kernel) + 2 * max(2 * _SINC, self.reach)  # and some to put efforts in line
        spans = [span for span in self.spans if span.end - span.begin > needed]
        if not spans:
            return self
        return replace(
            self, kernel=kernel, stride=stride, cutoff=cutoff, spans=spans, size=max(1, 8192 // stride), folded=None
        )

    def _efforts(self, near: slice) -> Array:
        """Efforts in line with the coordinates of these samples: tau(t + delay), by a sinc under a Kaiser window."""
        if self.delay is None:
            return np.array(self.log.tau[near])
        reach = self.reach
        raw = np.array(self.log.tau[near.start - reach : near.stop + reach])
        found = np.empty((near.stop - near.start, raw.shape[1]))
        k = np.arange(-_SINC, _SINC + 1)
        for j, shift in enumerate((self.delay / self.step).tolist()):
            whole = round(shift)
            part = k - (shift - whole)
            h = np.sinc(part) * np.i0(8.0 * np.sqrt(np.maximum(0.0, 1 - (part / (_SINC + 0.5)) ** 2)))
            first = reach + whole - _SINC
            found[:, j] = np.correlate(raw[first : first + len(found) + 2 * _SINC, j], h / h.sum(), "valid")
        return found

    def _used(self, near: slice) -> Mask | None:
        """Which efforts in line with these samples count: those whose two neighbours do."""
        if self.delay is None:
            return self.use(near.start, near.stop)
        reach = self.reach
        use = self.use(near.start - reach, near.stop + reach)
        if use is None:
            return None
        found = np.empty((near.stop - near.start, use.shape[1]), dtype=bool)
        for j, shift in enumerate((self.delay / self.step).tolist()):
            low, high = (use[reach + k : reach + k + len(found), j] for k in (math.floor(shift), math.ceil(shift)))
            found[:, j] = low & high
        return found

    def _filtered(self, raw: Array, orders: Sequence[int]) -> list[Array]:
        """Convolutions by Fourier transforms, without the ends that lack neighbours."""
        assert self.kernels is not None
        length = len(self.kernels)
        size = 1 << (len(raw) + length - 2).bit_length()
        F = np.fft.rfft(raw, size, axis=0)
        mirrored = np.fft.rfft(self.kernels[::-1], size, axis=0)
        return [np.fft.irfft(F * mirrored[:, k, None], size, axis=0)[length - 1 : len(raw)] for k in orders]


@dataclass
class FoldedSignals(Signals):
    """One period, the mean of many, differentiated exactly: chunks of its samples."""

    def chunks(
        self, noise: float | Array = 0.0, seed: int = 0, every: int = 1, fitted: bool = False
    ) -> Iterator[Chunk]:
        assert self.folded is not None
        t, q, qd, qdd, tau = self.folded
        tau = self._in_line(tau)
        for begin in range(0, len(t), every * self.size):
            at = slice(begin, min(len(t), begin + self.size))
            use = self._used(at)
            if np.any(self.quiet):
                fast = np.abs(self.rates(q[at], qd[at])) > self.quiet
                use = fast if use is None else use & fast
            yield Chunk(t[at], q[at], qd[at], qdd[at], tau[at], use, 0)  # not filtered

    @property
    def reach(self) -> int:
        return 0

    @property
    def count(self) -> int:
        assert self.folded is not None
        return len(self.folded[0])

    def smooth(self) -> Signals:
        """Some periods behind each other, behind a low-pass filter."""
        assert self.folded is not None
        _, q, qd, qdd, tau = self.folded
        P = len(q)
        _, cutoff = _cutoff_of(self.log, [Span(0, min(P, len(self.log)))], self.step)
        kernel, stride = _second_filter(cutoff, self.step)
        beside = -(-(len(kernel) // 2 + _SINC + P // 4 + 2) // P)  # periods on each side
        many = [np.tile(x, (1 + 2 * beside, 1)) for x in (q, qd, qdd, tau)]
        t = np.arange(len(many[0]), dtype=np.float64) * self.step
        log = replace(self.log, t=t, q=many[0], tau=many[3], qd=many[1], qdd=many[2], q_ref=None)
        known = self.use(0, P)
        mask = None if known is None else np.tile(known, (1 + 2 * beside, 1))
        return _OnePeriod(
            log,
            self.chain,
            [Span(beside * P, (beside + 1) * P)],
            self.step,
            stride,
            cutoff,
            None,
            kernel,
            lambda begin, end: None if mask is None else mask[begin:end],
            len(t),
            max(1, 4096 // stride),
            self.quiet,
            None,
            self.rates,
            self.delay,
        )

    def _in_line(self, tau: Array) -> Array:
        """tau(t + delay) by its Fourier series."""
        if self.delay is None:
            return tau
        w = 2j * math.pi * np.fft.rfftfreq(len(tau), self.step)[:, None]
        return np.asarray(np.fft.irfft(np.fft.rfft(tau, axis=0) * np.exp(w * self.delay), len(tau), axis=0))

    def _used(self, near: slice) -> Mask | None:
        if self.delay is None or (use := self.use(0, self.count)) is None:
            return self.use(near.start, near.stop)
        shifts = (self.delay / self.step).tolist()
        rolled = [np.roll(use[:, j], -math.floor(x)) & np.roll(use[:, j], -math.ceil(x)) for j, x in enumerate(shifts)]
        return np.stack(rolled, axis=1)[near]


@dataclass
class _OnePeriod(Signals):
    """One of several periods, whose neighbours are there for filters."""

    @property
    def longest_delay(self) -> float:
        return 0.25 * self.step * (self.spans[0].end - self.spans[0].begin)

    @property
    def count(self) -> int:
        return -(-(self.spans[0].end - self.spans[0].begin) // self.stride)

    def _pieces(self, fitted: bool) -> Iterator[tuple[int, int, int]]:
        (span,) = self.spans
        for begin in range(span.begin, span.end, self.size * self.stride):
            yield begin, min(span.end, begin + self.size * self.stride), 0


def low_pass(cutoff: float, step: float) -> Array:
    """Symmetric filters (length, 3): low-pass with gain 1/2 at the cut-off, and its first two derivatives in time.

    A sinc under a Kaiser window (ripple 1e-4) followed by central differences of eighth order: no phase, and the same
    filter for coordinates, rates, accelerations and efforts.
    """
    x = cutoff * step  # cycles per sample
    half = max(4, math.ceil(2.6 / x))
    k = np.arange(-half, half + 1)
    h = np.sinc(2 * x * k) * np.kaiser(2 * half + 1, 8.0)
    h /= h.sum()
    first = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]) / step
    second = np.array([-1 / 560, 8 / 315, -1 / 5, 8 / 5, -205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]) / step**2
    identity = np.zeros(9)
    identity[4] = 1.0
    # windows are multiplied as they are: convolution with the mirrored, which for odd kernels is the sign used here
    return np.stack([np.convolve(h, d) for d in (identity, first, second)], axis=1)


def highest_frequency(q: Array, step: float, share: float = 0.999) -> float:
    """Frequency below which `share` of the energy of the rates lies, of the joint that has the highest, Hz."""
    m = len(q)
    window = np.hanning(m)[:, None]
    line = np.linspace(0.0, 1.0, m)[:, None]
    detrended = q - q[:1] - (q[-1:] - q[:1]) * line
    power = np.abs(np.fft.rfft(detrended * window, axis=0)) ** 2
    f = np.fft.rfftfreq(m, step)
    floor = np.median(power[len(f) // 2 :], axis=0)  # noise, as in the upper half
    power = np.where(power > 20 * floor, power, 0.0) * (f**2)[:, None]
    total = power.sum(axis=0)
    moving = total > 1e-12 * total.max(initial=0.0)
    if not moving.any() or total.max() == 0:
        return 0.0
    part = np.cumsum(power[:, moving], axis=0) / total[moving]
    return float(f[(part > share).argmax(axis=0)].max())


def _cutoff_of(log: Log, spans: Sequence[Span], step: float) -> tuple[float, float]:
    """Highest frequency of a motion, and the cut-off for it: filters of a third of the log at most."""
    longest = max(spans, key=lambda s: s.end - s.begin)
    some = np.array(log.q[longest.begin : min(longest.end, longest.begin + (1 << 17))])
    top = highest_frequency(some, step)
    return top, min(max(5 * top, 25 / len(some) / step), 0.2 / step)


def _second_filter(cutoff: float, step: float) -> tuple[Array, int]:
    """Of efforts and columns, and every which sample is independent behind it."""
    return low_pass(cutoff, step)[4:-4, 0], max(1, int(0.5 / (cutoff * step)))


def prepare(
    log: Log,
    chain: Chain,
    *,
    cutoff: float | None = None,
    period: float | None = None,
    validation: float = 0.25,
    quiet: float = 0.0,
    tick: Callable[[int], None] = lambda done: None,
) -> Signals:
    """Look through a log, say what is wrong with it, and make it ready. Findings go to ``log.findings``."""
    findings = log.findings

    def fail(text: str) -> Any:
        raise LogError(f"log: {text}", findings)

    step, spans = _clock(log, findings, fail, tick)
    _constant(log, chain, spans, findings)
    if log.qd is not None:
        _rates(log, chain, spans, step, findings)
    if not log.coordinates:
        _ranges(log, chain, spans, findings)
    use = _saturated(log, chain, spans, findings)
    if cutoff is not None:
        cutoff = as_amount(cutoff, fail, "cutoff")
        if not cutoff and (log.qd is None or log.qdd is None):
            fail("cutoff is 0, expected a number > 0: coordinates are differentiated behind a filter")
    share = as_number(validation, fail, "validation")
    if not 0 <= share <= 0.9:
        fail(f"validation is {share:g}, expected the part of the log that is kept for it: 0 to 0.9")

    if period is not None:
        return _fold(log, chain, spans, step, period, cutoff, quiet, use, findings, fail)
    kernels: Array | None = None
    kernel: Array | None = None
    stride = 1
    if cutoff is None and (log.qd is None or log.qdd is None):
        top, cutoff = _cutoff_of(log, spans, step)
        findings.append(
            Finding(
                "note",
                "filter",
                f"rates have 99.9 % of their energy below {top:.3g} Hz; low-pass at {cutoff:.3g} Hz without phase "
                "(cutoff sets it)",
            )
        )

    def short(needed: float) -> Any:
        why = next((f" ({f})" for f in findings if f.where in ("t", "samples") and f.level != "note"), "")
        fail(
            f"the longest stretch without a gap has {most:,} samples{why}, the filter at "
            f"{cutoff:.3g} Hz needs {needed:,.0f}; a longer log, or a higher cutoff"
        )

    most = max(s.end - s.begin for s in spans)
    if cutoff:
        if cutoff * step * most < 2.6:  # before a filter of any length is made
            short(2 * 2.6 / (cutoff * step))
        if cutoff > 0.25 / step:
            fail(f"cutoff is {cutoff:g} Hz, expected at most a quarter of the sampling rate: {0.25 / step:.4g} Hz")
        if log.qd is None or log.qdd is None:
            kernels = low_pass(min(2 * cutoff, 0.25 / step), step)
        kernel, stride = _second_filter(cutoff, step)
    half = sum(0 if x is None else len(x) // 2 for x in (kernels, kernel))
    long = [span for span in spans if span.end - span.begin > 2 * half]
    if not long:
        short(2 * half + 1)
    first = long[-1].end if share == 0 else _at_share(long, 1 - share)
    size = max(1, 4096 // stride) if kernel is not None else 2048
    return Signals(log, chain, long, step, stride, cutoff or 0.0, kernels, kernel, use, first, size, quiet)


def _at_share(spans: Sequence[Span], share: float) -> int:
    """Sample before which a share of all samples lies."""
    left = share * sum(s.end - s.begin for s in spans)
    for s in spans:
        if left <= s.end - s.begin:
            return s.begin + int(left)
        left -= s.end - s.begin
    return spans[-1].end


def _clock(log: Log, findings: list[Finding], fail: Fail, tick: Callable[[int], None]) -> tuple[float, list[Span]]:
    """Step of the clock, and stretches without gaps or missing numbers."""
    m = len(log.t)
    sample = np.concatenate(
        [np.diff(np.asarray(log.t[k : k + _ROWS])) for k in {0, max(0, m // 2 - _ROWS), max(0, m - _ROWS)}]
    )
    known = sample[np.isfinite(sample) & (sample > 0)]
    if not known.size and np.isfinite(np.asarray(log.t)).any():
        fail("time does not go on: no sample is later than the one before it")
    step = float(np.median(known)) if known.size else 1.0
    present = [key for key in _QUANTITIES if getattr(log, key) is not None]
    starts: list[Any] = []
    ends: list[Any] = []
    jumps: list[int] = []
    bad = regular = back = 0
    first_bad = -1
    total = squares = 0.0
    last_t, last_good = math.nan, False
    for begin in range(0, m, _ROWS):
        at = slice(begin, begin + _ROWS)
        t = np.asarray(log.t[at], dtype=np.float64)
        good = np.isfinite(t)
        for key in present:
            good &= (np.abs(getattr(log, key)[at]) < _NUMBER).all(axis=1)
        if first_bad < 0 and not good.all():
            first_bad = begin + int(good.argmin())
        bad += int((~good).sum())
        before = np.concatenate([[last_good], good[:-1]])
        with np.errstate(invalid="ignore"):
            steps = t - np.concatenate([[last_t], t[:-1]])
            even = (steps > 0.5 * step) & (steps < 1.5 * step)  # NaN is no step
        follows = good & before & even
        regular += int(follows.sum())
        off = steps[follows] / step - 1
        total += float(off.sum())
        squares += float(off @ off)
        jumped = np.flatnonzero(good & before & ~even)
        back += int((steps[jumped] <= 0).sum())
        jumps += (jumped + begin).tolist()
        starts.append(np.flatnonzero(good & ~follows) + begin)
        ends.append(np.flatnonzero(before & ~follows) + begin)
        last_t, last_good = float(t[-1]), bool(good[-1])
        tick(begin + len(t))
    if last_good:
        ends.append(np.array([m]))
    if bad:
        findings.append(
            Finding(
                "doubt" if bad < 0.2 * m else "fault",
                "samples",
                f"{bad:,} of {m:,} samples have missing or infinite numbers, the first is number {first_bad}; they are "
                "left out",
            )
        )
    if m - bad < 3:
        fail(f"{m - bad} of {m:,} samples are complete")
    if jumps:
        places = ", ".join(f"{log.t[k - 1]:.6g} s" for k in jumps[:3]) + (", ..." if len(jumps) > 3 else "")
        times = f"{len(jumps):,} times" + (f", {back:,} times back" if back else "")
        findings.append(Finding("doubt", "t", f"the clock jumps {times} (after {places}); the log is cut there"))
    mean = total / max(1, regular)
    jitter = math.sqrt(max(0.0, squares / max(1, regular) - mean**2))
    if jitter > 0.02:
        findings.append(
            Finding(
                "doubt",
                "t",
                f"steps of the clock vary by {100 * jitter:.0f} % about {1e3 * step:.4g} ms; they are taken as even",
            )
        )
    pairs = zip(np.concatenate(starts).tolist(), np.concatenate(ends).tolist(), strict=True)
    spans = [Span(a, b) for a, b in pairs if b - a >= 2]
    if not spans:
        fail(f"no two of {m - bad:,} samples follow each other by one step of {step:.4g} s")
    return (step * (1 + mean) if jitter > 1e-9 else step), spans


def _sampled(log: Log, spans: Sequence[Span], most: int = 200_000) -> Any:
    """Numbers of some usable samples, evenly chosen."""
    total = sum(s.end - s.begin for s in spans)
    stride = max(1, total // most)
    return np.concatenate([np.arange(s.begin, s.end, stride) for s in spans])


def _constant(log: Log, chain: Chain, spans: Sequence[Span], findings: list[Finding]) -> None:
    rows = _sampled(log, spans)
    for key, word in (("q", "coordinate"), ("tau", "effort")):
        values = np.asarray(getattr(log, key)[rows])
        span = np.ptp(values, axis=0)
        size = np.abs(values).max(axis=0)
        names = (log.coordinates if key == "q" else ()) or chain.joint_names
        for j in np.flatnonzero(span <= np.maximum(1e-12 * size, _NOTHING)).tolist():
            tail = "its effort is not fitted" if key == "tau" else "what only its motion shows is missing"
            findings.append(Finding("fault", names[j], f"the {word} is {values[0, j] + 0.0:.4g} all the time; {tail}"))


def dead_efforts(log: Log, spans: Sequence[Span]) -> Mask:
    """Joints (n,) of bool whose effort never changes."""
    values = np.asarray(log.tau[_sampled(log, spans)])
    return np.asarray(np.ptp(values, axis=0) <= np.maximum(1e-12 * np.abs(values).max(axis=0), _NOTHING))


def _rates(log: Log, chain: Chain, spans: Sequence[Span], step: float, findings: list[Finding]) -> None:
    """Compare logged rates with differences of coordinates: scale, sign, order of columns."""
    assert log.qd is not None
    longest = max(spans, key=lambda s: s.end - s.begin)
    end = min(longest.end, longest.begin + 50_000)
    q = np.array(log.q[longest.begin : end])
    qd = np.array(log.qd[longest.begin : end])
    if len(q) < 20:
        return
    w = max(1, len(q) // 2000)  # differences over a few steps: less noise
    slope = (q[2 * w :] - q[: -2 * w]) / (2 * w * step)
    total = np.concatenate([np.zeros((1, q.shape[1])), np.cumsum(qd, axis=0)])
    mean = (total[2 * w :] - total[: -2 * w])[: len(slope)] / (2 * w)
    mean = mean[: len(slope)]
    slope = slope[: len(mean)]
    a = slope - slope.mean(axis=0)
    b = mean - mean.mean(axis=0)
    na, nb = np.linalg.norm(a, axis=0), np.linalg.norm(b, axis=0)
    moving = (na > 1e-9 * max(na.max(), 1e-300)) & (nb > 1e-9 * max(nb.max(), 1e-300))
    if not moving.any():
        return
    with np.errstate(invalid="ignore", divide="ignore"):
        C = np.where(np.outer(moving, moving), (a.T @ b) / np.outer(na, nb), 0.0)
        ratio = np.where(moving, (a * b).sum(axis=0) / (na * na), 1.0)
    names = log.coordinates or chain.joint_names
    right = np.abs(np.diag(C)) > 0.9
    for j in np.flatnonzero(moving & ~right).tolist():
        k = int(np.abs(C[j]).argmax())
        if abs(C[j, k]) > 0.95 and k != j:
            findings.append(
                Finding(
                    "fault", names[j], f"its coordinate changes as the rate of {names[k]} says: columns are swapped"
                )
            )
        else:
            findings.append(
                Finding(
                    "fault",
                    names[j],
                    f"rate and change of the coordinate have little in common (correlation {C[j, j]:.2f})",
                )
            )
    for j in np.flatnonzero(moving & right & (np.diag(C) < 0)).tolist():
        findings.append(Finding("fault", names[j], "the rate has the opposite sign of the change of the coordinate"))
    good = np.flatnonzero(moving & right)
    if not good.size:
        return
    factor = float(np.median(np.abs(ratio[good])))
    if abs(factor - 1) < 0.03:
        return
    together = bool((np.abs(np.abs(ratio[good]) / factor - 1) < 0.03).all())
    if together:
        guesses = {
            1e-3: "times are in milliseconds",
            1e-6: "times are in microseconds",
            1e-9: "times are in nanoseconds",
            math.pi / 180: "rates are in degrees, coordinates in radians",
            180 / math.pi: "coordinates are in degrees, rates in radians",
        }
        near = [text for value, text in guesses.items() if abs(1 / factor / value - 1) < 0.05]
        text = near[0] if near else f"the sampling rate may be {factor / step:.4g} Hz, not {1 / step:.4g} Hz"
        findings.append(Finding("fault", "t", f"rates are {factor:.4g} times the changes of coordinates: {text}"))
    else:
        for j in good[np.abs(np.abs(ratio[good]) - 1) > 0.03].tolist():
            findings.append(
                Finding(
                    "fault", names[j], f"the rate is {abs(ratio[j]):.4g} times the change of the coordinate: units?"
                )
            )


def _ranges(log: Log, chain: Chain, spans: Sequence[Span], findings: list[Finding]) -> None:
    """Coordinates that look like degrees."""
    values = np.abs(np.asarray(log.q[_sampled(log, spans)])).max(axis=0)
    turning = np.array([kind == "revolute" for kind in chain.joint_types])
    limit = np.maximum(np.abs(chain.lower), np.abs(chain.upper))
    beyond = turning & (values > np.where(np.isfinite(limit), 1.5 * limit, 4 * math.pi))
    if beyond.any():
        j = int(np.where(beyond, values, 0.0).argmax())
        findings.append(
            Finding(
                "fault",
                chain.joint_names[j],
                f"its coordinate reaches {values[j]:.4g} rad"
                + (f", its limit is {limit[j]:.4g}" if np.isfinite(limit[j]) else "")
                + ": are these degrees? (units={'q': 'deg'})",
            )
        )


def _saturated(
    log: Log, chain: Chain, spans: Sequence[Span], findings: list[Finding]
) -> Callable[[int, int], Mask | None]:
    """Efforts that stick at their largest or least value do not count."""
    rows = _sampled(log, spans)
    values = np.asarray(log.tau[rows])
    high, low = values.max(axis=0), values.min(axis=0)
    n = len(high)
    level: list[tuple[float, float]] = []
    for j in range(n):
        sides = []
        for extreme in (low[j], high[j]):
            at = values[:, j] == extreme
            runs = int((at[1:] & at[:-1]).sum())
            stuck = at.mean() > 0.005 and runs >= 3 and at.mean() < 0.999 and high[j] > low[j]
            sides.append(extreme if stuck else math.nan)
            if stuck:
                findings.append(
                    Finding(
                        "doubt",
                        chain.joint_names[j],
                        f"{100 * at.mean():.1f} % of the efforts are exactly {extreme:.5g}: saturated, "
                        "they are not fitted",
                    )
                )
        level.append((sides[0], sides[1]))
    bounds = np.array(level)
    dead = dead_efforts(log, spans)
    if np.isnan(bounds).all() and not dead.any():
        return lambda begin, end: None

    def use(begin: int, end: int) -> Mask:
        tau = np.asarray(log.tau[begin:end])
        return np.asarray(~((tau == bounds[:, 0]) | (tau == bounds[:, 1]) | dead))

    return use


def _fold(
    log: Log,
    chain: Chain,
    spans: Sequence[Span],
    step: float,
    period: Any,
    cutoff: float | None,
    quiet: float,
    use: Callable[[int, int], Mask | None],
    findings: list[Finding],
    fail: Fail,
) -> Signals:
    """Mean of whole periods; derivatives from its Fourier series."""
    length = as_amount(period, fail, "period", positive=True) / step
    P = round(length)
    if P < 8 or abs(length - P) > 1e-3 * P**0.5:
        fail(f"period is {period:g} s, {length:.6g} samples; expected a whole number of at least 8")
    if max(span.end - span.begin for span in spans) < P:
        fail(f"no whole period of {period:g} s without a gap")
    sums = [np.zeros((P, x.shape[1])) for x in (log.q, log.tau)]
    squares = np.zeros_like(sums[0])
    counts = np.zeros_like(sums[1])  # of efforts that count
    count = 0
    origin = spans[0].begin
    for span in spans:
        first = span.begin + (-(span.begin - origin)) % P
        for begin in range(first, span.end - P + 1, P):
            q, tau = np.asarray(log.q[begin : begin + P]), np.asarray(log.tau[begin : begin + P])
            sums[0] += q
            fit = use(begin, begin + P)
            sums[1] += tau if fit is None else np.where(fit, tau, 0.0)
            counts += 1.0 if fit is None else fit
            squares += q * q
            count += 1
    if not count:
        fail(f"no whole period of {period:g} s without a gap")
    q, tau = sums[0] / count, sums[1] / np.maximum(counts, 1.0)
    apart = np.sqrt(np.maximum(squares / count - q * q, 0.0).mean(axis=0))
    moved = np.ptp(np.asarray(log.q[_sampled(log, spans)]), axis=0)
    if (apart > 0.05 * moved).any():
        j = int((apart / np.maximum(moved, 1e-300)).argmax())
        name = (log.coordinates or chain.joint_names)[j]
        text = (
            f"periods of {period:g} s differ by {apart[j]:.3g} of {moved[j]:.3g}: the motion does not repeat itself so"
        )
        findings.append(Finding("fault", name, text))
    top = min(P // 2 - 1, max(1, int((cutoff or 0.0) * P * step)))
    c = np.fft.rfft(q, axis=0)
    if not cutoff:
        power = np.abs(c) ** 2
        floor = np.median(power[len(c) // 2 :], axis=0)
        loud = np.flatnonzero((power[1:] > np.maximum(50 * floor, 1e-24 * power[1:].max(axis=0))).any(axis=1)) + 1
        top = int(loud.max(initial=1))
    c[top + 1 :] = 0.0
    w = 2j * math.pi * np.arange(len(c))[:, None] / (P * step)
    q, qd, qdd = (np.fft.irfft(c * w**k, P, axis=0) for k in range(3))
    findings.append(
        Finding("note", "period", f"{count} periods of {P:,} samples averaged; coordinates up to harmonic {top}")
    )
    folded = (np.arange(P) * step, q, qd, qdd, tau)
    known = counts > 0

    def measured(begin: int, end: int) -> Mask | None:
        return None if known.all() else np.asarray(known[begin:end])

    return FoldedSignals(log, chain, [Span(0, P)], step, 1, cutoff or 0.0, None, None, measured, P, 4096, quiet, folded)
