"""Facts about the input: what a tf.data pipeline is made of, and how its stages are ordered."""

from collections.abc import Mapping

from steptime.environment.facts import Value
from steptime.record.profile import Pipeline, Profile, Stage
from steptime.record.schema import RunRecord


def pipeline_facts(profile: Profile, record: RunRecord) -> Mapping[str, Value | None]:
    """Return the facts about where batches come from."""
    pipeline = profile.pipeline
    stages = pipeline.stages
    whole = {
        "source": "generator" if any(_is_generator(stage) for stage in stages) else pipeline.kind,
        "input_dtypes": pipeline.dtypes or None,
        "workers": pipeline.workers,
        "data_bytes": _data_bytes(pipeline),
        "memory_left_bytes": _memory_left_bytes(record),
    }
    if not stages:
        return whole
    maps = [place for place, stage in enumerate(stages) if _is_map(stage)]
    caches = [place for place, stage in enumerate(stages) if stage.name.startswith("Cache")]
    batches = [place for place, stage in enumerate(stages) if stage.batch_size is not None]
    return whole | {
        "maps": len(maps),
        "sequential_maps": sum(stages[place].parallel_calls in (None, 1) for place in maps),
        "map_before_batch": bool(maps and batches) and min(maps) < min(batches),
        "cached_maps": bool(caches) and all(place < max(caches) for place in maps),
        "random_maps": any(stages[place].is_random for place in maps),
        "python_maps": any(stages[place].has_python for place in maps),
        "ends_in_prefetch": stages[-1].name.startswith("Prefetch"),
    }


def _is_generator(stage: Stage) -> bool:
    """Whether it is what from_generator makes: a flat map whose function pulls elements out of Python."""
    return "Generator" in stage.name or (stage.name == "FlatMap" and stage.has_python)


def _is_map(stage: Stage) -> bool:
    return "Map" in stage.name or "Interleave" in stage.name


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
