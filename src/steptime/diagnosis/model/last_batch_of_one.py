"""A last batch of a single sample."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(batch: Mapping[str, Any], batch_norms: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    size = batch["size"]
    if batch["last"] == 1 and size is not None and size > 1:
        yield Found(
            evidence=f"{batch['samples']:,} samples in batches of {size}: the last batch holds 1 sample",
            severity="warning" if batch_norms else None,
            consequence=(
                "Batch normalisation takes the variance of one sample, and moves its averages by it, once an "
                "epoch: the loss jumps there."
            )
            if batch_norms
            else None,
        )


def _case(size: int | None, last: int | None, norms: int = 0, severity: str = "") -> Case:
    facts = {"batch": {"size": size, "last": last, "samples": 6401}, "batch_norms": [{"layer": "bn"}] * norms}
    return Case(facts=facts, severity=severity)


LINT = Lint(
    kind="last-batch-of-one",
    title="The last batch of an epoch holds one sample.",
    severity="hint",
    consequence=(
        "This one sample weighs as much as a whole batch of others, its gradient is noise, and XLA compiles "
        "the step a second time for its shape."
    ),
    fix="x, y = x[:-1], y[:-1]   # or another batch_size; dataset.batch(32, drop_remainder=True) for tf.data",
    needs=("batch", "batch_norms"),
    find=_find,
    fires=(_case(32, 1), _case(32, 1, norms=1, severity="warning")),
    silent=(_case(32, 32), _case(32, 17, norms=1), _case(1, 1), _case(None, None)),
)
