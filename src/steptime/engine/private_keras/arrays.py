"""Arrays, converted and checked as Keras does it."""

from dataclasses import dataclass, replace
from typing import Any

import tensorflow as tf
from keras.src import tree
from keras.src.trainers.data_adapters import array_slicing
from keras.src.trainers.data_adapters.array_data_adapter import ArrayDataAdapter, can_convert_arrays


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """Arrays as Keras hands them to a step: `(x,)`, `(x, y)` or `(x, y, sample_weight)`, or `x` alone."""

    tensors: Any
    samples: int
    batch_size: int
    shuffle: bool | str


def are_arrays(arrays: Any) -> bool:
    """Whether Keras would treat these inputs as arrays in memory."""
    return bool(can_convert_arrays(arrays))


def split_for_validation(arrays: Any, share: float) -> tuple[Any, Any]:
    """The first `1 - share` of the samples and the rest, as Keras' `validation_split` does it."""
    train, held_out = array_slicing.train_validation_split(arrays, validation_split=share)
    return train, held_out


def as_arrays(**arguments: Any) -> Arrays:
    """Checks and converts array arguments exactly as Keras does, class weights included.

    Args:
        arguments: Those of Keras' array adapter: x, y, sample_weight, batch_size, steps, shuffle, class_weight.

    Raises:
        ValueError: Keras' own, for arrays that do not fit together.
    """
    adapter = ArrayDataAdapter(**arguments)
    with tf.device("/CPU:0"):
        sliceable = array_slicing.convert_to_sliceable(adapter._inputs, target_backend="tensorflow")
        tensors = tf.nest.map_structure(_as_tensor, tree.lists_to_tuples(sliceable))
    return Arrays(
        tensors=tensors,
        samples=int(adapter._num_samples),
        # One batch that is not full is a full batch of the size there is.
        batch_size=max(1, min(int(adapter._batch_size), int(adapter._num_samples))),
        shuffle=adapter._shuffle,
    )


def _as_tensor(value: Any) -> Any:
    return value if value is None or tf.is_tensor(value) else tf.convert_to_tensor(value)


def with_batch_size(arrays: Arrays, batch_size: int) -> Arrays:
    """The same arrays in batches of another size."""
    return replace(arrays, batch_size=batch_size)
