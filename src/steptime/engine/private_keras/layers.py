"""Layers and optimizers."""

from typing import Any

import keras


def flatten_layers(model: keras.Model) -> list[keras.layers.Layer]:
    """The model and all layers in it, at any depth; `model.layers` names the outermost ones only."""
    layers: list[keras.layers.Layer] = model._flatten_layers()
    return layers


def optimizer_slots(optimizer: keras.optimizers.Optimizer, variable: Any) -> list[keras.Variable]:
    """The moments an Adam-like optimizer keeps for `variable`.

    Args:
        optimizer: A built `Adam`, `AdamW` or `Adamax`.
        variable: One of the variables it was built with, as Keras or TensorFlow variable.

    Returns:
        First and second moment, and with `amsgrad=True` the largest second moment, each of its shape.
    """
    index = optimizer._get_variable_index(variable)
    if isinstance(optimizer, keras.optimizers.Adamax):
        return [optimizer._m[index], optimizer._u[index]]
    slots = [optimizer._momentums[index], optimizer._velocities[index]]
    if optimizer.amsgrad:
        slots.append(optimizer._velocity_hats[index])
    return slots
