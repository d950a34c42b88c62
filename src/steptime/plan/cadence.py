"""How often something is to happen during a training: ``5m``, ``200steps``, ``1epoch``."""

import re
from dataclasses import dataclass

from steptime.errors import UsageError

# Every text that `parse_every` takes.
EVERY_PATTERN = r"auto|none|\d{1,9}(\.\d{1,6})?(s|m|h)|\d{1,9} ?steps?|\d{1,9} ?epochs?"
EVERY_WORDS = "auto, none, or a time (30s, 5m, 2h), steps (200steps) or epochs (1epoch)"
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_AUTO_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Every:
    """A rhythm; exactly what is not None counts.

    Attributes:
        seconds_s: After so many seconds.
        steps: After so many training steps.
        epochs: At the end of every so many epochs.
        thrifty: Whether the end of an epoch may be passed over where the cost would show.
    """

    seconds_s: float | None = None
    steps: int | None = None
    epochs: int | None = None
    thrifty: bool = False


def parse_every(text: str) -> Every | None:
    """Read a rhythm; ``auto`` is every 5 minutes and at each epoch's end, ``none`` is never: None.

    Raises:
        UsageError: Not of that form, or zero.
    """
    if text == "none":
        return None
    if text == "auto":
        return Every(seconds_s=_AUTO_S, epochs=1, thrifty=True)
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?) ?(s|m|h|steps?|epochs?)", text)
    number = float(match[1]) if match and re.fullmatch(EVERY_PATTERN, text) else 0.0
    if match is None or not number:
        raise UsageError(f"A rhythm must be {EVERY_WORDS}. Received: {text!r}", hint="For example: 5m")
    unit = match[2]
    if unit in _SECONDS:
        return Every(seconds_s=number * _SECONDS[unit])
    return Every(steps=int(number)) if unit.startswith("step") else Every(epochs=int(number))
