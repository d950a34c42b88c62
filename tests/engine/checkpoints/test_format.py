"""The files of a checkpoint: whole or refused, whatever somebody did to them."""

import hashlib
import json
import os
import shutil
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steptime.engine.checkpoints import format as files
from steptime.errors import RecordError

ml_dtypes = pytest.importorskip("ml_dtypes")

ARRAYS = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array(7, np.int64),
    np.array([1.5, -2.0], ml_dtypes.bfloat16),
    np.array(["graph", "xla"]),
    np.zeros((0, 3), np.uint8),
    np.array([True, False]),
]
STATE = {"position": {"epoch": 1}, "text": "ä"}


def write(folder: Path, sequence: int = 1, **changes: Any) -> Path:
    name = files.name_of(sequence, 0, 5)
    files.write(folder, name, changes.get("arrays", ARRAYS), changes.get("state", STATE))
    return folder / name


def forge(path: Path, **changes: Any) -> None:
    """Make a manifest that agrees with whatever lies there: hashes alone prove no good will."""
    content = json.loads((path / files.MANIFEST).read_text())["content"]
    for name in content["files"]:
        blob = (path / name).read_bytes()
        content["files"][name] = {"bytes": len(blob), "sha256": hashlib.sha256(blob).hexdigest()}
    content |= changes
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    (path / files.MANIFEST).write_text(json.dumps({"sha256": digest, "content": content}))


def test_arrays_of_every_kind_come_back_to_the_bit(tmp_path: Path) -> None:
    stored = files.read(write(tmp_path))

    assert stored.state == STATE
    assert stored.sequence == 1
    assert not stored.has_iterator
    for kept, array in zip(stored.arrays, ARRAYS, strict=True):
        assert (kept.dtype, kept.shape, kept.tobytes()) == (array.dtype, array.shape, array.tobytes())


def test_the_arrays_are_opened_by_numpy_alone(tmp_path: Path) -> None:
    with np.load(write(tmp_path) / files.VARIABLES, allow_pickle=False) as content:
        assert content["v0"].tolist() == ARRAYS[0].tolist()


def test_objects_are_never_written_and_leave_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="objects"):
        write(tmp_path, arrays=[np.array([object()])])

    assert list(tmp_path.iterdir()) == []


def test_the_newest_whole_one_is_used_and_each_torn_one_is_named(tmp_path: Path) -> None:
    for sequence in (1, 2, 3):
        write(tmp_path, sequence)
    torn = tmp_path / files.name_of(3, 0, 5) / files.VARIABLES
    torn.write_bytes(torn.read_bytes()[:-20])

    stored, problems = files.newest_whole(tmp_path)

    assert stored is not None
    assert stored.sequence == 2
    assert len(problems) == 1
    assert "000003-epoch1-step5" in problems[0]
    assert "variables.npz" in problems[0]


def test_without_any_there_is_none_and_nothing_is_wrong(tmp_path: Path) -> None:
    assert files.newest_whole(tmp_path / "missing") == (None, ())


@pytest.mark.slow
@pytest.mark.parametrize("name", [files.VARIABLES, files.STATE, files.MANIFEST])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_altered_file_is_ever_taken_for_whole(tmp_path: Path, name: str, data: st.DataObject) -> None:
    shutil.rmtree(tmp_path, ignore_errors=True)
    tmp_path.mkdir()
    path = write(tmp_path)
    blob = bytearray((path / name).read_bytes())
    if data.draw(st.booleans()):
        index = data.draw(st.integers(0, len(blob) - 1))
        blob[index] ^= 1 << data.draw(st.integers(0, 7))
    else:
        blob = blob[: data.draw(st.integers(0, len(blob) - 1))]
    (path / name).write_bytes(blob)

    try:
        stored = files.read(path)
    except RecordError:
        return
    # A blank of the manifest became another blank.
    assert name == files.MANIFEST
    assert stored.state == STATE


