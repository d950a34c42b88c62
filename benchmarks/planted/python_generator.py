"""Plant: a Python generator that makes each sample in Python."""

import os

import keras
import numpy as np
import tensorflow as tf

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"
SAMPLES = 4096


def create_model():
    return keras.Sequential([keras.Input((256,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(10)])


def generate():
    rng = np.random.default_rng(0)
    for number in range(SAMPLES):
        # As people write it: one value after the other.
        yield np.array([float(value) * 0.5 + 1.0 for value in rng.normal(size=256)], "float32"), number % 10


def load_data():
    if PLANTED:
        spec = (tf.TensorSpec((256,), tf.float32), tf.TensorSpec((), tf.int64))
        data = tf.data.Dataset.from_generator(generate, output_signature=spec)
    else:
        rng = np.random.default_rng(0)
        data = tf.data.Dataset.from_tensor_slices(
            (rng.normal(size=(SAMPLES, 256)).astype("float32"), np.arange(SAMPLES) % 10)
        )
    return data.batch(32, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
