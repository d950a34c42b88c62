"""Do model, loss and data fit? Every way in which they may not."""

from typing import Any

import numpy as np
import pytest

from steptime.errors import UsageError
from steptime.plan.settings import Settings

pytestmark = pytest.mark.tensorflow

X = np.ones((64, 4), "float32")
Y = np.arange(64) % 3


def refusal(call: Any, *arguments: Any) -> tuple[str, str]:
    with pytest.raises(UsageError) as caught:
        call(*arguments)
    return caught.value.message, caught.value.hint


def check(x: Any, y: Any = Y, weight: Any = None, name: str = "training", **settings: Any) -> None:
    from steptime.worker.data import Part
    from steptime.worker.suitability import check_arrays

    check_arrays(Part(x=x, y=y, sample_weight=weight), name, Settings(**settings))


def holding(value: float) -> Any:
    x = X.copy()
    x[40, 2] = value
    return x


def test_good_arrays_pass() -> None:
    check(X)
    check({"a": X, "b": X.astype("int8")}, Y, np.ones(64))
    check(X[:8], Y[:8], name="validation")
    check(np.array(["text"] * 64), Y)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (X[:0], Y[:0], "The training data must hold at least one sample. Received: {'x': 0, 'y': 0}"),
        (X, Y[:5], "The training arrays must have equal lengths. Received: {'x': 64, 'y': 5}"),
        (
            (X, X[:3]),
            Y,
            "The training arrays must have equal lengths. Received: {'x': 64, 'x[1]': 3, 'y': 64}",
        ),
        (np.float32(3), Y, "training x must have one entry for each sample. Received: a single value"),
        (
            np.array([[1], [2, 3]], dtype=object),
            Y,
            "training x must hold numbers or text. Received: an array of Python objects, shape (2,)",
        ),
        (holding(np.nan), Y, "training x must be finite. Received: nan at index (40, 2)"),
        (holding(-np.inf), Y, "training x must be finite. Received: -inf at index (40, 2)"),
        (X, holding(np.inf), "training y must be finite. Received: inf at index (40, 2)"),
        ({"a": X, "b": holding(np.nan)}, Y, "training x[1] must be finite. Received: nan at index (40, 2)"),
    ],
)
def test_arrays_that_cannot_be_trained_on_are_refused(x: Any, y: Any, message: str) -> None:
    assert refusal(check, x, y)[0] == message


def test_weights_must_be_finite_too() -> None:
    assert refusal(check, X, Y, holding(np.nan)[:, 2])[0] == (
        "training sample_weight must be finite. Received: nan at index (40,)"
    )


def test_a_batch_larger_than_the_data_is_refused() -> None:
    from functools import partial

    assert refusal(partial(check, batch_size=65), X) == (
        "batch_size must be at most the number of training samples, 64. Received: 65",
        "Use --batch-size 32, or bring more data.",
    )
    check(X, batch_size=64)


