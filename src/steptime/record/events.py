"""The worker's diary: events.jsonl, one JSON object a line, appended and flushed as things happen.

Every line has ``t_ns`` (monotonic clock) and ``kind``; the last line tells where a dead worker died.

    device    device, reason                         a device was taken
    phase     name, words                            a phase began
    progress  epoch, step, steps, samples_per_s, logs    training goes on
    epoch     epoch, logs, train_ns, validate_ns     an epoch ended
    note      text                                   something a person should read
    group     rank, run_id                           this worker's number, and the name of the chief's run
    beat                                             a worker of a group lives
    launch    (nothing else)                         a worker is started
    attempt   attempt                                the worker ended and is started again
    inspected (nothing else)                         model_facts.json was written

A full disk loses events, never the training.
"""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FILE_NAME = "events.jsonl"
LAUNCH = "launch"


class EventWriter:
    """Appends events; each call is one complete line, given to the operating system at once.

    An event that cannot be written is lost. Were it cut short, the next one begins on a line of its own.
    """

    def __init__(self, folder: Path) -> None:
        self._file = (folder / FILE_NAME).open("ab", buffering=0)
        self._is_torn = False
        # The heart of a group's worker beats in a thread of its own.
        self._lock = threading.Lock()

    def write(self, kind: str, **fields: object) -> None:
        """Append one event."""
        text = json.dumps({"t_ns": time.perf_counter_ns(), "kind": kind, **fields}, ensure_ascii=False)
        with self._lock:
            line = b"\n" * self._is_torn + text.encode(errors="backslashreplace") + b"\n"
            written = 0
            with contextlib.suppress(OSError):  # the disk is full: those who train need not end for that
                written = self._file.write(line)
            self._is_torn = 0 < written < len(line) or (self._is_torn and not written)

    def close(self) -> None:
        """Close the file; what was written is there already."""
        self._file.close()


class EventReader:
    """Reads the events that were added since the last call; a line still being written waits.

    Args:
        folder: The run folder.
        from_end: Whether to pass over the events that are there already.
    """

    def __init__(self, folder: Path, *, from_end: bool = False) -> None:
        self._path = folder / FILE_NAME
        self._offset = self._path.stat().st_size if from_end and self._path.exists() else 0

    def new(self) -> Iterator[dict[str, Any]]:
        """Yield each complete new event; lines that are not JSON objects are passed over."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                content = file.read()
        except FileNotFoundError:
            return
        complete = content[: content.rfind(b"\n") + 1]
        self._offset += len(complete)
        for line in complete.splitlines():
            event = _parse(line)
            if event is not None:
                yield event


def read_events(folder: Path) -> tuple[dict[str, Any], ...]:
    """Return all complete events of a run folder, oldest first."""
    return tuple(EventReader(folder).new())


def last_phase(folder: Path) -> str:
    """Return the phase that the worker last reported; ``start`` if the one started last reported none."""
    phase = "start"
    for event in read_events(folder):
        if event["kind"] == LAUNCH:
            phase = "start"
        elif event["kind"] == "phase" and "name" in event:
            phase = str(event["name"])
    return phase


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and "kind" in event else None
