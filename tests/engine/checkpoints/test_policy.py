"""Which checkpoint is the best."""

import pytest

from steptime.engine.checkpoints.policy import Checkpoints


@pytest.mark.parametrize(
    ("best", "value", "score"),
    [
        ("val_accuracy", 0.5, 0.5),
        ("val_loss", 0.5, -0.5),
        ("val_dice_loss", 0.5, -0.5),
        ("val_accept_loss", 0.5, -0.5),
        ("val_loss", float("inf"), None),
        ("val_loss", float("nan"), None),
        ("val_auc", 0.0, 0.0),
    ],
)
def test_greater_is_better_unless_it_is_a_loss_and_no_number_is_none(
    best: str, value: float, score: float | None
) -> None:
    assert Checkpoints(folder="x", best=best).score({best: value}) == score


def test_a_metric_that_is_not_there_has_no_score() -> None:
    assert Checkpoints(folder="x", best="val_loss").score({"loss": 1.0}) is None
    assert Checkpoints(folder="x").score({"loss": 1.0}) is None
