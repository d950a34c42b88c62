"""Plant: batches of texts of ever different lengths under jit_compile, which compiles anew for each length."""

import os

import keras
import numpy as np
import tensorflow as tf

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"
LONGEST = 160


def create_model():
    return keras.Sequential(
        [
            keras.Input((None,), dtype="int32"),
            keras.layers.Embedding(1000, 32),
            keras.layers.GlobalAveragePooling1D(),
            keras.layers.Dense(64, "relu"),
            keras.layers.Dense(10),
        ]
    )


def compile_model(model):
    model.compile(
        "adam",
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        jit_compile=True,
    )


def load_data():
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, LONGEST, 8192)
    texts = tf.RaggedTensor.from_row_lengths(rng.integers(1, 1000, lengths.sum()).astype("int32"), lengths)
    data = tf.data.Dataset.from_tensor_slices((texts, lengths % 10))
    shapes = ([None if PLANTED else LONGEST], [])
    # A row of a ragged tensor is a plain tensor, but only a map says so.
    data = data.map(lambda text, label: (tf.identity(text), label), num_parallel_calls=tf.data.AUTOTUNE)
    data = data.padded_batch(32, padded_shapes=shapes, drop_remainder=True)
    return data.prefetch(tf.data.AUTOTUNE)
