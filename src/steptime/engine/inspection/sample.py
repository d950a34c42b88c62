"""Reads arrays in part: evenly spread rows, few enough to cost little."""

import math
from typing import Any

import numpy as np
import tensorflow as tf

_ROWS = 2048
# Arrays that lie in a file are read with one access a row.
_ROWS_OF_A_FILE = 128
_BYTES = 8 * 2**20


def leaves(value: Any) -> list[tuple[str, Any]]:
    """The arrays in a nested structure with the way to each, such as `['image']` or `[1]`; none for None."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [(f"[{key!r}]{way}", leaf) for key in sorted(value) for way, leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)) and not all(isinstance(item, (int, float)) for item in value):
        return [(f"[{n}]{way}", leaf) for n, item in enumerate(value) for way, leaf in leaves(item)]
    return [("", value)]


def shape_of(array: Any) -> tuple[int, ...]:
    """Shape of an array, tensor, frame or list of numbers."""
    return tuple(int(n) for n in array.shape) if hasattr(array, "shape") else np.shape(array)


def dtype_of(array: Any) -> str:
    """Name of the dtype; of a frame the common one of its columns."""
    if isinstance(array, tf.Tensor):
        return str(array.dtype.name)
    dtype = getattr(array, "dtype", None)
    return str(dtype if dtype is not None else np.asarray(array[:1]).dtype)


def rows(array: Any, *, most_bytes: int = _BYTES, most_rows: int = _ROWS) -> "np.ndarray[Any, Any]":
    """Evenly spread rows of an array, the first one included.

    Args:
        array: numpy array, memory map, tensor, frame or list.
        most_bytes: About how much to read.
        most_rows: How many rows to read at most.

    Returns:
        Shape (rows, ...), of the array's dtype.
    """
    shape = shape_of(array)
    if not shape or not shape[0]:
        return np.empty((0,))
    in_memory = isinstance(array, (np.ndarray, tf.Tensor)) and not isinstance(array, np.memmap)
    itemsize = np.dtype(
        array.dtype.as_numpy_dtype if isinstance(array, tf.Tensor) else dtype_of(array)
    ).itemsize
    bytes_a_row = max(1, math.prod(shape[1:]) * itemsize)
    wanted = max(
        1, min(most_rows if in_memory else min(most_rows, _ROWS_OF_A_FILE), most_bytes // bytes_a_row)
    )
    step = max(1, math.ceil(shape[0] / wanted))
    chosen = array.iloc[::step] if hasattr(array, "iloc") else array[::step]
    return np.asarray(chosen)
