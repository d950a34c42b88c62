"""What a model consists of and what its step computes and moves, without executing anything."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.feeds.feed import element_spec
from steptime.engine.timing import counts
from steptime.engine.timing.assemble import Arms
from steptime.engine.timing.groups import HEAVY
from steptime.engine.timing.source import present
from steptime.record.profile import Counts, Layer
from steptime.worker.digest import Work
from steptime.worker.owners import Owners, inside


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """A model and its step in numbers.

    Attributes:
        layers: Its layers, in order.
        counts: Totals; None when the step could not be traced for one size of batch.
        work: What each operation of the step computes and moves, by name.
        reasons: What is not known, and why.
    """

    layers: tuple[Layer, ...]
    counts: Counts | None
    work: Mapping[str, Work]
    reasons: Mapping[str, str]


def take_inventory(model: keras.Model, arms: Arms) -> Inventory:
    """Count what a model and its training step do for one batch.

    Args:
        model: The model, whose step has run.
        arms: Give a batch, and the step.
    """
    if arms.batch is None or arms.function is None:
        why = arms.reasons.get("resident", "there is no batch to count with")
        return Inventory(layers=layers_of(model, ()), counts=None, work={}, reasons={"counts": why})
    inputs = arms.batch[0] if isinstance(arms.batch, tuple) else arms.batch
    reasons: dict[str, str] = {}
    forward: list[counts.NodeCount] = []
    try:
        forward = counts.forward(model, inputs, training=False)
    except Exception as error:  # noqa: BLE001 - a person's model may not be callable like that; the rest goes on
        reasons["counts.forward_flops"] = _one_line(error)
    try:
        step = arms.function.traced(element_spec(arms.batch, arms.batch_size)).concrete
        nodes = counts.count_nodes(step)
    except Exception as error:  # noqa: BLE001 - nor may its step
        reasons["counts"] = _one_line(error)
        return Inventory(layers=layers_of(model, forward), counts=None, work={}, reasons=reasons)
    return Inventory(
        layers=layers_of(model, forward),
        counts=_counts(model, arms, forward, nodes),
        work={inside(node.name): Work(flops=node.flops, bytes=node.bytes) for node in nodes},
        reasons=reasons,
    )


def layers_of(model: keras.Model, forward: Sequence[counts.NodeCount]) -> tuple[Layer, ...]:
    """Describe the layers that have no layers inside.

    Args:
        model: The model.
        forward: Its forward pass; empty when it is not known.
    """
    all_layers = [layer for layer in private_keras.flatten_layers(model) if layer is not model]
    inner = [layer for layer in all_layers if not getattr(layer, "layers", None)]
    owners = Owners([layer.name for layer in inner], {node.name for node in forward}, "")
    own: dict[str, list[counts.NodeCount]] = {}
    for node in forward:
        owner = owners.of(node.name).layer
        if owner is not None:
            own.setdefault(owner, []).append(node)
    return tuple(
        Layer(
            name=layer.name,
            kind=type(layer).__name__,
            parameters=int(layer.count_params()) if layer.built else 0,
            output_shape=_output_shape(layer),
            dtype=str(getattr(layer, "compute_dtype", "?")),
            width=_width(layer),
            supports_xla=bool(getattr(layer, "supports_jit", True)),
            forward_flops=counts.total_flops(own[layer.name]) if layer.name in own else None,
        )
        for layer in inner
    )


def _counts(
    model: keras.Model, arms: Arms, forward: list[counts.NodeCount], nodes: list[counts.NodeCount]
) -> Counts:
    optimizer = str(getattr(model.optimizer, "name", ""))
    owners = Owners((), {node.name for node in nodes}, optimizer)
    updating = [node for node in nodes if owners.of(node.name).role == "update"]
    read = sum(node.weight_bytes for node in nodes if owners.of(node.name).role != "update")
    weights = _variable_bytes(model.trainable_variables)
    state = _variable_bytes(getattr(model.optimizer, "variables", ()))
    batch = sum(_tensor_bytes(tensor) for tensor in present(arms.batch))
    update_bytes = counts.total_bytes(updating)
    return Counts(
        forward_flops=counts.total_flops(forward) if forward else None,
        step_flops=counts.total_flops(nodes),
        heavy_flops=counts.total_flops(nodes, HEAVY),
        step_bytes=counts.total_bytes(nodes),
        # The gradients are written once, by the backward pass.
        fixed_bytes=None if update_bytes is None else update_bytes + read + weights,
        least_bytes=batch + 2 * (weights + state),
        operations=counts.executed(nodes),
    )


def _variable_bytes(variables: Sequence[Any]) -> int:
    return sum(
        int(tf.TensorShape(v.shape).num_elements() or 0) * tf.as_dtype(v.dtype).size for v in variables
    )


def _tensor_bytes(tensor: tf.Tensor) -> int:
    return 0 if tensor.dtype == tf.string else int(tf.size(tensor)) * int(tensor.dtype.size)


def _output_shape(layer: keras.layers.Layer) -> str:
    try:
        shapes = [tensor.shape for tensor in tf.nest.flatten(layer.output)]
    except (AttributeError, ValueError):  # a layer of a subclassed model has no symbolic output
        return "?"
    return ", ".join(str(tuple(shape)) for shape in shapes)


def _width(layer: keras.layers.Layer) -> int | None:
    for attribute in ("units", "filters", "output_dim"):
        value = getattr(layer, attribute, None)
        if isinstance(value, int):
            return value
    return None


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
