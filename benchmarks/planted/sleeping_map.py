"""Plant: a map function that sleeps 2 ms for each element, one call at a time."""

import os
import time

import keras
import numpy as np
import tensorflow as tf

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"


def create_model():
    return keras.Sequential([keras.Input((256,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(10)])


def nap(x):
    time.sleep(0.002)
    return x


def load_data():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(4096, 256)).astype("float32"), rng.integers(0, 10, 4096)
    data = tf.data.Dataset.from_tensor_slices((x, y))
    if PLANTED:
        data = data.map(lambda x, y: (tf.ensure_shape(tf.numpy_function(nap, [x], tf.float32), (256,)), y))
    return data.batch(32, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
