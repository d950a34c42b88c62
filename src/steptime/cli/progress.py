"""Shows a worker's events to a person: a live bar on a terminal, plain lines a few seconds apart elsewhere."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from steptime import units
from steptime.cli import output

_LINE_INTERVAL_S = 5.0


class Progress(Protocol):
    """A listener to events that is opened before a run and closed after it."""

    def __enter__(self) -> Self:
        """Begin to show."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop showing."""

    def event(self, event: dict[str, Any]) -> None:
        """Show one event."""


def make_progress(epochs: int) -> Progress:
    """Return the bar for a terminal, or lines for anything else."""
    return BarProgress(epochs) if output.is_terminal() else LineProgress(epochs)


class Countdown:
    """Estimates the time left from the steps done since training began."""

    def __init__(self, epochs: int) -> None:
        self._epochs = epochs
        self._begin: tuple[float, float] | None = None

    def left_s(self, epoch: int, step: int, steps: int | None) -> float | None:
        """Return the seconds left, or None while they cannot be told.

        Args:
            epoch: Number of the epoch, counted from 0.
            step: Steps done in it.
            steps: Steps that make an epoch, if it is known.
        """
        if not steps:
            return None
        done = epoch + step / steps
        now_s = time.perf_counter()
        if self._begin is None:
            self._begin = (done, now_s)
            return None
        done_since, elapsed_s = done - self._begin[0], now_s - self._begin[1]
        return elapsed_s / done_since * max(self._epochs - done, 0.0) if done_since > 0 else None


class LineProgress:
    """Plain lines on stderr."""

    def __init__(self, epochs: int) -> None:
        self._epochs = epochs
        self._countdown = Countdown(epochs)
        self._last_line_s = -_LINE_INTERVAL_S
        self._phases: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def event(self, event: dict[str, Any]) -> None:
        """Print a line for a phase, a note, an epoch, and now and then for the progress inside one."""
        line = describe(event, self._epochs)
        if event["kind"] == "phase":
            # Training and validation take turns: once each is enough in a log.
            line = "" if event["name"] in self._phases else line
            self._phases.add(event["name"])
        if event["kind"] == "progress":
            left_s = self._countdown.left_s(event["epoch"], event["step"], event["steps"])
            now_s = time.perf_counter()
            if now_s - self._last_line_s < _LINE_INTERVAL_S:
                return
            self._last_line_s = now_s
            line += f"  {units.seconds(left_s)} left" if left_s is not None else ""
        if line:
            output.say(line)


class BarProgress:
    """A live bar; what is worth keeping is printed above it."""

    def __init__(self, epochs: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self._epochs = epochs
        self._countdown = Countdown(epochs)
        self._bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[details]}", markup=False),
            console=Console(stderr=True, highlight=False),
            transient=True,
        )
        self._task = self._bar.add_task("starting", total=None, details="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def event(self, event: dict[str, Any]) -> None:
        """Move the bar, or print a line above it."""
        kind = event["kind"]
        if kind == "phase":
            self._bar.update(self._task, description=event["words"], total=None, details="")
        elif kind == "progress":
            left_s = self._countdown.left_s(event["epoch"], event["step"], event["steps"])
            left = f"  {units.seconds(left_s)} left" if left_s is not None else ""
            self._bar.update(
                self._task,
                description=f"epoch {event['epoch'] + 1}/{self._epochs}",
                total=event["steps"],
                completed=event["step"],
                details=output.one_line(_rates(event) + left),
            )
        else:
            line = describe(event, self._epochs)
            if line:
                self._bar.console.print(line, markup=False, soft_wrap=True)


def describe(event: Mapping[str, Any], epochs: int) -> str:
    """Return an event as one line; empty when a person need not see it."""
    kind = event["kind"]
    if kind == "phase":
        return output.one_line(f"{event['words']} ...")
    if kind == "device":
        return output.one_line(f"device: {event['device']} ({event['reason']})")
    if kind == "note":
        return output.one_line(str(event["text"]))
    if kind == "epoch":
        duration_s = event["train_ns"] / 1e9
        validation = event["validate_ns"]
        times = units.seconds(duration_s)
        times += f" + {units.seconds(validation / 1e9)} validation" if validation else ""
        return output.one_line(f"epoch {event['epoch'] + 1}/{epochs}: {times}  {_logs(event['logs'])}")
    if kind == "progress":
        step = f"{event['step']}/{event['steps']}" if event["steps"] else str(event["step"])
        return output.one_line(f"epoch {event['epoch'] + 1}/{epochs} step {step}  {_rates(event)}")
    return ""


def _rates(event: Mapping[str, Any]) -> str:
    speed = event["samples_per_s"]
    rate = f"{units.rate(speed, 'samples')}  " if speed else ""
    return rate + _logs(event["logs"])


def _logs(logs: Mapping[str, float | None]) -> str:
    return "  ".join(f"{key} {'NaN' if value is None else f'{value:.4f}'}" for key, value in logs.items())
