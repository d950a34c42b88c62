"""Real runs that meet a fault: a kill, a lack of memory, broken data, a bad loss, a full disk."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from steptime.plan.settings import Settings
from steptime.record.store import list_runs, read_record

pytestmark = pytest.mark.tensorflow
FAILING = Path(__file__).parents[1] / "data" / "workloads" / "failing.py"


def test_a_killed_worker_is_started_again_and_goes_on_from_its_checkpoint(
    train: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPTIME_TEST_FOLDER", str(tmp_path))
    run = train(
        "failing.py:create_model,killed_once",
        *("--epochs", "1", "--loop", "graph", "--retries", "2", "--set", "checkpoint_every=100steps"),
    )

    assert run.code == 0, run.err
    (attempt,) = run.record["attempts"]
    assert (attempt["number"], attempt["phase"], attempt["fault"]["kind"]) == (1, "train", "killed")
    assert attempt["reason"] == "the worker was ended by SIGKILL in phase 'train'"
    assert attempt["then"] == "starting again (retry 1 of 2)"
    assert f"{attempt['reason']}: {attempt['then']}" in run.err
    assert run.record["epochs"][0]["steps"] == 400


def test_memory_that_runs_out_halves_the_batch_in_a_new_process(
    train: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each of the C library's arenas takes 64 MiB of the address space, and many cores have many.
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")
    run = train(
        "failing.py:memory_model,small_data",
        *("--epochs", "1", "--batch-size", "96", "--loop", "graph", "--on-oom", "halve"),
    )

    assert run.code == 0, run.err
    attempts = run.record["attempts"]
    assert attempts[0]["fault"]["kind"] == "out of memory"
    assert attempts[0]["fault"]["needed_bytes"] > 96 * 2**20
    assert attempts[0]["fault"]["largest_batch"] < 96
    assert "the same 96 samples make an update as before" in run.err
    split = run.record["plan"]["split"]
    assert split == 2 ** len(attempts)
    assert run.record["plan"]["settings"]["batch_size"] == 96
    assert run.record["job"]["batch_size"] == 96 // split
    assert run.record["epochs"][0]["steps"] == split


def test_data_that_fail_keep_what_was_trained(train: Any) -> None:
    import keras

    run = train("failing.py:create_model,broken_file", "--epochs", "1", "--loop", "graph")

    assert run.code == 3
    assert (
        "Reading batch 138 of epoch 1 failed: OSError: part-137.png is broken: the person's own words"
        in run.err
    )
    fault = run.record["outcome"]["fault"]
    assert (fault["kind"], fault["epoch"], fault["step"]) == ("data", 0, 137)
    assert fault["details"][-1].endswith("in read_file")
    assert run.record["outcome"]["phase"] == "train"
    assert run.record["epochs"][0]["steps"] > 0
    assert keras.models.load_model(run.folder / "model.keras").count_params() > 0


@pytest.mark.parametrize(("on_nan", "stops"), [("stop", True), ("continue", False)])
def test_a_bad_loss_ends_the_run_unless_it_is_to_go_on(on_nan: str, stops: bool) -> None:
    from steptime.worker.arguments import fit_arguments
    from steptime.worker.data import Part
    from steptime.worker.job import Data

    data = Data(training=Part(x=None), validation=None, x=None, y=None)

    assert fit_arguments(data, Settings(on_nan=on_nan))["stop_on_infinite_loss"] is stops


def can_mount() -> bool:
    if shutil.which("unshare") is None:
        return False
    probe = ["unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=1m none /mnt"]
    return subprocess.run(probe, capture_output=True).returncode == 0


@pytest.mark.skipif(not can_mount(), reason="needs to mount a small file system")
def test_a_full_disk_does_not_end_the_training(tmp_path: Path) -> None:
    """The file system has room for the start of a run; a file made after its first epoch takes the rest."""
    runs, small = tmp_path / "runs", tmp_path / "small"
    small.mkdir()
    train = [
        sys.executable,
        "-m",
        "steptime",
        "train",
        f"{FAILING}:create_model,filling_disk",
        "--device",
        "cpu",
    ]
    more = [
        "--epochs",
        "3",
        "--steps-per-epoch",
        "50",
        "--loop",
        "graph",
        "--runs",
        str(small),
        "--set",
        "checkpoint_every=1epoch",
    ]
    script = (
        f"mount -t tmpfs -o size=2m none {small} && {' '.join([*train, *more])}; code=$?; "
        f"cp -r {small} {runs}; exit $code"
    )
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script],
        env={**os.environ, "STEPTIME_TEST_FOLDER": str(small), "TF_CPP_MIN_LOG_LEVEL": "2"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )

    (summary,) = list_runs(runs)
    assert done.returncode == 0, done.stderr
    record = read_record(summary.folder)
    assert [epoch.steps for epoch in record.epochs] == [50, 50, 50]
    assert "No space left on device" in done.stderr
    assert json.loads((summary.folder / "run.json").read_text())["outcome"]["status"] == "ok"
