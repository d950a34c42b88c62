"""Small trainings, each with one thing in it that several devices could get wrong; used by distribution.py.

Keras is imported where it is needed: the program that compares the trainings trains none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import keras


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A training of `build()` with the arguments that `data()` returns.

    `like_one` is False where several devices are documented to differ from one: then only the workers are compared.
    `is_chaotic` is True where rounding alone grows to visible differences: then one device also trains with the
    samples of each batch in reverse order, which is the same sum rounded otherwise, and that is what is allowed.
    """

    name: str
    build: Callable[[], keras.Model]
    data: Callable[[], dict[str, Any]]
    like_one: bool = True
    is_chaotic: bool = False
    callbacks: Callable[[], list[Any]] = field(default=list)


def points(samples: int = 203) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(samples, 8)).astype("float32")
    y = (x @ rng.normal(size=(8, 3)) + rng.normal(size=(samples, 3))).argmax(1).astype("int32")
    return x, y, rng.uniform(0.2, 2.0, samples).astype("float32")


def classifier(
    *,
    middle: Callable[[], list[Any]] = list,
    optimizer: Callable[[], Any] | None = None,
    reduction: str = "sum_over_batch_size",
) -> keras.Model:
    import keras

    model = keras.Sequential(
        [
            keras.Input((8,)),
            keras.layers.Dense(16, activation="tanh", kernel_regularizer=keras.regularizers.L2(1e-3)),
            *middle(),
            keras.layers.Dense(3),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction=reduction)
    chosen = optimizer() if optimizer else keras.optimizers.Adam(0.01)
    model.compile(chosen, loss, metrics=["accuracy"], weighted_metrics=["accuracy"])
    return model


def tagger() -> keras.Model:
    """Tags each token of a sequence; padding is masked, so that the loss is divided by the tokens there are."""
    import keras

    layers = keras.layers
    model = keras.Sequential(
        [keras.Input((7,)), layers.Embedding(20, 8, mask_zero=True), layers.Dense(8, "tanh"), layers.Dense(3)]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.5), loss, metrics=["accuracy"])
    return model


def own_mean() -> keras.Model:
    import keras

    def squared(y: Any, predicted: Any) -> Any:
        return keras.ops.mean(keras.ops.square(keras.ops.one_hot(y, 3) - predicted))

    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    model.compile(keras.optimizers.SGD(0.1), squared)
    return model


