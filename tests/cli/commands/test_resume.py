"""``steptime resume`` and ``train --resume auto``: which run goes on, and when none can."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steptime.cli.commands.resume import find_interrupted
from steptime.device.find import GpuSearch
from steptime.engine.checkpoints import format as files
from steptime.launch.ports import free_addresses
from steptime.plan.cluster import Place
from steptime.record.lock import lock
from steptime.record.schema import Fault, Outcome
from steptime.record.store import RECORD_FILE, create_run_folder, read_plan, rewrite_plan, write_record
from steptime.testing import FakeLauncher, make_plan, make_record

STOPPED = Outcome(status="interrupted", phase="train", reason="stopped by a signal", exit_code=130)


@pytest.fixture(autouse=True)
def launcher(monkeypatch: pytest.MonkeyPatch) -> FakeLauncher:
    fake = FakeLauncher(make_record())
    monkeypatch.setattr(
        "steptime.device.find.find_gpus", lambda: GpuSearch((), "no NVIDIA driver", "install it")
    )
    monkeypatch.setattr("steptime.launch.process.ProcessLauncher", lambda: fake)
    return fake


def interrupted(here: Path, outcome: Outcome = STOPPED, **settings: Any) -> Path:
    """A run that left a checkpoint."""
    plan = make_plan(**settings)
    folder = create_run_folder(here / "runs", "train", plan)
    write_record(folder, make_record(plan, outcome=outcome))
    files.write(folder / "checkpoints", files.name_of(1, 0, 5), [np.zeros(1)], {})
    return folder


def test_a_run_goes_on_in_its_own_folder_by_its_own_plan(
    steptime: Any, here: Path, launcher: FakeLauncher
) -> None:
    folder = interrupted(here, epochs=7)

    answer = steptime("resume", "last")

    assert answer.code == 0
    assert launcher.plans[0].settings == read_plan(folder)[0].settings
    assert launcher.plans[0].settings.epochs == 7
    assert not launcher.plans[0].allow_different
    assert (folder / RECORD_FILE).exists()
    assert len(list((here / "runs" / "train").iterdir())) == 1


def test_it_can_be_made_longer_and_differences_allowed(
    steptime: Any, here: Path, launcher: FakeLauncher
) -> None:
    folder = interrupted(here, epochs=7)

    answer = steptime("resume", str(folder), "--epochs", "9", "--allow-different")

    assert answer.code == 0
    assert launcher.plans[0].settings.epochs == 9
    assert read_plan(folder)[0].allow_different


def test_without_a_checkpoint_nothing_is_started(steptime: Any, here: Path, launcher: FakeLauncher) -> None:
    create_run_folder(here / "runs", "train", make_plan())

    answer = steptime("resume", "last")

    assert answer.code == 2
    assert "must hold a checkpoint. There is none." in answer.err
    assert launcher.plans == []


def test_a_run_that_does_not_exist_is_refused(steptime: Any) -> None:
    answer = steptime("resume", "nothing")

    assert answer.code == 2
    assert "must exist" in answer.err


@pytest.mark.parametrize(
    ("kept", "goes_on"),
    [
        ({"epochs": 3}, True),
        ({"epochs": 4}, False),
        ({"epochs": 3, "batch_size": 64}, False),
        ({"epochs": 3, "outcome": Outcome(status="ok", phase="save")}, False),
    ],
)
def test_auto_goes_on_with_the_same_work_only(
    steptime: Any, here: Path, kept: dict[str, Any], goes_on: bool
) -> None:
    folder = interrupted(here, **kept)

    answer = steptime("train", "mnist-cnn", "--device", "cpu", "--epochs", "3", "--resume", "auto")

    assert answer.code == 0
    assert (f"goes on with {folder.relative_to(here)}" in answer.err) is goes_on
    assert len(list((here / "runs" / "train").iterdir())) == (1 if goes_on else 2)


REFUSED = Outcome(status="failed", phase="build", reason="something has changed", exit_code=2)
NOT_FINITE = Outcome(
    status="failed", phase="train", reason="the loss", exit_code=3, fault=Fault(kind="not finite")
)


@pytest.mark.parametrize("outcome", [REFUSED, NOT_FINITE])
def test_auto_does_not_go_on_with_what_would_end_again_as_it_did(
    steptime: Any, here: Path, outcome: Outcome
) -> None:
    interrupted(here, outcome=outcome, epochs=3)

    answer = steptime("train", "mnist-cnn", "--device", "cpu", "--epochs", "3", "--resume", "auto")

    assert answer.code == 0
    assert "goes on with" not in answer.err


@pytest.mark.parametrize("place", ["", "checkpoints"])
def test_a_run_that_is_training_is_left_alone(
    steptime: Any, here: Path, launcher: FakeLauncher, place: str
) -> None:
    folder = interrupted(here, epochs=3)
    before = (folder / RECORD_FILE).read_bytes()

    with lock(folder / place):
        resumed = steptime("resume", "last")
        auto = steptime("train", "mnist-cnn", "--device", "cpu", "--epochs", "3", "--resume", "auto")

    assert (resumed.code, auto.code) == (2, 0)
    assert "One process at a time may train" in resumed.err
    assert "goes on with" not in auto.err
    assert (folder / RECORD_FILE).read_bytes() == before


def test_a_refused_resume_leaves_the_record_and_the_plan_as_they_were(
    steptime: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = interrupted(here, epochs=3)
    before = [(folder / name).read_bytes() for name in (RECORD_FILE, "plan.json")]
    monkeypatch.setattr(
        "steptime.launch.process.ProcessLauncher", lambda: FakeLauncher(make_record(outcome=REFUSED))
    )

    answer = steptime("resume", "last", "--epochs", "9")

    assert answer.code == 2
    assert "something has changed" in answer.err
    assert [(folder / name).read_bytes() for name in (RECORD_FILE, "plan.json")] == before


def test_auto_goes_on_with_batches_that_were_cut(steptime: Any, here: Path, launcher: FakeLauncher) -> None:
    folder = interrupted(here, epochs=3)
    rewrite_plan(folder, dataclasses.replace(read_plan(folder)[0], split=4))

    steptime("train", "mnist-cnn", "--device", "cpu", "--epochs", "3", "--resume", "auto")

    assert launcher.plans[0].split == 4


@pytest.mark.parametrize(
    "words", [("--resume", "auto"), ("--retries", "2"), ("--min-workers", "1"), ("--on-oom", "halve")]
)
def test_one_worker_of_a_group_does_not_start_again_alone(
    steptime: Any, monkeypatch: pytest.MonkeyPatch, launcher: FakeLauncher, words: tuple[str, str]
) -> None:
    monkeypatch.setenv("TF_CONFIG", Place(addresses=free_addresses(2), rank=0).text())

    answer = steptime("train", "mnist-cnn", "--device", "cpu", *words)

    assert answer.code == 2
    assert f"{words[0]}" in answer.err
    assert "2 workers that another" in answer.err
    assert launcher.plans == []


def test_the_run_of_one_worker_of_a_group_is_never_taken_up(
    steptime: Any, here: Path, monkeypatch: pytest.MonkeyPatch, launcher: FakeLauncher
) -> None:
    with monkeypatch.context() as joined:
        joined.setenv("TF_CONFIG", Place(addresses=free_addresses(2), rank=0).text())
        assert steptime("train", "mnist-cnn", "--device", "cpu").code == 0
    (folder,) = (here / "runs" / "train").iterdir()
    write_record(folder, make_record(launcher.plans[0], outcome=STOPPED))
    files.write(folder / "checkpoints", files.name_of(1, 0, 5), [np.zeros(1)], {})

    answer = steptime("resume", "last")

    assert answer.code == 2
    assert "another launcher started" in answer.err
    plan = dataclasses.replace(launcher.plans[0], joined=False)
    assert find_interrupted(here / "runs", plan) is None
    assert len(launcher.plans) == 1


@pytest.mark.parametrize("command", ["resume", "train"])
def test_on_ray_workers_get_what_they_are_said_to_get(
    steptime: Any, here: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    given: list[Any] = []
    monkeypatch.setattr(
        "steptime.launch.ray_launcher.RayLauncher",
        lambda resources: given.append(resources) or FakeLauncher(make_record()),
    )
    interrupted(here, epochs=3, workers=2, launcher="ray")
    words = {
        "resume": ("last",),
        "train": (
            "mnist-cnn",
            "--device",
            "cpu",
            "--epochs",
            "3",
            "--workers",
            "2",
            "--ray",
            "--resume",
            "auto",
        ),
    }[command]

    assert steptime(command, *words, "--cpus-per-worker", "3", "--spread").code == 0

    assert [(item.cpus, item.spread) for item in given] == [(3.0, True)]


def test_an_interrupted_run_says_how_to_go_on(
    steptime: Any, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = interrupted(here)
    again = FakeLauncher(make_record(outcome=STOPPED))
    monkeypatch.setattr("steptime.launch.process.ProcessLauncher", lambda: again)

    answer = steptime("resume", "last")

    assert answer.code == 130
    assert answer.err.rstrip().endswith(f"go on with: steptime resume {folder.relative_to(here)}")
