"""A worker as one of several, or with several devices: the strategy it trains under."""

import contextlib
import dataclasses
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from steptime.engine.distribution.group import group_under
from steptime.errors import UsageError
from steptime.plan.cluster import CLUSTER_VARIABLE, read_place
from steptime.plan.plan import Placement
from steptime.plan.settings import Settings
from steptime.record.events import EventWriter
from steptime.worker.data import Part
from steptime.worker.proof import short_device

# Clocks that NTP keeps are milliseconds apart; a second is what people read in logs.
_CLOCKS_S = 1.0
Phase = Callable[[str], contextlib.AbstractContextManager[None]]


def split_cpu(devices: int) -> None:
    """Split the CPU into logical devices; before TensorFlow runs any operation."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * devices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Who trains together, as this worker sees it; the record keeps it.

    Attributes:
        strategy: Class of the strategy; empty when there is none.
        replicas: Copies of the model that train in step.
        workers: Processes.
        rank: Number of this process; 0 is the chief.
        devices: Devices of this process, such as ``GPU:0``; empty without a strategy.
        run_id: The chief's run, below which the others are kept; empty for a process on its own.
        clocks_apart_s: Between the clock that is ahead and the one that is behind, the time of the exchange included.
        exchange_s: How long that exchange took, which the clocks may seem apart by.
    """

    strategy: str = ""
    replicas: int = 1
    workers: int = 1
    rank: int = 0
    devices: tuple[str, ...] = ()
    run_id: str = ""
    clocks_apart_s: float = 0.0
    exchange_s: float = 0.0

    @property
    def clock_note(self) -> str:
        """What to say of clocks that differ by more than the exchange explains; empty when they do not."""
        if self.clocks_apart_s <= self.exchange_s + _CLOCKS_S:
            return ""
        return (
            f"the clocks of the workers are {self.clocks_apart_s:.1f} s apart"
            f" (the exchange took {self.exchange_s:.1f} s): "
            "times in their logs and records cannot be compared; NTP or chrony keeps clocks together"
        )

    def tell(self, events: EventWriter) -> None:
        """Announce the group, and what is wrong with its clocks."""
        events.write("group", rank=self.rank, run_id=self.run_id)
        if self.clock_note:
            events.write("note", text=self.clock_note)


def join(placement: Placement, device: str, run_id: str, phase: Phase) -> tuple[Group, Any]:
    """Return the group of this process and the strategy it trains under; waits for the other workers.

    Args:
        placement: How many devices this process has.
        device: The first of them, such as ``GPU:0``.
        run_id: Name of this process' run folder.
        phase: Times and announces the waiting.

    Raises:
        UsageError: The place in the group is wrong, or the devices are not there.
    """
    place = read_place(os.environ.get(CLUSTER_VARIABLE))
    workers = place.workers
    if placement.device == "cpu" and placement.devices > 1:
        if workers > 1:
            raise UsageError(
                f"A worker on a CPU is one device. Received: {placement.devices} devices a worker",
                hint="Say --workers N or --devices N; on a CPU one of them.",
            )
        split_cpu(placement.devices)
    waiting = phase("join") if workers > 1 else contextlib.nullcontext()
    with waiting:
        strategy = make_strategy(workers, device, placement.devices)
    together = None if strategy is None else group_under(strategy)
    if together is None:
        return Group(), None
    group = Group(
        strategy=together.name,
        replicas=together.replicas,
        workers=together.workers,
        rank=together.rank,
        devices=tuple(short_device(name) for name in together.devices),
        run_id=together.chiefs_text(run_id),
        **_clocks(together),
    )
    return group, strategy


def _clocks(together: Any) -> dict[str, float]:
    """How far the clocks of the workers are apart, read at the same moment."""
    if together.workers == 1:
        return {}
    together.gathered([0])  # a barrier: what follows begins on all workers alike
    begin_s = time.perf_counter()
    clocks = together.gathered([time.time()])[:, 0]  # noqa: TID251 - the wall clocks are what is compared
    return {
        "clocks_apart_s": float(clocks.max() - clocks.min()),
        "exchange_s": time.perf_counter() - begin_s,
    }


def scaled_batch(settings: Settings, replicas: int, model: keras.Model, data: Part) -> tuple[Settings, str]:
    """Return settings whose batch is as many times larger as there are replicas, and say what was changed.

    The learning rate is multiplied alike: the linear scaling rule of Goyal et al., "Accurate, Large Minibatch
    SGD" (2017, arXiv 1706.02677), which they combine with some epochs of warm-up.

    Args:
        settings: What the person set.
        replicas: Copies of the model that train in step.
        model: Compiled; its learning rate is changed.
        data: The training data.

    Raises:
        UsageError: The data bring their own batches, or the learning rate follows a schedule.
    """
    if data.stream is not None:
        raise UsageError(
            "--scale-batch needs arrays, whose batch is a setting. Received: a stream with its own batches",
            hint="Make the batches of the data set larger, and the learning rate to match.",
        )
    before = getattr(model.optimizer, "_learning_rate", None)
    if not isinstance(before, keras.Variable):
        raise UsageError(
            "--scale-batch needs a learning rate that is a number. Received: a schedule",
            hint="Scale the schedule where it is made.",
        )
    rate = float(before.numpy())
    model.optimizer.learning_rate = rate * replicas
    batch = settings.batch_size * replicas
    words = (
        f"batch {settings.batch_size} -> {batch}, learning rate {rate:g} -> {rate * replicas:g} for {replicas} "
        "replicas (linear scaling rule): this is another training than on one device"
    )
    return dataclasses.replace(settings, batch_size=batch), words


def make_strategy(workers: int, device: str, devices: int) -> Any:
    """Return the strategy for ``devices`` devices in each of ``workers`` processes; None for one of each.

    Args:
        workers: Processes; TF_CONFIG names them. The call returns when all have come.
        device: The first device, such as ``GPU:0``.
        devices: Devices of this process.
    """
    if workers > 1:
        return tf.distribute.MultiWorkerMirroredStrategy()
    if devices > 1:
        kind = device.partition(":")[0]
        return tf.distribute.MirroredStrategy([f"{kind}:{number}" for number in range(devices)])
    return None


def scope_of(strategy: Any) -> contextlib.AbstractContextManager[Any]:
    """Return where a model must be made to be trained under ``strategy``."""
    scope: contextlib.AbstractContextManager[Any] = (
        contextlib.nullcontext() if strategy is None else strategy.scope()
    )
    return scope
