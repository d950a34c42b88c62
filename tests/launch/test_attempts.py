"""A run whose worker is started again: by a launcher that needs no process."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from steptime.launch.attempts import run_attempts
from steptime.plan.plan import Plan
from steptime.record.schema import Fault, Outcome, RunRecord
from steptime.record.store import create_run_folder, read_plan, read_record
from steptime.testing import FakeLauncher, make_plan, make_record

KILLED = Outcome(
    status="failed",
    phase="train",
    reason="the worker was ended by SIGKILL",
    exit_code=3,
    fault=Fault(kind="killed"),
)
OUT_OF_MEMORY = Outcome(
    status="failed", phase="train", reason="out of memory", exit_code=3, fault=Fault(kind="out of memory")
)


def plan_with(**protocol: Any) -> Plan:
    plan = make_plan(batch_size=8)
    return dataclasses.replace(plan, protocol=dataclasses.replace(plan.protocol, **protocol))


def ended(outcome: Outcome) -> RunRecord:
    return make_record(outcome=outcome, job=None)


@pytest.fixture
def said() -> list[str]:
    return []


def execute(folder: Path, plan: Plan, launcher: FakeLauncher, said: list[str]) -> RunRecord:
    def on_event(event: dict[str, Any]) -> None:
        if event["kind"] == "note":
            said.append(event["text"])

    return run_attempts(plan, folder, launcher, on_event)


def test_a_run_that_ends_well_is_started_once(tmp_path: Path, said: list[str]) -> None:
    plan = plan_with(retries=3)
    folder = create_run_folder(tmp_path, "train", plan)
    launcher = FakeLauncher(make_record())

    record = execute(folder, plan, launcher, said)

    assert (len(launcher.plans), record.attempts, said) == (1, (), [])


@pytest.mark.parametrize("leaves_another", [True, False])
def test_differences_are_allowed_until_there_is_a_checkpoint_of_what_is_trained_now(
    tmp_path: Path, said: list[str], leaves_another: bool
) -> None:
    plan = dataclasses.replace(plan_with(), allow_different=True)
    folder = create_run_folder(tmp_path, "train", plan)
    (folder / "checkpoints/000001-epoch1-step5").mkdir(parents=True)

    class Training(FakeLauncher):
        def launch(self, *arguments: Any) -> RunRecord:
            if leaves_another:
                (folder / "checkpoints/000002-epoch2-step5").mkdir()
            return super().launch(*arguments)

    execute(folder, plan, Training(make_record()), said)

    assert read_plan(folder)[0].allow_different is not leaves_another


def test_a_killed_worker_is_started_again_and_the_record_lists_each_start(
    tmp_path: Path, said: list[str]
) -> None:
    plan = plan_with(retries=3)
    folder = create_run_folder(tmp_path, "train", plan)
    launcher = FakeLauncher(ended(KILLED), ended(KILLED), make_record())

    record = execute(folder, plan, launcher, said)

    assert record.outcome.status == "ok"
    assert [(a.number, a.phase, a.reason) for a in record.attempts] == [
        (1, "train", KILLED.reason), (2, "train", KILLED.reason)
    ]  # fmt: skip
    assert record == read_record(folder)
    assert said == [
        "the worker was ended by SIGKILL: starting again (retry 1 of 3)",
        "the worker was ended by SIGKILL: starting again (retry 2 of 3)",
    ]


def test_the_last_of_the_retries_fails_as_it_would_have_at_once(tmp_path: Path, said: list[str]) -> None:
    plan = plan_with(retries=1)
    folder = create_run_folder(tmp_path, "train", plan)

    record = execute(folder, plan, FakeLauncher(ended(KILLED), ended(KILLED)), said)

    assert record.outcome == KILLED
    assert len(record.attempts) == 1


def test_starts_of_an_earlier_process_count(tmp_path: Path, said: list[str]) -> None:
    plan = plan_with(retries=1)
    folder = create_run_folder(tmp_path, "train", plan)
    execute(folder, plan, FakeLauncher(ended(KILLED), ended(KILLED)), said)
    launcher = FakeLauncher(make_record())

    record = execute(folder, plan, launcher, said)

    assert len(launcher.plans) == 1
    assert len(record.attempts) == 1


def test_half_the_batch_is_written_into_the_plan_before_the_next_start(
    tmp_path: Path, said: list[str]
) -> None:
    plan = plan_with(on_oom="halve")
    folder = create_run_folder(tmp_path, "train", plan)
    launcher = FakeLauncher(ended(OUT_OF_MEMORY), ended(OUT_OF_MEMORY), make_record())

    execute(folder, plan, launcher, said)

    assert [(p.split, p.allow_different) for p in launcher.plans] == [(1, False), (2, True), (4, True)]
    assert read_plan(folder)[0] == launcher.plans[-1]
    assert launcher.plans[-1].settings == plan.settings
    assert "each batch cut in 4 and 4 steps an update: the same samples make an update" in said[1]


def test_the_time_limit_counts_all_starts_together(tmp_path: Path, said: list[str]) -> None:
    plan = plan_with(retries=1, time_limit_s=60.0)
    folder = create_run_folder(tmp_path, "train", plan)
    launcher = FakeLauncher(ended(KILLED), make_record())

    execute(folder, plan, launcher, said)

    first, second = (p.protocol.time_limit_s for p in launcher.plans)
    assert first is not None
    assert second is not None
    assert second < first <= 60.0
    assert read_plan(folder)[0] == plan
