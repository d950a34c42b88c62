"""``cache`` behind ``shuffle``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    ops = [step["op"] for step in pipeline]
    if "shuffle" in ops and "cache" in ops[ops.index("shuffle") :]:
        last_cache = len(ops) - 1 - ops[::-1].index("cache")
        if "shuffle" not in ops[last_cache:]:
            yield Found(evidence=f"{' -> '.join(ops)}: the order of the first epoch is kept for all others")


def _case(*ops: str) -> Case:
    return Case(facts={"pipeline": [{"op": op} for op in ops]})


LINT = Lint(
    kind="cached-after-shuffle",
    title="The pipeline caches the shuffled order.",
    severity="warning",
    consequence=(
        "Every epoch sees the samples in the same order, and batches made before the cache stay the same."
    ),
    fix="dataset = dataset.cache().shuffle(10_000).batch(32)   # cache first",
    needs=("pipeline",),
    find=_find,
    fires=(
        _case("slices", "shuffle", "cache", "batch"),
        _case("slices", "shuffle", "batch", "cache", "prefetch"),
    ),
    silent=(
        _case("slices", "cache", "shuffle", "batch"),
        _case("slices", "shuffle", "cache", "shuffle", "batch"),
        _case("slices", "shuffle", "batch"),
        _case(),
    ),
)
