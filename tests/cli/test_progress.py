"""What a person sees of a run that goes on."""

import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.cli import progress
from steptime.cli.progress import BarProgress, Countdown, LineProgress, describe, make_progress


def step(epoch: int, number: int, steps: int | None = 100, speed: float | None = 1234.0) -> dict[str, Any]:
    logs = {"loss": 0.5, "accuracy": None}
    return {
        "kind": "progress",
        "epoch": epoch,
        "step": number,
        "steps": steps,
        "samples_per_s": speed,
        "logs": logs,
    }


EPOCH = {
    "kind": "epoch",
    "epoch": 1,
    "logs": {"loss": 0.25},
    "train_ns": 2_500_000_000,
    "validate_ns": 500_000_000,
}


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def perf_counter(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    return made


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"kind": "phase", "name": "data", "words": "loading data"}, "loading data ..."),
        ({"kind": "device", "device": "cpu", "reason": "as asked"}, "device: cpu (as asked)"),
        ({"kind": "note", "text": "two\nlines"}, "two lines"),
        (EPOCH, "epoch 2/3: 2.50 s + 500 ms validation loss 0.2500"),
        ({**EPOCH, "validate_ns": None}, "epoch 2/3: 2.50 s loss 0.2500"),
        (step(0, 7), "epoch 1/3 step 7/100 1,234 samples/s loss 0.5000 accuracy NaN"),
        (step(0, 7, None, None), "epoch 1/3 step 7 loss 0.5000 accuracy NaN"),
        ({"kind": "unheard of"}, ""),
    ],
)
def test_each_event_is_one_line(event: dict[str, Any], line: str) -> None:
    assert describe(event, 3) == line


def test_the_time_left_is_that_of_the_speed_so_far(clock: Clock) -> None:
    countdown = Countdown(2)

    assert countdown.left_s(0, 20, 100) is None
    clock.now_s += 3.0
    assert countdown.left_s(0, 50, 100) == pytest.approx(3.0 / 0.3 * 1.5)
    clock.now_s += 15.0
    assert countdown.left_s(1, 100, 100) == 0.0


def test_the_time_left_of_steps_without_number_is_not_known(clock: Clock) -> None:
    assert Countdown(2).left_s(0, 20, None) is None


@given(
    st.integers(1, 5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 20), st.floats(0, 100)), min_size=1, max_size=10),
)
def test_the_time_left_is_never_negative_whatever_the_events_say(
    epochs: int, events: list[tuple[int, int, float]]
) -> None:
    clock, former = Clock(), progress.time
    progress.time = clock  # type: ignore[assignment]  # monkeypatch lives for the whole test, not for an example
    try:
        countdown = Countdown(epochs)
        for epoch, number, passed_s in events:
            clock.now_s += passed_s
            left_s = countdown.left_s(epoch, number, 10)
            assert left_s is None or left_s >= 0
    finally:
        progress.time = former


def test_lines_in_a_log_are_some_seconds_apart(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with LineProgress(2) as lines:
        for number in range(100):
            lines.event(step(0, number))
            clock.now_s += 0.25
    out, err = capsys.readouterr()

    assert out == ""
    assert len(err.splitlines()) == 5
    assert "left" in err.splitlines()[1]


def test_phases_are_said_once_and_epochs_always(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with LineProgress(3) as lines:
        for name, words in (("train", "training"), ("validate", "validating")) * 2:
            lines.event({"kind": "phase", "name": name, "words": words})
            lines.event(EPOCH)

    assert [line.split()[0] for line in capsys.readouterr().err.splitlines()] == [
        "training", "epoch", "validating", "epoch", "epoch", "epoch"
    ]  # fmt: skip


def test_without_a_terminal_there_are_lines_and_with_one_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steptime.cli.output.is_terminal", lambda: False)
    assert isinstance(make_progress(1), LineProgress)
    monkeypatch.setattr("steptime.cli.output.is_terminal", lambda: True)
    assert isinstance(make_progress(1), BarProgress)


def test_the_bar_keeps_what_is_worth_keeping_and_nothing_else(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with BarProgress(3) as bar:
        bar.event({"kind": "phase", "name": "data", "words": "loading data"})
        bar.event(step(0, 7))
        bar.event({"kind": "note", "text": "[bold]loss[/bold]: mse"})
        bar.event(EPOCH)
    out, err = capsys.readouterr()
    kept = [line.strip() for line in err.splitlines() if line.strip()]

    assert (out, sys.stderr.isatty()) == ("", False)
    assert kept[0] == "[bold]loss[/bold]: mse"
    assert kept[1] == "epoch 2/3: 2.50 s + 500 ms validation loss 0.2500"
