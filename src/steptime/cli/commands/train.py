"""``steptime train``: one run, in a fresh process, with a record."""

import argparse
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steptime.cli import options as shared
from steptime.cli import output
from steptime.cli.grouping import JOINING, add_group_options
from steptime.errors import SteptimeError, UsageError

if TYPE_CHECKING:
    from steptime.launch.launcher import OnEvent
    from steptime.plan.cluster import Place
    from steptime.plan.plan import Plan
    from steptime.plan.settings import Settings
    from steptime.record.schema import RunRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be said about a run."""
    shared.add_workload_argument(parser)
    shared.add_setting_options(parser)
    add_group_options(parser)
    shared.add_runs_option(parser)
    shared.add_json_option(parser)
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="end a run that takes longer")
    parser.add_argument(
        "--resume",
        choices=("auto", "never"),
        default="never",
        help="auto: go on with the newest interrupted run of the same work and settings, if there is one",
    )
    parser.add_argument(
        "--retries",
        type=int,
        default=0,
        metavar="N",
        help="start a worker that was killed or crashed again, up to N times, from its last checkpoint",
    )
    parser.add_argument(
        "--on-oom",
        choices=("stop", "halve"),
        default="stop",
        help="when memory runs out: stop (default), or halve the batch and take twice the steps an update",
    )
    parser.add_argument("--export", metavar="FILE.keras", help="copy the trained model there as well")
    parser.add_argument(
        "--storage",
        metavar="ADDRESS",
        help="copy the run folder there at its end: a path, or an address such as s3://bucket/runs",
    )
    parser.add_argument("--debug", action="store_true", help="print worker.log when the run fails")


def run(options: argparse.Namespace) -> int:
    """Train, and print the summary or the record."""
    from steptime.cli.commands.resume import find_interrupted, go_on
    from steptime.cli.grouping import joined_settings, launcher_of, settle
    from steptime.cli.progress import make_progress
    from steptime.cli.raying import ray_resources
    from steptime.launch.attempts import run_attempts
    from steptime.launch.storage import open_storage
    from steptime.record.lock import lock
    from steptime.record.store import create_run_folder

    settings, joined = joined_settings(options, shared.read_settings(options))
    resources = ray_resources(options, is_ray=settings.launcher == "ray")
    plan = _plan(options, settings, joined)
    shared.check_tensorflow()
    storage = open_storage(options.storage) if options.storage else None
    runs = shared.runs_folder(options)
    interrupted = find_interrupted(runs, plan) if options.resume == "auto" else None
    if interrupted is not None:
        folder, plan = interrupted
        output.say(f"goes on with {folder}")
        record = go_on(plan, folder, resources)
    else:
        folder = create_run_folder(runs, "train" if joined.rank == 0 else JOINING, plan)
        launcher = launcher_of(settings, joined, resources)
        with lock(folder), make_progress(settings.epochs) as progress:
            record = run_attempts(plan, folder, launcher, _with_findings(progress.event, folder))
        folder = settle(folder, joined)
    code = finish(record, folder, as_json=options.json, debug=options.debug)
    if storage is not None and joined.rank == 0:
        try:
            output.say(f"copied to {storage.keep(folder)}")
        except SteptimeError as error:
            output.error(error.message, error.hint)
            return code or error.exit_code
    return code


def _plan(options: argparse.Namespace, settings: "Settings", joined: "Place") -> "Plan":
    """Return what is asked for; a process that joins others plans for itself alone."""
    from steptime.cli.placing import place, place_joined
    from steptime.device.find import find_gpus
    from steptime.launch.placement import cpu_only_build
    from steptime.plan.plan import Plan, Protocol
    from steptime.plan.workload import parse_workload

    placement = None  # On a cluster only the cluster knows; this machine may have no GPU.
    asked, devices = settings.device, settings.devices
    if joined.workers > 1:
        placement = place_joined(asked, find_gpus(), cpu_only_build(), devices, joined, os.environ)
    elif settings.launcher != "ray":
        placement = place(asked, find_gpus(), cpu_only_build(), devices, settings.workers)
    return Plan(
        workload=parse_workload(options.workload),
        settings=settings,
        protocol=Protocol(
            time_limit_s=options.time_limit,
            retries=options.retries,
            on_oom=options.on_oom,
            min_workers=options.min_workers,
            stuck_limit_s=options.stuck_after,
        ),
        placement=placement,
        export=_checked_export(options.export),
        command=options.command_line,
        joined=joined.workers > 1,
    )


def _with_findings(show: "OnEvent", folder: Path) -> "OnEvent":
    """Show the lints' findings before the first step, while there is time to stop the run."""

    def on_event(event: dict[str, Any]) -> None:
        if event["kind"] != "inspected":
            show(event)
            return
        from steptime.diagnosis.model import lint
        from steptime.record.model_facts import read_model_facts
        from steptime.report.pages.lints import finding_lines

        facts = read_model_facts(folder)
        for line in finding_lines(lint(facts)) if facts is not None else ():
            show({"kind": "note", "text": line})

    return on_event


def finish(record: "RunRecord", folder: Path, *, as_json: bool, debug: bool) -> int:
    """Print what came of a run and return its exit code."""
    from steptime.cli.commands.resume import has_checkpoint
    from steptime.plan.codec import to_json
    from steptime.report.pages.run import run_summary
    from steptime.report.render.text import render_text

    outcome = record.outcome
    if debug and outcome.status == "failed":
        log = folder / "worker.log"
        output.say(log.read_text(encoding="utf-8", errors="replace") if log.exists() else "no worker.log")
    if as_json:
        output.out_json(to_json(record))
    else:
        if outcome.status != "failed":
            output.out(render_text(run_summary(record)))
        output.say(f"record: {folder}")
    if outcome.status == "failed":
        output.error(outcome.reason or "the run failed", outcome.hint)
    elif outcome.reason:
        output.say(outcome.reason)
    if outcome.status != "ok" and not record.plan.joined and has_checkpoint(folder):
        output.say(f"go on with: steptime resume {shlex.quote(str(folder))}")
    return outcome.exit_code


def _checked_export(text: str | None) -> str | None:
    if text is None:
        return None
    path = Path(text)
    if path.suffix != ".keras" or not path.absolute().parent.is_dir():
        raise UsageError(
            f"--export must be a *.keras file in a folder that exists. Received: {text!r}",
            hint="For example: --export model.keras",
        )
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise UsageError(
            f"--export must be a file that can be written. Received: {text!r}",
            hint="Choose a folder that you may write.",
        )
    return str(path.absolute())
