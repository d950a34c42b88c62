"""Jobs that fail in ways a person's job may fail; each test names the functions it wants."""

import os
import signal
import sys
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers


def create_model():
    return keras.Sequential([layers.Input((8,)), layers.Dense(3)])


def load_data():
    return np.ones((64, 8), "float32"), np.zeros(64, "int64")


def model_that_raises():
    raise LookupError("no such layer: the person's own words")


class ElsewhereLayer(layers.Layer):
    """Computes on the second logical CPU, whatever the plan says."""

    def call(self, x):
        with tf.device("/CPU:1"):
            return tf.matmul(x, tf.ones((8, 8)))


def model_elsewhere():
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    return keras.Sequential([layers.Input((8,)), ElsewhereLayer(), layers.Dense(3)])


def eager_model():
    """A compiled model that only Keras' own fit can train."""
    model = create_model()
    model.compile("sgd", "sparse_categorical_crossentropy", run_eagerly=True)
    return model


def endless_data():
    """Batches without end, each 5 ms long; the 330th brings a Ctrl-C to whoever launched this worker."""

    def batches():
        number = 0
        while True:
            number += 1
            time.sleep(0.005)
            if number == 330:
                os.kill(os.getppid(), signal.SIGINT)
            yield np.ones((4, 8), "float32"), np.zeros(4, "int64")

    signature = (tf.TensorSpec((4, 8), tf.float32), tf.TensorSpec((4,), tf.int64))
    return tf.data.Dataset.from_generator(batches, output_signature=signature)


def data_that_exits():
    sys.exit("bye")
