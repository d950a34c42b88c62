"""Facts of the outputs: what they end in, and which loss sees them."""

import math
from dataclasses import dataclass
from typing import Any

import keras

from steptime.engine import private_keras
from steptime.engine.inspection import trace
from steptime.engine.inspection.losses import dtype_of_loss, loss_name, losses_of, takes_logits
from steptime.engine.inspection.subject import NotKnown, Subject

# These hand on the values of a softmax, but in another tensor, behind which Keras finds no logits.
_SAME_VALUES = ("Reshape", "Flatten", "Permute", "Squeeze", "ExpandDims", "Transpose")
# These hand on the very tensor, at least in training's last step.
_SAME_TENSOR = ("Identity",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an output ends.

    Attributes:
        activation: Name of the last activation; None when it can't be told.
        after: Names of the layers behind it.
        softmax_over: Over how many units a softmax runs; None for another activation, or when it can't be told.
    """

    activation: str | None
    after: tuple[str, ...] = ()
    softmax_over: int | None = None


def read_heads(subject: Subject) -> list[dict[str, Any]]:
    """Each output with its last activation and its loss.

    Raises:
        NotKnown: The step is the person's own, so outputs and losses need not meet as compiled.
    """
    model = subject.model
    for name in ("train_step", "compute_loss"):
        if private_keras.overrides(model, name):
            raise NotKnown(
                f"{type(model).__name__} has its own {name}, so which loss an output meets is not known"
            )
    graph = private_keras.graph_of(model)
    if graph is not None:
        ends = [_ending(graph, tensor) for tensor in graph.outputs]
        tensors = [(tuple(t.shape), str(t.dtype)) for t in graph.outputs]
    else:
        traced = trace.traced(subject)
        ends = [
            Ending(activation=end.activation, after=end.after, softmax_over=end.softmax_over)
            for end in traced.ends
        ]
        tensors = [(end.shape, end.dtype) for end in traced.ends]
    names = getattr(model, "output_names", None) or [f"output_{n}" for n in range(len(ends))]
    losses = losses_of(model) if len(losses_of(model)) == len(ends) else [model.loss] * len(ends)
    return [
        {
            "name": name,
            "units": shape[-1] if len(shape) > 1 else 1,
            "rank": len(shape),
            "dtype": dtype,
            "activation": end.activation,
            "after": list(end.after),
            "softmax_over": end.softmax_over,
            "rescued": end.activation in ("softmax", "sigmoid")
            and not end.after
            and dtype == dtype_of_loss(loss),
            "loss": loss_name(loss),
            "from_logits": takes_logits(loss),
        }
        for name, end, (shape, dtype), loss in zip(names, ends, tensors, losses, strict=False)
    ]


def _ending(graph: "private_keras.Graph", tensor: Any, after: tuple[str, ...] = ()) -> Ending:
    """Walk back from an output to its last activation."""
    node = graph.producer(tensor)
    if node is None:  # an input is an output
        return Ending(activation=None)
    operation = node.operation
    kind = type(operation).__name__
    inner = private_keras.graph_of(operation) if isinstance(operation, keras.Model) else None
    if inner is not None:
        position = next(n for n, out in enumerate(node.outputs) if out is tensor)
        return _ending(inner, inner.outputs[position], after)
    if not type(operation).__module__.startswith("keras."):
        return Ending(activation=None)
    if kind in _SAME_TENSOR or (kind == "Activation" and _activation_of(operation) == "linear"):
        return _ending(graph, node.inputs[0], after)
    if kind in _SAME_VALUES:
        return _ending(graph, node.inputs[0], (operation.name, *after))
    if kind == "TimeDistributed":
        return Ending(
            activation=_activation_of(operation.layer),
            after=(operation.name, *after),
            softmax_over=tensor.shape[-1] if isinstance(operation.layer, keras.layers.Dense) else None,
        )
    activation = _activation_of(operation)
    over = _softmax_over(operation, tensor.shape) if activation == "softmax" else None
    return Ending(activation=activation, after=after, softmax_over=over)


def _softmax_over(operation: Any, shape: Any) -> int | None:
    """Over how many units a softmax runs: those of the last axis, unless it is told another one."""
    axes = getattr(operation, "axis", -1) if type(operation).__name__ == "Softmax" else -1
    sizes = [shape[axis] for axis in (axes if isinstance(axes, (tuple, list)) else (axes,))]
    return None if None in sizes else math.prod(sizes)


def _activation_of(operation: Any) -> str | None:
    kind = type(operation).__name__
    if kind in ("Softmax", "Sigmoid", "ReLU"):
        return kind.lower()
    activation = getattr(operation, "activation", None)
    return getattr(activation, "__name__", None)
