"""Targets and the time until they are reached."""

import pytest

from steptime.analysis.target import Target, higher_is_better, parse_target, time_to_target_s
from steptime.errors import UsageError
from steptime.record.schema import Epoch
from steptime.testing import make_record


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("val_accuracy=0.98", Target(metric="val_accuracy", relation=">=", value=0.98)),
        ("val_loss = 0.1", Target(metric="val_loss", relation="<=", value=0.1)),
        ("score<=3", Target(metric="score", relation="<=", value=3.0)),
        ("my_f1 >= 1e-1", Target(metric="my_f1", relation=">=", value=0.1)),
    ],
)
def test_a_target_is_read(text: str, target: Target) -> None:
    assert parse_target(text) == target
    assert parse_target(str(target)) == target


@pytest.mark.parametrize(
    "text", ["", "accuracy", "accuracy=", "accuracy=high", "accuracy=nan", "=3", "score=3"]
)
def test_what_is_no_target_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_target(text)


@pytest.mark.parametrize(
    ("metric", "better"),
    [
        ("val_accuracy", True), ("acc", True), ("auc", True), ("val_f1_score", True), ("mean_iou", True),
        ("loss", False), ("val_mae", False), ("mean_squared_error", False), ("categorical_crossentropy", False),
        ("pace", None), ("score", None),
    ],
)  # fmt: skip
def test_the_name_of_a_metric_tells_which_way_it_improves(metric: str, better: bool | None) -> None:
    assert higher_is_better(metric) is better


def epochs(*values: float | None) -> tuple[Epoch, ...]:
    return tuple(
        Epoch(
            epoch=number,
            logs={"val_accuracy": value},
            steps=9,
            train_ns=1,
            validate_ns=None,
            end_ns=(number + 1) * 10**9,
        )
        for number, value in enumerate(values)
    )


def test_the_time_is_that_of_the_first_epoch_that_reached_it() -> None:
    assert (
        time_to_target_s(make_record(epochs=epochs(0.9, None, 0.98, 0.99)), parse_target("val_accuracy=0.98"))
        == 3.0
    )


def test_a_target_that_was_not_reached_is_said_so() -> None:
    target = parse_target("val_accuracy=0.98")

    assert time_to_target_s(make_record(epochs=epochs(0.9, 0.97)), target) == "not reached in 2 epochs"
    assert time_to_target_s(make_record(epochs=()), target) == "not reached in 0 epochs"


def test_a_metric_that_is_not_there_is_named_with_those_that_are() -> None:
    reason = time_to_target_s(make_record(epochs=epochs(0.9)), parse_target("val_auc=0.9"))

    assert reason == "the history has no val_auc; it has val_accuracy"
