"""Plain Python values as JSON and arrays, and back: what callbacks keep, logs, histories.

JSON alone would lose infinities, tuples, keys that are not text, and arrays. No pickle: reading a checkpoint
never runs code.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def encode(value: Any, arrays: list[np.ndarray[Any, Any]]) -> Any:
    """Returns `value` as JSON types; arrays are appended to `arrays` and named by their number.

    Raises:
        TypeError: Something that is neither plain nor an array of numbers.
    """
    if value is None or isinstance(value, (bool, str)) or type(value) is int:
        return value
    if isinstance(value, dict):
        return {"dict": [[encode(k, arrays), encode(v, arrays)] for k, v in value.items()]}
    if type(value) in (list, tuple):
        return {type(value).__name__: [encode(item, arrays) for item in value]}
    if type(value) is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if hasattr(value, "__array__"):
        array = np.array(value, copy=True)
        if array.dtype.hasobject:
            raise TypeError(f"an array of {array.dtype}")
        arrays.append(array)
        return {"scalar" if isinstance(value, np.generic) else "array": len(arrays) - 1}
    raise TypeError(f"a {type(value).__name__}")


def decode(value: Any, arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
    """Returns what `encode` was given.

    Raises:
        ValueError: Not made by `encode`.
    """
    if not isinstance(value, dict):
        if isinstance(value, list):
            raise ValueError("a bare list")
        return value
    ((kind, content),) = value.items()
    if kind == "dict":
        return {decode(k, arrays): decode(v, arrays) for k, v in content}
    if kind in ("list", "tuple"):
        items = [decode(item, arrays) for item in content]
        return items if kind == "list" else tuple(items)
    if kind == "float":
        return float(content)
    if kind == "array":
        return np.array(arrays[content], copy=True)
    if kind == "scalar":
        return arrays[content][()]
    raise ValueError(f"an unknown kind {kind!r}")
