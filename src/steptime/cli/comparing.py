"""What ``steptime compare`` asks for: a campaign that is still to be run, or runs that exist already."""

import argparse
import contextlib
import dataclasses
import shlex
from collections.abc import Iterator
from pathlib import Path

from steptime.analysis.comparison import Comparison, compare
from steptime.analysis.differences import refused
from steptime.analysis.target import Target, parse_target
from steptime.analysis.verdict import CONFIDENCE, EARLY_CONFIDENCE
from steptime.cli import options as shared
from steptime.cli import output
from steptime.cli.placing import place
from steptime.cli.progress import BarProgress, LineProgress
from steptime.device.find import GpuSearch, find_gpus
from steptime.errors import UsageError
from steptime.launch.campaign import Campaign, check, run_campaign
from steptime.launch.launcher import Launcher, OnEvent
from steptime.launch.placement import cpu_only_build
from steptime.launch.schedule import DEFAULT_BUDGET_S, Limits
from steptime.plan.arm import Arm, default_arms, distinct, find_arm, parse_arm, settings_of
from steptime.plan.codec import to_json
from steptime.plan.plan import Placement, Plan, Protocol
from steptime.plan.script import SCRIPT, check_script_settings, keep_script_settings, parse_script
from steptime.plan.settings import Settings, parse_pairs
from steptime.plan.workload import Workload, parse_workload
from steptime.record.store import find_run, read_record
from steptime.record.stored import StoredRun, read_run
from steptime.record.study import STUDY_FILE, Study, StudyRun, create_study_folder, read_study, run_folders
from steptime.report.document import Document, Table
from steptime.report.pages.compare import compare_note, compare_summary
from steptime.report.render.csv import render_csv
from steptime.report.render.markdown import render_markdown
from steptime.report.render.text import render_text

# One pass over the data: enough for a speed, and short enough for a tutorial's patience.
_EPOCHS = 1
# Checkpoints would cost each arm alike and answer nothing.
_DEFAULTS = Settings(epochs=_EPOCHS, checkpoint_every="none")
STUDY_KIND = "compare"

Runs = dict[str, list[StoredRun]]


def run_new(options: argparse.Namespace, workload: Workload, launcher: Launcher) -> tuple[Path, Study]:
    """Run a comparison and return its folder and its description.

    Args:
        options: What was given on the command line.
        workload: What is trained.
        launcher: Executes each run.

    Raises:
        UsageError: Something that was asked for cannot be done; nothing has been run then.
    """
    campaign, study = _plan(options, workload)
    check(campaign)
    shared.check_tensorflow()
    folder = create_study_folder(shared.runs_folder(options), STUDY_KIND)

    def is_clear(so_far: Study) -> bool:
        return comparison_of(folder, so_far, EARLY_CONFIDENCE)[0].is_clear

    watch = Watch(campaign.base.settings.epochs)
    return folder, run_campaign(campaign, folder, study, launcher, watch.run, is_clear)


def parse_work(options: argparse.Namespace) -> Workload:
    """Return what is to be trained anew: a workload, or a script with its arguments.

    Raises:
        UsageError: It does not exist, or settings are given that a script decides itself.
    """
    if options.script is None:
        return parse_workload((options.words or ["mnist-cnn"])[0])
    words = shlex.split(options.script)
    if options.words or not words:
        raise UsageError(
            f"--script must be the one thing that is compared. Received: {options.words or options.script!r}",
            hint="With arguments in quotes: --script 'train.py --epochs 2'",
        )
    check_script_settings(parse_pairs(options.pairs, "--set"), "--set")
    check_script_settings(shared.flags_of(options), "a flag")
    for text in options.arms:
        check_script_settings(parse_arm(text).changes, f"--arm {text}")
    return parse_script(words[0], tuple(words[1:]))


