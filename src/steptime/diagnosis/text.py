"""Search in logs that ignores case, line ends and wrapping, and shows the very line that was found."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache

from steptime.environment.anchors import may_match

_SPACE = re.compile(r"\s+")
# A wildcard at the end of a sign takes in the rest of a message, which may be wrapped; but not the next message.
_TAIL = re.compile(r"\.\{0,\d+\}\??(?:\([^()]*\)\?)?$")
_BEGINS = re.compile(
    r"\s*(?:\d{4}-\d\d-\d\d[ T]|[IWEF]\d{0,4}[ :]|(?:\w+\.)*\w*(?:Error|Exception|Warning)\b|Traceback\b"
    r"|(?i:could not|cannot|failed)\b|lib[\w+-]+\.so)"
)
_BLANK = re.compile(r" (?:[?*+]|\{\d+(?:,\d*)?\})?")


@cache
def compile_sign(pattern: str) -> re.Pattern[str]:
    """Compile a sign: a lower-case regular expression in which blanks, repeated or optional, have no meaning.

    Bounded repeats (``.{0,80}``) keep the search linear in any text; ``.*`` would run over the whole log.

    Raises:
        ValueError: The pattern has an upper-case letter, so it could never match, or an unbounded ``.*`` or ``.+``.
    """
    squashed = _BLANK.sub("", pattern)
    if squashed != squashed.lower() or ".*" in squashed or ".+" in squashed:
        raise ValueError(f"expected a lower-case pattern without .* and .+, received {pattern!r}")
    return re.compile(squashed)


class Text:
    """Lines of a log, searchable as one string without blanks, so that a wrapped message is found too.

    Args:
        lines: Clean lines, as ``environment.log.read_log`` returns them.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(lines)
        pieces = [_SPACE.sub("", line).lower() for line in self.lines]
        self._starts: list[int] = []
        at = 0
        for piece in pieces:
            self._starts.append(at)
            at += len(piece)
        self._squashed = "".join(pieces)
        self._found: dict[str, tuple[int, int] | None] = {}

    def find(self, pattern: str) -> tuple[int, int] | None:
        """Return the first and last line number (from 0) that the pattern's first match covers, or ``None``."""
        if pattern not in self._found:
            sign = compile_sign(pattern)
            match = sign.search(self._squashed) if may_match(sign.pattern, self._squashed) else None
            self._found[pattern] = self._rows(match) if match else None
        return self._found[pattern]

    def covered(self, pattern: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of lines that the matches cover: the first line, and others by half or more.

        Where only a wildcard reaches, a span ends before the next line that begins a message of its own.
        """
        sign = compile_sign(pattern)
        if not may_match(sign.pattern, self._squashed):
            return
        named = compile_sign(_TAIL.sub("", pattern))
        for match in sign.finditer(self._squashed):
            first, last = self._rows(match)
            sure = named.match(self._squashed, match.start())
            for row in range((self._rows(sure)[1] if sure else last) + 1, last + 1):
                if _BEGINS.match(self.lines[row]):
                    last = row - 1
                    break
            while (
                last > first and 2 * (match.end() - self._starts[last]) < self._end(last) - self._starts[last]
            ):
                last -= 1
            yield first, last

    def quote(self, span: tuple[int, int]) -> str:
        """Return the lines of a span as one line of at most 300 characters."""
        whole = " ".join(line.strip() for line in self.lines[span[0] : span[1] + 1])
        return whole if len(whole) <= 300 else whole[:297] + "..."

    def without(self, rows: set[int]) -> "Text":
        """Return the text without some lines; it is this same text when there are none to take away."""
        return Text([line for row, line in enumerate(self.lines) if row not in rows]) if rows else self

    def _end(self, row: int) -> int:
        return self._starts[row + 1] if row + 1 < len(self._starts) else len(self._squashed)

    def _rows(self, match: re.Match[str]) -> tuple[int, int]:
        last = max(match.start(), match.end() - 1)
        return bisect_right(self._starts, match.start()) - 1, bisect_right(self._starts, last) - 1
