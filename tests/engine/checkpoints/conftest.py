"""A small training for the tests of checkpoints: every kind of data, callbacks that remember, and an end to compare."""

import dataclasses
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

RNG = np.random.default_rng(0)
X = RNG.normal(size=(75, 5)).astype("float32")
Y = (X @ RNG.normal(size=(5, 3))).argmax(1).astype("int32")
STEPS = 5  # of 16 samples; the last batch is shorter
EPOCHS = 4


@dataclasses.dataclass(slots=True)
class After:
    """Asks to stop after so many looks."""

    looks: int

    def __call__(self) -> bool:
        self.looks -= 1
        return self.looks < 0


def build(dropout: float = 0.3, rate: float = 0.01, units: int = 6) -> Any:
    import keras

    keras.utils.set_random_seed(3)
    inputs = keras.Input((5,))
    hidden = keras.layers.BatchNormalization()(keras.layers.Dense(units)(inputs))
    outputs = keras.layers.Dense(3, activation="softmax")(keras.layers.Dropout(dropout)(hidden))
    model = keras.Model(inputs, outputs)
    optimizer = keras.optimizers.Adam(
        rate, use_ema=True, ema_overwrite_frequency=3, gradient_accumulation_steps=2
    )
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def batches() -> Any:
    import tensorflow as tf

    options = tf.data.Options()
    # Its tuning thread sleeps up to a minute, and ending an iterator waits for it.
    options.autotune.enabled = False
    return tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(40, seed=2).batch(16).with_options(options)


def generated() -> Iterator[Any]:
    while True:
        for first in range(0, 64, 16):
            yield X[first : first + 16], Y[first : first + 16]


DATA: dict[str, Callable[[], dict[str, Any]]] = {
    "arrays": lambda: {"x": X, "y": Y, "batch_size": 16, "seed": 5},
    "dataset": lambda: {"x": batches(), "shuffle": False},
    "dataset that goes on": lambda: {"x": batches().repeat(), "steps_per_epoch": 3, "shuffle": False},
    "dataset of unknown length": lambda: {"x": batches().filter(lambda x, y: True), "shuffle": False},
    "generator": lambda: {"x": generated(), "steps_per_epoch": 3, "shuffle": False},
}


def counter() -> Any:
    """A person's own callback that remembers something."""
    import keras

    class Counter(keras.callbacks.Callback):
        def __init__(self) -> None:
            super().__init__()
            self.losses: list[float] = []

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.losses.append(logs["loss"])

        def get_state(self) -> dict[str, Any]:
            return {"losses": np.array(self.losses)}

        def set_state(self, state: dict[str, Any]) -> None:
            self.losses = state["losses"].tolist()

    return Counter()


def train(
    kind: str, loop: str, folder: Path | None, *, stop: Any = None, model: Any = None, **more: Any
) -> Any:
    """Train, or go on; returns the model, its History and its callbacks."""
    import keras

    import steptime

    model = model or build()
    callbacks = [
        keras.callbacks.EarlyStopping("val_loss", patience=5, restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau("val_loss", patience=1, min_delta=0.1, factor=0.5),
        counter(),
        *more.pop("callbacks", ()),
    ]
    policy = {"every": "100epochs", "tell": [].append, **more.pop("policy", {})}
    history = steptime.fit(
        model,
        **{**DATA[kind](), "epochs": EPOCHS, "validation_data": (X[:20], Y[:20]), **more},
        callbacks=callbacks,
        verbose=0,
        loop=loop,
        checkpoint=None if folder is None else steptime.Checkpoints(folder=folder, stop=stop, **policy),
    )
    return model, history, callbacks


def end_of(outcome: Any) -> Any:
    """All that a training leaves."""
    model, history, callbacks = outcome
    return (
        [v.numpy().tobytes() for v in [*model.variables, *model.optimizer.variables]],
        history.history,
        history.epoch,
        callbacks[0].best,
        callbacks[0].wait,
        callbacks[1].wait,
        callbacks[2].losses,
    )


def interrupt(kind: str, loop: str, folder: Path, looks: int, **more: Any) -> None:
    import steptime

    with pytest.raises(steptime.StopRequested):
        train(kind, loop, folder, stop=After(looks), **more)


@pytest.fixture(scope="session")
def job() -> types.SimpleNamespace:
    """The functions and constants of this file."""
    return types.SimpleNamespace(
        train=train, interrupt=interrupt, end_of=end_of, build=build, batches=batches, X=X, Y=Y, STEPS=STEPS
    )


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of a training that was interrupted after its first epoch and a step or two."""
    folder = tmp_path_factory.mktemp("kept")
    interrupt("arrays", "graph", folder, 6, policy={"every": "2steps"})
    return folder
