"""Ceilings: measured in a process of its own, once for each machine and version."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from steptime.device.find import GpuSearch
from steptime.device.host import describe_host
from steptime.environment.child import Answer
from steptime.launch.ceilings import cache_folder, find_ceilings
from steptime.plan.plan import Placement

CPU = Placement(device="cpu", reason="as asked", visible_devices="-1")
NO_GPU = GpuSearch((), "no driver", None)
BODY: dict[str, object] = {
    "flops_per_s": {"float32": 80e9},
    "memory_bytes_per_s": 12e9,
    "host_to_device_bytes_per_s": None,
    "launch_s": 3e-6,
    "unavailable": {"host_to_device_bytes_per_s": "the device is the host itself"},
}


class Child:
    """Answers as the process that measures, and counts how often it was asked."""

    def __init__(self, state: str = "ok", said: bytes = b"") -> None:
        self.answer = Answer(state=state, body=BODY if state == "ok" else {}, said=said)
        self.calls: list[dict[str, Any]] = []

    def __call__(self, module: str, arguments: list[str], **rest: Any) -> Answer:
        self.calls.append({"module": module, "arguments": arguments, **rest})
        return self.answer


def test_they_are_measured_once_and_then_read(tmp_path: Path) -> None:
    child, host = Child(), describe_host()

    first = find_ceilings(CPU, host, NO_GPU, tmp_path, child=child)
    second = find_ceilings(CPU, host, NO_GPU, tmp_path, child=child)

    assert first == second
    assert first[0] is not None
    assert first[0].flops_per_s == {"float32": 80e9}
    assert len(child.calls) == 1


def test_they_are_measured_again_when_asked_to_and_kept(tmp_path: Path) -> None:
    busy, idle, host = Child(), Child(), describe_host()
    idle.answer = Answer(state="ok", body={**BODY, "flops_per_s": {"float32": 160e9}}, said=b"")

    find_ceilings(CPU, host, NO_GPU, tmp_path, child=busy)
    find_ceilings(CPU, host, NO_GPU, tmp_path, again=True, child=idle)
    kept, _ = find_ceilings(CPU, host, NO_GPU, tmp_path, child=busy)

    assert kept is not None
    assert kept.flops_per_s == {"float32": 160e9}
    assert len(busy.calls) == 1


def test_another_number_of_cores_is_another_machine(tmp_path: Path) -> None:
    child, host = Child(), describe_host()
    find_ceilings(CPU, host, NO_GPU, tmp_path, child=child)
    find_ceilings(CPU, dataclasses.replace(host, usable_cores=96), NO_GPU, tmp_path, child=child)

    assert len(child.calls) == 2


def test_the_process_sees_the_device_that_the_run_will_see(tmp_path: Path) -> None:
    child = Child()
    gpu = Placement(device="gpu:1", reason="as asked", visible_devices="GPU-123")
    found, _ = find_ceilings(gpu, describe_host(), NO_GPU, tmp_path, child=child)

    assert child.calls[0]["arguments"] == ["GPU:0"]
    assert child.calls[0]["environ"]["CUDA_VISIBLE_DEVICES"] == "GPU-123"
    assert found is not None
    assert found.device == "gpu:1"


@pytest.mark.parametrize("state", ["failed", "crashed", "timeout"])
def test_a_process_that_does_not_answer_leaves_a_reason_and_nothing_else(tmp_path: Path, state: str) -> None:
    found, reason = find_ceilings(CPU, describe_host(), NO_GPU, tmp_path, child=Child(state, b"boom\n"))

    assert found is None
    assert reason is not None
    assert state in reason
    assert "boom" in reason
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_measured_again(tmp_path: Path) -> None:
    child, host = Child(), describe_host()
    find_ceilings(CPU, host, NO_GPU, tmp_path, child=child)
    (file,) = tmp_path.iterdir()
    file.write_text("{")

    found, _ = find_ceilings(CPU, host, NO_GPU, tmp_path, child=child)

    assert found is not None
    assert len(child.calls) == 2


def test_a_cache_that_cannot_be_written_costs_only_the_time_to_measure_again(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    found, reason = find_ceilings(CPU, describe_host(), NO_GPU, tmp_path / "file", child=Child())

    assert found is not None
    assert reason is None


def test_the_cache_is_where_the_person_keeps_caches() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/somewhere"}) == Path("/somewhere/steptime/ceilings")
