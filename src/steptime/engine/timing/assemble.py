"""Makes the ways of executing a job that are timed beside the job itself."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import memory, private_keras
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.feed import element_spec
from steptime.engine.feeds.stream import StreamFeed
from steptime.engine.step import StepFunction, TracedStep
from steptime.engine.timing.arms import (
    Arm,
    FunctionLoop,
    GatherAlone,
    LoopOverFeed,
    PipelineAlone,
    SamePositions,
    StepAlone,
    engine_loop,
)
from steptime.engine.timing.source import Source, doubled, present, repeated


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """How the job's own fit executes steps.

    Attributes:
        loop: "keras", "graph", "graph+kernels" or "xla".
        is_resident: Whether the training data lie on the device.
        is_stock: Whether it is Keras' own `fit`, one execution at a time.
    """

    loop: str
    is_resident: bool
    is_stock: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """What could be made.

    Attributes:
        live: The same loop on the job's own data, in pieces of any length; None when not possible.
        timed: By name: repeated, input, resident and doubled, those that are possible.
        reasons: Why the others are not, by name.
        batch: One batch of the job, as tensors.
        batch_size: Samples in it.
        function: Gives the job's step for other sizes of batches; None when nothing could be made.
    """

    live: Arm | None
    timed: dict[str, Arm]
    reasons: dict[str, str]
    batch: Any
    batch_size: int
    function: StepFunction | None


class _Workshop:
    """Holds what the arms are made of."""

    def __init__(self, model: keras.Model, source: Source, execution: Execution) -> None:
        self._model = model
        self._source = source
        self._execution = execution
        self._device = memory.device_name()
        self._jit = bool(model.jit_compile)
        own = model.train_function
        self.function = own if isinstance(own, StepFunction) else StepFunction(model, "train_step")
        self._arrays = source.arrays() if execution.is_resident else None
        self.feed: ArrayFeed | StreamFeed = self._array_feed() if self._arrays else source.stream(model)
        self._data: Any = None
        if isinstance(self.feed, ArrayFeed):
            with tf.device(self._device):
                self._data = tf.nest.map_structure(_identity, self.feed.host)
        self.batch = self._first_batch()
        self.batch_size = int(present(self.batch)[0].shape[0])

    def _first_batch(self) -> Any:
        if isinstance(self.feed, ArrayFeed):
            return self.feed.batch(0)
        self.feed.begin_epoch()
        if self.feed.claim(1) is None:
            raise StopIteration
        return next(self.feed.iterator(0))

    def step(self, spec: Any) -> TracedStep:
        """The step that the job's loop executes, traced for batches of `spec`."""
        if self._execution.loop == "xla":
            return self.function.traced_for_xla(spec)
        if self._execution.loop == "graph+kernels":
            return self.function.traced_with_kernels(spec) or self.function.traced(spec)
        return self.function.traced(spec)

    def alone(self) -> Arm:
        return self._alone(self.batch, self.batch_size)

    def doubled(self) -> Arm:
        return self._alone(doubled(self.batch), 2 * self.batch_size)

    def _alone(self, batch: Any, size: int) -> Arm:
        spec = self.feed.element_spec
        leading = present(spec)[0].shape[0]
        if leading is not None or self._execution.loop == "xla":
            spec = element_spec(batch, size)
        with tf.device(self._device):
            batch = tf.nest.map_structure(_identity, batch)
        return StepAlone(self.step(spec), batch, jit_step=self._jit, xla=self._execution.loop == "xla")

    def live(self) -> Arm:
        if self._by_function():
            feed = self._source.stream(self._model)
            return self._function_loop(lambda: _iterator_of(feed))
        return LoopOverFeed(self._loop(self.feed), self.feed)

    def repeated(self) -> Arm:
        if self._execution.is_resident:
            return SamePositions(self._loop, self._array_feed())
        dataset = repeated(self.batch, self.feed.element_spec)
        if self._by_function():
            return self._function_loop(lambda: iter(dataset))
        feed = StreamFeed(
            self._model, x=dataset, y=None, sample_weight=None, batch_size=None, shuffle=False,
            class_weight=None, steps_per_epoch=1 << 30,
        )  # fmt: skip
        return LoopOverFeed(self._loop(feed), feed)

    def input(self) -> Arm:
        if self._execution.is_resident:
            return GatherAlone(self._array_feed(), self._data)
        return PipelineAlone(self._source.stream(self._model))

    def _array_feed(self) -> ArrayFeed:
        """A feed of its own over the same tensors."""
        assert self._arrays is not None
        return ArrayFeed(self._arrays)

    def _by_function(self) -> bool:
        return self._execution.loop == "keras"

    def _function_loop(self, iterator: Callable[[], Any]) -> Arm:
        function = self._model.train_function if self._execution.is_stock else self.function.stock
        return FunctionLoop(
            function,
            iterator,
            per_call=int(self._model.steps_per_execution) if self._execution.is_stock else 1,
            read_logs=self._execution.is_stock,
        )

    def _loop(self, feed: Any) -> Any:
        spec = feed.element_spec
        if self._execution.loop == "xla":
            spec = element_spec(feed.host, feed.batch_size)
        data = self._data if isinstance(feed, ArrayFeed) else None
        return engine_loop(self._execution.loop, self.step(spec), feed, data, jit_step=self._jit)


def make_arms(model: keras.Model, source: Source, execution: Execution) -> Arms:
    """Makes whatever can be made of the arms for one job.

    Args:
        model: The compiled model, whose fit has executed steps already.
        source: Its data.
        execution: How its fit executes them.
    """
    why = _why_none(model)
    if why is not None:
        names = ("repeated", "input", "resident", "doubled", "live")
        return Arms(
            live=None, timed={}, reasons=dict.fromkeys(names, why), batch=None, batch_size=0, function=None
        )
    workshop = _Workshop(model, source, execution)
    makers: dict[str, Callable[[], Arm]] = {
        "live": workshop.live,
        "repeated": workshop.repeated,
        "input": workshop.input,
        "resident": workshop.alone,
        "doubled": workshop.doubled,
    }
    made: dict[str, Arm] = {}
    reasons: dict[str, str] = {}
    for name, make in makers.items():
        try:
            made[name] = make()
            # The first execution traces and compiles; what cannot run shows here.
            if not made[name].run(1):
                raise RuntimeError("the data have ended")
        except Exception as error:  # noqa: BLE001  # whatever a person's step or data do alone, the others go on
            made.pop(name, None)
            reasons[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return Arms(
        live=made.pop("live", None),
        timed=made,
        reasons=reasons,
        batch=workshop.batch,
        batch_size=workshop.batch_size,
        function=workshop.function,
    )


def _why_none(model: keras.Model) -> str | None:
    if private_keras.has_strategy(model):
        return "the model was built under a tf.distribute strategy: its step cannot be executed by itself"
    return None


def _iterator_of(feed: StreamFeed) -> Any:
    feed.begin_epoch()
    if feed.claim(1) is None:
        raise StopIteration
    return feed.iterator(0)


def _identity(tensor: Any) -> Any:
    return None if tensor is None else tf.identity(tensor)
