"""Facts that logs and people's sentences tell. The first match of a fact wins."""

import re
from collections.abc import Iterator
from functools import cache

from steptime.environment import said_of_driver, said_of_machine, said_of_packages
from steptime.environment.anchors import may_match
from steptime.environment.facts import Value

_GPU_LINES: tuple[str, ...] = (
    r"name: ([\w .-]{2,50}?),? (?:pci bus|computecapability|major)",
    r"\(device: \d+, name: ([^,]{2,50}?)(?:,| compute)",
    (
        r"\| +\d +(?:nvidia )?((?:geforce|tesla|quadro|rtx|gtx|titan|a\d+|h\d+|l\d+s?|t4|v100|p\d+|"
        r"b\d+|graphics device)[\w .-]{0,40}?) *(?:\.\.\.|on |off |wddm|tcc| \|)"
    ),
    r"gpu \d: ([\w .-]{3,50}) \(uuid",
    r"vga compatible controller: ([^\n]{5,80})|3d controller: ([^\n]{5,80})",
    r"\b((?:geforce )?[rg]tx ?(?:a|pro )?\d{3,4}(?: ?(?:ti|super|ada|m))?)\b",
    r"\b(rx ?[5-7]\d00(?: ?xtx?)?)\b",
)


@cache
def _compiled() -> tuple[tuple[str, Value | None, re.Pattern[str]], ...]:
    return tuple(
        (fact, value, re.compile(pattern, re.MULTILINE))
        for fact, value, pattern in (
            *said_of_machine.SAYINGS,
            *said_of_driver.SAYINGS,
            *said_of_packages.SAYINGS,
        )
    )


def read_sayings(text: str) -> dict[str, Value]:
    """Return the facts that a text tells, such as versions, answers of the driver, or "works with sudo".

    Args:
        text: Clean text, any case; lines end with a line feed.
    """
    lowered = text.lower()
    found: dict[str, Value] = {}
    for fact, value, pattern in _compiled():
        if fact in found or not may_match(pattern.pattern, lowered):
            continue
        match = pattern.search(lowered)
        if match is not None:
            found[fact] = (
                value if value is not None else next((g for g in match.groups() if g is not None), "")
            )
    _tidy(found)
    if names := tuple(dict.fromkeys(_gpu_names(lowered))):
        found["gpu"] = names
    return found


def _tidy(found: dict[str, Value]) -> None:
    python = found.get("python")
    if isinstance(python, str) and "." not in python:  # a wheel's tag: 312 is 3.12
        found["python"] = f"{python[0]}.{python[1:]}"
    if found.get("hosted") and "os" not in found:
        found["os"] = "linux"


def _gpu_names(lowered: str) -> Iterator[str]:
    for pattern in _GPU_LINES:
        if not may_match(pattern, lowered):
            continue
        matches = list(re.finditer(pattern, lowered))
        for match in matches[:16]:
            yield next(group for group in match.groups() if group).strip()
        if matches:
            return
