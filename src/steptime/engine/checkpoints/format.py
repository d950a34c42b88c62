"""One checkpoint on disk: a folder that appears by a rename when all of it is written and flushed.

    000012-epoch3-step150/
      variables.npz    every array, as NumPy reads it: v0.npy, v1.npy, ... (uncompressed, no pickle)
      state.json       everything else
      iterator.*       TensorFlow's own state of a data iterator, where there is one
      manifest.json    size and SHA-256 of each file, dtype and shape of each array; written last

Why these: NumPy's format needs no library to be opened and stores every dtype here; Keras' own `.weights.h5`
leaves out random seeds and metrics; Orbax on TensorFlow brings JAX along for the same arrays.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steptime.engine.checkpoints.arrays import Arrays, dtype_name, read_arrays, write_arrays
from steptime.errors import RecordError

FORMAT = 1
VARIABLES = "variables.npz"
STATE = "state.json"
MANIFEST = "manifest.json"
PART = ".part-"
ITERATOR_FILES = ("iterator.index", "iterator.data-00000-of-00001")
_NAME = re.compile(r"(\d{6,9})-epoch(\d{1,9})-step(\d{1,12})")
# A manifest holds a line a file and an array.
_LARGEST_MANIFEST_BYTES = 64 << 20
_HINT = "The checkpoint before it is used where there is one."


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A checkpoint that was read and found whole.

    Attributes:
        path: Its folder.
        sequence: Its number in the order of writing.
        arrays: Its arrays.
        state: The content of state.json.
        has_iterator: Whether the state of a data iterator is there.
    """

    path: Path
    sequence: int
    arrays: list[np.ndarray[Any, Any]]
    state: dict[str, Any]
    has_iterator: bool


def name_of(sequence: int, epoch: int, step: int) -> str:
    """The folder name of a checkpoint; `epoch` counts from 0, `step` is how many of its steps were trained."""
    return f"{sequence:06d}-epoch{epoch + 1}-step{step}"


def sequence_of(path: Path) -> int:
    """The number of a checkpoint in the order of writing, from its folder's name."""
    return int(path.name.partition("-")[0])


