"""Versions as people and packages write them."""

import re

_VERSION = re.compile(r"(?<![\w.])v?(\d+(?:\.\d+)+)(?:\.?(?:dev|rc|a|b|post)\d*)?")


def numbers(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version.

    >>> numbers("2.16.1"), numbers("v2.15.0rc1"), numbers("12"), numbers("unknown")
    ((2, 16, 1), (2, 15, 0), (12,), ())
    """
    match = re.match(r"\D{0,12}?(\d{1,6}(?:\.\d{1,6})*)", text.strip())
    return tuple(int(part) for part in match[1].split(".")) if match else ()


def first(text: str) -> str | None:
    """Return the first dotted version in a sentence, or ``None``.

    >>> first("(latest 2.18)"), first("Python 3.11.5, 64 bit"), first("newest")
    ('2.18', '3.11.5', None)
    """
    match = _VERSION.search(text)
    return match[1] if match else None


def compare(left: str, right: str) -> int:
    """Compare two versions as far as both are written; -1, 0 or 1.

    A version that is written shorter counts as equal in what it leaves out: 2.16 is not older than 2.16.2.

    >>> compare("2.9.1", "2.11"), compare("2.16", "2.16.2"), compare("535.54", "525.60.13")
    (-1, 0, 1)
    """
    a, b = numbers(left), numbers(right)
    size = min(len(a), len(b))
    return (a[:size] > b[:size]) - (a[:size] < b[:size])
