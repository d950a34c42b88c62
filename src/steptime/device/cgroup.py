"""Limits that a container or a job scheduler sets on this process through Linux control groups (1 and 2).

File names and forms: the kernel's documents ``admin-guide/cgroup-v2.rst``,
``admin-guide/cgroup-v1/memory.rst`` and ``scheduler/sched-bwc.rst``. A group inherits the limits of all
groups above it, so the smallest one holds.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

# Version 1 writes "no limit" as the greatest page-aligned 63-bit number; no machine has 2**60 bytes.
_NO_LIMIT_BYTES = 2**60


def cpu_quota_cores(root: Path = Path("/")) -> float | None:
    """Return how many processors' worth of time the groups of this process may use.

    Args:
        root: Where ``/proc`` and ``/sys`` begin; another one in tests.

    Returns:
        Number of processors, possibly a fraction, or ``None`` if nothing limits it.
    """
    quotas = [_quota_v2(folder) for folder in _folders(root, None)]
    quotas += [_quota_v1(folder) for folder in _folders(root, "cpu")]
    return min((quota for quota in quotas if quota is not None), default=None)


def memory_limit_bytes(root: Path = Path("/")) -> int | None:
    """Return the memory limit of the groups of this process, or ``None`` if nothing limits it."""
    limits = [_number(_read(folder / "memory.max")) for folder in _folders(root, None)]
    limits += [_number(_read(folder / "memory.limit_in_bytes")) for folder in _folders(root, "memory")]
    return min((limit for limit in limits if limit is not None and limit < _NO_LIMIT_BYTES), default=None)


def oom_kills(root: Path = Path("/")) -> int | None:
    """Return how many processes of this process's own group the kernel has killed since memory ran out.

    Returns:
        The count of Linux 4.13 and later, which includes groups below this one in version 2 only; None where nothing
        counts.
    """
    files = [folder / "memory.events" for folder in _folders(root, None)]
    files += [folder / "memory.oom_control" for folder in _folders(root, "memory")]
    counts = (_counted(file, "oom_kill") for file in files)
    return next((count for count in counts if count is not None), None)


def throttle_files(root: Path = Path("/")) -> tuple[Path, ...]:
    """Return the files in which the kernel counts how often a quota stopped this process's groups."""
    folders = [folder for controller in (None, "cpu") for folder in _folders(root, controller)]
    files = dict.fromkeys(folder / "cpu.stat" for folder in folders)
    return tuple(file for file in files if _throttled(file) is not None)


def throttled_periods(files: tuple[Path, ...]) -> int | None:
    """Return the greatest count of those files, or ``None`` if nothing counts.

    Args:
        files: What `throttle_files` found.
    """
    return max((count for file in files if (count := _throttled(file)) is not None), default=None)


def _folders(root: Path, controller: str | None) -> Iterator[Path]:
    """Yield the folders of this process's group and of all above it.

    A container often sees its group at the mount's top while ``/proc/self/cgroup`` names the path on the
    host, so folders that do not exist are passed over and the top is always tried.
    """
    mount = root / "sys/fs/cgroup"
    for line in _read(root / "proc/self/cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controller is None and number == "0" and not controllers:
            yield from _with_parents(mount, path)
            yield from _with_parents(mount / "unified", path)
        elif controller is not None and controller in controllers.split(","):
            yield from _with_parents(mount / controllers, path)
            if controllers != controller:
                yield from _with_parents(mount / controller, path)


def _with_parents(mount: Path, path: str) -> Iterator[Path]:
    inner = PurePosixPath(path.lstrip("/"))
    for part in (inner, *inner.parents):
        folder = mount / part
        if folder.is_dir():
            yield folder


def _quota_v2(folder: Path) -> float | None:
    words = _read(folder / "cpu.max").split()
    if not words or words[0] == "max":
        return None
    quota_us, period_us = _number(words[0]), _number(words[1]) if len(words) > 1 else 100_000
    return quota_us / period_us if quota_us and period_us else None


def _quota_v1(folder: Path) -> float | None:
    quota_us = _number(_read(folder / "cpu.cfs_quota_us"))
    period_us = _number(_read(folder / "cpu.cfs_period_us"))
    return quota_us / period_us if quota_us and period_us and quota_us > 0 else None


def _throttled(file: Path) -> int | None:
    return _counted(file, "nr_throttled")


def _counted(file: Path, name: str) -> int | None:
    for line in _read(file).splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return _number(value)
    return None


def _number(text: str) -> int | None:
    text = text.strip()
    return int(text) if text.lstrip("-").isdigit() else None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
