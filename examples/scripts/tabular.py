"""Regression on a table: a normalisation layer fitted to the data, sample weights, a learning-rate schedule."""

import keras
import numpy as np


def table(rows):
    random = np.random.default_rng(10)
    columns = np.stack(
        [random.normal(180, 30, rows), random.lognormal(3, 0.4, rows), random.uniform(0, 1, rows)], axis=1
    )
    target = 0.02 * columns[:, 0] + 0.1 * columns[:, 1] - columns[:, 2] ** 2
    return columns.astype("float32"), target[:, None].astype("float32")


def main():
    keras.utils.set_random_seed(10)
    x, y = table(16_000)
    weight = np.where(x[:, 2] > 0.5, 2.0, 1.0).astype("float32")
    normalise = keras.layers.Normalization()
    normalise.adapt(x)
    model = keras.Sequential([normalise, keras.layers.Dense(32, "relu"), keras.layers.Dense(1)])
    rate = keras.optimizers.schedules.ExponentialDecay(5e-3, decay_steps=200, decay_rate=0.9)
    model.compile(keras.optimizers.Adam(rate), "huber", metrics=["mae"])
    history = model.fit(x, y, sample_weight=weight, batch_size=64, epochs=5, verbose=0)
    print(f"result loss {history.history['loss'][-1]:.5f} mae {history.history['mae'][-1]:.5f}")


if __name__ == "__main__":
    main()
