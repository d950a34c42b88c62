"""Compiles a model that nobody compiled: optimizer from the settings, loss from the labels and the head."""

from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

from steptime.errors import UsageError
from steptime.plan.settings import Settings
from steptime.worker.data import leaves

_HINT_COMPILE = "Define compile_model(model) in the workload, or say --set loss=NAME."


@dataclass(frozen=True, slots=True, kw_only=True)
class LossChoice:
    """A loss, the metrics that go with it, and the reason in words."""

    loss: Any
    metrics: tuple[str, ...]
    words: str


def compile_by_settings(model: keras.Model, output_shape: Any, y: Any, settings: Settings) -> tuple[str, ...]:
    """Compile ``model`` and return what was chosen, in words.

    Args:
        model: A built, uncompiled model.
        output_shape: Shape of its one output, batch first.
        y: Targets: all of them, or those of a first batch.
        settings: Optimizer, learning rate, loss, metrics, XLA.

    Raises:
        UsageError: A name that Keras does not know, or no loss can be derived.
    """
    words = []
    if settings.loss == "auto":
        choice = choose_loss(head_of(model), output_shape, y)
        loss, metrics = choice.loss, choice.metrics
        words.append(choice.words)
    else:
        loss, metrics = _by_name(keras.losses.get, settings.loss, "loss"), ()
    if settings.metrics != "auto":
        names = [name.strip() for name in settings.metrics.split(",") if name.strip() not in ("", "none")]
        metrics = tuple(_by_name(keras.metrics.get, name, "metrics") and name for name in names)
    optimizer = _by_name(keras.optimizers.get, settings.optimizer, "optimizer")
    if settings.learning_rate is not None:
        optimizer.learning_rate = settings.learning_rate
    jit: Any = {"auto": "auto", "on": True, "off": False}[settings.xla]
    model.compile(optimizer=optimizer, loss=loss, metrics=list(metrics), jit_compile=jit)
    return tuple(words)


def choose_loss(head: str, output_shape: Any, y: Any) -> LossChoice:
    """Choose a loss from the kind of labels and the model's last activation.

    Args:
        head: Name of the last activation, such as ``linear`` or ``softmax``.
        output_shape: Shape of the model's one output, batch first.
        y: Targets, shape (samples, ...).

    Raises:
        UsageError: Several outputs, or no targets that are numbers.
    """
    labels = _labels(output_shape, y)
    rank, classes = len(output_shape), output_shape[-1]
    whole = labels.dtype.kind in "iub"
    several = bool(classes and classes > 1)
    one_column = labels.ndim == rank and labels.shape[-1] == 1
    if whole and several and (labels.ndim == rank - 1 or one_column):
        return _crossentropy(
            keras.losses.SparseCategoricalCrossentropy,
            "sparse categorical cross-entropy",
            f"whole-number labels, {classes} outputs",
            head,
        )
    zero_one = bool(((labels == 0) | (labels == 1)).all())
    same_shape = labels.ndim == rank and labels.shape[-1] == classes
    if zero_one and ((classes == 1 and (whole or head == "sigmoid")) or (same_shape and head == "sigmoid")):
        count = "one output" if classes == 1 else f"{classes} outputs"
        return _crossentropy(
            keras.losses.BinaryCrossentropy, "binary cross-entropy", f"labels 0 and 1, {count}", head
        )
    if several and same_shape and _is_one_hot(labels):
        return _crossentropy(
            keras.losses.CategoricalCrossentropy,
            "categorical cross-entropy",
            f"one-hot labels, {classes} outputs",
            head,
        )
    return LossChoice(
        loss=keras.losses.MeanSquaredError(),
        metrics=("mae",),
        words=f"loss: mean squared error ({'whole' if whole else 'real'} numbers that name no class)",
    )


def _labels(output_shape: Any, y: Any) -> "np.ndarray[Any, Any]":
    if not isinstance(output_shape, tuple) or not all(isinstance(n, (int, type(None))) for n in output_shape):
        raise UsageError("The loss must be named for a model with several outputs.", hint=_HINT_COMPILE)
    arrays = [] if y is None else leaves(y)
    if len(arrays) != 1:
        raise UsageError(
            f"The loss must be named unless the data have one array of labels. Received: {len(arrays)}",
            hint=_HINT_COMPILE,
        )
    labels = np.asarray(arrays[0])
    if labels.dtype.kind not in "iubf":
        raise UsageError(
            f"Labels must be numbers. Received: {labels.dtype}",
            hint="Number the classes from 0, for example with np.unique(y, return_inverse=True)[1].",
        )
    return labels


def _crossentropy(loss: Any, name: str, labels: str, head: str) -> LossChoice:
    logits = head not in ("softmax", "sigmoid")
    end = "the head gives logits" if logits else f"the head ends in {head}"
    return LossChoice(
        loss=loss(from_logits=logits),
        metrics=("accuracy",),
        words=f"loss: {name}, from_logits={logits} ({labels}, {end})",
    )


def head_of(model: keras.Model) -> str:
    """Return the name of the last layer's activation; ``linear`` when it has none."""
    layer = model.layers[-1] if model.layers else model
    if isinstance(layer, keras.Model):
        return head_of(layer)
    if isinstance(layer, keras.layers.Softmax):
        return "softmax"
    return str(getattr(getattr(layer, "activation", None), "__name__", "linear"))


def _is_one_hot(labels: "np.ndarray[Any, Any]") -> bool:
    values = np.asarray(labels, dtype=np.float64)
    return bool((values >= 0).all() and np.allclose(values.sum(axis=-1), 1.0, atol=1e-5))


def _by_name(get: Any, name: str, key: str) -> Any:
    try:
        return get(name)
    except (ValueError, TypeError):
        raise UsageError(
            f"{key} must be a name that Keras knows. Received: {name!r}",
            hint=f"Keras' documentation lists them; any other goes into compile_model(model) with {key}=...",
        ) from None
