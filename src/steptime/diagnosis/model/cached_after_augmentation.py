"""``cache`` behind random augmentation."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from steptime.diagnosis.model.rule import Case, Found, Lint


def _find(pipeline: Sequence[Mapping[str, Any]]) -> Iterator[Found]:
    random: list[str] = []
    for step in pipeline:
        if step["op"] in ("map", "interleave", "flat_map"):
            random += step.get("random", ())
        elif step["op"] == "cache" and random:
            yield Found(
                evidence=f"cache() stands behind a map with random operations: {', '.join(random[:3])}"
            )
            return


_RANDOM = {"op": "map", "random": ["StatelessRandomUniformV2"]}
_PLAIN = {"op": "map", "random": []}
_CACHE = {"op": "cache"}

LINT = Lint(
    kind="cached-after-augmentation",
    title="The pipeline caches augmented samples.",
    severity="error",
    consequence=(
        "Every epoch after the first sees the very same 'random' variants: the augmentation does nothing, "
        "while it still fills the cache."
    ),
    fix="dataset = dataset.cache().map(augment, num_parallel_calls=tf.data.AUTOTUNE)   # cache first",
    needs=("pipeline",),
    find=_find,
    fires=(Case(facts={"pipeline": [{"op": "slices"}, _RANDOM, _CACHE, {"op": "batch"}]}),),
    silent=(
        Case(facts={"pipeline": [{"op": "slices"}, _CACHE, _RANDOM, {"op": "batch"}]}),
        Case(facts={"pipeline": [{"op": "slices"}, _PLAIN, _CACHE, {"op": "batch"}]}),
        Case(facts={"pipeline": []}),
    ),
)
