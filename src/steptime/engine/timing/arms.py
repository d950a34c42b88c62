"""Ways of executing a job's steps that leave something out, to be timed in turns with the job itself."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.feed import Claim
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.loops.graph import ResidentGraph, StreamGraph, jitted
from steptime.engine.loops.loop import Loop
from steptime.engine.loops.xla import XlaLoop
from steptime.engine.step import TracedStep
from steptime.engine.timing.source import packed, present


class Arm(Protocol):
    """One way of executing steps."""

    def run(self, steps: int) -> int:
        """Executes up to `steps` steps, waits for their end on the device, and returns how many they were."""


def timed(arm: Arm, steps: int) -> tuple[float, int]:
    """Seconds that `steps` steps of an arm took, and how many it executed."""
    start_ns = time.perf_counter_ns()
    done = arm.run(steps)
    return (time.perf_counter_ns() - start_ns) / 1e9, done


class StepAlone:
    """The step in a compiled loop on one batch that lies on the device: no input, no Python.

    Args:
        step: The traced step.
        batch: One batch of its specification, on the device.
        jit_step: Whether each step is one XLA program.
        xla: Whether the whole loop is one.
    """

    def __init__(self, step: TracedStep, batch: Any, *, jit_step: bool, xla: bool) -> None:
        call = jitted(step) if jit_step and not xla else step
        self._batch = [tf.identity(tensor) for tensor in present(batch)]

        def run(steps: tf.Tensor, tensors: list[tf.Tensor]) -> Any:
            def body(done: tf.Tensor, _: Any) -> tuple[tf.Tensor, Any]:
                return done + 1, call(packed(step.spec, tensors))

            start = (tf.constant(0, tf.int32), step.empty_logs())
            return tf.while_loop(lambda done, _: done < steps, body, start, parallel_iterations=1)

        self._run = tf.function(run, autograph=False, jit_compile=xla or None)

    def run(self, steps: int) -> int:
        """Executes `steps` steps."""
        with tf.device("/CPU:0"):
            count = tf.constant(steps, tf.int32)
        _, logs = self._run(count, self._batch)
        private_keras.python_logs(logs)
        return steps


class FunctionLoop:
    """Keras' own train function, called once a step on an iterator, as stock `fit` does it.

    Args:
        function: Takes an iterator, runs Keras' steps of one execution, and returns logs.
        iterator: Makes a tf.data iterator; called again when one has ended.
        per_call: Steps of one execution.
        read_logs: Whether logs are turned to Python numbers after every call, as stock `fit` does.
    """

    def __init__(
        self, function: Callable[[Any], Any], iterator: Callable[[], Any], *, per_call: int, read_logs: bool
    ) -> None:
        self._function = function
        self._make = iterator
        self._iterator: Any = None
        self._per_call = per_call
        self._read_logs = read_logs

    def run(self, steps: int) -> int:
        """Executes at least one call."""
        logs: Any = None
        calls = max(1, steps // self._per_call)
        for _ in range(calls):
            logs = self._call()
            if self._read_logs:
                private_keras.python_logs(logs)
        private_keras.python_logs(logs)
        return calls * self._per_call

    def _call(self) -> Any:
        if self._iterator is None:
            self._iterator = self._make()
        try:
            return self._function(self._iterator)
        except (StopIteration, tf.errors.OutOfRangeError):
            self._iterator = self._make()
            return self._function(self._iterator)


class LoopOverFeed:
    """One of the engine's compiled loops over a feed.

    Args:
        loop: The loop.
        feed: What it reads.
    """

    def __init__(self, loop: Loop, feed: ArrayFeed | StreamFeed) -> None:
        self._loop = loop
        self._feed = feed
        feed.begin_epoch()

    def run(self, steps: int) -> int:
        """Executes up to `steps` steps; a pass that ends in between is begun again."""
        claim = _claimed(self._feed, self._bounded(steps))
        if claim is None:
            return 0
        outcome = self._loop.run(claim)
        if outcome.steps:
            private_keras.python_logs(outcome.logs)
        _settle(self._feed, claim, outcome.steps)
        return outcome.steps

    def _bounded(self, steps: int) -> int:
        """The XLA loop takes whole batches only."""
        if not isinstance(self._feed, ArrayFeed) or self._loop.name != "xla":
            return steps
        whole = self._feed.full_steps - self._feed.position
        if whole <= 0:
            self._feed.restart()
            whole = self._feed.full_steps
        return min(steps, whole)


class SamePositions:
    """A compiled loop over resident data in which every step gathers the same samples, so that none is far.

    Args:
        loop: Makes the loop for a feed.
        feed: Over the job's arrays.
    """

    def __init__(self, loop: Callable[[ArrayFeed], Loop], feed: ArrayFeed) -> None:
        # The samples of the first batch, over and over, in an order of the same length: the same trace serves.
        feed.order = tf.range(feed.samples, dtype=tf.int64) % feed.batch_size
        self._loop = loop(feed)
        self._steps = max(feed.full_steps, 1)

    def run(self, steps: int) -> int:
        """Executes up to one pass."""
        outcome = self._loop.run(Claim(first=0, position=0, steps=min(steps, self._steps)))
        private_keras.python_logs(outcome.logs)
        return outcome.steps


class PipelineAlone:
    """The input pipeline without any training.

    Args:
        feed: Over the job's stream.
    """

    def __init__(self, feed: StreamFeed) -> None:
        self._feed = feed
        feed.begin_epoch()
        self._drain = tf.function(_drained, autograph=False)

    def run(self, steps: int) -> int:
        """Reads up to `steps` batches."""
        claim = _claimed(self._feed, steps)
        if claim is None:
            return 0
        done = int(self._drain(self._feed.iterator(claim.position), tf.constant(claim.steps, tf.int32)))
        self._feed.read(done)
        _settle(self._feed, claim, done)
        return done


class GatherAlone:
    """Batches gathered from resident data in the order of the job, without any training.

    Args:
        feed: Over the job's arrays.
        data: Its tensors on the device.
    """

    def __init__(self, feed: ArrayFeed, data: Any) -> None:
        self._feed = feed
        self._data = present(data)
        self._size = feed.batch_size
        self._run = tf.function(self._gathered, autograph=False)
        self._steps = max(feed.full_steps, 1)

    def run(self, steps: int) -> int:
        """Gathers up to one pass of whole batches."""
        count = min(steps, self._steps)
        last = self._run(tf.constant(count, tf.int32), self._feed.order, self._data)
        for tensor in last:
            tensor[:1].numpy()
        return count

    def _gathered(self, steps: tf.Tensor, order: tf.Tensor, data: list[tf.Tensor]) -> Any:
        def batch(position: tf.Tensor) -> list[tf.Tensor]:
            indices = tf.slice(order, [position * self._size], [self._size])
            return [tf.gather(tensor, indices) for tensor in data]

        def body(position: tf.Tensor, *_: tf.Tensor) -> Any:
            # The batches are carried through the loop, or TensorFlow would not gather them.
            return position + 1, *batch(position)

        start = (tf.constant(0, tf.int32), *batch(tf.constant(0, tf.int32)))
        return tf.while_loop(lambda position, *_: position < steps, body, start, parallel_iterations=1)[1:]


def _claimed(feed: ArrayFeed | StreamFeed, steps: int) -> Claim | None:
    """Steps of the running pass, or of the next one where it has ended; None when there are no more data."""
    claim = feed.claim(steps)
    if claim is None:
        feed.begin_epoch()
        claim = feed.claim(steps)
    return claim


def _settle(feed: ArrayFeed | StreamFeed, claim: Claim, done: int) -> None:
    """Begin another pass where the data ended within a claim."""
    if done < claim.steps:
        feed.ran_out(claim.steps - done)
        feed.begin_epoch()


def _drained(iterator: Any, steps: tf.Tensor) -> tf.Tensor:
    def body(done: tf.Tensor, _: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        exists = iterator.get_next_as_optional().has_value()
        return done + tf.cast(exists, tf.int32), exists

    start = (tf.constant(0, tf.int32), tf.constant(True))
    done, _ = tf.while_loop(lambda done, exists: exists & (done < steps), body, start, parallel_iterations=1)
    return done


def engine_loop(
    name: str, step: TracedStep, feed: ArrayFeed | StreamFeed, data: Any, *, jit_step: bool
) -> Loop:
    """The engine's loop of that name.

    Args:
        name: "graph", "graph+kernels" or "xla".
        step: The traced step that belongs to it.
        feed: What it reads.
        data: The feed's tensors on the device; None for a stream.
        jit_step: Whether each step is one XLA program.
    """
    if name == "xla":
        assert isinstance(feed, ArrayFeed)
        return XlaLoop(step, feed, data, stop_on_infinite_loss=False)
    if isinstance(feed, ArrayFeed) and data is not None:
        return ResidentGraph(step, feed, data, jit_step=jit_step, stop_on_infinite_loss=False)
    return StreamGraph(step, feed, jit_step=jit_step, stop_on_infinite_loss=False)
