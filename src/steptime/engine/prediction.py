"""Prediction over arrays as a compiled loop."""

import time
from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from steptime.engine import memory, private_keras
from steptime.engine.feeds.arrays import ArrayFeed

_CHUNK_S = 0.25


class PredictFunction:
    """What stands in `model.predict_function`: Keras' own function plus our loop. `compile` drops both.

    Args:
        model: The model.
    """

    def __init__(self, model: keras.Model) -> None:
        self._model = model
        self.stock = private_keras.make_predict_function(model)
        self._step = tf.function(model.predict_step, autograph=False)
        self._loops: dict[Any, tuple[Any, Callable[..., Any]]] = {}

    def __call__(self, batches: Any) -> Any:
        """Keras' own prediction of a list of batches."""
        return self.stock(batches)

    def loop(self, feed: ArrayFeed) -> tuple[Any, Callable[..., Any]]:
        """The traced step for the feed's batches, and the loop over it."""
        key = (repr(feed.element_spec), feed.samples, feed.batch_size)
        if key not in self._loops:
            concrete = self._step.get_concrete_function(feed.element_spec)
            call = concrete
            if self._model.jit_compile:
                call = tf.function(concrete, autograph=False, jit_compile=True)
            loop = tf.function(_loop(concrete, call, feed), autograph=False)
            self._loops[key] = (concrete, loop)
        return self._loops[key]


class Prediction:
    """One prediction.

    Args:
        feed: The inputs.
        loop: A function of (first, last, data) that returns the outputs of the steps first..last-1, flat.
        structure: Structure of the outputs.
        model: The model.
        data: The inputs on the device, flat.
    """

    def __init__(
        self, feed: ArrayFeed, loop: Callable[..., Any], structure: Any, model: keras.Model, data: list[Any]
    ) -> None:
        self._feed = feed
        self._loop = loop
        self._structure = structure
        self._model = model
        self._data = data

    @property
    def num_batches(self) -> int:
        """Steps."""
        return self._feed.steps_in_pass

    @classmethod
    def of(cls, model: keras.Model, x: Any, batch_size: int | None) -> "Prediction | None":
        """A prediction of `x`; None when it cannot be a compiled loop."""
        if not private_keras.are_arrays((x, None, None)):
            return None
        feed = ArrayFeed(private_keras.as_arrays(x=x, batch_size=batch_size))
        device = memory.device_name()
        if feed.samples == 0 or memory.why_not_resident(feed.bytes, device) is not None:
            return None
        if any(s is not None and s.dtype == tf.string for s in tf.nest.flatten(feed.element_spec)):
            return None
        function = model.predict_function
        if not isinstance(function, PredictFunction):
            function = model.predict_function = PredictFunction(model)
        concrete, loop = function.loop(feed)
        outputs = tf.nest.flatten(concrete.structured_outputs)
        if not all(isinstance(o, tf.Tensor) and o.shape.rank for o in outputs):
            return None
        with tf.device(device):
            data = [tf.identity(t) for t in tf.nest.flatten(feed.host) if t is not None]
        return cls(feed, loop, concrete.structured_outputs, model, data)

    @staticmethod
    def _bounds(first: int, last: int) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.device("/CPU:0"):
            return tf.constant(first, tf.int32), tf.constant(last, tf.int32)

    def run(self, callbacks: keras.callbacks.CallbackList) -> Any:
        """Predicts everything.

        Returns:
            Arrays in the structure of the model's outputs; first axis: samples.
        """
        self._model.stop_predicting = False
        callbacks.on_predict_begin()
        pieces: list[list[np.ndarray[Any, Any]]] = []
        position, steps = 0, 1
        while position < self.num_batches and not self._model.stop_predicting:
            steps = min(steps, self.num_batches - position)
            callbacks.on_predict_batch_begin(position)
            start_ns = time.perf_counter_ns()
            first, last = self._bounds(position, position + steps)
            pieces.append([output.numpy() for output in self._loop(first, last, self._data)])
            step_s = (time.perf_counter_ns() - start_ns) / 1e9 / steps
            position += steps
            outputs = tf.nest.pack_sequence_as(self._structure, pieces[-1])
            callbacks.on_predict_batch_end(position - 1, {"outputs": outputs})
            steps = 8 if position == 1 else max(1, min(8 * steps, int(_CHUNK_S / max(step_s, 1e-9))))
        callbacks.on_predict_end()
        whole = [np.concatenate(parts) if len(parts) > 1 else parts[0] for parts in zip(*pieces, strict=True)]
        return tf.nest.pack_sequence_as(self._structure, whole)


def _loop(concrete: Any, call: Callable[[Any], Any], feed: ArrayFeed) -> Callable[..., Any]:
    size, samples, structure = feed.batch_size, feed.samples, feed.element_spec
    outputs = tf.nest.flatten(concrete.structured_outputs)

    def run(first: tf.Tensor, last: tf.Tensor, data: list[tf.Tensor]) -> list[tf.Tensor]:
        arrays = [
            tf.TensorArray(o.dtype, size=last - first, infer_shape=False, element_shape=o.shape)
            for o in outputs
        ]

        def body(
            position: tf.Tensor, written: list[tf.TensorArray]
        ) -> tuple[tf.Tensor, list[tf.TensorArray]]:
            begin = position * size
            end = begin + size if feed.full_steps == feed.steps_in_pass else tf.minimum(begin + size, samples)
            sliced = iter([tensor[begin:end] for tensor in data])
            batch = tf.nest.map_structure(
                lambda s: None if s is None else tf.ensure_shape(next(sliced), s.shape), structure
            )
            flat = tf.nest.flatten(call(batch))
            index = position - first
            return position + 1, [a.write(index, o) for a, o in zip(written, flat, strict=True)]

        _, arrays = tf.while_loop(
            lambda position, _: position < last, body, [first, arrays], parallel_iterations=1
        )
        return [array.concat() for array in arrays]

    return run
