"""Clocks of workers that differ."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from steptime.worker.group import Group, _clocks

pytestmark = pytest.mark.tensorflow


def workers(*ahead_s: float) -> Any:
    """A group whose other workers' clocks are so much ahead of this one's."""
    return SimpleNamespace(
        workers=1 + len(ahead_s),
        gathered=lambda row: np.array([row, *([row[0] + ahead] for ahead in ahead_s)], np.float64),
    )


def test_clocks_that_differ_are_told_with_the_numbers() -> None:
    group = Group(workers=3, **_clocks(workers(2.5, -30.0)))
    assert group.clocks_apart_s == pytest.approx(32.5, abs=1e-3)
    assert "32.5 s apart" in group.clock_note


def test_clocks_that_agree_and_a_process_on_its_own_are_not_spoken_of() -> None:
    assert Group(workers=2, **_clocks(workers(0.01))).clock_note == ""
    assert _clocks(workers()) == {}
    assert Group().clock_note == ""


def test_a_slow_exchange_is_no_difference_of_clocks() -> None:
    assert Group(workers=2, clocks_apart_s=3.0, exchange_s=2.5).clock_note == ""
