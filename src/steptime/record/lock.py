"""One process at a time trains in a folder; a killed one leaves no lock behind."""

import os
import sys
from pathlib import Path
from typing import IO

from steptime.errors import UsageError

_FILE = ".lock"


def lock(folder: Path) -> IO[bytes]:
    """Takes the lock of a folder; closing what is returned gives it back.

    Raises:
        UsageError: Another process holds it.
    """
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    file = os.fdopen(os.open(folder / _FILE, flags, 0o666), "rb+")
    if sys.platform == "win32":
        return file
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise UsageError(
            f"One process at a time may train in {folder}. Another one does now.",
            hint="Wait for it, or stop it.",
        ) from None
    except OSError:
        pass  # A file system without locks.
    return file


def is_locked(folder: Path) -> bool:
    """Whether a process trains in the folder, as far as can be seen."""
    if not folder.is_dir():
        return False
    try:
        lock(folder).close()
    except UsageError:
        return True
    return False
