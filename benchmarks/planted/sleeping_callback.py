"""Plant: a callback that sleeps 30 ms at every batch."""

import os
import time

import keras
from wide_network import create_model, load_data  # noqa: F401 - the job is the same

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"


class SlowLogger(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):  # noqa: ARG002 - Keras calls it so
        if PLANTED:
            time.sleep(0.03)


def create_callbacks():
    return [SlowLogger()]
