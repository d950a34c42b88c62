"""The transformations inside a `tf.data.Dataset`."""

from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tensorflow.python.data.ops import debug_mode


def chain(dataset: tf.data.Dataset) -> list[tf.data.Dataset]:
    """The data set and those it is made of, the source first; where several are joined, the first one's.

    The generator of `from_generator` is the last of its chain that counts: what stands before it is machinery.
    """
    found = [dataset]
    while inputs := found[-1]._inputs():
        found.append(inputs[0])
    return found[::-1]


def joined(dataset: tf.data.Dataset) -> list[tf.data.Dataset]:
    """The data sets that one step joins; one for most steps."""
    inputs: list[tf.data.Dataset] = list(dataset._inputs())
    return inputs


def kind(dataset: tf.data.Dataset) -> str:
    """Name of the class of one step, such as `ShuffleDataset`."""
    return type(dataset).__name__.lstrip("_")


def number(dataset: tf.data.Dataset, name: str) -> Any:
    """A constant of one step, such as `batch_size`; None when it has none or it is not constant."""
    value = getattr(dataset, f"_{name}", None)
    if value is None or isinstance(value, (bool, int)):
        return value
    constant = tf.get_static_value(value)
    return None if constant is None else constant.item()


def slices(dataset: tf.data.Dataset) -> Any:
    """The arrays that `from_tensor_slices` took, nested as the elements are; None for other sources."""
    tensors = getattr(dataset, "_tensors", None)
    if kind(dataset) != "TensorSliceDataset" or tensors is None:
        return None
    return tf.nest.pack_sequence_as(dataset.element_spec, tensors)


def operations(dataset: tf.data.Dataset) -> Iterator[str]:
    """Types of the operations in the functions of one step, functions inside them included."""
    for wrapped in dataset._functions():
        graph = wrapped.function.graph.as_graph_def()
        yield from (node.op for node in graph.node)
        yield from (node.op for function in graph.library.function for node in function.node_def)


def is_debugged() -> bool:
    """Whether `tf.data.experimental.enable_debug_mode` was called."""
    return bool(debug_mode.DEBUG_MODE)


def generators(dataset: tf.data.Dataset) -> int | None:
    """How many steps draw from a random generator that goes on from one reading to the next.

    Steps inside functions are left out: each call of a function makes a generator of its own. None when the data set
    cannot be looked into.
    """
    found, repeats_itself, todo = 0, True, [dataset]
    while todo:
        step = todo.pop()
        try:
            todo += joined(step)
        except AttributeError:
            return None
        if kind(step) in ("ShuffleDataset", "RandomDataset"):
            found += 1
            repeats_itself &= number(step, "reshuffle_each_iteration") is False
    return 0 if repeats_itself else found
