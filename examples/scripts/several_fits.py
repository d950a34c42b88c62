"""Several fits in one script: two models, one of them trained further with a lower learning rate."""

import keras
import numpy as np

keras.utils.set_random_seed(11)
random = np.random.default_rng(11)
x = random.normal(size=(10_000, 16)).astype("float32")
y = (x[:, :4] ** 2).sum(axis=1, keepdims=True).astype("float32")


def model_of(width):
    model = keras.Sequential(
        [keras.layers.Input((16,)), keras.layers.Dense(width, activation="relu"), keras.layers.Dense(1)]
    )
    model.compile(keras.optimizers.Adam(1e-3), "mse")
    return model


losses = {}
for width in (16, 64):
    model = model_of(width)
    losses[width] = model.fit(x, y, batch_size=100, epochs=4, verbose=0).history["loss"][-1]
model.optimizer.learning_rate = 2e-4
losses["further"] = model.fit(x, y, batch_size=100, epochs=8, initial_epoch=4, verbose=0).history["loss"][-1]
print("result", *(f"{name} {loss:.5f}" for name, loss in losses.items()))
