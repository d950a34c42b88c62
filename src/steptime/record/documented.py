"""Fields of records that say what they mean; the pages about them are made from that."""

import dataclasses
import re
from dataclasses import field
from typing import Any

Section = tuple[str, str, tuple[tuple[str, str, str], ...]]


def described(meaning: str, **kwargs: Any) -> Any:
    """Declare a field of a dataclass with its meaning."""
    return field(metadata={"meaning": meaning}, **kwargs)


def describe_sections(sections: tuple[type, ...]) -> tuple[Section, ...]:
    """Return (name, docstring, fields as (name, type, meaning)) of dataclasses made with `described`."""
    return tuple(
        (
            section.__name__,
            (section.__doc__ or "").strip(),
            tuple(
                (item.name, type_text(item.type), str(item.metadata["meaning"]))
                for item in dataclasses.fields(section)
            ),
        )
        for section in sections
    )


def type_text(kind: Any) -> str:
    """Return an annotation as a reader writes it, without the modules' names."""
    text = kind.__name__ if isinstance(kind, type) and not hasattr(kind, "__args__") else str(kind)
    for module in ("collections.abc.", "typing.", "steptime.plan.plan."):
        text = text.replace(module, "")
    return re.sub(r"steptime\.record\.\w+\.", "", text)
