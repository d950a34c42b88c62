"""The graph of a functional model: which operation made which tensor."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import keras
from keras.src.models.functional import Functional


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One call of a layer or operation inside a functional model.

    Attributes:
        operation: The layer, nested model or `keras.ops` operation.
        inputs: Symbolic tensors it was called with.
        outputs: Symbolic tensors it returned.
        arguments: All positional arguments of the call, constants included.
    """

    operation: Any
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A functional model as nodes in the order of execution, with its inputs and outputs."""

    nodes: tuple[Node, ...]
    inputs: tuple[Any, ...]
    outputs: tuple[Any, ...]

    def producer(self, tensor: Any) -> Node | None:
        """The node that made a symbolic tensor."""
        return next((node for node in self.nodes if any(out is tensor for out in node.outputs)), None)

    def consumers(self, tensor: Any) -> Iterator[Node]:
        """The nodes that take a symbolic tensor."""
        return (node for node in self.nodes if any(taken is tensor for taken in node.inputs))


def graph_of(model: Any) -> Graph | None:
    """The graph of a functional or built sequential model; None for a model whose `call` is Python."""
    functional = model._functional if isinstance(model, keras.Sequential) else model
    if not isinstance(functional, Functional) or type(functional).call is not Functional.call:
        return None
    by_depth = functional._nodes_by_depth
    nodes = [node for depth in sorted(by_depth, reverse=True) for node in by_depth[depth]]
    return Graph(
        nodes=tuple(
            Node(
                operation=node.operation,
                inputs=tuple(node.input_tensors),
                outputs=tuple(node.output_tensors),
                arguments=tuple(node.arguments.args),
            )
            for node in nodes
            if not node.is_input
        ),
        inputs=tuple(functional.inputs),
        outputs=tuple(functional.outputs),
    )


def changed_trainable(model: keras.Model) -> tuple[list[Any], list[Any]]:
    """Variables that the optimizer was built for and that no longer train, and those that train without it.

    Keras builds the optimizer with the first step after compile, for what is trainable then. A model that was
    loaded, or compiled with an optimizer that is in use, has a built one as well, but no step yet: its first step will
    leave out what is frozen by then.
    """
    optimizer = model.optimizer
    if isinstance(optimizer, keras.optimizers.LossScaleOptimizer):
        optimizer = optimizer.inner_optimizer
    if optimizer is None or not optimizer.built:
        return [], []
    known = {id(variable): variable for variable in optimizer._trainable_variables}
    now = {id(variable): variable for variable in model.trainable_variables}
    has_step = model.train_function is not None
    return [known[key] for key in known if has_step and key not in now], [
        now[key] for key in now if key not in known
    ]


def forget_losses(model: keras.Model) -> None:
    """Drops the losses that layers added in their last call, as the next call does."""
    model._clear_losses()


def logits_behind(tensor: Any) -> Any:
    """What a softmax or sigmoid was applied to, as Keras' losses find it; None when they can't."""
    return getattr(tensor, "_keras_logits", None)
