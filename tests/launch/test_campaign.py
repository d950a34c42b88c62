"""A comparison is run through a launcher, and whatever becomes of a run, the others' results stay."""

import contextlib
import dataclasses
from pathlib import Path

import pytest

from steptime.errors import UsageError
from steptime.launch.campaign import Campaign, check, run_campaign
from steptime.launch.schedule import Limits
from steptime.plan.arm import parse_arm
from steptime.record.schema import Outcome, RunRecord
from steptime.record.stored import read_run
from steptime.record.study import Study, create_study_folder, read_study, run_folders
from steptime.testing import FakeLauncher, make_plan, make_record, make_run

ARMS = (parse_arm("cpu,loop=keras"), parse_arm("cpu"))


def make_campaign(limits: Limits | None = None) -> Campaign:
    plan = make_plan(epochs=2)
    assert plan.placement is not None
    return Campaign(
        base=plan,
        arms=ARMS,
        placements=(plan.placement, plan.placement),
        limits=limits or Limits(repeats=2),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return create_study_folder(tmp_path / "runs", "compare")


@contextlib.contextmanager
def unwatched(arm, repeat):
    yield lambda event: None


def run(
    folder: Path, campaign: Campaign, *answers: object, launcher: object = None, is_clear=lambda study: False
) -> Study:
    study = Study(arms=campaign.arms, baseline=campaign.arms[0].name, command=("steptime", "compare"))
    return run_campaign(campaign, folder, study, launcher or FakeLauncher(*answers), unwatched, is_clear)


def failed(reason: str = "out of memory") -> RunRecord:
    return make_record(outcome=Outcome(status="failed", phase="train", reason=reason, exit_code=3))


def test_each_run_is_a_folder_of_the_study_and_says_its_arm(folder: Path) -> None:
    campaign = make_campaign()

    study = run(folder, campaign, *(make_run(),) * 4)

    assert [item.arm for item in study.runs] == ["cpu loop=keras", "cpu", "cpu", "cpu loop=keras"]
    for item in study.runs:
        record = read_run(folder / item.folder).record
        assert record.plan.arm is not None
        assert record.plan.arm.name == item.arm
    assert read_study(folder) == study


def test_arms_differ_in_what_they_say_and_share_the_rest(folder: Path) -> None:
    launcher = FakeLauncher(*(make_run(),) * 4)

    run(folder, make_campaign(), launcher=launcher)

    settings = [plan.settings for plan in launcher.plans]
    assert [item.loop for item in settings] == ["keras", "auto", "auto", "keras"]
    assert [item.seed for item in settings] == [0, 0, 1, 1]
    assert {item.epochs for item in settings} == {2}


def test_an_arm_that_fails_keeps_its_record_and_the_other_goes_on(folder: Path) -> None:
    campaign = make_campaign()

    study = run(folder, campaign, make_run(), failed(), make_run())

    assert [item.arm for item in study.runs] == ["cpu loop=keras", "cpu", "cpu loop=keras"]
    (lost,) = run_folders(folder, study, "cpu")
    assert read_run(lost).record.outcome.reason == "out of memory"
    assert study.stop == "fewer than two arms can be run"


def test_an_interrupted_run_ends_the_campaign_and_is_kept(folder: Path) -> None:
    stopped = make_record(outcome=Outcome(status="interrupted", phase="train", exit_code=130))

    study = run(folder, make_campaign(), make_run(), stopped)

    assert len(study.runs) == 2
    assert study.stop == "it was interrupted"


def test_ctrl_c_between_two_runs_keeps_what_there_is(folder: Path) -> None:
    campaign = make_campaign()

    class Impatient(FakeLauncher):
        def launch(self, plan, folder, on_event):
            if len(self.plans) == 1:
                raise KeyboardInterrupt
            return super().launch(plan, folder, on_event)

    study = run(folder, campaign, launcher=Impatient(make_run()))

    assert [item.arm for item in study.runs] == ["cpu loop=keras"]
    assert read_study(folder).stop == "it was interrupted"


def test_it_asks_whether_the_answer_is_clear_only_after_whole_rounds(folder: Path) -> None:
    asked: list[int] = []

    def is_clear(study: Study) -> bool:
        asked.append(len(study.runs))
        return len(study.runs) == 6

    study = run(folder, make_campaign(Limits()), *(make_run(),) * 6, is_clear=is_clear)

    assert asked == [4, 6]
    assert study.stop == "the answer was clear after 3 runs of each arm"


def test_a_wrong_setting_of_the_last_arm_is_known_before_anything_runs() -> None:
    campaign = make_campaign()
    wrong = dataclasses.replace(ARMS[1], changes={"batch_size": "0"})

    with pytest.raises(UsageError, match="batch_size"):
        check(dataclasses.replace(campaign, arms=(ARMS[0], wrong)))
