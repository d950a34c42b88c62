"""The time until a metric reaches a target."""

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass

from steptime.errors import UsageError
from steptime.record.schema import RunRecord

_HIGHER = re.compile(
    r"accuracy|acc$|auc|precision|recall|f\d*_?score|f1|iou|r2|top_?k|specificity|sensitivity"
)
_LOWER = re.compile(r"loss|error|mae|mse|rmse|mape|msle|hinge|divergence|entropy|perplexity")
_REACHED: dict[str, Callable[[float, float], bool]] = {">=": operator.ge, "<=": operator.le}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A metric and the value it must reach.

    Attributes:
        metric: Its name as the history has it, such as ``val_accuracy``.
        relation: ``>=`` or ``<=``.
        value: The value.
    """

    metric: str
    relation: str
    value: float

    def __str__(self) -> str:
        """The target in words."""
        return f"{self.metric} {self.relation} {self.value:g}"


def higher_is_better(metric: str) -> bool | None:
    """Return which way a metric improves, by its name; None when the name does not tell."""
    name = metric.removeprefix("val_").lower()
    if _LOWER.search(name):
        return False
    return True if _HIGHER.search(name) else None


def parse_target(text: str) -> Target:
    """Read ``METRIC=VALUE``, ``METRIC>=VALUE`` or ``METRIC<=VALUE``.

    Raises:
        UsageError: Not of that form, or a name that does not tell which way it improves.
    """
    match = re.fullmatch(r"\s*([^<>=\s]+)\s*(>=|<=|=)\s*(\S+)\s*", text)
    try:
        value = float(match.group(3)) if match else math.nan
    except ValueError:
        value = math.nan
    if match is None or not math.isfinite(value):
        raise UsageError(
            f"--target must be METRIC=VALUE. Received: {text!r}",
            hint="For example: --target val_accuracy=0.98",
        )
    metric, relation = match.group(1), match.group(2)
    if relation == "=":
        better = higher_is_better(metric)
        if better is None:
            raise UsageError(
                f"--target must say whether {metric!r} is to rise or to fall. Received: {text!r}",
                hint=f"Say '{metric}>={value:g}' or '{metric}<={value:g}'.",
            )
        relation = ">=" if better else "<="
    return Target(metric=metric, relation=relation, value=value)


def time_to_target_s(record: RunRecord, target: Target) -> float | str:
    """Return the seconds from the start of the process to the end of the first epoch that reached the target.

    Returns:
        The time, or in words why there is none.
    """
    reached = _REACHED[target.relation]
    for epoch in record.epochs:
        value = epoch.logs.get(target.metric)
        if value is not None and reached(value, target.value):
            return (
                epoch.end_ns / 1e9
                if epoch.end_ns is not None
                else "the record does not say when epochs ended"
            )
    if record.epochs and all(target.metric not in epoch.logs for epoch in record.epochs):
        known = ", ".join(sorted({name for epoch in record.epochs for name in epoch.logs}))
        return f"the history has no {target.metric}; it has {known}"
    epochs = len(record.epochs)
    return f"not reached in {epochs} epoch{'' if epochs == 1 else 's'}"
