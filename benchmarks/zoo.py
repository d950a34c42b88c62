"""Fourteen trainings as people write them: what is built, on what data, in what batches.

Images of digits are MNIST, as packaged with steptime; everything else is drawn from a seeded generator, since
only the time of a step is measured with it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

from small_models import cnn, compiled, lstm, mlp
from steptime.workloads.mnist import load_mnist


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One training.

    Attributes:
        name: Unique.
        what: One line for people.
        build: Makes the compiled model.
        data: Takes a number of rows, returns `fit`'s arguments for its data, batch size included.
        rows: Examples in an epoch.
        batch: Examples in a step.
        epochs: Epochs of the second, steady call: ten, as the tutorial trains, where steps are so short that
            three would end before a longer compilation can pay.
    """

    name: str
    what: str
    build: Callable[[], keras.Model]
    data: Callable[[int], dict[str, Any]]
    rows: int
    batch: int
    epochs: int = 3


def digits(batch: int) -> Callable[[int], dict[str, Any]]:
    """MNIST as float32 in [0, 1], shape (rows, 28, 28), with int32 labels."""

    def data(rows: int) -> dict[str, Any]:
        (images, labels), _ = load_mnist()
        x = images[:rows].astype(np.float32) / np.float32(255)
        return {"x": x, "y": labels[:rows].astype(np.int32), "batch_size": batch}

    return data


def gru() -> keras.Model:
    return compiled(keras.Sequential([layers.Input((28, 28)), layers.GRU(32), layers.Dense(10)]))


def dropout_mlp() -> keras.Model:
    hidden = [layers.Dense(128, activation="relu"), layers.Dropout(0.2), layers.Dense(64, activation="relu")]
    return compiled(
        keras.Sequential(
            [layers.Input((28, 28)), layers.Flatten(), *hidden, layers.Dropout(0.2), layers.Dense(10)]
        )
    )


def autoencoder() -> keras.Model:
    model = keras.Sequential(
        [
            layers.Input((28, 28)),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(32, activation="relu"),
            layers.Dense(128, activation="relu"),
            layers.Dense(784, activation="sigmoid"),
            layers.Reshape((28, 28)),
        ]
    )
    model.compile(keras.optimizers.Adam(), "binary_crossentropy")
    return model


def digits_twice(rows: int) -> dict[str, Any]:
    data = digits(128)(rows)
    return {**data, "y": data["x"]}


def _convolution(x: Any, width: int, stride: int = 1) -> Any:
    x = layers.Conv2D(width, 3, stride, padding="same", use_bias=False)(x)
    return layers.BatchNormalization()(x)


def resnet() -> keras.Model:
    """Three residual blocks, nine batch normalisations."""
    inputs = layers.Input((24, 24, 3))
    x = layers.ReLU()(_convolution(inputs, 16))
    for width, stride in ((16, 1), (32, 2), (64, 2)):
        shortcut = x
        if stride > 1:
            shortcut = layers.BatchNormalization()(layers.Conv2D(width, 1, stride, use_bias=False)(x))
        x = _convolution(layers.ReLU()(_convolution(x, width, stride)), width)
        x = layers.ReLU()(layers.Add()([x, shortcut]))
    return compiled(keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling2D()(x))))


def images(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(rows, 24, 24, 3)).astype(np.float32)
    return {"x": x, "y": rng.integers(0, 10, rows).astype(np.int32), "batch_size": 32}


class AddPositions(layers.Layer):
    """Adds a learned vector to each position."""

    def build(self, input_shape):
        self.positions = self.add_weight(shape=input_shape[1:], initializer="uniform", name="positions")

    def call(self, inputs):
        return inputs + self.positions


def transformer() -> keras.Model:
    """Two encoder blocks, 4 heads, width 64, for sequences of 32 tokens."""
    inputs = layers.Input((32,), dtype="int32")
    x = AddPositions()(layers.Embedding(1000, 64)(inputs))
    for _ in range(2):
        attended = layers.MultiHeadAttention(4, 16)(x, x)
        x = layers.LayerNormalization()(layers.Add()([x, attended]))
        hidden = layers.Dense(64)(layers.Dense(128, activation="relu")(x))
        x = layers.LayerNormalization()(layers.Add()([x, hidden]))
    return compiled(keras.Model(inputs, layers.Dense(10)(layers.GlobalAveragePooling1D()(x))))


def tokens(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 1000, size=(rows, 32)).astype(np.int32)
    return {"x": x, "y": rng.integers(0, 10, rows).astype(np.int32), "batch_size": 32}


def tabular() -> keras.Model:
    """Three embedded categories and eight numbers, given by name."""
    categories = {name: layers.Input((), dtype="int32", name=name) for name in ("shop", "article", "weekday")}
    numbers = layers.Input((8,), name="numbers")
    embedded = [
        layers.Embedding(size, 8)(category)
        for size, category in zip((200, 5000, 7), categories.values(), strict=True)
    ]
    x = layers.Concatenate()([*embedded, numbers])
    x = layers.Dense(32, activation="relu")(layers.Dense(64, activation="relu")(x))
    model = keras.Model({**categories, "numbers": numbers}, layers.Dense(1)(x))
    model.compile(keras.optimizers.Adam(), "mse", metrics=["mae"])
    return model


