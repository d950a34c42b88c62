"""Keeps a copy of a run folder elsewhere: for workers whose disk nobody else sees."""

from pathlib import Path, PurePosixPath

from steptime.errors import RecordError
from steptime.record.store import RECORD_FILE

# Content by path in the folder; None for a file that was removed.
Files = dict[str, bytes | None]
_UNFINISHED = ".part-"


class ChangedFiles:
    """Finds what was written in a folder since the last look, by size and time of change.

    Args:
        folder: What to watch, with the folders in it.
        but: Paths in it that the other side has already.
    """

    def __init__(self, folder: Path, but: tuple[str, ...] = ()) -> None:
        self._folder = folder
        self._but = but
        self._seen: dict[str, tuple[int, int]] = {}

    def take(self) -> Files:
        """Return the content of each file that is new or was changed, and the names of those that are gone."""
        found: Files = {}
        gone = set(self._seen)
        for path in sorted(self._folder.rglob("*")):
            name = path.relative_to(self._folder).as_posix()
            gone.discard(name)
            if name in self._but or path.name.startswith(_UNFINISHED):
                continue
            try:
                state = path.stat()
                if not path.is_file() or self._seen.get(name) == (state.st_mtime_ns, state.st_size):
                    continue
                found[name] = path.read_bytes()
            except FileNotFoundError:  # renamed or removed in between: the next look will tell
                continue
            # A file that grew while it was read has another state by then, and is read again.
            self._seen[name] = (state.st_mtime_ns, state.st_size)
        for name in gone:
            del self._seen[name]
            found[name] = None
        return found


def write_copies(folder: Path, files: Files) -> None:
    """Write what ``ChangedFiles`` found; each by rename, the record last, since it says that all else is there.

    Raises:
        RecordError: A path leads out of the folder.
    """
    for name in sorted(files, key=lambda name: name == RECORD_FILE):
        pure = PurePosixPath(name)
        if pure.is_absolute() or ".." in pure.parts:
            raise RecordError(
                f"A worker's file must lie in its folder. Received: {name!r}",
                hint="Do not trust that worker.",
            )
        path = folder / pure
        content = files[name]
        if content is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{_UNFINISHED}{path.name}")
        part.write_bytes(content)
        part.replace(path)
