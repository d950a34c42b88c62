"""``steptime runs``."""

import json
from pathlib import Path
from typing import Any

from steptime.record.store import create_run_folder, write_record
from steptime.testing import make_plan, make_record


def test_no_runs_is_not_an_error(steptime: Any) -> None:
    assert steptime("runs") == (0, "", "no runs below 'runs' yet; `steptime train` makes one\n")
    code, out, _ = steptime("runs", "--json")
    assert (code, json.loads(out)) == (0, [])


def test_each_run_is_a_line_and_json_holds_the_records(steptime: Any, here: Path) -> None:
    folder = create_run_folder(here / "runs", "train", make_plan(name="good"))
    write_record(folder, make_record(run_id=folder.name))
    create_run_folder(here / "runs", "train", make_plan(name="going-on"))
    (create_run_folder(here / "runs", "train", make_plan(name="broken")) / "run.json").write_text("{")

    code, out, err = steptime("runs")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) >= 4
    assert "no record (last phase: start)" in out
    assert "unreadable" in out
    records = json.loads(steptime("runs", "--json").out)
    assert [record["run_id"] for record in records] == [folder.name]
