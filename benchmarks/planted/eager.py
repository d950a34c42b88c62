"""Plant: compile(run_eagerly=True), as left from debugging."""

import os

import keras
from small_network import create_model, load_data  # noqa: F401 - the job is the same

PLANTED = os.environ.get("STEPTIME_PLANTED") == "1"


def compile_model(model):
    model.compile(
        "adam",
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        run_eagerly=PLANTED,
    )
