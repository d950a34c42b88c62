"""Files beside the record that carry a schema version of their own."""

from pathlib import Path
from typing import TypeVar

from steptime.errors import RecordError
from steptime.plan.codec import from_json
from steptime.record.store import read_json

Content = TypeVar("Content")


def read_versioned(kind: type[Content], path: Path, known: int) -> Content | None:
    """Return the content of a file; None when there is none.

    Args:
        kind: The dataclass that it holds.
        path: The file.
        known: The newest version of the schema that this steptime reads.

    Raises:
        RecordError: The file is damaged, or another version wrote it.
    """
    if not path.exists():
        return None
    content = read_json(path)
    found = content.get("schema_version")
    if not isinstance(found, int) or not 1 <= found <= known:
        raise RecordError(
            f"{path} must have a schema_version from 1 to {known}. Received: {found!r}",
            hint="A newer steptime wrote it, or it was changed since: update this one, or profile again.",
        )
    return from_json(kind, content, str(path))
