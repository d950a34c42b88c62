"""Jobs of every kind, taken apart by short timings; what is asserted is what was timed, never how long it took."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")
tf = pytest.importorskip("tensorflow")

from steptime.engine.timing.session import Pace  # noqa: E402
from steptime.engine.timing.source import SharedGenerator, Source  # noqa: E402
from steptime.worker.dissection import Measured, Subject, time_steps  # noqa: E402

X = np.random.default_rng(0).normal(size=(512, 4)).astype("float32")
Y = np.arange(512) % 3
PACE = Pace(slice_s=0.005, rounds=2)
ALL = ("as_is", "repeated", "input", "resident", "doubled")


def model(**compiled: Any) -> Any:
    made = keras.Sequential([keras.Input((4,)), keras.layers.Dense(3)])
    made.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), **compiled)
    return made


def generator(batches: int) -> Iterator[Any]:
    for _ in range(batches):
        yield X[:8], Y[:8]


class Sequence(keras.utils.PyDataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 64

    def __getitem__(self, index: int) -> Any:
        return X[:8], Y[:8]


def dataset() -> Any:
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)


def taken_apart(made: Any, source: Source, **rest: Any) -> Measured:
    measured = time_steps(Subject(model=made, source=source, epochs=20, **rest), lambda: False, PACE)
    assert measured is not None
    return measured


ARRAYS = {"x": X, "y": Y, "batch_size": 8}


@pytest.mark.parametrize(
    ("source", "loop", "is_stock", "is_resident"),
    [
        (Source(**ARRAYS), "graph", False, True),
        (Source(**ARRAYS), "xla", False, True),
        (Source(**ARRAYS), "keras", True, False),
        (Source(x=dataset()), "graph", False, False),
        (Source(x=dataset()), "keras", True, False),
        (Source(x=Sequence()), "keras", True, False),
    ],
)
def test_every_way_of_training_is_timed_in_all_five_ways(
    source: Source, loop: str, is_stock: bool, is_resident: bool
) -> None:
    measured = taken_apart(model(), source, loop=loop)

    assert (measured.loop.name, measured.loop.is_stock, measured.loop.is_resident) == (
        loop,
        is_stock,
        is_resident,
    )
    for name in ALL:
        timing = getattr(measured.timings, name)
        assert timing.reason is None, name
        assert len(timing.step_s) == PACE.rounds
        assert all(step_s > 0 for step_s in timing.step_s)
    assert measured.timings.doubled.batch_size == 16
    assert measured.arms.live is not None, measured.arms.reasons


def test_a_generator_is_shared_and_an_end_of_it_is_said() -> None:
    endless = Source(x=SharedGenerator(generator(10**9)))
    measured = taken_apart(model(), endless, loop="graph", steps_per_epoch=64)

    assert measured.timings.input.reason is None
    assert len(measured.timings.repeated.step_s) == PACE.rounds


def test_steps_that_run_eagerly_are_timed_against_the_compiled_step() -> None:
    measured = taken_apart(model(run_eagerly=True), Source(**ARRAYS), loop="auto")

    assert measured.loop.run_eagerly
    assert measured.loop.is_stock
    assert measured.timings.resident.step_s


def test_a_step_that_cannot_be_traced_leaves_the_other_timings_and_a_reason() -> None:
    class Numpy(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.dense = keras.layers.Dense(3)

        def call(self, x: Any) -> Any:
            return self.dense(x * float(np.asarray(x).shape[0] > 0))

    made = Numpy()
    made.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True), run_eagerly=True)
    measured = taken_apart(made, Source(**ARRAYS))

    assert not measured.timings.resident.step_s
    assert measured.timings.resident.reason
    assert measured.timings.repeated.step_s


def test_callbacks_and_their_cost_are_named() -> None:
    class Own(keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            sum(range(1000))

    measured = taken_apart(model(), Source(**ARRAYS), callbacks=[Own()])

    (cost,) = measured.callbacks
    assert cost.name == "Own"
    assert cost.step_s > 0
    assert not cost.saves


def test_a_job_that_is_stopped_before_a_step_was_timed_gives_nothing() -> None:
    assert time_steps(Subject(model=model(), source=Source(**ARRAYS)), lambda: True, PACE) is None
