"""Who writes, when several processes train."""

from pathlib import Path

import keras
import pytest

from steptime.engine.distribution.callbacks import RestoreOnly, of_follower

pytestmark = pytest.mark.tensorflow


def test_only_the_chief_writes(tmp_path: Path) -> None:
    kept = [keras.callbacks.EarlyStopping(), keras.callbacks.ReduceLROnPlateau(), keras.callbacks.Callback()]
    writers = [
        keras.callbacks.CSVLogger(str(tmp_path / "a.csv")),
        keras.callbacks.TensorBoard(str(tmp_path)),
        keras.callbacks.ModelCheckpoint(str(tmp_path / "m.keras")),
        keras.callbacks.ProgbarLogger(),
    ]
    assert of_follower([*writers[:2], *kept, *writers[2:]]) == kept


@pytest.mark.parametrize("nothing", [None, [], ()])
def test_no_callbacks_are_none(nothing: object) -> None:
    assert of_follower(nothing) == []


def test_one_callback_without_a_list_is_taken() -> None:
    stopping = keras.callbacks.EarlyStopping()
    assert of_follower(stopping) == [stopping]


def test_a_backup_is_read_and_not_written(tmp_path: Path) -> None:
    (reader,) = of_follower([keras.callbacks.BackupAndRestore(str(tmp_path / "backup"))])
    assert isinstance(reader, RestoreOnly)
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    reader.set_model(model)
    reader.on_train_begin()
    reader.on_epoch_end(0, {})
    reader.on_train_end()
    assert not list(tmp_path.iterdir())
