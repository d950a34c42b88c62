"""Many steps of all replicas in one TensorFlow function."""

import contextlib
from typing import Any

import tensorflow as tf

from steptime.engine.distribution.sameness import arrays_text, warn_of_unlike
from steptime.engine.distribution.shares import may_be_idle
from steptime.engine.distribution.step import GroupStep
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.feed import Claim
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.loops.loop import Outcome
from steptime.engine.private_keras import distribution as private


class SharedArrays:
    """Every replica gathers its share of each batch from its own copy of the arrays.

    Args:
        step: The step of the group.
        feed: Gives the order of the samples.
        stop_on_infinite_loss: Whether a callback stops the training at such a loss.
    """

    name = "graph"

    def __init__(self, step: GroupStep, feed: ArrayFeed, *, stop_on_infinite_loss: bool) -> None:
        self._step = step
        self._feed = feed
        self._data = [by_replica(step, t) for t in tf.nest.flatten(feed.host) if t is not None]
        self._order: tuple[Any, Any] = (None, None)
        self.resident_bytes = feed.bytes
        key = ("arrays", repr(feed.element_spec), feed.samples, feed.batch_size, stop_on_infinite_loss)
        if key not in step.compiled:
            step.compiled[key] = tf.function(_over_arrays(step, feed, stop_on_infinite_loss), autograph=False)
        self._run = step.compiled[key]

    def run(self, claim: Claim) -> Outcome:
        """Executes the claimed steps."""
        with tf.device("/CPU:0"):
            first = tf.constant(claim.position, tf.int32)
            last = tf.constant(claim.position + claim.steps, tf.int32)
        ended, logs = self._run(first, last, self._order_by_replica(), self._data)
        return Outcome(steps=int(ended) - claim.position, logs=logs)

    def _order_by_replica(self) -> Any:
        drawn, spread = self._order
        if drawn is not self._feed.order:
            spread = by_replica(self._step, self._feed.order)
            self._order = (self._feed.order, spread)
        return spread


def _over_arrays(step: GroupStep, feed: ArrayFeed, stop: bool) -> Any:
    """A function of (first, last, order by replica, data by replica) that executes the steps first..last-1."""
    replicas = step.group.replicas
    size, samples, structure = feed.batch_size, feed.samples, feed.element_spec
    all_whole = samples % size == 0
    known = size // replicas if all_whole and size % replicas == 0 else None
    idle = size < replicas or may_be_idle(samples, size, replicas)

    def gather(order: tf.Tensor, data: list[tf.Tensor], position: tf.Tensor, begin: Any, count: Any) -> Any:
        rows = tf.slice(order, [position * size + begin], [count if known is None else known])
        gathered = iter([tf.gather(tensor, rows) for tensor in data])
        return tf.nest.map_structure(lambda s: None if s is None else next(gathered), structure)

    def run(first: tf.Tensor, last: tf.Tensor, order: Any, data: list[Any]) -> Any:
        def one(position: tf.Tensor) -> Any:
            count = size if all_whole else tf.minimum(size, samples - position * size)
            return step(gather, count, (order, data, position), idle=idle)

        position, state = tf.while_loop(
            lambda position, state: (position < last) & state[0],
            lambda position, _: (position + 1, followed(step, one(position), stop=stop)),
            (first, start_of(step, lambda: one(first))),
            parallel_iterations=1,
        )
        return position, concluded(step, state)

    return run


