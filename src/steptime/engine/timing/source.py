"""Where the timed ways of executing a job get their batches: the job's own data, or one batch of it."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.feeds.stream import StreamFeed


class SharedGenerator:
    """Lets several readers draw from one generator, which itself can be read by one thread at a time only.

    Args:
        generator: A person's generator of batches.
    """

    def __init__(self, generator: Iterator[Any]) -> None:
        self._generator = generator
        self._lock = threading.Lock()
        self._first: Any = None

    def reader(self) -> Iterator[Any]:
        """A generator of its own over the same batches; each batch goes to one reader."""
        while True:
            with self._lock:
                try:
                    item = next(self._generator)
                except StopIteration:
                    return
                if self._first is None:
                    self._first = item
            yield item

    @property
    def first(self) -> Any:
        """The first batch that any reader drew; None before that."""
        return self._first


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The data of a job as its `fit` gets them.

    Attributes:
        x: Inputs, or the stream; for a generator a `SharedGenerator`.
        y: Targets of arrays.
        sample_weight: Weights of arrays.
        batch_size: Samples in a step of arrays.
        shuffle: Whether arrays are shuffled.
    """

    x: Any
    y: Any = None
    sample_weight: Any = None
    batch_size: int | None = None
    shuffle: bool | str = True

    @property
    def is_arrays(self) -> bool:
        """Whether the data are arrays in memory."""
        return not isinstance(self.x, SharedGenerator) and private_keras.are_arrays(
            (self.x, self.y, self.sample_weight)
        )

    def fit_arguments(self) -> dict[str, Any]:
        """The arguments of `fit` that concern the data."""
        # Keras warns where it is asked to shuffle what comes in an order of its own.
        if isinstance(self.x, SharedGenerator):
            return {"x": self.x.reader(), "shuffle": False}
        if isinstance(self.x, tf.data.Dataset):
            return {"x": self.x, "shuffle": False}
        if not self.is_arrays:
            return {"x": self.x}
        return self._arrays() | {"shuffle": self.shuffle, "batch_size": self.batch_size}

    def arrays(self) -> private_keras.Arrays:
        """The arrays as tensors on the host: as large as the data once more."""
        return private_keras.as_arrays(
            **self._arrays(), batch_size=self.batch_size, steps=None, shuffle=self.shuffle, class_weight=None
        )

    def stream(self, model: keras.Model) -> StreamFeed:
        """A feed of its own over what Keras makes a tf.data pipeline of."""
        arguments = {
            "y": None,
            "sample_weight": None,
            "batch_size": None,
            "shuffle": True,
        } | self.fit_arguments()
        return StreamFeed(model, **arguments, class_weight=None, steps_per_epoch=None)

    def _arrays(self) -> dict[str, Any]:
        return {"x": self.x, "y": self.y, "sample_weight": self.sample_weight}


def repeated(batch: Any, spec: Any) -> tf.data.Dataset:
    """An endless data set of one batch in memory whose elements have the specification of the job's own.

    A step that was traced for batches of any size then serves, as it does in the job.

    Args:
        batch: Nested structure of tensors, as a step takes them.
        spec: Nested specification of the job's batches.
    """

    def relaxed(*tensors: Any) -> Any:
        flat = [
            tf.compat.v1.placeholder_with_default(tensor, shape=item.shape)
            for tensor, item in zip(tensors, present(spec), strict=True)
        ]
        return packed(spec, flat)

    dataset = tf.data.Dataset.from_tensors(tuple(present(batch))).map(relaxed).cache().repeat()
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


def present(structure: Any) -> list[Any]:
    """The leaves of a nested structure that are not None."""
    return [leaf for leaf in tf.nest.flatten(structure) if leaf is not None]


def packed(structure: Any, leaves: list[Any]) -> Any:
    """`leaves` in the nested structure that `present` took them from."""
    remaining = iter(leaves)
    return tf.nest.map_structure(lambda leaf: None if leaf is None else next(remaining), structure)


def doubled(batch: Any) -> Any:
    """A batch of twice the size: the samples, and the same once more."""
    return tf.nest.map_structure(lambda t: None if t is None else tf.concat([t, t], axis=0), batch)
