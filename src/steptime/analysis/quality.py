"""Final losses and metrics of arms, and whether they trained equally well."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steptime.analysis.student import t_quantile
from steptime.analysis.target import higher_is_better
from steptime.analysis.training import TrainingCheck, compare_training
from steptime.record.schema import RunRecord

_VALIDATION = "val_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A final loss or metric over the repeats.

    Attributes:
        value: Arithmetic mean; None where it is not a number.
        reach: Half width of its interval; None with one repeat.
    """

    value: float | None
    reach: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingQuality:
    """How well an arm trained, seen from the baseline.

    Attributes:
        kind: ``worse`` if any of the checks says so; ``unknown`` if none could be made.
        checks: The check of each metric whose name says which way it improves.
    """

    kind: Literal["equal", "better", "worse", "unknown"]
    checks: Mapping[str, TrainingCheck]

    @property
    def reason(self) -> str:
        """The finding in words: that of the metric that decides."""
        for name, check in self.checks.items():
            if check.quality == self.kind:
                return f"{name}: {check.reason}"
        return "there is no loss or metric to compare"


def final_metrics(records: Sequence[RunRecord], confidence: float) -> dict[str, Metric]:
    """Return the losses and metrics of the last epochs.

    Args:
        records: One for each repeat.
        confidence: Between 0 and 1.
    """
    return {name: _metric(_finals(records, name), confidence) for name in _names(records)}


def judge_training(
    baseline: Sequence[RunRecord], other: Sequence[RunRecord], confidence: float
) -> TrainingQuality:
    """Compare the final losses and metrics of two arms; those of the validation where there are any.

    Args:
        baseline: One record for each repeat.
        other: The same for the other arm.
        confidence: Between 0 and 1; shared by the metrics, so that more of them find no more by chance.
    """
    names = [name for name in _names(baseline) if name in _names(other)]
    validated = [name for name in names if name.startswith(_VALIDATION)]
    judged = {name: better for name in validated or names if (better := higher_is_better(name)) is not None}
    job = baseline[0].job if baseline else None
    samples = (job.validation_samples if validated else job.train_samples) if job else None
    checks = {
        name: compare_training(
            _finals(baseline, name),
            _finals(other, name),
            higher_is_better=better,
            samples=samples,
            confidence=1 - (1 - confidence) / len(judged),
        )
        for name, better in judged.items()
    }
    return TrainingQuality(kind=_overall([check.quality for check in checks.values()]), checks=checks)


def _overall(qualities: Sequence[str]) -> Literal["equal", "better", "worse", "unknown"]:
    if "worse" in qualities:
        return "worse"
    if "better" in qualities:
        return "better"
    return "equal" if "equal" in qualities else "unknown"


def _names(records: Sequence[RunRecord]) -> list[str]:
    return list(dict.fromkeys(name for record in records if record.epochs for name in record.epochs[-1].logs))


def _finals(records: Sequence[RunRecord], name: str) -> list[float]:
    """Return the last value of each repeat; the record's null stands for not a number."""
    values = [record.epochs[-1].logs.get(name) for record in records if record.epochs]
    return [math.nan if value is None else value for value in values]


def _metric(values: Sequence[float], confidence: float) -> Metric:
    if not values or not all(math.isfinite(value) for value in values):
        return Metric(value=None, reach=None)
    mean, n = float(np.mean(values)), len(values)
    if n == 1:
        return Metric(value=mean, reach=None)
    error = float(np.std(values, ddof=1)) / math.sqrt(n)
    return Metric(value=mean, reach=t_quantile((1 + confidence) / 2, n - 1) * error)
