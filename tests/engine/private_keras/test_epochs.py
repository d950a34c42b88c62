"""Keras' bookkeeping of epochs can be driven several steps at a time."""

import pytest

pytestmark = pytest.mark.tensorflow

keras = pytest.importorskip("keras")
import tensorflow as tf  # noqa: E402

from steptime.engine.private_keras import KerasEpochs  # noqa: E402


@pytest.fixture
def model():
    model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def epochs(model, dataset, steps_per_epoch=None):
    made = KerasEpochs(
        model.distribute_strategy,
        lambda data, made_by_keras: data,
        x=dataset,
        y=None,
        sample_weight=None,
        batch_size=None,
        shuffle=False,
        class_weight=None,
        steps_per_epoch=steps_per_epoch,
    )
    made.reset()
    return made


def one_epoch(data, chunk):
    """Numbers of the batches read in one epoch, chunk by chunk."""
    read = []
    data.begin()
    with data.catch_stop_iteration():
        while True:
            available = data.available()
            claimed, iterator = data.claim(chunk if available is None else min(chunk, available))
            if not claimed:
                break
            for done in range(claimed):
                optional = iterator.get_next_as_optional()
                if not optional.has_value():
                    data.ran_out(claimed - done)
                    raise StopIteration
                read.append(int(optional.get_value()))
    return read


@pytest.mark.parametrize("chunk", [1, 2, 7])
def test_a_data_set_starts_anew_each_epoch(model, chunk):
    data = epochs(model, tf.data.Dataset.range(5))
    assert [one_epoch(data, chunk) for _ in range(2)] == [[0, 1, 2, 3, 4]] * 2
    assert data.num_batches == 5


@pytest.mark.parametrize("chunk", [1, 3])
def test_with_steps_per_epoch_a_data_set_goes_on(model, chunk):
    data = epochs(model, tf.data.Dataset.range(6), steps_per_epoch=3)
    assert [one_epoch(data, chunk) for _ in range(3)] == [[0, 1, 2], [3, 4, 5], [0, 1, 2]]


@pytest.mark.filterwarnings("ignore:.*ran out of data")  # by some versions of Keras
@pytest.mark.parametrize("chunk", [1, 3])
def test_data_of_unknown_length_end_an_epoch_where_they_end(model, chunk):
    data = epochs(model, tf.data.Dataset.range(5).filter(lambda i: True))
    assert data.num_batches is None
    assert [one_epoch(data, chunk) for _ in range(3)] == [[0, 1, 2, 3, 4]] * 3


def test_an_iterator_that_nobody_reads_is_never_made(model):
    made = []

    class Counting:
        element_spec = tf.TensorSpec([], tf.int64)

        def __iter__(self):
            made.append(1)
            return iter(tf.data.Dataset.range(2))

    data = KerasEpochs(
        model.distribute_strategy,
        lambda dataset, made_by_keras: Counting(),
        x=tf.data.Dataset.range(2),
        shuffle=False,
    )
    data.reset()
    for _ in range(3):
        one_epoch(data, 2)
    assert len(made) == 3
