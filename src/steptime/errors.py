"""Every error a person can cause or meet, with its exit code.

    SteptimeError            1  (never raised itself)
    ├── UsageError           2  wrong flags, settings, files, data or model
    │   └── DeviceError      2  the device that was asked for cannot be used
    ├── RecordError          2  a record or run folder cannot be read
    └── RunError             3  a run was started and failed

A message says what was expected and what was received; the hint says what to do next.
"""

from typing import ClassVar


class SteptimeError(Exception):
    """Base of all errors that are shown as one ``error:`` line and one ``hint:`` line.

    Args:
        message: What was expected and what was received, in one line.
        hint: What the person can do next, in one line.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SteptimeError):
    """What was asked for cannot be done as it was asked."""

    exit_code = 2


class DeviceError(UsageError):
    """The device that was asked for cannot be used."""


class RecordError(SteptimeError):
    """A record or a run folder cannot be read."""

    exit_code = 2


class RunError(SteptimeError):
    """A run was started and did not end well; its record says how far it came."""

    exit_code = 3
