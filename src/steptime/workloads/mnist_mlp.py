"""A small dense network on MNIST: a step so short that overhead dominates it."""

import keras
from keras import layers

from steptime.workloads.mnist import Arrays, load_mnist


def create_model() -> keras.Model:
    """Return the network for uint8 images of shape (28, 28); its output is 10 logits."""
    return keras.Sequential(
        [
            layers.Input((28, 28), dtype="uint8"),
            layers.Rescaling(1 / 255),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10, dtype="float32"),
        ],
        name="mnist_mlp",
    )


def load_data() -> tuple[Arrays, Arrays]:
    """Return MNIST: uint8 images of shape (n, 28, 28), uint8 labels of shape (n,)."""
    return load_mnist()
