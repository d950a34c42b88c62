"""Run folders and what is found in them."""

import datetime
import errno
import json
import os
import re
from pathlib import Path

import pytest

from steptime.errors import RecordError, UsageError
from steptime.record import store
from steptime.record.events import EventWriter
from steptime.testing import make_plan, make_record

NOON = datetime.datetime(2026, 1, 2, 12, 0, 0, tzinfo=datetime.UTC)


def made(runs: Path, name: str | None = None, *, record: bool = True) -> Path:
    """A run folder, with a record unless told otherwise."""
    folder = store.create_run_folder(runs, "train", make_plan(name=name), NOON)
    if record:
        store.write_record(folder, make_record(run_id=folder.name))
    return folder


def test_a_folder_is_named_by_time_and_workload_and_holds_the_plan(tmp_path: Path) -> None:
    plan = make_plan(epochs=3)
    folder = store.create_run_folder(tmp_path / "runs", "study", plan, NOON)

    assert folder == tmp_path / "runs" / "study" / "20260102-120000-mnist-cnn"
    assert store.read_plan(folder) == (plan, "2026-01-02T12:00:00Z")


def test_runs_of_the_same_second_get_folders_of_their_own(tmp_path: Path) -> None:
    names = [made(tmp_path, "a").name for _ in range(3)]

    assert names == ["20260102-120000-a", "20260102-120000-a-2", "20260102-120000-a-3"]


@pytest.mark.parametrize(
    ("name", "end"), [("我的 模型", "我的-模型"), ("x" * 300, "x" * 64), ("a/b\n", "a-b-")]
)
def test_a_workload_of_any_name_makes_one_folder(tmp_path: Path, name: str, end: str) -> None:
    import dataclasses

    plan = make_plan()
    plan = dataclasses.replace(plan, workload=dataclasses.replace(plan.workload, name=name))
    folder = store.create_run_folder(tmp_path, "train", plan, NOON)

    assert folder.name == f"20260102-120000-{end}"
    assert folder.parent == tmp_path / "train"


def test_a_folder_that_cannot_be_made_is_wrong_use(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(
        UsageError, match=r"The run folder must be writable\. Received: '.*' \(Not a directory\)"
    ):
        store.create_run_folder(tmp_path / "file" / "runs", "train", make_plan())


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_wrong_use(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    with pytest.raises(UsageError, match="Permission denied"):
        store.create_run_folder(tmp_path / "runs", "train", make_plan())


def test_a_full_disk_is_wrong_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match="No space left on device") as caught:
        store.create_run_folder(tmp_path, "train", make_plan())

    assert "--runs DIR" in caught.value.hint


def test_a_run_is_found_by_id_by_its_end_by_path_and_as_the_last(tmp_path: Path) -> None:
    first, second = made(tmp_path, "a"), made(tmp_path, "b")

    assert store.find_run(tmp_path, first.name) == first
    assert store.find_run(tmp_path, "-b") == second
    assert store.find_run(tmp_path, str(first)) == first
    assert store.find_run(tmp_path, "last") == second


def test_an_exact_id_wins_over_ids_that_end_alike(tmp_path: Path) -> None:
    made(tmp_path, "a")
    folder = tmp_path / "train" / "a"
    (tmp_path / "train" / "20260102-120000-a").rename(folder)
    made(tmp_path, "other-a")

    assert store.find_run(tmp_path, "a") == folder


def test_an_ambiguous_end_names_what_it_fits(tmp_path: Path) -> None:
    made(tmp_path, "one-a"), made(tmp_path, "two-a")

    with pytest.raises(RecordError, match=r"'a' fits: 20260102-120000-one-a, 20260102-120000-two-a"):
        store.find_run(tmp_path, "a")


def test_an_unknown_run_names_a_near_one(tmp_path: Path) -> None:
    made(tmp_path, "a")

    with pytest.raises(RecordError, match="Received: '20260102-120000-b'") as caught:
        store.find_run(tmp_path, "20260102-120000-b")
    assert caught.value.hint == "Did you mean '20260102-120000-a'?"


@pytest.mark.parametrize("text", ["last", "x", ""])
def test_without_runs_nothing_is_found(tmp_path: Path, text: str) -> None:
    with pytest.raises(RecordError, match="must exist below") as caught:
        store.find_run(tmp_path / "none", text or "y")
    assert "steptime runs" in caught.value.hint


def test_a_run_without_record_says_where_it_is(tmp_path: Path) -> None:
    folder = made(tmp_path, record=False)
    writer = EventWriter(folder)
    writer.write("phase", name="build")
    writer.close()

    (summary,) = store.list_runs(tmp_path)
    assert (summary.record, summary.state) == (None, "no record (last phase: build)")
    with pytest.raises(RecordError, match="the run did not end, or is still going on") as caught:
        store.read_record(folder)
    assert "worker.log" in caught.value.hint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be readable JSON"),
        (b'{"schema_version": 1', "must be readable JSON"),
        (b"\xff\xfe", "must be readable JSON"),
        (b"[" * 100_000, "must be readable JSON"),
        (b"[]", "must hold a JSON object"),
        (b"{}", r"must hold a schema_version\. Received: None"),
        (b'{"schema_version": "1"}', r"must hold a schema_version\. Received: '1'"),
        (b'{"schema_version": 1}', "must be the keys"),
        (b'{"schema_version": 99, "new": 1}', r"must have schema version \d+ or older\. Received: 99"),
    ],
)
def test_a_damaged_or_newer_record_is_refused_and_does_not_hide_the_others(
    tmp_path: Path, content: bytes, message: str
) -> None:
    folder, good = made(tmp_path, "a"), made(tmp_path, "b")
    (folder / store.RECORD_FILE).write_bytes(content)

    with pytest.raises(RecordError, match=message):
        store.read_record(folder)
    damaged, whole = store.list_runs(tmp_path)
    assert damaged.record is None
    assert re.match(rf"unreadable: .*{message}", damaged.state)
    assert (whole.folder, whole.state) == (good, "ok")


def test_a_record_with_a_setting_outside_its_limits_is_damaged(tmp_path: Path) -> None:
    folder = made(tmp_path)
    content = json.loads((folder / store.RECORD_FILE).read_text())
    content["plan"]["settings"]["epochs"] = 0
    (folder / store.RECORD_FILE).write_text(json.dumps(content))

    assert store.list_runs(tmp_path)[0].state.startswith("unreadable: ")


def test_a_folder_without_plan_is_no_run(tmp_path: Path) -> None:
    (tmp_path / "train" / "x").mkdir(parents=True)
    (tmp_path / "file").write_text("")

    assert store.list_runs(tmp_path) == ()
    assert store.list_runs(tmp_path / "file") == ()
    with pytest.raises(RecordError, match=r"plan\.json must exist"):
        store.read_plan(tmp_path / "train" / "x")
