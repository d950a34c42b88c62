"""What the context finds in a model, and that it leaves no trace on it."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")

layers = keras.layers


@keras.saving.register_keras_serializable("steptime-tests")
class Block(layers.Layer):
    """A person's own layer with batch normalisation inside."""

    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.dense = layers.Dense(width, use_bias=False)
        self.norms = [layers.BatchNormalization()]

    def build(self, input_shape):
        self.dense.build(input_shape)
        self.norms[0].build((*input_shape[:-1], self.dense.units))

    def get_config(self):
        return {**super().get_config(), "width": self.dense.units}

    def call(self, inputs, training=None):
        return self.norms[0](self.dense(inputs), training=training)


def nested_model(optimizer=None):
    inner = keras.Sequential(
        [layers.Input((4,)), layers.Dense(4, "relu", use_bias=False), layers.BatchNormalization()]
    )
    inputs = layers.Input((4,))
    model = keras.Model(inputs, layers.Dense(1)(Block(3)(inner(layers.BatchNormalization()(inputs)))))
    model.compile(optimizer or keras.optimizers.Adam(0.01), "mse")
    return model


def all_objects(model):
    found = [model, model.optimizer]
    for layer in model.layers:
        found += [layer, *getattr(layer, "layers", [])]
        found += [getattr(layer, "dense", layer), *getattr(layer, "norms", [])]
    return found


def snapshot(model):
    return [(id(found), type(found), dict(vars(found))) for found in all_objects(model)]


def batch():
    rng = np.random.default_rng(0)
    return rng.normal(size=(8, 4)).astype("float32"), rng.normal(size=(8, 1)).astype("float32")


def test_layers_are_found_in_submodels_and_in_custom_layers():
    from steptime.engine.kernels import substitute

    with substitute(nested_model(), batch_normalization=True) as names:
        assert names == ("BatchNormalization x 3", "Adam")


def test_without_a_gpu_layers_are_left_alone_unless_asked_for():
    import tensorflow as tf

    from steptime.engine.kernels import substitute

    with substitute(nested_model()) as names:
        assert ("BatchNormalization x 3" in names) == bool(tf.config.list_logical_devices("GPU"))
        assert "Adam" in names


def test_nothing_is_found_where_nothing_applies():
    from steptime.engine.kernels import substitute

    model = keras.Sequential([layers.Dense(1)])
    with substitute(model, batch_normalization=True) as names:
        assert names == ()
    model.compile("sgd", "mse")
    with substitute(model, batch_normalization=True) as names:
        assert names == ()


def test_a_nested_model_trains_as_stock_keras_does(assert_equal_training):
    # The inner normalisation's beta has no gradient but rounding, which Adam's usual epsilon would blow up.
    trained = assert_equal_training(
        lambda: nested_model(keras.optimizers.Adam(0.01, epsilon=0.01)), [batch()] * 4, atol=2e-6, rtol=1e-4
    )
    assert trained.substituted == ("BatchNormalization x 3", "Adam")
    assert trained.operations.count("FusedBatchNormV3") == 3
    assert trained.operations.count("ResourceApplyAdam") == len(trained.model.trainable_variables)


def test_the_model_is_pristine_when_the_context_closes():
    import tensorflow as tf

    from steptime.engine.kernels import substitute

    model = nested_model()
    model.train_on_batch(*batch())  # builds what Keras builds on first use
    before = snapshot(model)
    with substitute(model, batch_normalization=True):
        assert snapshot(model) != before
        tf.function(model.train_step, autograph=False)(batch())
    assert snapshot(model) == before


def test_the_model_is_pristine_after_an_error_inside_the_context():
    from steptime.engine.kernels import substitute

    model = nested_model()
    before = snapshot(model)
    with pytest.raises(RuntimeError, match="while tracing"), substitute(model, batch_normalization=True):
        raise RuntimeError("while tracing")
    assert snapshot(model) == before


def test_a_second_context_inside_the_first_finds_nothing_and_takes_nothing_away():
    from steptime.engine.kernels import substitute

    model = nested_model()
    with substitute(model, batch_normalization=True):
        inside = snapshot(model)
        with substitute(model, batch_normalization=True) as names:
            assert names == ()
        assert snapshot(model) == inside


def test_a_method_somebody_else_replaced_on_the_instance_is_left_alone():
    from steptime.engine.kernels import substitute

    model = nested_model()
    own = model.optimizer.update_step
    vars(model.optimizer)["update_step"] = own
    with substitute(model, batch_normalization=True) as names:
        assert names == ("BatchNormalization x 3",)
        assert vars(model.optimizer)["update_step"] is own


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
def test_a_file_saved_after_fused_steps_is_read_by_stock_keras_with_its_optimizer_state(tmp_path):
    import tensorflow as tf

    from steptime.engine.kernels import substitute

    model = nested_model()
    paths = [v.path for v in model.variables]
    with substitute(model, batch_normalization=True):
        tf.function(model.train_step, autograph=False)(batch())
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert [v.path for v in model.variables] == paths
    assert type(loaded.optimizer) is keras.optimizers.Adam
    for kept, read in zip(model.optimizer.variables, loaded.optimizer.variables, strict=True):
        np.testing.assert_array_equal(read.numpy(), kept.numpy())
    np.testing.assert_array_equal(loaded.predict(batch()[0], verbose=0), model.predict(batch()[0], verbose=0))


def test_optimizers_kept_as_attributes_are_found():
    from steptime.engine.kernels import substitute

    model = keras.Sequential([layers.Dense(1)])
    model.generator_optimizer = keras.optimizers.Adam()
    model.critic_optimizer = keras.optimizers.Adamax()
    with substitute(model, batch_normalization=True) as names:
        assert names == ("Adam", "Adamax")


def test_a_model_built_for_several_devices_keeps_stock_optimizers():
    import tensorflow as tf

    from steptime.engine.kernels import substitute

    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        model = nested_model()
    with substitute(model, batch_normalization=True) as names:
        assert names == ("BatchNormalization x 3",)


def test_a_second_order_gradient_passes_through_a_fused_layer():
    import tensorflow as tf

    from steptime.engine.kernels import substitute

    layer = layers.BatchNormalization()
    layer.build((None, 4))
    x = tf.constant(batch()[0])

    def penalty():
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            outer.watch(x)
            inner.watch(x)
            y = tf.reduce_sum(layer(x, training=True) ** 3)
            slope = inner.gradient(y, x)
            squared = tf.reduce_sum(slope**2)
        return outer.gradient(squared, x)

    expected = penalty()
    with substitute(keras.Sequential([layer]), batch_normalization=True) as names:
        received = penalty()
    assert names == ("BatchNormalization",)
    np.testing.assert_allclose(received, expected, rtol=1e-4, atol=1e-3)
