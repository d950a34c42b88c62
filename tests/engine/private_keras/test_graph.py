"""The graph of a functional model, and what Keras keeps of layers."""

import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")

from steptime.engine.private_keras import changed_trainable, forget_losses, graph_of  # noqa: E402


def test_a_functional_model_is_a_graph_of_calls():
    start = keras.Input((4,))
    dense = keras.layers.Dense(3)
    end = dense(start * 2)
    graph = graph_of(keras.Model(start, end))

    assert graph.producer(end).operation is dense
    (first,) = graph.consumers(start)
    assert first.arguments[1] == 2
    assert graph.producer(graph.inputs[0]) is None


def test_a_model_in_python_has_none():
    class Own(keras.Model):
        """Calls nothing."""

        def call(self, x):
            return x

    assert graph_of(Own()) is None
    assert graph_of(keras.Sequential([keras.layers.Dense(1)])) is None


def test_a_change_of_trainable_after_the_first_step_is_seen():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3, use_bias=False)])
    model.compile("adam", "mse")
    model.layers[0].trainable = False
    assert changed_trainable(model) == ([], [])
    model.layers[0].trainable = True
    model.optimizer.build(model.trainable_variables)
    model.layers[0].trainable = False
    assert changed_trainable(model) == ([], [])  # a loaded model: its first step is yet to be traced
    model.make_train_function()
    assert changed_trainable(model) == ([model.layers[0].kernel], [])
    model.compile("adam", "mse")
    assert changed_trainable(model) == ([], [])


def test_a_model_that_is_compiled_with_an_optimizer_in_use_may_be_frozen_before():
    model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3), keras.layers.Dense(3)])
    model.compile("adam", "mse")
    model.train_on_batch(keras.ops.ones((2, 4)), keras.ops.ones((2, 3)))
    model.layers[0].trainable = False
    assert len(changed_trainable(model)[0]) == 2
    model.compile(model.optimizer, "mse")
    assert changed_trainable(model) == ([], [])


def test_losses_of_a_call_are_forgotten():
    model = keras.Sequential([keras.Input((4,)), keras.layers.ActivityRegularization(l2=1.0)])
    model(keras.ops.ones((1, 4)))
    assert len(model.losses) == 1
    forget_losses(model)
    assert model.losses == []