def take_existing(options: argparse.Namespace, words: list[str]) -> Study:
    """Describe runs that exist as a study of their own.

    Args:
        options: What was given on the command line.
        words: Runs; several repeats of one arm are joined by commas.

    Raises:
        RecordError: A run cannot be found or read.
        UsageError: Something else that was asked for cannot be done.
    """
    _refuse_new_runs(options)
    runs = shared.runs_folder(options)
    groups = [[find_run(runs, text).resolve() for text in word.split(",")] for word in words]
    arms = distinct(_arm_of(group[0]) for group in groups)
    return Study(
        arms=arms,
        baseline=find_arm(arms, options.baseline).name,
        command=options.command_line,
        runs=tuple(
            StudyRun(arm=arm.name, folder=str(path))
            for arm, group in zip(arms, groups, strict=True)
            for path in group
        ),
        target=_target(options),
        allowed=tuple(options.allowed),
    )


def find_study(options: argparse.Namespace, words: list[str]) -> Path | None:
    """Return the folder of a study that the one word names; None when it names something else."""
    if len(words) != 1:
        return None
    candidates = (Path(words[0]), shared.runs_folder(options) / words[0])
    return next((path for path in candidates if (path / STUDY_FILE).is_file()), None)


def take_up(options: argparse.Namespace, folder: Path) -> Study:
    """Read an earlier study, and look at it with the baseline and the target that are asked for now.

    Raises:
        RecordError: It cannot be read.
        UsageError: Something that was asked for cannot be done without running it again.
    """
    _refuse_new_runs(options)
    study = read_study(folder)
    return dataclasses.replace(
        study,
        baseline=find_arm(study.arms, options.baseline).name if options.baseline else study.baseline,
        target=_target(options) or study.target,
        allowed=(*study.allowed, *options.allowed),
    )


def comparison_of(folder: Path, study: Study, confidence: float = CONFIDENCE) -> tuple[Comparison, Runs]:
    """Read the runs of a study and compare them."""
    runs = {arm.name: [read_run(path) for path in run_folders(folder, study, arm.name)] for arm in study.arms}
    target: Target | None = parse_target(study.target) if study.target else None
    pairs = [(arm, runs[arm.name]) for arm in study.arms]
    return compare(pairs, study.baseline, target, confidence), runs


def refuse_unlike(comparison: Comparison, study: Study) -> None:
    """List the differences that nobody insisted on, and refuse to compare.

    Raises:
        UsageError: There are such differences.
    """
    found = refused(comparison.differences, study.allowed)
    if not found:
        return
    names = [facts.arm.name for facts in comparison.arms]
    rows = tuple((item.key, *(item.values.get(name, "-") for name in names)) for item in found)
    table = Table(columns=("", *names), rows=rows)
    output.say(render_text(Document(title="The runs differ in more than their arms say:", parts=(table,))))
    keys = " ".join(f"--allow-different {item.key}" for item in found)
    raise UsageError(
        f"Only like things are compared. They differ in: {', '.join(item.key for item in found)}",
        hint=f"If that is what you want to compare, say so: {keys}",
    )


def show(options: argparse.Namespace, folder: Path, study: Study, comparison: Comparison, runs: Runs) -> None:
    """Print the answer in the form that was asked for."""
    if options.json:
        records = [to_json(run.record) for own in runs.values() for run in own]
        parts = {"study": to_json(study), "comparison": to_json(comparison), "records": records}
        output.out_json({"folder": str(folder), **parts})
    elif options.csv:
        output.out(render_csv(comparison).rstrip("\n"))
    elif options.markdown:
        output.out(render_markdown(compare_note(comparison, study, runs)))
    else:
        output.out(render_text(compare_summary(comparison, study)))


