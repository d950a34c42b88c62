"""Run folders that are copied to an address."""

from pathlib import Path

import pytest

fsspec = pytest.importorskip("fsspec")
pytest.importorskip("pyarrow")

from steptime.errors import UsageError  # noqa: E402 - below what may skip this file
from steptime.launch.storage import open_storage  # noqa: E402


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "runs" / "train" / "a-run"
    (made / "workers" / "1").mkdir(parents=True)
    (made / "run.json").write_text("{}")
    (made / "workers" / "1" / "run.json").write_text("{1}")
    return made


@pytest.mark.parametrize("form", ["{}", "file://{}", "{}/"])
def test_a_folder_of_this_machine_takes_the_whole_run(folder: Path, tmp_path: Path, form: str) -> None:
    place = tmp_path / "new" / "place"
    kept = open_storage(form.format(place)).keep(folder)

    assert kept.endswith("place/train/a-run")
    assert (place / "train" / "a-run" / "workers" / "1" / "run.json").read_text() == "{1}"
    assert [path.name for path in place.iterdir()] == ["train"]


def test_what_fsspec_knows_is_taken_too(folder: Path) -> None:
    kept = open_storage("memory://bucket/runs").keep(folder)

    assert kept == "memory://bucket/runs/train/a-run"
    assert fsspec.filesystem("memory").cat("/bucket/runs/train/a-run/run.json") == b"{}"


@pytest.mark.parametrize("address", ["nothing://x/y", "file:///proc/nowhere", "/proc/nowhere"])
def test_an_address_that_cannot_be_written_is_known_before_the_training(address: str) -> None:
    with pytest.raises(UsageError, match="must be an address that can be written"):
        open_storage(address)
