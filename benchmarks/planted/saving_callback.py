"""Plant: the model is saved at every second batch."""

import os
import tempfile
from pathlib import Path

import keras
from wide_network import create_model, load_data  # noqa: F401 - the job is the same

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"


def create_callbacks():
    path = Path(tempfile.mkdtemp()) / "model.keras"
    return [keras.callbacks.ModelCheckpoint(path, save_freq=2 if PLANTED else "epoch")]
