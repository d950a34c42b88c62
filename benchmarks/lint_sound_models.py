"""Fifteen and more sound models: the lints must find no error in any, and look at each in less than two seconds.

    python benchmarks/lint_sound_models.py [--results benchmarks/results/lint_sound_models.json] [NAME ...]

Architectures of keras.applications with random weights and small inputs, and the jobs and examples of this repository,
each with the data and the preprocessing that its documentation asks for. Exit code 1 when there is an error.
"""

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import applications, layers

from steptime.diagnosis.model import lint
from steptime.engine.inspection import gather
from steptime.engine.request import FitRequest

LIMIT_S = 2.0
CLASSES = 10
SAMPLES = 256
# Name -> how its documentation wants pixels; None: it scales by itself.
APPLICATIONS: dict[str, Any] = {
    "MobileNet": applications.mobilenet.preprocess_input,
    "MobileNetV2": applications.mobilenet_v2.preprocess_input,
    "MobileNetV3Small": None,
    "EfficientNetB0": None,
    "EfficientNetV2B0": None,
    "ResNet50": applications.resnet50.preprocess_input,
    "ResNet50V2": applications.resnet_v2.preprocess_input,
    "DenseNet121": applications.densenet.preprocess_input,
    "VGG16": applications.vgg16.preprocess_input,
    "Xception": applications.xception.preprocess_input,
    "InceptionV3": applications.inception_v3.preprocess_input,
    "NASNetMobile": applications.nasnet.preprocess_input,
    "ConvNeXtTiny": None,
}
OWN_SIZE = {"NASNetMobile": 224, "InceptionV3": 96, "Xception": 96}


def images(size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    pixels = rng.integers(0, 256, (SAMPLES, size, size, 3), dtype="uint8")
    return pixels, rng.permutation(np.arange(SAMPLES) % CLASSES)


def application(name: str) -> tuple[keras.Model, FitRequest]:
    rng = np.random.default_rng(0)
    size = OWN_SIZE.get(name, 64)
    x, y = images(size, rng)
    preprocess = APPLICATIONS[name]
    if preprocess is not None:
        x = preprocess(x.astype("float32"))
    model = getattr(applications, name)(weights=None, input_shape=(size, size, 3), classes=CLASSES)
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model, FitRequest(x[:192], y[:192], 16, 60, validation_data=(x[192:], y[192:]))


def transfer() -> tuple[keras.Model, FitRequest]:
    """A frozen body, a new head, augmentation in the pipeline."""
    x, y = images(64, np.random.default_rng(0))
    body = applications.MobileNetV2(weights=None, input_shape=(64, 64, 3), include_top=False, pooling="avg")
    body.trainable = False
    start = keras.Input((64, 64, 3))
    end = layers.Dense(CLASSES)(
        layers.Dropout(0.2)(body(layers.Rescaling(1 / 127.5, offset=-1)(start), training=False))
    )
    model = keras.Model(start, end)
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    flip = layers.RandomFlip("horizontal")
    data = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(SAMPLES)
    data = data.map(lambda a, b: (flip(a, training=True), b)).batch(32).prefetch(tf.data.AUTOTUNE)
    return model, FitRequest(data, epochs=5)


def text() -> tuple[keras.Model, FitRequest]:
    """Word numbers, an embedding, a bidirectional LSTM, yes or no."""
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 5000, (SAMPLES, 40)), rng.permutation(np.arange(SAMPLES) % 2)
    stack = [
        layers.Embedding(5000, 32),
        layers.Bidirectional(layers.LSTM(16)),
        layers.Dense(1, activation="sigmoid"),
    ]
    model = keras.Sequential([keras.Input((40,), dtype="int64"), *stack])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model, FitRequest(x, y, epochs=3, validation_split=0.2)


def table() -> tuple[keras.Model, FitRequest]:
    """Regression over features of very different size, normalised by the first layer."""
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(1000, 8)) * 10.0 ** np.arange(8)).astype("float32")
    norm = layers.Normalization()
    norm.adapt(x)
    model = keras.Sequential([keras.Input((8,)), norm, layers.Dense(64, "relu"), layers.Dense(1)])
    model.compile("adam", "mse")
    return model, FitRequest(x, rng.normal(size=1000), epochs=10, validation_split=0.2)


