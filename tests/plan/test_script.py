"""What a script is, and which settings may be given for it."""

from pathlib import Path

import pytest

from steptime.errors import UsageError
from steptime.plan.codec import from_json, to_json
from steptime.plan.script import SCRIPT_SETTINGS, check_script_settings, keep_script_settings, parse_script
from steptime.plan.settings import Settings
from steptime.plan.workload import Workload


def test_a_script_is_a_workload_with_its_own_arguments(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("this is not even Python", encoding="utf-8")  # Python itself will say so

    workload = parse_script(str(path), ("--epochs", "5", "data/"))

    assert (workload.name, workload.kind, workload.target) == ("train", "script", str(path))
    assert from_json(Workload, to_json(workload)) == workload


def test_a_missing_script_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()

    with pytest.raises(UsageError, match="must be a Python file") as caught:
        parse_script(str(tmp_path / "trian.py"))

    assert "train.py" in caught.value.hint


@pytest.mark.parametrize("path", ["", "nowhere/train.py", "."])
def test_what_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="that exists"):
        parse_script(path)


def test_settings_that_a_script_decides_itself_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="'batch-size'") as caught:
        check_script_settings({"loop": "keras", "batch-size": "64"}, "--set")

    assert caught.value.hint == "Change batch_size in the script, or in the arguments that follow it."
    check_script_settings(dict.fromkeys(SCRIPT_SETTINGS), "--set")


def test_a_projects_defaults_for_its_workloads_do_not_reach_a_script() -> None:
    kept = keep_script_settings(Settings(loop="graph", threads=2, epochs=3, batch_size=8, seed=5))

    assert kept == Settings(loop="graph", threads=2)
