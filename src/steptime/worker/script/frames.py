"""Tracebacks as a person knows them from ``python``: the script's own frames and those of libraries, not ours."""

import os
import types
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[2]) + os.sep


def without_ours(trace: types.TracebackType | None) -> types.TracebackType | None:
    """Return a traceback without the frames of steptime and of what started the script."""
    kept = []
    while trace is not None:
        if not _is_ours(trace.tb_frame.f_code.co_filename):
            kept.append(trace)
        trace = trace.tb_next
    rest = None
    for one in reversed(kept):
        rest = types.TracebackType(rest, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return rest


def clean(error: BaseException) -> None:
    """Take our frames out of an error, of its causes and of what it was raised beside."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        one.__traceback__ = without_ours(one.__traceback__)
        left += [one.__cause__, one.__context__]


def place_in(script: Path, frame: types.FrameType | None) -> str | None:
    """Return ``file.py, line 12``: the innermost line of the script's folder on the way to a frame, or None.

    Args:
        script: Path of its source.
        frame: Where to begin; callers are looked at from here outwards.
    """
    while frame is not None:
        name = frame.f_code.co_filename
        if _is_the_scripts(name, script):
            return f"{Path(name).name}, line {frame.f_lineno}"
        frame = frame.f_back
    return None


def place_of(error: BaseException, script: Path) -> str | None:
    """Return ``file.py, line 12``: the innermost line of the script's folder that an error came through."""
    trace, last = error.__traceback__, None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if _is_the_scripts(name, script):
            last = f"{Path(name).name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return last


def _is_ours(filename: str) -> bool:
    return filename.startswith(_PACKAGE)


def _is_the_scripts(filename: str, script: Path) -> bool:
    """Whether a file is the script, or one beside or below it that no package manager put there."""
    path = Path(filename)
    beside = path.is_relative_to(script.parent) and "site-packages" not in path.parts
    return path == script or (beside and not _is_ours(filename))
