"""Keras' own callbacks do with steptime's loops what they do in stock Keras."""

from __future__ import annotations

import csv

import numpy as np
import pytest

pytestmark = [
    pytest.mark.tensorflow,
    # Keras 3.15 copies its variables in a way that numpy 2 warns about (when it saves a model).
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]
compiled_loops = pytest.mark.parametrize("loop", ["graph", "xla"])
graph_loop = pytest.mark.parametrize("loop", ["graph"])


@pytest.fixture
def validated(samples):
    """Arguments of a training with validation."""
    return {
        "x": samples.x,
        "y": samples.y,
        "batch_size": 8,
        "validation_data": (samples.val_x, samples.val_y),
    }


@pytest.fixture
def folder(tmp_path):
    """A new empty folder at each call, as each way of training needs its own."""

    def make():
        new = tmp_path / str(len(list(tmp_path.iterdir())))
        new.mkdir()
        return new

    return make


@pytest.mark.parametrize(
    ("restore", "loop"), [(True, "graph"), (False, "graph"), (True, "xla"), (True, "auto")]
)
def test_early_stopping_stops_and_restores_at_the_same_epoch(loop, restore, oracle, classifier, validated):
    import keras

    def train(_, fit):
        stop = keras.callbacks.EarlyStopping(
            "val_loss", min_delta=1.0, patience=2, restore_best_weights=restore, start_from_epoch=1
        )
        fit(**validated, epochs=6, callbacks=[stop])
        return stop.stopped_epoch, stop.best_epoch, float(stop.best), stop.wait

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_early_stopping_restores_the_best_weights_at_the_planned_end(loop, oracle, classifier, samples):
    import keras

    def train(_, fit):
        best = keras.callbacks.EarlyStopping("loss", mode="max", patience=9, restore_best_weights=True)
        fit(samples.x, samples.y, batch_size=8, epochs=3, callbacks=[best])
        return best.best_epoch

    oracle(loop, classifier, train, shared=True)


@graph_loop
@pytest.mark.parametrize("best_only", [True, False])
def test_model_checkpoint_saves_the_same_weights_after_each_epoch(
    loop, best_only, oracle, classifier, validated, folder
):
    import keras

    def train(_, fit):
        files = folder()
        path = str(files / "{epoch:02d}-{val_loss:.2f}.weights.h5")
        save = keras.callbacks.ModelCheckpoint(
            path, save_weights_only=True, save_best_only=best_only, monitor="val_loss"
        )
        fit(**validated, epochs=3, callbacks=[save])
        return {file.name: stored_weights(file) for file in sorted(files.iterdir())}

    oracle(loop, classifier, train, shared=True)


@graph_loop
@pytest.mark.parametrize("frequency", [2, 4])
def test_model_checkpoint_saves_the_same_weights_every_few_batches(
    loop, frequency, oracle, classifier, samples, folder
):
    import keras

    def train(_, fit):
        files = folder()
        path = str(files / "{epoch:02d}-{batch:02d}.weights.h5")
        save = keras.callbacks.ModelCheckpoint(path, save_weights_only=True, save_freq=frequency)
        fit(samples.x, samples.y, batch_size=8, epochs=2, callbacks=[save])
        return {file.name: stored_weights(file) for file in sorted(files.iterdir())}

    oracle(loop, classifier, train, shared=True)


def stored_weights(path):
    """Every array in a weights file, by name."""
    import h5py

    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update({name: item[()]}) if hasattr(item, "dtype") else None)
    return {name: np.asarray(found[name]) for name in sorted(found)}


@graph_loop
def test_model_checkpoint_saves_whole_models_that_load(loop, oracle, classifier, samples, folder):
    import keras

    def train(_, fit):
        path = folder() / "model.keras"
        fit(samples.x, samples.y, epochs=1, callbacks=[keras.callbacks.ModelCheckpoint(str(path))])
        loaded = keras.models.load_model(path)
        return [v.numpy() for v in [*loaded.weights, *loaded.optimizer.variables]]

    oracle(loop, classifier, train, shared=True)


@compiled_loops
def test_reduce_lr_on_plateau_lowers_the_rate_at_the_same_epochs(loop, oracle, classifier, validated):
    import keras

    def train(_, fit):
        reduce = keras.callbacks.ReduceLROnPlateau(
            "val_loss", factor=0.3, patience=1, min_delta=1.0, cooldown=1, min_lr=0.005
        )
        fit(**validated, epochs=5, callbacks=[reduce])

    oracle(loop, classifier, train, shared=True)


@compiled_loops
def test_learning_rate_scheduler_sets_the_rate_of_each_epoch(loop, oracle, classifier, samples):
    import keras

    def train(_, fit):
        schedule = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5 if epoch else 0.3)
        fit(samples.x, samples.y, batch_size=8, epochs=3, callbacks=[schedule])

    oracle(loop, classifier, train, shared=True)


