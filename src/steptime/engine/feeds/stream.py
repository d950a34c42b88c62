"""Data sets, generators and `PyDataset`: read once, in order, with Keras' own bookkeeping."""

import contextlib
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.distribution.group import group_of, has_others
from steptime.engine.feeds.anchor import FAILURES, Anchor, quietly, reason_of, restore
from steptime.engine.feeds.feed import Claim

_MOST_FRUITLESS = 3


class StreamFeed:
    """Steps over whatever Keras makes a tf.data pipeline of.

    Args:
        model: Whose epochs these are.
        device: Where batches are prefetched to, such as "/GPU:0"; None to leave them on the host.
        arguments: Those of Keras' epoch iterator.

    Attributes:
        read_again: How many batches were read only to reach a position.
        anchor_s: Seconds for which steps waited for states that were kept at the beginning of the data.
    """

    def __init__(self, model: keras.Model, *, device: str | None = None, **arguments: Any) -> None:
        group = group_of(model)
        is_shared = has_others(group)
        self._epochs = private_keras.KerasEpochs(
            # Also under a strategy every process reads whole batches; replicas take their shares of them.
            private_keras.NotDistributed if group is not None else model.distribute_strategy,
            lambda dataset, made_by_keras: _prepared(dataset, made_by_keras, device, is_shared),
            **arguments,
        )
        self.element_spec = self._epochs.element_spec
        self._iterator: Any = None
        self._step = 0
        self._put_back: Any = None
        # Steps of each epoch that is over: a position that cannot be saved is reached again by reading them.
        self._finished: list[int] = []
        self._has_begun = False
        self._anchor: Anchor | None = None
        self._tries = self._fruitless = 0
        self.read_again = 0
        self.anchor_s = 0.0

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

    @property
    def step(self) -> int:
        """Number of the next step in the epoch."""
        return self._step

    @property
    def why_not_saved(self) -> str | None:
        """Why the position in the data cannot be saved for sure; None when TensorFlow may know how."""
        return self._epochs.why_not_saved

    def begin_epoch(self) -> None:
        """Starts an epoch."""
        if self._has_begun:
            self._finished.append(self._step)
        self._has_begun = True
        self._epochs.begin()
        self._step = 0

    def state(self) -> dict[str, Any]:
        """Where the data are, in JSON types, and where they were when the state was that `save_iterator` wrote."""
        return {"kind": "stream", **self._place(), "anchor": self._anchor and self._anchor.where}

    def _place(self) -> dict[str, Any]:
        return {
            "finished": list(self._finished),
            "has_begun": self._has_begun,
            "step": self._step,
            **self._epochs.state(self._iterator),
        }

    def keep_anchors(self, folder: Path) -> None:
        """Prepares for `save_iterator`.

        Args:
            folder: For the last state from which everything comes again; removed by `close`.
        """
        if self.why_not_saved is None:
            self._anchor = Anchor(folder, self._epochs.generators)

    def close(self) -> None:
        """Removes what `keep_anchors` needed."""
        if self._anchor is not None:
            self._anchor.close()
            self._anchor = None

    def save_iterator(self, prefix: Path, *, inside_epoch: bool) -> bool:
        """Writes the last state of the iterator from which everything comes again.

        Args:
            prefix: How the names of its two files begin.
            inside_epoch: Whether an epoch is going on.

        Returns:
            Whether there is one; else the data are read from their beginning.

        Raises:
            ValueError: TensorFlow cannot save it; says why.
            OSError: The disk is full.
        """
        if self._anchor is None or self._iterator is None:
            return False
        try:
            self._anchor.move_to(self._iterator, {**self._place(), "inside": inside_epoch})
        except FAILURES as error:
            raise ValueError(reason_of(error)) from error
        if self._anchor.where is None:
            return False
        self._anchor.copy_to(prefix)
        return True

    def _try_anchor(self, anchor: Anchor, iterator: Any, counts: Mapping[str, Any]) -> None:
        # Before the first and the second claim: a shuffle whose input is another one has no state before it is read.
        if iterator is not self._iterator:
            # Data whose state is never whole so early are read again from further back.
            self._fruitless += self._fruitless < _MOST_FRUITLESS
            self._tries = 2 if self._fruitless < _MOST_FRUITLESS else 0
        if self._tries:
            self._tries -= 1
            start_s = time.perf_counter()
            with quietly:
                where = {**self._place(), **counts, "inside": True}
                if anchor.move_to(iterator, where):
                    self._tries = self._fruitless = 0
            self.anchor_s += time.perf_counter() - start_s

    def go_on(self, state: Mapping[str, Any], iterator: Path | None, *, inside_epoch: bool) -> bool:
        """Puts the data where `state` says: by the iterator's own state, and by reading again what came after it.

        Args:
            state: From `state`.
            iterator: Prefix of what `save_iterator` wrote; None when there is nothing.
            inside_epoch: Whether an epoch is going on there, which then needs no `begin_epoch`.

        Returns:
            True.

        Raises:
            ValueError: The iterator's state is that of other data.
        """
        is_begun, where = False, state.get("anchor")
        if iterator is not None and where is not None:
            is_begun = bool(where["inside"])
            self._put(where, iterator)
        self._read_on(state, is_begun, inside_epoch)
        self._finished = [int(steps) for steps in state["finished"]]
        self._has_begun = bool(state["has_begun"])
        self._step = int(state["step"])
        self._epochs.set_counts(state)
        return True

    def _put(self, where: Mapping[str, Any], prefix: Path) -> None:
        self._finished = [int(steps) for steps in where["finished"]]
        self._epochs.set_num_batches(where["num_batches"])
        is_kept = bool(where["is_kept"])
        self._iterator = self._epochs.make(kept=None if where["inside"] else is_kept)
        restore(self._iterator, prefix)
        self._has_begun = False
        if where["inside"]:
            self.begin_epoch()
            if where["step"]:
                self.claim(int(where["step"]))
        self._has_begun = bool(where["has_begun"])
        self._step = int(where["step"])
        self._epochs.set_counts(where)

    def _read_on(self, state: Mapping[str, Any], is_begun: bool, inside_epoch: bool) -> None:
        """Reads until the place of `state`; `is_begun`: an epoch is going on already."""
        over = [int(steps) for steps in state["finished"]]
        if state["has_begun"] and not inside_epoch:
            over.append(int(state["step"]))
        first = len(self._finished) + (self._has_begun and not is_begun)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Keras said it when it happened.
            for steps in over[first:]:
                if not is_begun:
                    self.begin_epoch()
                with self.catch_stop_iteration():
                    self._drop(steps + 1 - self._step)
                is_begun = False
        if inside_epoch:
            if not is_begun:
                self.begin_epoch()
            self._drop(int(state["step"]) - self._step)

    def _drop(self, steps: int) -> None:
        """Reads batches, until the end of the epoch at most."""
        for _ in range(steps):
            if self.claim(1) is None:
                return
            try:
                next(self._iterator)
            except StopIteration:
                self.ran_out(1)
                raise
            self.read_again += 1

    def available(self) -> int | None:
        """Steps left in the epoch; None when the data decide."""
        return self._epochs.available()

    def claim(self, steps: int) -> Claim | None:
        """Takes up to `steps` steps; None when the epoch is over."""
        unclaimed = None if self._anchor is None else self._epochs.state(None)
        claimed, iterator = self._epochs.claim(steps)
        if not claimed:
            return None
        if self._anchor is not None and unclaimed is not None and self._anchor.must_be_early:
            self._try_anchor(self._anchor, iterator, unclaimed)
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


def _prepared(dataset: Any, made_by_keras: bool, device: str | None, is_shared: bool) -> Any:
    """Returns the data set with what the engine asks of it; `is_shared`: all processes must read the same."""
    if not isinstance(dataset, tf.data.Dataset):
        return dataset
    if is_shared:
        options = tf.data.Options()
        # Parallel reads in whatever order they end would give each process another one.
        options.deterministic = True
        dataset = dataset.with_options(options)
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
