"""A subclassed model whose layers are built when they are first called, with early stopping."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers


class Residual(layers.Layer):
    """Two dense layers beside a shortcut."""

    def __init__(self, width, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(width, activation="gelu")
        self.second = layers.Dense(width)

    def call(self, inputs):
        return inputs + self.second(self.first(inputs))


class Network(keras.Model):
    """Residual blocks around a width of 32."""

    def __init__(self, blocks=3):
        super().__init__()
        self.entry = layers.Dense(32)
        self.blocks = [Residual(32) for _ in range(blocks)]
        self.exit = layers.Dense(1)

    def call(self, inputs):
        x = self.entry(inputs)
        for block in self.blocks:
            x = block(x)
        return self.exit(x)


class Experiment:
    """Holds a model and trains it."""

    def __init__(self):
        keras.utils.set_random_seed(3)
        random = np.random.default_rng(3)
        self.x = random.uniform(-2, 2, size=(8_000, 4)).astype("float32")
        self.y = np.sin(self.x).sum(axis=1, keepdims=True).astype("float32")
        self.model = Network()
        self.model.compile(keras.optimizers.Adam(1e-3), loss="mae")

    def run(self):
        stop = keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)
        history = self.model.fit(
            self.x, self.y, epochs=6, batch_size=64, validation_split=0.2, callbacks=[stop], verbose=0
        )
        return history.history


if __name__ == "__main__":
    logs = Experiment().run()
    print(
        f"result loss {logs['loss'][-1]:.5f} val_loss {logs['val_loss'][-1]:.5f} epochs {len(logs['loss'])}"
    )
