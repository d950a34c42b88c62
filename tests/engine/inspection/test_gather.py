"""Looking changes nothing, stops nobody, and sees the fits before and what is in Python."""

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
X = np.random.default_rng(0).random((64, 8), dtype="float32")
Y = np.tile(np.arange(4), 16)
SPARSE = "sparse_categorical_crossentropy"


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


class EachBatch(keras.callbacks.Callback):
    """Wants every step."""

    def on_train_batch_end(self, batch, logs=None):
        pass


def test_callbacks_that_cost(tmp_path, findings, classifier):
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


def test_fit_in_a_loop(findings, classifier):
    made, past, request = classifier(), PastFits(), FitRequest(X, Y)
    for _ in range(2):
        assert findings(made, past=past) == {}
        past.note(made, request)
    assert findings(made, past=past) == {"fit-in-a-loop": "warning"}
    assert findings(made, epochs=5, past=past) == {}
    assert findings(classifier(), past=past) == {}


def trained(dataset, *, look):
    """Weights, losses and random state after a training with everything random in it."""
    keras.utils.set_random_seed(3)
    made = Own(uses=True)
    made.compile("adam", SPARSE, metrics=["accuracy"])
    data = dataset().shuffle(64).map(lambda x, y: (x + tf.random.uniform(tf.shape(x)), y)).batch(16)
    made(X[:1])
    for given in ((X, Y), (data,)):
        # Keras warns of shuffle=True, its default, for data that come in an order of their own.
        asked = {"epochs": 2, "validation_data": (X[:9], Y[:9]), "shuffle": len(given) == 2}
        request = FitRequest(*given, **asked)
        if look:
            assert len(gather(made, request).values) > 15
            assert made.losses == []
        history = made.fit(*given, verbose=0, **asked)
    return [*made.get_weights(), *history.history["loss"], np.random.rand(), tf.random.uniform(()).numpy()]


def test_looking_changes_no_bit_of_the_training(dataset):
    for plain, looked in zip(trained(dataset, look=False), trained(dataset, look=True), strict=True):
        np.testing.assert_array_equal(plain, looked)


def test_objects_that_are_strange_give_reasons_and_no_error(classifier):
    class Strange:
        shape = "none"

    made = classifier()
    for request in (FitRequest(), FitRequest(Strange(), Strange()), FitRequest(X, Y, callbacks=[object()])):
        facts = gather(made, request)
        assert set(facts.values) | set(facts.unknown) == set(FACTS)
        lint(facts)
