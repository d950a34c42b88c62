"""Plant: more validation data than training data, validated after every epoch."""

import os

import numpy as np
from wide_network import create_model  # noqa: F401 - the job is the same

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"


def arrays(samples, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(samples, 512)).astype("float32"), rng.integers(0, 10, samples)


def load_data():
    return arrays(8192, 0), arrays(32_768 if PLANTED else 512, 1)
