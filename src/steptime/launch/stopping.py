"""Requests to stop, as a launcher hears them: Ctrl-C, a closed terminal, a scheduler's SIGTERM."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

# A closed terminal ends a run as cleanly as Ctrl-C does.
_STOP_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1") if hasattr(signal, name)
)


@dataclass(slots=True)
class StopRequest:
    """Why and since when workers have been asked to stop."""

    reason: str | None = None
    since_s: float = 0.0
    signals: int = 0


@contextmanager
def heeding(stop: StopRequest) -> Iterator[None]:
    """Note signals in ``stop`` inside; the former handlers come back afterwards."""

    def forward(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal's own signature
        stop.signals += 1
        stop.reason = stop.reason or "interrupted"

    # What is ignored stays so: nohup asks for that.
    heeded = [number for number in _STOP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    former = {number: signal.signal(number, forward) for number in heeded}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
