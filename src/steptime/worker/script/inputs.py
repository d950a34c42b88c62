"""How much data a ``fit`` call was given, from what it shows without being read."""

import math
from dataclasses import dataclass
from typing import Any

# Keras' own default of `fit`.
_BATCH_SIZE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What is known of a call's data; None where they do not tell.

    Attributes:
        samples: Training samples.
        validation_samples: Validation samples.
        batch_size: Samples in a step.
        steps_per_epoch: Steps in an epoch.
    """

    samples: int | None
    validation_samples: int | None
    batch_size: int | None
    steps_per_epoch: int | None


def describe_inputs(arguments: Any) -> Inputs:
    """Describe the data of a call.

    Args:
        arguments: Has the arguments of Keras' ``fit`` as attributes.
    """
    steps = arguments.steps_per_epoch
    validation = arguments.validation_data
    validation_samples = (
        _rows(validation[0]) if isinstance(validation, (tuple, list)) and validation else None
    )
    samples = _rows(arguments.x)
    if samples is None:
        known = _steps_of(arguments.x)
        return Inputs(
            samples=None,
            validation_samples=validation_samples,
            batch_size=_batch_size_of(arguments.x),
            steps_per_epoch=steps or known,
        )
    if arguments.validation_split and validation is None:
        split = math.floor(samples * (1.0 - arguments.validation_split))
        samples, validation_samples = split, samples - split
    batch_size = arguments.batch_size or _BATCH_SIZE
    return Inputs(
        samples=samples,
        validation_samples=validation_samples,
        batch_size=batch_size,
        steps_per_epoch=steps or -(-samples // batch_size),
    )


def _rows(data: Any) -> int | None:
    """Return the length of the first axis of arrays or tensors, however they are nested."""
    while isinstance(data, (dict, list, tuple)) and data:
        data = next(iter(data.values())) if isinstance(data, dict) else data[0]
    shape = getattr(data, "shape", None)
    if shape is None or hasattr(data, "element_spec") or not len(shape):
        return None
    return None if shape[0] is None else int(shape[0])


def _steps_of(data: Any) -> int | None:
    if hasattr(data, "cardinality"):  # tf.data.Dataset; below 0 is endless or unknown
        steps = int(data.cardinality())
        return steps if steps >= 0 else None
    batches = getattr(data, "num_batches", None)  # keras.utils.PyDataset
    return batches if isinstance(batches, int) else None


def _batch_size_of(data: Any) -> int | None:
    """Return the batch size of a tf.data pipeline: from its shapes, or from its own batch operation.

    ``batch()`` without ``drop_remainder`` leaves the first axis open, so most pipelines do not show it in shapes.
    """
    shapes = _rows_of_spec(getattr(data, "element_spec", None))
    if shapes is not None:
        return shapes
    while data is not None:
        size = getattr(data, "_batch_size", None)
        if size is not None:
            return int(size)
        data = getattr(data, "_input_dataset", None)
    return None


def _rows_of_spec(spec: Any) -> int | None:
    while isinstance(spec, (dict, list, tuple)) and spec:
        spec = next(iter(spec.values())) if isinstance(spec, dict) else spec[0]
    shape = getattr(spec, "shape", None)
    rows = None if shape is None or not shape.rank else shape[0]
    return None if rows is None else int(rows)
