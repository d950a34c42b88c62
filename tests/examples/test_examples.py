"""The examples run as their first lines say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEPTIME = Path(sys.executable).with_name("steptime")


# Each is run by a test below.
EXAMPLES = {"my_job.py", "read_a_record.py"}


def test_every_example_is_one_that_is_run_here() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.*")} == EXAMPLES


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


@pytest.mark.tensorflow
def test_ones_own_workload_trains_and_its_record_is_read_without_steptime(tmp_path: Path) -> None:
    trained = run(
        STEPTIME, "train", "examples/my_job.py", "--device", "cpu", "--epochs", "2", "--runs", tmp_path
    )
    assert trained.returncode == 0, trained.stderr

    # -S -I: neither steptime nor any other installed package can be imported.
    read = run(sys.executable, "-S", "-I", "examples/read_a_record.py", tmp_path)
    assert read.returncode == 0, read.stderr
    lines = read.stdout.splitlines()
    assert lines[1].startswith("outcome   ok")
    assert lines[2] == "device    cpu"
    assert [line for line in lines if line.startswith("epoch 1") and "val_accuracy" in line]


def test_reading_where_nothing_was_run_says_what_to_do(tmp_path: Path) -> None:
    read = run(sys.executable, "examples/read_a_record.py", tmp_path)

    assert read.returncode == 1
    assert read.stderr.splitlines()[0] == f"error: no run.json in {tmp_path}"
