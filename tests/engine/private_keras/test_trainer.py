"""What is reached for in Keras' trainer is still there."""

import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

from steptime.engine import private_keras  # noqa: E402


@pytest.fixture
def model():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


@pytest.mark.parametrize("name", ["fit", "evaluate", "predict", "make_train_function", "make_test_function"])
def test_keras_own_method_is_found_behind_a_replaced_one(name, monkeypatch):
    own = getattr(keras.Model, name)
    assert private_keras.stock(name) is own
    monkeypatch.setattr(keras.Model, name, lambda self: None, raising=False)
    assert private_keras.stock(name) is own, f"keras.Model.{name} is no longer inherited from its trainer"


def test_an_override_is_told_from_keras_own(model):
    class Mine(keras.Sequential):
        def fit(self, *args, **kwargs):
            return "mine"

    mine = Mine([keras.Input((3,)), keras.layers.Dense(1)])
    assert private_keras.overrides(mine, "fit")
    assert not private_keras.overrides(model, "fit")
    assert private_keras.own_or_stock(mine, "fit", check_override=True)() == "mine"
    assert private_keras.own_or_stock(mine, "fit", check_override=False).func is private_keras.stock("fit")


def test_keras_train_function_runs_the_step_it_is_given(model):
    seen = []

    def step(data):
        seen.append(data)
        return {"loss": tf.constant(2.0)}

    function = private_keras.make_function(model, step)
    logs = function(iter(tf.data.Dataset.from_tensors(np.ones((2, 3), "float32"))))
    assert float(logs["loss"]) == 2.0, (
        "the function of TensorFlowTrainer._make_function no longer runs its step"
    )
    assert len(seen) == 1
    assert not private_keras.is_foreign_function(function)


def test_a_replaced_train_function_is_told_from_keras_own(model):
    model.make_train_function()
    assert not private_keras.is_foreign_function(model.train_function)
    assert not private_keras.is_foreign_function(None)
    assert private_keras.is_foreign_function(lambda iterator: None)


def test_keras_predict_function_takes_a_list_of_batches(model):
    function = private_keras.make_predict_function(model)
    assert function([(np.ones((2, 3), "float32"),)]).shape == (2, 1)


def test_the_epoch_a_callback_asked_for_wins_over_the_one_given(model):
    assert private_keras.initial_epoch(model, 2) == 2
    model._initial_epoch = 5
    assert private_keras.initial_epoch(model, 2) == 5


def test_limits_for_debugging_are_kept():
    if not hasattr(keras.config, "set_max_epochs"):
        pytest.skip("this Keras has no limits")
    keras.config.set_max_epochs(2)
    keras.config.set_max_steps_per_epoch(3)
    try:
        with pytest.warns(UserWarning, match="Limiting epochs to 2"):
            assert private_keras.limit_epochs(7) == 2
        with pytest.warns(UserWarning, match="Limiting steps_per_epoch to 3"):
            assert private_keras.limit_steps(None) == 3
    finally:
        keras.config.set_max_epochs(None)
        keras.config.set_max_steps_per_epoch(None)
    assert private_keras.limit_epochs(7) == 7
    assert private_keras.limit_steps(None) is None


def test_validation_frequency_is_read_as_keras_reads_it(model):
    assert [private_keras.should_evaluate(model, epoch, 2) for epoch in range(4)] == [
        False,
        True,
        False,
        True,
    ]
    assert private_keras.should_evaluate(model, 0, [1, 3])


def test_the_metrics_of_an_epoch_replace_the_last_logs_only_where_names_agree(model):
    model.train_on_batch(np.ones((2, 3), "float32"), np.ones((2, 1), "float32"))
    assert set(private_keras.epoch_logs(model, {"loss": 0.0, "mae": 0.0})) == {"loss", "mae"}
    assert private_keras.epoch_logs(model, {"other": 1.0}) == {"other": 1.0}
    assert private_keras.in_metric_order(model, {"mae": 2.0, "loss": 1.0}) == [1.0, 2.0]
    assert private_keras.python_logs({"loss": tf.constant(1.5)}) == {"loss": 1.5}


def test_a_strategy_is_seen(model):
    assert not private_keras.has_strategy(model)
    assert private_keras.own_strategy(model) is None
    strategy = tf.distribute.OneDeviceStrategy("/CPU:0")
    with strategy.scope():
        under = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    assert private_keras.has_strategy(under)
    assert private_keras.own_strategy(under) is strategy


def test_determinism_can_be_asked_for():
    assert private_keras.is_determinism_enabled() is False


def test_a_validation_is_cached_as_keras_fit_caches_it(model):
    arguments = {"x": np.ones((4, 3), "float32"), "y": np.ones((4, 1), "float32"), "batch_size": 2}
    arguments["sample_weight"] = None
    private_keras.cache_validation(model, **arguments, steps_per_epoch=None)
    logs = private_keras.evaluate_cached(model, **arguments, steps=None, verbose=0)
    assert set(logs) == {"loss", "mae"}
    private_keras.forget_validation(model)
    assert getattr(model, "_eval_epoch_iterator", None) is None
