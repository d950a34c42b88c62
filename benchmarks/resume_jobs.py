"""The trainings that `resume.py` interrupts, by `steptime.fit` or by Keras with `BackupAndRestore`.

`python resume_jobs.py` serves orders (see nursery.py). An order names the job, the way and a folder; the child
trains there, or goes on there, and writes `result.json` and `result.npz` when it comes to the end.
"""

# ruff: noqa: ARG002 - hooks have the signatures of the framework that calls them

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import layers

import nursery
import steptime

BATCH, EPOCHS, SAMPLES, VALIDATION_SAMPLES = 32, 5, 1950, 256
EVERY_STEPS = 20


def _mlp(*middle: layers.Layer) -> keras.Model:
    ends = layers.Dense(192, "relu"), layers.Dense(192, "relu")
    return keras.Sequential([keras.Input((64,)), ends[0], *middle, ends[1], layers.Dense(4)], name="mlp")


def _compiled(model: keras.Model, optimizer: keras.optimizers.Optimizer) -> keras.Model:
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer, loss, metrics=["accuracy"])
    return model


def _convolution() -> keras.Model:
    stack = [
        keras.Input((64,)),
        layers.Reshape((8, 8, 1)),
        layers.Conv2D(16, 3, padding="same"),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Conv2D(16, 3),
        layers.BatchNormalization(),
        layers.Flatten(),
        layers.Dense(4),
    ]
    return keras.Sequential(stack, name="convolution")


def _schedule() -> keras.optimizers.Optimizer:
    rate = keras.optimizers.schedules.CosineDecay(0.02, 300, warmup_target=0.05, warmup_steps=40)
    return keras.optimizers.SGD(rate, momentum=0.9, nesterov=True)


MODELS: dict[str, Callable[[], keras.Model]] = {
    "dropout": lambda: _compiled(_mlp(layers.Dropout(0.3)), keras.optimizers.Adam(0.002)),
    "batch-norm": lambda: _compiled(_convolution(), keras.optimizers.Adam(0.002)),
    "ema": lambda: _compiled(
        _mlp(), keras.optimizers.Adam(0.002, use_ema=True, ema_momentum=0.95, ema_overwrite_frequency=50)
    ),
    "schedule": lambda: _compiled(_mlp(), _schedule()),
    "accumulation": lambda: _compiled(_mlp(), keras.optimizers.Adam(0.004, gradient_accumulation_steps=3)),
    "early-stopping": lambda: _compiled(_mlp(layers.Dropout(0.2)), keras.optimizers.Adam(0.003)),
    "shuffled-arrays": lambda: _compiled(_mlp(), keras.optimizers.SGD(0.05, momentum=0.9)),
    "tf-data": lambda: _compiled(_mlp(layers.Dropout(0.3)), keras.optimizers.Adam(0.002)),
}


