"""Arrays in one archive that NumPy opens: no pickle, and nothing is believed that the bytes do not show."""

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

Arrays = Sequence[np.ndarray[Any, Any]]


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Writes v0.npy, v1.npy, ... into one uncompressed archive.

    Raises:
        ValueError: An array of Python objects.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        for number, array in enumerate(arrays):
            if array.dtype.hasobject:
                raise ValueError(f"array {number} holds Python objects")
            with archive.open(zipfile.ZipInfo(f"v{number}.npy"), "w", force_zip64=True) as file:
                np.lib.format.write_array(file, _plain(array), allow_pickle=False)


def read_arrays(path: Path, declared: Any) -> list[np.ndarray[Any, Any]]:
    """Reads what `write_arrays` wrote, and asks for no more memory than the file's size.

    Args:
        path: The archive.
        declared: Dtype, by `dtype_name`, and shape of each array, as somebody else wrote them down.

    Raises:
        ValueError: The archive holds something else. Foreign bytes may also lead to KeyError, TypeError or
            zipfile.BadZipFile.
    """
    arrays = []
    with zipfile.ZipFile(path) as archive:
        for number, (dtype_name, shape) in enumerate(declared):
            member = archive.getinfo(f"v{number}.npy")
            # Stored as it is, a member cannot be larger than its file: nobody can declare more than there is.
            if member.compress_type != zipfile.ZIP_STORED or member.file_size > path.stat().st_size:
                raise ValueError(f"{member.filename} must be stored uncompressed")
            arrays.append(_parse_array(archive, member, dtype_name, tuple(shape)))
    return arrays


def _parse_array(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, dtype_name: str, shape: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    dtype = _dtype(dtype_name)
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        header = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        stored_shape, fortran, stored_dtype = header(file)
        content = file.read()
    count = int(np.prod(shape, dtype=object)) if shape else 1
    if stored_shape != shape or stored_dtype.hasobject or len(content) != count * dtype.itemsize:
        raise ValueError(f"{member.filename} must be {dtype_name} of shape {shape}")
    flat = np.frombuffer(content, dtype)
    return np.array(flat.reshape(shape, order="F" if fortran else "C"))


def dtype_name(array: np.ndarray[Any, Any]) -> str:
    """The dtype as text; NumPy itself has no name for bfloat16."""
    return str(array.dtype.name if array.dtype.kind == "V" else array.dtype.str)


def _dtype(name: Any) -> "np.dtype[Any]":
    if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        import ml_dtypes  # comes with TensorFlow

        dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return dtype
    dtype = np.dtype(str(name))
    if dtype.kind not in "biufcU" or dtype.itemsize == 0:
        raise ValueError(f"an array of {name}")
    return dtype


def _plain(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """NumPy's format does not know bfloat16: such arrays are stored by their bits."""
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" else array
