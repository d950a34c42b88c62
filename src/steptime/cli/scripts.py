"""What is said when a script has ended: its records in a few lines, the findings that help most, and a page."""

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from steptime.cli import output
from steptime.diagnosis.environment import diagnose
from steptime.diagnosis.model import lint
from steptime.diagnosis.model.rule import LintReport
from steptime.environment.read import read_first
from steptime.plan.codec import to_json
from steptime.record.model_facts import read_model_facts
from steptime.record.schema import RunRecord
from steptime.record.store import call_folders, read_record
from steptime.report.files import write_page
from steptime.report.pages.lints import lint_json
from steptime.report.pages.script import Advice, ScriptCall, script_page, script_summary
from steptime.report.render.text import render_text


def machine_findings() -> tuple[Advice, ...]:
    """Return what the doctor finds without asking TensorFlow, the most likely cause first: title and fix."""
    findings = diagnose(read_first()).findings
    return tuple((f"{finding.title} [{finding.kind}]", "; ".join(finding.fix)) for finding in findings)


def finish(
    record: RunRecord, folder: Path, look_around: Callable[[], Sequence[Advice]], *, as_json: bool
) -> None:
    """Write the page, and print the summary to stderr; with JSON, also the records to stdout.

    Nothing that fails here changes how the script ended.

    Args:
        record: The record of the script as a whole.
        folder: Its run folder.
        look_around: Returns what ``machine_findings`` does.
        as_json: Whether the records are printed as JSON.
    """
    try:
        calls = [ScriptCall(record=read_record(call), lints=_lints(call)) for call in call_folders(folder)]
        if as_json:
            output.out_json(
                {
                    "script": to_json(record),
                    "fits": [to_json(call.record) for call in calls],
                    "lints": [None if call.lints is None else lint_json(call.lints) for call in calls],
                }
            )
        machine = look_around()
        output.say(render_text(script_summary(record, calls, machine)))
        page = write_page(script_page(record, calls, machine), folder.parent)
        output.say(f"report: {page}")
    except Exception as error:  # noqa: BLE001 - the exit code is the script's, whatever fails here
        with contextlib.suppress(OSError):  # such as a stderr that nobody reads any more
            output.say(f"record: {folder} (no report: {error})")


def _lints(call: Path) -> LintReport | None:
    facts = read_model_facts(call)
    return None if facts is None else lint(facts)
