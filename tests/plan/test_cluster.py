"""TF_CONFIG, read and written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.errors import UsageError
from steptime.plan.cluster import Place, read_place


def config(cluster: object, kind: str = "worker", index: object = 0) -> str:
    return json.dumps({"cluster": cluster, "task": {"type": kind, "index": index}})


@given(st.integers(2, 6), st.data())
def test_what_is_written_is_read_back(workers: int, data: st.DataObject) -> None:
    addresses = tuple(f"node{number}:{2000 + number}" for number in range(workers))
    place = Place(addresses=addresses, rank=data.draw(st.integers(0, workers - 1)))
    assert read_place(place.text()) == place


@pytest.mark.parametrize(
    "text", [None, "", "{}", config({"worker": ["a:1"]}), config({"ps": ["a:1", "b:1"]})]
)
def test_a_group_of_one_is_no_group(text: str | None) -> None:
    assert read_place(text) == Place()
    assert read_place(text).workers == 1


def test_a_chief_comes_before_the_workers() -> None:
    cluster = {"worker": ["b:2", "c:3"], "chief": ["a:1"]}
    assert read_place(config(cluster, "chief")).rank == 0
    place = read_place(config(cluster, "worker", 1))
    assert (place.rank, place.workers, place.address) == (2, 3, ("c", 3))


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        config({"worker": ["a:1", "b:2"]}, "worker", 2),
        config({"worker": ["a:1", "b:2"]}, "worker", -1),
        config({"worker": ["a:1", "b:2"]}, "evaluator", 0),
        config({"worker": ["a:1", "b:2"]}, "worker", "x"),
        config({"worker": ["a", "b"]}),
        json.dumps({"cluster": {"worker": ["a:1", "b:2"]}}),
    ],
)
def test_what_tensorflow_cannot_read_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="TF_CONFIG must hold") as caught:
        read_place(text)
    assert '"worker"' in caught.value.hint
