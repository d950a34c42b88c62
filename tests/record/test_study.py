"""Study folders, and runs as they lie in them."""

import datetime
from pathlib import Path

import numpy as np
import pytest

from steptime.errors import RecordError, UsageError
from steptime.plan.arm import parse_arm
from steptime.record.store import create_run_folder, list_runs, write_record
from steptime.record.stored import read_run
from steptime.record.study import Study, StudyRun, create_study_folder, read_study, run_folders, write_study
from steptime.testing import make_plan, make_record

NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
STUDY = Study(
    arms=(parse_arm("cpu,loop=keras"), parse_arm("cpu")),
    baseline="cpu",
    command=("steptime", "compare"),
    runs=(
        StudyRun(arm="cpu", folder="a"),
        StudyRun(arm="cpu loop=keras", folder="b"),
        StudyRun(arm="cpu", folder="c"),
    ),
    target="val_accuracy >= 0.98",
)


def test_a_study_can_be_read_as_it_was_written(tmp_path: Path) -> None:
    write_study(tmp_path, STUDY)

    assert read_study(tmp_path) == STUDY


def test_the_runs_of_an_arm_are_found(tmp_path: Path) -> None:
    assert run_folders(tmp_path, STUDY, "cpu") == (tmp_path / "a", tmp_path / "c")


def test_two_studies_of_one_second_get_two_folders(tmp_path: Path) -> None:
    folders = [create_study_folder(tmp_path, "compare", NOW) for _ in range(2)]

    assert [folder.name for folder in folders] == ["compare-20260102-030405", "compare-20260102-030405-2"]


def test_a_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(UsageError, match="writable"):
        create_study_folder(tmp_path / "file", "compare")


def test_a_study_is_no_run(tmp_path: Path) -> None:
    folder = create_study_folder(tmp_path, "compare")
    write_study(folder, STUDY)

    assert list_runs(tmp_path) == ()


def test_a_run_that_left_no_record_counts_as_failed(tmp_path: Path) -> None:
    folder = create_run_folder(tmp_path, "study", make_plan())

    run = read_run(folder)

    assert run.record.outcome.status == "failed"
    assert "no record" in str(run.record.outcome.reason)


def test_a_folder_without_any_run_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RecordError):
        read_run(tmp_path)


def test_a_run_is_read_with_its_series(tmp_path: Path) -> None:
    write_record(tmp_path, make_record())
    np.savez(tmp_path / "steps.npz", steps=np.arange(3))

    run = read_run(tmp_path)

    assert run.steps["steps"].tolist() == [0, 1, 2]
    assert run.devices == {}


def test_a_damaged_series_is_a_clear_error(tmp_path: Path) -> None:
    write_record(tmp_path, make_record())
    (tmp_path / "steps.npz").write_bytes(b"PK\x03\x04 this is no archive")

    with pytest.raises(RecordError, match=r"steps\.npz"):
        read_run(tmp_path)
