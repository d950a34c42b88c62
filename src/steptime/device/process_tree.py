"""Processor time and memory of one process and of those it started."""

import time

import psutil

# Finding the children reads every process of the machine (3 ms with 100 processes, far more on a busy
# server), so it is done at most every 5 s and never costs more than 1/500 of one processor.
_MIN_INTERVAL_S = 5.0
_COST_FACTOR = 500


class ProcessTree:
    """A process and its children, found again from time to time.

    Args:
        pid: The process at the root.
    """

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._children: list[psutil.Process] = []
        self._next_search_s = 0.0

    def read(self) -> tuple[float, int] | None:
        """Return processor seconds used so far and resident bytes, or ``None`` if the process has ended.

        Time of children that ended and were waited for is included. Shared pages count twice.
        """
        self._search()
        try:
            cpu_s, memory_bytes = _read(self._root)
        except psutil.Error:
            return None
        for child in self._children:
            try:
                child_cpu_s, child_bytes = _read(child)
            except psutil.Error:
                continue  # it ended since the last search
            cpu_s += child_cpu_s
            memory_bytes += child_bytes
        return cpu_s, memory_bytes

    def _search(self) -> None:
        start_s = time.perf_counter()
        if start_s < self._next_search_s:
            return
        try:
            self._children = self._root.children(recursive=True)
        except psutil.Error:
            self._children = []
        end_s = time.perf_counter()
        self._next_search_s = end_s + max(_MIN_INTERVAL_S, _COST_FACTOR * (end_s - start_s))


def _read(process: psutil.Process) -> tuple[float, int]:
    times = process.cpu_times()
    # Windows and macOS have no times of children.
    children_s = getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return times.user + times.system + children_s, int(process.memory_info().rss)
