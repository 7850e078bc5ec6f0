"""Checks of values that users give. Each returns the value in its final form or calls `fail`, which raises."""

from __future__ import annotations

import math
import operator
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from numbers import Real
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .errors import ModelError, ModelWarning

Array = NDArray[np.float64]
Fail = Callable[[str], NoReturn]
MaybeNone: TypeAlias = Any  # as in typeshed: users who know that a value is there need not ask for None

LARGEST: Final = 1e100  # squares of larger lengths and masses overflow
SMALLEST: Final = 1e-100  # divisors below it overflow


def _show(value: object) -> str:
    """Short text of an unwanted value for an error message."""
    try:
        text = repr(value)
    except Exception:  # an object that cannot even be printed must not hide the error
        text = f"a {type(value).__name__}"
    if "\n" in text:  # of arrays: a message is one line
        text = " ".join(text[:200].split())
    return text if len(text) <= 60 else text[:57] + "..."


def told_apart(first: float, second: float, digits: int = 6) -> tuple[str, str]:
    """Two numbers with as many digits as show which is larger: 0.25 and 0.2499999, not twice 0.25."""
    for count in range(digits, 18):
        texts = f"{first:.{count}g}", f"{second:.{count}g}"
        if first == second or texts[0] != texts[1]:
            break
    return texts


def _is_name(value: object) -> bool:
    """A non-empty string that can be written as UTF-8 (JSON may smuggle in lone surrogates)."""
    return isinstance(value, str) and value != "" and not any("\ud800" <= c <= "\udfff" for c in value)


def as_number(value: object, fail: Fail, what: str, *, infinite: bool = False) -> float:
    """Return `value` as a float or `fail`; infinities only where they mean "no limit"."""
    if type(value) is float:  # most are, and abstract types are slow to ask
        number = value
    elif isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        fail(f"{what} is {_show(value)}, expected a number")
    else:
        try:
            number = float(value)
        except OverflowError:
            fail(f"{what} is {_show(value)}, too large for a float")
    if math.isnan(number) or (math.isinf(number) and not infinite):
        fail(f"{what} is {number}, expected a finite number")
    return number + 0.0  # no negative zeros: equal values have equal bytes


def as_amount(value: object, fail: Fail, what: str, *, positive: bool = False) -> float:
    """A number >= 0, or > 0 if `positive`."""
    number = as_number(value, fail, what)
    if number < 0 or (positive and not number > SMALLEST):
        fail(f"{what} is {number:g}, expected a number {'> 0' if positive else '>= 0'}")
    if number > LARGEST:
        fail(f"{what} is {number:g}, too large to compute with")
    return number


def as_range(lower: object, upper: object, fail: Fail, who: str) -> tuple[float, float]:
    """Limits, perhaps infinite, that leave `who` room to move."""
    low, high = as_number(lower, fail, "lower", infinite=True), as_number(upper, fail, "upper", infinite=True)
    if not low <= high or low == math.inf or high == -math.inf:
        below, above = told_apart(low, high)
        fail(f"lower = {below} and upper = {above} leave no room for the {who}")
    return low, high


def frozen(array: Array) -> Array:
    """A contiguous read-only copy without negative zeros."""
    array = np.ascontiguousarray(array + 0.0)
    array.setflags(write=False)
    return array


def is_masked(value: object, depth: int = 3) -> bool:
    """A masked array, or lists of some."""
    if isinstance(value, np.ndarray):
        return isinstance(value, np.ma.MaskedArray)
    return depth > 0 and isinstance(value, list | tuple) and any(is_masked(x, depth - 1) for x in value)


def refuse_masked(value: object, what: str) -> None:
    """Raise TypeError for a masked array; `what` names function and argument."""
    if is_masked(value):
        raise TypeError(
            f"{what} is a masked array, expected plain numbers: what is under the mask would be taken for data"
        )


def as_raw(value: object, fail: Fail, what: str, expected: Callable[[], str] = str) -> NDArray[Any]:
    """`value` as an array of integers or floats as they are, or `fail`; `expected` ends "expected numbers"."""
    if is_masked(value):
        try:
            fail(what)
        except Exception as error:  # whose text begins with who is asked
            refuse_masked(value, str(error))
    try:
        raw: NDArray[Any] = np.asarray(value)
    except Exception as error:  # ragged lists, hostile __array__
        fail(f"{what} is {_show(value)}, expected numbers{expected()} ({error})")
    if raw.dtype.kind not in "iuf":
        fail(f"{what} is {_show(value)}, expected numbers{expected()}")
    return raw


