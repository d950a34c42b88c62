"""Where facts are read from: the file system's root and the environment variables, so that tests can give their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The machine as files and variables.

    Attributes:
        root: Root of the file system.
        environ: Environment variables.
    """

    root: Path
    environ: Mapping[str, str]

    def text(self, path: str) -> str | None:
        """Return a small file's text, or ``None`` when it can't be read."""
        try:
            return (self.root / path.lstrip("/")).read_text(errors="replace")
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Whether a path is there."""
        return (self.root / path.lstrip("/")).exists()

    def names(self, path: str) -> tuple[str, ...]:
        """Return the names in a folder; none when it is not there."""
        try:
            return tuple(sorted(entry.name for entry in (self.root / path.lstrip("/")).iterdir()))
        except OSError:
            return ()
