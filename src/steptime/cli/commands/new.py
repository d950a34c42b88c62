"""``steptime new my_job.py``: a commented starter that runs as it is."""

import argparse
from pathlib import Path

from steptime.cli import output
from steptime.errors import UsageError
from steptime.record.files import write_bytes

STARTER = '''"""A workload for steptime: `steptime train {name}` trains it as it is. Change both functions."""

import keras
import numpy as np
from keras import layers


def create_model():
    """Return a Keras model. Compile it here, or in compile_model(model), or leave that to steptime."""
    return keras.Sequential(
        [
            layers.Input((20,)),
            layers.Dense(64, activation="relu"),
            layers.Dense(3),  # one logit for each class; steptime chooses the loss that fits and says so
        ]
    )


def load_data():
    """Return ((x, y), (x_val, y_val)); a tf.data.Dataset, or a pair of them, works as well.

    Replace the made-up points by your own data, such as np.load("my_data.npz").
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=(5000, 20)).astype("float32")
    y = (x[:, :5].sum(axis=1) > 0).astype("int64") + (x[:, 5] > 1)
    return (x[:4000], y[:4000]), (x[4000:], y[4000:])


# def compile_model(model):
#     model.compile(
#         optimizer="adam",
#         loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
#         metrics=["accuracy"],
#     )
'''


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("file", metavar="FILE.py", help="file to write; it must not exist")


def run(options: argparse.Namespace) -> int:
    """Write the starter."""
    path = Path(options.file)
    if path.suffix != ".py":
        raise UsageError(f"The file must end in .py. Received: {str(path)!r}", hint="For example: my_job.py")
    if path.exists():
        raise UsageError(f"The file must not exist. Received: {str(path)!r}", hint="Choose another name.")
    try:
        write_bytes(path, STARTER.format(name=path.name).encode())
    except OSError as error:
        raise UsageError(
            f"The file must be writable. Received: {str(path)!r} ({error.strerror})",
            hint="Choose a folder that exists and that you may write.",
        ) from None
    output.say(f"wrote {path}; train it with: steptime train {path}")
    return 0
