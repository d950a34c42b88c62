"""Processes that are not about to do the same."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from steptime.engine.distribution.loops import SharedStream
from steptime.engine.distribution.sameness import arrays_text, check_same, versions
from steptime.errors import UsageError

pytestmark = pytest.mark.tensorflow


def group(*others: str) -> Any:
    """The chief of a group whose other workers hold these values."""
    from steptime.engine.distribution.sameness import _number

    return SimpleNamespace(
        workers=1 + len(others),
        rank=0,
        gathered=lambda row: np.array([row, *([_number(value)] for value in others)], np.float64),
    )


def test_equal_values_are_accepted_and_alone_nothing_is_asked() -> None:
    check_same(group("a", "a"), {"data": "a"})
    check_same(group(), {"data": "a"})


def test_the_workers_that_differ_are_named_with_what_to_do() -> None:
    with pytest.raises(
        UsageError, match=r"same data\. Worker 1, 3 differs from worker 0; worker 0 has a"
    ) as caught:
        check_same(group("b", "a", "b"), {"data": "a"})
    assert "seed" in caught.value.hint


def shared_stream(group: Any, *batches: Any) -> SharedStream:
    """A stream that all workers read, before its first step."""
    left = iter(batches)
    feed = SimpleNamespace(batch=lambda position: next(left), put_back=lambda batch: None)
    stream: Any = SharedStream.__new__(SharedStream)
    stream._step, stream._feed = SimpleNamespace(group=group), feed
    return stream  # type: ignore[no-any-return]


def test_other_streams_are_warned_of_before_training() -> None:
    batch = np.ones((2, 3))
    shared_stream(group(arrays_text(batch)), batch)._compare_first_batch(0)
    with pytest.warns(UserWarning, match=r"Give shuffle\(\) a seed"):
        shared_stream(group("another"), batch)._compare_first_batch(0)


def test_who_reads_nothing_takes_part_in_the_comparison() -> None:
    shared_stream(group("nothing"))._compare_first_batch(0)
    with pytest.warns(UserWarning, match="first batches of the workers differ"):
        shared_stream(group("something"))._compare_first_batch(0)


def test_a_hash_sees_every_value_and_the_order() -> None:
    x = np.arange(12.0).reshape(6, 2)
    texts = {arrays_text((x, None)), arrays_text((x[::-1], None)), arrays_text((x + np.eye(6, 2), None))}
    assert len(texts) == 3
    assert arrays_text((x, None)) == arrays_text((x.copy(), None))
    assert "float64 (6, 2)" in arrays_text((x, None))


def test_strings_are_hashed_too() -> None:
    assert arrays_text(np.array(["a", "b"], object)) != arrays_text(np.array(["a", "c"], object))


def test_the_versions_name_what_computes() -> None:
    assert {"python", "keras", "numpy"} <= {part.split()[0] for part in versions().split(", ")}
