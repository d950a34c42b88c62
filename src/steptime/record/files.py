"""Writing that survives a kill at any instant: readers see the old file or the new one, never half."""

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np


def write_bytes(path: Path, content: bytes) -> None:
    """Replace ``path`` by ``content``: written beside it, flushed to the disk, then renamed."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


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


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if value - value == 0 else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value
