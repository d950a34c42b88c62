"""How often something is to happen, as people write it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.errors import UsageError
from steptime.plan.cadence import EVERY_PATTERN, Every, parse_every


@pytest.mark.parametrize(
    ("text", "every"),
    [
        ("30s", Every(seconds_s=30.0)),
        ("5m", Every(seconds_s=300.0)),
        ("1.5h", Every(seconds_s=5400.0)),
        ("200steps", Every(steps=200)),
        ("1 step", Every(steps=1)),
        ("1epoch", Every(epochs=1)),
        ("10 epochs", Every(epochs=10)),
        ("auto", Every(seconds_s=300.0, epochs=1, thrifty=True)),
        ("none", None),
    ],
)
def test_times_steps_and_epochs_are_read(text: str, every: Every | None) -> None:
    assert parse_every(text) == every
    assert re.fullmatch(EVERY_PATTERN, text)


@pytest.mark.parametrize(
    "text", ["", "5", "m", "0s", "0steps", "-5m", "5 m", "1.5steps", "5 minutes", "1e3s"]
)
def test_anything_else_is_refused_with_what_is_expected(text: str) -> None:
    with pytest.raises(UsageError, match="200steps"):
        parse_every(text)


@given(st.text(max_size=12))
def test_whatever_is_written_is_read_or_refused(text: str) -> None:
    try:
        every = parse_every(text)
    except UsageError:
        return
    assert every is None or any((every.seconds_s, every.steps, every.epochs))
