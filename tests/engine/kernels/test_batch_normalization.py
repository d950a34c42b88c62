"""The fused batch normalisation against stock Keras: outputs, gradients and moving averages."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")

RNG = np.random.default_rng(5)


def batches(*shape, steps=5):
    return [
        (RNG.normal(2.0, 3.0, size=(8, *shape)).astype("float32"), RNG.normal(size=(8, 1)).astype("float32"))
        for _ in range(steps)
    ]


def normalised(*shape, dtype="float32", mask=False, **options):
    """With plain SGD: Adam blows up gradients that are zero but for rounding, as a bias has here."""

    def build():
        inputs = keras.layers.Input(shape)
        x = keras.layers.Masking()(inputs) if mask else inputs
        x = keras.layers.Dense(shape[-1], use_bias=False, dtype=dtype)(x)  # learns by the gradient passed on
        x = keras.layers.BatchNormalization(dtype=dtype, **options)(x)
        x = keras.layers.Flatten(dtype=dtype)(keras.layers.Activation("tanh", dtype=dtype)(x))
        made = keras.Model(inputs, keras.layers.Dense(1, dtype="float32")(x))
        made.compile(keras.optimizers.SGD(0.05), "mse")
        return made

    return build


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        pytest.param((6,), {}, id="vectors"),
        pytest.param((5, 4), {}, id="sequences"),
        pytest.param((5, 4, 3), {}, id="images"),
        pytest.param((2, 3, 4, 3), {}, id="volumes"),
        pytest.param((5, 4, 3), {"axis": 3}, id="last axis by number"),
        pytest.param((5, 4, 3), {"scale": False}, id="no scale"),
        pytest.param((5, 4, 3), {"center": False}, id="no center"),
        pytest.param((5, 4, 3), {"scale": False, "center": False}, id="neither"),
        pytest.param((5, 4, 3), {"momentum": 0.5, "epsilon": 0.1}, id="momentum and epsilon"),
        pytest.param(
            (6,), {"gamma_regularizer": "l2", "beta_constraint": "unit_norm"}, id="regularised, constrained"
        ),
    ],
)
def test_the_fused_layer_trains_as_stock_keras_does(assert_equal_training, shape, options):
    trained = assert_equal_training(normalised(*shape, **options), batches(*shape), atol=2e-6)
    assert trained.substituted == ("BatchNormalization",)
    assert trained.operations.count("FusedBatchNormV3") == 1
    assert trained.operations.count("FusedBatchNormGradV3") == 1


@pytest.mark.parametrize(
    ("policy", "tolerance"),
    [("mixed_float16", 2e-3), ("mixed_bfloat16", 2e-2), ("float16", 4e-3)],
)
def test_low_precision_activations_agree_to_their_own_precision(assert_equal_training, policy, tolerance):
    built = normalised(5, 4, 3, dtype=policy)
    trained = assert_equal_training(built, batches(5, 4, 3, steps=3), atol=tolerance, rtol=tolerance)
    assert trained.operations.count("FusedBatchNormV3") == 1


def test_a_single_value_a_channel_has_variance_zero(train_both):
    stock, fused = train_both(normalised(3), [(x[:1], y[:1]) for x, y in batches(3)])
    for name in ("moving_mean", "moving_variance"):
        expected, received = (getattr(t.model.layers[2], name).numpy() for t in (stock, fused))
        np.testing.assert_allclose(received, expected, atol=1e-6)


def test_the_moving_variance_is_the_biased_one_when_the_batch_size_is_known_only_when_run():
    import tensorflow as tf

    from steptime.engine.kernels import substitute

    model = normalised(3, momentum=0.0)()

    @tf.function(input_signature=[tf.TensorSpec((None, 3)), tf.TensorSpec((None, 1))], autograph=False)
    def step(x, y):
        return model.train_step((x, y))

    (x, y), *_ = batches(3)
    with substitute(model, batch_normalization=True):
        for rows in (8, 2):
            inputs = model.layers[1](x[:rows]).numpy()
            step(x[:rows], y[:rows])
            received = model.layers[2].moving_variance.numpy()
            np.testing.assert_allclose(received, inputs.var(axis=0), rtol=1e-5)


def test_inference_with_the_context_open_is_stock_code(train_both):
    from steptime.engine.kernels import substitute

    stock, fused = train_both(normalised(6), batches(6, steps=1))
    x = batches(6)[0][0]
    with substitute(fused.model, batch_normalization=True) as names:
        assert names == ("BatchNormalization",)
        received = fused.model(x, training=False)
    fused.model.set_weights(stock.model.get_weights())
    np.testing.assert_array_equal(fused.model(x, training=False), stock.model(x, training=False))
    np.testing.assert_allclose(received, stock.model(x, training=False), atol=1e-5)


@pytest.mark.filterwarnings("ignore:Layer 'flatten")
def test_a_mask_reaches_stock_keras(assert_equal_training):
    data = batches(5, 4)
    for x, _ in data:
        x[:, 3:] = 0.0
    trained = assert_equal_training(normalised(5, 4, mask=True), data, atol=0, rtol=0)
    assert "FusedBatchNormV3" not in trained.operations


class MyBatchNormalization(keras.layers.BatchNormalization):
    pass


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        pytest.param((5, 4, 3), {"axis": 1}, id="another axis"),
        pytest.param((6,), {"trainable": False}, id="frozen"),
        pytest.param((6,), {"synchronized": True}, id="synchronised"),
        pytest.param((6,), {"epsilon": 1e-6}, id="an epsilon below cuDNN's"),
        pytest.param((6,), {"dtype": "float64"}, id="float64"),
    ],
)
def test_a_layer_without_a_fused_equal_is_declined(assert_equal_training, shape, options):
    trained = assert_equal_training(normalised(*shape, **options), batches(*shape, steps=2), atol=0, rtol=0)
    assert trained.substituted == ()
    assert "FusedBatchNormV3" not in trained.operations


def test_renormalisation_is_declined(assert_equal_training):
    try:
        keras.layers.BatchNormalization(renorm=True)
    except (TypeError, ValueError):
        pytest.skip("this Keras has no batch renormalisation")
    trained = assert_equal_training(normalised(6, renorm=True), batches(6, steps=2), atol=0, rtol=0)
    assert trained.substituted == ()


def test_a_subclass_is_declined():
    from steptime.engine.kernels.batch_normalization import fused_methods

    assert fused_methods(MyBatchNormalization()) is None
    assert fused_methods(keras.layers.BatchNormalization()) is not None
