"""What `fit` says of itself. That it trains as Keras does is the oracle's part."""

import gc

import numpy as np
import pytest

import steptime
from steptime.errors import UsageError

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")
import tensorflow as tf  # noqa: E402

X = np.random.default_rng(0).normal(size=(100, 4)).astype("float32")
Y = np.random.default_rng(1).normal(size=(100, 1)).astype("float32")


def model(*layers, **arguments):
    keras.utils.set_random_seed(0)
    made = keras.Sequential([keras.Input((4,)), *layers, keras.layers.Dense(1)])
    made.compile("adam", "mse", **arguments)
    return made


class Notes:
    def __init__(self):
        self.blocks, self.validations, self.decisions = [], [], []

    def on_block(self, **block):
        self.blocks.append(block)

    def on_validation(self, **validation):
        self.validations.append(validation)

    def on_decision(self, text):
        self.decisions.append(text)


@pytest.mark.parametrize("loop", ["auto", "keras", "graph", "xla"])
def test_every_step_is_in_the_segments_and_told_to_the_observer(loop):
    notes = Notes()
    history = steptime.fit(
        model(), X, Y, batch_size=8, epochs=3, verbose=0, validation_split=0.2, loop=loop, observer=notes
    )
    report = history.steptime
    steps = [(s.epoch, s.first_step + i) for s in report.segments for i in range(s.n_steps)]
    assert steps == [(epoch, step) for epoch in range(3) for step in range(10)]
    told = [(b["epoch"], b["first_step"] + i) for b in notes.blocks for i in range(b["n_steps"])]
    assert told == steps
    assert [v["epoch"] for v in notes.validations] == [0, 1, 2]
    assert notes.decisions == [report.reason]
    assert report.loop in report.reason


@pytest.mark.parametrize("loop", ["auto", "graph", "xla"])
def test_the_data_are_let_go_of_at_once(loop):
    def lying_about():
        return [o for o in gc.get_objects() if type(o) is type(x) and o.shape == (97, 4)]

    x = tf.constant(X[:97])
    gc.collect()
    gc.disable()
    try:
        steptime.fit(model(), x.numpy(), Y[:97], batch_size=8, verbose=0, loop=loop)
        assert [t is x for t in lying_about()] == [True]
    finally:
        gc.enable()


def test_the_report_names_what_lay_on_the_device():
    report = steptime.fit(model(), X, Y, verbose=0, loop="graph").steptime
    assert report.resident == "training data"
    assert report.resident_bytes == X.nbytes + Y.nbytes


def test_data_too_large_for_the_device_are_streamed_with_the_same_result(monkeypatch):
    from steptime.engine import memory

    whole = steptime.fit(model(), X, Y, batch_size=8, epochs=2, verbose=0, loop="graph", seed=1)
    monkeypatch.setattr(memory, "free_bytes", lambda device: 100)
    streamed = steptime.fit(model(), X, Y, batch_size=8, epochs=2, verbose=0, loop="graph", seed=1)
    assert streamed.steptime.loop == "graph"
    assert streamed.steptime.resident_bytes == 0
    assert streamed.history == whole.history
    xla = steptime.fit(model(), X, Y, batch_size=8, verbose=0, loop="xla")
    assert "bytes free" in xla.steptime.reason


def test_the_same_seed_gives_the_same_bits_as_often_as_it_is_asked():
    histories = [
        steptime.fit(
            model(keras.layers.Dropout(0.3, seed=1)),
            X,
            Y,
            batch_size=8,
            epochs=2,
            verbose=0,
            loop="graph",
            seed=5,
        ).history
        for _ in range(2)
    ]
    assert histories[0] == histories[1]


def test_without_a_seed_keras_own_random_state_decides():
    def losses():
        made = model()
        keras.utils.set_random_seed(42)
        history = steptime.fit(made, X, Y, verbose=0, epochs=2, loop="graph")
        return history.steptime.seed, history.history["loss"]

    assert losses() == losses()


def test_a_second_fit_starts_from_what_the_first_measured():
    made = model()
    first = steptime.fit(made, X, Y, batch_size=1, epochs=20, verbose=0).steptime
    second = steptime.fit(made, X, Y, batch_size=1, epochs=1, verbose=0).steptime
    assert {s.loop for s in second.segments} <= {first.loop, "keras"}
    assert next(c for c in second.candidates if c.loop == "keras").step_s is not None


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: model(run_eagerly=True), "run_eagerly"),
        (lambda: model(steps_per_execution=2), "steps_per_execution=2"),
    ],
)
def test_what_goes_to_keras_says_why(make, reason):
    notes = Notes()
    report = steptime.fit(make(), X, Y, batch_size=50, verbose=0, observer=notes).steptime
    assert report.loop == "keras"
    assert reason in report.reason
    assert sum(s.n_steps for s in report.segments) == sum(b["n_steps"] for b in notes.blocks) == 2


def test_an_overridden_fit_is_called():
    class Mine(keras.Sequential):
        def fit(self, *args, **kwargs):
            self.called = True
            return super().fit(*args, **kwargs)

    mine = Mine([keras.Input((4,)), keras.layers.Dense(1)])
    mine.compile("sgd", "mse")
    report = steptime.fit(mine, X, Y, verbose=0).steptime
    assert mine.called
    assert report.reason == "keras: Mine overrides fit"


def test_a_layer_that_xla_cannot_run_is_named():
    lookup = keras.layers.IntegerLookup(vocabulary=[1, 2], name="words")
    made = keras.Sequential([keras.Input((1,), dtype="int64"), lookup, keras.layers.Embedding(4, 2)])
    made.compile("sgd", "mse")
    history = steptime.fit(
        made, np.ones((8, 1), "int64"), np.ones((8, 1, 2), "float32"), verbose=0, loop="xla"
    )
    assert "words (IntegerLookup)" in history.steptime.reason


def test_a_callback_that_costs_speed_is_noted():
    class EveryBatch(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            pass

    report = steptime.fit(model(), X, Y, verbose=0, callbacks=[EveryBatch()], loop="graph").steptime
    assert "EveryBatch is called at every batch" in str(report)


def test_the_model_is_left_as_keras_leaves_it():
    made = model()
    steptime.fit(made, X, Y, verbose=0, loop="graph")
    stock = made.fit(X, Y, verbose=0)
    assert len(stock.history["loss"]) == 1
    assert np.isfinite(np.asarray(made.train_on_batch(X[:8], Y[:8]), float)).all()
    made.compile("sgd", "mse")
    assert made.train_function is None


def test_a_fit_without_epochs_has_a_report_too():
    assert steptime.fit(model(), X, Y, epochs=0, verbose=0).steptime.segments == ()


@pytest.mark.parametrize("arguments", [{"loop": "fast"}, {"exact_kernels": "yes"}])
def test_other_values_are_refused_with_what_was_expected(arguments):
    with pytest.raises(UsageError, match=r"expected .* received"):
        steptime.fit(model(), X, Y, **arguments)


def test_memory_for_a_device_is_read():
    from steptime.engine import memory

    assert memory.device_name() in ("/CPU:0", "/GPU:0")
    with tf.device("/CPU:0"):
        assert memory.device_name() == "/CPU:0"
    assert memory.free_bytes("/CPU:0") > 0
    assert memory.why_not_resident(1, "/CPU:0") is None
    assert "exceed 40%" in memory.why_not_resident(1 << 60, "/CPU:0")
