"""Every argument of ``fit`` means what it means in stock Keras."""

from __future__ import annotations

import re

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
every_loop = pytest.mark.parametrize("loop", ["graph", "xla", "auto"])
compiled_loops = pytest.mark.parametrize("loop", ["graph", "xla"])
graph_loop = pytest.mark.parametrize("loop", ["graph"])


@pytest.mark.parametrize(
    ("batch_size", "loop"),
    [(None, "graph"), (1, "graph"), (100, "graph"), (8, "xla"), (8, "auto")],
)
def test_batch_size_sets_the_samples_of_a_step(loop, batch_size, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(samples.x, samples.y, batch_size=batch_size, epochs=2),
        shared=True,
    )


@graph_loop
@pytest.mark.parametrize("epochs", [0, 3])
def test_epochs_is_the_number_of_the_last_epoch(loop, epochs, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(samples.x, samples.y, batch_size=8, epochs=epochs),
        shared=True,
    )


@graph_loop
@pytest.mark.parametrize("initial_epoch", [1, 3])
def test_initial_epoch_numbers_the_first_epoch(loop, initial_epoch, oracle, recorder, classifier, samples):
    def train(_, fit):
        callback = recorder("on_epoch_begin", "on_epoch_end")
        fit(
            samples.x,
            samples.y,
            batch_size=8,
            epochs=3,
            initial_epoch=initial_epoch,
            callbacks=[callback],
        )
        return callback.calls

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_validation_split_holds_out_the_last_samples(loop, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(samples.x, samples.y, batch_size=8, epochs=2, validation_split=0.25),
        shared=True,
    )


@graph_loop
def test_validation_split_splits_sample_weights_too(loop, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(
            samples.x,
            samples.y,
            sample_weight=samples.weight,
            batch_size=8,
            epochs=2,
            validation_split=0.3,
        ),
        shared=True,
    )


@every_loop
def test_validation_data_of_two_arrays_is_evaluated_after_each_epoch(loop, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(
            samples.x,
            samples.y,
            batch_size=8,
            epochs=2,
            validation_data=(samples.val_x, samples.val_y),
        ),
        shared=True,
    )


@graph_loop
def test_validation_data_may_carry_sample_weights(loop, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(
            samples.x,
            samples.y,
            batch_size=8,
            epochs=2,
            validation_data=(samples.val_x, samples.val_y, samples.val_weight),
        ),
        shared=True,
    )


@graph_loop
def test_validation_data_may_be_a_dataset(loop, oracle, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        data = tf.data.Dataset.from_tensor_slices((samples.val_x, samples.val_y)).batch(4)
        fit(samples.x, samples.y, batch_size=8, epochs=2, validation_data=data)

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_validation_data_wins_over_validation_split(loop, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(
            samples.x,
            samples.y,
            batch_size=8,
            epochs=1,
            validation_split=0.5,
            validation_data=(samples.val_x, samples.val_y),
        ),
        shared=True,
    )


@graph_loop
def test_validation_steps_limits_the_validation(loop, oracle, classifier, samples):
    def train(_, fit):
        fit(
            samples.x,
            samples.y,
            batch_size=8,
            epochs=2,
            validation_data=(samples.val_x, samples.val_y),
            validation_batch_size=4,
            validation_steps=2,
        )

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_validation_batch_size_sets_the_steps_of_the_validation(loop, oracle, recorder, classifier, samples):
    def train(_, fit):
        callback = recorder("on_test_batch_begin", "on_test_batch_end", "on_test_end")
        fit(
            samples.x,
            samples.y,
            batch_size=8,
            epochs=1,
            validation_data=(samples.val_x, samples.val_y),
            validation_batch_size=3,
            callbacks=[callback],
        )
        return callback.calls

    oracle(loop, classifier, train, shared=True)


@graph_loop
@pytest.mark.parametrize("frequency", [2, [1, 4]])
def test_validation_freq_picks_the_epochs_that_are_validated(loop, frequency, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(
            samples.x,
            samples.y,
            batch_size=11,
            epochs=4,
            validation_data=(samples.val_x, samples.val_y),
            validation_freq=frequency,
        ),
        shared=True,
    )


@compiled_loops
def test_sample_weight_weighs_the_loss(loop, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(samples.x, samples.y, batch_size=8, epochs=2, sample_weight=samples.weight),
        shared=True,
    )


@compiled_loops
def test_class_weight_weighs_the_classes_it_names(loop, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(samples.x, samples.y, batch_size=8, epochs=2, class_weight={0: 3.0, 2: 0.5}),
        shared=True,
    )


@pytest.mark.parametrize(("steps", "loop"), [(1, "graph"), (2, "graph"), (2, "xla")])
def test_steps_per_epoch_cuts_the_epoch_and_goes_on_where_it_stopped(
    loop, steps, oracle, classifier, samples
):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(samples.x, samples.y, batch_size=8, epochs=4, steps_per_epoch=steps),
        shared=True,
    )


@graph_loop
def test_steps_per_epoch_without_batch_size_sets_the_batch_size(loop, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(samples.x, samples.y, epochs=2, steps_per_epoch=4),
        shared=True,
    )


@graph_loop
@pytest.mark.parametrize("verbose", [1, 2, "auto"])
def test_verbose_prints_what_keras_prints(loop, verbose, oracle, classifier, samples, capsys):
    def train(_, fit):
        capsys.readouterr()
        fit(
            samples.x,
            samples.y,
            batch_size=8,
            epochs=2,
            verbose=verbose,
            validation_data=(samples.val_x, samples.val_y),
        )
        return last_state_of_each_line(capsys.readouterr().out)

    oracle(loop, classifier, train, shared=True)


def last_state_of_each_line(text: str) -> list[str]:
    """What is printed, without times, colours and the states in between, which depend on the time."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    lines = [re.split(r"[\r\x08]", line.rstrip("\r\x08"))[-1] for line in text.splitlines()]
    lines = [line for line in lines if not re.match(r"\s*(\d+)/(?!\1\b)\d+ ", line)]
    return [re.sub(r"\b\d+(us|ms|s)(/step|/epoch)?|\b\d+:\d+\b", "T", line).strip() for line in lines]


@graph_loop
def test_arguments_may_be_given_by_position(loop, oracle, classifier, samples):
    def train(_, fit):
        fit(samples.x, samples.y, 8, 2)

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_the_arrays_are_left_as_they_were(loop, oracle, classifier, samples):
    x, y = samples.x.copy(), samples.y.copy()
    oracle(loop, classifier, lambda _, fit: fit(samples.x, samples.y, epochs=1), shared=True)
    np.testing.assert_array_equal(samples.x, x)
    np.testing.assert_array_equal(samples.y, y)


def test_fit_takes_exactly_the_arguments_of_keras_fit_and_its_own_by_keyword():
    import inspect

    import keras

    import steptime

    theirs = list(inspect.signature(keras.Model.fit).parameters.values())[1:]
    ours = list(inspect.signature(steptime.fit).parameters.values())[1:]
    shared = ours[: len(theirs)]
    assert [(p.name, p.default) for p in shared] == [(p.name, p.default) for p in theirs]
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in ours[len(theirs) :])
    assert {p.name for p in ours[len(theirs) :]} >= {"loop", "exact_kernels", "seed"}
