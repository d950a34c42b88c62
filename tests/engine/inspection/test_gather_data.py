"""Each lint of the data fires on a faulty call of fit, and is silent on its sound twin."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")
import tensorflow as tf  # noqa: E402
from keras import layers  # noqa: E402

RNG = np.random.default_rng(0)
X = np.random.default_rng(0).random((64, 8), dtype="float32")
Y = np.tile(np.arange(4), 16)
SPARSE = "sparse_categorical_crossentropy"


def test_values_of_the_input(findings, model, classifier):
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
    start = keras.Input((8,))
    mended = keras.Model(start, layers.Dense(4, activation="softmax")(keras.ops.nan_to_num(start)))
    mended.compile("adam", SPARSE)
    assert findings(mended, broken, Y) == {"input-not-finite": "warning"}
    ids = model(layers.Embedding(300, 4), layers.Flatten(), layers.Dense(4, activation="softmax"))
    assert findings(ids, pixels.astype("int32"), Y) == {}


def test_double_precision(findings, classifier):
    large = RNG.random((64, 4096))
    made = classifier(shape=(4096,))
    assert findings(made, large, Y) == {"float64-arrays": "hint"}
    assert findings(made, large.astype("float32"), Y) == {}


def test_validation_on_what_is_trained(findings, classifier):
    assert findings(classifier(), X, Y, validation_data=(X, Y)) == {"validation-is-training": "error"}
    assert findings(classifier(), X, Y, validation_data=(X.copy(), Y)) == {"validation-is-training": "error"}
    wide = RNG.random((64, 32), dtype="float32")
    some = np.concatenate([wide[:8], RNG.random((24, 32), dtype="float32")])
    assert findings(classifier(shape=(32,)), wide, Y, validation_data=(some, Y[:32])) == {
        "validation-is-training": "warning"
    }
    held = RNG.random((32, 32), dtype="float32")
    assert findings(classifier(shape=(32,)), wide, Y, validation_data=(held, Y[:32])) == {}


@pytest.mark.parametrize("held", ["other", "some", "all"])
def test_samples_of_several_inputs_are_compared_as_a_whole(findings, held):
    mask, ids = keras.Input((16,), name="mask"), keras.Input((16,), name="z_ids")
    made = keras.Model(
        {"mask": mask, "z_ids": ids}, layers.Dense(4, activation="softmax")(layers.Multiply()([ids, mask]))
    )
    made.compile("adam", SPARSE)
    x = {"mask": np.ones((64, 16), "float32"), "z_ids": RNG.random((64, 16), dtype="float32")}
    other = RNG.random((64, 16), dtype="float32")
    other[: {"other": 0, "some": 20, "all": 64}[held]] = x["z_ids"][
        : {"other": 0, "some": 20, "all": 64}[held]
    ]
    expected = {
        "other": {},
        "some": {"validation-is-training": "warning"},
        "all": {"validation-is-training": "error"},
    }

    found = findings(made, x, Y, validation_data=({"mask": np.ones((64, 16), "float32"), "z_ids": other}, Y))

    assert found == expected[held]


def test_a_split_of_sorted_data(findings, model, classifier):
    x, y = np.tile(X, (10, 1)), np.tile(Y, 10)
    assert findings(classifier(), x, np.sort(y), validation_split=0.25) == {"split-of-sorted-data": "error"}
    assert findings(classifier(), x, y, validation_split=0.25) == {}
    price = model(layers.Dense(1), loss="mse")
    real = RNG.random(640, dtype="float32")
    assert findings(price, x, np.sort(real), validation_split=0.25) == {"split-of-sorted-data": "hint"}
    assert findings(price, x, real, validation_split=0.25) == {}
    trend = np.arange(640) // 10  # whole numbers are quantities to this loss
    assert findings(price, x, trend, validation_split=0.25) == {"split-of-sorted-data": "hint"}


def test_the_order_of_a_pipeline(findings, classifier, dataset):
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
def test_augmentation_before_the_cache(by, findings, classifier, dataset):
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


class Batches(keras.utils.PyDataset):
    """Batches made in Python."""

    def __len__(self):
        return 4

    def __getitem__(self, number):
        raise AssertionError("no lint may make a batch")


def test_what_runs_in_python(findings, classifier, dataset):
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
