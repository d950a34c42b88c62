"""The callbacks a workload brings, and what they may do where a job is only profiled."""

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow
keras = pytest.importorskip("keras")

from steptime.errors import UsageError  # noqa: E402
from steptime.plan.workload import Workload  # noqa: E402
from steptime.worker.own_callbacks import harmless, own_callbacks, saves_model  # noqa: E402

WORKLOAD = Workload(name="job", kind="file", target="job.py")


def module(**functions: Any) -> ModuleType:
    made = ModuleType("job")
    vars(made).update(functions)
    return made


def test_a_workload_without_callbacks_has_none() -> None:
    assert own_callbacks(module(), WORKLOAD) == []


def test_one_callback_or_a_list_of_them_is_taken() -> None:
    history = keras.callbacks.History()

    assert own_callbacks(module(create_callbacks=lambda: history), WORKLOAD) == [history]
    assert own_callbacks(module(create_callbacks=lambda: [history]), WORKLOAD) == [history]


@pytest.mark.parametrize("returned", [None, "early stopping", [1]])
def test_anything_else_is_refused(returned: Any) -> None:
    with pytest.raises(UsageError, match="list of Keras callbacks"):
        own_callbacks(module(create_callbacks=lambda: returned), WORKLOAD)


def test_a_profile_writes_over_no_file_of_a_person(tmp_path: Path) -> None:
    best = tmp_path / "best.keras"
    checkpoint = keras.callbacks.ModelCheckpoint(str(best))
    log = keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))

    harmless([checkpoint, log], tmp_path / "elsewhere")

    assert checkpoint.filepath == str(tmp_path / "elsewhere" / "best.keras")
    assert log.filename == str(tmp_path / "elsewhere" / "log.csv")


def test_what_would_restore_and_delete_a_backup_is_left_out_with_a_reason(tmp_path: Path) -> None:
    backup = keras.callbacks.BackupAndRestore(str(tmp_path / "backup"))

    kept, left_out = harmless([backup], tmp_path / "elsewhere")

    assert kept == []
    assert "backup" in left_out["callbacks.BackupAndRestore"]


def test_a_callback_that_saves_is_known_by_its_class_or_its_code() -> None:
    class Own(keras.callbacks.Callback):  # type: ignore[misc]
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.model.save("m.keras")

    assert saves_model(keras.callbacks.ModelCheckpoint("m.keras"))
    assert saves_model(Own())
    assert not saves_model(keras.callbacks.EarlyStopping())
