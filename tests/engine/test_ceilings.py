"""The process that measures what a device can do."""

import json
from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow
pytest.importorskip("tensorflow")

from steptime.engine import ceilings  # noqa: E402


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes at which nothing is measured well, but fast."""
    monkeypatch.setattr(ceilings, "_REPEATS", 1)
    monkeypatch.setattr(ceilings, "_LEAST_S", 0.0)
    monkeypatch.setattr(ceilings, "_LARGEST_MATRIX", {"CPU": 512})
    monkeypatch.setattr(ceilings, "_COPY_BYTES", {"CPU": 4096})


def test_a_processor_has_every_ceiling_but_that_of_copies_to_itself(small: None) -> None:
    found: dict[str, Any] = json.loads(json.dumps(ceilings.main("CPU:0")))

    assert set(found["flops_per_s"]) == {"float32", "bfloat16", "float16", "float64"}
    assert all(value > 0 for value in found["flops_per_s"].values())
    assert found["memory_bytes_per_s"] > 0
    assert found["launch_s"] > 0
    assert found["host_to_device_bytes_per_s"] is None
    assert "host itself" in found["unavailable"]["host_to_device_bytes_per_s"]


def test_what_cannot_be_measured_has_a_reason(small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> float:
        raise ValueError("no such operation\nhere")

    monkeypatch.setattr(ceilings, "_launch", broken)
    found = ceilings.main("CPU:0")

    assert found["launch_s"] is None
    assert found["unavailable"]["launch_s"] == "no such operation here"
