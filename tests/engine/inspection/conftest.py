"""Models, calls of fit, and what the lints find in them."""

import numpy as np
import pytest

from steptime.diagnosis.model import lint
from steptime.record.model_facts import FACTS

X = np.random.default_rng(0).random((64, 8), dtype="float32")
Y = np.tile(np.arange(4), 16)
SPARSE = "sparse_categorical_crossentropy"


@pytest.fixture
def model():
    """Makes a compiled sequential model of some layers."""
    import keras

    def model(*stack, shape=(8,), loss=SPARSE, dtype=None, optimizer="adam", **compile_arguments):
        made = keras.Sequential([keras.Input(shape, dtype=dtype), *stack])
        made.compile(optimizer, loss, **compile_arguments)
        return made

    return model


@pytest.fixture
def classifier(model):
    """Makes a sound model for four classes."""
    import keras

    def classifier(**arguments):
        return model(keras.layers.Dense(4, activation="softmax"), **arguments)

    return classifier


@pytest.fixture
def findings():
    """Kind to severity of what is found; every fact must have been read, or have a reason that is not a failure."""
    from steptime.engine.inspection import gather
    from steptime.engine.request import FitRequest

    def findings(made, *given, past=None, **arguments):
        facts = gather(made, FitRequest(*(given or (X, Y)), **arguments), past=past)
        assert not [why for why in facts.unknown.values() if why.startswith("it could not be read")], (
            facts.unknown
        )
        assert set(facts.values) | set(facts.unknown) == set(FACTS)
        return {finding.kind: finding.severity for finding in lint(facts).findings}

    return findings


@pytest.fixture
def dataset():
    """Makes a pipeline that ends in slices of arrays."""
    import tensorflow as tf

    def dataset(*, x=X, y=Y):
        return tf.data.Dataset.from_tensor_slices((x, y))

    return dataset


@pytest.fixture
def policy():
    """Sets a dtype policy until the test ends."""
    import keras

    yield keras.config.set_dtype_policy
    keras.config.set_dtype_policy("float32")
