"""Two devices, and two processes, train as one device does: the small part of benchmarks/distribution.py."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

PROGRAM = Path(__file__).parents[3] / "benchmarks" / "distribution.py"
# Uneven shares, a last batch smaller than the group, weights, validation; then clipping of summed gradients; then
# losses that are not divided by the number of samples.
JOBS = (
    "sample weights and validation",
    "accumulation and clipping",
    "batches smaller than the group",
    "masked tokens",
    "tf.data",
    "mean over weights",
    "sums and a last batch smaller than the group",
    "a mean of one's own",
)


def test_weights_and_history_are_those_of_one_device_and_equal_on_all_workers() -> None:
    command = [sys.executable, str(PROGRAM), "--no-results", "--ways", "4x1,1x2", "--jobs", ",".join(JOBS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert len(lines) == 2 * len(JOBS)
    assert all(line.startswith("ok ") for line in lines)