def as_array(value: object, fail: Fail, what: str, *shapes: tuple[int, ...], lead: bool = False) -> Array:
    """Return `value` as a finite read-only float64 array of one of `shapes`, or `fail`.

    `lead`: the shape may have leading dimensions; then `shapes` is one.
    """

    def expected() -> str:
        return " or ".join(str(s) + (f" or (..., {str(s)[1:].rstrip(',)')})" if lead else "") for s in shapes)

    raw = as_raw(value, fail, what, lambda: f" of shape {expected()}")
    if (raw.shape[-len(shapes[0]) :] if lead else raw.shape) not in shapes:
        fail(f"{what} has shape {raw.shape}, expected {expected()}")
    if raw.dtype.itemsize > 8:  # a long double may not fit; reported below
        with np.errstate(over="ignore"):
            raw = raw.astype(np.float64)
    array = frozen(raw.astype(np.float64, copy=False))
    if not np.isfinite(array).all():
        fail(f"{what} is {_show(array.tolist())}, expected finite numbers")
    return array


def common_lead(fail: Fail, shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Leading shape that those of the named arguments broadcast to, or `fail`."""
    try:
        return np.broadcast_shapes(*shapes.values())
    except ValueError:
        texts = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        fail(f"leading shapes of the arguments do not broadcast: {texts}")


def as_vector(value: object, fail: Fail, what: str) -> Array:
    """Three numbers that can be squared."""
    vector = as_array(value, fail, what, (3,))
    if np.abs(vector).max() > LARGEST:
        fail(f"{what} is {_show(vector.tolist())}, too large to compute with")
    return vector


def as_direction(value: object, fail: Fail, what: str) -> Array:
    """A vector of length 1 along `value`."""
    vector = as_vector(value, fail, what)
    length = math.hypot(*vector.tolist())
    if not length > SMALLEST:
        fail(f"{what} is {_show(vector.tolist())}, expected a direction")
    return vector if abs(length - 1) < 1e-14 else frozen(vector / length)


def report(texts: Sequence[str], who: str, strict: bool) -> None:
    """Emit one `ModelWarning` that lists `texts`, or with `strict` raise it as a `ModelError`.

    The warning points at the line that called the package.
    """

    def fail(text: str) -> NoReturn:
        raise ModelError(f"{who}: {text}")

    strict = as_flag(strict, fail, "strict")
    if not texts:
        return
    shown = list(texts[:8])
    if len(texts) > 8:
        shown.append(f"and {len(texts) - 8} more (see {who.split()[0]}.suspicions)")
    message = f"{who}: " + "; ".join(shown)
    if strict:
        raise ModelError(f"{message} (strict=True)")
    warnings.warn(message, ModelWarning, stacklevel=levels_outside() + 1)


def levels_outside() -> int:
    """How many calls above its caller the code lies that called the package."""
    level, frame = 0, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    return level


def failing(function: str) -> Fail:
    """What raises a ValueError of `function`."""

    def fail(text: str) -> NoReturn:
        raise ValueError(f"{function}: {text}")

    return fail


def as_flag(value: object, fail: Fail, what: str) -> bool:
    """True or False, 1 or 0; not the truth of a string or an array."""
    if isinstance(value, bool | np.bool_) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    fail(f"{what} is {_show(value)}, expected True or False")


def as_choice(value: object, fail: Fail, what: str, choices: Sequence[str]) -> str:
    """One of the names in `choices`; arrays, which compare element by element, are none."""
    if not isinstance(value, str) or value not in choices:
        *most, last = map(repr, choices)
        fail(f"{what} is {_show(value)}, expected {', '.join(most)} or {last}")
    return value


def as_list(value: object) -> list[Any] | None:
    """The items of an iterable that is no text and no mapping; None of anything else, as a 0-d array."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return None
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return None
    return list(value)


def as_path(function: str, path: object, name: str = "path") -> str:
    """`path` as text; no number, which the system would take for an open file."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{function}: {name} is {_show(path)}, expected a path")
    text = os.fsdecode(path)
    if "\0" in text:
        raise ValueError(f"{function}: {name} is {_show(text)}, a name cannot hold a null character")
    return text


@contextmanager
def called(function: str, inner: str) -> Iterator[None]:
    """Refusals of an argument by `inner` name `function`, which the user has called."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text = str(error)
        if type(error) not in (TypeError, ValueError) or not text.startswith(f"{inner}:"):
            raise
        raise type(error)(function + text[len(inner) :]) from None


def as_integer(function: str, name: str, value: object, least: int, most: int) -> int:
    """`value` as an int from `least` to `most`."""
    number = None
    if not isinstance(value, bool | np.bool_) and hasattr(value, "__index__"):
        with suppress(TypeError):  # an array has the method and no index
            number = operator.index(value)
    if number is None or not least <= number <= most:
        raise ValueError(f"{function}: {name} is {_show(value)}, expected an integer from {least} to {most}")
    return number


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the nearest of the known ones, or nothing."""
    if not isinstance(word, str) or len(word) > 200:
        return ""
    import difflib  # 3 ms that no import of the package should wait for

    names = {name.lower(): name for name in islice(known, 5000)}
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    if not near:  # a part of a name, if it is part of one only
        near = [name for name in names if len(word) > 2 and word.lower() in name]
    return f"; did you mean {_show(names[near[0]])}?" if len(near) == 1 else ""
