"""Final losses and metrics, and whether arms trained equally well."""

import pytest

from steptime.analysis.quality import final_metrics, judge_training
from steptime.record.schema import Epoch, RunRecord
from steptime.testing import make_record


def trained(**logs: float | None) -> RunRecord:
    return make_record(epochs=(Epoch(epoch=0, logs=logs, steps=9, train_ns=1, validate_ns=None),))


def test_final_values_are_means_with_their_spread() -> None:
    metrics = final_metrics([trained(loss=0.1), trained(loss=0.3)], 0.95)

    assert metrics["loss"].value == pytest.approx(0.2)
    assert metrics["loss"].reach == pytest.approx(12.706 * 0.1, rel=1e-3)


def test_one_run_has_no_spread_and_a_diverged_one_no_value() -> None:
    assert final_metrics([trained(loss=0.1)], 0.95)["loss"].reach is None
    assert final_metrics([trained(loss=0.1), trained(loss=None)], 0.95)["loss"].value is None


def test_validation_decides_where_there_is_one() -> None:
    base = [trained(loss=0.1, val_loss=0.2), trained(loss=0.11, val_loss=0.21)]
    other = [trained(loss=9.0, val_loss=0.2), trained(loss=9.1, val_loss=0.21)]

    assert set(judge_training(base, other, 0.95).checks) == {"val_loss"}
    assert judge_training(base, other, 0.95).kind == "equal"


def test_one_worse_metric_is_enough() -> None:
    base = [trained(val_loss=0.2, val_accuracy=0.98), trained(val_loss=0.201, val_accuracy=0.981)]
    other = [trained(val_loss=0.2, val_accuracy=0.5), trained(val_loss=0.201, val_accuracy=0.501)]

    quality = judge_training(base, other, 0.95)
    assert quality.kind == "worse"
    assert quality.reason.startswith("val_accuracy: trained worse")


def test_a_loss_that_became_nan_is_worse() -> None:
    assert judge_training([trained(loss=0.2)] * 2, [trained(loss=None)] * 2, 0.95).kind == "worse"


def test_metrics_that_tell_no_direction_are_not_judged() -> None:
    quality = judge_training([trained(pace=1.0)], [trained(pace=9.0)], 0.95)

    assert quality.kind == "unknown"
    assert quality.reason == "there is no loss or metric to compare"


def test_nothing_to_compare_is_unknown() -> None:
    assert judge_training([], [trained(loss=0.1)], 0.95).kind == "unknown"
