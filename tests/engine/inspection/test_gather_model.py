"""Each lint of the model fires on a faulty one, and is silent on its sound twin."""

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")
from keras import layers  # noqa: E402

RNG = np.random.default_rng(0)
X = np.random.default_rng(0).random((64, 8), dtype="float32")
Y = np.tile(np.arange(4), 16)
SPARSE = "sparse_categorical_crossentropy"


def test_a_sound_model_has_no_finding(findings, classifier):
    held = RNG.random((16, 8), dtype="float32")
    assert findings(classifier(), X, Y, 16, validation_data=(held, Y[:16])) == {}


def test_softmax_with_logits_loss_is_a_hint_in_float32_and_an_error_in_mixed_precision(
    policy, findings, model, classifier
):
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
def test_keras_rescues_the_softmax_exactly_where_the_lint_says_so(policy, name, findings, model):
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


def test_logits_with_a_loss_of_probabilities(findings, model):
    assert findings(model(layers.Dense(4)))["logits-without-from-logits"] == "error"
    binary = model(layers.Dense(1), loss="bce")
    assert findings(binary, X, Y % 2)["logits-without-from-logits"] == "error"
    sound = model(layers.Dense(4), loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    assert findings(sound) == {}
    assert findings(model(layers.Dense(1), loss="mse"), X, Y) == {}


def test_a_nested_model_and_a_functional_one_are_looked_through(findings, model):
    inner = keras.Sequential([keras.Input((8,)), layers.Dense(4)])
    assert findings(model(inner))["logits-without-from-logits"] == "error"
    start = keras.Input((8,))
    end = keras.ops.softmax(layers.Dense(4)(start))
    made = keras.Model(start, end)
    made.compile("adam", SPARSE)
    assert findings(made) == {}


class Python(keras.Model):
    """Its call is Python, so only a trace shows its end."""

    def __init__(self, end):
        super().__init__()
        self.layer = LOGITS[end]() if end in LOGITS else layers.Dense(4, activation="softmax")
        self.end = end

    def call(self, x):
        x = keras.ops.reshape(x, (-1, 4, 2, 1)) if self.end == "conv" else x
        x = keras.ops.reshape(self.layer(x), (-1, 4))
        return PROBABILITIES[self.end](x) if self.end in PROBABILITIES else x


LOGITS = {
    "dense": lambda: layers.Dense(4),
    "without bias": lambda: layers.Dense(4, use_bias=False),
    "einsum": lambda: layers.EinsumDense("ab,bc->ac", output_shape=4, bias_axes="c"),
    "conv": lambda: layers.Conv2D(1, (1, 2)),
}
PROBABILITIES = {
    "mixture": lambda p: 0.3 * p + 0.7 * p,
    "shifted": lambda p: p + 1e-6,
    "steps": lambda p: keras.ops.matmul(keras.ops.ones((4, 4)) / 4, keras.ops.reshape(p, (-1, 4, 1)))[..., 0],
}


@pytest.mark.parametrize("end", [*LOGITS, *PROBABILITIES])
def test_the_end_of_a_model_in_python_is_logits_only_behind_weights(findings, end):
    made = Python(end)
    made.compile("adam", SPARSE)
    made(X[:2])

    expected = "error" if end in LOGITS else None

    assert findings(made).get("logits-without-from-logits") == expected


def test_the_form_and_the_range_of_labels(findings, model, classifier):
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
    over_time = model(layers.Dense(1), layers.Softmax(axis=1), shape=(20, 3), loss="mse")
    assert findings(over_time, RNG.random((64, 20, 3), dtype="float32"), RNG.random((64, 20, 1))) == {}


def test_labels_of_no_weight(findings, model):
    binary, labels = model(layers.Dense(1, activation="sigmoid"), loss="bce"), (Y % 2).astype("float32")
    labels[:9] = -1
    weights = (labels >= 0).astype("float32")
    assert findings(binary, X, labels) == {"labels-out-of-range": "error"}
    assert findings(binary, X, labels, sample_weight=weights) == {}
    assert findings(binary, X, labels[:, None], sample_weight=weights) == {}
    assert findings(binary, X, labels, sample_weight=weights[:, None]) == {}
    weights[0] = 1
    assert findings(binary, X, labels, sample_weight=weights) == {"labels-out-of-range": "error"}


def test_half_precision(policy, findings, model, classifier):
    policy("mixed_float16")
    assert findings(classifier()) == {"half-precision-output": "warning"}
    assert findings(model(layers.Dense(4, activation="softmax", dtype="float32"))) == {}
    unscaled = classifier(auto_scale_loss=False)
    assert findings(unscaled)["no-loss-scaling"] == "warning"


def test_batch_normalisation(findings, model, classifier, dataset):
    def normed(momentum=0.99):
        return model(layers.BatchNormalization(momentum=momentum), layers.Dense(4, activation="softmax"))

    assert findings(normed(), X, Y, 4, epochs=100) == {"tiny-batch-norm": "warning"}
    assert findings(normed(), X, Y, 16, epochs=100) == {}
    assert findings(normed(), X, Y, 16, epochs=2) == {"batch-norm-too-few-steps": "warning"}
    assert findings(normed(0.5), X, Y, 16, epochs=2) == {}
    images = RNG.random((64, 8, 8, 1), dtype="float32")
    maps = model(layers.BatchNormalization(), layers.Conv2D(1, 1), shape=(8, 8, 1), loss="mse")
    assert "tiny-batch-norm" not in findings(maps, images, images, 1, epochs=100)
    assert findings(normed(), X, Y, 1, epochs=100)["tiny-batch-norm"] == "error"
    odd = X[:49], Y[:49]
    assert findings(normed(), *odd, 16, epochs=100) == {"last-batch-of-one": "warning"}
    assert findings(classifier(), *odd, 16) == {"last-batch-of-one": "hint"}
    assert (
        findings(
            classifier(), dataset(x=odd[0], y=odd[1]).shuffle(50).batch(16, drop_remainder=True).prefetch(1)
        )
        == {}
    )


def test_trainable_after_compile(findings, model):
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


def test_large_layers(findings, model):
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


def test_recurrent_layers_and_xla(findings, model):
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
