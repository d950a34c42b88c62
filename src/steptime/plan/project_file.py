"""Defaults of a project: ``steptime.toml`` in the current folder or above."""

import tomllib
from pathlib import Path

from steptime.errors import UsageError

FILE_NAME = "steptime.toml"


def find_project_file(start: Path) -> Path | None:
    """Return the nearest ``steptime.toml`` in ``start`` or a folder above it, or None."""
    return next((path for folder in (start, *start.parents) if (path := folder / FILE_NAME).is_file()), None)


def read_project_settings(path: Path) -> dict[str, object]:
    """Read the ``[settings]`` table of a project file; keys and values are checked where they are applied.

    Raises:
        UsageError: Not readable, not TOML, or a table other than ``[settings]``.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(
            f"{path} must be readable TOML. {error}",
            hint="For example: [settings] and below it batch_size = 64",
        ) from None
    unknown = sorted(set(content) - {"settings"})
    settings = content.get("settings", {})
    if unknown or not isinstance(settings, dict):
        raise UsageError(
            f"{path} must hold one table, [settings]. Received: {', '.join(unknown) or 'a value'}",
            hint="Put the keys under [settings]; `steptime settings` lists them.",
        )
    return dict(settings)
