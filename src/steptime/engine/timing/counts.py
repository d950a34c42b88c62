"""Counts what a traced step computes and moves, from its graph; nothing is executed."""

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.function_def_to_graph import function_def_to_graph

from steptime.engine.timing.formulas import flops_of
from steptime.engine.timing.groups import HEAVY, group_of

# These hand a buffer on, or say something about it; no data move.
_MOVES_NOTHING = frozenset((
    "NoOp Const Identity IdentityN ReadVariableOp AssignVariableOp Shape ShapeN Size Rank Reshape Squeeze ExpandDims"
    " StopGradient PreventGradient Placeholder VarHandleOp BroadcastGradientArgs ConcatOffset VariableShape"
    " EnsureShape Range _Arg _Retval StatefulPartitionedCall PartitionedCall While StatelessWhile If StatelessIf"
    " OptionalGetValue OptionalHasValue"
).split())  # fmt: skip
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_LOOPS = ("While", "StatelessWhile")
_CHOICES = ("If", "StatelessIf")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCount:
    """What one operation of a step does.

    Attributes:
        name: Its name in the graph.
        kind: Its type.
        group: As of `groups.group_of`.
        flops: Floating-point operations a step; None when a shape, or how often a loop runs, is not known.
        bytes: Bytes it reads and writes a step; None when a shape is not known.
        weight_bytes: The part of them that are variables' values.
        times: How often it runs a step.
    """

    name: str
    kind: str
    group: str
    flops: int | None
    bytes: int | None
    weight_bytes: int
    times: int


def count_nodes(concrete: Any) -> list[NodeCount]:
    """What each operation of a function does that contributes to its result or changes a variable.

    Args:
        concrete: A concrete function, traced for a batch of fixed size.
    """
    return list(_walk(concrete.graph, 1))


def forward(model: keras.Model, batch: Any, *, training: bool) -> list[NodeCount]:
    """What the forward pass of a model does.

    Args:
        model: A built model.
        batch: Inputs of one batch, or their specification, with a fixed size.
        training: Whether as in training.
    """

    def call(inputs: Any) -> Any:
        return model(inputs, training=training)

    spec = tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), batch)
    return count_nodes(tf.function(call, autograph=False).get_concrete_function(spec))


def total_flops(nodes: list[NodeCount], groups: tuple[str, ...] | None = None) -> int | None:
    """Floating-point operations of all nodes, or of those of some groups; None when a heavy one is not known."""
    chosen = [node for node in nodes if groups is None or node.group in groups]
    if any(node.flops is None and node.group in HEAVY for node in chosen):
        return None
    return sum(node.flops or 0 for node in chosen)


def total_bytes(nodes: list[NodeCount]) -> int | None:
    """Bytes of all nodes; None when more than a tenth of them are not known."""
    unknown = sum(node.bytes is None for node in nodes)
    return None if unknown * 10 > len(nodes) else sum(node.bytes or 0 for node in nodes)


def executed(nodes: list[NodeCount]) -> int:
    """Operations that are executed a step, without constants and the like."""
    return sum(
        node.times for node in nodes if node.kind not in ("Const", "Placeholder", "VarHandleOp", "NoOp")
    )


def _walk(graph: Any, times: int) -> Iterator[NodeCount]:
    for op in _needed(graph):
        group = group_of(op.type)
        inner = _inside(graph, op, times)
        if inner is not None:
            yield from inner
            continue
        flops = flops_of(op, group)
        moved, weights = _moved(op)
        yield NodeCount(
            name=op.name,
            kind=op.type,
            group=group,
            flops=None if flops is None else flops * times,
            bytes=None if moved is None else moved * times,
            weight_bytes=weights * times,
            times=times,
        )


def _inside(graph: Any, op: Any, times: int) -> list[NodeCount] | None:
    """What an operation that holds others executes: of a choice the heavier branch; None for any other operation."""
    if op.type in _CHOICES:
        branches = [
            _branch(graph, op, kept, name)
            for kept, name in (("_true_graph", "then_branch"), ("_false_graph", "else_branch"))
        ]
        walked = [list(_walk(branch, times)) for branch in branches if branch is not None]
        return max(walked, key=_weight, default=None)
    inner = _called(graph, op)
    if inner is None:
        return None
    repeats = _repeats(op)
    nodes = list(_walk(inner, times * (repeats or 1)))
    if repeats is None:
        # Once is the least; for the products of a step that would be far off.
        return [dataclasses.replace(n, flops=None) if n.group in HEAVY else n for n in nodes]
    return nodes


