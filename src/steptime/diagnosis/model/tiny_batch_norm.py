"""Batch normalisation over very few samples."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint

_FEW = 8


def _find(batch_norms: Sequence[Mapping[str, Any]], batch: Mapping[str, Any]) -> Iterator[Found]:
    size = batch["size"]
    if size is None:
        return
    # Maps give a value at each of their positions.
    known = [size * norm["positions"] for norm in batch_norms if norm["positions"] is not None]
    few = [values for values in known if values < _FEW]
    if few:
        yield Found(
            evidence=(
                f"{len(few)} BatchNormalization layers take their statistics from {size} samples a step"
                f"{'' if min(few) == size else f', {min(few)} values for each channel'}"
            ),
            severity="error" if min(few) == 1 else None,
        )


def _case(layers: int, size: int | None, severity: str = "", positions: int | None = 1) -> Case:
    norms = [{"layer": f"bn{n}", "positions": positions} for n in range(layers)]
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
    fires=(_case(2, 4), _case(1, 1, "error"), _case(1, 1, positions=4)),
    silent=(
        _case(2, 32),
        _case(0, 2),
        _case(2, None),
        _case(1, 1, positions=62 * 62),
        _case(1, 1, positions=None),
    ),
)
