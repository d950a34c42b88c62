"""Copies a run folder to an address: a path, or what pyarrow and fsspec know, such as ``s3://bucket/runs``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steptime.errors import UsageError

_HINT = "For example: s3://bucket/runs, gs://bucket/runs, or the path of a shared folder."


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """A place for run folders.

    Attributes:
        address: As it was given.
        filesystem: A ``pyarrow.fs.FileSystem``.
        path: The path in it.
    """

    address: str
    filesystem: Any
    path: str

    def keep(self, folder: Path) -> str:
        """Copy a run folder there, below the name of its study, and return its address.

        Raises:
            UsageError: It cannot be written.
        """
        from pyarrow import fs

        place = f"{folder.parent.name}/{folder.name}"
        try:
            # copy_files makes no folder where there is none yet.
            self.filesystem.create_dir(f"{self.path}/{place}", recursive=True)
            fs.copy_files(
                str(folder.absolute()),
                f"{self.path}/{place}",
                source_filesystem=fs.LocalFileSystem(),
                destination_filesystem=self.filesystem,
            )
        except (OSError, ValueError) as error:
            raise _unusable(self.address, error) from None
        return f"{self.address.rstrip('/')}/{place}"


def open_storage(address: str) -> Storage:
    """Return the place that an address names, after writing and removing a file there: before a training, not after.

    Raises:
        UsageError: pyarrow is not installed, nobody knows the address, or it cannot be written.
    """
    try:
        from pyarrow import fs
    except ImportError:
        raise UsageError(
            "--storage needs pyarrow. It is not installed here", hint="pip install 'steptime[ray]'"
        ) from None
    try:
        filesystem, path = _resolve(fs, address)
        path = path.rstrip("/")
        probe = f"{path}/.steptime-probe"
        filesystem.create_dir(path, recursive=True)
        with filesystem.open_output_stream(probe) as stream:
            stream.write(b"")
        filesystem.delete_file(probe)
    except (OSError, ValueError, ImportError) as error:
        raise _unusable(address, error) from None
    return Storage(address=address, filesystem=filesystem, path=path)


def _resolve(fs: Any, address: str) -> tuple[Any, str]:
    if "://" not in address:
        return fs.LocalFileSystem(), str(Path(address).absolute())
    try:
        filesystem, path = fs.FileSystem.from_uri(address)
    except ValueError:  # pyarrow knows few; fsspec has drivers for more
        import fsspec

        found, path = fsspec.core.url_to_fs(address)
        filesystem = fs.PyFileSystem(fs.FSSpecHandler(found))
    return filesystem, str(path)


def _unusable(address: str, error: Exception) -> UsageError:
    words = " ".join(str(error).split())[:200]
    return UsageError(
        f"--storage must be an address that can be written. Received: {address!r} ({words})", hint=_HINT
    )
