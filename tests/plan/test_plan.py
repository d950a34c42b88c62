"""Checks of a plan's own parts."""

import math

import pytest

from steptime.errors import UsageError
from steptime.plan.plan import Protocol


@pytest.mark.parametrize("limit_s", [0, -1.0, math.nan, math.inf])
def test_a_time_limit_is_a_positive_number(limit_s: float) -> None:
    with pytest.raises(UsageError, match="time limit must be a positive number of seconds"):
        Protocol(time_limit_s=limit_s)


def test_no_time_limit_is_none() -> None:
    assert Protocol().time_limit_s is None
