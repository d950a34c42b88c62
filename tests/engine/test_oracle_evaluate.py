"""``steptime.evaluate`` and ``steptime.predict`` return what Keras' own methods return."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def model(classifier):
    """One compiled model for the whole module: nothing here changes it."""
    import keras

    keras.utils.set_random_seed(2)
    return classifier()


EVALUATIONS = {
    "defaults": lambda s: {"x": s.x, "y": s.y},
    "a partial batch": lambda s: {"x": s.x, "y": s.y, "batch_size": 8},
    "a dict is asked for": lambda s: {"x": s.x, "y": s.y, "return_dict": True},
    "weighted": lambda s: {"x": s.x, "y": s.y, "sample_weight": s.weight, "batch_size": 5},
    "some steps": lambda s: {"x": s.x, "y": s.y, "batch_size": 4, "steps": 2},
}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_evaluate_returns_what_keras_returns(name, model, samples, same):
    import keras

    import steptime

    arguments = {"verbose": 0, **EVALUATIONS[name](samples)}
    stock = keras.Model.evaluate(model, **arguments)
    same(steptime.evaluate(model, **arguments), stock, "graph")


def test_evaluate_takes_a_dataset(model, samples, same):
    import tensorflow as tf

    import steptime

    data = tf.data.Dataset.from_tensor_slices((samples.x, samples.y)).batch(8)
    same(steptime.evaluate(model, data, verbose=0), model.evaluate(data, verbose=0), "graph")


@pytest.mark.parametrize("batch_size", [None, 8])
def test_predict_returns_what_keras_returns(batch_size, model, samples, same):
    import keras

    import steptime

    stock = keras.Model.predict(model, samples.x, batch_size=batch_size, verbose=0)
    same(steptime.predict(model, samples.x, batch_size=batch_size, verbose=0), stock, "graph")


def test_predict_takes_steps_and_a_dataset(model, samples, same):
    import tensorflow as tf

    import steptime

    data = tf.data.Dataset.from_tensor_slices(samples.x).batch(4)
    for arguments in ({"x": data}, {"x": data, "steps": 2}, {"x": samples.x, "batch_size": 4, "steps": 3}):
        stock = model.predict(**arguments, verbose=0)
        same(steptime.predict(model, **arguments, verbose=0), stock, "graph")


@pytest.mark.parametrize("method", ["evaluate", "predict"])
def test_callbacks_of_evaluate_and_predict_get_every_batch(method, classifier, samples, recorder, same):
    import steptime

    model = classifier()
    model.optimizer.build(model.trainable_variables)
    targets = {"y": samples.y} if method == "evaluate" else {}

    def calls(call, **more):
        callback = recorder()
        call(x=samples.x, batch_size=8, verbose=0, callbacks=[callback], **targets, **more)
        return callback.calls

    stock = calls(getattr(model, method))
    ours = calls(lambda **arguments: getattr(steptime, method)(model, **arguments))
    same(ours, stock, "graph")


@pytest.mark.parametrize("kind", [dict, list, tuple])
def test_predict_keeps_the_structure_of_several_outputs(kind, samples, same):
    import keras

    import steptime

    inputs = keras.Input((6,))
    outputs = {name: keras.layers.Dense(2, name=name)(inputs) for name in ("second", "first")}
    model = keras.Model(inputs, outputs if kind is dict else kind(outputs.values()))
    stock = model.predict(samples.x, batch_size=8, verbose=0)
    same(steptime.predict(model, samples.x, batch_size=8, verbose=0), stock, "graph")


def test_own_test_step_and_predict_step_are_used(samples, same):
    import keras

    import steptime

    class Own(keras.Model):
        def test_step(self, data):
            return {"sum": keras.ops.sum(self(data[0]))}

        def predict_step(self, data):
            return self(data[0] if isinstance(data, tuple) else data) * 2, keras.ops.shape(data)

    inputs = keras.Input((6,))
    model = Own(inputs, keras.layers.Dense(1, name="d")(inputs))
    model.compile(loss="mse")
    stock = model.evaluate(samples.x, samples.y, batch_size=22, verbose=0, return_dict=True)
    ours = steptime.evaluate(model, samples.x, samples.y, batch_size=22, verbose=0, return_dict=True)
    same(ours, stock, "graph")
    same(
        steptime.predict(model, samples.x, batch_size=22, verbose=0),
        model.predict(samples.x, batch_size=22, verbose=0),
        "graph",
    )


def test_evaluate_and_predict_change_no_weight(model, samples):
    import steptime

    before = [v.numpy() for v in model.weights]
    steptime.evaluate(model, samples.x, samples.y, verbose=0)
    steptime.predict(model, samples.x, verbose=0)
    for variable, value in zip(model.weights, before, strict=True):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_predict_after_new_weights_uses_them(model, samples, same):
    import keras

    import steptime

    start = model.get_weights()
    steptime.predict(model, samples.x, verbose=0)
    model.set_weights([w + 0.5 for w in start])
    ours = steptime.predict(model, samples.x, verbose=0)
    same(ours, keras.Model.predict(model, samples.x, verbose=0))
    model.set_weights(start)
