"""Shuffling: a full permutation each epoch, drawn from (seed, epoch), the same in every loop, and repeatable."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
every_loop = pytest.mark.parametrize("loop", ["graph", "xla"])
N = 13


@pytest.fixture(scope="module")
def rows_seen():
    """Trains on the numbers 0..12, one a step, and gives the order in which each epoch saw them."""
    import keras

    import steptime

    class Tells(keras.Model):
        def train_step(self, data):
            logs = super().train_step(data)
            return {**logs, "row": data[0][0, 0]}

    class Notes(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            self.epochs = []

        def on_epoch_begin(self, epoch, logs=None):
            self.epochs.append([])

        def on_train_batch_end(self, batch, logs=None):
            self.epochs[-1].append(round(logs["row"]))

    def make():
        inputs = keras.Input((1,))
        model = Tells(inputs, keras.layers.Dense(1, name="d")(inputs))
        model.compile(keras.optimizers.SGD(1e-4), "mse")
        return model

    models = {}

    def run(loop, **arguments):
        model = models.setdefault(loop, make())
        notes = Notes()
        x = np.arange(N, dtype="float32")[:, None]
        arguments = {"batch_size": 1, "epochs": 2, "verbose": 0, **arguments}
        steptime.fit(model, x, x, callbacks=[notes], loop=loop, **arguments)
        return notes.epochs

    return run


@every_loop
def test_each_epoch_is_the_permutation_of_its_seed_and_number(loop, rows_seen):
    expected = [np.random.default_rng((5, epoch)).permutation(N).tolist() for epoch in (0, 1)]
    assert rows_seen(loop, seed=5) == expected


@every_loop
def test_a_resumed_training_sees_the_order_it_would_have_seen(loop, rows_seen):
    assert rows_seen(loop, seed=5, initial_epoch=1) == rows_seen(loop, seed=5)[1:]


@every_loop
def test_without_a_seed_every_sample_is_seen_once_an_epoch(loop, rows_seen):
    first, second = rows_seen(loop)
    assert sorted(first) == sorted(second) == list(range(N))


@every_loop
def test_without_shuffling_the_order_is_the_data_s(loop, rows_seen):
    assert rows_seen(loop, shuffle=False, seed=5) == [list(range(N))] * 2


@every_loop
def test_steps_per_epoch_goes_on_in_the_order_where_it_stopped(loop, rows_seen):
    first, second = rows_seen(loop, seed=5, steps_per_epoch=6)
    assert len(first) == len(second) == 6
    assert not set(first) & set(second)


def trained(loop, build, samples, *, seed, **arguments):
    import keras

    import steptime

    keras.utils.set_random_seed(1)
    model = build()
    arguments = {"batch_size": 8, "epochs": 2, "verbose": 0, **arguments}
    history = steptime.fit(model, samples.x, samples.y, loop=loop, seed=seed, **arguments)
    return history.history, [v.numpy() for v in [*model.weights, *model.optimizer.variables]]


@pytest.mark.parametrize("loop", ["graph", "xla"])
def test_the_same_seed_and_loop_give_the_same_bits(loop, classifier, samples):
    first, second = (trained(loop, classifier, samples, seed=3, validation_split=0.2) for _ in range(2))
    assert first[0] == second[0]
    for ours, again in zip(first[1], second[1], strict=True):
        np.testing.assert_array_equal(ours, again)


def test_another_seed_gives_another_training(classifier, samples):
    assert (
        trained("graph", classifier, samples, seed=3)[0] != trained("graph", classifier, samples, seed=4)[0]
    )


def trained_by_keras_in_that_order(build, samples, *, seed):
    """Keras' own fit on samples that were put into the order of each epoch beforehand."""
    import keras

    keras.utils.set_random_seed(1)
    model = build()
    logs = {}
    for epoch in range(2):
        order = np.random.default_rng((seed, epoch)).permutation(len(samples.x))
        history = model.fit(
            samples.x[order],
            samples.y[order],
            batch_size=8,
            initial_epoch=epoch,
            epochs=epoch + 1,
            shuffle=False,
            verbose=0,
        )
        for name, values in history.history.items():
            logs.setdefault(name, []).extend(values)
    return logs, [v.numpy() for v in [*model.weights, *model.optimizer.variables]]


@every_loop
def test_every_loop_gives_keras_training_in_the_order_of_that_seed(loop, classifier, samples, same):
    same(
        trained(loop, classifier, samples, seed=9),
        trained_by_keras_in_that_order(classifier, samples, seed=9),
        loop,
    )


def test_the_keras_loop_is_keras_own_fit_with_its_own_order(classifier, samples):
    import keras

    keras.utils.set_random_seed(1)
    model = classifier()
    stock = model.fit(samples.x, samples.y, batch_size=8, epochs=2, verbose=0)

    history, weights = trained("keras", classifier, samples, seed=None)

    assert history == stock.history
    for ours, theirs in zip(weights, [*model.weights, *model.optimizer.variables], strict=True):
        np.testing.assert_array_equal(ours, theirs.numpy())


def test_set_random_seed_alone_makes_a_training_repeatable(classifier, samples):
    first, second = (trained("graph", classifier, samples, seed=None) for _ in range(2))
    assert first[0] == second[0]
