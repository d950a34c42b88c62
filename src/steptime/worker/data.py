"""Gives the forms in which a workload may return its data one shape."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tensorflow as tf

from steptime.errors import UsageError

_FORMS = (
    "((x, y), (x_val, y_val)) with sample weights as an optional third, a tf.data.Dataset, or a pair of them"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Training or validation data: either a stream, or arrays.

    Attributes:
        stream: A ``tf.data.Dataset``, ``PyDataset`` or generator that yields batches; None for arrays.
        x: Inputs: an array, or a dict, tuple or list of arrays.
        y: Targets, of the same forms, or None.
        sample_weight: One weight a sample, or None.
    """

    stream: Any = None
    x: Any = None
    y: Any = None
    sample_weight: Any = None

    @property
    def samples(self) -> int | None:
        """Number of samples; None for a stream that does not tell."""
        if self.stream is None:
            return int(leaves(self.x)[0].shape[0])
        return None

    def fit_arguments(self) -> dict[str, Any]:
        """Return x, y and sample_weight as ``fit`` takes them."""
        if self.stream is not None:
            return {"x": self.stream}
        return {"x": self.x, "y": self.y, "sample_weight": self.sample_weight}

    def validation_argument(self) -> Any:
        """Return the data as ``fit`` takes ``validation_data``."""
        if self.stream is not None:
            return self.stream
        given = (self.x, self.y, self.sample_weight)
        return given if self.sample_weight is not None else given[:2]

    def first_batch(self, size: int) -> tuple[Any, Any]:
        """Return (x, y) of the first batch; a generator is not touched and gives (None, None)."""
        if self.stream is None:
            return slice_of(self.x, size), None if self.y is None else slice_of(self.y, size)
        if isinstance(self.stream, tf.data.Dataset):
            element = next(iter(self.stream.take(1)), None)
        elif hasattr(self.stream, "__getitem__"):
            element = self.stream[0]
        else:
            return None, None
        if element is None:
            raise UsageError(
                "The training data must hold at least one sample. Received: an empty dataset",
                hint="Look at what load_data() returns.",
            )
        parts = element if isinstance(element, (tuple, list)) else (element,)
        return parts[0], parts[1] if len(parts) > 1 else None


def read_parts(value: Any) -> tuple[Part, Part | None]:
    """Return (training, validation) from what ``load_data()`` returned.

    Raises:
        UsageError: None of the documented forms.
    """
    if _is_stream(value):
        return Part(stream=value), None
    if isinstance(value, (tuple, list)) and len(value) == 2:
        first, second = value
        if _is_stream(first):
            return Part(stream=first), None if second is None else _read_one(second)
        if _is_pair(first) and (second is None or _is_pair(second) or _is_stream(second)):
            return _read_one(first), None if second is None else _read_one(second)
        if _is_array(first) and _is_array(second):
            return Part(x=_plain(first), y=_plain(second)), None
    raise UsageError(
        f"load_data() must return {_FORMS}. Received: {_shape_of(value)}",
        hint="`steptime new my_job.py` writes a starter with comments.",
    )


def leaves(value: Any) -> list[Any]:
    """Return the arrays inside a nested structure of dicts, tuples and lists, in order."""
    if isinstance(value, Mapping):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def slice_of(value: Any, size: int) -> Any:
    """Return the first ``size`` samples of every array in a nested structure."""
    if isinstance(value, Mapping):
        return {key: slice_of(item, size) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(slice_of(item, size) for item in value)
    return value[:size]


def _read_one(value: Any) -> Part:
    if _is_stream(value):
        return Part(stream=value)
    if not _is_pair(value):
        raise UsageError(
            f"Data must be (x, y) or (x, y, sample_weight). Received: {_shape_of(value)}",
            hint="Return arrays or a tf.data.Dataset.",
        )
    x, y, *weight = value
    weights = _plain(weight[0]) if weight else None
    return Part(x=_plain(x), y=None if y is None else _plain(y), sample_weight=weights)


def _plain(value: Any) -> Any:
    """Turn lists of numbers and frames into arrays; leave arrays, tensors and nested structures."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, tuple) or (isinstance(value, list) and value and _is_array(value[0])):
        return type(value)(_plain(item) for item in value)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return value
    try:
        return np.asarray(value)
    except ValueError as error:  # lists of unequal lengths
        raise UsageError(
            f"Data must be arrays, or lists that make one. Received: {_shape_of(value)} ({error})",
            hint="Make all samples equally long, or return a tf.data.Dataset.",
        ) from None


def _is_stream(value: Any) -> bool:
    import keras

    streams = (tf.data.Dataset, keras.utils.PyDataset)
    return isinstance(value, streams) or (hasattr(value, "__next__") and not _is_array(value))


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") or hasattr(value, "__array__")


def _is_pair(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and len(value) in (2, 3) and not _is_stream(value[0])


def _shape_of(value: Any) -> str:
    if isinstance(value, (tuple, list)):
        return (
            f"{type(value).__name__} of {len(value)}: {', '.join(type(item).__name__ for item in value[:4])}"
        )
    return type(value).__name__
