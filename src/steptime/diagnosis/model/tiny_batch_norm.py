"""Batch normalisation over very few samples."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

_FEW = 8


def _find(batch_norms: Sequence[Mapping[str, Any]], batch: Mapping[str, Any]) -> Iterator[Found]:
    size = batch["size"]
    if batch_norms and size is not None and size < _FEW:
        yield Found(
            evidence=(
                f"{len(batch_norms)} BatchNormalization layers take their statistics from {size} samples a "
                f"step"
            ),
            severity="error" if size == 1 else None,
        )


def _case(layers: int, size: int | None, severity: str = "") -> Case:
    norms = [{"layer": f"bn{n}"} for n in range(layers)]
    return Case(facts={"batch_norms": norms, "batch": {"size": size}}, severity=severity)


LINT = Lint(
    kind="tiny-batch-norm",
    title="Batch normalisation takes its mean and variance from very few samples.",
    severity="warning",
    consequence=(
        "Mean and variance of a few samples are mostly noise: training is unstable, and evaluation, which "
        "uses the moving averages, sees another network."
    ),
    fix=(
        "model.fit(..., batch_size=32)   # or layers.GroupNormalization(), which does not depend on the batch"
    ),
    needs=("batch_norms", "batch"),
    find=_find,
    fires=(_case(2, 4), _case(1, 1, "error")),
    silent=(_case(2, 32), _case(0, 2), _case(2, None)),
)
