"""A job without a plant of its own: what is planted are settings or a neighbour."""

import keras
import numpy as np


def create_model():
    return keras.Sequential([keras.Input((32,)), keras.layers.Dense(32, "relu"), keras.layers.Dense(10)])


def load_data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(16_384, 32)).astype("float32"), rng.integers(0, 10, 16_384)
