"""Checks of a plan's own parts."""

import math
from typing import Any

import pytest

from steptime.errors import UsageError
from steptime.plan.plan import Protocol


@pytest.mark.parametrize("limit_s", [0, -1.0, math.nan, math.inf])
def test_a_time_limit_is_a_positive_number(limit_s: float) -> None:
    with pytest.raises(UsageError, match="time limit must be a positive number of seconds"):
        Protocol(time_limit_s=limit_s)


def test_no_time_limit_is_none() -> None:
    assert Protocol().time_limit_s is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"retries": -1}, "--retries"),
        ({"on_oom": "twice"}, "--on-oom"),
        ({"stuck_limit_s": 0.0}, "--stuck-after"),
    ],
)
def test_what_follows_a_failure_must_be_something_that_can_be_done(
    change: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=f"{words} must be"):
        Protocol(**change)
