"""One step over a global batch: each replica its share, counted so that the sum is the step of one device."""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import keras
import tensorflow as tf

from steptime.engine.distribution.group import Group
from steptime.engine.distribution.shares import share_of
from steptime.engine.private_keras import distribution as private

# Takes what the caller hands along, then the first sample and the number of samples within the global batch, and
# returns those samples, on the replica's device.
Part = Callable[..., Any]


@dataclass(eq=False)
class GroupStep:
    """The model's step as a function of what each replica reads; call it while a function is traced.

    Attributes:
        model: The model.
        group: Who trains.
        name: "train_step" or "test_step".
        own_logs: Whether the step is the person's own, so that its logs may be other than the metrics.
        compiled: Functions made of it.
    """

    model: keras.Model
    group: Group
    name: str
    own_logs: bool = False
    compiled: dict[Any, Any] = field(default_factory=dict)
    _assigned: dict[int, Any] = field(default_factory=dict)
    _local: threading.local = field(default_factory=threading.local)

    def __call__(
        self, part: Part, count: Any, args: tuple[Any, ...] = (), *, idle: bool, total: Any = None
    ) -> Any:
        """Runs one step in every replica and returns what the person's step returns, by replica.

        Args:
            part: Reads a share; called in each replica with `args`, its first sample and its size.
            count: Samples in the batch that the replicas share.
            args: Values by replica that `part` needs.
            idle: Whether `count` can be smaller than the number of replicas that share the batch. Such a batch is
                computed whole by each of them and counted once: a replica without samples would have no
                gradients and no statistics.
            total: Samples that all processes compute in this step; None when they share one batch.
        """
        with self._traced():
            return self.group.strategy.run(self._replica, args=(part, count, args, idle, total))

    def _replica(self, part: Part, count: Any, args: tuple[Any, ...], idle: bool, total: Any) -> Any:
        replicas = self.group.replicas if total is None else len(self.group.devices)
        replica = tf.distribute.get_replica_context().replica_id_in_sync_group
        if total is not None:
            replica = replica % replicas
        begin, size = share_of(count, replica, replicas)
        share = _ratio(size, count if total is None else total)
        if not idle:
            self._local.share, self._local.once = share, 1.0
            return self._step(part(*args, begin, size))
        # A tensor, also where the size of the batch is known when tracing.
        is_short = tf.less(count, replicas)
        begin, size = tf.where(is_short, 0, begin), tf.where(is_short, count, size)
        whole = _ratio(count, replicas * (count if total is None else total))
        self._local.share = tf.where(is_short, whole, share)
        self._local.once = tf.where(is_short, 1.0 / replicas, 1.0)
        with self._counted(tf.logical_not(is_short) | (replica == 0)):
            return self._step(part(*args, begin, size))

    def _step(self, batch: Any) -> Any:
        logs = private.local_step_builder(self.model, self.name)(batch)
        return logs if self.own_logs else _loss_of(logs)

    @contextlib.contextmanager
    def _counted(self, is_counted: Any) -> Any:
        """Metrics keep what was added inside only where `is_counted`."""
        metrics = private.metric_variables(self.model)
        before = [variable.read_value() for variable in metrics]
        yield
        for variable, value in zip(metrics, before, strict=True):
            variable.assign(tf.where(is_counted, variable.read_value(), value))

    @contextlib.contextmanager
    def _traced(self) -> Any:
        with contextlib.ExitStack() as stack:
            stack.enter_context(private.loss_shares(lambda: self._local.share, lambda: self._local.once))
            stack.enter_context(private.noted_assignments(self._assigned))
            if self.name == "train_step":
                stack.enter_context(private.reduced_gradients(self.model))
            yield

    def average_statistics(self) -> None:
        """Gives all replicas the mean of what each kept by itself, such as batch normalisation's moving averages.

        They are linear in each step's statistics, so averaging them now and then is averaging them always.
        """
        metrics = {id(variable) for variable in self.model.metrics_variables}
        kept = [
            variable.value
            for key, variable in self._assigned.items()
            if key not in metrics
            and variable.dtype.startswith(("float", "bfloat"))
            and any(variable is own for own in self.model.non_trainable_variables)
        ]
        if not kept or self.group.replicas == 1:
            return

        def average() -> None:
            context = tf.distribute.get_replica_context()
            means = context.all_reduce(tf.distribute.ReduceOp.MEAN, [v.read_value() for v in kept])
            for variable, mean in zip(kept, means, strict=True):
                variable.assign(mean)

        self.group.strategy.run(average)


def _ratio(size: Any, count: Any) -> Any:
    return tf.cast(size, tf.float32) / tf.cast(count, tf.float32)


def _loss_of(logs: Any) -> Any:
    """The replica's own loss so far, which is not finite once any of its losses was not; zero if there is none."""
    loss = logs.get("loss") if isinstance(logs, dict) else None
    return tf.zeros(()) if loss is None else tf.cast(tf.convert_to_tensor(loss), tf.float32)
