"""An estimate of the memory that a training step takes, for advice after memory ran out."""

import math
import sys
from typing import Any

import keras
import psutil
import tensorflow as tf

from steptime.engine import memory, private_keras

# The value of each layer's output is kept for the backward pass, and its gradient lives beside it for a while.
_COPIES = 2
# The rest is for workspaces, input pipelines and fragmentation.
_USABLE_SHARE = 0.9


def available_bytes(device: str) -> int:
    """Memory that this process can still get on ``CPU:0`` or ``GPU:N``, in bytes.

    On the host it is the least of what the system has free and what a limit on the address space leaves
    (``ulimit -v``; getrlimit(2)).
    """
    name = f"/{device.removeprefix('/')}"
    free = memory.free_bytes(name)
    if name == "/CPU:0" and sys.platform != "win32":
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            free = min(free, limit - psutil.Process().memory_info().vms)
    return max(free, 0)


def bytes_per_sample(model: keras.Model) -> int | None:
    """Memory of a training step for one sample: inputs and outputs of all layers, and as much for their gradients.

    An upper estimate where operations are fused or done in place, a lower one where layers keep more than their
    output, such as attention and recurrent layers.

    Returns:
        Bytes; None when no layer tells its shape.
    """
    total = sum(_output_bytes(layer) for layer in private_keras.flatten_layers(model))
    return _COPIES * total if total else None


def largest_batch(model: keras.Model, free_bytes: int) -> int | None:
    """The largest batch whose step would fit into `free_bytes`, by estimate; None when it cannot be told.

    Args:
        model: The model; weights and the optimizer's state are taken to be allocated already. One gradient of
            every trainable weight comes on top.
        free_bytes: Memory that is left.
    """
    per_sample = bytes_per_sample(model)
    if per_sample is None:
        return None
    gradients = sum(math.prod(v.shape) * tf.as_dtype(v.dtype).size for v in model.trainable_variables)
    return max(int((free_bytes * _USABLE_SHARE - gradients) // per_sample), 0)


def _output_bytes(layer: keras.layers.Layer) -> int:
    try:
        outputs: Any = tf.nest.flatten(layer.output)
    except (AttributeError, ValueError):  # not called, or called several times
        return 0
    size = int(tf.as_dtype(layer.compute_dtype).size)
    return size * int(sum(math.prod(d for d in output.shape[1:] if d is not None) for output in outputs))
