"""Text of quantities."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime import units


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(units).failed == 0
    assert doctest.testmod(units).attempted >= 4


@pytest.mark.parametrize(
    ("value_s", "text"),
    [
        (0.0, "0.00 ns"),
        (9.996e-7, "1.00 µs"),
        (9.996e-4, "1.00 ms"),
        (0.9996, "1.00 s"),
        (59.94, "59.9 s"),
        (59.96, "1 min 00 s"),
        (3599.4, "59 min 59 s"),
        (3599.6, "1 h 00 min"),
        (-1.5, "-1.50 s"),
    ],
)
def test_a_duration_rounds_into_the_next_unit_and_never_shows_60_seconds(value_s: float, text: str) -> None:
    assert units.seconds(value_s) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "0.98 KiB"), (1024**3, "1.00 GiB"), (2**50, "1024 TiB")],
)
def test_a_size_has_binary_units(value: int, text: str) -> None:
    assert units.size_bytes(value) == text


@given(st.floats(min_value=1e-9, max_value=59.9))
def test_a_duration_below_a_minute_keeps_three_digits(value_s: float) -> None:
    number, unit = units.seconds(value_s).split()
    factor = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0}[unit]

    assert float(number) * factor == pytest.approx(value_s, rel=0.006)


def test_a_rate_below_a_hundred_keeps_three_digits() -> None:
    assert units.rate(12.34, "steps") == "12.3 steps/s"


@pytest.mark.parametrize(
    ("value", "text"), [(0.99996, "100 %"), (0.0, "0.0 %"), (0.5, "50.0 %"), (1.5, "150.0 %")]
)
def test_a_share_is_per_cent(value: float, text: str) -> None:
    assert units.share(value) == text


def test_power_is_in_whole_watts() -> None:
    assert units.watts(72.6) == "73 W"
