"""The examples run as their first lines say."""

import re
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


# Scripts that CI runs both ways; benchmarks/scripts.py runs all of them. Relative difference that is allowed: results
# depend on the order of the samples, which steptime draws otherwise than Keras, unless the script orders them itself.
BOTH_WAYS = {"generator": 2e-3, "several_fits": 0.25}
RESULT = re.compile(r"(\S+) (-?\d+\.\d+)")


def test_the_scripts_are_those_of_the_benchmark() -> None:
    scripts = {path.stem for path in (ROOT / "examples" / "scripts").glob("*.py")}

    assert len(scripts) == 10
    assert set(BOTH_WAYS) <= scripts


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", BOTH_WAYS)
def test_a_script_gives_the_same_results_with_steptime_and_with_python(name: str, tmp_path: Path) -> None:
    script = ROOT / "examples" / "scripts" / f"{name}.py"
    by_python = run(sys.executable, script)
    by_steptime = run(STEPTIME, "run", "--device", "cpu", "--runs", tmp_path, script)
    assert by_python.returncode == 0, by_python.stderr
    assert by_steptime.returncode == 0, by_steptime.stderr

    expected = {key: float(value) for key, value in RESULT.findall(by_python.stdout)}
    found = {key: float(value) for key, value in RESULT.findall(by_steptime.stdout)}
    assert found == pytest.approx(expected, rel=BOTH_WAYS[name])
    assert "report: " in by_steptime.stderr


def test_reading_where_nothing_was_run_says_what_to_do(tmp_path: Path) -> None:
    read = run(sys.executable, "examples/read_a_record.py", tmp_path)

    assert read.returncode == 1
    assert read.stderr.splitlines()[0] == f"error: no run.json in {tmp_path}"
