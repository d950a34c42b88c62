"""Writing that survives a kill at any instant: readers see the old file or the new one, never half."""

import io
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steptime.errors import RecordError

if TYPE_CHECKING:
    import numpy as np


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path beside ``path`` to write a file to; in the end it is flushed to the disk and renamed to ``path``."""
    part = path.with_name(f".{os.getpid()}.part-{path.name}")  # The suffix stays: Keras looks at it.
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


# zlib compresses to a thousandth at most, and small archives have headers of their own.
_LARGEST_RATIO = 1100


def write_bytes(path: Path, content: bytes) -> None:
    """Replace ``path`` by ``content``: written beside it, flushed to the disk, then renamed."""
    with replacing(path) as part:
        part.write_bytes(content)


def write_json(path: Path, value: object) -> None:
    """Replace ``path`` by ``value`` as JSON. NaN and infinities are not JSON and become null.

    Bytes of file names that are not UTF-8, which Python keeps as lone surrogates, are written as JSON escapes.
    """
    text = json.dumps(_finite(value), indent=1, ensure_ascii=False, allow_nan=False)
    write_bytes(path, text.encode(errors="backslashreplace") + b"\n")


def write_arrays(path: Path, arrays: "Mapping[str, np.ndarray[Any, Any]]") -> None:
    """Replace ``path`` by an npz file of plain arrays.

    Raises:
        ValueError: An array of Python objects, which only pickle could store.
    """
    import numpy as np

    pickled = [name for name, array in arrays.items() if array.dtype.hasobject]
    if pickled:
        raise ValueError(f"arrays must hold numbers or text. Received objects in: {', '.join(pickled)}")
    buffer = io.BytesIO()
    columns: dict[str, Any] = dict(arrays)
    np.savez_compressed(buffer, **columns)
    write_bytes(path, buffer.getvalue())


def read_arrays(path: Path) -> "dict[str, np.ndarray[Any, Any]]":
    """Return the arrays of an npz file; none when it does not exist.

    Raises:
        RecordError: It is damaged.
    """
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            largest = _LARGEST_RATIO * path.stat().st_size
            return {
                member.filename.removesuffix(".npy"): _read_array(archive, member, largest)
                for member in archive.infolist()
            }
    except FileNotFoundError:
        return {}
    except Exception as error:  # noqa: BLE001  # zipfile, zlib and numpy raise whatever foreign bytes lead them to
        raise RecordError(f"{path} must be readable by numpy. {error}", hint="The file is damaged.") from None


def _read_array(archive: Any, member: Any, largest_bytes: int) -> "np.ndarray[Any, Any]":
    """Read one array, but never more bytes than the archive can honestly hold, whatever is declared in it."""
    import numpy as np

    if member.file_size > largest_bytes:
        raise ValueError(f"{member.filename} declares {member.file_size} bytes")
    with archive.open(member) as file:
        content = io.BytesIO(file.read(largest_bytes + 1))
    version = np.lib.format.read_magic(content)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(content)
    if math.prod(shape) * dtype.itemsize > largest_bytes:
        raise ValueError(f"{member.filename} declares an array of {shape}")
    content.seek(0)
    array: np.ndarray[Any, Any] = np.lib.format.read_array(content, allow_pickle=False)
    return array


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
