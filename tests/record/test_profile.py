"""profile.json: what was measured of a job, readable by any program."""

import json
from pathlib import Path

import pytest

from steptime.errors import RecordError
from steptime.record.ceilings import CEILINGS_FILE, read_ceilings, write_ceilings
from steptime.record.operations import OPERATIONS_FILE, read_operations, write_operations
from steptime.record.profile import PROFILE_FILE, read_profile, write_profile
from steptime.testing import make_ceilings, make_operations, make_profile


def test_a_profile_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_profile(tmp_path, make_profile())

    assert read_profile(tmp_path) == make_profile()
    assert json.loads((tmp_path / PROFILE_FILE).read_text())["timings"]["as_is"]["batch_size"] == 32


def test_operations_come_back_as_they_were_written(tmp_path: Path) -> None:
    write_operations(tmp_path, make_operations())

    assert read_operations(tmp_path) == make_operations()


def test_ceilings_come_back_as_they_were_written(tmp_path: Path) -> None:
    write_ceilings(tmp_path / CEILINGS_FILE, make_ceilings())

    assert read_ceilings(tmp_path / CEILINGS_FILE) == make_ceilings()


def test_a_run_that_was_not_profiled_has_none_of_them(tmp_path: Path) -> None:
    assert read_profile(tmp_path) is None
    assert read_operations(tmp_path) is None
    assert read_ceilings(tmp_path / CEILINGS_FILE) is None


@pytest.mark.parametrize("version", [None, 0, 99, "1"])
def test_another_schema_is_refused_by_name(tmp_path: Path, version: object) -> None:
    for name in (PROFILE_FILE, OPERATIONS_FILE):
        (tmp_path / name).write_text(json.dumps({"schema_version": version}))

    with pytest.raises(RecordError, match="schema_version"):
        read_profile(tmp_path)
    with pytest.raises(RecordError, match="schema_version"):
        read_operations(tmp_path)


def test_a_damaged_profile_is_refused(tmp_path: Path) -> None:
    write_profile(tmp_path, make_profile())
    content = json.loads((tmp_path / PROFILE_FILE).read_text())
    del content["timings"]
    (tmp_path / PROFILE_FILE).write_text(json.dumps(content))

    with pytest.raises(RecordError, match="timings"):
        read_profile(tmp_path)
