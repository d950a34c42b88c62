"""``steptime profile``: where each step's time goes, what bounds it, and what would help."""

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.cli import options as shared
from steptime.cli import output, profiling
from steptime.errors import RecordError, UsageError

_DEFAULT = "mnist-cnn"

if TYPE_CHECKING:
    from steptime.device.find import GpuSearch
    from steptime.plan.plan import Plan
    from steptime.plan.workload import Workload
    from steptime.record.schema import RunRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be said about a profile."""
    parser.add_argument(
        "what",
        nargs="?",
        metavar="WORKLOAD | RUN",
        help="what to take apart (default: mnist-cnn); or a run that exists, to explain it as far as its data go",
    )
    parser.add_argument(
        "--script",
        metavar="'SCRIPT ...'",
        help="take apart the first fit that this program calls, instead of a workload",
    )
    shared.add_setting_options(parser)
    shared.add_runs_option(parser)
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="end a run that takes longer")
    parser.add_argument(
        "--remeasure", action="store_true",
        help="measure again what this machine can do at best, as when it was busy the first time",
    )  # fmt: skip
    parser.add_argument("--debug", action="store_true", help="print worker.log when the run fails")
    profiling.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Measure or take up, and say what was found."""
    profiling.check(options)
    existing = None if options.script else _existing(options)
    if existing is not None:
        if options.remeasure:
            raise UsageError(
                f"--remeasure needs a job to take apart. Received a run that exists: {options.what}",
                hint="Name its workload instead; a run keeps what was measured beside it.",
            )
        return _explain(options, existing)
    folder, record = _measure(options)
    if record.outcome.status != "ok":
        return _failed(options, folder, record)
    return _explain(options, folder)


def _existing(options: argparse.Namespace) -> Path | None:
    """Return the run folder that was named; None when a workload was."""
    from steptime.plan.workload import BUILT_IN
    from steptime.record.store import PLAN_FILE, RECORD_FILE, find_run

    text = options.what or _DEFAULT
    path = Path(text)
    if text in BUILT_IN or text.partition(":")[0].endswith(".py"):
        return None
    if path.is_dir() and not any((path / name).is_file() for name in (PLAN_FILE, RECORD_FILE)):
        raise UsageError(
            f"A folder must hold a run. Received: {text!r}, which has no {RECORD_FILE}",
            hint="`steptime runs` lists what there is.",
        )
    try:
        return find_run(shared.runs_folder(options), text)
    except RecordError:
        if path.is_dir():
            raise
        return None


def _measure(options: argparse.Namespace) -> "tuple[Path, RunRecord]":
    from steptime.cli.placing import place
    from steptime.cli.progress import make_progress
    from steptime.device.find import find_gpus
    from steptime.launch.placement import cpu_only_build
    from steptime.launch.process import ProcessLauncher
    from steptime.plan.plan import Plan, Protocol
    from steptime.plan.workload import parse_workload
    from steptime.record.store import create_run_folder

    settings = shared.read_settings(options)
    search = find_gpus()
    plan = Plan(
        workload=_script(options) if options.script else parse_workload(options.what or _DEFAULT),
        settings=settings,
        protocol=Protocol(time_limit_s=options.time_limit, profile=True),
        placement=place(settings.device, search, cpu_only_build()),
        command=options.command_line,
    )
    shared.check_tensorflow()
    folder = create_run_folder(shared.runs_folder(options), "profile", plan)
    _set_beside(folder, plan, search, again=options.remeasure)
    with make_progress(settings.epochs) as progress:
        record = ProcessLauncher().launch(plan, folder, progress.event)
    return folder, record


def _script(options: argparse.Namespace) -> "Workload":
    """Return a script and its arguments as a workload; nothing of it is read."""
    from steptime.plan.script import NOTEBOOK_SUFFIX, parse_script

    words = shlex.split(options.script)
    if options.what is not None or not words:
        raise UsageError(
            f"--script stands instead of a workload. Received both: {options.what!r} and {options.script!r}",
            hint="Leave one of them out.",
        )
    workload = parse_script(words[0], tuple(words[1:]))
    if workload.target.endswith(NOTEBOOK_SUFFIX):
        raise UsageError(
            f"--script must be a Python file here. Received: {workload.target!r}",
            hint="Convert the notebook first: jupyter nbconvert --to script FILE.ipynb",
        )
    return workload


def _set_beside(folder: Path, plan: "Plan", search: "GpuSearch", *, again: bool) -> None:
    """Put the ceilings of the device into the run folder."""
    from steptime.device.host import describe_host
    from steptime.launch.ceilings import cache_folder, find_ceilings
    from steptime.record.ceilings import CEILINGS_FILE, write_ceilings

    assert plan.placement is not None
    output.say("looking up what this machine can do at best (measured once, then kept) ...")
    ceilings, why_not = find_ceilings(plan.placement, describe_host(), search, cache_folder(), again=again)
    if ceilings is None:
        output.say(f"the machine's ceilings are not known: {why_not}")
    else:
        write_ceilings(folder / CEILINGS_FILE, ceilings)


def _explain(options: argparse.Namespace, folder: Path) -> int:
    from steptime.analysis.dissect import dissect
    from steptime.record.ceilings import CEILINGS_FILE, read_ceilings
    from steptime.record.operations import read_operations
    from steptime.record.profile import read_profile
    from steptime.record.stored import read_run

    stored = read_run(folder)
    profile, operations = read_profile(folder), read_operations(folder)
    ceilings = read_ceilings(folder / CEILINGS_FILE)
    anatomy = dissect(profile, operations, ceilings, stored)
    return profiling.finish(options, folder, stored, profile, operations, ceilings, anatomy)


def _failed(options: argparse.Namespace, folder: Path, record: "RunRecord") -> int:
    from steptime.plan.codec import to_json

    if options.debug:
        log = folder / "worker.log"
        output.say(log.read_text(encoding="utf-8", errors="replace") if log.exists() else "no worker.log")
    if options.json:
        output.out_json(to_json(record))
    output.say(f"record: {folder}")
    output.error(record.outcome.reason or "the run failed", record.outcome.hint)
    return record.outcome.exit_code
