"""When another batch size cannot change what an evaluation gives."""

import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")

from steptime.engine.private_keras import is_independent_of_batches  # noqa: E402


def sequential(*layers, shape=(3,), loss="mse", metrics=("mae",), cls=None):
    model = (cls or keras.Sequential)([keras.Input(shape), *layers, keras.layers.Dense(2)])
    model.compile("sgd", loss, metrics=list(metrics))
    return model


def test_keras_own_layers_losses_and_metrics_are_sums_over_samples():
    assert is_independent_of_batches(sequential())
    assert is_independent_of_batches(sequential(loss=keras.losses.Huber(), metrics=[keras.metrics.AUC()]))


def own_loss(y_true, y_pred):
    return keras.ops.max(y_true - y_pred)


class OwnLayer(keras.layers.Layer):
    def call(self, x):
        return x - keras.ops.mean(x, axis=0)


class OwnTestStep(keras.Sequential):
    def test_step(self, data):
        return super().test_step(data)


@pytest.mark.parametrize(
    "make",
    [
        lambda: sequential(loss=own_loss),
        lambda: sequential(loss="dice"),
        lambda: sequential(loss=keras.losses.MeanSquaredError(reduction="sum")),
        lambda: sequential(metrics=[own_loss]),
        lambda: sequential(OwnLayer()),
        lambda: sequential(keras.layers.Masking(), shape=(5, 3)),
        lambda: sequential(cls=OwnTestStep),
    ],
    ids=["loss", "dice", "sum", "metric", "layer", "mask", "test_step"],
)
def test_whatever_may_mix_samples_keeps_the_batch_size(make):
    assert not is_independent_of_batches(make())


def test_several_outputs_keep_the_batch_size_because_keras_averages_their_losses_over_batches():
    inputs = keras.Input((3,))
    model = keras.Model(inputs, [keras.layers.Dense(1)(inputs), keras.layers.Dense(1)(inputs)])
    model.compile("sgd", ["mse", "mse"])
    assert not is_independent_of_batches(model)
