"""``steptime resume RUN``: an interrupted run goes on in its own folder, from its last whole checkpoint."""

import argparse
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.cli import options as shared
from steptime.cli.raying import add_ray_options, ray_resources
from steptime.errors import RecordError, UsageError

if TYPE_CHECKING:
    from steptime.launch.ray_cluster import Resources
    from steptime.plan.plan import Placement, Plan
    from steptime.plan.settings import Settings
    from steptime.record.schema import RunRecord
    from steptime.record.store import RunSummary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("run", metavar="RUN", help="a run's id or the end of it, its folder, or last")
    parser.add_argument("--epochs", type=int, metavar="N", help="train until epoch N instead of as planned")
    parser.add_argument(
        "--allow-different",
        action="store_true",
        help="go on although model, data, batch size or optimizer have changed",
    )
    add_ray_options(parser)
    shared.add_runs_option(parser)
    shared.add_json_option(parser)
    parser.add_argument("--debug", action="store_true", help="print worker.log when the run fails")


def run(options: argparse.Namespace) -> int:
    """Go on, and print the summary or the record."""
    from steptime.cli.commands.train import finish
    from steptime.record.store import find_run, read_plan

    folder = find_run(shared.runs_folder(options), options.run)
    plan, _ = read_plan(folder)
    if plan.joined:
        raise UsageError(
            f"A run must have been started as a whole to go on. Received: {folder}, one worker of a group that another"
            " launcher started",
            hint="Start the group anew; one that --workers N --local or --ray starts can go on.",
        )
    resources = ray_resources(options, is_ray=plan.settings.launcher == "ray")
    if not has_checkpoint(folder):
        raise UsageError(
            f"{folder} must hold a checkpoint. There is none.",
            hint="Start the training anew with `steptime train`; --checkpoint-every says how often it is kept.",
        )
    settings = plan.settings
    if options.epochs is not None:
        settings = dataclasses.replace(settings, epochs=options.epochs)
    plan = dataclasses.replace(
        plan,
        settings=settings,
        placement=_placed(settings),
        allow_different=plan.allow_different or options.allow_different,
    )
    shared.check_tensorflow()
    record = go_on(plan, folder, resources)
    return finish(record, folder, as_json=options.json, debug=options.debug)


def _placed(settings: "Settings") -> "Placement | None":
    from steptime.cli.placing import place
    from steptime.device.find import find_gpus
    from steptime.launch.placement import cpu_only_build

    if settings.launcher == "ray":
        return None  # The cluster decides.
    return place(settings.device, find_gpus(), cpu_only_build(), settings.devices, settings.workers)


def has_checkpoint(folder: Path) -> bool:
    """Whether a run's folder holds a checkpoint; whether it is whole its reader finds out."""
    from steptime.engine.checkpoints.format import listed
    from steptime.record.store import CHECKPOINTS_FOLDER

    return bool(listed(folder / CHECKPOINTS_FOLDER))


def find_interrupted(runs: Path, plan: "Plan") -> "tuple[Path, Plan] | None":
    """Return the newest run of the same work with the same settings that was interrupted, and how it goes on.

    A run that is training now is none, nor one that would end again as it did: by wrong use, or by its loss.
    """
    from steptime.record.store import list_runs, read_plan

    for summary in reversed(list_runs(runs)):
        folder = summary.folder
        if summary.state == "ok" or not has_checkpoint(folder) or _is_training(folder) or _is_final(summary):
            continue
        try:
            kept = read_plan(folder)[0]
        except RecordError:
            continue
        if not kept.joined and (kept.workload, kept.settings) == (plan.workload, plan.settings):
            # Batches that were cut because memory ran out stay cut.
            return folder, dataclasses.replace(plan, split=kept.split, allow_different=kept.allow_different)
    return None


def _is_training(folder: Path) -> bool:
    """Whether a process trains in a run's folder now."""
    from steptime.record.lock import is_locked
    from steptime.record.store import CHECKPOINTS_FOLDER

    # Whoever started it, and the worker, which may outlive a killed one.
    return is_locked(folder) or is_locked(folder / CHECKPOINTS_FOLDER)


def _is_final(summary: "RunSummary") -> bool:
    if summary.record is None:
        return False
    outcome = summary.record.outcome
    not_finite = outcome.fault is not None and outcome.fault.kind == "not finite"
    return not_finite or outcome.exit_code == UsageError.exit_code


def go_on(plan: "Plan", folder: Path, resources: "Resources | None" = None) -> "RunRecord":
    """Start a worker again in the folder of its run; if it refuses to go on, the folder stays as it was.

    Args:
        plan: How it goes on.
        folder: Of the run.
        resources: What each worker gets on Ray.

    Raises:
        UsageError: A process trains there now.
    """
    from steptime.cli.grouping import launcher_of
    from steptime.cli.progress import make_progress
    from steptime.launch.attempts import run_attempts
    from steptime.plan.cluster import Place
    from steptime.record.lock import lock
    from steptime.record.store import CHECKPOINTS_FOLDER, RECORD_FILE, read_plan, rewrite_plan

    with lock(folder):
        lock(folder / CHECKPOINTS_FOLDER).close()
        record_file, former_file = folder / RECORD_FILE, folder / f"former-{RECORD_FILE}"
        former_plan = read_plan(folder)[0]
        rewrite_plan(folder, plan)
        if record_file.exists():
            record_file.replace(former_file)
        with make_progress(plan.settings.epochs) as progress:
            record = run_attempts(
                plan, folder, launcher_of(plan.settings, Place(), resources), progress.event
            )
        if record.outcome.exit_code == UsageError.exit_code:
            rewrite_plan(folder, former_plan)
            if former_file.exists():
                former_file.replace(record_file)
        former_file.unlink(missing_ok=True)
        return record