class Watch:
    """Shows the runs of a campaign one after the other."""

    def __init__(self, epochs: int) -> None:
        self._epochs = epochs
        self._number = 0

    @contextlib.contextmanager
    def run(self, arm: Arm, repeat: int) -> Iterator[OnEvent]:
        """Announce a run, and show its progress: a bar on a terminal, its epochs elsewhere."""
        self._number += 1
        output.say(output.one_line(f"run {self._number}: {arm.name}, repeat {repeat + 1}"))
        kinds = ("phase", "progress", "epoch") if output.is_terminal() else ("epoch",)
        with BarProgress(self._epochs) if output.is_terminal() else LineProgress(self._epochs) as progress:
            yield lambda event: progress.event(event) if event["kind"] in kinds else None


def _plan(options: argparse.Namespace, workload: Workload) -> tuple[Campaign, Study]:
    """Return what is to be run, and its description, complete before anything starts."""
    search, cpu_only = find_gpus(), cpu_only_build()
    settings = shared.read_settings(options, _DEFAULTS)
    if workload.kind == SCRIPT:
        settings = keep_script_settings(settings)
    given = [parse_arm(text) for text in options.arms]
    arms = distinct(given or default_arms(0 if cpu_only else len(search.usable)))
    if len(arms) < 2:
        raise UsageError("A comparison needs two arms. Received: 1", hint="For example: --arm cpu --arm gpu")
    study = Study(
        arms=arms,
        baseline=find_arm(arms, options.baseline).name,
        command=_command(options, arms, settings),
        target=_target(options),
        allowed=tuple(options.allowed),
        no_gpu_reason=None if given else search.reason or cpu_only,
    )
    campaign = Campaign(
        base=Plan(
            workload=workload,
            settings=settings,
            protocol=Protocol(time_limit_s=options.time_limit),
            command=study.command,
        ),
        arms=arms,
        placements=tuple(_placement(settings_of(arm, settings, 0), search, cpu_only) for arm in arms),
        limits=Limits(repeats=options.repeats, budget_s=_budget_s(options)),
    )
    return campaign, study


def _placement(settings: Settings, search: GpuSearch, cpu_only: str | None) -> Placement | None:
    """Return the devices of an arm; None where a cluster chooses them."""
    if settings.launcher == "ray":
        return None
    return place(settings.device, search, cpu_only, settings.devices, settings.workers)


def _refuse_new_runs(options: argparse.Namespace) -> None:
    given = {"--arm": options.arms, "--repeats": options.repeats, "--time-budget": options.time_budget}
    wrong = [flag for flag, value in given.items() if value]
    if wrong:
        raise UsageError(
            f"Runs that exist are compared as they are. Received: {', '.join(wrong)}",
            hint="Leave that out, or name a workload instead of runs to make new ones.",
        )


def _target(options: argparse.Namespace) -> str | None:
    return str(parse_target(options.target)) if options.target else None


def _budget_s(options: argparse.Namespace) -> float | None:
    if options.time_budget is None and options.repeats is not None:
        return None
    return DEFAULT_BUDGET_S if options.time_budget is None else float(options.time_budget)


def _arm_of(folder: Path) -> Arm:
    record = read_record(folder)
    if record.plan.arm is not None:
        return record.plan.arm
    settings = record.plan.settings
    return Arm(
        name=settings.name or folder.name,
        changes={"device": record.device or settings.device, "loop": settings.loop},
    )


def _command(options: argparse.Namespace, arms: tuple[Arm, ...], settings: Settings) -> tuple[str, ...]:
    """Return the command that repeats the comparison, whatever a project file or another machine would choose."""
    words = ["--script", options.script] if options.script else options.words or ["mnist-cnn"]
    for arm in arms:
        words += ["--arm", arm.text]
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        is_own = field.name == "checkpoint_every" and value == _DEFAULTS.checkpoint_every
        if value != field.default and field.name != "name" and not is_own:
            words += ["--set", f"{field.name}={str(value).lower() if isinstance(value, bool) else value}"]
    for flag, value in (
        ("--baseline", options.baseline),
        ("--target", options.target),
        ("--repeats", options.repeats),
        ("--time-budget", options.time_budget),
    ):
        if value is not None:
            words += [flag, str(value)]
    return ("steptime", "compare", *words)