class SharedStream:
    """Batches are read in order, and each replica takes its share of them.

    Args:
        step: The step of the group.
        feed: Gives the iterator.
        stop_on_infinite_loss: Whether a callback stops the training at such a loss.
        own_data: Whether every process reads data of its own, so that a step takes one batch of each.
    """

    name = "graph"

    def __init__(
        self, step: GroupStep, feed: StreamFeed | ArrayFeed, *, stop_on_infinite_loss: bool, own_data: bool
    ) -> None:
        self._step = step
        self._feed = feed
        self._stop = stop_on_infinite_loss
        self._own_data = own_data and step.group.workers > 1
        self._is_compared = own_data or step.group.workers == 1 or isinstance(feed, ArrayFeed)
        self._run = tf.function(self._loop, autograph=False)

    def run(self, claim: Claim) -> Outcome:
        """Executes the claimed steps, or as many as there are data for."""
        done = 0
        if not self._is_compared:
            self._is_compared = True
            self._compare_first_batch(claim.position)
            # The batch that was compared comes from an iterator of its own, which holds no other.
            done, logs = self._execute(claim.position, 1)
            if done == claim.steps or not done:
                return Outcome(steps=done, logs=logs)
        more, more_logs = self._execute(claim.position + done, claim.steps - done)
        return Outcome(steps=done + more, logs=more_logs if more else logs if done else None)

    def _execute(self, position: int, steps: int) -> tuple[int, Any]:
        done, logs = self._run(self._feed.iterator(position), tf.constant(steps, tf.int32))
        self._feed.read(int(done))
        return int(done), logs if int(done) else None

    def _compare_first_batch(self, position: int) -> None:
        """Warns when processes read other data, which a shuffle without a seed does."""
        batch, text = None, "nothing"
        # Who reads nothing takes part all the same: the others wait in the comparison.
        with contextlib.suppress(StopIteration):
            batch = self._feed.batch(position)
            text = arrays_text(batch)
        warn_of_unlike(self._step.group, "first batches", text)
        if batch is not None:
            self._feed.put_back(batch)

    def _loop(self, iterator: Any, steps: tf.Tensor) -> Any:
        def body(done: tf.Tensor, _: tf.Tensor, state: Any) -> Any:
            optional = iterator.get_next_as_optional()
            exists = self._by_all(optional.has_value())
            state = tf.cond(
                exists,
                lambda: followed(self._step, self._one(optional.get_value()), stop=self._stop),
                lambda: state,
            )
            return done + tf.cast(exists, tf.int32), exists, state

        def unread() -> Any:
            return self._one(iterator.get_next())

        done, _, state = tf.while_loop(
            lambda done, exists, state: exists & (done < steps) & state[0],
            body,
            (tf.constant(0, tf.int32), tf.constant(True), start_of(self._step, unread)),
            parallel_iterations=1,
        )
        return done, concluded(self._step, state)

    def _one(self, batch: Any) -> Any:
        first = next(t for t in tf.nest.flatten(batch) if tf.is_tensor(t))
        count = tf.shape(first)[0]
        total = self._sum(count) if self._own_data else None

        def cut(batch: Any, begin: Any, size: Any) -> Any:
            with tf.device("/device:CPU:0"):
                return tf.nest.map_structure(
                    lambda t: t[begin : begin + size] if tf.is_tensor(t) else t, batch
                )

        return self._step(cut, count, (batch,), idle=True, total=total)

    def _sum(self, value: tf.Tensor) -> tf.Tensor:
        """The sum over processes of a number that each of them has."""
        local = len(self._step.group.devices)

        def add() -> tf.Tensor:
            context = tf.distribute.get_replica_context()
            return context.all_reduce(tf.distribute.ReduceOp.SUM, tf.cast(value, tf.float32))

        summed = self._step.group.strategy.run(add)
        return self._step.group.strategy.experimental_local_results(summed)[0] / local

    def _by_all(self, value: tf.Tensor) -> tf.Tensor:
        if self._step.group.workers == 1:
            return value
        return self._sum(value) > self._step.group.workers - 0.5


def by_replica(step: GroupStep, tensor: Any) -> Any:
    """A copy of a tensor on the device of each local replica."""
    strategy = step.group.strategy
    if step.group.replicas == 1:
        with tf.device(step.group.devices[0]):
            return tf.identity(tensor)
    local = iter(step.group.devices)

    def copy(context: Any) -> tf.Tensor:  # noqa: ARG001  # called once for each local replica, in order
        device = next(local)
        if tf.DeviceSpec.from_string(device).device_type == "CPU":
            return tensor  # One memory serves all.
        with tf.device(device):
            return tf.identity(tensor)

    return strategy.experimental_distribute_values_from_function(copy)


def start_of(step: GroupStep, trace: Any) -> tuple[Any, Any]:
    """What a loop carries before its first step: whether to go on, and logs of the step's own.

    Args:
        step: The step of the group.
        trace: Traces one step, for the shapes of such logs; it is never executed.
    """
    if not step.own_logs:
        return tf.constant(True), ()
    logs = tf.function(lambda: reduced(step, trace()), autograph=False).get_concrete_function()
    zeros = tf.nest.map_structure(lambda t: tf.zeros(t.shape, t.dtype), logs.structured_outputs)
    return tf.constant(True), zeros


def followed(step: GroupStep, returned: Any, *, stop: bool) -> tuple[Any, Any]:
    """What a loop carries after a step."""
    logs = reduced(step, returned) if step.own_logs else ()
    loss = logs.get("loss") if isinstance(logs, dict) else returned
    if not stop or loss is None:
        return tf.constant(True), logs
    if not step.own_logs:
        loss = step.group.strategy.reduce(tf.distribute.ReduceOp.SUM, returned, axis=None)
    return tf.math.is_finite(loss), logs


def reduced(step: GroupStep, logs: Any) -> Any:
    """The person's own logs, averaged over replicas."""
    return tf.nest.map_structure(
        lambda value: step.group.strategy.reduce(tf.distribute.ReduceOp.MEAN, value, axis=None),
        logs,
    )


def concluded(step: GroupStep, state: tuple[Any, Any]) -> Any:
    """Logs after the last step, on every replica alike: as in Keras those of the metrics where the names are theirs."""
    if step.name == "train_step":
        step.average_statistics()
    metrics = private.metric_results(step.model)
    return state[1] if step.own_logs and set(state[1]) != set(metrics) else metrics