def _weight(nodes: list[NodeCount]) -> float:
    heavy = total_flops(nodes, HEAVY)
    return math.inf if heavy is None else heavy


def _needed(graph: Any) -> list[Any]:
    """Operations on which the outputs or a change of state depend: TensorFlow prunes the others."""
    pending = [tensor.op for tensor in graph.outputs] + list(getattr(graph, "control_outputs", ()))
    seen: set[Any] = set()
    while pending:
        op = pending.pop()
        if op not in seen:
            seen.add(op)
            pending += [tensor.op for tensor in op.inputs] + list(op.control_inputs)
    return [op for op in graph.get_operations() if op in seen]


def _called(graph: Any, op: Any) -> Any:
    """The graph of the function that an operation calls; of a loop its body; None for any other operation."""
    if op.type not in (*_CALLS, *_LOOPS):
        return None
    # TensorFlow keeps a loop's graph with what Python knew of its shapes; its definition has lost that.
    return _branch(graph, op, "_body_graph", "body" if op.type in _LOOPS else "f")


def _branch(graph: Any, op: Any, kept: str, attribute: str) -> Any:
    """The graph of one of the functions of an operation: as it was traced, else from its definition."""
    traced = getattr(op, kept, None)
    if traced is not None:
        return traced
    name = op.get_attr(attribute).name
    definition = next((f for f in graph.as_graph_def().library.function if f.signature.name == name), None)
    if definition is None:
        return None
    given = op.inputs[1:] if op.type in _CHOICES else op.inputs
    with graph.as_default():
        return function_def_to_graph(definition, input_shapes=[tensor.shape for tensor in given])


def _repeats(op: Any) -> int | None:
    """How often a loop's body runs: its bound where the graph holds it, as for recurrent layers; else None."""
    if op.type not in _LOOPS:
        return 1
    bound = _static(op.inputs[1]) if len(op.inputs) > 1 else None
    return int(bound) if bound is not None and np.ndim(bound) == 0 and bound > 0 else None


def _static(tensor: Any) -> Any:
    """The value of a tensor as far as it follows from shapes; None when it does not."""
    value = tf.get_static_value(tensor)
    op = tensor.op
    if value is None and op.type in ("Identity", "Cast", "Max", "EnsureShape"):
        value = _static(op.inputs[0])
        return None if value is None else np.max(value)
    if value is None and op.type == "StridedSlice":
        whole, first = _static(op.inputs[0]), _static(op.inputs[1])
        return None if whole is None or first is None else whole[int(first[0])]
    return value


def _moved(op: Any) -> tuple[int | None, int]:
    if op.type in _MOVES_NOTHING:
        return 0, 0
    read = [tensor for tensor in op.inputs if tensor.dtype not in (tf.resource, tf.variant)]
    sizes = [_bytes(tensor) for tensor in (*read, *op.outputs)]
    weights = sum(_bytes(tensor) or 0 for tensor in read if _is_weight(tensor))
    if op.type in ("AssignAddVariableOp", "AssignSubVariableOp"):
        # The variable is read and written, the value read.
        value = _bytes(op.inputs[1])
        return None if value is None else 3 * value, 2 * (value or 0)
    if any(size is None for size in sizes):
        return None, weights
    return sum(size or 0 for size in sizes), weights


def _bytes(tensor: Any) -> int | None:
    if tensor.dtype in (tf.resource, tf.variant, tf.string):
        return 0
    count = tensor.shape.num_elements()
    return None if count is None else int(count) * int(tensor.dtype.size)


def _is_weight(tensor: Any) -> bool:
    """Whether a tensor is a variable's value, perhaps in another precision."""
    op = tensor.op
    while op.type in ("Identity", "Cast") and op.inputs:
        op = op.inputs[0].op
    return bool(op.type == "ReadVariableOp")
