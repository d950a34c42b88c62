"""A public example that Keras 3 cannot train works unchanged after `steptime.install()`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from steptime.launch.ports import free_addresses
from steptime.plan.cluster import Place

pytestmark = pytest.mark.tensorflow

EXAMPLE = Path(__file__).parents[2] / "data" / "multi_worker_example.py"
INSTALLED = (
    f"import runpy, steptime; steptime.install(); runpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
)
SEEDED = f"import keras; keras.utils.set_random_seed(1); {INSTALLED}"


def run_two(program: str) -> tuple[list[int], list[str]]:
    """Exit codes and words of two workers."""
    cluster = free_addresses(2)
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env={
                **os.environ,
                "TF_CONFIG": Place(addresses=cluster, rank=rank).text(),
                "TF_CPP_MIN_LOG_LEVEL": "2",
                "CUDA_VISIBLE_DEVICES": "-1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        said = [worker.communicate(timeout=240)[0] for worker in workers]
    finally:
        for worker in workers:
            worker.kill()
    return [worker.returncode for worker in workers], said


def test_a_shuffle_without_a_seed_is_refused_before_training() -> None:
    codes, said = run_two(INSTALLED)
    assert 0 not in codes
    assert all("All workers must have the same first batch" in text for text in said)


def test_two_workers_train_the_example_with_equal_weights_and_histories() -> None:
    codes, said = run_two(SEEDED)
    assert codes == [0, 0], said
    first, second = (
        json.loads(line.removeprefix("RESULT "))
        for text in said
        for line in text.splitlines()
        if line.startswith("RESULT ")
    )
    assert first == second
    assert len(first["history"]["loss"]) == 2
    # Only the chief draws a progress line.
    assert ["Epoch 2/2" in text for text in said] == [True, False]
