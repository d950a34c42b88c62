"""`keras.layers.BatchNormalization` by TensorFlow's `FusedBatchNormV3`."""

from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf

SMALLEST_EPSILON = 1.001e-5
"""`tf.nn.fused_batch_norm` raises a smaller epsilon to this, for cuDNN's sake; we decline instead."""


def fused_methods(layer: keras.layers.Layer) -> dict[str, Callable[..., Any]] | None:
    """The method that runs a stock batch normalisation as one operation.

    In training mode the layer normalises with the batch's biased variance and keeps a moving average of the
    same. `FusedBatchNormV3` normalises so too, but returns the variance times n / (n - 1) (Bessel's
    correction), which is undone before the moving average is updated with Keras' own expression.

    Args:
        layer: Any layer.

    Returns:
        `{"call": ...}`, or None when the layer is no stock `BatchNormalization`, is frozen, synchronised over
        replicas, uses renormalisation, normalises another axis than the last or has a float64 policy.
    """
    if type(layer) is not keras.layers.BatchNormalization or not _has_a_fused_equal(layer):
        return None
    stock_call = layer.call

    def call(inputs: tf.Tensor, training: bool | None = None, mask: tf.Tensor | None = None) -> tf.Tensor:
        if training and layer.trainable and mask is None and _fits(layer, inputs):
            return _normalize(layer, inputs)
        return stock_call(inputs, training=training, mask=mask)

    return {"call": call}


def _has_a_fused_equal(layer: keras.layers.BatchNormalization) -> bool:
    rank = getattr(layer.input_spec, "ndim", None)  # unknown until the layer is built; `_fits` asks again
    return (
        layer.trainable
        and not layer.synchronized
        and not getattr(layer, "renorm", False)
        and layer.epsilon >= SMALLEST_EPSILON
        and layer.compute_dtype in {"float16", "bfloat16", "float32"}
        and (layer.axis == -1 or rank is None or layer.axis == rank - 1)
    )


def _fits(layer: keras.layers.BatchNormalization, inputs: tf.Tensor) -> bool:
    rank = inputs.shape.rank
    return (
        rank is not None
        and rank >= 2
        and layer.axis in {-1, rank - 1}
        and inputs.dtype in {tf.float16, tf.bfloat16, tf.float32}
        and inputs.shape[-1] is not None
    )


def _normalize(layer: keras.layers.BatchNormalization, inputs: tf.Tensor) -> tf.Tensor:
    """Normalises `inputs`, shape (..., channels), over all other axes and updates the moving averages."""
    # Keras computes in float32 and rounds the result to the compute type. So does the operation, inside,
    # when input and result have one type; else the input is widened first.
    same_type = inputs.dtype.name == layer.compute_dtype
    x = inputs if same_type else tf.cast(inputs, tf.float32)
    channels = inputs.shape[-1]
    ones, zeros = tf.ones([channels]), tf.zeros([channels])
    normalized, mean, variance, *_ = tf.raw_ops.FusedBatchNormV3(
        x=_as_images(x),
        scale=keras.ops.cast(layer.gamma, "float32") if layer.scale else ones,
        offset=keras.ops.cast(layer.beta, "float32") if layer.center else zeros,
        mean=tf.zeros([0]),
        variance=tf.zeros([0]),
        epsilon=layer.epsilon,
        is_training=True,
    )
    _update(layer.moving_mean, mean, layer.momentum)
    _update(layer.moving_variance, variance * _biased_share(x), layer.momentum)
    outputs = normalized if x.shape.rank == 4 else tf.reshape(normalized, tf.shape(x))
    outputs.set_shape(inputs.shape)
    return outputs if same_type else tf.cast(outputs, layer.compute_dtype)


def _update(average: keras.Variable, batch: tf.Tensor, momentum: float) -> None:
    average.assign(keras.ops.cast(average, "float32") * momentum + batch * (1.0 - momentum))


def _as_images(x: tf.Tensor) -> tf.Tensor:
    """`x` with all axes between batch and channels folded into the two the operation knows."""
    if x.shape.rank == 4:
        return x
    shape = tf.shape(x)
    return tf.reshape(x, [shape[0], 1, tf.reduce_prod(shape[1:-1]), x.shape[-1]])


def _biased_share(x: tf.Tensor) -> float | tf.Tensor:
    """(n - 1) / n for n values a channel; for n = 1 TensorFlow applies no correction and neither do we."""
    if x.shape.is_fully_defined():
        count = x.shape.num_elements() // x.shape[-1]
        return max(count - 1, 1) / max(count, 1)
    count = tf.cast(tf.size(x, tf.int64) // x.shape[-1], tf.float32)
    return tf.maximum(count - 1.0, 1.0) / count