def own_step() -> keras.Model:
    import keras
    import tensorflow as tf

    class Doubled(keras.Sequential):
        """A step of the person's own that returns a log which is no metric."""

        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_weights)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_weights, strict=True))
            replicas = tf.cast(tf.distribute.get_strategy().num_replicas_in_sync, "float32")
            return {"twice": 2.0 * replicas * loss}

    model = Doubled([keras.Input((8,)), keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(3)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def cnn(optimizer: str = "adam") -> keras.Model:
    import keras

    from steptime.workloads.mnist_cnn import create_model

    model = create_model()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=["accuracy"])
    return model


def mnist() -> dict[str, Any]:
    from steptime.workloads.mnist_cnn import load_data

    (x, y), (vx, vy) = load_data()
    # 75 steps of 32 and a last one of 3 samples, which is fewer than four devices.
    return {
        "x": x[:2403], "y": y[:2403], "batch_size": 32, "epochs": 4, "validation_data": (vx[:501], vy[:501])
    }  # fmt: skip


def arrays(samples: int = 203, batch_size: int = 32, epochs: int = 3, **more: Any) -> dict[str, Any]:
    x, y, _ = points(samples)
    return {"x": x, "y": y, "batch_size": batch_size, "epochs": epochs, **more}


def weighted() -> dict[str, Any]:
    x, y, weight = points()
    return {
        **arrays(batch_size=25),
        "sample_weight": weight,
        "validation_data": (x[:37], y[:37], weight[:37]),
        "validation_batch_size": 9,
    }


def padded(batch_size: int = 25) -> dict[str, Any]:
    """Sequences whose lengths grow, so that the shares of a batch hold unequal numbers of tokens."""
    rng = np.random.default_rng(0)
    x = rng.integers(1, 20, (203, 7)) * (np.arange(7) < np.arange(203)[:, None] % 25 // 4 + 1)
    return {"x": x, "y": (x * x) % 3, "batch_size": batch_size, "epochs": 3, "shuffle": False}


def stream() -> dict[str, Any]:
    import tensorflow as tf

    x, y, weight = points()
    data = tf.data.Dataset.from_tensor_slices((x, y, weight)).shuffle(203, seed=7)
    return {"x": data.batch(25), "epochs": 3, "validation_data": data.batch(10)}


def generated() -> dict[str, Any]:
    x, y, _ = points(192)

    def batches() -> Any:
        while True:
            for first in range(0, 192, 32):
                yield x[first : first + 32], y[first : first + 32]

    return {"x": batches(), "steps_per_epoch": 6, "epochs": 2}


def early() -> list[Any]:
    import keras

    return [keras.callbacks.EarlyStopping("val_loss", patience=1, min_delta=0.02, restore_best_weights=True)]


def gentle() -> Any:
    import keras

    return keras.optimizers.SGD(0.01)


def accumulating() -> Any:
    import keras

    return keras.optimizers.SGD(0.2, momentum=0.9, gradient_accumulation_steps=4, global_clipnorm=0.1)


def dropping() -> keras.Model:
    import keras

    return classifier(middle=lambda: [keras.layers.Dropout(0.4)])


def normalised(*, synchronized: bool) -> keras.Model:
    import keras

    return classifier(middle=lambda: [keras.layers.BatchNormalization(synchronized=synchronized)])


JOBS = (
    # Rectifiers switch, and Adam makes a whole step of a gradient that is nothing but rounding.
    Job(name="cnn", build=cnn, data=mnist, is_chaotic=True),
    Job(name="cnn with SGD", build=lambda: cnn("sgd"), data=mnist, is_chaotic=True),
    Job(name="even batches", build=classifier, data=lambda: arrays(192)),
    Job(name="last batch smaller than the group", build=classifier, data=lambda: arrays(batch_size=101)),
    Job(name="batches smaller than the group", build=classifier, data=lambda: arrays(60, batch_size=3)),
    Job(name="batch not divisible", build=classifier, data=lambda: arrays(batch_size=25, shuffle="batch")),
    Job(name="sample weights and validation", build=classifier, data=weighted),
    Job(name="masked tokens", build=tagger, data=padded),
    Job(
        name="mean over weights",
        build=lambda: classifier(optimizer=gentle, reduction="mean_with_sample_weight"),
        data=weighted,
    ),
    Job(
        name="sums and a last batch smaller than the group",
        build=lambda: classifier(optimizer=gentle, reduction="sum"),
        data=lambda: arrays(batch_size=101),
    ),
    Job(name="a mean of one's own", build=own_mean, data=lambda: arrays(batch_size=25)),
    Job(name="class weights", build=classifier, data=lambda: arrays(class_weight={0: 1.0, 1: 2.0, 2: 0.5})),
    Job(name="steps_per_epoch", build=classifier, data=lambda: arrays(steps_per_epoch=4, epochs=5)),
    Job(
        name="early stopping",
        build=classifier,
        data=lambda: arrays(validation_split=0.2, epochs=30),
        callbacks=early,
    ),
    Job(
        name="accumulation and clipping",
        build=lambda: classifier(optimizer=accumulating),
        data=lambda: arrays(epochs=6),
    ),
    Job(
        name="synchronized batch normalisation",
        build=lambda: normalised(synchronized=True),
        data=lambda: arrays(batch_size=25, validation_split=0.2),
    ),
    Job(name="tf.data", build=classifier, data=stream),
    Job(name="a step of one's own", build=own_step, data=lambda: arrays(192)),
    # Every process' generator yields the same here, so that a step of a group takes its batch several times.
    Job(name="generator", build=classifier, data=generated, like_one=False),
    Job(
        name="plain batch normalisation",
        build=lambda: normalised(synchronized=False),
        data=lambda: arrays(batch_size=25, validation_split=0.2),
        like_one=False,
    ),
    Job(
        name="dropout",
        build=dropping,
        data=lambda: arrays(validation_split=0.2),
        like_one=False,
    ),
)
