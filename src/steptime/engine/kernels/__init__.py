"""Exact kernels: stock Keras layers and optimizers executed by TensorFlow's fused operations.

Keras 3 on TensorFlow spells batch normalisation out as about 37 small operations and Adam as about 22 for
each variable. Without XLA every one of them is launched by the host. TensorFlow has one operation for each
of the two with the same formula, and this package puts it in place while a training step is traced.

Nothing of the person's is changed for good: while the context of `substitute` is open, the public methods
`call` of a layer and `apply` and `update_step` of an optimizer are shadowed on the instance; when it closes
the shadows are removed. Weights, slots, variable names, class and saved file stay what they were.
"""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import keras
import tensorflow as tf

from steptime.engine import private_keras
from steptime.engine.kernels import adam
from steptime.engine.kernels import batch_normalization as batch_normalization_kernel

Methods = Mapping[str, Callable[..., Any]]


@contextlib.contextmanager
def substitute(model: keras.Model, *, batch_normalization: bool | None = None) -> Iterator[tuple[str, ...]]:
    """Traces `model.train_step` with TensorFlow's fused operations where they compute the same.

    Only instances of exactly `keras.layers.BatchNormalization`, `keras.optimizers.Adam`, `AdamW` and
    `Adamax` are touched, wherever they are nested; a subclass may mean something else and is left alone.
    What turns out not to apply while tracing (a mask, a sparse gradient, a frozen layer) runs stock code.
    After a few steps weights differ from stock by a few 1e-7: the operations are the same, their rounding
    is not.

    Args:
        model: The model about to be traced, compiled, or with its optimizers as attributes.
        batch_normalization: Whether layers are substituted too; None: if TensorFlow has a GPU. On two CPU
            cores forward and backward pass together took 0.55 to 1.24 times as long by the stock layer as
            by the fused one (float32, 32 to 256 rows, 16 to 512 channels), and a small ResNet lost 15 %:
            there is no launching to be saved, and the kernel uses the cores less well when channels are few.

    Yields:
        What was substituted, such as `("BatchNormalization x 5", "Adam")`; empty when nothing applies.
    """
    if batch_normalization is None:
        batch_normalization = bool(tf.config.list_logical_devices("GPU"))
    found = [*(_layers(model) if batch_normalization else ()), *_optimizers(model)]
    with contextlib.ExitStack() as restore:
        for target, methods in found:
            for name, method in methods.items():
                # Written to the instance's dictionary, past Keras' attribute tracking, which would record it.
                vars(target)[name] = method
                restore.callback(vars(target).pop, name, None)
        names = Counter(type(target).__name__ for target, _ in found)
        yield tuple(name if count == 1 else f"{name} x {count}" for name, count in names.items())


def _layers(model: keras.Model) -> Iterator[tuple[object, Methods]]:
    for layer in private_keras.flatten_layers(model):
        methods = batch_normalization_kernel.fused_methods(layer)
        if methods and not methods.keys() & vars(layer).keys():
            yield layer, methods


def _optimizers(model: keras.Model) -> Iterator[tuple[object, Methods]]:
    if _is_distributed(model):
        return
    for optimizer in _optimizers_of(model):
        methods = adam.fused_methods(optimizer)
        if methods and not methods.keys() & vars(optimizer).keys():
            yield optimizer, methods


def _is_distributed(model: keras.Model) -> bool:
    """Whether the variables are spread by `tf.distribute`; a fused update takes one plain variable."""
    with model.distribute_strategy.scope():
        return bool(tf.distribute.has_strategy())


def _optimizers_of(model: keras.Model) -> list[keras.optimizers.Optimizer]:
    """The compiled optimizer and those kept as attributes (GANs have two), freed of loss scaling."""
    candidates = [getattr(model, "optimizer", None), *vars(model).values()]
    unwrapped = [
        candidate.inner_optimizer if type(candidate) is keras.optimizers.LossScaleOptimizer else candidate
        for candidate in candidates
    ]
    return list({id(o): o for o in unwrapped if isinstance(o, keras.optimizers.Optimizer)}.values())
