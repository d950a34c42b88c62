"""Arrays in memory: every batch can be addressed by its position, so any loop can run any step."""

import contextlib
import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.feeds.feed import Claim, element_spec


def permutation(
    samples: int, batch_size: int, shuffle: bool | str, seed: tuple[int, int]
) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The order of the samples in one pass.

    Args:
        samples: Number of samples.
        batch_size: Samples in a step; matters for `shuffle="batch"` only.
        shuffle: False for the given order, True for a full fresh permutation, "batch" for Keras' shuffling
            within each batch.
        seed: (seed of the fit, number of the pass). The order depends on nothing else, so that a training
            can be resumed at any epoch.

    Returns:
        int64 array of shape (samples,).
    """
    order = np.arange(samples, dtype=np.int64)
    if not shuffle:
        return order
    generator = np.random.default_rng(seed)
    if shuffle == "batch":
        for first in range(0, samples, batch_size):
            generator.shuffle(order[first : first + batch_size])
        return order
    return generator.permutation(order)


class ArrayFeed:
    """Steps over arrays in the order of `permutation`.

    Args:
        arrays: As Keras converted them.
        seed: Seed of the fit.
        steps_per_epoch: As given to `fit`.
    """

    def __init__(
        self,
        arrays: private_keras.Arrays,
        *,
        seed: int = 0,
        steps_per_epoch: int | None = None,
    ) -> None:
        self.host = arrays.tensors
        self.samples = arrays.samples
        self.batch_size = arrays.batch_size
        self.steps_in_pass = math.ceil(self.samples / self.batch_size)
        self.full_steps = self.samples // self.batch_size
        self.bytes = sum(_bytes(t) for t in tf.nest.flatten(self.host) if t is not None)
        is_exact = self.full_steps == self.steps_in_pass
        self.element_spec = element_spec(self.host, self.batch_size if is_exact else None)
        self.shuffle = arrays.shuffle
        self._seed = seed
        self._pass = 0
        self._steps_per_epoch = steps_per_epoch
        self.position = 0
        self._step = 0
        self._pipeline: _Pipeline | None = None
        self.order = self._draw()

    def restart(self) -> None:
        """Starts over, for another evaluation."""
        self.position = 0

    @property
    def step(self) -> int:
        """Number of the next step in the epoch."""
        return self._step

    @property
    def num_batches(self) -> int:
        """Steps in an epoch."""
        return self._steps_per_epoch or self.steps_in_pass

    def start_at(self, epoch: int) -> None:
        """Makes the first pass that of `epoch`, which is where a resumed training goes on."""
        if epoch != self._pass:
            self._pass = epoch
            self.order = self._draw()

    def state(self) -> dict[str, Any]:
        """Where the data are, in JSON types."""
        return {
            "kind": "arrays",
            "seed": self._seed,
            "pass": self._pass,
            "position": self.position,
            "step": self._step,
            "batch_size": self.batch_size,
        }

    def go_on(self, state: Mapping[str, Any], iterator: Path | None, *, inside_epoch: bool) -> bool:  # noqa: ARG002
        """Puts the data where `state` says.

        Args:
            state: From `state`.
            iterator: Not needed: any position can be reached at once.
            inside_epoch: Whether an epoch is going on there, which then needs no `begin_epoch`.

        Returns:
            Whether it could be done. With another batch size the position is that of the same sample, if a batch
            begins there and their order does not depend on the batch size; else the epoch must start again.
        """
        self._seed, self._pass = int(state["seed"]), int(state["pass"])
        self.order = self._draw()
        self.position, self._step = int(state["position"]), int(state["step"])
        former = int(state["batch_size"])
        if former == self.batch_size or not inside_epoch:
            return True
        seen = self.position * former
        if self._steps_per_epoch or self.shuffle == "batch" or seen % self.batch_size:
            self.position = self._step = 0
            return False
        self.position = self._step = seen // self.batch_size
        return True

    def _draw(self) -> tf.Tensor:
        order = permutation(self.samples, self.batch_size, self.shuffle, (self._seed, self._pass))
        # int64: TensorFlow keeps int32 tensors of a GPU function in host memory.
        return tf.constant(order)

    def begin_epoch(self) -> None:
        """Starts an epoch; without `steps_per_epoch` that is also a new pass over the data."""
        self._step = 0

    def available(self) -> int:
        """Steps left in the epoch, but not beyond the pass."""
        left_in_pass = self.steps_in_pass - self.position
        if self._steps_per_epoch:
            return min(self._steps_per_epoch - self._step, left_in_pass)
        return left_in_pass

    def claim(self, steps: int) -> Claim | None:
        """Takes up to `steps` steps; at the end of the epoch None, and a new pass where the old one is done."""
        available = self.available()
        if available:
            claim = Claim(first=self._step, position=self.position, steps=min(steps, available))
            self._step += claim.steps
            self.position += claim.steps
            return claim
        if self.position == self.steps_in_pass:
            if self._steps_per_epoch and self._step < self._steps_per_epoch:
                _warn_of_short_data()
            self.position = 0
            self._pass += 1
            if self.shuffle:
                self.order = self._draw()
        return None

    def ran_out(self, unused: int) -> None:
        """Arrays never run out within a claim."""
        raise AssertionError(f"{unused} claimed steps of an array found no data")

    def catch_stop_iteration(self) -> contextlib.AbstractContextManager[None]:
        """Nothing to catch: the number of steps is known."""
        return contextlib.nullcontext()

    def batch(self, position: int) -> Any:
        """The batch at `position` of this pass, gathered on the host."""
        indices = self.order[position * self.batch_size : (position + 1) * self.batch_size]
        return tf.nest.map_structure(lambda t: None if t is None else tf.gather(t, indices), self.host)

    def put_back(self, batch: Any) -> None:
        """Nothing to do: any position can be read again."""

    def iterator(self, position: int) -> Any:
        """A tf.data iterator whose next batch is the one at `position` of this pass."""
        if self._pipeline is None:
            self._pipeline = _Pipeline(self)
        return self._pipeline.at(position, self.order)

    def read(self, steps: int) -> None:
        """Tells that the last iterator handed out was read `steps` times."""
        if self._pipeline is not None:
            self._pipeline.position += steps


class _Pipeline:
    """Batches gathered on the host ahead of the step, as Keras' array adapter does it."""

    def __init__(self, feed: ArrayFeed) -> None:
        self._feed = feed
        with tf.device("/CPU:0"):
            self._order = tf.Variable(feed.order, trainable=False)
            self._first = tf.Variable(0, dtype=tf.int64, trainable=False)
        self._dataset = self._build()
        self._iterator: Any = None
        self._drawn: Any = None
        self.position = -1

    def _build(self) -> tf.data.Dataset:
        size, samples = self._feed.batch_size, self._feed.samples
        host = tf.data.Dataset.from_tensors(self._feed.host).repeat()
        steps = tf.data.Dataset.range(self._feed.steps_in_pass)
        # Skipping is a filter on the number of the step, read when the iterator starts.
        steps = steps.map(lambda step: step + self._first).take(self._feed.steps_in_pass)
        steps = steps.take_while(lambda step: step < self._feed.steps_in_pass)

        def gather(step: tf.Tensor, data: Any) -> Any:
            last = tf.minimum((step + 1) * size, samples)
            indices = self._order[step * size : last]
            batch = tf.nest.map_structure(lambda t: None if t is None else tf.gather(t, indices), data)
            return tf.nest.map_structure(_with_shape, batch, self._feed.element_spec)

        dataset = tf.data.Dataset.zip((steps, host)).map(gather, num_parallel_calls=2).prefetch(8)
        options = tf.data.Options()
        # tf.data's tuning thread sleeps up to a minute, and ending an iterator waits for it.
        options.autotune.enabled = False
        options.experimental_optimization.apply_default_optimizations = False
        return dataset.with_options(options)

    def at(self, position: int, order: tf.Tensor) -> Any:
        if self._iterator is None or self.position != position or self._drawn is not order:
            self._iterator = None  # Its prefetching threads must not see the new order.
            self._order.assign(order)
            self._first.assign(position)
            self._iterator = iter(self._dataset)
            self._drawn = order
            self.position = position
        return self._iterator


def _with_shape(tensor: Any, spec: Any) -> Any:
    return None if tensor is None else tf.ensure_shape(tensor, spec.shape)


def _bytes(tensor: tf.Tensor) -> int:
    return int(np.prod(tensor.shape, dtype=np.int64)) * int(tensor.dtype.size)


def _warn_of_short_data() -> None:
    warnings.warn(
        "Your input ran out of data; interrupting training. Make sure that your dataset or generator can "
        "generate at least `steps_per_epoch * epochs` batches. You may need to use the `.repeat()` function "
        "when building your dataset.",
        stacklevel=2,
    )
