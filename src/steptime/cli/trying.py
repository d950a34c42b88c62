"""Measures remedies that are settings: the run as it is and one arm for each remedy, in turns, in fresh processes."""

import argparse
import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

from steptime.analysis.verdict import EARLY_CONFIDENCE
from steptime.cli import comparing, output
from steptime.diagnosis.speed.rule import SpeedFinding
from steptime.diagnosis.speed.trial import Trial, trials_of
from steptime.launch.campaign import Campaign, run_campaign
from steptime.launch.launcher import Launcher
from steptime.launch.schedule import Limits
from steptime.plan.arm import Arm
from steptime.plan.plan import Plan
from steptime.plan.script import SCRIPT
from steptime.plan.settings import Settings
from steptime.record.study import Study
from steptime.report.pages.profiled import Profiled

BASELINE = "as-it-is"
DEFAULT_BUDGET_S = 240.0
# Each further remedy is a further process in every round.
_MOST_REMEDIES = 4
# Steps of a trial: enough for a steady state, and no more than some seconds of it.
_STEPS_S = 6.0
_FEWEST_STEPS, _MOST_STEPS = 60, 4000


def try_remedies(
    options: argparse.Namespace, folder: Path, profiled: Profiled, launcher: Launcher
) -> tuple[tuple[Trial, ...], bool]:
    """Measure the remedies of the findings, and return what came of them and whether it was interrupted.

    Args:
        options: What was given on the command line.
        folder: Of the profiled run; the study lies in it.
        profiled: What was found.
        launcher: Executes each run.
    """
    findings = _tried(profiled.diagnosis.findings)
    if profiled.run.record.plan.workload.kind == SCRIPT:
        output.say("--try: the settings of a script are its own; change the line that a finding names")
        return (), False
    if not findings:
        output.say("--try: none of the remedies is a setting, so there is nothing to measure")
        return (), False
    campaign, study = plan_trials(profiled, findings, options.time_budget or DEFAULT_BUDGET_S)
    place = folder / "try"
    place.mkdir(exist_ok=True)

    def is_clear(so_far: Study) -> bool:
        return comparing.comparison_of(place, so_far, EARLY_CONFIDENCE)[0].is_clear

    watch = comparing.Watch(campaign.base.settings.epochs)
    study = run_campaign(campaign, place, study, launcher, watch.run, is_clear)
    comparison, runs = comparing.comparison_of(place, study)
    return trials_of(comparison, runs, findings), study.stop == "it was interrupted"


def _tried(findings: Sequence[SpeedFinding]) -> list[SpeedFinding]:
    """Return the findings whose remedies are settings; of those with the same remedy the first."""
    by_patch: dict[tuple[tuple[str, str], ...], SpeedFinding] = {}
    for found in findings:
        if found.remedy.patch:
            by_patch.setdefault(tuple(sorted(found.remedy.patch.items())), found)
    return list(by_patch.values())[:_MOST_REMEDIES]


def plan_trials(
    profiled: Profiled, findings: Sequence[SpeedFinding], budget_s: float
) -> tuple[Campaign, Study]:
    """Return what is to be run: the plan of the profile, short, and the same with each patch."""
    record = profiled.run.record
    settings = _in_profiled_loop(_short(record.plan.settings, profiled, findings), profiled)
    arms = (
        Arm(name=BASELINE, changes={"device": settings.device}),
        *(Arm(name=found.kind, changes=dict(found.remedy.patch)) for found in findings),
    )
    protocol = dataclasses.replace(record.plan.protocol, profile=False)
    base: Plan = dataclasses.replace(record.plan, settings=settings, protocol=protocol, export=None)
    placement = record.plan.placement
    assert placement is not None  # every plan that was launched has one
    campaign = Campaign(
        base=base,
        arms=arms,
        placements=(placement,) * len(arms),
        limits=Limits(budget_s=budget_s),
    )
    return campaign, Study(arms=arms, baseline=BASELINE, command=record.plan.command)


def _in_profiled_loop(settings: Settings, profiled: Profiled) -> Settings:
    """Name the loop that was profiled: a short run would choose by what compiling costs it."""
    name = profiled.profile.loop.name if profiled.profile else "keras"
    if name == "keras":
        return settings
    loop, _, kernels = name.partition("+")
    return dataclasses.replace(settings, loop=loop, exact_kernels="on" if kernels else settings.exact_kernels)


def _short(settings: Settings, profiled: Profiled, findings: Sequence[SpeedFinding]) -> Settings:
    """Return the settings for runs of some seconds; as many epochs as validating seldom needs to be seen."""
    step_s = profiled.anatomy.step_s.value if profiled.anatomy.step_s else 0.01
    every = [
        int(found.remedy.patch["validation_freq"])
        for found in findings
        if "validation_freq" in found.remedy.patch
    ]
    epochs = max(every, default=1)
    in_epoch = profiled.run.record.job.steps_per_epoch if profiled.run.record.job else None
    wanted = math.ceil(min(max(_STEPS_S / step_s, _FEWEST_STEPS), _MOST_STEPS))
    if epochs > 1 or (in_epoch is not None and in_epoch <= wanted):
        # Validation is compared with whole epochs, and a pass that is short anyway is not cut.
        steps = settings.steps_per_epoch
        epochs = epochs if in_epoch is None else max(epochs, math.ceil(wanted / in_epoch))
    else:
        steps = wanted
    return dataclasses.replace(settings, epochs=epochs, steps_per_epoch=steps)
