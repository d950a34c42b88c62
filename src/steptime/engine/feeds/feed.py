"""What the training loop asks of data, whatever it is made of."""

import contextlib
from dataclasses import dataclass
from typing import Any, Protocol


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


class Feed(Protocol):
    """Data for one `fit`, `evaluate` or `predict`."""

    @property
    def position(self) -> int:
        """Number of the next step in the pass over the data."""

    def begin_epoch(self) -> None:
        """Starts an epoch."""

    def available(self) -> int | None:
        """Steps that can be claimed at once; None when only reading tells; 0 at the end of the epoch."""

    def claim(self, steps: int) -> Claim | None:
        """Takes up to `steps` steps; None when the epoch is over."""

    def ran_out(self, unused: int) -> None:
        """Tells that the last `unused` claimed steps found no data."""

    def catch_stop_iteration(self) -> contextlib.AbstractContextManager[None]:
        """Around an epoch: turns StopIteration to Keras' warning and the end of the epoch."""


def element_spec(tensors: Any, batch_size: int | None) -> Any:
    """Specification of one batch of `tensors`.

    Args:
        tensors: Nested structure of tensors whose first axis counts samples; None is allowed.
        batch_size: Length of the first axis of a batch; None when the last batch is shorter.
    """
    import tensorflow as tf

    return tf.nest.map_structure(
        lambda t: None if t is None else tf.TensorSpec([batch_size, *t.shape[1:]], t.dtype), tensors
    )
