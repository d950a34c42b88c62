"""Words that must stand in a text if a regular expression is to match: a quick test before the slow one."""

import re
from functools import cache

_PIECE = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{\d+(?:,\d*)?\}|.", re.DOTALL)
_SHORTEST = 3


@cache
def anchors(pattern: str) -> tuple[str, ...]:
    """Return words of which at least one stands in every match, or nothing when the pattern names none.

    Groups, classes and what may be absent are passed over; each alternative at the top level gives its longest word.

    >>> anchors(r"failed call to cuinit|cuda_error_(no|bad)_device"), anchors(r"(a|b)c?")
    (('failed call to cuinit', 'cuda_error_'), ())
    """
    found: list[str] = []
    for alternative in _alternatives(pattern):
        longest = max(alternative, key=len, default="")
        if len(longest) < _SHORTEST:
            return ()
        found.append(longest)
    return tuple(found)


def _alternatives(pattern: str) -> list[list[str]]:
    """Literal runs outside groups, for each alternative at the top level."""
    runs: list[list[str]] = [[""]]
    depth = 0
    for piece in _PIECE.findall(pattern):
        if piece in {"(", ")"}:
            depth += 1 if piece == "(" else -1
            runs[-1].append("")
        elif depth:
            continue
        elif piece == "|":
            runs.append([""])
        elif piece in {"?", "*"} or piece.startswith("{"):
            runs[-1][-1] = runs[-1][-1][:-1]
            runs[-1].append("")
        elif re.fullmatch(r"[\w \-/':,;=<>#@%&!~\"]", piece):
            runs[-1][-1] += piece
        elif len(piece) == 2 and piece[0] == "\\" and not piece[1].isalnum():
            runs[-1][-1] += piece[1]
        else:
            runs[-1].append("")
    return runs


def may_match(pattern: str, text: str) -> bool:
    """Whether a text holds one of the pattern's anchors (always true when it has none)."""
    words = anchors(pattern)
    return not words or any(word in text for word in words)
