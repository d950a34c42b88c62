"""Plain values as JSON and arrays, and back."""

import contextlib
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.engine.checkpoints.values import decode, encode

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.text(max_size=5) | st.integers()
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)


def round_trip(value: Any) -> Any:
    arrays: list[Any] = []
    return decode(json.loads(json.dumps(encode(value, arrays), allow_nan=False)), arrays)


@given(VALUES)
def test_every_plain_value_comes_back_equal_and_of_the_same_types(value: Any) -> None:
    assert repr(round_trip(value)) == repr(value)  # repr tells NaN, -0.0, tuples and lists apart


def test_arrays_and_their_scalars_come_back_to_the_bit() -> None:
    value = {"best_weights": [np.float32([[0.1, math.nan]]), np.arange(3)], "best": np.float32(0.1)}

    back = round_trip(value)

    assert type(back["best"]) is np.float32
    assert back["best"] == value["best"]
    assert [a.tobytes() for a in back["best_weights"]] == [a.tobytes() for a in value["best_weights"]]
    assert [a.dtype for a in back["best_weights"]] == [a.dtype for a in value["best_weights"]]


def test_a_copy_is_kept_since_callbacks_change_their_arrays() -> None:
    array = np.zeros(2)
    arrays: list[Any] = []

    encoded = encode(array, arrays)
    array[:] = 1.0

    assert decode(encoded, arrays).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("value", [object(), {"f": print}, [{1, 2}], np.array([object()])])
def test_what_only_pickle_could_store_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        encode(value, [])


@given(
    st.recursive(
        LEAVES, lambda i: st.lists(i, max_size=3) | st.dictionaries(st.text(max_size=6), i, max_size=2)
    )
)
def test_json_that_was_not_made_by_us_is_refused_or_read_and_never_more(value: Any) -> None:
    with contextlib.suppress(ValueError, TypeError, IndexError):
        decode(value, [])
