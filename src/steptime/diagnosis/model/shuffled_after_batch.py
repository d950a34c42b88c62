"""``shuffle`` behind ``batch``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    batched = None
    for step in pipeline:
        if step["op"] == "batch":
            batched = step
        elif step["op"] in ("unbatch", "flat_map", "interleave"):
            batched = None
        elif step["op"] == "shuffle":
            if batched is None:
                return
            size = batched.get("size")
            yield Found(
                evidence=(
                    f"shuffle({step.get('buffer')}) stands behind batch({size}): it mixes whole batches"
                    + (f" of {size} samples" if size else "")
                )
            )


_BATCH = {"op": "batch", "size": 32}
_SHUFFLE = {"op": "shuffle", "buffer": 1000}

LINT = Lint(
    kind="shuffled-after-batch",
    title="The pipeline shuffles batches, not samples.",
    severity="warning",
    consequence=(
        "The same samples stay together in every epoch, so gradients repeat their errors; with sorted data "
        "each batch holds one class. The buffer also holds that many whole batches in memory."
    ),
    fix="dataset = dataset.shuffle(10_000).batch(32)   # shuffle first",
    needs=("pipeline",),
    find=_find,
    fires=(Case(facts={"pipeline": [{"op": "slices"}, _BATCH, _SHUFFLE]}),),
    silent=(
        Case(facts={"pipeline": [{"op": "slices"}, _SHUFFLE, _BATCH]}),
        Case(facts={"pipeline": [{"op": "slices"}, _SHUFFLE, _BATCH, _SHUFFLE]}),
        Case(facts={"pipeline": [{"op": "slices"}, _BATCH, {"op": "unbatch"}, _SHUFFLE, _BATCH]}),
        Case(facts={"pipeline": []}),
    ),
)
