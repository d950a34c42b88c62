"""Runs a comparison through a launcher: one study folder, one record a run, whatever becomes of each."""

import dataclasses
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from steptime.launch.launcher import Launcher, OnEvent
from steptime.launch.schedule import Done, Limits, Start, is_round_over, next_step
from steptime.plan.arm import Arm, settings_of
from steptime.plan.plan import Placement, Plan
from steptime.record.schema import RunRecord
from steptime.record.store import create_run_folder
from steptime.record.study import Study, StudyRun, write_study

# Shows one run to a person while it goes on: called with its arm and its repeat, counted from 0.
Watch = Callable[[Arm, int], AbstractContextManager[OnEvent]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Campaign:
    """What is to be compared.

    Attributes:
        base: The plan that all arms share; its seed is that of the first repeat.
        arms: The arms, with unique names.
        placements: The devices of each arm; None where a cluster chooses them.
        limits: How long it may go on.
    """

    base: Plan
    arms: tuple[Arm, ...]
    placements: tuple[Placement | None, ...]
    limits: Limits


def run_campaign(
    campaign: Campaign,
    folder: Path,
    study: Study,
    launcher: Launcher,
    watch: Watch,
    is_clear: Callable[[Study], bool],
) -> Study:
    """Run arms in turns until the schedule says stop; Ctrl-C ends it and keeps what there is.

    Args:
        campaign: What to run.
        folder: Of the study.
        study: Its description, without runs yet; it is written to the folder after every run.
        launcher: Executes each run.
        watch: Shows a run while it goes on.
        is_clear: Whether the runs so far answer the question, strictly enough to be asked again and again.
    """
    done: list[Done] = []
    write_study(folder, study)
    while True:
        clear = is_round_over(len(campaign.arms), done) and is_clear(study)
        step = next_step(len(campaign.arms), done, campaign.limits, is_clear=clear)
        if not isinstance(step, Start):
            break
        begin_s = time.perf_counter()
        try:
            run, record = _run(campaign, folder, step, launcher, watch)
        except KeyboardInterrupt:  # between two workers, or before the launcher listens
            return _written(folder, dataclasses.replace(study, stop="it was interrupted"))
        duration_s = time.perf_counter() - begin_s
        done.append(Done(arm=step.arm, duration_s=duration_s, status=record.outcome.status))
        study = _written(folder, dataclasses.replace(study, runs=(*study.runs, run)))
    return _written(folder, dataclasses.replace(study, stop=step.reason))


def plan_of(campaign: Campaign, arm: int, repeat: int) -> Plan:
    """Return the plan of one run."""
    settings = settings_of(campaign.arms[arm], campaign.base.settings, repeat)
    return dataclasses.replace(
        campaign.base, settings=settings, placement=campaign.placements[arm], arm=campaign.arms[arm]
    )


def check(campaign: Campaign) -> None:
    """Make every plan of the first round, so that a wrong setting of the last arm is known at once.

    Raises:
        UsageError: A setting outside its limits.
    """
    for arm in range(len(campaign.arms)):
        plan_of(campaign, arm, 0)


def _run(
    campaign: Campaign, study: Path, step: Start, launcher: Launcher, watch: Watch
) -> tuple[StudyRun, RunRecord]:
    arm = campaign.arms[step.arm]
    plan = plan_of(campaign, step.arm, step.repeat)
    folder = create_run_folder(study.parent, study.name, plan)
    with watch(arm, step.repeat) as on_event:
        record = launcher.launch(plan, folder, on_event)
    return StudyRun(arm=arm.name, folder=folder.name), record


def _written(folder: Path, study: Study) -> Study:
    write_study(folder, study)
    return study
