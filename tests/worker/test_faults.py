"""What ended a training, told from the exceptions that Keras and TensorFlow really raise."""

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

import steptime
from steptime.errors import UsageError
from steptime.worker.faults import FaultError, Place, fault_of, iterations_of

pytestmark = pytest.mark.tensorflow
HERE = Path(__file__)


def small_model() -> keras.Model:
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model


def batch(number: int) -> Any:
    if number == 9:
        raise LookupError("part-9.png is broken")
    return np.ones((4, 8), "float32"), np.zeros(4, "int64")


def failing_dataset() -> tf.data.Dataset:
    signature = (tf.TensorSpec((4, 8), tf.float32), tf.TensorSpec((4,), tf.int64))
    return tf.data.Dataset.from_generator(lambda: map(batch, range(20)), output_signature=signature)


class FailingFiles(keras.utils.PyDataset):  # type: ignore[misc]
    def __len__(self) -> int:
        return 20

    def __getitem__(self, number: int) -> Any:
        return batch(number)


def fault_in(data: Any, **arguments: Any) -> FaultError | None:
    model = small_model()
    with pytest.raises(Exception) as caught:  # noqa: PT011 - which one is what is asked
        steptime.fit(model, data, epochs=1, verbose=0, shuffle=False, **arguments)
    made = iterations_of(model)
    return fault_of(caught.value, Place(epoch=0, step=made), model, 4, "cpu", HERE)


@pytest.mark.parametrize(
    ("make", "loop"),
    [(failing_dataset, "graph"), (failing_dataset, "keras"), (FailingFiles, "graph")],
)
def test_data_that_fail_name_the_batch_the_exception_and_the_persons_line(make: Any, loop: str) -> None:
    fault = fault_in(make(), loop=loop)

    assert fault is not None
    line = next(n for n, text in enumerate(HERE.read_text().splitlines(), 1) if "raise LookupError" in text)
    assert fault.message == (
        f"Reading batch 10 of epoch 1 failed: LookupError: part-9.png is broken ({HERE}, line {line}, in batch)"
    )
    assert (fault.fault.kind, fault.fault.epoch, fault.fault.step, fault.keeps_model) == ("data", 0, 9, True)


def test_a_file_of_records_that_was_cut_short_is_data_too(tmp_path: Path) -> None:
    path = tmp_path / "cut.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for number in range(40):
            writer.write(np.full(8, number, "float32").tobytes())
    path.write_bytes(path.read_bytes()[:900])
    records = tf.data.TFRecordDataset(str(path)).map(
        lambda r: tf.reshape(tf.io.decode_raw(r, tf.float32), (8,))
    )
    fault = fault_in(records.map(lambda x: (x, tf.constant(0, tf.int64))).batch(4), loop="graph")

    assert fault is not None
    assert fault.fault.kind == "data"
    assert fault.message.startswith("Reading batch 5 of epoch 1 failed: DataLossError: truncated record at ")


def test_an_allocation_that_fails_says_what_was_asked_for_and_what_would_fit() -> None:
    error = tf.errors.ResourceExhaustedError(
        None,
        None,
        "OOM when allocating tensor with shape[64,1048576] and type float on /device:CPU:0 by allocator cpu",
    )
    fault = fault_of(error, Place(epoch=1, step=2), small_model(), 64, "cpu", HERE)

    assert fault is not None
    assert fault.fault.needed_bytes == 64 * 2**20 * 4
    assert fault.fault.largest_batch is not None
    assert fault.fault.largest_batch <= 63
    assert fault.message.startswith(
        "out of memory in batch 3 of epoch 2: an allocation of 256 MiB failed with "
    )
    assert "; of 64 samples a step about " in fault.message
    assert not fault.keeps_model


@pytest.mark.parametrize(
    "error",
    [
        UsageError("no", hint="no"),
        ValueError("shapes differ"),
        KeyError("x"),
        tf.errors.ResourceExhaustedError(None, None, "/runs/tb/events.v2; No space left on device"),
    ],
)
def test_other_errors_are_none_of_these_faults(error: Exception) -> None:
    assert fault_of(error, Place(epoch=0, step=0), small_model(), 4, "cpu", HERE) is None


def test_a_place_is_told_in_words_counted_from_one() -> None:
    assert str(Place(epoch=1, step=6)) == "batch 7 of epoch 2"
    assert str(Place(epoch=1, step=None)) == "epoch 2"
    assert str(Place(epoch=None, step=None)) == "training"
    assert str(Place(epoch=1, step=None, in_validation=True)) == "the validation after epoch 2"
