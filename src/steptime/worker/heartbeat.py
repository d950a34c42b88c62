"""Signs of life of a worker that others wait for."""

import contextlib
import threading
from collections.abc import Iterator

from steptime.record.events import EventWriter

_INTERVAL_S = 1.0


@contextlib.contextmanager
def beating(events: EventWriter) -> Iterator[None]:
    """Write a beat a second inside, from a thread: it falls silent when the process is stopped or gone.

    Args:
        events: Where the launcher listens.
    """
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(_INTERVAL_S):
            events.write("beat")

    thread = threading.Thread(target=beat, name="steptime-beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