def listed(folder: Path) -> list[Path]:
    """The folders in `folder` that are named like checkpoints, oldest first; links are not followed."""
    try:
        with os.scandir(folder) as entries:
            names = [e.name for e in entries if _NAME.fullmatch(e.name) and e.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted((folder / name for name in names), key=sequence_of)


def write(folder: Path, name: str, arrays: Arrays, state: Any, iterator: Path | None = None) -> int:
    """Writes one checkpoint; it exists under its name only when all of it is on the disk.

    Args:
        folder: Of all checkpoints; made if missing.
        name: From `name_of`.
        arrays: Numbers only.
        state: JSON types.
        iterator: Prefix of the two files that TensorFlow wrote for an iterator, alone in a folder; they are moved,
            and the folder is removed.

    Returns:
        Its size in bytes.

    Raises:
        OSError: The disk is full, or cannot be written. Nothing is left behind then.
    """
    part = folder / f"{PART}{os.getpid()}-{name}"
    try:
        part.mkdir(parents=True)
        if iterator is not None:
            for file in ITERATOR_FILES:
                iterator.with_name(iterator.name + file.removeprefix("iterator")).replace(part / file)
        write_arrays(part / VARIABLES, arrays)
        (part / STATE).write_bytes(json.dumps(state, allow_nan=False).encode())
        sizes = {path.name: path.stat().st_size for path in part.iterdir()}
        files = {name: {"bytes": size, "sha256": _digest(part / name)} for name, size in sizes.items()}
        content = {
            "format": FORMAT,
            "files": files,
            "arrays": [[dtype_name(array), list(array.shape)] for array in arrays],
        }
        (part / MANIFEST).write_text(
            json.dumps({"sha256": _digest_of(content), "content": content}, indent=0)
        )
        for path in part.iterdir():
            _flush(path)
        _flush(part)
        part.rename(folder / name)
        _flush(folder)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    finally:
        if iterator is not None:
            shutil.rmtree(iterator.parent, ignore_errors=True)
    return sum(sizes.values())


def read(path: Path) -> Stored:
    """Reads one checkpoint and checks every byte of it.

    Raises:
        RecordError: Something is missing, altered, foreign, a link, or not what the manifest says.
    """
    content = _read_manifest(path)
    files = content["files"]
    known = {VARIABLES, STATE, *ITERATOR_FILES}
    if not {VARIABLES, STATE} <= set(files) <= known:
        raise _torn(path, f"its manifest must name {VARIABLES} and {STATE}, and no file of its own")
    blobs = {name: _read_checked(path, name, facts) for name, facts in files.items()}
    try:
        state = json.loads(blobs[STATE])
        arrays = read_arrays(path / VARIABLES, content["arrays"])
    except (ValueError, RecursionError, KeyError, TypeError, zipfile.BadZipFile, OSError) as error:
        raise _torn(path, str(error)) from None
    if not isinstance(state, dict):
        raise _torn(path, f"{STATE} must hold an object")
    return Stored(
        path=path,
        sequence=sequence_of(path),
        arrays=arrays,
        state=state,
        has_iterator=set(ITERATOR_FILES) <= set(files),
    )


def read_state(path: Path) -> dict[str, Any]:
    """The content of state.json alone, checked.

    Raises:
        RecordError: It is not whole.
    """
    content = _read_manifest(path)
    try:
        state = json.loads(_read_checked(path, STATE, content["files"].get(STATE)))
    except (ValueError, RecursionError) as error:
        raise _torn(path, str(error)) from None
    return state if isinstance(state, dict) else {}


def newest_whole(folder: Path) -> tuple[Stored | None, tuple[str, ...]]:
    """The newest checkpoint that is whole, and what is wrong with each one that is newer."""
    problems: list[str] = []
    for path in reversed(listed(folder)):
        try:
            return read(path), tuple(problems)
        except RecordError as error:
            problems.append(error.message)
    return None, tuple(problems)


def remove(path: Path) -> None:
    """Removes a checkpoint: first its name, so that no half of it is ever taken for one."""
    dying = path.with_name(f"{PART}{os.getpid()}-old-{path.name}")
    path.rename(dying)
    shutil.rmtree(dying, ignore_errors=True)


def remove_parts(folder: Path) -> None:
    """Removes what killed writers left behind. Only real folders that are named like it are touched."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(PART) and entry.is_dir(follow_symlinks=False):
                shutil.rmtree(entry.path, ignore_errors=True)


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        whole = json.loads(_read_file(path / MANIFEST, _LARGEST_MANIFEST_BYTES))
        content = whole["content"]
        digest = whole["sha256"]
        matches = digest == _digest_of(content)
        shaped = isinstance(content["files"], dict) and isinstance(content["arrays"], list)
        version = content["format"]
    except (OSError, ValueError, RecursionError, KeyError, TypeError) as error:
        raise _torn(path, f"{MANIFEST} cannot be read: {error}") from None
    if not matches or not shaped:
        raise _torn(path, f"{MANIFEST} does not agree with its own hash")
    if version != FORMAT:
        raise _torn(path, f"it has format {version!r}, and this steptime reads format {FORMAT}")
    return dict(content)


def _read_checked(path: Path, name: str, facts: Any) -> bytes:
    """The bytes of a small file; only checked, and empty, for the arrays and the iterator."""
    try:
        _check_plain(path / name)
        size, digest = facts["bytes"], facts["sha256"]
        if (path / name).stat().st_size != size:
            raise _torn(path, f"{name} must have {size} bytes and has {(path / name).stat().st_size}")
        if _digest(path / name) != digest:
            raise _torn(path, f"{name} does not agree with its hash")
        return _read_file(path / name, size) if name == STATE else b""
    except (OSError, KeyError, TypeError) as error:
        raise _torn(path, f"{name} cannot be read: {error}") from None


def _check_plain(path: Path) -> None:
    if not stat.S_ISREG(path.lstat().st_mode):
        raise OSError(f"{path.name} is a link or no plain file")


def _read_file(path: Path, limit_bytes: int) -> bytes:
    _check_plain(path)
    if path.stat().st_size > limit_bytes:
        raise OSError(f"{path.name} is larger than {limit_bytes} bytes")
    return path.read_bytes()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _digest_of(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _flush(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return  # Windows opens no folders, and flushes them by itself.
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _torn(path: Path, why: str) -> RecordError:
    return RecordError(f"checkpoint {path.name} is not whole: {why}", hint=_HINT)
