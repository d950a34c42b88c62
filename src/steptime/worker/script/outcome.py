"""How a script, or one of its ``fit`` calls, ended, and where its time went."""

import re
import sys
import textwrap
import traceback
from collections.abc import Sequence

from steptime.errors import SteptimeError
from steptime.record.schema import Outcome, Phase, RunRecord

_INTERRUPTED = 130  # 128 + SIGINT, as shells report it
_TAIL_LINES = 15


def outcome_of_call(error: BaseException | None, place: str | None) -> Outcome:
    """Return how a call ended.

    Args:
        error: What it raised; None when it returned.
        place: Line of the script that was reached.
    """
    if error is None:
        return Outcome(status="ok", phase="train")
    if isinstance(error, KeyboardInterrupt):
        return Outcome(
            status="interrupted", phase="train", reason="stopped by Ctrl-C", exit_code=_INTERRUPTED
        )
    return Outcome(status="failed", phase="train", reason=_words(error, place), exit_code=1)


def outcome_of_script(error: BaseException | None, place: str | None) -> Outcome:
    """Return how a script ended, with the exit code that ``python`` gives.

    Args:
        error: What ended it; None when it ran to its end.
        place: Line of the script that was reached.
    """
    if isinstance(error, SystemExit):
        code = exit_code_of(error)
        if code == 0:
            return Outcome(status="ok", phase="script")
        return Outcome(
            status="failed",
            phase="script",
            reason=f"the script ended itself with exit code {code}",
            exit_code=code,
        )
    if error is None:
        return Outcome(status="ok", phase="script")
    if isinstance(error, KeyboardInterrupt):
        return Outcome(
            status="interrupted", phase="script", reason="stopped by Ctrl-C", exit_code=_INTERRUPTED
        )
    if isinstance(error, SteptimeError):
        return Outcome(
            status="failed", phase="script", reason=error.message, hint=error.hint, exit_code=error.exit_code
        )
    lines = "".join(traceback.format_exception(error)).splitlines()
    return Outcome(
        status="failed",
        phase="script",
        reason=_words(error, place),
        exit_code=1,
        log_tail=tuple(line for line in lines if line.strip())[-_TAIL_LINES:],
    )


def exit_code_of(error: SystemExit) -> int:
    """Return the exit code that Python makes of ``sys.exit(...)``: 0 for nothing, 1 for a text."""
    if error.code is None:
        return 0
    if not isinstance(error.code, int):
        return 1
    return error.code & 0xFF if sys.platform != "win32" else error.code


def phases_of(calls: Sequence[RunRecord], start_ns: int, import_ns: int, rest_ns: int) -> tuple[Phase, ...]:
    """Return where the script's time went.

    Args:
        calls: Records of its calls.
        start_ns: From the start of the process to the first line of the script.
        import_ns: In importing TensorFlow and Keras.
        rest_ns: All the rest, training included.
    """
    training: dict[str, int] = {}
    for record in calls:
        for phase in record.phases:
            training[phase.name] = training.get(phase.name, 0) + phase.duration_ns
    parts = {"start": start_ns, "import": import_ns, "script": max(rest_ns - sum(training.values()), 0)}
    return tuple(Phase(name=name, duration_ns=duration) for name, duration in (parts | training).items())


def _words(error: BaseException, place: str | None) -> str:
    plain = re.sub(r"\x1b\[[\d;]*m", "", str(error))
    lines = [line.strip() for line in plain.splitlines() if line.strip()] or ["no message"]
    # Keras says first where something went wrong and below it what; TensorFlow says what at the end of a long text.
    told = lines[:2]
    if lines[0].startswith("Graph execution error"):
        told = [line for line in lines if not line.startswith("[[{{")][-1:]
    text = textwrap.shorten(" ".join(told), 300, placeholder=" ...")
    return f"{type(error).__name__}: {text}" + (f" ({place})" if place else "")
