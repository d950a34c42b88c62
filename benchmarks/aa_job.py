"""The small job of aa.py: a perceptron on random data, a second of training. May be told to be slower, exactly.

With STEPTIME_AA_SLOWDOWN=0.1 a sleep of a tenth of its time follows each block of steps: a slow-down of 10 % that is
known, whatever the machine does.
"""

import os
import time

import keras
import numpy as np

SLOWDOWN = float(os.environ.get("STEPTIME_AA_SLOWDOWN", "0"))

if SLOWDOWN:
    from steptime.worker.watch import TrainingWatch

    _on_block = TrainingWatch.on_block

    def _slowly(self, **fields):
        _on_block(self, **fields)
        time.sleep(fields["duration_ns"] / 1e9 * SLOWDOWN)

    TrainingWatch.on_block = _slowly


def create_model():
    return keras.Sequential(
        [
            keras.Input((64,)),
            keras.layers.Dense(256, "relu"),
            keras.layers.Dense(256, "relu"),
            keras.layers.Dense(10),
        ]
    )


def load_data():
    rng = np.random.default_rng(0)
    return (rng.normal(size=(64_000, 64)).astype("float32"), rng.integers(0, 10, 64_000))
