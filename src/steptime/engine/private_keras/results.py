"""Whether results depend on how samples are put in batches."""

from typing import Any

import keras
from keras.src import tree

from steptime.engine.private_keras.layers import flatten_layers
from steptime.engine.private_keras.trainer import overrides

# These compute one number of a whole batch.
_COUPLED_LOSSES = ("dice", "tversky", "circle", "ctc")


def is_independent_of_batches(model: keras.Model) -> bool:
    """Whether loss and metrics of an evaluation come out equal for every batch size.

    True only for Keras' own layers, losses that average over samples, and metrics that add up, with Keras'
    own `test_step`: their results are sums over samples. False when in doubt.
    """
    own_step = not any(overrides(model, name) for name in ("test_step", "compute_loss", "compute_metrics"))
    layers = [layer for layer in flatten_layers(model) if layer is not model]
    own_layers = all(_is_keras_own(layer) for layer in layers) and _is_keras_own(model)
    masks = any(isinstance(layer, keras.layers.Masking) or getattr(layer, "mask_zero", 0) for layer in layers)
    fixed = any(shape and shape[0] is not None for shape in _input_shapes(model))
    return own_step and own_layers and not masks and not fixed and _are_sums(model)


def has_several_losses(model: keras.Model) -> bool:
    """Whether Keras keeps a loss for each output: it averages those over batches where batch sizes differ."""
    compiled_loss = model._compile_loss
    losses = tree.flatten(compiled_loss._user_loss) if compiled_loss is not None else []
    return len(losses) > 1 or len(tree.flatten(getattr(model, "outputs", None) or [])) > 1


def _is_keras_own(thing: Any) -> bool:
    return type(thing).__module__.startswith("keras.")


def _input_shapes(model: keras.Model) -> list[Any]:
    return [getattr(tensor, "shape", None) for tensor in tree.flatten(getattr(model, "inputs", None) or [])]


def _are_sums(model: keras.Model) -> bool:
    if has_several_losses(model):
        return False
    compiled_loss = model._compile_loss
    losses = tree.flatten(compiled_loss._user_loss) if compiled_loss is not None else []
    compiled = model._compile_metrics
    named = (
        [] if compiled is None else tree.flatten([compiled._user_metrics, compiled._user_weighted_metrics])
    )
    built = [m for metric in model.metrics for m in getattr(metric, "metrics", [metric])]
    metrics = [metric for metric in (*named, *built) if metric is not None]
    return all(_averages(loss) for loss in losses) and all(_adds_up(metric) for metric in metrics)


def _adds_up(metric: Any) -> bool:
    """Whether a metric, given as name, function or object, is a sum over samples."""
    if isinstance(metric, keras.metrics.Metric):
        return _is_keras_own(metric) and _averages(getattr(metric, "_fn", None))
    return _averages(metric)


def _averages(loss: Any) -> bool:
    """Whether a loss, given as name, function or object, is a plain mean over samples."""
    if loss is None:
        return True
    name = loss if isinstance(loss, str) else getattr(loss, "__name__", type(loss).__name__)
    if any(coupled in name.lower() for coupled in _COUPLED_LOSSES):
        return False
    if isinstance(loss, str):
        return True
    if isinstance(loss, keras.losses.Loss):
        return _is_keras_own(loss) and loss.reduction == "sum_over_batch_size"
    return bool(getattr(loss, "__module__", "").startswith("keras."))
