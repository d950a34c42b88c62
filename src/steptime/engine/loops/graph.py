"""Many steps in one TensorFlow function: Python is entered once a chunk instead of once a step."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.feed import Claim
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.loops.loop import Outcome
from steptime.engine.step import TracedStep

Step = Callable[[Any], Any]


class ResidentGraph:
    """A loop over data that lie on the device, gathered by position.

    Args:
        step: The traced step.
        feed: Gives the order of the samples.
        data: The feed's tensors, on the device.
        jit_step: Whether each step is one XLA program, as `jit_compile` of the model says.
        stop_on_infinite_loss: Whether a callback stops the training at such a loss.
    """

    def __init__(
        self, step: TracedStep, feed: ArrayFeed, data: Any, *, jit_step: bool, stop_on_infinite_loss: bool
    ) -> None:
        self.name = "graph+kernels" if step.substituted else "graph"
        self._feed = feed
        self._data = data
        key = ("resident", feed.samples, feed.batch_size, jit_step, stop_on_infinite_loss)
        if key not in step.compiled:
            call = jitted(step) if jit_step else step
            step.compiled[key] = resident_loop(step, call, feed, data, stop_on_infinite_loss)
        self._run = step.compiled[key]

    def run(self, claim: Claim) -> Outcome:
        """Executes the claimed steps."""
        return run_resident(self._run, claim, self._feed.order, self._data)


class StreamGraph:
    """A loop over a tf.data iterator.

    Args:
        step: The traced step.
        feed: Gives the iterator.
        jit_step: Whether each step is one XLA program.
        stop_on_infinite_loss: Whether a callback stops the training at such a loss.
    """

    def __init__(
        self, step: TracedStep, feed: StreamFeed | ArrayFeed, *, jit_step: bool, stop_on_infinite_loss: bool
    ) -> None:
        self.name = "graph+kernels" if step.substituted else "graph"
        self._feed = feed
        key = ("stream", jit_step, stop_on_infinite_loss)
        if key not in step.compiled:
            call = jitted(step) if jit_step else step
            step.compiled[key] = tf.function(_stream_loop(step, call, stop_on_infinite_loss), autograph=False)
        self._run = step.compiled[key]

    def run(self, claim: Claim) -> Outcome:
        """Executes the claimed steps, or as many as there are data for."""
        iterator = self._feed.iterator(claim.position)
        done, logs = self._run(iterator, tf.constant(claim.steps, tf.int32))
        steps = int(done)
        self._feed.read(steps)
        return Outcome(steps=steps, logs=logs if steps else None)


def jitted(step: TracedStep) -> Step:
    """The step as one XLA program."""
    if "jitted" not in step.compiled:
        step.compiled["jitted"] = tf.function(step.concrete, autograph=False, jit_compile=True)
    call: Step = step.compiled["jitted"]
    return call


def run_resident(run: Any, claim: Claim, order: tf.Tensor, data: Any) -> Outcome:
    """Calls a function made of `resident_loop` for the claimed steps."""
    # int32 on the host: TensorFlow keeps int32 scalars of a GPU function in host memory, where its loops count.
    with tf.device("/CPU:0"):
        first = tf.constant(claim.position, tf.int32)
        last = tf.constant(claim.position + claim.steps, tf.int32)
    ended, logs = run(first, last, order, _flat(data))
    return Outcome(steps=int(ended) - claim.position, logs=logs)


def resident_loop(
    step: TracedStep,
    call: Step,
    feed: ArrayFeed,
    data: Any,
    stop_on_infinite_loss: bool,
    *,
    xla: bool = False,
) -> Callable[..., Any]:
    """A function of (first, last, order, data) that executes the steps first..last-1.

    The bounds are tensors, so one trace serves chunks of every length.

    Args:
        step: The traced step; with static shapes it takes whole batches only.
        call: What executes one step.
        feed: Gives sizes.
        data: Tensors like those the loop will be called with.
        stop_on_infinite_loss: Whether to stop after a step with such a loss.
        xla: Whether the loop is one XLA program.
    """
    size, samples, structure = feed.batch_size, feed.samples, step.spec
    has_partial_batch = step.batch_size is None and not xla

    def run(first: tf.Tensor, last: tf.Tensor, order: tf.Tensor, data: list[tf.Tensor]) -> Any:
        def body(position: tf.Tensor, _: Any) -> tuple[tf.Tensor, Any]:
            begin = position * size
            count = tf.minimum(size, samples - begin) if has_partial_batch else size
            indices = tf.slice(order, [begin], [count])
            gathered = iter([tf.gather(tensor, indices) for tensor in data])
            batch = tf.nest.map_structure(lambda s: None if s is None else next(gathered), structure)
            return position + 1, call(batch)

        def condition(position: tf.Tensor, logs: Any) -> tf.Tensor:
            return go_on(position < last, logs, stop_on_infinite_loss)

        start = (first, step.empty_logs())
        return tf.while_loop(condition, body, start, parallel_iterations=1)

    bound = tf.TensorSpec([], tf.int32)
    tensors = [tf.TensorSpec(t.shape, t.dtype) for t in _flat(data)]
    order = tf.TensorSpec([samples], tf.int64)
    function = tf.function(run, autograph=False, jit_compile=xla or None)
    concrete: Callable[..., Any] = function.get_concrete_function(bound, bound, order, tensors)
    return concrete


def _flat(data: Any) -> list[tf.Tensor]:
    return [tensor for tensor in tf.nest.flatten(data) if tensor is not None]


def _stream_loop(step: TracedStep, call: Step, stop_on_infinite_loss: bool) -> Callable[..., Any]:
    def run(iterator: Any, steps: tf.Tensor) -> Any:
        def body(done: tf.Tensor, _: tf.Tensor, logs: Any) -> tuple[tf.Tensor, tf.Tensor, Any]:
            optional = iterator.get_next_as_optional()
            exists = optional.has_value()
            logs = tf.cond(exists, lambda: call(optional.get_value()), lambda: logs)
            return done + tf.cast(exists, tf.int32), exists, logs

        def condition(done: tf.Tensor, exists: tf.Tensor, logs: Any) -> tf.Tensor:
            return go_on(exists & (done < steps), logs, stop_on_infinite_loss)

        start = (tf.constant(0, tf.int32), tf.constant(True), step.empty_logs())
        done, _, logs = tf.while_loop(condition, body, start, parallel_iterations=1)
        return done, logs

    return run


def go_on(more: tf.Tensor, logs: Any, stop_on_infinite_loss: bool) -> tf.Tensor:
    """Whether the next step follows: there is one, and no callback would have stopped before it."""
    if stop_on_infinite_loss and isinstance(logs, dict) and "loss" in logs:
        return more & tf.math.is_finite(logs["loss"])
    return more
