"""What ``steptime profile`` says when all is measured: findings, remedies tried, the page, the answer."""

import argparse
import dataclasses
from pathlib import Path

from steptime.analysis.anatomy import Anatomy
from steptime.cli import options as shared
from steptime.cli import output
from steptime.errors import UsageError
from steptime.record.ceilings import Ceilings
from steptime.record.operations import Operations
from steptime.record.profile import Profile
from steptime.record.stored import StoredRun
from steptime.report.pages.profiled import Profiled


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be said about the answer."""
    parser.add_argument(
        "--try", action="store_true", dest="try_",
        help="measure the remedies that are settings: fresh processes in turns, results compared",
    )  # fmt: skip
    parser.add_argument(
        "--time-budget",
        type=float,
        metavar="SECONDS",
        help="with --try: begin no round that would not end by then",
    )
    form = parser.add_mutually_exclusive_group()
    shared.add_json_option(form)
    form.add_argument("--markdown", action="store_true", help="print Markdown, to be pasted into an issue")


def check(options: argparse.Namespace) -> None:
    """Refuse what cannot be done before anything is measured.

    Raises:
        UsageError: An option without the one that it belongs to, one that has no meaning here, or a time that is none.
    """
    if options.try_ and options.script:
        raise UsageError(
            "--try needs a workload. Received: --script, whose settings are its own",
            hint="Change the line that a finding names, and profile the script again.",
        )
    if options.time_budget is None:
        return
    if not options.try_:
        raise UsageError(
            "--time-budget belongs to --try. Received it alone",
            hint="steptime profile --try --time-budget 120",
        )
    if not options.time_budget > 0:
        raise UsageError(
            f"--time-budget must be a positive number of seconds. Received: {options.time_budget:g}",
            hint="For example: --time-budget 120",
        )


def finish(
    options: argparse.Namespace,
    folder: Path,
    run: StoredRun,
    profile: Profile | None,
    operations: Operations | None,
    ceilings: Ceilings | None,
    anatomy: Anatomy,
) -> int:
    """Diagnose a run, try remedies if asked, write the report, print the answer; return the exit code."""
    from steptime.diagnosis.speed.evaluate import evaluate
    from steptime.diagnosis.speed.facts import speed_facts
    from steptime.diagnosis.speed.rules import RULES
    from steptime.record.store import writable
    from steptime.report.files import write_page
    from steptime.report.pages.profile import profile_page

    facts = speed_facts(run.record, anatomy, profile, operations, ceilings)
    profiled = Profiled(
        run=run,
        profile=profile,
        operations=operations,
        ceilings=ceilings,
        anatomy=anatomy,
        diagnosis=evaluate(RULES, facts),
    )
    code = 0
    if options.try_:
        from steptime.cli.trying import try_remedies
        from steptime.launch.process import ProcessLauncher

        trials, is_interrupted = try_remedies(options, folder, profiled, ProcessLauncher())
        profiled = dataclasses.replace(profiled, trials=trials)
        code = 130 if is_interrupted else 0
    with writable(folder):
        page = write_page(profile_page(profiled), folder)
    show(options, folder, profiled)
    output.say(f"report: {page}")
    return code


def show(options: argparse.Namespace, folder: Path, profiled: Profiled) -> None:
    """Print the answer in the form that was asked for."""
    from steptime.report.pages.profile import profile_summary
    from steptime.report.render.markdown import render_markdown
    from steptime.report.render.text import render_text

    if options.json:
        output.out_json(as_json(folder, profiled))
    elif options.markdown:
        output.out(render_markdown(profile_summary(profiled)))
    else:
        output.out(render_text(profile_summary(profiled)))


def as_json(folder: Path, profiled: Profiled) -> dict[str, object]:
    """Return the answer as a JSON value; ``findings`` holds what would save most first."""
    from steptime.plan.codec import to_json

    diagnosis = profiled.diagnosis
    return {
        "folder": str(folder),
        "bound": profiled.anatomy.bound,
        "shares": dict(profiled.anatomy.shares),
        "findings": [to_json(finding) for finding in diagnosis.findings],
        "fine": [dict(check) for check in diagnosis.fine],
        "unchecked": [dict(check) for check in diagnosis.unchecked],
        "trials": [to_json(trial) for trial in profiled.trials],
        "anatomy": to_json(profiled.anatomy),
        "profile": to_json(profiled.profile) if profiled.profile else None,
        "operations": to_json(profiled.operations) if profiled.operations else None,
        "ceilings": to_json(profiled.ceilings) if profiled.ceilings else None,
        "record": to_json(profiled.run.record),
    }
