"""An LSTM that tells sentences with a certain word order from others."""

import keras
import numpy as np
from keras import layers

WORDS, LENGTH = 500, 20


def sentences(samples, seed):
    """Word numbers, int32 (samples, LENGTH); the label says whether word 7 stands before word 9."""
    random = np.random.default_rng(seed)
    x = random.integers(10, WORDS, size=(samples, LENGTH)).astype("int32")
    places = np.argsort(random.random((samples, LENGTH)), axis=1)[:, :2]
    rows = np.arange(samples)
    x[rows, places[:, 0]], x[rows, places[:, 1]] = 7, 9
    return x, (places[:, 0] < places[:, 1]).astype("float32")[:, None]


class Classifier:
    def __init__(self):
        self.model = keras.Sequential(
            [
                layers.Input((LENGTH,), dtype="int32"),
                layers.Embedding(WORDS, 16),
                layers.LSTM(24),
                layers.Dense(1),
            ]
        )
        self.model.compile(
            optimizer=keras.optimizers.Adam(1e-2),
            loss=keras.losses.BinaryCrossentropy(from_logits=True),
            metrics=[keras.metrics.BinaryAccuracy(threshold=0.0, name="accuracy")],
        )

    def train(self, x, y):
        return self.model.fit(x, y, batch_size=64, epochs=3, shuffle=True, verbose=0).history


if __name__ == "__main__":
    keras.utils.set_random_seed(8)
    classifier = Classifier()
    logs = classifier.train(*sentences(6_000, 8))
    test = classifier.model.evaluate(*sentences(1_000, 9), verbose=0, return_dict=True)
    print(f"result loss {logs['loss'][-1]:.5f} test_accuracy {test['accuracy']:.4f}")
