"""``steptime check FILE``: looks at model, compile arguments and data for mistakes; trains nothing."""

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from steptime.cli import options as shared
from steptime.cli import output

if TYPE_CHECKING:
    from steptime.diagnosis.model.rule import LintReport
    from steptime.record.schema import RunRecord


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_workload_argument(parser)
    shared.add_setting_options(parser)
    shared.add_json_option(parser)
    parser.add_argument("--debug", action="store_true", help="print the worker's log when it fails")


def run(options: argparse.Namespace) -> int:
    """Build model and data in a fresh process, read their facts, and print what the lints find.

    Returns:
        0 without errors and warnings, 1 with one, and what `train` would return where model or data can't be made.
    """
    from steptime.cli.placing import place
    from steptime.cli.progress import make_progress
    from steptime.device.find import find_gpus
    from steptime.diagnosis.model import lint
    from steptime.launch.placement import cpu_only_build
    from steptime.launch.process import ProcessLauncher
    from steptime.plan.plan import Plan, Protocol
    from steptime.plan.workload import parse_workload
    from steptime.record.model_facts import read_model_facts
    from steptime.record.store import LOG_FILE, create_run_folder

    settings = shared.read_settings(options)
    plan = Plan(
        workload=parse_workload(options.workload),
        settings=settings,
        protocol=Protocol(check_only=True),
        placement=place(settings.device, find_gpus(), cpu_only_build()),
        command=options.command_line,
    )
    shared.check_tensorflow()
    with tempfile.TemporaryDirectory(prefix="steptime-check-") as runs:
        folder = create_run_folder(Path(runs), "check", plan)
        with make_progress(settings.epochs) as progress:
            record = ProcessLauncher().launch(plan, folder, progress.event)
        facts = read_model_facts(folder)
        if options.debug and record.outcome.status == "failed":
            output.say((folder / LOG_FILE).read_text(encoding="utf-8", errors="replace"))
    report = lint(facts) if facts is not None else None
    return finish(record, report, as_json=options.json)


def finish(record: "RunRecord", report: "LintReport | None", *, as_json: bool) -> int:
    """Print the findings, and the error that ended the worker if there was one; return the exit code."""
    from steptime.report.document import Document
    from steptime.report.pages.lints import lint_json, lint_parts
    from steptime.report.render.text import render_text

    outcome = record.outcome
    if report is not None:
        output.out_json(lint_json(report)) if as_json else output.out(
            render_text(Document(title="", parts=lint_parts(report)))
        )
    if outcome.status != "ok":
        output.error(outcome.reason or "the check did not end", outcome.hint)
        return outcome.exit_code
    findings = report.findings if report is not None else ()
    return int(any(finding.severity != "hint" for finding in findings))
