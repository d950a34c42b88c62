"""Wrong input is refused with Keras' own exception and message, and what Keras warns about is warned about."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow


def dataset(samples, **_):
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices((samples.x, samples.y)).batch(8)


def generator(samples):
    yield samples.x[:8], samples.y[:8]


def pydataset(samples):
    import keras

    class One(keras.utils.PyDataset):
        def __len__(self):
            return 1

        def __getitem__(self, index):
            return samples.x[:8], samples.y[:8]

    return One(workers=1)


WRONG = {
    "lengths differ": lambda s: {"x": s.x, "y": s.y[:-1]},
    "weights of another length": lambda s: {"x": s.x, "y": s.y, "sample_weight": s.weight[:5]},
    "class and sample weights": lambda s: {
        "x": s.x,
        "y": s.y,
        "class_weight": {0: 2.0},
        "sample_weight": s.weight,
    },
    "features of another width": lambda s: {"x": s.x[:, :4], "y": s.y},
    "one input too many": lambda s: {"x": [s.x, s.x], "y": s.y},
    "no targets": lambda s: {"x": s.x},
    "no data": lambda s: {},
    "text": lambda s: {"x": "features.csv", "y": s.y},
    "lists of numbers": lambda s: {"x": s.x.tolist(), "y": s.y.tolist()},
    "words": lambda s: {"x": np.array([["a"] * 6] * 22), "y": s.y},
    "scalars": lambda s: {"x": np.float32(1.0), "y": np.float32(1.0)},
    "a dataset with y": lambda s: {"x": dataset(s), "y": s.y},
    "a dataset with weights": lambda s: {"x": dataset(s), "sample_weight": s.weight},
    "a split of a dataset": lambda s: {"x": dataset(s), "validation_split": 0.2},
    "a generator with y": lambda s: {"x": generator(s), "y": s.y},
    "a generator with class weights": lambda s: {"x": generator(s), "class_weight": {0: 1.0}},
    "an empty generator": lambda s: {"x": (item for item in ())},
    "a generator of arrays": lambda s: {"x": (item for item in [s.x, s.x])},
    "a pydataset with y": lambda s: {"x": pydataset(s), "y": s.y},
    "a split that takes all": lambda s: {"x": s.x[:1], "y": s.y[:1], "validation_split": 0.5},
    "validation data of four parts": lambda s: {"x": s.x, "y": s.y, "validation_data": (1, 2, 3, 4)},
    "validation data of another width": lambda s: {
        "x": s.x,
        "y": s.y,
        "validation_data": (s.val_x[:, :2], s.val_y),
    },
    "validation lengths differ": lambda s: {"x": s.x, "y": s.y, "validation_data": (s.val_x, s.val_y[:3])},
    "a set as validation_freq": lambda s: {
        "x": s.x,
        "y": s.y,
        "validation_data": (s.val_x, s.val_y),
        "validation_freq": {1},
    },
    "a callback that is text": lambda s: {"x": s.x, "y": s.y, "callbacks": ["early"]},
    "epochs as text": lambda s: {"x": s.x, "y": s.y, "epochs": "3"},
    "batch_size as text": lambda s: {"x": s.x, "y": s.y, "batch_size": "8"},
    "a negative batch_size": lambda s: {"x": s.x, "y": s.y, "batch_size": -4},
    "class weights as a list": lambda s: {"x": s.x, "y": s.y, "class_weight": [1.0, 2.0, 3.0]},
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_refused_as_keras_refuses_it(name, classifier, samples):
    import steptime

    wrong = WRONG[name]
    stock = what_is_raised(lambda model: model.fit(verbose=0, **wrong(samples)), classifier)
    assert stock is not None, "stock Keras accepts this: it is no case of this test"
    for loop in ("graph", "auto"):
        arguments = wrong(samples)
        ours = what_is_raised(
            lambda m, a=arguments, w=loop: steptime.fit(m, verbose=0, loop=w, **a), classifier
        )
        assert ours == stock, loop


def what_is_raised(call, build):
    """The exception's type and its message (without addresses and batch sizes), or None."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            call(build())
        except Exception as error:  # noqa: BLE001 - every kind of exception is the subject here
            # Keras names the first axis None where steptime knows the number of samples.
            return type(error), re.sub(r"0x[0-9a-f]+|(?<=shape=\()\w+(?=,)", "", str(error))
    return None


