"""Facts about a pipeline, from its stages and the bytes of its batches."""

import pytest

from steptime.diagnosis.speed.facts_of_pipeline import pipeline_facts
from steptime.record.profile import Pipeline, Stage
from steptime.testing import make_profile, make_record


def of(pipeline: Pipeline):
    return pipeline_facts(make_profile(pipeline=pipeline), make_record())


def of_stages(*stages: Stage):
    return of(Pipeline(kind="dataset", stages=stages))


def test_the_stages_of_a_pipeline_tell_what_is_missing() -> None:
    stages = (
        Stage(name="TensorSlice"),
        Stage(name="Map", has_python=True),
        Stage(name="Cache"),
        Stage(name="ParallelMap", parallel_calls=-1, is_random=True),
        Stage(name="Batch", batch_size=32),
    )
    found = of(Pipeline(kind="dataset", stages=stages, batch_bytes=1000, elements=10))

    assert found.get("maps") == 2
    assert found.get("sequential_maps") == 1
    assert found.get("map_before_batch") is True
    assert found.get("cached_maps") is False
    assert found.get("random_maps") is True
    assert found.get("python_maps") is True
    assert found.get("ends_in_prefetch") is False
    assert found.get("data_bytes") == 10_000


def test_float64_is_weighed_by_its_bytes() -> None:
    pipeline = Pipeline(
        kind="generator", dtypes=("uint8", "float64"), dtype_bytes=(7800, 200), batch_bytes=8000
    )

    assert of(pipeline).get("float64_share") == pytest.approx(0.025)
    assert of(Pipeline(kind="generator")).get("float64_share") is None


def test_a_dataset_from_a_generator_has_maps_all_the_same() -> None:
    found = of_stages(
        Stage(name="Tensor"),
        Stage(name="FlatMap", has_python=True),
        Stage(name="Map"),
        Stage(name="Batch", batch_size=32),
    )

    assert (found.get("source"), found.get("from_generator")) == ("dataset", True)
    assert (found.get("maps"), found.get("sequential_maps"), found.get("python_maps")) == (1, 1, False)


def test_a_map_in_any_of_the_pipelines_that_are_joined_is_seen_where_it_stands() -> None:
    found = of_stages(
        Stage(name="Range", inputs=()),
        Stage(name="Map", inputs=(0,)),
        Stage(name="Range", inputs=()),
        Stage(name="Cache", inputs=(2,)),
        Stage(name="Batch", inputs=(3,), batch_size=8),
        Stage(name="Zip", inputs=(1, 4)),
    )

    assert found.get("maps") == 1
    assert found.get("cached_maps") is False
    assert found.get("map_before_batch") is False


def test_a_flat_map_has_no_parallel_calls_to_ask_for_but_its_random_numbers_count() -> None:
    found = of_stages(
        Stage(name="Range"),
        Stage(name="FlatMap", is_random=True),
        Stage(name="Interleave", parallel_calls=None),
    )

    assert (found.get("maps"), found.get("sequential_maps"), found.get("random_maps")) == (1, 1, True)


@pytest.mark.parametrize(
    ("last", "ends"), [(("Repeat", "Take"), True), (("Repeat", "Skip"), False), (("Map",), False)]
)
def test_what_only_counts_elements_may_stand_after_prefetch(last: tuple[str, ...], ends: bool) -> None:
    stages = (Stage(name="Range"), Stage(name="Prefetch"), *(Stage(name=name) for name in last))

    assert of_stages(*stages).get("ends_in_prefetch") is ends
