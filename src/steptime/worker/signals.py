"""SIGINT and SIGTERM in the worker: at once outside training, at the end of the running block inside it."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopSignals:
    """Turns signals into a request to stop.

    Attributes:
        requested: Whether somebody asked to stop.
        training: Set while ``fit`` runs: the first signal then waits for the end of the running block, so that
            weights and history stay consistent; a second one interrupts at once.
    """

    def __init__(self) -> None:
        self.requested = False
        self.training = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the signals inside; the former handlers come back afterwards."""
        former = {number: signal.signal(number, self._handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in former.items():
                signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - signal's own signature
        again = self.requested
        self.requested = True
        if again or not self.training:
            raise KeyboardInterrupt
