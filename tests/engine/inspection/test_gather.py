"""Each lint fires on a real faulty model or call of fit, and is silent on its sound twin; nothing is changed."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")
import tensorflow as tf  # noqa: E402
from keras import layers  # noqa: E402

from steptime.diagnosis.model import lint  # noqa: E402
from steptime.engine.inspection import PastFits, complete, gather  # noqa: E402
from steptime.engine.inspection.subject import UNBUILT  # noqa: E402
from steptime.engine.request import FitRequest  # noqa: E402
from steptime.record.model_facts import FACTS  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.random((64, 8), dtype="float32")
Y = np.tile(np.arange(4), 16)
SPARSE = "sparse_categorical_crossentropy"


def model(*stack, shape=(8,), loss=SPARSE, dtype=None, optimizer="adam", **compile_arguments):
    made = keras.Sequential([keras.Input(shape, dtype=dtype), *stack])
    made.compile(optimizer, loss, **compile_arguments)
    return made


def classifier(**arguments):
    return model(layers.Dense(4, activation="softmax"), **arguments)


def findings(made, *given, past=None, **arguments):
    """Kind to severity of what is found; every fact must have been read, or have a reason that is not a failure."""
    facts = gather(made, FitRequest(*(given or (X, Y)), **arguments), past=past)
    assert not [why for why in facts.unknown.values() if why.startswith("it could not be read")], (
        facts.unknown
    )
    assert set(facts.values) | set(facts.unknown) == set(FACTS)
    return {finding.kind: finding.severity for finding in lint(facts).findings}


def dataset(*, x=X, y=Y):
    return tf.data.Dataset.from_tensor_slices((x, y))


@pytest.fixture
def policy():
    def use(name):
        keras.config.set_dtype_policy(name)

    yield use
    keras.config.set_dtype_policy("float32")


def test_a_sound_model_has_no_finding():
    held = RNG.random((16, 8), dtype="float32")
    assert findings(classifier(), X, Y, 16, validation_data=(held, Y[:16])) == {}


def test_softmax_with_logits_loss_is_a_hint_in_float32_and_an_error_in_mixed_precision(policy):
    logits = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    assert findings(classifier(loss=logits)) == {"softmax-from-logits": "hint"}
    behind = model(layers.Dense(4, activation="softmax"), layers.Reshape((4,)), loss=logits)
    assert findings(behind)["softmax-from-logits"] == "error"
    policy("mixed_bfloat16")
    assert findings(classifier(loss=logits))["softmax-from-logits"] == "error"
    sound = model(layers.Dense(4, dtype="float32"), loss=logits)
    assert findings(sound) == {}
    rescued = model(layers.Dense(4, activation="softmax", dtype="float32"), loss=logits)
    assert findings(rescued) == {"softmax-from-logits": "hint"}


@pytest.mark.parametrize("name", ["mixed_bfloat16", "float32"])
def test_keras_rescues_the_softmax_exactly_where_the_lint_says_so(policy, name):
    policy(name)
    logits = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    made = model(layers.Dense(4, activation="softmax", kernel_initializer="ones", name="end"), loss=logits)
    kernel = np.zeros((8, 4), "float32")
    kernel[:, 0] = 3
    made.get_layer("end").set_weights([kernel, np.zeros(4, "float32")])
    with pytest.warns() if name == "float32" else np.errstate():
        loss = made.train_on_batch(X, np.ones(64))
    right = float(np.mean(X.sum(axis=1) * 3))
    assert (loss > 0.8 * right) == (findings(made)["softmax-from-logits"] == "hint")


def test_logits_with_a_loss_of_probabilities():
    assert findings(model(layers.Dense(4)))["logits-without-from-logits"] == "error"
    binary = model(layers.Dense(1), loss="bce")
    assert findings(binary, X, Y % 2)["logits-without-from-logits"] == "error"
    sound = model(layers.Dense(4), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    assert findings(sound) == {}
    assert findings(model(layers.Dense(1), loss="mse"), X, Y) == {}


def test_a_nested_model_and_a_functional_one_are_looked_through():
    inner = keras.Sequential([keras.Input((8,)), layers.Dense(4)])
    assert findings(model(inner))["logits-without-from-logits"] == "error"
    start = keras.Input((8,))
    end = keras.ops.softmax(layers.Dense(4)(start))
    made = keras.Model(start, end)
    made.compile("adam", SPARSE)
    assert findings(made) == {}


def test_the_form_and_the_range_of_labels():
    one_hot = keras.utils.to_categorical(Y)
    assert findings(classifier(), X, one_hot) == {"label-form": "error"}
    assert findings(classifier(loss="categorical_crossentropy"), X, Y) == {"label-form": "error"}
    assert findings(classifier(loss="categorical_crossentropy"), X, one_hot) == {}
    assert findings(classifier(), X, Y + 1) == {"labels-out-of-range": "error"}
    assert findings(classifier(), X, Y[:, None]) == {}
    ignoring = keras.losses.SparseCategoricalCrossentropy(ignore_class=-1)
    assert findings(classifier(loss=ignoring), X, np.where(Y == 3, -1, Y)) == {}
    one = model(layers.Dense(1, activation="softmax"), loss="bce")
    assert findings(one, X, Y % 2) == {"softmax-of-one": "error"}


def test_half_precision(policy):
    policy("mixed_float16")
    assert findings(classifier()) == {"half-precision-output": "warning"}
    assert findings(model(layers.Dense(4, activation="softmax", dtype="float32"))) == {}
    unscaled = classifier(auto_scale_loss=False)
    assert findings(unscaled)["no-loss-scaling"] == "warning"


def test_values_of_the_input():
    pixels = RNG.integers(0, 256, (64, 8), dtype="uint8")
    pixels[0, :2] = 0, 255
    assert findings(classifier(), pixels, Y) == {"input-not-normalised": "warning"}
    scaled = model(layers.Rescaling(1 / 255), layers.Dense(4, activation="softmax"))
    assert findings(scaled, pixels, Y) == {}
    assert findings(scaled, X, Y) == {"input-normalised-twice": "warning"}
    augmented = model(keras.Sequential([layers.Rescaling(1 / 255)]), layers.Dense(4, activation="softmax"))
    assert findings(augmented, pixels, Y) == {}
    normed = model(layers.BatchNormalization(), layers.Dense(4, activation="softmax"))
    assert "input-not-normalised" not in findings(normed, pixels, Y)
    start = keras.Input((8,))
    divided = keras.Model(start, layers.Dense(4, activation="softmax")(start / 255.0))
    divided.compile("adam", SPARSE)
    assert findings(divided, pixels, Y) == {}
    broken = X.copy()
    broken[3, 3] = np.nan
    assert findings(classifier(), broken, Y) == {"input-not-finite": "error"}
    ids = model(layers.Embedding(300, 4), layers.Flatten(), layers.Dense(4, activation="softmax"))
    assert findings(ids, pixels.astype("int32"), Y) == {}


def test_double_precision():
    large = RNG.random((64, 4096))
    made = classifier(shape=(4096,))
    assert findings(made, large, Y) == {"float64-arrays": "hint"}
    assert findings(made, large.astype("float32"), Y) == {}


def test_validation_on_what_is_trained():
    assert findings(classifier(), X, Y, validation_data=(X, Y)) == {"validation-is-training": "error"}
    assert findings(classifier(), X, Y, validation_data=(X.copy(), Y)) == {"validation-is-training": "error"}
    wide = RNG.random((64, 32), dtype="float32")
    some = np.concatenate([wide[:8], RNG.random((24, 32), dtype="float32")])
    assert findings(classifier(shape=(32,)), wide, Y, validation_data=(some, Y[:32])) == {
        "validation-is-training": "warning"
    }
    held = RNG.random((32, 32), dtype="float32")
    assert findings(classifier(shape=(32,)), wide, Y, validation_data=(held, Y[:32])) == {}


def test_a_split_of_sorted_data():
    x, y = np.tile(X, (10, 1)), np.tile(Y, 10)
    assert findings(classifier(), x, np.sort(y), validation_split=0.25) == {"split-of-sorted-data": "error"}
    assert findings(classifier(), x, y, validation_split=0.25) == {}
    price = model(layers.Dense(1), loss="mse")
    real = RNG.random(640, dtype="float32")
    assert findings(price, x, np.sort(real), validation_split=0.25) == {"split-of-sorted-data": "warning"}
    assert findings(price, x, real, validation_split=0.25) == {}


def test_the_order_of_a_pipeline():
    sound = dataset().cache().shuffle(64).batch(16).prefetch(1)
    assert findings(classifier(), sound) == {}
    assert findings(classifier(), dataset().batch(16).prefetch(1)) == {"data-not-shuffled": "warning"}
    many = dataset(x=np.tile(X, (10, 1)), y=np.sort(np.tile(Y, 10)))
    assert findings(classifier(), many.batch(16).prefetch(1)) == {"data-not-shuffled": "error"}
    assert findings(classifier(), dataset().batch(16).shuffle(4).prefetch(1)) == {
        "shuffled-after-batch": "warning"
    }
    assert findings(classifier(), dataset().shuffle(64).cache().batch(16).prefetch(1)) == {
        "cached-after-shuffle": "warning"
    }
    assert findings(classifier(), dataset().shuffle(64).batch(16)) == {"not-prefetched": "hint"}
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    assert findings(classifier(), dataset().shuffle(64).batch(16).with_options(options)) == {
        "not-prefetched": "warning"
    }


@pytest.mark.parametrize("by", ["tf.random", "layer"])
def test_augmentation_before_the_cache(by):
    noise = layers.GaussianNoise(0.1)

    def augment(x, y):
        return (x + tf.random.uniform(tf.shape(x)) if by == "tf.random" else noise(x, training=True)), y

    end = [lambda d: d.shuffle(64), lambda d: d.batch(16), lambda d: d.prefetch(1)]

    def pipeline(*steps):
        made = dataset()
        for step in (*steps, *end):
            made = step(made)
        return made

    late = pipeline(lambda d: d.map(augment), lambda d: d.cache())
    early = pipeline(lambda d: d.cache(), lambda d: d.map(augment, num_parallel_calls=2))
    assert findings(classifier(), late) == {"cached-after-augmentation": "error"}
    assert findings(classifier(), early) == {}


def test_batch_normalisation():
    def normed(momentum=0.99):
        return model(layers.BatchNormalization(momentum=momentum), layers.Dense(4, activation="softmax"))

    assert findings(normed(), X, Y, 4, epochs=100) == {"tiny-batch-norm": "warning"}
    assert findings(normed(), X, Y, 16, epochs=100) == {}
    assert findings(normed(), X, Y, 16, epochs=2) == {"batch-norm-too-few-steps": "warning"}
    assert findings(normed(0.5), X, Y, 16, epochs=2) == {}
    odd = X[:49], Y[:49]
    assert findings(normed(), *odd, 16, epochs=100) == {"last-batch-of-one": "warning"}
    assert findings(classifier(), *odd, 16) == {"last-batch-of-one": "hint"}
    assert (
        findings(
            classifier(), dataset(x=odd[0], y=odd[1]).shuffle(50).batch(16, drop_remainder=True).prefetch(1)
        )
        == {}
    )


def test_trainable_after_compile():
    made = model(layers.Dense(8, name="body"), layers.Dense(4, activation="softmax"))
    assert findings(made) == {}
    made.get_layer("body").trainable = False
    assert findings(made) == {}  # it counts until the first step is compiled
    made.fit(X, Y, verbose=0)
    before = made.get_layer("body").get_weights()[0]
    made.get_layer("body").trainable = True
    assert findings(made) == {"trainable-changed": "error"}
    made.fit(X, Y, verbose=0)
    np.testing.assert_array_equal(before, made.get_layer("body").get_weights()[0])
    made.compile("adam", SPARSE)
    assert findings(made) == {}


class Own(keras.Model):
    """A model whose call is Python."""

    def __init__(self, *, uses):
        super().__init__()
        self.extra = layers.Dense(3)
        self.out = layers.Dense(4)
        self.uses = uses
        self.drop = layers.Dropout(0.5)

    def call(self, x, training=False):
        extra = self.extra(x)
        out = self.out(self.drop(x, training=training))
        return keras.ops.softmax(out + keras.ops.sum(extra, axis=-1, keepdims=True) if self.uses else out)


def test_weights_without_gradient_and_the_end_of_a_model_in_python():
    for uses, expected in ((False, {"without-gradient": "warning"}), (True, {})):
        made = Own(uses=uses)
        made.compile("adam", SPARSE)
        request = FitRequest(X, Y)
        facts = gather(made, request)
        assert facts.unknown["heads"] == UNBUILT
        made(X[:1])
        facts = complete(facts, made, request)
        assert {finding.kind: finding.severity for finding in lint(facts).findings} == expected
        assert facts.values["heads"][0]["activation"] == "softmax"


def test_an_output_without_a_loss_leaves_weights_without_gradient():
    start = keras.Input((8,))
    made = keras.Model(
        start, {"a": layers.Dense(4, activation="softmax", name="a")(start), "b": layers.Dense(9)(start)}
    )
    made.compile("adam", {"a": SPARSE})
    facts = gather(made, FitRequest(X, {"a": Y}))
    assert sum(item["parameters"] for item in facts.values["without_gradient"]) == 81


def test_large_layers():
    flat = model(layers.Flatten(), layers.Dense(512), layers.Dense(4, activation="softmax"), shape=(160, 128))
    pixels = np.zeros((4, 160, 128), "float32")
    assert findings(flat, pixels, Y[:4]) == {"giant-dense": "hint"}
    pooled = model(
        layers.GlobalAveragePooling1D(),
        layers.Dense(512),
        layers.Dense(4, activation="softmax"),
        shape=(160, 128),
    )
    assert findings(pooled, pixels, Y[:4]) == {}
    ids = np.zeros((64, 5), "int32")

    def lookup(rows, optimizer="adam"):
        return model(
            layers.Embedding(rows, 64), layers.GlobalAveragePooling1D(), layers.Dense(4, activation="softmax"),
            shape=(5,), dtype="int32", optimizer=optimizer,
        )  # fmt: skip

    assert findings(lookup(80_000), ids, Y) == {"dense-embedding-updates": "warning"}
    assert findings(lookup(1000), ids, Y) == {}
    assert findings(lookup(80_000, "sgd"), ids, Y) == {}


def test_recurrent_layers_and_xla():
    steps = RNG.random((64, 5, 3), dtype="float32")

    def recurrent(**arguments):
        return model(layers.LSTM(4, **arguments), layers.Dense(4, activation="softmax"), shape=(5, 3))

    assert findings(recurrent(recurrent_dropout=0.2), steps, Y) == {"rnn-off-fast-path": "hint"}
    assert findings(recurrent(activation="relu"), steps, Y) == {"rnn-off-fast-path": "hint"}
    assert findings(recurrent(), steps, Y) == {}
    images = RNG.random((64, 8, 8, 1), dtype="float32")

    def augmented(layer, **arguments):
        return model(
            layer, layers.Flatten(), layers.Dense(4, activation="softmax"), shape=(8, 8, 1), **arguments
        )

    assert findings(augmented(layers.RandomRotation(0.1)), images, Y) == {"xla-switched-off": "hint"}
    assert findings(augmented(layers.RandomFlip()), images, Y) == {}
    assert findings(augmented(layers.RandomRotation(0.1), jit_compile=False), images, Y) == {}


class Batches(keras.utils.PyDataset):
    """Batches made in Python."""

    def __len__(self):
        return 4

    def __getitem__(self, number):
        raise AssertionError("no lint may make a batch")


def test_what_runs_in_python():
    assert findings(classifier(run_eagerly=True)) == {"run-eagerly": "warning"}

    def endless():
        raise AssertionError("no lint may take an element")
        yield

    assert findings(classifier(), endless(), steps_per_epoch=2) == {"python-input": "warning"}
    assert findings(classifier(), Batches()) == {"python-input": "warning"}
    assert findings(classifier(), Batches(workers=4)) == {}
    spec = (tf.TensorSpec((8,)), tf.TensorSpec((), tf.int64))
    made = tf.data.Dataset.from_generator(endless, output_signature=spec).batch(16).prefetch(1)
    assert findings(classifier(), made) == {"python-input": "warning"}
    called = (
        dataset()
        .shuffle(9)
        .map(lambda x, y: (tf.ensure_shape(tf.numpy_function(np.sin, [x], tf.float32), (8,)), y))
    )
    assert findings(classifier(), called.batch(16).prefetch(1)) == {"python-input": "warning"}


class EachBatch(keras.callbacks.Callback):
    """Wants every step."""

    def on_train_batch_end(self, batch, logs=None):
        pass


def test_callbacks_that_cost(tmp_path):
    def board(**arguments):
        return findings(
            classifier(), X, Y, 4, callbacks=[keras.callbacks.TensorBoard(str(tmp_path), **arguments)]
        )

    assert findings(classifier(), X, Y, 4, callbacks=[EachBatch()]) == {"per-batch-callback": "warning"}
    assert findings(classifier(), X, Y, 4, callbacks=keras.callbacks.EarlyStopping()) == {}
    saver = keras.callbacks.ModelCheckpoint(str(tmp_path / "a.keras"), save_freq=1)
    assert findings(classifier(), X, Y, 4, callbacks=[saver]) == {"per-batch-callback": "warning"}
    assert board(update_freq="batch") == {"tensorboard-costs": "warning"}
    assert board(histogram_freq=1) == {"tensorboard-costs": "hint"}
    assert board() == {}


def test_fit_in_a_loop():
    made, past, request = classifier(), PastFits(), FitRequest(X, Y)
    for _ in range(2):
        assert findings(made, past=past) == {}
        past.note(made, request)
    assert findings(made, past=past) == {"fit-in-a-loop": "warning"}
    assert findings(made, epochs=5, past=past) == {}
    assert findings(classifier(), past=past) == {}


def trained(*, look):
    """Weights, losses and random state after a training with everything random in it."""
    keras.utils.set_random_seed(3)
    made = Own(uses=False)
    made.compile("adam", SPARSE, metrics=["accuracy"])
    data = dataset().shuffle(64).map(lambda x, y: (x + tf.random.uniform(tf.shape(x)), y)).batch(16)
    made(X[:1])
    for given in ((X, Y), (data,)):
        request = FitRequest(*given, epochs=2, validation_data=(X[:9], Y[:9]))
        if look:
            assert len(gather(made, request).values) > 15
            assert made.losses == []
        history = made.fit(*given, epochs=2, validation_data=(X[:9], Y[:9]), verbose=0)
    return [*made.get_weights(), *history.history["loss"], np.random.rand(), tf.random.uniform(()).numpy()]


def test_looking_changes_no_bit_of_the_training():
    for plain, looked in zip(trained(look=False), trained(look=True), strict=True):
        np.testing.assert_array_equal(plain, looked)


def test_objects_that_are_strange_give_reasons_and_no_error():
    class Strange:
        shape = "none"

    made = classifier()
    for request in (FitRequest(), FitRequest(Strange(), Strange()), FitRequest(X, Y, callbacks=[object()])):
        facts = gather(made, request)
        assert set(facts.values) | set(facts.unknown) == set(FACTS)
        lint(facts)
