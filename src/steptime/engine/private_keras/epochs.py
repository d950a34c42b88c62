"""Epochs over streams of data, with Keras' own bookkeeping."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from keras.src.backend.tensorflow.trainer import TFEpochIterator
from keras.src.trainers.data_adapters.tf_dataset_adapter import TFDatasetAdapter

from steptime.engine.private_keras.datasets import generators


class _LazyIterator:
    """Makes the real iterator on first use: Keras asks for one more at each epoch's end and drops it."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._real: Any = None

    def __iter__(self) -> "_LazyIterator":
        return self

    def __next__(self) -> Any:
        return next(self.real())

    def real(self) -> Any:
        if self._real is None:
            self._real = iter(self._dataset)
        return self._real

    def is_made_and(self, other: Any) -> bool:
        return self._real is not None and self._real is other


class _Epochs(TFEpochIterator):  # type: ignore[misc]  # untyped in Keras
    ready: _LazyIterator | None = None

    def _get_iterator(self) -> _LazyIterator:
        lazy, self.ready = self.ready or _LazyIterator(self.prepared), None
        return lazy


class KerasEpochs:
    """Keras' own bookkeeping of epochs, steps and running out of data, handed out several steps at a time.

    Args:
        strategy: Spreads the data set Keras makes over devices, or leaves it whole.
        prepare: Turns the data set Keras made of the inputs to the one iterated over.
        arguments: Those of Keras' epoch iterator: x, y, sample_weight, batch_size, steps_per_epoch, ...
    """

    def __init__(self, strategy: Any, prepare: Callable[[Any, bool], Any], **arguments: Any) -> None:
        self._epochs = _Epochs(distribute_strategy=strategy, **arguments)
        self._is_dataset = isinstance(self._epochs.data_adapter, TFDatasetAdapter)
        self._epochs.prepared = prepare(self._epochs._distributed_dataset, not self._is_dataset)
        self.element_spec = self._epochs.prepared.element_spec
        self._step = 0

    @property
    def generators(self) -> int | None:
        """How many random generators of the data go on from one epoch to the next; None if unknown."""
        return generators(self._epochs.prepared) if self._is_dataset else None

    @property
    def why_not_saved(self) -> str | None:
        """Why the position in the data cannot be saved; None when TensorFlow may know how."""
        if self._is_dataset:
            return None
        return f"they come from Python ({type(self._epochs.data_adapter).__name__.removesuffix('Adapter')})"

    def state(self, last: Any) -> dict[str, Any]:
        """The bookkeeping, in JSON types.

        Args:
            last: The tf.data iterator that was handed out last.
        """
        current = self._epochs._current_iterator
        return {
            "num_batches": self._epochs._num_batches,
            "steps_seen": self._epochs._steps_seen,
            # With steps_per_epoch the next epoch goes on with the iterator of the last.
            "is_kept": current is not None and last is not None and current.is_made_and(last),
        }

    def set_num_batches(self, number: int | None) -> None:
        """Takes over what an earlier process found out about the length of the data."""
        self._epochs._num_batches = number

    def set_counts(self, state: Mapping[str, Any]) -> None:
        """Takes over the counts of `state`."""
        self._epochs._num_batches = state["num_batches"]
        self._epochs._steps_seen = state["steps_seen"]

    def make(self, *, kept: bool | None) -> Any:
        """A tf.data iterator to put a saved state in, before anything was read.

        Args:
            kept: None if the epoch that begins next reads from it; otherwise it is that of an epoch that is over, and
                this says whether the next one goes on with it. If not, its state still advances the generators of
                the data set's shuffling.
        """
        lazy = _LazyIterator(self._epochs.prepared)
        if kept is None:
            self._epochs.ready = lazy
        elif kept:
            self._epochs._current_iterator = lazy
        return lazy.real()

    @property
    def num_batches(self) -> int | None:
        """Steps in an epoch; None while unknown."""
        number: int | None = self._epochs.num_batches
        return number

    def reset(self) -> None:
        """Starts over, as Keras does at the start of every `fit` and `evaluate`."""
        self._epochs.reset()

    def begin(self) -> None:
        """Starts an epoch."""
        iter(self._epochs)
        self._step = 0

    def available(self) -> int | None:
        """Steps that can be claimed in one piece; None when the data decide."""
        epochs = self._epochs
        total = epochs.steps_per_epoch or epochs._num_batches
        if not total:
            return None
        left = int(total) - self._step
        if epochs.steps_per_epoch and epochs._num_batches:
            seen = 0 if epochs._current_iterator is None else epochs._steps_seen
            left = min(left, epochs._num_batches - seen)
        return max(left, 0)

    def claim(self, steps: int) -> tuple[int, Any]:
        """Takes up to `steps` steps; zero at the end of the epoch. Second: the tf.data iterator to run on."""
        claimed, iterator = 0, None
        for _ in range(max(steps, 1)):
            try:
                *_, iterator = next(self._epochs)  # Keras before 3.10 hands out one number only.
            except StopIteration:
                break
            claimed += 1
        self._step += claimed
        return claimed, iterator.real() if iterator is not None else None

    def ran_out(self, unused: int) -> None:
        """Tells that the last `unused` claimed steps found no data; the caller then raises StopIteration."""
        self._epochs._steps_seen -= unused - 1

    def catch_stop_iteration(self) -> contextlib.AbstractContextManager[None]:
        """Around an epoch: turns StopIteration to Keras' warning and end of the epoch."""
        context: contextlib.AbstractContextManager[None] = self._epochs.catch_stop_iteration()
        return context
