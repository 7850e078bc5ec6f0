"""What no function takes, and the check that it is refused in words."""

import helpers
import numpy as np
import pytest
import zveno as zv
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

BAD = (ValueError, TypeError)
REFUSALS = (*BAD, FloatingPointError, zv.Error)

# in place of an array of six numbers
WRONG_TYPES = {
    "string": "abcdef",
    "list of strings": ["1"] * 6,
    "bytes": b"abcdef",
    "complex": np.zeros(6, complex),
    "list of complex": [1j] * 6,
    "object": np.array([object()] * 6),
    "objects that are numbers": np.array([1.0] * 6, dtype=object),
    "dict": {"a": 1},
    "set": {1, 2, 3, 4, 5, 6},
    "generator": (i for i in range(6)),
    "datetime": np.zeros(6, "M8[s]"),
    "timedelta": np.zeros(6, "m8[s]"),
    "structured": np.zeros(6, [("x", float)]),
    "integers beyond 64 bits": [10**400] * 6,
    "function": len,
    "type": float,
    "body": zv.Body.cylinder(2.0, 0.02, 0.3),
}


def check_refused(kind, words, call, *args, **options):
    """The call raises an exception of the kind, and its message contains all the words."""
    with pytest.raises(kind) as caught:
        call(*args, **options)
    missing = [word for word in words if word not in str(caught.value)]
    assert not missing, f"{str(caught.value)!r} does not contain {missing}"
    return caught.value


def anything(*shapes):
    """Values of every kind; arrays of floats of these shapes among them."""
    leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers()
    return st.one_of(
        npst.arrays(
            dtype=st.one_of(npst.scalar_dtypes(), st.just(np.dtype(float)), st.just(np.dtype(object))),
            shape=npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=7),
        ),
        npst.arrays(float, st.sampled_from(shapes), elements=st.floats(width=64)),
        st.recursive(
            leaves | helpers.texts(max_size=4) | st.binary(),
            lambda inner: st.lists(inner, max_size=7) | st.dictionaries(helpers.texts(max_size=2), inner, max_size=2),
            max_leaves=20,
        ),
    )


def assert_answered_or_refused(call, arrays_of, options):
    """The call gives finite numbers or raises what a refusal may be."""
    if isinstance(options.get("threads"), int) and options["threads"] > 64:
        options["threads"] = 64
    try:
        result = call(**options)
    except REFUSALS:
        return
    assert all(x.dtype == np.float64 and np.isfinite(x).all() for x in arrays_of(result))
