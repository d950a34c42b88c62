"""Counts how often Python traces the training step, and for which shapes."""

import contextlib
from collections.abc import Iterator
from typing import Any

import keras
import tensorflow as tf

from steptime.engine.timing.source import present

_MOST_SHAPES = 32


class TraceCounter:
    """Listens to a model's `train_step`, which Python enters only while it is traced, unless it runs eagerly."""

    def __init__(self) -> None:
        self.count = 0
        self.shapes: list[str] = []

    @contextlib.contextmanager
    def listening(self, model: keras.Model) -> Iterator[None]:
        """Count inside; the model is left as it was."""
        original = model.train_step

        def train_step(*arguments: Any, **keywords: Any) -> Any:
            if not tf.executing_eagerly():
                self.count += 1
                if len(self.shapes) < _MOST_SHAPES:
                    self.shapes.append(_shape_of(arguments))
            return original(*arguments, **keywords)

        # Past Keras' attribute tracking, on the instance: the class stays what it is.
        vars(model)["train_step"] = train_step
        try:
            yield
        finally:
            vars(model).pop("train_step", None)


def _shape_of(arguments: tuple[Any, ...]) -> str:
    tensors = [leaf for leaf in present(arguments) if hasattr(leaf, "shape")]
    return str(tuple(tensors[0].shape)) if tensors else "unknown"