class Autoencoder(keras.Model):
    """A subclassed model with two parts."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = keras.Sequential([layers.Flatten(), layers.Dense(32, "relu")])
        self.decoder = keras.Sequential([layers.Dense(784, "sigmoid"), layers.Reshape((28, 28))])

    def call(self, x: Any) -> Any:
        return self.decoder(self.encoder(x))


def autoencoder() -> tuple[keras.Model, FitRequest]:
    x = np.random.default_rng(0).random((SAMPLES, 28, 28), dtype="float32")
    model = Autoencoder()
    model.compile("adam", "mse")
    model(x[:1])
    return model, FitRequest(x, x, epochs=3)


def two_heads() -> tuple[keras.Model, FitRequest]:
    """Two inputs, two outputs, unlike losses."""
    rng = np.random.default_rng(0)
    a, b = keras.Input((8,), name="a"), keras.Input((4,), name="b")
    both = layers.Dense(16, "relu")(layers.Concatenate()([a, b]))
    kind = layers.Dense(3, activation="softmax", name="kind")(both)
    model = keras.Model({"a": a, "b": b}, {"kind": kind, "price": layers.Dense(1, name="price")(both)})
    model.compile("adam", {"kind": "sparse_categorical_crossentropy", "price": "mse"})
    x = {"a": rng.normal(size=(SAMPLES, 8)), "b": rng.normal(size=(SAMPLES, 4))}
    return model, FitRequest(
        x, {"kind": rng.integers(0, 3, SAMPLES), "price": rng.normal(size=SAMPLES)}, epochs=2
    )


def mnist() -> tuple[keras.Model, FitRequest]:
    """The built-in job with all of its 60,000 images."""
    from steptime.workloads import mnist_cnn

    model = mnist_cnn.create_model()
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    (x, y), held = mnist_cnn.load_data()
    return model, FitRequest(x, y, 128, 5, validation_data=held)


def example() -> tuple[keras.Model, FitRequest]:
    """examples/my_job.py."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    import my_job

    model = my_job.create_model()
    (x, y), held = my_job.load_data()
    if hasattr(my_job, "compile_model"):
        my_job.compile_model(model)
    if not model.compiled:
        model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model, FitRequest(x, y, 32, 5, validation_data=held)


OTHERS: dict[str, Callable[[], tuple[keras.Model, FitRequest]]] = {
    "transfer": transfer, "text": text, "table": table, "autoencoder": autoencoder, "two-heads": two_heads,
    "mnist-cnn": mnist, "my_job": example,
}  # fmt: skip
NAMES = (*APPLICATIONS, *OTHERS)


def rows(names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        model, request = application(name) if name in APPLICATIONS else OTHERS[name]()
        facts = gather(model, request)
        report = lint(facts)
        row = {
            "model": name,
            "layers": len(model._flatten_layers()),
            "parameters": model.count_params(),
            "gathered_s": round(facts.gathered_s, 3),
            "findings": {finding.kind: finding.severity for finding in report.findings},
            "unchecked": dict(report.unchecked),
        }
        print(
            f"{name:18} {row['layers']:4} layers {row['gathered_s']:6.2f} s  {row['findings'] or 'no finding'}",
            flush=True,
        )
        for kind, reason in row["unchecked"].items():
            if "could not be read" in reason:
                print(f"    {kind}: {reason}", flush=True)
        keras.backend.clear_session()
        yield row


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(NAMES)}")
    parser.add_argument("--results", type=Path, help="write the rows there as JSON")
    options = parser.parse_args()
    found: list[dict[str, Any]] = []
    for row in rows(options.names or list(NAMES)):
        found.append(row)
        if options.results:  # after each: building all of them takes minutes
            machine = {
                "machine": platform.machine(),
                "tensorflow": tf.__version__,
                "keras": keras.__version__,
            }
            text = json.dumps({"ran_on": machine, "models": found}, indent=1)
            options.results.write_text(text + "\n", encoding="utf-8")
    errors = [row["model"] for row in found if "error" in row["findings"].values()]
    slow = [row["model"] for row in found if row["gathered_s"] > LIMIT_S]
    slowest = max(row["gathered_s"] for row in found)
    print(f"{len(found)} models, {len(errors)} with an error, slowest {slowest:.2f} s")
    return 1 if errors or slow else 0


if __name__ == "__main__":
    sys.exit(main())
