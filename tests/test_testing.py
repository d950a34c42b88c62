"""What users' tests get."""

from pathlib import Path

import pytest

from steptime.errors import UsageError
from steptime.record.store import create_run_folder, read_record
from steptime.testing import FakeLauncher, make_plan, make_record


def test_a_made_plan_holds_the_settings_that_were_given() -> None:
    plan = make_plan("mnist-mlp", epochs=3)

    assert plan.workload.name == "mnist-mlp"
    assert (plan.settings.epochs, plan.settings.device) == (3, "cpu")


def test_a_made_plan_checks_its_settings() -> None:
    with pytest.raises(UsageError, match="epochs"):
        make_plan(epochs=0)


def test_the_fake_launcher_answers_in_order_and_writes_what_it_answers(tmp_path: Path) -> None:
    launcher = FakeLauncher(make_record(device="cpu"), make_record(device="gpu:0"))
    events: list[object] = []
    plans = [make_plan(seed=1), make_plan(seed=2)]
    folders = [create_run_folder(tmp_path, "study", plan) for plan in plans]
    records = [
        launcher.launch(plan, folder, events.append) for plan, folder in zip(plans, folders, strict=True)
    ]

    assert [record.device for record in records] == ["cpu", "gpu:0"]
    assert [record.plan.settings.seed for record in records] == [1, 2]
    assert [read_record(folder) for folder in folders] == records
    assert launcher.plans == plans
    assert len(events) == 2
