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
    """Return facts that ``facts_text`` made.

    Raises:
        UsageError: The file can't be read.
        RecordError: It holds something else.
    """
    return from_json(_read(path).decode("utf-8", errors="replace"))


def facts_text(facts: Facts) -> str:
    """Return facts as the text of a file, with personal data taken out."""
    return to_json(without_personal_data(facts))


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"expected a file that can be read, received {path}: {error.strerror}",
            hint="give the path of the file",
        ) from None
