"""What is shadowed in Keras for `tf.distribute` is there, does what is needed, and is given back."""

from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from steptime.engine.private_keras import distribution as private

pytestmark = pytest.mark.tensorflow

BATCH = (tf.TensorSpec([4, 3], tf.float32), tf.TensorSpec([4, 1], tf.float32))


def compiled(optimizer: Any = "adam") -> keras.Model:
    layers = [keras.Input((3,)), keras.layers.BatchNormalization(), keras.layers.Dense(1)]
    model = keras.Sequential(layers)
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def test_everything_that_training_needs_is_made_before_the_first_step() -> None:
    model = compiled()
    private.build_state(model, BATCH)
    assert model.optimizer.built
    assert len(private.metric_variables(model)) == 4
    assert set(private.metric_results(model)) == {"loss", "mae"}
    before = len(model.variables) + len(model.optimizer.variables)
    model.fit(np.zeros((4, 3), "float32"), np.zeros((4, 1), "float32"), verbose=0)
    assert len(model.variables) + len(model.optimizer.variables) == before


def test_what_a_generator_marks_as_absent_is_none() -> None:
    model = compiled()
    private.build_state(model, (*BATCH, tf.OptionalSpec(None)))
    assert model.optimizer.built


def test_a_loss_counts_by_its_share_and_is_told_unscaled() -> None:
    from keras.src.losses import loss as loss_module

    loss = keras.losses.MeanSquaredError()
    whole = float(loss(np.zeros((2, 1)), np.ones((2, 1))))
    with private.loss_shares(lambda: 0.25, lambda: 1.0):
        scaled = loss(np.zeros((2, 1)), np.ones((2, 1)))
        assert float(scaled) == pytest.approx(0.25 * whole)
        assert float(loss_module.unscale_loss_for_distribution(scaled)) == pytest.approx(whole)
    assert float(loss(np.zeros((2, 1)), np.ones((2, 1)))) == whole


def test_a_sum_is_counted_once_by_replicas_that_compute_the_same() -> None:
    loss = keras.losses.MeanSquaredError(reduction="sum")
    whole = float(loss(np.zeros((2, 1)), np.ones((2, 1))))
    with private.loss_shares(lambda: 0.25, lambda: 0.5):
        assert float(loss(np.zeros((2, 1)), np.ones((2, 1)))) == pytest.approx(0.5 * whole)


def test_statistics_that_a_layer_keeps_are_noted() -> None:
    model = compiled()
    noted: dict[int, Any] = {}
    with private.noted_assignments(noted):
        model(np.ones((4, 3), "float32"), training=True)
    normalization = model.layers[0]
    assert set(noted) == {id(normalization.moving_mean), id(normalization.moving_variance)}


@pytest.mark.parametrize("is_scaled", [False, True])
def test_what_is_shadowed_exists_and_is_given_back(is_scaled: bool) -> None:
    inner = keras.optimizers.SGD()
    outer = keras.optimizers.LossScaleOptimizer(inner) if is_scaled else inner
    model = compiled(outer)
    names = {"_all_reduce_sum_gradients", "_backend_apply_gradients"}
    assert all(callable(getattr(inner, name)) for name in names)
    assert not is_scaled or callable(outer._tf_apply)
    with private.reduced_gradients(model):
        assert names <= set(vars(inner))
        assert ("_tf_apply" in vars(outer)) == is_scaled
    assert not names & set(vars(inner))
    assert "_tf_apply" not in vars(outer)
    assert hasattr(tf.distribute.get_strategy().extended, "_use_merge_call")
