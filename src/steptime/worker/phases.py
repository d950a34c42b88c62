"""The phases of a run: one clock, one name at a time, announced as they begin."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from steptime.record.events import EventWriter
from steptime.record.schema import Phase

# What a person reads while it takes its time; the record uses the short names.
WORDS = {
    "start": "starting",
    "import": "importing TensorFlow",
    "join": "waiting for the other workers",
    "data": "loading data",
    "build": "building the model",
    "compile": "compiling",
    "inspect": "looking at model and data",
    "train": "training",
    "profile": "taking steps apart",
    "save": "saving the model",
}


class PhaseClock:
    """Times the phases, in order. ``current`` is the one that goes on, or the last one.

    Args:
        events: Where their beginnings are announced.
        launched_ns: When the process was started, on the clock of ``perf_counter_ns``, which all processes of a
            machine share; None when nobody said.
    """

    def __init__(self, events: EventWriter, launched_ns: int | None = None) -> None:
        self._events = events
        self._done: list[Phase] = []
        self.current = "start"
        now_ns = time.perf_counter_ns()
        self.origin_ns = launched_ns if launched_ns is not None else now_ns
        if launched_ns is not None:
            self.add("start", now_ns - launched_ns)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what happens inside, also when it fails."""
        self.current = name
        self._events.write("phase", name=name, words=WORDS[name])
        begin_ns = time.perf_counter_ns()
        try:
            yield
        finally:
            self.add(name, time.perf_counter_ns() - begin_ns)

    def add(self, name: str, duration_ns: int) -> None:
        """Add a duration that was measured elsewhere."""
        self._done.append(Phase(name=name, duration_ns=duration_ns))

    def split(self, name: str, parts: dict[str, int]) -> None:
        """Replace the phase ``name`` by its ``parts`` and what is left of it, under its own name."""
        whole = next(phase for phase in self._done if phase.name == name)
        index = self._done.index(whole)
        rest_ns = max(whole.duration_ns - sum(parts.values()), 0)
        pieces = [Phase(name=part, duration_ns=duration) for part, duration in parts.items() if duration]
        self._done[index : index + 1] = [*pieces, Phase(name=name, duration_ns=rest_ns)]

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What has been timed so far, in order."""
        return tuple(self._done)
