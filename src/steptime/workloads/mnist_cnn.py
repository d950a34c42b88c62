"""The tutorial's convolutional network on MNIST, with a logits head and the loss that belongs to it."""

import keras
from keras import layers

from steptime.workloads.mnist import Arrays, load_mnist


def create_model() -> keras.Model:
    """Return the network for uint8 images of shape (28, 28, 1); its output is 10 logits."""
    return keras.Sequential(
        [
            layers.Input((28, 28, 1), dtype="uint8"),
            layers.Rescaling(1 / 255),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu"),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            # Float32 logits keep softmax and loss exact under mixed precision.
            layers.Dense(10, dtype="float32"),
        ],
        name="mnist_cnn",
    )


def load_data() -> tuple[Arrays, Arrays]:
    """Return MNIST with a channel axis: uint8 images of shape (n, 28, 28, 1), uint8 labels of shape (n,)."""
    (x_train, y_train), (x_test, y_test) = load_mnist()
    return (x_train[..., None], y_train), (x_test[..., None], y_test)
