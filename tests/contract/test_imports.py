"""What may import what, and what is never imported for an answer that needs no computing."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HEAVY = {"tensorflow", "keras", "numpy", "matplotlib"}


@pytest.mark.slow
def test_the_import_contracts_hold() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True)

    assert done.returncode == 0, done.stdout


def loaded(*arguments: str) -> set[str]:
    """The top-level packages that a fresh Python has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    lines = done.stderr.splitlines()
    times = [line for line in lines if line.startswith("import time:")]
    if done.returncode != 0:
        pytest.fail("\n".join(line for line in lines if line not in times))
    return {line.rsplit("|", 1)[1].strip().split(".")[0] for line in times}


def test_the_probe_sees_what_is_loaded() -> None:
    assert "numpy" in loaded("-c", "import numpy.random")


def test_importing_steptime_loads_nothing_heavy() -> None:
    names = loaded("-c", "import steptime; dir(steptime); steptime.UsageError")

    assert "steptime" in names
    assert not names & HEAVY


@pytest.mark.slow
def test_collecting_the_tests_without_tensorflow_does_not_import_it() -> None:
    names = loaded("-m", "pytest", "--collect-only", "-q", "-s", "-m", "not tensorflow")

    assert "hypothesis" in names
    assert not names & {"tensorflow", "keras"}


@pytest.mark.parametrize(
    "command", ["--help", "--version", "train --help", "run --help", "runs --help", "settings --help"]
)
def test_help_loads_nothing_heavy(command: str) -> None:
    names = loaded(str(Path(sys.executable).with_name("steptime")), *command.split())

    assert "steptime" in names
    assert not names & HEAVY
