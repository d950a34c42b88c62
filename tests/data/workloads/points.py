"""A tiny job that the tests train with the real worker: three clouds of points, two layers."""

import keras
import numpy as np
from keras import layers


def create_model():
    return keras.Sequential(
        [layers.Input((8,)), layers.Dense(16, activation="relu"), layers.Dropout(0.1), layers.Dense(3)],
        name="points",
    )


def load_data():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=640)
    x = (rng.normal(size=(640, 8)) + 2.0 * np.eye(3, 8)[y]).astype("float32")
    return (x[:512], y[:512]), (x[512:], y[512:])