def test_large_data_are_looked_at_in_samples_and_the_index_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    from steptime.worker import suitability

    monkeypatch.setattr(suitability, "_FINITE_CHECK_BYTES", X.nbytes // 2)
    with pytest.raises(UsageError, match=r"index \(\d+, 2\)"):
        suitability.check_finite(np.where(np.arange(4) == 2, np.nan, X), "x")


def dense(inputs: int = 4, outputs: int = 3) -> Any:
    import keras

    return keras.Sequential([keras.layers.Input((inputs,)), keras.layers.Dense(outputs)])


def takes(model: Any, x: Any) -> Any:
    from steptime.worker.suitability import check_model_takes

    return check_model_takes(model, x)


def test_a_model_that_takes_the_data_tells_its_output_shape() -> None:
    assert takes(dense(), X[:2]) == (None, 3)


def test_a_wrong_shape_is_refused_with_both_shapes() -> None:
    assert refusal(takes, dense(5), X[:2]) == (
        "Input must have the shape (5,) for each sample. Received: (4,)",
        "Change keras.Input in create_model() or the arrays of load_data().",
    )


def images(*shape: int) -> Any:
    import keras

    return keras.Sequential([keras.layers.Input(shape), keras.layers.Flatten(), keras.layers.Dense(3)])


def test_channels_in_the_wrong_place_are_named() -> None:
    assert refusal(takes, images(32, 32, 3), np.ones((2, 3, 32, 32))) == (
        "Input must have the shape (32, 32, 3) for each sample. Received: (3, 32, 32)",
        "The channels come first in the data: x = x.transpose(0, 2, 3, 1).",
    )
    assert "channels come last" in refusal(takes, images(3, 32, 32), np.ones((2, 32, 32, 3)))[1]


def test_a_channel_axis_of_one_may_be_missing_as_keras_adds_it() -> None:
    assert takes(images(28, 28, 1), np.ones((2, 28, 28))) == (None, 3)


def two_inputs() -> Any:
    import keras

    first, second = keras.Input((4,), name="z"), keras.Input((2,), name="a")
    return keras.Model([first, second], keras.layers.Concatenate()([first, second]))


def test_inputs_in_a_dict_are_matched_by_name_not_by_order() -> None:
    assert takes(two_inputs(), {"a": X[:2, :2], "z": X[:2]}) == (None, 6)


def test_a_wrong_number_of_inputs_is_refused() -> None:
    assert refusal(takes, two_inputs(), X[:2]) == (
        "The model has 2 inputs. The data bring 1",
        "load_data() must return one array (or dict entry) for each input of the model.",
    )


def test_a_model_that_was_never_built_is_built_and_one_that_fails_is_refused() -> None:
    import keras

    unbuilt = keras.Sequential([keras.layers.Dense(3)])
    assert takes(unbuilt, X[:2]) == (None, 3)
    assert unbuilt.count_params() == 15
    message, _ = refusal(takes, keras.Sequential([keras.layers.Conv2D(2, 3)]), X[:2])
    assert message.startswith("The model must accept the data.")
    assert message.endswith("Received: float32 (2, 4)")


ONE_HOT = np.eye(3, dtype="float32")[Y]
SPARSE = "sparse_categorical_crossentropy"


def labels(loss: Any, y: Any, outputs: int = 3) -> None:
    from steptime.worker.suitability import check_labels

    model = dense(4, outputs)
    model.compile(loss=loss)
    check_labels(model, (None, outputs), y)


@pytest.mark.parametrize(
    ("loss", "y", "outputs"),
    [
        (SPARSE, Y, 3),
        (SPARSE, Y[:, None].astype("float32"), 3),
        ("categorical_crossentropy", ONE_HOT, 3),
        ("binary_crossentropy", Y % 2, 1),
        ("mse", X[:, 0], 1),
        ("hinge", X, 3),
        (SPARSE, {"only": Y}, 3),
        (SPARSE, None, 3),
    ],
)
def test_labels_that_fit_pass(loss: str, y: Any, outputs: int) -> None:
    labels(loss, y, outputs)


@pytest.mark.parametrize(
    ("loss", "y", "outputs", "message"),
    [
        (SPARSE, Y + 1, 3, "Labels must be from 0 to 2 for a model with 3 outputs. Received: 1 to 3"),
        (SPARSE, Y - 1, 3, "Labels must be from 0 to 2 for a model with 3 outputs. Received: -1 to 1"),
        (SPARSE, ONE_HOT, 3, f"{SPARSE} must get class numbers of shape (n,). Received: shape (64, 3)"),
        (SPARSE, Y + 0.5, 3, f"{SPARSE} must get whole class numbers. Received: fractions"),
        (SPARSE, np.array(["cat"] * 64), 3, f"{SPARSE} must get labels that are numbers. Received: <U3"),
        (
            "categorical_crossentropy",
            Y,
            3,
            "categorical_crossentropy must get one-hot labels of shape (..., 3). Received: shape (64,)",
        ),
        ("binary_crossentropy", Y, 1, "binary_crossentropy must get labels from 0 to 1. Received: 0 to 2"),
        (
            "binary_crossentropy",
            Y % 2,
            3,
            "binary_crossentropy must get labels of the output's shape (None, 3). Received: shape (64,)",
        ),
        (
            "mae",
            Y,
            3,
            "mean_absolute_error must get labels of the output's shape (None, 3). Received: shape (64,)",
        ),
    ],
)
def test_labels_that_do_not_fit_the_loss_are_refused(loss: str, y: Any, outputs: int, message: str) -> None:
    given, hint = refusal(labels, loss, y, outputs)

    assert given == message
    assert hint


def test_a_loss_object_is_known_by_its_class_whatever_its_name() -> None:
    import keras

    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True, name="mine")

    assert refusal(labels, loss, Y + 7)[0].startswith("Labels must be from 0 to 2")
