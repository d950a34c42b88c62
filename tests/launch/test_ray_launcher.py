"""Training on a Ray of this machine."""

import dataclasses
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from steptime.launch.ray_cluster import Resources
from steptime.launch.ray_launcher import RayLauncher
from steptime.record.store import create_run_folder, member_folder, read_record
from steptime.testing import make_plan

# Ray's own processes and threads leave sockets behind when they are killed.
WARNINGS = pytest.mark.filterwarnings("ignore")
NEEDS_RAY = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")

JOB = """
import keras
import numpy as np


def create_model():
    return keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(6, "relu"), keras.layers.Dense(3)])


def load_data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 8)).astype("float32")
    return x, (x.sum(axis=1) > 0).astype("int64")
"""


@pytest.mark.tensorflow
@pytest.mark.ray
@WARNINGS
@NEEDS_RAY
def test_two_workers_on_ray_train_one_model_and_end_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    (tmp_path / "job.py").write_text(JOB)
    plan = make_plan(str(tmp_path / "job.py"), workers=2, launcher="ray", epochs=2, batch_size=16)
    plan = dataclasses.replace(plan, placement=None)
    folder = create_run_folder(tmp_path / "runs", "train", plan)
    events: list[dict[str, Any]] = []
    record = RayLauncher(Resources()).launch(plan, folder, events.append)
    other = read_record(member_folder(folder, 1))

    assert record.outcome.status == "ok", record.outcome
    assert other.outcome.status == "ok", other.outcome
    assert record.group is not None
    assert record.group["replicas"] == 2
    assert record.device == "cpu"
    # Epochs and weights are equal to the last bit, not nearly so.
    assert [epoch.logs for epoch in record.epochs] == [epoch.logs for epoch in other.epochs]
    assert len(record.epochs) == 2
    assert "2 workers with 1 CPU each on a Ray started on this machine" in events[0]["text"]
    assert [event["epoch"] for event in events if event["kind"] == "epoch"] == [0, 1]


def test_a_cluster_that_cannot_be_used_leaves_a_record_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "ray://nowhere:10001")
    plan = make_plan(workers=2, launcher="ray")
    folder = create_run_folder(tmp_path, "train", plan)
    record = RayLauncher().launch(plan, folder, lambda event: None)

    assert (record.outcome.status, record.outcome.exit_code) == ("failed", 2)
    assert "must be the address of a node" in str(record.outcome.reason)
    assert read_record(folder) == record