@pytest.mark.parametrize("loop", ["graph", "auto"])
def test_a_model_that_was_not_compiled_is_refused_as_in_keras(loop, samples):
    import keras

    import steptime

    def build():
        return keras.Sequential([keras.Input((6,)), keras.layers.Dense(1)])

    stock = what_is_raised(lambda model: model.fit(samples.x, samples.y), build)
    assert stock is not None
    assert what_is_raised(lambda m: steptime.fit(m, samples.x, samples.y, loop=loop), build) == stock


def test_an_unknown_argument_is_a_type_error_that_names_it(classifier, samples):
    import steptime

    with pytest.raises(TypeError, match="validation_dta"):
        steptime.fit(classifier(), samples.x, samples.y, validation_dta=None)


def test_an_unknown_loop_is_refused_by_name(classifier, samples):
    import steptime

    with pytest.raises((ValueError, steptime.SteptimeError), match="fastest"):
        steptime.fit(classifier(), samples.x, samples.y, loop="fastest")


@pytest.fixture(scope="module")
def models():
    """A model for each loop, compiled once."""
    return {}


@pytest.mark.parametrize(
    ("loop", "hook", "kind"),
    [
        ("graph", "on_train_begin", KeyError),
        ("graph", "on_epoch_begin", KeyError),
        ("graph", "on_train_batch_end", KeyError),
        ("graph", "on_test_begin", KeyError),
        ("graph", "on_train_batch_end", KeyboardInterrupt),
        ("auto", "on_train_batch_end", KeyError),
    ],
)
def test_an_exception_in_a_callback_reaches_the_caller_and_training_can_go_on(
    loop, hook, kind, classifier, samples, models
):
    import keras

    import steptime

    error = kind("from the callback")

    def fail(*_, **__):
        raise error

    model = models.setdefault(loop, classifier())
    callback = type("Fails", (keras.callbacks.Callback,), {hook: fail})()
    arguments = {"x": samples.x, "y": samples.y, "validation_split": 0.2, "verbose": 0, "loop": loop}
    with pytest.raises(kind) as caught:
        steptime.fit(model, **arguments, callbacks=[callback])
    assert caught.value is error
    assert len(steptime.fit(model, **arguments, epochs=2).history["loss"]) == 2


@pytest.mark.parametrize("loop", ["graph"])
@pytest.mark.parametrize("kind", ["generator", "pydataset"])
def test_an_exception_in_the_data_is_the_one_keras_raises(loop, kind, classifier, samples):
    import keras

    import steptime

    def failing_generator():
        yield samples.x[:8], samples.y[:8]
        yield samples.x[:8], samples.y[:8]
        raise RuntimeError("broken file 17")

    class Failing(keras.utils.PyDataset):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            if index == 2:
                raise RuntimeError("broken file 17")
            return samples.x[:8], samples.y[:8]

    def raised(fit, **more):
        data = failing_generator() if kind == "generator" else Failing(workers=1)
        with pytest.raises(Exception, match="broken file 17") as caught:
            fit(classifier(), data, epochs=1, steps_per_epoch=3, verbose=0, shuffle=False, **more)
        return caught.type

    assert raised(steptime.fit, loop=loop) is raised(keras.Model.fit)


@pytest.mark.parametrize("loop", ["graph"])
def test_a_model_with_nothing_to_train_warns_and_evaluates_as_in_keras(loop, oracle, samples):
    import keras

    def build():
        model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(1, trainable=False, name="fixed")])
        model.compile("sgd", "mse")
        return model

    oracle(loop, build, lambda _, fit: fit(samples.x, samples.y, epochs=1), used=("keras", "graph", "xla"))


@pytest.mark.parametrize("loop", ["graph"])
def test_shuffling_a_dataset_is_ignored_with_keras_warning(loop, oracle, classifier, samples):
    oracle(
        loop,
        classifier,
        lambda _, fit: fit(dataset(samples), epochs=1, shuffle=True),
        shared=True,
    )


@pytest.mark.parametrize("loop", ["graph"])
@pytest.mark.parametrize("limit", ["epochs", "steps"])
def test_keras_limits_for_debugging_runs_are_kept(loop, limit, oracle, classifier, samples):
    import keras

    def train(_, fit):
        set_limit = getattr(
            keras.config, "set_max_epochs" if limit == "epochs" else "set_max_steps_per_epoch"
        )
        set_limit(2)
        try:
            fit(samples.x, samples.y, batch_size=4, epochs=3)
        finally:
            set_limit(None)

    oracle(loop, classifier, train, shared=True)
