"""Moving averages of batch normalisation that have no time to settle."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime import units
from steptime.diagnosis.model.rule import Case, Found, Lint

# After 3 time constants 5 % of the initial value is left: e**-3.
_LEFT_SHARE = 0.05


def _find(batch_norms: Sequence[Mapping[str, Any]], batch: Mapping[str, Any]) -> Iterator[Found]:
    if batch["total_steps"] is None:
        return
    steps = batch["total_steps"] + batch["earlier_steps"]
    fresh = [norm for norm in batch_norms if norm["is_fresh"] or batch["earlier_steps"]]
    slow = [norm for norm in fresh if norm["momentum"] ** steps > _LEFT_SHARE]
    if slow:
        worst = max(norm["momentum"] for norm in slow)
        yield Found(
            evidence=(
                f"{len(slow)} BatchNormalization layers with momentum {worst:g} train {steps} steps: "
                f"{units.share(worst**steps)} of their moving averages is still the initial value"
            ),
            fix=f"layers.BatchNormalization(momentum={_fitting(steps):g})",
        )


def _fitting(steps: int) -> float:
    """The largest usual momentum whose averages settle in this many steps: 5 time constants."""
    return next((m for m in (0.95, 0.9, 0.8, 0.5) if m**steps < 0.01), 0.5)


def _case(momentum: float, steps: int | None, *, is_fresh: bool = True, earlier: int = 0) -> Case:
    return Case(
        facts={
            "batch_norms": [{"layer": "bn", "momentum": momentum, "is_fresh": is_fresh}],
            "batch": {"total_steps": steps, "earlier_steps": earlier},
        }
    )


LINT = Lint(
    kind="batch-norm-too-few-steps",
    title="Batch normalisation's moving averages have too few steps to settle.",
    severity="warning",
    consequence=(
        "Evaluation and prediction use moving averages that are still near their initial 0 and 1: val_loss "
        "is bad or jumps while the training loss is good."
    ),
    fix="layers.BatchNormalization(momentum=0.9)",
    needs=("batch_norms", "batch"),
    find=_find,
    fires=(_case(0.99, 60), _case(0.99, 100, earlier=100)),
    silent=(
        _case(0.99, 1875),
        _case(0.9, 60),
        _case(0.99, 60, is_fresh=False),
        _case(0.99, None),
        _case(0.99, 10, earlier=500),
    ),
)
