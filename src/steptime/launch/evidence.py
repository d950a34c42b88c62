"""What can be known from outside about the memory of a worker that may be killed for it."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

import psutil

from steptime import units
from steptime.device.cgroup import memory_limit_bytes, oom_kills
from steptime.record.out_of_memory import is_out_of_memory, needed_bytes
from steptime.record.schema import Fault


@dataclass(slots=True)
class MemoryEvidence:
    """Watches one worker.

    Attributes:
        root: Where ``/proc`` and ``/sys`` begin; another one in tests.
        kills_before: How many processes of this process's control groups the kernel had killed for memory when the
            worker was started; None where nobody counts.
        used_bytes: Memory of the worker and its children when it was last looked at.
    """

    root: Path = Path("/")
    kills_before: int | None = None
    used_bytes: int | None = None

    def begin(self) -> None:
        """Look at the kernel's count before the worker starts."""
        self.kills_before = oom_kills(self.root)

    def look(self, worker: int) -> None:
        """Keep how much memory the worker uses now; what has ended in between stays at its last value."""
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(worker)
            sizes = [item.memory_info().rss for item in (process, *process.children(recursive=True))]
            self.used_bytes = sum(sizes) or self.used_bytes

    def fault(self, signal_name: str | None, log: str) -> Fault:
        """Return what ended the worker.

        Args:
            signal_name: The signal that ended it, such as SIGKILL; None when it ended by itself, without a record.
            log: The end of its log.
        """
        if is_out_of_memory(log):
            needed = needed_bytes(log)
            return Fault(kind="out of memory", needed_bytes=needed, used_bytes=self.used_bytes)
        kills = oom_kills(self.root)
        if signal_name == "SIGKILL" and kills is not None and kills > (self.kills_before or 0):
            limit = memory_limit_bytes(self.root)
            words = f"the kernel counts {kills - (self.kills_before or 0)} process(es) killed for memory meanwhile"
            limited = (f"the control group allows {units.size_bytes(limit)}",) if limit else ()
            return Fault(kind="out of memory", used_bytes=self.used_bytes, details=(words, *limited))
        return Fault(kind="killed" if signal_name else "crashed", used_bytes=self.used_bytes)
