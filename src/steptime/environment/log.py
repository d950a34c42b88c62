"""Logs as people have them: any bytes, any size, coloured, wrapped, prefixed; turned into clean lines."""

import re
from collections import Counter
from functools import cache

WHOLE_BYTES = 256 * 1024
_END_BYTES = 64 * 1024
_AROUND_BYTES = 400
_MIDDLE_BYTES = 96 * 1024
_LINE_CHARS = 4000
_ALIKE = 3
"""Lines that differ in digits only are kept this often: steps and time stamps tell nothing new."""

# Words of errors, by which the middle of a log that is too long to be read whole is searched.
_MARKS: tuple[bytes, ...] = (
    b"rror", b"ERROR", b"ould not ", b"Can't ", b"Cannot ", b"ailed", b"not found", b"out of memory", b"OOM when",
    b"NVRM", b"llegal instr",
    b"Ignoring ", b"Loaded runtime", b"is lost",
)  # fmt: skip


_DIGITS = re.compile(r"\d+")


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    return (
        re.compile(r"\x1b(?:\[[0-9;?]{0,20}[ -/]{0,3}[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])"),
        # docker compose "web_1  | ", kubernetes "2024-01-01T00:00:00Z stderr F ", mpirun "[1,0]<stderr>:", "[pod/x] "
        re.compile(
            r"^(?:[\w.-]{1,60} {0,40}\| (?!NVIDIA|\d|  )"
            r"|\d{4}-\d\d-\d\dT[\d:.]{8,20}Z?(?:[+-]\d\d:\d\d)? (?:std(?:out|err) [FP] )?"
            r"|\[\d{1,5},\d{1,5}\]<std\w{3}>: ?|\[pod/[^\]]{1,80}\] ?"
            r"|\((?:\w{1,20} )?pid=\d{1,9}(?:, ip=[^)]{1,40})?\) ?|\(\w{1,40} pid=\d{1,9}\) ?)"
        ),
    )


def read_log(raw: bytes) -> tuple[str, ...]:
    """Turn raw bytes into clean lines, each kept once, in the order of their first appearance.

    Bytes that are no valid text are replaced. Of a log longer than 256 KiB the beginning, the end and, from the middle,
    what surrounds words that occur in errors are kept; so time and memory stay small for any input.

    Args:
        raw: Contents of a file or of standard input.
    """
    text = _decode(_shorten(raw))
    colours, prefixes = _patterns()
    # A line that a progress bar overwrote keeps only what stood last, but each part may be an error: keep all.
    lines = colours.sub("", text).replace("\x00", "").replace("\r", "\n").split("\n")
    kept: dict[str, None] = {}
    alike: Counter[str] = Counter()
    for line in lines:
        clean = prefixes.sub("", line[:_LINE_CHARS]).rstrip()
        if not clean or clean in kept or _is_rubbish(clean):
            continue
        shape = _DIGITS.sub("0", clean)
        alike[shape] += 1
        if alike[shape] <= _ALIKE:
            kept[clean] = None
    return tuple(kept)


def _is_rubbish(line: str) -> bool:
    """Whether more than a quarter of a line is no text: replaced bytes and control characters."""
    return len(line) > 20 and sum(ch == "\ufffd" or ch < " " for ch in line) > len(line) / 4


def _decode(raw: bytes) -> str:
    if raw[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return raw.decode("utf-16", errors="replace")
    if len(raw) > 8 and raw[1:8:2] == b"\0\0\0\0":  # Windows PowerShell redirects as UTF-16 without a mark
        return raw.decode("utf-16-le", errors="replace")
    return raw.decode("utf-8-sig", errors="replace")


def _shorten(raw: bytes) -> bytes:
    if len(raw) <= WHOLE_BYTES:
        return raw
    middle = raw[_END_BYTES:-_END_BYTES]
    spans: list[tuple[int, int]] = []
    for mark in _MARKS:
        start = 0
        for _ in range(20):
            at = middle.find(mark, start)
            if at < 0:
                break
            spans.append((max(0, at - _AROUND_BYTES), at + _AROUND_BYTES))
            start = at + _AROUND_BYTES
    pieces = [raw[:_END_BYTES]]
    size = end = 0
    for begin, stop in sorted(spans):
        if size < _MIDDLE_BYTES and stop > end:
            pieces.append((b"\n" if begin > end else b"") + middle[max(begin, end) : stop])
            size += stop - max(begin, end)
            end = stop
    return b"".join([*pieces, b"\n", raw[-_END_BYTES:]])
