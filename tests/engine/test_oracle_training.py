"""Every kind of model, metric and optimizer that changes what a step does trains as in stock Keras."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
graph_loop = pytest.mark.parametrize("loop", ["graph"])


def scorer(optimizer, **compile_arguments):
    """A model with one sigmoid output; the optimizer is what a test is about."""
    import keras

    inputs = keras.Input((6,), name="features")
    hidden = keras.layers.Dense(7, activation="tanh", name="hidden")(inputs)
    outputs = keras.layers.Dense(1, activation="sigmoid", name="score")(hidden)
    model = keras.Model(inputs, outputs)
    model.compile(optimizer, **{"loss": "binary_crossentropy", **compile_arguments})
    return model


def fitted(samples, **arguments):
    """A procedure that trains on whether the class is 1."""
    y = (samples.y == 1).astype("float32")[:, None]
    return lambda _, fit: fit(samples.x, y, **{"batch_size": 8, "epochs": 2, **arguments})


OPTIMIZERS = {
    "SGD nesterov": lambda k: k.SGD(0.05, momentum=0.9, nesterov=True, clipvalue=0.05),
    "Adam amsgrad": lambda k: k.Adam(0.01, amsgrad=True),
    "AdamW": lambda k: k.AdamW(0.01, weight_decay=0.02, global_clipnorm=0.05),
    "RMSprop": lambda k: k.RMSprop(0.01, centered=True, momentum=0.3),
    "clipped by norm": lambda k: k.Adam(0.01, clipnorm=0.02),
    "EMA": lambda k: k.SGD(0.1, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=4),
    "gradient accumulation": lambda k: k.Adam(0.01, gradient_accumulation_steps=4),
    "dynamic loss scale": lambda k: k.LossScaleOptimizer(k.SGD(0.1), dynamic_growth_steps=3),
}


@graph_loop
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_an_optimizer_makes_the_updates_it_makes_in_keras(loop, name, oracle, samples):
    import keras

    oracle(loop, lambda: scorer(OPTIMIZERS[name](keras.optimizers)), fitted(samples))


@pytest.mark.parametrize(
    ("name", "loop"),
    [
        ("EMA", "xla"),
        ("gradient accumulation", "xla"),
        ("AdamW", "graph+kernels"),
    ],
)
def test_an_optimizer_makes_the_same_updates_inside_xla_and_with_fused_kernels(loop, name, oracle, samples):
    import keras

    oracle(loop, lambda: scorer(OPTIMIZERS[name](keras.optimizers)), fitted(samples))


@graph_loop
@pytest.mark.parametrize("schedule", ["exponential", "cosine"])
def test_a_learning_rate_schedule_counts_the_steps(loop, schedule, oracle, samples):
    import keras

    def build():
        schedules = keras.optimizers.schedules
        rate = {
            "exponential": lambda: schedules.ExponentialDecay(0.1, 3, 0.5, staircase=True),
            "cosine": lambda: schedules.CosineDecay(0.0, 6, warmup_target=0.2, warmup_steps=3),
        }[schedule]()
        return scorer(keras.optimizers.Adam(rate))

    oracle(loop, build, fitted(samples))


@graph_loop
def test_metrics_that_keep_state_give_the_same_values(loop, oracle, samples):
    import keras

    def build():
        metrics = keras.metrics
        return scorer(
            "sgd",
            metrics=[metrics.AUC(name="auc"), metrics.Precision(name="p"), "mae"],
            weighted_metrics=[metrics.Recall(name="weighted_recall"), metrics.MeanSquaredError(name="m")],
        )

    y = (samples.val_y == 1).astype("float32")[:, None]
    validation = (samples.val_x, y, samples.val_weight)
    oracle(loop, build, fitted(samples, sample_weight=samples.weight, validation_data=validation))


@graph_loop
def test_metrics_and_losses_added_by_layers_are_counted(loop, oracle, samples):
    import keras

    @keras.saving.register_keras_serializable("oracle")
    class Watched(keras.layers.Layer):
        def __init__(self):
            super().__init__(name="watched")
            self.size = keras.metrics.Mean(name="size")

        def call(self, x):
            self.add_loss(0.01 * keras.ops.mean(x * x))
            self.size.update_state(keras.ops.mean(keras.ops.abs(x)))
            return x

    def build():
        inputs = keras.Input((6,))
        hidden = Watched()(keras.layers.Dense(4, kernel_regularizer="l2", name="dense")(inputs))
        model = keras.Model(inputs, keras.layers.Dense(1, name="out")(hidden))
        model.compile("sgd", "mse", metrics=["mae"])
        return model

    y = (samples.val_y == 1).astype("float32")[:, None]
    oracle(loop, build, fitted(samples, validation_data=(samples.val_x, y)))


@pytest.mark.parametrize(("optimizer", "loop"), [("sgd", "graph"), ("adam", "graph+kernels"), ("sgd", "xla")])
def test_batch_normalization_trains_its_moving_statistics(loop, optimizer, oracle, samples):
    import keras

    def build():
        layers = keras.layers
        model = keras.Sequential(
            [
                keras.Input((6, 6, 1)),
                # No bias before the norm: its gradient is zero but for rounding, of which Adam makes full steps.
                layers.Conv2D(4, 3, use_bias=False, name="conv"),
                layers.BatchNormalization(name="norm_images"),
                layers.ReLU(name="relu"),
                layers.Flatten(name="flat"),
                layers.Dense(5, use_bias=False, name="dense"),
                layers.BatchNormalization(momentum=0.8, name="norm_features"),
                layers.Dense(3, activation="softmax", name="out"),
            ]
        )
        model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
        return model

    images = np.random.default_rng(6).normal(size=(22, 6, 6, 1)).astype("float32")
    oracle(
        loop,
        build,
        lambda _, fit: fit(images, samples.y, batch_size=8, epochs=2, validation_split=0.3),
    )


@pytest.mark.parametrize(("kind", "loop", "mask"), [("LSTM", "graph", True), ("GRU", "xla", False)])
def test_recurrent_layers_train_the_same_with_and_without_a_mask(kind, loop, mask, oracle, samples):
    import keras

    words = np.random.default_rng(7).integers(0, 9, (22, 5))

    def build():
        inputs = keras.Input((5,), dtype="int32")
        vectors = keras.layers.Embedding(9, 4, mask_zero=mask, name="embed")(inputs)
        state = getattr(keras.layers, kind)(4, name="recurrent")(vectors)
        model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid", name="out")(state))
        model.compile("rmsprop", "binary_crossentropy", metrics=["accuracy"])
        return model

    y = (samples.y == 1).astype("float32")
    oracle(loop, build, lambda _, fit: fit(words, y, batch_size=8, epochs=2))


@graph_loop
@pytest.mark.parametrize("policy", ["mixed_float16", "float64"])
def test_a_precision_policy_is_kept(loop, policy, oracle, samples):
    import keras

    def build():
        dtype = keras.DTypePolicy(policy)
        inputs = keras.Input((6,))
        hidden = keras.layers.Dense(7, activation="relu", dtype=dtype, name="hidden")(inputs)
        outputs = keras.layers.Dense(1, dtype="float64" if policy == "float64" else "float32", name="out")
        model = keras.Model(inputs, outputs(hidden))
        optimizer = keras.optimizers.SGD(0.05)
        if policy == "mixed_float16":
            optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=64.0)
        model.compile(optimizer, "mse", metrics=["mae"])
        return model

    oracle(loop, build, fitted(samples), tolerance="graph" if policy == "float64" else "float16")


@graph_loop
def test_dropout_with_its_seed_draws_the_same_masks(loop, oracle, samples):
    import keras

    def build():
        inputs = keras.Input((6,))
        noisy = keras.layers.GaussianNoise(0.2, seed=4, name="noise")(inputs)
        hidden = keras.layers.Dropout(0.4, seed=3, name="drop")(keras.layers.Dense(9, name="hidden")(noisy))
        model = keras.Model(inputs, keras.layers.Dense(1, name="out")(hidden))
        model.compile("sgd", "mse")
        return model

    y = (samples.val_y == 1).astype("float32")[:, None]
    oracle(loop, build, fitted(samples, validation_data=(samples.val_x, y)))


@graph_loop
def test_a_constraint_holds_after_each_step(loop, oracle, samples):
    import keras

    def build():
        inputs = keras.Input((6,))
        layer = keras.layers.Dense(1, kernel_constraint=keras.constraints.MaxNorm(0.3), name="bounded")
        model = keras.Model(inputs, layer(inputs))
        model.compile(keras.optimizers.Adam(0.1), "mse")
        return model

    oracle(loop, build, fitted(samples))


@graph_loop
@pytest.mark.parametrize("kind", ["unbuilt Sequential", "subclass"])
def test_a_model_built_by_its_first_batch_trains_the_same(loop, kind, oracle, samples):
    import keras

    class Net(keras.Model):
        def __init__(self):
            super().__init__(name="net")
            self.hidden = keras.layers.Dense(4, name="hidden")
            self.drop = keras.layers.Dropout(0.3, seed=2, name="drop")
            self.out = keras.layers.Dense(1, name="out")

        def call(self, x, training=False):
            return self.out(self.drop(self.hidden(x), training=training))

    def build():
        if kind == "subclass":
            model = Net()
        else:
            model = keras.Sequential([keras.layers.Dense(4, name="a"), keras.layers.Dense(1, name="b")])
        model.compile("adam", "mse", metrics=["mae"])
        return model

    oracle(loop, build, fitted(samples))


@graph_loop
@pytest.mark.parametrize(
    "option",
    [{"steps_per_execution": 2}, {"jit_compile": True}, {"run_eagerly": True}],
    ids=str,
)
def test_options_of_compile_are_kept(loop, option, oracle, samples):
    used = ("keras",) if "run_eagerly" in option else ("graph", "keras")
    tolerance = "xla" if "jit_compile" in option else None
    oracle(loop, lambda: scorer("sgd", **option), fitted(samples), used=used, tolerance=tolerance)
