"""Half the batch and twice the steps make the same update."""

import dataclasses
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from steptime.errors import RunError
from steptime.testing import make_plan
from steptime.worker.data import Part
from steptime.worker.job import Data
from steptime.worker.splitting import PerUpdate, split_data, split_updates, step_settings

pytestmark = pytest.mark.tensorflow
SAMPLES, BATCH = 96, 16


def trained(split: int, optimizer: Any) -> list[Any]:
    keras.utils.set_random_seed(4)
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(7, "tanh"), keras.layers.Dense(3)])
    model.compile(optimizer(), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    assert split_updates(model, split) == ()
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(SAMPLES, 5)).astype("float32"), rng.integers(0, 3, SAMPLES)
    model.fit(x, y, batch_size=BATCH // split, epochs=3, shuffle=False, verbose=0)
    assert int(model.optimizer.iterations) == 3 * SAMPLES // BATCH
    return [np.asarray(weight) for weight in model.weights]


def schedule() -> Any:
    return keras.optimizers.schedules.ExponentialDecay(0.5, 4, 0.5)


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: keras.optimizers.SGD(schedule()),
        lambda: keras.optimizers.Adam(0.01, global_clipnorm=0.1, weight_decay=0.01),
    ],
)
def test_the_weights_are_those_of_whole_batches_but_for_rounding(optimizer: Any) -> None:
    for whole, halved in zip(trained(1, optimizer), trained(4, optimizer), strict=True):
        np.testing.assert_allclose(halved, whole, rtol=2e-4, atol=2e-5)


def test_an_accumulation_of_the_workloads_own_is_multiplied() -> None:
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)])
    model.compile(keras.optimizers.SGD(gradient_accumulation_steps=3), "mse")
    split_updates(model, 2)

    assert model.optimizer.gradient_accumulation_steps == 6


def test_a_loss_scale_wraps_the_optimizer_that_accumulates() -> None:
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)])
    model.compile(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD()), "mse")
    split_updates(model, 2)

    assert model.optimizer.inner_optimizer.gradient_accumulation_steps == 2


def test_what_differs_is_said() -> None:
    model = keras.Sequential([keras.Input((5,)), keras.layers.BatchNormalization(), keras.layers.Dense(3)])
    model.compile(keras.optimizers.SGD(use_ema=True), "mse")
    normalisation, average = split_updates(model, 2)

    assert "takes its statistics from each part of a batch" in normalisation
    assert average == "Keras moves the average of the weights at every step, 2 times an update"


def test_a_sum_over_samples_and_a_built_optimizer_are_refused() -> None:
    model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(3)])
    model.compile("sgd", keras.losses.MeanSquaredError(reduction="sum"))
    with pytest.raises(RunError, match="MeanSquaredError sums over samples"):
        split_updates(model, 2)
    model.compile("sgd", "mse")
    model.optimizer.build(model.trainable_variables)
    with pytest.raises(RunError, match="has built its optimizer already"):
        split_updates(model, 2)


def test_a_data_set_is_cut_in_order_and_other_streams_are_refused() -> None:
    x = np.arange(24, dtype="float32")
    dataset = tf.data.Dataset.from_tensor_slices(x).batch(8)
    data = Data(training=Part(stream=dataset), validation=None, x=x[:8], y=None)

    halves = list(split_data(data, 2).training.stream.as_numpy_iterator())
    assert [len(half) for half in halves] == [4] * 6
    np.testing.assert_array_equal(np.concatenate(halves), x)
    with pytest.raises(RunError, match="Received: list_iterator with unknown samples"):
        split_data(dataclasses.replace(data, training=Part(stream=iter([1])), x=None), 2)


def test_the_settings_of_a_step_keep_the_samples_of_an_epoch() -> None:
    plan = make_plan(batch_size=32, steps_per_epoch=10)

    assert step_settings(plan) == plan.settings
    halved = step_settings(dataclasses.replace(plan, split=4))
    assert (halved.batch_size, halved.steps_per_epoch) == (8, 40)


def test_a_schedule_by_updates_can_be_saved_and_loaded() -> None:
    per_update = PerUpdate(schedule(), 3)
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(per_update))

    assert [float(copy(step)) for step in (0, 2, 3, 12)] == [float(schedule()(step)) for step in (0, 0, 1, 4)]
