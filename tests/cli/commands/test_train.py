"""``steptime train``: all that is decided before a worker starts, and what is said after it ended."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import pytest

from steptime.device.find import GpuSearch
from steptime.record.schema import Outcome, RunRecord
from steptime.record.store import list_runs
from steptime.testing import FakeLauncher, make_record

NO_GPU = GpuSearch((), "no NVIDIA driver", "install the driver")


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steptime.device.find.find_gpus", lambda: NO_GPU)
    monkeypatch.setattr("steptime.diagnosis.environment.why_no_gpu", lambda facts: ("Why.", "Do this."))


@pytest.fixture
def ends_with(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Lets the next run end with a record, without a process."""

    def ends_with(**changes: Any) -> FakeLauncher:
        launcher = FakeLauncher(make_record(**changes))
        monkeypatch.setattr("steptime.launch.process.ProcessLauncher", lambda: launcher)
        return launcher

    return ends_with


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (
            ["nothing.py"],
            "The workload file must exist. Received: 'nothing.py'",
            "`steptime new my_job.py` writes a commented starter that runs as it is.",
        ),
        (
            ["mnist-cn"],
            "The workload must be mnist-cnn, mnist-mlp, mnist-lstm, a Python file or a module. Received: 'mnist-cn'",
            "Did you mean 'mnist-cnn'?",
        ),
        (
            ["syntax.py"],
            "syntax.py must be valid Python. Line 1: invalid syntax",
            "Mend that line.",
        ),
        (
            ["names.py"],
            "names.py must define create_model(). It defines: make_model, load_data",
            "Name it create_model, or say names.py:make_model.",
        ),
        (
            ["names.py:make_model"],
            "make_model() must be callable without arguments. names.py:1 needs: size",
            "Give each argument a default value.",
        ),
        (
            ["--epochs", "-3"],
            "epochs must be a whole number of at least 1. Received: -3",
            "Passes over the training data.",
        ),
        (
            ["--device", "tpu"],
            "device must be auto, cpu, gpu or gpu:N. Received: 'tpu'",
            "Where to train: auto, cpu, gpu (the first one) or gpu:N. auto takes a usable GPU if there is one.",
        ),
        (
            ["--device", "gpu"],
            "--device gpu must name a usable GPU. No NVIDIA driver. The doctor says: Why.",
            "Do this. `steptime doctor` shows the evidence.",
        ),
        (["--set", "epoch=3"], "--set must name a setting. Received: 'epoch'", "Did you mean 'epochs'?"),
        (
            ["--set", "epochs"],
            "--set must be KEY=VALUE. Received: 'epochs'",
            "For example: --set batch_size=128",
        ),
        (
            ["--time-limit", "0"],
            "The time limit must be a positive number of seconds. Received: 0.0",
            "Leave it out for no limit.",
        ),
        (
            ["--runs", "names.py/runs"],
            "The run folder must be writable. Received: 'names.py/runs' (Not a directory)",
            "Choose another folder with --runs DIR or STEPTIME_RUNS, or free some space.",
        ),
        (
            ["--export", "model.h5"],
            "--export must be a *.keras file in a folder that exists. Received: 'model.h5'",
            "For example: --export model.keras",
        ),
        (
            ["--export", "no/model.keras"],
            "--export must be a *.keras file in a folder that exists. Received: 'no/model.keras'",
            "For example: --export model.keras",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_starts(
    steptime: Any, here: Path, ends_with: Any, arguments: list[str], error: str, hint: str
) -> None:
    (here / "syntax.py").write_text("def (\n")
    (here / "names.py").write_text("def make_model(size): ...\ndef load_data(): ...\n")
    launcher = ends_with()

    assert steptime("train", *arguments) == (2, "", f"error: {error}\nhint: {hint}\n")
    assert launcher.plans == []
    assert not (here / "runs").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_export_that_cannot_be_written_is_refused_before_anything_starts(
    steptime: Any, here: Path, ends_with: Any
) -> None:
    here.chmod(0o500)

    assert "--export must be a file that can be written" in steptime("train", "--export", "model.keras").err


def test_a_full_disk_is_refused_before_anything_starts(
    steptime: Any, ends_with: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    code, out, err = steptime("train")

    assert (code, out) == (2, "")
    assert err.startswith(
        "error: The run folder must be writable. Received: 'runs' (No space left on device)\nhint: "
    )


def test_a_missing_tensorflow_is_said_at_once(
    steptime: Any, here: Path, ends_with: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "tensorflow" else find(name)
    )

    code, out, err = steptime("train")

    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "error: Training needs TensorFlow and Keras. They are not installed here",
        "hint: pip install 'steptime[cpu]', or 'steptime[gpu]' beside an NVIDIA driver.",
    ]
    assert not (here / "runs").exists()


def test_a_run_that_ends_well_prints_its_summary_and_keeps_the_plan(
    steptime: Any, here: Path, ends_with: Any
) -> None:
    launcher = ends_with()
    code, out, err = steptime(
        "train", "mnist-mlp", "--epochs", "2", "--export", "m.keras", "--time-limit", "60"
    )
    (plan,) = launcher.plans
    (summary,) = list_runs(here / "runs")

    assert code == 0
    assert "accuracy 0.9700" in out
    assert err.splitlines() == ["training ...", f"record: runs/train/{summary.run_id}"]
    assert (plan.workload.name, plan.settings.epochs, plan.protocol.time_limit_s) == ("mnist-mlp", 2, 60.0)
    assert plan.export == str(here / "m.keras")
    assert plan.placement is not None
    assert plan.placement.reason == "no usable GPU: no NVIDIA driver"
    assert plan.command == (
        "steptime", "train", "mnist-mlp", "--epochs", "2", "--export", "m.keras", "--time-limit", "60"
    )  # fmt: skip


def test_json_prints_the_record_and_nothing_else_on_stdout(steptime: Any, ends_with: Any) -> None:
    ends_with()
    code, out, _ = steptime("train", "--json", "--runs", "elsewhere")
    content = json.loads(out)

    assert code == 0
    assert content["plan"]["workload"]["name"] == "mnist-cnn"
    assert Path("elsewhere", "train", content["run_id"], "run.json").exists()


FAILED = Outcome(status="failed", phase="train", reason="it broke", hint="mend it", exit_code=3)


def test_a_failed_run_ends_in_an_error_and_a_hint(steptime: Any, ends_with: Any) -> None:
    ends_with(outcome=FAILED)
    code, out, err = steptime("train")

    assert (code, out) == (3, "")
    assert err.splitlines()[-2:] == ["error: it broke", "hint: mend it"]


def test_a_failed_run_as_json_still_prints_its_record(steptime: Any, ends_with: Any) -> None:
    ends_with(outcome=FAILED)
    code, out, _ = steptime("train", "--json")

    assert (code, json.loads(out)["outcome"]["reason"]) == (3, "it broke")


def test_an_interrupted_run_shows_how_far_it_came(steptime: Any, ends_with: Any) -> None:
    ends_with(
        outcome=Outcome(status="interrupted", phase="train", reason="stopped by a signal", exit_code=130)
    )
    code, out, err = steptime("train")

    assert code == 130
    assert "epoch 2 of 10" in out
    assert err.splitlines()[-1] == "stopped by a signal"


def test_debug_prints_the_log_of_a_failed_run(steptime: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(FakeLauncher):
        """Leaves a log."""

        def launch(self, plan: Any, folder: Path, on_event: Any) -> RunRecord:
            (folder / "worker.log").write_text("deep inside\n")
            return super().launch(plan, folder, on_event)

    monkeypatch.setattr(
        "steptime.launch.process.ProcessLauncher",
        lambda: Failing(dataclasses.replace(make_record(), outcome=FAILED)),
    )

    assert "deep inside" in steptime("train", "--debug").err
    monkeypatch.setattr(
        "steptime.launch.process.ProcessLauncher",
        lambda: Failing(dataclasses.replace(make_record(), outcome=FAILED)),
    )
    assert "deep inside" not in steptime("train").err


def test_the_run_folder_is_copied_where_storage_says(
    steptime: Any, here: Path, ends_with: Any, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow")
    ends_with()
    code, _, err = steptime("train", "--device", "cpu", "--storage", str(tmp_path / "kept"))
    (kept,) = (tmp_path / "kept" / "train").iterdir()

    assert code == 0
    assert err.splitlines()[-1] == f"copied to {tmp_path / 'kept'}/train/{kept.name}"
    assert (kept / "run.json").exists()
