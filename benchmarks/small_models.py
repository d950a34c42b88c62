"""The three models that every framework is measured with. Pure Keras, for any backend."""

import keras
from keras import layers


def mlp() -> keras.Model:
    return compiled(
        keras.Sequential(
            [
                layers.Input((28, 28)),
                layers.Flatten(),
                layers.Dense(64, activation="relu"),
                layers.Dense(10),
            ]
        )
    )


def lstm() -> keras.Model:
    return compiled(keras.Sequential([layers.Input((28, 28)), layers.LSTM(32), layers.Dense(10)]))


def cnn() -> keras.Model:
    return compiled(
        keras.Sequential(
            [
                layers.Input((28, 28)),
                layers.Reshape((28, 28, 1)),
                layers.Conv2D(32, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(64, 3, activation="relu"),
                layers.MaxPooling2D(),
                layers.Conv2D(64, 3, activation="relu"),
                layers.Flatten(),
                layers.Dense(64, activation="relu"),
                layers.Dense(10),
            ]
        )
    )


SMALL_MODELS = {"mlp-32": mlp, "lstm-32": lstm, "cnn-32": cnn}


def compiled(model: keras.Model) -> keras.Model:
    """For class numbers as labels and logits as output."""
    model.compile(
        keras.optimizers.Adam(),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model
