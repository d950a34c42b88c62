"""Keras' `train_step` or `test_step`, traced once and shared by every loop."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.kernels import substitute

# Running such an operation twice is seen outside the model's variables, so a step with one is never repeated.
_SIDE_EFFECTS = frozenset({
    "Print", "PrintV2", "PyFunc", "EagerPyFunc", "WriteFile", "WriteSummary", "WriteScalarSummary",
    "WriteHistogramSummary", "WriteImageSummary", "IteratorGetNext", "LookupTableInsertV2",
    "QueueEnqueueV2", "QueueDequeueV2", "StackPushV2", "StackPopV2", "SaveV2",
})  # fmt: skip
_STATEFUL_RANDOM = frozenset({
    "RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal", "RandomShuffle",
    "Multinomial", "RandomGammaV2", "RandomPoissonV2", "ParameterizedTruncatedNormal",
})  # fmt: skip


@dataclass(eq=False)
class TracedStep:
    """One step as a TensorFlow function of a batch.

    Attributes:
        concrete: The function; it takes one batch of `spec` and returns the step's logs.
        spec: Nested specification of a batch.
        trace_s: How long tracing took, in s.
        substituted: What exact kernels replaced, such as ("Adam",); empty for Keras' own step.
    """

    concrete: Any
    spec: Any
    trace_s: float
    substituted: tuple[str, ...] = ()
    compiled: dict[Any, Any] = field(default_factory=dict)

    def __call__(self, batch: Any) -> Any:
        """Runs the step on `batch`."""
        return self.concrete(batch)

    @property
    def variables(self) -> tuple[tf.Variable, ...]:
        """Every variable the step reads or writes: weights, slots, metrics, seeds."""
        return tuple(self.concrete.graph.variables)

    @property
    def batch_size(self) -> int | None:
        """Samples in a batch; None when batches differ."""
        first = next(s for s in tf.nest.flatten(self.spec) if s is not None)
        size: int | None = first.shape[0] if first.shape.rank else None
        return size

    @cached_property
    def operations(self) -> frozenset[str]:
        """Types of all operations in the step, nested functions included."""
        graph = self.concrete.graph.as_graph_def()
        nodes = [*graph.node, *(node for f in graph.library.function for node in f.node_def)]
        return frozenset(node.op for node in nodes)

    @property
    def side_effects(self) -> tuple[str, ...]:
        """Operations that show outside the model, such as PrintV2."""
        return tuple(sorted(self.operations & _SIDE_EFFECTS))

    @property
    def stateful_random(self) -> bool:
        """Whether random numbers come from hidden state that cannot be put back."""
        return bool(self.operations & _STATEFUL_RANDOM)

    @property
    def is_random(self) -> bool:
        """Whether the step draws random numbers at all."""
        return self.stateful_random or any(
            op.startswith(("StatelessRandom", "StatelessTruncated")) for op in self.operations
        )

    def empty_logs(self) -> Any:
        """Zeros in the structure of the logs, to start a loop with."""
        return tf.nest.map_structure(lambda t: tf.zeros(t.shape, t.dtype), self.concrete.structured_outputs)

    def why_not_looped(self) -> str | None:
        """Why the logs cannot be carried through a compiled loop; None when they can."""
        outputs = tf.nest.flatten(self.concrete.structured_outputs)
        for output in outputs:
            if not tf.is_tensor(output):
                return f"the step returns {type(output).__name__} among its logs, not only tensors"
            if not output.shape.is_fully_defined():
                return f"the step returns a log of unknown shape {output.shape}"
        return None if outputs else "the step returns no logs"


class StepFunction:
    """What stands in `model.train_function` or `test_function`: Keras' own function plus our loops.

    Keras drops it in `compile` as it drops its own, and its `fit`, `train_on_batch` and `evaluate` call it as
    they call their own.

    Args:
        model: A compiled model.
        step: "train_step" or "test_step".
    """

    def __init__(self, model: keras.Model, step: str) -> None:
        self._model = model
        self._name = step
        self._step = self._function()
        self.stock: Callable[[Any], Any] = private_keras.make_function(model, self._step)
        self._traced: dict[str, TracedStep] = {}
        # What earlier fits measured, by data specification: the next fit need not try again.
        self.memory: dict[str, Any] = {}
        # The same step for replicas that train together; see `steptime.engine.distribution`.
        self.group_step: Any = None

    def __call__(self, iterator: Any) -> Any:
        """Runs one step of Keras' own function on the next batch of `iterator`."""
        return self.stock(iterator)

    def _function(self) -> Any:
        """A function of one batch; for a model that Keras compiles by XLA, TensorFlow must know when tracing."""
        return tf.function(self._call, autograph=False, jit_compile=bool(self._model.jit_compile) or None)

    def _call(self, data: Any) -> Any:
        data = tf.nest.map_structure(_without_optional, data)
        return getattr(self._model, self._name)(data)

    def traced(self, spec: Any) -> TracedStep:
        """The step for batches of `spec`, traced at most once."""
        key = repr(spec)
        if key not in self._traced:
            # A function that was traced for an open batch size would answer for every closed one too.
            step = self._function() if self._traced else self._step
            start_ns = time.perf_counter_ns()
            concrete = step.get_concrete_function(spec)
            self._traced[key] = TracedStep(concrete, spec, (time.perf_counter_ns() - start_ns) / 1e9)
        return self._traced[key]

    def traced_for_xla(self, spec: Any) -> TracedStep:
        """The step for batches of `spec`, traced where TensorFlow knows that XLA will compile it.

        Loops in recurrent layers then stack their intermediates in tensors of a fixed size, which XLA needs.
        """
        key = repr(spec) + " for XLA"
        if key not in self._traced:
            start_ns = time.perf_counter_ns()
            step = tf.function(self._call, autograph=False, jit_compile=True)
            concrete = step.get_concrete_function(spec)
            self._traced[key] = TracedStep(concrete, spec, (time.perf_counter_ns() - start_ns) / 1e9)
        return self._traced[key]

    def traced_with_kernels(self, spec: Any) -> TracedStep | None:
        """The step with exact kernels in place; None when the model has nothing to substitute."""
        key = repr(spec) + " with exact kernels"
        if key not in self._traced:
            start_ns = time.perf_counter_ns()
            with substitute(self._model) as substituted:
                if not substituted:
                    return None
                concrete = tf.function(self._call, autograph=False).get_concrete_function(spec)
            seconds = (time.perf_counter_ns() - start_ns) / 1e9
            self._traced[key] = TracedStep(concrete, spec, seconds, substituted)
        return self._traced[key]


def _without_optional(value: Any) -> Any:
    """Keras' generator adapter marks an absent value by an empty Optional; steps expect None."""
    return None if isinstance(value, tf.experimental.Optional) else value


def step_function(model: keras.Model, step: str) -> StepFunction:
    """The model's `StepFunction` for "train_step" or "test_step", put in place if it is not there."""
    attribute = step.replace("_step", "_function")
    function = getattr(model, attribute)
    if not isinstance(function, StepFunction):
        function = StepFunction(model, step)
        setattr(model, attribute, function)
    return function
