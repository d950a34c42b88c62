"""Writes checkpoints beside the training, one at a time, and removes those that need not be kept."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steptime.engine.checkpoints import format as files
from steptime.engine.checkpoints.arrays import Arrays


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A checkpoint that is ready to be written.

    Attributes:
        name: Of its folder.
        arrays: Copies that nobody changes any more.
        state: JSON types.
        iterator: Prefix of the files of a data iterator; None when there are none.
        score: Value of the metric by which the best is kept, the greater the better; None when not known.
    """

    name: str
    arrays: Arrays
    state: Any
    iterator: Path | None
    score: float | None


class Writer:
    """Writes in a thread of its own.

    Args:
        folder: Of all checkpoints.
        keep: How many of the newest are kept.
        best: Name and score of the best one that is there already.
        warn: Is told when one could not be written; called in that thread.
    """

    def __init__(
        self, folder: Path, keep: int, best: tuple[str, float] | None, warn: Callable[[str], None]
    ) -> None:
        self._folder = folder
        self._keep = keep
        self._best = best
        self._warn = warn
        self._thread: threading.Thread | None = None
        self.written = 0
        self.bytes = 0
        self.write_s = 0.0
        self.last_write_s = 0.0

    @property
    def is_busy(self) -> bool:
        """Whether one is being written now."""
        return self._thread is not None and self._thread.is_alive()

    def write(self, draft: Draft) -> None:
        """Starts to write; waits for the one before."""
        self.wait()
        # A daemon: a person's second Ctrl-C does not wait for it, and half a checkpoint counts for nothing.
        self._thread = threading.Thread(target=self._write, args=(draft,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Waits until nothing is being written."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _write(self, draft: Draft) -> None:
        start_s = time.perf_counter()
        try:
            size_bytes = files.write(self._folder, draft.name, draft.arrays, draft.state, draft.iterator)
        except (OSError, ValueError, TypeError, MemoryError) as error:
            self._warn(
                f"a checkpoint could not be written ({getattr(error, 'strerror', None) or error}): training goes "
                "on, and the checkpoints before it are kept"
            )
            return
        if draft.score is not None and (self._best is None or draft.score > self._best[1]):
            self._best = (draft.name, draft.score)
        self._remove_old()
        self.last_write_s = time.perf_counter() - start_s
        self.write_s += self.last_write_s
        self.written += 1
        self.bytes = size_bytes

    def _remove_old(self) -> None:
        best = None if self._best is None else self._best[0]
        for path in files.listed(self._folder)[: -self._keep]:
            if path.name != best:
                try:
                    files.remove(path)
                except OSError as error:
                    self._warn(f"checkpoint {path.name} could not be removed: {error.strerror or error}")
