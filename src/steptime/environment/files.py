"""The doctor's files: logs that are read, facts that are saved and read."""

import sys
from pathlib import Path

from steptime.environment.facts import Facts, from_json, to_json
from steptime.environment.log import read_log
from steptime.environment.privacy import without_personal_data
from steptime.errors import UsageError


def read_log_file(path: str) -> tuple[str, ...]:
    """Return the clean lines of a log; ``-`` is standard input.

    Raises:
        UsageError: The file can't be read.
    """
    return read_log(sys.stdin.buffer.read() if path == "-" else _read(path))


def read_facts_file(path: str) -> Facts:
    """Return facts that ``save_facts`` wrote.

    Raises:
        UsageError: The file can't be read.
        RecordError: It holds something else.
    """
    return from_json(_read(path).decode("utf-8", errors="replace"))


def save_facts(path: str, facts: Facts) -> None:
    """Write facts to a file, with personal data taken out.

    Raises:
        UsageError: The file can't be written.
    """
    try:
        Path(path).write_text(to_json(without_personal_data(facts)), encoding="utf-8")
    except OSError as error:
        raise UsageError(
            f"expected a path that can be written, received {path}: {error.strerror}",
            hint="choose another folder",
        ) from None


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"expected a file that can be read, received {path}: {error.strerror}",
            hint="give the path of the file",
        ) from None
