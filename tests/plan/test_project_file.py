"""steptime.toml."""

from pathlib import Path

import pytest

from steptime.errors import UsageError
from steptime.plan.project_file import find_project_file, read_project_settings
from steptime.plan.settings import Settings, change


def write(folder: Path, text: str) -> Path:
    path = folder / "steptime.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_nearest_file_above_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    far = write(tmp_path, "")

    assert find_project_file(inner) == far
    near = write(tmp_path / "a", "")
    assert find_project_file(inner) == near


def test_the_settings_table_gives_typed_values(tmp_path: Path) -> None:
    path = write(tmp_path, '[settings]\nbatch_size = 64\nlearning_rate = 1\ndevice = "cpu"\ntf32 = false\n')
    settings = change(Settings(), read_project_settings(path), str(path))

    assert (settings.batch_size, settings.learning_rate, settings.device, settings.tf32) == (
        64,
        1,
        "cpu",
        False,
    )


def test_a_file_without_settings_changes_nothing(tmp_path: Path) -> None:
    assert read_project_settings(write(tmp_path, "# nothing\n")) == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[settings\n", "must be readable TOML"),
        ("[setting]\nseed = 1\n", r"must hold one table, \[settings\]\. Received: setting"),
        ("seed = 1\n", r"must hold one table, \[settings\]\. Received: seed"),
        ("settings = 3\n", r"must hold one table, \[settings\]\. Received: a value"),
    ],
)
def test_another_shape_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_project_settings(write(tmp_path, text))


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "steptime.toml"
    path.write_bytes(b"\xff\xfe\x00")

    with pytest.raises(UsageError, match="must be readable TOML"):
        read_project_settings(path)
