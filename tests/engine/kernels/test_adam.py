"""The fused optimizer updates against stock Keras, every option of the optimizers in turn."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")

RNG = np.random.default_rng(3)
BATCHES = [
    (RNG.normal(size=(16, 6)).astype("float32"), RNG.normal(size=(16, 2)).astype("float32")) for _ in range(5)
]
ADAM, ADAMW, ADAMAX = keras.optimizers.Adam, keras.optimizers.AdamW, keras.optimizers.Adamax


def model_with(optimizer, dtype="float32", **layer):
    def build():
        made = keras.Sequential(
            [
                keras.layers.Input((6,), dtype="float32"),
                keras.layers.Dense(5, "tanh", dtype=dtype, **layer),
                keras.layers.Dense(2, dtype=dtype),
            ]
        )
        made.compile(optimizer(), "mse")
        return made

    return build


@pytest.mark.parametrize(
    ("optimizer", "operation", "name"),
    [
        pytest.param(lambda: ADAM(0.01), "ResourceApplyAdam", "Adam", id="adam"),
        pytest.param(lambda: ADAMW(0.01), "ResourceApplyAdam", "AdamW", id="adamw"),
        pytest.param(lambda: ADAMAX(0.01), "ResourceApplyAdaMax", "Adamax", id="adamax"),
        pytest.param(
            lambda: ADAM(0.01, amsgrad=True), "ResourceApplyAdamWithAmsgrad", "Adam", id="adam with amsgrad"
        ),
        pytest.param(
            lambda: ADAM(0.01, beta_1=0.5, beta_2=0.9, epsilon=1e-3), "ResourceApplyAdam", "Adam", id="betas"
        ),
        pytest.param(lambda: ADAM(0.01, weight_decay=0.1), "ResourceApplyAdam", "Adam", id="weight decay"),
        pytest.param(lambda: ADAM(0.01, clipnorm=0.1), "ResourceApplyAdam", "Adam", id="clipnorm"),
        pytest.param(lambda: ADAM(0.01, clipvalue=0.01), "ResourceApplyAdam", "Adam", id="clipvalue"),
        pytest.param(
            lambda: ADAM(0.01, global_clipnorm=0.1), "ResourceApplyAdam", "Adam", id="global clipnorm"
        ),
        pytest.param(
            lambda: ADAM(0.01, use_ema=True, ema_overwrite_frequency=2), "ResourceApplyAdam", "Adam", id="ema"
        ),
        pytest.param(
            lambda: ADAM(0.01, gradient_accumulation_steps=2), "ResourceApplyAdam", "Adam", id="accumulation"
        ),
        pytest.param(lambda: ADAM(0.01, loss_scale_factor=8.0), "ResourceApplyAdam", "Adam", id="loss scale"),
        pytest.param(
            lambda: ADAM(keras.optimizers.schedules.ExponentialDecay(0.02, 2, 0.5)),
            "ResourceApplyAdam",
            "Adam",
            id="schedule",
        ),
        pytest.param(lambda: ADAM(lambda: 0.01), "ResourceApplyAdam", "Adam", id="callable learning rate"),
        pytest.param(
            lambda: keras.optimizers.LossScaleOptimizer(ADAM(0.01)),
            "ResourceApplyAdam",
            "Adam",
            id="loss scale optimizer",
        ),
    ],
)
def test_the_fused_update_trains_as_stock_keras_does(assert_equal_training, optimizer, operation, name):
    trained = assert_equal_training(model_with(optimizer), BATCHES)
    assert trained.substituted == (name,)
    assert trained.operations.count(operation) == 4


def test_a_float64_model_is_updated_to_the_last_digits(assert_equal_training):
    trained = assert_equal_training(model_with(lambda: ADAM(0.01), dtype="float64"), BATCHES, atol=1e-9)
    assert trained.operations.count("ResourceApplyAdam") == 4


@pytest.mark.parametrize("policy", ["mixed_float16", "mixed_bfloat16"])
def test_float32_weights_of_a_mixed_precision_model_take_the_fused_update(assert_equal_training, policy):
    trained = assert_equal_training(model_with(lambda: ADAM(0.01), dtype=policy), BATCHES)
    assert trained.operations.count("ResourceApplyAdam") == 4


def test_weights_kept_in_half_precision_stay_with_stock_keras(assert_equal_training):
    trained = assert_equal_training(model_with(lambda: ADAM(0.01), dtype="bfloat16"), BATCHES, atol=0, rtol=0)
    assert "ResourceApplyAdam" not in trained.operations


def test_a_constraint_acts_after_the_fused_update(assert_equal_training):
    constrained = model_with(lambda: ADAM(0.01), kernel_constraint=keras.constraints.MaxNorm(0.5))
    trained = assert_equal_training(constrained, BATCHES)
    norms = np.linalg.norm(trained.model.layers[0].kernel.numpy(), axis=0)
    assert norms.max() <= 0.5 + 1e-6


def test_a_sparse_gradient_stays_with_stock_keras(assert_equal_training):
    def build():
        made = keras.Sequential(
            [keras.layers.Embedding(9, 3), keras.layers.GlobalAveragePooling1D(), keras.layers.Dense(1)]
        )
        made.build((None, 4))
        made.compile(ADAM(0.01), "mse")
        return made

    batches = [(RNG.integers(0, 9, size=(8, 4)), RNG.normal(size=(8, 1)).astype("float32")) for _ in range(3)]
    trained = assert_equal_training(build, batches)
    assert trained.operations.count("ResourceApplyAdam") == 2  # the dense layer's kernel and bias


def test_weights_and_optimizer_state_of_a_second_apply_in_one_step_use_their_own_step_number(
    assert_equal_training,
):
    import tensorflow as tf

    class Twice(keras.Sequential):
        def train_step(self, data):
            x, y = data
            for layer in self.layers:
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
                gradients = tape.gradient(loss, layer.trainable_variables)
                self.optimizer.apply(gradients, layer.trainable_variables)
            return {"loss": loss}

    def build():
        made = Twice([keras.layers.Input((6,)), keras.layers.Dense(5, "tanh"), keras.layers.Dense(2)])
        made.compile(ADAM(0.01))
        return made

    trained = assert_equal_training(build, BATCHES)
    assert int(trained.model.optimizer.iterations.numpy()) == 2 * len(BATCHES)
    assert trained.operations.count("ResourceApplyAdam") == 4


def test_the_bias_corrections_are_computed_once_for_all_variables(train_both):
    stock, fused = train_both(model_with(lambda: ADAM(0.01)), BATCHES[:1])
    assert stock.operations.count("Pow") == 2 * 4
    assert fused.operations.count("Pow") == 2


@pytest.mark.parametrize(
    "optimizer",
    [
        pytest.param(lambda: keras.optimizers.Nadam(0.01), id="nadam"),
        pytest.param(lambda: keras.optimizers.SGD(0.01), id="sgd"),
        pytest.param(lambda: type("MyAdam", (ADAM,), {})(0.01), id="a subclass of adam"),
    ],
)
def test_other_optimizers_are_declined(assert_equal_training, optimizer):
    trained = assert_equal_training(model_with(optimizer), BATCHES[:2], atol=0, rtol=0)
    assert trained.substituted == ()
    assert not any(operation.startswith("ResourceApplyAda") for operation in trained.operations)
