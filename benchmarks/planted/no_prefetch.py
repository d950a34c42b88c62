"""Plant: pictures are decoded and cropped at random in parallel, but the pipeline does not end in prefetch."""

import os

import keras
import numpy as np
import tensorflow as tf

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"


def create_model():
    return keras.Sequential(
        [
            keras.Input((96, 96, 3)),
            keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
            keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(10),
        ]
    )


def decode(file, label):
    image = tf.io.decode_jpeg(file, channels=3)
    crop = tf.image.random_crop(image, (96, 96, 3))
    return tf.cast(crop, tf.float32) / 255.0, label


def load_data():
    rng = np.random.default_rng(0)
    smooth = rng.integers(0, 255, (64, 16, 16, 3)).astype("uint8")
    pictures = tf.cast(tf.image.resize(smooth, (192, 192)), tf.uint8)
    files = [tf.io.encode_jpeg(picture).numpy() for picture in pictures] * 16
    data = tf.data.Dataset.from_tensor_slices((files, np.arange(len(files)) % 10))
    data = data.map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(32, drop_remainder=True)
    return data if PLANTED else data.prefetch(tf.data.AUTOTUNE)
