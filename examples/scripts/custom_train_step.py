"""A model with a train_step of its own: two losses, a metric it keeps itself, clipped gradients."""

import keras
import numpy as np
import tensorflow as tf


class Denoiser(keras.Model):
    """An autoencoder that sees its input with noise and is asked for it without."""

    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(8)])
        self.decoder = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(32)])
        self.noise = keras.layers.GaussianNoise(0.1, seed=4)
        self.total = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.total]

    def call(self, inputs, training=False):
        return self.decoder(self.encoder(self.noise(inputs, training=training)))

    def train_step(self, data):
        x, _ = data
        with tf.GradientTape() as tape:
            rebuilt = self(x, training=True)
            error = tf.reduce_mean(tf.square(rebuilt - x))
            size = tf.reduce_mean(tf.square(self.encoder(x)))
            loss = error + 1e-3 * size
        gradients = tape.gradient(loss, self.trainable_variables)
        gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.total.update_state(loss)
        return {"loss": self.total.result()}


def main():
    keras.utils.set_random_seed(4)
    random = np.random.default_rng(4)
    x = (random.normal(size=(10_000, 6)) @ random.normal(size=(6, 32))).astype("float32")
    model = Denoiser()
    model.compile(optimizer=keras.optimizers.Adam(2e-3))
    history = model.fit(x, np.zeros(len(x), "float32"), batch_size=50, epochs=6, verbose=0)
    print(f"result loss {history.history['loss'][-1]:.5f}")


main()
