"""Evaluation as a compiled loop: `steptime.evaluate`, and validation inside `fit`."""

import inspect
import time
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import memory, private_keras
from steptime.engine.distribution.engine import group_loop, group_step, prepare
from steptime.engine.distribution.group import agreed, group_of
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.loops.graph import ResidentGraph, StreamGraph
from steptime.engine.loops.keras import KerasLoop
from steptime.engine.loops.loop import Loop
from steptime.engine.step import step_function

# Control goes back to Python about this often.
_CHUNK_S = 0.25
# An inference batch this many times the training batch keeps fewer activations than a training step does.
_BATCH_FACTOR = 4
_LARGEST_BATCH = 1024


class Evaluation:
    """Evaluates the same data any number of times.

    Args:
        model: A compiled model that `support` accepted.
        x: Inputs.
        y: Targets.
        sample_weight: Weights of samples.
        batch_size: Samples in a step.
        steps: Steps, when not all data are meant.
        free_batch_size: Whether another batch size may be used where the results are equal.
    """

    def __init__(
        self,
        model: keras.Model,
        x: Any,
        y: Any,
        sample_weight: Any,
        *,
        batch_size: int | None,
        steps: int | None,
        free_batch_size: bool,
    ) -> None:
        self._model = model
        self._group = group_of(model)
        self._device = memory.device_name()
        steps = private_keras.limit_steps(steps)
        arguments = {
            "x": x,
            "y": y,
            "sample_weight": sample_weight,
            "batch_size": batch_size,
            "shuffle": False,
        }
        self._feed: ArrayFeed | StreamFeed
        if private_keras.are_arrays((x, y, sample_weight)):
            arrays = private_keras.as_arrays(**arguments, steps=steps)
            if free_batch_size and steps is None and private_keras.is_independent_of_batches(model):
                arrays = private_keras.with_batch_size(
                    arrays, fitting_batch(arrays.samples, arrays.batch_size)
                )
            self._feed = ArrayFeed(arrays, steps_per_epoch=steps)
        else:
            on_host = self._device.startswith("/CPU") or self._group is not None
            prefetch_to = None if on_host else self._device
            self._feed = StreamFeed(model, device=prefetch_to, **arguments, steps_per_epoch=steps)
        self._own_data = inspect.isgenerator(x)
        if self._group is not None:
            prepare(model, self._group, self._feed)
        self._loop: Loop | None = None
        self._step_s: float | None = None

    @property
    def num_batches(self) -> int | None:
        """Steps in one evaluation; None while unknown."""
        return self._feed.num_batches

    def run(self, callbacks: keras.callbacks.CallbackList, *, every_batch: bool) -> dict[str, Any]:
        """One evaluation, in the order of calls of `keras.Model.evaluate`.

        Args:
            callbacks: Called around the evaluation and around each piece of it.
            every_batch: Whether a piece must be one batch.

        Returns:
            The metrics by name, as Python numbers.
        """
        model = self._model
        self._feed.restart()
        model.stop_evaluating = False
        callbacks.on_test_begin()
        model.reset_metrics()
        self._feed.begin_epoch()
        self._logs: Any = {}
        with self._feed.catch_stop_iteration():
            self._steps(callbacks, every_batch)
        logs: dict[str, Any] = private_keras.python_logs(
            self._logs if self._group is not None else private_keras.epoch_logs(model, self._logs)
        )
        callbacks.on_test_end(logs)
        return logs

    def _make_loop(self) -> Loop:
        if self._group is not None:
            together = group_step(self._model, self._group, "test_step")
            return group_loop(together, self._feed, own_data=self._own_data)
        function = step_function(self._model, "test_step")
        step = function.traced(self._feed.element_spec)
        jit_step = bool(self._model.jit_compile)
        if step.why_not_looped() is not None:
            return KerasLoop(function, self._feed)
        specs = tf.nest.flatten(self._feed.element_spec)
        has_strings = any(getattr(s, "dtype", None) == tf.string for s in specs)
        if not isinstance(self._feed, ArrayFeed) or has_strings:
            return StreamGraph(step, self._feed, jit_step=jit_step, stop_on_infinite_loss=False)
        if memory.why_not_resident(self._feed.bytes, self._device) is not None:
            return StreamGraph(step, self._feed, jit_step=jit_step, stop_on_infinite_loss=False)
        with tf.device(self._device):
            data = tf.nest.map_structure(lambda t: None if t is None else tf.identity(t), self._feed.host)
        return ResidentGraph(step, self._feed, data, jit_step=jit_step, stop_on_infinite_loss=False)

    def _steps(self, callbacks: keras.callbacks.CallbackList, every_batch: bool) -> None:
        while True:
            wanted = 1 if every_batch else self._chunk()
            wanted, _ = agreed(self._group, self._model, wanted, stop=False)
            available = self._feed.available()
            claim = self._feed.claim(wanted if available is None else min(wanted, available))
            if claim is None:
                return
            callbacks.on_test_batch_begin(claim.first)
            start_ns = time.perf_counter_ns()
            if self._loop is None:
                # As late as in Keras: a callback's summary writer reaches only what is traced after its hooks.
                self._loop = self._make_loop()
            outcome = self._loop.run(claim)
            logs = private_keras.python_logs(outcome.logs)
            if outcome.steps:
                is_first = self._step_s is None and claim.first == 0
                seconds = (time.perf_counter_ns() - start_ns) / 1e9 / outcome.steps
                self._step_s = None if is_first else seconds
                self._logs = logs
                callbacks.on_test_batch_end(claim.first + outcome.steps - 1, logs)
            if self._model.stop_evaluating:
                return
            if outcome.steps < claim.steps:
                self._feed.ran_out(claim.steps - outcome.steps)
                raise StopIteration

    def _chunk(self) -> int:
        """Steps in one piece: few until the time of a step is known."""
        return 8 if self._step_s is None else max(1, int(_CHUNK_S / max(self._step_s, 1e-9)))


def fitting_batch(samples: int, batch_size: int) -> int:
    """A batch size for inference between `batch_size` and four times that.

    The largest that divides the samples: no shorter last batch, so all shapes are known.
    """
    if batch_size >= _LARGEST_BATCH or samples <= batch_size:
        return batch_size
    largest = min(_BATCH_FACTOR * batch_size, _LARGEST_BATCH, samples)
    return next((size for size in range(largest, batch_size, -1) if samples % size == 0), largest)
