"""What people write themselves (steps, losses, metrics, several fits in a row) trains as in stock Keras."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
compiled_loops = pytest.mark.parametrize("loop", ["graph", "xla"])
graph_loop = pytest.mark.parametrize("loop", ["graph"])


def with_own_steps():
    """A model that clips its gradients itself, logs the order of its own metrics and validates in its own way."""
    import keras
    import tensorflow as tf

    class OwnSteps(keras.Model):
        def __init__(self, inputs, outputs):
            super().__init__(inputs, outputs, name="own_steps")
            self.error = keras.metrics.Mean(name="error")
            self.size = keras.metrics.Mean(name="gradient_size")

        @property
        def metrics(self):
            return [self.size, self.error]

        def train_step(self, data):
            x, y = data
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
            gradients = tape.gradient(loss, self.trainable_variables)
            clipped, size = tf.clip_by_global_norm(gradients, 0.5)
            self.optimizer.apply_gradients(zip(clipped, self.trainable_variables, strict=True))
            self.error.update_state(loss)
            self.size.update_state(size)
            return {"error": self.error.result(), "gradient_size": self.size.result(), "last": loss}

        def test_step(self, data):
            x, y = data
            self.error.update_state(tf.reduce_mean(tf.abs(self(x, training=False) - y)))
            return {"absolute": self.error.result()}

    inputs = keras.Input((6,))
    return OwnSteps(inputs, keras.layers.Dense(1, name="out")(inputs))


@pytest.mark.parametrize("loop", ["graph", "xla", "auto"])
def test_own_train_step_and_test_step_are_what_is_trained(loop, oracle, recorder, samples):
    def build():
        model = with_own_steps()
        model.compile("adam")
        return model

    def train(_, fit):
        callback = recorder("on_train_batch_end", "on_epoch_end", "on_test_end")
        y, val_y = samples.x[:, :1] ** 2, samples.val_x[:, :1] ** 2
        fit(
            samples.x, y, batch_size=8, epochs=2, validation_data=(samples.val_x, val_y), callbacks=[callback]
        )
        return callback.calls

    oracle(loop, build, train)


@graph_loop
def test_own_loss_and_metric_functions_are_used(loop, oracle, samples):
    import keras

    def cubic(y_true, y_pred):
        return keras.ops.mean(keras.ops.abs(y_true - y_pred) ** 3, axis=-1)

    def largest(y_true, y_pred):
        return keras.ops.max(keras.ops.abs(y_true - y_pred), axis=-1)

    def build():
        model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2, name="out")])
        model.compile("sgd", cubic, metrics=[largest])
        return model

    oracle(
        loop,
        build,
        lambda _, fit: fit(samples.x, samples.x[:, 2:4], batch_size=8, epochs=2, validation_split=0.3),
    )


@graph_loop
def test_own_compute_loss_and_compute_metrics_are_used(loop, oracle, samples):
    import keras

    class Own(keras.Model):
        def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
            return keras.ops.mean((y - y_pred) ** 4) + (0.5 if training else 0.0)

        def compute_metrics(self, x, y, y_pred, sample_weight=None):
            logs = super().compute_metrics(x, y, y_pred, sample_weight)
            return {**logs, "spread": keras.ops.std(y_pred)}

    def build():
        inputs = keras.Input((6,))
        model = Own(inputs, keras.layers.Dense(1, name="out")(inputs))
        model.compile("sgd", "mse", metrics=["mae"])
        return model

    y = samples.x[:, :1]
    oracle(
        loop,
        build,
        lambda _, fit: fit(samples.x, y, batch_size=8, epochs=2, validation_split=0.3),
    )


@graph_loop
def test_a_model_with_its_own_fit_or_train_function_is_left_to_keras(loop, oracle, samples):
    import keras

    class OwnFunction(keras.Model):
        def make_train_function(self, force=False):
            super().make_train_function(force)
            return self.train_function

    def build():
        inputs = keras.Input((6,))
        model = OwnFunction(inputs, keras.layers.Dense(1, name="out")(inputs))
        model.compile("sgd", "mse")
        return model

    oracle(
        loop,
        build,
        lambda _, fit: fit(samples.x, samples.x[:, :1], batch_size=8, epochs=2),
        used=("keras",),
    )


@compiled_loops
def test_a_second_fit_without_compile_goes_on_from_the_first(loop, oracle, classifier, samples):
    def train(_, fit):
        fit(samples.x, samples.y, batch_size=8, epochs=1)
        fit(samples.x, samples.y, batch_size=8, epochs=2, initial_epoch=1)
        fit(samples.val_x, samples.val_y, batch_size=5, epochs=1)

    oracle(loop, classifier, train)


@graph_loop
def test_a_fit_after_compile_uses_the_new_optimizer_loss_and_metrics(loop, oracle, classifier, samples):
    def train(model, fit):
        fit(samples.x, samples.y, batch_size=8, epochs=1)
        model.compile(
            "adam", "sparse_categorical_crossentropy", metrics=["sparse_top_k_categorical_accuracy"]
        )
        fit(samples.x, samples.y, batch_size=8, epochs=1)

    oracle(loop, classifier, train)


@graph_loop
def test_a_layer_frozen_between_fits_stays_as_it_is_after_compile(loop, oracle, classifier, samples):
    def train(model, fit):
        fit(samples.x, samples.y, batch_size=8, epochs=1)
        model.get_layer("hidden").trainable = False
        model.compile("adam", "sparse_categorical_crossentropy")
        fit(samples.x, samples.y, batch_size=8, epochs=1)
        return [w.numpy() for w in model.get_layer("hidden").weights]

    oracle(loop, classifier, train)


@graph_loop
def test_a_layer_frozen_between_fits_without_compile_does_what_keras_does(loop, oracle, classifier, samples):
    def train(model, fit):
        fit(samples.x, samples.y, batch_size=8, epochs=1)
        model.get_layer("hidden").trainable = False
        fit(samples.x, samples.y, batch_size=8, epochs=1)

    oracle(loop, classifier, train)


@graph_loop
def test_a_learning_rate_set_between_fits_is_used(loop, oracle, classifier, samples):
    def train(model, fit):
        fit(samples.x, samples.y, batch_size=8, epochs=1)
        model.optimizer.learning_rate = 0.01
        fit(samples.x, samples.y, batch_size=8, epochs=1)

    oracle(loop, classifier, train)


@graph_loop
def test_weights_set_between_fits_are_where_the_next_one_starts(loop, oracle, classifier, samples):
    def train(model, fit):
        start = model.get_weights()
        fit(samples.x, samples.y, batch_size=8, epochs=1)
        model.set_weights(start)
        fit(samples.x, samples.y, batch_size=8, epochs=1)

    oracle(loop, classifier, train)


@graph_loop
def test_evaluate_predict_and_train_on_batch_work_between_fits(loop, oracle, classifier, samples):
    def train(model, fit):
        fit(samples.x, samples.y, batch_size=8, epochs=1, validation_data=(samples.val_x, samples.val_y))
        evaluated = model.evaluate(samples.val_x, samples.val_y, verbose=0, return_dict=True)
        predicted = model.predict(samples.val_x, verbose=0)
        on_batch = model.train_on_batch(samples.x[:8], samples.y[:8], return_dict=True)
        fit(samples.x, samples.y, batch_size=8, epochs=1)
        return evaluated, predicted, on_batch

    oracle(loop, classifier, train)


@graph_loop
# Keras 3.15 copies its variables in a way that numpy 2 warns about.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_the_model_is_saved_and_loaded_with_its_optimizer_after_a_fit(
    loop, oracle, classifier, samples, tmp_path
):
    import keras

    def train(model, fit):
        fit(samples.x, samples.y, batch_size=8, epochs=1)
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.keras"
        model.save(path)
        again = keras.models.load_model(path)
        after = [v.numpy() for v in [*again.weights, *again.optimizer.variables]]
        return after, [type(layer).__name__ for layer in again.layers]

    oracle(loop, classifier, train)


@graph_loop
def test_a_model_inside_another_trains_the_same_and_may_be_fitted_alone(loop, oracle, classifier, samples):
    import keras

    def build():
        inner = classifier()
        inputs = keras.Input((6,))
        outer = keras.Model(inputs, keras.layers.Dense(3, name="top")(inner(inputs)))
        outer.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return outer

    oracle(loop, build, lambda _, fit: fit(samples.x, samples.y, batch_size=8, epochs=2))


@graph_loop
def test_ragged_data_never_fail_where_keras_works(loop, oracle):
    import keras
    import tensorflow as tf

    words = tf.ragged.constant([[1, 2], [3], [4, 5, 6], [1, 1], [2, 3, 4, 5]])

    def build():
        class MeanOfWords(keras.layers.Layer):
            def call(self, x):
                return tf.reduce_mean(tf.cast(x, "float32"), axis=1, keepdims=True)

        inputs = keras.Input((None,), dtype="int32", ragged=True)
        model = keras.Model(inputs, keras.layers.Dense(1, name="d")(MeanOfWords(name="mean")(inputs)))
        model.compile("sgd", "mse")
        return model

    oracle(
        loop,
        build,
        lambda _, fit: fit(words, np.arange(5.0), batch_size=2, epochs=2),
        used=("keras",),
    )
