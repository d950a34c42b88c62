"""Plant: a chain of element-wise ops on a large tensor."""

import os

import keras
import numpy as np

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"


class Chain(keras.layers.Layer):
    def call(self, x):
        x = keras.ops.tile(x, (1, 64)) if PLANTED else x
        for number in range(12 if PLANTED else 1):
            x = keras.ops.abs(x * (1.0 + 0.01 * number) + 0.5) - 0.25
        return keras.ops.mean(x, axis=-1, keepdims=True)


def create_model():
    return keras.Sequential(
        [keras.Input((256,)), keras.layers.Dense(256, "relu"), Chain(), keras.layers.Dense(10)]
    )


def load_data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(8192, 256)).astype("float32"), rng.integers(0, 10, 8192)