@pytest.mark.parametrize("name", [files.VARIABLES, files.STATE, files.MANIFEST])
def test_a_missing_file_or_a_link_in_its_place_is_refused(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "checkpoints")
    outside = tmp_path / "outside"
    (path / name).rename(outside)
    with pytest.raises(RecordError, match=name):
        files.read(path)

    (path / name).symlink_to(outside)
    with pytest.raises(RecordError, match="link"):
        files.read(path)
    assert outside.exists()


def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    path = write(tmp_path)
    (path / files.STATE).unlink()
    os.mkfifo(path / files.STATE)

    with pytest.raises(RecordError, match="plain file"):
        files.read(path)


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "state.json/../../outside", "extra.npz"])
def test_a_manifest_that_names_other_files_is_refused(tmp_path: Path, name: str) -> None:
    path = write(tmp_path)
    content = json.loads((path / files.MANIFEST).read_text())["content"]
    forge(path, files={**content["files"], name: {"bytes": 1, "sha256": "0" * 64}})

    with pytest.raises(RecordError, match="manifest"):
        files.read(path)


@pytest.mark.parametrize(
    "arrays",
    [
        [["<f4", [2**40, 2**20]]],
        [["<f4", [10**30]]],
        [["|O", [2, 3]]],
        [["<f4", [-1]]],
        [["nonsense", [2, 3]]],
        [["<f4", "2"]],
        [7],
        [["<f4", [2, 3]]] * 50,
    ],
)
def test_declared_sizes_are_compared_with_what_is_there_before_memory_is_asked_for(
    tmp_path: Path, arrays: Any
) -> None:
    path = write(tmp_path)
    forge(path, arrays=arrays)

    with pytest.raises(RecordError, match="not whole"):
        files.read(path)


def test_a_foreign_archive_with_right_hashes_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, arrays=ARRAYS[:1])
    for method, content in (
        (zipfile.ZIP_DEFLATED, b"\0" * 10**6),
        (zipfile.ZIP_STORED, b"\x93NUMPY\x01\x00\xff\xff"),
        (zipfile.ZIP_STORED, b"no array"),
    ):
        with zipfile.ZipFile(path / files.VARIABLES, "w", method) as archive:
            archive.writestr("v0.npy", content)
        forge(path)
        with pytest.raises(RecordError, match="not whole"):
            files.read(path)


@pytest.mark.parametrize("state", ["[" * 100_000, "7", "", "{", "NaN"])
def test_a_foreign_state_with_right_hashes_is_refused(tmp_path: Path, state: str) -> None:
    path = write(tmp_path)
    (path / files.STATE).write_text(state)
    forge(path)

    with pytest.raises(RecordError, match="not whole"):
        files.read(path)


def test_a_format_from_the_future_is_refused_by_its_number(tmp_path: Path) -> None:
    path = write(tmp_path)
    forge(path, format=99)

    with pytest.raises(RecordError, match="99"):
        files.read(path)


def test_links_and_other_names_are_no_checkpoints_and_are_never_removed(tmp_path: Path) -> None:
    outside = write(tmp_path / "elsewhere")
    folder = tmp_path / "checkpoints"
    kept = write(folder, 2)
    (folder / files.name_of(3, 0, 0)).symlink_to(outside, target_is_directory=True)
    (folder / f"{files.PART}1-link").symlink_to(outside.parent, target_is_directory=True)
    (folder / "mine").mkdir()
    (folder / f"{files.PART}1-{files.name_of(9, 0, 0)}").mkdir()

    assert files.listed(folder) == [kept]
    files.remove_parts(folder)

    assert files.read(outside).state == STATE
    assert sorted(p.name for p in folder.iterdir()) == [
        ".part-1-link",
        kept.name,
        files.name_of(3, 0, 0),
        "mine",
    ]


def test_what_is_being_removed_does_not_count_any_more(tmp_path: Path) -> None:
    path = write(tmp_path)

    files.remove(path)

    assert list(tmp_path.iterdir()) == []
