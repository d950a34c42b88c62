"""``steptime show RUN``: one record as a page."""

import argparse

from steptime.cli import options as shared
from steptime.cli import output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("run", metavar="RUN", help="a run's id or the end of it, its folder, or last")
    shared.add_runs_option(parser)
    shared.add_json_option(parser)


def run(options: argparse.Namespace) -> int:
    """Print the page or the record."""
    from steptime.diagnosis.model import lint
    from steptime.plan.codec import to_json
    from steptime.record.model_facts import read_model_facts
    from steptime.record.store import find_run, read_record
    from steptime.report.pages.run import run_page
    from steptime.report.render.text import render_text

    folder = find_run(shared.runs_folder(options), options.run)
    record = read_record(folder)
    if options.json:
        output.out_json(to_json(record))
    else:
        facts = read_model_facts(folder)
        output.out(render_text(run_page(record, lint(facts) if facts is not None else None)))
    return 0
