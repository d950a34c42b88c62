"""Data sets, generators and `PyDataset`: read once, in order, with Keras' own bookkeeping."""

import contextlib
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.distribution.group import group_of
from steptime.engine.feeds.feed import Claim


class StreamFeed:
    """Steps over whatever Keras makes a tf.data pipeline of.

    Args:
        model: Whose epochs these are.
        device: Where batches are prefetched to, such as "/GPU:0"; None to leave them on the host.
        arguments: Those of Keras' epoch iterator.
    """

    def __init__(self, model: keras.Model, *, device: str | None = None, **arguments: Any) -> None:
        self._epochs = private_keras.KerasEpochs(
            # Also under a strategy every process reads whole batches; replicas take their shares of them.
            private_keras.NotDistributed if group_of(model) is not None else model.distribute_strategy,
            lambda dataset, made_by_keras: _prepared(dataset, made_by_keras, device),
            **arguments,
        )
        self.element_spec = self._epochs.element_spec
        self._iterator: Any = None
        self._step = 0
        self._put_back: Any = None

    @property
    def num_batches(self) -> int | None:
        """Steps in an epoch; None while unknown."""
        return self._epochs.num_batches

    def restart(self) -> None:
        """Starts over, for another evaluation."""
        self._epochs.reset()

    @property
    def position(self) -> int:
        """Number of the next step in the epoch."""
        return self._step

    def begin_epoch(self) -> None:
        """Starts an epoch."""
        self._epochs.begin()
        self._step = 0

    def available(self) -> int | None:
        """Steps left in the epoch; None when the data decide."""
        return self._epochs.available()

    def claim(self, steps: int) -> Claim | None:
        """Takes up to `steps` steps; None when the epoch is over."""
        claimed, iterator = self._epochs.claim(steps)
        if not claimed:
            return None
        self._iterator = iterator
        claim = Claim(first=self._step, position=self._step, steps=claimed)
        self._step += claimed
        return claim

    def ran_out(self, unused: int) -> None:
        """Tells that the last `unused` claimed steps found no data."""
        self._epochs.ran_out(unused)

    def catch_stop_iteration(self) -> contextlib.AbstractContextManager[None]:
        """Keras' own handling of data that end."""
        return self._epochs.catch_stop_iteration()

    def batch(self, position: int) -> Any:  # noqa: ARG002  # a stream has only a next batch
        """Reads the next batch.

        Raises:
            StopIteration: There is none.
        """
        return next(self._iterator)

    def put_back(self, batch: Any) -> None:
        """Makes the next iterator handed out yield `batch`, and only it."""
        self._put_back = batch

    def iterator(self, position: int) -> Any:  # noqa: ARG002
        """The tf.data iterator to read from."""
        if self._put_back is None:
            return self._iterator
        batch = self._put_back
        again = tf.data.Dataset.from_generator(lambda: iter([batch]), output_signature=self.element_spec)
        return iter(again)

    def read(self, steps: int) -> None:
        """Tells that the last iterator handed out was read."""
        if steps:
            self._put_back = None


def _prepared(dataset: Any, made_by_keras: bool, device: str | None) -> Any:
    if not isinstance(dataset, tf.data.Dataset):
        return dataset
    if made_by_keras:
        options = tf.data.Options()
        # tf.data's tuning thread sleeps up to a minute, and ending an iterator waits for it. A person's own
        # data set keeps its own setting.
        options.autotune.enabled = False
        dataset = dataset.with_options(options)
    dtypes = [getattr(spec, "dtype", tf.variant) for spec in tf.nest.flatten(dataset.element_spec)]
    # TensorFlow keeps int32 and strings of a GPU function in host memory.
    if device is not None and not {tf.int32, tf.string, tf.variant} & set(dtypes):
        dataset = dataset.apply(tf.data.experimental.prefetch_to_device(device, 2))
    return dataset
