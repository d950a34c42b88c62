"""A tf.data pipeline with augmentation feeds a small convolutional network."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers

EPOCHS = 3
BATCH_SIZE = 64


def images(samples, seed):
    """Images with a bright square whose quadrant is the label: uint8 (samples, 16, 16, 1)."""
    random = np.random.default_rng(seed)
    x = random.integers(0, 80, size=(samples, 16, 16, 1), dtype=np.uint8)
    y = random.integers(0, 4, size=samples).astype("int32")
    for image, label in zip(x, y, strict=True):
        row, column = 8 * (label // 2) + 2, 8 * (label % 2) + 2
        image[row : row + 4, column : column + 4] += np.uint8(100)
    return x, y


def brighter(image, label):
    scaled = tf.cast(image, tf.float32) / 255.0
    return scaled + tf.random.uniform((), -0.1, 0.1, seed=5), label


def main():
    keras.utils.set_random_seed(5)
    data = (
        tf.data.Dataset.from_tensor_slices(images(6_000, 5))
        .shuffle(6_000, seed=5)
        .map(brighter, num_parallel_calls=1)
        .batch(BATCH_SIZE)
        .prefetch(tf.data.AUTOTUNE)
    )
    x_val, y_val = images(1_000, 6)
    model = keras.Sequential(
        [
            layers.Input((16, 16, 1)),
            layers.Conv2D(8, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(16, 3, activation="relu"),
            layers.GlobalAveragePooling2D(),
            layers.Dense(4),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(5e-3), loss, metrics=["accuracy"])
    history = model.fit(data, epochs=EPOCHS, validation_data=(x_val / 255.0, y_val), verbose=0)
    last = {name: values[-1] for name, values in history.history.items()}
    print(f"result loss {last['loss']:.5f} val_accuracy {last['val_accuracy']:.4f}")


if __name__ == "__main__":
    main()
