"""A training script for several workers as public tutorials write it: nothing in it knows of steptime.

Under Keras 3 its `model.fit` fails with "Attempt to convert a value (PerReplica ...)".
"""

import hashlib
import json
import os
import sys

import numpy as np
import tensorflow as tf
from tensorflow import keras

strategy = tf.distribute.MultiWorkerMirroredStrategy()
BATCH_SIZE = 16 * len(json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"])


def dataset(batch_size):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (320, 28, 28), dtype="uint8")
    labels = rng.integers(0, 10, 320)
    data = tf.data.Dataset.from_tensor_slices((np.float32(images) / 255.0, labels.astype("int64")))
    return data.shuffle(320).repeat().batch(batch_size)


def build_and_compile_cnn_model():
    model = keras.Sequential(
        [
            keras.layers.InputLayer(shape=(28, 28)),
            keras.layers.Reshape(target_shape=(28, 28, 1)),
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(16, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    model.compile(
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        optimizer=keras.optimizers.SGD(learning_rate=0.001),
        metrics=["accuracy"],
    )
    return model


with strategy.scope():
    multi_worker_model = build_and_compile_cnn_model()
history = multi_worker_model.fit(dataset(BATCH_SIZE), epochs=2, steps_per_epoch=5, verbose=2)
digest = hashlib.sha256(b"".join(weight.numpy().tobytes() for weight in multi_worker_model.weights))
result = {"weights": digest.hexdigest(), "history": history.history}
sys.stdout.write("RESULT " + json.dumps(result) + "\n")
