"""A workload of one's own: steptime train examples/my_job.py --epochs 3

steptime calls the two functions below in a fresh process. It compiles the model with the settings (optimizer,
learning rate, loss) unless `create_model` returns a compiled one.
"""

import keras
import numpy as np

CLASSES = 3


def create_model() -> keras.Model:
    """A small classifier that ends in logits, one for each class."""
    return keras.Sequential(
        [
            keras.Input(shape=(16,)),
            keras.layers.Dense(32, activation="relu"),
            keras.layers.Dense(CLASSES),
        ]
    )


def load_data() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Points in three clouds: ``((x, y), (x_val, y_val))``, x float32 (n, 16), y int32 (n,)."""
    random = np.random.default_rng(0)
    centres = random.normal(scale=2.0, size=(CLASSES, 16))
    y = random.integers(CLASSES, size=5_000).astype("int32")
    x = (centres[y] + random.normal(size=(len(y), 16))).astype("float32")
    return (x[:4_000], y[:4_000]), (x[4_000:], y[4_000:])
