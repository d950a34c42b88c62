"""Plant: Flatten into a Dense layer of 12 million weights."""

import os

import keras
import numpy as np

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"


def create_model():
    layers = [keras.Input((56, 56, 1)), keras.layers.Conv2D(16, 3, strides=2, activation="relu")]
    if PLANTED:
        layers += [keras.layers.Flatten(), keras.layers.Dense(1024, "relu", name="huge")]
    else:
        layers += [keras.layers.GlobalAveragePooling2D(), keras.layers.Dense(64, "relu")]
    return keras.Sequential([*layers, keras.layers.Dense(10)])


def load_data():
    rng = np.random.default_rng(0)
    return rng.normal(size=(4096, 56, 56, 1)).astype("float32"), rng.integers(0, 10, 4096)
