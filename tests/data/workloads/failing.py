"""Jobs whose data, memory, loss or process fail in the middle; each test names the functions it wants."""

import contextlib
import os
import signal
import time
from pathlib import Path

import keras
import numpy as np
import psutil
import tensorflow as tf
from keras import layers

BATCH, BATCHES = 16, 50


def create_model():
    return keras.Sequential([layers.Input((8,)), layers.Dense(16, "relu"), layers.Dense(3)])


def load_data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(BATCH * BATCHES, 8)).astype("float32"), rng.integers(0, 3, BATCH * BATCHES)


def read_file(number):
    if number == 137:
        raise OSError("part-137.png is broken: the person's own words")
    return np.full((BATCH, 8), 0.1, "float32"), np.zeros(BATCH, "int64")


def broken_file():
    """A stream of 100 batches an epoch that is repeated; the 138th batch cannot be read."""

    def batches():
        for number in range(300):
            yield read_file(number)

    signature = (tf.TensorSpec((BATCH, 8), tf.float32), tf.TensorSpec((BATCH,), tf.int64))
    return tf.data.Dataset.from_generator(batches, output_signature=signature)


def broken_record():
    """A file of records that was cut short."""
    path = Path("cut.tfrecord")
    with tf.io.TFRecordWriter(str(path)) as writer:
        for number in range(40):
            writer.write(np.full(8, number, "float32").tobytes())
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    features = tf.data.TFRecordDataset(str(path)).map(lambda record: tf.io.decode_raw(record, tf.float32))
    return features.map(lambda x: (tf.reshape(x, (8,)), tf.constant(0, tf.int64))).batch(1)


class Files(keras.utils.PyDataset):
    def __len__(self):
        return BATCHES

    def __getitem__(self, number):
        return read_file(137 if number == 30 else number)


def broken_pydataset():
    return Files()


def spoiled_stream():
    """The 31st batch holds a NaN in its sample 5."""

    def spoil(number, batch):
        x, y = batch
        bad = tf.reshape(tf.range(BATCH) == 5, (-1, 1)) & (number == 30)
        return tf.where(bad, tf.constant(np.nan, tf.float32), x), y

    data = tf.data.Dataset.from_tensor_slices(load_data()).batch(BATCH)
    return data.enumerate().map(spoil)


def diverge(model):
    model.compile(keras.optimizers.SGD(1e9), keras.losses.SparseCategoricalCrossentropy(from_logits=True))


def unlimited_model():
    """Each sample takes 3 MiB in each layer."""
    return keras.Sequential(
        [
            layers.Input((8,)),
            layers.Dense(2),
            layers.RepeatVector(3 * 2**17),
            layers.Activation("tanh"),
            layers.Activation("tanh"),
            layers.GlobalAveragePooling1D(),
            layers.Dense(3),
        ]
    )


def memory_model():
    """The same, and the address space may grow by 800 MiB."""
    import resource

    limit = psutil.Process().memory_info().vms + 800 * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    return unlimited_model()


def small_data():
    x, y = load_data()
    return x[:96], y[:96]


def killed_once():
    """A stream whose 330th batch kills the worker, once."""
    path = Path(os.environ["STEPTIME_TEST_FOLDER"]) / "killed"

    def batches():
        for number in range(400):
            if number == 330 and not path.exists():
                path.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield np.full((BATCH, 8), number / 400, "float32"), np.zeros(BATCH, "int64")

    signature = (tf.TensorSpec((BATCH, 8), tf.float32), tf.TensorSpec((BATCH,), tf.int64))
    return tf.data.Dataset.from_generator(batches, output_signature=signature)


def filling_disk():
    """The 60th batch finds the disk full, and the 140th finds it free again."""
    path = Path(os.environ["STEPTIME_TEST_FOLDER"]) / "ballast"
    x, y = load_data()

    def batches():
        for number in range(3 * BATCHES):
            if number == 60:
                with contextlib.suppress(OSError):  # as much as there is room for
                    path.write_bytes(bytes(4 << 20))
            if number == 120:
                time.sleep(1.0)  # those who write beside the training meet the full disk meanwhile
            if number == 140:
                path.unlink()
            begin = number % BATCHES * BATCH
            yield x[begin : begin + BATCH], y[begin : begin + BATCH]

    signature = (tf.TensorSpec((BATCH, 8), tf.float32), tf.TensorSpec((BATCH,), tf.int64))
    return tf.data.Dataset.from_generator(batches, output_signature=signature)
