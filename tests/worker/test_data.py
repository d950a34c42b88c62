"""The forms in which data come."""

from typing import Any

import numpy as np
import pytest

from steptime.errors import UsageError

pytestmark = pytest.mark.tensorflow

X, Y = np.ones((6, 4), "float32"), np.arange(6)
W = np.ones(6, "float32")


def read(value: Any) -> Any:
    from steptime.worker.data import read_parts

    return read_parts(value)


def dataset() -> Any:
    import tensorflow as tf

    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


def test_pairs_of_arrays_are_training_and_validation() -> None:
    training, validation = read(((X, Y), (X[:2], Y[:2])))

    assert (training.samples, validation.samples) == (6, 2)
    assert training.fit_arguments() == {"x": X, "y": Y, "sample_weight": None} or training.x is X
    assert validation.validation_argument()[1].tolist() == [0, 1]


@pytest.mark.parametrize("value", [(X, Y), ((X, Y), None)])
def test_validation_may_be_left_out(value: Any) -> None:
    training, validation = read(value)

    assert training.x is X
    assert training.y is Y
    assert validation is None


def test_a_third_element_is_sample_weights() -> None:
    training, validation = read(((X, Y, W), (X, Y, W)))

    assert training.sample_weight is W
    assert len(validation.validation_argument()) == 3


def test_dicts_and_tuples_of_inputs_are_kept() -> None:
    training, _ = read((({"b": X, "a": X[:, :2]}, Y), ((X, X), Y)))
    x, y = training.first_batch(3)

    assert training.samples == 6
    assert {key: item.shape for key, item in x.items()} == {"a": (3, 2), "b": (3, 4)}
    assert y.tolist() == [0, 1, 2]


def test_lists_of_numbers_become_arrays() -> None:
    training, _ = read((([[1.0, 2.0], [3.0, 4.0]], [0, 1]), None))

    assert training.x.shape == (2, 2)
    assert training.y.tolist() == [0, 1]


def test_lists_of_unequal_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="lists that make one") as caught:
        read((([[1.0], [3.0, 4.0]], [0, 1]), None))
    assert "equally long" in caught.value.hint


def test_a_dataset_is_a_stream_alone_or_in_a_pair() -> None:
    for value in (dataset(), (dataset(), None), (dataset(), dataset()), (dataset(), (X, Y))):
        training, validation = read(value)
        x, y = training.first_batch(99)

        assert training.samples is None
        assert x.shape == (4, 4)
        assert y.numpy().tolist() == [0, 1, 2, 3]
        assert (validation is None) == (not isinstance(value, tuple) or value[1] is None)


def test_an_empty_dataset_is_refused() -> None:
    with pytest.raises(UsageError, match="Received: an empty dataset"):
        read(dataset().take(0))[0].first_batch(4)


def test_a_py_dataset_is_a_stream() -> None:
    import keras

    class Batches(keras.utils.PyDataset):  # type: ignore[misc]
        """Two batches."""

        def __len__(self) -> int:
            return 2

        def __getitem__(self, index: int) -> Any:
            return X[:3], Y[:3]

    training, _ = read(Batches())

    assert training.first_batch(9)[0].shape == (3, 4)


def test_a_generator_is_a_stream_of_which_nothing_is_used_up() -> None:
    batches = iter([(X, Y)])
    training, _ = read(batch for batch in batches)

    assert training.first_batch(2) == (None, None)
    assert next(training.stream)[0] is X


@pytest.mark.parametrize(
    ("value", "received"),
    [
        (None, "NoneType"),
        (3, "int"),
        (X, "ndarray"),
        ((X, Y, W), "tuple of 3: ndarray, ndarray, ndarray"),
        ((X, "text"), "tuple of 2: ndarray, str"),
        (({"a": X}, Y), "tuple of 2: dict, ndarray"),
    ],
)
def test_other_forms_are_refused_with_what_came(value: Any, received: str) -> None:
    with pytest.raises(UsageError, match="load_data\\(\\) must return") as caught:
        read(value)
    assert caught.value.message.endswith(f"Received: {received}")
