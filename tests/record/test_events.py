"""The worker's diary."""

import os
from pathlib import Path

import pytest

from steptime.record.events import FILE_NAME, LAUNCH, EventReader, EventWriter, last_phase, read_events


def test_what_is_written_is_read_in_order_and_once(tmp_path: Path) -> None:
    writer, reader = EventWriter(tmp_path), EventReader(tmp_path)
    writer.write("phase", name="import", words="importing TensorFlow")
    first = list(reader.new())
    writer.write("note", text="模型 " + os.fsdecode(b"\xff"))
    second = list(reader.new())
    writer.close()

    assert [(event["kind"], event.get("name")) for event in first] == [("phase", "import")]
    assert [event["text"] for event in second] == ["模型 \udcff"]
    assert list(reader.new()) == []
    assert first[0]["t_ns"] < second[0]["t_ns"]


def test_a_line_that_is_still_being_written_waits(tmp_path: Path) -> None:
    path, reader = tmp_path / FILE_NAME, EventReader(tmp_path)
    path.write_bytes(b'{"kind": "note", "te')

    assert list(reader.new()) == []
    with path.open("ab") as file:
        file.write(b'xt": "whole"}\n{"kind"')
    assert [event["text"] for event in reader.new()] == ["whole"]


def test_a_folder_without_events_has_none(tmp_path: Path) -> None:
    assert read_events(tmp_path) == ()
    assert last_phase(tmp_path) == "start"


def test_the_last_phase_is_that_of_the_worker_started_last(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)
    writer.write("phase", name="train")
    writer.write(LAUNCH)
    writer.close()

    assert last_phase(tmp_path) == "start"


@pytest.mark.parametrize(
    "garbage", [b"\xff\xfe", b"[1]", b"{}", b"null", b"", b"{", b"[" * 100_000, b'{"kind": "phase"}']
)
def test_garbage_is_passed_over(tmp_path: Path, garbage: bytes) -> None:
    lines = [b'{"kind": "phase", "name": "data"}', garbage, b'{"kind": "note"}', b""]
    (tmp_path / FILE_NAME).write_bytes(b"\n".join(lines))

    assert {"data", None} >= {event.get("name") for event in read_events(tmp_path)}
    assert read_events(tmp_path)[-1] == {"kind": "note"}
    assert last_phase(tmp_path) == "data"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_loses_events_and_raises_nothing(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).symlink_to("/dev/full")
    writer = EventWriter(tmp_path)

    writer.write("note", text="lost")
    writer.close()


def test_an_event_after_one_that_was_cut_short_is_read_whole(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)

    class HalfFull:
        def write(self, content: bytes) -> int:
            return file.write(content[: len(content) // 2])

    file = writer._file
    writer._file = HalfFull()  # type: ignore[assignment]
    writer.write("note", text="cut")
    writer._file = file
    writer.write("note", text="whole")
    writer.close()

    assert [event["text"] for event in read_events(tmp_path)] == ["whole"]


def test_a_reader_may_begin_at_the_end(tmp_path: Path) -> None:
    writer = EventWriter(tmp_path)
    writer.write("note", text="before")
    reader = EventReader(tmp_path, from_end=True)
    writer.write("note", text="after")
    writer.close()

    assert [event["text"] for event in reader.new()] == ["after"]