def table(rows: int) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    sizes = {"shop": 200, "article": 5000, "weekday": 7}
    x: dict[str, Any] = {name: rng.integers(0, size, rows).astype(np.int32) for name, size in sizes.items()}
    x["numbers"] = rng.normal(size=(rows, 8)).astype(np.float32)
    return {"x": x, "y": rng.normal(size=(rows, 1)).astype(np.float32), "batch_size": 128}


def augmented_cnn() -> keras.Model:
    convolutions = [layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D()]
    head = [layers.Conv2D(32, 3, activation="relu"), layers.GlobalAveragePooling2D(), layers.Dense(10)]
    return compiled(keras.Sequential([layers.Input((24, 24, 3)), *convolutions, *head]))


def augmented_pipeline(rows: int) -> dict[str, Any]:
    """A shuffled `tf.data` pipeline that shifts, flips and brightens each image by chance."""
    arrays = images(rows)

    def augment(x, y):
        padded = tf.image.resize_with_crop_or_pad(x, 28, 28)
        x = tf.image.random_flip_left_right(tf.image.random_crop(padded, (24, 24, 3)))
        return tf.image.random_brightness(x, 0.1), y

    dataset = tf.data.Dataset.from_tensor_slices((arrays["x"], arrays["y"])).shuffle(1024, seed=1)
    dataset = dataset.map(augment, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)
    return {"x": dataset}


def generated(rows: int) -> dict[str, Any]:
    """A Python generator without end, as it is written for data that must be fetched."""
    arrays = digits(32)(rows)

    def batches() -> Iterator[tuple[Any, Any]]:
        rng = np.random.default_rng(4)
        while True:
            chosen = rng.integers(0, rows, 32)
            yield arrays["x"][chosen], arrays["y"][chosen]

    return {"x": batches(), "steps_per_epoch": rows // 32}


class NoisyModel(keras.Sequential):
    """A person's own `train_step`: inputs are blurred by noise, and the loss is written out."""

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            logits = self(x + tf.random.normal(tf.shape(x), stddev=0.05), training=True)
            loss = self.compute_loss(x, y, logits)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, logits)
        return {metric.name: metric.result() for metric in self.metrics}


def own_train_step() -> keras.Model:
    hidden = layers.Dense(64, activation="relu")
    return compiled(NoisyModel([layers.Input((28, 28)), layers.Flatten(), hidden, layers.Dense(10)]))


JOBS = (
    Job(name="mlp-32", what="Dense 64, MNIST", build=mlp, data=digits(32), rows=60_000, batch=32, epochs=10),
    Job(
        name="mlp-256", what="Dense 64, MNIST", build=mlp, data=digits(256), rows=60_000, batch=256, epochs=10
    ),
    Job(
        name="lstm-32",
        what="LSTM 32, MNIST by rows",
        build=lstm,
        data=digits(32),
        rows=60_000,  # and ten epochs, as the tutorial trains: compiling by XLA pays after thousands of steps
        batch=32,
        epochs=10,
    ),
    Job(
        name="gru-32",
        what="GRU 32, MNIST by rows",
        build=gru,
        data=digits(32),
        rows=12_800,
        batch=32,
        epochs=10,
    ),
    Job(name="cnn-32", what="3 convolutions, MNIST", build=cnn, data=digits(32), rows=20_000, batch=32),
    Job(name="cnn-128", what="3 convolutions, MNIST", build=cnn, data=digits(128), rows=20_000, batch=128),
    Job(name="resnet-32", what="3 residual blocks", build=resnet, data=images, rows=3_200, batch=32),
    Job(name="transformer-32", what="2 encoder blocks", build=transformer, data=tokens, rows=9_600, batch=32),
    Job(
        name="autoencoder-128",
        what="dense autoencoder, MNIST",
        build=autoencoder,
        data=digits_twice,
        rows=60_000,
        batch=128,
        epochs=10,
    ),
    Job(
        name="tabular-128",
        what="embeddings, inputs by name",
        build=tabular,
        data=table,
        rows=100_000,
        batch=128,
        epochs=10,
    ),
    Job(
        name="tfdata-32",
        what="augmented in tf.data, CNN",
        build=augmented_cnn,
        data=augmented_pipeline,
        rows=9_600,
        batch=32,
    ),
    Job(
        name="generator-32",
        what="Python generator, Dense 64",
        build=mlp,
        data=generated,
        rows=32_000,
        batch=32,
    ),
    Job(
        name="dropout-64",
        what="dropout, MNIST",
        build=dropout_mlp,
        data=digits(64),
        rows=60_000,
        batch=64,
        epochs=10,
    ),
    Job(
        name="own-train-step-64",
        what="custom train_step, MNIST",
        build=own_train_step,
        data=digits(64),
        rows=60_000,
        batch=64,
        epochs=10,
    ),
)
