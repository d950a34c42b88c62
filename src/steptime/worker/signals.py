"""SIGINT, SIGTERM and SIGUSR1 in the worker: what a request to stop does depends on what is going on."""

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from types import FrameType

from steptime.engine.stop import StopRequested

# Batch systems announce the end of a job by SIGUSR1 where they are told to (Slurm's --signal).
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGUSR1") if hasattr(signal, name))


class Stop(Enum):
    """When a first request takes effect, and how."""

    AT_ONCE = "at once"  # KeyboardInterrupt
    AT_ONCE_KEEPING = "at once, keeping what was trained"  # StopRequested
    AFTER_THE_BLOCK = "after the running block"  # only noted: weights and history stay consistent
    NEVER = "never"  # the end is being written


class StopSignals:
    """Turns signals into a request to stop.

    Args:
        together_s: Signals within so many seconds are one request: a batch system may signal this process and the
            one that started it, which passes it on.

    Attributes:
        requested: Whether somebody asked to stop.
        stop: When a request takes effect now. A second one interrupts at once, except with ``Stop.NEVER``.
    """

    def __init__(self, together_s: float = 1.0) -> None:
        self.requested = False
        self.stop = Stop.AT_ONCE
        self._together_s = together_s
        self._first_s = 0.0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the signals inside; the former handlers come back afterwards."""
        former = {number: signal.signal(number, self._handle) for number in _SIGNALS}
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
        now_s = time.perf_counter()
        self._first_s = self._first_s if again else now_s
        if self.stop is Stop.NEVER or (again and now_s - self._first_s < self._together_s):
            return
        if again or self.stop is Stop.AT_ONCE:
            raise KeyboardInterrupt
        if self.stop is Stop.AT_ONCE_KEEPING:
            raise StopRequested
