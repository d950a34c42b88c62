"""The replicas that train together: who they are, and how they agree."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from steptime.engine import private_keras

_TEXT_BYTES = 255


@dataclass(eq=False)
class Group:
    """A strategy under which the engine trains.

    Attributes:
        strategy: OneDeviceStrategy, MirroredStrategy or MultiWorkerMirroredStrategy.
        name: Name of its class.
        replicas: Copies of the model that train in step, over all workers.
        workers: Processes.
        rank: Number of this process, from 0; 0 is the chief.
    """

    strategy: Any
    name: str
    replicas: int
    workers: int
    rank: int

    @property
    def is_chief(self) -> bool:
        """Whether this process writes."""
        return self.rank == 0

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of this process, such as "/job:localhost/replica:0/task:0/device:GPU:0"."""
        return tuple(self.strategy.extended.worker_devices)

    def __str__(self) -> str:
        """In words, such as "MirroredStrategy, 4 replicas"."""
        among = f" in {self.workers} processes" if self.workers > 1 else ""
        return f"{self.name}, {self.replicas} replica{'s' * (self.replicas > 1)}{among}"

    def gathered(self, row: Any) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """What every worker holds, on every worker alike.

        Args:
            row: Numbers of this worker, shape (n,); float64 keeps whole numbers up to 2**53.

        Returns:
            Shape (workers, n).
        """
        values = np.asarray(row, np.float64)
        if self.workers == 1:
            return values[None]
        summed = self._exchange(tf.constant(values))
        local = len(self.devices)
        table = self.strategy.experimental_local_results(summed)[0].numpy()
        return np.asarray(table[::local])

    @cached_property
    def _exchange(self) -> Any:
        replicas = self.replicas

        def place(row: tf.Tensor) -> tf.Tensor:
            context = tf.distribute.get_replica_context()
            mask = tf.one_hot(context.replica_id_in_sync_group, replicas, dtype=tf.float64)
            return context.all_reduce(tf.distribute.ReduceOp.SUM, mask[:, None] * row[None])

        return tf.function(
            lambda row: self.strategy.run(place, args=(row,)),
            autograph=False,
            input_signature=[tf.TensorSpec([None], tf.float64)],
        )

    def chiefs_text(self, text: str) -> str:
        """The chief's `text`, of up to 255 bytes, on every worker."""
        content = text.encode()[:_TEXT_BYTES]
        row = self.gathered(list(content.ljust(_TEXT_BYTES, b"\0")))[0]
        return bytes(int(number) for number in row).rstrip(b"\0").decode(errors="replace")


def has_others(group: Group | None) -> bool:
    """Whether other processes train along."""
    return group is not None and group.workers > 1


def agreed(group: Group | None, model: keras.Model, steps: int, *, stop: bool) -> tuple[int, bool]:
    """What all processes do next: the fewest steps any of them can, and whether any of them was told to stop.

    Args:
        group: Who trains; None for nobody else.
        model: Is told to stop when another process was.
        steps: Steps that this process can do.
        stop: Whether this process is to stop.
    """
    if group is None or group.workers == 1:
        return steps, stop
    table = group.gathered([steps, float(stop)])
    steps, stop = int(table[:, 0].min()), bool(table[:, 1].any())
    model.stop_training = model.stop_training or stop
    return steps, stop


def group_of(model: keras.Model) -> Group | None:
    """The group that a model was built for; None when it is on its own, or the strategy is another one."""
    strategy = private_keras.own_strategy(model)
    return None if strategy is None else group_under(strategy)


def group_under(strategy: Any) -> Group | None:
    """The group of a strategy, always the same one; None when the engine does not train under it."""
    if "_steptime_group" not in vars(strategy):
        # Kept with the strategy, since what workers exchange through is traced once.
        vars(strategy)["_steptime_group"] = _new_group(strategy)
    group: Group | None = vars(strategy)["_steptime_group"]
    return group


def _new_group(strategy: Any) -> Group | None:
    if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
        name = "MultiWorkerMirroredStrategy"  # TensorFlow's own class has another name.
        resolver = strategy.cluster_resolver
        spec = resolver.cluster_spec().as_dict()
        workers = sum(len(addresses) for addresses in spec.values()) or 1
        return Group(strategy, name, strategy.num_replicas_in_sync, workers, _rank(resolver, spec))
    if isinstance(strategy, (tf.distribute.MirroredStrategy, tf.distribute.OneDeviceStrategy)):
        return Group(strategy, type(strategy).__name__, strategy.num_replicas_in_sync, 1, 0)
    return None


def _rank(resolver: Any, spec: dict[str, Any]) -> int:
    """Position of this task: a task of type "chief" comes before the workers."""
    task_id = int(resolver.task_id or 0)
    return task_id + (len(spec.get("chief", ())) if resolver.task_type == "worker" else 0)
