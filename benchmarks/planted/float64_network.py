"""Plant: keras.config.set_floatx("float64")."""

import os

import keras

if os.environ.get("STEPTIME_PLANTED") == "1":
    keras.config.set_floatx("float64")

from wide_network import create_model, load_data  # noqa: F401 - floatx must be set before
