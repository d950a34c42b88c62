"""Two real processes on this machine train one model; one is killed on the way, and nobody can tell afterwards."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from steptime.record.events import read_events
from steptime.record.store import member_folder, read_record

pytestmark = pytest.mark.tensorflow

POINTS = Path(__file__).parents[1] / "data" / "workloads" / "points.py"
EPOCHS = 3


def start(here: Path, *more: str) -> "subprocess.Popen[str]":
    job = [
        str(POINTS),
        "--device",
        "cpu",
        "--epochs",
        str(EPOCHS),
        "--batch-size",
        "30",
        "--learning-rate",
        "0.02",
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "steptime", "train", *job, *more],
        cwd=here,
        env={**os.environ, "STEPTIME_RUNS": str(here / "runs"), "TF_CPP_MIN_LOG_LEVEL": "2"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def kill_when_it_trains(process: "subprocess.Popen[str]", runs: Path, rank: int) -> None:
    """Sends SIGKILL to a worker after its first epoch."""
    give_up_s = time.perf_counter() + 120
    while time.perf_counter() < give_up_s and process.poll() is None:
        for folder in runs.glob("train/*"):
            place = member_folder(folder, rank)
            if any(event["kind"] == "epoch" for event in read_events(place)):
                for child in psutil.Process(process.pid).children():
                    if child.cmdline()[-1] == str(place):
                        child.send_signal(signal.SIGKILL)
                        return
        time.sleep(0.02)
    raise AssertionError("the worker never trained")


@pytest.fixture(scope="module")
def survivor(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run whose second worker was killed after its first epoch: its folder and what was said."""
    here = tmp_path_factory.mktemp("group")
    process = start(here, "--workers", "2", "--local", "--retries", "1")
    try:
        kill_when_it_trains(process, here / "runs", 1)
        _, said = process.communicate(timeout=240)
    finally:
        process.kill()
    (folder,) = (here / "runs" / "train").iterdir()
    assert process.returncode == 0, said
    return folder, said


def test_a_killed_worker_is_named_and_the_group_goes_on_by_itself(survivor: Any) -> None:
    folder, said = survivor
    assert "worker 1 was ended by SIGKILL in phase" in said
    assert "all workers: starting again (retry 1 of 1)" in said
    assert read_record(folder).outcome.status == "ok"
    assert (folder / "model.keras").exists()


def test_the_history_is_whole_and_the_same_on_both_workers(survivor: Any) -> None:
    folder, _ = survivor
    chief, other = (read_record(member_folder(folder, rank)) for rank in range(2))
    assert [epoch.epoch for epoch in chief.epochs] == list(range(EPOCHS))
    assert [epoch.logs for epoch in chief.epochs] == [epoch.logs for epoch in other.epochs]


def test_the_records_say_who_trained_together_and_where(survivor: Any) -> None:
    folder, _ = survivor
    for rank in range(2):
        record = read_record(member_folder(folder, rank))
        assert record.group is not None
        assert (record.group["workers"], record.group["replicas"], record.group["rank"]) == (2, 2, rank)
        assert record.group["run_id"] == folder.name
        assert record.proof is not None
        assert set(record.proof.compute_ops) == {"CPU:0"}
    assert not (member_folder(folder, 1) / "model.keras").exists()


def test_two_devices_of_one_process_both_compute_and_the_learning_rate_grows_only_when_asked(
    tmp_path: Path,
) -> None:
    process = start(tmp_path, "--devices", "2", "--scale-batch")
    try:
        _, said = process.communicate(timeout=240)
    finally:
        process.kill()
    (folder,) = (tmp_path / "runs" / "train").iterdir()
    assert process.returncode == 0, said
    record = read_record(folder)
    assert record.proof is not None
    assert record.group is not None
    assert record.job is not None
    assert set(record.proof.compute_ops) == {"CPU:0", "CPU:1"}
    assert record.group["strategy"] == "MirroredStrategy"
    assert record.job.batch_size == 60
    assert "batch 30 -> 60, learning rate 0.02 -> 0.04" in said
