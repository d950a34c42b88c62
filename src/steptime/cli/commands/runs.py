"""``steptime runs``: what has been run."""

import argparse

from steptime.cli import options as shared
from steptime.cli import output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    shared.add_runs_option(parser)
    shared.add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print one line a run, oldest first."""
    from steptime.plan.codec import to_json
    from steptime.record.store import list_runs
    from steptime.report.pages.runs import runs_page
    from steptime.report.render.text import render_text

    folder = shared.runs_folder(options)
    runs = list_runs(folder)
    if options.json:
        output.out_json([to_json(summary.record) for summary in runs if summary.record])
    elif runs:
        output.out(render_text(runs_page(runs)))
    else:
        output.say(f"no runs below {str(folder)!r} yet; `steptime train` makes one")
    return 0