@pytest.mark.parametrize(
    ("bad_sample", "loop"), [(0, "graph"), (9, "graph"), (21, "graph"), (9, "xla"), (9, "auto")]
)
def test_terminate_on_nan_stops_after_the_batch_that_is_nan(
    loop, bad_sample, oracle, recorder, classifier, samples
):
    import keras

    def train(_, fit):
        x, y = samples.x.copy(), samples.y.copy()
        x[bad_sample] = np.nan
        y[bad_sample] = 1  # which class the largest of three NaN is, XLA decides otherwise: never this one
        callback = recorder("on_epoch_end", "on_train_end")
        fit(x, y, batch_size=8, epochs=2, callbacks=[keras.callbacks.TerminateOnNaN(), callback])
        return callback.calls

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_csv_logger_writes_the_same_table(loop, oracle, classifier, validated, folder):
    import keras

    def train(_, fit):
        path = folder() / "log.csv"
        fit(**validated, epochs=2, callbacks=[keras.callbacks.CSVLogger(str(path))])
        fit(**validated, epochs=1, callbacks=[keras.callbacks.CSVLogger(str(path), append=True)])
        with path.open() as file:
            return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]

    oracle(loop, classifier, train, shared=True)


@graph_loop
@pytest.mark.parametrize("frequency", ["epoch", 2])
def test_tensorboard_writes_the_same_scalars(loop, frequency, oracle, classifier, validated, folder):
    import keras

    def train(_, fit):
        logs = folder()
        board = keras.callbacks.TensorBoard(
            str(logs),
            update_freq=frequency,
            histogram_freq=1 if frequency == "epoch" else 0,
            write_graph=False,
        )
        fit(**validated, epochs=2, callbacks=[board])
        return {part.name: events_in(part) for part in sorted(logs.iterdir())}

    oracle(loop, classifier, train, shared=True)


def events_in(folder):
    """Each tag with its steps and, for scalars, values."""
    import tensorflow as tf
    from tensorflow.core.util import event_pb2

    found = {}
    for file in sorted(folder.iterdir()):
        for record in tf.data.TFRecordDataset(str(file)):
            event = event_pb2.Event.FromString(record.numpy())
            for value in event.summary.value:
                array = tf.make_ndarray(value.tensor)
                kept = float(array) if array.ndim == 0 and array.dtype.kind == "f" else None
                found.setdefault(value.tag, []).append((event.step, kept))
    return {tag: found[tag] for tag in sorted(found)}


@graph_loop
@pytest.mark.parametrize("frequency", ["epoch", 2])
def test_backup_and_restore_goes_on_after_an_interruption(
    loop, frequency, oracle, recorder, classifier, samples, folder
):
    import keras

    def train(_, fit):
        backup = folder() / "backup"
        broken = keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: 1 / (2 - epoch))

        def attempt(*more):
            saved = keras.callbacks.BackupAndRestore(str(backup), save_freq=frequency)
            fit(samples.x, samples.y, batch_size=8, epochs=4, callbacks=[saved, *more])

        with pytest.raises(ZeroDivisionError):
            attempt(broken)
        callback = recorder("on_epoch_begin", "on_epoch_end")
        attempt(callback)
        return callback.calls, backup.exists()

    oracle(loop, classifier, train)


@pytest.mark.parametrize(("on_epoch", "loop"), [(True, "graph"), (False, "graph")])
def test_swap_ema_weights_validates_and_ends_with_the_averages(loop, on_epoch, oracle, validated):
    import keras

    def build():
        inputs = keras.Input((6,))
        model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax", name="out")(inputs))
        optimizer = keras.optimizers.SGD(0.2, use_ema=True, ema_momentum=0.7)
        model.compile(optimizer, "sparse_categorical_crossentropy")
        return model

    def train(_, fit):
        fit(**validated, epochs=2, callbacks=[keras.callbacks.SwapEMAWeights(swap_on_epoch=on_epoch)])

    oracle(loop, build, train)


@graph_loop
def test_lambda_callbacks_are_called_with_the_same_values(loop, oracle, classifier, validated):
    import keras

    def train(_, fit):
        calls = []
        callback = keras.callbacks.LambdaCallback(
            on_epoch_begin=lambda epoch, logs: calls.append((epoch, dict(logs))),
            on_epoch_end=lambda epoch, logs: calls.append((epoch, dict(logs))),
            on_train_begin=lambda logs: calls.append(dict(logs)),
            on_train_end=lambda logs: calls.append(dict(logs)),
            on_train_batch_end=lambda batch, logs: calls.append((batch, dict(logs))),
        )
        fit(**validated, epochs=2, callbacks=[callback])
        return calls

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_several_callbacks_work_together_and_in_their_order(loop, oracle, classifier, validated, folder):
    import keras

    def train(_, fit):
        own = keras.callbacks.History()
        path = folder() / "best.weights.h5"
        callbacks = [
            keras.callbacks.LearningRateScheduler(lambda epoch: 0.3 / (epoch + 1)),
            keras.callbacks.ModelCheckpoint(str(path), save_weights_only=True, save_best_only=True),
            keras.callbacks.EarlyStopping("val_loss", patience=0, mode="max"),
            own,
        ]
        assert fit(**validated, epochs=5, callbacks=callbacks) is own
        return stored_weights(path)

    oracle(loop, classifier, train, shared=True)