def data() -> tuple[Any, Any]:
    """Return (x, y) for training and validation: noisy classes of which a network can learn some."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(SAMPLES + VALIDATION_SAMPLES, 64)).astype("float32")
    scores = np.tanh(x @ rng.normal(size=(64, 16))) @ rng.normal(size=(16, 4))
    y = (scores + rng.normal(size=scores.shape)).argmax(1).astype("int32")
    return (x[:SAMPLES], y[:SAMPLES]), (x[SAMPLES:], y[SAMPLES:])


def arguments(job: str) -> dict[str, Any]:
    """Return what `fit` is called with."""
    (x, y), validation = data()
    common = {
        "epochs": 12 if job == "early-stopping" else EPOCHS,
        "verbose": 0,
        "validation_data": validation,
    }
    if job == "tf-data":
        pairs = tf.data.Dataset.from_tensor_slices((x, y))
        return {"x": pairs.shuffle(512, seed=3, reshuffle_each_iteration=True).batch(BATCH), **common}
    return {"x": x, "y": y, "batch_size": BATCH, **common}


def callbacks(job: str) -> list[keras.callbacks.Callback]:
    """Return the callbacks that a person would use; only one job stops early."""
    if job != "early-stopping":
        return []
    return [
        keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True),
        keras.callbacks.ReduceLROnPlateau(patience=1, factor=0.5, min_delta=0.01),
    ]


class Marks(keras.callbacks.Callback):
    """Tells the killer what is going on, without a hook at every batch."""

    def __init__(self, mark: nursery.Mark) -> None:
        super().__init__()
        self.mark = mark

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self.mark("epoch", epoch=epoch)

    def on_test_begin(self, logs: Any = None) -> None:
        self.mark("validation")

    def on_test_end(self, logs: Any = None) -> None:
        self.mark("validated")

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        self.mark("between", epoch=epoch)


class BatchMarks(Marks):
    """For Keras' own `fit`, which calls at every batch anyway."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        super().on_epoch_begin(epoch, logs)
        self.epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if batch % 5 == 4:
            self.mark("block", step=self.epoch * -(-SAMPLES // BATCH) + batch + 1, epoch=self.epoch)


class BlockMarks:
    """An observer of `steptime.fit` (see steptime.engine.observer)."""

    def __init__(self, mark: nursery.Mark) -> None:
        self.mark = mark

    def on_block(self, *, epoch: int, first_step: int, n_steps: int, **_: Any) -> None:
        self.mark("block", step=epoch * -(-SAMPLES // BATCH) + first_step + n_steps, epoch=epoch)

    def on_validation(self, *, epoch: int, duration_ns: int) -> None:
        pass

    def on_decision(self, text: str) -> None:
        pass


def train(order: dict[str, Any], mark: nursery.Mark) -> None:
    """Execute an order in the child."""
    _mark_writes(mark)
    folder = Path(order["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    keras.utils.set_random_seed(11)
    model = MODELS[order["job"]]()
    given = arguments(order["job"])
    own = callbacks(order["job"])
    mark("restore")
    if order["way"] == "keras":
        # save_freq makes it write within epochs too, as a person does who fears an interruption.
        backup = keras.callbacks.BackupAndRestore(str(folder / "backup"), save_freq=EVERY_STEPS)
        history = model.fit(**given, callbacks=[*own, backup, BatchMarks(mark)])
    else:
        checkpoints = steptime.Checkpoints(folder=folder / "checkpoints", every=f"{EVERY_STEPS}steps")
        history = steptime.fit(
            model,
            **given,
            callbacks=[*own, Marks(mark)],
            loop=order["loop"].partition("+")[0],
            exact_kernels=order["loop"] == "graph+kernels",
            seed=5,
            observer=BlockMarks(mark),
            checkpoint=checkpoints,
        )
    _write_result(folder, model, history)


def _mark_writes(mark: nursery.Mark) -> None:
    """Tell the killer of every file that is begun to be written durably, whoever writes it."""
    flush, saved = os.fsync, keras.Model.save_weights

    def fsync(file: Any) -> None:
        mark("writing")
        flush(file)

    def save_weights(self: keras.Model, *arguments: Any, **named: Any) -> None:
        mark("writing")
        saved(self, *arguments, **named)

    os.fsync, keras.Model.save_weights = fsync, save_weights


def _write_result(folder: Path, model: keras.Model, history: keras.callbacks.History) -> None:
    values = [np.asarray(v) for v in (*model.weights, *model.optimizer.variables)]
    np.savez(folder / "result.npz", *values)
    digest = hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest()
    result = {
        "weights": digest,
        "history": {key: [float(v) for v in column] for key, column in history.history.items()},
        "epochs": [int(epoch) for epoch in history.epoch],
        "batches": int(np.asarray(model.optimizer._iterations)),
        "loop": str(history.steptime.loop) if hasattr(history, "steptime") else "keras",
    }
    part = folder / "result.part"
    part.write_text(json.dumps(result), encoding="utf-8")
    part.replace(folder / "result.json")


if __name__ == "__main__":
    nursery.serve(train)
