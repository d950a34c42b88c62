"""Facts about the input: what a tf.data pipeline is made of, and how its stages are ordered."""

from collections.abc import Mapping, Sequence

from steptime.environment.facts import Value
from steptime.record.profile import Pipeline, Profile, Stage
from steptime.record.schema import RunRecord

_COUNTING = ("Repeat", "Take", "AssertCardinality")


def pipeline_facts(profile: Profile, record: RunRecord) -> Mapping[str, Value | None]:
    """Return the facts about where batches come from."""
    pipeline = profile.pipeline
    stages = pipeline.stages
    whole: dict[str, Value | None] = {
        "source": pipeline.kind,
        "from_generator": any(_is_generator(stage) for stage in stages),
        "input_dtypes": pipeline.dtypes or None,
        "float64_share": _float64_share(pipeline),
        "workers": pipeline.workers,
        "data_bytes": _data_bytes(pipeline),
        "memory_left_bytes": _memory_left_bytes(record),
    }
    if not stages:
        return whole
    before = _before(stages)
    maps = [place for place, stage in enumerate(stages) if _is_map(stage)]
    caches = [place for place, stage in enumerate(stages) if stage.name.startswith("Cache")]
    batches = [place for place, stage in enumerate(stages) if stage.batch_size is not None]
    return whole | {
        "maps": len(maps),
        "sequential_maps": sum(stages[place].parallel_calls in (None, 1) for place in maps),
        "map_before_batch": any(
            not before[place] & set(batches) and any(place in before[batch] for batch in batches)
            for place in maps
        ),
        "cached_maps": bool(caches)
        and all(any(place in before[cache] for cache in caches) for place in maps),
        "random_maps": any(stage.is_random for stage in stages),
        "python_maps": any(stages[place].has_python for place in maps),
        "ends_in_prefetch": _ends_in_prefetch(stages),
    }


def _inputs(stages: Sequence[Stage], place: int) -> tuple[int, ...]:
    given = stages[place].inputs
    return given if given is not None else (place - 1,) if place else ()


def _before(stages: Sequence[Stage]) -> list[set[int]]:
    """For each stage the places of all whose elements reach it."""
    before: list[set[int]] = []
    for place in range(len(stages)):
        read = _inputs(stages, place)
        before.append(set(read).union(*(before[each] for each in read)))
    return before


def _ends_in_prefetch(stages: Sequence[Stage]) -> bool:
    """Whether the last stage that does any work is prefetch; what only counts elements may stand after it."""
    last = next((stage for stage in reversed(stages) if not stage.name.startswith(_COUNTING)), stages[-1])
    return last.name.startswith("Prefetch")


def _is_generator(stage: Stage) -> bool:
    """Whether it is what from_generator makes: a flat map whose function pulls elements out of Python."""
    return "Generator" in stage.name or (stage.name == "FlatMap" and stage.has_python)


def _is_map(stage: Stage) -> bool:
    """Whether it calls a function that could be called several times at once: a flat map cannot."""
    name = stage.name
    return ("Map" in name or "Interleave" in name) and not name.startswith(("FlatMap", "DirectedInterleave"))


def _float64_share(pipeline: Pipeline) -> float | None:
    whole = sum(pipeline.dtype_bytes)
    if not whole:
        return None
    sizes = zip(pipeline.dtypes, pipeline.dtype_bytes, strict=True)
    return sum(size for dtype, size in sizes if dtype == "float64") / whole


def _data_bytes(pipeline: Pipeline) -> int | None:
    if pipeline.elements is None or pipeline.batch_bytes is None:
        return None
    return pipeline.elements * pipeline.batch_bytes


def _memory_left_bytes(record: RunRecord) -> int | None:
    """Memory that the system or the container has for the process, less what it used at most."""
    host = record.environment.host if record.environment else {}
    limits = [limit for name in ("memory_bytes", "memory_limit_bytes") if (limit := host.get(name))]
    used = record.memory.peak_process_bytes if record.memory else None
    return int(min(limits)) - (used or 0) if limits else None
