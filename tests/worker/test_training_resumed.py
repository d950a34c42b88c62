"""A run that is asked to stop by a signal, and goes on by `steptime resume`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from steptime.engine.checkpoints.format import listed, read_state
from steptime.record.events import read_events
from steptime.record.store import list_runs

pytestmark = pytest.mark.tensorflow

WORKLOAD = Path(__file__).parents[1] / "data" / "workloads" / "points.py"
EPOCHS = 60


def steptime(here: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "steptime", *arguments],
        cwd=here,
        env={**os.environ, "STEPTIME_RUNS": str(here / "runs"), "TF_CPP_MIN_LOG_LEVEL": "2"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_epoch(here: Path, number: int) -> Path:
    """Wait until a run below ``here`` has ended an epoch; return its folder."""
    deadline_s = time.perf_counter() + 240
    while time.perf_counter() < deadline_s:
        for summary in list_runs(here / "runs"):
            done = [event["epoch"] for event in read_events(summary.folder) if event["kind"] == "epoch"]
            if done and done[-1] >= number:
                return summary.folder
        time.sleep(0.02)
    raise AssertionError("no epoch ended")


def record_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return content


def test_a_run_that_was_asked_to_stop_goes_on_and_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    train = ("train", str(WORKLOAD), "--device", "cpu", "--epochs", str(EPOCHS), "--loop", "graph")
    run = steptime(tmp_path, *train, "--checkpoint-every", "7steps")
    folder = wait_for_epoch(tmp_path, 3)
    run.send_signal(signal.SIGTERM)
    _, said = run.communicate(timeout=60)

    assert run.returncode == 130, said
    assert f"go on with: steptime resume {folder}" in said
    stopped = record_of(folder)
    assert stopped["outcome"]["status"] == "interrupted"
    assert 3 < len(stopped["epochs"]) < EPOCHS
    position = read_state(listed(folder / "checkpoints")[-1])["position"]

    again = steptime(tmp_path, "resume", "last")
    _, said = again.communicate(timeout=120)

    assert again.returncode == 0, said
    assert f"goes on at epoch {position['epoch'] + 1}, step {position['step']}," in said
    record = record_of(folder)
    assert record["outcome"]["status"] == "ok"
    assert [epoch["steps"] for epoch in record["epochs"]] == [16] * EPOCHS
    whole = [epoch["logs"] for epoch in stopped["epochs"][: position["epoch"]]]
    assert [epoch["logs"] for epoch in record["epochs"][: len(whole)]] == whole
    ends_ns = [epoch["end_ns"] for epoch in record["epochs"]]
    assert ends_ns == sorted(ends_ns)
    assert record["execution"]["checkpoints"]["written"] > 0
    assert (folder / "model.keras").exists()
