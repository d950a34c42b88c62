"""The facts that findings rest on: named values, each with its origin, and the reasons for what is unknown."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from steptime.environment.catalogue import FACTS
from steptime.errors import RecordError

_EXPECTED = "expected a file written by `steptime doctor --save`"
Value = bool | int | float | str | tuple[str, ...]
FORMAT = "steptime-facts-1"
DOES_NOT_APPLY = "does not apply"
"""Beginning of a reason that says that there is nothing to check, such as a quota where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known about one machine and its Python environment.

    Attributes:
        values: Fact name (see ``catalogue.FACTS``) to value. A name that is absent is not known.
        origins: Fact name to where the value comes from: ``"read here"``, ``"stated"`` or ``"read in the log"``.
        unknown: Fact name to the reason why it could not be read.
        texts: Lines of text that belong to the facts: error messages of children, statements in free words.
        catalogue: The names that may be asked for, with what each means.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    catalogue: Mapping[str, str] = field(default_factory=lambda: FACTS, repr=False)

    def get(self, name: str) -> Value | None:
        """Return the fact, or ``None`` when it is not known.

        Raises:
            KeyError: The catalogue has no such fact, so no reader could ever supply it.
        """
        if name not in self.catalogue:
            raise KeyError(name)
        return self.values.get(name)

    def text(self, name: str) -> str:
        """Return the fact as text, or an empty string when it is not known."""
        value = self.get(name)
        if value is None:
            return ""
        return ", ".join(value) if isinstance(value, tuple) else str(value)


def known(values: Mapping[str, Value | None], origin: str, texts: tuple[str, ...] = ()) -> Facts:
    """Make facts of one origin; values of ``None`` are left out."""
    present = {name: value for name, value in values.items() if value is not None}
    return Facts(values=present, origins=dict.fromkeys(present, origin), texts=texts)


def merge(*layers: Facts) -> Facts:
    """Lay facts over each other: what comes later wins, what is known wins over what is not."""
    values: dict[str, Value] = {}
    origins: dict[str, str] = {}
    unknown: dict[str, str] = {}
    texts: list[str] = []
    for layer in layers:
        values |= layer.values
        origins |= layer.origins
        unknown |= layer.unknown
        texts += layer.texts
    reasons = {name: why for name, why in unknown.items() if name not in values}
    return Facts(values=values, origins=origins, unknown=reasons, texts=tuple(texts))


def to_json(facts: Facts) -> str:
    """Write facts as JSON text that ``from_json`` reads back."""
    body = {
        "format": FORMAT,
        "facts": {name: list(v) if isinstance(v, tuple) else v for name, v in sorted(facts.values.items())},
        "unknown": dict(sorted(facts.unknown.items())),
        "texts": list(facts.texts),
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> Facts:
    """Read facts that ``to_json`` wrote; names this version does not know are left out.

    Raises:
        RecordError: The text is not such a file.
    """
    hint = "write one with `steptime doctor --save FILE` on the machine in question"
    try:
        body = json.loads(text)
    except ValueError as error:
        raise RecordError(f"{_EXPECTED}, received text that is not JSON: {error}", hint=hint) from None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise RecordError(f"{_EXPECTED} (format {FORMAT}), received another JSON value", hint=hint)
    facts = body.get("facts")
    unknown = body.get("unknown")
    texts = body.get("texts")
    if not isinstance(facts, dict) or not isinstance(unknown, dict) or not isinstance(texts, list):
        raise RecordError(f"{_EXPECTED}, received one without facts, unknown or texts", hint=hint)
    values = {name: _value(v) for name, v in facts.items() if name in FACTS}
    layer = known(values, "read there", tuple(str(line) for line in texts))
    reasons = {str(name): str(why) for name, why in unknown.items() if name in FACTS}
    return merge(Facts(unknown=reasons), layer)


def _value(raw: object) -> Value | None:
    if isinstance(raw, list):
        return tuple(str(item) for item in raw)
    return raw if isinstance(raw, bool | int | float | str) else None
