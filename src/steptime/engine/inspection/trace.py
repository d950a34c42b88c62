"""Traces the model's forward and backward pass as a graph, which executes nothing, and reads what depends on what."""

from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.inspection import data
from steptime.engine.inspection.losses import losses_of
from steptime.engine.inspection.sample import dtype_of, shape_of
from steptime.engine.inspection.subject import NotKnown, Subject

# Tracing takes some 10 ms a layer, forwards and backwards.
_MOST_LAYERS = 40
_TOO_LARGE = "the model has {layers} layers, and tracing it would take too long"
# Through these no gradient flows, or it does only in part; a model without them and without own layers is connected.
_UNSURE = ("Lambda", "StopGradient", "Argmax", "Argmin", "OneHot", "Round", "Floor", "Sign", "Cast")
_PASS_ON = ("Identity", "Cast", "Reshape", "Squeeze", "ExpandDims", "Transpose", "StopGradient")
_PRODUCTS = ("MatMul", "BatchMatMulV2", "Conv2D", "Einsum", "Conv3D")
_SUMS = ("BiasAdd", "AddV2")


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """What a traced output is.

    Attributes:
        activation: softmax, sigmoid, relu, tanh or linear; None when it can't be told.
        softmax_over: Over how many units a softmax runs; None for another end.
        after: Operations behind it.
        shape: With None for the samples.
        dtype: Its name.
    """

    activation: str | None
    softmax_over: int | None
    after: tuple[str, ...]
    shape: tuple[int | None, ...]
    dtype: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """What a trace shows.

    Attributes:
        ends: The outputs, in order.
        unreached: Trainable variables that no output with a loss depends on.
    """

    ends: tuple[End, ...]
    unreached: tuple[Any, ...]


def read_without_gradient(subject: Subject) -> list[dict[str, Any]]:
    """Trainable variables that get no gradient.

    Raises:
        NotKnown: The loss is the person's own, or tracing would take too long.
    """
    model = subject.model
    for name in ("train_step", "compute_loss"):
        if private_keras.overrides(model, name):
            raise NotKnown(f"{type(model).__name__} has its own {name}, whose loss is not known")
    subject.layers()
    if _is_connected(model):
        return []
    return [
        {"variable": variable.path, "parameters": int(variable.numpy().size)}
        for variable in traced(subject).unreached
    ]


def _is_connected(model: keras.Model) -> bool:
    """Whether every layer surely leads to an output with a loss: Keras' own layers only, a loss for each output."""
    if private_keras.graph_of(model) is None or model.loss is None:
        return False
    layers = private_keras.flatten_layers(model)[1:]
    if None in losses_of(model) or not all(type(layer).__module__.startswith("keras.") for layer in layers):
        return False
    graphs = [private_keras.graph_of(part) for part in (model, *layers) if isinstance(part, keras.Model)]
    kinds = {type(node.operation).__name__ for graph in graphs if graph for node in graph.nodes}
    return None not in graphs and not kinds & set(_UNSURE)


def traced(subject: Subject) -> Traced:
    """Trace the model on the shapes of its data.

    Raises:
        NotKnown: It has no weights yet, its data are not known, or it is too large.
    """
    found: list[Traced] = subject.traces
    if found:
        return found[0]
    layers = subject.layers()
    if len(layers) > _MOST_LAYERS:
        raise NotKnown(_TOO_LARGE.format(layers=len(layers)))

    def step(batch: Any) -> Any:
        found.append(_look(subject.model, batch))
        return 0

    tf.function(step, autograph=False).get_concrete_function(_specification(subject))
    private_keras.forget_losses(subject.model)
    return found[0]


def _look(model: keras.Model, batch: Any) -> Traced:
    """Call the model inside a graph that is thrown away."""
    variables = model.trainable_variables
    with tf.GradientTape() as tape:
        outputs = keras.tree.flatten(model(batch, training=True))
        losses = losses_of(model)
        seen = [out for n, out in enumerate(outputs) if n >= len(losses) or losses[n] is not None]
        floating = [tf.reduce_sum(tf.cast(out, tf.float32)) for out in seen if out.dtype.is_floating]
        total = tf.add_n([*floating, *(tf.cast(loss, tf.float32) for loss in model.losses), tf.constant(0.0)])
    gradients = tape.gradient(total, [variable.value for variable in variables])
    unreached = [
        variable for variable, gradient in zip(variables, gradients, strict=True) if gradient is None
    ]
    return Traced(ends=tuple(_end(out) for out in outputs), unreached=tuple(unreached))


def _end(tensor: Any) -> End:
    """Read from the graph what made an output."""
    shape, dtype = (None, *tensor.shape[1:]), tensor.dtype.name
    after: list[str] = []
    while True:
        if private_keras.logits_behind(tensor) is not None:
            break
        if tensor.op.type not in _PASS_ON:
            break
        after.append(tensor.op.type)
        tensor = tensor.op.inputs[0]
    kind = tensor.op.type
    if private_keras.logits_behind(tensor) is not None:
        activation = {"Softmax": "softmax", "Sigmoid": "sigmoid"}.get(kind)
    else:
        known = {"Softmax": "softmax", "Sigmoid": "sigmoid", "Relu": "relu", "Tanh": "tanh"}
        activation = known.get(kind, "linear" if _is_linear(tensor) else None)
    return End(
        activation=activation,
        softmax_over=tensor.shape[-1] if activation == "softmax" else None,
        after=tuple(after),
        shape=shape,
        dtype=dtype,
    )


def _is_linear(tensor: Any) -> bool:
    """Whether it is what a layer of weights computes; a sum or product of other things may hold probabilities."""
    operands = tensor.op.inputs
    if tensor.op.type in _SUMS:
        return any(_is_product(one) and _is_weight(other) for one, other in (operands, operands[::-1]))
    return _is_product(tensor)


def _is_product(tensor: Any) -> bool:
    tensor = _behind(tensor)
    return tensor.op.type in _PRODUCTS and any(_is_weight(operand) for operand in tensor.op.inputs)


def _is_weight(tensor: Any) -> bool:
    return str(_behind(tensor).op.type) == "ReadVariableOp"


def _behind(tensor: Any) -> Any:
    while tensor.op.type in _PASS_ON:
        tensor = tensor.op.inputs[0]
    return tensor


def _specification(subject: Subject) -> Any:
    """Shapes and dtypes of a batch of inputs."""
    size = data.read_batch(subject)["size"] or 2
    if subject.dataset is not None:
        spec = subject.dataset.element_spec
        return spec[0] if isinstance(spec, tuple) else spec
    x, _ = data.arrays_of(subject)

    def spec_of(array: Any) -> tf.TensorSpec:
        kind = tf.as_dtype(dtype_of(array))
        # Keras casts floating arrays to its own precision before the first step.
        dtype = tf.as_dtype(keras.config.floatx()) if kind.is_floating else kind
        return tf.TensorSpec((size, *shape_of(array)[1:]), dtype)

    return keras.tree.map_structure(spec_of, x)
