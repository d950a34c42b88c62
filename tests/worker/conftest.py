"""Real runs through the command line, shared by all tests that look at what a run leaves."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from steptime.record.store import list_runs

# What the shared run and those that are compared with it have in common.
POINTS = ("points.py", "--epochs", "2", "--learning-rate", "0.02", "--loop", "keras")
WORKLOADS = Path(__file__).parents[1] / "data" / "workloads"


class Run(NamedTuple):
    """A command that ended, with the folder it left."""

    code: int
    out: str
    err: str
    folder: Path

    @property
    def record(self) -> dict[str, Any]:
        """The record as any program reads it."""
        content: dict[str, Any] = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))
        return content


Train = Callable[..., Run]


@pytest.fixture(scope="session")
def train(tmp_path_factory: pytest.TempPathFactory) -> Train:
    """Calls ``steptime train`` in a fresh process; never shows a traceback, unless asked."""

    def train(workload: str, *arguments: str) -> Run:
        here = tmp_path_factory.mktemp("train")
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "steptime",
                "train",
                str(WORKLOADS / workload),
                "--device",
                "cpu",
                *arguments,
            ],
            cwd=here,
            env={**os.environ, "STEPTIME_RUNS": str(here / "runs"), "TF_CPP_MIN_LOG_LEVEL": "2"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        (summary,) = list_runs(here / "runs")
        assert "Traceback" not in done.stdout
        assert "--debug" in arguments or "Traceback" not in done.stderr
        return Run(done.returncode, done.stdout, done.stderr, summary.folder)

    return train


@pytest.fixture(scope="session")
def points(train: Train) -> Run:
    """A run that ended well: two epochs of a small job with validation."""
    return train(*POINTS, "--seed", "1", "--json", "--export", "copy.keras")
