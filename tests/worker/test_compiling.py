"""What a model is compiled with when nobody compiled it."""

from typing import Any

import numpy as np
import pytest

from steptime.errors import UsageError
from steptime.plan.settings import Settings

pytestmark = pytest.mark.tensorflow

Y = np.arange(12) % 3
ONE_HOT = np.eye(3)[Y]
OUT = (None, 3)


def choose(head: str, shape: Any, y: Any) -> Any:
    from steptime.worker.compiling import choose_loss

    return choose_loss(head, shape, y)


@pytest.mark.parametrize(
    ("head", "shape", "y", "loss", "logits"),
    [
        ("linear", OUT, Y, "SparseCategoricalCrossentropy", True),
        ("softmax", OUT, Y, "SparseCategoricalCrossentropy", False),
        ("linear", OUT, Y[:, None], "SparseCategoricalCrossentropy", True),
        ("linear", (None, 5, 5, 3), np.zeros((2, 5, 5), int), "SparseCategoricalCrossentropy", True),
        ("linear", OUT, ONE_HOT, "CategoricalCrossentropy", True),
        ("softmax", OUT, ONE_HOT.astype(int), "CategoricalCrossentropy", False),
        ("sigmoid", (None, 1), Y % 2, "BinaryCrossentropy", False),
        ("linear", (None, 1), Y % 2, "BinaryCrossentropy", True),
        ("linear", (None, 1), Y % 2 == 1, "BinaryCrossentropy", True),
        ("sigmoid", (None, 1), (Y % 2).astype("float32"), "BinaryCrossentropy", False),
        ("sigmoid", OUT, np.ones((4, 3)), "BinaryCrossentropy", False),
        ("linear", (None, 1), Y, "MeanSquaredError", None),
        ("linear", (None, 1), (Y % 2).astype("float32"), "MeanSquaredError", None),
        ("linear", OUT, ONE_HOT * 2, "MeanSquaredError", None),
        ("relu", (None, 1), Y / 7, "MeanSquaredError", None),
    ],
)
def test_the_loss_follows_from_labels_and_head(
    head: str, shape: Any, y: Any, loss: str, logits: bool | None
) -> None:
    choice = choose(head, shape, y)

    assert type(choice.loss).__name__ == loss
    assert choice.loss.get_config().get("from_logits") == logits
    assert choice.metrics == (("mae",) if loss == "MeanSquaredError" else ("accuracy",))


def test_the_choice_is_said_with_its_reasons() -> None:
    assert choose("softmax", OUT, Y).words == (
        "loss: sparse categorical cross-entropy, from_logits=False "
        "(whole-number labels, 3 outputs, the head ends in softmax)"
    )
    assert choose("linear", (None, 1), Y % 2).words == (
        "loss: binary cross-entropy, from_logits=True (labels 0 and 1, one output, the head gives logits)"
    )


@pytest.mark.parametrize(
    ("shape", "y", "message"),
    [
        ([(None, 3), (None, 1)], Y, "for a model with several outputs"),
        ({"a": (None, 3)}, Y, "for a model with several outputs"),
        (None, Y, "for a model with several outputs"),
        (OUT, None, "one array of labels. Received: 0"),
        (OUT, (Y, Y), "one array of labels. Received: 2"),
        (OUT, np.array(["cat"]), "Labels must be numbers. Received: <U3"),
    ],
)
def test_what_no_loss_can_be_derived_from_is_refused(shape: Any, y: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        choose("linear", shape, y)
    assert message in caught.value.message


def compiled(y: Any = Y, **settings: Any) -> tuple[Any, tuple[str, ...]]:
    import keras

    from steptime.worker.compiling import compile_by_settings

    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
    return model, compile_by_settings(model, OUT, y, Settings(**settings))


def test_the_settings_name_optimizer_rate_loss_metrics_and_xla() -> None:
    model, words = compiled(
        optimizer="sgd", learning_rate=0.5, loss="mse", metrics="mae, accuracy", xla="off"
    )

    assert type(model.optimizer).__name__ == "SGD"
    assert float(model.optimizer.learning_rate) == 0.5
    assert (model.loss, model.jit_compile) == ("mean_squared_error", False) or callable(model.loss)
    assert words == ()
    assert model.compiled


@pytest.mark.parametrize(
    ("key", "value"), [("optimizer", "adma"), ("loss", "crossentropy"), ("metrics", "accuracy,f2")]
)
def test_a_name_that_keras_does_not_know_is_refused(key: str, value: str) -> None:
    with pytest.raises(
        UsageError, match=rf"{key} must be a name that Keras knows\. Received: '{value.rpartition(',')[2]}'"
    ):
        compiled(**{key: value})


def test_the_head_is_found_through_nested_models_and_softmax_layers() -> None:
    import keras
    from keras import layers

    from steptime.worker.compiling import head_of

    inner = keras.Sequential([layers.Input((4,)), layers.Dense(3, activation="sigmoid")])

    assert head_of(keras.Sequential([layers.Input((4,)), layers.Dense(3)])) == "linear"
    assert head_of(keras.Sequential([layers.Input((4,)), layers.Softmax()])) == "softmax"
    assert head_of(keras.Sequential([layers.Input((4,)), inner])) == "sigmoid"
    assert head_of(keras.Sequential([layers.Input((4,)), layers.Flatten()])) == "linear"


def test_the_loss_is_described_for_the_record() -> None:
    import keras

    from steptime.worker.losses import loss_text

    model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(3)])
    texts = []
    for loss in (
        "mse",
        keras.losses.MeanSquaredError(),
        keras.losses.mean_squared_error,
        {"a": "mse"},
        ["mse", None],
    ):
        model.loss = loss
        texts.append(loss_text(model))

    assert texts == ["mse", "MeanSquaredError", "mean_squared_error", "mse", "mse, none"]
