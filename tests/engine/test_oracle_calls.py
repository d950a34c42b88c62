"""Callbacks are called in Keras' order, with its arguments and logs, and find the weights of their moment."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
every_loop = pytest.mark.parametrize("loop", ["graph", "xla", "auto"])
compiled_loops = pytest.mark.parametrize("loop", ["graph", "xla"])
graph_loop = pytest.mark.parametrize("loop", ["graph"])


@every_loop
@pytest.mark.parametrize(
    "hooks",
    [
        (),
        ("on_epoch_begin", "on_epoch_end", "on_train_begin", "on_train_end", "on_test_begin", "on_test_end"),
    ],
    ids=["every hook", "no batch hook"],
)
def test_the_whole_sequence_of_calls_is_that_of_keras(loop, hooks, oracle, recorder, classifier, samples):
    def train(_, fit):
        callback = recorder(*hooks)
        fit(
            samples.x,
            samples.y,
            batch_size=8,
            epochs=3,
            validation_data=(samples.val_x, samples.val_y),
            validation_freq=2,
            callbacks=[callback],
        )
        return callback.calls, {k: v for k, v in callback.params.items() if k != "verbose"}

    oracle(loop, classifier, train, shared=True)


@compiled_loops
@pytest.mark.parametrize(
    "hook",
    ["on_train_batch_begin", "on_batch_end", "on_test_batch_end"],
)
def test_one_batch_hook_alone_gets_every_batch(loop, hook, oracle, recorder, classifier, samples):
    def train(_, fit):
        callback = recorder(hook)
        fit(samples.x, samples.y, batch_size=5, epochs=2, validation_split=0.4, callbacks=[callback])
        return callback.calls

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_a_dataset_of_unknown_length_gives_the_same_calls(loop, oracle, recorder, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        callback = recorder()
        data = tf.data.Dataset.from_tensor_slices((samples.x, samples.y)).batch(8)
        fit(data.filter(lambda x, y: True), epochs=2, validation_data=data, callbacks=[callback])
        return [call[:3] for call in callback.calls], callback.params["steps"]

    oracle(loop, classifier, train, shared=True, uncounted=True)


@pytest.mark.parametrize(
    ("last_batch", "loop"), [(0, "graph"), (1, "graph"), (2, "graph"), (1, "xla"), (1, "auto")]
)
def test_stop_training_set_after_a_batch_stops_there(loop, last_batch, oracle, recorder, classifier, samples):
    import keras

    class StopAt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == last_batch:
                self.model.stop_training = True

    def train(model, fit):
        callback = recorder()
        fit(
            samples.x, samples.y, batch_size=8, epochs=2, validation_split=0.2, callbacks=[StopAt(), callback]
        )
        return callback.calls, model.stop_training

    oracle(loop, classifier, train, shared=True)


@graph_loop
@pytest.mark.parametrize("hook", ["on_epoch_begin", "on_epoch_end"])
def test_stop_training_set_in_another_hook_stops_where_keras_stops(
    loop, hook, oracle, recorder, classifier, samples
):
    import keras

    stop = {hook: lambda self, *_, **__: setattr(self.model, "stop_training", True)}

    def train(_, fit):
        callback = recorder()
        stopper = type("Stop", (keras.callbacks.Callback,), stop)()
        fit(samples.x, samples.y, batch_size=8, epochs=2, callbacks=[stopper, callback])
        return callback.calls

    oracle(loop, classifier, train, shared=True)


@compiled_loops
def test_a_callback_may_change_weights_and_learning_rate_between_batches(loop, oracle, classifier, samples):
    import keras

    class Meddler(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            self.model.optimizer.learning_rate = 0.1 / (1 + batch)

        def on_train_batch_end(self, batch, logs=None):
            kernel = self.model.get_layer("hidden").kernel
            kernel.assign(kernel * 0.9)

    def train(_, fit):
        fit(samples.x, samples.y, batch_size=8, epochs=2, callbacks=[Meddler()])

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_a_callback_may_change_the_epoch_logs_that_become_history(loop, oracle, classifier, samples):
    import keras

    class Adds(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs["half_loss"] = logs["loss"] / 2

    def train(_, fit):
        fit(samples.x, samples.y, batch_size=8, epochs=2, callbacks=[Adds()])

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_a_callback_may_evaluate_predict_and_save_during_training(loop, oracle, classifier, samples):
    import keras

    class Looks(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.seen = []

        def on_epoch_end(self, epoch, logs=None):
            self.seen.append(self.model.evaluate(samples.val_x, samples.val_y, verbose=0))
            self.seen.append(self.model.predict(samples.val_x[:3], verbose=0))

    def train(_, fit):
        looks = Looks()
        fit(samples.x, samples.y, batch_size=8, epochs=2, callbacks=[looks], validation_split=0.2)
        return looks.seen

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_a_callback_list_may_be_given_and_is_used_as_it_is(loop, oracle, recorder, classifier, samples):
    import keras

    def train(model, fit):
        callback = recorder()
        callbacks = keras.callbacks.CallbackList(
            [callback], add_history=True, model=model, epochs=2, steps=3, verbose=0
        )
        fit(samples.x, samples.y, batch_size=8, epochs=2, callbacks=callbacks)
        return callback.calls

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_metrics_read_inside_a_batch_hook_are_those_of_the_batch(loop, oracle, classifier, samples):
    import keras

    class Reads(keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            self.seen = []

        def on_train_batch_end(self, batch, logs=None):
            loss, accuracy = self.model.metrics
            self.seen.append(np.asarray(loss.result()))
            self.seen.append([np.asarray(value) for value in accuracy.result().values()])

    def train(_, fit):
        reads = Reads()
        fit(samples.x, samples.y, batch_size=8, epochs=2, callbacks=[reads])
        return reads.seen

    oracle(loop, classifier, train, shared=True)
