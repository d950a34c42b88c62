"""Keras on another backend, which KERAS_BACKEND names: `python keras_arm.py JOB DATA.npz BATCH EPOCHS`."""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import keras
import numpy as np

from clock import BatchClock, summary
from small_models import SMALL_MODELS


def main() -> None:
    job, path, batch, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with np.load(path, allow_pickle=False) as arrays:
        x, y = arrays["x"], arrays["y"]
    keras.utils.set_random_seed(1)
    model = SMALL_MODELS[job]()
    begin_ns = time.perf_counter_ns()
    first = model.fit(x, y, batch_size=batch, epochs=1, verbose=0)
    call_s = (time.perf_counter_ns() - begin_ns) / 1e9
    clock = BatchClock()
    second = model.fit(x, y, batch_size=batch, epochs=epochs, verbose=0, callbacks=[clock])
    loss = [*first.history["loss"], *second.history["loss"]]
    print(json.dumps({"call_s": call_s, **summary(clock), "loss": loss}))


if __name__ == "__main__":
    main()
