"""``steptime show``."""

import json
from pathlib import Path
from typing import Any

import pytest

from steptime.plan.codec import from_json
from steptime.record.schema import RunRecord
from steptime.record.store import create_run_folder, write_record
from steptime.testing import make_plan, make_record


@pytest.fixture
def folder(here: Path) -> Path:
    made = create_run_folder(here / "runs", "train", make_plan(name="good"))
    write_record(made, make_record(run_id=made.name))
    return made


@pytest.mark.parametrize("name", ["last", "good", "runs/train/"])
def test_a_run_is_printed_as_a_page(steptime: Any, folder: Path, name: str) -> None:
    code, out, err = steptime("show", name if "/" not in name else name + folder.name)

    assert (code, err) == (0, "")
    assert out.startswith(folder.name)


def test_json_is_the_record(steptime: Any, folder: Path) -> None:
    out = steptime("show", "last", "--json").out

    assert from_json(RunRecord, json.loads(out)) == make_record(run_id=folder.name)


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("{", "must be readable JSON. Expecting property name"),
        ("{}", "must hold a schema_version. Received: None"),
        ('{"schema_version": 9}', "or older. Received: 9"),
    ],
)
def test_a_record_that_cannot_be_read_is_an_error_and_a_hint(
    steptime: Any, folder: Path, content: str, error: str
) -> None:
    (folder / "run.json").write_text(content)
    code, out, err = steptime("show", "last")
    first, second = err.splitlines()

    assert (code, out) == (2, "")
    assert first.startswith("error: ")
    assert error in first
    assert second.startswith("hint: ")


@pytest.mark.parametrize("name", ["nothing", "x" * 5000])
def test_an_unknown_run_is_an_error_and_a_hint(steptime: Any, name: str) -> None:
    code, out, err = steptime("show", name)

    assert (code, out, len(err.splitlines())) == (2, "", 2)
