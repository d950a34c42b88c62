"""Every kind of data that stock Keras trains on is trained on the same way."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow
graph_loop = pytest.mark.parametrize("loop", ["graph"])


@pytest.mark.parametrize("loop", ["graph", "auto"])
def test_a_dataset_is_trained_batch_by_batch(loop, oracle, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        data = tf.data.Dataset.from_tensor_slices((samples.x, samples.y)).batch(8)
        fit(data, epochs=2, validation_data=data)

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_a_dataset_may_carry_sample_weights(loop, oracle, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        data = tf.data.Dataset.from_tensor_slices((samples.x, samples.y, samples.weight)).batch(8)
        fit(data, epochs=2)

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_class_weight_is_applied_to_a_dataset(loop, oracle, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        data = tf.data.Dataset.from_tensor_slices((samples.x, samples.y)).batch(8)
        fit(data, epochs=2, class_weight={0: 3.0, 1: 1.0, 2: 0.5})

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_an_endless_dataset_goes_on_where_the_last_epoch_stopped(loop, oracle, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        data = tf.data.Dataset.from_tensor_slices((samples.x, samples.y)).batch(5).repeat()
        fit(data, epochs=3, steps_per_epoch=3, validation_data=data, validation_steps=2)

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_a_dataset_shorter_than_steps_per_epoch_ends_as_in_keras(loop, oracle, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        data = tf.data.Dataset.from_tensor_slices((samples.x, samples.y)).batch(8)
        fit(data, epochs=3, steps_per_epoch=5)

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_a_dataset_of_unknown_length_is_trained_to_its_end(loop, oracle, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        data = tf.data.Dataset.from_tensor_slices((samples.x, samples.y))
        fit(data.filter(lambda x, y: y != 1).batch(4), epochs=3)

    oracle(loop, classifier, train, shared=True, uncounted=True)


@graph_loop
def test_a_shuffled_dataset_gives_its_batches_in_its_own_order(loop, oracle, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        data = tf.data.Dataset.from_tensor_slices((samples.x, samples.y))
        fit(data.shuffle(22, seed=5, reshuffle_each_iteration=False).batch(8), epochs=2)

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_a_generator_is_consumed_across_epochs(loop, oracle, classifier, samples):
    def train(_, fit):
        def batches():
            for start in range(0, 22, 4):
                yield samples.x[start : start + 4], samples.y[start : start + 4]

        fit(batches(), epochs=2, steps_per_epoch=3)

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_a_generator_that_runs_dry_ends_the_training_as_in_keras(loop, oracle, classifier, samples):
    def train(_, fit):
        def batches():
            for start in range(0, 22, 4):
                yield samples.x[start : start + 4], samples.y[start : start + 4]

        fit(batches(), epochs=3, steps_per_epoch=4)

    oracle(loop, classifier, train, shared=True, uncounted=True)


@graph_loop
def test_a_pydataset_is_trained_and_told_of_its_epochs(loop, oracle, classifier, samples):
    import keras

    class Slices(keras.utils.PyDataset):
        def __init__(self, calls):
            super().__init__(workers=2, max_queue_size=3)
            self.calls = calls

        def __len__(self):
            return 3

        def __getitem__(self, index):
            part = slice(8 * index, 8 * index + 8)
            return samples.x[part], samples.y[part], samples.weight[part]

        def on_epoch_begin(self):
            self.calls.append("begin")

        def on_epoch_end(self):
            self.calls.append("end")

    def train(_, fit):
        calls, val_calls = [], []
        fit(Slices(calls), epochs=2, validation_data=Slices(val_calls))
        return calls, val_calls

    oracle(loop, classifier, train, shared=True)


@pytest.mark.parametrize("loop", ["graph"])
@pytest.mark.parametrize("kind", ["float64", "uint8", "int64 labels", "tensor", "one sample"])
def test_arrays_of_any_kind_are_taken_as_keras_takes_them(loop, kind, oracle, classifier, samples):
    import tensorflow as tf

    def train(_, fit):
        x, y = samples.x, samples.y
        if kind == "float64":
            x = x.astype(kind)
        elif kind == "uint8":
            x = (np.abs(x) * 50).astype("uint8")
        elif kind == "int64 labels":
            y = y.astype("int64")[:, None]
        elif kind == "tensor":
            x, y = tf.constant(x), tf.constant(y)
        else:
            x, y = x[:1], y[:1]
        fit(x, y, batch_size=8, epochs=2, validation_data=(x, y))

    oracle(loop, classifier, train, shared=True)


@graph_loop
def test_uint8_images_scaled_inside_the_model_train_the_same(loop, oracle, samples):
    import keras

    pixels = np.random.default_rng(4).integers(0, 256, (22, 5, 5, 1)).astype("uint8")

    def build():
        layers = keras.layers
        model = keras.Sequential(
            [
                keras.Input((5, 5, 1), dtype="uint8"),
                layers.Rescaling(1 / 255, name="scale"),
                layers.Conv2D(3, 3, name="conv"),
                layers.Flatten(name="flat"),
                layers.Dense(3, name="logits"),
            ]
        )
        model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
        return model

    oracle(loop, build, lambda _, fit: fit(pixels, samples.y, batch_size=8, epochs=2))


@pytest.mark.parametrize("loop", ["auto", "graph"])
def test_pandas_frames_are_taken_as_arrays(loop, classifier, samples):
    """Not against stock Keras, whose own conversion loses the shape of a frame that is not shuffled."""
    import keras

    import steptime

    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    results = []
    for x, y in ((pandas.DataFrame(samples.x), pandas.Series(samples.y)), (samples.x, samples.y)):
        keras.utils.set_random_seed(1)
        model = classifier()
        arguments = {"batch_size": 8, "epochs": 2, "validation_split": 0.25, "shuffle": False, "loop": loop}
        history = steptime.fit(model, x, y, verbose=0, **arguments)
        results.append((history.history, [weight.tolist() for weight in model.get_weights()]))
    assert results[0] == results[1]


def two_in_two_out():
    """A model with two inputs and two outputs, each with its own loss, weight and metrics."""
    import keras

    layers = keras.layers
    left, right = keras.Input((4,), name="left"), keras.Input((2,), name="right")
    joined = layers.Concatenate(name="join")([layers.Dense(5, name="wide")(left), right])
    label = layers.Dense(3, activation="softmax", name="label")(joined)
    size = layers.Dense(1, name="size")(joined)
    return keras.Model({"left": left, "right": right}, {"label": label, "size": size})


def compiled(model, **extra):
    model.compile(
        "sgd",
        loss={"label": "sparse_categorical_crossentropy", "size": "mse"},
        loss_weights={"label": 1.0, "size": 0.3},
        metrics={"label": ["accuracy"], "size": ["mae", "mse"]},
        **extra,
    )
    return model


@graph_loop
def test_dictionaries_of_inputs_and_outputs_train_the_same(loop, oracle, samples):
    sizes = samples.x[:, :1] * 2

    def train(_, fit):
        x = {"left": samples.x[:, :4], "right": samples.x[:, 4:]}
        y = {"label": samples.y, "size": sizes}
        fit(x, y, batch_size=8, epochs=2, validation_data=(x, y))

    oracle(loop, lambda: compiled(two_in_two_out()), train)


@graph_loop
def test_dictionaries_in_another_order_and_weights_an_output_train_the_same(loop, oracle, samples):
    def train(_, fit):
        x = {"right": samples.x[:, 4:], "left": samples.x[:, :4]}
        y = {"size": samples.x[:, :1], "label": samples.y}
        weight = {"size": samples.weight, "label": samples.weight[::-1].copy()}
        fit(x, y, batch_size=8, epochs=2, sample_weight=weight, validation_split=0.25)

    def build():
        return compiled(two_in_two_out(), weighted_metrics={"label": ["accuracy"], "size": ["mae"]})

    oracle(loop, build, train)


@graph_loop
def test_a_list_of_inputs_and_a_tuple_of_outputs_train_the_same(loop, oracle, samples):
    import keras

    def build():
        left, right = keras.Input((4,), name="left"), keras.Input((2,), name="right")
        joined = keras.layers.Concatenate(name="join")([left, right])
        outputs = [keras.layers.Dense(1, name=name)(joined) for name in ("first", "second")]
        model = keras.Model([left, right], outputs)
        model.compile("sgd", loss=["mse", "mae"], loss_weights=[0.5, 2.0], metrics=[["mae"], ["mse"]])
        return model

    def train(_, fit):
        x = [samples.x[:, :4], samples.x[:, 4:]]
        y = (samples.x[:, :1], samples.x[:, 1:2])
        fit(x, y, batch_size=8, epochs=2, validation_data=(x, y))

    oracle(loop, build, train)


@graph_loop
def test_a_dataset_of_dictionaries_trains_the_same(loop, oracle, samples):
    import tensorflow as tf

    def train(_, fit):
        x = {"left": samples.x[:, :4], "right": samples.x[:, 4:]}
        y = {"label": samples.y, "size": samples.x[:, :1]}
        data = tf.data.Dataset.from_tensor_slices((x, y)).batch(8)
        fit(data, epochs=2, validation_data=data)

    oracle(loop, lambda: compiled(two_in_two_out()), train)


@graph_loop
def test_a_model_whose_loss_needs_no_targets_trains_without_y(loop, oracle, samples):
    import keras

    def build():
        inputs = keras.Input((6,))
        penalty = keras.layers.ActivityRegularization(l2=0.1, name="penalty")
        model = keras.Model(inputs, penalty(keras.layers.Dense(4, name="code")(inputs)))
        model.compile("sgd")
        return model

    oracle(loop, build, lambda _, fit: fit(samples.x, batch_size=8, epochs=2))
