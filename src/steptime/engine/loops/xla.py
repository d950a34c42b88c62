"""The whole chunk as one XLA program: neither Python nor TensorFlow's executor is entered between steps."""

from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.feeds.arrays import ArrayFeed
from steptime.engine.feeds.feed import Claim
from steptime.engine.loops.graph import resident_loop, run_resident
from steptime.engine.loops.loop import Outcome
from steptime.engine.step import TracedStep


class XlaLoop:
    """A loop over resident data, compiled by XLA. Whole batches only: XLA needs to know every shape.

    Args:
        step: The step, traced for whole batches.
        feed: Gives the order of the samples.
        data: The feed's tensors, on the device.
        stop_on_infinite_loss: Whether a callback stops the training at such a loss.
    """

    name = "xla"

    def __init__(self, step: TracedStep, feed: ArrayFeed, data: Any, *, stop_on_infinite_loss: bool) -> None:
        self._feed = feed
        self._data = data
        key = ("xla", feed.samples, feed.batch_size, stop_on_infinite_loss)
        if key not in step.compiled:
            step.compiled[key] = resident_loop(step, step, feed, data, stop_on_infinite_loss, xla=True)
        self._run = step.compiled[key]

    def run(self, claim: Claim) -> Outcome:
        """Executes the claimed steps; none of them may be the partial batch at the end of a pass."""
        return run_resident(self._run, claim, self._feed.order, self._data)


def why_not_xla(model: keras.Model, step: TracedStep) -> str | None:
    """Why the model cannot be one XLA program, naming the layer or operation; None when it can."""
    for layer in private_keras.flatten_layers(model):
        if not getattr(layer, "supports_jit", True):
            return f"layer {layer.name} ({type(layer).__name__}) does not support XLA"
    if step.side_effects:
        return f"the step contains {step.side_effects[0]}, which XLA cannot run"
    if any(s is not None and s.dtype == tf.string for s in tf.nest.flatten(step.spec)):
        return "the data contain strings"
    if private_keras.is_determinism_enabled():
        return "deterministic operations are switched on, and Keras then switches XLA off"
    return None
