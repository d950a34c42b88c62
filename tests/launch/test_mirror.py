"""A run folder that is kept elsewhere, too."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steptime.errors import RecordError
from steptime.launch.mirror import ChangedFiles, write_copies

names = st.text("abc", min_size=1, max_size=3)
paths = st.lists(names, min_size=1, max_size=3).map("/".join)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    there, here = tmp_path / "there", tmp_path / "here"
    there.mkdir()
    here.mkdir()
    return there, here


def test_only_what_changed_is_taken(folders: tuple[Path, Path]) -> None:
    there, _ = folders
    changed = ChangedFiles(there, but=("plan.json",))
    (there / "plan.json").write_text("{}")
    (there / "tb").mkdir()
    (there / "tb" / "events").write_text("1")
    (there / ".part-run.json").write_text("half")

    assert changed.take() == {"tb/events": b"1"}
    assert changed.take() == {}
    with (there / "tb" / "events").open("a") as file:
        file.write("2")
    assert changed.take() == {"tb/events": b"12"}


def test_a_file_that_was_removed_is_removed_here_too(folders: tuple[Path, Path]) -> None:
    there, here = folders
    changed = ChangedFiles(there)
    (there / "old").write_text("1")
    write_copies(here, changed.take())
    (there / "old").unlink()
    (there / "new").write_text("2")
    write_copies(here, changed.take())

    assert {path.name for path in here.iterdir()} == {"new"}
    assert changed.take() == {}


def test_a_file_that_goes_away_in_between_is_passed_over(
    folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    there, _ = folders
    (there / "a").write_text("a")
    (there / "b").write_text("b")
    read = Path.read_bytes

    def vanishing(path: Path) -> bytes:
        if path.name == "a":
            path.unlink()
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", vanishing)

    assert ChangedFiles(there).take() == {"b": b"b"}


@given(contents=st.dictionaries(names, st.binary(max_size=20), max_size=5))
def test_copies_equal_their_originals(
    contents: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    there, here = tmp_path_factory.mktemp("there"), tmp_path_factory.mktemp("here")
    for name, content in contents.items():
        (there / name).write_bytes(content)
    write_copies(here, ChangedFiles(there).take())

    assert {path.name: path.read_bytes() for path in here.iterdir()} == contents


def test_the_record_is_written_last(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    _, here = folders
    order: list[str] = []
    replace = Path.replace

    def noted(path: Path, target: Path) -> Path:
        order.append(target.name)
        return replace(path, target)

    monkeypatch.setattr(Path, "replace", noted)
    write_copies(here, {"run.json": b"{}", "steps.npz": b"", "a": b""})

    assert order[-1] == "run.json"


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x"])
def test_a_path_out_of_the_folder_is_refused(folders: tuple[Path, Path], name: str) -> None:
    with pytest.raises(RecordError, match="must lie in its folder"):
        write_copies(folders[1], {name: b""})
