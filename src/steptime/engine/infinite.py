"""A loss that became NaN or infinite: which step, and what in it was not finite."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from steptime.engine.state import is_real

_MOST_NAMED = 5


class InfiniteLossError(Exception):
    """The loss of a step was NaN or infinite, and the training was to stop at the first.

    Attributes:
        epoch: Counted from 0.
        steps: The first step of the epoch that may be the one, and the last, counted from 0; equal when it is known.
        batch: What the step was given, as Keras' `train_step` takes it; None when it cannot be read again.
        findings: What is not finite, in words.
    """

    def __init__(
        self, epoch: int, steps: tuple[int, int], loss: float, batch: Any, findings: Sequence[str]
    ) -> None:
        self.epoch, self.steps, self.loss, self.batch = epoch, steps, loss, batch
        self.findings = tuple(findings)
        super().__init__(f"the loss became {loss} in epoch {epoch + 1}, step {steps[1] + 1} or before")


def check(
    model: keras.Model,
    logs: Any,
    epoch: int,
    steps: tuple[int, int],
    read_batch: Callable[[], Any] | None = None,
) -> None:
    """Looks at the loss after a step, or several.

    Keras' loss is the mean over the steps of the epoch so far. One bad step makes it bad, and it was not before.

    Args:
        model: The model.
        logs: Of the last step, as Python numbers.
        epoch: Counted from 0.
        steps: The first and the last step since the last look, counted from 0 in the epoch.
        read_batch: Reads the step's batch again; None when it is gone.

    Raises:
        InfiniteLossError: The loss is NaN or infinite.
    """
    loss = logs.get("loss") if isinstance(logs, dict) else None
    if loss is None or math.isfinite(loss):
        return
    batch = None if read_batch is None else read_batch()
    findings = (*([] if batch is None else bad_in_batch(batch)), *bad_variables(model))
    raise InfiniteLossError(epoch, steps, float(loss), batch, findings)


def bad_in_batch(batch: Any) -> list[str]:
    """What is not finite among inputs, targets and weights of a batch, in words; empty when all is finite."""
    x, y, sample_weight = keras.utils.unpack_x_y_sample_weight(batch)
    found = []
    for name, part in (("x", x), ("y", y), ("sample_weight", sample_weight)):
        leaves = [leaf for leaf in tf.nest.flatten(part) if leaf is not None]
        for number, leaf in enumerate(leaves):
            values = np.asarray(leaf)
            if not is_real(values) or np.isfinite(values.astype("float64")).all():
                continue
            samples = np.flatnonzero(~np.isfinite(values.astype("float64")).reshape(len(values), -1).all(1))
            place = name if len(leaves) == 1 else f"{name}[{number}]"
            found.append(
                f"{place} of this batch is not finite in {len(samples)} of {len(values)} samples; the first is "
                f"sample {samples[0]} of the batch, counted from 0"
            )
    return found


def bad_variables(model: keras.Model) -> list[str]:
    """Which weights are not finite, in words; says so too when all are finite."""
    values = {weight.path: np.asarray(weight) for weight in model.weights}
    bad = {
        path: int((~np.isfinite(value.astype("float64"))).sum())
        for path, value in values.items()
        if is_real(value) and not np.isfinite(value.astype("float64")).all()
    }
    if not bad:
        return ["after the step every weight is still finite"]
    first = list(bad)[:_MOST_NAMED]
    named = ", ".join(f"{path} ({bad[path]} of {values[path].size} values)" for path in first)
    named += f" and {len(bad) - len(first)} more" if len(bad) > len(first) else ""
    return [f"after the step {len(bad)} of {len(values)} weights are not finite: {named}"]


def first_bad_layer(model: keras.Model, x: Any) -> str | None:
    """Name the first layer whose output is not finite for inputs `x` with the present weights, in words.

    Args:
        model: A functional or sequential model.
        x: Inputs of a batch.

    Returns:
        None when every output is finite, or the model does not show them.
    """
    try:
        layers = list(model.layers)
        inputs = model.inputs[0] if len(model.inputs) == 1 else model.input
        probe = keras.Model(inputs, [layer.output for layer in layers])
        outputs = probe(x, training=False)
    except Exception:  # noqa: BLE001  # a subclassed model does not show them, and bad inputs may be the very trouble
        return None
    for layer, output in zip(layers, outputs, strict=True):
        values = [np.asarray(leaf) for leaf in tf.nest.flatten(output)]
        if not all(np.isfinite(value.astype("float64")).all() for value in values if is_real(value)):
            return (
                f"the output of layer {layer.name} ({type(layer).__name__}) is the first that is not finite"
            )
    return None
