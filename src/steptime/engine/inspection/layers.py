"""Facts of layers, optimizer and the way steps are executed."""

import math
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.inspection import data
from steptime.engine.inspection.sample import leaves, shape_of
from steptime.engine.inspection.subject import DoesNotApply, NotKnown, Subject
from steptime.engine.private_keras import datasets


def read_eager(subject: Subject) -> dict[str, bool]:
    """Every switch that makes steps run in Python."""
    return {
        "run_eagerly": bool(subject.model.run_eagerly),
        "functions": bool(tf.config.functions_run_eagerly()),
        "data_debug_mode": datasets.is_debugged(),
    }


def read_gpus(subject: Subject) -> int:  # noqa: ARG001 - the machine's fact, asked like all others
    """Number of GPUs that TensorFlow sees."""
    return len(tf.config.list_physical_devices("GPU"))


def read_xla(subject: Subject) -> dict[str, Any]:
    """Whether XLA compiles the step, and which layers are against it."""
    model = subject.model
    blocking = [layer for layer in private_keras.flatten_layers(model) if not layer.supports_jit]
    return {
        "used": bool(model.jit_compile),
        # cuDNN's LSTM and GRU are no XLA operations; nothing is lost by that.
        "blocking": [
            f"{layer.name} ({type(layer).__name__})"
            for layer in blocking
            if not isinstance(layer, (keras.layers.LSTM, keras.layers.GRU))
        ],
    }


def read_trainable(subject: Subject) -> dict[str, Any]:
    """Layers whose `trainable` changed after the first step was compiled; until then Keras follows the change."""
    frozen, unfrozen = private_keras.changed_trainable(subject.model)
    return {
        "frozen": list(dict.fromkeys(variable.path.rpartition("/")[0] for variable in frozen)),
        "unfrozen": list(dict.fromkeys(variable.path.rpartition("/")[0] for variable in unfrozen)),
    }


def read_parameters(subject: Subject) -> int:
    """Number of weights."""
    subject.layers()
    return int(subject.model.count_params())


def read_optimizer(subject: Subject) -> dict[str, Any]:
    """The optimizer behind loss scaling, and which layers compute in float16."""
    optimizer = subject.model.optimizer
    if optimizer is None:
        raise DoesNotApply("the model has no optimizer")
    is_scaled = isinstance(optimizer, keras.optimizers.LossScaleOptimizer)
    inner = optimizer.inner_optimizer if is_scaled else optimizer
    momentum = getattr(inner, "momentum", None)
    return {
        "class": type(inner).__name__,
        "is_scaled": is_scaled or bool(getattr(inner, "loss_scale_factor", None)),
        "momentum": float(momentum) if isinstance(momentum, (int, float)) else None,
        "float16_layers": [
            layer.name
            for layer in subject.layers()
            if layer.compute_dtype == "float16"
            and layer.trainable_weights
            and not isinstance(layer, keras.Model)
        ],
    }


def read_batch_norms(subject: Subject) -> list[dict[str, Any]]:
    """Batch normalisations that train; frozen ones use their averages and are left out."""
    return [
        {
            "layer": layer.name,
            "momentum": float(layer.momentum),
            # Trained averages are never exactly what they start with.
            "is_fresh": not np.any(keras.ops.convert_to_numpy(layer.moving_mean)),
            "positions": _positions(layer),
        }
        for layer in subject.layers()
        if isinstance(layer, keras.layers.BatchNormalization) and layer.trainable
    ]


def _positions(layer: Any) -> int | None:
    """How many values of a channel one sample gives: 1 for a vector, the pixels of a map."""
    try:
        shape = tuple(layer.input.shape)
    except (AttributeError, ValueError):  # it was called in Python, or in several places
        shape = (None,) * (layer.input_spec.ndim or 0)
    axis = layer.axis % len(shape) if shape else 0
    sizes = [size for place, size in enumerate(shape) if place not in (0, axis)]
    return None if None in sizes or not shape else math.prod(sizes)


def read_flat_dense(subject: Subject) -> list[dict[str, Any]]:
    """Each Dense that takes a Flatten's output, at any depth."""
    subject.layers()
    graphs = [subject.graph()]
    found = []
    while graphs:
        graph = graphs.pop()
        for node in graph.nodes:
            inner = (
                private_keras.graph_of(node.operation) if isinstance(node.operation, keras.Model) else None
            )
            graphs += [inner] if inner is not None else []
            before = graph.producer(node.inputs[0]) if node.inputs else None
            if type(node.operation) is keras.layers.Dense and before is not None:
                behind = _flatten_behind(graph, before)
                if behind is not None:
                    kernel = node.operation.kernel.shape
                    found.append({
                        "layer": node.operation.name, "behind": behind, "inputs": kernel[0], "units": kernel[1],
                        "parameters": kernel[0] * kernel[1],
                    })  # fmt: skip
    return found


def _flatten_behind(graph: "private_keras.Graph", node: "private_keras.Node") -> str | None:
    """Name of the Flatten that a node is, or that stands before a Dropout."""
    while isinstance(node.operation, (keras.layers.Dropout, keras.layers.BatchNormalization)):
        before = graph.producer(node.inputs[0])
        if before is None:
            return None
        node = before
    return str(node.operation.name) if isinstance(node.operation, keras.layers.Flatten) else None


def read_embeddings(subject: Subject) -> list[dict[str, Any]]:
    """Each trainable Embedding, with how many ids a batch looks up at most where there is one input."""
    tables = [
        layer for layer in subject.layers() if isinstance(layer, keras.layers.Embedding) and layer.trainable
    ]
    ids = _ids_per_batch(subject) if tables else None
    return [
        {
            "layer": layer.name, "rows": int(layer.input_dim), "width": int(layer.output_dim),
            "bytes": int(layer.input_dim) * int(layer.output_dim) * 4, "ids_per_batch": ids,
        }
        for layer in tables
    ]  # fmt: skip


def _ids_per_batch(subject: Subject) -> int | None:
    try:
        inputs = leaves(data.arrays_of(subject)[0])
    except NotKnown:
        return None
    size = data.read_batch(subject)["size"]
    if len(inputs) != 1 or size is None:
        return None
    return int(size * np.prod(shape_of(inputs[0][1])[1:], dtype=np.int64))


def read_rnns(subject: Subject) -> list[dict[str, Any]]:
    """Each LSTM and GRU, with what excludes cuDNN's kernel (`cudnn_ok` in Keras' TensorFlow backend)."""
    return [
        {"layer": layer.name, "class": type(layer).__name__, "why_not": _why_not_cudnn(layer)}
        for layer in subject.layers()
        if type(layer) in (keras.layers.LSTM, keras.layers.GRU)
    ]


def _why_not_cudnn(layer: Any) -> list[str]:
    activation = getattr(layer.activation, "__name__", "own")
    recurrent = getattr(layer.recurrent_activation, "__name__", "own")
    reasons = {
        f"activation={activation}": activation != "tanh",
        f"recurrent_activation={recurrent}": recurrent != "sigmoid",
        f"recurrent_dropout={layer.recurrent_dropout:g}": layer.recurrent_dropout > 0,
        "unroll=True": layer.unroll,
        "use_bias=False": not layer.use_bias,
        "reset_after=False": isinstance(layer, keras.layers.GRU) and not layer.reset_after,
        "use_cudnn=False": layer.use_cudnn is False,
    }
    return [words for words, holds in reasons.items() if holds]
