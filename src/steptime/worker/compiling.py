"""Compiles a model that nobody compiled: optimizer from the settings, loss from the labels and the head."""

from dataclasses import dataclass
from typing import Any

import keras
import numpy as np

from steptime.errors import UsageError
from steptime.plan.settings import Settings

_HINT_COMPILE = "Define compile_model(model) in the workload, or say --set loss=NAME."


@dataclass(frozen=True, slots=True, kw_only=True)
class LossChoice:
    """A loss, the metrics that go with it, and the reason in words."""

    loss: Any
    metrics: tuple[str, ...]
    words: str


def compile_by_settings(model: keras.Model, y: Any, settings: Settings) -> tuple[str, ...]:
    """Compile ``model`` and return what was chosen, in words.

    Args:
        model: A built, uncompiled model.
        y: Targets of the first batch.
        settings: Optimizer, learning rate, loss, metrics, XLA.

    Raises:
        UsageError: A name that Keras does not know, or no loss can be derived.
    """
    words = []
    if settings.loss == "auto":
        choice = choose_loss(head_of(model), model.output_shape, y)
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
        y: Targets of one batch, shape (batch, ...).

    Raises:
        UsageError: Several outputs, or no targets.
    """
    if not isinstance(output_shape, tuple) or not all(isinstance(n, (int, type(None))) for n in output_shape):
        raise UsageError("The loss must be named for a model with several outputs.", hint=_HINT_COMPILE)
    if y is None:
        raise UsageError("The loss must be named when the data have no labels.", hint=_HINT_COMPILE)
    labels = np.asarray(y)
    classes = output_shape[-1]
    whole = labels.dtype.kind in "iub"
    one_a_sample = labels.ndim == 1 or labels.shape[-1] == 1
    probabilities = f"the head ends in {head}" if head in ("softmax", "sigmoid") else "the head gives logits"
    if whole and one_a_sample and classes and classes > 1:
        logits = head != "softmax"
        return LossChoice(
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=logits),
            metrics=("accuracy",),
            words=f"loss: sparse categorical cross-entropy, from_logits={logits} "
            f"(whole-number labels, {classes} outputs, {probabilities})",
        )
    if classes == 1 and set(np.unique(labels).tolist()) <= {0, 1} and (whole or head == "sigmoid"):
        logits = head != "sigmoid"
        return LossChoice(
            loss=keras.losses.BinaryCrossentropy(from_logits=logits),
            metrics=("accuracy",),
            words=f"loss: binary cross-entropy, from_logits={logits} "
            f"(labels 0 and 1, one output, {probabilities})",
        )
    if classes and classes > 1 and labels.shape[-1] == classes and _is_one_hot(labels):
        logits = head != "softmax"
        return LossChoice(
            loss=keras.losses.CategoricalCrossentropy(from_logits=logits),
            metrics=("accuracy",),
            words=f"loss: categorical cross-entropy, from_logits={logits} "
            f"(one-hot labels, {classes} outputs, {probabilities})",
        )
    return LossChoice(
        loss=keras.losses.MeanSquaredError(),
        metrics=("mae",),
        words="loss: mean squared error (labels are real numbers)",
    )


def head_of(model: keras.Model) -> str:
    """Return the name of the last layer's activation; ``linear`` when it has none."""
    layer = model.layers[-1] if model.layers else model
    if isinstance(layer, keras.Model):
        return head_of(layer)
    if isinstance(layer, keras.layers.Softmax):
        return "softmax"
    return str(getattr(getattr(layer, "activation", None), "__name__", "linear"))


def loss_text(model: keras.Model) -> str:
    """Return the compiled loss in words for the record."""
    loss = getattr(model, "loss", None)
    if isinstance(loss, (dict, list, tuple)):
        items = loss.values() if isinstance(loss, dict) else loss
        return ", ".join(_one_loss_text(item) for item in items)
    return _one_loss_text(loss)


def _one_loss_text(loss: Any) -> str:
    if loss is None:
        return "none"
    if isinstance(loss, str):
        return loss
    return str(getattr(loss, "__name__", None) or type(loss).__name__)


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
