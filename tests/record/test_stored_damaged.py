"""Whatever lies in a run's folder: it is read or refused in a sentence, and nothing else happens."""

import contextlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steptime.errors import RecordError
from steptime.record.events import read_events
from steptime.record.files import read_arrays
from steptime.record.store import PLAN_FILE, RECORD_FILE, STEPS_FILE, create_run_folder, list_runs, read_plan
from steptime.record.stored import read_run
from steptime.testing import FakeLauncher, make_plan, make_run

pytestmark = pytest.mark.slow

NAMES = (PLAN_FILE, RECORD_FILE, STEPS_FILE)


def a_run(folder: Path) -> Path:
    plan = make_plan(epochs=2)
    run = create_run_folder(folder, "train", plan)
    FakeLauncher(make_run(blocks=4)).launch(plan, run, lambda event: None)
    return run


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_flipped_or_cut_file_is_read_or_refused(tmp_path: Path, name: str, data: st.DataObject) -> None:
    shutil.rmtree(tmp_path, ignore_errors=True)
    run = a_run(tmp_path / "runs")
    blob = bytearray((run / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        blob[data.draw(st.integers(0, len(blob) - 1))] = data.draw(st.integers(0, 255))
    (run / name).write_bytes(blob[: data.draw(st.integers(0, len(blob)))])

    list_runs(tmp_path / "runs")
    for read in (read_run, read_plan):
        with contextlib.suppress(RecordError):
            read(run)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 100, b"PK\x03\x04", b"[" * 200_000, b"{}", b"[]", b"NaN", b"\x93NUMPY", b"9" * 10_000],
)
def test_a_foreign_file_is_refused(tmp_path: Path, name: str, content: bytes) -> None:
    run = a_run(tmp_path)
    (run / name).write_bytes(content)

    with pytest.raises(RecordError):
        (read_plan if name == PLAN_FILE else read_run)(run)


def npz(write: Callable[[zipfile.ZipFile], None], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        write(archive)
    return buffer.getvalue()


def header(shape: Any, descr: str = "<f8") -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": descr, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        npz(lambda a: a.writestr("steps.npy", header((10**12,)))),
        npz(lambda a: a.writestr("steps.npy", header((2**62, 2**62)))),
        npz(lambda a: a.writestr("steps.npy", header((1,), "|O") + b"\x80\x04.")),
        npz(lambda a: a.writestr("steps.npy", b"no array")),
        npz(lambda a: a.writestr("../../outside.npy", header((4,)))),
    ],
)
def test_an_archive_that_declares_what_it_does_not_hold_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / STEPS_FILE).write_bytes(content)

    with pytest.raises(RecordError, match="readable"):
        read_arrays(tmp_path / STEPS_FILE)
    assert [path.name for path in tmp_path.iterdir()] == [STEPS_FILE]


def test_events_that_are_cut_or_foreign_are_passed_over(tmp_path: Path) -> None:
    good = json.dumps({"t_ns": 1, "kind": "note", "text": "a"}).encode()
    (tmp_path / "events.jsonl").write_bytes(b"\xff\xfe\n" + b"[" * 100_000 + b"\n" + good + b"\n[1]\n" + good)

    assert [event["text"] for event in read_events(tmp_path)] == ["a"]
