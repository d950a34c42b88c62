"""SIGINT and SIGTERM in the worker: what a request to stop does depends on what is going on."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from types import FrameType


class StopRequested(BaseException):
    """Somebody asked the training to stop, and what was trained is to be kept.

    Like KeyboardInterrupt it is no Exception, so that no person's ``except Exception`` can swallow it.
    """


class Stop(Enum):
    """When a first request takes effect, and how."""

    AT_ONCE = "at once"  # KeyboardInterrupt
    AT_ONCE_KEEPING = "at once, keeping what was trained"  # StopRequested
    AFTER_THE_BLOCK = "after the running block"  # only noted: weights and history stay consistent
    NEVER = "never"  # the end is being written


class StopSignals:
    """Turns signals into a request to stop.

    Attributes:
        requested: Whether somebody asked to stop.
        stop: When a request takes effect now. A second one interrupts at once, except with ``Stop.NEVER``.
    """

    def __init__(self) -> None:
        self.requested = False
        self.stop = Stop.AT_ONCE

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the signals inside; the former handlers come back afterwards."""
        former = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    @contextmanager
    def stopping(self, stop: Stop) -> Iterator[None]:
        """Let requests take effect as ``stop`` says inside."""
        self.stop, former = stop, self.stop
        try:
            yield
        finally:
            self.stop = former

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - signal's own signature
        again = self.requested
        self.requested = True
        if self.stop is Stop.NEVER:
            return
        if again or self.stop is Stop.AT_ONCE:
            raise KeyboardInterrupt
        if self.stop is Stop.AT_ONCE_KEEPING:
            raise StopRequested
