"""What feeds have in common."""

from dataclasses import dataclass
from typing import Any

import tensorflow as tf


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Steps taken from a feed and not yet executed.

    Attributes:
        first: Number of the first step within the epoch, from 0.
        position: Number of the first step within the pass over the data; differs from `first` only when
            `steps_per_epoch` is not one pass.
        steps: How many.
    """

    first: int
    position: int
    steps: int


def element_spec(tensors: Any, batch_size: int | None) -> Any:
    """Specification of one batch of `tensors`.

    Args:
        tensors: Nested structure of tensors whose first axis counts samples; None is allowed.
        batch_size: Length of the first axis of a batch; None when the last batch is shorter.
    """
    return tf.nest.map_structure(
        lambda t: None if t is None else tf.TensorSpec([batch_size, *t.shape[1:]], t.dtype), tensors
    )
