"""The first loss that is not finite: found at its step, with what was bad in it."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import steptime
from steptime.engine.fit import run_fit
from steptime.engine.infinite import InfiniteLossError, bad_in_batch, bad_variables, first_bad_layer
from steptime.engine.request import FitRequest

pytestmark = pytest.mark.tensorflow
SAMPLES, BATCH = 640, 16


def small_model(learning_rate: float = 0.01) -> keras.Model:
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(learning_rate), "mse")
    return model


def arrays(bad_sample: int | None = None) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(SAMPLES, 4)).astype("float32"), rng.normal(size=(SAMPLES, 1)).astype("float32")
    if bad_sample is not None:
        x[bad_sample, 2] = np.nan
    return x, y


def train(model: keras.Model, x: Any, y: Any = None, **more: Any) -> Any:
    arguments = {"batch_size": BATCH} if y is not None else {}
    request = FitRequest(x, y, epochs=2, verbose=0, stop_on_infinite_loss=True, **arguments, **more)
    return run_fit(model, request, check_override=True)


def test_inputs_that_no_layer_takes_are_no_second_error() -> None:
    embedding = keras.Sequential([keras.Input((2,), dtype="int32"), keras.layers.Embedding(3, 2)])
    words = keras.Sequential([keras.Input((1,), dtype="string"), keras.layers.Identity()])

    assert first_bad_layer(embedding, np.array([[0, 7]])) is None
    assert first_bad_layer(words, tf.constant([["no number"]])) is None


@pytest.mark.parametrize("loop", ["graph", "xla", "auto", "keras"])
def test_training_ends_at_the_very_step_and_later_steps_are_not_trained(loop: str) -> None:
    model = small_model()
    x, y = arrays(bad_sample=BATCH * 23 + 5)

    with pytest.raises(InfiniteLossError) as caught:
        train(model, x, y, loop=loop, shuffle=False)

    assert (caught.value.epoch, caught.value.steps) == (0, (23, 23))
    assert int(model.optimizer.iterations.numpy()) == 24
    assert np.isnan(caught.value.loss)
    assert "weights are not finite: sequential" in caught.value.findings[-1]


def test_the_bad_sample_is_found_in_shuffled_arrays() -> None:
    x, y = arrays(bad_sample=100)

    with pytest.raises(InfiniteLossError) as caught:
        train(small_model(), x, y, loop="graph", seed=3)

    found = np.asarray(caught.value.batch[0])
    number = int(np.flatnonzero(np.isnan(found).any(1))[0])
    assert np.array_equal(found[number], x[100], equal_nan=True)
    assert caught.value.findings[0] == (
        f"x of this batch is not finite in 1 of 16 samples; the first is sample {number} of the batch, counted from 0"
    )


def test_a_training_that_diverges_on_good_data_blames_no_batch() -> None:
    x, y = arrays()

    with pytest.raises(InfiniteLossError) as caught:
        train(small_model(1e6), x, y, loop="graph")

    assert not any("of this batch" in words for words in caught.value.findings)


def test_a_stream_gives_the_step_though_its_batch_is_gone() -> None:
    x, y = arrays(bad_sample=BATCH * 7)
    stream = tf.data.Dataset.from_tensor_slices((x, y)).batch(BATCH)

    with pytest.raises(InfiniteLossError) as caught:
        train(small_model(), stream, loop="graph", shuffle=False)

    assert (caught.value.steps, caught.value.batch) == ((7, 7), None)


def test_without_being_asked_it_goes_on_as_keras_does() -> None:
    x, y = arrays(bad_sample=3)
    history = steptime.fit(small_model(), x, y, batch_size=BATCH, epochs=2, verbose=0, loop="graph")

    assert np.isnan(history.history["loss"]).all()
    assert len(history.history["loss"]) == 2


def test_targets_weights_and_several_inputs_are_named() -> None:
    bad = np.array([[1.0], [np.inf]], "float32")
    good = np.ones((2, 1), "float32")

    assert bad_in_batch((good, np.array([0, 1]))) == []
    assert bad_in_batch((good, bad))[0].startswith("y of this batch is not finite in 1 of 2 samples")
    assert bad_in_batch((good, good, np.array([np.nan, 1.0])))[0].startswith("sample_weight of this batch")
    assert bad_in_batch(((good, bad), good))[0].startswith("x[1] of this batch")


def test_bad_weights_are_counted_and_good_ones_said_to_be_good() -> None:
    model = small_model()

    assert bad_variables(model) == ["after the step every weight is still finite"]
    model.layers[1].kernel.assign(np.full((8, 1), np.nan))
    (words,) = bad_variables(model)
    assert words.endswith(
        "1 of 4 weights are not finite: " + model.layers[1].kernel.path + " (8 of 8 values)"
    )


def test_the_first_layer_that_overflows_is_named() -> None:
    model = small_model()
    x = np.ones((2, 4), "float32")

    assert first_bad_layer(model, x) is None
    model.layers[0].bias.assign(np.full(8, np.inf))
    assert first_bad_layer(model, x) == (
        f"the output of layer {model.layers[0].name} (Dense) is the first that is not finite"
    )
