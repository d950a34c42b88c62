"""A Sequential classifier, trained and evaluated: the first script of most tutorials.

python sequential.py [--epochs N]
"""

import argparse

import keras
import numpy as np


def clouds(samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Points in ten clouds: x float32 (samples, 32), y int32 (samples,)."""
    centres = np.random.default_rng(0).normal(scale=1.2, size=(10, 32))
    random = np.random.default_rng(seed)
    y = random.integers(10, size=samples)
    return (centres[y] + random.normal(size=(samples, 32))).astype("float32"), y.astype("int32")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    keras.utils.set_random_seed(1)
    x, y = clouds(20_000, seed=1)
    x_test, y_test = clouds(4_000, seed=2)
    model = keras.Sequential(
        [
            keras.layers.Input((32,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.Dropout(0.1),
            keras.layers.Dense(10),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])
    history = model.fit(x, y, epochs=options.epochs, validation_split=0.1, verbose=2)
    loss_value, accuracy = model.evaluate(x_test, y_test, verbose=0)
    print(
        f"result loss {history.history['loss'][-1]:.5f} test_loss {loss_value:.5f} test_accuracy {accuracy:.4f}"
    )


if __name__ == "__main__":
    main()
