"""A job's own fit, paused to time other ways of executing its steps."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")
tf = pytest.importorskip("tensorflow")

from steptime.engine import private_keras  # noqa: E402
from steptime.engine.cadence import Cadence  # noqa: E402
from steptime.engine.timing.hooks import time_hooks  # noqa: E402
from steptime.engine.timing.session import Pace  # noqa: E402
from steptime.engine.timing.source import SharedGenerator, Source, doubled, repeated  # noqa: E402
from steptime.engine.timing.traces import TraceCounter  # noqa: E402

X = np.random.default_rng(0).normal(size=(96, 4)).astype("float32")
Y = np.arange(96) % 3
QUICK = Pace(slice_s=0.005, rounds=2)


def model(**compiled: Any) -> Any:
    made = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    made.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), **compiled)
    return made


def generator() -> Iterator[Any]:
    while True:
        yield X[:8], Y[:8]


def test_one_batch_repeated_has_the_jobs_specification() -> None:
    batch = (tf.constant(X[:8]), tf.constant(Y[:8]))
    spec = (tf.TensorSpec((None, 4), tf.float32), tf.TensorSpec((None,), tf.int64))

    dataset = repeated(batch, spec)

    assert dataset.element_spec == spec
    first, *_, last = list(dataset.take(5))
    np.testing.assert_array_equal(first[0], X[:8])
    np.testing.assert_array_equal(last[0], X[:8])


def test_a_doubled_batch_has_every_sample_twice() -> None:
    x, nothing = doubled((tf.constant(X[:8]), None))

    assert nothing is None
    np.testing.assert_array_equal(x, np.concatenate([X[:8], X[:8]]))


def test_readers_of_a_shared_generator_never_get_the_same_batch() -> None:
    shared = SharedGenerator(iter(range(6)))
    one, other = shared.reader(), shared.reader()

    assert [next(one), next(other), next(one)] == [0, 1, 2]
    assert shared.first == 0
    assert [*one, *other] == [3, 4, 5]


def test_traces_are_counted_with_their_shapes_and_the_model_is_left_as_it_was() -> None:
    made, counter = model(), TraceCounter()
    with counter.listening(made):
        made.fit(X[:64], Y[:64], batch_size=8, verbose=0)

    assert counter.count == 1
    assert counter.shapes == ["(8, 4)"]
    assert "train_step" not in vars(made)


def test_steps_that_run_eagerly_are_no_traces() -> None:
    made, counter = model(run_eagerly=True), TraceCounter()
    with counter.listening(made):
        made.fit(X[:16], Y[:16], batch_size=8, verbose=0)

    assert counter.count == 0


class Sleeper(keras.callbacks.Callback):  # type: ignore[misc]
    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        time.sleep(0.002)


def test_time_in_hooks_is_counted_by_callback_and_kind() -> None:
    sleeper, history = Sleeper(), keras.callbacks.History()
    times = time_hooks([sleeper, history])
    model().fit(X[:32], Y[:32], batch_size=8, epochs=2, verbose=0, callbacks=[sleeper, history])

    assert times[0].batch_ns >= 8 * 2_000_000
    assert times[1].epochs == 2
    assert times[1].batch_ns == 0


def test_hooks_that_a_callback_got_as_functions_are_timed_too() -> None:
    sleeper = keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: time.sleep(0.002),
        on_epoch_end=lambda epoch, logs: time.sleep(0.002),
    )
    (times,) = time_hooks([sleeper])
    model().fit(X[:32], Y[:32], batch_size=8, verbose=0, callbacks=[sleeper])

    assert times.batch_ns >= 4 * 2_000_000
    assert times.epoch_ns >= 2_000_000


@pytest.mark.parametrize(
    ("callback", "every_batch"),
    [
        (Sleeper(), True),
        (keras.callbacks.ModelCheckpoint("m.keras"), False),
        (keras.callbacks.History(), False),
        (keras.callbacks.LambdaCallback(on_epoch_end=print), False),
        (keras.callbacks.LambdaCallback(on_train_batch_end=print), True),
    ],
)
def test_a_timed_callback_is_called_as_often_as_before(callback: Any, every_batch: bool) -> None:
    time_hooks([callback])

    assert Cadence([callback]).every_batch is every_batch


@pytest.mark.parametrize(
    ("source", "is_arrays"),
    [
        (Source(x=X, y=Y, batch_size=8), True),
        (Source(x=tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)), False),
        (Source(x=SharedGenerator(generator())), False),
    ],
)
def test_a_source_gives_feeds_of_its_own(source: Source, is_arrays: bool) -> None:
    made = model()

    assert source.is_arrays is is_arrays
    feeds = [source.stream(made), source.stream(made)]
    for feed in feeds:
        feed.begin_epoch()
        assert feed.claim(2) is not None
        batch = next(feed.iterator(0))
        assert tf.nest.flatten(batch)[0].shape == (8, 4)
    assert private_keras.are_arrays((X, Y))
